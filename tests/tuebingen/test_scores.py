"""The file of scores and the table that is made of it."""

import math
import os
import runpy
from pathlib import Path

import numpy as np
import pytest
from data import source_of
from published import PUBLISHED
from scores import Book, as_arrays, read_answers, write_rows
from table import TREATMENTS, compare, comparison_text, evaluate, table_text, tiers

import lxcim_xp as lx

HEAD = "method,pair,score,weight\n"


def test_an_answer_survives_the_file_to_the_last_bit(tmp_path):
    book = Book(tmp_path, {1: 1 / 6, 7: 0.0}, {"mode": "paper"})
    book.note("A", 7, 0.1 + 0.2)
    book.note("A", 1, math.nan, "x is constant.")
    book.note("B", 1, -1e-300)
    book.save()
    weights, answers = read_answers(tmp_path / "scores.csv")
    assert weights == {1: 1 / 6, 7: 0.0}
    assert answers["A"][7] == 0.1 + 0.2
    assert math.isnan(answers["A"][1])
    assert answers["B"] == {1: -1e-300}
    assert (tmp_path / "no_answer.csv").read_text() == "method,pair,reason\nA,1,x is constant.\n"


def test_an_opened_book_knows_what_the_closed_one_knew(tmp_path):
    weights, settings = {1: 1.0, 2: 1.0}, {"mode": "paper"}
    book = Book(tmp_path, weights, settings)
    book.note("A", 1, 2.0)
    book.note("B", 1, math.nan, "why")
    book.save()
    again = Book(tmp_path, weights, settings)
    assert again.knows("A", 1)
    assert again.knows("B", 1)
    assert not again.knows("A", 2)
    again.forget(["B"])
    assert not again.knows("B", 1)
    again.save()
    assert read_answers(again.file)[1] == {"A": {1: 2.0}}
    assert "why" not in (tmp_path / "no_answer.csv").read_text()


def test_scores_of_other_settings_are_not_mixed_in(tmp_path):
    book = Book(tmp_path, {1: 1.0}, {"mode": "paper"})
    book.note("A", 1, 2.0)
    book.save()
    before = book.file.read_bytes()
    with pytest.raises(ValueError, match="other settings"):
        Book(tmp_path, {1: 1.0}, {"mode": "clean"})
    assert book.file.read_bytes() == before


def test_a_file_that_cannot_be_written_stays_what_it_was(tmp_path):
    file = tmp_path / "scores.csv"
    write_rows(file, ["a"], [(1,)])

    def broken():
        yield (2,)
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_rows(file, ["a"], broken())
    assert file.read_text() == "a\n1\n"
    assert os.listdir(tmp_path) == ["scores.csv"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("method,pair,score\nA,1,2\n", "no column 'weight'"),
        (HEAD, "has no rows"),
        (HEAD + "A,one,2,1\n", "line 2: .*one"),
        (HEAD + "A,1,2,1\nA,2,two,1\n", "line 3: .*two"),
        (HEAD + "A,1,2\n", "line 2"),
        (HEAD + "A,1,2,-1\n", "line 2: weight -1.0 is not allowed"),
        (HEAD + "A,1,2,nan\n", "line 2: weight nan is not allowed"),
        (HEAD + "A,1,2,1\nB,1,2,.5\n", "line 3: pair 1 has weight 0.5 here and 1.0 above"),
        (HEAD + "A,1,2,1\nA,1,3,1\n", "line 3: A answers pair 1 a second time"),
    ],
)
def test_a_wrong_file_of_scores_is_named_with_its_line(tmp_path, text, says):
    (tmp_path / "scores.csv").write_text(text)
    with pytest.raises(ValueError, match=says):
        read_answers(tmp_path / "scores.csv")


@pytest.fixture
def scores():
    """Return the scores of three methods on 40 pairs; the last one answers half of them."""
    rng = np.random.default_rng(5)
    weights = {number: 0.5 if number % 4 else 0.0 for number in range(1, 41)}
    answers = {
        "good": {number: rng.normal(1) for number in weights},
        "bad": {number: rng.normal(-1) for number in weights},
        "rare": {number: rng.normal(1) for number in range(1, 21)},
    }
    return as_arrays(weights, answers)


def test_pairs_without_weight_count_for_nobody(scores):
    assert scores.numbers == tuple(number for number in range(1, 41) if number % 4)
    rare = scores.by_method["rare"]
    assert np.isnan(rare).tolist() == [number > 20 for number in scores.numbers]


