"""The laws, each on every backend and under every transform (see backends.py)."""

import inspect
import itertools
from functools import partial

import numpy as np
import oracle
from backends import PADDED
from hypothesis import assume, given
from hypothesis import strategies as st
from samples import (
    BY_MARGIN,
    BY_SCORE,
    METRICS,
    SCORES,
    SHARES,
    THRESHOLDS,
    look_swapped,
    masks,
)

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.testing import samples


def audrc_continuous(y_true, y_score, **options):
    return lx.audrc(y_true, y_score, form="continuous", **options)


OF_MARGINS = [*BY_MARGIN, audrc_continuous]
ALL = [*OF_MARGINS, *BY_SCORE]
# The discrete areas count samples, whatever these weigh.
DUPLICABLE = [metric for metric in ALL if metric not in (lx.audrc, lx.aurc)]
# Whole labels, and shares of votes.
ANY = samples() | samples(labels=SHARES)
# Results of another shape, or of other labels, have tests of their own.
ELSEWHERE = {"bi_auroc", "decomposition"}


def agree(runner, a, b):
    np.testing.assert_allclose(a, b, rtol=runner.tolerance, atol=runner.tolerance)


def as_float(value):
    return np.nan if value is None else float(value)


def test_the_laws_know_every_metric():
    functions = inspect.getmembers(lx.metrics, inspect.isfunction)
    public = {name for name, f in functions if f.__module__ == lx.metrics.__name__}
    known = {metric.__name__ for metric in METRICS} | ELSEWHERE
    assert {name for name in public if not name.startswith("_")} == known


@given(st.data(), ANY, st.sampled_from(OF_MARGINS), THRESHOLDS)
def test_exchanging_any_subset_leaves_the_metric_unchanged(runner, data, sample, metric, threshold):
    which = data.draw(masks(sample.y_true.size))
    label = np.where(which, 1 - sample.y_true, sample.y_true)
    score = np.where(which, 2 * threshold - sample.y_score, sample.y_score)
    assume(not look_swapped(label, score, sample.sample_weight))
    agree(
        runner,
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight, threshold=threshold),
        runner(metric, label, score, sample.sample_weight, threshold=threshold),
    )


@given(st.data(), ANY, st.sampled_from(ALL))
def test_the_order_of_the_samples_does_not_matter(runner, data, sample, metric):
    order = np.asarray(data.draw(st.permutations(range(sample.y_true.size))))
    agree(
        runner,
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight),
        runner(metric, sample.y_true[order], sample.y_score[order], sample.sample_weight[order]),
    )


@given(ANY, st.sampled_from(OF_MARGINS), st.lists(st.integers(1, 40), min_size=PADDED))
def test_a_strictly_monotone_map_of_confidence_changes_nothing(runner, sample, metric, steps):
    levels = np.cumsum(steps[:PADDED]) / 8
    confidence = np.abs(sample.y_score)
    _, place = np.unique(confidence[confidence > 0], return_inverse=True)
    mapped = np.zeros_like(sample.y_score)
    mapped[confidence > 0] = levels[place] * np.sign(sample.y_score[confidence > 0])
    assume(not look_swapped(sample.y_true, mapped, sample.sample_weight))
    agree(
        runner,
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight),
        runner(metric, sample.y_true, mapped, sample.sample_weight),
    )


@given(samples(), st.sampled_from(BY_SCORE), st.lists(st.integers(1, 40), min_size=PADDED))
def test_a_strictly_monotone_map_of_the_score_leaves_score_metrics(runner, sample, metric, steps):
    levels = np.cumsum(steps[:PADDED]) / 8 - 3
    _, place = np.unique(sample.y_score, return_inverse=True)
    agree(
        runner,
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight),
        runner(metric, sample.y_true, levels[place], sample.sample_weight),
    )


@given(ANY, st.sampled_from(ALL), st.sampled_from([1e-30, 0.3, 7.0, 1e30]))
def test_the_scale_of_the_weights_does_not_matter(runner, sample, metric, scale):
    agree(
        runner,
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight),
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight * scale),
    )


