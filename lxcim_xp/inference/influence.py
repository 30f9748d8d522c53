"""How much each sample moves a metric: psi = w * d(metric)/dw, which sums to zero.

A kernel sorts samples once; the metric and the influence are then functions of the sorted columns,
so that other weights on the same samples (a bootstrap) need no second sort. Results stay in sorted
order: a standard error need not bring them back into the order of the input.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import NUMPY, values_are_at_hand
from lxcim_xp._arrays.numpy_pieces import computed
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics import numpy_unweighted
from lxcim_xp._numerics.ordering import Ordering, Ranked, has_integer_keys, ranked
from lxcim_xp._samples import formulas
from lxcim_xp._samples.by_confidence import (
    Descent,
    Stream,
    Summable,
    accuracy_parts,
    all_summed,
    columns_by_confidence,
    counted,
    descend,
    or_one,
    order_by_confidence,
    summed,
    sums_by_confidence,
    totals,
)
from lxcim_xp._samples.gain import Gain
from lxcim_xp._samples.samples import (
    Samples,
    collect,
    collect_scores,
    credit,
    positive_share,
    signed_confidence,
    weights,
)

# The share of pairs that a sample wins may be off by so many units in its last place, and by one
# more for each time that the number of samples doubles: sums are made pair by pair.
_ROUNDINGS = 4


class Influence(NamedTuple):
    """How much each sample moves a metric, as a formula of sorted columns.

    A standard error needs only the sum of the squares, so that no array of them is made.
    """

    formula: Callable[..., Array]
    descent: Any  # a Descent, or a Stream if only sums are needed


class Kernel(NamedTuple):
    """A metric that has an influence function."""

    sort: "Sort"
    estimate: Callable[[Namespace, Any], Array]  # (..., 1), of what was sorted
    influence: Callable[[Namespace, Any, Array], Influence]  # given the estimate
    steadied: Callable[[Namespace, Any, Array, Array], "Steadied"]
    collect: Callable[..., tuple[Namespace, Samples]] = collect  # samples from arguments
    added: int = 1  # how many observations steady it
    has_classes: bool = False  # whether it compares two classes, and rests on the smaller one


class Sort(NamedTuple):
    """How a metric sorts samples, for three needs: each does no more than it has to."""

    with_order: Callable[[Namespace, Samples], Descent]
    columns: Callable[[Namespace, Samples], Descent]
    sums: Callable[[Namespace, Samples], Summable]  # columns if a metric needs more


class Steadied(NamedTuple):
    """A metric after adding one observation that is half right and half wrong.

    The observation is spread over the confidences that are there. For AUROC it is half positive and
    half negative, and spread over the scores.
    """

    estimate: Array  # (..., 1)
    # A formula of the columns with three results: the influence of the samples before, and after,
    # and terms whose sum is the variance of a draw from the observation.
    formula: Callable[..., tuple[Array, Array, Array]]
    descent: Any  # as in Influence


def values(xp: Namespace, influence: Influence) -> Array:
    """Return the influence of each sample, (..., n), in sorted order."""
    return computed(xp, influence.formula, *influence.descent.columns)


def sum_of_squares(xp: Namespace, influence: Influence) -> Array:
    """Return the sum of the squared influences, (...)."""

    def squares(*columns: tuple[Array, ...]) -> Array:
        return influence.formula(*columns) ** 2

    return summed(xp, squares, influence.descent)


def sorted_weight(descent: Descent) -> Array:
    """Return the weights in sorted order."""
    return descent.columns[1].value


def reweighted(xp: Namespace, descent: Descent, factor: Array) -> Descent:
    """Multiply the weights, given in sorted order, without another sort."""
    columns = tuple(ranked(xp, descent.places, column.value * factor) for column in descent.columns)
    return descent._replace(columns=columns)


def _by_score(xp: Namespace, samples: Samples) -> Descent:
    """Sort the weights of the positives and of all from the highest score down."""
    positive = positive_share(xp, samples)
    positive = positive if samples.weight is None else positive * samples.weight
    return descend(xp, samples.score, samples.weight, positive, samples.weight)


def _sums_by_score(xp: Namespace, samples: Samples) -> Summable:
    """Sort the same columns for callers that only need sums; as a stream where possible."""
    counted = samples.weight is None and samples.share is None and samples.score.ndim == 1
    if xp is NUMPY and counted and has_integer_keys(xp, samples.score):
        found = numpy_unweighted.uniform_stream_of_scores(samples.score, samples.label)
        if found is not None:
            gain, columns = found
            return Stream(Gain(*gain), lambda: ((Ranked(*a), Ranked(*b)) for a, b in columns()))
    return _by_score(xp, samples)


def _unsorted(xp: Namespace, samples: Samples) -> Descent:
    """Return the samples' right weight and weight as they come, for sums that need no order."""
    right = credit(xp, samples, signed_confidence(xp, samples))
    weight = weights(xp, samples)
    right = right if samples.weight is None else right * weight

    def column(value: Array) -> Ranked:
        total = xp.broadcast_to(xp.sum(value, axis=-1, keepdims=True), value.shape)
        return Ranked(value, value, value, total)  # nothing is below anything

    return Descent(Ordering(None, None, None), (column(right), column(weight)))


