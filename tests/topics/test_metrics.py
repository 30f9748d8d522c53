"""The metrics against other people's code, and against the claim that others are not invariant."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import assume, given
from hypothesis import strategies as st
from samples import METRICS
from scipy.integrate import quad
from scipy.stats import wilcoxon
from sklearn import metrics as sklearn_metrics
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

import lxcim_xp as lx
from lxcim_xp.testing import samples

FINITE = samples(scores=st.integers(-16, 16).map(lambda k: k / 4))


@given(FINITE)
def test_lxcim_is_sklearns_auroc_of_the_doubled_data(sample):
    label = np.concatenate([sample.y_true, 1 - sample.y_true])
    score = np.concatenate([sample.y_score, -sample.y_score])
    weight = np.concatenate([sample.sample_weight, sample.sample_weight])
    expected = sklearn_metrics.roc_auc_score(label, score, sample_weight=weight)
    np.testing.assert_allclose(lx.lxcim(*sample[:2], sample_weight=sample.sample_weight), expected)


@given(FINITE)
def test_auroc_and_average_precision_are_sklearns(sample):
    present = sample.y_true[sample.sample_weight > 0]
    assume(0 < present.sum() < present.size)
    for ours, theirs in (
        (lx.auroc, sklearn_metrics.roc_auc_score),
        (lx.average_precision, sklearn_metrics.average_precision_score),
    ):
        np.testing.assert_allclose(
            ours(*sample[:2], sample_weight=sample.sample_weight),
            theirs(*sample[:2], sample_weight=sample.sample_weight),
        )


@given(FINITE)
def test_the_roc_curve_is_sklearns(sample):
    present = sample.y_true[sample.sample_weight > 0]
    assume(0 < present.sum() < present.size)
    expected = sklearn_metrics.roc_curve(
        *sample[:2], sample_weight=sample.sample_weight, drop_intermediate=False
    )
    curve = lx.roc_curve(*sample[:2], sample_weight=sample.sample_weight)
    for threshold, x, y in zip(expected[2], *expected[:2], strict=True):
        at = np.flatnonzero(curve.score >= threshold)[-1]
        np.testing.assert_allclose([curve[0][at], curve[1][at]], [x, y], atol=1e-14)


@given(FINITE)
def test_categorical_metrics_are_sklearns(sample):
    label, score, weight = sample
    decided = score != 0  # scikit-learn knows no undecided sample
    present = (weight > 0) & decided
    assume(set(label[present]) == {0, 1} and len(set(score[present] > 0)) == 2)
    label, predicted, weight = label[present], (score[present] > 0).astype(int), weight[present]
    counts = lx.confusion.confusion(label, score[present], sample_weight=weight)
    (tn, fp), (fn, tp) = sklearn_metrics.confusion_matrix(label, predicted, sample_weight=weight)
    np.testing.assert_allclose(counts, [tp, fp, fn, tn])
    for ours, theirs in {
        lx.confusion.accuracy: sklearn_metrics.accuracy_score,
        lx.confusion.balanced_accuracy: sklearn_metrics.balanced_accuracy_score,
        lx.confusion.f1: sklearn_metrics.f1_score,
        lx.confusion.mcc: sklearn_metrics.matthews_corrcoef,
        lx.confusion.precision: sklearn_metrics.precision_score,
        lx.confusion.sensitivity: sklearn_metrics.recall_score,
    }.items():
        expected = theirs(label, predicted, sample_weight=weight)
        np.testing.assert_allclose(ours(counts), expected, atol=1e-15)
    flipped = sklearn_metrics.recall_score(1 - label, 1 - predicted, sample_weight=weight)
    np.testing.assert_allclose(lx.confusion.specificity(counts), flipped)
    np.testing.assert_allclose(lx.confusion.fdr(counts), 1 - lx.confusion.precision(counts))


@given(FINITE)
def test_lxcim_is_wilcoxons_signed_rank_statistic(sample):
    margins = np.where(sample.y_true == 1, sample.y_score, -sample.y_score)
    assume(np.any(margins != 0))
    n = margins.size
    signed_rank = wilcoxon(
        margins, zero_method="zsplit", alternative="greater", method="asymptotic"
    ).statistic
    expected = (2 * signed_rank - n * lx.accuracy(1, margins)) / n**2
    np.testing.assert_allclose(lx.lxcim(1, margins), expected)


@given(FINITE)
def test_continuous_audrc_is_the_integral_of_the_accuracy(sample):
    margins = np.where(sample.y_true == 1, sample.y_score, -sample.y_score)
    levels = np.unique(np.abs(margins))[::-1]
    rate, right = [0.0], [0.0]
    for level in levels:
        block = np.abs(margins) == level
        credit = np.heaviside(margins[block], 0.5) * sample.sample_weight[block]
        rate.append(rate[-1] + sample.sample_weight[block].sum())
        right.append(right[-1] + credit.sum())
    area = sum(
        quad(lambda v: np.interp(v, rate, right) / v, low, high, epsabs=1e-12)[0]
        for low, high in pairwise(rate)
        if high > low
    )
    found = lx.audrc(1, margins, sample_weight=sample.sample_weight, form="continuous")
    np.testing.assert_allclose(found, area / rate[-1], rtol=1e-9)


def test_the_papers_four_samples():
    assert lx.auroc([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0]) == 0.75
    assert lx.auroc([0, 1, 1, 1], [-4.0, -3.0, -1.0, 2.0]) == 1
    assert lx.lxcim([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0]) == 0.625
    assert lx.lxcim([0, 1, 1, 1], [-4.0, -3.0, -1.0, 2.0]) == 0.625


def of_confusion(metric):
    def value(y_true, y_score):
        return metric(lx.confusion.confusion(y_true, y_score))

    value.__name__ = metric.__name__
    return value


@pytest.mark.parametrize(
    "metric",
    [
        lx.auroc,
        lx.bi_auroc,
        lx.average_precision,
        lx.ks_statistic,
        lx.auch,
        of_confusion(lx.confusion.sensitivity),
        of_confusion(lx.confusion.specificity),
        of_confusion(lx.confusion.precision),
        of_confusion(lx.confusion.fdr),
        of_confusion(lx.confusion.f1),
        of_confusion(lx.confusion.mcc),
        of_confusion(lx.confusion.balanced_accuracy),
    ],
    ids=lambda metric: metric.__name__,
)
def test_the_others_change_when_one_pair_is_written_the_other_way(metric):
    rng = np.random.default_rng(0)
    label = np.where(rng.random((100, 6)) < 0.5, 1, -1)
    score = rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], (100, 6))
    sign = np.where(np.arange(6) == 2, -1, 1)
    change = metric(label * sign, score * sign) - metric(label, score)
    assert np.nanmax(np.abs(change)) > 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_lxcim_scores_a_cross_validation(weighted):
    rng = np.random.default_rng(1)
    features = rng.standard_normal((300, 3))
    label = (features[:, 0] + rng.standard_normal(300) > 0).astype(int)
    scorer = make_scorer(lx.lxcim, response_method="decision_function")
    if not weighted:
        scores = cross_val_score(LogisticRegression(), features, label, scoring=scorer)
    else:
        from sklearn import config_context

        with config_context(enable_metadata_routing=True):
            scores = cross_val_score(
                LogisticRegression().set_fit_request(sample_weight=False),
                features,
                label,
                scoring=scorer.set_score_request(sample_weight=True),
                params={"sample_weight": np.where(features[:, 1] > 0, 1.0, 0.01)},
            )
    assert np.all((scores > 0.65) & (scores < 1))


@given(samples(), st.sampled_from(METRICS))
def test_float32_scores_have_the_same_value(sample, metric):
    label, score, weight = sample
    for options in ({}, {"sample_weight": weight}):
        wide = metric(label, score, **options)
        narrow = metric(label, score.astype(np.float32), **options)
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, wide, rtol=1e-6)
