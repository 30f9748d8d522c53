"""The data of figures: samples or curves become lines with bands, as NumPy arrays.

Nothing here needs matplotlib; ``plots`` draws what comes out.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.random import resample_counts
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.by_confidence import (
    accuracy_parts,
    counted,
    keys_by_confidence,
)
from lxcim_xp._samples.samples import collect
from lxcim_xp.curves import Curve, SymmetricRocCurve, curve_area, interpolate

RATES = np.linspace(0, 1, 201)  # where curves of a batch are averaged and bands are drawn
_RESAMPLES = 200
_AT_ONCE = 1 << 21  # samples of all resamples that are in memory at once


class Line(NamedTuple):
    """One method: its points, the metric they stand for, and the uncertainty of both."""

    label: str
    x: Array
    y: Array
    value: float
    band: tuple[Array, Array] | None  # low and high at RATES
    interval: tuple[float, float] | None  # of the value
    accuracy: float | None  # of a symmetric ROC curve


class Layers(NamedTuple):
    """The area under a curve, sample by sample from the most confident down.

    Layer k lies between ``edges[k]`` and ``edges[k + 1]``. Edges are straight between the abscissas
    ``x``, or steps from each abscissa to the next, one fewer than there are abscissas.
    """

    x: Array
    edges: Array  # (samples + 1, points or steps)


def lines(
    make: Callable[..., Any], data: Any, y_score: Any, label: Any, band: Any, options: Any
) -> list[Line]:
    """Return a line for each method.

    ``data`` is a curve, a mapping of names to curves, or labels; then ``y_score`` holds the scores
    or a mapping of names to scores. A batch of curves becomes its mean.
    """
    if band is not None and not 0 < band < 1:
        raise ValueError(
            f"band must lie between 0 and 1, both excluded; found {band!r}. Pass 0.95 for a band "
            f"that holds 95 of 100 curves."
        )
    methods = _by_name(data if y_score is None else y_score, label)
    if y_score is not None:
        return [
            _line(name, make(data, score, **options), band, _Source(make, data, score, options))
            for name, score in methods.items()
        ]
    if options:
        raise ValueError(
            f"{', '.join(map(repr, options))} were given with a curve, which is finished. Pass "
            f"them with labels and scores, or to the function that makes the curve."
        )
    for name, curve in methods.items():
        if not isinstance(curve, Curve):
            raise TypeError(
                f"expected labels and scores, or a curve; found {type(curve).__name__} for "
                f"{name!r} and no scores."
            )
    return [_line(name, curve, band, None) for name, curve in methods.items()]


def layers(metric: str, y_true: Any, y_score: Any, options: dict[str, Any]) -> Layers:
    """Return what each sample adds to the curve whose area is the metric."""
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=options.get("sample_weight"),
        where=options.get("where"),
        threshold=options.get("threshold"),
        decision=options.get("decision"),
        nan_policy=options.get("nan_policy", "raise"),
    )
    descent = keys_by_confidence(xp, samples)
    hits, everyone = descent.columns
    if hits.value.ndim != 1:
        raise ValueError(
            f"y_score must have one axis here; found {hits.value.ndim}. Draw batch entries one by "
            f"one."
        )
    members = counted(xp, descent, uniform=samples.weight is None)
    parts = accuracy_parts(xp, hits, everyone, members)
    share = parts.place / parts.count
    columns = (
        hits.value,
        everyone.below,
        everyone.through,
        descent.key,
        parts.done,
        share,
    )
    count = int(xp.sum(xp.astype(everyone.value > 0, xp.int64)))  # the others come last
    right, below, through, key, done, arrived = (np.asarray(part)[:count] for part in columns)
    if metric == "audrc":
        # A sample is counted from its part of the block on, and in full after the block.
        there = np.where(key[:, None] > key, 1.0, np.where(key[:, None] == key, arrived, 0.0))
        steps = np.concatenate([[0.0], done]) / done[-1]
        return Layers(steps, _stacked(right[:, None] * there / done))
    x = np.concatenate([[0.0], np.unique(through)])
    there = np.clip((x - below[:, None]) / (through - below)[:, None], 0, 1)
    return Layers(x / x[-1], _stacked(right[:, None] * there / x[-1]))


def _stacked(heights: Array) -> Array:
    return np.concatenate([np.zeros((1, heights.shape[1])), np.cumsum(heights, axis=0)])


class _Source(NamedTuple):
    """What a curve was computed from, to compute it again from resamples."""

    make: Callable[..., Curve]
    y_true: Any
    y_score: Any
    options: dict[str, Any]


def _by_name(methods: Any, label: Any) -> dict[str, Any]:
    if isinstance(methods, Mapping):
        if label is not None:
            raise ValueError(f"label={label!r} and a mapping of names were both given. Pass one.")
        return {str(name): method for name, method in methods.items()}
    return {"" if label is None else str(label): methods}


def _line(name: str, curve: Curve, band: float | None, source: _Source | None) -> Line:
    parts: Iterator[Array] = (np.asarray(part, dtype=float) for part in curve)
    curve = type(curve)(*parts)
    if curve[0].ndim == 1:
        x, y = _without_repetition(*curve[:2])
        redone = None if band is None else _resampled(source)
    else:
        batch = curve[0].ndim - 1
        curve = type(curve)(*(part.reshape(-1, *part.shape[batch:]) for part in curve))
        x, redone = RATES, (interpolate(curve, RATES), np.asarray(curve_area(curve)))
        y = redone[0].mean(axis=0)
    value = float(np.mean(curve_area(curve)))
    accuracy = float(np.mean(curve.accuracy)) if isinstance(curve, SymmetricRocCurve) else None
    if band is None or redone is None:
        return Line(name, x, y, value, None, None, accuracy)
    ends = ((1 - band) / 2, (1 + band) / 2)
    low, high = np.quantile(redone[0], ends, axis=0)
    interval = np.quantile(redone[1], ends)
    return Line(name, x, y, value, (low, high), (float(interval[0]), float(interval[1])), accuracy)


def _without_repetition(x: Array, y: Array) -> tuple[Array, Array]:
    moves = (np.diff(x, prepend=-1) != 0) | (np.diff(y, prepend=-1) != 0)
    return x[moves], y[moves]


def _resampled(source: _Source | None) -> tuple[Array, Array]:
    """Return heights at RATES and the metric for bootstrap resamples from a fixed seed."""
    if source is None:
        raise ValueError(
            "band= needs labels and scores, or a batch of curves; found a single curve. Pass what "
            "the curve was made of."
        )
    options = dict(source.options)
    y_true, y_score = np.asarray(source.y_true), np.asarray(source.y_score)
    n = y_score.shape[-1]
    units: Array = np.asarray(n)
    weight = options.pop("sample_weight", None)
    weight = np.ones(n) if weight is None else np.asarray(weight)
    rng = np.random.default_rng(0)
    heights, values, left = [], [], _RESAMPLES
    while left:
        rows = min(left, max(1, _AT_ONCE // n))
        counts = resample_counts(NUMPY, rng, rows, n, units)
        shape = (rows, n)
        curve = source.make(
            np.broadcast_to(y_true, shape),
            np.broadcast_to(y_score, shape),
            sample_weight=weight * counts,
            **options,
        )
        heights.append(interpolate(curve, RATES))
        values.append(curve_area(curve))
        left -= rows
    return np.concatenate(heights), np.concatenate(values)
