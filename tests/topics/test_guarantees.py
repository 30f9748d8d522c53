"""Exact tails against SciPy, and guarantees against simulation."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, norm

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp._numerics import binomial
from lxcim_xp.testing import samples


@given(samples(weights=st.integers(1, 3)), st.floats(0.05, 1))
def test_clopper_pearson_is_scipys(sample, rate):
    score = np.where(sample.y_score == 0, 1.0, sample.y_score)
    found = lx.accuracy_at(sample.y_true, score, rate, level=0.9)
    decided = np.abs(score) >= found.confidence
    right = int(lx.accuracy(sample.y_true, score, where=decided) * decided.sum() + 0.5)
    interval = binomtest(right, int(decided.sum())).proportion_ci(0.9, method="exact")
    np.testing.assert_allclose([found.low, found.high], interval, atol=1e-12)
    assert found.rate >= rate - 1e-12


@pytest.mark.parametrize("trials", [1, 2, 30, 499, 5000, 100_000])
def test_binomial_tails_and_limits_are_scipys(trials):
    rng = np.random.default_rng(trials)
    n = np.full(300, float(trials))
    chance = np.concatenate([rng.random(100), 10 ** rng.uniform(-6, -0.1, 100)])
    chance = np.concatenate([chance, 1 - chance[100:]])
    spread = 3 * np.sqrt(trials * chance * (1 - chance))
    count = np.clip(np.round(trials * chance + spread * rng.standard_normal(300)), 0, trials)
    xp = namespaces.namespace()
    found = binomial.lower_tail(xp, count, n, chance, trials)
    np.testing.assert_allclose(found, binom.cdf(count, trials, chance), atol=2e-12, rtol=1e-10)
    low, high = binomial.clopper_pearson(xp, count, count, n, 0.95, trials)
    with np.errstate(invalid="ignore"):
        expected = np.where(count > 0, beta.ppf(0.025, count, trials - count + 1), 0)
        np.testing.assert_allclose(low, expected, atol=1e-12)
        expected = np.where(count < trials, beta.ppf(0.975, count + 1, trials - count), 1)
        np.testing.assert_allclose(high, expected, atol=1e-12)


def true_risks(confidence):
    """Return how often a margin ~ N(1, 1) is decided and wrong, and decided."""
    confidence = np.where(np.isnan(confidence), np.inf, confidence)
    wrong = norm.cdf(-confidence - 1)
    return wrong, wrong + norm.sf(confidence - 1)


@pytest.mark.parametrize(("n", "least"), [(200, 0.1), (1000, 0.4), (5000, 0.48)])
def test_the_guarantee_holds_and_is_of_use(n, least):
    margins = np.random.default_rng(n).standard_normal((250, n)) + 1
    wrong, decided = true_risks(lx.threshold_for(1, margins, accuracy=0.95, delta=0.1).confidence)
    assert np.mean(wrong > 0.05 * decided) <= 0.1
    assert np.mean(decided) >= least
    wrong, decided = true_risks(lx.threshold_for(1, margins, accuracy=0.95, delta=None).confidence)
    assert 0.4 < np.mean(wrong > 0.05 * decided) < 0.7


@pytest.mark.parametrize("n", [20, 200, 2000])
def test_joint_risk_is_controlled_in_the_mean(n):
    margins = np.random.default_rng(n).standard_normal((2000, n)) + 1
    wrong, _ = true_risks(lx.threshold_for(1, margins, joint_risk=0.1).confidence)
    assert np.mean(wrong) <= 0.1 + 3 * np.std(wrong) / np.sqrt(len(wrong))
    assert np.mean(wrong) >= 0.1 - 1.5 / n - 3 * np.std(wrong) / np.sqrt(len(wrong))


def correlated(rng, sets, groups, correlation):
    """Return margins ~ N(1, 1) that are correlated inside clusters."""
    shared = rng.standard_normal((sets, groups.max() + 1))[:, groups]
    own = rng.standard_normal((sets, groups.size))
    return 1 + np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own


@pytest.mark.parametrize(
    ("sizes", "correlation", "least"),
    [
        (np.full(100, 10), 0.1, 0.5),
        (np.full(100, 20), 0.5, 0.4),
        (np.full(400, 5), 0.5, 0.65),
        (1 + np.arange(300) % 29, 0.5, 0.5),
    ],
    ids=["10 answers", "20 answers", "many questions", "uneven"],
)
def test_the_guarantee_by_clusters_holds_and_is_of_use(sizes, correlation, least):
    groups = np.repeat(np.arange(sizes.size), sizes)
    margins = correlated(np.random.default_rng(sizes.sum()), 250, groups, correlation)
    options = {"accuracy": 0.9, "delta": 0.1}
    wrong, decided = true_risks(lx.threshold_for(1, margins, groups=groups, **options).confidence)
    assert np.mean(wrong > 0.1 * decided) <= 0.05
    assert np.mean(decided) >= least


@pytest.mark.parametrize("shared", [0.0, 2.0, np.inf])
@pytest.mark.parametrize("number", [30, 90])
def test_clusters_may_be_right_or_wrong_as_a_whole(number, shared):
    rng = np.random.default_rng(number)
    groups = np.repeat(np.arange(number), 10)
    confidence = rng.standard_normal((400, groups.size)) * np.isfinite(shared)
    confidence += rng.standard_normal((400, number))[:, groups] * min(shared, 10.0)
    wrong = rng.random((400, number))[:, groups] < 0.1 + 1e-9
    margins = np.where(wrong, -np.exp(confidence), np.exp(confidence))
    # Whatever is decided is a little less accurate than it should be.
    if shared:
        alone = lx.threshold_for(1, margins, accuracy=0.9, delta=0.1)
        assert np.mean(alone.rate > 0) > 0.2
    found = lx.threshold_for(1, margins, accuracy=0.9, delta=0.1, groups=groups)
    assert np.mean(found.rate > 0) <= 0.1


def test_joint_risk_by_clusters_is_controlled_in_the_mean():
    rng = np.random.default_rng(1)
    sizes = 5 + np.arange(30) % 11
    groups = np.repeat(np.arange(30), sizes)
    confidence = np.exp(rng.standard_normal((1500, groups.size)))
    wrong = rng.random((1500, 30))[:, groups] < 0.3
    margins = np.where(wrong, -confidence, confidence)

    def risk(**options):
        confidence = lx.threshold_for(1, margins, joint_risk=0.1, **options).confidence
        confidence = np.where(np.isnan(confidence), np.inf, confidence)
        return 0.3 * norm.sf(np.log(confidence))

    alone, found = risk(), risk(groups=groups)
    assert np.mean(alone) > 0.1 + 3 * np.std(alone) / np.sqrt(1500)
    assert 0.05 < np.mean(found) <= 0.1 + 3 * np.std(found) / np.sqrt(1500)
