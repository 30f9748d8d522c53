"""Choices as people record them: both orders of a judge, lists of answers, items, battles, votes.

What is here turns such records into labels, margins and confidences, which every metric takes. See
:mod:`lxcim_xp.choices.orders`, :mod:`lxcim_xp.choices.lists` and :mod:`lxcim_xp.choices.pairs`.
"""

from lxcim_xp.choices.lists import Chosen, choose
from lxcim_xp.choices.pairs import ItemPairs, pairs_of_items

__all__ = ["Chosen", "ItemPairs", "choose", "pairs_of_items"]
