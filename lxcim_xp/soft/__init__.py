"""Soft metrics: the metrics with a smooth step, so that they have useful derivatives.

The derivative of a rank metric by the scores is zero wherever it exists. Here the step from wrong
to right is the distribution function of a Laplace distribution, whose width is the temperature.
Values and derivatives are exact and take one sort; ``temperature=0`` gives the metric itself. With
``scale="rms"`` or ``"std"`` the scores may be as large or small as the dtype allows; only those
below its normal numbers may count as zero.

>>> from lxcim_xp import lxcim, soft_lxcim
>>> margins = [4.0, -3.0, -1.0, 2.0]
>>> [soft_lxcim(1, margins, temperature=t).round(3) for t in (0.3, 0.03, 0)]
[np.float64(0.608), np.float64(0.625), np.float64(0.625)]

JAX and PyTorch differentiate these functions by closed forms; :func:`lxcim_xp.value_and_grad`
gives the gradient on every library. A batch entry without any sample that counts has no value (NaN)
and a gradient of zero, so that it does not spoil that of parameters which all entries share:

>>> value, gradient = value_and_grad(soft_lxcim)(1, margins, temperature=1.0)
>>> gradient.round(3)
array([0.023, 0.043, 0.041, 0.038])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

from lxcim_xp._arrays.autodiff import value_and_gradient
from lxcim_xp._arrays.namespaces import as_array, kind_of, moves_constants, namespace, widest_float
from lxcim_xp._arrays.primitives import scattered, take
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace
from lxcim_xp._numerics.laplace_sums import kernel_sums
from lxcim_xp._numerics.ordering import order_of
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp._samples.samples import finish_each
from lxcim_xp.metrics import audrc
from lxcim_xp.soft import losses, pair_means, sample_means
from lxcim_xp.soft.plans import (
    Plan,
    SampleOptions,
    Scale,
    Softness,
    Term,
    derived,
    evaluated,
    or_nan,
    placed,
    scaled,
)


def _lxcim_plan(temperature: Any, scale: Any, unbiased: bool) -> Plan:
    function = partial(pair_means.soft_lxcim, unbiased=unbiased)
    return Plan(0.0, (Term(1.0, function, Softness(temperature, scale)),))


def _accuracy_plan(temperature: Any, scale: Any) -> Plan:
    return Plan(0.0, (Term(1.0, sample_means.soft_accuracy, Softness(temperature, scale)),))


def _auroc_plan(temperature: Any, scale: Any) -> Plan:
    term = Term(1.0, sample_means.soft_auroc, Softness(temperature, scale))
    return Plan(0.0, (term,), of_margins=False)


def _audrc_plan(temperature: Any, scale: Any) -> Plan:
    softness = Softness(temperature, scale)
    return Plan(0.0, (Term(1.0, sample_means.soft_audrc, softness, takes_shares=True),))


@moves_constants
def soft_lxcim(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    temperature: ArrayLike = 0.3,
    scale: Scale = "rms",
    unbiased: bool = False,
) -> Array:
    """Return LxCIM with a smooth step: differentiable, and exact in one sort.

    It is the mean over all pairs of samples of F((m_i + m_j) / temperature), with the Laplace
    distribution function F. It grows with every margin.

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
    temperature : float or array, default 0.3
        How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
        One number, or one for each batch entry; it may be traced and differentiated.
    scale : {"rms", "std"}, float or None, default "rms"
        What the temperature is a multiple of: the root mean square of the margins, their standard
        deviation, a number, or None for 1. With "rms" the value does not depend on the scale of the
        scores.
    unbiased : bool, default False
        Whether to leave out the pairs of a sample with itself, so that the mean over mini-batches
        is the value of the whole (for a temperature that does not depend on the batch:
        ``scale=None`` or a number). One sample alone then has no value (NaN).

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    lxcim : The limit at temperature 0, from which it differs by O(temperature ** 2).
    lxcim_xp.lxcim_loss : One minus this, to be minimised.

    Notes
    -----
    With ``scale="rms"`` the value and the direction of its gradient do not depend on the scale of
    the scores, and the gradient is orthogonal to the margins. Large temperatures tend to the cosine
    between labels and scores, as in least squares, small ones to LxCIM.

    Examples
    --------
    >>> from lxcim_xp import lxcim, soft_lxcim
    >>> y_true, y_score = [1, 0, 1, 1], [3.0, -2.0, -1.0, 0.5]
    >>> soft_lxcim(y_true, y_score).round(3), soft_lxcim(y_true, y_score, temperature=0)
    (np.float64(0.82), np.float64(0.8125))
    >>> lxcim(y_true, y_score)
    np.float64(0.8125)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_lxcim_plan(temperature, scale, unbiased), samples)


