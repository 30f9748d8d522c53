"""Metrics of many groups of samples from one sort, in NumPy: the kernel of eager frames.

Samples carry the code of their group. They are sorted by confidence, then by code, so that each
group is a segment from its most confident sample down, and blocks of ties are runs in it. The rest
is passes over whole columns, whose cost does not depend on the number of groups.
"""

from typing import NamedTuple

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._numerics.numpy_weighted import ordering, put_right

# Bits of a key that a sort may ignore: few samples of a group agree in the 24 that remain.
_DISPENSABLE = 40


class Blocks(NamedTuple):
    """Samples sorted into segments, in descending order of a key, and their blocks of ties."""

    order: Array  # sample at each place
    starts: Array | None  # place where each block begins; None where nothing is tied
    segments: Array  # codes of the segments that are not empty
    first: Array  # block where each of these begins
    length: Array  # how many blocks each has


class Columns(NamedTuple):
    """What the metrics need of each sample; without weights every sample counts once."""

    code: Array
    confidence: Array
    credit: Array  # in halves (2 right, 1 undecided, 0 wrong), or a share of votes as a float
    is_positive: Array  # or, beside such shares, the share of the votes for the positive side
    score: Array
    weight: Array | None
    signed: Array | None  # confidence with its side if it orders like the score, else None

    @property
    def is_whole(self) -> bool:
        """Whether every label is on one side."""
        return self.is_positive.dtype == bool


class _Rows(NamedTuple):
    """Samples in sorted order."""

    credit: Array  # as in columns
    is_positive: Array  # as in columns
    weight: Array

    def classes(self) -> tuple[Array, Array]:
        """Return the weights for the positive and for the negative side."""
        positive = self.weight * self.is_positive
        if self.is_positive.dtype == bool:
            return positive, self.weight * ~self.is_positive
        return positive, self.weight - positive


def evaluate_segments(columns: Columns, count: int, metrics: tuple[str, ...]) -> dict[str, Array]:
    """Return the metrics of ``count`` segments, NaN where they are undefined."""
    found = {name: np.full(count, np.nan) for name in metrics}
    if not columns.code.size:
        return found
    given, level = columns.weight, columns
    if given is not None and is_wild(given):
        level = columns._replace(weight=levelled(given, columns.code, count), signed=None)
    if {"lxcim", "audrc"} & found.keys():
        _fill_in_by_confidence(level, count, found)
    elif "accuracy" in found:  # needs no order
        found["accuracy"][:] = _accuracy(level, count)
    if "auroc" in found and np.isnan(found["auroc"]).all():
        blocks = sort_into_segments(columns.code, count, columns.score)
        rows = _sorted_rows(columns, blocks)
        counted = given is None and columns.is_whole
        auroc = _auroc_by_score(rows.classes(), blocks, counted) if level is columns else None
        if auroc is None and columns.is_whole and given is not None:
            # AUROC is a mean over each class, so each class may have a scale of its own.
            classes = levelled(given, 2 * columns.code + columns.is_positive, 2 * count)
            rows = rows._replace(weight=classes.take(blocks.order))
            auroc = _auroc_by_score(rows.classes(), blocks, True)
        elif auroc is None:
            both = levelled_classes(columns.is_positive, given, columns.code, count)
            sides = (both[0].take(blocks.order), both[1].take(blocks.order))
            auroc = _auroc_by_score(sides, blocks, True)
        found["auroc"][blocks.segments] = auroc
    return found


def is_wild(weight: Array) -> bool:
    """Say whether products or long sums of such weights could leave the range of floats."""
    return bool(weight.size and not (weight.min() > 2.0**-400 and weight.max() < 2.0**400))


def levelled(weight: Array, code: Array, count: int) -> Array:
    """Scale positive weights such that the largest of each of ``count`` parts is near one.

    Powers of two change no digit. A weight too small beside the largest stays above zero.
    """
    largest = np.zeros(count)
    np.maximum.at(largest, code, weight)
    return np.maximum(np.ldexp(weight, -np.frexp(largest)[1].take(code)), 2.0**-1000)


