"""What bad values get: an error where values are at hand, NaN in the result where they are not.

A check says where an argument is bad and how to say so. NumPy values are looked at, and the first
bad one raises; for any other library, whose values may be traced or live on a device, the checks
become one flag for each batch entry. A sample of weight zero is absent: whatever else it holds, it
is not bad input.
"""

from typing import NamedTuple

from lxcim_xp._array import (
    UNSIGNED,
    Array,
    Namespace,
    array_like,
    first_position,
    largest,
    take,
    values_are_at_hand,
)
from lxcim_xp.decision import Decision


class Problem(NamedTuple):
    """Where an argument is bad, and the two halves of the message that says so."""

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
) -> Array | None:
    """Raise where values are at hand; elsewhere say which batch entries are free of problems."""
    at_hand = values_are_at_hand(xp)
    weight, label = arrays.get("sample_weight"), arrays["y_true"]
    # Most NumPy input is seen to be good in quick passes, which spares the masks below.
    odd_weights = weight is not None and not (at_hand and _are_plain_weights(weight))
    odd_labels = not at_hand or third_class or plain_labels(label) is None
    problems: list[Problem] = []
    if odd_weights:
        problems.append(_weight_problem(xp, weight))
    if odd_labels:
        problems.append(_label_problem(xp, label, weight, axis, third_class))
    if missing is not None:
        problems.append(_missing_problem(xp, missing))
    if "threshold" in arrays:
        problems.append(_threshold_problem(xp, arrays["threshold"]))
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


def within_bound(
    xp: Namespace, confidence: Array, weight: Array, bound: Array, tolerance: float, axis: int
) -> Array | None:
    """Raise where values are at hand; elsewhere say in which batch entries none is too confident.

    The sample axis is the last one, and messages count positions as if it were at ``axis``.
    """
    too_large = (weight != 0) & (confidence > bound * (1 + tolerance))
    if not values_are_at_hand(xp):
        return ~xp.any(too_large, axis=-1)
    bad, value = (xp.moveaxis(array, -1, axis) for array in (too_large, confidence))
    demand = f"the confidence of a score must not exceed bound={bound:g}"
    _raise_first([Problem(bad, value, demand, "Pass the largest confidence there can be.")])
    return None


def check_level(level: float) -> None:
    """Refuse a coverage that is none."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; found {level!r}. Pass 0.95 for 95 %.")


def _raise_first(problems: list[Problem]) -> None:
    for bad, value, demand, remedy in problems:
        position = first_position(bad)
        if position is not None:
            found = f"found {value[position]:g} at position {position}"
            raise ValueError(f"{demand}; {found}. {remedy}")


def _are_plain_weights(weight: Array) -> bool:
    """Say, in one quick pass, whether NumPy weights are finite and not negative.

    As unsigned integers, the bits of negative numbers and of NaN are above those of infinity. A
    negative zero is not plain either, and found to be no problem by the checks that follow.
    """
    bits = UNSIGNED[weight.itemsize]
    infinity = weight.dtype.type(float("inf")).view(bits)
    return bool(weight.size and largest(weight.view(bits)) < infinity)


def plain_labels(label: Array) -> Array | None:
    """Return NumPy integers that are all 0/1, as unsigned ones, or all -1/+1; None for others.

    Most are 0/1, which one quick pass sees; as unsigned integers, they need not be seen again.
    """
    if label.dtype.kind not in "iu" or label.size == 0:
        return None
    unsigned = label.view(UNSIGNED[label.itemsize])
    if largest(unsigned) <= 1:  # as unsigned integers, negatives are large
        return unsigned
    return label if label.min() == -1 and label.max() <= 1 and label.all() else None


def _weight_problem(xp: Namespace, weight: Array) -> Problem:
    return Problem(
        ~xp.isfinite(weight) | (weight < 0),
        weight,
        "sample_weight must be finite and not negative",
        "Drop such samples with where= or give them weight 0.",
    )


def _label_problem(
    xp: Namespace, label: Array, weight: Array | None, axis: int, third_class: bool
) -> Problem:
    negative, zero = label == -1, label == 0
    bad = ~(negative | zero | (label == 1))
    if third_class:
        return Problem(bad, label, "y_true must hold -1, 0 or +1", "Map your classes to these.")
    # Both a 0 and a -1 in one batch entry: one of them is no label of a two-class problem.
    if weight is not None:
        negative = negative & (weight != 0)
    bad = bad | (xp.any(negative, axis=axis, keepdims=True) & zero)
    return Problem(bad, label, "y_true must hold 0/1 or -1/+1", "Pass y_true == positive_label.")


def _missing_problem(xp: Namespace, missing: Array) -> Problem:
    return Problem(
        missing,
        xp.full(missing.shape, xp.nan),
        "y_score must not hold NaN",
        "Pass nan_policy='omit' to drop such samples or nan_policy='abstain' to count them as "
        "undecided.",
    )


def _threshold_problem(xp: Namespace, threshold: Array) -> Problem:
    return Problem(
        xp.isnan(threshold),
        threshold,
        "threshold must be a number",
        "Pass the score that decides.",
    )


def _domain_problem(score: Array, domain: tuple[float, float]) -> Problem:
    low, high = domain
    return Problem(
        (score < low) | (score > high),
        score,
        f"y_score must lie between {low:g} and {high:g} for this decision function",
        "Pass threshold= for scores on another scale.",
    )


def _disorder(
    xp: Namespace, score: Array, weight: Array | None, decision: Decision, axis: int
) -> Array:
    """Say in which batch entries the confidence does not grow strictly away from the threshold.

    That is so when the signed confidence does not grow strictly with the score.
    """
    threshold = array_like(xp, decision.threshold, score)
    if weight is not None:
        score = xp.where(weight != 0, score, threshold)
    signed = decision.signed(xp, score, decision.threshold, *decision.parameters)
    away = xp.where(score > threshold, signed, -signed)
    without = (score != threshold) & ~(away > 0)
    if values_are_at_hand(xp):
        demand = "g must be positive away from the threshold"
        _raise_first(
            [Problem(without, away, demand, "Let only the threshold itself be undecided.")]
        )
    if axis != -1:
        score, signed, without = (xp.moveaxis(x, axis, -1) for x in (score, signed, without))
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
            raise ValueError(
                f"g must grow strictly on both sides of the threshold; found {pair}. Pass a "
                f"confidence that is strictly bi-monotonic on these scores."
            )
    return xp.any(reversed_pair, axis=-1) | xp.any(without, axis=-1)
