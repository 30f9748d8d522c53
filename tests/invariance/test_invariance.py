"""Audits: they find what is there, and nothing that is not."""

import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from samples import BY_MARGIN, BY_SCORE

import lxcim_xp as lx
from lxcim_xp.invariance import laws


def holds(metric, **options):
    return {law: finding.holds for law, finding in lx.audit(metric, **options).items()}


@pytest.mark.parametrize("metric", BY_MARGIN)
def test_what_depends_on_margins_alone_obeys_the_laws_of_margins(metric):
    found = holds(metric, trials=600)
    weighted_alike = metric not in (lx.audrc, lx.aurc)
    assert found == {
        "lxc": True,
        "class_swap": True,
        "permutation": True,
        "confidence_map": True,
        "score_map": False,
        "weight_scale": True,
        "zero_weight": True,
        "duplication": weighted_alike,
        "defined": metric is not lx.confidence_auroc,
    }


@pytest.mark.parametrize("metric", BY_SCORE)
def test_what_depends_on_the_order_of_scores_is_refuted_by_an_exchange(metric):
    found = holds(metric)
    assert found["score_map"]
    assert not found["lxc"]
    assert not found["defined"]
    example = lx.audit(metric, laws=["lxc"])["lxc"].counter_example
    # The counter-example is one: the same margins, and two values that the metric really has.
    for sample, value in (
        (example.before, example.value_before),
        (example.after, example.value_after),
    ):
        assert metric(sample.y_true, sample.y_score) == pytest.approx(value, abs=1e-12)
    margins = [(2 * s.y_true - 1) * s.y_score for s in (example.before, example.after)]
    np.testing.assert_array_equal(*margins)
    assert example.before.y_true.size <= 3
    assert abs(example.value_before - example.value_after) > 1e-3


@pytest.mark.parametrize(
    ("name", "swap"),
    [
        ("sensitivity", False),
        ("specificity", False),
        ("precision", False),
        ("f1", False),
        ("fdr", False),
        ("mcc", True),
        ("balanced_accuracy", True),
    ],
)
def test_of_the_categorical_metrics_only_accuracy_is_invariant(name, swap):
    assert all(holds(lx.confusion.accuracy, kind="confusion").values())
    found = lx.audit(getattr(lx.confusion, name), kind="confusion")
    assert not found["lxc"].holds
    assert not found["class_insensitivity"].holds
    assert found["class_swap"].holds == swap
    assert found["weight_scale"].holds
    example = found["lxc"].counter_example
    assert example.before.max() <= 2
    metric = getattr(lx.confusion, name)
    assert metric(example.after) == pytest.approx(example.value_after)


def test_each_law_is_found_broken_by_a_metric_that_breaks_it_alone():
    def first_label(y_true, y_score):
        return float(lx.lxcim(y_true, y_score)) + (y_true[0] == 0) * (y_score[0] < 0) * 0.1

    def heavy(y_true, y_score, sample_weight=None):
        total = len(y_true) if sample_weight is None else np.sum(sample_weight)
        return float(lx.lxcim(y_true, y_score, sample_weight=sample_weight)) / total

    def brier(y_true, y_score):
        return np.mean((y_true - y_score) ** 2)

    assert not holds(first_label)["permutation"]
    assert not holds(heavy)["weight_scale"]
    assert not holds(heavy)["duplication"]
    probabilities = holds(brier, decision=lx.probability())
    assert probabilities["lxc"]
    assert not probabilities["confidence_map"]
    assert probabilities["weight_scale"] is None


@pytest.mark.parametrize(
    "decision",
    [
        lx.absolute(0.3),
        lx.probability(),
        lx.logit(),
        lx.asymmetric(1.0, 2.0, 3.0),
        lx.decision_function(lambda score: score**2 * (np.abs(score) + score / 2 + 1)),
        lx.decision_function(lambda p: np.abs(p - 0.25) * (1 + p), 0.25, domain=(0.0, 1.0)),
    ],
)
def test_lxcim_is_invariant_for_every_decision_function(decision):
    def metric(y_true, y_score, sample_weight=None):
        return lx.lxcim(y_true, y_score, sample_weight=sample_weight, decision=decision)

    lx.assert_lxc_invariant(metric, decision=decision)
    levels = laws.score_levels(decision)
    assert np.all(np.diff(levels) > 0)


