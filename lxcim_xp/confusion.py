"""Confusion vectors [TP, FP, FN, TN] and the metrics that are functions of them.

The vector is counted from samples by :func:`confusion`; every other function takes such vectors,
weighted or not, with leading axes as a batch. What has no value (a precision when nothing was
called positive) is NaN. :func:`lxcim_xp.exchange_confusion` and :func:`lxcim_xp.class_sensitivity`
say what a local exchange of classes does to a vector and to a metric of it.

>>> from lxcim_xp import confusion
>>> counts = confusion.confusion([1, 0, 1, 1], [2.0, -1.0, -3.0, 1.0])
>>> counts
array([2., 0., 1., 1.])
>>> confusion.f1(counts)
np.float64(0.8)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lxcim_xp._arrays.autodiff import gradients
from lxcim_xp._arrays.namespaces import (
    as_array,
    default_float,
    kind_of,
    moves_constants,
    namespace,
    scalar_if_numpy,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._arrays.primitives import first_position, power_of_two, share
from lxcim_xp._arrays.typing import Array, ArrayLike, DType, Namespace
from lxcim_xp._samples.checks import counts_or_nan, refuse_confidence
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import (
    collect,
    finish,
    positive_and_negative,
    signed_confidence,
)


@moves_constants
def confusion(
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
    """Return the weighted counts TP, FP, FN, TN; an undecided sample counts half on each side.

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
    array of shape (..., 4)
        TP, FP, FN, TN of each batch entry on a new last axis, in the library, dtype and device of
        ``y_score``; in the widest float for scores of 16 bits, which cannot count far.

    See Also
    --------
    accuracy, f1, mcc : Functions of such vectors.

    Examples
    --------
    >>> from lxcim_xp.confusion import confusion
    >>> confusion([1, 0, 1, 1], [2.0, -1.0, -3.0, 0.0])
    array([1.5, 0. , 1.5, 1. ])
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
    refuse_confidence(samples.decision, "It does not say which side was chosen.")
    signed, (positive, negative) = (
        signed_confidence(xp, samples),
        positive_and_negative(xp, samples),
    )
    # What is decided for the positive side: all, half where undecided, or nothing.
    above, below = (xp.astype(side > 0, positive.dtype) for side in (signed, -signed))
    chosen = (1 + above - below) / 2
    cells = (positive * chosen, negative * chosen, positive * (1 - chosen), negative * (1 - chosen))
    counts = xp.stack([xp.sum(cell, axis=-1) for cell in cells], axis=-1)
    if samples.weight_unit is not None:
        counts = counts * samples.weight_unit
    counts_far = xp.finfo(samples.dtype).bits >= 32
    dtype = samples.dtype if counts_far else counts.dtype
    return finish(xp, samples._replace(dtype=dtype), counts)


@moves_constants
def accuracy(confusion: ArrayLike) -> Array:
    """Return the share of right decisions, (TP + TN) / all.

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector.

    Examples
    --------
    >>> from lxcim_xp.confusion import accuracy
    >>> accuracy([40, 10, 20, 30])
    np.float64(0.7)
    """
    xp, dtype, tp, fp, fn, tn = _cells(confusion)
    return _result(xp, dtype, _share(xp, (tp, tn), (fp, fn)))


@moves_constants
def sensitivity(confusion: ArrayLike) -> Array:
    """Return the share of positives that were called positive (recall), TP / (TP + FN).

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN without positives.

    Examples
    --------
    >>> from lxcim_xp.confusion import sensitivity
    >>> sensitivity([30, 10, 10, 50])
    np.float64(0.75)
    """
    xp, dtype, tp, _, fn, _ = _cells(confusion)
    return _result(xp, dtype, _share(xp, (tp,), (fn,)))


@moves_constants
def specificity(confusion: ArrayLike) -> Array:
    """Return the share of negatives that were called negative, TN / (TN + FP).

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN without negatives.

    Examples
    --------
    >>> from lxcim_xp.confusion import specificity
    >>> specificity([40, 10, 20, 30])
    np.float64(0.75)
    """
    xp, dtype, _, fp, _, tn = _cells(confusion)
    return _result(xp, dtype, _share(xp, (tn,), (fp,)))


