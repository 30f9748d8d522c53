"""Derivatives in each array library; for values, see ``primitives``.

Other modules write down what a derivative is. This one hands it to JAX and PyTorch in their own
terms.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import (
    NUMPY,
    device_of,
    from_numpy,
    library_name,
    seen_by_numpy,
)
from lxcim_xp._arrays.typing import Array, Namespace


def constant(xp: Namespace, x: Array) -> Array:
    """Return an array that derivatives treat as a constant."""
    if library_name(xp) == "jax":
        from jax.lax import stop_gradient

        return stop_gradient(x)
    return x.detach() if library_name(xp) == "torch" else x


def linearised(
    xp: Namespace,
    function: Callable[..., Array],
    tangent: Callable[..., Array],
    *arrays: Array,
) -> Array:
    """Call ``function(xp, *arrays)``, and let JAX take its derivative from a formula.

    The formula is ``tangent(xp, primals, result, tangents)``. Other libraries with derivatives
    find them on their own.
    """
    if library_name(xp) != "jax":
        return function(xp, *arrays)
    return _linearised_jax(function, tangent)(xp, *arrays)


@cache
def _linearised_jax(
    function: Callable[..., Array], tangent: Callable[..., Array]
) -> Callable[..., Array]:
    import jax

    def rule(xp: Namespace, primals: Any, tangents: Any) -> tuple[Array, Array]:
        result = function(xp, *primals)
        return result, tangent(xp, primals, result, tangents)

    ruled = jax.custom_jvp(function, nondiff_argnums=(0,))
    ruled.defjvp(rule)
    # Compiled as one unit: eager JAX would compile the scans inside again on each call.
    compiled: Callable[..., Array] = jax.jit(ruled, static_argnums=0)
    return compiled


class Derived(NamedTuple):
    """A value for each batch entry, and its derivatives with respect to the arrays behind it."""

    value: Array  # (...)
    # One array per argument, of the argument's shape, or None where there is no derivative.
    gradient: Callable[[], tuple[Array | None, ...]]
    # The diagonal of the Hessian in the first argument, or a bound on its size.
    curvature: Callable[[], Array] | None = None


def with_gradient(xp: Namespace, function: Callable[..., Derived], *arrays: Array) -> Array:
    """Return ``function(xp, *arrays).value``, with its own gradient for JAX and PyTorch.

    Higher derivatives are the derivatives of that gradient.
    """
    if library_name(xp) == "jax":
        return _with_gradient_jax(xp, function, *arrays)
    if library_name(xp) == "torch":
        import torch

        # A compiler traces the function itself, and torch.func.functionalize supports nothing
        # else. Where no gradient is wanted, there is nothing to save.
        is_traced = torch.compiler.is_compiling() or torch._is_functional_tensor(arrays[0])
        if torch.is_grad_enabled() and not is_traced:
            return _with_gradient_torch()(xp, function, *arrays)[0]
    return function(xp, *arrays).value


def _with_gradient_jax(xp: Namespace, function: Callable[..., Derived], *arrays: Array) -> Array:
    import jax

    def value_of(*arrays: Array) -> Array:
        return function(xp, *arrays).value

    def rule(primals: Any, tangents: Any) -> tuple[Array, Array]:
        found = function(xp, *primals)
        tangent = xp.zeros_like(found.value)
        for slope, along in zip(found.gradient(), tangents, strict=True):
            # Arguments that are held constant cost nothing.
            if slope is not None and not isinstance(along, jax.custom_derivatives.SymbolicZero):
                tangent = tangent + xp.sum(slope * along, axis=-1)
        return found.value, tangent

    value: Any = jax.custom_jvp(value_of)
    value.defjvp(rule, symbolic_zeros=True)
    result: Array = value(*arrays)
    return result


@cache
def _with_gradient_torch() -> Any:
    import torch

    # The base class is typed only where torch is installed.
    class Function(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
        """A value that brings its own gradient."""

        @staticmethod
        def forward(xp: Namespace, function: Callable[..., Derived], *arrays: Array) -> Any:
            seen = [seen_by_numpy(xp, array) for array in arrays]
            at_hand = all(array is not None for array in seen)
            # On the same memory NumPy is faster: its sort is, and it can work in place.
            found = function(NUMPY, *seen) if at_hand else function(xp, *arrays)
            # Transforms can only save inputs and outputs, so the gradient is an output.
            parts = [found.value, *found.gradient()]
            if at_hand:
                parts = [None if x is None else from_numpy(xp, x, arrays[0]) for x in parts]
            nothing = torch.zeros(())
            return tuple(nothing if part is None else part for part in parts)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.xp, ctx.function, *arrays = inputs
            ctx.save_for_backward(*arrays, *output[1:])
            ctx.save_for_forward(*arrays)
            ctx.mark_non_differentiable(*output[1:])

        @staticmethod
        def backward(ctx: Any, along: Array, *_: Any) -> Any:
            saved = ctx.saved_tensors
            half = len(saved) // 2
            slopes = saved[half:]
            if torch.is_grad_enabled():  # the caller wants derivatives of this gradient
                slopes = ctx.function(ctx.xp, *saved[:half]).gradient()
            return (
                None,
                None,
                *(
                    None if slope is None or not needed else along[..., None] * slope
                    for slope, needed in zip(slopes, ctx.needs_input_grad[2:], strict=True)
                ),
            )

        @staticmethod
        def vmap(info: Any, in_dims: Any, xp: Namespace, function: Any, *arrays: Array) -> Any:
            # The function already takes batches.
            batched = [
                array.expand(info.batch_size, *array.shape)
                if dim is None
                else array.movedim(dim, 0)
                for array, dim in zip(arrays, in_dims[2:], strict=True)
            ]
            output = apply(xp, function, *batched)
            return output, tuple(0 if part.ndim else None for part in output)

        @staticmethod
        def jvp(ctx: Any, _xp: Any, _function: Any, *tangents: Any) -> Any:
            arrays = ctx.saved_for_forward
            slopes = ctx.function(ctx.xp, *arrays).gradient()
            moves = [
                (slope * along).sum(dim=-1)
                for slope, along in zip(slopes, tangents, strict=True)
                if slope is not None and along is not None
            ]
            return sum(moves), *(None for _ in slopes)

    apply: Any = Function.apply
    return apply


def value_and_gradient(
    xp: Namespace, function: Callable[[Array], Array], x: Array
) -> tuple[Array, Array] | None:
    """Return values and their gradient, found by the library itself; None if it cannot.

    Each value of a batch must depend on its own entries only.
    """
    if library_name(xp) == "jax":
        import jax

        value, pull = jax.vjp(function, x)
    elif library_name(xp) == "torch":
        import torch

        value, pull = torch.func.vjp(function, x)[:2]
    else:
        return None
    return value, pull(xp.ones_like(value))[0]


def gradients(
    xp: Namespace, function: Callable[[Array], Array], x: Array, step: Array
) -> list[Array]:
    """Return the derivative in each entry of the last axis, by differences where necessary.

    The function is never evaluated at negative entries.
    """
    n = x.shape[-1]
    if library_name(xp) in ("jax", "torch"):
        # Each value of a batch depends on its own entries only.
        gradient = _grad(xp)(lambda x: xp.sum(function(x)))(x)
        return [gradient[..., entry] for entry in range(n)]
    moved = []
    for entry in range(n):
        unit = xp.asarray(
            [float(k == entry) for k in range(n)], dtype=x.dtype, device=device_of(xp, x)
        )
        by = step * xp.broadcast_to(unit, x.shape)
        # Second-order differences: central, or one-sided where the other side is negative.
        one_sided = x[..., entry : entry + 1] < step
        up, other = function(x + by), function(xp.where(one_sided, x + 2 * by, x - by))
        rise = xp.where(one_sided[..., 0], 4 * up - other - 3 * function(x), up - other)
        moved.append(rise / (2 * step[..., 0]))
    return moved


def _grad(xp: Namespace) -> Callable[..., Callable[[Array], Array]]:
    if library_name(xp) == "jax":
        import jax

        transform: Callable[..., Callable[[Array], Array]] = jax.grad
    else:
        import torch

        transform = torch.func.grad
    return transform
