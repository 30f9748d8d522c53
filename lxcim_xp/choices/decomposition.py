"""What the order of the answers costs, step by step: the waterfall of a judge.

Asked once about each pair, in random order, a judge has a metric that depends on 2^N orders. Its
expectation has a closed form. In

    LxCIM = (1 / W^2) sum_ij w_i w_j D(i, j),

D(i, j) is the credit of the more confident one of two decisions, and the mean of both where they
tie. Let M be all 2N calls, each with the weight of its pair. Two calls on different pairs meet in a
random order with probability 1/4, and in LxCIM(M) with a weight of 1/4. A pair meets itself in one
of two calls, (c_1 + c_2) / 2; in LxCIM(M) it has (c_1 + c_2 + 2 D(1, 2)) / 4. D(1, 2) is the credit
of the opinion, c_s: the more confident call decides the sign of f(a, b) - f(b, a). So

    E LxCIM = LxCIM(M) + sum_i w_i^2 (c_1 + c_2 - 2 c_s) / (4 W^2).

Credit is 1, 1/2 or 0, or a share of votes. The influence of a pair is the sum of those of its two
calls in LxCIM(M), and of the derivative of the second term by the weight.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias, get_args

from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._arrays.primitives import divide, power_of_two, take
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Namespace
from lxcim_xp._numerics.distributions import t_quantile
from lxcim_xp._numerics.ordering import ordering, ranked
from lxcim_xp._samples.checks import check_level
from lxcim_xp._samples.clusters import cluster_codes
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import finish_all, positive_share, weights
from lxcim_xp.choices.answers import collect_answers
from lxcim_xp.decision import confidence
from lxcim_xp.inference import design, influence, variance
from lxcim_xp.metrics import lxcim

StepMetric: TypeAlias = Literal["lxcim", "accuracy"]

_METRICS = get_args(StepMetric)

# Which part of the digits of a float, in bits, centred scores keep.
_KEPT = 0.77


class Gain(NamedTuple):
    """What a step of :func:`order_decomposition` gains.

    Parameters
    ----------
    difference : array
        The metric after the step, less that before it.
    standard_error : array
        Of the difference, on the same pairs.
    low, high : array
        A confidence interval of the difference.

    Examples
    --------
    >>> from lxcim_xp.choices import order_decomposition
    >>> order_decomposition(1, [2.0, 1.0], [-2.0, 0.5]).total.difference
    np.float64(0.125)
    """

    difference: Array
    standard_error: Array
    low: Array
    high: Array


class OrderDecomposition(NamedTuple):
    """The waterfall of a judge, as :func:`order_decomposition` returns it.

    Parameters
    ----------
    once : array
        The metric that is to be expected of one call for each pair, in random order.
    centred : array
        The same after the mean order effect is taken off the scores.
    both : array
        The metric of the opinions, for which each pair takes two calls.
    centring : Gain
        ``centred`` less ``once``: what can be had without a second call.
    second_call : Gain
        ``both`` less ``centred``: what the second call adds to that.
    total : Gain
        ``both`` less ``once``.

    Examples
    --------
    >>> from lxcim_xp.choices import order_decomposition
    >>> order_decomposition(1, [2.0, 1.0], [-2.0, 0.5])[:3]
    (np.float64(0.875), np.float64(0.875), np.float64(1.0))
    """

    once: Array
    centred: Array
    both: Array
    centring: Gain
    second_call: Gain
    total: Gain


class _Value(NamedTuple):
    estimate: Array  # (...)
    influence: Array  # (..., n)


class _Pairs(NamedTuple):
    share: Array  # of the votes for A
    opinion: Array
    part: Array  # of all weight
    weight: Array | None


@moves_constants
def order_decomposition(
    y_true: ArrayLike,
    first: ArrayLike,
    swapped: ArrayLike,
    *,
    metric: StepMetric = "lxcim",
    level: float = 0.95,
    groups: GroupsLike | None = None,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> OrderDecomposition:
    """Return what the order of the answers costs, and what a second call is worth.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or one such label
        Whether A is the better answer, or the share of votes for A. A is what stands first in
        ``first``.
    first : array
        The score of the judge for A over B in the call where A stood first, f(a, b).
    swapped : array
        Its score in the other call, f(b, a), for whatever stood first there, which was B. The shape
        is that of ``first``.
    metric : {"lxcim", "accuracy"}, default "lxcim"
        The metric.
    level : float, default 0.95
        The coverage of intervals, between 0 and 1.
    groups : array, optional
        The cluster of each pair, when only clusters are independent (questions with several
        pairs each, for example): any labels with NumPy, integers elsewhere.
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    threshold : float or array, default 0.0
        The score at which neither answer is preferred. If it is left out and all scores of NumPy
        arrays lie in [0, 1], a warning asks whether they are probabilities: pass
        ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    axis : int, default -1
        The axis of the pairs, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the pair out, or count that call as
        undecided. A NaN label is an error unless it is left out. Where values cannot be inspected
        (any library but NumPy), the result is NaN instead of an error.

    Returns
    -------
    OrderDecomposition
        The metric after each of three steps, and the differences with standard errors and
        intervals. One value for each batch entry; NaN where it is undefined or the input is bad.

    See Also
    --------
    order_effect : Whether there is an order effect.
    both_orders : The opinions of the last step.

    Notes
    -----
    The first step is the mean over all 2^N orders in which each pair could be asked once. With h =
    1, 1/2, 0 for a margin above, at and below zero, truth-signed margins m and M all 2N of them, it
    is LxCIM(M) + sum [h(m1) + h(m2) - 2 h(m1 + m2)] / (4 N^2). Weights are w^2 in the sum and W^2
    for N^2; shares of votes take the place of h.

    The second step takes the mean order effect off each score. That needs no second call: the mean
    score of calls in random order has the same expectation, because the order is a coin's. Where
    the effect varies from pair to pair, what varies stays.

    Intervals are Student's on the differences of the influences, pair by pair or cluster by
    cluster, so that what the steps have in common cancels. Their degrees of freedom are at most 2
    (k + 1) where k pairs (or clusters) make the difference. That the mean order effect is estimated
    is in them: by how much the second step moves if it is one standard error larger or smaller. A
    standard error of zero is no certainty: the interval then allows for the share 1 - ((1 - level)
    / 2)^(1 / n) of pairs (or clusters) that may be unlike the n that were seen.

    Examples
    --------
    A judge that likes the first place better by 1, whatever stands there:

    >>> from lxcim_xp.choices import order_decomposition
    >>> first = [3.0, 1.5, 1.25, 0.5, 2.0, 0.5]
    >>> swapped = [-1.0, 0.5, 0.75, 1.5, 0.0, 1.5]
    >>> steps = order_decomposition([1, 1, 1, 0, 1, 1], first, swapped)
    >>> steps.once.round(3), steps.centred.round(3), steps.both.round(3)
    (np.float64(0.729), np.float64(0.861), np.float64(0.861))
    """
    check_level(level)
    if metric not in _METRICS:
        raise ValueError(f"metric must be one of {_METRICS}; found {metric!r}.")
    xp, answers = collect_answers(
        first,
        swapped,
        y_true=y_true,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    samples, opinion, weight = answers.samples, answers.opinion, weights(xp, answers.samples)
    codes = None if groups is None else cluster_codes(xp, groups, opinion, weight, axis)
    drawn = design(xp, codes, None, "importance", opinion, weight, -1)
    part = divide(xp, weight, xp.sum(weight, axis=-1, keepdims=True))
    pairs = _Pairs(positive_share(xp, samples), opinion, part, samples.weight)

    mean = xp.sum(part * answers.effect, axis=-1, keepdims=True)
    known = xp.isfinite(mean)
    mean = xp.where(known, mean, 0.0)
    off = xp.where(known, answers.effect, 0.0) - mean
    mean_moves = part * off
    error = xp.sqrt(variance(xp, mean_moves, weight, drawn).value)[..., None]
    error = xp.where(error > 0, error, 0.0)
    steps = [
        (answers.first, answers.swapped),
        _shifted(xp, opinion, off),
        (opinion, -opinion),  # asked once, it makes no difference in which order
        *(_shifted(xp, opinion, off + by) for by in (-error, error)),
    ]
    estimates, moves = _asked_once(xp, pairs, steps, metric)
    # The metric has jumps as a function of the mean order effect. So what it moves by is looked up
    # where the mean is likely to be: one standard error to both sides.
    slope = (estimates[3] - estimates[4])[..., None] / xp.where(error > 0, 2 * error, 1.0)
    once, both = _Value(estimates[0], moves[0]), _Value(estimates[2], moves[2])
    estimate = xp.where(known[..., 0], estimates[1], xp.nan)
    centred = _Value(estimate, moves[1] + slope * mean_moves)

    gains = []
    for after, before in ((centred, once), (both, centred), (both, once)):
        difference = after.estimate - before.estimate
        apart = after.influence - before.influence
        spread = variance(xp, apart, weight, drawn)
        effective = divide(xp, xp.ones_like(difference), xp.sum(part**2, axis=-1))
        moving = _number_that_moves(xp, apart, codes)
        low, high = _bounds(xp, difference, *spread, effective, moving, level)
        found = (difference, xp.sqrt(spread.value), low, high)
        gains.append(Gain(*finish_all(xp, samples, *found)))
    values = finish_all(xp, samples, once.estimate, centred.estimate, both.estimate)
    return OrderDecomposition(values[0], values[1], values[2], *gains)


def _asked_once(
    xp: Namespace, pairs: _Pairs, steps: list[tuple[Array, Array]], metric: str
) -> tuple[list[Array], list[Array]]:
    """Return the expectation over random orders after each step, in closed form.

    The influences on it come for the first three steps only. All steps together take one sort.
    """
    first, swapped = (xp.stack(calls) for calls in zip(*steps, strict=True))
    share, opinion, part = (xp.broadcast_to(x[None, ...], first.shape) for x in pairs[:3])

    def credit(signed: Array) -> Array:
        """Return the share of votes that decisions for A, or against it, agree with."""
        return xp.where(signed > 0, share, xp.where(signed < 0, 1 - share, 0.5))

    one, other = credit(first), credit(-swapped)
    if metric == "accuracy":
        earned = (one + other) / 2
        value = xp.sum(part * earned, axis=-1, keepdims=True)
        moves = part * (earned - value)
        return _each(value[..., 0]), _each(moves)
    earned = xp.concat([one, other], axis=-1)
    sure = xp.concat([xp.abs(first), xp.abs(swapped)], axis=-1)
    weight = pairs.weight
    if weight is not None:
        weight = xp.broadcast_to(xp.concat([weight, weight], axis=-1)[None, ...], earned.shape)
    value = lxcim(earned, sure, sample_weight=weight, decision=confidence())
    moves = influence(
        earned[:3, ...],
        sure[:3, ...],
        sample_weight=None if weight is None else weight[:3, ...],
        decision=confidence(),
    )
    n = first.shape[-1]
    itself = part**2 * (one + other - 2 * credit(opinion)) / 4
    itself = xp.where(first == -swapped, 0.0, itself)
    total = xp.sum(itself, axis=-1, keepdims=True)
    moves = moves[..., :n] + moves[..., n:] + 2 * (itself - part * total)[:3, ...]
    return _each(value + total[..., 0]), _each(moves)


def _each(rows: Array) -> list[Array]:
    return [rows[at, ...] for at in range(rows.shape[0])]


def _shifted(xp: Namespace, opinion: Array, off: Array) -> tuple[Array, Array]:
    """Return both scores with other order effects.

    Ties must not depend on the last digits of the mean order effect, which the order of the pairs
    decides: so these scores do not keep theirs.
    """
    finite = xp.where(xp.isfinite(opinion), xp.abs(opinion), 0.0) + xp.abs(off)
    size = power_of_two(xp, xp.max(finite, axis=-1, keepdims=True))
    unit = size * 2.0 ** math.floor(math.log2(xp.finfo(off.dtype).eps) * _KEPT)
    first, swapped = (xp.round((side * opinion + off) / unit) * unit for side in (1, -1))
    return first, swapped


def _number_that_moves(xp: Namespace, moves: Array, codes: Array | None) -> Array:
    """Return how many equal influences, of pairs or clusters, would have the same kurtosis."""
    share = xp.ones_like(moves)
    if codes is not None:
        places = ordering(xp, codes)
        sums, members = (
            ranked(xp, places, take(xp, column, places.order)) for column in (moves, share)
        )
        moves, share = sums.through - sums.below, 1 / (members.through - members.below)
    size = xp.max(xp.abs(moves), axis=-1, keepdims=True)
    square = (moves / xp.where(size > 0, size, 1.0)) ** 2  # fourth powers may vanish in float32
    second, fourth = (xp.sum(share * column, axis=-1) for column in (square, square**2))
    return xp.where(second > 0, divide(xp, second**2, fourth), 0.0)


def _bounds(
    xp: Namespace,
    difference: Array,
    spread: Array,
    freedom: Array,
    effective: Array,
    moving: Array,
    level: float,
) -> tuple[Array, Array]:
    """Return Student's interval, or what so many units that agree leave open."""
    half = xp.full_like(difference, (1 - level) / 2)
    varies, few = spread > 0, 2 * (moving + 1)
    few = xp.where(few < freedom, few, freedom)
    reach = -t_quantile(xp, half, few) * xp.sqrt(xp.where(varies, spread, 0.0))
    units = xp.where(freedom + 1 < effective, freedom + 1, effective)
    unlike = 1 - xp.exp(xp.log(half) / units)
    reach = xp.where(varies, reach, unlike)
    reach = xp.where(xp.isnan(spread), xp.nan, reach)
    low, high = difference - reach, difference + reach
    return xp.where(low < -1, -1.0, low), xp.where(high > 1, 1.0, high)
