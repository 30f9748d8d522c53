"""Items to pairs: each pair there is, what it weighs, and samples of pairs."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from backends import context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp.choices import pairs, pairs_of_items

INF = np.inf
# NumPy cannot read arrays on the device of strict-no-float64.
AT_HAND = pytest.mark.runners("numpy-*", "strict-eager", "jax*-eager", "torch-eager", "cupy-*")
GRADES = st.integers(0, 3)
SCORES = st.sampled_from([-INF, -1.5, 0.0, 0.5, 0.75, 2.0, INF])
WEIGHTS = st.sampled_from([0, 1, 2, 3])
WILD = st.sampled_from([0.0, 1e-200, 1e-30, 0.3, 1.0, 1e30, 1e200])
WEIGHTINGS = st.sampled_from(["query", "pair"])


@st.composite
def items(draw, weights=WEIGHTS, least=0, most=9):
    """Draw the relevance, score, group and weight of some items."""
    n = draw(st.integers(least, most))
    columns = [GRADES, SCORES, st.sampled_from("abc"), weights]
    return [np.asarray(draw(st.lists(x, min_size=n, max_size=n))) for x in columns]


def by_enumeration(relevance, score, group, weight, weighting):
    """Return (label, margin, weight, cluster) of each pair in fractions, by looking at all."""
    found = []
    for i, j in combinations(range(len(score)), 2):
        worth = Fraction(float(weight[i])) * Fraction(float(weight[j]))
        if group[i] == group[j] and relevance[i] != relevance[j] and worth:
            margin = 0.0 if score[i] == score[j] else score[i] - score[j]
            found.append([int(relevance[i] > relevance[j]), margin, worth, group[i]])
    if weighting == "query":
        whole = {name: sum(pair[2] for pair in found if pair[3] == name) for name in set(group)}
        found = [[label, margin, w / whole[name], name] for label, margin, w, name in found]
    return sorted(found)


def rows(found):
    return sorted([x.item() for x in row] for row in zip(*found, strict=True))


def assert_same_pairs(found, expected, scale=1):
    found = rows(found)
    assert len(found) == len(expected)
    for pair, like in zip(found, expected, strict=True):
        assert [pair[0], pair[1], pair[3]] == [like[0], like[1], like[3]]
        np.testing.assert_allclose(pair[2], float(like[2] * scale), rtol=1e-14)


@given(items(), WEIGHTINGS)
def test_all_pairs_are_those_of_an_enumeration(drawn, weighting):
    relevance, score, group, weight = drawn
    found = pairs_of_items(relevance, score, group, sample_weight=weight, weighting=weighting)
    expected = by_enumeration(relevance, score, group, weight, weighting)
    # Sorted rows of equal pairs differ in their weights only, which are sorted too.
    assert_same_pairs(found, expected)


@given(items(), WEIGHTINGS)
def test_without_weights_every_item_counts_once(drawn, weighting):
    relevance, score, group, _ = drawn
    found = pairs_of_items(relevance, score, group, weighting=weighting)
    ones = np.ones(len(score), dtype=int)
    assert_same_pairs(found, by_enumeration(relevance, score, group, ones, weighting))


@given(items(weights=WILD))
def test_in_a_query_only_the_proportions_of_weights_count(drawn):
    relevance, score, group, weight = drawn
    found = pairs_of_items(relevance, score, group, sample_weight=weight)
    expected = by_enumeration(relevance, score, group, weight, "query")
    assert len(found.weight) == len(expected)
    np.testing.assert_allclose(
        np.sort(found.weight), sorted(float(pair[2]) for pair in expected), rtol=1e-12, atol=1e-300
    )
    for name in set(found.cluster.tolist()):
        np.testing.assert_allclose(found.weight[found.cluster == name].sum(), 1, rtol=1e-12)


@given(items(weights=WILD))
def test_weights_of_any_size_have_products(drawn):
    relevance, score, group, weight = drawn
    found = pairs_of_items(relevance, score, group, sample_weight=weight, weighting="pair")
    expected = by_enumeration(relevance, score, group, weight, "pair")
    assert np.isfinite(found.weight).all()
    heaviest = max((pair[2] for pair in expected), default=1)
    largest = max(found.weight, default=1.0)
    np.testing.assert_allclose(
        np.sort(found.weight / largest),
        [float(w / heaviest) for w in sorted(pair[2] for pair in expected)],
        rtol=1e-12,
        atol=1e-300,
    )


@given(items(), WEIGHTINGS)
def test_a_whole_weight_repeats_the_item(drawn, weighting):
    relevance, score, group, weight = drawn
    weighted = pairs_of_items(relevance, score, group, sample_weight=weight, weighting=weighting)
    repeated = (np.repeat(x, weight.astype(int)) for x in (relevance, score, group))
    again = pairs_of_items(*repeated, weighting=weighting)
    for metric in (lx.lxcim, lx.accuracy):
        np.testing.assert_allclose(
            metric(weighted.label, weighted.margin, sample_weight=weighted.weight),
            metric(again.label, again.margin, sample_weight=again.weight),
            rtol=1e-12,
        )


@given(items(), st.randoms(use_true_random=False), WEIGHTINGS)
def test_the_order_of_the_items_does_not_matter(drawn, random, weighting):
    order = list(range(len(drawn[0])))
    random.shuffle(order)
    values = []
    for relevance, score, group, weight in (drawn, [x[order] for x in drawn]):
        found = pairs_of_items(relevance, score, group, sample_weight=weight, weighting=weighting)
        values.append(lx.lxcim(found.label, found.margin, sample_weight=found.weight))
    np.testing.assert_allclose(*values, rtol=1e-12)


class _Middles:
    """A generator that is always in the middle."""

    def random(self, size):
        return np.full(size, 0.5)


@given(items(least=2, weights=st.sampled_from([1, 2, 3])), st.booleans())
def test_one_draw_for_each_pair_draws_each_pair_once(drawn, is_weighted):
    relevance, _, group, weight = drawn
    ladder = pairs._ladder(
        relevance, group, weight.astype(float) if is_weighted else None, weight > 0
    )
    everything = pairs._all_pairs(ladder, "pair")
    if not everything.upper.size:
        return
    found = pairs._drawn_pairs(ladder, everything.upper.size, _Middles(), "pair")
    for a, b in zip(found, everything, strict=True):
        np.testing.assert_array_equal(a, b)


@given(items(least=2), st.integers(1, 6), st.integers(0, 9), WEIGHTINGS)
def test_what_is_drawn_are_pairs(drawn, most, seed, weighting):
    relevance, score, group, weight = drawn
    options = {"sample_weight": weight, "weighting": weighting}
    everything = pairs_of_items(relevance, score, group, **options)
    found = pairs_of_items(relevance, score, group, max_pairs=most, seed=seed, **options)
    assert len(found.label) == min(most, len(everything.label))
    there = {(x[0], x[1], x[3]) for x in rows(everything)}
    assert {(x[0], x[1], x[3]) for x in rows(found)} <= there
    if len(everything.label) <= most:
        assert rows(found) == rows(everything)
    again = pairs_of_items(relevance, score, group, max_pairs=most, seed=seed, **options)
    assert rows(found) == rows(again)


def ranking(n, queries, seed=0):
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, queries, n) ** 2 % queries)  # of very different sizes
    relevance = rng.integers(0, 4, n)
    score = relevance + rng.normal(0, 2, n)
    return relevance, score, group, rng.integers(1, 4, n)


@pytest.mark.parametrize("weighting", ["query", "pair"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_drawn_pairs_give_in_expectation_what_all_do(weighting, is_weighted):
    relevance, score, group, weight = ranking(200, 17)
    options = {"weighting": weighting, "sample_weight": weight if is_weighted else None}
    everything = pairs_of_items(relevance, score, group, **options)
    right = (2 * everything.label - 1) * everything.margin > 0
    sums, lxcims, most = [], [], 100
    for seed in range(400):
        found = pairs_of_items(relevance, score, group, max_pairs=most, seed=seed, **options)
        hit = (2 * found.label - 1) * found.margin > 0
        sums.append([found.weight.sum(), found.weight @ hit])
        lxcims.append(lx.lxcim(found.label, found.margin, sample_weight=found.weight))
    expected = [everything.weight.sum(), everything.weight @ right]
    error = np.std(sums, axis=0) / np.sqrt(len(sums))
    assert (np.abs(np.mean(sums, axis=0) - expected) <= 4 * error + 1e-9).all()
    whole = lx.lxcim(everything.label, everything.margin, sample_weight=everything.weight)
    slack = 1 / (4 * most) if not is_weighted else 1 / most
    error = np.std(lxcims) / np.sqrt(len(lxcims))
    assert abs(np.mean(lxcims) - whole) <= 4 * error + slack


def test_pairs_that_would_not_fit_into_memory_are_drawn():
    relevance, score, group, _ = ranking(200_000, 1)
    found = pairs_of_items(relevance, score, group, max_pairs=2_000)  # of 1.5e10
    assert len(found.label) == 2_000
    value = lx.lxcim(found.label, found.margin, sample_weight=found.weight)
    fewer = pairs_of_items(*(x[::100] for x in (relevance, score, group)))
    np.testing.assert_allclose(value, lx.lxcim(fewer.label, fewer.margin), atol=0.05)


@AT_HAND
def test_margins_come_in_the_library_of_the_scores(runner):
    relevance, score, group, weight = ranking(30, 5)
    score = score.astype(runner.backend.dtype)
    expected = pairs_of_items(relevance, score, group, sample_weight=weight)
    with context(runner.backend):
        arrays = [convert(runner.backend, x) for x in (relevance, score, group)]
        found = pairs_of_items(*arrays, sample_weight=convert(runner.backend, weight))
        assert all(type(part) is type(arrays[1]) for part in found)
        assert found.margin.dtype == arrays[1].dtype
        for part, like in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(part), like, rtol=1e-6)
        value = lx.lxcim(found.label, found.margin, sample_weight=found.weight)
    same = lx.lxcim(expected.label, expected.margin, sample_weight=expected.weight)
    np.testing.assert_allclose(to_numpy(value), same, rtol=1e-6)


@pytest.mark.library("jax")
def test_traced_relevance_is_an_error_and_traced_scores_are_not():
    import jax
    import jax.numpy as jnp

    score = jnp.asarray([0.5, 0.25, 1.0])
    margins = jax.jit(lambda score: pairs_of_items([2, 0, 1], score, [0, 0, 0]).margin)(score)
    np.testing.assert_array_equal(
        np.sort(margins), np.sort(pairs_of_items([2, 0, 1], np.asarray(score), [0, 0, 0]).margin)
    )
    for transform in (jax.jit, lambda f: jax.vmap(f, in_axes=(0, 0, 0))):
        rows = (jnp.asarray([[2, 0, 1]]), score[None], jnp.asarray([[0, 0, 0]]))
        with pytest.raises(TypeError, match=r"the values of relevance.*outside of jit"):
            transform(lambda r, s, g: pairs_of_items(r[..., :3].reshape(3), s.reshape(3), g))(*rows)


@pytest.mark.library("torch")
def test_margins_of_tensors_have_gradients():
    import torch

    score = torch.tensor([0.5, 0.25, 1.0], requires_grad=True)
    pairs_of_items([2, 0, 0], score, [0, 0, 0]).margin.sum().backward()
    np.testing.assert_array_equal(score.grad, [2.0, -1.0, -1.0])


@AT_HAND
def test_equal_differences_of_decimals_tie(runner):
    score = np.asarray([0.3, 0.2, 0.4, 0.3, 100.1, 100.0, 7.0, 6.9]).astype(runner.backend.dtype)
    with context(runner.backend):
        found = pairs_of_items([1, 0] * 4, convert(runner.backend, score), [0, 0, 1, 1, 2, 2, 3, 3])
        np.testing.assert_array_equal(
            to_numpy(found.margin), np.asarray(0.1, dtype=runner.backend.dtype)
        )


def test_equal_scores_have_margin_zero():
    score = np.asarray([0.1 + 0.2, 0.1 + 0.2, INF, INF, 1e308, -1e308])
    found = pairs_of_items([0, 1, 0, 1, 1, 0], score, [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(found.margin, [0, 0, INF])


def test_an_item_of_weight_zero_may_hold_anything():
    found = pairs_of_items(
        [1.0, np.nan, 0.0], [0.5, np.nan, 0.0], ["a"] * 3, sample_weight=[2, 0, 1]
    )
    assert rows(found) == [[1, 0.5, 1.0, "a"]]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_difference_is_no_pair(n):
    found = pairs_of_items(np.ones(n), np.arange(float(n)), np.zeros(n, int), max_pairs=2)
    assert [part.shape for part in found] == [(0,)] * 4
    assert np.isnan(lx.lxcim(found.label, found.margin, sample_weight=found.weight))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"score": [[1.0, 2.0]]}, r"score must have one axis.*\(1, 2\)"),
        ({"score": ["x", "y"]}, "score must hold real numbers"),
        ({"score": [1.0, np.nan]}, "score must not hold NaN; found nan at position 1"),
        ({"relevance": [1.0, np.nan]}, "relevance must not hold NaN.*position 1"),
        ({"relevance": ["high", "low"]}, "relevance must hold real numbers"),
        ({"relevance": [1, 2, 3]}, r"relevance has shape \(3,\)"),
        ({"groups": [1]}, r"groups has shape \(1,\)"),
        ({"groups": [1, np.nan]}, "groups must not hold NaN; found nan at position 1"),
        ({"groups": np.asarray(["a", None])}, "groups must hold labels of one kind"),
        ({"sample_weight": [1.0, -1.0]}, "sample_weight must be finite and not negative.*1"),
        ({"sample_weight": [np.inf, 1.0]}, "sample_weight must be finite"),
        ({"max_pairs": 0}, "max_pairs must be a whole number of at least 1; found 0"),
        ({"max_pairs": 1.5}, "max_pairs must be a whole number"),
        ({"weighting": "items"}, "weighting must be one of"),
    ],
)
def test_errors_say_what_to_do(changed, message):
    arguments = {"relevance": [1, 0], "score": [0.5, 0.25], "groups": [0, 0], **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        pairs_of_items(**arguments)