def _sums_down(xp: Namespace, samples: Samples) -> Summable:
    """Return sums by confidence; absent samples come last, where they are no step of a curve."""
    if samples.weight is None:
        return sums_by_confidence(xp, samples)
    return columns_by_confidence(xp, samples)


def _lxcim(xp: Namespace, descent: Summable) -> Array:
    return formulas.lxcim(xp, formulas.gain_down(xp, descent))


def _lxcim_influence(xp: Namespace, descent: Summable, estimate: Array) -> Influence:
    """Return 2 (w / W) (h - LxCIM), where h is the share of the sample's pairs that are won."""
    parts = _lxcim_parts(xp, descent, estimate)
    return Influence(lambda *columns: parts(*columns).moves, descent)


class _Parts(NamedTuple):
    moves: Array  # the influence
    gap: Array  # 2L + T
    won: Array  # c w (2L + T)
    right: Array  # C + 2 C_above


def _lxcim_parts(
    xp: Namespace, descent: Summable, estimate: Array
) -> Callable[[Ranked, Ranked], _Parts]:
    total = totals(descent)[1]
    # Divided by twice: in float32 the square of a total is near the end of the range.
    scale, centre = divide(xp, xp.ones_like(total), total), 2 * estimate * total

    def parts(right: Ranked, everyone: Ranked) -> _Parts:
        # 2 h W = c (2L + T) + C + 2 C_above; L and T follow from the total and what lies above.
        gap = 2 * total - (everyone.below + everyone.through)
        won, rights = right.value * gap, right.through + right.below
        moves = (won + everyone.value * (rights - centre)) * scale * scale
        return _Parts(moves, gap, won, rights)

    return parts


def _lxcim_steadied(xp: Namespace, descent: Summable, estimate: Array, share: Array) -> Steadied:
    """Add an observation of a share d of all weight: LxCIM becomes (LxCIM + d / 2) / (1 + d)."""
    total, parts = totals(descent)[1], _lxcim_parts(xp, descent, estimate)
    one = xp.ones_like(total)
    inverse, shrunk = divide(xp, one, total), 1 / (1 + share)
    estimate = (estimate + share / 2) * shrunk
    against = share * inverse * shrunk**2
    own, scale = (2 * share * shrunk) ** 2 * inverse, inverse * shrunk / 4

    def formula(right: Ranked, everyone: Ranked) -> tuple[Array, Array, Array]:
        moves, gap, won, rights = parts(right, everyone)
        # Against the observation a sample wins c (2L + T) and half of what lies above it; its pairs
        # with all others now count 1 / (1 + d)^2.
        after = moves * shrunk**2 + (won - everyone.value * (gap / 2)) * inverse * against
        # What a draw from the observation wins on average, and how far its halves are apart.
        middle = (2 * rights + gap) * scale + (0.5 - estimate - shrunk / 2)
        apart = gap * (inverse / 4) * _off(xp, right, everyone)
        return moves, after, everyone.value * (middle**2 + apart**2) * own

    return Steadied(estimate, formula, descent)


def _off(xp: Namespace, right: Ranked, everyone: Ranked) -> Array:
    """Return 1 where the halves of the observation earn 0 and 1; 0 where undecided, both 1/2."""
    return xp.astype(2 * right.value != everyone.value, right.value.dtype)


def _accuracy(xp: Namespace, descent: Summable) -> Array:
    return divide(xp, *totals(descent))


