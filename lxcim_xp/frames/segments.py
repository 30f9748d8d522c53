"""Metrics of many groups of samples from one sort, in NumPy: the kernel of eager frames.

Samples carry the code of their group. They are sorted by confidence, then by code, so that each
group is a segment from its most confident sample down, and blocks of ties are runs in it. All that
follows is passes over whole columns: what it costs does not depend on the number of groups.
"""

from typing import NamedTuple

import numpy as np

from lxcim_xp._array import Array
from lxcim_xp._ranks_numpy import ordering, put_right

# Bits of a key that a sort may leave out: with the 24 that stay, few samples of a group agree.
_DISPENSABLE = 40


class Blocks(NamedTuple):
    """Samples sorted into segments, in descending order of a key, and their blocks of ties."""

    order: Array  # sample at each place
    starts: Array | None  # place where each block begins; None where nothing is tied
    segments: Array  # codes of the segments that are not empty
    first: Array  # block where each of these begins
    length: Array  # how many blocks each has


class Columns(NamedTuple):
    """What the metrics need of each sample; a weight of None is every sample once."""

    code: Array
    confidence: Array
    halves: Array  # credit in halves: 2 right, 1 undecided, 0 wrong
    is_positive: Array
    score: Array
    weight: Array | None
    signed: Array | None  # confidence with its side if it orders like the score, else None


class _Rows(NamedTuple):
    """Samples in sorted order."""

    halves: Array
    is_positive: Array
    weight: Array


def evaluate_segments(columns: Columns, count: int, metrics: tuple[str, ...]) -> dict[str, Array]:
    """Return each metric of each of so many segments, NaN where it is undefined."""
    found = {name: np.full(count, np.nan) for name in metrics}
    if not columns.code.size:
        return found
    if {"lxcim", "audrc"} & found.keys():
        _by_confidence(columns, count, found)
    elif "accuracy" in found:  # needs no order
        found["accuracy"][:] = _accuracy(columns, count)
    if "auroc" in found and np.isnan(found["auroc"]).all():
        blocks = sort_into_segments(columns.code, count, columns.score)
        found["auroc"][blocks.segments] = _auroc_by_score(_sorted_rows(columns, blocks), blocks)
    return found


def _by_confidence(columns: Columns, count: int, found: dict[str, Array]) -> None:
    """Fill in what one order by confidence tells: all, or all but AUROC."""
    blocks = sort_into_segments(columns.code, count, -columns.confidence)
    rows = _sorted_rows(columns, blocks)
    weight, right, members = _confidence_sums(rows, blocks)
    total, right_total = segment_sums(blocks, weight), segment_sums(blocks, right)
    done, drift = _drifting_sums(blocks, weight, total)
    if "accuracy" in found:
        found["accuracy"][blocks.segments] = _ratio(right_total, total)
    if "audrc" in found:
        rightly = running_sums(blocks, right, right_total)
        _take_out(blocks, done, drift)
        drift = np.zeros_like(drift)
        area = _accuracy_rate_area(blocks, weight, right, members, done, rightly)
        found["audrc"][blocks.segments] = _ratio(area, total)
    if "lxcim" in found:
        # The gain is linear in the running sums: their drift goes out of the result.
        gain = _gain(blocks, weight, right, done)
        gain -= (total - right_total) * (total + 2 * drift)
        found["lxcim"][blocks.segments] = _ratio(right_total * total + gain, total**2)
    if "auroc" in found and _orders_scores(columns, blocks):
        found["auroc"][blocks.segments] = _auroc_by_confidence(rows, blocks)


def sort_into_segments(code: Array, count: int, key: Array) -> Blocks:
    """Sort samples by their code, and those of the same code by ascending key."""
    n = code.size
    sizes = np.bincount(code, minlength=count)
    segments = np.flatnonzero(sizes)
    ends = np.cumsum(sizes[segments])
    begins = ends - sizes[segments]
    order, tied = _ordered(code, count, key)
    if not tied.any():
        return Blocks(order, None, segments, begins, ends - begins)
    starts_block = np.empty(n, dtype=bool)
    starts_block[0] = True
    np.logical_not(tied, out=starts_block[1:])
    starts = np.flatnonzero(starts_block)
    first_block = np.searchsorted(starts, begins)
    return Blocks(order, starts, segments, first_block, np.diff(first_block, append=starts.size))


