"""What runs where, under which transform.

This one declaration drives the tests (each law runs once per row and transform); run as a script,
it prints the table of docs/backends.md.
"""

import contextlib
import importlib
import importlib.util
import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

PADDED = 12  # Samples are padded to this length under transforms that compile for each shape.
# Eager JAX, which compiles each operation for each shape, pads to the next of these.
EAGER_JAX = (0, 1, 2, 3, 6, PADDED)
# What the nox session "jax" changes by XLA_FLAGS to compile quickly.
XLA_DEFAULTS = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
    "xla_cpu_use_fusion_emitters": True,
}


class Backend(NamedTuple):
    name: str
    library: str
    transforms: tuple[str, ...]
    dtype: str
    needs_gpu: bool
    checked: str


_JAX = ("eager", "jit", "vmap", "jit+vmap", "grad")
_VALUES = "values, on a CPU"
BACKENDS = (
    Backend("numpy", "numpy", ("eager",), "float64", False, _VALUES),
    Backend("strict", "array_api_strict", ("eager",), "float64", False, _VALUES),
    Backend("strict-static-shapes", "array_api_strict", ("eager",), "float64", False, _VALUES),
    Backend("strict-no-float64", "array_api_strict", ("eager",), "float32", False, _VALUES),
    Backend("jax", "jax", _JAX, "float32", False, _VALUES),
    Backend("jax-x64", "jax", _JAX, "float64", False, _VALUES),
    Backend("torch", "torch", ("eager", "vmap", "compile", "grad"), "float64", False, _VALUES),
    Backend("cupy", "cupy", ("eager",), "float64", True, "names and signatures; values need a GPU"),
)


class Runner(NamedTuple):
    """A backend with a transform: runs a metric on NumPy data and returns NumPy values."""

    backend: Backend
    transform: str

    def __str__(self) -> str:
        return f"{self.backend.name}-{self.transform}"

    @property
    def tolerance(self) -> float:
        return 1e-12 if self.backend.dtype == "float64" else 2e-6

    def __call__(self, metric, y_true, y_score, sample_weight=None, where=None, **options):
        """Return the metric of one list of samples as float64."""
        y_score = np.asarray(y_score, dtype=self.backend.dtype)
        arrays = {"y_true": np.broadcast_to(y_true, y_score.shape), "y_score": y_score}
        if sample_weight is not None:
            arrays["sample_weight"] = np.asarray(sample_weight, dtype=self.backend.dtype)
        if where is not None:
            arrays["where"] = np.asarray(where)
        length = self.length(y_score.size)
        if self.transform != "eager" or length > y_score.size:
            arrays = _padded(arrays, length)
        if self.transform != "eager" and "threshold" in options:
            # Traced: one compilation serves all thresholds.
            arrays["threshold"] = np.asarray(options.pop("threshold"), self.backend.dtype)
        if "vmap" in self.transform:
            arrays = {name: _with_decoy(array) for name, array in arrays.items()}
        function = _transformed(self, metric, tuple(arrays), tuple(sorted(options.items())))
        with context(self.backend):
            result = function(*(convert(self.backend, array) for array in arrays.values()))
        result = to_numpy(result)
        return result[0] if "vmap" in self.transform else result

    def length(self, n: int) -> int:
        """Return the length that n samples are padded to."""
        if self.transform != "eager":
            return PADDED
        if self.backend.library == "jax":
            return next((length for length in EAGER_JAX if length >= n), n)
        return n


def _padded(arrays: dict[str, np.ndarray], length: int) -> dict[str, np.ndarray]:
    """Fill up to a length with samples that do not count and would be bad if they did."""
    n = arrays["y_score"].size
    garbage = {"y_true": 7, "y_score": np.nan, "sample_weight": -1.0, "where": False}
    arrays = {"where": np.ones(n, dtype=bool), **arrays}
    return {
        name: np.concatenate([array, np.full(length - n, garbage[name], dtype=array.dtype)])
        for name, array in arrays.items()
    }


