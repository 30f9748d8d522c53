"""The options that commands share, each declared once, and how a command reads them.

The values that options can take are declared here too, so that help and completion can show them
without NumPy and polars.
"""

import math
import os
import sys
from collections import Counter
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand

from lxcim_xp._metric_table import METRICS


class Command(TyperCommand):
    """A command that refuses an option given twice if it can be given only once.

    Otherwise the last value would count, and all others would be lost without a word.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at the order in which parameters were given, before their values are read."""
        _, more, order = self.make_parser(ctx).parse_args(args=list(args))
        # Neither completion nor --help is the place for such an error.
        if not ctx.resilient_parsing and not any(parameter.is_eager for parameter in order):
            for parameter, times in Counter(order).items():
                if times > 1 and not getattr(parameter, "multiple", False):
                    raise typer.BadParameter(
                        f"it was given {times} times and can be given only once.",
                        ctx=ctx,
                        param_hint=parameter.opts[0],
                    )
            for argument in self.params:
                if more and argument.param_type_name == "argument":
                    raise _one_at_a_time(ctx, str(argument.metavar), more)
        return super().parse_args(ctx, args)


def _one_at_a_time(ctx: Any, what: str, more: list[str]) -> typer.BadParameter:
    found = " ".join(repr(word) for word in more[:3]) + (" ..." if len(more) > 3 else "")
    remedy = ""
    if what == "FILE":
        remedy = (
            " Join files first and pass the whole with -, or put Parquet files into a directory "
            "and pass that."
        )
    return typer.BadParameter(
        f"one at a time; found also {found}.{remedy}", ctx=ctx, param_hint=what
    )


class Missing(StrEnum):
    """What to do with a missing value."""

    raise_ = "raise"
    omit = "omit"
    abstain = "abstain"


class Ties(StrEnum):
    """What to do with a label that is neither positive nor negative."""

    error = "error"
    omit = "omit"
    half = "half"


class Metric(StrEnum):
    """The metrics that have intervals: those in frames, by the table of metrics."""

    lxcim = "lxcim"
    accuracy = "accuracy"
    audrc = "audrc"
    auroc = "auroc"


class StepMetric(StrEnum):
    """The metrics of the steps from one order to both."""

    lxcim = "lxcim"
    accuracy = "accuracy"


class Engine(StrEnum):
    """How a file is evaluated."""

    auto = "auto"
    memory = "memory"
    bounded = "bounded"


class Adjust(StrEnum):
    """How intervals and p-values are adjusted for the number of pairs."""

    holm = "holm"
    max_t = "max-t"
    none = "none"


class Kind(StrEnum):
    """The curves that can be drawn."""

    cumulative_accuracy = "cumulative-accuracy"
    accuracy_rate = "accuracy-rate"
    roc = "roc"
    symmetric_roc = "symmetric-roc"
    local_accuracy = "local-accuracy"


class Subject(StrEnum):
    """What a metric is a function of."""

    scores = "scores"
    confusion = "confusion"


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


