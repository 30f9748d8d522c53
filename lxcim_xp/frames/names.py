"""Columns by name on every engine, whatever characters the names contain.

Some engines interpret names: ``*`` is every column for DuckDB and polars, ``^k.*$`` a pattern for
polars, ``a.b`` a field for Spark, and SQLFrame parses everything as SQL. So columns get plain names
before they are used in any expression, and their own names again at the end.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import narwhals.stable.v2 as nw

from lxcim_xp.frames.engines import Engine

_IS = nw.Implementation
_PLAIN = re.compile("[A-Za-z][A-Za-z0-9_]*")  # names inside queries begin with __

_Frame = TypeVar("_Frame", nw.DataFrame[Any], nw.LazyFrame[Any])


def schema_of(
    engine: Engine, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]
) -> dict[str, nw.dtypes.DType]:
    """Return the dtypes of the columns by name, without looking at any row."""
    schema = dict(frame.collect_schema())
    if engine.implementation is not _IS.SQLFRAME:
        return schema
    # SQLFrame quotes names that are not plain words, unless it was told how to show them.
    shown = {name.lower() for name in frame.to_native().columns}
    return {
        name if name.lower() in shown else _unquoted(name): dtype for name, dtype in schema.items()
    }


def plain_name(name: str) -> str:
    """Return the name of a column where only plain names are safe."""
    return name if _PLAIN.fullmatch(name) else f"__lx_x{name.encode().hex()}"


def column_of(name: str) -> nw.Expr:
    """Return the expression for a column of a frame that ``plain_columns`` returned."""
    return nw.col(plain_name(name))


def plain_columns(engine: Engine, frame: _Frame, names: Iterable[str]) -> _Frame:
    """Return some columns of a frame, under plain names."""
    renamed = {name: plain_name(name) for name in names}
    special = {old: new for old, new in renamed.items() if old != new}
    if not special:
        return frame.select(*renamed)
    if engine.implementation in _PROJECTED:
        projected: _Frame = _projected(engine, frame, renamed)
        return projected
    return frame.rename(special).select(*renamed.values())


def columns_in_memory(
    engine: Engine, frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Iterable[str]
) -> nw.DataFrame[Any]:
    """Return some columns of a frame, collected if it is lazy."""
    names = list(names)
    rows = plain_columns(engine, frame, names)  # type: ignore[type-var]
    eager: nw.DataFrame[Any] = rows.collect() if isinstance(rows, nw.LazyFrame) else rows
    return own_names(eager, names)


def series_of(frame: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    """Return a column under a name that no library reads as a pattern."""
    return frame.get_column(name).alias("__lx_column")


def own_names(frame: _Frame, names: Iterable[str]) -> _Frame:
    """Give columns their own names again, in memory or on Dask."""
    special = {plain_name(name): name for name in names if plain_name(name) != name}
    return frame.rename(special) if special else frame


def sorted_and_named(
    engine: Engine, result: nw.LazyFrame[Any], keys: Mapping[str, str], *then: str
) -> nw.LazyFrame[Any]:
    """Sort the rows of a query by the keys, and give the keys their own names again."""
    if all(name == plain_name(name) for name in keys.values()):
        return result.rename(dict(keys)).sort(*keys.values(), *then, nulls_last=True)
    result = result.sort(*keys, *then, nulls_last=True)
    if engine.implementation not in _PROJECTED:
        return result.rename(dict(keys))
    columns = result.collect_schema().names()
    named: nw.LazyFrame[Any] = _projected(
        engine, result, {name: keys.get(name, name) for name in columns}
    )
    return named


def _projected(engine: Engine, frame: Any, names: Mapping[str, str]) -> Any:
    """Return columns under other names, all quoted in the way of the engine."""
    return nw.from_native(_PROJECTED[engine.implementation](frame.to_native(), names))


def _by_duckdb(native: Any, names: Mapping[str, str]) -> Any:
    def quoted(name: str) -> str:
        return '"{}"'.format(name.replace('"', '""'))

    return native.project(
        ", ".join(f"{quoted(old)} AS {quoted(new)}" for old, new in names.items())
    )


def _by_spark(native: Any, names: Mapping[str, str]) -> Any:
    from pyspark.sql.functions import col

    return native.select(*(col(_quoted(old)).alias(new) for old, new in names.items()))


def _by_sqlframe(native: Any, names: Mapping[str, str]) -> Any:
    from sqlframe.base.column import Column
    from sqlglot import exp

    def renamed(old: str, new: str) -> Column:
        column = exp.column(exp.to_identifier(old, quoted=True))
        return Column(exp.alias_(column, exp.to_identifier(new.lower(), quoted=True)))

    selected = native.select(*(renamed(old, new) for old, new in names.items()))
    # SQLFrame folds case, and shows other names by this table. Its schema looks plain words up as
    # they are, and all other names in quotes.
    shown = {key: new for new in names.values() for key in (new.lower(), _quoted(new.lower()))}
    selected.display_name_mapping.update(shown)
    return selected


_PROJECTED = {_IS.DUCKDB: _by_duckdb, _IS.PYSPARK: _by_spark, _IS.SQLFRAME: _by_sqlframe}


def _quoted(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name[:1] == name[-1:] == "`" != name else name
