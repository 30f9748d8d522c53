"""Weights as whole multiples of a common unit: 1/6 and 1/2 are 1 and 3 sixths.

Weights matter in proportion only, so that equal weights are ones, and whole weights have sums on a
lattice. Nothing here knows what is summed.
"""

from typing import NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY, device_of
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray

# The least weight is tried as 1, 2, ... so many units: 0.05 and 0.07 are 5 and 7 hundredths.
MOST_UNITS = 64

# How far a multiple of a unit may be from a whole number: a few roundings of the weights.
_ROUNDINGS = 8

# Squares of sums up to here are exact in float64, where values can be looked at.
_LARGEST_SUM = 1 << 26

# Where they cannot, the same in float32. More samples than that have a unit only if all weigh the
# same.
LARGEST_TRACED_SUM = 1 << 12


class WholeWeights(NamedTuple):
    """Weights in their common unit."""

    weight: Array  # (..., n), whole where there is a unit, else as they were
    is_whole: Array  # (...)


def whole_weights(xp: Namespace, weight: Array) -> WholeWeights:
    """Return weights in the largest unit of which all are whole multiples, up to rounding.

    The least positive weight is at most ``MOST_UNITS`` of it, and the sum of all is small enough
    for its square to be exact.
    """
    n = weight.shape[-1]
    positive = weight > 0
    least = xp.min(xp.where(positive, weight, xp.inf), axis=-1, keepdims=True)
    least = xp.where(least < xp.inf, least, 1.0)
    # Far larger weights would be whole multiples only because all large floats are whole.
    far = xp.any(weight * xp.finfo(weight.dtype).eps > least, axis=-1, keepdims=True)
    ratio = xp.where(far, 1.0, weight) / least
    if xp is NUMPY:
        units, largest = _units_of_least_numpy(ratio), _LARGEST_SUM
    elif n <= LARGEST_TRACED_SUM:
        units, largest = _units_of_least(xp, ratio, MOST_UNITS), LARGEST_TRACED_SUM
    else:
        units, largest = _units_of_least(xp, ratio, 1), n
        far = far | xp.any(ratio > 1.5, axis=-1, keepdims=True)
    whole = xp.where(positive, xp.round(ratio * units), 0.0)
    is_whole = (units > 0) & ~far & (xp.sum(whole, axis=-1, keepdims=True) <= largest)
    return WholeWeights(xp.where(is_whole, whole, weight), is_whole[..., 0])


def _is_near_whole(xp: Namespace, multiple: Array) -> Array:
    off = xp.abs(multiple - xp.round(multiple))
    precision = _ROUNDINGS * xp.finfo(multiple.dtype).eps
    return (off <= precision * multiple) & (off < 0.25)


def _units_of_least(xp: Namespace, ratio: Array, most: int) -> Array:
    """Return how many units the least weight is, (..., 1); 0 where no number of them fits."""
    units = xp.arange(1, most + 1, dtype=ratio.dtype, device=device_of(xp, ratio))
    multiples = ratio[..., None, :] * units[:, None]
    fits = xp.all(_is_near_whole(xp, multiples), axis=-1)
    fewest = xp.min(xp.where(fits, units, xp.inf), axis=-1, keepdims=True)
    return xp.where(fewest < xp.inf, fewest, 0.0)


def _units_of_least_numpy(ratio: NumpyArray) -> NumpyArray:
    """Return the same, trying on all weights only what fits the first few of each entry."""
    found: NumpyArray = np.zeros((*ratio.shape[:-1], 1))
    first = ratio[..., :64]
    for units in range(1, MOST_UNITS + 1):
        fits = (found == 0) & _fit(first * units)
        if fits.any() and ratio.shape[-1] > first.shape[-1]:
            fits = fits & _fit(ratio * units)
        found[fits] = units
        if found.all():
            break
    return found


def _fit(multiples: NumpyArray) -> NumpyArray:
    return _is_near_whole(NUMPY, multiples).all(axis=-1, keepdims=True)
