"""Inference: influence against its definition, variances against other formulas, coverage."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp.inference import intervals, resampling
from lxcim_xp.testing import samples


def load(name):
    """Import a script of benchmarks/."""
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


METRICS = ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.runners("numpy-eager")
@given(sample=samples(weights=st.integers(0, 12).map(lambda k: k / 4)))
def test_influence_is_the_derivative_by_the_weights(runner, metric, sample):
    label, score, weight = sample
    function = getattr(lx, metric)
    found = lx.influence(label, score, metric=metric, sample_weight=weight)
    assume(np.isfinite(function(label, score, sample_weight=weight)))
    step = 1e-6
    for i in np.flatnonzero(weight):
        moved = [weight + sign * step * weight[i] * np.eye(len(weight))[i] for sign in (1, -1)]
        up, down = (function(label, score, sample_weight=w) for w in moved)
        np.testing.assert_allclose(found[i], (up - down) / (2 * step), atol=1e-7)
    np.testing.assert_allclose(found.sum(), 0, atol=1e-14)
    np.testing.assert_array_equal(found[weight == 0], 0)


@pytest.mark.parametrize("exponent", [-1000, -520, 505, 1010])
@pytest.mark.parametrize("metric", METRICS[:-1])
def test_inference_does_not_depend_on_the_scale_of_the_weights(metric, exponent):
    rng = np.random.default_rng(0)
    label, clusters = rng.integers(0, 2, 40), rng.integers(0, 9, 40)
    first, second = rng.normal(label - 0.5, 1.0, (2, 40))
    weight = rng.integers(1, 9, 40).astype(float)

    def found(weight):
        options = {"metric": metric, "sample_weight": weight}
        yield from lx.interval(label, first, **options)
        yield from lx.interval(label, first, groups=clusters, **options)
        yield from lx.compare(label, first, second, **options)

    for here, far in zip(found(weight), found(weight * 2.0**exponent), strict=True):
        if not isinstance(here, str):
            np.testing.assert_allclose(far, here, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_standard_errors_agree_with_the_bootstrap(metric):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    score = rng.normal(1.2 * (2 * label - 1), 1.5)
    weight = rng.lognormal(0, 0.5, 400)
    options = {"metric": metric, "sample_weight": weight}
    draws = lx.bootstrap(label, score, n_resamples=4000, **options)
    error = lx.standard_error(label, score, **options)
    np.testing.assert_allclose(draws.std(), error, rtol=0.06)
    np.testing.assert_allclose(
        draws.mean(),
        getattr(lx, metric)(label, score, sample_weight=weight),
        atol=0.2 * error + 0.004,
    )
    bayes = lx.bootstrap(label, score, n_resamples=4000, bayes=True, **options)
    np.testing.assert_allclose(bayes.std(), error, rtol=0.06)


def test_the_standard_error_of_accuracy_is_that_of_a_mean():
    rng = np.random.default_rng(1)
    margins = rng.normal(0.5, 1, 50)
    right = margins > 0
    expected = right.std(ddof=1) / np.sqrt(50)
    np.testing.assert_allclose(lx.standard_error(1, margins, metric="accuracy"), expected)


def test_frequency_weights_are_repeated_samples():
    rng = np.random.default_rng(2)
    margins, times = rng.normal(0.5, 1, 30).round(1), rng.integers(0, 5, 30)
    repeated = np.repeat(margins, times)
    for metric in ("lxcim", "accuracy", "confidence_auroc"):
        found = lx.interval(1, margins, sample_weight=times, weight_type="frequency", metric=metric)
        expected = lx.interval(1, repeated, metric=metric)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def test_clusters_are_summed_and_strata_are_centred():
    rng = np.random.default_rng(3)
    margins, groups = rng.normal(0.5, 1, 60), rng.integers(0, 9, 60)
    strata = groups % 3
    psi = lx.influence(1, margins)
    sums = np.asarray([psi[groups == g].sum() for g in range(9)])
    part = np.bincount(groups) / 60
    expected = np.sqrt(np.sum(sums**2 / (1 - part)))
    np.testing.assert_allclose(lx.standard_error(1, margins, groups=groups), expected)
    names = np.asarray(list("abcdefghi"))[groups]
    np.testing.assert_allclose(lx.standard_error(1, margins, groups=names), expected)
    parts = [sums[h::3] for h in range(3)]
    expected = np.sqrt(sum(3 / 2 * np.sum((part - part.mean()) ** 2) for part in parts))
    found = lx.standard_error(1, margins, groups=groups, strata=strata)
    np.testing.assert_allclose(found, expected)
    halves = [psi[strata == h] for h in range(3)]
    expected = sum(len(p) / (len(p) - 1) * np.sum((p - p.mean()) ** 2) for p in halves)
    np.testing.assert_allclose(lx.standard_error(1, margins, strata=strata), np.sqrt(expected))


@given(samples(weights=st.integers(1, 12).map(lambda k: k / 4)), st.sampled_from(METRICS))
def test_intervals_hold_the_estimate_stay_inside_and_have_a_width(sample, metric):
    found = lx.interval(*sample[:2], sample_weight=sample[2], metric=metric)
    decided = np.any(sample[1] != 0)
    assume(np.isfinite(found.estimate) and len(sample[0]) > 1 and decided)
    assert 0 <= found.low <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.high <= 1
    assert found.high - found.low > 1e-3


@pytest.mark.parametrize("method", ["wald", "logit", "bootstrap", "bca", "bayes"])
def test_all_methods_agree_where_there_is_much_data(method):
    margins = np.random.default_rng(6).normal(0.7, 1, 3000)
    expected, found = (lx.interval(1, margins, method=m) for m in ("logit+", method))
    width = expected.high - expected.low
    np.testing.assert_allclose(found.low, expected.low, atol=0.08 * width)
    np.testing.assert_allclose(found.high, expected.high, atol=0.08 * width)


def test_bca_is_scipys():
    stats = pytest.importorskip("scipy.stats")
    margins = np.random.default_rng(7).normal(0.8, 1, 60)

    def lxcim(sample, axis=-1):
        return lx.lxcim(1, sample, axis=axis)

    theirs = stats.bootstrap(
        (margins,), lxcim, n_resamples=20000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    ours = lx.interval(1, margins, method="bca", n_resamples=20000)
    np.testing.assert_allclose([ours.low, ours.high], theirs, atol=0.006)


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(8)
    shared = np.repeat(rng.normal(0.7, 1, 40), 5)
    groups = np.repeat(np.arange(40), 5)
    draws = lx.bootstrap(1, shared, groups=groups, n_resamples=3000)
    np.testing.assert_allclose(draws.std(), lx.standard_error(1, shared, groups=groups), rtol=0.1)
    assert draws.std() > 1.8 * lx.bootstrap(1, shared, n_resamples=1000).std()


@pytest.mark.parametrize(
    ("value", "n", "with_groups"), [(0.7, 50, False), (0.97, 50, False), (0.9, 200, True)]
)
def test_intervals_cover(value, n, with_groups):
    pytest.importorskip("scipy")
    coverage = load("coverage")
    name, size = ("equal", n // 5) if with_groups else ("independent", n)
    chosen = SimpleNamespace(simulations=800, method="logit+")
    model = coverage.Model("lxcim", "normal", value, 0.5)
    cell = coverage.cell(model, name, size, 0.5, 0.95, chosen)
    assert 92.5 <= float(cell.split(" / ")[0]) <= 99


def test_the_difference_of_two_models_is_paired():
    rng = np.random.default_rng(10)
    truth = rng.normal(1, 1, 300)
    a, b = truth + rng.normal(0, 0.3, 300), truth + rng.normal(-0.1, 0.5, 300)
    found = lx.compare(1, a, b)
    psi = lx.influence(1, a) - lx.influence(1, b)
    np.testing.assert_allclose(found.standard_error, np.sqrt(300 / 299 * np.sum(psi**2)))
    np.testing.assert_allclose(found.difference, lx.lxcim(1, a) - lx.lxcim(1, b))
    alone = np.hypot(lx.standard_error(1, a), lx.standard_error(1, b))
    assert found.standard_error < 0.6 * alone
    stats = pytest.importorskip("scipy.stats")
    expected = stats.ttest_rel(
        300 * lx.influence(1, a, metric="accuracy") + lx.accuracy(1, a),
        300 * lx.influence(1, b, metric="accuracy") + lx.accuracy(1, b),
    )
    ours = lx.compare(1, a, b, metric="accuracy")
    np.testing.assert_allclose(ours.p_value, expected.pvalue, rtol=1e-8)
    np.testing.assert_allclose([ours.low, ours.high], expected.confidence_interval(), rtol=1e-8)


def test_the_paired_test_has_its_size():
    rng = np.random.default_rng(11)
    truth = rng.normal(0.371, 0.8, (1500, 100))
    a, b = (truth + rng.normal(0, 0.6, truth.shape) for _ in range(2))
    rejected = np.mean(lx.compare(1, a, b).p_value < 0.05)
    assert 0.03 <= rejected <= 0.065


def test_many_models_are_compared_pair_by_pair():
    rng = np.random.default_rng(12)
    truth = rng.normal(1, 1, 200)
    scores = {name: truth + rng.normal(0, 0.2 * k, 200) for k, name in enumerate("abcd")}
    weight = rng.random(200)
    groups = rng.integers(0, 40, 200)
    for options in ({}, {"groups": groups}, {"sample_weight": weight}):
        table = lx.compare_all(1, scores, adjust=None, **options)
        for i, first in enumerate(scores):
            for j, second in enumerate(scores):
                if i == j:
                    assert np.isnan(table.p_value[i, j])
                    continue
                pair = lx.compare(1, scores[first], scores[second], **options)
                for name in ("difference", "standard_error", "low", "high", "p_value"):
                    expected = getattr(pair, name)
                    np.testing.assert_allclose(getattr(table, name)[i, j], expected, rtol=1e-7)


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(13)
    truth = rng.normal(1, 1, 120)
    scores = {name: truth + rng.normal(0, 0.3, 120) for name in "abcde"}
    table = lx.compare_all(1, scores)
    upper = np.triu_indices(5, 1)
    p = table.p_value[upper]
    order = np.argsort(p)
    stepped = np.maximum.accumulate((10 - np.arange(10)) * p[order]).clip(max=1)
    np.testing.assert_allclose(table.adjusted_p_value[upper][order], stepped)
    np.testing.assert_array_equal(table.adjusted_p_value, table.adjusted_p_value.T)


def test_missing_answers_are_left_out_for_all_or_count_as_undecided():
    a = np.asarray([1.0, np.nan, 2.0, -1.0, 0.5, 3.0])
    b = np.asarray([0.5, 1.0, np.nan, 1.0, 0.5, -1.0])
    kept = np.asarray([0, 3, 4, 5])
    table = lx.compare_all(1, {"a": a, "b": b}, nan_policy="omit")
    pair = lx.compare(1, a[kept], b[kept])
    np.testing.assert_allclose(table.difference[0, 1], pair.difference)
    np.testing.assert_allclose(table.standard_error[0, 1], pair.standard_error)
    assert (table.samples, table.missing.tolist(), table.nan_policy) == (4, [1, 1], "omit")
    abstained = lx.compare(1, a, b, nan_policy="abstain")
    filled = lx.compare(1, np.nan_to_num(a), np.nan_to_num(b))
    np.testing.assert_allclose(abstained, filled)


def test_the_required_number_of_samples_gives_the_power():
    rng = np.random.default_rng(14)
    truth = rng.normal(0.7, 1, 20000)
    a, b = truth + rng.normal(0, 0.4, 20000), truth + rng.normal(0, 0.9, 20000)
    number = int(lx.required_samples(1, a, b, power=0.8))
    pick = rng.integers(0, 20000, (600, number))
    found = np.mean(lx.compare(1, a[pick], b[pick]).p_value < 0.05)
    assert 0.74 <= found <= 0.87
    half = lx.required_samples(1, a, b, difference=0.01)
    np.testing.assert_allclose(lx.required_samples(1, a, b, difference=0.005), 4 * half)


def test_one_sample_is_no_certainty():
    found = lx.interval(1, [2.0])
    assert found.estimate == 1
    assert np.isnan([found.low, found.high, found.standard_error]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lx.interval(1, [1.0, 2.0], level=95), "level must lie between 0 and 1; found 95"),
        (lambda: lx.interval(1, [1.0, 2.0], method="exact"), "method must be one of"),
        (lambda: lx.influence(1, [1.0, 2.0], metric="f1"), "metric must be one of .*found 'f1'"),
        (lambda: lx.standard_error(1, [1.0, 2.0], groups=[0, 0]), "at least two clusters"),
        (
            lambda: lx.standard_error(1, [1.0, 2.0], groups=[0, 1, 2]),
            r"groups must have one .*\(3,\)",
        ),
        (lambda: lx.standard_error(1, [1.0, 2.0], strata=[0] * 3), r"strata must have one"),
        (lambda: lx.standard_error(1, [1.0], weight_type="odd"), "weight_type must be"),
        (lambda: lx.compare(1, [1.0, 2.0], [1.0]), r"\(2,\) for score_a and \(1,\) for score_b"),
        (lambda: lx.compare_all(1, {"a": [1.0, 2.0]}), "at least two models; found 1"),
        (
            lambda: lx.compare_all(1, {"a": [1.0], "b": [2.0]}, adjust="fdr"),
            "adjust must be one of",
        ),
        (lambda: lx.bootstrap(1, [1.0], n_resamples=0), "n_resamples must be at least 1"),
        (lambda: lx.bootstrap(1, [[1.0]]), "one list of samples"),
        (lambda: lx.required_samples(1, [1.0], [2.0], power=80), "power must lie between 0 and 1"),
        (lambda: lx.required_samples(1, [1.0], [2.0], difference=2.0), "difference must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_test_names_what_it_did():
    rng = np.random.default_rng(15)
    margins = rng.normal(0.2, 1, 300)
    for n, weight, method in (
        (200, None, "exact"),
        (300, None, "saddlepoint"),
        (20, 1, "exact"),
        (60, 1, "saddlepoint"),
    ):
        weight = None if weight is None else rng.random(n)
        found = lx.significance(1, margins[:n], sample_weight=weight)
        assert found.method == method
        np.testing.assert_allclose(found.statistic, lx.lxcim(1, margins[:n], sample_weight=weight))
    one_sided = [lx.significance(1, margins, alternative=a).p_value for a in ("greater", "less")]
    both = lx.significance(1, margins).p_value
    np.testing.assert_allclose(both, 2 * min(one_sided))
    stats = pytest.importorskip("scipy.stats")
    right, wrong = margins[margins > 0], -margins[margins < 0]
    expected = stats.mannwhitneyu(right, wrong, method="asymptotic").pvalue
    found = lx.significance(1, margins, null="uninformative")
    assert found.method == "normal"
    np.testing.assert_allclose(found.p_value, expected, rtol=1e-8)
    np.testing.assert_allclose(found.statistic, lx.confidence_auroc(1, margins))


def test_a_coin_is_rejected_as_often_as_it_should():
    rng = np.random.default_rng(16)
    for n, weighted in ((40, False), (300, False), (60, True)):
        margins = rng.normal(0, 1, (800, n))
        weight = rng.lognormal(0, 0.5, (800, n)) if weighted else None
        rejected = np.mean(lx.significance(1, margins, sample_weight=weight).p_value < 0.05)
        assert 0.03 <= rejected <= 0.07


def test_a_progress_bar_is_drawn_by_rich_or_asked_for_in_vain(monkeypatch):
    seen = []

    def track(chunks, **options):
        seen.extend(chunks)
        return chunks

    monkeypatch.setitem(sys.modules, "rich", ModuleType("rich"))
    monkeypatch.setitem(sys.modules, "rich.progress", SimpleNamespace(track=track))
    shown = lx.bootstrap(1, [1.0, -2.0, 3.0], n_resamples=50, progress=True)
    np.testing.assert_array_equal(shown, lx.bootstrap(1, [1.0, -2.0, 3.0], n_resamples=50))
    assert seen
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match="progress=True needs rich"):
        lx.bootstrap(1, [1.0, -2.0, 3.0], n_resamples=50, progress=True)


@pytest.mark.parametrize("metric", ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"])
@pytest.mark.parametrize("bayes", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_in_whole_numbers_are_those_in_floats(monkeypatch, metric, bayes, weighted):
    rng = np.random.default_rng(11)
    label, score = rng.integers(0, 2, 300), rng.normal(0, 1, 300).round(1) + 0.05
    weight = rng.integers(0, 4, 300).astype(float) if weighted else None
    options = {"metric": metric, "bayes": bayes, "n_resamples": 40, "sample_weight": weight}
    whole = lx.bootstrap(label, score, **options)
    monkeypatch.setattr(resampling, "_in_whole_numbers", lambda xp, descent: descent)
    np.testing.assert_array_equal(whole, lx.bootstrap(label, score, **options))


@pytest.mark.parametrize("method", ["bootstrap", "bca", "bayes"])
@pytest.mark.parametrize("metric", ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"])
def test_resampled_intervals_know_clusters(method, metric):
    rng = np.random.default_rng(12)
    clusters, size = 60, 8
    # All answers to a question are right or wrong together, so that copies of it say nothing new.
    label = np.repeat(rng.integers(0, 2, clusters), size)
    side = np.where(np.repeat(rng.random(clusters) < 0.75, size), 1, -1) * (2 * label - 1)
    score = side * (np.repeat(rng.exponential(1, clusters), size) + 0.1 * rng.random(label.size))
    groups = np.repeat(rng.permutation(clusters), size)
    options = {"metric": metric, "method": method, "n_resamples": 400}
    blind = lx.interval(label, score, **options)
    found = lx.interval(label, score, groups=groups, **options)
    assert found.low < found.estimate < found.high
    assert 2 < (found.high - found.low) / (blind.high - blind.low) < 4  # about sqrt(8)
    width = found.high - found.low
    assert 0.7 < width / (2 * 1.96 * found.standard_error) < 1.4
    shuffled = rng.permutation(label.size)
    again = lx.interval(label[shuffled], score[shuffled], groups=groups[shuffled], **options)
    np.testing.assert_allclose(again, found, rtol=1e-12)


@pytest.mark.parametrize("metric", ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"])
@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("n", [5, 900, 4096, 20_000])
def test_uniform_intervals_are_those_of_unit_weights(metric, decimals, n):
    rng = np.random.default_rng(14)
    label, score = rng.integers(0, 2, n), rng.normal(0, 1, n).round(decimals)
    score = np.where(rng.random(n) < 0.7, np.abs(score) * (2 * label - 1), score)
    for options in ({}, {"method": "logit"}, {"method": "wald"}, {"strata": np.arange(n) % 2}):
        quick = lx.interval(label, score, metric=metric, **options)
        weighted = lx.interval(label, score, metric=metric, sample_weight=np.ones(n), **options)
        np.testing.assert_allclose(quick, weighted, rtol=1e-10)


def test_long_batches_are_compared_as_short_ones_are(monkeypatch):
    rng = np.random.default_rng(15)
    truth = rng.normal(0.5, 1, 20_000)
    scores = {name: (truth + rng.normal(0, 1, truth.size)).round(2) for name in "abc"}
    weight = rng.random(truth.size)
    for options in ({}, {"sample_weight": weight}, {"groups": np.arange(truth.size) // 4}):
        quick = lx.compare_all(1, scores, **options)
        with monkeypatch.context() as patch:
            patch.setattr(intervals, "in_rows", lambda samples: None)
            whole = lx.compare_all(1, scores, **options)
        for name in ("estimate", "standard_error", "p_value"):
            np.testing.assert_allclose(getattr(quick, name), getattr(whole, name), rtol=1e-9)
