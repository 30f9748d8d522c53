"""From sorted samples to an estimate, its standard error, and the bounds of an interval."""

from statistics import NormalDist
from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import NUMPY, widest_float
from lxcim_xp._arrays.numpy_pieces import CACHED
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.distributions import quantile, t_quantile, upper_tail
from lxcim_xp._numerics.ordering import Ranked, in_input_order
from lxcim_xp._samples.by_confidence import (
    Descent,
    Summable,
    all_summed,
    or_one,
    summed,
    totals,
)
from lxcim_xp._samples.samples import Samples, in_rows
from lxcim_xp.inference.influence import (
    KERNELS,
    Influence,
    Kernel,
    sorted_weight,
    sum_of_squares,
    values,
)
from lxcim_xp.inference.resampling import bootstrap_draws, refuse_batch
from lxcim_xp.inference.sampling_design import (
    Design,
    Units,
    are_independent,
    correction,
    effective_number,
    effective_number_of,
    in_order,
    rounding,
    spread,
    spread_of,
    support,
    units_of,
    variance_of,
)

# AUROC compares two classes, and its error is known as well as the smaller one allows. Student's t
# with so many degrees of freedom more than it has members covers, see docs/compare.md.
_BEYOND_CLASS = 4

METHODS = ("logit+", "logit", "wald", "bootstrap", "bca", "bayes")


class Estimated(NamedTuple):
    """A metric with its standard error, and what both were made of."""

    value: Array  # (..., 1)
    error: Array  # (...)
    descent: Any  # as in Influence
    influence: Influence
    clustered: "Clustered | None"  # None for independent samples


class Clustered(NamedTuple):
    """Influences in sorted order, and the units whose spread they have."""

    influence: Array
    units: Units
    drawn: Design  # in sorted order


class Steadier(NamedTuple):
    """What an interval needs beside an estimate and its standard error."""

    share: Array  # of the observations to add in all weight, (..., 1)
    degrees_of_freedom: Array | None  # (...); None: the quantiles are normal


class Bounded(NamedTuple):
    """A metric between its bounds, and its standard error; each has one value per batch entry."""

    estimate: Array
    low: Array
    high: Array
    error: Array


def bounded(
    xp: Namespace,
    metric: str,
    samples: Samples,
    drawn: Design,
    level: float,
    method: str,
    n_resamples: int,
    seed: Any,
) -> Bounded:
    """Return the estimate, and its bounds by one of the methods."""
    kernel = KERNELS[metric]
    resampled = method in ("bootstrap", "bca", "bayes")
    if method == "logit+":
        plain, steady, freedom = estimated_twice(xp, kernel, samples, drawn)
        width = _quantile_of(xp, level, plain[0], freedom)
        (low, high), (lower, higher) = (logit_bounds(xp, *each, width) for each in (plain, steady))
        low, high, (estimate, error) = xp.minimum(low, lower), xp.maximum(high, higher), plain
        spread_is_seen = steady[1] > 0
    else:
        found = estimated(xp, kernel, samples, drawn, sums_only=not resampled)
        estimate, error = found.value[..., 0], found.error
        spread_is_seen = error > 0
    if resampled:
        low, high = resampled_bounds(
            xp, kernel, found, samples, drawn, level, method, n_resamples, seed
        )
        # Sums of resampled weights are rounded.
        spread_is_seen = spread_is_seen & (high - low > 64 * xp.finfo(low.dtype).eps)
    elif method != "logit+":
        freedom = steadier_of(xp, kernel, samples, found).degrees_of_freedom
        width = _quantile_of(xp, level, estimate, freedom)
        if method == "wald":
            low, high = wald_bounds(estimate, error, width)
        else:
            low, high = logit_bounds(xp, estimate, error, width)
    one = xp.ones_like(estimate)
    low, high = xp.maximum(low, 0 * one), xp.minimum(high, one)
    # One sample, or one cluster, says nothing about the spread, and no width is no certainty.
    seen = ~xp.isnan(error) & spread_is_seen & (low < high)
    low, high = (xp.where(seen, bound, xp.full_like(bound, xp.nan)) for bound in (low, high))
    return Bounded(estimate, low, high, error)


