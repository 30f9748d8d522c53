"""Distributions under the null hypotheses, against enumeration, exact integers and SciPy."""

from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

import backends
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp._numerics import distributions
from lxcim_xp._samples.samples import Margins
from lxcim_xp.inference import coin_null, exact_coins, weight_units
from lxcim_xp.inference import null_distributions as null

XP = namespaces.namespace()

# Few levels, so that there are ties and zeros.
MARGINS = st.integers(-4, 4).map(float)
WEIGHTS = st.integers(0, 12).map(lambda k: k / 4)


def lists(values, most, least=1):
    return st.lists(values, min_size=least, max_size=most).map(np.asarray)


def scores_of(confidence):
    """Return 2L + T of each sample, zero where the confidence is."""
    g = np.asarray(confidence, dtype=float)
    twice_rank = (g < g[:, None]).sum(axis=1) + (g <= g[:, None]).sum(axis=1)
    return np.where(g == 0, 0.0, twice_rank.astype(float))


def coin_counts(scores):
    """Return in how many ways the coins sum to 0, 1, 2, ..., as exact integers."""
    counts = [1] + [0] * int(sum(scores))
    for score in map(int, scores):
        counts = [c + (counts[k - score] if k >= score else 0) for k, c in enumerate(counts)]
    return counts


def exact_tails(scores, sums):
    counts = np.asarray([float(Fraction(c, 2 ** len(scores))) for c in coin_counts(scores)])
    at = np.asarray(sums, dtype=int)
    upper = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
    return null.Tails(np.cumsum(counts)[at], upper[at])


def subset_sums(scores):
    sums = np.zeros(1)
    for score in scores:
        sums = np.concatenate([sums, sums + score])
    return np.sort(sums)


def at_all(tails, scores, sums, *options):
    """Evaluate tails of the same coins at many sums at once."""
    sums = np.asarray(sums, dtype=float)
    return tails(XP, np.broadcast_to(scores, (sums.size, len(scores))), sums, *options)


def saddlepoint(scores, sums):
    span = float(null.common_span(XP, np.asarray(scores, dtype=float)))
    return at_all(null.saddlepoint_coin_tails, scores, sums, span)


@given(st.lists(st.tuples(MARGINS, WEIGHTS), min_size=1, max_size=9))
def test_the_coins_sum_to_lxcim_but_for_half_the_score_of_the_undecided(pairs):
    margin, weight = np.asarray(pairs).T
    found = null.coins(XP, Margins(margin, weight))
    m, w = ([Fraction(x) for x in column] for column in (margin, weight))
    undecided = sum((u for a, u in zip(m, w, strict=True) if a == 0), Fraction(0)) ** 2
    if not sum(w):
        assert np.isnan(found.observed)
    else:
        assert found.observed + undecided / 2 == oracle.lxcim(m, w) * sum(w) ** 2
        assert np.sum(found.score) == sum(w) ** 2 - undecided


@given(lists(MARGINS, 7))
def test_exact_tails_are_those_of_lxcim_over_all_ways_to_be_right(margin):
    decided = [abs(Fraction(a)) for a in margin if a]
    undecided = [Fraction(0)] * (margin.size - len(decided))
    weight = [Fraction(1)] * margin.size
    observed = oracle.lxcim([Fraction(a) for a in margin], weight)
    values = [
        oracle.lxcim([s * a for s, a in zip(signs, decided, strict=True)] + undecided, weight)
        for signs in product((-1, 1), repeat=len(decided))
    ]
    found = exact_coins.exact_coin_tails(XP, *null.coins(XP, Margins(margin, None)))
    assert found.upper == np.mean([value >= observed for value in values])
    assert found.lower == np.mean([value <= observed for value in values])


@pytest.mark.parametrize(
    "confidence",
    [range(1, 13), [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 5, 5]],
    ids=["untied", "zeros", "ties"],
)
def test_exact_tails_are_enumeration_with_12_samples(confidence):
    scores, sums = scores_of(confidence), np.arange(-1, 146)
    found = at_all(exact_coins.exact_coin_tails, scores, sums)
    outcomes = subset_sums(scores)
    np.testing.assert_array_equal(found.upper, [np.mean(outcomes >= s) for s in sums])
    np.testing.assert_array_equal(found.lower, [np.mean(outcomes <= s) for s in sums])


