"""Lazy frames: the metrics as a query that the engine runs, exact with ties and weights.

One ``group_by`` turns rows into blocks of equal confidence in each group, one window adds running
sums over the blocks, and their products are summed over each group. Rows that do not count get
weight zero and are never dropped, so that every group stays. All names inside the query share a
prefix and are lower case, because some engines fold case. Products get columns before they are
summed, because not every engine takes a product inside an aggregation.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from lxcim_xp._samples.decisions import Decision, absolute
from lxcim_xp.decision import probability
from lxcim_xp.frames.columns import ONES, Parts
from lxcim_xp.frames.engines import Engine, require_samples
from lxcim_xp.frames.expressions import (
    LIBRARY,
    harmonic,
    monotone_bin,
    number,
    one_if,
    signed_confidence,
    threshold_like,
    with_difference,
)
from lxcim_xp.frames.labels import WRONG, label_expression, neither_expression, with_verdict
from lxcim_xp.frames.names import column_of, plain_name, sorted_and_named

_KEY = "__lx_key"
_BIN = "__lx_bin"
# Products of two weights leave the range of floats long before weights do, and while a query
# multiplies it does not know the largest weight of a group. So it also computes each sum of
# products with both factors scaled by powers of two, which is exact, and picks the one that fits.
_ORDINARY = {"": 1.0}
_SCALES = {**_ORDINARY, "_huge": 2.0**-600, "_tiny": 2.0**600}


def evaluate_plan(
    frame: nw.LazyFrame[Any],
    schema: Any,
    engine: Engine,
    parts: Parts,
    metrics: tuple[str, ...],
) -> nw.LazyFrame[Any]:
    """Return the metrics of each group as a lazy frame."""
    check_decision(engine, parts)
    keys = inner_names(parts.by)
    rows = clean_rows(frame, schema, parts, keys)
    binned = engine.road == "binned plan" and not keys
    at_zero = parts.decision.signed is absolute().signed and parts.decision.threshold == 0
    scales = _ORDINARY if parts.weight is None else _SCALES
    families = []
    # At threshold zero the confidence is the absolute score: one order serves all metrics.
    shared = "auroc" in metrics and at_zero
    if shared or metrics != ("auroc",):
        decision = parts.decision
        families.append(_by_confidence(rows, decision, keys, metrics, scales, binned, shared))
    if "auroc" in metrics and not shared:
        families.append(_by_score(rows, keys, scales, binned))
    sums = with_verdict(_joined(families, keys), frame, schema, parts)
    result = _formulas(sums, metrics, scales)
    names = dict(zip(keys, parts.by, strict=True))
    result = result.select(
        *keys, *metrics, nw.col("__lx_n").alias("n"), nw.col("__lx_missing").alias("n_missing"),
        nw.col("__lx_w").alias("weight"),
    )  # fmt: skip
    result = result.with_columns(nw.col("n", "n_missing").cast(nw.Int64))
    return sorted_and_named(engine, result, names) if keys else result


def with_made_columns(frame: nw.LazyFrame[Any], schema: Any, parts: Parts) -> nw.LazyFrame[Any]:
    """Add the columns that parts are made of and the frame has not: differences, ones."""
    for name, first, second in parts.differences:
        narrow = nw.Float32 in (schema[first], schema[second])
        frame = with_difference(frame, name, first, second, narrow=narrow)
    if parts.label == ONES:
        frame = frame.with_columns(nw.lit(1).cast(nw.Int64).alias(plain_name(ONES)))
    return frame


def inner_names(by: tuple[str, ...]) -> list[str]:
    """Return the names of the keys inside a query."""
    return [f"__lx_k{place}" for place in range(len(by))]


def check_decision(engine: Engine, parts: Parts) -> None:
    """Refuse decision functions that only work on arrays."""
    known = parts.decision.is_confidence
    if not known and parts.decision.signed not in (absolute().signed, probability().signed):
        require_samples(
            engine,
            "a decision function other than threshold=, probability() and confidence()",
            instead="Add a column of signed confidences, and use threshold=0 on it.",
        )


def clean_rows(
    frame: nw.LazyFrame[Any], schema: Any, parts: Parts, keys: list[str]
) -> nw.LazyFrame[Any]:
    """Return keys, weight, label, score and signed confidence; rows not to count weigh zero."""
    score_name = parts.scores[0]
    one = weight = number(LIBRARY, 1.0)
    if parts.weight is not None:
        weight = column_of(parts.weight).cast(nw.Float64)
    rows = frame.select(
        *(column_of(name).alias(key) for key, name in zip(keys, parts.by, strict=True)),
        label_expression(schema, parts).alias("__lx_y"),
        neither_expression(schema, parts).alias("__lx_neither"),
        column_of(score_name).cast(nw.Float64).alias("__lx_s"),
        weight.alias("__lx_w"),
    )

    def is_missing(name: str) -> nw.Expr:
        return nw.col(name).is_null() | nw.col(name).is_nan()

    rows = rows.with_columns(
        is_missing("__lx_y").alias("__lx_no_y"),
        is_missing("__lx_s").alias("__lx_no_s"),
        is_missing("__lx_w").alias("__lx_no_w"),
    )
    zero = number(LIBRARY, 0.0)
    threshold = number(LIBRARY, threshold_like(parts.decision, schema[score_name] == nw.Float32))
    label = nw.col("__lx_y")
    if parts.decision.is_confidence and parts.nan_policy == "abstain":
        # The least of all confidences, and half right.
        threshold = number(LIBRARY, -float("inf"))
        label = nw.when(nw.col("__lx_no_s")).then(number(LIBRARY, 0.5)).otherwise(label)
    rows = rows.with_columns(
        nw.when(nw.col("__lx_no_y")).then(zero).otherwise(label).alias("__lx_y"),
        nw.when(nw.col("__lx_no_s")).then(threshold).otherwise(nw.col("__lx_s")).alias("__lx_s"),
        nw.when(nw.col("__lx_no_w")).then(one).otherwise(nw.col("__lx_w")).alias("__lx_w"),
    )
    y, s, w = (nw.col(name) for name in ("__lx_y", "__lx_s", "__lx_w"))
    no_y, no_s, no_w = (nw.col(f"__lx_no_{name}") for name in "ysw")
    # A row of weight zero is absent, whatever it holds; so is one whose label is neither.
    present = (w != 0.0) & ~nw.col("__lx_neither")
    bad = (w < 0.0) | (w == float("inf")) | (((y < 0.0) | (y > 1.0)) & (y != -1.0) & present)
    if parts.decision.domain is not None:
        low, high = parts.decision.domain
        bad = bad | (((s < low) | (s > high)) & present)
    missing = (no_y | no_s | no_w) & present
    unusable = ((no_y | no_w) & present) if parts.nan_policy == "abstain" else missing
    rows = rows.with_columns(
        missing.alias("__lx_missing"),
        bad.alias("__lx_bad"),
        (~(unusable | bad | nw.col("__lx_neither"))).alias("__lx_counts"),
        (unusable if parts.nan_policy != "omit" else no_w & ~no_w).alias("__lx_fatal"),
    )
    counts = nw.col("__lx_counts")
    flags = {
        "__lx_n": one_if(~nw.col("__lx_neither")),
        "__lx_missing": one_if(nw.col("__lx_missing")),
        "__lx_spoiled": one_if(nw.col("__lx_bad") | nw.col("__lx_fatal")),
        "__lx_zeros": one_if(counts & present & (y >= 0.0) & (y < 1.0)),
        "__lx_minuses": one_if(counts & present & (y == -1.0)),
    }
    is_float32 = schema[score_name] == nw.Float32
    signed = signed_confidence(LIBRARY, s, parts.decision, is_float32)
    return rows.select(
        *keys,
        *(flag.alias(name) for name, flag in flags.items()),
        nw.when(counts).then(w).otherwise(zero).alias("__lx_w"),
        nw.when(counts & (y > 0.0)).then(y).otherwise(zero).alias("__lx_y"),
        (nw.when(counts).then(s).otherwise(threshold) + 0.0).alias("__lx_s"),
        nw.when(counts).then(signed).otherwise(zero).alias("__lx_d"),
    )


def right_weight(decision: Decision) -> nw.Expr:
    """Return the weight of right decisions in clean rows, undecided rows counting half.

    Where votes are split, it is the share that the decision agrees with.
    """
    d, y, half = nw.col("__lx_d"), nw.col("__lx_y"), number(LIBRARY, 0.5)
    if decision.is_confidence:
        return nw.col("__lx_w") * y
    credit = nw.when(d > 0.0).then(y).otherwise(nw.when(d < 0.0).then(1.0 - y).otherwise(half))
    return nw.col("__lx_w") * credit


_FLAGS = ["__lx_n", "__lx_missing", "__lx_spoiled", "__lx_zeros", "__lx_minuses"]


def _by_confidence(
    rows: nw.LazyFrame[Any],
    decision: Decision,
    keys: list[str],
    metrics: tuple[str, ...],
    scales: Mapping[str, float],
    binned: bool,
    with_auroc: bool,
) -> nw.LazyFrame[Any]:
    """Return the sums over each group that depend on the order of confidence."""
    d, y, w = nw.col("__lx_d"), nw.col("__lx_y"), nw.col("__lx_w")
    confidence = d if decision.is_confidence else d.abs()
    columns = {_KEY: 0.0 - confidence, "__lx_right": right_weight(decision)}
    sums, running = [*_FLAGS, "__lx_w", "__lx_right"], []
    if {"lxcim", "audrc"} & set(metrics):
        running.append("__lx_w")
    if "audrc" in metrics:
        columns["__lx_members"] = one_if(w > 0.0)
        sums.append("__lx_members")
        running.append("__lx_right")
    if with_auroc:
        upper = one_if(d >= 0.0)
        weight = {"p": w * y, "n": w * (1.0 - y)}
        for label, part in weight.items():
            columns[f"__lx_{label}u"] = part * upper
            columns[f"__lx_{label}l"] = part * (1.0 - upper)
        sums += ["__lx_pu", "__lx_pl", "__lx_nu", "__lx_nl"]
        running += ["__lx_nu", "__lx_nl"]
    rows = rows.with_columns(column.alias(name) for name, column in columns.items())
    if not running:  # accuracy needs no order
        return _summed(rows, keys, sums)
    blocks = _running(rows, keys, sums, running, binned)
    terms = {}
    if "lxcim" in metrics:
        wrong, run = w - nw.col("__lx_right"), nw.col("__lx_w_run")
        for name, scale in scales.items():
            lead = 2.0 * _scaled(run, scale) - _scaled(w, scale)
            terms[f"__lx_lead{name}"] = _scaled(wrong, scale) * lead
    if "audrc" in metrics:
        blocks, terms["__lx_area"] = _accuracy_rate_area(blocks)
    if with_auroc:
        for name, scale in scales.items():
            upper, lower = (_pairs(f"__lx_p{side}", f"__lx_n{side}", scale) for side in "ul")
            terms[f"__lx_pairs{name}"] = lower - upper
    blocks = blocks.with_columns(term.alias(name) for name, term in terms.items())
    found = _summed(blocks, keys, [*sums, *terms])
    if not with_auroc:
        return found
    pu, pl, nu, nl = (nw.col(f"__lx_{name}") for name in ("pu", "pl", "nu", "nl"))
    across = {
        f"__lx_pairs{name}": _scaled(pu, scale) * _scaled(nu + nl, scale)
        for name, scale in scales.items()
    }
    return found.with_columns(
        *((nw.col(name) + pairs).alias(name) for name, pairs in across.items()),
        (pu + pl).alias("__lx_p"),
        (nu + nl).alias("__lx_q"),
    )


def _scaled(weight: nw.Expr, scale: float) -> nw.Expr:
    return weight if scale == 1.0 else weight * number(LIBRARY, scale)


def _pairs(positive: str, negative: str, scale: float) -> nw.Expr:
    """Return the pairs of a block's positives with the negatives before them, ties half."""
    run, tied = (_scaled(nw.col(name), scale) for name in (f"{negative}_run", negative))
    return _scaled(nw.col(positive), scale) * (run - 0.5 * tied)


