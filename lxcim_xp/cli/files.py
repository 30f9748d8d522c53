"""Files of predictions as polars frames: which format, which columns, and what is wrong with them.

Files are scanned, so that only the columns that a command names are held in memory. Where text
stands in place of a number, words for "missing" become null, and anything else is an error that
names the line. This module does not know what the columns mean.
"""

import codecs
import csv
import gzip
import io
import itertools
import re
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import typer

from lxcim_xp.cli.formats import GZIP, NAMES, form_of

_MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?")
_SEPARATORS = (",", "\t", ";")
_HEAD = 1 << 16  # bytes from which the format and the typical length of a line are found
_LOOKED_AT = 10_000  # lines of text from which types are guessed
# All columns of a text file are parsed, needed or not. Only then does polars notice lines with too
# many fields, whose values would otherwise slip into the wrong columns.
_ALL_COLUMNS = pl.QueryOptFlags(projection_pushdown=False)


_ONE_FOR_EACH_ROW = (
    " Write one object for each row, as JSON lines, with null for what is missing: to_json(..., "
    "orient='records', lines=True) in pandas."
)


class BadData(Exception):
    """What is wrong with a file, in words."""


class Source(NamedTuple):
    """A file: its name, its format, and where its bytes are."""

    name: str
    form: str
    data: Path | bytes


def open_source(path: str) -> Source:
    """Find out the format of a file, or of standard input for ``-``."""
    if path == "-":
        if sys.stdin is None:  # a shell may close it
            raise BadData("standard input is closed.")
        return _checked_source("standard input", sys.stdin.buffer.read())
    if not path:
        raise typer.BadParameter("its name is empty.", param_hint="FILE")
    file = Path(path)
    if file.is_dir():
        return Source(path, "parquet", _check_parquet_directory(file))
    if not file.exists():
        near = [other.name for other in file.parent.glob("*")] if file.parent.is_dir() else []
        raise typer.BadParameter(
            f"{path!r} does not exist.{_nearest(file.name, near)}", param_hint="FILE"
        )
    # A pipe, as in process substitution, can be read only once.
    return _checked_source(path, file if file.is_file() else file.read_bytes())


def _checked_source(name: str, data: Path | bytes) -> Source:
    """Return a source whose format can be read, and refuse all others with a remedy."""
    try:
        head = _head(data)
        if not head:
            raise BadData(f"{name} is empty: it has 0 bytes.")
        form = form_of(name, head, packed=_is_packed(data))
        if form in ("json", "jsonl") and head.startswith(codecs.BOM_UTF8):  # JSON forbids it
            with _opened(data) as file:
                data = file.read().removeprefix(codecs.BOM_UTF8)
        return Source(name, form, data)
    except ValueError as error:
        raise BadData(str(error)) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadData(f"{name} is not a whole gzip file: {error}. Get or make it again.") from error


def _check_parquet_directory(directory: Path) -> Path:
    """Refuse a directory that holds no Parquet files, and say what it does hold."""
    files = [file for file in directory.rglob("*") if file.is_file()]
    endings = {file.suffix.lower() for file in files if file.name[0] not in "._"}
    parquet, others = endings & {".parquet", ".pq"}, sorted(endings - {".parquet", ".pq"})
    if others or not parquet:
        raise BadData(
            f"{directory} must hold Parquet files and nothing else, to be read as one table; found "
            f"files of {', '.join(map(repr, others)) or 'no kind'}. Pass a single file, or join "
            f"the files first (CSV: with the header of the first only)."
        )
    return directory


def schema_of(source: Source) -> dict[str, Any]:
    """Return the columns with their types, which are guessed if the file is text."""
    try:
        schema = dict(_scan(source, {}).collect_schema())
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise BadData(_in_words(source, error)) from error
    if not schema and source.form in ("json", "jsonl"):
        raise BadData(f"{source.name} has no rows.")
    nested = [dtype.is_nested() for dtype in schema.values()]
    if source.form in ("json", "jsonl") and nested and all(nested):
        raise BadData(
            f"{source.name} holds lists or objects in place of values.{_ONE_FOR_EACH_ROW}"
        )
    return schema


def check_column(source: Source, schema: Mapping[str, Any], option: str, name: str) -> None:
    """Refuse a column that does not exist or occurs twice, and name the nearest ones."""
    header = _header(source) if source.form == "csv" else []
    # The reader renames the second of two columns with the same name.
    made = re.fullmatch(r"(.*)_duplicated_\d+", name)
    if name not in schema or (made and name not in header and made.group(1) in header):
        names = header or list(schema)
        alone = " Fields are separated by commas, tabs or semicolons." if len(header) == 1 else ""
        raise typer.BadParameter(
            f"{name!r} is not a column.{_nearest(name, names)} Columns: {_listed(names)}.{alone}",
            param_hint=option,
        )
    if name == "*" or re.fullmatch(r"\^.*\$", name):
        raise typer.BadParameter(
            f"{name!r} is read as a pattern of names. Rename the column.", param_hint=option
        )
    places = [place for place, head in enumerate(header, start=1) if head == name]
    if len(places) > 1:
        raise BadData(
            f"{source.name}: the header has {name!r} {len(places)} times, in columns "
            f"{', '.join(map(str, places))}. Rename all but one."
        )


def place(source: Source, row: int) -> str:
    """Say where to find a row, counted from 0: in a text file by its line."""
    line = _line_of(source, row)
    return f"row {row}" if line is None else f"line {line}"