@given(lists(st.integers(0, 6), 20))
def test_exact_tails_are_probabilities_that_fit_together(confidence):
    scores = scores_of(confidence)
    total = int(scores.sum())
    lower, upper = at_all(exact_coins.exact_coin_tails, scores, np.arange(total + 1))
    assert_tails(lower, upper)
    # Both tails hold the observed sum itself.
    at = np.asarray([float(Fraction(c, 2**scores.size)) for c in coin_counts(scores)])
    np.testing.assert_allclose(lower + upper - at, 1, rtol=1e-14)
    outside = np.abs(np.arange(total + 1) - total / 2)
    extreme = [at[outside >= distance].sum() for distance in outside]
    found = null.two_sided(XP, null.Tails(lower, upper))
    np.testing.assert_allclose(found, extreme, rtol=1e-12)
    np.testing.assert_allclose(upper, lower[::-1], rtol=1e-13)


@given(lists(st.integers(0, 9), 40))
def test_saddlepoint_tails_are_probabilities_that_fit_together(confidence):
    scores = scores_of(confidence)
    span = int(null.common_span(XP, scores)) or 1
    lower, upper = saddlepoint(scores, np.arange(0, int(scores.sum()) + 1, span))
    assert_tails(lower, upper)
    np.testing.assert_allclose(lower[:-1] + upper[1:], 1, rtol=1e-13)
    np.testing.assert_allclose(upper, lower[::-1], rtol=1e-10)


@given(
    st.lists(st.tuples(MARGINS, st.floats(0, 1e6)), min_size=1, max_size=16),
    st.lists(st.floats(-0.1, 1.1), min_size=1, max_size=9),
)
def test_weighted_tails_are_probabilities(pairs, places):
    score, _ = null.coins(XP, Margins(*np.asarray(pairs).T))
    total = score.sum()
    lower, upper = at_all(null.saddlepoint_coin_tails, score, np.sort(places) * total)
    assert_tails(lower, upper)
    mirrored = at_all(null.saddlepoint_coin_tails, score, total - np.sort(places) * total)
    np.testing.assert_allclose(mirrored.upper, lower, atol=1e-9)


def assert_tails(lower, upper):
    for tail in (lower, upper):
        assert ((tail >= 0) & (tail <= 1)).all()
    assert (lower + upper >= 1 - 1e-12).all()
    assert (np.diff(lower) >= -1e-12).all()
    assert (np.diff(upper) <= 1e-12).all()


def test_200_exact_coins_keep_12_digits_in_the_smallest_tail():
    scores = scores_of(np.arange(1, 201))
    counts = coin_counts(scores)
    sums = [0, 1, 9_000, 15_000, 20_000, 27_000, 35_000, 39_900, 40_000]
    expected = [float(Fraction(sum(counts[s:]), 2**200)) for s in sums]
    found = at_all(exact_coins.exact_coin_tails, scores, sums)
    np.testing.assert_allclose(found.upper, expected, rtol=1e-12)
    assert found.upper[-1] == 2.0**-200


@pytest.mark.parametrize(
    ("confidence", "error"),
    [
        (np.arange(1, 51), 2e-5),
        (np.arange(50) // 2 + 1, 2e-5),
        (np.ones(50), 2e-5),
        (np.repeat([1, 2], 25), 2e-5),
        (np.minimum(np.arange(1, 51), 25), 2e-5),
        (np.maximum(np.arange(50) - 9, 0), 1e-4),
        # Few levels without a common divisor: gaps and heaps that no smooth formula can see.
        (np.repeat([1, 2, 3, 4, 5], [9, 10, 11, 12, 8]), 4e-3),
        (np.repeat([1, 2], [24, 26]), 2e-2),
    ],
    ids=["untied", "pairs", "all-tied", "halves", "half-tied", "zeros", "5-levels", "2-levels"],
)
def test_the_saddlepoint_is_near_the_exact_tails_everywhere(confidence, error):
    scores = scores_of(confidence)
    sums = np.arange(int(scores.sum()) + 1)
    expected, found = exact_tails(scores, sums), saddlepoint(scores, sums)
    np.testing.assert_allclose(found.upper, expected.upper, atol=error)
    np.testing.assert_allclose(found.lower, expected.lower, atol=error)


def test_the_saddlepoint_is_relatively_accurate_in_the_tail():
    scores = scores_of(np.arange(1, 201))
    sums = np.arange(20_000, 31_000, 50)
    expected = exact_tails(scores, sums).upper
    assert expected.min() < 1e-10
    np.testing.assert_allclose(saddlepoint(scores, sums).upper, expected, rtol=5e-4)


def test_the_saddlepoint_is_smooth_across_the_mean():
    stats = pytest.importorskip("scipy.stats")
    scores = np.random.default_rng(0).random(20_000)
    spread = np.sqrt(np.sum(scores**2)) / 2
    z = np.linspace(-1e-3, 1e-3, 21)
    upper = at_all(null.saddlepoint_coin_tails, scores, scores.sum() / 2 + z * spread).upper
    np.testing.assert_allclose(upper, stats.norm.sf(z), atol=1e-8)
    np.testing.assert_allclose(np.diff(upper, 2), 0, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 30, 1000])
