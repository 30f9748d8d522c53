"""Operations that the Array API standard lacks, or that some library does slowly.

Each has one name for all libraries, takes the namespace first, and gives the same result in each.
"""

import math
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np

from lxcim_xp._arrays.loops import compiled_once
from lxcim_xp._arrays.namespaces import NUMPY, device_of, library_name
from lxcim_xp._arrays.numpy_pieces import CACHED, FEW
from lxcim_xp._arrays.typing import Array, DType, Namespace, NumpyArray

# Running sums in float32 are built from pieces of this length: the rounding error then grows with
# the length of a piece, not with n. It only matters where the device has no float64.
_PIECE = 256

# What a bin without values holds after each reduction.
_EMPTY = {"sum": 0, "min": math.inf, "max": -math.inf}

# Where a library has no scatter, this many pairs of a sample and a bin are compared at once.
_COMPARED = 1 << 22

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}  # by size in bytes


def without_subnormals(xp: Namespace, x: Array) -> Array:
    """Return JAX numbers with zeros in place of subnormal ones.

    XLA treats them as zeros in some operations but not in others, and which ones depends on what
    it compiles together.
    """
    if library_name(xp) != "jax" or x.dtype == xp.float16:  # in float16 they are not that small
        return x
    from jax.lax import stop_gradient

    tiny = float(xp.finfo(x.dtype).smallest_normal)
    return xp.where(xp.abs(x) < tiny, x - stop_gradient(x), x)  # keeps the derivative


def signed_by(xp: Namespace, label: Array, x: Array) -> Array:
    """Return a new array: ``x`` where the label is above zero, ``-x`` elsewhere."""
    if xp is NUMPY and x.dtype.char in "fd":
        return _signed_by_bits(label, x)
    # A product is much cheaper than a selection by labels, because processors cannot predict
    # labels, and small integers are cheaper than floats.
    side = xp.astype(2 * xp.astype(label > 0, xp.int8) - 1, x.dtype)
    return side * x


def _signed_by_bits(label: Array, x: Array) -> Array:
    """Flip the sign bit, piece by piece, so that only the result needs new memory."""
    if x.ndim > 1:
        label, x_flat = label.reshape(-1), x.reshape(-1)
        return _signed_by_bits(label, x_flat).reshape(x.shape)
    bits = x.view(UNSIGNED[x.itemsize])
    signed, top = np.empty_like(bits), bits.dtype.type(8 * x.itemsize - 1)
    for start in range(0, x.size, CACHED):
        here = slice(start, start + CACHED)
        piece = signed[here]
        piece[:] = label[here] <= 0
        piece <<= top
        piece ^= bits[here]
    return signed.view(x.dtype)


def largest(x: Array) -> Any:
    """Return the largest entry of a non-empty NumPy array; NaN if it holds any."""
    if x.size <= FEW:
        return x.item(x.argmax())  # a fifth of a reduction's overhead
    return np.maximum.reduce(x, axis=None)


def has_nan(x: Array) -> bool:
    """Say whether a non-empty NumPy array holds a NaN."""
    most = largest(x)
    return bool(most != most)


def first_position(mask: Array) -> int | tuple[int, ...] | None:
    """Return where a NumPy mask is first true (an int in one dimension), or None."""
    if not mask.any():
        return None
    position = tuple(int(index) for index in np.argwhere(mask)[0])
    return position[0] if len(position) == 1 else position


def move_axis(xp: Namespace, x: Array, source: int, destination: int) -> Array:
    """Move one axis to another place, as ``moveaxis`` does; ``torch.func.vmap`` knows only this."""
    order = list(range(x.ndim))
    order.insert(destination % x.ndim, order.pop(source))
    return xp.permute_dims(x, tuple(order))


def power_of_two(xp: Namespace, x: Array) -> Array:
    """Return the largest power of two that is at most x; 1 where x is zero.

    Where x is subnormal, it is the least normal number. Dividing by it is exact. Its derivative is
    zero.
    """
    if xp is NUMPY:
        power: NumpyArray = np.ldexp(0.5, np.frexp(x)[1])
    elif shows_bits(xp):
        infinity = float_bits(xp, xp.full_like(x, xp.inf))
        power = _float_of_bits(xp, float_bits(xp, x) & infinity, x.dtype)
    else:
        power = 2.0 ** xp.floor(xp.log2(xp.where(x > 0, x, 1.0)))
    least = float(xp.finfo(x.dtype).smallest_normal)
    return xp.where(x > 0, xp.where(power > least, power, least), 1.0)


