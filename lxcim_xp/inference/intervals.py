"""From sorted samples to an estimate, its standard error, and the bounds of an interval."""

from statistics import NormalDist
from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import NUMPY, widest_float
from lxcim_xp._arrays.numpy_pieces import CACHED
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.distributions import quantile, upper_tail
from lxcim_xp._numerics.ordering import Ranked, in_input_order
from lxcim_xp._samples.by_confidence import Descent, Summable, all_summed, summed, totals
from lxcim_xp._samples.decisions import absolute
from lxcim_xp._samples.samples import Samples, in_rows, signed_margins, weights
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
    are_independent,
    beyond_rounding,
    correction,
    effective_number,
    in_order,
    spread,
    variance,
)

METHODS = ("logit+", "logit", "wald", "bootstrap", "bca", "bayes")


class Estimated(NamedTuple):
    """A metric with its standard error, and what both were made of."""

    value: Array  # (..., 1)
    error: Array  # (...)
    descent: Any  # as in Influence
    influence: Influence


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
    if method == "logit+":
        plain, steady = estimated_twice(xp, metric, samples, drawn)
        (low, high), (lower, higher) = (logit_bounds(xp, *each, level) for each in (plain, steady))
        low, high, (estimate, error) = xp.minimum(low, lower), xp.maximum(high, higher), plain
    else:
        kernel, sums_only = KERNELS[metric], method in ("wald", "logit")
        found = estimated(xp, kernel, samples, drawn, sums_only=sums_only)
        estimate, error = found.value[..., 0], found.error
        if method == "wald":
            low, high = wald_bounds(estimate, error, level)
        elif method == "logit":
            low, high = logit_bounds(xp, estimate, error, level)
        else:
            low, high = resampled_bounds(
                xp, kernel, found, samples, drawn, level, method, n_resamples, seed
            )
    one = xp.ones_like(estimate)
    low, high = xp.maximum(low, 0 * one), xp.minimum(high, one)
    # One sample, or one cluster, says nothing about the spread, and no width is no certainty.
    seen = ~xp.isnan(error) & (low < high)
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
    descent = sort(xp, kernel, samples, drawn)
    value = kernel.estimate(xp, descent)
    influence = kernel.influence(xp, descent, value)
    error = xp.sqrt(_variance(xp, influence, samples, descent, drawn))
    return Estimated(value, error, descent, influence)


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


def _variance(
    xp: Namespace, influence: Influence, samples: Samples, descent: Any, drawn: Design
) -> Array:
    if are_independent(drawn):
        return _of_samples(xp, samples, descent, sum_of_squares(xp, influence))[0]
    weight = true_weight(samples, sorted_weight(descent))
    drawn = in_order(xp, drawn, descent.places.order)
    return variance(xp, values(xp, influence), weight, drawn).value


def _of_samples(
    xp: Namespace, samples: Samples, descent: Any, *sums_of_squares: Array
) -> list[Array]:
    """Return the variance of independent samples for each sum of squared influences."""
    factor = correction(xp, _count(xp, samples, descent))
    found = [squares * factor for squares in sums_of_squares]
    if samples.weight is None:  # sums without weights are exact
        return found
    return [beyond_rounding(xp, value, samples.weight) for value in found]


def _count(xp: Namespace, samples: Samples, descent: Any) -> Array:
    """Return how many samples count."""
    if samples.weight is None:
        return totals(descent)[1][..., 0]
    everyone = descent.columns[1]
    return xp.sum(xp.astype(everyone.value > 0, everyone.value.dtype), axis=-1)


def true_weight(samples: Samples, weight: Array) -> Array:
    """Undo the scaling of the weights, which makes a difference to frequencies only."""
    return weight if samples.weight_unit is None else weight * samples.weight_unit


def wald_bounds(estimate: Array, error: Array, level: float) -> tuple[Array, Array]:
    """Return bounds that are symmetric around the estimate."""
    width = _quantile_of(level) * error
    return estimate - width, estimate + width


def logit_bounds(xp: Namespace, estimate: Array, error: Array, level: float) -> tuple[Array, Array]:
    """Return bounds that are symmetric in the log-odds; the estimate itself at 0 and 1."""
    inside = (estimate > 0) & (estimate < 1)
    safe = xp.where(inside, estimate, 0.5)
    odds = xp.log(safe) - xp.log1p(-safe)
    width = _quantile_of(level) * error / (safe * (1 - safe))
    # By tanh, which cannot overflow as exp would.
    low, high = (0.5 + 0.5 * xp.tanh((odds + step) / 2) for step in (-width, width))
    return xp.where(inside, low, estimate), xp.where(inside, high, estimate)


