"""Decision functions: how a score becomes a decision and a confidence.

A decision function has a threshold ``s*`` and a confidence that grows on both sides of it. It is
held as a small immutable value, so that it can be compared, hashed and passed to any metric as
``decision=``. The plain case, ``|score - threshold|``, has the short form ``threshold=``. What such
a value is applied to is decided in ``_margins`` (metrics) and ``exchange`` (mirror scores).

>>> from lxcim_xp import lxcim, probability
>>> lxcim([1, 0, 1, 1], [0.9, 0.1, 0.7, 0.4], decision=probability())
np.float64(0.9375)
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._array import Array, Namespace, array_like, as_array, widest_float
from lxcim_xp._mirror import bisected


class Decision(NamedTuple):
    """A threshold, the signed confidence around it, and the score of equal confidence across it.

    Parameters
    ----------
    threshold : float or array
        The score at which the decision changes sides. A score that hits it is undecided.
    signed : callable
        ``signed(xp, score, threshold, *parameters)``: the confidence, positive above the
        threshold, negative below it, and zero at it.
    mirror : callable
        ``mirror(xp, score, threshold, *parameters)``: the score with the opposite decision and the
        same confidence.
    domain : tuple of float, optional
        Smallest and largest legal score. ``None`` allows every real number and both infinities.
    parameters : tuple, default ()
        What ``signed`` and ``mirror`` need beside the threshold.
    trusted : bool, default True
        Whether ``signed`` grows strictly with the score and ``mirror`` keeps the confidence. If
        not, both are checked on the scores that they are used on.
    slope : callable, optional
        ``slope(xp, score, threshold, *parameters)``: the derivative of ``signed`` by the score.
        Only gradients of soft metrics need it, and only for libraries without derivatives.

    Examples
    --------
    >>> from lxcim_xp import absolute
    >>> absolute(0.5).threshold
    0.5
    >>> absolute(0.5) == absolute(0.5)
    True
    """

    threshold: Any
    signed: Callable[..., Array]
    mirror: Callable[..., Array]
    domain: tuple[float, float] | None = None
    parameters: tuple[Any, ...] = ()
    trusted: bool = True
    slope: Callable[..., Array] | None = None


def absolute(threshold: Any = 0.0) -> Decision:
    """Decide by the side of a threshold, with the distance from it as confidence.

    Parameters
    ----------
    threshold : float or array, default 0.0
        The score at which the decision changes sides; an array must broadcast against the scores.
        It is rounded to the dtype of the scores first, so that a float32 score written as 0.3
        meets a threshold of 0.3.

    Returns
    -------
    Decision
        A value to pass as ``decision=``; ``threshold=t`` is short for it.

    Examples
    --------
    >>> from lxcim_xp import absolute, accuracy
    >>> accuracy([1, 0], [0.7, 0.2], decision=absolute(0.5))
    np.float64(1.0)
    """
    return Decision(_number(threshold), _distance, _reflection, slope=_slope_one)


def probability() -> Decision:
    """Decide by the side of one half, such that ``p`` and ``1 - p`` are equally confident.

    The confidence of ``p`` is ``max(p, 1 - p) - 0.5``, computed in the dtype of the scores. Both
    differences are then exact or rounded in the same way, and a probability ties with its computed
    complement; ``abs(p - 0.5)`` breaks 20 of the 50 such ties among hundredths. Two decimals
    written down apart, like 0.07 and 0.93, are complements only up to rounding and need not tie.
    Probabilities closer to 0 than the spacing of floats below 1 tie with each other, as their
    complements do.

    Returns
    -------
    Decision
        A value to pass as ``decision=``. Scores outside [0, 1] are bad input.

    Examples
    --------
    A right decision at 0.7 and a wrong one at 0.3 tie, although 0.7 - 0.5 < 0.5 - 0.3 in floats:

    >>> from lxcim_xp import lxcim, probability
    >>> lxcim(1, [0.7, 0.3], threshold=0.5), lxcim(1, [0.7, 0.3], decision=probability())
    (np.float64(0.25), np.float64(0.5))
    """
    return Decision(0.5, _probability_margin, _complement, domain=(0.0, 1.0), slope=_slope_one)


def logit() -> Decision:
    """Decide by the side of one half, with the log-odds of the probability as confidence.

    The order of the confidences is that of :func:`probability`, and so are the ties; only their
    scale differs. Use it where the scale counts, for example to map confidences to log-odds.
    Probabilities 0 and 1 are infinitely confident.

    Returns
    -------
    Decision
        A value to pass as ``decision=``. Scores outside [0, 1] are bad input.

    Notes
    -----
    Ties need a logarithm that is the same wherever it is computed. Code from ``torch.compile`` may
    differ in the last bit between the body and the end of an array: rank by :func:`probability`
    there.

    Examples
    --------
    >>> from lxcim_xp import logit, lxcim, probability
    >>> y_true, y_score = [1, 0, 1, 1], [0.9, 0.1, 0.7, 0.4]
    >>> lxcim(y_true, y_score, decision=logit()), lxcim(y_true, y_score, decision=probability())
    (np.float64(0.9375), np.float64(0.9375))
    """
    return Decision(0.5, _log_odds, _complement, domain=(0.0, 1.0), slope=_slope_of_log_odds)


def asymmetric(
    threshold: Any = 0.0, negative_scale: float = 1.0, positive_scale: float = 1.0
) -> Decision:
    """Decide by the side of a threshold, with a unit of confidence of its own on each side.

    The confidence is ``(score - threshold) / positive_scale`` above the threshold and
    ``(threshold - score) / negative_scale`` below it: for scores whose two sides are not on one
    scale. The scales say which scores are equally confident, and so what an exchange does.

    Parameters
    ----------
    threshold : float or array, default 0.0
        The score at which the decision changes sides.
    negative_scale, positive_scale : float, default 1.0
        How far from the threshold a score must be to have confidence 1, on each side. Mirror
        scores are rounded unless the ratio of the scales is a power of two.

    Returns
    -------
    Decision
        A value to pass as ``decision=``.

    Examples
    --------
    A score of -1 is as confident as one of 4, so that the wrong 3 is less confident than both:

    >>> from lxcim_xp import asymmetric, lxcim
    >>> lxcim([1, 0, 0], [4.0, -1.0, 3.0], decision=asymmetric(0, 1, 4)) * 9
    np.float64(8.0)
    """
    for name, scale in {"negative_scale": negative_scale, "positive_scale": positive_scale}.items():
        if not 0 < scale < math.inf:
            raise ValueError(f"{name} must be positive and finite; found {scale!r}.")
    scales = (float(negative_scale), float(positive_scale))
    return Decision(
        _number(threshold),
        _scaled_distance,
        _scaled_reflection,
        parameters=scales,
        slope=_slope_of_scaled_distance,
    )


def decision_function(
    g: Callable[[Array], Array],
    threshold: Any = 0.0,
    mirror: Callable[[Array], Array] | None = None,
    *,
    domain: tuple[float, float] | None = None,
) -> Decision:
    """Make a decision function of any confidence that grows on both sides of a threshold.

    Parameters
    ----------
    g : callable
        ``g(scores)``: the confidence of each score, positive away from the threshold and strictly
        growing on both sides of it. It is checked on the scores of each call: an error names two
        scores that break it, or the result is NaN where values cannot be inspected (any library
        but NumPy). The value at the threshold itself is not used: such a score is undecided.
    threshold : float or array, default 0.0
        The score at which the decision changes sides.
    mirror : callable, optional
        ``mirror(scores)``: for each score the one across the threshold with the same confidence,
        which is checked too. Without it the score is found by bisection. Only exchanges need it.
    domain : tuple of float, optional
        Smallest and largest legal score; everything by default.

    Returns
    -------
    Decision
        A value to pass as ``decision=``. Two of them are equal when they hold the same functions.

    Examples
    --------
    Probabilities, less sure above one half than below:

    >>> import numpy as np
    >>> from lxcim_xp import decision_function, exchange
    >>> def g(p):
    ...     return np.where(p > 0.5, (2 * p - 1) ** 2, 1 - 2 * p)
    >>> careful = decision_function(g, 0.5, domain=(0.0, 1.0))
    >>> exchange([1, 1], [0.75, 0.375], decision=careful)
    Exchanged(y_true=array([0, 0]), y_score=array([0.375, 0.75 ]))
    """
    if domain is not None:
        domain = (float(domain[0]), float(domain[1]))
        if not domain[0] < domain[1]:
            raise ValueError(f"domain must be (smallest, largest); found {domain}.")
    parameters = (g, mirror, domain)
    return Decision(_number(threshold), _given, _given_mirror, domain, parameters, trusted=False)


def _number(threshold: Any) -> Any:
    """Return a threshold, a Python number where it is one."""
    if isinstance(threshold, np.generic):
        threshold = threshold.item()
    if isinstance(threshold, int | float) and math.isnan(threshold):
        raise ValueError("threshold must be a number; found nan. Pass the score that decides.")
    return threshold


def _distance(xp: Namespace, score: Array, threshold: Any) -> Array:
    if isinstance(threshold, int | float) and threshold == 0:
        return score
    wide = widest_float(xp, score)
    return xp.astype(score, wide) - xp.astype(array_like(xp, threshold, score), wide)


def _slope_one(xp: Namespace, score: Array, threshold: Any) -> Array:
    return xp.ones_like(score)


def _reflection(xp: Namespace, score: Array, threshold: Any) -> Array:
    threshold = array_like(xp, threshold, score)
    return threshold - (score - threshold)


def _probability_margin(xp: Namespace, score: Array, threshold: Any) -> Array:
    # 1 - p is exact from 1/2 up, so rounding enters only below; going through it there makes
    # p and its rounded complement meet. Subtracting 1/2 from [1/2, 1] is exact.
    complement = 1 - score
    return xp.where(score < complement, 0.5 - complement, score - 0.5)


def _complement(xp: Namespace, score: Array, threshold: Any) -> Array:
    return 1 - score


def _log_odds(xp: Namespace, score: Array, threshold: Any) -> Array:
    # log(p / (1 - p)) = 2 artanh(2p - 1), from a margin that ties p with 1 - p and is exact.
    margin = 2 * _probability_margin(xp, score, threshold)
    certain = xp.abs(margin) >= 1
    finite = 2 * xp.atanh(xp.where(certain, xp.zeros_like(margin), margin))
    return xp.where(certain, xp.copysign(xp.full_like(margin, xp.inf), margin), finite)


def _slope_of_log_odds(xp: Namespace, score: Array, threshold: Any) -> Array:
    return 1 / (score * (1 - score))


def _scaled_distance(
    xp: Namespace, score: Array, threshold: Any, negative: float, positive: float
) -> Array:
    distance = _distance(xp, score, threshold)
    return xp.where(distance > 0, distance / positive, distance / negative)


def _slope_of_scaled_distance(
    xp: Namespace, score: Array, threshold: Any, negative: float, positive: float
) -> Array:
    above = _distance(xp, score, threshold) > 0
    one = xp.ones_like(score)
    return xp.where(above, one / positive, one / negative)


def _scaled_reflection(
    xp: Namespace, score: Array, threshold: Any, negative: float, positive: float
) -> Array:
    distance = _distance(xp, score, threshold)
    across = xp.where(distance > 0, distance * negative / positive, distance * positive / negative)
    return xp.astype(array_like(xp, threshold, across) - across, score.dtype)


def _given(
    xp: Namespace,
    score: Array,
    threshold: Any,
    g: Callable[[Array], Array],
    mirror: Callable[[Array], Array] | None,
    domain: tuple[float, float] | None,
) -> Array:
    confidence = as_array(xp, g(score))
    if confidence.shape != score.shape:
        raise ValueError(
            f"g must return one confidence for each score; found shape {tuple(confidence.shape)} "
            f"for scores of shape {tuple(score.shape)}."
        )
    threshold = array_like(xp, threshold, score)
    signed = xp.where(score > threshold, confidence, -confidence)
    return xp.where(score == threshold, xp.zeros_like(signed), signed)


def _given_mirror(
    xp: Namespace,
    score: Array,
    threshold: Any,
    g: Callable[[Array], Array],
    mirror: Callable[[Array], Array] | None,
    domain: tuple[float, float] | None,
) -> Array:
    at = array_like(xp, threshold, score)
    mirrored = bisected(xp, g, score, at, domain) if mirror is None else mirror(score)
    return xp.where(score == at, score, xp.astype(as_array(xp, mirrored), score.dtype))
