"""What the package promises as a package: imports, docstrings, examples, generated tables."""

import importlib.metadata
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import backends
import pytest

import lxcim_xp as lx

ROOT = Path(__file__).parents[1]
MODULES = [
    importlib.import_module(f"lxcim_xp.{module.name}")
    for module in pkgutil.iter_modules(lx.__path__)
    if not module.name.startswith("_")
]
PUBLIC = sorted(
    {
        f"{function.__module__}.{function.__qualname__}"
        for module in [lx, *MODULES]
        for name, function in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(function) or inspect.isclass(function))
        and function.__module__.startswith("lxcim_xp.")
        and not function.__module__.rpartition(".")[2].startswith("_")
    }
)


def test_importing_the_package_imports_no_array_library_but_numpy():
    heavy = (
        "jax torch cupy pandas polars pyarrow matplotlib scipy sklearn duckdb pyspark hypothesis"
    )
    code = f"import lxcim_xp, sys; print(sorted(set({heavy.split()}) & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


def test_the_run_time_dependencies_are_three():
    required = importlib.metadata.requires("lxcim_xp")
    names = [re.match(r"[\w-]+", line).group() for line in required if "extra ==" not in line]
    assert sorted(names) == ["array-api-compat", "narwhals", "numpy"]


def test_all_names_what_is_there():
    assert sorted(lx.__all__) == lx.__all__
    assert all(hasattr(lx, name) for name in lx.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_are_numpydoc_with_an_example(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    # ES01: an extended summary is not always needed. SA01, SA04: nor is every neighbour.
    # GL01: summaries start on the first line.
    accepted = {"ES01", "SA01", "SA04", "GL01"}
    problems = [(code, text) for code, text in validate(name)["errors"] if code not in accepted]
    assert problems == []


@pytest.mark.parametrize("script", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_examples_run(script, tmp_path):
    command = [sys.executable, "-W", "error", script, tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    # Figures that a script draws are those that the pages show.
    shown = {path.name for path in (ROOT / "docs" / "figures").glob("*.svg")}
    assert {path.name for path in tmp_path.iterdir()} == shown & {f"{script.stem}.svg"}


def test_every_figure_is_shown_and_comes_from_a_script():
    pages = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    for figure in (ROOT / "docs" / "figures").glob("*.svg"):
        assert f"(figures/{figure.name})" in pages
        assert (ROOT / "examples" / f"{figure.stem}.py").exists()


def test_the_quickstart_prints_the_known_numbers():
    quickstart = ROOT / "examples" / "quickstart.py"
    run = subprocess.run([sys.executable, quickstart], capture_output=True, text=True, check=True)
    assert re.search(r"LxCIM +0\.849\b", run.stdout)
    assert re.search(r"accuracy +0\.763\b", run.stdout)
    assert re.search(r"AUDRC +0\.891\b", run.stdout)


def test_the_table_of_backends_is_the_one_that_drives_the_tests():
    page = (ROOT / "docs" / "backends.md").read_text()
    assert backends.table() in page


def test_the_changelog_knows_this_version():
    assert f"## [{lx.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
