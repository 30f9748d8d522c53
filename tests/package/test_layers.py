"""What may import what: a lower layer never looks at a higher one, nor into a sibling's folder."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "lxcim_xp"
# From the lowest to the highest; a topic may use the public names of other topics.
LAYERS = [
    ("_arrays",),
    ("_numerics",),
    ("_samples",),
    (
        *("comparison", "confusion", "curves", "decision", "exchange", "inference", "invariance"),
        *(
            "choices",
            "_metric_table",
            "losses",
            "metrics",
            "selective",
            "sketch",
            "soft",
            "testing",
        ),
    ),
    ("_plot_lines", "frames", "plots", "polars"),
    ("report",),
    ("__main__", "cli"),
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SHARED = {name for names in LAYERS[:3] for name in names} | {"_plot_lines"}
# Modules that give what a folder holds its public address; and the one room of frames that is open
# to the layers above. What they read there, samples, is nothing that users need a page about.
ADDRESSES = {
    ("comparison", "inference.comparison"),
    ("losses", "soft.losses"),
    ("report", "frames.reading"),
    ("cli", "frames.reading"),
}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imported(path):
    """Return the line and the dotted name, below the package, of each import in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "a relative import"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lxcim_xp":
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}".removeprefix("lxcim_xp.")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "lxcim_xp":
                    yield node.lineno, alias.name.removeprefix("lxcim_xp").removeprefix(".")


def is_module(name):
    place = PACKAGE.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


def offence(home, name):
    """Say what is wrong with an import, if anything is."""
    if name == "a relative import":
        return "is relative"
    first, *inner = name.split(".")
    if first == home or not first or first == "__version__":
        return None
    if first not in RANK:
        # The flat names, which only those may use who look down on all topics.
        return None if RANK[home] > RANK["metrics"] else "takes a name from the whole package"
    if RANK[first] > RANK[home]:
        return f"looks up from {home} to {first}"
    if first in SHARED or (home, f"{first}.{inner[0] if inner else ''}") in ADDRESSES:
        return None
    private = [part for part in inner if part.startswith("_")]
    # Of a folder, everybody else sees what its __init__ has; modules inside are its own.
    if private or (inner and is_module(f"{first}.{inner[0]}") and len(inner) > 1):
        return f"looks into {first}"
    return None


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down_and_stay_out_of_other_folders(path):
    home = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    found = [
        f"{path.relative_to(PACKAGE.parent)}:{line} imports {name}: it {wrong}"
        for line, name in imported(path)
        if (wrong := offence(home, name))
    ]
    assert not found, "\n".join(found)


def test_every_module_has_a_layer():
    homes = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in modules()}
    assert homes == set(RANK)


def test_no_modules_import_each_other():
    paths = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in modules()}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    graph = {
        name: {found if found in paths else found.rpartition(".")[0] for _, found in imported(path)}
        for name, path in paths.items()
    }
    TopologicalSorter(graph).prepare()  # which names the circle, if there is one


@pytest.mark.parametrize(
    ("home", "name"),
    [
        ("_samples", "metrics.lxcim"),
        ("_arrays", "_numerics.ordering.rank"),
        ("metrics", "frames.evaluate"),
        ("metrics", "inference.influence.KERNELS"),
        ("report", "frames.columns.Parts"),
        ("plots", "frames.reading.Reading"),
        ("cli", "report.data_notes.Note"),
        ("frames", "report.html"),
        ("curves", "metrics._accuracy_rate_area"),
        ("metrics", "lxcim"),
    ],
)
def test_what_is_an_offence(home, name):
    assert offence(home, name)
