"""The score of equal confidence on the other side of the threshold, and how it is checked.

Needed to exchange samples and to say what a threshold means, never to evaluate samples.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lxcim_xp._array import (
    Array,
    Namespace,
    array_like,
    first_position,
    namespace,
    repeat,
    values_are_at_hand,
)

if TYPE_CHECKING:
    from lxcim_xp.decision import Decision

# The exponents of 2 by which a bracket grows; their sum covers all floats.
_GROWTH = (1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)

# Enough to halve the widest bracket in its exponent, and then each bit of the fraction.
_HALVINGS = 72

# A mirror may be off by so many roundings of the larger of itself and the threshold.
_ROUNDINGS = 8


def mirror_scores(xp: Namespace, decision: "Decision", score: Array) -> Array:
    """Return the scores of equal confidence; NaN stays, and is where no such score was found."""
    if decision.trusted:
        return decision.mirror(xp, score, decision.threshold, *decision.parameters)
    mirrored, fits = mirrors(xp, decision, score)
    fits = fits | xp.isnan(score)
    if not values_are_at_hand(xp):
        return xp.where(fits, mirrored, xp.full_like(mirrored, xp.nan))
    position = first_position(~fits)
    if position is not None:
        pair = [array[position] for array in (score, mirrored)]
        confidence = [abs(_signed(xp, decision, array)[position]) for array in (score, mirrored)]
        raise ValueError(
            f"mirror must keep the confidence and change sides; found g({pair[0]:g}) = "
            f"{confidence[0]:g} at position {position} and g({pair[1]:g}) = {confidence[1]:g} for "
            f"its mirror. Pass the score across the threshold where g is the same, or a domain= in "
            f"which there is one."
        )
    return mirrored


def mirrors(xp: Namespace, decision: "Decision", score: Array) -> tuple[Array, Array]:
    """Return what should be the scores of equal confidence, and where they are."""
    mirrored = decision.mirror(xp, score, decision.threshold, *decision.parameters)
    return mirrored, _is_mirror(xp, decision, score, mirrored)


def scores_at(
    decision: "Decision", score: Array, signed: Array, confidence: Array
) -> tuple[Array, Array]:
    """Return the scores below and above the threshold that have given confidences.

    They come from samples, NumPy arrays of scores and their signed confidences, that have these
    confidences. NaN on a side that has no such score, and where no sample is so confident.
    """
    wanted, asked = np.unique(confidence, return_inverse=True)
    place = np.minimum(np.searchsorted(wanted, np.abs(signed)), wanted.size - 1)
    having = np.flatnonzero(wanted[place] == np.abs(signed))
    sample = np.full(wanted.size, -1)
    sample[place[having[::-1]]] = having[::-1]  # what is written last stays: the first sample
    sample = sample[asked]
    score, upper = score[sample], signed[sample] >= 0
    # A given function may have no score of equal confidence on its other side; looking for it then
    # ends at the largest floats.
    with np.errstate(over="ignore", invalid="ignore"):
        mirrored, fits = mirrors(namespace(score=score), decision, score)
    if not decision.trusted:
        mirrored = np.where(fits, mirrored, np.nan)
    below, above = np.where(upper, mirrored, score), np.where(upper, score, mirrored)
    unknown = sample < 0
    return np.where(unknown, np.nan, below), np.where(unknown, np.nan, above)


def bisected(
    xp: Namespace,
    g: Callable[[Array], Array],
    score: Array,
    threshold: Array,
    domain: tuple[float, float] | None,
) -> Array:
    """Find the score across the threshold where ``g`` is what it is at ``score``."""
    confidence = g(score)
    above = score < threshold  # where to look
    largest = xp.finfo(score.dtype).max
    low, high = (-largest, largest) if domain is None else domain
    room = xp.where(above, high - threshold, threshold - low)

    def at(distance: Array) -> Array:
        return xp.where(above, threshold + distance, threshold - distance)

    def is_short(distance: Array) -> Array:
        return g(at(distance)) < confidence

    def halve(_: object, bounds: Array) -> Array:
        near, far = bounds[0, ...], bounds[1, ...]
        # By the exponent while that is uncertain, so that all magnitudes are found alike.
        middle = xp.where(far > 2 * near, xp.sqrt(near) * xp.sqrt(far), near + (far - near) / 2)
        short = is_short(middle)
        return xp.stack([xp.where(short, middle, near), xp.where(short, far, middle)])

    own = xp.minimum(xp.abs(xp.where(xp.isfinite(score), score - threshold, room)), room)
    bounds = repeat(xp, _HALVINGS, halve, xp.stack(_bracket(xp, is_short, own, room)))
    near, far = at(bounds[0, ...]), at(bounds[1, ...])
    closer = xp.abs(g(near) - confidence) < xp.abs(g(far) - confidence)
    return xp.where(xp.isinf(score), -score, xp.where(closer, near, far))


def _bracket(
    xp: Namespace, is_short: Callable[[Array], Array], near: Array, room: Array
) -> tuple[Array, Array]:
    """Return a distance that is too short and one that is not, near to the one given.

    Growing from there, and not from the ends of all floats, spares ``g`` from overflowing.
    """
    far = near
    for exponent in _GROWTH:
        if 2.0**exponent > float(xp.finfo(near.dtype).max):
            break
        short, long = is_short(far), ~is_short(near)
        if values_are_at_hand(xp) and not (short.any() or long.any()):
            break
        one, step = xp.ones_like(near), xp.full_like(near, 2.0**exponent)
        fits = short & (far < room / step)
        far = xp.where(short & ~fits, room, far * xp.where(fits, step, one))
        near = near / xp.where(long, step, one)
    return near, far


def _signed(xp: Namespace, decision: "Decision", score: Array) -> Array:
    return decision.signed(xp, score, decision.threshold, *decision.parameters)


def _is_mirror(xp: Namespace, decision: "Decision", score: Array, mirrored: Array) -> Array:
    """Say whether the confidence wanted lies between those of the mirror's neighbours."""
    threshold = array_like(xp, decision.threshold, score)
    size = xp.maximum(xp.abs(mirrored), xp.abs(threshold))
    slack = _ROUNDINGS * xp.finfo(score.dtype).eps * size
    slack = xp.where(xp.isfinite(slack), slack, xp.zeros_like(slack))
    low, high = mirrored - slack, mirrored + slack
    if decision.domain is not None:
        low, high = (xp.clip(bound, *decision.domain) for bound in (low, high))
    wanted = -_signed(xp, decision, score)
    return (_signed(xp, decision, low) <= wanted) & (wanted <= _signed(xp, decision, high))
