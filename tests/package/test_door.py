"""How one comes in: nothing is loaded before it is used, and every public import works first."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

import lxcim_xp as lx

# Public modules; those that need more than NumPy, with what they need.
MODULES = {
    **dict.fromkeys(("comparison", "confusion", "curves", "decision", "exchange", "frames")),
    **dict.fromkeys(("inference", "invariance", "losses", "metrics", "selective", "sketch")),
    **dict.fromkeys(("soft", "cli")),
    "plots": "matplotlib",
    "polars": "polars",
    "report": "jinja2",
    "testing": "hypothesis",
}
COMMANDS = ("evaluate", "compare", "orders", "threshold", "curve", "report", "audit", "demo")
HEAVY = {"numpy", "polars", "narwhals", "matplotlib", "jinja2", "array_api_compat"}
AT_THE_END = (
    "import atexit, json, sys; from lxcim_xp.cli import main; sys.argv[0] = 'lxcim'; "
    "atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr)); main()"
)


def printed(code, *arguments, **env):
    """Return what a fresh interpreter prints to its two streams."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "100", "PYTHONUTF8": "1"} | env,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, run.stderr


def loaded_by(code):
    """Return the modules that are there after some code ran in a fresh interpreter."""
    return set(
        json.loads(printed(f"{code}\nimport json, sys; print(json.dumps([*sys.modules]))")[0])
    )


def ours(modules):
    return {name for name in modules if name.startswith("lxcim_xp.")}


def test_importing_the_package_loads_no_topic():
    assert ours(loaded_by("import lxcim_xp; dir(lxcim_xp)")) == set()
    assert not HEAVY & loaded_by("import lxcim_xp; lxcim_xp.__version__")


def test_a_metric_loads_what_it_is_computed_with():
    loaded = ours(loaded_by("from lxcim_xp import lxcim; lxcim([1, 0], [2.0, -1.0])"))
    topics = {name.split(".")[1] for name in loaded if not name.split(".")[1].startswith("_")}
    assert topics == {"metrics"}


def test_everything_is_seen_before_it_is_loaded():
    code = "import lxcim_xp, json; print(json.dumps(dir(lxcim_xp)))"
    modules = set(MODULES) - {"cli"}  # which is a command
    assert {*lx.__all__, *modules, "__version__"} <= set(json.loads(printed(code)[0]))


def test_a_star_brings_everything():
    code = "from lxcim_xp import *; import json; print(json.dumps(dir()))"
    assert set(lx.__all__) <= set(json.loads(printed(code)[0]))


def test_what_is_not_there_is_an_error_with_its_name():
    with pytest.raises(AttributeError, match="'lxcim_xp' has no attribute 'lxcin'"):
        _ = lx.lxcin
    with pytest.raises(ImportError, match="lxcin"):
        from lxcim_xp import lxcin  # noqa: F401


@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_can_come_first(name):
    if MODULES[name]:
        pytest.importorskip(MODULES[name])
    code = """
import importlib, sys, types
module = importlib.import_module(f"lxcim_xp.{sys.argv[1]}")
import lxcim_xp
from lxcim_xp import exchange, losses, lxcim, sketch
assert module is sys.modules[f"lxcim_xp.{sys.argv[1]}"]
# Functions keep the name that they share with their module, whichever came first.
assert isinstance(lxcim_xp.exchange, types.FunctionType) and lxcim_xp.exchange is exchange
assert isinstance(lxcim_xp.sketch, types.FunctionType) and lxcim_xp.sketch is sketch
assert lxcim_xp.exchange is sys.modules["lxcim_xp.exchange"].exchange
found = getattr(lxcim_xp, sys.argv[1])
assert found is module or sys.argv[1] in ("exchange", "sketch")
print(lxcim([1, 0], [2.0, -1.0]))
"""
    assert printed(code, name) == ("1.0\n", "")


def test_every_name_can_come_first():
    # One interpreter for all: before each name the package is forgotten, and its libraries are not.
    code = """
import importlib, inspect, sys
import numpy
for name in sys.argv[1:]:
    for module in [each for each in sys.modules if each.split(".")[0] == "lxcim_xp"]:
        del sys.modules[module]
    exec(f"from lxcim_xp import {name} as found")
    assert inspect.ismodule(found) == (name in ("choices", "confusion", "losses")), name
    assert found.__name__.rpartition(".")[2] == name, name
print("all of them")
"""
    assert printed(code, *lx.__all__) == ("all of them\n", "")


@pytest.fixture
def command():
    """Return the modules that are there when the command ended."""
    for needed in ("typer", "polars", "rich"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")

    def run(*arguments, **env):
        out, err = printed(AT_THE_END, *arguments, **env)
        return out, set(json.loads(err.splitlines()[-1]))

    return run


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)],
    ids=" ".join,
)
def test_help_and_version_compute_nothing(command, arguments):
    out, loaded = command(*arguments)
    assert out
    assert not HEAVY & loaded
    light = {"cli", "cli.app", "cli.options", "cli.output", "_metric_table"}
    assert ours(loaded) == {f"lxcim_xp.{each}" for each in light}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("lxcim ev", ["evaluate"]),
        ("lxcim evaluate games.csv --la", ["--label"]),
        ("lxcim curve games.csv --kind r", ["roc"]),
    ],
)
def test_completing_options_computes_nothing(command, words, offered):
    completing = {
        "_LXCIM_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    out, loaded = command(**completing)
    assert out.split() == offered
    assert not HEAVY & loaded


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("won,ours,theirs\n" + "1,2.5,1\n0,-1,2\n1,0.5,-1\n0,-3,-2\n" * 5)
    return path


@pytest.mark.parametrize("name", ["evaluate", "compare", "threshold"])
def test_numbers_need_no_figures_and_no_pages(command, games, name):
    more = {"threshold": ("--accuracy", "0.5", "--no-guarantee")}.get(name, ())
    columns = ("--label", "won", "--score", "ours", "--score", "theirs")
    _, loaded = command(name, games, *columns, *more)
    assert {"numpy", "polars", "lxcim_xp.frames"} <= loaded
    assert not {"matplotlib", "jinja2", "lxcim_xp.plots", "lxcim_xp.report"} & loaded
    assert "lxcim_xp.cli.figures" not in loaded


def test_points_of_a_curve_need_no_figures(command, games):
    written = games.with_name("points.csv")
    _, loaded = command("curve", games, "--label", "won", "--score", "ours", "-o", written)
    assert written.exists()
    assert not {"matplotlib", "jinja2"} & loaded


def test_an_audit_needs_no_figures_and_no_pages(command):
    _, loaded = command("audit", "lxcim_xp:accuracy", "--law", "lxc")
    assert not {"matplotlib", "jinja2", "lxcim_xp.plots", "lxcim_xp.report"} & loaded


@pytest.mark.parametrize("library", ["polars", "rich", "typer"])
def test_a_command_that_lacks_a_library_says_what_to_install(command, games, library):
    code = f"import sys; sys.modules[{library!r}] = None; from lxcim_xp.cli import main; main()"
    arguments = ["evaluate", games, "--label", "won", "--score", "ours"]
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (1, "")
    assert "pip install 'lxcim_xp[cli]'" in run.stderr
    assert "Traceback" not in run.stderr


def test_garbage_is_collected_while_a_command_works(command, tmp_path):
    metric = "import gc\n\ndef metric(labels, scores):\n    assert gc.isenabled()\n    return 1.0\n"
    (tmp_path / "watchful.py").write_text(metric)
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    out, _ = command("audit", "watchful:metric", "--law", "lxc", "--require", PYTHONPATH=paths)
    assert out
