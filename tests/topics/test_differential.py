"""Every public function of arrays gives the same numbers in every library, however it is called.

A call with random options (weights, masks, thresholds, decisions, axes, kinds of labels, dtypes,
lists beside arrays) must equal a plain one: NumPy, one batch entry after another, labels 0 and 1.
What the plain one gives is checked against exact fractions in test_exact.py.
"""

import inspect
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import samples
from backends import context, convert, to_numpy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces

N = 6  # samples in each call: few shapes, which JAX compiles once
GRID = [0.0, 0.31, 0.47, 0.72, 1.0]  # of which few are where whole weights make a step
METRICS = ("lxcim", "accuracy", "audrc", "auroc", "confidence_auroc")


class Row(NamedTuple):
    """A way to call public functions, and what it can be called with."""

    call: Callable
    covers: tuple[Callable, ...]
    takes: frozenset[str]
    per_sample: tuple[int, ...] = ()  # the results that have one value for each sample
    finite: bool = False  # no infinite scores
    whole: bool = False  # chooses by comparing sums: only whole weights choose alike everywhere
    distinct: bool = False  # draws for each place: the order of ties is left open
    single: bool = False  # takes one list of samples
    third: bool = False  # labels -1, 0, +1
    zero_one: bool = False  # returns labels as they were given
    of_weights: bool = False  # returns sums of weights, which may be large
    answered: bool = (
        False  # derives from the scores, so that an undecided one is not at the threshold
    )
    decided: bool = False  # takes labels that are whole, of decisions that were right or wrong
    sides: bool = False  # needs to know which side was chosen, which a confidence does not say
    parts: bool = False  # cuts ties into parts: absent samples tie with the least confidence of all
    slow: bool = False  # takes a tenth of a second for each batch entry
    mild: bool = False  # says whether a spread is zero, which no rounding can tell
    loose: float = 1.0  # how much rounding is amplified


FLAGS = Row._fields[4:]


def row(function, *extra, covers=(), with_call=None, per_sample=(), without=(), **options):
    flags = {flag: options.pop(flag) for flag in FLAGS if flag in options}
    takes = frozenset(inspect.signature(function).parameters) - set(without)

    def call(y_true, y_score, **given):
        return (with_call or function)(y_true, y_score, *extra, **options, **given)

    return Row(call, (function, *covers), takes, per_sample, **flags)


CURVES = (
    lx.cumulative_accuracy_curve,
    lx.accuracy_rate_curve,
    lx.roc_curve,
    lx.symmetric_roc_curve,
)


def _after(curve):
    def call(y_true, y_score, **options):
        found = curve(y_true, y_score, **options)
        return [lx.interpolate(found, GRID), lx.interpolate(found, 0.31), lx.curve_area(found)]

    return call


def _sketched(y_true, y_score, **options):
    state = lx.sketch(y_true, y_score, bins=32, **options)
    twice = lx.merge(state, state)
    after = (lx.lxcim_bounds, lx.audrc_bounds, lx.sketch_accuracy)
    bounds = [part for each in (state, twice) for f in after for part in _parts(f(each))]
    bounds += lx.audrc_bounds(state, form="continuous")
    return [*state[:2], *state[3:6], *twice[:2], *bounds]


def _rank(y_true, y_score, **options):
    return lx.soft_rank(y_score, **options)


def _two(function):
    """Let the second model score every other sample by the square, also within [0, 1]."""

    def call(y_true, y_score, **options):
        xp = namespaces.namespace(y_score=y_score)
        place = xp.arange(N, device=namespaces.device_of(xp, y_score))
        odd = xp.broadcast_to(place % 2 == 1, y_score.shape)
        return function(y_true, y_score, xp.where(odd, y_score**2, y_score), **options)

    return call


def _all_models(y_true, y_score, **options):
    def table(y_true, a, b, **options):
        found = lx.compare_all(y_true, {"a": a, "b": b, "c": a * b}, **options)
        return [part for part in found[:12] if hasattr(part, "shape")]

    return _two(table)(y_true, y_score, **options)


