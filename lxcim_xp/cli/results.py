"""What commands find, as frames: one with every number, and one for people to read.

Each function takes what was chosen on the command line and calls the library; no number is computed
here.
"""

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import typer

from lxcim_xp import frames
from lxcim_xp._array import Array
from lxcim_xp._cli_files import BadData, estimated_rows
from lxcim_xp._cli_output import HEADS, number, p_value, with_bounds
from lxcim_xp._cli_samples import Chosen, keywords, library_errors, parts_for, rows_of
from lxcim_xp._engines import METRICS
from lxcim_xp._frame_kernel import COUNTS, samples_for
from lxcim_xp._frame_samples import Table, read
from lxcim_xp._mirror import scores_at
from lxcim_xp.comparison import compare_all
from lxcim_xp.selective import threshold_for

_BYTES_OF_A_ROW = 150  # that evaluating in memory takes, measured by benchmarks/cli.py
_MANY = 1_000_000  # rows above which intervals are made only when asked for
_BINS = 1 << 16
_BOUNDED = ("lxcim", "accuracy", "audrc")


class Engine(StrEnum):
    """How a file is evaluated."""

    auto = "auto"
    memory = "memory"
    bounded = "bounded"


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


def evaluated(chosen: Chosen, metrics: Sequence[str], level: float | None, engine: Engine) -> Found:
    """Evaluate each subgroup, with intervals where samples are at hand, with bounds elsewhere."""
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
    metrics = metrics or (METRICS[:-1] if chosen.label is None else METRICS)
    rows = rows_of(chosen)
    with library_errors(chosen):
        found = frames.evaluate(
            rows,
            score=chosen.scores[0],
            metrics=metrics,
            interval=level or None,
            groups=chosen.groups if level else None,
            **keywords(chosen),
        )
    return _readable_metrics(chosen, found, metrics, remark)


def compared(chosen: Chosen, metric: str, adjust: str | None, level: float) -> Found:
    """Compare all pairs of models in each subgroup."""
    rows = rows_of(chosen)
    found: list[dict[str, Any]] = []
    with library_errors(chosen):
        for group in groups_of(chosen, rows, metric, outputs=_PAIR):
            # A single cluster says nothing about spread: the subgroup has estimates only.
            alone = group.clusters is not None and np.unique(group.clusters).size == 1
            table = compare_all(
                group.label,
                group.scores,
                metric=metric,
                adjust=adjust,
                level=level,
                groups=None if alone else group.clusters,
                sample_weight=group.weight,
            )
            for i, j in zip(*np.triu_indices(len(table.names), 1), strict=True):
                values = [table.names[i], table.names[j], table.estimate[i], table.estimate[j]]
                values += [table.difference[i, j]]
                values += [None if alone else getattr(table, name)[i, j] for name in _PAIR[5:]]
                found.append(
                    dict(zip(chosen.by, group.key, strict=True))
                    | dict(zip(_PAIR, map(_plain, values), strict=True))
                    | group.counts
                )
    frame = pl.DataFrame(found, infer_schema_length=None)
    readable = [
        {name: row[name] for name in (*chosen.by, "a", "b")}
        | {
            f"{HEADS.get(metric, metric)} of a": number(row["estimate_a"]),
            "of b": number(row["estimate_b"]),
            "difference": with_bounds(row, "difference", "low", "high"),
            "p": p_value(row["p_value"]),
        }
        | ({"adjusted p": p_value(row["adjusted_p_value"])} if len(chosen.scores) > 2 else {})
        | _counts(chosen, row, frame)
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
)


def threshold_found(
    chosen: Chosen, accuracy: float | None, joint_risk: float | None, delta: float | None
) -> Found:
    """Find the confidence from which on to decide."""
    rows = rows_of(chosen)
    target: dict[str, Any] = {"joint_risk": joint_risk}
    if accuracy is not None:
        target = {"accuracy": accuracy, "delta": delta}
    with library_errors(chosen):
        table = _read(chosen, rows)
        point = threshold_for(1, table.margins[0], sample_weight=table.weight, **target)
    confidence, rate = float(point.confidence), float(point.rate)
    below, above = scores_at(
        chosen.decision, table.scores[0], table.confidences[0], np.asarray([confidence])
    )
    found = {"confidence": confidence, "rate": rate, "accuracy": float(point.accuracy)}
    if chosen.label is not None:
        found |= {"decide_below": float(below[0]), "decide_above": float(above[0])}
    found |= {name: counts[0].item() for name, counts in table.counts.items()}
    readable = {
        "decide": f"{100 * rate:.1f} %",
        "of them right": f"{100 * found['accuracy']:.1f} %" if rate else "-",
        "if the confidence is at least": f"{confidence:g}" if rate else "-",
    }
    if chosen.label is not None and rate:
        readable["that is, a score"] = f"≥ {above[0]:g} or ≤ {below[0]:g}"
    remark = "Choose a threshold on other data than you report."
    if not rate:
        remark = "No threshold can be vouched for: decide nothing, or collect more samples."
    frame = pl.DataFrame([found]).with_columns(pl.col(pl.Float64).fill_nan(None))
    return Found(frame, _table([readable | _counts(chosen, found, frame)]), (), remark)


