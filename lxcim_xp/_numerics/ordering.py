"""The only place that sorts: samples in ascending order of a key, ties resolved into blocks.

There is one contract, :func:`ordering`, and one shortcut for uniform weights, which need no order
but only sorted keys. The portable forms use standard operations of fixed shape only, so that they
run under ``jit``, ``vmap`` and ``torch.compile``: no boolean indexing, no ``unique``, no N-d
``searchsorted``. The fast forms sort integers instead of floats and give the same results bit for
bit. Keys must not be NaN, whose order the standard leaves open.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lxcim_xp import _keys_numpy, _ranks_numpy
from lxcim_xp._array import (
    FAST_FLOATS,
    Array,
    Namespace,
    device_of,
    float_bits,
    from_numpy,
    is_numpy,
    running_maximum,
    running_sum,
    scattered,
    seen_by_numpy,
    shows_bits,
    sort_with_order,
    take,
    widest_float,
)
from lxcim_xp._margins import (
    Margins,
    Samples,
    credit,
    positive_and_negative,
    signed_confidence,
    signed_margins,
)


class Ranked(NamedTuple):
    """One column of per-sample quantities in ascending order of the key, and its sums."""

    value: Array  # the column, in sorted order
    before: Array  # its sum over the samples sorted before this one
    below: Array  # its sum over all samples with a smaller key
    through: Array  # its sum over all samples with a smaller or the same key


class Ordering(NamedTuple):
    """Where each sample goes, and between which places its block of ties lies."""

    order: Array | None  # sample at each place; None where nobody asked
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
        return _counted(xp, places, places.order)
    return ranked(xp, places, take(xp, column, places.order))


def ranked(xp: Namespace, places: Ordering, value: Array) -> Ranked:
    """Sum a column that is in sorted order up to each block of ties."""
    running = running_sum(xp, value)
    return Ranked(value, running[..., :-1], *_up_to_block(xp, running, places.first, places.end))


def in_input_order(xp: Namespace, places: Ordering, value: Array) -> Array:
    """Put a column that is in sorted order back into the order of the input."""
    return scattered(xp, value, places.order)


def _counted(xp: Namespace, places: Ordering, like: Array) -> Ranked:
    """Return what :func:`rank_by` makes of ones, in the shape of ``like``."""
    _, first, end = places
    wide, device, shape = widest_float(xp, like), device_of(xp, like), like.shape
    place = xp.arange(shape[-1] + 1, dtype=wide, device=device)
    before = xp.broadcast_to(place[:-1], shape)
    one = xp.broadcast_to(xp.ones(1, dtype=wide, device=device), shape)
    if first is None:
        return Ranked(one, before, before, xp.broadcast_to(place[1:], shape))
    return Ranked(one, before, xp.astype(first, wide), xp.astype(end, wide))


class Stream(NamedTuple):
    """Columns from the most confident down that are made in pieces, when they are summed."""

    gain: "Gain"
    pieces: Callable[[], Iterator[tuple[Ranked, Ranked]]]


def confidence_stream(xp: Namespace, samples: Samples) -> Stream | None:
    """Return the right ones and all samples as a stream, where there is one: NumPy, unweighted."""
    if not is_numpy(xp) or samples.weight is not None or samples.score.ndim != 1:
        return None
    signed = signed_confidence(xp, samples)
    if not _has_integer_keys(xp, signed):
        return None
    gain, columns = _keys_numpy.uniform_stream(signed, samples.label)

    def pieces() -> Iterator[tuple[Ranked, Ranked]]:
        return ((Ranked(*right), Ranked(*everyone)) for right, everyone in columns())

    return Stream(Gain(*gain), pieces)


def confidence_down(
    xp: Namespace, samples: Samples, *, placed: bool
) -> tuple[Ordering, Ranked, Ranked] | None:
    """Return the right ones and all samples from the most confident down, on NumPy unweighted.

    Unless they are to be ``placed``, the order is None: sorted keys say all but that. None where
    there is no such form.
    """
    if not is_numpy(xp) or samples.weight is not None:
        return None
    signed = signed_confidence(xp, samples)
    if not _has_integer_keys(xp, signed):
        return None
    order = None
    if placed:
        order, credit, running, first, end = _ranks_numpy.placed_descent(signed, samples.label)
    else:
        credit, running, first, end = _keys_numpy.uniform_descent(signed, samples.label)
    places = Ordering(order, first, end)
    sums = _up_to_block(xp, running, first, end)
    right = Ranked(credit, running[..., :-1], *sums)
    return places, right, _counted(xp, places, credit)


def _up_to_block(
    xp: Namespace, running: Array, first: Array | None, end: Array | None
) -> tuple[Array, Array]:
    """Return the running sums below and through the block of each place."""
    if first is None:
        return running[..., :-1], running[..., 1:]
    return take(xp, running, first), take(xp, running, end)


def concordance(xp: Namespace, high: Ranked, low: Ranked) -> Array:
    """Return the weight of the pairs in which ``high`` has the larger key, ties counting half.

    This is the Mann-Whitney statistic: sum_i high_i * (low below i + half of low tied with i).
    """
    return xp.sum(high.value * (low.below + low.through), axis=-1) / 2


def pairs_won(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    """Return the weight of the pairs in which the positive scores higher, ties half, and of all."""
    if is_numpy(xp) and samples.weight is None and _has_integer_keys(xp, samples.score):
        counted = _keys_numpy.uniform_concordance(samples.score, samples.label)
        if counted is not None:
            return counted
    positive, negative = positive_and_negative(xp, samples)
    pairs = xp.sum(positive, axis=-1) * xp.sum(negative, axis=-1)
    return concordance(xp, *rank(xp, samples.score, positive, negative)), pairs


class Gain(NamedTuple):
    """What LxCIM is made of: the weight of the right, of the wrong, and how low the wrong rank."""

    right: Array
    wrong: Array
    gain: Array  # sum over the wrong of w (W - weight below - weight through)


def gain_of(xp: Namespace, samples: Samples) -> Gain:
    """Return the confidence gain of the margins of the samples."""
    if is_numpy(xp):
        signed = signed_confidence(xp, samples)
        if _has_integer_keys(xp, signed):
            # Labels become bits of the keys or of the weights: no array is made for the margins.
            if samples.weight is None:
                return Gain(*_keys_numpy.uniform_gain(signed, samples.label))
            return Gain(*_ranks_numpy.weighted_gain(signed, samples.weight, samples.label))
    return confidence_gain(xp, signed_margins(xp, samples))


def confidence_gain(xp: Namespace, margins: Margins) -> Gain:
    """Sum up how far the wrong decisions rank below the middle of all confidences.

    Without information in the confidences the sum is zero. It goes over the wrong decisions, not
    the right ones, so that it keeps its digits where almost everything is right.
    """
    if margins.weight is None:
        return _uniform_gain(xp, margins.value)
    if is_numpy(xp) and _has_integer_keys(xp, margins.value):
        return Gain(*_ranks_numpy.weighted_gain(*margins))
    weight = xp.astype(margins.weight, widest_float(xp, margins.value), copy=False)
    right = credit(xp, margins) * weight
    wrong = weight - right
    order, first, end = ordering(xp, xp.abs(margins.value))
    running = running_sum(xp, take(xp, weight, order))
    below, through = _up_to_block(xp, running, first, end)
    lead = running[..., -1:] - below - through
    gain = xp.sum(take(xp, wrong, order) * lead, axis=-1)
    return Gain(xp.sum(right, axis=-1), xp.sum(wrong, axis=-1), gain)


def ordering(xp: Namespace, key: Array) -> Ordering:
    """Order the samples by the key along the last axis."""
    if _has_integer_keys(xp, key):
        if is_numpy(xp):
            return Ordering(*_ranks_numpy.ordering(key))
        return _integer_ordering(xp, key)
    return portable_ordering(xp, key)


def order_of(xp: Namespace, key: Array) -> Array:
    """Return which sample is at each place, without asking for ties."""
    if is_numpy(xp) or not _has_integer_keys(xp, key):
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
    """Put a first place, which always starts a block, before those that differ from the last."""
    shape = (*changes.shape[:-1], 1)
    first = xp.ones(shape, dtype=changes.dtype, device=device_of(xp, changes))
    return xp.concat([first, changes], axis=-1)


def _has_integer_keys(xp: Namespace, key: Array) -> bool:
    """Say whether the bits of the key can be sorted instead of the key."""
    if is_numpy(xp):
        return key.dtype in FAST_FLOATS
    return shows_bits(xp) and key.dtype in (xp.float64, xp.float32)


def _integer_keys(xp: Namespace, key: Array) -> Array:
    """Return integers in the order of the floats: magnitudes with a sign; both zeros are 0."""
    bits = float_bits(xp, key)
    magnitude = bits & xp.iinfo(bits.dtype).max
    return xp.where(bits < 0, -magnitude, magnitude)


def _integer_ordering(xp: Namespace, key: Array) -> Ordering:
    bits, order = sort_with_order(xp, _integer_keys(xp, key))
    return Ordering(order, *_block_bounds(xp, bits[..., 1:] != bits[..., :-1], order.dtype))


def _block_bounds(xp: Namespace, changes: Array, dtype: object) -> tuple[Array, Array]:
    """Return first and end of each place's block by running maxima, without a second sort."""
    shape = (*changes.shape[:-1], changes.shape[-1] + 1)
    position = xp.arange(shape[-1], dtype=dtype, device=device_of(xp, changes))
    position = xp.broadcast_to(position, shape)
    first = running_maximum(xp, xp.where(_block_starts(xp, changes), position, 0))
    # The end of a block is its start when places are counted from the other side.
    mirrored = _block_starts(xp, xp.flip(changes, axis=-1))
    last = running_maximum(xp, xp.where(mirrored, position, 0))
    return first, shape[-1] - xp.flip(last, axis=-1)


