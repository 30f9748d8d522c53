"""Metrics of many groups of samples from one sort, in NumPy: the kernel of eager frames.

Samples carry the code of their group. They are sorted by confidence, then by code, so that each
group is a segment from its most confident sample down, and blocks of ties are runs in it. All that
follows is passes over whole columns: what it costs does not depend on the number of groups.
"""

from typing import NamedTuple

import numpy as np

from lxcim_xp import _ranks_numpy
from lxcim_xp._array import Array


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


def evaluate_segments(columns: Columns, count: int, metrics: tuple[str, ...]) -> dict[str, Array]:
    """Return each metric of each of so many segments, NaN where it is undefined."""
    found = {name: np.full(count, np.nan) for name in metrics}
    if not columns.code.size:
        return found
    if "accuracy" in found:
        found["accuracy"] = _accuracy(columns, count)
    blocks = None
    if {"lxcim", "audrc"} & found.keys():
        blocks = sort_into_segments(columns.code, count, -columns.confidence)
        weight, right, members = _confidence_sums(columns, blocks)
        total = segment_sums(blocks, weight)
        done = running_sums(blocks, weight, total)
        if "audrc" in found:
            area = _audrc(blocks, weight, right, members, done)
            found["audrc"][blocks.segments] = _ratio(area, total)
        if "lxcim" in found:
            found["lxcim"][blocks.segments] = _lxcim(blocks, weight, right, total, done)
    if "auroc" in found:
        found["auroc"] = _auroc(columns, count, blocks)
    return found


def sort_into_segments(code: Array, count: int, key: Array) -> Blocks:
    """Sort samples by their code, and those of the same code by ascending key."""
    order, first, _ = _ranks_numpy.ordering(key)
    n = code.size
    sizes = np.bincount(code, minlength=count)
    segments = np.flatnonzero(sizes)
    ends = np.cumsum(sizes[segments])
    begins = ends - sizes[segments]
    if segments.size > 1:
        # The place in the order of the key rides below the code, so that a plain sort is stable.
        place_bits = max(1, (n - 1).bit_length())
        packed = code.take(order).astype(np.int64) << place_bits
        packed |= np.arange(n)
        packed.sort()
        packed &= (1 << place_bits) - 1
        order = order.take(packed)
        first = None if first is None else first.take(packed)
    if first is None:
        return Blocks(order, None, segments, begins, ends - begins)
    starts_block = np.empty(n, dtype=bool)
    np.not_equal(first[1:], first[:-1], out=starts_block[1:])
    starts_block[begins] = True
    starts = np.flatnonzero(starts_block)
    if starts.size == n:
        return Blocks(order, None, segments, begins, ends - begins)
    first_block = np.searchsorted(starts, begins)
    return Blocks(order, starts, segments, first_block, np.diff(first_block, append=starts.size))


def segment_sums(blocks: Blocks, column: Array) -> Array:
    """Return the sum of a column of blocks over each segment that is not empty."""
    return np.add.reduceat(column, blocks.first)


def block_sums(blocks: Blocks, column: Array) -> Array:
    """Return the sum of a sorted column over each block."""
    return column if blocks.starts is None else np.add.reduceat(column, blocks.starts)


def running_sums(blocks: Blocks, column: Array, total: Array | None = None) -> Array:
    """Return the sums of a column of blocks from the start of its segment through each block.

    One running sum over everything, which the total of a segment takes back to zero at the start of
    the next one: what rounding leaves there is taken out again, so that a small segment has all its
    digits next to a large one. The totals are those of :func:`segment_sums`, if they are known.
    """
    first = blocks.first
    total = segment_sums(blocks, column) if total is None else total
    running = column.astype(np.float64)  # a copy
    running[first[1:]] -= total[:-1]
    np.cumsum(running, out=running)
    left = running[first] - column[first]
    if left.any():
        running -= np.repeat(left, blocks.length)
    return running


