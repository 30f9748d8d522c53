"""Decision functions: their laws, on every backend, and what bad ones get."""

import pickle
from functools import partial

import numpy as np
import pytest
from backends import context, convert, to_numpy
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces
from lxcim_xp._samples import decisions
from lxcim_xp.testing import samples


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
@example(np.nextafter(0.5, 0), 0.5)
def test_confidence_in_a_probability_grows_away_from_a_half(p, q):
    decision = lx.probability()
    xp = namespaces.namespace(p=np.asarray(p))
    g_p, g_q = (abs(decision.signed(xp, np.asarray(x), 0.5)) for x in (p, q))
    if abs(p - 0.5) > abs(q - 0.5) + 1e-15:
        assert g_p > g_q
    assert 0 <= g_p <= 0.5
    assert (g_p == 0) == (p == 0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_score_written_like_the_threshold_meets_it(dtype):
    score = np.asarray([0.3, 0.4], dtype=dtype)
    assert lx.accuracy(1, score, threshold=0.3) == 0.75
    assert lx.accuracy(1, score, threshold=np.float32(0.3)) == (0.75 if dtype == "float32" else 0.5)


def signed_and_mirrored(decision, score):
    """Return the signed confidence of scores and of their mirror images."""
    xp, parameters = namespaces.namespace(score=score), (decision.threshold, *decision.parameters)
    mirrored = decision.mirror(xp, score, *parameters)
    assert mirrored.dtype == score.dtype
    return (decision.signed(xp, s, *parameters) for s in (score, mirrored))


FINITE = {f"float{width}": st.floats(width=width, allow_nan=False) for width in (16, 32, 64)}
DECIMALS = st.integers(-999, 999).map(lambda k: k / 100) | st.integers(-99, 99).map(
    lambda k: k / 10
)


def floats_around(threshold, dtype):
    """Draw decimals, any floats, and the floats next to a threshold."""
    at = np.asarray(threshold, dtype=dtype)
    steps = st.integers(-9, 9).map(lambda k: float(at + k * np.spacing(at) / 2))
    return st.lists(DECIMALS | FINITE[dtype] | steps, min_size=1, max_size=20).map(
        lambda drawn: np.asarray(drawn, dtype=dtype)
    )


THRESHOLDS = st.sampled_from([0.3, 0.5, -1.0, 1 / 3, 2.1, -0.7, 7.0, 1000.1]) | st.floats(-1e4, 1e4)


@pytest.mark.parametrize("dtype", FINITE)
@given(st.data(), THRESHOLDS)
def test_a_score_ties_with_its_mirror_image_at_every_threshold(dtype, data, threshold):
    score = data.draw(floats_around(threshold, dtype))
    before, after = signed_and_mirrored(lx.absolute(threshold), score)
    np.testing.assert_array_equal(after, -before)
    # Rounding decides nothing: only a score that hits the threshold is undecided.
    np.testing.assert_array_equal(np.sign(before), np.sign(score - np.asarray(threshold, dtype)))


SCALES = st.sampled_from([1.0, 2.0, 3.0, 0.1, 0.7, 100.0])


@given(st.data(), THRESHOLDS, SCALES, SCALES)
def test_a_score_ties_with_its_mirror_image_on_scales_of_two_sides(
    data, threshold, negative, positive
):
    score = data.draw(floats_around(threshold, "float64"))
    before, after = signed_and_mirrored(lx.asymmetric(threshold, negative, positive), score)
    np.testing.assert_array_equal(after, -before)
    np.testing.assert_array_equal(np.sign(before), np.sign(score - threshold))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "decision",
    [
        lx.asymmetric(0, 1, 3),
        lx.asymmetric(0, 3, 1),
        lx.asymmetric(0.3, 0.7, 1.9),
        lx.decision_function(lambda score: np.log1p(np.abs(score))),
    ],
)
def test_neighbouring_narrow_floats_do_not_tie(dtype, decision):
    score = np.linspace(1, 2, 2000).astype(dtype)
    score = np.unique(np.concatenate([score, np.nextafter(score, np.asarray(2, dtype))]))
    for side in (score, -score):
        xp = namespaces.namespace(score=side)
        confidence = decision.signed(xp, side, decision.threshold, *decision.parameters)
        assert np.unique(confidence).size == side.size
        assert 0 < lx.lxcim(np.arange(side.size) % 2, side, decision=decision) < 1


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_log_odds_of_neighbouring_narrow_floats_do_not_tie(dtype):
    p = np.linspace(0.5, 1, 2000).astype(dtype)
    p = np.unique(np.concatenate([p, np.nextafter(p, np.asarray(0.5, dtype))]))
    log_odds = lx.logit().signed(namespaces.namespace(p=p), p, 0.5)
    assert np.unique(log_odds).size == p.size


def total(xp, decision, parameters, score):
    return xp.sum(decision.signed(xp, score, *parameters))


