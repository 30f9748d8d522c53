"""A state of fixed size for data that is not in one place: streams, shards, devices.

A sketch holds sums in bins of confidence. Sketches of two parts of the data merge into the sketch
of the whole, in any order and on any number of machines, and LxCIM and AUDRC certainly lie between
the bounds that they give. What is unknown is only the order inside a bin: with 4096 bins the bounds
are less than 0.002 apart for the usual distributions of scores.

>>> import numpy as np
>>> from lxcim_xp import lxcim, lxcim_bounds, merge, sketch
>>> rng = np.random.default_rng(0)
>>> state = sketch(1, rng.normal(1, 1, 10_000))
>>> for _ in range(9):
...     state = merge(state, sketch(1, rng.normal(1, 1, 10_000)))
>>> low, estimate, high = lxcim_bounds(state)
>>> rng = np.random.default_rng(0)
>>> bool(low <= lxcim(1, rng.normal(1, 1, 100_000)) <= high), bool(high - low < 0.001)
(True, True)

The bins are the same everywhere (see ``bins``). Frames have bins of their own, from square roots,
which every engine has: states of frames merge with states of frames (:func:`frames.merge_sketches
<lxcim_xp.frames.merge_sketches>`), and sketches with sketches.
"""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import (
    default_int,
    device_of,
    moves_constants,
    namespace,
    scalar_if_numpy,
    values_are_at_hand,
)
from lxcim_xp._arrays.primitives import divide, longest_sum, reduced_across, reduced_by_bin
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace
from lxcim_xp._samples.checks import (
    bound_tolerance,
    checked_bins,
    largest_confidence,
    refuse_confidence,
    within_bound,
)
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import collect, credit, signed_confidence, weights
from lxcim_xp.sketch.bins import bin_of
from lxcim_xp.sketch.bounds import Bins, Ends, audrc_ends, lxcim_ends


class Sketch(NamedTuple):
    """Sums in bins of confidence, as :func:`sketch` returns them.

    It is a tuple of arrays, a pytree for JAX, whose size does not depend on the number of samples.
    Save it like any arrays, for example with ``numpy.savez(file, **state._asdict())``.

    Parameters
    ----------
    weight : array
        The weight of each bin, from no confidence to the highest, on the last axis; NaN where the
        input was bad.
    correct : array
        The weight of its right decisions, undecided ones counting half.
    count : array of int
        The number of its samples; on JAX without 64 bits, fewer than 2 ** 31 in a bin.
    g_min : array
        The smallest confidence in it; infinity if it is empty.
    g_max : array
        The largest confidence in it; minus infinity if it is empty.
    bound : array
        The largest confidence that the bins are made for; infinity if there is none. One number
        for each batch entry, like the next.
    fractional : array of int
        The number of samples whose weight is not a whole number, or twice their right weight is
        not, which happens where votes are split. If it is 0, sums are exact.

    Examples
    --------
    >>> from lxcim_xp import sketch
    >>> state = sketch([1, 0, 1], [0.0, -8.0, 8.0], bins=4)
    >>> state.weight, state.correct
    (array([1., 0., 2., 0.]), array([0.5, 0. , 2. , 0. ]))
    """

    weight: Array
    correct: Array
    count: Array  # type: ignore[assignment]  # and not the method of tuples
    g_min: Array
    g_max: Array
    bound: Array
    fractional: Array


class Bounds(NamedTuple):
    """Bounds between which a metric certainly lies, as :func:`lxcim_bounds` returns them.

    Parameters
    ----------
    low : array
        The least value that fits the sketch.
    estimate : array
        The value if all samples of a bin were tied: usually far closer than the bounds suggest.
    high : array
        The largest value that fits the sketch.

    Examples
    --------
    >>> from lxcim_xp import lxcim_bounds, sketch
    >>> lxcim_bounds(sketch(1, [3.0, 2.0, -1.0])).estimate * 9
    np.float64(8.0)
    """

    low: Array
    estimate: Array
    high: Array


# How the fields of two sketches become those of their union.
_REDUCTIONS: tuple[Literal["sum", "min", "max"], ...] = (
    "sum",
    "sum",
    "sum",
    "min",
    "max",
    "max",
    "sum",
)