@pytest.mark.parametrize(
    "tails", [saddlepoint, lambda *a: at_all(exact_coins.exact_coin_tails, *a)]
)
def test_all_right_has_one_way_and_more_than_that_none(n, tails):
    if n > 200 and tails is not saddlepoint:
        pytest.skip("n^3 steps")
    scores = scores_of(np.arange(1, n + 1))
    found = tails(scores, [-1.0, 0.0, n * n, n * n + 1.0])
    np.testing.assert_array_equal(found.upper, [1, 1, 0.5**n, 0])
    np.testing.assert_array_equal(found.lower, [0, 0.5**n, 1, 1])


def test_weighted_extremes_stand_rounding():
    rng = np.random.default_rng(0)
    scores = rng.lognormal(size=40)
    for observed in (scores.sum(), scores[::-1].cumsum()[-1], scores.sum() * (1 + 1e-15)):
        found = null.saddlepoint_coin_tails(XP, scores, np.asarray(observed))
        np.testing.assert_allclose(found.upper, 0.5**40, rtol=1e-12)
        assert found.lower == 1


@pytest.mark.parametrize("n", [10**5, 10**6])
def test_many_coins_are_normal(n):
    stats = pytest.importorskip("scipy.stats")
    margin = np.random.default_rng(n).standard_normal(n)
    score, observed = null.coins(XP, Margins(margin, None))
    z = (observed - score.sum() / 2) / np.sqrt(np.sum(score**2) / 4)
    found = null.saddlepoint_coin_tails(XP, score, observed, null.common_span(XP, score))
    np.testing.assert_allclose(found.upper, stats.norm.sf(z), rtol=1e-4)
    all_right = null.saddlepoint_coin_tails(XP, score, score.sum(), 1.0)
    assert all_right == (1, 0)


