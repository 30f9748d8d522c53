"""What metrics of subgroups cost compared to a plain sort, hand-written polars, and others.

    python benchmarks/frames.py [--rows 1000000] [--duckdb 10000000]

All times are medians of contenders that take turns in one process, and are shown as ratios. What
would take hours is timed on some of the groups and extrapolated, which an "e" marks.
"""

import argparse
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

from lxcim_xp import frames

GROUPS = (10, 1_000, 100_000)
ASKED = {"label": "y", "score": "s", "weight": "w", "by": "k"}


def medians(contenders: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median time of each contender, in seconds, after one call without timing."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repeats + 1):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def predictions(rng: np.random.Generator, n: int, groups: int) -> pl.DataFrame:
    """Return predictions without ties, which cost most."""
    score = rng.normal(0.5, 1, n)
    label = rng.random(n) < 1 / (1 + np.exp(-score))
    key = rng.permutation(n) % groups
    return pl.DataFrame({"y": label, "s": score, "w": rng.random(n), "k": key})


def by_hand(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return LxCIM by the same plan as frames.lxcim, written in polars, for clean rows."""
    y, s, w = pl.col("y"), pl.col("s"), pl.col("w")
    credit = pl.when(s > 0).then(y).when(s < 0).then(~y).otherwise(False).cast(pl.Float64)
    credit = pl.when(s == 0).then(0.5).otherwise(credit)
    blocks = (
        rows.select("k", "w", g=-s.abs(), right=w * credit)
        .group_by("k", "g")
        .agg(pl.col("w", "right").sum())
        .with_columns(run=w.cum_sum().over("k", order_by="g"))
        .with_columns(lead=(w - pl.col("right")) * (2 * pl.col("run") - w))
    )
    sums = blocks.group_by("k").agg(pl.col("w", "right", "lead").sum(), n=pl.len())
    right = pl.col("right")
    return sums.select(
        "k", "n", "w", lxcim=right / w + (pl.col("lead") - (w - right) * w) / w**2
    ).sort("k")


def doubled(label: np.ndarray, score: np.ndarray) -> float:
    """Return LxCIM by scikit-learn: the AUROC of the data and its exchanged copy."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(np.concatenate([label, ~label]), np.concatenate([score, -score])))


def ours(rng: np.random.Generator, n: int, repeats: int) -> None:
    """Print what eager and lazy frames cost."""
    print(f"| {n} rows | " + " | ".join(f"{groups} groups" for groups in GROUPS) + " | target |")
    print("|---" * (len(GROUPS) + 2) + "|")
    contenders: dict[str, Callable[[], object]] = {}
    for groups in GROUPS:
        rows = predictions(rng, n, groups)
        lazy = rows.lazy()
        np.testing.assert_allclose(
            by_hand(lazy).collect()["lxcim"], frames.lxcim(rows, **ASKED)["lxcim"], atol=1e-12
        )
        contenders |= {
            f"sort {groups}": lambda rows=rows: rows.select("k", "w", pl.col("s").abs()).sort(
                "k", "s"
            ),
            f"by hand {groups}": lambda lazy=lazy: by_hand(lazy).collect(),
            f"lazy {groups}": lambda lazy=lazy: frames.lxcim(lazy, **ASKED).collect(),
        }
        kinds = {"pandas": rows.to_pandas(), "pyarrow": rows.to_arrow(), "polars": rows}
        for name, frame in kinds.items():
            contenders |= {
                f"{name} {groups}": lambda frame=frame: frames.lxcim(frame, **ASKED),
                f"{name} all {groups}": lambda frame=frame: frames.evaluate(frame, **ASKED),
            }
    taken = medians(contenders, repeats)

    def line(name: str, top: str, bottom: str, target: str) -> None:
        ratios = [taken[f"{top} {groups}"] / taken[f"{bottom} {groups}"] for groups in GROUPS]
        print(f"| {name} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + f" | {target} |")

    for kind in kinds:
        line(f"{kind}, LxCIM, over polars sort(key, confidence)", kind, "sort", "≤ 1.5")
        line(f"{kind}, four metrics over LxCIM alone", f"{kind} all", kind, "≤ 1.6")
        flat = [taken[f"{kind} {groups}"] for groups in GROUPS]
        ratios = " | ".join(f"{time / flat[0]:.2f}" for time in flat)
        print(f"| {kind}, LxCIM, over its time with {GROUPS[0]} groups | {ratios} | ≤ 1.5 |")
    line("polars lazy over the same plan by hand", "lazy", "by hand", "≤ 1.3")
    times = " | ".join(f"{1e3 * taken[f'pandas {groups}']:.0f}" for groups in GROUPS)
    print(f"| pandas, LxCIM, in milliseconds | {times} | |")


def others(rng: np.random.Generator, n: int) -> None:
    """Print what fairlearn and pandas with scikit-learn cost compared to ours."""
    from fairlearn.metrics import MetricFrame

    print("\n| time over ours (pandas) | " + " | ".join(f"{g} groups" for g in GROUPS) + " |")
    print("|---" * (len(GROUPS) + 1) + "|")
    cells: dict[str, list[str]] = {"fairlearn MetricFrame": [], "pandas apply + scikit-learn": []}
    for groups in GROUPS:
        rows = predictions(rng, n, groups).to_pandas()
        tried = {10: 2, 1_000: 20, 100_000: 300}[groups]
        some = rows[rows["k"] < tried]

        def by_apply(some: pd.DataFrame = some) -> object:
            return some.groupby("k")[["y", "s"]].apply(
                lambda part: doubled(part["y"].to_numpy(), part["s"].to_numpy())
            )

        def by_fairlearn(some: pd.DataFrame = some) -> object:
            return MetricFrame(
                metrics=lambda y, s: doubled(np.asarray(y, dtype=bool), np.asarray(s)),
                y_true=some["y"],
                y_pred=some["s"],
                sensitive_features=some["k"],
            ).by_group

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            taken = medians(
                {
                    "ours": lambda rows=rows: frames.lxcim(rows, label="y", score="s", by="k"),
                    "pandas apply + scikit-learn": by_apply,
                    "fairlearn MetricFrame": by_fairlearn,
                },
                3,
            )
        for name, found in cells.items():
            found.append(f"{taken[name] * groups / tried / taken['ours']:.0f} e")
    for name, found in cells.items():
        print(f"| {name} | " + " | ".join(found) + " |")
    print("| target | | ≥ 20 | ≥ 500 |")


def duckdb(rows: int) -> None:
    """Print what DuckDB takes with a limit on its memory."""
    script = Path(__file__).parents[1] / "examples" / "subgroups_big.py"
    run = subprocess.run(
        [sys.executable, script, "--rows", str(rows), "--memory", "600MB"],
        capture_output=True,
        text=True,
        check=True,
    )
    first, *_, last = run.stdout.strip().splitlines()
    print(f"\nDuckDB from Parquet: {first}: {last} (target: peak below 1 GB)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--duckdb", type=int, default=10_000_000)
    parser.add_argument("--only", choices=["ours", "others", "duckdb"])
    given = parser.parse_args()
    generator = np.random.default_rng(0)
    if given.only in (None, "ours"):
        ours(generator, given.rows, given.repeats)
    if given.only in (None, "others"):
        others(generator, given.rows)
    if given.only in (None, "duckdb"):
        duckdb(given.duckdb)
