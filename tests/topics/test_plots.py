"""Figures: what they draw, not their pixels. Each of the paper's figures 1 to 7 can be drawn."""

import io
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.figure import Figure

import lxcim_xp as lx
from lxcim_xp import plots
from lxcim_xp.choices import order_curve, order_decomposition

RNG = np.random.default_rng(5)
LABEL = RNG.integers(0, 2, 60)
SCORE = np.round(RNG.standard_normal(60) + LABEL - 0.5, 1)
WEIGHT = RNG.random(60)
OTHER = np.round(RNG.standard_normal(60), 1)
CASES = {
    "cumulative_accuracy": (plots.cumulative_accuracy, lx.cumulative_accuracy_curve, lx.lxcim),
    "accuracy_rate": (plots.accuracy_rate, lx.accuracy_rate_curve, lx.audrc),
    "roc": (plots.roc, lx.roc_curve, lx.auroc),
    "symmetric_roc": (plots.symmetric_roc, lx.symmetric_roc_curve, lx.lxcim),
}
each_kind = pytest.mark.parametrize(("draw", "make", "metric"), CASES.values(), ids=CASES)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax):
    """Return the lines of methods, without baselines."""
    return [line.get_xydata() for line in ax.lines if line.get_gid() == "lxcim_xp curve"]


def band_at(ax, rate):
    """Return the lower and upper edge of the first band."""
    vertices = ax.collections[0].get_paths()[0].vertices
    heights = vertices[np.isclose(vertices[:, 0], rate), 1]
    return heights.min(), heights.max()


@pytest.fixture(autouse=True)
def every_figure_renders_and_no_setting_changes(monkeypatch):
    made, original, settings = [], Figure.__init__, dict(mpl.rcParams)

    def recorded(self, *args, **options):
        made.append(self)
        original(self, *args, **options)

    monkeypatch.setattr(Figure, "__init__", recorded)
    yield
    for figure in made:
        figure.savefig(io.BytesIO(), format="png", dpi=40)
    assert dict(mpl.rcParams) == settings


@each_kind
def test_the_line_is_the_curve_and_the_legend_has_the_metric(draw, make, metric):
    options = {"sample_weight": WEIGHT, "threshold": 0.1}
    curve = make(LABEL, SCORE, **options)
    value = 100 * metric(LABEL, SCORE, **options)
    from_samples = draw(LABEL, SCORE, label="mine", **options)
    from_curve = draw(curve, label="mine")
    for ax in (from_samples, from_curve):
        (line,) = drawn(ax)
        points = np.stack(curve[:2], axis=-1)
        moved = np.any(np.diff(points, axis=0, prepend=-1) != 0, axis=1)
        np.testing.assert_array_equal(line, points[moved])
        assert legend(ax)[0] == f"mine ({value:.1f})"


@each_kind
def test_many_methods_have_a_colour_and_a_name_each(draw, make, metric):
    methods = {f"method {k}": SCORE + k * OTHER for k in range(9)}
    ax = draw(LABEL, methods)
    assert len(drawn(ax)) == 9
    assert legend(ax)[8] == f"method 8 ({100 * metric(LABEL, methods['method 8']):.1f})"
    styles = {(line.get_color(), line.get_linestyle()) for line in ax.lines[:9]}
    assert len(styles) == 9
    curves = {name: make(LABEL, score) for name, score in methods.items()}
    for one, other in zip(drawn(ax), drawn(draw(curves)), strict=True):
        np.testing.assert_array_equal(one, other)


@each_kind
def test_a_batch_is_drawn_as_its_mean_with_a_band_of_its_entries(draw, make, metric):
    scores = RNG.standard_normal((50, 60)) + LABEL
    ax = draw(np.broadcast_to(LABEL, scores.shape), scores, label="seeds", band=0.9)
    curve = make(LABEL, scores)
    (line,) = drawn(ax)
    heights = lx.interpolate(curve, line[:, 0])
    np.testing.assert_allclose(line[:, 1], heights.mean(axis=0))
    np.testing.assert_allclose(
        band_at(ax, 0.5), np.quantile(lx.interpolate(curve, 0.5), [0.05, 0.95])
    )
    assert legend(ax)[0] == f"seeds ({100 * metric(LABEL, scores).mean():.1f})"


