"""The reject option: decide only where the confidence is high enough, and know what that gives.

Every function goes down the confidences as a curve does and stops at an operating point: a decision
rate, the accuracy there, and the confidence that reaches it. Blocks of ties are decided together,
so that each point is one that a threshold can reach.

>>> import numpy as np
>>> from lxcim_xp import threshold_for
>>> margins = np.linspace(-1.0, 4.0, 500)  # 100 wrong ones, none of them very confident
>>> point = threshold_for(1, margins, accuracy=0.9, delta=0.1)
>>> point.confidence.round(2), point.rate, point.accuracy.round(2)
(np.float64(0.75), np.float64(0.7), np.float64(0.93))

Choose a threshold on other data than you report: on the data that chose it, it looks better than it
is. The guarantees here are about new samples of the same kind.
"""

from __future__ import annotations

import math
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import device_of, moves_constants
from lxcim_xp._arrays.primitives import divide, take
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Namespace
from lxcim_xp._numerics.binomial import clopper_pearson
from lxcim_xp._numerics.bisection import count_below
from lxcim_xp._numerics.isotonic import antitonic_share
from lxcim_xp._samples.by_confidence import keys_by_confidence
from lxcim_xp._samples.checks import shared_rates
from lxcim_xp._samples.clusters import cluster_codes
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import Samples, collect, finish
from lxcim_xp.selective.clusters import clusters_on, last_vouched_for_by_clusters
from lxcim_xp.selective.guarantees import last_of_joint_risk, last_vouched_for
from lxcim_xp.selective.points import (
    Points,
    are_split,
    descent_of,
    from_start,
    last_accurate,
    points_of,
    points_on,
    rounding,
    something,
)


class OperatingPoint(NamedTuple):
    """Where to stop deciding, as :func:`threshold_for` returns it.

    Parameters
    ----------
    confidence : array
        Decide where the confidence is at least this; NaN, which none reaches, to decide nothing.
    rate : array
        The share of the samples at hand that is decided then; 0 if nothing should be.
    accuracy : array
        Their accuracy; NaN if nothing should be decided.

    Examples
    --------
    >>> from lxcim_xp import threshold_for
    >>> threshold_for(1, [4.0, 3.0, -2.0, 1.0], accuracy=0.9, delta=None).confidence
    np.float64(3.0)
    """

    confidence: Array
    rate: Array
    accuracy: Array


class AccuracyAt(NamedTuple):
    """The accuracy at a decision rate, as :func:`accuracy_at` returns it.

    Parameters
    ----------
    accuracy : array
        The accuracy of the decided samples; NaN if none is.
    low : array
        Lower end of the Clopper-Pearson interval; NaN if none was asked for.
    high : array
        Its upper end.
    rate : array
        The decision rate that a threshold can reach: at least the one asked for.
    confidence : array
        The confidence that reaches it; NaN if nothing is decided.

    Examples
    --------
    >>> from lxcim_xp import accuracy_at
    >>> accuracy_at(1, [4.0, 3.0, -2.0, 1.0], 0.7).rate
    np.float64(0.75)
    """

    accuracy: Array
    low: Array
    high: Array
    rate: Array
    confidence: Array


class LocalAccuracy(NamedTuple):
    """The accuracy at each confidence, as :func:`local_accuracy` returns it.

    Parameters
    ----------
    rate : array
        Decision rates from 0 to 1, n + 1 points on the last axis.
    accuracy : array
        The local accuracy from the previous point to this one, never increasing.
    confidence : array
        The confidence that reaches the point; infinite at the first.
    coin_rate : array
        One value for each batch entry: the decision rate beyond which decisions are no better than
        a coin's; 1 if they are always better.
    coin_confidence : array
        The confidence that reaches it: decide there and above, abstain below. NaN, which no
        confidence reaches, if even the most confident decisions are no better than a coin's.

    Examples
    --------
    >>> from lxcim_xp import local_accuracy
    >>> local_accuracy(1, [4.0, 3.0, -2.0, 1.0]).accuracy
    array([1. , 1. , 1. , 0.5, 0.5])
    """

    rate: Array
    accuracy: Array
    confidence: Array
    coin_rate: Array
    coin_confidence: Array


