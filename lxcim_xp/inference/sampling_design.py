"""From the influence of each sample to a variance: independent samples, clusters, strata.

Units are what is drawn independently: samples, or clusters of samples. Each member of a cluster
holds an equal share of it, so that sums over clusters are sums over samples and no shape depends on
the number of clusters.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import NUMPY, widest_float
from lxcim_xp._arrays.primitives import divide, power_of_two, running_sum, scattered, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.ordering import Ordering, ordering, ranked
from lxcim_xp._samples.clusters import aligned_codes, cluster_codes

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


class Units(NamedTuple):
    """Which samples are drawn together; those of a cluster stand side by side, see ``places``."""

    places: Ordering | None  # None: the samples stand where they did
    weight: Array  # of the samples, where they did
    share: Array  # of its unit that each sample holds, or how many units it is
    part: Array | None  # of all weight that its cluster has; None for other units
    single: Array | None  # (..., 1), whether each cluster has one member; None for other units
    strata: Array | None


class Support(NamedTuple):
    """What an interval by clusters rests on, one value for each batch entry."""

    share: Array  # of one observation in all weight
    degrees_of_freedom: Array


class _Deviations(NamedTuple):
    share: Array  # of a unit that each member holds
    off: Array  # the influence of that unit, less the mean of its stratum
    factor: Array  # by which its square counts
    degrees_of_freedom: Array  # (...)


def design(
    xp: Namespace,
    groups: Any,
    strata: Any,
    weight_type: str,
    score: Array,
    weight: Array | None,
    axis: int,
) -> Design:
    """Check and align what says how the samples were drawn."""
    if weight_type not in ("importance", "frequency"):
        raise ValueError(f"weight_type must be 'importance' or 'frequency'; found {weight_type!r}.")
    if groups is not None:
        groups = _numbered(xp, cluster_codes(xp, groups, score, weight, axis), score)
    if strata is not None:
        codes = aligned_codes(xp, "strata", strata, score, weight, axis)
        strata = _numbered(xp, codes, score)
    return Design(groups, strata, weight_type == "frequency")


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
    return xp.where(variance <= rounding(xp, xp.sum(part**2, axis=-1)), 0.0, variance)


def rounding(xp: Namespace, squares: Array) -> Array:
    """Return the variance that rounding alone gives, from the sum of squared shares of weight."""
    return (_ROUNDINGS * xp.finfo(squares.dtype).eps) ** 2 * squares


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

    With u the influence of a unit and G the number of units, G / (G - 1) * sum u^2 is the variance.
    Clusters differ in size, and one with a part s of all weight counts 1 / (1 - s) times (CR2). In
    strata, u is taken less its mean in the stratum, and G is the number of units in it. NaN for a
    single unit, which says nothing about the spread.
    """
    if are_independent(drawn):  # the same as below, in fewer passes
        count = xp.sum(xp.astype(weight > 0, weight.dtype), axis=-1, keepdims=True)
        return Spread(influence * xp.sqrt(correction(xp, count)), (count - 1)[..., 0])
    return spread_of(xp, influence, units_of(xp, weight, drawn))


def spread_of(xp: Namespace, influence: Array, units: Units) -> Spread:
    """Return the same for units that are known already."""
    share, off, factor, freedom = _deviations(xp, influence, units)
    return Spread(xp.where(share > 0, xp.sqrt(share * factor) * off, 0.0), freedom)


def variance_of(xp: Namespace, influence: Array, units: Units) -> Array:
    """Return the variance that :func:`variance` returns, for units that are known already."""
    return _sum_of_squares(xp, _deviations(xp, influence, units), units)


def _sum_of_squares(xp: Namespace, found: _Deviations, units: Units) -> Array:
    share, off, factor, _ = found
    squares = xp.where(share > 0, share * factor * off**2, 0.0)
    return beyond_rounding(xp, xp.sum(squares, axis=-1), units.weight)


def _deviations(xp: Namespace, influence: Array, units: Units) -> _Deviations:
    share, value = units.share, _of_units(xp, influence, units)
    count = xp.sum(share, axis=-1, keepdims=True)
    if units.strata is None:
        factor, freedom = correction(xp, count), count - 1
        if units.part is not None:
            # A cluster with almost all weight leaves rounding to divide by.
            rest = 1 - units.part
            least = xp.finfo(rest.dtype).eps
            uneven = 1 / xp.where(rest > least, rest, least)
            uneven = xp.where(count > 1.5, uneven, xp.nan)
            factor = xp.where(units.single, factor, uneven)
            freedom = xp.where(units.single, freedom, _bell_mccaffrey(xp, units))
        return _Deviations(share, value, factor, freedom[..., 0])
    places = ordering(xp, units.strata)
    share, value = (take(xp, column, places.order) for column in (share, value))
    number, total = (
        sums.through - sums.below
        for sums in (ranked(xp, places, share), ranked(xp, places, share * value))
    )
    held = xp.where(share > 0, divide(xp, share, number), 0.0)
    freedom = count - xp.sum(held, axis=-1, keepdims=True)
    off = xp.where(share > 0, value - divide(xp, total, number), 0.0)
    return _Deviations(share, off, correction(xp, number), freedom[..., 0])


def _bell_mccaffrey(xp: Namespace, units: Units) -> Array:
    """Return the degrees of freedom of CR2, (..., 1): G - 1 for equal clusters, else fewer.

    They are those of Bell and McCaffrey (2002) for the mean of independent samples.
    """
    count = xp.sum(units.share, axis=-1, keepdims=True)
    part: Any = units.part
    rest = xp.where(part < 1, 1 - part, xp.finfo(part.dtype).eps)
    even, first, second = (
        xp.sum(units.share * column, axis=-1, keepdims=True)
        for column in (part**2, part**2 / rest, (part**2 / rest) ** 2)
    )
    apart = first**2 - second  # a sum of products: only rounding makes it negative
    spread = even + xp.where(apart > 0, apart, 0.0)
    one = xp.ones_like(spread)
    return xp.minimum(xp.maximum(divide(xp, one, spread), one), count - 1)


