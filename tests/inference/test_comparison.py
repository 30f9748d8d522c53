"""Comparisons: exact where nothing varies, and right for all pairs together."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp._arrays.namespaces import namespace
from lxcim_xp.testing import samples

METRICS = ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"]


def by_swapping(metric, a, b, units=None, weight=None):
    """Return how often swapping the models in a subset of the units leaves them as far apart."""
    function = getattr(lx, metric)
    units = np.arange(len(a)) if units is None else units

    def apart(a, b):
        return abs(function(1, a, sample_weight=weight) - function(1, b, sample_weight=weight))

    observed, count = apart(a, b), 0
    subsets = list(product([False, True], repeat=int(max(units)) + 1))
    for subset in subsets:
        swapped = np.asarray(subset)[units]
        count += apart(np.where(swapped, b, a), np.where(swapped, a, b)) >= observed - 1e-12
    return count / len(subsets)


@pytest.mark.parametrize("metric", METRICS[:3])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_always_right_against_always_wrong_is_tested_by_swapping(metric, n):
    right = 1 + np.random.default_rng(0).random(n)
    for other in (-right, -right[::-1], 0 * right):
        found = lx.compare(1, right, other, metric=metric)
        assert found.p_value == by_swapping(metric, right, other) == 2.0 ** (1 - n)
        turned = lx.compare(1, other, right, metric=metric)
        np.testing.assert_allclose((turned.low, turned.high), (-found.high, -found.low))
        assert turned.p_value == found.p_value
        assert (found.low > 0) == (found.p_value < 0.05)
        assert found.low < found.difference <= found.high


def test_swapping_knows_clusters_and_weights():
    groups = np.repeat(np.arange(6), 2)
    right = np.linspace(1, 2, 12)
    found = lx.compare(1, right, -right, groups=groups)
    assert found.p_value == pytest.approx(by_swapping("lxcim", right, -right, groups))
    often = np.full(4, 3)
    repeated = lx.compare(1, right[:4], -right[:4], sample_weight=often, weight_type="frequency")
    assert repeated.p_value == pytest.approx(2.0**-11)
    weight = np.asarray([5.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    uneven = lx.compare(1, right[:6], -right[:6], sample_weight=weight)
    assert uneven.p_value == pytest.approx(2 ** (1 - 100 / 30))  # the effective number
    assert uneven.p_value >= by_swapping("lxcim", right[:6], -right[:6], weight=weight)


def test_in_strata_those_count_that_differ():
    right = np.linspace(1, 2, 10)
    strata = np.repeat([0, 1], 5)
    options = {"strata": strata, "metric": "accuracy"}
    assert lx.compare(1, right, -right, **options).p_value == pytest.approx(2.0**-9)
    half = np.where(strata == 0, -right, right)
    found = lx.compare(1, right, half, **options)
    assert found.p_value == pytest.approx(2.0**-4)
    assert found.p_value == by_swapping("accuracy", right, half)
    opposed = np.where(np.arange(10) < 8, -right, right)
    strata = (np.arange(10) >= 8).astype(int)
    assert lx.compare(1, opposed, -opposed, strata=strata, metric="accuracy").p_value == 1


@pytest.mark.parametrize("metric", ["auroc", "confidence_auroc"])
def test_classes_count_by_the_smaller_one(metric):
    # Three of ten are above all others for one model, and below them for the other.
    first = np.asarray([5.0, 6.0, 7.0, *np.linspace(1, 2, 7)])
    second = np.asarray([0.5, 0.6, 0.7, *np.linspace(1, 2, 7)])
    label = np.arange(10) < 3
    if metric == "confidence_auroc":
        label, first, second = 1, *(np.where(label, -score, score) for score in (second, first))
    found = lx.compare(label, first, second, metric=metric)
    assert (found.estimate_a, found.estimate_b, found.standard_error) == (1, 0, 0)
    assert found.p_value == 2.0 ** (1 - 3)


def test_a_model_and_itself_do_not_differ():
    margins = np.random.default_rng(1).normal(1, 1, 50)
    for options in ({}, {"groups": np.arange(50) // 5}, {"sample_weight": margins**2}):
        found = lx.compare(1, margins, margins.copy(), **options)
        assert found[2:] == (0, 0, 0, 0, 1)


def test_models_that_nothing_tells_apart_may_still_differ():
    for n in (3, 60):
        found = lx.compare(1, np.arange(1.0, n + 1), np.arange(n, 0.0, -1))  # both always right
        width = 1 - 0.025 ** (1 / n)
        assert (found.difference, found.p_value) == (0, 1)
        np.testing.assert_allclose([found.low, found.high], [-width, width])
    # The same decisions on 60 samples say no more than 60 samples can.
    margins = np.random.default_rng(2).normal(1, 1, 60)
    found = lx.compare(1, margins, 2 * margins, metric="accuracy")
    np.testing.assert_allclose([found.low, found.high], [-width, width])
    stats = pytest.importorskip("scipy.stats")
    exact = stats.binomtest(0, 60).proportion_ci(method="exact").high
    np.testing.assert_allclose(width, exact)


def test_the_interval_of_an_exact_test_is_that_of_clopper_and_pearson():
    stats = pytest.importorskip("scipy.stats")
    right = np.linspace(1, 2, 9)
    for level in (0.8, 0.95, 0.99):
        found = lx.compare(1, right, -right, level=level)
        share = stats.binomtest(9, 9).proportion_ci(level, method="exact").low
        np.testing.assert_allclose([found.low, found.high], [2 * share - 1, 1], rtol=1e-12)


def test_one_sample_or_no_metric_still_gives_nan():
    found = lx.compare(1, [1.0], [-1.0])
    assert np.isnan([found.low, found.high, found.p_value]).all()
    found = lx.compare(1, [1.0, 2.0], [1.0, -1.0], metric="confidence_auroc")
    assert np.isnan([found.low, found.high, found.p_value]).all()


def test_batches_are_compared_entry_by_entry():
    rng = np.random.default_rng(3)
    first = rng.normal(0.5, 1, (5, 12))
    second = rng.normal(0.5, 1, (5, 12))
    first[1], second[1] = np.abs(first[1]), -np.abs(second[1])
    second[2] = first[2]
    first[3], second[3] = np.abs(first[3]), np.abs(second[3])
    weight = rng.integers(0, 3, (5, 12)).astype(float)
    groups = np.arange(12) // 2
    for metric in METRICS:
        for options in (
            {},
            {"sample_weight": weight},
            {"groups": groups},
            {"strata": np.arange(12) % 2},
            {"sample_weight": weight, "weight_type": "frequency"},
        ):
            together = lx.compare(1, first, second, metric=metric, **options)
            for row in range(5):
                own = {k: v[row] if np.ndim(v) == 2 else v for k, v in options.items()}
                alone = lx.compare(1, first[row], second[row], metric=metric, **own)
                for found, expected in zip(together, alone, strict=True):
                    np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-12)


def test_missing_scores_count_in_exact_tests():
    right = np.asarray([1.0, 2.0, np.nan, 1.5, 3.0])
    wrong = np.asarray([-1.0, np.nan, -2.0, -1.5, -3.0])
    assert lx.compare(1, right, wrong, nan_policy="omit").p_value == 2.0 ** (1 - 3)
    abstained = lx.compare(1, right, right, nan_policy="abstain")
    assert (abstained.p_value, abstained.low, abstained.high) == (1, 0, 0)


def _compared(metric):
    """Return a function that compares a model with others that are made of it."""

    def compared(y_true, y_score, where=None, sample_weight=None):
        xp = namespace(y_score=y_score)
        others = [-y_score, y_score, 2 - y_score, 0 * y_score, y_score * (y_score - 0.7)]
        one = xp.stack([y_score] * len(others))
        options = {"where": where, "sample_weight": sample_weight, "threshold": 0.0}
        found = lx.compare(y_true, one, xp.stack(others), metric=metric, **options)
        return xp.stack(list(found), axis=-1)

    return compared


COMPARED = {metric: _compared(metric) for metric in METRICS}


@pytest.mark.parametrize(
    ("metric", "weight"), [("lxcim", None), ("accuracy", [1.0, 2.0, 0.0, 1.0, 1.0, 0.5])]
)
@pytest.mark.runners("*-eager", "*-jit", "*-vmap")
def test_every_backend_compares_as_numpy_does(runner, metric, weight):
    score = np.asarray([0.5, 1.0, 0.25, 1.5, 0.75, 1.25])
    options = {} if weight is None else {"sample_weight": np.asarray(weight)}
    expected = COMPARED[metric](np.ones(6, dtype=int), score, **options)
    found = runner(COMPARED[metric], np.ones(6, dtype=int), score, **options)
    np.testing.assert_allclose(found, expected, rtol=20 * runner.tolerance, atol=1e-6)
    assert np.isfinite(found).all()


def _all_compared(adjust):
    def compared(y_true, y_score, where=None):
        xp = namespace(y_score=y_score)
        models = {
            "right": abs(y_score),
            "a": y_score,
            "copy": 1 * y_score,
            "wrong": -abs(y_score),
        }
        options = {"where": where, "threshold": 0.0, "adjust": adjust}
        found = lx.compare_all(y_true, models, **options)
        return xp.stack(list(found[2:10]), axis=-1)

    return compared


ALL_COMPARED = {adjust: _all_compared(adjust) for adjust in ("holm", "max-t", None)}


@pytest.mark.parametrize("adjust", ALL_COMPARED)
@pytest.mark.runners("*-eager", "jax*-jit")
def test_every_backend_adjusts_as_numpy_does(runner, adjust):
    rng = np.random.default_rng(4)
    score = rng.normal(0.4, 1, 12).round(2)
    label = np.ones(12, dtype=int)
    expected = ALL_COMPARED[adjust](label, score)
    found = runner(ALL_COMPARED[adjust], label, score)
    loose = adjust == "max-t" and runner.backend.dtype == "float32"  # draws differ by rounding
    np.testing.assert_allclose(
        found, expected, rtol=1e-3 if loose else 100 * runner.tolerance, atol=1e-6
    )


def upper(table, part):
    """Return one value for each pair."""
    return getattr(table, part)[np.triu_indices(len(table.names), 1)]


def drawn_models(rng, k=6, n=100, noise=0.4, apart=0.0):
    truth = rng.normal(0.7, np.sqrt(1 - noise), n)
    return {
        name: truth + apart * place + rng.normal(0, np.sqrt(noise), n)
        for place, name in enumerate("abcdefgh"[:k])
    }


def test_max_t_steps_down():
    """The p-values are those of Westfall and Young, by other draws and other loops."""
    rng = np.random.default_rng(5)
    scores = drawn_models(rng, apart=0.05)
    table = lx.compare_all(1, scores, adjust="max-t", metric="accuracy")
    psi = np.stack([lx.influence(1, score, metric="accuracy") for score in scores.values()])
    pairs = list(combinations(range(6), 2))
    signs = np.zeros((len(pairs), 6))
    for row, (i, j) in enumerate(pairs):
        signs[row, i], signs[row, j] = 1, -1
    covariance = signs @ (psi @ psi.T) @ signs.T
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    draws = np.abs(
        rng.multivariate_normal(np.zeros(len(pairs)), correlation, 40_000, method="eigh")
    )
    p_value = upper(table, "p_value")
    stats = pytest.importorskip("scipy.stats")
    observed = stats.norm.isf(p_value / 2)
    expected, left = np.empty(len(pairs)), list(np.argsort(p_value))
    reached = 0.0
    while left:
        reached = max(reached, np.mean(draws[:, left].max(axis=1) >= observed[left[0]] - 1e-9))
        expected[left.pop(0)] = reached
    np.testing.assert_allclose(upper(table, "adjusted_p_value"), expected, atol=0.012)


@pytest.mark.parametrize("seed", range(5))
def test_max_t_lies_between_the_p_values_and_holm(seed):
    scores = drawn_models(np.random.default_rng(seed), k=5, apart=0.06)
    p_value, holm, drawn = (
        upper(lx.compare_all(1, scores, adjust=adjust), "adjusted_p_value")
        for adjust in (None, "holm", "max-t")
    )
    assert (p_value <= drawn).all()
    assert (drawn <= holm).all()
    order = np.argsort(p_value)
    assert (np.diff(drawn[order]) >= 0).all()
    # The last one is left alone, and has no one to be compared with.
    np.testing.assert_allclose(drawn[order[-1]], max(p_value.max(), drawn[order[-2]]), atol=0.012)


def test_two_models_need_no_adjustment():
    a, b = drawn_models(np.random.default_rng(6), k=2, apart=0.3).values()
    alone = lx.compare(1, a, b)
    for adjust in ("holm", "max-t", None):
        table = lx.compare_all(1, {"a": a, "b": b}, adjust=adjust)
        assert table.adjusted_p_value[0, 1] == table.p_value[0, 1]
        for low, high in ((table.low, table.high), (table.unadjusted_low, table.unadjusted_high)):
            np.testing.assert_allclose((low[0, 1], high[0, 1]), (alone.low, alone.high))


@pytest.mark.parametrize("adjust", ["holm", "max-t"])
@pytest.mark.parametrize("first", [True, False])
def test_copies_change_nothing_for_the_others(adjust, first):
    scores = drawn_models(np.random.default_rng(7), k=4, apart=0.1)
    alone = lx.compare_all(1, scores, adjust=adjust)
    more = {"copy": scores["a"], "twin": 2 * scores["b"], "again": scores["a"]}
    table = lx.compare_all(1, more | scores if first else scores | more, adjust=adjust)
    here = [table.names.index(name) for name in scores]
    close = {"atol": 0.012 if adjust == "max-t" else 1e-12}
    for part in ("adjusted_p_value", "low", "high"):
        found = getattr(table, part)[np.ix_(here, here)]
        np.testing.assert_allclose(found, getattr(alone, part), **close)
    a, copy, again = (table.names.index(name) for name in ("a", "copy", "again"))
    for i, j in ((a, copy), (copy, again)):
        assert (table.difference[i, j], table.low[i, j], table.high[i, j]) == (0, 0, 0)
        assert table.adjusted_p_value[i, j] == table.p_value[i, j] == 1
    others = [place for place in range(7) if place not in (copy, again)]
    np.testing.assert_allclose(*(table.adjusted_p_value[k, others] for k in (copy, again)))


@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_an_undefined_model_changes_nothing_for_the_others(adjust):
    scores = drawn_models(np.random.default_rng(8), k=3, apart=0.1)
    options = {"metric": "confidence_auroc", "adjust": adjust}
    alone = lx.compare_all(1, scores, **options)
    table = lx.compare_all(1, scores | {"always right": np.abs(scores["a"])}, **options)
    np.testing.assert_allclose(table.adjusted_p_value[:3, :3], alone.adjusted_p_value, atol=0.012)
    assert np.isnan(table.adjusted_p_value[3]).all()


@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_exact_tests_are_tests_among_others(adjust):
    rng = np.random.default_rng(9)
    scores = drawn_models(rng, k=2, n=12, apart=0.4)
    scores |= {"right": np.abs(scores["a"]), "wrong": -np.abs(scores["a"])}
    table = lx.compare_all(1, scores, adjust=adjust)
    raw, found = upper(table, "p_value"), upper(table, "adjusted_p_value")
    assert raw[-1] == 2.0**-11
    assert raw[-1] < found[-1] <= 6 * raw[-1]
    assert (found >= raw).all()
    for options in ({"sample_weight": np.full(12, 0.1)}, {"groups": np.arange(12) % 6}):
        table = lx.compare_all(1, scores, adjust=adjust, **options)
        pair = lx.compare(1, scores["right"], scores["wrong"], **options)
        assert table.p_value[2, 3] == pytest.approx(pair.p_value)
        assert table.standard_error[2, 3] == 0


def test_intervals_no_longer_contradict_the_adjusted_p_values():
    """Each on its own, they excluded 0 beside adjusted p-values above 5 %."""
    scores = drawn_models(np.random.default_rng(10), k=4, n=60, apart=0.12)
    table = lx.compare_all(1, scores)
    apart, p_value = upper(table, "difference"), upper(table, "adjusted_p_value")
    excluded = upper(table, "unadjusted_low") * upper(table, "unadjusted_high") > 0
    assert (excluded & (p_value > 0.05)).any()
    agrees(table, 0.95)
    assert (np.abs(apart) <= 1).all()


def agrees(table, level):
    """Check that intervals exclude 0, or end there, exactly where the p-values say so."""
    for low, high, p_value in (
        (table.low, table.high, table.adjusted_p_value),
        (table.unadjusted_low, table.unadjusted_high, table.p_value),
    ):
        known = ~np.isnan(p_value)
        low, high, apart = low[known], high[known], table.difference[known]
        is_found = p_value[known] < 1 - level
        assert (low <= apart).all()
        assert (apart <= high).all()
        assert (np.where(apart > 0, low, -high)[is_found] >= 0).all()
        assert (apart[is_found] != 0).all()
        assert (low[~is_found] <= 0).all()
        assert (high[~is_found] >= 0).all()
    inside = (table.low <= table.unadjusted_low) & (table.high >= table.unadjusted_high)
    assert (inside | np.isnan(table.p_value)).all()


@given(
    samples(min_size=4, weights=st.integers(1, 8).map(lambda k: k / 4)),
    st.sampled_from(METRICS),
    st.sampled_from(["holm", "max-t", None]),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.integers(0, 2**31),
)
def test_intervals_and_p_values_never_contradict_each_other(sample, metric, adjust, level, seed):
    label, score, weight = sample
    n = len(label)
    rng = np.random.default_rng(seed)
    models = {
        "a": score,
        "b": rng.permutation(score),
        "c": np.where(rng.random(n) < 0.8, score, -score),
        "copy": score,
        "right": np.abs(score) * (2 * (label > 0) - 1),
        "wrong": -np.abs(score) * (2 * (label > 0) - 1),
    }
    options = [{}, {"sample_weight": weight}, {"strata": np.arange(n) % 2}]
    options += [{"groups": np.arange(n) // 2}, {"nan_policy": "omit"}]
    options = options[rng.integers(5)]
    if "nan_policy" in options:
        models["b"] = np.where(np.arange(n) == 0, np.nan, models["b"])
    table = lx.compare_all(
        label, models, metric=metric, adjust=adjust, level=level, threshold=0.0, **options
    )
    known = ~np.isnan(table.p_value)
    assert (table.adjusted_p_value[known] >= table.p_value[known]).all()
    assert (table.adjusted_p_value[known] <= 1).all()
    np.testing.assert_array_equal(known, ~np.isnan(table.adjusted_p_value))
    agrees(table, level)
    if "nan_policy" in options:
        return  # two of the models may have more samples in common
    for i, j in combinations(range(len(models)), 2):
        pair = lx.compare(
            label,
            *(models[table.names[k]] for k in (i, j)),
            metric=metric,
            level=level,
            threshold=0.0,
            **options,
        )
        same = (table.p_value[i, j], table.unadjusted_low[i, j], table.unadjusted_high[i, j])
        np.testing.assert_allclose(same, (pair.p_value, pair.low, pair.high), atol=1e-6)


@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_any_false_finding_is_rare_and_intervals_cover_together(adjust):
    rng = np.random.default_rng(11)
    wrong, missed = [], []
    for _ in range(400):
        # Four models are equally good, one is worse: its pairs are found and stepped over.
        scores = drawn_models(rng, k=4, n=150)
        scores["worse"] = rng.normal(0.1, 1, 150)
        table = lx.compare_all(1, scores, adjust=adjust)
        wrong.append(np.nanmin(table.adjusted_p_value[:4, :4]) < 0.05)
        true = np.full((5, 5), 0.0)
        true[:4, 4], true[4, :4] = DIFFERENCE, -DIFFERENCE
        missed.append(((table.low > true) | (table.high < true)).any())
    assert 0.01 <= np.mean(wrong) <= 0.075
    assert np.mean(missed) <= 0.08


def phi(x):
    from statistics import NormalDist

    return NormalDist().cdf(x)


# Of normal margins with mean m and variance 1, LxCIM is the chance that a sum of two is positive.
DIFFERENCE = phi(0.7 * np.sqrt(2)) - phi(0.1 * np.sqrt(2))


@pytest.mark.parametrize("metric", ["confidence_auroc", "auroc"])
def test_the_paired_test_keeps_its_size_where_a_class_is_small(metric):
    rng = np.random.default_rng(12)
    confidence = rng.exponential(1, (2, 1500, 30))
    is_small = rng.random((1500, 30)) < 0.1
    if metric == "auroc":
        first, second, label = *confidence, is_small
    else:
        (first, second), label = np.where(is_small, -confidence, confidence), 1
    found = lx.compare(label, first, second, metric=metric)
    defined = ~np.isnan(found.p_value)
    assert np.mean(found.p_value[defined] < 0.05) <= 0.06
    assert np.mean(found.low[defined] > 0) + np.mean(found.high[defined] < 0) <= 0.06
