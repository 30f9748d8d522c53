"""Random numbers for any array library, from a JAX key or from a NumPy generator.

From an integer or a NumPy generator the numbers are the same in every library; a JAX key may be
traced. Like ``primitives``, this module knows the libraries so that the others need not.
"""

from typing import Any

import array_api_compat
import numpy as np

from lxcim_xp._arrays.namespaces import device_of, library_name
from lxcim_xp._arrays.typing import Array, Namespace


def coin_flips(xp: Namespace, seed: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Return fair coin flips."""
    if _is_key(xp, seed):
        import jax

        return jax.random.bernoulli(seed, shape=shape)
    coins = np.random.default_rng(seed).integers(0, 2, size=shape, dtype=bool)
    return xp.asarray(coins, device=device_of(xp, like))


def normal_numbers(xp: Namespace, seed: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Return standard normal numbers in the dtype of ``like``."""
    if _is_key(xp, seed):
        import jax

        return jax.random.normal(seed, shape, dtype=like.dtype)
    numbers = np.random.default_rng(seed).standard_normal(shape)
    return xp.asarray(numbers, dtype=like.dtype, device=device_of(xp, like))


def exponential_numbers(xp: Namespace, seed: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Return standard exponential numbers in the dtype of ``like``."""
    if _is_key(xp, seed):
        import jax

        return jax.random.exponential(seed, shape, dtype=like.dtype)
    numbers = np.random.default_rng(seed).standard_exponential(shape)
    return xp.asarray(numbers, dtype=like.dtype, device=device_of(xp, like))


def resample_counts(xp: Namespace, seed: Any, rows: int, n: int, units: Array) -> Array:
    """Return how often each of the first ``units`` of n places is drawn in ``units`` draws."""
    if _is_key(xp, seed):
        return _counts_jax(seed, rows, n, units)
    rng = np.random.default_rng(seed)
    # Outside JAX the number of units is looked at, so a bootstrap waits for the device.
    number = int(units)
    drawn = rng.integers(0, max(1, number), (rows, number), dtype=np.int32)
    drawn += (n * np.arange(rows, dtype=np.int32))[:, None]
    counts = np.bincount(drawn.reshape(-1), minlength=rows * n).reshape(rows, n)
    return xp.asarray(counts, dtype=units.dtype, device=device_of(xp, units))


def _counts_jax(key: Any, rows: int, n: int, units: Array) -> Array:
    import jax
    import jax.numpy as jnp

    # The number of units may be traced, so n draws are made and only the first ``units`` count.
    share = jax.random.uniform(key, (rows, n), dtype=units.dtype)
    index = jnp.floor(share * units).astype(jnp.int32)
    row = jnp.broadcast_to(jnp.arange(rows)[:, None], index.shape)
    counts = (jnp.arange(n, dtype=units.dtype) < units).astype(units.dtype)
    counts = jnp.broadcast_to(counts, index.shape)
    return jnp.zeros((rows, n), units.dtype).at[row, index].add(counts)


def split_seed(xp: Namespace, seed: Any, parts: int) -> list[Any]:
    """Return seeds of independent streams; for JAX arrays these are keys."""
    if _is_key(xp, seed):
        import jax

        return list(jax.random.split(seed, parts))
    if library_name(xp) == "jax":
        import jax

        number = int(np.random.default_rng(seed).integers(0, 2**31))
        return list(jax.random.split(jax.random.key(number), parts))
    return list(np.random.default_rng(seed).spawn(parts))


def _is_key(xp: Namespace, seed: Any) -> bool:
    if not array_api_compat.is_jax_array(seed):
        return False
    if library_name(xp) != "jax":
        raise TypeError(
            f"seed is a JAX key but the samples are {library_name(xp)} arrays. Pass an integer or "
            f"a numpy.random.Generator."
        )
    return True
