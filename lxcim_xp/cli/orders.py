"""What ``lxcim orders`` does: from its options to the rows of a judge, and to the table it prints.

No number is computed here: the rows go to ``frames.orders``.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
import typer

from lxcim_xp import frames
from lxcim_xp._metric_table import METRICS
from lxcim_xp._samples.decisions import absolute
from lxcim_xp.cli.files import BadData, check_column, in_order, open_source, schema_of, with_rows
from lxcim_xp.cli.formats import TEXT
from lxcim_xp.cli.options import StepMetric
from lxcim_xp.cli.output import number, p_value, say
from lxcim_xp.cli.results import Found, put_beside
from lxcim_xp.cli.selection import Chosen, choose, library_errors
from lxcim_xp.decision import probability

_WIDE, _LONG = ("first", "swapped"), ("pair", "order", "score")


class Asked(NamedTuple):
    """What was chosen, and the columns of both orders by the name of their argument."""

    chosen: Chosen
    columns: dict[str, str]


def choose_orders(given: Mapping[str, Any]) -> Asked:
    """Check the options of the command against each other and against the columns of the file."""
    columns = {name: given[name] for name in (*_WIDE, *_LONG) if given[name] is not None}
    if set(columns) not in (set(_WIDE), set(_LONG)):
        raise typer.BadParameter(
            "name two columns with --first and --swapped, where each pair has a row; or three with "
            "--pair, --order and --score, where each call has one.",
            param_hint="--first",
        )
    if given["label"] is None:
        for name in ("positive", "negative"):
            if given[name] is not None:
                raise typer.BadParameter(
                    f"it is about labels. Pass --label, or leave --{name} out.",
                    param_hint=f"--{name}",
                )
        if given["ties"] != "error":
            raise typer.BadParameter("it is about labels. Pass --label.", param_hint="--ties")
        if given["metric"] is not None:
            raise typer.BadParameter(
                "it needs to know who is right: --label.", param_hint="--metric"
            )
    source = open_source(given["file"])
    schema = schema_of(source)
    for name, column in columns.items():
        check_column(source, schema, f"--{name}", column)
    scores = [columns[name] for name in columns if name in ("first", "swapped", "score")]
    # The options that it shares with other commands are checked as there.
    shared = {"file": given["file"], "label": given["label"], "missing": given["missing"]}
    shared |= {name: given[name] for name in ("weight", "by", "groups")}
    if given["label"] is None:
        chosen = choose(shared | {"margin": scores})
    else:
        sides = {name: given[name] for name in ("positive", "negative", "ties")}
        chosen = choose(shared | sides | {"score": scores})
    is_probability, threshold = given["probability"], given["threshold"]
    if is_probability and threshold is not None:
        raise typer.BadParameter(
            "probabilities are decided at one half. Leave out --threshold.",
            param_hint="--probability",
        )
    chosen = chosen._replace(
        decision=probability() if is_probability else absolute(threshold or 0.0),
        told=is_probability or threshold is not None,
    )
    return Asked(chosen, columns)


def orders_found(asked: Asked, metric: StepMetric, level: float) -> Found:
    """Say what the order does to the judge in each subgroup."""
    chosen, columns = asked
    rows = _rows(asked)
    if not chosen.told and _seem_probabilities(rows, chosen.columns):
        say(
            "All scores lie between 0 and 1, like probabilities, but each call is decided at 0: "
            "what stands first wins them all. If they are probabilities that it is better, pass "
            "--probability; if not, say so with --threshold 0."
        )
    options: dict[str, Any] = columns | {
        "label": chosen.label,
        "weight": chosen.weight,
        "by": chosen.by,
        "groups": chosen.groups,
        "decision": chosen.decision,
        "positive": chosen.positive,
        "negative": chosen.negative,
        "ties": chosen.ties,
        "nan_policy": chosen.nan_policy,
    }
    with library_errors(chosen):
        found = frames.orders(rows, metric=metric.value, level=level, **options)
    readable: list[dict[str, Any]] = []
    for row in found.to_dicts():
        keys = {name: row[name] for name in chosen.by}
        lines = _lines(row, METRICS[metric].title, bool(chosen.label))
        readable += [put_beside(keys, line) for line in lines]
    words = (*chosen.by, _HEAD)
    table = pl.DataFrame(readable, infer_schema_length=None)
    return Found(found, table, words)


_HEAD = "quantity"


def _rows(asked: Asked) -> pl.DataFrame:
    chosen, columns = asked
    needed = [*columns.values(), chosen.label, chosen.weight, *chosen.by, chosen.groups]
    names = list(dict.fromkeys(name for name in needed if name is not None))
    words = chosen.words
    if "pair" in columns and chosen.source.form == "csv" and columns["pair"] not in chosen.numbers:
        words = tuple(dict.fromkeys([*words, columns["pair"]]))  # compared as written, like keys
    rows = with_rows(chosen.source, names, chosen.numbers, words, lambda rows: rows)
    if not rows.height:
        raise BadData(f"{chosen.source.name} has no rows.")
    if chosen.source.form in TEXT:
        rows = in_order(rows, [name for name in chosen.by if rows.schema.get(name) == pl.String])
    return rows


def _seem_probabilities(rows: pl.DataFrame, scores: tuple[str, ...]) -> bool:
    """Say whether no call prefers what stands second, and scores lie in [0, 1]."""
    columns = [rows[name].cast(pl.Float64).drop_nans().drop_nulls() for name in scores]
    together = pl.concat([column.alias("score") for column in columns])
    return bool(together.len() and together.is_between(0, 1).all() and together.n_unique() > 1)


def _lines(row: dict[str, Any], title: str, has_labels: bool) -> list[dict[str, str]]:
    """Write a row of the result as lines for people."""

    def line(head: str, value: str, gain: str = "") -> dict[str, str]:
        return {_HEAD: head, "value": value} | ({"gain": gain} if has_labels else {})

    flips = f"{row['flips_to_first']} of {row['flips']} (p = {p_value(row['p_value'])})"
    lines = [
        line("pairs", f"{row['n'] - row['n_missing']}"),
        line("flip rate", _bounds(row, "flip_rate")),
        line("flips to the first place", flips.replace("= <", "<")),
        line("LxCIM of the order effect", _bounds(row, "preference")),
        line("mean order effect", _bounds(row, "effect")),
    ]
    if row["n_missing"]:
        lines.insert(1, line("pairs with a missing value", f"{row['n_missing']}"))
    if has_labels:
        lines += [
            line(f"{title} of one call, in random order", number(row["once"])),
            line("less the mean order effect", number(row["centred"]), _bounds(row, "centring")),
            line("of both orders", number(row["both"]), _bounds(row, "second_call")),
            line("of both orders, against one call", number(row["both"]), _bounds(row, "total")),
        ]
    return lines


def _bounds(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    known = None not in (low, high)
    return number(row[name]) + (f" [{number(low)}, {number(high)}]" if known else "")
