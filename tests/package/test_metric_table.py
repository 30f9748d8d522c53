"""The table of metrics: whatever else lists metrics lists those that it says."""

import inspect
import re
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp import curves, metrics, polars
from lxcim_xp._metric_table import IN_FRAMES, METRICS, TABLE, WITH_BOUNDS
from lxcim_xp.inference.influence import KERNELS

ROOT = Path(__file__).parents[2]


def names(said):
    return {row.name for row in TABLE if said(row)}


def test_the_table_has_each_function_of_one_number_once():
    public = {
        name
        for name, value in vars(metrics).items()
        if inspect.isfunction(value) and value.__module__ == metrics.__name__
        if not name.startswith("_")
    }
    assert len(METRICS) == len(TABLE)
    assert set(METRICS) == public - {"decomposition"}
    assert all(row.function is getattr(lx, row.name) for row in TABLE)


def test_influence_kernels_are_those_of_the_table():
    assert set(KERNELS) == names(lambda row: row.has_influence)


def test_what_is_in_frames_has_intervals_there():
    assert set(IN_FRAMES) <= set(KERNELS)
    assert names(lambda row: row.has_bounds) <= set(IN_FRAMES)


def test_frames_have_a_function_for_each_metric_of_theirs():
    pytest.importorskip("narwhals")
    from lxcim_xp import frames
    from lxcim_xp.frames.sketches import BOUNDS

    assert set(IN_FRAMES) == {name for name in METRICS if hasattr(frames, name)}
    assert tuple(BOUNDS) == WITH_BOUNDS


def test_polars_has_the_expressions_of_the_table():
    found = {name for name in METRICS if hasattr(polars, name)}
    assert found == names(lambda row: row.has_expression)


def test_commands_offer_the_metrics_of_frames():
    pytest.importorskip("typer")
    pytest.importorskip("polars")
    from lxcim_xp.cli.options import Metric

    assert tuple(Metric) == IN_FRAMES


def test_contributions_are_typed_as_the_table_says():
    hints = get_type_hints(curves.contributions)
    assert set(get_args(hints["metric"])) == names(lambda row: row.has_contributions)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_an_invariant_metric_is_one_of_margins(row):
    label, score = np.asarray([1, -1, 1, -1, 1]), np.asarray([2.0, 1.0, -0.5, -3.0, 0.25])
    same = row.function(label, score) == row.function(np.ones(5), label * score)
    assert same == row.is_invariant == (not row.needs_labels)


def test_the_readme_sorts_metrics_as_the_table_does():
    text = (ROOT / "README.md").read_text()
    for said, is_invariant in (("invariant to local", True), ("the paper's comparison", False)):
        line = re.search(rf"^\| {said}.*$", text, re.MULTILINE).group()
        found = set(re.findall(r"`([a-z_]+)`", line)) - {"decomposition"}
        assert found == names(lambda row, wanted=is_invariant: row.is_invariant is wanted)


def test_pages_call_metrics_by_their_titles():
    page = (ROOT / "docs/which_metric.md").read_text()
    assert all(METRICS[name].title.lower() in page.lower() for name in IN_FRAMES)
