"""The default interval against its definition, and where it must not collapse."""

import tracemalloc

import numpy as np
import oracle_intervals as oracle
import pytest
from backends import context, convert, to_numpy
from hypothesis import assume, given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp._samples.samples import collect
from lxcim_xp.inference import intervals
from lxcim_xp.inference.influence import KERNELS
from lxcim_xp.inference.sampling_design import design
from lxcim_xp.testing import samples

METRICS = ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"]
WEIGHTED = samples(min_size=3, weights=st.integers(0, 12).map(lambda k: k / 4))


@pytest.mark.parametrize("metric", METRICS)
@given(sample=WEIGHTED)
def test_the_closed_form_of_the_pseudo_observation_is_that_of_rows(metric, sample):
    label, score, weight = sample
    assume(np.count_nonzero(weight) > 1)
    score = np.clip(score, -1e3, 1e3)
    kernel = KERNELS[metric]
    _, clean = collect(label, score, sample_weight=weight, threshold=0.0)
    drawn = design(np, None, None, "importance", clean.score, clean.weight, -1)
    xp, clean = kernel.collect(label, score, sample_weight=weight, threshold=0.0)
    found, (steady, error), _ = intervals.estimated_twice(xp, kernel, clean, drawn)
    assume(np.isfinite(found[0]))
    share = oracle.ADDED[metric] / oracle.effective(weight)
    estimate, moves, own = oracle.steadied(metric, label, score, weight, share)
    np.testing.assert_allclose(steady, estimate, rtol=1e-9)
    squared = oracle.variance(moves, weight, None) + own
    tolerance = 1e-6 if metric == "audrc" else 1e-9
    np.testing.assert_allclose(error, np.sqrt(squared), rtol=tolerance, atol=1e-10)


def test_rows_of_audrc_are_the_closed_form_but_for_finer_steps():
    rng = np.random.default_rng(0)
    margins = rng.normal(0.8, 1, 3000)
    label, weight = np.ones(3000, dtype=int), np.ones(3000)
    value = lx.audrc(1, margins)
    closed = (value + 0.01) / 1.02
    rows, moves, own = oracle.by_rows("audrc", label, margins, weight, 0.02)
    np.testing.assert_allclose(rows, closed, atol=1e-3)
    kernel = KERNELS["audrc"]
    xp, clean = kernel.collect(1, margins)
    descent = kernel.sort.with_order(xp, clean)
    steady = kernel.steadied(xp, descent, kernel.estimate(xp, descent), np.asarray([0.02]))
    _, after, drawn = steady.formula(*steady.descent.columns)
    np.testing.assert_allclose(np.sum(moves**2), np.sum(after**2), rtol=0.01)
    np.testing.assert_allclose(own, drawn.sum(), rtol=0.02)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("design", ["uniform", "weights", "frequency", "clusters", "both"])
