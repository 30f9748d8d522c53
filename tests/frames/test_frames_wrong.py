"""The same wrong word, key, weight and name on eager and lazy frames: never a plausible number.

What is wrong raises where values are at hand, and gives null where a query runs; what only looks
odd gives the numbers of arrays, or of exact fractions.
"""

from fractions import Fraction

import engines
import numpy as np
import oracle
import pytest
import test_frames as given_rows

import lxcim_xp as lx
from lxcim_xp._samples.errors import BadValue

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402

EVERY = pytest.mark.parametrize("form", engines.forms())
QUICK = pytest.mark.parametrize("form", engines.forms(slow=False))
SAMPLES = pytest.mark.parametrize(
    "form", [p for p in engines.forms() if p.values[0].name in given_rows.EAGER_NAMES]
)
RAISING = given_rows.EAGER_NAMES
BOUNDS = ("lxcim_low", "lxcim", "lxcim_high", "accuracy", "audrc_low", "audrc", "audrc_high")

WORDS = ["yes", "no", "yes", "no", "no", "no"]
THREE = ["yes", "no", "yes", "tie", "no", "yes"]
SCORES = [3.0, -2.0, -1.0, 0.5, 1.0, -2.0]
KEYS = [1, 1, 1, 2, 2, 2]


def evaluated(form, columns, **options):
    given = form.make(pa.table(columns))
    metrics = given_rows.metrics_for(form)
    found = frames.evaluate(given, label="y", score="s", metrics=metrics, **options)
    return [[row[name] for name in metrics] for row in engines.rows_of(form, found)]


def sketched(form, columns, **options):
    given = form.make(pa.table(columns))
    state = frames.sketch(given, label="y", score="s", **options)
    found = frames.sketch_bounds(state, by=options.get("by", ()), collect=form.lazy)
    rows = engines.rows_of(form._replace(read=lambda result: result), found)
    return [[row[name] for name in BOUNDS] for row in rows]


def assert_refused(form, run, message, columns, **options):
    """Assert an error where values are at hand, and nothing but null elsewhere."""
    if form.name in RAISING:
        with pytest.raises(ValueError, match=message):
            run(form, columns, **options)
    else:
        assert {value for row in run(form, columns, **options) for value in row} == {None}


WRONG_WORDS = {
    "a slip": (WORDS, {"positive": "Yes"}, "positive='Yes' does not occur .* holds no, yes"),
    "third": (THREE, {"positive": "yes"}, "holds no, tie, yes, .* Pass negative= .* ties='omit'"),
    "neither": (
        THREE,
        {"positive": "yes", "negative": "no"},
        r"holds 'tie' in row \d, which is neither .* Pass ties='omit'",
    ),
    "a slip in the other": (
        THREE,
        {"positive": "yes", "negative": "No", "ties": "omit"},
        "negative='No' does not occur",
    ),
    "numbers": ([1, 2, 3, 1, 2, 1], {"positive": 1}, "holds 1, 2, 3, and positive=1 leaves open"),
    "halves": ([0.0, 0.5, 1.0, 1.0, 0.0, 1.0], {"positive": 1}, "holds 0.0, 0.5, 1.0"),
    "a number": ([0, 1, 0, 1, 0, 1], {"positive": 7}, "positive=7 does not occur"),
    "too large": ([0, 1, 0, 1, 0, 1], {"positive": 2**70}, "positive=.* does not occur"),
    "below zero": (
        pa.array([0, 1, 0, 1, 0, 1], pa.uint8()),
        {"positive": -1},
        "positive=-1.* does not occur",
    ),
    "half": ([0, 1, 0, 1, 0, 1], {"positive": 0.5}, "positive=0.5 does not occur"),
    "no number": ([0, 1, 0, 1, 0, 1], {"positive": float("nan")}, "positive=nan does not occur"),
    "a blank": (WORDS, {"positive": "yes "}, "positive='yes ' does not occur"),
}


@EVERY
@pytest.mark.parametrize("by", [(), "k"], ids=["all", "by"])
@pytest.mark.parametrize("run", [evaluated, sketched])
@pytest.mark.parametrize("wrong", WRONG_WORDS)
def test_labels_that_are_not_those_that_were_named(form, run, by, wrong):
    if form.slow and (wrong not in ("a slip", "third") or (run is sketched) == bool(by)):
        pytest.skip("slow, and almost the same query as another")
    labels, named, message = WRONG_WORDS[wrong]
    columns = {"y": labels, "s": SCORES, "k": KEYS}
    assert_refused(form, run, message, columns, by=by, **named)


