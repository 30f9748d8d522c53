"""The columns of an eager frame as clean NumPy samples, and NumPy results as a frame again.

Missing values (null, and NaN in numbers) are seen here, and what ``nan_policy`` says is done about
them; everything else goes through ``_margins`` as arrays do, so that a frame gets the numbers and
the errors of an array, with the name of the column in the place of the argument.
"""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._array import Array, Namespace, first_position, signed_by
from lxcim_xp._frame_columns import Parts
from lxcim_xp._frame_keys import Groups, codes_of, group_rows
from lxcim_xp._margins import Samples, collect, signed_confidence
from lxcim_xp._segments import Columns
from lxcim_xp.decision import absolute, probability


class Table(NamedTuple):
    """The rows of a frame that count, and what is said about all of them."""

    groups: Groups
    code: Array  # of the rows that count
    is_positive: Array
    scores: tuple[Array, ...]
    margins: tuple[Array, ...]  # one for each score
    confidences: tuple[Array, ...]  # signed, positive on the upper side
    weight: Array | None  # relative to the largest, unless asked
    clusters: Array | None
    counts: dict[str, Array]  # n, n_missing and weight of each group


def read(frame: nw.DataFrame[Any], parts: Parts, *, relative_weights: bool = True) -> Table:
    """Read the columns of a frame, with weights relative to the largest, or as they are."""
    groups = group_rows(frame, parts.by)
    label, label_missing = _labels(frame.get_column(parts.label), parts)
    scores = [numbers(frame.get_column(name)) for name in parts.scores]
    weight = None if parts.weight is None else numbers(frame.get_column(parts.weight))
    missing = {("label", parts.label): label_missing}
    missing |= {
        ("score", name): _nan(score) for name, score in zip(parts.scores, scores, strict=True)
    }
    if parts.weight is not None:
        missing["weight", parts.weight] = _nan(weight)
    if weight is not None:  # a row of weight zero is absent, whatever it holds
        missing = {k: None if rows is None else rows & (weight != 0) for k, rows in missing.items()}
    anywhere = _apply_policy(missing, parts)
    where = None if anywhere is None or parts.nan_policy == "abstain" else ~anywhere
    samples = [
        _collected(label, score, weight, where, parts, name, relative_weights)
        for name, score in zip(parts.scores, scores, strict=True)
    ]
    clusters = None if parts.clusters is None else codes_of(frame.get_column(parts.clusters))[0]
    return _counted(parts, groups, samples, clusters, anywhere)


def of_one_score(table: Table, which: int) -> Table:
    """Return the table with one of its scores, on the rows that count for all of them."""
    each = slice(which, which + 1)
    return table._replace(
        scores=table.scores[each],
        margins=table.margins[each],
        confidences=table.confidences[each],
    )


def columns_of(table: Table, decision: Any) -> Columns:
    """Return what the grouped kernel needs of the first score."""
    margin, signed, score = table.margins[0], table.confidences[0], table.scores[0]
    halves = (margin > 0).astype(np.int8) + (margin >= 0)
    # These two never turn the order of scores around, though they may make different ones tie.
    plain = decision.signed in (absolute().signed, probability().signed)
    return Columns(
        table.code,
        np.abs(signed),
        halves,
        table.is_positive,
        score,
        table.weight,
        signed if plain else None,
    )


def write_rows(
    like: nw.DataFrame[Any], keys: nw.DataFrame[Any] | None, columns: dict[str, Array]
) -> nw.DataFrame[Any]:
    """Return a frame of the same library: keys, if there are any, then columns, null for NaN."""
    backend = like.implementation
    dtypes = {name: nw.Int64 if x.dtype.kind in "iu" else nw.Float64 for name, x in columns.items()}
    if keys is None:
        result = nw.from_dict(columns, schema=dtypes, backend=backend)
    else:
        result = keys.with_columns(
            nw.new_series(name, column, dtypes[name], backend=backend)
            for name, column in columns.items()
        )
    if backend.is_pandas_like():
        return result  # whose floats have no other null than NaN
    undefined = [name for name, x in columns.items() if x.dtype.kind == "f" and np.isnan(x).any()]
    if not undefined:
        return result
    return result.with_columns(
        nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in undefined
    )


def numbers(series: nw.Series[Any]) -> Array:
    """Return numbers as floats, NaN where they are missing."""
    if series.dtype not in (nw.Float32, nw.Float64):
        series = series.cast(nw.Float64)
    array = series.to_numpy()
    if array.dtype.kind != "f":  # nulls of some libraries make objects
        array = np.asarray(series.fill_null(float("nan")).to_numpy(), dtype=np.float64)
    return array


def _labels(series: nw.Series[Any], parts: Parts) -> tuple[Array, Array | None]:
    """Return labels that arrays know, and where they are missing; None: nowhere."""
    dtype, positive = series.dtype, parts.positive
    if isinstance(dtype, nw.Object):
        return _object_labels(series, parts)
    missing = series.is_null().to_numpy() if series.null_count() else None
    if dtype.is_float():
        missing = _nan(numbers(series))
    if positive is None and dtype != nw.Boolean:
        value = series.to_numpy() if missing is None and dtype.is_integer() else numbers(series)
        return value if missing is None else np.where(missing, 0, value), missing
    if dtype != nw.Boolean:
        hits = (series if dtype.is_numeric() else series.cast(nw.String)) == positive
        hits = _truth(hits)
        if missing is not None:
            hits = hits & ~missing
        _check_occurs(series, hits, missing, parts)
        return hits, missing
    return _truth(series) != (positive is False), missing


