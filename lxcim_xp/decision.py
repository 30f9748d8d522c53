"""Decision functions: how a score becomes a decision and a confidence.

A decision function has a threshold ``s*`` and a confidence that grows on both sides of it. It is
held as a small immutable value, so that it can be compared, hashed and passed to any metric as
``decision=``. The plain case, ``|score - threshold|``, has the short form ``threshold=``.

>>> from lxcim_xp import lxcim, probability
>>> lxcim([1, 0, 1, 1], [0.9, 0.1, 0.7, 0.4], decision=probability())
np.float64(0.9375)
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._array import Array, Namespace, array_like, widest_float


class Decision(NamedTuple):
    """A threshold, the signed confidence around it, and the score of equal confidence across it.

    Parameters
    ----------
    threshold : float or array
        The score at which the decision changes sides. A score that hits it is undecided.
    signed : callable
        ``signed(xp, score, threshold)``: the confidence, positive above the threshold, negative
        below it, and zero at it.
    mirror : callable
        ``mirror(xp, score, threshold)``: the score with the opposite decision and the same
        confidence.
    domain : tuple of float, optional
        Smallest and largest legal score. ``None`` allows every real number and both infinities.

    Examples
    --------
    >>> from lxcim_xp import absolute
    >>> absolute(0.5).threshold
    0.5
    >>> absolute(0.5) == absolute(0.5)
    True
    """

    threshold: Any
    signed: Callable[[Namespace, Array, Any], Array]
    mirror: Callable[[Namespace, Array, Any], Array]
    domain: tuple[float, float] | None = None


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
    if isinstance(threshold, np.generic):
        threshold = threshold.item()
    if isinstance(threshold, int | float) and math.isnan(threshold):
        raise ValueError("threshold must be a number; found nan. Pass the score that decides.")
    return Decision(threshold, _distance, _reflection)


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
    return Decision(0.5, _probability_margin, _complement, domain=(0.0, 1.0))


def _distance(xp: Namespace, score: Array, threshold: Any) -> Array:
    if isinstance(threshold, int | float) and threshold == 0:
        return score
    wide = widest_float(xp, score)
    return xp.astype(score, wide) - xp.astype(array_like(xp, threshold, score), wide)


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