def test_an_asymmetric_decision_is_not_invariant_to_a_symmetric_exchange():
    def metric(y_true, y_score):
        return lx.lxcim(y_true, y_score, decision=lx.asymmetric(0, 1, 3))

    assert not holds(metric)["lxc"]


def test_the_failure_of_the_assertion_shows_both_data_sets():
    with pytest.raises(AssertionError) as failure:
        lx.assert_lxc_invariant(lx.auroc)
    lines = str(failure.value).splitlines()
    assert lines[0] == "auroc is not invariant to local exchange of classes."
    assert lines[2].strip().startswith("y_true = [")
    assert "sample_weight" not in lines[2]
    with pytest.raises(AssertionError, match=r"\[TP, FP, FN, TN\] = \[1, 1, 1, 1\]: 0.5"):
        lx.assert_lxc_invariant(lx.confusion.f1, kind="confusion")


def test_a_metric_that_raises_or_warns_on_some_input_is_a_finding():
    def picky(y_true, y_score):
        if len(set(y_true)) < 2:
            raise RuntimeError("one class only")
        return lx.auroc(y_true, y_score)

    def noisy(y_true, y_score):
        warnings.warn("I warn always", stacklevel=1)
        return float(lx.lxcim(y_true, y_score))

    found = lx.audit(picky)
    assert not found["defined"].holds
    assert "RuntimeError: one class only" in lx.describe(found["defined"])
    assert found["defined"].counter_example.before.y_true.size == 1
    assert not found["lxc"].holds
    assert holds(noisy)["lxc"]


def test_an_audit_can_be_repeated():
    first, second = (lx.audit(lx.auroc, seed=5) for _ in range(2))
    assert all(
        lx.describe(a) == lx.describe(b)
        for a, b in zip(first.values(), second.values(), strict=True)
    )
    only = lx.audit(lx.auroc, laws=["lxc"], seed=5)
    assert list(only) == ["lxc"]


def test_counter_examples_with_weights_show_them():
    def metric(y_true, y_score, sample_weight=None):
        if sample_weight is None:
            return 0.5
        return lx.auroc(y_true, y_score, sample_weight=sample_weight)

    example = lx.audit(metric)["lxc"].counter_example
    assert example.before.sample_weight is not None
    assert "sample_weight = [" in lx.describe(lx.audit(metric)["lxc"])


def test_scikit_learn_is_audited_as_it_is():
    metrics = pytest.importorskip("sklearn.metrics")
    found = lx.audit(metrics.roc_auc_score)
    assert [law for law, finding in found.items() if not finding.holds] == ["lxc", "defined"]

    def accuracy(y_true, y_score):
        return metrics.accuracy_score(y_true, y_score > 0)

    with pytest.raises(AssertionError, match=r"y_true = \[1\], y_score = \[0\]: 0"):
        lx.assert_lxc_invariant(accuracy)


def half_right(y_true, y_score):
    return np.mean(np.where(y_score == 0, 0.5, (y_score > 0) == y_true), axis=-1)


def never_right(y_true, y_score):
    return np.mean((y_score != 0) & ((y_score > 0) == y_true), axis=-1)


def right_by_sign(y_true, y_score):
    return np.mean((y_score > 0) == y_true, axis=-1)


@pytest.mark.parametrize(
    ("metric", "invariant"), [(half_right, True), (never_right, True), (right_by_sign, False)]
)
def test_what_an_undecided_sample_is_called_must_not_matter(metric, invariant):
    found = holds(metric)
    assert found["lxc"] == found["class_swap"] == invariant
    # At the edge of the threshold the counter-example is a single sample on it.
    example = lx.audit(metric)["lxc"].counter_example
    assert invariant or (example.before.y_score == 0).all()


def test_samples_of_weight_zero_are_tried():
    def counts_them(y_true, y_score, sample_weight=None):
        weight = np.ones(y_score.shape) if sample_weight is None else sample_weight
        right = np.where(y_score == 0, 0.5, (y_score > 0) == y_true)
        return np.sum(right * weight) / np.sum(weight) - 0.01 * y_score.size

    def cannot_take_them(y_true, y_score, sample_weight=None):
        if sample_weight is not None and (np.asarray(sample_weight) <= 0).any():
            raise ValueError("weights must be positive")
        return lx.accuracy(y_true, y_score, sample_weight=sample_weight)

    finding = lx.audit(counts_them)["zero_weight"]
    assert not finding.holds
    np.testing.assert_array_equal(finding.counter_example.after.sample_weight, [1, 0])
    found = lx.audit(cannot_take_them)
    assert found["zero_weight"].holds  # which says nothing where there is no value
    assert "weights must be positive" in lx.describe(found["defined"])
    assert lx.audit(half_right)["zero_weight"].holds is None


