"""The reject option on every backend: operating points and local accuracy against the oracle."""

import math
import re
from fractions import Fraction
from math import nan

import numpy as np
import oracle
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import QUARTERS, THRESHOLDS
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


@given(samples() | samples(labels=QUARTERS))
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


@pytest.mark.runners("strict-eager", "jax-x64-eager", "torch-eager")
def test_clusters_are_numbered_where_labels_cannot_be(runner):
    with context(runner.backend):
        score = convert(runner.backend, np.asarray([2.0, -1.0]))
        with pytest.raises(TypeError, match=r"groups must hold integers; found dtype .*Number the"):
            lx.threshold_for(1, score, joint_risk=0.5, groups=score)


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


def last_vouched_for_by_clusters(m, groups, target, delta):
    """Bet on every cluster at every level from the top, until a capital is too small."""
    names = sorted(set(groups))
    largest = max(groups.count(name) for name in names)
    smaller = max(0, math.floor(math.log2(len(names) * (1 - target) / target / 6) / 2 + 0.5))
    shares = {0.98: 0.75 if smaller else 1.0}
    shares |= {2.0**-j: 0.25 / smaller for j in range(1, smaller + 1)}

    def capital(right, decided):
        leads = [r - target * k for r, k in zip(right, decided, strict=True)]
        return sum(
            share * math.prod(1 + bet * lead / (target * largest) for lead in leads)
            for bet, share in shares.items()
        )

    everyone = [groups.count(name) for name in names]
    room = min(5.0, max(1.0, capital(everyone, everyone) * delta) ** (1 / 3))
    found = None
    for level in sorted({abs(a) for a in m}, reverse=True):
        inside = [[a for a, g in zip(m, groups, strict=True) if g == name] for name in names]
        decided = [sum(abs(a) >= level for a in each) for each in inside]
        right = [sum(a >= level and a > 0 for a in each) for each in inside]
        if capital(decided, decided) * delta < room:
            continue
        if capital(right, decided) * delta < 1:
            break
        found = level
    return found


def in_clusters(y_true, y_score, sample_weight, where=None):
    """Take the place that runners have for weights for the codes of clusters."""
    xp = namespaces.namespace(y_score=y_score)
    options = {"groups": xp.astype(sample_weight, xp.int32), "where": where}
    points = [
        lx.threshold_for(y_true, y_score, accuracy=target, delta=0.2, **options)
        for target in (0.25, 0.5)
    ]
    points.append(lx.threshold_for(y_true, y_score, joint_risk=0.3, **options))
    return xp.stack([part for point in points for part in point])


@pytest.mark.parametrize("seed", range(6))
def test_guarantees_by_clusters_equal_a_straightforward_form(runner, seed):
    rng = np.random.default_rng(seed)
    n = PADDED - seed
    m = (rng.integers(-2, 10, n) / 2).tolist()
    groups = rng.integers(0, 2 * n // (1 + seed % 3), n).tolist()
    data, kept = same_shape(runner, Sample(np.ones(n, dtype=int), np.asarray(m), np.ones(n)))
    codes = np.concatenate([groups, np.zeros(kept.size - n)])
    found = runner(in_clusters, *data, codes, kept).reshape(3, 3)
    largest = max(groups.count(name) for name in groups)
    allowed = {
        abs(level): 0.5 * m.count(0) * (level == 0) + sum(a < 0 and -a >= abs(level) for a in m)
        for level in m
    }
    allowed = [at for at, wrong in allowed.items() if (wrong + largest) / (n + largest) <= 0.3]
    expected = [last_vouched_for_by_clusters(m, groups, target, 0.2) for target in (0.25, 0.5)]
    expected.append(min(allowed, default=None))
    assert expected[0] is not None
    for (confidence, rate, accuracy), level in zip(found, expected, strict=True):
        decided = [] if level is None else [a for a in m if abs(a) >= level]
        agree(runner, confidence, nan if level is None else level)
        agree(runner, rate, len(decided) / n)
        right = sum((a > 0) + (a == 0) / 2 for a in decided)
        agree(runner, accuracy, right / len(decided) if decided else nan)


def test_names_order_and_masked_members_of_clusters_change_nothing():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 150, 900)
    margins = rng.standard_normal(900) + 1.5 + 0.3 * rng.standard_normal(150)[groups]
    for target in ({"accuracy": 0.9, "delta": 0.1}, {"joint_risk": 0.05}):
        found = lx.threshold_for(1, margins, groups=groups, **target)
        assert 0.2 < found.rate < lx.threshold_for(1, margins, **target).rate
        order = rng.permutation(900)
        names = np.asarray([f"question {-code}" for code in groups])
        assert lx.threshold_for(1, margins[order], groups=names[order], **target) == found
        more, kept = np.append(margins, np.full(500, 9.0)), np.arange(1400) < 900
        codes = np.append(groups, rng.integers(0, 300, 500))
        assert lx.threshold_for(1, more, groups=codes, where=kept, **target) == found
        batch = lx.threshold_for(1, np.stack([margins, -margins]), groups=groups, **target)
        assert batch.confidence[0] == found.confidence
        assert batch.rate[1] < 0.1
        column = lx.threshold_for(1, margins[:, None], groups=groups[:, None], axis=0, **target)
        assert column.confidence == found.confidence


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
    "clusters without a guarantee": (
        {"accuracy": 0.9, "delta": None, "groups": [0, 1]},
        "groups belongs to a guarantee; found delta=None, which asks for none. Pass delta=0.1, or "
        "leave groups out",
    ),
    "clusters with weights": (
        {"accuracy": 0.9, "delta": 0.1, "groups": [0, 1], "sample_weight": [1.0, 2.0]},
        "sample_weight cannot be given here; found list. The guarantee",
    ),
    "a single cluster": (
        {"accuracy": 0.9, "delta": 0.1, "groups": [1, 1]},
        "groups must hold at least two clusters; found one. A single cluster says nothing",
    ),
    "too many clusters": (
        {"joint_risk": 0.1, "groups": [1, 2, 3]},
        "groups must have one entry for each sample; found shape (3,) for samples of shape (2,).",
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
