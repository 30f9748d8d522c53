"""Which methods a name stands for, and what becomes of what they return."""

import math

import numpy as np
import pytest
from data import Pair

for library in ("jax", "pyvinecopulib", "scipy"):
    pytest.importorskip(library)
methods, scoring = (pytest.importorskip(name) for name in ("methods", "scoring"))
METHODS, CLEAN = methods.METHODS, methods.CLEAN
by_title, find_method = scoring.by_title, scoring.find_method

MINE = """
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Rule:
    bound: float = 1.0


def one(x, y):
    return Rule().bound


def SLOPE(x, y):
    return 1.0
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "mine.py"


def test_names_of_the_sixteen_are_taken_in_any_case():
    assert by_title(["slope", "SLOPE", "Bqcd"]) == {"SLOPE": "slope", "bQCD": "Bqcd"}
    assert find_method("lcube") is METHODS["LCUBE"]
    assert find_method("lcube", clean=True) is CLEAN["LCUBE"]
    assert find_method("slope", clean=True) is METHODS["SLOPE"]


def test_a_file_is_run_once_and_may_hold_dataclasses(mine):
    method = find_method(f"{mine}:one")
    assert method(None, None) == 1.0
    assert find_method(f"{mine}:one") is method
    assert by_title([f"{mine}:one", f"{mine}:one"]) == {"one": f"{mine}:one"}


def test_two_methods_of_one_name_are_an_error(mine, tmp_path):
    (tmp_path / "other.py").write_text("def one(x, y):\n    return -1.0\n")
    with pytest.raises(ValueError, match=r"mine.py:one and .*other.py:one are both called one"):
        by_title([f"{mine}:one", f"{tmp_path / 'other.py'}:one"])
    with pytest.raises(ValueError, match=r"mine.py:SLOPE has the name of one of the sixteen"):
        by_title([f"{mine}:SLOPE"])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.py", "import nowhere_to_be_found", "cannot be run: ModuleNotFoundError: No module"),
        ("b.py", "def f(:", r"cannot be run: SyntaxError: .*line 1"),
        ("c.txt", "f = max", "is not a Python file"),
        ("d.py", "f = 3", "has no function 'f'"),
    ],
)
def test_a_file_that_holds_no_method_is_one_sentence(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=says):
        find_method(f"{tmp_path / name}:f")


@pytest.mark.parametrize(
    ("returned", "score", "reason"),
    [
        ("np.float32(0.5)", 0.5, ""),
        ("[[0.5]]", 0.5, ""),
        ("True", 1.0, ""),
        ("None", math.nan, "The score is not a finite number."),
        ("np.inf", math.nan, "The score is not a finite number."),
        ("np.ma.masked", math.nan, "TypeError: The method returned masked, which is not one"),
        ("'1.5'", math.nan, "TypeError: The method returned '1.5', which is not one number."),
        ("1 + 2j", math.nan, "TypeError: The method returned (1+2j), which is not one number."),
        ("(1.0, 0.2)", math.nan, "TypeError: The method returned (1.0, 0.2), which is not one"),
        ("{}['key']", math.nan, "KeyError: 'key'"),
        ("exec('raise RuntimeError(\"one\\\\ntwo\")')", math.nan, "RuntimeError: one two"),
        ("10**400", math.nan, "OverflowError: "),
        ("exit(3)", math.nan, "SystemExit: 3"),
    ],
)
def test_what_is_no_finite_number_is_a_reason(tmp_path, returned, score, reason):
    file = tmp_path / "returns.py"
    file.write_text(f"import numpy as np\n\n\ndef f(x, y):\n    return {returned}\n")
    pair = Pair(7, np.arange(5.0), np.arange(5.0), 1.0)
    (answer,) = scoring._answers(scoring._Job(f"{file}:f", False, (0,)), [pair])
    assert answer[:2] == ("f", 7)
    assert answer.score == pytest.approx(score, nan_ok=True)
    assert answer.reason.startswith(reason)
    assert bool(answer.reason) == bool(reason)
    assert "\n" not in answer.reason
