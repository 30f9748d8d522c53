"""NumPy's fast forms that need no order, for uniform weights: see ``_samples.gain``.

Each makes one plain sort of keys that carry one bit: the label, or whether the decision is wrong.
Plain sorts of numbers work in place with vector instructions, which ``argsort`` cannot match. What
comes before and after a sort runs in pieces that stay in the cache, because the first touch of new
memory is slow. What only ties need is done only if there are ties: values can be looked at here.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from lxcim_xp._arrays.numpy_pieces import CACHED, FEW, IN_FORMULAS
from lxcim_xp._arrays.primitives import UNSIGNED
from lxcim_xp._arrays.typing import NumpyArray as Array

_ALL_BUT_SIGN = np.iinfo(np.int64).max
_SIGN_PLACE = {4: np.uint32(31), 8: np.uint64(63)}

# In a short row a flag counts as one in the high half of a word, and as its place in the low half.
_ONE_ABOVE_PLACE = (1 << 32) + np.arange(FEW, dtype=np.uint64)
_SOME_ONES = np.ones(IN_FORMULAS)
_SOME_ONES.flags.writeable = False
# Ones in the dtype of the keys, so that NumPy need not look for a common one.
_ONE: dict[int, Any] = {4: np.uint32(1), 8: np.uint64(1)}

# Eight flags in the bytes of one word: a product brings the sum of their places to the top byte.
_EIGHT_ONES = np.uint64(0x0101010101010101)
_EIGHT_PLACES = np.uint64(0x0001020304050607)
_TO_TOP_BYTE = np.uint64(56)

# Shrunk, a margin of ordinary size stays below 1.5 and above the subnormal numbers. Its bits, moved
# up to make room for a flag, are then those of a positive finite float.
_SHRINKING = 2.0**-600
_LARGEST = np.finfo(np.float64).max.view(np.uint64)
_LEAST_NORMAL = np.finfo(np.float64).tiny.view(np.uint64) << 1
_LEAST_ROOMY = np.finfo(np.float64).tiny.view(np.uint64)  # magnitudes below have lost digits
_NO_ROOM = 1 << 62  # magnitudes that leave no place free below the sign


Piece = tuple[tuple[Array, ...], tuple[Array, ...]]  # two columns with their sums


def uniform_gain(signed: Array, label: Array | None = None) -> tuple[Array, Array, Array]:
    """Return right, wrong and won (see ``gain.Gain``) for uniform weights.

    Without labels, the first argument holds margins; with labels, it holds signed confidences,
    positive for the positive side. That saves an array for the margins, since only one bit of a key
    depends on its label.
    """
    if signed.ndim == 1 and signed.size <= FEW:
        return _gain_of_few(signed, label)
    return _gain_of_keys(_sorted_keys(signed, label), signed.shape, label)


def _gain_of_keys(
    key: Array, shape: tuple[int, ...], label: Array | None
) -> tuple[Array, Array, Array]:
    """Count in sorted keys, in which zeros of both signs become the same key."""
    *batch, n = shape
    undecided = None
    if key.item(0) <= 1 or (len(key) > 1 and (key[:, 0] <= 1).any()):
        # Zeros of both signs are undecided, that is half right. They come first.
        undecided = np.count_nonzero(key <= 1, axis=-1 if batch else None)
        zeros = key[:, : np.max(undecided)]
        zeros[zeros == 1] = 0
    flags, places = _count_flags(key)
    if not batch:
        flags, places = flags[0], places[0]  # scalars, whose arithmetic is quicker
    right, wrong, won = _gain(n, flags, places, _tied_pairs(key), undecided, label)
    if batch:
        right, wrong, won = (part.reshape(batch) for part in (right, wrong, won))
    return right, wrong, won


def _gain_of_few(signed: Array, label: Array | None) -> tuple[Array, Array, Array]:
    """Return the same for one short row in few calls, since these cost more than their work."""
    n, one = signed.size, _ONE[signed.itemsize]
    key = _rotated_into(None, signed, None if label is None else _as_bits(label), None)
    key.sort()
    undecided = None
    if key.item(0) <= 1:  # zeros, as above
        undecided = np.count_nonzero(key <= one)
        key[:undecided] = 0
    # One product counts the flags and sums their places.
    flags, places = divmod(int((key & one).dot(_ONE_ABOVE_PLACE[:n])), 1 << 32)
    apart, tied = key[1:] ^ key[:-1], 0
    if n > 1 and apart.item(apart.argmin()) <= 1:  # a quarter of what counting all would take
        tied = int(_tied_pairs(key[None]))
    right, wrong, won = _gain(n, flags, places, tied, undecided, label)
    return np.float64(right), np.float64(wrong), np.float64(won)


def _gain(
    n: int, flags: Any, places: Any, tied: Any, undecided: Any, label: Array | None
) -> tuple[Any, Any, Any]:
    """Return right, wrong and won from the flags: their number, their places and their ties."""
    # Untied, the i-th sample has i below and i + 1 through it: its lead is n - (2i + 1).
    lead = (n - 1) * flags - 2 * places + tied
    if undecided is not None:
        flags = flags + undecided / 2
        lead = lead + undecided / 2 * (n - undecided)
    # All leads sum to zero, so the lead of the right ones is minus that of the wrong ones.
    right, wrong, lead = (n - flags, flags, lead) if label is None else (flags, n - flags, -lead)
    return right, wrong, (right * wrong + lead) / 2


def uniform_concordance(score: Array, label: Array) -> tuple[Array, Array] | None:
    """Return the number of pairs that the positive wins, ties half, and of all pairs.

    Labels ride in the lowest bits of the scores, so that a plain sort is all that is needed: no
    order, no gather. None if a score leaves no room for that: an infinity, or a very large or very
    small number.
    """
    *batch, n = score.shape
    key = _labelled_keys(score, label)
    if key is None:
        return None
    key.sort(axis=-1)
    positives, places = _count_flags(key)
    # Without ties, the place of a positive says how many samples are below it, other positives
    # included. In a block of ties the negatives come first, and each counts one half too much.
    won = places - positives * (positives - 1) / 2 - _tied_pairs(key) / 2
    pairs = positives * (n - positives)
    return won.reshape(batch)[()], pairs.reshape(batch)[()]


def uniform_stream_of_scores(
    score: Array, label: Array
) -> tuple[tuple[Array, Array, Array], Callable[[], Iterator[Piece]]] | None:
    """Return what :func:`uniform_stream` does with positives in place of the right ones.

    The order is that of the scores, of which the key must have room as in uniform_concordance.
    """
    key = _labelled_keys(score, label)
    if key is None:
        return None
    key.sort(axis=-1)
    positives, places = _count_flags(key)
    won = places - positives * (positives - 1) / 2 - _tied_pairs(key) / 2
    # Unsigned keys in the same order, whose differences are large where the sign changes.
    unsigned = key[0].view(np.uint64)
    unsigned ^= np.uint64(1 << 63)
    gain = positives[0], score.size - positives[0], won[0]
    return gain, partial(_columns_down, unsigned, 0)


def _labelled_keys(score: Array, label: Array) -> Array | None:
    """Return (score, label) in one integer, if there is room."""
    *_, n = score.shape
    flat, bit = np.ascontiguousarray(score).reshape(-1), _as_bits(label.reshape(-1))
    key = np.empty(flat.shape, dtype=np.int64)
    for start in range(0, flat.size, CACHED):  # in the cache, so that only the keys are new memory
        here = slice(start, start + CACHED)
        if not _labelled_into(key[here], flat[here], bit[here]):
            return None
    return key.reshape(-1, n)


def _labelled_into(key: Array, score: Array, bit: Array) -> bool:
    with np.errstate(under="ignore"):  # seen below
        # Shrunk, the bits of a float of ordinary size leave the topmost place free.
        np.multiply(score, _SHRINKING, out=key.view(np.float64), dtype=np.float64)
    side = key >> 63  # 0, or -1 for negative floats
    key &= _ALL_BUT_SIGN  # the magnitude, which is 0 for zeros of both signs
    # As unsigned integers, 0 less 1 is the largest: only what has become subnormal is small.
    if key.max() >= _NO_ROOM or (key - 1).view(np.uint64).min() < _LEAST_ROOMY - 1:
        return False
    if key.min() == 0 and np.count_nonzero(key) != np.count_nonzero(score):
        return False  # some score has become zero
    key ^= side  # together with the next line: the minus sign of the score
    key -= side
    key += key  # makes room
    key |= bit.view(np.int64) if bit.itemsize == 8 else bit.astype(np.int64)
    return True


def _sorted_keys(signed: Array, label: Array | None) -> Array:
    """Return (|m|, flag) in one integer, sorted in each row."""
    n = signed.shape[-1]
    if signed.itemsize == 8 and signed.size > FEW:
        # Floats of 64 bits sort faster than integers, and keys of small enough floats are floats.
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
    """Say whether shrinking was exact: it has made no number zero or subnormal."""
    if (key[:, 0] >= _LEAST_NORMAL).all():
        return True
    return bool(np.count_nonzero(key >= _LEAST_NORMAL) == np.count_nonzero(signed))


def _rotated(signed: Array, label: Array | None, factor: float | None) -> Array:
    """Move the sign from the top of the bits to their bottom: (|m|, flag) in one integer.

    The flag of a margin says wrong. With labels it says right: side and label agree.
    """
    signed = np.ascontiguousarray(signed).reshape(-1)
    label = None if label is None else _as_bits(label.reshape(-1))
    key = np.empty(signed.shape, dtype=UNSIGNED[signed.itemsize])
    if key.size <= CACHED:  # slices would cost more than the passes
        return _rotated_into(key, signed, label, factor)
    for start in range(0, key.size, CACHED):
        here = slice(start, start + CACHED)
        label_here = None if label is None else label[here]
        _rotated_into(key[here], signed[here], label_here, factor)
    return key


def _rotated_into(
    key: Array | None, signed: Array, label: Array | None, factor: float | None
) -> Array:
    unsigned = UNSIGNED[signed.itemsize]
    if factor is not None and key is not None:
        signed = np.multiply(signed, factor, out=key.view(signed.dtype))  # saves a new array
    bits = signed.view(unsigned)
    flag = bits >> _SIGN_PLACE[signed.itemsize]
    if label is not None:
        flag ^= label if label.dtype == unsigned else label.astype(unsigned)
    key = np.add(bits, bits, out=key)  # a shift up by one bit; an addition is called faster
    key |= flag
    return key


def _as_bits(label: Array) -> Array:
    """Return labels as 0 and 1; unsigned integers are that already, or they are bad input."""
    return label if label.dtype.kind == "u" else label > 0


def _count_flags(key: Array) -> tuple[Array, Array]:
    """Return the number and the sum of the places of the lowest bits that are set in each row."""
    rows, n = key.shape
    if key.size <= FEW:
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

    Within a block those without a flag come first. If they were not tied, each flagged one would
    have all of them below it; each pair of the two then counts 1 instead of 1/2.
    """
    rows, n = key.shape
    if key.size <= CACHED:
        borders = (key[:, 1:] ^ key[:, :-1]) == 1  # within a block, where the flags begin
    else:
        borders = np.empty((rows, n - 1), dtype=bool)
        for row, here in pieces(rows, n - 1):
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
    # Blocks of random floats are short: a few steps, at fewer places each time, reach their ends.
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


