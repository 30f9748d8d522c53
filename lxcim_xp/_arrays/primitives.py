"""Everything the package knows about array libraries.

All other modules receive a namespace ``xp`` of the Array API standard and use nothing but the
standard on it. What the standard leaves to each library is asked here: which namespace the
arguments belong to, which float is the widest on their device, whether values may be looked at.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal, TypeAlias

import array_api_compat
import numpy as np

Array: TypeAlias = Any
DType: TypeAlias = Any
Namespace: TypeAlias = Any

_NUMPY = array_api_compat.array_namespace(np.empty(0))

numpy_namespace = _NUMPY

_NUMPY_KINDS = {"b": "bool", "i": "integral", "u": "integral", "f": "real floating"}

# What belongs to no library and goes where the arrays are.
_FOLLOWERS = (bool, int, float, list, tuple, np.generic)

# Running sums in float32 are built from pieces of this length: the rounding error then grows with
# the length of a piece, not with n. It only matters where the device has no float64.
_PIECE = 256

# What a bin without values holds after each reduction.
_EMPTY = {"sum": 0, "min": math.inf, "max": -math.inf}

# Where a library has no scatter, so many pairs of a sample and a bin are compared at once.
_COMPARED = 1 << 22

# NumPy passes that follow each other run in pieces of so many samples, which stay in the cache.
CACHED = 1 << 14

# The same for formulas, which make many arrays of that size: so many bytes in all that they are
# used again, and not given back to the system, which would cost a page fault for each 4 kB.
IN_FORMULAS = 1 << 12

# Samples up to which fewer NumPy calls are worth more than fewer passes.
FEW = 1 << 10

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}  # by size in bytes

FAST_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}  # NumPy's, whose bits can be sorted
_NATIVE_INTEGERS = {np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)}


def namespace(**arguments: Any) -> Namespace:
    """Return the one namespace that all arrays among the named arguments belong to.

    Lists, tuples and numbers belong to no library and follow the others; when there is nothing to
    follow, and for anything that only knows how to become a NumPy array (a pandas Series, say),
    the namespace is NumPy's.
    """
    found: Namespace = None
    found_in = ""
    for name, argument in arguments.items():
        xp = _namespace_of(name, argument)
        if xp is None:
            continue
        if found is None:
            found, found_in = xp, name
        elif xp is not found:
            raise TypeError(
                f"{found_in} is a {library_name(found)} array but {name} is a {library_name(xp)} "
                f"array. Convert one of them: all arrays of a call must be of one library."
            )
    return _NUMPY if found is None else found


def _namespace_of(name: str, argument: Any) -> Namespace | None:
    if type(argument) is np.ndarray:
        return _NUMPY
    if argument is None or isinstance(argument, _FOLLOWERS):
        return None
    if isinstance(argument, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a NumPy masked array. Pass {name}.data and where=~{name}.mask instead."
        )
    if _is_torch(argument):
        # array_api_compat would look the type up in an lru_cache, about which torch.compile warns.
        import array_api_compat.torch as torch_namespace

        return torch_namespace
    if array_api_compat.is_array_api_obj(argument):
        return array_api_compat.array_namespace(argument)
    if hasattr(argument, "__array__"):
        return _NUMPY
    raise TypeError(
        f"{name} must be an array, a list or a number; found {type(argument).__name__}. "
        f"Convert it with numpy.asarray first."
    )


def _is_torch(argument: Any) -> bool:
    torch: ModuleType | None = sys.modules.get("torch")
    return torch is not None and isinstance(argument, torch.Tensor)


def library_name(xp: Namespace) -> str:
    """Return the library's name as its users write it: numpy, jax, torch, cupy ..."""
    return str(xp.__name__).removeprefix("array_api_compat.").partition(".")[0]


def device_of(xp: Namespace, x: Array) -> Any:
    """Return what to pass as ``device=`` to put a new array beside ``x``."""
    # Under a JAX transform an array has no device, and new arrays follow the others anyway.
    return None if library_name(xp) == "jax" else x.device


def as_array(xp: Namespace, value: Any, like: Array | None = None) -> Array:
    """Return what :func:`namespace` has seen as an array, numbers and lists beside ``like``."""
    if xp is _NUMPY:
        array = np.asarray(value)
        # The fast forms read the bits of numbers, in the order of bytes that the machine has.
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _FOLLOWERS):
        return xp.asarray(value, device=None if like is None else device_of(xp, like))
    return value


def array_like(xp: Namespace, value: Any, like: Array) -> Array:
    """Return an array in the dtype of ``like``; a number fills its shape."""
    if isinstance(value, int | float):
        return xp.full_like(like, value)
    return xp.astype(value, like.dtype, copy=False)


