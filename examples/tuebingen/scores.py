"""The file of scores: one row for each method and pair, empty where there is no answer.

    method,pair,score,weight
    IGCI,1,0.45,0.1666666666666667

The scores of other people have the same form, so that the same table can be made of them.
"""

import csv
import json
import math
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

COLUMNS = ["method", "pair", "score", "weight"]


class Scores(NamedTuple):
    """The scores of several methods on the same pairs."""

    numbers: tuple[int, ...]  # of the pairs
    weights: np.ndarray
    by_method: dict[str, np.ndarray]  # NaN where a method gave no answer


def write_rows(file: Path, columns: list[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a CSV file completely or not at all."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(descriptor, "w", newline="") as lines:  # noqa: PTH123
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
        Path(name).chmod(0o644)
        os.replace(name, file)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_answers(file: Path) -> tuple[dict[int, float], dict[str, dict[int, float]]]:
    """Read weights by pair, and scores by method and pair; NaN where there is no answer."""
    weights: dict[int, float] = {}
    answers: dict[str, dict[int, float]] = {}
    with file.open(newline="", encoding="utf-8-sig") as lines:  # spreadsheets begin with a mark
        table = csv.DictReader(lines)
        missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
        if missing:
            raise ValueError(f"{file} has no column {missing[0]!r}; it needs {','.join(COLUMNS)}.")
        for row in table:
            try:
                method, number = row["method"], int(row["pair"])
                score = math.nan if row["score"] in ("", "NA") else float(row["score"])
                weight = float(row["weight"])
            except (TypeError, ValueError) as error:
                raise ValueError(f"{file}, line {table.line_num}: {error}") from None
            if not 0 <= weight < math.inf:
                raise ValueError(f"{file}, line {table.line_num}: weight {weight} is not allowed.")
            if weights.setdefault(number, weight) != weight:
                raise ValueError(
                    f"{file}, line {table.line_num}: pair {number} has weight {weight} here and "
                    f"{weights[number]} above."
                )
            if number in answers.setdefault(method, {}):
                raise ValueError(
                    f"{file}, line {table.line_num}: {method} answers pair {number} a second time."
                )
            answers[method][number] = score
    if not answers:
        raise ValueError(f"{file} has no rows.")
    return weights, answers


def as_arrays(weights: Mapping[int, float], answers: Mapping[str, Mapping[int, float]]) -> Scores:
    """Put the answers of all methods side by side; pairs of weight 0 count for nobody."""
    numbers = tuple(sorted(number for number, weight in weights.items() if weight > 0))
    return Scores(
        numbers,
        np.array([weights[number] for number in numbers]),
        {
            method: np.array([scores.get(number, math.nan) for number in numbers])
            for method, scores in answers.items()
        },
    )


class Book:
    """A folder of answers: on disk at most two seconds late, and never half-written."""

    def __init__(self, folder: Path, weights: Mapping[int, float], settings: Mapping) -> None:
        """Open what an earlier run with the same settings left, or begin."""
        self.file, self._reasons_file = folder / "scores.csv", folder / "no_answer.csv"
        self._weights = weights
        self._scores: dict[str, dict[int, float]] = defaultdict(dict)
        self._reasons: dict[tuple[str, int], str] = {}
        self._saved = time.monotonic()
        remembered = folder / "settings.json"
        if self.file.is_file():
            if not remembered.is_file() or json.loads(remembered.read_text()) != settings:
                raise ValueError(
                    f"{self.file} comes from a run with other settings. Choose another folder (-o)."
                )
            for method, scores in read_answers(self.file)[1].items():
                self._scores[method].update(scores)
            with self._reasons_file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    self._reasons[row["method"], int(row["pair"])] = row["reason"]
        remembered.write_text(json.dumps(settings) + "\n")

    def knows(self, method: str, number: int) -> bool:
        """Return whether the method has been asked about this pair."""
        return number in self._scores[method]

    def forget(self, methods: Iterable[str]) -> None:
        """Drop what these methods have answered."""
        for method in methods:
            self._scores.pop(method, None)
            self._reasons = {key: why for key, why in self._reasons.items() if key[0] != method}

    def note(self, method: str, number: int, score: float, reason: str = "") -> None:
        """Add an answer; NaN with a reason where there is none."""
        self._scores[method][number] = score
        if reason:
            self._reasons[method, number] = reason
        if time.monotonic() > self._saved + 2:
            self.save()

    def save(self) -> None:
        """Write both files, each completely or not at all."""
        write_rows(
            self._reasons_file,
            ["method", "pair", "reason"],
            ((*key, reason) for key, reason in sorted(self._reasons.items())),
        )
        write_rows(
            self.file,
            COLUMNS,
            (
                (method, number, "" if math.isnan(score) else repr(score), self._weights[number])
                for method, scores in sorted(self._scores.items())
                for number, score in sorted(scores.items())
            ),
        )
        self._saved = time.monotonic()
