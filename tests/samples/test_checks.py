"""What bad input gets: an error that says what to change, or NaN where values cannot be seen."""

import re

import numpy as np
import pytest
import samples
from backends import context, convert, to_numpy

import lxcim_xp as lx

LABEL = np.asarray([1, 0, 1, 0])
SCORE = np.asarray([2.0, -1.0, 0.5, 1.5])
NAN_SCORE = np.asarray([2.0, -1.0, np.nan, 1.5])
METRICS = [*samples.METRICS, lx.confusion.confusion]
BAD = {
    "nan score": (
        {"y_score": NAN_SCORE},
        "y_score must not hold NaN; found nan at position 2. Pass nan_policy='omit' to drop such "
        "samples or nan_policy='abstain' to count them as undecided.",
    ),
    "label 2": (
        {"y_true": np.asarray([1, 0, 2, 0])},
        "y_true must hold 0/1 or -1/+1; found 2 at position 2. Pass y_true == positive_label.",
    ),
    "nan label": (
        {"y_true": np.asarray([1, np.nan, 1, 0])},
        "y_true must hold 0/1 or -1/+1; found nan at position 1.",
    ),
    "both 0 and -1": (
        {"y_true": np.asarray([1, -1, 1, 0])},
        "y_true must hold 0/1 or -1/+1; found 0 at position 3.",
    ),
    "negative weight": (
        {"sample_weight": np.asarray([1.0, 1.0, 1.0, -2.0])},
        "sample_weight must be finite and not negative; found -2 at position 3.",
    ),
    "infinite weight": (
        {"sample_weight": np.asarray([np.inf, 1.0, 1.0, 1.0])},
        "sample_weight must be finite and not negative; found inf at position 0.",
    ),
    "nan weight": (
        {"sample_weight": np.asarray([1.0, np.nan, 1.0, 1.0])},
        "sample_weight must be finite and not negative; found nan at position 1.",
    ),
    "nan threshold": (
        {"threshold": np.asarray([0.0, 0.0, np.nan, 0.0])},
        "threshold must be a number; found nan at position 2. Pass the score that decides.",
    ),
    "no probability": (
        {"decision": lx.probability(), "y_score": np.asarray([0.5, 0.2, 1.5, 0.1])},
        "y_score must lie between 0 and 1 for this decision function; found 1.5 at position 2.",
    ),
}
bad_input = pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())