def _float_of_bits(xp: Namespace, bits: Array, dtype: DType) -> Array:
    if library_name(xp) == "jax":
        from jax.lax import bitcast_convert_type

        return bitcast_convert_type(bits, dtype)
    return bits.view(dtype)


def divide(xp: Namespace, numerator: Array, denominator: Array) -> Array:
    """Divide, with NaN, no warning and finite derivatives where the denominator is zero."""
    zero = denominator == 0
    if xp is NUMPY and not (zero if zero.ndim == 0 else np.count_nonzero(zero)):
        return numerator / denominator  # the same, in fewer calls
    safe = xp.where(zero, 1.0, denominator)
    return xp.where(zero, xp.nan, numerator / _each_by_itself(xp, safe, numerator))


def _each_by_itself(xp: Namespace, denominator: Array, numerator: Array) -> Array:
    """Keep XLA from multiplying by the reciprocal of a shared denominator, which rounds twice."""
    if library_name(xp) != "jax" or denominator.shape == numerator.shape:
        return denominator
    from jax.lax import optimization_barrier

    barrier: Callable[..., Array] = optimization_barrier  # untyped in JAX
    return barrier(xp.broadcast_to(denominator, numerator.shape))


def share(xp: Namespace, part: Array, whole: Array) -> Array:
    """Divide a part by the whole: at most 1 despite rounding; NaN where the whole is zero."""
    quotient = divide(xp, part, whole)
    if xp is NUMPY and quotient.ndim == 0:
        return quotient if not quotient > 1 else quotient.dtype.type(1)  # the same, faster
    return xp.where(quotient > 1, 1.0, quotient)


def shows_bits(xp: Namespace) -> bool:
    """Say whether :func:`float_bits` works here; the standard has no view of bits."""
    if library_name(xp) == "torch":
        return not sys.modules["torch"].jit.is_tracing()  # traced graphs have no bit views
    return xp is NUMPY or library_name(xp) == "jax"


def float_bits(xp: Namespace, x: Array) -> Array:
    """Return the bits of float32 or float64 numbers as signed integers of the same width."""
    dtype = xp.int64 if x.dtype == xp.float64 else xp.int32
    if library_name(xp) == "jax":
        from jax.lax import bitcast_convert_type

        return bitcast_convert_type(x, dtype)
    return x.view(dtype)


def sort_with_order(xp: Namespace, key: Array) -> tuple[Array, Array]:
    """Return signed integers sorted along the last axis, and the position each came from."""
    if library_name(xp) == "torch":
        import torch

        values, order = torch.sort(key, dim=-1)
        return values, order
    return _sort_with_order_jax(key)


def _sort_with_order_jax(key: Array) -> tuple[Array, Array]:
    import jax
    import jax.numpy as jnp

    # On CPUs a second operand makes a sort far slower. So the position of a key is packed below it,
    # in the low half of 64 bits: one sort for 32-bit keys, and for 64-bit keys one sort per half,
    # the low half first, as in a radix sort. The 64 bits stay inside this function.
    with jax.enable_x64(True):
        place = jax.lax.broadcasted_iota(jnp.int64, key.shape, key.ndim - 1)
        low = jnp.int64(0xFFFFFFFF)
        if key.dtype == jnp.int32:
            packed = jnp.sort((key.astype(jnp.int64) << 32) | place, axis=-1)
            return (packed >> 32).astype(jnp.int32), (packed & low).astype(jnp.int32)
        # Signed order of the low half is unsigned order with its top bit flipped.
        by_low = jnp.sort(((key ^ jnp.int64(0x80000000)) << 32) | place, axis=-1)
        high = jnp.take_along_axis(key, by_low & low, axis=-1) & ~low
        by_both = jnp.sort(high | place, axis=-1)
        # One gather fetches the low halves together with the positions packed below them.
        carried = jnp.take_along_axis(by_low, by_both & low, axis=-1)
        ordered = (by_both & ~low) | (((carried >> 32) & low) ^ jnp.int64(0x80000000))
        return ordered, (carried & low).astype(jnp.int32)


def running_maximum(xp: Namespace, x: Array) -> Array:
    """Return the largest of the first 1, 2, ..., n entries along the last axis."""
    if library_name(xp) == "torch":
        return xp.cummax(x, dim=-1)[0]
    return compiled_once(xp, _running_maximum_jax, x)


