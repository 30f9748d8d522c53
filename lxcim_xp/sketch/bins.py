"""Monotone bins of confidence: a scale that is fixed beforehand, so that histograms can be added.

A bin is a range of the bits of a float: exponent and leading digits, read as one integer, divided
by a constant. So the scale is logarithmic from octave to octave and linear inside each. Against
``floor(log2(g) * k)`` this has no rounding: it never puts a larger confidence into a lower bin, and
it is the same on every library, device and compiler, which the last bit of a logarithm is not.
"""

import operator
from functools import cache
from typing import Any

import numpy as np

from lxcim_xp._array import (
    Array,
    DType,
    Namespace,
    default_int,
    device_of,
    float_bits,
    shows_bits,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp.decision import Decision

# What the bits of a float32 count: steps of one octave. A float64 counts 2 ** 29 times finer.
_OCTAVE = 1 << 23


def checked_bins(bins: Any) -> int:
    """Return the number of bins, which must be at least 2."""
    try:
        number = operator.index(bins)
    except TypeError:
        number = 0
    if number < 2:
        raise ValueError(
            f"bins must be a whole number of at least 2; found {bins!r}. Pass 4096 for bounds that "
            f"are about 0.001 wide."
        )
    return number


def largest_confidence(xp: Namespace, score: Array, decision: Decision, bound: Any) -> Array | None:
    """Return the largest confidence that such scores can have; None if there is none."""
    device = device_of(xp, score)
    if bound is not None:
        if isinstance(bound, np.generic):
            bound = bound.item()
        if not isinstance(bound, int | float):
            raise TypeError(f"bound must be a number; found {type(bound).__name__}.")
        if not bound > 0:
            raise ValueError(
                f"bound must be positive; found {bound!r}. Pass the largest confidence that a "
                f"score can have, or None."
            )
        limit = xp.asarray(float(bound), dtype=score.dtype, device=device)
        if bound == float("inf"):
            return None
    else:
        if decision.domain is None or not isinstance(decision.threshold, int | float):
            return None
        if float("inf") in (-decision.domain[0], decision.domain[1]):
            return None
        ends = xp.asarray(decision.domain, dtype=score.dtype, device=device)
        signed = decision.signed(xp, ends, decision.threshold, *decision.parameters)
        limit = xp.max(xp.abs(signed))
        if values_are_at_hand(xp) and not np.isfinite(limit):
            return None
    return xp.astype(limit, widest_float(xp, score), copy=False)


def bound_tolerance(xp: Namespace, dtype: DType) -> float:
    """Return by which share of itself a bound may be exceeded.

    Thresholds and bounds are rounded to the dtype of the scores, as both have to meet them.
    """
    return 4 * float(xp.finfo(dtype).eps)


def bin_of(xp: Namespace, confidence: Array, bins: int, bound: Array | None) -> Array:
    """Return the bin of each confidence, in 0 .. bins - 1, which never falls as confidence grows.

    Without a bound, 64 octaves from 2 ** -32 to 2 ** 32 share the bins. With one, 32 octaves of
    the confidence below half the bound share one half of them, and 32 octaves of the distance to
    the bound the other half: probabilities crowd at both ends. Zero has a bin of its own, and so
    has the bound; what lies beyond the octaves goes into the outermost bins.
    """
    if bound is None:
        inner = max(bins - 3, 1)
        # Far above the last octave, so that scaling does not overflow.
        scaled = xp.clip(confidence, max=2.0**40) * 2.0**32
        index = 2 + xp.clip(_steps(xp, scaled, 64, inner), -1, bins - 3)
    else:
        low, high = max((bins - 2) // 2, 1), max((bins - 1) // 2, 1)
        share = confidence / bound
        rest = 1 - share  # exact from one half on
        lower = 1 + xp.clip(_steps(xp, share * 2.0**33, 32, low), 0, low - 1)
        upper = bins - 2 - xp.clip(_steps(xp, rest * 2.0**33, 32, high), 0, high - 1)
        index = xp.where(share <= 0.5, lower, upper)
        index = xp.clip(xp.where(share >= 1, bins - 1, index), 1, bins - 1)
    return xp.where(confidence > 0, index, 0)


def _steps(xp: Namespace, x: Array, octaves: int, count: int) -> Array:
    """Return how many steps x lies above 1 (below it: some negative number).

    The steps are equal in bits, and ``count`` of them cover the octaves.
    """
    step = -(-octaves * _OCTAVE // count)
    if not shows_bits(xp):
        edges = xp.asarray(_edges(step, count), dtype=x.dtype, device=device_of(xp, x))
        return xp.astype(xp.searchsorted(edges, x, side="right"), default_int(xp, x)) - 1
    bits = float_bits(xp, x)
    if x.dtype == xp.float64:
        return (bits - (1023 << 52)) // (step << 29)
    return (bits - (127 << 23)) // step


@cache
def _edges(step: int, count: int) -> list[float]:
    """Return where the steps begin: floats whose bits are equally spaced, from 1 on."""
    bits = np.arange(count + 1, dtype=np.int64) * (step << 29) + (1023 << 52)
    edges: list[float] = bits.view(np.float64).tolist()
    return edges
