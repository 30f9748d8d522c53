"""The fast forms of :mod:`lxcim_xp._ranks` for NumPy: one plain sort of keys, and few passes.

Plain sorts of numbers use vector instructions, in place, which ``argsort`` cannot match. What
comes before and after a sort runs in pieces that stay in the cache, because the first touch of new
memory is slow, and what only ties need is done only when there are ties: values are at hand here.
"""

from collections.abc import Iterator

import numpy as np

from lxcim_xp._array import CACHED, Array

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}  # by size in bytes
_ALL_BUT_SIGN = np.iinfo(np.int64).max
_SIGN_PLACE = {4: np.uint32(31), 8: np.uint64(63)}

_FEW = 1 << 10  # keys, below which fewer calls are worth more than fewer passes

# Eight flags in the bytes of one word: a product brings the sum of their places to the top byte.
_EIGHT_ONES = np.uint64(0x0101010101010101)
_EIGHT_PLACES = np.uint64(0x0001020304050607)
_TO_TOP_BYTE = np.uint64(56)

# Shrunk, a margin of ordinary size stays below 1.5 and above the subnormal numbers. Its bits, moved
# up to make room for a flag, are then those of a positive finite float.
_SHRINKING = 2.0**-600
_LARGEST = np.finfo(np.float64).max.view(np.uint64)
_LEAST_NORMAL = np.finfo(np.float64).tiny.view(np.uint64) << 1


def uniform_gain(signed: Array, label: Array | None = None) -> tuple[Array, Array, Array]:
    """Return right and wrong weight, and the gain (see ``_ranks.Gain``), for uniform weights.

    With labels, the first argument is what they turn into margins: positive for the positive side.
    That spares an array for the margins, since only one bit of a key depends on its label.
    """
    *batch, n = signed.shape
    key = _sorted_keys(signed, label)
    undecided = None
    if key.item(0) <= 1 or (len(key) > 1 and (key[:, 0] <= 1).any()):
        # Zeros of both signs are undecided, that is half right, and have the first places.
        undecided = np.count_nonzero(key <= 1, axis=-1 if batch else None)
        zeros = key[:, : np.max(undecided)]
        zeros[zeros == 1] = 0
    flags, places = _count_flags(key)
    if not batch:
        flags, places = flags[0], places[0]  # scalars, whose arithmetic is quicker than of arrays
    # Untied, the i-th sample has i below and i + 1 through it: its lead is n - (2i + 1).
    lead = (n - 1) * flags - 2 * places + _tied_pairs(key)
    if undecided is not None:
        flags = flags + undecided / 2
        lead = lead + undecided / 2 * (n - undecided)
    if batch:
        flags, lead = flags.reshape(batch), lead.reshape(batch)
    # All leads sum to zero: those of the right ones, negated, are those of the wrong ones.
    return (n - flags, flags, lead) if label is None else (flags, n - flags, -lead)


def _sorted_keys(signed: Array, label: Array | None) -> Array:
    """Return (|m|, flag) in one integer, sorted in each row."""
    n = signed.shape[-1]
    if signed.itemsize == 8 and signed.size > _FEW:
        # Floats of 64 bits sort faster than integers, and if small enough their keys are floats.
        with np.errstate(under="ignore"):  # seen below, and no concern of the caller's
            key = _rotated(signed, label, _SHRINKING).reshape(-1, n)
        key.view(np.float64).sort(axis=-1)
        if _are_finite_floats(key) and _are_zero_or_normal(key, signed):
            return key
    key = _rotated(signed, label, None).reshape(-1, n)
    key.sort(axis=-1)
    return key


def _are_finite_floats(key: Array) -> bool:
    """Say whether no key is a negative float, which would come first, an infinity or a NaN."""
    return bool((key[:, 0] <= _LARGEST).all() and (key[:, -1] <= _LARGEST).all())


def _are_zero_or_normal(key: Array, signed: Array) -> bool:
    """Say whether shrinking was exact, that is: has made nothing a zero or a subnormal number."""
    if (key[:, 0] >= _LEAST_NORMAL).all():
        return True
    return bool(np.count_nonzero(key >= _LEAST_NORMAL) == np.count_nonzero(signed))


def _rotated(signed: Array, label: Array | None, factor: float | None) -> Array:
    """Move the sign from the top of the bits to their bottom: (|m|, flag) in one integer.

    The flag of a margin says wrong. With labels it says right: side and label agree.
    """
    signed = np.ascontiguousarray(signed).reshape(-1)
    label = None if label is None else _as_bits(label.reshape(-1))
    key = np.empty(signed.shape, dtype=_UNSIGNED[signed.itemsize])
    if key.size <= CACHED:  # slices would cost more than the passes
        return _rotated_into(key, signed, label, factor)
    for start in range(0, key.size, CACHED):
        here = slice(start, start + CACHED)
        label_here = None if label is None else label[here]
        _rotated_into(key[here], signed[here], label_here, factor)
    return key