@pytest.mark.parametrize(
    ("metric", "decision"),
    [
        (lambda y, s: lx.lxcim(y, s - 0.3), lx.absolute(0.3)),
        (lambda y, s: lx.lxcim(y, s + 0.7), lx.absolute(-0.7)),
        (lambda y, s: lx.lxcim(y, s - 0.5), lx.probability()),
    ],
)
def test_ties_that_rounding_breaks_are_found(metric, decision):
    finding = lx.audit(metric, decision=decision, laws=["lxc"], trials=600)["lxc"]
    assert not finding.holds
    lx.assert_lxc_invariant(partial(lx.lxcim, decision=decision), decision=decision, trials=600)


def test_a_metric_may_write_to_what_it_gets():
    def writes(y_true, y_score, sample_weight=None):
        value = lx.lxcim(y_true, y_score, sample_weight=sample_weight)
        for array in (y_true, y_score) + (() if sample_weight is None else (sample_weight,)):
            array[...] = 0
        return value

    assert holds(writes) == holds(lx.lxcim)
    assert holds(writes, decision=lx.absolute(2.0))["lxc"] is False  # which decides at 0

    def writes_confusion(confusion):
        value = lx.confusion.accuracy(confusion)
        confusion[...] = 0
        return value

    assert all(holds(writes_confusion, kind="confusion").values())
    label, score = np.asarray([1, 0, 1, 0]), np.asarray([1.0, 2.0, -3.0, 0.5])
    weight = np.asarray([1.0, 2.0, 1.0, 1.0])
    for options in ({}, {"sample_weight": weight}):
        spread = lx.exchange_spread(writes, label, score, n=20, **options)
        assert spread.low == spread.high == spread.value > 0
    np.testing.assert_array_equal(label, [1, 0, 1, 0])
    np.testing.assert_array_equal(weight, [1, 2, 1, 1])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("good", "'good'"),
        ("0.5", "'0.5'"),
        (1 + 2j, r"\(1\+2j\)"),
        (None, "None"),
        ({"auc": 0.5}, r"\{'auc': 0.5\}"),
        ([0.5, [0.5]], r"\[0.5, \[0.5\]\]"),
        (np.asarray([0.5, 0.5]), r"an array of shape \(2,\)"),
        (np.asarray([1 + 2j]), r"an array of shape \(1,\)"),
        (np.datetime64("2020-01-01"), "datetime64"),
    ],
)
@pytest.mark.parametrize("kind", ["scores", "confusion", "spread"])
def test_what_is_no_number_is_named_with_its_metric(kind, value, shown):
    def my_metric(*arguments):
        return value

    evaluate = partial(lx.audit, my_metric, kind=kind)
    if kind == "spread":
        evaluate = partial(lx.exchange_spread, my_metric, [1, 0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=f"must return one number.*my_metric returned .*{shown}"):
        evaluate()


def test_every_kind_of_real_number_is_a_value():
    for value in (True, 1, Fraction(1, 3), Decimal("0.5"), np.float32(0.5), np.asarray(0.5)):
        assert lx.audit(lambda y_true, y_score, value=value: value)["lxc"].holds
        spread = lx.exchange_spread(lambda y, s, value=value: value, 1, [1.0, 2.0], n=3)
        assert spread.low == float(value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lx.audit(lx.lxcim, kind="ranks"), "kind must be one of .*found 'ranks'"),
        (lambda: lx.audit(lx.lxcim, laws=["lxx"]), "laws must be among .*found 'lxx'"),
        (lambda: lx.audit(lx.lxcim, trials=0), "trials must be at least 1; found 0"),
        (lambda: lx.audit(lx.lxcim, kind="confusion"), "metric raised on every input"),
        (lambda: lx.audit(lambda y, s: np.nan), "metric is NaN on every input"),
        (lambda: lx.audit(lambda y, s: s), "metric must return one number"),
        (lambda: lx.audit_table({}), "at least one audit"),
    ],
)
def test_what_cannot_be_audited_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
