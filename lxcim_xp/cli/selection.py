"""From the options of a command to the rows that it is about.

Options name columns. Here they are checked against the file, the rows are read, and what options
say about labels, thresholds and missing values is turned into arguments of ``lxcim_xp.frames``.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, NamedTuple

import polars as pl
import typer

from lxcim_xp._samples.checks import PROBABILITIES_AT_ZERO, seem_misread
from lxcim_xp._samples.decisions import Decision, absolute
from lxcim_xp._samples.errors import SAY_HOW_SCORES_MIRROR, Complaint, Given, Wording
from lxcim_xp.cli.files import (
    BadData,
    Source,
    check_column,
    in_order,
    is_wide,
    open_source,
    place,
    schema_of,
    with_rows,
)
from lxcim_xp.cli.formats import TEXT
from lxcim_xp.cli.output import say
from lxcim_xp.decision import confidence, probability
from lxcim_xp.frames.reading import name_of_score

_WORDS = (pl.String, pl.Categorical, pl.Enum)


class Chosen(NamedTuple):
    """A file and the parts that its columns play."""

    source: Source
    label: str | None  # None: the scores are margins
    scores: tuple[str | tuple[str, str], ...]  # columns, or pairs of columns to subtract
    weight: str | None
    by: tuple[str, ...]
    groups: str | None
    positive: Any
    negative: Any
    ties: str
    decision: Decision
    nan_policy: str
    numbers: dict[str, str]  # columns that must hold numbers, with the remedy if they do not
    words: tuple[str, ...]  # columns that are text, whatever it looks like
    told: bool  # whether an option says how to decide
    way: str  # the option that names the scores

    @property
    def names(self) -> tuple[str, ...]:
        """What to call the models."""
        return tuple(map(name_of_score, self.scores))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the scores are made of, each once."""
        columns = [name for score in self.scores for name in _as_tuple(score)]
        return tuple(dict.fromkeys(columns))


def choose(given: Mapping[str, Any]) -> Chosen:
    """Check the options of a command against each other and against the columns of the file."""
    threshold = given.get("threshold")
    positive, negative = given.get("positive"), given.get("negative")
    ties = str(given.get("ties", "error"))
    weight, groups, is_probability = (
        given.get(name) for name in ("weight", "groups", "probability")
    )
    by = _as_tuple(given.get("by"))
    way, scores = _scores(given)
    label = given.get("correct") if way == "--confidence" else given.get("label")
    if way == "--score" and label is None:
        raise typer.BadParameter(
            "scores need the column of labels. Pass --label, or --margin for margins, which are "
            "right when they are positive.",
            param_hint="--label",
        )
    for name in _NEEDLESS[way]:
        if given.get(name) not in (None, False):
            raise typer.BadParameter(
                f"{_KINDS_OF_SCORES[way]} need no --{name}. Leave it out.", param_hint=f"--{name}"
            )
    if threshold is not None and way != "--score":
        raise typer.BadParameter(
            f"{_KINDS_OF_SCORES[way]} need no --threshold. Leave it out.", param_hint="--threshold"
        )
    if is_probability and threshold is not None:
        raise typer.BadParameter(
            "probabilities are decided at one half. Leave out --threshold.",
            param_hint="--probability",
        )
    if negative is not None and (positive is None or positive == negative):
        raise typer.BadParameter(
            "it names the other side of --positive: pass both, with different labels.",
            param_hint="--negative",
        )
    if ties != "error" and negative is None:
        raise typer.BadParameter(
            "it is about labels on neither side: name the two with --positive and --negative.",
            param_hint="--ties",
        )
    source = open_source(given["file"])
    schema = schema_of(source)
    for option in (*_PARTS, "weight", "by", "groups"):
        for name in _as_tuple(given.get(option)):
            check_column(source, schema, f"--{option}", name)
            _check_kind(source, schema[name], option, name)
    columns = [name for score in scores for name in _as_tuple(score)]
    numbers = dict.fromkeys((*columns, *_as_tuple(weight)), "")
    if label is not None and positive is None and not _is_label(schema[label]):
        numbers[label] = _REMEDY
    # Keys are compared as written, so 1 and 1.0 differ; labels, scores and weights are read as
    # numbers first.
    keys = dict.fromkeys((*by, *_as_tuple(groups)))
    words = [name for name in keys if source.form == "csv" or is_wide(schema[name])]
    words = [name for name in words if name not in numbers and name != label]
    if label is not None and positive is not None:
        words += [label] if source.form == "csv" or schema[label] == pl.Null else []
    return Chosen(
        source,
        label,
        scores,
        weight,
        tuple(dict.fromkeys(by)),
        groups,
        _label_value(source, schema, label, "--positive", positive),
        _label_value(source, schema, label, "--negative", negative),
        ties,
        _decision(way, bool(is_probability), threshold),
        str(given.get("missing", "raise")),
        numbers,
        tuple(words),
        is_probability or threshold is not None or way != "--score",
        way,
    )


