"""Monotone bins of confidence: a scale that is fixed beforehand, so that histograms can be added.

A bin is a range of the bits of a float: exponent and leading digits, read as one integer, divided
by a constant. So the scale is logarithmic from octave to octave and linear inside each. Unlike
``floor(log2(g) * k)`` it is not rounded: it never puts a larger confidence into a lower bin, and it
is the same on every library, device and compiler, which the last bit of a logarithm is not.
"""

from functools import cache

import numpy as np

from lxcim_xp._arrays.namespaces import default_int, device_of
from lxcim_xp._arrays.primitives import float_bits, shows_bits
from lxcim_xp._arrays.typing import Array, Namespace

# So many float32 numbers lie in an octave; float64 numbers are 2 ** 29 times denser.
_OCTAVE = 1 << 23


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
