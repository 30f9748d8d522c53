"""The laws of methods of causal discovery, and the search for pairs on which a method breaks them.

A method says by one number which of two variables is the cause. A law says what may be done to the
variables and what becomes of the score. Metrics are tried on small random data
sets, methods on pairs of the caller: what they make of a few random numbers says little about them,
and they may be slow. The smallest counter-example is the shortest pair that breaks a law, with rows
left out as long as it does.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from lxcim_xp._arrays.typing import NumpyArray
from lxcim_xp._samples.any_metric import name_of
from lxcim_xp._samples.errors import BadType, BadValue
from lxcim_xp.invariance.search import Pair

Method = Callable[[Any, Any], Any]
Sides = tuple[Any, Any]  # x and y, each an array of floats

_LARGEST_EXPONENT = 10  # scales are 2**-10 ... 2**10, about a thousandth to a thousand
_UNCHANGED = np.asarray([1.0, 0.0, 1.0, 0.0])  # the scale and the shift of x, and of y


class MethodLaw(NamedTuple):
    """What may be done to a pair, and what becomes of the score."""

    statement: str
    draw: Callable[[np.random.Generator, Any, Any], Any]  # an action for a pair
    apply: Callable[[Any, Any, Any], Sides]  # the pair after the action
    opposite: bool = False  # whether the score gets the other sign
    sign_only: bool = False  # whether its size is of no concern
    per_row: bool = False  # whether the action has an entry for each row


class Answer(NamedTuple):
    """What a method says about a pair; NaN and infinity are no answer."""

    score: float
    error: Exception | None = None


class MethodSubject(NamedTuple):
    """A method under audit, the pairs it is put to and its answers."""

    method: Method
    pairs: list[Sides]
    stored: list[Answer]
    swapped: Callable[[], list[Answer]]  # with y first; computed when first asked for
    size: float  # of a typical score
    tolerance: float  # relative to it, or to a larger score
    seed: int
    tries: int  # of shrinking, for each counter-example


class Outcome(NamedTuple):
    """Whether a law holds, the smallest counter-example, and how far it is from holding."""

    holds: bool | None
    pair: Pair | None = None
    remark: str = ""


def _nothing(rng: np.random.Generator, x: Any, y: Any) -> Any:
    return None


def _swap(x: Any, y: Any, action: Any) -> Sides:
    return y, x


def _draw_units(rng: np.random.Generator, x: Any, y: Any) -> Any:
    return np.asarray([part for side in (x, y) for part in _draw_unit(rng, side)])


def _draw_unit(rng: np.random.Generator, side: Any) -> tuple[float, float]:
    """Draw a scale and a shift that lose as few digits as can be.

    A breach must be the method's and not that of rounding. To scale by a power of two is exact. A
    shift by one loses nothing where the data have digits to spare, as whole numbers and recorded
    decimals often do in one of the two directions. It is about as large as the range: a larger one
    would cost digits of every value, and a smaller one would not be noticed.
    """
    scale = 2.0 ** int(rng.choice([-1, 1]) * rng.integers(1, _LARGEST_EXPONENT + 1))
    finite = side[np.isfinite(side)]
    extent = np.ptp(finite) if finite.size else 0.0
    shift = float(rng.choice([-1, 1])) * float(np.ldexp(1.0, np.frexp(extent or 1.0)[1]))
    exact = [s for s in (shift, -shift) if np.array_equal((side + s) - s, side, equal_nan=True)]
    distinct = np.unique(side).size
    # What would tie after a shift is another data set to a method of ranks or gaps.
    apart = [s for s in (shift, -shift) if np.unique(side + s).size == distinct]
    return scale, next(iter([*exact, *apart]), 0.0)


def _draw_reflection(rng: np.random.Generator, x: Any, y: Any) -> Any:
    action = _UNCHANGED.copy()
    action[rng.choice([0, 2])] = -1.0
    return action


def _change_units(x: Any, y: Any, action: Any) -> Sides:
    return action[0] * (x + action[1]), action[2] * (y + action[3])


def _draw_keys(rng: np.random.Generator, x: Any, y: Any) -> Any:
    return rng.random(x.size)


def _sort_by(x: Any, y: Any, keys: Any) -> Sides:
    order = np.argsort(keys)
    return x[order], y[order]


METHOD_LAWS = {
    "antisymmetry": MethodLaw(
        "swapping x and y changes the sign of the score and nothing else",
        _nothing,
        _swap,
        opposite=True,
    ),
    "orientation": MethodLaw(
        "a coin that decides which variable comes first does not change the share of right answers",
        _nothing,
        _swap,
        opposite=True,
        sign_only=True,
    ),
    "affine": MethodLaw(
        "positive scales and shifts leave the score as it is",
        _draw_units,
        _change_units,
    ),
    "reflection": MethodLaw(
        "the negation of x or y leaves the score as it is",
        _draw_reflection,
        _change_units,
    ),
    "permutation": MethodLaw(
        "another order of the rows leaves the score as it is",
        _draw_keys,
        _sort_by,
        per_row=True,
    ),
}
STATEMENTS = {name: law.statement for name, law in METHOD_LAWS.items()} | {
    "answer": "a finite number for every pair, whichever variable comes first"
}


def method_subject(
    method: Method, pairs: Iterable[Any], tolerance: float, calls: int, rng: np.random.Generator
) -> MethodSubject:
    """Put a method to pairs of variables."""
    if not callable(method):
        raise BadType(
            "method",
            "must be a function of two variables; found {found}",
            "Pass the function, not what it returns.",
            found=f"{method!r:.80}",
        )
    sides = _checked(pairs)
    stored = [_ask(method, *pair, position) for position, pair in enumerate(sides)]
    sizes = [abs(answer.score) for answer in stored if np.isfinite(answer.score)]
    if not sizes:
        error = stored[0].error
        raise BadValue(
            "method",
            "has no answer to any of the pairs; {name} {reason} {place}",
            "Check that it takes two arrays of one axis and returns a number.",
            position=0,
            name=name_of(method),
            reason=_reason(stored[0]),
        ) from error

    @cache
    def swapped() -> list[Answer]:
        return [_ask(method, y, x, position) for position, (x, y) in enumerate(sides)]

    size, seed = float(np.median(sizes)), int(rng.integers(2**63))
    return MethodSubject(method, sides, stored, swapped, size, tolerance, seed, calls // 2)


def try_law(subject: MethodSubject, name: str) -> Outcome:
    """Try a law on every pair, and look for the smallest counter-example."""
    if name == "answer":
        return _try_answers(subject)
    law = METHOD_LAWS[name]
    actions = [law.draw(_generator(subject, pair), *pair) for pair in subject.pairs]
    if law.apply is _swap:
        answers = subject.swapped()
    else:
        answers = [
            _ask(subject.method, *law.apply(*pair, action), position)
            for position, (pair, action) in enumerate(zip(subject.pairs, actions, strict=True))
        ]
    before = np.asarray([answer.score for answer in subject.stored])
    after = np.asarray([answer.score for answer in answers])
    both = np.isfinite(before) & np.isfinite(after)
    if law.sign_only and not both.any():
        return Outcome(None, remark="no pair has an answer in both orientations")
    broken = _breaks(subject, law, before, after)
    if not broken.any():
        return Outcome(True)
    remark = f"{broken.sum()} of {broken.size} pairs"
    if law.sign_only:
        as_stored, swapped = _rightness(before[both]).mean(), _rightness(-after[both]).mean()
        remark += (
            f", {100 * as_stored:.3g} % right as stored, "
            f"{50 * (as_stored + swapped):.3g} % in a random orientation"
        )
    else:
        wanted = -before if law.opposite else before
        signs = int((broken & both & (np.sign(wanted) != np.sign(after))).sum())
        remark += f", {signs} sign{'' if signs == 1 else 's'}"
        lost = int((broken & ~both).sum())
        remark += f", {lost} answered only before or only after" if lost else ""
    place = _shortest(subject, broken)
    scores = (float(before[place]), float(after[place]))
    return Outcome(False, _smallest(subject, law, place, actions[place], *scores), remark)


def _try_answers(subject: MethodSubject) -> Outcome:
    ways = [
        (answer, pair if first else pair[::-1])
        for first, answers in ((True, subject.stored), (False, subject.swapped()))
        for answer, pair in zip(answers, subject.pairs, strict=True)
    ]
    n = len(subject.pairs)
    silent = np.asarray([not np.isfinite(answer.score) for answer, _ in ways]).reshape(2, n)
    if not silent.any():
        return Outcome(True)
    place = _shortest(subject, silent.any(axis=0))
    answer, pair = ways[place if silent[0, place] else place + n]
    answer, pair = _smallest_silent(subject, answer, pair)
    remark = f"{silent.any(axis=0).sum()} of {n} pairs, {_reason(answer)}"
    return Outcome(False, Pair(pair, pair, answer.score, answer.score), remark)


def _checked(pairs: Iterable[Any]) -> list[Sides]:
    """Return the sides of each pair as floats."""
    try:
        items = list(pairs)
    except TypeError as error:
        raise BadType(
            "pairs",
            "must be a sequence of pairs (x, y); found {found}",
            "Pass [(x, y)] for a single pair.",
            found=f"{pairs!r:.80}",
        ) from error
    if not items:
        raise BadValue(
            "pairs",
            "must hold at least one pair (x, y); found none",
            "Pass [(x, y)] for a single pair.",
        )
    return [_checked_pair(item, position) for position, item in enumerate(items)]


def _checked_pair(item: Any, position: int) -> Sides:
    problem = partial(BadValue, "pairs", position=position)
    if hasattr(item, "x") and hasattr(item, "y"):
        sides: tuple[Any, ...] = (item.x, item.y)
    else:
        try:
            sides = tuple(item)
        except TypeError:
            sides = ()
    if len(sides) != 2:
        raise problem(
            "must hold pairs (x, y), or items with fields x and y; found {found} {place}",
            "Pass [(x, y)] for a single pair.",
            found=f"{type(item).__name__} of {len(sides)} items" if sides else f"{item!r:.80}",
        )
    x, y = (_checked_side(side, name, problem) for side, name in zip(sides, "xy", strict=True))
    if x.size != y.size:
        raise problem(
            "must hold sides of equal length; found {n_x} values of x and {n_y} of y {place}",
            "Pass one value of each variable for every row.",
            n_x=x.size,
            n_y=y.size,
        )
    return x, y


def _checked_side(side: Any, name: str, problem: Callable[..., BadValue]) -> NumpyArray:
    if isinstance(side, np.ma.MaskedArray):
        raise problem(
            "must hold arrays without a mask; found a masked one as {side} {place}",
            "Leave out the masked rows of both variables.",
            side=name,
        )
    try:
        array: NumpyArray = np.asarray(side)
        if array.dtype.kind in "biufO":
            array = array.astype(np.float64)
    except (TypeError, ValueError):  # ragged lists, words among numbers
        array = np.asarray("")
    if array.dtype.kind != "f":
        raise problem(
            "must hold real numbers; found {found} as {side} {place}",
            "Convert the values to numbers first.",
            found=f"{side!r:.80}",
            side=name,
        )
    if array.ndim != 1 or not array.size:
        raise problem(
            "must hold variables of one axis and at least one row; found {side} of shape {shape} "
            "{place}",
            "Pass one column, or drop the pair.",
            side=name,
            shape=array.shape,
        )
    return array


def _ask(method: Method, x: Any, y: Any, position: int | None = None) -> Answer:
    """Return what a method says, on copies that it may write to.

    What is no number is an error if the pair is one of the caller's, with a position, and no answer
    if it is a few rows of one.
    """
    try:
        value = method(x.copy(), y.copy())
    except Exception as error:  # a finding
        return Answer(np.nan, error)
    if value is None:
        return Answer(np.nan)
    try:
        if isinstance(value, np.ma.MaskedArray):
            value = np.ma.filled(np.ma.asarray(value, np.float64), np.nan)
        array = np.asarray(value)
        if array.size == 1 and array.dtype.kind in "biufO":
            return Answer(float(array.reshape(-1)[0]))
        found = f"an array of shape {array.shape}" if array.ndim else f"{value!r:.80}"
    except (OverflowError, RuntimeError, TypeError, ValueError):
        found = f"{value!r:.80}"
    if position is None:
        return Answer(np.nan)
    raise BadValue(
        "method",
        "must return one number; {name} returned {found} for the pair {place}",
        "Wrap it in a function that returns the number you mean.",
        position=position,
        name=name_of(method),
        found=found,
    )


def _reason(answer: Answer) -> str:
    if answer.error is None:
        return f"returned {answer.score:g}"
    said = " ".join(str(answer.error).split())  # of several lines, one
    return f"raised {type(answer.error).__name__}: {said:.200}"


def _generator(subject: MethodSubject, pair: Sides) -> np.random.Generator:
    """Return random numbers that depend on the pair and not on its place among the others."""
    return np.random.default_rng([subject.seed, *(crc32(side.tobytes()) for side in pair)])


def _breaks(subject: MethodSubject, law: MethodLaw, before: Any, after: Any) -> Any:
    """Say where scores are not what a law makes of them, beyond rounding."""
    before, after = np.asarray(before), np.asarray(-after if law.opposite else after)
    answered, still = np.isfinite(before), np.isfinite(after)
    both = answered & still
    low, high = np.where(both, before, 0.0), np.where(both, after, 0.0)
    # Scores are often differences: one near zero has the rounding errors of larger numbers.
    size = np.maximum(np.maximum(np.abs(low), np.abs(high)), subject.size)
    differ: NumpyArray = np.abs(high - low) > subject.tolerance * size
    if law.sign_only:
        return differ & (np.sign(low) != np.sign(high))
    return differ | (answered != still)


def _rightness(score: Any) -> Any:
    """Return 1 for a right answer, 1/2 for an undecided one and 0 for a wrong one."""
    return (1 + np.sign(score)) / 2


def _shortest(subject: MethodSubject, which: Any) -> int:
    return min(np.flatnonzero(which).tolist(), key=lambda place: subject.pairs[place][0].size)


def _smallest(
    subject: MethodSubject, law: MethodLaw, place: int, action: Any, before: float, after: float
) -> Pair:
    """Return a counter-example with as few rows, and then as few changes, as tries allow."""
    x, y = subject.pairs[place]

    def shown(rows: Any, action: Any) -> tuple[Sides, Sides]:
        sides = (x[rows], y[rows])
        return sides, law.apply(*sides, action[rows] if law.per_row else action)

    def tried(rows: Any, action: Any) -> Pair:
        both = shown(rows, action)
        return Pair(*both, *(_ask(subject.method, *sides).score for sides in both))

    def breaks(pair: Pair) -> bool:
        # Few rows may have no answer, which would be another breach.
        alike = all(
            np.isfinite(value) == np.isfinite(found)
            for value, found in ((before, pair.value_before), (after, pair.value_after))
        )
        return alike and bool(_breaks(subject, law, pair.value_before, pair.value_after))

    start = Pair(*shown(np.arange(x.size), action), before, after)
    best, rows, tries = _fewest_rows(
        partial(tried, action=action), breaks, start, subject.tries, x.size
    )
    if law.apply is _change_units:
        for part in np.flatnonzero(action != _UNCHANGED)[:tries]:
            less = action.copy()
            less[part] = _UNCHANGED[part]
            if breaks(pair := tried(rows, less)):
                best, action = pair, less
    return best


def _smallest_silent(subject: MethodSubject, answer: Answer, pair: Sides) -> tuple[Answer, Sides]:
    """Return as few rows of a pair without an answer as still say why there is none.

    Hardly a method has an answer to one or two rows. So rows are left out only while the method
    answers another pair of so many, and fails here in the same way.
    """
    answered = [at for at, answer in enumerate(subject.stored) if np.isfinite(answer.score)]
    control = max((subject.pairs[at] for at in answered), key=lambda pair: pair[0].size)

    @cache
    def answers(size: int) -> bool:
        x, y = control
        return bool(np.isfinite(_ask(subject.method, x[:size], y[:size]).score))

    def tried(rows: Any) -> tuple[Answer, Sides]:
        x, y = pair[0][rows], pair[1][rows]
        return _ask(subject.method, x, y), (x, y)

    def silent(found: tuple[Answer, Sides]) -> bool:
        alike = type(found[0].error) is type(answer.error) and not np.isfinite(found[0].score)
        return alike and answers(found[1][0].size)

    return _fewest_rows(tried, silent, (answer, pair), subject.tries, pair[0].size)[0]


def _fewest_rows(
    of_rows: Callable[[Any], Any], breaks: Callable[[Any], bool], best: Any, tries: int, n: int
) -> tuple[Any, Any, int]:
    """Leave out halves of the rows, quarters, ... and single rows, as long as the law is broken.

    Returns what is left, its rows, and the tries that are left.
    """
    rows = np.arange(n)
    size = n // 2
    while size:
        start, smaller = 0, False
        while start < rows.size:
            if not tries:
                return best, rows, 0
            tries -= 1
            fewer = np.delete(rows, slice(start, start + size))
            if fewer.size and breaks(tried := of_rows(fewer)):
                best, rows, smaller = tried, fewer, True
            else:
                start += size
        # Once more with the same size, as what was left out makes room for more.
        size = min(size if smaller else size // 2, rows.size // 2)
    return best, rows, tries
