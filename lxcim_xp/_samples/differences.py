"""Differences of numbers as they are written, so that equal differences tie.

In binary, 0.3 - 0.2 and 0.4 - 0.3 are two numbers, and raw subtraction makes dozens of confidences
of a few. Here both numbers are read as decimals first:

    first = a / u and second = b / u, with whole a and b and a power of ten u, give (a - b) / u

The numerator is exact and the quotient rounded once, so the result is the float that is nearest to
the difference of the decimals. A float64 is the decimal of at most 15 digits that reads as it (a
float32 of 6), if there is one; no two such decimals are one float. The digits are counted from the
first one of the larger number. Any other numbers are subtracted as floats.

The definition is written once, for arrays and for the expressions of queries.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import device_of, widest_float
from lxcim_xp._arrays.primitives import quietly, take
from lxcim_xp._arrays.typing import Array, Namespace

DIGITS, NARROW_DIGITS = 15, 6  # of decimals that survive a float64 and a float32
# Powers of ten up to 10**22 (10**10 in float32) are exact, which quotients must be made of.
_MOST, _MOST_NARROW = 22, 10


class Verbs(NamedTuple):
    """Functions that arrays and expressions call by different names."""

    larger: Callable[[Any, Any], Any]  # the magnitude of the larger one
    round: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]
    unit: Callable[[Any, list[tuple[float, float]]], Any]  # of the first limit that holds a number
    narrow: Callable[[Any], Any]  # rounded to the floats that the numbers were
    keep: Callable[[str, Any], Any]  # computes a value once, under a name


def difference_of(verbs: Verbs, first: Any, second: Any, *, narrow: bool) -> Any:
    """Return ``first - second`` of floats, ``narrow`` if either was a float32."""
    largest = verbs.keep("largest", verbs.larger(first, second))
    unit = verbs.keep("unit", verbs.unit(largest, _limits(narrow)))
    a = verbs.keep("first", verbs.round(first * unit))
    b = verbs.keep("second", verbs.round(second * unit))
    as_written = (verbs.narrow(a / unit) == first) & (verbs.narrow(b / unit) == second)
    return verbs.where(as_written, (a - b) / unit, first - second)


def _limits(narrow: bool) -> list[tuple[float, float]]:
    """Return what numbers may be at most to have a unit, with the unit."""
    digits, most = (NARROW_DIGITS, _MOST_NARROW) if narrow else (DIGITS, _MOST)
    return [
        (float(f"1e{place}"), 10.0 ** (digits - place))
        for place in range(digits - most, digits + 1)
    ]


def difference_of_arrays(xp: Namespace, first: Array, second: Array) -> Array:
    """Return the difference of two arrays of floats of one shape, in the widest float."""
    wide = widest_float(xp, first)
    narrow = any(x.dtype == xp.float32 for x in (first, second))
    a, b = (xp.astype(x, wide, copy=False) for x in (first, second))

    def unit(largest: Array, limits: list[tuple[float, float]]) -> Array:
        bounds, units = (
            xp.asarray(column, dtype=wide, device=device_of(xp, a))
            for column in zip(*limits, strict=True)
        )
        flat = xp.searchsorted(bounds[:-1], xp.reshape(largest, (-1,)))
        return xp.reshape(take(xp, units, flat), largest.shape)

    narrowed = (lambda x: x) if wide == xp.float32 or not narrow else partial(_narrowed, xp)
    verbs = Verbs(
        lambda x, y: xp.maximum(xp.abs(x), xp.abs(y)),
        *(xp.round, xp.where, unit, narrowed),
        keep=lambda name, value: value,
    )
    with quietly(xp):  # infinite numbers have no difference
        return difference_of(verbs, a, b, narrow=narrow)


def _narrowed(xp: Namespace, x: Array) -> Array:
    return xp.astype(xp.astype(x, xp.float32), x.dtype)
