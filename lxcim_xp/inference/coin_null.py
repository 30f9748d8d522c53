"""Which form computes the tails of the coin null: the lattice, all outcomes, or the saddlepoint.

The forms themselves are in :mod:`exact_coins` and :mod:`null_distributions`. They see scores;
what makes scores a lattice, their weights, is looked at here.
"""

import numpy as np

from lxcim_xp._arrays.loops import compiled_once
from lxcim_xp._arrays.namespaces import NUMPY, values_are_at_hand
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._samples.samples import Margins
from lxcim_xp.inference.exact_coins import (
    MOST_ENUMERATED,
    enumerated_tails,
    exact_coin_tails,
)
from lxcim_xp.inference.null_distributions import (
    Tails,
    coins,
    common_span,
    saddlepoint_coin_tails,
    weighted_span,
)
from lxcim_xp.inference.weight_units import whole_weights

EXACT, SADDLEPOINT, EITHER = "exact", "saddlepoint", "exact or saddlepoint"

# Entries of a NumPy batch with whole weights are exact if their tables take at most so many steps:
# about a tenth of a second, for 100 samples whose weights sum to 1000.
_AFFORDABLE = 10**8

# More coins than that have outcomes too unlikely for a float.
_MOST_COINS = 1000


def coin_tails(
    xp: Namespace, margins: Margins, *, uniform: bool, exact_up_to: int
) -> tuple[Tails, str]:
    """Return the tails of LxCIM if all decisions are a coin's, and how they were computed.

    ``uniform`` says that all weights are known to be 0 or 1. Tails are exact for as many samples of
    equal weight as are asked for, and whatever the weights where few or cheap enough.
    """
    n = margins.value.shape[-1]
    if margins.stake is not None:
        weight = xp.ones_like(margins.stake) if margins.weight is None else margins.weight
        margins, uniform = margins._replace(weight=weight), False
    if not values_are_at_hand(xp):
        if uniform or margins.weight is None:
            return _tails_of_counts(xp, margins, exact_up_to)
        return _tails_of_any(xp, margins, margins.weight, exact_up_to)
    if margins.weight is None or (uniform and n <= exact_up_to):
        return _tails_of_counts(xp, margins, exact_up_to)
    return _tails_by_row(margins, margins.weight, exact_up_to)


def _tails_of_counts(xp: Namespace, margins: Margins, exact_up_to: int) -> tuple[Tails, str]:
    score, observed = coins(xp, margins)
    if score.shape[-1] <= exact_up_to:
        return exact_coin_tails(xp, score, observed), EXACT
    span = common_span(xp, score)
    return saddlepoint_coin_tails(xp, score, observed, span), SADDLEPOINT


def _tails_by_row(margins: Margins, weight: Array, exact_up_to: int) -> tuple[Tails, str]:
    """Choose the form for each entry of a NumPy batch."""
    shape = margins.value.shape
    value, weight = (x.reshape(-1, shape[-1]) for x in (margins.value, weight))
    weight, is_whole = whole_weights(NUMPY, weight)
    is_equal = is_whole & (weight.max(axis=-1) <= 1)
    stake = margins.stake
    if stake is not None:
        stake, in_votes = whole_weights(NUMPY, stake.reshape(-1, shape[-1]) * (weight > 0))
        is_whole, is_equal = is_whole & in_votes, is_equal & in_votes & (stake.max(axis=-1) <= 1)
    score, observed = coins(NUMPY, Margins(value, weight, stake))
    present, tossed = (np.count_nonzero(x, axis=-1) for x in (weight, score))
    span = np.zeros(len(score))
    span[is_whole] = common_span(NUMPY, score[is_whole])
    steps = tossed * score.sum(axis=-1) / np.where(span > 0, span, 1.0)

    counted = is_equal & (present > exact_up_to)
    few = ~is_equal & (tossed <= MOST_ENUMERATED)
    affordable = is_whole & (tossed <= _MOST_COINS) & (steps <= _AFFORDABLE)
    lattice = (is_equal & ~counted) | (~is_equal & ~few & affordable)
    smooth = ~(counted | few | lattice)
    tails = NUMPY.empty((len(score), 2))
    if lattice.any():
        tails[lattice] = np.stack(
            exact_coin_tails(NUMPY, score[lattice], observed[lattice]), axis=-1
        )
    if few.any():
        largest = NUMPY.sort(score[few], axis=-1)[:, -max(1, tossed[few].max()) :]
        tails[few] = np.stack(enumerated_tails(NUMPY, largest, observed[few], shape[-1]), axis=-1)
    if smooth.any():
        found = saddlepoint_coin_tails(
            NUMPY, score[smooth], observed[smooth], span[smooth], weighted=True
        )
        tails[smooth] = np.stack(found, axis=-1)
    for row in np.flatnonzero(counted):  # as if what weighs nothing were not there
        counts = weight[row] > 0
        there = Margins(value[row][counts], None, None if stake is None else stake[row][counts])
        tails[row] = _tails_of_counts(NUMPY, there, exact_up_to)[0]
    tails = tails.reshape(*shape[:-1], 2)
    return Tails(tails[..., 0], tails[..., 1]), _name(lattice | few)


def _name(is_exact: NumpyArray) -> str:
    if is_exact.all():
        return EXACT
    return EITHER if is_exact.any() else SADDLEPOINT


def _tails_of_any(
    xp: Namespace, margins: Margins, weight: Array, exact_up_to: int
) -> tuple[Tails, str]:
    """Compute what may be needed, in fixed shapes, and choose by arithmetic."""
    n = margins.value.shape[-1]
    if n <= MOST_ENUMERATED:
        return enumerated_tails(xp, *coins(xp, margins), n), EXACT
    stake = margins.stake
    if stake is not None:
        counts = weight > 0
        stake, in_votes = compiled_once(xp, whole_weights, xp.where(counts, stake, 0.0))
    weight, is_whole = compiled_once(xp, whole_weights, weight)
    score, observed = coins(xp, Margins(margins.value, weight, stake))
    is_uneven = ~is_whole | (xp.max(weight, axis=-1) > 1)
    if stake is not None:
        is_whole, is_uneven = is_whole & in_votes, is_uneven | (xp.max(stake, axis=-1) > 1)
    span = weighted_span(xp, xp.where(is_whole[..., None], score, 0.0))
    smooth = saddlepoint_coin_tails(xp, score, observed, span, weighted=is_uneven)
    if n > exact_up_to:
        return smooth, SADDLEPOINT
    # A table of n^2 + 1 places holds equal weights, and whole ones where confidences tie much.
    width = xp.where(span > 0, span, 1.0)
    fits = is_whole & (xp.sum(score, axis=-1) <= n * n * width)
    steps = xp.where(fits[..., None], xp.round(score / width[..., None]), 0.0)
    exact = exact_coin_tails(xp, steps, xp.round(observed / width))
    lower, upper = (xp.where(fits, *both) for both in zip(exact, smooth, strict=True))
    return Tails(lower, upper), EITHER