@pytest.mark.parametrize("spread", [0.3, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_20_weighted_coins_are_within_20_percent_of_enumeration_at_one_in_a_thousand(spread, seed):
    rng = np.random.default_rng(seed)
    margins = Margins(rng.standard_normal(20), rng.lognormal(0, spread, 20))
    score, _ = null.coins(XP, margins)
    outcomes = subset_sums(score)
    for p, error in ((0.5, 0.02), (0.05, 0.02), (0.001, 0.2)):
        observed = outcomes[-round(p * outcomes.size)]
        found = null.saddlepoint_coin_tails(XP, score, observed)
        np.testing.assert_allclose(found.upper, p, rtol=error)


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_the_scale_of_weights_does_not_matter(scale):
    rng = np.random.default_rng(0)
    margin, weight = rng.standard_normal(30), rng.random(30)

    def tails(margins):
        return (
            *null.saddlepoint_coin_tails(XP, *null.coins(XP, margins)),
            *null.mann_whitney_tails(XP, margins),
        )

    expected = tails(Margins(margin, weight))
    np.testing.assert_allclose(tails(Margins(margin, scale * weight)), expected, rtol=1e-10)


def test_a_few_weighted_coins_are_enumerated():
    scores = np.asarray([0.1, 0.7, 30.0, 2.5, 0.3])
    outcomes = subset_sums(scores)
    found = at_all(null.saddlepoint_coin_tails, scores, outcomes)
    np.testing.assert_allclose(found.upper, np.arange(32, 0, -1) / 32)
    np.testing.assert_allclose(found.lower, np.arange(1, 33) / 32)


@given(lists(st.integers(0, 30), 30))
def test_the_span_is_the_greatest_common_divisor(confidence):
    scores = scores_of(confidence)
    expected = np.gcd.reduce(scores.astype(int))
    assert null.common_span(XP, scores) == expected
    assert null._common_span(XP, scores) == expected


def test_what_is_not_defined_is_nan():
    nothing = np.zeros((2, 0))
    for tails in (exact_coins.exact_coin_tails, null.saddlepoint_coin_tails):
        assert np.isnan(tails(XP, nothing, np.zeros(2))).all()
        assert np.isnan(tails(XP, np.asarray([1.0, 3.0]), np.asarray(np.nan))).all()
        assert np.isnan(tails(XP, np.asarray([1.0, np.nan]), np.asarray(1.0))).all()
    absent = Margins(np.asarray([1.0, -2.0]), np.zeros(2))
    assert np.isnan(exact_coins.exact_coin_tails(XP, *null.coins(XP, absent))).all()
    for margin in ([1.0, 2.0], [-1.0], [0.0, 0.0], [0.0, 3.0]):
        found = null.mann_whitney_tails(XP, Margins(np.asarray(margin), None))
        assert np.isnan(found).all()
    assert np.isnan(null.mann_whitney_tails(XP, absent)).all()


def test_without_a_coin_the_sum_is_certain():
    undecided = null.coins(XP, Margins(np.zeros(3), None))
    assert exact_coins.exact_coin_tails(XP, *undecided) == (1, 1)
    assert null.saddlepoint_coin_tails(XP, *undecided) == (1, 1)
    assert null.saddlepoint_coin_tails(XP, *undecided, 0.0) == (1, 1)


@given(lists(MARGINS, 40, least=2).filter(lambda m: m.min() < 0 < m.max()))
def test_mann_whitney_is_scipys_on_what_is_decided(margin):
    stats = pytest.importorskip("scipy.stats")
    found = null.mann_whitney_tails(XP, Margins(margin, None))
    both = null.two_sided(XP, found)
    for side, p in (("greater", found.upper), ("less", found.lower), ("two-sided", both)):
        with np.errstate(divide="ignore", invalid="ignore"):  # where all are tied
            expected = stats.mannwhitneyu(
                margin[margin > 0], -margin[margin < 0], alternative=side, method="asymptotic"
            ).pvalue
        if np.unique(np.abs(margin[margin != 0])).size == 1:
            expected = 1.0  # nothing speaks against chance; SciPy has 1, and NaN from 1.18 on
        np.testing.assert_allclose(p, expected, rtol=1e-10)
    masked = Margins(np.append(margin, [7.0, -7.0]), np.append(np.ones(margin.size), [0, 0]))
    np.testing.assert_allclose(null.mann_whitney_tails(XP, masked), found)


def test_the_weighted_gain_has_the_variance_of_all_choices_of_right_decisions():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    confidence = np.asarray([1.0, 2, 2, 3, 4, 4, 4, 5])
    weight = rng.lognormal(size=8)
    twice_rank = (weight * (confidence < confidence[:, None])).sum(axis=1) + (
        weight * (confidence <= confidence[:, None])
    ).sum(axis=1)
    lead = weight * (twice_rank - weight.sum())
    gains = np.asarray([sum(lead[list(right)]) for right in combinations(range(8), 5)])
    np.testing.assert_allclose(gains.mean(), 0, atol=1e-12)
    sign = np.asarray([1, -1, 1, 1, -1, 1, -1, 1])
    found = null.mann_whitney_tails(XP, Margins(sign * confidence, weight))
    z = lead[sign > 0].sum() / gains.std()
    np.testing.assert_allclose(found, [stats.norm.cdf(z), stats.norm.sf(z)], rtol=1e-12)


def test_confidences_that_all_tie_say_nothing_whatever_the_weights():
    weight = np.random.default_rng(0).lognormal(size=50)
    margin = np.where(np.arange(50) % 3 == 0, -1.0, 1.0)
    assert null.mann_whitney_tails(XP, Margins(margin, weight)) == (
        1,
        1,
    )


def p_values(margin, weight=None):
    """Return both one-sided p-values and the two-sided one, and how they were computed."""
    found = [
        lx.significance(1, margin, sample_weight=weight, alternative=alternative, threshold=0.0)
        for alternative in ("less", "greater", "two-sided")
    ]
    return [each.p_value for each in found], found[0].method


def enumerated(margin, weight):
    """Return the same p-values from all outcomes, in fractions."""
    there = [(abs(m), m > 0, w) for m, w in zip(margin, weight, strict=True) if w]
    scores, observed = [], 0
    for confidence, is_right, w in there:
        below = sum(u for g, _, u in there if g < confidence)
        tied = sum(u for g, _, u in there if g == confidence)
        if confidence:
            scores.append(w * (2 * below + tied))
            observed += is_right * scores[-1]
    sums = [Fraction(0)]
    for score in scores:
        sums += [total + score for total in sums]
    lower, upper = (
        float(Fraction(sum(map(extreme, sums)), len(sums)))
        for extreme in (lambda total: total <= observed, lambda total: total >= observed)
    )
    return [lower, upper, min(1.0, 2 * min(lower, upper))]


# In fractions, as a person would write them: binary floats only come near.
UNITS = st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(1, 6), Fraction(7, 3)])
DECIDED = st.integers(-4, 4).map(float)


