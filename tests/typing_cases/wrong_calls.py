"""Calls that a type checker must refuse: ``nox -s types``. Nothing here is run.

An error that is ignored must be there, or the comment is one (``warn_unused_ignores``).
"""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

import lxcim_xp as lx
from lxcim_xp import frames, plots


def no_arrays(
    array: np.ndarray[Any, Any],
    words: np.ndarray[Any, np.dtype[np.str_]],
    names: list[str],
    holes: list[float | None],
) -> None:
    lx.lxcim("won", array)  # type: ignore[arg-type]
    lx.lxcim(names, array)  # type: ignore[arg-type]
    lx.lxcim(words, array)  # type: ignore[arg-type]
    lx.lxcim(["won", "lost"], array)  # type: ignore[list-item]
    lx.lxcim(None, array)  # type: ignore[arg-type]
    lx.lxcim(1, None)  # type: ignore[arg-type]
    lx.lxcim(1, "scores")  # type: ignore[arg-type]
    lx.lxcim(1, b"scores")  # type: ignore[arg-type]
    lx.lxcim(1, {"a": array})  # type: ignore[arg-type]
    lx.lxcim(1, {0.5, 1.5})  # type: ignore[arg-type]
    lx.lxcim(1, range(3))  # type: ignore[arg-type]
    lx.lxcim(1, (score for score in array))  # type: ignore[arg-type]
    lx.lxcim(1, holes)  # type: ignore[arg-type]
    lx.lxcim(1, [[0.5], ["b"]])  # type: ignore[list-item]
    lx.lxcim(1, 2j)  # type: ignore[arg-type]
    lx.lxcim(1, Fraction(1, 2))  # type: ignore[arg-type]
    lx.lxcim(1, len)  # type: ignore[arg-type]
    lx.lxcim(1, array, sample_weight="w")  # type: ignore[arg-type]
    lx.lxcim(1, array, where="all")  # type: ignore[arg-type]
    lx.lxcim(1, array, threshold="0.5")  # type: ignore[arg-type]
    lx.soft_lxcim(1, array, temperature="low")  # type: ignore[arg-type]
    lx.accuracy_at(1, array, "half")  # type: ignore[arg-type]
    lx.confusion.mcc("3102")  # type: ignore[arg-type]
    lx.interpolate(lx.roc_curve(1, array), "0.5")  # type: ignore[arg-type]
    lx.interpolate(array, 0.5)  # type: ignore[arg-type]


def no_options(array: np.ndarray[Any, Any]) -> None:
    lx.lxcim(1, array, array)  # type: ignore[call-arg]
    lx.lxcim(1, array, axis="samples")  # type: ignore[arg-type]
    lx.lxcim(1, array, axis=None)  # type: ignore[arg-type]
    lx.lxcim(1, array, decision=lx.probability)  # type: ignore[arg-type]
    lx.lxcim(1, array, decision="probability")  # type: ignore[arg-type]
    lx.lxcim(1, array, weights=array)  # type: ignore[call-arg]


def no_words(array: np.ndarray[Any, Any], word: str) -> None:
    lx.lxcim(1, array, nan_policy="drop")  # type: ignore[arg-type]
    lx.lxcim(1, array, nan_policy=word)  # type: ignore[arg-type]
    lx.lxcim(1, array, nan_policy=None)  # type: ignore[arg-type]
    lx.audrc(1, array, form="exact")  # type: ignore[arg-type]
    lx.interval(1, array, metric="mcc")  # type: ignore[arg-type]
    lx.interval(1, array, method="normal")  # type: ignore[arg-type]
    lx.interval(1, array, weight_type="precision")  # type: ignore[arg-type]
    lx.interval(1, array, groups="country")  # type: ignore[arg-type]
    lx.interval(1, array, strata=3)  # type: ignore[arg-type]
    lx.interval(1, array, seed="now")  # type: ignore[arg-type]
    lx.significance(1, array, null="zero")  # type: ignore[arg-type]
    lx.significance(1, array, alternative="larger")  # type: ignore[arg-type]
    lx.compare(1, array, "b")  # type: ignore[arg-type]
    lx.compare_all(1, array)  # type: ignore[arg-type]
    lx.compare_all(1, {"a": array}, adjust="bonferroni")  # type: ignore[arg-type]
    lx.soft_lxcim(1, array, scale="max")  # type: ignore[arg-type]
    lx.losses.lxcim_surrogate(1, array, kind="hinge")  # type: ignore[arg-type]
    lx.audit(lx.lxcim, kind="ranks")  # type: ignore[arg-type]


def no_results(array: np.ndarray[Any, Any]) -> None:
    as_text: str = lx.lxcim(1, array)  # type: ignore[assignment]
    as_list: list[float] = lx.lxcim(1, array)  # type: ignore[assignment]
    part = lx.decomposition(1, array).auroc  # type: ignore[attr-defined]
    print(as_text, as_list, part)


def no_frames(frame: pl.DataFrame, array: np.ndarray[Any, Any]) -> None:
    frames.evaluate(frame, label="y", score=array)  # type: ignore[arg-type]
    frames.evaluate(frame, label="y", score="s", metrics="mcc")  # type: ignore[arg-type]
    frames.evaluate(frame, label="y", score="s", metrics=["lxcim", "mcc"])  # type: ignore[list-item]
    frames.evaluate(frame, label="y", score="s", ties="third")  # type: ignore[arg-type]
    frames.evaluate(frame, label="y", score="s", nan_policy="drop")  # type: ignore[arg-type]
    frames.curve(frame, label="y", score="s", kind="precision_recall")  # type: ignore[arg-type]


def no_curves(array: np.ndarray[Any, Any]) -> None:
    plots.roc("won", array)  # type: ignore[arg-type]
    plots.roc(1, "scores")  # type: ignore[arg-type]
    plots.convergence([lx.roc_curve(1, array)])  # type: ignore[arg-type]
    plots.contributions(1, None)  # type: ignore[arg-type]