def _accuracy_rate_area(blocks: nw.LazyFrame[Any]) -> tuple[nw.LazyFrame[Any], nw.Expr]:
    """Return what each block contributes to AUDRC: m equal parts of a block, in closed form.

    With weight t in m samples, k of it right, and W and C above: the sum over j = 1 .. m of
    (t / m) (C + j k / m) / (W + j t / m) is k + (C - (k / t) W) (1 / (x + 1) + ... + 1 / (x + m)),
    x = m W / t.
    """
    w, right, members = nw.col("__lx_w"), nw.col("__lx_right"), nw.col("__lx_members")
    above, right_above = nw.col("__lx_w_run") - w, nw.col("__lx_right_run") - right
    weight = nw.when(w > 0.0).then(w).otherwise(number(LIBRARY, 1.0))
    # Sums from above are differences; rounding must not make such a weight negative.
    above = nw.when(above > 0.0).then(above).otherwise(number(LIBRARY, 0.0))
    blocks = blocks.with_columns(
        above.alias("__lx_above"), right_above.alias("__lx_right_above"), weight.alias("__lx_t")
    )
    above, right_above, weight = (
        nw.col(name) for name in ("__lx_above", "__lx_right_above", "__lx_t")
    )
    blocks = blocks.with_columns(
        (members * (above / weight)).alias("__lx_x"),
        (right_above - right / weight * above).alias("__lx_bend"),
    )
    blocks = harmonic(LIBRARY, blocks, "__lx_x", "__lx_members", "__lx_harmonic")
    tied = right + nw.col("__lx_bend") * nw.col("__lx_harmonic")
    alone = w * ((right_above + right) / (above + weight))
    return blocks, nw.when(members > 1.0).then(tied).otherwise(alone)


