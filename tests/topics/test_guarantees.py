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
