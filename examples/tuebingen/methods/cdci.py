"""CDCI: the shape of the effect's law is the same wherever the cause is.

B. Duong and T. Nguyen, "Bivariate causal discovery via conditional divergence", CLeaR 2022.
"""

import numpy as np

from .conditionals import binned, effect_by_cause, shares
from .inputs import standardised, two_variables


def cdci(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how much more the laws of x given y differ than those of y given x.

    .. math:: \mathrm{score} = D(y \to x) - D(x \to y), \qquad
        D(x \to y) = \frac{1}{|B|} \sum_{b \in B} \mathrm{TV}(p_b, \bar p), \qquad
        \mathrm{TV}(p, q) = \frac{1}{2} \sum_k |p_k - q_k|

    p_b is the histogram of the effect in bin b of the cause, where the effect is standardised
    inside the bin, and the mean is over the bins.
    """
    x, y = two_variables(x, y)
    x, y = standardised(x), standardised(y)
    return _divergence(y, x) - _divergence(x, y)


def _divergence(cause: np.ndarray, effect: np.ndarray) -> float:
    laws = np.array([shares(binned(_shape(part))) for part in effect_by_cause(cause, effect)])
    return float(np.abs(laws - laws.mean(axis=0)).sum(axis=1).mean() / 2)


def _shape(values: np.ndarray) -> np.ndarray:
    return standardised(values) if np.ptp(values) > 0 else np.zeros_like(values)
