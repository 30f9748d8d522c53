"""Exact tails of the binomial distribution and the Clopper-Pearson interval, in array operations.

The probability of one count comes from Loader's saddle-point form ("Fast and accurate computation
of binomial probabilities", 2000), which loses no digits to large factorials, and a tail is that
probability times a sum of falling ratios, which has no cancellation. Counts are whole numbers in a
float dtype.
"""

import math
from typing import Any

from lxcim_xp._arrays.loops import compiled_once, repeat
from lxcim_xp._arrays.namespaces import device_of
from lxcim_xp._arrays.primitives import running_product
from lxcim_xp._arrays.typing import Array, Namespace

_SHIFT = 16  # beyond this, five terms of Stirling's series give all digits
_BISECTIONS = 52


def lower_tail(xp: Namespace, count: Array, trials: Array, chance: Array, most: int) -> Array:
    """Return P(X <= count) for X ~ Binomial(trials, chance), trials being at most ``most``."""
    return compiled_once(xp, _lower_tail, count, trials, chance, _terms(xp, trials, most))


def clopper_pearson(
    xp: Namespace, least: Array, most: Array, trials: Array, level: float, longest: int
) -> tuple[Array, Array]:
    """Return the exact interval of a chance of which ``least`` to ``most`` hits were seen."""
    tail = xp.full_like(trials, (1 - level) / 2)
    terms = _terms(xp, trials, longest)
    # P(X >= k) with chance p is P(X <= n - k) with chance 1 - p.
    high = compiled_once(xp, _upper_limit, most, trials, tail, terms)
    low = 1 - compiled_once(xp, _upper_limit, trials - least, trials, tail, terms)
    return low, high


def _terms(xp: Namespace, like: Array, most: int) -> Array:
    """Return 0, 1, ..., up to where the falling ratios add nothing any more.

    After j ratios next to the mean, exp(-j^2 / (n / 2)) is left; a skewed tail takes a few more.
    """
    number = min(most + 1, 60 + math.ceil(4.5 * math.sqrt(most)))
    return xp.arange(number, dtype=like.dtype, device=device_of(xp, like))


def _upper_limit(xp: Namespace, count: Array, trials: Array, tail: Array, terms: Array) -> Array:
    """Return the chance at which P(X <= count) is down to ``tail``; 1 if every trial is a hit."""

    def halve(_: Any, bracket: Array) -> Array:
        low, high = bracket[0, ...], bracket[1, ...]
        middle = (low + high) / 2
        middle = xp.where(middle < 1, middle, low)  # where rounding would make it certain
        rises = _lower_tail(xp, count, trials, middle, terms) > tail
        return xp.stack([xp.where(rises, middle, low), xp.where(rises, high, middle)])

    bracket = xp.stack([xp.zeros_like(trials), xp.ones_like(trials)])
    low = repeat(xp, _BISECTIONS, halve, bracket)[0, ...]
    return xp.where(count < trials, low, 1.0)


def _lower_tail(xp: Namespace, count: Array, trials: Array, chance: Array, terms: Array) -> Array:
    # The sum runs away from the mean: down from the count, or up from it by counting misses.
    falls = count <= (trials + 1) * chance
    count = xp.where(falls, count, trials - count - 1)
    chance = xp.where(falls, chance, 1 - chance)
    k, n, p = count[..., None], trials[..., None], chance[..., None]
    terms = xp.reshape(terms, (*(1 for _ in count.shape), -1))
    left = k - terms
    ratio = xp.where(left > 0, left, 0.0) * (1 - p) / ((n - k + 1 + terms) * p)
    tail = _probability(xp, count, trials, chance) * (
        1 + xp.sum(running_product(xp, ratio), axis=-1)
    )
    tail = xp.where(count < 0, 0.0, tail)
    return xp.where(falls, tail, 1 - tail)


def _probability(xp: Namespace, count: Array, trials: Array, chance: Array) -> Array:
    """Return P(X = count) in Loader's form, which has no value at the two ends: powers there."""
    none, all_hit = count <= 0, count >= trials
    n = xp.where(none | all_hit, 2.0, trials)
    k = xp.where(none | all_hit, 1.0, count)
    log_inside = (
        _stirling_error(xp, n)
        - _stirling_error(xp, k)
        - _stirling_error(xp, n - k)
        - _deviance(xp, k, n * chance)
        - _deviance(xp, n - k, n * (1 - chance))
        + 0.5 * xp.log(n / (2 * math.pi * k * (n - k)))
    )
    at_end = trials * xp.where(none, xp.log1p(-chance), xp.log(chance))
    return xp.exp(xp.where(none | all_hit, at_end, log_inside))


def _stirling_error(xp: Namespace, x: Array) -> Array:
    """Return log x! - (x + 1/2) log x + x - log(2 pi) / 2 for x >= 1."""
    shifted = xp.zeros_like(x)
    for step in range(_SHIFT):
        at = x + float(step)
        shifted = shifted + ((at + 0.5) * xp.log1p(1 / at) - 1)
    inverse = 1 / (x + float(_SHIFT))
    square = inverse * inverse
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return shifted + inverse * series


def _deviance(xp: Namespace, x: Array, mean: Array) -> Array:
    """Return x log(x / mean) + mean - x, by its series where the two terms almost cancel."""
    v = (x - mean) / (x + mean)
    square = v * v
    series = xp.zeros_like(x)
    for j in range(8, 0, -1):
        series = square * (series + 1 / (2 * j + 1))
    near = (x - mean) * v + 2 * x * v * series
    return xp.where(xp.abs(v) < 0.1, near, x * xp.log(x / mean) + mean - x)
