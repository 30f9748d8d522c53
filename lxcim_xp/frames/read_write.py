"""The columns of an eager frame as clean NumPy samples, and NumPy results as a frame again.

Missing values (null, and NaN in numbers) are found here and treated as ``nan_policy`` says. All
else goes through ``_samples`` as arrays do, so that a frame gets the numbers and the errors of an
array, with the name of the column in place of the argument.
"""

from typing import Any, NamedTuple, cast

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.primitives import signed_by
from lxcim_xp._arrays.typing import Namespace
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.checks import may_be_shares, warn_of_probabilities
from lxcim_xp._samples.decisions import absolute
from lxcim_xp._samples.differences import difference_of_arrays
from lxcim_xp._samples.errors import DROP_OR_WEIGH, SAY_WHICH_IS_POSITIVE, BadValue
from lxcim_xp._samples.samples import Samples, collect, credit, positive_share, signed_confidence
from lxcim_xp.decision import confidence, probability
from lxcim_xp.frames.columns import ONES, Parts
from lxcim_xp.frames.group_codes import Groups, codes_of, group_rows
from lxcim_xp.frames.labels import numbers, read_labels, refuse_missing, where_missing, where_nan
from lxcim_xp.frames.names import series_of
from lxcim_xp.frames.segments import Columns


class Side(NamedTuple):
    """What the labels say about one score where they are not whole, row by row."""

    share: Array  # of the votes for the positive side
    credit: Array  # the share of the votes that the decision agrees with


class Table(NamedTuple):
    """The rows of a frame that count, and the counts of all rows."""

    groups: Groups
    code: Array  # of the rows that count
    is_positive: Array  # what most votes are for
    sides: tuple[Side | None, ...]  # one for each score; None: labels are whole
    scores: tuple[Array, ...]
    margins: tuple[Array, ...]  # by what most votes are for
    confidences: tuple[Array, ...]  # signed, positive on the upper side
    weight: Array | None
    clusters: Array | None
    counts: dict[str, Array]  # n, n_missing and weight of each group
    is_confidence: bool = False  # whether scores are confidences, and labels say what was right

    @property
    def is_whole(self) -> bool:
        """Whether every label is on one side."""
        return not any(self.sides)

    @property
    def options(self) -> dict[str, Any]:
        """The options of functions of arrays that are given :meth:`samples`."""
        return {"decision": confidence()} if self.is_confidence else {}

    def samples(
        self, *, by_score: bool = False, rescaled: bool = False
    ) -> tuple[Array, tuple[Array, ...]]:
        """Return labels and scores for functions of arrays: margins and ones where that is enough.

        If asked to, bring scores beside split votes to a scale on which none is 1: nobody may take
        the few scores of a small group for labels.
        """
        if self.is_whole and not (by_score or self.is_confidence):
            label, scores = np.ones(self.code.size, dtype=np.int8), self.margins
        else:
            scores = self.scores if by_score or self.is_confidence else self.confidences
            label = self._labels()
        scores = tuple(score.astype(np.float64, copy=False) for score in scores)
        if rescaled and not self.is_whole:
            scores = tuple(map(_unlike_labels, scores))
        return label, scores

    def credit(self, which: int) -> Array:
        """Return the share of the votes that each decision on a score agrees with."""
        side = self.sides[which]
        if side is not None:
            return side.credit
        if self.is_confidence:
            return self.is_positive * 1.0
        margin = self.margins[which]
        return ((margin > 0) * 1.0 + (margin >= 0)) / 2

    def confidence(self, which: int) -> Array:
        """Return the confidence of each decision on a score."""
        signed = self.confidences[which]
        return signed if self.is_confidence else np.abs(signed)

    def _labels(self) -> Array:
        """Return the labels that all scores share."""
        first = self.sides[0]
        for side in self.sides[1:]:
            if (side is None) != (first is None) or (
                side is not None and first is not None and (side.share != first.share).any()
            ):
                raise BadValue(
                    "nan_policy",
                    "may not be 'abstain' for several columns of confidences: where one is "
                    "missing, its own credit would be one half",
                    "Pass {nan_policy:'omit'} to leave such rows out for all.",
                )
        return self.is_positive if first is None else first.share


def _unlike_labels(score: Array) -> Array:
    """Scale scores by a power of two, which changes neither order nor ties, such that none is 1."""
    while (score == 1).any():
        score = score * 2
    return score


def with_made_columns(frame: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
    """Add the columns that parts are made of and the frame has not: differences, ones."""
    backend = frame.implementation
    made: dict[str, Array] = {}
    for name, *pair in parts.differences:
        first, second = (numbers(series_of(frame, column)) for column in pair)
        made[name] = difference_of_arrays(NUMPY, first, second)
    if parts.label == ONES:
        made[ONES] = np.ones(len(frame), dtype=np.int64)
    if not made:
        return frame
    return nw.maybe_reset_index(frame).with_columns(
        nw.new_series(name, column, nw.Int64 if name == ONES else nw.Float64, backend=backend)
        for name, column in made.items()
    )


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
        sides=table.sides[each],
        scores=table.scores[each],
        margins=table.margins[each],
        confidences=table.confidences[each],
    )


def columns_of(table: Table, decision: Any) -> Columns:
    """Return what the grouped kernel needs to know about the first score."""
    margin, signed, score = table.margins[0], table.confidences[0], table.scores[0]
    side = table.sides[0]
    if side is not None:
        return Columns(
            table.code,
            table.confidence(0),
            side.credit,
            side.share,
            score,
            table.weight,
            signed=None,
        )
    if table.is_confidence:
        halves = 2 * table.is_positive.astype(np.int8)
    else:
        halves = (margin > 0).astype(np.int8) + (margin >= 0)
    # These two never reverse the order of scores, though different scores may tie.
    plain = decision.signed in (absolute().signed, probability().signed)
    return Columns(
        table.code,
        table.confidence(0),
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
            refuse_missing(part, name, rows, remedy)
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
    sides = [_side_of(xp, each, n) for xp, each in collected]
    if any(sides):
        label = first.label[:n] >= 0.5
        sides = [_side_of(xp, each, n, whole=True) for xp, each in collected]
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        code, label, weight = code[kept], label[kept], weight[kept]
        scores, signed = ([column[kept] for column in columns] for columns in (scores, signed))
        sides = [None if side is None else Side(*(x[kept] for x in side)) for side in sides]
        clusters = None if clusters is None else clusters[kept]
    if parts.weight is None:
        weight = None
    xp = collected[0][0]
    margins = tuple(signed_by(xp, label, each) for each in signed)
    return Table(
        groups,
        code,
        label,
        tuple(sides),
        tuple(scores),
        margins,
        tuple(signed),
        weight,
        clusters,
        counts,
        parts.decision.is_confidence,
    )


def _side_of(xp: Namespace, samples: Samples, n: int, *, whole: bool = False) -> Side | None:
    """Return share and credit of ``n`` rows; None for whole labels, unless asked for them too."""
    if not whole and (samples.share is None or not may_be_shares(xp, samples.share)):
        return None
    share = positive_share(xp, samples)
    earned = credit(xp, samples, signed_confidence(xp, samples))
    return Side(share[:n].astype(np.float64, copy=False), earned[:n])