def _tested(y_true, y_score, **options):
    return lx.significance(y_true, y_score, **options)[:2]


def _doubled(y_true, y_score, **options):
    label, score, weight = lx.symmetrize(y_true, y_score, **options)
    return lx.auroc(label, score, sample_weight=weight)


def _spread(y_true, y_score, **options):
    return lx.exchange_spread(lx.auroc, y_true, y_score, n=8, seed=3, **options)


ROWS = {
    **{f.__name__: row(f) for f in (*samples.METRICS, lx.decomposition)},
    "bi_auroc": row(lx.bi_auroc, third=True),
    "confusion": row(lx.confusion.confusion, of_weights=True, sides=True),
    "audrc continuous": row(lx.audrc, form="continuous"),
    "aurc continuous": row(lx.aurc, form="continuous"),
    **{
        f.__name__: row(f, sides=f is lx.symmetric_roc_curve, parts=f is lx.accuracy_rate_curve)
        for f in CURVES
    },
    **{
        # At a vertical step, a rate that is off by its rounding has another height.
        f"{f.__name__} and after": row(
            f,
            with_call=_after(f),
            covers=(lx.interpolate, lx.curve_area),
            whole=True,
            sides=f is lx.symmetric_roc_curve,
        )
        for f in CURVES
    },
    "contributions": row(lx.contributions, per_sample=(0,)),
    "contributions to audrc": row(lx.contributions, per_sample=(0,), metric="audrc"),
    "accuracy_at": row(lx.accuracy_at, GRID, level=None, whole=True),
    "accuracy_at with an interval": row(
        lx.accuracy_at, 0.5, without={"sample_weight"}, slow=True, loose=1e3
    ),
    "rate_at": row(lx.rate_at, 0.8, whole=True),
    "threshold_for": row(lx.threshold_for, accuracy=0.6, delta=None, whole=True),
    "threshold_for with delta": row(
        lx.threshold_for, accuracy=0.6, delta=0.3, without={"sample_weight"}
    ),
    "threshold_for joint risk": row(lx.threshold_for, joint_risk=0.4, without={"sample_weight"}),
    "local_accuracy": row(lx.local_accuracy, whole=True),
    **{f"influence on {m}": row(lx.influence, per_sample=(0,), metric=m) for m in METRICS},
    **{f"standard_error of {m}": row(lx.standard_error, metric=m) for m in METRICS},
    **{
        f"interval {m}": row(lx.interval, method=m, mild=True, loose=1e3)
        for m in ("logit+", "logit", "wald")
    },
    "interval bayes": row(
        lx.interval,
        method="bayes",
        n_resamples=50,
        distinct=True,
        single=True,
        mild=True,
        loose=1e3,
    ),
    "bootstrap": row(lx.bootstrap, n_resamples=20, seed=5, distinct=True, single=True),
    "significance": row(lx.significance, with_call=_tested, mild=True, loose=1e3),
    "significance of confidence": row(
        lx.significance, with_call=_tested, null="uninformative", decided=True, mild=True, loose=1e3
    ),
    "sketch": row(
        lx.sketch,
        with_call=_sketched,
        covers=(lx.merge, lx.lxcim_bounds, lx.audrc_bounds, lx.sketch_accuracy),
        of_weights=True,
        sides=True,
        loose=100.0,  # bounds are moved outwards by what rounding can do
    ),
    **{
        f.__name__: row(f, finite=True, loose=30.0)
        for f in (
            *(lx.soft_accuracy, lx.soft_audrc, lx.soft_auroc, lx.soft_lxcim),
            *(lx.lxcim_loss, lx.lxcim_surrogate, lx.losses.combined),
        )
    },
    **{
        f"{f.__name__} hard": row(f, temperature=0, finite=True)
        for f in (lx.soft_accuracy, lx.soft_audrc, lx.soft_auroc, lx.soft_lxcim)
    },
    **{
        f"lxcim_surrogate {kind}": row(lx.lxcim_surrogate, kind=kind, finite=True, loose=30.0)
        for kind in ("logistic", "squared_hinge", "squared", "exponential")
    },
    "soft_rank": row(
        lx.soft_rank, with_call=_rank, per_sample=(0,), finite=True, of_weights=True, loose=30.0
    ),
    "soft_rank hard": row(
        lx.soft_rank, with_call=_rank, per_sample=(0,), temperature=0, finite=True, of_weights=True
    ),
    **{
        f"gradient of {f.__name__}": row(
            f,
            with_call=lx.value_and_grad(f),
            covers=(lx.value_and_grad,),
            per_sample=(1,),
            finite=True,
            answered=True,
            loose=1e3,
        )
        for f in (lx.soft_lxcim, lx.soft_audrc, lx.losses.combined)
    },
    # Samples that do not count stay as they are, whatever that is.
    "exchange": row(lx.exchange, per_sample=(0, 1), zero_one=True, without={"where"}),
    "random_exchange": row(
        lx.random_exchange, seed=7, single=True, per_sample=(0, 1), zero_one=True, without={"where"}
    ),
    "symmetrize": row(lx.symmetrize, with_call=_doubled, sides=True),
    "exchange_spread": row(lx.exchange_spread, with_call=_spread, single=True, zero_one=True),
    "compare": row(lx.compare, with_call=_two(lx.compare), answered=True, mild=True, loose=1e3),
    "compare_all": row(
        lx.compare_all, with_call=_all_models, single=True, answered=True, mild=True, loose=1e3
    ),
    "required_samples": row(
        lx.required_samples,
        with_call=_two(lx.required_samples),
        difference=0.1,
        answered=True,
        mild=True,
        loose=1e3,
    ),
}

