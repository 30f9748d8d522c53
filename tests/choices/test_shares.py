"""Shares of votes for labels: what they mean, and what they must not change."""

import itertools
from functools import partial

import numpy as np
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from samples import BY_SCORE, METRICS, SHARES, look_swapped

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.testing import samples

audrc_continuous = partial(lx.audrc, form="continuous")
# Linear in the credit of each sample, and so their own expectation over the votes.
LINEAR = {
    "lxcim": lx.lxcim,
    "augrc": lx.augrc,
    "accuracy": lx.accuracy,
    "audrc": lx.audrc,
    "aurc": lx.aurc,
    "audrc continuous": audrc_continuous,
    "contributions": lx.contributions,
    "contributions to audrc": partial(lx.contributions, metric="audrc"),
    "influence": lx.influence,
    "influence on audrc": partial(lx.influence, metric="audrc"),
    "cumulative curve": lambda *data, **o: lx.cumulative_accuracy_curve(*data, **o)[1],
    "accuracy-rate curve": lambda *data, **o: lx.accuracy_rate_curve(*data, **o)[1],
    "confusion": lx.confusion.confusion,
    "accuracy_at": lambda *data, **o: lx.accuracy_at(*data, 0.5, level=None, **o).accuracy,
}
SOFT = {
    "soft_lxcim": partial(lx.soft_lxcim, temperature=0.4, scale=None),
    "soft_lxcim rms": partial(lx.soft_lxcim, temperature=0.4),
    "unbiased": partial(lx.soft_lxcim, temperature=0.4, scale=None, unbiased=True),
    "soft_accuracy": partial(lx.soft_accuracy, temperature=0.4, scale=None),
    "soft_audrc": partial(lx.soft_audrc, temperature=0.4, scale=None),
    "lxcim_loss": partial(lx.lxcim_loss, temperature=0.4, scale=None),
    "combined": partial(lx.losses.combined, temperature=0.4, scale=None),
}
FINITE = st.integers(-16, 16).map(lambda k: k / 8)
FEWER = settings(max_examples=max(5, settings.default.max_examples // 4))


def over_labels(function, share, *rest, **options):
    """Return the expectation over labels that are drawn, each with its share of votes."""
    expected = 0.0
    for labels in itertools.product([0, 1], repeat=share.size):
        y = np.asarray(labels)
        chance = np.prod(np.where(y == 1, share, 1 - share))
        if chance > 0:
            expected = expected + chance * np.asarray(function(y, *rest, **options))
    return expected


@pytest.mark.parametrize("name", LINEAR)
@FEWER
@given(samples(max_size=5, labels=SHARES))
def test_linear_functions_are_their_expectation_over_the_votes(name, sample):
    share, score, weight = sample
    found = LINEAR[name](share, score, sample_weight=weight)
    expected = over_labels(LINEAR[name], share, score, sample_weight=weight)
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("name", SOFT)
@FEWER
@given(samples(min_size=2, max_size=5, labels=SHARES, scores=FINITE))
def test_soft_functions_are_their_expectation_over_the_votes(name, sample):
    share, score, weight = sample
    found = SOFT[name](share, score, sample_weight=weight)
    expected = over_labels(SOFT[name], share, score, sample_weight=weight)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def halves(share, score, weight):
    """Return each sample twice: as a positive and as a negative, with the weight of their votes."""
    label = np.append(np.ones(share.size), np.zeros(share.size)).astype(int)
    return label, np.append(score, score), np.append(weight * share, weight * (1 - share))


def of_cells(share, score, **options):
    cells = lx.confusion.confusion(share, score, **options)
    return lx.confusion.mcc(cells), lx.confusion.f1(cells), lx.confusion.balanced_accuracy(cells)


# What is a function of weights by label and score or confidence, however many samples share them.
# Discrete areas count samples, and soft AUDRC puts a sample before itself.
SPLIT = {
    **{f.__name__: f for f in METRICS if f not in (lx.audrc, lx.aurc)},
    "audrc continuous": audrc_continuous,
    "decomposition": lx.decomposition,
    "of cells": of_cells,
    "areas": lambda *data, **o: [
        lx.curve_area(curve(*data, **o))
        for curve in (lx.cumulative_accuracy_curve, lx.roc_curve, lx.symmetric_roc_curve)
    ],
    "heights": lambda *data, **o: lx.interpolate(
        lx.cumulative_accuracy_curve(*data, **o), [0.11, 0.37, 0.83]
    ),
    "sketch": lambda *data, **o: [*lx.sketch(*data, bins=8, **o)[:2]],
}
SPLIT_SOFT = {
    "soft_auroc": partial(lx.soft_auroc, temperature=0.4),
    "std of margins": partial(lx.soft_lxcim, temperature=0.4, scale="std"),
    **{
        kind: partial(lx.lxcim_surrogate, kind=kind, temperature=0.4)
        for kind in ("laplace_softplus", "logistic", "squared", "squared_hinge", "exponential")
    },
    **{name: SOFT[name] for name in SOFT if name not in ("soft_audrc", "unbiased")},
}


@pytest.mark.parametrize("name", SPLIT)
@given(samples(labels=SHARES))
def test_a_sample_counts_as_two_that_share_its_weight(name, sample):
    label, score, weight = halves(*sample)
    found, wanted = (
        np.concatenate([np.atleast_1d(part) for part in np.atleast_1d(SPLIT[name](y, s, **w))])
        for y, s, w in (
            (*sample[:2], {"sample_weight": sample.sample_weight}),
            (label, score, {"sample_weight": weight}),
        )
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SPLIT_SOFT)
@given(samples(min_size=2, labels=SHARES, scores=FINITE))
def test_a_sample_counts_as_two_in_soft_functions(name, sample):
    assume(name != "std of margins" or np.ptp(np.abs(sample.y_score[sample.sample_weight > 0])) > 0)
    label, score, weight = halves(*sample)
    found = SPLIT_SOFT[name](sample.y_true, sample.y_score, sample_weight=sample.sample_weight)
    wanted = SPLIT_SOFT[name](label, score, sample_weight=weight)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.5, 1.0, 3.0]], ids=["uniform", "weighted"])
