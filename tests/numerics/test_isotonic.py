import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import lxcim_xp as lx
from lxcim_xp import _array
from lxcim_xp._isotonic import antitonic

XP = _array.namespace()


@given(
    st.lists(
        st.tuples(st.integers(-8, 8).map(lambda k: k / 4), st.integers(0, 3).map(float)),
        min_size=1,
        max_size=70,
    ).filter(lambda pairs: any(weight for _, weight in pairs))
)
def test_the_fit_is_sklearns(pairs):
    value, weight = np.asarray(pairs).T
    present = weight > 0
    position = np.arange(value.size)[present]
    model = IsotonicRegression(increasing=False)
    expected = model.fit_transform(position, value[present], sample_weight=weight[present])
    found = antitonic(XP, value, weight)
    np.testing.assert_allclose(found[present], expected, atol=1e-12)


def test_a_batch_is_its_rows():
    rng = np.random.default_rng(0)
    value, weight = rng.random((2, 3, 5, 33))
    rows = [
        [antitonic(XP, v, w) for v, w in zip(*block, strict=True)]
        for block in zip(value, weight, strict=True)
    ]
    np.testing.assert_array_equal(antitonic(XP, value, weight), rows)


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
