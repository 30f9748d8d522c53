"""Choices as people record them: both orders of a judge, lists of answers, items, battles, votes.

What is here turns such records into labels, margins and confidences, which every metric takes.
``battles`` takes tables, and so is one of the functions of :mod:`lxcim_xp.frames`.
"""

from importlib import import_module
from typing import Any

from lxcim_xp.choices.decomposition import Gain, OrderDecomposition, order_decomposition

# For annotations of frames.
from lxcim_xp.choices.decomposition import StepMetric as StepMetric
from lxcim_xp.choices.differences import difference
from lxcim_xp.choices.lists import Chosen, choose
from lxcim_xp.choices.orders import (
    BothOrders,
    OrderCurve,
    OrderEffect,
    both_orders,
    order_curve,
    order_effect,
)
from lxcim_xp.choices.pairs import ItemPairs, pairs_of_items
from lxcim_xp.choices.votes import Ceiling, ceiling

__all__ = [
    "BothOrders",
    "Ceiling",
    "Chosen",
    "Gain",
    "ItemPairs",
    "OrderCurve",
    "OrderDecomposition",
    "OrderEffect",
    "battles",
    "both_orders",
    "ceiling",
    "choose",
    "difference",
    "order_curve",
    "order_decomposition",
    "order_effect",
    "pairs_of_items",
]


def __getattr__(name: str) -> Any:
    """Find what lives with tables when it is first used: arrays need no tables (PEP 562)."""
    if name != "battles":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("lxcim_xp.frames").battles
