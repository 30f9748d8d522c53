"""Choices as people record them: both orders of a judge, lists of answers, items, battles, votes.

What is here turns such records into labels, margins and confidences, which every metric takes. See
:mod:`lxcim_xp.choices.orders`, :mod:`lxcim_xp.choices.lists` and :mod:`lxcim_xp.choices.pairs`.
"""

from lxcim_xp.choices.decomposition import Gain, OrderDecomposition, order_decomposition

# For annotations of frames.
from lxcim_xp.choices.decomposition import StepMetric as StepMetric
from lxcim_xp.choices.orders import (
    BothOrders,
    OrderCurve,
    OrderEffect,
    both_orders,
    order_curve,
    order_effect,
)

__all__ = [
    "BothOrders",
    "Gain",
    "OrderCurve",
    "OrderDecomposition",
    "OrderEffect",
    "both_orders",
    "order_curve",
    "order_decomposition",
    "order_effect",
]
