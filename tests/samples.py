"""What the laws are tried on: see also lxcim_xp.testing, from which the samples come."""

import numpy as np
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp.testing import scores

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

SCORES = scores()
THRESHOLDS = st.sampled_from([0.0, 0.5, -1.0, 2.125])


def masks(n):
    return st.lists(st.booleans(), min_size=n, max_size=n).map(np.asarray)
