"""Loops and maps: JAX traces them once, other libraries just run them."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY, library_name
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray

_Made = TypeVar("_Made")  # an array, or a tuple of arrays


def compiled_once(xp: Namespace, function: Callable[..., _Made], *arrays: Array) -> _Made:
    """Call ``function(xp, *arrays)``, which JAX compiles as one unit on the first call only.

    Otherwise eager JAX would compile the loops inside ``function`` again on each call.
    """
    return (_jax_jit(function) if library_name(xp) == "jax" else function)(xp, *arrays)


@cache
def _jax_jit(function: Callable[..., _Made]) -> Callable[..., _Made]:
    import jax

    compiled: Callable[..., _Made] = jax.jit(function, static_argnums=0)
    return compiled


def repeat(xp: Namespace, times: int, body: Callable[[Any, _Made], _Made], state: _Made) -> _Made:
    """Apply ``state = body(k, state)`` for k = 0 .. times - 1, to an array or a tuple of arrays.

    JAX traces the body once, so compile time does not grow with ``times``.
    """
    if library_name(xp) == "jax":
        import jax

        return jax.lax.fori_loop(0, times, body, _typed_as_later(xp, partial(body, 0), state))
    for k in range(times):
        state = body(k, state)
    return state


def _typed_as_later(xp: Namespace, step: Callable[[_Made], _Made], state: _Made) -> _Made:
    """Give the first state of a JAX loop the type that it has after one step.

    Under ``shard_map`` the type of an array says over which devices it varies, and the state of a
    loop must keep its type. The step is only traced, never run.
    """
    import jax

    if not jax.sharding.get_abstract_mesh().manual_axes:
        return state

    def retyped(before: Array, after: Array) -> Array:
        return xp.where(xp.zeros(before.shape, dtype=bool), after, before)

    return jax.tree.map(retyped, state, step(state))


def linear_recurrence(xp: Namespace, factor: Array, x: Array) -> Array:
    """Return a_0 = x_0 and a_k = factor_k * a_(k-1) + x_k along the first axis.

    Every entry but the first has a factor.
    """
    if xp is NUMPY:
        result: NumpyArray = np.array(
            x
        )  # filled in place, so that each entry is still in the cache
        for k in range(1, result.shape[0]):
            result[k] += factor[k - 1] * result[k - 1]
        return result
    if library_name(xp) == "jax":
        import jax

        def step(last: Array, entry: tuple[Array, Array]) -> tuple[Array, Array]:
            here = entry[0] * last + entry[1]
            return here, here

        if x.shape[0] == 1:
            return x
        first = _typed_as_later(xp, lambda last: step(last, (factor[0], x[1]))[0], x[0])
        return xp.concat([x[:1], jax.lax.scan(step, first, (factor, x[1:]))[1]], axis=0)
    entries = [x[0, ...]]
    for k in range(1, x.shape[0]):
        entries.append(factor[k - 1, ...] * entries[-1] + x[k, ...])
    return xp.stack(entries, axis=0)


def map_first_axis(xp: Namespace, function: Callable[..., Array]) -> Callable[..., Array] | None:
    """Return the function mapped over the first axis of its arguments; None if xp cannot."""
    if library_name(xp) != "jax":
        return None
    import jax

    mapped: Callable[..., Array] = jax.vmap(function)
    return mapped
