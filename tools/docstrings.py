"""Parameter descriptions that many functions share, written once."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_LABELS = """y_true : array of {0, 1}, {-1, +1} or bool, or one such label
        Whether the positive side was the right one. Broadcasts against ``y_score``, so that
        ``y_true=1`` reads the scores as margins of the right side over the wrong one."""

_SCORE = """y_score : array
        Scores that grow with the belief in the positive side; infinities are legal. Leading axes
        are a batch."""

_COUNTING = """sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 is absent.
    where : array of bool, optional
        Samples that count; the others (padding, say) may hold anything.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score that hits it is undecided.
    decision : Decision, optional
        A decision function other than the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`."""

_MISSING = """nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a NaN score is: an error, a sample to leave out, or an undecided one (half right, no
        confidence). Where values cannot be inspected (any library but NumPy), the error is a NaN
        result."""

_OPTIONS = f"""{_COUNTING}
    axis : int, default -1
        The axis of the samples, after broadcasting.
    {_MISSING}"""

_SCORES = f"{_SCORE}\n    {_OPTIONS}"

_RESULT = """array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad."""

_CONFUSION = """confusion : array of shape (..., 4)
        Weighted counts TP, FP, FN, TN, see :func:`lxcim_xp.confusion.confusion`."""

_PAIRS = f"""{_LABELS}
    y_score : array
        Scores that grow with the belief in the positive side."""

_SIDES = """threshold : float, default 0.0
        The score at which the decision changes sides.
    decision : Decision, optional
        A decision function other than the distance from ``threshold``. It says which score has the
        opposite decision and the same confidence."""

_COUNTS = """where : array of bool, optional
        Samples that count; the others (padding, say) may hold anything and stay as they are."""

_SEED = """seed : int, numpy.random.Generator or JAX key
        Where the coins come from. An integer gives the same exchange in every library; a key needs
        JAX arrays, and may be traced."""

_METRIC = """metric : {"lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"}, default "lxcim"
        The metric."""

_DESIGN = """groups : array, optional
        The cluster of each sample, when only clusters are independent (questions with several
        answers each, say): any labels with NumPy, integers elsewhere.
    strata : array, optional
        The stratum of each sample, when the number of samples in each was fixed beforehand.
    weight_type : {"importance", "frequency"}, default "importance"
        Whether a weight says how much a sample counts, or how often it was seen."""

_STATE = """state : Sketch
        What :func:`lxcim_xp.sketch` or :func:`lxcim_xp.merge` returned."""

_TEMPERATURE = """temperature : float or array, default 0.3
        How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
        One number, or one for each batch entry; it may be traced and differentiated."""

_SCALE = """scale : {"rms", "std"}, float or None, default "rms"
        What the temperature is a multiple of: the root mean square of the margins, their standard
        deviation, a number, or None for 1. With "rms" the value does not depend on the scale of
        the scores."""

_SCALE_OF_SCORES = """scale : {"std", "rms"}, float or None, default "std"
        What the temperature is a multiple of: the standard deviation of the scores, their root mean
        square, a number, or None for 1."""

_FRAME = """frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str
        The column of labels: booleans, 0/1, -1/+1, or anything with ``positive=``."""

_FRAME_GROUPS = """weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 is absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like others. Without any, the
        whole frame is one group."""

_FRAME_VALUES = """threshold : float, default 0.0
        The score at which the decision changes sides; a score that hits it is undecided.
    decision : Decision, optional
        A decision function other than the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know ``probability()`` only.
    positive : str, number or bool, optional
        The label that is positive; all others are negative. Words need it.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a missing value (null, or NaN) is: an error, a row to leave out, or, if it is the
        score, an undecided sample. A query cannot raise before it is collected: there a group with
        missing values has null metrics, and ``n_missing`` says how many."""

_FRAME_COLLECT = """collect : bool, default False
        Collect the columns that are needed from a lazy frame first, for what its queries cannot do
        (intervals, comparisons, curves, any decision function). The result is then what narwhals
        collects to: polars for polars, Arrow for DuckDB and Spark."""

_FRAME_COUNTS = """``n`` rows, ``n_missing`` of them with a missing value, and the ``weight`` that
        the numbers rest on"""

_EXPRESSION = """label : str or polars.Expr
        Labels: booleans, 0/1, -1/+1, or anything with ``positive=``.
    score : str or polars.Expr
        Scores that grow with the belief in the positive side.
    weight : str or polars.Expr, optional
        Weights, finite and not negative. A sample of weight 0 is absent.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score that hits it is undecided.
    decision : Decision, optional
        ``probability()``, instead of a threshold.
    positive : str, number or bool, optional
        The label that is positive; all others are negative. Words need it.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a missing value (null, or NaN) does: it makes the result null (an expression cannot
        raise), is left out, or, if it is the score, counts as undecided."""

_SHARED = {
    "SCALE_OF_SCORES": _SCALE_OF_SCORES,
    "TEMPERATURE": _TEMPERATURE,
    "SCALE": _SCALE,
    "STATE": _STATE,
    "EXPRESSION": _EXPRESSION,
    "FRAME": _FRAME,
    "FRAME_COLLECT": _FRAME_COLLECT,
    "FRAME_GROUPS": _FRAME_GROUPS,
    "FRAME_VALUES": _FRAME_VALUES,
    "FRAME_COUNTS": _FRAME_COUNTS,
    "LABELS": _LABELS,
    "METRIC": _METRIC,
    "DESIGN": _DESIGN,
    "PAIRS": _PAIRS,
    "SIDES": _SIDES,
    "SEED": _SEED,
    "COUNTS": _COUNTS,
    "SAMPLES": f"{_LABELS}\n    {_SCORES}",
    "LABEL_AND_SCORE": f"{_LABELS}\n    {_SCORE}",
    "SCORES": _SCORES,
    "COUNTING": _COUNTING,
    "MISSING": _MISSING,
    "OPTIONS": _OPTIONS,
    "RESULT": _RESULT,
    "CONFUSION": _CONFUSION,
}


def documented(function: _Function) -> _Function:
    """Put the shared descriptions into the docstring of a function."""
    # Python 3.13 takes the indentation out of docstrings; before, this does.
    doc = inspect.cleandoc(function.__doc__ or "")
    for name, text in _SHARED.items():
        doc = doc.replace(f"<{name}>", text.replace("\n    ", "\n"))
    function.__doc__ = f"{doc}\n"
    return function
