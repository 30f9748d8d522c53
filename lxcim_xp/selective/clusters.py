"""Guarantees when only clusters of samples are independent, whatever goes on inside them.

Decide what is at least so confident. In a cluster with k decided samples, r of them right, the lead
is r - target k. The accuracy of the decided is the target or less if and only if the mean of the
leads over all clusters is not above zero. The test is a bet (Waudby-Smith and Ramdas 2024): a
capital of one is multiplied by 1 + b lead, cluster by cluster. With b at most 1 / (target M), M the
number of samples in the largest cluster, it never falls below zero, and the mean of the product is
at most (1 + b mean lead)^G, by the inequality of the two means, in whatever way the clusters differ
in size and accuracy. So if the target is missed, a capital of 1 / delta has a chance of at most
delta (Markov). Several bets share the capital. Each is fixed beforehand: nothing depends on the
order of the clusters.

No bet can be bolder: a rare cluster may be decided and wrong as a whole, and as long as none was
seen, only the number of clusters says how rare it is.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from lxcim_xp._arrays.namespaces import device_of
from lxcim_xp._arrays.primitives import running_sum, scattered, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.ordering import Ranked, ranked
from lxcim_xp._samples.by_confidence import KeyedDescent
from lxcim_xp.selective.guarantees import until_first_failure
from lxcim_xp.selective.points import last_of

# Chosen by simulation (benchmarks/selective.py): what is risked at most of the capital, the share
# of it that takes this bet, and how often the capital could double on the way to the first test.
_BOLDEST = 0.98  # 1 would lose all to one cluster that is decided and wrong as a whole
_SHARE_OF_BOLDEST = 0.75
_MOST_ROOM = math.log(5)
_SHARE_OF_ROOM = 1 / 3


class Clusters(NamedTuple):
    """Samples cluster by cluster, each from the most confident down, and what is decided there."""

    place: Array  # of each sample on the way down through all samples
    count: Ranked  # type: ignore[assignment]  # decided samples of the cluster
    earned: Ranked  # what they earned, undecided samples nothing
    largest: Array  # (..., 1), the number of samples in the largest cluster
    number: Array  # (..., 1), of clusters


class _Capital(NamedTuple):
    """The logarithm of the capital at each sample on the way down."""

    reached: Array
    at_best: Array  # if all that is decided were right


def clusters_on(xp: Namespace, descent: KeyedDescent, codes: Array) -> Clusters:
    """Sum up what is decided of each cluster on the way down."""
    codes = take(xp, codes, descent.places.order)
    place = xp.argsort(codes, axis=-1, stable=True)
    start = _starts(xp, take(xp, codes, place), place.dtype)
    everyone, earned = (
        _since(xp, start, take(xp, column.value, place))
        for column in (descent.columns[0], descent.columns[-1])
    )
    # Absent samples come last in their cluster, so that the first one counts if any does.
    first = (everyone.value > 0) & (everyone.before == 0)
    number = xp.sum(xp.astype(first, everyone.value.dtype), axis=-1, keepdims=True)
    largest = xp.max(everyone.through, axis=-1, keepdims=True)
    return Clusters(place, everyone, earned, largest, number)


def _starts(xp: Namespace, codes: Array, dtype: object) -> Array:
    """Return the place of the first sample of each sample's cluster."""
    n = codes.shape[-1]
    begins = xp.concat(
        [codes[..., :1] == codes[..., :1], codes[..., 1:] != codes[..., :-1]], axis=-1
    )
    position = xp.arange(n, dtype=dtype, device=device_of(xp, codes))
    position = xp.broadcast_to(position, codes.shape)
    # Sorting brings the k-th start to place k, in a fixed shape.
    starts = xp.sort(xp.where(begins, position, xp.full_like(position, n)), axis=-1)
    return take(xp, starts, running_sum(xp, xp.astype(begins, dtype))[..., 1:] - 1)


def _since(xp: Namespace, start: Array, value: Array) -> Ranked:
    """Sum a column inside each cluster, before each sample and through it."""
    running = running_sum(xp, value)
    below = take(xp, running, start)
    before, through = running[..., :-1] - below, running[..., 1:] - below
    return Ranked(value, before, xp.zeros_like(below), through)


def last_vouched_for_by_clusters(
    xp: Namespace, descent: KeyedDescent, clusters: Clusters, target: float, delta: float
) -> Array:
    """Return the index of the last point that fixed-sequence testing passes."""
    capital, wanted = _capital(xp, descent, clusters, target), math.log(1 / delta)
    # The first test must leave room for errors, or one unlucky cluster would end the search. How
    # much can be left depends on the sizes of the clusters alone.
    room = (capital.at_best[..., -1:] - wanted) * _SHARE_OF_ROOM
    room = xp.where(room < 0, 0.0, xp.where(room > _MOST_ROOM, _MOST_ROOM, room))
    tested = capital.at_best >= wanted + room
    passed = until_first_failure(xp, tested, capital.reached >= wanted)
    return last_of(xp, xp.concat([xp.zeros_like(passed[..., :1]), passed], axis=-1))


def _capital(xp: Namespace, descent: KeyedDescent, clusters: Clusters, target: float) -> _Capital:
    """Return what the bets have made of the capital at each sample."""
    _, count, earned, largest, number = clusters
    unit = target * xp.where(largest > 0, largest, 1.0)
    # What the cluster of each sample leads by in units of the largest loss, without it and with it.
    before = (earned.before - target * count.before) / unit
    through = (earned.through - target * count.through) / unit
    best_before, best = ((1 - target) * part / unit for part in (count.before, count.through))
    reached = at_best = None
    for bet, log_share in _bets(xp, number, count.value.shape[-1], target):
        grown = _grown(xp, descent, clusters, bet, before, through) + log_share
        could = _grown(xp, descent, clusters, bet, best_before, best) + log_share
        reached = grown if reached is None else xp.logaddexp(reached, grown)
        at_best = could if at_best is None else xp.logaddexp(at_best, could)
    assert reached is not None
    assert at_best is not None
    return _Capital(reached, at_best)


def _grown(
    xp: Namespace,
    descent: KeyedDescent,
    clusters: Clusters,
    bet: float,
    before: Array,
    through: Array,
) -> Array:
    """Return the logarithm of the product over clusters, up to each block of ties."""
    # A sample on the way down changes one factor, that of its cluster.
    step = xp.log1p(bet * through) - xp.log1p(bet * before)
    return ranked(xp, descent.places, scattered(xp, step, clusters.place)).through


def _bets(xp: Namespace, number: Array, most: int, target: float) -> Iterator[tuple[float, Array]]:
    """Yield the bets, in units of the boldest that is safe, and the logarithm of their shares.

    Many clusters show small leads, for which the boldest bet is too bold. The others are halves of
    each other, down to the best bet of G clusters on a lead that just suffices, when they vary as
    much as they can.
    """

    def halvings(number: float) -> float:
        return math.log2(max(number, 1) * (1 - target) / target / 6) / 2

    offset = halvings(1)
    number = xp.where(number > 1, number, 1.0)
    wanted = xp.floor(xp.log2(number) / 2 + offset + 0.5)
    wanted = xp.where(wanted > 0, wanted, 0.0)
    none = xp.zeros_like(wanted)
    yield _BOLDEST, xp.where(wanted > 0, math.log(_SHARE_OF_BOLDEST), none)
    others = math.log(1 - _SHARE_OF_BOLDEST) - xp.log(xp.where(wanted > 0, wanted, 1.0))
    for j in range(1, math.floor(halvings(most) + 0.5) + 1):
        yield 2.0**-j, xp.where(wanted >= j, others, -xp.inf)
