"""The contenders of the benchmark: our functions on each backend, plain sorts, and peers.

Each is a call without arguments, with data prepared in the form that it takes. Whatever is not
installed is left out. ``speed`` does the timing.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from lxcim_xp import audrc, auroc, lxcim

SEEDS = 100  # rows of the batches


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
    weighted: bool = False


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
    single, single_weight = score.astype(np.float32), weight.astype(np.float32)
    batch = (SEEDS, len(label) // SEEDS)
    label_rows, score_rows = label.reshape(batch), score.reshape(batch)
    calls = {
        "numpy sort float64": lambda: np.sort(score),
        "numpy sort float32": lambda: np.sort(single),
        "numpy float64 uniform": lambda: lxcim(label, score),
        "numpy float32 uniform": lambda: lxcim(label, single),
        "numpy float64 weighted": lambda: lxcim(label, score, sample_weight=weight),
        "numpy float32 weighted": lambda: lxcim(label, single, sample_weight=single_weight),
        "numpy float64 AUROC": lambda: auroc(label, score),
        "numpy float64 AUDRC": lambda: audrc(label, score),
        "numpy float64 batch": lambda: lxcim(label_rows, score_rows),
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
        with (
            mock.patch("lxcim_xp._samples.gain.has_integer_keys", return_value=False),
            mock.patch("lxcim_xp._numerics.ordering.has_integer_keys", return_value=False),
        ):
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
    """Return the peers that are installed, each with data prepared in the form it takes."""
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
        peers["bicausal weighted"] = Contender(
            lambda: bicausal.lxcim(margin, weight), float, weighted=True
        )
    return peers | _torch_peers(label, both_labels, margin, probability)


def _torch_peers(
    label: np.ndarray, both_labels: np.ndarray, margin: np.ndarray, probability: np.ndarray
) -> dict[str, Contender]:
    torch, peers = load("torch"), {}
    if torch is None:
        return peers
    label, both_labels = torch.from_numpy(label), torch.from_numpy(both_labels)
    # Scores outside [0, 1] would go through a sigmoid, which turns large ones into ties.
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
        # It leaves out the first 1/n of the area, and divides by the rest.
        left_out = float(margin[np.abs(margin).argmax()] < 0) / (2 * n**2)
        peers["torch-uncertainty"] = Contender(
            augrc, lambda result: 1 - 2 * (float(result) * (1 - 1 / n) + left_out)
        )
    return peers


def all_contenders(data: Data) -> dict[str, Contender]:
    """Return whatever is installed."""
    ours = numpy_contenders(data) | jax_contenders(data) | torch_contenders(data)
    return ours | peer_contenders(data)
