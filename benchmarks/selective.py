"""Simulate what the thresholds of ``threshold_for`` do to new samples.

    python benchmarks/selective.py
    python benchmarks/selective.py [--sizes 200,1000] [--sets 4000] [--quick]

Margins are normal with mean 1 and standard deviation 1. Of such samples 84 % are right. The most
confident 56.5 % are wrong 5 times in 100, so no threshold for 95 % accuracy can decide more than
these. Thresholds are chosen on many data sets of each size; what they do to new samples is known
exactly. Prints two tables in Markdown, and whether the targets are met. Only NumPy is needed.
"""

import argparse
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lxcim_xp import threshold_for

MEAN = 1.0  # of the margins
ACCURACY = 0.95
DELTA = 0.1
RISKS = (0.02, 0.05, 0.1)
SIZES = (200, 1000, 5000)
LEAST_COVERAGE = {1000: 0.40, 5000: 0.48}
AT_ONCE = 1_000_000  # margins drawn at a time


class Truth(NamedTuple):
    """What a rule does to new samples, one value for each data set."""

    wrong: np.ndarray  # how often a sample is decided and wrong
    decided: np.ndarray  # how often it is decided


def normal_tail(x: np.ndarray) -> np.ndarray:
    """Return P(X > x) of the standard normal distribution."""
    return np.asarray([math.erfc(value / math.sqrt(2)) / 2 for value in np.ravel(x)])


def truth(confidence: np.ndarray) -> Truth:
    """Return what happens if everything from a confidence up is decided; NaN decides nothing."""
    confidence = np.where(np.isnan(confidence), np.inf, confidence)
    wrong, right = normal_tail(confidence + MEAN), normal_tail(confidence - MEAN)
    return Truth(wrong, wrong + right)


def oracle() -> float:
    """Return the decision rate of the lowest threshold that is accurate enough, by bisection."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        found = truth(np.asarray([middle]))
        too_low = found.wrong[0] > (1 - ACCURACY) * found.decided[0]
        low, high = (middle, high) if too_low else (low, middle)
    return float(truth(np.asarray([high])).decided[0])


def data_sets(size: int, sets: int) -> Iterator[np.ndarray]:
    """Draw data sets from a fixed seed."""
    rng = np.random.default_rng(size)
    while sets:
        rows = min(sets, max(1, AT_ONCE // size))
        yield rng.standard_normal((rows, size)) + MEAN
        sets -= rows


def simulate(size: int, sets: int, **target: float | None) -> Truth:
    """Choose a threshold on each data set and return what it does to new samples."""
    confidence = [
        threshold_for(1, margins, **target).confidence for margins in data_sets(size, sets)
    ]
    return truth(np.concatenate(confidence))


def accuracy_rows(size: int, sets: int) -> Iterator[tuple[str, ...]]:
    """Return the rows of one size, with and without a guarantee."""
    for name, delta in ((f"delta = {DELTA:g}", DELTA), ("delta = None", None)):
        found = simulate(size, sets, accuracy=ACCURACY, delta=delta)
        violated = float(np.mean(found.wrong > (1 - ACCURACY) * found.decided))
        coverage = float(np.mean(found.decided))
        verdict = ""
        if delta is not None:
            met = violated <= DELTA and coverage >= LEAST_COVERAGE.get(size, 0.0)
            verdict = "met" if met else "missed"
        nothing = float(np.mean(found.decided == 0))
        numbers = (f"{value:.3f}" for value in (violated, coverage, nothing))
        yield (str(size), name, *numbers, verdict)


def risk_rows(size: int, sets: int) -> Iterator[tuple[str, ...]]:
    """Return the rows of one size for each joint risk."""
    for risk in RISKS:
        found = simulate(size, sets, joint_risk=risk)
        mean, error = np.mean(found.wrong), np.std(found.wrong) / math.sqrt(sets)
        verdict = "met" if mean <= risk + 2 * error else "missed"
        coverage = f"{np.mean(found.decided):.3f}"
        yield (str(size), f"{risk:g}", f"{mean:.4f} ± {error:.4f}", coverage, verdict)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows as a table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="samples of a data set")
    parser.add_argument("--sets", type=int, default=4000, help="data sets of each size")
    parser.add_argument("--quick", action="store_true", help="100 data sets of each size")
    arguments = parser.parse_args()
    sizes = [int(float(size)) for size in arguments.sizes.split(",")]
    sets = 100 if arguments.quick else arguments.sets
    print(f"{sets} data sets of each size; the best threshold decides {oracle():.3f}\n")
    head = ("n", "accuracy=0.95", "falls short", "decides", "decides nothing", "target")
    print(table(head, [row for size in sizes for row in accuracy_rows(size, sets)]) + "\n")
    head = ("n", "joint_risk", "decided and wrong", "decides", "target")
    print(table(head, [row for size in sizes for row in risk_rows(size, sets)]))


if __name__ == "__main__":
    main()
