"""From a frame to the samples of a report: the rows that count for every model, read once.

Lazy frames are collected here, with the columns that are needed and no others. What the samples say
is found in ``_report_facts``, ``_report_points`` and ``_data_notes``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._array import Array
from lxcim_xp._engines import METRICS, column_of, engine_of, narwhals_frame, schema_of
from lxcim_xp._frame_columns import ONES, Parts, parts_of
from lxcim_xp._frame_kernel import COUNTS, interval_names
from lxcim_xp._frame_samples import Table, read


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
        """What every function of samples takes beside the margins."""
        return {"sample_weight": self.weight}


class Predictions(NamedTuple):
    """The rows of a frame, and the models on those of them that count."""

    rows: nw.DataFrame[Any]
    parts: Parts
    table: Table
    models: tuple[Scored, ...]
    has_labels: bool

    @property
    def n(self) -> int:
        """The number of rows that count."""
        return int(self.table.code.size)


def read_predictions(frame: Any, *, label: Any, scores: Any, **given: Any) -> Predictions:
    """Check the columns, collect them and read them."""
    names = _names(scores)
    if label is None and given["positive"] is not None:
        raise ValueError(
            f"positive={given['positive']!r} says which label is positive, and label=None that "
            f"there are none. Pass one of them."
        )
    found = narwhals_frame(frame)
    engine = engine_of(found)
    schema = schema_of(engine, found)
    if label is None:
        schema = {**schema, ONES: nw.Int64()}
    parts = parts_of(
        engine,
        schema,
        label=ONES if label is None else label,
        scores=names,
        outputs=[*METRICS, *COUNTS, *(part for name in METRICS for part in interval_names(name))],
        **given,
    )
    if np.ndim(parts.decision.threshold):
        raise ValueError(
            "decision must have one threshold for all rows; found an array. Subtract a threshold "
            "that varies from the score beforehand."
        )
    needed = [name for name in parts.columns if label is not None or name != ONES]
    rows: Any = found.select(*(column_of(engine, name).alias(name) for name in needed))
    if isinstance(rows, nw.LazyFrame):
        rows = rows.collect()
    elif rows.implementation.is_modin():
        rows = nw.from_native(rows.to_pandas(), eager_only=True)
    if label is None:
        rows = rows.with_columns(nw.lit(1).alias(ONES))
    table = read(rows, parts)
    if not table.code.size:
        raise ValueError(
            f"frame must hold rows that count; found {len(rows)} rows, none of which does. Pass "
            f"rows with a score{'' if label is None else ', a label'} and a weight above zero."
        )
    return Predictions(rows, parts, table, _models(table, parts), label is not None)


def _models(table: Table, parts: Parts) -> tuple[Scored, ...]:
    # In the widest float, so that a report of float32 scores has the numbers that frames have.
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
