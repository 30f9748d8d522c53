"""Battles of rated players as labels and margins: what happened, and what the ratings expected."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.primitives import first_position
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.differences import difference_of_arrays
from lxcim_xp._samples.errors import BadType, BadValue
from lxcim_xp.frames.columns import check_name, check_number
from lxcim_xp.frames.engines import Engine
from lxcim_xp.frames.expressions import LIBRARY, number, one_if, with_difference
from lxcim_xp.frames.group_codes import codes_of, first_rows
from lxcim_xp.frames.labels import numbers, refuse_missing, where_missing
from lxcim_xp.frames.names import plain_name, series_of

RESULTS = ("label", "margin")


class Battles(NamedTuple):
    """The columns of a call by the part they play."""

    a: str
    b: str
    outcome: str
    shares: Mapping[Any, float] | None  # of each outcome; None: the outcomes are shares
    strengths: Mapping[Any, float] | None  # of each name; None: they are in columns
    columns: tuple[str, str]  # of the strengths, or of the names


def battles_of(
    engine: Engine,
    schema: Mapping[str, Any],
    *,
    a: Any,
    b: Any,
    outcome: Any,
    strength: Any,
    shares: Any,
) -> Battles:
    """Check the names and dtypes of the columns, and the two tables of numbers."""
    for part, name in (("a", a), ("b", b), ("outcome", outcome)):
        check_name(engine, schema, part, name)
    for name in RESULTS:
        if any(
            name == column or (engine.folds_case and name == column.lower()) for column in schema
        ):
            raise ValueError(
                f"the frame has a column {name!r} already, which the result would have twice. "
                f"Rename it."
            )
    strengths, columns = None, (a, b)
    if isinstance(strength, Mapping):
        strengths = _numbers("strength", strength)
    elif isinstance(strength, Sequence) and not isinstance(strength, str) and len(strength) == 2:
        columns = (strength[0], strength[1])
        for name in columns:
            check_name(engine, schema, "strength", name)
            check_number(schema[name], "strength", name)
    else:
        raise TypeError(
            f"strength must be a mapping of names to numbers, or the names of two columns that "
            f"hold the strengths of a and b; found {type(strength).__name__}."
        )
    if shares is not None:
        shares = _numbers("shares", shares)
        for outside in (share for share in shares.values() if not 0 <= share <= 1):
            raise ValueError(
                f"shares must lie between 0 and 1, 1 where a won; found {outside!r}. Pass 0.5 for "
                f"a draw."
            )
    else:
        dtype = schema[outcome]
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise BadType(
                f"outcome column {outcome!r}",
                "has dtype {dtype}",
                "Say what each word means with {shares:=}, 1 where a won, 0 where b did, and 0.5 "
                "for draws.",
                dtype=str(dtype),
            )
    return Battles(a, b, outcome, shares, strengths, columns)


def _numbers(name: str, given: Any) -> dict[Any, float]:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{name} must be a mapping to numbers, not empty; found {given!r}.")
    for key, value in given.items():
        if not isinstance(value, bool | int | float | np.number) or np.isnan(value):
            raise ValueError(f"{name} must hold numbers; found {value!r} for {key!r}.")
    return {key: float(value) for key, value in given.items()}


def battles_frame(rows: nw.DataFrame[Any], battles: Battles) -> nw.DataFrame[Any]:
    """Add label and margin to a frame in memory."""
    label = _labels(rows, battles)
    a, b = (
        _strengths(rows, battles, part, name)
        for part, name in zip("ab", battles.columns, strict=True)
    )
    margin = np.where(a == b, 0.0, difference_of_arrays(NUMPY, a, b))  # infinite ones too
    return rows.with_columns(
        nw.new_series(name, column, nw.Float64, backend=rows.implementation)
        for name, column in zip(RESULTS, (label, margin), strict=True)
    )


def _labels(rows: nw.DataFrame[Any], battles: Battles) -> Array:
    series = series_of(rows, battles.outcome)
    refuse_missing("outcome", battles.outcome, where_missing(series))
    if battles.shares is not None:
        remedy = "Say what it means with {shares:=}, or drop such rows."
        return _looked_up(rows, "outcome", battles.outcome, battles.shares, remedy)
    label = numbers(series).astype(np.float64, copy=False)
    row: Any = first_position((label < 0) | (label > 1))
    if row is not None:
        raise BadValue(
            f"outcome column {battles.outcome!r}",
            "must hold the share of a, between 0 and 1; found {value:g} {place}",
            "Say what other values mean with {shares:=}.",
            row=row,
            value=label[row],
        )
    return label


def _strengths(rows: nw.DataFrame[Any], battles: Battles, part: str, name: str) -> Array:
    series = series_of(rows, name)
    refuse_missing(
        part if battles.strengths is not None else "strength", name, where_missing(series)
    )
    if battles.strengths is None:
        return numbers(series).astype(np.float64, copy=False)
    remedy = "Add them to {strength:=}, or drop such rows."
    return _looked_up(rows, part, name, battles.strengths, remedy)


def _looked_up(
    rows: nw.DataFrame[Any], part: str, name: str, known: Mapping[Any, float], remedy: str
) -> Array:
    """Return the number of each value of a column; refuse values that have none."""
    code, count = codes_of(rows, part, name)
    first = first_rows(code, count)
    values = series_of(rows, name)[first[first >= 0]].to_list()
    unknown = sorted({str(value) for value in values if value not in known})
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise BadValue(
            f"{part} column {name!r}",
            "holds {unknown}, without a number in {table}",
            remedy,
            unknown=", ".join(map(repr, unknown[:5])) + more,
            table="shares" if part == "outcome" else "strength",
        )
    number_of = np.zeros(count)
    number_of[first >= 0] = [known[value] for value in values]
    return number_of[code]


def battles_plan(
    rows: nw.LazyFrame[Any], schema: Mapping[str, Any], battles: Battles
) -> nw.LazyFrame[Any]:
    """Add the same as expressions; null where a frame in memory would be refused."""
    for name in dict.fromkeys((battles.outcome, *battles.columns)):
        if plain_name(name) != name:
            raise ValueError(
                f"column {name!r} has a name that queries may read as something else. Rename it to "
                f"letters, digits and underscores."
            )
    outcome = nw.col(battles.outcome)
    if battles.shares is not None:
        label = _looked_up_by_query(outcome, battles.shares)
    elif schema[battles.outcome] == nw.Boolean:
        label = nw.when(~outcome.is_null()).then(one_if(outcome))
    else:
        label = nw.when((outcome >= 0) & (outcome <= 1)).then(outcome.cast(nw.Float64))
    strengths = [nw.col(name) for name in battles.columns]
    if battles.strengths is None:
        a, b = (column.cast(nw.Float64) for column in strengths)
    else:
        a, b = (_looked_up_by_query(column, battles.strengths) for column in strengths)
    rows = rows.with_columns(a.alias("lx__a"), b.alias("lx__b"), label.alias("label"))
    is_narrow = battles.strengths is None and nw.Float32 in [schema[c] for c in battles.columns]
    rows = with_difference(rows, "lx__margin", "lx__a", "lx__b", narrow=is_narrow)
    a, b, margin = (nw.col(name) for name in ("lx__a", "lx__b", "lx__margin"))
    known = ~(a.is_null() | b.is_null() | a.is_nan() | b.is_nan())
    margin = nw.when(a == b).then(number(LIBRARY, 0.0)).otherwise(margin)
    rows = rows.with_columns(nw.when(known).then(margin).alias("margin"))
    inner = ("lx__", "__lx_")
    return rows.drop(name for name in rows.collect_schema().names() if name.startswith(inner))


def _looked_up_by_query(column: nw.Expr, known: Mapping[Any, float]) -> nw.Expr:
    """Return the number of each value of a column, null for others.

    The branches stand side by side, not inside each other: engines limit how deep those may be.
    """
    branches = [nw.when(column == key).then(number(LIBRARY, x)) for key, x in known.items()]
    return nw.coalesce(*branches)
