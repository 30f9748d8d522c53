"""From samples to soft metrics and losses, and from these back to the scores.

A soft quantity is a sum of terms. A term is a smooth function of margins (or scores), weights and a
temperature, which comes with its closed-form derivatives (``pair_means``, ``sample_means``). JAX
and PyTorch differentiate what is around a term by themselves; for libraries that cannot,
:func:`derived` does it by hand.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.autodiff import Derived, constant, with_gradient
from lxcim_xp._arrays.namespaces import (
    as_array,
    namespace,
    values_are_at_hand,
)
from lxcim_xp._arrays.primitives import (
    first_position,
    move_axis,
    power_of_two,
    quietly,
    signed_by,
)
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._samples.checks import refuse_confidence
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.samples import (
    Samples,
    collect,
    collect_scores,
    finish,
    finish_each,
    positive_share,
    signed_confidence,
    signed_margins,
    weights,
)
from lxcim_xp.soft.pair_means import Variables, over_labels

_SCALES = ("rms", "std")
# In float32 and in float64, in units of the largest position: the lowest temperature whose inverse
# has a square, and how far away samples may be that do not count.
_COLDEST = (1e-18, 1e-150)
_FAR = (2.0**30, 2.0**60)


class Softness(NamedTuple):
    """How smooth a step is: a temperature, and what it is a multiple of."""

    temperature: Any
    scale: Any = None


Scale: TypeAlias = Literal["rms", "std"] | float | None  # what a temperature is a multiple of


class Term(NamedTuple):
    """A smooth function, the factor it counts with, and how smooth it is."""

    factor: Any
    function: Callable[[Namespace, Variables], Derived]
    softness: Softness
    takes_shares: bool = False  # whether it takes signed confidences and shares of votes itself


class Plan(NamedTuple):
    """What to compute: a constant plus terms, of the margins or of the scores and labels."""

    offset: Any
    terms: tuple[Term, ...]
    of_margins: bool = True


class SampleOptions(NamedTuple):
    """The arguments that all metrics share."""

    y_true: Any
    y_score: Any
    sample_weight: Any
    where: Any
    threshold: Any
    decision: Decision | None
    axis: int
    nan_policy: str


class Scaled(NamedTuple):
    """Positions and temperature as multiples of a unit; None is the unit of the scores."""

    position: Array
    temperature: Array  # (..., 1)
    unit: Array | None = None  # (..., 1), a power of two
    by_position: Callable[[], Array] | None = None  # the derivative of the temperature, if any


class Placed(NamedTuple):
    """Clean samples at their positions: margins, or scores with the labels beside them.

    Margins of shares of votes are signed confidences with the shares beside them.
    """

    samples: Samples
    position: Array  # (..., n), finite, in the widest float
    weight: Array
    fixed: tuple[Array, ...]  # the labels, if there are any
    of_shares: bool = False


def evaluated(plan: Plan, options: SampleOptions) -> Array:
    """Return the value of a plan for each batch entry."""
    xp, at = _placed(plan, options)
    value = _per_entry(xp, plan.offset, at)[..., 0]
    for term in plan.terms:
        position, temperature, *_ = scaled(xp, at, term.softness)
        function = _of_arrays(term, at)
        found = with_gradient(xp, function, position, at.weight, temperature, *at.fixed)
        value = value + _per_entry(xp, term.factor, at)[..., 0] * found
    return finish(xp, at.samples, or_nan(xp, at, value))


def _placed(plan: Plan, options: SampleOptions) -> tuple[Namespace, Placed]:
    softness = (term.softness for term in plan.terms)
    return placed(options, *softness, of_margins=plan.of_margins)


def _of_arrays(term: Term, at: Placed) -> Callable[..., Derived]:
    """Return the function of a term as one of arrays, as those who differentiate it want it."""
    function = term.function
    if at.of_shares and not term.takes_shares:
        function = over_labels(function)
    return partial(_flat_where_undefined, function, uniform=at.samples.weight is None)


def _flat_where_undefined(
    function: Callable[[Namespace, Variables], Derived],
    xp: Namespace,
    *arrays: Any,
    uniform: bool,
) -> Derived:
    """Make the derivatives zero where there is no value: in a batch entry without samples, say.

    Such an entry then adds nothing to the gradient of parameters that all entries share. A NaN
    would spoil that gradient even if the values were masked afterwards.
    """
    found = function(xp, Variables(*arrays)._replace(uniform=uniform))
    undefined = xp.isnan(found.value)[..., None]

    def flat(slope: Array | None) -> Any:  # None of None
        return None if slope is None else xp.where(undefined, 0.0, slope)

    def gradient() -> tuple[Array | None, ...]:
        return tuple(flat(slope) for slope in found.gradient())

    bend = found.curvature
    return Derived(found.value, gradient, None if bend is None else lambda: flat(bend()))


class ByHand(NamedTuple):
    """A value and its derivatives by the scores, in the shape of the samples after broadcasting."""

    value: Array
    gradient: Array
    curvature: Array | None  # for temperatures that do not depend on the scores


def derived(plan: Plan, options: SampleOptions, *, curved: bool = False) -> ByHand:
    """Return the value of a plan and its derivatives by the scores, without autodiff."""
    xp, at = _placed(plan, options)
    value = _per_entry(xp, plan.offset, at)[..., 0]
    gradient, curvature = xp.zeros_like(at.position), xp.zeros_like(at.position)
    for term in plan.terms:
        position, temperature, unit, by_position = scaled(xp, at, term.softness)
        found = _of_arrays(term, at)(xp, position, at.weight, temperature, *at.fixed)
        by_term = found.gradient()
        factor = _per_entry(xp, term.factor, at)
        value = value + factor[..., 0] * found.value
        slope = by_term[0] if by_position is None else by_term[0] + by_term[2] * by_position()
        with quietly(xp):  # near the smallest floats, where the largest are too small for a slope
            gradient = gradient + factor * (slope if unit is None else slope / unit)
        if curved:
            assert found.curvature is not None
            bend = found.curvature()
            # A bound that stays positive whatever the sign of the factor.
            with quietly(xp):
                bend = bend if unit is None else bend / unit / unit
                curvature = curvature + xp.abs(factor) * bend
    gradient, slope = _by_score(xp, plan, at, gradient)

    def each(part: Array) -> Array:
        with quietly(xp):
            return finish_each(xp, at.samples, or_nan(xp, at, part), options.axis)

    return ByHand(
        finish(xp, at.samples, or_nan(xp, at, value)),
        each(gradient),
        each(slope**2 * curvature) if curved else None,
    )


def _check_scale(scale: Any) -> None:
    """Refuse what is not a scale."""
    if scale is None or scale in _SCALES:
        return
    if isinstance(scale, str) or not isinstance(scale, int | float) or not 0 < scale < math.inf:
        raise ValueError(
            f"scale must be 'rms', 'std', None or a positive number; found {scale!r}. None takes "
            f"the temperature in units of the scores."
        )


def _check_temperature(temperature: Any) -> None:
    """Refuse a number that is not a temperature; arrays are checked together with the samples."""
    if isinstance(temperature, int | float) and not 0 <= temperature < math.inf:
        raise ValueError(
            f"temperature must be finite and not negative; found {temperature!r}. Pass 0 for the "
            f"metric itself, 0.3 for a smooth one."
        )


def placed(
    options: SampleOptions, *softness: Softness, of_margins: bool = True
) -> tuple[Namespace, Placed]:
    """Check and clean the samples, and check how smooth they shall be."""
    for temperature, scale in softness:
        _check_temperature(temperature)
        _check_scale(scale)
    xp, samples = (collect if of_margins else collect_scores)(
        **options._asdict(), weights_near_one=True
    )
    weight = weights(xp, samples)
    wide = weight.dtype
    of_shares = of_margins and samples.share is not None
    fixed: tuple[Array, ...] = (positive_share(xp, samples),)
    if not of_margins:
        position = samples.score
    else:
        refuse_confidence(samples.decision, "Soft metrics need scores with a threshold.")
        if of_shares:
            position = signed_confidence(xp, samples)
        else:
            position, fixed = signed_margins(xp, samples).value, ()
    position = xp.astype(position, wide)
    finite = xp.isfinite(position)
    bad = ~finite if samples.weight is None else ~finite & (weight > 0)
    if values_are_at_hand(xp):
        _refuse_infinite(xp, samples.score, bad, options.axis)
    else:
        samples = samples._replace(valid=samples.valid & ~xp.any(bad, axis=-1))
    position = xp.where(finite, position, xp.zeros_like(position))
    at = Placed(samples, position, weight, fixed, of_shares)
    for temperature, _ in softness:
        if not isinstance(temperature, int | float):
            namespace(y_score=options.y_score, temperature=temperature)
            at = _with_given_temperature(xp, at, temperature)
    return xp, at


def _with_given_temperature(xp: Namespace, at: Placed, temperature: Any) -> Placed:
    """Check an array of temperatures: an error where it can be seen, a NaN result elsewhere."""
    given = _per_entry(xp, temperature, at)[..., 0]
    fine = (given >= 0) & xp.isfinite(given)
    if values_are_at_hand(xp):
        for one in xp.reshape(given, (-1,)):
            _check_temperature(float(one))
        return at
    return at._replace(samples=at.samples._replace(valid=at.samples.valid & fine))


def _refuse_infinite(xp: Namespace, score: Array, bad: Array, axis: int) -> None:
    if not bad.any():
        return
    place = first_position(move_axis(xp, bad, -1, axis))
    found = move_axis(xp, score, -1, axis)[place]
    raise ValueError(
        f"y_score must be finite, with a finite confidence, for a soft metric; found {found:g} at "
        f"position {place}. Clip such scores, or use the metric that is not soft."
    )


def scaled(xp: Namespace, at: Placed, softness: Softness) -> Scaled:
    """Return positions and temperature in one unit, near the size of the positions.

    What they give is a function of their quotient. A power of two for a unit changes no digit, and
    lets neither squares nor quotients overflow or vanish, however large or small the scores are.
    """
    temperature, scale = _per_entry(xp, softness.temperature, at), softness.scale
    x, weight = at.position, at.weight
    if not isinstance(scale, str):
        return Scaled(x, temperature if scale is None else temperature * scale)
    smallest = xp.finfo(x.dtype).smallest_normal
    largest = xp.max(xp.where(weight > 0, xp.abs(x), 0.0), axis=-1, keepdims=True)
    # Below normal numbers there are few digits or, on some devices, none: as if all were zero.
    unit = power_of_two(xp, constant(xp, xp.where(largest < smallest, 1.0, largest)))
    unit = xp.where(unit > 1 / smallest, 1 / smallest, unit)  # so that its inverse is normal too
    with quietly(xp):
        x = x / unit
    if at.samples.weight is not None:
        # What does not count may be far away, but must not be infinite.
        far = xp.full_like(x, _FAR[x.dtype == xp.float64])
        x = xp.where((weight > 0) | (xp.abs(x) <= far), x, xp.where(x > 0, far, -far))
    total = xp.sum(weight, axis=-1, keepdims=True)
    share = weight / xp.where(total > 0, total, 1.0)
    off, square = x, x**2
    if scale == "std":
        lean = 2 * at.fixed[0] - 1 if at.of_shares else xp.ones_like(x)  # of m, which is x or -x
        mean = xp.sum(share * lean * x, axis=-1, keepdims=True)
        off = x - lean * mean
        square = off**2 + (1 - lean**2) * mean**2
    mean_square = xp.sum(share * square, axis=-1, keepdims=True)
    some = mean_square > 0  # otherwise all positions are equal, whatever the temperature
    root = xp.sqrt(xp.where(some, mean_square, 1.0))

    def by_position() -> Array:
        slope = temperature * share * off / root
        return xp.where(some, slope, xp.zeros_like(slope))

    # A temperature whose square vanishes is the limit: zero.
    cold = temperature * root < _COLDEST[x.dtype == xp.float64]
    return Scaled(x, xp.where(cold, 0.0, temperature * root), unit, by_position)


def _per_entry(xp: Namespace, value: Any, at: Placed) -> Array:
    """Return a number, or one for each batch entry, as an array with a last axis of length one."""
    x = at.position[..., :1]
    if isinstance(value, int | float):
        return xp.full_like(x, float(value))
    value = xp.astype(as_array(xp, value, x), x.dtype)
    return xp.broadcast_to(value[..., None], x.shape)


def or_nan(xp: Namespace, at: Placed, result: Array) -> Array:
    """Make bad batch entries NaN by a product, so that their derivatives are NaN too."""
    valid = at.samples.valid
    if valid is None:
        return result
    valid = xp.reshape(valid, valid.shape + (1,) * (result.ndim - valid.ndim))
    return result * xp.where(valid, xp.ones_like(result), xp.full_like(result, xp.nan))


def _by_score(xp: Namespace, plan: Plan, at: Placed, gradient: Array) -> tuple[Array, Array]:
    """Turn derivatives by the positions into those by the scores; return the slope in between."""
    samples = at.samples
    if not plan.of_margins:
        return gradient, xp.ones_like(gradient)
    decision = samples.decision
    if decision.slope is None:
        raise TypeError(
            "the slope of this decision function is not known. Pass JAX or PyTorch arrays, which "
            "find it by themselves, or train on g(scores) with threshold=0."
        )
    slope = decision.slope(xp, samples.score, decision.threshold, *decision.parameters)
    slope = xp.astype(slope, gradient.dtype)
    if at.of_shares:
        return gradient * slope, slope
    return signed_by(xp, samples.label, gradient) * slope, slope
