"""Isotonic regression of shares: how much of each entry counts, made to fall from entry to entry.

The usual pool-adjacent-violators algorithm is a loop whose length depends on the data, which no
tracer can follow. The portable form merges solved halves instead, for all pairs of halves at once:
log2(n) levels, each a bisection, O(n log^2 n) work and O(n) memory whatever the values are. NumPy,
whose values are at hand, pools all violators of a pass at once, in about as many passes but on ever
fewer entries. Both sum each pool separately, the portable form with twice the digits of a float, so
that an entry that weighs a billionth of its neighbours keeps all its digits.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.loops import compiled_once, repeat
from lxcim_xp._arrays.namespaces import NUMPY, device_of
from lxcim_xp._arrays.primitives import running_sum, take
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._numerics.ordering import Ordering

# Passes over all entries, after which the few pools that are left are looked at one by one.
_PASSES = 40


def antitonic_share(
    xp: Namespace, places: Ordering, part: Array, whole: Array, weightless: Array
) -> Array:
    """Return part / whole at each place, fitted such that it never increases.

    That is the weighted least-squares fit, or the slopes of the least concave majorant of the sums
    of parts over the sums of wholes. Columns are in sorted order; a block of ties is one entry.
    ``weightless`` is the share that an entry without weight would have if it had some. It decides
    which pool such an entry joins, which matters to derivatives only.
    """
    if xp is NUMPY:
        return _pooled_rows(places, part, whole)
    if places.first is None or places.end is None:
        first = xp.broadcast_to(xp.arange(part.shape[-1], device=device_of(xp, part)), part.shape)
        return compiled_once(xp, _antitonic, first, first + 1, part, whole, weightless)
    return compiled_once(xp, _antitonic, places.first, places.end, part, whole, weightless)


def _pooled_rows(places: Ordering, part: NumpyArray, whole: NumpyArray) -> NumpyArray:
    n = part.shape[-1]
    fitted = np.empty(part.shape)
    for row in np.ndindex(part.shape[:-1]):
        begins = np.arange(n)
        if places.first is not None:
            begins = np.flatnonzero(places.first[row] == begins)
        fitted[row] = _pooled(begins, part[row], whole[row])
    return fitted


def _pooled(begins: NumpyArray, part: NumpyArray, whole: NumpyArray) -> NumpyArray:
    """Pool the entries, given where each begins; those without weight join one beside them."""
    begins = begins[np.add.reduceat(whole, begins) > 0]
    if not begins.size:
        return np.zeros(part.size)
    begins[0] = 0
    parts, wholes = (np.add.reduceat(column, begins) for column in (part, whole))
    for _ in range(_PASSES):
        # Entries that rise from one to the next all belong to one pool.
        share = parts / wholes
        pools = np.flatnonzero(np.concatenate([[True], share[1:] <= share[:-1]]))
        if pools.size == begins.size:
            break
        begins = begins[pools]
        parts, wholes = (np.add.reduceat(column, pools) for column in (parts, wholes))
    else:
        begins, parts, wholes = _pooled_one_by_one(begins, parts, wholes)
    return np.repeat(parts / wholes, np.diff(begins, append=part.size))


def _pooled_one_by_one(
    begins: NumpyArray, parts: NumpyArray, wholes: NumpyArray
) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """Return the pools, by a stack of those that fall."""
    stack: list[tuple[int, float, float]] = []
    for begin, part, whole in zip(begins.tolist(), parts.tolist(), wholes.tolist(), strict=True):
        while stack and part / whole > stack[-1][1] / stack[-1][2]:
            begin, more, weight = stack.pop()
            part, whole = part + more, whole + weight
        stack.append((begin, part, whole))
    begins, parts, wholes = (np.asarray(column) for column in zip(*stack, strict=True))
    return begins, parts, wholes


class _Sums(NamedTuple):
    """Running sums and what rounding has left out of them: differences keep all their digits."""

    sum: Array  # (..., n + 1)
    rest: Array


class _Fit(NamedTuple):
    """The fit of each half: its values, and where the pool of each entry begins."""

    value: Array  # (..., n)
    begins: Array  # (..., n + 1); the last one is n


def _running_sums(xp: Namespace, x: Array, size: int) -> _Sums:
    """Return the sums of the first 0, 1, ..., n entries, the last one up to a given size."""
    total = running_sum(xp, x)
    before, after = total[..., :-1], total[..., 1:]
    # What the sum of two floats leaves out is a float itself (Knuth's two-sum).
    reached = before + x
    added = reached - before
    left_out = (before - (reached - added)) + (x - added)
    rest = running_sum(xp, left_out + (reached - after))
    return _Sums(*(_padded(xp, sums, sums[..., -1:], size) for sums in (total, rest)))


def _padded(xp: Namespace, x: Array, filling: Array, size: int) -> Array:
    padding = xp.broadcast_to(filling, (*x.shape[:-1], size - x.shape[-1]))
    return xp.concat([x, padding], axis=-1)


def _between(xp: Namespace, sums: _Sums, begin: Array, end: Array) -> Array:
    sum_of, rest = (take(xp, part, end) - take(xp, part, begin) for part in sums)
    return sum_of + rest


def _antitonic(
    xp: Namespace, first: Array, end: Array, part: Array, whole: Array, weightless: Array
) -> Array:
    n = part.shape[-1]
    levels = (n - 1).bit_length()
    size = 1 << levels
    parts, wholes = (_running_sums(xp, column, size + 1) for column in (part, whole))
    weighs = _between(xp, wholes, first, end) > 0
    share = xp.where(weighs, _share(xp, parts, wholes, first, end), weightless)
    # Every member of a block of ties has the share of its block, so that none is cut in two.
    parts = _running_sums(xp, share * whole, size + 1)
    place = xp.arange(size + 1, device=device_of(xp, part))
    place = xp.broadcast_to(place, (*part.shape[:-1], size + 1))
    fit = _Fit(_padded(xp, share, xp.zeros_like(share[..., :1]), size), place)

    def merge_halves(level: Any, fit: _Fit) -> _Fit:
        return _merge(xp, 2**level, levels, place[..., :-1], fit, parts, wholes)

    fitted = repeat(xp, levels, merge_halves, fit).value
    # The members of a pool may differ by a rounding, those of a block must not.
    return xp.where(weighs, take(xp, fitted, first), fitted[..., :n])


def _share(xp: Namespace, parts: _Sums, wholes: _Sums, begin: Array, end: Array) -> Array:
    part, whole = (_between(xp, sums, begin, end) for sums in (parts, wholes))
    # What weighs nothing may have any share.
    return part / xp.where(whole > 0, whole, 1.0)


def _merge(
    xp: Namespace,
    half: Any,
    levels: int,
    position: Array,
    fit: _Fit,
    parts: _Sums,
    wholes: _Sums,
) -> _Fit:
    """Pool the end of each left half with the front of its right half, where they violate order.

    Pooling at a height t takes what lies below t from the left and above t from the right. The
    excess of that pool over t falls as t rises, and the solution is where it crosses zero. Every
    position holds the answer of its pair of halves, so that shapes do not depend on the level.
    """
    value, begins = fit
    left = position - position % (2 * half)
    right = left + half

    def pooled(begin: Array, end: Array) -> tuple[Array, Array]:
        """Return part and whole of the pools from that of one entry up to that of another."""
        first, last = take(xp, begins, begin), take(xp, begins, end)
        return _between(xp, parts, first, last), _between(xp, wholes, first, last)

    def count_on_the_right(takes: Callable[[Array], Array]) -> Array:
        """Count by bisection the entries at the front of the right half for which ``takes``."""

        def extend(step: Any, count: Array) -> Array:
            return xp.where(takes(right + count + step - 1), count + step, count)

        # Steps of half / 2, half / 4, ..., 1, and 1 again; steps of zero change nothing.
        rounds = half.bit_length() - 1 if isinstance(half, int) else levels
        none = xp.zeros_like(position)
        most = repeat(xp, rounds, lambda k, count: extend(half // 2 ** (k + 1), count), none)
        return extend(1, most)

    # The pool at the height of each left entry, without the entry itself, whose excess is zero. An
    # entry stays as it is if the excess at its height is negative, or if nothing is pooled there.
    # So do all entries before it, whatever rounding says about a larger pool.
    taken = right + count_on_the_right(lambda entry: take(xp, value, entry) > value)
    part, whole = pooled(position + 1, taken)
    stays = (part < value * whole) | ((whole == 0) & (taken == right))
    count = running_sum(xp, xp.astype(stays, position.dtype))
    stays = take(xp, count, right) > count[..., :-1]
    count = running_sum(xp, xp.astype(stays, position.dtype))
    begin = left + take(xp, count, right) - take(xp, count, left)
    begin = take(xp, begins, begin)
    lowest = take(xp, value, begin)

    # From there the pool grows to the right while that does not lower its mean.
    def keeps_mean(entry: Array) -> Array:
        part, whole = pooled(begin, entry)
        here = take(xp, value, entry)
        return xp.where(whole == 0, here > lowest, here * whole >= part)

    end = right + count_on_the_right(keeps_mean)
    inside = (begin <= position) & (position < end)
    value = xp.where(inside, _share(xp, parts, wholes, begin, end), value)
    begins = xp.concat([xp.where(inside, begin, begins[..., :-1]), begins[..., -1:]], axis=-1)
    return _Fit(value, begins)
