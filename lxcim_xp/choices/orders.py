"""A judge that was asked in both orders: what it thinks of the answers, and of their places.

Let f(a, b) be the score of a judge for the first of two answers. If only the answers mattered, an
exchange of the two would flip the sign: f(b, a) = -f(a, b). Half the difference of the two scores
is what the judge thinks of the answers, half their sum what it thinks of the first place. ``first``
is f(a, b), where A stood first; ``swapped`` is f(b, a), the score for whatever stood first in the
other call, which was B.

>>> from lxcim_xp.choices import both_orders
>>> first, swapped = [2.0, 1.0, -1.0], [-1.0, 0.5, 3.0]
>>> both_orders(first, swapped).opinion
array([ 1.5 ,  0.25, -2.  ])
>>> both_orders(first, swapped).order_effect
array([0.5 , 0.75, 1.  ])
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._arrays.primitives import divide, move_axis, take
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Namespace
from lxcim_xp._numerics.binomial import lower_tail
from lxcim_xp._numerics.distributions import t_quantile
from lxcim_xp._numerics.ordering import ordering, ranked
from lxcim_xp._samples.checks import check_level
from lxcim_xp._samples.clusters import cluster_codes
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import finish_all, finish_each, finish_points, weights
from lxcim_xp.choices.answers import Answers, collect_answers
from lxcim_xp.curves import cumulative_accuracy_curve
from lxcim_xp.decision import confidence
from lxcim_xp.inference import design, interval, variance

SureOf: TypeAlias = Literal["opinion", "call"]

_SURE_OF = get_args(SureOf)


class BothOrders(NamedTuple):
    """What two calls say together, as :func:`both_orders` returns it.

    Parameters
    ----------
    opinion : array
        Half the difference of the two scores, positive for A: a margin, to be passed on to any
        metric with threshold 0.
    order_effect : array
        Half their sum, positive for the first place.
    consistent : array of bool
        Whether both calls chose the same answer, or neither chose any.

    Examples
    --------
    >>> from lxcim_xp.choices import both_orders
    >>> both_orders([1, 1, 1], [-1, 0, 1]).consistent
    array([ True, False, False])
    """

    opinion: Array
    order_effect: Array
    consistent: Array


class OrderEffect(NamedTuple):
    """How much the order of the answers matters to a judge, as :func:`order_effect` returns it.

    Parameters
    ----------
    mean : array
        The mean order effect, in the unit of the scores: 0 if both places are alike, positive if
        the first one is preferred.
    mean_low, mean_high : array
        Its interval; NaN where the effect is the same in all pairs.
    preference : array
        LxCIM of the order effects, ``lxcim(1, effect)``: 1/2 if none of the places is preferred, 1
        if always the first one is, and 0 if always the second.
    preference_low, preference_high : array
        Its interval.
    flip_rate : array
        The share of the pairs whose two calls chose different answers.
    flip_rate_low, flip_rate_high : array
        Its interval.
    flips : array
        How many pairs that are.
    flips_to_first : array
        In how many of these both calls chose what stood first; in the others, what stood second.
    p_value : array
        Of the exact sign test that flips go to either place alike.

    Examples
    --------
    >>> from lxcim_xp.choices import order_effect
    >>> order_effect([1, 1, 1, 1], [-1, 0, 1, 1]).flips_to_first
    np.float64(2.0)
    """

    mean: Array
    mean_low: Array
    mean_high: Array
    preference: Array
    preference_low: Array
    preference_high: Array
    flip_rate: Array
    flip_rate_low: Array
    flip_rate_high: Array
    flips: Array
    flips_to_first: Array
    p_value: Array


class OrderCurve(NamedTuple):
    """The curve of :func:`order_curve`: n + 1 points on the last axis.

    Parameters
    ----------
    rate : array
        The share of the weight that is decided, from 0 to 1.
    flips : array
        The share of all weight that is decided and flips, from 0 to the flip rate.
    flip_rate : array
        The share of what is decided that flips; at rate 0, its limit.
    confidence : array
        The lowest confidence that is decided; infinite where nothing is.

    Examples
    --------
    >>> from lxcim_xp.choices import order_curve
    >>> order_curve([2.0, 1.0], [-2.0, 0.5]).flip_rate
    array([0. , 0. , 0.5])
    """

    rate: Array
    flips: Array
    flip_rate: Array
    confidence: Array


@moves_constants
def both_orders(
    first: ArrayLike,
    swapped: ArrayLike,
    *,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> BothOrders:
    """Return what a judge thinks of the answers, and of the places that they stood in.

    Parameters
    ----------
    first : array
        The score of the judge for A over B in the call where A stood first, f(a, b).
    swapped : array
        Its score in the other call, f(b, a), for whatever stood first there, which was B. The shape
        is that of ``first``.
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
    BothOrders
        ``opinion``, ``order_effect`` and ``consistent``, in the shape, library and device of the
        scores. Where a pair does not count, or its input is bad, they are NaN, and ``consistent``
        is false.

    See Also
    --------
    order_effect : How much the order matters, with intervals and a test.
    order_decomposition : What the second call is worth.

    Notes
    -----
    With the signed confidence f of a call (the score, where the threshold is 0), the opinion is
    s = (f(a, b) - f(b, a)) / 2 and the order effect e = (f(a, b) + f(b, a)) / 2. The opinion is
    signed around 0, also where scores are probabilities: pass it to metrics without ``decision=``.
    Where all scores of a batch entry are decimals of few places, s and e are the floats nearest to
    the exact values, so that equal differences tie.

    Verdicts -1, 0 and +1 are scores like others. Two calls that contradict each other have opinion
    0, which earns half; a win and a tie is a win, of less confidence than two wins.

    Examples
    --------
    The judge prefers A in both orders, contradicts itself, and ties in one of them:

    >>> from lxcim_xp.choices import both_orders
    >>> both_orders([1, 1, 0], [-1, 1, -1]).opinion
    array([1. , 0. , 0.5])

    Probabilities that what stands first is better. The first two are complements, so that only the
    answers mattered:

    >>> from lxcim_xp import probability
    >>> both_orders([0.93, 0.8], [0.07, 0.6], decision=probability())[:2]
    (array([0.43, 0.1 ]), array([0. , 0.2]))
    """
    xp, answers = collect_answers(
        first,
        swapped,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    samples, counts = answers.samples, weights(xp, answers.samples) > 0
    one, other = answers.first, answers.swapped
    consistent = ((one > 0) == (other < 0)) & ((one < 0) == (other > 0)) & counts
    if samples.valid is not None:
        consistent = consistent & samples.valid[..., None]
    if samples.empty:
        consistent = consistent[..., :0]
    opinion, effect = (
        finish_each(xp, samples, xp.where(counts, part, xp.nan), axis)
        for part in (answers.opinion, answers.effect)
    )
    return BothOrders(
        opinion, effect, consistent if axis == -1 else move_axis(xp, consistent, -1, axis)
    )


@moves_constants
def order_effect(
    first: ArrayLike,
    swapped: ArrayLike,
    *,
    level: float = 0.95,
    groups: GroupsLike | None = None,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> OrderEffect:
    """Say how much the order of the answers matters to a judge, and whether that can be chance.

    Parameters
    ----------
    first : array
        The score of the judge for A over B in the call where A stood first, f(a, b).
    swapped : array
        Its score in the other call, f(b, a), for whatever stood first there, which was B. The shape
        is that of ``first``.
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
    OrderEffect
        The mean order effect, LxCIM of the order effects and the flip rate, each with an interval;
        the number of flips, how many go to the first place, and the p-value of a sign test. One
        value for each batch entry; NaN where it is undefined or the input is bad.

    See Also
    --------
    both_orders : The order effect of each pair.
    order_decomposition : What the order effect costs.

    Notes
    -----
    The test is about flips alone, which are as many independent observations as there are flips.
    Two calls on the same pair are not independent: to count all 2n answers would lose what is seen
    in 12 flips among 88 consistent pairs. Flips count once each, whatever their weight.

    With clusters, each cluster gives one sign, that of the flips to the first place less those to
    the second, and the test counts these signs. It is exact if the two places are alike in each
    cluster. Then ``flips`` and ``flips_to_first`` still count pairs.

    The interval of the mean is Student's, those of LxCIM and of the flip rate are those of
    :func:`lxcim_xp.interval`.

    Examples
    --------
    Of 100 pairs 12 flip, 11 of them to the first place:

    >>> from lxcim_xp.choices import order_effect
    >>> first = [1] * 88 + [1] * 11 + [-1]
    >>> swapped = [-1] * 88 + [1] * 11 + [-1]
    >>> found = order_effect(first, swapped)
    >>> found.flips, found.flips_to_first, found.p_value.round(3)
    (np.float64(12.0), np.float64(11.0), np.float64(0.006))
    >>> found.flip_rate, found.flip_rate_low.round(3), found.flip_rate_high.round(3)
    (np.float64(0.12), np.float64(0.069), np.float64(0.2))
    """
    check_level(level)
    xp, answers = collect_answers(
        first,
        swapped,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    samples, effect = answers.samples, answers.effect
    codes = (
        None if groups is None else cluster_codes(xp, groups, effect, weights(xp, samples), axis)
    )
    to_first, to_second = flips_of(xp, answers)
    flipped = xp.astype(to_first | to_second, effect.dtype)
    mean = _mean(xp, effect, weights(xp, samples), codes, level)
    preference = interval(
        1, effect, level=level, groups=codes, sample_weight=samples.weight, threshold=0.0
    )
    rate = interval(
        flipped,
        xp.ones_like(effect),
        metric="accuracy",
        level=level,
        groups=codes,
        sample_weight=samples.weight,
        decision=confidence(),
    )
    one, other = (xp.astype(flips, effect.dtype) for flips in (to_first, to_second))
    p_value = xp.where(
        xp.any(weights(xp, samples) > 0, axis=-1), _sign_test(xp, one, other, codes), xp.nan
    )
    flips, flips_to_first = xp.sum(flipped, axis=-1), xp.sum(one, axis=-1)
    found = (*mean, *preference[:3], *rate[:3], flips, flips_to_first, p_value)
    return OrderEffect(*finish_all(xp, samples, *found))


@moves_constants
def order_curve(
    first: ArrayLike,
    swapped: ArrayLike,
    *,
    sure_of: SureOf = "opinion",
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> OrderCurve:
    """Return how often a judge flips among the pairs that it is most confident about.

    Parameters
    ----------
    first : array
        The score of the judge for A over B in the call where A stood first, f(a, b).
    swapped : array
        Its score in the other call, f(b, a), for whatever stood first there, which was B. The shape
        is that of ``first``.
    sure_of : {"opinion", "call"}, default "opinion"
        Whose confidence decides which pairs come first: that of the opinion of both calls, or that
        of a single call, which is there before one asks a second time. Each pair is then two calls,
        and the curve has 2n + 1 points.
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
    OrderCurve
        ``rate``, ``flips``, ``flip_rate`` and ``confidence``, each with n + 1 points on the last
        axis; NaN where the input is bad or nothing counts. A block of ties is one straight step of
        ``flips``, whose slope is the flip rate at that confidence.

    See Also
    --------
    order_effect : The flip rate of all pairs, with an interval.

    Examples
    --------
    The judge is sure of the first two pairs in both orders, and flips in the last one:

    >>> from lxcim_xp.choices import order_curve
    >>> curve = order_curve([3.0, -2.0, 1.0, 0.5], [-2.0, 3.0, -1.5, 0.25])
    >>> curve.rate, curve.flip_rate
    (array([0.  , 0.5 , 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.  , 0.25]))
    """
    if sure_of not in _SURE_OF:
        raise ValueError(f"sure_of must be one of {_SURE_OF}; found {sure_of!r}.")
    xp, answers = collect_answers(
        first,
        swapped,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    samples = answers.samples
    to_first, to_second = flips_of(xp, answers)
    flipped, weight = xp.astype(to_first | to_second, answers.first.dtype), samples.weight
    sure = xp.abs(answers.opinion)
    if sure_of == "call":
        sure = xp.concat([xp.abs(answers.first), xp.abs(answers.swapped)], axis=-1)
        flipped = xp.concat([flipped, flipped], axis=-1)
        weight = None if weight is None else xp.concat([weight, weight], axis=-1)
    rate, flips, least = cumulative_accuracy_curve(
        flipped, sure, sample_weight=weight, decision=confidence()
    )
    # At rate 0 the limit is the flip rate of the first block of ties, where both are least.
    decided = rate > 0
    part, whole = (
        xp.where(decided, x, xp.min(xp.where(decided, x, 1.0), axis=-1, keepdims=True))
        for x in (flips, rate)
    )
    among = xp.where(xp.isnan(rate), xp.nan, part / whole)
    return OrderCurve(*(finish_points(xp, samples, part) for part in (rate, flips, among, least)))


def flips_of(xp: Namespace, answers: Answers) -> tuple[Array, Array]:
    """Say which pairs flip to the first place, and which to the second."""
    first, swapped = answers.first, answers.swapped
    return (first > 0) & (swapped > 0), (first < 0) & (swapped < 0)


def _mean(
    xp: Namespace, value: Array, weight: Array, codes: Array | None, level: float
) -> tuple[Array, Array, Array]:
    """Return a mean and Student's interval of it."""
    part = divide(xp, weight, xp.sum(weight, axis=-1, keepdims=True))
    mean = xp.sum(part * value, axis=-1, keepdims=True)
    drawn = design(xp, codes, None, "importance", value, weight, -1)
    spread = variance(xp, part * (value - mean), weight, drawn)
    tail = xp.full_like(spread.value, (1 - level) / 2)
    seen = spread.value > 0  # no width is no certainty
    reach = -t_quantile(xp, tail, spread.degrees_of_freedom) * xp.sqrt(
        xp.where(seen, spread.value, xp.nan)
    )
    mean = mean[..., 0]
    return mean, mean - reach, mean + reach


def _sign_test(xp: Namespace, one: Array, other: Array, codes: Array | None) -> Array:
    """Return the two-sided p-value of as many flips to one place as to the other."""
    lead = one - other
    if codes is not None:
        places = ordering(xp, codes)
        totals = ranked(xp, places, take(xp, lead, places.order))
        members = ranked(xp, places, xp.ones_like(lead))
        # The first member of a cluster stands for it.
        lead = xp.where(members.before == members.below, totals.through - totals.below, 0.0)
    more, less = (xp.sum(xp.astype(x, one.dtype), axis=-1) for x in (lead > 0, lead < 0))
    fewer = xp.where(more < less, more, less)
    tail = lower_tail(xp, fewer, more + less, xp.full_like(fewer, 0.5), lead.shape[-1])
    return xp.where(2 * tail < 1, 2 * tail, 1.0)