def _accuracy_influence(xp: Namespace, descent: Summable, estimate: Array) -> Influence:
    """Return (w / W) (credit - accuracy)."""
    total = totals(descent)[1]
    scale = divide(xp, xp.ones_like(total), total)

    def moves(right: Ranked, everyone: Ranked) -> Array:
        return (right.value - estimate * everyone.value) * scale

    return Influence(moves, descent)


def _accuracy_steadied(xp: Namespace, descent: Summable, estimate: Array, share: Array) -> Steadied:
    total = totals(descent)[1]
    scale, shrunk, before = divide(xp, xp.ones_like(total), total), 1 / (1 + share), estimate
    estimate = (estimate + share / 2) * shrunk
    own = (share * shrunk) ** 2 * scale

    def formula(right: Ranked, everyone: Ranked) -> tuple[Array, Array, Array]:
        moves, after = (
            (right.value - centre * everyone.value) * scale for centre in (before, estimate)
        )
        apart = _off(xp, right, everyone) / 4
        return moves, after * shrunk, everyone.value * ((0.5 - estimate) ** 2 + apart) * own

    return Steadied(estimate, formula, descent)


def _audrc(xp: Namespace, descent: Summable) -> Array:
    return formulas.audrc(xp, descent, uniform=False)[..., None]


class _Steps(NamedTuple):
    """What more weight at the place of a sample meets on the way down, a block of ties at once."""

    here: Array  # the accuracy at the place, less the estimate
    rest: Array  # the sum of w / W(k) from there on: of what the accuracies there move by
    held: Array  # the same sum of w / W(k) times the accuracy


def _with_steps(xp: Namespace, descent: Summable, estimate: Array) -> Any:
    """Return right weight, weight and steps of the samples."""
    if isinstance(descent, Stream):
        pieces: Any = lambda: _pieces_with_steps(xp, descent, estimate)  # noqa: E731
        return descent._replace(pieces=pieces)
    right, everyone = descent.columns
    count = counted(xp, descent, uniform=False)
    steps, _ = _steps(xp, descent.places, (right, everyone, count), estimate, None)
    columns: Any = (right, everyone, steps)
    return descent._replace(columns=columns)


def _pieces_with_steps(
    xp: Namespace, descent: Stream, estimate: Array
) -> Iterator[tuple[Ranked, Ranked, _Steps]]:
    """Make steps piece by piece: each piece knows how much is left for the places after it."""

    def both(right: Ranked, everyone: Ranked) -> tuple[Array, ...]:
        parts = accuracy_parts(xp, right, everyone, everyone)
        step = parts.weight / parts.done
        return step, step * parts.accuracy

    left = all_summed(xp, both, descent)
    for right, everyone in descent.pieces():
        first, end = everyone.below - everyone.before[0], everyone.through - everyone.before[0]
        places = Ordering(None, first.astype(int), end.astype(int))
        if (end - first).max() <= 1:
            places = Ordering(None, None, None)
        steps, left = _steps(xp, places, (right, everyone, everyone), estimate, left)
        yield right, everyone, steps


def _steps(
    xp: Namespace,
    places: Ordering,
    columns: tuple[Ranked, Ranked, Ranked],
    estimate: Array,
    left: tuple[Array, ...] | None,
) -> tuple[_Steps, tuple[Array, ...]]:
    """Return the steps of some samples, and what is left after them of the two sums."""
    parts = accuracy_parts(xp, *columns)
    step = parts.weight / or_one(xp, parts.done)
    tied = places.first is not None

    def from_here_on(column: Array, left: Array | None) -> tuple[Array, Array]:
        after = ranked(xp, places, column)
        whole = after.through[..., -1:] if left is None else left
        rest = whole - after.through
        if not tied:
            return rest + column, rest[..., -1:]
        # More weight moves the last of m parts wholly, and the first by 1 / m.
        within = ranked(xp, places, parts.place / parts.count * column)
        return rest + within.through - within.below, rest[..., -1:]

    rest, left_rest = from_here_on(step, None if left is None else left[0])
    held, left_held = from_here_on(step * parts.accuracy, None if left is None else left[1])
    here = parts.accuracy
    if tied:
        mean = ranked(xp, places, xp.astype(parts.weight > 0, step.dtype) * here)
        here = (mean.through - mean.below) / parts.count
    return _Steps(_gap(xp, here, estimate), rest, held), (left_rest, left_held)