@moves_constants
def precision(confusion: ArrayLike) -> Array:
    """Return the share of samples called positive that are positive, TP / (TP + FP).

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN when nothing was called positive.

    Examples
    --------
    >>> from lxcim_xp.confusion import precision
    >>> precision([40, 10, 20, 30])
    np.float64(0.8)
    """
    xp, dtype, tp, fp, _, _ = _cells(confusion)
    return _result(xp, dtype, _share(xp, (tp,), (fp,)))


@moves_constants
def fdr(confusion: ArrayLike) -> Array:
    """Return the false discovery rate, FP / (TP + FP).

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN when nothing was called positive.

    Examples
    --------
    >>> from lxcim_xp.confusion import fdr
    >>> fdr([40, 10, 20, 30])
    np.float64(0.2)
    """
    xp, dtype, tp, fp, _, _ = _cells(confusion)
    return _result(xp, dtype, _share(xp, (fp,), (tp,)))


@moves_constants
def f1(confusion: ArrayLike) -> Array:
    """Return the harmonic mean of precision and sensitivity, 2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN if no sample is positive or was called so.

    Examples
    --------
    >>> from lxcim_xp.confusion import f1
    >>> f1([30, 10, 10, 50])
    np.float64(0.75)
    """
    xp, dtype, tp, fp, fn, _ = _cells(confusion)
    return _result(xp, dtype, _share(xp, (tp, tp), (fp, fn)))


@moves_constants
def balanced_accuracy(confusion: ArrayLike) -> Array:
    """Return the mean of sensitivity and specificity.

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN when a class is empty.

    Examples
    --------
    >>> from lxcim_xp.confusion import balanced_accuracy
    >>> balanced_accuracy([30, 10, 10, 30])
    np.float64(0.75)
    """
    xp, dtype, tp, fp, fn, tn = _cells(confusion)
    return _result(xp, dtype, (_share(xp, (tp,), (fn,)) + _share(xp, (tn,), (fp,))) / 2)


@moves_constants
def mcc(confusion: ArrayLike) -> Array:
    """Return Matthews' correlation coefficient of decision and label.

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array
        One value for each vector; NaN when all labels, or all decisions, are the same.

    Examples
    --------
    >>> from lxcim_xp.confusion import mcc
    >>> mcc([30, 10, 10, 30])
    np.float64(0.5)
    """
    xp, dtype, *cells = _cells(confusion)
    # In quarters, so that no sum of two overflows; the scale does not matter.
    tp, fp, fn, tn = (cell / 4 for cell in cells)
    called, not_called, true, false = tp + fp, fn + tn, tp + fn, fp + tn
    right = _cosine(xp, tp, called, true) * _cosine(xp, tn, not_called, false)
    wrong = _cosine(xp, fp, called, false) * _cosine(xp, fn, not_called, true)
    known = (called > 0) & (not_called > 0) & (true > 0) & (false > 0)
    value = xp.where(known, right - wrong, xp.nan)
    value = xp.where(xp.abs(value) > 1, xp.copysign(xp.ones_like(value), value), value)
    return _result(xp, dtype, value)


@moves_constants
def exchange_confusion(
    confusion: ArrayLike, delta_right: ArrayLike | None = None, delta_wrong: ArrayLike | None = None
) -> Array:
    """Exchange classes at the level of the confusion vector.

    Exchanging right negatives moves weight from TN to TP, exchanging wrong ones from FP to FN:
    [TP + d1, FP - d2, FN + d2, TN - d1].

    Parameters
    ----------
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.
    delta_right : float or array, optional
        The weight d1 moved from TN to TP, or back if negative. By default TN - TP.
    delta_wrong : float or array, optional
        The weight d2 moved from FP to FN, or back if negative. By default FP - FN. With both
        defaults all samples are exchanged, which gives [TN, FN, FP, TP] (I1, the swap of classes).

    Returns
    -------
    array of shape (..., 4)
        The confusion vector after the exchange.

    See Also
    --------
    class_sensitivity : What an infinitesimal exchange does to a metric.

    Examples
    --------
    >>> from lxcim_xp import exchange_confusion
    >>> exchange_confusion([40, 10, 20, 30], 5, 10)
    array([45.,  0., 30., 25.])
    >>> exchange_confusion([40, 10, 20, 30])
    array([30., 20., 10., 40.])
    """
    namespace(confusion=confusion, delta_right=delta_right, delta_wrong=delta_wrong)
    xp, dtype, tp, fp, fn, tn = _cells(confusion)
    right = tn - tp if delta_right is None else xp.astype(as_array(xp, delta_right, tp), tp.dtype)
    wrong = fp - fn if delta_wrong is None else xp.astype(as_array(xp, delta_wrong, tp), tp.dtype)
    cells = xp.broadcast_arrays(tp + right, fp - wrong, fn + wrong, tn - right)
    exchanged = xp.astype(xp.stack(cells, axis=-1), dtype)
    negative = exchanged < 0
    if not values_are_at_hand(xp):
        return xp.where(negative, xp.full_like(exchanged, xp.nan), exchanged)
    position = first_position(negative)
    if position is not None:
        raise ValueError(
            f"an exchange cannot move more weight than a cell holds; it would leave "
            f"{exchanged[position]:g} at position {position}. Keep delta_right between -TP and TN "
            f"and delta_wrong between -FN and FP."
        )
    return exchanged


