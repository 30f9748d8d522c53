"""Bisection in fixed shapes: in sorted points along the last axis of a batch, and of functions."""

from collections.abc import Callable
from typing import Any

from lxcim_xp._arrays.loops import compiled_once, repeat
from lxcim_xp._arrays.namespaces import (
    values_are_at_hand,
)
from lxcim_xp._arrays.typing import Array, Namespace


def count_up_to(xp: Namespace, points: Array, at: Array) -> Array:
    """Count the points, ascending along the last axis, that are not above each of ``at``.

    ``points`` is (..., n) and ``at`` is (..., k) with the same batch.
    """
    return compiled_once(xp, _count_up_to, points, at)


def count_below(xp: Namespace, points: Array, at: Array) -> Array:
    """Count the points that are below each of ``at``, as :func:`count_up_to` does."""
    return compiled_once(xp, _count_below, points, at)


def _count_up_to(xp: Namespace, points: Array, at: Array) -> Array:
    return _counted(xp, points, lambda point: point <= at, at)


def _count_below(xp: Namespace, points: Array, at: Array) -> Array:
    return _counted(xp, points, lambda point: point < at, at)


def _counted(xp: Namespace, points: Array, counts: Callable[[Array], Array], like: Array) -> Array:
    n = points.shape[-1]
    rounds = n.bit_length()
    most = xp.arange(n).dtype

    def extend(k: Any, count: Array) -> Array:
        longer = count + 2 ** (rounds - 1) // 2**k
        inside = longer <= n
        last = xp.take_along_axis(points, xp.where(inside, longer, n) - 1, axis=-1)
        return xp.where(inside & counts(last), longer, count)

    return repeat(xp, rounds, extend, xp.zeros_like(like, dtype=most))


# The exponents of 2 by which a bracket grows; their sum covers all floats.
_GROWTH = (1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)

# Enough to halve the range of exponents down to one, and then to find each bit of the fraction.
_HALVINGS = 72


def bisected(
    xp: Namespace,
    g: Callable[[Array], Array],
    score: Array,
    threshold: Array,
    domain: tuple[float, float] | None,
) -> Array:
    """Find the score on the other side of the threshold that has the same ``g``."""
    confidence = g(score)
    above = score < threshold  # where to look
    largest = xp.finfo(score.dtype).max
    low, high = (-largest, largest) if domain is None else domain
    room = xp.where(above, high - threshold, threshold - low)

    def at(distance: Array) -> Array:
        return xp.where(above, threshold + distance, threshold - distance)

    def is_short(distance: Array) -> Array:
        return g(at(distance)) < confidence

    def halve(_: object, bounds: Array) -> Array:
        near, far = bounds[0, ...], bounds[1, ...]
        # By the exponent while that is uncertain, so that every magnitude takes as many steps.
        middle = xp.where(far > 2 * near, xp.sqrt(near) * xp.sqrt(far), near + (far - near) / 2)
        short = is_short(middle)
        return xp.stack([xp.where(short, middle, near), xp.where(short, far, middle)])

    own = xp.minimum(xp.abs(xp.where(xp.isfinite(score), score - threshold, room)), room)
    bounds = repeat(xp, _HALVINGS, halve, xp.stack(_bracket(xp, is_short, own, room)))
    near, far = at(bounds[0, ...]), at(bounds[1, ...])
    closer = xp.abs(g(near) - confidence) < xp.abs(g(far) - confidence)
    return xp.where(xp.isinf(score), -score, xp.where(closer, near, far))


def _bracket(
    xp: Namespace, is_short: Callable[[Array], Array], near: Array, room: Array
) -> tuple[Array, Array]:
    """Return a distance that is too short and one that is not, both close to the one given.

    The bracket grows from there. Starting from the ends of all floats, ``g`` might overflow.
    """
    far = near
    for exponent in _GROWTH:
        if 2.0**exponent > float(xp.finfo(near.dtype).max):
            break
        short, long = is_short(far), ~is_short(near)
        if values_are_at_hand(xp) and not (short.any() or long.any()):
            break
        one, step = xp.ones_like(near), xp.full_like(near, 2.0**exponent)
        fits = short & (far < room / step)
        far = xp.where(short & ~fits, room, far * xp.where(fits, step, one))
        near = near / xp.where(long, step, one)
    return near, far