def uniform_descent(signed: Array, label: Array) -> tuple[Array, Array, Array | None, Array | None]:
    """Return what sorted keys say about the samples from the most confident down.

    That is the credit at each place, its running sums, and where the block of ties of each place
    begins and ends (None without ties). The keys do not say which sample is where.
    """
    n = signed.shape[-1]
    key = _sorted_keys(signed, label)
    same = np.empty((len(key), n - 1), dtype=bool)
    for row, here in pieces(*same.shape):
        after = slice(here.start + 1, here.stop + 1)
        np.less_equal(key[row, after] ^ key[row, here], 1, out=same[row, here])
    zeros = n - np.count_nonzero(signed.reshape(-1, n), axis=-1)
    # The flag is in the lowest byte, which is the only one that is read.
    credit, running = credit_down(lambda row, here: key[row, here].astype(np.uint8) & 1, n, zeros)
    first, end = block_bounds(same[:, ::-1])
    return tuple(  # type: ignore[return-value]
        part if part is None else part.reshape(*signed.shape[:-1], -1)
        for part in (credit, running, first, end)
    )


def uniform_stream(
    signed: Array, label: Array
) -> tuple[tuple[Array, Array, Array], Callable[[], Iterator[Piece]]]:
    """Return right, wrong and won of one row, and its columns from the most confident down.

    The columns (value, before, below, through), of the right ones and of all samples, are made
    piece by piece whenever they are asked for: nothing but the keys is held.
    """
    key = _sorted_keys(signed, label)
    gain = _gain_of_keys(key, signed.shape, label)
    return gain, partial(_columns_down, key[0], int(signed.size - np.count_nonzero(signed)))


