"""Sketches of frames: what is exact is inside the bounds, on every engine, in any parts."""

import math

import engines
import numpy as np
import pytest
import test_frames as given_rows

import lxcim_xp as lx

pa = pytest.importorskip("pyarrow")
nw = pytest.importorskip("narwhals.stable.v2")

from lxcim_xp import frames  # noqa: E402
from lxcim_xp.frames import sketches  # noqa: E402

EVERY = pytest.mark.parametrize("form", engines.forms())
QUICK = pytest.mark.parametrize("form", engines.forms(slow=False))
EAGER = pytest.mark.parametrize("form", engines.forms(lazy=False))
LAZY = pytest.mark.parametrize("form", engines.forms(lazy=True))
# Raises, or gives null, where values are bad.
RAISING = given_rows.EAGER_NAMES
KEYS = ("Key", "key 2")
NAMES = {"label": "Label", "score": "a Score", "weight": "w'eight"}
COLUMNS = ["bin", "weight", "correct", "g_min", "g_max", "count"]


def bounds_of(form, state, **options):
    """Return the rows of the bounds, which are in memory."""
    found = frames.sketch_bounds(state, collect=form.lazy, **options)
    return engines.rows_of(form._replace(read=lambda result: result), found)


def exact(columns, by, **options):
    """Return the rows that ``frames.evaluate`` promises for the same columns."""
    metrics = ("lxcim", "accuracy", "audrc")
    return given_rows.expected(columns, by=by, metrics=metrics, **options)


def assert_inside(found, wanted, by):
    assert [[row[key] for key in by] for row in found] == [
        [row[key] for key in by] for row in wanted
    ]
    for row, want in zip(found, wanted, strict=True):
        assert row["weight"] == pytest.approx(want["weight"], rel=1e-14)
        for metric in ("lxcim", "audrc"):
            low, middle, high = (row[metric + end] for end in ("_low", "", "_high"))
            if want[metric] is None:
                assert low is middle is high is None
            else:
                assert low <= want[metric] <= high
                assert low <= middle <= high
        if want["accuracy"] is None:
            assert row["accuracy"] is None
        else:
            assert row["accuracy"] == pytest.approx(want["accuracy"], rel=1e-14)


@EVERY
@pytest.mark.parametrize("nan_policy", ["raise", "omit", "abstain"])
@pytest.mark.parametrize("weight", [None, "w'eight"], ids=["uniform", "weighted"])
def test_the_exact_value_is_inside_the_bounds_of_each_subgroup(form, weight, nan_policy):
    if form.slow and weight is None:
        pytest.skip("slow, and almost the same query as another")
    columns = given_rows.predictions()
    if nan_policy == "abstain":
        columns["Label"] = [bool(label) for label in columns["Label"]]
    options = {**NAMES, "weight": weight, "by": KEYS, "nan_policy": nan_policy}
    given = form.make(given_rows.arrow(columns))
    if nan_policy == "raise" and form.name in RAISING:
        with pytest.raises(ValueError, match=r"(Label|a Score)' has \d+ missing .* in row \d+"):
            engines.rows_of(form, frames.sketch(given, **options))
        return
    wanted = exact(columns, KEYS, weight=weight, nan_policy=nan_policy)
    for bins in (4096, 8) if not form.slow else (8,):
        state = frames.sketch(given, **options, bins=bins)
        assert_inside(bounds_of(form, state, by=KEYS), wanted, KEYS)
    # The scores have one decimal: 4096 bins hold ties only, and know everything.
    if not form.slow:
        for row in bounds_of(form, frames.sketch(given, **options), by=KEYS):
            if row["lxcim"] is not None:
                assert row["lxcim_high"] - row["lxcim_low"] < 1e-12


