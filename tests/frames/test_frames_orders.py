"""Both orders of a judge in frames of every kind, wide and long, against functions of arrays."""

import engines
import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp.choices import order_decomposition, order_effect

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402

EVERY = pytest.mark.parametrize("form", engines.forms(slow=False))
EAGER = pytest.mark.parametrize("form", engines.forms(lazy=False))
LAZY = pytest.mark.parametrize("form", engines.forms(lazy=True, slow=False))


def columns(n=60, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    opinion = np.where(label > 0, 1, -1) * rng.normal(0.5, 1, n)
    return {
        "id": np.asarray([f"q{k:03}" for k in range(n)]),
        "better": label,
        "ab": (opinion + rng.normal(0.5, 0.5, n)).round(1),
        "ba": (-opinion + rng.normal(0.5, 0.5, n)).round(1),
        "w": rng.choice([0.0, 1.0, 2.5], n),
        "k": rng.choice([0, 0, 1], n),
        "c": rng.integers(0, 12, n),
    }


def long_rows(given, seed=1):
    """Return a row for each call, in any order."""
    n = given["id"].size
    place = np.random.default_rng(seed).permutation(2 * n)
    shared = {name: np.tile(x, 2) for name, x in given.items() if name not in ("ab", "ba")}
    calls = shared | {"s": np.r_[given["ab"], given["ba"]], "o": np.repeat([1, 2], n)}
    return {name: x[place] for name, x in calls.items()}


def expected(given, mine, weighted, clustered, level=0.9):
    first, swapped, label = (given[name][mine] for name in ("ab", "ba", "better"))
    drawn = {
        "level": level,
        "sample_weight": given["w"][mine] if weighted else None,
        "groups": given["c"][mine] if clustered else None,
    }
    effect = order_effect(first, swapped, **drawn)
    steps = order_decomposition(label, first, swapped, **drawn)
    names = ("effect", "effect_low", "effect_high", *effect._fields[3:])
    found = dict(zip(names, effect, strict=True))
    for name, part in zip(steps._fields, steps, strict=True):
        if isinstance(part, tuple):
            ends = ("", "_se", "_low", "_high")
            found |= {f"{name}{end}": x for end, x in zip(ends, part, strict=True)}
        else:
            found[name] = part
    return {name: pytest.approx(float(x), rel=1e-9, abs=1e-12) for name, x in found.items()}


@EVERY
@pytest.mark.parametrize("is_long", [False, True], ids=["wide", "long"])
@pytest.mark.parametrize("drawn", [(False, False), (True, False), (False, True)])
def test_subgroups_have_the_numbers_of_arrays(form, is_long, drawn):
    given, (weighted, clustered) = columns(), drawn
    rows = long_rows(given) if is_long else given
    parts = (
        {"pair": "id", "order": "o", "score": "s"} if is_long else {"first": "ab", "swapped": "ba"}
    )
    found = engines.rows_of(
        form._replace(read=lambda result: result) if form.lazy else form,
        frames.orders(
            form.make(pa.table(rows)),
            **parts,
            label="better",
            by="k",
            level=0.9,
            weight="w" if weighted else None,
            groups="c" if clustered else None,
            collect=True,
        ),
    )
    assert [row["k"] for row in found] == [0, 1]
    for row in found:
        mine = given["k"] == row.pop("k")
        counts = {name: row.pop(name) for name in ("n", "n_missing", "weight")}
        assert counts["n"] == mine.sum()
        assert counts["weight"] == (given["w"][mine].sum() if weighted else mine.sum())
        assert row == expected(given, mine, weighted, clustered)


@LAZY
def test_a_lazy_frame_is_collected_only_if_asked_to(form):
    with pytest.raises(TypeError, match="collect=True"):
        frames.orders(form.make(pa.table(columns())), first="ab", swapped="ba")


@EAGER
def test_without_labels_there_are_no_steps(form):
    given = columns()
    result = frames.orders(form.make(pa.table(given)), first="ab", swapped="ba")
    assert type(result) is type(form.make(pa.table(given)))
    (row,) = engines.rows_of(form, result)
    assert "once" not in row
    assert row["flips"] == int(order_effect(given["ab"], given["ba"]).flips)


@EAGER
def test_missing_calls(form):
    given = columns(10)
    given["ab"][3] = np.nan
    frame = form.make(pa.table(given))
    with pytest.raises(ValueError, match=r"score column 'ab' has a missing value in row 3"):
        frames.orders(frame, first="ab", swapped="ba")
    kept = np.arange(10) != 3
    wanted = order_effect(given["ab"][kept], given["ba"][kept])
    (row,) = engines.rows_of(
        form, frames.orders(frame, first="ab", swapped="ba", nan_policy="omit")
    )
    assert (row["n"], row["n_missing"]) == (10, 1)
    assert row["effect"] == pytest.approx(float(wanted.mean))
    wanted = order_effect(given["ab"], given["ba"], nan_policy="abstain")
    found = frames.orders(frame, first="ab", swapped="ba", nan_policy="abstain")
    assert engines.rows_of(form, found)[0]["effect"] == pytest.approx(float(wanted.mean))


@EAGER
@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda x: x | {"o": np.r_[x["o"][:-1], 3]}, "must hold two values.*found 3: 1, 2, 3"),
        (lambda x: {k: v[:-2] for k, v in x.items()}, r"lack one of the orders: 2 of them, 'q00"),
        (lambda x: {k: np.r_[v, v[:1]] for k, v in x.items()}, "two rows of one order: 1 of them"),
        (
            lambda x: x | {"better": np.r_[1 - x["better"][:1], x["better"][1:]]},
            "column 'better' must be the same in both rows of a pair",
        ),
    ],
)
def test_long_frames_that_are_no_pairs(form, change, wrong):
    rows = change(long_rows(columns(8)))
    with pytest.raises(ValueError, match=wrong):
        frames.orders(form.make(pa.table(rows)), pair="id", order="o", score="s", label="better")