def _columns_down(key: Array, undecided: int) -> Iterator[Piece]:
    high, n, one = key.size, key.size, _ONE[key.itemsize]
    done = 0  # halves
    while high:
        low = max(0, high - IN_FORMULAS)
        if low and key[low] ^ key[low - 1] <= 1:
            # The piece ends where a block of ties begins.
            low = int(key.searchsorted(key[low] & ~one))
        down = key[low:high][::-1]
        halves = (down & one).astype(np.int64)
        halves += halves
        if low < undecided:  # without confidence they come last, and are half right
            halves[max(0, high - undecided) :] = 1
        sums = np.zeros(high - low + 1, dtype=np.int64)
        halves.cumsum(out=sums[1:])  # whole numbers sum up several times faster than floats do
        sums += done
        done = sums[-1]
        running, place = sums * 0.5, np.arange(n - high, n - low + 1, dtype=np.float64)
        first, end = block_bounds(((down[1:] ^ down[:-1]) <= one)[None])
        if first is None or end is None:
            below, through = slice(None, -1), slice(1, None)
        else:
            below, through = first[0], end[0]
        yield (
            (halves * 0.5, running[:-1], running[below], running[through]),
            (_ones(halves.size), place[:-1], place[below], place[through]),
        )
        high = low


def _ones(n: int) -> Array:
    return _SOME_ONES[:n] if n <= IN_FORMULAS else np.ones(n)  # a slice costs next to nothing


