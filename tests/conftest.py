import os
from fnmatch import fnmatch

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


def pytest_addoption(parser):
    libraries = sorted({backend.library for backend in backends.BACKENDS})
    parser.addoption(
        "--backend",
        choices=libraries,
        help="run the laws on this library only, and fail rather than skip where it is missing",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "runners(*patterns): the runners a test is for, by name")


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
    """Leave out what --backend leaves without a backend to run on."""
    empty = [item for item in items if "NOTSET" in item.name]
    config.hook.pytest_deselected(items=empty)
    items[:] = [item for item in items if item not in empty]


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
