"""Random samples with many ties and threshold hits, in numbers that float32 holds exactly."""

from typing import NamedTuple

import numpy as np
from backends import PADDED
from hypothesis import strategies as st

import lxcim_xp as lx

METRICS = [
    lx.accuracy,
    lx.lxcim,
    lx.augrc,
    lx.audrc,
    lx.aurc,
    lx.auroc,
    lx.confidence_auroc,
    lx.average_precision,
    lx.ks_statistic,
    lx.auch,
]

# Eighths: sums, differences and mirror images about each other are exact in every float dtype.
SCORES = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-64, 64).map(lambda k: k / 8),
    st.sampled_from([float("inf"), float("-inf"), 0.0, -0.0]),
)
THRESHOLDS = st.sampled_from([0.0, 0.5, -1.0, 2.125])
WEIGHTS = st.integers(0, 12).map(lambda k: k / 4)


class Sample(NamedTuple):
    label: np.ndarray
    score: np.ndarray
    weight: np.ndarray


@st.composite
def samples(draw, max_size=PADDED, scores=SCORES, weights=WEIGHTS):
    """Draw up to ``max_size`` samples of which at least one has weight."""
    n = draw(st.integers(1, max_size))
    label = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    score = draw(st.lists(scores, min_size=n, max_size=n))
    weight = draw(st.lists(weights, min_size=n, max_size=n).filter(any))
    return Sample(np.asarray(label), np.asarray(score), np.asarray(weight))


def masks(n):
    return st.lists(st.booleans(), min_size=n, max_size=n).map(np.asarray)
