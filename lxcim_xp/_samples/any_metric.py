"""Call any metric, ours or not, on many data sets at once where it can take them.

Data sets are rows of arrays: ``function(*columns)`` gets one row of each column, or all of them.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from lxcim_xp._array import Array, Namespace, as_array, is_numpy, map_first_axis

Metric: TypeAlias = Callable[..., Any]


def call(metric: Metric, label: Array, score: Array, weight: Array | None = None) -> Any:
    """Call a metric, with weights only where there are some."""
    if weight is None:
        return metric(label, score)
    return metric(label, score, sample_weight=weight)


def takes_weights(metric: Metric) -> bool:
    """Say whether a metric has an argument ``sample_weight``."""
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def one_value(xp: Namespace, value: Any, like: Array) -> Array:
    """Return what a metric gave for one data set as an array without axes."""
    value = np.asarray(value, dtype=np.float64) if is_numpy(xp) else as_array(xp, value, like)
    if value.ndim != 0:
        raise ValueError(
            f"metric must return one number for a list of samples; found an array of shape "
            f"{tuple(value.shape)}. Wrap it in a function that returns the number you mean."
        )
    return value


def evaluate_rows(xp: Namespace, function: Metric, *columns: Array) -> Array:
    """Return the value of each row, in one call where the function takes a batch."""

    def of_row(*row: Array) -> Array:
        return one_value(xp, function(*row), row[0])

    mapped = map_first_axis(xp, of_row)
    if mapped is not None:
        return mapped(*columns)
    if takes_batches(function, *columns):
        return function(*columns)
    return xp.stack([of_row(*row) for row in rows_of(*columns)])


def takes_batches(function: Metric, *columns: Array) -> bool:
    """Try a function on the first two rows together and apart; say whether the values agree."""
    first = [column[:2, ...] for column in columns]
    try:
        together, apart = function(*first), [function(*row) for row in rows_of(*first)]
        return tuple(together.shape) == (len(apart),) and all(
            np.isclose(float(together[row]), float(value), rtol=1e-6, atol=1e-6, equal_nan=True)
            for row, value in enumerate(apart)
        )
    except Exception:  # whatever a foreign function raises: it does not take a batch
        return False


def rows_of(*columns: Array) -> list[tuple[Array, ...]]:
    """Return the rows of several columns together."""
    return [tuple(column[row, ...] for column in columns) for row in range(columns[0].shape[0])]
