"""Shapes, dtypes, devices and large inputs."""

import numpy as np
import pytest
import samples
from backends import context, convert, to_numpy

import lxcim_xp as lx

METRICS = [*samples.METRICS, lx.bi_auroc, lx.decomposition, lx.confusion.confusion]
RNG = np.random.default_rng(20240)
LABEL = 2 * RNG.integers(0, 2, (3, 4, 9)) - 1
SCORE = RNG.integers(-4, 5, (3, 4, 9)) / 2
WEIGHT = RNG.integers(1, 5, (3, 4, 9)) / 2


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_a_batch_is_its_entries_one_by_one(metric):
    batch = metric(LABEL, SCORE, sample_weight=WEIGHT)
    for index in np.ndindex(3, 4):
        single = metric(LABEL[index], SCORE[index], sample_weight=WEIGHT[index])
        entry = [part[index] for part in batch] if metric is lx.decomposition else batch[index]
        np.testing.assert_allclose(entry, single, rtol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, -2, 2])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_axis_says_where_the_samples_are(metric, axis):
    moved = [np.moveaxis(array, -1, axis) for array in (LABEL, SCORE, WEIGHT)]
    found = metric(moved[0], moved[1], sample_weight=moved[2], axis=axis)
    np.testing.assert_array_equal(found, metric(LABEL, SCORE, sample_weight=WEIGHT))


def test_thresholds_broadcast_like_everything_else():
    thresholds = np.asarray([-0.5, 0.0, 1.0])
    many = lx.lxcim(LABEL[0, 0], SCORE[0, 0], threshold=thresholds[:, None])
    singles = [lx.lxcim(LABEL[0, 0], SCORE[0, 0], threshold=float(t)) for t in thresholds]
    np.testing.assert_array_equal(many, singles)
    by_column = lx.lxcim(
        LABEL[0].T, SCORE[0].T, threshold=np.asarray([-0.5, 0.0, 1.0, 2.0]), axis=0
    )
    by_row = lx.lxcim(LABEL[0], SCORE[0], threshold=np.asarray([[-0.5], [0.0], [1.0], [2.0]]))
    np.testing.assert_array_equal(by_column, by_row)


def test_a_single_label_reads_scores_as_margins():
    margins = np.where(LABEL > 0, SCORE, -SCORE)
    np.testing.assert_array_equal(lx.lxcim(1, margins), lx.lxcim(LABEL, SCORE))
    np.testing.assert_array_equal(lx.lxcim(True, margins), lx.lxcim(LABEL, SCORE))
    np.testing.assert_array_equal(lx.lxcim(-1, -margins), lx.lxcim(LABEL, SCORE))
    np.testing.assert_array_equal(lx.lxcim(np.int64(0), -margins), lx.lxcim(LABEL, SCORE))


def test_weights_and_masks_are_shared_across_a_batch():
    weight, where = WEIGHT[0, 0], WEIGHT[0, 0] > 1
    found = lx.lxcim(LABEL, SCORE, sample_weight=weight, where=where)
    full = np.broadcast_to(weight, SCORE.shape), np.broadcast_to(where, SCORE.shape)
    np.testing.assert_array_equal(
        found, lx.lxcim(LABEL, SCORE, sample_weight=full[0], where=full[1])
    )


@pytest.mark.runners("*-eager")
def test_lists_are_numpy_and_follow_other_arrays(runner):
    assert isinstance(lx.lxcim([1, 0], [0.5, 2.0]), np.float64)
    with context(runner.backend):
        score = convert(runner.backend, np.asarray([0.5, 1.0], dtype=runner.backend.dtype))
        found = lx.lxcim([1, 0], score, sample_weight=[1.0, 3.0], where=[True, True], threshold=0.0)
        assert type(found) is type(score[0]) or type(found) is type(score)
    np.testing.assert_allclose(to_numpy(found), 1 / 16, rtol=runner.tolerance)


