"""Bisection in fixed shapes: what ``searchsorted`` does, along the last axis of a batch."""

from typing import Any

from lxcim_xp._array import (
    Array,
    Namespace,
    as_array,
    compiled_once,
    first_position,
    kind_of,
    namespace,
    repeat,
    values_are_at_hand,
)


def shared_rates(name: str, rates: Any, beside: str, curve: Array) -> tuple[Namespace, Array]:
    """Return decision rates as an array beside a curve: (k,), or () for a single one.

    Rates outside [0, 1] are an error, and NaN where values cannot be looked at.
    """
    xp = namespace(**{beside: curve, name: rates})
    rates = as_array(xp, rates, curve)
    if kind_of(xp, rates.dtype) == "other":
        raise TypeError(f"{name} must hold real numbers; found dtype {rates.dtype}.")
    if rates.ndim > 1:
        raise ValueError(
            f"{name} must be a number or have one axis; found shape {tuple(rates.shape)}. Every "
            f"batch entry meets the same rates: pass them as one list."
        )
    rates = xp.astype(rates, curve.dtype)
    legal = (rates >= 0) & (rates <= 1)
    if values_are_at_hand(xp):
        position = first_position(~legal)
        if position is not None:
            found = f"found {rates[position]:g}" + (
                f" at position {position}" if rates.ndim else ""
            )
            raise ValueError(
                f"{name} must lie between 0 and 1; {found}. A rate is a share of all samples, "
                f"not their number."
            )
    return xp, xp.where(legal, rates, xp.nan)


def count_up_to(xp: Namespace, points: Array, at: Array) -> Array:
    """Count the points, ascending along the last axis, that are not above each of ``at``.

    ``points`` is (..., n) and ``at`` is (..., k) with the same batch.
    """
    return compiled_once(xp, _count_up_to, points, at)


def _count_up_to(xp: Namespace, points: Array, at: Array) -> Array:
    n = points.shape[-1]
    rounds = n.bit_length()
    most = xp.arange(n).dtype

    def extend(k: Any, count: Array) -> Array:
        longer = count + 2 ** (rounds - 1) // 2**k
        inside = longer <= n
        last = xp.take_along_axis(points, xp.where(inside, longer, n) - 1, axis=-1)
        return xp.where(inside & (last <= at), longer, count)

    return repeat(xp, rounds, extend, xp.zeros_like(at, dtype=most))
