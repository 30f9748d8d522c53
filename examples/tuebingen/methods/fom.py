r"""FOM: regressing the effect on the cause leaves residuals with the smaller fourth moment.

R. Cai, J. Ye, J. Qiao, H. Fu and Z. Hao, "FOM: fourth-order moment based causal direction
identification on the heteroscedastic data", Neural Networks 124, 2020.

The paper's run subtracted a row of predictions from a column of values. Its cost is therefore the
mean of :math:`(y_i - f(x_j))^4` over all i and j and not over the samples; whatever f is, the
fourth moment of y itself decides. :func:`fom` is what this leaves of the method, without any
regression. It depends on units. :func:`fom_clean` is the method.
"""

import numpy as np

from .gaussian_process import gp_residuals
from .hsic import evenly
from .inputs import NoAnswer, standardised, two_variables

MOST_SAMPLES = 200  # evenly picked; the time grows with their cube
NOISE_LEVELS = 5


def fom(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return the difference of fourth moments, in the units of x and y (paper mode).

    .. math:: \frac{1}{n} \sum_i (x_i - \bar{x})^4 - \frac{1}{n} \sum_i (y_i - \bar{y})^4

    This has the sign of the published score in every pair, but not its size.
    """
    x, y = two_variables(x, y)
    with np.errstate(over="ignore", invalid="ignore"):
        score = _fourth_moment(x - x.mean()) - _fourth_moment(y - y.mean())
    if not np.isfinite(score):
        raise NoAnswer("The fourth moment of a side is too large for a float.")
    return score


def fom_clean(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how much larger the residuals are against the direction x -> y.

    .. math:: M(x \mid y) - M(y \mid x), \qquad
        M(y \mid x) = \frac{1}{n} \sum_i (y_i - f(x_i))^4

    on standardised samples, with f from a Gaussian process whose noise level changes along x.
    """
    x, y = two_variables(x, y)
    picked = evenly(x.size, MOST_SAMPLES)
    x, y = two_variables(x[picked], y[picked])
    x, y = standardised(x), standardised(y)
    return _cost(y, x) - _cost(x, y)


def _cost(cause: np.ndarray, effect: np.ndarray) -> float:
    return _fourth_moment(gp_residuals(cause, effect, NOISE_LEVELS))


def _fourth_moment(values: np.ndarray) -> float:
    return float(np.mean(values**4))
