"""The Tübingen cause-effect pairs: number, cause, effect and weight of each.

The pairs carry no licence that would allow us to ship them, so they are read from where they are:
99 of them from the installed distribution ``cdt``, which is not imported (that would need torch),
or all 108 from a folder with the official ``pairNNNN.txt`` and ``pairmeta.txt``. Whoever uses them
cites Mooij, Peters, Janzing, Zscheischler and Schölkopf, "Distinguishing cause from effect using
observational data", JMLR 17(32), 2016.

Every pair is turned such that x is the cause and y the effect.
"""

import csv
import importlib.metadata
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

RESOURCE = "cdt/data/resources/Tuebingen_pairs.csv"
INSTALL = "pip install --no-deps cdt==0.6.0"

# Pairs from one source share the weight of one, all others stand alone. This is what pairmeta.txt
# says, to 0.001.
_SHARED_SOURCES: tuple[tuple[int, ...], ...] = (
    (1, 2, 3, 4, 20, 21),
    tuple(range(5, 12)),
    (12, 17),
    tuple(range(13, 17)),
    tuple(range(22, 25)),
    tuple(range(25, 33)),
    tuple(range(33, 38)),
    tuple(range(38, 42)),
    (42, 77),
    tuple(range(43, 47)),
    tuple(range(49, 52)),
    (*range(56, 65), 73, 74, 75),
    tuple(range(65, 68)),
    tuple(range(78, 81)),
    tuple(range(81, 84)),
    tuple(range(89, 93)),
    tuple(range(94, 97)),
    (97, 98, 102, 103, 104),
    (101, 105),
)
_SOURCE_OF = {number: source for source in _SHARED_SOURCES for number in source}
_WITHOUT_WEIGHT = {52, 53, 54, 55, 71}  # what they are about is also in other pairs


class Pair(NamedTuple):
    """One cause-effect pair: x causes y."""

    number: int  # the official one, 1 to 108
    x: np.ndarray  # (n,), or (n, k) where the official pair has several columns
    y: np.ndarray
    weight: float


def weight_of(number: int) -> float:
    """Return the weight of a pair: those of one source weigh one together."""
    return 0.0 if number in _WITHOUT_WEIGHT else 1 / len(_SOURCE_OF.get(number, (number,)))


def source_of(number: int) -> int:
    """Return the first pair from the same source, which names the source."""
    return _SOURCE_OF.get(number, (number,))[0]


def load_pairs(folder: str | Path | None = None) -> list[Pair]:
    """Load the pairs in the order of their numbers.

    Parameters
    ----------
    folder : str or Path, optional
        A folder with the official ``pairNNNN.txt`` files and ``pairmeta.txt``. By default the 99
        pairs in the installed distribution ``cdt`` are read.
    """
    return _from_cdt() if folder is None else _from_folder(Path(folder))


def _from_cdt() -> list[Pair]:
    try:
        file = importlib.metadata.distribution("cdt").locate_file(RESOURCE)
    except importlib.metadata.PackageNotFoundError:
        raise FileNotFoundError(
            "The pairs come with the distribution cdt, which is not installed. "
            f"Run `{INSTALL}`, or name a folder with the official files (--pairs)."
        ) from None
    csv.field_size_limit(sys.maxsize)
    pairs = []
    with Path(str(file)).open(newline="") as lines:
        for row in csv.DictReader(lines):
            number = _official(int(row["SampleID"].removeprefix("pair")))
            x, y = (np.array(row[side].split(), dtype=float) for side in "AB")
            pairs.append(Pair(number, x, y, weight_of(number)))
    return pairs


def _official(number: int) -> int:
    """Return the official number of a pair in cdt, which leaves out those with several columns."""
    return number + 4 * (number > 51) + (number > 66)


def _from_folder(folder: Path) -> list[Pair]:
    meta = folder / "pairmeta.txt"
    if not meta.is_file():
        raise FileNotFoundError(
            f"{meta} says which columns are the cause, and is not there. "
            "Put it beside the pairNNNN.txt files; both are part of the official download."
        )
    pairs = []
    for line in meta.read_text().splitlines():
        # number, first and last column of the cause, first and last column of the effect, weight
        fields = line.split()
        if not fields:
            continue
        number, *columns = map(int, fields[:5])
        cause_from, cause_to, effect_from, effect_to = columns
        table = _table(folder / f"pair{number:04d}.txt")
        x, y = table[:, cause_from - 1 : cause_to], table[:, effect_from - 1 : effect_to]
        if not x.size or not y.size:
            raise ValueError(
                f"{meta} names columns {columns} of pair {number}, whose file has "
                f"{table.shape[1]} columns."
            )
        pairs.append(Pair(number, _side(x), _side(y), weight_of(number)))
    return sorted(pairs, key=lambda pair: pair.number)


def _table(file: Path) -> np.ndarray:
    if not file.is_file():
        raise FileNotFoundError(f"{file} is not there, but pairmeta.txt names it.")
    rows = [line for line in file.read_text().splitlines() if line.strip()]
    try:
        return np.array([re.split(r"[\s,;]+", row.strip()) for row in rows], dtype=float)
    except ValueError as error:
        raise ValueError(f"{file} is not a table of numbers: {error}") from None


def _side(columns: np.ndarray) -> np.ndarray:
    return columns[:, 0] if columns.shape[1] == 1 else columns