@each_kind
def test_the_band_of_one_method_is_that_of_bootstrap_resamples(draw, make, metric):
    ax = draw(LABEL, SCORE, band=0.95, sample_weight=WEIGHT)
    low, high = band_at(ax, 0.5)
    at = lx.interpolate(make(LABEL, SCORE, sample_weight=WEIGHT), 0.5)
    assert low < at < high
    assert 0.02 < high - low < 0.4
    again = draw(LABEL, SCORE, band=0.95, sample_weight=WEIGHT)
    assert band_at(again, 0.5) == (low, high)


@each_kind
def test_labels_are_set_unless_there_are_some(draw, make, metric):
    ax = Figure().add_subplot()
    ax.set_ylabel("mine")
    assert draw(LABEL, SCORE, ax=ax) is ax
    assert ax.get_ylabel() == "mine"
    assert ax.get_xlabel() in ("Decision rate", "False positive rate")
    draw(LABEL, OTHER, ax=ax, label="second")
    first, second = (line for line in ax.lines if line.get_gid() == "lxcim_xp curve")
    assert first.get_color() != second.get_color()
    assert legend(ax).count("coin") == 1


NAMES = [
    "_private",
    "__s",
    "_",
    " _ after a space",
    "$x$",
    "$5",
    "a $ b $ c",
    r"\$",
    r"\alpha_1^2",
    "50 %",
    "$_$",
    "{",
    "a_b",
    "coin",
    "ideal",
    "a & b #1~^",
]


@each_kind
def test_names_are_shown_as_they_are(draw, make, metric):
    ax = draw(LABEL, dict.fromkeys(NAMES, SCORE))
    value = f"{100 * metric(LABEL, SCORE):.1f}"
    assert legend(ax)[: len(NAMES)] == [f"{name} ({value})" for name in NAMES]
    assert legend(ax)[len(NAMES) :].count("coin") == 1
    for text in ax.get_legend().get_texts()[: len(NAMES)]:
        assert not text.get_parse_math()
        assert not text.get_usetex()
    ax = draw(LABEL, SCORE, label=NAMES[0])
    draw(LABEL, SCORE, label=NAMES[4], ax=ax)  # one by one, as a command draws them
    assert {f"{name} ({value})" for name in (NAMES[0], NAMES[4])} < set(legend(ax))


@pytest.mark.parametrize("name", NAMES)
def test_one_name_is_shown_as_it_is(name):
    ax = plots.local_accuracy(LABEL, SCORE, label=name)
    assert legend(ax)[0] == name
    assert legend(ax)[2] == "coin"
    for ax in (plots.comparison(LABEL, {name: SCORE}), _differences(name)):
        shown = [*ax.get_xticklabels(), *ax.get_yticklabels()]
        found = [text for text in shown if text.get_text().startswith(name)]
        assert found
        ax.get_figure().draw_without_rendering()  # which writes labels anew
        assert not any(text.get_parse_math() or text.get_usetex() for text in found)


def _differences(name):
    return plots.differences(lx.compare_all(LABEL, {name: SCORE, "other one": OTHER}))


def test_a_name_looks_like_itself():
    """Draw text as SVG text: what a reader sees has every character of the name and no other."""
    with mpl.rc_context({"svg.fonttype": "none"}):
        file = io.BytesIO()
        ax = plots.roc(LABEL, dict.fromkeys(["_a", "$x^2$", r"\$"], SCORE))
        ax.get_figure().savefig(file, format="svg")
    written = file.getvalue().decode()
    for name in ("_a", "$x^2$", r"\$"):
        assert f">{name} ({100 * lx.auroc(LABEL, SCORE):.1f})</text>" in written


def test_labels_of_the_callers_own_lines_stay_tex():
    ax = Figure().add_subplot()
    ax.plot([0, 1], [0, 1], label=r"$\alpha$")
    plots.roc(LABEL, SCORE, ax=ax, label="$a$")
    own, ours = ax.get_legend().get_texts()[:2]
    assert own.get_parse_math()
    assert not ours.get_parse_math()


