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

from collections.abc import Callable
from typing import Any

from lxcim_xp._array import (
    Array,
    Namespace,
    as_array,
    default_float,
    divide,
    first_position,
    kind_of,
    namespace,
    scalar_if_numpy,
    values_are_at_hand,
)
from lxcim_xp._autodiff import gradients
from lxcim_xp._docs import documented
from lxcim_xp._margins import collect, credit, finish, signed_margins, weights
from lxcim_xp.decision import Decision


@documented
def confusion(
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
    """Return the weighted counts TP, FP, FN, TN; an undecided sample counts half on each side.

    Parameters
    ----------
    <SAMPLES>

    Returns
    -------
    array of shape (..., 4)
        TP, FP, FN, TN of each batch entry on a new last axis, in the library, dtype and device of
        ``y_score``.

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
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    weight = weights(xp, samples)
    right = credit(xp, signed_margins(xp, samples)) * weight
    wrong = weight - right
    positive = xp.astype(samples.label > 0, weight.dtype)
    cells = (right * positive, wrong * (1 - positive), wrong * positive, right * (1 - positive))
    counts = xp.stack([xp.sum(cell, axis=-1) for cell in cells], axis=-1)
    if samples.largest_weight is not None:
        counts = counts * samples.largest_weight
    return finish(xp, samples, counts)


@documented
def accuracy(confusion: Any) -> Array:
    """Return the share of right decisions, (TP + TN) / all.

    Parameters
    ----------
    <CONFUSION>

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
    xp, tp, fp, fn, tn = _cells(confusion)
    return _ratio(xp, tp + tn, tp + fp + fn + tn)


@documented
def sensitivity(confusion: Any) -> Array:
    """Return the share of positives that were called so (recall), TP / (TP + FN).

    Parameters
    ----------
    <CONFUSION>

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
    xp, tp, _, fn, _ = _cells(confusion)
    return _ratio(xp, tp, tp + fn)


@documented
def specificity(confusion: Any) -> Array:
    """Return the share of negatives that were called so, TN / (TN + FP).

    Parameters
    ----------
    <CONFUSION>

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
    xp, _, fp, _, tn = _cells(confusion)
    return _ratio(xp, tn, tn + fp)


@documented
def precision(confusion: Any) -> Array:
    """Return the share of those called positive that are, TP / (TP + FP).

    Parameters
    ----------
    <CONFUSION>

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
    xp, tp, fp, _, _ = _cells(confusion)
    return _ratio(xp, tp, tp + fp)


@documented
def fdr(confusion: Any) -> Array:
    """Return the false discovery rate, FP / (TP + FP).

    Parameters
    ----------
    <CONFUSION>

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
    xp, tp, fp, _, _ = _cells(confusion)
    return _ratio(xp, fp, tp + fp)


@documented
def f1(confusion: Any) -> Array:
    """Return the harmonic mean of precision and sensitivity, 2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    <CONFUSION>

    Returns
    -------
    array
        One value for each vector; NaN without positives, called or true.

    Examples
    --------
    >>> from lxcim_xp.confusion import f1
    >>> f1([30, 10, 10, 50])
    np.float64(0.75)
    """
    xp, tp, fp, fn, _ = _cells(confusion)
    return _ratio(xp, 2 * tp, 2 * tp + fp + fn)


@documented
def balanced_accuracy(confusion: Any) -> Array:
    """Return the mean of sensitivity and specificity.

    Parameters
    ----------
    <CONFUSION>

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
    return (sensitivity(confusion) + specificity(confusion)) / 2


@documented
def mcc(confusion: Any) -> Array:
    """Return Matthews' correlation coefficient of decision and label.

    Parameters
    ----------
    <CONFUSION>

    Returns
    -------
    array
        One value for each vector; NaN when a class, called or true, is empty.

    Examples
    --------
    >>> from lxcim_xp.confusion import mcc
    >>> mcc([30, 10, 10, 30])
    np.float64(0.5)
    """
    xp, tp, fp, fn, tn = _cells(confusion)
    # As shares of all, no product below can overflow.
    total = tp + fp + fn + tn
    tp, fp, fn, tn = (divide(xp, cell, total) for cell in (tp, fp, fn, tn))
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    # The root of zero has no derivative; divide() turns the zero itself into NaN.
    root = xp.where(spread > 0, xp.sqrt(xp.where(spread > 0, spread, xp.ones_like(spread))), spread)
    return _ratio(xp, tp * tn - fp * fn, root)


@documented
def exchange_confusion(confusion: Any, delta_right: Any = None, delta_wrong: Any = None) -> Array:
    """Exchange classes at the level of the confusion vector.

    Exchanging right negatives moves weight from TN to TP, exchanging wrong ones from FP to FN:
    [TP + d1, FP - d2, FN + d2, TN - d1].

    Parameters
    ----------
    <CONFUSION>
    delta_right : float or array, optional
        The weight d1 moved from TN to TP; negative the other way. By default TN - TP.
    delta_wrong : float or array, optional
        The weight d2 moved from FP to FN; negative the other way. By default FP - FN. With both
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
    xp, tp, fp, fn, tn = _cells(confusion)
    right = tn - tp if delta_right is None else xp.astype(as_array(xp, delta_right, tp), tp.dtype)
    wrong = fp - fn if delta_wrong is None else xp.astype(as_array(xp, delta_wrong, tp), tp.dtype)
    cells = xp.broadcast_arrays(tp + right, fp - wrong, fn + wrong, tn - right)
    exchanged = xp.stack(cells, axis=-1)
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


@documented
def class_sensitivity(metric: Callable[[Array], Array], confusion: Any) -> Array:
    """Return what an infinitesimal exchange of classes does to a metric of confusion vectors.

    These are the derivatives along the two directions in which an exchange can move weight:
    df/dTP - df/dTN for right decisions and df/dFN - df/dFP for wrong ones. A metric is invariant
    to local exchange of classes if and only if both are zero everywhere.

    Parameters
    ----------
    metric : callable
        A function of confusion vectors, see :mod:`lxcim_xp.confusion`, that takes a batch on
        leading axes.
    <CONFUSION>

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
    xp, *cells = _cells(confusion)
    vector = xp.stack(cells, axis=-1)
    # Where no rounding is felt: the error of a central difference is least near eps^(1/3).
    step = xp.finfo(vector.dtype).eps ** (1 / 3) * xp.sum(vector, axis=-1, keepdims=True)
    tp, fp, fn, tn = gradients(xp, metric, vector, step)
    return xp.stack([tp - tn, fn - fp], axis=-1)


def _cells(confusion: Any) -> tuple[Namespace, Array, Array, Array, Array]:
    xp = namespace(confusion=confusion)
    confusion = as_array(xp, confusion)
    if confusion.ndim == 0 or confusion.shape[-1] != 4:
        raise ValueError(
            f"confusion must hold TP, FP, FN, TN on its last axis; found shape "
            f"{tuple(confusion.shape)}. Count them with lxcim_xp.confusion.confusion."
        )
    if kind_of(xp, confusion.dtype) != "real floating":
        confusion = xp.astype(confusion, default_float(xp, confusion))
    return xp, *(confusion[..., cell] for cell in range(4))


def _ratio(xp: Namespace, numerator: Array, denominator: Array) -> Array:
    return scalar_if_numpy(xp, divide(xp, numerator, denominator))
