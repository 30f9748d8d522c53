"""Long tables of alternatives: one row for each question, with what ``choices.choose`` says of it.

Frames in memory are read as arrays and go through :func:`lxcim_xp.choices.choose`, questions of
similar length side by side. Lazy frames get the same formulas as expressions.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.primitives import first_position
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.errors import BadValue
from lxcim_xp.choices import Chosen
from lxcim_xp.choices import choose as choose_array
from lxcim_xp.frames.columns import check_keys, check_name, check_number
from lxcim_xp.frames.engines import Engine
from lxcim_xp.frames.expressions import LIBRARY, number, one_if, with_difference
from lxcim_xp.frames.group_codes import codes_of, first_rows, group_rows, renumbered
from lxcim_xp.frames.labels import numbers, refuse_missing, where_missing
from lxcim_xp.frames.names import column_of, series_of, sorted_and_named
from lxcim_xp.frames.padded_groups import over_groups
from lxcim_xp.frames.read_write import write_rows

COUNT = "n_alternatives"
_RESULTS = (*Chosen._fields, COUNT)
# Inside of queries; differences need plain names.
_FIRST, _SECOND = "lx__first", "lx__second"


class Lists(NamedTuple):
    """The columns of a call by the part they play."""

    question: str
    score: str
    right: str
    alternative: str | None
    carried: tuple[str, ...]  # what is the same for all alternatives of a question

    @property
    def columns(self) -> list[str]:
        """All columns that are needed, each once."""
        named = [self.question, *self.carried, self.score, self.right, self.alternative]
        return list(dict.fromkeys(name for name in named if name is not None))


def lists_of(
    engine: Engine,
    schema: Mapping[str, Any],
    *,
    question: Any,
    score: Any,
    right: Any,
    alternative: Any,
    weight: Any,
    by: Any,
) -> Lists:
    """Check the names and dtypes of the columns."""
    parts = {"question": question, "score": score, "right": right}
    optional = {"alternative": alternative, "weight": weight}
    parts |= {part: name for part, name in optional.items() if name is not None}
    for part, name in parts.items():
        check_name(engine, schema, part, name)
    for part in ("score", "right", "weight"):
        if part in parts:
            check_number(schema[parts[part]], part, parts[part])
    carried = (*check_keys(engine, schema, by, _RESULTS), *([weight] if weight is not None else ()))
    check_keys(engine, schema, (question, *carried), _RESULTS)
    return Lists(question, score, right, alternative, carried)


def choose_frame(rows: nw.DataFrame[Any], lists: Lists) -> nw.DataFrame[Any]:
    """Return one row for each question of a frame in memory."""
    parts = {"question": lists.question, "score": lists.score, "right": lists.right}
    if lists.alternative is not None:
        parts["alternative"] = lists.alternative
    for part, name in parts.items():
        refuse_missing(part, name, where_missing(series_of(rows, name)))
    groups = group_rows(rows, (lists.question,))
    code, count, keys = groups
    names = None if keys is None else keys.get_column(lists.question)
    score = numbers(series_of(rows, lists.score)).astype(np.float64, copy=False)
    credit = numbers(series_of(rows, lists.right)).astype(np.float64, copy=False)
    _check_credits(credit, code, count, lists, names)
    if lists.alternative is not None:
        _refuse_duplicates(rows, lists, lists.alternative, code, count)
    first = first_rows(code, count)
    for name in lists.carried:
        _refuse_changes(rows, lists, name, code, first)
    found = over_groups(code, count, Chosen._fields, _chosen, score, credit)
    kept = rows[[lists.question, *lists.carried]][first]
    sizes = np.bincount(code, minlength=count)
    return write_rows(rows, nw.maybe_reset_index(kept), {**found, COUNT: sizes})


def _chosen(where: Array, score: Array, credit: Array) -> Chosen:
    return choose_array(score, credit, where=where)


def choose_plan(
    frame: nw.LazyFrame[Any], schema: Mapping[str, Any], engine: Engine, lists: Lists
) -> nw.LazyFrame[Any]:
    """Return the same as a query, with nulls for questions that would be errors in memory."""
    names = (lists.question, *lists.carried)
    keys = [f"__lx_k{place}" for place in range(len(names))]
    score, credit = column_of(lists.score), column_of(lists.right)
    if schema[lists.right] == nw.Boolean:
        credit = nw.when(~credit.is_null()).then(one_if(credit))
    rows = frame.select(
        *(column_of(name).alias(key) for key, name in zip(keys, names, strict=True)),
        score.cast(nw.Float64).alias("__lx_s"),
        credit.cast(nw.Float64).alias("__lx_c"),
        *([] if lists.alternative is None else [column_of(lists.alternative).alias("__lx_a")]),
    )
    s, c = nw.col("__lx_s"), nw.col("__lx_c")
    usable = ~(s.is_null() | s.is_nan() | c.is_null() | c.is_nan())
    rows = rows.with_columns(usable.alias("__lx_usable"))
    usable, zero = nw.col("__lx_usable"), number(LIBRARY, 0.0)
    rows = rows.with_columns(
        nw.when(usable).then(s).otherwise(zero).alias("__lx_s"),
        nw.when(usable).then(c).otherwise(zero).alias("__lx_c"),
        one_if(~usable | (c < 0.0) | (c > 1.0)).alias("__lx_bad"),
    )
    rows = rows.with_columns(s.max().over(*keys).alias("__lx_top"))
    rows = rows.with_columns((s == nw.col("__lx_top")).alias("__lx_first"))
    first = nw.col("__lx_first")
    rows = rows.with_columns(
        one_if(first).alias("__lx_at_top"),
        nw.when(first).then(c).otherwise(zero).alias("__lx_earned"),
        nw.when(~first).then(s).alias("__lx_other"),
    )
    sums = ["__lx_at_top", "__lx_earned", "__lx_c", "__lx_bad"]
    found = rows.group_by(*keys).agg(
        nw.col(*sums).sum(),
        nw.col("__lx_other").max().alias(_SECOND),
        nw.col("__lx_top").max().alias(_FIRST),
        nw.len().alias("__lx_n"),
        *([] if lists.alternative is None else [nw.col("__lx_a").n_unique().alias("__lx_u")]),
    )
    at_top, earned, all_credits, bad = (nw.col(name) for name in sums)
    n, second = nw.col("__lx_n"), nw.col(_SECOND)
    infinity = number(LIBRARY, float("inf"))
    alone = second.is_null() | (second == float("-inf"))
    found = found.with_columns(alone.alias("__lx_alone"))
    found = found.with_columns(nw.when(~alone).then(second).otherwise(zero).alias(_SECOND))
    is_narrow = schema[lists.score] == nw.Float32
    found = with_difference(found, "lx__margin", _FIRST, _SECOND, narrow=is_narrow)
    found = found.with_columns(nw.len().over(keys[0]).alias("__lx_rows"))
    is_sound = (bad == 0.0) & (all_credits > 0.0) & (nw.col("__lx_rows") == 1)
    if lists.alternative is not None:
        is_sound = is_sound & (nw.col("__lx_u") == n)
    ahead = nw.when(nw.col("__lx_alone")).then(infinity).otherwise(nw.col("lx__margin"))
    ahead = nw.when(at_top > 1.0).then(zero).otherwise(ahead)
    results = {
        "correct": earned / at_top,
        "confidence": ahead,
        "chance": all_credits / n.cast(nw.Float64),
    }
    found = found.with_columns(
        *(nw.when(is_sound).then(x).alias(name) for name, x in results.items()),
        n.cast(nw.Int64).alias(COUNT),
    ).select(*keys, *_RESULTS)
    return sorted_and_named(engine, found, dict(zip(keys, names, strict=True)))


def _value(series: nw.Series[Any], row: Any) -> Any:
    """Return a value as Python shows it."""
    return series[row : row + 1].to_list()[0]


def _check_credits(
    credit: Array, code: Array, count: int, lists: Lists, names: nw.Series[Any] | None
) -> None:
    row: Any = first_position((credit < 0) | (credit > 1))
    if row is not None:
        raise BadValue(
            f"right column {lists.right!r}",
            "must hold booleans, or credits between 0 and 1; found {value:g} {place}",
            "Divide grades of relevance by the highest, or say which rows are right.",
            row=row,
            value=credit[row],
        )
    without = first_position(np.bincount(code, credit, minlength=count) == 0)
    if without is not None and code.size:
        raise BadValue(
            f"right column {lists.right!r}",
            "has no right alternative for the question {question!r}",
            "Leave such questions out.",
            question=None if names is None else _value(names, without),
        )


def _refuse_duplicates(
    rows: nw.DataFrame[Any], lists: Lists, alternative: str, code: Array, count: int
) -> None:
    other, others = codes_of(rows, "alternative", alternative)
    both, kinds = renumbered(code * others + other, count * others)
    twice = np.bincount(both, minlength=kinds) > 1
    if twice.any():
        row = int(np.flatnonzero(twice[both])[-1])
        raise BadValue(
            f"alternative column {alternative!r}",
            "has {name!r} more than once for the question {question!r}, last {place}",
            "Leave all but one of them out, or name them apart.",
            row=row,
            name=_value(series_of(rows, alternative), row),
            question=_value(series_of(rows, lists.question), row),
        )


def _refuse_changes(
    rows: nw.DataFrame[Any], lists: Lists, name: str, code: Array, first: Array
) -> None:
    value, _ = codes_of(rows, "by", name)
    differs: Any = first_position(value != value[first][code])
    if differs is not None:
        raise BadValue(
            f"column {name!r}",
            "must be the same for all alternatives of a question; for {question!r} it changes "
            "{place}",
            "Pass what belongs to questions, not to alternatives.",
            row=differs,
            question=_value(series_of(rows, lists.question), differs),
        )
