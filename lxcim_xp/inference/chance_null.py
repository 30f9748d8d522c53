"""How LxCIM is distributed if each decision is right by a chance of its own.

Under this null W^2 LxCIM is a sum of independent coins that are not fair: the coin of a sample is
worth w (2L + T) and comes up right with its chance, 1/K for one answer out of K. Credits between 0
and 1 (ties at the top) count in what was observed, and are whole coins under the null.
"""

from typing import Any

from lxcim_xp._arrays.loops import compiled_once, repeat
from lxcim_xp._arrays.namespaces import as_array, device_of, namespace, values_are_at_hand
from lxcim_xp._arrays.primitives import first_position, move_axis, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.distributions import density, upper_tail
from lxcim_xp._numerics.ordering import ordering, ranked
from lxcim_xp._samples.errors import BadValue
from lxcim_xp._samples.samples import Samples, credit, signed_confidence, weights
from lxcim_xp.inference.coin_null import EXACT, SADDLEPOINT
from lxcim_xp.inference.null_distributions import (
    Tails,
    common_span,
    known,
    on_lattice,
    probability,
    sinh_over,
    subset_sums,
)

# So many coins of any worth are enumerated, with all their probabilities.
_MOST_ENUMERATED = 16

_NEWTON_STEPS = 40
_FARTHEST = 1e6  # a saddlepoint in standard deviations, where all but the lightest coins are right


def chance_tails(
    xp: Namespace, samples: Samples, chance: Any, axis: int, *, uniform: bool, exact_up_to: int
) -> tuple[Tails, str]:
    """Return the tails of LxCIM if each decision is right by its chance, and how they were found.

    ``uniform`` says that all weights are known to be 0 or 1, for samples that give a confidence.
    """
    signed, weight = signed_confidence(xp, samples), weights(xp, samples)
    p = _checked(xp, samples, chance, weight, axis)
    places = ordering(xp, signed)
    summed = ranked(xp, places, take(xp, weight, places.order))
    score = summed.value * (summed.below + summed.through)
    earned, p = (take(xp, x, places.order) for x in (credit(xp, samples, signed), p))
    observed = xp.sum(earned * score, axis=-1)
    observed = xp.where(summed.through[..., -1] > 0, observed, xp.nan)
    # What is right in any case is no coin.
    certain = p == 1
    observed = observed - xp.sum(xp.where(certain, score, 0.0), axis=-1)
    score, p = xp.where(certain, 0.0, score), xp.where(certain, 0.5, p)
    observed = xp.where(xp.isnan(xp.sum(p, axis=-1)), xp.nan, observed)
    n = score.shape[-1]
    if uniform and n <= exact_up_to:
        return Tails(*compiled_once(xp, _tails_by_table, score, p, observed)), EXACT
    if n <= _MOST_ENUMERATED:
        return Tails(*compiled_once(xp, _tails_of_outcomes, score, p, observed)), EXACT
    span = common_span(xp, score) if uniform else xp.zeros_like(observed)
    return Tails(*compiled_once(xp, _saddlepoint_tails, score, p, observed, span)), SADDLEPOINT


def _checked(xp: Namespace, samples: Samples, chance: Any, weight: Array, axis: int) -> Array:
    """Return the chance of each sample; bad ones are an error, or NaN."""
    score = samples.score
    namespace(y_score=score, chance=chance)
    p = xp.astype(as_array(xp, chance, score), weight.dtype)
    if samples.empty:
        return xp.full_like(weight, 0.5)
    if p.ndim > 1 and axis not in (-1, p.ndim - 1):
        p = move_axis(xp, p, axis, -1)
    try:
        p = xp.broadcast_to(p, score.shape)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"chance must have one value for each sample; found shape {tuple(p.shape)} for "
            f"samples of shape {tuple(score.shape)}."
        ) from error
    bad = ~((p > 0) & (p <= 1)) & (weight > 0)
    if values_are_at_hand(xp):
        position = first_position(bad)
        if position is not None:
            raise BadValue(
                "chance",
                "must be above 0 and at most 1; found {value:g} {place}",
                "Leave out with {where:=} what nothing can get right.",
                position=position,
                value=p[position],
            )
    return xp.where(bad, xp.nan, xp.where(weight > 0, p, 0.5))


