"""What runs on which kind of frame: the one declaration that the frame layer dispatches on.

It also writes the table of docs/frames.md and drives the tests. Column names and values are no
concern of this module.
"""

from typing import Any, Literal, NamedTuple

import narwhals.stable.v2 as nw

METRICS = ("lxcim", "accuracy", "audrc", "auroc")

Road = Literal["kernel", "plan", "binned plan", "shuffle"]

_ROADS = {
    "kernel": "one sort in NumPy",
    "plan": "query",
    "binned plan": "query; without `by`, in bins",
    "shuffle": "shuffle, then one sort for each partition",
}


class Engine(NamedTuple):
    """A kind of frame and what the frame layer does with it."""

    name: str
    implementation: nw.Implementation
    lazy: bool
    road: Road
    metrics: tuple[str, ...]
    weighted: bool
    samples_at_hand: bool  # intervals, comparisons, curves, and any decision function
    folds_case: bool  # column names that differ only in case are the same


_IS = nw.Implementation
ENGINES = (
    Engine("pandas", _IS.PANDAS, False, "kernel", METRICS, True, True, False),
    Engine("polars", _IS.POLARS, False, "kernel", METRICS, True, True, False),
    Engine("PyArrow", _IS.PYARROW, False, "kernel", METRICS, True, True, False),
    Engine("Modin", _IS.MODIN, False, "kernel", METRICS, True, True, False),
    Engine("polars", _IS.POLARS, True, "plan", METRICS, True, False, False),
    Engine("DuckDB", _IS.DUCKDB, True, "plan", METRICS, True, False, True),
    Engine("Ibis", _IS.IBIS, True, "plan", METRICS, True, False, True),
    Engine("SQLFrame", _IS.SQLFRAME, True, "plan", METRICS, True, False, True),
    Engine("PySpark", _IS.PYSPARK, True, "binned plan", METRICS, True, False, True),
    Engine("Dask", _IS.DASK, True, "shuffle", METRICS, True, True, False),
)


def narwhals_frame(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return a frame of any library as narwhals sees it."""
    try:
        rows: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(frame)
    except TypeError as error:
        raise TypeError(
            f"frame must be a pandas, polars, Arrow, DuckDB, Spark or similar frame; found "
            f"{type(frame).__name__}. Functions of arrays are in lxcim_xp itself."
        ) from error
    return rows


def engine_of(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> Engine:
    """Return the row of the table that a frame belongs to."""
    lazy = isinstance(frame, nw.LazyFrame)
    for engine in ENGINES:
        if (engine.implementation, engine.lazy) == (frame.implementation, lazy):
            return engine
    raise TypeError(
        f"frame must be one of {kinds(ENGINES)}; found {frame.implementation.name.lower()}. "
        f"Convert it, to Arrow for example."
    )


def schema_of(
    engine: Engine, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]
) -> dict[str, nw.dtypes.DType]:
    """Return the dtypes of the columns by name, without looking at any row."""
    schema = dict(frame.collect_schema())
    if engine.implementation is _IS.SQLFRAME:  # which quotes names that have a space in them
        return {name.strip("`"): dtype for name, dtype in schema.items()}
    return schema


def column_of(engine: Engine, name: str) -> nw.Expr:
    """Return the expression of a column by its plain name."""
    if engine.implementation is _IS.SQLFRAME and not name.isidentifier():
        return nw.col(f"`{name}`")  # which would parse the name as SQL
    return nw.col(name)


def kind_of_frame(engine: Engine) -> str:
    """Return how messages call a kind of frame."""
    if engine.name == "polars":
        return "a polars LazyFrame" if engine.lazy else "a polars DataFrame"
    return f"a {engine.name} frame"


def kinds(engines: tuple[Engine, ...]) -> str:
    """Return the names of several kinds of frames, for a message."""
    return ", ".join(kind_of_frame(engine).removeprefix("a ") for engine in engines)


def require_samples(engine: Engine, what: str, *, instead: str = "") -> None:
    """Refuse what needs the samples themselves where a query is all there is."""
    if not engine.samples_at_hand:
        able = kinds(tuple(engine for engine in ENGINES if engine.samples_at_hand))
        remedy = instead or "Pass collect=True to collect the columns that it needs."
        raise TypeError(f"{what} works on {able}; found {kind_of_frame(engine)}. {remedy}")


def table() -> str:
    """Return the table of docs/frames.md."""
    heads = ["frame", "kind", *METRICS, "weighted", "intervals, `compare`, `curve`"]
    heads += ["decision functions", "how"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for engine in ENGINES:
        cells = [
            engine.name,
            "lazy" if engine.lazy else "eager",
            *("yes" if metric in engine.metrics else "-" for metric in METRICS),
            "yes" if engine.weighted else "-",
            "yes" if engine.samples_at_hand else "-",
            "any" if engine.samples_at_hand else "`threshold`, `probability()`",
            _ROADS[engine.road],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