def _line_of(source: Source, row: int) -> int | None:
    """Return the line of a text file on which a row begins, from 1; None if it has no lines."""
    if source.form == "jsonl":
        filled = (number for number, line in enumerate(_lines(source), start=1) if line.strip())
        return next(itertools.islice(filled, row, None), None)
    if source.form != "csv":
        return None
    found = next(itertools.islice(_records(source), row + 1, None), None)  # after the header
    return None if found is None else found[0]


def estimated_rows(source: Source) -> int:
    """Return the number of rows, from the file's own count or the length of its first lines."""
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

    ``numbers`` maps columns that must hold numbers to the remedy if they do not; ``words`` are text
    whatever they look like. If the type guessed from the first lines of a text file does not fit a
    later line, the column is read again as words.
    """
    guessed: dict[str, Any] = dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(words, pl.String)
    while True:
        try:
            rows = _scan(source, guessed).select(columns).cast(dict.fromkeys(words, pl.String))
            # An empty field is missing, with or without quotes.
            rows = rows.with_columns(pl.when(pl.col(name) != "").then(name) for name in words)
            rows = _as_numbers(source, rows, numbers)
            return _collect(source, use(rows))
        except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
            misfit = re.search(r"at column '(.*)' \(column number", str(error))
            if misfit is None or guessed.get(misfit.group(1)) == pl.String:
                raise BadData(_in_words(source, error)) from error
            guessed[misfit.group(1)] = pl.String


def in_order(rows: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Sort keys as numbers if all of them are written numbers; each text stays its own key."""
    for name in keys:
        texts = rows.select(text=pl.col(name).unique().drop_nulls())
        number = pl.col("text").str.strip_chars().cast(pl.Float64, strict=False)
        texts = texts.with_columns(number=number.fill_nan(None)).sort("number", "text")
        if texts.height and not texts["number"].null_count():
            rows = rows.cast({name: pl.Enum(texts["text"])})
    return rows


def is_wide(dtype: Any) -> bool:
    """Say whether integers are wider than those of NumPy."""
    return dtype in (pl.Int128, getattr(pl, "UInt128", pl.Int128))


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
        if is_wide(dtype):
            rows = rows.with_columns(pl.col(name).cast(pl.Float64))
        elif dtype in (pl.String, pl.Null, pl.Categorical, pl.Enum):
            text = pl.col(name).cast(pl.String).str.strip_chars()
            text = pl.when(~text.str.to_lowercase().is_in(_MISSING)).then(text)
            number = text.cast(pl.Float64, strict=False)
            wrong = rows.with_row_index("__lx_row").filter(text.is_not_null() & number.is_null())
            first = _collect(source, wrong.select("__lx_row", name).head(1))
            if first.height:
                row, found = first.row(0)
                raise BadData(
                    f"{source.name}: column {name!r} must hold numbers; found {found!r} in "
                    f"{place(source, row)}.{_remedy_for_comma(found)}{numbers[name]}"
                )
            rows = rows.with_columns(number.alias(name))
    return rows


def _head(data: Path | bytes) -> bytes:
    """Return the first bytes, after unpacking if the file is compressed."""
    if isinstance(data, Path) and data.is_dir():
        return b""
    with _opened(data) as file:
        head: bytes = file.read(_HEAD)
    return head


def _opened(data: Path | bytes) -> Any:
    """Open a file, or bytes that were read before, and unpack it if it is compressed."""
    file: Any = io.BytesIO(data) if isinstance(data, bytes) else data
    if _is_packed(data):
        return gzip.open(file)
    return file if isinstance(data, bytes) else file.open("rb")


def _is_packed(data: Path | bytes) -> bool:
    if isinstance(data, bytes):
        return data.startswith(GZIP)
    with data.open("rb") as plain:
        return plain.read(len(GZIP)) == GZIP


def _separator(head: bytes) -> str:
    # If the header is longer than the head, the head may end inside a character.
    header = codecs.getincrementaldecoder("utf-8")().decode(head.partition(b"\n")[0])
    return max(_SEPARATORS, key=header.count)


def _remedy_for_comma(found: str) -> str:
    if re.fullmatch(r"[-+]?[\d.,' ]*,[\d.,' ]*%?", found.strip()):
        return " Write decimals with a point and thousands without separators, like 1234.5."
    return ""


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
        return (
            f"{source.name} is ragged: a line has more fields than the header.{where} Put quotes "
            f"around fields with a comma in them, and write decimals with a point."
        )
    reason = text.splitlines()[0].rstrip(".")
    remedy = _ONE_FOR_EACH_ROW if source.form in ("json", "jsonl") else ""
    return f"{source.name} cannot be read as {NAMES[source.form]}: {reason}.{remedy}"


def _ragged(source: Source) -> Iterator[tuple[int, int, int]]:
    """Find lines with more fields than the header: line, fields, fields of the header."""
    expected = len(_header(source))
    for line, fields in _records(source):
        if len(fields) > expected:
            yield line, len(fields), expected


def _header(source: Source) -> list[str]:
    return next(_records(source), (1, []))[1]


def _records(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and all rows of a CSV file, with the lines on which they begin."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(_lines(source), delimiter=_separator(_head(source.data)))
    line, seen = 1, False
    for fields in reader:
        if fields or seen:  # empty lines above the header are no rows
            yield line, fields
            seen = True
        line = reader.line_num + 1


def _lines(source: Source) -> Iterator[str]:
    with io.TextIOWrapper(_opened(source.data), "utf-8-sig", errors="replace", newline="") as text:
        yield from text


def _nearest(name: str, names: Collection[str]) -> str:
    by_lower_case = {other.lower(): other for other in names}
    near = get_close_matches(name.lower(), by_lower_case, n=3, cutoff=0.5)
    return f" Nearest: {', '.join(repr(by_lower_case[each]) for each in near)}." if near else ""


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
