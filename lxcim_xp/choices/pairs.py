"""Scored items as pairs: within each query, whether the model ranks the more relevant one higher.

How many pairs there are depends on the values, so that the pairs are found with NumPy; margins are
differences of the caller's scores, in the caller's library. Pairs are counted by sorting items by
relevance. They have numbers, from which each is found by itself: a sample of them never needs them
all.
"""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from lxcim_xp._arrays.autodiff import constant
from lxcim_xp._arrays.namespaces import (
    NUMPY,
    as_array,
    copied_to_numpy,
    default_float,
    from_numpy,
    kind_of,
    library_name,
    moves_constants,
    namespace,
    widest_float,
)
from lxcim_xp._arrays.primitives import first_position, quietly, take
from lxcim_xp._arrays.typing import Array, ArrayLike, GroupsLike, Namespace, NumpyArray
from lxcim_xp._samples.differences import difference_of_arrays
from lxcim_xp._samples.errors import DROP_OR_WEIGH, BadValue

Weighting: TypeAlias = Literal["query", "pair"]
_WEIGHTINGS = get_args(Weighting)

_ORDINARY = 900  # up to this power of two, products of weights stay as they are


class ItemPairs(NamedTuple):
    """Pairs of items, as :func:`pairs_of_items` returns them.

    Parameters
    ----------
    label : array of {0, 1}
        Whether the first item of the pair, the earlier one of the input, is the more relevant.
    margin : array
        The score of the first item minus that of the second, as decimals where they are some, so
        that equal differences tie; 0 for equal scores.
    weight : array
        What the pair counts.
    cluster : array
        The group of the pair, to pass as ``groups=`` to intervals and comparisons.

    Examples
    --------
    >>> from lxcim_xp.choices import pairs_of_items
    >>> pairs_of_items([1, 0], [0.5, 2.0], [7, 7])
    ItemPairs(label=array([1]), margin=array([-1.5]), weight=array([1.]), cluster=array([7]))
    """

    label: Array
    margin: Array
    weight: Array
    cluster: Array