@given(lists(MARGINS, 12), st.floats(1e-300, 1e300), st.data())
def test_equal_weights_are_no_weights_bit_for_bit(margin, weight, data):
    expected = p_values(margin)
    assert expected[1] == "exact"
    assert p_values(margin, weight) == expected
    absent = data.draw(lists(MARGINS, 12))
    both = np.append(margin, absent)
    weights = np.append(np.full(margin.size, weight), np.zeros(absent.size))
    order = data.draw(st.permutations(range(both.size)))
    assert p_values(both[order], weights[order]) == expected
    for null_ in ("coin", "uninformative"):
        one, other = (
            lx.significance(1, margin, null=null_, sample_weight=w, threshold=0.0).p_value
            for w in (None, weight)
        )
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [25, 60, 199, 200, 201, 500])
@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 1e-300, 1e300])
def test_equal_weights_are_no_weights_bit_for_bit_with_many_samples(n, weight):
    rng = np.random.default_rng(n)
    margin = np.round(rng.normal(0.2, 1, n), 1)
    expected = p_values(margin)
    assert expected[1] == ("exact" if n <= 200 else "saddlepoint")
    assert p_values(margin, np.full(n, weight)) == expected
    at = np.sort(rng.integers(0, n, 30))
    padded = np.insert(margin, at, 7.0)
    assert p_values(padded, np.insert(np.full(n, weight), at, 0.0)) == expected


@pytest.mark.parametrize("weight", [None, 1.0, 0.1, 1e-300, 7.0])
@pytest.mark.parametrize(("right", "wrong"), [(32, 18), (9, 3), (100, 90), (0, 5), (70, 70)])
def test_one_block_of_confidence_is_scipys_binomial_test(right, wrong, weight):
    stats = pytest.importorskip("scipy.stats")
    margin = np.repeat([1.0, -1.0], [right, wrong])
    found, method = p_values(margin, weight)
    expected = [
        stats.binomtest(right, right + wrong, alternative=alternative).pvalue
        for alternative in ("less", "greater", "two-sided")
    ]
    assert method == "exact"
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@given(st.lists(st.tuples(DECIDED, st.integers(0, 5)), min_size=1, max_size=9), UNITS)
def test_p_values_of_whole_multiples_are_those_of_all_outcomes(pairs, unit):
    margin, weight = [m for m, _ in pairs], [k * unit for _, k in pairs]
    if any(weight):
        found = p_values(np.asarray(margin), np.asarray([float(w) for w in weight]))
        assert found == (enumerated(margin, weight), "exact")


@given(st.lists(st.tuples(DECIDED, st.floats(0.01, 100)), min_size=1, max_size=9))
def test_p_values_of_any_few_weights_are_those_of_all_outcomes(pairs):
    margin, weight = np.asarray(pairs).T
    # Of sums that are nearer to each other than rounding, only fractions can tell which is larger.
    weight = np.round(weight, 3)
    weight[weight == 0] = 1.0
    exact = [Fraction(f"{w:.3f}") for w in weight]
    assert p_values(margin, weight) == (enumerated(margin, exact), "exact")