def _ordered(code: Array, count: int, key: Array) -> tuple[Array, Array]:
    """Return the sample at each place, and which places hold the same code and key as the next.

    Code, key and place share 64 bits, so that one plain sort does it; what the key has to give up
    for that is put right afterwards.
    """
    n = code.size
    bits = (key.astype(np.float64, copy=False) + 0.0).view(np.int64)  # -0.0 becomes 0.0
    # Integers in the order of the floats: below zero, all bits but the sign are flipped.
    bits ^= (bits >> 63) & np.iinfo(np.int64).max
    low, high = int(bits.min()), int(bits.max())
    place_bits, code_bits = max(1, (n - 1).bit_length()), (count - 1).bit_length()
    lost = max(0, (high - low).bit_length() + place_bits + code_bits - 64)
    if lost > _DISPENSABLE:
        return _ordered_in_two_steps(code, key, place_bits)
    packed = (bits - low).view(np.uint64)
    if lost:
        packed >>= np.uint64(lost)
    packed <<= np.uint64(place_bits)
    packed |= np.arange(n, dtype=np.uint64)
    if code_bits:
        packed |= code.astype(np.uint64) << np.uint64(64 - code_bits)
    packed.sort()
    place = (1 << place_bits) - 1
    tied = (packed[1:] ^ packed[:-1]) <= np.uint64(place)
    order = packed.view(np.int64)
    if lost:
        put_right(bits[None, :], order[None, :], tied[None, :], place, place, magnitude=False)
    order &= place
    return order, tied


def _ordered_in_two_steps(code: Array, key: Array, place_bits: int) -> tuple[Array, Array]:
    """Return the same from two sorts, for so many samples and groups that keys have no room."""
    order, first, _ = ordering(key)
    # The place in the order of the key rides below the code, so that a plain sort is stable.
    packed = code.take(order).astype(np.int64) << place_bits
    packed |= np.arange(code.size)
    packed.sort()
    tied = (packed[1:] >> place_bits) == (packed[:-1] >> place_bits)
    packed &= (1 << place_bits) - 1
    if first is None:
        tied[:] = False
    else:
        first = first.take(packed)
        tied &= first[1:] == first[:-1]
    return order.take(packed), tied


def segment_sums(blocks: Blocks, column: Array) -> Array:
    """Return the sum of a column of blocks over each segment that is not empty."""
    return np.add.reduceat(column, blocks.first)


def block_sums(blocks: Blocks, column: Array) -> Array:
    """Return the sum of a sorted column over each block."""
    return column if blocks.starts is None else np.add.reduceat(column, blocks.starts)


def running_sums(blocks: Blocks, column: Array, total: Array | None = None) -> Array:
    """Return the sums of a column of blocks from the start of its segment through each block."""
    total = segment_sums(blocks, column) if total is None else total
    running, drift = _drifting_sums(blocks, column, total)
    _take_out(blocks, running, drift)
    return running


def _drifting_sums(blocks: Blocks, column: Array, total: Array) -> tuple[Array, Array]:
    """Return running sums, and by how much those of each segment are off.

    One running sum goes over everything; the total of a segment takes it back to zero at the start
    of the next one. What rounding leaves there is known, and is taken out, so that a small segment
    has all its digits next to a large one.
    """
    first = blocks.first
    running = column.astype(np.float64)  # a copy
    running[first[1:]] -= total[:-1]
    np.cumsum(running, out=running)
    return running, running[first] - column[first]


def _take_out(blocks: Blocks, running: Array, drift: Array) -> None:
    if drift.any():  # it is not where sums are whole numbers
        running -= np.repeat(drift, blocks.length)


def _accuracy(columns: Columns, count: int) -> Array:
    weight = columns.weight
    right = columns.halves if weight is None else columns.halves * weight
    right = np.bincount(columns.code, right, minlength=count)
    return _ratio(right, 2 * np.bincount(columns.code, weight, minlength=count))


def _sorted_rows(columns: Columns, blocks: Blocks) -> _Rows:
    # One gather of small integers brings both; large ones are slow to gather.
    both = (columns.halves + 4 * columns.is_positive.astype(np.int8)).take(blocks.order)
    return _Rows(both & 3, both > 3, _sorted_weight(columns, blocks))


def _confidence_sums(rows: _Rows, blocks: Blocks) -> tuple[Array, Array, Array | None]:
    """Return weight, right weight and number of samples of each block; None: one in each."""
    right = rows.halves * 0.5
    members = None if blocks.starts is None else np.diff(blocks.starts, append=right.size)
    right *= rows.weight
    return block_sums(blocks, rows.weight), block_sums(blocks, right), members


