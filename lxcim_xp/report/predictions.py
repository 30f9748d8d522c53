"""From a frame to the samples of a report: the rows that count for every model, read once.

Only the columns that are needed are collected from lazy frames. Nothing is evaluated here; that is
for ``report.facts``, ``report.reject_option`` and ``report.data_notes``.
"""

from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.errors import BadValue
from lxcim_xp.decision import confidence
from lxcim_xp.frames.reading import Reading, read_predictions


class Scored(NamedTuple):
    """One model on the rows that count."""

    name: str
    samples: tuple[Array, Array]  # labels and scores for metrics of margins: ones and margins
    scored: tuple[Array, Array]  # labels and scores for AUROC
    signed: Array  # confidence, positive on the upper side
    confidence: Array
    credit: Array  # how right each decision is
    weight: Array | None
    clusters: Array | None
    is_split: bool  # whether labels are shares of votes
    is_confidence: bool  # whether the score was given as the confidence, of any sign

    @property
    def score(self) -> Array:
        """The scores as they stand in the frame."""
        return self.scored[1]

    @property
    def decided(self) -> Array:
        """Which decisions were made."""
        return np.ones(self.signed.shape, dtype=bool) if self.is_confidence else self.signed != 0

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that every function of samples takes besides these two."""
        decided = {"decision": confidence()} if self.is_confidence else {}
        return {"sample_weight": self.weight, **decided}


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
    return tuple(_scored(name, reading.of_score(i)) for i, name in enumerate(reading.parts.scores))


def _scored(name: str, table: Any) -> Scored:
    # In the widest float, so that a report on float32 scores has the same numbers as frames.
    (label, (score,)), (side, (given,)) = table.samples(), table.samples(by_score=True)
    return Scored(
        name=name,
        samples=(label, score),
        scored=(side, given),
        signed=table.confidences[0].astype(np.float64, copy=False),
        confidence=table.confidence(0).astype(np.float64, copy=False),
        credit=table.credit(0),
        weight=table.weight,
        clusters=table.clusters,
        is_split=not table.is_whole,
        is_confidence=table.is_confidence,
    )


def _names(scores: Any) -> tuple[Any, ...]:
    names = (scores,) if isinstance(scores, str) else tuple(scores)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"scores must name at least one column, each once; found {list(names)}.")
    return names
