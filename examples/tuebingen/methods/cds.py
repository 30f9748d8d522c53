"""CDS: around its mean, the effect has the same law wherever the cause is.

J. A. R. Fonollosa, "Conditional distribution variability measures for causality detection",
arXiv 1601.06680, 2016.
"""

import numpy as np

from .conditionals import binned, effect_by_cause, has_few_values, shares
from .inputs import standardised, two_variables


def cds(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how much more the laws of x given y vary than those of y given x.

    .. math:: \mathrm{score} = V(y \to x) - V(x \to y), \qquad
        V(x \to y)^2 = \frac{1}{|B|\, K} \sum_{b \in B} \sum_{k=1}^K (p_{b,k} - \bar p_k)^2

    p_b is the histogram of the effect in bin b of the cause, where the effect is centred inside
    the bin but keeps its scale, and the mean is over the bins. An effect with few values cannot be
    centred: its histogram in a bin is over these values, and moved to where it resembles that of
    all samples most.
    """
    x, y = two_variables(x, y)
    x, y = standardised(x), standardised(y)
    return _variability(y, x) - _variability(x, y)


def _variability(cause: np.ndarray, effect: np.ndarray) -> float:
    if has_few_values(effect):
        values, effect = np.unique(effect, return_inverse=True)
        everywhere = shares(effect, values.size)
        laws = [
            _moved(shares(part, values.size), everywhere) for part in effect_by_cause(cause, effect)
        ]
    else:
        scale = effect.std()
        laws = [
            shares(binned((part - part.mean()) / scale)) for part in effect_by_cause(cause, effect)
        ]
    return float(np.std(np.array(laws) - np.mean(laws, axis=0)))


def _moved(law: np.ndarray, everywhere: np.ndarray) -> np.ndarray:
    """Return a histogram with so many empty bins before it that it resembles another most."""
    before = 2 * law.size - 2 - int(np.argmax(np.correlate(law, everywhere, "full")))
    return np.pad(law, (before, 2 * law.size - 2 - before))
