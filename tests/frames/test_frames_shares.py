"""Votes that are split, draws, confidences and pairs of columns, on every kind of frame.

The numbers are those of the array functions on the same rows; where arrays refuse, eager frames
raise and queries give null.
"""

from decimal import Decimal

import engines
import numpy as np
import pytest
import test_frames as given_rows
from hypothesis import given as drawn
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp.choices import difference

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402

METRICS = given_rows.METRICS
EVERY = pytest.mark.parametrize("form", engines.forms())
QUICK = pytest.mark.parametrize("form", engines.forms(slow=False))
EAGER = pytest.mark.parametrize("form", engines.forms(lazy=False))
LAZY = pytest.mark.parametrize("form", engines.forms(lazy=True, slow=False))
SAMPLES = pytest.mark.parametrize(
    "form", [p for p in engines.forms() if p.values[0].name in given_rows.EAGER_NAMES]
)
DECISIONS = pytest.mark.parametrize(
    "decide",
    [{}, {"threshold": 0.3}, {"decision": lx.confidence()}],
    ids=["0", "0.3", "confidence"],
)


def votes(n=400, seed=0):
    """Return rows with ties of both signs, whole groups beside split ones, and a null key."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, 4, n)
    share = rng.integers(0, 6, n) / 5
    share = np.where(key == 1, np.round(share), share)  # a group of whole labels
    return {
        "q": share.tolist(),
        "s": np.round(rng.normal(0.2, 1, n), 1).tolist(),
        "t": np.round(rng.normal(0, 1, n), 1).tolist(),
        "w": rng.choice([0.0, 0.5, 1.0, 2.25], n).tolist(),
        "k": [("a", "b", "c", None)[place] for place in key],
        "c": rng.integers(0, 40, n).tolist(),
    }


def groups_of(columns, *names):
    """Return the columns of each key as arrays, in the order of the keys."""
    keys = np.asarray([key or "z" for key in columns["k"]])
    for key in np.unique(keys):
        yield tuple(np.asarray(columns[name])[keys == key] for name in names)


@EVERY
@DECISIONS
@pytest.mark.parametrize("weight", [None, "w"], ids=["uniform", "weighted"])
@pytest.mark.parametrize("by", [(), "k"], ids=["all", "by"])
def test_every_metric_of_shares_is_that_of_arrays(form, decide, weight, by):
    if form.slow and (weight is None or not by):
        pytest.skip("slow, and almost the same query as another")
    columns = votes()
    metrics = given_rows.metrics_for(form)
    found = frames.evaluate(
        form.make(pa.table(columns)),
        label="q",
        score="s",
        weight=weight,
        by=by,
        metrics=metrics,
        **decide,
    )
    parts = list(groups_of(columns, "q", "s", "w"))
    if not by:
        parts = [tuple(np.asarray(columns[name]) for name in "qsw")]
    for row, (q, s, w) in zip(engines.rows_of(form, found), parts, strict=True):
        for metric in metrics:
            weights = w if weight else None
            wanted = getattr(lx, metric)(q, s, sample_weight=weights, **decide)
            assert row[metric] == pytest.approx(float(wanted), rel=1e-12, abs=1e-12)


@QUICK
def test_the_credit_is_the_expectation_over_votes(form):
    # Each row stands twice: as positive with the weight of its votes, and as negative.
    columns = votes()
    q, w = np.asarray(columns["q"]), np.asarray(columns["w"])
    doubled = {
        "q": np.repeat([True, False], q.size),
        "s": columns["s"] * 2,
        "w": np.concatenate((q * w, (1 - q) * w)),
        "k": columns["k"] * 2,
    }
    options = {"label": "q", "score": "s", "weight": "w", "by": "k"}
    split = engines.rows_of(form, frames.evaluate(form.make(pa.table(columns)), **options))
    twice = engines.rows_of(form, frames.evaluate(form.make(pa.table(doubled)), **options))
    for row, same in zip(split, twice, strict=True):
        for metric in ("lxcim", "accuracy", "auroc"):
            assert row[metric] == pytest.approx(same[metric], rel=1e-12)


@QUICK
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_split_votes_of_weights_of_any_size(form, size):
    columns = votes() | {"w": (np.asarray(votes()["w"]) * size).tolist()}
    options = {"label": "q", "score": "s", "weight": "w", "by": "k"}
    found = engines.rows_of(form, frames.evaluate(form.make(pa.table(columns)), **options))
    usual = engines.rows_of(form, frames.evaluate(form.make(pa.table(votes())), **options))
    for row, same in zip(found, usual, strict=True):
        for metric in METRICS:
            assert row[metric] == pytest.approx(same[metric], rel=1e-12)


WRONG = {
    "outside": [0.5, 1.5, 0.0, 1.0],
    "below": [0.5, -0.5, 0.0, 1.0],
    "mixed": [0.5, -1.0, 1.0, 1.0],
    "votes": [0.5, 3.0, 2.0, 1.0],
}


@EVERY
@pytest.mark.parametrize("wrong", WRONG)
def test_labels_that_are_no_shares(form, wrong):
    if form.slow and wrong != "mixed":
        pytest.skip("slow, and almost the same query")
    columns = {"y": WRONG[wrong], "s": [0.3, -0.7, 0.2, 2.0]}

    def run():
        given = form.make(pa.table(columns))
        metrics = given_rows.metrics_for(form)
        return engines.rows_of(form, frames.evaluate(given, label="y", score="s", metrics=metrics))

    if form.name in given_rows.EAGER_NAMES:
        with pytest.raises(ValueError, match=r"label column 'y' must .* shares of votes"):
            run()
    else:
        (row,) = run()
        assert {row[metric] for metric in given_rows.metrics_for(form)} == {None}


@EVERY
def test_swapped_labels_and_scores(form):
    columns = {"y": [1.0, 0.0, 1.0, 1.0], "s": [0.75, 0.25, 0.5, 1.0]}

    def run(**options):
        given = form.make(pa.table(columns))
        metrics = given_rows.metrics_for(form)
        found = frames.evaluate(given, label="s", score="y", metrics=metrics, **options)
        return engines.rows_of(form, found)[0]

    if form.name in given_rows.EAGER_NAMES:
        with pytest.raises(ValueError, match="label column 's' and score column 'y' swapped"):
            run()
    else:
        assert run()["lxcim"] is None
    wanted = lx.lxcim(columns["s"], columns["y"], decision=lx.confidence())
    assert run(decision=lx.confidence())["lxcim"] == pytest.approx(float(wanted), rel=1e-12)


@QUICK
def test_a_small_group_with_scores_like_labels_is_no_swap(form):
    columns = {"y": [0.5, 1.0, 0.2, 0.7], "s": [1.0, 0.0, 2.0, 1.0], "k": [1, 1, 2, 2]}
    given = form.make(pa.table(columns))
    options = {"interval": 0.9} if form.name in given_rows.EAGER_NAMES else {}
    if form.name == "dask":
        options["by"] = ()  # its partitions are frames of their own
    found = frames.evaluate(given, **{"label": "y", "score": "s", "by": "k"} | options)
    rows = engines.rows_of(form, found)
    assert all(row["lxcim"] is not None for row in rows)


@QUICK
@pytest.mark.parametrize("policy", ["omit", "abstain"])
@pytest.mark.parametrize(
    "decide", [{}, {"decision": lx.confidence()}], ids=["margin", "confidence"]
)
def test_missing_values_beside_split_votes(form, policy, decide):
    columns = votes()
    for row in range(0, 400, 7):
        columns["s"][row] = (None, float("nan"))[row % 2]
    if policy == "omit":
        columns["q"][::11] = [None] * len(columns["q"][::11])
    given = form.make(pa.table({name: pa.array(column) for name, column in columns.items()}))
    found = frames.evaluate(given, label="q", score="s", by="k", nan_policy=policy, **decide)
    columns = {
        name: [float("nan") if value is None and name != "k" else value for value in column]
        for name, column in columns.items()
    }
    for row, (q, s) in zip(engines.rows_of(form, found), groups_of(columns, "q", "s"), strict=True):
        for metric in METRICS:
            wanted = getattr(lx, metric)(q, s, nan_policy=policy, **decide)
            assert row[metric] == pytest.approx(float(wanted), rel=1e-12, abs=1e-12)


@SAMPLES
@DECISIONS
def test_intervals_comparisons_and_curves_of_shares(form, decide):
    columns = votes()
    given = form.make(pa.table(columns))
    options = {"label": "q", "by": "k", "weight": "w", "groups": "c"}
    found = frames.evaluate(given, score="s", interval=0.9, **options, **decide)
    paired = frames.compare(given, scores=["s", "t"], level=0.9, **options, **decide)
    parts = list(groups_of(columns, "q", "s", "t", "w", "c"))
    rows = zip(engines.rows_of(form, found), engines.rows_of(form, paired), parts, strict=True)
    for row, pair, (q, s, t, w, c) in rows:
        for metric in METRICS:
            wanted = lx.interval(
                q, s, metric=metric, level=0.9, sample_weight=w, groups=c, **decide
            )
            for end in ("low", "high"):
                want = float(getattr(wanted, end))
                assert row[f"{metric}_{end}"] == pytest.approx(want, rel=1e-9)
        wanted = lx.compare(q, s, t, level=0.9, sample_weight=w, groups=c, **decide)
        for name in ("estimate_a", "difference", "low", "high"):
            assert pair[name] == pytest.approx(float(getattr(wanted, name)), rel=1e-9)
    del options["groups"]
    for kind, function, names in (
        ("cumulative_accuracy", lx.cumulative_accuracy_curve, ("rate", "cumulative_accuracy")),
        ("accuracy_rate", lx.accuracy_rate_curve, ("rate", "accuracy")),
        ("roc", lx.roc_curve, ("false_positive_rate", "true_positive_rate")),
    ):
        points = engines.rows_of(
            form, frames.curve(given, score="s", kind=kind, **options, **decide)
        )
        for key, (q, s, _, w, _) in zip(("a", "b", "c", None), parts, strict=True):
            mine = [[row[name] for name in names] for row in points if row["k"] == key]
            line = function(q, s, sample_weight=w, **({} if kind == "roc" else decide))
            x, y = (np.asarray(part) for part in line[:2])
            last = np.append(np.diff(x + y) != 0, True)  # arrays repeat points within ties
            assert np.asarray(mine)[-1] == pytest.approx([x[-1], y[-1]], rel=1e-12)
            at = np.asarray(mine, dtype=float)
            inside = [np.min(np.abs(x[last] - a) + np.abs(y[last] - b)) for a, b in at[1:]]
            assert max(inside) < 1e-12


@QUICK
@pytest.mark.parametrize("weight", [None, "w"], ids=["uniform", "weighted"])
def test_bounds_of_sketches_hold_for_shares_and_merge(form, weight):
    columns = votes()
    given = form.make(pa.table(columns))
    state = frames.sketch(given, label="q", score="s", weight=weight, by="k")
    bounds = frames.sketch_bounds(state, by="k", collect=form.lazy)
    read = form._replace(read=lambda result: result)
    found = engines.rows_of(read if form.lazy else form, bounds)
    for row, (q, s, w) in zip(found, groups_of(columns, "q", "s", "w"), strict=True):
        weights = w if weight else None
        for metric in ("lxcim", "audrc"):
            wanted = float(getattr(lx, metric)(q, s, sample_weight=weights))
            assert row[f"{metric}_low"] - 1e-12 <= wanted <= row[f"{metric}_high"] + 1e-12
        wanted = float(lx.accuracy(q, s, sample_weight=weights))
        assert row["accuracy"] == pytest.approx(wanted, rel=1e-12)
    merged = frames.sketch_bounds(
        frames.merge_sketches(state, state, by="k"), by="k", collect=form.lazy
    )
    rows = engines.rows_of(read if form.lazy else form, merged)
    for row, one in zip(rows, found, strict=True):
        assert row["lxcim"] == pytest.approx(one["lxcim"], rel=1e-12)
        assert row["n"] == 2 * one["n"]


@QUICK
def test_a_sketch_has_no_bins_for_confidences(form):
    given = form.make(pa.table(votes()))
    with pytest.raises(ValueError, match=r"decision=confidence\(\) cannot be used here"):
        engines.rows_of(form, frames.sketch(given, label="q", score="s", decision=lx.confidence()))


WORDS = ["A", "B", "tie", "A", "both bad", None, "B", "tie"]


@EVERY
def test_labels_that_are_neither_are_draws(form):
    score = [2.0, -1.0, 3.0, -0.5, 0.0, 1.0, 0.25, -2.0]
    given = form.make(pa.table({"y": WORDS, "s": score, "k": [1, 1, 1, 1, 2, 2, 2, 2]}))
    options = {"positive": "A", "negative": "B", "ties": "half", "nan_policy": "omit"}
    metrics = given_rows.metrics_for(form)
    found = frames.evaluate(given, label="y", score="s", by="k", metrics=metrics, **options)
    share = np.asarray([{"A": 1.0, "B": 0.0}.get(word, 0.5) for word in WORDS])
    for row, at in zip(engines.rows_of(form, found), ([0, 1, 2, 3], [4, 6, 7]), strict=True):
        assert (row["n"], row["n_missing"]) == (4, 4 - len(at))
        for metric in metrics:
            wanted = float(getattr(lx, metric)(share[at], np.asarray(score)[at]))
            assert row[metric] == pytest.approx(wanted, rel=1e-12)


@QUICK
def test_draws_do_not_hide_a_slip(form):
    given = form.make(pa.table({"y": ["A", "B", "tie", "A"], "s": [1.0, 2.0, -1.0, 0.5]}))

    def run(**sides):
        found = frames.evaluate(given, label="y", score="s", ties="half", **sides)
        return engines.rows_of(form, found)[0]["lxcim"]

    if form.name in given_rows.EAGER_NAMES:
        with pytest.raises(ValueError, match="negative='b' does not occur"):
            run(positive="A", negative="b")
    else:
        assert run(positive="A", negative="b") is None
    with pytest.raises(ValueError, match="Pass positive= and negative= to say which"):
        run(positive="A")


PAIRS = (("x", "y"), ("f", "g"), ("i", "y"), ("i", "f"))


def two_columns(n=300, seed=0):
    """Return decimals of many sizes, full floats, integers and infinities."""
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(0, 3, n), 2), np.round(rng.normal(0, 3, n), 1)
    x[:40], x[40:60], x[60:80] = rng.normal(size=40), x[40:60] * 1e-9, x[60:80] * 1e12
    x[80], y[81], y[82:90] = np.inf, np.inf, 1e17
    narrow = [np.round(rng.normal(0, 3, n), 3).astype(np.float32) for _ in range(2)]
    return {
        "x": x,
        "y": y,
        "f": narrow[0],
        "g": narrow[1],
        "i": rng.integers(-5, 5, n),
        "k": rng.integers(0, 2, n),
        "c": rng.integers(0, 30, n),
    }


@EVERY
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_pair_of_columns_is_their_difference(form, pair):
    if form.slow and pair != ("i", "f"):
        pytest.skip("slow, and almost the same query")
    columns = two_columns()
    metrics = ["lxcim", "accuracy"]
    found = frames.evaluate(
        form.make(pa.table(columns)), label=None, score=pair, by="k", metrics=metrics
    )
    margin = difference(columns[pair[0]], columns[pair[1]])
    for row, key in zip(engines.rows_of(form, found), (0, 1), strict=True):
        for metric in metrics:
            wanted = float(getattr(lx, metric)(1, margin[columns["k"] == key]))
            assert row[metric] == pytest.approx(wanted, rel=1e-13)


@QUICK
def test_equal_differences_tie(form):
    # 0.1 each, but raw subtraction makes four confidences of them.
    columns = {"chosen": [0.3, 0.4, 0.8, 1.1], "rejected": [0.2, 0.3, 0.9, 1.0]}
    assert len({abs(a - b) for a, b in zip(*columns.values(), strict=True)}) > 2
    given = form.make(pa.table(columns))
    found = frames.lxcim(given, label=None, score=("chosen", "rejected"))
    assert engines.rows_of(form, found)[0]["lxcim"] == 0.75
    state = frames.sketch(given, label=None, score=("chosen", "rejected"))
    (row,) = engines.rows_of(form, state)
    assert (row["g_min"], row["g_max"], row["correct"]) == (0.1, 0.1, 3.0)


@QUICK
def test_margins_need_no_labels(form):
    columns = {"m": [2.0, -1.0, 0.5, 0.0, None]}
    given = form.make(pa.table(columns))
    found = frames.evaluate(given, label=None, score="m", nan_policy="omit")
    (row,) = engines.rows_of(form, found)
    assert row["auroc"] is None
    assert row["n_missing"] == 1
    for metric in ("lxcim", "accuracy", "audrc"):
        wanted = float(getattr(lx, metric)(1, columns["m"][:4]))
        assert row[metric] == pytest.approx(wanted, rel=1e-14)


@SAMPLES
def test_pairs_in_comparisons_and_curves(form):
    columns = two_columns()
    given = form.make(pa.table(columns))
    first, second = difference(columns["f"], columns["g"]), difference(columns["i"], columns["f"])
    found = frames.compare(given, label=None, scores=[("f", "g"), ("i", "f")], groups="c")
    (row,) = engines.rows_of(form, found)
    wanted = lx.compare(1, first, second, groups=columns["c"])
    assert row["difference"] == pytest.approx(float(wanted.difference), rel=1e-12)
    assert row["low"] == pytest.approx(float(wanted.low), rel=1e-9)
    points = engines.rows_of(form, frames.curve(given, label=None, score=("f", "g")))
    assert len(points) == 1 + np.unique(np.abs(first)).size


@QUICK
def test_a_missing_half_makes_a_missing_difference(form):
    columns = {"a": [1.0, None, 3.0, float("nan")], "b": [0.5, 1.0, None, 1.0]}
    given = form.make(pa.table({name: pa.array(values) for name, values in columns.items()}))
    found = frames.lxcim(given, label=None, score=("a", "b"), nan_policy="omit")
    (row,) = engines.rows_of(form, found)
    assert (row["lxcim"], row["n_missing"], row["weight"]) == (1.0, 3, 1.0)


@QUICK
def test_calls_that_contradict_themselves(form):
    columns = votes() | {"s - t": votes()["w"], "word": ["x"] * 400}
    given = form.make(pa.table(columns))
    for wrong, kind, message in (
        ({"label": None, "score": "s", "positive": 1}, ValueError, "positive=1 says which"),
        ({"label": None, "score": "s", "ties": "half"}, ValueError, "ties='half' is about labels"),
        (
            {"label": None, "score": "s", "decision": lx.confidence()},
            ValueError,
            "needs label=, which says whether decisions were right",
        ),
        (
            {"label": None, "score": ("s", "t"), "decision": lx.probability()},
            ValueError,
            "is a difference, and 's - t' no probability",
        ),
        ({"label": None, "score": ("s", "t"), "weight": "s - t"}, ValueError, "another part"),
        ({"label": None, "score": ("s", "s")}, ValueError, "one column twice"),
        ({"label": None, "score": ("s", "t", "w")}, ValueError, "a pair of names"),
        ({"label": None, "score": ("s", 3)}, ValueError, "a pair of names"),
        ({"label": None, "score": ("s", "T")}, ValueError, "score='T' is not a column"),
        ({"label": None, "score": ("s", "word")}, TypeError, "must hold numbers"),
        ({"label": None, "score": None}, TypeError, "must be the name of a column"),
    ):
        if form.lazy and form.name != "dask" and form.engine != "polars" and "T" in str(wrong):
            continue  # where case does not count, this is an error of its own
        with pytest.raises(kind, match=message):
            frames.lxcim(given, **wrong)


@SAMPLES
def test_confidences_of_several_models_cannot_abstain(form):
    columns = votes()
    columns["s"][3] = None
    given = form.make(pa.table({name: pa.array(values) for name, values in columns.items()}))
    options = {"label": "q", "decision": lx.confidence(), "nan_policy": "abstain"}
    with pytest.raises(ValueError, match="may not be 'abstain' for several columns"):
        engines.rows_of(form, frames.compare(given, scores=["s", "t"], **options))


decimals = st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(-exponent),
    st.integers(-(10**12), 10**12),
    st.integers(0, 12),
)


@drawn(st.lists(st.tuples(decimals, decimals), min_size=1, max_size=20))
def test_differences_are_those_of_decimals(pairs):
    kept = [pair for pair in pairs if _digits(*pair) <= 15]
    first, second = (np.asarray([float(pair[i]) for pair in kept]) for i in (0, 1))
    found = difference(first, second)
    assert found.tolist() == [float(a - b) for a, b in kept]
    assert np.array_equal(difference(second, first), -found)


small = st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(-exponent),
    st.integers(-(10**6), 10**6),
    st.integers(0, 6),
)


@drawn(st.lists(st.tuples(small, small), min_size=1, max_size=20))
def test_differences_of_narrow_floats_are_those_of_decimals(pairs):
    kept = [(a, b) for a, b in pairs if _digits(a, b) <= 6]
    first, second = (np.asarray([float(p[i]) for p in kept], np.float32) for i in (0, 1))
    assert difference(first, second).tolist() == [float(a - b) for a, b in kept]


def _digits(a, b):
    """Return the digits of two decimals from the first of the larger to the last of either."""
    places = [-x.normalize().as_tuple().exponent for x in (a, b) if x] or [0]
    return max(a.copy_abs(), b.copy_abs()).adjusted() + 1 + max(0, *places, 0)


@drawn(st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=20))
def test_any_differences_are_within_a_rounding_of_their_numbers(pairs):
    first, second = (np.asarray(column) for column in zip(*pairs, strict=True))
    found = difference(first, second)
    with np.errstate(all="ignore"):
        raw = first - second
        size = np.spacing(np.maximum(np.abs(first), np.abs(second)))
        off = np.abs(found - raw)
    finite = np.isfinite(raw)
    assert np.array_equal(found[~finite], raw[~finite], equal_nan=True)
    assert (off[finite] <= size[finite]).all()


@EVERY
def test_a_query_divides_as_arrays_do(form):
    # Polars multiplies by the inverse of a literal, which makes 3e14 / 1e15 another number.
    if form.slow:
        pytest.skip("slow, and the query above")
    rng = np.random.default_rng(0)
    columns = {"a": np.round(rng.random(500), 2), "b": np.round(rng.random(500), 1)}
    given = form.make(pa.table(columns))
    state = engines.rows_of(form, frames.sketch(given, label=None, score=("a", "b")))
    confidence = np.abs(difference(columns["a"], columns["b"]))
    assert [row["g_min"] for row in state] == [row["g_max"] for row in state]
    assert [row["g_max"] for row in state] == np.unique(confidence).tolist()
