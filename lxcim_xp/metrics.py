"""The metrics of the paper, one function each.

Every function takes one straight road: inputs -> samples -> margins -> ranks -> the formula. A
single list of scores, and the same list under another naming of the sides:

>>> from lxcim_xp import auroc, lxcim
>>> y_true, y_score = [0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0]
>>> lxcim(y_true, y_score), auroc(y_true, y_score)
(np.float64(0.625), np.float64(0.75))
>>> y_true, y_score = [0, 1, 1, 1], [-4.0, -3.0, -1.0, 2.0]  # the third pair written the other way
>>> lxcim(y_true, y_score), auroc(y_true, y_score)
(np.float64(0.625), np.float64(1.0))

Pairwise choices need no labels, only the margin of the right side over the wrong one:

>>> lxcim(1, [4.0, -3.0, -1.0, 2.0])
np.float64(0.625)

A batch, padded to a common length:

>>> import numpy as np
>>> margins = np.asarray([[4.0, -3.0, -1.0, 2.0], [1.0, -2.0, 0.0, 0.0]])
>>> counts = np.asarray([[True] * 4, [True, True, False, False]])
>>> lxcim(1, margins, where=counts)
array([0.625, 0.25 ])
"""

from typing import Any, Literal, NamedTuple

from lxcim_xp import _formulas
from lxcim_xp._array import Array, Namespace, divide, running_sum
from lxcim_xp._descent import descend_in_confidence, or_one, summed, totals
from lxcim_xp._docs import documented
from lxcim_xp._isotonic import antitonic
from lxcim_xp._margins import (
    Samples,
    collect,
    credit,
    finish,
    positive_and_negative,
    signed_margins,
    weights,
)
from lxcim_xp._ranks import Ranked, gain_of, pairs_won, rank
from lxcim_xp.decision import Decision


class Decomposition(NamedTuple):
    """LxCIM and the parts it is made of, as :func:`decomposition` returns them.

    Parameters
    ----------
    lxcim : array
        The whole: ``accuracy ** 2 + 2 * half_area``, which is ``accuracy + gain``.
    accuracy : array
        The share of right decisions.
    confidence_auroc : array
        The probability that a right decision is more confident than a wrong one.
    gain : array
        What the confidence adds to the accuracy.
    half_area : array
        The paper's H: the area between the symmetric ROC curve and the square of the accuracy, on
        one side of its axis.

    Examples
    --------
    >>> from lxcim_xp import decomposition
    >>> decomposition(1, [2.0, -1.0])._fields
    ('lxcim', 'accuracy', 'confidence_auroc', 'gain', 'half_area')
    """

    lxcim: Array
    accuracy: Array
    confidence_auroc: Array
    gain: Array
    half_area: Array


