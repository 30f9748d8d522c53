"""NumPy formulas in pieces that stay in the cache, and the sizes of such pieces."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray

# Successive NumPy passes run on pieces of this many samples, which stay in the cache.
CACHED = 1 << 14

# Formulas make many arrays per piece. This many bytes in all are few enough for memory to be used
# again; giving it back to the system would cost a page fault for each 4 kB.
IN_FORMULAS = 1 << 12

# Up to this many samples, saving NumPy calls pays more than saving passes.
FEW = 1 << 10


def sums_of(
    xp: Namespace, formula: Callable[..., tuple[Array, ...]], *groups: tuple[Array, ...]
) -> tuple[Array, ...]:
    """Return the sums along the last axis of elementwise formulas in named tuples of arrays."""
    if xp is not NUMPY:
        return tuple(xp.sum(values, axis=-1) for values in formula(*groups))
    return sums_of_pieces(formula, (pieces for _, pieces in _cached_pieces(groups)))


def sums_of_pieces(
    formula: Callable[..., tuple[Array, ...]], pieces: Iterable[Sequence[Any]]
) -> tuple[Array, ...]:
    """Return the same sums for NumPy columns that come in pieces."""
    found = [[np.add.reduce(values, axis=-1) for values in formula(*piece)] for piece in pieces]
    return tuple(sum(parts) for parts in zip(*found, strict=True))


def computed(xp: Namespace, formula: Callable[..., Array], *groups: tuple[Array, ...]) -> Array:
    """Return the values of an elementwise formula in named tuples of arrays."""
    if xp is not NUMPY:
        return formula(*groups)
    result: NumpyArray = np.empty(groups[0][0].shape, dtype=groups[0][0].dtype)
    for here, pieces in _cached_pieces(groups):
        result[..., here] = formula(*pieces)
    return result


def _cached_pieces(groups: tuple[tuple[Array, ...], ...]) -> Iterator[tuple[slice, list[Any]]]:
    """Cut arrays along the last axis into pieces, so that intermediate arrays stay in the cache."""
    for start in range(0, groups[0][0].shape[-1], IN_FORMULAS):
        here = slice(start, start + IN_FORMULAS)
        yield here, [type(group)(*(array[..., here] for array in group)) for group in groups]
