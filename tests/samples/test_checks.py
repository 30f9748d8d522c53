"""What bad input gets: an error that says what to change, or NaN where values cannot be seen."""

import re
from functools import partial

import numpy as np
import pytest
import samples
from backends import context, convert, to_numpy

import lxcim_xp as lx

# The remark about probabilities, which other tests do not look at.
pytestmark = pytest.mark.filterwarnings("error:all scores lie in:UserWarning")

LABEL = np.asarray([1, 0, 1, 0])
SCORE = np.asarray([2.0, -1.0, 0.5, 1.5])
NAN_SCORE = np.asarray([2.0, -1.0, np.nan, 1.5])
METRICS = [*samples.METRICS, lx.confusion.confusion]
BAD = {
    "nan score": (
        {"y_score": NAN_SCORE},
        "y_score must not hold NaN; found nan at position 2. Pass nan_policy='omit' to drop such "
        "samples or nan_policy='abstain' to count them as undecided, or where= to functions "
        "without it.",
    ),
    "label 2": (
        {"y_true": np.asarray([1, 0, 2, 0])},
        "y_true must hold 0/1 or -1/+1; found 2 at position 2. Pass y_true == positive_label.",
    ),
    "nan label": (
        {"y_true": np.asarray([1, np.nan, 1, 0])},
        "y_true must hold 0/1 or -1/+1; found nan at position 1. Pass nan_policy='omit' to drop "
        "such samples, or where= to functions without it.",
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
    "infinite score at an infinite threshold": (
        {
            "threshold": np.asarray([np.inf] * 4),
            "y_score": np.asarray([2.0, np.inf, -np.inf, 1.5]),
        },
        "y_score must not be infinite where the threshold is; found inf at position 1. Pass a "
        "finite threshold",
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
        (TypeError, "axis must be one integer; found None. Reshape", {"axis": None}),
        (TypeError, "axis must be one integer; found (0, 1). Reshape", {"axis": (0, 1)}),
        (TypeError, "axis must be one integer; found 0.5. Reshape", {"axis": 0.5}),
        (
            TypeError,
            "y_true must be an array, a list or a number; found None. Pass labels, or 1 where",
            {"y_true": None},
        ),
        (
            TypeError,
            "y_score must be an array, a list or a number; found None. Pass one score for each",
            {"y_score": None},
        ),
        (
            TypeError,
            "decision must be a Decision; found 'probability'. Pass probability(), for example",
            {"decision": "probability"},
        ),
        (
            ValueError,
            "threshold must fit into the dtype of y_score, float16; found 100000.0. Pass wider",
            {"y_score": SCORE.astype("float16"), "threshold": 1e5},
        ),
        (
            ValueError,
            "threshold must fit into the dtype of y_score, float16; found -100000 at position 0.",
            {"y_score": SCORE.astype("float16"), "threshold": [-1e5]},
        ),
        (
            ValueError,
            "y_score must not be infinite where the threshold is; found -inf at position 2.",
            {"y_score": [1.0, np.inf, -np.inf, 2.0], "threshold": -np.inf},
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


def test_a_decision_function_that_was_not_called_is_named():
    message = "Pass probability(), or decision_function(probability) for a confidence of your own."
    with pytest.raises(TypeError, match=re.escape(message)):
        lx.lxcim(LABEL, SCORE, decision=lx.probability)


@pytest.mark.parametrize(
    "zero", [None, 0, 0.0, -0.0, np.float32(0), np.int64(0), np.zeros(()), np.zeros(1)], ids=repr
)
def test_a_threshold_of_zero_beside_a_decision_is_the_default(zero):
    p = SCORE / 4 + 0.5
    expected = lx.lxcim(LABEL, p, decision=lx.probability())
    assert lx.lxcim(LABEL, p, decision=lx.probability(), threshold=zero) == expected
    with pytest.raises(ValueError, match="were both given"):
        lx.lxcim(LABEL, p, decision=lx.probability(), threshold=np.float32(0.5))


def test_an_infinite_threshold_decides_finite_scores():
    assert lx.accuracy(LABEL, SCORE, threshold=np.inf) == 0.5
    assert lx.accuracy(LABEL, [np.inf, 1.0, 2.0, np.inf], threshold=-np.inf) == 0.5


@pytest.mark.runners("strict-eager", "jax-eager", "jax-jit", "torch-eager", "cupy-eager")
def test_thresholds_that_become_infinite_are_refused_or_nan(runner):
    with context(runner.backend):
        label, score = (convert(runner.backend, a.astype("float32")) for a in (LABEL, SCORE))
        with pytest.raises(ValueError, match="threshold must fit into the dtype of y_score"):
            lx.lxcim(label, score, threshold=1e39)
        where = convert(runner.backend, SCORE.astype("float32") * np.float32(np.inf))
        assert np.isnan(to_numpy(lx.lxcim(label, where, threshold=float("inf"))))
        assert np.isnan(to_numpy(lx.lxcim(label, where, threshold=-float("inf"))))


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("column", ["y_true", "y_score", "sample_weight", "where"])
def test_a_column_beside_a_list_is_refused_by_every_library(runner, column):
    arrays = {"y_true": LABEL, "y_score": SCORE, "sample_weight": SCORE**2, "where": SCORE > -9}
    arrays[column] = arrays[column][:, None]
    if runner.backend.dtype == "float32":
        arrays = {
            name: x.astype("float32") if x.dtype == float else x for name, x in arrays.items()
        }
    message = rf"{column} has shape \(4, 1\) beside .*Pass {column}\[..., 0\]"
    with context(runner.backend):
        arrays = {name: convert(runner.backend, array) for name, array in arrays.items()}
        for metric in (lx.lxcim, lx.auroc, lx.soft_lxcim, lx.interval):
            with pytest.raises(ValueError, match=message):
                metric(**arrays)


def test_batches_that_are_meant_go_on_to_broadcast():
    scores = np.stack([SCORE, -SCORE, SCORE + 1, SCORE - 1])  # as many models as samples
    rows = [lx.lxcim(LABEL, score) for score in scores]
    np.testing.assert_array_equal(lx.lxcim(LABEL, scores), rows)
    np.testing.assert_array_equal(lx.lxcim(LABEL[:, None], scores.T, axis=0), rows)
    np.testing.assert_array_equal(lx.lxcim(1, SCORE[:, None], axis=0), [lx.lxcim(1, SCORE)])
    np.testing.assert_array_equal(lx.accuracy(LABEL[:, None], SCORE[:, None]), [1, 1, 1, 0])
    thresholds = SCORE[:, None] / 2
    singles = [lx.lxcim(LABEL, SCORE, threshold=float(t)) for t in SCORE / 2]
    np.testing.assert_array_equal(lx.lxcim(LABEL, SCORE, threshold=thresholds), singles)
    assert lx.lxcim([1], [[2.0]]) == 1
    present = np.asarray([True, False, True, True])
    masked = lx.lxcim(LABEL, scores, where=present[:, None])  # of whole entries
    np.testing.assert_array_equal(masked, np.where(present, rows, np.nan))
    weighted = lx.lxcim(LABEL, scores, sample_weight=[[1.0], [2.0], [3.0], [4.0]])
    np.testing.assert_array_equal(weighted, rows)


@pytest.mark.parametrize("beside", ["y_true", "sample_weight", "where"])
@pytest.mark.parametrize("function", [lx.compare, lx.required_samples])
def test_columns_of_scores_are_refused_in_comparisons(function, beside):
    lists = {"y_true": LABEL, "sample_weight": SCORE**2, "where": SCORE > -9}
    given = {"y_true": 1} | {beside: lists[beside]}
    message = rf"score_a has shape \(4, 1\) beside {beside} .*Pass score_a\[..., 0\]"
    with pytest.raises(ValueError, match=message):
        function(score_a=SCORE[:, None], score_b=-SCORE[:, None], **given)


def test_advice_for_missing_values_holds_in_functions_without_a_policy():
    label, absent = LABEL.astype(float), LABEL == 0
    label[absent] = np.nan
    for function in (lx.exchange, lx.symmetrize):
        with pytest.raises(ValueError, match="or where= to functions without it"):
            function(label, SCORE)
        function(label, SCORE, where=~absent)
    score = np.where(absent, np.nan, SCORE)
    with pytest.raises(ValueError, match="or where= to functions without it"):
        lx.soft_rank(score)
    assert not np.isnan(lx.soft_rank(score, where=~absent)[~absent]).any()


def test_a_frame_of_one_column_is_refused():
    pandas = pytest.importorskip("pandas")
    label, score = pandas.DataFrame({"y": LABEL}), pandas.DataFrame({"s": SCORE})
    for arguments in ((label, score), (LABEL, score), (label["y"], score), (label, score["s"])):
        with pytest.raises(ValueError, match="a frame of one column, which reads as 4 data sets"):
            lx.lxcim(*arguments)
    assert lx.lxcim(label["y"], score["s"]) == lx.lxcim(LABEL, SCORE)
    np.testing.assert_array_equal(lx.lxcim(label, score, axis=0), [lx.lxcim(LABEL, SCORE)])


@pytest.mark.runners("*-eager", "jax-jit", "torch-vmap")
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_a_missing_label_is_left_out_on_request_and_bad_otherwise(runner, metric):
    label = np.asarray([1.0, np.nan, 1.0, 0.0], dtype=runner.backend.dtype)
    expected = metric(LABEL[[0, 2, 3]], SCORE[[0, 2, 3]])
    found = runner(metric, label, SCORE, nan_policy="omit")
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    if runner.backend.library != "numpy":
        assert np.isnan(runner(metric, label, SCORE, nan_policy="abstain")).all()


@pytest.mark.runners("*-eager")
def test_nothing_has_no_shares_and_curves_of_one_point(runner):
    with context(runner.backend):
        label, score = (convert(runner.backend, np.ones((2, 0), "float32")) for _ in range(2))
        for function in (lx.contributions, lx.influence):
            assert function(label, score).shape == (2, 0)
        assert lx.soft_rank(score).shape == (2, 0)
        for curve in (
            lx.cumulative_accuracy_curve,
            lx.accuracy_rate_curve,
            lx.roc_curve,
            lx.symmetric_roc_curve,
        ):
            found = curve(label, score)
            for part in found[:3]:
                assert part.shape == (2, 1)
                assert np.isnan(to_numpy(part)).all()
            assert np.isnan(to_numpy(lx.curve_area(found))).all()
            assert np.isnan(to_numpy(lx.interpolate(found, [0.0, 0.5]))).all()


@pytest.mark.runners("*-eager")
def test_negative_counts_are_no_confusion(runner):
    cells = np.asarray([[1, 2, 3, 4], [1, -2, 3, 4]], dtype="float32")
    names = ("accuracy", "f1", "mcc", "fdr", "precision", "specificity", "balanced_accuracy")
    functions = [getattr(lx.confusion, name) for name in names]
    functions += [lx.exchange_confusion, partial(lx.class_sensitivity, lx.confusion.f1)]
    message = r"confusion must hold counts, which are not negative; found -2 at position \(1, 1\)"
    for function in functions:
        with context(runner.backend):
            if runner.backend.library == "numpy":
                with pytest.raises(ValueError, match=message):
                    function(cells)
                continue
            found = to_numpy(function(convert(runner.backend, cells)))
        assert np.isfinite(found[0]).all()
        assert np.isnan(found[1]).any()


def test_an_unknown_form_of_audrc_is_refused():
    with pytest.raises(ValueError, match="form must be 'discrete' or 'continuous'; found 'smooth'"):
        lx.audrc(LABEL, SCORE, form="smooth")


def test_a_vector_that_is_no_confusion_is_refused():
    with pytest.raises(
        ValueError, match=re.escape("TP, FP, FN, TN on its last axis; found shape (3,)")
    ):
        lx.confusion.f1([1, 2, 3])


PROBABILITIES = np.random.default_rng(3).random(3000)
EITHER = np.arange(3000) % 2
# Whatever decides; all take labels and scores.
DECIDING = [
    *samples.BY_MARGIN,
    lx.decomposition,
    lx.cumulative_accuracy_curve,
    lx.accuracy_rate_curve,
    lx.symmetric_roc_curve,
    lx.contributions,
    lx.influence,
    lx.standard_error,
    lx.interval,
    lx.significance,
    lx.local_accuracy,
    lx.sketch,
    lx.symmetrize,
    lx.soft_lxcim,
    lx.lxcim_loss,
    lx.confusion.confusion,
]
ORDERING = [
    *samples.BY_SCORE,
    lx.roc_curve,
    lx.soft_auroc,
    partial(lx.interval, metric="auroc"),
    partial(lx.influence, metric="auroc"),
]


@pytest.mark.parametrize("function", DECIDING, ids=lambda function: function.__name__)
def test_probabilities_at_the_default_threshold_warn_with_both_remedies(function):
    with pytest.warns(UserWarning, match="all scores lie in") as found:
        function(EITHER, PROBABILITIES)
    assert [w.filename for w in found] == [__file__]
    assert "decision=probability()" in str(found[0].message)
    assert "threshold=0.0" in str(found[0].message)
    function(EITHER, PROBABILITIES, decision=lx.probability())
    function(EITHER, PROBABILITIES, threshold=0.0)


@pytest.mark.parametrize("function", ORDERING)
def test_what_does_not_decide_does_not_ask_for_a_threshold(function):
    function(EITHER, PROBABILITIES)


@pytest.mark.parametrize(
    "arguments",
    [
        (EITHER, EITHER),
        (EITHER == 1, PROBABILITIES.astype("float32")),
        (2 * EITHER - 1, PROBABILITIES.reshape(1, -1)),
        (EITHER[::-1].reshape(2, -1), PROBABILITIES.reshape(2, -1)),
        (EITHER.tolist(), PROBABILITIES.tolist()),
    ],
    ids=["hard predictions", "bool", "signs", "batch", "lists"],
)
def test_probabilities_and_hard_predictions_of_any_form_warn(arguments):
    with pytest.warns(UserWarning, match="all scores lie in"):
        lx.lxcim(*arguments)


def test_only_samples_that_count_say_whether_scores_are_probabilities():
    score, weight = PROBABILITIES.copy(), np.ones(3000)
    score[:2000], weight[:2000] = -5.0, 0.0
    for options in ({"sample_weight": weight}, {"where": weight > 0}):
        with pytest.warns(UserWarning, match="all scores lie in"):
            lx.lxcim(EITHER, score, **options)
    lx.lxcim(EITHER, score)


@pytest.mark.parametrize(
    ("label", "score"),
    [
        (1, PROBABILITIES),
        (np.ones(3000, dtype=int), PROBABILITIES),
        (EITHER, np.where(np.arange(3000) == 2500, -1e-9, PROBABILITIES)),
        (EITHER, np.where(np.arange(3000) == 2500, 1.5, PROBABILITIES)),
        (EITHER, np.zeros(3000)),
        (EITHER, np.full(3000, 0.7)),
    ],
    ids=["margins", "one kind", "one negative", "one beyond 1", "zeros", "constant"],
)
def test_other_scores_do_not_warn(label, score):
    lx.lxcim(label, score)
