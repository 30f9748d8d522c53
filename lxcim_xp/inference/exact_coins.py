"""Exact tails of a sum of fair coins: on the lattice of whole scores, or over all outcomes.

How the coins arise, and which form serves where, is not known here.
"""

import math
from typing import Any

import numpy as np

from lxcim_xp._arrays.loops import compiled_once, repeat
from lxcim_xp._arrays.namespaces import NUMPY, device_of
from lxcim_xp._arrays.primitives import running_sum, take
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._numerics.ordering import order_of
from lxcim_xp.inference.null_distributions import Tails, known, probability, subset_sums, undefined

# So many coins are enumerated: the sums of either half of them are at most 4096 numbers, and even
# float32 counts all outcomes without rounding.
MOST_ENUMERATED = 24

# Up to here, NumPy fills the tables of a whole batch at once: probabilities are then exact
# fractions, whatever the order of their sum.
_SHORT = 24


def exact_coin_tails(xp: Namespace, scores: Array, observed: Array) -> Tails:
    """Return the tails of a sum of fair coins worth whole scores that sum to n^2 at most.

    It takes n steps on n^2 + 1 probabilities. They are only added and halved, so that the smallest
    tails are as accurate as the others. NumPy's tables of more than 24 coins are as long as the sum
    of the scores, which may then be larger than n^2, over their common span.
    """
    if scores.shape[-1] == 0:
        return undefined(xp, observed)
    if xp is NUMPY and (scores.ndim == 1 or scores.shape[-1] > _SHORT):
        return _tails_by_row(scores, observed)
    return Tails(*compiled_once(xp, _tails_by_table, scores, observed))


def _tails_by_row(scores: Array, observed: Array) -> Tails:
    """Return the tails of each NumPy entry by a table that is only as long as it must be."""
    rows = scores.reshape(-1, scores.shape[-1])
    tails = [_tails_of_row(row, at) for row, at in zip(rows, np.ravel(observed), strict=True)]
    table = NUMPY.reshape(NUMPY.asarray(tails, dtype=float), (*np.shape(observed), 2))
    return Tails(table[..., 0], table[..., 1])


def enumerated_tails(xp: Namespace, scores: Array, observed: Array, samples: int) -> Tails:
    """Return the tails of a sum of up to 24 fair coins over all outcomes.

    The outcomes of either half are sorted and then met with each other, so that 2^k sums take the
    time of 2^(k/2). Sums that differ by rounding only are the same, and both tails hold them:
    scores come from sums over so many ``samples``, whose roundings add up.
    """
    rounding = (samples + 4) * xp.finfo(scores.dtype).eps * xp.sum(scores, axis=-1)
    return Tails(*compiled_once(xp, _tails_of_outcomes, scores, observed, rounding))


def _tails_by_table(xp: Namespace, scores: Array, observed: Array) -> tuple[Array, Array]:
    *batch, n = scores.shape
    place = xp.arange(n * n + 1, device=device_of(xp, scores))
    place = xp.broadcast_to(xp.reshape(place, (1,) * len(batch) + (-1,)), (*batch, n * n + 1))
    # Scores of bad input may be NaN, for which there is no integer; their tails become NaN below.
    shifts = xp.astype(xp.where(xp.isfinite(scores), scores, 0.0), place.dtype)

    def toss(k: Any, chance: Array) -> Array:
        source = place - shifts[..., k][..., None]
        is_there = source >= 0
        shifted = take(xp, chance, xp.where(is_there, source, 0))
        return (chance + xp.where(is_there, shifted, 0.0)) / 2

    chance = repeat(xp, n, toss, xp.astype(place == 0, scores.dtype))
    value = xp.astype(place, scores.dtype)
    at = observed[..., None]
    lower = xp.sum(xp.where(value <= at, chance, 0.0), axis=-1)
    upper = xp.sum(xp.where(value >= at, chance, 0.0), axis=-1)
    unknown = xp.isnan(observed + xp.sum(scores, axis=-1))
    return probability(xp, lower, unknown), probability(xp, upper, unknown)


def _tails_of_row(scores: NumpyArray, observed: float) -> tuple[float, float]:
    if not math.isfinite(observed + float(scores.sum())):
        return math.nan, math.nan
    shifts = np.sort(scores[scores > 0]).astype(np.int64)  # the table grows late
    span = int(np.gcd.reduce(shifts)) or 1
    shifts //= span
    chance = np.zeros(int(shifts.sum()) + 1)
    chance[0], end = 1.0, 1
    for shift in shifts.tolist():
        half = chance[:end] / 2
        chance[:end] = half
        end += shift
        chance[shift:end] += half
    at_most = max(0, math.floor(observed / span) + 1)
    at_least = max(0, math.ceil(observed / span))
    lower, upper = chance[:at_most].sum(), chance[at_least:].sum()
    return min(float(lower), 1.0), min(float(upper), 1.0)


def _tails_of_outcomes(
    xp: Namespace, scores: Array, observed: Array, rounding: Array
) -> tuple[Array, Array]:
    scores, observed, unknown = known(xp, scores, observed)
    n = scores.shape[-1]
    total = xp.sum(scores, axis=-1)
    rounding = xp.where(rounding > 0, rounding, 1.0)  # without a coin, or where unknown
    first, second = (
        subset_sums(xp, half) for half in (scores[..., : n // 2], scores[..., n // 2 :])
    )
    # With all coins turned over, the sum is the total less the sum.
    upper, lower = (
        _count_of_larger(xp, first, (least - rounding)[..., None] - second) / 2**n
        for least in (observed, total - observed)
    )
    return probability(xp, lower, unknown), probability(xp, upper, unknown)


def _count_of_larger(xp: Namespace, x: Array, y: Array) -> Array:
    """Return the number of pairs with x > y. No x is equal to a y."""
    order = order_of(xp, xp.concat([x, y], axis=-1))
    is_x = xp.astype(order < x.shape[-1], x.dtype)
    count = running_sum(xp, is_x)[..., 1:]
    return xp.sum((1 - is_x) * (count[..., -1:] - count), axis=-1)
