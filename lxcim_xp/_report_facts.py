"""What a report says about each model, about pairs of models and about subgroups, as plain numbers.

Every number comes from a public function of the package, applied to the margins of the samples (to
labels and scores for AUROC, which margins do not know). Undefined numbers are NaN. Nothing here is
text or markup.
"""

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
from lxcim_xp.selective import local_accuracy

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
    coin_rate: float  # from where on decisions are no better than a coin's


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
        auroc=_namings(model) if has_labels else Namings(*[float("nan")] * 5, draws=0),
        confidence_auroc=float(parts.confidence_auroc),
        gain=float(parts.gain),
        coin_p_value=float(coin.p_value),
        coin_method=coin.method,
        uninformative_p_value=float(uninformative.p_value),
        coin_rate=float(local_accuracy(1, model.margin, **model.weights).coin_rate),
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


def subgroups_of(given: Predictions, level: float) -> list[Subgroup]:
    """Return each model on each subgroup, in the order of the keys; none without keys."""
    keys = given.table.groups.keys
    if keys is None:
        return []
    counts = given.table.counts
    columns = [
        evaluate_table(of_one_score(given.table, which), given.parts.decision, METRICS, level)
        for which in range(len(given.models))
    ]
    return [
        Subgroup(
            tuple(None if value != value else value for value in values),
            model.name,
            int(counts["n"][row]),
            int(counts["n_missing"][row]),
            float(counts["weight"][row]),
            {
                name: Estimate(*(float(found[f"{name}{end}"][row]) for end in ("", "_low", "_high")))
                for name in METRICS
            },
        )
        for row, values in enumerate(keys.rows())
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
        return Namings(value, *[float("nan")] * 4, draws=0)
    # AUROC knows only the order of the scores. Signed confidences have it, and their mirror images
    # are exact and always there.
    spread = exchange_spread(auroc, model.is_positive, model.confidence, n=draws, **model.weights)
    ends = (spread.low, spread.high, spread.mean, spread.std)
    return Namings(value, *(float(part) for part in ends), draws=draws)
