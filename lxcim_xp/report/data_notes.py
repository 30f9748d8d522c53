"""What the data of a report should make its reader think twice about.

Each note has a kind, a word that programs can look for, and a text for people. Notes change no
number. They are found from the columns and the samples; how a page shows them is not known here.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._array import Array
from lxcim_xp._frame_samples import numbers
from lxcim_xp._report_facts import Headline, Namings, keys_of
from lxcim_xp._report_samples import Predictions, Scored
from lxcim_xp._report_words import key_text, percent
from lxcim_xp.decision import Decision, absolute

FEW = 30  # samples below which an interval says little
_TIED = 0.01  # the share of tied samples that is worth a word
_NAMED = 5  # subgroups that are named


class Note(NamedTuple):
    """Something about the data."""

    kind: str
    text: str


def data_notes(given: Predictions, headlines: Sequence[Headline]) -> list[Note]:
    """Return all notes about the rows of a report."""
    notes = [*_missing(given), *_few(given)]
    notes += probability_notes(
        {model.name: model.score for model in given.models}, given.parts.decision
    )
    for model in given.models:
        notes += _undecided(model)
        notes += _ties(model)
    if given.has_labels:
        notes += _orientation(given, headlines)
        notes += _mirrored(given.models)
    return notes


def probability_notes(scores: Mapping[str, Any], decision: Decision) -> list[Note]:
    """Say which scores look like probabilities that are decided at zero.

    Parameters
    ----------
    scores : mapping of str to array
        The scores by name; NaN is passed over.
    decision : Decision
        The decision function that is used on them.

    Returns
    -------
    list of Note
        One for each such column, of kind "probabilities".
    """
    if decision.signed is not absolute().signed or decision.threshold != 0:
        return []
    return [
        Note(
            "probabilities",
            f"All scores of {name!r} lie between 0 and 1, like probabilities, but decisions are "
            f"made at the threshold 0: every decision is the positive side. Decide at one half "
            f"instead: decision=probability().",
        )
        for name, values in scores.items()
        if _within_the_unit(np.asarray(values))
    ]


def mirrored_share(margin: Array, is_positive: Array) -> float | None:
    """Return the share of rows that stand again as their mirror image; None if that is chance.

    Of k samples of one margin, p called positive and q negative, (p - q)^2 is k in the mean, with
    variance 2 k (k - 1), if coins name the sides. Where each pair is there both ways, it is 0.
    """
    _, place = np.unique(margin, return_inverse=True)
    k = np.bincount(place).astype(np.float64)
    apart = np.bincount(place, np.where(is_positive, 1.0, -1.0))
    n, total, variance = int(margin.size), float(np.sum(apart**2)), float(np.sum(2 * k * (k - 1)))
    return 1 - total / n if n - total > 3 * math.sqrt(variance) else None


def _within_the_unit(values: Array) -> bool:
    # The least and the largest pass over NaN, and need no copy: most scores end here.
    if not values.size or not (np.fmin.reduce(values) >= 0 and np.fmax.reduce(values) <= 1):
        return False
    return not bool(np.all((values == 0) | (values == 1) | np.isnan(values)))


def _missing(given: Predictions) -> Iterable[Note]:
    parts, rows = given.parts, given.rows
    present = np.ones(len(rows), dtype=bool)
    if parts.weight is not None:  # a row of weight zero is absent, whatever it holds
        present = numbers(rows.get_column(parts.weight)) != 0
        if not present.all():
            yield Note(
                "absent", f"{_rows(int((~present).sum()))} of weight 0 count as if not there."
            )
    done = {
        "omit": "The rows are left out, for all models.",
        "abstain": "The model counts as undecided there: half right, without confidence.",
    }
    named = [("score", name) for name in parts.scores] + [("weight", parts.weight)]
    named += [("label", parts.label)] if given.has_labels else []
    for part, name in named:
        if name is not None:
            count = int((_is_missing(rows.get_column(name)) & present).sum())
            if count:
                yield Note(
                    "missing",
                    f"The {part} column {name!r} has no value in {_rows(count)}. "
                    f"{done[parts.nan_policy]}",
                )
    if parts.clusters is not None:
        count = int(_is_missing(rows.get_column(parts.clusters)).sum())
        if count:
            yield Note(
                "missing",
                f"The column {parts.clusters!r} of groups has no value in {_rows(count)}. "
                f"They count as one group together.",
            )


def _is_missing(series: nw.Series[Any]) -> Array:
    if series.dtype.is_numeric():
        return np.isnan(numbers(series))
    return np.asarray(series.is_null().to_numpy(), dtype=bool)


def _few(given: Predictions) -> Iterable[Note]:
    if given.n < FEW:
        yield Note(
            "few",
            f"Only {given.n} sample{'s count' if given.n > 1 else ' counts'}: the intervals are "
            f"wide, and with fewer than {FEW} samples not to be taken literally.",
        )
    if not given.parts.by:
        return
    size = np.bincount(given.table.code, minlength=given.table.groups.n_groups)
    small = np.flatnonzero(size < FEW)
    if small.size:
        keys = keys_of(given)
        named = ", ".join(
            f"{' / '.join(map(key_text, keys[row]))} ({size[row]})"
            for row in small[:_NAMED].tolist()
        )
        more = f" and {small.size - _NAMED} more" if small.size > _NAMED else ""
        yield Note(
            "few in subgroup",
            f"{small.size} of {size.size} subgroups have fewer than {FEW} samples: {named}{more}. "
            f"Small ones are the best and the worst of a table by chance.",
        )


def _undecided(model: Scored) -> Iterable[Note]:
    count = int((model.confidence == 0).sum())
    if count:
        yield Note(
            "undecided",
            f"{_rows(count)} of {model.margin.size} have a score of {model.name!r} at the "
            f"threshold, or none: they are undecided and count half.",
        )


def _ties(model: Scored) -> Iterable[Note]:
    _, count = np.unique(np.abs(model.confidence), return_counts=True)
    tied = int(count[count > 1].sum())
    if tied > _TIED * model.margin.size:
        share = tied / model.margin.size
        yield Note(
            "ties",
            f"{percent(share)} of the samples share their confidence by {model.name!r} with "
            f"others; there are {count.size} different confidences. Ties count half, and a "
            f"threshold decides them together.",
        )


def _orientation(given: Predictions, headlines: Sequence[Headline]) -> Iterable[Note]:
    is_positive = given.table.is_positive
    if is_positive.all() or not is_positive.any():
        side = "positive" if is_positive.all() else "negative"
        yield Note(
            "one class",
            f"All labels are {side}: AUROC has no value. The other metrics do not need both.",
        )
        return
    odd = [found for found in headlines if _outside(found.auroc)]
    if odd:
        named = "; ".join(
            f"of {found.name!r} {found.auroc.value:.3f} (random: {found.auroc.low:.3f} to "
            f"{found.auroc.high:.3f})"
            for found in odd
        )
        yield Note(
            "orientation",
            f"As the sides are named in these data, AUROC is not what random namings give: "
            f"{named}. The naming carries information, or follows a rule: do not compare this "
            f"AUROC with others. LxCIM is not concerned.",
        )


def _outside(drawn: Namings) -> bool:
    if not drawn.draws or drawn.low <= drawn.value <= drawn.high:
        return False
    # Of few draws the range is narrow: the value must also be far from their mean.
    return abs(drawn.value - drawn.mean) > 3 * drawn.std


def _mirrored(models: Sequence[Scored]) -> Iterable[Note]:
    for model in models:
        share = mirrored_share(model.margin, model.is_positive)
        if share is not None:
            named = model.clusters is not None
            yield Note(
                "mirrored",
                f"About {percent(share)} of the rows stand again as their mirror image (by "
                f"{model.name!r}): the same confidence, with the sides exchanged. The value of "
                f"LxCIM is not changed by that, but intervals are too narrow by up to the square "
                f"root of 2"
                f"{', unless groups names the pairs' if named else ''}. Keep one of each pair, or "
                f"pass the pair's id as groups.",
            )
            return  # the other models see the same rows


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"
