"""What the package promises as a package: imports, docstrings, examples, generated tables."""

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import backends
import pytest
from public_names import PUBLIC

import lxcim_xp as lx

ROOT = Path(__file__).parents[2]


def test_importing_the_package_imports_no_array_library_but_numpy():
    heavy = (
        "jax torch cupy pandas polars pyarrow matplotlib scipy sklearn duckdb pyspark hypothesis "
        "jinja2"
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


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_docstrings_are_numpydoc_with_an_example(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    # ES01: an extended summary is not always needed. SA01, SA04: nor is every neighbour.
    # GL01: summaries start on the first line.
    accepted = {"ES01", "SA01", "SA04", "GL01"}
    problems = [(code, text) for code, text in validate(name)["errors"] if code not in accepted]
    assert problems == []


@cache
def output_of(script):
    """Run a script in an empty directory for its figures; return what it prints and draws."""
    with tempfile.TemporaryDirectory() as figures:
        command = [sys.executable, "-W", "error", script, figures]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        return run.stdout, {path.name for path in Path(figures).iterdir()}


def on_one_worker(script):
    """Run the tests of one script where it has run."""
    return pytest.mark.xdist_group(script)


EXAMPLES = [
    pytest.param(path, marks=on_one_worker(path.name), id=path.name)
    for path in sorted(ROOT.glob("examples/*.py"))
]


FIGURES = sorted((ROOT / "docs" / "figures").glob("*.svg"))


def script_of(figure):
    """Return the script that draws a figure; one that draws several numbers them."""
    return re.sub(r"_\d$", "", figure.stem)


@pytest.mark.parametrize("script", EXAMPLES)
def test_examples_run(script):
    if output_of(script)[0].startswith("This example needs"):
        pytest.skip(output_of(script)[0].strip())
    # Figures that a script draws are those that the pages show.
    shown = {path.name for path in FIGURES if script_of(path) == script.stem}
    assert output_of(script)[1] == shown


def test_every_figure_is_shown_and_comes_from_a_script():
    pages = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    for figure in FIGURES:
        assert f"(figures/{figure.name})" in pages
        assert (ROOT / "examples" / f"{script_of(figure)}.py").exists()


@on_one_worker("quickstart.py")
def test_the_quickstart_prints_the_known_numbers():
    printed, _ = output_of(ROOT / "examples" / "quickstart.py")
    assert re.search(r"LxCIM +0\.849\b", printed)
    assert re.search(r"accuracy +0\.763\b", printed)
    assert re.search(r"AUDRC +0\.891\b", printed)


@on_one_worker("which_metrics_are_invariant.py")
def test_the_docs_show_what_the_audit_prints():
    pytest.importorskip("sklearn")
    printed, shown = (
        {tuple(line.split()) for line in text.splitlines() if line.startswith("| ")}
        for text in (
            output_of(ROOT / "examples" / "which_metrics_are_invariant.py")[0],
            (ROOT / "docs" / "exchange.md").read_text(),
        )
    )
    assert len(printed) > 25
    assert printed <= shown


def test_the_table_of_backends_is_the_one_that_drives_the_tests():
    page = (ROOT / "docs" / "backends.md").read_text()
    assert backends.table() in page


def test_the_changelog_knows_this_version():
    assert f"## [{lx.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
