"""Coverage of the intervals and size of the tests, by simulation.

    python benchmarks/coverage.py [--simulations 4000]

Draws data whose true value is known, and counts how often the interval contains it: four shapes of
margins, four true values, three sizes; then clusters and log-normal weights. Then counts how often
two or six equally good models are called different. The seed is fixed.
"""

import argparse
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

import lxcim_xp as lx

TRUE_VALUES = (0.5, 0.7, 0.9, 0.97)
SIZES = (50, 100, 500)
EDGES = np.asarray([0.5, 1.0, 1.5, 2.0])

Generator = np.random.Generator
Shape = tuple[int, int]


def bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing function crosses zero."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


def normal(rng: Generator, value: float, shape: Shape) -> np.ndarray:
    """Draw normal margins: a sum of two is positive with probability Phi(sqrt(2) mean)."""
    return rng.normal(NormalDist().inv_cdf(value) / np.sqrt(2), 1, shape)


def uninformative(rng: Generator, value: float, shape: Shape) -> np.ndarray:
    """Draw confidences that say nothing: LxCIM is the accuracy."""
    return np.where(rng.random(shape) < value, 1, -1) * rng.random(shape)


def overconfident(rng: Generator, value: float, shape: Shape) -> np.ndarray:
    """Draw wrong decisions that are more confident: the AUROC of the confidence is 0.35."""
    auroc = 0.35
    accuracy = bisect(lambda a: a + a * (1 - a) * (2 * auroc - 1) - value, 0.0, 1.0)
    uniform = rng.random(shape)
    right = rng.random(shape) < accuracy
    return np.where(right, uniform, -(uniform ** (auroc / (1 - auroc))))


def five_levels(rng: Generator, value: float, shape: Shape) -> np.ndarray:
    """Draw normal margins with five levels of confidence."""
    mean = bisect(lambda mean: _value_of_levels(mean) - value, -1.0, 5.0)
    margin = rng.normal(mean, 1, shape)
    return np.sign(margin) * (1 + np.digitize(np.abs(margin), EDGES))


def _value_of_levels(mean: float) -> float:
    bounds = [0.0, *EDGES, np.inf]
    right, wrong = (
        np.diff([NormalDist(sign * mean).cdf(bound) for bound in bounds]) for sign in (1, -1)
    )
    everyone = right + wrong
    return float(np.sum(right * (2 * np.cumsum(everyone) - everyone)))


def covered(found: lx.Interval, value: float) -> float:
    """Return the share of intervals that contain the value, in per cent."""
    return float(100 * np.mean((found.low <= value) & (value <= found.high)))


def independent(rng: Generator, simulations: int, method: str) -> None:
    """Print the coverage for independent samples."""
    print(f"\n| {method} | true value | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|---" * (2 + len(SIZES)) + "|")
    for draw in (normal, uninformative, overconfident, five_levels):
        for value in TRUE_VALUES:
            cells = []
            for n in SIZES:
                found = lx.interval(1, draw(rng, value, (simulations, n)), method=method)
                cells.append(f"{covered(found, value):.1f}")
            print(f"| {draw.__name__} | {value} | " + " | ".join(cells) + " |")


def clustered(rng: Generator, simulations: int) -> None:
    """Print the coverage with clusters of five samples that share half of their margin."""
    print("\n| clusters of 5 | true value | G = 40 | G = 100 | G = 40, clusters ignored |")
    print("|---|---|---|---|---|")
    for value in TRUE_VALUES:
        cells = []
        for number, with_groups in ((40, True), (100, True), (40, False)):
            mean = NormalDist().inv_cdf(value) / np.sqrt(2)
            shared, own = (rng.normal(0, np.sqrt(0.5), (simulations, number, k)) for k in (1, 5))
            margin = (mean + shared + own).reshape(simulations, -1)
            groups = np.repeat(np.arange(number), 5) if with_groups else None
            cells.append(f"{covered(lx.interval(1, margin, groups=groups), value):.1f}")
        print(f"| normal | {value} | " + " | ".join(cells) + " |")


def weighted(rng: Generator, simulations: int) -> None:
    """Print the coverage with log-normal weights."""
    print("\n| log-normal weights | true value | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|---" * (2 + len(SIZES)) + "|")
    for draw in (normal, uninformative):
        for value in TRUE_VALUES:
            cells = []
            for n in SIZES:
                weight = rng.lognormal(0, 0.75, (simulations, n))
                margin = draw(rng, value, (simulations, n))
                found = lx.interval(1, margin, sample_weight=weight)
                cells.append(f"{covered(found, value):.1f}")
            print(f"| {draw.__name__} | {value} | " + " | ".join(cells) + " |")


def equal_models(rng: Generator, simulations: int, value: float, n: int, k: int) -> np.ndarray:
    """Draw the margins of k equally good models whose noise is partly shared."""
    mean = NormalDist().inv_cdf(value) / np.sqrt(2)
    shared = rng.normal(0, np.sqrt(0.6), (simulations, 1, n))
    return mean + shared + rng.normal(0, np.sqrt(0.4), (simulations, k, n))


def paired(rng: Generator, simulations: int) -> None:
    """Print how often two equally good models are called different at 5 %."""
    print("\n| paired test, 5 % | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|---" * (1 + len(SIZES)) + "|")
    for value in TRUE_VALUES:
        cells = []
        for n in SIZES:
            a, b = np.moveaxis(equal_models(rng, simulations, value, n, 2), 1, 0)
            cells.append(f"{100 * np.mean(lx.compare(1, a, b).p_value < 0.05):.1f}")
        print(f"| {value} | " + " | ".join(cells) + " |")


def family_wise(rng: Generator, simulations: int) -> None:
    """Print how often any of six equally good models is called different from another at 5 %."""
    print("\n| any of 15 pairs of 6 models, 5 % | holm | max-t | not adjusted |")
    print("|---|---|---|---|")
    for value in (0.7, 0.9):
        models = equal_models(rng, simulations, value, 100, 6)
        found = []
        for adjust in ("holm", "max-t", None):
            wrong = [
                np.nanmin(
                    lx.compare_all(
                        1, dict(zip("abcdef", m, strict=True)), adjust=adjust
                    ).adjusted_p_value
                )
                < 0.05
                for m in models
            ]
            found.append(f"{100 * np.mean(wrong):.1f}")
        print(f"| {value}, n = 100 | " + " | ".join(found) + " |")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=4000)
    simulations = parser.parse_args().simulations
    print(f"Coverage at nominal 95 %, in per cent, {simulations} simulations in each cell")
    for method in ("logit+", "wald"):
        independent(np.random.default_rng(0), simulations, method)
    clustered(np.random.default_rng(1), simulations)
    weighted(np.random.default_rng(2), simulations)
    print("\nHow often models that are equally good are called different, in per cent")
    paired(np.random.default_rng(3), simulations)
    family_wise(np.random.default_rng(4), min(simulations, 2000))


if __name__ == "__main__":
    main()
