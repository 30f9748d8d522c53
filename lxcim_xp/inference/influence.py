"""How much each sample moves a metric: psi = w * d(metric)/dw, which sums to zero.

A kernel sorts samples once; the metric and the influence are then functions of the sorted columns,
so that other weights on the same samples (a bootstrap) need no other sort. Everything is in sorted
order, with that order: a standard error does not pay for going back to the input's.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from lxcim_xp import _formulas
from lxcim_xp._array import Array, Namespace, computed, divide, widest_float
from lxcim_xp._descent import (
    Descent,
    accuracy_parts,
    counted,
    descend,
    descend_in_confidence,
    or_one,
    summed,
    totals,
)
from lxcim_xp._margins import Samples
from lxcim_xp._ranks import Ranked, ranked


class Influence(NamedTuple):
    """How much each sample moves a metric, as a formula of sorted columns that is not computed yet.

    A standard error needs the squares only, and does not pay for an array of them.
    """

    formula: Callable[..., Array]
    descent: Descent


class Kernel(NamedTuple):
    """A metric that has an influence function."""

    sort: Callable[..., Descent]  # of samples; with order where they are to be ``placed``
    estimate: Callable[[Namespace, Descent], Array]  # (..., 1)
    influence: Callable[[Namespace, Descent, Array], Influence]  # given the estimate
    steadied: Callable[[Namespace, Descent, Array, Array], "Steadied"] | None = None
    streams: bool = False  # whether sums over pieces of the columns are all that it asks for


class Steadied(NamedTuple):
    """A metric after adding one observation that is half right and half wrong.

    The observation is spread over the confidences that are there.
    """

    estimate: Array  # (..., 1)
    # Formula of the columns: the influence of the samples before; after; and what sums to the
    # variance that a draw from the observation has by itself.
    formula: Callable[..., tuple[Array, Array, Array]]


def values(xp: Namespace, influence: Influence) -> Array:
    """Return the influence of each sample, (..., n), in sorted order."""
    return computed(xp, influence.formula, *influence.descent.columns)


def sum_of_squares(xp: Namespace, influence: Influence) -> Array:
    """Return the sum of the squared influences, (...)."""

    def squares(*columns: tuple[Array, ...]) -> Array:
        return influence.formula(*columns) ** 2

    return summed(xp, squares, influence.descent)


def _known(value: Array, descent: Descent) -> Influence:
    """Return an influence that is computed already."""
    column = Ranked(value, value, value, value)
    return Influence(lambda column: column.value, descent._replace(columns=(column,)))


def sorted_weight(descent: Descent) -> Array:
    """Return the weights in sorted order."""
    return descent.columns[1].value


def reweighted(xp: Namespace, descent: Descent, factor: Array) -> Descent:
    """Multiply the weights, given in sorted order, without another sort."""
    columns = tuple(ranked(xp, descent.places, column.value * factor) for column in descent.columns)
    return descent._replace(columns=columns)


def _by_score(xp: Namespace, samples: Samples, **_: bool) -> Descent:
    """Sort the weights of the positives and of all from the highest score down, always in full."""
    positive = xp.astype(samples.label > 0, widest_float(xp, samples.score))
    positive = positive if samples.weight is None else positive * samples.weight
    return descend(xp, samples.score, samples.weight, positive, samples.weight)


def _lxcim(xp: Namespace, descent: Descent) -> Array:
    return _formulas.lxcim(xp, _formulas.gain_down(xp, descent))


def _lxcim_influence(xp: Namespace, descent: Descent, estimate: Array) -> Influence:
    """Return 2 (w / W) (h - LxCIM), h being the share of pairs with the sample that are won."""
    parts = _lxcim_parts(xp, descent, estimate)
    return Influence(lambda *columns: parts(*columns).moves, descent)


class _Parts(NamedTuple):
    moves: Array  # the influence
    gap: Array  # 2L + T
    won: Array  # c w (2L + T)
    right: Array  # C + 2 C_above


def _lxcim_parts(
    xp: Namespace, descent: Descent, estimate: Array
) -> Callable[[Ranked, Ranked], _Parts]:
    total = totals(descent)[1]
    scale, centre = divide(xp, xp.ones_like(total), total) ** 2, 2 * estimate * total

    def parts(right: Ranked, everyone: Ranked) -> _Parts:
        # 2 h W = c (2L + T) + C + 2 C_above, with L and T by what lies above.
        gap = 2 * total - (everyone.below + everyone.through)
        won, rights = right.value * gap, right.through + right.below
        return _Parts((won + everyone.value * (rights - centre)) * scale, gap, won, rights)

    return parts


def _lxcim_steadied(xp: Namespace, descent: Descent, estimate: Array, share: Array) -> Steadied:
    """Return LxCIM with an observation of a share d of all weight: (LxCIM + d / 2) / (1 + d)."""
    total, parts = totals(descent)[1], _lxcim_parts(xp, descent, estimate)
    one = xp.ones_like(total)
    inverse, shrunk = divide(xp, one, total), 1 / (1 + share)
    estimate = (estimate + share / 2) * shrunk
    against = share * inverse**2 * shrunk**2
    own, scale = (2 * share * shrunk) ** 2 * inverse, inverse * shrunk / 4

    def formula(right: Ranked, everyone: Ranked) -> tuple[Array, Array, Array]:
        moves, gap, won, rights = parts(right, everyone)
        # Against the observation a sample wins c (2L + T) and half of what lies above it; of its
        # pairs with all others it keeps 1 / (1 + d)^2.
        after = moves * shrunk**2 + (won - everyone.value * (gap / 2)) * against
        # What a draw from the observation wins on average, and how far its halves are apart.
        middle = (2 * rights + gap) * scale + (0.5 - estimate - shrunk / 2)
        apart = gap * (inverse / 4) * _off(xp, right, everyone)
        return moves, after, everyone.value * (middle**2 + apart**2) * own

    return Steadied(estimate, formula)


def _off(xp: Namespace, right: Ranked, everyone: Ranked) -> Array:
    """Say whether the halves of the observation earn 0 and 1: where undecided, both earn 1/2."""
    return xp.astype(2 * right.value != everyone.value, right.value.dtype)


def _accuracy(xp: Namespace, descent: Descent) -> Array:
    return divide(xp, *totals(descent))


def _accuracy_influence(xp: Namespace, descent: Descent, estimate: Array) -> Influence:
    """Return (w / W) (credit - accuracy)."""
    total = totals(descent)[1]
    scale = divide(xp, xp.ones_like(total), total)

    def moves(right: Ranked, everyone: Ranked) -> Array:
        return (right.value - estimate * everyone.value) * scale

    return Influence(moves, descent)


def _accuracy_steadied(xp: Namespace, descent: Descent, estimate: Array, share: Array) -> Steadied:
    total = totals(descent)[1]
    scale, shrunk, before = divide(xp, xp.ones_like(total), total), 1 / (1 + share), estimate
    estimate = (estimate + share / 2) * shrunk
    own = (share * shrunk) ** 2 * scale

    def formula(right: Ranked, everyone: Ranked) -> tuple[Array, Array, Array]:
        moves, after = (
            (right.value - centre * everyone.value) * scale for centre in (before, estimate)
        )
        apart = _off(xp, right, everyone) / 4
        return moves, after * shrunk, everyone.value * ((0.5 - estimate) ** 2 + apart) * own

    return Steadied(estimate, formula)


def _audrc(xp: Namespace, descent: Descent) -> Array:
    return _formulas.audrc(xp, descent, uniform=False)[..., None]


def _audrc_influence(xp: Namespace, descent: Descent, estimate: Array) -> Influence:
    """Return the influence on the discrete AUDRC.

    More weight at a place is more weight in the mean there, and moves the accuracy from there on
    towards the credit of the sample; within its block of ties, by the share that has arrived.
    """
    right, everyone = descent.columns
    parts = accuracy_parts(xp, right, everyone, counted(xp, descent, uniform=False))
    step = parts.weight / or_one(xp, parts.done)
    arrived = parts.place / parts.count

    def from_here_on(column: Array) -> Array:
        after = ranked(xp, descent.places, column)
        within = ranked(xp, descent.places, arrived * column)
        return after.through[..., -1:] - after.through + within.through - within.below

    present = xp.astype(parts.weight > 0, step.dtype)
    mean = ranked(xp, descent.places, present * parts.accuracy)
    here = (mean.through - mean.below) / parts.count - estimate
    moved = right.value * from_here_on(step)
    moved = moved + everyone.value * (here - from_here_on(step * parts.accuracy))
    return _known(divide(xp, moved, everyone.through[..., -1:]), descent)


def _two(descent: Descent) -> tuple[Ranked, Ranked]:
    """Return the first column and the rest of all: right and wrong, or positive and negative."""
    first, everyone = descent.columns
    return first, Ranked(*(a - b for a, b in zip(everyone, first, strict=True)))


def _auroc(xp: Namespace, descent: Descent) -> Array:
    high, low = _two(descent)
    # In descending order, what wins comes before what it beats: the two change roles.
    return _formulas.area_under_roc(xp, low, high)[..., None]


def _confidence_auroc(xp: Namespace, descent: Descent) -> Array:
    return _formulas.confidence_auroc(xp, _formulas.gain_down(xp, descent))


def _concordance_influence(xp: Namespace, descent: Descent, estimate: Array) -> Influence:
    """Return DeLong's influence: each class by its share of pairs won."""
    high, low = _two(descent)
    highs, lows = high.through[..., -1:], low.through[..., -1:]
    beaten = divide(xp, lows - (low.below + low.through) / 2, lows)
    beaten_by = divide(xp, (high.below + high.through) / 2, highs)
    moved = divide(xp, high.value * (beaten - estimate), highs)
    return _known(moved + divide(xp, low.value * (beaten_by - estimate), lows), descent)


_by_confidence = partial(descend_in_confidence, keyed=False)

KERNELS = {
    "lxcim": Kernel(_by_confidence, _lxcim, _lxcim_influence, _lxcim_steadied, streams=True),
    "accuracy": Kernel(
        _by_confidence, _accuracy, _accuracy_influence, _accuracy_steadied, streams=True
    ),
    "audrc": Kernel(_by_confidence, _audrc, _audrc_influence),
    "auroc": Kernel(_by_score, _auroc, _concordance_influence),
    "confidence_auroc": Kernel(_by_confidence, _confidence_auroc, _concordance_influence),
}


def kernel_of(metric: str) -> Kernel:
    """Return the kernel of a metric by its name."""
    if metric not in KERNELS:
        raise ValueError(f"metric must be one of {tuple(KERNELS)}; found {metric!r}.")
    return KERNELS[metric]
