"""The options that commands share, each declared once."""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from lxcim_xp._cli_files import open_source, schema_of
from lxcim_xp._cli_output import Format


class Missing(StrEnum):
    """What a missing value is."""

    raise_ = "raise"
    omit = "omit"
    abstain = "abstain"


class Metric(StrEnum):
    """The metrics that have intervals."""

    lxcim = "lxcim"
    accuracy = "accuracy"
    audrc = "audrc"
    auroc = "auroc"


def _complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of the file that was named before."""
    # While an option waits for its value, the file has not been told from other arguments yet.
    file = ctx.params.get("file") or next(iter(ctx.args), "-")
    if file == "-":  # a shell that completes a line has no standard input to wait for
        return []
    try:
        names = schema_of(open_source(str(file)))
    except Exception:  # whatever is wrong with the file, a shell is no place to hear of it
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
    _column("--label", help="Labels: true/false, 0/1, -1/+1, or anything with --positive."),
]
Score: TypeAlias = Annotated[
    str | None,
    _column("--score", help="Scores, which grow with the belief in the positive side."),
]
Margin: TypeAlias = Annotated[
    str | None,
    _column("--margin", help="Margins, right when positive, in the place of labels and scores."),
]
Scores: TypeAlias = Annotated[
    list[str] | None, _column("--score", help="Scores of a model; once for each model.")
]
Margins: TypeAlias = Annotated[
    list[str] | None,
    _column("--margin", help="Margins of a model, in the place of labels and scores."),
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
    _column("--groups", help="Clusters, when only clusters are independent; for intervals."),
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="LABEL",
        help="The label that is positive; all others are negative.",
        rich_help_panel="Columns",
        show_default=False,
    ),
]
Threshold: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="SCORE",
        help="The score at which the decision changes sides; 0 by default.",
        rich_help_panel="Decisions",
        show_default=False,
    ),
]
Probability: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--probability",
        help="Scores are probabilities: decide at one half, p and 1 - p equally sure.",
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


def check_output(path: Path, endings: tuple[str, ...]) -> Path:
    """Refuse a file that cannot be written, before anything is computed."""
    if path.suffix.lower() not in endings:
        raise typer.BadParameter(
            f"{str(path)!r} must end in one of {', '.join(endings)}.", param_hint="--output"
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(
            f"the directory {str(path.parent)!r} does not exist.", param_hint="--output"
        )
    return path


def check_level(level: float) -> float:
    """Refuse a level that is none."""
    if not 0 < level < 1:
        raise typer.BadParameter(
            f"{level} is not between 0 and 1. Pass 0.95 for intervals that hold 95 times in 100.",
            param_hint="--interval",
        )
    return level


def check_metrics(metrics: Collection[Metric], margin: object) -> None:
    """Refuse AUROC of margins, which do not say who was called positive."""
    if margin and Metric.auroc in metrics:
        raise typer.BadParameter("margins have no AUROC: it needs labels.", param_hint="--metric")
