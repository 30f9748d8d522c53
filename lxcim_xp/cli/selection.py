"""From the options of a command to the rows that it is about.

Options name columns; here they are checked against the file, the rows are read, and what is said
about labels, thresholds and missing values is put into the words of ``lxcim_xp.frames``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import polars as pl
import typer

from lxcim_xp._cli_files import BadData, Source, check_column, open_source, schema_of, with_rows
from lxcim_xp._cli_output import say
from lxcim_xp._data_notes import probability_notes
from lxcim_xp._engines import engine_of
from lxcim_xp._engines import schema_of as schema_of_frame
from lxcim_xp._frame_columns import ONES, Parts, parts_of
from lxcim_xp.decision import Decision, absolute, probability

_WORDS = (pl.String, pl.Categorical, pl.Enum)


class Chosen(NamedTuple):
    """A file and the parts that its columns play."""

    source: Source
    label: str | None  # None: the scores are margins
    scores: tuple[str, ...]
    weight: str | None
    by: tuple[str, ...]
    groups: str | None
    positive: Any
    decision: Decision
    nan_policy: str
    numbers: dict[str, str]  # columns that must hold numbers, with the remedy
    words: tuple[str, ...]


def choose(given: Mapping[str, Any]) -> Chosen:
    """Check the options of a command against each other and against the columns of the file."""
    label, positive, threshold = (given.get(name) for name in ("label", "positive", "threshold"))
    weight, groups, is_probability = (
        given.get(name) for name in ("weight", "groups", "probability")
    )
    score, margin, by = (_several(given.get(name)) for name in ("score", "margin", "by"))
    if bool(score) == bool(margin):
        raise typer.BadParameter(
            "name columns of scores with --score, or columns of margins with --margin: one of the "
            "two.",
            param_hint="--score",
        )
    if score and label is None:
        raise typer.BadParameter(
            "scores need the column of labels. Pass --label, or --margin for margins, which are "
            "right when they are positive.",
            param_hint="--label",
        )
    for name in ("label", "positive", "threshold"):
        if margin and given.get(name) is not None:
            raise typer.BadParameter(
                f"margins need no --{name}. Leave it out.", param_hint=f"--{name}"
            )
    if is_probability and (threshold is not None or margin):
        raise typer.BadParameter(
            "probabilities are decided at one half. Leave out --threshold and --margin.",
            param_hint="--probability",
        )
    source = open_source(given["file"])
    schema = schema_of(source)
    for option in ("label", "score", "margin", "weight", "by", "groups"):
        for name in _several(given.get(option)):
            check_column(schema, f"--{option}", name)
    scores = tuple(dict.fromkeys((*score, *margin)))
    numbers = dict.fromkeys(scores, "")
    if weight is not None:
        numbers[weight] = ""
    words: tuple[str, ...] = ()
    if label is not None and positive is not None:
        words = (label,)
    elif label is not None and schema[label] in _WORDS:
        numbers[label] = " Say which word is positive with --positive."
    return Chosen(
        source,
        label,
        scores,
        weight,
        by,
        groups,
        _positive(source, schema, label, positive),
        probability() if is_probability else absolute(threshold or 0.0),
        str(given.get("missing", "raise")),
        numbers,
        words,
    )


def _several(value: Any) -> tuple[str, ...]:
    """Return the values of an option that may be given once, several times or not at all."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def rows_of(
    chosen: Chosen, use: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None
) -> pl.DataFrame:
    """Return the rows in memory, or what ``use`` makes of them on the way."""
    needed = [chosen.label, *chosen.scores, chosen.weight, *chosen.by, chosen.groups]
    columns = list(dict.fromkeys(name for name in needed if name is not None))

    def with_label(rows: pl.LazyFrame) -> pl.LazyFrame:
        if chosen.label is None:
            rows = rows.with_columns(pl.lit(1, pl.Int8).alias(ONES))
        return rows if use is None else use(rows)

    rows = with_rows(chosen.source, columns, chosen.numbers, chosen.words, with_label)
    if not rows.height:
        raise BadData(f"{chosen.source.name} has no rows.")
    if use is None and chosen.label is not None:
        scores = {name: rows[name].cast(pl.Float64).to_numpy() for name in chosen.scores}
        for note in probability_notes(scores, chosen.decision):
            say(_in_option_words(note.text))
    return rows


def keywords(chosen: Chosen) -> dict[str, Any]:
    """Return what the functions of ``frames`` are told about the columns, but for the scores."""
    return {
        "label": chosen.label or ONES,
        "weight": chosen.weight,
        "by": chosen.by,
        "decision": chosen.decision,
        "positive": chosen.positive,
        "nan_policy": chosen.nan_policy,
    }


def parts_for(chosen: Chosen, frame: nw.DataFrame[Any], outputs: Sequence[str]) -> Parts:
    """Return the same for functions that read samples themselves."""
    engine = engine_of(frame)
    return parts_of(
        engine,
        schema_of_frame(engine, frame),
        scores=list(chosen.scores),
        groups=chosen.groups,
        threshold=0.0,
        outputs=outputs,
        **keywords(chosen),
    )


@contextmanager
def library_errors(chosen: Chosen | None = None) -> Iterator[None]:
    """Turn errors of the library about values into bad data, in the words of the command line."""
    try:
        yield
    except (ValueError, TypeError) as error:
        name = "" if chosen is None else f"{chosen.source.name}: "
        raise BadData(f"{name}{_in_option_words(str(error))}") from error


def _in_option_words(message: str) -> str:
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    return message


_OPTIONS = {
    "nan_policy='omit'": "--missing omit",
    "nan_policy='abstain'": "--missing abstain",
    "decision=probability()": "--probability",
    "Pass positive=.": "Say which label is positive with --positive.",
    "positive=": "--positive ",
    "by=": "--by ",
    "level=": "--interval ",
}


def _positive(
    source: Source, schema: dict[str, Any], label: str | None, positive: str | None
) -> Any:
    """Return the positive label in the type of its column; a file of text has words."""
    if label is None or positive is None or source.form == "csv" or schema[label] in _WORDS:
        return positive
    if schema[label] == pl.Boolean and positive.lower() in ("true", "false"):
        return positive.lower() == "true"
    try:
        return float(positive)
    except ValueError:
        raise typer.BadParameter(
            f"column {label!r} holds {schema[label]}; found {positive!r}.", param_hint="--positive"
        ) from None
