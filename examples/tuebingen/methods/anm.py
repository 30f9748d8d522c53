"""ANM: the residuals of the effect are independent of the cause, and not the other way round.

P. Hoyer, D. Janzing, J. Mooij, J. Peters and B. Schölkopf, "Nonlinear causal discovery with
additive noise models", NeurIPS 2008; with HSIC as in Mooij et al., JMLR 17(32), 2016.

There is no paper mode. The paper's run subtracted a row of predictions from a column of values,
and so compared HSIC(x, y) with itself: apart from what rounding left of it, its score is zero, and
where that was exactly zero, there is none. Such numbers cannot be computed again, on another
machine or in another version of a library. They come from the published scores only.
"""

import numpy as np

from .gaussian_process import gp_residuals
from .hsic import evenly, hsic
from .inputs import standardised, two_variables

MOST_SAMPLES = 300  # evenly picked; the time grows with their cube


def anm(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how much more the residuals depend on the input against the direction x -> y.

    .. math:: \mathrm{HSIC}(x - g(y), y) - \mathrm{HSIC}(y - f(x), x)

    where f and g are the posterior means of Gaussian processes on the standardised samples, with
    length scale, signal and noise variance where the likelihood is largest.
    """
    x, y = two_variables(x, y)
    picked = evenly(x.size, MOST_SAMPLES)
    x, y = two_variables(x[picked], y[picked])
    x, y = standardised(x), standardised(y)
    return _dependence(y, x) - _dependence(x, y)


def _dependence(cause: np.ndarray, effect: np.ndarray) -> float:
    return hsic(gp_residuals(cause, effect), cause)
