"""The fast forms of :mod:`lxcim_xp._ranks` for NumPy: one plain sort of integers, and few passes.

Plain sorts of integers use vector instructions, in place, which ``argsort`` cannot match. What
comes after a sort runs in pieces that stay in the cache, and what only ties need is done
only when there are ties: values are at hand here.
"""

import numpy as np

from lxcim_xp._array import Array

_PIECE = 1 << 15  # samples


def uniform_gain(value: Array) -> tuple[Array, Array, Array]:
    """Return right and wrong weight, and the gain (see ``_ranks.Gain``), for uniform weights."""
    *batch, n = value.shape
    key = _rotated(np.ascontiguousarray(value).reshape(-1, n))
    key.sort(axis=-1)
    wrong, gain = np.zeros(len(key)), np.zeros(len(key))
    if (key[:, 0] <= 1).any():
        # Zeros of both signs are undecided, that is half wrong, and have the first places.
        key[key == 1] = 0
        undecided = np.count_nonzero(key == 0, axis=-1)
        wrong += undecided / 2
        gain += undecided / 2 * (n - undecided)
    if key.size <= _PIECE:
        count, lead = _sums(key, np.arange(n, dtype=key.dtype), np.empty_like(key), n)
        wrong += count
        gain += lead
    else:
        _add_pieces(key, wrong, gain)
    wrong, gain = wrong.reshape(batch), gain.reshape(batch)
    return n - wrong, wrong, gain


