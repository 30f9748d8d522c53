"""The ``lxcim`` command: each function is a command, its parameters are the options.

A command checks its options, reads the rows it needs, calls the library and prints what comes out.
The options that name columns and say what they mean are the same everywhere, and are read from the
context by ``choose``. Errors about the command line end with 2, errors about the data with 1.
"""

import importlib
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

import lxcim_xp as lx
from lxcim_xp import _cli_options as options
from lxcim_xp._cli_figures import POINTS, Kind, draw, write_points
from lxcim_xp._cli_files import BadData
from lxcim_xp._cli_output import Format, progress, say, show, whole_file
from lxcim_xp._cli_samples import choose, keywords, library_errors, rows_of
from lxcim_xp._cli_tables import Engine, Found, compared, evaluated, threshold_found
from lxcim_xp.invariance import LAWS

app = typer.Typer(
    name="lxcim",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Adjust(StrEnum):
    """How p-values are adjusted for the number of pairs."""

    holm = "holm"
    max_t = "max-t"
    none = "none"


class Subject(StrEnum):
    """What a metric is a function of."""

    scores = "scores"
    confusion = "confusion"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lxcim {lx.__version__}")
        raise typer.Exit


@app.callback()
def lxcim(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Evaluate pairwise choices with metrics that do not care which side is called positive.

    Start with `lxcim demo`, or with a file of your own: `lxcim evaluate FILE --label y --score s`.
    """


@app.command(
    epilog="""Examples:

- `lxcim evaluate games.csv --label won --score margin --by season`
- `lxcim evaluate answers.parquet --label better --score p --probability --groups question`
- `cat rewards.jsonl | lxcim evaluate - --margin reward_gap --format json`
"""
)
def evaluate(
    ctx: typer.Context,
    file: options.File,
    label: options.Label = None,
    score: options.Score = None,
    margin: options.Margin = None,
    weight: options.Weight = None,
    by: options.By = None,
    metric: Annotated[
        list[options.Metric] | None,
        typer.Option("--metric", help="Which metrics; all by default.", show_default=False),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="LEVEL",
            help="The level of the intervals; 0.95 by default for up to a million rows. 0 for "
            "none.",
            show_default=False,
        ),
    ] = None,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    missing: options.MissingValues = options.Missing.raise_,
    engine: Annotated[
        Engine,
        typer.Option(
            help="In memory and exact, or in bounded memory with certain bounds for files of any "
            "size; by default what the memory of the machine allows."
        ),
    ] = Engine.auto,
    format: options.Shown = Format.table,
) -> None:
    """Evaluate the predictions of one model, as a whole or in subgroups."""
    if interval:
        options.check_level(interval)
    options.check_metrics(metric or (), margin)
    with _speaking():
        chosen = choose(ctx.params)
        with progress() as step:
            step("evaluating")
            found = evaluated(chosen, [str(each) for each in metric or ()], interval, engine)
        _print(found, format)


@app.command(
    epilog="""Examples:

- `lxcim compare games.csv --label won --score ours --score theirs`
- `lxcim compare games.csv --label won --score a --score b --score c --adjust max-t`
"""
)
def compare(
    ctx: typer.Context,
    file: options.File,
    label: options.Label = None,
    score: options.Scores = None,
    margin: options.Margins = None,
    weight: options.Weight = None,
    by: options.By = None,
    metric: Annotated[
        options.Metric, typer.Option("--metric", help="The metric.")
    ] = options.Metric.lxcim,
    adjust: Annotated[
        Adjust, typer.Option(help="How p-values are adjusted for the number of pairs.")
    ] = Adjust.holm,
    interval: options.Level = 0.95,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    missing: options.MissingValues = options.Missing.raise_,
    format: options.Shown = Format.table,
) -> None:
    """Compare models on the same rows, pair by pair, with intervals and paired tests."""
    options.check_level(interval)
    options.check_metrics([metric], margin)
    with _speaking():
        chosen = choose(ctx.params)
        if len(chosen.scores) < 2:
            raise typer.BadParameter(
                f"a comparison needs at least two columns; found {', '.join(chosen.scores)}.",
                param_hint="--margin" if margin else "--score",
            )
        with progress() as step:
            step("comparing")
            found = compared(chosen, metric, None if adjust is Adjust.none else adjust, interval)
        _print(found, format)


@app.command(
    epilog="""Examples:

- `lxcim threshold games.csv --label won --score margin --accuracy 0.95 --delta 0.1`
- `lxcim threshold games.csv --label won --score margin --joint-risk 0.05`
"""
)
def threshold(
    ctx: typer.Context,
    file: options.File,
    accuracy: Annotated[
        float | None,
        typer.Option(help="The accuracy that decided samples should have.", show_default=False),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="How often the accuracy of new samples may fall short; 0.1 by default.",
            show_default=False,
        ),
    ] = None,
    no_guarantee: Annotated[
        bool, typer.Option("--no-guarantee", help="Ask only that the rows at hand are accurate.")
    ] = False,
    joint_risk: Annotated[
        float | None,
        typer.Option(
            help="How often, of all samples, one may be decided and wrong; instead of --accuracy.",
            show_default=False,
        ),
    ] = None,
    label: options.Label = None,
    score: options.Score = None,
    margin: options.Margin = None,
    weight: options.Weight = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    missing: options.MissingValues = options.Missing.raise_,
    format: options.Shown = Format.table,
) -> None:
    """Find the lowest confidence at which to decide such that a target is met on new samples."""
    if (accuracy is None) == (joint_risk is None):
        raise typer.BadParameter("pass either --accuracy or --joint-risk.", param_hint="--accuracy")
    if delta is not None and (joint_risk is not None or no_guarantee):
        raise typer.BadParameter("it is about the guarantee of --accuracy.", param_hint="--delta")
    if no_guarantee and joint_risk is not None:
        raise typer.BadParameter("it is about --accuracy.", param_hint="--no-guarantee")
    for option, share in {"accuracy": accuracy, "delta": delta, "joint-risk": joint_risk}.items():
        if share is not None and not 0 < share < 1:
            raise typer.BadParameter(f"{share} is not between 0 and 1.", param_hint=f"--{option}")
    if weight is not None and not (no_guarantee and accuracy is not None):
        raise typer.BadParameter(
            "guarantees count rows: leave the weights out, or pass --accuracy with --no-guarantee.",
            param_hint="--weight",
        )
    with _speaking():
        chosen = choose(ctx.params)
        with progress() as step:
            step("looking for a threshold")
            wanted = None if no_guarantee else delta or 0.1
            found = threshold_found(chosen, accuracy, joint_risk, wanted)
        _print(found, format)


@app.command(
    epilog="""Examples:

- `lxcim curve games.csv --label won --score ours --score theirs -o curve.png`
- `lxcim curve games.csv --label won --score ours --by season --kind accuracy-rate -o curve.svg`
- `lxcim curve games.csv --label won --score ours -o points.csv`
"""
)
def curve(
    ctx: typer.Context,
    file: options.File,
    output: Annotated[
        Path,
        options.output("Where to write: .png, .svg or .pdf for a figure, .csv for its points."),
    ],
    label: options.Label = None,
    score: options.Scores = None,
    margin: options.Margins = None,
    weight: options.Weight = None,
    by: options.By = None,
    kind: Annotated[Kind, typer.Option(help="Which curve.")] = Kind.cumulative_accuracy,
    band: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="Draw a band of this level, of 200 bootstrap resamples.",
            show_default=False,
        ),
    ] = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    missing: options.MissingValues = options.Missing.raise_,
) -> None:
    """Draw the curve whose area is the metric, one line for each model and subgroup."""
    options.check_output(output, (".png", ".svg", ".pdf", ".csv"))
    points_only = output.suffix.lower() == ".csv"
    if band is not None and (points_only or kind is Kind.local_accuracy):
        raise typer.BadParameter("a band is drawn around curves of figures.", param_hint="--band")
    if band is not None and not 0 < band < 1:
        raise typer.BadParameter(f"{band} is not between 0 and 1.", param_hint="--band")
    if margin and kind is Kind.roc:
        raise typer.BadParameter("margins have no ROC curve: it needs labels.", param_hint="--kind")
    if points_only and kind not in POINTS:
        raise typer.BadParameter(f"{kind} has no table of points.", param_hint="--kind")
    with _speaking():
        chosen = choose(ctx.params)
        with library_errors(chosen), progress() as step:
            step("drawing")
            rows = rows_of(chosen)
            if points_only:
                write_points(chosen, rows, kind, output)
            else:
                draw(chosen, rows, kind, band, output)
    say(f"wrote {output}")


@app.command(
    epilog="""Examples:

- `lxcim report games.csv --label won --score ours --score theirs --by season -o report.html`
"""
)
def report(
    ctx: typer.Context,
    file: options.File,
    output: Annotated[Path, options.output("Where to write the page: a file that ends in .html.")],
    label: options.Label = None,
    score: options.Scores = None,
    margin: options.Margins = None,
    weight: options.Weight = None,
    by: options.By = None,
    interval: options.Level = 0.95,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    missing: options.MissingValues = options.Missing.raise_,
    title: Annotated[
        str | None, typer.Option(help="The title; the name of the file by default.")
    ] = None,
) -> None:
    """Write one HTML page with numbers, intervals, the curve, subgroups and warnings."""
    options.check_output(output, (".html", ".htm"))
    options.check_level(interval)
    with _speaking():
        chosen = choose(ctx.params)
        from lxcim_xp.report import STEPS, html

        with progress(total=len(STEPS)) as step:
            rows = rows_of(chosen)
            with library_errors(chosen):
                page = html(
                    rows,
                    **keywords(chosen) | {"label": chosen.label},
                    scores=chosen.scores,
                    level=interval,
                    groups=groups,
                    title=title or Path(chosen.source.name).name,
                    command=_command_line(ctx),
                    step=step,
                )
        with whole_file(output) as path:
            path.write_text(page, encoding="utf-8")
    say(f"wrote {output}")


@app.command(
    epilog="""Examples:

- `lxcim audit sklearn.metrics:roc_auc_score`
- `lxcim audit my_metrics:score --law lxc --require`
"""
)
def audit(
    metric: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION",
            help="A function of labels and scores, or of [TP, FP, FN, TN] with --kind confusion.",
            show_default=False,
        ),
    ],
    kind: Annotated[
        Subject, typer.Option(help="What the metric is a function of.")
    ] = Subject.scores,
    law: Annotated[
        list[str] | None,
        typer.Option(help="Which laws to try, by name; all by default.", show_default=False),
    ] = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    require: Annotated[
        bool, typer.Option("--require", help="End with 1 unless all laws that were tried hold.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Where the data sets come from.")] = 0,
    format: options.Shown = Format.table,
) -> None:
    """Ask of any metric whether it is invariant; a counter-example is shown where it is not."""
    function = _imported(metric)
    if probability and (threshold is not None or kind is Subject.confusion):
        raise typer.BadParameter(
            "probabilities are scores, and decided at one half.", param_hint="--probability"
        )
    if threshold is not None and kind is Subject.confusion:
        raise typer.BadParameter("confusion vectors have no threshold.", param_hint="--threshold")
    for name in law or ():
        if name not in LAWS[kind]:
            raise typer.BadParameter(
                f"{name!r} is not one of {', '.join(LAWS[kind])}.", param_hint="--law"
            )
    with _speaking():
        with library_errors(), progress() as step:
            step(f"auditing {metric}")
            findings = lx.audit(
                function,
                kind=kind,
                laws=law,
                threshold=threshold or 0.0,
                decision=lx.probability() if probability else None,
                seed=seed,
            )
        table = pl.DataFrame(
            {
                "law": [finding.law for finding in findings.values()],
                "holds": [finding.holds for finding in findings.values()],
                "in words": [lx.describe(finding) for finding in findings.values()],
            }
        )
        if format is Format.table:
            print("\n".join(table["in words"]))
        else:
            show(table, table, format, words=table.columns)
    if require and not all(finding.holds is not False for finding in findings.values()):
        raise typer.Exit(1)


@app.command()
def demo(
    output: Annotated[
        Path, options.output("The directory for the data, the figure and the report.")
    ] = Path("lxcim_demo"),
) -> None:
    """Run the whole tour on 553 basketball games, offline."""
    from lxcim_xp._cli_demo import tour

    with _speaking():
        tour(output)


@contextmanager
def _speaking() -> Iterator[None]:
    """End with 1 and a sentence where the data are bad."""
    try:
        yield
    except (BadData, ImportError, OSError) as error:
        say(f"Error: {error}", style="red")
        raise typer.Exit(1) from error


def _print(found: Found, form: Format) -> None:
    show(found.numbers, found.readable, form, words=found.words)
    if found.remark:
        say(found.remark)


def _imported(path: str) -> Callable[..., Any]:
    """Import a function by ``module:function``, from the current directory too."""
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise typer.BadParameter(
            f"{path!r} is not of the form module:function, like sklearn.metrics:roc_auc_score.",
            param_hint="MODULE:FUNCTION",
        )
    sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise typer.BadParameter(f"{error}.", param_hint="MODULE:FUNCTION") from error
    if not callable(found):
        raise typer.BadParameter(f"{path!r} is not a function.", param_hint="MODULE:FUNCTION")
    return found  # type: ignore[no-any-return]


def _command_line(ctx: typer.Context) -> str:
    """Write down the command that is running, with the options that were given."""
    words = ["lxcim", str(ctx.info_name)]
    for parameter in ctx.command.params:
        given = ctx.params.get(str(parameter.name))
        for value in given if isinstance(given, list | tuple) else [given]:
            if parameter.param_type_name == "argument":
                words.append(str(value))
            elif value is True:
                words.append(parameter.opts[0])
            elif value not in (None, False, parameter.default):
                words += [parameter.opts[0], str(value)]
    return shlex.join(words)
