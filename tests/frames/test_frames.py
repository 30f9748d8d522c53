"""Every metric on every kind of frame against the metric of arrays on the same rows."""

import math
import re
from pathlib import Path

import engines
import numpy as np
import pytest

import lxcim_xp as lx

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402
from lxcim_xp.frames.engines import ENGINES, table  # noqa: E402

METRICS = ("lxcim", "accuracy", "audrc", "auroc")
EVERY = pytest.mark.parametrize("form", engines.forms())
QUICK = pytest.mark.parametrize("form", engines.forms(slow=False))
EAGER = pytest.mark.parametrize("form", engines.forms(lazy=False))
LAZY = pytest.mark.parametrize("form", engines.forms(lazy=True))
NAN = float("nan")


def metrics_for(form):
    """Return all metrics, or those that a slow engine answers quickest."""
    return ("lxcim", "auroc") if form.slow else METRICS


def predictions(n=600, seed=0, *, missing=True):
    """Return rows that hold what has gone wrong before, as lists by column.

    Ties of both signs, both zeros, infinities, a null key, weights of zero, mixed case, spaces and
    quotes in names; null and NaN scores, and null labels, in half of the groups.
    """
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(0.3, 1, n), 1)
    score[rng.random(n) < 0.02] = -0.0
    score[rng.random(n) < 0.01] = np.inf
    label = rng.random(n) < 1 / (1 + np.exp(-np.clip(score, -9, 9)))
    group = rng.integers(0, 6, n)
    words = np.asarray(["b", "A", "a b", None, "B", 'it\'s "q"'], dtype=object)
    columns = {
        "Label": list(map(bool, label)),
        "a Score": score.tolist(),
        "w'eight": rng.choice([0.0, 0.5, 1.0, 2.25], n).tolist(),
        "Key": words[group].tolist(),
        "key 2": rng.integers(-1, 2, n).tolist(),
    }
    if missing:
        for row in np.flatnonzero((group % 2 == 0) & (rng.random(n) < 0.1)):
            kind = rng.integers(3)
            if kind < 2:
                columns["a Score"][row] = (None, NAN)[kind]
            else:
                columns["Label"][row] = None
    return columns


def arrow(columns, **types):
    return pa.table({name: pa.array(values, types.get(name)) for name, values in columns.items()})


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def expected(columns, *, by, weight, nan_policy, metrics=METRICS, threshold=0.0, decision=None):
    """Return rows of the result from the metrics of arrays, group by group."""
    label, score = columns["Label"], columns["a Score"]
    weights = columns[weight] if weight else [1.0] * len(label)
    keys = list(zip(*(columns[name] for name in by), strict=True)) if by else [()] * len(label)
    order = sorted(set(keys), key=lambda key: [(p is None, "" if p is None else p) for p in key])
    rows = []
    for key in order:
        at = [row for row, found in enumerate(keys) if found == key]
        absent = [
            row for row in at if weights[row] and (is_missing(label[row]) or is_missing(score[row]))
        ]
        dropped = {row for row in absent if nan_policy == "omit" or is_missing(label[row])}
        kept = [row for row in at if row not in dropped and not is_missing(label[row])]
        row = dict(zip(by, key, strict=True))
        for metric in metrics:
            y = np.asarray([label[i] for i in kept], dtype=bool)
            s = np.asarray([NAN if is_missing(score[i]) else score[i] for i in kept], dtype=float)
            w = np.asarray([weights[i] for i in kept]) if weight else None
            policy = "raise" if nan_policy == "raise" and not absent else "abstain"
            value = getattr(lx, metric)(
                y, s, sample_weight=w, threshold=threshold, decision=decision, nan_policy=policy
            )
            fatal = absent if nan_policy == "raise" else dropped
            bad = nan_policy != "omit" and fatal
            row[metric] = None if bad or np.isnan(value) else float(value)
        row |= {"n": len(at), "n_missing": len(absent)}
        counted = dropped if nan_policy != "raise" else set(absent)
        row["weight"] = float(sum(weights[i] for i in at if i not in counted))
        rows.append(row)
    return rows


def assert_rows(found, wanted, tolerance=2e-14):
    assert [list(row) for row in found] == [list(row) for row in wanted]
    for row, want in zip(found, wanted, strict=True):
        for name, value in want.items():
            if isinstance(value, float) and row[name] is not None:
                assert row[name] == pytest.approx(value, rel=tolerance, abs=tolerance), (name, want)
            else:
                assert row[name] == value, (name, row, want)


