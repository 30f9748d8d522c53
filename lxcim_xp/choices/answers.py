"""Both answers of a judge to each pair, from arguments to clean arrays.

``first`` is f(a, b), the score for A where A stood first. ``swapped`` is f(b, a), that of the other
call, for whatever stood first in it, which was B. A judge that goes by the answers alone has
f(b, a) = -f(a, b). Everything here is about the two signed confidences, which are positive where
the judge preferred what stood first.
"""

from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import as_array, kind_of, namespace, values_are_at_hand
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.decimals import halves
from lxcim_xp._samples.checks import refuse_confidence, warn_of_probabilities
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.errors import BadValue
from lxcim_xp._samples.samples import Samples, collect, signed_confidence, weights

_SAY_WHICH = "Pass the scores of one call for each pair, in the same order."


class Answers(NamedTuple):
    """The answers to each pair, sample axis last, in the widest float; zero for absent pairs."""

    first: Array  # signed confidence of the call in which A stood first
    swapped: Array  # that of the call in which B stood first
    opinion: Array  # half their difference: positive for A
    effect: Array  # half their sum: positive for the first place
    samples: Samples  # weights, labels, which entries are good; its scores are those of ``first``


def collect_answers(
    first: Any,
    swapped: Any,
    *,
    y_true: Any = 1,
    sample_weight: Any = None,
    where: Any = None,
    threshold: Any = None,
    decision: Decision | None = None,
    axis: int = -1,
    nan_policy: str = "raise",
) -> tuple[Namespace, Answers]:
    """Check and clean the answers of both calls, on the pairs that count for both."""
    if decision is not None and isinstance(decision, Decision):
        refuse_confidence(decision, "Pass scores that are signed, or decision=probability().")
    xp, both = _alike(first, swapped, sample_weight, where, y_true)
    if threshold is None and decision is None:
        threshold = 0.0
        if values_are_at_hand(xp):
            _warn_of_probabilities(xp, both)
    if nan_policy == "omit":
        where = _answered_twice(xp, both, where)
    collected = []
    for name, score in both.items():
        try:
            _, samples = collect(
                y_true,
                score,
                sample_weight=sample_weight,
                where=where,
                threshold=threshold,
                decision=decision,
                axis=axis,
                nan_policy=nan_policy,
            )
        except BadValue as error:
            raise _about(name, error) from error
        collected.append(samples)
    samples, other = collected
    if samples.valid is not None and other.valid is not None:
        samples = samples._replace(valid=samples.valid & other.valid)
    present = weights(xp, samples) > 0
    signed = [
        xp.where(present, xp.astype(signed_confidence(xp, each), weights(xp, each).dtype), 0.0)
        for each in collected
    ]
    opinion, effect = halves(xp, signed[0], signed[1], samples.dtype)
    return xp, Answers(signed[0], signed[1], opinion, effect, samples)


def _alike(first: Any, swapped: Any, *others: Any) -> tuple[Namespace, dict[str, Array]]:
    """Return both scores as arrays of one shape and, if they are floats, one dtype."""
    for name, value in {"first": first, "swapped": swapped}.items():
        if value is None:
            raise TypeError(f"{name} must be an array or a list; found None. {_SAY_WHICH}")
    weight, where, y_true = others
    xp = namespace(first=first, swapped=swapped, sample_weight=weight, where=where, y_true=y_true)
    like = next((x for x in (first, swapped, weight, y_true) if hasattr(x, "dtype")), None)
    a, b = (as_array(xp, x, like) for x in (first, swapped))
    for name, x in {"first": a, "swapped": b}.items():
        if kind_of(xp, x.dtype) == "other":
            raise TypeError(
                f"{name} must hold real numbers; found dtype {x.dtype}. Convert it to floats: 1 "
                f"for a verdict for what stands first, -1 for one against it, 0 for a tie."
            )
    if a.shape != b.shape:
        raise ValueError(
            f"first and swapped must score the same pairs; found shapes {tuple(a.shape)} and "
            f"{tuple(b.shape)}. {_SAY_WHICH}"
        )
    if a.ndim == 0:
        raise ValueError(
            "first and swapped must have at least one axis; found single numbers. Pass [first] and "
            "[swapped]."
        )
    shapes = {"first": tuple(a.shape)}
    for name, value in {"y_true": y_true, "sample_weight": weight, "where": where}.items():
        if value is not None:
            shapes[name] = tuple(as_array(xp, value, a).shape)
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(
            f"shapes do not broadcast: {listed}. Reshape them to one shape, with length 1 where a "
            f"value is shared."
        ) from error
    floats = [kind_of(xp, x.dtype) == "real floating" for x in (a, b)]
    if all(floats) and a.dtype != b.dtype:
        dtype = xp.result_type(a.dtype, b.dtype)
        a, b = xp.astype(a, dtype), xp.astype(b, dtype)
    elif any(floats) and not all(floats):
        dtype = a.dtype if floats[0] else b.dtype
        a, b = (xp.astype(x, dtype, copy=False) for x in (a, b))
    return xp, {"first": a, "swapped": b}


def _answered_twice(xp: Namespace, both: dict[str, Array], where: Any) -> Any:
    """Return which pairs count: those that both calls have a score for."""
    a, b = both.values()
    if kind_of(xp, a.dtype) != "real floating":
        return where
    there = ~(xp.isnan(a) | xp.isnan(b))
    return there if where is None else as_array(xp, where, a) & there


def _warn_of_probabilities(xp: Namespace, both: dict[str, Array]) -> None:
    """Warn where no call ever prefers what stands second, and scores lie in [0, 1]."""
    score = xp.concat([xp.reshape(x, (-1,)) for x in both.values()])
    if score.size:
        # What one call is about is positive, and negative in the other: the scores should differ.
        label = xp.concat([xp.ones(score.size // 2), xp.zeros(score.size // 2)])
        warn_of_probabilities(label, score, None)


def _about(name: str, error: BadValue) -> BadValue:
    """Return an error about ``y_score`` as one about the call that it came from."""
    argument = name if error.argument == "y_score" else error.argument
    return BadValue(
        argument,
        error.problem,
        error.remedy,
        position=error.position,
        row=error.row,
        **({"y_score": name} | error.facts),
    )
