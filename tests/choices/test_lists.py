"""One of many answers: the definition, the laws, and what is refused."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from backends import PADDED, context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from samples import masks

import lxcim_xp as lx
from lxcim_xp._arrays.namespaces import namespace
from lxcim_xp.choices import choose

INF = np.inf
LEVELS = st.sampled_from([-INF, -2.5, -0.5, 0.0, 0.25, 0.5, 3.0, INF])
GRADES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def questions(draw, least=1, most=5, credits=GRADES):
    """Draw the scores and the credits of one question."""
    k = draw(st.integers(least, most))
    score = draw(st.lists(LEVELS, min_size=k, max_size=k))
    credit = draw(st.lists(credits, min_size=k, max_size=k).filter(any))
    return np.asarray(score), np.asarray(credit)


def by_definition(score, credit):
    """Return the three results as the documentation words them, in fractions."""
    credit = [Fraction(x) for x in credit]
    best = max(score)
    top = [c for s, c in zip(score, credit, strict=True) if s == best]
    ordered = sorted(score, reverse=True)
    second = ordered[1] if len(ordered) > 1 else -INF
    ahead = 0.0 if len(top) > 1 else INF if second == -INF else best - second
    return [float(sum(top) / len(top)), ahead, float(sum(credit) / len(credit))]


def of_credits(y_true, y_score, where=None, **options):
    found = choose(y_score, y_true, where=where, **options)
    return namespace(part=found[0]).stack(list(found))


def of_index(y_true, y_score, where=None):
    return of_credits(y_true[..., 0], y_score, where)


def agree(runner, found, expected):
    np.testing.assert_allclose(found, expected, rtol=runner.tolerance, atol=runner.tolerance)


def lxcim_of(chosen, **options):
    return lx.lxcim(chosen.correct, chosen.confidence, decision=lx.confidence(), **options)


@given(questions())
def test_a_choice_is_what_the_definition_says(runner, question):
    score, credit = question
    agree(runner, by_vote(runner, credit, score), by_definition(score, credit))


def by_vote(runner, credit, score, where=None, **options):
    found = runner(of_credits, np.asarray(credit, runner.backend.dtype), score, None, where)
    return np.asarray(found) if "vmap" not in runner.transform else found


@given(questions(), st.data())
def test_an_index_is_a_mask_with_one_right_alternative(runner, question, data):
    score, _ = question
    index = data.draw(st.integers(0, score.size - 1))
    mask = (np.arange(score.size) == index).astype(int)
    agree(
        runner,
        runner(of_index, np.full(score.size, index), score),
        runner(of_credits, mask, score),
    )


@given(questions(), st.data())
def test_the_order_of_the_alternatives_does_not_matter(runner, question, data):
    score, credit = question
    order = np.asarray(data.draw(st.permutations(range(score.size))))
    agree(
        runner,
        by_vote(runner, credit, score),
        by_vote(runner, credit[order], score[order]),
    )


@given(questions(most=4), st.data())
def test_alternatives_that_are_masked_are_not_there(runner, question, data):
    score, credit = question
    places = data.draw(masks(score.size + 3).filter(lambda there: there.sum() == score.size))
    all_scores, all_credits = np.full(score.size + 3, np.nan), np.full(score.size + 3, 7.0)
    all_scores[places], all_credits[places] = score, credit
    agree(
        runner,
        by_vote(runner, all_credits, all_scores, places),
        by_vote(runner, credit, score),
    )


def highest(ordered):
    return ordered[..., 0]


@given(questions(least=2))
def test_any_function_of_the_ordered_scores_is_a_confidence(runner, question):
    score, credit = question
    found = runner(of_credits, np.asarray(credit, runner.backend.dtype), score, confidence=highest)
    agree(runner, found[1], score.max())


@pytest.mark.parametrize(
    ("right", "score", "where"),
    [
        ([0, 1, 0], [1.0, np.nan, 0.0], None),
        ([0, 0, 0], [1.0, 2.0, 0.0], None),
        ([0, 1, 0], [1.0, 2.0, 0.0], [False, False, False]),
        ([0, 1, 0], [1.0, 2.0, 0.0], [True, False, True]),
        ([0, 2, 0], [1.0, 2.0, 0.0], None),
        ([0, -1, 1], [1.0, 2.0, 0.0], None),
    ],
)
def test_bad_questions_are_errors_or_nan(runner, right, score, where):
    if runner.backend.library == "numpy":
        with pytest.raises(ValueError, match=r"scores must|right must"):
            runner(of_credits, np.asarray(right), score, None, where)
    else:
        assert np.isnan(runner(of_credits, np.asarray(right), score, None, where)).all()


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_outside_of_the_list_is_an_error_or_nan(runner, index):
    if runner.backend.library == "numpy":
        with pytest.raises(ValueError, match="right must name an alternative"):
            runner(of_index, np.full(3, index), [1.0, 2.0, 0.0])
    else:
        found = runner(of_index, np.full(3, index if index < 0 else PADDED), [1.0, 2.0, 0.0])
        assert np.isnan(found).all()


@pytest.mark.runners("*-eager")
def test_bad_questions_leave_the_others_alone(runner):
    if runner.backend.library == "numpy":
        return
    score = np.asarray([[1.0, 2.0], [np.nan, 1.0], [3.0, 0.0]], dtype=runner.backend.dtype)
    with context(runner.backend):
        found = choose(convert(runner.backend, score), [1, 0, 1])
        found = np.stack([to_numpy(part) for part in found])
    np.testing.assert_array_equal(found, [[1, np.nan, 0], [1, np.nan, 3], [0.5, np.nan, 0.5]])


@pytest.mark.runners("*-eager")
def test_results_keep_library_dtype_and_the_axes_of_the_questions(runner):
    score = np.arange(24.0).reshape(2, 4, 3).astype(runner.backend.dtype)
    with context(runner.backend):
        array = convert(runner.backend, score)
        for part in choose(array, [[0, 1, 3], [3, 3, 3]], axis=1):
            assert part.dtype == array.dtype
            assert type(part) is type(array)
            assert tuple(part.shape) == (2, 3)
        np.testing.assert_array_equal(
            to_numpy(choose(array, [[0, 1, 3], [3, 3, 3]], axis=1).correct), [[0, 0, 1], [1, 1, 1]]
        )


@pytest.mark.runners("*-eager")
@given(st.data(), st.integers(0, 2), st.sampled_from(["mask", "index"]))
def test_each_question_of_a_batch_is_one_by_itself(runner, data, axis, kind):
    shape = [2, 3]
    shape.insert(axis, 4)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    score = rng.integers(-2, 3, shape).astype(runner.backend.dtype)
    there = rng.random((1,) * axis + (4,) + (1,) * (2 - axis)) < 0.7
    if data.draw(st.booleans()):
        there = rng.random(shape) < 0.7
    index = rng.integers(0, 4, (2, 3))
    mask = np.moveaxis(np.arange(4) == index[..., None], -1, axis)
    there = there | mask
    right = mask if kind == "mask" else index
    with context(runner.backend):
        arrays = [convert(runner.backend, x) for x in (score, right, there)]
        found = choose(arrays[0], arrays[1], axis=axis, where=arrays[2])
        found = np.stack([to_numpy(part) for part in found])
    for question in np.ndindex(2, 3):
        rows = [np.moveaxis(x, axis, -1)[question] for x in (score, mask, there)]
        alone = by_definition(rows[0][rows[2]], rows[1][rows[2]].astype(int))
        np.testing.assert_allclose(found[(slice(None), *question)], alone, rtol=1e-6)


SHEETS = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.tuples(
            st.lists(st.integers(-3, 3).map(float), min_size=k, max_size=k), st.integers(0, k - 1)
        ),
        min_size=1,
        max_size=8,
    )
)


@given(SHEETS, st.data())
def test_each_question_may_order_its_alternatives_as_it_likes(sheet, data):
    score, right = (np.asarray(part) for part in zip(*sheet, strict=True))
    before = choose(score, right)
    orders = np.asarray([data.draw(st.permutations(range(score.shape[1]))) for _ in right])
    moved = np.take_along_axis(score, orders, axis=1)
    after = choose(moved, np.argmax(orders == right[:, None], axis=1))
    np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(lxcim_of(before), lxcim_of(after))


@given(st.lists(st.tuples(LEVELS.filter(np.isfinite), LEVELS.filter(np.isfinite)), min_size=1))
def test_of_two_alternatives_the_choice_is_a_pair(pairs):
    score = np.asarray(pairs)
    chosen = choose(score, 0)
    expected = lx.lxcim(1, score[:, 0] - score[:, 1])
    np.testing.assert_allclose(lxcim_of(chosen), expected, rtol=1e-13)


@given(questions(most=4, credits=st.sampled_from([0.0, 1.0])))
def test_chance_is_what_scores_earn_that_know_nothing(question):
    score, credit = question
    earned = [choose(np.asarray(order), credit).correct for order in itertools.permutations(score)]
    np.testing.assert_allclose(np.mean(earned), choose(score, credit).chance, rtol=1e-13)


def test_a_list_of_one_is_right_by_itself():
    assert choose([[2.0], [-INF]], 0).confidence.tolist() == [INF, INF]
    assert choose([2.0], 0) == (1.0, INF, 1.0)


@given(st.lists(st.integers(0, 999), min_size=2, max_size=4, unique=True))
def test_equal_margins_of_decimals_are_equal(runner, cents):
    first, second = sorted(cents)[:-3:-1]
    score = np.asarray(cents) / 100
    right = np.arange(len(cents)) == 0
    expected = np.asarray((first - second) / 100, dtype=runner.backend.dtype)
    assert runner(of_credits, right * 1, score)[1] == expected


def test_no_question_is_no_result():
    for shape in ((0, 3), (0, 0)):
        assert [part.shape for part in choose(np.zeros(shape), np.zeros(0, int))] == [(0,)] * 3


def test_float32_margins_do_not_overflow_with_a_warning():
    chosen = choose(np.asarray([3e38, -3e38], dtype=np.float32), 0)
    assert chosen.confidence == INF
    assert chosen.confidence.dtype == np.float32


@pytest.mark.library("jax")
def test_one_program_chooses_and_evaluates():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def metric(scores, right):
        chosen = choose(scores, right)
        return lx.lxcim(chosen.correct, chosen.confidence, decision=lx.confidence())

    scores = jnp.asarray([[3.0, 1.0, 0.0, 2.0], [1.0, 2.0, 5.0, 2.0], [4.0, 4.0, 0.0, 1.0]])
    np.testing.assert_allclose(metric(scores, jnp.asarray([0, 3, 1])), 7 / 18, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 2.0]], [[0.0]]), "one value for each alternative"),
        (([[1.0, 2.0]], [0.0]), "one whole index for each question"),
        (([[1.0, 2.0]], [True]), "a mask in the shape of the scores"),
        (([[1.0, 2.0]], [0, 1]), r"right has shape \(2,\)"),
        ((1.0, 0), "axis of alternatives"),
        ((["a", "b"], 0), "scores must hold real numbers"),
        (([[], []], [0, 0]), "at least one alternative.*position 0"),
        (([[1.0, 2.0], [1.0, np.nan]], [0, 0]), "must not hold NaN.*position 1"),
        (([[1.0, 2.0], [1.0, 3.0]], [0, 2]), "right must name.*position 1"),
        ((None, 0), "scores must be an array"),
        (([1.0, 2.0], None), "right must be an array"),
    ],
)
def test_errors_say_what_to_do(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        choose(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": [1, 1]}, "where must be boolean"),
        ({"where": [True]}, "one value for each alternative"),
        ({"axis": 1}, "axis must be an integer from -1 to 0"),
        ({"confidence": "entropy"}, "confidence must be 'margin' or a function"),
        ({"confidence": lambda ordered: ordered}, "one number for each question"),
    ],
)
def test_errors_about_options_say_what_to_do(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        choose([1.0, 2.0], 0, **options)
