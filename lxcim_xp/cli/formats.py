"""Which format a file has, by its first bytes and its ending, and a remedy if it is another.

Files of predictions are CSV, JSON lines, JSON, Parquet or Arrow. Whatever else people may pass
(workbooks, archives, text in other encodings) is recognised by its first bytes, and the error says
what it is and how to convert it. Nothing is read here beyond these bytes.
"""

import codecs
import json
import shlex
from pathlib import PurePath
from typing import NamedTuple

NAMES = {
    "csv": "CSV",
    "parquet": "Parquet",
    "jsonl": "JSON lines",
    "json": "JSON",
    "arrow": "Arrow",
}
TEXT = ("csv", "jsonl", "json")  # keys are as written, and places are lines

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
_LOOKED_AT = 256  # bytes that say whether a file is text
GZIP = b"\x1f\x8b"
_STARTS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_CONVERT = "Read it with the library that wrote it, and save the table as Parquet or CSV."


class _Other(NamedTuple):
    """A format that cannot be read here, but can be converted to one that can."""

    start: bytes
    what: str
    remedy: str  # text before {name} is a command that prints the converted file


_SHEETS = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_WORKBOOK = "Save the sheet as CSV (in UTF-8) and pass that."
_OTHERS = (
    _Other(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook (.xls)", _WORKBOOK),
    _Other(b"PK\x03\x04", "a zip archive", "Unpack it: unzip -p {name}"),
    _Other(GZIP, "compressed twice with gzip", "Unpack it: gzip -dc {name}"),
    _Other(b"\x28\xb5\x2f\xfd", "compressed with zstd", "Unpack it: zstd -dc {name}"),
    _Other(b"BZh91AY", "compressed with bzip2", "Unpack it: bzip2 -dc {name}"),
    _Other(b"\xfd7zXZ\x00", "compressed with xz", "Unpack it: xz -dc {name}"),
    _Other(b"\x04\x22\x4d\x18", "compressed with lz4", "Unpack it: lz4 -dc {name}"),
    _Other(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it: 7z x -so {name}"),
    *(
        _Other(
            mark,
            f"text in {name}",
            f"Convert it: iconv -f {name} -t UTF-8 {{name}}",
        )
        for name, marks in (
            # The byte order mark of UTF-32 begins with that of UTF-16.
            ("UTF-32", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
            ("UTF-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
        )
        for mark in marks
    ),
    _Other(b"SQLite format 3\x00", "an SQLite database", "Export the table as CSV."),
    _Other(b"\x89HDF\r\n\x1a\n", "an HDF5 file", _CONVERT),
    _Other(b"\x93NUMPY", "a NumPy array", _CONVERT),
    _Other(b"\x80\x04", "a Python pickle", _CONVERT),
    _Other(b"\x80\x05", "a Python pickle", _CONVERT),
    _Other(b"Obj\x01", "an Avro file", _CONVERT),
    _Other(b"%PDF-", "a PDF document", "Pass the file with the data."),
)
_PAGES = (b"<!doctype", b"<html", b"<?xml")


def form_of(name: str, head: bytes, *, packed: bool = False) -> str:
    """Return the format of a file that begins with these bytes.

    Parameters
    ----------
    name : str
        The name of the file, whose ending decides where the content does not.
    head : bytes
        Its first bytes, unpacked if it is compressed.
    packed : bool, default False
        Whether it was compressed with gzip.

    Raises
    ------
    ValueError
        If the file cannot be read, with a remedy.
    """
    ending = _ENDINGS.get(PurePath(name.removesuffix(".gz")).suffix.lower())
    form = ending if ending in ("parquet", "arrow") else None
    binary = b"\x00" in head[:_LOOKED_AT]
    for mark, marked in _STARTS.items():
        if form is None and head.startswith(mark) and (binary or ending is None):
            form = marked
    if form is not None and packed:
        remedy = _piped("Unpack it: gzip -dc {name}", name)
        raise ValueError(f"{name} is a {NAMES[form]} file compressed with gzip. {remedy}")
    if form is not None:
        return form
    problem = _other(name, head, packed=packed)
    if problem:
        raise ValueError(problem)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if ending == "csv":  # a header may begin with a bracket
        return "jsonl" if _is_object(start.partition(b"\n")[0]) else "csv"
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{"):
        return "jsonl" if ending == "jsonl" or _is_whole_object(start) else "json"
    return ending or "csv"


def _other(name: str, head: bytes, *, packed: bool) -> str:
    for start, what, remedy in _OTHERS:
        if head.startswith(start):
            if b"xl/" in head or b"[Content_Types].xml" in head:
                what, remedy = "an Excel workbook (.xlsx)", _WORKBOOK
            elif _SHEETS in head[:_LOOKED_AT]:
                what, remedy = "an OpenDocument workbook (.ods)", _WORKBOOK
            # A gzip file inside another can be read once the outer one is unpacked.
            return f"{name} is {what}. {_piped(remedy, name, packed=packed and start != GZIP)}"
    if b"\x00" in head[:_LOOKED_AT]:
        order = "BE" if head.startswith(b"\x00") else "LE"
        remedy = f"convert it: iconv -f UTF-16{order} -t UTF-8 {{name}}"
        return (
            f"{name} is not text: it contains null bytes. If it is text in UTF-16, "
            f"{_piped(remedy, name, packed=packed)}"
        )
    if head.lstrip().lower().startswith(_PAGES):
        return f"{name} is an HTML or XML page, not a table. Pass the file with the data."
    if b"\r" in head.strip() and b"\n" not in head:
        remedy = "Convert it: tr '\\r' '\\n' < {name}"
        return f"{name} has lines that end as on old Macs. {_piped(remedy, name, packed=packed)}"
    return ""


def _piped(remedy: str, name: str, *, packed: bool = False) -> str:
    """Put the name of the file into a remedy, and pipe what it prints into a command."""
    words, command, _ = remedy.partition("{name}")
    if not command:
        return remedy
    file = "" if name == "standard input" else shlex.quote(name)
    if packed or not file:
        words = words.removesuffix("< ")
    if packed:
        said, _, tool = words.rpartition(": ")
        words, file = f"{said}: {f'gzip -dc {file}'.strip()} | {tool}", ""
    return f"{f'{words}{file}'.strip()} | lxcim evaluate - ..."


def _is_whole_object(start: bytes) -> bool:
    """Say whether the first line is an object of its own, as in JSON lines."""
    line, newline, _ = start.partition(b"\n")
    # One line may be longer than the bytes that were read.
    return not newline or _is_object(line)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
