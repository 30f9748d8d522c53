"""What the ``lxcim`` command does with bad files and bad usage: a sentence, and no half file."""

import re

import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

from commands import COLUMNS, GAMES, lxcim


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "games.csv"
    GAMES.write_csv(path)
    return path


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
    "delta of a risk": (
        ["threshold", "games.csv", *COLUMNS, "--joint-risk", "0.1", "--delta", "0.2"],
        "Invalid value for --delta",
    ),
    "delta of nothing": (
        [
            "threshold",
            "games.csv",
            *COLUMNS,
            "--accuracy",
            "0.9",
            "--no-guarantee",
            "--delta",
            ".2",
        ],
        "Invalid value for --delta",
    ),
    "risk without guarantee": (
        ["threshold", "games.csv", *COLUMNS, "--joint-risk", "0.1", "--no-guarantee"],
        "Invalid value for --no-guarantee",
    ),
    "AUROC of margins": (
        ["evaluate", "games.csv", "--margin", "margin", "--metric", "auroc"],
        "margins have no AUROC",
    ),
    "AUROC of two margins": (
        ["compare", "games.csv", "--margin", "margin", "--margin", "won", "--metric", "auroc"],
        "margins have no AUROC",
    ),
    "ROC of margins": (
        ["curve", "games.csv", "--margin", "margin", "--kind", "roc", "-o", "c.png"],
        "margins have no ROC curve",
    ),
    "audit of two decisions": (
        ["audit", "lxcim_xp:auroc", "--probability", "--threshold", "0"],
        "Invalid value for --probability",
    ),
    "audit of confusion": (
        ["audit", "lxcim_xp.confusion:f1", "--kind", "confusion", "--threshold", "1"],
        "confusion vectors have no threshold",
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
