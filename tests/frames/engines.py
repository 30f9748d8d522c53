"""Every kind of frame that the tests run on, made from and read back as plain Python values.

The rows are those of lxcim_xp.frames.engines, some of them in several forms (dtypes of pandas, the
streaming engine of polars). LXCIM_ENGINES=duckdb,ibis chooses some, and makes missing ones an
error instead of a skip; LXCIM_THOROUGH=1 spares slow ones nothing.
"""

import importlib.util
import math
import os
import shutil
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import pytest


class Form(NamedTuple):
    name: str
    engine: str  # in lxcim_xp.frames.engines
    lazy: bool
    libraries: tuple[str, ...]
    make: Callable[[Any], Any]  # from a pyarrow table
    read: Callable[[Any], Any]  # to an eager frame that narwhals knows
    slow: bool = False  # takes seconds for each query: runs the tests that matter most


def _pandas(table):
    return table.to_pandas()


def _pandas_nullable(table):
    import pandas as pd
    import pyarrow as pa

    dtypes = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.string(): pd.StringDtype(),
    }
    return table.to_pandas(types_mapper=dtypes.get)


def _pandas_arrow(table):
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def _polars(table):
    import polars as pl

    return pl.from_arrow(table)


def _in_chunks(table):
    import pyarrow as pa

    step = max(1, -(-table.num_rows // 7))
    pieces = [table.slice(start, step) for start in range(0, table.num_rows, step)]
    return pa.concat_tables(pieces) if pieces else table


def _modin(table):
    os.environ["MODIN_ENGINE"] = "python"  # read at the import, which would look for Ray
    import modin.pandas

    return modin.pandas.DataFrame(table.to_pandas())


@cache
def _duckdb_connection():
    import duckdb

    return duckdb.connect()


def _duckdb(table):
    return _duckdb_connection().from_arrow(table)


def _ibis(table):
    import ibis

    return ibis.memtable(table)


@cache
def _sqlframe_session():
    import duckdb
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession(conn=duckdb.connect())


_NUMBER = iter(range(10**9))


def _sqlframe(table):
    session = _sqlframe_session()
    name = f"table_{next(_NUMBER)}"
    session._conn.register("given", table)
    session._conn.execute(f"create table {name} as select * from given")
    return session.table(name)


@cache
def spark_session():
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")  # what Spark says of itself while it starts
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.adaptive.enabled", "false")
        # Short queries: what the last compiler of Java wins, it never earns back.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def _spark(table):
    return spark_session().createDataFrame(table)


def _dask(table):
    import dask.dataframe as dd

    # Booleans with None would be objects for pandas, and words for Dask.
    return dd.from_pandas(_pandas_nullable(table), npartitions=3)


def _as_it_is(result):
    return result


def _collected(result):
    return nw.from_native(result).collect("pyarrow").to_native()


FORMS = (
    Form("pandas", "pandas", False, ("pandas",), _pandas, _as_it_is),
    Form("pandas-nullable", "pandas", False, ("pandas",), _pandas_nullable, _as_it_is),
    Form("pandas-arrow", "pandas", False, ("pandas",), _pandas_arrow, _as_it_is),
    Form("polars", "polars", False, ("polars",), _polars, _as_it_is),
    Form("pyarrow", "PyArrow", False, ("pyarrow",), _in_chunks, _as_it_is),
    Form("modin", "Modin", False, ("modin",), _modin, _as_it_is),
    Form(
        "polars-lazy",
        "polars",
        True,
        ("polars",),
        lambda table: _polars(table).lazy(),
        lambda result: result.collect(),
    ),
    Form(
        "polars-streaming",
        "polars",
        True,
        ("polars",),
        lambda table: _polars(table).lazy(),
        lambda result: result.collect(engine="streaming"),
    ),
    Form("duckdb", "DuckDB", True, ("duckdb",), _duckdb, _collected),
    Form("ibis", "Ibis", True, ("ibis", "duckdb"), _ibis, _collected),
    Form("sqlframe", "SQLFrame", True, ("sqlframe", "duckdb"), _sqlframe, _collected, True),
    Form("pyspark", "PySpark", True, ("pyspark",), _spark, _collected, True),
    Form("dask", "Dask", True, ("dask",), _dask, lambda result: result.compute()),
)

if os.environ.get("LXCIM_THOROUGH"):
    FORMS = tuple(form._replace(slow=False) for form in FORMS)


def missing(form: Form) -> str | None:
    """Say why a form cannot run here, or None."""
    for library in ("pyarrow", *form.libraries):
        if importlib.util.find_spec(library) is None:
            return f"{library} is not installed"
    if form.name == "pyspark" and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        return "Spark needs Java, and there is none"
    return None


def forms(*, lazy: bool | None = None, slow: bool | None = None) -> list[Any]:
    """Return the forms to run on as parameters of a test."""
    chosen = os.environ.get("LXCIM_ENGINES")
    names = chosen.split(",") if chosen else [form.name for form in FORMS]
    unknown = set(names) - {form.name for form in FORMS}
    assert not unknown, unknown
    parameters = []
    for form in FORMS:
        if form.name not in names or lazy not in (None, form.lazy):
            continue
        if slow not in (None, form.slow):
            continue
        reason = missing(form)
        if reason and chosen and "Java" not in reason:
            raise pytest.UsageError(f"LXCIM_ENGINES={chosen}: {reason}")
        marks = [pytest.mark.skip(reason=reason)] if reason else []
        parameters.append(pytest.param(form, marks=marks, id=form.name))
    return parameters


def rows_of(form: Form, result: Any) -> list[dict[str, Any]]:
    """Return the rows of a result, with None for null and NaN."""
    frame = nw.from_native(form.read(result), eager_only=True)
    return [
        {name: _plain(value) for name, value in row.items()} for row in frame.iter_rows(named=True)
    ]


def _plain(value: Any) -> Any:
    if value is None or value is getattr(_pandas_module(), "NA", None):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    return value.item() if hasattr(value, "item") else value


@cache
def _pandas_module():
    return (
        importlib.import_module("pandas")
        if importlib.util.find_spec("pandas") is not None
        else None
    )
