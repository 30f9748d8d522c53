"""The sketch of a frame: sums in bins of confidence for each group, from one ``group_by``.

A state is a frame with one row for each bin of a group that is not empty. It is made by a query, or
with NumPy from an eager frame; merging is the same ``group_by`` again; the bounds come from
``lxcim_xp.sketch``, for one batch entry for each group.

Bin 0 holds rows without confidence, and stands, with a count of 0, for groups of which no row
counts. Bin -1 counts rows that a query cannot refuse (missing values under ``nan_policy="raise"``,
labels that are none): groups that have some have no bounds.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._array import Array, numpy_namespace, reduced_by_bin
from lxcim_xp._bins import bound_tolerance, largest_confidence
from lxcim_xp._engines import Engine, column_of
from lxcim_xp._frame_columns import Parts
from lxcim_xp._frame_expressions import number
from lxcim_xp._frame_keys import group_rows, renumbered
from lxcim_xp._frame_plan import (
    LIBRARY,
    check_decision,
    clean_rows,
    inner_names,
    one_if,
    right_weight,
)
from lxcim_xp._frame_samples import numbers, read, write_rows
from lxcim_xp._rectangles import over_groups
from lxcim_xp.sketch import Sketch, audrc_bounds, lxcim_bounds, sketch_accuracy

BIN = "bin"
# How the columns of two states become those of their union.
REDUCTIONS: dict[str, Literal["sum", "min", "max"]] = {
    "weight": "sum",
    "correct": "sum",
    "g_min": "min",
    "g_max": "max",
    "count": "sum",
}
STATE = (BIN, *REDUCTIONS)
# The metrics that have bounds, and their columns.
BOUNDS = {
    "lxcim": ("lxcim_low", "lxcim", "lxcim_high"),
    "accuracy": ("accuracy",),
    "audrc": ("audrc_low", "audrc", "audrc_high"),
}
_SPOILED = -1
_NEGATIVES = ("__lx_zeros", "__lx_minuses")


class _Verbs(NamedTuple):
    """What arrays and expressions call by different names."""

    sqrt: Callable[[Any], Any]
    floor: Callable[[Any], Any]
    clip: Callable[[Any, float, float], Any]
    where: Callable[[Any, Any, Any], Any]
    keep: Callable[[str, Any], Any]  # compute it once, under a name


_ARRAYS = _Verbs(np.sqrt, np.floor, np.clip, np.where, lambda name, value: value)


def sketch_frame(
    frame: nw.DataFrame[Any], parts: Parts, bins: int, bound: float | None
) -> nw.DataFrame[Any]:
    """Return the state of an eager frame."""
    limit, most = _limits(frame.schema[parts.scores[0]], parts, bound)
    table = read(frame, parts, relative_weights=False)
    groups, code = table.groups, table.code
    confidence = np.abs(table.confidences[0].astype(np.float64, copy=False))
    if most is not None and confidence.size and confidence.max() > most:
        raise ValueError(
            f"the confidence of score column {parts.scores[0]!r} must not exceed bound={bound:g}; "
            f"found {confidence.max():g}. Pass the largest confidence there can be."
        )
    weight = np.ones(code.size) if table.weight is None else table.weight
    margin = table.margins[0]
    right = weight * (((margin > 0) * 1.0 + (margin >= 0)) / 2)
    index = _bin_of(_ARRAYS, confidence, bins, limit).astype(np.int64)
    columns = [weight, right, confidence, confidence, np.ones(code.size)]
    # One absent sample stands for the rows of a group that do not count.
    absent = np.flatnonzero(table.counts["n"] > np.bincount(code, minlength=groups.n_groups))
    code, index = (np.concatenate((a, b)) for a, b in ((code, absent), (index, 0 * absent)))
    columns = [np.concatenate((column, np.zeros(absent.size))) for column in columns]
    place, count = renumbered(code * bins + index, groups.n_groups * bins)
    first = np.zeros(count, dtype=np.int64)
    first[place] = np.arange(place.size)
    reduced = _reduced(place, count, columns)
    keys = None if groups.keys is None else nw.maybe_reset_index(groups.keys[code[first]])
    return write_rows(frame, keys, {BIN: index[first], **reduced})


def sketch_plan(
    frame: nw.LazyFrame[Any],
    schema: Any,
    engine: Engine,
    parts: Parts,
    bins: int,
    bound: float | None,
) -> nw.LazyFrame[Any]:
    """Return the state of a lazy frame as a lazy frame."""
    check_decision(engine, parts)
    limit, most = _limits(schema[parts.scores[0]], parts, bound)
    keys = inner_names(parts.by)
    counts = nw.col("__lx_w") > 0.0
    zero = number(LIBRARY, 0.0)
    rows = clean_rows(frame, schema, engine, parts, keys).with_columns(
        nw.when(counts).then(nw.col("__lx_d").abs()).otherwise(zero).alias("__lx_g"),
        right_weight().alias("__lx_right"),
    )

    def keep(name: str, value: nw.Expr) -> nw.Expr:
        # SQL would write an expression out wherever it is used, roots within roots. A name may be
        # taken again once nothing refers to what it was.
        nonlocal rows
        rows = rows.with_columns(value.alias(name))
        return nw.col(name)

    def floor(x: nw.Expr) -> nw.Expr:
        # A cast rounds in DuckDB and truncates elsewhere.
        x = keep("__lx_x", x)
        whole = keep("__lx_whole", x.cast(nw.Int64).cast(nw.Float64))
        return nw.when(whole > x).then(whole - 1.0).otherwise(whole)

    verbs = _Verbs(
        lambda x: x.sqrt(),
        floor,
        lambda x, low, high: x.clip(number(LIBRARY, low), number(LIBRARY, high)),
        lambda condition, a, b: nw.when(condition).then(a).otherwise(b),
        keep,
    )
    g, spoiled = nw.col("__lx_g"), nw.col("__lx_spoiled") > 0.0
    if most is not None:
        spoiled = spoiled | (g > most)
    index = keep("__lx_bin", _bin_of(verbs, g, bins, limit))
    rows = rows.with_columns(
        nw.when(spoiled).then(number(LIBRARY, _SPOILED)).otherwise(index).alias("__lx_bin"),
        nw.col("__lx_w").alias("weight"),
        nw.col("__lx_right").alias("correct"),
        g.alias("g_min"),
        g.alias("g_max"),
        one_if(counts | spoiled).alias("count"),
    )
    label = schema[parts.label]
    if parts.positive is not None or label == nw.Boolean:
        return _named(_grouped(rows, keys), parts.by)
    # Labels are 0 and 1 or -1 and 1: a group that has both 0 and -1 is bad as a whole.
    state = _grouped(rows, keys, more_sums=_NEGATIVES)
    zeros, minuses = (nw.col(name).sum() for name in _NEGATIVES)
    if keys:
        zeros, minuses = zeros.over(*keys), minuses.over(*keys)
    state = state.with_columns(zeros.alias("__lx_zeros"), minuses.alias("__lx_minuses"))
    mixed = (nw.col("__lx_zeros") > 0.0) & (nw.col("__lx_minuses") > 0.0)
    spoiled_bin = nw.when(mixed).then(number(LIBRARY, _SPOILED)).otherwise(nw.col("__lx_bin"))
    return _named(state.with_columns(spoiled_bin.alias("__lx_bin")), parts.by)


def merge_frame(states: nw.DataFrame[Any], by: tuple[str, ...]) -> nw.DataFrame[Any]:
    """Return the state of the rows of several eager states, which lie below each other."""
    groups = group_rows(states, (*by, BIN))
    columns = [numbers(states.get_column(name)) for name in REDUCTIONS]
    return write_rows(states, groups.keys, _reduced(groups.code, groups.n_groups, columns))


def merge_plan(states: nw.LazyFrame[Any], engine: Engine, by: tuple[str, ...]) -> nw.LazyFrame[Any]:
    """Return the same of lazy states."""
    keys = inner_names(by)
    rows = states.select(
        *(column_of(engine, name).alias(key) for key, name in zip(keys, by, strict=True)),
        nw.col(BIN).alias("__lx_bin"),
        *REDUCTIONS,
    )
    return _named(_grouped(rows, keys), by)


def bounds_frame(
    state: nw.DataFrame[Any], by: tuple[str, ...], metrics: Sequence[str]
) -> nw.DataFrame[Any]:
    """Return the bounds of each group of a state."""
    groups = group_rows(state, by)
    columns = {name: numbers(state.get_column(name)) for name in STATE}
    spoiled = np.bincount(groups.code[columns[BIN] < 0], minlength=groups.n_groups) > 0
    kept = (columns[BIN] >= 0) & (columns["count"] > 0)
    code = groups.code[kept]
    columns = {name: columns[name][kept] for name in REDUCTIONS}
    names = tuple(name for metric in metrics for name in BOUNDS[metric])

    def bounds(where: Array, *sums: Array) -> tuple[Array, ...]:
        sketch = _in_order(where, *sums)
        found = {"lxcim": lxcim_bounds, "audrc": audrc_bounds}
        return tuple(
            value
            for metric in metrics
            for value in (
                (sketch_accuracy(sketch),) if metric == "accuracy" else found[metric](sketch)
            )
        )

    results = over_groups(code, groups.n_groups, names, bounds, *columns.values())
    results = {name: np.where(spoiled, np.nan, value) for name, value in results.items()}
    n, weight = (
        np.bincount(code, columns[name], minlength=groups.n_groups) for name in ("count", "weight")
    )
    return write_rows(state, groups.keys, {**results, "n": n.astype(np.int64), "weight": weight})


# Where the places of the octaves begin, and the inverse of how far they reach: numbers of few
# digits, which also engines that read them as decimals have exactly.
_START, _STRETCH = 0.4140625, 5.8125


def _bin_of(verbs: _Verbs, confidence: Any, bins: int, bound: float | None) -> Any:
    """Return the bin of each confidence, in 0 .. bins - 1, which never falls as confidence grows.

    The bins are laid out as in ``_bins``, whose bits of floats no query can see. A logarithm may be
    rounded this way or that, in each engine in another. Roots, sums and quotients are rounded
    correctly: they are monotone, and the same everywhere. With 2 ** k octaves, the root of order
    2 ** k, r, lies between 2 ** -0.5 and 2 ** 0.5, and r / (1 + r) grows with its logarithm as a
    straight line does, to 3 %.
    """
    if bound is None:
        share, x, order = confidence, confidence, 6
    else:
        share = verbs.keep("__lx_share", confidence / bound)
        near = verbs.where(share <= 0.5, share, 1.0 - share)  # exact from one half on
        # The 32 octaves below one half, around one; nothing is left of what is at the bound.
        x, order = verbs.where(share < 1.0, near, 0.0) * 2.0**17, 5
    for _ in range(order):
        x = verbs.keep("__lx_root", verbs.sqrt(x))
    place = verbs.keep("__lx_place", (1.0 - 1.0 / (1.0 + x) - _START) * _STRETCH)
    if bound is None:
        index = 2.0 + verbs.clip(verbs.floor(place * max(bins - 3, 1)), -1, bins - 3)
    else:
        low, high = max((bins - 2) // 2, 1), max((bins - 1) // 2, 1)
        steps = verbs.floor(verbs.where(share <= 0.5, place * low, place * high))
        steps = verbs.keep("__lx_steps", steps)
        lower = 1.0 + verbs.clip(steps, 0, low - 1)
        upper = bins - 2.0 - verbs.clip(steps, 0, high - 1)
        index = verbs.keep("__lx_index", verbs.where(share <= 0.5, lower, upper))
        index = verbs.where(share < 1.0, index, bins - 1.0)
        index = verbs.clip(index, 1, bins - 1)
    index = verbs.keep("__lx_index", index)
    return verbs.where(confidence > 0.0, index, 0.0)


def _limits(dtype: Any, parts: Parts, bound: float | None) -> tuple[float | None, float | None]:
    """Return the largest confidence for the bins, and the largest that is accepted if asked for."""
    scores = np.zeros(0, dtype=np.float32 if dtype == nw.Float32 else np.float64)
    limit = largest_confidence(numpy_namespace, scores, parts.decision, bound)
    if limit is None:
        return None, None
    tolerance = bound_tolerance(numpy_namespace, scores.dtype)
    return float(limit), None if bound is None else float(limit) * (1 + tolerance)


def _in_order(
    where: Array, weight: Array, correct: Array, g_min: Array, g_max: Array, count: Array
) -> Sketch:
    """Return bins in the order of confidence, as a sketch; those that overlap become one.

    Bins of one sketch do not overlap. If those of different scales were merged, the order of what
    is in them is not known, and the bounds are wide but certain.
    """
    order = np.argsort(np.where(where, g_min, np.inf), axis=-1, kind="stable")
    weight, correct, g_min, g_max, count, where = (
        np.take_along_axis(column, order, axis=-1)
        for column in (weight, correct, g_min, g_max, count, where)
    )
    reached = np.maximum.accumulate(np.where(where, g_max, -np.inf), axis=-1)
    is_new = np.ones(where.shape, dtype=np.int64)
    is_new[..., 1:] = g_min[..., 1:] > reached[..., :-1]
    # Padding is behind all bins and holds nothing.
    place = np.where(where, np.cumsum(is_new, axis=-1) - 1, where.shape[-1] - 1)
    empty = {"sum": 0.0, "min": np.inf, "max": -np.inf}
    columns = dict(zip(REDUCTIONS, (weight, correct, g_min, g_max, count), strict=True))
    merged = {
        name: reduced_by_bin(
            numpy_namespace, how, place, np.where(where, columns[name], empty[how]), where.shape[-1]
        )
        for name, how in REDUCTIONS.items()
    }
    bound = np.full(where.shape[:-1], np.inf)
    # A state does not say whether weights were whole: each sample may have cost a rounding.
    return Sketch(**merged, bound=bound, fractional=merged["count"].sum(axis=-1))


def _reduced(place: Array, count: int, columns: Sequence[Array]) -> dict[str, Array]:
    reduced = {
        name: reduced_by_bin(numpy_namespace, how, place, column, count)
        for (name, how), column in zip(REDUCTIONS.items(), columns, strict=True)
    }
    reduced["count"] = reduced["count"].astype(np.int64)
    return reduced


def _grouped(
    rows: nw.LazyFrame[Any], keys: list[str], more_sums: Sequence[str] = ()
) -> nw.LazyFrame[Any]:
    reductions = {**REDUCTIONS, **dict.fromkeys(more_sums, "sum")}
    return rows.group_by(*keys, "__lx_bin").agg(
        *(getattr(nw.col(name), how)().alias(name) for name, how in reductions.items())
    )


def _named(state: nw.LazyFrame[Any], by: tuple[str, ...]) -> nw.LazyFrame[Any]:
    """Give a state its names, dtypes and order."""
    keys = inner_names(by)
    state = state.select(
        *keys,
        nw.col("__lx_bin").cast(nw.Int64).alias(BIN),
        *(name for name in REDUCTIONS if name != "count"),
        nw.col("count").cast(nw.Int64),
    )
    return state.rename(dict(zip(keys, by, strict=True))).sort(*by, BIN, nulls_last=True)