@moves_constants
def class_sensitivity(metric: Callable[[Any], Any], confusion: ArrayLike) -> Array:
    """Return what an infinitesimal exchange of classes does to a metric of confusion vectors.

    These are the derivatives along the two directions in which an exchange can move weight:
    df/dTP - df/dTN for right decisions and df/dFN - df/dFP for wrong ones. A metric is invariant
    to local exchange of classes if and only if both are zero everywhere.

    Parameters
    ----------
    metric : callable
        A function of confusion vectors, see :mod:`lxcim_xp.confusion`, that takes a batch on
        leading axes.
    confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.

    Returns
    -------
    array of shape (..., 2)
        The two derivatives: by automatic differentiation under JAX and PyTorch, by central
        differences elsewhere.

    See Also
    --------
    exchange_confusion : An exchange of finite weight.

    Examples
    --------
    >>> from lxcim_xp import class_sensitivity, confusion
    >>> abs(class_sensitivity(confusion.accuracy, [30, 10, 10, 50])).max() < 1e-9
    np.True_
    >>> class_sensitivity(confusion.sensitivity, [30, 10, 10, 50]).round(6)
    array([ 0.00625, -0.01875])
    """
    xp, dtype, *cells = _cells(confusion)
    vector = xp.stack(cells, axis=-1)
    # Where no rounding is felt: the error of a central difference is least near eps^(1/3).
    step = xp.finfo(vector.dtype).eps ** (1 / 3) * xp.sum(vector, axis=-1, keepdims=True)
    tp, fp, fn, tn = gradients(xp, metric, vector, step)
    return xp.astype(xp.stack([tp - tn, fn - fp], axis=-1), dtype)


def _cells(confusion: Any) -> tuple[Namespace, DType, Array, Array, Array, Array]:
    """Return the cells in the widest float, and the dtype of results."""
    xp = namespace(confusion=confusion)
    confusion = as_array(xp, confusion)
    if confusion.ndim == 0 or confusion.shape[-1] != 4:
        raise ValueError(
            f"confusion must hold TP, FP, FN, TN on its last axis; found shape "
            f"{tuple(confusion.shape)}. Count them with lxcim_xp.confusion.confusion."
        )
    dtype = confusion.dtype
    if kind_of(xp, dtype) != "real floating":
        dtype = default_float(xp, confusion)
    confusion = counts_or_nan(xp, xp.astype(confusion, widest_float(xp, confusion)))
    return xp, dtype, *(confusion[..., cell] for cell in range(4))


def _share(xp: Namespace, part: tuple[Array, ...], rest: tuple[Array, ...]) -> Array:
    """Return the share of some cells, in units in which no sum overflows or vanishes."""
    unit = power_of_two(xp, xp.max(xp.stack(part + rest, axis=-1), axis=-1))
    sums: Iterator[Any] = (sum(cell / unit for cell in cells) for cells in (part, rest))
    inside, outside = sums
    return share(xp, inside, inside + outside)


def _cosine(xp: Namespace, cell: Array, row: Array, column: Array) -> Array:
    """Return a cell over the geometric mean of its row and its column."""
    unit = power_of_two(xp, xp.where(row > column, row, column))
    square, least = (row / unit) * (column / unit), xp.finfo(cell.dtype).smallest_normal
    return cell / unit / xp.sqrt(xp.where(square > least, square, least))


def _result(xp: Namespace, dtype: DType, value: Array) -> Array:
    return scalar_if_numpy(xp, xp.astype(value, dtype))
