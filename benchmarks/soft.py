"""Measure what soft metrics cost, value and gradient together, compared to a sort and to peers.

    python benchmarks/soft.py [--sizes 1e3,1e4,1e5,1e6] [--repeats 5]

All contenders of one size take turns in one process with one thread; each number is a ratio of two
medians. Then come the time to compile under JAX and the memory that a call needs beyond its input.
A peer that visits all pairs gets at most 10 000 samples. Whatever is not installed is reported as
missing; to install everything:

    pip install torch==2.13.0
    pip install -e ".[jax]" rax
    pip install --no-build-isolation torchsort
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from speed import Row, medians, parse_sizes, power, print_ratios, print_table

import lxcim_xp as lx

SIZES = (10**3, 10**4, 10**5, 10**6)
ALL_PAIRS = 10**4  # samples up to which contenders that visit all pairs are timed
Calls = dict[str, Callable[[], Any]]


def numpy_calls(margins: np.ndarray) -> Calls:
    """Return NumPy's sort, and value and gradient by hand."""
    gradient = lx.value_and_grad(lx.soft_lxcim)
    return {
        "numpy sort": lambda: np.sort(margins),
        "numpy soft LxCIM": lambda: gradient(1, margins),
    }


def torch_calls(margins: np.ndarray) -> Calls:
    """Return PyTorch's sort, cross-entropy, and value and gradient of ours."""
    import torch

    torch.set_num_threads(1)
    data = torch.asarray(margins)
    leaf = data.clone().requires_grad_()

    def backward(loss: Callable[[Any], Any]) -> Callable[[], Any]:
        def run() -> Any:
            leaf.grad = None
            loss(leaf).backward()
            return leaf.grad

        return run

    return {
        "torch sort": lambda: torch.sort(data),
        "torch cross-entropy": backward(lambda m: torch.nn.functional.softplus(-m).mean()),
        "torch soft LxCIM": backward(lambda m: lx.soft_lxcim(1, m)),
        "torch surrogate": backward(lambda m: lx.lxcim_surrogate(1, m)),
    }


def torchsort_calls(margins: np.ndarray) -> Calls:
    """Return the soft rank of torchsort, written in C++, in an objective of its own."""
    import torch
    import torchsort

    leaf = torch.asarray(margins)[None, :].clone().requires_grad_()

    def run() -> Any:
        leaf.grad = None
        (torchsort.soft_rank(leaf, regularization_strength=1e-3) * torch.sin(leaf)).sum().backward()
        return leaf.grad

    return {"torchsort soft rank": run}


