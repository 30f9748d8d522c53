"""Which library the arguments of a call belong to, and what that library can do.

All other modules receive a namespace ``xp`` of the Array API standard and use only standard
functions of it. Questions that the standard leaves open are answered here: which namespace the
arguments belong to, which float is the widest on their device, whether values may be looked at.
"""

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from lxcim_xp._arrays.typing import Array, DType, Namespace, NumpyArray

_Function = TypeVar("_Function", bound=Callable[..., Any])

NUMPY: Namespace = np
if not hasattr(np, "cumulative_sum"):  # NumPy 2.0; later ones do not need the slow wrapper
    import array_api_compat.numpy as NUMPY

_NUMPY_KINDS = {"b": "bool", "i": "integral", "u": "integral", "f": "real floating"}

# Types that belong to no library: they go where the arrays are.
_FOLLOWERS = (bool, int, float, list, tuple, np.generic)

FAST_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}  # NumPy floats whose bits can be sorted
_NATIVE_INTEGERS = {np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)}


def namespace(**arguments: Any) -> Namespace:
    """Return the one namespace that all arrays among the named arguments belong to.

    Lists, tuples and numbers belong to no library and follow the others. Without any array to
    follow, and for anything that can only become a NumPy array (a pandas Series, say), the
    namespace is NumPy's.
    """
    found: Namespace | None = None
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
    return NUMPY if found is None else found


def _namespace_of(name: str, argument: Any) -> Namespace | None:
    if type(argument) is np.ndarray:
        return NUMPY
    if argument is None or isinstance(argument, _FOLLOWERS):
        return None
    masked: Any = sys.modules.get("numpy.ma")  # without which there is no masked array
    if masked is not None and isinstance(argument, masked.MaskedArray):
        raise TypeError(
            f"{name} is a NumPy masked array. Pass {name}.data and where=~{name}.mask instead."
        )
    if _is_torch(argument):
        # array_api_compat looks types up in an lru_cache, which makes torch.compile warn.
        import array_api_compat.torch as torch_namespace

        return torch_namespace
    if isinstance(argument, np.ndarray):
        return NUMPY
    import array_api_compat

    if array_api_compat.is_array_api_obj(argument):
        return array_api_compat.array_namespace(argument)
    if hasattr(argument, "__array__"):
        return NUMPY
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
    # An array under a JAX transform has no device, and neither has a NumPy 2.0 scalar. New arrays
    # follow the others anyway.
    return None if xp is NUMPY or library_name(xp) == "jax" else x.device


def as_array(xp: Namespace, value: Any, like: Array | None = None) -> Array:
    """Return an argument that :func:`namespace` accepted as an array on the device of ``like``."""
    if xp is NUMPY:
        array: NumpyArray = np.asarray(value)
        # The fast forms read the bits of numbers, and expect the byte order of the machine.
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, _FOLLOWERS):
        return value
    if like is None:
        return xp.asarray(value)
    array = xp.asarray(value, device=device_of(xp, like))
    if kind_of(xp, array.dtype) == "real floating":
        # Python's floats have 64 bits; unless told otherwise, torch would keep 32 of them.
        array = xp.asarray(value, dtype=widest_float(xp, like), device=device_of(xp, like))
    return array


def array_like(xp: Namespace, value: Any, like: Array) -> Array:
    """Return an array in the dtype of ``like``; a number fills its shape."""
    if isinstance(value, int | float):
        return xp.full_like(like, value)
    return xp.astype(value, like.dtype, copy=False)


def kind_of(xp: Namespace, dtype: Any) -> str:
    """Return "bool", "integral", "real floating", or "other"."""
    if xp is NUMPY:  # the same answer as below, in fewer calls
        return _NUMPY_KINDS.get(dtype.kind, "other")
    for kind in ("bool", "integral", "real floating"):
        if xp.isdtype(dtype, kind):
            return kind
    return "other"


def widest_float(xp: Namespace, x: Array) -> DType:
    """Return the widest real floating dtype on the device of ``x``; sums are computed in it."""
    if xp is NUMPY:
        return np.float64  # the same answer as below, without building a table on every call
    dtypes = xp.__array_namespace_info__().dtypes(device=device_of(xp, x), kind="real floating")
    return dtypes.get("float64", dtypes["float32"])


