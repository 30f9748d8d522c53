"""Losses for training on LxCIM, for any library that can differentiate, and for boosting.

All are functions of the signed margins, so that exchanging the two sides of a sample changes
neither the loss nor what a model learns from it.

>>> from lxcim_xp import lxcim_loss, lxcim_surrogate
>>> y_true, y_score = [1, 0, 1, 1], [3.0, -2.0, -1.0, 0.5]
>>> lxcim_loss(y_true, y_score).round(3), lxcim_surrogate(y_true, y_score).round(3)
(np.float64(0.18), np.float64(0.281))

Which one? Cross-entropy is already consistent: with enough data and a model that can represent the
truth, it maximises LxCIM too, and so do all the losses here. They differ where the model is wrong
or the labels are. :func:`combined` adds a soft LxCIM to cross-entropy and is the one to start with.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lxcim_xp import _pairs, _smooth
from lxcim_xp._array import Array
from lxcim_xp._docs import documented
from lxcim_xp._soft import Plan, SampleOptions, Term, derived, evaluated, plan_for, planned
from lxcim_xp.decision import Decision

_KINDS: dict[str, Callable[..., Any]] = {
    "laplace_softplus": _pairs.laplace_softplus,
    "squared_hinge": _pairs.squared_hinge,
    "exponential": _pairs.exponential,
    "squared": _pairs.squared,
    "logistic": _pairs.logistic,
}
_WITH_MARGIN = ("squared_hinge", "squared")


def _loss_plan(temperature: Any, scale: Any, unbiased: bool) -> Plan:
    soft = partial(_pairs.soft_lxcim, unbiased=unbiased)
    return Plan(1.0, (Term(-1.0, soft, temperature, scale),))


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
    return Plan(0.0, (Term(1.0, function, temperature, None),))


def _combined_plan(soft_weight: Any, temperature: Any, scale: Any, unbiased: bool) -> Plan:
    if isinstance(soft_weight, int | float) and not 0 <= soft_weight < float("inf"):
        raise ValueError(
            f"soft_weight must be finite and not negative; found {soft_weight!r}. Pass 2.0."
        )
    entropy = Term(1.0, _smooth.cross_entropy, 1.0, None)
    soft = partial(_pairs.soft_lxcim, unbiased=unbiased)
    return Plan(soft_weight, (entropy, Term(-soft_weight, soft, temperature, scale)))


@planned(_loss_plan)
@documented
def lxcim_loss(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
    temperature: Any = 0.3,
    scale: str | float | None = "rms",
    unbiased: bool = False,
) -> Array:
    """Return one minus the soft LxCIM.

    Parameters
    ----------
    <SAMPLES>
    <TEMPERATURE>
    <SCALE>
    unbiased : bool, default False
        Leave out the pairs of a sample with itself, see :func:`lxcim_xp.soft_lxcim`.

    Returns
    -------
    <RESULT>

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


@planned(_surrogate_plan)
@documented
def lxcim_surrogate(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
    kind: str = "laplace_softplus",
    temperature: Any = 1.0,
    margin: float | None = None,
) -> Array:
    """Return a convex surrogate: the mean of phi((m_i + m_j) / temperature) over pairs of samples.

    Parameters
    ----------
    <SAMPLES>
    kind : str, default "laplace_softplus"
        The function phi of the sum of two margins, see the notes.
    temperature : float or array, default 1.0
        The unit of the margins, in that of the scores; positive. One number, or one for each batch
        entry.
    margin : float, optional
        For "squared_hinge" and "squared": the sum of margins that costs nothing, 1 by default.

    Returns
    -------
    <RESULT>

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
    Margins 1 and -1: of the four pair sums 2, 0, 0 and -2 the squared distances from 1 are 1, 1, 1
    and 9.

    >>> from lxcim_xp import lxcim_surrogate
    >>> lxcim_surrogate(1, [1.0, -1.0], kind="squared")
    np.float64(3.0)
    """
    samples = SampleOptions(
        y_true, y_score, sample_weight, where, threshold, decision, axis, nan_policy
    )
    return evaluated(_surrogate_plan(kind, temperature, margin), samples)


@planned(_combined_plan)
@documented
def combined(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = 0.0,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
    soft_weight: float = 2.0,
    temperature: Any = 0.3,
    scale: str | float | None = "rms",
    unbiased: bool = False,
) -> Array:
    """Return cross-entropy plus a multiple of the soft LxCIM loss.

    The scores are logits: cross-entropy is the mean of log(1 + exp(-margin)).

    Parameters
    ----------
    <SAMPLES>
    soft_weight : float, default 2.0
        How much the soft LxCIM loss counts; 0 leaves cross-entropy alone.
    <TEMPERATURE>
    <SCALE>
    unbiased : bool, default False
        Leave out the pairs of a sample with itself, see :func:`lxcim_xp.soft_lxcim`.

    Returns
    -------
    <RESULT>

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
        over the samples, as the libraries expect of their regularisation, not of the mean.

    See Also
    --------
    lxcim_xp.value_and_grad : Value and gradient of any of these functions.

    Notes
    -----
    Boosting needs a positive curvature. That of the convex surrogates is exact; soft LxCIM is not
    convex, and gets the bound that its kernel has, with the temperature held fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp.losses import boosting_objective
    >>> gradient, curvature = boosting_objective()(np.asarray([1, 0]), np.asarray([0.0, 0.0]))
    >>> gradient, curvature
    (array([-1.,  1.]), array([1.5, 1.5]))
    """
    if loss not in (lxcim_surrogate, lxcim_loss, combined):
        raise TypeError(
            f"loss must be lxcim_surrogate, lxcim_loss or combined; found {loss!r}. A soft metric "
            f"grows with the quality of a model: pass lxcim_loss for soft_lxcim."
        )
    plan_of = plan_for(loss)
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
    plan = plan_of(**(defaults | options))

    def objective(y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        samples = SampleOptions(y_true, y_pred, sample_weight, None, 0.0, None, -1, "raise")
        found = derived(plan, samples, curved=True)
        weight = np.ones(len(y_pred)) if sample_weight is None else np.asarray(sample_weight)
        total = weight.sum()
        return total * found.gradient, total * found.curvature

    return objective