def jax_calls(margins: np.ndarray) -> Calls:
    """Return JAX's argsort, and value and gradient of ours under jit."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    data = jnp.asarray(margins)
    argsort = jax.jit(jnp.argsort)
    ours = jax.jit(jax.value_and_grad(lambda m: lx.soft_lxcim(1, m)))
    return {
        "jax argsort": lambda: argsort(data).block_until_ready(),
        "jax soft LxCIM": lambda: ours(data)[1].block_until_ready(),
    }


def rax_calls(margins: np.ndarray) -> Calls:
    """Return the approximate ranks of rax, which visit all pairs, in an objective of its own."""
    import jax
    import jax.numpy as jnp
    import rax

    if margins.size > ALL_PAIRS:
        return {}
    data = jnp.asarray(margins)
    ranks = jax.jit(jax.grad(lambda m: (rax.utils.approx_ranks(m) * jnp.sin(m)).sum()))
    return {"rax approx_ranks": lambda: ranks(data).block_until_ready()}


FAMILIES = (numpy_calls, torch_calls, torchsort_calls, jax_calls, rax_calls)
ROWS = [
    Row("numpy soft LxCIM over np.sort", "numpy soft LxCIM", "numpy sort"),
    Row("torch soft LxCIM over torch.sort", "torch soft LxCIM", "torch sort", 4, only_at=10**6),
    Row("torch surrogate over torch.sort", "torch surrogate", "torch sort"),
    Row("torch soft LxCIM over cross-entropy", "torch soft LxCIM", "torch cross-entropy"),
    Row(
        "torch soft LxCIM over torchsort, a soft rank in C++",
        "torch soft LxCIM",
        "torchsort soft rank",
        2.5,
        only_at=10**5,
    ),
    Row("jax soft LxCIM over jnp.argsort", "jax soft LxCIM", "jax argsort", 3.5, only_at=10**6),
    Row(
        "rax approx_ranks, all pairs, over jax soft LxCIM",
        "rax approx_ranks",
        "jax soft LxCIM",
        100,
        at_least=True,
        only_at=10**4,
    ),
]


def measure(sizes: tuple[int, ...], repeats: int) -> tuple[dict[str, dict[int, float]], list[str]]:
    """Time all contenders at all sizes, and say which are missing."""
    seconds: dict[str, dict[int, float]] = {}
    missing: list[str] = []
    for n in sizes:
        print(f"timing n = {power(n)}", file=sys.stderr)
        margins = np.random.default_rng(n).normal(0.8, 1, n)
        calls: Calls = {}
        for family in FAMILIES:
            try:
                calls |= family(margins)
            except ImportError as error:
                if n == sizes[0]:
                    missing.append(f"missing: {error}")
        for call in calls.values():
            call()  # compiles
        for name, value in medians(calls, repeats).items():
            seconds.setdefault(name, {})[n] = value
    return seconds, missing


def print_compile_times(sizes: tuple[int, ...]) -> None:
    """Print how long JAX takes to compile value and gradient, and how much memory they need."""
    import jax
    import jax.numpy as jnp

    body = []
    for n in sizes:
        margins = jnp.ones(n)
        times = []
        for _ in range(3):
            jax.clear_caches()
            start = time.perf_counter()
            lowered = jax.jit(jax.value_and_grad(lambda m: lx.soft_lxcim(1, m))).lower(margins)
            compiled = lowered.compile()
            times.append(time.perf_counter() - start)
        memory = compiled.memory_analysis().temp_size_in_bytes / 1e6
        body.append([power(n), f"{sorted(times)[1]:.2f}", "≤ 2", f"{memory:.0f}"])
    print_table(
        "JAX: seconds to trace and compile, MB of temporary memory",
        ["n", "s", "target", "MB"],
        body,
    )


PEAK = """
import sys
import numpy as np
import lxcim_xp as lx
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
margins = np.random.default_rng(0).normal(0.8, 1, 10**6)
if sys.argv[1] == "torch":
    import torch
    margins = torch.asarray(margins).requires_grad_()
    lx.soft_lxcim(1, margins[:1000]).backward()
else:
    lx.value_and_grad(lx.soft_lxcim)(1, margins[:1000])
open("/proc/self/clear_refs", "w").write("5")
before = peak()
if sys.argv[1] == "torch":
    lx.soft_lxcim(1, margins).backward()
else:
    lx.value_and_grad(lx.soft_lxcim)(1, margins)
print((peak() - before) / 1e3)
"""


def print_memory() -> None:
    """Print how much the peak memory grows, with each library in a process of its own.

    Linux knows the peak since the last reset; on other systems it is missing.
    """
    body = []
    for library in ("numpy", "torch"):
        run = subprocess.run([sys.executable, "-c", PEAK, library], capture_output=True, text=True)
        grown = f"{float(run.stdout):.0f}" if run.returncode == 0 else "missing"
        body.append([library, grown, "≤ 400"])
    print_table("Peak memory for 1e6 samples, MB", ["", "MB", "target"], body)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=parse_sizes, default=SIZES, help="such as 1e3,1e4")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    seconds, missing = measure(options.sizes, options.repeats)
    print_ratios("Value and gradient together", ROWS, seconds, options.sizes)
    print("\n".join(missing))
    if "jax argsort" in seconds:
        print_compile_times(options.sizes)
    print_memory()


if __name__ == "__main__":
    main()
