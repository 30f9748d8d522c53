"""What inference costs compared to the metric itself and to scikit-learn.

    OPENBLAS_NUM_THREADS=1 python benchmarks/inference.py [--sizes 1e5 1e6 1e7]

All times are medians of contenders that take turns in one process, of processor time so that other
work on the machine does not count, and are shown as ratios.
"""

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import get_args

import numpy as np

import lxcim_xp as lx
from lxcim_xp.inference.influence import MetricName


def medians(contenders: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median time of each contender, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def errors(rng: np.random.Generator, sizes: list[int]) -> None:
    """Print the time of standard error and interval over that of the metric, and their memory."""
    print("| over the metric itself | standard error | interval | target | memory of both |")
    print("|---|---|---|---|---|")
    for n in sizes:
        label, weight = rng.integers(0, 2, n), rng.random(n)
        score = rng.normal(0.7, 1, n) * (2 * label - 1)
        for metric in get_args(MetricName):
            for name, options in (("uniform", {}), ("weighted", {"sample_weight": weight})):
                contenders = {
                    "metric": partial(getattr(lx, metric), label, score, **options),
                    "error": partial(lx.standard_error, label, score, metric=metric, **options),
                    "interval": partial(lx.interval, label, score, metric=metric, **options),
                }
                # Short calls are easily disturbed.
                taken = medians(contenders, max(3, 3_000_000 // n))
                held = {part: most_held(contenders[part]) for part in ("metric", "interval")}
                ratios = [taken[part] / taken["metric"] for part in ("error", "interval")]
                print(
                    f"| {metric}, n = {n:.0e}, {name} | {ratios[0]:.1f} | {ratios[1]:.1f} | ≤ 4 "
                    f"| {held['metric'] / 1e6:.0f} MB, {held['interval'] / 1e6:.0f} MB |",
                    flush=True,
                )


def most_held(run: Callable[[], object]) -> int:
    """Return the bytes of arrays that are held at once."""
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def resamples(rng: np.random.Generator) -> None:
    """Print the time of scikit-learn on doubled resamples over that of our bootstrap."""
    from sklearn.metrics import roc_auc_score

    n, draws = 10_000, 1000
    margins = rng.normal(0.7, 1, n)
    label = np.repeat([1, 0], n)

    def theirs() -> None:
        drawn = margins[rng.integers(0, n, n)]
        roc_auc_score(label, np.concatenate([drawn, -drawn]))

    taken = medians(
        {
            "ours": lambda: lx.bootstrap(1, margins, n_resamples=draws),
            "theirs": lambda: [theirs() for _ in range(10)],
        },
        5,
    )
    ratio = taken["theirs"] / 10 * draws / taken["ours"]
    print("\n| bootstrap, 1000 draws of 10 000 samples | ratio | target |")
    print("|---|---|---|")
    print(f"| scikit-learn on doubled data, over ours | {ratio:.0f} | ≥ 30 |")


def comparisons(rng: np.random.Generator) -> None:
    """Print the time to compare many models over that of their metrics."""
    n, k = 100_000, 16
    truth = rng.normal(0.7, 1, n)
    scores = {f"model {i}": truth + rng.normal(0, 0.1 + 0.05 * i, n) for i in range(k)}
    taken = medians(
        {
            "metrics": lambda: [lx.lxcim(1, score) for score in scores.values()],
            "compare_all": lambda: lx.compare_all(1, scores),
        },
        5,
    )
    ratio = taken["compare_all"] / taken["metrics"]
    print("\n| comparing 16 models on 100 000 samples | ratio | target |")
    print("|---|---|---|")
    print(f"| compare_all over 16 metrics | {ratio:.1f} | ≤ 5 |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=float, default=[1e4, 1e5, 1e6])
    given = parser.parse_args().sizes
    generator = np.random.default_rng(0)
    errors(generator, [int(size) for size in given])
    resamples(generator)
    comparisons(generator)
