"""What is published: a wheel that holds the package and nothing else, and a source archive."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import lxcim_xp as lx

pytest.importorskip("build")
pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", directory, ROOT]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    wheel, archive = sorted(directory.iterdir(), key=lambda path: path.suffix, reverse=True)
    return wheel, archive


def test_the_wheel_holds_the_package_and_nothing_else(built):
    info = f"lxcim_xp-{lx.__version__}.dist-info/"
    with zipfile.ZipFile(built[0]) as wheel:
        inside = {name for name in wheel.namelist() if not name.startswith(info)}
        scripts = wheel.read(f"{info}entry_points.txt").decode()
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "lxcim_xp").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert inside == package
    # What type checkers read; the second is also what the package reads its names from.
    assert {"lxcim_xp/py.typed", "lxcim_xp/__init__.pyi"} <= inside
    assert "lxcim = lxcim_xp.cli:main" in scripts


def test_the_version_is_said_once(built):
    wheel, archive = built
    name = f"lxcim_xp-{lx.__version__}.dist-info/METADATA"
    metadata = Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode())
    assert metadata["Version"] == lx.__version__
    assert archive.name == f"lxcim_xp-{lx.__version__}.tar.gz"
    assert f'"{lx.__version__}"' not in (ROOT / "pyproject.toml").read_text()


def test_the_archive_has_what_the_tests_need(built):
    with tarfile.open(built[1]) as archive:
        inside = {Path(*Path(name).parts[1:]).parts[0] for name in archive.getnames()[1:]}
    assert {"lxcim_xp", "tests", "examples", "docs", "noxfile.py", "README.md"} <= inside
    assert not inside & {".venv", ".nox", "dist", "build"}


def test_twine_finds_nothing_to_say(built):
    pytest.importorskip("twine")
    run = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *built],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert run.stdout.count("PASSED") == 2