def test_the_table_has_what_the_library_says_of_each_method(scores):
    rows = {row.method: row for row in evaluate(scores)}
    assert list(rows) == ["good", "rare", "bad"]
    score = scores.by_method["rare"]
    there = ~np.isnan(score)
    sources = np.array([source_of(number) for number in scores.numbers])
    for metric in ("lxcim", "accuracy", "audrc"):
        found = getattr(rows["rare"], metric)
        assert found == lx.interval(
            1,
            score[there],
            metric=metric,
            sample_weight=scores.weights[there],
            groups=sources[there],
        )
    assert rows["rare"].answered == there.sum()
    assert rows["rare"].coverage == pytest.approx(0.5)
    undecided = np.where(there, score, 0)
    assert rows["rare"].undecided == pytest.approx(
        float(lx.lxcim(1, undecided, sample_weight=scores.weights))
    )
    # The naming moves AUROC around LxCIM, by a bias of the order of 1/n.
    for row in rows.values():
        assert row.auroc.mean == pytest.approx(float(row.lxcim.estimate), abs=0.02)
        assert row.auroc.std > 0


def test_a_method_without_any_answer_has_no_row(scores):
    silent = scores._replace(
        by_method={**scores.by_method, "silent": np.full(len(scores.numbers), math.nan)}
    )
    assert "silent" not in [row.method for row in evaluate(silent)]
    assert "silent" not in compare(silent, "omit").names


@pytest.mark.parametrize("pairs", [[1], [1, 2, 3]])
def test_answers_about_one_source_only_have_a_row_without_intervals(scores, pairs):
    few = np.where(np.isin(scores.numbers, pairs), 1.0, math.nan)
    rows = evaluate(scores._replace(by_method={"few": few, **scores.by_method}))
    (row,) = (row for row in rows if row.method == "few")
    assert row.lxcim.estimate == 1
    assert np.isnan([row.lxcim.low, row.accuracy.high, row.audrc.standard_error]).all()
    text = table_text(rows, {row.method: 1 for row in rows})
    assert "100.0 [nan, nan]" in text
    assert ("undefined" in text) == (len(pairs) == 1)


def test_missing_answers_are_treated_in_both_ways(scores):
    samples = {treatment: int(compare(scores, treatment).samples) for treatment in TREATMENTS}
    assert samples == {"omit": 15, "abstain": 30}


def test_nobody_in_a_tier_is_shown_to_beat_another(scores):
    found = compare(scores, "abstain")
    order = tiers(found)
    assert order[0][0] == "good"
    assert order[-1] == ["bad"]
    assert sorted(name for tier in order for name in tier) == ["bad", "good", "rare"]
    place = {name: found.names.index(name) for name in found.names}
    for tier in order:
        for a in tier:
            for b in tier:
                p = found.adjusted_p_value[place[a], place[b]]
                better = found.difference[place[a], place[b]] > 0
                assert not (better and p < 0.05)
    assert "good is better than bad by" in comparison_text(found)


def test_the_text_says_percent_and_the_papers_number(scores):
    renamed = scores._replace(by_method={"SLOPE": scores.by_method["good"]})
    (row,) = evaluate(renamed)
    text = table_text([row], {"SLOPE": 1})
    assert f"{100 * row.lxcim.estimate:.1f} [" in text
    assert f"({PUBLISHED['SLOPE'].lxcim})" in text
    low, high = np.quantile(100 * row.auroc.values, [0.025, 0.975])
    spread = f"{100 * row.auroc.mean:.1f} ± {100 * row.auroc.std:.1f} [{low:.0f}, {high:.0f}]"
    assert f"{spread} ({PUBLISHED['SLOPE'].auroc})" in text
    assert len({line.index("| SLOPE") for line in text.splitlines() if "SLOPE" in line}) == 1
    assert len({len(line) for line in text.splitlines()}) == 1


def test_the_papers_scores_give_the_papers_table(published_file):
    rows = {row.method: row for row in evaluate(as_arrays(*read_answers(published_file)))}
    assert set(rows) == set(PUBLISHED)
    for method, row in rows.items():
        for metric in ("lxcim", "accuracy", "audrc"):
            found = round(100 * float(getattr(row, metric).estimate), 1)
            assert found == getattr(PUBLISHED[method], metric), (method, metric)
        # The paper's AUROC is one draw.
        spread = row.auroc
        assert abs(PUBLISHED[method].auroc / 100 - spread.mean) < 4 * spread.std


