"""What the laws are tried on: see also lxcim_xp.testing, from which the samples come."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import lxcim_xp as lx
from lxcim_xp.testing import scores

# What sees margins alone, and so is invariant to local exchange of classes.
BY_MARGIN = [lx.accuracy, lx.lxcim, lx.augrc, lx.audrc, lx.aurc, lx.confidence_auroc]
# What sees labels and the order of the scores.
BY_SCORE = [lx.auroc, lx.average_precision, lx.ks_statistic, lx.auch]
METRICS = [*BY_MARGIN, *BY_SCORE]

SCORES = scores()
THRESHOLDS = st.sampled_from([0.0, 0.5, -1.0, 2.125])

HARD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e-45, 1.5, np.nextafter(1.5, 2)]

QUARTERS = st.integers(0, 4).map(lambda k: k / 4)
# Of three votes, of four, and of as many as make a share that no float holds.
SHARES = st.sampled_from([0.0, 1 / 3, 0.25, 0.5, 0.75, 2 / 3, 0.9, 1.0]).map(
    lambda share: float(np.float32(share))
)


def look_swapped(label, score, weight=None):
    """Say whether shares of votes stand beside scores that look like labels, which is an error."""
    counts = np.ones(np.shape(score)) if weight is None else np.asarray(weight)
    present = np.asarray(score)[counts != 0]
    label = np.asarray(label)
    return bool(((label > 0) & (label < 1)).any() and set(present.tolist()) == {0.0, 1.0})


def masks(n):
    return st.lists(st.booleans(), min_size=n, max_size=n).map(np.asarray)


def keys(dtype, library="numpy", subnormal=True):
    """Draw batches with heavy ties, zeros, infinities, subnormals and neighbouring floats."""
    values = st.sampled_from(np.asarray(HARD, dtype=dtype).tolist())
    values |= st.floats(width=8 * np.dtype(dtype).itemsize, allow_nan=False)
    if not subnormal:
        values = values.filter(lambda x: x == 0 or abs(x) >= np.finfo(dtype).tiny)
    shapes = arrays.array_shapes(min_dims=1, max_dims=3, max_side=7)
    if library == "jax":  # which compiles every operation anew for each shape
        shapes = st.sampled_from([(1,), (2, 7)])
    return arrays.arrays(dtype, shapes, elements=values)
