"""Where a model can stop deciding: its curve, the reject option, and what thresholds mean.

From samples to plain numbers, by the functions of ``curves`` and ``selective``. The drawing of the
curve is in ``_report_chart``.
"""

from typing import NamedTuple

import numpy as np

from lxcim_xp._array import Array
from lxcim_xp._figure_data import RATES, lines
from lxcim_xp._mirror import scores_at
from lxcim_xp._report_samples import Scored
from lxcim_xp.curves import (
    CumulativeAccuracyCurve,
    accuracy_rate_curve,
    cumulative_accuracy_curve,
    interpolate,
)
from lxcim_xp.decision import Decision
from lxcim_xp.selective import LocalAccuracy, accuracy_at, local_accuracy, threshold_for

SHARES = tuple(tenth / 10 for tenth in range(1, 11))
TARGETS = (0.9, 0.95, 0.99)
DELTA = 0.1
_MOST_POINTS = 1001  # of a line that is drawn


class Threshold(NamedTuple):
    """A confidence from which on samples are decided, and the scores that have it.

    The score of a side is NaN if none there is so confident; all is NaN where nothing is decided.
    """

    confidence: float
    below: float
    above: float


class Stop(NamedTuple):
    """What deciding a share of the samples gives."""

    share: float  # asked for
    rate: float  # that a threshold reaches
    accuracy: float
    low: float
    high: float
    wrong: float  # decided and wrong, of all samples
    threshold: Threshold


class Target(NamedTuple):
    """Where to stop for an accuracy."""

    target: float
    rate: float
    accuracy: float
    threshold: Threshold


class Grid(NamedTuple):
    """A curve at the rates that a cursor stops at."""

    rate: list[float]
    cumulative: list[float]
    accuracy: list[float]
    local: list[float]
    reached: list[float]
    threshold: list[Threshold]


class Points(NamedTuple):
    """What a report knows of one model's curve."""

    name: str
    x: list[float]
    y: list[float]
    grid: Grid
    stops: list[Stop]
    targets: list[Target]
    coin_rate: float  # from where on decisions are no better than a coin's


def points_of(model: Scored, decision: Decision, level: float | None) -> Points:
    """Return the curve of a model and where to stop on it; no guarantees without a level."""
    curve = cumulative_accuracy_curve(1, model.margin, **model.weights)
    x, y = _drawn(model.name, curve)
    shares = accuracy_at(1, model.margin, SHARES, level=level, **model.weights)
    targets = [
        threshold_for(
            1,
            model.margin,
            accuracy=target,
            delta=None if level is None else DELTA,
            **model.weights,
        )
        for target in TARGETS
    ]
    ways = accuracy_at(1, model.margin, RATES, level=None, **model.weights)
    confidences = [shares.confidence, [point.confidence for point in targets], ways.confidence]
    at_shares, at_targets, on_grid = _thresholds(model, decision, confidences)
    local = local_accuracy(1, model.margin, **model.weights)
    wrong = shares.rate - interpolate(curve, shares.rate)
    return Points(
        model.name,
        x.tolist(),
        y.tolist(),
        Grid(
            RATES.tolist(),
            interpolate(curve, RATES).tolist(),
            interpolate(accuracy_rate_curve(1, model.margin, **model.weights), RATES).tolist(),
            _at_rates(local).tolist(),
            ways.rate.tolist(),
            on_grid,
        ),
        [
            Stop(
                share=share,
                rate=float(shares.rate[at]),
                accuracy=float(shares.accuracy[at]),
                low=float(shares.low[at]),
                high=float(shares.high[at]),
                wrong=float(wrong[at]),
                threshold=at_shares[at],
            )
            for at, share in enumerate(SHARES)
        ],
        [
            Target(target, float(point.rate), float(point.accuracy), threshold)
            for target, point, threshold in zip(TARGETS, targets, at_targets, strict=True)
        ],
        float(local.coin_rate),
    )


def _drawn(name: str, curve: CumulativeAccuracyCurve) -> tuple[Array, Array]:
    """Return the points of a line, fewer of them where there are more than a page can show."""
    (line,) = lines(cumulative_accuracy_curve, curve, None, name, None, {})
    if line.x.size <= _MOST_POINTS:
        return line.x, line.y
    x = np.linspace(0, 1, _MOST_POINTS)
    return x, interpolate(curve, x)


def _at_rates(found: LocalAccuracy) -> Array:
    """Return the local accuracy at each rate: that of the step which ends there or beyond."""
    at = np.searchsorted(found.rate, RATES * (1 - 1e-12))
    return found.accuracy[np.minimum(at, found.rate.size - 1)]


def _thresholds(
    model: Scored, decision: Decision, confidences: list[list[float]]
) -> list[list[Threshold]]:
    """Return the score on each side that has a confidence, from a sample that has it."""
    found = []
    for wanted in (np.asarray(part, dtype=np.float64) for part in confidences):
        below, above = scores_at(decision, model.score, model.confidence, wanted)
        rows = zip(wanted.tolist(), below.tolist(), above.tolist(), strict=True)
        found.append([Threshold(*row) for row in rows])
    return found