def _complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of the file that was named earlier on the line."""
    # While an option waits for its value, the file is not yet told apart from other arguments.
    file = Path(str(ctx.params.get("file") or next(iter(ctx.args), "-")))
    # A shell that completes a line has no standard input to wait for, nor a pipe.
    if not (file.is_file() or file.is_dir()):
        return []
    from lxcim_xp.cli.files import open_source, schema_of

    try:
        names = schema_of(open_source(str(file)))
    except Exception:  # completion is no place to report what is wrong with the file
        return []
    return [name for name in names if name.startswith(incomplete)]


def _column(*names: str, help: str, panel: str = "Columns") -> Any:
    return typer.Option(
        *names,
        help=help,
        metavar="COLUMN",
        autocompletion=_complete_column,
        rich_help_panel=panel,
        show_default=False,
    )


def _finite(threshold: float | None) -> float | None:
    """Refuse a threshold that is not finite."""
    if threshold is not None and not math.isfinite(threshold):
        raise typer.BadParameter(f"{threshold} is not a finite number.")
    return threshold


File: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, Parquet, JSON lines or Arrow, by its ending or its content; - reads standard "
        "input.",
        show_default=False,
    ),
]
Label: TypeAlias = Annotated[
    str | None,
    _column(
        "--label",
        help="Labels: true/false, 0/1, -1/+1, shares of votes between 0 and 1, or anything with "
        "--positive.",
    ),
]
Scores: TypeAlias = Annotated[
    list[str] | None,
    _column(
        "--score",
        help="Scores of a model, which grow with the belief in the positive side; once for each "
        "model.",
    ),
]
Margins: TypeAlias = Annotated[
    list[str] | None,
    _column(
        "--margin",
        help="Margins of a model, right when positive, in place of labels and scores.",
    ),
]
ChosenScores: TypeAlias = Annotated[
    list[str] | None,
    _column(
        "--chosen",
        help="Scores of the right one of two, beside --rejected, in place of labels and scores: "
        "the difference is the margin; once for each model.",
    ),
]
RejectedScores: TypeAlias = Annotated[
    list[str] | None,
    _column("--rejected", help="Scores of the wrong one of two; in the order of --chosen."),
]
Correct: TypeAlias = Annotated[
    str | None,
    _column(
        "--correct",
        help="Which decisions were right (true/false, 0/1, or a share of the credit), beside "
        "--confidence.",
    ),
]
Confidences: TypeAlias = Annotated[
    list[str] | None,
    _column(
        "--confidence",
        help="Confidences, of any sign and scale, in place of scores; once for each method.",
    ),
]
First: TypeAlias = Annotated[
    str | None,
    _column("--first", help="Scores for A over B of the calls in which A stood first."),
]
Swapped: TypeAlias = Annotated[
    str | None,
    _column(
        "--swapped",
        help="Scores of the other calls, for whatever stood first there, which was B.",
    ),
]
Pair: TypeAlias = Annotated[
    str | None, _column("--pair", help="The pair of each row, where each call has a row.")
]
Order: TypeAlias = Annotated[
    str | None,
    _column("--order", help="One of two values; the smaller one stands for A first."),
]
CallScore: TypeAlias = Annotated[
    str | None,
    _column("--score", help="Scores where each call has a row: for whatever stood first."),
]
Weight: TypeAlias = Annotated[
    str | None, _column("--weight", help="Weights, finite and not negative.")
]
By: TypeAlias = Annotated[
    list[str] | None,
    _column("--by", help="Subgroups: one for each value; may be given several times."),
]
Groups: TypeAlias = Annotated[
    str | None,
    _column(
        "--groups",
        help="Clusters, when only clusters are independent; for intervals and guarantees.",
    ),
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="LABEL",
        help="The label that is positive; the one other label is negative.",
        rich_help_panel="Columns",
        show_default=False,
    ),
]
Negative: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--negative",
        metavar="LABEL",
        help="The label that is negative, beside --positive, where there are others.",
        rich_help_panel="Columns",
        show_default=False,
    ),
]
TiedLabels: TypeAlias = Annotated[
    Ties,
    typer.Option(
        "--ties",
        help="A label that is neither --positive nor --negative is an error, its row is left out, "
        "or it is a draw, half right whatever was decided.",
        rich_help_panel="Columns",
    ),
]
Threshold: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="SCORE",
        callback=_finite,
        help="The score at which the decision changes sides; 0 by default.",
        rich_help_panel="Decisions",
        show_default=False,
    ),
]
Probability: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--probability",
        help="Scores are probabilities: decide at one half, p and 1 - p being equally confident.",
        rich_help_panel="Decisions",
    ),
]
MissingValues: TypeAlias = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="A missing value is an error, a row to leave out, or, if it is the score, an "
        "undecided one.",
        rich_help_panel="Decisions",
    ),
]
Level: TypeAlias = Annotated[
    float,
    typer.Option("--interval", metavar="LEVEL", help="The level of the intervals."),
]
Shown: TypeAlias = Annotated[
    Format,
    typer.Option("--format", "-f", help="A table to read, or one for other programs."),
]


def output(help: str) -> Any:
    """Declare the file that a command writes."""
    return typer.Option("--output", "-o", metavar="PATH", help=help, show_default=False)


def check_output(path: Path, endings: tuple[str, ...], file: str) -> None:
    """Refuse an output file that cannot be written or is the input, before computing anything."""
    if path.suffix.lower() not in endings:
        raise typer.BadParameter(
            f"{str(path)!r} must end in one of {', '.join(endings)}.", param_hint="--output"
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(
            f"the directory {str(path.parent)!r} does not exist.", param_hint="--output"
        )
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a directory.", param_hint="--output")
    if path.exists() and os.path.samestat(path.stat(), _status(file)):
        raise typer.BadParameter(
            f"{str(path)!r} is the file to read, and would be lost. Choose another name.",
            param_hint="--output",
        )


def _status(file: str) -> os.stat_result:
    """Return the status of the file that an argument means, by whatever name or link."""
    try:
        return os.fstat(sys.stdin.fileno()) if file == "-" else Path(file).stat()
    except (AttributeError, OSError, ValueError):  # no such file; the reader will say so
        return os.stat_result([0] * 10)


def check_level(level: float) -> None:
    """Refuse a level that is not between 0 and 1."""
    if not 0 < level < 1:
        raise typer.BadParameter(
            f"{level} is not between 0 and 1. Pass 0.95 for intervals that hold 95 times in 100.",
            param_hint="--interval",
        )


def check_metrics(metrics: Collection[Metric], margin: object) -> None:
    """Refuse metrics that need labels if there are only margins."""
    for name in metrics:
        if margin and METRICS[name].needs_labels:
            raise typer.BadParameter(
                f"margins have no {METRICS[name].title}: it needs labels.", param_hint="--metric"
            )
