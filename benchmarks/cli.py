"""What ``lxcim evaluate`` costs next to the library call on the same file, in time and memory.

    python benchmarks/cli.py [--rows 1000000,10000000,30000000] [--repeats 5]

Every contender is a process of its own, from the start of Python to the printed numbers. They take
turns; times are medians and are shown as ratios, and memory is the largest resident size.
"""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVALUATE = ["evaluate", "{file}", "--label", "y", "--score", "s", "--format", "csv"]
LIBRARY = "import polars as pl; from lxcim_xp import frames; file = {file!r}; "
PAIRS = {
    "exact, in memory": (
        ["--engine", "memory", "--interval", "0"],
        "frames.evaluate(pl.read_parquet(file, columns=['y', 's']), label='y', score='s')",
    ),
    "exact, in memory, 1000 subgroups": (
        ["--engine", "memory", "--interval", "0", "--by", "k"],
        "frames.evaluate(pl.read_parquet(file, columns=['y', 's', 'k']), label='y', score='s', "
        "by='k')",
    ),
    "LxCIM and accuracy with intervals": (
        ["--engine", "memory", "--interval", "0.95", "--metric", "lxcim", "--metric", "accuracy"],
        "frames.evaluate(pl.read_parquet(file, columns=['y', 's']), label='y', score='s', "
        "metrics=['lxcim', 'accuracy'], interval=0.95)",
    ),
    "bounds, in bounded memory": (
        ["--engine", "bounded"],
        "frames.sketch_bounds(frames.sketch(pl.scan_parquet(file), label='y', score='s', "
        "bins=1 << 16).collect(engine='streaming'))",
    ),
}
QUERY = "frames.evaluate(pl.scan_parquet(file), label='y', score='s').collect(engine='streaming')"


def write_predictions(path: Path, rows: int) -> None:
    """Write predictions without ties, which cost most, and a column that is never read."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    score = rng.normal(0.5, 1, rows)
    label = rng.random(rows) < 1 / (1 + np.exp(-score))
    key, other = rng.integers(0, 1000, rows), rng.random(rows)
    pl.DataFrame({"y": label, "s": score, "k": key, "other": other}).write_parquet(path)


def run(command: list[str]) -> tuple[float, float]:
    """Return the seconds and the megabytes that a process takes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{command} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def medians(commands: dict[str, list[str]], repeats: int) -> dict[str, tuple[float, float]]:
    """Return the median seconds and megabytes of processes that take turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            taken[name].append(run(command))
    return {
        name: (statistics.median(each[0] for each in runs), max(each[1] for each in runs))
        for name, runs in taken.items()
    }


def commands_for(file: str) -> dict[str, list[str]]:
    """Return the contenders for one file."""
    found = {"query": _library(file, QUERY)}
    for name, (options, call) in PAIRS.items():
        evaluate = [word.format(file=file) for word in EVALUATE]
        found[f"{name}: command"] = [sys.executable, "-m", "lxcim_xp", *evaluate, *options]
        found[f"{name}: library"] = _library(file, call)
    return found


def _library(file: str, call: str) -> list[str]:
    return [sys.executable, "-c", f"{LIBRARY.format(file=file)}print({call})"]


def main() -> None:
    """Measure and print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1000000,10000000,30000000")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    heads = ["rows", "", "command / library, time", "target", "command, MB", "library, MB"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for rows in map(int, arguments.rows.split(",")):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "predictions.parquet"
            # In a process of its own: a child's memory includes what its parent held at the fork.
            writer = multiprocessing.get_context("spawn").Process(
                target=write_predictions, args=(file, rows)
            )
            writer.start()
            writer.join()
            taken = medians(commands_for(str(file)), arguments.repeats)
        for name in PAIRS:
            ours, theirs = taken[f"{name}: command"], taken[f"{name}: library"]
            cells = [f"{rows:.0e}", name, f"{ours[0] / theirs[0]:.2f}", "≤ 2"]
            cells += [f"{ours[1]:.0f}", f"{theirs[1]:.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)
        exact, query = taken["exact, in memory: command"], taken["query"]
        cells = [f"{rows:.0e}", "exact, in memory, over the query on the same file"]
        cells += [f"{exact[0] / query[0]:.2f}", "", f"{exact[1]:.0f}", f"{query[1]:.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
