"""Intervals, comparisons and curves of subgroups, against those of arrays; and bad input."""

import engines
import numpy as np
import pytest

import lxcim_xp as lx

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402
from lxcim_xp.frames.engines import ENGINES  # noqa: E402

WITH_SAMPLES = {(engine.name, engine.lazy) for engine in ENGINES if engine.samples_at_hand}
SAMPLES = pytest.mark.parametrize(
    "form", [p for p in engines.forms() if (p.values[0].engine, p.values[0].lazy) in WITH_SAMPLES]
)
QUERIES = pytest.mark.parametrize(
    "form",
    [p for p in engines.forms() if (p.values[0].engine, p.values[0].lazy) not in WITH_SAMPLES],
)
EVERY = pytest.mark.parametrize("form", engines.forms())


def columns(n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.4, 1, n)
    key = rng.choice([0, 0, 0, 1, 1, 2], n)
    key[:1] = 7  # a group of a single row
    return {
        "y": rng.random(n) < 1 / (1 + np.exp(-2 * truth)),
        "a": np.round(truth, 1),
        "b": truth + rng.normal(0, 1, n),
        "w": rng.choice([0.0, 1.0, 2.5], n),
        "k": key,
        "c": rng.integers(0, 40, n),
    }


def approx(value):
    return None if np.isnan(value) else pytest.approx(float(value), rel=1e-9, abs=1e-12)


@SAMPLES
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("groups", [None, "c"])
def test_intervals_are_those_of_arrays(form, weight, groups):
    given = columns()
    found = engines.rows_of(
        form,
        frames.evaluate(
            form.make(pa.table(given)),
            label="y",
            score="a",
            weight=weight,
            by="k",
            threshold=0.2,
            interval=0.9,
            groups=groups,
        ),
    )
    assert [row["k"] for row in found] == [0, 1, 2, 7]
    for row in found[:3]:
        at = given["k"] == row["k"]
        for metric in ("lxcim", "accuracy", "audrc", "auroc"):
            wanted = lx.interval(
                given["y"][at],
                given["a"][at],
                metric=metric,
                level=0.9,
                threshold=0.2,
                sample_weight=given[weight][at] if weight else None,
                groups=given[groups][at] if groups else None,
            )
            assert row[metric] == approx(wanted.estimate)
            assert row[f"{metric}_se"] == approx(wanted.standard_error)
            assert (row[f"{metric}_low"], row[f"{metric}_high"]) == (
                approx(wanted.low),
                approx(wanted.high),
            )
    # One row, and one cluster, say nothing about the spread.
    assert (found[3]["lxcim_se"], found[3]["lxcim_low"]) == (None, None)


@SAMPLES
@pytest.mark.parametrize("metric", ["lxcim", "auroc"])
def test_comparisons_are_those_of_arrays(form, metric):
    given = columns()
    found = frames.compare(
        form.make(pa.table(given)),
        label="y",
        scores=["a", "b"],
        weight="w",
        by=["k"],
        metric=metric,
        groups="c",
    )
    for row in engines.rows_of(form, found)[:3]:
        at = given["k"] == row["k"]
        wanted = lx.compare(
            given["y"][at],
            given["a"][at],
            given["b"][at],
            metric=metric,
            sample_weight=given["w"][at],
            groups=given["c"][at],
        )
        for name, value in wanted._asdict().items():
            assert row[name] == approx(value), name
        assert row["n"] == (at & (given["w"] > 0)).sum()
        assert row["weight"] == given["w"][at].sum()


@SAMPLES
@pytest.mark.parametrize("nan_policy", ["omit", "abstain"])
def test_models_that_do_not_always_answer_are_compared_on_the_same_rows(form, nan_policy):
    given = columns()
    given["a"][::9] = np.nan
    given["b"][::7] = np.nan
    found = frames.compare(
        form.make(pa.table(given)), label="y", scores=["a", "b"], nan_policy=nan_policy
    )
    (row,) = engines.rows_of(form, found)
    wanted = lx.compare(given["y"], given["a"], given["b"], nan_policy=nan_policy)
    for name, value in wanted._asdict().items():
        assert row[name] == approx(value), name
    missing = np.isnan(given["a"]) | np.isnan(given["b"])
    used = ~missing if nan_policy == "omit" else np.ones(missing.size, dtype=bool)
    assert (row["n"], row["n_missing"]) == (used.sum(), missing.sum())


