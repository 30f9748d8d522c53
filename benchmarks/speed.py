"""Measure what lxcim_xp costs compared to a plain sort, and to its peers.

    python benchmarks/speed.py
    python benchmarks/speed.py [--sizes 1e3,1e4] [--repeats 7] [--figure docs/speed.svg] [--quick]

All contenders of one size take turns in one process with one thread; each number is a ratio of two
medians. Prints four tables: our times over that of the platform's own sort, times of the peers over
ours, the overhead of a call on 100 samples, and the peak of extra memory. Targets apply from
100 000 samples on. Finally, matplotlib draws the growth with n, except that ``--quick`` (three
small sizes, three repeats) draws nothing unless ``--figure`` is given. Ratios hold for the machine
of the run. A call that would take more than 20 seconds is skipped, and shown as too long.
On AMD Zen 4 NumPy's AVX-512 sorts are several times slower than its AVX2 sorts; to measure with
these, set NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" in the environment.
Whatever is not installed is reported as missing; to install everything (the exact torch first,
since a range may pull gigabytes of CUDA packages):

    pip install torch==2.13.0
    pip install -e ".[bench,jax,plots]"
"""

import argparse
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

# Thread pools read these when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["NPROC"] = "1"  # how many threads XLA starts
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["MPLBACKEND"] = "Agg"

import numpy as np
from contenders import SEEDS, Contender, Data, all_contenders, make_data
from figure import draw

from lxcim_xp import lxcim

FULL_SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
QUICK_SIZES = FULL_SIZES[:3]
DOCS_FIGURE = Path(__file__).resolve().parents[1] / "docs" / "speed.svg"

JUDGED_FROM = 10**5  # samples; below, the overhead of a call dominates
TOO_LONG = 20.0  # seconds of one call
LONG = 1.0  # seconds of one call, from which three repeats are enough
SHORT = 2e-3  # seconds below which calls are timed together
TOLERANCE = 1e-6  # between a peer's value and ours


class Row(NamedTuple):
    """A ratio of the times of two contenders, and the target it should meet."""

    label: str
    over: str
    under: str
    limit: float | None = None
    at_least: bool = False
    judged_by: str | None = None  # what the limit multiplies, if not ``under``
    only_at: int | None = None  # the only size to which the limit applies
    extra: str = "bench"  # the extra of the package that installs what the row needs


Seconds = dict[str, dict[int, float]]  # contender -> size -> median


def power(n: int) -> str:
    """Write a size as 1e3."""
    return f"{n:.0e}".replace("e+0", "e")


def measure(sizes: Iterable[int], repeats: int) -> Seconds:
    """Time all contenders at all sizes."""
    seconds: Seconds = {}
    for n in sorted(sizes):
        print(f"timing n = {power(n)}", file=sys.stderr)
        data = make_data(n)
        chosen = {
            name: contender
            for name, contender in all_contenders(data).items()
            if _expected_seconds(seconds.get(name, {}), n) <= TOO_LONG
        }
        check_values(chosen, data)
        calls = {name: contender.call for name, contender in chosen.items()}
        for name, value in medians(calls, repeats).items():
            seconds.setdefault(name, {})[n] = value
    return seconds


def _expected_seconds(known: dict[int, float], n: int) -> float:
    """Extrapolate a little more than linearly from the largest size that was timed."""
    if not known:
        return 0.0
    largest = max(known)
    return 1.3 * known[largest] * n / largest


def check_values(contenders: dict[str, Contender], data: Data) -> None:
    """Call everything once, which also compiles it, and say whose LxCIM differs from ours."""
    uniform = lxcim(data.label, data.score)
    weighted = lxcim(data.label, data.score, sample_weight=data.weight)
    for name, contender in contenders.items():
        result = contender.call()
        if contender.to_lxcim is None:
            continue
        ours = weighted if contender.weighted else uniform
        difference = abs(contender.to_lxcim(result) - ours)
        if not difference <= TOLERANCE:
            n = power(len(data.score))
            print(f"The value of {name} at n = {n} differs from ours by {difference:.1e}.\n")