@given(ANY, st.sampled_from(ALL))
def test_weight_zero_is_absent_is_masked(runner, sample, metric):
    kept = sample.sample_weight > 0
    masked = runner(
        metric, sample.y_true, sample.y_score, np.maximum(sample.sample_weight, 1), kept
    )
    present = [array[kept] for array in sample]
    agree(runner, masked, runner(metric, *present[:2], np.maximum(present[2], 1)))
    agree(runner, runner(metric, *sample), runner(metric, *present))


@given(
    samples(max_size=4, weights=st.integers(0, 3))
    | samples(max_size=4, weights=st.integers(0, 3), labels=SHARES),
    st.sampled_from(DUPLICABLE),
)
def test_an_integer_weight_repeats_the_sample(runner, sample, metric):
    repeated = (np.repeat(array, sample.sample_weight) for array in sample[:2])
    agree(runner, runner(metric, *sample), runner(metric, *repeated))


@given(ANY, st.sampled_from(BY_MARGIN), THRESHOLDS)
def test_margin_metrics_equal_the_oracle(runner, sample, metric, threshold):
    m = oracle.margins(sample.y_true, sample.y_score, threshold)
    weight = [oracle.Fraction(w) for w in sample.sample_weight]
    expected = as_float(getattr(oracle, metric.__name__)(m, weight))
    agree(
        runner,
        runner(metric, sample.y_true, sample.y_score, sample.sample_weight, threshold=threshold),
        expected,
    )


@given(ANY, st.sampled_from([lx.confidence_auroc, lx.lxcim, lx.audrc]))
def test_uniform_margin_metrics_equal_the_oracle(runner, sample, metric):
    m = oracle.margins(sample.y_true, sample.y_score)
    expected = getattr(oracle, metric.__name__)(m, [oracle.Fraction(1)] * len(m))
    agree(runner, runner(metric, sample.y_true, sample.y_score), as_float(expected))


@given(ANY, st.sampled_from(BY_SCORE))
def test_score_metrics_equal_the_oracle(runner, sample, metric):
    weight = [oracle.Fraction(w) for w in sample.sample_weight]
    expected = getattr(oracle, metric.__name__)(sample.y_true, list(sample.y_score), weight)
    agree(runner, runner(metric, *sample), as_float(expected))