@each_kind
@pytest.mark.parametrize("ylabel", ["mine", "Accuracy", "Cumulative accuracy"])
def test_the_metric_of_a_nameless_curve_does_not_depend_on_the_axis_label(
    draw, make, metric, ylabel
):
    ax = Figure().add_subplot()
    ax.set_ylabel(ylabel)
    draw(LABEL, SCORE, ax=ax)
    name = {lx.lxcim: "LxCIM", lx.audrc: "AUDRC", lx.auroc: "AUROC"}[metric]
    assert legend(ax)[0] == f"{name} {100 * metric(LABEL, SCORE):.1f}"


def test_figure_1_has_curve_baselines_and_a_strip_of_correctness():
    margins = np.asarray([4.0, -3.0, 2.0, 1.0, -1.0])
    ax = plots.cumulative_accuracy(1, margins, label="mine", correctness=True)
    assert legend(ax) == ["mine (64.0)", "ideal", "coin", "right", "wrong"]
    ideal, coin = ax.lines[1:3]
    assert ideal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert coin.get_xydata().tolist() == [[0, 0], [1, 0.5]]
    (strip,) = [c for c in ax.collections if c.get_array() is not None]
    np.testing.assert_allclose(np.ravel(strip.get_array()), [1, 0, 1, 0.5], atol=1e-12)
    np.testing.assert_allclose(strip.get_coordinates()[0, :, 0], [0, 0.2, 0.4, 0.6, 1])
    many = plots.cumulative_accuracy(1, RNG.standard_normal(5000), correctness=True)
    (strip,) = [c for c in many.collections if c.get_array() is not None]
    assert np.size(strip.get_array()) == 400


def test_figure_2_has_the_two_areas_of_the_decomposition():
    ax = plots.symmetric_roc(LABEL, SCORE, sample_weight=WEIGHT)
    parts = lx.decomposition(LABEL, SCORE, sample_weight=WEIGHT)
    (square,) = ax.patches
    assert np.isclose(square.get_width() * square.get_height(), parts.accuracy**2)
    assert np.isclose(square.get_x(), 1 - parts.accuracy)
    vertices = ax.collections[0].get_paths()[0].vertices
    x, y = vertices[:-1].T
    area = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
    assert np.isclose(area, 2 * parts.half_area)
    crossing = next(line for line in ax.lines if line.get_marker() == "o").get_xydata()
    np.testing.assert_allclose(crossing, [[1 - parts.accuracy, parts.accuracy]])
    assert f"ACC² = {parts.accuracy**2:.3f}" in legend(ax)
    assert f"2H = {2 * parts.half_area:.3f}" in legend(ax)
    assert "axis of symmetry" in legend(ax)


def test_figure_3_has_both_curves_in_one_axes():
    ax = plots.cumulative_accuracy(LABEL, SCORE, label="LxCIM", correctness=True)
    plots.accuracy_rate(LABEL, SCORE, ax=ax, label="AUDRC", baselines=False)
    names = legend(ax)
    assert f"LxCIM ({100 * lx.lxcim(LABEL, SCORE):.1f})" in names
    assert f"AUDRC ({100 * lx.audrc(LABEL, SCORE):.1f})" in names
    assert ax.get_ylim()[0] < -0.09  # the strip stays in view


@pytest.mark.parametrize("metric", ["lxcim", "audrc"])
@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
def test_figure_4_has_a_layer_as_large_as_each_share(metric, weighted):
    margins = np.asarray([3.0, -2.0, 2.0, 2.0, 1.0, 0.0, -0.5])
    weight = np.asarray([1.0, 2.0, 1.0, 0.5, 0.0, 1.0, 1.0]) if weighted else None
    ax = plots.contributions(1, margins, metric=metric, sample_weight=weight)
    shares = lx.contributions(1, margins, metric=metric, sample_weight=weight)
    areas = []
    for artist in ax.collections if metric == "lxcim" else ax.patches:
        if metric == "lxcim":
            x, y = artist.get_paths()[0].vertices[:-1].T
            areas.append(abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)))
        else:
            high, edges, low = artist.get_data()
            areas.append(np.sum((high - low) * np.diff(edges)))
    present = np.ones(7, bool) if weight is None else weight > 0
    np.testing.assert_allclose(np.sort(areas), np.sort(shares[present]), atol=1e-12)
    assert len(ax.get_figure().axes) == 2  # with the bar of colours


