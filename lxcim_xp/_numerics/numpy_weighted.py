"""The fast forms of :mod:`lxcim_xp._ranks` for NumPy that need an order, or weights.

A plain sort of keys that carry the place of their sample takes the place of ``argsort``; as in
:mod:`lxcim_xp._keys_numpy`, everything around the sort runs in pieces that stay in the cache.
"""

from collections.abc import Iterator

import numpy as np

from lxcim_xp._array import CACHED, Array
from lxcim_xp._keys_numpy import block_bounds, credit_down, pieces

_ALL_BUT_SIGN = np.iinfo(np.int64).max


def weighted_gain(
    signed: Array, weight: Array, label: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return right and wrong weight, and the gain, for any weights; labels as in uniform_gain."""
    *batch, n = signed.shape
    value, weight = np.ascontiguousarray(signed).reshape(-1, n), weight.reshape(-1, n)
    label = None if label is None else label.reshape(-1, n)
    packed, same = _packed_order(value.view(f"i{value.itemsize}"), magnitude=True, label=label)
    undecided = n - np.count_nonzero(value, axis=-1)
    below, wrong, gain = np.zeros((3, len(value)))
    total = weight.sum(axis=-1, dtype=np.float64)
    for row, here in _whole_blocks(same):  # in pieces, so that no long array is made
        side_and_weight = _gathered(weight[row], packed[row, here], value.itemsize)
        ties = same[row, here.start : here.stop - 1]
        weight_here, wrong_here = _weights_of_blocks(
            side_and_weight, undecided[row] - here.start, ties
        )
        through = _running_sum(weight_here, below[row])
        below[row] = through[:, -1]
        # The lead of a block: all weight, less what lies below it, less what lies through it.
        through *= -2
        through += weight_here
        through += total[row, None]
        gain[row] += np.einsum("ij,ij->i", wrong_here, through)
        wrong[row] += wrong_here.sum(axis=-1)
    # Scalars for a single row, as in uniform_gain.
    wrong, gain, total = (part.reshape(batch)[()] for part in (wrong, gain, total))
    return total - wrong, wrong, gain


def _gathered(weight: Array, packed: Array, itemsize: int) -> Array:
    """Return weights at the places that packed keys carry, negative for wrong decisions."""
    rows, n = weight.shape
    place_bits = _place_bits(n, itemsize)
    place = packed & ((1 << place_bits) - 1)
    if rows > 1:
        place += n * np.arange(rows)[:, None]
    # Weights of 32 bits are widened here, in the cache, which spares the memory of wide ones.
    gathered = weight.reshape(-1).take(place).astype(np.float64, copy=False)
    # The side comes with the key, which spares a second gather: the dearest step after the sort.
    return np.copysign(gathered, (packed << (63 - place_bits)).view(np.float64), out=gathered)


def _weights_of_blocks(signed: Array, undecided: Array, same: Array) -> tuple[Array, Array]:
    """Return weight and wrong weight, those of a block of ties at its last place.

    Signed weights are negative for wrong decisions.
    """
    weight = np.abs(signed)
    wrong = np.subtract(weight, signed, out=signed)
    most = undecided.max()
    if most > 0:  # no confidence, so they come first
        first = np.arange(min(most, signed.shape[-1])) < undecided[:, None]
        np.copyto(wrong[:, :most], weight[:, :most], where=first)
    wrong *= 0.5
    if same.any():
        _move_to_last(same, weight, wrong)
    return weight, wrong


def _move_to_last(same: Array, *columns: Array) -> None:
    """Move what a block of ties holds to its last place, where nothing of the block lies above."""
    is_followed = np.zeros(columns[0].shape, dtype=bool)
    is_followed[:, :-1] = same
    followed = np.flatnonzero(is_followed)
    gap = np.diff(followed) != 1
    first = followed[np.concatenate([[True], gap])]
    last = followed[np.concatenate([gap, [True]])] + 1
    # Sums over the blocks take turns with sums over what lies between them.
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
                more = int(same[stop:].argmin())
                stop = n if same[stop:].all() else stop + more + 1
        yield slice(start, stop)
        start = stop


def ordering(key: Array) -> tuple[Array, Array | None, Array | None]:
    """Return order, first and end of :class:`lxcim_xp._ranks.Ordering`."""
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
        # The side comes with the key, which spares a gather.
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
    """Return sorted keys that carry places, and where the next place of a row holds the same key.

    The place of a sample rides in the low bits of its key, so that a plain sort gives the order.
    With ``magnitude``, the sign does not count, but rides just above the place, turned by the
    label: it then says that the decision is wrong.
    """
    rows, n = bits.shape
    packed = np.empty(bits.shape, dtype=np.int64)
    place_bits = _place_bits(n, bits.itemsize)
    # The low bits of a wide key make room; samples that differ only there are put right below.
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
    """Sort by all bits the samples that agree in those above the place, and see which are equal."""
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
        return  # all are equal, as heavy ties are; that spares sorting them
    by = np.lexsort((value, np.cumsum(begins)))
    packed.reshape(-1)[at] = sample[by]
    value = value[by]
    equal = np.zeros(packed.shape, dtype=bool)
    equal.reshape(-1)[at[1:]] = ~begins[1:] & (value[1:] == value[:-1])
    same[:] = equal[:, 1:]
