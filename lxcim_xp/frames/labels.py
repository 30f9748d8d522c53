"""The labels of a frame: which rows are positive, negative, missing or neither.

With ``positive=`` alone there may be one other label, which is negative. A third label, or a
positive one that does not occur, would lead to numbers that look right and are wrong. So would
shares of votes that were taken for the scores. Eager frames raise an error. A query cannot, so sums
over the whole frame say whether it should have.
"""

from collections.abc import Callable
from itertools import compress
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.primitives import first_position
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.errors import BadType, BadValue, Given
from lxcim_xp.frames.columns import Parts
from lxcim_xp.frames.expressions import LIBRARY, number, one_if
from lxcim_xp.frames.names import column_of

WRONG = "__lx_wrong"  # in queries: 1.0 if the labels of the frame are not as named
_PRESENT = "__lx_present"


class Labels(NamedTuple):
    """The labels of the rows of an eager frame, in the form that functions of arrays take."""

    value: Array
    missing: Array | None  # None: nowhere
    neither: Array | None  # rows to leave out because their label is neither; None: nowhere
    drawn: Array | None = None  # rows that count as draws because of that; None: nowhere


def read_labels(series: nw.Series[Any], parts: Parts, present: Array | None) -> Labels:
    """Read a column of labels; absent rows may hold any label (``present=None``: none is)."""
    dtype = series.dtype
    if isinstance(dtype, nw.Object):
        missing: Array | None = np.asarray(series.is_null().to_numpy(), dtype=bool)
        values = series.to_list()
        if parts.positive is None:
            return Labels(_object_labels(values, missing, parts), missing, None)

        def are(value: Any) -> Array:
            return np.fromiter((each == value for each in values), bool, len(values))

        return _on_sides(series, are, missing, present, parts)
    missing = where_missing(series)
    if dtype == nw.Boolean:
        return Labels(_as_booleans(series) != (parts.positive is False), missing, None)
    if parts.positive is None:
        as_it_is = missing is None and dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)
        value = series.to_numpy() if as_it_is else numbers(series)
        return Labels(value if missing is None else np.where(missing, 0, value), missing, None)
    named = series if dtype.is_numeric() else series.cast(nw.String)
    return _on_sides(named, lambda value: _as_booleans(named == value), missing, present, parts)


