"""Standard errors, intervals, bootstrap draws and tests for one model.

Everything rests on the influence of each sample, which comes with the metric from a single sort.
:mod:`lxcim_xp.comparison` compares models.

>>> from lxcim_xp import interval, standard_error
>>> margins = [2.0, 1.5, -0.5, 3.0, 0.5, -1.0, 2.5, 1.0]
>>> standard_error(1, margins).round(3)
np.float64(0.12)
>>> found = interval(1, margins)
>>> found.low.round(3), found.estimate.round(3), found.high.round(3)
(np.float64(0.427), np.float64(0.875), np.float64(0.984))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, get_args

from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Seed
from lxcim_xp._samples.by_confidence import margins_in_order
from lxcim_xp._samples.checks import check_level
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import collect, finish, finish_all, finish_each, whole_only
from lxcim_xp.inference.chance_null import chance_tails
from lxcim_xp.inference.coin_null import coin_tails
from lxcim_xp.inference.influence import KERNELS, MetricName, kernel_of
from lxcim_xp.inference.intervals import (
    METHODS,
    bounded,
    estimated,
    placed_influence,
    sorted_for,
)
from lxcim_xp.inference.null_distributions import mann_whitney_tails, two_sided
from lxcim_xp.inference.resampling import bootstrap_draws, refuse_batch
from lxcim_xp.inference.sampling_design import WeightType

# Other topics take these two from here.
from lxcim_xp.inference.sampling_design import design as design
from lxcim_xp.inference.sampling_design import variance as variance

Null: TypeAlias = Literal["coin", "uninformative"]
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
Method: TypeAlias = Literal["logit+", "logit", "wald", "bootstrap", "bca", "bayes"]

_NULLS = get_args(Null)
_ALTERNATIVES = get_args(Alternative)
_EXACT = 200  # samples up to which the distribution of the coins is computed in full


class Interval(NamedTuple):
    """A confidence interval, as :func:`interval` returns it.

    Parameters
    ----------
    estimate : array
        The metric.
    low, high : array
        The bounds, between 0 and 1.
    standard_error : array
        The standard error of the estimate.

    Examples
    --------
    >>> from lxcim_xp import interval
    >>> interval(1, [2.0, 1.0, 3.0]).low < 1
    np.True_
    """

    estimate: Array
    low: Array
    high: Array
    standard_error: Array


class Significance(NamedTuple):
    """The outcome of a test, as :func:`significance` returns it.

    Parameters
    ----------
    statistic : array
        What :func:`lxcim` returns for the null "coin", and :func:`confidence_auroc` for
        "uninformative".
    p_value : array
        The chance of a statistic as extreme under the null.
    null : str
        What was tested.
    alternative : str
        Which statistics count as extreme.
    method : str
        How the p-value was computed: "exact", "saddlepoint", "exact or saddlepoint" or "normal".

    Examples
    --------
    >>> from lxcim_xp import significance
    >>> significance(1, [1.0, 2.0, 3.0]).method
    'exact'
    """

    statistic: Array
    p_value: Array
    null: str
    alternative: str
    method: str


@moves_constants
def influence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: MetricName = "lxcim",
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return how much each sample moves a metric, in the order of the input.

    It is the weight of the sample times the derivative of the metric by that weight. The values sum
    to zero; the sum of their squares is, up to n / (n - 1), the squared standard error.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
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
        One value for each sample, in the shape, library, dtype and device of ``y_score``
        broadcast; zero for samples that do not count, NaN where the metric is undefined.

    See Also
    --------
    standard_error : What it is for.
    contributions : The share of each sample in the metric.

    Examples
    --------
    >>> from lxcim_xp import influence
    >>> influence(1, [2.0, -1.0, 1.0])
    array([ 0.14814815, -0.18518519,  0.03703704])
    """
    kernel = kernel_of(metric)
    xp, samples = kernel.collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    return finish_each(xp, samples, placed_influence(xp, kernel, samples)[1], axis)