def _truth(series: nw.Series[Any]) -> Array:
    return np.asarray(series.fill_null(False).to_numpy(), dtype=bool)


def _object_labels(series: nw.Series[Any], parts: Parts) -> tuple[Array, Array | None]:
    """Read Python objects one by one, as booleans with None are kept by pandas."""
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    values = series.to_list()
    if parts.positive is not None:
        hits = np.fromiter((value == parts.positive for value in values), bool, len(values))
        hits &= ~missing
        _check_occurs(series, hits, missing, parts)
        return hits, missing
    label = np.zeros(len(values))
    for row, (value, absent) in enumerate(zip(values, missing, strict=True)):
        if absent:
            continue
        if not isinstance(value, bool | int | float | np.bool_ | np.number):
            raise TypeError(
                f"label column {parts.label!r} has dtype Object and holds {value!r} in row {row}. "
                f"Pass positive=, or cast it to booleans."
            )
        label[row] = value
    return label, missing


def _check_occurs(series: nw.Series[Any], hits: Array, missing: Array | None, parts: Parts) -> None:
    present = hits.size if missing is None else int((~missing).sum())
    if parts.all_rows and present and not hits.any():
        # With a slip in the word, everything would be negative and look plausible.
        kept = series if missing is None else series.drop_nulls()
        some = sorted(map(str, kept.unique().head(5).to_list()))
        raise ValueError(
            f"positive={parts.positive!r} does not occur in the label column {parts.label!r}, "
            f"which holds {', '.join(some)}. Pass a value that does, or a column of booleans."
        )


def _nan(array: Array) -> Array | None:
    """Say where numbers are missing; None: nowhere."""
    if not array.size or not np.isnan(np.min(array)):
        return None
    return np.isnan(array)


def _apply_policy(missing: dict[tuple[str, str], Array | None], parts: Parts) -> Array | None:
    """Return the rows with a missing value, None if there are none; raise where they are bad."""
    anywhere: Array | None = None
    for (part, name), rows in missing.items():
        if rows is None or not rows.any():
            continue
        abstains = parts.nan_policy == "abstain"
        if parts.nan_policy == "raise" or (abstains and part != "score"):
            remedy = (
                "Only a score can abstain: drop these rows first."
                if abstains
                else "Pass nan_policy='omit' to leave such rows out or nan_policy='abstain' to "
                "count those without a score as undecided."
            )
            raise ValueError(
                f"{part} column {name!r} has {int(rows.sum())} missing values, the first in row "
                f"{first_position(rows)}. {remedy}"
            )
        anywhere = rows if anywhere is None else anywhere | rows
    return anywhere


def _collected(
    label: Array,
    score: Array,
    weight: Array | None,
    where: Array | None,
    parts: Parts,
    name: str,
    relative_weights: bool,
) -> tuple[Namespace, Samples]:
    policy = "abstain" if parts.nan_policy == "abstain" else "raise"
    try:
        return collect(
            label,
            score,
            weight,
            where,
            0.0,
            parts.decision,
            -1,
            policy,
            relative_weights=relative_weights,
        )
    except ValueError as error:
        message = str(error)
        for argument, column in {
            "y_true == positive_label": "positive=",
            "y_true": f"label column {parts.label!r}",
            "y_score": f"score column {name!r}",
            "sample_weight": f"weight column {parts.weight!r}",
            "with where= or": "or",
            "at position": "in row",
        }.items():
            message = message.replace(argument, column)
        raise ValueError(message) from error


def _counted(
    parts: Parts,
    groups: Groups,
    collected: list[tuple[Namespace, Samples]],
    clusters: Array | None,
    missing: Array | None,
) -> Table:
    """Leave out the rows that do not count, after they were counted."""
    code, count = groups.code, groups.n_groups
    n, first = code.size, collected[0][1]
    # Behind the front of arrays, one absent sample stands for none: it goes.
    weight = None if first.weight is None else first.weight[:n]
    total = np.bincount(code, weight, minlength=count).astype(np.float64)
    if first.largest_weight is not None:
        total *= first.largest_weight[0]
    counts = {
        "n": np.bincount(code, minlength=count),
        "n_missing": np.bincount(code, missing, minlength=count).astype(np.int64),
        "weight": total,
    }
    if missing is None:
        counts["n_missing"][:] = 0
    label, scores = first.label[:n] > 0, [each.score[:n] for _, each in collected]
    signed = [signed_confidence(xp, each)[:n] for xp, each in collected]
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        code, label, weight = code[kept], label[kept], weight[kept]
        scores, signed = ([column[kept] for column in columns] for columns in (scores, signed))
        clusters = None if clusters is None else clusters[kept]
    if parts.weight is None:
        weight = None
    xp = collected[0][0]
    margins = tuple(signed_by(xp, label, each) for each in signed)
    return Table(
        groups, code, label, tuple(scores), margins, tuple(signed), weight, clusters, counts
    )
