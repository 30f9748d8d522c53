"""The ``lxcim`` command where people meet it: help, terminals, shells, the tour and the report."""

import os
import pty
import re
import subprocess
import sys

import pytest

import lxcim_xp as lx

pytest.importorskip("polars")
pytest.importorskip("typer")

from commands import COLUMNS, COMMAND, GAMES, lxcim, predictions


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "games.csv"
    GAMES.write_csv(path)
    return path


@pytest.fixture(scope="module")
def many_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "many.parquet"
    predictions().write_parquet(path)
    return path


@pytest.mark.parametrize(
    "command", ["evaluate", "compare", "orders", "threshold", "curve", "report", "audit", "demo"]
)
def test_help_explains_every_option_and_has_examples(command):
    run = lxcim(command, "--help")
    assert (run.returncode, run.stderr) == (0, "")
    if command != "demo":
        assert f"lxcim {command}" in run.stdout.partition("Examples:")[2]
    assert lxcim(command, "-h").stdout == run.stdout
    from typer.main import get_command

    from lxcim_xp.cli.app import app

    for parameter in get_command(app).commands[command].params:
        assert parameter.help, parameter.name


def test_a_terminal_without_a_sign_shows_the_rest(games):
    columns = (*COLUMNS, "--accuracy", "0.5", "--no-guarantee")
    run = lxcim("threshold", games, *columns, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert run.returncode == 0, run.stderr
    assert "? 0.5 or ? -0.5" in run.stdout


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
    # Nothing waits for standard input, which would not end here.
    silent, _ = os.pipe()
    run = subprocess.run(
        [COMMAND],
        stdin=silent,
        capture_output=True,
        env=os.environ
        | {
            "_LXCIM_COMPLETE": "complete_bash",
            "COMP_WORDS": "lxcim evaluate - --label ",
            "COMP_CWORD": "4",
        },
        timeout=60,
    )
    assert run.stdout.split() == []


def test_the_demo_runs_to_its_end(tmp_path):
    run = lxcim("demo", "-o", "tour", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert re.search(r"0\.8489 \[0\.\d+, 0\.\d+\]", run.stdout)
    made = {path.name for path in (tmp_path / "tour").iterdir()}
    assert made == {"games.csv", "judge.csv", "curve.png", "report.html"}
    # Each step can be typed again.
    steps = re.findall(r"^\$ lxcim (.*)$", run.stdout, re.MULTILINE)
    assert len(steps) == 9
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


def test_a_report_is_the_page_of_the_library(many_file, tmp_path):
    report = pytest.importorskip("lxcim_xp.report")
    words = "--label won --score a --score gap --weight w --by k --interval 0.9 --groups cluster"
    words = f"{words} --threshold 0.5 --missing omit --title Mine"
    command = f"lxcim report {many_file} --output page.html {words}"
    run = lxcim(*command.split()[1:], cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    page = report.html(
        predictions(),
        label="won",
        scores=["a", "gap"],
        weight="w",
        by="k",
        level=0.9,
        groups="cluster",
        threshold=0.5,
        nan_policy="omit",
        title="Mine",
        command=command,
    )
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_a_report_of_margins_is_the_page_of_the_library(many_file, tmp_path):
    report = pytest.importorskip("lxcim_xp.report")
    command = f"lxcim report {many_file} --output page.html --margin margin --title Mine"
    run = lxcim(*command.split()[1:], cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    page = report.html(predictions(), label=None, scores="margin", title="Mine", command=command)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
