"""From what the caller passed to clean samples, and from samples to signed margins.

This is the front of every metric: shapes, broadcasting, masks and missing scores; what bad values
get is decided in ``_checks``. Behind it the sample axis is the last one, no score is NaN, and a
sample that does not count has weight zero. Nothing is ranked here.
"""

from typing import Any, NamedTuple

from lxcim_xp._array import (
    Array,
    DType,
    Namespace,
    are_plain,
    array_like,
    as_array,
    default_float,
    device_of,
    has_nan,
    is_numpy,
    kind_of,
    namespace,
    scalar_if_numpy,
    signed_by,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._checks import plain_labels, verdict
from lxcim_xp.decision import Decision, absolute

NAN_POLICIES = ("raise", "omit", "abstain")

_AT_ZERO = absolute()
_NUMPY = namespace()  # which arrays of no other library belong to


class Samples(NamedTuple):
    """The samples of one call, sample axis last.

    ``weight`` is relative to the largest weight of its batch entry, ``largest_weight``, so that
    products of weights neither overflow nor vanish; None when there was no need for that.
    """

    score: Array  # (..., n), never NaN
    label: Array  # (..., n), the caller's labels; NumPy's in any dtype, the widest float elsewhere
    weight: Array | None  # (..., n), in the widest float unless asked; None: all count once
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
    narrow_weights: bool = False,
    relative_weights: bool = True,
) -> tuple[Namespace, Samples]:
    """Check and clean the arguments that all metrics share.

    On request labels may be -1, 0, +1; NumPy weights stay in float32, for whoever widens them piece
    by piece; weights are not made relative to the largest.
    """
    if nan_policy not in NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {NAN_POLICIES}; found {nan_policy!r}.")
    decision = one_decision(threshold, decision)
    plain = decision is _AT_ZERO and sample_weight is None and where is None and axis == -1
    if plain and not third_class and are_plain(y_true, y_score) and not has_nan(y_score):
        label = plain_labels(y_true)
        if label is not None:  # seen in two quick looks: all that follows would change nothing
            dtype = y_score.dtype
            return _NUMPY, Samples(y_score, label, None, None, None, dtype, decision)
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    if not isinstance(decision.threshold, int | float):
        given["threshold"] = decision.threshold
    xp = namespace(**given)
    arrays, dtype = _broadcast(xp, given, narrow_weights)
    axis = _axis_from_the_end(axis, arrays["y_score"].ndim)
    if "threshold" in arrays:
        decision = decision._replace(threshold=arrays["threshold"])
    missing = _settle_absent(xp, arrays, decision.threshold, nan_policy)
    valid = verdict(xp, arrays, missing, decision, axis, third_class)

    if axis != -1 or 0 in arrays["y_score"].shape:
        arrays = {name: _sample_axis_last(xp, array, axis) for name, array in arrays.items()}
    weight, largest = _usable(xp, arrays.get("sample_weight")), None
    if relative_weights:
        weight, largest = _scaled(xp, weight)
    if "threshold" in arrays:
        decision = decision._replace(threshold=arrays["threshold"])
    return xp, Samples(arrays["y_score"], arrays["y_true"], weight, largest, valid, dtype, decision)


def in_rows(samples: Samples) -> list[Samples] | None:
    """Return the entries of a batch as samples of their own, where that is a matter of slices."""
    if samples.score.ndim != 2 or not isinstance(samples.decision.threshold, int | float):
        return None

    def row_of(part: Array | None, row: int) -> Array | None:
        return None if part is None else part[row]

    return [
        samples._replace(
            score=samples.score[row],
            label=samples.label[row],
            weight=row_of(samples.weight, row),
            largest_weight=row_of(samples.largest_weight, row),
            valid=row_of(samples.valid, row),
        )
        for row in range(samples.score.shape[0])
    ]


def signed_margins(xp: Namespace, samples: Samples) -> Margins:
    """Return m = (2y - 1) * sign(s - s*) * g(s): positive where the decision is right."""
    return Margins(signed_by(xp, samples.label, signed_confidence(xp, samples)), samples.weight)


def signed_confidence(xp: Namespace, samples: Samples) -> Array:
    """Return sign(s - s*) * g(s): the confidence, positive where the positive side is chosen."""
    decision, score = samples.decision, samples.score
    if decision is _AT_ZERO:
        return score  # as the decision function would, in fewer calls
    if not decision.trusted and samples.weight is not None:
        # A given function is not asked about samples that are absent.
        score = xp.where(samples.weight > 0, score, array_like(xp, decision.threshold, score))
    return decision.signed(xp, score, decision.threshold, *decision.parameters)


