"""Bad values: an error where values can be looked at, NaN in the result where they cannot.

A check finds where an argument is bad and words the message. For NumPy the first bad value raises.
In other libraries values may be traced or live on a device, so the checks become one flag for each
batch entry. A sample of weight zero is absent: whatever else it holds, it is not bad input.
"""

import inspect
import math
import operator
import warnings
from typing import Any, NamedTuple, get_args

import numpy as np

from lxcim_xp._arrays.namespaces import (
    array_like,
    as_array,
    device_of,
    kind_of,
    namespace,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._arrays.numpy_pieces import FEW
from lxcim_xp._arrays.primitives import UNSIGNED, first_position, largest, move_axis, take
from lxcim_xp._arrays.typing import Array, DType, Namespace, NumpyArray
from lxcim_xp._samples.decisions import Decision, absolute
from lxcim_xp._samples.errors import DROP_OR_WEIGH, SAY_WHICH_IS_POSITIVE, BadValue, Given
from lxcim_xp._samples.option_types import Ties

TIES = get_args(Ties)


class Problem(NamedTuple):
    """Where an argument is bad, what it must be instead, and what to do about it."""

    argument: str
    bad: Array
    value: Array
    demand: str
    remedy: str


def verdict(
    xp: Namespace,
    arrays: dict[str, Array],
    missing: Array | None,
    decision: Decision,
    axis: int,
    third_class: bool,
    shares: bool,
) -> Array | None:
    """Raise if values can be looked at; otherwise say which batch entries have no problems."""
    at_hand = values_are_at_hand(xp)
    weight, label = arrays.get("sample_weight"), arrays["y_true"]
    # Quick passes find most NumPy input to be good, which saves making the masks below.
    odd_weights = weight is not None and not (at_hand and _are_plain_weights(weight))
    odd_labels = not at_hand or third_class or plain_labels(label) is None
    problems: list[Problem] = []
    if odd_weights:
        problems.append(_weight_problem(xp, arrays["sample_weight"]))
    if odd_labels:
        problems += _label_problems(xp, label, weight, axis, third_class, shares)
        if shares and not decision.is_confidence:
            problems.append(_swapped_problem(xp, arrays, axis))
    if missing is not None:
        problems.append(_missing_problem(xp, missing))
    if "threshold" in arrays:
        problems.append(_threshold_problem(xp, arrays["threshold"]))
    clash = infinite_clash(xp, arrays["y_score"], decision.threshold)
    if clash is not None:
        problems.append(_infinite_problem(clash, arrays["y_score"]))
    if decision.domain is not None:
        problems.append(_domain_problem(arrays["y_score"], decision.domain))
    if weight is not None and problems:
        counts = weight != 0
        problems = [problem._replace(bad=problem.bad & counts) for problem in problems]
    if at_hand:
        _raise_first(problems)
    disordered = None
    if not decision.trusted:
        disordered = _disorder(xp, arrays["y_score"], weight, decision, axis)
    if at_hand:
        return None
    any_bad = problems[0].bad
    for problem in problems[1:]:
        any_bad = any_bad | problem.bad
    valid = ~xp.any(any_bad, axis=axis)
    return valid if disordered is None else valid & ~disordered


def largest_confidence(xp: Namespace, score: Array, decision: Decision, bound: Any) -> Array | None:
    """Return the largest confidence that such scores can have; None if it has no limit."""
    device = device_of(xp, score)
    if bound is not None:
        if isinstance(bound, np.generic):
            bound = bound.item()
        if not isinstance(bound, int | float):
            raise TypeError(f"bound must be a number; found {type(bound).__name__}.")
        if not bound > 0:
            raise ValueError(
                f"bound must be positive; found {bound!r}. Pass the largest confidence that a "
                f"score can have, or None."
            )
        limit = xp.asarray(float(bound), dtype=score.dtype, device=device)
        if bound == float("inf"):
            return None
    else:
        if decision.domain is None or not isinstance(decision.threshold, int | float):
            return None
        if float("inf") in (-decision.domain[0], decision.domain[1]):
            return None
        ends = xp.asarray(decision.domain, dtype=score.dtype, device=device)
        signed = decision.signed(xp, ends, decision.threshold, *decision.parameters)
        limit = xp.max(xp.abs(signed))
        if values_are_at_hand(xp) and not np.isfinite(limit):
            return None
    return xp.astype(limit, widest_float(xp, score), copy=False)


def within_bound(
    xp: Namespace, confidence: Array, weight: Array, bound: Array, tolerance: float, axis: int
) -> Array | None:
    """Raise if a confidence exceeds the bound; say where none does if values cannot be looked at.

    The sample axis is the last one, but messages give positions as if it were at ``axis``.
    """
    too_large = (weight != 0) & (confidence > bound * (1 + tolerance))
    if not values_are_at_hand(xp):
        return ~xp.any(too_large, axis=-1)
    bad, value = (move_axis(xp, array, -1, axis) for array in (too_large, confidence))
    demand = f"must not exceed bound={bound:g}"
    remedy = "Pass the largest confidence there can be."
    _raise_first([Problem("the confidence of a score", bad, value, demand, remedy)])
    return None


def bound_tolerance(xp: Namespace, dtype: DType) -> float:
    """Return by what share of itself a bound may be exceeded.

    Thresholds and bounds are compared with scores, and so are rounded to the dtype of the scores.
    """
    return 4 * float(xp.finfo(dtype).eps)


def counts_or_nan(xp: Namespace, confusion: Array) -> Array:
    """Raise at a negative count if values can be looked at; otherwise make it NaN."""
    negative = confusion < 0
    if not values_are_at_hand(xp):
        return xp.where(negative, xp.nan, confusion)
    demand = "must hold counts, which are not negative"
    _raise_first([Problem("confusion", negative, confusion, demand, "Pass TP, FP, FN, TN.")])
    return confusion


def refuse_confidence(decision: Decision, remedy: str) -> None:
    """Refuse confidences where it matters which side was chosen."""
    if decision.is_confidence:
        raise ValueError(f"decision=confidence() cannot be used here. {remedy}")


def check_level(level: float) -> None:
    """Refuse a coverage that is not between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; found {level!r}. Pass 0.95 for 95 %.")


def checked_bins(bins: Any) -> int:
    """Return the number of bins, which must be at least 2."""
    try:
        number = operator.index(bins)
    except TypeError:
        number = 0
    if number < 2:
        raise ValueError(
            f"bins must be a whole number of at least 2; found {bins!r}. Pass 4096 for bounds that "
            f"are about 0.001 wide."
        )
    return number


def warn_of_probabilities(label: Array, score: Array, weight: Array | None) -> None:
    """Warn if NumPy scores look like probabilities although no threshold was given."""
    if score.size and _look_like_probabilities(label, score, weight):
        warnings.warn(
            "all scores lie in [0, 1], and the threshold was left at its default of 0. Pass "
            "decision=probability() if they are probabilities of the positive side, or "
            "threshold=0.0 if 0 is meant (confidences of being right, for example).",
            UserWarning,
            stacklevel=_callers_level(),
        )


def _look_like_probabilities(label: Array, score: Array, weight: Array | None) -> bool:
    """Say whether all scores lie in [0, 1], not all are equal, and both labels occur."""
    if weight is None and score.size <= FEW:
        if score.item(score.argmin()) < 0:  # one call, where all calls are dear
            return False
    else:
        for place in (0, score.size // 2, -1):  # if scores are negative, one of these often is
            if score.item(place) < 0 and (weight is None or weight.item(place) != 0):
                return False
    for some in (slice(FEW), slice(None)):
        scores, labels = score.flat[some], label.flat[some]
        if weight is not None:
            counts = weight.flat[some] != 0
            scores, labels = scores[counts], labels[counts]
        if scores.size and not (scores.min() >= 0 and scores.max() <= 1):
            return False
    positive = labels > 0.5
    return bool(positive.any() and not positive.all() and scores.min() < scores.max())


# What to tell users whose scores ``seem_misread``; ``name`` is that of the scores.
PROBABILITIES_AT_ZERO = (
    "All scores of {name!r} lie between 0 and 1, like probabilities, but decisions are made at the "
    "threshold 0: every decision is the positive side. If they are probabilities of the positive "
    "side, decide at one half: {decision:probability()}. If they are confidences of being right, "
    "and the labels say which decisions were right, the numbers hold as they are."
)


def seem_misread(score: NumpyArray, decision: Decision) -> bool:
    """Say whether NumPy scores look like probabilities but are decided at zero; NaN is ignored.

    This is not for a warning but for a reader who is shown everything odd about the data.
    """
    if decision.signed is not absolute().signed or decision.threshold != 0:
        return False
    # The minimum and the maximum ignore NaN and need no copy. Most scores are settled here.
    if not score.size or not (np.fmin.reduce(score) >= 0 and np.fmax.reduce(score) <= 1):
        return False
    return not bool(np.all((score == 0) | (score == 1) | np.isnan(score)))


def _callers_level() -> int:
    """Return the ``stacklevel`` at which a warning points to the caller of this package."""
    ours = __name__.partition(".")[0]
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == ours:
        frame, level = frame.f_back, level + 1
    return level


def check_sides(positive: Any, negative: Any, ties: str) -> None:
    """Refuse names of the two sides that contradict each other."""
    if ties not in TIES:
        raise ValueError(f"ties must be one of {TIES}; found {ties!r}.")
    if negative is not None and positive is None:
        raise BadValue(
            Given("negative", negative),
            "needs {positive:=} beside it",
            "Pass the label that is positive too.",
        )
    if ties != "error" and negative is None:
        raise BadValue(
            Given("ties", ties),
            "is about labels that are neither positive nor negative",
            "Pass {positive:=} and {negative:=} to say which are.",
        )
    if negative is not None and positive == negative:
        raise BadValue(
            "the two sides",
            "must differ; found {label!r} for both",
            "Pass {positive:=} and {negative:=} with different labels.",
            label=positive,
        )


_FOUND = "; found {value:g} {place}"


def _raise_first(problems: list[Problem]) -> None:
    for argument, bad, values, demand, remedy in problems:
        position = first_position(bad)
        if position is not None:
            problem, value = demand + _FOUND, values[position]
            raise BadValue(argument, problem, remedy, position=position, value=value)


def _are_plain_weights(weight: Array) -> bool:
    """Say, in one quick pass, whether NumPy weights are finite and not negative.

    As unsigned integers, the bits of negative numbers and of NaN are above those of infinity. So
    are those of a negative zero, which the slower checks then find to be no problem.
    """
    bits = UNSIGNED[weight.itemsize]
    infinity = weight.dtype.type(float("inf")).view(bits)
    return bool(weight.size and largest(weight.view(bits)) < infinity)


def plain_labels(label: Array) -> Array | None:
    """Return NumPy labels that are all 0/1, as unsigned integers, or all -1/+1; None for others.

    Most are 0/1, which one quick pass finds; the unsigned dtype then tells later code so.
    """
    if label.dtype.kind not in "iu" or label.size == 0:
        return None
    unsigned = label.view(UNSIGNED[label.itemsize])
    if largest(unsigned) <= 1:  # as unsigned integers, negatives are large
        return unsigned
    return label if label.min() == -1 and label.max() <= 1 and label.all() else None


def _weight_problem(xp: Namespace, weight: Array) -> Problem:
    return Problem(
        "sample_weight",
        ~xp.isfinite(weight) | (weight < 0),
        weight,
        "must be finite and not negative",
        DROP_OR_WEIGH,
    )


# Exchanges and soft ranks have no nan_policy.
_ELSE_MASK = "or {where:=} to functions without it."


def is_minus_one(xp: Namespace, label: Array) -> Array:
    """Return ``label == -1``; NumPy before 2.3 crashes on broadcast unsigned integers there."""
    return label < 0 if xp.isdtype(label.dtype, "unsigned integer") else label == -1


def may_be_shares(xp: Namespace, label: Array) -> bool:
    """Say whether labels have a dtype that holds shares of votes, and NumPy's some that are."""
    if kind_of(xp, label.dtype) != "real floating":
        return False
    return not values_are_at_hand(xp) or bool(((label > 0) & (label < 1)).any())


def _label_problems(
    xp: Namespace,
    label: Array,
    weight: Array | None,
    axis: int,
    third_class: bool,
    shares: bool,
) -> list[Problem]:
    negative = is_minus_one(xp, label)
    bad = ~(negative | (label == 0) | (label == 1))
    demand = "must hold -1, 0 or +1" if third_class else "must hold 0/1 or -1/+1"
    # A missing label is bad as well, but comparing it with a label would make it a negative.
    remedy = "Pass {nan_policy:'omit'} to drop such samples, " + _ELSE_MASK
    missing = Problem("y_true", label != label, label, demand, remedy)
    missing_first = [missing] if values_are_at_hand(xp) else []
    if third_class:
        remedy = "Map your classes to these."
        return [*missing_first, Problem("y_true", bad, label, demand, remedy)]
    split_first = []
    if shares:
        split = (label > 0) & (label < 1)
        bad = bad & ~split
        # Beside a share of votes, -1 and other whole numbers are none.
        counts = split if weight is None else split & (weight != 0)
        mixed = xp.any(counts, axis=axis, keepdims=True) & ((label < 0) | (label > 1))
        beside = "must lie between 0 and 1 beside shares of votes"
        swapped = "Are {y_true} and {y_score} swapped? If not, divide votes by their number."
        split_first = [Problem("y_true", mixed, label, beside, swapped)]
    # Of 0 and -1 in one batch entry, only one can be a label of a two-class problem.
    if weight is not None:
        negative = negative & (weight != 0)
    bad = bad | (xp.any(negative, axis=axis, keepdims=True) & (label == 0))
    if kind_of(xp, label.dtype) == "real floating":
        demand = "must hold 0/1, -1/+1, or shares of votes between 0 and 1"
    whole = Problem("y_true", bad, label, demand, SAY_WHICH_IS_POSITIVE)
    return [*missing_first, *split_first, whole]


def _swapped_problem(xp: Namespace, arrays: dict[str, Array], axis: int) -> Problem:
    """Find shares of votes beside scores that look like labels: the arguments were swapped."""
    label, score = arrays["y_true"], arrays["y_score"]
    counts = score == score
    if "sample_weight" in arrays:
        counts = arrays["sample_weight"] != 0
    zero, one = (score == 0) & counts, (score == 1) & counts
    has_zero, has_one, has_other = (
        xp.any(some, axis=axis, keepdims=True) for some in (zero, one, counts & ~zero & ~one)
    )
    return Problem(
        "y_true",
        (label > 0) & (label < 1) & has_zero & has_one & ~has_other,
        label,
        "must not hold shares of votes where all scores are 0 or 1",
        "Are {y_true} and {y_score} swapped? If not, pass 2 * {y_score} - 1 at threshold 0.",
    )


def _missing_problem(xp: Namespace, missing: Array) -> Problem:
    return Problem(
        "y_score",
        missing,
        xp.full(missing.shape, xp.nan),
        "must not hold NaN",
        "Pass {nan_policy:'omit'} to drop such samples or {nan_policy:'abstain'} to count them as "
        "undecided, " + _ELSE_MASK,
    )


def _threshold_problem(xp: Namespace, threshold: Array) -> Problem:
    return Problem(
        "threshold",
        xp.isnan(threshold),
        threshold,
        "must be a number",
        "Pass the score that decides.",
    )


def infinite_clash(xp: Namespace, score: Array, threshold: Any) -> Array | None:
    """Say where an infinite score meets the same infinite threshold; None if it cannot."""
    if isinstance(threshold, int | float) and not math.isinf(threshold):
        return None
    threshold = array_like(xp, threshold, score)
    return xp.isinf(threshold) & (score == threshold)


def _infinite_problem(clash: Array, score: Array) -> Problem:
    return Problem(
        "y_score",
        clash,
        score,
        "must not be infinite where the threshold is",
        "Pass a finite threshold: an infinite score has no distance from an infinite one.",
    )


def check_scalar_threshold(xp: Namespace, threshold: Any, dtype: DType) -> None:
    """Refuse a number that would become infinite among the scores."""
    if not isinstance(threshold, int | float) or threshold == 0:
        return
    if float(xp.finfo(dtype).max) < abs(threshold) < math.inf:
        raise BadValue(
            "threshold",
            "must fit into the dtype of {y_score}, {dtype}; found {threshold!r}",
            "Pass wider scores.",
            dtype=str(dtype),
            threshold=threshold,
        )


def rounded_threshold(xp: Namespace, threshold: Array, score: Array) -> Array:
    """Return thresholds in the dtype of the scores; one beyond its range is an error, or NaN."""
    wide = widest_float(xp, score)
    threshold = xp.astype(threshold, wide, copy=False)
    if score.dtype == wide:
        return threshold
    beyond = xp.isfinite(threshold) & (xp.abs(threshold) > float(xp.finfo(score.dtype).max))
    if values_are_at_hand(xp):
        demand = f"must fit into the dtype of {{y_score}}, {score.dtype}"
        _raise_first([Problem("threshold", beyond, threshold, demand, "Pass wider scores.")])
    return xp.astype(xp.where(beyond, xp.nan, threshold), score.dtype)


def _domain_problem(score: Array, domain: tuple[float, float]) -> Problem:
    low, high = domain
    return Problem(
        "y_score",
        (score < low) | (score > high),
        score,
        f"must lie between {low:g} and {high:g} for this decision function",
        "Pass {threshold:=} for scores on another scale.",
    )


def _disorder(
    xp: Namespace, score: Array, weight: Array | None, decision: Decision, axis: int
) -> Array:
    """Say in which batch entries the confidence does not grow strictly away from the threshold.

    Equivalently, the signed confidence does not grow strictly with the score.
    """
    threshold = array_like(xp, decision.threshold, score)
    if weight is not None:
        score = xp.where(weight != 0, score, threshold)
    signed = decision.signed(xp, score, decision.threshold, *decision.parameters)
    away = xp.where(score > threshold, signed, -signed)
    without = (score != threshold) & ~(away > 0)
    if values_are_at_hand(xp):
        demand = "must be positive away from the threshold"
        remedy = "Let only the threshold itself be undecided."
        _raise_first([Problem("g", without, away, demand, remedy)])
    if axis != -1:
        score, signed, without = (move_axis(xp, x, axis, -1) for x in (score, signed, without))
    order = xp.argsort(score, axis=-1)
    by_score = [take(xp, array, order) for array in (score, signed)]
    (lower, higher), (less, more) = ((array[..., :-1], array[..., 1:]) for array in by_score)
    reversed_pair = (higher > lower) & ~(more > less)
    if values_are_at_hand(xp):
        position = first_position(reversed_pair)
        if position is not None:
            pair = " and ".join(
                f"g({s[position]:g}) = {abs(g[position]):g}"
                for s, g in ((lower, less), (higher, more))
            )
            raise BadValue(
                "g",
                "must grow strictly on both sides of the threshold; found {pair}",
                "Pass a confidence that is strictly bi-monotonic on these scores.",
                pair=pair,
            )
    return xp.any(reversed_pair, axis=-1) | xp.any(without, axis=-1)


def shared_rates(name: str, rates: Any, beside: str, curve: Array) -> tuple[Namespace, Array]:
    """Return decision rates as an array of the curve's library: (k,), or () for a single one.

    Rates outside [0, 1] are an error, or NaN where values cannot be looked at.
    """
    xp = namespace(**{beside: curve, name: rates})
    rates = as_array(xp, rates, curve)
    if kind_of(xp, rates.dtype) == "other":
        raise TypeError(f"{name} must hold real numbers; found dtype {rates.dtype}.")
    if rates.ndim > 1:
        raise ValueError(
            f"{name} must be a number or have one axis; found shape {tuple(rates.shape)}. Every "
            f"batch entry meets the same rates: pass them as one list."
        )
    rates = xp.astype(rates, curve.dtype)
    legal = (rates >= 0) & (rates <= 1)
    if values_are_at_hand(xp):
        position = first_position(~legal)
        if position is not None:
            found = _FOUND if rates.ndim else "; found {value:g}"
            raise BadValue(
                name,
                "must lie between 0 and 1" + found,
                "A rate is a share of all samples, not their number.",
                position=position,
                value=rates[position],
            )
    return xp, xp.where(legal, rates, xp.nan)
