"""The only place that sorts: samples in ascending order of a key, ties resolved into blocks.

The kernel uses standard operations of fixed shape only, so that it runs under ``jit``, ``vmap`` and
``torch.compile``: no boolean indexing, no ``unique``, no N-d ``searchsorted``. It assumes that keys
are not NaN, whose order the standard leaves open.
"""

from typing import NamedTuple

from lxcim_xp._array import Array, Namespace, device_of, running_sum


class Ranked(NamedTuple):
    """One column of per-sample quantities in ascending order of the key, and its sums."""

    value: Array  # the column, in sorted order
    before: Array  # its sum over the samples sorted before this one
    below: Array  # its sum over all samples with a smaller key
    through: Array  # its sum over all samples with a smaller or the same key


def rank(xp: Namespace, key: Array, *columns: Array) -> tuple[Ranked, ...]:
    """Sort the columns by the key along the last axis and sum them up to each block of ties."""
    order = xp.argsort(key, axis=-1, stable=False)
    first, end = _block_bounds(xp, xp.take_along_axis(key, order, axis=-1), order.dtype)
    ranked = []
    for column in columns:
        value = xp.take_along_axis(column, order, axis=-1)
        running = running_sum(xp, value)
        below, through = (xp.take_along_axis(running, at, axis=-1) for at in (first, end))
        ranked.append(Ranked(value, running[..., :-1], below, through))
    return tuple(ranked)


def concordance(xp: Namespace, high: Ranked, low: Ranked) -> Array:
    """Return the weight of the pairs in which ``high`` has the larger key, ties counting half.

    This is the Mann-Whitney statistic: sum_i high_i * (low below i + half of low tied with i).
    """
    return xp.sum(high.value * (low.below + low.through), axis=-1) / 2


def _block_bounds(xp: Namespace, key: Array, index_dtype: object) -> tuple[Array, Array]:
    """Return, for each entry of a sorted key, where its block of ties begins and where it ends."""
    n = key.shape[-1]
    starts_block = xp.concat(
        [xp.ones_like(key[..., :1], dtype=xp.bool), key[..., 1:] != key[..., :-1]], axis=-1
    )
    block = running_sum(xp, xp.astype(starts_block, index_dtype))[..., 1:] - 1
    position = xp.arange(n, dtype=index_dtype, device=device_of(xp, key))
    position = xp.broadcast_to(position, key.shape)
    end = xp.full_like(position, n)
    # Sorting brings the k-th start to place k, in a fixed shape; the places left over hold n.
    starts = xp.sort(xp.where(starts_block, position, end), axis=-1)
    starts = xp.concat([starts, end[..., :1]], axis=-1)
    return tuple(xp.take_along_axis(starts, at, axis=-1) for at in (block, block + 1))
