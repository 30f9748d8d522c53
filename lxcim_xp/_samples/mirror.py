"""The score of equal confidence on the other side of the threshold, and how it is checked.

It is needed to exchange samples and to explain thresholds, never to evaluate samples.
"""

from collections.abc import Callable

import numpy as np

from lxcim_xp._arrays.namespaces import array_like, namespace, values_are_at_hand
from lxcim_xp._arrays.primitives import first_position, quietly
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.errors import BadValue

# How far off a mirror image may be, in roundings of the larger of itself and the threshold.
_ROUNDINGS = 8


def mirror_scores(xp: Namespace, decision: Decision, score: Array) -> Array:
    """Return the scores of equal confidence; NaN stays NaN, and means that none was found."""
    if decision.trusted:
        return decision.mirror(xp, score, decision.threshold, *decision.parameters)
    mirrored, fits = mirrors(xp, decision, score)
    fits = fits | xp.isnan(score)
    if not values_are_at_hand(xp):
        return xp.where(fits, mirrored, xp.full_like(mirrored, xp.nan))
    position = first_position(~fits)
    if position is not None:
        before, after = (abs(_signed(xp, decision, x)[position]) for x in (score, mirrored))
        raise BadValue(
            "mirror",
            "must keep the confidence and change sides; found g({score:g}) = {before:g} {place} "
            "and g({mirrored:g}) = {after:g} for its mirror",
            "Pass the score across the threshold where g is the same, or a {domain:=} in which "
            "there is one.",
            position=position,
            score=score[position],
            mirrored=mirrored[position],
            before=before,
            after=after,
        )
    return mirrored


def mirrors(xp: Namespace, decision: Decision, score: Array) -> tuple[Array, Array]:
    """Return candidates for the scores of equal confidence, and which of them are right."""
    with quietly(xp):  # the search for a score may go as far as the largest floats
        mirrored = decision.mirror(xp, score, decision.threshold, *decision.parameters)
        return mirrored, _is_mirror(xp, decision, score, mirrored)


def scores_at(
    decision: Decision, score: NumpyArray, signed: NumpyArray, confidence: NumpyArray
) -> tuple[NumpyArray, NumpyArray]:
    """Return the scores below and above the threshold that have given confidences.

    They come from samples with these confidences: NumPy arrays of scores and signed confidences.
    NaN stands for a side without such a score, and for a confidence that no sample has.
    """
    wanted, asked = np.unique(confidence, return_inverse=True)
    place = np.minimum(np.searchsorted(wanted, np.abs(signed)), wanted.size - 1)
    having = np.flatnonzero(wanted[place] == np.abs(signed))
    sample = np.full(wanted.size, -1)
    sample[place[having[::-1]]] = having[::-1]  # the last write wins: the first sample
    sample = sample[asked]
    score, upper = score[sample], signed[sample] >= 0
    mirrored: NumpyArray
    mirrored, fits = mirrors(namespace(score=score), decision, score)
    if not decision.trusted:
        mirrored = np.where(fits, mirrored, np.nan)
    below, above = np.where(upper, mirrored, score), np.where(upper, score, mirrored)
    unknown = sample < 0
    return np.where(unknown, np.nan, below), np.where(unknown, np.nan, above)


def snapped(
    xp: Namespace,
    g: Callable[[Array], Array],
    score: Array,
    mirrored: Array,
    domain: tuple[float, float] | None,
) -> Array:
    """Return the mirror images, or neighbouring floats that have exactly the confidence."""
    wanted = g(score)
    snapped = mirrored
    for direction in (-xp.inf, xp.inf):
        beside = xp.nextafter(mirrored, xp.full_like(mirrored, direction))
        if domain is not None:
            beside = xp.clip(beside, *domain)
        snapped = xp.where((g(snapped) != wanted) & (g(beside) == wanted), beside, snapped)
    return snapped


def _signed(xp: Namespace, decision: Decision, score: Array) -> Array:
    return decision.signed(xp, score, decision.threshold, *decision.parameters)


def _is_mirror(xp: Namespace, decision: Decision, score: Array, mirrored: Array) -> Array:
    """Say whether the wanted confidence lies between those of the mirror image's neighbours."""
    threshold = array_like(xp, decision.threshold, score)
    size = xp.maximum(xp.abs(mirrored), xp.abs(threshold))
    slack = _ROUNDINGS * xp.finfo(score.dtype).eps * size
    slack = xp.where(xp.isfinite(slack), slack, xp.zeros_like(slack))
    low, high = mirrored - slack, mirrored + slack
    if decision.domain is not None:
        low, high = (xp.clip(bound, *decision.domain) for bound in (low, high))
    wanted = -_signed(xp, decision, score)
    return (_signed(xp, decision, low) <= wanted) & (wanted <= _signed(xp, decision, high))
