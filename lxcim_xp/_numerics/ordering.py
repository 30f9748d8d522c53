"""The order of keys, and sums of columns up to each block of ties: the only place that sorts.

The portable form uses standard operations of fixed shape only, so that it runs under ``jit``,
``vmap`` and ``torch.compile``: no boolean indexing, no ``unique``, no N-d ``searchsorted``. The
fast forms sort integers instead of floats and find the same blocks. Keys must not be NaN, whose
order the standard leaves open.
"""

from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import FAST_FLOATS, NUMPY, device_of, widest_float
from lxcim_xp._arrays.primitives import (
    float_bits,
    running_maximum,
    running_sum,
    scattered,
    shows_bits,
    sort_with_order,
    take,
)
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics import numpy_weighted


class Ranked(NamedTuple):
    """One column of per-sample quantities in ascending order of the key, and its sums."""

    value: Array  # the column, in sorted order
    before: Array  # its sum over the samples sorted before this one
    below: Array  # its sum over all samples with a smaller key
    through: Array  # its sum over all samples with a smaller or the same key


class Ordering(NamedTuple):
    """Where each sample goes, and between which places its block of ties lies."""

    order: Any  # an array, the sample at each place; None if it was not asked for
    first: Array | None  # first place of the block; None where nothing is tied
    end: Array | None  # place after its last


def rank(xp: Namespace, key: Array, *columns: Array | None) -> tuple[Ranked, ...]:
    """Sort the columns by the key along the last axis and sum them up to each block of ties.

    None is a column of ones, which is its own sums and needs no gather.
    """
    places = ordering(xp, key)
    return tuple(rank_by(xp, places, column) for column in columns)


def rank_by(xp: Namespace, places: Ordering, column: Array | None) -> Ranked:
    """Bring a column into sorted order and sum it up; None is a column of ones."""
    if column is None:
        return count_by(xp, places, places.order)
    return ranked(xp, places, take(xp, column, places.order))


def ranked(xp: Namespace, places: Ordering, value: Array) -> Ranked:
    """Sum a column that is in sorted order up to each block of ties."""
    running = running_sum(xp, value)
    return Ranked(value, running[..., :-1], *up_to_block(xp, running, places.first, places.end))


def in_input_order(xp: Namespace, places: Ordering, value: Array) -> Array:
    """Put a column that is in sorted order back into the order of the input."""
    return scattered(xp, value, places.order)


def count_by(xp: Namespace, places: Ordering, like: Array) -> Ranked:
    """Return what :func:`rank_by` makes of ones, in the shape of ``like``."""
    _, first, end = places
    wide, device, shape = widest_float(xp, like), device_of(xp, like), like.shape
    place = xp.arange(shape[-1] + 1, dtype=wide, device=device)
    before = xp.broadcast_to(place[:-1], shape)
    one = xp.broadcast_to(xp.ones(1, dtype=wide, device=device), shape)
    if first is None:
        return Ranked(one, before, before, xp.broadcast_to(place[1:], shape))
    return Ranked(one, before, xp.astype(first, wide), xp.astype(end, wide))


def up_to_block(
    xp: Namespace, running: Array, first: Array | None, end: Array | None
) -> tuple[Array, Array]:
    """Return the running sums below and through the block of each place."""
    if first is None or end is None:
        return running[..., :-1], running[..., 1:]
    return take(xp, running, first), take(xp, running, end)


def concordance(xp: Namespace, high: Ranked, low: Ranked) -> Array:
    """Return the weight of the pairs in which ``high`` has the larger key, ties counting half.

    This is the Mann-Whitney statistic: sum_i high_i * (low below i + half of low tied with i).
    """
    return xp.sum(high.value * (low.below + low.through), axis=-1) / 2


def ordering(xp: Namespace, key: Array) -> Ordering:
    """Order the samples by the key along the last axis."""
    if has_integer_keys(xp, key):
        if xp is NUMPY:
            return Ordering(*numpy_weighted.ordering(key))
        return _integer_ordering(xp, key)
    return portable_ordering(xp, key)


def order_of(xp: Namespace, key: Array) -> Array:
    """Return which sample is at each place, without asking for ties."""
    if xp is NUMPY or not has_integer_keys(xp, key):
        return ordering(xp, key).order
    return sort_with_order(xp, _integer_keys(xp, key))[1]


def portable_ordering(xp: Namespace, key: Array) -> Ordering:
    """Order the samples with standard operations only; the reference for all fast forms."""
    order = xp.argsort(key, axis=-1, stable=False)
    key = take(xp, key, order)
    n = key.shape[-1]
    starts_block = _block_starts(xp, key[..., 1:] != key[..., :-1])
    block = running_sum(xp, xp.astype(starts_block, order.dtype))[..., 1:] - 1
    position = xp.arange(n, dtype=order.dtype, device=device_of(xp, key))
    position = xp.broadcast_to(position, key.shape)
    end = xp.full_like(position, n)
    # Sorting brings the k-th start to place k, in a fixed shape; the places left over hold n.
    starts = xp.sort(xp.where(starts_block, position, end), axis=-1)
    starts = xp.concat([starts, end[..., :1]], axis=-1)
    return Ordering(order, *(take(xp, starts, at) for at in (block, block + 1)))


def _block_starts(xp: Namespace, changes: Array) -> Array:
    """Say where blocks start: at the first place, and where a key differs from the one before."""
    shape = (*changes.shape[:-1], 1)
    first = xp.ones(shape, dtype=changes.dtype, device=device_of(xp, changes))
    return xp.concat([first, changes], axis=-1)


def has_integer_keys(xp: Namespace, key: Array) -> bool:
    """Say whether the bits of the key can be sorted instead of the key."""
    if xp is NUMPY:
        return key.dtype in FAST_FLOATS
    return shows_bits(xp) and key.dtype in (xp.float64, xp.float32)


def _integer_keys(xp: Namespace, key: Array) -> Array:
    """Return signed integers in the order of the floats; zeros of both signs become 0."""
    bits = float_bits(xp, key)
    magnitude = bits & xp.iinfo(bits.dtype).max
    return xp.where(bits < 0, -magnitude, magnitude)


def _integer_ordering(xp: Namespace, key: Array) -> Ordering:
    bits, order = sort_with_order(xp, _integer_keys(xp, key))
    return Ordering(order, *block_bounds(xp, bits[..., 1:] != bits[..., :-1], order.dtype))


def block_bounds(xp: Namespace, changes: Array, dtype: object) -> tuple[Array, Array]:
    """Return the first place and the end of each block by running maxima, without a second sort."""
    shape = (*changes.shape[:-1], changes.shape[-1] + 1)
    position = xp.arange(shape[-1], dtype=dtype, device=device_of(xp, changes))
    position = xp.broadcast_to(position, shape)
    first = running_maximum(xp, xp.where(_block_starts(xp, changes), position, 0))
    # The end of a block is its start when places are counted from the other side.
    mirrored = _block_starts(xp, xp.flip(changes, axis=-1))
    last = running_maximum(xp, xp.where(mirrored, position, 0))
    return first, shape[-1] - xp.flip(last, axis=-1)
