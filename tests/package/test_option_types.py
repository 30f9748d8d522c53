"""The words that annotations list are those that functions take."""

from typing import get_args

import pytest

from lxcim_xp import invariance
from lxcim_xp.frames.in_memory import CURVES, CurveName
from lxcim_xp.inference import adjustment
from lxcim_xp.inference.influence import KERNELS, MetricName
from lxcim_xp.soft import losses


@pytest.mark.parametrize(
    ("words", "table"),
    [
        (MetricName, KERNELS),
        (CurveName, CURVES),
        (losses.Kind, losses._KINDS),
        (invariance.audit.__annotations__["kind"], invariance.LAWS),
    ],
    ids=["metrics", "curves", "surrogates", "kinds of metrics"],
)
def test_the_words_of_a_table_are_annotated(words, table):
    assert get_args(words) == tuple(table)


def test_the_words_of_adjustments_are_annotated():
    words, nothing = get_args(adjustment.Adjustment)
    assert (*get_args(words), None) == adjustment.ADJUSTMENTS
    assert nothing is type(None)
