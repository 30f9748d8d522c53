"""The metrics of the paper, one function each.

Every function goes the same way: inputs -> samples -> margins -> ranks -> formula. A list of
scores, and the same list with one pair written the other way:

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

from __future__ import annotations

from typing import Literal, NamedTuple

from lxcim_xp._arrays.autodiff import constant
from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._arrays.primitives import divide, power_of_two, running_sum, share, take
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace
from lxcim_xp._numerics.isotonic import antitonic_share
from lxcim_xp._numerics.ordering import Ranked, concordance, ordering, rank, rank_by
from lxcim_xp._samples import formulas
from lxcim_xp._samples.by_confidence import or_one, summed, sums_by_confidence, totals
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.gain import collect_for_gain, gain_of, pairs_won
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import (
    Samples,
    classes,
    collect,
    collect_scores,
    credit,
    finish,
    in_units,
    positive_and_negative,
    positive_share,
    signed_confidence,
    weights,
)


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


@moves_constants
def accuracy(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the weighted share of right decisions, undecided ones counting half.

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    signed, weight = signed_confidence(xp, samples), weights(xp, samples)
    right = xp.sum(credit(xp, samples, signed) * weight, axis=-1)
    return finish(xp, samples, share(xp, right, xp.sum(weight, axis=-1)))


@moves_constants
def lxcim(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return LxCIM, the rank-based metric that is invariant to local exchange of classes.

    It is twice the area under the cumulative accuracy-decision rate curve: 1 for a perfect ranker,
    0.5 for coin flips, and the accuracy when the confidence says nothing. It makes no difference
    which side of each pair is called positive.

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    decomposition : Its parts: accuracy, and what confidence adds to it.
    augrc : The same quantity as a risk, (1 - LxCIM) / 2.

    Notes
    -----
    With margins m (positive when right) and weights w of sum W, it is the weighted share of pairs
    of samples, each also paired with itself, whose margins have a positive sum; a sum of zero
    counts half (Walsh averages). It equals the AUROC of the data joined with its exchanged copy,
    and for uniform weights (2 W+ - N ACC) / N^2 with the Wilcoxon signed-rank statistic W+ of the
    margins.

    Examples
    --------
    The margins are 3, 2 and -1. Of their nine pairwise sums eight are positive: 3+3, 2+2, and in
    both orders 3+2, 3-1 and 2-1. Only -1-1 is negative.

    >>> from lxcim_xp import lxcim
    >>> lxcim([1, 0, 1], [3.0, -2.0, -1.0]) * 9
    np.float64(8.0)
    """
    xp, samples = collect_for_gain(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    return finish(xp, samples, formulas.lxcim(xp, gain_of(xp, samples)))


@moves_constants
def decomposition(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Decomposition:
    """Split LxCIM into accuracy and what the confidence adds to it.

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
    xp, samples = collect_for_gain(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    ranks = gain_of(xp, samples)
    right, wrong, won = formulas.in_units_of_total(xp, ranks)
    total = right + wrong
    # H = ACC (1 - ACC) AUROC_conf is the part of the symmetric ROC's area (paper, its partition)
    # that ACC^2 leaves on either side of the axis.
    parts = Decomposition(
        lxcim=formulas.lxcim(xp, ranks),
        accuracy=formulas.accuracy(xp, ranks),
        confidence_auroc=formulas.confidence_auroc(xp, ranks),
        gain=divide(xp, 2 * won - right * wrong, total**2),
        half_area=divide(xp, won, total**2),
    )
    return Decomposition(*(finish(xp, samples, part) for part in parts))


@moves_constants
def confidence_auroc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the probability that a right decision is more confident than a wrong one, ties half.

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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


@moves_constants
def augrc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the area under the generalised risk-coverage curve (Traub et al. 2024).

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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
    xp, samples = collect_for_gain(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
    )
    ranks = gain_of(xp, samples)
    return finish(xp, samples, (1 - formulas.lxcim(xp, ranks)) / 2)


@moves_constants
def audrc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    form: Literal["discrete", "continuous"] = "discrete",
) -> Array:
    """Return the area under the accuracy-decision rate curve.

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
    form : {"discrete", "continuous"}, default "discrete"
        "discrete" is the paper's equation 1: the mean over k of the accuracy of the k most
        confident samples. "continuous" integrates the accuracy over all decision rates, also
        between samples; only in this form is an integer weight the same as repeating the sample.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    aurc : The same quantity as a risk, 1 - AUDRC.

    Notes
    -----
    A block of m tied samples of weight t in all, k of it right, counts as m samples of weight
    t / m, each right by k / t. For uniform weights this is the exact mean over all orders of the
    block; for any weights it does not depend on the order of the input.

    Examples
    --------
    The accuracies of the one, two and three most confident samples are 1, 1 and 2/3.

    >>> from lxcim_xp import audrc
    >>> audrc([1, 0, 1], [3.0, -2.0, -1.0]) * 9
    np.float64(8.0)
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
    return finish(xp, samples, _accuracy_rate_area(xp, samples, form))


@moves_constants
def aurc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    form: Literal["discrete", "continuous"] = "discrete",
) -> Array:
    """Return the area under the risk-coverage curve, 1 - AUDRC.

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
    form : {"discrete", "continuous"}, default "discrete"
        Mean over samples, or integral over all decision rates, see :func:`lxcim_xp.audrc`.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    augrc : The risk-coverage area that, unlike this one, treats all samples alike.

    Examples
    --------
    >>> from lxcim_xp import aurc
    >>> aurc(1, [2.0, -1.0])
    np.float64(0.25)
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
    return finish(xp, samples, 1 - _accuracy_rate_area(xp, samples, form))


@moves_constants
def auroc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the probability that a positive scores higher than a negative, ties half.

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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
    xp, samples = collect_scores(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
        relative_weights=False,
    )
    return finish(xp, samples, share(xp, *pairs_won(xp, samples)))


@moves_constants
def bi_auroc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the mean of the AUROC of +1 against the rest and of -1 against the rest.

    Parameters
    ----------
    y_true : array of {-1, 0, +1} or bool
        The class, where 0 is neither side. False is read as -1. Broadcasts against ``y_score``.
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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    auroc : The same without a third class.

    Notes
    -----
    Labels 0 and 1 leave the class -1 empty and give NaN: pass ``2 * y_true - 1``, or use ``auroc``.

    Examples
    --------
    >>> from lxcim_xp import bi_auroc
    >>> bi_auroc([1, 0, 0, -1], [2.0, 1.0, 3.0, -1.0])
    np.float64(0.8333333333333333)
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
        third_class=True,
        relative_weights=False,
    )
    weight = weights(xp, samples)
    up, down = (xp.astype(samples.label == side, weight.dtype) * weight for side in (1, -1))
    sides = [up, weight - up, down, weight - down]
    if samples.weight is not None:
        sides = [in_units(xp, side, alone=True)[0] for side in sides]
    up, not_up, down, not_down = rank(xp, samples.score, *sides)
    # The AUROC of -s for -1 is the one of s with the rest in the place of the positives.
    areas = formulas.area_under_roc(xp, up, not_up) + formulas.area_under_roc(xp, not_down, down)
    return finish(xp, samples, areas / 2)


@moves_constants
def average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the mean precision over the positives, taken at the score of each.

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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
    hits, others, count = rank(xp, -samples.score, positive, negative, None)
    seen = hits.through + others.through
    # With nothing at or above it, a positive is ready to be the first, and a precise one.
    precision = xp.where(seen > 0, hits.through / or_one(xp, seen), 1.0)
    # Each member of a block of ties has its part in it, so that no sum tells their order.
    part = (hits.through - hits.below) / (count.through - count.below)
    gained = xp.sum(part * precision, axis=-1)
    return finish(xp, samples, share(xp, gained, xp.sum(positive, axis=-1)))


@moves_constants
def ks_statistic(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the largest excess of the true over the false positive rate (Kolmogorov-Smirnov).

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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
    xp, samples = collect_scores(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
        relative_weights=False,
    )
    positive, negative = classes(xp, samples)
    hits, others = rank(xp, samples.score, positive, negative)
    # TPR - FPR above a score is the share of negatives below it less the share of positives.
    missed = divide(xp, hits.below, xp.sum(positive, axis=-1, keepdims=True))
    refused = divide(xp, others.below, xp.sum(negative, axis=-1, keepdims=True))
    excess = xp.max(refused - missed, axis=-1)
    return finish(xp, samples, share(xp, excess, xp.ones_like(excess)))


@moves_constants
def auch(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    """Return the area under the convex hull of the ROC curve.

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
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

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
    xp, samples = collect_scores(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
        relative_weights=False,
    )
    # In units in which the classes weigh about the same: no slope of the curve is lost.
    positive, negative = (
        weight / power_of_two(xp, xp.sum(weight, axis=-1, keepdims=True))
        for weight in classes(xp, samples)
    )
    places = ordering(xp, -samples.score)
    hits, others = (rank_by(xp, places, column) for column in (positive, negative))
    # From the highest score down, the slopes of the hull are the shares made non-increasing.
    weight = hits.value + others.value
    is_positive = take(xp, positive_share(xp, samples), places.order)
    hull_positive = weight * antitonic_share(xp, places, hits.value, weight, is_positive)
    reached = running_sum(xp, hull_positive)
    steps = (weight - hull_positive) * (reached[..., 1:] + reached[..., :-1])
    # No hull is below its curve, on which what wins comes before what it beats; where rounding puts
    # it there, it has the value of the curve and its own derivative.
    hull, curve = xp.sum(steps, axis=-1) / 2, concordance(xp, others, hits)
    hull = xp.where(curve > hull, constant(xp, curve) + (hull - constant(xp, hull)), hull)
    pairs = xp.sum(positive, axis=-1) * xp.sum(negative, axis=-1)
    return finish(xp, samples, share(xp, hull, pairs))


def _accuracy_rate_area(xp: Namespace, samples: Samples, form: str) -> Array:
    if form not in ("discrete", "continuous"):
        raise ValueError(f"form must be 'discrete' or 'continuous'; found {form!r}.")
    descent = sums_by_confidence(xp, samples)
    if form == "discrete":
        return formulas.audrc(xp, descent, uniform=samples.weight is None)

    def arcs(right: Ranked, everyone: Ranked) -> Array:
        # Paper, eq. AUDRC_similarity: the integral of (G + slope v) / (W + v) over the block,
        # shared out by weight. In the topmost block nothing lies above: the integrand is the slope.
        above, tied = everyone.below, everyone.through - everyone.below
        slope = (right.through - right.below) / or_one(xp, tied)
        length = tied / or_one(xp, above)
        bend = xp.where(length > 0, xp.log1p(length) / or_one(xp, length), 1.0)
        bend = xp.where(above > 0, (right.below / or_one(xp, above) - slope) * bend, 0.0)
        return xp.where(everyone.through > 0, everyone.value * (slope + bend), right.value)

    return share(xp, summed(xp, arcs, descent), totals(descent)[1][..., 0])
