"""The normal distribution and Student's against SciPy, and at their ends."""

import array_api_compat.numpy as XP
import numpy as np
import pytest

from lxcim_xp._numerics import distributions

stats = pytest.importorskip("scipy.stats")


def test_normal_tails_and_quantiles_are_scipys():
    z = np.concatenate([np.linspace(-38, 37, 3001), np.linspace(-1, 1, 301)])
    np.testing.assert_allclose(distributions.upper_tail(XP, z), stats.norm.sf(z), rtol=1e-12)
    np.testing.assert_array_equal(
        distributions.upper_tail(XP, np.asarray([-np.inf, 0, np.inf, np.nan])), [1, 0.5, 0, np.nan]
    )
    p = np.concatenate([10.0 ** -np.linspace(0.31, 300, 999), 1 - 10.0 ** -np.linspace(0.31, 12)])
    np.testing.assert_allclose(distributions.quantile(XP, p), stats.norm.ppf(p), rtol=1e-13)
    np.testing.assert_array_equal(
        distributions.quantile(XP, np.asarray([0, 0.5, 1, -1, 2, np.nan])),
        [-np.inf, 0, np.inf, np.nan, np.nan, np.nan],
    )


@pytest.mark.parametrize("df", [0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 39.5, 1e3, 1e4, 1e6])
def test_t_tails_and_quantiles_are_scipys(df):
    tail = 10.0 ** -np.linspace(0.302, 12, 100)
    p = np.concatenate([tail, 1 - tail])
    t = distributions.t_quantile(XP, p, df)
    np.testing.assert_allclose(t, stats.t.ppf(p, df), rtol=1e-12)
    np.testing.assert_allclose(distributions.t_upper_tail(XP, -t, df), p, rtol=1e-12)
    np.testing.assert_allclose(
        distributions.t_upper_tail(XP, -t, df), stats.t.sf(-t, df), rtol=1e-12
    )
    np.testing.assert_allclose(distributions.t_two_sided(XP, t[:100], df), 2 * tail, rtol=1e-12)


def test_t_is_defined_at_its_ends_and_nan_beyond_them():
    t = np.asarray([-np.inf, 0, np.inf, np.nan, 1e300, 1])
    df = np.asarray([3, 3, 3, 3, 1, -1.0])
    np.testing.assert_allclose(
        distributions.t_upper_tail(XP, t, df), [1, 0.5, 0, np.nan, 1e-300 / np.pi, np.nan]
    )
    p = np.asarray([0, 0.5, 1, np.nan, 1e-300, 0.3])
    np.testing.assert_allclose(
        distributions.t_quantile(XP, p, df), [-np.inf, 0, np.inf, np.nan, -1e300 / np.pi, np.nan]
    )
