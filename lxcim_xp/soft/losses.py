"""Losses for training on LxCIM, for any library that can differentiate, and for boosting.

All are functions of the signed margins, so that exchanging the two sides of a sample changes
neither the loss nor what a model learns from it.

>>> from lxcim_xp import lxcim_loss, lxcim_surrogate
>>> y_true, y_score = [1, 0, 1, 1], [3.0, -2.0, -1.0, 0.5]
>>> lxcim_loss(y_true, y_score).round(3), lxcim_surrogate(y_true, y_score).round(3)
(np.float64(0.18), np.float64(0.281))

Which one? Cross-entropy is already consistent: with enough data and a model that can represent the
truth, it maximises LxCIM too, and so do all the losses here. They differ where the model or the
labels are wrong. :func:`combined` adds a soft LxCIM to cross-entropy and is the one to start with.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._arrays.typing import Array, ArrayLike
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy
from lxcim_xp.soft import pair_means, sample_means
from lxcim_xp.soft.plans import Plan, SampleOptions, Scale, Softness, Term, derived, evaluated

Kind: TypeAlias = Literal["laplace_softplus", "squared_hinge", "exponential", "squared", "logistic"]

_KINDS: dict[str, Callable[..., Any]] = {
    "laplace_softplus": pair_means.laplace_softplus,
    "squared_hinge": pair_means.squared_hinge,
    "exponential": pair_means.exponential,
    "squared": pair_means.squared,
    "logistic": pair_means.logistic,
}
_WITH_MARGIN = ("squared_hinge", "squared")


def _loss_plan(temperature: Any, scale: Any, unbiased: bool) -> Plan:
    soft = partial(pair_means.soft_lxcim, unbiased=unbiased)
    return Plan(1.0, (Term(-1.0, soft, Softness(temperature, scale)),))


def _surrogate_plan(kind: str, temperature: Any, margin: float | None) -> Plan:
    if kind == "hinge":
        raise ValueError(
            "kind 'hinge' is not offered: its kink lets ranges of confidence collapse to one, so "
            "that its minimum need not be a maximum of LxCIM. Pass 'squared_hinge' or "
            "'laplace_softplus'."
        )
    if kind not in _KINDS:
        raise ValueError(f"kind must be one of {tuple(_KINDS)}; found {kind!r}.")
    if isinstance(temperature, int | float) and temperature == 0:
        raise ValueError("temperature must be positive for a surrogate; found 0. Pass 1.0.")
    function = _KINDS[kind]
    if kind in _WITH_MARGIN:
        function = partial(function, target=1.0 if margin is None else float(margin))
    elif margin is not None:
        raise ValueError(
            f"margin={margin!r} has no meaning for kind {kind!r}, only for {_WITH_MARGIN}. Leave "
            f"it out, or change the temperature."
        )
    return Plan(0.0, (Term(1.0, function, Softness(temperature)),))


def _combined_plan(soft_weight: Any, temperature: Any, scale: Any, unbiased: bool) -> Plan:
    if isinstance(soft_weight, int | float) and not 0 <= soft_weight < float("inf"):
        raise ValueError(
            f"soft_weight must be finite and not negative; found {soft_weight!r}. Pass 2.0."
        )
    entropy = Term(1.0, sample_means.cross_entropy, Softness(1.0))
    soft = partial(pair_means.soft_lxcim, unbiased=unbiased)
    return Plan(soft_weight, (entropy, Term(-soft_weight, soft, Softness(temperature, scale))))


@moves_constants
def lxcim_loss(
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
    """Return one minus the soft LxCIM.

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
        Whether to leave out the pairs of a sample with itself, see :func:`lxcim_xp.soft_lxcim`.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    lxcim_xp.soft_lxcim : The metric.
    lxcim_xp.losses.combined : With cross-entropy beside it.

    Notes
    -----
    Consistent at every temperature with ``scale="rms"``. Bounded, hence robust: what an outlier can
    do to it is limited. Not convex: start from a model trained with cross-entropy, or add it as a
    term. It costs a sort and a scan, O(n log n).

    Examples
    --------
    >>> from lxcim_xp import lxcim_loss, soft_lxcim
    >>> lxcim_loss(1, [2.0, -1.0]) + soft_lxcim(1, [2.0, -1.0])
    np.float64(1.0)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_loss_plan(temperature, scale, unbiased), samples)


