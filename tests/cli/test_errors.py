"""What the ``lxcim`` command does with bad files and bad usage: a sentence, and no half file."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

from commands import COLUMNS, GAMES, PYTHON, here, lxcim, pl

import lxcim_xp as lx


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
    "utf16.csv": ("won,margin\n1,2\n".encode("utf-16"), "is text in UTF-16"),
    "text.csv": (b"won,margin\n1,2\n0,abc\n", "found 'abc' in line 3"),
    "text.jsonl": (b'{"won":1,"margin":2}\n{"won":0,"margin":"abc"}\n', "found 'abc' in line 2"),
    "words.csv": (b"won,margin\nyes,2\nno,3\n", "Say which word is positive with --positive"),
    "label.csv": (b"won,margin\n2,2\n0,3\n", "found 2 in line 2"),
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n\n", "is empty"),
    "header.csv": (b"won,margin\n", "has no rows"),
    "missing.csv": (b"won,margin\n1,\n0,\n", "has 2 missing values, the first in line 2"),
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
    from lxcim_xp.cli.app import app

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
        "one of the four",
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
    "clusters without guarantee": (
        [
            "threshold",
            "games.csv",
            *COLUMNS,
            "--accuracy",
            "0.9",
            "--no-guarantee",
            "--groups",
            "season",
        ],
        "clusters are for guarantees",
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
    "seed": (["audit", "lxcim_xp:auroc", "--seed", "-1"], "--seed"),
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


ODD = pl.DataFrame(
    {
        "won": [1, 0, 1, 1, 0, 1],
        "margin": [4.0, -3.0, -1.0, 2.0, 1.0, 0.5],
        "other": [0.1, 0.2, 0.3, -1.0, 2.0, 1.0],
        "three": [0, 1, 2, 0, 1, 2],
        "halves": [0.5, 1.0, 0.0, 1.0, 0.0, 1.0],
        "word": ["u", "v", "u", "u", "v", "v"],
        "mixed": ["1", "2", "1", "1", "x", "1"],
        "truth": [True, False, True, True, False, None],
        "nothing": [None] * 6,
        "gap": [1.0, None, 2.0, 3.0, 4.0, 5.0],
        "zero": [0] * 6,
        "negative": [1, -1, 1, 1, 1, 1],
        "n": [1, 1, 2, 2, 3, 3],
        "a": [1, 1, 2, 2, 3, 3],
        "one": [1] * 6,
    }
)
BAD_VALUES = [
    *(["--label", name, "--score", "margin"] for name in ("three", "halves", "word", "nothing")),
    *(
        ["--label", name, "--score", "margin", "--positive", value]
        for name in ("won", "three", "halves", "word", "mixed", "truth", "nothing")
        for value in ("1", "true", "u")
    ),
    *(["--label", "won", "--score", name] for name in ("gap", "nothing", "word", "mixed")),
    *(["--label", name, "--score", "gap", "--missing", "abstain"] for name in ("won", "truth")),
    *([*COLUMNS, "--weight", name] for name in ("zero", "negative", "gap", "nothing", "word")),
    *([*COLUMNS, "--by", name] for name in ("n", "a", "one", "nothing")),
    *([*COLUMNS, "--groups", name] for name in ("one", "nothing")),
    [*COLUMNS, "--probability"],
    ["--margin", "nothing", "--missing", "omit"],
    ["--margin", "word"],
]
ANY_COMMAND = {
    "evaluate": [],
    "evaluate --engine bounded": [],
    "compare": ["--score", "other"],
    "threshold --accuracy 0.6 --no-guarantee": [],
    "curve -o out.png": [],
    "curve -o out.csv": [],
    "report -o out.html": [],
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("command", ANY_COMMAND)
def test_messages_speak_of_options_and_columns(capfd, tmp_path, monkeypatch, command, ending):
    if command.startswith("report"):
        pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    write = ODD.write_csv if ending == "csv" else ODD.write_parquet
    write(f"odd.{ending}")
    first, *more = command.split()
    ended = []
    for words in BAD_VALUES:
        second = ["--margin", "other"] if "--margin" in words else ANY_COMMAND[command]
        models = second if first == "compare" else []
        # What is said is looked at there.
        code, _, told = here(capfd, first, f"odd.{ending}", *words, *models, *more)
        assert code in (0, 1, 2)
        assert told or code == 0
        assert "  " not in told
        ended.append(code)
    assert ended.count(1) > len(BAD_VALUES) / 2


def test_unsigned_ids_and_names_of_results_are_told_in_words(capfd, tmp_path):
    path = tmp_path / "ids.parquet"
    ids = pl.Series([2**64 - 1 - i % 2 for i in range(6)], dtype=pl.UInt64)
    GAMES.with_columns(id=ids, bin=ids).write_parquet(path)
    for part in (["--by", "id"], ["--groups", "id"], ["--by", "id", "--engine", "bounded"]):
        assert here(capfd, "evaluate", path, *COLUMNS, *part)[0] == 0
    columns = [*COLUMNS, "--by", "bin", "--engine", "bounded"]
    code, _, told = here(capfd, "evaluate", path, *columns)
    assert code == 1
    assert "Rename the column." in told


def test_what_a_shell_does_to_streams_is_no_error_of_ours(games, tmp_path):
    command = [sys.executable, "-m", "lxcim_xp"]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command, "evaluate", "-", *COLUMNS],
        capture_output=True,
        text=True,
    )
    assert (closed.returncode, closed.stderr) == (1, "Error: standard input is closed.\n")
    audit = [*command, "audit", "lxcim_xp:auroc", "--law", "lxc"]
    with subprocess.Popen(audit, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        assert run.stderr.read() == b""


def test_warnings_have_no_lines_of_code(tmp_path):
    path = tmp_path / "heavy.parquet"
    GAMES.with_columns(w=pl.lit(1e308)).write_parquet(path)
    run = lxcim("evaluate", path, *COLUMNS, "--weight", "w")
    assert run.returncode == 0
    assert ".py" not in run.stderr


def test_no_message_of_the_command_line_speaks_python():
    for path in (Path(lx.__file__).parent / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise):
                words = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
                text = "".join(word for word in words if isinstance(word, str))
                assert not PYTHON.search(text), (path.name, node.lineno)


def test_what_cannot_be_written_is_said(capfd, games, tmp_path, monkeypatch):
    (tmp_path / "curve.png").mkdir()
    run = lxcim("curve", games, *COLUMNS, "-o", "curve.png", cwd=tmp_path)
    assert run.returncode == 2
    assert "is a directory" in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["curve.png"]

    def full(**_):
        raise OSError(28, "No space left on device", ".points-x.csv")

    monkeypatch.setattr("tempfile.mkstemp", full)
    code, _, told = here(capfd, "curve", games, *COLUMNS, "-o", tmp_path / "points.csv")
    assert code == 1
    assert "No space left on device" in told
    assert "/points.csv" in told


def test_a_file_is_replaced_only_by_a_whole_one(games, tmp_path):
    from lxcim_xp.cli.output import whole_file

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


def test_the_command_line_speaks_of_options_and_lines(capfd, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("won,s\nu,1\nv,2\nw,3\n")
    columns = ("evaluate", path, "--label", "won", "--score", "s", "--positive", "u")
    told = here(capfd, *columns, "--negative", "v")[2]
    assert told.endswith(
        "label column 'won' holds 'w' in line 4, which is neither --positive 'u' nor --negative "
        "'v'. Pass --ties omit to leave such rows out, or --ties half to count them as draws. "
    )
    told = here(capfd, *columns, "--negative", "v", "--engine", "bounded")[2]
    assert "holds 'w' in some row, which is neither" in told
    path.write_text("won,s\n1,1e39\n0,2\n1,\n")
    told = here(capfd, *columns[:-2])[2]
    assert told.endswith(
        "score column 's' has a missing value in line 4. Pass --missing omit to leave "
        "such rows out or --missing abstain to count those without a score as undecided. "
    )