def _add_pieces(key: Array, wrong: Array, gain: Array) -> None:
    """Add up many short rows, or few long ones in pieces that end between two blocks of ties."""
    n = key.shape[-1]
    rows = max(1, _PIECE // n)
    place = np.arange(min(n, _PIECE), dtype=key.dtype)
    # The first touch of new memory is slow, so that the pieces share theirs.
    scratch = np.empty((min(rows, len(key)), place.size), dtype=key.dtype)
    for top in range(0, len(key), rows):
        here = slice(top, top + rows)
        start = 0
        while start < n:
            stop = n if n <= _PIECE else _end_of_piece(key[top], start)
            piece = key[here, start:stop]
            if stop - start > place.size:
                place = np.arange(stop - start, dtype=np.uint64)
                scratch = np.empty(piece.shape, dtype=key.dtype)
            count, lead = _sums(piece, place, scratch, n - 2 * start)
            wrong[here] += count
            gain[here] += lead
            start = stop


def _sums(key: Array, place: Array, scratch: Array, n: int) -> tuple[Array, Array]:
    """Return how many are wrong in rows of sorted keys, and the sum of their leads.

    Sums of places up to ``_PIECE`` fit the width of a key, which spares a conversion.
    """
    rows, size = key.shape
    is_wrong = np.bitwise_and(key, 1, out=scratch[:rows, :size])
    count = is_wrong.sum(axis=-1).astype(np.float64)
    places = np.einsum("ij,j->i", is_wrong, place[:size]).astype(np.float64)
    # Untied, the i-th sample has i below and i + 1 through it: its lead is n - (2i + 1).
    return count, (n - 1) * count - 2 * places + _tied_pairs(key, scratch[:rows])


def weighted_gain(value: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Return right and wrong weight, and the gain, for any weights."""
    *batch, n = value.shape
    value, weight = np.ascontiguousarray(value).reshape(-1, n), weight.reshape(-1, n)
    bits = value.view(f"i{value.itemsize}") & np.iinfo(f"i{value.itemsize}").max
    order, same = _packed_order(bits)
    del bits
    right, wrong, gain = np.zeros((3, len(value)))
    for row in range(len(value)):
        # One gather, the dearest step after the sort, brings weight and side together.
        signed = np.copysign(weight[row], value[row]).take(order[row])
        undecided = value.shape[-1] - np.count_nonzero(value[row])
        right[row], wrong[row], gain[row] = _row_gain(signed, undecided, same[row])
    return right.reshape(batch), wrong.reshape(batch), gain.reshape(batch)


def _row_gain(signed: Array, undecided: int, same: Array) -> tuple[Array, Array, Array]:
    """Sum up one sorted row of weights, which are negative for wrong decisions."""
    weight = np.abs(signed)
    wrong = weight - signed
    wrong[:undecided] = weight[:undecided]  # no confidence, so they come first
    wrong *= 0.5
    if same.any():
        starts_block = np.concatenate([[True], ~same])
        first = np.flatnonzero(starts_block)
        weight, wrong = (np.add.reduceat(part, first) for part in (weight, wrong))
    through = np.cumsum(weight)
    total, wrong_total = through[-1], wrong.sum()
    # The lead of a block: all weight, less what lies below it, less what lies through it.
    through *= -2
    through += weight
    through += total
    return total - wrong_total, wrong_total, wrong @ through


def _rotated(value: Array) -> Array:
    """Move the sign from the top of the bits to their bottom: (|m|, wrong) in one integer."""
    bits = value.view(f"u{value.itemsize}").reshape(-1)
    key, top = np.empty_like(bits), bits.dtype.type(8 * value.itemsize - 1)
    scratch = np.empty(min(bits.size, _PIECE), dtype=bits.dtype)
    for start in range(0, bits.size, _PIECE):
        piece, rotated = bits[start : start + _PIECE], key[start : start + _PIECE]
        np.left_shift(piece, 1, out=rotated)
        rotated |= np.right_shift(piece, top, out=scratch[: piece.size])
    return key.reshape(value.shape)


def _end_of_piece(key: Array, start: int) -> int:
    stop = start + _PIECE
    if stop >= len(key):
        return len(key)
    block = key[stop] & ~key.dtype.type(1)
    end = start + int(key[start:stop].searchsorted(block))
    if end > start:
        return end
    # One block is longer than a piece.
    return start + int(key[start:].searchsorted(block | key.dtype.type(1), side="right"))


def _tied_pairs(key: Array, scratch: Array) -> Array:
    """Count, in rows of sorted keys, the pairs of a right and a wrong sample that are tied.

    Within a block the right ones stand first. Taken as untied, each wrong one would have all of
    them below; that is one too many for each half of a pair.
    """
    rows, n = key.shape
    pairs: Array = 0
    # All pairs of a block show at distances up to its length; blocks of random floats are short.
    for distance in range(1, min(n, 5)):
        difference = scratch[:, : n - distance]
        tied = np.bitwise_xor(key[:, distance:], key[:, :-distance], out=difference) == 1
        found = np.count_nonzero(tied)
        if not found:
            return pairs
        pairs = pairs + (found if rows == 1 else np.count_nonzero(tied, axis=-1))
    # Long blocks: a run of right ones followed by a run of wrong ones.
    begins = np.ones(key.shape, dtype=bool)
    np.not_equal(key[:, 1:], key[:, :-1], out=begins[:, 1:])
    first = np.flatnonzero(begins)
    length = np.diff(first, append=key.size)
    run = key.reshape(-1)[first]
    row = first // n
    follow = ((run[1:] ^ run[:-1]) == 1) & (row[1:] == row[:-1])
    return np.bincount(row[1:], follow * (length[1:] * length[:-1]), minlength=rows)


def ordering(key: Array) -> tuple[Array, Array | None, Array | None]:
    """Return order, first and end of :class:`lxcim_xp._ranks.Ordering`."""
    n = key.shape[-1]
    bits = (key.reshape(-1, n) + key.dtype.type(0)).view(f"i{key.itemsize}")  # -0.0 becomes 0.0
    # Integers in the order of the floats: below zero, all bits but the sign are flipped.
    bits ^= (bits >> (8 * key.itemsize - 1)) & np.iinfo(bits.dtype).max
    order, same = _packed_order(bits)
    order = order.reshape(key.shape)
    if not same.any():
        return order, None, None
    starts_block = np.ones(bits.shape, dtype=bool)
    starts_block[:, 1:] = ~same
    starts = np.flatnonzero(starts_block)
    length = np.diff(starts, append=bits.size)
    first = np.repeat(starts % n, length).reshape(key.shape)
    return order, first, first + np.repeat(length, length).reshape(key.shape)


def _packed_order(bits: Array) -> tuple[Array, Array]:
    """Return the order of each row, and where a place holds the same key as the one before it.

    The place of a sample rides in the low bits of its key, so that a plain sort gives the order.
    """
    n = bits.shape[-1]
    place = np.arange(n)
    if bits.itemsize == 4:
        packed = bits.astype(np.int64)
        packed <<= 32
        low = 0xFFFFFFFF
    else:
        # The low bits of the key make room; samples that differ only there are put right below.
        low = (1 << max(1, (n - 1).bit_length())) - 1
        packed = bits & ~low
    packed |= place
    packed.sort(axis=-1)
    same = (packed[:, 1:] ^ packed[:, :-1]) <= low
    packed &= low
    if bits.itemsize == 8 and same.any():
        _put_right(bits, packed, same)
    return packed, same


def _put_right(bits: Array, order: Array, same: Array) -> None:
    """Sort by all bits the samples that agree in those above the place, and see which are equal."""
    n = bits.shape[-1]
    grouped = np.zeros(order.shape, dtype=bool)
    grouped[:, 1:] = same
    begins = ~grouped
    grouped[:, :-1] |= same
    at = np.flatnonzero(grouped)
    sample = order.reshape(-1)[at]
    value = bits.reshape(-1)[sample + at // n * n]
    begins = begins.reshape(-1)[at]
    by = np.lexsort((value, np.cumsum(begins)))
    order.reshape(-1)[at] = sample[by]
    value = value[by]
    equal = np.zeros(order.shape, dtype=bool)
    equal.reshape(-1)[at[1:]] = ~begins[1:] & (value[1:] == value[:-1])
    same[:] = equal[:, 1:]
