"""From what the caller passed to clean samples, and from samples to signed margins.

This is the front of every metric: shapes, broadcasting, masks, missing scores, and what bad values
get. Behind it the sample axis is the last one, no score is NaN, and a sample that does not count
has weight zero. Nothing is ranked here.
"""

from typing import Any, NamedTuple

from lxcim_xp._array import (
    Array,
    DType,
    Namespace,
    array_like,
    as_array,
    default_float,
    device_of,
    first_position,
    kind_of,
    namespace,
    scalar_if_numpy,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp.decision import Decision, absolute

_NAN_POLICIES = ("raise", "omit", "abstain")


class Samples(NamedTuple):
    """The samples of one call, sample axis last.

    ``weight`` is relative to the largest weight of its batch entry, ``largest_weight`` (None when
    no weights were given), so that products of weights neither overflow nor vanish.
    """

    score: Array  # (..., n), never NaN
    label: Array  # (..., n), the caller's labels in a float dtype
    weight: Array | None  # (..., n), in the widest float; None: every sample counts once
    largest_weight: Array | None  # (..., 1)
    valid: Array | None  # (...), False where a batch entry holds bad values; None: all are good
    dtype: DType  # of the result
    decision: Decision


class Margins(NamedTuple):
    """Signed margins: the confidence of each sample, positive when its decision is right.

    Everything that is invariant to local exchange of classes is a function of these two arrays.
    """

    value: Array  # (..., n)
    weight: Array | None  # (..., n); None: every sample counts once


def collect(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    where: Any,
    threshold: Any,
    decision: Decision | None,
    axis: int,
    nan_policy: str,
    *,
    third_class: bool = False,
) -> tuple[Namespace, Samples]:
    """Check and clean the arguments that all metrics share; labels may be -1, 0, +1 on request."""
    if nan_policy not in _NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {_NAN_POLICIES}; found {nan_policy!r}.")
    decision = _one_decision(threshold, decision)
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    if not isinstance(decision.threshold, int | float):
        given["threshold"] = decision.threshold
    xp = namespace(**given)
    arrays, dtype = _broadcast(xp, given)
    score, label, weight = arrays["y_score"], arrays["y_true"], arrays.get("sample_weight")
    where, threshold = arrays.get("where"), arrays.get("threshold", decision.threshold)
    axis = _axis_from_the_end(axis, score.ndim)

    missing = xp.isnan(score)
    may_miss = not values_are_at_hand(xp) or bool(missing.any())
    if may_miss:
        if nan_policy == "omit":
            where = ~missing if where is None else where & ~missing
        score = xp.where(missing, array_like(xp, threshold, score), score)
    if where is not None:
        weight = _ones(xp, score) if weight is None else weight
        weight = xp.where(where, weight, xp.zeros_like(weight))

    # A sample of weight zero is absent: whatever else it holds, it is not bad input.
    counts = None if weight is None else weight != 0
    problems = []
    if sample_weight is not None:
        problems.append(_weight_problem(xp, weight))
    if not (values_are_at_hand(xp) and _are_plain_labels(label)):
        problems.append(_label_problem(xp, label, counts, axis, third_class))
    if may_miss and nan_policy == "raise":
        problems.append(_missing_problem(xp, missing))
    if "threshold" in arrays:
        problems.append(_threshold_problem(xp, threshold))
    if decision.domain is not None:
        problems.append(_domain_problem(score, decision.domain))
    valid = _verdict(xp, problems, counts, axis)
    if sample_weight is not None and valid is not None:
        # The result will be NaN; until then, no weight may upset the arithmetic.
        weight = xp.where(problems[0].bad, xp.zeros_like(weight), weight)

    score, label = _sample_axis_last(xp, score, axis), _sample_axis_last(xp, label, axis)
    if weight is not None:
        weight = _sample_axis_last(xp, weight, axis)
    elif arrays["y_score"].shape[axis] == 0:
        weight = xp.zeros_like(_ones(xp, score))
    if "threshold" in arrays:
        threshold = _sample_axis_last(xp, threshold, axis)
    largest = None
    if sample_weight is not None:
        largest = xp.max(weight, axis=-1, keepdims=True)
        weight = weight / xp.where(largest > 0, largest, xp.ones_like(largest))
    decision = decision._replace(threshold=threshold)
    return xp, Samples(score, label, weight, largest, valid, dtype, decision)


def signed_margins(xp: Namespace, samples: Samples) -> Margins:
    """Return m = (2y - 1) * sign(s - s*) * g(s): positive where the decision is right."""
    signed = samples.decision.signed(xp, samples.score, samples.decision.threshold)
    # A product is much cheaper than a selection by labels, which no processor can foresee.
    side = xp.astype(samples.label > 0, signed.dtype)
    side *= 2
    side -= 1
    side *= signed
    return Margins(side, samples.weight)


def weights(xp: Namespace, samples: Samples) -> Array:
    """Return the weights, ones where every sample counts once."""
    return _ones(xp, samples.score) if samples.weight is None else samples.weight


def credit(xp: Namespace, margins: Margins) -> Array:
    """Return H(m): 1 for a right decision, 1/2 for none, 0 for a wrong one, in the widest float."""
    dtype = widest_float(xp, margins.value)
    result = xp.astype(margins.value > 0, dtype)
    result += xp.astype(margins.value >= 0, dtype)
    result *= 0.5
    return result


def finish(xp: Namespace, samples: Samples, result: Array) -> Array:
    """Return a result of the batch's shape in the dtype of the scores, NaN for bad input."""
    if samples.valid is not None:
        valid = xp.reshape(
            samples.valid, samples.valid.shape + (1,) * (result.ndim - samples.valid.ndim)
        )
        result = xp.where(valid, result, xp.full_like(result, xp.nan))
    return scalar_if_numpy(xp, xp.astype(result, samples.dtype, copy=False))


def _one_decision(threshold: Any, decision: Decision | None) -> Decision:
    if decision is None:
        return absolute(threshold)
    if not (isinstance(threshold, int | float) and threshold == 0):
        raise ValueError(
            f"threshold={threshold!r} and decision= were both given. A decision function has its "
            f"own threshold: pass only one of them."
        )
    return decision


def _broadcast(xp: Namespace, given: dict[str, Any]) -> tuple[dict[str, Array], DType]:
    """Return what was given as arrays of one shape, and the dtype of the result.

    Scores keep their float dtype and thresholds meet it; labels and weights get the widest.
    """
    score = _real_array(xp, "y_score", given["y_score"])
    if score.ndim == 0:
        raise ValueError(
            "y_score must have at least one axis; found a single number. Pass [y_score]."
        )
    wide = widest_float(xp, score)
    if kind_of(xp, score.dtype) == "real floating":
        dtype = score.dtype
    else:
        dtype, score = default_float(xp, score), xp.astype(score, wide)
    arrays = {"y_score": score}
    for name, value in given.items():
        if name == "y_score" or value is None:
            continue
        array = _real_array(xp, name, value, score)
        if name == "where":
            if kind_of(xp, array.dtype) != "bool":
                raise TypeError(
                    f"where must be boolean; found dtype {array.dtype}. Pass where != 0."
                )
        elif name == "y_true":
            if kind_of(xp, array.dtype) == "bool":
                # False is the negative side, whether or not 0 would be a third class.
                array = 2 * xp.astype(array, xp.int8) - 1
            if not values_are_at_hand(xp):
                array = xp.astype(array, wide)  # unsigned integers do not compare with -1 anywhere
        else:
            array = xp.astype(array, score.dtype if name == "threshold" else wide, copy=False)
        arrays[name] = array
    if all(array.shape == score.shape for array in arrays.values()):
        return arrays, dtype
    try:
        return dict(zip(arrays, xp.broadcast_arrays(*arrays.values()), strict=True)), dtype
    except (ValueError, RuntimeError) as error:
        shapes = ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
        raise ValueError(
            f"shapes do not broadcast: {shapes}. Reshape them to one shape, with length 1 where a "
            f"value is shared."
        ) from error


def _ones(xp: Namespace, score: Array) -> Array:
    return xp.ones(score.shape, dtype=widest_float(xp, score), device=device_of(xp, score))


def _real_array(xp: Namespace, name: str, value: Any, like: Array | None = None) -> Array:
    array = as_array(xp, value, like)
    if kind_of(xp, array.dtype) == "other":
        remedy = "Pass y_true == positive_label." if name == "y_true" else "Convert it to floats."
        raise TypeError(f"{name} must hold real numbers; found dtype {array.dtype}. {remedy}")
    return array


def _axis_from_the_end(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"axis must lie between {-ndim} and {ndim - 1} for {ndim}-dimensional input; "
            f"found {axis}."
        )
    return axis if axis < 0 else axis - ndim


def _sample_axis_last(xp: Namespace, array: Array, axis: int) -> Array:
    array = array if axis == -1 else xp.moveaxis(array, axis, -1)
    if array.shape[-1] == 0:
        # One absent sample stands for none, so that nothing behind this has to ask.
        shape = (*array.shape[:-1], 1)
        return xp.zeros(shape, dtype=array.dtype, device=device_of(xp, array))
    return array


class _Problem(NamedTuple):
    """Where an argument is bad, and the two halves of the message that says so."""

    bad: Array
    value: Array
    demand: str
    remedy: str


def _weight_problem(xp: Namespace, weight: Array) -> _Problem:
    return _Problem(
        ~xp.isfinite(weight) | (weight < 0),
        weight,
        "sample_weight must be finite and not negative",
        "Drop such samples with where= or give them weight 0.",
    )


def _label_problem(
    xp: Namespace, label: Array, counts: Array | None, axis: int, third_class: bool
) -> _Problem:
    negative, zero = label == -1, label == 0
    bad = ~(negative | zero | (label == 1))
    if third_class:
        return _Problem(bad, label, "y_true must hold -1, 0 or +1", "Map your classes to these.")
    # Both a 0 and a -1 in one batch entry: one of them is no label of a two-class problem.
    if counts is not None:
        negative = negative & counts
    bad = bad | (xp.any(negative, axis=axis, keepdims=True) & zero)
    return _Problem(bad, label, "y_true must hold 0/1 or -1/+1", "Pass y_true == positive_label.")


def _are_plain_labels(label: Array) -> bool:
    """Say, in two quick passes, whether NumPy integers are all 0/1 or all -1/+1."""
    if label.dtype.kind not in "iu" or label.size == 0:
        return False
    low, high = label.min(), label.max()
    return bool(high <= 1 and (low >= 0 or (low == -1 and label.all())))


def _missing_problem(xp: Namespace, missing: Array) -> _Problem:
    return _Problem(
        missing,
        xp.full(missing.shape, xp.nan),
        "y_score must not hold NaN",
        "Pass nan_policy='omit' to drop such samples or nan_policy='abstain' to count them as "
        "undecided.",
    )


def _threshold_problem(xp: Namespace, threshold: Array) -> _Problem:
    return _Problem(
        xp.isnan(threshold),
        threshold,
        "threshold must be a number",
        "Pass the score that decides.",
    )


def _domain_problem(score: Array, domain: tuple[float, float]) -> _Problem:
    low, high = domain
    return _Problem(
        (score < low) | (score > high),
        score,
        f"y_score must lie between {low:g} and {high:g} for this decision function",
        "Pass threshold= for scores on another scale.",
    )


def _verdict(
    xp: Namespace, problems: list[_Problem], counts: Array | None, axis: int
) -> Array | None:
    """Raise where values are at hand; elsewhere say which batch entries are free of problems."""
    any_bad: Array = False
    for bad, value, demand, remedy in problems:
        if counts is not None:
            bad = bad & counts
        if not values_are_at_hand(xp):
            any_bad = bad | any_bad
            continue
        position = first_position(bad)
        if position is not None:
            found = f"found {value[position]:g} at position {position}"
            raise ValueError(f"{demand}; {found}. {remedy}")
    return None if values_are_at_hand(xp) else ~xp.any(any_bad, axis=axis)
