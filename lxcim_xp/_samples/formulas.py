"""Metrics as formulas of what was summed over ranked samples, each written once.

The metrics take their sums from the quickest road that has them, inference takes them from sorted
columns that it needs anyway; both end here.
"""

from lxcim_xp._array import Array, Namespace, divide
from lxcim_xp._descent import Descent, accuracy_parts, counted, summed, totals
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

    def steps(right: Ranked, everyone: Ranked, *count: Ranked) -> Array:
        parts = accuracy_parts(xp, right, everyone, *(count or (everyone,)))
        return parts.accuracy * parts.weight

    total = totals(descent)[1][..., 0]
    if not uniform:  # uniform weights are their own counts
        count = counted(xp, descent, uniform=False)
        descent = descent._replace(columns=(*descent.columns, count))
    return divide(xp, summed(xp, steps, descent), total)


def gain_down(xp: Namespace, descent: Descent) -> Gain:
    """Return the sums that most formulas take, each (..., 1), from columns in descending order."""
    right, everyone = totals(descent)
    if descent.stream is not None:
        return Gain(right, everyone - right, descent.stream.gain.gain[..., None])

    def leads(right: Ranked, all_of_them: Ranked) -> Array:
        # What lies above and what lies below change sides when places are counted from the top.
        lead = all_of_them.below + all_of_them.through - everyone
        return (all_of_them.value - right.value) * lead

    return Gain(right, everyone - right, summed(xp, leads, descent)[..., None])
