"""Metrics as formulas of what was summed over ranked samples, each written once.

The metrics take their sums from the quickest road that has them, inference takes them from sorted
columns that it needs anyway; both end here.
"""

from lxcim_xp._array import Array, Namespace, divide, sum_of
from lxcim_xp._descent import Descent, accuracy_parts, counted
from lxcim_xp._ranks import Gain, Ranked, concordance


def lxcim(xp: Namespace, ranks: Gain) -> Array:
    """Return ACC + ACC (1 - ACC) (2 AUROC_conf - 1); counts stay whole until the division."""
    total = ranks.right + ranks.wrong
    return divide(xp, ranks.right * total + ranks.gain, total**2)


def accuracy(xp: Namespace, ranks: Gain) -> Array:
    """Return the share of right decisions."""
    return divide(xp, ranks.right, ranks.right + ranks.wrong)


def confidence_auroc(xp: Namespace, ranks: Gain) -> Array:
    """Return how often a right decision is more confident than a wrong one."""
    pairs = ranks.right * ranks.wrong
    return divide(xp, pairs + ranks.gain, 2 * pairs)


def area_under_roc(xp: Namespace, high: Ranked, low: Ranked) -> Array:
    """Return P(high > low) + P(high = low) / 2, of columns in ascending order of the key."""
    pairs = xp.sum(high.value, axis=-1) * xp.sum(low.value, axis=-1)
    return divide(xp, concordance(xp, high, low), pairs)


def audrc(xp: Namespace, descent: Descent, *, uniform: bool) -> Array:
    """Return the mean accuracy on the way down: paper, eq. (1)."""

    def steps(right: Ranked, everyone: Ranked, count: Ranked) -> Array:
        parts = accuracy_parts(xp, right, everyone, count)
        return parts.accuracy * parts.weight

    area = sum_of(xp, steps, *descent.columns, counted(xp, descent, uniform=uniform))
    return divide(xp, area, descent.columns[1].through[..., -1])


def gain_down(xp: Namespace, descent: Descent) -> Gain:
    """Return the sums that most formulas take, each (..., 1), from columns in descending order."""
    right, everyone = (column.through[..., -1:] for column in descent.columns)

    def leads(right: Ranked, all_of_them: Ranked) -> Array:
        # What lies above and what lies below change sides when places are counted from the top.
        lead = all_of_them.below + all_of_them.through - everyone
        return (all_of_them.value - right.value) * lead

    return Gain(right, everyone - right, sum_of(xp, leads, *descent.columns)[..., None])
