"""Keep paragraphs that many docstrings share the same everywhere.

Docstrings are literal, because editors and code hosts show the source. What many of them say about
a parameter is defined here once. Write the names of the parameters into a new docstring and run

    python tools/docstrings.py

which fills in the paragraphs and mends those that differ. With ``--check`` it changes nothing, and
fails if any paragraph differs.

A function of samples, which takes ``y_true``, ``y_score`` or ``swapped``, gets the paragraphs of
``SAMPLES``. ``TABLES`` has those of a topic (the name of its module or folder) or of one function.
``OWN`` lists parameters that mean something else in one function and are described there.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

# The lines of each paragraph by key: the name of a parameter, or "-> " and the type of a result.
Table = dict[str, list[str]]


def parameters(text: str) -> Table:
    """Read paragraphs about parameters, written as in a docstring."""
    table: Table = {}
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            lines = table[_name(line)] = []
        lines.append(line)
    return table


def returns(text: str) -> Table:
    """Read paragraphs about what is returned."""
    return {f"-> {name}": lines for name, lines in parameters(text).items()}


def _name(header: str) -> str:
    return header.partition(" : ")[0].strip()


SAMPLES = parameters("""
y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
    Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
    Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
    over the wrong one.
y_score : array
    Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
    are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
sample_weight : array, optional
    Weights, finite and not negative. A sample of weight 0 counts as absent.
where : array of bool, optional
    The samples that count; the others (padding, for example) may hold anything.
threshold : float or array, default 0.0
    The score at which the decision changes sides; a score equal to it is undecided. If it is
    left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
    probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
decision : Decision, optional
    A decision function to use instead of the distance from ``threshold``, see
    :mod:`lxcim_xp.decision`.
axis : int, default -1
    The axis of the samples, after broadcasting.
nan_policy : {"raise", "omit", "abstain"}, default "raise"
    What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
    (half right, no confidence). A NaN label is an error unless it is left out. Where values
    cannot be inspected (any library but NumPy), the result is NaN instead of an error.
""") | returns("""
array
    One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
    it is undefined or the input is bad.
""")

ONE_LIST = parameters("""
y_score : array of shape (n,)
    Scores that grow with the belief in the positive side; infinities are allowed. Integers
    become floats: beyond 2**53 neighbours tie (2**24 in float32).
""")

SCALE_OF_SCORES = parameters("""
scale : {"std", "rms"}, float or None, default "std"
    What the temperature is a multiple of: the standard deviation of the scores, their root mean
    square, a number, or None for 1.
""")

TWO_MODELS = parameters("""
score_a, score_b : array
    The scores of the two models, sample by sample.
""")

MANY_MODELS = parameters("""
nan_policy : {"raise", "omit", "abstain"}, default "raise"
    What to do with a NaN score: raise an error, leave the sample out for all models (common
    support), or count it as undecided for the model that gave no score.
""")

BINS = parameters("""
bins : int, default 4096
    The number of bins, at least 2. The bounds are about as wide as 1 / bins.
bound : float, optional
    The largest confidence that a score can have: 0.5 for probabilities around 0.5. Bins are
    then fine near the bound too, where the probabilities of a confident model crowd. By default
    it comes from the domain of ``decision``, if there is one. A larger confidence is bad input.
""")

BOTH_ORDERS = parameters("""
first : array
    The score of the judge for A over B in the call where A stood first, f(a, b).
swapped : array
    Its score in the other call, f(b, a), for whatever stood first there, which was B. The shape
    is that of ``first``.
level : float, default 0.95
    The coverage of intervals, between 0 and 1.
groups : array, optional
    The cluster of each pair, when only clusters are independent (questions with several
    pairs each, for example): any labels with NumPy, integers elsewhere.
threshold : float or array, default 0.0
    The score at which neither answer is preferred. If it is left out and all scores of NumPy
    arrays lie in [0, 1], a warning asks whether they are probabilities: pass
    ``decision=probability()`` if they are, ``threshold=0.0`` if not.
axis : int, default -1
    The axis of the pairs, after broadcasting.
nan_policy : {"raise", "omit", "abstain"}, default "raise"
    What to do with a NaN score: raise an error, leave the pair out, or count that call as
    undecided. A NaN label is an error unless it is left out. Where values cannot be inspected
    (any library but NumPy), the result is NaN instead of an error.
