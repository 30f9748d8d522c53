"""The reject option on every backend: operating points and local accuracy against the oracle."""

import re
from fractions import Fraction
from math import nan

import numpy as np
import oracle
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import THRESHOLDS
from test_laws import agree

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.invariance import Sample
from lxcim_xp.testing import samples

pytestmark = pytest.mark.runners("numpy-*", "strict*", "jax-x64-jit", "torch-eager", "torch-vmap")
UNIFORM = samples(weights=st.just(1.0))
ACCURACY, DELTA, RISK = Fraction(5, 8), Fraction(3, 8), Fraction(3, 8)


def everything(y_true, y_score, **options):
    """Return all operating points in one array, so that each transform compiles only once."""
    points = [
        lx.threshold_for(y_true, y_score, accuracy=float(ACCURACY), delta=delta, **options)
        for delta in (None, float(DELTA))
    ]
    points.append(lx.threshold_for(y_true, y_score, joint_risk=float(RISK), **options))
    parts = [part for point in points for part in point]
    parts += [*lx.accuracy_at(y_true, y_score, 0.5, **options)]
    parts += [lx.rate_at(y_true, y_score, float(ACCURACY), **options)]
    xp = namespaces.namespace(part=parts[0])
    return xp.stack(parts)


def same_shape(runner, sample):
    """Pad what JAX would compile for each shape."""
    rest = PADDED - sample.y_true.size if runner.backend.library == "jax" else 0
    kept = np.arange(sample.y_true.size + rest) < sample.y_true.size
    return [np.concatenate([part, np.zeros(rest, part.dtype)]) for part in sample[:2]], kept


