"""Bootstrap draws of a metric: rows of weights on samples that are sorted once."""

from collections.abc import Callable, Iterable
from typing import Any

from lxcim_xp._array import (
    Array,
    Namespace,
    counts_of,
    device_of,
    split_seed,
    take,
    uniform_numbers,
)
from lxcim_xp._descent import Descent
from lxcim_xp._influence import Kernel, reweighted, sorted_weight
from lxcim_xp._ranks import Ordering

_HELD = 1 << 21  # entries in one array of weights: the draws are made in chunks of that size


def bootstrap_draws(
    xp: Namespace,
    kernel: Kernel,
    descent: Descent,
    groups: Array | None,
    n_resamples: int,
    seed: Any,
    bayes: bool,
    progress: Callable[[Iterable[int]], Iterable[int]],
) -> Array:
    """Return values of the metric of one data set, its clusters given in sorted order."""
    n = descent.key.shape[-1]
    rows = max(1, _HELD // n)
    chunks = [min(rows, n_resamples - start) for start in range(0, n_resamples, rows)]
    seeds = split_seed(xp, seed, len(chunks))
    values = []
    for chunk in progress(range(len(chunks))):
        uniform = uniform_numbers(xp, seeds[chunk], (chunks[chunk], n), sorted_weight(descent))
        factor = _factors(xp, sorted_weight(descent), groups, uniform, bayes)
        spread = _in_rows(xp, descent, chunks[chunk])
        values.append(kernel.estimate(xp, reweighted(xp, spread, factor))[..., 0])
    return xp.concat(values, axis=-1)


def _factors(
    xp: Namespace, weight: Array, groups: Array | None, uniform: Array, bayes: bool
) -> Array:
    """Return by what each draw multiplies the weights: how often a unit is drawn, on average 1."""
    n = weight.shape[-1]
    # Absent samples stand last; clusters are numbered from 0 without gaps.
    present = weight > 0
    count = xp.sum(xp.astype(present, weight.dtype)) if groups is None else xp.max(groups) + 1
    place = xp.arange(n, dtype=weight.dtype, device=device_of(xp, weight))
    is_unit = xp.broadcast_to(xp.astype(place < count, weight.dtype), uniform.shape)
    if bayes:
        # Exponential weights, which are those of a flat Dirichlet distribution up to their sum.
        factor = -xp.log1p(-uniform) * is_unit
    else:
        index = xp.astype(
            xp.floor(uniform * count), xp.int64 if xp.float64 == weight.dtype else xp.int32
        )
        factor = counts_of(xp, index, is_unit)
    if groups is None:
        return factor
    return take(xp, factor, xp.broadcast_to(xp.astype(groups, xp.int32), uniform.shape))


def _in_rows(xp: Namespace, descent: Descent, rows: int) -> Descent:
    """Repeat the order of the samples, and their weights, for each draw."""
    shape = (rows, descent.key.shape[-1])
    order, first, end = (p if p is None else xp.broadcast_to(p, shape) for p in descent.places)
    columns = tuple(
        column._replace(value=xp.broadcast_to(column.value, shape)) for column in descent.columns
    )
    return descent._replace(places=Ordering(order, first, end), columns=columns)
