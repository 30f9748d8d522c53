"""Every block of README.md and of the pages in docs/ runs and prints what the page shows.

The Python of a page is one session: its blocks run in order and share their names.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^ *```(\S+)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
BLOCKS = [
    pytest.param(language, block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (language, block) in enumerate(FENCE.findall(page.read_text()))
]
# Code that prints nothing, and calls with what they print.
PYTHON = ("python", "pycon")
OTHER = [block for block in BLOCKS if block.values[0] not in PYTHON]
CONSOLE = [block for block in BLOCKS if block.values[0] == "console"]
SESSIONS = [
    pytest.param(page, id=page.name)
    for page in PAGES
    if any(language in PYTHON for language, _ in FENCE.findall(page.read_text()))
]
WITH_OUTPUT = [
    pytest.param(page, id=page.name)
    for page in PAGES
    if re.search(r"^ *```(pycon|console)$", page.read_text(), re.MULTILINE)
]
# What the commands of the pages may start with, beside a script of this repository.
COMMANDS = (
    "python3 -m venv .venv",
    ".venv/bin/nox",
    ".venv/bin/lxcim",
    "pip install ",
    ".venv/bin/pip install ",
)
SCRIPT = re.compile(r"\b((?:examples|benchmarks|tests)[\w/]+\.py)((?: --[\w-]+(?: [\w.,]+)?)*)")
# Files that commands of pages read, with their names beside the language.
FILE = re.compile(r"^ *```text (\S+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
FILES = {name: text for page in PAGES for name, text in FILE.findall(page.read_text())}
NAMED = sorted({match for page in PAGES for match in SCRIPT.findall(page.read_text())})


@pytest.mark.parametrize("page", SESSIONS)
def test_python_prints_what_the_page_shows(page):
    text, names = page.read_text(), {}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    for found in FENCE.finditer(text):
        language, block = found[1], textwrap.dedent(found[2])
        if language not in PYTHON:
            continue
        for library in ("jax", "pandas", "polars"):
            if f"import {library}" in block:
                pytest.importorskip(library)
        line = text.count("\n", 0, found.start(2))
        if language == "python":
            code = "\n" * line + block  # so that a traceback names the line of the page
            exec(compile(code, str(page), "exec"), names)
        else:
            examples = parser.get_doctest(block, names, page.name, str(page), line)
            report = []
            runner.run(examples, out=report.append, clear_globs=False)
            assert not report, "".join(report)
            names = examples.globs


@pytest.mark.parametrize("page", SESSIONS)
def test_pages_show_values_instead_of_asserting_them(page):
    code = "".join(block for language, block in FENCE.findall(page.read_text()))
    assert not re.search(r"^(>>> |\.\.\. )? *assert\b", code, re.MULTILINE)


@pytest.mark.parametrize("page", SESSIONS)
def test_only_blocks_that_print_have_prompts(page):
    for language, block in FENCE.findall(page.read_text()):
        assert (">>> " in block) == (language == "pycon")


@pytest.mark.parametrize("page", WITH_OUTPUT)
def test_the_first_screen_shows_a_call_and_what_it_prints(page):
    text = page.read_text()
    first = re.search(r"^ *```(pycon|console)$", text, re.MULTILINE)
    assert "\n## " not in text[: first.start()]
    assert re.search(r"^(?!>>> |\.\.\. |\$ ).", FENCE.match(text, first.start())[2], re.MULTILINE)


@pytest.mark.parametrize(("language", "block"), OTHER)
def test_what_is_not_python_is_of_a_kind_that_is_checked(language, block):
    lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
    if language == "sh":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        for command in " && ".join(lines).split(" && "):
            assert command.startswith(COMMANDS) or SCRIPT.search(command), command
            for named in re.findall(r"\[([\w,]+)\]", command):
                assert set(named.split(",")) <= set(extras["optional-dependencies"])
    elif language == "console":
        # Commands and what they print.
        commands = [line for line in lines if line.startswith("$ ")]
        assert commands
        assert all(command.startswith("$ lxcim") for command in commands)
    elif language == "text":
        assert block in FILES.values()
    else:
        # What Sphinx reads, and other readers see as names of pages.
        assert language in ("{toctree}", "{include}")


@pytest.mark.parametrize(("language", "block"), CONSOLE)
def test_commands_print_what_the_page_shows(language, block, tmp_path):
    for library in ("jinja2", "matplotlib", "polars", "typer"):
        pytest.importorskip(library)
    from lxcim_xp.cli.demo import games, judge

    (tmp_path / "games.csv").write_bytes(games())
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "judge.csv").write_bytes(judge())
    printed = ""
    for command in re.findall(r"^\$ lxcim (.*)$", block, re.MULTILINE):
        run = subprocess.run(
            [sys.executable, "-m", "lxcim_xp", *shlex.split(command)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            text=True,
        )
        printed += f"$ lxcim {command}\n{run.stdout}"
    assert printed.splitlines() == block.splitlines()


def test_every_block_says_its_language():
    for page in PAGES:
        fences = re.findall(r"^ *```", page.read_text(), re.MULTILINE)
        assert len(fences) == 2 * len(FENCE.findall(page.read_text())), page.name


@pytest.mark.parametrize(("script", "options"), NAMED)
def test_scripts_that_pages_name_are_there_and_know_their_options(script, options):
    source = (ROOT / script).read_text()
    compile(source, script, "exec")
    for option in re.findall(r"--[\w-]+", options):
        assert f'"{option}"' in source
