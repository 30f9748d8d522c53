"""Sums of a Laplace kernel over all pairs of samples, by one sort and two scans.

For positions x and weights w, with the Laplace distribution function F and a temperature,

    below_i = sum_j w_j F((x_i - x_j) / temperature)
    near_i  = sum_j w_j exp(-|x_i - x_j| / temperature)

for all i at once. In sorted order both are sums over what lies before and after each place, decayed
by the distance; scans carry these sums along. Decays come from positions, not from products of
decays: an exponent is then the difference of two positions and never positive, so that nothing
overflows and float32 keeps its digits. A temperature of zero is the limit: ties count half.

Everything here takes positions in ascending order along the last axis; temperatures have a last
axis of length one.
"""

from typing import NamedTuple

from lxcim_xp._arrays.autodiff import linearised
from lxcim_xp._arrays.loops import linear_recurrence
from lxcim_xp._arrays.primitives import contiguous, quietly, running_sum
from lxcim_xp._arrays.typing import Array, Namespace

# Samples are cut into rows, rows into rows of rows, and so on. Each level is one scan over a row of
# about n ** (1 / 3) entries, all rows at once: few and long passes, and programs whose length does
# not depend on n.
_LEVELS = 3
_SHORT = 16  # samples, which are one row


class Sums(NamedTuple):
    """Sums of one column over the kernel, at each place."""

    below: Array  # sum_j w_j F((x_i - x_j) / temperature)
    near: Array  # sum_j w_j exp(-|x_i - x_j| / temperature)


def decay(xp: Namespace, distance: Array, temperature: Array) -> Array:
    """Return exp(-distance / temperature); at temperature zero, 1 for no distance and else 0."""
    # A temperature of zero is replaced by a tiny one, so that no case of its own is needed. It is
    # smaller than any distance that matters, and its inverse does not overflow.
    coldest = 1e-200 if temperature.dtype == xp.float64 else 1e-37
    rate = -1 / xp.where(temperature > coldest, temperature, coldest)
    return xp.exp(distance * rate)


def distribution(xp: Namespace, x: Array, temperature: Array) -> Array:
    """Return the Laplace distribution function F(x / temperature); one half at zero."""
    # Not by abs(), whose derivative at zero is zero.
    tail = decay(xp, xp.where(x > 0, x, -x), temperature) / 2
    return xp.where(x > 0, 1 - tail, tail)


def inverse(xp: Namespace, temperature: Array) -> Array:
    """Return 1 / temperature, and 0 for a temperature of zero, where all slopes are zero.

    What is too small for its inverse to be finite is zero.
    """
    warm = temperature >= xp.finfo(temperature.dtype).smallest_normal
    return xp.where(warm, 1 / xp.where(warm, temperature, 1.0), 0.0)


def slope_by_temperature(xp: Namespace, position: Array, slope: Array, temperature: Array) -> Array:
    """Return the derivative by the temperature of a function of positions / temperature (Euler)."""
    with quietly(xp):  # the square of the inverse may not be finite, and is seldom asked for
        return -inverse(xp, temperature) * xp.sum(position * slope, axis=-1, keepdims=True)


def kernel_sums(xp: Namespace, x: Array, temperature: Array, *columns: Array) -> tuple[Sums, ...]:
    """Sum columns over the kernel."""
    n = x.shape[-1]
    # The first level has whole rows if they are filled up here, before the arrays are stacked.
    length = _root(n, _levels(n))
    x = _filled(xp, x, length)
    weight = xp.stack([_filled(xp, column, length, 0.0) for column in columns], axis=-2)
    # Both directions in one scan: what lies after is what lies before, seen from the other end.
    both_ways = xp.stack([weight, xp.flip(weight, axis=-1)], axis=-3)
    position = xp.stack([x, -xp.flip(x, axis=-1)], axis=-2)[..., None, :]
    carried = decayed_sum(xp, position, both_ways, temperature[..., None, None])
    weight = weight[..., :n]
    before = carried[..., 0, :, :n] - weight
    after = xp.flip(carried[..., 1, :, :], axis=-1)[..., :n] - weight
    below = running_sum(xp, weight)[..., 1:] + (after - before - weight) / 2
    near = before + after + weight
    return tuple(Sums(below[..., k, :], near[..., k, :]) for k in range(len(columns)))


def decayed_sum(xp: Namespace, x: Array, weight: Array, temperature: Array) -> Array:
    """Return sum_{j <= i} w_j exp(-(x_i - x_j) / temperature)."""
    return linearised(xp, _by_levels, _tangent_of_sum, x, weight, temperature)


def _tangent_of_sum(
    xp: Namespace, primals: tuple[Array, ...], result: Array, tangents: tuple[Array, ...]
) -> Array:
    """Return the directional derivative, which is another such sum."""
    x, weight, temperature = primals
    dx, dweight, dtemperature = tangents
    # The sum is a function of x / temperature: a change of temperature is one of the positions.
    per_temperature = inverse(xp, temperature)
    shift = (dx - x * (dtemperature * per_temperature)) * per_temperature
    return decayed_sum(xp, x, dweight + weight * shift, temperature) - shift * result


def _by_levels(xp: Namespace, x: Array, weight: Array, temperature: Array) -> Array:
    return _level(xp, x, weight, temperature, _levels(x.shape[-1]))


def _level(xp: Namespace, x: Array, weight: Array, temperature: Array, levels: int) -> Array:
    n = x.shape[-1]
    length = _root(n, levels)
    x, weight = _in_rows(xp, x, length), _in_rows(xp, weight, length, padding=0.0)
    temperature = temperature[None, ...]
    within = decay(xp, x[1:, ...] - x[:-1, ...], temperature)
    sums = linear_recurrence(xp, within, weight)
    if levels > 1:
        carried = _level(xp, x[-1, ...], sums[-1, ...], temperature[0, ...], levels - 1)
        # A row receives the sum at the end of the row before it; the first one receives nothing.
        coming = xp.concat([xp.zeros_like(carried[..., :1]), carried[..., :-1]], axis=-1)
        last_end = xp.concat([x[0, ..., :1], x[-1, ..., :-1]], axis=-1)
        since = decay(xp, x - last_end[None, ...], temperature)
        sums = sums + since * coming[None, ...]
    by_row = xp.permute_dims(sums, (*range(1, sums.ndim), 0))
    return xp.reshape(by_row, (*by_row.shape[:-2], -1))[..., :n]


def _levels(n: int) -> int:
    return _LEVELS if n > _SHORT else 1


def _root(n: int, levels: int) -> int:
    """Return the smallest length whose power of ``levels`` is at least n."""
    length = max(1, int(n ** (1 / levels)))
    while length**levels < n:
        length += 1
    return length


def _in_rows(xp: Namespace, x: Array, length: int, padding: float | None = None) -> Array:
    """Cut the last axis into rows of one length and put the place in a row first, the row last."""
    x = _filled(xp, x, length, padding)
    rows = xp.reshape(x, (*x.shape[:-1], -1, length))
    # In memory too, so that each step of the scan is one pass over neighbours.
    return contiguous(xp, xp.permute_dims(rows, (rows.ndim - 1, *range(rows.ndim - 1))))


def _filled(xp: Namespace, x: Array, length: int, padding: float | None = None) -> Array:
    """Fill up to whole rows with ``padding``, or with the last entry, at a distance of zero."""
    missing = -x.shape[-1] % length
    if not missing:
        return x
    last = x[..., -1:] if padding is None else xp.full_like(x[..., -1:], padding)
    return xp.concat([x, xp.broadcast_to(last, (*x.shape[:-1], missing))], axis=-1)