@documented
def accuracy(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the weighted share of right decisions, undecided ones counting half.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    lxcim : The metric that also asks whether the confident decisions are the right ones.

    Examples
    --------
    >>> from lxcim_xp import accuracy
    >>> accuracy([1, 0, 1, 1], [2.0, -1.0, -3.0, 0.0])
    np.float64(0.625)
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    margins = signed_margins(xp, samples)
    weight = weights(xp, samples)
    right = xp.sum(credit(xp, margins) * weight, axis=-1)
    return finish(xp, samples, divide(xp, right, xp.sum(weight, axis=-1)))


@documented
def lxcim(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return LxCIM, the rank-based metric that is invariant to local exchange of classes.

    It is twice the area under the cumulative accuracy-decision rate curve: 1 for a perfect ranker,
    0.5 for a coin, and the accuracy when confidence says nothing. Which side of each pair is called
    positive makes no difference.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    decomposition : Its parts: accuracy, and what confidence adds to it.
    augrc : The same quantity as a risk, (1 - LxCIM) / 2.

    Notes
    -----
    With margins m (positive when right) and weights w of sum W, it is the weighted share of pairs,
    each sample also with itself, whose margins sum to more than zero, sums of zero counting half
    (Walsh averages). It equals the AUROC of the data joined with its exchanged copy, and for
    uniform weights (2 W+ - N ACC) / N^2 with the Wilcoxon signed-rank statistic W+ of the margins.

    Examples
    --------
    Margins 3, 2 and -1: of the nine pair sums six are positive of two kinds (3+3, 3+2, 2+3, 2+2,
    3-1, -1+3), and 2-1, -1+2 are positive too; only -1-1 is negative.

    >>> from lxcim_xp import lxcim
    >>> lxcim([1, 0, 1], [3.0, -2.0, -1.0]) * 9
    np.float64(8.0)
    """
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight,
        where,
        threshold,
        decision,
        axis,
        nan_policy,
        narrow_weights=True,
    )
    return finish(xp, samples, _formulas.lxcim(xp, gain_of(xp, samples)))


@documented
def decomposition(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Decomposition:
    """Split LxCIM into accuracy and what the confidence adds to it.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    Decomposition
        ``lxcim``, ``accuracy``, ``confidence_auroc``, ``gain`` and ``half_area``, with
        ``lxcim == accuracy + gain == accuracy ** 2 + 2 * half_area`` and
        ``half_area == accuracy * (1 - accuracy) * confidence_auroc``. When all decisions are right,
        or all are wrong, ``confidence_auroc`` is NaN and the other parts are defined.

    See Also
    --------
    lxcim : The whole.
    confidence_auroc : How well confidence tells right decisions from wrong ones.

    Examples
    --------
    >>> from lxcim_xp import decomposition
    >>> parts = decomposition([1, 1, 1, 0], [3.0, 2.0, -1.0, 2.0])
    >>> parts.accuracy, parts.gain, parts.lxcim
    (np.float64(0.5), np.float64(0.1875), np.float64(0.6875))
    """
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight,
        where,
        threshold,
        decision,
        axis,
        nan_policy,
        narrow_weights=True,
    )
    ranks = gain_of(xp, samples)
    right, wrong, gain = ranks
    total = right + wrong
    # H = ACC (1 - ACC) AUROC_conf is the part of the symmetric ROC's area (paper, its partition)
    # that ACC^2 leaves on either side of the axis.
    parts = Decomposition(
        lxcim=_formulas.lxcim(xp, ranks),
        accuracy=_formulas.accuracy(xp, ranks),
        confidence_auroc=_formulas.confidence_auroc(xp, ranks),
        gain=divide(xp, gain, total**2),
        half_area=divide(xp, right * wrong + gain, 2 * total**2),
    )
    return Decomposition(*(finish(xp, samples, part) for part in parts))


@documented
def confidence_auroc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the probability that a right decision is more confident than a wrong one, ties half.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    decomposition : LxCIM from this and the accuracy.

    Notes
    -----
    An undecided sample is half right and half wrong. Without any right or any wrong decision the
    quantity is undefined (NaN), while LxCIM is not.

    Examples
    --------
    >>> from lxcim_xp import confidence_auroc
    >>> confidence_auroc([1, 1, 1, 0], [3.0, 2.0, -1.0, 2.0])
    np.float64(0.875)
    """
    return decomposition(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    ).confidence_auroc


@documented
def augrc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the area under the generalised risk-coverage curve (Traub et al. 2024).

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    lxcim : The same quantity as a score, 1 - 2 AUGRC.

    Examples
    --------
    >>> from lxcim_xp import augrc, lxcim
    >>> margins = [3.0, 2.0, -1.0, -2.0]
    >>> augrc(1, margins), (1 - lxcim(1, margins)) / 2
    (np.float64(0.15625), np.float64(0.15625))
    """
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight,
        where,
        threshold,
        decision,
        axis,
        nan_policy,
        narrow_weights=True,
    )
    ranks = gain_of(xp, samples)
    return finish(xp, samples, (1 - _formulas.lxcim(xp, ranks)) / 2)


@documented
def audrc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
    form: Literal["discrete", "continuous"] = "discrete",
) -> Array:
    """Return the area under the accuracy-decision rate curve.

    Parameters
    ----------
    <SAMPLES>
    form : {"discrete", "continuous"}, default "discrete"
        "discrete" is the paper's equation 1: the mean over k of the accuracy of the k most
        confident samples. "continuous" integrates the accuracy over all decision rates, between
        samples too; only there is an integer weight the same as repeating the sample.

    Returns
    -------
    <RESULT>

    See Also
    --------
    aurc : The same quantity as a risk, 1 - AUDRC.

    Notes
    -----
    A tied block of m samples of weight t, k of it right, counts as m samples of weight t / m, each
    right by k / t: for uniform weights the exact mean over all orders of the block, and for any
    weights independent of the order of the input.

    Examples
    --------
    The accuracies of the first one, two, and three most confident are 1, 1, and 2/3.

    >>> from lxcim_xp import audrc
    >>> audrc([1, 0, 1], [3.0, -2.0, -1.0]) * 9
    np.float64(8.0)
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return finish(xp, samples, _accuracy_rate_area(xp, samples, form))


@documented
def aurc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
    form: Literal["discrete", "continuous"] = "discrete",
) -> Array:
    """Return the area under the risk-coverage curve, 1 - AUDRC.

    Parameters
    ----------
    <SAMPLES>
    form : {"discrete", "continuous"}, default "discrete"
        Mean over samples, or integral over all decision rates, see :func:`audrc`.

    Returns
    -------
    <RESULT>

    See Also
    --------
    augrc : The risk-coverage area that, unlike this one, averages over all samples alike.

    Examples
    --------
    >>> from lxcim_xp import aurc
    >>> aurc(1, [2.0, -1.0])
    np.float64(0.25)
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return finish(xp, samples, 1 - _accuracy_rate_area(xp, samples, form))


@documented
def auroc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the probability that a positive scores higher than a negative, ties half.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    lxcim : The metric that does not change when sides are renamed.

    Notes
    -----
    Not invariant to local exchange of classes. Only the order of the scores matters; ``threshold``
    says where ``nan_policy="abstain"`` puts a missing score.

    Examples
    --------
    >>> from lxcim_xp import auroc
    >>> auroc([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0])
    np.float64(0.75)
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return finish(xp, samples, divide(xp, *pairs_won(xp, samples)))


@documented
def bi_auroc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the mean of the AUROC of +1 against the rest and of -1 against the rest.

    Parameters
    ----------
    y_true : array of {-1, 0, +1} or bool
        The class, where 0 is neither side. False is read as -1. Broadcasts against ``y_score``.
    <SCORES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    auroc : The same without a third class.

    Notes
    -----
    Labels 0 and 1 leave the class -1 empty and give NaN: pass ``2 * y_true - 1``, or ``auroc``.

    Examples
    --------
    >>> from lxcim_xp import bi_auroc
    >>> bi_auroc([1, 0, 0, -1], [2.0, 1.0, 3.0, -1.0])
    np.float64(0.8333333333333333)
    """
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight,
        where,
        threshold,
        decision,
        axis,
        nan_policy,
        third_class=True,
    )
    weight = weights(xp, samples)
    up, down = (xp.astype(samples.label == side, weight.dtype) * weight for side in (1, -1))
    up, not_up, down, not_down = rank(xp, samples.score, up, weight - up, down, weight - down)
    # The AUROC of -s for -1 is the one of s with the rest in the place of the positives.
    areas = _formulas.area_under_roc(xp, up, not_up) + _formulas.area_under_roc(xp, not_down, down)
    return finish(xp, samples, areas / 2)