@EVERY
def test_a_group_without_the_word_that_others_have(form):
    columns = {"y": WORDS, "s": SCORES, "k": KEYS}
    found = evaluated(form, columns, by="k", positive="yes")
    metrics = given_rows.metrics_for(form)
    for row, at in zip(found, (slice(3), slice(3, 6)), strict=True):
        for value, name in zip(row, metrics, strict=True):
            wanted = getattr(lx, name)([word == "yes" for word in WORDS[at]], SCORES[at])
            assert value == (None if np.isnan(wanted) else pytest.approx(wanted, rel=1e-14))


@EVERY
@pytest.mark.parametrize("kind", ["words", "numbers", "categories"])
def test_ties_that_are_left_out(form, kind):
    if kind == "categories" and form.name in ("duckdb", "ibis", "sqlframe", "pyspark"):
        pytest.skip("their tests have no categories")
    if form.slow and kind == "numbers":
        pytest.skip("slow, and the query of words")
    labels = pa.array({"numbers": [1.0, 0.0, 1.0, 0.5, 0.0, 1.0]}.get(kind, THREE))
    sides = {"positive": 1, "negative": 0} if kind == "numbers" else {}
    sides = sides or {"positive": "yes", "negative": "no"}
    if kind == "categories":
        labels = labels.dictionary_encode()
    # A tie is neither missing nor counted, with or without a score.
    columns = {"y": labels, "s": [*SCORES[:3], None, *SCORES[4:]], "k": [1, 1, 1, 1, 2, 2]}
    given = form.make(pa.table({name: pa.array(values) for name, values in columns.items()}))
    metrics = given_rows.metrics_for(form)
    options = {"label": "y", "score": "s", "by": "k", "ties": "omit", **sides}
    rows = engines.rows_of(form, frames.evaluate(given, metrics=metrics, **options))
    for row, at in zip(rows, ([0, 1, 2], [4, 5]), strict=True):
        assert (row["n"], row["n_missing"], row["weight"]) == (len(at), 0, len(at))
        for name in metrics:
            truth = [THREE[place] == "yes" for place in at]
            wanted = getattr(lx, name)(truth, [SCORES[place] for place in at])
            assert row[name] == pytest.approx(wanted, rel=1e-14)


@QUICK
def test_a_group_of_ties_stays_without_numbers(form):
    columns = {"y": THREE, "s": SCORES, "k": [1, 1, 1, 2, 1, 1]}
    options = {"by": "k", "positive": "yes", "negative": "no", "ties": "omit"}
    assert set(evaluated(form, columns, **options)[1]) == {None}
    assert set(sketched(form, columns, **options)[1]) == {None}


@QUICK
def test_a_label_of_weight_zero_is_absent_whatever_it_says(form):
    columns = {"y": THREE, "s": SCORES, "w": [1.0, 1.0, 1.0, 0.0, 1.0, 2.0]}
    ((value, *_),) = evaluated(form, columns, weight="w", positive="yes")
    truth = [word == "yes" for word in THREE]
    assert value == pytest.approx(lx.lxcim(truth, SCORES, sample_weight=columns["w"]), rel=1e-14)


@QUICK
@pytest.mark.parametrize(
    ("labels", "named"),
    [
        (pa.array([1, 0, 1, 0, 0, 0]), {"positive": True, "negative": False}),
        (pa.array([1, 0, 1, 0, 0, 0]), {"positive": 1.0}),
        (pa.array([1, 0, 1, 0, 0, 0], pa.uint8()), {"positive": np.int64(1)}),
        (pa.array([1.0, 0.0, 1.0, 0.0, 0.0, 0.0]), {"positive": True}),
        (pa.array([0.1, 0.0, 0.1, 0.0, 0.0, 0.0], pa.float32()), {"positive": 0.1}),
        (pa.array(["", "no", "", "no", "no", "no"]), {"positive": ""}),
    ],
    ids=["bool", "float", "narrow", "bool in floats", "float32", "empty"],
)
def test_a_label_of_another_type_that_is_the_same(form, labels, named):
    ((value, *_),) = evaluated(form, {"y": labels, "s": SCORES}, **named)
    assert value == pytest.approx(lx.lxcim([1, 0, 1, 0, 0, 0], SCORES), rel=1e-14)


