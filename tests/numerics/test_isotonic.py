"""The isotonic fit in both its forms: pools of NumPy, and merged halves of fixed shape."""

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("array_api_strict")
pytest.importorskip("sklearn")

import array_api_strict
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces, primitives
from lxcim_xp._numerics import isotonic, ordering

NUMPY = namespaces.namespace()
PORTABLE = namespaces.namespace(x=array_api_strict.asarray([0.0]))
FORMS = pytest.mark.parametrize("xp", [NUMPY, PORTABLE], ids=["pooled", "merged"])


def antitonic(xp, part, whole, key=None):
    """Fit the shares of entries in the order given; those of equal key are one entry."""
    key = (
        np.broadcast_to(np.arange(part.shape[-1], dtype=float), part.shape) if key is None else key
    )
    columns = [xp.asarray(column) for column in (key, part, whole)]
    places = ordering.ordering(xp, columns[0])
    part, whole = (primitives.take(xp, column, places.order) for column in columns[1:])
    return np.asarray(isotonic.antitonic_share(xp, places, part, whole, 0 * whole))


def exact_fit(part, whole):
    """Pool adjacent violators in exact fractions; None for what has no weight."""
    stack = []
    for place, (k, t) in enumerate(zip(part.tolist(), whole.tolist(), strict=True)):
        if t == 0:
            continue
        k, t, places = Fraction(k), Fraction(t), [place]
        while stack and k / t > stack[-1][0] / stack[-1][1]:
            more, weight, before = stack.pop()
            k, t, places = k + more, t + weight, before + places
        stack.append((k, t, places))
    fitted = [None] * part.size
    for k, t, places in stack:
        for place in places:
            fitted[place] = float(k / t)
    return fitted


ENTRIES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3)), min_size=1, max_size=70
).filter(lambda pairs: any(weight for _, weight in pairs))


@FORMS
@given(ENTRIES)
def test_the_fit_is_sklearns(xp, pairs):
    share, weight = np.asarray(pairs).T
    present = weight > 0
    position = np.arange(share.size)[present]
    model = IsotonicRegression(increasing=False)
    expected = model.fit_transform(position, share[present], sample_weight=weight[present])
    found = antitonic(xp, share * weight, weight)
    np.testing.assert_allclose(found[present], expected, rtol=0, atol=1e-14)


# The merged form has running sums in twice the digits of a float, and so a limit.
@pytest.mark.parametrize(
    ("xp", "decades"), [(NUMPY, 120), (PORTABLE, 18)], ids=["pooled", "merged"]
)
@given(st.data())
def test_weights_of_many_magnitudes_leave_every_entry_its_digits(xp, decades, data):
    magnitude = st.floats(-decades / 2, decades / 2).map(lambda exponent: 10.0**exponent)
    entry = st.tuples(st.sampled_from([0.0, 0.25, 1.0]), magnitude)
    share, weight = np.asarray(data.draw(st.lists(entry, min_size=1, max_size=40))).T
    expected = exact_fit(share * weight, weight)
    np.testing.assert_allclose(antitonic(xp, share * weight, weight), expected, rtol=1e-12, atol=0)


@FORMS
def test_small_entries_after_large_ones_stay_what_they_are(xp):
    whole = np.asarray([1e-18, 1e-18, 1.0, 1e-18, 0.0, 0.0, 0.0])
    share = np.asarray([1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(antitonic(xp, share * whole, whole)[:4], share[:4])


@FORMS
def test_a_batch_is_its_rows_and_a_block_of_ties_is_one_entry(xp):
    rng = np.random.default_rng(0)
    whole = rng.random((3, 5, 33))
    part = whole * rng.integers(0, 3, whole.shape) / 2
    key = np.sort(rng.integers(0, 12, whole.shape).astype(float))
    found = antitonic(xp, part, whole, key)
    for index in np.ndindex(3, 5):
        np.testing.assert_array_equal(
            found[index], antitonic(xp, part[index], whole[index], key[index])
        )
        _, first = np.unique(key[index], return_index=True)
        sums = [np.add.reduceat(column[index], first) for column in (part, whole)]
        np.testing.assert_allclose(found[index][first], exact_fit(*sums), rtol=1e-13)
        np.testing.assert_array_equal(
            found[index], found[index][first].repeat(np.diff(first, append=33))
        )


def test_pools_that_grow_by_one_entry_in_each_pass_are_found():
    share = np.r_[np.linspace(0.9, 0.1, 200), 1.0]
    weight = np.r_[np.ones(200), 1e4]
    expected = exact_fit(share * weight, weight)
    assert len(set(expected)) == 1
    np.testing.assert_allclose(antitonic(NUMPY, share * weight, weight), expected, rtol=1e-14)


@pytest.mark.parametrize("n", [10, 1000, 20_000])
@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
@pytest.mark.parametrize("decimals", [1, 9], ids=["ties", "continuous"])
def test_local_accuracy_is_sklearns_isotonic_regression_to_12_digits(n, weighted, decimals):
    rng = np.random.default_rng(n)
    margins = (rng.standard_normal(n) + 0.5).round(decimals)
    weight = rng.random(n) if weighted else None
    found = lx.local_accuracy(1, margins, sample_weight=weight)
    correctness = np.heaviside(margins, 0.5)
    model = IsotonicRegression().fit(np.abs(margins), correctness, sample_weight=weight)
    expected = model.predict(found.confidence[1:])
    np.testing.assert_allclose(found.accuracy[1:], expected, rtol=0, atol=1e-12)