""")

FORM = parameters("""
form : {"discrete", "continuous"}, default "discrete"
    Mean over samples, or integral over all decision rates, see :func:`lxcim_xp.audrc`.
""")

THRESHOLD = parameters("""
threshold : float, default 0.0
    The score at which the decision changes sides; a score equal to it is undecided.
""")

FRAMES = parameters("""
frame : frame
    A frame of any kind in the table of docs/frames.md, eager or lazy.
label : str or None
    The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
    with ``positive=``. None: the scores are margins of the right side over the wrong one, and
    AUROC has no value.
score : str or pair of str
    The column of scores, which grow with the belief in the positive side; or two columns, whose
    difference is the score: see :func:`lxcim_xp.choices.difference`.
weight : str, optional
    The column of weights, finite and not negative. A row of weight 0 counts as absent.
by : str or sequence of str, default ()
    The columns whose values make a subgroup; null is a value like any other. Without them, the
    whole frame is one group.
threshold : float, default 0.0
    The score at which the decision changes sides; a score equal to it is undecided. If it is
    left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
    probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
decision : Decision, optional
    A decision function to use instead of the distance from ``threshold``, see
    :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
positive : str, number or bool, optional
    The positive label; the one other label is negative. Labels that are words need it. If it
    does not occur, or there is a third label, that is an error; in a query, all metrics are
    null.
negative : str, number or bool, optional
    The negative label, beside ``positive``, where there are more than two.
ties : {"error", "omit", "half"}, default "error"
    What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
    leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
    was decided.
nan_policy : {"raise", "omit", "abstain"}, default "raise"
    What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
    is the score, count the sample as undecided. A query cannot raise before it is collected:
    there a group with missing values has null metrics, and ``n_missing`` says how many.
level : float, default 0.95
    The coverage of intervals, between 0 and 1.
groups : str, optional
    The column of clusters, when only clusters are independent; intervals allow for them.
collect : bool, default False
    Collect the columns that are needed from a lazy frame first, for what its queries cannot do
    (intervals, comparisons, curves, any decision function). The result is then what narwhals
    collects to: polars for polars, Arrow for DuckDB and Spark.
""")

ONE_METRIC = returns("""
frame
    Of the kind of the input, one row for each subgroup: the keys, ``{function}``, the number
    ``n`` of rows, ``n_missing`` of them with a missing value, and the ``weight`` that the
    numbers rest on. The metric is null where it is undefined.
""")

TABLES: dict[str, Table] = {
    "metrics": FORM,
    "confusion": parameters("""