@QUICK
def test_missing_labels_are_no_third_one(form):
    columns = {"y": ["yes", None, "no", "yes"], "s": [1.0, 2.0, 3.0, 4.0]}
    ((value, *_),) = evaluated(form, columns, positive="yes", nan_policy="omit")
    assert value == pytest.approx(lx.lxcim([1, 0, 1], [1.0, 3.0, 4.0]), rel=1e-14)
    columns["y"] = [None] * 3 + ["yes"]
    ((value, *_),) = evaluated(form, columns, positive="yes", nan_policy="omit")
    assert value == 1.0


@QUICK
def test_sides_that_do_not_go_together(form):
    given = form.make(pa.table({"y": WORDS, "s": SCORES, "n": [0, 1, 0, 1, 0, 1]}))
    for wrong, kind, message in (
        ({"negative": "no"}, ValueError, "negative='no' needs positive= beside it"),
        ({"positive": "no", "negative": "no"}, ValueError, "must differ; found 'no' for both"),
        ({"positive": "yes", "ties": "omit"}, ValueError, "Pass positive= and negative="),
        ({"positive": "yes", "ties": "half"}, ValueError, "Pass positive= and negative="),
        ({"positive": "yes", "ties": "draw"}, ValueError, r"ties must be one of .*'half'"),
        ({"positive": "yes", "negative": 0}, TypeError, "negative=0 was given"),
    ):
        with pytest.raises(kind, match=message):
            frames.lxcim(given, label="y", score="s", **wrong)
    found = frames.lxcim(given, label="n", score="s", positive=np.int64(1), negative=np.int8(0))
    assert len(engines.rows_of(form, found)) == 1


LABELS = [True, False, True, True, False, False, True, False]
PLACES = [2.0, -1.0, -0.5, 1.0, 0.5, -3.0, 1.0, 0.5]
SMALL = [1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 1.0, 4.0]
ODD_WEIGHTS = {
    **{f"{unit:g}": [unit * w for w in SMALL] for unit in (1e-300, 1e-170, 1.0, 1e155, 1e300)},
    "in turn": [1e200, 1e-200] * 4,
    "light positives": [1e-300 if label else 1e300 for label in LABELS],
    "light negatives": [1e200 if label else 1e-200 for label in LABELS],
    "light all": [1e-308 if label else 1e-290 for label in LABELS],
    "spread": [1e300, 1e-300, 1e10, 1e-10, 1e150, 1e-150, 1e290, 1e-20],
}


def exact_values(weights):
    m, w = oracle.margins(LABELS, PLACES), [Fraction(weight) for weight in weights]
    return {
        "lxcim": float(oracle.lxcim(m, w)),
        "accuracy": float(oracle.accuracy(m, w)),
        "audrc": float(oracle.audrc(m, w)),
        "auroc": float(oracle.auroc(LABELS, [Fraction(place) for place in PLACES], w)),
    }


def odd_table():
    """Return one group for each kind of weights, so that they lie beside each other."""
    return pa.table(
        {
            "y": LABELS * len(ODD_WEIGHTS),
            "s": PLACES * len(ODD_WEIGHTS),
            "w": [weight for weights in ODD_WEIGHTS.values() for weight in weights],
            "k": [name for name in ODD_WEIGHTS for _ in LABELS],
        }
    )


@EVERY
@pytest.mark.parametrize("threshold", [0.0, 0.125], ids=["0", "0.125"])
def test_weights_of_any_size_against_exact_fractions(form, threshold):
    if form.slow and threshold:
        pytest.skip("slow, and almost the same query as another")
    metrics = ("auroc",) if threshold else given_rows.METRICS
    options = {"label": "y", "score": "s", "weight": "w", "by": "k", "threshold": threshold}
    found = frames.evaluate(form.make(odd_table()), metrics=metrics, **options)
    rows = engines.rows_of(form, found)
    assert [row["k"] for row in rows] == sorted(ODD_WEIGHTS)
    for row in rows:
        wanted = exact_values(ODD_WEIGHTS[row["k"]])
        for name in metrics:
            assert row[name] == pytest.approx(wanted[name], rel=1e-13, abs=1e-15), (name, row["k"])


