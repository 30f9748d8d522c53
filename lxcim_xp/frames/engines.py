"""What runs on which kind of frame: one table, which the frame layer dispatches on.

The table in docs/frames.md and the tests are made from it too. Column names that engines read as
patterns or SQL are dealt with in ``frames.names``. Neither module looks at values.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

import narwhals.stable.v2 as nw

from lxcim_xp._metric_table import IN_FRAMES

MetricName: TypeAlias = Literal["lxcim", "accuracy", "audrc", "auroc"]
BoundedName: TypeAlias = Literal["lxcim", "accuracy", "audrc"]  # what sketches bound

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
    Engine("pandas", _IS.PANDAS, False, "kernel", IN_FRAMES, True, True, False),
    Engine("polars", _IS.POLARS, False, "kernel", IN_FRAMES, True, True, False),
    Engine("PyArrow", _IS.PYARROW, False, "kernel", IN_FRAMES, True, True, False),
    Engine("Modin", _IS.MODIN, False, "kernel", IN_FRAMES, True, True, False),
    Engine("polars", _IS.POLARS, True, "plan", IN_FRAMES, True, False, False),
    Engine("DuckDB", _IS.DUCKDB, True, "plan", IN_FRAMES, True, False, True),
    Engine("Ibis", _IS.IBIS, True, "plan", IN_FRAMES, True, False, True),
    Engine("SQLFrame", _IS.SQLFRAME, True, "plan", IN_FRAMES, True, False, True),
    Engine("PySpark", _IS.PYSPARK, True, "binned plan", IN_FRAMES, True, False, True),
    Engine("Dask", _IS.DASK, True, "shuffle", IN_FRAMES, True, True, False),
)


def narwhals_frame(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return a frame of any library as a narwhals frame."""
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


def kind_of_frame(engine: Engine) -> str:
    """Return what messages call a kind of frame."""
    if engine.name == "polars":
        return "a polars LazyFrame" if engine.lazy else "a polars DataFrame"
    return f"a {engine.name} frame"


def kinds(engines: tuple[Engine, ...]) -> str:
    """Return the names of several kinds of frames, for a message."""
    return ", ".join(kind_of_frame(engine).removeprefix("a ") for engine in engines)


def require_samples(engine: Engine, what: str, *, instead: str = "") -> None:
    """Refuse, on engines that can only run queries, what needs the samples themselves."""
    if not engine.samples_at_hand:
        able = kinds(tuple(engine for engine in ENGINES if engine.samples_at_hand))
        remedy = instead or "Pass collect=True to collect the columns that it needs."
        raise TypeError(f"{what} works on {able}; found {kind_of_frame(engine)}. {remedy}")


def table() -> str:
    """Return the table of docs/frames.md."""
    heads = ["frame", "kind", *IN_FRAMES, "weighted", "intervals, `compare`, `curve`"]
    heads += ["decision functions", "how"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for engine in ENGINES:
        cells = [
            engine.name,
            "lazy" if engine.lazy else "eager",
            *("yes" if metric in engine.metrics else "-" for metric in IN_FRAMES),
            "yes" if engine.weighted else "-",
            "yes" if engine.samples_at_hand else "-",
            "any" if engine.samples_at_hand else "`threshold`, `probability()`, `confidence()`",
            _ROADS[engine.road],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
