"""Curves whose areas are the metrics, and the share that each sample has in a metric.

Every curve goes down the confidences (or scores) from nothing decided to everything. It has one
point more than there are samples, so that its shape is fixed under ``jit`` and ``vmap``; without
any sample, it is one point of NaN. A block of ties is one straight step; the points that are left
over, and those of samples that do not count, repeat a neighbour and add steps of width zero. Each
point also holds the confidence that reaches it: deciding only where the confidence is at least that
high gives its rate and its height.

>>> from lxcim_xp import cumulative_accuracy_curve, curve_area, lxcim
>>> curve = cumulative_accuracy_curve(1, [4.0, -3.0, -1.0, 2.0])
>>> curve.rate
array([0.  , 0.25, 0.5 , 0.75, 1.  ])
>>> curve.cumulative_accuracy
array([0.  , 0.25, 0.25, 0.5 , 0.5 ])
>>> curve.confidence
array([inf,  4.,  3.,  2.,  1.])
>>> curve_area(curve), lxcim(1, [4.0, -3.0, -1.0, 2.0])
(np.float64(0.625), np.float64(0.625))
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import moves_constants, namespace, scalar_if_numpy, widest_float
from lxcim_xp._arrays.primitives import divide, take
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace
from lxcim_xp._metric_table import WITH_CONTRIBUTIONS
from lxcim_xp._numerics.bisection import count_up_to
from lxcim_xp._numerics.ordering import in_input_order, ranked
from lxcim_xp._samples.by_confidence import (
    KeyedDescent,
    accuracy_parts,
    counted,
    descend_with_keys,
    keys_by_confidence,
)
from lxcim_xp._samples.checks import refuse_confidence, shared_rates
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import (
    Samples,
    collect,
    collect_scores,
    credit,
    finish,
    finish_each,
    finish_points,
    positive_and_negative,
    signed_confidence,
    weights,
)


class CumulativeAccuracyCurve(NamedTuple):
    """The curve of :func:`cumulative_accuracy_curve`: n + 1 points on the last axis.

    Parameters
    ----------
    rate : array
        The decision rate: the share of the weight that is decided, from 0 to 1.
    cumulative_accuracy : array
        The share of all weight that is decided and right, from 0 to the accuracy.
    confidence : array
        The lowest confidence that is decided; infinite where nothing is.

    Examples
    --------
    >>> from lxcim_xp import cumulative_accuracy_curve
    >>> cumulative_accuracy_curve(1, [2.0, -1.0]).cumulative_accuracy
    array([0. , 0.5, 0.5])
    """

    rate: Array
    cumulative_accuracy: Array
    confidence: Array


class AccuracyRateCurve(NamedTuple):
    """The curve of :func:`accuracy_rate_curve`: n + 1 points on the last axis.

    Parameters
    ----------
    rate : array
        The decision rate: the share of the weight that is decided, from 0 to 1.
    accuracy : array
        The accuracy of what is decided; at rate 0, its limit.
    confidence : array
        The lowest confidence that is decided; infinite where nothing is.

    Examples
    --------
    >>> from lxcim_xp import accuracy_rate_curve
    >>> accuracy_rate_curve(1, [2.0, -1.0]).accuracy
    array([1. , 1. , 0.5])
    """

    rate: Array
    accuracy: Array
    confidence: Array


class RocCurve(NamedTuple):
    """The curve of :func:`roc_curve`: n + 1 points on the last axis.

    Parameters
    ----------
    false_positive_rate : array
        The share of the negatives that is called positive, from 0 to 1.
    true_positive_rate : array
        The share of the positives that is called positive, from 0 to 1.
    score : array
        The lowest score that is called positive; infinite where none is.

    Examples
    --------
    >>> from lxcim_xp import roc_curve
    >>> roc_curve([1, 0], [2.0, 1.0]).true_positive_rate
    array([0., 1., 1.])
    """

    false_positive_rate: Array
    true_positive_rate: Array
    score: Array


class SymmetricRocCurve(NamedTuple):
    """The curve of :func:`symmetric_roc_curve`: 2n + 1 points on the last axis.

    Parameters
    ----------
    false_positive_rate : array
        The share of the negatives of the doubled data that is called positive, from 0 to 1.
    true_positive_rate : array
        The share of its positives that is called positive, from 0 to 1.
    signed_confidence : array
        The lowest signed confidence that is called positive; infinite where none is.
    accuracy : array
        One value for each batch entry: the curve crosses its axis of symmetry at
        ``(1 - accuracy, accuracy)``.

    Examples
    --------
    >>> from lxcim_xp import symmetric_roc_curve
    >>> symmetric_roc_curve(1, [2.0, 1.0, -0.5, 3.0]).accuracy
    np.float64(0.75)
    """

    false_positive_rate: Array
    true_positive_rate: Array
    signed_confidence: Array
    accuracy: Array


Curve: TypeAlias = CumulativeAccuracyCurve | AccuracyRateCurve | RocCurve | SymmetricRocCurve


@moves_constants
def cumulative_accuracy_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> CumulativeAccuracyCurve:
    """Return the cumulative accuracy-decision rate curve; twice the area under it is LxCIM.

    Samples are decided from the most confident to the least; the curve is the share of all samples
    that has been decided rightly, over the share that has been decided. Its slope is the accuracy
    at that confidence: 1 where decisions are right, 1/2 where they are coin flips.

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
    CumulativeAccuracyCurve
        ``rate``, ``cumulative_accuracy`` and ``confidence``, each with n + 1 points on the last
        axis, in the library, dtype and device of ``y_score``; NaN where the input is bad or nothing
        counts.

    See Also
    --------
    accuracy_rate_curve : The accuracy of what is decided, which is this curve over the rate.
    interpolate : The curve at given rates, to average over seeds.
    local_accuracy : The slope, as a non-increasing estimate.

    Examples
    --------
    The two samples of confidence 2 tie, one of them right: one straight step from 1/3 to 1.

    >>> from lxcim_xp import cumulative_accuracy_curve
    >>> curve = cumulative_accuracy_curve(1, [3.0, 2.0, -2.0])
    >>> (3 * curve.rate).round(9), (3 * curve.cumulative_accuracy).round(9)
    (array([0., 1., 3., 3.]), array([0., 1., 2., 2.]))
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
    total = everyone.through[..., -1:]
    return CumulativeAccuracyCurve(
        finish_points(xp, samples, divide(xp, _from_zero(xp, everyone.through), total)),
        finish_points(xp, samples, divide(xp, _from_zero(xp, right.through), total)),
        finish_points(xp, samples, _from_infinity(xp, descent.key, total)),
    )


