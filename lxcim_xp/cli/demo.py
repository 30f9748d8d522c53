"""The tour of ``lxcim demo``: the other commands, on forecasts of 553 basketball games.

The games come with the package; ``games/SOURCE.txt`` says where they are from. The tour writes them
to a file like a user's own, and each step is a command that can be typed again. Games have no
order; for what that does there is a simulated judge.
"""

import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import typer

from lxcim_xp.cli.files import BadData
from lxcim_xp.cli.output import say, whole_file

_PAIRS = 400  # of answers that the simulated judge has seen

_COLUMNS = "--label favourite_won --score spread"
_BOTH = f"{_COLUMNS} --score ranking"
_STEPS = (
    ("How good are the bookmakers?", "evaluate {games} " + _COLUMNS),
    ("At home as well as away?", "evaluate {games} " + _COLUMNS + " --by venue --metric lxcim"),
    (
        "Are they better than the ranking of the teams, beyond chance?",
        "compare {games} " + _BOTH,
    ),
    (
        "When can 90 of 100 calls be trusted?",
        "threshold {games} " + _COLUMNS + " --accuracy 0.9 --delta 0.1",
    ),
    ("The curve whose area is LxCIM, as a picture", "curve {games} " + _BOTH + " -o {curve}"),
    ("Does AUROC depend on which team is called positive?", "audit lxcim_xp:auroc --law lxc"),
    ("And LxCIM?", "audit lxcim_xp:lxcim --law lxc"),
    (
        "What does the order of two answers do to a judge?",
        "orders {judge} --first a_first --swapped b_first --label a_is_better",
    ),
    ("Everything on one page", "report {games} " + _BOTH + " --by venue -o {report}"),
)


def tour(directory: Path, run: Callable[[list[str]], int]) -> None:
    """Write the games into a directory, and run each command on them.

    ``run`` takes the words of a command after ``lxcim``, and returns its exit code.
    """
    made = {
        "games": directory / "games.csv",
        "judge": directory / "judge.csv",
        "curve": directory / "curve.png",
        "report": directory / "report.html",
    }
    _refuse_to_overwrite(made)
    directory.mkdir(parents=True, exist_ok=True)
    with whole_file(made["games"]) as path:
        path.write_bytes(games())
    say(f"wrote {made['games']}: 553 games, who was the favourite, by how many points, who won")
    with whole_file(made["judge"]) as path:
        path.write_bytes(judge())
    say(f"wrote {made['judge']}: {_PAIRS} pairs of answers, and a judge's scores in both orders")
    for question, command in _STEPS:
        arguments = shlex.split(command.format(**{k: shlex.quote(str(v)) for k, v in made.items()}))
        typer.secho(f"\n# {question}", bold=True)
        typer.echo(f"$ {shlex.join(['lxcim', *arguments])}")
        code = run(arguments)
        if code:
            raise typer.Exit(code)
    typer.echo(f"\nOpen {made['report']} in a browser.")


def games() -> bytes:
    """Return the file of the games; a positive score is a vote for the favourite."""
    return (files("lxcim_xp.cli") / "games" / "games.csv").read_bytes()


def judge() -> bytes:
    """Return the file of a simulated judge that likes what stands first by 0.5 on average.

    A is better by d, of standard deviation 1. The judge sees d with an error of 0.7 that it makes
    in both orders, and another of 0.4 in each call.
    """
    from random import Random

    draw = Random(0).gauss
    lines = ["question,a_is_better,a_first,b_first"]
    for question in range(_PAIRS):
        better = draw(0, 1)
        seen = better + draw(0, 0.7)
        first, swapped = (side * seen + 0.5 + draw(0, 0.4) for side in (1, -1))
        lines.append(f"{question},{int(better > 0)},{first:.1f},{swapped:.1f}")
    return "\n".join([*lines, ""]).encode()


def _refuse_to_overwrite(made: dict[str, Path]) -> None:
    """Refuse to overwrite files, unless an earlier tour made them."""
    there = [str(path) for path in made.values() if path.exists()]
    if there and not (made["games"].is_file() and made["games"].read_bytes() == games()):
        raise BadData(f"the tour would write over {', '.join(there)}. Choose another directory.")