@moves_constants
def soft_accuracy(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    temperature: ArrayLike = 0.3,
    scale: Scale = "rms",
) -> Array:
    """Return the accuracy with a smooth step: the mean of F(margin / temperature).

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
    temperature : float or array, default 0.3
        How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
        One number, or one for each batch entry; it may be traced and differentiated.
    scale : {"rms", "std"}, float or None, default "rms"
        What the temperature is a multiple of: the root mean square of the margins, their standard
        deviation, a number, or None for 1. With "rms" the value does not depend on the scale of the
        scores.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    accuracy : The limit at temperature 0.

    Examples
    --------
    >>> from lxcim_xp import soft_accuracy
    >>> soft_accuracy(1, [2.0, -1.0], temperature=1, scale=None).round(4)
    np.float64(0.5581)
    >>> soft_accuracy(1, [2.0, -1.0], temperature=0)
    np.float64(0.5)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_accuracy_plan(temperature, scale), samples)


@moves_constants
def soft_auroc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    temperature: ArrayLike = 0.3,
    scale: Scale = "std",
) -> Array:
    """Return the AUROC with a smooth step: the mean of F((s+ - s-) / temperature) over all pairs.

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
    temperature : float or array, default 0.3
        How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
        One number, or one for each batch entry; it may be traced and differentiated.
    scale : {"std", "rms"}, float or None, default "std"
        What the temperature is a multiple of: the standard deviation of the scores, their root mean
        square, a number, or None for 1.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    auroc : The limit at temperature 0.

    Notes
    -----
    Like the AUROC itself, it is not invariant to local exchange of classes. ``threshold`` says
    where ``nan_policy="abstain"`` puts a missing score.

    Examples
    --------
    >>> from lxcim_xp import soft_auroc
    >>> y_true, y_score = [0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0]
    >>> soft_auroc(y_true, y_score).round(3), soft_auroc(y_true, y_score, temperature=0)
    (np.float64(0.69), np.float64(0.75))
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_auroc_plan(temperature, scale), samples)


