"""The cumulative accuracy curves of a report as SVG coordinates, and what its cursor reads out.

The drawing is a square of ``SIDE`` units that the page stretches to its own shape; labels and
strokes are not stretched. Points come in; strings and plain lists go out, straight into the page.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from lxcim_xp.report.reject_option import Points
from lxcim_xp.report.wording import scores_of, significant

SIDE = 1000
START = 100  # where the cursor stands first on the grid of rates: in the middle
_COLOURS, _DASHES = 6, 4  # how many the style sheet has


class Curve(NamedTuple):
    """A line of the chart."""

    name: str
    path: str
    style: str  # CSS classes


def chart_of(models: Sequence[Points]) -> list[Curve]:
    """Return the line of each model."""
    return [Curve(each.name, _path(each.x, each.y), style(at)) for at, each in enumerate(models)]


def style(which: int) -> str:
    """Return the CSS classes for the colour and the dash of a model."""
    return f"c{which % _COLOURS} d{which % _DASHES}"


def cursor_of(models: Sequence[Points]) -> dict[str, Any]:
    """Return what the cursor reads out at each rate, ready for JSON."""
    return {
        "start": START,
        "rate": models[0].grid.rate,
        "models": [
            {
                "name": each.name,
                "cumulative": _finite(each.grid.cumulative),
                "accuracy": _finite(each.grid.accuracy),
                "local": _finite(each.grid.local),
                "reached": _finite(each.grid.reached),
                "confidence": [significant(at.confidence) for at in each.grid.threshold],
                "scores": [scores_of(at) for at in each.grid.threshold],
            }
            for each in models
        ],
    }


def _path(x: list[float], y: list[float]) -> str:
    points = (f"{SIDE * a:.1f} {SIDE * (1 - b):.1f}" for a, b in zip(x, y, strict=True))
    return "M" + "L".join(points)


def _finite(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
