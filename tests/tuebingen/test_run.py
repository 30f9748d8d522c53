"""The command of the experiment: what it asks, writes and says, also when it is stopped."""

import contextlib
import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

for library in ("jax", "matplotlib", "pyvinecopulib", "rich", "scipy"):
    pytest.importorskip(library)

pytestmark = pytest.mark.xdist_group("run")  # one worker, which makes the first run once
SCRIPT = Path(__file__).parents[2] / "examples" / "tuebingen" / "run.py"
OWN = """
import os
import time
import numpy as np


def spread(x, y):
    x -= x.mean()  # it may write to what it gets
    return np.array([np.std(x) - np.std(y)])


def moody(x, y):
    if len(x) > 1000:
        raise RuntimeError("too long for me")
    return float("nan") if len(x) == 109 else 1.0


def deadly(x, y):
    os._exit(1)


def slow(x, y):
    time.sleep(0.15)
    return float(len(x))
"""


def run(*arguments, check=True, script=SCRIPT, **options):
    command = [sys.executable, "-W", "error", str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if check:
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    return done


def rows(file):
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    file = tmp_path_factory.mktemp("own") / "mine.py"
    file.write_text(OWN)
    return file


@pytest.fixture(scope="module")
def first_run(own, pairs, tmp_path_factory):
    """Return the folder and the output of one run with two of the sixteen and two others."""
    out = tmp_path_factory.mktemp("first") / "new"
    methods = ("reci", "IGCI", f"{own}:moody", f"{own}:spread")
    return out, run("--methods", *methods, "-o", out).stdout


def test_a_run_writes_scores_reasons_table_comparisons_and_figures(first_run, pairs):
    out, printed = first_run
    figures = {f"the_papers_figures_{number}.svg" for number in (1, 2, 3, 6, 7)}
    assert {path.name for path in out.iterdir()} == figures | {
        "scores.csv",
        "no_answer.csv",
        "settings.json",
        "table.md",
        "comparisons.csv",
        "contributions.svg",
        "convergence.svg",
    }
    assert (out / "table.md").read_text().strip() in printed
    scores = rows(out / "scores.csv")
    assert len(scores) == 4 * len(pairs)
    assert {row["method"] for row in scores} == {"RECI", "IGCI", "moody", "spread"}


def test_the_methods_scores_are_in_the_file(first_run, pairs):
    from methods import METHODS

    out, _ = first_run
    stored = {(row["method"], int(row["pair"])): row["score"] for row in rows(out / "scores.csv")}
    for pair in pairs[:5]:
        assert float(stored["IGCI", pair.number]) == METHODS["IGCI"](pair.x, pair.y)
        assert float(stored["spread", pair.number]) == pytest.approx(pair.x.std() - pair.y.std())


def test_a_method_that_raises_gives_no_answer_and_its_reason(first_run, pairs):
    out, _ = first_run
    reasons = {
        (row["method"], int(row["pair"])): row["reason"] for row in rows(out / "no_answer.csv")
    }
    size = {pair.number: pair.x.size for pair in pairs}
    assert {number for method, number in reasons if method == "moody"} == {
        number for number in size if size[number] > 1000 or size[number] == 109
    }
    for (method, number), reason in reasons.items():
        if method == "moody":
            expected = "Error: too long" if size[number] > 1000 else "not a finite number"
            assert expected in reason


def test_a_second_run_asks_nothing_and_again_asks_the_method(first_run, own):
    out, _ = first_run
    before = (out / "scores.csv").read_bytes()
    again = run("--methods", "IGCI", f"{own}:moody", "-o", out, "--no-figures").stdout
    assert "198 answers are there" in again
    assert (out / "scores.csv").read_bytes() == before
    own.write_text(OWN.replace("else 1.0", "else 2.5"))
    run("--methods", f"{own}:moody", "-o", out, "--again", "--no-figures")
    own.write_text(OWN)
    moody = {row["score"] for row in rows(out / "scores.csv") if row["method"] == "moody"}
    assert moody == {"", "2.5"}
    others = [row for row in rows(out / "scores.csv") if row["method"] != "moody"]
    assert len(others) == 3 * 99


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on_where_it_was(own, pairs, tmp_path, sign):
    options = ("--methods", f"{own}:slow", "--processes", "2", "--no-figures", "-o", tmp_path)
    command = [sys.executable, SCRIPT, *options]
    file = tmp_path / "scores.csv"
    running = subprocess.Popen(command, text=True, stdout=-1, stderr=-1, start_new_session=True)
    try:
        end = time.monotonic() + 120
        while not file.exists() and time.monotonic() < end and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(sign)
        # The pipes are open as long as a process of the pool is there.
        _, said = running.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    there = rows(file)
    assert 0 < len(there) < len(pairs)
    assert all(row["score"] for row in there)
    if sign == signal.SIGINT:
        assert running.returncode == 130
        assert "goes on from here" in said
        assert {path.name for path in tmp_path.iterdir()} == {
            "scores.csv",
            "no_answer.csv",
            "settings.json",
        }
    done = run(*options)
    assert f"{len(there)} answers are there" in done.stdout
    scores = {int(row["pair"]): float(row["score"]) for row in rows(file)}
    assert scores == {pair.number: pair.x.size for pair in pairs}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--methods", "SLOP"), "no method 'SLOP'. Choose from ANM"),
        (("--methods", "nowhere.py:f"), "no file 'nowhere.py'"),
        (("--pairs", "nowhere"), "pairmeta.txt"),
        (("--scores", "nowhere.csv"), "nowhere.csv"),
        (("--processes", "0"), "--processes must be 1 or more; found 0"),
        (("--scores", "nowhere.csv", "--methods", "SLOPE"), "--methods is about asking methods"),
    ],
)
def test_a_mistake_is_one_sentence_and_writes_nothing(tmp_path, arguments, says):
    done = run(*arguments, "-o", tmp_path / "out", check=False)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_a_process_that_dies_does_not_leave_the_run_waiting(own, tmp_path):
    done = run("--methods", f"{own}:deadly", "-o", tmp_path, check=False, timeout=120)
    assert done.returncode == 1
    assert "A process died" in done.stderr
    assert "Traceback" not in done.stderr


