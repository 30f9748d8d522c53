"""Derivatives: with respect to weights as finite differences say, with respect to scores zero."""

import numpy as np
import pytest
from backends import context, convert, to_numpy
from samples import METRICS

LABEL = np.asarray([1, 0, 1, 1, 0, 0, 1, 0, 1])
SCORE = np.asarray([2.0, 1.0, -1.0, 1.0, 0.0, -3.0, 0.5, 2.0, np.inf])
WEIGHT = np.asarray([1.0, 0.7, 2.1, 0.4, 1.3, 0.9, 0.25, 1.7, 0.6])


def gradient(backend, function, at):
    """Return the derivative of a function of one array, by the backend's own means."""
    if backend.library == "jax":
        import jax

        return to_numpy(jax.grad(function)(at))
    import torch

    return to_numpy(torch.func.grad(function)(at))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_the_gradient_of_the_weights_is_that_of_finite_differences(grad_backend, metric):
    step = 1e-6
    expected = [
        (
            metric(LABEL, SCORE, sample_weight=WEIGHT + step * direction)
            - metric(LABEL, SCORE, sample_weight=WEIGHT - step * direction)
        )
        / (2 * step)
        for direction in np.eye(WEIGHT.size)
    ]
    with context(grad_backend):
        y_true, y_score, weight = (
            convert(grad_backend, array.astype(grad_backend.dtype))
            for array in (LABEL, SCORE, WEIGHT)
        )
        found = gradient(grad_backend, lambda w: metric(y_true, y_score, sample_weight=w), weight)
    tolerance = 1e-8 if grad_backend.dtype == "float64" else 1e-5
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=0)


@pytest.mark.parametrize(
    "absent", [[2], [0, 3], [8], [8, 3], [4]], ids=["one", "two", "top", "apart", "undecided"]
)
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_the_gradient_at_weight_zero_is_that_of_an_arriving_sample(grad_backend, metric, absent):
    # Untied: to the discrete AUDRC, one more member of a block of ties is a jump.
    score = np.where(np.isinf(SCORE), 7.0, SCORE) + np.arange(SCORE.size) / 64 * (SCORE != 0)
    weight = np.where(np.isin(np.arange(WEIGHT.size), absent), 0, WEIGHT)
    before, step = metric(LABEL, score, sample_weight=weight), 1e-7
    expected = [
        (metric(LABEL, score, sample_weight=weight + step * direction) - before) / step
        for direction in np.eye(WEIGHT.size)
    ]
    with context(grad_backend):
        y_true, y_score, at = (
            convert(grad_backend, array.astype(grad_backend.dtype))
            for array in (LABEL, score, weight)
        )
        found = gradient(grad_backend, lambda w: metric(y_true, y_score, sample_weight=w), at)
    np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_the_gradient_of_the_scores_is_exactly_zero(grad_backend, metric):
    with context(grad_backend):
        y_true, y_score, weight = (
            convert(grad_backend, array.astype(grad_backend.dtype))
            for array in (LABEL, SCORE, WEIGHT)
        )

        def value(score):
            # A metric of ranks does not depend on scores smoothly, which torch reports as "no
            # gradient" unless something does.
            return metric(y_true, score, sample_weight=weight) + (0 * score[:-1]).sum()

        assert np.all(gradient(grad_backend, value, y_score) == 0)