def signed_by(xp: Namespace, label: Array, x: Array) -> Array:
    """Return a new array: ``x`` where the label is above zero, ``-x`` elsewhere."""
    if xp is _NUMPY and x.dtype.char in "fd":
        return _signed_by_bits(label, x)
    # A product is much cheaper than a selection by labels, which no processor can foresee, and
    # small integers are cheaper than floats.
    side = xp.astype(2 * xp.astype(label > 0, xp.int8) - 1, x.dtype)
    return side * x


def _signed_by_bits(label: Array, x: Array) -> Array:
    """Flip the sign bit, piece by piece: the result is all the memory that is touched anew."""
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


def kind_of(xp: Namespace, dtype: DType) -> str:
    """Return "bool", "integral", "real floating", or "other"."""
    if xp is _NUMPY:  # the same answer as below, without its several calls
        return _NUMPY_KINDS.get(dtype.kind, "other")
    for kind in ("bool", "integral", "real floating"):
        if xp.isdtype(dtype, kind):
            return kind
    return "other"


def widest_float(xp: Namespace, x: Array) -> DType:
    """Return the widest real floating dtype of the device of ``x``: what sums are made in."""
    if xp is _NUMPY:
        return np.float64  # the same answer as below, without building a table on every call
    dtypes = xp.__array_namespace_info__().dtypes(device=device_of(xp, x), kind="real floating")
    return dtypes.get("float64", dtypes["float32"])


def default_float(xp: Namespace, x: Array) -> DType:
    """Return the float that the library gives to integers on the device of ``x``."""
    defaults = xp.__array_namespace_info__().default_dtypes(device=device_of(xp, x))
    return defaults["real floating"]


def default_int(xp: Namespace, x: Array) -> DType:
    """Return the integer that the library counts with on the device of ``x``."""
    defaults = xp.__array_namespace_info__().default_dtypes(device=device_of(xp, x))
    return defaults["integral"]


def is_numpy(xp: Namespace) -> bool:
    """Say whether ``xp`` is NumPy's namespace."""
    return xp is _NUMPY


def values_are_at_hand(xp: Namespace) -> bool:
    """Say whether values may be looked at, without tracing and without waiting for a device."""
    return xp is _NUMPY


def are_plain(label: Any, score: Any) -> bool:
    """Say whether these are NumPy integers and floats of one shape, ready for the fast forms."""
    return (
        type(score) is np.ndarray
        and type(label) is np.ndarray
        and score.dtype in FAST_FLOATS
        and label.dtype in _NATIVE_INTEGERS
        and label.shape == score.shape
        and score.shape != ()
        and score.size != 0
    )


def largest(x: Array) -> Any:
    """Return the largest entry of a NumPy array, which is not empty; a NaN, if there is any."""
    if x.size <= FEW:
        return x.item(x.argmax())  # a fifth of the time that a reduction takes to begin
    return np.maximum.reduce(x, axis=None)


def has_nan(x: Array) -> bool:
    """Say whether there is a NaN in a NumPy array, which is not empty."""
    most = largest(x)
    return bool(most != most)


def first_position(mask: Array) -> int | tuple[int, ...] | None:
    """Return where a NumPy mask is first true (an int in one dimension), or None."""
    if not mask.any():
        return None
    position = tuple(int(index) for index in np.argwhere(mask)[0])
    return position[0] if len(position) == 1 else position


def scalar_if_numpy(xp: Namespace, x: Array) -> Array:
    """Turn a 0-d NumPy array into a NumPy scalar, as NumPy's own reductions do."""
    return x[()] if xp is _NUMPY else x


def seen_by_numpy(xp: Namespace, x: Array) -> Array | None:
    """Return the same memory as a NumPy array if NumPy can see it, without waiting; or None."""
    if xp is _NUMPY:
        return x
    return _memory_of_tensor(x) if library_name(xp) == "torch" else None


def _memory_of_tensor(x: Array) -> Array | None:
    torch: Any = sys.modules["torch"]
    if x.device.type != "cpu" or torch.compiler.is_compiling() or torch.jit.is_tracing():
        return None
    try:
        return x.detach().numpy()
    except RuntimeError:  # under a transform such as vmap, tensors have no memory
        return None


def from_numpy(xp: Namespace, value: Any, like: Array) -> Array:
    """Return a NumPy result as an array beside ``like``."""
    return value if xp is _NUMPY else xp.asarray(value, device=device_of(xp, like))


def divide(xp: Namespace, numerator: Array, denominator: Array) -> Array:
    """Divide, with NaN, no warning and finite derivatives where the denominator is zero."""
    zero = denominator == 0
    if xp is _NUMPY and not (zero if zero.ndim == 0 else np.count_nonzero(zero)):
        return numerator / denominator  # the same, in fewer calls
    return xp.where(zero, xp.nan, numerator / xp.where(zero, 1.0, denominator))