@SAMPLES
@pytest.mark.parametrize("kind", ["cumulative_accuracy", "accuracy_rate", "roc"])
def test_curves_are_those_of_arrays(form, kind):
    given = columns()
    found = engines.rows_of(
        form,
        frames.curve(
            form.make(pa.table(given)), label="y", score="a", weight="w", by="k", kind=kind
        ),
    )
    for key in (0, 1, 2):
        at = given["k"] == key
        curve = getattr(lx, f"{kind}_curve")(
            given["y"][at], given["a"][at], sample_weight=given["w"][at]
        )
        points = np.asarray(
            [[row[name] for name in curve._fields] for row in found if row["k"] == key], dtype=float
        )
        # The curve of arrays repeats points; the last of each confidence is the end of its block.
        last = np.append(np.diff(curve[2]) != 0, True)
        np.testing.assert_allclose(points, np.stack(curve, axis=-1)[last], rtol=1e-12, atol=1e-15)


@SAMPLES
def test_curves_of_nothing_have_no_points(form):
    empty = pa.table(columns()).slice(0, 0)
    found = frames.curve(form.make(empty), label="y", score="a", by="k")
    assert engines.rows_of(form, found) == []


@SAMPLES
def test_any_decision_function_where_samples_are_at_hand(form):
    given = columns()
    decisions = [
        lx.asymmetric(0.1, 1.0, 3.0),
        lx.decision_function(lambda s: np.abs(s - 0.1) ** 3, 0.1),
    ]
    for decision in decisions:
        found = frames.evaluate(
            form.make(pa.table(given)), label="y", score="a", by="k", decision=decision
        )
        row = engines.rows_of(form, found)[0]
        at = given["k"] == 0
        for metric in ("lxcim", "accuracy", "audrc", "auroc"):
            wanted = getattr(lx, metric)(given["y"][at], given["a"][at], decision=decision)
            assert row[metric] == pytest.approx(wanted, rel=1e-13)


@QUERIES
def test_a_query_says_what_it_cannot_do_and_what_can(form):
    given = form.make(pa.table(columns()))
    options = {"label": "y", "score": "a"}
    able = "works on pandas frame, polars DataFrame, .* Dask frame; found a .*[Cc]ollect"
    with pytest.raises(TypeError, match=f"interval= {able}"):
        frames.evaluate(given, **options, interval=0.95)
    with pytest.raises(TypeError, match=f"frames.compare {able}"):
        frames.compare(given, label="y", scores=["a", "b"])
    with pytest.raises(TypeError, match=f"frames.curve {able}"):
        frames.curve(given, **options)
    with pytest.raises(TypeError, match=r"a decision function other .* works on pandas frame"):
        frames.lxcim(given, **options, decision=lx.asymmetric(0.0, 1.0, 2.0))


@QUERIES
def test_a_query_does_it_when_told_to_collect(form):
    given = pa.table(columns(n=60))
    cubed = lx.decision_function(lambda s: np.abs(s) ** 3)
    calls = [
        lambda f: frames.evaluate(
            f, label="y", score="a", by="k", metrics="lxcim", interval=0.9, collect=True
        ),
        lambda f: frames.compare(f, label="y", scores=["a", "b"], collect=True),
        lambda f: frames.curve(f, label="y", score="a", by="k", collect=True),
        lambda f: frames.evaluate(
            f, label="y", score="a", metrics="lxcim", decision=cubed, collect=True
        ),
    ]
    for call in calls:
        # Rows of keys come in the order of the keys, whoever has collected them.
        found, wanted = (nw.from_native(call(f)) for f in (form.make(given), given))
        assert isinstance(found, nw.DataFrame)
        assert found.columns == wanted.columns
        for name in wanted.columns:
            np.testing.assert_allclose(
                found[name].to_numpy().astype(float), wanted[name].to_numpy().astype(float)
            )


