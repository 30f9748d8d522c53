"""What it costs to start: imports, ``lxcim --help`` and a small ``lxcim evaluate``.

    python benchmarks/door.py [--repeats 15]

Every contender is a process of its own, from the start of Python to its end. They take turns; times
are medians and are shown as ratios. Byte code is kept in a temporary folder, which a first round
without timing fills.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
GAMES = ROOT / "lxcim_xp" / "cli" / "games" / "games.csv"
LIBRARIES = "import polars, rich, typer, numpy"
EMPTY_APP = '''
import typer

app = typer.Typer()


@app.command()
def one():
    """Do one thing."""


@app.command()
def two():
    """Do the other."""


app()
'''
IDLE_COMMAND = '''
import typer

app = typer.Typer()


@app.command()
def idle(file: str, label: str = ""):
    """Load what a command that prints a table of polars needs, and do nothing."""
    import narwhals.stable.v2
    import numpy
    import polars
    import rich.console
    import rich.table


app()
'''
# A contender, what it is measured against, and how many times as long it may take.
PAIRS = [
    ("import lxcim_xp", "import numpy", "≤ 1.3"),
    ("from lxcim_xp import lxcim", "import numpy", "≤ 1.6"),
    ("import lxcim_xp.frames", "import numpy, narwhals.stable.v2", ""),
    ("lxcim --help", "--help of an empty typer app", "≤ 1.5"),
    ("lxcim evaluate, 553 rows", LIBRARIES, "≤ 1.5"),
    ("lxcim evaluate, 553 rows", "an idle typer command with the same libraries", ""),
]


def commands_in(directory: Path) -> dict[str, list[str]]:
    """Return what each contender runs; scripts are written into a directory."""
    for name, text in (("empty.py", EMPTY_APP), ("idle.py", IDLE_COMMAND)):
        (directory / name).write_text(text)
    columns = ["--label", "favourite_won", "--score", "spread"]
    commands = {
        "lxcim --help": ["-m", "lxcim_xp", "--help"],
        "--help of an empty typer app": [str(directory / "empty.py"), "--help"],
        "lxcim evaluate, 553 rows": ["-m", "lxcim_xp", "evaluate", str(GAMES), *columns],
        "an idle typer command with the same libraries": [str(directory / "idle.py"), "file"],
    }
    names = [name for ours, theirs, _ in PAIRS for name in (ours, theirs)]
    return {name: [sys.executable, *commands.get(name, ["-c", name])] for name in names}


def medians(commands: dict[str, list[str]], repeats: int, caches: Path) -> dict[str, float]:
    """Return the median seconds of processes that take turns."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # An empty value turns the writing of byte code on, whatever the environment says.
    kept = {"PYTHONPATH": path, "PYTHONPYCACHEPREFIX": str(caches), "PYTHONDONTWRITEBYTECODE": ""}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, env=os.environ | kept, capture_output=True, check=True)
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(runs[1:]) for name, runs in taken.items()}


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        taken = medians(commands_in(folder), repeats, folder / "caches")
    heads = ["", "over", "ratio", "target", "ms"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for ours, theirs, target in PAIRS:
        shown = [f"`{name}`" if "import " in name else name for name in (ours, theirs)]
        ratio = taken[ours] / taken[theirs]
        print(
            "| " + " | ".join([*shown, f"{ratio:.2f}", target, f"{1e3 * taken[ours]:.0f}"]) + " |"
        )


if __name__ == "__main__":
    main()