# Functions of confusion vectors.
OF_CELLS: dict[str, tuple[Callable, tuple[Callable, ...]]] = {
    f.__name__: (f, (f,))
    for f in (
        *(lx.confusion.accuracy, lx.confusion.sensitivity, lx.confusion.specificity),
        *(lx.confusion.precision, lx.confusion.fdr, lx.confusion.f1),
        *(lx.confusion.balanced_accuracy, lx.confusion.mcc),
    )
} | {
    "exchange_confusion": (lx.exchange_confusion, (lx.exchange_confusion,)),
    "exchange_confusion by lists": (
        lambda cells: lx.exchange_confusion(cells, 0.3, [0.1, 0.2]),
        (lx.exchange_confusion,),
    ),
    "class_sensitivity": (
        lambda cells: lx.class_sensitivity(lx.confusion.f1, cells + 1),
        (lx.class_sensitivity,),
    ),
}

# What needs no comparison here, and why.
ELSEWHERE = {
    "merge_across": "needs the devices of a JAX mesh: test_sharded.py",
    "boosting_objective": "makes a function for NumPy arrays: test_boosting.py",
    "absolute": "a decision, which calls below are made with",
    "asymmetric": "a decision",
    "logit": "a decision",
    "probability": "a decision",
    "confidence": "a decision",
    "decision_function": "a decision",
    "audit": "of a metric, not of arrays",
    "audit_method": "of a method",
    "audit_table": "of findings",
    "assert_lxc_invariant": "of a metric",
    "describe": "of findings",
}


def public_functions():
    yield from ((name, getattr(lx, name)) for name in lx.__all__)
    for module in (lx.confusion, lx.losses):
        functions = inspect.getmembers(module, inspect.isfunction)
        yield from ((n, f) for n, f in functions if f.__module__ == module.__name__ and n[0] != "_")


def test_no_public_function_of_arrays_escapes():
    compared = {f for row in ROWS.values() for f in row.covers}
    compared |= {f for _, covers in OF_CELLS.values() for f in covers}
    functions = {name: f for name, f in public_functions() if inspect.isfunction(f)}
    missing = {name for name, f in functions.items() if f not in compared} - set(ELSEWHERE)
    assert not missing, f"add {sorted(missing)} to ROWS, or to ELSEWHERE with a reason"