confusion : array of shape (..., 4)
    Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`.
"""),
    "curves": parameters("""
curve : CumulativeAccuracyCurve, AccuracyRateCurve, RocCurve or SymmetricRocCurve
    A curve, or a batch of curves.
"""),
    "exchange": parameters("""
where : array of bool, optional
    The samples that count; the others (padding, for example) may hold anything and stay as they
    are.
decision : Decision, optional
    A decision function to use instead of the distance from ``threshold``, see
    :mod:`lxcim_xp.decision`. It says which score has the opposite decision and the same
    confidence.
seed : int, numpy.random.Generator or JAX key
    Where the coins come from. An integer gives the same exchange in every library; a key needs
    JAX arrays and may be traced.
"""),
    "exchange.exchange_spread": ONE_LIST,
    "decision": parameters("""
threshold : float or array, default 0.0
    The score at which the decision changes sides.
"""),
    "inference": parameters("""
metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
    The metric.
level : float, default 0.95
    The coverage of intervals, between 0 and 1.
groups : array, optional
    The cluster of each sample, when only clusters are independent (questions with several
    answers each, for example): any labels with NumPy, integers elsewhere.
strata : array, optional
    The stratum of each sample, when the number of samples in each was fixed beforehand.
weight_type : {"importance", "frequency"}, default "importance"
    Whether a weight says how much a sample counts, or how often it was seen.
seed : int, numpy.random.Generator or JAX key, default 0
    Where random draws come from. A key needs JAX arrays and may be traced.
"""),
    "choices.both_orders": BOTH_ORDERS,
    "choices.order_effect": BOTH_ORDERS,
    "choices.order_curve": BOTH_ORDERS,
    "choices.order_decomposition": BOTH_ORDERS,
    "inference.bootstrap": ONE_LIST,
    "inference.compare": TWO_MODELS | MANY_MODELS,
    "inference.compare_all": MANY_MODELS,
    "inference.required_samples": TWO_MODELS | MANY_MODELS,
    "soft": parameters("""
temperature : float or array, default 0.3
    How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
    One number, or one for each batch entry; it may be traced and differentiated.
scale : {"rms", "std"}, float or None, default "rms"
    What the temperature is a multiple of: the root mean square of the margins, their standard
    deviation, a number, or None for 1. With "rms" the value does not depend on the scale of the
    scores.
unbiased : bool, default False
    Whether to leave out the pairs of a sample with itself, see :func:`lxcim_xp.soft_lxcim`.
"""),
    "soft.soft_auroc": SCALE_OF_SCORES,
    "soft.soft_rank": SCALE_OF_SCORES,
    "sketch": BINS
    | FORM
    | parameters("""
state : Sketch
    What :func:`lxcim_xp.sketch` or :func:`lxcim_xp.merge` returned.
""")
    | returns("""
Bounds
    ``low``, ``estimate`` and ``high``, one value for each batch entry; NaN without any weight.
"""),
    "frames": FRAMES | BINS,
    "frames.lxcim": ONE_METRIC,
    "frames.accuracy": ONE_METRIC,
    "frames.audrc": ONE_METRIC,
    "frames.auroc": ONE_METRIC,
    "report": FRAMES | THRESHOLD | {"decision": SAMPLES["decision"]},
    "polars": parameters("""
label : str or polars.Expr
    Labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything with
    ``positive=``.
score : str or polars.Expr
    Scores that grow with the belief in the positive side.
weight : str or polars.Expr, optional
    Weights, finite and not negative. A sample of weight 0 counts as absent.
decision : Decision, optional
    ``probability()`` or ``confidence()``, instead of a threshold.
positive : str, number or bool, optional
    The positive label; the one other label is negative. Labels that are words need it. An
    expression sees only the rows of its own group: it is null if there is no positive label
    among them, or a third label.
negative : str, number or bool, optional
    The negative label, beside ``positive``, where there are more than two or where groups may
    lack the positive one.
ties : {"error", "omit", "half"}, default "error"
    What a row whose label is neither ``positive`` nor ``negative`` does: it makes the result
    null, is left out, or is a draw, half right whatever was decided (with both of these, still
    null where one of the two labels does not occur beside it).
nan_policy : {"raise", "omit", "abstain"}, default "raise"
    What a missing value (null or NaN) does: it makes the result null, since an expression
    cannot raise; it is left out; or, if it is the score, it counts as undecided.
""")
    | THRESHOLD
    | returns("""
polars.Expr
    One Float64 named "{function}"; null where it is undefined or a value is bad.
"""),
    "plots": parameters("""
y_score : array or mapping, optional
    Scores, or a mapping of names to the scores of each method.
ax : Axes, optional
    Where to draw; a new figure by default.
label : str, optional
    The name of a single method.
band : float, optional
    Draw a pointwise band of this level: of 200 bootstrap resamples, or of a batch's entries.
baselines : bool, default True
    Draw the ideal method and a coin.
**options
    ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
    metric.
""")
    | returns("""
Axes
    The Axes that was drawn into.
"""),
}

OWN = {
    "metrics.bi_auroc.y_true",
    "metrics.audrc.form",
    "curves.contributions.-> array",
    "exchange.symmetrize.sample_weight",
    "exchange.exchange_spread.seed",
    "exchange.exchange_spread.nan_policy",
    "inference.influence.-> array",
    "inference.standard_error.-> array",
    "inference.bootstrap.groups",
    "inference.compare_all.level",
    "inference.required_samples.level",
    "inference.required_samples.-> array",
    "choices.order_decomposition.y_true",
    "soft.soft_lxcim.unbiased",
    "soft.soft_rank.y_score",
    "soft.soft_rank.sample_weight",
    "soft.soft_rank.where",
    "soft.soft_rank.temperature",
    "soft.soft_rank.-> array",
    "soft.lxcim_surrogate.temperature",
    "sketch.merge_across.state",
    "frames.orders.label",
    "frames.orders.score",
    "frames.orders.collect",
    "frames.merge_sketches.by",
    "frames.sketch_bounds.by",
    "frames.sketch_bounds.collect",
    "frames.choose.score",
    "frames.choose.weight",
    "frames.choose.by",
    "report.html.frame",
    "report.html.positive",
    "report.html.ties",
    "report.html.nan_policy",
    "plots.symmetric_roc.baselines",
    "plots.local_accuracy.y_score",
    "plots.local_accuracy.label",
    "plots.contributions.y_score",
    "plots.convergence.band",
    "plots.comparison.y_score",
    "plots.comparison.band",
    "plots.differences.-> Axes",
    "plots.order_steps.-> Axes",
    "plots.order_curve.-> Axes",
    "plots.order_curve.**options",
    "plots.save.ax",
}


class Paragraph(NamedTuple):
    """What a docstring says about a parameter or a result, and what it should say."""

    place: str  # topic.function.key
    first: int  # the index of its first line in the source
    found: list[str]
    wanted: list[str] | None  # None if nothing is defined about it


def paragraphs(source: str, topic: str) -> Iterator[Paragraph]:
    """Find all paragraphs about parameters and results of public functions."""
    lines = source.splitlines()
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef) or function.name.startswith("_"):
            continue
        if ast.get_docstring(function) is None:
            continue
        place = f"{topic}.{function.name}"
        table = _table(function, topic)
        statement = function.body[0]
        indent = " " * statement.col_offset
        for key, first, last in _spans(lines, statement.lineno, statement.end_lineno or 0, indent):
            wanted = table.get(key)
            if wanted is not None:
                wanted = [indent + line.replace("{function}", function.name) for line in wanted]
            yield Paragraph(f"{place}.{key}", first, lines[first:last], wanted)


def _table(function: ast.FunctionDef, topic: str) -> Table:
    """Return the paragraphs that are defined for a function."""
    names = {argument.arg for argument in function.args.args}
    of_samples = topic != "plots" and not names.isdisjoint({"y_true", "y_score", "swapped"})
    return (
        (SAMPLES if of_samples else {})
        | TABLES.get(topic, {})
        | TABLES.get(f"{topic}.{function.name}", {})
    )


def _spans(lines: list[str], first: int, last: int, indent: str) -> Iterator[tuple[str, int, int]]:
    """Yield each paragraph's key, its first line and the line after its last."""
    prefix = None  # of the keys of the section, if it has any
    for i in range(first, last - 1):
        header = lines[i].removeprefix(indent)
        if lines[i + 1] == indent + "-" * len(header):
            prefix = {"Parameters": "", "Returns": "-> "}.get(header)
        elif prefix is not None and header[:1].strip("- "):
            end = i + 1
            while lines[end].startswith(f"{indent} "):
                end += 1
            yield prefix + _name(header), i, end


def changes(source: str, topic: str) -> list[Paragraph]:
    """Return the paragraphs that differ from their definition."""
    return [
        paragraph
        for paragraph in paragraphs(source, topic)
        if paragraph.wanted not in (None, paragraph.found) and paragraph.place not in OWN
    ]


def mended(source: str, topic: str) -> str:
    """Return the source with every paragraph as defined."""
    lines = source.splitlines(keepends=True)
    for paragraph in reversed(changes(source, topic)):
        last = paragraph.first + len(paragraph.found)
        lines[paragraph.first : last] = [f"{line}\n" for line in paragraph.wanted or []]
    return "".join(lines)


def sources(package: Path) -> Iterator[tuple[Path, str]]:
    """Return the modules of a package, each with its topic."""
    for path in sorted(package.rglob("*.py")):
        yield path, path.relative_to(package).parts[0].removesuffix(".py")


def main() -> int:
    """Mend the docstrings of a package, or name the paragraphs to mend."""
    parser = argparse.ArgumentParser(description="Keep the shared paragraphs of docstrings equal.")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if they differ")
    parser.add_argument("package", nargs="?", type=Path, default=ROOT / "lxcim_xp")
    options = parser.parse_args()
    differ = False
    for path, topic in sources(options.package):
        source = path.read_text(encoding="utf-8")
        for paragraph in changes(source, topic):
            differ = True
            print(f"{path}:{paragraph.first + 1}: {paragraph.place} is not as defined")
        if not options.check and (new := mended(source, topic)) != source:
            path.write_text(new, encoding="utf-8")
    return int(differ and options.check)


if __name__ == "__main__":
    sys.exit(main())