@moves_constants
def sketch(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    bins: int = 4096,
    bound: float | None = None,
) -> Sketch:
    """Return sums in bins of confidence: a mergeable state of fixed size.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    axis : int, default -1
        The axis of the samples, after broadcasting.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a NaN score: raise an error, leave the sample out, or count it as undecided
        (half right, no confidence). A NaN label is an error unless it is left out. Where values
        cannot be inspected (any library but NumPy), the result is NaN instead of an error.
    bins : int, default 4096
        The number of bins, at least 2. The bounds are about as wide as 1 / bins.
    bound : float, optional
        The largest confidence that a score can have: 0.5 for probabilities around 0.5. Bins are
        then fine near the bound too, where the probabilities of a confident model crowd. By default
        it comes from the domain of ``decision``, if there is one. A larger confidence is bad input.

    Returns
    -------
    Sketch
        Arrays with the batch axes in front and the bins last, in the widest float of the device.

    See Also
    --------
    merge : The sketch of two parts of the data together.
    lxcim_bounds, audrc_bounds, sketch_accuracy : What a sketch knows.

    Notes
    -----
    Bins are logarithmic: 64 octaves from 2 ** -32 to 2 ** 32, or 32 from the threshold and 32 from
    the bound. They are cut by the bits of the confidence, not by a logarithm, so that no rounding
    puts a larger confidence into a lower bin. Zero has its own bin, and what lies outside the
    octaves, infinity included, is in the outermost bins.

    Examples
    --------
    >>> from lxcim_xp import lxcim_bounds, probability, sketch
    >>> state = sketch([1, 0, 1, 1], [0.9, 0.1, 0.7, 0.4], decision=probability())
    >>> state.weight.shape, state.bound
    ((4096,), np.float64(0.5))
    >>> lxcim_bounds(state).estimate
    np.float64(0.9375)
    """
    bins = checked_bins(bins)
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        axis=axis,
        nan_policy=nan_policy,
        relative_weights=False,
    )
    refuse_confidence(samples.decision, "Its bins begin at zero confidence: pass margins.")
    signed, weight = signed_confidence(xp, samples), weights(xp, samples)
    wide, present = weight.dtype, weight > 0
    confidence = xp.where(present, xp.abs(xp.astype(signed, wide, copy=False)), 0.0)
    valid = samples.valid
    limit = largest_confidence(xp, samples.score, samples.decision, bound)
    if bound is not None and limit is not None:
        tolerance = bound_tolerance(xp, samples.score.dtype)
        within = within_bound(xp, confidence, weight, limit, tolerance, axis)
        valid = within if valid is None else valid & within
    index = _index(xp, confidence, bins, limit, known=bound is not None)
    right = credit(xp, samples, signed) * weight
    fractional = weight != xp.floor(weight)
    if samples.share is not None:
        fractional = fractional | (2 * right != xp.floor(2 * right))
    whole = default_int(xp, weight)
    least = xp.where(present, confidence, xp.inf)
    largest = xp.where(present, confidence, -xp.inf)
    batch = weight.shape[:-1]
    state = Sketch(
        reduced_by_bin(xp, "sum", index, weight, bins),
        reduced_by_bin(xp, "sum", index, right, bins),
        reduced_by_bin(xp, "sum", index, xp.astype(present, whole), bins),
        reduced_by_bin(xp, "min", index, least, bins),
        reduced_by_bin(xp, "max", index, largest, bins),
        xp.broadcast_to(_or_infinity(xp, limit, weight), batch),
        xp.sum(xp.astype(fractional, whole), axis=-1, dtype=whole),
    )
    if valid is not None:
        state = _spoiled(xp, state, valid)
    return Sketch(*(scalar_if_numpy(xp, field) for field in state))


@moves_constants
def merge(a: Sketch, b: Sketch) -> Sketch:
    """Return the sketch of the samples of two sketches together.

    It does not matter which is first, nor in which order many are merged; with whole weights the
    result is the sketch of all samples to the last bit.

    Parameters
    ----------
    a, b : Sketch
        Sketches of different samples, with the same bins, bound and decision function. Whether the
        decision function is the same cannot be checked.

    Returns
    -------
    Sketch
        Their union, of the same size.

    See Also
    --------
    merge_across : The same for sketches on the devices of a JAX mesh.

    Examples
    --------
    >>> from lxcim_xp import merge, sketch
    >>> parts = sketch(1, [3.0, -1.0]), sketch(1, [2.0])
    >>> bool((merge(*parts).weight == sketch(1, [3.0, 2.0, -1.0]).weight).all())
    True
    """
    xp = _namespace_of(a=a, b=b)
    if a.weight.shape != b.weight.shape:
        raise ValueError(
            f"sketches must have the same shape to be merged; found {tuple(a.weight.shape)} and "
            f"{tuple(b.weight.shape)}. Make them with the same bins and the same batch axes."
        )
    same = a.bound == b.bound
    if values_are_at_hand(xp) and not np.all(same):
        raise ValueError(
            f"sketches must have the same bound to be merged; found {a.bound} and {b.bound}. Make "
            f"them with the same bound= or decision=."
        )
    together = {"sum": operator.add, "min": xp.minimum, "max": xp.maximum}
    fields = zip(a, b, _REDUCTIONS, strict=True)
    merged = Sketch(*(together[reduction](x, y) for x, y, reduction in fields))
    return merged if values_are_at_hand(xp) else _spoiled(xp, merged, same)