@EVERY
def test_columns_that_are_not_there(form):
    given = form.make(pa.table(columns()))
    with pytest.raises(ValueError, match=r"score='aa' is not a column .* nearest name is 'a'"):
        frames.lxcim(given, label="y", score="aa")
    with pytest.raises(ValueError, match=r"by='Q' is not a column"):
        frames.lxcim(given, label="y", score="a", by=["k", "Q"])
    with pytest.raises(TypeError, match=r"weight must be the name of a column; found ndarray"):
        frames.lxcim(given, label="y", score="a", weight=np.ones(3))
    with pytest.raises(ValueError, match="by must name each column once"):
        frames.lxcim(given, label="y", score="a", by=["k", "k"])


@EVERY
def test_a_key_that_is_named_like_a_result(form):
    given = form.make(pa.table({"y": [1, 0], "s": [1.0, 2.0], "n": [1, 2], "lxcim": [1, 2]}))
    for name in ("n", "lxcim"):
        with pytest.raises(ValueError, match=f"by='{name}' has the name of the result's column"):
            frames.evaluate(given, label="y", score="s", by=name)


@EVERY
def test_dtypes_are_refused_before_anything_is_computed(form):
    table = pa.table({"y": ["a", "b"], "s": ["1", "2"], "n": [1, 0], "x": [1.0, 2.0]})
    given = form.make(table)
    with pytest.raises(TypeError, match=r"label column 'y' has dtype .* Pass the word"):
        frames.lxcim(given, label="y", score="x")
    with pytest.raises(TypeError, match=r"label column 'y' .* positive=1 was given"):
        frames.lxcim(given, label="y", score="x", positive=1)
    with pytest.raises(TypeError, match=r"label column 'n' .* found positive='a'. Pass a number"):
        frames.lxcim(given, label="n", score="x", positive="a")
    with pytest.raises(TypeError, match=r"score column 's' must hold numbers; found dtype .* Cast"):
        frames.lxcim(given, label="n", score="s")
    with pytest.raises(TypeError, match="threshold must be a number"):
        frames.lxcim(given, label="n", score="x", threshold=[0.5])


@pytest.mark.parametrize("form", engines.forms(lazy=False))
def test_bad_values_name_their_column_and_row(form):
    good = {"y": [1, 0, 1], "s": [1.0, 2.0, 0.5], "w": [1.0, 1.0, 1.0]}
    options = {"label": "y", "score": "s", "weight": "w"}
    for column, values, message in (
        ("y", [1, 0, 3], r"label column 'y' must hold 0/1 or -1/\+1; found 3 in row 2"),
        ("y", [1, 0, -1], r"label column 'y' must hold 0/1 or -1/\+1; found 0 in row 1"),
        ("w", [1.0, -1.0, 1.0], r"weight column 'w' must be finite .* found -1 in row 1"),
    ):
        given = form.make(pa.table({**good, column: values}))
        with pytest.raises(ValueError, match=message):
            frames.lxcim(given, **options)
    given = form.make(pa.table(good))
    with pytest.raises(ValueError, match=r"score column 's' must lie between 0 and 1 .* in row 1"):
        frames.lxcim(given, **options, decision=lx.probability())
    with pytest.raises(ValueError, match=r"positive=7 does not occur .* holds 0, 1"):
        frames.lxcim(given, **options, positive=7)


def test_options_that_are_refused():
    pd = pytest.importorskip("pandas")
    given = pd.DataFrame({"y": [1, 0], "s": [1.0, 2.0], "c": [0, 1]})
    options = {"label": "y", "score": "s"}
    for wrong, message in (
        ({"metrics": ["auc"]}, "metrics must be among"),
        ({"metrics": []}, "metrics must name at least one"),
        ({"interval": 95}, "level must lie between 0 and 1"),
        ({"groups": "c"}, "Pass interval=0.95"),
        ({"nan_policy": "drop"}, "nan_policy must be one of"),
        ({"threshold": 0.5, "decision": lx.probability()}, "pass only one of them"),
    ):
        with pytest.raises(ValueError, match=message):
            frames.evaluate(given, **options, **wrong)
    with pytest.raises(ValueError, match=r"scores must name two columns, or .*compare_all"):
        frames.compare(given, label="y", scores=["s", "s", "s"])
    with pytest.raises(ValueError, match="kind must be one of"):
        frames.curve(given, **options, kind="pr")
    with pytest.raises(TypeError, match=r"frame must be a pandas, polars, .*; found list"):
        frames.lxcim([1, 2], **options)


