"""The one table of metrics: what each is called, and where it is available.

Frames, figures, reports and the command line take names and titles from here, and tests compare
the rest of the package and the pages with it. It imports none of the metrics, so that a command can
list them before any of them is loaded.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Metric(NamedTuple):
    """A row of the table."""

    name: str  # of the function in ``lxcim_xp.metrics``
    title: str  # in legends and headings
    is_invariant: bool  # to local exchange of classes
    has_influence: bool = False  # and so intervals and comparisons
    in_frames: bool = False  # and so in reports and on the command line
    has_bounds: bool = False  # from a sketch
    has_expression: bool = False  # in ``lxcim_xp.polars``
    has_contributions: bool = False  # of each sample

    @property
    def needs_labels(self) -> bool:
        """Whether it must know which side is positive; an invariant metric only needs margins."""
        return not self.is_invariant

    @property
    def heading(self) -> str:
        """The title at the beginning of a line."""
        return self.title[:1].upper() + self.title[1:]

    @property
    def function(self) -> Callable[..., Any]:
        """The metric itself."""
        from lxcim_xp import metrics

        function: Callable[..., Any] = getattr(metrics, self.name)
        return function


TABLE = (
    Metric(
        *("lxcim", "LxCIM", True),
        has_influence=True,
        in_frames=True,
        has_bounds=True,
        has_expression=True,
        has_contributions=True,
    ),
    Metric(
        *("accuracy", "accuracy", True),
        has_influence=True,
        in_frames=True,
        has_bounds=True,
        has_expression=True,
    ),
    Metric("augrc", "AUGRC", True),
    Metric(
        *("audrc", "AUDRC", True),
        has_influence=True,
        in_frames=True,
        has_bounds=True,
        has_contributions=True,
    ),
    Metric("aurc", "AURC", True),
    Metric("auroc", "AUROC", False, has_influence=True, in_frames=True, has_expression=True),
    Metric("confidence_auroc", "AUROC of the confidence", True, has_influence=True),
    Metric("bi_auroc", "Bi-AUROC", False),
    Metric("average_precision", "average precision", False),
    Metric("ks_statistic", "KS statistic", False),
    Metric("auch", "AUCH", False),
)
METRICS = {row.name: row for row in TABLE}

IN_FRAMES: tuple[Any, ...] = tuple(row.name for row in TABLE if row.in_frames)
OF_MARGINS: tuple[Any, ...] = tuple(name for name in IN_FRAMES if not METRICS[name].needs_labels)
WITH_BOUNDS: tuple[Any, ...] = tuple(row.name for row in TABLE if row.has_bounds)
WITH_CONTRIBUTIONS = tuple(row.name for row in TABLE if row.has_contributions)