@given(st.data(), samples())
def test_bi_auroc_equals_the_oracle(runner, data, sample):
    n = sample.y_true.size
    label = np.asarray(data.draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    weight = [oracle.Fraction(w) for w in sample.sample_weight]
    expected = oracle.bi_auroc(label, list(sample.y_score), weight)
    agree(runner, runner(lx.bi_auroc, label, *sample[1:]), as_float(expected))


def all_parts(y_true, y_score, **options):
    """Return the decomposition in one array: one program to compile instead of five."""
    parts = lx.decomposition(y_true, y_score, **options)
    return namespaces.namespace(part=parts[0]).stack(parts)


@given(samples(max_size=PADDED // 2) | samples(max_size=PADDED // 2, labels=SHARES))
def test_lxcim_is_the_auroc_of_the_doubled_data_and_the_sum_of_its_parts(runner, sample):
    value = runner(lx.lxcim, *sample)
    # Omega: the data and its exchange; a sample at the threshold is there once with each label.
    doubled = [
        np.concatenate([sample.y_true, 1 - sample.y_true]),
        np.concatenate([sample.y_score, -sample.y_score]),
        np.concatenate([sample.sample_weight, sample.sample_weight]),
    ]
    agree(runner, value, runner(lx.auroc, *doubled))
    agree(runner, value, 1 - 2 * runner(lx.augrc, *sample))
    parts = dict(zip(lx.Decomposition._fields, runner(all_parts, *sample), strict=True))
    agree(runner, parts["lxcim"], value)
    agree(runner, parts["accuracy"], runner(lx.accuracy, *sample))
    agree(runner, value, parts["accuracy"] ** 2 + 2 * parts["half_area"])
    agree(runner, value, parts["accuracy"] + parts["gain"])
    if 0 < parts["accuracy"] < 1:
        spread = parts["accuracy"] * (1 - parts["accuracy"])
        agree(runner, parts["half_area"], spread * parts["confidence_auroc"])
        agree(runner, parts["confidence_auroc"], runner(lx.confidence_auroc, *sample))
    else:
        assert np.isnan(parts["confidence_auroc"])


@given(samples(), st.sampled_from([lx.lxcim, lx.accuracy, lx.audrc, audrc_continuous]))
def test_perfect_is_one_wrong_is_zero_undecided_is_half(runner, sample, metric):
    decided = np.where(sample.y_score == 0, 1.0, sample.y_score)
    right = (decided > 0).astype(int)
    agree(runner, runner(metric, right, decided, sample.sample_weight), 1)
    agree(runner, runner(metric, 1 - right, decided, sample.sample_weight), 0)
    agree(runner, runner(metric, sample.y_true, 0 * right, sample.sample_weight), 0.5)


@given(ANY, st.sampled_from([lx.lxcim, lx.accuracy, lx.audrc, lx.auroc, audrc_continuous]))
def test_flipping_all_labels_turns_the_metric_over(runner, sample, metric):
    agree(
        runner,
        runner(metric, 1 - sample.y_true, *sample[1:]),
        1 - runner(metric, *sample),
    )


@given(ANY, st.sampled_from(ALL))
def test_values_lie_between_zero_and_one(runner, sample, metric):
    value = runner(metric, *sample)
    undefined = metric in (lx.confidence_auroc, *BY_SCORE)
    assert (undefined and np.isnan(value)) or -runner.tolerance <= value <= 1 + runner.tolerance


@given(samples(), st.sampled_from([lx.lxcim, lx.auroc]))
def test_labels_may_be_zero_one_or_minus_plus_one_or_bool(runner, sample, metric):
    expected = runner(metric, *sample)
    agree(runner, runner(metric, 2 * sample.y_true - 1, *sample[1:]), expected)
    agree(runner, runner(metric, sample.y_true == 1, *sample[1:]), expected)


@given(st.data(), ANY, st.sampled_from(ALL), THRESHOLDS)
def test_a_missing_score_is_left_out_or_undecided(runner, data, sample, metric, threshold):
    missing = data.draw(masks(sample.y_true.size))
    score = np.where(missing, np.nan, sample.y_score)
    kept = np.where(missing, 0, sample.sample_weight)
    assume(not look_swapped(sample.y_true, sample.y_score, kept))
    undecided = np.where(missing, threshold, score)
    assume(not look_swapped(sample.y_true, undecided, sample.sample_weight))
    with_threshold = partial(runner, metric, threshold=threshold)
    agree(
        runner,
        with_threshold(sample.y_true, score, sample.sample_weight, nan_policy="omit"),
        with_threshold(sample.y_true, sample.y_score, sample.sample_weight, ~missing),
    )
    agree(
        runner,
        with_threshold(sample.y_true, score, sample.sample_weight, nan_policy="abstain"),
        with_threshold(sample.y_true, undecided, sample.sample_weight),
    )


@given(ANY, THRESHOLDS)
def test_confusion_equals_the_oracle(runner, sample, threshold):
    weight = [oracle.Fraction(w) for w in sample.sample_weight]
    cells = oracle.confusion(sample.y_true, sample.y_score, weight, threshold)
    agree(
        runner,
        runner(lx.confusion.confusion, *sample, threshold=threshold),
        [float(cell) for cell in cells],
    )


@given(st.sampled_from(ALL), SCORES)
def test_nothing_to_evaluate_is_nan(runner, metric, score):
    assert np.isnan(runner(metric, [1, 0], [score, score], [0.0, 0.0]))
    assert np.isnan(runner(metric, [1, 0], [score, score], None, [False, False]))
    assert np.isnan(runner(metric, np.ones(0, dtype=int), np.ones(0)))


def test_every_order_of_a_tied_block_averages_to_audrc():
    right = [True, False, True, True]
    means = []
    for order in itertools.permutations(right):
        hits = np.cumsum([1, *order, 0])
        means.append(np.mean(hits / np.arange(1, 7)))
    margins = [2.0, *(1.0 if r else -1.0 for r in right), -0.5]
    np.testing.assert_allclose(lx.audrc(1, margins), np.mean(means), rtol=1e-14)