def _rotated_into(key: Array, signed: Array, label: Array | None, factor: float | None) -> Array:
    if factor is not None:
        signed = np.multiply(signed, factor, out=key.view(signed.dtype))  # spares a new array
    bits = signed.view(key.dtype)
    flag = bits >> _SIGN_PLACE[key.itemsize]
    if label is not None:
        flag ^= label if label.dtype == key.dtype else label.astype(key.dtype)
    np.left_shift(bits, 1, out=key)
    key |= flag
    return key


def _as_bits(label: Array) -> Array:
    """Return labels as unsigned 0 and 1, which most are already: seeing that is a quick pass."""
    if label.size > _FEW and label.dtype.kind in "iu":
        bits = label.view(_UNSIGNED[label.itemsize])
        if bits.max() <= 1:  # as unsigned integers, negatives are large
            return bits
    return label > 0


def _count_flags(key: Array) -> tuple[Array, Array]:
    """Return the number and the sum of the places of the lowest bits that are set in each row."""
    rows, n = key.shape
    if key.size <= _FEW:
        flag = (key & 1).astype(np.float64)  # sums of floats need no conversion afterwards
        return np.add.reduce(flag, axis=-1), flag @ np.arange(n, dtype=np.float64)
    flag = np.zeros((rows, 8 * -(-n // 8)), dtype=np.uint8)
    np.copyto(flag[:, :n], key, casting="unsafe")  # the lowest byte: the only pass over all keys
    word = flag.view(np.uint64)  # eight flags at once from here on
    word &= _EIGHT_ONES
    count = np.bitwise_count(word).astype(np.float64)
    word *= _EIGHT_PLACES
    word >>= _TO_TOP_BYTE
    places = 8 * (count @ np.arange(word.shape[-1], dtype=np.float64)) + word.sum(axis=-1)
    return count.sum(axis=-1), places


def _tied_pairs(key: Array) -> Array:
    """Count, in rows of sorted keys, the pairs of samples that are tied but for their flags.

    Within a block those without a flag stand first. Taken as untied, each flagged one would have
    all of them below; that is one too many for each half of a pair.
    """
    rows, n = key.shape
    if key.size <= CACHED:
        borders = (key[:, 1:] ^ key[:, :-1]) == 1  # within a block, where the flags begin
    else:
        borders = np.empty((rows, n - 1), dtype=bool)
        for row, here in _pieces(rows, n - 1):
            after = slice(here.start + 1, here.stop + 1)
            np.equal(key[row, after] ^ key[row, here], 1, out=borders[row, here])
    if not np.count_nonzero(borders):
        return 0
    if rows == 1:
        last, line, pairs = np.flatnonzero(borders), key[0], 0
        for start in range(0, last.size, CACHED):
            some = last[start : start + CACHED]
            pairs += int(_run_length(line, some, -1) @ _run_length(line, some + 1, 1))
        return pairs
    # Many rows at once: the lengths of all runs of equal keys.
    begins = np.ones(key.shape, dtype=bool)
    np.not_equal(key[:, 1:], key[:, :-1], out=begins[:, 1:])
    first = np.flatnonzero(begins)
    length = np.diff(first, append=key.size)
    has_border = borders.reshape(-1)[first[1:] - first[1:] // n - 1] & (first[1:] % n != 0)
    return np.bincount(first[1:] // n, has_border * (length[1:] * length[:-1]), minlength=rows)


def _run_length(key: Array, at: Array, step: int) -> Array:
    """Return how many equal keys begin at each of some places and go on in one direction."""
    length, going = np.ones(at.size, dtype=np.int64), np.arange(at.size)
    # Blocks of random floats are short: a few looks at ever fewer places see their ends.
    for distance in range(1, 5):
        place = at[going] + step * distance
        equal = key.take(place, mode="clip") == key[at[going]]
        going = going[equal & (place >= 0) & (place < key.size)]
        if not going.size:
            return length
        length[going] += 1
    # Long blocks are few, so that bisection is cheap.
    place, side = at[going], "left" if step < 0 else "right"
    end = key.searchsorted(key[place], side=side)
    length[going] = place + 1 - end if step < 0 else end - place
    return length


def weighted_gain(
    value: Array, weight: Array, *, overwrite: bool = False
) -> tuple[Array, Array, Array]:
    """Return right and wrong weight, and the gain, for any weights.

    ``overwrite`` gives away the memory of the margins, which spares touching new memory.
    """
    *batch, n = value.shape
    value, weight = np.ascontiguousarray(value).reshape(-1, n), weight.reshape(-1, n)
    packed, same = _packed_order(value.view(f"i{value.itemsize}"), magnitude=True)
    undecided, source = n - np.count_nonzero(value, axis=-1), weight
    if value.itemsize == 8:
        # One gather, the dearest step after the sort, brings weight and side together.
        source = np.copysign(weight, value, out=value if overwrite else None)
    below, wrong, gain = np.zeros((3, len(value)))
    total = weight.sum(axis=-1)
    for row, here in _whole_blocks(same):  # in pieces, so that no long array is made
        signed = _gathered(source[row], packed[row, here], value.itemsize)
        ties = same[row, here.start : here.stop - 1]
        weight_here, wrong_here = _weights_of_blocks(signed, undecided[row] - here.start, ties)
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


def _gathered(source: Array, packed: Array, itemsize: int) -> Array:
    """Return weights at the places that packed keys carry, negative for wrong decisions."""
    rows, n = source.shape
    place_bits = _place_bits(n, itemsize)
    place = packed & ((1 << place_bits) - 1)
    if rows > 1:
        place += n * np.arange(rows)[:, None]
    weight = source.reshape(-1).take(place)
    if itemsize == 8:
        return weight
    # Keys of 32 bits leave room for the side just above the place, which spares a second gather.
    return np.copysign(weight, (packed << (63 - place_bits)).view(np.float64), out=weight)


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
    if not same.any():
        return order, None, None
    starts_block = np.ones(bits.shape, dtype=bool)
    starts_block[:, 1:] = ~same
    starts = np.flatnonzero(starts_block)
    length = np.diff(starts, append=bits.size)
    first = np.repeat(starts % n, length).reshape(key.shape)
    return order, first, first + np.repeat(length, length).reshape(key.shape)


def _place_bits(n: int, itemsize: int) -> int:
    """Return how many low bits of a packed key hold the place of its sample."""
    return 31 if itemsize == 4 else max(1, (n - 1).bit_length())


def _packed_order(bits: Array, *, magnitude: bool = False) -> tuple[Array, Array]:
    """Return sorted keys that carry places, and where the next place of a row holds the same key.

    The place of a sample rides in the low bits of its key, so that a plain sort gives the order.
    With ``magnitude``, the sign does not count.
    """
    rows, n = bits.shape
    packed = np.empty(bits.shape, dtype=np.int64)
    # The low bits of a wide key make room; samples that differ only there are put right below.
    low = (1 << (32 if bits.itemsize == 4 else _place_bits(n, 8))) - 1
    for row, here in _pieces(rows, n):
        _pack(bits[row, here], low, magnitude, packed[row, here])
        packed[row, here] |= np.arange(here.start, here.stop)
    packed.sort(axis=-1)
    same = np.empty((rows, n - 1), dtype=bool)
    for row, here in _pieces(rows, n - 1):
        after = slice(here.start + 1, here.stop + 1)
        # Unsigned: where the sign changes, the difference must be large, not negative.
        differs = (packed[row, after] ^ packed[row, here]).view(np.uint64)
        np.less_equal(differs, np.uint64(low), out=same[row, here])
    if bits.itemsize == 8 and same.any():
        for row, here in _whole_blocks(same):
            ties = same[row, here.start : here.stop - 1]
            put_right(bits[row], packed[row, here], ties, low, magnitude)
    return packed, same


def _pack(bits: Array, low: int, magnitude: bool, packed: Array) -> None:
    """Write keys into 64 bits, above the low ones."""
    if bits.itemsize == 8:
        np.bitwise_and(bits, (_ALL_BUT_SIGN if magnitude else -1) & ~low, out=packed)
        return
    np.left_shift(bits, 32, out=packed, dtype=np.int64)
    if magnitude:
        packed |= (packed >> 32) & (1 << 31)  # the sign goes below the key, for _gathered
        packed &= _ALL_BUT_SIGN


def _whole_blocks(same: Array) -> Iterator[tuple[slice, slice]]:
    """Cut many short rows, or few long ones, into pieces that end between two blocks of ties."""
    rows, n = same.shape[0], same.shape[1] + 1
    if n <= CACHED:
        yield from _pieces(rows, n)
    else:
        for row in range(rows):
            for here in _between_blocks(same[row]):
                yield slice(row, row + 1), here


def _pieces(rows: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Cut many short rows, or few long ones, into pieces that stay in the cache."""
    step = max(1, CACHED // max(1, n))
    for top in range(0, rows, step):
        for start in range(0, n, CACHED):
            yield slice(top, top + step), slice(start, min(n, start + CACHED))


def put_right(bits: Array, packed: Array, same: Array, low: int, magnitude: bool) -> None:
    """Sort by all bits the samples that agree in those above the place, and see which are equal."""
    if not same.any():
        return
    grouped = np.zeros(packed.shape, dtype=bool)
    grouped[:, 1:] = same
    begins = ~grouped
    grouped[:, :-1] |= same
    at = np.flatnonzero(grouped)
    sample = packed.reshape(-1)[at] & low
    value = bits.reshape(-1)[sample + at // packed.shape[-1] * bits.shape[-1]]
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