@QUICK
def test_the_sketch_of_weights_of_any_size_has_the_exact_value_inside(form):
    state = frames.sketch(form.make(odd_table()), label="y", score="s", weight="w", by="k")
    found = frames.sketch_bounds(state, by="k", collect=form.lazy)
    for row in engines.rows_of(form._replace(read=lambda result: result), found):
        wanted = exact_values(ODD_WEIGHTS[row["k"]])
        assert row["lxcim_low"] - 1e-13 <= wanted["lxcim"] <= row["lxcim_high"] + 1e-13
        assert row["accuracy"] == pytest.approx(wanted["accuracy"], rel=1e-13, abs=1e-15)


@SAMPLES
@pytest.mark.parametrize("kind", ["cumulative_accuracy", "roc"])
def test_curves_of_weights_of_any_size_end_where_they_should(form, kind):
    found = frames.curve(
        form.make(odd_table()), label="y", score="s", weight="w", by="k", kind=kind
    )
    last = {row["k"]: list(row.values())[1:3] for row in engines.rows_of(form, found)}
    for name, weights in ODD_WEIGHTS.items():
        end = 1.0 if kind == "roc" else exact_values(weights)["accuracy"]
        assert last[name] == pytest.approx([1.0, end], rel=1e-13)


@QUICK
def test_sums_of_weights_that_are_infinite_or_have_no_digits(form):
    for weight in (1e308, 5e-324):
        columns = {"y": LABELS, "s": PLACES, "w": [weight] * 8}
        wanted = exact_values(columns["w"])
        ((*found,),) = evaluated(form, columns, weight="w")
        for value, name in zip(found, given_rows.METRICS, strict=True):
            if form.name in RAISING:
                assert value == pytest.approx(wanted[name], rel=1e-13)
            else:
                assert value is None