@pytest.mark.runners("jax-x64-eager", "torch-eager")
def test_the_slope_is_the_derivative_also_at_the_threshold(runner):
    score = np.asarray([0.125, 0.25, 0.5, 0.75])
    for decision in (lx.absolute(0.25), lx.asymmetric(0.25, 1, 3), lx.probability(), lx.logit()):
        parameters = (decision.threshold, *decision.parameters)
        with context(runner.backend):
            array = convert(runner.backend, score)
            xp = namespaces.namespace(score=array)
            slope = to_numpy(decision.slope(xp, array, *parameters))
            if runner.backend.library == "jax":
                import jax

                found = jax.grad(partial(total, xp, decision, parameters))(array)
            else:
                array.requires_grad_()
                total(xp, decision, parameters, array).backward()
                found = array.grad
            np.testing.assert_allclose(to_numpy(found), slope, rtol=1e-12)


def test_a_decision_is_a_value():
    assert lx.absolute(0.5) == lx.absolute(0.5) != lx.absolute(0.25)
    assert hash(lx.probability()) == hash(lx.probability())
    label, score = [1, 0, 1], np.asarray([0.5, 0.7, 0.9])
    assert lx.lxcim(label, score, decision=lx.absolute(0.6)) == lx.lxcim(
        label, score, threshold=0.6
    )


PROBABILITIES = samples(scores=st.integers(0, 64).map(lambda k: k / 64), min_size=6, max_size=6)


def lopsided(score):
    """Return a confidence with no closed form for the mirror."""
    return score * score * (abs(score) + score / 2 + 1)


LOPSIDED = lx.decision_function(lopsided)


def lopsided_lxcim(y_true, y_score, *, sample_weight, where=None):
    return lx.lxcim(y_true, y_score, sample_weight=sample_weight, where=where, decision=LOPSIDED)


# Not torch-compile, see logit.
@pytest.mark.runners("numpy-*", "strict*", "jax-x64-jit*", "torch-eager", "torch-vmap")
@given(PROBABILITIES)
def test_log_odds_rank_as_probabilities_do(runner, sample):
    values = [runner(lx.lxcim, *sample, decision=d()) for d in (lx.logit, lx.probability)]
    np.testing.assert_allclose(*values, rtol=runner.tolerance, atol=runner.tolerance)


