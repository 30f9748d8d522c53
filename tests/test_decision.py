import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp import _array


def ties(p, q):
    """Say whether a right decision at p and a wrong one at q are equally confident."""
    dtype = np.result_type(p, q)
    margins = np.stack(np.broadcast_arrays(p, q), axis=-1).astype(dtype)
    return lx.lxcim([1, 1], margins, decision=lx.probability()) == 0.5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("denominator", [10, 100, 1000])
def test_decimal_probabilities_tie_with_their_complements(dtype, denominator):
    k = np.arange(denominator + 1)
    p = (k / denominator).astype(dtype)
    assert np.all(ties(p, 1 - p))


@given(st.floats(0, 1) | st.floats(0, 1, width=32).map(np.float32))
def test_a_probability_ties_with_its_computed_complement(p):
    p = np.asarray(p)
    assert ties(p, 1 - p)
    assert ties(1 - p, 1 - (1 - p))


@given(st.floats(0, 1), st.floats(0, 1))
def test_confidence_in_a_probability_grows_away_from_a_half(p, q):
    decision = lx.probability()
    xp = _array.namespace(p=np.asarray(p))
    g_p, g_q = (abs(decision.signed(xp, np.asarray(x), 0.5)) for x in (p, q))
    if abs(p - 0.5) > abs(q - 0.5) + 1e-15:
        assert g_p > g_q
    assert 0 <= g_p <= 0.5
    assert (g_p == 0) == (abs(p - 0.5) < 1e-16)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_score_written_like_the_threshold_meets_it(dtype):
    score = np.asarray([0.3, 0.4], dtype=dtype)
    assert lx.accuracy(1, score, threshold=0.3) == 0.75
    assert lx.accuracy(1, score, threshold=np.float32(0.3)) == (0.75 if dtype == "float32" else 0.5)


def test_the_mirror_has_the_other_decision_and_the_same_confidence():
    for decision, score in (
        (lx.absolute(0.25), np.asarray([0.5, -2.0, 0.25])),
        (lx.probability(), np.asarray([0.75, 0.125, 0.5])),
    ):
        xp = _array.namespace(score=score)
        mirrored = decision.mirror(xp, score, decision.threshold)
        before, after = (decision.signed(xp, s, decision.threshold) for s in (score, mirrored))
        np.testing.assert_array_equal(after, -before)


def test_a_decision_is_a_value():
    assert lx.absolute(0.5) == lx.absolute(0.5) != lx.absolute(0.25)
    assert hash(lx.probability()) == hash(lx.probability())
    label, score = [1, 0, 1], np.asarray([0.5, 0.7, 0.9])
    assert lx.lxcim(label, score, decision=lx.absolute(0.6)) == lx.lxcim(
        label, score, threshold=0.6
    )
