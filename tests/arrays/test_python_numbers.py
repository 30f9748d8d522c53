"""Python's numbers and lists have 64 bits: beside arrays they mean what arrays of them mean."""

import numpy as np
import pytest
from backends import context, convert, to_numpy

import lxcim_xp as lx

pytestmark = pytest.mark.runners("*-eager")

LABEL = np.asarray([1, 1, 1, 0, 1, 1, 1, 1, 1, 1])
SCORE = np.arange(10, 0, -1.0)
TENTHS = [k / 10 for k in range(11)]


def test_every_rate_that_samples_can_reach_is_met(runner):
    with context(runner.backend):
        label, score = (
            convert(runner.backend, x.astype(runner.backend.dtype)) for x in (LABEL, SCORE)
        )
        each = [to_numpy(lx.accuracy_at(label, score, rate).rate) for rate in TENTHS]
        together = to_numpy(lx.accuracy_at(label, score, TENTHS).rate)
    expected = np.asarray(TENTHS, dtype=runner.backend.dtype)
    np.testing.assert_array_equal(each, expected)
    np.testing.assert_array_equal(together, expected)


CALLS = {
    "threshold in a list": lambda array: lx.lxcim(array(LABEL), array(SCORE / 10), threshold=[0.3]),
    "threshold": lambda array: lx.lxcim(array(LABEL), array(SCORE / 10), threshold=0.3),
    "weights in a list": lambda array: lx.lxcim(
        array(LABEL), array(SCORE), sample_weight=[0.1 * k for k in range(10)]
    ),
    "weights in a tuple": lambda array: lx.auroc(
        array(LABEL), array(SCORE), sample_weight=tuple(0.1 * k for k in range(10))
    ),
    "one weight": lambda array: lx.contributions(array(LABEL), array(SCORE), sample_weight=0.1),
    "grid of a curve": lambda array: lx.interpolate(
        lx.cumulative_accuracy_curve(array(LABEL), array(SCORE)), [0.1, 0.3, 0.77]
    ),
    "deltas": lambda array: lx.exchange_confusion(array(LABEL[:4] + 1.0), 0.1, [0.2, 0.3]),
    "temperature": lambda array: lx.soft_lxcim(array(LABEL), array(SCORE), temperature=0.1),
    "scale": lambda array: lx.soft_lxcim(array(LABEL), array(SCORE), scale=0.3),
    "asymmetry": lambda array: lx.lxcim(
        array(LABEL), array(SCORE - 3), decision=lx.asymmetric(0.1, 0.3, 0.8)
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_number_loses_no_digit_beside_an_array(runner, call):
    with context(runner.backend):
        found = to_numpy(call(lambda x: convert(runner.backend, x.astype(runner.backend.dtype))))
    expected = np.asarray(call(lambda x: x.astype(runner.backend.dtype)), dtype=float)
    rounding = 4 * np.finfo(runner.backend.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding)


def test_a_score_that_is_the_threshold_is_undecided_however_it_is_written(runner):
    with context(runner.backend):
        score = convert(runner.backend, np.asarray([0.3, 0.1, 0.7], runner.backend.dtype))
        label = convert(runner.backend, np.asarray([1, 1, 1], runner.backend.dtype))
        for threshold in (0.3, np.float64(0.3), [0.3], (0.3, 0.3, 0.3)):
            found = to_numpy(lx.accuracy(label, score, threshold=threshold))
            np.testing.assert_allclose(found, 0.5, rtol=1e-6)


@pytest.mark.parametrize("weight", [[3, 1, 2, 1, 3], [3e12, 1e12, 2e12, 1e12, 3e12]])
def test_whole_weights_meet_their_targets_exactly(runner, weight):
    # Of weights 3, 1, 2, 1, 3 from the most confident down, the third is wrong: 8 of 10 are right.
    margins, weight = np.asarray([5.0, 4, -3, 2, 1]), np.asarray(weight, dtype=float)
    if runner.backend.dtype == "float32":
        weight = weight / weight[1] * 2.0**40  # which float32 has exactly
    with context(runner.backend):
        score, weights = (
            convert(runner.backend, x.astype(runner.backend.dtype)) for x in (margins, weight)
        )
        rate = to_numpy(lx.rate_at(1, score, 0.8, sample_weight=weights))
        point = lx.threshold_for(1, score, accuracy=0.8, delta=None, sample_weight=weights)
        at = lx.accuracy_at(1, score, [0.3, 0.4, 0.6, 0.7], sample_weight=weights, level=None)
        assert rate == 1.0
        assert to_numpy(point.confidence) == 1.0
        np.testing.assert_array_equal(to_numpy(at.confidence), [5.0, 4.0, 3.0, 2.0])