@EAGER
def test_an_error_names_the_row_of_the_long_frame(form):
    rows = long_rows(columns(8))
    at = int(np.flatnonzero(rows["o"] == 2)[3])
    rows["s"][at] = np.nan
    with pytest.raises(ValueError, match=rf"score column 's' has a missing value in row {at}"):
        frames.orders(form.make(pa.table(rows)), pair="id", order="o", score="s")


def test_columns_that_do_not_go_together():
    frame = pa.table(columns())
    for given in (
        {"first": "ab"},
        {},
        {"pair": "id", "order": "w"},
        {"first": "ab", "swapped": "ba", "pair": "id", "order": "k", "score": "ab"},
    ):
        with pytest.raises(ValueError, match="pass first= and swapped="):
            frames.orders(frame, **given)
    with pytest.raises(ValueError, match="must be two columns; found 'ab' for both"):
        frames.orders(frame, first="ab", swapped="ab")
    with pytest.raises(ValueError, match="nearest name is 'ba'"):
        frames.orders(frame, first="ab", swapped="b")
    with pytest.raises(ValueError, match="has the name of the result's column 'flips'"):
        frames.orders(
            frame.rename_columns(["flips", *frame.column_names[1:]]),
            first="ab",
            swapped="ba",
            by="flips",
        )


def test_words_for_labels_and_probabilities():
    given = columns()
    table = pa.table(given | {"winner": np.where(given["better"] > 0, "A", "B")})
    numbers = frames.orders(table, first="ab", swapped="ba", label="better")
    words = frames.orders(table, first="ab", swapped="ba", label="winner", positive="A")
    assert numbers.equals(words)
    p, q = (1 / (1 + np.exp(-given[name])) for name in ("ab", "ba"))
    table = pa.table({"p": p, "q": q})
    with pytest.warns(UserWarning, match="probability"):
        frames.orders(table, first="p", swapped="q")
    found = frames.orders(table, first="p", swapped="q", decision=lx.probability())
    wanted = order_effect(p, q, decision=lx.probability())
    assert found["flip_rate"][0].as_py() == pytest.approx(float(wanted.flip_rate))


def test_a_single_cluster_has_no_interval():
    table = pa.table(columns() | {"one": np.ones(60, dtype=int)})
    found = frames.orders(table, first="ab", swapped="ba", label="better", groups="one")
    (row,) = found.to_pylist()
    assert row["flip_rate"] is not None
    assert row["flip_rate_low"] is None
    assert row["total_low"] is None