@settings(max_examples=max(3, settings.default.max_examples // 8))  # each takes long
@given(UNIFORM, THRESHOLDS)
def test_operating_points_equal_the_oracle(runner, sample, threshold):
    data, kept = same_shape(runner, sample)
    found = runner(everything, *data, None, kept, threshold=threshold)
    m = oracle.margins(sample.y_true, sample.y_score, threshold)
    ones = [Fraction(1)] * len(m)
    expected = (
        oracle.last_accurate(m, ones, ACCURACY),
        oracle.last_vouched_for(m, ACCURACY, DELTA),
        oracle.last_of_joint_risk(m, RISK),
    )
    for (confidence, rate, accuracy), level in zip(found[:9].reshape(3, 3), expected, strict=True):
        decided = [] if level is None else [a for a in m if abs(a) >= level]
        agree(runner, confidence, nan if level is None else float(level))
        agree(runner, rate, len(decided) / len(m))
        right = oracle.accuracy(decided, [Fraction(1)] * len(decided))
        agree(runner, accuracy, nan if right is None else float(right))
    agree(runner, found[-1], found[1])
    accuracy, low, high, rate, confidence = found[9:14]
    points = oracle.cumulative_accuracy_curve(m, ones)
    reached, height, level = next(point for point in points if point[0] >= Fraction(1, 2))
    agree(
        runner,
        [accuracy, rate, confidence],
        [float(height / reached), float(reached), float(level)],
    )
    assert low <= accuracy + runner.tolerance
    assert accuracy - runner.tolerance <= high


@given(samples())
def test_local_accuracy_is_the_slope_of_the_least_concave_majorant(runner, sample):
    rest = PADDED - sample.y_true.size if runner.backend.library == "jax" else 0
    padded = Sample(*(np.concatenate([part, np.zeros(rest, part.dtype)]) for part in sample))
    found = runner(local, *padded)
    rates, slopes, confidence = found[:-2].reshape(3, -1)
    weight = [Fraction(w) for w in sample.sample_weight]
    m = oracle.margins(sample.y_true, sample.y_score)
    rate, slope = np.asarray(oracle.local_accuracy(m, weight), dtype=float).T
    # What was found in the middle of each step of the oracle.
    middle = rate - np.diff(rate, prepend=0) / 2
    agree(runner, slopes[np.searchsorted(rates, middle)], slope)
    assert slopes[0] == slopes[1]
    agree(runner, found[-2], float(oracle.coin_rate(m, weight)))
    agree(runner, max(rates[confidence >= found[-1]], default=0), found[-2])


def local(y_true, y_score, **options):
    parts = lx.local_accuracy(y_true, y_score, **options)
    xp = namespaces.namespace(part=parts[0])
    return xp.concat([xp.reshape(part, (-1,)) for part in parts])


def test_masked_samples_change_neither_the_grid_nor_the_search():
    rng = np.random.default_rng(0)
    for n in (300, 800):
        margins = rng.standard_normal(n) + 1.5
        padded, kept = np.concatenate([margins, np.full(700, 9.0)]), np.arange(n + 700) < n
        for target in ({"accuracy": 0.95, "delta": 0.1}, {"joint_risk": 0.05}):
            alone = lx.threshold_for(1, margins, **target)
            assert alone.rate > 0.2
            assert lx.threshold_for(1, padded, where=kept, **target) == alone


def test_infinite_confidences_are_not_decided_when_nothing_should_be():
    point = lx.threshold_for(1, [np.inf, -np.inf, 1.0], accuracy=0.9, delta=0.1)
    assert point.rate == 0
    assert not np.any(np.asarray([np.inf, 3.0]) >= point.confidence)


def test_a_target_that_is_met_exactly_is_met():
    wrong_first = np.where(np.arange(20) < 9, -1, 1) * np.arange(20.0, 0, -1)
    assert lx.rate_at(1, wrong_first, 0.55) == 1  # 11 of 20, whereas 0.55 * 20 > 11
    margins = np.where(np.arange(99) < 28, -1, 1) * np.arange(1.0, 100)
    assert lx.threshold_for(1, margins, joint_risk=0.29).rate == 1  # whereas 0.29 * 100 < 29


def test_many_rates_and_a_batch():
    margins = np.random.default_rng(1).standard_normal((2, 3, 40)) + 1
    found = lx.accuracy_at(1, margins, [0.0, 0.25, 1.0])
    assert all(part.shape == (2, 3, 3) for part in found)
    assert np.all(np.isnan(found.accuracy[..., 0]))
    assert np.all((found.low[..., 0] == 0) & (found.high[..., 0] == 1))
    np.testing.assert_allclose(found.rate, np.broadcast_to([0, 0.25, 1], (2, 3, 3)))
    np.testing.assert_allclose(found.accuracy[..., 2], lx.accuracy(1, margins))
    weighted = lx.accuracy_at(1, margins, 0.5, sample_weight=np.arange(40.0), level=None)
    assert np.all(np.isnan(weighted.low) & ~np.isnan(weighted.accuracy))


@pytest.mark.runners("strict-eager", "torch-eager")
def test_bad_batch_entries_are_nan_where_values_cannot_be_seen(runner):
    label = np.asarray([[1, 0, 1, 0], [1, 0, 2, 0], [1, 0, 1, 0]])
    score = np.asarray([[2.0, -1.0, 0.5, 1.5]] * 3)
    kept = np.asarray([[True] * 4, [True] * 4, [False] * 4])
    with context(runner.backend):
        label, score, kept = (convert(runner.backend, part) for part in (label, score, kept))
        options = {"where": kept}
        parts = [
            *lx.threshold_for(label, score, accuracy=0.5, delta=0.5, **options),
            *lx.threshold_for(label, score, joint_risk=0.5, **options),
            *lx.accuracy_at(label, score, 0.5, **options),
            lx.rate_at(label, score, 0.5, **options),
            *lx.local_accuracy(label, score, **options),
        ]
        parts = [to_numpy(part) for part in parts]
        rates = to_numpy(
            lx.accuracy_at(label, score, convert(runner.backend, np.asarray([0.5, 2]))).rate
        )
    for part in parts:
        assert np.all(np.isnan(part[1:]))
        assert not np.any(np.isnan(part[0]))
    assert np.isnan(rates[0, 1])
    assert rates[0, 0] == 0.5


BAD = {
    "accuracy of 1": (
        {"accuracy": 1.0, "delta": 0.1},
        "accuracy must lie between 0 and 1, both excluded; found 1. Pass 0.95 for 95 right",
    ),
    "accuracy in percent": (
        {"accuracy": 95, "delta": 0.1},
        "accuracy must lie between 0 and 1, both",
    ),
    "joint risk of 0": (
        {"joint_risk": 0},
        "joint_risk must lie between 0 and 1, both excluded; found 0.",
    ),
    "delta of 1": (
        {"accuracy": 0.9, "delta": 1},
        "delta must lie between 0 and 1, both excluded; found 1.",
    ),
    "nan delta": (
        {"accuracy": 0.9, "delta": nan},
        "delta must lie between 0 and 1, both excluded; found nan",
    ),
    "no delta": (
        {"accuracy": 0.9},
        "accuracy= needs delta=, how often it may be missed. Pass delta=0.1",
    ),
    "both": (
        {"accuracy": 0.9, "joint_risk": 0.1, "delta": 0.1},
        "pass one of accuracy= and joint_risk=; found 0.9 and 0.1.",
    ),
    "neither": ({}, "pass one of accuracy= and joint_risk=; neither was."),
    "delta of joint risk": (
        {"joint_risk": 0.1, "delta": 0.1},
        "delta=0.1 belongs to accuracy=; joint_risk= is controlled in the mean. Leave delta out.",
    ),
    "weights": (
        {"accuracy": 0.9, "delta": 0.1, "sample_weight": [1.0, 2.0]},
        "sample_weight cannot be given here; found list. The guarantee counts samples and holds "
        "for uniform weights only: pass where= to leave samples out, or accuracy= with delta=None.",
    ),
    "weights of joint risk": (
        {"joint_risk": 0.1, "sample_weight": [1.0, 2.0]},
        "sample_weight cannot be given here; found list. The guarantee",
    ),
    "nothing counts": (
        {"joint_risk": 0.1, "where": [False, False]},
        "y_score must hold samples that count; found none. Pass data to choose from",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())
def test_targets_that_cannot_be_met_are_refused(arguments, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        lx.threshold_for(1, [2.0, -1.0], **arguments)


def test_other_unusable_arguments_are_refused():
    with pytest.raises(TypeError, match=r"accuracy must be a number; found str\. Pass 0\.95"):
        lx.threshold_for(1, [2.0, -1.0], accuracy="high", delta=0.1)
    with pytest.raises(
        ValueError, match="accuracy must lie between 0 and 1, both excluded; found 2"
    ):
        lx.rate_at(1, [2.0, -1.0], 2)
    with pytest.raises(
        ValueError, match=r"rate must lie between 0 and 1; found 50\. A rate is a share"
    ):
        lx.accuracy_at(1, [2.0, -1.0], 50)
    with pytest.raises(ValueError, match="level must lie between 0 and 1, both excluded; found 95"):
        lx.accuracy_at(1, [2.0, -1.0], 0.5, level=95)
    with pytest.raises(ValueError, match="The Clopper-Pearson interval counts samples"):
        lx.accuracy_at(1, [2.0, -1.0], 0.5, sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"found none in batch entry 1\."):
        lx.local_accuracy(1, [[2.0, -1.0]] * 2, where=[[True, True], [False, False]])
    for function in (
        lx.local_accuracy,
        lambda *a: lx.rate_at(*a, 0.5),
        lambda *a: lx.accuracy_at(*a, 0.5),
    ):
        with pytest.raises(ValueError, match="y_score must hold samples that count; found none"):
            function([], [])
