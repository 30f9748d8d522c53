"""Every digit: results against exact fractions, with weights of all sizes, on every backend.

Results are shares, so that the tolerance is absolute: 1e-12 in float64 and 2e-6 in float32,
whatever the weights are. Whole weights make no rounding in sums, and choices that compare sums
(the rates that a threshold can reach) must then be those of the fractions.
"""

from functools import cache

import numpy as np
import pytest
from backends import context, convert, to_numpy
from exact import (
    EXACT,
    GROUPS,
    OF_CELLS,
    TOGETHER,
    VALUES,
    as_floats,
    differentiated,
    of_cells,
    samples,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle import Fraction
from samples import QUARTERS, SCORES, SHARES, THRESHOLDS, look_swapped

import lxcim_xp as lx

# Eager, but for JAX, which would compile each operation: test_laws has the other transforms.
pytestmark = pytest.mark.runners(
    "numpy-*", "strict*", "cupy-*", "torch-eager", "jax-jit+vmap", "jax-x64-jit"
)
FEWER = settings(max_examples=max(6, settings.default.max_examples // 4))  # fractions take long


def scales(small, large):
    return st.sampled_from([0.0, small, 3 * small, 1.0, 3.0, large, 7 * large])


WEIGHTS = {
    "whole": lambda wide: st.integers(0, 9).map(float),
    "tenths": lambda wide: st.integers(0, 9).map(lambda k: k / 10),
    "log-normal": lambda wide: st.floats(-9, 9).map(lambda k: float(np.exp(k))),
    "many orders": lambda wide: st.floats(-20, 20).map(lambda k: 10.0**k) | st.just(0.0),
    "two scales": lambda wide: scales(1e-18, 1.0),
    "extreme": lambda wide: scales(1e-200, 1e200) if wide else scales(1e-20, 1e20),
}
# Fits of fixed shape have twice the digits of a float for their sums, and no more.
BEYOND_FITS = {
    "float64": ("many orders", "extreme"),
    "float32": ("many orders", "two scales", "extreme"),
}
CASES = [(group, kind) for group in GROUPS for kind in WEIGHTS if group != "choices"]
CASES.append(("choices", "whole"))  # by comparing sums: only sums without rounding choose alike


def columns(weights, labels, kind):
    rows = st.lists(st.tuples(labels, SCORES, weights), min_size=1, max_size=6)

    def as_arrays(rows):
        label, score, weight = zip(*rows, strict=True)
        return np.asarray(label, dtype=kind), np.asarray(score), np.asarray(weight)

    kept = rows.filter(lambda rows: any(w for *_, w in rows)).map(as_arrays)
    return kept.filter(lambda columns: not look_swapped(*columns))


def weighted(runner, kind, shares=SHARES):
    weights = WEIGHTS[kind](runner.backend.dtype == "float64")
    return columns(weights, st.integers(0, 1), int) | columns(weights, shares, np.float32)


def disagreements(runner, group, y_true, y_score, weight, threshold=0.0):
    """Return what was found and what is right of every function that is wrong, by name."""
    weight = np.asarray(weight, dtype=runner.backend.dtype).astype(float)
    found = runner(TOGETHER[group], y_true, y_score, weight, threshold=threshold)
    fill = np.zeros(runner.length(y_score.size) - y_score.size)
    exact = samples(*(np.append(part, fill) for part in (y_true, y_score, weight)), threshold)
    return _differences(found, group, exact, runner.tolerance)


def _differences(found, group, exact, tolerance):
    wrong = {}
    for name in GROUPS[group]:
        values = EXACT[name].exact(exact)
        here, found = np.split(found, [len(values)])
        expected = as_floats(values, here)
        scale = max(1.0, float(exact.total)) if EXACT[name].of_weights else 1.0
        if not np.allclose(here, expected, tolerance, tolerance * scale, True):
            wrong[name] = {"found": here, "right": expected}
    assert found.size == 0
    return wrong


@pytest.mark.parametrize(("group", "kind"), CASES)
@FEWER
@given(data=st.data(), threshold=THRESHOLDS)
def test_weights_of_all_sizes_give_the_exact_value(runner, group, kind, data, threshold):
    if group == "local_accuracy" and runner.backend.library != "numpy":
        kind = "log-normal" if kind in BEYOND_FITS[runner.backend.dtype] else kind
    shares = QUARTERS if group == "choices" else SHARES
    drawn = data.draw(weighted(runner, kind, shares))
    assert disagreements(runner, group, *drawn, threshold) == {}


@pytest.mark.parametrize("kind", WEIGHTS)
@FEWER
@given(data=st.data(), side=st.sampled_from(["right", "wrong", "undecided", "any"]))
def test_metrics_stay_in_their_range(runner, kind, data, side):
    y_true, y_score, weight = data.draw(weighted(runner, kind))
    if side == "undecided":
        y_score = 0 * y_true.astype(float)
    elif side != "any":
        y_score = np.where(y_score == 0, 1.0, y_score)
        y_true = ((y_score > 0) == (side == "right")).astype(int)
    found = runner(TOGETHER["metrics"], y_true, y_score, weight)
    values = dict(zip(VALUES, found, strict=False))
    for name, value in values.items():
        assert np.isnan(value) or 0 <= value <= 1, (name, value)
    if not np.isnan(values["auroc"]):
        assert values["auch"] >= values["auroc"] - runner.tolerance
    if side != "any":
        share = {"right": 1.0, "wrong": 0.0, "undecided": 0.5}[side]
        for name in ("lxcim", "accuracy", "audrc"):
            np.testing.assert_allclose(values[name], share, atol=runner.tolerance)
        if side == "undecided":
            np.testing.assert_allclose(values["confidence_auroc"], 0.5, atol=runner.tolerance)
        else:
            assert np.isnan(values["confidence_auroc"])


@pytest.mark.runners("numpy-*", "strict*", "cupy-*", "torch-eager")  # XLA has no such numbers
@pytest.mark.parametrize("group", ["metrics", "curves"])
@FEWER
@given(data=st.data())
def test_weights_below_the_normal_floats_give_the_exact_value(runner, group, data):
    least = float(np.finfo(runner.backend.dtype).smallest_subnormal)
    weights = st.integers(0, 9).map(lambda k: k * least)
    assert disagreements(runner, group, *data.draw(columns(weights, st.integers(0, 1), int))) == {}


@cache
def many(dtype):
    """Return samples with weights of many sizes and some ties, and their exact form."""
    rng = np.random.default_rng(0)
    n = 200
    y_true, weight = rng.integers(0, 2, n), np.exp(3 * rng.standard_normal(n)).astype(dtype)
    y_score = np.round(rng.standard_normal(n) + y_true - 0.5, 1)
    y_score = np.round(y_score * 8) / 8
    return (y_true, y_score, weight), samples(y_true, y_score, weight.astype(float))


@pytest.mark.parametrize("group", ["metrics", "curves", "local_accuracy"])
def test_many_weights_of_many_sizes_give_the_exact_value(runner, group):
    dtype = runner.backend.dtype
    (y_true, y_score, weight), exact = many(dtype)
    data = y_true, y_score.astype(dtype), weight
    found = directly(runner.backend, TOGETHER[group], *data)
    assert _differences(found, group, exact, runner.tolerance) == {}


def test_the_order_of_samples_of_whole_weight_changes_no_digit(runner):
    (y_true, y_score, weight), _ = many(runner.backend.dtype)
    weight = np.ceil(np.minimum(weight, 9))
    columns = y_true, y_score.astype(runner.backend.dtype), weight
    order = np.random.default_rng(1).permutation(y_true.size)
    found, again = (
        dict(zip(VALUES, directly(runner.backend, TOGETHER["metrics"], *data), strict=False))
        for data in (columns, [column[order] for column in columns])
    )
    del found["auch"]  # which shares out the slope of a pool over the weights in it
    assert {name: (a, again[name]) for name, a in found.items() if a != again[name]} == {}


def directly(backend, function, y_true, y_score, weight):
    """Call a function of samples in the library of a backend, under JAX as one program."""
    with context(backend):
        function = compiled(function) if backend.library == "jax" else function
        arrays = (convert(backend, array) for array in (y_true, y_score))
        return to_numpy(function(*arrays, sample_weight=convert(backend, weight)))


@cache
def compiled(function):
    import jax

    return jax.jit(function)


def eagerly(runner, function, *arrays, **options):
    with context(runner.backend):
        result = function(*(convert(runner.backend, array) for array in arrays), **options)
        return (
            [to_numpy(part) for part in result] if isinstance(result, tuple) else to_numpy(result)
        )


def met(found, rates, runner):
    """Check that these rates were chosen, to the last bit."""
    np.testing.assert_array_equal(found, np.asarray(rates, dtype=runner.backend.dtype))


def test_a_rate_that_a_whole_number_of_samples_makes_is_met_exactly(runner):
    n = 10
    y_score = np.arange(n, 0, -1).astype(runner.backend.dtype)
    y_true = np.ones(n, dtype=int)
    rates = [k / n for k in range(n + 1)]
    for wanted in (rates, np.asarray(rates, dtype=runner.backend.dtype)):
        if isinstance(wanted, np.ndarray):
            with context(runner.backend):
                wanted = convert(runner.backend, wanted)
        found = eagerly(runner, lx.accuracy_at, y_true, y_score, rate=wanted, level=None)
        met(found[3], rates, runner)
    for rate in rates:  # one number at a time
        found = eagerly(runner, lx.accuracy_at, y_true, y_score, rate=rate, level=None)
        met(found[3], rate, runner)


@pytest.mark.parametrize(
    "weight", [[1.0] * 10, [3.0, 1, 2, 1, 3, 0, 0, 0, 0, 0], [7.0, 3, 5, 1, 1, 2, 9, 11, 4, 7]]
)
@pytest.mark.parametrize("factor", [1.0, 0.25, 1024.0])
def test_an_accuracy_that_whole_weights_make_is_met_exactly(runner, weight, factor):
    dtype = runner.backend.dtype
    scaled = np.asarray(weight, dtype=dtype) * np.asarray(factor, dtype=dtype)
    y_score = np.arange(10, 0, -1).astype(dtype)
    total = sum(weight)
    for wrong in range(1, sum(w > 0 for w in weight)):
        y_true = np.where(np.arange(10) < wrong, 0, 1)  # the most confident ones are wrong
        target = float(1 - Fraction(sum(weight[:wrong])) / Fraction(total))
        with context(runner.backend):
            given = convert(runner.backend, scaled)
        rate = eagerly(runner, lx.rate_at, y_true, y_score, accuracy=target, sample_weight=given)
        assert rate == 1
        listed = eagerly(
            runner,
            lx.threshold_for,
            y_true,
            y_score,
            accuracy=target,
            delta=None,
            sample_weight=scaled.tolist(),
        )
        assert listed[1] == 1
        reached = float(Fraction(sum(weight[:wrong])) / Fraction(total))
        found = eagerly(
            runner, lx.accuracy_at, y_true, y_score, rate=reached, level=None, sample_weight=given
        )
        met(found[3], reached, runner)


CELLS = st.sampled_from(["whole", "many orders", "extreme"])


@FEWER
@given(data=st.data(), kind=CELLS)
@example(data=None, kind="near")
def test_metrics_of_confusion_vectors_equal_the_fractions(runner, data, kind):
    wide = runner.backend.dtype == "float64"
    if data is None:
        cells = [1.0, 2.0**-20, 2.0**-20, 1.0]
    else:
        cells = data.draw(st.lists(WEIGHTS[kind](wide), min_size=4, max_size=4))
    cells = np.asarray(cells, dtype=runner.backend.dtype)
    right = as_floats(of_cells([Fraction(float(cell)) for cell in cells]), [None] * 8)
    found = [eagerly(runner, metric, cells) for metric in OF_CELLS]
    names = [metric.__name__ for metric in OF_CELLS]
    wrong = {
        name: (float(a), b)
        for name, a, b in zip(names, found, right, strict=True)
        if not np.allclose(a, b, runner.tolerance, runner.tolerance, True)
    }
    assert wrong == {}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_many_samples_are_counted_in_any_dtype(runner, dtype):
    n = 70_000
    scores = np.where(np.arange(n) < 2, -1.0, 1.0)
    with context(runner.backend):
        score = narrowed(runner.backend, scores, dtype)
        if score is None:
            return  # the library has no such dtype
        cells = lx.confusion.confusion(1, score)
        accuracy = lx.confusion.accuracy(cells)
        assert to_numpy(cells).tolist() == [n - 2, 0, 2, 0]
        np.testing.assert_allclose(to_numpy(accuracy), (n - 2) / n, rtol=1e-7)


def narrowed(backend, scores, dtype):
    if backend.library == "torch":
        import torch

        return torch.asarray(scores).to(getattr(torch, dtype))
    if backend.library == "jax":
        import jax.numpy as jnp

        return jnp.asarray(scores, dtype=getattr(jnp, dtype))
    if dtype == "bfloat16" or (dtype == "float16" and backend.library != "numpy"):
        return None
    return convert(backend, scores.astype(dtype))


ARRIVING = {
    "issue": ([1, 0, 1, 1, 0], [1.0, 2.0, -3.0, 4.0, -5.0], [1.0, 0.0, 2.0, 0.0, 1.0]),
    "top and bottom": ([1, 0, 1, 1, 0], [4.0, 2.0, -3.0, 1.0, 6.0], [1.0, 2.0, 1.0, 0.0, 0.0]),
    "undecided": ([1, 0, 1, 1, 0], [4.0, 2.0, -3.0, 0.0, -6.0], [1.0, 2.0, 3.0, 0.0, 0.0]),
}


@pytest.mark.runners("*")
@pytest.mark.parametrize("case", ARRIVING)
@pytest.mark.parametrize("name", [*VALUES, "audrc continuous", "aurc continuous"])
def test_the_derivative_at_weight_zero_is_that_of_an_arriving_sample(grad_backend, name, case):
    if "continuous" in name and case == "top and bottom":
        case = "undecided"  # on top, h log h has no derivative
    label, score, weight = ARRIVING[case]
    expected = _arrivals(name, label, score, weight)
    form = {"form": "continuous"} if " " in name else {}
    metric = getattr(lx, name.partition(" ")[0])
    with context(grad_backend):
        given = [
            convert(grad_backend, np.asarray(column, dtype=grad_backend.dtype))
            for column in (label, score, weight)
        ]
        if grad_backend.library == "jax":
            from jax import grad
        else:
            from torch.func import grad
        found = grad(lambda w: metric(*given[:2], sample_weight=w, **form))(given[2])
    tolerance = 1e-6 if grad_backend.dtype == "float64" else 1e-5
    np.testing.assert_allclose(to_numpy(found), expected, atol=tolerance)


def _arrivals(name, label, score, weight):
    """Return one-sided derivatives, exact but for the form that has logarithms."""
    if name in VALUES:
        exact = samples(label, score, weight)
        return [float(differentiated(VALUES[name], exact, i)) for i in range(len(label))]
    metric, step = getattr(lx, name.partition(" ")[0]), 1e-7
    at = [
        metric(label, score, sample_weight=np.asarray(weight) + step * row, form="continuous")
        for row in [np.zeros(len(weight)), *np.eye(len(weight))]
    ]
    return (np.asarray(at[1:]) - at[0]) / step
