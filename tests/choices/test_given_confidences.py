"""``decision=confidence()``: the score is the confidence of a decision that was made before."""

import itertools

import numpy as np
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import SHARES

import lxcim_xp as lx
from lxcim_xp import confidence
from lxcim_xp.testing import samples

GIVEN = confidence()
FEWER = settings(max_examples=max(5, settings.default.max_examples // 3))
ANY = samples() | samples(labels=SHARES)
METRICS = [lx.lxcim, lx.augrc, lx.accuracy, lx.audrc, lx.aurc, lx.confidence_auroc]


def augrc(credit, score, weight):
    """Return the area under the generalised risk by trapezoids, in the words of its authors.

    The generalised risk at a threshold is the weight of errors among what is accepted, by the
    weight of everything; ties are accepted together.
    """
    coverages, risks = [0.0], [0.0]
    for level in sorted(set(score[weight > 0]), reverse=True):
        accepted = score >= level
        coverages.append(weight[accepted].sum() / weight.sum())
        risks.append((weight * (1 - credit))[accepted].sum() / weight.sum())
    return np.trapezoid(risks, coverages)


@given(ANY)
def test_lxcim_is_one_less_twice_augrc(runner, sample):
    expected = augrc(*sample)
    found = runner(lx.augrc, *sample, decision=GIVEN)
    np.testing.assert_allclose(found, expected, atol=runner.tolerance)
    found = runner(lx.lxcim, *sample, decision=GIVEN)
    np.testing.assert_allclose(found, 1 - 2 * expected, atol=2 * runner.tolerance)


def test_the_augrc_of_torch_uncertainty_lacks_the_first_step():
    rng = np.random.default_rng(2)
    n = 50
    entropy = rng.exponential(size=n)
    correct = rng.random(n) > entropy / 3
    # As it computes: error rates of the k most confident, at coverages from 1/n on.
    errors = np.cumsum(~correct[np.argsort(entropy)]) / np.arange(1, n + 1)
    coverage = np.arange(1, n + 1) / n
    theirs = np.trapezoid(errors * coverage, coverage) / (1 - 1 / n)
    first = errors[0] / n**2 / 2
    ours = lx.augrc(correct, -entropy, decision=GIVEN)
    np.testing.assert_allclose(ours, theirs * (1 - 1 / n) + first, rtol=1e-14)


@FEWER
@given(ANY, st.sampled_from(METRICS), st.lists(st.integers(1, 40), min_size=PADDED))
def test_only_the_order_of_the_confidences_counts(runner, sample, metric, steps):
    levels = np.cumsum(steps[:PADDED]) / 8 - 20.0
    _, place = np.unique(sample.y_score, return_inverse=True)
    before = runner(metric, *sample, decision=GIVEN)
    for mapped in (levels[place], np.exp(levels[place] / 8), levels[place] - 1e6):
        after = runner(metric, sample.y_true, mapped, sample.sample_weight, decision=GIVEN)
        np.testing.assert_allclose(after, before, atol=runner.tolerance)


def placed(score):
    """Return positive scores of the same order, which a threshold of 0 takes for right or wrong."""
    return 1.0 + np.unique(score, return_inverse=True)[1]


OF_CONFIDENCES = {
    **{metric.__name__: metric for metric in METRICS},
    "decomposition": lx.decomposition,
    "cumulative curve": lambda y, s, **o: lx.cumulative_accuracy_curve(y, s, **o)[:2],
    "accuracy-rate curve": lambda y, s, **o: lx.accuracy_rate_curve(y, s, **o)[:2],
    "contributions": lx.contributions,
    "influence": lx.influence,
    "interval": lx.interval,
    "standard_error": lx.standard_error,
    "significance": lambda y, s, **o: lx.significance(y, s, **o)[:2],
    "accuracy_at": lambda y, s, **o: lx.accuracy_at(y, s, 0.5, level=None, **o)[:4],
    "rate_at": lambda y, s, **o: lx.rate_at(y, s, 0.7, **o),
    "local_accuracy": lambda y, s, **o: lx.local_accuracy(y, s, **o)[:2],
}


@pytest.mark.parametrize("name", OF_CONFIDENCES)
@FEWER
@given(ANY, st.booleans())
def test_confidences_of_any_sign_are_what_positive_ones_are(name, sample, weighted):
    options = {"sample_weight": sample.sample_weight} if weighted else {}
    function = OF_CONFIDENCES[name]
    found = function(*sample[:2], decision=GIVEN, **options)
    positive = 2.0 * placed(sample.y_score)
    expected = function(sample.y_true, positive, threshold=0.0, **options)
    for a, b in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_thresholds_are_confidences():
    rng = np.random.default_rng(0)
    correct = rng.random(200) < np.linspace(0.5, 1, 200)
    entropy = np.linspace(2, 0, 200)
    for options in (
        {"accuracy": 0.8, "delta": 0.1},
        {"joint_risk": 0.1},
        {"accuracy": 0.9, "delta": None},
    ):
        found = lx.threshold_for(correct, -entropy, decision=GIVEN, **options)
        expected = lx.threshold_for(correct, 3 - entropy, threshold=0.0, **options)
        np.testing.assert_allclose(found, [expected[0] - 3, *expected[1:]])
        assert found.confidence < 0


def test_nothing_is_undecided_and_no_warning_asks_for_probabilities():
    assert lx.accuracy([1, 0], [0.0, 0.0], decision=GIVEN) == 0.5
    assert lx.accuracy([1, 1], [0.0, 0.0], decision=GIVEN) == 1
    assert lx.accuracy([1, 1], [0.0, -1.0], decision=GIVEN) == 1
    assert lx.lxcim([1, 0, 1], [0.9, 0.2, 0.4], decision=GIVEN) == 8 / 9


@given(samples(), st.data())
def test_who_gives_no_confidence_is_half_right_and_least_sure(runner, sample, data):
    n = sample.y_true.size
    missing = np.asarray(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    label = data.draw(st.sampled_from([sample.y_true, 2 * sample.y_true - 1]))
    score = np.where(missing, np.nan, sample.y_score)
    found = runner(
        lx.lxcim, label, score, sample.sample_weight, decision=GIVEN, nan_policy="abstain"
    )
    credit = np.where(missing, 0.5, sample.y_true)
    expected = 1 - 2 * augrc(credit, np.where(missing, -np.inf, score), sample.sample_weight)
    np.testing.assert_allclose(found, expected, atol=runner.tolerance)


def test_models_that_answer_differently_are_compared_by_what_each_got_right():
    rng = np.random.default_rng(1)
    n = 300
    hard = rng.uniform(0, 1, n)
    right = np.stack([rng.random(n) > hard * k for k in (0.4, 0.8)])
    sure = np.stack([-hard + rng.normal(0, s, n) for s in (0.1, 0.5)])
    found = lx.compare(right, *sure, decision=GIVEN)
    values = [lx.lxcim(y, s, decision=GIVEN) for y, s in zip(right, sure, strict=True)]
    np.testing.assert_allclose(found[:3], [*values, values[0] - values[1]])
    moved = [lx.influence(y, s, decision=GIVEN) for y, s in zip(right, sure, strict=True)]
    error = np.sqrt(n / (n - 1) * np.sum((moved[0] - moved[1]) ** 2))
    np.testing.assert_allclose(found.standard_error, error)
    table = lx.compare_all(right, {"a": sure[0], "b": sure[1]}, decision=GIVEN)
    np.testing.assert_allclose(table.difference[0, 1], found.difference)
    # The same confidences are not the same model.
    apart = lx.compare([[1, 1, 1], [0, 0, 0]], [3.0, 2, 1], [3.0, 2, 1], decision=GIVEN)
    assert apart.difference == 1
    assert apart.low < 1
    assert apart.p_value < 1


REFUSED = {
    "soft_lxcim": lx.soft_lxcim,
    "soft_accuracy": lx.soft_accuracy,
    "soft_audrc": lx.soft_audrc,
    "lxcim_loss": lx.lxcim_loss,
    "lxcim_surrogate": lx.lxcim_surrogate,
    "combined": lx.losses.combined,
    "exchange": lambda y, s, **o: lx.exchange(y, s, [True, False], **o),
    "random_exchange": lambda y, s, **o: lx.random_exchange(y, s, seed=0, **o),
    "symmetrize": lx.symmetrize,
    "exchange_spread": lambda y, s, **o: lx.exchange_spread(lx.auroc, y, s, n=4, seed=0, **o),
    "confusion": lx.confusion.confusion,
    "symmetric_roc_curve": lx.symmetric_roc_curve,
    "sketch": lx.sketch,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_side_refuses(name):
    with pytest.raises(ValueError, match=r"decision=confidence\(\) cannot be used here"):
        REFUSED[name]([1, 0], [2.0, -3.0], decision=GIVEN)


def test_a_threshold_beside_it_is_refused():
    with pytest.raises(ValueError, match=r"threshold=0\.5 and decision= were both given"):
        lx.lxcim([1, 0], [2.0, -3.0], decision=GIVEN, threshold=0.5)


def test_bad_input_is_found_as_ever():
    with pytest.raises(ValueError, match="y_score must not hold NaN"):
        lx.lxcim([1, 0], [2.0, np.nan], decision=GIVEN)
    with pytest.raises(ValueError, match="y_true must hold 0/1"):
        lx.lxcim([1, 3], [2.0, 1.0], decision=GIVEN)
    # Credits beside confidences of 0 and 1 are no mistake.
    assert lx.lxcim([0.5, 1.0], [0.0, 1.0], decision=GIVEN) == 0.875


@pytest.mark.runners("*-eager")
def test_the_credit_of_a_tie_at_the_top_is_shared(runner):
    with context(runner.backend):
        dtype = runner.backend.dtype
        arrays = (
            convert(runner.backend, np.asarray(x, dtype)) for x in ([1, 1 / 3, 0], [-1, -2, -2])
        )
        found = to_numpy(lx.lxcim(*arrays, decision=GIVEN))
    labels = itertools.product([0, 1], repeat=1)
    expected = sum(
        (1 / 3 if y else 2 / 3) * lx.lxcim([1, y, 0], [3.0, 2.0, 2.0]) for (y,) in labels
    )
    np.testing.assert_allclose(found, expected, rtol=10 * runner.tolerance)