def test_intervals_are_those_of_their_definition(metric, design):
    rng = np.random.default_rng(1)
    for n, decimals in ((12, 0), (40, 1), (60, 9)):
        label = rng.integers(0, 2, n)
        score = rng.normal(1.2 * (2 * label - 1), 1).round(decimals)
        weight = np.ones(n)
        if design in ("weights", "both"):
            weight = rng.lognormal(0, 1, n) * (rng.random(n) < 0.9)
        elif design == "frequency":
            weight = rng.integers(0, 6, n).astype(float)
        groups = rng.integers(0, n // 3, n) if design in ("clusters", "both") else None
        frequency = design == "frequency"
        options = {"groups": groups, "weight_type": "frequency" if frequency else "importance"}
        if design not in ("uniform", "clusters"):
            options["sample_weight"] = weight
        for level in (0.8, 0.95):
            found = lx.interval(label, score, metric=metric, level=level, **options)
            expected = oracle.interval(metric, label, score, weight, groups, frequency, level)
            np.testing.assert_allclose(
                found[1:3], expected, rtol=2e-6 if metric == "audrc" else 1e-8
            )


@pytest.mark.parametrize("n", [2, 3, 7, 10, 49, 1000, 100_001])
@pytest.mark.parametrize("weighted", [False, True])
def test_where_nothing_is_known_there_is_no_interval_rather_than_a_point(n, weighted):
    rng = np.random.default_rng(n)
    label = np.arange(n) % 2
    options = {"sample_weight": rng.lognormal(0, 1, n)} if weighted else {}
    for metric, scores in (
        ("auroc", np.zeros(n)),
        ("auroc", np.full(n, 0.3)),
        ("audrc", np.zeros(n)),
        ("lxcim", np.zeros(n)),
        ("accuracy", np.zeros(n)),
        ("confidence_auroc", np.ones(n)),
    ):
        for method in ("logit+", "logit", "wald", "bayes", "bootstrap", "bca"):
            if n > 1000 and method in ("bayes", "bootstrap", "bca"):
                continue
            found = lx.interval(
                label,
                scores,
                metric=metric,
                method=method,
                n_resamples=200,
                threshold=0.0,
                **options,
            )
            assert np.isnan([found.low, found.high]).all(), (metric, method, found)
            if method in ("logit+", "logit", "wald"):
                np.testing.assert_allclose(found.estimate, 0.5)


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("metric", ["lxcim", "accuracy", "audrc"])
def test_undecided_samples_have_no_interval_whatever_they_weigh(runner, metric):
    rng = np.random.default_rng(6)
    n, dtype = 11, runner.backend.dtype
    weights = [np.ones(n), *rng.integers(1, 5, (6, n)), *rng.lognormal(0, 2, (6, n))]
    weight = np.stack([*weights, *(rng.random((4, n)) * 1e-30)]).astype(dtype)
    codes = np.arange(n) // 2
    for options in ({}, {"groups": codes}, {"groups": np.arange(n)}, {"strata": codes % 2}):
        with context(runner.backend):
            score = convert(runner.backend, np.zeros(weight.shape, dtype=dtype))
            found = lx.interval(
                1,
                score,
                metric=metric,
                sample_weight=convert(runner.backend, weight),
                threshold=0.0,
                **{name: convert(runner.backend, value) for name, value in options.items()},
            )
            assert np.isnan(to_numpy(found.low)).all()
            assert np.isnan(to_numpy(found.high)).all()


def test_the_example_of_constant_scores_has_no_interval():
    found = lx.interval([1] * 5 + [0] * 5, [0.0] * 10, metric="auroc")
    assert found.estimate == 0.5
    assert np.isnan([found.low, found.high]).all()


def test_bayes_has_no_width_where_confidence_tells_all_apart():
    rng = np.random.default_rng(2)
    margins = np.concatenate([rng.uniform(2, 3, 40), -rng.uniform(0, 1, 7)])
    options = {"metric": "confidence_auroc"}
    for weight in (None, rng.lognormal(0, 1, 47)):
        options["sample_weight"] = weight
        for method in ("logit", "wald", "bayes", "bca"):
            found = lx.interval(1, margins, method=method, **options)
            assert np.isnan([found.low, found.high]).all(), (method, found)
        found = lx.interval(1, margins, **options)
        assert found.low < 0.95
        assert found.high > 1 - 1e-9


@pytest.mark.parametrize("method", ["bca", "bootstrap", "bayes"])
@pytest.mark.runners("*-eager")
def test_resamples_without_a_spread_have_no_interval(runner, method):
    dtype = runner.backend.dtype
    cases = (
        ("lxcim", 1, [1.0, 2.0, 3.0]),  # all right
        ("audrc", 1, [-1.0, -2.0, -3.0]),  # all wrong
        ("lxcim", 1, [2.0]),  # one sample
        ("auroc", 1, [2.0, 1.0, 3.0]),  # undefined
        ("confidence_auroc", 1, [2.0, 1.0, 3.0]),
    )
    for metric, label, scores in cases:
        with context(runner.backend):
            scores = convert(runner.backend, np.asarray(scores, dtype=dtype))
            found = lx.interval(label, scores, metric=metric, method=method, n_resamples=50)
            assert np.isnan(to_numpy(found.low)).all()
            assert np.isnan(to_numpy(found.high)).all()


@pytest.mark.parametrize("metric", ["auroc", "confidence_auroc"])
def test_the_quantile_of_auroc_knows_its_smaller_class(metric):
    rng = np.random.default_rng(3)
    margins = np.concatenate([rng.exponential(1, 40), -rng.exponential(0.7, 3)])
    label = (margins > 0).astype(int) if metric == "auroc" else np.ones(43)
    score = np.abs(margins) if metric == "auroc" else margins
    found = lx.interval(label, score, metric=metric, method="wald", level=0.5)
    half = oracle.stats.t.ppf(0.75, 3 + 4) * found.standard_error
    np.testing.assert_allclose(found.high - found.estimate, half, rtol=1e-9)
    again = lx.interval(label, score, metric=metric, method="wald", level=0.5,
                        sample_weight=np.full(43, 3), weight_type="frequency")  # fmt: skip
    half = oracle.stats.t.ppf(0.75, 9 + 4) * again.standard_error
    np.testing.assert_allclose(again.high - again.estimate, half, rtol=1e-9)


@pytest.mark.parametrize("with_ties", [False, True])
def test_audrc_under_heavy_tails_is_covered(with_ties):
    # The AUDRC of such margins is 0.95: its variance rests on few confident errors.
    margins = np.random.default_rng(7).standard_t(2, (1500, 200)) + 2.7509
    if with_ties:
        margins = np.sign(margins) * np.ceil(8 * np.abs(margins)) / 8
    found = lx.interval(1, margins, metric="audrc")
    assert 0.94 < np.mean((found.low <= 0.95) & (found.high >= 0.95)) < 0.99  # it was 0.88


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_hold_little_more_memory_than_the_metric(metric):
    rng = np.random.default_rng(4)
    label, score = rng.integers(0, 2, 400_000), rng.normal(0, 1, 400_000)

    def most_held(function):
        tracemalloc.start()
        function(label, score)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    most = most_held(lambda *both: lx.interval(*both, metric=metric))
    assert most < 2 * most_held(getattr(lx, metric))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("exponent", [-400, 300])
def test_weights_of_many_orders_of_magnitude_give_bounds_in_order(metric, exponent):
    rng = np.random.default_rng(5)
    label, score = rng.integers(0, 2, 60), rng.normal(0.3, 1, 60)
    weight, groups = 10.0 ** rng.uniform(-30, 0, 60) * 2.0**exponent, rng.integers(0, 9, 60)
    for options in ({}, {"groups": groups}, {"strata": groups % 2}):
        found = lx.interval(label, score, metric=metric, sample_weight=weight, **options)
        assert 0 <= found.low <= found.estimate + 1e-12
        assert found.estimate <= found.high + 1e-12 <= 1 + 1e-11
