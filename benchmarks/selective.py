"""Simulate what the thresholds of ``threshold_for`` do to new samples.

    python benchmarks/selective.py
    python benchmarks/selective.py [--sizes 200,1000] [--sets 4000] [--quick]

Margins are normal with mean 1 and standard deviation 1. Of such samples 84 % are right. The most
confident 56.5 % are wrong 5 times in 100, so no threshold for 95 % accuracy can decide more than
these. Thresholds are chosen on many data sets of each size; what they do to new samples is known
exactly. In the last table the margins of one question are correlated, or the answers to a question
are all right or all wrong, so often that every threshold falls short. Prints three tables in
Markdown, and whether the targets are met. Only NumPy is needed.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from lxcim_xp import threshold_for

MEAN = 1.0  # of the margins
ACCURACY = 0.95
DELTA = 0.1
RISKS = (0.02, 0.05, 0.1)
SIZES = (200, 1000, 5000)
LEAST_COVERAGE = {1000: 0.40, 5000: 0.48}
QUESTIONS = (100, 400)
ANSWERS: dict[str, Callable[[int], np.ndarray]] = {
    "10": lambda questions: np.full(questions, 10),
    "20": lambda questions: np.full(questions, 20),
    "1 to 39": lambda questions: 1 + np.arange(questions) % 39,
}
CORRELATIONS = (0.0, 0.1, 0.5, "all right or all wrong")
OF_QUESTIONS = 0.9  # the accuracy that questions are asked for: 0.95 takes several hundred
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


def oracle(accuracy: float = ACCURACY) -> float:
    """Return the decision rate of the lowest threshold that is accurate enough, by bisection."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        found = truth(np.asarray([middle]))
        too_low = found.wrong[0] > (1 - accuracy) * found.decided[0]
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


def answers(question: np.ndarray, correlation: float | str, sets: int) -> Iterator[np.ndarray]:
    """Draw data sets of margins, which belong to questions."""
    rng = np.random.default_rng(question.size)
    number = question.max() + 1
    while sets:
        rows = min(sets, max(1, AT_ONCE // question.size))
        own = rng.standard_normal((rows, question.size))
        shared = rng.standard_normal((rows, number))[:, question]
        if isinstance(correlation, str):
            # Some questions have higher confidences than others.
            confidence = np.exp(own + shared)
            wrong = rng.random((rows, number))[:, question] < 1 - OF_QUESTIONS + 1e-9
            yield np.where(wrong, -confidence, confidence)
        else:
            share = math.sqrt(correlation)
            yield MEAN + share * shared + math.sqrt(1 - correlation) * own
        sets -= rows


def question_rows(questions: int, sets: int) -> Iterator[tuple[str, ...]]:
    """Return the rows of one number of questions, without groups and with them."""
    for (name, sizes), correlation in product(ANSWERS.items(), CORRELATIONS):
        question = np.repeat(np.arange(questions), sizes(questions))
        numbers, verdict = [], ""
        for groups in (None, question):
            points = [
                threshold_for(1, margins, accuracy=OF_QUESTIONS, delta=DELTA, groups=groups)
                for margins in answers(question, correlation, sets)
            ]
            found = truth(np.concatenate([point.confidence for point in points]))
            short = found.wrong > (1 - OF_QUESTIONS) * found.decided
            decided = found.decided
            if isinstance(correlation, str):
                decided = np.concatenate([point.rate for point in points])
                short = decided > 0
            numbers += [f"{np.mean(short):.3f}", f"{np.mean(decided):.3f}"]
            verdict = "met" if np.mean(short) <= DELTA else "missed"
        numbers += [f"{np.mean(decided == 0):.3f}", verdict]
        yield (str(questions), name, str(correlation), *numbers)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows as a table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print all tables."""
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
    print(table(head, [row for size in sizes for row in risk_rows(size, sets)]) + "\n")
    sets = max(1, sets // 4)
    best = f"the best threshold for {OF_QUESTIONS:g} decides {oracle(OF_QUESTIONS):.3f}"
    print(f"{sets} data sets of each number of questions; {best}\n")
    head = ("questions", "answers to each", "correlation", "falls short without groups", "decides")
    head = (*head, "falls short with groups", "decides", "decides nothing", "target")
    print(table(head, [row for number in QUESTIONS for row in question_rows(number, sets)]))


if __name__ == "__main__":
    main()