def test_the_page_shows_the_table_of_the_scores_that_are_here():
    root = Path(__file__).parents[2]
    scores = as_arrays(*read_answers(root / "examples" / "tuebingen" / "scores.csv"))
    assert set(scores.by_method) == set(PUBLISHED)
    page = (root / "docs" / "tuebingen.md").read_text(encoding="utf-8")
    found = {treatment: compare(scores, treatment) for treatment in TREATMENTS}
    tier_of = {
        method: place for place, tier in enumerate(tiers(found["abstain"]), 1) for method in tier
    }
    for line in table_text(evaluate(scores), tier_of).splitlines():
        assert line in page
    for table in found.values():
        for line in comparison_text(table).splitlines():
            assert line.strip() in page


# LxCIM on these 99 pairs of the scores behind the paper's table, and how near ours have to come.
# CGNN's is a draw of a network's noise: three standard deviations of ours over ten seeds.
TARGETS = {
    **{"IGCI": (70.0, 0.1), "RECI": (78.5, 0.1), "CDS": (66.5, 0.1), "CDCI": (66.3, 0.1)},
    **{"NNCL": (63.8, 0.1), "HECI": (73.4, 0.1), "SLOPE": (79.8, 0.1), "LCUBE": (70.0, 0.1)},
    **{"SLOPPY": (78.3, 1.0), "ROCHE": (62.4, 1.0), "bQCD": (72.0, 1.5), "FOM": (50.5, 0.5)},
    **{"CAM": (47.0, 1.5), "LOCI": (62.4, 4.0), "CGNN": (56.5, 13.0)},
}


@pytest.mark.parametrize("method", TARGETS)
def test_the_scores_that_are_here_reach_the_papers_row(method):
    file = Path(__file__).parents[2] / "examples" / "tuebingen" / "scores.csv"
    scores = as_arrays(*read_answers(file))
    found = lx.lxcim(
        1, scores.by_method[method], sample_weight=scores.weights, threshold=0.0, nan_policy="omit"
    )
    target, near = TARGETS[method]
    assert abs(100 * found - target) < near + 0.05  # the target is rounded


def test_the_figures_show_what_the_table_says(scores, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from lxcim_xp import plots

    saved = {}
    monkeypatch.setattr(plots, "save", lambda ax, path: saved.update({path.stem[-1]: ax.figure}))
    file = tmp_path / "scores.csv"
    answers = {**scores.by_method, "silent": np.full(len(scores.numbers), math.nan)}
    rows = (
        (method, number, "NA" if math.isnan(score) else repr(float(score)), weight)
        for method, values in answers.items()
        for number, score, weight in zip(scores.numbers, values, scores.weights, strict=True)
    )
    write_rows(file, HEAD.strip().split(","), rows)
    script = Path(__file__).parents[2] / "examples" / "the_papers_figures.py"
    monkeypatch.setattr("sys.argv", [str(script), str(tmp_path), str(file)])
    runpy.run_path(str(script))
    assert sorted(saved) == ["1", "2", "3", "6", "7"]
    table = evaluate(scores)
    intervals = [line for found in saved["6"].axes[1].collections for line in found.get_segments()]
    for place, (row, line) in enumerate(zip(table, intervals, strict=True)):
        low, high = 100 * row.lxcim.low, 100 * row.lxcim.high
        np.testing.assert_allclose(line, [[low, place], [high, place]])
    styles = [
        {line.get_label().split()[0]: line.get_color() for line in ax.lines}
        for ax in (*saved["7"].axes, saved["6"].axes[0])
    ]
    assert list(styles[0])[:3] == [row.method for row in table]
    assert styles[0] == styles[1] == styles[2]


def test_the_page_says_what_reproduces(published_file):
    root = Path(__file__).parents[2]
    page = (root / "docs" / "tuebingen.md").read_text(encoding="utf-8")
    ours, papers = (
        as_arrays(*read_answers(file))
        for file in (root / "examples" / "tuebingen" / "scores.csv", published_file)
    )
    here = np.isin(papers.numbers, ours.numbers)
    words = ["no sign differs", "one sign differs", "two signs differ"]
    for method, score in ours.by_method.items():
        theirs = papers.by_method[method][here]
        row = [
            100 * lx.lxcim(1, s, sample_weight=ours.weights, threshold=0.0, nan_policy="omit")
            for s in (theirs, score)
        ]
        (line,) = (x for x in page.splitlines() if x.startswith(f"| {method} | {row[0]:.1f} |"))
        assert f"| {row[0]:.1f} | {row[1]:.1f} |" in line
        if "nine digits" in line:
            np.testing.assert_allclose(score, theirs, rtol=1e-9)
        elif "sign" in line:
            assert words[int((score * theirs < 0).sum())] in line
