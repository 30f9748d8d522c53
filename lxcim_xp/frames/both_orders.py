"""Both orders of a judge in a frame: two columns, or two rows for each pair.

A long frame becomes one of two columns first. Then columns are read as everywhere in ``frames``,
and the functions of ``lxcim_xp.choices`` are applied to each subgroup.
"""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.checks import warn_of_probabilities
from lxcim_xp._samples.errors import BadValue
from lxcim_xp.choices import OrderDecomposition, OrderEffect, order_decomposition, order_effect
from lxcim_xp.frames.columns import Parts
from lxcim_xp.frames.group_codes import codes_of, group_rows
from lxcim_xp.frames.in_memory import of_groups, samples_for, with_padding_cluster
from lxcim_xp.frames.labels import refuse_missing, where_missing
from lxcim_xp.frames.names import series_of
from lxcim_xp.frames.read_write import read, write_rows

SWAPPED = "__lx_swapped"  # the scores of the second rows of a long frame

# The columns of the result: what the fields of ``OrderEffect`` are called, and those of
# ``OrderDecomposition`` and of its gains.
EFFECT = (
    *("effect", "effect_low", "effect_high"),
    *OrderEffect._fields[3:],
)
STEPS = OrderDecomposition._fields[:3]
GAINS = tuple(
    f"{gain}{end}"
    for gain in OrderDecomposition._fields[3:]
    for end in ("", "_se", "_low", "_high")
)
_COUNTED = ("flips", "flips_to_first")


class Wide(NamedTuple):
    """One row for each pair, and which rows of a long frame it was made of."""

    rows: nw.DataFrame[Any]
    first: Array | None
    swapped: Array | None


def orders_frame(
    wide: Wide, parts: Parts, *, has_labels: bool, metric: Any, level: float, warn: bool
) -> nw.DataFrame[Any]:
    """Return what the order does to a judge in each subgroup."""
    try:
        table = read(wide.rows, parts)
    except BadValue as error:
        raise _in_long_rows(wide, parts, error) from error
    columns: list[Any] = samples_for(table, "auroc")  # labels and scores, not margins
    label, first, swapped, weight, clusters = columns
    if warn and first.size:
        sides: Array = np.concatenate([np.ones(first.size), np.zeros(swapped.size)])
        scores: Array = np.concatenate([first, swapped])
        warn_of_probabilities(sides, scores, None)

    def effect(where: Array | None, first: Array, swapped: Array, *drawn: Array) -> OrderEffect:
        weight, clusters = drawn
        return order_effect(
            first,
            swapped,
            level=level,
            groups=with_padding_cluster(clusters, where),
            sample_weight=weight,
            where=where,
            decision=parts.decision,
        )

    def steps(where: Array | None, label: Array, *columns: Array) -> tuple[Array, ...]:
        first, swapped, weight, clusters = columns
        found = order_decomposition(
            label,
            first,
            swapped,
            metric=metric,
            level=level,
            groups=with_padding_cluster(clusters, where),
            sample_weight=weight,
            where=where,
            decision=parts.decision,
        )
        return (*found[:3], *found.centring, *found.second_call, *found.total)

    drawn = [first, swapped, weight, clusters]
    found = of_groups(table, EFFECT, effect, drawn)
    for name in _COUNTED:
        found[name] = np.nan_to_num(found[name]).astype(np.int64)
    if has_labels:
        found |= of_groups(table, (*STEPS, *GAINS), steps, [label, *drawn])
    return write_rows(wide.rows, table.groups.keys, found | table.counts)


def widened(rows: nw.DataFrame[Any], pair: str, order: str, score: str, shared: list[str]) -> Wide:
    """Return one row for each pair from the two rows of a long frame.

    Of the two values of the column of orders, the smaller one is that of ``first``.
    """
    for part, name in {"pair": pair, "order": order}.items():
        missing = where_missing(series_of(rows, name))
        refuse_missing(part, name, missing, "Name the pair and the order of each row.")
    orders = group_rows(rows, (order,))
    if orders.keys is not None and orders.n_groups != 2:
        found = [str(value) for value in orders.keys.get_column(order).to_list()]
        raise BadValue(
            f"order column {order!r}",
            "must hold two values, of which the smaller one stands for the calls in which A stood "
            "first; found {count}: {some}",
            "Keep two orders, and map them to 0 and 1.",
            count=orders.n_groups,
            some=", ".join(found[:5]) + (", ..." if len(found) > 5 else ""),
        )
    code, count = codes_of(rows, "pair", pair)
    place = np.full((2, count), -1)
    for which in (0, 1):
        mine = np.flatnonzero(orders.code == which)
        times = np.bincount(code[mine], minlength=count)
        if (times > 1).any():
            _complain(rows, pair, code, times > 1, "has pairs with two rows of one order", "Keep")
        place[which, code[mine]] = mine
    present = np.bincount(code, minlength=count) > 0
    lonely = present & (place < 0).any(axis=0)
    if lonely.any():
        _complain(rows, pair, code, lonely, "has pairs that lack one of the orders", "Add or drop")
    place = place[:, present]
    first, swapped = place[:, np.argsort(place[0], kind="stable")]
    for name in shared:
        _refuse_different(rows, name, pair, first, swapped)
    names = list(dict.fromkeys([*shared, score]))
    wide = nw.maybe_reset_index(rows[names][first])
    other = nw.maybe_reset_index(rows[[score]][swapped])
    wide = wide.with_columns(series_of(other, score).alias(SWAPPED))
    return Wide(wide, first, swapped)


def _complain(
    rows: nw.DataFrame[Any], pair: str, code: Array, bad: Array, what: str, remedy: str
) -> None:
    """Name the pairs that do not have one row for each order."""
    codes = np.flatnonzero(bad)
    at = np.flatnonzero(np.isin(code, codes))
    ids = list(dict.fromkeys(series_of(rows, pair)[int(row)] for row in at[:200]))
    shown = ", ".join(repr(each) for each in ids[:5]) + (", ..." if codes.size > 5 else "")
    raise BadValue(
        f"pair column {pair!r}",
        what + ": {count} of them, {some}",
        f"{remedy} one row for each pair and order.",
        count=int(codes.size),
        some=shown,
    )


def _refuse_different(
    rows: nw.DataFrame[Any], name: str, pair: str, first: Array, swapped: Array
) -> None:
    """Refuse a column that is about the pair and differs between its two rows."""
    code = codes_of(rows, "column", name)[0]
    differs = code[first] != code[swapped]
    if differs.any():
        at = int(first[np.argmax(differs)])
        raise BadValue(
            f"column {name!r}",
            "must be the same in both rows of a pair; it differs for {id!r}",
            "It is about the pair: a label says whether A is better, whatever stood first.",
            id=series_of(rows, pair)[at],
        )


def _in_long_rows(wide: Wide, parts: Parts, error: BadValue) -> BadValue:
    """Return an error about a pair as one about the row of the long frame."""
    argument, row = error.argument, error.row
    if wide.first is not None and wide.swapped is not None:
        score = parts.scores[0]
        is_second = argument == f"score column {SWAPPED!r}"
        if is_second:
            argument = f"score column {score!r}"
        if row is not None:
            row = int((wide.swapped if is_second else wide.first)[row])
    return BadValue(argument, error.problem, error.remedy, row=row, **error.facts)
