"""What a report says about each model, about pairs of models and about subgroups, as plain numbers.

Every number comes from a public function of the package, applied to the margins of the samples (to
labels and scores for AUROC, which margins do not know). Undefined numbers are NaN. Nothing here is
text or markup.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._engines import METRICS
from lxcim_xp._frame_kernel import evaluate_table
from lxcim_xp._frame_samples import of_one_score
from lxcim_xp._report_samples import Predictions, Scored
from lxcim_xp.comparison import compare_all
from lxcim_xp.exchange import exchange_spread
from lxcim_xp.inference import interval, significance
from lxcim_xp.metrics import auroc, decomposition

_AT_ONCE = 1 << 22  # samples of all random namings together, which are held in memory
_MOST_NAMINGS, _FEWEST_NAMINGS = 1000, 20


class Estimate(NamedTuple):
    """A metric and its confidence interval."""

    value: float
    low: float
    high: float


class Namings(NamedTuple):
    """AUROC as the sides are named, and over random namings of them."""

    value: float
    low: float
    high: float
    mean: float
    std: float
    draws: int  # 0: there were too many samples, or there are no labels


_UNDRAWN = Namings(math.nan, math.nan, math.nan, math.nan, math.nan, 0)


class Headline(NamedTuple):
    """One model on all rows."""

    name: str
    lxcim: Estimate
    accuracy: Estimate
    audrc: Estimate
    auroc: Namings
    confidence_auroc: float
    gain: float
    coin_p_value: float
    coin_method: str
    uninformative_p_value: float


class Pair(NamedTuple):
    """LxCIM of the first model less that of the second."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted_p_value: float


class Subgroup(NamedTuple):
    """One model on the rows of a subgroup."""

    keys: tuple[Any, ...]  # None where a key is missing
    model: str
    n: int
    n_missing: int
    weight: float
    metrics: dict[str, Estimate]


def headline(model: Scored, level: float, *, has_labels: bool) -> Headline:
    """Return the numbers of one model."""
    lxcim, accuracy, audrc = (
        _estimate(model, metric, level) for metric in ("lxcim", "accuracy", "audrc")
    )
    parts = decomposition(1, model.margin, **model.weights)
    coin, uninformative = (
        significance(1, model.margin, null=null, **model.weights)
        for null in ("coin", "uninformative")
    )
    return Headline(
        name=model.name,
        lxcim=lxcim,
        accuracy=accuracy,
        audrc=audrc,
        auroc=_namings(model) if has_labels else _UNDRAWN,
        confidence_auroc=float(parts.confidence_auroc),
        gain=float(parts.gain),
        coin_p_value=float(coin.p_value),
        coin_method=coin.method,
        uninformative_p_value=float(uninformative.p_value),
    )


def pairs_of(models: tuple[Scored, ...], level: float) -> list[Pair]:
    """Compare all models pair by pair on the same rows; none if there is one model."""
    if len(models) < 2:
        return []
    first = models[0]
    table = compare_all(
        1,
        {model.name: model.margin for model in models},
        level=level,
        groups=first.clusters,
        **first.weights,
    )
    parts = (table.difference, table.low, table.high, table.p_value, table.adjusted_p_value)
    return [
        Pair(table.names[a], table.names[b], *(float(part[a, b]) for part in parts))
        for a, b in zip(*np.triu_indices(len(models), 1), strict=True)
    ]


def keys_of(given: Predictions) -> list[tuple[Any, ...]]:
    """Return the keys of each subgroup, None where one is null or NaN; none without keys."""
    keys = given.table.groups.keys
    if keys is None:
        return []
    columns = []
    for key in keys.iter_columns():
        null = key.is_null()
        if key.dtype.is_float():
            null = null | key.is_nan()
        pairs = zip(key.to_list(), null.to_list(), strict=True)
        columns.append([None if missing else value for value, missing in pairs])
    return list(zip(*columns, strict=True))


def subgroups_of(given: Predictions, level: float) -> list[Subgroup]:
    """Return each model on each subgroup, in the order of the keys; none without keys."""
    if not given.parts.by:
        return []
    counts = given.table.counts
    columns = [
        evaluate_table(of_one_score(given.table, which), given.parts.decision, METRICS, level)
        for which in range(len(given.models))
    ]
    return [
        Subgroup(
            values,
            model.name,
            int(counts["n"][row]),
            int(counts["n_missing"][row]),
            float(counts["weight"][row]),
            {
                name: Estimate(
                    *(float(found[f"{name}{end}"][row]) for end in ("", "_low", "_high"))
                )
                for name in METRICS
            },
        )
        for row, values in enumerate(keys_of(given))
        for model, found in zip(given.models, columns, strict=True)
    ]


def _estimate(model: Scored, metric: str, level: float) -> Estimate:
    found = interval(
        1, model.margin, metric=metric, level=level, groups=model.clusters, **model.weights
    )
    return Estimate(float(found.estimate), float(found.low), float(found.high))


def _namings(model: Scored) -> Namings:
    value = float(auroc(model.is_positive, model.score, **model.weights))
    draws = min(_MOST_NAMINGS, _AT_ONCE // model.margin.size)
    if draws < _FEWEST_NAMINGS:
        return _UNDRAWN._replace(value=value)
    # AUROC knows only the order of the scores. Signed confidences have it, and their mirror images
    # are exact and always there.
    spread = exchange_spread(auroc, model.is_positive, model.confidence, n=draws, **model.weights)
    low, high, mean, std = map(float, (spread.low, spread.high, spread.mean, spread.std))
    return Namings(value, low, high, mean, std, draws)
