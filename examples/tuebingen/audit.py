"""An audit of the sixteen methods: what should not change an answer, and does.

    python examples/tuebingen/audit.py [--methods METHOD ...] [--clean] [-o FILE]

Prints a table of laws; FILE gets it with the smallest counter-example to each law. Methods that
train a network are asked about short pairs only, since each call trains two of them anew.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from data import Pair, load_pairs
from scoring import by_title, find_method, one_thread_each

from lxcim_xp import audit_method, describe
from lxcim_xp.invariance import Finding

SHORT, FEW = 200, 10  # samples and pairs for methods that train a network


def audit(name: str, pairs: Sequence[Pair], clean: bool) -> tuple[int, dict[str, Finding]]:
    """Return how many pairs a method was asked about, and what was found."""
    from methods import BATCHES

    method = find_method(name, clean)
    slow = method in BATCHES
    asked = [pair for pair in pairs if len(pair.x) <= SHORT][:FEW] if slow else pairs
    return len(asked), audit_method(method, asked, calls=20 if slow else 100)


def table_text(found: dict[str, tuple[int, dict[str, Finding]]]) -> str:
    """Write what was found as a Markdown table: "yes" where a law holds, or how often it fails."""
    laws = list(next(iter(found.values()))[1])
    lines = [f"| method | pairs | {' | '.join(laws)} |", "|---" * (2 + len(laws)) + "|"]
    for name, (asked, findings) in found.items():
        # What was raised stands with the counter-examples.
        remarks = [finding.remark.partition(", raised ")[0] for finding in findings.values()]
        cells = [
            "yes" if findings[law].holds else remark
            for law, remark in zip(laws, remarks, strict=True)
        ]
        lines.append(f"| {name} | {asked} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Audit the methods and print the table."""
    from methods import METHODS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="METHOD")
    parser.add_argument(
        "--clean", action="store_true", help="methods as their own papers mean them"
    )
    parser.add_argument("--pairs", type=Path, metavar="FOLDER", help="the official pairs")
    parser.add_argument("-o", dest="out", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        methods = by_title(options.methods, options.clean)
        # An audit is about two variables.
        pairs = [pair for pair in load_pairs(options.pairs) if pair.x.ndim == pair.y.ndim == 1]
    except (ValueError, OSError) as error:
        print(f"audit.py: {error}", file=sys.stderr)
        return 1
    context = multiprocessing.get_context("spawn")
    with one_thread_each(), ProcessPoolExecutor(mp_context=context) as pool:
        work = partial(audit, pairs=pairs, clean=options.clean)
        found = dict(zip(methods, pool.map(work, methods.values()), strict=True))
    table = table_text(found)
    print(table)
    if options.out is not None:
        words = [
            f"## {name}\n\n" + "\n".join(describe(finding) for finding in findings.values())
            for name, (_, findings) in found.items()
        ]
        options.out.write_text("\n\n".join([table, *words]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