@EVERY
def test_what_is_all_right_or_all_wrong_is_within_its_range(form):
    rng = np.random.default_rng(0)
    n = 1000
    key = np.repeat(np.arange(n // 4), 4)
    columns = {
        "y": key % 2 == 1,  # odd groups are all wrong, even ones all right
        "s": -rng.uniform(0.1, 3.0, n),
        "w": rng.integers(1, 9, n) / 10,
        "k": key,
    }
    for place, row in enumerate(evaluated(form, columns, weight="w", by="k")):
        for value in row[: 1 if form.slow else 3]:
            assert 0.0 <= value <= 1.0
            assert value == pytest.approx(1 - place % 2, abs=1e-15)


NAMES = ["*", "a.b", "a`b", 'a"b', "it's", "COLUMNS(*)", "^k.*$", "^.*$", "__lx_w", "__lx_k0"]
NAMES += ["order", "a,b", "é", "[x]", "$1", "%s", "{x}", "Key", "`q`", "key 2", " ", "COLUMNS"]


@EVERY
def test_columns_by_any_name(form):
    # DuckDB and polars read * as all columns, polars ^k.*$ as a pattern, Spark a.b as a field.
    names = NAMES[:4] if form.slow else NAMES
    values = {"k2": [5, 5, 6, 6], "y": [1, 0, 1, 1], "s": [1.0, 2.0, -1.0, 3.0], "w": [1, 2, 1, 1]}
    for name in names:
        keyed = {**values, name: ["u", "v", "u", "v"]}
        given = form.make(pa.table(keyed))
        options = {"label": "y", "score": "s", "weight": "w"}
        rows = engines.rows_of(form, frames.lxcim(given, **options, by=name))
        wanted = [
            lx.lxcim(*(values[part][start::2] for part in "ys"), sample_weight=weight)
            for start, weight in ((0, [1, 1]), (1, [2, 1]))
        ]
        assert [row[name] for row in rows] == ["u", "v"]
        assert [row["lxcim"] for row in rows] == pytest.approx(wanted)
        if form.slow:
            continue
        state = frames.sketch(given, **options, by=name)
        state = frames.merge_sketches(state, state, by=name)
        bounds = frames.sketch_bounds(state, by=name, metrics="lxcim", collect=form.lazy)
        rows = engines.rows_of(form._replace(read=lambda result: result), bounds)
        assert [(row[name], row["lxcim"]) for row in rows] == [
            ("u", pytest.approx(wanted[0])),
            ("v", pytest.approx(wanted[1])),
        ]
        (row,) = engines.rows_of(
            form, frames.lxcim(given, label=name, positive="u", score="s", weight="w")
        )
        truth = [1, 0, 1, 0]
        assert row["lxcim"] == pytest.approx(
            lx.lxcim(truth, values["s"], sample_weight=values["w"])
        )
        for part in ("score", "weight"):
            old = {"score": "s", "weight": "w"}[part]
            renamed = {name if key == old else key: column for key, column in values.items()}
            given = form.make(pa.table(renamed))
            (row,) = engines.rows_of(form, frames.lxcim(given, **{**options, part: name}))
            assert row["lxcim"] == pytest.approx(
                lx.lxcim(values["y"], values["s"], sample_weight=values["w"])
            )


@EVERY
def test_columns_of_all_names_keep_them(form):
    # SQLFrame folds case, and quotes what is no word.
    values = {"y": [1, 0, 1, 1], "s": [1.0, 2.0, -1.0, 3.0]}
    keys = {name: ["u", "v", "u", "v"] for name in NAMES}
    given = form.make(pa.table({**values, **keys}))
    found = frames.lxcim(given, label="y", score="s", by=NAMES)
    state = frames.sketch(given, label="y", score="s", by=NAMES)
    merged = frames.merge_sketches(state, by=NAMES)
    for result in (found, state, merged):
        assert nw.from_native(result).collect_schema().names()[: len(NAMES)] == NAMES
    bounds = frames.sketch_bounds(merged, by=NAMES, metrics="lxcim", collect=form.lazy)
    in_memory = form._replace(read=lambda result: result)
    for rows in (engines.rows_of(form, found), engines.rows_of(in_memory, bounds)):
        assert [[row[name] for name in NAMES] for row in rows] == [
            [word] * len(NAMES) for word in "uv"
        ]
        assert [row["lxcim"] for row in rows] == [
            pytest.approx(lx.lxcim(values["y"][start::2], values["s"][start::2]))
            for start in (0, 1)
        ]


@EVERY
@pytest.mark.parametrize("part", ["label", "score", "weight", "by"])
def test_columns_whose_names_differ_in_case_alone(form, part):
    # Ibis takes the first of them for the other one.
    if form.name in ("duckdb", "sqlframe"):
        pytest.skip("DuckDB itself gives one of them another name")
    names = {"label": "y", "score": "s", "weight": "w", "by": "k"}
    values = {"y": [1, 0, 1, 1], "s": [1.0, 2.0, -1.0, 3.0], "w": [1, 2, 1, 1], "k": [1, 1, 1, 1]}
    twin = names[part]
    given = form.make(pa.table({twin.upper(): [0, 0, 0, 1], **values}))
    if form.name in ("ibis", "pyspark"):
        with pytest.raises(ValueError, match=f"{part}='{twin}' may be the column '{twin.upper()}'"):
            frames.lxcim(given, **names)
        return
    (row,) = engines.rows_of(form, frames.lxcim(given, **names))
    wanted = lx.lxcim(values["y"], values["s"], sample_weight=values["w"])
    assert row["lxcim"] == pytest.approx(wanted, rel=1e-14)


@QUICK
def test_no_keys_and_none_are_the_same(form):
    columns = {"y": WORDS, "s": SCORES}
    found = [evaluated(form, columns, by=by, positive="yes") for by in ((), None)]
    assert found[0] == found[1]
    with pytest.raises(TypeError, match="by must be the name of a column; found int"):
        evaluated(form, columns, by=5, positive="yes")


@SAMPLES
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()], ids=str)
def test_missing_clusters_are_not_one_cluster(form, kind):
    clusters = ["1", "1", None, "2", None, "3", "3", "4"]
    clusters = pa.array(clusters).cast(kind)
    columns = {"y": LABELS, "s": PLACES, "c": clusters}
    options = {"label": "y", "score": "s", "groups": "c", "interval": 0.9, "metrics": "lxcim"}
    with pytest.raises(ValueError, match=r"groups column 'c' has 2 missing values, .* of its own"):
        engines.rows_of(form, frames.evaluate(form.make(pa.table(columns)), **options))
    kept = [place for place in range(8) if place not in (2, 4)]
    found = frames.evaluate(form.make(pa.table(columns)), **options, nan_policy="omit")
    (row,) = engines.rows_of(form, found)
    wanted = lx.interval(
        [LABELS[place] for place in kept],
        [PLACES[place] for place in kept],
        level=0.9,
        groups=[clusters[place].as_py() for place in kept],
    )
    assert (row["lxcim"], row["lxcim_se"]) == pytest.approx(
        (wanted.estimate, wanted.standard_error)
    )
    assert row["n_missing"] == 2
    given = form.make(pa.table({**columns, "t": PLACES}))
    with pytest.raises(ValueError, match="groups column 'c' has 2 missing values"):
        engines.rows_of(form, frames.compare(given, label="y", scores=["s", "t"], groups="c"))


