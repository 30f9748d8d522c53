"""From a frame to the samples of a report: the rows that count for every model, read once.

Only the columns that are needed are collected from lazy frames. Nothing is evaluated here; that is
for ``report.facts``, ``report.reject_option`` and ``report.data_notes``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.errors import BadValue
from lxcim_xp.frames.reading import Reading, read_predictions


class Scored(NamedTuple):
    """One model on the rows that count."""

    name: str
    is_positive: Array
    score: Array
    margin: Array
    confidence: Array  # signed, positive on the upper side
    weight: Array | None
    clusters: Array | None

    @property
    def weights(self) -> dict[str, Any]:
        """The arguments that every function of samples takes besides the margins."""
        return {"sample_weight": self.weight}


class Predictions(NamedTuple):
    """What was read from a frame, and the models on the rows that count."""

    reading: Reading
    models: tuple[Scored, ...]

    @property
    def n(self) -> int:
        """The number of rows that count."""
        return int(self.reading.table.code.size)


def predictions_of(frame: Any, *, label: Any, scores: Any, **given: Any) -> Predictions:
    """Check the columns, collect them and read them."""
    names = _names(scores)
    if label is None and given["positive"] is not None:
        raise ValueError(
            f"positive={given['positive']!r} says which label is positive, and label=None that "
            f"there are none. Pass one of them."
        )
    if np.ndim(getattr(given["decision"], "threshold", 0.0)):
        raise ValueError(
            "decision must have one threshold for all rows; found an array. Subtract a threshold "
            "that varies from the score beforehand."
        )
    reading = read_predictions(frame, label=label, scores=names, **given)
    if not reading.table.code.size:
        wanted = "a score" if label is None else "a score, a label"
        raise BadValue(
            "frame",
            "must hold rows that count; found {count} rows, none of which does",
            f"Pass rows with {wanted} and a weight above zero.",
            count=len(reading.rows),
        )
    return Predictions(reading, _models(reading))


def _models(reading: Reading) -> tuple[Scored, ...]:
    table, parts = reading.table, reading.parts
    # In the widest float, so that a report on float32 scores has the same numbers as frames.
    columns = zip(parts.scores, table.scores, table.margins, table.confidences, strict=True)
    return tuple(
        Scored(
            name=name,
            is_positive=table.is_positive,
            score=score.astype(np.float64, copy=False),
            margin=margin.astype(np.float64, copy=False),
            confidence=confidence.astype(np.float64, copy=False),
            weight=table.weight,
            clusters=table.clusters,
        )
        for name, score, margin, confidence in columns
    )


def _names(scores: str | Sequence[str]) -> tuple[str, ...]:
    names = (scores,) if isinstance(scores, str) else tuple(scores)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"scores must name at least one column, each once; found {list(names)}.")
    return names
