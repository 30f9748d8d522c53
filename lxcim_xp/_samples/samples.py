"""From the arguments of a call to clean samples, and from samples to signed margins.

Every metric starts here: with shapes, broadcasting, masks and missing scores. ``checks`` deals
with bad values. Afterwards the sample axis is the last one, no score is NaN, and a sample that
does not count has weight zero. Nothing is ranked here.
"""

import math
from functools import partial
from typing import Any, NamedTuple, get_args

from lxcim_xp._arrays.namespaces import (
    NUMPY,
    are_plain,
    array_like,
    as_array,
    default_float,
    device_of,
    is_recorded,
    kind_of,
    namespace,
    scalar_if_numpy,
    seen_by_numpy,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._arrays.primitives import (
    first_position,
    has_nan,
    largest,
    move_axis,
    power_of_two,
    signed_by,
    without_subnormals,
)
from lxcim_xp._arrays.typing import Array, DType, Namespace
from lxcim_xp._samples.checks import (
    check_scalar_threshold,
    infinite_clash,
    may_be_shares,
    plain_labels,
    rounded_threshold,
    verdict,
    warn_of_probabilities,
)
from lxcim_xp._samples.decisions import Decision, absolute
from lxcim_xp._samples.errors import BadValue
from lxcim_xp._samples.option_types import NanPolicy

NAN_POLICIES = get_args(NanPolicy)

_AT_ZERO = absolute()
_NUMPY = namespace()  # the namespace of everything that belongs to no other library


class Samples(NamedTuple):
    """The samples of one call, sample axis last.

    ``weight`` is in units of ``weight_unit``, a power of two chosen so that products of two
    weights neither overflow nor vanish; None if there is no need for one.
    """

    score: Array  # (..., n), never NaN
    label: Array  # (..., n), the caller's labels; NumPy's in any dtype, the widest float elsewhere
    weight: Array | None  # (..., n), in the widest float unless asked; None: all count once
    weight_unit: Array | None  # (..., 1)
    valid: Array | None  # (...), False where a batch entry holds bad values; None: all are good
    dtype: DType  # of the result
    decision: Decision
    empty: bool = False  # whether one absent sample stands for none
    # (..., n), in the widest float: the share of the votes for the positive side. None if labels
    # are known to be whole, for which there are quicker forms.
    share: Array | None = None


class Margins(NamedTuple):
    """Signed margins: the confidence of each sample, positive when its decision is right.

    For whole labels, everything that is invariant to local exchange of classes is a function of
    these two arrays. For shares of votes it is one of confidence, credit and weight.
    """

    value: Array  # (..., n)
    weight: Array | None  # (..., n); None: every sample counts once
    # (..., n): by how much of the votes the decision is right or wrong; None: by all of them
    stake: Array | None = None


def collect(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
    third_class: bool = False,
    narrow_weights: bool = False,
    relative_weights: bool = True,
    weights_near_one: bool = False,
    decides: bool = True,
) -> tuple[Namespace, Samples]:
    """Check and clean the arguments that all metrics share.

    Flags ask for exceptions. ``third_class``: labels may be -1, 0, +1. ``narrow_weights``: NumPy
    weights stay in float32, for callers that widen them piece by piece. ``relative_weights=False``:
    weights keep the caller's unit. ``weights_near_one``: the largest becomes about one, for callers
    that multiply weights by large numbers. ``decides=False``: the threshold plays no part, so no
    warning asks whether its default is meant.
    """
    if nan_policy not in NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {NAN_POLICIES}; found {nan_policy!r}.")
    by_default = decides and threshold is None and decision is None
    decision = one_decision(threshold, decision)
    plain = decision is _AT_ZERO and sample_weight is None and where is None and axis == -1
    if plain and not third_class and are_plain(y_true, y_score) and not has_nan(y_score):
        label = plain_labels(y_true)
        if label is not None:  # clean already: the rest would change nothing
            if by_default:
                warn_of_probabilities(label, y_score, None)
            dtype = y_score.dtype
            return _NUMPY, Samples(y_score, label, None, None, None, dtype, decision)
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    if not isinstance(decision.threshold, int | float):
        given["threshold"] = decision.threshold
    for name, remedy in (
        ("y_true", "Pass labels, or 1 where the scores are margins."),
        ("y_score", "Pass one score for each sample."),
    ):
        if given[name] is None:
            raise TypeError(f"{name} must be an array, a list or a number; found None. {remedy}")
    xp = namespace(**given)
    arrays, dtype = _broadcast(xp, given, narrow_weights, axis)
    shares = not third_class and _may_hold_shares(xp, y_true, arrays["y_true"])
    axis = _axis_from_the_end(axis, arrays["y_score"].ndim)
    check_scalar_threshold(xp, decision.threshold, arrays["y_score"].dtype)
    if "threshold" in arrays:
        decision = decision._replace(threshold=arrays["threshold"])
    missing = _mark_absent(xp, arrays, decision, nan_policy)
    valid = verdict(xp, arrays, missing, decision, axis, third_class, shares)
    clash = infinite_clash(xp, arrays["y_score"], decision.threshold)
    if clash is not None:  # bad or absent, so no result depends on it
        arrays["y_score"] = xp.where(clash, 0.0, arrays["y_score"])

    empty = arrays["y_score"].shape[axis] == 0
    if axis != -1 or empty:
        arrays = {name: _sample_axis_last(xp, array, axis) for name, array in arrays.items()}
    if by_default and values_are_at_hand(xp):
        warn_of_probabilities(arrays["y_true"], arrays["y_score"], arrays.get("sample_weight"))
    weight, unit = _without_bad_weights(xp, arrays.get("sample_weight")), None
    if relative_weights and weight is not None and sample_weight is not None:
        # Weights that only stand for a mask count samples, and stay as they are.
        weight, unit = in_units(xp, weight, alone=weights_near_one)
    if "threshold" in arrays:
        decision = decision._replace(threshold=arrays["threshold"])
    score, label = arrays["y_score"], arrays["y_true"]
    share = None
    if shares or (decision.is_confidence and not _are_margins(xp, score)):
        share = _share(xp, label, widest_float(xp, score))
        if "abstained" in arrays:
            share = xp.where(arrays["abstained"], 0.5, share)
    return xp, Samples(score, label, weight, unit, valid, dtype, decision, empty, share)


# For metrics that depend only on the order of the scores, not on the threshold.
collect_scores = partial(collect, decides=False)


def in_rows(samples: Samples) -> list[Samples] | None:
    """Return each entry of a batch as samples of its own; None if slices cannot do it."""
    if samples.score.ndim != 2 or not isinstance(samples.decision.threshold, int | float):
        return None

    def row_of(part: Array | None, row: int) -> Array | None:
        return None if part is None else part[row]

    return [
        samples._replace(
            score=samples.score[row],
            label=samples.label[row],
            weight=row_of(samples.weight, row),
            weight_unit=row_of(samples.weight_unit, row),
            valid=row_of(samples.valid, row),
            share=row_of(samples.share, row),
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
        return score  # what the decision function returns, in fewer calls
    if not decision.trusted and samples.weight is not None:
        # A function from the caller is not evaluated on absent samples.
        score = xp.where(samples.weight > 0, score, array_like(xp, decision.threshold, score))
    return decision.signed(xp, score, decision.threshold, *decision.parameters)


def confidence(xp: Namespace, samples: Samples, signed: Array) -> Array:
    """Return the confidence of each sample, given :func:`signed_confidence`."""
    return signed if samples.decision.is_confidence else xp.abs(signed)


def credit(xp: Namespace, samples: Samples, signed: Array) -> Array:
    """Return the share of the votes that each decision agrees with, in the widest float.

    Without shares that is H(m): 1 for a right decision, 1/2 for none, 0 for a wrong one.
    """
    share = samples.share
    if share is None:
        return _whole_credit(xp, signed_by(xp, samples.label, signed))
    if samples.decision.is_confidence:
        return share
    return xp.where(signed > 0, share, xp.where(signed < 0, 1 - share, 0.5))


def _whole_credit(xp: Namespace, margin: Array) -> Array:
    # Small integers first: they take an eighth of the memory of floats.
    halves = xp.astype(margin > 0, xp.int8) + xp.astype(margin >= 0, xp.int8)
    return xp.astype(halves, widest_float(xp, margin)) * 0.5


def positive_share(xp: Namespace, samples: Samples) -> Array:
    """Return the share of the votes for the positive side, 1 or 0 for whole labels."""
    if samples.share is not None:
        return samples.share
    return xp.astype(samples.label > 0, widest_float(xp, samples.score))


def whole_only(xp: Namespace, samples: Samples, remedy: str) -> Samples:
    """Refuse split votes where only whole labels have a meaning; elsewhere they are bad input."""
    share = samples.share
    if share is None:
        return samples
    split = (share > 0) & (share < 1)
    if samples.weight is not None:
        split = split & (samples.weight > 0)
    if not values_are_at_hand(xp):
        return samples._replace(valid=samples.valid & ~xp.any(split, axis=-1))
    position = first_position(split)
    if position is not None:
        raise BadValue(
            "y_true",
            "must hold whole labels here; found {value:g} {place}",
            remedy,
            position=position,
            value=share[position],
        )
    return samples


def weights(xp: Namespace, samples: Samples) -> Array:
    """Return the weights, ones where every sample counts once."""
    return ones(xp, samples.score) if samples.weight is None else samples.weight


def positive_and_negative(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    """Return the weights of the positives and of the negatives, zero for the others.

    Where votes are split, both have their share of the weight.
    """
    weight = weights(xp, samples)
    positive = positive_share(xp, samples) * weight
    return positive, weight - positive


def classes(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    """Return the same with a weight unit for each class, for metrics of shares of a class."""
    both = positive_and_negative(xp, samples)
    if samples.weight is None:
        return both
    positive, negative = (in_units(xp, weight, alone=True)[0] for weight in both)
    return positive, negative


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


def finish_all(xp: Namespace, samples: Samples, *results: Array) -> list[Array]:
    """Return several results of the batch's shape, each as :func:`finish` returns it."""
    return [finish(xp, samples, result) for result in results]


def finish_each(xp: Namespace, samples: Samples, result: Array, axis: int) -> Array:
    """Return a result for each sample along the caller's axis; none if there were no samples."""
    result = finish(xp, samples, result[..., :0] if samples.empty else result)
    return result if axis == -1 else move_axis(xp, result, -1, axis)


def finish_points(xp: Namespace, samples: Samples, result: Array) -> Array:
    """Return the points of a curve; without any sample there is one."""
    return finish(xp, samples, result[..., :1] if samples.empty else result)


def one_decision(threshold: Any, decision: Any) -> Decision:
    """Return the decision function that the two arguments mean together."""
    if decision is None:
        plain = threshold is None or (type(threshold) is float and threshold == 0)
        return _AT_ZERO if plain else absolute(threshold)
    if not isinstance(decision, Decision):
        remedy = "Pass probability(), for example, or threshold= alone."
        if callable(decision):
            name = getattr(decision, "__name__", "it")
            remedy = f"Pass {name}(), or decision_function({name}) for a confidence of your own."
        raise TypeError(f"decision must be a Decision; found {decision!r}. {remedy}")
    if threshold is not None and not _is_zero(threshold):
        raise ValueError(
            f"threshold={threshold!r} and decision= were both given. A decision function has its "
            f"own threshold: pass only one of them."
        )
    return decision


def _is_zero(threshold: Any) -> bool:
    try:
        return bool(threshold == 0)
    except (TypeError, ValueError, RuntimeError):  # several numbers, or one that is traced
        return False


def _broadcast(
    xp: Namespace, given: dict[str, Any], narrow_weights: bool, axis: int
) -> tuple[dict[str, Array], DType]:
    """Return the arguments as arrays of one shape, and the dtype of the result.

    Scores keep their float dtype, which thresholds take on; labels and weights get the widest.
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
    score = without_subnormals(xp, score)
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
                array = xp.astype(array, wide)  # no unsigned integers, which cannot equal -1
        elif name == "threshold":
            array = rounded_threshold(xp, array, score)
        elif not (narrow_weights and xp is NUMPY and array.dtype == xp.float32):
            array = xp.astype(array, wide, copy=False)
        arrays[name] = array
    refuse_columns(given, arrays, axis)
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


def refuse_columns(given: dict[str, Any], arrays: dict[str, Array], axis: int) -> None:
    """Refuse accidental (n, 1) columns: broadcasting would make a data set of each row."""
    shapes = {name: tuple(arrays[name].shape) for name in arrays if name != "threshold"}
    for name, (*rows, columns) in ((name, shape) for name, shape in shapes.items() if shape):
        if columns != 1 or not rows or rows[-1] <= 1:
            continue
        if hasattr(given[name], "columns") and axis in (-1, 1):
            raise ValueError(
                f"{name} is a frame of one column, which reads as {rows[-1]} data sets of one "
                f"sample. Pass the column, or axis=0."
            )
        # In a batch with as many entries as samples, it is one value for each entry.
        if any(len(shape) > len(rows) and shape[-1] > 1 for shape in shapes.values()):
            continue
        for other, shape in shapes.items():
            if shape == tuple(rows):
                raise ValueError(
                    f"{name} has shape {shapes[name]} beside {other} of shape {shape}, which would "
                    f"pair each sample with every other. Pass {name}[..., 0]."
                )


def ones(xp: Namespace, score: Array) -> Array:
    """Return the weights of samples that all count once, in the widest float."""
    return xp.ones(score.shape, dtype=widest_float(xp, score), device=device_of(xp, score))


def _real_array(xp: Namespace, name: str, value: Any, like: Array | None = None) -> Array:
    array = as_array(xp, value, like)
    if kind_of(xp, array.dtype) == "other":
        remedy = "Pass y_true == positive_label." if name == "y_true" else "Convert it to floats."
        raise TypeError(f"{name} must hold real numbers; found dtype {array.dtype}. {remedy}")
    return array


def _axis_from_the_end(axis: int, ndim: int) -> int:
    if not hasattr(axis, "__index__"):
        raise TypeError(
            f"axis must be one integer; found {axis!r}. Reshape the samples to lie on one axis."
        )
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"axis must lie between {-ndim} and {ndim - 1} for {ndim}-dimensional input; "
            f"found {axis}."
        )
    return axis if axis < 0 else axis - ndim


def _sample_axis_last(xp: Namespace, array: Array, axis: int) -> Array:
    array = move_axis(xp, array, axis, -1)
    if array.shape[-1] == 0:
        # One absent sample stands for none, so that later code needs no special case.
        shape = (*array.shape[:-1], 1)
        return xp.zeros(shape, dtype=array.dtype, device=device_of(xp, array))
    return array


def _may_hold_shares(xp: Namespace, given: Any, label: Array) -> bool:
    """Say whether labels may be shares of votes; ``label`` is what became of the given ones.

    Integers are none. Where floats cannot be inspected they may be some, and floats that are
    differentiated must not lead to forms that count.
    """
    if values_are_at_hand(xp):
        return may_be_shares(xp, label)
    if isinstance(given, int | float):
        return 0 < given < 1
    given = as_array(xp, given, label)
    if kind_of(xp, given.dtype) != "real floating":
        return False
    seen = None if is_recorded(xp, given) else seen_by_numpy(xp, given)
    return seen is None or may_be_shares(NUMPY, seen)


def _share(xp: Namespace, label: Array, wide: DType) -> Array:
    """Return labels as the share of the votes for the positive side; bad ones as none."""
    # Not a clip, which halves the derivative at its ends.
    return xp.astype(xp.where((label >= 0) & (label <= 1), label, xp.zeros_like(label)), wide)


def _are_margins(xp: Namespace, score: Array) -> bool:
    """Say whether confidences are known to be positive, so that they can be taken for scores."""
    return values_are_at_hand(xp) and bool((score > 0).all())


def _mark_absent(
    xp: Namespace, arrays: dict[str, Array], decision: Decision, nan_policy: str
) -> Array | None:
    """Fill in missing scores and give samples that do not count weight zero, in ``arrays``.

    Return where a missing score is bad input; None if nowhere.
    """
    score, where = arrays["y_score"], arrays.pop("where", None)
    missing = None
    if 0 in score.shape:
        where = xp.isnan(score)  # without samples, nothing counts
    elif not values_are_at_hand(xp) or has_nan(score):
        missing = xp.isnan(score)
        filler = array_like(xp, decision.threshold, score)
        if decision.is_confidence and nan_policy == "abstain":
            filler = xp.full_like(score, -xp.inf)  # the least of all confidences
            arrays["abstained"] = missing
        arrays["y_score"] = xp.where(missing, filler, score)
    if nan_policy == "omit" and 0 not in score.shape:
        for absent in (missing, _missing_labels(xp, arrays["y_true"])):
            if absent is not None:
                where = ~absent if where is None else where & ~absent
    if where is not None:
        weight = arrays["sample_weight"] if "sample_weight" in arrays else ones(xp, score)
        arrays["sample_weight"] = xp.where(where, weight, xp.zeros_like(weight))
    return missing if nan_policy == "raise" else None


def _missing_labels(xp: Namespace, label: Array) -> Array | None:
    """Say which labels are NaN; None if none is."""
    if values_are_at_hand(xp) and (kind_of(xp, label.dtype) == "integral" or not has_nan(label)):
        return None
    return xp.isnan(label)


def _without_bad_weights(xp: Namespace, weight: Array | None) -> Array | None:
    """Replace bad weights by zero: the result will be NaN, but nothing may fail on the way."""
    if weight is None or values_are_at_hand(xp):
        return weight
    return xp.where(xp.isfinite(weight) & (weight >= 0), weight, xp.zeros_like(weight))


def in_units(xp: Namespace, weight: Array, *, alone: bool = False) -> tuple[Array, Array | None]:
    """Return weights in units of a power of two, and that unit, (..., 1); None if it is 1.

    Dividing by a power of two is exact: whole weights stay exact, and so do their sums. The largest
    weight of a batch entry becomes as large as it can without an overflow in squared sums, so that
    products of the smallest ones do not vanish. With ``alone=True``, for weights that are only
    divided by their own sum, the largest becomes about one.
    """
    if values_are_at_hand(xp) and _need_no_unit(weight):
        return weight, None
    dtype = widest_float(xp, weight)
    unit = power_of_two(xp, xp.astype(xp.max(weight, axis=-1, keepdims=True), dtype, copy=False))
    if not alone:
        limits = xp.finfo(dtype)
        exponent = math.frexp(float(limits.max))[1] // 2 - weight.shape[-1].bit_length() - 2
        unit = unit * 2.0**-exponent
        unit = xp.where(unit > limits.smallest_normal, unit, limits.smallest_normal)
    return weight / unit, unit


def _need_no_unit(weight: Array) -> bool:
    if weight.ndim == 1:
        most = float(largest(weight))  # comparing a number takes a fifth of the time
        return bool(most == 0 or 1e-100 < most < 1e100)
    most = weight.max(axis=-1).astype(float)
    return bool(((most == 0) | ((most > 1e-100) & (most < 1e100))).all())
