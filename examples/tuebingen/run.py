"""The paper's experiment: sixteen methods on the Tübingen cause-effect pairs.

    python examples/tuebingen/run.py -o results
    python examples/tuebingen/run.py --methods SLOPE RECI my_method.py:my_method
    python examples/tuebingen/run.py --scores scores_of_somebody.csv

It writes scores.csv, the reasons for missing answers, the table, all comparisons and the paper's
figures into one folder. Interrupted, it goes on where it was when it is called again.
"""

import argparse
import contextlib
import io
import os
import runpy
import sys
from concurrent.futures import BrokenExecutor
from pathlib import Path

from data import load_pairs
from scores import Book, as_arrays, read_answers, write_rows
from scoring import ask, by_title
from table import (
    COMPARISON_COLUMNS,
    TREATMENTS,
    compare,
    comparison_rows,
    comparison_text,
    evaluate,
    table_text,
    tiers,
)

EXAMPLES = Path(__file__).resolve().parents[1]
FIGURES = ("the_papers_figures", "contributions", "convergence")


def main(arguments: list[str] | None = None) -> int:
    """Score the methods, or read scores, and say what they show."""
    options = _options(arguments)
    try:
        _make(options.out)
        file = options.scores or _score(options)
        _show(file, options.out)
    except (ValueError, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        print(f'run.py: {error}. The methods need: pip install ".[tuebingen]"', file=sys.stderr)
        return 1
    except BrokenExecutor:
        print(
            "\nA process died, perhaps for want of memory. The same command goes on from here; "
            "--processes 1 needs less.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    if options.figures:
        print("\nDrawing the figures ...")
        for script in FIGURES:
            _draw(script, options.out, file)
    print(f"\nEverything is in {options.out}{os.sep}")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="which methods; a name of the sixteen, or FILE.py:function for one of yours",
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="methods as their own papers mean them, where the published run differs",
    )
    parser.add_argument(
        "--pairs", type=Path, metavar="FOLDER", help="the official pairNNNN.txt and pairmeta.txt"
    )
    parser.add_argument(
        "--scores", type=Path, metavar="FILE", help="evaluate these scores, ask no method"
    )
    parser.add_argument(
        "--processes", type=int, metavar="COUNT", help="how many, all cores by default"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="ask also where there is an answer from an earlier run: the method has changed",
    )
    parser.add_argument("--no-figures", dest="figures", action="store_false")
    parser.add_argument(
        "-o", dest="out", type=Path, metavar="OUT", default=Path("tuebingen_results")
    )
    options = parser.parse_args(arguments)
    if options.processes is not None and options.processes < 1:
        parser.error(f"--processes must be 1 or more; found {options.processes}")
    if options.scores is not None:
        for name in ("methods", "clean", "pairs", "processes", "again"):
            if getattr(options, name):
                parser.error(f"--{name} is about asking methods, and --scores asks none")
    return options


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            f"The folder {folder} cannot be made: {error.strerror}. Choose another one (-o)."
        ) from None


def _score(options: argparse.Namespace) -> Path:
    """Ask the methods what they have not answered yet, and return the file of scores."""
    from methods import METHODS
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    # A wrong name ends it before anything is written.
    methods = by_title(options.methods or METHODS, options.clean)
    pairs = load_pairs(options.pairs)
    settings = {"mode": "clean" if options.clean else "paper", "pairs": len(pairs)}
    book = Book(options.out, {pair.number: pair.weight for pair in pairs}, settings)
    if options.again:
        book.forget(methods)
    questions = {
        name: [place for place, pair in enumerate(pairs) if not book.knows(title, pair.number)]
        for title, name in methods.items()
    }
    processes = options.processes or os.cpu_count() or 1
    total = sum(map(len, questions.values()))
    if total < len(methods) * len(pairs):
        print(f"{len(methods) * len(pairs) - total} answers are there from an earlier run.")
    columns = ("{task.description:8}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        task = progress.add_task("", total=total)
        try:
            for answer in ask(questions, pairs, clean=options.clean, processes=processes):
                book.note(answer.method, answer.number, answer.score, answer.reason)
                progress.update(task, advance=1, description=answer.method)
        finally:
            book.save()
    return book.file


def _show(file: Path, out: Path) -> None:
    """Print the table and what the comparisons show, and write both."""
    scores = as_arrays(*read_answers(file))
    rows = evaluate(scores)
    if not rows:
        raise ValueError(f"{file} has no answers, so there is nothing to evaluate.")
    found = {treatment: compare(scores, treatment) for treatment in TREATMENTS if len(rows) > 1}
    silent = scores.by_method.keys() - {row.method for row in rows}
    order = tiers(found["abstain"]) if found else [[rows[0].method]]
    tier_of = {method: place for place, tier in enumerate(order, 1) for method in tier}
    text = "\n".join(
        [
            table_text(rows, tier_of),
            "",
            "In percent, with 95 % intervals for the metrics; the paper's numbers in brackets.",
            *(f"{method} has no row, as it answered no pair." for method in sorted(silent)),
            *(
                f"\nPairwise, {TREATMENTS[treatment]}: {comparison_text(table)}"
                for treatment, table in found.items()
            ),
        ]
    )
    print(f"\n{text}")
    (out / "table.md").write_text(text + "\n", encoding="utf-8")
    write_rows(
        out / "comparisons.csv",
        COMPARISON_COLUMNS,
        (row for name, table in found.items() for row in comparison_rows(table, name)),
    )


def _draw(script: str, out: Path, scores: Path) -> None:
    """Run one of the gallery's scripts, which save their figures into their first argument.

    What it prints is for readers of the gallery.
    """
    before, sys.argv = sys.argv, [script, str(out), str(scores)]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    finally:
        sys.argv = before


if __name__ == "__main__":
    sys.exit(main())
