"""Call any metric, ours or not, on many data sets, all at once if it takes batches.

A data set is a row of each column; ``function(*columns)`` gets one such row, or all of them.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from lxcim_xp._arrays.loops import map_first_axis
from lxcim_xp._arrays.namespaces import NUMPY, as_array, kind_of, namespace
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray

Metric: TypeAlias = Callable[..., Any]


def call(metric: Metric, label: Array, score: Array, weight: Array | None = None) -> Any:
    """Call a metric, and pass weights only if there are any."""
    if weight is None:
        return metric(label, score)
    return metric(label, score, sample_weight=weight)


def on_copies(function: Metric) -> Metric:
    """Return the function with its arguments copied first, since it may write to them."""

    def of_copies(*columns: Array) -> Any:
        return function(*(namespace(column=x).asarray(x, copy=True) for x in columns))

    return of_copies


def name_of(metric: Metric) -> str:
    """Return the name of a metric for messages."""
    while isinstance(metric, partial):
        metric = metric.func
    return str(getattr(metric, "__name__", repr(metric)))


def takes_weights(metric: Metric) -> bool:
    """Say whether a metric has an argument ``sample_weight``."""
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def one_value(xp: Namespace, value: Any, like: Array, metric: Metric) -> Array:
    """Return a metric's value for one data set as an array without axes."""
    array = _real_array(xp, value, like)
    if array is None or array.ndim != 0:
        shape = getattr(value, "shape", ())
        found = f"an array of shape {tuple(shape)}" if shape else f"{value!r:.80}"
        raise ValueError(
            f"metric must return one number for a list of samples; {name_of(metric)} returned "
            f"{found}. Wrap it in a function that returns the number you mean."
        )
    return array


def _real_array(xp: Namespace, value: Any, like: Array) -> Array | None:
    """Return real numbers as an array; None for anything else."""
    if isinstance(value, str | bytes | None):
        return None
    try:
        if xp is NUMPY:
            array: NumpyArray = np.asarray(value)
            # Fractions and decimals are numbers that NumPy holds as objects.
            array = array.astype(np.float64) if array.dtype.kind == "O" else array
            return array.astype(np.float64) if array.dtype.kind in "biuf" else None
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        array = as_array(xp, value, like)
        return None if kind_of(xp, array.dtype) == "other" else array
    except (AttributeError, TypeError, ValueError):  # strings, ragged lists, foreign objects
        return None


def evaluate_rows(xp: Namespace, metric: Metric, *columns: Array) -> Array:
    """Return the metric of each row of labels, scores and weights, in one call if possible."""
    function = on_copies(partial(call, metric))

    def of_row(*row: Array) -> Array:
        return one_value(xp, function(*row), row[0], metric)

    mapped = map_first_axis(xp, of_row)
    if mapped is not None:
        return mapped(*columns)
    if takes_batches(function, *columns):
        return function(*columns)
    return xp.stack([of_row(*row) for row in rows_of(*columns)])


def takes_batches(function: Metric, *columns: Array) -> bool:
    """Say whether a function of the first two rows together gives the values of each alone."""
    first = [column[:2, ...] for column in columns]
    try:
        together, apart = function(*first), [function(*row) for row in rows_of(*first)]
        if isinstance(together, np.ndarray) and together.dtype.kind not in "biuf":
            return False
        return tuple(together.shape) == (len(apart),) and all(
            np.isclose(float(together[row]), float(value), rtol=1e-6, atol=1e-6, equal_nan=True)
            for row, value in enumerate(apart)
        )
    except Exception:  # whatever a foreign function raises, it takes no batches
        return False


def rows_of(*columns: Array) -> list[tuple[Array, ...]]:
    """Return the rows of several columns, as tuples."""
    return [tuple(column[row, ...] for column in columns) for row in range(columns[0].shape[0])]
