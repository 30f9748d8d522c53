import gc
import importlib.util
import os
import sys
from fnmatch import fnmatch
from itertools import count
from pathlib import Path

import backends
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    max_examples=int(os.environ.get("LXCIM_EXAMPLES", "60")),
    deadline=None,  # the first example of a shape compiles
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    print_blob=True,
)
settings.load_profile("default")
# Each program that XLA compiles stays in memory in pieces of its own. Linux gives a process 65 530
# of them, and XLA crashes beyond.
_MOST_PIECES = 30_000
_PIECES = Path("/proc/self/maps")
_TESTS_RUN = count(1)


def pytest_addoption(parser):
    libraries = sorted({backend.library for backend in backends.BACKENDS})
    parser.addoption(
        "--backend",
        choices=libraries,
        help="run the laws on this library only, and fail rather than skip where it is missing",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "runners(*patterns): the runners a test is for, by name")
    config.addinivalue_line("markers", "library(name): what a test without runners is about")


def pytest_generate_tests(metafunc):
    chosen = metafunc.config.getoption("backend")
    marker = metafunc.definition.get_closest_marker("runners")
    patterns = marker.args if marker else ("*",)
    for argument, cases_of in (("runner", backends.all_runners), ("grad_backend", _with_grad)):
        if argument in metafunc.fixturenames:
            cases = [_case(case, chosen) for case in cases_of(chosen)]
            cases = [case for case in cases if any(fnmatch(case.id, p) for p in patterns)]
            metafunc.parametrize(argument, cases)


def pytest_collection_modifyitems(config, items):
    """Leave out what has nothing to do with --backend, and skip what is about a missing library."""
    chosen = config.getoption("backend")
    selected, others = [], []
    for item in items:
        (selected if _concerns(item, chosen) else others).append(item)
        library = _library(item)
        if library and importlib.util.find_spec(library) is None:
            item.add_marker(pytest.mark.skip(reason=f"{library} is not installed"))
    config.hook.pytest_deselected(items=others)
    items[:] = selected


def pytest_runtest_teardown():
    """Forget compiled programs before there are too many; looking them up takes a while."""
    jax = sys.modules.get("jax")
    if jax is None or next(_TESTS_RUN) % 10 or not _PIECES.exists():
        return
    if _PIECES.read_bytes().count(b"\n") > _MOST_PIECES:
        jax.clear_caches()
        gc.collect()


def _concerns(item, chosen):
    if "NOTSET" in item.name:  # no runner is left
        return False
    if chosen and _library(item):
        return chosen == _library(item)
    # What names no library is about NumPy.
    on_a_backend = {"runner", "grad_backend"} & set(item.fixturenames)
    return chosen in (None, "numpy") or bool(on_a_backend)


def _library(item):
    marker = item.get_closest_marker("library")
    return marker.args[0] if marker else None


def _with_grad(chosen):
    return [
        backend
        for backend in backends.BACKENDS
        if "grad" in backend.transforms and chosen in (None, backend.library)
    ]


def _case(case, chosen):
    backend = case.backend if isinstance(case, backends.Runner) else case
    reason = backends.missing(backend)
    if reason and chosen and not backend.needs_gpu:
        raise pytest.UsageError(f"--backend {chosen}: {reason}")
    name = case.name if isinstance(case, backends.Backend) else str(case)
    marks = []
    if backend.library == "jax":
        # What a worker has compiled for one runner serves all laws (pytest --dist loadgroup).
        marks.append(pytest.mark.xdist_group(name))
    if reason:
        marks.append(pytest.mark.skip(reason=reason))
    return pytest.param(case, marks=marks, id=name)