class Call(NamedTuple):
    """What a row is called with: NumPy arrays, and what stays as it is."""

    arrays: dict[str, np.ndarray]
    options: dict[str, Any]
    listed: frozenset[str]  # passed as Python lists or numbers
    axis: int

    @property
    def batch(self):
        shape = list(self.arrays["y_score"].shape)
        del shape[self.axis]
        return tuple(shape)


def _parts(result):
    return list(result) if isinstance(result, tuple | list) else [result]


def plain(row, call):
    """Call NumPy for one batch entry after another, with as few options as possible."""
    arrays = dict(call.arrays)
    shape = arrays["y_score"].shape
    last = {
        name: np.moveaxis(np.broadcast_to(array, shape), call.axis, -1)
        for name, array in arrays.items()
    }
    results = [
        _parts(_plain_entry(row, {k: v[at] for k, v in last.items()}, call.options))
        for at in np.ndindex(call.batch)
    ]
    stacked = []
    for k, parts in enumerate(zip(*results, strict=True)):
        part = np.stack([np.asarray(p, dtype=np.float64) for p in parts])
        part = part.reshape(call.batch + part.shape[1:])
        stacked.append(np.moveaxis(part, -1, call.axis) if k in row.per_sample else part)
    return stacked


def _plain_entry(row, entry, options):
    options = dict(options)
    policy = options.pop("nan_policy", "raise")
    score, label = entry["y_score"].copy(), entry["y_true"]
    present = entry.get("where", np.ones(score.shape, dtype=bool)).copy()
    weight = entry.get("sample_weight")
    if weight is not None:
        present &= weight != 0
    if policy == "omit":
        present &= ~np.isnan(score)
    threshold = entry.get("threshold", np.zeros(score.shape, score.dtype))
    if options.get("decision") == lx.confidence():
        threshold = np.full(score.shape, -np.inf)
        if policy == "abstain" and not row.third:
            label = np.where(np.isnan(score), 0.5, label > 0 if _are_whole(label) else label)
    elif "decision" in options:
        threshold = np.full(score.shape, options["decision"].threshold, score.dtype)
    elif "threshold" in row.takes:
        options["threshold"] = threshold
    score = np.where(present & ~np.isnan(score), score, threshold)
    if row.third:
        label = np.where(label.dtype == bool, 2 * label.astype(int) - 1, label)
        label = np.where(present, label, 0).astype(int)
    else:
        label = np.where(present & (label > 0), label, 0)
        label = label.astype(int if _are_whole(label) else float)
    if weight is not None:
        options["sample_weight"] = np.where(present, weight, 0).astype(float)
    if not present.all() and "where" in row.takes:
        options["where"] = present
    elif not present.all():
        ones = np.ones(score.shape) if weight is None else weight
        options["sample_weight"] = np.where(present, ones, 0).astype(float)
    return row.call(label, score, **options)


def _are_whole(label):
    return not ((label > 0) & (label < 1)).any()


EIGHTHS = [-2.0, -1.0, -0.5, -0.125, 0.0, 0.125, 0.5, 1.0, 2.0]
TENTHS = [k / 10 for k in range(-5, 11)]
SHAPES = [((N,), -1), ((2, N), -1), ((N, 2), 0), ((2, N, 2), 1), ((2, 1, N), 2)]
LABELS: dict[str, Callable] = {
    "0/1": lambda y: y,
    "-1/+1": lambda y: 2 * y - 1,
    "bool": lambda y: y.astype(bool),
    "unsigned": lambda y: y.astype(np.uint8),
    "floats": lambda y: y.astype(np.float32),
}
SHARES = [0.0, 1.0, 0.5, 1 / 3, 0.75, 0.9]  # rounded to float32
DECISIONS = {
    "probability": lx.probability(),
    "logit": lx.logit(),
    "asymmetric": lx.asymmetric(0.5, 1, 4),
    "thirds": lx.asymmetric(0.0, 1, 3),
    "absolute": lx.absolute(-0.5),
    "given": lx.decision_function(lambda s: abs(s - 0.5) * 3, 0.5),
    "confidence": lx.confidence(),
}
NARROW = ("float16", "bfloat16")
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def _fill(draw, shape, values, dtype=np.float64):
    size = int(np.prod(shape))
    drawn = draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
    return np.asarray(drawn, dtype=dtype).reshape(shape)


