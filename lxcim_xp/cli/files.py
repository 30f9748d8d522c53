"""Files of predictions as polars frames: which format, which columns, and what is wrong with them.

Files are scanned, so that only the columns that a command names are held. Text in the place of a
number is looked at twice: words for "missing" become null, anything else is an error that names the
row. What the columns mean is no concern of this module.
"""

import codecs
import csv
import gzip
import io
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import typer

_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?")
_SEPARATORS = (",", "\t", ";")
_GZIP = b"\x1f\x8b"
_HEAD = 1 << 16  # bytes from which the format and the length of a line are read
_LOOKED_AT = 10_000  # lines of text from which types are guessed
# Text is parsed in all columns, needed or not: only then does polars see lines that are too long,
# whose values would otherwise slip into the wrong columns.
_ALL_COLUMNS = pl.QueryOptFlags(projection_pushdown=False)


class BadData(Exception):
    """What is wrong with a file, in words."""


class Source(NamedTuple):
    """A file by its name, its format, and where its bytes are."""

    name: str
    form: str
    data: Path | bytes


def open_source(path: str) -> Source:
    """Find out the format of a file, or of standard input for ``-``."""
    if path == "-":
        data = sys.stdin.buffer.read()
        return Source("standard input", _form_of("standard input", _head(data)), data)
    file = Path(path)
    if file.is_dir():
        return Source(path, "parquet", file)
    if not file.exists():
        near = [other.name for other in file.parent.glob("*")] if file.parent.is_dir() else []
        raise typer.BadParameter(
            f"{path!r} does not exist.{_nearest(file.name, near)}", param_hint="FILE"
        )
    if not file.stat().st_size:
        raise BadData(f"{path} is empty: it has 0 bytes.")
    plain = Path(file.name.removesuffix(".gz"))
    form = _ENDINGS.get(plain.suffix.lower()) or _form_of(path, _head(file))
    return Source(path, form, file)


def schema_of(source: Source) -> dict[str, Any]:
    """Return the columns with their types, which are guesses where the file is text."""
    try:
        return dict(_scan(source, {}).collect_schema())
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise BadData(_in_words(source, error)) from error


def check_column(columns: Collection[str], option: str, name: str) -> None:
    """Refuse a column that is not there, and name the nearest that are."""
    if name not in columns:
        raise typer.BadParameter(
            f"{name!r} is not a column.{_nearest(name, columns)} Columns: {_listed(columns)}.",
            param_hint=option,
        )


def estimated_rows(source: Source) -> int:
    """Return the number of rows: as the file says it, or from the length of its first lines."""
    if source.form in ("parquet", "arrow"):
        return int(_scan(source, {}).select(pl.len()).collect().item())
    head = _head(source.data)
    size = len(source.data) if isinstance(source.data, bytes) else source.data.stat().st_size
    return size * max(1, head.count(b"\n")) // max(1, len(head))