@moves_constants
def pairs_of_items(
    relevance: ArrayLike,
    score: ArrayLike,
    groups: GroupsLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_pairs: int | None = None,
    seed: int | np.random.Generator = 0,
    weighting: Weighting = "query",
) -> ItemPairs:
    """Return the pairs of items of one group that differ in relevance, as labels and margins.

    For models that rank: is the more relevant item of a query scored higher, and is a large
    difference of scores more to be trusted than a small one?

    Parameters
    ----------
    relevance : array
        How relevant each item is: grades, clicks, or any numbers of which higher is better. Items
        of equal relevance make no pair.
    score : array
        The scores of the items.
    groups : array
        The query (or user, or session) of each item; pairs are made within it. Any labels with
        NumPy, integers elsewhere.
    sample_weight : array, optional
        Weights of the items, finite and not negative. A pair has the product of its two weights, as
        if each item stood there so many times. An item of weight 0 is absent, whatever it holds.
    max_pairs : int, optional
        How many pairs to return at most. If there are more, so many are drawn, and memory does not
        grow with their number; all of them by default.
    seed : int or numpy.random.Generator, default 0
        Where the draws come from.
    weighting : {"query", "pair"}, default "query"
        What counts once: each group that has pairs, whose pairs share its weight, or each pair, so
        that large groups count more.

    Returns
    -------
    ItemPairs
        ``label``, ``margin``, ``weight`` and ``cluster``, to pass on as ``lxcim(label, margin,
        sample_weight=weight)``; the margins in the library, device and dtype of ``score``. Groups
        without a difference in relevance are not in it.

    See Also
    --------
    lxcim_xp.interval : Takes ``groups=pairs.cluster``: pairs of one query are not independent.

    Notes
    -----
    Drawn pairs come evenly from all of them: their range is cut into ``max_pairs`` equal parts,
    with one random place in each. With ``weighting="query"`` each group has an equal share of that
    range, whatever its size. Sums of weights, and so accuracy without item weights, keep their
    expectation; that of LxCIM is off by 1 / (4 max_pairs) at most. Item weights do not steer the
    draws, but are in the weights of what is drawn.

    The number of pairs depends on the values, so that this cannot be traced by ``jit``, ``vmap`` or
    ``torch.compile``. Only the values of ``score`` are not looked at (unless they are NumPy's):
    scores may be traced beside lists, and margins have gradients.

    Examples
    --------
    Two queries, with grades of relevance and the scores of a model. The first has two pairs, since
    two of its three documents are equally relevant:

    >>> from lxcim_xp import accuracy, lxcim
    >>> from lxcim_xp.choices import pairs_of_items
    >>> query = ["a", "a", "a", "b", "b"]
    >>> pairs = pairs_of_items([2, 0, 0, 1, 3], [0.5, 0.25, 1.0, 0.0, 2.0], query)
    >>> pairs.label, pairs.margin, pairs.weight
    (array([1, 1, 0]), array([ 0.25, -0.5 , -2.  ]), array([0.5, 0.5, 1. ]))
    >>> accuracy(pairs.label, pairs.margin, sample_weight=pairs.weight)
    np.float64(0.75)
    >>> lxcim(pairs.label, pairs.margin, sample_weight=pairs.weight)
    np.float64(0.8125)
    """
    if weighting not in _WEIGHTINGS:
        raise ValueError(f"weighting must be one of {_WEIGHTINGS}; found {weighting!r}.")
    limit = _checked_limit(max_pairs)
    xp, score = _scores(relevance, score, groups, sample_weight)
    columns = {"relevance": relevance, "groups": groups}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    held = {name: _held(xp, name, value, score) for name, value in columns.items()}
    present = _checked(xp, held, score)
    ladder = _ladder(held["relevance"], held["groups"], held.get("sample_weight"), present)
    if limit is None or ladder.pairs_before[-1] <= limit:
        pairs = _all_pairs(ladder, weighting)
    else:
        pairs = _drawn_pairs(ladder, limit, np.random.default_rng(seed), weighting)
    upper, lower = ladder.item[pairs.upper], ladder.item[pairs.lower]
    first, second = (from_numpy(xp, pick(upper, lower), score) for pick in (np.minimum, np.maximum))
    one, other = take(xp, score, first), take(xp, score, second)
    margin = _difference(xp, one, other)
    label = from_numpy(xp, (upper < lower).astype(np.int64), score)
    weights = xp.astype(from_numpy(xp, pairs.weight, score), widest_float(xp, score), copy=False)
    return ItemPairs(label, margin, weights, from_numpy(xp, held["groups"][upper], score))


class _Ladder(NamedTuple):
    """The items by group and then by relevance; an item makes a pair with each below its step."""

    item: NumpyArray  # where each stood in the input
    group: NumpyArray  # numbers from 0
    start: NumpyArray  # where the group of each begins
    below: NumpyArray  # how many items of the group are less relevant
    pairs_before: NumpyArray  # (n + 1): of how many pairs an item before this one is the upper
    weight: NumpyArray | None


class _Pairs(NamedTuple):
    upper: NumpyArray  # places on the ladder
    lower: NumpyArray
    weight: NumpyArray


def _ladder(
    relevance: NumpyArray, groups: NumpyArray, weight: NumpyArray | None, present: NumpyArray
) -> _Ladder:
    kept = np.flatnonzero(present)
    relevance, group = relevance[kept], _numbered(groups[kept])
    order = np.lexsort((relevance, group))
    relevance, group = relevance[order], group[order]
    opens = np.ones(order.size, dtype=bool)
    opens[1:] = group[1:] != group[:-1]
    steps = opens.copy()
    steps[1:] |= relevance[1:] != relevance[:-1]
    place = np.arange(order.size)
    start, step = (np.maximum.accumulate(np.where(at, place, 0)) for at in (opens, steps))
    below = step - start
    before = np.concatenate([[0], np.cumsum(below)])
    if weight is not None:
        weight = weight[kept][order]
    return _Ladder(kept[order], group, start, below, before, weight)


