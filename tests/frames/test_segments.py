"""The grouped kernel of eager frames: its order, and its metrics against those of arrays."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp.frames import segments

METRICS = ("lxcim", "accuracy", "audrc", "auroc")


def samples(rng, n, groups, decimals=None, *, weighted=True, threshold=0.0):
    score = rng.normal(0.3, 1, n)
    score = score if decimals is None else np.round(score, decimals)
    label = rng.random(n) < 1 / (1 + np.exp(-score))
    decision = lx.absolute(threshold)
    signed = decision.signed(namespaces.namespace(), score, threshold)
    margin = np.where(label, 1, -1) * signed
    return segments.Columns(
        rng.integers(0, groups, n),
        np.abs(margin),
        (margin > 0).astype(np.int8) + (margin >= 0),
        label,
        score,
        rng.random(n) + 0.01 if weighted else None,
        score if threshold == 0 else signed,
    )


@given(
    st.integers(1, 60),
    st.integers(1, 9),
    st.sampled_from([None, 1, 0]),
    st.booleans(),
    st.sampled_from([0.0, 0.3]),
    st.integers(0, 10**6),
)
def test_each_group_has_the_metrics_of_its_rows(n, groups, decimals, weighted, threshold, seed):
    rng = np.random.default_rng(seed)
    columns = samples(rng, n, groups, decimals, weighted=weighted, threshold=threshold)
    found = segments.evaluate_segments(columns, groups, METRICS)
    for group in range(groups):
        at = columns.code == group
        weight = columns.weight[at] if weighted else None
        for metric in METRICS:
            wanted = getattr(lx, metric)(
                columns.is_positive[at],
                columns.score[at],
                sample_weight=weight,
                threshold=threshold,
            )
            np.testing.assert_allclose(found[metric][group], wanted, rtol=1e-13, atol=1e-14)


@given(st.integers(1, 30), st.integers(1, 4), st.sampled_from([5, 20, 100, 300]), st.booleans())
def test_weights_of_many_sizes_against_exact_fractions(n, groups, orders, decided):
    rng = np.random.default_rng([n, groups, orders])
    columns = samples(rng, n, groups, 1, threshold=0.0)
    weight = 10.0 ** rng.uniform(-orders, orders, n)
    if decided:  # one class weighs next to nothing
        weight = np.where(columns.is_positive, 10.0**-orders, 10.0**orders)
    columns = columns._replace(weight=weight)
    found = segments.evaluate_segments(columns, groups, METRICS)
    alone = segments.evaluate_segments(columns, groups, ("auroc",))["auroc"]
    for group in range(groups):
        at = np.flatnonzero(columns.code == group)
        label, score = columns.is_positive[at].tolist(), columns.score[at].tolist()
        w, m = [Fraction(x) for x in weight[at]], oracle.margins(label, score)
        wanted = {name: getattr(oracle, name)(m, w) for name in METRICS[:3]}
        wanted["auroc"] = oracle.auroc(label, score, w)
        for name, value in wanted.items():
            value = np.nan if value is None else float(value)
            np.testing.assert_allclose(found[name][group], value, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(alone[group], found["auroc"][group], rtol=0, atol=1e-13)


KEYS = {
    "no ties": lambda rng, n: rng.normal(0, 1, n),
    "heavy ties": lambda rng, n: np.round(rng.normal(0, 1, n), 1),
    "both zeros": lambda rng, n: rng.choice([-0.0, 0.0, 1.0], n),
    "infinities": lambda rng, n: rng.choice([-np.inf, -1e300, 1e-300, np.inf], n),
    "float32": lambda rng, n: rng.normal(0, 1, n).astype(np.float32),
    # They differ in bits that have no room beside the code and the place.
    "last bits": lambda rng, n: 1 + rng.integers(0, 4, n) * 2.0**-52 - rng.integers(0, 2, n) * 3,
}


@pytest.mark.parametrize("dispensable", [segments._DISPENSABLE, -1], ids=["one sort", "two"])
@pytest.mark.parametrize("groups", [1, 3, 5000])
@pytest.mark.parametrize("kind", KEYS)
def test_samples_are_sorted_by_code_and_key(kind, groups, dispensable, monkeypatch):
    monkeypatch.setattr(segments, "_DISPENSABLE", dispensable)
    rng = np.random.default_rng(5)
    n = 20_000
    key, code = KEYS[kind](rng, n), rng.integers(0, groups, n)
    blocks = segments.sort_into_segments(code, groups, key)
    assert sorted(blocks.order) == list(range(n))
    code, key = code[blocks.order], key[blocks.order]
    assert (np.diff(code) >= 0).all()
    same_code = code[1:] == code[:-1]
    assert (key[1:] >= key[:-1])[same_code].all()
    starts = np.flatnonzero(np.append(True, ~(same_code & (key[1:] == key[:-1]))))
    np.testing.assert_array_equal(starts, np.arange(n) if blocks.starts is None else blocks.starts)
    np.testing.assert_array_equal(code[starts[blocks.first]], blocks.segments)
    np.testing.assert_array_equal(blocks.segments, np.unique(code))
    assert blocks.length.sum() == starts.size


def test_a_small_group_keeps_its_digits_beside_a_large_one():
    rng = np.random.default_rng(6)
    columns = samples(rng, 200_000, 1)
    code = np.arange(200_000) // 199_990 * (1 + np.arange(200_000) % 2)
    columns = columns._replace(code=code, weight=columns.weight * 0.1)
    found = segments.evaluate_segments(columns, 3, METRICS)
    for group in (1, 2):
        at = code == group
        for metric in METRICS:
            wanted = getattr(lx, metric)(
                columns.is_positive[at], columns.score[at], sample_weight=columns.weight[at]
            )
            np.testing.assert_allclose(found[metric][group], wanted, rtol=1e-14)
