"""Polars expressions in every context, against the metrics of arrays."""

import datetime

import numpy as np
import pytest

import lxcim_xp as lx

pl = pytest.importorskip("polars")

from lxcim_xp import polars as expressions  # noqa: E402

METRICS = ("lxcim", "accuracy", "auroc")


def table(n=500, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(0.3, 1, n), 1).astype(dtype)
    score[rng.random(n) < 0.02] = -0.0
    return pl.DataFrame(
        {
            "y": rng.random(n) < 1 / (1 + np.exp(-score)),
            "s": score,
            "w": rng.choice([0.0, 0.5, 1.0, 3.0], n),
            "k": rng.integers(0, 5, n),
            "at": [datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=i) for i in range(n)],
        }
    )


def reference(rows, metric, weight, **options):
    weights = rows[weight].to_numpy() if weight else None
    return getattr(lx, metric)(
        rows["y"].to_numpy(), rows["s"].to_numpy(), sample_weight=weights, **options
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("options", [{}, {"threshold": 0.3}], ids=["0", "0.3"])
def test_an_expression_works_in_every_context(metric, weight, options):
    rows = table()
    expression = getattr(expressions, metric)("y", "s", weight=weight, **options)
    wanted = {
        key: reference(part, metric, weight, **options)
        for (key,), part in rows.partition_by("k", as_dict=True).items()
    }
    grouped = [
        rows.group_by("k").agg(expression),
        rows.lazy().group_by("k").agg(expression).collect(),
        rows.lazy().group_by("k").agg(expression).collect(engine="streaming"),
        rows.select("k", expression.over("k")).unique(),
    ]
    for found in grouped:
        assert dict(found.rows()) == pytest.approx(wanted, rel=1e-13)
    (whole,) = rows.select(expression).row(0)
    assert whole == pytest.approx(reference(rows, metric, weight, **options), rel=1e-13)
    windows = rows.group_by_dynamic("at", every="5d").agg(expression)
    for start, value in windows.rows():
        inside = rows.filter(
            (pl.col("at") >= start) & (pl.col("at") < start + datetime.timedelta(days=5))
        )
        assert value == pytest.approx(reference(inside, metric, weight, **options), rel=1e-13)


@pytest.mark.parametrize("metric", METRICS)
def test_a_float32_score_meets_a_python_threshold(metric):
    rows = table(dtype=np.float32)
    expression = getattr(expressions, metric)("y", "s", threshold=0.3)
    assert np.float32(rows.select(expression).item()) == reference(
        rows, metric, None, threshold=0.3
    )
    (accuracy,) = (
        pl.DataFrame({"y": [True], "s": pl.Series([0.3], dtype=pl.Float32)})
        .select(expressions.accuracy("y", "s", threshold=0.3))
        .row(0)
    )
    assert accuracy == 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_probabilities_tie_with_their_complements(dtype):
    p = np.asarray([0.07, 0.3, 0.7, 0.9], dtype=dtype)
    p = np.concatenate([p, 1 - p])
    y = np.asarray([1, 0, 1, 1, 0, 1, 1, 0], dtype=bool)
    found = pl.DataFrame({"y": y, "s": p}).select(
        expressions.lxcim("y", "s", decision=lx.probability())
    )
    assert found.item() == pytest.approx(lx.lxcim(y, p, decision=lx.probability()), rel=1e-7)


def test_what_a_missing_value_does():
    rows = pl.DataFrame({"y": [True, True, False, None], "s": [1.0, None, float("nan"), 2.0]})
    for metric in ("lxcim", "accuracy"):
        expression = getattr(expressions, metric)
        assert rows.select(expression("y", "s")).item() is None
        assert rows.select(expression("y", "s", nan_policy="omit")).item() == 1.0
        assert rows.select(expression("y", "s", nan_policy="abstain")).item() is None
        known = rows.filter(pl.col("y").is_not_null())
        abstained = known.select(expression("y", "s", nan_policy="abstain")).item()
        wanted = getattr(lx, metric)([1, 1, 0], [1.5, np.nan, np.nan], nan_policy="abstain")
        assert abstained == pytest.approx(wanted)


def test_bad_values_give_null():
    good = {"y": [1, 0, 1], "s": [1.0, -1.0, -2.0], "w": [1.0, 2.0, 0.0]}
    assert pl.DataFrame(good).select(expressions.lxcim("y", "s", weight="w")).item() == 1.0
    for column, values in (("y", [1, 2, 1]), ("y", [1, 0, -1]), ("w", [1.0, -2.0, 0.0])):
        rows = pl.DataFrame({**good, column: values})
        if values == [1, 0, -1]:
            rows = rows.with_columns(w=pl.lit(1.0))
        assert rows.select(expressions.lxcim("y", "s", weight="w")).item() is None


def test_words_and_expressions():
    rows = pl.DataFrame({"y": ["won", "lost", "won"], "a": [3.0, 1.0, 2.0], "b": [1.0, 2.0, 4.0]})
    expression = expressions.lxcim(pl.col("y"), pl.col("a") - pl.col("b"), positive="won")
    assert rows.select(expression).item() == lx.lxcim([1, 0, 1], [2.0, -1.0, -2.0])
    assert rows.select(expression.alias("mine")).columns == ["mine"]


def contexts(rows, expression):
    """Return the value of each group, from every context that has groups."""
    grouped = [
        rows.group_by("k").agg(expression),
        rows.lazy().group_by("k").agg(expression).collect(engine="streaming"),
        rows.select("k", expression.over("k")).unique(),
    ]
    return [dict(found.rows()) for found in grouped]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["tie", "no", "yes"])])