def _running_maximum_jax(xp: Namespace, x: Array) -> Array:
    import jax

    def one_by_one(x: Array) -> Array:
        entries = move_axis(xp, x, -1, 0)

        def step(largest: Array, entry: Array) -> tuple[Array, Array]:
            largest = xp.maximum(largest, entry)
            return largest, largest

        return move_axis(xp, jax.lax.scan(step, entries[0], entries)[1], 0, -1)

    def in_parallel(x: Array) -> Array:
        return jax.lax.cummax(x, axis=x.ndim - 1)

    # The parallel form makes many passes, which only pays where many entries run at once.
    return jax.lax.platform_dependent(x, cpu=one_by_one, default=in_parallel)


def take(xp: Namespace, x: Array, index: Array) -> Array:
    """Take entries along the last axis."""
    if xp is NUMPY and x.ndim == 1:
        return x.take(index)  # avoids the index arrays of fancy indexing
    return xp.take_along_axis(x, index, axis=-1)


def scattered(xp: Namespace, x: Array, index: Any) -> Array:
    """Put entries into positions along the last axis: the inverse of :func:`take`."""
    if xp is NUMPY:
        result: NumpyArray = np.empty_like(x)
        if x.ndim == 1:
            result[index] = x  # as in take
        else:
            np.put_along_axis(result, index, x, axis=-1)
        return result
    if library_name(xp) == "torch":
        return xp.zeros_like(x).scatter(-1, index, x)
    if library_name(xp) == "jax":
        return xp.put_along_axis(xp.zeros_like(x), index, x, axis=-1, inplace=False)
    # The standard has no scatter, but the argsort of a permutation is its inverse.
    return xp.take_along_axis(x, xp.argsort(index, axis=-1), axis=-1)


def reduced_by_bin(
    xp: Namespace,
    reduction: Literal["sum", "min", "max"],
    index: Array,
    value: Array,
    count: int,
) -> Array:
    """Return the sum, minimum or maximum of the values in each bin along the last axis.

    Bins are 0 .. count - 1; an empty one holds 0, infinity or minus infinity. Each sum adds the
    values of its bin in some order, and is never a difference of larger sums.
    """
    if xp is NUMPY:
        return _reduced_by_bin_numpy(reduction, index, value, count)
    if library_name(xp) == "jax":
        return _reduced_by_bin_jax(reduction, index, value, count)
    if library_name(xp) == "torch":
        shape, index = (*value.shape[:-1], count), xp.astype(index, xp.int64, copy=False)
        start = xp.full(shape, _EMPTY[reduction], dtype=value.dtype, device=value.device)
        if reduction == "sum":
            return start.scatter_add(-1, index, value)
        return start.scatter_reduce(-1, index, value, f"a{reduction}")
    return _reduced_by_bin_portable(xp, reduction, index, value, count)