_PARTS = ("label", "score", "margin", "chosen", "rejected", "correct", "confidence")
_KINDS_OF_SCORES = {
    "--score": "scores",
    "--margin": "margins",
    "--chosen": "pairs of columns",
    "--confidence": "confidences",
}
# Options that a way to name the scores has no use for.
_NEEDLESS = {
    "--score": ("correct",),
    "--margin": ("label", "positive", "negative", "probability", "correct"),
    "--chosen": ("label", "positive", "negative", "probability", "correct"),
    "--confidence": ("label", "probability"),
}


def _scores(given: Mapping[str, Any]) -> tuple[str, tuple[str | tuple[str, str], ...]]:
    """Return the option that names the scores, and the scores."""
    score, margin, chosen, rejected, confidence = (
        _as_tuple(given.get(name))
        for name in ("score", "margin", "chosen", "rejected", "confidence")
    )
    ways = {
        "--score": score,
        "--margin": margin,
        "--chosen": chosen or rejected,
        "--confidence": confidence,
    }
    named = [way for way, columns in ways.items() if columns]
    correct = given.get("correct")
    if len(named) > 1 or not (named or correct):
        raise typer.BadParameter(
            "name columns of scores with --score, of margins with --margin, pairs of columns with "
            "--chosen and --rejected, or confidences with --confidence and --correct: one of the "
            "four.",
            param_hint=named[-1] if named else "--score",
        )
    way = named[0] if named else "--confidence"
    if way == "--confidence" and not (confidence and correct):
        raise typer.BadParameter(
            "confidences, and the column that says which decisions were right, need each other. "
            "Pass --confidence and --correct.",
            param_hint="--correct" if confidence else "--confidence",
        )
    if way != "--chosen":
        return way, tuple(dict.fromkeys(ways[way]))
    if len(chosen) != len(rejected):
        raise typer.BadParameter(
            f"{len(chosen)} of --chosen and {len(rejected)} of --rejected were given. Each model "
            f"needs one of both, in the same order.",
            param_hint="--rejected" if len(chosen) > len(rejected) else "--chosen",
        )
    pairs = tuple(dict.fromkeys(zip(chosen, rejected, strict=True)))
    for first, second in pairs:
        if first == second:
            raise typer.BadParameter(
                f"{first!r} is the column of --chosen too, and the difference would be 0.",
                param_hint="--rejected",
            )
    return way, pairs


def _decision(way: str, is_probability: bool, threshold: float | None) -> Decision:
    if way == "--confidence":
        return confidence()
    return probability() if is_probability else absolute(threshold or 0.0)


def with_swapped(chosen: Chosen, swapped: str) -> Chosen:
    """Return the choice with one more column to read: the scores of the other order."""
    if chosen.way not in ("--score", "--margin") or len(chosen.scores) != 1:
        raise typer.BadParameter(
            f"it is the other order of one --score or --margin; found {len(chosen.scores)} "
            f"{_KINDS_OF_SCORES[chosen.way]}.",
            param_hint="--swapped",
        )
    schema = schema_of(chosen.source)
    check_column(chosen.source, schema, "--swapped", swapped)
    _check_kind(chosen.source, schema[swapped], "swapped", swapped)
    return chosen._replace(scores=(*chosen.scores, swapped), numbers=chosen.numbers | {swapped: ""})


_REMEDY = (
    " Say which word is positive with --positive, and if there are more than two, which is "
    "negative with --negative."
)
_KINDS: dict[Any, str] = {
    pl.List: "lists",
    pl.Array: "lists",
    pl.Struct: "objects with fields",
    pl.Date: "dates",
    pl.Datetime: "dates with times",
    pl.Time: "times of day",
    pl.Duration: "durations",
    pl.Binary: "bytes",
}


def _check_kind(source: Source, dtype: Any, option: str, name: str) -> None:
    """Refuse a column of values that are neither numbers nor words, unless it holds keys."""
    if dtype.is_nested() or not (
        option in ("by", "groups") or dtype.is_numeric() or dtype in (*_WORDS, pl.Boolean, pl.Null)
    ):
        found = _KINDS.get(type(dtype), "values of another kind")
        labels = dict.fromkeys(("label", "correct"), "labels")
        wanted = {**labels, "by": "keys", "groups": "keys"}.get(option, "numbers")
        raise BadData(
            f"{source.name}: --{option} {name!r} must hold {wanted}, one in each row; found "
            f"{found}. Name another column, or make one of it."
        )