def weights(xp: Namespace, samples: Samples) -> Array:
    """Return the weights, ones where every sample counts once."""
    return _ones(xp, samples.score) if samples.weight is None else samples.weight


def positive_and_negative(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    """Return the weights of the positives and of the negatives, zero for the others."""
    weight = weights(xp, samples)
    positive = xp.astype(samples.label > 0, weight.dtype) * weight
    return positive, weight - positive


def credit(xp: Namespace, margins: Margins) -> Array:
    """Return H(m): 1 for a right decision, 1/2 for none, 0 for a wrong one, in the widest float."""
    dtype = widest_float(xp, margins.value)
    # Small integers first, which take an eighth of the memory that floats would.
    halves = xp.astype(margins.value > 0, xp.int8) + xp.astype(margins.value >= 0, xp.int8)
    return xp.astype(halves, dtype) * 0.5


def finish(xp: Namespace, samples: Samples, result: Array) -> Array:
    """Return a result of the batch's shape in the dtype of the scores, NaN for bad input."""
    if samples.valid is not None:
        valid = xp.reshape(
            samples.valid, samples.valid.shape + (1,) * (result.ndim - samples.valid.ndim)
        )
        result = xp.where(valid, result, xp.full_like(result, xp.nan))
    if result.dtype != samples.dtype:
        result = xp.astype(result, samples.dtype)
    return scalar_if_numpy(xp, result)


def one_decision(threshold: Any, decision: Decision | None) -> Decision:
    """Return the decision function that the two arguments mean together."""
    if decision is None:
        plain = type(threshold) is float and threshold == 0
        return _AT_ZERO if plain else absolute(threshold)
    if not (isinstance(threshold, int | float) and threshold == 0):
        raise ValueError(
            f"threshold={threshold!r} and decision= were both given. A decision function has its "
            f"own threshold: pass only one of them."
        )
    return decision


def _broadcast(
    xp: Namespace, given: dict[str, Any], narrow_weights: bool
) -> tuple[dict[str, Array], DType]:
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
        elif name == "threshold":
            array = xp.astype(array, score.dtype, copy=False)
        elif not (narrow_weights and is_numpy(xp) and array.dtype == xp.float32):
            array = xp.astype(array, wide, copy=False)
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
    array = xp.moveaxis(array, axis, -1)
    if array.shape[-1] == 0:
        # One absent sample stands for none, so that nothing behind this has to ask.
        shape = (*array.shape[:-1], 1)
        return xp.zeros(shape, dtype=array.dtype, device=device_of(xp, array))
    return array


def _settle_absent(
    xp: Namespace, arrays: dict[str, Array], threshold: Any, nan_policy: str
) -> Array | None:
    """Fill in missing scores and put weight zero where a sample does not count, in ``arrays``.

    Return where a missing score is bad input; None if it is nowhere.
    """
    score, where = arrays["y_score"], arrays.pop("where", None)
    missing = None
    if 0 in score.shape:
        where = xp.isnan(score)  # without samples, nothing counts
    elif not values_are_at_hand(xp) or has_nan(score):
        missing = xp.isnan(score)
        arrays["y_score"] = xp.where(missing, array_like(xp, threshold, score), score)
        if nan_policy == "omit":
            where = ~missing if where is None else where & ~missing
    if where is not None:
        weight = arrays["sample_weight"] if "sample_weight" in arrays else _ones(xp, score)
        arrays["sample_weight"] = xp.where(where, weight, xp.zeros_like(weight))
    return missing if nan_policy == "raise" else None


def _usable(xp: Namespace, weight: Array | None) -> Array | None:
    """Return zero for bad weights, which make the result NaN and must not upset the arithmetic."""
    if weight is None or values_are_at_hand(xp):
        return weight
    return xp.where(xp.isfinite(weight) & (weight >= 0), weight, xp.zeros_like(weight))


def _scaled(xp: Namespace, weight: Array | None) -> tuple[Array | None, Array | None]:
    """Return weights relative to the largest of their batch entry, and that one."""
    if weight is None:
        return None, None
    largest = xp.max(weight, axis=-1, keepdims=True)
    largest = xp.astype(largest, widest_float(xp, weight), copy=False)
    if values_are_at_hand(xp) and _need_no_scaling(largest):
        return weight, None
    return weight / xp.where(largest > 0, largest, xp.ones_like(largest)), largest


def _need_no_scaling(largest: Array) -> bool:
    return bool(((largest == 0) | ((largest > 1e-100) & (largest < 1e100))).all())
