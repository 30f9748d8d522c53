"""RECI: the error of a regression is smaller in the causal direction.

P. Blöbaum et al., "Cause-effect inference by comparing regression errors", AISTATS 2018.
"""

import numpy as np

from .inputs import min_max, two_variables


def reci(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how much larger the error of x given y is than that of y given x.

    Both sides are on the scale from 0 to 1, and the regression is a straight line in the cube:

    .. math:: \mathrm{score} = E(y \to x) - E(x \to y), \qquad
        E(x \to y) = \min_{a, b} \frac{1}{n} \sum_i (y_i - a - b x_i^3)^2
    """
    x, y = two_variables(x, y)
    x, y = min_max(x), min_max(y)
    return _error(y, x) - _error(x, y)


def _error(cause: np.ndarray, effect: np.ndarray) -> float:
    cube = cause**3 - (cause**3).mean()
    effect = effect - effect.mean()
    slope = cube @ effect / (cube @ cube)
    return float(np.mean((effect - slope * cube) ** 2))
