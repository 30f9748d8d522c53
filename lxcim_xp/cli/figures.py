"""Curves for the command line: a figure with a line for each model and subgroup, or their points.

``results`` yields the samples and ``lxcim_xp.plots`` draws them; points come from ``frames.curve``.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from lxcim_xp import frames
from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp.cli.files import BadData
from lxcim_xp.cli.options import Kind
from lxcim_xp.cli.output import in_words, say, visible, whole_file
from lxcim_xp.cli.results import Group, groups_of, of_models
from lxcim_xp.cli.selection import Chosen, keywords

_ROOM = 60  # characters of a name in a legend
POINTS: dict[Kind, Any] = {  # curves whose points can be written, with their names in ``frames``
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
        options["areas"] = False  # only one curve can have its areas shaded
    ax: Any = None
    for place, (name, group, scores) in enumerate(lines, start=1):
        if kind is not Kind.local_accuracy:  # it has no baselines
            options["baselines"] = place == len(lines)  # below the models in the legend
        samples = {"sample_weight": group.weight, **group.options}
        ax = function(group.label, scores, ax=ax, label=name, **samples, **options)
    with whole_file(output) as path, warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", "Glyph")
        plots.save(ax, path)
    lacking = "The font of the figure lacks signs of some names; boxes stand in their place."
    texts = [str(each.message) for each in told]
    for text in dict.fromkeys(lacking if each.startswith("Glyph") else each for each in texts):
        say(text)


def write_points(chosen: Chosen, rows: pl.DataFrame, kind: Kind, output: Path) -> None:
    """Write the points of the curves as CSV, with the name of the model."""
    points = of_models(
        chosen,
        lambda one: frames.curve(rows, score=one.scores[0], kind=POINTS[kind], **keywords(one)),
    )
    with whole_file(output) as path:
        in_words(points).write_csv(path)


def _lines(chosen: Chosen, rows: pl.DataFrame, metric: str) -> Iterator[tuple[str, Group, Array]]:
    """Yield name, subgroup and scores of each model and subgroup that has samples."""
    for group in groups_of(chosen, rows, metric):
        key = ", ".join(map(str, group.key))
        for name, scores in group.scores.items():
            if scores.size:
                alone = bool(key) and len(chosen.scores) == 1
                shown = key if alone else ", ".join(filter(None, (name, key)))
                yield _short(visible(shown)), group, scores


def _short(name: str) -> str:
    """Leave out the middle of a name that is too long for a legend."""
    return name if len(name) <= _ROOM else f"{name[: _ROOM // 2]}…{name[-_ROOM // 2 :]}"
