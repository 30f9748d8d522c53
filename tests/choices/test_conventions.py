"""What benchmarks of judges do with two orders, restated as arithmetic, and the calls for it."""

import itertools

import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp.choices import both_orders, order_decomposition

# All nine verdicts of two calls, some of them more often than others, and who is right.
VERDICTS = [*itertools.product((-1, 0, 1), repeat=2), (1, 1), (1, -1), (1, -1), (-1, 1), (0, -1)]
FIRST, SWAPPED = (np.asarray(column) for column in zip(*VERDICTS, strict=True))
A_IS_RIGHT = np.random.default_rng(0).random(FIRST.size) < 0.6


def winners():
    """Yield the winner that each of the two calls names: "A", "B" or "tie"."""
    names = {1: "A", 0: "tie", -1: "B"}
    for first, swapped in zip(FIRST, SWAPPED, strict=True):
        yield names[first], names[-swapped]  # B stood first in the second call


def test_mt_bench_counts_a_win_only_if_both_calls_agree():
    points = [
        0.5 if one == "tie" or one != other else float(one == "A") for one, other in winners()
    ]
    found = both_orders(FIRST, SWAPPED)
    agreed = np.where(found.consistent, found.opinion, 0)
    assert lx.accuracy(1, agreed, threshold=0.0) == pytest.approx(np.mean(points))
    # The opinion counts a win and a tie as a win, and so finds another number.
    assert lx.accuracy(1, found.opinion) != pytest.approx(np.mean(points))


def test_judge_bench_adds_the_calls_up_and_counts_a_draw_as_wrong():
    right = 0
    for (one, other), is_a in zip(winners(), A_IS_RIGHT, strict=True):
        label, against = ("A", "B") if is_a else ("B", "A")
        count = sum((name == label) - (name == against) for name in (one, other))
        right += count > 0
    opinion = both_orders(FIRST, SWAPPED).opinion
    draws = np.mean(opinion == 0)
    found = lx.accuracy(A_IS_RIGHT, opinion) - draws / 2
    assert found == pytest.approx(right / FIRST.size)


def asked_once(points):
    """Return the mean over both orders of what a call earns, by the verdict for A."""
    return np.mean([(points[f] + points[-g]) / 2 for f, g in zip(FIRST, SWAPPED, strict=True)])


def test_reward_bench_asks_a_judge_once_in_random_order_and_counts_a_tie_half():
    # The chosen answer is A: 1 if the call names it, 0 if it names the other, else 0.5.
    expected = asked_once({1: 1.0, 0: 0.5, -1: 0.0})
    steps = order_decomposition(1, FIRST, SWAPPED, metric="accuracy")
    assert steps.once == pytest.approx(expected)


def test_reward_bench_counts_equal_rewards_as_wrong():
    chosen, rejected = np.asarray([2.0, 1.0, 1.5, 3.0]), np.asarray([1.0, 1.0, 2.0, 0.5])
    points = [1 if a > b else 0 for a, b in zip(chosen, rejected, strict=True)]
    margin = chosen - rejected
    assert lx.accuracy(1, margin) - np.mean(margin == 0) / 2 == np.mean(points)


def test_alpaca_eval_averages_preferences_of_one_call_in_random_order():
    # A preference is 2 for the model (here A), 1 for the reference, and 1.5 for a draw.
    preference = {1: 2.0, 0: 1.5, -1: 1.0}
    expected = asked_once({verdict: p - 1 for verdict, p in preference.items()})
    assert order_decomposition(1, FIRST, SWAPPED, metric="accuracy").once == pytest.approx(expected)
    given = np.asarray([preference[verdict] for verdict in FIRST])
    assert lx.accuracy(1, given, threshold=1.5) == pytest.approx(np.mean(given - 1))
