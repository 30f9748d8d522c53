"""Curves and contributions on every backend; JAX and torch also compiled and mapped."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from samples import SHARES, THRESHOLDS, masks
from test_laws import agree, as_float

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.invariance import Sample
from lxcim_xp.testing import samples

# Curves are large programs to compile: not every law runs under every transform.
RUNNERS = (
    "numpy-*",
    "strict*",
    "cupy-*",
    "torch-eager",
    "torch-vmap",
    "jax-jit",
    "jax-x64-jit+vmap",
)
pytestmark = pytest.mark.runners(*RUNNERS)
GRID = [Fraction(k, 8) for k in range(9)]
CURVES = {
    "cumulative": lx.cumulative_accuracy_curve,
    "accuracy_rate": lx.accuracy_rate_curve,
    "roc": lx.roc_curve,
    "symmetric": lx.symmetric_roc_curve,
}


def everything(y_true, y_score, **options):
    """Return all curves of a sample in one array, so that each transform compiles only once."""
    curves = {name: function(y_true, y_score, **options) for name, function in CURVES.items()}
    grid = [float(rate) for rate in GRID]
    parts = [part for curve in curves.values() for part in curve]
    parts += [lx.interpolate(curves[name], grid) for name in CURVES]
    parts += [lx.curve_area(curves[name]) for name in CURVES]
    parts += [
        lx.contributions(y_true, y_score, metric=metric, **options) for metric in ("lxcim", "audrc")
    ]
    xp = namespaces.namespace(part=parts[0])
    return xp.concat([xp.reshape(part, (-1,)) for part in parts])


class Found:
    """What :func:`everything` found, by name."""

    def __init__(self, values, n):
        lengths = {
            f"{name} {k}": n + 1
            for name in ("cumulative", "accuracy_rate", "roc")
            for k in range(3)
        }
        lengths |= {f"symmetric {k}": 2 * n + 1 for k in range(3)} | {"crossing": 1}
        lengths |= {f"{name} at": len(GRID) for name in CURVES} | {
            f"{name} area": 1 for name in CURVES
        }
        lengths |= {"lxcim": n, "audrc": n}
        ends = np.cumsum(list(lengths.values()))
        assert ends[-1] == values.size
        self.parts = dict(zip(lengths, np.split(values, ends[:-1]), strict=True))

    def __getitem__(self, name):
        return self.parts[name]

    def points(self, name):
        """Return the points of a curve without those that repeat their neighbour."""
        points = np.stack([self.parts[f"{name} {k}"] for k in range(3)], axis=-1)
        new = np.any(points[1:] != points[:-1], axis=-1)
        return points[np.concatenate([[True], new])]


def found_by(runner, sample, threshold=0.0):
    n = sample.y_true.size
    if runner.backend.library == "jax":
        # Eager or not, JAX compiles for each shape.
        sample, n = padded(sample), PADDED
    elif runner.transform != "eager":
        n = PADDED
    return Found(runner(everything, *sample, threshold=threshold), n)


def padded(sample):
    rest = PADDED - sample.y_true.size
    return Sample(*(np.concatenate([part, np.zeros(rest, part.dtype)]) for part in sample))


@pytest.mark.runners("jax-eager", *RUNNERS)
@given(samples() | samples(labels=SHARES), THRESHOLDS)
def test_curves_and_shares_equal_the_oracle(runner, sample, threshold):
    found = found_by(runner, sample, threshold)
    weight = [Fraction(w) for w in sample.sample_weight]
    m = oracle.margins(sample.y_true, sample.y_score, threshold)
    expected = {
        "cumulative": oracle.cumulative_accuracy_curve(m, weight),
        "accuracy_rate": oracle.accuracy_rate_curve(m, weight),
        "roc": oracle.roc_curve(sample.y_true, list(sample.y_score), weight),
        "symmetric": oracle.symmetric_roc_curve(m, weight),
    }
    for name, points in expected.items():
        if points is None:
            assert np.all(np.isnan(found[f"{name} area"]))
            continue
        agree(runner, found.points(name), np.asarray(points, dtype=float))
        if name != "accuracy_rate":
            steps = {a[0] for a, b in pairwise(points) if a[0] == b[0]}
            # At a vertical step, a rate that is off by its rounding has another height.
            sure = [i for i, v in enumerate(GRID) if v not in steps]
            heights = [float(oracle.curve_at(points, GRID[i])) for i in sure]
            agree(runner, found[f"{name} at"][sure], heights)
    cumulative = [oracle.curve_at(expected["cumulative"], v) for v in GRID]
    accuracy = [g / v for g, v in zip(cumulative[1:], GRID[1:], strict=True)]
    agree(runner, found["accuracy_rate at"][1:], np.asarray(accuracy, dtype=float))
    agree(runner, found["crossing"], as_float(oracle.accuracy(m, weight)))
    agree(
        runner, found["lxcim"][: len(m)], np.asarray(oracle.lxcim_contributions(m, weight), float)
    )
    agree(
        runner, found["audrc"][: len(m)], np.asarray(oracle.audrc_contributions(m, weight), float)
    )


@given(samples(scores=st.just(1.0), weights=st.integers(0, 10).map(lambda k: k / 4)))
def test_rates_of_ties_grow_to_one_whatever_they_weigh(runner, sample):
    rates = found_by(runner, sample)["accuracy_rate 0"]
    assert np.all(np.diff(rates) >= 0)
    assert rates[-1] == 1


@given(samples(), THRESHOLDS)
def test_the_area_of_each_curve_and_the_sum_of_the_shares_are_the_metric(runner, sample, threshold):
    found = found_by(runner, sample, threshold)
    options = {"sample_weight": sample.sample_weight, "threshold": threshold}
    lxcim, audrc, auroc = (
        metric(*sample[:2], **options) for metric in (lx.lxcim, lx.audrc, lx.auroc)
    )
    rate, height, _ = found.points("cumulative").T
    agree(runner, 2 * np.trapezoid(height, rate), lxcim)
    rate, height, _ = found.points("accuracy_rate").T
    agree(runner, np.sum(np.diff(rate) * height[1:]), audrc)
    false_positive, true_positive, _ = found.points("symmetric").T
    agree(runner, np.trapezoid(true_positive, false_positive), lxcim)
    agree(runner, found["cumulative area"], lxcim)
    agree(runner, found["accuracy_rate area"], audrc)
    agree(runner, found["roc area"], auroc)
    agree(runner, found["symmetric area"], lxcim)
    agree(runner, np.sum(found["lxcim"]), lxcim)
    agree(runner, np.sum(found["audrc"]), audrc)


@given(st.data(), samples())
def test_exchanging_any_subset_leaves_all_but_the_roc_curve(runner, data, sample):
    which = data.draw(masks(sample.y_true.size))
    exchanged = sample._replace(
        y_true=np.where(which, 1 - sample.y_true, sample.y_true),
        y_score=np.where(which, -sample.y_score, sample.y_score),
    )
    before, after = found_by(runner, sample), found_by(runner, exchanged)
    for name, part in before.parts.items():
        if not name.startswith("roc"):
            agree(runner, part, after[name])


@given(samples())
def test_the_symmetric_curve_is_symmetric_and_crosses_at_the_accuracy(runner, sample):
    found = found_by(runner, sample)
    false_positive, true_positive, _ = found.points("symmetric").T
    agree(runner, np.sort(1 - true_positive), np.sort(false_positive))
    accuracy = found["crossing"][0]
    points = found.points("symmetric")[:, :2]
    # The crossing lies on the curve: no point is both left of and below it, nor right and above.
    tolerance = 2 * runner.tolerance
    beyond = points - [1 - accuracy, accuracy]
    assert np.all((beyond[:, 0] >= -tolerance) | (beyond[:, 1] <= tolerance))
    sums = points.sum(axis=1)
    agree(runner, np.interp(1, sums, points[:, 1]), accuracy)


@pytest.mark.runners("strict-eager", "torch-eager", "cupy-eager")
@pytest.mark.parametrize("name", CURVES)
def test_a_bad_batch_entry_is_nan_and_the_others_are_not(runner, name):
    label = np.asarray([[1, 0, 1, 0], [1, 0, 2, 0], [1, 0, 1, 0]])
    score = np.asarray([[2.0, -1.0, 0.5, 1.5]] * 3, dtype="float32")
    score[2, 1] = np.nan
    with context(runner.backend):
        arrays = convert(runner.backend, label), convert(runner.backend, score)
        curve = CURVES[name](*arrays)
        parts = [*curve, lx.interpolate(curve, [0.25, 2.0]), lx.curve_area(curve)]
        parts += [*lx.local_accuracy(*arrays), lx.contributions(*arrays)]
        parts = [to_numpy(part) for part in parts]
    for part in parts:
        assert np.all(np.isnan(part[1:]))
    for part in parts[:3]:
        assert not np.any(np.isnan(part[0]))
    assert np.isnan(parts[len(curve)][0, 1])


@pytest.mark.runners("torch-compile")
def test_torch_compiles_curves_and_shares(runner):
    found = runner(some, [1, 0, 1, 1, 0], [2.0, -1.0, -1.0, 0.5, 0.0], [1.0, 2.0, 0.5, 0.0, 1.0])
    eager = runner._replace(transform="eager")
    expected = eager(
        some,
        [1, 0, 1, 1, 0] + [7] * 7,
        [2.0, -1.0, -1.0, 0.5, 0.0] + [np.nan] * 7,
        [1.0, 2.0, 0.5, 0.0, 1.0] + [-1.0] * 7,
        [True] * 5 + [False] * 7,
    )
    agree(runner, found, expected)


def some(y_true, y_score, **options):
    """Return what has one piece of every kind of code, in one array."""
    curve = lx.accuracy_rate_curve(y_true, y_score, **options)
    parts = [*curve, lx.interpolate(curve, [0.25, 0.5])]
    parts += [lx.contributions(y_true, y_score, metric="audrc", **options)]
    return namespaces.namespace(part=parts[0]).concat(parts)


@pytest.mark.parametrize("name", CURVES)
def test_curves_of_a_batch_are_those_of_its_entries_along_any_axis(name):
    rng = np.random.default_rng(3)
    label, score = rng.integers(0, 2, (2, 3, 7)), rng.integers(-3, 4, (2, 3, 7)) / 2
    weight = rng.integers(0, 3, (2, 3, 7))
    batch = CURVES[name](label, score, sample_weight=weight)
    moved = [np.moveaxis(array, -1, 0) for array in (label, score, weight)]
    along = CURVES[name](*moved[:2], sample_weight=moved[2], axis=0)
    heights = lx.interpolate(batch, [0.5, 1.0])
    for index in np.ndindex(2, 3):
        single = CURVES[name](
            label[index], score[index], sample_weight=weight[index], threshold=0.0
        )
        for part, other, one in zip(batch, along, single, strict=True):
            np.testing.assert_array_equal(part[index], one)
            np.testing.assert_array_equal(other[index], one)
        np.testing.assert_array_equal(heights[index], lx.interpolate(single, [0.5, 1.0]))


def test_contributions_have_the_shape_of_the_input():
    rng = np.random.default_rng(4)
    score = rng.standard_normal((2, 5, 3))
    for metric, total in (("lxcim", lx.lxcim), ("audrc", lx.audrc)):
        shares = lx.contributions(1, score, axis=1, metric=metric)
        assert shares.shape == score.shape
        np.testing.assert_allclose(shares.sum(axis=1), total(1, score, axis=1))
    np.testing.assert_allclose(
        lx.contributions(1, np.arange(10.0, 0, -1)), (19 - 2 * np.arange(10)) / 100
    )
    tails = [np.sum(1 / np.arange(i, 11)) / 10 for i in range(1, 11)]
    np.testing.assert_allclose(lx.contributions(1, np.arange(10.0, 0, -1), metric="audrc"), tails)


@pytest.mark.parametrize("rates", [1.5, [0.2, -0.1], float("nan")])
def test_rates_outside_of_zero_to_one_are_refused(rates):
    curve = lx.cumulative_accuracy_curve(1, [2.0, -1.0])
    with pytest.raises(ValueError, match=r"rates must lie between 0 and 1; found (1.5|-0.1|nan)"):
        lx.interpolate(curve, rates)


def test_unusable_arguments_of_curves_are_refused():
    curve = lx.cumulative_accuracy_curve(1, [2.0, -1.0])
    with pytest.raises(
        ValueError, match=r"rates must be a number or have one axis; found shape \(1, 2"
    ):
        lx.interpolate(curve, [[0.2, 0.3]])
    with pytest.raises(TypeError, match="curve must be a curve of this package; found list"):
        lx.interpolate([1.0, 2.0], 0.5)
    with pytest.raises(TypeError, match="curve must be a curve of this package; found float"):
        lx.curve_area(0.5)
    with pytest.raises(ValueError, match="metric must be 'lxcim' or 'audrc'; found 'auroc'"):
        lx.contributions(1, [2.0, -1.0], metric="auroc")


def test_nothing_to_draw_is_nan():
    for function in CURVES.values():
        for curve in (function([], []), function([1, 0], [2.0, 1.0], where=[False, False])):
            assert all(np.all(np.isnan(part)) for part in curve)
            assert np.isnan(lx.curve_area(curve))
