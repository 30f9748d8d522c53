"""Notes on anything in the data that should make the reader of a report think twice.

Each note has a kind, a word that programs can look for, and a text for people. Notes come from the
columns and the samples, and change no number. How the page shows them is decided elsewhere.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.checks import PROBABILITIES_AT_ZERO, seem_misread
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.errors import Wording
from lxcim_xp.report.facts import Headline, Namings
from lxcim_xp.report.predictions import Predictions, Scored
from lxcim_xp.report.wording import key_text, percent

FEW = 30  # samples below which an interval says little
_TIED = 0.01  # the share of tied samples from which they are worth a note
_NAMED = 5  # how many subgroups a note names


class Note(NamedTuple):
    """Something about the data."""

    kind: str
    text: str


def data_notes(given: Predictions, headlines: Sequence[Headline]) -> list[Note]:
    """Return all notes about the rows of a report."""
    notes = [*_missing_notes(given), *_split_notes(given), *_size_notes(given)]
    notes += probability_notes(
        {model.name: model.score for model in given.models}, given.reading.parts.decision
    )
    for model in given.models:
        notes += _undecided_notes(model)
        notes += _tie_notes(model)
    if given.reading.has_labels:
        notes += _naming_notes(given, headlines)
        notes += _mirror_notes(given.models)
    return notes


def probability_notes(scores: Mapping[str, Any], decision: Decision) -> list[Note]:
    """Say which scores look like probabilities but are decided at zero; NaN is ignored."""
    python = Wording()
    return [
        Note("probabilities", python.say(PROBABILITIES_AT_ZERO, {"name": name}))
        for name, values in scores.items()
        if seem_misread(np.asarray(values), decision)
    ]


def mirrored_share(margin: Array, is_positive: Array) -> float | None:
    """Return the share of rows whose mirror image also occurs; None if it may be chance.

    Of k samples with the same margin, p are called positive and q negative. If coins name the
    sides, (p - q)^2 has mean k and variance 2 k (k - 1). If each pair occurs both ways, it is 0.
    """
    return _unlikely_share(np.unique(margin, return_inverse=True)[1], is_positive)


def _unlikely_share(place: Array, is_positive: Array) -> float | None:
    k = np.bincount(place).astype(np.float64)
    apart = np.bincount(place, np.where(is_positive, 1.0, -1.0))
    n, total, variance = int(place.size), float(np.sum(apart**2)), float(np.sum(2 * k * (k - 1)))
    return 1 - total / n if n - total > 3 * math.sqrt(variance) else None


def _missing_notes(given: Predictions) -> Iterable[Note]:
    parts, left_out = given.reading.parts, given.reading.left_out()
    if left_out.weightless:
        yield Note("absent", f"{_rows(left_out.weightless)} of weight 0 count as absent.")
    if left_out.neither:
        yield Note(
            "neither",
            f"{_rows(left_out.neither)} left out: the label there is neither {parts.positive!r} "
            f"nor {parts.negative!r}.",
        )
    if left_out.drawn:
        yield Note(
            "draws",
            f"{_rows(left_out.drawn)} {'is a draw' if left_out.drawn == 1 else 'are draws'}: the "
            f"label there is neither {parts.positive!r} nor {parts.negative!r}. Whatever is "
            f"decided there is half right, and no model can have an accuracy of 1.",
        )
    done = {
        "omit": "The rows are left out, for all models.",
        "abstain": "The model counts as undecided there: half right, without confidence.",
    }
    if parts.decision.is_confidence:
        done["abstain"] = "The decision counts as half right there, below every confidence."
    for (part, name), count in left_out.missing.items():
        if count:
            yield Note(
                "missing",
                f"The {part} column {name!r} has no value in {_rows(count)}. "
                f"{done[parts.nan_policy]}",
            )


def _split_notes(given: Predictions) -> Iterable[Note]:
    """Say in how many rows votes are split; draws by name have a note of their own."""
    share = given.models[0].scored[0]
    if given.reading.parts.ties == "half" or given.models[0].is_confidence:
        return
    split = int(((share > 0) & (share < 1)).sum()) if given.models[0].is_split else 0
    if split:
        even = int((share == 0.5).sum())
        draws = f", evenly in {even} of them" if even else ""
        yield Note(
            "split votes",
            f"In {_rows(split)} of {share.size} the votes are split{draws}: a decision there is "
            f"right by the share of the votes that it agrees with, and no model can have an "
            f"accuracy of 1.",
        )


def _size_notes(given: Predictions) -> Iterable[Note]:
    if given.n < FEW:
        yield Note(
            "few",
            f"Only {given.n} sample{'s count' if given.n > 1 else ' counts'}: the intervals are "
            f"wide, and with fewer than {FEW} samples not to be taken literally.",
        )
    table = given.reading.table
    if table.groups.keys is None:
        return
    size = np.bincount(table.code, minlength=table.groups.n_groups)
    small = np.flatnonzero(size < FEW)
    if small.size:
        keys = given.reading.keys()
        named = ", ".join(
            f"{' / '.join(map(key_text, keys[row]))} ({size[row]})"
            for row in small[:_NAMED].tolist()
        )
        more = f" and {small.size - _NAMED} more" if small.size > _NAMED else ""
        yield Note(
            "few in subgroup",
            f"{small.size} of {size.size} subgroups have fewer than {FEW} samples: {named}{more}. "
            f"By chance alone, small ones are often the best and the worst of a table.",
        )


def _undecided_notes(model: Scored) -> Iterable[Note]:
    count = int((~model.decided).sum())
    if count:
        yield Note(
            "undecided",
            f"{_rows(count)} of {model.signed.size} have a score of {model.name!r} at the "
            f"threshold, or none: they are undecided and count half.",
        )


def _tie_notes(model: Scored) -> Iterable[Note]:
    _, count = np.unique(model.confidence, return_counts=True)
    tied = int(count[count > 1].sum())
    if tied > _TIED * model.signed.size:
        share = tied / model.signed.size
        yield Note(
            "ties",
            f"{percent(share)} of the samples share their confidence by {model.name!r} with "
            f"others; there are {count.size} different confidences. Ties count half, and a "
            f"threshold decides them together.",
        )


def _naming_notes(given: Predictions, headlines: Sequence[Headline]) -> Iterable[Note]:
    label = given.models[0].scored[0]
    if (label == 1).all() or not label.any():
        side = "positive" if label.any() else "negative"
        yield Note(
            "one class",
            f"All labels are {side}: AUROC has no value. The other metrics do not need both.",
        )
        return
    odd = [found for found in headlines if _is_outside(found.auroc.value, found.namings)]
    if odd:
        named = "; ".join(
            f"of {found.name!r} {found.auroc.value:.3f} (random: {found.namings.low:.3f} to "
            f"{found.namings.high:.3f})"
            for found in odd
        )
        yield Note(
            "orientation",
            f"As the sides are named in these data, AUROC is not what random namings give: "
            f"{named}. The naming carries information, or follows a rule: do not compare this "
            f"AUROC with others. LxCIM is not affected.",
        )


def _is_outside(value: float, drawn: Namings) -> bool:
    if not drawn.draws or drawn.low <= value <= drawn.high:
        return False
    # The range of few draws is narrow, so the value must also be far from their mean.
    return abs(value - drawn.mean) > 3 * drawn.std


def _mirror_notes(models: Sequence[Scored]) -> Iterable[Note]:
    for model in models:
        if model.is_confidence:
            return  # no side was named
        if model.is_split:
            # A mirror image has the other side, and the same confidence and credit.
            rows = np.column_stack((model.confidence, model.credit))[model.decided]
            place = np.unique(rows, axis=0, return_inverse=True)[1]
            share = _unlikely_share(place.reshape(-1), model.signed[model.decided] > 0)
        else:
            share = mirrored_share(model.samples[1], model.scored[0])
        if share is not None:
            named = model.clusters is not None
            yield Note(
                "mirrored",
                f"About {percent(share)} of the rows occur again as their mirror image (by "
                f"{model.name!r}): the same confidence, with the sides exchanged. That does not "
                f"change the value of LxCIM, but makes intervals too narrow by up to the square "
                f"root of 2"
                f"{', unless groups names the pairs' if named else ''}. Keep one of each pair, or "
                f"pass the pair's id as groups.",
            )
            return  # the other models see the same rows


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"