@EVERY
@pytest.mark.parametrize("weight", [None, "w'eight"], ids=["uniform", "weighted"])
@pytest.mark.parametrize("nan_policy", ["raise", "omit", "abstain"])
def test_every_metric_is_that_of_arrays(form, weight, nan_policy):
    if form.slow and (weight is None or (form.name == "sqlframe" and nan_policy != "omit")):
        pytest.skip("slow, and almost the same query as another")
    columns = predictions()
    if nan_policy == "abstain":  # only a score can abstain
        columns["Label"] = [bool(label) for label in columns["Label"]]
    given = form.make(arrow(columns))
    options = {"label": "Label", "score": "a Score", "weight": weight, "by": ("Key", "key 2")}
    if nan_policy == "raise" and form.name in EAGER_NAMES:
        with pytest.raises(ValueError, match=r"(Label|a Score)' has \d+ missing .* in row \d+"):
            engines.rows_of(form, frames.evaluate(given, **options))
        return
    policy = {"nan_policy": nan_policy}
    policy["metrics"] = METRICS if nan_policy == "omit" else metrics_for(form)
    found = frames.evaluate(given, **options, **policy)
    wanted = expected(columns, by=("Key", "key 2"), weight=weight, **policy)
    assert_rows(engines.rows_of(form, found), wanted)


EAGER_NAMES = {form.name for form in engines.FORMS if not form.lazy} | {"dask"}


@EVERY
@pytest.mark.parametrize("by", [(), ("key 2",)], ids=["all", "by"])
@pytest.mark.parametrize(
    "decide", [{}, {"threshold": 0.3}, {"decision": lx.probability()}], ids=["0", "0.3", "p"]
)
def test_thresholds_and_probabilities(form, by, decide):
    if form.slow and ("threshold" in decide) == bool(by):
        pytest.skip("slow: the query in bins has the threshold, the other one probabilities")
    if form.slow and decide == {} and by:
        pytest.skip("slow, and tested above")
    columns = predictions(missing=False)
    score = np.asarray(columns["a Score"])
    if "decision" in decide:
        score = np.round(1 / (1 + np.exp(-score)), 2)
        score[::7] = 1 - score[::7]  # 0.07 and its computed complement tie, |p - 1/2| does not
        columns["a Score"] = score.tolist()
    found = frames.evaluate(
        form.make(arrow(columns)),
        label="Label",
        score="a Score",
        weight="w'eight",
        by=by,
        metrics=metrics_for(form),
        **decide,
    )
    wanted = expected(
        columns, by=by, weight="w'eight", nan_policy="raise", metrics=metrics_for(form), **decide
    )
    assert_rows(engines.rows_of(form, found), wanted)