@pytest.mark.parametrize("name", [*SPLIT_SOFT, "soft_audrc", "unbiased"])
def test_gradients_by_hand_are_those_of_differences(name, weight):
    function = {**SPLIT_SOFT, **SOFT}[name]
    share, score = np.asarray([0.25, 1.0, 2 / 3, 0.5, 0.0]), np.asarray([1.0, -0.7, 2.0, 0.3, -1.1])
    _, found = lx.value_and_grad(function.func)(
        share, score, sample_weight=weight, **function.keywords
    )
    step = 1e-6
    wanted = [
        (
            function(share, score + step * e, sample_weight=weight)
            - function(share, score - step * e, sample_weight=weight)
        )
        / (2 * step)
        for e in np.eye(score.size)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "kind", ["laplace_softplus", "logistic", "squared", "squared_hinge", "exponential"]
)
def test_the_hessian_for_boosting_is_that_of_differences(kind):
    rng = np.random.default_rng(4)
    share, score = rng.integers(0, 4, 9) / 3, rng.normal(size=9)
    weight = rng.integers(1, 4, 9).astype(float)
    objective = lx.losses.boosting_objective(kind=kind, temperature=0.7)
    _, curvature = objective(share, score, weight)
    slopes = [
        (objective(share, score + h, weight)[0] - objective(share, score - h, weight)[0]) / 2e-6
        for h in 1e-6 * np.eye(9)
    ]
    np.testing.assert_allclose(curvature, np.diag(slopes), rtol=1e-5, atol=1e-5)
    assert (curvature > 0).all()


