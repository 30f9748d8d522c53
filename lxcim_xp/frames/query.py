"""Lazy frames: the metrics as a query, exact in ties and weights, that the engine runs.

Rows become blocks of equal confidence in each group (one ``group_by``), running sums go down the
blocks (one window), products of both are summed over each group. No row is dropped on the way:
what does not count has weight zero, so that every group stays. All names inside the query have one
prefix and are lower case, because some engines fold case; sums of products are made from columns
of products, because not every engine takes a product inside an aggregation.
"""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from lxcim_xp._engines import Engine, column_of, require_samples
from lxcim_xp._frame_columns import Parts
from lxcim_xp._frame_expressions import (
    Library,
    harmonic,
    monotone_bin,
    number,
    signed_confidence,
    threshold_like,
)
from lxcim_xp.decision import absolute, probability

LIBRARY = Library(nw.when, nw.lit, nw.Float64, nw.Float32)
_KEY = "__lx_key"
_BIN = "__lx_bin"


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
    rows = clean_rows(frame, schema, engine, parts, keys)
    binned = engine.road == "binned plan" and not keys
    at_zero = parts.decision.signed is absolute().signed and parts.decision.threshold == 0
    families = []
    # At threshold zero the confidence is the size of the score: one order serves all metrics.
    shared = "auroc" in metrics and at_zero
    if shared or metrics != ("auroc",):
        families.append(_by_confidence(rows, keys, metrics, binned, shared))
    if "auroc" in metrics and not shared:
        families.append(_by_score(rows, keys, binned))
    result = _formulas(_joined(families, keys), metrics)
    names = dict(zip(keys, parts.by, strict=True))
    result = result.select(
        *keys, *metrics, nw.col("__lx_n").alias("n"), nw.col("__lx_missing").alias("n_missing"),
        nw.col("__lx_w").alias("weight"),
    )  # fmt: skip
    result = result.with_columns(nw.col("n", "n_missing").cast(nw.Int64))
    return result.rename(names).sort(*parts.by, nulls_last=True) if keys else result


def inner_names(by: tuple[str, ...]) -> list[str]:
    """Return what the keys are called inside a query."""
    return [f"__lx_k{place}" for place in range(len(by))]


def check_decision(engine: Engine, parts: Parts) -> None:
    """Refuse decision functions that only arrays can be passed to."""
    if parts.decision.signed not in (absolute().signed, probability().signed):
        require_samples(
            engine,
            "a decision function other than threshold= and probability()",
            instead="Add a column of signed confidences, and use threshold=0 on it.",
        )