def _weights(draw, row, wide, traced, narrow):
    span = 20 if wide == "float64" else 9
    kinds = {
        "whole": [0.0, 1.0, 2.0, 3.0, 7.0],
        "eighths": [0.0, 0.125, 1.0, 2.5],
        "floats": [0.0, 0.1, 0.3, 0.7, 1.7, 0.05],
        "orders": [0.0, 1.0, 3.0, 10.0**-span, 7 * 10.0**-span, 10.0**span, 3.0**-span],
    }
    names = ["whole"] if row.whole or narrow else list(kinds)[: 3 if row.mild else 4]
    kind = draw(st.sampled_from(names if traced else [None, *names]))
    return kind, None if kind is None else kinds[kind]


@st.composite
def calls(draw, runner, name):
    """Draw what to call a row with; under a tracer only values vary, so that one program serves."""
    row, backend = ROWS[name], runner.backend
    wide, traced = backend.dtype, runner.transform != "eager"
    luck = zlib.crc32(name.encode())
    if row.single or (row.slow and not traced):
        shape, axis = (N,), -1
    elif traced or "axis" not in row.takes:
        shape, axis = (2, N), -1
        if luck % 2 and "axis" in row.takes and "vmap" not in runner.transform:
            shape, axis = (N, 2), 0
    else:
        shape, axis = draw(st.sampled_from(SHAPES))
    dtypes = [wide] if traced or row.answered else [wide, *_narrower(backend)]
    dtype = draw(st.sampled_from(dtypes))

    decision = None
    if "decision" in row.takes and not (traced and luck % 3):
        fitting = [d for d in DECISIONS if not (row.finite and d in ("given", "logit"))]
        of_sides = row.sides or row.finite or row.zero_one
        fitting = [d for d in fitting if d != "confidence" or not of_sides]
        if row.answered:
            fitting = ["probability", "absolute"]  # without a kink, which has no derivative
        if row.distinct or row.zero_one or dtype != wide:
            fitting = ["probability"]  # whose mirror and ties are exact in any dtype
        decision = draw(st.sampled_from([None, None, *fitting]))
        if traced:
            decision = fitting[-1] if luck % 2 and fitting[-1] == "confidence" else "probability"
    if decision in ("probability", "logit"):
        scores = [0.0, 0.0625, 0.25, 0.5, 0.75, 0.9375, 1.0]
    elif wide == "float64" and decision is None and _any_score(row) and draw(st.booleans()):
        scores = TENTHS
    else:
        least = [] if row.parts and decision == "confidence" else [-np.inf]
        scores = EIGHTHS if row.finite else [*EIGHTHS, np.inf, *least]
    if row.distinct:
        score = np.asarray(draw(st.permutations([-2.0, -1.0, 0.5, 0.75, 0.25, 0.125])))
        score = (score + 2) / 4 if decision else score
    else:
        score = _fill(draw, shape, scores)
    arrays = {"y_score": score}

    side = _fill(draw, shape, [0, 1], np.int64)
    labels = [k for k in LABELS if not (row.zero_one and k == "-1/+1")]
    labels += ["votes"] * (2 * (not row.third and not row.decided))
    if traced:
        labels = labels[-1:] if luck // 2 % 2 and "votes" in labels else ["0/1"]
    kind = draw(st.sampled_from(labels))
    if row.third:
        label = _fill(draw, shape, [-1, 0, 1], np.int64)
        label = label if traced or draw(st.booleans()) else label > 0
    else:
        votes = SHARES[:3] if row.whole or row.zero_one else SHARES
        label = _fill(draw, shape, votes, np.float32) if kind == "votes" else LABELS[kind](side)
    arrays["y_true"] = label

    first = np.moveaxis(np.zeros(shape, dtype=bool), axis, 0)
    first[0] = True
    first = np.moveaxis(first, 0, axis)  # of each entry, which counts in any case
    if "sample_weight" in row.takes:
        weights, values = _weights(draw, row, wide, traced, row.of_weights and dtype in NARROW)
        if weights is not None:
            weight = np.where(first, 1.0, _fill(draw, shape, values))
            whole = weights == "whole" and not traced and draw(st.booleans())
            arrays["sample_weight"] = weight.astype(np.int64) if whole else weight.astype(wide)
    if "where" in row.takes and (traced or draw(st.booleans())):
        arrays["where"] = where = first | _fill(draw, shape, [True, True, False], bool)
        arrays["y_score"] = np.where(where, arrays["y_score"], np.nan)
        if label.dtype != bool and not row.zero_one:
            arrays["y_true"] = np.where(where, label, label.dtype.type(7))
        if "sample_weight" in arrays:
            weight = arrays["sample_weight"]
            arrays["sample_weight"] = np.where(where, weight, weight.dtype.type(-1))
    options = {}
    if "nan_policy" in row.takes:
        # Undecided samples tie, too.
        policies = ["raise", "omit"] + ["abstain"] * (not row.answered and not row.distinct)
        if (row.decided or row.parts) and decision == "confidence":
            policies = policies[:2]
        policy = policies[luck % len(policies)] if traced else draw(st.sampled_from(policies))
        options["nan_policy"] = policy
        if policy != "raise":
            missing = _fill(draw, shape, [False, False, True], bool) & ~first
            arrays["y_score"] = np.where(missing, np.nan, arrays["y_score"])
    if decision:
        options["decision"] = DECISIONS[decision]
    elif "threshold" in row.takes:
        at = [0.0, 0.3, 0.5] if scores is TENTHS else [0.0, -0.5, 1.0]
        # A threshold for each sample would tie the confidences of scores that differ.
        forms = [None, "number", "entry"] + ["sample"] * (not row.distinct)
        form = draw(st.sampled_from(["entry"] if traced else forms))
        if form == "number":
            arrays["threshold"] = np.asarray(draw(st.sampled_from(at)))
        elif form is not None:
            of = [
                1 if form == "entry" and k == axis % len(shape) else n for k, n in enumerate(shape)
            ]
            arrays["threshold"] = _fill(draw, of, at)
    arrays = {k: _in(dtype, v) if k in ("y_score", "threshold") else v for k, v in arrays.items()}
    if kind == "votes":  # beside scores that look like labels, these would look like scores
        tell = ~(np.isin(arrays["y_score"], [0.0, 1.0]) | np.isnan(arrays["y_score"]))
        for name in {"where", "sample_weight"} & set(arrays):
            tell &= arrays[name] != 0
        assume(tell.any(axis=axis).all())
    others = sorted(set(arrays) - {"y_score"})
    listed = [] if traced else draw(st.lists(st.sampled_from(others), unique=True))
    return Call(arrays, options, frozenset(listed), axis), dtype