def _numbered(groups: NumpyArray) -> NumpyArray:
    try:
        return np.unique(groups, return_inverse=True)[1].reshape(-1)
    except TypeError as error:  # objects of several kinds, None among words
        raise TypeError(
            f"groups must hold labels of one kind, which can be put in order: {error}. Drop items "
            f"without a group, or number the groups."
        ) from error


def _all_pairs(ladder: _Ladder, weighting: str) -> _Pairs:
    """Return all pairs, one upper item after the other."""
    number = int(ladder.pairs_before[-1])
    upper = np.repeat(np.arange(ladder.item.size), ladder.below)
    lower = ladder.start[upper] + np.arange(number) - ladder.pairs_before[:-1][upper]
    return _Pairs(upper, lower, _weight(ladder, upper, lower, weighting))


def _drawn_pairs(ladder: _Ladder, limit: int, rng: np.random.Generator, weighting: str) -> _Pairs:
    """Return some of the pairs, by their numbers, with weights that make up for the others."""
    before = ladder.pairs_before
    share = (np.arange(limit) + rng.random(limit)) / limit  # rises through all pairs
    if weighting == "pair":
        number = (share * before[-1]).astype(np.int64)
        stands_for = np.asarray(before[-1] / limit)
    else:
        opens = np.flatnonzero(ladder.start == np.arange(ladder.item.size))
        first = before[opens]
        size = np.append(first[1:], before[-1]) - first
        first, size = first[size > 0], size[size > 0]
        among = share * size.size
        group = np.minimum(among.astype(np.int64), size.size - 1)
        within = ((among - group) * size[group]).astype(np.int64)
        number = first[group] + np.minimum(within, size[group] - 1)
        stands_for = size[group] * (size.size / limit)
    number = np.minimum(number, before[-1] - 1)  # a share may be rounded to 1
    upper = np.searchsorted(before, number, side="right") - 1
    lower = ladder.start[upper] + number - before[upper]
    return _Pairs(upper, lower, _weight(ladder, upper, lower, weighting) * stands_for)


def _weight(ladder: _Ladder, upper: NumpyArray, lower: NumpyArray, weighting: str) -> NumpyArray:
    """Return the weights of pairs, where those of a group add up to 1 if queries count."""
    weight = ladder.weight
    if not upper.size or (weight is None and weighting == "pair"):
        return np.ones(upper.size)
    if weight is None:
        return 1.0 / np.bincount(ladder.group, ladder.below)[ladder.group[upper]]
    # Products of weights may leave the range of floats where their proportions do not: numbers from
    # 1/2 to 1 are multiplied, and powers of two added up.
    part, power = np.frexp(weight)
    product, powers = part[upper] * part[lower], power[upper] + power[lower]
    if weighting == "pair":
        unit = powers.max() if np.abs(powers).max() > _ORDINARY else 0
        return np.ldexp(product, powers - unit)
    has_pairs = np.flatnonzero(ladder.below)
    below, power_below = np.frexp(_weight_below(ladder, weight)[has_pairs])
    group, power_of_both = ladder.group[has_pairs], power[has_pairs] + power_below
    highest = np.full(ladder.group[-1] + 1, np.iinfo(power.dtype).min)
    np.maximum.at(highest, group, power_of_both)
    both = np.ldexp(part[has_pairs] * below, power_of_both - highest[group])
    whole = np.bincount(group, both)
    group = ladder.group[upper]
    return np.ldexp(product / whole[group], powers - highest[group])


def _weight_below(ladder: _Ladder, weight: NumpyArray) -> NumpyArray:
    """Return the weight of the less relevant items of the group of each item.

    Sums over a group are added up inside it: as differences of sums over all groups, those of
    light items would be lost. A sum of twice as many items comes from two sums, so that few passes
    do.
    """
    place = np.arange(weight.size) - ladder.start
    through, reach = weight.copy(), 1
    while reach <= place.max(initial=0):
        through[reach:] += np.where(place[reach:] >= reach, through[:-reach], 0.0)
        reach *= 2
    last_below = np.maximum(ladder.start + ladder.below - 1, 0)
    return np.where(ladder.below > 0, through[last_below], 0.0)


