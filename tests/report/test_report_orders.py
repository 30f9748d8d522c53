"""The section about both orders: its numbers are those of ``frames.orders``."""

import numpy as np
import pytest
import report_pages as pages

pytest.importorskip("jinja2")
pd = pytest.importorskip("pandas")

from lxcim_xp import frames, report  # noqa: E402


def judged(n=80, bias=0.5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    return pd.DataFrame(
        {
            "a_is_better": (truth > 0).astype(int),
            "ab": (truth + bias + rng.normal(0, 0.5, n)).round(2),
            "ba": (-truth + bias + rng.normal(0, 0.5, n)).round(2),
            "c": np.arange(n) // 4,
            "w": rng.integers(1, 4, n).astype(float),
        }
    )


@pytest.mark.parametrize("drawn", [{}, {"groups": "c"}, {"weight": "w"}])
@pytest.mark.parametrize("label", ["a_is_better", None])
def test_every_number_is_that_of_the_frame(drawn, label):
    table = judged()
    page = report.html(table, label=label, scores="ab", swapped="ba", **drawn)
    root = pages.read(page)
    wanted = frames.orders(table, label=label, first="ab", swapped="ba", **drawn).iloc[0]
    names = ["flip_rate", "preference", "effect"]
    if label is not None:
        names += ["once", "centring", "second_call", "both", "total"]
    for name in names:
        assert root.value(f"orders-{name}") == pytest.approx(wanted[name])
        if f"{name}_low" in wanted:
            assert root.value(f"orders-{name}-low") == pytest.approx(wanted[f"{name}_low"])
            assert root.value(f"orders-{name}-high") == pytest.approx(wanted[f"{name}_high"])
    assert f"In {int(wanted['flips'])} of 80 pairs the judge contradicts itself." in page
    assert ("one call, in random order" in page) == (label is not None)


@pytest.mark.parametrize("drawn", [{}, {"groups": "c", "weight": "w", "nan_policy": "omit"}])
def test_the_call_on_the_page_gives_its_numbers(drawn):
    table = judged()
    given = {"label": "a_is_better", "level": 0.9, "threshold": 0.25} | drawn
    root = pages.read(report.html(table, scores="ab", swapped="ba", **given))
    names = {"frame": table}
    exec(root.one(id="calls").text, names)
    assert root.value("orders-total-low") == pytest.approx(names["orders"]["total_low"][0])


def test_without_the_other_order_there_is_no_such_section():
    page = report.html(judged(), label="a_is_better", scores="ab")
    assert "Both orders" not in page


def test_a_judge_that_never_flips():
    table = judged()
    table["ba"] = -table["ab"]
    page = report.html(table, label="a_is_better", scores="ab", swapped="ba")
    assert "chose the same answer in both orders of all 80 pairs" in page


def test_two_judges_have_no_common_other_order():
    table = judged().assign(other=1.0)
    with pytest.raises(ValueError, match=r"swapped='ba' is the other order of one judge"):
        report.html(table, label="a_is_better", scores=["ab", "other"], swapped="ba")
    with pytest.raises(ValueError, match="'bb' is not a column"):
        report.html(table, label="a_is_better", scores="ab", swapped="bb")