@moves_constants
def soft_audrc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    temperature: ArrayLike = 0.3,
    scale: Scale = "rms",
) -> Array:
    """Return the AUDRC with soft ranks and soft decisions.

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
    temperature : float or array, default 0.3
        How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
        One number, or one for each batch entry; it may be traced and differentiated.
    scale : {"rms", "std"}, float or None, default "rms"
        What the temperature is a multiple of: the root mean square of the margins, their standard
        deviation, a number, or None for 1. With "rms" the value does not depend on the scale of the
        scores.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    audrc : The limit at temperature 0, for confidences that are all different.

    Notes
    -----
    It is the mean, over the samples, of N / R: R is the soft rank of the sample from the most
    confident down, N the soft right weight up to it. Samples that are tied all have the rank of the
    middle of their block, so that with ties the limit is not quite :func:`audrc`, which takes them
    one after another in every order; ``temperature=0`` gives that one.

    Examples
    --------
    >>> from lxcim_xp import soft_audrc
    >>> soft_audrc([1, 0, 1], [3.0, -2.0, -1.0]).round(3)
    np.float64(0.865)
    >>> soft_audrc([1, 0, 1], [3.0, -2.0, -1.0], temperature=0) * 9
    np.float64(8.0)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    if isinstance(temperature, int | float) and temperature == 0:
        return audrc(**samples._asdict())
    return evaluated(_audrc_plan(temperature, scale), samples)


@moves_constants
def soft_rank(
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    axis: int = -1,
    temperature: ArrayLike = 0.3,
    scale: Scale = "std",
) -> Array:
    """Return smooth ranks: the weight of what scores lower, blurred by a temperature.

    Parameters
    ----------
    y_score : array
        Finite scores. Leading axes are a batch.
    sample_weight : array, optional
        Weights, finite and not negative; ones by default.
    where : array of bool, optional
        Samples that count. The others, and those of weight 0, have rank 0.
    axis : int, default -1
        The axis of the samples, after broadcasting.
    temperature : float or array, default 0.3
        How smooth: 0 gives the ranks themselves, with the mean rank for ties.
    scale : {"std", "rms"}, float or None, default "std"
        What the temperature is a multiple of: the standard deviation of the scores, their root mean
        square, a number, or None for 1.

    Returns
    -------
    array
        ``sum_j w_j F((s_i - s_j) / temperature) + w_i / 2``, in the shape, library, dtype and
        device of the scores: between 1 and n without weights.

    See Also
    --------
    soft_auroc : The metric that is made of these ranks.

    Examples
    --------
    >>> from lxcim_xp import soft_rank
    >>> soft_rank([10.0, 30.0, 20.0, 20.0], temperature=0)
    array([1. , 4. , 2.5, 2.5])
    >>> soft_rank([10.0, 30.0, 20.0, 20.0], temperature=0.5).round(2)
    array([1.06, 3.94, 2.5 , 2.5 ])
    """
    samples = SampleOptions(1, y_score, sample_weight, where, 0.0, None, axis, "raise")
    softness = Softness(temperature, scale)
    xp, at = placed(samples, softness, of_margins=False)
    position, temperature, *_ = scaled(xp, at, softness)
    order = order_of(xp, position)
    position, weight = (take(xp, x, order) for x in (position, at.weight))
    (sums,) = kernel_sums(xp, position, temperature, weight)
    rank = (sums.below + weight / 2) * xp.astype(weight > 0, weight.dtype)
    rank = scattered(xp, rank, order)
    if at.samples.weight_unit is not None:
        rank = rank * at.samples.weight_unit
    return finish_each(xp, at.samples, or_nan(xp, at, rank), axis)


# Which plan each function follows, given its own arguments.
_PLANS: Mapping[Callable[..., Array], Callable[..., Plan]] = {
    **losses.PLANS,
    soft_lxcim: _lxcim_plan,
    soft_accuracy: _accuracy_plan,
    soft_auroc: _auroc_plan,
    soft_audrc: _audrc_plan,
}


def value_and_grad(function: Callable[..., Any]) -> Callable[..., tuple[Array, Array]]:
    """Make a function that returns a soft metric or loss together with its gradient by the scores.

    JAX and PyTorch have such a transform of their own, which is used for their arrays. With this
    one the same call also works on NumPy, CuPy and every other library, by the closed forms.

    Parameters
    ----------
    function : callable
        A soft metric (:func:`soft_lxcim`, :func:`soft_accuracy`, :func:`soft_auroc`,
        :func:`soft_audrc`) or a loss of :mod:`lxcim_xp.losses`.

    Returns
    -------
    callable
        Takes what ``function`` takes, and returns its value and the derivatives of the value by
        ``y_score``, in the shape of ``y_score``. Each value of a batch has its own derivatives.

    See Also
    --------
    lxcim_xp.losses.boosting_objective : Gradients in the form of XGBoost and LightGBM.

    Examples
    --------
    >>> from lxcim_xp import soft_accuracy, value_and_grad
    >>> value, gradient = value_and_grad(soft_accuracy)(1, [0.0, 0.0], temperature=1, scale=None)
    >>> value, gradient
    (np.float64(0.5), array([0.25, 0.25]))
    """
    if function not in _PLANS:
        names = ", ".join(sorted(known.__name__ for known in _PLANS))
        raise TypeError(
            f"function must be one of {names}; found {function!r}. For any other function use "
            f"jax.value_and_grad or torch.autograd."
        )
    plan_of = _PLANS[function]

    @moves_constants
    @wraps(function)
    def with_gradient(*args: Any, **options: Any) -> tuple[Array, Array]:
        bound = inspect.signature(function).bind(*args, **options)
        bound.apply_defaults()
        given = bound.arguments
        if isinstance(given["temperature"], int | float) and given["temperature"] == 0:
            raise ValueError(
                "temperature must be positive for a gradient; found 0, at which it is zero "
                "everywhere. Pass 0.3."
            )
        arrays = {name: given[name] for name in ("y_score", "y_true", "sample_weight", "where")}
        xp = namespace(**arrays)
        score = as_array(xp, given.pop("y_score"))
        if kind_of(xp, score.dtype) != "real floating":
            score = xp.astype(score, widest_float(xp, score))
        found = value_and_gradient(xp, lambda s: function(y_score=s, **given), score)
        if found is not None:
            return found
        shared = [name for name in SampleOptions._fields if name in given]
        samples = SampleOptions(y_score=score, **{name: given.pop(name) for name in shared})
        by_hand = derived(plan_of(**given), samples)
        return by_hand.value, _summed_to(xp, by_hand.gradient, score.shape)

    return with_gradient


def _summed_to(xp: Namespace, gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum derivatives over the axes along which scores were repeated by broadcasting."""
    added = gradient.ndim - len(shape)
    repeated = [k for k, size in enumerate(shape) if size == 1 and gradient.shape[added + k] != 1]
    axes = (*range(added), *(added + k for k in repeated))
    return xp.reshape(xp.sum(gradient, axis=axes), shape) if axes else gradient