def _gap(xp: Namespace, share: Array, centre: Array) -> Array:
    """Return share - centre of two numbers near one; exactly zero where rounding is all of it."""
    gap = share - centre
    roundings = _ROUNDINGS + math.log2(max(gap.shape[-1], 1))
    is_more = xp.abs(gap) > roundings * xp.finfo(gap.dtype).eps
    if values_are_at_hand(xp) and is_more.all():
        return gap
    return xp.where(is_more, gap, 0.0)


def _audrc_influence(xp: Namespace, descent: Summable, estimate: Array) -> Influence:
    """Return the influence on the discrete AUDRC.

    More weight at a place gives more weight to the accuracy there, and moves the accuracy from
    there on towards the credit of the sample. Within its block of ties it does so in equal parts.
    """
    total = totals(descent)[1]
    scale = divide(xp, xp.ones_like(total), total)

    def moves(right: Ranked, everyone: Ranked, steps: _Steps) -> Array:
        return (right.value * steps.rest + everyone.value * (steps.here - steps.held)) * scale

    return Influence(moves, _with_steps(xp, descent, estimate))


def _audrc_steadied(xp: Namespace, descent: Summable, estimate: Array, share: Array) -> Steadied:
    """Add observations of a share d of all weight: each accuracy becomes (acc + d / 2) / (1 + d).

    This is the limit of finely spread observations; steps stay where they are.
    """
    before, total = _audrc_influence(xp, descent, estimate), totals(descent)[1]
    scale, shrunk = divide(xp, xp.ones_like(total), total), 1 / (1 + share)
    own = (share * shrunk) ** 2 * scale

    def formula(right: Ranked, everyone: Ranked, steps: _Steps) -> tuple[Array, Array, Array]:
        moves = before.formula(right, everyone, steps)
        towards = (right.value - everyone.value / 2) * steps.rest
        after = (moves + towards * (share * scale)) * shrunk**2
        # What a draw from the observations does on average, and how far its halves are apart.
        middle = (steps.here - steps.held + steps.rest / 2) * shrunk
        apart = steps.rest / 2 * _off(xp, right, everyone)
        return moves, after, everyone.value * (middle**2 + apart**2) * own

    return Steadied((estimate + share / 2) * shrunk, formula, before.descent)


def _auroc(xp: Namespace, descent: Summable) -> Array:
    if isinstance(descent, Stream):
        return formulas.confidence_auroc(xp, formulas.gain_down(xp, descent))
    high, low = _two(xp, descent).columns
    # The formula takes ascending order; in descending order the two change roles.
    return formulas.area_under_roc(xp, low, high)[..., None]


def _confidence_auroc(xp: Namespace, descent: Summable) -> Array:
    return formulas.confidence_auroc(xp, formulas.gain_down(xp, descent))


def _two(xp: Namespace, descent: Summable) -> Any:
    """Return the first column and all the rest: right and wrong, or positive and negative.

    The rest has sums of its own: differences of sums would lose a class that weighs little. Sums of
    a stream are counts, of which none is lost.
    """
    if isinstance(descent, Stream):

        def pieces() -> Iterator[tuple[Ranked, Ranked]]:
            for first, everyone in descent.pieces():
                parts = zip(everyone, first, strict=True)
                yield first, Ranked(*(of_all - of_first for of_all, of_first in parts))

        return descent._replace(pieces=pieces)
    first, everyone = descent.columns
    rest = ranked(xp, descent.places, everyone.value - first.value)
    return descent._replace(columns=(first, rest))


def _classes(descent: Summable) -> tuple[Array, Array]:
    """Return the weight of both classes, each (..., 1), before :func:`_two` or after it."""
    if isinstance(descent, Stream):
        return descent.gain.right[..., None], descent.gain.wrong[..., None]
    high, low = descent.columns
    return high.through[..., -1:], low.through[..., -1:]


def _concordance_influence(xp: Namespace, descent: Summable, estimate: Array) -> Influence:
    """Return DeLong's influence, from the share of its pairs that each sample wins or loses."""
    both = _two(xp, descent)
    parts = _concordance_parts(xp, both, estimate)
    return Influence(lambda *columns: parts(*columns)[0], both)


