"""The metrics as formulas in sums over ranked samples, each written once.

The metrics take their sums from the fastest form that has them, inference takes them from sorted
columns that it needs anyway. Both end here.
"""

from lxcim_xp._arrays.namespaces import values_are_at_hand
from lxcim_xp._arrays.primitives import divide, power_of_two, share
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.ordering import Ranked, concordance
from lxcim_xp._samples.by_confidence import (
    Descent,
    Stream,
    Summable,
    accuracy_parts,
    all_summed,
    counted,
    summed,
    totals,
)
from lxcim_xp._samples.gain import Gain


def lxcim(xp: Namespace, ranks: Gain) -> Array:
    """Return ACC^2 + 2 H, the paper's partition; counts stay whole until the division."""
    right, wrong, won = in_units_of_total(xp, ranks)
    return share(xp, right**2 + 2 * won, (right + wrong) ** 2)


def in_units_of_total(xp: Namespace, ranks: Gain) -> Gain:
    """Return sums near one, so that squares of products, as in derivatives, do not overflow.

    NumPy has no derivatives and does not need this.
    """
    if values_are_at_hand(xp):
        return ranks
    unit = power_of_two(xp, ranks.right + ranks.wrong)
    return Gain(ranks.right / unit, ranks.wrong / unit, ranks.won / unit / unit)


def accuracy(xp: Namespace, ranks: Gain) -> Array:
    """Return the share of right decisions."""
    return divide(xp, ranks.right, ranks.right + ranks.wrong)


def confidence_auroc(xp: Namespace, ranks: Gain) -> Array:
    """Return how often a right decision is more confident than a wrong one."""
    right, wrong, won = ranks
    if not values_are_at_hand(xp):  # as in in_units_of_total
        units = power_of_two(xp, right), power_of_two(xp, wrong)
        right, wrong, won = right / units[0], wrong / units[1], won / units[0] / units[1]
    return share(xp, won, right * wrong)


def area_under_roc(xp: Namespace, high: Ranked, low: Ranked) -> Array:
    """Return P(high > low) + P(high = low) / 2 from columns in ascending order of the key."""
    pairs = xp.sum(high.value, axis=-1) * xp.sum(low.value, axis=-1)
    return share(xp, concordance(xp, high, low), pairs)


def audrc(xp: Namespace, descent: Summable, *, uniform: bool) -> Array:
    """Return the mean accuracy on the way down: paper, eq. (1)."""

    def steps(right: Ranked, everyone: Ranked, *count: Ranked) -> Array:
        parts = accuracy_parts(xp, right, everyone, *(count or (everyone,)))
        # At weightless samples on top the accuracy is 0 / 0; credit times weight has its slope.
        return xp.where(parts.done > 0, parts.accuracy * parts.weight, right.value)

    total = totals(descent)[1][..., 0]
    if not uniform and isinstance(descent, Descent):  # uniform weights are their own counts
        count = counted(xp, descent, uniform=False)
        descent = descent._replace(columns=(*descent.columns, count))
    return share(xp, summed(xp, steps, descent), total)


def gain_down(xp: Namespace, descent: Summable) -> Gain:
    """Return the sums that most formulas take, each (..., 1), from columns in descending order."""
    if isinstance(descent, Stream):
        return Gain(*(part[..., None] for part in descent.gain))

    def wrong_and_won(right: Ranked, everyone: Ranked) -> tuple[Array, Array]:
        # In descending order, what beats a wrong decision comes before it.
        wrong = everyone.value - right.value
        return wrong, wrong * (right.below + right.through) / 2

    wrong, won = all_summed(xp, wrong_and_won, descent)
    return Gain(totals(descent)[0], wrong[..., None], won[..., None])
