"""Bootstrap draws of a metric: rows of weights on samples that are sorted once."""

from collections.abc import Callable, Iterable
from typing import Any

from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._arrays.primitives import take
from lxcim_xp._arrays.random import exponential_numbers, resample_counts, split_seed
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.ordering import Ordering
from lxcim_xp._samples.by_confidence import Descent
from lxcim_xp._samples.samples import Samples
from lxcim_xp.inference.influence import Kernel, reweighted, sorted_weight
from lxcim_xp.inference.sampling_design import Design, in_order

# Draws are made in chunks of rows: so many weights are held at once.
_HELD = 1 << 22
_HELD_BY_NUMPY = 1 << 16  # enough rows to share the cost of the calls, few enough for the cache


def refuse_batch(caller: str, samples: Samples) -> None:
    """Refuse a batch of data sets, since resamples are rows themselves."""
    if samples.score.ndim != 1:
        raise ValueError(
            f"{caller} takes one list of samples; found y_score of shape "
            f"{tuple(samples.score.shape)}. Call it for each entry, or map it with jax.vmap."
        )


def bootstrap_draws(
    xp: Namespace,
    kernel: Kernel,
    descent: Descent,
    drawn: Design,
    n_resamples: int,
    seed: Any,
    *,
    bayes: bool,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Array:
    """Return the metric of resamples of one sorted data set: every bootstrap comes from here.

    What is drawn are samples, or clusters if the design has any.
    """
    n, groups = sorted_weight(descent).shape[-1], in_order(xp, drawn, descent.places.order).groups
    rows = max(1, (_HELD_BY_NUMPY if xp is NUMPY else _HELD) // n)
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
    """Return NumPy columns as integers if all are whole, which sum up several times faster."""
    value, weight = (column.value for column in descent.columns)
    # The products of sums must stay exact, as they would be in floats.
    if xp is not NUMPY or weight.sum() > 1 << 24 or (value % 1).any() or (weight % 1).any():
        return descent
    columns = tuple(c._replace(value=c.value.astype(int)) for c in descent.columns)
    return descent._replace(columns=columns)


def _factors(
    xp: Namespace, weight: Array, groups: Array | None, rows: int, seed: Any, bayes: bool
) -> Array:
    """Return what each draw multiplies the weights by: how often a unit is drawn, 1 on average."""
    n = weight.shape[-1]
    if bayes:
        # Divided by their sum, exponential weights are a draw from a flat Dirichlet distribution.
        factor = exponential_numbers(xp, seed, (rows, n), weight)
    else:
        # Absent samples come last; clusters are numbered from 0 without gaps.
        present = xp.astype(weight > 0, weight.dtype)
        units = xp.sum(present) if groups is None else xp.max(groups) + 1
        factor = resample_counts(xp, seed, rows, n, units)
    if groups is None:
        return factor
    return take(xp, factor, xp.broadcast_to(xp.astype(groups, xp.int64), (rows, n)))


def _in_rows(xp: Namespace, descent: Descent, rows: int) -> Descent:
    """Repeat the order and the weights of the samples for each draw."""
    shape = (rows, sorted_weight(descent).shape[-1])
    order, first, end = (p if p is None else xp.broadcast_to(p, shape) for p in descent.places)
    columns = tuple(
        column._replace(value=xp.broadcast_to(column.value, shape)) for column in descent.columns
    )
    return descent._replace(places=Ordering(order, first, end), columns=columns)