def _by_score(
    rows: nw.LazyFrame[Any], keys: list[str], scales: Mapping[str, float], binned: bool
) -> nw.LazyFrame[Any]:
    """Return the sums over each group that AUROC takes from the order of the scores."""
    y, w = nw.col("__lx_y"), nw.col("__lx_w")
    rows = rows.with_columns(
        nw.col("__lx_s").alias(_KEY), (w * y).alias("__lx_p"), (w * (1.0 - y)).alias("__lx_q")
    )
    sums = [*_FLAGS, "__lx_w", "__lx_p", "__lx_q"]
    blocks = _running(rows, keys, sums, ["__lx_q"], binned)
    terms = {
        f"__lx_pairs{name}": _pairs("__lx_p", "__lx_q", scale) for name, scale in scales.items()
    }
    blocks = blocks.with_columns(term.alias(name) for name, term in terms.items())
    return _summed(blocks, keys, [*sums, *terms])


def _running(
    rows: nw.LazyFrame[Any], keys: list[str], sums: list[str], running: list[str], binned: bool
) -> nw.LazyFrame[Any]:
    """Return blocks of equal key, with running sums of some columns in the order of the key."""
    if not binned:
        blocks = rows.group_by(*keys, _KEY).agg(nw.col(*sums).sum())
        return blocks.with_columns(
            nw.col(name).cum_sum().over(*keys, order_by=_KEY).alias(f"{name}_run")
            for name in running
        )
    # One window over everything would send everything to one worker. So each bin of the key is a
    # window, and the sums of the bins before it come from a small table.
    rows = monotone_bin(LIBRARY, rows, _KEY, _BIN)
    blocks = rows.group_by(_BIN, _KEY).agg(nw.col(*sums).sum())
    blocks = blocks.with_columns(
        nw.col(name).cum_sum().over(_BIN, order_by=_KEY).alias(f"{name}_run") for name in running
    )
    before = rows.group_by(_BIN).agg(nw.col(*running).sum())
    before = before.with_columns(
        (nw.col(name).cum_sum().over(order_by=_BIN) - nw.col(name)).alias(f"{name}_before")
        for name in running
    ).select(_BIN, *(f"{name}_before" for name in running))
    blocks = blocks.join(before, on=_BIN, how="left")
    return blocks.with_columns(
        (nw.col(f"{name}_run") + nw.col(f"{name}_before")).alias(f"{name}_run") for name in running
    )


