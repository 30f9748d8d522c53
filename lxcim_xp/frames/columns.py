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

_WORDS = (nw.String, nw.Categorical, nw.Enum)


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

    @property
    def columns(self) -> list[str]:
        """All columns that are needed, each once."""
        named = [self.label, *self.scores, self.weight, *self.by, self.clusters]
        return list(dict.fromkeys(name for name in named if name is not None))


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
    threshold = _plain(threshold)
    if threshold is not None and not isinstance(threshold, int | float):
        raise TypeError(
            f"threshold must be a number; found {type(threshold).__name__}. Subtract a threshold "
            f"that varies from the score beforehand."
        )
    named = [("label", label), *(("score", score) for score in scores)]
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
    for part, name in [*(("score", score) for score in scores), ("weight", weight)]:
        if name is not None:
            check_number(schema[name], part, name)
    chosen = one_decision(threshold, decision)
    for name in scores:
        _check_threshold(schema[name], name, chosen.threshold)
    return Parts(
        label,
        tuple(scores),
        weight,
        keys,
        groups,
        positive,
        chosen,
        nan_policy,
        negative,
        ties,
        by_default=decides and threshold is None and decision is None,
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
        raise TypeError(f"{found}. It must hold booleans, 0/1, -1/+1, or words with positive=.")


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