@moves_constants
def merge_across(state: Sketch, axis_name: Any) -> Sketch:
    """Return the sketch of the samples of all devices of a JAX mesh, on each of them.

    Parameters
    ----------
    state : Sketch
        The sketch of the samples of this device.
    axis_name : str or tuple of str
        The axis of the mesh that the samples are sharded over, as in ``jax.lax.psum``.

    Returns
    -------
    Sketch
        The union over the axis, of the same size.

    See Also
    --------
    merge : The same for two sketches that are at hand.

    Examples
    --------
    Here under ``jax.vmap``, which has named axes as well; ``docs/sketch.md`` has ``shard_map``.

    >>> import jax, jax.numpy as jnp
    >>> from lxcim_xp import lxcim_bounds, merge_across, sketch
    >>> def everywhere(margins):
    ...     return lxcim_bounds(merge_across(sketch(1, margins), "shards")).estimate
    >>> shards = jnp.asarray([[3.0, -1.0, 4.0], [2.0, 5.0, 6.0]])
    >>> jax.vmap(everywhere, axis_name="shards")(shards) * 36
    Array([35., 35.], dtype=float32)
    """
    xp = _namespace_of(state=state)
    merged = Sketch(
        *(
            reduced_across(xp, reduction, field, axis_name)
            for field, reduction in zip(state, _REDUCTIONS, strict=True)
        )
    )
    return _spoiled(xp, merged, reduced_across(xp, "min", state.bound, axis_name) == merged.bound)


@moves_constants
def sketch_accuracy(state: Sketch) -> Array:
    """Return the accuracy of the samples of a sketch, which it knows exactly.

    Parameters
    ----------
    state : Sketch
        What :func:`lxcim_xp.sketch` or :func:`lxcim_xp.merge` returned.

    Returns
    -------
    array
        One value for each batch entry; NaN without any weight.

    Examples
    --------
    >>> from lxcim_xp import sketch, sketch_accuracy
    >>> sketch_accuracy(sketch([1, 0, 1, 1], [2.0, -1.0, -3.0, 0.0]))
    np.float64(0.625)
    """
    xp = _namespace_of(state=state)
    right, total = (xp.sum(part, axis=-1) for part in (state.correct, state.weight))
    return scalar_if_numpy(xp, divide(xp, right, total))


@moves_constants
def lxcim_bounds(state: Sketch) -> Bounds:
    """Return bounds between which LxCIM of the samples of a sketch certainly lies.

    Parameters
    ----------
    state : Sketch
        What :func:`lxcim_xp.sketch` or :func:`lxcim_xp.merge` returned.

    Returns
    -------
    Bounds
        ``low``, ``estimate`` and ``high``, one value for each batch entry; NaN without any weight.

    See Also
    --------
    lxcim : The value itself, from all samples at once.

    Notes
    -----
    The distance from the estimate to either bound is the sum over bins of right weight times wrong
    weight, over the square of all weight. A bin with one confidence (``g_min == g_max``) is a block
    of ties, and adds nothing. The bounds are about bins, not about sampling: for that, see
    :func:`interval`. Both are moved outwards by what rounding can have done, some 1e-12, or 1e-4
    where sums are float32; there, fractional weights cost one rounding for each sample in a bin.

    Examples
    --------
    With two bins, one for zero, nothing is known about the order of the rest:

    >>> from lxcim_xp import lxcim_bounds, sketch
    >>> bounds = lxcim_bounds(sketch(1, [4.0, 3.0, -2.0, 1.0], bins=2))
    >>> [round(float(bound) * 16, 6) for bound in bounds]
    [9.0, 12.0, 15.0]
    """
    xp = _namespace_of(state=state)
    return _bounds(xp, state, lxcim_ends(xp, _bins_of(xp, state)))