@pytest.mark.parametrize("levels", [1, 3, 40])
def test_whole_weights_of_many_samples_are_those_of_all_outcomes(levels):
    rng = np.random.default_rng(levels)
    weight = rng.integers(1, 6, 40)
    margin = rng.integers(1, levels + 1, 40) * rng.choice([-1.0, 1.0, 1.0], 40)
    found, method = p_values(margin, weight / 7)
    assert method == "exact"
    w = weight.astype(float)
    score, observed = null.coins(XP, Margins(margin, w))
    counts, at = coin_counts(score), int(observed)
    expected = [float(Fraction(sum(side), 2**40)) for side in (counts[: at + 1], counts[at:])]
    np.testing.assert_allclose(found[:2], expected, rtol=1e-12)


@given(
    st.lists(st.tuples(DECIDED, st.floats(0.01, 100)), min_size=1, max_size=30),
    st.sampled_from([2.0**-70, 1e-90, 0.1, 1 / 3, 3.0, 1e90]),
)
def test_scaling_all_weights_leaves_p_values_as_they_are(pairs, scale):
    margin, weight = np.asarray(pairs).T
    expected, method = p_values(margin, weight)
    found, again = p_values(margin, weight * scale)
    assert again == method
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@given(
    st.lists(st.tuples(DECIDED, st.floats(0.01, 100)), min_size=1, max_size=20),
    lists(MARGINS, 9),
)
def test_a_sample_of_weight_0_changes_nothing(pairs, absent):
    margin, weight = np.asarray(pairs).T
    more = np.append(margin, absent), np.append(weight, np.zeros(absent.size))
    assert p_values(*more) == p_values(margin, weight)


def test_24_coins_are_enumerated():
    scores = np.random.default_rng(0).lognormal(size=24)
    outcomes = subset_sums(scores)
    for place in (0, 1, 1000, 10**6, 2**23, 2**24 - 1):
        lower, upper = exact_coins.enumerated_tails(XP, scores, outcomes[place], 24)
        assert lower == (place + 1) / 2**24
        assert upper == 1 - place / 2**24


def test_each_entry_of_a_batch_gets_its_own_form():
    rng = np.random.default_rng(0)
    margin = np.round(rng.normal(0.3, 1, (6, 230)), 1)
    weight = np.stack(
        [
            np.full(230, 0.1),  # equal, too many
            (np.arange(230) < 100) * 0.3,  # equal, few enough
            (np.arange(230) < 20) * rng.random(230),  # few
            (np.arange(230) < 60) * rng.integers(1, 4, 230) / 3,  # whole
            rng.random(230),
            np.zeros(230),
        ]
    )
    found = lx.significance(1, margin, sample_weight=weight)
    assert found.method == "exact or saddlepoint"
    single = [lx.significance(1, m, sample_weight=w) for m, w in zip(margin, weight, strict=True)]
    names = ["saddlepoint", "exact", "exact", "exact", "saddlepoint", "exact"]
    assert [each.method for each in single] == names
    np.testing.assert_array_equal(found.p_value, [each.p_value for each in single])
    none = lx.significance(1, np.zeros((0, 5)), sample_weight=1.0)
    assert none.p_value.shape == (0,)


def test_whole_weights_with_large_sums_keep_the_lattice():
    # One block of confidence: a lattice as coarse as the weights, far beyond what a table may take.
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, 1500).astype(float)
    margin = np.where(rng.random(1500) < 0.51, 1.0, -1.0)
    counts = coin_counts(weight)
    right = int(weight[margin > 0].sum())
    expected = float(Fraction(sum(counts[right:]), 2**1500))
    found = lx.significance(1, margin, sample_weight=weight, alternative="greater")
    assert found.method == "saddlepoint"
    np.testing.assert_allclose(found.p_value, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ([0.1, 0.1], [1, 1]),
        ([1 / 6, 0, 1 / 2], [1, 0, 3]),
        ([0.05, 0.07], [5, 7]),
        ([0.1, 0.2, 0.1 + 0.2], [1, 2, 3]),
        ([2e-200, 3e-200], [2, 3]),
        ([0, 0], [0, 0]),
        ([1, np.pi], None),
        ([65, 66, 67], None),
        ([1e-20, 1], None),
        ([1, 1e9], None),
    ],
)
def test_weights_have_a_unit_or_stay_as_they_are(weight, expected):
    weight = np.asarray(weight, dtype=float)
    found = weight_units.whole_weights(XP, weight)
    assert found.is_whole == (expected is not None)
    np.testing.assert_array_equal(found.weight, weight if expected is None else expected)
    portable = weight_units._units_of_least(XP, weight / max(weight[weight > 0], default=1.0), 64)
    assert portable.shape == (1,)