def _reduced_by_bin_numpy(
    reduction: str, index: NumpyArray, value: NumpyArray, count: int
) -> NumpyArray:
    shape = (*value.shape[:-1], count)
    if value.ndim > 1:  # the bins of all batch entries, one after another
        entry = np.arange(value.size // value.shape[-1]).reshape((*value.shape[:-1], 1))
        index = index + count * entry
    index, value, size = index.reshape(-1), value.reshape(-1), math.prod(shape)
    if reduction == "sum":
        sums = np.bincount(index, weights=value, minlength=size)
        return sums.astype(value.dtype, copy=False).reshape(shape)
    extremes = np.full(size, _EMPTY[reduction], dtype=value.dtype)
    (np.minimum if reduction == "min" else np.maximum).at(extremes, index, value)
    return extremes.reshape(shape)


def _reduced_by_bin_jax(reduction: str, index: Array, value: Array, count: int) -> Array:
    import jax

    batch = value.shape[:-1]
    if batch:
        entries = jax.lax.broadcasted_iota(index.dtype, (math.prod(batch), 1), 0)
        index = index + count * entries.reshape((*batch, 1))
    reduce: Callable[..., Array] = getattr(jax.ops, f"segment_{reduction}")
    reduced = reduce(value.reshape(-1), index.reshape(-1), num_segments=math.prod(batch) * count)
    return reduced.reshape((*batch, count))


def _reduced_by_bin_portable(
    xp: Namespace, reduction: str, index: Array, value: Array, count: int
) -> Array:
    """Compare each sample with each bin: slow, but the standard has nothing else without a sort."""
    bins = xp.arange(count, dtype=index.dtype, device=device_of(xp, index))
    piece = max(1, _COMPARED // (count * math.prod(value.shape[:-1])))
    result: Any = None
    for start in range(0, value.shape[-1], piece):
        here = slice(start, min(start + piece, value.shape[-1]))
        inside = xp.expand_dims(index[..., here], axis=-1) == bins
        picked = xp.where(inside, xp.expand_dims(value[..., here], axis=-1), _EMPTY[reduction])
        if reduction == "sum":
            part = xp.sum(picked, axis=-2, dtype=value.dtype)
            result = part if result is None else result + part
        else:
            part = getattr(xp, reduction)(picked, axis=-2)
            together = xp.minimum if reduction == "min" else xp.maximum
            result = part if result is None else together(result, part)
    return result


def reduced_across(
    xp: Namespace, reduction: Literal["sum", "min", "max"], x: Array, axis_name: Any
) -> Array:
    """Return the sum, minimum or maximum over the devices of a named axis of a JAX mesh."""
    if library_name(xp) != "jax":
        raise TypeError(
            f"merge_across works on JAX arrays, under shard_map or vmap with axis_name; found "
            f"{library_name(xp)} arrays. Use merge for states that are at hand."
        )
    from jax import lax

    collective: dict[str, Callable[..., Array]]
    collective = {"sum": lax.psum, "min": lax.pmin, "max": lax.pmax}
    return collective[reduction](x, axis_name)


def running_sum(xp: Namespace, x: Array) -> Array:
    """Return the n + 1 sums of the first 0, 1, ..., n entries along the last axis."""
    if xp is NUMPY:
        sums: NumpyArray = np.zeros((*x.shape[:-1], x.shape[-1] + 1), dtype=x.dtype)
        np.cumsum(x, axis=-1, out=sums[..., 1:])  # saves a copy
        return sums
    zero = xp.zeros_like(x[..., :1])
    return xp.concat([zero, _cumulative_sum(xp, x)], axis=-1)


def longest_sum(xp: Namespace, x: Array) -> int:
    """Return the largest number of additions that an entry goes through in :func:`running_sum`."""
    n, additions = int(x.shape[-1]), 0
    while n > _PIECE and x.dtype == xp.float32:
        n = -(-n // _PIECE)
        additions += _PIECE + 1
    return additions + n


def contiguous(xp: Namespace, x: Array) -> Array:
    """Return the array in C order in memory, where the library has a choice."""
    if xp is NUMPY:
        ordered: NumpyArray = np.ascontiguousarray(x)
        return ordered
    return x.contiguous() if library_name(xp) == "torch" else x


def computed_alike(xp: Namespace, x: Array) -> Array:
    """Lay out the entries so that a function of equal ones is equal, wherever they stand.

    torch computes the end of an array with other instructions than the rest, and other last
    digits, but not if the entries have gaps between them.
    """
    return xp.stack([x, x], axis=-1)[..., 0] if library_name(xp) == "torch" else x


def running_product(xp: Namespace, x: Array) -> Array:
    """Return the products of the first 1, 2, ..., n entries along the last axis."""
    if library_name(xp) == "torch":
        return xp.cumprod(x, dim=-1)  # as in _plain_cumulative_sum
    return xp.cumulative_prod(x, axis=-1)


def _cumulative_sum(xp: Namespace, x: Array) -> Array:
    n = x.shape[-1]
    if n <= _PIECE or x.dtype != xp.float32:
        return _plain_cumulative_sum(xp, x)
    batch, count = x.shape[:-1], -(-n // _PIECE)
    padding = xp.zeros((*batch, count * _PIECE - n), dtype=x.dtype, device=device_of(xp, x))
    pieces = xp.reshape(xp.concat([x, padding], axis=-1), (*batch, count, _PIECE))
    within = _plain_cumulative_sum(xp, pieces)
    before = running_sum(xp, within[..., -1])[..., :-1]
    return xp.reshape(within + before[..., None], (*batch, count * _PIECE))[..., :n]


def _plain_cumulative_sum(xp: Namespace, x: Array) -> Array:
    if library_name(xp) == "torch":
        # The same sum; array_api_compat's wrapper makes torch.compile warn (see _namespace_of).
        return xp.cumsum(x, dim=-1, dtype=x.dtype)
    return xp.cumulative_sum(x, axis=-1, dtype=x.dtype)


def quietly(xp: Namespace) -> AbstractContextManager[Any]:
    """Keep NumPy from warning that results beyond the largest float are infinite.

    Other libraries may be built on NumPy. torch and JAX never warn, and cannot compile this.
    """
    if library_name(xp) in ("jax", "torch"):
        return nullcontext()
    return np.errstate(over="ignore", invalid="ignore")