def default_float(xp: Namespace, x: Array) -> DType:
    """Return the library's default float on the device of ``x``."""
    defaults = xp.__array_namespace_info__().default_dtypes(device=device_of(xp, x))
    return defaults["real floating"]


def default_int(xp: Namespace, x: Array) -> DType:
    """Return the library's default integer on the device of ``x``."""
    defaults = xp.__array_namespace_info__().default_dtypes(device=device_of(xp, x))
    return defaults["integral"]


def values_are_at_hand(xp: Namespace) -> bool:
    """Say whether values can be looked at: they are not traced, and no device must be awaited."""
    return xp is NUMPY


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


def scalar_if_numpy(xp: Namespace, x: Array) -> Array:
    """Turn a 0-d NumPy array into a NumPy scalar, as NumPy's own reductions do."""
    return x[()] if xp is NUMPY else x


def seen_by_numpy(xp: Namespace, x: Array) -> Array | None:
    """Return the same memory as a NumPy array; None if NumPy cannot see it without waiting."""
    if xp is NUMPY:
        return x
    return _memory_of_tensor(x) if library_name(xp) == "torch" else None


def _memory_of_tensor(x: Any) -> NumpyArray | None:
    torch: Any = sys.modules["torch"]
    # What NumPy computes looks like a constant to anything that records torch calls: a compiler, a
    # tracer, a mode, a tensor subclass, or a tensor whose memory is filled later.
    followed = (
        torch.compiler.is_compiling()
        or torch.jit.is_tracing()
        or torch.utils._python_dispatch.is_in_torch_dispatch_mode()
        or type(x).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
        or torch._is_functional_tensor(x)
    )
    if followed or x.device.type != "cpu":
        return None
    try:
        return x.detach().numpy()
    except RuntimeError:  # under a transform such as vmap, tensors have no memory
        return None


def is_recorded(xp: Namespace, x: Array) -> bool:
    """Say whether torch records what is done with a tensor, to differentiate it later."""
    return library_name(xp) == "torch" and bool(x.requires_grad)


def returns_arrays_only(xp: Namespace, x: Array) -> bool:
    """Say whether a transform is active that cannot return None in place of an array."""
    if library_name(xp) != "torch":
        return False
    from torch._C._functorch import is_batchedtensor

    return bool(is_batchedtensor(x))


def from_numpy(xp: Namespace, value: Any, like: Array) -> Array:
    """Return a NumPy result as an array on the device of ``like``."""
    return value if xp is NUMPY else xp.asarray(value, device=device_of(xp, like))


def copied_to_numpy(xp: Namespace, x: Array) -> Array | None:
    """Return the values as a NumPy array, waiting for a device; None where they are traced."""
    if xp is NUMPY:
        return x
    array: Any = x
    try:
        if library_name(xp) == "torch":
            array = None if _is_compiling_torch() else array.detach().cpu()
        elif library_name(xp) == "cupy":
            array = array.get()
        copied: NumpyArray = None if array is None else np.asarray(array)
    except (TypeError, RuntimeError):  # the one is JAX's error for tracers, the other torch's
        return None
    return copied


def moves_constants(function: _Function) -> _Function:
    """Let a function move its constants to the device, whatever ``jax.transfer_guard`` says.

    The guard is there to find data moved by accident; it would already refuse the zero in x > 0.
    """

    @wraps(function)
    def unguarded(*args: Any, **options: Any) -> Any:
        jax = sys.modules.get("jax")
        if jax is None or _is_compiling_torch():
            return function(*args, **options)
        if jax.config.jax_transfer_guard_host_to_device in (None, "allow"):
            return function(*args, **options)
        with jax.transfer_guard_host_to_device("allow"):
            return function(*args, **options)

    # torch.compile stores and counts its programs by code object, so each function needs its own.
    plain: Any = unguarded
    plain.__code__ = plain.__code__.replace(co_name=function.__name__)
    return cast(_Function, plain)


def _is_compiling_torch() -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())