def _tails_by_table(xp: Namespace, scores: Array, p: Array, observed: Array) -> tuple[Array, Array]:
    """Return exact tails for whole scores that sum to n^2 at most."""
    scores, observed, unknown = known(xp, scores, observed)
    *batch, n = scores.shape
    place = xp.arange(n * n + 1, device=device_of(xp, scores))
    place = xp.broadcast_to(xp.reshape(place, (1,) * len(batch) + (-1,)), (*batch, n * n + 1))
    shifts = xp.astype(scores, place.dtype)

    def toss(k: Any, table: Array) -> Array:
        source = place - shifts[..., k][..., None]
        is_there = source >= 0
        shifted = xp.where(is_there, take(xp, table, xp.where(is_there, source, 0)), 0.0)
        right = p[..., k][..., None]
        return (1 - right) * table + right * shifted

    table = repeat(xp, n, toss, xp.astype(place == 0, scores.dtype))
    return _summed(xp, xp.astype(place, scores.dtype), table, scores, observed, unknown)


def _tails_of_outcomes(
    xp: Namespace, scores: Array, p: Array, observed: Array
) -> tuple[Array, Array]:
    """Return exact tails of a few coins of any worth."""
    scores, observed, unknown = known(xp, scores, observed)
    table = xp.ones_like(scores[..., :1])
    for k in range(scores.shape[-1]):  # in the order of subset_sums
        right = p[..., k : k + 1]
        table = xp.concat([(1 - right) * table, right * table], axis=-1)
    return _summed(xp, subset_sums(xp, scores), table, scores, observed, unknown)


def _summed(
    xp: Namespace, value: Array, table: Array, scores: Array, observed: Array, unknown: Array
) -> tuple[Array, Array]:
    """Sum up the probabilities of either side; both hold what differs by rounding only."""
    rounding = (scores.shape[-1] + 4) * xp.finfo(scores.dtype).eps * xp.sum(scores, axis=-1)
    low, high = (observed - rounding)[..., None], (observed + rounding)[..., None]
    lower = xp.sum(xp.where(value <= high, table, 0.0), axis=-1)
    upper = xp.sum(xp.where(value >= low, table, 0.0), axis=-1)
    return probability(xp, lower, unknown), probability(xp, upper, unknown)


def _saddlepoint_tails(
    xp: Namespace, scores: Array, p: Array, observed: Array, span: Array
) -> tuple[Array, Array]:
    """Return tails by the formula of Lugannani and Rice, on the multiples of a span, if any."""
    scores, observed, unknown = known(xp, scores, observed)
    p = xp.where(unknown[..., None], 0.5, p)
    at_least, at_most = on_lattice(xp, observed, span)
    total = xp.sum(scores, axis=-1)
    odds = xp.log(p) - xp.log1p(-p)
    upper = _upper(xp, scores, p, odds, at_least, span)
    # With all coins turned over, the sum is the total less the sum.
    lower = _upper(xp, scores, 1 - p, -odds, total - at_most, span)
    return probability(xp, lower, unknown), probability(xp, upper, unknown)


