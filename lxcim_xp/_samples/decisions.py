"""What a decision function is, and the plain one: the distance from a threshold.

Of two scores at equal distances from a threshold, often only one is a float. An exchange of
classes must nevertheless keep the confidence of a sample. So the confidence is not the distance of
the score itself, but that of two floats that are each other's rounded mirror images: see
``half_the_gap``.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import (
    NUMPY,
    array_like,
    widest_float,
)
from lxcim_xp._arrays.primitives import quietly
from lxcim_xp._arrays.typing import Array, DType, Namespace, NumpyArray


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
    is_confidence : bool, default False
        Whether the score is the confidence itself, of any sign, in a decision that was made before:
        then every sample is decided, and its label says whether rightly.

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
    is_confidence: bool = False


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

    Notes
    -----
    A score ``s`` ties with its mirror image ``2 * t - s`` as the dtype of the scores rounds it.
    Floats are denser towards zero: several that are nearer to it than the threshold can have the
    same mirror image, and then they tie with each other. At threshold 0 there are none. A score
    whose mirror image is beyond the largest float is infinitely confident.

    Examples
    --------
    >>> from lxcim_xp import absolute, accuracy
    >>> accuracy([1, 0], [0.7, 0.2], decision=absolute(0.5))
    np.float64(1.0)

    A right decision at 0.7 and a wrong one at 0.3 tie, although 0.7 - 0.5 < 0.5 - 0.3 in floats:

    >>> from lxcim_xp import lxcim
    >>> lxcim(1, [0.7, 0.3], decision=absolute(0.5))
    np.float64(0.5)
    """
    return Decision(number(threshold), distance, reflection, slope=slope_one)


def number(threshold: Any) -> Any:
    """Return a threshold, as a Python number if it is a scalar."""
    if isinstance(threshold, np.generic):
        threshold = threshold.item()
    if isinstance(threshold, int | float) and math.isnan(threshold):
        raise ValueError("threshold must be a number; found nan. Pass the score that decides.")
    return threshold


def distance(xp: Namespace, score: Array, threshold: Any) -> Array:
    if isinstance(threshold, int | float) and threshold == 0:
        return score
    return half_the_gap(xp, score, threshold, 1.0, score.dtype)


def slope_one(xp: Namespace, score: Array, threshold: Any) -> Array:
    return xp.ones_like(score)


def reflection(xp: Namespace, score: Array, threshold: Any) -> Array:
    return mirror_image(xp, score, threshold_beside(xp, threshold, score), 1.0)


def threshold_beside(xp: Namespace, threshold: Any, score: Array) -> Array:
    """Return a threshold in the dtype of the scores; for NumPy a single number stays one."""
    if xp is NUMPY and isinstance(threshold, int | float):
        one: NumpyArray = np.asarray(threshold, dtype=score.dtype)
        return one
    return array_like(xp, threshold, score)


def half_the_gap(xp: Namespace, score: Array, threshold: Any, ratio: float, dtype: DType) -> Array:
    """Return half the distance between a score and its mirror image, in the widest float.

    More exactly: between the score reflected twice and three times, in the dtype of the mirror
    images. These two floats are each other's mirror images. The score itself need not be one:
    where floats are denser, several of them share a mirror image. A score and its mirror image
    lead to the same two floats, swapped, so an exchange keeps their distance.
    """
    if (
        ratio == 1
        and xp is NUMPY
        and score.dtype == np.float64
        and isinstance(threshold, int | float)
    ):
        half = half_the_gap_numpy(score, float(threshold))
        if half is not None:
            return half
    return half_the_gap_by_reflections(xp, score, threshold, ratio, dtype)


def half_the_gap_by_reflections(
    xp: Namespace, score: Array, threshold: Any, ratio: float, dtype: DType
) -> Array:
    """Return what :func:`half_the_gap` promises, one mirror image after the other."""
    wide = widest_float(xp, score)
    at = xp.astype(threshold_beside(xp, threshold, score), dtype, copy=False)
    across = mirror_image(xp, xp.astype(score, dtype, copy=False), at, ratio)
    own = mirror_image(xp, across, at, ratio)
    across = mirror_image(xp, own, at, ratio)
    own, across = (xp.astype(array, wide, copy=False) for array in (own, across))
    with quietly(xp):
        half = (own - across) * 0.5
        finite = xp.isfinite(half)
        if xp is NUMPY and finite.all():
            return half
        # Large numbers are halved first; small ones would lose digits that way. Around a
        # threshold so large that mirror images overflow, the plain distance has to do.
        halves = own * 0.5 - across * 0.5
        distance = xp.astype(score, wide, copy=False) - xp.astype(at, wide, copy=False)
        return xp.where(finite, half, xp.where(xp.isnan(halves), distance, halves))


def half_the_gap_numpy(score: Array, threshold: float) -> Array | None:
    """Return the same in a third of the calls; None if a reflection hits the threshold."""
    twice = 2 * threshold
    with np.errstate(over="ignore", invalid="ignore"):
        own = twice - (twice - score)
        across = twice - own
        if (across == threshold).any():  # or an earlier reflection hit it, and it stayed
            return None
        half = (own - across) * 0.5
    return half if np.isfinite(half).all() else None


def mirror_image(xp: Namespace, score: Array, at: Array, ratio: float) -> Array:
    """Return ``at - ratio * (score - at)`` for scores above the threshold, its inverse below.

    With the constants summed first, only the rounding of results keeps the two from being inverse.
    """
    wide = widest_float(xp, score)
    wide_score, wide_at = (xp.astype(array, wide, copy=False) for array in (score, at))
    with quietly(xp):
        if ratio == 1:
            image = xp.astype(2 * wide_at - wide_score, score.dtype, copy=False)
            missed = image == at
        else:
            constant = wide_at + ratio * wide_at
            above, below = constant - ratio * wide_score, (constant - wide_score) / ratio
            image = xp.astype(xp.where(score > at, above, below), score.dtype, copy=False)
            missed = xp.where(score > at, image >= at, image <= at) | (score == at)
        if xp is NUMPY and not missed.any():
            return image
        # Only the threshold is its own mirror image, whatever rounding says. Even there, the
        # derivative is that of a mirror image.
        floats = xp.finfo(score.dtype)
        least = xp.full_like(at, float(floats.smallest_normal))
        step = float(floats.eps) * xp.maximum(xp.abs(at), least)
        nearest = xp.where(score < at, at + step, xp.where(score > at, at - step, 2 * at - score))
        nearest = xp.where(xp.isinf(at), xp.full_like(at, xp.nan), nearest)
        return xp.where(missed, nearest, image)