def _with_decoy(array: np.ndarray) -> np.ndarray:
    """Add a second batch entry, the samples in reverse, which must not leak into the first."""
    return np.stack([array, array[::-1] if array.ndim else array + 1])


def all_runners(chosen=None) -> list[Runner]:
    """Return every pair of backend and transform but "grad", which has tests of its own."""
    return [
        Runner(backend, transform)
        for backend in BACKENDS
        for transform in backend.transforms
        if chosen in (None, backend.library) and transform != "grad"
    ]


def missing(backend: Backend) -> str | None:
    """Say why a backend cannot run here, or None."""
    if importlib.util.find_spec(backend.library) is None:
        return f"{backend.library} is not installed"
    if backend.needs_gpu:
        cupy = importlib.import_module("cupy")
        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            return f"{backend.library} finds no GPU"
    return None


@contextlib.contextmanager
def context(backend: Backend):
    """Switch a library to the state that a backend stands for."""
    if backend.library == "jax":
        import jax

        with (
            jax.enable_x64(backend.dtype == "float64"),
            jax.numpy_dtype_promotion("strict"),
            jax.numpy_rank_promotion("raise"),
        ):
            yield
    elif backend.name == "strict-static-shapes":
        import array_api_strict

        with array_api_strict.ArrayAPIStrictFlags(
            boolean_indexing=False, data_dependent_shapes=False
        ):
            yield
    else:
        yield


def convert(backend: Backend, array: np.ndarray) -> Any:
    """Return a NumPy array as an array of the backend."""
    if backend.name == "strict-no-float64":
        import array_api_strict as xp

        narrow = array.astype(np.float32) if array.dtype == np.float64 else array
        return xp.asarray(narrow, device=xp.Device("no_float64"))
    if backend.library == "jax":
        import jax.numpy as xp

        return xp.asarray(array.astype(np.int32) if array.dtype == np.int64 else array)
    return importlib.import_module(backend.library).asarray(array.copy())


def to_numpy(result: Any) -> Any:
    """Return an array of any library as NumPy floats."""
    if type(result).__module__.startswith("array_api_strict"):
        result = result.to_device(type(result.device)("CPU_DEVICE"))
    elif hasattr(result, "get"):
        result = result.get()
    return np.asarray(result, dtype=np.float64)


@cache
def _transformed(runner: Runner, metric: Callable, names: tuple[str, ...], options: tuple):
    if runner.transform == "compile":
        import torch

        # Compiled directly: each metric has its own code, and so its own compile cache.
        compiled = torch.compile(metric, fullgraph=True, dynamic=False)
        return partial(_call, compiled, names, options)
    function = partial(_call, metric, names, options)
    if runner.backend.library == "jax":
        import jax

        if "vmap" in runner.transform:
            function = jax.vmap(function)
        if "jit" in runner.transform:
            # One runner checks the code that users get.
            thorough = str(runner) == "jax-jit" and "XLA_FLAGS" in os.environ
            function = jax.jit(function, compiler_options=XLA_DEFAULTS if thorough else None)
    elif runner.transform == "vmap":
        import torch

        function = torch.func.vmap(function)
    return function


def _call(metric, names, options, *arrays):
    return metric(**dict(zip(names, arrays, strict=True)), **dict(options))


def table() -> str:
    """Return the table of docs/backends.md."""
    transforms = ["eager", "jit", "vmap", "jit+vmap", "compile", "grad"]
    lines = [
        "| backend | dtype | " + " | ".join(transforms) + " | what the tests check |",
        "|---" * (len(transforms) + 3) + "|",
    ]
    for backend in BACKENDS:
        marks = ["yes" if t in backend.transforms else "-" for t in transforms]
        lines.append(
            f"| {backend.name} | {backend.dtype} | " + " | ".join(marks) + f" | {backend.checked} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