@moves_constants
def standard_error(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: MetricName = "lxcim",
    groups: GroupsLike | None = None,
    strata: GroupsLike | None = None,
    weight_type: WeightType = "importance",
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the standard error of a metric.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
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
        the metric is undefined, and for a single sample, which says nothing about its spread.

    See Also
    --------
    interval : Use this to report: near 1 a standard error alone misleads.

    Notes
    -----
    It is of first order, like DeLong's for AUROC. When every decision is right it is zero, which is
    not certainty; :func:`interval` does not collapse there. With clusters it is CR2: the squared
    influence of a cluster counts 1 / (1 - s) times, s its share of all weight, which for G equal
    clusters is G / (G - 1). The standard error by DeLong of the AUROC of the doubled data is too
    small by a factor of sqrt(2), because it counts each sample twice.

    Examples
    --------
    >>> from lxcim_xp import standard_error
    >>> standard_error(1, [2.0, -1.0, 1.0, 3.0], metric="accuracy")
    np.float64(0.25)
    """
    kernel = kernel_of(metric)
    xp, samples = kernel.collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    drawn = design(xp, groups, strata, weight_type, samples.score, samples.weight, axis)
    return finish(xp, samples, estimated(xp, kernel, samples, drawn).error)


@moves_constants
def interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: MetricName = "lxcim",
    level: float = 0.95,
    method: Method = "logit+",
    groups: GroupsLike | None = None,
    strata: GroupsLike | None = None,
    weight_type: WeightType = "importance",
    n_resamples: int = 2000,
    seed: Seed = 0,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Interval:
    """Return a confidence interval that stays between 0 and 1 and does not collapse at 1.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
    level : float, default 0.95
        The coverage of intervals, between 0 and 1.
    method : {"logit+", "logit", "wald", "bootstrap", "bca", "bayes"}, default "logit+"
        "wald" is the estimate plus and minus standard errors, cut at 0 and 1. "logit" is that on
        the scale of log-odds. "logit+" joins that with the interval after adding a
        pseudo-observation, half right and half wrong, spread over the observed confidences.
        "bootstrap" takes
        percentiles of resamples, "bca" corrects them for bias and skewness, "bayes" takes
        percentiles of Bayesian resamples. Of these only "logit+" has a width when every decision
        is right.
    groups : array, optional
        The cluster of each sample, when only clusters are independent (questions with several
        answers each, for example): any labels with NumPy, integers elsewhere.
    strata : array, optional
        The stratum of each sample, when the number of samples in each was fixed beforehand.
    weight_type : {"importance", "frequency"}, default "importance"
        Whether a weight says how much a sample counts, or how often it was seen.
    n_resamples : int, default 2000
        The number of resamples of the last three methods.
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
    axis : int, default -1
        The axis of the samples, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.

    Returns
    -------
    Interval
        ``estimate``, ``low``, ``high`` and ``standard_error``, each with one value for each batch
        entry; NaN where the metric is undefined. The bounds are NaN with a single sample, and where
        the method would give no width (every decision right, and another method than "logit+").

    See Also
    --------
    compare : The difference of two models, which is much more precise on the same samples.
    bootstrap : The resamples themselves.

    Notes
    -----
    The pseudo-observation weighs as much as one sample; for AUDRC as two, whose error rests on few
    confident errors. With ``groups`` it weighs between a sample and a cluster, by the design effect
    that is seen, as far as the clusters that move the estimate can show it; quantiles are Student's
    with at most the degrees of freedom of Bell and McCaffrey. If every decision is right, nothing
    says that clusters are not right or wrong as a whole, and it weighs as much as a cluster: the
    interval can then be wider than one with a few errors that are scattered over clusters.

    AUROC and the AUROC of the confidence compare two classes. Their quantiles are Student's with
    m + 4 degrees of freedom, m the effective number of samples (or clusters) in the smaller class.

    Bounds are NaN where nothing is known: all scores equal (AUROC), all confidences equal (AUROC of
    the confidence), or nothing decided.

    Examples
    --------
    Five decisions, all right:

    >>> from lxcim_xp import interval
    >>> found = interval(1, [1.0, 2.0, 3.0, 4.0, 5.0])
    >>> found.low.round(2), found.high
    (np.float64(0.28), np.float64(1.0))
    """
    check_level(level)
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}; found {method!r}.")
    kernel = kernel_of(metric)
    xp, samples = kernel.collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    drawn = design(xp, groups, strata, weight_type, samples.score, samples.weight, axis)
    found = bounded(xp, metric, samples, drawn, level, method, n_resamples, seed)
    return Interval(*finish_all(xp, samples, *found))


@moves_constants
def bootstrap(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: MetricName = "lxcim",
    groups: GroupsLike | None = None,
    n_resamples: int = 1000,
    seed: Seed = 0,
    bayes: bool = False,
    progress: bool = False,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return a metric of resamples of one list of samples, which is sorted once.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array of shape (n,)
        Scores that grow with the belief in the positive side; infinities are allowed. Integers
        become floats: beyond 2**53 neighbours tie (2**24 in float32).
    metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric.
    groups : array, optional
        The cluster of each sample: clusters are drawn, not samples. Integers from 0 without gaps
        where values cannot be inspected (any library but NumPy).
    n_resamples : int, default 1000
        The number of resamples.
    seed : int, numpy.random.Generator or JAX key, default 0
        Where random draws come from. A key needs JAX arrays and may be traced.
    bayes : bool, default False
        Whether to draw weights from a flat Dirichlet distribution (the Bayesian bootstrap) instead
        of drawing samples with replacement.
    progress : bool, default False
        Whether to show a progress bar; needs rich.
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
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.

    Returns
    -------
    array of shape (n_resamples,)
        The metric of each resample; NaN where a resample leaves it undefined.

    See Also
    --------
    interval : Intervals, from resamples or without.

    Notes
    -----
    A resample is a row of weights on the sorted samples. Memory is bounded: rows are made in
    chunks. For the discrete AUDRC a sample drawn twice counts as one of twice the weight.

    Examples
    --------
    >>> from lxcim_xp import bootstrap
    >>> bootstrap(1, [2.0, -1.0, 1.0, 3.0], n_resamples=500).std().round(1)
    np.float64(0.2)
    """
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1; found {n_resamples}.")
    kernel = kernel_of(metric)
    xp, samples = kernel.collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
    )
    refuse_batch("bootstrap", samples)
    drawn = design(xp, groups, None, "importance", samples.score, samples.weight, -1)
    descent = sorted_for(xp, kernel, samples, drawn)
    show = _bar if progress else iter
    draws = bootstrap_draws(
        xp, kernel, descent, drawn, n_resamples, seed, bayes=bayes, progress=show
    )
    return finish(xp, samples, draws)


