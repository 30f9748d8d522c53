"""Both orders of a judge: exact against every order of every pair, on every backend."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import backends
import numpy as np
import oracle
import pytest
from backends import context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from samples import look_swapped

import lxcim_xp as lx
from lxcim_xp.choices import both_orders, order_curve, order_decomposition, order_effect

# Intervals are not for torch.compile, see docs/backends.md, and the rest compiles for minutes.
pytestmark = pytest.mark.runners("numpy-*", "strict*", "jax*", "torch-eager", "torch-vmap")

RNG = np.random.default_rng(19)
SCORES = st.integers(-3, 3)
GARBAGE = {"first": np.nan, "swapped": np.inf, "y_true": 7.0, "sample_weight": -1.0}


def flat(result):
    """Return the arrays of a result, of which tuples hold several."""
    if isinstance(result, tuple):
        return [array for part in result for array in flat(part)]
    return [result]


def run(runner, function, options=(), **arrays):
    """Return the parts of a result of one list of pairs, run as ``Runner`` runs a metric."""
    n = len(arrays["first"])
    arrays = {
        name: np.asarray(x, bool if name == "where" else "int32" if name == "groups" else None)
        for name, x in arrays.items()
    }
    arrays = {
        name: x.astype(runner.backend.dtype) if x.dtype.kind == "f" else x
        for name, x in arrays.items()
    }
    length = runner.length(n)
    if runner.transform != "eager" or length > n:
        arrays.setdefault("where", np.ones(n, dtype=bool))
        arrays = {
            name: np.concatenate([x, np.full(length - n, GARBAGE.get(name, 0), x.dtype)])
            for name, x in arrays.items()
        }
    if "vmap" in runner.transform:
        arrays = {name: np.stack([x, x[::-1]]) for name, x in arrays.items()}
    called = backends._transformed(runner, function, tuple(arrays), tuple(options))
    with context(runner.backend):
        found = flat(called(*(convert(runner.backend, x) for x in arrays.values())))
    found = [to_numpy(part) for part in found]
    found = [part[0] for part in found] if "vmap" in runner.transform else found
    return [part[:n] if part.shape == (length,) else part for part in found]


def judged(scores=SCORES, most=5):
    """Draw pairs: label, both scores, and a weight that is not zero for all of them."""
    pair = st.tuples(st.integers(0, 1), scores, scores, st.integers(0, 3))
    pairs = st.lists(pair, min_size=1, max_size=most).filter(lambda ps: any(p[3] for p in ps))
    return pairs.map(lambda ps: [np.asarray(column, float) for column in zip(*ps, strict=True)])


def agree(runner, found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=runner.tolerance, atol=runner.tolerance)


def of_votes(metric, margins, weights, shares):
    """Return a metric of the data in which each sample stands once for each side, in fractions."""
    doubled = [
        (sign * m, w * part)
        for m, w, q in zip(margins, weights, shares, strict=True)
        for sign, part in ((1, q), (-1, 1 - q))
    ]
    return metric([m for m, _ in doubled], [w for _, w in doubled])


def mean_over_orders(metric, first, swapped, weights, shares):
    """Return the mean of a metric over all 2^N orders in which each pair is asked once."""
    calls = [(Fraction(f), -Fraction(g)) for f, g in zip(first, swapped, strict=True)]
    values = [of_votes(metric, asked, weights, shares) for asked in itertools.product(*calls)]
    return sum(values) / len(values)


def exactly(numbers):
    return [Fraction(x) for x in numbers]


METRICS = {"lxcim": oracle.lxcim, "accuracy": oracle.accuracy}


@given(judged(), st.sampled_from(list(METRICS)))
def test_once_is_the_mean_over_all_orders(runner, pairs, metric):
    label, first, swapped, weight = pairs
    found = run(
        runner,
        order_decomposition,
        {"metric": metric}.items(),
        y_true=label,
        first=first,
        swapped=swapped,
        sample_weight=weight,
    )
    exact = [exactly(x) for x in (first, swapped, weight, label)]
    agree(runner, found[0], float(mean_over_orders(METRICS[metric], *exact)))


@given(judged(), st.lists(st.integers(0, 8), min_size=5, max_size=5))
def test_once_is_that_mean_for_shares_of_votes(runner, pairs, votes):
    label, first, swapped, weight = pairs
    share = np.asarray(votes[: label.size]) / 8
    if any(look_swapped(share, call, weight) for call in (first, swapped)):
        first, swapped = first + 4, swapped + 4
    found = run(
        runner,
        order_decomposition,
        y_true=share,
        first=first,
        swapped=swapped,
        sample_weight=weight,
    )
    exact = [exactly(x) for x in (first, swapped, weight, share)]
    agree(runner, found[0], float(mean_over_orders(oracle.lxcim, *exact)))
    opinion = [(f - g) / 2 for f, g in zip(*exact[:2], strict=True)]
    agree(runner, found[2], float(of_votes(oracle.lxcim, opinion, *exact[2:])))


@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=4, max_size=4), st.booleans())
def test_centred_is_that_mean_without_the_mean_effect(runner, scores, weighted):
    first, swapped = (np.asarray(column, float) for column in zip(*scores, strict=True))
    # With weights that sum to a power of two, the mean effect is exact in floats.
    label, weight = (
        np.asarray([1.0, 0, 1, 1]),
        np.asarray([1.0, 2, 1, 4] if weighted else [1.0] * 4),
    )
    data = {"y_true": label, "first": first, "swapped": swapped, "sample_weight": weight}
    found = run(runner, order_decomposition, **data)
    f, g, w, y = (exactly(x) for x in (first, swapped, weight, label))
    mean = sum(u * (a + b) / 2 for u, a, b in zip(w, f, g, strict=True)) / sum(w)
    f, g = ([x - mean for x in scores] for scores in (f, g))
    agree(runner, found[1], float(mean_over_orders(oracle.lxcim, f, g, w, y)))


@given(judged(), st.integers(-3, 3))
def test_a_constant_preference_for_a_place_is_taken_off(runner, pairs, preference):
    label, margin, _, weight = pairs
    first, swapped = margin + preference, -margin + preference
    data = {"first": first, "swapped": swapped, "sample_weight": weight}
    once, centred, both, *gains = run(runner, order_decomposition, y_true=label, **data)
    agree(runner, centred, both)
    agree(runner, both, lx.lxcim(label, margin, sample_weight=weight, threshold=0.0))
    agree(runner, gains[0], both - once)
    effect = run(runner, order_effect, **data)
    agree(runner, effect[0], preference)
    agree(runner, effect[3], np.heaviside(preference, 0.5))


@given(judged())
def test_the_names_of_the_answers_do_not_matter(runner, pairs):
    label, first, swapped, weight = pairs
    one = run(
        runner,
        order_decomposition,
        y_true=label,
        first=first,
        swapped=swapped,
        sample_weight=weight,
    )
    other = run(
        runner,
        order_decomposition,
        y_true=1 - label,
        first=swapped,
        swapped=first,
        sample_weight=weight,
    )
    for a, b in zip(one, other, strict=True):
        agree(runner, a, b)


@given(judged(st.integers(-40, 40).map(lambda k: k / 10)))
def test_opinion_and_effect_are_the_halves_of_decimals(runner, pairs):
    _, first, swapped, _ = pairs
    opinion, effect, consistent = run(runner, both_orders, first=first, swapped=swapped)
    read = [[Decimal(repr(float(x))) for x in scores] for scores in (first, swapped)]
    dtype = runner.backend.dtype
    wanted = [float((f - g) / 2) for f, g in zip(*read, strict=True)]
    np.testing.assert_array_equal(opinion, np.asarray(wanted, dtype))
    wanted = [float((f + g) / 2) for f, g in zip(*read, strict=True)]
    np.testing.assert_array_equal(effect, np.asarray(wanted, dtype))
    np.testing.assert_array_equal(consistent, np.sign(first) == -np.sign(swapped))


@given(judged(st.integers(-4, 4)))
def test_the_effect_is_what_other_functions_say_about_it(runner, pairs):
    _, first, swapped, weight = pairs
    found = run(runner, order_effect, first=first, swapped=swapped, sample_weight=weight)
    effect, flips = (first + swapped) / 2, np.sign(first) * np.sign(swapped) > 0
    agree(runner, found[0], np.average(effect, weights=weight))
    wanted = lx.interval(1, effect, sample_weight=weight)
    for part, expected in zip(found[3:6], wanted[:3], strict=True):
        np.testing.assert_allclose(part, expected, rtol=3e-4 if runner.tolerance > 1e-9 else 1e-9)
    agree(runner, found[6], np.average(flips, weights=weight))
    counted = flips & (weight > 0)
    to_first = counted & (first > 0)
    assert (found[9], found[10]) == (counted.sum(), to_first.sum())
    fewer, coins = min(to_first.sum(), (counted & ~to_first).sum()), int(counted.sum())
    p_value = min(1.0, 2 * sum(math.comb(coins, k) for k in range(fewer + 1)) / 2**coins)
    np.testing.assert_allclose(found[11], p_value, rtol=10 * runner.tolerance)


@given(judged(), st.sampled_from(["opinion", "call"]))
def test_the_curve_counts_flips_from_the_most_confident_down(runner, pairs, sure_of):
    _, first, swapped, weight = pairs
    rate, flips, flip_rate, least = run(
        runner,
        order_curve,
        {"sure_of": sure_of}.items(),
        first=first,
        swapped=swapped,
        sample_weight=weight,
    )
    sure, flipped = np.abs(first - swapped) / 2, np.sign(first) * np.sign(swapped) > 0
    if sure_of == "call":
        sure, flipped = np.abs(np.r_[first, swapped]), np.r_[flipped, flipped]
        weight = np.r_[weight, weight]
    assert np.all(np.diff(rate) >= 0)
    for at, share, among, confidence in zip(rate, flips, flip_rate, least, strict=True):
        decided = sure >= confidence
        agree(runner, at, np.sum(weight * decided) / weight.sum())
        agree(runner, share, np.sum(weight * decided * flipped) / weight.sum())
        if at > 0:
            agree(runner, among, share / at)
    top = (sure == sure[weight > 0].max()) & (weight > 0)
    agree(runner, flip_rate[0], np.average(flipped[top], weights=weight[top]))
    agree(runner, flip_rate[-1], np.average(flipped, weights=weight))


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    margin = rng.normal(0.4, 1, n)
    label = rng.integers(0, 2, n)
    score = np.where(label > 0, margin, -margin)
    first = score + 0.5 + rng.normal(0, 0.5, n)
    swapped = -score + 0.5 + rng.normal(0, 0.5, n)
    return label, first, swapped, rng.exponential(1, n)


@pytest.mark.parametrize("metric", METRICS)
def test_the_influence_of_once_and_both_is_the_derivative_by_the_weight(metric):
    label, first, swapped, weight = sample(12)

    def steps(weight):
        found = order_decomposition(label, first, swapped, metric=metric, sample_weight=weight)
        return np.asarray([found.once, found.both])

    size, moves = 1e-5, []
    for k in range(label.size):
        change = np.zeros_like(weight)
        change[k] = size * weight[k]
        moves.append((steps(weight + change) - steps(weight - change)) / (2 * size))
    apart = np.asarray(moves)[:, 1] - np.asarray(moves)[:, 0]
    found = order_decomposition(label, first, swapped, metric=metric, sample_weight=weight)
    error = np.sqrt(np.sum(apart**2) * 12 / 11)
    np.testing.assert_allclose(found.total.standard_error, error, rtol=1e-6)


def test_standard_errors_are_those_of_a_jackknife():
    label, first, swapped, _ = sample(400)

    def gains(keep):
        found = order_decomposition(label[keep], first[keep], swapped[keep])
        return [gain.difference for gain in found[3:]]

    n = label.size
    left_out = np.asarray([gains(np.arange(n) != k) for k in range(n)])
    jackknife = np.sqrt((n - 1) * np.var(left_out, axis=0))
    found = order_decomposition(label, first, swapped)
    errors = [gain.standard_error for gain in found[3:]]
    np.testing.assert_allclose(errors[2], jackknife[2], rtol=0.02)
    # The mean effect moves the second step by jumps, which a jackknife sees one by one.
    np.testing.assert_allclose(errors, jackknife, rtol=0.15)


def test_the_mean_has_students_interval():
    stats = pytest.importorskip("scipy.stats")
    _, first, swapped, _ = sample()
    found = order_effect(first, swapped, level=0.9)
    effect = (first + swapped) / 2
    wanted = stats.ttest_1samp(effect, 0).confidence_interval(0.9)
    np.testing.assert_allclose([found.mean_low, found.mean_high], wanted)


def test_clusters_give_one_sign_each():
    stats = pytest.importorskip("scipy.stats")
    _, first, swapped, _ = sample(60)
    groups = np.arange(60) // 3
    found = order_effect(first, swapped, groups=groups)
    lead = np.where((first > 0) & (swapped > 0), 1, 0) - np.where((first < 0) & (swapped < 0), 1, 0)
    totals = np.bincount(groups, lead)
    test = stats.binomtest(int((totals > 0).sum()), int((totals != 0).sum()))
    np.testing.assert_allclose(found.p_value, test.pvalue)
    shuffled = RNG.permutation(60)
    again = order_effect(first[shuffled], swapped[shuffled], groups=groups[shuffled])
    np.testing.assert_allclose(flat(again), flat(found), rtol=1e-12)


@given(judged(most=4))
def test_copies_in_clusters_change_no_p_value(runner, pairs):
    _, first, swapped, weight = pairs
    weight = weight + 1
    if first.size < 2:
        return
    data = {"first": first, "swapped": swapped, "sample_weight": weight}
    copied = {name: np.repeat(x, 3) for name, x in data.items()}
    groups = np.repeat(np.arange(first.size), 3)
    alone, together = (
        run(runner, order_effect, **data),
        run(runner, order_effect, groups=groups, **copied),
    )
    np.testing.assert_allclose(together[11], alone[11], rtol=10 * runner.tolerance)
    agree(runner, together[9], 3 * alone[9])


def test_a_hundred_pairs_of_which_twelve_flip():
    first = np.r_[np.tile([1, -1], 44), np.ones(11), -1]
    swapped = np.r_[np.tile([-1, 1], 44), np.ones(11), -1]
    found = order_effect(first, swapped)
    assert found.flip_rate == 0.12
    assert (found.flips, found.flips_to_first) == (12, 11)
    assert round(float(found.p_value), 3) == 0.006


def test_verdicts_rank_two_wins_above_a_win_and_a_tie():
    opinion = both_orders([1, 0, 1, 0, 1], [-1, -1, 0, 0, 1]).opinion
    assert list(opinion) == [1, 0.5, 0.5, 0, 0]
    steps = order_decomposition(1, [1, 1], [-1, 1])  # right twice; once for each place
    assert steps.both == 3 / 4 * 1 + 1 / 4 * 0.5
    assert steps.once == (1 + 0.5) / 2  # A, or B with as much confidence


def test_mirrored_probabilities_have_no_order_effect(runner):
    p = np.asarray([k / 100 for k in range(5, 5 + 10)], runner.backend.dtype)
    q = np.asarray(1, p.dtype) - p
    opinion, effect, _ = run(
        runner, both_orders, {"decision": lx.probability()}.items(), first=p, swapped=q
    )
    np.testing.assert_array_equal(effect, 0)
    np.testing.assert_allclose(opinion, p - 0.5, rtol=2 * runner.tolerance)


def test_written_hundredths_that_sum_to_one_have_no_order_effect():
    p, q = [k / 100 for k in range(101)], [(100 - k) / 100 for k in range(101)]
    found = both_orders(p, q, decision=lx.probability())
    assert not found.order_effect.any()
    assert list(found.opinion) == [k / 100 for k in range(-50, 51)]


def test_arbitrary_mirrored_probabilities_have_no_order_effect():
    p = RNG.random(1000)
    assert not both_orders(p, 1 - p, decision=lx.probability()).order_effect.any()


def test_a_threshold_is_the_middle():
    found = both_orders([7.0, 5.0], [3.0, 6.0], threshold=5.0)
    assert list(found.opinion) == [2, -0.5]
    assert list(found.order_effect) == [0, 0.5]


@pytest.mark.parametrize("name", ["strict", "torch"])
def test_batches_along_any_axis(name):
    backend = next(b for b in backends.BACKENDS if b.name == name)
    shape = (2, 3, 4)
    # No ties: where one breaks, the mean order effect and its error differ by a rounding.
    data = [RNG.normal(0.5, 1, shape) for _ in range(2)]
    label, weight = RNG.integers(0, 2, shape), RNG.integers(1, 4, shape).astype(float)
    if backends.missing(backend):
        pytest.skip(backends.missing(backend))
    for axis in (0, 1, -1):
        with context(backend):
            y, a, b, w = (convert(backend, x) for x in (label, *data, weight))
            together = flat(order_decomposition(y, a, b, sample_weight=w, axis=axis))
            together += flat(order_effect(a, b, sample_weight=w, axis=axis))
            halves = flat(both_orders(a, b, axis=axis))
            curve = flat(order_curve(a, b, sample_weight=w, axis=axis))
        moved = [np.moveaxis(x, axis, -1) for x in (label, *data, weight)]
        for at in np.ndindex(*moved[0].shape[:-1]):
            y, a, b, w = (x[at] for x in moved)
            alone = flat(order_decomposition(y, a, b, sample_weight=w))
            alone += flat(order_effect(a, b, sample_weight=w))
            for found, wanted in zip(together, alone, strict=True):
                np.testing.assert_allclose(to_numpy(found)[at], wanted, rtol=1e-9, atol=1e-12)
            for found, wanted in zip(halves, both_orders(a, b), strict=True):
                found = np.moveaxis(to_numpy(found), axis, -1)
                np.testing.assert_array_equal(found[at], wanted)
            for found, wanted in zip(curve, order_curve(a, b, sample_weight=w), strict=True):
                np.testing.assert_allclose(to_numpy(found)[at], wanted, rtol=1e-12)


def test_nan_policies():
    first, swapped = [2.0, np.nan, 1.0, -1.0], [-1.0, 1.0, np.nan, 3.0]
    with pytest.raises(ValueError, match=r"first must not hold NaN; found nan at position 1"):
        both_orders(first, swapped)
    with pytest.raises(ValueError, match=r"swapped must not hold NaN; found nan at position 2"):
        both_orders([2.0, 1.0, 1.0, -1.0], swapped)
    opinion = both_orders(first, swapped, nan_policy="omit").opinion
    np.testing.assert_array_equal(opinion, [1.5, np.nan, np.nan, -2])
    opinion = both_orders(first, swapped, nan_policy="abstain").opinion
    np.testing.assert_array_equal(opinion, [1.5, -0.5, 0.5, -2])
    kept = order_decomposition([1, 0], [2.0, -1.0], [-1.0, 3.0])
    omitted = order_decomposition([1, 1, np.nan, 0], first, swapped, nan_policy="omit")
    np.testing.assert_array_equal(flat(kept), flat(omitted))
    omitted = order_effect(first, swapped, nan_policy="omit")
    np.testing.assert_array_equal(flat(omitted), flat(order_effect([2.0, -1.0], [-1.0, 3.0])))


@pytest.mark.parametrize("function", [both_orders, order_effect, order_curve])
def test_bad_scores_are_named(function):
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(2,\)"):
        function([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="at least one axis"):
        function(1.0, -1.0)
    with pytest.raises(TypeError, match="swapped must be an array or a list; found None"):
        function([1.0], None)
    with pytest.raises(TypeError, match="first must hold real numbers"):
        function(["A"], ["B"])
    with pytest.raises(ValueError, match="confidence"):
        function([1.0], [2.0], decision=lx.confidence())
    with pytest.raises(ValueError, match="swapped must lie between 0 and 1"):
        function([0.5, 0.25], [2.0, 0.5], decision=lx.probability())


def test_bad_labels_weights_and_options_are_named():
    with pytest.raises(ValueError, match="y_true must hold 0/1"):
        order_decomposition([2, 1], [1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        order_effect([1.0, 2.0], [1.0, 2.0], sample_weight=[1, -1])
    with pytest.raises(
        ValueError, match=r"do not broadcast: first \(2,\), y_true \(\), sample_weight"
    ):
        order_effect([1.0, 2.0], [1.0, 2.0], sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        order_effect([1.0, 2.0], [1.0, 2.0], level=95)
    with pytest.raises(ValueError, match="metric must be one of"):
        order_decomposition(1, [1.0], [2.0], metric="auroc")
    with pytest.raises(ValueError, match="sure_of must be one of"):
        order_curve([1.0], [2.0], sure_of="judge")
    with pytest.raises(ValueError, match="at least two clusters"):
        order_effect([1.0, 2.0], [1.0, 2.0], groups=["a", "a"])


def test_probabilities_without_a_word_are_warned_of():
    with pytest.warns(UserWarning, match="probability"):
        order_effect([0.7, 0.6], [0.4, 0.2])
    with pytest.warns(UserWarning, match="probability"):
        order_effect([1, 1, 0], [0, 1, 1])


@pytest.mark.runners("strict-*", "jax-eager", "jax-jit", "torch-eager")
def test_bad_scores_are_nan_where_they_cannot_be_looked_at(runner):
    data = {"first": [1.0, np.nan, 2.0], "swapped": [-1.0, 1.0, 0.5]}
    for function in (order_effect, order_curve):
        assert all(np.isnan(part).all() for part in run(runner, function, **data))
    assert all(
        np.isnan(p).all() for p in run(runner, order_decomposition, y_true=[1, 1, 0], **data)
    )
    opinion, effect, consistent = run(runner, both_orders, **data)
    assert np.isnan(opinion).all()
    assert np.isnan(effect).all()
    assert not consistent.any()
    data = {"first": [1.0, 0.0, 2.0], "swapped": [-1.0, 1.0, 0.5]}
    assert all(
        np.isnan(p).all() for p in run(runner, order_decomposition, y_true=[1, 3, 0], **data)
    )


def test_nothing_gives_nan():
    for found in (
        order_effect([], []),
        order_effect([1.0, 2.0], [1.0, 2.0], where=[False, False]),
        order_effect([1.0, 2.0], [1.0, 2.0], sample_weight=[0, 0]),
        order_decomposition([], [], []),
    ):
        values = flat(found)
        counts = values[9:11] if len(values) == 12 else []
        assert all(x == 0 for x in counts)
        assert all(np.isnan(x) for x in values if not any(x is c for c in counts))
    assert both_orders([], []).opinion.shape == (0,)
    assert both_orders([], []).consistent.shape == (0,)


def test_one_pair_has_no_interval():
    found = order_decomposition(1, [2.0], [1.0])
    assert np.isnan([found.total.low, found.total.high, found.total.standard_error]).all()
    assert not np.isnan(found[:3]).any()


def test_no_spread_is_no_certainty():
    total = order_decomposition(1, [2.0, 1.0, 3.0], [-2.0, -1.0, -3.0]).total
    assert total.difference == 0
    np.testing.assert_allclose([-total.low, total.high], 1 - 0.025 ** (1 / 3))


def test_weights_of_any_size_mean_the_same():
    label, first, swapped, weight = sample(30)
    wanted = flat(order_decomposition(label, first, swapped, sample_weight=weight))
    for unit in (2.0**-900, 2.0**900):
        found = flat(order_decomposition(label, first, swapped, sample_weight=weight * unit))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_infinite_scores():
    found = both_orders([np.inf, np.inf, -np.inf], [-np.inf, np.inf, 1.0])
    np.testing.assert_array_equal(found.opinion, [np.inf, 0, -np.inf])
    np.testing.assert_array_equal(found.order_effect, [0, np.inf, -np.inf])
    steps = order_decomposition(1, [np.inf, 1.0], [-np.inf, 0.5])
    assert steps.both == 1
    steps = order_decomposition(1, [np.inf, 1.0], [2.0, 0.5])
    assert np.isnan(steps.centred)
    assert not np.isnan([steps.once, steps.both]).any()


def test_lists_follow_the_library_of_the_others():
    pytest.importorskip("torch")
    import torch

    found = order_effect([0.1, 0.3], torch.asarray([0.3, -0.2], dtype=torch.float64), threshold=0.0)
    assert found.mean.dtype == torch.float64
    np.testing.assert_allclose(float(found.mean), 0.125)