def _quantile_of(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def estimated_twice(
    xp: Namespace, metric: str, samples: Samples, drawn: Design
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the estimate with its standard error, and both after adding one observation.

    The observation knows nothing: it is half right and half wrong (for AUROC half positive and half
    negative), spread over the observed confidences. What it adds to the variance is the variance of
    one observation drawn from there.
    """
    kernel = KERNELS[metric]
    if kernel.steadied is None:
        found = estimated(xp, kernel, samples, drawn)
        share = _share(xp, samples, found.descent, drawn)
        added = _steadied_by_rows(xp, metric, samples, drawn, share)
        return (found.value[..., 0], found.error), added
    descent = summable_for(xp, kernel, samples, drawn)
    value = kernel.estimate(xp, descent)
    steady = kernel.steadied(xp, descent, value, _share(xp, samples, descent, drawn))
    if are_independent(drawn):  # in one go over the samples

        def squares(*columns: Ranked) -> tuple[Array, ...]:
            before, after, own = steady.formula(*columns)
            return before**2, after**2, own

        *both, own = all_summed(xp, squares, descent)
        before, after = _of_samples(xp, samples, descent, *both)
    else:
        own = summed(xp, lambda *columns: steady.formula(*columns)[2], descent)
        influence = kernel.influence(xp, descent, value)
        moved = Influence(lambda *columns: steady.formula(*columns)[1], descent)
        before, after = (
            _variance(xp, part, samples, descent, drawn) for part in (influence, moved)
        )
    return (value[..., 0], xp.sqrt(before)), (steady.estimate[..., 0], xp.sqrt(after + own))


def _share(xp: Namespace, samples: Samples, descent: Any, drawn: Design) -> Array:
    """Return the share of one observation in the effective number of them, (..., 1)."""
    if samples.weight is None and drawn.groups is None:
        number = totals(descent)[1]
    else:
        placed = in_order(xp, drawn, descent.places.order)
        number = effective_number(xp, true_weight(samples, sorted_weight(descent)), placed)
    return 1 / xp.where(number > 0, number, 1.0)


def _steadied_by_rows(
    xp: Namespace, metric: str, samples: Samples, drawn: Design, share: Array
) -> tuple[Array, Array]:
    """Return the same for any metric, by a second sort that holds the observation as samples."""
    kernel, weight = KERNELS[metric], weights(xp, samples)
    pseudo = weight * share
    ones = xp.ones_like(samples.label)
    if metric == "auroc":
        score, nothing = samples.score, 0 * ones
        joined = [samples.score, score, score], [samples.label, ones, nothing]
    else:
        margin = signed_margins(xp, samples).value
        joined = [margin, xp.abs(margin), -xp.abs(margin)], [ones, ones, ones]
    score, label = (xp.concat(parts, axis=-1) for parts in joined)
    everyone = xp.concat([weight, pseudo / 2, pseudo / 2], axis=-1)
    samples = samples._replace(score=score, label=label, weight=everyone, decision=absolute())
    descent = kernel.sort.with_order(xp, samples)
    estimate = kernel.estimate(xp, descent)
    value = values(xp, kernel.influence(xp, descent, estimate))
    weight = sorted_weight(descent)
    order = descent.places.order
    n = pseudo.shape[-1]
    is_real = xp.astype(order < n, weight.dtype)
    # Whatever is drawn from the pseudo-observation has all of its weight.
    whole = xp.sum(pseudo, axis=-1, keepdims=True)
    own = xp.where(is_real * weight == 0, value**2 * whole / xp.where(weight > 0, weight, 1.0), 0.0)
    real = _for_copies(xp, drawn, order, n)
    real_part = variance(xp, value * is_real, true_weight(samples, weight * is_real), real)
    return estimate[..., 0], xp.sqrt(real_part.value + xp.sum(own, axis=-1))


def _for_copies(xp: Namespace, drawn: Design, order: Array, n: int) -> Design:
    """Bring codes into the order of samples that were joined with two copies of themselves.

    The copies have the codes of their originals, and no weight in the variance.
    """
    return in_order(xp, drawn, order % n)


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
        weight = true_weight(samples, sorted_weight(descent))
        drawn = in_order(xp, drawn, descent.places.order)
        rows = spread(xp, values(xp, found.influence), weight, drawn).rows
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
    """Return a quantile of sorted values, linear between them."""
    last = ordered.shape[-1] - 1
    place = share * last
    below = xp.astype(xp.floor(place), xp.int32)
    below = xp.where(below < last, below, last)
    above = xp.where(below < last, below + 1, below)
    low, high = ordered[below], ordered[above]
    return low + (place - xp.astype(below, place.dtype)) * (high - low)
