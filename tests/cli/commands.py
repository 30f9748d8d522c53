"""How tests run the ``lxcim`` command: by its entry point, in a process of its own, or here.

Whatever a command says in any test, it says in the words of the command line. Where its libraries
are not installed, the modules that import this one are skipped.
"""

import json
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

COMMAND = Path(sysconfig.get_path("scripts")) / "lxcim"
COLUMNS = ("--label", "won", "--score", "margin")
GAMES = pl.DataFrame(
    {
        "won": [1, 0, 1, 1, 0, 1],
        "margin": [4.0, -3.0, -1.0, 2.0, 1.0, 0.5],
        "season": ["1991", "1991", "1991", "1992", "1992", None],
    }
)


# What people who write Python know, and others need not: arguments, types and libraries.
PYTHON = re.compile(
    r"y_true(?! = )|y_score(?! = )|sample_weight|nan_policy|dtype|Float64|Int64|polars|DataFrame"
    r"|narwhals|\bframes?\b|where=|probability\(\)|lxcim_xp\.(?!parquet)\w+\(|Traceback"
    r"|\b(labels?|scores?|weight|by|groups|positive|negative|ties|level|threshold|decision|metrics?"
    r"|kind|laws?|delta|accuracy|joint_risk|domain|mirror|collect|bound|title|command)="
)


def plain_words(told):
    """Return what was told, after a look for words that do not belong to a command line."""
    assert not PYTHON.search(told), told
    return told


def here(capfd, *arguments):
    """Run a command in this process: how it ends, what it prints, what it says."""
    from lxcim_xp.cli.app import app

    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        app([str(each) for each in arguments], prog_name="lxcim")
    out, err = capfd.readouterr()
    return end.value.code, out, plain_words(unboxed(err))


def unboxed(told):
    """Return a message in one line: Typer draws a box around it, and breaks lines anywhere."""
    return re.sub(r"\s*[│\n]+\s*", " ", told)


def lxcim(*arguments, stdin=b"", cwd=None, **env):
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    run = subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=plain | {"COLUMNS": "100", "PYTHONUTF8": "1"} | env,
        timeout=120,
    )
    run.stdout, run.stderr = run.stdout.decode(), plain_words(run.stderr.decode())
    return run


def found(*arguments, **options):
    """Return the rows that a command prints as JSON."""
    run = lxcim(*arguments, "--format", "json", **options)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def predictions():
    """Return 300 predictions of three models, with ties, gaps, weights and clusters."""
    rng = np.random.default_rng(0)
    margin = rng.normal(1, 1, 300).round(1)
    label = rng.integers(0, 2, 300)
    return pl.DataFrame(
        {
            "won": label,
            "word": np.where(label == 1, "yes", "no"),
            "a": np.where(label == 1, margin, -margin),
            "b": np.where(label == 1, margin, -margin) + rng.normal(0, 2, 300),
            "c": rng.normal(size=300),
            "p": 1 / (1 + np.exp(-np.where(label == 1, margin, -margin))),
            "margin": margin,
            "gap": np.where(rng.random(300) < 0.1, np.nan, margin),
            "w": rng.random(300),
            "cluster": rng.integers(0, 40, 300),
            "k": rng.integers(0, 3, 300),
        }
    ).with_columns(pl.col("gap").fill_nan(None))