def compiled_once(xp: Namespace, function: Callable[..., Array], *arrays: Array) -> Array:
    """Call ``function(xp, *arrays)``; under JAX as one unit, compiled on the first call only.

    Without it, eager JAX would compile the loops in ``function`` anew on each call.
    """
    return (_jax_jit(function) if library_name(xp) == "jax" else function)(xp, *arrays)


@cache
def _jax_jit(function: Callable[..., Array]) -> Callable[..., Array]:
    import jax

    compiled: Callable[..., Array] = jax.jit(function, static_argnums=0)
    return compiled


def shows_bits(xp: Namespace) -> bool:
    """Say whether :func:`float_bits` works here; the standard has no view of bits."""
    return xp is _NUMPY or library_name(xp) in ("jax", "torch")


def float_bits(xp: Namespace, x: Array) -> Array:
    """Return the bits of float32 or float64 numbers as signed integers of the same width."""
    dtype = xp.int64 if x.dtype == xp.float64 else xp.int32
    if library_name(xp) == "jax":
        from jax.lax import bitcast_convert_type

        return bitcast_convert_type(x, dtype)
    return x.view(dtype)


def sort_with_order(xp: Namespace, key: Array) -> tuple[Array, Array]:
    """Return signed integers sorted along the last axis, and the place that each comes from."""
    if library_name(xp) == "torch":
        import torch

        values, order = torch.sort(key, dim=-1)
        return values, order
    return _sort_with_order_jax(key)


def _sort_with_order_jax(key: Array) -> tuple[Array, Array]:
    import jax
    import jax.numpy as jnp

    # On CPUs a second operand makes a sort far slower. So the place of a key rides in the low
    # half of 64 bits below the key: one sort for 32-bit keys, and for 64-bit keys one for each of
    # their halves, the low one first, as a radix sort does. The 64 bits stay inside this function.
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
        # One gather brings the low halves and the places that they have carried along.
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
        entries = xp.moveaxis(x, -1, 0)

        def step(largest: Array, entry: Array) -> tuple[Array, Array]:
            largest = xp.maximum(largest, entry)
            return largest, largest

        return xp.moveaxis(jax.lax.scan(step, entries[0], entries)[1], 0, -1)

    def in_parallel(x: Array) -> Array:
        return jax.lax.cummax(x, axis=x.ndim - 1)

    # The parallel form makes many passes, which only pay where many entries are computed at once.
    return jax.lax.platform_dependent(x, cpu=one_by_one, default=in_parallel)


def repeat(xp: Namespace, times: int, body: Callable[[Any, Array], Array], state: Array) -> Array:
    """Apply ``state = body(k, state)`` for k = 0 .. times - 1.

    Under JAX the loop has a single traced body, so that compile time does not grow with ``times``.
    """
    if library_name(xp) == "jax":
        from jax.lax import fori_loop

        return fori_loop(0, times, body, state)
    for k in range(times):
        state = body(k, state)
    return state


def take(xp: Namespace, x: Array, index: Array) -> Array:
    """Take entries along the last axis."""
    if xp is _NUMPY and x.ndim == 1:
        return x.take(index)  # spares the index arrays of fancy indexing
    return xp.take_along_axis(x, index, axis=-1)


def scattered(xp: Namespace, x: Array, index: Array) -> Array:
    """Put entries to places along the last axis: the inverse of :func:`take`."""
    if xp is _NUMPY:
        result = np.empty_like(x)
        if x.ndim == 1:
            result[index] = x  # as in take
        else:
            np.put_along_axis(result, index, x, axis=-1)
        return result
    if library_name(xp) == "torch":
        return xp.zeros_like(x).scatter(-1, index, x)
    if library_name(xp) == "jax":
        return xp.put_along_axis(xp.zeros_like(x), index, x, axis=-1, inplace=False)
    # The standard has no scatter; the order of an order is its inverse.
    return xp.take_along_axis(x, xp.argsort(index, axis=-1), axis=-1)


def reduced_by_bin(
    xp: Namespace,
    reduction: Literal["sum", "min", "max"],
    index: Array,
    value: Array,
    count: int,
) -> Array:
    """Return the sum, the least or the largest of the values in each bin along the last axis.

    Bins are 0 .. count - 1; an empty one holds 0, infinity or minus infinity. Each sum is one of
    the values in its bin and of zeros, in some order, and never a difference of larger sums.
    """
    if xp is _NUMPY:
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


