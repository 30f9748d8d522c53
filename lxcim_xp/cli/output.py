"""What commands print and write: tables in four formats, progress bars, and complete files.

Results go to standard output, everything else (errors, remarks, progress) to standard error.
Libraries that print are imported when something is printed, so that ``--help`` stays fast.
"""

import json
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxcim_xp.cli.options import Format

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console


def show(
    found: "pl.DataFrame", readable: "pl.DataFrame", form: Format, *, words: Collection[str] = ()
) -> None:
    """Print a result: all of its numbers for programs, short ones for people.

    The columns of ``words`` stand to the left, all others to the right.
    """
    if form is Format.csv:
        sys.stdout.write(in_words(found).write_csv())
    elif form is Format.json:
        import polars as pl

        rows = found.with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts()
        print(json.dumps(rows, indent=2, default=str, ensure_ascii=False, allow_nan=False))
    elif form is Format.markdown:
        print(_markdown(readable, words))
    else:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
        for name in readable.columns:
            table.add_column(
                visible(name), justify="left" if name in words else "right", no_wrap=True
            )
        for row in _cells(readable):
            table.add_row(*row)
        # A pipe has no width. A narrow terminal may break lines, but must not lose numbers.
        _console(width=10_000).print(table, soft_wrap=True)


def in_words(found: "pl.DataFrame") -> "pl.DataFrame":
    """Turn columns that CSV cannot hold, durations and bytes, into text."""
    import polars as pl

    return found.with_columns(
        pl.Series(column.name, [None if cell is None else str(cell) for cell in column])
        for column in found.iter_columns()
        if column.dtype in (pl.Duration, pl.Binary)
    )


def say(text: str, *, style: str = "") -> None:
    """Print a remark to standard error."""
    _console(stderr=True).print(visible(text), style=style, soft_wrap=True)


def visible(text: str) -> str:
    """Escape characters that would control a terminal or reverse the order of a line.

    Two kinds of joiners stay, because they are part of words and emoji.
    """
    return "".join(_escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    steers = unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    if not steers or sign in "\u200c\u200d":
        return sign
    return sign.encode("unicode_escape", "surrogatepass").decode()


def _console(**options: Any) -> "Console":
    """Return a console that prints text as it is, without markup or emoji codes."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, **options)


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show a progress bar, on a terminal only; yield a function that names each step."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield lambda name: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=total)

        def step(name: str) -> None:
            bar.update(task, description=name, advance=0 if total is None else 1)

        yield step


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, which replaces the file if everything went well."""
    try:
        handle, name = tempfile.mkstemp(
            suffix=path.suffix, prefix=f".{path.stem}-", dir=path.parent
        )
    except OSError as error:  # it names the temporary file, which means nothing to the user
        raise OSError(error.errno, error.strerror, str(path)) from error
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
    """Write a p-value for people, never as zero."""
    return "< 0.0001" if value is not None and value < 0.0001 else number(value)


def with_bounds(row: dict[str, Any], name: str, low: str, high: str) -> str:
    """Write a number with its interval, if it has one."""
    known = row.get(low) is not None
    bounds = f" [{number(row[low])}, {number(row[high])}]" if known else ""
    return f"{number(row[name])}{bounds}"


def _cells(readable: "pl.DataFrame") -> list[list[str]]:
    return [
        ["-" if cell is None else visible(str(cell)) for cell in row] for row in readable.rows()
    ]


def _markdown(readable: "pl.DataFrame", words: Collection[str]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(re.sub(r"([\\|])", r"\\\1", cell) for cell in cells) + " |"

    rule = "|" + "|".join("---" if name in words else "--:" for name in readable.columns) + "|"
    heads = [visible(name) for name in readable.columns]
    return "\n".join([line(heads), rule, *map(line, _cells(readable))])


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
