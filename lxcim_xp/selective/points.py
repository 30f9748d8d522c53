"""Going down the confidences, and the operating points on the way that a threshold can reach."""

from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import device_of, values_are_at_hand
from lxcim_xp._arrays.primitives import divide, first_position
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._samples.by_confidence import KeyedDescent, descend_with_keys
from lxcim_xp._samples.checks import may_be_shares
from lxcim_xp._samples.samples import (
    Samples,
    confidence,
    credit,
    signed_confidence,
    weights,
)


class Points(NamedTuple):
    """What is decided at each of n + 1 points, from nothing to everything."""

    confidence: Array
    count: Array  # type: ignore[assignment]  # weight decided; the number of samples where every one counts once
    right: Array  # of it right, undecided samples half
    sure: Array  # of it right beyond doubt: undecided samples and split votes are not
    possible: Array | None  # of it not wrong beyond doubt; None if whole labels say it
    total: Array  # (..., 1)


def descent_of(xp: Namespace, samples: Samples) -> KeyedDescent:
    """Sum weight, right weight and weight right beyond doubt from the most confident down.

    Where votes may be split, two more columns follow: what may be right, and what decisions earned.
    """
    signed, weight = signed_confidence(xp, samples), weights(xp, samples)
    earned, key = credit(xp, samples, signed), confidence(xp, samples, signed)
    columns = [xp.astype(earned == 1, weight.dtype)]
    if samples.share is not None:
        decided = samples.decision.is_confidence | (signed != 0)
        columns += [xp.astype(earned > 0, weight.dtype), xp.where(decided, earned, 0.0)]
    counted = (column * weight for column in columns)
    return descend_with_keys(xp, key, samples.weight, weight, earned * weight, *counted)


def points_of(xp: Namespace, samples: Samples) -> Points:
    """Return the points of samples whose order nobody asks for."""
    return points_on(xp, descent_of(xp, samples))


def points_on(xp: Namespace, descent: KeyedDescent) -> Points:
    """Return the points on the way down."""
    count, right, sure, *split = (
        from_start(xp, 0.0, column.through) for column in descent.columns[:4]
    )
    total = something(xp, count[..., -1:])
    possible = split[0] if split else None
    # No confidence is at least NaN, whereas an infinite one may be there.
    return Points(from_start(xp, xp.nan, descent.key), count, right, sure, possible, total)


def are_split(xp: Namespace, samples: Samples) -> Array | None:
    """Say in which batch entries votes are split, (..., 1); None where labels are whole."""
    share = samples.share
    if share is None or (values_are_at_hand(xp) and not may_be_shares(xp, share)):
        return None
    some = (share > 0) & (share < 1) & (weights(xp, samples) > 0)
    return xp.any(some, axis=-1, keepdims=True)


def from_start(xp: Namespace, start: float, x: Array) -> Array:
    """Put the point where nothing is decided before the others."""
    return xp.concat([xp.full_like(x[..., :1], start), x], axis=-1)


def something(xp: Namespace, total: Array) -> Array:
    """Return the total weight if there is any; it is an error, or NaN, if there is none."""
    if values_are_at_hand(xp) and not (total > 0).all():
        position = first_position(~(total[..., 0] > 0))
        where = f" in batch entry {position}" if total.ndim > 1 else ""
        raise ValueError(
            f"y_score must hold samples that count; found none{where}. Pass data to choose from, "
            f"and check where= and sample_weight=."
        )
    return xp.where(total > 0, total, xp.nan)


def rounding(xp: Namespace, samples: Samples) -> Any:
    """Return by what share sums of weights may be off; not at all where all weights are whole."""
    if samples.weight is None:
        return 0.0
    weight = samples.weight
    if samples.weight_unit is not None:
        weight = weight * samples.weight_unit
    whole = xp.all(weight == xp.floor(weight), axis=-1, keepdims=True)
    return xp.where(whole, 0.0, xp.full_like(weight[..., :1], 8 * xp.finfo(weight.dtype).eps))


def last_accurate(xp: Namespace, points: Points, target: float) -> Array:
    """Return the index of the last point at which the decided are accurate enough."""
    # A quotient meets a target written as a decimal, which a product need not.
    accurate = divide(xp, points.right, points.count) >= target
    return last_of(xp, accurate)


def last_of(xp: Namespace, chosen: Array) -> Array:
    """Return the index of the last point that is chosen, (..., 1); 0, nothing, if none is."""
    place = xp.arange(chosen.shape[-1], device=device_of(xp, chosen))
    place = xp.broadcast_to(place, chosen.shape)
    return xp.max(xp.where(chosen, place, 0), axis=-1, keepdims=True)
