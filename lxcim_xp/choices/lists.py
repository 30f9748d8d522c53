"""One answer out of several: whether it was right, how far it was ahead, and what chance would do.

A question with its list of scored alternatives becomes one sample whose confidence is known:
``lxcim(correct, confidence, decision=confidence())``. Alternatives are never told apart by their
place, so that their order and their names cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import (
    as_array,
    default_float,
    default_int,
    device_of,
    kind_of,
    moves_constants,
    namespace,
    scalar_if_numpy,
    values_are_at_hand,
    widest_float,
)
from lxcim_xp._arrays.primitives import (
    contiguous,
    first_position,
    move_axis,
    quietly,
    without_subnormals,
)
from lxcim_xp._arrays.typing import Array, ArrayLike, DType, Namespace
from lxcim_xp._samples.differences import difference_of_arrays
from lxcim_xp._samples.errors import BadValue

Ahead: TypeAlias = Literal["margin"] | Callable[[Any], Any]


class Chosen(NamedTuple):
    """What became of each question, as :func:`choose` returns it.

    Parameters
    ----------
    correct : array
        The credit of the alternative with the highest score: 1 if it is right, 0 if not; if several
        share the highest score, their mean.
    confidence : array
        How far the first alternative is ahead of the second.
    chance : array
        The credit that an alternative earns that is drawn by lot: 1/K if one of K is right.

    Examples
    --------
    >>> from lxcim_xp.choices import choose
    >>> choose([0.5, 2.0, 0.25, 1.0], 1)
    Chosen(correct=np.float64(1.0), confidence=np.float64(1.0), chance=np.float64(0.25))
    """

    correct: Array
    confidence: Array
    chance: Array


@moves_constants
def choose(
    scores: ArrayLike,
    right: ArrayLike,
    *,
    axis: int = -1,
    where: ArrayLike | None = None,
    confidence: Ahead = "margin",
) -> Chosen:
    """Choose the alternative with the highest score of each question, and say how it went.

    Pass the result on with ``decision=confidence()``: ``lxcim(chosen.correct, chosen.confidence,
    decision=confidence())``. Neither the order nor the names of the alternatives make a difference,
    for each question by itself.

    Parameters
    ----------
    scores : array
        Scores of the alternatives, higher for better ones; infinities are allowed. Leading axes are
        questions. Integers become floats.
    right : array
        Which alternative is right. With one axis less than ``scores`` (or a single number), its
        index, counted from 0. With as many axes, the credit that each alternative earns: a mask if
        several are right, or anything between 0 and 1 (relevance divided by the highest grade).
    axis : int, default -1
        The axis of the alternatives.
    where : array of bool, optional
        The alternatives that there are, where questions have different numbers of them; the others
        (padding) may hold anything.
    confidence : {"margin"} or callable, default "margin"
        How far the first is ahead. "margin" is the highest score minus the second highest, 0 if
        they tie. A function gets the scores of each question from the highest to the lowest along
        the last axis, minus infinity in place of padding, and returns one number for each question,
        larger for surer ones.

    Returns
    -------
    Chosen
        ``correct``, ``confidence`` and ``chance``, each with one value for each question, in the
        library, device and float dtype of ``scores``.

    See Also
    --------
    lxcim_xp.confidence : The decision function for the result.
    lxcim_xp.significance : Tests the result against ``chance``.

    Notes
    -----
    If j alternatives share the highest score, one of them is drawn by lot, in expectation: the
    credit is 1/j if the right one is among them. A list with a single alternative is right by
    itself: its confidence is infinite, as if all others were ruled out, and its chance is 1. Leave
    such questions out (``where=chosen.chance < 1``) if they say nothing about the model.

    A question without any alternative, without a right one, or with a right one outside of the list
    is an error, as is a NaN score. Where values cannot be inspected (any library but NumPy), the
    three results of that question are NaN.

    Margins of decimals are those of the decimals as they are written: of 0.3 and 0.2 as of 0.2 and
    0.1, which as floats differ in the last digit. Equal margins tie.

    Examples
    --------
    Three questions with four alternatives each; in the last one the right alternative shares the
    highest score with another:

    >>> from lxcim_xp import confidence, lxcim
    >>> from lxcim_xp.choices import choose
    >>> scores = [[3, 1, 0, 2], [1, 2, 5, 2], [4, 4, 0, 1]]
    >>> chosen = choose(scores, [0, 3, 1])
    >>> chosen.correct, chosen.confidence
    (array([1. , 0. , 0.5]), array([1., 3., 0.]))
    >>> lxcim(chosen.correct, chosen.confidence, decision=confidence()) * 18
    np.float64(7.0)

    The highest score itself for a confidence:

    >>> choose(scores, [0, 3, 1], confidence=lambda ordered: ordered[..., 0]).confidence
    array([3., 5., 4.])
    """
    if confidence != "margin" and not callable(confidence):
        raise ValueError(
            f"confidence must be 'margin' or a function of the ordered scores; found "
            f"{confidence!r}."
        )
    xp, lists = _lists(scores, right, where, axis)
    if lists.score.shape[0] == 0:  # values cannot be looked at, or there is no question
        nothing = xp.sum(lists.score, axis=0) + xp.nan
        return Chosen(*(_finished(xp, lists, nothing) for _ in Chosen._fields))
    # Absent alternatives are below all others.
    top = xp.max(lists.score, axis=0, keepdims=True)
    at_top = lists.there & (lists.score == top)
    correct = _mean(xp, lists.credit, at_top)
    if callable(confidence):
        ahead = _as_told(xp, confidence, lists.score)
    else:
        ahead = _margin(xp, lists.score, at_top, top[0, ...])
    return Chosen(
        *(_finished(xp, lists, x) for x in (correct, ahead, _mean(xp, lists.credit, lists.there)))
    )


class _Lists(NamedTuple):
    """The K alternatives of all questions, along the first axis.

    NumPy adds up short lists along a last axis several times slower.
    """

    score: Array  # (K, ...), floats, minus infinity where there is no alternative
    there: Array  # (K, ...)
    credit: Array  # (K, ...), in the widest float, zero where there is no alternative
    valid: Array | None  # (...); None: all are
    dtype: DType  # of the results


def _lists(scores: Any, right: Any, where: Any, axis: int) -> tuple[Namespace, _Lists]:
    """Check the arguments; raise at bad values of NumPy, and mark them elsewhere."""
    for name, value in (("scores", scores), ("right", right)):
        if value is None:
            raise TypeError(f"{name} must be an array, a list or a number; found None.")
    xp = namespace(scores=scores, right=right, where=where)
    score = as_array(xp, scores)
    if kind_of(xp, score.dtype) == "other":
        raise TypeError(f"scores must hold real numbers; found dtype {score.dtype}.")
    if score.ndim == 0:
        raise ValueError("scores must have an axis of alternatives; found a single number.")
    if not hasattr(axis, "__index__") or not -score.ndim <= axis < score.ndim:
        raise ValueError(
            f"axis must be an integer from {-score.ndim} to {score.ndim - 1}; found {axis!r}."
        )
    dtype = score.dtype
    if kind_of(xp, dtype) != "real floating":
        dtype, score = default_float(xp, score), xp.astype(score, widest_float(xp, score))
    score = contiguous(xp, move_axis(xp, without_subnormals(xp, score), axis, 0))
    there = _there(xp, where, score, axis)
    credit, sound = _credit(xp, right, score, axis)
    credit = xp.where(there, credit, 0.0)
    is_empty = ~xp.any(there, axis=0)
    sound = sound & (xp.any(credit > 0, axis=0) | is_empty)
    problems = (
        ("scores", is_empty, _EMPTY),
        ("scores", xp.any(there & xp.isnan(score), axis=0), _MISSING),
        ("right", ~sound | xp.any((credit < 0) | ~(credit <= 1), axis=0), _OUTSIDE),
    )
    valid = None
    if values_are_at_hand(xp):
        for argument, bad, (problem, remedy) in problems:
            position = first_position(bad)
            if position is not None:
                raise BadValue(argument, problem, remedy, position=position)
    else:
        valid = ~(problems[0][1] | problems[1][1] | problems[2][1])
    return xp, _Lists(xp.where(there, score, -xp.inf), there, credit, valid, dtype)


_EMPTY = (
    "must have at least one alternative for each question; the one {place} has none",
    "Leave such questions out.",
)
_MISSING = (
    "must not hold NaN; an alternative of the question {place} has no score",
    "Leave it out with {where:=}, or give it the lowest score of all.",
)
_OUTSIDE = (
    "must name an alternative that is in the list, or hold credits between 0 and 1, not all of "
    "them 0; that of the question {place} does not",
    "Count alternatives from 0, and leave questions out that have no right one.",
)


def _there(xp: Namespace, where: Any, score: Array, axis: int) -> Array:
    if where is None:
        return xp.ones(score.shape, dtype=xp.bool, device=device_of(xp, score))
    where = as_array(xp, where, score)
    if kind_of(xp, where.dtype) != "bool":
        raise TypeError(f"where must be boolean; found dtype {where.dtype}. Pass where != 0.")
    return _beside(xp, "where", where, score, axis)


def _credit(xp: Namespace, right: Any, score: Array, axis: int) -> tuple[Array, Array]:
    """Return the credit of each alternative, and for which questions there is one to be had."""
    right = as_array(xp, right, score)
    kind = kind_of(xp, right.dtype)
    if right.ndim >= score.ndim:
        if kind == "other":
            raise TypeError(f"right must hold numbers or booleans; found dtype {right.dtype}.")
        credit = xp.astype(_beside(xp, "right", right, score, axis), widest_float(xp, score))
        return credit, xp.ones(score.shape[1:], dtype=xp.bool, device=device_of(xp, score))
    if kind != "integral":
        raise TypeError(
            f"right has {right.ndim} axes and dtype {right.dtype}, beside scores of {score.ndim} "
            f"axes. Pass one whole index for each question, or a mask in the shape of the scores."
        )
    right = _broadcast(xp, "right", xp.astype(right, default_int(xp, score)), score.shape[1:])
    number, *questions = score.shape
    alternatives = xp.arange(number, dtype=right.dtype, device=device_of(xp, score))
    alternatives = xp.reshape(alternatives, (number, *(1 for _ in questions)))
    credit = xp.astype(alternatives == right[None, ...], widest_float(xp, score))
    return credit, (right >= 0) & (right < number)


def _beside(xp: Namespace, name: str, array: Array, score: Array, axis: int) -> Array:
    """Return what is given for each alternative, along the first axis; questions may share it.

    A column would be read as the same for all alternatives, which is never meant.
    """
    given = tuple(array.shape)
    if 0 < array.ndim < score.ndim:  # the same for all questions, alternatives last
        array, axis = xp.reshape(array, (1,) * (score.ndim - array.ndim) + given), -1
    if array.ndim == score.ndim:
        array = move_axis(xp, array, axis, 0)
    if array.ndim == 0 or array.shape[0] != score.shape[0]:
        raise ValueError(
            f"{name} has shape {given} beside {score.shape[0]} alternatives of questions of shape "
            f"{tuple(score.shape[1:])}. Pass one value for each alternative."
        )
    return _broadcast(xp, name, contiguous(xp, array), score.shape)


def _broadcast(xp: Namespace, name: str, array: Array, shape: tuple[int, ...]) -> Array:
    try:
        return xp.broadcast_to(array, shape)
    except (ValueError, RuntimeError, TypeError) as error:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}, which does not fit to {tuple(shape)}, that of "
            f"the scores. Pass one value for each question, or for each of its alternatives."
        ) from error


def _mean(xp: Namespace, credit: Array, among: Array) -> Array:
    """Return the mean credit of some of the alternatives."""
    number = xp.sum(xp.astype(among, credit.dtype), axis=0)
    earned = xp.sum(xp.where(among, credit, 0.0), axis=0)
    return earned / xp.where(number > 0, number, 1.0)


def _margin(xp: Namespace, score: Array, at_top: Array, top: Array) -> Array:
    """Return how far the highest score is ahead; infinitely far if there is no other."""
    second = xp.max(xp.where(at_top, -xp.inf, score), axis=0)
    is_alone = second == -xp.inf
    margin = difference_of_arrays(xp, top, xp.where(is_alone, 0.0, second))
    margin = xp.where(is_alone, xp.inf, margin)
    tied = xp.sum(xp.astype(at_top, score.dtype), axis=0) > 1
    return xp.where(tied, 0.0, margin)


def _as_told(xp: Namespace, confidence: Callable[[Any], Any], score: Array) -> Array:
    """Return the caller's confidence of the scores in order, so that no place is special."""
    ordered = xp.flip(xp.sort(move_axis(xp, score, 0, -1), axis=-1), axis=-1)
    ahead = as_array(xp, confidence(scalar_if_numpy(xp, ordered)), score)
    if tuple(ahead.shape) != tuple(score.shape[1:]):
        raise ValueError(
            f"confidence must return one number for each question; found shape "
            f"{tuple(ahead.shape)} for questions of shape {tuple(score.shape[1:])}."
        )
    return xp.astype(ahead, score.dtype)


def _finished(xp: Namespace, lists: _Lists, result: Array) -> Array:
    if lists.valid is not None:
        result = xp.where(lists.valid, result, xp.nan)
    with quietly(xp):
        return scalar_if_numpy(xp, xp.astype(result, lists.dtype, copy=False))