def _summed(rows: nw.LazyFrame[Any], keys: list[str], sums: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return sums over each group; without keys, one row of sums even if there are no rows."""
    columns = nw.col(*sums).sum()
    if keys:
        return rows.group_by(*keys).agg(columns)
    return rows.select(columns).with_columns(nw.col(*sums).fill_null(0.0))


def _joined(families: list[nw.LazyFrame[Any]], keys: list[str]) -> nw.LazyFrame[Any]:
    """Put sums of the same keys into one row, by summing once more.

    A join would lose null keys.
    """
    if len(families) == 1:
        return families[0]
    first, second = families
    own = [
        [name for name in family.collect_schema().names() if name not in keys]
        for family in families
    ]
    # The second adds only the columns that the first lacks; its others are set to zero.
    names = [*own[0], *(name for name in own[1] if name not in own[0])]
    zero = number(LIBRARY, 0.0)
    first = first.select(*keys, *(_column_or(name, own[0], zero) for name in names))
    added = [name for name in own[1] if name not in own[0]]
    second = second.select(*keys, *(_column_or(name, added, zero) for name in names))
    return _summed(nw.concat([first, second]), keys, names)


def _column_or(name: str, there: list[str], otherwise: nw.Expr) -> nw.Expr:
    return nw.col(name) if name in there else otherwise.alias(name)


def _formulas(
    sums: nw.LazyFrame[Any], metrics: tuple[str, ...], scales: Mapping[str, float]
) -> nw.LazyFrame[Any]:
    """Return the metrics from the sums over each group, null where they are undefined."""
    weight, right = nw.col("__lx_w"), nw.col("__lx_right")
    positive, negative = nw.col("__lx_p"), nw.col("__lx_q")
    mixed = (nw.col("__lx_zeros") > 0.0) & (nw.col("__lx_minuses") > 0.0)
    good = (nw.col("__lx_spoiled") == 0.0) & (nw.col(WRONG) == 0.0) & ~mixed

    def lxcim(name: str) -> nw.Expr:
        whole, scaled_right = (_scaled(column, scales[name]) for column in (weight, right))
        lead = nw.col(f"__lx_lead{name}")
        return right / weight + (lead - (whole - scaled_right) * whole) / whole / whole

    def auroc(name: str) -> nw.Expr:
        whole = (_scaled(column, scales[name]) for column in (positive, negative))
        pairs = nw.col(f"__lx_pairs{name}")
        for part in whole:
            pairs = pairs / part
        return pairs

    def that_fits(formula: Callable[[str], nw.Expr], size: nw.Expr) -> nw.Expr:
        """Choose the scale at which products that add up to this size keep their digits."""
        found = formula("")
        if "_huge" in scales:
            found = nw.when(size < 2.0**-800).then(formula("_tiny")).otherwise(found)
            found = nw.when(size > 2.0**800).then(formula("_huge")).otherwise(found)
        return found

    formulas = {
        "lxcim": lambda: that_fits(lxcim, weight * weight),
        "accuracy": lambda: right / weight,
        "audrc": lambda: nw.col("__lx_area") / weight,
        "auroc": lambda: that_fits(auroc, positive * negative),
    }
    # Beyond these limits sums are infinite, or weights have lost digits.
    in_range = (weight > 2.0**-1000) & (weight < float("inf"))
    defined = dict.fromkeys(metrics, good & in_range)
    if "auroc" in metrics:
        defined["auroc"] = defined["auroc"] & (positive > 0.0) & (negative > 0.0)
    zero, one = (number(LIBRARY, value) for value in (0.0, 1.0))
    # Rounding may lead out of the range of a metric. In SQL, clipping a null gives a bound: clip
    # only where the metric is defined.
    return sums.with_columns(
        nw.when(defined[name]).then(formulas[name]().clip(zero, one)).alias(name)
        for name in metrics
    )
