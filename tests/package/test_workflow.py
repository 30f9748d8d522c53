"""What runs on the code host: every session of noxfile.py, by a name that exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "tests.yml"
NOXFILE = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
# A source archive may come without it.
pytestmark = pytest.mark.skipif(not WORKFLOW.exists(), reason="there is no workflow here")


def sessions_of_the_workflow():
    text = WORKFLOW.read_text(encoding="utf-8")
    (listed,) = re.findall(r"^ +session:\n((?: +- \w+\n)+)", text, re.MULTILINE)
    named = re.findall(r"nox --session (\w+)$", text, re.MULTILINE)
    return re.findall(r"\w+", listed) + named


def sessions_of_nox():
    """Return the functions that nox runs: those decorated by nox.session, called or not."""
    return {
        node.name
        for node in NOXFILE.body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(mark).startswith("nox.session") for mark in node.decorator_list)
    }


def default_sessions_of_nox():
    (listed,) = (
        ast.literal_eval(node.value)
        for node in NOXFILE.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "nox.options.sessions"
    )
    return set(listed)


def test_the_workflow_runs_each_session_of_nox():
    listed = sessions_of_the_workflow()
    assert len(set(listed)) == len(listed)
    assert set(listed) == sessions_of_nox()
    assert default_sessions_of_nox() <= set(listed)


def test_a_row_with_its_own_pythons_is_a_row_of_the_list():
    # In a matrix, a misspelt name would add a job instead of changing one.
    rows = re.findall(r"^ +- session: (\w+)$", WORKFLOW.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows
    assert set(rows) <= set(sessions_of_the_workflow())
