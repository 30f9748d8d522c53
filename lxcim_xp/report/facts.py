"""The numbers of a report: on each model, on pairs of models and on subgroups.

Every number comes from a public function of the package, applied to the margins of the samples (for
AUROC, to labels and scores, since margins do not determine it). Undefined numbers are NaN. Nothing
here is text or markup.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._metric_table import IN_FRAMES, METRICS
from lxcim_xp.comparison import compare_all
from lxcim_xp.exchange import exchange_spread
from lxcim_xp.inference import interval, significance
from lxcim_xp.metrics import auroc, confidence_auroc, decomposition
from lxcim_xp.report.predictions import Predictions, Scored

_AT_ONCE = 1 << 22  # the most samples of all random namings together, which are held in memory
_MOST_NAMINGS, _FEWEST_NAMINGS = 1000, 20


class Estimate(NamedTuple):
    """A metric and its confidence interval."""

    value: float
    low: float
    high: float


class Namings(NamedTuple):
    """AUROC over random namings of the sides."""

    low: float
    high: float
    mean: float
    std: float
    draws: int  # 0: there were too many samples, or there are no labels


_UNDRAWN = Namings(math.nan, math.nan, math.nan, math.nan, 0)
_NO_ESTIMATE = Estimate(math.nan, math.nan, math.nan)


class Headline(NamedTuple):
    """One model on all rows."""

    name: str
    lxcim: Estimate
    accuracy: Estimate
    audrc: Estimate
    auroc: Estimate
    namings: Namings
    undecided: float  # the share of undecided samples
    confidence_auroc: float  # with undecided samples as half right and half wrong
    decided_auroc: float  # the same without undecided samples
    gain: float
    coin_p_value: float
    coin_method: str
    uninformative_p_value: float  # of decided samples, like decided_auroc; NaN if votes are split
    is_split: bool  # whether labels are shares of votes
    is_confidence: bool  # whether the score was given as the confidence


class Pair(NamedTuple):
    """LxCIM of the first model minus that of the second."""

    first: str
    second: str
    difference: float
    low: float  # of the interval that holds for all pairs together
    high: float
    p_value: float
    adjusted_p_value: float


class Subgroup(NamedTuple):
    """One model on the rows of a subgroup."""

    keys: tuple[Any, ...]  # None where a key is missing
    model: str
    n: int  # rows that count
    n_missing: int
    weight: float
    metrics: dict[str, Estimate]


def headline(model: Scored, level: float, *, has_labels: bool) -> Headline:
    """Return the numbers of one model."""
    lxcim, accuracy, audrc = (
        estimate(model, metric, level) for metric in ("lxcim", "accuracy", "audrc")
    )
    parts = decomposition(*model.samples, **model.options)
    decided = model.decided
    coin = significance(*model.samples, null="coin", **model.options)
    uninformative = math.nan
    if not model.is_split:
        found = significance(*model.samples, null="uninformative", **model.options)
        uninformative = float(found.p_value)
    decided_auroc = confidence_auroc(*model.samples, where=decided, **model.options)
    return Headline(
        name=model.name,
        lxcim=lxcim,
        accuracy=accuracy,
        audrc=audrc,
        auroc=estimate(model, "auroc", level) if has_labels else _NO_ESTIMATE,
        namings=_namings(model) if has_labels and not model.is_confidence else _UNDRAWN,
        undecided=float(np.average(~decided, weights=model.weight)),
        confidence_auroc=float(parts.confidence_auroc),
        decided_auroc=float(decided_auroc),
        gain=float(parts.gain),
        coin_p_value=float(coin.p_value),
        coin_method=coin.method,
        uninformative_p_value=uninformative,
        is_split=model.is_split,
        is_confidence=model.is_confidence,
    )


def pairs_of(given: Predictions, level: float) -> list[Pair]:
    """Compare all models pair by pair on the same rows; no pairs if there is one model."""
    models = given.models
    if len(models) < 2:
        return []
    label, scores = given.reading.table.samples()
    table = compare_all(
        label,
        {model.name: score for model, score in zip(models, scores, strict=True)},
        level=level,
        groups=models[0].clusters,
        **models[0].options,
    )
    parts = (table.difference, table.low, table.high, table.p_value, table.adjusted_p_value)
    return [
        Pair(table.names[a], table.names[b], *(float(part[a, b]) for part in parts))
        for a, b in zip(*np.triu_indices(len(models), 1), strict=True)
    ]


def subgroups_of(given: Predictions, level: float) -> list[Subgroup]:
    """Return each model on each subgroup, in the order of the keys; empty without keys."""
    reading = given.reading
    if not reading.parts.by:
        return []
    counts, table = reading.table.counts, reading.table
    n = np.bincount(table.code, minlength=table.groups.n_groups)
    columns = reading.evaluate(IN_FRAMES, level)
    return [
        Subgroup(
            values,
            model.name,
            int(n[row]),
            int(counts["n_missing"][row]),
            float(counts["weight"][row]),
            {
                name: Estimate(
                    *(float(found[f"{name}{end}"][row]) for end in ("", "_low", "_high"))
                )
                for name in IN_FRAMES
            },
        )
        for row, values in enumerate(reading.keys())
        for model, found in zip(given.models, columns, strict=True)
    ]


def estimate(model: Scored, metric: Any, level: float, where: Array | None = None) -> Estimate:
    """Return a metric of one model with its interval, on the rows where ``where`` is true."""
    by_score = METRICS[metric].needs_labels
    samples = model.scored if by_score else model.samples
    clusters = model.clusters
    if clusters is not None and where is not None:
        clusters = np.where(where, clusters, -1)  # a single cluster overall would be an error
    found = interval(
        *samples, metric=metric, level=level, where=where, groups=clusters, **model.options
    )
    return Estimate(float(found.estimate), float(found.low), float(found.high))


def _namings(model: Scored) -> Namings:
    draws = min(_MOST_NAMINGS, _AT_ONCE // model.signed.size)
    if draws < _FEWEST_NAMINGS:
        return _UNDRAWN
    # AUROC depends only on the order of the scores. Signed confidences have the same order, and
    # their mirror images are exact and always exist.
    spread = exchange_spread(
        auroc, model.scored[0], model.signed, n=draws, threshold=0.0, **model.options
    )
    low, high, mean, std = map(float, (spread.low, spread.high, spread.mean, spread.std))
    return Namings(low, high, mean, std, draws)