def test_scores_of_others_are_evaluated_as_they_are(tmp_path):
    lines = [f"theirs,{number},{(-1) ** (number % 3 == 0) * number},0.5" for number in range(1, 40)]
    (tmp_path / "theirs.csv").write_text("\n".join(["method,pair,score,weight", *lines]) + "\n")
    printed = run("--scores", tmp_path / "theirs.csv", "-o", tmp_path / "out", "--no-figures")
    assert "theirs" in printed.stdout
    assert (tmp_path / "out" / "table.md").exists()
    assert not (tmp_path / "out" / "scores.csv").exists()


def test_a_method_without_any_answer_is_named_and_draws_nothing(tmp_path):
    lines = [
        f"{method},{number},{score},1"
        for number in range(1, 9)
        for method, score in (("sure", number), ("silent", "NA"), ("unsure", -1 / number))
    ]
    file = tmp_path / "theirs.csv"
    file.write_text("\n".join(["method,pair,score,weight", *lines]) + "\n", encoding="utf-8-sig")
    printed = run("--scores", file, "-o", tmp_path / "out").stdout
    assert "silent has no row, as it answered no pair." in printed
    assert "n =    20" not in printed  # what the gallery's figures print
    shown = (tmp_path / "out" / "the_papers_figures_6.svg").read_text()
    assert "sure (100.0)" in shown
    assert "silent" not in shown


def test_scores_without_any_answer_are_an_error(tmp_path):
    (tmp_path / "theirs.csv").write_text("method,pair,score,weight\ntheirs,1,,1\n")
    done = run("--scores", tmp_path / "theirs.csv", "-o", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert "has no answers" in done.stderr


def test_the_audit_says_which_answers_depend_on_what_they_should_not(own, pairs, tmp_path):
    methods = ("igci", f"{own}:moody", f"{own}:spread")
    audit, file = SCRIPT.parent / "audit.py", tmp_path / "audit.md"
    table = run("--methods", *methods, "-o", file, script=audit).stdout
    heading, _, *lines = ([cell.strip() for cell in line.split("|")] for line in table.splitlines())
    laws = heading[3:-1]
    found = {row[1]: dict(zip(laws, row[3:-1], strict=True)) for row in lines}
    assert found["IGCI"] == dict.fromkeys(laws, "yes")
    assert "100 % right as stored, 50 % in a random orientation" in found["moody"]["orientation"]
    silent = sum(pair.x.size > 1000 or pair.x.size == 109 for pair in pairs)
    assert found["moody"]["answer"].startswith(f"{silent} of 99 pairs")
    assert found["spread"]["affine"].startswith("99 of 99 pairs")
    assert found["spread"]["antisymmetry"] == found["spread"]["permutation"] == "yes"
    text = file.read_text()
    assert text.startswith(table.strip())
    assert "## moody" in text
    assert "\n  x = [" in text  # the smallest counter-examples


def test_the_audit_names_a_method_that_is_not_there():
    done = run("--methods", "SLOP", script=SCRIPT.parent / "audit.py", check=False)
    assert done.returncode == 1
    assert "no method 'SLOP'" in done.stderr