def distinct_labels(frame: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
    """Return each label of some rows once, and once more if it also occurs with weight zero."""
    if parts.weight is None:
        return frame.select(parts.label).unique()
    present = (nw.col(parts.weight) != 0).fill_null(True)
    return frame.select(nw.col(parts.label), present.alias(_PRESENT)).unique()


def check_labels(distinct: nw.DataFrame[Any], parts: Parts) -> None:
    """Refuse wrong labels that only show when the labels of all rows are seen together."""
    present = None if parts.weight is None else _as_booleans(distinct.get_column(_PRESENT))
    read_labels(distinct.get_column(parts.label), parts._replace(all_rows=True), present)


def label_expression(schema: Any, parts: Parts) -> nw.Expr:
    """Return labels of a query as floats, null where they are missing."""
    label, missing = _labels_and_missing(schema, parts)
    if parts.positive is None:
        return label.cast(nw.Float64)
    positive = one_if(label == parts.positive)
    if parts.ties == "half":
        drawn = (label != parts.positive) & (label != parts.negative)
        positive = nw.when(drawn).then(number(LIBRARY, 0.5)).otherwise(positive)
    return nw.when(~missing).then(positive)


def neither_expression(schema: Any, parts: Parts) -> nw.Expr:
    """Say which rows of a query have a label that is neither, and no draw."""
    if parts.negative is None or parts.ties == "half":
        return nw.lit(False)
    label, missing = _labels_and_missing(schema, parts)
    known = nw.when(missing).then(nw.lit(False))
    return known.otherwise((label != parts.positive) & (label != parts.negative))


def with_verdict(
    result: nw.LazyFrame[Any],
    frame: nw.LazyFrame[Any],
    schema: Any,
    parts: Parts,
) -> nw.LazyFrame[Any]:
    """Add to each row of a query's result whether the labels of the frame are not as named."""
    if parts.positive is None or schema[parts.label] == nw.Boolean:
        if not may_hold_shares(schema, parts) or parts.decision.is_confidence:
            return result.with_columns(number(LIBRARY, 0.0).alias(WRONG))
        return result.join(_swapped(frame, parts), how="cross")
    label, missing = _labels_and_missing(schema, parts)
    present = nw.lit(True)
    if parts.weight is not None:
        weight = column_of(parts.weight).cast(nw.Float64)
        present = weight.is_null() | (weight != 0.0)
    hit = ~missing & (label == parts.positive)
    flags = {"__lx_labels": ~missing, "__lx_positives": hit}
    if parts.negative is not None:
        flags["__lx_negatives"] = ~missing & (label == parts.negative)
        flags["__lx_neithers"] = neither_expression(schema, parts) & present
    rows = frame.select(
        *(one_if(flag).alias(name) for name, flag in flags.items()),
        nw.when(~missing & (label != parts.positive) & present).then(label).alias("__lx_low"),
    ).with_columns(nw.col("__lx_low").alias("__lx_high"))
    sums = rows.select(nw.col(*flags).sum(), nw.col("__lx_low").min(), nw.col("__lx_high").max())
    wrong = nw.col("__lx_positives") == 0.0
    if parts.negative is None:
        wrong = wrong | (nw.col("__lx_low") != nw.col("__lx_high"))
    else:
        wrong = wrong | (nw.col("__lx_negatives") == 0.0)
        if parts.ties == "error":
            wrong = wrong | (nw.col("__lx_neithers") > 0.0)
    verdict = sums.select(one_if((nw.col("__lx_labels") > 0.0) & wrong).alias(WRONG))
    return result.join(verdict, how="cross")


def may_hold_shares(schema: Any, parts: Parts) -> bool:
    """Say whether a column of labels has a dtype that holds shares of votes."""
    dtype = schema[parts.label]
    return parts.positive is None and dtype.is_numeric() and not dtype.is_integer()


def _swapped(frame: nw.LazyFrame[Any], parts: Parts) -> nw.LazyFrame[Any]:
    """Return one row that says whether there are shares of votes beside scores of 0 and 1 alone.

    Then labels and scores were swapped, as for arrays.
    """
    label, score = (column_of(name).cast(nw.Float64) for name in (parts.label, parts.scores[0]))
    present = ~(score.is_null() | score.is_nan() | label.is_null() | label.is_nan())
    if parts.weight is not None:
        weight = column_of(parts.weight).cast(nw.Float64)
        present = present & (weight != 0.0)
    flags = {
        "__lx_split": present & (label > 0.0) & (label < 1.0),
        "__lx_at_zero": present & (score == 0.0),
        "__lx_at_one": present & (score == 1.0),
        "__lx_elsewhere": present & (score != 0.0) & (score != 1.0),
    }
    rows = frame.select(*(one_if(flag).alias(name) for name, flag in flags.items()))
    split, zero, one, other = (nw.col(name) > 0.0 for name in flags)
    sums = rows.select(nw.col(*flags).sum())
    return sums.select(one_if(split & zero & one & ~other).alias(WRONG))


def _labels_and_missing(schema: Any, parts: Parts) -> tuple[nw.Expr, nw.Expr]:
    """Return the labels of a query as they stand in the frame, and where they are missing."""
    column, dtype = column_of(parts.label), schema[parts.label]
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        column = column.cast(nw.String)
    missing = column.is_null()
    return column, missing | column.is_nan() if dtype.is_float() else missing


def numbers(series: nw.Series[Any]) -> Array:
    """Return numbers as floats, NaN where they are missing."""
    if series.dtype not in (nw.Float32, nw.Float64):
        series = series.cast(nw.Float64)
    array = series.to_numpy()
    if array.dtype.kind != "f":  # in some libraries nulls lead to objects
        array = np.asarray(series.fill_null(float("nan")).to_numpy(), dtype=np.float64)
    return array


def where_nan(array: Array) -> Array | None:
    """Say where numbers are missing; None: nowhere."""
    if not array.size or not np.isnan(np.min(array)):
        return None
    return np.isnan(array)


def where_missing(series: nw.Series[Any]) -> Array | None:
    """Say where values of a column of any kind are missing; None: nowhere."""
    if series.dtype.is_float():
        return where_nan(numbers(series))
    return np.asarray(series.is_null().to_numpy(), dtype=bool) if series.null_count() else None


def refuse_missing(
    part: str, name: str, missing: Array | None, remedy: str = "Drop such rows, or fill them in."
) -> None:
    """Refuse a column some of whose values are missing."""
    if missing is None or not missing.any():
        return
    count = int(missing.sum())
    raise BadValue(
        f"{part} column {name!r}",
        "has a missing value {place}"
        if count == 1
        else "has {count} missing values, the first {place}",
        remedy,
        row=int(np.flatnonzero(missing)[0]),
        count=count,
    )


def _on_sides(
    series: nw.Series[Any],
    are: Callable[[Any], Array],
    missing: Array | None,
    present: Array | None,
    parts: Parts,
) -> Labels:
    """Find the labels that were named; refuse what would look right and be wrong."""
    known = np.ones(len(series), dtype=bool) if missing is None else ~missing
    positive = are(parts.positive) & known
    others = known & ~positive
    if parts.negative is None:
        if not parts.all_rows:  # only all rows together tell what is negative
            return Labels(positive, missing, None)
        _check_occurs("positive", parts.positive, positive, series, known, parts)
        second = first_position(others if present is None else others & present)
        neither = others & ~are(series[second]) if second is not None else others
    else:
        negative = are(parts.negative) & known
        if parts.all_rows:
            _check_occurs("positive", parts.positive, positive, series, known, parts)
            _check_occurs("negative", parts.negative, negative, series, known, parts)
        neither = others & ~negative
    if present is not None:
        neither &= present
    row = first_position(neither)
    if row is None:
        return Labels(positive, missing, None)
    if parts.negative is None:
        raise BadValue(
            f"label column {parts.label!r}",
            "holds {some}, and {positive} leaves open which of the others is negative",
            "Pass {negative:=} with that label, and {ties:'omit'} to leave the rows with any other "
            "label out or {ties:'half'} to count them as draws; or a column of booleans.",
            some=_examples(series, known),
            positive=Given("positive", parts.positive),
        )
    if parts.ties == "error":
        raise BadValue(
            f"label column {parts.label!r}",
            "holds {label!r} {place}, which is neither {positive} nor {negative}",
            "Pass {ties:'omit'} to leave such rows out, or {ties:'half'} to count them as draws.",
            row=int(np.argmax(neither)),
            label=series[row],
            positive=Given("positive", parts.positive),
            negative=Given("negative", parts.negative),
        )
    if parts.ties == "half":
        return Labels(np.where(neither, 0.5, positive), missing, None, neither)
    return Labels(positive, missing, neither)


def _object_labels(values: list[Any], missing: Array, parts: Parts) -> Array:
    """Read Python objects one by one; pandas keeps booleans with None as objects."""
    label = np.zeros(len(values))
    for row, (value, absent) in enumerate(zip(values, missing, strict=True)):
        if absent:
            continue
        if not isinstance(value, bool | int | float | np.bool_ | np.number):
            raise BadType(
                f"label column {parts.label!r}",
                "has dtype Object and holds {label!r} {place}",
                "Pass {positive:=}, or cast it to booleans.",
                row=row,
                label=value,
            )
        label[row] = value
    return label


def _check_occurs(
    side: str, value: Any, hits: Array, series: nw.Series[Any], known: Array, parts: Parts
) -> None:
    if known.any() and not hits.any():
        raise BadValue(
            Given(side, value),
            "does not occur in the label column {column!r}, which holds {some}",
            "Pass a value that does, or a column of booleans.",
            column=parts.label,
            some=_examples(series, known),
        )


def _examples(series: nw.Series[Any], known: Array) -> str:
    """Return a few of the labels, for a message."""
    values = sorted(set(map(str, compress(series.to_list(), known))))
    return ", ".join(values[:5]) + (", ..." if len(values) > 5 else "")


def _as_booleans(series: nw.Series[Any]) -> Array:
    return np.asarray(series.fill_null(False).to_numpy(), dtype=bool)
