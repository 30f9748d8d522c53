"""Eager frames: columns become NumPy samples, and results a frame of the same library.

``read_write`` does both conversions, and ``segments`` the sort and the sums in between.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._metric_table import METRICS
from lxcim_xp._samples.decisions import Decision
from lxcim_xp.comparison import Comparison, compare
from lxcim_xp.frames.columns import Parts
from lxcim_xp.frames.padded_groups import over_groups
from lxcim_xp.frames.read_write import Table, columns_of, read, write_rows
from lxcim_xp.frames.segments import (
    block_sums,
    evaluate_segments,
    is_wild,
    levelled,
    levelled_classes,
    running_sums,
    segment_sums,
    sort_into_segments,
    sorted_weight,
)
from lxcim_xp.inference import interval

COUNTS = ("n", "n_missing", "weight")

CurveName: TypeAlias = Literal["cumulative_accuracy", "accuracy_rate", "roc"]

CURVES: dict[str, tuple[str, str, str]] = {
    "cumulative_accuracy": ("rate", "cumulative_accuracy", "confidence"),
    "accuracy_rate": ("rate", "accuracy", "confidence"),
    "roc": ("false_positive_rate", "true_positive_rate", "score"),
}


def in_memory(
    rows: nw.DataFrame[Any], function: Callable[[nw.DataFrame[Any]], nw.DataFrame[Any]]
) -> Any:
    """Apply a function and return the native frame; Modin is converted to pandas and back."""
    if not rows.implementation.is_modin():
        return function(rows).to_native()
    import modin.pandas

    found = function(nw.from_native(rows.to_pandas(), eager_only=True)).to_native()
    return modin.pandas.DataFrame(found)


def evaluate_frame(
    frame: nw.DataFrame[Any], parts: Parts, metrics: tuple[str, ...], level: float | None
) -> nw.DataFrame[Any]:
    """Return the metrics of each group, with intervals if a level is given."""
    table = read(frame, parts)
    columns = evaluate_table(table, parts.decision, metrics, level)
    return write_rows(frame, table.groups.keys, columns | table.counts)


def evaluate_table(
    table: Table, decision: Decision, metrics: tuple[str, ...], level: float | None
) -> dict[str, Array]:
    """Return the same as columns by name, from a table of one score that was read before."""
    found = evaluate_segments(columns_of(table, decision), table.groups.n_groups, metrics)
    columns = {}
    for metric in metrics:
        columns[metric] = found[metric]
        if level is not None:
            columns |= _interval(table, metric, level)
    return columns


def compare_frame(
    frame: nw.DataFrame[Any], parts: Parts, metric: Any, level: float
) -> nw.DataFrame[Any]:
    """Return the paired comparison of two scores in each group."""
    table = read(frame, parts)

    def difference(
        where: Array | None, label: Array, a: Array, b: Array, *drawn: Array
    ) -> Comparison:
        weight, clusters = drawn
        return compare(
            label,
            a,
            b,
            metric=metric,
            level=level,
            where=where,
            sample_weight=weight,
            groups=with_padding_cluster(clusters, where),
            **table.options,
        )

    columns = samples_for(table, metric)
    found = of_groups(table, Comparison._fields, difference, columns)
    used = {"n": np.bincount(table.code, minlength=table.groups.n_groups)}
    return write_rows(frame, table.groups.keys, found | table.counts | used)


def curve_frame(frame: nw.DataFrame[Any], parts: Parts, kind: str) -> nw.DataFrame[Any]:
    """Return the points of a curve of each group, one for each distinct confidence or score."""
    table = read(frame, parts)
    if not table.code.size:
        keys = None if table.groups.keys is None else table.groups.keys.head(0)
        return write_rows(frame, keys, {name: np.zeros(0) for name in CURVES[kind]})
    weight, count, side = table.weight, table.groups.n_groups, table.sides[0]
    if kind != "roc":
        first, second, key = table.credit(0), np.ones(table.code.size), table.confidence(0)
        if weight is not None and is_wild(weight):
            weight = levelled(weight, table.code, count)
    elif side is None:
        first, second, key = table.is_positive, ~table.is_positive, table.scores[0]
        if weight is not None:
            weight = levelled(weight, 2 * table.code + first, 2 * count)
    else:
        (first, second), key = (
            levelled_classes(side.share, weight, table.code, count),
            table.scores[0],
        )
        weight = None
    blocks = sort_into_segments(table.code, count, -key)
    weight = sorted_weight(weight, blocks)
    sums = [block_sums(blocks, column.take(blocks.order) * weight) for column in (first, second)]
    reached = [running_sums(blocks, column) for column in sums]
    at = key.take(blocks.order) if blocks.starts is None else key[blocks.order[blocks.starts]]
    with np.errstate(invalid="ignore", divide="ignore"):  # an empty class has no rate
        upper, lower = reached
        if kind == "accuracy_rate":
            upper, start = upper / lower, (sums[0] / sums[1])[blocks.first]
        else:
            whole = segment_sums(blocks, sums[0 if kind == "roc" else 1])
            upper, start = upper / np.repeat(whole, blocks.length), 0.0 * whole
        lower = lower / np.repeat(segment_sums(blocks, sums[1]), blocks.length)
    points = (
        np.insert(lower, blocks.first, 0.0 * lower[blocks.first]),
        np.insert(upper, blocks.first, start),
        np.insert(at.astype(np.float64), blocks.first, np.inf),
    )
    code = np.repeat(blocks.segments, blocks.length + 1)
    keys = None if table.groups.keys is None else nw.maybe_reset_index(table.groups.keys[code])
    return write_rows(frame, keys, dict(zip(CURVES[kind], points, strict=True)))


def _interval(table: Table, metric: Any, level: float) -> dict[str, Array]:
    names = interval_names(metric)

    def bounds(where: Array | None, label: Array, score: Array, *drawn: Array) -> tuple[Array, ...]:
        weight, clusters = drawn
        found = interval(
            label,
            score,
            metric=metric,
            level=level,
            where=where,
            sample_weight=weight,
            groups=with_padding_cluster(clusters, where),
            **table.options,
        )
        return found.standard_error, found.low, found.high

    columns = samples_for(table, metric)
    return of_groups(table, names, bounds, columns)


def of_groups(
    table: Table,
    names: tuple[str, ...],
    function: Callable[..., tuple[Array, ...]],
    columns: list[Array | None],
) -> dict[str, Array]:
    """Return ``function(where, *columns)`` for each group; a single group needs no mask.

    With clusters it gets one all the same: a single cluster is then NaN, and not an error.
    """
    if table.groups.n_groups == 1 and table.code.size and table.clusters is None:
        alone = function(None, *columns)
        return {name: np.reshape(value, 1) for name, value in zip(names, alone, strict=True)}
    return over_groups(table.code, table.groups.n_groups, names, function, *columns)


def result_columns(metrics: Sequence[str], level: float | None) -> list[str]:
    """Return the names of the columns of a result beside its keys."""
    ends = () if level is None else tuple(part for name in metrics for part in interval_names(name))
    return [*metrics, *COUNTS, *ends]


def interval_names(metric: str) -> tuple[str, ...]:
    """Return the names of the columns that an interval adds."""
    return tuple(f"{metric}_{part}" for part in ("se", "low", "high"))


def samples_for(table: Table, metric: str) -> list[Array | None]:
    """Return label, scores, weight and clusters; all metrics but AUROC only need margins."""
    label, scores = table.samples(by_score=METRICS[metric].needs_labels, rescaled=True)
    return [label, *scores, table.weight, table.clusters]


def with_padding_cluster(clusters: Array | None, where: Array | None) -> Array | None:
    """Put padding into a cluster of its own, so that no row has a single cluster."""
    return clusters if clusters is None or where is None else np.where(where, clusters, -1)
