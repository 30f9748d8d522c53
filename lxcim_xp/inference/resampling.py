"""Bootstrap draws of a metric: rows of weights on samples that are sorted once."""

from collections.abc import Callable, Iterable
from typing import Any

from lxcim_xp._array import Array, Namespace, is_numpy, take
from lxcim_xp._descent import Descent
from lxcim_xp._influence import Kernel, reweighted, sorted_weight
from lxcim_xp._random import exponential_numbers, resample_counts, split_seed
from lxcim_xp._ranks import Ordering

_HELD = 1 << 22  # entries in one array of weights: the draws are made in chunks of that size
_HELD_BY_NUMPY = 1 << 16  # as many rows as share the cost of calls and still stay in the cache


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
    n = sorted_weight(descent).shape[-1]
    rows = max(1, (_HELD_BY_NUMPY if is_numpy(xp) else _HELD) // n)
    if not bayes:
        descent = _in_whole_numbers(xp, descent)
    chunks = [min(rows, n_resamples - start) for start in range(0, n_resamples, rows)]
    seeds = split_seed(xp, seed, len(chunks))
    values = []
    for chunk in progress(range(len(chunks))):
        factor = _factors(xp, sorted_weight(descent), groups, chunks[chunk], seeds[chunk], bayes)
        spread = _in_rows(xp, descent, chunks[chunk])
        values.append(kernel.estimate(xp, reweighted(xp, spread, factor))[..., 0])
    return xp.concat(values, axis=-1)


def _in_whole_numbers(xp: Namespace, descent: Descent) -> Descent:
    """Return NumPy columns as integers where they are whole: these sum up several times faster."""
    value, weight = (column.value for column in descent.columns)
    # The products of sums must stay exact, as they would be in floats.
    if not is_numpy(xp) or weight.sum() > 1 << 24 or (value % 1).any() or (weight % 1).any():
        return descent
    columns = tuple(c._replace(value=c.value.astype(int)) for c in descent.columns)
    return descent._replace(columns=columns)


def _factors(
    xp: Namespace, weight: Array, groups: Array | None, rows: int, seed: Any, bayes: bool
) -> Array:
    """Return by what each draw multiplies the weights: how often a unit is drawn, on average 1."""
    n = weight.shape[-1]
    if bayes:
        # Exponential weights are those of a flat Dirichlet distribution, up to their sum.
        factor = exponential_numbers(xp, seed, (rows, n), weight)
    else:
        # Absent samples stand last; clusters are numbered from 0 without gaps.
        present = xp.astype(weight > 0, weight.dtype)
        units = xp.sum(present) if groups is None else xp.max(groups) + 1
        factor = resample_counts(xp, seed, rows, n, units)
    if groups is None:
        return factor
    return take(xp, factor, xp.broadcast_to(xp.astype(groups, xp.int64), (rows, n)))


def _in_rows(xp: Namespace, descent: Descent, rows: int) -> Descent:
    """Repeat the order of the samples, and their weights, for each draw."""
    shape = (rows, sorted_weight(descent).shape[-1])
    order, first, end = (p if p is None else xp.broadcast_to(p, shape) for p in descent.places)
    columns = tuple(
        column._replace(value=xp.broadcast_to(column.value, shape)) for column in descent.columns
    )
    return descent._replace(places=Ordering(order, first, end), columns=columns)
