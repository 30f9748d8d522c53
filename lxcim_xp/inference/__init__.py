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

from collections.abc import Iterable
from typing import Any, NamedTuple

from lxcim_xp._array import Array
from lxcim_xp._checks import check_level
from lxcim_xp._docs import documented
from lxcim_xp._influence import KERNELS, kernel_of
from lxcim_xp._intervals import (
    estimated,
    estimated_twice,
    logit_bounds,
    placed_influence,
    resampled_bounds,
    sorted_for,
    wald_bounds,
)
from lxcim_xp._margins import collect, finish, signed_margins
from lxcim_xp._null import (
    coins,
    common_span,
    exact_coin_tails,
    mann_whitney_tails,
    saddlepoint_coin_tails,
    two_sided,
)
from lxcim_xp._resample import bootstrap_draws
from lxcim_xp._variance import design, in_order
from lxcim_xp.decision import Decision

_NULLS = ("coin", "uninformative")
_ALTERNATIVES = ("two-sided", "greater", "less")
_EXACT = 200  # samples up to which the distribution of the coins is computed in full
_METHODS = ("logit+", "logit", "wald", "bootstrap", "bca", "bayes")


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
        LxCIM, or the AUROC of the confidence.
    p_value : array
        The chance of a statistic as extreme under the null.
    null : str
        What was tested.
    alternative : str
        Which statistics count as extreme.
    method : str
        How the p-value was computed.

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


