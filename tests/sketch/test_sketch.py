"""Sketches: what is exact, what is certain, and that it fits into a fixed size."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from samples import SHARES, THRESHOLDS

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces, primitives
from lxcim_xp.sketch import bins as layout
from lxcim_xp.testing import samples

FORMS = ("discrete", "continuous")
# Weights that are no sums of a few powers of two: their sums are rounded.
FRACTIONS = st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.1, 1e-3, 2.0])
PROBABILITIES = st.one_of(
    st.integers(0, 8).map(lambda k: k / 8),
    st.integers(1, 20).map(lambda k: 1 - 2.0**-k),
    st.integers(1, 20).map(lambda k: 2.0**-k),
)


def flat(*parts):
    """Return arrays one after another, so that a transform compiles them in one program."""
    xp = namespaces.namespace(part=parts[0])
    return xp.concat([xp.reshape(xp.astype(part, parts[0].dtype), (-1,)) for part in parts])


def everything(y_true, y_score, bins=8, **options):
    """Return all that a sketch of few bins knows, and its fields."""
    state = lx.sketch(y_true, y_score, bins=bins, **options)
    bounds = [lx.lxcim_bounds(state), *(lx.audrc_bounds(state, form=form) for form in FORMS)]
    return flat(*state, *(end for three in bounds for end in three), lx.sketch_accuracy(state))


class Found:
    """What :func:`everything` found."""

    def __init__(self, values, bins=8):
        self.state, rest = lx.Sketch(*np.split(values[: 5 * bins], 5), 0, 0), values[5 * bins :]
        self.state = self.state._replace(bound=rest[0], fractional=rest[1])
        names = ("lxcim", *FORMS)
        self.bounds = {
            name: lx.Bounds(*rest[2 + 3 * k : 5 + 3 * k]) for k, name in enumerate(names)
        }
        self.accuracy = rest[-1]


def exact_values(label, score, weight, threshold=0.0):
    """Return the metrics in fractions; the continuous form, which has logarithms, in floats."""
    m = oracle.margins(label, score, threshold)
    weight = [Fraction(float(w)) for w in weight]
    floats = [float(w) for w in weight]
    continuous = lx.audrc(
        label, score, sample_weight=floats, threshold=threshold, form="continuous"
    )
    return {
        "lxcim": oracle.lxcim(m, weight),
        "discrete": oracle.audrc(m, weight),
        "continuous": continuous,
        "accuracy": oracle.accuracy(m, weight),
    }


def check_inside(found, exact):
    for name, bounds in found.bounds.items():
        assert 0 <= bounds.low <= bounds.estimate <= bounds.high <= 1, name
        if name == "continuous":  # known to rounding only
            assert bounds.low - 1e-13 <= exact[name] <= bounds.high + 1e-13
        else:
            assert Fraction(bounds.low) <= exact[name] <= Fraction(bounds.high), name


def as_given(runner, weight):
    """Return weights as the backend sees them."""
    return np.asarray(weight, dtype=runner.backend.dtype).astype(float)


@given(samples() | samples(labels=SHARES), THRESHOLDS, st.sampled_from([2, 3, 8]))
def test_the_exact_value_lies_inside_the_bounds(runner, sample, threshold, bins):
    if runner.backend.library == "jax" or runner.transform == "compile":
        bins = 8  # every other number would be compiled anew
    values = runner(everything, *sample, bins=bins, threshold=threshold)
    found, exact = Found(values, bins), exact_values(*sample, threshold)
    check_inside(found, exact)
    np.testing.assert_allclose(found.accuracy, float(exact["accuracy"]), rtol=runner.tolerance)
    assert found.state.weight.sum() == sample.sample_weight.sum()
    assert found.state.count.sum() == np.count_nonzero(sample.sample_weight)
    assert found.state.bound == np.inf


@given(samples(weights=FRACTIONS) | samples(weights=FRACTIONS, labels=SHARES))
def test_rounded_sums_of_weights_stay_inside_the_bounds(runner, sample):
    found = Found(runner(everything, *sample))
    weight = as_given(runner, sample.sample_weight)
    credit = [oracle.credit(m) for m in oracle.margins(*sample[:2])]
    right = 2 * weight * np.asarray(credit, dtype=float)
    fractional = (weight != np.floor(weight)) | (right != np.floor(right))
    assert found.state.fractional == np.count_nonzero(fractional)
    check_inside(found, exact_values(*sample[:2], weight))


@given(samples(scores=PROBABILITIES, weights=st.integers(0, 3)))
def test_probabilities_have_a_bound_that_their_domain_tells(runner, sample):
    if (runner.backend.library, runner.transform) == ("torch", "compile"):
        pytest.skip("one compiled program with a domain is in the next test")
    found = Found(runner(everything, *sample, decision=lx.probability()))
    assert found.state.bound == 0.5
    check_inside(found, exact_values(*sample, 0.5))
    given_bound = Found(runner(everything, *sample, decision=lx.probability(), bound=0.5))
    for name, a, b in zip(lx.Sketch._fields, found.state, given_bound.state, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.runners("torch-compile")
def test_a_domain_compiles(runner):
    label, score = np.asarray([1, 0, 1]), np.asarray([0.75, 0.5, 0.125])
    found = Found(runner(everything, label, score, decision=lx.probability()))
    assert found.state.bound == 0.5
    check_inside(found, exact_values(label, score, [1, 1, 1], 0.5))


@pytest.mark.runners("*-eager")
@given(samples(), st.data())
def test_merging_any_parts_in_any_order_gives_the_sketch_of_the_whole(runner, sample, data):
    n = sample.y_true.size
    part_of = np.asarray(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    order = data.draw(st.permutations(range(3)))
    dtypes = {"y_true": "int64", "y_score": runner.backend.dtype}
    dtypes["sample_weight"] = runner.backend.dtype
    padding = {"y_true": 0, "y_score": 0, "sample_weight": 0}
    sample = {
        name: np.concatenate([array, np.full(PADDED - n, padding[name])]).astype(dtypes[name])
        for name, array in sample._asdict().items()
    }
    with context(runner.backend):
        arrays = {name: convert(runner.backend, array) for name, array in sample.items()}
        whole = lx.sketch(**arrays, bins=8)
        states = []
        for part in order:
            where = np.concatenate([part_of == part, np.zeros(PADDED - n, dtype=bool)])
            states.append(lx.sketch(**arrays, where=convert(runner.backend, where), bins=8))
        a, b, c = states
        for merged in (lx.merge(lx.merge(a, b), c), lx.merge(a, lx.merge(b, c))):
            for name, found, expected in zip(whole._fields, merged, whole, strict=True):
                np.testing.assert_array_equal(to_numpy(found), to_numpy(expected), err_msg=name)


CONFIDENCES = st.one_of(
    st.floats(0, width=32, allow_nan=False, allow_subnormal=False),
    st.integers(-40, 40).map(lambda k: 2.0**k),
)


@pytest.mark.runners("*-eager")
@given(
    st.lists(CONFIDENCES, min_size=PADDED, max_size=PADDED),
    st.sampled_from([2, 3, 4, 7, 64, 100, 4096]),
    st.sampled_from([None, 0.5, 1.0, 0.3, 100.0]),
)
def test_bins_are_the_same_everywhere_and_never_fall_with_confidence(
    runner, confidence, bins, bound
):
    confidence = np.sort(np.asarray(confidence, dtype=runner.backend.dtype))
    if bound is not None:
        bound = np.asarray(bound, dtype=confidence.dtype)
        # Crowded at both ends, and some at the bound itself.
        confidence = np.sort(
            bound * np.where(confidence < 1, confidence, 1 - 1 / np.maximum(confidence, 1))
        )
    with context(runner.backend):
        x = convert(runner.backend, confidence)
        limit = None if bound is None else convert(runner.backend, bound)
        found = to_numpy(layout.bin_of(namespaces.namespace(x=x), x, bins, limit))
    np.testing.assert_array_equal(
        found, layout.bin_of(namespaces.namespace(), confidence, bins, bound)
    )
    assert np.all(np.diff(found) >= 0)
    assert found.min() >= 0
    assert found.max() < bins
    np.testing.assert_array_equal(found == 0, confidence == 0)
    if bound is not None and bins > 2:
        np.testing.assert_array_equal(found == bins - 1, confidence >= bound)


def test_float32_and_float64_have_the_same_bins():
    confidence = np.abs(np.random.default_rng(0).standard_cauchy(10_000)).astype("float32")
    xp = namespaces.namespace()
    np.testing.assert_array_equal(
        layout.bin_of(xp, confidence, 4096, None),
        layout.bin_of(xp, confidence.astype("float64"), 4096, None),
    )
    share = confidence / (1 + confidence) / 2
    np.testing.assert_array_equal(
        layout.bin_of(xp, share, 4096, np.float32(0.5)),
        layout.bin_of(xp, share.astype("float64"), 4096, np.float64(0.5)),
    )


@pytest.mark.parametrize("reduction", ["sum", "min", "max"])
@pytest.mark.runners("*-eager")
def test_reductions_by_bin_are_those_of_a_loop(runner, reduction):
    rng = np.random.default_rng(1)
    index = rng.integers(0, 7, (2, 3, 50))
    index[index == 4] = 5  # one bin stays empty
    value = rng.integers(-9, 10, index.shape).astype(runner.backend.dtype)
    empty = {"sum": 0, "min": np.inf, "max": -np.inf}[reduction]
    expected = np.asarray(
        [
            [getattr(v[i == k], reduction)() if (i == k).any() else empty for k in range(7)]
            for i, v in zip(index.reshape(-1, 50), value.reshape(-1, 50), strict=True)
        ]
    ).reshape(2, 3, 7)
    with context(runner.backend):
        i, v = convert(runner.backend, index), convert(runner.backend, value)
        found = primitives.reduced_by_bin(namespaces.namespace(v=v), reduction, i, v, 7)
    np.testing.assert_array_equal(to_numpy(found), expected)


def test_the_portable_reduction_goes_through_many_samples_in_pieces(monkeypatch):
    monkeypatch.setattr(primitives, "_COMPARED", 64)
    rng = np.random.default_rng(2)
    index, value = rng.integers(0, 7, 100), rng.integers(0, 9, 100).astype(float)
    xp = namespaces.namespace()
    for reduction in ("sum", "min", "max"):
        np.testing.assert_array_equal(
            primitives._reduced_by_bin_portable(xp, reduction, index, value, 7),
            primitives.reduced_by_bin(xp, reduction, index, value, 7),
        )


def test_each_sum_of_float32_is_as_long_as_it_says():
    class Narrow:
        float32 = np.float32

    # Pieces of 256, then the sums of 16 pieces, and the addition of both.
    assert primitives.longest_sum(Narrow, np.zeros(4096, "float32")) == 256 + 1 + 16
    assert primitives.longest_sum(Narrow, np.zeros(4096)) == 4096
    assert primitives.longest_sum(Narrow, np.zeros(200, "float32")) == 200


DISTRIBUTIONS = {
    "normal": lambda rng, n: rng.normal(1, 1, n),
    "heavy tails": lambda rng, n: rng.standard_t(1.5, n) + 0.5,
    "huge range": lambda rng, n: np.exp(15 * rng.normal(size=n)) * rng.choice([1, 1, -1], n),
    "few levels": lambda rng, n: rng.integers(-5, 9, n) / 4,
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.5, np.inf, 1.0) * rng.normal(1, 1, n),
    "all right": lambda rng, n: 1 + rng.random(n),
    "all wrong": lambda rng, n: -1 - rng.random(n),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("draw", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS.keys())
def test_many_samples_lie_inside_the_bounds_whatever_their_weights(draw, dtype):
    rng = np.random.default_rng(3)
    margins = draw(rng, 20_000).astype(dtype)
    for weight in (None, rng.integers(0, 5, 20_000), rng.exponential(size=20_000)):
        for bins in (2, 64, 4096):
            state = lx.sketch(1, margins, sample_weight=weight, bins=bins)
            low, _, high = lx.lxcim_bounds(state)
            assert low <= lx.lxcim(1, margins.astype(float), sample_weight=weight) <= high
            for form in FORMS:
                low, _, high = lx.audrc_bounds(state, form=form)
                exact = lx.audrc(1, margins.astype(float), sample_weight=weight, form=form)
                # The metric itself is known to rounding only.
                assert low - 1e-13 <= exact <= high + 1e-13, (bins, form)


def test_a_bin_with_one_confidence_adds_no_width():
    margins = np.random.default_rng(4).integers(-5, 9, 5000) / 4
    state = lx.sketch(1, margins)
    bounds = lx.lxcim_bounds(state)
    assert bounds.high - bounds.low < 1e-11
    np.testing.assert_allclose(bounds.estimate, lx.lxcim(1, margins), rtol=1e-14)
    bounds = lx.audrc_bounds(state, form="continuous")
    assert bounds.high - bounds.low < 1e-11
    # A few samples, each in a bin of its own: the sketch knows all about them.
    margins = 2.0 ** np.arange(9) * np.asarray([1, 1, -1, 1, -1, 1, 1, 1, -1])
    for form in FORMS:
        bounds = lx.audrc_bounds(lx.sketch(1, margins), form=form)
        assert bounds.high - bounds.low < 1e-11
        np.testing.assert_allclose(bounds.estimate, lx.audrc(1, margins, form=form), rtol=1e-13)


def test_the_bounds_of_lxcim_are_reached():
    # One bin beside the zero: three right and one wrong, in the best and in the worst order.
    low, _, high = lx.lxcim_bounds(lx.sketch(1, [4.0, 3.0, 2.0, -1.0], bins=2))
    np.testing.assert_allclose(high, lx.lxcim(1, [4.0, 3.0, 2.0, -1.0]), rtol=1e-14)
    np.testing.assert_allclose(low, lx.lxcim(1, [-4.0, 3.0, 2.0, 1.0]), rtol=1e-14)
    low, _, high = lx.audrc_bounds(lx.sketch(1, [4.0, 3.0, 2.0, -1.0], bins=2), form="continuous")
    best, worst = ([4, 4, 4, -1.0], [-4.0, 1, 1, 1])
    np.testing.assert_allclose(high, lx.audrc(1, best, form="continuous"), rtol=1e-13)
    np.testing.assert_allclose(low, lx.audrc(1, worst, form="continuous"), rtol=1e-13)


@pytest.mark.parametrize("axis", [0, -1])
def test_a_batch_is_its_entries_one_by_one(axis):
    rng = np.random.default_rng(5)
    label, score = rng.integers(0, 2, (3, 40)), rng.normal(size=(3, 40)).round(1)
    weight = rng.integers(0, 3, 40)
    moved = [np.moveaxis(np.broadcast_to(a, (3, 40)), -1, axis) for a in (label, score, weight)]
    batch = lx.sketch(moved[0], moved[1], sample_weight=moved[2], axis=axis, bins=16)
    for entry in range(3):
        single = lx.sketch(label[entry], score[entry], sample_weight=weight, bins=16)
        for name, a, b in zip(single._fields, batch, single, strict=True):
            np.testing.assert_array_equal(a[entry], b, err_msg=name)
        for function in (lx.lxcim_bounds, lx.audrc_bounds):
            bounds = zip(function(batch), function(single), strict=True)
            assert all(a[entry] == b for a, b in bounds)


def test_the_size_is_fixed():
    sizes = {
        sum(np.asarray(field).nbytes for field in lx.sketch(1, np.ones(n))) for n in (1, 10, 10**5)
    }
    assert sizes == {5 * 4096 * 8 + 2 * 8}


def test_nothing_gives_nan_and_merges_with_everything():
    empty = lx.sketch(np.zeros(0), np.zeros(0))
    assert np.isnan(lx.sketch_accuracy(empty))
    for form in FORMS:
        assert np.isnan(lx.audrc_bounds(empty, form=form)).all()
    assert np.isnan(lx.lxcim_bounds(empty)).all()
    masked = lx.sketch(1, [np.nan, 3.0], where=[False, False])
    some = lx.sketch(1, [1.0, -2.0])
    for nothing in (empty, masked):
        for a, b in zip(lx.merge(nothing, some), some, strict=True):
            np.testing.assert_array_equal(a, b)


def test_too_much_weight_gives_nan_rather_than_a_number():
    state = lx.sketch(1, [1.0, -2.0], sample_weight=[1e308, 1e308])
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(lx.lxcim_bounds(state)).all()
        assert np.isnan(lx.audrc_bounds(state)).all()


@pytest.mark.runners("jax-jit")
def test_rounding_is_told_from_the_number_of_additions(runner):
    # In float32, one rounding is 6e-8; all samples are right, so that there is no other width.
    import jax.numpy as jnp

    def width(state, metric=lx.lxcim_bounds):
        bounds = metric(state)
        return float(bounds.high - bounds.low)

    with context(runner.backend):
        score = jnp.ones(1000)
        once = lx.sketch(1, score)
        many = once._replace(
            weight=jnp.full(4096, 5000.0), correct=jnp.full(4096, 5000.0), count=once.count + 5000
        )
        assert float(many.weight.sum()) > 2**24
        fractional = lx.sketch(1, score, sample_weight=jnp.full(1000, 0.1))
        # Exact sums; exact sums in bins, whose sum is rounded; and rounded sums in bins.
        assert width(once) < 5e-5 < width(many) < 2e-4 < width(fractional) < 1e-3
        assert width(once, lx.audrc_bounds) < 5e-5 < width(many, lx.audrc_bounds) < 1e-3
        # All are in the first bin, where an error of what is wrong counts most.
        assert 1e-3 < width(fractional, lx.audrc_bounds) < 0.02


def test_missing_scores_are_what_nan_policy_says():
    margins = [2.0, np.nan, -1.0]
    for policy in ("omit", "abstain"):
        bounds = lx.lxcim_bounds(lx.sketch(1, margins, nan_policy=policy))
        np.testing.assert_allclose(bounds.estimate, lx.lxcim(1, margins, nan_policy=policy))


def test_a_bound_makes_saturated_probabilities_precise():
    rng = np.random.default_rng(6)
    # Of few binary digits, so that complements are exact and |p - 1/2| is the confidence.
    score = np.round(2**40 / (1 + np.exp(-8 * rng.normal(size=100_000)))) / 2**40
    label = rng.random(100_000) < 0.9 * score + 0.05
    wide = lx.lxcim_bounds(lx.sketch(label, score, threshold=0.5))
    narrow = lx.lxcim_bounds(lx.sketch(label, score, threshold=0.5, bound=0.5))
    assert wide.high - wide.low > 0.01
    assert narrow.high - narrow.low < 0.001
    given = lx.decision_function(lambda p: np.abs(p - 0.5), 0.5, domain=(0.0, 1.0))
    for a, b in zip(
        lx.sketch(label, score, decision=given),
        lx.sketch(label, score, threshold=0.5, bound=0.5),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_a_domain_without_a_largest_confidence_has_no_bound():
    assert lx.sketch(1, [0.25, 1.0], decision=lx.logit()).bound == np.inf
    half_line = lx.decision_function(lambda s: np.abs(s - 1), 1.0, domain=(0.0, np.inf))
    assert lx.sketch(1, [0.25, 3.0], decision=half_line).bound == np.inf
    assert lx.sketch(1, [0.25, 3.0], bound=np.inf).bound == np.inf


@pytest.mark.runners("strict-eager", "torch-eager", "jax-jit")
def test_an_infinite_confidence_at_the_end_of_a_domain_is_found_out_late(runner):
    label, score = np.asarray([1, 0, 1, 1]), np.asarray([0.0, 0.25, 0.875, 1.0])
    found = Found(runner(everything, label, score, bins=64, decision=lx.logit()), 64)
    assert found.state.bound == np.inf
    assert found.state.weight[-1] == 2
    check_inside(found, exact_values(label, score, [1] * 4, 0.5))


def test_thresholds_and_bounds_are_rounded_alike():
    # float32(0.6) is above 0.6, and so is the confidence of a score of zero.
    state = lx.sketch(0, np.zeros(1, dtype="float32"), threshold=0.6, bound=0.6)
    assert state.weight[-1] == 1


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (ValueError, "bins must be a whole number of at least 2; found 1.", {"bins": 1}),
        (ValueError, "bins must be a whole number of at least 2; found 2.5.", {"bins": 2.5}),
        (ValueError, "bound must be positive; found 0.", {"bound": 0}),
        (ValueError, "bound must be positive; found nan.", {"bound": float("nan")}),
        (TypeError, "bound must be a number; found list.", {"bound": [1.0]}),
        (
            ValueError,
            "the confidence of a score must not exceed bound=2; found 3 at position 1. Pass the",
            {"bound": 2.0},
        ),
        (ValueError, "y_true must hold 0/1 or -1/+1; found 7 at position 0.", {"y_true": 7}),
    ],
)
def test_bad_arguments_are_refused(error, message, arguments):
    with pytest.raises(error, match="^" + re.escape(message)):
        lx.sketch(**{"y_true": 1, "y_score": [1.0, -3.0, 2.0], **arguments})


def test_the_position_of_a_confidence_above_the_bound_is_that_of_the_score():
    with pytest.raises(ValueError, match=r"found 9 at position \(2, 1\)"):
        lx.sketch(1, np.asarray([[1.0, 1.0], [1.0, 1.0], [1.0, 9.0]]), bound=2.0, axis=0)
    lx.sketch(1, [1.0, 9.0], where=[True, False], bound=2.0)


@pytest.mark.runners("strict-eager", "jax-jit", "torch-eager")
def test_other_libraries_give_nan_for_bad_values_in_that_batch_entry_only(runner):
    good = np.asarray([1.0, -1.0, 2.0], dtype=runner.backend.dtype)
    for bad, bound in (([1.0, np.nan, 2.0], None), ([1.0, -3.0, 2.0], 2.0)):

        def function(score, bound=bound):
            xp = namespaces.namespace(score=score)
            state = lx.sketch(1, score, bins=8, bound=bound)
            swapped = lx.sketch(1, xp.flip(score, axis=0), bins=8, bound=bound)
            both = lx.merge(state, swapped)
            return [*lx.lxcim_bounds(state), lx.sketch_accuracy(state), lx.audrc_bounds(both).low]

        if runner.transform == "jit":
            import jax

            function = jax.jit(function)
        with context(runner.backend):
            score = convert(runner.backend, np.stack([good, np.asarray(bad, dtype=good.dtype)]))
            *found, merged = (to_numpy(part) for part in function(score))
        assert not np.isnan([part[0] for part in found]).any()
        assert np.isnan([part[1] for part in found]).all()
        assert np.isnan(merged).all()


def test_only_sketches_of_the_same_bins_merge():
    state = lx.sketch(1, [1.0, -0.25])
    with pytest.raises(ValueError, match=re.escape("found (4096,) and (64,). Make them with the")):
        lx.merge(state, lx.sketch(1, [1.0], bins=64))
    with pytest.raises(ValueError, match=r"same bound to be merged; found inf and 0\.5\. Make"):
        lx.merge(state, lx.sketch(1, [0.25], bound=0.5))
    with pytest.raises(TypeError, match=r"b must be a Sketch; found tuple\. Make one with"):
        lx.merge(state, tuple(state))
    with pytest.raises(ValueError, match="form must be 'discrete' or 'continuous'; found 'smooth'"):
        lx.audrc_bounds(state, form="smooth")
    with pytest.raises(TypeError, match=r"merge_across works on JAX arrays.*found numpy arrays"):
        lx.merge_across(state, "data")


@pytest.mark.runners("strict-eager", "jax-jit", "torch-eager")
def test_other_libraries_give_nan_for_a_union_of_different_bins(runner):
    def union(y_true, y_score, **options):
        a, b = (lx.sketch(y_true, y_score, bins=8, bound=bound, **options) for bound in (None, 8.0))
        return flat(*lx.lxcim_bounds(lx.merge(a, b)), *lx.lxcim_bounds(lx.merge(a, a)))

    found = runner(union, [1, 0], [1.0, -2.0])
    assert np.isnan(found[:3]).all()
    assert (found[3:] == 1).any()


@pytest.mark.runners("jax-jit")
def test_shards_on_eight_devices_give_the_sketch_of_the_whole(runner):
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_PLATFORMS": "cpu",
    }
    script = Path(__file__).with_name("eight_devices.py")
    run = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, env=environment
    )
    assert (run.returncode, run.stdout) == (0, "equal on 8 devices\n"), run.stderr