def _accuracy(columns: Columns, count: int) -> Array:
    weight = columns.weight
    right = columns.halves if weight is None else columns.halves * weight
    right = np.bincount(columns.code, right, minlength=count)
    return _ratio(right, 2 * np.bincount(columns.code, weight, minlength=count))


def _confidence_sums(columns: Columns, blocks: Blocks) -> tuple[Array, Array, Array | None]:
    """Return weight, right weight and number of samples of each block; None: one in each."""
    halves = columns.halves.take(blocks.order).astype(np.float64)
    members = None if blocks.starts is None else np.diff(blocks.starts, append=halves.size)
    if columns.weight is None:
        halves *= 0.5
        right = block_sums(blocks, halves)
        weight = np.ones(right.size) if members is None else members.astype(np.float64)
        return weight, right, members
    weight = _sorted_weight(columns, blocks)
    halves *= weight
    halves *= 0.5
    return block_sums(blocks, weight), block_sums(blocks, halves), members


def _lxcim(blocks: Blocks, weight: Array, right: Array, total: Array, done: Array) -> Array:
    """Return (right W + gain) / W^2; the gain goes over the wrong, as in ``_ranks.Gain``."""
    wrong = weight - right
    lead = np.multiply(done, 2, out=done)  # of which nothing else is left to be made
    lead -= weight
    lead *= wrong
    gain = segment_sums(blocks, lead) - segment_sums(blocks, wrong) * total
    return _ratio(segment_sums(blocks, right) * total + gain, total**2)


def _audrc(
    blocks: Blocks, weight: Array, right: Array, members: Array | None, done: Array
) -> Array:
    """Return the sum of the accuracy on the way down, a block passed in parts (``_descent``)."""
    rightly = running_sums(blocks, right)
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


def _auroc(columns: Columns, count: int, blocks: Blocks | None) -> Array:
    found = np.full(count, np.nan)
    if blocks is not None and _orders_scores(columns, blocks):
        found[blocks.segments] = _auroc_by_confidence(columns, blocks)
        return found
    blocks = sort_into_segments(columns.code, count, columns.score)
    weight = _sorted_weight(columns, blocks)
    is_positive = columns.is_positive.take(blocks.order)
    positive, negative = (block_sums(blocks, weight * side) for side in (is_positive, ~is_positive))
    below = running_sums(blocks, negative)
    below -= negative / 2
    positives, negatives, pairs = (
        segment_sums(blocks, column) for column in (positive, negative, positive * below)
    )
    found[blocks.segments] = _ratio(pairs, positives * negatives)
    return found


def _orders_scores(columns: Columns, blocks: Blocks) -> bool:
    """Say whether scores of one side are tied or ordered exactly as their confidences are."""
    signed = columns.signed
    return signed is not None and (signed is columns.score or blocks.starts is None)


def _auroc_by_confidence(columns: Columns, blocks: Blocks) -> Array:
    """Return AUROC from the order of confidence, which spares a second sort.

    Above the threshold scores fall with the order, below it they rise. A negative is below a
    positive of the upper side if it is of the lower side, or less confident; it is below a positive
    of the lower side if it is there too, and more confident.
    """
    weight = _sorted_weight(columns, blocks)
    positive = weight * columns.is_positive.take(blocks.order)
    negative = np.subtract(weight, positive, out=weight)
    is_upper = columns.signed.take(blocks.order) >= 0  # type: ignore[union-attr]
    pairs: Array = 0.0
    totals = []
    for sign in (-1, 1):  # the upper side, then the lower one
        here = is_upper if sign < 0 else ~is_upper
        high, low = (block_sums(blocks, column * here) for column in (positive, negative))
        totals.append((segment_sums(blocks, high), segment_sums(blocks, low)))
        reached = running_sums(blocks, low, totals[-1][1])
        low *= 0.5
        reached -= low
        reached *= high
        pairs = pairs + sign * segment_sums(blocks, reached)
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
