"""Smooth forms of accuracy, AUROC and AUDRC, and cross-entropy, each with its derivatives.

They are called as the means over pairs of :mod:`lxcim_xp.soft.pair_means` are.
"""

from typing import Any

from lxcim_xp._arrays.autodiff import Derived
from lxcim_xp._arrays.primitives import divide, scattered, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.laplace_sums import (
    Sums,
    decay,
    distribution,
    inverse,
    kernel_sums,
    slope_by_temperature,
)
from lxcim_xp._numerics.ordering import order_of
from lxcim_xp._samples.by_confidence import or_one
from lxcim_xp.soft.pair_means import Variables, chance_of_error, softplus


def soft_accuracy(xp: Namespace, at: Variables) -> Derived:
    """Return the mean of F(m / temperature)."""
    margin, temperature = at.position, at.temperature
    credit = distribution(xp, margin, temperature)
    slope = decay(xp, xp.where(margin > 0, margin, -margin), temperature) / 2
    return _mean(xp, at, credit, slope, slope)


def cross_entropy(xp: Namespace, at: Variables) -> Derived:
    """Return the mean of log(1 + exp(-m / temperature))."""
    t = at.position * inverse(xp, at.temperature)
    error = chance_of_error(xp, t)
    return _mean(xp, at, softplus(xp, t), -error, error * (1 - error))


def _mean(xp: Namespace, at: Variables, loss: Array, slope: Array, bend: Array) -> Derived:
    """Return the weighted mean of a function of m / temperature, and its derivatives."""
    margin, weight = at.position, at.weight
    total = xp.sum(weight, axis=-1, keepdims=True)
    value = divide(xp, xp.sum(weight * loss, axis=-1, keepdims=True), total)
    share = divide(xp, weight, total)
    per_temperature = inverse(xp, at.temperature)

    def gradient() -> tuple[Array, Array | None, Array]:
        by_margin = share * slope * per_temperature
        by_weight = None if at.uniform else divide(xp, loss - value, total)
        by_temperature = slope_by_temperature(xp, margin, by_margin, at.temperature)
        return by_margin, by_weight, by_temperature

    return Derived(value[..., 0], gradient, lambda: share * bend * per_temperature**2)


def soft_auroc(xp: Namespace, at: Variables) -> Derived:
    """Return the mean of F((s_i - s_j) / temperature) over positives i and negatives j."""
    order, temperature = order_of(xp, at.position), at.temperature
    score, positive = (take(xp, x, order) for x in (at.position, at.is_positive))
    weight = at.weight if at.uniform else take(xp, at.weight, order)
    high = weight * positive
    low = weight - high
    highs, lows = (xp.sum(x, axis=-1, keepdims=True) for x in (high, low))
    of_high, of_low = kernel_sums(xp, score, temperature, high, low)
    beaten = divide(xp, of_low.below, lows)
    value = divide(xp, xp.sum(high * beaten, axis=-1, keepdims=True), highs)

    def gradient() -> tuple[Array | None, ...]:
        per_temperature = inverse(xp, temperature)
        pairs = divide(xp, per_temperature, 2 * highs * lows)
        by_score = (high * of_low.near - low * of_high.near) * pairs
        by_temperature = slope_by_temperature(xp, score, by_score, temperature)
        beaten_by = divide(xp, highs - of_high.below, highs)
        as_high, as_low = divide(xp, beaten - value, highs), divide(xp, beaten_by - value, lows)
        by_share = scattered(xp, weight * (as_high - as_low), order)
        by_weight = None
        if not at.uniform:
            by_weight = scattered(xp, positive * as_high + (1 - positive) * as_low, order)
        return scattered(xp, by_score, order), by_weight, by_temperature, by_share

    return Derived(value[..., 0], gradient)


def soft_audrc(xp: Namespace, at: Variables) -> Derived:
    """Return the mean, over the samples, of the soft accuracy of what is decided up to each.

    Ranks are soft too, from the most confident down. The weight that is decided up to a sample is
    what lies before it and half of its own; the right weight among it is counted likewise.
    """
    order, temperature = order_of(xp, -xp.abs(at.position)), at.temperature
    margin = take(xp, at.position, order)
    weight = at.weight if at.uniform else take(xp, at.weight, order)
    right = margin >= 0
    place = xp.where(right, -margin, margin)  # ascending from the most confident
    credit = as_positive = distribution(xp, margin, temperature)
    lean: Any = 1.0
    if at.is_positive is not None:  # with shares of votes, positions are signed confidences
        share = take(xp, at.is_positive, order)
        credit, lean = share * as_positive + (1 - share) * (1 - as_positive), 2 * share - 1
    gained = weight * credit
    everyone, winners = kernel_sums(xp, place, temperature, weight, gained)
    done = or_one(xp, everyone.below + weight / 2)
    won = winners.below + gained / 2
    total = xp.sum(weight, axis=-1, keepdims=True)
    accuracy = won / done
    part = divide(xp, weight, total)
    value = xp.sum(part * accuracy, axis=-1, keepdims=True)

    def gradient() -> tuple[Array | None, ...]:
        per_temperature = inverse(xp, temperature)
        by_won = part / done
        by_done = -by_won * accuracy
        of_won, of_done = kernel_sums(xp, place, temperature, by_won, by_done)
        # The transpose of "below" is all minus "below"; "near" is its own transpose.
        by_gained = xp.sum(by_won, axis=-1, keepdims=True) - of_won.below + by_won / 2
        by_place = (
            _crossed(by_done, everyone, weight, of_done) + _crossed(by_won, winners, gained, of_won)
        ) * (per_temperature / 2)
        steep = decay(xp, -place, temperature) / 2 * per_temperature
        by_credit = by_gained * weight * steep * lean
        towards = xp.where(right, -by_place, by_place)
        if at.is_positive is not None:  # where the sides meet, each counts with its votes
            towards = xp.where(margin == 0, lean * towards, towards)
        by_margin = by_credit + towards
        by_temperature = slope_by_temperature(xp, margin, by_margin, temperature)
        by_weight = None
        if not at.uniform:
            by_weight = xp.sum(by_done, axis=-1, keepdims=True) - of_done.below + by_done / 2
            by_weight = by_weight + by_gained * credit + divide(xp, accuracy - value, total)
            by_weight = scattered(xp, by_weight, order)
        by_share: tuple[Array, ...] = ()
        if at.is_positive is not None:
            by_share = (scattered(xp, by_gained * weight * (2 * as_positive - 1), order),)
        return scattered(xp, by_margin, order), by_weight, by_temperature, *by_share

    return Derived(value[..., 0], gradient)


def _crossed(cotangent: Array, sums: Sums, column: Array, of_cotangent: Sums) -> Array:
    """Return how sums move with each sample's place: its own sum, less those it is a term of."""
    return cotangent * sums.near - column * of_cotangent.near
