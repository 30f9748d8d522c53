"""Samples from the most confident to the least: what curves, AUDRC and the reject option share.

A decision rate is reached by going down the confidences; a curve is what has been collected on the
way. Blocks of ties are passed in one step, and samples that do not count come last, under the key
of the last one that does, where they add steps of width zero.
"""

from typing import NamedTuple

from lxcim_xp._array import Array, Namespace, take
from lxcim_xp._margins import Samples, credit, signed_margins, weights
from lxcim_xp._ranks import Ordering, Ranked, ordering, ranked


class Descent(NamedTuple):
    """Columns in descending order of a key; ``below`` and ``through`` count what came before."""

    key: Array  # in descending order
    places: Ordering
    columns: tuple[Ranked, ...]


class Parts(NamedTuple):
    """The accuracy on the way down, in which a block of ties is passed in equal parts."""

    weight: Array  # of the part; zero for samples that do not count
    done: Array  # weight down to the end of the part
    accuracy: Array  # of what is done
    place: Array  # of the part in its block: 1, 2, ...
    count: Array  # how many parts the block has


def descend(xp: Namespace, key: Array, weight: Array | None, *columns: Array) -> Descent:
    """Sort columns from the highest key to the lowest; None: every sample counts once."""
    least = None
    if weight is not None:
        present = weight > 0
        least = xp.min(xp.where(present, key, xp.inf), axis=-1, keepdims=True)
        key = xp.where(present, key, -xp.inf)
    places = ordering(xp, -key)
    sums = tuple(ranked(xp, places, take(xp, column, places.order)) for column in columns)
    key = take(xp, key, places.order)
    return Descent(key if least is None else xp.where(key < least, least, key), places, sums)


def descend_in_confidence(xp: Namespace, samples: Samples) -> Descent:
    """Sort the right weight and the weight of the samples from the most confident down."""
    margins, weight = signed_margins(xp, samples), weights(xp, samples)
    right = credit(xp, margins) * weight
    return descend(xp, xp.abs(margins.value), samples.weight, right, weight)


def accuracy_parts(xp: Namespace, descent: Descent, *, uniform: bool) -> Parts:
    """Return the steps of the accuracy-decision rate curve: paper, eq. (1), extended to ties.

    A block of m samples of weight t, k of it right, counts as m samples of weight t / m, each right
    by k / t.
    """
    right, everyone = descent.columns
    present = everyone  # uniform weights are their own counts
    if not uniform:
        counted = xp.astype(everyone.value != 0, everyone.value.dtype)
        present = ranked(xp, descent.places, counted)
    count = or_one(xp, present.through - present.below)
    place = present.before + present.value - present.below
    tied, right_tied = everyone.through - everyone.below, right.through - right.below
    done = everyone.below + place * (tied / count)
    # Before anything is done, the accuracy is that of the first block, which it comes from.
    accuracy = xp.where(
        done > 0,
        (right.below + place * (right_tied / count)) / or_one(xp, done),
        right_tied / or_one(xp, tied),
    )
    return Parts(present.value * tied / count, done, accuracy, place, count)


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
