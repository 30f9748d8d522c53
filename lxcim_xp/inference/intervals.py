"""From sorted samples to an estimate, its standard error, and the bounds of an interval."""

from statistics import NormalDist
from typing import Any, NamedTuple

from lxcim_xp._array import CACHED, Array, Namespace, divide, is_numpy, widest_float
from lxcim_xp._descent import Descent, all_summed, summed, totals
from lxcim_xp._influence import (
    KERNELS,
    Influence,
    Kernel,
    sorted_weight,
    sum_of_squares,
    values,
)
from lxcim_xp._margins import Samples, in_rows, signed_margins, weights
from lxcim_xp._normal import quantile, upper_tail
from lxcim_xp._ranks import Ranked, in_input_order
from lxcim_xp._resample import bootstrap_draws
from lxcim_xp._variance import (
    Design,
    are_independent,
    correction,
    effective_number,
    in_order,
    spread,
    variance,
)
from lxcim_xp.decision import absolute


class Estimated(NamedTuple):
    """A metric with its standard error, and what both were made of."""

    value: Array  # (..., 1)
    error: Array  # (...)
    descent: Descent
    influence: Influence


def sorted_for(
    xp: Namespace, kernel: Kernel, samples: Samples, drawn: Design, *, sums_only: bool = False
) -> Descent:
    """Sort samples; who is where is only asked for clusters and strata."""
    placed = drawn.groups is not None or drawn.strata is not None
    streamed = sums_only and kernel.streams and are_independent(drawn)
    return kernel.sort(xp, samples, placed=placed, streamed=streamed)


def estimated(
    xp: Namespace, kernel: Kernel, samples: Samples, drawn: Design, *, sums_only: bool = True
) -> Estimated:
    """Return the estimate and its standard error, from sums only if nobody asks for more."""
    descent = sorted_for(xp, kernel, samples, drawn, sums_only=sums_only)
    value = kernel.estimate(xp, descent)
    influence = kernel.influence(xp, descent, value)
    error = xp.sqrt(_variance(xp, influence, samples, descent, drawn))
    return Estimated(value, error, descent, influence)


def placed_influence(xp: Namespace, kernel: Kernel, samples: Samples) -> tuple[Array, Array]:
    """Return the estimate, (...), and the influence of each sample in the order of the input."""
    rows = in_rows(samples) if is_numpy(xp) and samples.score.shape[-1] >= CACHED else None
    if rows is not None:  # one after the other, each of them in the cache
        influence = xp.empty(samples.score.shape, dtype=widest_float(xp, samples.score))
        estimates = []
        for row, one in enumerate(rows):
            estimate, influence[row, :] = placed_influence(xp, kernel, one)
            estimates.append(estimate)
        return xp.stack(estimates), influence
    descent = kernel.sort(xp, samples, placed=True)
    estimate = kernel.estimate(xp, descent)
    influence = values(xp, kernel.influence(xp, descent, estimate))
    return estimate[..., 0], in_input_order(xp, descent.places, influence)


def _variance(
    xp: Namespace, influence: Influence, samples: Samples, descent: Descent, drawn: Design
) -> Array:
    if are_independent(drawn):
        return sum_of_squares(xp, influence) * correction(xp, _count(xp, samples, descent))
    weight = true_weight(samples, sorted_weight(descent))
    drawn = in_order(xp, drawn, descent.places.order)
    return variance(xp, values(xp, influence), weight, drawn).value


def _count(xp: Namespace, samples: Samples, descent: Descent) -> Array:
    """Return how many samples count."""
    if samples.weight is None:
        return totals(descent)[1][..., 0]
    everyone = descent.columns[1]
    return xp.sum(xp.astype(everyone.value > 0, everyone.value.dtype), axis=-1)


def true_weight(samples: Samples, weight: Array) -> Array:
    """Undo the scaling of the weights, which only frequencies feel."""
    return weight if samples.largest_weight is None else weight * samples.largest_weight


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
    # In halves, where exp cannot overflow.
    low, high = (0.5 + 0.5 * xp.tanh((odds + step) / 2) for step in (-width, width))
    return xp.where(inside, low, estimate), xp.where(inside, high, estimate)


