"""Objectives for gradient boosting: derivatives as the libraries expect them."""

import numpy as np
import pytest
import soft_oracle as oracle

import lxcim_xp as lx
from lxcim_xp.losses import boosting_objective, combined

RNG = np.random.default_rng(0)
Y, S, W = RNG.integers(0, 2, 12), RNG.normal(size=12), RNG.random(12)


def differences(function, s, step):
    return np.stack(
        [(function(s + step * e) - function(s - step * e)) / (2 * step) for e in np.eye(s.size)]
    )


@pytest.mark.parametrize("kind", sorted(oracle.PHI))
@pytest.mark.parametrize("weight", [None, W], ids=["uniform", "weighted"])
def test_gradient_and_hessian_are_those_of_the_sum(kind, weight):
    total = S.size if weight is None else W.sum()
    objective = boosting_objective(kind=kind, temperature=0.7)
    gradient, curvature = objective(Y, S, weight)

    def loss(s):
        return total * lx.lxcim_surrogate(Y, s, sample_weight=weight, kind=kind, temperature=0.7)

    np.testing.assert_allclose(gradient, differences(loss, S, 1e-6), atol=1e-7)
    # The second derivative of a squared hinge jumps, and that of a kernel bends, at a sum of zero.
    slopes = differences(lambda s: objective(Y, s, weight)[0], S, 1e-7)
    np.testing.assert_allclose(curvature, np.diag(slopes), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loss", [lx.lxcim_loss, combined], ids=["lxcim_loss", "combined"])
def test_the_curvature_of_a_loss_that_is_not_convex_is_a_bound(loss):
    objective = boosting_objective(loss, scale=None)
    gradient, curvature = objective(Y, S, W)
    value = lx.value_and_grad(loss)(Y, S, sample_weight=W, scale=None)[1]
    np.testing.assert_allclose(gradient, W.sum() * value)
    true = np.diag(differences(lambda s: objective(Y, s, W)[0], S, 1e-6))
    assert (curvature > 0).all()
    assert (curvature >= np.abs(true) - 1e-6).all()


@pytest.mark.parametrize("loss", [lx.lxcim_surrogate, lx.lxcim_loss, combined])
def test_no_samples_have_no_gradient_and_no_hessian(loss):
    gradient, curvature = boosting_objective(loss)(np.zeros(0), np.zeros(0))
    assert gradient.shape == curvature.shape == (0,)