@EVERY
@pytest.mark.parametrize(
    "decide",
    [{"threshold": 0.3}, {"decision": lx.probability()}, {"threshold": 0.25, "bound": 0.75}],
    ids=["0.3", "p", "bound"],
)
def test_thresholds_probabilities_and_bounds(form, decide):
    if form.slow and "bound" in decide:
        pytest.skip("slow, and the query of probabilities")
    rng = np.random.default_rng(2)
    columns = given_rows.predictions(missing=False)
    probability = 1 / (1 + np.exp(-8 * rng.normal(0.2, 1, 600)))
    probability[:5] = [0.0, 1.0, 0.5, 1e-300, 0.25]
    columns["a Score"] = probability.tolist()
    state = frames.sketch(form.make(given_rows.arrow(columns)), **NAMES, by="key 2", **decide)
    options = {name: value for name, value in decide.items() if name != "bound"}
    wanted = exact(columns, ("key 2",), weight="w'eight", nan_policy="raise", **options)
    assert_inside(bounds_of(form, state, by="key 2"), wanted, ("key 2",))


@EVERY
@pytest.mark.parametrize(
    "decide", [{}, {"decision": lx.probability(), "bins": 4095}], ids=["0", "p"]
)
def test_states_and_bounds_are_the_same_on_every_engine(form, decide):
    # Bins come from operations that are rounded correctly: not one sample is in another bin.
    rng = np.random.default_rng(3)
    n = 20_000
    score = rng.normal(0, 1, n) * 10.0 ** rng.integers(-12, 12, n)
    score[:6] = [0.0, -0.0, np.inf, -np.inf, 1e-300, 1e300]
    if decide:
        score = 1 / (1 + np.exp(-np.clip(score, -600, 600)))
    label, key = rng.random(n) < 0.7, rng.integers(0, 3, n)
    weight = rng.integers(0, 4, n).astype(float)
    table = pa.table({"y": label, "s": score, "w": weight, "k": key})
    options = {"label": "y", "score": "s", "weight": "w", "by": "k", **decide}
    state = frames.sketch(form.make(table), **options)
    (arrow,) = [each for each in engines.FORMS if each.name == "pyarrow"]
    wanted = frames.sketch(table, **options)
    found = engines.rows_of(form, state)
    assert list(found[0]) == ["k", *COLUMNS]
    assert found == engines.rows_of(arrow, wanted)
    assert bounds_of(form, state, by="k") == bounds_of(arrow, wanted, by="k")


@EVERY
def test_merged_parts_are_the_whole(form):
    columns = given_rows.predictions()  # the weights are sums of powers of two
    table = given_rows.arrow(columns)
    options = {**NAMES, "nan_policy": "omit"}

    def state(rows, by=KEYS):
        return frames.sketch(form.make(rows), **options, by=by)

    parts = [state(table.slice(start, 200)) for start in (0, 200, 400)]
    whole = engines.rows_of(form, state(table))
    merged = frames.merge_sketches(*parts, by=KEYS)
    assert engines.rows_of(form, merged) == whole
    if form.slow:
        return
    a, b, c = parts
    turned = frames.merge_sketches(c, frames.merge_sketches(b, a, by=KEYS), by=KEYS)
    assert engines.rows_of(form, turned) == whole
    # Fewer keys: the state of larger subgroups.
    for by in ((), ("key 2",)):
        rolled = engines.rows_of(form, frames.merge_sketches(*parts, by=by))
        assert rolled == engines.rows_of(form, state(table, by))
        wanted = bounds_of(form, state(table, by), by=by)
        for row, want in zip(bounds_of(form, merged, by=by), wanted, strict=True):
            assert row == {
                name: value if isinstance(value, str | int) else pytest.approx(value, abs=1e-11)
                for name, value in want.items()
            }