def _any_score(row):
    """Say whether a row neither returns mirror scores, which round, nor needs all to differ."""
    return not row.zero_one and not row.distinct


def _narrower(backend):
    """Return the floats below the widest; NumPy and the standard have no bfloat16, nor the rest."""
    narrow = ["float32"] if backend.dtype == "float64" else []
    if backend.library in ("numpy", "torch", "jax"):
        narrow.append("float16")
    return [*narrow, "bfloat16"] if backend.library in ("torch", "jax") else narrow


def _in(dtype, values):
    """Round to a dtype; what is drawn for bfloat16 has few digits already."""
    return values.astype(np.float32 if dtype == "bfloat16" else dtype)


def called(runner, name, call, dtype):
    """Run a row in the library and under the transform of a runner."""
    row, backend = ROWS[name], runner.backend
    given = {}
    for key, array in call.arrays.items():
        if key in call.listed:
            given[key] = array.tolist()
        else:
            given[key] = convert(backend, array)
            if dtype == "bfloat16" and key in ("y_score", "threshold"):
                given[key] = _bfloat16(backend, given[key])
    options = dict(call.options)
    if "axis" in row.takes:
        options["axis"] = call.axis
    if runner.transform == "eager":
        return _parts(row.call(**given, **options))
    function = _transformed(runner, name, tuple(given), tuple(sorted(options.items())))
    return function(*given.values())


