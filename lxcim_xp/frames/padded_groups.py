"""Groups of different sizes as rows of rectangles, for array functions that take a batch.

Groups of similar size share a rectangle, so that less than half of it is padding. Every row has at
least one padded place, so that the cluster for padding exists in each of them.
"""

from collections.abc import Callable, Iterator

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array

_PLACES = 1 << 20  # of one rectangle at most, which limits memory


def over_groups(
    code: Array,
    count: int,
    names: tuple[str, ...],
    function: Callable[..., tuple[Array, ...]],
    *columns: Array | None,
) -> dict[str, Array]:
    """Return ``function(where, *columns)`` for each of ``count`` groups, by name.

    The columns come as rectangles, with one group in each row; ``where`` says which places count.
    """
    found = {name: np.full(count, np.nan) for name in names}
    for groups, index, where in _rectangles(code, count) if code.size else ():
        cut = (None if column is None else column.take(index) for column in columns)
        for name, value in zip(names, function(where, *cut), strict=True):
            found[name][groups] = value
    return found


def _rectangles(code: Array, count: int) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the groups of a rectangle, the sample at each place, and which places count."""
    n = code.size
    place_bits = max(1, (n - 1).bit_length())
    packed = np.sort((code << place_bits) | np.arange(n))
    order = packed & ((1 << place_bits) - 1)
    size = np.bincount(code, minlength=count)
    first = np.cumsum(size) - size
    similar = np.frexp(size)[1]  # equal for sizes between two powers of two
    for similarity in np.unique(similar[size > 0]):
        groups = np.flatnonzero(similar == similarity)
        width = int(size[groups].max()) + 1
        step = max(1, _PLACES // width)
        for start in range(0, groups.size, step):
            some = groups[start : start + step]
            place = np.arange(width)
            where = place < size[some, None]
            at = np.where(where, first[some, None] + place, 0)
            yield some, order.take(at), where