@EVERY
def test_many_rows_in_several_chunks(form):
    # narwhals' over() on PyArrow was wrong only from two chunks on.
    n = 300_000
    rng = np.random.default_rng(1)
    score = rng.normal(0.5, 1, n)
    score[: n // 2] = np.round(score[: n // 2], 2)
    label = rng.random(n) < 1 / (1 + np.exp(-score))
    weight, key = rng.integers(0, 5, n).astype(float), rng.integers(0, 1000, n)
    table = pa.table({"label": label, "score": score, "weight": weight, "key": key})
    pieces = [table.slice(start, 50_000) for start in range(0, n, 50_000)]
    given = form.make(pa.concat_tables(pieces))
    metrics = ["lxcim"] if form.slow and form.name == "sqlframe" else METRICS
    options = {"label": "label", "score": "score", "weight": "weight", "by": "key"}
    found = engines.rows_of(form, frames.evaluate(given, **options, metrics=metrics))
    assert [row["key"] for row in found] == list(range(1000))
    for row in found[::37]:
        at = key == row["key"]
        for metric in metrics:
            value = getattr(lx, metric)(label[at], score[at], sample_weight=weight[at])
            assert row[metric] == pytest.approx(value, rel=1e-13)
    assert sum(row["weight"] for row in found) == weight.sum()


@EVERY
def test_a_result_has_one_dtype_on_every_engine(form):
    # A plain literal 1.0 is a decimal for SQLFrame.
    columns = predictions(missing=False)
    metrics = metrics_for(form)
    given = form.make(arrow(columns))
    found = frames.evaluate(given, label="Label", score="a Score", by="key 2", metrics=metrics)
    schema = nw.from_native(found).collect_schema()
    assert dict(schema) == {
        "key 2": nw.Int64,
        **dict.fromkeys(metrics, nw.Float64),
        "n": nw.Int64,
        "n_missing": nw.Int64,
        "weight": nw.Float64,
    }


@QUICK
def test_a_frame_stays_what_it_was(form):
    given = form.make(arrow(predictions(missing=False)))
    found = frames.lxcim(given, label="Label", score="a Score", by="Key")
    assert isinstance(given, type(found))  # SQLFrame's tables are a special kind of its frames
    if form.engine == "pandas":
        assert found.index.tolist() == list(range(len(found)))


@EVERY
def test_positive_zero_and_negative_zero_tie(form):
    columns = {"y": [1, 0, 1, 0], "s": [0.0, -0.0, 0.0, -0.0], "k": [0.0, -0.0, 0.0, 0.0]}
    given = form.make(arrow(columns))
    metrics = metrics_for(form)
    found = frames.evaluate(given, label="y", score="s", by="k", metrics=metrics)
    (row,) = engines.rows_of(form, found)
    assert [row[metric] for metric in metrics] == [0.5] * len(metrics)


@EVERY
def test_a_float32_score_meets_a_python_threshold(form):
    score = np.float32([0.3, 0.1, 0.7, -0.5, 0.2, 0.4])
    label = [True, True, True, False, False, True]
    table = pa.table({"y": label, "s": pa.array(score, pa.float32())})
    metrics = ("accuracy", *metrics_for(form))
    found = frames.evaluate(form.make(table), label="y", score="s", threshold=0.3, metrics=metrics)
    (row,) = engines.rows_of(form, found)
    for metric in metrics:
        assert np.float32(row[metric]) == getattr(lx, metric)(label, score, threshold=0.3)
    assert row["accuracy"] == 4.5 / 6  # the first score is undecided


@QUICK
def test_float32_probabilities_tie_with_their_complements(form):
    label = [True, True, True, False, False, True]
    probability = np.float32([0.07, 0.93, 0.5, 0.9, 1e-12, 0.3])
    probability[5] = 1 - probability[1]
    table = pa.table({"y": label, "s": pa.array(probability, pa.float32())})
    found = frames.lxcim(form.make(table), label="y", score="s", decision=lx.probability())
    (row,) = engines.rows_of(form, found)
    assert np.float32(row["lxcim"]) == lx.lxcim(label, probability, decision=lx.probability())


@EVERY
def test_labels_of_all_kinds_say_the_same(form):
    truth = np.asarray([1, 0, 1, 1, 0, 0, 1, 0], dtype=bool)
    score = [2.0, -1.0, -0.5, 1.0, 0.5, -3.0, 0.0, 0.25]
    kinds = {
        "bool": (pa.array(truth), None),
        "01": (pa.array(truth.astype(int)), None),
        "+-1": (pa.array(2 * truth.astype(int) - 1), None),
        "float": (pa.array(truth.astype(float)), None),
        "words": (pa.array(np.where(truth, "won", "lost").tolist()), "won"),
        "number": (pa.array(np.where(truth, 7, 3)), 7),
        "inverted": (pa.array(~truth), False),
    }
    if form.name not in ("duckdb", "ibis", "sqlframe", "pyspark"):
        words = pa.array(np.where(truth, "won", "lost").tolist())
        kinds["categories"] = (words.dictionary_encode(), "won")
    if form.slow:
        kinds = {name: kinds[name] for name in ("+-1", "words")}
    metrics = ["lxcim"] if form.lazy else METRICS
    for label, positive in kinds.values():
        given = form.make(pa.table({"y": label, "s": score}))
        (row,) = engines.rows_of(
            form, frames.evaluate(given, label="y", score="s", positive=positive, metrics=metrics)
        )
        for metric in metrics:
            assert row[metric] == pytest.approx(getattr(lx, metric)(truth, score), rel=1e-15)


@QUICK
def test_missing_labels_are_not_negative(form):
    # On classic pandas a missing label compares as "not positive".
    for label, positive in (
        (pa.array([True, None, False, True]), None),
        (pa.array([1.0, NAN, 0.0, 1.0]), None),
        (pa.array([1, None, 0, 1]), 1),
        (pa.array(["won", None, "lost", "won"]), "won"),
    ):
        given = form.make(pa.table({"y": label, "s": [1.0, 2.0, 3.0, 4.0]}))
        (row,) = engines.rows_of(
            form,
            frames.evaluate(given, label="y", score="s", positive=positive, nan_policy="omit"),
        )
        assert (row["n"], row["n_missing"], row["weight"]) == (4, 1, 3.0)
        assert row["lxcim"] == pytest.approx(lx.lxcim([1, 0, 1], [1.0, 3.0, 4.0]), rel=1e-15)


@EVERY
def test_empty_frames(form):
    table = arrow(predictions(missing=False)).slice(0, 0)
    given = form.make(table)
    options = {"label": "Label", "score": "a Score", "weight": "w'eight"}
    if not form.slow:
        assert engines.rows_of(form, frames.evaluate(given, **options, by="Key")) == []
    options["metrics"] = metrics_for(form)
    (row,) = engines.rows_of(form, frames.evaluate(given, **options))
    assert row == {**dict.fromkeys(metrics_for(form)), "n": 0, "n_missing": 0, "weight": 0.0}


@QUICK
def test_groups_without_a_usable_row_stay(form):
    columns = {"y": [1, 0, 1, 1], "s": [None, NAN, 1.0, -2.0], "k": ["a", "a", "b", "b"]}
    given = form.make(arrow(columns))
    found = frames.evaluate(given, label="y", score="s", by="k", nan_policy="omit")
    first, second = engines.rows_of(form, found)
    assert first == {"k": "a", **dict.fromkeys(METRICS), "n": 2, "n_missing": 2, "weight": 0.0}
    assert (second["auroc"], second["accuracy"], second["lxcim"]) == (None, 0.5, 0.25)


@LAZY
def test_bad_values_give_null_where_nothing_can_raise(form):
    if form.name == "dask":
        pytest.skip("Dask raises when it computes")
    if form.slow and form.name == "sqlframe":
        pytest.skip("slow, and the query of DuckDB")
    columns = {
        "y": [1, 0, 2, 0, -1, 0, 1, 0],
        "s": [1.0, -1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        "w": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0],
        "k": ["good", "good", "label", "label", "mixed", "mixed", "weight", "weight"],
    }
    given = form.make(arrow(columns))
    metrics = ["lxcim", "auroc"]
    found = frames.evaluate(given, label="y", score="s", weight="w", by="k", metrics=metrics)
    rows = {row["k"]: row for row in engines.rows_of(form, found)}
    assert rows["good"]["lxcim"] == 1.0
    for group in ("label", "mixed", "weight"):
        assert [rows[group][metric] for metric in metrics] == [None] * 2


@LAZY
def test_a_lazy_frame_is_not_collected(form, monkeypatch):
    given = form.make(arrow(predictions()))

    def refuse(*args, **options):
        raise AssertionError("a lazy frame was collected")

    monkeypatch.setattr(nw.LazyFrame, "collect", refuse)
    for name in ("collect", "compute", "toPandas", "fetchall", "execute"):
        if callable(getattr(type(given), name, None)):
            monkeypatch.setattr(type(given), name, refuse, raising=False)
    frames.lxcim(given, label="Label", score="a Score", by="Key")


def test_names_inside_a_query_are_lower_case_and_prefixed():
    # Some engines fold case: two names that differ in case only would be one column.
    text = "".join(
        (Path(frames.__file__).parent / f"{module}.py").read_text()
        for module in ("query", "expressions", "sketches")
    )
    names = set(re.findall(r"__lx_\w+", text))
    assert len(names) > 20
    assert all(name == name.lower() for name in names)


def test_the_table_of_the_docs_is_the_declaration():
    page = (Path(__file__).parents[2] / "docs" / "frames.md").read_text()
    assert table() in page


def test_the_tests_run_on_every_engine_that_is_declared():
    declared = {(engine.name, engine.lazy) for engine in ENGINES}
    assert declared == {(form.engine, form.lazy) for form in engines.FORMS}
    assert all(engine.metrics == METRICS and engine.weighted for engine in ENGINES)
