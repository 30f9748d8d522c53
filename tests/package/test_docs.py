"""The site has every public name, every page and every example; building it is `nox -s docs`."""

import importlib
import inspect
import re
import sys
from pathlib import Path

from public_names import PUBLIC

import lxcim_xp as lx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def reference():
    """Return the names in docs/api.rst: those with pages of their own, and modules."""
    module, inside, names, modules = "", False, [], set()
    for line in (DOCS / "api.rst").read_text().splitlines():
        if found := re.match(r"\.\. (automodule|currentmodule):: (\S+)", line):
            module = found[2]
            modules |= {module} if found[1] == "automodule" else set()
        elif line.startswith(".. autosummary::"):
            inside = True
        elif inside and (found := re.match(r" +(\w+)$", line)):
            names.append(f"{module}.{found[1]}")
        elif line and not line.startswith(" "):
            inside = False
    return names, modules


NAMES, MODULES = reference()


def documented(name):
    """Return where an object of the reference is defined."""
    module, _, attribute = name.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    return f"{found.__module__}.{found.__qualname__}"


def test_every_flat_name_is_in_the_reference():
    flat = [name for name in lx.__all__ if not inspect.ismodule(getattr(lx, name))]
    assert sorted(name for name in NAMES if name.count(".") == 1) == [
        f"lxcim_xp.{name}" for name in flat
    ]
    assert {f"lxcim_xp.{name}" for name in set(lx.__all__) - set(flat)} <= MODULES


def test_every_public_name_is_in_the_reference_once():
    places = [documented(name) for name in NAMES]
    # The command line has a page, docs/cli.md, instead.
    public = [name for name in sorted(PUBLIC) if not name.startswith("lxcim_xp.cli.")]
    assert sorted(places) == public


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text()
    trees = re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    listed = re.findall(r"<(\S+)>$", "".join(trees), re.MULTILINE)
    pages = {path.stem for path in DOCS.iterdir() if path.suffix in (".md", ".rst")}
    assert sorted(listed) == sorted(pages - {"index"} | {"self", "gallery/index"})


def test_every_example_is_in_the_gallery_with_what_it_needs(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    needs = importlib.import_module("gallery_tools").NEEDS
    sources = {path.stem: path.read_text() for path in ROOT.glob("examples/*.py")}
    assert set(needs) == set(sources)
    for name, source in sources.items():
        # One that leaves where a library is missing would take Sphinx along.
        polars_only = name == "subgroups_polars"  # an extra that the site always has
        assert bool(needs[name]) == ("sys.exit" in source and not polars_only), name