@pytest.mark.parametrize("make", [lx.cumulative_accuracy_curve, lx.accuracy_rate_curve])
def test_figure_5_colours_curves_by_size(make):
    curves = {n: make(1, RNG.standard_normal(n)) for n in (1000, 20, 100)}
    ax = plots.convergence(curves)
    lengths = [len(line) for line in drawn(ax)]
    assert lengths == [21, 101, 1001]
    colours = {line.get_color() for line in ax.lines[:3]}
    assert len(colours) == 3
    assert ax.get_figure().axes[1].get_ylabel() == "Samples"


def test_figures_6_and_7_draw_sixteen_methods():
    methods = {f"method {k}": SCORE + k / 4 * OTHER for k in range(16)}
    margins = {name: np.where(LABEL == 1, score, -score) for name, score in methods.items()}
    margins["method 3"] = np.where(np.arange(60) < 20, np.nan, margins["method 3"])
    for draw in (plots.cumulative_accuracy, plots.accuracy_rate):
        ax = draw(1, margins, sample_weight=WEIGHT, nan_policy="omit")
        assert len(drawn(ax)) == 16
        assert legend(ax)[16:] == ["ideal", "coin"]
    renamed = RNG.random((20, 60)) < 0.5
    label = np.where(renamed, 1 - LABEL, LABEL)
    ax = plots.roc(
        {name: lx.roc_curve(label, np.where(renamed, -s, s)) for name, s in methods.items()},
        band=0.95,
    )
    assert len(drawn(ax)) == len(ax.collections) == 16


def test_comparison_puts_the_best_method_on_top_with_its_interval():
    methods = {"noise": OTHER, "mine": SCORE}
    ax = plots.comparison(LABEL, methods)
    values = [100 * lx.lxcim(LABEL, methods[name]) for name in ("mine", "noise")]
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        f"mine ({values[0]:.1f})",
        f"noise ({values[1]:.1f})",
    ]
    assert ax.yaxis_inverted()
    np.testing.assert_allclose(drawn(ax)[0], np.stack([values, [0, 1]], axis=-1))
    for line, value in zip(ax.lines[:2], values, strict=True):
        low, high = line.get_xdata()
        assert low < value < high


def test_local_accuracy_is_drawn_with_where_it_is_a_coins():
    found = lx.local_accuracy(LABEL, SCORE)
    for ax in (plots.local_accuracy(LABEL, SCORE), plots.local_accuracy(found)):
        np.testing.assert_array_equal(drawn(ax)[0], np.stack(found[:2], axis=-1))
        assert ax.lines[1].get_xdata()[0] == found.coin_rate