@documented
def average_precision(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the mean precision over the positives, taken at the score of each.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    auroc : The area under the other common curve of positives against negatives.

    Notes
    -----
    Not invariant to local exchange of classes. ``threshold`` says where ``nan_policy="abstain"``
    puts a missing score.

    Examples
    --------
    >>> from lxcim_xp import average_precision
    >>> average_precision([1, 0, 1], [3.0, 2.0, 1.0]) * 6
    np.float64(5.0)
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    positive, negative = positive_and_negative(xp, samples)
    hits, others = rank(xp, samples.score, positive, negative)
    hit_total = xp.sum(positive, axis=-1, keepdims=True)
    hits_from_here = hit_total - hits.below
    others_from_here = xp.sum(negative, axis=-1, keepdims=True) - others.below
    # A sample of weight zero may have nothing at or above it; it adds nothing either way.
    present = hits.value > 0
    precision = hits_from_here / xp.where(
        present, hits_from_here + others_from_here, xp.ones_like(hits_from_here)
    )
    gained = xp.where(present, hits.value * precision, xp.zeros_like(precision))
    return finish(xp, samples, divide(xp, xp.sum(gained, axis=-1), hit_total[..., 0]))


@documented
def ks_statistic(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the largest excess of the true over the false positive rate (Kolmogorov-Smirnov).

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    auroc : The area under the curve of which this is the largest height over the diagonal.

    Notes
    -----
    Not invariant to local exchange of classes. ``threshold`` says where ``nan_policy="abstain"``
    puts a missing score.

    Examples
    --------
    >>> from lxcim_xp import ks_statistic
    >>> ks_statistic([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0])
    np.float64(0.5)
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    positive, negative = positive_and_negative(xp, samples)
    hits, others = rank(xp, samples.score, positive, negative)
    # TPR - FPR above a score is the share of negatives below it less the share of positives.
    missed = divide(xp, hits.below, xp.sum(positive, axis=-1, keepdims=True))
    refused = divide(xp, others.below, xp.sum(negative, axis=-1, keepdims=True))
    return finish(xp, samples, xp.max(refused - missed, axis=-1))


@documented
def auch(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> Array:
    """Return the area under the convex hull of the ROC curve.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    <RESULT>

    See Also
    --------
    auroc : The area under the curve itself.

    Notes
    -----
    Not invariant to local exchange of classes. The hull is the ROC curve after isotonic
    calibration of the scores. ``threshold`` says where ``nan_policy="abstain"`` puts a missing
    score.

    Examples
    --------
    >>> from lxcim_xp import auch, auroc
    >>> y_true, y_score = [0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0]
    >>> auroc(y_true, y_score), auch(y_true, y_score)
    (np.float64(0.75), np.float64(0.875))
    """
    xp, samples = collect(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    positive, _ = positive_and_negative(xp, samples)
    hits, everyone = rank(xp, samples.score, positive, weights(xp, samples))
    tied = everyone.through - everyone.below
    share = (hits.through - hits.below) / xp.where(tied > 0, tied, xp.ones_like(tied))
    # From the highest score down, the slopes of the hull are the shares made non-increasing.
    weight = xp.flip(everyone.value, axis=-1)
    hull_positive = weight * antitonic(xp, xp.flip(share, axis=-1), weight)
    hull_negative = weight - hull_positive
    reached = running_sum(xp, hull_positive)
    area = xp.sum(hull_negative * (reached[..., 1:] + reached[..., :-1]), axis=-1) / 2
    classes = xp.sum(hits.value, axis=-1) * xp.sum(weight - xp.flip(hits.value, axis=-1), axis=-1)
    return finish(xp, samples, divide(xp, area, classes))


def _accuracy_rate_area(xp: Namespace, samples: Samples, form: str) -> Array:
    if form not in ("discrete", "continuous"):
        raise ValueError(f"form must be 'discrete' or 'continuous'; found {form!r}.")
    descent = descend_in_confidence(xp, samples, keyed=False, placed=False, streamed=True)
    if form == "discrete":
        return _formulas.audrc(xp, descent, uniform=samples.weight is None)

    def arcs(right: Ranked, everyone: Ranked) -> Array:
        # Paper, eq. AUDRC_similarity: the integral of (G + slope v) / (W + v) over the block,
        # shared out by weight. In the topmost block nothing lies above: the integrand is the slope.
        above, tied = everyone.below, everyone.through - everyone.below
        slope = (right.through - right.below) / or_one(xp, tied)
        bend = (right.below - slope * above) / or_one(xp, tied)
        bend = xp.where(above > 0, bend * xp.log1p(tied / or_one(xp, above)), 0.0)
        return everyone.value * (slope + bend)

    return divide(xp, summed(xp, arcs, descent), totals(descent)[1][..., 0])
