"""Paired comparisons of models; see :mod:`lxcim_xp.inference`."""

from lxcim_xp.inference.comparison import (
    Comparison,
    ComparisonTable,
    compare,
    compare_all,
    required_samples,
)

__all__ = ["Comparison", "ComparisonTable", "compare", "compare_all", "required_samples"]