def medians(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Let the calls take turns, and return the median time of each in seconds."""
    samples = {name: [seconds_per_call(call, 1)] for name, call in calls.items()}
    at_once = {name: max(1, int(SHORT / first)) for name, (first,) in samples.items()}
    for turn in range(repeats):
        for name, call in calls.items():
            if turn == 0 and at_once[name] > 1:
                samples[name].clear()  # a single short call says little
            if turn < 2 or samples[name][0] < LONG:
                samples[name].append(seconds_per_call(call, at_once[name]))
    return {name: median(times) for name, times in samples.items()}


def seconds_per_call(call: Callable[[], Any], times: int) -> float:
    """Time some calls in a row."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def sort_rows() -> list[Row]:
    """List the ratios to the platform's own sort."""
    rows = [
        Row("numpy float32 uniform", "numpy float32 uniform", "numpy sort float32", 2.5),
        Row("numpy float32 weighted", "numpy float32 weighted", "numpy sort float32"),
    ]
    backends = (
        ("numpy float64", "numpy sort float64", 2.0, 5.0, "bench"),
        ("jax float32", "jax float32 sort", 1.6, 3.5, "jax"),
        ("jax float64", "jax float64 sort", 1.6, 3.5, "jax"),
        ("torch float64", "torch sort int64", 2.0, None, "torch"),
    )
    for name, sort, uniform, weighted, extra in backends:
        rows.append(Row(f"{name} uniform", f"{name} uniform", sort, uniform, extra=extra))
        rows.append(Row(f"{name} weighted", f"{name} weighted", sort, weighted, extra=extra))
        for metric in ("AUROC", "AUDRC"):
            of_metric = f"{name} {metric}"
            base = f"{name} weighted"
            rows.append(Row(of_metric, of_metric, sort, 2.0, judged_by=base, extra=extra))
    batch, uniform = (
        f"numpy float64, {SEEDS} rows of n/{SEEDS}, over one call of n",
        "numpy float64",
    )
    rows.append(Row(batch, f"{uniform} batch", f"{uniform} uniform"))
    for name in ("jax float32", "jax float64"):
        label = f"{name} vmap, {SEEDS} rows of n/{SEEDS}, over one call of n"
        vmap = Row(label, f"{name} vmap", f"{name} uniform", 1.0, only_at=10**6, extra="jax")
        rows.append(vmap)
    return rows


def peer_rows() -> list[Row]:
    """List how many times longer the others take."""
    uniform = "numpy float64 uniform"
    rows = [
        Row("scikit-learn roc_auc_score, doubled data", "scikit-learn", uniform, 30, True),
        Row("SciPy wilcoxon", "SciPy", uniform),
        Row("torchmetrics binary_auroc, doubled data", "torchmetrics", uniform),
        Row("torch-uncertainty AUGRC", "torch-uncertainty", uniform, 6, True),
        Row("bicausal lxcim", "bicausal", uniform, 10, True),
        Row("bicausal lxcim, weighted", "bicausal weighted", "numpy float64 weighted", 4, True),
    ]
    for name in ("jax float32", "jax float64"):
        label, over = f"{name} argsort form, over our jit", f"{name} argsort form"
        rows.append(Row(label, over, f"{name} uniform", 4, True, extra="jax"))
    return rows


def print_ratios(title: str, rows: list[Row], seconds: Seconds, sizes: Iterable[int]) -> None:
    """Print a table with a row for each ratio and a column for each size."""
    body = []
    for row in rows:
        ratios = (_ratio(seconds, row.over, row.under, n) for n in sizes)
        no_ratio = "too long" if row.over in seconds else "-"
        cells = (no_ratio if ratio is None else f"{ratio:.2f}" for ratio in ratios)
        missing = f"missing (pip install lxcim_xp[{row.extra}])"
        verdict = judge(row, seconds, sizes) if row.over in seconds else missing
        body.append([row.label, *cells, target(row), verdict])
    print_table(title, ["", *(f"n = {power(n)}" for n in sizes), "target", ""], body)


def _ratio(seconds: Seconds, over: str, under: str, n: int) -> float | None:
    over_seconds, under_seconds = (seconds.get(name, {}).get(n) for name in (over, under))
    return None if over_seconds is None or under_seconds is None else over_seconds / under_seconds


def target(row: Row) -> str:
    """Write the target of a row."""
    if row.limit is None:
        return ""
    text = f"{'≥' if row.at_least else '≤'} {row.limit:g}"
    if row.judged_by is not None:
        text += " weighted"
    return text if row.only_at is None else f"{text} at {power(row.only_at)}"


def judge(row: Row, seconds: Seconds, sizes: Iterable[int]) -> str:
    """Say whether a row meets its target at all sizes to which the target applies."""
    judged = [n for n in sizes if (n >= JUDGED_FROM if row.only_at is None else n == row.only_at)]
    ratios = [_ratio(seconds, row.over, row.judged_by or row.under, n) for n in judged]
    ratios = [ratio for ratio in ratios if ratio is not None]
    if row.limit is None or not ratios:
        return "-"
    if row.at_least:
        return "ok" if min(ratios) >= row.limit else "under"
    return "ok" if max(ratios) <= row.limit else "over"


def print_table(title: str, header: list[str], body: list[list[str]]) -> None:
    """Print a table in Markdown."""
    widths = [max(len(line[at]) for line in [header, *body]) for at in range(len(header))]
    print(f"{title}\n")
    for line in [header, ["-" * width for width in widths], *body]:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print(f"| {' | '.join(cells)} |")
    print()


def print_overhead(repeats: int) -> None:
    """Compare a call on 100 samples with the six NumPy calls that it needs at least."""
    n = 100
    data = make_data(n)
    side = 2.0 * data.label - 1
    is_wrong = (data.margin < 0).astype(np.uint64)
    lead = np.arange(n, dtype=np.uint64)

    def six_calls() -> Any:
        bits = np.multiply(side, data.score).view(np.uint64)
        key = np.bitwise_or(np.left_shift(bits, 1), is_wrong)
        return np.dot(np.bitwise_and(np.sort(key), 1), lead)

    calls = {"lxcim": lambda: lxcim(data.label, data.score), "six": six_calls}
    times = medians(calls, max(repeats, 25))  # a few milliseconds each
    ratio = times["lxcim"] / times["six"]
    body = [
        [
            "numpy float64 uniform",
            f"{times['lxcim'] * 1e6:.1f}",
            f"{times['six'] * 1e6:.1f}",
            f"{ratio:.2f}",
            "≤ 3",
            "ok" if ratio <= 3 else "over",
        ]
    ]
    header = ["", "lxcim, us", "six NumPy calls, us", "ratio", "target", ""]
    print_table(f"Overhead of a call at n = {n}", header, body)


def print_memory() -> None:
    """Show the peak of extra memory in arrays as large as the scores."""
    data, body = make_data(10**6), []
    for dtype in (np.float64, np.float32):
        score, weight = data.score.astype(dtype), data.weight.astype(dtype)
        for kind, sample_weight in (("uniform", None), ("weighted", weight)):
            tracemalloc.start()
            lxcim(data.label, score, sample_weight=sample_weight)
            arrays = tracemalloc.get_traced_memory()[1] / score.nbytes
            tracemalloc.stop()
            verdict = "ok" if arrays <= 4 else "over"
            body.append([f"numpy {np.dtype(dtype)} {kind}", f"{arrays:.2f}", "≤ 4", verdict])
    header = ["", "arrays", "target", ""]
    print_table("Peak extra memory at n = 1e6, in arrays as large as the scores", header, body)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read sizes such as ``1e3,1e4``, from the smallest to the largest."""
    sizes = tuple(sorted({int(float(size)) for size in text.split(",")}))
    if sizes[0] < SEEDS or any(n % SEEDS for n in sizes):
        raise argparse.ArgumentTypeError(f"sizes must be multiples of {SEEDS}")
    return sizes


def main() -> None:
    """Measure, print the tables, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=parse_sizes, help="such as 1e3,1e4")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--figure", type=Path, help="where to save it, as SVG")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats, no figure")
    options = parser.parse_args()
    sizes = options.sizes or (QUICK_SIZES if options.quick else FULL_SIZES)
    repeats = options.repeats or (3 if options.quick else 7)
    figure = options.figure or (None if options.quick else DOCS_FIGURE)

    seconds = measure(sizes, repeats)
    print_ratios("Time over that of the platform's own sort", sort_rows(), seconds, sizes)
    print_ratios("Times that the others take longer", peer_rows(), seconds, sizes)
    print_overhead(repeats)
    print_memory()
    if figure is not None:
        draw(seconds, figure)


if __name__ == "__main__":
    main()
