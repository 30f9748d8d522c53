"""Measure what lxcim_xp costs next to a plain sort, and next to its peers.

    python benchmarks/speed.py
    python benchmarks/speed.py [--sizes 1e3,1e4] [--repeats 7] [--figure docs/speed.svg] [--quick]

All contenders of one size take turns in one process with one thread; each number is a ratio of two
medians. Printed are four tables: times over the platform's own sort, times of the peers over ours,
the overhead of a call on 100 samples, and the peak of extra memory. The targets are judged from
100 000 samples on. Last, with matplotlib, the growth with n is drawn; only ``--quick`` (three small
sizes, three repeats) draws nothing unless ``--figure`` is given. The ratios of one run belong to
one machine. Whatever is not installed is reported as missing; to have all (the exact torch first,
since a range may pull gigabytes of CUDA packages):

    pip install torch==2.13.0
    pip install -e ".[bench,jax,plots]"
"""

import argparse
import importlib.util
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

# Thread pools read these when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["NPROC"] = "1"  # how many threads XLA starts
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["MPLBACKEND"] = "Agg"

import numpy as np

from lxcim_xp import audrc, auroc, lxcim

FULL_SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
QUICK_SIZES = FULL_SIZES[:3]
DOCS_FIGURE = Path(__file__).resolve().parents[1] / "docs" / "speed.svg"

JUDGED_FROM = 10**5  # samples; below, the overhead of a call is what one sees
SEEDS = 100  # rows of the batch for vmap
TOO_LONG = 20.0  # seconds of one call
LONG = 2.0  # seconds of one call, from which three repeats are enough
SHORT = 2e-3  # seconds below which calls are timed together
TOLERANCE = 1e-6  # between a peer's value and ours

# From the colour-blind-safe palette of Okabe and Ito, with a marker each for print in grey.
LINE_STYLES = (
    ("#D55E00", "o"),
    ("#0072B2", "s"),
    ("#000000", "^"),
    ("#009E73", "D"),
    ("#CC79A7", "v"),
    ("#E69F00", "P"),
    ("#56B4E9", "X"),
)


class Data(NamedTuple):
    """The same samples in the forms that the contenders take."""

    label: np.ndarray  # 0 or 1
    score: np.ndarray
    weight: np.ndarray
    margin: np.ndarray  # positive when the decision is right
    probability: np.ndarray  # of label 1, in the order of the scores


class Contender(NamedTuple):
    """A call to time, and how to read LxCIM from its result (None: it is something else)."""

    call: Callable[[], Any]
    to_lxcim: Callable[[Any], float] | None = None


class Row(NamedTuple):
    """A ratio of the times of two contenders, and the target it should meet."""

    label: str
    over: str
    under: str
    limit: float | None = None
    at_least: bool = False
    judged_by: str | None = None  # what the limit multiplies, where that is not ``under``
    only_at: int | None = None  # the one size that the limit is meant for
    extra: str = "bench"  # of the package, which brings what the row needs


Seconds = dict[str, dict[int, float]]  # contender -> size -> median


def load(name: str) -> ModuleType | None:
    """Import a module, or return None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def load_augrc() -> ModuleType | None:
    """Load the one module of torch-uncertainty that is needed, without its heavy parents."""
    package = importlib.util.find_spec("torch_uncertainty")
    if package is None or package.origin is None or load("torchmetrics") is None:
        return None
    path = Path(package.origin).parent / "metrics" / "classification" / "risk_coverage.py"
    spec = importlib.util.spec_from_file_location("risk_coverage_of_torch_uncertainty", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (ImportError, FileNotFoundError):
        return None
    return module


def make_data(n: int) -> Data:
    """Draw scores that are right about two times in three, more often so when confident."""
    rng = np.random.default_rng(n)
    label = rng.integers(0, 2, n)
    side = 2 * label - 1
    score = rng.normal(0.5, 1.0, n) * side
    probability = 0.5 + 0.5 * score / np.abs(score).max()
    return Data(label, score, rng.uniform(0.5, 1.5, n), side * score, probability)


def numpy_contenders(data: Data) -> dict[str, Contender]:
    """Return our functions on NumPy, and NumPy's sorts."""
    label, score, weight = data.label, data.score, data.weight
    single = score.astype(np.float32)
    calls = {
        "numpy sort float64": lambda: np.sort(score),
        "numpy sort float32": lambda: np.sort(single),
        "numpy float64 uniform": lambda: lxcim(label, score),
        "numpy float32 uniform": lambda: lxcim(label, single),
        "numpy float64 weighted": lambda: lxcim(label, score, sample_weight=weight),
        "numpy float64 AUROC": lambda: auroc(label, score),
        "numpy float64 AUDRC": lambda: audrc(label, score),
    }
    return {name: Contender(call) for name, call in calls.items()}