def sorted_for(xp: Namespace, kernel: Kernel, samples: Samples, drawn: Design) -> Descent:
    """Sort samples; only clusters and strata need to know which sample is where."""
    clustered = drawn.groups is not None or drawn.strata is not None
    sort = kernel.sort.with_order if clustered else kernel.sort.columns
    return sort(xp, samples)


def summable_for(xp: Namespace, kernel: Kernel, samples: Samples, drawn: Design) -> Summable:
    """Sort samples; independent ones need sums only, which are quicker to get."""
    if are_independent(drawn):
        return kernel.sort.sums(xp, samples)
    return sorted_for(xp, kernel, samples, drawn)


def estimated(
    xp: Namespace, kernel: Kernel, samples: Samples, drawn: Design, *, sums_only: bool = True
) -> Estimated:
    """Return the estimate and its standard error; resampling needs more than sums."""
    sort = summable_for if sums_only else sorted_for
    descent: Any = sort(xp, kernel, samples, drawn)
    value = kernel.estimate(xp, descent)
    influence = kernel.influence(xp, descent, value)
    if are_independent(drawn):
        numbers = _numbers(xp, samples, descent)
        squares = _of_samples(xp, samples, numbers, sum_of_squares(xp, influence))[0]
        return Estimated(value, xp.sqrt(squares), descent, influence, None)
    drawn = in_order(xp, drawn, descent.places.order)
    units = units_of(xp, true_weight(samples, sorted_weight(descent)), drawn)
    clustered = Clustered(values(xp, influence), units, drawn)
    error = xp.sqrt(variance_of(xp, clustered.influence, units))
    return Estimated(value, error, descent, influence, clustered)


def placed_influence(xp: Namespace, kernel: Kernel, samples: Samples) -> tuple[Array, Array]:
    """Return the estimate, (...), and the influence of each sample in the order of the input."""
    rows = in_rows(samples) if xp is NUMPY and samples.score.shape[-1] >= CACHED else None
    if rows is not None:  # one after the other, each of them in the cache
        influence = xp.empty(samples.score.shape, dtype=widest_float(xp, samples.score))
        estimates = []
        for row, one in enumerate(rows):
            estimate, influence[row, :] = placed_influence(xp, kernel, one)
            estimates.append(estimate)
        return xp.stack(estimates), influence
    descent = kernel.sort.with_order(xp, samples)
    estimate = kernel.estimate(xp, descent)
    influence = values(xp, kernel.influence(xp, descent, estimate))
    return estimate[..., 0], in_input_order(xp, descent.places, influence)


class _Numbers(NamedTuple):
    """How many independent samples there are; each has one value for each batch entry."""

    samples: Array  # that count
    effective: Array  # equally weighted ones that are worth as much


def _numbers(xp: Namespace, samples: Samples, descent: Any) -> _Numbers:
    if samples.weight is None:
        total = totals(descent)[1][..., 0]
        return _Numbers(total, total)

    def sums(right: Ranked, everyone: Ranked) -> tuple[Array, ...]:
        weight = everyone.value
        return weight, weight**2, xp.astype(weight > 0, weight.dtype)

    weight, squares, present = all_summed(xp, sums, descent)
    return _Numbers(present, _effective(xp, weight, squares))


def _effective(xp: Namespace, weight: Array, squares: Array) -> Array:
    """Return a number of samples from sums; squares of weights may vanish, it is at least one."""
    return xp.where(squares > 0, divide(xp, weight**2, squares), 1.0)


def _sums_of_classes(one: Ranked, other: Ranked) -> tuple[Array, ...]:
    return one.value, one.value**2, other.value, other.value**2


def _freedom_of_classes(xp: Namespace, *sums: Array) -> Array:
    """Return the degrees of freedom that two classes of independent samples leave."""
    return xp.minimum(_effective(xp, *sums[:2]), _effective(xp, *sums[2:])) + _BEYOND_CLASS


def _of_samples(
    xp: Namespace, samples: Samples, numbers: _Numbers, *sums_of_squares: Array
) -> list[Array]:
    """Return the variance of independent samples for each sum of squared influences."""
    found = [squares * correction(xp, numbers.samples) for squares in sums_of_squares]
    if samples.weight is None:  # sums without weights are exact
        return found
    least = rounding(xp, 1 / numbers.effective)
    return [xp.where(value <= least, 0.0, value) for value in found]


