"""The paper's table from a file of scores, with the intervals and tests that it does not have."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from data import source_of
from published import PUBLISHED
from scores import Scores

import lxcim_xp as lx

LEVEL = 0.95
TREATMENTS = {
    "omit": "on the pairs that all of them answered",
    "abstain": "on all pairs, no answer counting as undecided",
}


class Row(NamedTuple):
    """What the table says of one method; ``lx.Interval`` has estimate, low and high."""

    method: str
    answered: int
    coverage: float  # the share of the weight of all pairs
    lxcim: lx.Interval
    accuracy: lx.Interval
    audrc: lx.Interval
    auroc: lx.Spread  # over random namings of cause and effect
    undecided: float  # LxCIM if no answer counts as undecided
    p_value: float  # that coins do as well


def evaluate(scores: Scores, seed: int = 0) -> list[Row]:
    """Return a row for each method, the best LxCIM first.

    Pairs from one source are no independent witnesses: that is why they share the weight of one,
    and intervals take the source as the cluster.
    """
    weight, sources = scores.weights, _sources(scores)
    rows = []
    for method, score in scores.by_method.items():
        answered = ~np.isnan(score)
        if not answered.any():
            continue
        own = {"sample_weight": weight[answered], "threshold": 0.0}
        data = np.ones(answered.sum(), dtype=int), score[answered]
        lxcim, accuracy, audrc = (
            _interval(*data, sources[answered], metric=metric, level=LEVEL, **own)
            for metric in ("lxcim", "accuracy", "audrc")
        )
        rows.append(
            Row(
                method,
                int(answered.sum()),
                float(weight[answered].sum() / weight.sum()),
                lxcim,
                accuracy,
                audrc,
                lx.exchange_spread(lx.auroc, *data, seed=seed, **own),
                float(
                    lx.lxcim(1, score, sample_weight=weight, threshold=0.0, nan_policy="abstain")
                ),
                float(lx.significance(*data, **own).p_value),
            )
        )
    return sorted(rows, key=lambda row: -float(row.lxcim.estimate))


def compare(scores: Scores, nan_policy: str) -> lx.ComparisonTable:
    """Compare all methods on the same pairs, with p-values adjusted for their number."""
    answering = {
        method: score for method, score in scores.by_method.items() if not np.isnan(score).all()
    }
    return lx.compare_all(
        1,
        answering,
        adjust="max-t",
        level=LEVEL,
        groups=_sources(scores),
        sample_weight=scores.weights,
        threshold=0.0,
        nan_policy=nan_policy,
    )


def tiers(found: lx.ComparisonTable) -> list[list[str]]:
    """Return the methods in tiers: nobody in a tier is shown to be worse than another in it."""
    tiers: list[list[int]] = []
    for place in np.argsort(-found.estimate, kind="stable"):
        beaten = tiers and any(
            found.adjusted_p_value[other, place] < 1 - LEVEL for other in tiers[-1]
        )
        if beaten or not tiers:
            tiers.append([])
        tiers[-1].append(int(place))
    return [[found.names[place] for place in tier] for tier in tiers]


def table_text(rows: Sequence[Row], tier_of: Mapping[str, int]) -> str:
    """Write the rows as a Markdown table in percent, the paper's numbers in brackets."""
    head = [
        "method",
        "answers",
        "coverage",
        "LxCIM",
        "accuracy",
        "AUDRC",
        "AUROC over namings",
        "LxCIM, undecided",
        "p (coin)",
        "tier",
    ]
    body = [
        [
            row.method,
            str(row.answered),
            f"{100 * row.coverage:.0f}",
            *(
                f"{_percent(found)}{_paper(row.method, metric)}"
                for metric, found in (
                    ("lxcim", row.lxcim),
                    ("accuracy", row.accuracy),
                    ("audrc", row.audrc),
                )
            ),
            f"{_namings(row.auroc)}{_paper(row.method, 'auroc')}",
            f"{100 * row.undecided:.1f}",
            f"{row.p_value:.1g}" if row.p_value < 0.01 else f"{row.p_value:.2f}",
            str(tier_of[row.method]),
        ]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        + " |"
        for cells in (head, *body)
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def comparison_text(found: lx.ComparisonTable) -> str:
    """Say which differences are established, and which tiers follow."""
    first, second = np.nonzero((found.adjusted_p_value < 1 - LEVEL) & (found.difference > 0))
    used = int(found.samples)
    pairs = len(found.names) * (len(found.names) - 1) // 2
    lines = [f"{used} pairs: {first.size} of {pairs} differences are established."]
    lines += [
        f"  {found.names[a]} is better than {found.names[b]} by "
        f"{100 * found.difference[a, b]:.1f} points (adjusted p = "
        f"{found.adjusted_p_value[a, b]:.2g})"
        for a, b in zip(first, second, strict=True)
    ]
    lines += [f"  tier {place}: {', '.join(tier)}" for place, tier in enumerate(tiers(found), 1)]
    return "\n".join(lines)


def comparison_rows(found: lx.ComparisonTable, treatment: str) -> list[tuple[object, ...]]:
    """Return each difference as a row of a file."""
    above = zip(*np.triu_indices(len(found.names), 1), strict=True)
    return [
        (
            treatment,
            found.names[a],
            found.names[b],
            *(
                f"{float(values[a, b]):.6g}"
                for values in (
                    found.difference,
                    found.standard_error,
                    found.low,
                    found.high,
                    found.p_value,
                    found.adjusted_p_value,
                )
            ),
        )
        for a, b in above
    ]


COMPARISON_COLUMNS = [
    "missing",
    "method_a",
    "method_b",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "adjusted_p_value",
]


def _sources(scores: Scores) -> np.ndarray:
    return np.array([source_of(number) for number in scores.numbers])


def _interval(label: np.ndarray, score: np.ndarray, source: np.ndarray, **own: Any) -> lx.Interval:
    """Return the interval by sources; pairs from a single one say nothing about its width."""
    if (source == source[0]).all():
        unknown = dict.fromkeys(("low", "high", "standard_error"), np.float64(np.nan))
        return lx.interval(label, score, **own)._replace(**unknown)
    return lx.interval(label, score, groups=source, **own)


def _percent(found: lx.Interval) -> str:
    low, estimate, high = (100 * float(x) for x in (found.low, found.estimate, found.high))
    return f"{estimate:.1f} [{low:.0f}, {high:.0f}]"


def _namings(found: lx.Spread) -> str:
    """Return mean and standard deviation over namings, and what 95 of 100 of them lie between."""
    known = found.values[~np.isnan(found.values)]
    if not known.size:
        return "undefined"
    low, high = (100 * np.quantile(known, (1 + side * LEVEL) / 2) for side in (-1, 1))
    return f"{100 * found.mean:.1f} ± {100 * found.std:.1f} [{low:.0f}, {high:.0f}]"


def _paper(method: str, metric: str) -> str:
    row = PUBLISHED.get(method)
    return "" if row is None else f" ({getattr(row, metric):.1f})"
