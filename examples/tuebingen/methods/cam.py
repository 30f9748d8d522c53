"""CAM: the effect is what a smooth curve in the cause explains better.

P. Bühlmann, J. Peters and J. Ernest, "CAM: causal additive models, high-dimensional order search
and penalized regression", Annals of Statistics 42(6), 2014.

The paper's run kept the likelihood score of the chosen graph, with the direction as its sign:
:func:`cam`. It has no natural zero. As most variables in the pairs have a variance above 1 in the
units they come in, most scores change sign against the chosen direction. :func:`cam_clean` is the
difference of the two graphs, which does not depend on units.
"""

import numpy as np
from scipy.optimize import minimize_scalar

from .inputs import NoAnswer, two_variables
from .smoothing_splines import (
    PenalisedFits,
    degrees_of_freedom,
    penalised_fits,
    residual_sum,
    thin_plate_spline,
)

BASIS_SIZE = 10
LOG_SMOOTHNESS = np.linspace(-30, 15, 181)  # from all of the basis to a straight line


def cam(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return the likelihood score of the better graph, with its direction as sign (paper mode).

    .. math:: \pm \left( -\log \operatorname{var} x - \log \operatorname{var} y
        + \max(g_{x \to y}, g_{y \to x}) \right)

    with + for x -> y, that is where its gain g (see :func:`cam_clean`) is the larger one, and 0
    where both are equal. The variances are those of the raw values, with divisor n - 1.
    """
    x, y = two_variables(x, y, least=BASIS_SIZE + 1)
    forward, backward = _gain(x, y), _gain(y, x)
    score = max(forward, backward) - np.log(x.var(ddof=1)) - np.log(y.var(ddof=1))
    return float(np.sign(forward - backward) * score)


def cam_clean(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return the difference of the two gains in log-likelihood.

    .. math:: g_{x \to y} - g_{y \to x}, \qquad
        g_{x \to y} = \log \operatorname{var} y - \log \operatorname{var}(y - s(x))

    where s is a thin plate regression spline with 10 basis functions, its smoothness chosen by
    generalised cross-validation.
    """
    x, y = two_variables(x, y, least=BASIS_SIZE + 1)
    return _gain(x, y) - _gain(y, x)


def _gain(cause: np.ndarray, effect: np.ndarray) -> float:
    distinct = np.unique(cause).size
    if distinct < BASIS_SIZE:
        raise NoAnswer(
            f"One side has {distinct} distinct values; a spline with {BASIS_SIZE} basis functions "
            "takes as many."
        )
    effect = effect - effect.mean()
    design, penalty, scale = thin_plate_spline(cause, BASIS_SIZE)
    fits = penalised_fits(design, penalty, effect, scale)
    return float(
        np.log(fits.energy) - np.log(residual_sum(fits, _best_smoothness(fits, effect.size)))
    )


def _best_smoothness(fits: PenalisedFits, n: int) -> float:
    """Return where n RSS / (n - df)^2 is smallest.

    There may be two minima. This takes the lower one, where mgcv's search from a fixed start may
    stay in the other.
    """

    def log_gcv(power: float) -> float:
        smoothness = np.exp(power)
        spare = n - degrees_of_freedom(fits, smoothness)
        return float(np.log(residual_sum(fits, smoothness)) - 2 * np.log(spare))

    start = int(np.argmin([log_gcv(power) for power in LOG_SMOOTHNESS]))
    around = (
        LOG_SMOOTHNESS[max(start - 1, 0)],
        LOG_SMOOTHNESS[min(start + 1, LOG_SMOOTHNESS.size - 1)],
    )
    found = minimize_scalar(log_gcv, bounds=around, method="bounded", options={"xatol": 1e-8})
    return float(np.exp(found.x))
