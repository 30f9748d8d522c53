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


def test_huge_counts_do_not_overflow():
    assert confusion.mcc(np.asarray([3e30, 1e30, 1e30, 3e30], dtype="float32")) == 0.5


def test_weights_keep_their_scale():
    counts = confusion.confusion([1, 1, 0], [1.0, -1.0, 2.0], sample_weight=[1e3, 2e3, 4e3])
    np.testing.assert_allclose(counts, [1e3, 4e3, 2e3, 0])
