"""How much each sample moves a metric: psi = w * d(metric)/dw, which sums to zero.

A kernel sorts samples once; the metric and the influence are then functions of the sorted columns,
so that other weights on the same samples (a bootstrap) need no second sort. Results stay in sorted
order: a standard error need not bring them back into the order of the input.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import widest_float
from lxcim_xp._arrays.numpy_pieces import computed
from lxcim_xp._arrays.primitives import divide
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.ordering import Ranked, ranked
from lxcim_xp._samples import formulas
from lxcim_xp._samples.by_confidence import (
    Descent,
    Summable,
    accuracy_parts,
    columns_by_confidence,
    counted,
    descend,
    or_one,
    order_by_confidence,
    summed,
    sums_by_confidence,
    totals,
)
from lxcim_xp._samples.samples import Samples, collect, collect_scores


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
    steadied: Callable[[Namespace, Summable, Array, Array], "Steadied"] | None = None
    collect: Callable[..., tuple[Namespace, Samples]] = collect  # samples from arguments


class Sort(NamedTuple):
    """How a metric sorts samples, for three needs: each does no more than it has to."""

    with_order: Callable[[Namespace, Samples], Descent]
    columns: Callable[[Namespace, Samples], Descent]
    sums: Callable[[Namespace, Samples], Summable]  # columns if a metric needs more


class Steadied(NamedTuple):
    """A metric after adding one observation that is half right and half wrong.

    The observation is spread over the confidences that are there.
    """

    estimate: Array  # (..., 1)
    # A formula of the columns with three results: the influence of the samples before, and after,
    # and terms whose sum is the variance of a draw from the observation.
    formula: Callable[..., tuple[Array, Array, Array]]


def values(xp: Namespace, influence: Influence) -> Array:
    """Return the influence of each sample, (..., n), in sorted order."""
    return computed(xp, influence.formula, *influence.descent.columns)


def sum_of_squares(xp: Namespace, influence: Influence) -> Array:
    """Return the sum of the squared influences, (...)."""

    def squares(*columns: tuple[Array, ...]) -> Array:
        return influence.formula(*columns) ** 2

    return summed(xp, squares, influence.descent)


def _known(value: Array, descent: Descent) -> Influence:
    """Return an influence that is computed already."""
    column = Ranked(value, value, value, value)
    return Influence(lambda column: column.value, descent._replace(columns=(column,)))


def sorted_weight(descent: Descent) -> Array:
    """Return the weights in sorted order."""
    return descent.columns[1].value


def reweighted(xp: Namespace, descent: Descent, factor: Array) -> Descent:
    """Multiply the weights, given in sorted order, without another sort."""
    columns = tuple(ranked(xp, descent.places, column.value * factor) for column in descent.columns)
    return descent._replace(columns=columns)


def _by_score(xp: Namespace, samples: Samples) -> Descent:
    """Sort the weights of the positives and of all from the highest score down."""
    positive = xp.astype(samples.label > 0, widest_float(xp, samples.score))
    positive = positive if samples.weight is None else positive * samples.weight
    return descend(xp, samples.score, samples.weight, positive, samples.weight)


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
    scale, centre = divide(xp, xp.ones_like(total), total) ** 2, 2 * estimate * total

    def parts(right: Ranked, everyone: Ranked) -> _Parts:
        # 2 h W = c (2L + T) + C + 2 C_above; L and T follow from the total and what lies above.
        gap = 2 * total - (everyone.below + everyone.through)
        won, rights = right.value * gap, right.through + right.below
        return _Parts((won + everyone.value * (rights - centre)) * scale, gap, won, rights)

    return parts


def _lxcim_steadied(xp: Namespace, descent: Summable, estimate: Array, share: Array) -> Steadied:
    """Add an observation of a share d of all weight: LxCIM becomes (LxCIM + d / 2) / (1 + d)."""
    total, parts = totals(descent)[1], _lxcim_parts(xp, descent, estimate)
    one = xp.ones_like(total)
    inverse, shrunk = divide(xp, one, total), 1 / (1 + share)
    estimate = (estimate + share / 2) * shrunk
    against = share * inverse**2 * shrunk**2
    own, scale = (2 * share * shrunk) ** 2 * inverse, inverse * shrunk / 4

    def formula(right: Ranked, everyone: Ranked) -> tuple[Array, Array, Array]:
        moves, gap, won, rights = parts(right, everyone)
        # Against the observation a sample wins c (2L + T) and half of what lies above it; its pairs
        # with all others now count 1 / (1 + d)^2.
        after = moves * shrunk**2 + (won - everyone.value * (gap / 2)) * against
        # What a draw from the observation wins on average, and how far its halves are apart.
        middle = (2 * rights + gap) * scale + (0.5 - estimate - shrunk / 2)
        apart = gap * (inverse / 4) * _off(xp, right, everyone)
        return moves, after, everyone.value * (middle**2 + apart**2) * own

    return Steadied(estimate, formula)


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

    return Steadied(estimate, formula)


def _audrc(xp: Namespace, descent: Descent) -> Array:
    return formulas.audrc(xp, descent, uniform=False)[..., None]


def _audrc_influence(xp: Namespace, descent: Descent, estimate: Array) -> Influence:
    """Return the influence on the discrete AUDRC.

    More weight at a place gives more weight to the accuracy there, and moves the accuracy from
    there on towards the credit of the sample. Within its block of ties it does so in equal parts.
    """
    right, everyone = descent.columns
    parts = accuracy_parts(xp, right, everyone, counted(xp, descent, uniform=False))
    step = parts.weight / or_one(xp, parts.done)
    arrived = parts.place / parts.count

    def from_here_on(column: Array) -> Array:
        after = ranked(xp, descent.places, column)
        within = ranked(xp, descent.places, arrived * column)
        return after.through[..., -1:] - after.through + within.through - within.below

    present = xp.astype(parts.weight > 0, step.dtype)
    mean = ranked(xp, descent.places, present * parts.accuracy)
    here = (mean.through - mean.below) / parts.count - estimate
    moved = right.value * from_here_on(step)
    moved = moved + everyone.value * (here - from_here_on(step * parts.accuracy))
    return _known(divide(xp, moved, everyone.through[..., -1:]), descent)


def _two(xp: Namespace, descent: Descent) -> tuple[Ranked, Ranked]:
    """Return the first column and all the rest: right and wrong, or positive and negative.

    The rest has sums of its own: differences of sums would lose a class that weighs little.
    """
    first, everyone = descent.columns
    return first, ranked(xp, descent.places, everyone.value - first.value)


def _auroc(xp: Namespace, descent: Descent) -> Array:
    high, low = _two(xp, descent)
    # The formula takes ascending order; in descending order the two change roles.
    return formulas.area_under_roc(xp, low, high)[..., None]


def _confidence_auroc(xp: Namespace, descent: Descent) -> Array:
    return formulas.confidence_auroc(xp, formulas.gain_down(xp, descent))


def _concordance_influence(xp: Namespace, descent: Descent, estimate: Array) -> Influence:
    """Return DeLong's influence, from the share of its pairs that each sample wins or loses."""
    high, low = _two(xp, descent)
    highs, lows = high.through[..., -1:], low.through[..., -1:]
    beaten = divide(xp, lows - (low.below + low.through) / 2, lows)
    beaten_by = divide(xp, (high.below + high.through) / 2, highs)
    moved = divide(xp, high.value * (beaten - estimate), highs)
    return _known(moved + divide(xp, low.value * (beaten_by - estimate), lows), descent)


_SUMS_BY_CONFIDENCE = Sort(order_by_confidence, columns_by_confidence, sums_by_confidence)
_BY_CONFIDENCE = Sort(order_by_confidence, columns_by_confidence, columns_by_confidence)
_BY_SCORE = Sort(_by_score, _by_score, _by_score)

MetricName: TypeAlias = Literal["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"]

KERNELS: dict[str, Kernel] = {
    "lxcim": Kernel(_SUMS_BY_CONFIDENCE, _lxcim, _lxcim_influence, _lxcim_steadied),
    "accuracy": Kernel(_SUMS_BY_CONFIDENCE, _accuracy, _accuracy_influence, _accuracy_steadied),
    "audrc": Kernel(_BY_CONFIDENCE, _audrc, _audrc_influence),
    "auroc": Kernel(_BY_SCORE, _auroc, _concordance_influence, collect=collect_scores),
    "confidence_auroc": Kernel(_BY_CONFIDENCE, _confidence_auroc, _concordance_influence),
}


def kernel_of(metric: str) -> Kernel:
    """Return the kernel of a metric by its name."""
    if metric not in KERNELS:
        raise ValueError(f"metric must be one of {tuple(KERNELS)}; found {metric!r}.")
    return KERNELS[metric]
