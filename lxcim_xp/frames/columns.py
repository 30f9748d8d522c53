"""Which columns of a frame play which part, checked against the schema before any computation.

Nothing here looks at values. ``_frame_samples`` reads the columns of eager frames, ``_frame_plan``
turns them into expressions.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from lxcim_xp._checks import check_level
from lxcim_xp._engines import METRICS, Engine, kind_of_frame
from lxcim_xp._margins import NAN_POLICIES, one_decision
from lxcim_xp.decision import Decision

ONES = "__lx_label"  # the labels of margins, which are right when they are positive

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
    all_rows: bool = True  # whether the rows at hand are all of the frame

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
) -> Parts:
    """Check names, dtypes and options, and return them together."""
    if nan_policy not in NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {NAN_POLICIES}; found {nan_policy!r}.")
    if not isinstance(threshold, int | float):
        raise TypeError(
            f"threshold must be a number; found {type(threshold).__name__}. Subtract a threshold "
            f"that varies from the score beforehand."
        )
    named = [("label", label), *(("score", score) for score in scores)]
    optional = [("weight", weight), ("groups", groups)]
    named += [(part, name) for part, name in optional if name is not None]
    for part, name in named:
        _check_name(schema, part, name)
    keys = check_keys(engine, schema, by, outputs)
    _check_label(schema[label], label, positive)
    for part, name in [*(("score", score) for score in scores), ("weight", weight)]:
        if name is not None:
            _check_number(schema[name], part, name)
    chosen = one_decision(threshold, decision)
    return Parts(label, tuple(scores), weight, keys, groups, positive, chosen, nan_policy)


def check_keys(
    engine: Engine, schema: Mapping[str, Any], by: Any, outputs: Iterable[str]
) -> tuple[str, ...]:
    """Return the names of the key columns, which must differ from those of the result."""
    keys = (by,) if isinstance(by, str) else tuple(by)
    for key in keys:
        _check_name(schema, "by", key)

    def same(name: str) -> str:
        return name.lower() if engine.folds_case else name

    if len({same(key) for key in keys}) < len(keys):
        raise ValueError(f"by must name each column once; found {list(keys)}.")
    taken = {same(name): name for name in outputs}
    for key in keys:
        if same(key) in taken:
            raise ValueError(
                f"by={key!r} has the name of the result's column {taken[same(key)]!r}. Rename the "
                f"column of {kind_of_frame(engine)} first."
            )
    return keys


def check_state(schema: Mapping[str, Any], columns: Iterable[str]) -> None:
    """Refuse a frame that has not the columns of a sketch, or holds no numbers in them."""
    for name in columns:
        if name not in schema or not _is_number(schema[name]):
            found = f"dtype {schema[name]}" if name in schema else f"columns {list(schema)}"
            raise ValueError(
                f"a sketch has numbers in its column {name!r}; found {found}. Make it with "
                f"frames.sketch."
            )


def check_metrics(
    metrics: Any, *, level: float | None = None, known: tuple[str, ...] = METRICS
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


def _check_name(schema: Mapping[str, Any], part: str, name: Any) -> None:
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


def _check_label(dtype: Any, name: str, positive: Any) -> None:
    found = f"label column {name!r} has dtype {dtype}"
    if isinstance(dtype, _WORDS):
        if not isinstance(positive, str):
            told = "no positive=" if positive is None else f"positive={positive!r}"
            raise TypeError(f"{found} and {told} was given. Pass the word that is positive.")
    elif isinstance(dtype, nw.Boolean):
        if positive is not None and not isinstance(positive, bool):
            raise TypeError(f"{found}; found positive={positive!r}. Leave positive out.")
    elif _is_number(dtype):
        if positive is not None and not isinstance(positive, int | float):
            raise TypeError(f"{found}; found positive={positive!r}. Pass a number.")
    elif not isinstance(dtype, nw.Object):
        raise TypeError(f"{found}. It must hold booleans, 0/1, -1/+1, or words with positive=.")


def _check_number(dtype: Any, part: str, name: str) -> None:
    if not (_is_number(dtype) or isinstance(dtype, nw.Boolean)):
        raise TypeError(
            f"{part} column {name!r} must hold numbers; found dtype {dtype}. Cast it to Float64."
        )


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric())
