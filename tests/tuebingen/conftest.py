"""The experiment in examples/tuebingen is a folder of scripts: its tests import them from there."""

import csv
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples" / "tuebingen"))
# What the paper's run stored, if the reader has it beside the checkout: it is not ours to ship.
PUBLISHED_SCORES = ROOT.parent / "shared" / "data" / "tuebingen_scores.csv"


@pytest.fixture(scope="session")
def pairs():
    """Return the 99 pairs of the distribution cdt."""
    from data import load_pairs

    try:
        return load_pairs()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def published_file():
    """Return the file with the paper's score of each method and pair."""
    if not PUBLISHED_SCORES.is_file():
        pytest.skip("the paper's scores are not beside this checkout")
    return PUBLISHED_SCORES


@pytest.fixture(scope="session")
def published(published_file):
    """Return the paper's score of each method and pair; None where it gave no answer."""
    scores = {}
    with published_file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            score = float(row["score"]) if row["score"] else None
            scores[row["method"], int(row["pair"])] = score
    return scores