ALL = {
    **{f.__name__: f for f in METRICS},
    "audrc continuous": audrc_continuous,
    "contributions": lx.contributions,
    "influence": lx.influence,
    "cumulative curve": lambda *data, **o: lx.cumulative_accuracy_curve(*data, **o)[1],
    "symmetric ROC": lambda *data, **o: lx.symmetric_roc_curve(*data, **o)[1],
    "standard error": lx.standard_error,
    "soft_auroc": lx.soft_auroc,
    "soft_accuracy": lx.soft_accuracy,
}


def all_of_them(names, y_true, y_score, **options):
    xp = namespaces.namespace(y_score=y_score)
    parts = [ALL[name](y_true, y_score, **options) for name in names]
    return xp.concat([xp.reshape(xp.asarray(part), (-1,)) for part in parts])


HARD = partial(all_of_them, [name for name in ALL if "soft" not in name])
SMOOTH = partial(all_of_them, [name for name in ALL if "soft" in name])


# All in one program, which takes long to compile operation by operation.
AT_ONCE = ("numpy-*", "strict*", "cupy-*", "torch-eager", "torch-vmap", "jax-x64-jit")


@pytest.mark.runners(*AT_ONCE)
@FEWER
@given(samples(scores=FINITE), st.booleans(), st.booleans())
def test_whole_labels_may_be_floats_to_the_last_bit(runner, sample, weighted, signed):
    weight = sample.sample_weight if weighted else None
    side = 2 * sample.y_true - 1 if signed else sample.y_true
    found, again = (runner(HARD, label, sample.y_score, weight) for label in (side, side * 1.0))
    np.testing.assert_array_equal(found, again)


@pytest.mark.runners("numpy-*", "strict-eager", "jax-x64-jit", "torch-eager")
@FEWER
@given(samples(scores=FINITE))
def test_whole_labels_may_be_floats_in_soft_functions(runner, sample):
    found, again = (
        runner(SMOOTH, label, *sample[1:]) for label in (sample.y_true, 1.0 * sample.y_true)
    )
    np.testing.assert_allclose(found, again, rtol=1e-13, atol=1e-15)


@pytest.mark.runners("*-eager")
def test_each_entry_of_a_batch_has_its_own_kind_of_labels(runner):
    label = np.asarray([[0.25, 1.0, 0.5, 0.0], [-1.0, 1.0, 1.0, -1.0], [0.0, 1.0, 1.0, 0.0]])
    score = np.asarray([[2.0, -1.0, 3.0, 0.5], [2.0, -1.0, 3.0, 0.5], [2.0, -1.0, 3.0, -0.5]])
    dtype = runner.backend.dtype
    with context(runner.backend):
        given = [convert(runner.backend, x.astype(dtype)) for x in (label, score)]
        for metric in METRICS:
            found = to_numpy(metric(*given))
            wanted = [
                metric(y if k == 0 else (y > 0).astype(int), s)
                for k, (y, s) in enumerate(zip(label, score, strict=True))
            ]
            np.testing.assert_allclose(found, wanted, atol=runner.tolerance)


@pytest.mark.parametrize(
    ("label", "score", "message"),
    [
        (
            [0.5, -1.0],
            [2.0, 3.0],
            "y_true must lie between 0 and 1 beside shares of votes; found -1",
        ),
        ([0.5, 2.0], [2.0, 3.0], "found 2 at position 1. Are y_true and y_score swapped"),
        ([0.3, 0.9, 0.2], [0.0, 1.0, 1.0], "where all scores are 0 or 1; .* swapped"),
        ([0.3, np.nan], [2.0, 3.0], "found nan at position 1"),
        ([-0.5, 1.0], [2.0, 3.0], "0/1, -1/\\+1, or shares of votes between 0 and 1; found -0.5"),
        ([3.0, 1.0], [2.0, 3.0], "must hold 0/1, -1/\\+1, or shares of votes .*; found 3"),
        ([3, 1], [2.0, 3.0], "must hold 0/1 or -1/\\+1; found 3"),
    ],
)
def test_bad_shares_are_refused_and_nan_where_they_cannot_be_seen(label, score, message):
    with pytest.raises(ValueError, match=message):
        lx.lxcim(label, score)
    jnp = pytest.importorskip("jax.numpy")
    with np.errstate(all="ignore"):
        assert np.isnan(lx.lxcim(jnp.asarray(label), jnp.asarray(score)))