@moves_constants
def accuracy_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    rate: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    level: float | None = 0.95,
) -> AccuracyAt:
    """Return the accuracy of the most confident share of the samples, with an exact interval.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    rate : float or array of shape (k,)
        The share of the samples to decide, between 0 and 1. Ties are decided together, so that it
        may be more.
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    axis : int, default -1
        The axis of the samples, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.
    level : float or None, default 0.95
        How often, at least, the Clopper-Pearson interval contains the accuracy of new samples. It
        counts samples and refuses weights; None allows them and gives no interval.

    Returns
    -------
    AccuracyAt
        ``accuracy``, ``low``, ``high``, ``rate`` and ``confidence``, each of the batch's shape
        followed by that of ``rate``. NaN where the input is bad.

    See Also
    --------
    rate_at : The other way round, from an accuracy to the rate.
    accuracy_rate_curve : All rates at once, without intervals.

    Notes
    -----
    The interval is valid for one rate that was fixed before looking at the data. A search for the
    rate whose interval looks best makes it invalid: use :func:`threshold_for`, and choose on other
    data than you report. It also requires independent samples. If only clusters of them are,
    ``interval(y_true, y_score, metric="accuracy", where=decided, groups=groups)`` allows for it. An
    undecided sample counts as wrong for the lower end and as right for the upper one, and so does
    one on which the votes are split.

    Examples
    --------
    Of the four most confident of eight decisions, three are right.

    >>> from lxcim_xp import accuracy_at
    >>> found = accuracy_at(1, [8.0, 7.0, -6.0, 5.0, 4.0, -3.0, -2.0, 1.0], 0.5)
    >>> found.accuracy, found.low.round(3), found.high.round(3), found.confidence
    (np.float64(0.75), np.float64(0.194), np.float64(0.994), np.float64(5.0))
    """
    if level is not None:
        level = _share("level", level, "Pass 0.95 for an interval that holds 95 times in 100.")
        _refuse_weights(sample_weight, "The Clopper-Pearson interval", "level=None")
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    points = points_of(xp, samples)
    _, rates = shared_rates("rate", rate, "y_score", points.count)
    batch, n = points.count.shape[:-1], points.count.shape[-1] - 1
    wanted = xp.broadcast_to(xp.reshape(rates, (-1,)), (*batch, math.prod(rates.shape)))
    # The first point that is not short of the rate: a quotient meets a rate written as a decimal,
    # which a product need not.
    reached = divide(xp, points.count, points.total) * (1 + rounding(xp, samples))
    index = count_below(xp, reached, wanted)
    index = xp.where(index > n, n, index)
    count, right, sure = (take(xp, part, index) for part in points[1:4])
    possible = None if points.possible is None else take(xp, points.possible, index)
    if level is None:
        low = high = xp.full_like(count, xp.nan)
    else:
        # With whole labels, an undecided sample is half of a right one.
        most = 2 * right - sure if possible is None else possible
        low, high = clopper_pearson(xp, sure, most, count, level, n)
    parts = (
        divide(xp, right, count),
        low,
        high,
        divide(xp, count, points.total),
        take(xp, points.confidence, index),
    )
    unknown = xp.isnan(wanted * points.total)
    parts = tuple(xp.where(unknown, xp.nan, part) for part in parts)
    shape = (*batch, *rates.shape)
    return AccuracyAt(*(finish(xp, samples, xp.reshape(part, shape)) for part in parts))


