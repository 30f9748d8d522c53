"""Decisions that are each right by a chance of their own, against enumeration and simulation."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_null_distributions import run

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.choices import choose
from lxcim_xp.inference import chance_null

XP = namespaces.namespace()
SIDES = ("less", "greater", "two-sided")

ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 1.0]),
        st.integers(-3, 3).map(float),
        st.sampled_from([1.0, 0.5, 0.25, 0.125]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=7,
)


def p_values(correct, confidence, chance, **options):
    return [
        lx.significance(
            correct,
            confidence,
            chance=chance,
            decision=lx.confidence(),
            alternative=side,
            **options,
        ).p_value
        for side in SIDES
    ]


def by_enumeration(correct, confidence, chance, weight):
    """Return the p-values from all outcomes, in fractions."""
    n, g, w = len(correct), confidence, [Fraction(x) for x in weight]
    twice = [
        sum(w[j] * ((g[j] < g[i]) + (g[j] <= g[i])) for j in range(n) if w[j]) for i in range(n)
    ]
    score = [w[i] * twice[i] for i in range(n)]
    observed = sum(s * Fraction(c) for s, c in zip(score, correct, strict=True))
    lower = upper = Fraction(0)
    for outcome in product([0, 1], repeat=n):
        p, total = Fraction(1), Fraction(0)
        for right, q, s in zip(outcome, chance, score, strict=True):
            p *= Fraction(q) if right else 1 - Fraction(q)
            total += s * right
        lower += p * (total <= observed)
        upper += p * (total >= observed)
    return [float(x) for x in (lower, upper, min(1, 2 * min(lower, upper)))]


@given(ANSWERS)
def test_p_values_are_those_of_all_outcomes(answers):
    correct, confidence, chance, weight = zip(*answers, strict=True)
    ones = [1] * len(correct)
    np.testing.assert_allclose(
        p_values(correct, confidence, chance),
        by_enumeration(correct, confidence, chance, ones),
        rtol=1e-12,
    )
    if any(weight):
        np.testing.assert_allclose(
            p_values(correct, confidence, chance, sample_weight=weight),
            by_enumeration(correct, confidence, chance, weight),
            rtol=1e-12,
        )


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 3))
def test_a_chance_of_one_half_is_the_fair_coin(correct, levels):
    confidence = np.arange(len(correct)) % (levels + 1) + 1.0
    expected = [
        lx.significance(correct, confidence, decision=lx.confidence(), alternative=side).p_value
        for side in SIDES
    ]
    np.testing.assert_allclose(p_values(correct, confidence, 0.5), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [201, 2000])
def test_many_fair_coins_are_the_saddlepoint_of_fair_coins(n):
    rng = np.random.default_rng(0)
    correct, confidence = rng.random(n) < 0.53, np.round(rng.normal(size=n), 2)
    expected = [
        lx.significance(correct, confidence, decision=lx.confidence(), alternative=side).p_value
        for side in SIDES
    ]
    np.testing.assert_allclose(p_values(correct, confidence, 0.5), expected, rtol=1e-6)


@pytest.mark.parametrize("n", [30, 150, 1000])
@pytest.mark.parametrize("chance", [0.25, 0.5, 0.01])
def test_one_level_of_confidence_is_the_binomial_test(n, chance):
    binom = pytest.importorskip("scipy.stats").binom
    for right in (0, 1, int(n * chance), int(n * chance) + 2, n // 2, n):
        correct = np.arange(n) < right
        expected = [binom.cdf(right, n, chance), binom.sf(right - 1, n, chance)]
        found = p_values(correct, np.ones(n), chance)[:2]
        np.testing.assert_allclose(found, expected, rtol=1e-9 if n <= 200 else 0.03, atol=1e-290)


@pytest.mark.parametrize(("n", "error"), [(20, 4e-3), (50, 1e-4), (200, 1e-5)])
def test_the_saddlepoint_is_near_the_exact_tails(n, error):
    rng = np.random.default_rng(n)
    score = 2 * np.arange(n) + 1.0
    for p in (np.full(n, 0.25), 1 / rng.integers(2, 7, n)):
        for share in (0.01, 0.2, 0.3, 0.4, 0.6, 0.9, 0.999):
            observed = np.float64(round(share * n * n))
            exact = chance_null._tails_by_table(XP, score, p, observed)
            near = chance_null._saddlepoint_tails(XP, score, p, observed, np.float64(1))
            np.testing.assert_allclose(near, exact, atol=error)


def test_far_tails_have_their_size():
    n = 200
    score, p = 2 * np.arange(n) + 1.0, np.full(n, 0.25)
    for share in (0.5, 0.8, 0.999, 1.0):
        observed = np.float64(round(share * n * n))
        exact = chance_null._tails_by_table(XP, score, p, observed)
        near = chance_null._saddlepoint_tails(XP, score, p, observed, np.float64(1))
        np.testing.assert_allclose(near[1], exact[1], rtol=0.02)


@pytest.mark.parametrize(("n", "weighted"), [(40, False), (40, True), (300, False)])
def test_guesses_are_significant_as_often_as_they_should_be(n, weighted):
    rng = np.random.default_rng(1)
    many, ends = 500, 4
    scores = rng.normal(size=(many, n, ends))
    there = np.arange(ends) < rng.integers(2, ends + 1, (n, 1))
    chosen = choose(scores, 0, where=there)
    weight = rng.lognormal(size=n) if weighted else None
    found = lx.significance(
        chosen.correct,
        chosen.confidence,
        chance=chosen.chance,
        decision=lx.confidence(),
        sample_weight=weight,
    )
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / many)
        assert abs(np.mean(found.p_value <= level) - level) < 4 * error


def test_a_decision_that_cannot_be_wrong_says_nothing():
    others = p_values([1, 0, 1], [2.0, 3.0, 4.0], [0.25, 0.25, 0.5])
    certain = p_values([1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0], [1.0, 0.25, 0.25, 0.5])
    np.testing.assert_allclose(
        certain, by_enumeration([1, 1, 0, 1], [1, 2, 3, 4], [1, 0.25, 0.25, 0.5], [1] * 4)
    )
    assert len(others) == len(certain)
    np.testing.assert_allclose(p_values([1, 1], [1.0, 2.0], 1.0), 1)


def _p_value(xp, correct, confidence, chance, **options):
    found = lx.significance(correct, confidence, chance=chance, decision=lx.confidence(), **options)
    return found[:2]


CASES = {
    "exact": (np.asarray([1, 0, 1, 1, 0.5, 1]), np.arange(6.0) - 3, np.full(6, 0.25)),
    "saddlepoint": (
        (np.sin(np.arange(250.0)) > 0.3) * 1.0,
        np.round(5 * np.cos(np.arange(250.0) ** 2)),
        1 / (2 + np.arange(250.0) % 4),
    ),
}


@pytest.mark.runners("*-eager", "*-jit+vmap", "torch-vmap")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_library_gives_the_same(runner, case):
    expected = np.stack(_p_value(XP, *case))
    found = run(runner, _p_value, case)
    tolerance = 1e-9 if runner.backend.dtype == "float64" else 2e-4
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.library("jax")
def test_a_chance_that_is_none_is_nan_where_it_may_be_traced():
    import jax.numpy as jnp

    assert np.isnan(_p_value(jnp, jnp.ones(2), jnp.ones(2), jnp.asarray([0.5, 0.0]))[1])


def test_what_does_not_count_may_have_any_chance():
    where = [True, False, True]
    found = p_values([1, 1, 0], [1.0, 5.0, 2.0], [0.5, np.nan, 0.25], where=where)
    np.testing.assert_allclose(found, p_values([1, 0], [1.0, 2.0], [0.5, 0.25]))
    assert np.isnan(p_values([1], [1.0], 0.5, where=[False])).all()
    assert np.isnan(p_values(np.ones(0), np.ones(0), np.ones(0))).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chance": [0.5, 0.0]}, "chance must be above 0 and at most 1; found 0 at position 1"),
        ({"chance": [0.5, 1.5]}, "chance must be above 0"),
        ({"chance": [0.5, np.nan]}, "chance must be above 0"),
        ({"chance": [0.5, 0.5, 0.5]}, r"one value for each sample; found shape \(3,\)"),
        ({"chance": 0.5, "null": "uninformative"}, "chance= is about the null 'coin'"),
        ({"chance": 0.5, "decision": None, "threshold": 0.0}, "chance= is about the null 'coin'"),
    ],
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        lx.significance([1, 0], [1.0, 2.0], **{"decision": lx.confidence(), **options})
