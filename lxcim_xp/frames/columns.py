"""Which column plays which part, checked against the schema before anything is computed.

Nothing here looks at values. ``read_write`` then reads the columns of eager frames, and ``query``
turns those of lazy frames into expressions.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._metric_table import IN_FRAMES
from lxcim_xp._samples.checks import check_level, check_sides
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.errors import BadValue, Given
from lxcim_xp._samples.samples import NAN_POLICIES, one_decision
from lxcim_xp.frames.engines import Engine, kind_of_frame

ONES = "__lx_label"  # the label column of margins: all ones, since a positive margin is right
_WORDS = (nw.String, nw.Categorical, nw.Enum)


class Difference(NamedTuple):
    """A score that is the difference of two columns, under a name of its own."""

    name: str
    first: str
    second: str


class Parts(NamedTuple):
    """The columns of a call by the part they play, and what to make of their values."""

    label: str
    scores: tuple[str, ...]
    weight: str | None
    by: tuple[str, ...]
    clusters: str | None
    positive: Any
    decision: Decision
    nan_policy: str
    negative: Any = None  # the negative label, if it was named; other labels are then neither
    ties: str = "error"  # what to do with rows whose label is neither
    all_rows: bool = True  # False for one partition of a frame
    by_default: bool = False  # whether neither threshold nor decision was given
    differences: tuple[Difference, ...] = ()  # the scores that are made of two columns

    @property
    def columns(self) -> list[str]:
        """All columns that are needed of the frame, each once."""
        made = {each.name: (each.first, each.second) for each in self.differences}
        scores = [name for score in self.scores for name in made.get(score, (score,))]
        label = None if self.label == ONES else self.label
        named = [label, *scores, self.weight, *self.by, self.clusters]
        return list(dict.fromkeys(name for name in named if name is not None))

    def schema(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of the frame with the columns that are made from others."""
        made: dict[str, Any] = {each.name: nw.Float64() for each in self.differences}
        return {**given, **({ONES: nw.Int64()} if self.label == ONES else {}), **made}


def parts_of(
    engine: Engine,
    schema: Mapping[str, Any],
    *,
    label: Any,
    scores: Sequence[Any],
    weight: Any,
    by: Any,
    groups: Any,
    positive: Any,
    threshold: Any,
    decision: Decision | None,
    nan_policy: str,
    outputs: Iterable[str],
    negative: Any = None,
    ties: str = "error",
    decides: bool = False,
) -> Parts:
    """Check names, dtypes and options, and return them together.

    If asked to, remember that threshold and decision were left out, so that a warning may follow.
    """
    if nan_policy not in NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {NAN_POLICIES}; found {nan_policy!r}.")
    if label is None:
        _check_no_sides(positive, negative, ties, decision)
        schema, label = {**schema, ONES: nw.Int64()}, ONES
    threshold = _plain(threshold)
    if threshold is not None and not isinstance(threshold, int | float):
        raise TypeError(
            f"threshold must be a number; found {type(threshold).__name__}. Subtract a threshold "
            f"that varies from the score beforehand."
        )
    pairs = [_pair_of(score) for score in scores]
    differences: dict[tuple[str, ...], Difference] = {
        pair: Difference(" - ".join(pair), *pair) for pair in pairs if len(pair) == 2
    }
    names = [name for pair in pairs for name in pair]
    named = [("label", label), *(("score", name) for name in names)]
    optional = [("weight", weight), ("groups", groups)]
    named += [(part, name) for part, name in optional if name is not None]
    for part, name in named:
        check_name(engine, schema, part, name)
    keys = check_keys(engine, schema, by, outputs)
    positive, negative = (_plain(value) for value in (positive, negative))
    check_sides(positive, negative, ties)
    _check_label(schema[label], label, "positive", positive)
    if negative is not None:
        _check_label(schema[label], label, "negative", negative)
    positive, negative = (_label_like(schema[label], value) for value in (positive, negative))
    for part, name in [*(("score", name) for name in names), ("weight", weight)]:
        if name is not None:
            check_number(schema[name], part, name)
    chosen = one_decision(threshold, decision)
    for pair in pairs:
        if len(pair) == 1:
            _check_threshold(schema[pair[0]], pair[0], chosen.threshold)
        elif chosen.domain is not None:
            raise ValueError(
                f"score={pair!r} is a difference, and {differences[pair].name!r} no probability. "
                f"Leave decision= out, or pass one column."
            )
    for made in differences.values():
        if made.name in (label, *names, weight, *keys, groups):
            raise ValueError(
                f"score={(made.first, made.second)!r} makes a column {made.name!r}, which plays "
                f"another part already. Rename that one."
            )
    return Parts(
        label,
        tuple(map(name_of_score, scores)),
        weight,
        keys,
        groups,
        positive,
        chosen,
        nan_policy,
        negative,
        ties,
        by_default=decides and threshold is None and decision is None,
        differences=tuple(differences.values()),
    )


def name_of_score(score: Any) -> str:
    """Return what to call a score: a column, or the difference of two."""
    return " - ".join(_pair_of(score))


def _pair_of(score: Any) -> tuple[str, ...]:
    """Return the one or two columns that a score is made of."""
    if isinstance(score, tuple | list):
        if len(score) != 2 or not all(isinstance(name, str) for name in score):
            raise ValueError(
                f"score must be the name of a column, or a pair of names whose difference is the "
                f"score; found {score!r}."
            )
        if score[0] == score[1]:
            raise ValueError(f"score={score!r} names one column twice: its difference is 0.")
        return tuple(score)
    return (score,)


