"""Half differences and sums of decimals, against exact decimals."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lxcim_xp._numerics.decimals import halves

RNG = np.random.default_rng(0)


def exact(a, b, sign):
    read = [[Decimal(repr(float(x))) for x in numbers] for numbers in (a, b)]
    return [float((x + sign * y) / 2) for x, y in zip(*read, strict=True)]


@given(st.integers(0, 9), st.integers(0, 4), st.integers(0, 2**32))
def test_decimals_of_any_size_are_rounded_once(places, size, seed):
    rng = np.random.default_rng(seed)
    a, b = (np.round(rng.normal(0, 10.0**size, 50), places) for _ in range(2))
    if places + size > 11:  # floats have no more digits to spare
        return
    difference, total = halves(np, a, b, np.float64)
    np.testing.assert_array_equal(difference, exact(a, b, -1))
    np.testing.assert_array_equal(total, exact(a, b, 1))


def test_what_has_many_digits_is_as_floats_have_it():
    a, b = RNG.normal(size=(2, 5000))
    difference, total = halves(np, a, b, np.float64)
    np.testing.assert_array_equal(difference, (a - b) / 2)
    np.testing.assert_array_equal(total, (a + b) / 2)


def test_narrow_floats_are_read_as_the_decimals_they_stand_for():
    a, b = (np.round(RNG.normal(size=300), 2).astype(np.float32) for _ in range(2))
    found = halves(np, a.astype(float), b.astype(float), np.float32)[0]
    wanted = exact([round(float(x), 2) for x in a], [round(float(x), 2) for x in b], -1)
    np.testing.assert_array_equal(found, wanted)


def test_each_entry_of_a_batch_is_by_itself():
    a, b = np.asarray([[0.3, 0.5], [0.3, np.pi]]), np.asarray([[0.1, 0.3], [0.1, 0.3]])
    found = halves(np, a, b, np.float64)[0]
    assert found[0, 0] == found[0, 1] == 0.1
    np.testing.assert_array_equal(found[1], (a[1] - b[1]) / 2)


@pytest.mark.parametrize("place", [3, 2000])
def test_one_number_of_many_digits_is_found_wherever_it_is(place):
    a, b = np.full(3000, 0.3), np.full(3000, 0.1)
    a[place] = np.sqrt(2)
    np.testing.assert_array_equal(halves(np, a, b, np.float64)[0], (a - b) / 2)


def test_infinities():
    a = np.asarray([np.inf, np.inf, -np.inf, np.inf, 0.3])
    b = np.asarray([np.inf, -np.inf, np.inf, 1.0, 0.1])
    difference, total = halves(np, a, b, np.float64)
    np.testing.assert_array_equal(difference, [0, np.inf, -np.inf, np.inf, 0.1])
    np.testing.assert_array_equal(total, [np.inf, 0, 0, np.inf, 0.2])


def test_the_largest_floats_do_not_overflow():
    most = np.finfo(float).max
    difference, total = halves(np, np.asarray([most, 1.0]), np.asarray([-most, 0.5]), np.float64)
    assert difference[0] == most
    assert total[0] == 0