def _quantile_of(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def estimated_twice(
    xp: Namespace, metric: str, samples: Samples, drawn: Design
) -> tuple[Estimated, tuple[Array, Array]]:
    """Return the estimate with its standard error, and both after adding one observation.

    The observation knows nothing: it is half right and half wrong (for AUROC half positive and half
    negative), spread over the observed confidences. Its own part in the variance is that of one
    observation drawn from there.
    """
    kernel = KERNELS[metric]
    if kernel.steadied is None:
        found = estimated(xp, kernel, samples, drawn)
        share = _share(xp, samples, found.descent, drawn)
        return found, _steadied_by_rows(xp, metric, samples, drawn, share)
    descent = sorted_for(xp, kernel, samples, drawn, sums_only=True)
    value = kernel.estimate(xp, descent)
    influence = kernel.influence(xp, descent, value)
    steady = kernel.steadied(xp, descent, value, _share(xp, samples, descent, drawn))
    if are_independent(drawn):  # in one go over the samples

        def squares(*columns: Ranked) -> tuple[Array, ...]:
            before, after, own = steady.formula(*columns)
            return before**2, after**2, own

        *both, own = all_summed(xp, squares, descent)
        factor = correction(xp, _count(xp, samples, descent))
        before, after = (factor * part for part in both)
    else:
        own = summed(xp, lambda *columns: steady.formula(*columns)[2], descent)
        moved = Influence(lambda *columns: steady.formula(*columns)[1], descent)
        before, after = (
            _variance(xp, part, samples, descent, drawn) for part in (influence, moved)
        )
    found = Estimated(value, xp.sqrt(before), descent, influence)
    return found, (steady.estimate[..., 0], xp.sqrt(after + own))


def _share(xp: Namespace, samples: Samples, descent: Descent, drawn: Design) -> Array:
    """Return the weight of one observation among as many as are worth all, (..., 1)."""
    if samples.weight is None and drawn.groups is None:
        number = totals(descent)[1]
    else:
        placed = in_order(xp, drawn, descent.places.order)
        number = effective_number(xp, true_weight(samples, sorted_weight(descent)), placed)
    return 1 / xp.where(number > 0, number, 1.0)


def _steadied_by_rows(
    xp: Namespace, metric: str, samples: Samples, drawn: Design, share: Array
) -> tuple[Array, Array]:
    """Return the same for any metric, with the observation as rows of their own: another sort."""
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
    descent = kernel.sort(xp, samples, placed=True)
    estimate = kernel.estimate(xp, descent)
    value = values(xp, kernel.influence(xp, descent, estimate))
    weight = sorted_weight(descent)
    order = descent.places.order
    n = pseudo.shape[-1]
    is_real = xp.astype(order < n, weight.dtype)
    # A draw from the pseudo-observation has all of its weight.
    whole = xp.sum(pseudo, axis=-1, keepdims=True)
    own = xp.where(is_real * weight == 0, value**2 * whole / xp.where(weight > 0, weight, 1.0), 0.0)
    real = _for_copies(xp, drawn, order, n)
    real_part = variance(xp, value * is_real, true_weight(samples, weight * is_real), real)
    return estimate[..., 0], xp.sqrt(real_part.value + xp.sum(own, axis=-1))


def _for_copies(xp: Namespace, drawn: Design, order: Array, n: int) -> Design:
    """Bring codes into the order of samples joined with two copies, which are not drawn."""
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
    """Return percentiles of resamples, corrected for bias and skewness where asked."""
    if samples.score.ndim != 1:
        raise ValueError(
            f"method={method!r} takes one list of samples; found y_score of shape "
            f"{tuple(samples.score.shape)}. Call it for each entry, or map it with jax.vmap."
        )
    if drawn.strata is not None or drawn.frequency:
        raise ValueError(
            f"method={method!r} draws samples or clusters; it knows neither strata nor frequency "
            f"weights. Pass method='logit+', or repeat the samples."
        )
    descent = found.descent
    drawn = in_order(xp, drawn, descent.places.order)
    bayes = method == "bayes"
    draws = bootstrap_draws(xp, kernel, descent, drawn.groups, n_resamples, seed, bayes, iter)
    shares = [xp.full_like(draws[0], (1 - level) / 2), xp.full_like(draws[0], (1 + level) / 2)]
    if method == "bca":
        weight = true_weight(samples, sorted_weight(descent))
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