def test_object_booleans_of_pandas():
    pd = pytest.importorskip("pandas")
    label = pd.Series([True, None, False, True], dtype=object)
    given = pd.DataFrame({"y": label, "s": [1.0, 2.0, 3.0, 4.0]})
    found = frames.lxcim(given, label="y", score="s", nan_policy="omit")
    assert found["lxcim"].item() == lx.lxcim([1, 0, 1], [1.0, 3.0, 4.0])
    found = frames.lxcim(given, label="y", score="s", nan_policy="omit", positive=False)
    assert found["lxcim"].item() == lx.lxcim([0, 1, 0], [1.0, 3.0, 4.0])
    given["y"] = pd.Series([True, "yes", False, True], dtype=object)
    with pytest.raises(TypeError, match=r"dtype Object and holds 'yes' in row 1"):
        frames.lxcim(given, label="y", score="s")


def test_object_booleans_are_words_for_dask():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    label = pd.Series([True, None, False, True], dtype=object)
    given = dd.from_pandas(pd.DataFrame({"y": label, "s": [1.0, 2.0, 3.0, 4.0]}), npartitions=1)
    with pytest.raises(TypeError, match=r"label column 'y' has dtype String"):
        frames.lxcim(given, label="y", score="s")
    found = frames.lxcim(given, label="y", score="s", positive="True", nan_policy="omit")
    assert found.compute()["lxcim"].item() == lx.lxcim([1, 0, 1], [1.0, 3.0, 4.0])


def test_mirror_images_tie_at_a_threshold_and_as_probabilities():
    # |p - 1/2| of 0.7 and 0.3 differ by a rounding; their confidences do not.
    given = {"y": [1, 1], "p": [0.7, 0.3]}
    for decide in ({"threshold": 0.5}, {"decision": lx.probability()}):
        found = frames.lxcim(pa.table(given), label="y", score="p", **decide)["lxcim"][0].as_py()
        assert found == lx.lxcim(given["y"], given["p"], **decide) == 0.5


def test_weights_of_any_scale_keep_their_digits():
    rng = np.random.default_rng(3)
    n = 4000
    key, score = rng.integers(0, 40, n), np.round(rng.normal(0, 1, n), 2)
    label, weight = rng.random(n) < 0.6, rng.random(n) * 10.0 ** (10 * (key % 7) - 30)
    found = frames.evaluate(
        pa.table({"y": label, "s": score, "w": weight, "k": key}),
        label="y",
        score="s",
        weight="w",
        by="k",
    ).to_pylist()
    for row in found:
        at = key == row["k"]
        for metric in ("lxcim", "accuracy", "audrc", "auroc"):
            wanted = getattr(lx, metric)(label[at], score[at], sample_weight=weight[at])
            assert row[metric] == pytest.approx(wanted, rel=1e-13)


def test_keys_of_many_kinds():
    pl = pytest.importorskip("polars")
    import datetime

    day = datetime.date(2026, 1, 1)
    for values, dtype in (
        ([2**60, -(2**60), None], pl.Int64),
        ([1.5, float("nan"), None], pl.Float64),
        ([day, day + datetime.timedelta(1), None], pl.Date),
        (["x", "y", None], pl.Categorical),
        ([True, False, None], pl.Boolean),
    ):
        key = pl.Series("k", values * 4, dtype=dtype)
        rows = pl.DataFrame({"y": [1, 0, 1] * 4, "s": np.arange(12.0)}).with_columns(key)
        for given in (rows, rows.to_arrow()):
            found = nw.from_native(frames.lxcim(given, label="y", score="s", by=["k", "y"]))
            assert found["n"].to_list() == [4, 4, 4]
            assert found["k"].dtype == nw.from_native(given)["k"].dtype
            assert found["k"].null_count() == 1
