"""Evaluate pairwise choices with a metric that does not care which side is called positive.

>>> from lxcim_xp import lxcim
>>> lxcim([1, 0, 1], [3.0, -2.0, -1.0]) * 9
np.float64(8.0)

The functions here are pure and written against the Array API standard: they take and return NumPy,
JAX, PyTorch or CuPy arrays and run under ``jit``, ``vmap`` and ``grad``.
"""

from lxcim_xp import confusion
from lxcim_xp.decision import Decision, absolute, probability
from lxcim_xp.metrics import (
    Decomposition,
    accuracy,
    auch,
    audrc,
    augrc,
    aurc,
    auroc,
    average_precision,
    bi_auroc,
    confidence_auroc,
    decomposition,
    ks_statistic,
    lxcim,
)

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "Decomposition",
    "absolute",
    "accuracy",
    "auch",
    "audrc",
    "augrc",
    "aurc",
    "auroc",
    "average_precision",
    "bi_auroc",
    "confidence_auroc",
    "confusion",
    "decomposition",
    "ks_statistic",
    "lxcim",
    "probability",
]
