import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

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