def test_labels_that_are_not_those_that_were_named_give_null(metric, dtype):
    rows = pl.DataFrame(
        {
            "y": pl.Series(["yes", "no", "yes", "no", "no", "yes", "no", "tie"], dtype=dtype),
            "s": [3.0, -2.0, -1.0, 0.5, 1.0, 2.0, -1.0, 0.5],
            "k": ["both", "both", "both", "none", "none", "tied", "tied", "tied"],
        }
    )
    make = getattr(expressions, metric)

    def value(at, **options):
        part = rows.filter(pl.col("k") == at).filter(pl.col("y").cast(pl.String) != "tie")
        truth = (part["y"].cast(pl.String) == "yes").to_numpy()
        wanted = getattr(lx, metric)(truth, part["s"].to_numpy())
        return None if np.isnan(wanted) else pytest.approx(wanted)

    null = dict.fromkeys(("both", "none", "tied"))
    for options, wanted in (
        ({"positive": "Yes"}, null),
        ({"positive": "Yes", "negative": "no"}, {**null, "none": value("none")}),
        ({"positive": "Yes", "negative": "no", "ties": "omit"}, {**null, "none": value("none")}),
        # An expression cannot know that another group has the word.
        ({"positive": "yes"}, {**null, "both": value("both")}),
        ({"positive": "yes", "negative": "no"}, {k: value(k) for k in ("both", "none")}),
        ({"positive": "yes", "negative": "no", "ties": "omit"}, {k: value(k) for k in null}),
    ):
        for found in contexts(rows, make("y", "s", **options)):
            assert found == {**null, **wanted}, options
    assert rows.select(make("y", "s", positive="Yes")).item() is None
    assert rows.select(make("y", "s", positive="yes")).item() is None