@QUICK
@pytest.mark.parametrize("unit", [2.0**600, 2.0**-600])
def test_weights_of_any_size_stay_what_they_are(form, unit):
    columns = {"y": [1, 0, 1], "s": [3.0, 3.0, 1.0], "w": [unit, 2 * unit, unit]}
    state = frames.sketch(form.make(given_rows.arrow(columns)), label="y", score="s", weight="w")
    low, high = engines.rows_of(form, state)
    assert (low["weight"], high["weight"], high["correct"]) == (unit, 3 * unit, unit)
    (row,) = bounds_of(form, state)
    assert row["lxcim"] == pytest.approx(6 / 16, rel=1e-14)  # 1/4 (2 + 3)/4 + 1/4 1/4


@QUICK
def test_a_state_has_one_dtype_on_every_engine_and_stays_what_it_was(form):
    given = form.make(given_rows.arrow(given_rows.predictions(missing=False)))
    state = frames.sketch(given, **NAMES, by="key 2")
    merged = frames.merge_sketches(state, state, by="key 2")
    dtypes = {
        "key 2": nw.Int64,
        "bin": nw.Int64,
        **dict.fromkeys(COLUMNS[1:-1], nw.Float64),
        "count": nw.Int64,
    }
    for result in (state, merged):
        assert type(result) is type(given)
        assert dict(nw.from_native(result).collect_schema()) == dtypes


@EAGER
def test_bounds_are_a_frame_of_the_kind_of_the_state(form):
    given = form.make(given_rows.arrow(given_rows.predictions(missing=False)))
    found = frames.sketch_bounds(frames.sketch(given, **NAMES, by="Key"), by="Key")
    assert type(found) is type(given)
    assert list(nw.from_native(found).columns) == [
        "Key",
        "lxcim_low",
        "lxcim",
        "lxcim_high",
        "accuracy",
        "audrc_low",
        "audrc",
        "audrc_high",
        "n",
        "weight",
    ]


@LAZY
def test_nothing_is_collected_without_being_asked(form, monkeypatch):
    given = form.make(given_rows.arrow(given_rows.predictions()))

    def refuse(*args, **options):
        raise AssertionError("a lazy frame was collected")

    monkeypatch.setattr(nw.LazyFrame, "collect", refuse)
    for name in ("collect", "compute", "toPandas", "fetchall", "execute"):
        if callable(getattr(type(given), name, None)):
            monkeypatch.setattr(type(given), name, refuse, raising=False)
    state = frames.sketch(given, **NAMES, by="Key")
    merged = frames.merge_sketches(state, state, by="Key")
    with pytest.raises(TypeError, match=r"state in memory; found a .*[fF]rame. Pass collect=True"):
        frames.sketch_bounds(merged, by="Key")


@EVERY
def test_empty_frames_and_subgroups_without_a_usable_row(form):
    empty = given_rows.arrow(given_rows.predictions(missing=False)).slice(0, 0)
    state = frames.sketch(form.make(empty), **NAMES)
    assert engines.rows_of(form, state) == []
    (row,) = bounds_of(form, state)
    assert (row["lxcim"], row["audrc_low"], row["n"], row["weight"]) == (None, None, 0, 0.0)
    columns = {
        "y": [1, 0, 1, 1, 1],
        "s": [None, math.nan, 1.0, -2.0, 3.0],
        "w": [1.0, 1.0, 1.0, 1.0, 0.0],
        "k": ["a", "a", "b", "b", "c"],
    }
    given = form.make(given_rows.arrow(columns))
    options = {"label": "y", "score": "s", "weight": "w", "by": "k", "nan_policy": "omit"}
    found = bounds_of(form, frames.sketch(given, **options), by="k")
    assert [(row["k"], row["lxcim"], row["n"]) for row in found] == [
        ("a", None, 0),
        ("b", pytest.approx(0.25), 2),
        ("c", None, 0),
    ]


@EVERY
def test_a_float32_score_meets_threshold_and_bound(form):
    score = np.float32([0.3, 0.1, 0.7, -0.1, 0.2, 0.4])
    label = [True, True, True, False, False, True]
    table = pa.table({"y": label, "s": pa.array(score, pa.float32())})
    options = {"label": "y", "score": "s", "threshold": 0.3, "bound": 0.4}
    (row,) = bounds_of(form, frames.sketch(form.make(table), **options))
    assert row["accuracy"] == 4.5 / 6  # the first score is undecided
    assert (
        row["lxcim_low"] - 1e-6 < lx.lxcim(label, score, threshold=0.3) < row["lxcim_high"] + 1e-6
    )


