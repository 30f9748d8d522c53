"""``lxcim orders``: the numbers of ``frames.orders``, of files with a row for each pair or call."""

import json

import numpy as np
import pytest
from commands import found, here, lxcim, pl

from lxcim_xp import frames
from lxcim_xp.cli.demo import judge

WIDE = ("--first", "a_first", "--swapped", "b_first")
LONG = ("--pair", "question", "--order", "swapped", "--score", "s")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("orders")
    (folder / "judge.csv").write_bytes(judge())
    rows = table()
    rows.write_parquet(folder / "judge.parquet")
    calls = long_rows(rows)
    calls.write_ndjson(folder / "calls.jsonl")
    calls.write_csv(folder / "calls.csv")
    return folder


def table():
    rows = pl.read_csv(judge())
    return rows.with_columns(topic=pl.col("question") % 3, cluster=pl.col("question") // 5)


def long_rows(rows):
    both = [
        rows.drop("a_first", "b_first").with_columns(s=rows[name], swapped=pl.lit(which))
        for which, name in enumerate(("a_first", "b_first"))
    ]
    return pl.concat(both).sample(fraction=1.0, shuffle=True, seed=0)


def same(rows, frame):
    for row, wanted in zip(rows, frame.to_dicts(), strict=True):
        assert row == pytest.approx(wanted, rel=1e-9)


def test_the_numbers_are_those_of_the_frame(folder):
    wanted = frames.orders(table(), first="a_first", swapped="b_first", label="a_is_better")
    label = ("--label", "a_is_better")
    same(found("orders", folder / "judge.csv", *WIDE, *label), wanted)
    for name in ("calls.jsonl", "calls.csv"):
        same(found("orders", folder / name, *LONG, *label), wanted)


def test_every_option_reaches_the_frame(folder):
    wanted = frames.orders(
        table(),
        first="a_first",
        swapped="b_first",
        label="a_is_better",
        by="topic",
        groups="cluster",
        weight="question",
        metric="accuracy",
        level=0.9,
        threshold=0.2,
    )
    options = "--label a_is_better --by topic --groups cluster --weight question --metric accuracy"
    options = f"{options} --interval 0.9 --threshold 0.2"
    same(found("orders", folder / "judge.parquet", *WIDE, *options.split()), wanted)


def test_without_labels_and_with_probabilities(folder, tmp_path):
    rows = table().with_columns(((-pl.col("a_first", "b_first")).exp() + 1).pow(-1))
    rows.write_parquet(tmp_path / "p.parquet")
    (row,) = found("orders", tmp_path / "p.parquet", *WIDE, "--probability")
    (scores,) = found("orders", folder / "judge.parquet", *WIDE)
    assert "once" not in row
    assert (row["flips"], row["p_value"]) == (scores["flips"], scores["p_value"])
    run = lxcim("orders", tmp_path / "p.parquet", *WIDE)
    assert "--probability" in run.stderr


def test_the_table_has_a_line_for_each_quantity(folder, capfd):
    code, out, _ = here(capfd, "orders", folder / "judge.csv", *WIDE, "--label", "a_is_better")
    assert code == 0
    for line in ("flip rate", "123 of 124 (p < 0.0001)", "LxCIM of one call", "of both orders"):
        assert line in out
    rows = ("orders", folder / "judge.parquet", *WIDE, "--by", "topic", "-f", "markdown")
    code, out, _ = here(capfd, *rows)
    assert out.count("| flip rate |") == 3
    code, out, _ = here(capfd, *rows[:-1], "csv")
    assert pl.read_csv(out.encode())["n"].sum() == 400


BAD_USAGE = {
    "one order": ("--first", "a_first"),
    "both forms": (*WIDE, "--score", "a_first"),
    "part of a form": ("--pair", "question", "--order", "a_is_better"),
    "column": ("--first", "a_first", "--swapped", "b_frist"),
    "level": (*WIDE, "--interval", "95"),
    "metric": (*WIDE, "--metric", "accuracy"),
    "positive": (*WIDE, "--positive", "1"),
    "ties": (*WIDE, "--ties", "omit"),
    "threshold": (*WIDE, "--probability", "--threshold", "0.5"),
    "twice": (*WIDE, "--first", "a_first"),
    "key": (*WIDE, "--by", "flips"),
}


@pytest.mark.parametrize("name", BAD_USAGE)
def test_bad_usage_ends_with_2(folder, capfd, name):
    code, out, _ = here(capfd, "orders", folder / "judge.csv", *BAD_USAGE[name])
    assert (code, out) == (2, "")


def test_bad_data_ends_with_1(folder, tmp_path, capfd):
    lines = (folder / "calls.csv").read_text().splitlines()
    for changed, wrong in (
        ([*lines[:-1]], "lack one of the orders: 1 of them"),
        ([*lines, lines[-1]], "two rows of one order: 1 of them"),
        ([lines[0], lines[1].rpartition(",")[0] + ",7", *lines[2:]], "must hold two values"),
    ):
        (tmp_path / "calls.csv").write_text("\n".join(changed) + "\n")
        code, out, told = here(capfd, "orders", tmp_path / "calls.csv", *LONG)
        assert (code, out) == (1, "")
        assert wrong in told
    (tmp_path / "gap.csv").write_text("a_first,b_first\n1,-1\n2,\n3,-3\n")
    code, out, told = here(capfd, "orders", tmp_path / "gap.csv", *WIDE)
    assert (code, out) == (1, "")
    assert "column 'b_first' has a missing value in line 3" in told
    code, out, _ = here(
        capfd, "orders", tmp_path / "gap.csv", *WIDE, "--missing", "omit", "-f", "json"
    )
    assert code == 0
    (row,) = json.loads(out)
    assert (row["n"], row["n_missing"], row["effect"]) == (3, 1, 0)


def test_ids_are_compared_as_written(tmp_path):
    rows = ["id,order,s", "01,a,1", "1,a,2", "01,b,1", "1,b,-2"]
    (tmp_path / "calls.csv").write_text("\n".join(rows) + "\n")
    columns = ("--pair", "id", "--order", "order", "--score", "s")
    (row,) = found("orders", tmp_path / "calls.csv", *columns, "--threshold", "0")
    assert (row["n"], row["flips"], row["effect"]) == (2, 1, 0.5)


def test_a_report_of_both_orders(folder, tmp_path):
    pytest.importorskip("jinja2")
    path = tmp_path / "page.html"
    columns = ("--label", "a_is_better", "--score", "a_first")
    run = lxcim("report", folder / "judge.csv", *columns, "--swapped", "b_first", "-o", path)
    assert run.returncode == 0, run.stderr
    page = path.read_text()
    assert "In 124 of 400 pairs the judge contradicts itself." in page
    assert "--swapped b_first" in page
    run = lxcim("report", folder / "judge.csv", *columns, "--swapped", "b", "-o", path)
    assert run.returncode == 2


def test_the_judge_of_the_demo_is_what_it_is_said_to_be():
    rows = pl.read_csv(judge())
    effect = (rows["a_first"] + rows["b_first"]).to_numpy() / 2
    assert rows.height == 400
    assert abs(effect.mean() - 0.5) < 3 * 0.4 / np.sqrt(2 * 400)