@moves_constants
def significance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    null: Null = "coin",
    alternative: Alternative = "two-sided",
    chance: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Significance:
    """Test whether decisions are better than a coin's, or confidences better than none.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    null : {"coin", "uninformative"}, default "coin"
        "coin": each decision is right by a fair coin, whatever its confidence; LxCIM is 1/2 in
        expectation. "uninformative": at the accuracy that is there, confidence does not tell right
        decisions from wrong ones (the test of Mann and Whitney); LxCIM is the accuracy in
        expectation.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Which statistics speak against the null.
    chance : float or array, optional
        For the null "coin" and ``decision=confidence()``: how likely each decision is to be right
        by luck, 1/K for one answer out of K (``chance`` of :func:`lxcim_xp.choices.choose`). A half
        by default.
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
    Significance
        ``statistic`` (what :func:`lxcim` returns for the coin, :func:`confidence_auroc` for the
        second null), ``p_value``, and the names of ``null``, ``alternative`` and ``method``, which
        is one of the four below. Under ``jit`` return its arrays, not its names.

    See Also
    --------
    interval : How good, rather than whether better than chance.

    Notes
    -----
    Given the confidences, N^2 LxCIM is a sum of coins worth 2L + T each; an undecided sample earns
    half of its worth in any case. Where votes are split, the coin is about what the majority is
    ahead; the null "uninformative" takes whole labels only. This is not the null of Wilcoxon's
    signed-rank test, which has other scores.

    Weights count by their proportions: equal ones are no weights, and 1/6 and 1/2 are 1 and 3. The
    least weight may be up to 64 of such units; a few roundings do not matter. Outcomes that
    differ by rounding only tie, and ties count as extreme. ``method`` is

    - "exact" for up to 200 samples of equal weight, for up to 24 decisions of any weight (all
      outcomes are enumerated), and for whole weights where a table of the sums takes at most 1e8
      steps: decisions times W^2, W the sum of the weights in their unit; 100 decisions with W =
      1000, or many more if confidences tie.
    - "saddlepoint" for others: a formula that is corrected for continuity where weights are
      whole.
    - "exact or saddlepoint" where a batch has both, and where values cannot be inspected (any
      library but NumPy) with 25 to 200 weighted samples: they are exact if weights are equal, or
      whole with few levels of confidence. There, samples of weight 0 count towards 24 and 200.
    - "normal" for the null "uninformative", corrected for continuity if weights are equal.

    With ``chance``, the coins of the null are not fair, and credits between 0 and 1 (ties at the
    top of a list) count in the statistic but are whole coins in the null, which makes p-values a
    little too large. The two-sided p-value is twice the smaller one. "exact" is then for up to 200
    samples without weights, or 16 with any.

    Examples
    --------
    Five decisions, all right: one outcome of 32.

    >>> from lxcim_xp import significance
    >>> significance(1, [1.0, 2.0, 3.0, 4.0, 5.0], alternative="greater").p_value
    np.float64(0.03125)

    Two answers out of four alternatives each, both right: one chance in 16.

    >>> from lxcim_xp import confidence
    >>> guess = {"chance": 0.25, "decision": confidence()}
    >>> significance([1, 1], [1.0, 2.0], alternative="greater", **guess).p_value
    np.float64(0.0625)
    """
    for name, found, allowed in (
        ("null", null, _NULLS),
        ("alternative", alternative, _ALTERNATIVES),
    ):
        if found not in allowed:
            raise ValueError(f"{name} must be one of {allowed}; found {found!r}.")
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
    margins, uniform = margins_in_order(xp, samples), sample_weight is None
    if chance is not None:
        if null != "coin" or not samples.decision.is_confidence:
            raise ValueError(
                "chance= is about the null 'coin' and decision=confidence(), where y_true says "
                "which decisions were right. Pass both, or leave chance out."
            )
        metric = "lxcim"
        tails, method = chance_tails(xp, samples, chance, axis, uniform=uniform, exact_up_to=_EXACT)
    elif null == "uninformative":
        metric, method = "confidence_auroc", "normal"
        samples = whole_only(xp, samples, "Pass null='coin', or the side that most votes are for.")
        tails = mann_whitney_tails(xp, margins)
    else:
        metric = "lxcim"
        tails, method = coin_tails(xp, margins, uniform=uniform, exact_up_to=_EXACT)
    p_value = {"two-sided": two_sided(xp, tails), "less": tails.lower, "greater": tails.upper}[
        alternative
    ]
    kernel = KERNELS[metric]
    statistic = kernel.estimate(xp, kernel.sort.columns(xp, samples))[..., 0]
    statistic, p_value = finish_all(xp, samples, statistic, p_value)
    return Significance(statistic, p_value, null, alternative, method)


def _bar(chunks: Iterable[int]) -> Iterable[int]:
    try:
        from rich.progress import track
    except ImportError as error:
        raise ImportError("progress=True needs rich. Install it, or leave progress out.") from error
    bar: Iterable[int] = track(chunks, description="resampling", transient=True)
    return bar
