"""Differences of decimals, against the decimals themselves, on every backend."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lxcim_xp.choices import difference

DECIMALS = st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(-exponent),
    st.integers(-9999, 9999),
    st.integers(0, 4),
)
PAIRS = st.lists(st.tuples(DECIMALS, DECIMALS), min_size=1, max_size=12)


def subtracted(y_true, y_score, where=None):
    return difference(y_true, y_score)


def of(runner, pairs):
    """Return the differences of pairs of decimals, in the floats of the backend."""
    kept = [(a, b) for a, b in pairs if _digits(a, b) <= 6]
    first, second = (np.asarray([float(pair[i]) for pair in kept]) for i in (0, 1))
    found = runner(subtracted, first.astype(runner.backend.dtype), second)
    return kept, found[: len(kept)]


def _digits(a, b):
    """Return the digits of two decimals from the first of the larger to the last of either."""
    places = [-x.normalize().as_tuple().exponent for x in (a, b) if x]
    return max(a.copy_abs(), b.copy_abs()).adjusted() + 1 + max(0, *places, 0)


@given(PAIRS)
def test_the_difference_is_that_of_the_decimals_rounded_once(runner, pairs):
    kept, found = of(runner, pairs)
    wanted = np.asarray([float(a - b) for a, b in kept], runner.backend.dtype)
    assert found.tolist() == wanted.tolist()


@given(DECIMALS, DECIMALS, DECIMALS)
def test_equal_differences_tie_wherever_they_lie(runner, a, b, shift):
    kept, found = of(runner, [(a, b), (a + shift, b + shift), (b, a)])
    if len(kept) == 3:
        assert found[0] == found[1] == -found[2]


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ([0.3, 0.4], [0.2, 0.3], [0.1, 0.1]),
        ([3, 1], [1, 3], [2.0, -2.0]),
        (0.9, [0.8, 1.0], [0.1, -0.1]),
        ([np.inf, 1.0, np.nan], [1.0, np.inf, 1.0], [np.inf, -np.inf, np.nan]),
        ([np.inf], [np.inf], [np.nan]),
        ([1e300, 5e-324, 1e17], [-1e300, 0.0, 1.0], [2e300, 5e-324, 1e17]),
        ([[0.3], [0.4]], [0.2, 0.3], [[0.1, 0.0], [0.2, 0.1]]),
    ],
)
def test_values_at_the_edges(first, second, wanted):
    np.testing.assert_array_equal(difference(first, second), wanted)


def test_numbers_that_are_none_are_refused():
    with pytest.raises(TypeError, match="second must hold real numbers"):
        difference([1.0], [1j])
