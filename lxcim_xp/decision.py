"""Decision functions: how a score becomes a decision and a confidence.

A decision function has a threshold ``s*`` and a confidence that grows on both sides of it. It is
held as a small immutable value, so that it can be compared, hashed and passed to any metric as
``decision=``. The plain case, ``|score - threshold|``, has the short form ``threshold=``. Metrics
apply such a value in ``_samples.samples``, mirror scores come from ``exchange``.

>>> from lxcim_xp import lxcim, probability
>>> y_true, y_score = [1, 0, 0, 1], [0.9, 0.1, 0.2, 0.4]
>>> lxcim(y_true, y_score, decision=probability()), lxcim(y_true, y_score, threshold=0.0)
(np.float64(0.9375), np.float64(0.75))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lxcim_xp._arrays.namespaces import array_like, as_array, widest_float
from lxcim_xp._arrays.primitives import computed_alike
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace
from lxcim_xp._numerics.bisection import bisected
from lxcim_xp._samples.decisions import (
    Decision,
    absolute,
    distance,
    half_the_gap,
    mirror_image,
    number,
    reflection,
    slope_one,
)
from lxcim_xp._samples.mirror import snapped

__all__ = [
    "Decision",
    "absolute",
    "asymmetric",
    "confidence",
    "decision_function",
    "logit",
    "probability",
]


def probability() -> Decision:
    """Decide by the side of one half, where ``p`` and ``1 - p`` are equally confident.

    The same as ``absolute(0.5)`` for scores that must lie in [0, 1]. A probability ties with its
    complement as the dtype of the scores rounds it; ``abs(p - 0.5)`` breaks 20 of the 50 such ties
    among hundredths. Two decimals that are written separately, like 0.07 and 0.93, are complements
    only up to rounding and need not tie. Probabilities closer to 0 than the spacing of floats below
    1 tie with each other, as their complements do.

    Returns
    -------
    Decision
        A value to pass as ``decision=``. Scores outside [0, 1] are bad input.

    Examples
    --------
    The side of one half decides, and 0.9 is as confident as 0.1:

    >>> from lxcim_xp import lxcim, probability
    >>> y_true, y_score = [1, 0, 0, 1], [0.9, 0.1, 0.6, 0.3]
    >>> lxcim(y_true, y_score, decision=probability())
    np.float64(0.75)

    At threshold 0 all of them would be decisions for the positive side:

    >>> lxcim(y_true, y_score, threshold=0.0)
    np.float64(0.625)
    """
    return Decision(0.5, distance, reflection, domain=(0.0, 1.0), slope=slope_one)


def logit() -> Decision:
    """Decide by the side of one half, with the log-odds of the probability as confidence.

    The order of the confidences is that of :func:`probability`, and what ties there ties here; only
    their scale differs. Use it where the scale matters, for example to map confidences to log-odds.
    Probabilities 0 and 1 are infinitely confident.

    Returns
    -------
    Decision
        A value to pass as ``decision=``. Scores outside [0, 1] are bad input.

    Notes
    -----
    The logarithm is taken in the widest float of the device. Where the scores are in it already,
    the log-odds of neighbouring floats may be rounded to the same number. Ties need a logarithm
    that is the same wherever it is computed. Code from ``torch.compile`` may differ in the last bit
    between the body and the end of an array: rank by :func:`probability` there.

    Examples
    --------
    >>> from lxcim_xp import logit, lxcim, probability
    >>> y_true, y_score = [1, 0, 1, 1], [0.9, 0.1, 0.7, 0.4]
    >>> lxcim(y_true, y_score, decision=logit()), lxcim(y_true, y_score, decision=probability())
    (np.float64(0.9375), np.float64(0.9375))
    """
    return Decision(0.5, _log_odds, reflection, domain=(0.0, 1.0), slope=_slope_of_log_odds)


def asymmetric(
    threshold: ArrayLike = 0.0, negative_scale: float = 1.0, positive_scale: float = 1.0
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
        How far from the threshold a score must be to have confidence 1, on each side.

    Returns
    -------
    Decision
        A value to pass as ``decision=``.

    Notes
    -----
    A score ties with its mirror image, as for :func:`absolute`, in the widest float of the device
    and where the ratio of the scales is a power of two. With another ratio there is no float32 that
    is exactly as confident as a float32 on the other side, unless by chance: an exchange of narrow
    floats is rounded then. Convert them to float64 before they are exchanged. In the widest float
    neighbours that share a mirror image tie, which shows where that is float32: in JAX without x64
    and with scales 1 and 3, about a third of neighbouring numbers between 1 and 2.

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
        number(threshold),
        _scaled_distance,
        _scaled_reflection,
        parameters=scales,
        slope=_slope_of_scaled_distance,
    )


def confidence() -> Decision:
    """Take the score for the confidence of a decision that was made before.

    Every sample is decided, and ``y_true`` says whether rightly: 1 or 0, or the share of the credit
    that the decision earns. Only the order of the scores matters, so that they may have any sign
    and any scale: the largest softmax output, minus an entropy, the agreement of an ensemble.

    Returns
    -------
    Decision
        A value to pass as ``decision=``. There is no threshold, and no other side to exchange a
        sample to. Soft metrics, which need margins, refuse it.

    See Also
    --------
    augrc : (1 - LxCIM) / 2, which selective classification calls the generalised risk.

    Examples
    --------
    Four answers, of which the second is wrong, with minus the entropy for a confidence:

    >>> from lxcim_xp import augrc, confidence, lxcim
    >>> right, entropy = [1, 0, 1, 1], [0.1, 0.9, 0.4, 1.2]
    >>> lxcim(right, [-h for h in entropy], decision=confidence())
    np.float64(0.8125)
    >>> augrc(right, [-h for h in entropy], decision=confidence())
    np.float64(0.09375)
    """
    return Decision(0.0, _as_it_is, _no_other_side, slope=slope_one, is_confidence=True)


def _as_it_is(xp: Namespace, score: Array, threshold: Any) -> Array:
    return score


def _no_other_side(xp: Namespace, score: Array, threshold: Any) -> Array:
    raise ValueError(
        "decision=confidence() cannot be used here: a confidence alone has no other side to "
        "exchange a sample to. Pass scores that are signed, or probabilities with "
        "decision=probability()."
    )


def decision_function(
    g: Callable[[Any], Any],
    threshold: ArrayLike = 0.0,
    mirror: Callable[[Any], Any] | None = None,
    *,
    domain: tuple[float, float] | None = None,
) -> Decision:
    """Make a decision function out of any confidence that grows on both sides of a threshold.

    Parameters
    ----------
    g : callable
        ``g(scores)``: the confidence of each score, positive away from the threshold and strictly
        growing on both sides of it. It gets the scores in the widest float of the device, and is
        checked on the scores of each call: an error names two scores that break it, or the result
        is NaN where values cannot be inspected (any library but NumPy). The value at the threshold
        itself is not used: such a score is undecided.
    threshold : float or array, default 0.0
        The score at which the decision changes sides.
    mirror : callable, optional
        ``mirror(scores)``: for each score the one across the threshold with the same confidence,
        which is checked too. Without it the score is found by bisection. Only exchanges need it.
        Of the float that it gives and the floats beside it, the one of exactly equal confidence is
        taken; where there is none, rounding may make an exchange break a tie.
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
    return Decision(number(threshold), _given, _given_mirror, domain, parameters, trusted=False)