def test_three_classes_and_questions_about_whole_decisions_take_no_shares():
    with pytest.raises(ValueError, match="must hold -1, 0 or \\+1"):
        lx.bi_auroc([0.5, 1.0], [2.0, 3.0])
    message = "whole labels here; found 0.5 at position 0. Pass null='coin'"
    with pytest.raises(ValueError, match=message):
        lx.significance([0.5, 1.0], [2.0, 3.0], null="uninformative")
    # One that is absent may be split.
    lx.significance([0.5, 1, 0], [2.0, 3, 1], null="uninformative", where=[False, True, True])


@given(st.data(), samples(labels=SHARES, scores=FINITE))
def test_exchanging_a_share_leaves_the_others_votes(data, sample):
    which = np.asarray(data.draw(st.lists(st.booleans(), min_size=12, max_size=12)))
    which = which[: sample.y_true.size]
    label, score = lx.exchange(sample.y_true, sample.y_score, which)
    decided = which & (sample.y_score != 0)
    np.testing.assert_array_equal(label, np.where(decided, 1 - sample.y_true, sample.y_true))
    assume(not look_swapped(label, score, sample.sample_weight))
    for metric in (lx.lxcim, lx.accuracy, lx.audrc, audrc_continuous):
        before = metric(*sample[:2], sample_weight=sample.sample_weight)
        np.testing.assert_allclose(
            metric(label, score, sample_weight=sample.sample_weight), before, atol=1e-14
        )


def test_exchanges_of_shares():
    label, score = np.asarray([0.25, 1.0, 0.5, 0.75]), np.asarray([2.0, -1.0, 3.0, 0.5])
    value = lx.lxcim(label, score)
    drawn = lx.random_exchange(label, score, seed=3)
    np.testing.assert_allclose(lx.lxcim(*drawn), value, rtol=1e-15)
    omega = lx.symmetrize(label, score)
    found = lx.auroc(omega.y_true, omega.y_score, sample_weight=omega.sample_weight)
    np.testing.assert_allclose(found, value, rtol=1e-15)
    spread = lx.exchange_spread(lx.lxcim, label, score, n=16, seed=2)
    assert spread.std < 1e-15
    # In a batch each entry is written in its own way.
    batch = lx.exchange([[0.25, 1.0], [-1.0, 1.0]], [[2.0, 3.0], [2.0, 3.0]], [True, True])
    np.testing.assert_array_equal(batch.y_true, [[0.75, 0.0], [1.0, -1.0]])


def test_derivatives_by_the_share_are_what_a_vote_is_worth(grad_backend):
    share = np.asarray([0.25, 1.0, 0.5, 0.0, 0.75])
    score, weight = np.asarray([2.0, -1.0, 3.0, 0.5, -1.0]), np.asarray([1.0, 2.0, 1.0, 3.0, 0.5])
    for metric, tolerance in (
        (lx.lxcim, 1e-6),
        (lx.accuracy, 1e-6),
        (lx.auroc, 1e-5),
        (lx.soft_lxcim, 1e-5),
        (lx.soft_audrc, 1e-5),
        (lx.soft_auroc, 1e-5),
    ):
        with context(grad_backend):
            y, s, w = (
                convert(grad_backend, x.astype(grad_backend.dtype)) for x in (share, score, weight)
            )

            def value(y, s=s, w=w, metric=metric):
                return metric(y, s, sample_weight=w)

            if grad_backend.library == "jax":
                import jax

                found = [jax.jit(jax.grad(value))(y)]
            else:
                import torch

                leaf = y.clone().requires_grad_()
                value(leaf).backward()
                found = [leaf.grad, torch.func.grad(value)(y)]
        for gradient in found:
            wanted = by_share(metric, share, score, weight)
            np.testing.assert_allclose(to_numpy(gradient), wanted, atol=tolerance)


