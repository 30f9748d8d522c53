"""Is A better than B? Paired comparisons of models on the same samples.

Two models that see the same samples share most of their noise. The difference of their influences
keeps only what they do not share, so that a paired test tells models apart where two intervals
cannot.

>>> from lxcim_xp import compare
>>> a = [2.0, 1.5, -0.5, 3.0, 0.5, 1.0, 2.5, 1.0, -0.25, 2.0]
>>> b = [1.0, -0.5, -1.5, 2.0, 0.25, -1.0, 2.0, 0.5, -1.0, 1.0]
>>> found = compare(1, a, b)
>>> found.difference.round(3), found.p_value.round(3)
(np.float64(0.34), np.float64(0.051))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from statistics import NormalDist
from typing import NamedTuple

from lxcim_xp._arrays.namespaces import device_of, moves_constants
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Namespace, Seed
from lxcim_xp._samples.checks import check_level
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import finish, finish_all
from lxcim_xp.inference.adjustment import ADJUSTMENTS, Adjustment, adjusted, in_agreement
from lxcim_xp.inference.influence import MetricName
from lxcim_xp.inference.paired import bounds, differences, evaluate, for_all_models
from lxcim_xp.inference.sampling_design import (
    Variance,
    WeightType,
    beyond_rounding,
    covariance,
    variance,
)


class Comparison(NamedTuple):
    """Two models on the same samples, as :func:`compare` returns them.

    Parameters
    ----------
    estimate_a, estimate_b : array
        The metric of each model.
    difference : array
        The first less the second.
    standard_error : array
        Of the difference.
    low, high : array
        A confidence interval of the difference.
    p_value : array
        Of no difference, two-sided. It is below ``1 - level`` where the interval excludes 0.

    Examples
    --------
    >>> from lxcim_xp import compare
    >>> compare(1, [2.0, 1.0, -3.0], [2.0, -1.0, -3.0]).difference.round(3)
    np.float64(0.111)
    """

    estimate_a: Array
    estimate_b: Array
    difference: Array
    standard_error: Array
    low: Array
    high: Array
    p_value: Array


class ComparisonTable(NamedTuple):
    """Many models on the same samples, as :func:`compare_all` returns them.

    Parameters
    ----------
    names : tuple of str
        The models, in the order of the rows and columns below.
    estimate : array of shape (k,)
        The metric of each model.
    difference : array of shape (k, k)
        The model of the row less that of the column.
    standard_error : array of shape (k, k)
        Of each difference; 0 on the diagonal.
    low, high : array of shape (k, k)
        The intervals of all pairs together; NaN on the diagonal, as all that follow. One that ends
        at exactly 0 beside an adjusted p-value below ``1 - level`` is open there: only stepping
        down finds the difference, and says no more than its sign.
    p_value : array of shape (k, k)
        Of each difference on its own.
    adjusted_p_value : array of shape (k, k)
        The p-values, adjusted for all pairs together. They are below ``1 - level`` where ``low``
        and ``high`` exclude 0, or end there.
    unadjusted_low, unadjusted_high : array of shape (k, k)
        The interval of each difference on its own, as ``p_value`` is.
    adjust : str or None
        How intervals and p-values were adjusted.
    samples : array
        The number of samples that count, after ``nan_policy``.
    missing : array of shape (k,)
        How many of all samples each model gave no score for.
    nan_policy : str
        What was done about these.

    Examples
    --------
    >>> from lxcim_xp import compare_all
    >>> compare_all(1, {"a": [2.0, 1.0, -3.0], "b": [2.0, -1.0, -3.0]}).names
    ('a', 'b')
    """

    names: tuple[str, ...]
    estimate: Array
    difference: Array
    standard_error: Array
    low: Array
    high: Array
    p_value: Array
    adjusted_p_value: Array
    unadjusted_low: Array
    unadjusted_high: Array
    adjust: str | None
    samples: Array
    missing: Array
    nan_policy: str


@moves_constants
def compare(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    metric: MetricName = "lxcim",
    level: float = 0.95,
    groups: GroupsLike | None = None,
    strata: GroupsLike | None = None,
    weight_type: WeightType = "importance",
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    nan_policy: NanPolicy = "raise",
) -> Comparison:
    """Compare two models on the same samples, by their paired difference.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    score_a, score_b : array
        The scores of the two models, sample by sample.
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
    level : float, default 0.95
        The coverage of intervals, between 0 and 1.
    groups : array, optional
        The cluster of each sample, when only clusters are independent (questions with several
        answers each, for example): any labels with NumPy, integers elsewhere.
    strata : array, optional
        The stratum of each sample, when the number of samples in each was fixed beforehand.
    weight_type : {"importance", "frequency"}, default "importance"
        Whether a weight says how much a sample counts, or how often it was seen.
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
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out for all models (common
        support), or count it as undecided for the model that gave no score.

    Returns
    -------
    Comparison
        The two metrics, their ``difference`` with ``standard_error``, ``low`` and ``high``, and the
        ``p_value`` of no difference.

    See Also
    --------
    compare_all : More than two models, with p-values adjusted for their number.
    required_samples : How many samples would tell them apart.

    Notes
    -----
    The test is Student's on the differences of the influences, with one degree of freedom fewer
    than there are samples. Clusters of different sizes have fewer, see :func:`standard_error`. For
    "auroc" and "confidence_auroc" what counts is the smaller class, of positives and negatives, or
    of right and wrong decisions of either model: with few wrong decisions, few are compared.

    With :func:`~lxcim_xp.confidence` the models may have been right about different samples: labels
    of shape (2, n) have a row for each of them.

    A standard error of zero is no certainty. It comes from models whose difference is the same in
    all of the m samples or clusters (with weights m is the effective number of them, and for the
    two metrics above that of the smaller class). If one is always right and the other always wrong,
    the p-value is 2^(1 - m): how often all would agree if in each sample, or cluster, it were a
    toss-up which model is which. With q = 1 - ((1 - level) / 2)^(1 / m), which is how much of the
    population may be unlike all that was seen, the interval is then from 1 - 2 q to 1; and from -q
    to q for two models that nothing tells apart (both are always right, say), with p-value 1. It is
    0 without any width where the models gave the same scores: a model does not differ from itself.

    Examples
    --------
    >>> from lxcim_xp import compare
    >>> a = [2.0, 1.5, -0.5, 3.0, 0.5, 1.0, 2.5, 1.0, -0.25, 2.0]
    >>> b = [1.0, -0.5, -1.5, 2.0, 0.25, -1.0, 2.0, 0.5, -1.0, 1.0]
    >>> found = compare(1, a, b)
    >>> found.low < 0 < found.high
    np.True_
    """
    check_level(level)
    xp, models, _ = evaluate(
        y_true,
        {"score_a": score_a, "score_b": score_b},
        metric,
        groups,
        strata,
        weight_type,
        sample_weight,
        where,
        threshold,
        decision,
        nan_policy,
    )
    apart = models.influence[0, ...] - models.influence[1, ...]
    spread = variance(xp, apart, models.weight, models.drawn)
    spread = Variance(*(part[None, ...] for part in spread))
    found = differences(xp, models, [(0, 1)], spread)
    is_found = found.p_value < 1 - level
    low, high = in_agreement(xp, found.value, *bounds(xp, found, 1 - level), is_found)
    parts = (part[0, ...] for part in (found.value, found.error, low, high, found.p_value))
    samples = for_all_models(xp, models)
    return Comparison(
        *finish_all(xp, samples, models.estimate[0, ...], models.estimate[1, ...], *parts)
    )


@moves_constants
def compare_all(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    metric: MetricName = "lxcim",
    adjust: Adjustment = "holm",
    level: float = 0.95,
    groups: GroupsLike | None = None,
    strata: GroupsLike | None = None,
    weight_type: WeightType = "importance",
    seed: Seed = 0,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    nan_policy: NanPolicy = "raise",
) -> ComparisonTable:
    """Compare many models on the same samples, pair by pair.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    scores : mapping of str to array
        The scores of each model, sample by sample, by name.
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
    adjust : {"holm", "max-t", None}, default "holm"
        How p-values and intervals are adjusted for the number of pairs, so that the chance of any
        error is bounded: by Holm's method, or by random draws of the largest difference ("max-t"),
        which know how the models are correlated and find more. None adjusts nothing.
    level : float, default 0.95
        The coverage of all intervals together, between 0 and 1.
    groups : array, optional
        The cluster of each sample, when only clusters are independent (questions with several
        answers each, for example): any labels with NumPy, integers elsewhere.
    strata : array, optional
        The stratum of each sample, when the number of samples in each was fixed beforehand.
    weight_type : {"importance", "frequency"}, default "importance"
        Whether a weight says how much a sample counts, or how often it was seen.
    seed : int, numpy.random.Generator or JAX key, default 0
        Where random draws come from. A key needs JAX arrays and may be traced.
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
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out for all models (common
        support), or count it as undecided for the model that gave no score.

    Returns
    -------
    ComparisonTable
        The estimates, and for each pair the difference with its standard error, interval and
        p-value, both adjusted for the number of pairs and as :func:`compare` returns them.

    See Also
    --------
    compare : Two models.
    interval : One model.

    Notes
    -----
    Both methods step down: the largest difference is tested against all pairs, the next one against
    those that are left, until one fails (Holm 1979; Westfall and Young 1993, Romano and Wolf 2005).
    A p-value of "max-t" is never below the unadjusted one, and never above Holm's. Pairs that
    nothing tells apart (a model and its copy) have p-value 1, are no tests, and change nothing for
    the others.

    Intervals cover all differences together if none of them is moved: each has the confidence that
    the largest difference needed, for "holm" 1 - (1 - level) / number of tests (Bonferroni). Where
    stepping down finds a difference whose interval reaches over 0, the interval ends at 0 instead.
    That end has the guarantee of the test, and not that of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import compare_all
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(1, 1, 300)
    >>> scores = {name: truth + rng.normal(0, noise, 300) for name, noise in zip("abc", (0, 1, 3))}
    >>> table = compare_all(1, scores)
    >>> (table.adjusted_p_value < 0.05)[np.triu_indices(3, 1)]
    array([ True,  True,  True])
    """
    check_level(level)
    if adjust not in ADJUSTMENTS:
        raise ValueError(f"adjust must be one of {ADJUSTMENTS}; found {adjust!r}.")
    if len(scores) < 2:
        raise ValueError(f"scores must hold at least two models; found {len(scores)}.")
    xp, models, missing = evaluate(
        y_true,
        scores,
        metric,
        groups,
        strata,
        weight_type,
        sample_weight,
        where,
        threshold,
        decision,
        nan_policy,
    )
    if models.influence.ndim != 2:
        raise ValueError(
            f"compare_all takes one list of samples for each model; found scores of shape "
            f"{tuple(models.influence.shape[1:])}."
        )
    k = models.estimate.shape[0]
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    shared, freedom = covariance(xp, models.influence, models.weight, models.drawn)
    spread = Variance(_of_differences(xp, shared, models.weight, pairs), freedom)
    found = differences(xp, models, pairs, spread)
    together = adjusted(xp, adjust, found, pairs, shared, level, seed)
    alone = adjusted(xp, None, found, pairs, shared, level, seed)
    samples = for_all_models(xp, models)
    counted = xp.sum(xp.astype(models.weight > 0, models.weight.dtype))

    def table(upper: Array, lower: Array, diagonal: float = nan) -> Array:
        return finish(xp, samples, _table(xp, pairs, k, upper, lower, diagonal))

    return ComparisonTable(
        names=tuple(scores),
        estimate=finish(xp, samples, models.estimate),
        difference=table(found.value, 0.0 - found.value, 0.0),
        standard_error=table(found.error, found.error, 0.0),
        low=table(together.low, 0.0 - together.high),
        high=table(together.high, 0.0 - together.low),
        p_value=table(found.p_value, found.p_value),
        adjusted_p_value=table(together.p_value, together.p_value),
        unadjusted_low=table(alone.low, 0.0 - alone.high),
        unadjusted_high=table(alone.high, 0.0 - alone.low),
        adjust=adjust,
        samples=finish(xp, samples, counted),
        missing=missing,
        nan_policy=nan_policy,
    )


@moves_constants
def required_samples(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    metric: MetricName = "lxcim",
    power: float = 0.8,
    level: float = 0.95,
    difference: float | None = None,
    groups: GroupsLike | None = None,
    strata: GroupsLike | None = None,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return how many samples tell two models apart, from a pilot.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    score_a, score_b : array
        The scores of the two models, sample by sample.
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
    power : float, default 0.8
        The chance of finding the difference, between 0 and 1.
    level : float, default 0.95
        One minus the chance of finding a difference where there is none.
    difference : float, optional
        The difference worth finding; that of the pilot by default, which is itself uncertain.
    groups : array, optional
        The cluster of each sample, when only clusters are independent (questions with several
        answers each, for example): any labels with NumPy, integers elsewhere.
    strata : array, optional
        The stratum of each sample, when the number of samples in each was fixed beforehand.
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
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out for all models (common
        support), or count it as undecided for the model that gave no score.

    Returns
    -------
    array
        The number of samples, not rounded. Infinite for a difference of zero, NaN where
        :func:`compare` has a standard error of zero.

    See Also
    --------
    compare : The test that would be made.

    Notes
    -----
    With clusters, more samples means more clusters of the same kind.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import required_samples
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(1, 1, 200)
    >>> b = a + rng.normal(0, 1, 200)
    >>> int(required_samples(1, a, b, difference=0.02)) > 1000
    True
    """
    for name, chance in {"power": power, "level": level}.items():
        if not 0 < chance < 1:
            raise ValueError(f"{name} must lie between 0 and 1; found {chance!r}.")
    if difference is not None and not 0 < abs(difference) < 1:
        raise ValueError(f"difference must be between 0 and 1 in size; found {difference!r}.")
    xp, models, _ = evaluate(
        y_true,
        {"score_a": score_a, "score_b": score_b},
        metric,
        groups,
        strata,
        "importance",
        sample_weight,
        where,
        threshold,
        decision,
        nan_policy,
    )
    apart = models.influence[0, ...] - models.influence[1, ...]
    error = xp.sqrt(variance(xp, apart, models.weight, models.drawn).value)
    size = xp.abs(models.estimate[0, ...] - models.estimate[1, ...])
    if difference is not None:
        size = xp.full_like(size, abs(difference))
    count = xp.sum(xp.astype(models.weight > 0, models.weight.dtype), axis=-1)
    normal = NormalDist()
    needed = normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)
    reached = size / xp.where(error > 0, error, xp.full_like(error, xp.nan))
    number = count * (needed / xp.where(reached > 0, reached, 1.0)) ** 2
    number = xp.where(reached > 0, number, xp.full_like(number, xp.inf))
    number = xp.where(xp.isnan(reached), reached, number)
    return finish(xp, for_all_models(xp, models), number)


def _of_differences(
    xp: Namespace, shared: Array, weight: Array, pairs: Sequence[tuple[int, int]]
) -> Array:
    """Return the variance of each difference, given the covariances of the estimates."""
    own = xp.linalg.diagonal(shared)
    both = xp.stack([own[i] + own[j] for i, j in pairs])
    squared = both - 2 * xp.stack([shared[i, j] for i, j in pairs])
    # Rounding leaves a small variance between models that are the same.
    noise = 8 * xp.finfo(own.dtype).eps * both
    return beyond_rounding(xp, xp.where(squared <= noise, 0.0, squared), weight)


def _table(
    xp: Namespace,
    pairs: Sequence[tuple[int, int]],
    k: int,
    upper: Array,
    lower: Array,
    diagonal: float,
) -> Array:
    """Put a value for each pair of models above the diagonal, and another below."""
    places = [[2 * len(pairs)] * k for _ in range(k)]
    for pair, (i, j) in enumerate(pairs):
        places[i][j], places[j][i] = pair, len(pairs) + pair
    values = xp.concat([upper, lower, xp.full_like(upper[:1], diagonal)])
    flat = xp.asarray([place for row in places for place in row], device=device_of(xp, upper))
    return xp.reshape(xp.take(values, flat), (k, k))