class Case(NamedTuple):
    function: object
    arrays: tuple[np.ndarray, ...]


def _tails_of_margins(xp, margin, weight):
    uniform, weighted = (null.coins(xp, Margins(margin, w)) for w in (None, weight))
    span = null.common_span(xp, uniform.score)
    return (
        *exact_coins.exact_coin_tails(xp, *uniform),
        *null.saddlepoint_coin_tails(xp, *uniform, span),
        *null.saddlepoint_coin_tails(xp, *weighted),
        *null.mann_whitney_tails(xp, Margins(margin, None)),
        *null.mann_whitney_tails(xp, Margins(margin, weight)),
    )


def _tails_of_weights(xp, margin, equal, whole, real):
    """Return tails for 0 or 1, equal, whole and real weights, where values may be traced."""
    found = []
    for weight in (equal, whole, real):
        # NumPy as well takes the form that looks at no values.
        found += coin_null._tails_of_any(xp, Margins(margin, weight), weight, 60)[0]
    return tuple(found)


def _distributions(xp, z, p, df):
    return (
        distributions.upper_tail(xp, z),
        distributions.quantile(xp, p),
        distributions.t_upper_tail(xp, z, df),
        distributions.t_two_sided(xp, z, df),
        distributions.t_quantile(xp, p, df),
    )


MARGIN = np.asarray([3.0, -1, 0, 2, 2, -2, 5, 1, 0, 4, 6, -0.5])
CASES = {
    "margins": Case(_tails_of_margins, (MARGIN, np.abs(np.sin(np.arange(12.0) + 1)))),
    "batch": Case(
        _tails_of_margins,
        (
            np.stack([MARGIN, -MARGIN, np.abs(MARGIN)]),
            np.stack([np.ones(12), np.arange(12.0), np.zeros(12)]),
        ),
    ),
    **{
        f"weights of {n}": Case(
            _tails_of_weights,
            (
                np.round(2 * np.sin(np.arange(n) ** 2.0)) / 2,
                np.full(n, 0.1) * (np.arange(n) % 5 > 0),
                (np.arange(n) % 3) / 7,
                np.abs(np.sin(np.arange(float(n)) + 1)),
            ),
        )
        for n in (12, 50, 70)
    },
    "distributions": Case(
        _distributions,
        (
            np.asarray([-3.0, -0.5, 0, 0.7, 2, 4.5]),
            np.asarray([1e-6, 0.025, 0.4, 0.5, 0.75, 0.9]),
            np.asarray([1.0, 2, 5.5, 30, 1e3, 1e5]),
        ),
    ),
}


@pytest.mark.runners("*-eager", "*-jit+vmap", "torch-vmap")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_library_gives_the_same(runner, case):
    expected = np.stack(case.function(XP, *case.arrays))
    found = run(runner, case.function, case.arrays)
    tolerance = 1e-11 if runner.backend.dtype == "float64" else 2e-5
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def run(runner, function, arrays):
    """Return the results of a function on one backend, under the transform of the runner."""

    def called(*arrays):
        return function(namespaces.namespace(x=arrays[0]), *arrays)

    transformed = called
    if "vmap" in runner.transform:
        transformed = vmap_of(runner)(transformed)
        arrays = [np.stack([array, array[..., ::-1]]) for array in arrays]
    if "jit" in runner.transform:
        jax = pytest.importorskip("jax")
        transformed = jax.jit(transformed)
    with backends.context(runner.backend):
        converted = (
            backends.convert(runner.backend, array.astype(runner.backend.dtype)) for array in arrays
        )
        results = [backends.to_numpy(result) for result in transformed(*converted)]
    return np.stack([result[0] for result in results] if "vmap" in runner.transform else results)


def vmap_of(runner):
    if runner.backend.library == "jax":
        return pytest.importorskip("jax").vmap
    return pytest.importorskip("torch").func.vmap
