"""The ``lxcim`` command: each function is a command, its parameters are the options.

A command checks its options, reads the rows it needs, calls the library and prints the result. All
commands share the options that name columns and say what they mean; ``choose`` reads them from the
context. The exit code is 2 for errors on the command line and 1 for errors in the data.

A command imports the libraries that compute when it runs. Help, version and completion need neither
NumPy nor polars, and answer at once.
"""

import gc
import importlib
import operator
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lxcim_xp import __version__
from lxcim_xp.cli import options as options
from lxcim_xp.cli.options import Adjust, Engine, Format, Kind, Subject
from lxcim_xp.cli.output import progress, say, show, whole_file

if TYPE_CHECKING:
    from lxcim_xp.cli.results import Found

app = typer.Typer(
    name="lxcim",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_command = partial(app.command, cls=options.Command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lxcim {__version__}")
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


@_command(
    epilog="""Examples:

- `lxcim evaluate games.csv --label won --score ours --score theirs --by season`
- `lxcim evaluate answers.parquet --label better --score p --probability --groups question`
- `lxcim evaluate votes.csv --label winner --score s --positive A --negative B --ties half`
- `lxcim evaluate rewards.csv --chosen reward_chosen --rejected reward_rejected`
- `lxcim evaluate answers.csv --correct was_right --confidence sure`
- `cat rewards.jsonl | lxcim evaluate - --margin reward_gap --format json`
"""
)
def evaluate(
    ctx: typer.Context,
    file: options.File,
    label: options.Label = None,
    score: options.Scores = None,
    margin: options.Margins = None,
    chosen: options.ChosenScores = None,
    rejected: options.RejectedScores = None,
    correct: options.Correct = None,
    confidence: options.Confidences = None,
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
    negative: options.Negative = None,
    ties: options.TiedLabels = options.Ties.error,
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
    """Evaluate the predictions of models, as a whole or in subgroups."""
    if interval:
        options.check_level(interval)
    options.check_metrics(metric or (), margin or chosen)
    from lxcim_xp.cli.results import evaluated
    from lxcim_xp.cli.selection import choose

    with _reporting_errors():
        parts = choose(ctx.params)
        with progress() as step:
            step("evaluating")
            found = evaluated(parts, [str(each) for each in metric or ()], interval, engine)
        _print(found, format)


@_command(
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
    chosen: options.ChosenScores = None,
    rejected: options.RejectedScores = None,
    correct: options.Correct = None,
    confidence: options.Confidences = None,
    weight: options.Weight = None,
    by: options.By = None,
    metric: Annotated[
        options.Metric, typer.Option("--metric", help="The metric.")
    ] = options.Metric.lxcim,
    adjust: Annotated[
        Adjust,
        typer.Option(help="How intervals and p-values are adjusted for the number of pairs."),
    ] = Adjust.holm,
    interval: options.Level = 0.95,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    negative: options.Negative = None,
    ties: options.TiedLabels = options.Ties.error,
    missing: options.MissingValues = options.Missing.raise_,
    format: options.Shown = Format.table,
) -> None:
    """Compare models on the same rows, pair by pair, with intervals and paired tests."""
    options.check_level(interval)
    options.check_metrics([metric], margin or chosen)
    from lxcim_xp.cli.results import compared
    from lxcim_xp.cli.selection import choose

    with _reporting_errors():
        parts = choose(ctx.params)
        if len(parts.scores) < 2:
            what = "pairs of columns" if chosen else "columns"
            raise typer.BadParameter(
                f"a comparison needs at least two {what}; found {', '.join(parts.names)}.",
                param_hint=parts.way,
            )
        with progress() as step:
            step("comparing")
            found = compared(parts, metric, None if adjust is Adjust.none else adjust, interval)
        _print(found, format)


@_command(
    epilog="""Examples:

- `lxcim orders judge.csv --first a_first --swapped b_first --label a_is_better`
- `lxcim orders calls.jsonl --pair question --order swapped --score s --probability`
- `lxcim orders judge.csv --first ab --swapped ba --by topic --groups model --format json`
"""
)
def orders(
    ctx: typer.Context,
    file: options.File,
    first: options.First = None,
    swapped: options.Swapped = None,
    pair: options.Pair = None,
    order: options.Order = None,
    score: options.CallScore = None,
    label: options.Label = None,
    weight: options.Weight = None,
    by: options.By = None,
    metric: Annotated[
        options.StepMetric | None,
        typer.Option(help="The metric of the steps; lxcim by default.", show_default=False),
    ] = None,
    interval: options.Level = 0.95,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    negative: options.Negative = None,
    ties: options.TiedLabels = options.Ties.error,
    missing: options.MissingValues = options.Missing.raise_,
    format: options.Shown = Format.table,
) -> None:
    """Say what the order of the answers does to a judge that was asked in both orders."""
    options.check_level(interval)
    from lxcim_xp.cli.orders import choose_orders, orders_found

    with _reporting_errors():
        asked = choose_orders(ctx.params)
        with progress() as step:
            step("comparing the orders")
            found = orders_found(asked, metric or options.StepMetric.lxcim, interval)
        _print(found, format)


@_command(
    epilog="""Examples:

- `lxcim threshold games.csv --label won --score margin --accuracy 0.95 --delta 0.1`
- `lxcim threshold games.csv --label won --score margin --joint-risk 0.05`
- `lxcim threshold answers.csv --label right --score s --groups question --accuracy 0.9`
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
        bool, typer.Option("--no-guarantee", help="Ask for the accuracy on these rows only.")
    ] = False,
    joint_risk: Annotated[
        float | None,
        typer.Option(
            help="How often, of all samples, one may be decided and wrong; instead of --accuracy.",
            show_default=False,
        ),
    ] = None,
    label: options.Label = None,
    score: options.Scores = None,
    margin: options.Margins = None,
    chosen: options.ChosenScores = None,
    rejected: options.RejectedScores = None,
    correct: options.Correct = None,
    confidence: options.Confidences = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    negative: options.Negative = None,
    ties: options.TiedLabels = options.Ties.error,
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
    if groups is not None and no_guarantee:
        raise typer.BadParameter(
            "clusters are for guarantees: leave them out, or leave out --no-guarantee.",
            param_hint="--groups",
        )
    from lxcim_xp.cli.results import threshold_found
    from lxcim_xp.cli.selection import choose

    with _reporting_errors():
        parts = choose(ctx.params)
        with progress() as step:
            step("looking for a threshold")
            wanted = None if no_guarantee else delta or 0.1
            found = threshold_found(parts, accuracy, joint_risk, wanted)
        _print(found, format)


@_command(
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
    chosen: options.ChosenScores = None,
    rejected: options.RejectedScores = None,
    correct: options.Correct = None,
    confidence: options.Confidences = None,
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
    negative: options.Negative = None,
    ties: options.TiedLabels = options.Ties.error,
    missing: options.MissingValues = options.Missing.raise_,
) -> None:
    """Draw the curve whose area is the metric, one line for each model and subgroup."""
    options.check_output(output, (".png", ".svg", ".pdf", ".csv"), file)
    points_only = output.suffix.lower() == ".csv"
    if band is not None and (points_only or kind is Kind.local_accuracy):
        raise typer.BadParameter("a band is drawn around curves of figures.", param_hint="--band")
    if band is not None and not 0 < band < 1:
        raise typer.BadParameter(f"{band} is not between 0 and 1.", param_hint="--band")
    if (margin or chosen) and kind is Kind.roc:
        raise typer.BadParameter("margins have no ROC curve: it needs labels.", param_hint="--kind")
    if confidence and kind is Kind.symmetric_roc:
        raise typer.BadParameter(
            "confidences have no sides, which this curve exchanges. Draw another.",
            param_hint="--kind",
        )
    from lxcim_xp.cli.figures import POINTS, draw, write_points
    from lxcim_xp.cli.selection import choose, library_errors, rows_of

    if points_only and kind not in POINTS:
        raise typer.BadParameter(f"{kind} has no table of points.", param_hint="--kind")
    with _reporting_errors():
        parts = choose(ctx.params)
        with library_errors(parts), progress() as step:
            step("drawing")
            rows = rows_of(parts)
            if points_only:
                write_points(parts, rows, kind, output)
            else:
                draw(parts, rows, kind, band, output)
    say(f"wrote {output}")


@_command(
    epilog="""Examples:

- `lxcim report games.csv --label won --score ours --score theirs --by season -o report.html`
- `lxcim report judge.csv --label a_is_better --score a_first --swapped b_first -o judge.html`
"""
)
def report(
    ctx: typer.Context,
    file: options.File,
    output: Annotated[Path, options.output("Where to write the page: a file that ends in .html.")],
    label: options.Label = None,
    score: options.Scores = None,
    margin: options.Margins = None,
    chosen: options.ChosenScores = None,
    rejected: options.RejectedScores = None,
    correct: options.Correct = None,
    confidence: options.Confidences = None,
    swapped: options.Swapped = None,
    weight: options.Weight = None,
    by: options.By = None,
    interval: options.Level = 0.95,
    groups: options.Groups = None,
    threshold: options.Threshold = None,
    probability: options.Probability = False,
    positive: options.Positive = None,
    negative: options.Negative = None,
    ties: options.TiedLabels = options.Ties.error,
    missing: options.MissingValues = options.Missing.raise_,
    title: Annotated[
        str | None, typer.Option(help="The title; the name of the file by default.")
    ] = None,
) -> None:
    """Write one HTML page with numbers, intervals, the curve, subgroups and warnings."""
    options.check_output(output, (".html", ".htm"), file)
    options.check_level(interval)
    from lxcim_xp.cli.selection import choose, keywords, library_errors, rows_of, with_swapped

    with _reporting_errors():
        parts = choose(ctx.params)
        read = parts if swapped is None else with_swapped(parts, swapped)
        from lxcim_xp.report import STEPS, html

        with progress(total=len(STEPS)) as step:
            rows = rows_of(read)
            with library_errors(parts):
                page = html(
                    rows,
                    **keywords(parts),
                    scores=parts.scores,
                    swapped=swapped,
                    level=interval,
                    groups=groups,
                    title=title or Path(parts.source.name).name,
                    command=_command_line(ctx),
                    step=step,
                )
        with whole_file(output) as path:
            path.write_text(page, encoding="utf-8")
    say(f"wrote {output}")


@_command(
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
    seed: Annotated[int, typer.Option(min=0, help="The seed of the data sets.")] = 0,
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
    import polars as pl

    from lxcim_xp.cli.selection import library_errors
    from lxcim_xp.decision import probability as probabilities
    from lxcim_xp.invariance import LAWS, describe
    from lxcim_xp.invariance import audit as audited

    for name in law or ():
        if name not in LAWS[kind]:
            raise typer.BadParameter(
                f"{name!r} is not one of {', '.join(LAWS[kind])}.", param_hint="--law"
            )
    with _reporting_errors():
        with library_errors(), progress() as step:
            step(f"auditing {metric}")
            findings = audited(
                function,
                kind=kind.value,
                laws=law,
                threshold=threshold or 0.0,
                decision=probabilities() if probability else None,
                seed=seed,
            )
        table = pl.DataFrame(
            {
                "law": [finding.law for finding in findings.values()],
                "holds": [finding.holds for finding in findings.values()],
                "in words": [describe(finding) for finding in findings.values()],
            }
        )
        if format is Format.table:
            print("\n".join(table["in words"]))
        else:
            show(table, table, format, words=table.columns)
    if require and not all(finding.holds is not False for finding in findings.values()):
        raise typer.Exit(1)


@_command()
def demo(
    output: Annotated[
        Path, options.output("The directory for the data, the figure and the report.")
    ] = Path("lxcim_demo"),
) -> None:
    """Run the whole tour on 553 basketball games, offline."""
    from lxcim_xp.cli.demo import tour

    with _reporting_errors():
        tour(output, partial(app, prog_name="lxcim", standalone_mode=False))


@contextmanager
def _reporting_errors() -> Iterator[None]:
    """Exit with 1 and a sentence if the data are bad; print warnings without lines of code."""
    from lxcim_xp.cli.files import BadData

    if not gc.isenabled():  # see ``main``: imports are done, and the work may leave garbage
        gc.freeze()
        gc.enable()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning  # type: ignore[assignment]
            yield
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except (BadData, ImportError, OSError) as error:
        say(f"Error: {error}", style="red")
        raise typer.Exit(1) from error


def _print_warning(message: Warning | str, *_: Any) -> None:
    say(f"Warning: {message}")


def _print(found: "Found", form: Format) -> None:
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
    # Last: a file here must not run in place of a library of the same name.
    here = str(Path.cwd())
    sys.path[:] = [*(folder for folder in sys.path if folder not in ("", here)), here]
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # whatever the module raises
        raise typer.BadParameter(
            f"{module!r} cannot be imported: {type(error).__name__}: {error}.",
            param_hint="MODULE:FUNCTION",
        ) from error
    where = getattr(found, "__file__", None) or "built in"
    try:
        found = operator.attrgetter(name)(found)
    except AttributeError as error:
        raise typer.BadParameter(
            f"module {module!r} ({where}) has no {name!r}.", param_hint="MODULE:FUNCTION"
        ) from error
    if not callable(found):
        raise typer.BadParameter(f"{path!r} is not a function.", param_hint="MODULE:FUNCTION")
    return found


def _command_line(ctx: typer.Context) -> str:
    """Return the running command as text, with the options that were given."""
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
