"""Local exchange of classes: the same predictions, with some pairs written the other way round.

To exchange a sample is to call the other side "positive": its label is flipped and its score
becomes the one with the opposite decision and the same confidence (the paper's A). Nothing about
the prediction has changed, so a metric of pairwise choices should not change either.

>>> from lxcim_xp import auroc, exchange, lxcim
>>> y_true, y_score = [0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0]
>>> exchanged = exchange(y_true, y_score, [False, False, True, False])
>>> exchanged
Exchanged(y_true=array([0, 1, 1, 1]), y_score=array([-4., -3., -1.,  2.]))
>>> lxcim(y_true, y_score), lxcim(*exchanged)
(np.float64(0.625), np.float64(0.625))
>>> auroc(y_true, y_score), auroc(*exchanged)
(np.float64(0.75), np.float64(1.0))
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import (
    array_like,
    as_array,
    device_of,
    kind_of,
    moves_constants,
    namespace,
    returns_arrays_only,
    scalar_if_numpy,
    values_are_at_hand,
)
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.random import coin_flips
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace, Seed
from lxcim_xp._samples.any_metric import Metric, call, evaluate_rows, on_copies, one_value
from lxcim_xp._samples.checks import is_minus_one
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.mirror import mirror_scores
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import collect


class Exchanged(NamedTuple):
    """Samples after an exchange, to be passed on as ``metric(*exchanged)``.

    Parameters
    ----------
    y_true : array
        Labels, written as they were given: 0/1, -1/+1 or bool.
    y_score : array
        Scores.

    Examples
    --------
    >>> from lxcim_xp import exchange
    >>> exchange([1, -1], [2.0, 3.0]).y_true
    array([-1,  1])
    """

    y_true: Array
    y_score: Array


class Symmetrized(NamedTuple):
    """The data joined with its exchanged copy, as :func:`symmetrize` returns it.

    Parameters
    ----------
    y_true : array
        Labels.
    y_score : array
        Scores.
    sample_weight : array or None
        Weights, if there were weights or a mask; ones under ``torch.func.vmap``, which has no None.

    Examples
    --------
    >>> from lxcim_xp import symmetrize
    >>> symmetrize([1], [2.0]).sample_weight is None
    True
    """

    y_true: Array
    y_score: Array
    sample_weight: Array | None


class Spread(NamedTuple):
    """The values of a metric over random exchanges, as :func:`exchange_spread` returns them.

    Parameters
    ----------
    value : array
        The metric of the samples as they were given.
    values : array
        The metric of each random exchange; NaN where it is undefined.
    mean, std : array
        Mean and standard deviation of the values that are not NaN.
    low, high : array
        Smallest and largest of them.
    undefined : array
        The share of the exchanges for which the metric has no value.

    Examples
    --------
    >>> from lxcim_xp import exchange_spread, lxcim
    >>> exchange_spread(lxcim, [0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0], seed=0).std
    np.float64(0.0)
    """

    value: Array
    values: Array
    mean: Array
    std: Array
    low: Array
    high: Array
    undefined: Array

    def __repr__(self) -> str:
        """Show how many values there are, and the other parts as they are."""
        count = " x ".join(str(length) for length in getattr(self.values, "shape", ()))
        parts = {name: repr(part) for name, part in self._asdict().items()}
        parts["values"] = f"<{count} values>"
        return f"Spread({', '.join(f'{name}={part}' for name, part in parts.items())})"


class _Sides(NamedTuple):
    """Samples as they are and written the other way."""

    label: Array
    score: Array
    other_label: Array
    other_score: Array
    undecided: Array  # at the threshold, without a score, or absent
    absent: Array  # of weight zero


@moves_constants
def exchange(
    y_true: ArrayLike,
    y_score: ArrayLike,
    which: ArrayLike | None = None,
    *,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
) -> Exchanged:
    """Write some samples the other way round (the paper's A on a subset).

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    which : array of bool, optional
        The samples to exchange, all by default. Broadcasts against the scores: leading axes give a
        batch of exchanges.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything and stay as they
        are.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. It says which score has the opposite decision and the same
        confidence.

    Returns
    -------
    Exchanged
        ``y_true`` and ``y_score`` of the common shape, in the caller's library and kind of labels.

    See Also
    --------
    random_exchange : A subset drawn by fair coins.
    symmetrize : The data joined with its exchanged copy.

    Notes
    -----
    A sample at the threshold stays as it is, and so does one whose score is NaN. The mirror score
    is rounded to a float. It has exactly the same confidence at every threshold, for
    ``probability()`` and for ``logit()``. For ``asymmetric()`` that is so in the widest float of
    the device, and in narrower ones where the ratio of the scales is a power of two; for
    ``decision_function()``, where a float of exactly that confidence exists. Elsewhere, rounding
    may make an exchange break a tie.

    Examples
    --------
    >>> from lxcim_xp import exchange, probability
    >>> exchange([1, 0], [0.75, 0.5], decision=probability())
    Exchanged(y_true=array([0, 0]), y_score=array([0.25, 0.5 ]))
    """
    xp, sides = _both_sides(y_true, y_score, None, where, threshold, decision)
    if which is None:
        return _choose(xp, sides, ~sides.undecided)
    return _choose(xp, sides, _mask(xp, which, sides.score))


@moves_constants
def symmetrize(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
) -> Symmetrized:
    """Join the data with its exchanged copy (the paper's Omega) along the last axis.

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
        Weights, the same for both copies.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything and stay as they
        are.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. It says which score has the opposite decision and the same
        confidence.

    Returns
    -------
    Symmetrized
        ``y_true``, ``y_score`` and ``sample_weight``, twice as long as the input. With ``where``
        there always are weights: 0 for the samples that do not count.

    See Also
    --------
    lxcim : The AUROC of the result, without making it.

    Notes
    -----
    A sample at the threshold appears once with each label: taken literally, A would put the same
    label in twice and unbalance the classes. A score that, by rounding, is not the mirror image of
    its own mirror image is replaced by one that is, so that equally confident samples tie on both
    sides.

    Examples
    --------
    >>> from lxcim_xp import auroc, lxcim, symmetrize
    >>> omega = symmetrize([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0])
    >>> auroc(omega.y_true, omega.y_score), lxcim([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0])
    (np.float64(0.625), np.float64(0.625))
    """
    xp, sides = _both_sides(
        y_true, y_score, sample_weight, where, threshold, decision, in_pairs=True
    )
    weight = _weights(xp, sample_weight, sides.score)
    if where is not None:
        weight = _zero_where_absent(xp, weight, sides)
    if weight is None and returns_arrays_only(xp, sides.score):
        weight = xp.ones_like(sides.score)
    return Symmetrized(
        xp.concat([sides.label, sides.other_label], axis=-1),
        xp.concat([sides.score, sides.other_score], axis=-1),
        None if weight is None else xp.concat([weight, weight], axis=-1),
    )


@moves_constants
def random_exchange(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    n: int | None = None,
    seed: Seed,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
) -> Exchanged:
    """Write each sample the other way round by a fair coin.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array
        Scores that grow with the belief in the positive side; infinities are allowed. Leading axes
        are a batch. Integers become floats: beyond 2**53 neighbours tie (2**24 in float32).
    n : int, optional
        How many exchanges to draw, on a new first axis. By default one, in the shape of the data.
    seed : int, numpy.random.Generator or JAX key
        Where the coins come from. An integer gives the same exchange in every library; a key needs
        JAX arrays and may be traced.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything and stay as they
        are.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. It says which score has the opposite decision and the same
        confidence.

    Returns
    -------
    Exchanged
        ``y_true`` and ``y_score``.

    See Also
    --------
    exchange : A subset of your choice.
    exchange_spread : A metric over many such draws.

    Examples
    --------
    >>> from lxcim_xp import random_exchange
    >>> random_exchange(1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], seed=3).y_score
    array([ 1.,  2.,  3., -4., -5., -6.])
    """
    xp, sides = _both_sides(y_true, y_score, None, where, threshold, decision)
    draws = () if n is None else (_at_least_one(n),)
    return _choose(xp, sides, coin_flips(xp, seed, (*draws, *sides.score.shape), sides.score))


@moves_constants
def exchange_spread(
    metric: Metric,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    n: int = 1000,
    seed: Seed = 0,
    sample_weight: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    nan_policy: NanPolicy = "raise",
) -> Spread:
    """Evaluate a metric over random exchanges: how much it depends on the naming of the sides.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_score)``, with ``sample_weight=`` if weights are given. A metric that
        takes a batch on leading axes, as ours do, is called once; under JAX any metric is, by
        ``vmap``. Other functions are called for each draw.
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    y_score : array of shape (n,)
        Scores that grow with the belief in the positive side; infinities are allowed. Integers
        become floats: beyond 2**53 neighbours tie (2**24 in float32).
    n : int, default 1000
        The number of draws, which are held in memory together.
    seed : int, numpy.random.Generator or JAX key, default 0
        Where the coins come from. An integer gives the same exchanges in every library; a key needs
        JAX arrays and may be traced.
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    threshold : float or array, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a NumPy array lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. It says which score has the opposite decision and the same
        confidence.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing score: raise an error (NaN where values cannot be inspected),
        leave its sample out, or count it as undecided. The metric never sees a missing score. Where
        values cannot be inspected, a sample is left out by giving it weight 0: the metric has to
        take ``sample_weight``.

    Returns
    -------
    Spread
        ``value`` of the data as given, ``values`` of the draws, their ``mean``, ``std``, ``low``
        and ``high``, and the share of draws in which the metric is ``undefined``.

    See Also
    --------
    audit : Whether a metric is invariant at all.

    Examples
    --------
    The same five predictions have one LxCIM, and an AUROC for each way to write them down:

    >>> from lxcim_xp import auroc, exchange_spread, lxcim
    >>> y_true, y_score = [0, 1, 0, 1, 1], [-4.0, -3.0, 1.0, 2.0, 5.0]
    >>> spread = exchange_spread(lxcim, y_true, y_score)
    >>> spread.low, spread.high
    (np.float64(0.76), np.float64(0.76))
    >>> spread = exchange_spread(auroc, y_true, y_score)
    >>> spread.low, spread.high
    (np.float64(0.5), np.float64(1.0))
    """
    xp, sides = _both_sides(
        y_true, y_score, sample_weight, None, threshold, decision, nan_policy=nan_policy
    )
    if sides.score.ndim != 1:
        raise ValueError(
            f"exchange_spread takes one list of samples; found y_score of shape "
            f"{tuple(sides.score.shape)}. Call it for each entry, or map it with jax.vmap."
        )
    weight = _weights(xp, sample_weight, sides.score)
    coins = coin_flips(xp, seed, (_at_least_one(n), *sides.score.shape), sides.score)
    if nan_policy == "omit" and values_are_at_hand(xp):
        here = ~sides.absent
        coins = coins[:, here]
        sides, weight = (
            _Sides(*(part[here] for part in sides)),
            None if weight is None else weight[here],
        )
    elif nan_policy == "omit":
        weight = _zero_where_absent(xp, weight, sides)
    label, score = _choose(xp, sides, coins)
    weights = () if weight is None else (xp.broadcast_to(weight, score.shape),)
    values = evaluate_rows(xp, metric, label, score, *weights)
    given = (sides.label, sides.score) if weight is None else (sides.label, sides.score, weight)
    value = one_value(xp, on_copies(partial(call, metric))(*given), sides.score, metric)
    return Spread(*(scalar_if_numpy(xp, part) for part in (value, values, *_summary(xp, values))))


def _both_sides(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    where: Any,
    threshold: Any,
    decision: Decision | None,
    *,
    nan_policy: str | None = None,
    in_pairs: bool = False,
) -> tuple[Namespace, _Sides]:
    """Check the samples and write all of them the other way.

    Without a policy missing scores stay missing. In pairs, each score is the mirror of the other.
    """
    policy = "abstain" if nan_policy is None else nan_policy
    xp, samples = collect(
        y_true,
        y_score,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        nan_policy=policy,
    )
    given = as_array(xp, y_score)
    size = None if 0 not in given.shape else 0  # for collect, one absent sample stands for none
    score, label = samples.score[..., :size], samples.label[..., :size]
    at = array_like(xp, samples.decision.threshold, score)
    missing = xp.broadcast_to(_is_nan(xp, given), score.shape)
    absent = xp.zeros_like(missing) if samples.weight is None else samples.weight[..., :size] == 0
    # What is absent stays as it is, and is not shown to a given function.
    mirrored = mirror_scores(xp, samples.decision, xp.where(absent, at, score))
    if in_pairs and samples.decision.trusted:
        twice = mirror_scores(xp, samples.decision, mirrored)
        mirrored = mirror_scores(xp, samples.decision, twice)
        score = xp.where(absent, score, twice)
    mirrored = xp.where(absent, score, mirrored)
    bad = missing if nan_policy is None else xp.zeros_like(missing)
    if samples.valid is not None:
        # Bad input stays visible: its scores become NaN, and so does any metric of them.
        bad = bad | ~samples.valid[..., None]
    scores = [
        xp.astype(xp.where(bad, xp.full_like(score, xp.nan), side), samples.dtype, copy=False)
        for side in (score, mirrored)
    ]
    labels = _labels(xp, as_array(xp, y_true, score), label, absent)
    undecided = missing | absent | (score == at)
    return xp, _Sides(labels[0], scores[0], labels[1], scores[1], undecided, absent)


def _is_nan(xp: Namespace, score: Array) -> Array:
    if kind_of(xp, score.dtype) == "real floating":
        return xp.isnan(score)
    return xp.zeros(score.shape, dtype=xp.bool, device=device_of(xp, score))


def _labels(xp: Namespace, given: Array, label: Array, absent: Array) -> tuple[Array, Array]:
    """Return the labels and the opposite ones, written as they were given."""
    if kind_of(xp, given.dtype) == "bool":
        return label > 0, (label > 0) == absent
    signed = xp.any(is_minus_one(xp, label) & ~absent, axis=-1, keepdims=True)
    opposite = xp.where(signed, -label, 1 - label)
    opposite = xp.where(absent, label, opposite)
    return xp.astype(label, given.dtype), xp.astype(opposite, given.dtype)


def _summary(xp: Namespace, values: Array) -> tuple[Array, ...]:
    """Return mean, deviation, least and largest of what is not NaN, and the share of the rest."""
    undefined = xp.isnan(values)
    count = xp.sum(xp.astype(~undefined, values.dtype))
    low = xp.min(xp.where(undefined, xp.full_like(values, xp.inf), values))
    high = xp.max(xp.where(undefined, xp.full_like(values, -xp.inf), values))
    low, high = (xp.where(count > 0, bound, xp.full_like(bound, xp.nan)) for bound in (low, high))
    # From the least one up, so that equal values have no deviation, not even by rounding.
    above = xp.where(undefined, xp.zeros_like(values), values - low)
    mean = divide(xp, xp.sum(above), count)
    deviation = xp.where(undefined, xp.zeros_like(values), above - mean)
    std = xp.sqrt(divide(xp, xp.sum(deviation**2), count))
    return low + mean, std, low, high, 1 - count / values.shape[0]


def _mask(xp: Namespace, which: Any, score: Array) -> Array:
    namespace(y_score=score, which=which)
    mask = as_array(xp, which, score)
    if kind_of(xp, mask.dtype) != "bool":
        raise TypeError(
            f"which must be boolean; found dtype {mask.dtype}. Pass a mask with True for each "
            f"sample to exchange."
        )
    try:
        xp.broadcast_arrays(mask, score)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"which must have the shape of the scores; found {tuple(mask.shape)} for scores of "
            f"shape {tuple(score.shape)}. Pass one True or False for each sample."
        ) from error
    return mask


def _choose(xp: Namespace, sides: _Sides, chosen: Array) -> Exchanged:
    """Write the chosen samples the other way, if there is another way."""
    chosen, undecided, *sides_of = xp.broadcast_arrays(
        chosen, sides.undecided, sides.label, sides.other_label, sides.score, sides.other_score
    )
    chosen = chosen & ~undecided
    label, other_label, score, other_score = sides_of
    return Exchanged(xp.where(chosen, other_label, label), xp.where(chosen, other_score, score))


def _weights(xp: Namespace, sample_weight: Any, score: Array) -> Array | None:
    if sample_weight is None:
        return None
    namespace(y_score=score, sample_weight=sample_weight)
    weight = as_array(xp, sample_weight, score)
    try:
        return xp.broadcast_to(weight, score.shape)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"sample_weight must have the shape of the scores; found {tuple(weight.shape)} for "
            f"scores of shape {tuple(score.shape)}. Pass one weight for each sample."
        ) from error


def _zero_where_absent(xp: Namespace, weight: Array | None, sides: _Sides) -> Array:
    weight = xp.ones_like(sides.score) if weight is None else weight
    return xp.where(sides.absent, xp.zeros_like(weight), weight)


def _at_least_one(n: int) -> int:
    if n < 1:
        raise ValueError(f"n must be at least 1; found {n}. Pass the number of draws.")
    return n