@cache
def _transformed(runner, name, names, options):
    def function(*arrays):
        return _parts(ROWS[name].call(**dict(zip(names, arrays, strict=True)), **dict(options)))

    if runner.backend.library == "torch":
        import torch

        return torch.func.vmap(function)
    import jax

    return jax.jit(jax.vmap(function) if "vmap" in runner.transform else function)


def _bfloat16(backend, array):
    if backend.library == "torch":
        import torch

        return array.to(torch.bfloat16)
    import jax.numpy as jnp

    return array.astype(jnp.bfloat16)


def disagreement(runner, name, call, dtype):
    """Say which results differ from the plain ones, and how."""
    row = ROWS[name]
    with context(runner.backend):
        found = [_floats(part) for part in called(runner, name, call, dtype) if part is not None]
    expected = plain(row, call)
    tolerance = min(row.loose * TOLERANCE[dtype], 2e-2)
    scale = 1.0
    if row.of_weights and "sample_weight" in call.arrays:
        scale = max(1.0, float(np.abs(call.arrays["sample_weight"]).max()))
    assert len(found) == len(expected)
    wrong = {}
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        if a.shape != b.shape or not np.allclose(a, b, tolerance, tolerance * scale, True):
            wrong[k] = {"found": a, "plain": b}
    return wrong


def _floats(part):
    if "bfloat16" in str(getattr(part, "dtype", "")) and not isinstance(part, np.ndarray):
        part = part.float() if hasattr(part, "float") else part.astype("float32")
    return to_numpy(part)


RUNNERS = (
    "numpy-*",
    "strict*",
    "cupy-*",
    "torch-eager",
    "torch-vmap",
    "jax-jit+vmap",
    "jax-x64-jit",
)


SOME = settings(max_examples=max(4, settings.default.max_examples // 2))


@pytest.mark.runners(*RUNNERS)
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not row.single])
@SOME
@given(data=st.data())
def test_a_call_with_any_options_equals_the_plain_one(runner, name, data):
    call, dtype = data.draw(calls(runner, name))
    assert disagreement(runner, name, call, dtype) == {}, call


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.single and not row.distinct])
@SOME
@given(data=st.data())
def test_a_call_for_one_list_of_samples_equals_the_plain_one(runner, name, data):
    call, dtype = data.draw(calls(runner, name))
    assert disagreement(runner, name, call, dtype) == {}, call


# JAX makes its own numbers, which may be traced, of an integer seed.
@pytest.mark.runners("numpy-*", "strict*", "cupy-*", "torch-eager")
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.distinct])
@SOME
@given(data=st.data())
def test_resamples_of_a_seed_equal_the_plain_ones(runner, name, data):
    call, dtype = data.draw(calls(runner, name))
    assert disagreement(runner, name, call, dtype) == {}, call


@pytest.mark.runners(*RUNNERS[:4], "jax-jit+vmap", "jax-x64-jit")
@pytest.mark.parametrize("name", OF_CELLS)
@settings(max_examples=max(4, settings.default.max_examples // 4))
@given(data=st.data())
def test_functions_of_confusion_vectors_are_the_same_in_every_library(runner, name, data):
    function, backend = OF_CELLS[name][0], runner.backend
    # Tenths and whole numbers, of which an exchange leaves something in each cell.
    cells = _fill(data.draw, (2, 4), [0.5, 0.7, 1.0, 3.0, 40.0], backend.dtype)
    expected = function(cells)
    if backend.library == "numpy":
        expected = np.stack([function(row) for row in cells]) if "lists" not in name else expected
    with context(backend):
        found = to_numpy(function(convert(backend, cells)))
    # Central differences, where there are no derivatives, are right to the root of the rounding.
    tolerance = TOLERANCE[backend.dtype] * (1e5 if name == "class_sensitivity" else 1)
    np.testing.assert_allclose(
        found, expected, rtol=min(tolerance, 1e-3), atol=min(tolerance, 1e-3)
    )