@pytest.mark.library("torch")
def test_arrays_of_other_libraries_are_drawn_too():
    import torch

    ax = plots.cumulative_accuracy(torch.asarray(LABEL), torch.asarray(SCORE), band=0.9)
    np.testing.assert_allclose(drawn(ax)[0], drawn(plots.cumulative_accuracy(LABEL, SCORE))[0])


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_figure_is_the_same_file(tmp_path, ending):
    for name in ("one", "two"):
        ax = plots.cumulative_accuracy(LABEL, SCORE, band=0.95)
        plots.save(ax, tmp_path / f"{name}.{ending}")
    one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "band must lie between 0 and 1", lambda: plots.roc(LABEL, SCORE, band=95)),
        (
            ValueError,
            "band= needs labels and scores, or a batch of curves; found a single curve",
            lambda: plots.roc(lx.roc_curve(LABEL, SCORE), band=0.9),
        ),
        (
            ValueError,
            "'threshold' were given with a curve, which is finished",
            lambda: plots.roc(lx.roc_curve(LABEL, SCORE), threshold=0.5),
        ),
        (
            TypeError,
            "expected labels and scores, or a curve; found ndarray",
            lambda: plots.roc(LABEL),
        ),
        (
            ValueError,
            "label='a' and a mapping of names were both given",
            lambda: plots.roc(LABEL, {"b": SCORE}, label="a"),
        ),
        (
            ValueError,
            "metric must be 'lxcim' or 'audrc'; found 'auroc'",
            lambda: plots.contributions(LABEL, SCORE, metric="auroc"),
        ),
        (
            ValueError,
            "y_score must have one axis here; found 2",
            lambda: plots.contributions(1, [[2.0, 1.0]]),
        ),
        (
            TypeError,
            "curve_by_size must map sizes to curves of one kind",
            lambda: plots.convergence({5: 1.0}),
        ),
        (ValueError, "curve_by_size must hold at least one curve", lambda: plots.convergence({})),
        (
            TypeError,
            "expected labels and scores of one method",
            lambda: plots.local_accuracy(LABEL),
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_drawing_needs_no_pyplot():
    code = (
        "import sys; from lxcim_xp import plots; plots.cumulative_accuracy(1, [2.0, -1.0]);"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_error_names_the_extra():
    code = "import sys; sys.modules['matplotlib'] = None; import lxcim_xp.plots"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'lxcim_xp[plots]'" in run.stderr


def test_the_map_of_differences_shows_which_models_differ():
    rng = np.random.default_rng(0)
    truth = rng.normal(1, 1, 400)
    scores = {
        "rough": truth + rng.normal(0, 1.5, 400),
        "fine": truth,
        "twin": 2 * truth,
    }
    table = lx.compare_all(1, scores)
    ax = plots.differences(table)
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert rows[-1] == f"rough ({100 * table.estimate[0]:.1f})"
    shown = ax.images[0].get_array()
    np.testing.assert_allclose(shown[0, 2], 100 * (table.estimate.max() - table.estimate[0]))
    assert shown.mask[0, 1]  # the twins cannot be told apart
    assert shown.mask[0, 0]
    weights = {text.get_text(): text.get_weight() for text in ax.texts}
    assert weights[f"{shown.data[0, 2]:+.1f}"] == "bold"
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        plots.differences(table, level=95)


def judged(n=40):
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, n)
    opinion = np.where(label > 0, 1, -1) * rng.normal(0.5, 1, n)
    first, swapped = (side * opinion + 0.5 + rng.normal(0, 0.5, n) for side in (1, -1))
    return label, first, swapped


def test_the_waterfall_goes_from_one_call_to_both_orders():
    label, first, swapped = judged()
    steps = order_decomposition(label, first, swapped)
    ax = plots.order_steps(steps)
    bars = sorted(ax.patches, key=lambda bar: bar.get_x())
    ends = [100 * float(value) for value in steps[:3]]
    assert [bar.get_height() for bar in bars] == pytest.approx(
        [ends[0], ends[1] - ends[0], ends[2] - ends[1], ends[2]]
    )
    assert [bar.get_y() for bar in bars] == pytest.approx([0, ends[0], ends[1], 0])
    whiskers = [line.get_ydata() for line in ax.lines if line.get_color() == "black"]
    for (low, high), gain, start in zip(whiskers, steps[3:5], ends, strict=False):
        assert (low - start, high - start) == pytest.approx(
            (100 * float(gain.low), 100 * float(gain.high))
        )
    assert len(whiskers) == 2
    with pytest.raises(ValueError, match="of one judge"):
        plots.order_steps(order_decomposition(1, [[1.0, 2.0]] * 2, [[1.0, 2.0]] * 2))


@pytest.mark.parametrize("sure_of", ["opinion", "call"])
def test_flips_are_drawn_as_the_curve_has_them(sure_of):
    _, first, swapped = judged()
    ax = plots.order_curve(first, swapped, sure_of=sure_of, label="$judge")
    curve = order_curve(first, swapped, sure_of=sure_of)
    np.testing.assert_array_equal(drawn(ax)[0], np.column_stack([curve.rate, curve.flip_rate]))
    assert legend(ax) == [f"$judge ({100 * curve.flip_rate[-1]:.1f})"]
    plots.order_curve(swapped, first, ax=ax, label="other")
    assert len(drawn(ax)) == 2
    with pytest.raises(ValueError, match="one axis"):
        plots.order_curve([first], [swapped])
