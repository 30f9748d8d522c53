"""From the influence of each sample to a variance: independent samples, clusters, strata.

Units are what is drawn independently: samples, or clusters of samples. Each member of a cluster
holds an equal share of it, so that sums over clusters are sums over samples and no shape depends on
the number of clusters.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from lxcim_xp._arrays.namespaces import (
    NUMPY,
    as_array,
    kind_of,
    namespace,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._arrays.primitives import divide, move_axis, power_of_two, take
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._numerics.ordering import ordering, ranked
from lxcim_xp._samples.errors import BadValue

WeightType: TypeAlias = Literal["importance", "frequency"]

# An influence may be off by so many units in its last place.
_ROUNDINGS = 64


class Design(NamedTuple):
    """How the samples were drawn: codes of clusters and strata, sample axis last."""

    groups: Array | None
    strata: Array | None
    frequency: bool  # weights say how often a sample was seen


class Variance(NamedTuple):
    """A variance, one for each batch entry, and what it rests on."""

    value: Array
    degrees_of_freedom: Array


class Spread(NamedTuple):
    """Rows whose squares sum to the variance, and whose products sum to covariances."""

    rows: Array  # (..., n)
    degrees_of_freedom: Array  # (...)


class _Units(NamedTuple):
    share: Array  # of a unit that this sample holds
    value: Array  # of that unit
    strata: Array | None


def design(
    xp: Namespace, groups: Any, strata: Any, weight_type: str, score: Array, axis: int
) -> Design:
    """Check and align what says how the samples were drawn."""
    if weight_type not in ("importance", "frequency"):
        raise ValueError(f"weight_type must be 'importance' or 'frequency'; found {weight_type!r}.")
    return Design(
        _codes(xp, "groups", groups, score, axis),
        _codes(xp, "strata", strata, score, axis),
        weight_type == "frequency",
    )


def in_order(xp: Namespace, drawn: Design, order: Array) -> Design:
    """Bring the codes into sorted order."""
    groups, strata = (None if code is None else take(xp, code, order) for code in drawn[:2])
    return Design(groups, strata, drawn.frequency)


def are_independent(drawn: Design) -> bool:
    """Say whether the samples themselves are the units, each seen once."""
    return drawn.groups is None and drawn.strata is None and not drawn.frequency


def correction(xp: Namespace, count: Array) -> Array:
    """Return G / (G - 1): G units vary by so much more than they do around their own mean."""
    return count / xp.where(count > 1.5, count - 1, xp.nan)


def variance(xp: Namespace, influence: Array, weight: Array, drawn: Design) -> Variance:
    """Return the sum of squared influences of independent units, corrected for their number."""
    rows, freedom = spread(xp, influence, weight, drawn)
    return Variance(beyond_rounding(xp, xp.sum(rows**2, axis=-1), weight), freedom)


def beyond_rounding(xp: Namespace, variance: Array, weight: Array) -> Array:
    """Return zero instead of a variance that rounding of the influences alone would give.

    An influence is a share of all weight times a number near one, off by a few roundings.
    """
    part = divide(xp, weight, xp.max(weight, axis=-1, keepdims=True))
    part = part / xp.sum(part, axis=-1, keepdims=True)
    rounding = (_ROUNDINGS * xp.finfo(part.dtype).eps) ** 2 * xp.sum(part**2, axis=-1)
    return xp.where(variance <= rounding, 0.0, variance)


def covariance(
    xp: Namespace, influence: Array, weight: Array, drawn: Design
) -> tuple[Array, Array]:
    """Return the covariances of k models on the same samples, and their degrees of freedom.

    Influences have shape (k, n), weights and codes (n,).
    """
    if are_independent(drawn):  # the same as below, in fewer passes
        count = xp.sum(xp.astype(weight > 0, weight.dtype))
        products = influence @ xp.permute_dims(influence, (1, 0))
        return products * correction(xp, count), count - 1
    shape = influence.shape
    groups, strata = (c if c is None else xp.broadcast_to(c, shape) for c in drawn[:2])
    drawn = Design(groups, strata, drawn.frequency)
    rows, freedom = spread(xp, influence, xp.broadcast_to(weight, shape), drawn)
    return rows @ xp.permute_dims(rows, (1, 0)), freedom[0]


def spread(xp: Namespace, influence: Array, weight: Array, drawn: Design) -> Spread:
    """Return the deviations of independent units, corrected for their number.

    With S the influence of a unit and G the number of units, G / (G - 1) * sum S^2 is the variance
    (CR1 for clusters). In strata, S is taken less its mean in the stratum, and G is the number of
    units in it. NaN for a single unit, which says nothing about the spread.
    """
    if are_independent(drawn):  # the same as below, in fewer passes
        count = xp.sum(xp.astype(weight > 0, weight.dtype), axis=-1, keepdims=True)
        return Spread(influence * xp.sqrt(correction(xp, count)), (count - 1)[..., 0])
    share, value, strata = _units(xp, influence, weight, drawn)
    count = xp.sum(share, axis=-1, keepdims=True)
    if strata is None:
        freedom = count - 1
        off = value
    else:
        places = ordering(xp, strata)
        share, value = (take(xp, column, places.order) for column in (share, value))
        units, total = (
            sums.through - sums.below
            for sums in (ranked(xp, places, share), ranked(xp, places, share * value))
        )
        held = xp.where(share > 0, divide(xp, share, units), 0.0)
        freedom = count - xp.sum(held, axis=-1, keepdims=True)
        off = value - divide(xp, total, units)
        count = units
    # Rounding may move a count slightly away from a whole number.
    enough = count > 1.5
    factor = share * count / xp.where(enough, count - 1, 1.0)
    rows = xp.where(share > 0, xp.sqrt(factor) * off, 0.0)
    rows = xp.where(enough | (share == 0), rows, xp.full_like(rows, xp.nan))
    return Spread(rows, freedom[..., 0])


def effective_number(xp: Namespace, weight: Array, drawn: Design) -> Array:
    """Return the number of equally weighted units that are worth as much, (..., 1)."""
    if drawn.frequency and drawn.groups is None:
        return xp.sum(weight, axis=-1, keepdims=True)
    # In units of a power of two, which changes no digit: squares of weights may not be finite.
    unit = power_of_two(xp, xp.max(weight, axis=-1, keepdims=True))
    weight = weight / unit
    total = xp.sum(weight, axis=-1, keepdims=True)
    units = _units(xp, weight, weight, drawn._replace(strata=None, frequency=False))
    return divide(xp, total**2, xp.sum(units.share * units.value**2, axis=-1, keepdims=True))


def _units(xp: Namespace, column: Array, weight: Array, drawn: Design) -> _Units:
    present = xp.astype(weight > 0, weight.dtype)
    if drawn.groups is None:
        if drawn.frequency:
            return _Units(
                weight, xp.where(weight > 0, divide(xp, column, weight), 0.0), drawn.strata
            )
        return _Units(present, column, drawn.strata)
    places = ordering(xp, drawn.groups)
    sums, members = (ranked(xp, places, take(xp, part, places.order)) for part in (column, present))
    count = members.through - members.below
    share = xp.where(members.value > 0, divide(xp, members.value, count), 0.0)
    strata = None if drawn.strata is None else take(xp, drawn.strata, places.order)
    return _Units(share, sums.through - sums.below, strata)


def _codes(xp: Namespace, name: str, given: Any, score: Array, axis: int) -> Array | None:
    if given is None:
        return None
    if xp is NUMPY:
        labels = np.asarray(given)
        codes: NumpyArray = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    else:
        namespace(y_score=score, **{name: given})
        codes = as_array(xp, given, score)
        if kind_of(xp, codes.dtype) != "integral":
            raise TypeError(
                f"{name} must hold integers; found dtype {codes.dtype}. Number the {name} from 0."
            )
    if axis not in (-1, codes.ndim - 1) and codes.ndim > 1:
        codes = move_axis(xp, codes, axis, -1)
    try:
        codes = xp.broadcast_to(codes, score.shape)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} must have one entry for each sample; found shape {tuple(codes.shape)} for "
            f"samples of shape {tuple(score.shape)}."
        ) from error
    if (
        values_are_at_hand(xp)
        and name == "groups"
        and codes.shape[-1]
        and not (codes.min(axis=-1) < codes.max(axis=-1)).all()
    ):
        raise BadValue(
            "groups",
            "must hold at least two clusters; found one",
            "A single cluster says nothing about the spread between clusters: leave {groups} out "
            "if samples are independent.",
        )
    return xp.astype(codes, widest_float(xp, score))