@bad_input
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_numpy_says_what_is_wrong_and_what_to_do(metric, arguments, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        metric(**{"y_true": LABEL, "y_score": SCORE, **arguments})


@bad_input
@pytest.mark.runners("strict-eager", "jax-eager", "jax-jit", "torch-eager", "cupy-eager")
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_other_libraries_give_nan_in_that_batch_entry_only(runner, metric, arguments, message):
    arguments = {"y_true": LABEL, "y_score": SCORE, **arguments}
    good = {
        "y_true": LABEL,
        "y_score": SCORE,
        "sample_weight": 1 + 0 * SCORE,
        "threshold": 0 * SCORE,
    }
    if "decision" in arguments:
        good["y_score"] = SCORE / 4 + 0.25
    arrays = {
        name: np.stack([good[name], value]).astype("float32")
        for name, value in arguments.items()
        if name != "decision"
    }

    def function(arrays):
        return metric(**arrays, **{k: v for k, v in arguments.items() if k == "decision"})

    if runner.transform == "jit":
        import jax

        function = jax.jit(function)
    with context(runner.backend):
        found = function({name: convert(runner.backend, value) for name, value in arrays.items()})
    found = to_numpy(found)
    assert np.all(np.isnan(found[1]))
    assert not np.any(np.isnan(found[0]))


def test_the_position_in_a_batch_is_an_index():
    score = np.stack([SCORE, NAN_SCORE])
    with pytest.raises(ValueError, match=r"found nan at position \(1, 2\)"):
        lx.lxcim(LABEL, score)
    with pytest.raises(ValueError, match=r"found nan at position \(2, 1\)"):
        lx.lxcim(LABEL[:, None], score.T, axis=0)


def test_samples_that_do_not_count_may_hold_anything():
    label, weight = np.asarray([1, 0, 7, 0]), np.asarray([1.0, 1.0, np.nan, 1.0])
    where = np.asarray([True, True, False, True])
    expected = lx.lxcim(LABEL[where], SCORE[where])
    assert lx.lxcim(label, NAN_SCORE, sample_weight=weight, where=where) == expected
    assert lx.lxcim(label, NAN_SCORE, sample_weight=np.where(where, 1.0, 0.0)) == expected


def test_bi_auroc_allows_a_third_class_and_no_fourth():
    assert lx.bi_auroc([True, False], [1.0, 0.0]) == lx.bi_auroc([1, -1], [1.0, 0.0]) == 1
    with pytest.raises(ValueError, match=re.escape("y_true must hold -1, 0 or +1; found 2 at")):
        lx.bi_auroc([1, -1, 2], [1.0, 0.0, 0.5])


def test_shapes_that_do_not_broadcast_are_named():
    message = re.escape("shapes do not broadcast: y_score (4,), y_true (3,). Reshape them")
    with pytest.raises(ValueError, match=message):
        lx.lxcim(LABEL[:3], SCORE)
    with pytest.raises(ValueError, match=re.escape("sample_weight (2,)")):
        lx.lxcim(LABEL, SCORE, sample_weight=[1.0, 2.0])


@pytest.mark.runners("*-eager")
def test_shapes_that_do_not_broadcast_are_named_by_every_library(runner):
    with context(runner.backend):
        label, score = (convert(runner.backend, a) for a in (LABEL[:3], SCORE.astype("float32")))
        with pytest.raises(ValueError, match=re.escape("y_score (4,), y_true (3,)")):
            lx.lxcim(label, score)


@pytest.mark.runners("strict-eager", "jax-eager", "torch-eager", "cupy-eager")
def test_mixed_libraries_are_both_named(runner):
    name = runner.backend.library
    with context(runner.backend):
        score = convert(runner.backend, SCORE.astype("float32"))
        with pytest.raises(TypeError, match=f"y_score is a {name} array but y_true is a numpy"):
            lx.lxcim(LABEL, score)
        with pytest.raises(TypeError, match=f"y_score is a numpy array but threshold is a {name}"):
            lx.lxcim(LABEL, SCORE, threshold=score)


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (
            ValueError,
            "nan_policy must be one of ('raise', 'omit', 'abstain'); found 'drop'.",
            {"nan_policy": "drop"},
        ),
        (
            ValueError,
            "axis must lie between -1 and 0 for 1-dimensional input; found 1.",
            {"axis": 1},
        ),
        (
            ValueError,
            "y_score must have at least one axis; found a single number.",
            {"y_score": 0.3},
        ),
        (ValueError, "threshold must be a number; found nan.", {"threshold": float("nan")}),
        (
            ValueError,
            "threshold=0.5 and decision= were both given.",
            {"threshold": 0.5, "decision": lx.probability()},
        ),
        (
            TypeError,
            "y_true must hold real numbers; found dtype <U3. Pass y_true == positive_label.",
            {"y_true": np.asarray(["yes", "no", "yes", "no"])},
        ),
        (TypeError, "y_score must hold real numbers; found dtype complex", {"y_score": SCORE + 0j}),
        (TypeError, "where must be boolean; found dtype int64. Pass where != 0.", {"where": LABEL}),
        (TypeError, "y_score must be an array, a list or a number; found str.", {"y_score": "abc"}),
        (
            TypeError,
            "y_score is a NumPy masked array. Pass y_score.data and where=~y_score.mask instead.",
            {"y_score": np.ma.masked_invalid(NAN_SCORE)},
        ),
    ],
)
def test_unusable_arguments_are_refused(error, message, arguments):
    with pytest.raises(error, match="^" + re.escape(message)):
        lx.lxcim(**{"y_true": LABEL, "y_score": SCORE, **arguments})


def test_an_unknown_form_of_audrc_is_refused():
    with pytest.raises(ValueError, match="form must be 'discrete' or 'continuous'; found 'smooth'"):
        lx.audrc(LABEL, SCORE, form="smooth")


def test_a_vector_that_is_no_confusion_is_refused():
    with pytest.raises(
        ValueError, match=re.escape("TP, FP, FN, TN on its last axis; found shape (3,)")
    ):
        lx.confusion.f1([1, 2, 3])