@moves_constants
def lxcim_surrogate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    kind: Kind = "laplace_softplus",
    temperature: ArrayLike = 1.0,
    margin: float | None = None,
) -> Array:
    """Return a convex surrogate: the mean of phi((m_i + m_j) / temperature) over pairs of samples.

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
    kind : str, default "laplace_softplus"
        The function phi of the sum of two margins, see the notes.
    temperature : float or array, default 1.0
        The unit of the margins, in that of the scores; positive. One number, or one for each batch
        entry.
    margin : float, optional
        For "squared_hinge" and "squared": the sum of margins that costs nothing, 1 by default.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    lxcim_loss : The bounded loss.

    Notes
    -----
    ===================  ==================================  ==========  ==========================
    kind                 phi(t)                              cost        outliers
    ===================  ==================================  ==========  ==========================
    "laplace_softplus"   max(-t, 0) + exp(-abs(t)) / 2       O(n log n)  linear, as cross-entropy
    "logistic"           log(1 + exp(-t))                    O(n ** 2)   linear
    "squared_hinge"      max(margin - t, 0) ** 2             O(n log n)  quadratic
    "squared"            (margin - t) ** 2                   O(n)        quadratic, also when right
    "exponential"        exp(-t), of whose mean the log is   O(n)        exponential
    ===================  ==================================  ==========  ==========================

    All of these are consistent: their minimum over all scores has the largest LxCIM. The hinge
    max(margin - t, 0) is not, since its kink lets ranges of confidence collapse to one, and is not
    offered. "laplace_softplus" stays within 0.2 of "logistic" and replaces it. The mean of
    "exponential" is the square of AdaBoost's loss; its logarithm is returned, which has the same
    minimum and cannot overflow.

    A convex loss depends on the scale of the scores: the temperature is in their units.

    Examples
    --------
    The margins are 1 and -1. Their four pairwise sums 2, 0, 0 and -2 have squared distances 1, 1, 1
    and 9 from 1.

    >>> from lxcim_xp import lxcim_surrogate
    >>> lxcim_surrogate(1, [1.0, -1.0], kind="squared")
    np.float64(3.0)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_surrogate_plan(kind, temperature, margin), samples)


@moves_constants
def combined(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
    soft_weight: float = 2.0,
    temperature: ArrayLike = 0.3,
    scale: Scale = "rms",
    unbiased: bool = False,
) -> Array:
    """Return cross-entropy plus a multiple of the soft LxCIM loss.

    The scores are logits: cross-entropy is the mean of log(1 + exp(-margin)).

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
    soft_weight : float, default 2.0
        How much the soft LxCIM loss counts; 0 leaves cross-entropy alone.
    temperature : float or array, default 0.3
        How smooth: 0 gives the metric itself, larger values blur ranks that are closer than that.
        One number, or one for each batch entry; it may be traced and differentiated.
    scale : {"rms", "std"}, float or None, default "rms"
        What the temperature is a multiple of: the root mean square of the margins, their standard
        deviation, a number, or None for 1. With "rms" the value does not depend on the scale of the
        scores.
    unbiased : bool, default False
        Whether to leave out the pairs of a sample with itself, see :func:`lxcim_xp.soft_lxcim`.

    Returns
    -------
    array
        One value for each batch entry, in the library, dtype and device of ``y_score``; NaN where
        it is undefined or the input is bad.

    See Also
    --------
    lxcim_xp.lxcim_loss : The second term alone.

    Notes
    -----
    Consistent, since both terms are. Cross-entropy keeps the scale of the scores and the training
    stable; the soft term moves the order of the confidences where the model cannot be right
    everywhere. It costs a sort and a scan, O(n log n); outliers act through cross-entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import lxcim_loss
    >>> from lxcim_xp.losses import combined
    >>> margins = np.asarray([2.0, -1.0])
    >>> entropy = np.log1p(np.exp(-margins)).mean()
    >>> combined(1, margins) - entropy - 2 * lxcim_loss(1, margins)
    np.float64(0.0)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_combined_plan(soft_weight, temperature, scale, unbiased), samples)


# Which plan each loss follows, given its own arguments; soft metrics have theirs in __init__.
PLANS: Mapping[Callable[..., Array], Callable[..., Plan]] = {
    combined: _combined_plan,
    lxcim_loss: _loss_plan,
    lxcim_surrogate: _surrogate_plan,
}


def boosting_objective(
    loss: Callable[..., Array] = lxcim_surrogate, **options: Any
) -> Callable[..., tuple[Array, Array]]:
    """Make a custom objective for gradient boosting out of a loss of this module.

    The result is what the scikit-learn interfaces of XGBoost and LightGBM take as ``objective=``:
    a function of labels, scores and weights that returns the gradient and the diagonal of the
    Hessian by the scores, both from closed forms.

    Parameters
    ----------
    loss : callable, default lxcim_surrogate
        :func:`lxcim_xp.lxcim_surrogate`, :func:`lxcim_xp.lxcim_loss` or :func:`combined`.
    **options
        Options of the loss, such as ``kind=`` or ``temperature=``.

    Returns
    -------
    callable
        ``objective(y_true, y_pred, sample_weight=None)``. Gradient and Hessian are those of the sum
        over the samples, not of the mean, as the regularisation of these libraries expects.

    See Also
    --------
    lxcim_xp.value_and_grad : Value and gradient of any of these functions.

    Notes
    -----
    Boosting needs a positive curvature. That of the convex surrogates is exact; soft LxCIM is not
    convex, and the bound of its kernel is used, with the temperature held fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp.losses import boosting_objective
    >>> gradient, curvature = boosting_objective()(np.asarray([1, 0]), np.asarray([0.0, 0.0]))
    >>> gradient, curvature
    (array([-1.,  1.]), array([1.5, 1.5]))
    """
    if loss not in PLANS:
        raise TypeError(
            f"loss must be lxcim_surrogate, lxcim_loss or combined; found {loss!r}. A soft metric "
            f"grows with the quality of a model: pass lxcim_loss for soft_lxcim."
        )
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(loss).parameters.items()
        if name not in SampleOptions._fields
    }
    unknown = sorted(set(options) - set(defaults))
    if unknown:
        raise TypeError(
            f"{loss.__name__} has no option {unknown[0]!r} for boosting; it has {tuple(defaults)}."
        )
    plan = PLANS[loss](**(defaults | options))

    def objective(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        samples = SampleOptions(y_true, y_pred, sample_weight, None, 0.0, None, -1, "raise")
        found = derived(plan, samples, curved=True)
        weight = np.ones(len(y_pred)) if sample_weight is None else np.asarray(sample_weight)
        total = weight.sum()
        return total * found.gradient, total * found.curvature

    return objective
