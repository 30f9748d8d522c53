"""How wide the bounds of a sketch are, how far its estimate is off, and what it costs.

Run ``python benchmarks/sketch.py``; ``--n 1e5`` is quicker.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import lxcim_xp as lx

BINS = (1 << 10, 1 << 12, 1 << 14)
TARGET_BINS, TARGET = 1 << 12, 1e-3


class Data(NamedTuple):
    """Labels and scores, and the options that a metric and a sketch of them share."""

    y_true: Any
    y_score: np.ndarray
    options: dict[str, Any]
    bound: float | None = None
    judged: bool = True


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return the probability of a log-odds."""
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))


def data_sets(n: int, rng: np.random.Generator) -> dict[str, Data]:
    """Return scores of many shapes; the model is right more often where it is confident."""

    def labels(log_odds: np.ndarray) -> np.ndarray:
        return (rng.random(n) < sigmoid(log_odds)).astype(int)

    normal, uniform = rng.normal(size=n), rng.random(n)
    heavy, wide = rng.standard_t(1.5, n), np.exp(rng.normal(0, 3, n)) * rng.choice([-1, 1], n)
    saturated = sigmoid(8 * normal)
    rounded = np.round(uniform, 3)
    by_odds, by_share = labels(normal), (rng.random(n) < uniform).astype(int)
    around_half = {"decision": lx.probability()}
    return {
        "normal": Data(by_odds, normal, {}),
        "uniform probabilities": Data(by_share, uniform, around_half),
        "Student's t, 1.5 degrees": Data(labels(heavy), heavy, {}),
        "log-normal, sigma 3": Data(labels(wide), wide, {}),
        "saturated probabilities": Data(by_odds, saturated, around_half),
        "the same without the bound": Data(by_odds, saturated, around_half, np.inf, False),
        "probabilities of 3 decimals": Data(by_share, rounded, around_half, judged=False),
    }


def width_rows(data: dict[str, Data]) -> list[tuple[str, ...]]:
    """Return half-widths of the bounds and errors of the estimate; check that bounds hold."""
    rows = []
    for name, (label, score, options, bound, judged) in data.items():
        states = [lx.sketch(label, score, bins=bins, bound=bound, **options) for bins in BINS]
        for metric, exact, bounds_of in (
            ("LxCIM", lx.lxcim(label, score, **options), lx.lxcim_bounds),
            ("AUDRC", lx.audrc(label, score, **options), lx.audrc_bounds),
        ):
            bounds = [bounds_of(state) for state in states]
            if not all(low <= exact <= high for low, _, high in bounds):
                raise AssertionError(f"{name}: {exact} is not in {bounds}")
            halves = [(high - low) / 2 for low, _, high in bounds]
            errors = [abs(estimate - exact) for _, estimate, _ in bounds]
            cells = [f"{h:.1e} [{e:.0e}]" for h, e in zip(halves, errors, strict=True)]
            met = "ok" if halves[BINS.index(TARGET_BINS)] <= TARGET else "over"
            rows.append((name, metric, *cells, met if judged else "-"))
    return sorted(rows, key=lambda row: row[1], reverse=True)


def cost_rows(n: int, repeats: int) -> list[tuple[str, ...]]:
    """Return processor time of sketches, of the metric itself and of a plain sort, in turns."""
    rng = np.random.default_rng(1)
    margins, weight = rng.normal(1, 1, n), rng.random(n)
    chance, state = sigmoid(margins), lx.sketch(1, margins)
    calls: dict[str, Callable[[], Any]] = {
        "np.sort of the scores": lambda: np.sort(margins),
        "lxcim": lambda: lx.lxcim(1, margins),
        "sketch": lambda: lx.sketch(1, margins),
        "sketch, weighted": lambda: lx.sketch(1, margins, sample_weight=weight),
        "sketch, probabilities": lambda: lx.sketch(1, chance, decision=lx.probability()),
        "merge": lambda: lx.merge(state, state),
        "lxcim_bounds": lambda: lx.lxcim_bounds(state),
        "audrc_bounds": lambda: lx.audrc_bounds(state),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            call()
            seconds[name].append(time.process_time() - start)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    sort = medians["np.sort of the scores"]
    return [(name, f"{1e3 * t:.2f}", f"{t / sort:.3f}") for name, t in medians.items()]


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows as a table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", default="1e6", help="number of samples")
    parser.add_argument("--repeats", type=int, default=9, help="of each timed call")
    arguments = parser.parse_args()
    n = int(float(arguments.n))
    print(f"half-width of the bounds [error of the estimate], n = {n}\n")
    head = ("scores", "", *(f"{bins} bins" for bins in BINS), f"≤ {TARGET:g} at {TARGET_BINS}")
    print(table(head, width_rows(data_sets(n, np.random.default_rng(0)))) + "\n")
    print(table(("call", "ms of one core", "over np.sort"), cost_rows(n, arguments.repeats)))


if __name__ == "__main__":
    main()
