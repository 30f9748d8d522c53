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

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import as_array, kind_of, moves_constants, namespace, widest_float
from lxcim_xp._arrays.random import normal_numbers
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Namespace, Seed
from lxcim_xp._numerics.distributions import quantile, t_quantile, t_two_sided
from lxcim_xp._samples.checks import check_level
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import Samples, finish, finish_all, refuse_columns, weights
from lxcim_xp.inference.influence import MetricName, kernel_of
from lxcim_xp.inference.intervals import placed_influence
from lxcim_xp.inference.sampling_design import (
    Design,
    Variance,
    WeightType,
    covariance,
    design,
    variance,
)

Adjustment: TypeAlias = Literal["holm", "max-t"] | None

_ADJUSTMENTS = ("holm", "max-t", None)
_DRAWS = 20_000  # of the largest difference under the null: p-values near 5 % are good to 0.2 %


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
        Of no difference, two-sided.

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
    standard_error, low, high, p_value : array of shape (k, k)
        Of each difference; NaN on the diagonal.
    adjusted_p_value : array of shape (k, k)
        The p-values, adjusted for all pairs together.
    adjust : str or None
        How they were adjusted.
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
    adjust: str | None
    samples: Array
    missing: Array
    nan_policy: str


class _Models(NamedTuple):
    """Models on a first axis, samples on the last."""

    samples: Samples
    estimate: Array
    influence: Array  # in the order of the input
    weight: Array  # of the samples, the same for all models
    drawn: Design


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
    y_true : array of {0, 1}, {-1, +1} or bool, or one such label
        Whether the positive side was the right one. Broadcasts against ``y_score``: with
        ``y_true=1`` the scores are margins of the right side over the wrong one.
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
        ``p_value`` of no difference. Interval and p-value are NaN where no sample shows that the
        models differ in worth (both are always right, for example): a standard error of zero is not
        certainty.

    See Also
    --------
    compare_all : More than two models, with p-values adjusted for their number.
    required_samples : How many samples would tell them apart.

    Notes
    -----
    The test is Student's on the differences of the influences, with one degree of freedom fewer
    than there are samples, or clusters.

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
    xp, models, _ = _evaluate(
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
    found = variance(xp, apart, models.weight, models.drawn)
    first, second = models.estimate[0, ...], models.estimate[1, ...]
    parts = (first, second, *_difference(xp, first - second, found, level))
    samples = _for_all_models(xp, models)
    return Comparison(*finish_all(xp, samples, *parts))


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
    y_true : array of {0, 1}, {-1, +1} or bool, or one such label
        Whether the positive side was the right one. Broadcasts against ``y_score``: with
        ``y_true=1`` the scores are margins of the right side over the wrong one.
    scores : mapping of str to array
        The scores of each model, sample by sample, by name.
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
    adjust : {"holm", "max-t", None}, default "holm"
        How p-values are adjusted for the number of pairs, so that the chance of any false finding
        is bounded: Holm's step-down, or random draws of the largest difference ("max-t"), which
        know how the models are correlated and find more.
    level : float, default 0.95
        The coverage of each interval, between 0 and 1; intervals are not adjusted.
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
        The estimates, and for each pair the difference with its standard error, interval, p-value
        and adjusted p-value.

    See Also
    --------
    compare : Two models.
    interval : One model.

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
    if adjust not in _ADJUSTMENTS:
        raise ValueError(f"adjust must be one of {_ADJUSTMENTS}; found {adjust!r}.")
    if len(scores) < 2:
        raise ValueError(f"scores must hold at least two models; found {len(scores)}.")
    xp, models, missing = _evaluate(
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
    shared, freedom = covariance(xp, models.influence, models.weight, models.drawn)
    own = xp.linalg.diagonal(shared)
    squared = own[:, None] + own[None, :] - 2 * shared
    # Rounding leaves a small variance between models that are the same.
    noise = 8 * xp.finfo(own.dtype).eps * (own[:, None] + own[None, :])
    squared = xp.where(squared > noise, squared, xp.zeros_like(squared))
    apart = models.estimate[:, None] - models.estimate[None, :]
    difference, error, low, high, p_value = _difference(
        xp, apart, Variance(squared, xp.broadcast_to(freedom, apart.shape)), level
    )
    adjusted = _adjusted(xp, adjust, p_value, shared, error, seed)
    samples = _for_all_models(xp, models)
    counted = xp.sum(xp.astype(models.weight > 0, models.weight.dtype))
    return ComparisonTable(
        names=tuple(scores),
        estimate=finish(xp, samples, models.estimate),
        difference=finish(xp, samples, difference),
        standard_error=finish(xp, samples, error),
        low=finish(xp, samples, low),
        high=finish(xp, samples, high),
        p_value=finish(xp, samples, p_value),
        adjusted_p_value=finish(xp, samples, adjusted),
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
    y_true : array of {0, 1}, {-1, +1} or bool, or one such label
        Whether the positive side was the right one. Broadcasts against ``y_score``: with
        ``y_true=1`` the scores are margins of the right side over the wrong one.
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
        :func:`compare` has no standard error.

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
    xp, models, _ = _evaluate(
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
    return finish(xp, _for_all_models(xp, models), number)


def _evaluate(
    y_true: Any,
    scores: Mapping[str, Any],
    metric: str,
    groups: Any,
    strata: Any,
    weight_type: str,
    sample_weight: Any,
    where: Any,
    threshold: Any,
    decision: Decision | None,
    nan_policy: str,
) -> tuple[Namespace, _Models, Array]:
    """Evaluate all models together, on common samples, and say how many scores were missing."""
    kernel = kernel_of(metric)
    xp, stacked = _stack(y_true, scores)
    beside = {"y_true": y_true, "sample_weight": sample_weight, "where": where}
    arrays = {k: as_array(xp, v, stacked) for k, v in beside.items() if v is not None}
    name = next(iter(scores))
    refuse_columns({**beside, **scores}, {name: stacked[0, ...], **arrays}, -1)
    absent = xp.isnan(stacked)
    if where is not None:
        where = xp.broadcast_to(as_array(xp, where, stacked), stacked.shape[1:])
        absent = absent & where[None, ...]
    if nan_policy == "omit":
        common = ~xp.any(absent, axis=0)
        where = common if where is None else where & common
    _, samples = kernel.collect(
        y_true,
        stacked,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
    )
    estimate, influence = placed_influence(xp, kernel, samples)
    first = samples._replace(score=samples.score[0, ...])
    weight = weights(xp, first) if samples.weight is None else samples.weight[0, ...]
    if samples.weight_unit is not None:
        weight = weight * samples.weight_unit[0, ...]
    drawn = design(xp, groups, strata, weight_type, weight, -1)
    missing = xp.sum(xp.astype(absent, xp.int32), axis=-1)
    return xp, _Models(samples, estimate, influence, weight, drawn), missing


def _for_all_models(xp: Namespace, models: _Models) -> Samples:
    """Return the samples, marked as bad where they are bad for any model."""
    valid = models.samples.valid
    return models.samples._replace(valid=None if valid is None else xp.all(valid, axis=0))


def _stack(y_true: Any, scores: Mapping[str, Any]) -> tuple[Namespace, Array]:
    xp = namespace(y_true=y_true, **scores)
    arrays = {name: as_array(xp, score) for name, score in scores.items()}
    first, *others = arrays
    for name in others:
        if arrays[name].shape != arrays[first].shape:
            raise ValueError(
                f"all models must score the same samples; found shape "
                f"{tuple(arrays[first].shape)} for {first} and {tuple(arrays[name].shape)} for "
                f"{name}. Put NaN where a model gave no score, and choose a nan_policy."
            )
    wide = widest_float(xp, arrays[first])
    is_float = kind_of(xp, arrays[first].dtype) == "real floating"
    dtype = arrays[first].dtype if is_float else wide
    return xp, xp.stack([xp.astype(array, dtype) for array in arrays.values()])


def _difference(
    xp: Namespace, apart: Array, found: Variance, level: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Return difference, standard error, bounds and p-value; NaN where nothing varies."""
    error = xp.sqrt(found.value)
    seen = xp.where(error > 0, error, xp.full_like(error, xp.nan))
    freedom = found.degrees_of_freedom
    width = seen * t_quantile(xp, xp.full_like(seen, (1 + level) / 2), freedom)
    one = xp.ones_like(apart)
    low, high = xp.maximum(apart - width, -one), xp.minimum(apart + width, one)
    low, high = (xp.where(xp.isnan(width), width, bound) for bound in (low, high))
    return apart, error, low, high, t_two_sided(xp, apart / seen, freedom)


def _adjusted(
    xp: Namespace, adjust: str | None, p_value: Array, covariance: Array, error: Array, seed: Any
) -> Array:
    """Return p-values for which the chance of any false finding among all pairs is bounded."""
    k = p_value.shape[0]
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    if adjust is None:
        return p_value
    if adjust == "holm":
        found = _holm(xp, xp.stack([p_value[i, j] for i, j in pairs]))
    else:
        found = _max_t(xp, pairs, p_value, covariance, error, seed)
    nothing = xp.full_like(found[0], xp.nan)
    cells = [[nothing] * k for _ in range(k)]
    for pair, (i, j) in enumerate(pairs):
        cells[i][j] = cells[j][i] = found[pair]
    return xp.stack([xp.stack(row) for row in cells])


def _holm(xp: Namespace, p_value: Array) -> Array:
    """Return Holm's adjusted p-values, max over smaller p of (number not yet rejected) * p."""
    number = p_value.shape[0]
    smaller = xp.sum(xp.astype(p_value[None, :] < p_value[:, None], p_value.dtype), axis=-1)
    step = (number - smaller) * p_value
    tested = p_value[None, :] <= p_value[:, None]
    found = xp.max(xp.where(tested, step[None, :], xp.zeros_like(step)[None, :]), axis=-1)
    one = xp.ones_like(found)
    return xp.where(xp.isnan(p_value), p_value, xp.where(found < 1, found, one))


def _max_t(
    xp: Namespace,
    pairs: list[tuple[int, int]],
    p_value: Array,
    covariance: Array,
    error: Array,
    seed: Any,
) -> Array:
    """Return how often the largest of all differences would be as large if there were none.

    Under the null the estimates are normal around a common value, with the covariance given. What
    Student's distribution adds for few samples is in the p-values, which are read as normal ones.
    """
    values, vectors = xp.linalg.eigh(covariance)
    root = vectors * xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values)))[None, :]
    noise = normal_numbers(xp, seed, (_DRAWS, values.shape[0]), values) @ xp.permute_dims(
        root, (1, 0)
    )
    largest = xp.zeros_like(noise[:, 0])
    for i, j in pairs:
        seen = xp.where(error[i, j] > 0, error[i, j], xp.full_like(error[i, j], xp.inf))
        largest = xp.maximum(largest, xp.abs(noise[:, i] - noise[:, j]) / seen)
    p_values = xp.stack([p_value[i, j] for i, j in pairs])
    observed = -quantile(xp, p_values / 2)
    beyond = xp.sum(xp.astype(largest[None, :] >= observed[:, None], largest.dtype), axis=-1)
    found = (beyond + 1) / (_DRAWS + 1)
    # Draws say nothing about what is rarer than all of them; Bonferroni's bound does.
    bound = p_values * len(pairs)
    found = xp.where(bound < found, bound, found)
    return xp.where(xp.isnan(p_values), p_values, found)