def clean_rows(
    frame: nw.LazyFrame[Any], schema: Any, engine: Engine, parts: Parts, keys: list[str]
) -> nw.LazyFrame[Any]:
    """Return keys, weight, label, score and signed confidence; weight zero if not to be counted."""
    score_name = parts.scores[0]
    one = weight = number(LIBRARY, 1.0)
    if parts.weight is not None:
        weight = column_of(engine, parts.weight).cast(nw.Float64)
    rows = frame.select(
        *(column_of(engine, name).alias(key) for key, name in zip(keys, parts.by, strict=True)),
        _label(column_of(engine, parts.label), schema[parts.label], parts).alias("__lx_y"),
        column_of(engine, score_name).cast(nw.Float64).alias("__lx_s"),
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
    rows = rows.with_columns(
        nw.when(nw.col("__lx_no_y")).then(zero).otherwise(nw.col("__lx_y")).alias("__lx_y"),
        nw.when(nw.col("__lx_no_s")).then(threshold).otherwise(nw.col("__lx_s")).alias("__lx_s"),
        nw.when(nw.col("__lx_no_w")).then(one).otherwise(nw.col("__lx_w")).alias("__lx_w"),
    )
    y, s, w = (nw.col(name) for name in ("__lx_y", "__lx_s", "__lx_w"))
    no_y, no_s, no_w = (nw.col(f"__lx_no_{name}") for name in "ysw")
    present = w != 0.0  # a row of weight zero is absent, whatever it holds
    bad = (w < 0.0) | (w == float("inf")) | ((y != 0.0) & (y != 1.0) & (y != -1.0) & present)
    if parts.decision.domain is not None:
        low, high = parts.decision.domain
        bad = bad | (((s < low) | (s > high)) & present)
    missing = (no_y | no_s | no_w) & present
    unusable = ((no_y | no_w) & present) if parts.nan_policy == "abstain" else missing
    rows = rows.with_columns(
        missing.alias("__lx_missing"),
        bad.alias("__lx_bad"),
        (~(unusable | bad)).alias("__lx_counts"),
        (unusable if parts.nan_policy != "omit" else no_w & ~no_w).alias("__lx_fatal"),
    )
    counts = nw.col("__lx_counts")
    flags = {
        "__lx_n": one,
        "__lx_missing": one_if(nw.col("__lx_missing")),
        "__lx_spoiled": one_if(nw.col("__lx_bad") | nw.col("__lx_fatal")),
        "__lx_zeros": one_if(counts & present & (y == 0.0)),
        "__lx_minuses": one_if(counts & present & (y == -1.0)),
    }
    is_float32 = schema[score_name] == nw.Float32
    signed = signed_confidence(LIBRARY, s, parts.decision, is_float32)
    return rows.select(
        *keys,
        *(flag.alias(name) for name, flag in flags.items()),
        nw.when(counts).then(w).otherwise(zero).alias("__lx_w"),
        one_if(counts & (y > 0.0)).alias("__lx_y"),
        (nw.when(counts).then(s).otherwise(threshold) + 0.0).alias("__lx_s"),
        nw.when(counts).then(signed).otherwise(zero).alias("__lx_d"),
    )


def right_weight() -> nw.Expr:
    """Return the weight of what was decided right in clean rows, undecided rows counting half."""
    d, y, half = nw.col("__lx_d"), nw.col("__lx_y"), number(LIBRARY, 0.5)
    credit = nw.when(d > 0.0).then(y).otherwise(nw.when(d < 0.0).then(1.0 - y).otherwise(half))
    return nw.col("__lx_w") * credit


def _label(column: nw.Expr, dtype: Any, parts: Parts) -> nw.Expr:
    """Return labels as floats, null where they are missing."""
    positive = parts.positive
    if positive is None:
        return column.cast(nw.Float64)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        column = column.cast(nw.String)
    missing = column.is_null()
    if dtype.is_float():
        missing = missing | column.is_nan()
    return nw.when(~missing).then((column == positive).cast(nw.Float64))


def one_if(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 where a condition holds, and 0.0 elsewhere."""
    return nw.when(condition).then(number(LIBRARY, 1.0)).otherwise(number(LIBRARY, 0.0))


_FLAGS = ["__lx_n", "__lx_missing", "__lx_spoiled", "__lx_zeros", "__lx_minuses"]


def _by_confidence(
    rows: nw.LazyFrame[Any],
    keys: list[str],
    metrics: tuple[str, ...],
    binned: bool,
    with_auroc: bool,
) -> nw.LazyFrame[Any]:
    """Return sums over each group of what depends on the order of confidence."""
    d, y, w = nw.col("__lx_d"), nw.col("__lx_y"), nw.col("__lx_w")
    columns = {_KEY: 0.0 - d.abs(), "__lx_right": right_weight()}
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
        wrong = w - nw.col("__lx_right")
        terms["__lx_lead"] = wrong * (2.0 * nw.col("__lx_w_run") - w)
    if "audrc" in metrics:
        blocks, terms["__lx_area"] = _accuracy_rate_area(blocks)
    if with_auroc:
        upper, lower = (
            nw.col(f"__lx_p{side}") * (nw.col(f"__lx_n{side}_run") - 0.5 * nw.col(f"__lx_n{side}"))
            for side in "ul"
        )
        terms["__lx_pairs"] = lower - upper
    blocks = blocks.with_columns(term.alias(name) for name, term in terms.items())
    found = _summed(blocks, keys, [*sums, *terms])
    if not with_auroc:
        return found
    pu, pl, nu, nl = (nw.col(f"__lx_{name}") for name in ("pu", "pl", "nu", "nl"))
    return found.with_columns(
        (nw.col("__lx_pairs") + pu * (nu + nl)).alias("__lx_pairs"),
        (pu + pl).alias("__lx_p"),
        (nu + nl).alias("__lx_q"),
    )


def _accuracy_rate_area(blocks: nw.LazyFrame[Any]) -> tuple[nw.LazyFrame[Any], nw.Expr]:
    """Return the part of each block in AUDRC: m equal parts of a block, in closed form.

    With a weight of t in m samples, k of it right, and W and C above: the sum over j = 1 .. m of
    (t / m) (C + j k / m) / (W + j t / m) is k + (C - (k / t) W) (1 / (x + 1) + ... + 1 / (x + m)),
    x = m W / t.
    """
    w, right, members = nw.col("__lx_w"), nw.col("__lx_right"), nw.col("__lx_members")
    above, right_above = nw.col("__lx_w_run") - w, nw.col("__lx_right_run") - right
    weight = nw.when(w > 0.0).then(w).otherwise(number(LIBRARY, 1.0))
    # Sums from above are differences, in which rounding must not leave a negative weight.
    above = nw.when(above > 0.0).then(above).otherwise(number(LIBRARY, 0.0))
    blocks = blocks.with_columns(
        above.alias("__lx_above"), right_above.alias("__lx_right_above"), weight.alias("__lx_t")
    )
    above, right_above, weight = (
        nw.col(name) for name in ("__lx_above", "__lx_right_above", "__lx_t")
    )
    blocks = blocks.with_columns(
        (members * above / weight).alias("__lx_x"),
        (right_above - right / weight * above).alias("__lx_bend"),
    )
    blocks = harmonic(LIBRARY, blocks, "__lx_x", "__lx_members", "__lx_harmonic")
    tied = right + nw.col("__lx_bend") * nw.col("__lx_harmonic")
    alone = w * (right_above + right) / (above + weight)
    return blocks, nw.when(members > 1.0).then(tied).otherwise(alone)


def _by_score(rows: nw.LazyFrame[Any], keys: list[str], binned: bool) -> nw.LazyFrame[Any]:
    """Return sums over each group of what AUROC takes from the order of the scores."""
    y, w = nw.col("__lx_y"), nw.col("__lx_w")
    rows = rows.with_columns(
        nw.col("__lx_s").alias(_KEY), (w * y).alias("__lx_p"), (w * (1.0 - y)).alias("__lx_q")
    )
    sums = [*_FLAGS, "__lx_w", "__lx_p", "__lx_q"]
    blocks = _running(rows, keys, sums, ["__lx_q"], binned)
    q = nw.col("__lx_q")
    pairs = nw.col("__lx_p") * (nw.col("__lx_q_run") - 0.5 * q)
    return _summed(blocks.with_columns(pairs.alias("__lx_pairs")), keys, [*sums, "__lx_pairs"])


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
    # One window over everything would bring everything to one worker. Bins of the key are windows
    # of their own; what lies in the bins before is a table of few rows.
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
    """Return sums over each group; without keys over everything, one row even of no rows."""
    columns = nw.col(*sums).sum()
    if keys:
        return rows.group_by(*keys).agg(columns)
    return rows.select(columns).with_columns(nw.col(*sums).fill_null(0.0))


def _joined(families: list[nw.LazyFrame[Any]], keys: list[str]) -> nw.LazyFrame[Any]:
    """Put sums that belong to the same keys together, by one more sum.

    A join would lose null keys.
    """
    if len(families) == 1:
        return families[0]
    first, second = families
    own = [
        [name for name in family.collect_schema().names() if name not in keys]
        for family in families
    ]
    # The second brings what the first has not; everything else is zero there.
    names = [*own[0], *(name for name in own[1] if name not in own[0])]
    zero = number(LIBRARY, 0.0)
    first = first.select(*keys, *(_or(name, own[0], zero) for name in names))
    added = [name for name in own[1] if name not in own[0]]
    second = second.select(*keys, *(_or(name, added, zero) for name in names))
    return _summed(nw.concat([first, second]), keys, names)


def _or(name: str, there: list[str], otherwise: nw.Expr) -> nw.Expr:
    return nw.col(name) if name in there else otherwise.alias(name)


def _formulas(sums: nw.LazyFrame[Any], metrics: tuple[str, ...]) -> nw.LazyFrame[Any]:
    """Return the metrics from the sums over each group, null where they are undefined."""
    weight, right = nw.col("__lx_w"), nw.col("__lx_right")
    good = (nw.col("__lx_spoiled") == 0.0) & ~(
        (nw.col("__lx_zeros") > 0.0) & (nw.col("__lx_minuses") > 0.0)
    )
    formulas = {
        "lxcim": lambda: (
            right / weight + (nw.col("__lx_lead") - (weight - right) * weight) / weight / weight
        ),
        "accuracy": lambda: right / weight,
        "audrc": lambda: nw.col("__lx_area") / weight,
        "auroc": lambda: nw.col("__lx_pairs") / nw.col("__lx_p") / nw.col("__lx_q"),
    }
    defined = dict.fromkeys(metrics, good & (weight > 0.0))
    if "auroc" in metrics:
        defined["auroc"] = good & (nw.col("__lx_p") > 0.0) & (nw.col("__lx_q") > 0.0)
    return sums.with_columns(
        nw.when(defined[name]).then(formulas[name]()).alias(name) for name in metrics
    )
