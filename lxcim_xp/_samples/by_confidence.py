"""Samples from the most confident to the least: what curves, AUDRC and the reject option share.

A decision rate is reached by going down the confidences; a curve is what has been collected on the
way. Blocks of ties are passed in one step, and samples that do not count come last, under the key
of the last one that does, where they add steps of width zero.
"""

from collections.abc import Callable
from typing import NamedTuple

from lxcim_xp._array import Array, Namespace, sums_of, sums_of_pieces, take
from lxcim_xp._margins import Samples, credit, signed_margins
from lxcim_xp._ranks import (
    Ordering,
    Ranked,
    Stream,
    confidence_down,
    confidence_stream,
    ordering,
    rank_by,
    ranked,
)


class Descent(NamedTuple):
    """Columns in descending order of a key; ``below`` and ``through`` count what came before.

    Keys and order are None where nobody asked for them.
    """

    key: Array | None  # in the order of the input; minus infinity where a sample does not count
    least: Array | None  # (..., 1), the lowest key that counts; None: all do
    places: Ordering
    columns: tuple[Ranked, ...]
    stream: Stream | None = None  # in the place of the columns, where only sums are asked for


class Parts(NamedTuple):
    """The accuracy on the way down, in which a block of ties is passed in equal parts."""

    weight: Array  # of the part; zero for samples that do not count
    done: Array  # weight down to the end of the part
    accuracy: Array  # of what is done
    place: Array  # of the part in its block: 1, 2, ...
    count: Array  # how many parts the block has


def descend(xp: Namespace, key: Array, weight: Array | None, *columns: Array | None) -> Descent:
    """Sort columns from the highest key to the lowest.

    As a weight, None is every sample once; as a column, it is ones.
    """
    least = None
    if weight is not None:
        present = weight > 0
        least = xp.min(xp.where(present, key, xp.inf), axis=-1, keepdims=True)
        key = xp.where(present, key, -xp.inf)
    places = ordering(xp, -key)
    sums = tuple(rank_by(xp, places, column) for column in columns)
    return Descent(key, least, places, sums)


def keys_down(xp: Namespace, descent: Descent) -> Array:
    """Return the keys in descending order, the lowest one for samples that do not count."""
    key = take(xp, descent.key, descent.places.order)
    return key if descent.least is None else xp.where(key < descent.least, descent.least, key)


def descend_in_confidence(
    xp: Namespace,
    samples: Samples,
    *,
    keyed: bool = True,
    placed: bool = True,
    streamed: bool = False,
) -> Descent:
    """Sort the right weight and the weight of the samples from the most confident down.

    Where nobody asks for the keys or for the order, they may be None, which is quicker; quickest
    is what asks for sums only, and may be given a stream.
    """
    if streamed:
        stream = confidence_stream(xp, samples)
        if stream is not None:
            return Descent(None, None, Ordering(None, None, None), (), stream)
    if not keyed:
        found = confidence_down(xp, samples, placed=placed)
        if found is not None:
            return Descent(None, None, found[0], found[1:])
    margins, weight = signed_margins(xp, samples), samples.weight
    right = credit(xp, margins)
    right = right if weight is None else right * weight
    return descend(xp, xp.abs(margins.value), weight, right, weight)


def totals(descent: Descent) -> tuple[Array, Array]:
    """Return the weight of the right ones and of all, (..., 1)."""
    if descent.stream is not None:
        right, wrong, _ = descent.stream.gain
        return right[..., None], (right + wrong)[..., None]
    right, everyone = descent.columns[:2]
    return right.through[..., -1:], everyone.through[..., -1:]


def summed(xp: Namespace, formula: Callable[..., Array], descent: Descent) -> Array:
    """Return the sum over all samples, (...), of an elementwise formula of the columns."""
    return all_summed(xp, lambda *columns: (formula(*columns),), descent)[0]


def all_summed(
    xp: Namespace, formulas: Callable[..., tuple[Array, ...]], descent: Descent
) -> tuple[Array, ...]:
    """Return the sums of several formulas, which share their steps."""
    if descent.stream is not None:
        return sums_of_pieces(formulas, descent.stream.pieces())
    return sums_of(xp, formulas, *descent.columns)


def counted(xp: Namespace, descent: Descent, *, uniform: bool) -> Ranked:
    """Count the samples on the way down; uniform weights are their own counts."""
    everyone = descent.columns[1]
    if uniform:
        return everyone
    return ranked(xp, descent.places, xp.astype(everyone.value != 0, everyone.value.dtype))


def accuracy_parts(xp: Namespace, right: Ranked, everyone: Ranked, count: Ranked) -> Parts:
    """Return the steps of the accuracy-decision rate curve: paper, eq. (1), extended to ties.

    A block of m samples of weight t, k of it right, counts as m samples of weight t / m, each right
    by k / t.
    """
    tied, right_tied = everyone.through - everyone.below, right.through - right.below
    members = or_one(xp, count.through - count.below)
    place = count.before + count.value - count.below
    done = everyone.below + place * (tied / members)
    accuracy = (right.below + place * (right_tied / members)) / or_one(xp, done)
    return Parts(count.value * tied / members, done, accuracy, place, members)


def block_accuracy(xp: Namespace, descent: Descent) -> Array:
    """Return the accuracy of the block of ties of each place.

    Differences of sums over everything have the rounding errors of everything; what a first answer
    leaves over sums to almost nothing in each block, so that a second one has all digits.
    """
    right, everyone = descent.columns
    tied = or_one(xp, everyone.through - everyone.below)
    accuracy = (right.through - right.below) / tied
    left = ranked(xp, descent.places, right.value - accuracy * everyone.value)
    return accuracy + (left.through - left.below) / tied


def or_one(xp: Namespace, weight: Array) -> Array:
    """Return a weight to divide by; where there is none, its share is zero whatever divides it."""
    return xp.where(weight > 0, weight, 1.0)