def credit_down(
    flag: Callable[[slice, slice], Array], n: int, undecided: Array
) -> tuple[Array, Array]:
    """Return credits from the last place to the first, and their running sums.

    ``flag`` says, for some rows and a range of places, which decisions are right.
    """
    rows = len(undecided)
    credit, running = np.empty((rows, n)), np.zeros((rows, n + 1))
    done = np.zeros((rows, 1), dtype=np.int64)
    for row, down in pieces(rows, n):  # in the cache, for several passes
        halves = flag(row, slice(n - down.stop, n - down.start))[:, ::-1]
        halves += halves
        most = int(undecided[row].max())
        if n - down.stop < most:  # without confidence they come last, and are half right
            from_the_end = np.arange(n - down.start, n - down.stop, -1)
            halves[from_the_end <= undecided[row, None]] = 1
        np.multiply(halves, 0.5, out=credit[row, down])
        # Whole numbers sum up several times faster than floats do.
        sums = np.cumsum(halves, axis=-1, dtype=np.int64)
        sums += done[row]
        done[row] = sums[:, -1:]
        np.multiply(sums, 0.5, out=running[row, down.start + 1 : down.stop + 1])
    return credit, running


def block_bounds(same: Array) -> tuple[Array | None, Array | None]:
    """Return first and end of each place's block of ties; None where nothing is tied."""
    if not np.count_nonzero(same):
        return None, None
    rows, n = same.shape[0], same.shape[1] + 1
    starts_block = np.ones((rows, n), dtype=bool)
    np.logical_not(same, out=starts_block[:, 1:])
    starts = np.flatnonzero(starts_block)
    length = np.diff(starts, append=rows * n)
    first = np.repeat(starts % n, length).reshape(rows, n)
    return first, first + np.repeat(length, length).reshape(rows, n)


def pieces(rows: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Cut many short rows, or few long ones, into pieces that stay in the cache."""
    step = max(1, CACHED // max(1, n))
    for top in range(0, rows, step):
        for start in range(0, n, CACHED):
            yield slice(top, top + step), slice(start, min(n, start + CACHED))