def _check_no_sides(positive: Any, negative: Any, ties: str, decision: Decision | None) -> None:
    """Refuse what only labels have, if there are none."""
    for name, value in (("positive", positive), ("negative", negative)):
        if value is not None:
            raise ValueError(
                f"{name}={value!r} says which label is {name}, and label=None that there are none. "
                f"Pass one of them."
            )
    if ties != "error":
        raise ValueError(f"ties={ties!r} is about labels, and label=None says there are none.")
    if decision is not None and getattr(decision, "is_confidence", False):
        raise ValueError(
            "decision=confidence() needs label=, which says whether decisions were right. Margins "
            "say so by their sign: leave decision= out."
        )


def check_keys(
    engine: Engine, schema: Mapping[str, Any], by: Any, outputs: Iterable[str]
) -> tuple[str, ...]:
    """Return the names of the key columns, which no other column of the result may have."""
    if by is None:
        return ()
    keys = tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
    for key in keys:
        check_name(engine, schema, "by", key)

    def same(name: str) -> str:
        return name.lower() if engine.folds_case else name

    if len({same(key) for key in keys}) < len(keys):
        raise ValueError(f"by must name each column once; found {list(keys)}.")
    taken = {same(name): name for name in outputs}
    for key in keys:
        if same(key) in taken:
            raise BadValue(
                Given("by", key),
                "has the name of the result's column {column!r}",
                "Rename the column.",
                column=taken[same(key)],
            )
    return keys


def check_state(schema: Mapping[str, Any], columns: Iterable[str]) -> None:
    """Refuse a frame that lacks the columns of a sketch, or whose columns hold no numbers."""
    for name in columns:
        if name not in schema or not _is_number(schema[name]):
            found = f"dtype {schema[name]}" if name in schema else f"columns {list(schema)}"
            raise ValueError(
                f"a sketch has numbers in its column {name!r}; found {found}. Make it with "
                f"frames.sketch."
            )


def check_metrics(
    metrics: Any, *, level: float | None = None, known: tuple[str, ...] = IN_FRAMES
) -> tuple[str, ...]:
    """Return the names of metrics, each once, and check the level of their intervals."""
    names = (metrics,) if isinstance(metrics, str) else tuple(dict.fromkeys(metrics))
    for name in names:
        if name not in known:
            raise ValueError(f"metrics must be among {known}; found {name!r}.")
    if not names:
        raise ValueError(f"metrics must name at least one of {known}; found none.")
    if level is not None:
        check_level(level)
    return names


def check_name(engine: Engine, schema: Mapping[str, Any], part: str, name: Any) -> None:
    """Refuse what is no column, and names that may be several columns."""
    if not isinstance(name, str):
        raise TypeError(
            f"{part} must be the name of a column; found {type(name).__name__}. Functions of "
            f"arrays are in lxcim_xp itself."
        )
    if name not in schema:
        by_lower_case = {column.lower(): column for column in schema}
        near = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.0)
        nearest = f" The nearest name is {by_lower_case[near[0]]!r}." if near else ""
        raise ValueError(f"{part}={name!r} is not a column of the frame.{nearest}")
    if engine.folds_case:
        for other in schema:
            if other != name and other.lower() == name.lower():
                raise ValueError(
                    f"{part}={name!r} may be the column {other!r} too, because case does not count "
                    f"in names of {kind_of_frame(engine)}. Rename one of them first."
                )


def _check_label(dtype: Any, name: str, side: str, value: Any) -> None:
    found = f"label column {name!r} has dtype {dtype}"
    if isinstance(dtype, _WORDS):
        if not isinstance(value, str):
            told = f"no {side}=" if value is None else f"{side}={value!r}"
            raise TypeError(f"{found} and {told} was given. Pass the word that is {side}.")
    elif isinstance(dtype, nw.Boolean):
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"{found}; found {side}={value!r}. Leave {side} out.")
    elif _is_number(dtype):
        if value is not None and not isinstance(value, int | float):
            raise TypeError(f"{found}; found {side}={value!r}. Pass a number.")
    elif not isinstance(dtype, nw.Object):
        raise TypeError(
            f"{found}. It must hold booleans, 0/1, -1/+1, shares of votes, or words with positive=."
        )


def _label_like(dtype: Any, value: Any) -> Any:
    """Return a label in the form in which every library compares it with a column."""
    if value is None or not _is_number(dtype):
        return value
    if dtype == nw.Float32:
        return float(np.float32(value))  # rounded as thresholds are
    value = int(value) if isinstance(value, bool) else value
    if isinstance(value, float) or not dtype.is_integer():
        return value
    bits = int("".join(filter(str.isdigit, str(dtype))))
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1))
    if dtype.is_unsigned_integer():
        low, high = 0, 2**bits
    # Some libraries fail at an integer too large for the column, but none fails at a float.
    return value if low <= value < high else float(value)


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python one."""
    return value.item() if isinstance(value, np.generic) else value


def _check_threshold(dtype: Any, name: str, threshold: Any) -> None:
    """Refuse a threshold that is infinite in the dtype of the scores."""
    largest = float(np.finfo(np.float32 if dtype == nw.Float32 else np.float64).max)
    if isinstance(threshold, int | float) and abs(threshold) > largest:
        raise BadValue(
            "threshold",
            "must be finite among the scores; found {threshold!r} for the column {name!r} of "
            "{dtype}",
            "Pass the score that decides.",
            threshold=threshold,
            name=name,
            dtype=str(dtype),
        )


def check_number(dtype: Any, part: str, name: str) -> None:
    """Refuse a column that holds neither numbers nor booleans."""
    if not (_is_number(dtype) or isinstance(dtype, nw.Boolean)):
        raise TypeError(
            f"{part} column {name!r} must hold numbers; found dtype {dtype}. Cast it to Float64."
        )


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric())