@moves_constants
def rate_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    accuracy: float,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the largest decision rate at which the decided samples are accurate enough.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    accuracy : float
        The accuracy to keep, between 0 and 1.
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    axis : int, default -1
        The axis of the samples, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    threshold_for : The confidence that reaches it, and one that keeps its promise on new data.
    accuracy_at : The other way round, from a rate to the accuracy.

    Notes
    -----
    This describes the samples at hand. On new samples the accuracy at that rate falls short of the
    target about half of the time. A threshold with a guarantee comes from :func:`threshold_for`, on
    other data than you report.

    Examples
    --------
    >>> from lxcim_xp import rate_at
    >>> rate_at(1, [4.0, 3.0, -2.0, 1.0], 0.75)
    np.float64(1.0)
    >>> rate_at(1, [4.0, 3.0, -2.0, 1.0], 0.8)
    np.float64(0.5)
    """
    target = _share("accuracy", accuracy, "Pass 0.95 for 95 right decisions in 100.")
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    points = points_of(xp, samples)
    return _operating_point(xp, samples, points, last_accurate(xp, points, target)).rate


@moves_constants
def threshold_for(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    accuracy: float | None = None,
    joint_risk: float | None = None,
    delta: float | EllipsisType | None = ...,
    groups: GroupsLike | None = None,
) -> OperatingPoint:
    """Return the lowest confidence at which to decide such that a target is met on new samples.

    Choose it on other data than you report: above a threshold that samples chose, their own
    accuracy looks too good.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    axis : int, default -1
        The axis of the samples, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.
    accuracy : float, optional
        The accuracy that decided samples should have, between 0 and 1; needs ``delta``.
    joint_risk : float, optional
        The share of all samples that may be decided and wrong, between 0 and 1. The guarantee holds
        in the mean over data sets (conformal risk control). Pass either this or ``accuracy``.
    delta : float or None
        How often, over data sets like this one, the accuracy on new samples may fall short of
        ``accuracy``: a guarantee for finite samples. None gives the largest rate at which the
        samples at hand are accurate enough, without any guarantee: the accuracy on new samples
        falls short about half of the time.
    groups : array, optional
        The cluster of each sample, when only clusters are independent (questions with several
        answers each, for example): any labels with NumPy, integers elsewhere. The guarantee then
        holds whatever goes on inside clusters; without it, it fails too often.

    Returns
    -------
    OperatingPoint
        ``confidence``, ``rate`` and ``accuracy``, each of the batch's shape, in the library, dtype
        and device of ``y_score``. When no threshold can be vouched for, the rate is 0 and the
        confidence NaN, which no confidence reaches. All are NaN where the input is bad.

    See Also
    --------
    accuracy_at : The accuracy at a rate that was fixed before.
    local_accuracy : Where decisions stop being better than a coin's.

    Notes
    -----
    With ``delta``, thresholds are tested from the most confident down, each by the exact binomial
    tail of the number of errors above it, and the first that fails ends the search (fixed-sequence
    testing: no correction for many tests is needed). The tests are at 20 decision rates, starting
    with the first that would pass with two errors. With fewer than 500 samples they are at every
    sample, starting with the first that would pass without any error. Undecided samples count as
    wrong. The guarantee requires independent samples. It also requires that below the first
    confidence at which the target is missed, decisions are never again more accurate than the
    target.

    With ``groups`` only the clusters need to be independent. Each test is then a bet on the sums
    over clusters of what is decided: right minus ``accuracy`` times decided. Where the target is
    missed, its chance to pass is at most ``delta``, for clusters of any sizes and any dependence
    inside them. The tests are at every sample; where they begin depends on the confidences alone.
    A cluster can be wrong as a whole, so a promise takes many clusters, whatever the number of
    samples. With ``delta=0.1`` and clusters of one size, these are at least 23 that are decided and
    right for ``accuracy=0.9``, 46 for 0.95, and in practice several times as many. One cluster much
    larger than the others is as bad as few clusters. The accuracy promised is that over the samples
    of new clusters, none larger than the largest at hand.

    Where votes are split, each test is such a bet too, with each sample for a cluster.

    The guarantees count samples and refuse weights; ``where`` leaves samples out.

    With ``joint_risk`` a, the threshold is the lowest with (wrong above it + 1) / (n + 1) <= a. On
    the cumulative accuracy curve this risk is the gap between the diagonal and the curve. With
    ``groups``, both ones are the number of samples in the largest cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import threshold_for
    >>> margins = np.linspace(-1.0, 4.0, 500)
    >>> threshold_for(1, margins, accuracy=0.9, delta=None).rate
    np.float64(0.748)
    >>> threshold_for(1, margins, accuracy=0.9, delta=0.1).rate
    np.float64(0.7)
    >>> threshold_for(1, margins, joint_risk=0.05).rate
    np.float64(0.696)

    Ten answers to each of 50 questions promise less than 500 independent ones.

    >>> question = np.arange(500) % 50
    >>> threshold_for(1, margins, accuracy=0.9, delta=0.1, groups=question).rate
    np.float64(0.636)
    >>> threshold_for(1, margins, joint_risk=0.05, groups=question).rate
    np.float64(0.66)
    """
    target, delta = _one_target(accuracy, joint_risk, delta)
    if delta is not None or joint_risk is not None:
        _refuse_weights(sample_weight, "The guarantee", "accuracy= with delta=None")
    elif groups is not None:
        raise ValueError(
            "groups belongs to a guarantee; found delta=None, which asks for none. Pass delta=0.1, "
            "or leave groups out: the samples at hand are what they are."
        )
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    descent = descent_of(xp, samples)
    points = points_on(xp, descent)
    clusters = None
    if groups is not None:
        codes = cluster_codes(xp, groups, samples.score, samples.weight, axis)
        clusters = clusters_on(xp, descent, codes)
    if joint_risk is not None:
        largest = 1 if clusters is None else clusters.largest
        index = last_of_joint_risk(xp, points, target, largest)
    elif delta is None:
        index = last_accurate(xp, points, target)
    elif clusters is None:
        index = last_vouched_for(xp, points, target, delta, samples.weight is not None)
        split = are_split(xp, samples)
        if split is not None:  # credit between 0 and 1 is bet on, each sample by itself
            own = xp.arange(samples.score.shape[-1], device=device_of(xp, samples.score))
            alone = clusters_on(xp, descent, xp.broadcast_to(own, samples.score.shape))
            bets = last_vouched_for_by_clusters(xp, descent, alone, target, delta)
            index = xp.where(split, bets, index)
    else:
        index = last_vouched_for_by_clusters(xp, descent, clusters, target, delta)
    return _operating_point(xp, samples, points, index)


@moves_constants
def local_accuracy(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> LocalAccuracy:
    """Return the accuracy at each confidence, estimated such that it never rises on the way down.

    It is the slope of the least concave majorant of the cumulative accuracy curve, which is the
    isotonic regression of correctness on confidence. Where it falls to one half, the method stops
    making meaningful predictions.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    axis : int, default -1
        The axis of the samples, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.

    Returns
    -------
    LocalAccuracy
        ``rate``, ``accuracy`` and ``confidence`` with n + 1 points on the last axis, and for each
        batch entry ``coin_rate`` and ``coin_confidence``, in the library, dtype and device of
        ``y_score``; NaN where the input is bad.

    See Also
    --------
    cumulative_accuracy_curve : The curve whose slope this is.
    threshold_for : The lowest confidence at which a target is met.

    Notes
    -----
    The decision rate beyond which the method is no better than a coin is where the cumulative
    accuracy curve is highest above the coin's line, half of the rate. The fit is optimistic about
    the samples it is made of, most of all at its two ends: choose the confidence below which you
    abstain on other data than you report.

    Examples
    --------
    The two most confident are right; of the others every second one is, as with a coin.

    >>> from lxcim_xp import local_accuracy
    >>> found = local_accuracy(1, [6.0, 5.0, -4.0, 3.0, -2.0, 1.0])
    >>> found.accuracy
    array([1. , 1. , 1. , 0.5, 0.5, 0.5, 0.5])
    >>> (3 * found.coin_rate).round(9), found.coin_confidence
    (np.float64(1.0), np.float64(5.0))
    """
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    descent = keys_by_confidence(xp, samples)
    right, everyone = descent.columns
    nothing = xp.zeros_like(right.value)
    fitted = antitonic_share(xp, descent.places, right.value, everyone.value, nothing)
    # What does not count comes last, and goes on with what came before.
    counts = everyone.value > 0
    least = xp.min(xp.where(counts, fitted, 1.0), axis=-1, keepdims=True)
    fitted = xp.where(counts, fitted, least)
    count = from_start(xp, 0.0, everyone.through)
    total = something(xp, count[..., -1:])
    rate, confidence = divide(xp, count, total), from_start(xp, xp.inf, descent.key)
    lead = from_start(xp, 0.0, 2 * right.through - everyone.through)
    # The first of the highest points, up to rounding: sums of weights may part what is equal.
    slack = rounding(xp, samples) * total
    highest = lead >= xp.max(lead, axis=-1, keepdims=True) - slack
    coin = xp.argmax(xp.astype(highest, xp.int32), axis=-1, keepdims=True)
    known = total > 0
    parts = (
        rate,
        xp.where(known, xp.concat([fitted[..., :1], fitted], axis=-1), xp.nan),
        xp.where(known, confidence, xp.nan),
        take(xp, rate, coin)[..., 0],
        xp.where(known & (coin > 0), take(xp, confidence, coin), xp.nan)[..., 0],
    )
    return LocalAccuracy(*(finish(xp, samples, part) for part in parts))


def _operating_point(
    xp: Namespace, samples: Samples, points: Points, index: Array
) -> OperatingPoint:
    count, right, confidence = (
        take(xp, part, index)[..., 0] for part in (points.count, points.right, points.confidence)
    )
    total = points.total[..., 0]
    parts = (
        xp.where(total > 0, confidence, xp.nan),
        divide(xp, count, total),
        divide(xp, right, count),
    )
    return OperatingPoint(*(finish(xp, samples, part) for part in parts))


def _share(name: str, value: Any, remedy: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number; found {type(value).__name__}. {remedy}")
    if not 0 < value < 1:
        raise ValueError(
            f"{name} must lie between 0 and 1, both excluded; found {value:g}. {remedy}"
        )
    return float(value)


def _one_target(
    accuracy: Any, joint_risk: Any, delta: float | EllipsisType | None
) -> tuple[float, float | None]:
    """Return the one target that was given, and delta where it belongs to it."""
    if (accuracy is None) == (joint_risk is None):
        given = "neither was" if accuracy is None else f"found {accuracy!r} and {joint_risk!r}"
        raise ValueError(f"pass one of accuracy= and joint_risk=; {given}.")
    if joint_risk is not None:
        if delta is not ...:
            raise ValueError(
                f"delta={delta!r} belongs to accuracy=; joint_risk= is controlled in the mean. "
                f"Leave delta out."
            )
        remedy = "Pass 0.05 for at most 5 wrong decisions in 100 samples."
        return _share("joint_risk", joint_risk, remedy), None
    target = _share("accuracy", accuracy, "Pass 0.95 for 95 right decisions in 100.")
    if delta is ...:
        raise ValueError(
            "accuracy= needs delta=, how often it may be missed. Pass delta=0.1 for a guarantee "
            "that fails at most once in ten data sets, or delta=None for no guarantee."
        )
    if delta is None:
        return target, None
    return target, _share("delta", delta, "Pass 0.1 for a guarantee that fails once in ten.")


def _refuse_weights(sample_weight: Any, what: str, instead: str) -> None:
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight cannot be given here; found {type(sample_weight).__name__}. {what} "
            f"counts samples and holds for uniform weights only: pass where= to leave samples out, "
            f"or {instead}."
        )
