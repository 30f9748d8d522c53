"""Choices as people record them: both orders of a judge, lists of answers, items, battles, votes.

What is here turns such records into labels, margins and confidences, which every metric takes. See
:mod:`lxcim_xp.choices.orders`, :mod:`lxcim_xp.choices.lists`, :mod:`lxcim_xp.choices.pairs` and
:func:`lxcim_xp.choices.difference`.
"""

from lxcim_xp.choices.differences import difference

__all__ = ["difference"]
