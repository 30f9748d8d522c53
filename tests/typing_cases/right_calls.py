"""Calls that a type checker must accept: ``nox -s types``. Nothing here is run."""

from typing import Any

import numpy as np
import polars as pl

import lxcim_xp as lx
from lxcim_xp import choices, frames, plots


class Column:
    """What a library that nobody has heard of gives out."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.zeros(2)


def takes_arrays(
    array: np.ndarray[Any, Any],
    floats: np.ndarray[Any, np.dtype[np.float32]],
    flags: np.ndarray[Any, np.dtype[np.bool_]],
    integers: list[int],
    column: Column,
    series: pl.Series,
) -> None:
    lx.lxcim(1, [2.0, -1.0])
    lx.lxcim([1, 0], [2.0, -1])
    lx.lxcim((True, False), (2.0, -1.0))
    lx.lxcim([[1, 0], [0, 1]], [[2.0, -1.0], [1.0, 0.5]], axis=0)
    lx.lxcim(integers, array)
    lx.lxcim(flags, floats, sample_weight=floats, where=flags)
    lx.lxcim(array > 0, -array, sample_weight=[1, 2.5], threshold=np.float64(0.5))
    lx.lxcim([array, array], [array, array], threshold=[[0.0], [1.0]])
    lx.lxcim(column, series)
    lx.lxcim(1, series, sample_weight=None, decision=lx.probability(), nan_policy="omit")
    lx.soft_lxcim(1, floats, temperature=floats, scale=2.0)
    lx.accuracy_at(1, floats, [0.5, 0.9])
    lx.confusion.mcc([3, 1, 0, 2])
    lx.interpolate(lx.roc_curve(flags, floats), 0.5)


def takes_words_groups_and_seeds(
    array: np.ndarray[Any, Any], names: list[str], series: pl.Series
) -> None:
    lx.interval(1, array, metric="auroc", method="bca", groups=names, seed=3)
    lx.interval(1, array, groups=np.asarray(names), strata=series, weight_type="frequency")
    lx.interval(1, array, seed=np.random.default_rng(0))
    lx.significance(1, array, null="uninformative", alternative="greater")
    lx.compare_all(1, {"a": array, "b": [1.0, 2.0]}, adjust=None)
    lx.decision_function(np.abs)
    lx.audit(lx.lxcim, laws=["exchange"])


def returns_arrays(array: np.ndarray[Any, Any]) -> float:
    found = lx.lxcim(1, array)
    found.backward()  # whatever the library of the arguments gives to its arrays
    found.block_until_ready().item()
    np.mean(found)
    lx.lxcim(1, -found[..., 0] / 2)
    best = max(found, lx.auroc(1, array))
    if best > 0.5:
        return round(best, 2)
    parts = lx.decomposition(1, array)
    return float(parts.gain) + 1


def takes_frames(frame: pl.DataFrame) -> pl.DataFrame:
    frames.evaluate(frame, label="y", score="s", metrics="lxcim", ties="omit", nan_policy="abstain")
    frames.curve(frame, label="y", score="s", kind="roc", positive="won")
    return frames.evaluate(frame, label="y", score="s", by=["country"], metrics=["lxcim", "auroc"])


def takes_choices(array: np.ndarray[Any, Any], frame: pl.DataFrame) -> pl.DataFrame:
    chosen = choices.choose([[0.5, 2.0]], 1, confidence=lambda ordered: ordered[..., 0])
    lx.lxcim(chosen.correct, chosen.confidence, decision=lx.confidence())
    lx.significance(chosen.correct, chosen.confidence, chance=chosen.chance)
    pairs = choices.pairs_of_items(array, array, ["a", "b"], max_pairs=10, weighting="pair")
    lx.interval(pairs.label, pairs.margin, sample_weight=pairs.weight, groups=pairs.cluster)
    fought = frames.battles(frame, a="a", b="b", outcome="won", strength={"x": 1500, "y": 1400.5})
    return frames.choose(fought, question="q", score="margin", right="label", by=["a"])


def takes_curves(array: np.ndarray[Any, Any]) -> None:
    curve = lx.cumulative_accuracy_curve(1, array)
    plots.cumulative_accuracy(curve)
    plots.cumulative_accuracy({"mine": curve, "theirs": curve}, baselines=False)
    plots.cumulative_accuracy(1, {"mine": array, "theirs": [1.0, 2.0]}, band=0.9)
    plots.convergence({10: curve, 100: curve})
