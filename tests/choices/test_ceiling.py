"""The ceiling: reached by the votes themselves, and by no score exceeded."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SHARES

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.choices import ceiling

WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0])


def both(y_true, y_score, **options):
    """Return the ceiling as a function of samples, for the runner; it looks at no score."""
    del y_score
    xp = namespaces.namespace(y_true=y_true)
    return xp.stack(ceiling(y_true, **options))


def votes(max_size):
    rows = st.lists(st.tuples(SHARES, WEIGHTS), min_size=1, max_size=max_size)
    return rows.filter(lambda rows: any(w for _, w in rows)).map(
        lambda rows: [np.asarray(column) for column in zip(*rows, strict=True)]
    )


@given(votes(max_size=4))
def test_no_order_and_no_sides_do_better_and_some_do_as_well(drawn):
    share, weight = drawn
    n = share.size
    levels = itertools.product(range(1, n + 1), repeat=n)  # orders of the confidences, with ties
    sides = list(itertools.product([-1.0, 1.0], repeat=n))
    scores = np.asarray([[a * b for a, b in zip(g, s, strict=True)] for g in levels for s in sides])
    scores = 2 * scores  # of which none looks like a label
    scores = np.concatenate([scores, np.where(np.abs(scores) > 2, scores, 0.0)])
    best = ceiling(share, sample_weight=weight)
    for name, limit in best._asdict().items():
        values = getattr(lx, name)(
            share, scores, sample_weight=np.broadcast_to(weight, scores.shape)
        )
        assert values.max() <= limit + 1e-15, name
        np.testing.assert_allclose(values.max(), limit, rtol=1e-15, err_msg=name)


@given(votes(max_size=8))
def test_the_ceiling_is_what_the_votes_themselves_reach(runner, drawn):
    share, weight = drawn
    score = share - 0.5
    wanted = [metric(share, score, sample_weight=weight) for metric in (lx.accuracy, lx.lxcim)]
    found = runner(both, share.astype(np.float32), score, weight)
    np.testing.assert_allclose(found, wanted, atol=runner.tolerance)


@pytest.mark.parametrize("label", [[1, 0, 1], [1, -1, -1], [True, False, True], [1.0, 0.0, 0.0]])
def test_where_nobody_disagrees_all_can_be_right(label):
    assert ceiling(label) == (1.0, 1.0)
    assert ceiling(np.asarray(label, dtype=np.float32)).lxcim.dtype == np.float32


def test_batches_axes_and_masks():
    share = np.random.default_rng(0).integers(0, 4, (2, 5)) / 3
    kept = np.asarray([True, True, False, True, True])
    found = ceiling(share.T, where=kept[:, None], axis=0)
    assert found.lxcim.shape == (2,)
    for k in range(2):
        np.testing.assert_allclose([part[k] for part in found], ceiling(share[k][kept]), rtol=1e-15)
    assert np.isnan(ceiling([0.5], where=[False])).all()
    assert np.isnan(ceiling(np.zeros((2, 0)))).all()


def test_what_are_no_votes_are_refused():
    with pytest.raises(ValueError, match="y_true must have at least one axis"):
        ceiling(0.5)
    with pytest.raises(
        ValueError, match=r"y_true must lie between 0 and 1 .*found 2 at position 1"
    ):
        ceiling([0.5, 2.0])
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        ceiling([0.5, 1.0], sample_weight=[1.0, -1.0])
