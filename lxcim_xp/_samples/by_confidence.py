"""Samples sorted from the most confident down: what curves, AUDRC and the reject option share.

Deciding more and more samples means going down the confidences; a curve says what has been summed
so far. A block of ties is one step. Samples that do not count come last, with the key of the last
one that does, where they add steps of width zero.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.numpy_pieces import sums_of, sums_of_pieces
from lxcim_xp._arrays.primitives import signed_by, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics import numpy_unweighted, numpy_weighted
from lxcim_xp._numerics.ordering import (
    Ordering,
    Ranked,
    count_by,
    has_integer_keys,
    in_input_order,
    ordering,
    rank_by,
    ranked,
    up_to_block,
)
from lxcim_xp._samples.gain import Gain
from lxcim_xp._samples.samples import (
    Margins,
    Samples,
    confidence,
    credit,
    signed_confidence,
    signed_margins,
)


class Descent(NamedTuple):
    """Columns in descending order of a key; ``below`` and ``through`` sum what came before."""

    places: Ordering
    columns: tuple[Ranked, ...]


class KeyedDescent(NamedTuple):
    """The same with the keys; samples that do not count have the lowest key that does."""

    key: Array
    places: Ordering
    columns: tuple[Ranked, ...]


class Stream(NamedTuple):
    """Columns from the most confident down, made piece by piece while they are summed."""

    gain: Gain
    pieces: Callable[[], Iterator[tuple[Ranked, Ranked]]]


Summable: TypeAlias = Descent | Stream


class Parts(NamedTuple):
    """The accuracy on the way down, where a block of ties is cut into equal parts."""

    weight: Array  # of the part; zero for samples that do not count
    done: Array  # weight of everything down to the end of the part
    accuracy: Array  # of everything down to there
    place: Array  # of the part in its block: 1, 2, ...
    count: Array  # type: ignore[assignment]  # how many parts the block has


def descend(xp: Namespace, key: Array, weight: Array | None, *columns: Array | None) -> Descent:
    """Sort columns from the highest key to the lowest.

    A weight of None means that every sample counts once; a column of None is all ones.
    """
    return _sorted(xp, _absent_last(xp, key, weight), *columns)


def descend_with_keys(
    xp: Namespace, key: Array, weight: Array | None, *columns: Array | None
) -> KeyedDescent:
    """Sort columns as :func:`descend` does, and the keys with them."""
    present = _absent_last(xp, key, weight)
    descent = _sorted(xp, present, *columns)
    down = take(xp, present, descent.places.order)
    if weight is not None:
        least = xp.min(xp.where(weight > 0, key, xp.inf), axis=-1, keepdims=True)
        down = xp.where(down < least, least, down)
    return KeyedDescent(down, *descent)


def _sorted(xp: Namespace, key: Array, *columns: Array | None) -> Descent:
    places = ordering(xp, -key)
    return Descent(places, tuple(rank_by(xp, places, column) for column in columns))


def margins_in_order(xp: Namespace, samples: Samples) -> Margins:
    """Return signed margins for callers that need only the order of the confidences.

    A split vote is right or wrong with its majority, by what that is ahead.
    """
    if samples.share is None:
        return signed_margins(xp, samples)
    signed, lean = signed_confidence(xp, samples), 2 * samples.share - 1
    if samples.decision.is_confidence:  # which may be negative: its rank is not
        places = ordering(xp, signed)
        ranks = rank_by(xp, places, None).through
        signed = in_input_order(xp, places, xp.astype(ranks, lean.dtype))
    return Margins(signed_by(xp, lean, signed), samples.weight, xp.abs(lean))


def _absent_last(xp: Namespace, key: Array, weight: Array | None) -> Array:
    return key if weight is None else xp.where(weight > 0, key, -xp.inf)


def keys_by_confidence(xp: Namespace, samples: Samples) -> KeyedDescent:
    """Sort the samples' right weight and weight from the most confident down, with their keys."""
    key, right = _confidence_and_right(xp, samples)
    return descend_with_keys(xp, key, samples.weight, right, samples.weight)


def order_by_confidence(xp: Namespace, samples: Samples) -> Descent:
    """Sort the same columns, without the confidences."""
    signed = _signed_numpy(xp, samples)
    if signed is None:
        return portable_by_confidence(xp, samples)
    order, *columns = numpy_weighted.placed_descent(signed, samples.label)
    return _uniform_descent(xp, order, *columns)


def columns_by_confidence(xp: Namespace, samples: Samples) -> Descent:
    """Sort the same columns for callers that do not need the order, which may be None."""
    signed = _signed_numpy(xp, samples)
    if signed is None:
        return portable_by_confidence(xp, samples)
    return _uniform_descent(xp, None, *numpy_unweighted.uniform_descent(signed, samples.label))