@EVERY
def test_thresholds_that_are_infinite_among_the_scores(form):
    scores = pa.array(np.float32([1.0, -np.inf, np.inf]))
    given = form.make(pa.table({"y": [1, 0, 1], "s": scores, "d": [1.0, -np.inf, np.inf]}))
    for score, threshold in (("d", np.inf), ("d", -np.inf), ("s", 1e39), ("s", -np.inf)):
        for run in (frames.lxcim, frames.sketch):
            with pytest.raises(ValueError, match="threshold must be finite among the scores"):
                run(given, label="y", score=score, threshold=threshold)
        with pytest.raises(ValueError, match="threshold must be finite"):
            frames.lxcim(given, label="y", score=score, decision=lx.absolute(threshold))


@pytest.mark.filterwarnings("error:all scores lie in:UserWarning")
@pytest.mark.parametrize("form", engines.forms(lazy=False))
@pytest.mark.parametrize("by", [(), "k"], ids=["all", "by"])
def test_probabilities_at_the_default_threshold_warn(form, by):
    columns = {"y": [0, 1, 1, 0], "s": [0.1, 0.9, 0.8, 0.3], "t": [0.2, 0.7, 0.4, 0.1]}
    given = form.make(pa.table({**columns, "k": [1, 1, 2, 2]}))
    one, two = {"score": "s"}, {"scores": ["s", "t"]}
    deciding = [
        (frames.lxcim, one),
        (frames.evaluate, one),
        (frames.sketch, one),
        (frames.curve, one),
        (frames.compare, two),
    ]
    ordering = [
        (frames.auroc, one),
        (frames.curve, {**one, "kind": "roc"}),
        (frames.compare, {**two, "metric": "auroc"}),
    ]
    for run, options in deciding:
        options = {"label": "y", "by": by, **options}
        with pytest.warns(UserWarning, match="all scores lie in") as found:
            run(given, **options)
        assert {each.filename for each in found} == {__file__}
        run(given, **options, threshold=0.0)
        run(given, **options, decision=lx.probability())
    for run, options in ordering:
        run(given, label="y", by=by, **options)
    frames.lxcim(form.make(pa.table({**columns, "s": [-0.1, 0.9, 0.8, 0.3]})), label="y", **one)


@QUICK
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_exchange_leaves_lxcim_as_it_is(form, dtype):
    # The mirror images of one-decimal scores are rounded, and must tie with them all the same.
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 2, 200), rng.integers(0, 10, 200).astype(dtype) / 10
    score = np.append(score.astype(dtype), np.asarray([0.175, 0.175], dtype=dtype))
    label = np.append(label, [0, 1])
    other = lx.exchange(label, score, np.arange(202) % 2 == 0, threshold=0.3)
    (before, *_), (after, *_) = (
        evaluated(form, {"y": np.asarray(y), "s": np.asarray(s)}, threshold=0.3)[0]
        for y, s in ((label, score), other[:2])
    )
    assert before == pytest.approx(after, rel=1e-14)
    assert before == pytest.approx(float(lx.lxcim(label, score, threshold=0.3)), rel=1e-6)


@QUICK
def test_decisions_that_are_none(form):
    given = form.make(pa.table({"y": [1, 0, 1], "s": [0.1, 0.2, 0.9]}))
    for wrong in ("probability", lx.probability):
        with pytest.raises(TypeError, match=r"decision must be a Decision; .* probability\(\)"):
            frames.lxcim(given, label="y", score="s", decision=wrong)
    found = frames.lxcim(given, label="y", score="s", threshold=np.float32(0.5))
    assert engines.rows_of(form, found)[0]["lxcim"] == lx.lxcim(
        [1, 0, 1], [0.1, 0.2, 0.9], threshold=0.5
    )