def by_share(metric, share, score, weight, step=1e-7):
    """Return derivatives by one-sided differences that stay between 0 and 1."""
    at = metric(share, score, sample_weight=weight)
    slopes = []
    for i in range(share.size):
        sign = -1 if share[i] > 0.5 else 1
        moved = share + sign * step * (np.arange(share.size) == i)
        slopes.append(sign * (metric(moved, score, sample_weight=weight) - at) / step)
    return slopes


@pytest.mark.library("torch")
def test_whole_shares_of_torch_have_derivatives_too():
    import torch

    share = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
    score = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)
    lx.lxcim(share, score).backward()
    np.testing.assert_allclose(share.grad.numpy(), np.asarray([5, 3, 1]) / 9)


@FEWER
@given(
    st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.75]), min_size=1, max_size=7),
    st.data(),
)
def test_the_coin_is_tossed_for_the_lead_of_the_majority(shares, data):
    share, n = np.asarray(shares), len(shares)
    score = np.asarray(data.draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n)), float)
    weight = np.asarray(
        data.draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=n, max_size=n))
    )
    assume(not look_swapped(share, score))
    options = data.draw(st.sampled_from([{}, {"sample_weight": weight}]))
    found = lx.significance(share, score, **options)
    # Each decision agrees with the majority or with the minority, whichever the coin says.
    values = []
    for sides in itertools.product([False, True], repeat=n):
        tossed = np.where(sides, share, 1 - share)
        if look_swapped(tossed, score):
            tossed, score = 1 - tossed, -score
        values.append(lx.lxcim(tossed, score, **options))
    observed = lx.lxcim(share, score, **options)
    upper = np.mean(np.asarray(values) >= observed - 1e-12)
    lower = np.mean(np.asarray(values) <= observed + 1e-12)
    np.testing.assert_allclose(found.statistic, observed)
    np.testing.assert_allclose(found.p_value, min(1.0, 2 * min(upper, lower)), atol=1e-12)


def test_the_tails_of_many_split_votes_are_those_of_simulation():
    rng = np.random.default_rng(8)
    n = 60
    share, score = rng.integers(0, 4, n) / 3, rng.normal(0.3, 1, n)
    value = lx.lxcim(share, score)
    coins = rng.integers(0, 2, (20_000, n)) == 1
    values = lx.lxcim(np.where(coins, share, 1 - share), np.broadcast_to(score, coins.shape))
    upper = np.mean(values >= value - 1e-12)
    found = lx.significance(share, score, alternative="greater")
    assert abs(found.p_value - upper) < 4 * np.sqrt(max(upper, 1e-3) / 20_000)


def test_influence_and_errors_are_those_of_the_jackknife():
    rng = np.random.default_rng(9)
    n = 400
    belief = rng.uniform(0.1, 0.9, n)
    share, score = (
        rng.binomial(3, belief, n) / 3,
        np.log(belief / (1 - belief)) + rng.normal(0, 1, n),
    )
    for metric in ("lxcim", "accuracy", "auroc", "audrc", "confidence_auroc"):
        influence = lx.influence(share, score, metric=metric)
        assert abs(influence.sum()) < 1e-12
        left = [getattr(lx, metric)(np.delete(share, i), np.delete(score, i)) for i in range(n)]
        jackknife = np.sqrt((n - 1) / n * np.sum((left - np.mean(left)) ** 2))
        np.testing.assert_allclose(
            lx.standard_error(share, score, metric=metric), jackknife, rtol=0.02
        )
    # One sample is one unit: its halves as samples of their own would claim another precision.
    label, scores, weight = halves(share, score, np.ones(n))
    other = lx.standard_error(label, scores, sample_weight=weight)
    assert abs(other / lx.standard_error(share, score) - 1) > 0.1


