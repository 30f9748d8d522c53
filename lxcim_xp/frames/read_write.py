"""The columns of an eager frame as clean NumPy samples, and NumPy results as a frame again.

Missing values (null, and NaN in numbers) are found here and treated as ``nan_policy`` says. All
else goes through ``_samples`` as arrays do, so that a frame gets the numbers and the errors of an
array, with the name of the column in place of the argument.
"""

from typing import Any, NamedTuple, cast

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.primitives import signed_by
from lxcim_xp._arrays.typing import Namespace
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.checks import warn_of_probabilities
from lxcim_xp._samples.decisions import absolute
from lxcim_xp._samples.errors import DROP_OR_WEIGH, SAY_WHICH_IS_POSITIVE, BadValue
from lxcim_xp._samples.samples import Samples, collect, signed_confidence
from lxcim_xp.decision import probability
from lxcim_xp.frames.columns import Parts
from lxcim_xp.frames.group_codes import Groups, codes_of, group_rows
from lxcim_xp.frames.labels import numbers, read_labels, where_missing, where_nan
from lxcim_xp.frames.names import series_of
from lxcim_xp.frames.segments import Columns


class Table(NamedTuple):
    """The rows of a frame that count, and the counts of all rows."""

    groups: Groups
    code: Array  # of the rows that count
    is_positive: Array
    scores: tuple[Array, ...]
    margins: tuple[Array, ...]  # one for each score
    confidences: tuple[Array, ...]  # signed, positive on the upper side
    weight: Array | None
    clusters: Array | None
    counts: dict[str, Array]  # n, n_missing and weight of each group


def read(frame: nw.DataFrame[Any], parts: Parts) -> Table:
    """Read the columns of a frame."""
    groups = group_rows(frame, parts.by)
    scores = [numbers(series_of(frame, name)) for name in parts.scores]
    weight = None if parts.weight is None else numbers(series_of(frame, parts.weight))
    # A row of weight zero is absent, whatever it holds; so is one whose label is neither.
    present = None if weight is None else weight != 0
    label = read_labels(series_of(frame, parts.label), parts, present)
    if label.neither is not None:
        present = ~label.neither if present is None else present & ~label.neither
    missing = {("label", parts.label): label.missing}
    missing |= {
        ("score", name): where_nan(score) for name, score in zip(parts.scores, scores, strict=True)
    }
    if parts.weight is not None:
        missing["weight", parts.weight] = where_nan(weight)
    if parts.clusters is not None:
        missing["groups", parts.clusters] = where_missing(series_of(frame, parts.clusters))
    if present is not None:
        missing = {k: None if rows is None else rows & present for k, rows in missing.items()}
    anywhere = _apply_policy(missing, parts)
    where = None if anywhere is None or parts.nan_policy == "abstain" else ~anywhere
    if label.neither is not None:
        where = ~label.neither if where is None else where & ~label.neither
    samples = [
        _collected(label.value, score, weight, where, parts, name)
        for name, score in zip(parts.scores, scores, strict=True)
    ]
    if parts.by_default and parts.all_rows:
        for _, each in samples:
            warn_of_probabilities(each.label, each.score, each.weight)
    clusters = None if parts.clusters is None else codes_of(frame, "groups", parts.clusters)[0]
    return _counted(parts, groups, samples, clusters, anywhere, label.neither)


def of_one_score(table: Table, which: int) -> Table:
    """Return the table with one of its scores, on the rows that count for all of them."""
    each = slice(which, which + 1)
    return table._replace(
        scores=table.scores[each],
        margins=table.margins[each],
        confidences=table.confidences[each],
    )


def columns_of(table: Table, decision: Any) -> Columns:
    """Return what the grouped kernel needs to know about the first score."""
    margin, signed, score = table.margins[0], table.confidences[0], table.scores[0]
    halves = (margin > 0).astype(np.int8) + (margin >= 0)
    # These two never reverse the order of scores, though different scores may tie.
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
        return result  # its floats have no null but NaN
    undefined = [name for name, x in columns.items() if x.dtype.kind == "f" and np.isnan(x).any()]
    if not undefined:
        return result
    return result.with_columns(
        nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in undefined
    )


def _apply_policy(missing: dict[tuple[str, str], Array | None], parts: Parts) -> Array | None:
    """Return the rows with a missing value, None if there are none; raise if the policy says so."""
    anywhere: Array | None = None
    for (part, name), rows in missing.items():
        if rows is None or not rows.any():
            continue
        abstains = parts.nan_policy == "abstain"
        if parts.nan_policy == "raise" or (abstains and part != "score"):
            remedy = (
                "Pass {nan_policy:'omit'} to leave such rows out or {nan_policy:'abstain'} to "
                "count those without a score as undecided."
            )
            if abstains:
                remedy = (
                    "Only a score can abstain: pass {nan_policy:'omit'}, or drop these rows first."
                )
            elif part == "groups":
                remedy = (
                    "Pass {nan_policy:'omit'} to leave such rows out, or give each a cluster of "
                    "its own."
                )
            count = int(rows.sum())
            raise BadValue(
                f"{part} column {name!r}",
                "has {count} missing values, the first {place}"
                if count > 1
                else "has a missing value {place}",
                remedy,
                row=int(np.flatnonzero(rows)[0]),
                count=count,
            )
        anywhere = rows if anywhere is None else anywhere | rows
    return anywhere


# Remedies for frames in place of those for arrays.
_REMEDIES = {
    SAY_WHICH_IS_POSITIVE: "Say which label is positive with {positive:=}.",
    DROP_OR_WEIGH: "Drop such rows or give them weight 0.",
}


def _collected(
    label: Array,
    score: Array,
    weight: Array | None,
    where: Array | None,
    parts: Parts,
    name: str,
) -> tuple[Namespace, Samples]:
    policy = "abstain" if parts.nan_policy == "abstain" else "raise"
    try:
        return collect(
            label,
            score,
            sample_weight=weight,
            where=where,
            threshold=0.0,
            decision=parts.decision,
            nan_policy=policy,
            relative_weights=False,
        )
    except BadValue as error:
        columns = {
            "y_true": f"label column {parts.label!r}",
            "y_score": f"score column {name!r}",
            "sample_weight": f"weight column {parts.weight!r}",
        }
        raise BadValue(
            columns.get(str(error.argument), error.argument),
            error.problem,
            _REMEDIES.get(error.remedy, error.remedy),
            row=cast("int | None", error.position),  # columns have one dimension
            **error.facts | columns,
        ) from error


def _counted(
    parts: Parts,
    groups: Groups,
    collected: list[tuple[Namespace, Samples]],
    clusters: Array | None,
    missing: Array | None,
    neither: Array | None,
) -> Table:
    """Count the rows, then leave out those that do not count."""
    code, count = groups.code, groups.n_groups
    n, first = code.size, collected[0][1]
    # ``collect`` lets one absent sample stand for none: remove it.
    weight = None if first.weight is None else first.weight[:n]
    counts = {
        "n": np.bincount(code, minlength=count),
        "n_missing": np.bincount(code, missing, minlength=count).astype(np.int64),
        "weight": np.bincount(code, weight, minlength=count).astype(np.float64),
    }
    if missing is None:
        counts["n_missing"][:] = 0
    if neither is not None:
        counts["n"] = np.bincount(code[~neither], minlength=count)
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
