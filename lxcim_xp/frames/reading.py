"""Predictions read from a frame, for the layers above: reports and the command line.

The functions of ``frames`` return frames. Pages, figures and searches for thresholds need the
samples themselves. Here columns are checked and read as everywhere in ``frames``, and handed out
with what is known about all rows. The layers above may import no other module of this folder.
Users have the functions of arrays instead.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.typing import Array
from lxcim_xp._samples.decisions import Decision
from lxcim_xp.frames.columns import ONES as ONES
from lxcim_xp.frames.columns import Parts, parts_of
from lxcim_xp.frames.columns import name_of_score as name_of_score
from lxcim_xp.frames.engines import engine_of, narwhals_frame
from lxcim_xp.frames.in_memory import COUNTS, evaluate_table, samples_for
from lxcim_xp.frames.in_memory import result_columns as result_columns
from lxcim_xp.frames.labels import numbers, read_labels, where_missing
from lxcim_xp.frames.names import columns_in_memory, schema_of, series_of
from lxcim_xp.frames.read_write import Table, of_one_score, read, with_made_columns


class LeftOut(NamedTuple):
    """How many rows are left out or changed, and why."""

    weightless: int  # rows of weight 0, which are absent whatever else they hold
    neither: int  # rows whose label is neither positive nor negative
    drawn: int  # rows that count as draws because of that
    missing: dict[tuple[str, str], int]  # the others, by the part and the name of the column


class Reading(NamedTuple):
    """The columns of a frame that play parts, in memory, and the samples they hold."""

    rows: nw.DataFrame[Any]
    parts: Parts
    table: Table  # the rows that count for every score
    has_labels: bool  # False: the scores are margins

    def samples(self, metric: str) -> list[Array | None]:
        """Return the arguments of a metric: label, scores, weight, clusters."""
        return samples_for(self.table, metric)

    @property
    def options(self) -> dict[str, Any]:
        """The options of functions that are given these samples."""
        return self.table.options

    def of_score(self, which: int) -> Table:
        """Return the rows that count for all scores, with one of these."""
        return of_one_score(self.table, which)

    def evaluate(self, metrics: Sequence[str], level: float | None) -> list[dict[str, Array]]:
        """Return the columns of ``frames.evaluate`` for each score, on the rows that all share."""
        return [
            evaluate_table(
                of_one_score(self.table, which), self.parts.decision, tuple(metrics), level
            )
            for which in range(len(self.parts.scores))
        ]

    def keys(self) -> list[tuple[Any, ...]]:
        """Return the keys of each subgroup, None for null or NaN; empty without key columns."""
        keys = self.table.groups.keys
        if keys is None:
            return []
        columns = []
        for key in keys.iter_columns():
            null = key.is_null()
            if key.dtype.is_float():
                null = null | key.is_nan()
            pairs = zip(key.to_list(), null.to_list(), strict=True)
            columns.append([None if missing else value for value, missing in pairs])
        return list(zip(*columns, strict=True))

    def left_out(self) -> LeftOut:
        """Count the rows that are absent, that are on neither side, and that lack a value."""
        parts, rows = self.parts, self.rows
        present = np.ones(len(rows), dtype=bool)
        if parts.weight is not None:
            present = numbers(series_of(rows, parts.weight)) != 0
        weightless = int((~present).sum())
        labels = read_labels(series_of(rows, parts.label), parts, present)
        neither, drawn = labels.neither, labels.drawn
        if neither is not None:
            present = present & ~neither
        named = [("score", name) for name in parts.scores] + [("weight", parts.weight)]
        named += [("label", parts.label)] if self.has_labels else []
        missing = {}
        for part, name in [*named, ("groups", parts.clusters)]:
            nothing = None if name is None else where_missing(series_of(rows, name))
            if name is not None and nothing is not None:
                missing[part, name] = int((nothing & present).sum())
        n_neither, n_drawn = (0 if rows is None else int(rows.sum()) for rows in (neither, drawn))
        return LeftOut(weightless, n_neither, n_drawn, missing)


def read_predictions(
    frame: Any,
    *,
    label: str | None,
    scores: Sequence[str | tuple[str, str]],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    groups: str | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: str = "error",
    threshold: Any = None,
    decision: Decision | None = None,
    nan_policy: str = "raise",
    outputs: Iterable[str] = (),
) -> Reading:
    """Check the columns of a frame, collect them if it is lazy, and read them.

    Without a label the scores are margins. A pair of columns is a score: their difference. No key
    may be named like one of ``outputs`` or of the counts, because results hold all of them side by
    side.
    """
    found = narwhals_frame(frame)
    engine = engine_of(found)
    schema = schema_of(engine, found)
    parts = parts_of(
        engine,
        schema,
        label=label,
        scores=scores,
        weight=weight,
        by=by,
        groups=groups,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
        outputs=[*outputs, *COUNTS],
    )
    rows = columns_in_memory(engine, found, parts.columns)
    if rows.implementation.is_modin():
        rows = nw.from_native(rows.to_pandas(), eager_only=True)
    rows = with_made_columns(rows, parts)
    return Reading(rows, parts, read(rows, parts), label is not None)
