"""Curves that commands draw: one line for each model and subgroup, or their points as a table."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from lxcim_xp import frames
from lxcim_xp._array import Array
from lxcim_xp._cli_files import BadData
from lxcim_xp._cli_output import whole_file
from lxcim_xp._cli_samples import Chosen, keywords
from lxcim_xp._cli_tables import groups_of


class Kind(StrEnum):
    """The curves that can be drawn."""

    cumulative_accuracy = "cumulative-accuracy"
    accuracy_rate = "accuracy-rate"
    roc = "roc"
    symmetric_roc = "symmetric-roc"
    local_accuracy = "local-accuracy"


POINTS = {  # what has points to write down, by its name in ``frames``
    Kind.cumulative_accuracy: "cumulative_accuracy",
    Kind.accuracy_rate: "accuracy_rate",
    Kind.roc: "roc",
}


def draw(chosen: Chosen, rows: pl.DataFrame, kind: Kind, band: float | None, output: Path) -> None:
    """Draw the curves of all models and subgroups into one figure."""
    from lxcim_xp import plots

    function: Callable[..., Any] = getattr(plots, kind.replace("-", "_"))
    options: dict[str, Any] = {} if band is None else {"band": band}
    lines = list(_lines(chosen, rows, "auroc" if kind is Kind.roc else "lxcim"))
    if not lines:
        raise BadData(f"{chosen.source.name} has no rows to draw.")
    if kind is Kind.symmetric_roc and len(lines) > 1:
        options["areas"] = False  # of one curve only
    ax: Any = None
    for place, (name, label, scores, weight) in enumerate(lines, start=1):
        if kind is not Kind.local_accuracy:  # which has none
            options["baselines"] = place == len(lines)  # below the models in the legend
        ax = function(label, scores, ax=ax, label=name, sample_weight=weight, **options)
    with whole_file(output) as path:
        plots.save(ax, path)


def write_points(chosen: Chosen, rows: pl.DataFrame, kind: Kind, output: Path) -> None:
    """Write the points of the curves as CSV, with the name of the model if there are several."""
    curves = []
    for score in chosen.scores:
        points = frames.curve(rows, score=score, kind=POINTS[kind], **keywords(chosen))
        model = [pl.lit(score).alias("model")] if len(chosen.scores) > 1 else []
        curves.append(points.select(*model, pl.all()))
    with whole_file(output) as path:
        pl.concat(curves).write_csv(path)


def _lines(
    chosen: Chosen, rows: pl.DataFrame, metric: str
) -> Iterator[tuple[str, Array, Array, Array | None]]:
    """Yield name, labels, scores and weights of each model and subgroup that has samples."""
    for group in groups_of(chosen, rows, metric):
        key = ", ".join(map(str, group.key))
        for name, scores in group.scores.items():
            if scores.size:
                alone = bool(key) and len(chosen.scores) == 1
                shown = key if alone else ", ".join(filter(None, (name, key)))
                yield shown, group.label, scores, group.weight
