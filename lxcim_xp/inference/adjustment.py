"""Many comparisons at once: p-values and intervals that hold for all pairs together.

Both step down. The largest difference has to hold against all pairs, the next one only against
those that are left, and so on until one fails: by Bonferroni's bound (Holm 1979), or against the
largest of random draws that are correlated as the differences are (Westfall and Young 1993, Romano
and Wolf 2005). Intervals do not step: each gets the chance of an error that the largest difference
had to keep to. A model and its copy are no test, and tests of the copy are those of the model: a
copy changes nothing for the others.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import device_of
from lxcim_xp._arrays.primitives import scattered
from lxcim_xp._arrays.random import normal_numbers
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.distributions import quantile, upper_tail
from lxcim_xp.inference.paired import Differences, bounds

Adjustment: TypeAlias = Literal["holm", "max-t"] | None

ADJUSTMENTS = ("holm", "max-t", None)
_DRAWS = 20_000  # of the largest difference under the null: p-values near 5 % are good to 0.2 %


class Adjusted(NamedTuple):
    """What holds for all pairs together, pairs on the only axis."""

    p_value: Array
    low: Array
    high: Array


def adjusted(
    xp: Namespace,
    adjust: Adjustment,
    found: Differences,
    pairs: Sequence[tuple[int, int]],
    covariance: Array,
    level: float,
    seed: Any,
) -> Adjusted:
    """Return p-values and intervals for which the chance of any error is bounded."""
    chance: Any = 1 - level
    p_value = found.p_value
    if adjust == "holm":
        p_value, chance = _holm(xp, found, _counted(xp, found, pairs), chance)
    elif adjust == "max-t":
        counted = _counted(xp, found, pairs)
        p_value, chance = _max_t(xp, found, counted, pairs, covariance, chance, seed)
    p_value = xp.where(found.is_test, p_value, found.p_value)
    low, high = bounds(xp, found, chance)
    is_found = p_value < 1 - level
    return Adjusted(p_value, *in_agreement(xp, found.value, low, high, is_found))


def in_agreement(
    xp: Namespace, value: Array, low: Array, high: Array, is_found: Array
) -> tuple[Array, Array]:
    """Move the end of an interval to 0 where the test says that it lies on the other side.

    Stepping down finds differences whose interval still reaches over 0.
    """
    low = xp.where(is_found & (value > 0) & (low < 0), 0.0, low)
    high = xp.where(is_found & (value < 0) & (high > 0), 0.0, high)
    # Otherwise only rounding keeps 0 outside.
    low = xp.where(~is_found & (low > 0), 0.0, low)
    return low, xp.where(~is_found & (high < 0), 0.0, high)


def _counted(xp: Namespace, found: Differences, pairs: Sequence[tuple[int, int]]) -> Array:
    """Return 1 for each test of two models that nothing tells apart from an earlier one, else 0."""
    alike = ~found.is_test & (found.p_value == 1)
    is_copy = [xp.any(alike[:1] & False)] * (max(map(max, pairs)) + 1)
    for pair, (_, later) in enumerate(pairs):
        is_copy[later] = is_copy[later] | alike[pair]
    of_copies = xp.stack([is_copy[i] | is_copy[j] for i, j in pairs])
    return xp.astype(found.is_test & ~of_copies, found.p_value.dtype)


def _holm(xp: Namespace, found: Differences, counted: Array, chance: float) -> tuple[Array, Array]:
    """Return max over smaller p of (number of tests not yet rejected) * p, and chance / number."""
    p_value = xp.where(found.is_test, found.p_value, 1.0)
    is_smaller = xp.astype(p_value[None, :] < p_value[:, None], p_value.dtype)
    step = (xp.sum(counted) - xp.sum(is_smaller * counted[None, :], axis=-1)) * p_value
    tested = p_value[None, :] <= p_value[:, None]
    stepped = xp.max(xp.where(tested, step[None, :], 0.0), axis=-1)
    return _between(xp, p_value, stepped), chance / _at_least_one(xp, xp.sum(counted))


def _between(xp: Namespace, p_value: Array, stepped: Array) -> Array:
    """Keep adjusted p-values between the p-values and 1."""
    stepped = xp.where(stepped < 1, stepped, 1.0)
    return xp.where(stepped > p_value, stepped, p_value)


def _at_least_one(xp: Namespace, number: Array) -> Array:
    return xp.where(number > 1, number, 1.0)


def _max_t(
    xp: Namespace,
    found: Differences,
    counted: Array,
    pairs: Sequence[tuple[int, int]],
    covariance: Array,
    chance: float,
    seed: Any,
) -> tuple[Array, Array]:
    """Return how often the largest difference that is left would be as large if there were none.

    Under the null the estimates are normal around a common value, with the covariance given. What
    Student's distribution adds for few samples is in the p-values, which are read as normal ones.
    Tests of signs have no covariance, and add their p-values as Bonferroni does.
    """
    dtype = covariance.dtype
    varies = found.is_test & (found.error > 0)
    by_signs = xp.where(varies, 0.0, counted)
    ranked = xp.where(found.is_test, found.p_value, 2.0)
    order = xp.argsort(ranked)
    p_value = xp.take(xp.where(found.is_test, found.p_value, 1.0), order)
    observed = -quantile(xp, p_value / 2)
    scale = xp.where(varies, 1 / xp.where(varies, found.error, 1.0), 0.0)
    noise = _draws(xp, covariance, seed)
    first, second = (
        xp.asarray([pair[side] for pair in pairs], dtype=order.dtype, device=device_of(xp, order))
        for side in (0, 1)
    )
    rows = noise.shape[-1]
    largest = xp.zeros_like(noise[0, :])
    left, left_by_signs = xp.zeros_like(largest[0]), xp.zeros_like(largest[0])
    steps = []
    for place in reversed(range(len(pairs))):  # from the smallest difference on
        at = order[place : place + 1]
        one, other = (xp.take(noise, xp.take(side, at), axis=0)[0, :] for side in (first, second))
        largest = xp.maximum(largest, xp.abs(one - other) * xp.take(scale, at))
        left = left + xp.take(counted, at)[0]
        left_by_signs = left_by_signs + xp.take(by_signs, at)[0]
        beyond = xp.sum(xp.astype(largest >= observed[place], dtype))
        p = p_value[place]
        drawn, bonferroni = (beyond + 1) / (rows + 1) + left_by_signs * p, left * p
        # Draws say nothing about what is rarer than all of them; Bonferroni's bound does.
        steps.append(xp.where(bonferroni < drawn, bonferroni, drawn))
    stepped = [steps.pop()]
    while steps:
        step = steps.pop()
        stepped.append(xp.where(step > stepped[-1], step, stepped[-1]))
    both = scattered(xp, _between(xp, p_value, xp.stack(stepped)), order)
    return both, _for_the_largest(xp, largest, left, left_by_signs, chance)


def _for_the_largest(
    xp: Namespace, largest: Array, number: Array, by_signs: Array, chance: float
) -> Array:
    """Return the largest p-value that is a finding before any step, whatever pair it is of."""
    rows = largest.shape[0]
    p_value = xp.sort(2 * upper_tail(xp, largest))
    smaller = xp.astype(xp.arange(1, rows + 1, device=device_of(xp, largest)), largest.dtype)
    is_found = smaller / (rows + 1) + by_signs * p_value < chance
    drawn = xp.max(xp.where(is_found, p_value, 0.0))
    bonferroni = chance / _at_least_one(xp, number)
    most = xp.where(drawn > bonferroni, drawn, bonferroni)
    return xp.where(most < chance, most, chance)


def _draws(xp: Namespace, covariance: Array, seed: Any) -> Array:
    """Return draws of the estimates under the null, models on the first axis."""
    # A model whose metric is undefined takes part in no test.
    covariance = xp.where(xp.isnan(covariance), 0.0, covariance)
    values, vectors = xp.linalg.eigh(covariance)
    root = vectors * xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values)))[None, :]
    return root @ xp.permute_dims(
        normal_numbers(xp, seed, (_DRAWS, values.shape[0]), values), (1, 0)
    )