def _uniform_gain(xp: Namespace, value: Array) -> Gain:
    """Sum up the gain of uniform weights, which needs sorted margins but no order."""
    wide = widest_float(xp, value)
    if not _has_integer_keys(xp, value):
        weight = xp.ones(value.shape, dtype=wide, device=device_of(xp, value))
        return confidence_gain(xp, Margins(value, weight))
    seen = seen_by_numpy(xp, value)
    if seen is not None:
        # A plain sort by NumPy is quicker than one that brings the order along, as torch's does.
        gain = _keys_numpy.uniform_gain(seen)
        return Gain(*(from_numpy(xp, part, value) for part in gain))
    bits = float_bits(xp, value)
    lowest = xp.iinfo(bits.dtype).min
    # The sign moves from the top of the bits to their bottom: (|m|, wrong) in one integer, so that
    # sorting brings no second array along. Flipping the top bit makes signed order unsigned order.
    key = xp.sort(((bits << 1) | xp.astype(bits < 0, bits.dtype)) ^ lowest, axis=-1)
    # Margins of zero, of either sign, have the two lowest keys.
    wrong = xp.where(key <= lowest + 1, 0.5, xp.astype(key & 1, wide))
    confidence = key | 1
    first, end = _block_bounds(xp, confidence[..., 1:] != confidence[..., :-1], xp.int32)
    n = value.shape[-1]
    total = xp.sum(wrong, axis=-1)
    return Gain(n - total, total, xp.sum(wrong * xp.astype(n - first - end, wide), axis=-1))
