"""The sketch of a frame: sums in bins of confidence for each group, from one ``group_by``.

A state is a frame with one row for each non-empty bin of a group. It is made by a query, or with
NumPy from an eager frame. Merging is the same ``group_by`` again, and the bounds come from
``lxcim_xp.sketch``, with one batch entry for each group.

Bin 0 holds rows without confidence; with a count of 0 it stands for a group in which no row counts.
Bin -1 counts rows that a query should have refused but cannot (missing values under
``nan_policy="raise"``, bad labels): groups with such rows have no bounds.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.primitives import reduced_by_bin
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.checks import bound_tolerance, largest_confidence, refuse_confidence
from lxcim_xp.frames.columns import Parts
from lxcim_xp.frames.engines import Engine
from lxcim_xp.frames.expressions import LIBRARY, number, one_if
from lxcim_xp.frames.group_codes import group_rows, renumbered
from lxcim_xp.frames.labels import WRONG, may_hold_shares, numbers, with_verdict
from lxcim_xp.frames.names import column_of, sorted_and_named
from lxcim_xp.frames.padded_groups import over_groups
from lxcim_xp.frames.query import check_decision, clean_rows, inner_names, right_weight
from lxcim_xp.frames.read_write import read, write_rows
from lxcim_xp.frames.segments import is_wild, levelled
from lxcim_xp.sketch import Sketch, audrc_bounds, lxcim_bounds, sketch_accuracy

BIN = "bin"
# How to combine the columns of states that are merged.
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
    """Functions that arrays and expressions call by different names."""

    sqrt: Callable[[Any], Any]
    floor: Callable[[Any], Any]
    clip: Callable[[Any, float, float], Any]
    where: Callable[[Any, Any, Any], Any]
    keep: Callable[[str, Any], Any]  # computes a value once, under a name


_ARRAYS = _Verbs(np.sqrt, np.floor, np.clip, np.where, lambda name, value: value)


def sketch_frame(
    frame: nw.DataFrame[Any], parts: Parts, bins: int, bound: float | None
) -> nw.DataFrame[Any]:
    """Return the state of an eager frame."""
    _refuse_confidence(parts)
    limit, most = _limits(frame.schema[parts.scores[0]], parts, bound)
    table = read(frame, parts)
    groups, code = table.groups, table.code
    confidence = np.abs(table.confidences[0].astype(np.float64, copy=False))
    if most is not None and confidence.size and confidence.max() > most:
        raise ValueError(
            f"the confidence of score column {parts.scores[0]!r} must not exceed bound={bound:g}; "
            f"found {confidence.max():g}. Pass the largest confidence there can be."
        )
    weight = np.ones(code.size) if table.weight is None else table.weight
    right = weight * table.credit(0)
    index = _bin_of(_ARRAYS, confidence, bins, limit).astype(np.int64)
    columns = [weight, right, confidence, confidence, np.ones(code.size)]
    # One absent sample stands for the rows of a group that do not count.
    given, counted = (np.bincount(x, minlength=groups.n_groups) for x in (groups.code, code))
    absent = np.flatnonzero(given > counted)
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
    _refuse_confidence(parts)
    check_decision(engine, parts)
    limit, most = _limits(schema[parts.scores[0]], parts, bound)
    keys = inner_names(parts.by)
    counts = nw.col("__lx_w") > 0.0
    zero = number(LIBRARY, 0.0)
    rows = clean_rows(frame, schema, parts, keys).with_columns(
        nw.when(counts).then(nw.col("__lx_d").abs()).otherwise(zero).alias("__lx_g"),
        right_weight(parts.decision).alias("__lx_right"),
    )

    def keep(name: str, value: nw.Expr) -> nw.Expr:
        # SQL would repeat an expression wherever it is used, roots within roots. A name may be
        # reused once nothing refers to its old value.
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
    if parts.positive is not None or schema[parts.label] == nw.Boolean:
        state = with_verdict(_grouped(rows, keys), frame, schema, parts)
        return _with_own_names(_spoiled_where(state, nw.col(WRONG) > 0.0), engine, parts.by)
    # Labels are -1 and 1 or none is below 0: a group that mixes the two is bad as a whole.
    state = _grouped(rows, keys, more_sums=_NEGATIVES)
    zeros, minuses = (nw.col(name).sum() for name in _NEGATIVES)
    if keys:
        zeros, minuses = zeros.over(*keys), minuses.over(*keys)
    state = state.with_columns(zeros.alias("__lx_zeros"), minuses.alias("__lx_minuses"))
    mixed = (nw.col("__lx_zeros") > 0.0) & (nw.col("__lx_minuses") > 0.0)
    if may_hold_shares(schema, parts):
        state = with_verdict(state, frame, schema, parts)
        mixed = mixed | (nw.col(WRONG) > 0.0)
    return _with_own_names(_spoiled_where(state, mixed), engine, parts.by)


def merge_frame(states: nw.DataFrame[Any], by: tuple[str, ...]) -> nw.DataFrame[Any]:
    """Merge several eager states, given as the rows of one frame."""
    groups = group_rows(states, (*by, BIN))
    columns = [numbers(states.get_column(name)) for name in REDUCTIONS]
    return write_rows(states, groups.keys, _reduced(groups.code, groups.n_groups, columns))


def merge_plan(states: nw.LazyFrame[Any], engine: Engine, by: tuple[str, ...]) -> nw.LazyFrame[Any]:
    """Merge lazy states in the same way."""
    keys = inner_names(by)
    rows = states.select(
        *(column_of(name).alias(key) for key, name in zip(keys, by, strict=True)),
        nw.col(BIN).alias("__lx_bin"),
        *REDUCTIONS,
    )
    return _with_own_names(_grouped(rows, keys), engine, by)


def bounds_frame(
    state: nw.DataFrame[Any], by: tuple[str, ...], metrics: Sequence[str]
) -> nw.DataFrame[Any]:
    """Return the bounds of each group of a state."""
    groups = group_rows(state, by)
    columns = {name: numbers(state.get_column(name)) for name in STATE}
    counted = (columns[BIN] >= 0) & (columns["count"] > 0)
    n, weight = (
        np.bincount(groups.code, columns[name] * counted, minlength=groups.n_groups)
        for name in ("count", "weight")
    )
    # Groups with rows in bin -1, or with infinite weight, have no bounds.
    spoiled = np.bincount(groups.code[columns[BIN] < 0], minlength=groups.n_groups) > 0
    kept = counted & ~(spoiled | np.isinf(weight))[groups.code]
    code = groups.code[kept]
    columns = {name: columns[name][kept] for name in REDUCTIONS}
    if is_wild(columns["weight"]):
        level = levelled(columns["weight"], code, groups.n_groups)
        share = columns["correct"] / columns["weight"]
        columns |= {"weight": level, "correct": level * share}
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
    return write_rows(state, groups.keys, {**results, "n": n.astype(np.int64), "weight": weight})


# Where the range of r / (1 + r) begins, and the inverse of its length. The numbers have few digits,
# so that engines that read them as decimals have them exactly.
_START, _STRETCH = 0.4140625, 5.8125


def _bin_of(verbs: _Verbs, confidence: Any, bins: int, bound: float | None) -> Any:
    """Return the bin of each confidence, in 0 .. bins - 1, which never falls as confidence grows.

    The bins are laid out as in ``sketch.bins``, which reads the bits of floats. A query cannot, and
    each engine may round a logarithm differently. Roots, sums and quotients are rounded correctly,
    so they are monotone and the same everywhere. With 2 ** k octaves, the root r of order 2 ** k
    lies between 2 ** -0.5 and 2 ** 0.5, where r / (1 + r) is a straight line in log r, to 3 %.
    """
    if bound is None:
        share, x, order = confidence, confidence, 6
    else:
        share = verbs.keep("__lx_share", confidence / bound)
        near = verbs.where(share <= 0.5, share, 1.0 - share)  # exact from one half on
        # The 32 octaves below one half are shifted to lie around one; at the bound x is zero.
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


def _refuse_confidence(parts: Parts) -> None:
    refuse_confidence(
        parts.decision, "Bins begin at zero confidence: pass margins with label=None."
    )


def _limits(dtype: Any, parts: Parts, bound: float | None) -> tuple[float | None, float | None]:
    """Return the largest confidence for the bins and, with ``bound``, the largest allowed."""
    scores: Array = np.zeros(0, dtype=np.float32 if dtype == nw.Float32 else np.float64)
    limit = largest_confidence(NUMPY, scores, parts.decision, bound)
    if limit is None:
        return None, None
    tolerance = bound_tolerance(NUMPY, scores.dtype)
    return float(limit), None if bound is None else float(limit) * (1 + tolerance)


def _in_order(
    where: Array, weight: Array, correct: Array, g_min: Array, g_max: Array, count: Array
) -> Sketch:
    """Return bins in the order of confidence, as a sketch; overlapping bins become one.

    Bins of one sketch do not overlap. If sketches of different scales were merged, the order inside
    overlapping bins is unknown, and the bounds are wide but certain.
    """
    order = np.argsort(np.where(where, g_min, np.inf), axis=-1, kind="stable")
    weight, correct, g_min, g_max, count, where = (
        np.take_along_axis(column, order, axis=-1)
        for column in (weight, correct, g_min, g_max, count, where)
    )
    reached = np.maximum.accumulate(np.where(where, g_max, -np.inf), axis=-1)
    is_new = np.ones(where.shape, dtype=np.int64)
    is_new[..., 1:] = g_min[..., 1:] > reached[..., :-1]
    # Padding comes after all bins and is empty.
    place: Array = np.where(where, np.cumsum(is_new, axis=-1) - 1, where.shape[-1] - 1)
    empty = {"sum": 0.0, "min": np.inf, "max": -np.inf}
    columns = dict(zip(REDUCTIONS, (weight, correct, g_min, g_max, count), strict=True))
    merged = {
        name: reduced_by_bin(
            NUMPY, how, place, NUMPY.where(where, columns[name], empty[how]), where.shape[-1]
        )
        for name, how in REDUCTIONS.items()
    }
    bound: Array = np.full(where.shape[:-1], np.inf)
    # A state does not say whether weights were whole, so each sample may have caused a rounding.
    return Sketch(**merged, bound=bound, fractional=merged["count"].sum(axis=-1))


def _reduced(place: Array, count: int, columns: Sequence[Array]) -> dict[str, Array]:
    reduced = {
        name: reduced_by_bin(NUMPY, how, place, column, count)
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


def _spoiled_where(state: nw.LazyFrame[Any], condition: nw.Expr) -> nw.LazyFrame[Any]:
    place = nw.when(condition).then(number(LIBRARY, _SPOILED)).otherwise(nw.col("__lx_bin"))
    return state.with_columns(place.alias("__lx_bin"))


def _with_own_names(
    state: nw.LazyFrame[Any], engine: Engine, by: tuple[str, ...]
) -> nw.LazyFrame[Any]:
    """Give a state its names, dtypes and order."""
    keys = inner_names(by)
    state = state.select(
        *keys,
        nw.col("__lx_bin").cast(nw.Int64).alias(BIN),
        *(name for name in REDUCTIONS if name != "count"),
        nw.col("count").cast(nw.Int64),
    )
    return sorted_and_named(engine, state, dict(zip(keys, by, strict=True)), BIN)
