"""Half the difference and half the sum of numbers, such that those of decimals are rounded once.

Scores are often written with a few decimals, which floats hold only nearly: 0.3 - 0.1 and 0.5 - 0.3
differ in their last bit, and ties would depend on that. So where all numbers have few decimals,
they are counted in units of the last one: in whole numbers, whose sums and differences are exact.

Differences of scores as they are written are taken number by number (``_samples/differences.py``).
Confidences come here after a threshold was subtracted and rounded, 0.7 - 0.5 as
0.19999999999999996, so that only all numbers together say what was meant.
"""

import math

from lxcim_xp._arrays.namespaces import values_are_at_hand
from lxcim_xp._arrays.numpy_pieces import FEW
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.typing import Array, DType, Namespace

# A decimal may be off by so many units in the last place of the largest number: what is read from a
# text is off by half of one, a probability less one half by two.
_ROUNDINGS = 2


def halves(xp: Namespace, a: Array, b: Array, dtype: DType) -> tuple[Array, Array]:
    """Return (a - b) / 2 and (a + b) / 2, for finite and infinite numbers in the widest float.

    ``dtype`` is the one in which the numbers were given, which says how they are rounded. Equal
    infinities differ by zero, and opposite ones sum to it.
    """
    unit = _units_in_one(xp, a, b, dtype)
    times = xp.where(unit > 0, unit, 1.0)
    first, second = (xp.where(unit > 0, xp.round(x * times), x) * 0.5 for x in (a, b))
    infinite = xp.isinf(a) & xp.isinf(b)

    def summed(other: Array, cancels: Array) -> Array:
        left, right = (xp.where(infinite & cancels, 0.0, x) for x in (first, other))
        return divide(xp, left + right, times)

    return summed(-second, a == b), summed(second, a == -b)


def _units_in_one(xp: Namespace, a: Array, b: Array, dtype: DType) -> Array:
    """Return 10^k for the least k such that all numbers have k decimals, (..., 1); 0 if none is."""
    eps = float(xp.finfo(dtype).eps)
    a, b = (xp.where(xp.isfinite(x), x, 0.0) for x in (a, b))
    size = xp.maximum(*(xp.max(xp.abs(x), axis=-1, keepdims=True) for x in (a, b)))
    off = _ROUNDINGS * eps * size
    found = xp.zeros_like(size)
    for k in range(math.floor(-math.log10(eps)) - 3, -1, -1):
        unit = 10.0**k
        # Beyond that, the spacing of floats is no small part of a unit any more.
        usable = off * unit < 2.0**-5
        if values_are_at_hand(xp) and not _are_near(xp, a[..., :FEW], off, unit, usable).any():
            break  # with fewer decimals none comes nearer
        near = _are_near(xp, a, off, unit, usable) & _are_near(xp, b, off, unit, usable)
        found = xp.where(usable & near, unit, found)
    return found


def _are_near(xp: Namespace, x: Array, off: Array, unit: float, usable: Array) -> Array:
    """Say whether all numbers are multiples of 1 / unit, as far as rounding allows, (..., 1)."""
    times = xp.where(usable, x, 0.0) * unit
    return xp.all(xp.abs(times - xp.round(times)) <= off * unit, axis=-1, keepdims=True)