def _log_odds(xp: Namespace, score: Array, threshold: Any) -> Array:
    # log(p / (1 - p)) = 2 artanh(2p - 1), from a margin that ties p with 1 - p and is exact.
    margin = 2 * distance(xp, score, threshold)
    certain = xp.abs(margin) >= 1
    inside = xp.where(certain, xp.zeros_like(margin), margin)
    finite = 2 * xp.atanh(computed_alike(xp, inside))
    return xp.where(certain, xp.copysign(xp.full_like(margin, xp.inf), margin), finite)


def _slope_of_log_odds(xp: Namespace, score: Array, threshold: Any) -> Array:
    return 1 / (score * (1 - score))


def _scaled_distance(
    xp: Namespace, score: Array, threshold: Any, negative: float, positive: float
) -> Array:
    ratio = negative / positive
    # Else a narrow float has no mirror image, and rounding to one would make neighbours tie.
    dtype = score.dtype if math.frexp(ratio)[0] == 0.5 else widest_float(xp, score)
    gap = half_the_gap(xp, score, threshold, ratio, dtype)
    return gap / ((negative + positive) / 2)


def _slope_of_scaled_distance(
    xp: Namespace, score: Array, threshold: Any, negative: float, positive: float
) -> Array:
    at, one = array_like(xp, threshold, score), xp.ones_like(score)
    aside = xp.where(score > at, one / positive, one / negative)
    return xp.where(score == at, 2 * one / (negative + positive), aside)  # as libraries derive it


def _scaled_reflection(
    xp: Namespace, score: Array, threshold: Any, negative: float, positive: float
) -> Array:
    return mirror_image(xp, score, array_like(xp, threshold, score), negative / positive)


def _given(
    xp: Namespace,
    score: Array,
    threshold: Any,
    g: Callable[[Array], Array],
    mirror: Callable[[Array], Array] | None,
    domain: tuple[float, float] | None,
) -> Array:
    confidence = as_array(xp, g(xp.astype(score, widest_float(xp, score), copy=False)))
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
    at, wide = array_like(xp, threshold, score), widest_float(xp, score)

    def confidence(score: Array) -> Array:
        return as_array(xp, g(xp.astype(score, wide, copy=False)))

    if mirror is None:
        mirrored = bisected(xp, confidence, score, at, domain)
    else:
        found = as_array(xp, mirror(xp.astype(score, wide, copy=False)))
        mirrored = snapped(xp, confidence, score, xp.astype(found, score.dtype), domain)
    return xp.where(score == at, score, mirrored)
