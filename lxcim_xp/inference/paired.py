"""Differences of models on the same samples: their errors, p-values and bounds.

Student's test serves where the difference varies from unit to unit (samples or clusters). Where it
is the same in all of them a standard error of zero says nothing, and signs are counted: if it were
a toss-up in each of m units which model is which, all of them would agree with probability
2^(1 - m).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lxcim_xp._arrays.namespaces import (
    as_array,
    kind_of,
    namespace,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.distributions import t_quantile, t_two_sided
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.samples import (
    Samples,
    credit,
    positive_share,
    refuse_columns,
    signed_confidence,
    weights,
)
from lxcim_xp.inference.influence import kernel_of
from lxcim_xp.inference.intervals import placed_influence
from lxcim_xp.inference.sampling_design import Design, Variance, design, effective_number

# Metrics that compare two classes rest on no more samples than the smaller class has.
_OF_TWO_CLASSES = ("auroc", "confidence_auroc")

# Two estimates that should be equal may be apart by so many units in the last place of one.
_ROUNDINGS = 256


class Models(NamedTuple):
    """Models on a first axis, samples on the last."""

    metric: str
    samples: Samples
    estimate: Array
    influence: Array  # in the order of the input
    weight: Array  # of the samples, the same for all models
    drawn: Design


class Differences(NamedTuple):
    """Differences of pairs of models, pairs on the first axis."""

    value: Array
    error: Array
    degrees_of_freedom: Array
    p_value: Array
    is_test: Array  # whether anything tells the models apart: else the p-value can only be 1
    units: Array  # how many equally weighted units agree, where the error is zero
    same: Array  # whether both models gave the same scores, asked where the error is zero


def evaluate(
    y_true: Any,
    scores: Mapping[str, Any],
    metric: str,
    groups: Any,
    strata: Any,
    weight_type: str,
    sample_weight: Any,
    where: Any,
    threshold: Any,
    decision: Decision | None,
    nan_policy: str,
) -> tuple[Namespace, Models, Array]:
    """Evaluate all models together, on common samples, and say how many scores were missing."""
    kernel = kernel_of(metric)
    xp, stacked = _stack(y_true, scores)
    beside = {"y_true": y_true, "sample_weight": sample_weight, "where": where}
    arrays = {k: as_array(xp, v, stacked) for k, v in beside.items() if v is not None}
    name = next(iter(scores))
    refuse_columns({**beside, **scores}, {name: stacked[0, ...], **arrays}, -1)
    absent = xp.isnan(stacked)
    if where is not None:
        where = xp.broadcast_to(as_array(xp, where, stacked), stacked.shape[1:])
        absent = absent & where[None, ...]
    if nan_policy == "omit":
        common = ~xp.any(absent, axis=0)
        where = common if where is None else where & common
    _, samples = kernel.collect(
        y_true,
        stacked,
        sample_weight=sample_weight,
        where=where,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
    )
    estimate, influence = placed_influence(xp, kernel, samples)
    first = samples._replace(score=samples.score[0, ...])
    weight = weights(xp, first) if samples.weight is None else samples.weight[0, ...]
    if samples.weight_unit is not None:
        weight = weight * samples.weight_unit[0, ...]
    drawn = design(xp, groups, strata, weight_type, weight, weight, -1)
    missing = xp.sum(xp.astype(absent, xp.int32), axis=-1)
    return xp, Models(metric, samples, estimate, influence, weight, drawn), missing


def for_all_models(xp: Namespace, models: Models) -> Samples:
    """Return the samples, marked as bad where they are bad for any model."""
    valid = models.samples.valid
    return models.samples._replace(valid=None if valid is None else xp.all(valid, axis=0))


def differences(
    xp: Namespace, models: Models, pairs: Sequence[tuple[int, int]], found: Variance
) -> Differences:
    """Return the differences of pairs of models, given their variances."""
    first, second = zip(*pairs, strict=True)
    value = _each(xp, models.estimate, first) - _each(xp, models.estimate, second)
    error, freedom = xp.sqrt(found.value), xp.broadcast_to(found.degrees_of_freedom, value.shape)
    in_classes = _units_of_classes(xp, models, first, second)
    if in_classes is not None:
        fewer = in_classes - 1
        fewer = xp.where(fewer < 1, 1.0, fewer)
        freedom = xp.where(fewer < freedom, fewer, freedom)
    if values_are_at_hand(xp) and not xp.any(error == 0):
        units, same = xp.zeros_like(value), xp.zeros(value.shape, dtype=xp.bool)
    else:
        units = _units_that_agree(xp, models, pairs, value)
        if in_classes is not None:
            units = xp.where(in_classes < units, in_classes, units)
        same = xp.stack([_gave_the_same(xp, models, *pair) for pair in pairs])
    rounding = _ROUNDINGS * xp.finfo(value.dtype).eps
    value = xp.where((error == 0) & (xp.abs(value) <= rounding), 0.0, value)
    ratio = value / xp.where(error > 0, error, 1.0)
    by_signs = xp.where(units > 1, 2.0 ** (1 - units), 1.0)
    p_value = xp.where(error > 0, t_two_sided(xp, ratio, freedom), by_signs)
    is_test = (error > 0) | (value != 0)
    p_value = xp.where(is_test, p_value, 1.0)
    undefined = xp.isnan(error) | xp.isnan(value)
    p_value = xp.where(undefined, xp.nan, p_value)
    return Differences(value, error, freedom, p_value, is_test & ~undefined, units, same)


def bounds(xp: Namespace, found: Differences, chance: Array | float) -> tuple[Array, Array]:
    """Return intervals that miss the true difference with the chance given, at most.

    Where all units agree, a share q = 1 - (chance / 2)^(1 / m) of the population may be unlike the
    m that were seen (Clopper and Pearson). It may hold the two models the other way round, or put
    them as far apart as they can be.
    """
    value, one = found.value, xp.ones_like(found.value)
    half = chance / 2 * one
    varies = found.error > 0
    width = -t_quantile(xp, half, found.degrees_of_freedom) * xp.where(varies, found.error, 0.0)
    some = found.units > 0
    unlike = 1 - xp.exp(xp.log(half) / xp.where(some, found.units, 1.0))
    unlike = xp.where(some, unlike, one)
    unlike = xp.where(found.same, xp.zeros_like(one), unlike)
    size = xp.abs(value)
    away = size + unlike * (1 - size)
    back = xp.where(size > 0, size * (1 - 2 * unlike), 0.0 - unlike)
    low = xp.where(varies, value - width, xp.where(value < 0, -away, back))
    high = xp.where(varies, value + width, xp.where(value < 0, -back, away))
    low, high = xp.where(low > -1, low, -one), xp.where(high < 1, high, one)
    undefined = xp.isnan(found.p_value)
    return xp.where(undefined, xp.nan, low), xp.where(undefined, xp.nan, high)


def _each(xp: Namespace, x: Array, which: Sequence[int]) -> Array:
    return xp.stack([x[at, ...] for at in which])


def _units_of_classes(
    xp: Namespace, models: Models, first: Sequence[int], second: Sequence[int]
) -> Array | None:
    """Return how many units the smaller class of either model has; None without classes.

    The classes are the right and the wrong decisions, which differ from model to model, or the
    positives and the negatives. What is undecided is half in each.
    """
    if models.metric not in _OF_TWO_CLASSES:
        return None
    samples, weight = models.samples, models.weight
    if models.metric == "auroc":
        part = positive_share(xp, samples)
    else:
        part = credit(xp, samples, signed_confidence(xp, samples))
    fewest = []
    for model in range(models.estimate.shape[0]):
        one, other = (
            effective_number(xp, weight * share, models.drawn)[..., 0]
            for share in (part[model, ...], 1 - part[model, ...])
        )
        fewest.append(xp.where(one < other, one, other))
    pairs = [
        xp.where(fewest[i] < fewest[j], fewest[i], fewest[j])
        for i, j in zip(first, second, strict=True)
    ]
    return xp.stack(pairs)


def _units_that_agree(
    xp: Namespace, models: Models, pairs: Sequence[tuple[int, int]], value: Array
) -> Array:
    """Return how many units show the same difference, where it does not vary.

    Without strata these are all units. In strata, it may only be constant in each of them: then
    those count that differ, and none if some differ the other way.
    """
    weight, drawn = models.weight, models.drawn
    if drawn.strata is None:
        return xp.broadcast_to(effective_number(xp, weight, drawn)[..., 0], value.shape)
    part = divide(xp, weight, xp.max(weight, axis=-1, keepdims=True))
    part = part / xp.sum(part, axis=-1, keepdims=True)
    rounding = _ROUNDINGS * xp.finfo(part.dtype).eps * part
    counts = []
    for at, (i, j) in enumerate(pairs):
        apart = value[at, ...][..., None]
        moved = models.influence[i, ...] - models.influence[j, ...] + part * apart
        moved = xp.where(apart < 0, -moved, moved)
        units = effective_number(xp, xp.where(moved > rounding, weight, 0.0), drawn)[..., 0]
        against = xp.any(moved < -rounding, axis=-1)
        counts.append(xp.where(against, xp.zeros_like(units), units))
    return xp.stack(counts)


def _gave_the_same(xp: Namespace, models: Models, i: int, j: int) -> Array:
    same = models.weight == 0
    # Labels of their own have models whose scores are confidences.
    alike = [part[i, ...] == part[j, ...] for part in (models.samples.score, models.samples.label)]
    return xp.all((alike[0] & alike[1]) | same, axis=-1)


def _stack(y_true: Any, scores: Mapping[str, Any]) -> tuple[Namespace, Array]:
    xp = namespace(y_true=y_true, **scores)
    arrays = {name: as_array(xp, score) for name, score in scores.items()}
    first, *others = arrays
    for name in others:
        if arrays[name].shape != arrays[first].shape:
            raise ValueError(
                f"all models must score the same samples; found shape "
                f"{tuple(arrays[first].shape)} for {first} and {tuple(arrays[name].shape)} for "
                f"{name}. Put NaN where a model gave no score, and choose a nan_policy."
            )
    wide = widest_float(xp, arrays[first])
    is_float = kind_of(xp, arrays[first].dtype) == "real floating"
    dtype = arrays[first].dtype if is_float else wide
    return xp, xp.stack([xp.astype(array, dtype) for array in arrays.values()])