def levelled_classes(
    share: Array, weight: Array | None, code: Array, count: int
) -> tuple[Array, Array]:
    """Return the weights of split votes for the positive and the negative side, each at its scale.

    No vote for a side stays none.
    """
    near_one = np.ones(code.size) if weight is None else levelled(weight, code, count)
    positive, negative = (
        np.where(part > 0, levelled(near_one * part, code, count), 0.0)
        for part in (share, 1.0 - share)
    )
    return positive, negative


def _fill_in_by_confidence(columns: Columns, count: int, found: dict[str, Array]) -> None:
    """Fill in the metrics that one order by confidence gives: all, or all but AUROC."""
    blocks = sort_into_segments(columns.code, count, -columns.confidence)
    rows = _sorted_rows(columns, blocks)
    weight, right, members = _confidence_sums(rows, blocks)
    total, right_total = segment_sums(blocks, weight), segment_sums(blocks, right)
    right_done, drift = _drifting_sums(blocks, right, right_total)
    if "accuracy" in found:
        found["accuracy"][blocks.segments] = _ratio(right_total, total)
    if "audrc" in found:
        _subtract_drift(blocks, right_done, drift)
        drift = np.zeros_like(drift)
        done = running_sums(blocks, weight, total)
        np.maximum(done, weight, out=done)  # a light block at the top may be lost in the drift
        area = _accuracy_rate_area(blocks, weight, right, members, done, right_done)
        found["audrc"][blocks.segments] = _ratio(area, total)
    if "lxcim" in found:
        won = _won(blocks, weight - right, right, right_done, drift)
        found["lxcim"][blocks.segments] = _ratio(right_total**2 + 2 * won, total**2)
    if "auroc" in found and _orders_scores(columns, blocks):
        auroc = _auroc_by_confidence(rows, blocks, columns.weight is None)
        if auroc is not None:
            found["auroc"][blocks.segments] = auroc


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

    Code, key and place share 64 bits, so that one plain sort is enough. The bits that the key
    loses that way are compared afterwards.
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
    """Return the same from two sorts, if samples and groups leave no room for keys."""
    order, first, _ = ordering(key)
    # The place in the order of the key stands in the bits below the code: a plain sort is stable.
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
    _subtract_drift(blocks, running, drift)
    return running


def _drifting_sums(blocks: Blocks, column: Array, total: Array) -> tuple[Array, Array]:
    """Return running sums, and how far off those of each segment are.

    One running sum goes over everything, and drops by the total of a segment at the start of the
    next. What rounding leaves there is known and can be subtracted, so that a small segment next to
    a large one keeps all its digits.
    """
    first = blocks.first
    running = column.astype(np.float64)  # a copy
    running[first[1:]] -= total[:-1]
    np.cumsum(running, out=running)
    return running, running[first] - column[first]


def _subtract_drift(blocks: Blocks, running: Array, drift: Array) -> None:
    if drift.any():  # none where sums are whole numbers
        running -= np.repeat(drift, blocks.length)


def _accuracy(columns: Columns, count: int) -> Array:
    weight = columns.weight
    right = columns.credit if weight is None else columns.credit * weight
    right = np.bincount(columns.code, right, minlength=count)
    whole = np.bincount(columns.code, weight, minlength=count)
    return _ratio(right, 2 * whole if columns.is_whole else whole)


def _sorted_rows(columns: Columns, blocks: Blocks) -> _Rows:
    weight = sorted_weight(columns.weight, blocks)
    if not columns.is_whole:
        order = blocks.order
        return _Rows(columns.credit.take(order), columns.is_positive.take(order), weight)
    # One gather of small integers fetches both; wide ones are slow to gather.
    both = (columns.credit + 4 * columns.is_positive.astype(np.int8)).take(blocks.order)
    return _Rows(both & 3, both > 3, weight)


def _confidence_sums(rows: _Rows, blocks: Blocks) -> tuple[Array, Array, Array | None]:
    """Return weight, right weight and number of samples of each block; None: one in each."""
    right = rows.credit * (0.5 if rows.is_positive.dtype == bool else 1.0)
    members = None if blocks.starts is None else np.diff(blocks.starts, append=right.size)
    right *= rows.weight
    return block_sums(blocks, rows.weight), block_sums(blocks, right), members