def torch_contenders(data: Data) -> dict[str, Contender]:
    """Return our functions on PyTorch, and its sort of integers."""
    torch = load("torch")
    if torch is None:
        return {}
    torch.set_num_threads(1)
    label, score, weight = (torch.from_numpy(part) for part in data[:3])
    bits = score.view(torch.int64)
    calls = {
        "torch sort int64": lambda: torch.sort(bits),
        "torch float64 uniform": lambda: lxcim(label, score),
        "torch float64 weighted": lambda: lxcim(label, score, sample_weight=weight),
        "torch float64 AUROC": lambda: auroc(label, score),
        "torch float64 AUDRC": lambda: audrc(label, score),
    }
    return {name: Contender(call) for name, call in calls.items()}


def jax_contenders(data: Data) -> dict[str, Contender]:
    """Return our functions under ``jit`` on JAX in both widths, and its sorts of integers."""
    if load("jax") is None:
        return {}
    return _jax_contenders(data, wide=False) | _jax_contenders(data, wide=True)


def _jax_contenders(data: Data, *, wide: bool) -> dict[str, Contender]:
    import jax
    import jax.numpy as jnp

    name = "jax float64" if wide else "jax float32"
    numpy_score = data.score.astype(np.float64 if wide else np.float32)
    with jax.enable_x64(wide):
        label, score, weight = (
            jnp.asarray(part) for part in (data.label, numpy_score, data.weight)
        )
        bits = jnp.asarray(numpy_score.view("u8" if wide else "u4"))
        batch = (SEEDS, len(data.label) // SEEDS)
        in_rows = (label.reshape(batch), score.reshape(batch))

    def compiled(function: Callable[..., Any], *arrays: Any) -> Contender:
        jitted = jax.jit(function)

        def call() -> Any:
            with jax.enable_x64(wide):
                return jitted(*arrays).block_until_ready()

        return Contender(call)

    def weighted(y_true: Any, y_score: Any, sample_weight: Any) -> Any:
        return lxcim(y_true, y_score, sample_weight=sample_weight)

    def argsort_form(y_true: Any, y_score: Any) -> Any:
        with mock.patch("lxcim_xp._ranks._has_integer_keys", return_value=False):
            return lxcim(y_true, y_score)

    return {
        f"{name} sort": compiled(jnp.sort, bits),
        f"{name} uniform": compiled(lambda y, s: lxcim(y, s), label, score),
        f"{name} weighted": compiled(weighted, label, score, weight),
        f"{name} AUROC": compiled(lambda y, s: auroc(y, s), label, score),
        f"{name} AUDRC": compiled(lambda y, s: audrc(y, s), label, score),
        f"{name} vmap": compiled(jax.vmap(lambda y, s: lxcim(y, s)), *in_rows),
        f"{name} argsort form": compiled(argsort_form, label, score),
    }


def peer_contenders(data: Data) -> dict[str, Contender]:
    """Return what is installed of the peers, each with its data ready in the form it takes."""
    label, score, weight, margin, probability = data
    both_labels = np.concatenate([label, 1 - label])
    peers = {}
    if sklearn := load("sklearn.metrics"):
        both_scores = np.concatenate([score, -score])
        peers["scikit-learn"] = Contender(
            lambda: sklearn.roc_auc_score(both_labels, both_scores), float
        )
    if stats := load("scipy.stats"):
        peers["SciPy"] = Contender(
            lambda: stats.wilcoxon(
                margin, zero_method="zsplit", method="asymptotic", alternative="greater"
            ),
            lambda result: (2 * result.statistic / len(margin) - np.mean(margin > 0)) / len(margin),
        )
    if bicausal := load("bicausal.metrics.lxcim"):
        ones = np.ones(len(margin))
        peers["bicausal"] = Contender(lambda: bicausal.lxcim(margin, ones), float)
        peers["bicausal weighted"] = Contender(lambda: bicausal.lxcim(margin, weight))
    return peers | _torch_peers(label, both_labels, margin, probability)


def _torch_peers(
    label: np.ndarray, both_labels: np.ndarray, margin: np.ndarray, probability: np.ndarray
) -> dict[str, Contender]:
    torch, peers = load("torch"), {}
    if torch is None:
        return peers
    label, both_labels = torch.from_numpy(label), torch.from_numpy(both_labels)
    # Scores outside [0, 1] would go through a sigmoid, in which large ones become ties.
    both = torch.from_numpy(np.concatenate([probability, 1 - probability]))
    probability = torch.from_numpy(probability)
    if torchmetrics := load("torchmetrics.functional.classification"):
        peers["torchmetrics"] = Contender(
            lambda: torchmetrics.binary_auroc(both, both_labels), float
        )
    if risk_coverage := load_augrc():

        def augrc() -> Any:
            metric = risk_coverage.AUGRC()
            metric.update(probability, label)
            return metric.compute()

        n = len(margin)
        # It leaves out the first 1/n of the area, and divides by what is left.
        left_out = float(margin[np.abs(margin).argmax()] < 0) / (2 * n**2)
        peers["torch-uncertainty"] = Contender(
            augrc, lambda result: 1 - 2 * (float(result) * (1 - 1 / n) + left_out)
        )
    return peers


def power(n: int) -> str:
    """Write a size as 1e3."""
    return f"{n:.0e}".replace("e+0", "e")


def measure(sizes: Iterable[int], repeats: int) -> Seconds:
    """Time all contenders at all sizes."""
    seconds: Seconds = {}
    for n in sorted(sizes):
        print(f"timing n = {power(n)}", file=sys.stderr)
        data = make_data(n)
        contenders = numpy_contenders(data) | jax_contenders(data) | torch_contenders(data)
        contenders |= peer_contenders(data)
        chosen = {
            name: contender
            for name, contender in contenders.items()
            if _expected_seconds(seconds.get(name, {}), n) <= TOO_LONG
        }
        check_values(chosen, n, float(lxcim(data.label, data.score)))
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


def check_values(contenders: dict[str, Contender], n: int, ours: float) -> None:
    """Call everything once, which also compiles it, and say whose LxCIM differs from ours."""
    for name, contender in contenders.items():
        result = contender.call()
        if contender.to_lxcim is None:
            continue
        difference = abs(contender.to_lxcim(result) - ours)
        if not difference <= TOLERANCE:
            print(f"The value of {name} at n = {power(n)} differs from ours by {difference:.1e}.\n")


def medians(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Let the calls take turns, and return the median time of each in seconds."""
    samples = {name: [seconds_per_call(call, 1)] for name, call in calls.items()}
    at_once = {name: max(1, int(SHORT / first)) for name, (first,) in samples.items()}
    for turn in range(repeats):
        for name, call in calls.items():
            if turn == 0 and at_once[name] > 1:
                samples[name].clear()  # one short call alone says little
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
    rows = [Row("numpy float32 uniform", "numpy float32 uniform", "numpy sort float32", 2.5)]
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
        cells = ("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
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
    """Say whether a row meets its target at all sizes that the target is meant for."""
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
    """Compare a call on 100 samples with the six NumPy calls that it cannot do without."""
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
    times = medians(calls, max(repeats, 7))
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


def draw(seconds: Seconds, path: Path) -> None:
    """Draw the ratios to ``np.sort`` against n."""
    if load("matplotlib") is None:
        print("No figure: matplotlib is missing (pip install lxcim_xp[plots]).")
        return
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcdefaults()  # a peer changes the defaults when it is imported
    mpl.rcParams.update({"font.size": 10, "svg.hashsalt": "speed"})
    lines = {
        "lxcim, uniform": "numpy float64 uniform",
        "lxcim, weighted": "numpy float64 weighted",
        "scikit-learn roc_auc_score": "scikit-learn",
        "torchmetrics binary_auroc": "torchmetrics",
        "SciPy wilcoxon": "SciPy",
        "torch-uncertainty AUGRC": "torch-uncertainty",
        "bicausal lxcim": "bicausal",
    }
    figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    ends = []
    for (label, name), (color, marker) in zip(lines.items(), LINE_STYLES, strict=True):
        sort = seconds["numpy sort float64"]
        points = [(n, value / sort[n]) for n, value in seconds.get(name, {}).items()]
        if points:
            ours = label.startswith("lxcim")
            width, size = (2.2, 6) if ours else (1.3, 5)
            axes.plot(*zip(*points, strict=True), color=color, marker=marker, lw=width, ms=size)
            ends.append((points[-1], label, color))
    axes.axhline(1, color="0.5", lw=0.8, ls="--")
    ends.append(((max(sort), 1.0), "np.sort", "0.4"))
    axes.set(xscale="log", yscale="log", xlabel="samples n", ylabel="time / time of np.sort")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", color="0.9", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    _label_ends(axes, ends)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    print(f"The figure is in {os.path.relpath(path)}.")


def _label_ends(axes: Any, ends: list[tuple[tuple[float, float], str, str]]) -> None:
    """Write each label beside the end of its line, moved up where two would overlap."""
    low, high = np.log10(axes.get_ylim())
    step = (high - low) / 18
    height = -np.inf
    for (n, ratio), label, color in sorted(ends, key=lambda end: end[0][1]):
        height = max(np.log10(ratio), height + step)
        axes.annotate(
            label,
            xy=(n, ratio),
            xytext=(1.03, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            color=color,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.5},
        )


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
