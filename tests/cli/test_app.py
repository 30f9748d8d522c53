"""What the ``lxcim`` command finds: the numbers of the library, in every format, of every file."""

import gzip
import io
import json

import numpy as np
import pytest
from commands import COLUMNS, GAMES, found, lxcim, pl, predictions

import lxcim_xp as lx
from lxcim_xp import frames


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "games.csv"
    GAMES.write_csv(path)
    return path


@pytest.fixture(scope="module")
def many():
    return predictions()


@pytest.fixture(scope="module")
def many_file(many, tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "many.parquet"
    many.write_parquet(path)
    return path


def same(rows, model, frame):
    assert len(rows) == frame.height
    for row, expected in zip(rows, frame.to_dicts(), strict=True):
        assert row.pop("model") == model
        assert row == pytest.approx(expected, nan_ok=True, rel=1e-12)


# By hand, of 1991: confidences 4 and 3 are right and 1 is wrong, (5 + 3) / 9. Of 1992: 2 is right
# and 1 is wrong, 3 / 4. AUDRC of 1991: (1 + 1 + 2/3) / 3.
GOLDEN = {
    "table": """\
model    season    LxCIM   accuracy    AUDRC    AUROC   n
─────────────────────────────────────────────────────────
margin   1991     0.8889     0.6667   0.8889   1.0000   3
margin   1992     0.7500     0.5000   0.7500   1.0000   2
margin   -        1.0000     1.0000   1.0000        -   1
""",
    "markdown": """\
| model | season | LxCIM | accuracy | AUDRC | AUROC | n |
|---|---|--:|--:|--:|--:|--:|
| margin | 1991 | 0.8889 | 0.6667 | 0.8889 | 1.0000 | 3 |
| margin | 1992 | 0.7500 | 0.5000 | 0.7500 | 1.0000 | 2 |
| margin | - | 1.0000 | 1.0000 | 1.0000 | - | 1 |
""",
    "csv": """\
model,season,lxcim,accuracy,audrc,auroc,n,n_missing,weight
margin,1991,0.8888888888888888,0.6666666666666666,0.8888888888888888,1.0,3,0,3.0
margin,1992,0.75,0.5,0.75,1.0,2,0,2.0
margin,,1.0,1.0,1.0,,1,0,1.0
""",
    "json": """\
[
  {
    "model": "margin",
    "season": "1991",
    "lxcim": 0.8888888888888888,
    "accuracy": 0.6666666666666666,
    "audrc": 0.8888888888888888,
    "auroc": 1.0,
    "n": 3,
    "n_missing": 0,
    "weight": 3.0
  },
  {
    "model": "margin",
    "season": "1992",
    "lxcim": 0.75,
    "accuracy": 0.5,
    "audrc": 0.75,
    "auroc": 1.0,
    "n": 2,
    "n_missing": 0,
    "weight": 2.0
  },
  {
    "model": "margin",
    "season": null,
    "lxcim": 1.0,
    "accuracy": 1.0,
    "audrc": 1.0,
    "auroc": null,
    "n": 1,
    "n_missing": 0,
    "weight": 1.0
  }
]
""",
}


@pytest.mark.parametrize("form", GOLDEN)
def test_each_format_prints_the_known_text(games, form):
    run = lxcim("evaluate", games, *COLUMNS, "--by", "season", "--interval", "0", "-f", form)
    assert (run.stdout, run.stderr, run.returncode) == (GOLDEN[form], "", 0)


def test_a_table_shows_intervals_beside_the_numbers(games):
    run = lxcim("evaluate", games, *COLUMNS, "--metric", "lxcim")
    expected = lx.interval(GAMES["won"].to_numpy(), GAMES["margin"].to_numpy())
    shown = f"{expected.estimate:.4f} [{expected.low:.4f}, {expected.high:.4f}]"
    assert run.stdout.splitlines()[2].split("   ") == ["margin", shown, "6"]


def written(form):
    """Return the games in a format, as bytes."""
    out = io.BytesIO()
    if form == "csv":
        GAMES.write_csv(out)
    elif form == "tsv":
        GAMES.write_csv(out, separator="\t")
    elif form == "semicolons.csv":
        GAMES.write_csv(out, separator=";")
    elif form == "csv.gz":
        out.write(gzip.compress(GAMES.write_csv().encode()))
    elif form == "parquet":
        GAMES.write_parquet(out)
    elif form == "jsonl":
        GAMES.write_ndjson(out)
    elif form == "jsonl.gz":
        out.write(gzip.compress(written("jsonl")))
    elif form == "excel.csv":
        out.write(b"\xef\xbb\xbf" + written("semicolons.csv").replace(b"\n", b"\r\n"))
    elif form == "marked.jsonl":
        out.write(b"\xef\xbb\xbf" + written("jsonl"))
    elif form == "json":
        GAMES.write_json(out)
    elif form == "arrow":
        GAMES.write_ipc(out)
    elif form == "stream.arrow":
        GAMES.write_ipc_stream(out)
    return out.getvalue()


FORMS = (
    "csv",
    "tsv",
    "semicolons.csv",
    "csv.gz",
    "parquet",
    "jsonl",
    "jsonl.gz",
    "marked.jsonl",
    "excel.csv",
    "json",
    "arrow",
    "stream.arrow",
)


@pytest.mark.parametrize("engine", ["memory", "bounded"])
@pytest.mark.parametrize("form", FORMS)
def test_every_format_is_read_from_files_and_from_standard_input(tmp_path, form, engine):
    expected = frames.evaluate(GAMES, label="won", score="margin", metrics=["lxcim", "accuracy"])
    path = tmp_path / f"games.{form}"
    path.write_bytes(written(form))
    metrics = ("--metric", "lxcim", "--metric", "accuracy", "--interval", "0", "--engine", engine)
    (row,) = found("evaluate", path, *COLUMNS, *metrics)
    assert row["lxcim"] == pytest.approx(expected["lxcim"].item(), abs=1e-12)
    assert row["accuracy"] == expected["accuracy"].item()
    if engine == "memory":
        assert found("evaluate", "-", *COLUMNS, *metrics, stdin=path.read_bytes()) == [row]


def test_a_file_without_a_known_ending_is_known_by_its_content(tmp_path):
    for form in ("csv", "parquet", "jsonl", "arrow", "stream.arrow"):
        (tmp_path / "games").write_bytes(written(form))
        (row,) = found("evaluate", tmp_path / "games", *COLUMNS, "--interval", "0")
        assert row["n"] == 6


def test_a_directory_of_parquet_files_is_one_table(tmp_path):
    for part in range(2):
        GAMES.write_parquet(tmp_path / f"part-{part}.parquet")
    (row,) = found("evaluate", tmp_path, *COLUMNS)
    assert row["n"] == 12


OPTIONS = {
    "plain": ((*COLUMNS[:2], "--score", "a"), {"label": "won", "score": "a"}),
    "by": (
        ("--label", "won", "--score", "a", "--by", "k"),
        {"label": "won", "score": "a", "by": "k"},
    ),
    "weight": (
        ("--label", "won", "--score", "a", "--weight", "w"),
        {"label": "won", "score": "a", "weight": "w"},
    ),
    "clusters": (
        ("--label", "won", "--score", "a", "--groups", "cluster"),
        {"label": "won", "score": "a", "groups": "cluster"},
    ),
    "threshold": (
        ("--label", "won", "--score", "a", "--threshold", "0.5"),
        {"label": "won", "score": "a", "threshold": 0.5},
    ),
    "probability": (
        ("--label", "won", "--score", "p", "--probability"),
        {"label": "won", "score": "p", "decision": lx.probability()},
    ),
    "positive": (
        ("--label", "word", "--score", "a", "--positive", "no"),
        {"label": "word", "score": "a", "positive": "no"},
    ),
    "positive number": (
        ("--label", "won", "--score", "a", "--positive", "0"),
        {"label": "won", "score": "a", "positive": 0},
    ),
    "omit": (
        ("--label", "won", "--score", "gap", "--missing", "omit"),
        {"label": "won", "score": "gap", "nan_policy": "omit"},
    ),
    "abstain": (
        ("--label", "won", "--score", "gap", "--missing", "abstain"),
        {"label": "won", "score": "gap", "nan_policy": "abstain"},
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_numbers_are_those_of_the_library(many, many_file, case):
    arguments, keywords = OPTIONS[case]
    expected = frames.evaluate(many, interval=0.9, **keywords)
    rows = found("evaluate", many_file, *arguments, "--interval", "0.9")
    same(rows, keywords["score"], expected)


@pytest.mark.parametrize("case", [case for case in OPTIONS if case != "clusters"])
def test_bounded_memory_gives_bounds_around_the_exact_numbers(many, many_file, case):
    arguments, keywords = OPTIONS[case]
    metrics = ["lxcim", "accuracy", "audrc"]
    exact = frames.evaluate(many, metrics=metrics, **keywords).to_dicts()
    run = lxcim("evaluate", many_file, *arguments, "--engine", "bounded", "-f", "json")
    rows = json.loads(run.stdout)
    assert "Certain bounds" in run.stderr
    for row, expected in zip(rows, exact, strict=True):
        assert row["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-12)
        for name in ("lxcim", "audrc"):
            assert row[f"{name}_low"] <= expected[name] + 1e-12
            assert expected[name] <= row[f"{name}_high"] + 1e-12
            # Confidences that differ by rounding only share a bin, and 300 samples are few.
            assert row[f"{name}_high"] - row[f"{name}_low"] < 0.01


def test_the_engine_is_bounded_where_the_memory_is_small(many_file, monkeypatch):
    from lxcim_xp.cli import results
    from lxcim_xp.cli.selection import choose

    chosen = choose({"file": str(many_file), "label": "won", "score": "a"})
    for memory, bounded in ((10**9, False), (1000, True)):
        monkeypatch.setattr(results, "_half_of_memory", lambda memory=memory: memory)
        result = results.evaluated(chosen, [], None, results.Engine.auto)
        assert ("auroc" not in result.numbers.columns) == bounded


def test_many_rows_have_intervals_only_when_asked_for(many_file, monkeypatch):
    from lxcim_xp.cli import results
    from lxcim_xp.cli.selection import choose

    monkeypatch.setattr(results, "_MANY", 299)
    chosen = choose({"file": str(many_file), "label": "won", "score": "a"})
    without = results.evaluated(chosen, ["lxcim"], None, results.Engine.memory)
    asked = results.evaluated(chosen, ["lxcim"], 0.95, results.Engine.memory)
    assert "lxcim_low" not in without.numbers.columns
    assert "--interval 0.95" in without.remark
    assert "lxcim_low" in asked.numbers.columns


def test_scores_that_look_like_probabilities_are_remarked_on(many_file):
    for command in (("evaluate",), ("threshold", "--accuracy", "0.9")):
        plain = lxcim(*command, many_file, "--label", "won", "--score", "p")
        assert plain.returncode == 0
        assert "every decision is the positive side" in plain.stderr
        assert "--probability" in plain.stderr
        assert "--threshold 0" in plain.stderr
        for said in (["--probability"], ["--threshold", "0"]):
            told = lxcim(*command, many_file, "--label", "won", "--score", "p", *said)
            assert "positive side" not in told.stderr


def test_a_confidence_of_being_right_is_decided_as_the_remark_says(many, tmp_path):
    # Each row is a decision, right or not, and how sure it was; nothing to decide at one half.
    sure = many["p"].to_numpy() / 2 + 0.25
    table = pl.DataFrame({"right": many["margin"] > 0.8, "sure": sure})
    table.write_parquet(tmp_path / "sure.parquet")
    columns = ("--label", "right", "--score", "sure", "--threshold", "0")
    (row,) = found("evaluate", tmp_path / "sure.parquet", *columns)
    assert row["accuracy"] == table["right"].mean()
    assert row["lxcim"] == lx.lxcim(table["right"].to_numpy(), sure, threshold=0.0)


def test_margins_need_no_labels(many, many_file):
    expected = frames.evaluate(
        many.with_columns(one=1), label="one", score="margin", metrics=["lxcim", "accuracy"]
    )
    (row,) = found("evaluate", many_file, "--margin", "margin", "--interval", "0")
    assert "auroc" not in row
    assert row["lxcim"] == expected["lxcim"].item()


def test_words_for_missing_are_missing_and_labels_may_be_text(tmp_path):
    path = tmp_path / "na.csv"
    path.write_text("won,margin\n1,2.5\nNA,1\n0, n/a\n0,-1\n1,-\n1,-0.5\n")
    (row,) = found("evaluate", path, *COLUMNS, "--missing", "omit", "--interval", "0")
    assert (row["n"], row["n_missing"], row["lxcim"]) == (6, 3, 8 / 9)


def test_a_column_that_changes_its_type_late_is_read_again(tmp_path):
    path = tmp_path / "late.csv"
    lines = ["won,margin,k"] + ["1,2,7"] * 15_000 + ["0,-1.5,A"]
    path.write_text("\n".join(lines))
    rows = found("evaluate", path, *COLUMNS, "--by", "k", "--interval", "0")
    assert [(row["k"], row["n"]) for row in rows] == [("7", 15_000), ("A", 1)]


@pytest.mark.parametrize("adjust", ["holm", "max-t", "none"])
def test_comparisons_are_those_of_the_library(many, many_file, adjust):
    names = ["a", "b", "c"]
    arguments = [word for name in names for word in ("--score", name)]
    rows = found("compare", many_file, "--label", "won", *arguments, "--adjust", adjust)
    scores = {name: many[name].to_numpy() for name in names}
    table = lx.compare_all(
        many["won"].to_numpy(), scores, adjust=None if adjust == "none" else adjust
    )
    assert [(row["a"], row["b"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    for row in rows:
        i, j = names.index(row["a"]), names.index(row["b"])
        assert row["estimate_a"] == pytest.approx(table.estimate[i])
        for part in ("difference", "low", "high", "p_value", "adjusted_p_value", "unadjusted_low"):
            assert row[part] == pytest.approx(getattr(table, part)[i, j], abs=1e-12)


def test_two_models_in_subgroups_compare_as_in_frames(many, many_file):
    columns = ("--label", "won", "--score", "a", "--score", "b", "--by", "k", "--weight", "w")
    more = ("--groups", "cluster", "--metric", "auroc", "--interval", "0.9")
    expected = frames.compare(
        many,
        label="won",
        scores=["a", "b"],
        by="k",
        weight="w",
        groups="cluster",
        metric="auroc",
        level=0.9,
    )
    rows = found("compare", many_file, *columns, *more)
    for row, other in zip(rows, expected.to_dicts(), strict=True):
        shared = {name: row[name] for name in other}
        assert shared == pytest.approx(other, abs=1e-9)


def test_a_subgroup_of_one_cluster_has_estimates_and_no_tests(tmp_path):
    path = tmp_path / "clusters.csv"
    rows = [
        f"{i % 2},{1.5 - i % 5},{i % 3 - 1},{'x' if i < 10 else 'y'},{i // 10 + i % 2}"
        for i in range(10)
    ]
    rows += [f"{i % 2},{i % 5 - 2.5},{i % 3 - 1},y,7" for i in range(10)]
    path.write_text("won,a,b,k,c\n" + "\n".join(rows))
    columns = ("--label", "won", "--score", "a", "--score", "b", "--by", "k", "--groups", "c")
    first, second = found("compare", path, *columns)
    assert first["p_value"] is not None
    assert second["difference"] == pytest.approx(second["estimate_a"] - second["estimate_b"])
    assert (second["low"], second["p_value"], second["adjusted_p_value"]) == (None, None, None)


def test_margins_of_two_models_compare(many, many_file):
    (row,) = found("compare", many_file, "--margin", "margin", "--margin", "w")
    other = lx.compare(1, many["margin"].to_numpy(), many["w"].to_numpy())
    assert row["difference"] == pytest.approx(other.difference)


def test_thresholds_of_margins_are_confidences_only(many, many_file):
    (row,) = found("threshold", many_file, "--margin", "margin", "--accuracy", "0.9")
    point = lx.threshold_for(1, many["margin"].to_numpy(), accuracy=0.9, delta=0.1)
    assert row["confidence"] == point.confidence
    assert "decide_above" not in row


TARGETS = {
    "guarantee": (["--accuracy", "0.9", "--delta", "0.2"], {"accuracy": 0.9, "delta": 0.2}),
    "none": (["--accuracy", "0.9", "--no-guarantee"], {"accuracy": 0.9, "delta": None}),
    "risk": (["--joint-risk", "0.05"], {"joint_risk": 0.05}),
}


@pytest.mark.parametrize("case", TARGETS)
def test_thresholds_are_those_of_the_library(many, many_file, case):
    arguments, target = TARGETS[case]
    columns = ("--label", "won", "--score", "p", "--probability")
    (row,) = found("threshold", many_file, *arguments, *columns)
    label, score = many["won"].to_numpy(), many["p"].to_numpy()
    point = lx.threshold_for(label, score, decision=lx.probability(), **target)
    assert row["confidence"] == point.confidence
    assert (row["rate"], row["accuracy"]) == (point.rate, point.accuracy)
    decided = (score >= row["decide_above"]) | (score <= row["decide_below"])
    assert np.mean(decided) == point.rate


@pytest.mark.parametrize("target", [{"accuracy": 0.8, "delta": 0.2}, {"joint_risk": 0.1}])
def test_thresholds_of_clusters_are_those_of_the_library(tmp_path, target):
    rng = np.random.default_rng(0)
    question = rng.integers(0, 100, 500)
    margin = (rng.standard_normal(500) + rng.standard_normal(100)[question] + 1.5).round(2)
    rows = [f"q{q},{m}" for q, m in zip(question, margin, strict=True)]
    (tmp_path / "answers.csv").write_text("question,gap\n" + "\n".join(rows))
    arguments = [
        str(word) for name in target for word in (f"--{name.replace('_', '-')}", target[name])
    ]
    path, margins = tmp_path / "answers.csv", ("--margin", "gap")
    (row,) = found("threshold", path, *margins, *arguments, "--groups", "question")
    point = lx.threshold_for(1, margin, groups=question, **target)
    alone = lx.threshold_for(1, margin, **target)
    assert (row["confidence"], row["rate"], row["accuracy"]) == point
    assert 0 < point.rate < alone.rate
    run = lxcim("threshold", path, *margins, "--accuracy", "0.99", "--groups", "question")
    assert "decide nothing, or collect more clusters" in run.stderr


def test_thresholds_of_narrow_scores_are_scores_of_the_file(many, tmp_path):
    narrow = many.select("won", pl.col("a").cast(pl.Float32))
    narrow.write_parquet(tmp_path / "narrow.parquet")
    columns = ("--label", "won", "--score", "a", "--threshold", "0.3", "--joint-risk", "0.05")
    (row,) = found("threshold", tmp_path / "narrow.parquet", *columns)
    score = narrow["a"].to_numpy()
    point = lx.threshold_for(narrow["won"].to_numpy(), score, threshold=0.3, joint_risk=0.05)
    assert row["rate"] == pytest.approx(float(point.rate), abs=1e-6)
    sides = [float(side) in score.tolist() for side in (row["decide_above"], row["decide_below"])]
    assert any(sides)


def test_a_threshold_that_nobody_can_vouch_for_is_no_number(games):
    run = lxcim("threshold", games, *COLUMNS, "--accuracy", "0.99", "-f", "json")
    (row,) = json.loads(run.stdout)
    assert (row["confidence"], row["rate"], run.returncode) == (None, 0.0, 0)
    assert "decide nothing" in run.stderr


@pytest.mark.parametrize("kind", ["cumulative-accuracy", "accuracy-rate", "roc", "symmetric-roc"])
def test_curves_are_drawn(many_file, tmp_path, kind):
    columns = ("--label", "won", "--score", "a", "--score", "b", "--kind", kind)
    forms = {"svg": b"<?xml"} if kind != "roc" else {"png": b"\x89PNG", "pdf": b"%PDF"}
    for ending, start in forms.items():
        path = tmp_path / f"curve.{ending}"
        run = lxcim("curve", many_file, *columns, "-o", path)
        assert (run.returncode, run.stdout) == (0, ""), run.stderr
        assert path.read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_a_curve_shows_subgroups_and_a_band(many_file, tmp_path):
    path = tmp_path / "curve.svg"
    columns = ("--label", "won", "--score", "a", "--by", "k", "--weight", "w")
    plain = lxcim("curve", many_file, *columns, "-o", path)
    assert plain.returncode == 0, plain.stderr
    without = path.read_text()
    named = [without.index(f"<!-- {text}") for text in ("0 (", "1 (", "2 (", "ideal", "coin")]
    assert named == sorted(named)  # in the legend, models come before what they are compared with
    assert lxcim("curve", many_file, *columns, "--band", "0.9", "-o", path).returncode == 0
    assert len(path.read_text()) > len(without)
    local = lxcim("curve", many_file, *columns, "--kind", "local-accuracy", "-o", path)
    assert local.returncode == 0, local.stderr


def test_a_curve_names_models_and_subgroups_as_they_are(many, tmp_path):
    given, path = tmp_path / "odd.parquet", tmp_path / "curve.svg"
    key = pl.when(pl.col("k") == 0).then(pl.lit("$5")).otherwise(pl.lit("_k"))
    many.with_columns(k=key).rename({"a": "_a", "b": "$b$ c"}).write_parquet(given)
    columns = ("--label", "won", "--score", "_a", "--score", "$b$ c", "--by", "k")
    run = lxcim("curve", given, *columns, "-o", path)
    assert run.returncode == 0, run.stderr
    shown = path.read_text()
    for name in ("_a, _k", "_a, $5", "$b$ c, _k", "$b$ c, $5"):
        assert f"<!-- {name} (" in shown  # the text of what is drawn as glyphs


def test_the_points_of_a_curve_are_those_of_the_library(many, many_file, tmp_path):
    path = tmp_path / "points.csv"
    columns = ("--label", "won", "--score", "a", "--score", "b", "--kind", "accuracy-rate")
    assert lxcim("curve", many_file, *columns, "-o", path).returncode == 0
    points = pl.read_csv(path)
    for name in ("a", "b"):
        expected = frames.curve(many, label="won", score=name, kind="accuracy_rate")
        mine = points.filter(pl.col("model") == name)
        assert mine["accuracy"].to_list() == pytest.approx(expected["accuracy"].to_list())


def test_points_know_every_option(many, many_file, tmp_path):
    path = tmp_path / "points.csv"
    columns = ("--label", "word", "--score", "p", "--positive", "no", "--weight", "w", "--by", "k")
    run = lxcim("curve", many_file, *columns, "--probability", "-o", path)
    assert run.returncode == 0, run.stderr
    expected = frames.curve(
        many,
        label="word",
        score="p",
        positive="no",
        weight="w",
        by="k",
        decision=lx.probability(),
    )
    found_points = pl.read_csv(path)
    assert found_points.columns == ["model", *expected.columns]
    for name in expected.columns:
        assert found_points[name].to_list() == pytest.approx(expected[name].to_list())


def test_audits_know_every_option(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import lxcim_xp as lx\n"
        "def of_p(y, p): return lx.lxcim(y, p, decision=lx.probability())\n"
        "def of_s(y, s): return lx.lxcim(y, s, threshold=0.5)\n"
    )
    for metric, option in (("of_p", ["--probability"]), ("of_s", ["--threshold", "0.5"])):
        arguments = ("audit", f"mine:{metric}", "--law", "lxc")
        (row,) = found(*arguments, *option, cwd=tmp_path)
        assert row["holds"] is True
    (row,) = found("audit", "mine:of_s", "--law", "lxc", cwd=tmp_path)
    assert row["holds"] is False
    (row,) = found("audit", "lxcim_xp:ks_statistic", "--law", "lxc", "--seed", "5")
    assert row["in words"] == lx.describe(lx.audit(lx.ks_statistic, laws=["lxc"], seed=5)["lxc"])


def test_audits_show_a_counter_example(tmp_path):
    run = lxcim("audit", "lxcim_xp:auroc", "--law", "lxc")
    assert run.stdout.startswith("lxc: any samples written the other way should not change")
    assert run.returncode == 0
    assert lxcim("audit", "lxcim_xp:auroc", "--law", "lxc", "--require").returncode == 1
    assert lxcim("audit", "lxcim_xp:lxcim", "--law", "lxc", "--require").returncode == 0
    rows = found("audit", "lxcim_xp.confusion:f1", "--kind", "confusion")
    assert {row["law"]: row["holds"] for row in rows}["lxc"] is False
    (tmp_path / "mine.py").write_text("def right(y, s): return float(((s > 0) == y).mean())")
    own = lxcim("audit", "mine:right", "--law", "permutation", cwd=tmp_path)
    assert own.stdout == "permutation: holds (another order of the samples)\n"


def test_subgroups_without_a_usable_row_stay_without_numbers(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("won,a,b,k\n1,2,1,x\n0,1,-1,x\n1,-1,2,x\n1,,3,y\n0,,1,y\n")
    columns = ("--label", "won", "--score", "a", "--score", "b", "--by", "k", "--missing", "omit")
    first, second = found("compare", path, *columns)
    assert first["difference"] is not None
    assert (second["difference"], second["p_value"], second["n_missing"]) == (None, None, 2)
    run = lxcim("curve", path, *columns, "-o", tmp_path / "c.png")
    assert run.returncode == 0, run.stderr