def test_wide_integers_of_polars():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame({"y": [1, 0, 1, 1], "s": [1.0, 2.0, -1.0, 3.0]})
    key = pl.Series("k", [2**100, 1, 2**100, 1], dtype=pl.Int128)
    found = frames.lxcim(rows.with_columns(key), label="y", score="s", by="k")
    assert found["k"].to_list() == [1, 2**100]
    assert found["lxcim"].to_list() == [lx.lxcim([0, 1], [2.0, 3.0]), lx.lxcim(1, [1.0, -1.0])]
    rows = rows.with_columns(pl.col("y").cast(pl.Int128))
    assert frames.lxcim(rows, label="y", score="s")["lxcim"].item() == lx.lxcim(
        [1, 0, 1, 1], [1.0, 2.0, -1.0, 3.0]
    )


@pytest.mark.parametrize("start", [0, 2**63 - 2, 2**64 - 4])
@pytest.mark.parametrize("step", [1, -(2**62)])
def test_keys_may_be_unsigned_and_long(start, step):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    ids = [(start + i * step) % 2**64 for i in (0, 1, 2, 3)]
    rows = {"y": [1, 0, 1, 0], "s": [1.0, 2.0, -1.0, -3.0], "k": np.array(ids, dtype="uint64")}
    expected = [1.0 if i in (0, 3) else 0.0 for i in np.argsort(rows["k"])]
    for given in (pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)):
        found = frames.lxcim(given, label="y", score="s", by="k")
        assert np.asarray(found["k"]).tolist() == sorted(ids)
        assert np.asarray(found["lxcim"]).tolist() == expected


def test_keys_that_cannot_be_told_apart_or_put_in_order():
    pd = pytest.importorskip("pandas")
    rows = {"y": [1, 0, 1, 1], "s": [1.0, 2.0, -1.0, 3.0]}
    words = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    for given in (
        pd.DataFrame(rows).assign(k=pd.Series(["a", "b", "a", None], dtype=words)),
        pd.DataFrame(rows).assign(k=pd.Series([1, "b", 1, None], dtype=object)),
        pd.DataFrame(rows).assign(k=pd.Series([[1], [2], [1], None], dtype=object)),
        pa.table({**rows, "k": [{"a": 1}, {"a": 2}, {"a": 1}, None]}),
        pa.table({**rows, "k": [[1], [2], [1], None]}),
    ):
        with pytest.raises(TypeError, match=r"by.*'k'.* cannot be .* Cast .* to words first"):
            frames.lxcim(given, label="y", score="s", by="k")


ODD_NAME = "{place} of {0} }{"  # which is no text of ours


def complaint(table, **options):
    with pytest.raises(BadValue) as caught:
        frames.lxcim(table, **options)
    return caught.value


def test_a_frame_speaks_of_columns_and_rows():
    table = pa.table({"won": [1, 2], "s": [1.0, 2.0], "w": [1.0, -1.0], "u": [1, 0]})
    error = complaint(table, label="won", score="s")
    assert (error.argument, error.position, error.row) == ("label column 'won'", None, 1)
    assert str(error) == (
        "label column 'won' must hold 0/1 or -1/+1; found 2 in row 1. Say which label is positive "
        "with positive=."
    )
    error = complaint(table, label="u", score="s", weight="w")
    assert str(error) == (
        "weight column 'w' must be finite and not negative; found -1 in row 1. Drop such rows or "
        "give them weight 0."
    )


def test_the_names_of_users_are_no_texts():
    table = pa.table({ODD_NAME: [1, 2, 0], "s": [1.0, 2.0, 3.0], "k": [ODD_NAME, "a", "b"]})
    given = {"score": "s", "ties": "error"}
    for error in (
        complaint(table, label=ODD_NAME, **given),
        complaint(table, label="k", positive=ODD_NAME, **given),
        complaint(table, label="k", positive="a", negative=ODD_NAME, **given),
        complaint(table, label="k", positive=f"{ODD_NAME}!", **given),
    ):
        assert repr(ODD_NAME)[1:-1] in str(error)
