"""What docstrings say about parameters: the same everywhere, and what signatures say."""

import ast
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from public_names import FUNCTIONS, PUBLIC

ROOT = Path(__file__).parents[2]
SCRIPT, PACKAGE = ROOT / "tools" / "docstrings.py", ROOT / "lxcim_xp"


def load(script):
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docstrings = load(SCRIPT)
SOURCES = [(path, topic, path.read_text("utf-8")) for path, topic in docstrings.sources(PACKAGE)]
PARAGRAPHS = [
    paragraph for _, topic, source in SOURCES for paragraph in docstrings.paragraphs(source, topic)
]


def run_script(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


def test_the_script_finds_nothing_to_change():
    run = run_script("--check")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_script_names_and_mends_what_was_changed(tmp_path):
    package = shutil.copytree(PACKAGE, tmp_path / "lxcim_xp")
    metrics = package / "metrics.py"
    good = metrics.read_text("utf-8")
    metrics.write_text(good.replace("after broadcasting", "before broadcasting", 1), "utf-8")
    line = good[: good.index("after broadcasting")].count("\n")  # that of the name, one above
    checked = run_script("--check", package)
    assert checked.returncode == 1
    assert re.fullmatch(rf"\S+metrics\.py:{line}: metrics\.\w+\.axis .*\n", checked.stdout)
    assert metrics.read_text("utf-8") != good  # looking changes nothing
    assert run_script(package).returncode == 0
    assert metrics.read_text("utf-8") == good


def without_paragraphs(source, topic):
    """Leave of each shared paragraph only the name of its parameter."""
    lines = source.splitlines(keepends=True)
    for paragraph in reversed(list(docstrings.paragraphs(source, topic))):
        if paragraph.wanted is not None and paragraph.place not in docstrings.OWN:
            name = paragraph.found[0].partition(" : ")[0]
            lines[paragraph.first : paragraph.first + len(paragraph.found)] = [f"{name}\n"]
    return "".join(lines)


def test_names_are_enough():
    stubs = [without_paragraphs(source, topic) for _, topic, source in SOURCES]
    assert sum(stub != source for stub, (_, _, source) in zip(stubs, SOURCES, strict=True)) > 10
    for stub, (_, topic, source) in zip(stubs, SOURCES, strict=True):
        assert docstrings.mended(stub, topic) == source


def test_every_exception_is_one():
    own = {
        paragraph.place
        for paragraph in PARAGRAPHS
        if paragraph.wanted not in (None, paragraph.found)
    }
    assert own == docstrings.OWN


def test_every_definition_is_used():
    used = {line.strip() for paragraph in PARAGRAPHS for line in paragraph.wanted or ()}
    tables = {"samples": docstrings.SAMPLES, **docstrings.TABLES}
    for name, table in tables.items():
        for key, (_, *body) in table.items():
            if not any("{function}" in line for line in body):
                assert {line.strip() for line in body} <= used, (name, key)


def test_no_docstring_holds_a_placeholder():
    for name, value in PUBLIC.items():
        assert not re.findall(r"<[A-Z_]+>|\{function\}", value.__doc__), name


# Left out, a threshold is 0.0 and scores that look like probabilities are warned of.
LEFT_OUT = {"threshold": 0.0}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_documented_defaults_are_those_of_the_signature(name):
    headers = re.findall(r"^(\w+) : (.*)$", inspect.getdoc(FUNCTIONS[name]), re.MULTILINE)
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    for parameter, kind in headers:
        if parameter not in parameters:
            continue  # something to see also
        default = parameters[parameter].default
        if default is None and parameter in LEFT_OUT:
            default = LEFT_OUT[parameter]
        if default in (inspect.Parameter.empty, ...):
            assert not re.search("default|optional", kind), parameter
        elif default is None:
            assert kind.endswith("optional"), parameter
        else:
            written = kind.partition(", default ")[2]
            if callable(default):
                assert written == default.__name__
            else:
                assert ast.literal_eval(written) == default, parameter
