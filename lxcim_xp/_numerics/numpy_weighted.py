"""NumPy's fast forms that need an order, or weights: see ``_samples.gain``.

A plain sort of keys that carry the position of their sample replaces ``argsort``. As in
``numpy_unweighted``, everything around the sort runs in pieces that stay in the cache.
"""

from collections.abc import Iterator

import numpy as np

from lxcim_xp._arrays.numpy_pieces import CACHED
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._numerics.numpy_unweighted import block_bounds, credit_down, pieces

_ALL_BUT_SIGN = np.iinfo(np.int64).max


def weighted_gain(
    signed: Array, weight: Array, label: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return right, wrong and won for any weights; labels as in uniform_gain."""
    *batch, n = signed.shape
    value, weight = np.ascontiguousarray(signed).reshape(-1, n), weight.reshape(-1, n)
    label = None if label is None else label.reshape(-1, n)
    packed, same = _packed_order(value.view(f"i{value.itemsize}"), magnitude=True, label=label)
    undecided = n - np.count_nonzero(value, axis=-1)
    right, wrong, won = np.zeros((3, len(value)))
    for row, here in _whole_blocks(same):  # in pieces, so that no long array is made
        side_and_weight = _gathered(weight[row], packed[row, here], value.itemsize)
        ties = same[row, here.start : here.stop - 1]
        right_here, wrong_here = _sides_of_blocks(
            side_and_weight, undecided[row] - here.start, ties
        )
        through = _running_sum(wrong_here, wrong[row])
        wrong[row] += wrong_here.sum(axis=-1)
        # A right one wins against all wrong ones below its block, and against half of those in it.
        wrong_here *= 0.5
        through -= wrong_here
        won[row] += np.einsum("ij,ij->i", right_here, through)
        right[row] += right_here.sum(axis=-1)
    # Scalars for a single row, as in uniform_gain.
    right, wrong, won = (part.reshape(batch)[()] for part in (right, wrong, won))
    return right, wrong, won


def _gathered(weight: Array, packed: Array, itemsize: int) -> Array:
    """Return weights at the places that packed keys carry, negative for wrong decisions."""
    rows, n = weight.shape
    place_bits = _place_bits(n, itemsize)
    place = packed & ((1 << place_bits) - 1)
    if rows > 1:
        place += n * np.arange(rows)[:, None]
    # Weights of 32 bits are widened here, in the cache, which saves the memory of wide ones.
    gathered = weight.reshape(-1).take(place).astype(np.float64, copy=False)
    # The side comes with the key. That saves a second gather, the slowest step after the sort.
    return np.copysign(gathered, (packed << (63 - place_bits)).view(np.float64), out=gathered)


def _sides_of_blocks(signed: Array, undecided: Array, same: Array) -> tuple[Array, Array]:
    """Return the right and the wrong weight; a block of ties has all of its own at its last place.

    Signed weights are negative for wrong decisions.
    """
    right, wrong = np.maximum(signed, 0.0), np.maximum(np.negative(signed, out=signed), 0.0)
    most = undecided.max()
    if most > 0:  # without confidence they come first
        first = np.arange(min(most, signed.shape[-1])) < undecided[:, None]
        half = np.abs(signed[:, :most]) / 2
        for side in (right, wrong):
            np.copyto(side[:, :most], half, where=first)
    if same.any():
        _move_to_last(same, right, wrong)
    return right, wrong


def _move_to_last(same: Array, *columns: Array) -> None:
    """Move the weight of a block of ties to its last place, above which none of the block lies."""
    is_followed = np.zeros(columns[0].shape, dtype=bool)
    is_followed[:, :-1] = same
    followed = np.flatnonzero(is_followed)
    gap = np.diff(followed) != 1
    first = followed[np.concatenate([[True], gap])]
    last = followed[np.concatenate([gap, [True]])] + 1
    # Every other sum is that of a block; the ones between are of what lies between blocks.
    bounds = np.stack([first, last + 1], axis=-1).reshape(-1)
    for column in columns:
        flat = column.reshape(-1)
        sums = np.add.reduceat(flat[: last[-1] + 1], bounds[:-1])[::2]
        flat[followed] = 0.0
        flat[last] = sums


def _running_sum(weight: Array, below: Array) -> Array:
    through = weight.copy()
    through[:, 0] += below
    return np.cumsum(through, axis=-1, out=through)


def _between_blocks(same: Array) -> Iterator[slice]:
    """Cut a row into pieces that end between two blocks of ties."""
    start, n = 0, same.size + 1
    while start < n:
        stop = start + CACHED
        if stop >= n:
            stop = n
        elif same[stop - 1]:
            back = int(same[start:stop][::-1].argmin())  # how far the block reaches back
            if not same[stop - 1 - back]:
                stop -= back
            else:  # one block is longer than a piece
                rest = same[stop:]
                stop = n if rest.all() else stop + int(rest.argmin()) + 1
        yield slice(start, stop)
        start = stop


def ordering(key: Array) -> tuple[Array, Array | None, Array | None]:
    """Return order, first and end of :class:`lxcim_xp._numerics.ordering.Ordering`."""
    n = key.shape[-1]
    bits = (key.reshape(-1, n) + key.dtype.type(0)).view(f"i{key.itemsize}")  # -0.0 becomes 0.0
    if key.size and key.min() < 0:
        # Integers in the order of the floats: below zero, all bits but the sign are flipped.
        bits ^= (bits >> (8 * key.itemsize - 1)) & np.iinfo(bits.dtype).max
    order, same = _packed_order(bits)
    order &= (1 << _place_bits(n, key.itemsize)) - 1
    order = order.reshape(key.shape)
    return order, *(x if x is None else x.reshape(key.shape) for x in block_bounds(same))


def placed_descent(
    signed: Array, label: Array
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """Return the order from the most confident down, and what uniform_descent returns."""
    *batch, n = signed.shape
    value, label = np.ascontiguousarray(signed).reshape(-1, n), label.reshape(-1, n)
    packed, same = _packed_order(value.view(f"i{value.itemsize}"), magnitude=True, label=label)
    place_bits = _place_bits(n, value.itemsize)

    def is_right(row: slice, here: slice) -> Array:
        # The side comes with the key, which saves a gather.
        return ((packed[row, here] >> place_bits) & 1 ^ 1).astype(np.uint8)

    credit, running = credit_down(is_right, n, n - np.count_nonzero(value, axis=-1))
    packed &= (1 << place_bits) - 1
    parts = (packed[:, ::-1], credit, running, *block_bounds(same[:, ::-1]))
    return tuple(  # type: ignore[return-value]
        part if part is None else part.reshape(*batch, -1) for part in parts
    )


def _place_bits(n: int, itemsize: int) -> int:
    """Return how many low bits of a packed key hold the place of its sample."""
    return 31 if itemsize == 4 else max(1, (n - 1).bit_length())


def _packed_order(
    bits: Array, *, magnitude: bool = False, label: Array | None = None
) -> tuple[Array, Array]:
    """Return sorted keys that carry positions, and where the next key of a row is the same.

    The position of a sample is in the low bits of its key, so that a plain sort gives the order.
    With ``magnitude``, the sign does not count for the order. The bit just above the position then
    says that the decision is wrong: it is the sign, turned by the label.
    """
    rows, n = bits.shape
    packed = np.empty(bits.shape, dtype=np.int64)
    place_bits = _place_bits(n, bits.itemsize)
    # A wide key gives up its low bits; samples that differ only in these are put in order below.
    low = (1 << (32 if bits.itemsize == 4 else place_bits + magnitude)) - 1
    for row, here in pieces(rows, n):  # in the cache, so that only the keys are new memory
        key, bits_here = packed[row, here], bits[row, here]
        if bits.itemsize == 8:
            np.bitwise_and(bits_here, ~low, out=key)
        else:
            np.left_shift(bits_here, 32, out=key, dtype=np.int64)
        if magnitude:
            key &= _ALL_BUT_SIGN
            side = bits_here < 0  # flags of one byte are cheaper than words until they are moved
            if label is not None:
                side ^= label[row, here] <= 0
            key |= side.astype(np.int64) << place_bits
        key |= np.arange(here.start, here.stop)
    packed.sort(axis=-1)
    same = np.empty((rows, n - 1), dtype=bool)
    for row, here in pieces(rows, n - 1):  # in the cache, for two passes
        after = slice(here.start + 1, here.stop + 1)
        # Unsigned: where the sign changes, the difference must be large, not negative.
        differs = (packed[row, after] ^ packed[row, here]).view(np.uint64)
        np.less_equal(differs, np.uint64(low), out=same[row, here])
    if bits.itemsize == 8 and same.any():
        place = (1 << place_bits) - 1
        for row, here in _whole_blocks(same):
            ties = same[row, here.start : here.stop - 1]
            put_right(bits[row], packed[row, here], ties, low, place, magnitude)
    return packed, same


def _whole_blocks(same: Array) -> Iterator[tuple[slice, slice]]:
    """Cut many short rows, or few long ones, into pieces that end between two blocks of ties."""
    rows, n = same.shape[0], same.shape[1] + 1
    if n <= CACHED:
        yield from pieces(rows, n)
    else:
        for row in range(rows):
            for here in _between_blocks(same[row]):
                yield slice(row, row + 1), here


def put_right(
    bits: Array, packed: Array, same: Array, low: int, place: int, magnitude: bool
) -> None:
    """Sort samples whose high bits agree by all their bits, and find out which are equal."""
    if not same.any():
        return
    grouped = np.zeros(packed.shape, dtype=bool)
    grouped[:, 1:] = same
    begins = ~grouped
    grouped[:, :-1] |= same
    at = np.flatnonzero(grouped)
    sample = packed.reshape(-1)[at] & low
    value = bits.reshape(-1)[(sample & place) + at // packed.shape[-1] * bits.shape[-1]]
    if magnitude:
        value &= _ALL_BUT_SIGN
    begins = begins.reshape(-1)[at]
    if not ((value[1:] != value[:-1]) & ~begins[1:]).any():
        return  # all are equal, as is common with many ties: there is nothing to sort
    by = np.lexsort((value, np.cumsum(begins)))
    packed.reshape(-1)[at] = sample[by]
    value = value[by]
    equal = np.zeros(packed.shape, dtype=bool)
    equal.reshape(-1)[at[1:]] = ~begins[1:] & (value[1:] == value[:-1])
    same[:] = equal[:, 1:]