def _won(blocks: Blocks, wrong: Array, right: Array, right_done: Array, drift: Array) -> Array:
    """Return the weight of pairs that right decisions win against wrong ones: see ``gain.Gain``.

    It is linear in the running sums, so their drift can be subtracted from the result.
    """
    before = right_done - right / 2
    before *= wrong
    return segment_sums(blocks, before) - drift * segment_sums(blocks, wrong)


def _accuracy_rate_area(
    blocks: Blocks,
    weight: Array,
    right: Array,
    members: Array | None,
    done: Array,
    right_done: Array,
) -> Array:
    """Return the sum of the accuracy on the way down, ties in parts as in ``by_confidence``."""
    area = weight * right_done
    area /= done
    if members is not None:
        tied = np.flatnonzero(members > 1)
        parts = members[tied]
        begins = np.cumsum(parts) - parts
        place = np.arange(parts.sum()) - np.repeat(begins, parts) + 1.0
        step, credit = weight[tied] / parts, right[tied] / parts
        above, right_above = done[tied] - weight[tied], right_done[tied] - right[tied]
        reached = np.repeat(right_above, parts) + place * np.repeat(credit, parts)
        reached /= np.repeat(above, parts) + place * np.repeat(step, parts)
        area[tied] = np.add.reduceat(reached, begins) * step
    return segment_sums(blocks, area)


def _is_lopsided(negatives: Array) -> bool:
    """Say whether the drift of other segments may drown the negatives of one."""
    some = negatives[negatives > 0]
    return bool(some.size and some.min() < 2.0**-20 * some.max())


def _auroc_by_score(classes: tuple[Array, Array], blocks: Blocks, level: bool) -> Array | None:
    """Return AUROC from the ascending order of the scores; None where classes need levelling."""
    positive, negative = (block_sums(blocks, side) for side in classes)
    negatives = segment_sums(blocks, negative)
    if not level and _is_lopsided(negatives):
        return None
    below = running_sums(blocks, negative, negatives)
    below -= negative / 2
    below *= positive
    return _ratio(segment_sums(blocks, below), segment_sums(blocks, positive) * negatives)


def _orders_scores(columns: Columns, blocks: Blocks) -> bool:
    """Say whether scores of one side are tied or ordered exactly as their confidences are."""
    signed = columns.signed
    return signed is not None and (signed is columns.score or blocks.starts is None)


def _auroc_by_confidence(rows: _Rows, blocks: Blocks, level: bool) -> Array | None:
    """Return AUROC from the order of confidence, which saves a second sort, or None as above.

    Above the threshold scores fall with the order, below it they rise. A negative is below a
    positive of the upper side if it is of the lower side, or less confident; it is below a positive
    of the lower side if it is there too, and more confident.
    """
    positive = rows.weight * rows.is_positive
    negative = rows.weight - positive
    # Right positives and wrong negatives are above the threshold; so are the undecided.
    is_upper = (rows.credit == 1) | ((rows.credit == 2) == rows.is_positive)
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
    if not level and _is_lopsided(negatives):
        return None
    return _ratio(pairs + upper_high * negatives, (upper_high + lower_high) * negatives)


def sorted_weight(weight: Array | None, blocks: Blocks) -> Array:
    """Return weights in sorted order, on about the same scale in each segment.

    No metric depends on their scale, and powers of two change no digit.
    """
    if weight is None:
        return np.ones(blocks.order.size)
    weight = weight.take(blocks.order)
    first = blocks.first if blocks.starts is None else blocks.starts[blocks.first]
    largest = np.maximum.reduceat(weight, first)
    if 2.0**-20 * largest.max() < largest.min():
        return weight
    exponent = np.repeat(np.frexp(largest)[1], np.diff(first, append=weight.size))
    return np.ldexp(weight, -exponent)


def _ratio(numerator: Array, denominator: Array) -> Array:
    defined = denominator > 0
    found = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=found, where=defined)
    return np.clip(found, 0.0, 1.0, out=found)  # rounding may have left it
