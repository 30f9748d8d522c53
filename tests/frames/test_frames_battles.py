"""Battles with strengths, on every kind of frame."""

import engines
import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp.choices import battles

pa = pytest.importorskip("pyarrow")
pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402

EVERY = pytest.mark.parametrize("form", engines.forms())
EAGER = pytest.mark.parametrize("form", engines.forms(lazy=False))
LAZY = pytest.mark.parametrize("form", engines.forms(lazy=True))

STRENGTH = {"ann": 1500.3, "Ann": 1400.1, 'bo\'b "x"': 1400.1, "d": float("inf"), "e": float("inf")}
WORDS = {"A": 1, "B": 0, "tie": 0.5, "Tie (both bad)": 0.5}
SIDES = {"a": "first", "b": "second", "outcome": "won"}


def fought(n=60, seed=0):
    """Return battles by column; some of a name with itself."""
    rng = np.random.default_rng(seed)
    first, second = (np.asarray(list(STRENGTH))[rng.integers(0, 5, n)].tolist() for _ in "ab")
    return {
        "id": list(range(n)),
        "first": first,
        "second": second,
        "won": np.asarray(list(WORDS))[rng.integers(0, 4, n)].tolist(),
    }


def expected(columns):
    strengths = ([STRENGTH[name] for name in columns[side]] for side in ("first", "second"))
    margin = [0.0 if a == b else round(a - b, 9) for a, b in zip(*strengths, strict=True)]
    return [WORDS[word] for word in columns["won"]], margin


def by_row(form, result):
    rows = sorted(engines.rows_of(form, result), key=lambda row: row["id"])
    return [row["label"] for row in rows], [row["margin"] for row in rows]


@EVERY
def test_words_and_names_become_shares_and_margins(form):
    columns = fought()
    found = battles(form.make(pa.table(columns)), **SIDES, strength=STRENGTH, shares=WORDS)
    label, margin = by_row(form, found)
    np.testing.assert_array_equal(label, expected(columns)[0])
    np.testing.assert_array_equal(margin, expected(columns)[1])


@EVERY
def test_shares_and_strengths_may_be_columns(form):
    columns = fought()
    label, margin = expected(columns)
    columns |= {"won": label, "s_1": [STRENGTH[name] for name in columns["first"]]}
    columns |= {"s_2": [STRENGTH[name] for name in columns["second"]]}
    found = battles(form.make(pa.table(columns)), **SIDES, strength=("s_1", "s_2"))
    np.testing.assert_array_equal(by_row(form, found), [label, margin])


@EVERY
def test_a_won_or_lost_may_be_booleans(form):
    columns = fought()
    won = [word == "A" for word in columns["won"]]
    found = battles(form.make(pa.table(columns | {"won": won})), **SIDES, strength=STRENGTH)
    np.testing.assert_array_equal(by_row(form, found)[0], won)


@EVERY
def test_the_columns_that_were_there_stay(form):
    columns = fought()
    found = battles(form.make(pa.table(columns)), **SIDES, strength=STRENGTH, shares=WORDS)
    rows = sorted(engines.rows_of(form, found), key=lambda row: row["id"])
    assert list(rows[0]) == [*columns, "label", "margin"]
    assert {name: [row[name] for row in rows] for name in columns} == columns


@EAGER
def test_the_kind_of_the_frame_stays(form):
    table = form.make(pa.table(fought()))
    assert type(battles(table, **SIDES, strength=STRENGTH, shares=WORDS)) is type(table)


def test_a_pandas_index_stays():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(fought())[::-1].set_index(pd.Index(range(100, 160)))
    found = battles(table, **SIDES, strength=STRENGTH, shares=WORDS)
    pd.testing.assert_index_equal(found.index, table.index)
    label, margin = expected({name: list(table[name]) for name in table})
    np.testing.assert_array_equal(found[["label", "margin"]].T, [label, margin])


def test_a_lazy_frame_stays_lazy():
    pl = pytest.importorskip("polars")
    found = battles(pl.LazyFrame(fought()), **SIDES, strength=STRENGTH, shares=WORDS)
    assert isinstance(found, pl.LazyFrame)