def test_intervals_of_votes_cover():
    rng = np.random.default_rng(10)
    n, runs = 60, 2000
    belief = rng.beta(2, 2, (runs, n))
    share = rng.binomial(2, belief) / 2  # two annotators: wins, draws and losses
    score = np.log(belief / (1 - belief)) + rng.normal(0, 1, (runs, n))
    many = rng.beta(2, 2, 200_000)
    truth = lx.lxcim(
        rng.binomial(2, many) / 2, np.log(many / (1 - many)) + rng.normal(0, 1, many.size)
    )
    found = lx.interval(share, score)
    covered = np.mean((found.low <= truth) & (truth <= found.high))
    assert 0.93 < covered < 0.975


def test_thresholds_keep_their_promise_with_split_votes():
    rng = np.random.default_rng(11)
    n, runs, target, delta = 120, 200, 0.75, 0.1
    kept = []
    many = 400_000

    def draw(size):
        confidence = rng.uniform(0, 1, size)
        return confidence, rng.binomial(3, 0.5 + confidence / 2.2) / 3

    confidence, share = draw(many)
    order = np.argsort(-confidence)
    levels, accuracy = confidence[order], np.cumsum(share[order]) / np.arange(1, many + 1)
    found_some = 0
    for _ in range(runs):
        confidence, share = draw(n)
        point = lx.threshold_for(share, confidence, accuracy=target, delta=delta, threshold=0.0)
        if not point.rate > 0:
            kept.append(True)
            continue
        found_some += 1
        at = np.searchsorted(-levels, -point.confidence, side="right") - 1
        kept.append(accuracy[at] >= target)
    assert np.mean(kept) >= 1 - delta
    assert found_some > runs / 3  # and the promise is not an empty one


def test_bootstrap_comparisons_and_sizes_take_shares():
    rng = np.random.default_rng(12)
    n = 300
    belief = rng.uniform(0.05, 0.95, n)
    share = rng.binomial(3, belief) / 3
    good = np.log(belief / (1 - belief)) + rng.normal(0, 0.5, n)
    poor = np.log(belief / (1 - belief)) + rng.normal(0, 2.0, n)
    drawn = lx.bootstrap(share, good, n_resamples=400, seed=0)
    np.testing.assert_allclose(np.std(drawn), lx.standard_error(share, good), rtol=0.15)
    found = lx.compare(share, good, poor)
    np.testing.assert_allclose(found.difference, lx.lxcim(share, good) - lx.lxcim(share, poor))
    difference = lx.influence(share, good) - lx.influence(share, poor)
    error = np.sqrt(n / (n - 1) * np.sum(difference**2))
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-12)
    table = lx.compare_all(share, {"good": good, "poor": poor})
    np.testing.assert_allclose(table.difference[0, 1], found.difference)
    assert lx.required_samples(share, good, poor) > 0


@pytest.mark.parametrize("decision", [lx.probability(), lx.logit(), lx.asymmetric(0.5, 1, 2)])
def test_decision_functions_take_shares(decision):
    share, score = np.asarray([1, 2, 0, 3, 1]) / 3, np.asarray([0.9, 0.25, 0.5, 0.75, 0.0625])
    for metric in (lx.lxcim, lx.accuracy, lx.audrc, *BY_SCORE):
        found = metric(share, score, decision=decision)
        wanted = metric(
            *halves(share, score, np.ones(5))[:2],
            sample_weight=np.append(share, 1 - share),
            decision=decision,
        )
        if metric is not lx.audrc:
            np.testing.assert_allclose(found, wanted, atol=1e-15)
        else:
            np.testing.assert_allclose(found, over_labels(metric, share, score, decision=decision))


def test_masks_axes_and_weights_of_all_sizes(runner):
    share = np.asarray([0.25, 1.0, 0.5, 0.75])
    score = np.asarray([2.0, -1.0, 3.0, 0.5])
    span = 1e15 if runner.backend.dtype == "float64" else 1e9
    weight = np.asarray([span, 1.0, 1 / span, 3.0])
    wanted = lx.lxcim(
        *halves(share, score, weight)[:2], sample_weight=halves(share, score, weight)[2]
    )
    np.testing.assert_allclose(
        runner(lx.lxcim, share, score, weight), wanted, atol=runner.tolerance
    )
    assert share.size < PADDED
