"""Split votes, draws, pairs of columns and confidences on the command line."""

import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

import numpy as np
from commands import found, here, lxcim, pl

import lxcim_xp as lx
from lxcim_xp import frames
from lxcim_xp.choices import difference

BOTH = ("memory", "bounded")


def judged(n=200, seed=0):
    """Return rows of votes, words, rewards with two decimals, and confidences of any sign."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "share": rng.integers(0, 6, n) / 5,
            "winner": rng.choice(["A", "B", "tie"], n),
            "s": np.round(rng.normal(0.3, 1, n), 1),
            "good": np.round(rng.random(n), 1),
            "bad": np.round(rng.random(n), 1),
            "good2": np.round(rng.normal(0.1, 1, n), 2),
            "bad2": np.round(rng.normal(0, 1, n), 2),
            "right": rng.random(n) < 0.7,
            "entropy": np.round(-rng.random(n), 2),
            "k": rng.choice(["x", "y"], n),
            "w": rng.random(n),
        }
    )


@pytest.fixture(scope="module", params=["csv", "parquet", "jsonl"])
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("judged") / f"judged.{request.param}"
    rows = judged()
    write = {"csv": rows.write_csv, "parquet": rows.write_parquet, "jsonl": rows.write_ndjson}
    write[request.param](path)
    return path


PAIR = ["--chosen", "good", "--rejected", "bad"]
TWO = [*PAIR, "--chosen", "good2", "--rejected", "bad2"]
GIVEN = ["--correct", "right", "--confidence", "entropy"]
DRAWS = ["--label", "winner", "--score", "s", "--positive", "A", "--negative", "B"]
DRAWS += ["--ties", "half"]


@pytest.mark.parametrize("more", [[], ["--by", "k"], ["--weight", "w"]])
def test_split_votes_are_evaluated_as_in_frames(file, more):
    rows = judged()
    printed = found("evaluate", file, "--label", "share", "--score", "s", *more)
    options = {name.removeprefix("--"): value for name, value in [more] if more} if more else {}
    wanted = frames.evaluate(rows, label="share", score="s", interval=0.95, **options).to_dicts()
    for row, want in zip(printed, wanted, strict=True):
        assert {name: row[name] for name in want} == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("engine", BOTH)
def test_draws_count_half(file, engine):
    (row,) = found("evaluate", file, *DRAWS, "--engine", engine, "--interval", "0")
    rows = judged()
    share = [{"A": 1.0, "B": 0.0}.get(word, 0.5) for word in rows["winner"]]
    wanted = float(lx.accuracy(share, rows["s"].to_numpy()))
    assert row["accuracy"] == pytest.approx(wanted, rel=1e-12)
    assert row["n"] == 200


@pytest.mark.parametrize("engine", BOTH)
def test_pairs_of_columns_are_their_differences(file, engine):
    printed = found("evaluate", file, *TWO, "--engine", engine, "--interval", "0")
    rows = judged()
    names = []
    for row, (first, second) in zip(printed, (("good", "bad"), ("good2", "bad2")), strict=True):
        margin = difference(rows[first].to_numpy(), rows[second].to_numpy())
        wanted = float(lx.lxcim(1, margin))
        names.append(row["model"])
        assert row["lxcim"] == pytest.approx(wanted, rel=1e-12 if engine == "memory" else 1e-4)
        assert "auroc" not in row
    assert names == ["good - bad", "good2 - bad2"]


def test_pairs_of_columns_are_compared_in_their_order(file):
    rows = judged()
    first, second = (
        difference(rows[f"good{end}"].to_numpy(), rows[f"bad{end}"].to_numpy()) for end in ("", "2")
    )
    wanted = lx.compare(1, first, second)
    orders = (TWO, [TWO[i] for i in (0, 1, 4, 5, 2, 3, 6, 7)])
    for columns in orders:
        (row,) = found("compare", file, *columns)
        assert (row["a"], row["b"]) == ("good - bad", "good2 - bad2")
        assert row["difference"] == pytest.approx(float(wanted.difference), rel=1e-12)
        assert row["low"] == pytest.approx(float(wanted.low), rel=1e-9)


def test_confidences_of_decisions_that_were_made(file):
    rows = judged()
    (row,) = found("evaluate", file, *GIVEN)
    right, sure = rows["right"].to_numpy(), rows["entropy"].to_numpy()
    for metric in ("lxcim", "accuracy", "audrc", "auroc"):
        wanted = lx.interval(right, sure, metric=metric, decision=lx.confidence())
        assert row[metric] == pytest.approx(float(wanted.estimate), rel=1e-12)
        assert row[f"{metric}_low"] == pytest.approx(float(wanted.low), rel=1e-9)
    (row,) = found("threshold", file, *GIVEN, "--accuracy", "0.72", "--no-guarantee")
    wanted = lx.threshold_for(right, sure, accuracy=0.72, delta=None, decision=lx.confidence())
    assert row["confidence"] == float(wanted.confidence)
    assert row["rate"] == pytest.approx(float(wanted.rate), rel=1e-12)
    assert "decide_above" not in row


@pytest.mark.parametrize("columns", [["--label", "share", "--score", "s"], DRAWS, PAIR])
def test_thresholds_of_split_votes_and_pairs(file, columns):
    rows = judged()
    label, score = 1, difference(rows["good"].to_numpy(), rows["bad"].to_numpy())
    if columns is not PAIR:
        score, label = rows["s"].to_numpy(), rows["share"].to_numpy()
    if columns is DRAWS:
        label = np.asarray([{"A": 1.0, "B": 0.0}.get(word, 0.5) for word in rows["winner"]])
    for more, target in (
        (["--accuracy", "0.55"], {"accuracy": 0.55, "delta": 0.1}),
        (["--accuracy", "0.52", "--no-guarantee"], {"accuracy": 0.52, "delta": None}),
        (["--joint-risk", "0.3"], {"joint_risk": 0.3}),
    ):
        (row,) = found("threshold", file, *columns, *more)
        wanted = lx.threshold_for(label, score, **target)
        assert row["rate"] == pytest.approx(float(wanted.rate), rel=1e-12)
        if float(wanted.rate):
            assert row["confidence"] == float(wanted.confidence)


@pytest.mark.parametrize("columns", [["--label", "share", "--score", "s"], DRAWS, PAIR, GIVEN])
def test_curves_and_reports_take_them(capfd, tmp_path, file, columns):
    rows = judged()
    for output in ("points.csv", "curve.png", "page.html"):
        command = "report" if output == "page.html" else "curve"
        code, _, told = here(capfd, command, file, *columns, "--by", "k", "-o", tmp_path / output)
        assert code == 0, told
    points = pl.read_csv(tmp_path / "points.csv")
    options = {
        "--chosen": {"label": None, "score": ("good", "bad")},
        "--correct": {"label": "right", "score": "entropy", "decision": lx.confidence()},
    }.get(columns[0], {"label": columns[1], "score": "s"})
    if columns is DRAWS:
        options |= {"positive": "A", "negative": "B", "ties": "half"}
    wanted = frames.curve(rows, by="k", **options)
    assert np.allclose(points["cumulative_accuracy"], wanted["cumulative_accuracy"], atol=1e-12)
    page = (tmp_path / "page.html").read_text()
    assert " ".join(columns[:2]) in page.replace("&#39;", "")


REFUSED = {
    "no rejected": (["evaluate", "--chosen", "good"], "1 of --chosen and 0 of --rejected"),
    "no chosen": (["evaluate", "--rejected", "bad"], "0 of --chosen and 1 of --rejected"),
    "one too many": (["compare", *PAIR, "--chosen", "s"], "2 of --chosen and 1 of --rejected"),
    "one column": (["evaluate", "--chosen", "s", "--rejected", "s"], "would be 0"),
    "one model": (["compare", *PAIR], "at least two pairs of columns; found good - bad"),
    "pairs and scores": (["evaluate", *PAIR, "--score", "s"], "one of the four"),
    "pairs and labels": (["evaluate", *PAIR, "--label", "right"], "need no --label"),
    "pairs and sides": (["evaluate", *PAIR, "--positive", "A"], "need no --positive"),
    "pairs at a threshold": (["evaluate", *PAIR, "--threshold", "1"], "need no --threshold"),
    "pairs as probabilities": (["evaluate", *PAIR, "--probability"], "need no --probability"),
    "pairs and correct": (["evaluate", *PAIR, "--correct", "right"], "need no --correct"),
    "auroc of pairs": (["evaluate", *PAIR, "--metric", "auroc"], "margins have no AUROC"),
    "roc of pairs": (["curve", *PAIR, "--kind", "roc", "-o", "x.csv"], "it needs labels"),
    "no correct": (["evaluate", "--confidence", "entropy"], "Pass --confidence and --correct"),
    "no confidence": (["evaluate", "--correct", "right"], "Pass --confidence and --correct"),
    "label": (["evaluate", *GIVEN, "--label", "right"], "confidences need no --label"),
    "probability": (["evaluate", *GIVEN, "--probability"], "confidences need no --probability"),
    "threshold": (["evaluate", *GIVEN, "--threshold", "0"], "confidences need no --threshold"),
    "bounded": (["evaluate", *GIVEN, "--engine", "bounded"], "pass --engine memory"),
    "sides exchanged": (
        ["curve", *GIVEN, "--kind", "symmetric-roc", "-o", "x.png"],
        "confidences have no sides",
    ),
    "draws without sides": (
        ["evaluate", "--label", "winner", "--score", "s", "--positive", "A", "--ties", "half"],
        "name the two with --positive and --negative",
    ),
    "draws of pairs": (["evaluate", *PAIR, "--ties", "half"], "it is about labels on neither"),
    "correct of scores": (
        ["evaluate", "--label", "right", "--score", "s", "--correct", "right"],
        "scores need no --correct",
    ),
    "no such column": (["evaluate", "--chosen", "goof", "--rejected", "bad"], "Nearest: 'good'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_contradict_each_other(capfd, tmp_path, name):
    path = tmp_path / "judged.csv"
    judged().write_csv(path)
    (command, *arguments), message = REFUSED[name]
    code, out, told = here(capfd, command, path, *arguments)
    assert (code, out) == (2, "")
    assert message in told
    assert [each.name for each in tmp_path.iterdir()] == ["judged.csv"]


def test_bad_votes_are_told_by_line(tmp_path):
    path = tmp_path / "votes.csv"
    for last, place in (("1.5,1", "line 4"), ("-1,1", "line "), ("3,1", "line 4")):
        path.write_text(f"v,s\n0.5,1\n0,2\n{last}\n")
        run = lxcim("evaluate", path, "--label", "v", "--score", "s")
        assert (run.returncode, run.stdout) == (1, "")
        assert f" in {place}" in run.stderr
        assert "shares of votes" in run.stderr
        assert "Are label column 'v' and score column 's' swapped?" in run.stderr
        assert "divide votes by their number" in run.stderr
    path.write_text("v,s\n0.5,1\n0.2,0\n")
    run = lxcim("evaluate", path, "--label", "v", "--score", "s")
    assert run.returncode == 1
    assert "Are label column 'v' and score column 's' swapped?" in run.stderr


def test_a_third_label_names_both_remedies(tmp_path):
    path = tmp_path / "votes.csv"
    judged().write_csv(path)
    sides = ["--label", "winner", "--score", "s", "--positive", "A", "--negative", "B"]
    run = lxcim("evaluate", path, *sides)
    assert run.returncode == 1
    assert "Pass --ties omit to leave such rows out, or --ties half to count them as draws" in (
        run.stderr
    )