def _reduced_by_bin_numpy(reduction: str, index: Array, value: Array, count: int) -> Array:
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
    """Compare each sample with each bin: slow, but all that the standard has without a sort."""
    bins = xp.arange(count, dtype=index.dtype, device=device_of(xp, index))
    piece = max(1, _COMPARED // (count * math.prod(value.shape[:-1])))
    result: Array = None
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
    """Return the sum, the least or the largest over the devices of a named axis of a JAX mesh."""
    if library_name(xp) != "jax":
        raise TypeError(
            f"merge_across works on JAX arrays, under shard_map or vmap with axis_name; found "
            f"{library_name(xp)} arrays. Use merge for states that are at hand."
        )
    from jax import lax

    collective: dict[str, Callable[..., Array]]
    collective = {"sum": lax.psum, "min": lax.pmin, "max": lax.pmax}
    return collective[reduction](x, axis_name)


def sums_of(
    xp: Namespace, formula: Callable[..., tuple[Array, ...]], *groups: tuple[Array, ...]
) -> tuple[Array, ...]:
    """Return sums along the last axis of elementwise formulas of named tuples of arrays."""
    if xp is not _NUMPY:
        return tuple(xp.sum(values, axis=-1) for values in formula(*groups))
    return sums_of_pieces(formula, (pieces for _, pieces in _cached_pieces(groups)))


def sums_of_pieces(
    formula: Callable[..., tuple[Array, ...]], pieces: Iterable[Sequence[Any]]
) -> tuple[Array, ...]:
    """Return the same of NumPy columns that come in pieces."""
    found = [[np.add.reduce(values, axis=-1) for values in formula(*piece)] for piece in pieces]
    return tuple(sum(parts) for parts in zip(*found, strict=True))


def computed(xp: Namespace, formula: Callable[..., Array], *groups: tuple[Array, ...]) -> Array:
    """Return the values of an elementwise formula of named tuples of arrays."""
    if xp is not _NUMPY:
        return formula(*groups)
    result = np.empty(groups[0][0].shape, dtype=groups[0][0].dtype)
    for here, pieces in _cached_pieces(groups):
        result[..., here] = formula(*pieces)
    return result


def _cached_pieces(groups: tuple[tuple[Array, ...], ...]) -> Iterator[tuple[slice, list[Any]]]:
    """Cut arrays along the last axis, so that what a formula makes stays in the cache."""
    for start in range(0, groups[0][0].shape[-1], IN_FORMULAS):
        here = slice(start, start + IN_FORMULAS)
        yield here, [type(group)(*(array[..., here] for array in group)) for group in groups]


def running_sum(xp: Namespace, x: Array) -> Array:
    """Return the n + 1 sums of the first 0, 1, ..., n entries along the last axis."""
    if xp is _NUMPY:
        sums = np.zeros((*x.shape[:-1], x.shape[-1] + 1), dtype=x.dtype)
        np.cumsum(x, axis=-1, out=sums[..., 1:])  # spares a copy
        return sums
    zero = xp.zeros_like(x[..., :1])
    return xp.concat([zero, _cumulative_sum(xp, x)], axis=-1)


def longest_sum(xp: Namespace, x: Array) -> int:
    """Return through how many additions an entry goes at most in :func:`running_sum`."""
    n, additions = int(x.shape[-1]), 0
    while n > _PIECE and x.dtype == xp.float32:
        n = -(-n // _PIECE)
        additions += _PIECE + 1
    return additions + n


def contiguous(xp: Namespace, x: Array) -> Array:
    """Return the entries in the order of the axes in memory too, where the caller can say so."""
    if xp is _NUMPY:
        return np.ascontiguousarray(x)
    return x.contiguous() if library_name(xp) == "torch" else x


def linear_recurrence(xp: Namespace, factor: Array, x: Array) -> Array:
    """Return a_0 = x_0 and a_k = factor_k * a_(k-1) + x_k along the first axis.

    There is a factor for each entry but the first.
    """
    if library_name(xp) == "jax":
        from jax.lax import scan

        def step(last: Array, entry: tuple[Array, Array]) -> tuple[Array, Array]:
            here = entry[0] * last + entry[1]
            return here, here

        return xp.concat([x[:1], scan(step, x[0], (factor, x[1:]))[1]], axis=0)
    if xp is _NUMPY:
        result = np.array(x)  # filled in place: each entry is touched while it is in the cache
        for k in range(1, result.shape[0]):
            result[k] += factor[k - 1] * result[k - 1]
        return result
    entries = [x[0, ...]]
    for k in range(1, x.shape[0]):
        entries.append(factor[k - 1, ...] * entries[-1] + x[k, ...])
    return xp.stack(entries, axis=0)


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


def map_first_axis(xp: Namespace, function: Callable[..., Array]) -> Callable[..., Array] | None:
    """Return the function mapped over the first axis of its arguments, where the library can."""
    if library_name(xp) != "jax":
        return None
    import jax

    mapped: Callable[..., Array] = jax.vmap(function)
    return mapped
