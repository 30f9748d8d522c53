"""Long tables of alternatives, on every kind of frame, against the function of arrays."""

import engines
import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp.choices import choose

pa = pytest.importorskip("pyarrow")
pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402

EVERY = pytest.mark.parametrize("form", engines.forms())
EAGER = pytest.mark.parametrize("form", engines.forms(lazy=False))
# What a query cannot refuse; Dask runs the form for frames in memory.
QUERY = pytest.mark.parametrize(
    "form", [each for each in engines.forms(lazy=True) if "dask" not in each.id]
)
COLUMNS = {"question": "the Question", "score": "a Score", "right": "Right?"}


def sheet(questions=40, seed=0):
    """Return alternatives in random order, with ties, infinities and lists of one, by column."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, questions)
    question = np.repeat(np.arange(questions), sizes)
    n = question.size
    score = np.round(rng.normal(0, 1, n), 1)
    score[rng.random(n) < 0.05] = -np.inf
    score[rng.random(n) < 0.05] = np.inf
    score[rng.random(n) < 0.05] = -0.0
    first = np.cumsum(sizes) - sizes
    right = np.zeros(n, dtype=bool)
    right[first + rng.integers(0, sizes)] = True
    columns = {
        "the Question": question,
        "name": np.arange(n) - np.repeat(first, sizes),
        "a Score": score,
        "Right?": right,
        "Subject": np.asarray(["law", "Law", "art"])[question % 3],
        "w": (question % 4) / 2,
    }
    order = rng.permutation(n)
    return {name: column[order].tolist() for name, column in columns.items()}


def expected(columns):
    found = []
    for question in sorted(set(columns["the Question"])):
        at = [row for row, name in enumerate(columns["the Question"]) if name == question]
        chosen = choose(*(np.asarray(columns[name])[at] for name in ("a Score", "Right?")))
        found.append([*(float(part) for part in chosen), len(at)])
    return found


def results(form, result):
    rows = engines.rows_of(form, result)
    names = ["correct", "confidence", "chance", "n_alternatives"]
    return [[row[name] for name in names] for row in rows]


def made(form, columns):
    return form.make(pa.table(columns))


@EVERY
def test_each_question_is_what_arrays_say(form):
    columns = sheet()
    found = frames.choose(made(form, columns), **COLUMNS)
    np.testing.assert_array_equal(results(form, found), expected(columns))
    assert [row["the Question"] for row in engines.rows_of(form, found)] == list(range(40))


@EVERY
def test_keys_and_weights_are_passed_on(form):
    columns = sheet()
    found = frames.choose(
        made(form, columns), **COLUMNS, alternative="name", weight="w", by="Subject"
    )
    np.testing.assert_array_equal(results(form, found), expected(columns))
    for row in engines.rows_of(form, found):
        assert row["Subject"] == ["law", "Law", "art"][row["the Question"] % 3]
        assert row["w"] == row["the Question"] % 4 / 2


@EVERY
def test_credits_may_be_fractions(form):
    columns = sheet()
    columns["Right?"] = [0.25 + 0.5 * right for right in columns["Right?"]]
    found = frames.choose(made(form, columns), **COLUMNS)
    np.testing.assert_array_equal(results(form, found), expected(columns))


@EAGER
def test_the_kind_of_the_frame_stays(form):
    table = made(form, sheet())
    assert type(frames.choose(table, **COLUMNS)) is type(table)


def test_the_order_of_the_rows_does_not_matter():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(sheet())
    found = frames.choose(table, **COLUMNS)
    pd.testing.assert_frame_equal(
        found, frames.choose(table.sample(frac=1, random_state=0), **COLUMNS)
    )
    value = lx.lxcim(found["correct"], found["confidence"], decision=lx.confidence())
    assert 0 <= value <= 1


def test_a_lazy_frame_stays_lazy():
    pl = pytest.importorskip("polars")
    assert isinstance(frames.choose(pl.LazyFrame(sheet()), **COLUMNS), pl.LazyFrame)


def without(column, row, value):
    """Return a table of two questions with one value replaced."""
    columns = {
        "the Question": [1, 1, 2, 2],
        "name": ["a", "b", "a", "b"],
        "a Score": [0.5, 0.0, 1.0, 2.0],
        "Right?": [1.0, 0.0, 0.0, 1.0],
        "Subject": ["law", "law", "art", "art"],
        "w": [1.0, 1.0, 2.0, 2.0],
    }
    columns[column] = [*columns[column][:row], value, *columns[column][row + 1 :]]
    return columns


WRONG = [
    ("a Score", 2, None, "score column 'a Score' has a missing value in row 2"),
    ("a Score", 2, float("nan"), "score column 'a Score' has a missing value"),
    ("Right?", 2, None, "right column 'Right\\?' has a missing value"),
    ("Right?", 3, 2.0, "credits between 0 and 1; found 2 in row 3"),
    ("Right?", 3, 0.0, "no right alternative for the question 2"),
    ("name", 3, "a", "'name' has 'a' more than once for the question 2, last in row 3"),
    ("Subject", 3, "law", "'Subject' must be the same.*for 2 it changes in row 3"),
    ("w", 3, 1.0, "'w' must be the same.*for 2 it changes in row 3"),
]
OPTIONS = {**COLUMNS, "alternative": "name", "weight": "w", "by": ["Subject"]}


@EAGER
@pytest.mark.parametrize(("column", "row", "value", "message"), WRONG)
def test_wrong_questions_are_errors(form, column, row, value, message):
    with pytest.raises(ValueError, match=message):
        frames.choose(made(form, without(column, row, value)), **OPTIONS)


@QUERY
@pytest.mark.parametrize(("column", "row", "value", "message"), WRONG)
def test_wrong_questions_are_null_in_queries(form, column, row, value, message):
    found = frames.choose(made(form, without(column, row, value)), **OPTIONS)
    rows = {row["the Question"]: row for row in engines.rows_of(form, found)}
    assert rows[1]["correct"] == 1.0
    assert rows[2]["correct"] is rows[2]["confidence"] is rows[2]["chance"] is None


@EAGER
def test_a_missing_question_is_an_error(form):
    with pytest.raises(ValueError, match="question column 'the Question' has a missing value"):
        frames.choose(made(form, without("the Question", 0, None)), **COLUMNS)


@EVERY
def test_no_rows_are_no_questions(form):
    schema = pa.table(without("w", 0, 1.0)).schema
    assert engines.rows_of(form, frames.choose(form.make(schema.empty_table()), **OPTIONS)) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"score": "a score"}, "score='a score' is not a column.*'a Score'"),
        ({"right": "name"}, "right column 'name' must hold numbers"),
        ({"by": "the Question"}, "by must name each column once"),
        ({"question": None}, "question must be the name of a column"),
    ],
)
def test_wrong_columns_are_errors(changed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        frames.choose(pa.table(without("w", 0, 1.0)), **{**OPTIONS, **changed})


def test_a_column_that_is_named_like_a_result_is_an_error():
    columns = without("w", 0, 1.0)
    columns["chance"] = columns.pop("Subject")
    with pytest.raises(ValueError, match="name of the result's column 'chance'"):
        frames.choose(pa.table(columns), **{**OPTIONS, "by": "chance"})