def test_swapping_the_sides_of_any_battle_leaves_lxcim():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(fought())
    swap = np.random.default_rng(1).random(len(table)) < 0.5
    turned = {"first": "second", "second": "first"}
    other = table.rename(columns=turned).replace({"won": {"A": "B", "B": "A"}})
    mixed = pd.concat([table[~swap], other[swap]])
    values = [
        lx.lxcim(found["label"].to_numpy(), found["margin"].to_numpy())
        for each in (table, mixed)
        for found in [battles(each, **SIDES, strength=STRENGTH, shares=WORDS)]
    ]
    np.testing.assert_allclose(*values, rtol=1e-14)


def test_it_is_one_function_with_two_addresses():
    assert battles is frames.battles
    with pytest.raises(AttributeError, match="has no attribute 'battle'"):
        _ = lx.choices.battle


BATTLE = {"id": [0, 1], "first": ["ann", "d"], "second": ["d", "Ann"], "won": ["A", "tie"]}


@EAGER
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("first", "zoe", "a column 'first' holds 'zoe', without a number in strength"),
        ("second", None, "b column 'second' has a missing value in row 1"),
        ("won", "lost", "outcome column 'won' holds 'lost', without a number in shares"),
        ("won", None, "outcome column 'won' has a missing value"),
    ],
)
def test_what_has_no_number_is_an_error_that_names_it(form, column, value, message):
    columns = BATTLE | {column: [BATTLE[column][0], value]}
    with pytest.raises(ValueError, match=message):
        battles(form.make(pa.table(columns)), **SIDES, strength=STRENGTH, shares=WORDS)


@LAZY
@pytest.mark.parametrize(
    ("column", "value", "label", "margin"),
    [("first", "zoe", 0.5, None), ("second", None, 0.5, None), ("won", "lost", None, np.inf)],
)
def test_what_has_no_number_is_null_in_queries(form, column, value, label, margin):
    columns = BATTLE | {column: [BATTLE[column][0], value]}
    found = battles(form.make(pa.table(columns)), **SIDES, strength=STRENGTH, shares=WORDS)
    assert [column[1] for column in by_row(form, found)] == [label, margin]
    assert [column[0] for column in by_row(form, found)] == [1.0, -np.inf]


def test_a_share_outside_is_an_error_or_null():
    pl = pytest.importorskip("polars")
    columns = BATTLE | {"won": [0.5, 2.0]}
    with pytest.raises(ValueError, match="share of a, between 0 and 1; found 2 in row 1"):
        battles(pl.DataFrame(columns), **SIDES, strength=STRENGTH)
    found = battles(pl.LazyFrame(columns), **SIDES, strength=STRENGTH).collect()
    assert found["label"].to_list() == [0.5, None]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"a": "frist"}, "a='frist' is not a column.*'first'"),
        ({"strength": {}}, "strength must be a mapping to numbers, not empty"),
        ({"strength": {"ann": "x"}}, "strength must hold numbers; found 'x' for 'ann'"),
        ({"strength": {"ann": float("nan")}}, "strength must hold numbers; found nan"),
        ({"strength": "elo"}, "strength must be a mapping.*or the names of two columns"),
        ({"strength": ("first", "second")}, "strength column 'first' must hold numbers"),
        ({"shares": {"A": 2}}, "shares must lie between 0 and 1.*found 2.0"),
        ({"shares": None}, "outcome column 'won' has dtype String.*Say what each word means"),
    ],
)
def test_wrong_options_are_errors(changed, message):
    options = {**SIDES, "strength": STRENGTH, "shares": WORDS, **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        battles(pa.table(BATTLE), **options)


def test_a_column_that_would_be_there_twice_is_an_error():
    with pytest.raises(ValueError, match="has a column 'label' already"):
        battles(pa.table(BATTLE | {"label": [1, 2]}), **SIDES, strength=STRENGTH, shares=WORDS)


def test_names_that_queries_would_misread_are_refused():
    pl = pytest.importorskip("polars")
    table = pl.LazyFrame({"^f.*$": ["ann"], "second": ["d"], "won": ["A"]})
    with pytest.raises(ValueError, match="Rename it to letters"):
        battles(table, **(SIDES | {"a": "^f.*$"}), strength=STRENGTH, shares=WORDS)