def support(
    xp: Namespace, influence: Array, units: Units, drawn: Design, nothing_moves: Array
) -> Support:
    """Return the share of one observation, and degrees of freedom, from what clusters show.

    An observation may weigh as little as a sample, or as much as a cluster. The design effect that
    is seen decides, as far as it can be seen: it rests on the k clusters that move the estimate,
    and one more is assumed to be right or wrong as a whole. ``nothing_moves`` says where all
    decisions are right, or all wrong; the influences are then rounding at most.
    """
    weight = units.weight
    alone = drawn._replace(groups=None)
    samples = effective_number(xp, weight, alone)[..., 0]
    clusters = effective_number_of(xp, weight, units)[..., 0]
    largest = divide(xp, samples, clusters)
    largest = xp.where(largest > 1, largest, 1.0)
    deviations = _deviations(xp, influence, units)
    found = _sum_of_squares(xp, deviations, units)
    nothing_moves = nothing_moves | (found == 0)
    unclustered = variance(xp, influence, weight, alone).value
    effect = xp.where(unclustered > 0, divide(xp, found, unclustered), largest)
    effect = xp.minimum(xp.maximum(effect, xp.ones_like(effect)), largest)
    share, off, _, freedom = deviations
    moving = xp.where(nothing_moves, 0.0, _number_that_moves(xp, share, off))
    # The geometric mean of k design effects that are seen, and of one that is feared.
    inflation = effect ** (moving / (moving + 1)) * largest ** (1 / (moving + 1))
    freedom = xp.minimum(freedom, 2 * (moving + 1))
    freedom = xp.where(nothing_moves, xp.inf, freedom)
    single: Any = units.single
    inflation = xp.where(single[..., 0], 1.0, inflation)
    freedom = xp.where(single[..., 0], xp.inf, freedom)
    return Support(inflation / xp.where(samples > 0, samples, 1.0), freedom)


def _number_that_moves(xp: Namespace, share: Array, off: Array) -> Array:
    """Return how many equal influences would have the same kurtosis."""
    size = xp.max(xp.abs(off), axis=-1, keepdims=True)
    square = (off / xp.where(size > 0, size, 1.0)) ** 2  # fourth powers may vanish in float32
    second, fourth = (xp.sum(share * column, axis=-1) for column in (square, square**2))
    return xp.where(second > 0, divide(xp, second**2, fourth), 0.0)


def effective_number(xp: Namespace, weight: Array, drawn: Design) -> Array:
    """Return the number of equally weighted units that are worth as much, (..., 1)."""
    if drawn.frequency and drawn.groups is None:
        return xp.sum(weight, axis=-1, keepdims=True)
    units = units_of(xp, weight, drawn._replace(strata=None, frequency=False))
    return effective_number_of(xp, weight, units)


def effective_number_of(xp: Namespace, weight: Array, units: Units) -> Array:
    """Return the same for units that are known, and for some of their weight: one class of it."""
    # In units of a power of two, which changes no digit: squares of weights may not be finite.
    weight = weight / power_of_two(xp, xp.max(weight, axis=-1, keepdims=True))
    total = xp.sum(weight, axis=-1, keepdims=True)
    squares = units.share * _of_units(xp, weight, units) ** 2
    return divide(xp, total**2, xp.sum(squares, axis=-1, keepdims=True))


def units_of(xp: Namespace, weight: Array, drawn: Design) -> Units:
    """Find out which samples are drawn together."""
    present = xp.astype(weight > 0, weight.dtype)
    if drawn.groups is None:
        share = weight if drawn.frequency else present
        return Units(None, weight, share, None, None, drawn.strata)
    places = ordering(xp, drawn.groups)
    relative = divide(xp, weight, xp.max(weight, axis=-1, keepdims=True))
    members, times, held = (
        ranked(xp, places, take(xp, column, places.order))
        for column in (present, weight if drawn.frequency else present, relative)
    )
    count = members.through - members.below
    share = xp.where(members.value > 0, divide(xp, members.value, count), 0.0)
    part = divide(xp, held.through - held.below, held.through[..., -1:])
    most = xp.max(times.through - times.below, axis=-1, keepdims=True)
    strata = None if drawn.strata is None else take(xp, drawn.strata, places.order)
    return Units(places, weight, share, part, most < 1.5, strata)


def _of_units(xp: Namespace, column: Array, units: Units) -> Array:
    """Return what the unit of each sample has of a column."""
    if units.places is not None:
        sums = ranked(xp, units.places, take(xp, column, units.places.order))
        return sums.through - sums.below
    if units.share is not units.weight:
        return column
    # Weights are frequencies: each sample is several units.
    return xp.where(units.weight > 0, divide(xp, column, units.weight), 0.0)


def _numbered(xp: Namespace, codes: Array, score: Array) -> Array:
    """Number codes from 0 on, as floats: large ones are too far apart for floats to tell them."""
    floats = widest_float(xp, score)
    if xp is NUMPY:  # numbered already
        return xp.astype(codes, floats)
    order = xp.argsort(codes, axis=-1, stable=True)
    placed = take(xp, codes, order)
    begins = xp.concat(
        [placed[..., :1] != placed[..., :1], placed[..., 1:] != placed[..., :-1]], axis=-1
    )
    return scattered(xp, running_sum(xp, xp.astype(begins, floats))[..., 1:], order)
