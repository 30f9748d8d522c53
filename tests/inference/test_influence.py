"""Influence and what is made of it, on every backend."""

import numpy as np
import pytest
from backends import context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp.testing import samples

SIX = samples(min_size=6, max_size=6, weights=st.integers(1, 12).map(lambda k: k / 4))


def kernel_influence(y_true, y_score, weight):
    """Return the influence on LxCIM from the whole matrix of pairs."""
    m, total = (2 * y_true - 1) * np.clip(y_score, -1e6, 1e6), weight.sum()
    won = ((np.sign(np.add.outer(m, m)) + 1) / 2) @ weight / total
    return 2 * weight / total * (won - won @ weight / total)


@given(SIX)
def test_influence_is_that_of_the_matrix_of_pairs(runner, sample):
    found = runner(lx.influence, *sample)[: sample[0].size]
    np.testing.assert_allclose(found, kernel_influence(*sample), atol=runner.tolerance)


@pytest.mark.runners("*-eager")
def test_errors_and_intervals_agree_with_numpy(runner):
    rng = np.random.default_rng(4)
    dtype = runner.backend.dtype
    margins = rng.normal(1, 1, (2, 40)).round(1).astype(dtype)
    weight = rng.integers(0, 5, 40).astype(dtype)
    groups, strata = rng.integers(0, 12, 40), np.arange(40) % 2
    groups = groups * 2 + strata
    for options in (
        {},
        {"groups": groups},
        {"strata": strata},
        {"groups": groups, "strata": strata},
    ):
        expected = lx.interval(1, margins, sample_weight=weight, **options)
        with context(runner.backend):
            arrays = [convert(runner.backend, array) for array in (margins, weight)]
            options = {name: convert(runner.backend, code) for name, code in options.items()}
            found = lx.interval(1, arrays[0], sample_weight=arrays[1], **options)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(to_numpy(a), b, rtol=10 * runner.tolerance)


@pytest.mark.runners("jax-x64-eager")
def test_inference_runs_under_jit_and_vmap(runner):
    import jax

    rng = np.random.default_rng(5)
    margins, groups = rng.normal(1, 1, (3, 30)), rng.integers(0, 8, 30)
    expected = lx.interval(1, margins, groups=groups)
    with context(runner.backend):
        arrays = [convert(runner.backend, a) for a in (margins, groups)]

        def run(margins, groups, key):
            found = lx.interval(1, margins, groups=groups)
            draws = lx.bootstrap(1, margins, groups=groups, n_resamples=300, seed=key)
            compared = lx.compare(1, margins, margins[::-1], groups=groups)
            return found, draws, compared.p_value

        keys = jax.random.split(jax.random.key(0), 3)
        found, draws, p_value = jax.jit(jax.vmap(run, (0, None, 0)))(*arrays, keys)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(a), b, rtol=1e-10)
        np.testing.assert_allclose(to_numpy(draws).std(axis=-1), expected.standard_error, rtol=0.25)
        assert np.isfinite(to_numpy(p_value)).all()