@documented
def influence(
    y_true: Any,
    y_score: Any,
    *,
    metric: str = "lxcim",
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return how much each sample moves a metric, in the order of the input.

    It is the weight of the sample times the derivative of the metric by it. The values sum to
    zero; the sum of their squares is, up to n / (n - 1), the squared standard error.

    Parameters
    ----------
    <LABEL_AND_SCORE>
    <METRIC>
    <OPTIONS>

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
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    value = finish(xp, samples, placed_influence(xp, kernel, samples)[1])
    return value if axis == -1 else xp.moveaxis(value, -1, axis)


@documented
def standard_error(
    y_true: Any,
    y_score: Any,
    *,
    metric: str = "lxcim",
    groups: Any = None,
    strata: Any = None,
    weight_type: str = "importance",
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the standard error of a metric.

    Parameters
    ----------
    <LABEL_AND_SCORE>
    <METRIC>
    <DESIGN>
    <OPTIONS>

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
    not certainty; :func:`interval` does not collapse there. The standard error by DeLong of the
    AUROC of the doubled data is too small by a factor of sqrt(2), because each sample is there
    twice.

    Examples
    --------
    >>> from lxcim_xp import standard_error
    >>> standard_error(1, [2.0, -1.0, 1.0, 3.0], metric="accuracy")
    np.float64(0.25)
    """
    kernel = kernel_of(metric)
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    drawn = design(xp, groups, strata, weight_type, samples.score, axis)
    return finish(xp, samples, estimated(xp, kernel, samples, drawn).error)


@documented
def interval(
    y_true: Any,
    y_score: Any,
    *,
    metric: str = "lxcim",
    level: float = 0.95,
    method: str = "logit+",
    groups: Any = None,
    strata: Any = None,
    weight_type: str = "importance",
    n_resamples: int = 2000,
    seed: Any = 0,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Interval:
    """Return a confidence interval that stays between 0 and 1 and does not collapse at 1.

    Parameters
    ----------
    <LABEL_AND_SCORE>
    <METRIC>
    level : float, default 0.95
        The coverage, between 0 and 1.
    method : {"logit+", "logit", "wald", "bootstrap", "bca", "bayes"}, default "logit+"
        "wald" is the estimate plus and minus standard errors, cut at 0 and 1. "logit" is that on
        the scale of log-odds. "logit+" joins it with the one after adding a pseudo-observation,
        half right and half wrong, spread over the observed confidences. "bootstrap" takes
        percentiles of resamples, "bca" corrects them for bias and skewness, "bayes" takes
        percentiles of Bayesian resamples. Of these only "logit+" has a width when every decision
        is right.
    <DESIGN>
    n_resamples : int, default 2000
        The number of resamples of the last three methods.
    seed : int, numpy.random.Generator or JAX key, default 0
        Where they come from.
    <OPTIONS>

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

    Examples
    --------
    Five decisions, all right:

    >>> from lxcim_xp import interval
    >>> found = interval(1, [1.0, 2.0, 3.0, 4.0, 5.0])
    >>> found.low.round(2), found.high
    (np.float64(0.28), np.float64(1.0))
    """
    check_level(level)
    if method not in _METHODS:
        raise ValueError(f"method must be one of {_METHODS}; found {method!r}.")
    kernel = kernel_of(metric)
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    drawn = design(xp, groups, strata, weight_type, samples.score, axis)
    if method == "logit+":
        found, steady = estimated_twice(xp, metric, samples, drawn)
    else:
        sums_only = method in ("wald", "logit")
        found = estimated(xp, kernel, samples, drawn, sums_only=sums_only)
    estimate, error = found.value[..., 0], found.error
    if method == "wald":
        low, high = wald_bounds(estimate, error, level)
    elif method == "logit":
        low, high = logit_bounds(xp, estimate, error, level)
    elif method == "logit+":
        (low, high), (lower, higher) = (
            logit_bounds(xp, *each, level) for each in ((estimate, error), steady)
        )
        low, high = xp.minimum(low, lower), xp.maximum(high, higher)
    else:
        low, high = resampled_bounds(
            xp, kernel, found, samples, drawn, level, method, n_resamples, seed
        )
    one = xp.ones_like(estimate)
    low, high = xp.maximum(low, 0 * one), xp.minimum(high, one)
    # One sample, or one cluster, says nothing about the spread, and no width is no certainty.
    seen = ~xp.isnan(error) & (low < high)
    low, high = (xp.where(seen, bound, xp.full_like(bound, xp.nan)) for bound in (low, high))
    return Interval(*(finish(xp, samples, part) for part in (estimate, low, high, error)))


@documented
def bootstrap(
    y_true: Any,
    y_score: Any,
    *,
    metric: str = "lxcim",
    n_resamples: int = 1000,
    seed: Any = 0,
    bayes: bool = False,
    groups: Any = None,
    progress: bool = False,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    nan_policy: str = "raise",
) -> Array:
    """Return a metric of resamples of one list of samples, which is sorted once.

    Parameters
    ----------
    <LABEL_AND_SCORE>
    <METRIC>
    n_resamples : int, default 1000
        The number of resamples.
    seed : int, numpy.random.Generator or JAX key, default 0
        Where they come from. A key needs JAX arrays, and may be traced.
    bayes : bool, default False
        Whether to draw weights from a flat Dirichlet distribution (the Bayesian bootstrap) instead
        of drawing samples with replacement.
    groups : array, optional
        The cluster of each sample: clusters are drawn, not samples. Integers from 0 without gaps
        where values cannot be inspected (any library but NumPy).
    progress : bool, default False
        Whether to show a progress bar; needs rich.
    <COUNTING>
    <MISSING>

    Returns
    -------
    array of shape (n_resamples,)
        The metric of each resample; NaN where a resample leaves it undefined.

    See Also
    --------
    interval : Intervals from them, and without.

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
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, -1, nan_policy
    )
    if samples.score.ndim != 1:
        raise ValueError(
            f"bootstrap takes one list of samples; found y_score of shape "
            f"{tuple(samples.score.shape)}. Call it for each entry, or map it with jax.vmap."
        )
    drawn = design(xp, groups, None, "importance", samples.score, -1)
    descent = sorted_for(xp, kernel, samples, drawn)
    groups = in_order(xp, drawn, descent.places.order).groups
    show = _bar if progress else iter
    draws = bootstrap_draws(xp, kernel, descent, groups, n_resamples, seed, bayes, show)
    return finish(xp, samples, draws)


@documented
def significance(
    y_true: Any,
    y_score: Any,
    *,
    null: str = "coin",
    alternative: str = "two-sided",
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Significance:
    """Test whether decisions are better than a coin's, or confidences better than none.

    Parameters
    ----------
    <LABEL_AND_SCORE>
    null : {"coin", "uninformative"}, default "coin"
        "coin": each decision is right by a fair coin, whatever its confidence; LxCIM is 1/2 in
        expectation. "uninformative": at the accuracy that is there, confidence does not tell right
        decisions from wrong ones (the test of Mann and Whitney); LxCIM is the accuracy in
        expectation.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Which statistics speak against the null.
    <OPTIONS>

    Returns
    -------
    Significance
        ``statistic``, ``p_value``, and the names of ``null``, ``alternative`` and ``method``:
        "exact" for the coin with up to 200 samples of equal weight, "saddlepoint" for more or
        weighted ones, "normal" for the second null. Under ``jit`` return its arrays, not its names.

    See Also
    --------
    interval : How large, rather than whether.

    Notes
    -----
    Given the confidences, N^2 LxCIM is a sum of coins worth 2L + T each; undecided samples earn
    half of theirs in any case. This is not the null of Wilcoxon's signed-rank test, which has other
    scores.

    Examples
    --------
    Five decisions, all right: one outcome of 32.

    >>> from lxcim_xp import significance
    >>> significance(1, [1.0, 2.0, 3.0, 4.0, 5.0], alternative="greater").p_value
    np.float64(0.03125)
    """
    for name, found, allowed in (
        ("null", null, _NULLS),
        ("alternative", alternative, _ALTERNATIVES),
    ):
        if found not in allowed:
            raise ValueError(f"{name} must be one of {allowed}; found {found!r}.")
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    margins, uniform = signed_margins(xp, samples), sample_weight is None
    metric, method = "lxcim", "exact"
    if null == "uninformative":
        metric, method = "confidence_auroc", "normal"
        tails = mann_whitney_tails(xp, margins, uniform=uniform)
    else:
        score, observed = coins(xp, margins)
        if uniform and score.shape[-1] <= _EXACT:
            tails = exact_coin_tails(xp, score, observed)
        else:
            method = "saddlepoint"
            span = common_span(xp, score) if uniform else None
            tails = saddlepoint_coin_tails(xp, score, observed, span)
    p_value = {"two-sided": two_sided(xp, tails), "less": tails.lower, "greater": tails.upper}[
        alternative
    ]
    kernel = KERNELS[metric]
    statistic = kernel.estimate(xp, kernel.sort(xp, samples, placed=False))[..., 0]
    statistic, p_value = (finish(xp, samples, part) for part in (statistic, p_value))
    return Significance(statistic, p_value, null, alternative, method)


def _bar(chunks: Iterable[int]) -> Iterable[int]:
    try:
        from rich.progress import track
    except ImportError as error:
        raise ImportError("progress=True needs rich. Install it, or leave progress out.") from error
    bar: Iterable[int] = track(chunks, description="resampling", transient=True)
    return bar