@moves_constants
def accuracy_rate_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> AccuracyRateCurve:
    """Return the accuracy-decision rate curve, whose area is AUDRC.

    Samples are decided from the most confident to the least; the curve is the accuracy of those
    decided so far.

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
    AccuracyRateCurve
        ``rate``, ``accuracy`` and ``confidence``, each with n + 1 points on the last axis, in the
        library, dtype and device of ``y_score``; NaN where the input is bad or nothing counts.

    See Also
    --------
    audrc : Its area.
    cumulative_accuracy_curve : The curve that is steady near rate 0, where this one jumps.
    accuracy_at : The accuracy at a rate, with an interval.

    Notes
    -----
    Its area is that of the paper's equation 1, which :func:`audrc` computes by default: the sum of
    each step's width times the accuracy at its right end. Between its points the curve is not
    straight: the cumulative accuracy is, and the accuracy is that divided by the rate. The area
    under these arcs is ``audrc(..., form="continuous")``. A block of ties is passed in equal parts,
    which lie on its arc. No threshold reaches the points inside it, so that ``confidence`` there is
    that of the whole block.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import accuracy_rate_curve, audrc
    >>> curve = accuracy_rate_curve(1, [4.0, -3.0, -1.0, 2.0])
    >>> curve.accuracy.round(3)
    array([1.   , 1.   , 0.5  , 0.667, 0.5  ])
    >>> np.sum(np.diff(curve.rate) * curve.accuracy[1:]) == audrc(1, [4.0, -3.0, -1.0, 2.0])
    np.True_
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
    count = counted(xp, descent, uniform=samples.weight is None)
    parts = accuracy_parts(xp, right, everyone, count)
    total = descent.columns[1].through[..., -1:]
    accuracy = xp.concat([parts.accuracy[..., :1], parts.accuracy], axis=-1)
    # At its end a block has its whole weight, which its parts sum to only up to rounding.
    done = xp.where(parts.place == parts.count, everyone.through, parts.done)
    return AccuracyRateCurve(
        finish_points(xp, samples, divide(xp, _from_zero(xp, done), total)),
        finish_points(xp, samples, xp.where(total > 0, accuracy, xp.nan)),
        finish_points(xp, samples, _from_infinity(xp, descent.key, total)),
    )


@moves_constants
def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> RocCurve:
    """Return the ROC curve, whose area is AUROC.

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
    RocCurve
        ``false_positive_rate``, ``true_positive_rate`` and ``score``, each with n + 1 points on the
        last axis, in the library, dtype and device of ``y_score``; NaN where the input is bad or a
        class is empty.

    See Also
    --------
    auroc : Its area.
    symmetric_roc_curve : The one that does not change when sides are renamed.

    Notes
    -----
    Not invariant to local exchange of classes. Only the order of the scores matters; ``threshold``
    says where ``nan_policy="abstain"`` puts a missing score.

    Examples
    --------
    >>> from lxcim_xp import roc_curve
    >>> curve = roc_curve([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0])
    >>> curve.false_positive_rate, curve.true_positive_rate
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    xp, samples = collect_scores(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    positive, negative = positive_and_negative(xp, samples)
    descent = descend_with_keys(xp, samples.score, samples.weight, positive, negative)
    return RocCurve(*(finish_points(xp, samples, part) for part in _roc(xp, descent)))


@moves_constants
def symmetric_roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> SymmetricRocCurve:
    """Return the ROC curve of the data joined with its exchanged copy; its area is LxCIM.

    It is symmetric about the line from (0, 1) to (1, 0) and crosses it at (1 - ACC, ACC).

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
    SymmetricRocCurve
        ``false_positive_rate``, ``true_positive_rate`` and ``signed_confidence``, each with 2n + 1
        points on the last axis, and ``accuracy`` for each batch entry, in the library, dtype and
        device of ``y_score``; NaN where the input is bad or nothing counts.

    See Also
    --------
    roc_curve : The curve of the data alone, which depends on the naming of the sides.
    decomposition : The two parts of its area, the square of the accuracy and what is beside it.

    Notes
    -----
    The doubled data hold each sample once as it is and once with its sides exchanged: a positive at
    its margin, and a negative at minus its margin. A sample at the threshold is in them once with
    each label.

    Examples
    --------
    >>> from lxcim_xp import symmetric_roc_curve
    >>> curve = symmetric_roc_curve(1, [2.0, -1.0])
    >>> curve.false_positive_rate, curve.true_positive_rate
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    >>> curve.signed_confidence
    array([inf,  2.,  1., -1., -2.])
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
    refuse_confidence(samples.decision, "Use cumulative_accuracy_curve.")
    signed, weight = signed_confidence(xp, samples), weights(xp, samples)
    right = credit(xp, samples, signed) * weight
    wrong = weight - right
    # With whole labels one of the two halves of a sample weighs nothing, unless it is undecided.
    key = xp.abs(signed)
    descent = descend_with_keys(
        xp,
        xp.concat([key, -key], axis=-1),
        None if samples.weight is None else xp.concat([weight, weight], axis=-1),
        xp.concat([right, wrong], axis=-1),
        xp.concat([wrong, right], axis=-1),
    )
    right = xp.sum(right, axis=-1)
    accuracy = finish(xp, samples, divide(xp, right, xp.sum(weight, axis=-1)))
    along, height, key = (finish_points(xp, samples, part) for part in _roc(xp, descent))
    return SymmetricRocCurve(along, height, key, accuracy)


@moves_constants
def contributions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    metric: Literal["lxcim", "audrc"] = "lxcim",
) -> Array:
    """Return the share of each sample in LxCIM or AUDRC, in the order of the input.

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
    metric : {"lxcim", "audrc"}, default "lxcim"
        The metric to share out; "audrc" in its discrete form.

    Returns
    -------
    array
        One value for each sample, in the shape, library, dtype and device of ``y_score``
        broadcast; they sum to the metric. A wrong decision has share 0, and so has a sample that
        does not count. NaN where the metric is undefined or the input is bad.

    See Also
    --------
    lxcim, audrc : The sums.

    Notes
    -----
    In LxCIM a right decision counts linearly in its rank, c w (2L + T) / W^2, with the weight L of
    the less confident and T of the equally confident. In AUDRC the k-th most confident counts
    Σ_{j >= k} 1/j, so that the first few have most of it.

    Examples
    --------
    >>> from lxcim_xp import contributions
    >>> contributions(1, [1.0, 4.0, -3.0, 2.0])
    array([0.0625, 0.4375, 0.    , 0.1875])
    >>> contributions(1, [2.0, 1.0], metric="audrc")
    array([0.75, 0.25])
    """
    if metric not in WITH_CONTRIBUTIONS:
        known = " or ".join(map(repr, WITH_CONTRIBUTIONS))
        raise ValueError(f"metric must be {known}; found {metric!r}.")
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
    total = everyone.through[..., -1:]
    if metric == "lxcim":
        # 2L + T, counted from the top.
        counts_for = divide(xp, 2 * total - everyone.below - everyone.through, total)
    else:
        counts_for = _tails_of_accuracy(xp, samples, descent)
    share = divide(xp, right.value * counts_for, total)
    return finish_each(xp, samples, in_input_order(xp, descent.places, share), axis)


@moves_constants
def interpolate(curve: Curve, rates: ArrayLike) -> Array:
    """Return the height of a curve at given rates, to average curves over seeds.

    Parameters
    ----------
    curve : CumulativeAccuracyCurve, AccuracyRateCurve, RocCurve or SymmetricRocCurve
        A curve, or a batch of curves.
    rates : float or array of shape (k,)
        Decision rates between 0 and 1, for ROC curves false positive rates.

    Returns
    -------
    array
        The height at each rate, in the library and dtype of the curve: a cumulative accuracy, an
        accuracy or a true positive rate. The shape is that of the batch, followed by that of
        ``rates``. On a vertical piece of a ROC curve the upper end counts.

    See Also
    --------
    accuracy_at : What a threshold can reach, with an interval.

    Notes
    -----
    Curves are straight between their points, except for the accuracy-decision rate curve: there the
    cumulative accuracy is straight, and the accuracy is that divided by the rate.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import cumulative_accuracy_curve, interpolate
    >>> seeds = cumulative_accuracy_curve(1, np.asarray([[3.0, 2.0, -1.0, 4.0], [3.0, -2.0, 1, 4]]))
    >>> interpolate(seeds, [0.0, 0.5, 0.625, 1.0]).mean(axis=0)
    array([0.    , 0.5   , 0.5625, 0.75  ])
    """
    along, height = _steps(curve)
    xp, rates = shared_rates("rates", rates, "curve", along)
    at = xp.broadcast_to(xp.reshape(rates, (-1,)), (*along.shape[:-1], prod(rates.shape)))
    if isinstance(curve, AccuracyRateCurve):
        started = xp.where(at > 0, at, 1.0)
        found = _height(xp, along, along * height, at) / started
        found = xp.where(at == 0, height[..., :1], found)
    else:
        found = _height(xp, along, height, at)
    return scalar_if_numpy(xp, xp.reshape(found, (*along.shape[:-1], *rates.shape)))


@moves_constants
def curve_area(curve: Curve) -> Array:
    """Return the area under a curve as a share of that under the ideal one: the metric.

    Parameters
    ----------
    curve : CumulativeAccuracyCurve, AccuracyRateCurve, RocCurve or SymmetricRocCurve
        A curve, or a batch of curves.

    Returns
    -------
    array
        One value for each batch entry: LxCIM of a cumulative accuracy or symmetric ROC curve,
        AUDRC of an accuracy-decision rate curve, AUROC of a ROC curve.

    See Also
    --------
    lxcim, audrc, auroc : The same values from samples, in one pass.

    Notes
    -----
    The ideal cumulative accuracy curve is the diagonal, with area 1/2; the others have area 1. The
    area under the accuracy-decision rate curve is that of steps as high as their right end.

    Examples
    --------
    >>> from lxcim_xp import curve_area, symmetric_roc_curve
    >>> curve_area(symmetric_roc_curve(1, [4.0, -3.0, -1.0, 2.0]))
    np.float64(0.625)
    """
    along, height = _steps(curve)
    xp = namespace(curve=along)
    wide = widest_float(xp, along)
    along, height = (xp.astype(part, wide) for part in (along, height))
    left, right = height[..., :-1], height[..., 1:]
    if isinstance(curve, CumulativeAccuracyCurve):
        step = left + right  # twice the mean
    elif isinstance(curve, AccuracyRateCurve):
        step = right
    else:
        step = (left + right) / 2
    area = xp.sum((along[..., 1:] - along[..., :-1]) * step, axis=-1)
    return scalar_if_numpy(xp, xp.astype(area, curve[0].dtype, copy=False))


def _steps(curve: Curve) -> tuple[Array, Array]:
    """Return the rates and heights of a curve, whose steps lie between two points at least."""
    _require_curve(curve)
    along, height = curve[:2]
    if along.shape[-1] == 1:  # of nothing, so that nothing is known about it
        xp = namespace(curve=along)
        along, height = (xp.concat([part, part], axis=-1) for part in (along, height))
    return along, height


def _require_curve(curve: Any) -> None:
    if not isinstance(curve, Curve):
        raise TypeError(
            f"curve must be a curve of this package; found {type(curve).__name__}. Pass what "
            f"cumulative_accuracy_curve, accuracy_rate_curve, roc_curve or symmetric_roc_curve "
            f"returns."
        )


def _from_zero(xp: Namespace, x: Array) -> Array:
    return xp.concat([xp.zeros_like(x[..., :1]), x], axis=-1)


def _from_infinity(xp: Namespace, key: Array, total: Array) -> Array:
    """Put a first point at which nothing is decided before the keys; NaN if nothing counts."""
    keys = xp.concat([xp.full_like(key[..., :1], xp.inf), key], axis=-1)
    return xp.where(total > 0, keys, xp.nan)


def _roc(xp: Namespace, descent: KeyedDescent) -> tuple[Array, Array, Array]:
    hits, others = descent.columns
    positive, negative = hits.through[..., -1:], others.through[..., -1:]
    return (
        divide(xp, _from_zero(xp, others.through), negative),
        divide(xp, _from_zero(xp, hits.through), positive),
        _from_infinity(xp, descent.key, positive + negative),
    )


def _tails_of_accuracy(xp: Namespace, samples: Samples, descent: KeyedDescent) -> Array:
    """Return what a right decision adds to the accuracies from its place on.

    A part of weight p adds p / (weight done) for all that is above its block. What is in its block
    has arrived with as many of the block's parts as its place says.
    """
    right, everyone = descent.columns
    count = counted(xp, descent, uniform=samples.weight is None)
    parts = accuracy_parts(xp, right, everyone, count)
    step = parts.weight / xp.where(parts.done > 0, parts.done, 1.0)
    steps = ranked(xp, descent.places, step)
    arrived = ranked(xp, descent.places, step * parts.place / parts.count)
    after = steps.through[..., -1:] - steps.through
    return after + arrived.through - arrived.below


def _height(xp: Namespace, along: Array, height: Array, at: Array) -> Array:
    """Interpolate between the last point that is not beyond a rate and the next one."""
    last = along.shape[-1] - 1
    # Positions clipped by hand: the bounds of clip must be arrays of one dtype in some libraries.
    before = count_up_to(xp, along, at) - 1
    before = xp.where(before < 0, 0, xp.where(before >= last, last - 1, before))
    start, width = take(xp, along, before), take(xp, along, before + 1) - take(xp, along, before)
    share = (at - start) / xp.where(width > 0, width, 1.0)
    # The end of a step of no width, and of the last one; 0 * share keeps a NaN.
    share = xp.where((width > 0) & (share < 1), share, 1.0 + 0.0 * share)
    low, high = take(xp, height, before), take(xp, height, before + 1)
    return low + share * (high - low)