def _of_observation(xp: Namespace, own: Array, share: Array) -> Array:
    """Return what the observations add to the variance; nothing where rounding is all of it.

    That is where no sample is decided: right and wrong halves of an observation are then alike.
    """
    return xp.where(own <= rounding(xp, share[..., 0] ** 2), 0.0, own)


def true_weight(samples: Samples, weight: Array) -> Array:
    """Undo the scaling of the weights, which makes a difference to frequencies only."""
    return weight if samples.weight_unit is None else weight * samples.weight_unit


def wald_bounds(estimate: Array, error: Array, quantile: Array | float) -> tuple[Array, Array]:
    """Return bounds that are symmetric around the estimate."""
    width = quantile * error
    return estimate - width, estimate + width


def logit_bounds(
    xp: Namespace, estimate: Array, error: Array, quantile: Array | float
) -> tuple[Array, Array]:
    """Return bounds that are symmetric in the log-odds; the estimate itself at 0 and 1."""
    inside = (estimate > 0) & (estimate < 1)
    safe = xp.where(inside, estimate, 0.5)
    odds = xp.log(safe) - xp.log1p(-safe)
    width = quantile * error / (safe * (1 - safe))
    # By tanh, which cannot overflow as exp would.
    low, high = (0.5 + 0.5 * xp.tanh((odds + step) / 2) for step in (-width, width))
    return xp.where(inside, low, estimate), xp.where(inside, high, estimate)


def _quantile_of(xp: Namespace, level: float, like: Array, freedom: Array | None) -> Array | float:
    """Return how many standard errors an interval reaches to each side."""
    if freedom is None:
        return NormalDist().inv_cdf((1 + level) / 2)
    # Of the upper tail, whose digits a level near one does not lose.
    return -t_quantile(xp, xp.full_like(like, (1 - level) / 2), freedom)


def estimated_twice(
    xp: Namespace, kernel: Kernel, samples: Samples, drawn: Design
) -> tuple[tuple[Array, Array], tuple[Array, Array], Array | None]:
    """Return the estimate with its standard error, both after adding an observation, and d.o.f.

    The observation knows nothing: it is half right and half wrong (for AUROC half positive and half
    negative), spread over the observed confidences. What it adds to the variance is the variance of
    one observation drawn from there.
    """
    if are_independent(drawn):  # in one go over the samples
        descent = summable_for(xp, kernel, samples, drawn)
        value = kernel.estimate(xp, descent)
        numbers = _numbers(xp, samples, descent)
        share = _share_of_samples(xp, kernel, numbers)
        steady = kernel.steadied(xp, descent, value, share)

        def squares(*columns: Any) -> tuple[Array, ...]:
            before, after, own = steady.formula(*columns)
            of_classes = _sums_of_classes(*columns) if kernel.has_classes else ()
            return before**2, after**2, own, *of_classes

        before, after, own, *of_classes = all_summed(xp, squares, steady.descent)
        before, after = _of_samples(xp, samples, numbers, before, after)
        after = after + _of_observation(xp, own, share)
        return (
            (value[..., 0], xp.sqrt(before)),
            (steady.estimate[..., 0], xp.sqrt(after)),
            _freedom_of_classes(xp, *of_classes) if of_classes else None,
        )
    found = estimated(xp, kernel, samples, drawn)
    share, freedom = steadier_of(xp, kernel, samples, found)
    steady = kernel.steadied(xp, found.descent, found.value, share)
    clustered: Any = found.clustered
    own = summed(xp, lambda *columns: steady.formula(*columns)[2], steady.descent)
    moved = Influence(lambda *columns: steady.formula(*columns)[1], steady.descent)
    after = variance_of(xp, values(xp, moved), clustered.units)
    after = after + _of_observation(xp, own, share)
    plain = found.value[..., 0], found.error
    return plain, (steady.estimate[..., 0], xp.sqrt(after)), freedom