def test_missing_and_absent_labels_are_no_third_one():
    rows = pl.DataFrame(
        {
            "y": [1.0, 0.0, 1.0, 0.5, float("nan"), None],
            "s": [3.0, -2.0, -1.0, 0.5, 1.0, 2.0],
            "w": [1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
        }
    )
    options = {"positive": 1, "nan_policy": "omit"}
    wanted = lx.lxcim([1, 0, 1], [3.0, -2.0, -1.0])
    assert rows.select(expressions.lxcim("y", "s", weight="w", **options)).item() == wanted
    assert rows.select(expressions.lxcim("y", "s", **options)).item() is None
    named = expressions.lxcim("y", "s", negative=0, ties="omit", **options)
    assert rows.select(named).item() == wanted
    # 0/1 beside -1/+1 is bad, unless it has no weight.
    mixed = rows.with_columns(pl.Series("y", [1, 0, 1, -1, None, None]))
    assert mixed.select(expressions.lxcim("y", "s", weight="w", nan_policy="omit")).item() == wanted
    assert mixed.select(expressions.lxcim("y", "s", nan_policy="omit")).item() is None
    all_false = pl.DataFrame({"y": [False, False], "s": [1.0, -2.0]})
    assert all_false.select(expressions.accuracy("y", "s", positive=True)).item() == 0.5


@pytest.mark.parametrize("metric", METRICS)
def test_weights_of_any_size_against_exact_fractions(metric):
    import test_frames_wrong as odd

    rows = pl.from_arrow(odd.odd_table())
    for found in contexts(rows, getattr(expressions, metric)("y", "s", weight="w")):
        for name, weights in odd.ODD_WEIGHTS.items():
            wanted = odd.exact_values(weights)[metric]
            assert found[name] == pytest.approx(wanted, rel=1e-13, abs=1e-15), name


def test_thresholds_that_are_infinite_among_the_scores():
    rows = pl.DataFrame({"y": [1, 0], "s": pl.Series([1.0, 2.0], dtype=pl.Float32)})
    with pytest.raises(ValueError, match="threshold must be finite; found inf"):
        expressions.lxcim("y", "s", threshold=np.inf)
    assert rows.select(expressions.lxcim("y", "s", threshold=1e39)).item() is None


def test_empty_and_one_class():
    rows = pl.DataFrame({"y": [True, True], "s": [1.0, 2.0]})
    assert rows.select(expressions.auroc("y", "s")).item() is None
    assert rows.head(0).select(expressions.lxcim("y", "s")).item() is None


def test_what_an_expression_refuses():
    with pytest.raises(TypeError, match="no other decision function"):
        expressions.lxcim("y", "s", decision=lx.asymmetric(0.0, 1.0, 2.0))
    with pytest.raises(ValueError, match="nan_policy must be one of"):
        expressions.lxcim("y", "s", nan_policy="drop")
    with pytest.raises(ValueError, match="negative='no' needs positive="):
        expressions.lxcim("y", "s", negative="no")
    with pytest.raises(TypeError, match="decision must be a Decision"):
        expressions.lxcim("y", "s", decision="probability")


def votes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    rows = table(n, seed).with_columns(q=pl.Series(rng.integers(0, 6, n) / 5))
    return rows.with_columns(
        word=pl.when(q=1.0).then(pl.lit("A")).when(q=0.0).then(pl.lit("B")).otherwise(pl.lit("tie"))
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "options",
    [{}, {"threshold": 0.3}, {"decision": lx.confidence()}],
    ids=["0", "0.3", "confidence"],
)
def test_shares_of_votes_are_those_of_arrays(metric, weight, options):
    rows = votes()
    expression = getattr(expressions, metric)("q", "s", weight=weight, **options)
    for (key,), part in rows.partition_by("k", as_dict=True).items():
        wanted = reference(part.with_columns(y="q"), metric, weight, **options)
        found = rows.filter(k=key).select(expression).item()
        assert found == pytest.approx(float(wanted), rel=1e-12)
        over = rows.select("k", expression.over("k")).filter(k=key).item(0, 1)
        assert over == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("policy", ["raise", "omit", "abstain"])
def test_confidences_that_are_missing(policy):
    rows = votes().with_columns(s=pl.when(pl.int_range(pl.len()) % 7 > 0).then("s"))
    options = {"decision": lx.confidence(), "nan_policy": policy}
    for metric in METRICS:
        found = rows.select(getattr(expressions, metric)("q", "s", **options)).item()
        if policy == "raise":
            assert found is None
            continue
        score = rows["s"].fill_null(float("nan")).to_numpy()
        wanted = getattr(lx, metric)(rows["q"].to_numpy(), score, **options)
        assert found == pytest.approx(float(wanted), rel=1e-12)


def test_labels_on_neither_side_are_draws():
    rows = votes()
    sides = {"positive": "A", "negative": "B", "ties": "half"}
    share = rows.select(pl.when(word="A").then(1.0).when(word="B").then(0.0).otherwise(0.5))
    for metric in METRICS:
        found = rows.select(getattr(expressions, metric)("word", "s", **sides)).item()
        wanted = reference(rows.with_columns(y=share.to_series()), metric, None)
        assert found == pytest.approx(float(wanted), rel=1e-12)
    lacking = rows.filter(pl.col("word") != "B")
    assert lacking.select(expressions.lxcim("word", "s", **sides)).item() is None


@pytest.mark.parametrize("labels", [[0.5, 1.5], [0.5, -0.5], [0.5, -1.0], [0.3, 0.7]])
def test_labels_that_are_no_shares_beside_these_scores_give_null(labels):
    rows = pl.DataFrame({"y": [*labels, 1.0], "s": [1.0, 0.0, 1.0]})  # like labels: swapped
    assert rows.select(expressions.lxcim("y", "s")).item() is None
    other = rows.with_columns(s=pl.col("s") * 2)
    assert (other.select(expressions.lxcim("y", "s")).item() is None) == (labels != [0.3, 0.7])
