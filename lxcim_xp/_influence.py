"""How much each sample moves a metric: psi = w * d(metric)/dw, which sums to zero.

A kernel sorts samples once; the metric and the influence are then functions of the sorted columns,
so that other weights on the same samples (a bootstrap) need no other sort. Everything is in sorted
order, with that order: a standard error does not pay for going back to the input's.
"""

from collections.abc import Callable
from typing import NamedTuple

from lxcim_xp._array import Array, Namespace, computed, divide, sum_of, widest_float
from lxcim_xp._descent import (
    Descent,
    accuracy_parts,
    counted,
    descend,
    descend_in_confidence,
    or_one,
)
from lxcim_xp._margins import Samples
from lxcim_xp._ranks import Ranked, ranked


class Kernel(NamedTuple):
    """A metric that has an influence function."""

    sort: Callable[[Namespace, Samples], Descent]
    estimate: Callable[[Namespace, Descent], Array]  # (..., 1)
    influence: Callable[[Namespace, Descent], Array]  # (..., n), sums to zero
    steadied: Callable[[Namespace, Descent, Array], "Steadied"] | None = None


class Steadied(NamedTuple):
    """A metric after adding one observation that is half right and half wrong.

    The observation is spread over the confidences that are there.
    """

    estimate: Array  # (..., 1)
    influence: Array  # (..., n), of the samples
    own_variance: Array  # (...), of one draw from the observation


def sorted_weight(descent: Descent) -> Array:
    """Return the weights in sorted order."""
    return descent.columns[1].value


def reweighted(xp: Namespace, descent: Descent, factor: Array) -> Descent:
    """Multiply the weights, given in sorted order, without another sort."""
    columns = tuple(ranked(xp, descent.places, column.value * factor) for column in descent.columns)
    return descent._replace(columns=columns)


def _by_score(xp: Namespace, samples: Samples) -> Descent:
    """Sort the weights of the positives and of all from the highest score down."""
    positive = xp.astype(samples.label > 0, widest_float(xp, samples.score))
    positive = positive if samples.weight is None else positive * samples.weight
    return descend(xp, samples.score, samples.weight, positive, samples.weight)


def _lxcim(xp: Namespace, descent: Descent) -> Array:
    total = descent.columns[1].through[..., -1:]

    def terms(right: Ranked, everyone: Ranked) -> Array:
        # c w (2L + T), counted from the top.
        return right.value * (2 * total - everyone.below - everyone.through)

    return divide(xp, sum_of(xp, terms, *descent.columns)[..., None], total**2)


def _lxcim_influence(xp: Namespace, descent: Descent) -> Array:
    """Return 2 (w / W) (h - LxCIM), h being the share of pairs with the sample that are won."""
    total, estimate = descent.columns[1].through[..., -1:], _lxcim(xp, descent)
    scale = divide(xp, xp.ones_like(total), total)

    def moves(right: Ranked, everyone: Ranked) -> Array:
        # h W = c (L + T / 2) + C / 2 + C_above, with L and T by what lies above.
        won = right.value * (total - (everyone.below + everyone.through) / 2)
        won = won + everyone.value * ((right.through + right.below) / 2 - estimate * total)
        return won * (2 * scale**2)

    return computed(xp, moves, *descent.columns)


def _lxcim_steadied(xp: Namespace, descent: Descent, share: Array) -> Steadied:
    """Return LxCIM with an observation of a share of all weight: (LxCIM + d / 2) / (1 + d)."""
    total = descent.columns[1].through[..., -1:]
    estimate = (_lxcim(xp, descent) + share / 2) / (1 + share)
    scale = divide(xp, xp.ones_like(total), total * (1 + share))

    # What a right decision wins more than a wrong one, and what any wins: against the samples, and
    # against the observation, which beats a half of what is surer than it.
    def won_if_right(everyone: Ranked) -> Array:
        return (total - (everyone.below + everyone.through) / 2) * (1 + share) * scale

    def won_anyway(right: Ranked, everyone: Ranked) -> Array:
        won = (right.through + right.below) / 2 + share * (everyone.below + everyone.through) / 4
        return won * scale - estimate

    def moves(right: Ranked, everyone: Ranked) -> Array:
        moved = right.value * won_if_right(everyone) + everyone.value * won_anyway(right, everyone)
        return 2 * scale * moved

    def squares(right: Ranked, everyone: Ranked) -> Array:
        base, more = won_anyway(right, everyone), won_if_right(everyone)
        wrong, rightly = (base + credit * more for credit in _credits(xp, right, everyone))
        return everyone.value * (wrong**2 + rightly**2) / 2

    spread = sum_of(xp, squares, *descent.columns)
    own = (2 * share * scale)[..., 0] ** 2 * total[..., 0] * spread
    return Steadied(estimate, computed(xp, moves, *descent.columns), own)


