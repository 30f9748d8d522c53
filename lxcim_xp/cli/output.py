"""What commands print and write: tables in four formats, files that are whole or not there, bars.

Results go to standard output, everything else (errors, remarks, progress) to standard error.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

HEADS = {"lxcim": "LxCIM", "audrc": "AUDRC", "auroc": "AUROC"}


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


def show(
    found: pl.DataFrame, readable: pl.DataFrame, form: Format, *, words: Collection[str] = ()
) -> None:
    """Print a result: all of its numbers for programs, short ones for people.

    The columns of ``words`` stand to the left, all others to the right.
    """
    if form is Format.csv:
        sys.stdout.write(found.write_csv())
    elif form is Format.json:
        rows = found.with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts()
        print(json.dumps(rows, indent=2, default=str, ensure_ascii=False, allow_nan=False))
    elif form is Format.markdown:
        print(_markdown(readable, words))
    else:
        table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
        for name in readable.columns:
            table.add_column(name, justify="left" if name in words else "right", no_wrap=True)
        for row in _cells(readable):
            table.add_row(*row)
        # A pipe has no width, and a narrow terminal may break lines but not lose numbers.
        Console(markup=False, highlight=False, width=10_000).print(table, soft_wrap=True)


def say(text: str, *, style: str = "") -> None:
    """Print a remark to standard error."""
    Console(stderr=True, markup=False, highlight=False).print(text, style=style, soft_wrap=True)


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show a bar while something long goes on, on a terminal only; yield how to name each step."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name: None
        return
    columns = (BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=total)

        def step(name: str) -> None:
            bar.update(task, description=name, advance=0 if total is None else 1)

        yield step


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which takes the place of the file when everything went well."""
    handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=f".{path.stem}-", dir=path.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def number(value: Any, digits: int = 4) -> str:
    """Write a number for people; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}f}"


def p_value(value: Any) -> str:
    """Write a p-value for people, of which none is zero."""
    return "< 0.0001" if value is not None and value < 0.0001 else number(value)


def with_bounds(row: dict[str, Any], name: str, low: str, high: str) -> str:
    """Write a number with its interval, if it has one."""
    known = row.get(low) is not None
    bounds = f" [{number(row[low])}, {number(row[high])}]" if known else ""
    return f"{number(row[name])}{bounds}"


def _cells(readable: pl.DataFrame) -> list[list[str]]:
    return [["-" if cell is None else str(cell) for cell in row] for row in readable.rows()]


def _markdown(readable: pl.DataFrame, words: Collection[str]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("---" if name in words else "--:" for name in readable.columns) + "|"
    return "\n".join([line(readable.columns), rule, *map(line, _cells(readable))])


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