def sums_by_confidence(xp: Namespace, samples: Samples) -> Summable:
    """Sort the same columns for callers that only need sums; as a stream where possible."""
    signed = _signed_numpy(xp, samples)
    if signed is not None and signed.ndim == 1:
        gain, columns = numpy_unweighted.uniform_stream(signed, samples.label)

        def pieces() -> Iterator[tuple[Ranked, Ranked]]:
            return ((Ranked(*right), Ranked(*everyone)) for right, everyone in columns())

        return Stream(Gain(*gain), pieces)
    if signed is not None:
        return columns_by_confidence(xp, samples)
    # Samples of weight zero keep their place: derivatives ask what more weight there would do.
    key, right = _confidence_and_right(xp, samples)
    return _sorted(xp, key, right, samples.weight)


def portable_by_confidence(xp: Namespace, samples: Samples) -> Descent:
    """Sort the same columns with operations of the Array API standard."""
    key, right = _confidence_and_right(xp, samples)
    return descend(xp, key, samples.weight, right, samples.weight)


def _confidence_and_right(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    signed, weight = signed_confidence(xp, samples), samples.weight
    right = credit(xp, samples, signed)
    return confidence(xp, samples, signed), right if weight is None else right * weight


def _signed_numpy(xp: Namespace, samples: Samples) -> Array | None:
    """Return signed confidences for the fast forms, which sort their bits; None if they cannot."""
    if xp is not NUMPY or samples.weight is not None or samples.share is not None:
        return None
    signed = signed_confidence(xp, samples)
    return signed if has_integer_keys(xp, signed) else None


def _uniform_descent(
    xp: Namespace,
    order: Array | None,
    credits_down: Array,
    running: Array,
    first: Array | None,
    end: Array | None,
) -> Descent:
    places = Ordering(order, first, end)
    right = Ranked(credits_down, running[..., :-1], *up_to_block(xp, running, first, end))
    return Descent(places, (right, count_by(xp, places, credits_down)))


def totals(descent: Summable) -> tuple[Array, Array]:
    """Return the weight of right decisions and of all samples, each (..., 1)."""
    if isinstance(descent, Stream):
        right, wrong, _ = descent.gain
        return right[..., None], (right + wrong)[..., None]
    hits, everyone = descent.columns[:2]
    return hits.through[..., -1:], everyone.through[..., -1:]


def summed(xp: Namespace, formula: Callable[..., Array], descent: Summable) -> Array:
    """Return the sum over all samples, (...), of an elementwise formula in the columns."""
    return all_summed(xp, lambda *columns: (formula(*columns),), descent)[0]


def all_summed(
    xp: Namespace, formulas: Callable[..., tuple[Array, ...]], descent: Summable
) -> tuple[Array, ...]:
    """Return the sums of several formulas that share intermediate steps."""
    if isinstance(descent, Stream):
        return sums_of_pieces(formulas, descent.pieces())
    return sums_of(xp, formulas, *descent.columns)


def counted(xp: Namespace, descent: Descent | KeyedDescent, *, uniform: bool) -> Ranked:
    """Count the samples on the way down; uniform weights are their own counts."""
    everyone = descent.columns[1]
    if uniform:
        return everyone
    return ranked(xp, descent.places, xp.astype(everyone.value != 0, everyone.value.dtype))


def accuracy_parts(xp: Namespace, right: Ranked, everyone: Ranked, count: Ranked) -> Parts:
    """Return the steps of the accuracy-decision rate curve: paper, eq. (1), extended to ties.

    A block of m samples of weight t, k of it right, counts as m samples of weight t / m, each with
    credit k / t. In a block where no sample counts, each is a part of its own, so that derivatives
    by its weight are right.
    """
    tied, right_tied = everyone.through - everyone.below, right.through - right.below
    if count is everyone:  # without weights everything counts, and weighs one
        place = count.before + count.value - count.below
        done = everyone.below + place
        accuracy = (right.below + place * (right_tied / tied)) / done
        return Parts(everyone.value, done, accuracy, place, tied)
    members = count.through - count.below
    none_counts, members = members == 0, or_one(xp, members)
    place = xp.where(none_counts, 1.0, count.before + count.value - count.below)
    done = everyone.below + place * (tied / members)
    accuracy = (right.below + place * (right_tied / members)) / or_one(xp, done)
    weight = xp.where(none_counts, everyone.value, count.value * tied / members)
    return Parts(weight, done, accuracy, place, members)


def or_one(xp: Namespace, weight: Array) -> Array:
    """Return a weight to divide by: 1 in place of zero, where every share is zero anyway."""
    return xp.where(weight > 0, weight, 1.0)