def _upper(xp: Namespace, scores: Array, p: Array, odds: Array, at: Array, span: Array) -> Array:
    """Return P(S >= at), where ``odds`` are the logarithms of p / (1 - p).

    In units of its standard deviation S has the cumulant function K(t) = sum log(1 - p + p e^(bt)).
    With K'(t) = d, where d is half a span before ``at``, w = sign(t) sqrt(2 (t d - K)) and
    u = 2 sinh(span t / 2) / span sqrt(K''), the tail is 1 - Phi(w) + phi(w) (1 / u - 1 / w).
    """
    eps = xp.finfo(scores.dtype).eps
    total = xp.sum(scores, axis=-1)
    rounding = scores.shape[-1] * eps * total
    all_right, any_sum = at >= total - rounding, at <= rounding
    unit = xp.sqrt(xp.sum(p * (1 - p) * scores * scores, axis=-1))
    unit = xp.where(unit > 0, unit, 1.0)
    b, span = scores / unit[..., None], span / unit
    d = at / unit - xp.sum(p * b, axis=-1) - span / 2
    d = xp.where(all_right | any_sum, 0.0, d)
    t = _saddlepoint(xp, b, p, odds, d)
    slope, curvature = _derivatives(xp, b, p, odds, t)
    deviance = _deviance(xp, b * t[..., None], p, odds) + t * (d - slope)
    deviance = xp.where(deviance > 0, deviance, 0.0)
    root = xp.sqrt(2 * deviance)
    w = xp.where(t < 0, -root, root)
    u = t * sinh_over(xp, xp.abs(span * t / 2)) * xp.sqrt(curvature)
    # Near the mean 1/u - 1/w loses its digits: take the first terms of its series.
    near = (xp.abs(t) < eps**0.25) | (u == 0) | (w == 0)
    skewness = xp.sum(p * (1 - p) * (1 - 2 * p) * b**3, axis=-1)
    inverses = xp.where(
        near,
        -skewness / 6 - t * span * span / 24,
        1 / xp.where(near, 1.0, u) - 1 / xp.where(near, 1.0, w),
    )
    tail = upper_tail(xp, w) + density(xp, w) * inverses
    # Far from the mean the tail is below Chernoff's bound, and all right is its least.
    bound = xp.where(t > 0, xp.exp(-deviance - t * span / 2), 1.0)
    least = xp.exp(xp.sum(xp.where(scores > 0, xp.log(p), 0.0), axis=-1))
    tail = xp.where(tail > bound, bound, xp.where(tail < least, least, tail))
    tail = xp.where(all_right, xp.where(at > total + rounding, 0.0, least), tail)
    return xp.where(any_sum, 1.0, tail)


def _saddlepoint(xp: Namespace, b: Array, p: Array, odds: Array, d: Array) -> Array:
    """Solve K'(t) = d by Newton's method inside a bracket, which else is halved on a log scale."""
    farthest = xp.full_like(d, _FARTHEST)

    def approach(_: Any, bracket: Array) -> Array:
        low, high, t = bracket[0, ...], bracket[1, ...], bracket[2, ...]
        slope, curvature = _derivatives(xp, b, p, odds, t)
        low, high = xp.where(slope <= d, t, low), xp.where(slope >= d, t, high)
        newton = t + (d - slope) / xp.where(curvature > 0, curvature, 1.0)
        within = (newton >= low) & (newton <= high) & (curvature > 0)
        return xp.stack([low, high, xp.where(within, newton, _between(xp, low, high))])

    bracket = xp.stack([-farthest, farthest, 0 * d])
    if not values_are_at_hand(xp):
        return repeat(xp, _NEWTON_STEPS, approach, bracket)[2, ...]
    precision = 4 * xp.finfo(d.dtype).eps  # most of the steps are almost never needed
    for _ in range(_NEWTON_STEPS):
        before, bracket = bracket[2, ...], approach(0, bracket)
        if (abs(bracket[2, ...] - before) <= precision * abs(before)).all():
            break
    return bracket[2, ...]


def _between(xp: Namespace, low: Array, high: Array) -> Array:
    return xp.sinh((xp.asinh(low) + xp.asinh(high)) / 2)


def _derivatives(xp: Namespace, b: Array, p: Array, odds: Array, t: Array) -> tuple[Array, Array]:
    """Return K'(t) less the mean, and K''(t)."""
    x = odds + b * t[..., None]
    small = xp.exp(-xp.abs(x))
    right = xp.where(x >= 0, 1.0, small) / (1 + small)
    spread = small / (1 + small) ** 2
    return xp.sum(b * (right - p), axis=-1), xp.sum(b * b * spread, axis=-1)


def _deviance(xp: Namespace, a: Array, p: Array, odds: Array) -> Array:
    """Return t K'(t) - K(t), where a = b t; all its terms are positive."""
    spread = p * (1 - p)
    series = spread * a * a * (0.5 + a * ((1 - 2 * p) / 3 + a * (1 - 6 * spread) / 8))
    term = a * _logistic(xp, odds + a) - _softplus(xp, odds + a) + _softplus(xp, odds)
    return xp.sum(xp.where(xp.abs(a) < xp.finfo(a.dtype).eps ** 0.2, series, term), axis=-1)


def _logistic(xp: Namespace, x: Array) -> Array:
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1.0, small) / (1 + small)


def _softplus(xp: Namespace, x: Array) -> Array:
    return xp.where(x > 0, x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))