def _credits(xp: Namespace, right: Ranked, everyone: Ranked) -> tuple[Array, Array]:
    """Return what the halves of the observation earn: both a half where samples are undecided."""
    half = xp.astype(2 * right.value != everyone.value, right.value.dtype) / 2
    return 0.5 - half, 0.5 + half


def _accuracy(xp: Namespace, descent: Descent) -> Array:
    right, everyone = (column.through[..., -1:] for column in descent.columns)
    return divide(xp, right, everyone)


def _accuracy_influence(xp: Namespace, descent: Descent) -> Array:
    """Return (w / W) (credit - accuracy)."""
    right, everyone = descent.columns
    off = right.value - _accuracy(xp, descent) * everyone.value
    return divide(xp, off, everyone.through[..., -1:])


def _accuracy_steadied(xp: Namespace, descent: Descent, share: Array) -> Steadied:
    right, everyone = descent.columns
    total = everyone.through[..., -1:]
    estimate = (_accuracy(xp, descent) + share / 2) / (1 + share)
    influence = divide(xp, right.value - estimate * everyone.value, total * (1 + share))
    off = [credit - estimate for credit in _credits(xp, right, everyone)]
    squares = divide(xp, everyone.value * (off[0] ** 2 + off[1] ** 2) / 2, total)
    own = (share / (1 + share))[..., 0] ** 2 * xp.sum(squares, axis=-1)
    return Steadied(estimate, influence, own)


def _audrc(xp: Namespace, descent: Descent) -> Array:
    right, everyone = descent.columns
    parts = accuracy_parts(xp, right, everyone, counted(xp, descent, uniform=False))
    area = xp.sum(parts.weight * parts.accuracy, axis=-1, keepdims=True)
    return divide(xp, area, everyone.through[..., -1:])


def _audrc_influence(xp: Namespace, descent: Descent) -> Array:
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
    here = (mean.through - mean.below) / parts.count - _audrc(xp, descent)
    moved = right.value * from_here_on(step)
    moved = moved + everyone.value * (here - from_here_on(step * parts.accuracy))
    return divide(xp, moved, everyone.through[..., -1:])


def _two(descent: Descent) -> tuple[Ranked, Ranked]:
    """Return the first column and the rest of all: right and wrong, or positive and negative."""
    first, everyone = descent.columns
    return first, Ranked(*(a - b for a, b in zip(everyone, first, strict=True)))


def _concordance(xp: Namespace, descent: Descent) -> Array:
    """Return P(high > low) + P(high = low) / 2, keys in descending order."""
    high, low = _two(descent)
    highs, lows = high.through[..., -1:], low.through[..., -1:]
    beaten = lows - (low.below + low.through) / 2
    return divide(xp, xp.sum(high.value * beaten, axis=-1, keepdims=True), highs * lows)


def _concordance_influence(xp: Namespace, descent: Descent) -> Array:
    """Return DeLong's influence: each class by its share of pairs won."""
    high, low = _two(descent)
    highs, lows = high.through[..., -1:], low.through[..., -1:]
    estimate = _concordance(xp, descent)
    beaten = divide(xp, lows - (low.below + low.through) / 2, lows)
    beaten_by = divide(xp, (high.below + high.through) / 2, highs)
    return divide(xp, high.value * (beaten - estimate), highs) + divide(
        xp, low.value * (beaten_by - estimate), lows
    )


KERNELS = {
    "lxcim": Kernel(descend_in_confidence, _lxcim, _lxcim_influence, _lxcim_steadied),
    "accuracy": Kernel(descend_in_confidence, _accuracy, _accuracy_influence, _accuracy_steadied),
    "audrc": Kernel(descend_in_confidence, _audrc, _audrc_influence),
    "auroc": Kernel(_by_score, _concordance, _concordance_influence),
    "confidence_auroc": Kernel(descend_in_confidence, _concordance, _concordance_influence),
}


def kernel_of(metric: str) -> Kernel:
    """Return the kernel of a metric by its name."""
    if metric not in KERNELS:
        raise ValueError(f"metric must be one of {tuple(KERNELS)}; found {metric!r}.")
    return KERNELS[metric]