@moves_constants
def audrc_bounds(state: Sketch, *, form: Literal["discrete", "continuous"] = "discrete") -> Bounds:
    """Return bounds between which AUDRC of the samples of a sketch certainly lies.

    Parameters
    ----------
    state : Sketch
        What :func:`lxcim_xp.sketch` or :func:`lxcim_xp.merge` returned.
    form : {"discrete", "continuous"}, default "discrete"
        Mean over samples, or integral over all decision rates, see :func:`lxcim_xp.audrc`.

    Returns
    -------
    Bounds
        ``low``, ``estimate`` and ``high``, one value for each batch entry; NaN without any weight.

    See Also
    --------
    audrc : The value itself, from all samples at once.

    Notes
    -----
    Of the continuous form, these are the least and the largest value that fit the sketch. Of the
    discrete form they are a little wider, because they hold for any weights of the samples in a
    bin; a bin with a single sample is exact, and a block of ties nearly so.

    Examples
    --------
    >>> from lxcim_xp import audrc_bounds, sketch
    >>> audrc_bounds(sketch([1, 0, 1], [3.0, -2.0, -1.0])).estimate * 9
    np.float64(8.0)
    """
    if form not in ("discrete", "continuous"):
        raise ValueError(f"form must be 'discrete' or 'continuous'; found {form!r}.")
    xp = _namespace_of(state=state)
    return _bounds(xp, state, audrc_ends(xp, _bins_of(xp, state), discrete=form == "discrete"))


def _index(
    xp: Namespace, confidence: Array, bins: int, limit: Array | None, *, known: bool
) -> Array:
    """Return the bin of each confidence; what follows from a domain may turn out to be infinite."""
    if limit is None or known or values_are_at_hand(xp):
        return bin_of(xp, confidence, bins, limit)
    finite = xp.isfinite(limit)
    bounded = bin_of(xp, confidence, bins, xp.where(finite, limit, 1.0))
    return xp.where(finite, bounded, bin_of(xp, confidence, bins, None))


def _or_infinity(xp: Namespace, limit: Array | None, like: Array) -> Array:
    if limit is not None:
        return limit
    return xp.asarray(float("inf"), dtype=like.dtype, device=device_of(xp, like))


def _namespace_of(**states: Any) -> Namespace:
    for name, state in states.items():
        if not isinstance(state, Sketch):
            raise TypeError(
                f"{name} must be a Sketch; found {type(state).__name__}. Make one with "
                f"lxcim_xp.sketch."
            )
    return namespace(**{name: state.weight for name, state in states.items()})


def _spoiled(xp: Namespace, state: Sketch, good: Array) -> Sketch:
    """Return a state that gives NaN in all batch entries that are not good."""
    weight, correct = (
        xp.where(good[..., None], part, xp.nan) for part in (state.weight, state.correct)
    )
    return state._replace(weight=weight, correct=correct)


def _bins_of(xp: Namespace, state: Sketch) -> Bins:
    weight, dtype = state.weight, state.weight.dtype
    wrong = xp.clip(weight - state.correct, min=0.0)
    count = xp.astype(state.count, dtype)
    # Whole numbers and their halves add up exactly while a float has digits for them.
    exact_up_to, whole = 1 / float(xp.finfo(dtype).eps), state.fractional == 0
    in_bins = whole & (xp.max(weight, axis=-1) <= exact_up_to)
    over_bins = whole & (xp.sum(weight, axis=-1) <= exact_up_to)
    return Bins(
        state.correct,
        wrong,
        weight,
        count,
        state.g_min == state.g_max,
        # Two more than there are samples: shares of votes have roundings of their own.
        xp.where(in_bins, 0.0, xp.max(count, axis=-1) + 2),
        longest_sum(xp, weight) * xp.astype(~over_bins, dtype),
    )


def _bounds(xp: Namespace, state: Sketch, ends: Ends) -> Bounds:
    total = xp.sum(state.weight, axis=-1)
    known = (total > 0) & xp.isfinite(total)
    low, high = (xp.clip(end, 0.0, 1.0) for end in (ends.low, ends.high))
    middle = xp.minimum(xp.maximum(ends.estimate, low), high)
    return Bounds(
        *(scalar_if_numpy(xp, xp.where(known, end, xp.nan)) for end in (low, middle, high))
    )
