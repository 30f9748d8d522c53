"""Least and largest values that a metric can have, given sums in bins of confidence.

Inside a bin the order is unknown. The metrics here are areas below the cumulative accuracy, which
is highest everywhere if the right samples of each bin are the more confident ones, and lowest if
the wrong ones are. A bin in which all have the same confidence is a block of ties: it is known.
Exchanging right and wrong turns a largest value into one minus a least one, so that one formula
gives both ends.

**Rounding.** Sums of whole weights are exact as long as a float has digits for them. Any other sum
of n non-negative floats, in whatever order and over however many merges, is off by at most n
roundings: a bin's weight by as many as it has samples. Each formula below adds up non-negative
terms and says how many roundings it has; the ends are moved outwards by one spacing of floats (two
roundings) for each.
"""

from typing import NamedTuple

from lxcim_xp._arrays.primitives import longest_sum, running_sum
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._samples.by_confidence import or_one


class Bins(NamedTuple):
    """Sums in bins of ascending confidence."""

    right: Array  # (..., bins)
    wrong: Array
    weight: Array
    count: Array  # type: ignore[assignment]  # of samples, as floats
    tied: Array  # whether all samples of the bin have the same confidence
    roundings: Array  # (...), that a sum in a bin may have; 0 where all of them are exact
    more: Array  # (...), that a sum over bins adds to these


class Ends(NamedTuple):
    """The least and the largest value, and a value between them."""

    low: Array
    estimate: Array
    high: Array


def lxcim_ends(xp: Namespace, bins: Bins) -> Ends:
    """Bound LxCIM."""
    running = running_sum(xp, bins.weight)
    below, total = running[..., :-1], or_one(xp, running[..., -1:])

    def area(part: Array, met: Array) -> Array:
        # sum_i c_i w_i (2 L_i + T_i)
        return running_sum(xp, (part / total) * ((2 * below + met) / total))[..., -1]

    def least(part: Array) -> Array:
        # At the bottom of its bin, a part is paired with nothing of the bin but itself.
        return area(part, xp.where(bins.tied, bins.weight, part))

    # Roundings of a term: its part, the sums below it, two divisions by the total, four operations.
    spacing, length = _spacing_and_length(xp, bins)
    relative = 1 - spacing * (length + 8 + 4 * bins.roundings + 3 * bins.more)
    # The wrong weight is a difference, off by up to three roundings of the whole weight.
    absolute = spacing * (2 + 6 * bins.roundings)
    return Ends(
        least(bins.right) * relative,
        area(bins.right, bins.weight),
        1 - least(bins.wrong) * relative + absolute,
    )


def audrc_ends(xp: Namespace, bins: Bins, *, discrete: bool) -> Ends:
    """Bound the discrete or the continuous form of AUDRC."""
    bins = bins._replace(
        **{name: xp.flip(getattr(bins, name), axis=-1) for name in bins._fields[:-2]}
    )
    running = running_sum(xp, bins.weight)
    above, total = running[..., :-1], or_one(xp, running[..., -1:])
    area = _discrete_area if discrete else _continuous_area

    def largest(part: Array, rest: Array) -> tuple[Array, Array]:
        ends = area(xp, bins, above, part, running_sum(xp, part)[..., :-1], rest)
        high, tied = (running_sum(xp, end / total)[..., -1] for end in ends)
        return high, tied

    # The terms of a bin are below its weight, but may be differences of others as large: their
    # errors, counting four for a logarithm, are below 64 roundings of it. Errors of sums over bins
    # go into it with factors that add up to less than 12, and those of the sums in a bin to less
    # than 24, but for one: what is wrong is off by up to three roundings of the weight w, which
    # x log(1 + y / (A + x)) passes on with the logarithm, at most w / A, and in all less than 38.
    spacing, length = _spacing_and_length(xp, bins)
    steep = xp.where(above > 0, xp.minimum(bins.weight, 38 * above) / or_one(xp, above), 38.0)
    steepness = running_sum(xp, steep * (bins.weight / total))[..., -1]
    in_bins = (24 + 3 * steepness) * bins.roundings
    absolute = spacing * (length + 64 + in_bins + 12 * bins.more)
    high, estimate = largest(bins.right, bins.wrong)
    low, _ = largest(bins.wrong, bins.right)
    return Ends(1 - low - absolute, estimate, high + absolute)


def _spacing_and_length(xp: Namespace, bins: Bins) -> tuple[float, int]:
    return float(xp.finfo(bins.weight.dtype).eps), longest_sum(xp, bins.weight)


def _continuous_area(
    xp: Namespace, bins: Bins, above: Array, part: Array, part_above: Array, rest: Array
) -> tuple[Array, Array]:
    """Integrate the part's share of all above: part on top of its bin, and part spread evenly.

    Where all added weight belongs to the part, the share at v is 1 - (A - X) / v, then it is
    (X + x) / v. Spread evenly, with slope p, it is p + (X - p A) / v.
    """
    top = above + part
    rising = part - (above - part_above) * _log_growth(xp, part, above)
    falling = (part_above + part) * _log_growth(xp, rest, top)
    even = part + (part_above - _slope(xp, bins, part) * above) * _log_growth(
        xp, bins.weight, above
    )
    return xp.where(bins.tied, even, rising + falling), even


def _discrete_area(
    xp: Namespace, bins: Bins, above: Array, part: Array, part_above: Array, rest: Array
) -> tuple[Array, Array]:
    """Sum the part's share of all above at the end of each sample, for any weights of the samples.

    The share is highest at the end of the part, which is then a bound for all samples before, and
    falls from there on, so that its integral is a bound for the samples behind. A block of ties is
    m equal samples: x + (X - p A) (1 / (a + 1) + ... + 1 / (a + m)) with a = m A / w.
    """
    top = above + part
    rising = part * ((part_above + part) / or_one(xp, top))
    falling = (part_above + part) * _log_growth(xp, rest, top)
    before = above * (bins.count / or_one(xp, bins.weight))
    bend = xp.where(bins.count > 0, part_above - _slope(xp, bins, part) * above, 0.0)
    least, largest = _harmonic_sum(xp, before, or_one(xp, bins.count))
    tied = part + bend * xp.where(bend > 0, largest, least)
    even = part + bend * (least + largest) / 2
    return xp.where(bins.tied, tied, rising + falling), even


def _harmonic_sum(xp: Namespace, a: Array, m: Array) -> tuple[Array, Array]:
    """Bound 1 / (a + 1) + ... + 1 / (a + m); exact for m = 1.

    1 / x is convex: trapezoids from a + 1 to a + m lie above its integral, and each term behind the
    first lies below the integral over the unit around it.
    """
    first = 1 / (a + 1)
    least = (first + 1 / (a + m)) / 2 + xp.log1p((m - 1) / (a + 1))
    return least, first + xp.log1p((m - 1) / (a + 1.5))


def _slope(xp: Namespace, bins: Bins, part: Array) -> Array:
    return part / or_one(xp, bins.weight)


def _log_growth(xp: Namespace, added: Array, to: Array) -> Array:
    """Return log((to + added) / to), and 0 where there is nothing to add to.

    The result is multiplied by at most ``to``: if that is too small to divide by, it cannot matter.
    """
    divisor = xp.maximum(or_one(xp, to), added * float(xp.finfo(added.dtype).smallest_normal))
    return xp.where(to > 0, xp.log1p(added / divisor), 0.0)