def _concordance_parts(
    xp: Namespace, both: Any, estimate: Array
) -> Callable[[Ranked, Ranked], tuple[Array, Array, Array]]:
    """Return the influence, and twice the weight of each class above a sample, ties half."""
    highs, lows = _classes(both)
    one = xp.ones_like(highs)
    of_high, of_low = divide(xp, one, highs), divide(xp, one, lows)
    twice_highs, twice_lows = 2 * or_one(xp, highs), 2 * or_one(xp, lows)

    def parts(high: Ranked, low: Ranked) -> tuple[Array, Array, Array]:
        highs_above, lows_above = high.below + high.through, low.below + low.through
        # A quotient, not a product with of_low: halves of all pairs are halves to the last digit.
        beaten, beaten_by = 1 - lows_above / twice_lows, highs_above / twice_highs
        moved = high.value * _gap(xp, beaten, estimate) * of_high
        moved = moved + low.value * _gap(xp, beaten_by, estimate) * of_low
        return moved, highs_above, lows_above

    return parts


def _concordance_steadied(
    xp: Namespace, descent: Summable, estimate: Array, share: Array
) -> Steadied:
    """Add an observation of a share d of all weight, half of it in each class.

    Each class gets d / 2 of all weight, W, at the places of all samples. The weight of pairs that
    are won, U, becomes (1 + d) U + d (A^2 + B^2) / 4 + d^2 W^2 / 8.
    """
    both = _two(xp, descent)
    parts, (highs, lows) = _concordance_parts(xp, both, estimate), _classes(both)
    total = highs + lows
    scale = divide(xp, xp.ones_like(total), total)
    part, rest = highs * scale, lows * scale
    more, less = part + share / 2, rest + share / 2
    won = estimate * part * rest * (1 + share) + share / 4 * (part**2 + rest**2) + share**2 / 8
    steady, own = won / (more * less), (share / 2) ** 2 * scale
    to_more, to_less = 1 / more, 1 / less
    # In units of all weight, as are the classes: squares stay within the range of float32. What
    # lies above a sample in its own class counts through the observation alone.
    through, directly = share / 4 * scale, (share + 2) / 4 * scale

    def formula(high: Ranked, low: Ranked) -> tuple[Array, Array, Array]:
        moves, highs_above, lows_above = parts(high, low)
        # The share of the other class that a sample beats, or is beaten by, with the observation.
        beaten = (less - lows_above * directly - highs_above * through) * to_less
        beaten_by = (highs_above * directly + lows_above * through) * to_more
        as_high, as_low = _gap(xp, beaten, steady) * to_more, _gap(xp, beaten_by, steady) * to_less
        # What a draw from the observation does on average, and how far its halves are apart; twice.
        off = xp.astype(high.value != low.value, high.value.dtype)
        middle, apart = as_high + as_low, (as_high - as_low) * off
        after = (high.value * as_high + low.value * as_low) * scale
        return moves, after, (high.value + low.value) * (middle**2 + apart**2) * own

    return Steadied(steady, formula, both)


_BY_CONFIDENCE = Sort(order_by_confidence, columns_by_confidence, sums_by_confidence)
_DOWN = Sort(order_by_confidence, columns_by_confidence, _sums_down)
_BY_SCORE = Sort(_by_score, _by_score, _sums_by_score)
_UNSORTED = Sort(order_by_confidence, columns_by_confidence, _unsorted)

MetricName: TypeAlias = Literal["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"]

# With one observation, AUDRC under heavy tails covers less than it says: its variance rests on few
# confident errors, of which there may be none. With two it does not.
KERNELS: dict[str, Kernel] = {
    "lxcim": Kernel(_BY_CONFIDENCE, _lxcim, _lxcim_influence, _lxcim_steadied),
    "accuracy": Kernel(_UNSORTED, _accuracy, _accuracy_influence, _accuracy_steadied),
    "audrc": Kernel(_DOWN, _audrc, _audrc_influence, _audrc_steadied, added=2),
    "auroc": Kernel(
        _BY_SCORE,
        _auroc,
        _concordance_influence,
        _concordance_steadied,
        collect=collect_scores,
        has_classes=True,
    ),
    "confidence_auroc": Kernel(
        _DOWN, _confidence_auroc, _concordance_influence, _concordance_steadied, has_classes=True
    ),
}


def kernel_of(metric: str) -> Kernel:
    """Return the kernel of a metric by its name."""
    if metric not in KERNELS:
        raise ValueError(f"metric must be one of {tuple(KERNELS)}; found {metric!r}.")
    return KERNELS[metric]
