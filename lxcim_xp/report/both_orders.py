"""The section of a report about a judge that was asked in both orders.

The numbers are those of ``frames.orders``; here they get their words.
"""

import math
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from lxcim_xp import frames
from lxcim_xp.report.predictions import Predictions
from lxcim_xp.report.wording import decision_call, number, p_value, percent, signed


class Line(NamedTuple):
    """A quantity of the table; without an interval of its own, the bounds are None."""

    name: str  # the column of ``frames.orders``
    text: str
    value: float
    low: float | None
    high: float | None
    shown: str


class BothOrders(NamedTuple):
    """What the section says."""

    words: list[str]
    caption: str
    lines: list[Line]
    call: str  # that gives the numbers, as text that runs


_EFFECT = {
    "flip_rate": "Flip rate",
    "preference": "LxCIM of the order effect: 1/2 without one, 1 if always the first place gains",
    "effect": "Mean order effect, in the unit of the scores",
}
_STEPS = {
    "once": "LxCIM of one call, in random order",
    "centring": "gained by taking the mean order effect off",
    "second_call": "gained by the second call beyond that",
    "both": "LxCIM of both orders",
    "total": "gained by both steps",
}


def orders_of(
    frame: Any, given: Predictions, swapped: str | None, *, label: str | None, level: float
) -> BothOrders | None:
    """Return the section about both orders; None if there is only one."""
    if swapped is None:
        return None
    parts = given.reading.parts
    if len(parts.scores) != 1:
        raise ValueError(
            f"swapped={swapped!r} is the other order of one judge; found {len(parts.scores)} "
            f"columns of scores. Pass one of them."
        )
    as_in_the_frame: dict[str, Any] = {
        "weight": parts.weight,
        "groups": parts.clusters,
        "decision": parts.decision,
        "positive": parts.positive,
        "negative": parts.negative,
        "ties": parts.ties,
        "nan_policy": parts.nan_policy,
    }
    found = frames.orders(
        frame,
        label=label,
        first=parts.scores[0],
        swapped=swapped,
        level=level,
        collect=True,
        **as_in_the_frame,
    )
    row = next(nw.from_native(found, eager_only=True).iter_rows(named=True))
    row = {name: math.nan if value is None else value for name, value in row.items()}
    names = _EFFECT | (_STEPS if label is not None else {})
    caption = "What the order of the answers does"
    caption += ", and what it costs, step by step." if label is not None else "."
    lines = [_line(row, *named) for named in names.items()]
    return BothOrders(_words(row), caption, lines, _call(parts, label, swapped, level))


def _call(parts: Any, label: str | None, swapped: str, level: float) -> str:
    """Return the call as text, with the options that are not the default."""
    named = {"label": label, "first": parts.scores[0], "swapped": swapped, "weight": parts.weight}
    named |= {"groups": parts.clusters, "positive": parts.positive, "negative": parts.negative}
    given = [f"{name}={value!r}" for name, value in named.items() if value is not None]
    for name, value, default in (
        ("ties", parts.ties, "error"),
        ("nan_policy", parts.nan_policy, "raise"),
    ):
        given += [f"{name}={value!r}"] if value != default else []
    given += [option for option in [decision_call(parts.decision)] if option]
    return (
        "from lxcim_xp import frames\n\n"
        f"orders = frames.orders(frame, {', '.join(given)}, level={level})"
    )


def _line(row: dict[str, Any], name: str, text: str) -> Line:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    is_difference = f"{name}_se" in row
    shown = percent(row[name]) if name == "flip_rate" else number(row[name])
    return Line(name, text, row[name], low, high, signed(row[name]) if is_difference else shown)


def _words(row: dict[str, Any]) -> list[str]:
    flips, to_first = row["flips"], row["flips_to_first"]
    pairs = row["n"] - row["n_missing"]
    if not flips:
        return [f"The judge chose the same answer in both orders of all {pairs:,} pairs."]
    most = max(to_first, flips - to_first)
    place = "first" if to_first == most else "second"
    said = [
        f"In {flips:,} of {pairs:,} pairs the judge contradicts itself.",
        f"In {most:,} of these it chose what stood {place} both times.",
    ]
    p = row["p_value"]
    if p < 0.05:
        beyond = "That is more than chance gives"
    else:
        beyond = "Chance may give as much, if both places are alike"
    shown = p_value(p)
    return [*said, f"{beyond} (p {shown if '<' in shown else f'= {shown}'})."]