@pytest.mark.runners("numpy-*", "strict*", "jax-x64-jit*", "torch-*")
@given(samples(scores=st.integers(-12, 12).map(lambda k: k / 4), min_size=6, max_size=6))
def test_a_given_function_is_the_confidence(runner, sample):
    margin = np.sign(sample.y_score) * lopsided(sample.y_score)
    np.testing.assert_allclose(
        runner(lopsided_lxcim, *sample),
        lx.lxcim(sample.y_true, margin, sample_weight=sample.sample_weight),
        rtol=runner.tolerance,
        atol=runner.tolerance,
    )


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e3),
    st.floats(1e-3, 1e3),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20),
)
def test_mirrors_keep_the_confidence_and_change_sides(threshold, negative, positive, distances):
    score = threshold + np.asarray(distances)
    decision = lx.asymmetric(threshold, negative, positive)
    mirrored = lx.exchange(1, score, decision=decision).y_score
    before, after = (np.abs(x - threshold) for x in (score, mirrored))
    scale = np.where(score > threshold, negative / positive, positive / negative)
    rounding = 1e-15 * (np.abs(score) + np.abs(mirrored) + abs(threshold))
    np.testing.assert_array_less(np.abs(after - before * scale), (1 + scale) * rounding + 1e-300)
    assert np.all(np.sign(mirrored - threshold) * np.sign(score - threshold) <= 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(exponent=st.integers(-30, 30), side=st.sampled_from([-1, 1]))
def test_bisection_finds_the_mirror_at_every_magnitude(dtype, exponent, side):
    score = np.asarray([side * 10.0 ** (exponent / 3)], dtype=dtype)
    mirrored = lx.exchange(1, score, decision=LOPSIDED).y_score
    assert mirrored.dtype == dtype
    assert np.sign(mirrored[0]) == -side
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(lopsided(mirrored), lopsided(score), rtol=tolerance)


def test_bisection_stays_in_the_domain():
    def entropy_gap(p):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [np.where(q > 0, q * np.log(q), 0.0) for q in (p, 1 - p)]
        return np.log(2) + sum(terms)

    decision = lx.decision_function(entropy_gap, 0.5, domain=(0.0, 1.0))
    p = np.asarray([0.0, 0.1, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(lx.exchange(1, p, decision=decision).y_score, 1 - p, atol=1e-7)
    with pytest.raises(ValueError, match=r"y_score must lie between 0 and 1.*found 1.5"):
        lx.lxcim(1, [0.2, 1.5], decision=decision)


def test_decisions_are_values():
    for make in (lx.logit, lambda: lx.asymmetric(1, 2, 3), lambda: lx.decision_function(lopsided)):
        assert make() == make()
        assert hash(make()) == hash(make())
        assert pickle.loads(pickle.dumps(make())) == make()
    assert lx.asymmetric(1, 2, 3) != lx.asymmetric(1, 2, 4)


def test_padding_may_be_what_a_given_function_does_not_know():
    def strict(score):
        assert np.all(np.abs(score) < 10)
        return np.abs(score)

    decision = lx.decision_function(strict)
    assert lx.lxcim(1, [1.0, 99.0], where=[True, False], decision=decision) == 1
    found = lx.exchange(1, [1.0, 99.0], where=[True, False], decision=decision)
    np.testing.assert_array_equal(found.y_score, [-1.0, 99.0])


BENT = lx.decision_function(lambda score: abs(abs(score) - 2) + 0.5)
FLAT = lx.decision_function(lambda score: 0 * score + 1)
NEGATIVE = lx.decision_function(lambda score: abs(score) - 1.5)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (BENT, r"g must grow strictly.* found g\(1\) = 1.5 and g\(2\) = 0.5"),
        (FLAT, r"g must grow strictly.* found g\(1\) = 1 and g\(2\) = 1"),
        (NEGATIVE, r"g must be positive away from the threshold; found -0.5 at position 0"),
    ],
)
def test_a_function_that_does_not_grow_is_named_with_two_scores(decision, message):
    with pytest.raises(ValueError, match=message):
        lx.lxcim(1, [1.0, 2.0, -3.0], decision=decision)


@pytest.mark.runners("strict-eager", "jax-x64-eager", "jax-x64-jit", "torch-eager", "torch-vmap")
def test_a_function_that_does_not_grow_gives_nan_where_values_are_out_of_sight(runner):
    for decision in (BENT, FLAT, NEGATIVE):
        value = runner(lx.lxcim, [1, 1, 0], [1.0, 2.0, -3.0], decision=decision)
        assert np.isnan(value)


@pytest.mark.runners("strict-eager", "jax-x64-eager", "torch-eager")
def test_a_mirror_that_does_not_fit_gives_nan_where_values_are_out_of_sight(runner):
    decision = lx.decision_function(abs, mirror=lambda score: -2 * score)
    with context(runner.backend):
        score = convert(runner.backend, np.asarray([1.0, 0.0]))
        found = to_numpy(lx.exchange(1, score, decision=decision).y_score)
    np.testing.assert_array_equal(found, [np.nan, 0.0])


def same_side(score):
    return score


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: lx.exchange(1, [3.0], decision=lx.decision_function(abs, 0, lambda s: -2 * s)),
            r"mirror must keep.*g\(3\) = 3 at position 0 and g\(-6\) = 6",
        ),
        (
            lambda: lx.exchange(1, [3.0], decision=lx.decision_function(abs, 0, same_side)),
            "mirror must keep the confidence and change sides",
        ),
        (
            lambda: lx.exchange(
                1, [0.9], decision=lx.decision_function(lambda s: abs(s - 0.2), 0.2, domain=(0, 1))
            ),
            r"g\(0.9\) = 0.7.* and g\(0\) = 0.2 for its mirror",
        ),
        (
            lambda: lx.lxcim(1, [1.0, 2.0], decision=lx.decision_function(np.max)),
            r"g must return one confidence for each score; found shape \(\)",
        ),
        (lambda: lx.decision_function(abs, domain=(1, 0)), r"domain must be \(smallest, largest\)"),
        (lambda: lx.decision_function(abs, float("nan")), "threshold must be a number; found nan"),
        (lambda: lx.asymmetric(0, 0, 1), "negative_scale must be positive and finite; found 0"),
        (lambda: lx.asymmetric(0, 1, float("inf")), "positive_scale must be positive"),
        (lambda: lx.lxcim(1, [1.5], decision=lx.logit()), "y_score must lie between 0 and 1"),
    ],
)
def test_bad_decision_functions_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(
    score=arrays.arrays(
        float, 6, elements=st.sampled_from([-2.3, 0.0, 0.1, 0.3, 0.6, 1e-300, 1e308])
    ),
    nudge=arrays.arrays(float, 6, elements=st.sampled_from([0.0, 1e-17, -3e-16, 0.25, 1.0])),
    threshold=st.sampled_from([0.3, 0.5, 0.1, 7.7, -2.3, 1e-310, 1e300, 9e307]),
)
def test_the_quick_distance_of_numpy_is_the_general_one(score, nudge, threshold):
    score = score + nudge
    quick = decisions.half_the_gap_numpy(score, threshold)
    general = decisions.half_the_gap_by_reflections(
        namespaces.namespace(), score, threshold, 1.0, score.dtype
    )
    if quick is not None:  # None where a reflection hits the threshold, or overflows
        np.testing.assert_array_equal(quick, general)


def test_ordinary_scores_take_the_quick_distance_of_numpy():
    assert decisions.half_the_gap_numpy(np.asarray([0.1, 0.7]), 0.3) is not None
