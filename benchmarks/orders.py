"""Simulate how often the intervals of a judge's order effect hold the truth.

    python benchmarks/orders.py [--sizes 50,200,1000] [--sets 2000] [--quick]

Simulated judges score pairs in both orders: A is better by d, the judge sees d with an error of its
own, and likes what stands first. One gives verdicts instead of scores, with ties; one is nearly
always right; one likes the first place more the less it sees; and one has a preference of its own
for each question, of which there are five pairs, so that only questions are independent. What their
steps and effects are worth is taken from a million pairs. Prints a table in Markdown: for each
judge and size, how many of the 95 % intervals hold the truth, and how wide they are; and how often
the test of the flips rejects at 5 %. Only NumPy is needed.
"""

import argparse
from collections.abc import Callable

import numpy as np

from lxcim_xp.choices import order_decomposition, order_effect

MANY = 1_000_000
PAIRS = 5  # of a question
AT_ONCE = 400_000  # pairs that are drawn at a time
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
NAMES = ("centring", "second_call", "total", "preference", "flip_rate", "mean")
TEST = "rejects"


def scored(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    *,
    error: float,
    noise: float,
    bias: float,
    uneven: float = 0.0,
    by_question: float = 0.0,
) -> Pairs:
    """Draw labels and the scores of both calls."""
    better = rng.normal(size=shape)
    seen = better + error * rng.normal(size=shape)
    liked = bias + uneven * np.exp(-(seen**2))
    questions = rng.normal(size=(*shape[:-1], -(-shape[-1] // PAIRS)))
    liked = liked + by_question * np.repeat(questions, PAIRS, axis=-1)[..., : shape[-1]]
    first, swapped = (side * seen + liked + noise * rng.normal(size=shape) for side in (1, -1))
    return better > 0, first, swapped


def verdicts(rng: np.random.Generator, shape: tuple[int, ...]) -> Pairs:
    """Draw verdicts: a tie where the judge is unsure."""
    label, *scores = scored(rng, shape, error=0.7, noise=0.5, bias=0.3)
    first, swapped = (np.sign(score) * (np.abs(score) > 0.4) for score in scores)
    return label, first, swapped


JUDGES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Pairs]] = {
    "biased": lambda rng, shape: scored(rng, shape, error=0.7, noise=0.4, bias=0.5),
    "unbiased": lambda rng, shape: scored(rng, shape, error=0.7, noise=0.4, bias=0.0),
    "biased where unsure": lambda rng, shape: scored(
        rng, shape, error=0.7, noise=0.4, bias=0.0, uneven=1.0
    ),
    "verdicts": verdicts,
    "nearly always right": lambda rng, shape: scored(rng, shape, error=0.1, noise=0.1, bias=0.1),
    "biased by question": lambda rng, shape: scored(
        rng, shape, error=0.7, noise=0.4, bias=0.3, by_question=0.5
    ),
    "unbiased, but by question": lambda rng, shape: scored(
        rng, shape, error=0.7, noise=0.4, bias=0.0, by_question=0.5
    ),
}


def found(name: str, pairs: Pairs) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return each estimate with its bounds, one for each data set, and the p-values."""
    groups = np.arange(pairs[0].shape[-1]) // PAIRS if "by question" in name else None
    steps = order_decomposition(*pairs, threshold=0.0, groups=groups)
    effect = order_effect(*pairs[1:], threshold=0.0, groups=groups)
    gains = {
        name: (gain.difference, gain.low, gain.high)
        for name, gain in zip(NAMES[:3], steps[3:], strict=True)
    }
    return (
        gains
        | {
            name: (
                getattr(effect, name),
                getattr(effect, f"{name}_low"),
                getattr(effect, f"{name}_high"),
            )
            for name in NAMES[3:]
        }
        | {TEST: (effect.p_value,) * 3}
    )


def simulate(name: str, size: int, sets: int, truth: dict[str, float]) -> list[str]:
    """Return the cells of a row: coverage in percent and mean width."""
    rng = np.random.default_rng(size)
    held: dict[str, list[np.ndarray]] = {quantity: [] for quantity in (*NAMES, TEST)}
    width: dict[str, list[np.ndarray]] = {quantity: [] for quantity in NAMES}
    left = sets
    while left:
        rows = min(left, max(1, AT_ONCE // size))
        for quantity, (_, low, high) in found(name, JUDGES[name](rng, (rows, size))).items():
            if quantity == TEST:
                held[TEST].append(low < 0.05)
                continue
            held[quantity].append((low <= truth[quantity]) & (truth[quantity] <= high))
            width[quantity].append(high - low)
        left -= rows
    return [
        f"{100 * np.concatenate(held[quantity]).mean():.1f} / "
        f"{np.concatenate(width[quantity]).mean():.3f}"
        for quantity in NAMES
    ] + [f"{100 * np.concatenate(held[TEST]).mean():.1f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Coverage of the intervals about both orders.")
    parser.add_argument("--sizes", default="50,200,1000")
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="few data sets of one size")
    options = parser.parse_args()
    sizes = [50] if options.quick else [int(size) for size in options.sizes.split(",")]
    sets = 50 if options.quick else options.sets
    many = 20_000 if options.quick else MANY
    heads = ("judge", "pairs", *NAMES, TEST)
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name, judge in JUDGES.items():
        population = found(name, judge(np.random.default_rng(0), (many,)))
        truth = {quantity: float(population[quantity][0]) for quantity in NAMES}
        for size in sizes:
            print("| " + " | ".join([name, str(size), *simulate(name, size, sets, truth)]) + " |")


if __name__ == "__main__":
    main()