def _gain(blocks: Blocks, weight: Array, right: Array, done: Array) -> Array:
    """Return the sum over the wrong of weight times (2 done - weight): see ``_ranks.Gain``."""
    lead = np.multiply(done, 2, out=done)  # of which nothing else is left to be made
    lead -= weight
    lead *= weight - right
    return segment_sums(blocks, lead)


def _accuracy_rate_area(
    blocks: Blocks, weight: Array, right: Array, members: Array | None, done: Array, rightly: Array
) -> Array:
    """Return the sum of the accuracy on the way down, a block passed in parts (``_descent``)."""
    area = weight * rightly
    area /= done
    if members is not None:
        tied = np.flatnonzero(members > 1)
        parts = members[tied]
        begins = np.cumsum(parts) - parts
        place = np.arange(parts.sum()) - np.repeat(begins, parts) + 1.0
        step, credit = weight[tied] / parts, right[tied] / parts
        above, right_above = done[tied] - weight[tied], rightly[tied] - right[tied]
        reached = np.repeat(right_above, parts) + place * np.repeat(credit, parts)
        reached /= np.repeat(above, parts) + place * np.repeat(step, parts)
        area[tied] = np.add.reduceat(reached, begins) * step
    return segment_sums(blocks, area)


def _auroc_by_score(rows: _Rows, blocks: Blocks) -> Array:
    """Return AUROC from the ascending order of the scores."""
    positive = block_sums(blocks, rows.weight * rows.is_positive)
    negative = block_sums(blocks, rows.weight * ~rows.is_positive)
    negatives = segment_sums(blocks, negative)
    below = running_sums(blocks, negative, negatives)
    below -= negative / 2
    below *= positive
    return _ratio(segment_sums(blocks, below), segment_sums(blocks, positive) * negatives)


def _orders_scores(columns: Columns, blocks: Blocks) -> bool:
    """Say whether scores of one side are tied or ordered exactly as their confidences are."""
    signed = columns.signed
    return signed is not None and (signed is columns.score or blocks.starts is None)


def _auroc_by_confidence(rows: _Rows, blocks: Blocks) -> Array:
    """Return AUROC from the order of confidence, which spares a second sort.

    Above the threshold scores fall with the order, below it they rise. A negative is below a
    positive of the upper side if it is of the lower side, or less confident; it is below a positive
    of the lower side if it is there too, and more confident.
    """
    positive = rows.weight * rows.is_positive
    negative = rows.weight - positive
    # Right positives and wrong negatives are above the threshold; so are the undecided.
    is_upper = (rows.halves == 1) | ((rows.halves == 2) == rows.is_positive)
    pairs: Array = 0.0
    totals = []
    upper = [column * is_upper for column in (positive, negative)]
    positive -= upper[0]
    negative -= upper[1]
    for sign, side in ((-1, upper), (1, (positive, negative))):  # above, then below the threshold
        high, low = (block_sums(blocks, column) for column in side)
        totals.append((segment_sums(blocks, high), segment_sums(blocks, low)))
        reached, drift = _drifting_sums(blocks, low, totals[-1][1])
        low *= 0.5
        reached -= low
        reached *= high
        pairs = pairs + sign * (segment_sums(blocks, reached) - drift * totals[-1][0])
    (upper_high, upper_low), (lower_high, lower_low) = totals
    negatives = upper_low + lower_low
    return _ratio(pairs + upper_high * negatives, (upper_high + lower_high) * negatives)


def _sorted_weight(columns: Columns, blocks: Blocks) -> Array:
    """Return weights in sorted order, on about the same scale in each segment.

    No metric depends on their scale, and powers of two change no digit.
    """
    if columns.weight is None:
        return np.ones(blocks.order.size)
    weight = columns.weight.take(blocks.order)
    first = blocks.first if blocks.starts is None else blocks.starts[blocks.first]
    largest = np.maximum.reduceat(weight, first)
    if largest.max() < 2.0**20 * largest.min():
        return weight
    exponent = np.repeat(np.frexp(largest)[1], np.diff(first, append=weight.size))
    return np.ldexp(weight, -exponent)


def _ratio(numerator: Array, denominator: Array) -> Array:
    defined = denominator > 0
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=defined)