def test_anything_that_becomes_a_numpy_array_is_one():
    class Series:
        def __array__(self, dtype=None, copy=None):
            return np.asarray([2.0, -1.0])

    assert lx.lxcim(1, Series()) == lx.lxcim(1, [2.0, -1.0])


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_have_the_dtype_and_device_of_the_scores(runner, metric, dtype):
    dtype = min(dtype, runner.backend.dtype)  # by name: float32 where there is no float64
    with context(runner.backend):
        score = convert(runner.backend, SCORE.astype(dtype))
        found = metric(convert(runner.backend, LABEL), score)
        for part in found if metric is lx.decomposition else [found]:
            assert part.dtype == score.dtype
            assert part.device == score.device
            assert part.shape[:2] == (3, 4)


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_integer_scores_are_promoted_to_the_default_float(runner, dtype):
    score = np.asarray([1, 0, 1, 3]).astype(dtype)
    label = np.asarray([1, 1, 0, 1], dtype="uint8")
    expected = lx.lxcim(label, score.astype(float), threshold=0.0)
    with context(runner.backend):
        arrays = (convert(runner.backend, array) for array in (label, score))
        found = lx.lxcim(*arrays, threshold=0.0)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-6)
    assert str(found.dtype).rpartition(".")[2] in ("float32", "float64")


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_broadcast_unsigned_labels_of_every_width_are_read(runner, dtype):
    if dtype != "uint8" and runner.backend.library == "torch":
        pytest.skip("torch compares no other unsigned integers on the CPU")
    score = np.asarray([[3, -2, 1], [1, 2, -3]], dtype=runner.backend.dtype)
    label = np.asarray([1, 0, 0])
    expected = lx.bi_auroc(label, score)
    with context(runner.backend):
        arrays = (convert(runner.backend, array) for array in (label.astype(dtype), score))
        found = lx.bi_auroc(*arrays)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-6)


@pytest.mark.library("torch")
def test_large_integer_scores_are_not_merged_by_a_narrow_default_float():
    import torch

    margins = torch.asarray([2**24 + 1, -(2**24)])
    assert lx.lxcim(1, margins) == 0.75
    assert lx.lxcim(1, margins).dtype == torch.float32


@pytest.mark.runners("numpy-eager", "jax-jit", "torch-eager", "strict-no-float64-eager")
@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
def test_ten_million_float32_scores_are_right_to_a_millionth(runner, weighted):
    n = 10_000_000
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n, dtype=np.int8)
    # About 4000 levels: heavy ties, and margins that favour the right side.
    score = np.round(rng.standard_normal(n, dtype=np.float32) + label - 0.5, 3)
    weight = rng.random(n, dtype=np.float32) if weighted else None
    expected = lx.lxcim(
        label, score.astype(float), sample_weight=None if weight is None else weight.astype(float)
    )
    assert 0.6 < expected < 0.9
    with context(runner.backend):
        arrays = [convert(runner.backend, array) for array in (label, score)]
        if weighted:
            arrays.append(convert(runner.backend, weight))
        function = lambda y, s, w=None: lx.lxcim(y, s, sample_weight=w)  # noqa: E731
        if runner.transform == "jit":
            import jax

            function = jax.jit(function)
        found = function(*arrays)
    assert abs(float(to_numpy(found)) - expected) < 1e-6


@pytest.mark.runners("jax-vmap", "torch-vmap")
def test_vmap_over_one_argument_shares_the_others(runner):
    label, score, weight = LABEL[0, 0], SCORE[0], WEIGHT[0]
    with context(runner.backend):
        if runner.backend.library == "jax":
            from jax import vmap
        else:
            from torch.func import vmap
        y, y_rows, s, s_rows, w_rows = (
            convert(runner.backend, array.astype(runner.backend.dtype))
            for array in (label, LABEL[0], score[0], score, weight)
        )
        seeds = vmap(lx.lxcim, (None, 0))(y, s_rows)
        labels = vmap(lx.lxcim, (0, None))(y_rows, s)
        resamples = vmap(lambda w: lx.audrc(y, s, sample_weight=w))(w_rows)
    for found, expected in (
        (seeds, lx.lxcim(label, score)),
        (labels, lx.lxcim(LABEL[0], score[0])),
        (resamples, lx.audrc(label, score[0], sample_weight=weight)),
    ):
        np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-6)


@pytest.mark.runners("jax-eager", "jax-x64-eager")
@pytest.mark.parametrize("metric", samples.METRICS, ids=lambda metric: metric.__name__)
def test_subnormal_scores_are_zeros_on_jax_eager_or_compiled(runner, metric):
    import jax

    tiny = np.finfo(runner.backend.dtype).tiny
    score = np.asarray([0.25, -0.5, 0.75, 4, -0.125, 0, -2, 1e-3]) * tiny
    label = np.asarray([1, 1, 0, 1, 0, 1, 0, 0])
    score = score.astype(runner.backend.dtype)
    expected = metric(label, np.where(np.abs(score) < tiny, 0, score))
    with context(runner.backend):
        arrays = [convert(runner.backend, array) for array in (label, score)]
        for run in (metric, jax.jit(metric)):
            np.testing.assert_allclose(to_numpy(run(*arrays)), expected, rtol=2e-6)
