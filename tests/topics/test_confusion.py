import numpy as np
import pytest

from lxcim_xp import confusion

METRICS = [
    confusion.accuracy,
    confusion.balanced_accuracy,
    confusion.f1,
    confusion.fdr,
    confusion.mcc,
    confusion.precision,
    confusion.sensitivity,
    confusion.specificity,
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_a_batch_of_vectors_is_its_entries(metric):
    counts = np.random.default_rng(0).integers(1, 9, (2, 3, 4))
    batch = metric(counts)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert batch[index] == metric(counts[index])


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_what_has_no_value_is_nan(metric):
    assert np.isnan(metric([0, 0, 0, 0]))


def test_undefined_parts_do_not_spoil_defined_ones():
    nothing_called_positive = [0, 0, 3, 5]
    assert np.isnan(confusion.precision(nothing_called_positive))
    assert confusion.sensitivity(nothing_called_positive) == 0
    assert confusion.f1(nothing_called_positive) == 0
    assert np.isnan(confusion.mcc(nothing_called_positive))
    assert confusion.accuracy(nothing_called_positive) == 5 / 8


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e-30, 1e30, 1e160, 1e307])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_no_scale_of_the_cells_overflows_or_vanishes(metric, scale):
    if scale == 5e-324:
        np.testing.assert_allclose(metric([4 * scale] * 4), metric([4] * 4))
        return
    np.testing.assert_allclose(
        metric(np.asarray([3, 1, 2, 5]) * scale), metric([3, 1, 2, 5]), rtol=1e-14
    )


@pytest.mark.parametrize("tiny", [1e-300, 1e-200, 1e-20])
def test_classes_of_very_different_weight_have_their_metrics(tiny):
    perfect = [tiny, 0, 0, 1 / tiny]
    assert [metric(perfect) for metric in METRICS] == [metric([1, 0, 0, 1]) for metric in METRICS]
    assert confusion.f1([tiny, tiny, tiny, 1 / tiny]) == 0.5
    assert confusion.mcc([1 / tiny, tiny, 0, tiny]) == pytest.approx(0.5**0.5, rel=1e-14)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_narrow_floats_are_computed_in_wide_ones(metric):
    counts = np.asarray([60_000, 10_000, 20_000, 50_000], dtype="float16")
    expected = metric(counts.astype("float64"))
    assert metric(counts).dtype == np.float16
    assert metric(counts) == np.float16(expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_counts_do_not_depend_on_the_dtype_of_the_scores(dtype):
    score = np.ones(200_001, dtype=dtype)
    score[1:] = -1
    counts = confusion.confusion(np.arange(score.size) == 0, score)
    assert counts.tolist() == [1, 0, 0, 200_000]
    assert confusion.accuracy(counts) == 1


def test_weights_keep_their_scale():
    counts = confusion.confusion([1, 1, 0], [1.0, -1.0, 2.0], sample_weight=[1e3, 2e3, 4e3])
    np.testing.assert_allclose(counts, [1e3, 4e3, 2e3, 0])
