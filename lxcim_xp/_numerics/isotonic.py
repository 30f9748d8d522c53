"""Isotonic regression with operations of fixed shape.

The usual pool-adjacent-violators algorithm is a loop whose length depends on the data, which no
tracer can follow. Here solved halves are merged instead, for all pairs of halves at once: log2(n)
levels, each a bisection, O(n log^2 n) work and O(n) memory whatever the values are.
"""

from collections.abc import Callable
from typing import Any

from lxcim_xp._array import Array, Namespace, compiled_once, device_of, repeat, running_sum, take
from lxcim_xp._ranks import ordering, ranked


def antitonic(xp: Namespace, value: Array, weight: Array) -> Array:
    """Return the weighted least-squares fit to ``value`` that never increases along the last axis.

    Equivalently the slopes of the least concave majorant of the cumulative sums.
    """
    return compiled_once(xp, _antitonic, value, weight)


def _antitonic(xp: Namespace, value: Array, weight: Array) -> Array:
    *batch, n = value.shape
    levels = (n - 1).bit_length()
    padding = xp.zeros((*batch, (1 << levels) - n), dtype=value.dtype, device=device_of(xp, value))
    value = xp.concat([value, padding], axis=-1)
    weight = xp.concat([weight, padding], axis=-1)
    mass = running_sum(xp, weight)
    position = xp.arange(1 << levels, device=device_of(xp, value))
    position = xp.broadcast_to(position, value.shape)

    def merge_halves(level: Any, value: Array) -> Array:
        return _merge(xp, 2**level, levels, position, value, weight, mass)

    fitted = repeat(xp, levels, merge_halves, value)
    return _averaged_again(xp, fitted, value, weight)[..., :n]


def _averaged_again(xp: Namespace, fitted: Array, value: Array, weight: Array) -> Array:
    """Replace what is one pool but for rounding by its mean, summed up within the pool.

    The fit has the rounding errors of sums over everything. What a pool leaves over beside any one
    of its fitted values sums to almost nothing, however long the array is.
    """
    scale = xp.max(xp.abs(value), axis=-1, keepdims=True)
    rounding = xp.finfo(value.dtype).eps ** 0.6 * scale  # 4e-10 in float64, 7e-5 in float32
    falls = xp.abs(fitted[..., :-1] - fitted[..., 1:]) > rounding
    falls = xp.concat([xp.zeros_like(weight[..., :1]), xp.astype(falls, weight.dtype)], axis=-1)
    pool = running_sum(xp, falls)[..., 1:]  # ascending, so that sorting leaves each pool in place
    places = ordering(xp, pool)
    anchor = fitted if places.first is None else take(xp, fitted, places.first)
    left, mass = (
        ranked(xp, places, take(xp, column, places.order))
        for column in (weight * (value - anchor), weight)
    )
    pool_mass = mass.through - mass.below
    shift = (left.through - left.below) / xp.where(pool_mass > 0, pool_mass, 1.0)
    # A larger shift would mean that one pool was taken for two, whose means are not the fit.
    return xp.where(xp.abs(anchor + shift - fitted) <= rounding, anchor + shift, fitted)


def _merge(
    xp: Namespace,
    half: Any,
    levels: int,
    position: Array,
    value: Array,
    weight: Array,
    mass: Array,
) -> Array:
    """Pool the end of each left half with the front of its right half, where they violate order.

    Pooling at a height t takes what lies below t from the left and above t from the right. The
    excess of that pool over t falls as t rises, and the solution is where it crosses zero. Every
    position holds the answer of its pair of halves, so that shapes do not depend on the level.
    """
    left = position - position % (2 * half)
    right = left + half
    total = running_sum(xp, value * weight)

    def at(array: Array, index: Array) -> Array:
        return xp.take_along_axis(array, index, axis=-1)

    def count_on_the_right(takes: Callable[[Array], Array]) -> Array:
        """Count by bisection the entries at the front of the right half for which ``takes``."""

        def extend(step: Any, count: Array) -> Array:
            return xp.where(takes(right + count + step - 1), count + step, count)

        # Steps of half / 2, half / 4, ..., 1, and 1 again; steps of zero change nothing.
        rounds = half.bit_length() - 1 if isinstance(half, int) else levels
        none = xp.zeros_like(position)
        most = repeat(xp, rounds, lambda k, count: extend(half // 2 ** (k + 1), count), none)
        return extend(1, most)

    # The pool at the height of each left entry, without the entry itself, whose excess is zero.
    # Entries at whose height the excess is negative stay as they are.
    taken = right + count_on_the_right(lambda entry: at(value, entry) > value)
    pool_total = at(total, taken) - total[..., 1:]
    pool_mass = at(mass, taken) - mass[..., 1:]
    stays = running_sum(xp, xp.astype(pool_total < value * pool_mass, position.dtype))
    begin = left + at(stays, right) - at(stays, left)

    # From there the pool grows to the right while that raises its mean.
    def raises_mean(entry: Array) -> Array:
        so_far = at(total, entry) - at(total, begin)
        so_far_mass = at(mass, entry) - at(mass, begin)
        return (at(value, entry) * so_far_mass > so_far) | (so_far_mass == 0)

    end = right + count_on_the_right(raises_mean)
    pool_total = at(total, end) - at(total, begin)
    pool_mass = at(mass, end) - at(mass, begin)
    # A pool without weight is two halves without weight; any one value will do for them.
    mean = pool_total / xp.where(pool_mass == 0, xp.ones_like(pool_mass), pool_mass)
    return xp.where((begin <= position) & (position < end), mean, value)