def distributions(n):
    rng = np.random.default_rng(0)
    normal, uniform = rng.normal(size=n), rng.random(n)
    scores = {
        "normal": normal,
        "uniform": uniform,
        "student": rng.standard_t(1.5, n),
        "log-normal": np.exp(rng.normal(0, 3, n)) * rng.choice([-1, 1], n),
        "saturated": 1 / (1 + np.exp(-8 * normal)),
    }
    for name, score in scores.items():
        bounded = name in ("uniform", "saturated")
        chance = uniform if name == "uniform" else 1 / (1 + np.exp(-np.clip(score, -700, 700)))
        if name == "saturated":
            chance = 1 / (1 + np.exp(-normal))
        label = rng.random(n) < chance
        yield name, label, score, {"decision": lx.probability()} if bounded else {}


@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
def test_bounds_of_4096_bins_are_within_a_thousandth(lazy):
    pl = pytest.importorskip("polars")
    for name, label, score, decide in distributions(200_000):
        rows = pl.DataFrame({"y": label, "s": score})
        state = frames.sketch(rows.lazy() if lazy else rows, label="y", score="s", **decide)
        (row,) = frames.sketch_bounds(state, metrics="lxcim", collect=lazy).to_dicts()
        value = lx.lxcim(label, score, **decide)
        assert row["lxcim_low"] <= value <= row["lxcim_high"], name
        assert (row["lxcim_high"] - row["lxcim_low"]) / 2 <= 1e-3, name
        assert abs(row["lxcim"] - value) < 2e-5, name


@pytest.mark.parametrize("bins", [2, 3, 4, 5, 64, 4096, 100_000])
@pytest.mark.parametrize("bound", [None, 1.0, 3.7])
def test_a_larger_confidence_is_never_in_a_lower_bin(bins, bound):
    rng = np.random.default_rng(0)
    size = 2.0 ** rng.uniform(-40, 40, 50_000)
    if bound is not None:
        size = bound * np.concatenate((size[size < 1], 1 - size[size < 1]))
    # Neighbours of one another, where rounding would turn an order around if it could.
    near = [np.nextafter(size, 0), size, np.nextafter(size, bound or np.inf)]
    ends = [[0.0, 5e-324, 1e-300], [1e300, np.inf] if bound is None else [bound]]
    confidence = np.sort(np.concatenate([*near, *ends]))
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        index = sketches._bin_of(sketches._ARRAYS, confidence, bins, bound)
    assert (np.diff(index) >= 0).all()
    assert (index[0], index[-1] <= bins - 1) == (0, True)
    assert (index[confidence > 0] >= 1).all()
    if bins <= 4096:  # almost all bins are used
        assert np.unique(index).size > 0.9 * bins - 3


def test_states_of_different_bins_have_wide_but_certain_bounds():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    score = rng.normal(0.5, 1, 2000)
    rows = pd.DataFrame({"y": 1, "s": score})
    halves = [
        frames.sketch(rows[:1000], label="y", score="s", bins=64),
        frames.sketch(rows[1000:], label="y", score="s", bins=48, bound=10.0),
    ]
    row = frames.sketch_bounds(frames.merge_sketches(*halves)).iloc[0]
    for metric in ("lxcim", "audrc"):
        assert row[f"{metric}_low"] <= getattr(lx, metric)(1, score) <= row[f"{metric}_high"]
    assert row["n"] == 2000