def _difference(xp: Namespace, one: Array, other: Array) -> Array:
    """Return a difference of decimals as they are written, with the derivative of a difference."""
    written = xp.astype(difference_of_arrays(xp, one, other), one.dtype, copy=False)
    with quietly(xp):
        raw = xp.where(one == other, xp.zeros_like(one), one - other)  # infinite ones too
        step = constant(xp, written - raw)
        # Close floats have an exact difference, so that the sum is what is written.
        return raw + xp.where(xp.isfinite(step), step, xp.zeros_like(step))


def _checked_limit(max_pairs: Any) -> int | None:
    if max_pairs is None:
        return None
    try:
        limit = operator.index(max_pairs)
    except TypeError:
        limit = 0
    if limit < 1:
        raise ValueError(f"max_pairs must be a whole number of at least 1; found {max_pairs!r}.")
    return limit


def _scores(relevance: Any, score: Any, groups: Any, weight: Any) -> tuple[Namespace, Array]:
    arrays = {"score": score, "relevance": relevance, "sample_weight": weight}
    xp = namespace(**arrays)
    if xp is not NUMPY:  # beside whose arrays labels may be anything
        namespace(**arrays, groups=groups)
    array = as_array(xp, score)
    if kind_of(xp, array.dtype) == "other":
        raise TypeError(f"score must hold real numbers; found dtype {array.dtype}.")
    if array.ndim != 1:
        raise ValueError(
            f"score must have one axis, that of the items; found shape {tuple(array.shape)}."
        )
    if kind_of(xp, array.dtype) != "real floating":
        array = xp.astype(array, default_float(xp, array))
    return xp, array


def _held(xp: Namespace, name: str, value: Any, score: Array) -> NumpyArray:
    """Return an argument as a NumPy array, one value for each item."""
    belongs_to_none = xp is NUMPY or isinstance(value, list | tuple)
    held: NumpyArray = np.asarray(value) if belongs_to_none else copied_to_numpy(xp, value)
    if held is None:
        raise TypeError(
            f"pairs_of_items needs the values of {name}: how many pairs there are depends on them, "
            f"so that it cannot be traced. Make the pairs outside of jit, vmap and torch.compile."
        )
    if name == "groups":
        if xp is not NUMPY and kind_of(NUMPY, held.dtype) != "integral":
            raise TypeError(
                f"groups must hold integers beside {library_name(xp)} arrays; found dtype "
                f"{held.dtype}. Number the groups from 0."
            )
    elif kind_of(NUMPY, held.dtype) == "other":
        raise TypeError(f"{name} must hold real numbers; found dtype {held.dtype}.")
    if held.shape != tuple(score.shape):
        raise ValueError(
            f"{name} has shape {held.shape} beside scores of shape {tuple(score.shape)}. Pass one "
            f"value for each item."
        )
    return held


def _checked(xp: Namespace, held: dict[str, NumpyArray], score: Array) -> NumpyArray:
    """Return which items are there; refuse bad values of these."""
    weight, relevance = held.get("sample_weight"), held["relevance"]
    present = np.ones(relevance.shape, dtype=bool)
    checks = []
    if weight is not None:
        present = weight != 0
        held["sample_weight"] = weight = weight.astype(np.float64)
        bad = ~np.isfinite(weight) | (weight < 0)
        checks.append(("sample_weight", bad, weight, "must be finite and not negative"))
    for name in ("relevance", "groups"):
        if held[name].dtype.kind == "f":
            checks.append((name, np.isnan(held[name]), held[name], "must not hold NaN"))
    if xp is NUMPY:
        values: NumpyArray = score
        checks.append(("score", np.isnan(values), values, "must not hold NaN"))
    for name, bad, value, demand in checks:
        position = first_position(bad & present)
        if position is not None:
            remedy = DROP_OR_WEIGH if name == "sample_weight" else "Give such items weight 0."
            raise BadValue(
                name,
                demand + "; found {value:g} {place}",
                remedy,
                position=position,
                value=value[position],
            )
    return present
