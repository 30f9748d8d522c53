"""The results of commands as frames: one with every number, and one for people to read.

Each function takes what was chosen on the command line and calls the library. No metric is computed
here, and nothing is printed.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import typer

from lxcim_xp import frames
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._metric_table import IN_FRAMES, METRICS, OF_MARGINS, WITH_BOUNDS
from lxcim_xp._samples.errors import BadValue
from lxcim_xp._samples.mirror import scores_at
from lxcim_xp.cli.files import BadData, estimated_rows
from lxcim_xp.cli.options import Engine
from lxcim_xp.cli.output import number, p_value, with_bounds
from lxcim_xp.cli.selection import (
    Chosen,
    each_model,
    keywords,
    library_errors,
    model_column,
    rows_of,
)
from lxcim_xp.comparison import compare_all
from lxcim_xp.frames.reading import ONES, Reading, read_predictions
from lxcim_xp.selective import threshold_for

_BYTES_OF_A_ROW = 150  # needed to evaluate in memory, as measured by benchmarks/cli.py
_MANY = 1_000_000  # rows above which intervals are computed only on request
_BINS = 1 << 16


class Found(NamedTuple):
    """A result: all numbers, what people read, which columns are words, and a remark."""

    numbers: pl.DataFrame
    readable: pl.DataFrame
    words: tuple[str, ...] = ()
    remark: str = ""


class Group(NamedTuple):
    """The samples of one subgroup: labels, scores by name, weights, clusters."""

    key: tuple[Any, ...]
    label: Array
    scores: dict[str, Array]
    weight: Array | None
    clusters: Array | None
    counts: dict[str, Any]
    options: dict[str, Any]  # of functions that are given these


def evaluated(chosen: Chosen, metrics: Sequence[Any], level: float | None, engine: Engine) -> Found:
    """Evaluate each subgroup: in memory with intervals, or in bins with bounds."""
    count = estimated_rows(chosen.source)
    if engine is Engine.auto:
        engine = Engine.memory if _BYTES_OF_A_ROW * count < _half_of_memory() else Engine.bounded
    if engine is Engine.bounded:
        return _evaluated_in_bins(chosen, metrics, level)
    remark = ""
    if level is None:
        level = 0.95 if count <= _MANY else 0.0
        if not level:
            remark = f"No intervals for {count} rows, unless asked for: --interval 0.95."
    if chosen.groups is not None and not level:
        raise typer.BadParameter(
            "clusters are for intervals: pass --interval.", param_hint="--groups"
        )
    metrics = metrics or (OF_MARGINS if chosen.label is None else IN_FRAMES)
    rows = rows_of(chosen)
    with library_errors(chosen):
        found = of_models(
            chosen,
            lambda one: frames.evaluate(
                rows,
                score=one.scores[0],
                metrics=metrics,
                interval=level or None,
                groups=one.groups if level else None,
                **keywords(one),
            ),
        )
    return _readable_metrics(chosen, found, metrics, remark)


def of_models(chosen: Chosen, find: Callable[[Chosen], pl.DataFrame]) -> pl.DataFrame:
    """Stack the results of all models, with their names."""
    head = model_column(chosen)
    return pl.concat(
        find(one).select(pl.lit(one.names[0]).alias(head), pl.all()) for one in each_model(chosen)
    )


def compared(chosen: Chosen, metric: Any, adjust: Any, level: float) -> Found:
    """Compare all pairs of models in each subgroup."""
    rows = rows_of(chosen)
    found: list[dict[str, Any]] = []
    with library_errors(chosen):
        for group in groups_of(chosen, rows, metric, outputs=_PAIR):
            # A single cluster says nothing about spread, so the subgroup only has estimates.
            alone = group.clusters is not None and np.unique(group.clusters).size == 1
            table = compare_all(
                group.label,
                group.scores,
                metric=metric,
                adjust=adjust,
                level=level,
                groups=None if alone else group.clusters,
                sample_weight=group.weight,
                **group.options,
            )
            for i, j in zip(*np.triu_indices(len(table.names), 1), strict=True):
                values = [table.names[i], table.names[j], table.estimate[i], table.estimate[j]]
                values += [table.difference[i, j]]
                values += [None if alone else getattr(table, name)[i, j] for name in _PAIR[5:]]
                found.append(
                    dict(zip(chosen.by, group.key, strict=True))
                    | dict(zip(_PAIR, map(_plain, values), strict=True))
                    | group.counts
                    | {"n": group.label.size}
                )
    frame = pl.DataFrame(found, infer_schema_length=None)
    readable = [
        put_beside(
            {name: row[name] for name in (*chosen.by, "a", "b")},
            {
                f"{METRICS[metric].title} of a": number(row["estimate_a"]),
                "of b": number(row["estimate_b"]),
                "difference": with_bounds(row, "difference", "low", "high"),
                "p": p_value(row["p_value"]),
            }
            | ({"adjusted p": p_value(row["adjusted_p_value"])} if len(chosen.scores) > 2 else {})
            | _counts(chosen, row, frame),
        )
        for row in found
    ]
    return Found(frame, _table(readable), (*chosen.by, "a", "b"))


_PAIR = (
    "a",
    "b",
    "estimate_a",
    "estimate_b",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "adjusted_p_value",
    "unadjusted_low",
    "unadjusted_high",
)


def threshold_found(
    chosen: Chosen, accuracy: float | None, joint_risk: float | None, delta: float | None
) -> Found:
    """Find the lowest confidence at which to decide."""
    rows = rows_of(chosen)
    target: dict[str, Any] = {"joint_risk": joint_risk}
    if accuracy is not None:
        target = {"accuracy": accuracy, "delta": delta}
    head = model_column(chosen)
    with library_errors(chosen):
        found = [
            {head: one.names[0]} | _threshold_of(one, rows, target) for one in each_model(chosen)
        ]
    frame = _table(found).with_columns(pl.col(pl.Float64).fill_nan(None))
    readable = []
    for row in found:
        decided = row["rate"] > 0
        cells = {
            head: row[head],
            "decide": f"{100 * row['rate']:.1f} %",
            "of them right": f"{100 * row['accuracy']:.1f} %" if decided else "-",
            "if the confidence is at least": f"{row['confidence']:g}" if decided else "-",
        }
        if "decide_above" in row and any(each["rate"] for each in found):
            sides = f"≥ {row['decide_above']:g} or ≤ {row['decide_below']:g}"
            cells["that is, a score"] = sides if decided else "-"
        readable.append(cells | _counts(chosen, row, frame))
    remark = "Choose a threshold on other data than you report."
    none = [row[head] for row in found if not row["rate"]]
    if none:
        which = "" if len(none) == len(found) else f" of {', '.join(map(repr, none))}"
        more = "samples" if chosen.groups is None else "clusters"
        remark = f"No threshold{which} can be vouched for: decide nothing, or collect more {more}."
    return Found(frame, _table(readable), (head,), remark)


def _threshold_of(chosen: Chosen, rows: pl.DataFrame, target: dict[str, Any]) -> dict[str, Any]:
    table = _read(chosen, rows).table
    if not table.code.size:
        raise BadData(
            f"{chosen.source.name}: there must be rows that count; found none. Pass other rows."
        )
    drawn: dict[str, Any] = {"sample_weight": table.weight, "groups": table.clusters}
    label, (score,) = table.samples()
    point = threshold_for(label, score, **drawn, **target, **table.options)
    found = {name: float(getattr(point, name)) for name in ("confidence", "rate", "accuracy")}
    if chosen.way == "--score":
        below, above = scores_at(
            chosen.decision,
            table.scores[0],
            table.confidences[0],
            np.asarray([found["confidence"]]),
        )
        found |= {"decide_below": float(below[0]), "decide_above": float(above[0])}
    return found | {name: counts[0].item() for name, counts in table.counts.items()}


def groups_of(
    chosen: Chosen, rows: pl.DataFrame, metric: str, *, outputs: Sequence[str] = ()
) -> Iterator[Group]:
    """Yield the samples of each subgroup, as margins unless the metric needs labels."""
    reading = _read(chosen, rows, outputs)
    label, *scores, weight, clusters = reading.samples(metric)
    table = reading.table
    keys, count = table.groups.keys, table.groups.n_groups
    sizes = np.bincount(table.code, minlength=count)
    members = np.split(np.argsort(table.code, kind="stable"), np.cumsum(sizes)[:-1])
    for which, mine in enumerate(members):
        yield Group(
            () if keys is None else keys.row(which),
            _pick(label, mine),
            {name: _pick(each, mine) for name, each in zip(chosen.names, scores, strict=True)},
            _pick(weight, mine),
            _pick(clusters, mine),
            {name: counts[which].item() for name, counts in table.counts.items()},
            reading.options,
        )


def _read(chosen: Chosen, rows: pl.DataFrame, outputs: Sequence[str] = ()) -> Reading:
    return read_predictions(
        rows,
        **keywords(chosen),
        scores=chosen.scores,
        groups=chosen.groups,
        outputs=outputs,
    )


def _evaluated_in_bins(chosen: Chosen, metrics: Sequence[str], level: float | None) -> Found:
    if level or chosen.groups is not None:
        raise typer.BadParameter(
            "intervals need the samples: pass --engine memory, or --interval 0 for none.",
            param_hint="--interval",
        )
    for name in metrics:
        if not METRICS[name].has_bounds:
            needs = f"{METRICS[name].heading} needs the samples"
            raise typer.BadParameter(
                f"{needs}: pass --engine memory, or other metrics.", param_hint="--metric"
            )
    if chosen.way == "--confidence":
        raise typer.BadParameter(
            "bins begin at zero confidence, which confidences of any sign do not: pass --engine "
            "memory.",
            param_hint="--engine",
        )
    with library_errors(chosen):
        _check_sides(chosen)
        metrics = metrics or WITH_BOUNDS
        found = of_models(chosen, lambda one: _bounds(one, metrics))
    remark = "Certain bounds, from sums in bins of confidence; --engine memory is exact."
    return _readable_metrics(chosen, found, metrics, remark)


def _bounds(chosen: Chosen, metrics: Sequence[Any]) -> pl.DataFrame:
    """Find the bounds of one model in one pass over the file."""
    state = rows_of(
        chosen,
        lambda rows: frames.sketch(rows, score=chosen.scores[0], bins=_BINS, **keywords(chosen)),
    )
    bad = int(state.filter(pl.col("bin") < 0)["count"].sum())
    if bad:
        raise BadData(
            f"{chosen.source.name}: {bad} rows have a label, score or weight that is missing or "
            f"bad. Pass --missing omit to leave out the missing ones, or --engine memory to see "
            f"the first one."
        )
    found: pl.DataFrame = frames.sketch_bounds(state, by=chosen.by, metrics=metrics)
    return found


def _check_sides(chosen: Chosen) -> None:
    """Refuse labels other than those that were named, since a query cannot raise."""
    if chosen.label is None or chosen.positive is None:
        return
    label = pl.col(chosen.label)
    counts = pl.lit(True) if chosen.weight is None else pl.col(chosen.weight) != 0
    labels = rows_of(chosen, lambda rows: rows.filter(counts).select(label.unique()))
    sides = {name: keywords(chosen)[name] for name in ("label", "positive", "negative", "ties")}
    try:
        frames.accuracy(
            labels.with_columns(pl.lit(0.0).alias(ONES)), score=ONES, nan_policy="omit", **sides
        )
    except BadValue as error:
        if error.row is None:
            raise
        # The row number belongs to the list of labels, not to the file.
        raise BadValue(
            error.argument, error.problem, error.remedy, **error.facts, place="in some row"
        ) from error


def _readable_metrics(
    chosen: Chosen, found: pl.DataFrame, metrics: Sequence[str], remark: str
) -> Found:
    readable, words = [], (model_column(chosen), *chosen.by)
    for row in found.to_dicts():
        cells = {
            METRICS[name].title: with_bounds(row, name, f"{name}_low", f"{name}_high")
            for name in metrics
        }
        keys = {key: row[key] for key in words}
        readable.append(put_beside(keys, cells | _counts(chosen, row, found)))
    return Found(found, _table(readable), words, remark)


def _counts(chosen: Chosen, row: dict[str, Any], found: pl.DataFrame) -> dict[str, str]:
    """Return how many rows a line is based on, with missing rows and weights if there are any."""
    counts = {"n": f"{row['n']:d}"}
    if "n_missing" not in chosen.by and "n_missing" in found.columns and found["n_missing"].sum():
        counts["missing"] = f"{row['n_missing']:d}"
    if chosen.weight is not None:
        counts["weight"] = f"{row['weight']:g}"
    return counts


def put_beside(keys: dict[str, Any], cells: dict[str, Any]) -> dict[str, Any]:
    """Put cells beside the keys, and refuse keys with the name of a heading."""
    for name in keys.keys() & cells.keys():
        raise typer.BadParameter(
            f"{name!r} is also a heading of the result. Rename the column.", param_hint="--by"
        )
    return keys | cells


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def _pick(column: Array | None, mine: Array) -> Any:
    return None if column is None else column[mine]


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python one, None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value != value else value


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not known on this system
        return 4 << 30
