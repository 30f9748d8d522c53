"""Which operating points can be vouched for on new samples: exact tails, conformal risk control.

Samples are independent here, or clusters of samples are (``clusters``). Each function returns the
index of the last point that the guarantee allows, 0 if it allows none.
"""

from typing import Any

from lxcim_xp._arrays.namespaces import device_of
from lxcim_xp._arrays.primitives import divide, running_sum, take
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics.binomial import lower_tail
from lxcim_xp._numerics.bisection import count_up_to
from lxcim_xp.selective.points import Points

_GRID = 20  # rates at which many samples are tested
_FEW = 500  # samples below which every one of them is
# Errors that the first test of many samples would pass with. Chosen by simulation of normal margins
# (benchmarks/selective.py): fewer end the search too early, more begin it too late.
_FORGIVEN = 2.0


def last_of_joint_risk(xp: Namespace, points: Points, target: float, largest: Any = 1) -> Array:
    """Return the index of the last point that conformal risk control allows.

    What is new is one unit, a sample or a cluster of at most ``largest`` samples, all of which may
    be decided and wrong.
    """
    # Only wrong samples raise the risk, so that allowed points come first.
    wrong = points.count - points.right
    allowed = divide(xp, wrong + largest, points.total + largest) <= target
    last = xp.sum(xp.astype(allowed, xp.arange(0).dtype), axis=-1, keepdims=True) - 1
    return xp.where(last < 0, 0, last)


def last_vouched_for(
    xp: Namespace, points: Points, target: float, delta: float, masked: bool
) -> Array:
    """Return the index of the last point that fixed-sequence testing passes."""
    index = _tested(xp, points, masked)
    count, sure = take(xp, points.count, index), take(xp, points.sure, index)
    chance = xp.full_like(count, 1 - target)
    n = points.count.shape[-1] - 1
    passes = lower_tail(xp, count - sure, count, chance, n) <= delta
    # The first test must forgive a little, or one unlucky sample would end the search.
    forgiven = xp.where(points.total < _FEW, xp.zeros_like(count), _FORGIVEN)
    enough = lower_tail(xp, forgiven, count, chance, n) <= delta
    passed = until_first_failure(xp, enough, passes)
    return xp.max(xp.where(passed, index, 0), axis=-1, keepdims=True)


def until_first_failure(xp: Namespace, tested: Array, passes: Array) -> Array:
    """Say which tests are passed before one fails, among those that are made."""
    failed = xp.astype(tested & ~passes, xp.arange(0).dtype)
    return tested & (running_sum(xp, failed)[..., 1:] == 0)


def _tested(xp: Namespace, points: Points, masked: bool) -> Array:
    """Return the indices of the points to test: 20 rates, or all points of fewer than 500."""
    *batch, n = points.count.shape
    n -= 1
    few = min(n, _FEW - 1)
    every = xp.arange(1, few + 1, device=device_of(xp, points.count))
    every = xp.broadcast_to(every, (*batch, few))
    if n < _FEW:
        return every
    steps = [min(k + 1, _GRID) / _GRID for k in range(few if masked else _GRID)]
    wanted = xp.asarray(steps, dtype=points.count.dtype, device=device_of(xp, points.count))
    wanted = xp.broadcast_to(wanted, (*batch, len(steps))) * points.total
    # Counts are whole numbers: the first one that rounds to the rate or is beyond it.
    grid = count_up_to(xp, points.count, wanted - 0.5)
    grid = xp.where(grid > n, n, grid)
    return xp.where(points.total < _FEW, every, grid) if masked else grid
