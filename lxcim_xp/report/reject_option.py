"""Where a model can stop deciding: its curve, the reject option, and what thresholds mean.

Samples come in, and plain numbers from the functions of ``curves`` and ``selective`` go out. The
accuracy of decided samples has the same interval as every accuracy of a report, in which undecided
samples count half. The curve is drawn in ``report.chart``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._plot_lines import RATES, lines
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.mirror import scores_at
from lxcim_xp.curves import (
    CumulativeAccuracyCurve,
    accuracy_rate_curve,
    cumulative_accuracy_curve,
    interpolate,
)
from lxcim_xp.report.facts import Estimate, estimate
from lxcim_xp.report.predictions import Scored
from lxcim_xp.selective import LocalAccuracy, accuracy_at, local_accuracy, threshold_for

SHARES = tuple(tenth / 10 for tenth in range(1, 11))
TARGETS = (0.9, 0.95, 0.99)
DELTA = 0.1
_MOST_POINTS = 1001  # of a line in the chart


class Threshold(NamedTuple):
    """The lowest confidence that is decided, and the scores that have it.

    The score of a side is NaN if no score there is so confident; all are NaN if nothing is decided.
    """

    confidence: float
    below: float
    above: float


class Stop(NamedTuple):
    """The outcome of deciding a share of the samples."""

    share: float  # the share asked for
    rate: float  # the share that a threshold reaches
    accuracy: Estimate
    wrong: float  # decided and wrong, of all samples
    threshold: Threshold


class Target(NamedTuple):
    """Where to stop to reach an accuracy."""

    target: float
    rate: float
    accuracy: float
    threshold: Threshold


class Grid(NamedTuple):
    """A curve at the rates that a cursor stops at."""

    rate: list[float]
    cumulative: list[float]
    accuracy: list[float]  # NaN where nothing is decided
    local: list[float]
    reached: list[float]
    threshold: list[Threshold]


class Points(NamedTuple):
    """What a report knows about the curve of one model."""

    name: str
    x: list[float]
    y: list[float]
    grid: Grid
    stops: list[Stop]
    targets: list[Target]
    coin_rate: float  # the rate from which on decisions are no better than a coin's


def points_of(model: Scored, decision: Decision, level: float, *, vouch: bool) -> Points:
    """Return the curve of a model and where to stop on it, with guarantees if they can be given."""
    curve = cumulative_accuracy_curve(*model.samples, **model.options)
    x, y = _thin_out(model.name, curve)
    shares = accuracy_at(*model.samples, SHARES, level=None, **model.options)
    targets = [
        threshold_for(
            *model.samples,
            accuracy=target,
            delta=DELTA if vouch else None,
            **model.options,
        )
        for target in TARGETS
    ]
    ways = accuracy_at(*model.samples, RATES, level=None, **model.options)
    confidences = [shares.confidence, [point.confidence for point in targets], ways.confidence]
    at_shares, at_targets, on_grid = _thresholds(model, decision, confidences)
    local = local_accuracy(*model.samples, **model.options)
    wrong = shares.rate - interpolate(curve, shares.rate)
    accuracies = _accuracies(model, shares.confidence, level)
    accuracy = interpolate(accuracy_rate_curve(*model.samples, **model.options), RATES)
    return Points(
        model.name,
        x.tolist(),
        y.tolist(),
        Grid(
            RATES.tolist(),
            interpolate(curve, RATES).tolist(),
            np.where(RATES > 0, accuracy, np.nan).tolist(),
            _at_rates(local).tolist(),
            ways.rate.tolist(),
            on_grid,
        ),
        [
            Stop(
                share=share,
                rate=float(shares.rate[at]),
                accuracy=accuracies[at],
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


def _accuracies(model: Scored, confidences: Array, level: float) -> list[Estimate]:
    """Return the accuracy at or above each confidence; equal ones are computed once."""
    confidence = model.confidence
    found = {
        at: estimate(model, "accuracy", level, where=confidence >= at)
        for at in set(confidences.tolist())
    }
    return [found[at] for at in confidences.tolist()]


def _thin_out(name: str, curve: CumulativeAccuracyCurve) -> tuple[Array, Array]:
    """Return the points of a line, thinned out if there are more than a page can show."""
    (line,) = lines(cumulative_accuracy_curve, curve, None, name, None, {})
    if line.x.size <= _MOST_POINTS:
        return line.x, line.y
    x = np.linspace(0, 1, _MOST_POINTS)
    return x, interpolate(curve, x)


def _at_rates(found: LocalAccuracy) -> Array:
    """Return the local accuracy at each rate: that of the first step that ends there or later."""
    at = np.searchsorted(found.rate, RATES * (1 - 1e-12))
    return found.accuracy[np.minimum(at, found.rate.size - 1)]


def _thresholds(
    model: Scored, decision: Decision, confidences: Sequence[Any]
) -> list[list[Threshold]]:
    """Return the scores on both sides that have a confidence, from a sample that has it."""
    found = []
    for wanted in (np.asarray(part, dtype=np.float64) for part in confidences):
        if model.is_confidence:
            below, above = np.full(wanted.shape, np.nan), wanted
        else:
            below, above = scores_at(decision, model.score, model.signed, wanted)
        rows = zip(wanted.tolist(), below.tolist(), above.tolist(), strict=True)
        found.append([Threshold(*row) for row in rows])
    return found
