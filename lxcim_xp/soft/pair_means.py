"""Means over all pairs of samples of a function of the sum of their margins, with derivatives.

LxCIM is the mean of H(m_i + m_j), the step from wrong to right (Walsh averages). Here the step is a
smooth function phi of t = (m_i + m_j) / temperature. One sort of the confidences gives, for each
sample, the sums of phi and of its derivatives over all partners; the mean and all its derivatives
follow from these in the same way for every phi (:func:`mean_over_pairs`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from lxcim_xp._arrays.autodiff import Derived
from lxcim_xp._arrays.loops import repeat
from lxcim_xp._arrays.namespaces import device_of
from lxcim_xp._arrays.primitives import divide, running_sum, scattered, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.laplace_sums import (
    decay,
    distribution,
    inverse,
    kernel_sums,
    slope_by_temperature,
)
from lxcim_xp._numerics.ordering import in_input_order, order_of, ordering, rank_by

_CHUNK = 256  # partners at a time, where all pairs are visited


class Variables(NamedTuple):
    """What a soft quantity is a function of, with the samples on the last axis."""

    position: Array  # (..., n), margins or scores
    weight: Array  # (..., n)
    temperature: Array  # (..., 1), in units of the positions
    # (..., n), the share of votes for the positive side, beside scores; margins need no labels.
    is_positive: Any = None
    uniform: bool = False  # all weights are one: they need neither sorting nor derivatives
    whole: Array | None = None  # (..., n), the weight of the sample that this is a half of, if any


class PairSums(NamedTuple):
    """Sums of phi over the partners of each sample, and phi of the pair with itself."""

    loss: Array  # sum_j w_j phi(t_ij)
    slope: Array  # sum_j w_j phi'(t_ij)
    bend: Array  # sum_j w_j phi''(t_ij); of a phi that is not convex, of |phi''|
    own: Callable[[], tuple[Array, Array, Array]]  # phi, phi' and phi'' of t_ii; seldom needed
    bend_at_zero: float


class Sorted(NamedTuple):
    """Samples in ascending order of confidence, and their sums over the Laplace kernel."""

    order: Array  # the sample at each place
    at: Variables  # in that order
    confidence: Array
    right: Array  # bool; undecided samples, whose two halves are alike, count as right
    won: Array  # sum_j w_j F((m_i + m_j) / temperature)
    near: Array  # sum_j w_j exp(-|m_i + m_j| / temperature)


def by_confidence(xp: Namespace, at: Variables) -> Sorted:
    """Sort the samples, and sum the kernel over the sums of their margins.

    Two margins of one sign have a sum of |m_i| + |m_j|, and the kernel of it is a product. Margins
    of opposite signs have a difference of confidences for a sum, so that n places suffice.
    """
    order, temperature = order_of(xp, xp.abs(at.position)), at.temperature
    margin = take(xp, at.position, order)
    weight = at.weight if at.uniform else take(xp, at.weight, order)
    right = margin >= 0
    confidence = xp.where(right, margin, -margin)  # not abs(), whose derivative at zero is zero
    of_right = xp.where(right, weight, xp.zeros_like(weight))
    of_wrong = weight - of_right
    rights, wrongs = kernel_sums(xp, confidence, temperature, of_right, of_wrong)
    fading = decay(xp, confidence, temperature)
    with_rights = fading * xp.sum(of_right * fading, axis=-1, keepdims=True)
    with_wrongs = fading * xp.sum(of_wrong * fading, axis=-1, keepdims=True)
    total = xp.sum(of_right, axis=-1, keepdims=True)
    won = xp.where(
        right,
        total - with_rights / 2 + wrongs.below,
        total - rights.below + with_wrongs / 2,
    )
    near = xp.where(right, wrongs.near + with_rights, rights.near + with_wrongs)
    whole = None if at.whole is None else take(xp, at.whole, order)
    at = at._replace(position=margin, weight=weight, whole=whole)
    return Sorted(order, at, confidence, right, won, near)


def over_labels(
    function: Callable[[Namespace, Variables], Derived],
) -> Callable[[Namespace, Variables], Derived]:
    """Return a function of margins as one of signed confidences and shares of votes.

    Each sample stands there twice, once with each label, which has its share of the weight.
    """

    def expected(xp: Namespace, at: Variables) -> Derived:
        share, n = at.is_positive, at.position.shape[-1]

        def joined(first: Array, second: Array) -> Array:
            return xp.concat([first, second], axis=-1)

        found = function(
            xp,
            Variables(
                joined(at.position, -at.position),
                joined(at.weight * share, at.weight * (1 - share)),
                at.temperature,
                whole=joined(at.weight, at.weight),
            ),
        )

        def gradient() -> tuple[Array | None, ...]:
            by_margin, by_weight, by_temperature, *_ = found.gradient()
            assert by_margin is not None  # none of the two is uniform, whatever the samples are
            assert by_weight is not None
            by_position = by_margin[..., :n] - by_margin[..., n:]
            of_weight = None
            if not at.uniform:
                of_weight = share * by_weight[..., :n] + (1 - share) * by_weight[..., n:]
            return by_position, of_weight, by_temperature, by_share(by_weight)

        def by_share(by_weight: Array) -> Array:
            return at.weight * (by_weight[..., :n] - by_weight[..., n:])

        def curvature() -> Array:
            assert found.curvature is not None
            bend = found.curvature()
            return bend[..., :n] + bend[..., n:]

        return Derived(found.value, gradient, None if found.curvature is None else curvature)

    return expected


def mean_over_pairs(
    xp: Namespace,
    sums: PairSums,
    at: Variables,
    order: Array | None = None,
    *,
    unbiased: bool = False,
) -> Derived:
    """Return sum_ij w_i w_j phi(t_ij) / W^2 and its derivatives.

    ``order`` says which sample is at each place of the arrays; None means the order of the input.
    ``unbiased`` leaves out the pairs of a sample with itself.
    """
    margin, weight = at.position, at.weight
    total = xp.sum(weight, axis=-1, keepdims=True)
    pairs, loss, slope, rest = total**2, sums.loss, sums.slope, total
    if unbiased:
        pairs = pairs - xp.sum(weight**2, axis=-1, keepdims=True)
        own_loss, own_slope, _ = sums.own()
        loss, slope = loss - weight * own_loss, slope - weight * own_slope
        rest = total - weight
        if at.whole is not None:  # two halves of a sample have margins m and -m, and phi(0) = 1/2
            loss = loss - (at.whole - weight) / 2
            rest = xp.sum(at.whole, axis=-1, keepdims=True) / 2 - at.whole
            pairs = xp.sum(weight * rest, axis=-1, keepdims=True)
    value = divide(xp, xp.sum(weight * loss, axis=-1, keepdims=True), pairs)
    per_pair = divide(xp, xp.ones_like(pairs), pairs)
    per_temperature = inverse(xp, at.temperature)

    def in_order(x: Array) -> Array:
        return x if order is None else scattered(xp, x, order)

    def gradient() -> tuple[Array, Array | None, Array]:
        by_margin = 2 * weight * slope * (per_temperature * per_pair)
        by_weight = None if at.uniform else in_order(2 * (loss - value * rest) * per_pair)
        by_temperature = slope_by_temperature(xp, margin, by_margin, at.temperature)
        return in_order(by_margin), by_weight, by_temperature

    def curvature() -> Array:
        own_weight = -weight if unbiased else weight
        bend = sums.bend + own_weight * sums.own()[2]
        if at.whole is not None:  # two halves have the sum zero, whatever the score
            bend = bend - (at.whole - weight) * sums.bend_at_zero
        return in_order(2 * weight * bend * (per_temperature**2 * per_pair))

    return Derived(value[..., 0], gradient, curvature)


def soft_lxcim(xp: Namespace, at: Variables, *, unbiased: bool = False) -> Derived:
    """Return LxCIM with the Laplace distribution function F for a step.

    Its curvature has both signs; the bound given for it is that of :func:`laplace_softplus`.
    """
    here = by_confidence(xp, at)

    def own() -> tuple[Array, Array, Array]:
        slope = decay(xp, 2 * here.confidence, at.temperature) / 2
        return distribution(xp, 2 * here.at.position, at.temperature), slope, slope

    sums = PairSums(here.won, here.near / 2, here.near / 2, own, bend_at_zero=0.5)
    return mean_over_pairs(xp, sums, here.at, here.order, unbiased=unbiased)


def laplace_softplus(xp: Namespace, at: Variables) -> Derived:
    """Return the mean of phi(t) = max(-t, 0) + exp(-|t|) / 2, the integral of 1 - F.

    It is convex, strictly decreasing, and never further than 0.2 from log(1 + exp(-t)).
    """
    here = by_confidence(xp, at)
    weight, temperature = here.at.weight, at.temperature
    of_right = xp.where(here.right, weight, xp.zeros_like(weight))
    of_wrong = weight - of_right
    wrong, u = xp.sum(of_wrong, axis=-1, keepdims=True), here.confidence
    # sum_j w_j max(-(m_i + m_j), 0). Two wrong partners cost |m_i| + |m_j|; a right and a wrong one
    # cost what the wrong one is more confident. Running sums of gaps between confidences do not
    # cancel.
    hinge = xp.where(
        here.right,
        xp.flip(_ramp(xp, -xp.flip(u, axis=-1), xp.flip(of_wrong, axis=-1)), axis=-1),
        wrong * u + xp.sum(of_wrong * u, axis=-1, keepdims=True) + _ramp(xp, u, of_right),
    )
    total = xp.sum(weight, axis=-1, keepdims=True)
    per_temperature = inverse(xp, temperature)

    def own() -> tuple[Array, Array, Array]:
        bend = decay(xp, 2 * u, temperature) / 2
        loss = xp.where(here.right, xp.zeros_like(u), 2 * u) * per_temperature + bend
        return loss, distribution(xp, 2 * here.at.position, temperature) - 1, bend

    loss = hinge * per_temperature + here.near / 2
    sums = PairSums(loss, here.won - total, here.near / 2, own, bend_at_zero=0.5)
    return mean_over_pairs(xp, sums, here.at, here.order)


def _ramp(xp: Namespace, x: Array, weight: Array) -> Array:
    """Return sum_j w_j max(x_i - x_j, 0) for positions in ascending order."""
    before = xp.concat([x[..., :1], x[..., :-1]], axis=-1)
    return running_sum(xp, running_sum(xp, weight)[..., :-1] * (x - before))[..., 1:]


def squared_hinge(xp: Namespace, at: Variables, *, target: float) -> Derived:
    """Return the mean of phi(t) = max(target - t, 0) ** 2."""
    x, weight = at.position * inverse(xp, at.temperature), at.weight
    total = xp.sum(weight, axis=-1, keepdims=True)
    # What is needed are moments of the partners below target - x_i. They are taken about the mean,
    # so that less cancels; without any weight there is no mean, and a NaN must not be sorted.
    some = xp.where(total > 0, total, 1.0)
    mean = xp.sum(weight * x, axis=-1, keepdims=True) / some
    centred, reach = x - mean, target - x - mean
    places = ordering(xp, xp.concat([centred, reach], axis=-1))

    def below(column: Array) -> Array:
        both = xp.concat([column, xp.zeros_like(column)], axis=-1)
        sums = in_input_order(xp, places, rank_by(xp, places, both).below)
        return sums[..., x.shape[-1] :]

    zeroth, first, second = (below(weight * centred**power) for power in range(3))

    def own() -> tuple[Array, Array, Array]:
        short = xp.where(target - 2 * x > 0, target - 2 * x, xp.zeros_like(x))
        return short**2, -2 * short, 2 * xp.astype(short > 0, x.dtype)

    sums = PairSums(
        loss=reach**2 * zeroth - 2 * reach * first + second,
        slope=-2 * (reach * zeroth - first),
        bend=2 * zeroth,
        own=own,
        bend_at_zero=2.0 if target > 0 else 0.0,
    )
    return mean_over_pairs(xp, sums, at)


def squared(xp: Namespace, at: Variables, *, target: float) -> Derived:
    """Return the mean of phi(t) = (target - t) ** 2: least squares on another scale."""
    x, weight = at.position * inverse(xp, at.temperature), at.weight
    total, first, second = (xp.sum(weight * x**power, axis=-1, keepdims=True) for power in range(3))
    short = target - x
    sums = PairSums(
        loss=short**2 * total - 2 * short * first + second,
        slope=-2 * (short * total - first),
        bend=2 * total + xp.zeros_like(x),
        own=lambda: ((target - 2 * x) ** 2, -2 * (target - 2 * x), xp.full_like(x, 2.0)),
        bend_at_zero=2.0,
    )
    return mean_over_pairs(xp, sums, at)


def logistic(xp: Namespace, at: Variables) -> Derived:
    """Return the mean of phi(t) = log(1 + exp(-t)), by visiting all pairs."""
    x = at.position * inverse(xp, at.temperature)

    def parts(t: Array) -> tuple[Array, Array, Array]:
        error = chance_of_error(xp, t)
        return softplus(xp, t), -error, error * (1 - error)

    partners = _over_partners(xp, x, at.weight, parts)
    sums = PairSums(*partners, own=lambda: parts(2 * x), bend_at_zero=0.25)
    return mean_over_pairs(xp, sums, at)


def softplus(xp: Namespace, t: Array) -> Array:
    """Return log(1 + exp(-t))."""
    return xp.where(t < 0, -t, xp.zeros_like(t)) + xp.log1p(xp.exp(-xp.abs(t)))


def chance_of_error(xp: Namespace, t: Array) -> Array:
    """Return 1 / (1 + exp(t))."""
    return (1 - xp.tanh(t / 2)) / 2  # smooth at zero, and never too large


def _over_partners(
    xp: Namespace, x: Array, weight: Array, parts: Callable[[Array], tuple[Array, Array, Array]]
) -> tuple[Array, Array, Array]:
    """Return sum_j w_j phi(x_i + x_j) of each part; a few partners at a time bound the memory."""
    n = x.shape[-1]
    first = xp.arange(min(n, _CHUNK), device=device_of(xp, x))

    def add(k: Any, sums: Array) -> Array:
        place = xp.broadcast_to(first + k * _CHUNK, (*x.shape[:-1], first.shape[0]))
        inside = place < n
        place = xp.where(inside, place, 0)
        some = take(xp, weight, place) * xp.astype(inside, weight.dtype)
        values = parts(x[..., :, None] + take(xp, x, place)[..., None, :])
        added = [xp.sum(some[..., None, :] * value, axis=-1) for value in values]
        return sums + xp.stack(added, axis=0)

    sums = repeat(xp, -(-n // _CHUNK), add, xp.stack([xp.zeros_like(x)] * 3, axis=0))
    return sums[0, ...], sums[1, ...], sums[2, ...]


def exponential(xp: Namespace, at: Variables) -> Derived:
    """Return the logarithm of the mean of phi(t) = exp(-t).

    The mean is the square of AdaBoost's loss; its logarithm has the same minima and cannot
    overflow.
    """
    margin, weight, temperature, *_ = at
    per_temperature = inverse(xp, temperature)
    x = -margin * per_temperature
    present = weight > 0
    largest = xp.max(xp.where(present, x, -xp.inf), axis=-1, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    # Only samples that do not count can lie above the largest. They must not overflow there.
    shift = x - largest
    power = xp.exp(xp.where(shift < 50, shift, 50.0))
    term = weight * power
    sum_of_terms = xp.sum(term, axis=-1, keepdims=True)
    total = xp.sum(weight, axis=-1, keepdims=True)
    share = divide(xp, term, sum_of_terms)
    mean = divide(xp, sum_of_terms, total)
    value = 2 * (xp.log(xp.where(mean > 0, mean, 1.0)) + largest)
    value = xp.where(mean > 0, value, xp.full_like(value, xp.nan))

    def gradient() -> tuple[Array, Array | None, Array]:
        by_margin = -2 * share * per_temperature
        by_weight = None
        if not at.uniform:
            per_weight = divide(xp, xp.ones_like(total), total)
            by_weight = 2 * (divide(xp, power, sum_of_terms) - per_weight)
        by_temperature = slope_by_temperature(xp, margin, by_margin, temperature)
        return by_margin, by_weight, by_temperature

    def curvature() -> Array:
        rest = 1 - share
        if at.whole is not None:  # the other half of the sample
            n = share.shape[-1] // 2
            rest = rest + xp.concat([share[..., n:], share[..., :n]], axis=-1)
        return 2 * share * rest * per_temperature**2

    return Derived(value[..., 0], gradient, curvature)