def groups_of(
    chosen: Chosen, rows: pl.DataFrame, metric: str, *, outputs: Sequence[str] = ()
) -> Iterator[Group]:
    """Yield the samples of each subgroup, as margins unless the metric is about scores."""
    table = _read(chosen, rows, outputs)
    label, *scores, weight, clusters = samples_for(table, metric)
    keys, count = table.groups.keys, table.groups.n_groups
    sizes = np.bincount(table.code, minlength=count)
    members = np.split(np.argsort(table.code, kind="stable"), np.cumsum(sizes)[:-1])
    for which, mine in enumerate(members):
        yield Group(
            () if keys is None else keys.row(which),
            _taken(label, mine),
            {name: _taken(each, mine) for name, each in zip(chosen.scores, scores, strict=True)},
            _taken(weight, mine),
            _taken(clusters, mine),
            {name: counts[which].item() for name, counts in table.counts.items()},
        )


def _read(chosen: Chosen, rows: pl.DataFrame, outputs: Sequence[str] = ()) -> Table:
    frame = nw.from_native(rows, eager_only=True)
    return read(frame, parts_for(chosen, frame, [*outputs, *COUNTS]))


def _evaluated_in_bins(chosen: Chosen, metrics: Sequence[str], level: float | None) -> Found:
    if level or chosen.groups is not None:
        raise typer.BadParameter(
            "intervals need the samples: pass --engine memory, or --interval 0 for none.",
            param_hint="--interval",
        )
    if "auroc" in metrics:
        raise typer.BadParameter(
            "AUROC needs the samples: pass --engine memory, or other metrics.",
            param_hint="--metric",
        )
    with library_errors(chosen):
        if isinstance(chosen.positive, str):
            _require_positive(chosen)
        state = rows_of(
            chosen,
            lambda rows: frames.sketch(
                rows, score=chosen.scores[0], bins=_BINS, **keywords(chosen)
            ),
        )
        bad = int(state.filter(pl.col("bin") < 0)["count"].sum())
        if bad:
            raise BadData(
                f"{chosen.source.name}: {bad} rows have a label, score or weight that is missing "
                f"or bad. Pass --missing omit to leave out the missing ones, or --engine memory "
                f"to see the first one."
            )
        metrics = metrics or _BOUNDED
        found = frames.sketch_bounds(state, by=chosen.by, metrics=metrics)
    remark = "Certain bounds, from sums in bins of confidence; --engine memory is exact."
    return _readable_metrics(chosen, found, metrics, remark)


def _require_positive(chosen: Chosen) -> None:
    """Refuse a word that does not occur, which a query cannot."""
    occurs = pl.col(chosen.label or "").cast(pl.String) == chosen.positive
    if not rows_of(chosen, lambda rows: rows.select(occurs.any())).item():
        raise BadData(
            f"{chosen.source.name}: --positive {chosen.positive!r} does not occur in the column "
            f"{chosen.label!r}."
        )


def _readable_metrics(
    chosen: Chosen, found: pl.DataFrame, metrics: Sequence[str], remark: str
) -> Found:
    readable = []
    for row in found.to_dicts():
        cells = {key: row[key] for key in chosen.by}
        for name in metrics:
            head = HEADS.get(name, name)
            cells[head] = with_bounds(row, name, f"{name}_low", f"{name}_high")
        readable.append(cells | _counts(chosen, row, found))
    return Found(found, _table(readable), chosen.by, remark)


def _counts(chosen: Chosen, row: dict[str, Any], found: pl.DataFrame) -> dict[str, str]:
    """Return how many rows a line rests on; missing ones and weights if there are any."""
    counts = {"n": f"{row['n']:d}"}
    if "n_missing" in found.columns and found["n_missing"].sum():
        counts["missing"] = f"{row['n_missing']:d}"
    if chosen.weight is not None:
        counts["weight"] = f"{row['weight']:g}"
    return counts


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def _taken(column: Array | None, mine: Array) -> Any:
    return None if column is None else column[mine]


def _plain(value: Any) -> Any:
    """Return a number of NumPy as Python's, None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value != value else value


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not on this system
        return 4 << 30