def with_rows(
    source: Source,
    columns: Sequence[str],
    numbers: Mapping[str, str],
    words: Sequence[str],
    use: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> pl.DataFrame:
    """Return what ``use`` makes of some columns of a file.

    Some must hold numbers, and bring the remedy if they do not; in a file of text, some are words
    whatever they look like. Where the type that was guessed from the first lines of a text does not
    fit a later one, the column is read again as words.
    """
    guessed: dict[str, Any] = dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(words, pl.String)
    while True:
        try:
            rows = _scan(source, guessed).select(columns)
            rows = _as_numbers(source, rows, numbers)
            return _collect(source, use(rows))
        except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
            misfit = re.search(r"at column '(.*)' \(column number", str(error))
            if misfit is None or guessed.get(misfit.group(1)) == pl.String:
                raise BadData(_in_words(source, error)) from error
            guessed[misfit.group(1)] = pl.String


def _collect(source: Source, rows: pl.LazyFrame) -> pl.DataFrame:
    flags = _ALL_COLUMNS if source.form == "csv" else pl.QueryOptFlags()
    return rows.collect(engine="streaming", optimizations=flags)


def _scan(source: Source, guessed: dict[str, Any]) -> pl.LazyFrame:
    data: Any = io.BytesIO(source.data) if isinstance(source.data, bytes) else source.data
    if source.form == "csv":
        return pl.scan_csv(
            data,
            separator=_separator(_head(source.data)),
            schema_overrides=guessed,
            infer_schema_length=_LOOKED_AT,
        )
    if source.form == "jsonl":
        return pl.scan_ndjson(data, infer_schema_length=None)
    if source.form == "json":
        return pl.read_json(data, infer_schema_length=None).lazy()
    if source.form == "arrow":
        stream = _head(source.data).startswith(b"\xff\xff\xff\xff")
        return pl.read_ipc_stream(data).lazy() if stream else pl.scan_ipc(data)
    return pl.scan_parquet(data)


def _as_numbers(source: Source, rows: pl.LazyFrame, numbers: Mapping[str, str]) -> pl.LazyFrame:
    """Turn columns of words into numbers."""
    for name, dtype in rows.select(*numbers).collect_schema().items():
        if dtype in (pl.String, pl.Null, pl.Categorical):
            text = pl.col(name).cast(pl.String).str.strip_chars()
            text = pl.when(~text.str.to_lowercase().is_in(_MISSING)).then(text)
            number = text.cast(pl.Float64, strict=False)
            wrong = rows.with_row_index("__lx_row").filter(text.is_not_null() & number.is_null())
            first = _collect(source, wrong.select("__lx_row", name).head(1))
            if first.height:
                row, found = first.row(0)
                line = f" (line {row + 2})" if source.form == "csv" else ""
                raise BadData(
                    f"{source.name}: column {name!r} must hold numbers; found {found!r} in row "
                    f"{row}{line}.{numbers[name]}"
                )
            rows = rows.with_columns(number.alias(name))
    return rows


def _form_of(name: str, head: bytes) -> str:
    if not head:
        raise BadData(f"{name} is empty: it has 0 bytes.")
    for start, form in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow")):
        if head.startswith(start):
            return form
    return {b"{": "jsonl", b"[": "json"}.get(head.lstrip()[:1], "csv")


def _head(data: Path | bytes) -> bytes:
    """Return the first bytes, of what was compressed if anything was."""
    if isinstance(data, Path) and data.is_dir():
        return b""
    with io.BytesIO(data) if isinstance(data, bytes) else data.open("rb") as file:
        start = file.read(len(_GZIP))
        file.seek(0)
        return gzip.open(file).read(_HEAD) if start == _GZIP else file.read(_HEAD)


def _separator(head: bytes) -> str:
    # A header that is longer than the head may end within a letter.
    header = codecs.getincrementaldecoder("utf-8")().decode(head.partition(b"\n")[0])
    return max(_SEPARATORS, key=header.count)


def _in_words(source: Source, error: Exception) -> str:
    """Say what a reader's error means for the file."""
    text = str(error)
    if "utf-8" in text.lower():
        return (
            f"{source.name} is not UTF-8 text. Convert it first, for example with "
            f"iconv -f latin1 -t utf-8."
        )
    if isinstance(error, pl.exceptions.NoDataError) or "empty reader" in text:
        return f"{source.name} is empty: it has no header."
    if "found more fields" in text:
        line, found, expected = next(_ragged(source), (0, 0, 0))
        where = f" Line {line} has {found} fields, the header has {expected}." if line else ""
        return f"{source.name} is ragged: a line has more fields than the header.{where}"
    reason = text.splitlines()[0].rstrip(".")
    return f"{source.name} cannot be read as {_NAMES[source.form]}: {reason}."


_NAMES = {
    "csv": "CSV",
    "parquet": "Parquet",
    "jsonl": "JSON lines",
    "json": "JSON",
    "arrow": "Arrow",
}


def _ragged(source: Source) -> Iterator[tuple[int, int, int]]:
    """Find lines with more fields than the header: line, fields, fields of the header."""
    raw = source.data if isinstance(source.data, bytes) else source.data.read_bytes()
    raw = gzip.decompress(raw) if raw.startswith(_GZIP) else raw
    lines = io.StringIO(raw.decode(errors="replace"), newline="")
    reader = csv.reader(lines, delimiter=_separator(_head(source.data)))
    expected = len(next(reader, []))
    for fields in reader:
        if len(fields) > expected:
            yield reader.line_num, len(fields), expected


def _nearest(name: str, names: Collection[str]) -> str:
    by_lower_case = {other.lower(): other for other in names}
    near = get_close_matches(name.lower(), by_lower_case, n=3, cutoff=0.5)
    return f" Nearest: {', '.join(repr(by_lower_case[each]) for each in near)}." if near else ""


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