@LAZY
def test_bad_values_give_null_where_nothing_can_raise(form):
    if form.name == "dask":
        pytest.skip("Dask raises when it computes")
    columns = {
        "y": [1, 0, 2, 0, -1, 0, 1, 0, 1, 0],
        "s": [1.0, -1.0, 0.5, 0.5, 0.5, 1.5, 0.5, 0.5, 7.0, 0.5],
        "w": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0],
        "k": ["good", "good", "label", "label", "mixed", "mixed", "w", "w", "bound", "bound"],
    }
    given = form.make(given_rows.arrow(columns))
    state = frames.sketch(given, label="y", score="s", weight="w", by="k", bound=2.0)
    state = frames.merge_sketches(state, state, by="k")  # what is bad stays bad
    rows = {row["k"]: row for row in bounds_of(form, state, by="k")}
    assert rows.pop("good")["accuracy"] == 1.0
    assert len(rows) == 4
    mixed = form.make(given_rows.arrow({"y": [-1, 0, 1], "s": [0.5, 1.5, 3.0]}))
    (rows["all"],) = bounds_of(form, frames.sketch(mixed, label="y", score="s"))
    for row in rows.values():
        assert {row[name] for name in ("lxcim_low", "lxcim", "accuracy", "audrc_high")} == {None}


@EVERY
def test_bad_arguments_are_refused_before_anything_runs(form):
    columns = {"y": [1, 0], "s": [0.5, -2.0], "weight": ["a", "b"], "n": [1, 2]}
    given = form.make(given_rows.arrow(columns))
    options = {"label": "y", "score": "s"}
    for wrong, kind, message in (
        ({"bins": 1}, ValueError, "bins must be a whole number of at least 2; found 1"),
        ({"bins": 2.5}, ValueError, "bins must be a whole number .* found 2.5"),
        ({"bound": -1.0}, ValueError, "bound must be positive; found -1.0"),
        ({"bound": "1"}, TypeError, "bound must be a number; found str"),
        ({"score": "t"}, ValueError, "score='t' is not a column"),
        ({"by": "weight"}, ValueError, "by='weight' has the name of the result's column 'weight'"),
    ):
        with pytest.raises(kind, match=message):
            frames.sketch(given, **{**options, **wrong})
    if form.name in RAISING:
        with pytest.raises(ValueError, match=r"'s' must not exceed bound=1; found 2"):
            engines.rows_of(form, frames.sketch(given, **options, bound=1.0))
    state = frames.sketch(given, **options, by="n")
    for wrong, message in (
        ({"metrics": "auroc"}, r"metrics must be among \('lxcim', 'accuracy', 'audrc'\)"),
        ({"metrics": ()}, "metrics must name at least one"),
        ({"by": "m"}, "by='m' is not a column"),
        ({"by": "n"}, "by='n' has the name of the result's column 'n'"),
        ({"by": ("bin", "bin")}, "by must name each column once"),
    ):
        with pytest.raises(ValueError, match=message):
            frames.sketch_bounds(state, **wrong)
    with pytest.raises(ValueError, match=r"numbers in its column 'bin'; found columns .*sketch"):
        frames.sketch_bounds(given)
    with pytest.raises(ValueError, match="numbers in its column 'bin'"):
        frames.merge_sketches(state, given)
    with pytest.raises(ValueError, match="by='m' is not a column"):
        frames.merge_sketches(state, by="m")


def test_states_of_different_kinds_are_not_merged():
    pl = pytest.importorskip("polars")
    state = frames.sketch(pl.DataFrame({"y": [1], "s": [2.0]}), label="y", score="s")
    with pytest.raises(TypeError, match="found a polars DataFrame and a PyArrow frame"):
        frames.merge_sketches(state, state.to_arrow())
    with pytest.raises(TypeError, match="found a polars DataFrame and a polars LazyFrame"):
        frames.merge_sketches(state, state.lazy())
    with pytest.raises(ValueError, match="at least one state; found none"):
        frames.merge_sketches()
    with pytest.raises(TypeError, match=r"frame must be .* found list"):
        frames.merge_sketches([state])