def _is_label(dtype: Any) -> bool:
    """Say whether values can be labels as they are."""
    return dtype == pl.Boolean or (dtype.is_numeric() and not is_wide(dtype))


def _as_tuple(value: Any) -> tuple[str, ...]:
    """Return the values of an option that may be given once, several times or not at all."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def rows_of(
    chosen: Chosen, use: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None
) -> pl.DataFrame:
    """Return the rows in memory, or what ``use`` makes of them on the way."""
    needed = [chosen.label, *chosen.columns, chosen.weight, *chosen.by, chosen.groups]
    columns = list(dict.fromkeys(name for name in needed if name is not None))
    numbers = {name: remedy for name, remedy in chosen.numbers.items() if name in columns}
    rows = with_rows(chosen.source, columns, numbers, chosen.words, use or (lambda rows: rows))
    if not rows.height:
        raise BadData(f"{chosen.source.name} has no rows.")
    texts = [name for name in chosen.by if rows.schema.get(name) == pl.String]
    if chosen.source.form in TEXT or chosen.words:
        rows = in_order(rows, texts)
    if use is None and chosen.label is not None and not chosen.told:
        for name in chosen.names:
            if seem_misread(rows[name].cast(pl.Float64).to_numpy(), chosen.decision):
                remark = _OptionWords().say(PROBABILITIES_AT_ZERO, {"name": name})
                say(f"{remark} Say so with --threshold 0.")
    return rows


def keywords(chosen: Chosen) -> dict[str, Any]:
    """Return the arguments of the functions of ``frames``, except for the scores."""
    return {
        "label": chosen.label,
        "weight": chosen.weight,
        "by": chosen.by,
        "decision": chosen.decision,
        "positive": chosen.positive,
        "negative": chosen.negative,
        "ties": chosen.ties,
        "nan_policy": chosen.nan_policy,
    }


def model_column(chosen: Chosen) -> str:
    """Return the name of the column that names the model, which no key may have."""
    for name in ("model", "score", "column"):
        if name not in chosen.by:
            return name
    raise typer.BadParameter(
        "the result has a column that names the model: rename one of these.", param_hint="--by"
    )


def each_model(chosen: Chosen) -> Iterator[Chosen]:
    """Yield the same choice for each model alone."""
    for score in chosen.scores:
        yield chosen._replace(scores=(score,))


class _OptionWords(Wording):
    """What the command line calls the arguments of the library, and the rows of a file."""

    instead: ClassVar[Mapping[str, str]] = {SAY_HOW_SCORES_MIRROR: "Pass another {threshold:=}."}

    def __init__(self, source: Source | None = None) -> None:
        self.source = source

    def argument(self, name: str) -> str:
        return _ARGUMENTS.get(name, name)

    def option(self, name: str, value: str = "") -> str:
        if (name, value) == ("decision", "probability()"):
            return "--probability"
        return f"--{_OPTIONS.get(name, name)} {value.strip(_QUOTE)}".rstrip()

    def given(self, fact: Any) -> Any:
        # Quotes tell what comes from a file from the words of the message.
        return f"{self.option(fact.name)} {fact.value!r}" if isinstance(fact, Given) else fact

    def row(self, row: int) -> str:
        return super().row(row) if self.source is None else f"in {place(self.source, row)}"


_ARGUMENTS = {"frame": "the file", "groups": "--groups", "threshold": "--threshold"}
_OPTIONS = {"nan_policy": "missing"}  # options with another name than the argument
_QUOTE = "'"


@contextmanager
def library_errors(chosen: Chosen | None = None) -> Iterator[None]:
    """Turn errors of the library about values into ``BadData``, in terms of options and lines."""
    try:
        yield
    except (ValueError, TypeError) as error:
        source = None if chosen is None else chosen.source
        message = str(error)
        if isinstance(error, Complaint):
            message = error.worded(_OptionWords(source))
        raise BadData(message if source is None else f"{source.name}: {message}") from error


def _label_value(
    source: Source, schema: dict[str, Any], label: str | None, option: str, value: str | None
) -> Any:
    """Return a label in the type of its column."""
    if label is None or value is None or source.form == "csv":
        return value
    if schema[label] in (*_WORDS, pl.Null):
        return value
    if schema[label] == pl.Boolean:
        if value.lower() in ("true", "false"):
            return value.lower() == "true"
    else:
        for kind in (int, float):  # int first, which keeps all digits
            with suppress(ValueError):
                return kind(value)
    values = "true and false" if schema[label] == pl.Boolean else "numbers"
    raise typer.BadParameter(
        f"column {label!r} holds {values}; found {value!r}.", param_hint=option
    )
