"""SLOPPY: the cause needs the shorter description, where a curve's bends cost bits.

A. Marx and J. Vreeken, "Identifiability of cause and effect using regularized regression",
KDD 2019.
"""

from math import exp, log

import numpy as np
from scipy.optimize import brentq

from .inputs import NoAnswer, first_two_columns, min_max, two_variables
from .smoothing_splines import (
    PenalisedFits,
    cubic_smoothing_spline,
    degrees_of_freedom,
    penalised_fits,
    residual_sum,
)

LEAST_DISTINCT = 4  # values that a cubic smoothing spline asks for
SMOOTHNESS = (256**-5.5, 256**3.5)  # the range that R's smooth.spline searches


def sloppy(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return by which share one direction costs fewer bits than the other.

    .. math:: \pm \left( 1 - \frac{\min(B_{x \to y}, B_{y \to x})}
        {\max(B_{x \to y}, B_{y \to x})} \right), \qquad
        B = \min_f \; n \log_2(\mathrm{RSS}_f / n + 1) + \mathrm{df}_f \log_2 n

    positive if x -> y costs less. Both sides are on the scale from 0 to 1; f is the constant
    (df = 1) or the cubic smoothing spline with df = 2, 3, ... degrees of freedom. The smoothness
    of a spline has a limit, so that a very uneven x may not allow it to become straight; then it
    pays for the degrees of freedom that it has, and not for those it was asked for.

    Of sides with several columns, the first two columns together are taken.
    """
    x, y = two_variables(*first_two_columns(x, y))
    for name, side in (("x", x), ("y", y)):
        if np.unique(side).size < LEAST_DISTINCT:
            raise NoAnswer(f"{name} has fewer than {LEAST_DISTINCT} distinct values.")
    forward, backward = _bits(x, y), _bits(y, x)
    share = 1 - min(forward, backward) / max(forward, backward)
    return share if forward <= backward else -share


def _bits(cause: np.ndarray, effect: np.ndarray) -> float:
    n = effect.size
    effect = min_max(effect)
    effect = effect - effect.mean()

    def bits(residuals: float, df: float) -> float:
        return n * np.log2(residuals / n + 1) + df * np.log2(n)

    best = bits(effect @ effect, 1)
    design, penalty, scale = cubic_smoothing_spline(min_max(cause))
    fits = penalised_fits(design, penalty, effect, scale)
    df = 2
    # As the first term is not negative, so many degrees of freedom cannot win any more.
    while df * np.log2(n) < best and df < degrees_of_freedom(fits, SMOOTHNESS[0]):
        smoothness = _smoothness(fits, df)
        cost = bits(residual_sum(fits, smoothness), degrees_of_freedom(fits, smoothness))
        best = min(best, cost)
        df += 1
    return float(best)


def _smoothness(fits: PenalisedFits, df: int) -> float:
    """Return the smoothness with these degrees of freedom, or the largest one."""
    least, most = SMOOTHNESS
    if degrees_of_freedom(fits, most) >= df:
        return most
    return exp(
        brentq(lambda power: degrees_of_freedom(fits, exp(power)) - df, log(least), log(most))
    )