def steadier_of(xp: Namespace, kernel: Kernel, samples: Samples, found: Estimated) -> Steadier:
    """Return how much is to be added to an estimate, and the degrees of freedom of its error."""
    if found.clustered is None:
        share = _share_of_samples(xp, kernel, _numbers(xp, samples, found.descent))
        if not kernel.has_classes:
            return Steadier(share, None)
        sums = all_summed(xp, _sums_of_classes, found.influence.descent)
        return Steadier(share, _freedom_of_classes(xp, *sums))
    influence, units, drawn = found.clustered
    right, everyone = found.descent.columns
    freedom = None
    if drawn.groups is None:
        share = 1 / or_one(xp, effective_number(xp, units.weight, drawn))
    else:
        wrong = xp.sum(everyone.value - right.value, axis=-1)  # no difference of sums
        nothing_moves = (xp.sum(right.value, axis=-1) == 0) | (wrong == 0)
        share, freedom = support(xp, influence, units, drawn, nothing_moves)
        share = share[..., None]
    if kernel.has_classes:
        classes = (
            true_weight(samples, weight) for weight in (right.value, everyone.value - right.value)
        )
        members = [effective_number_of(xp, weight, units)[..., 0] for weight in classes]
        by_class = xp.minimum(*members) + _BEYOND_CLASS
        freedom = by_class if freedom is None else xp.minimum(freedom, by_class)
    return Steadier(kernel.added * share, freedom)


def _share_of_samples(xp: Namespace, kernel: Kernel, numbers: _Numbers) -> Array:
    """Return what is to be added to an estimate of independent samples, (..., 1)."""
    return kernel.added / or_one(xp, numbers.effective)[..., None]


def resampled_bounds(
    xp: Namespace,
    kernel: Kernel,
    found: Estimated,
    samples: Samples,
    drawn: Design,
    level: float,
    method: str,
    n_resamples: int,
    seed: Any,
) -> tuple[Array, Array]:
    """Return percentiles of resamples; "bca" corrects them for bias and skewness."""
    refuse_batch(f"method={method!r}", samples)
    if drawn.strata is not None or drawn.frequency:
        raise ValueError(
            f"method={method!r} draws samples or clusters; it knows neither strata nor frequency "
            f"weights. Pass method='logit+', or repeat the samples."
        )
    descent = found.descent
    draws = bootstrap_draws(xp, kernel, descent, drawn, n_resamples, seed, bayes=method == "bayes")
    shares = [xp.full_like(draws[0], (1 - level) / 2), xp.full_like(draws[0], (1 + level) / 2)]
    if method == "bca":
        if found.clustered is None:
            weight = true_weight(samples, sorted_weight(descent))
            rows = spread(xp, values(xp, found.influence), weight, drawn).rows
        else:
            rows = spread_of(xp, found.clustered.influence, found.clustered.units).rows
        shares = _corrected(xp, shares, draws, found.value[0], rows)
    draws = xp.sort(draws)
    low, high = (_quantile(xp, draws, share) for share in shares)
    return low, high


def _corrected(
    xp: Namespace, shares: list[Array], draws: Array, estimate: Array, rows: Array
) -> list[Array]:
    """Correct percentiles for bias and skewness (Efron 1987)."""
    below = xp.astype(draws < estimate, draws.dtype) + 0.5 * xp.astype(
        draws == estimate, draws.dtype
    )
    bias = quantile(xp, xp.mean(below))
    skewness = divide(xp, xp.sum(rows**3), 6 * xp.sum(rows**2) ** 1.5)
    corrected = []
    for share in shares:
        shifted = bias + quantile(xp, share)
        corrected.append(upper_tail(xp, -(bias + shifted / (1 - skewness * shifted))))
    return corrected


def _quantile(xp: Namespace, ordered: Array, share: Array) -> Array:
    """Return a quantile of sorted values, linear between them; NaN for a share that is none."""
    last, known = ordered.shape[-1] - 1, ~xp.isnan(share)
    place = xp.where(known, share, 0.0) * last
    below = xp.astype(xp.floor(place), xp.int32)
    below = xp.where(below < last, below, last)
    above = xp.where(below < last, below + 1, below)
    low, high = ordered[below], ordered[above]
    found = low + (place - xp.astype(below, place.dtype)) * (high - low)
    return xp.where(known, found, xp.nan)
