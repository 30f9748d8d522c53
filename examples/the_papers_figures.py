"""
The paper's figures, redone
===========================

The paper shows sixteen methods of causal discovery on the Tübingen pairs: which of two variables is
the cause? These are its figures from our own implementations of the methods, on the 99 pairs that
can be installed (``examples/tuebingen/run.py`` computes their scores). The pairs are real, and
pairs from one source share the weight of one.

Figures 4 and 5 need no pairs: they are :ref:`sphx_glr_gallery_contributions.py` and
:ref:`sphx_glr_gallery_convergence.py`.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lxcim_xp as lx
from lxcim_xp import plots

# The gallery runs the parts of a script in its folder, and does not say which file they are of.
HERE = Path(__file__).parent if "__file__" in globals() else Path.cwd()
FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "docs/figures")
SCORES = Path(sys.argv[2] if len(sys.argv) > 2 else HERE / "tuebingen/scores.csv")
sys.path.append(str(HERE / "tuebingen"))

from scores import as_arrays, read_answers  # noqa: E402
from table import evaluate  # noqa: E402

scores = as_arrays(*read_answers(SCORES))
numbers, weights, methods = scores
rows = evaluate(scores)  # the best first; a method without any answer has no row


def answered(name):
    """Return the scores of a method and the weights of the pairs that it answered."""
    there = ~np.isnan(methods[name])
    return methods[name][there], weights[there]


def both(draw, **options):
    """Draw a weak method on the left and the best one on the right."""
    panels = Figure(figsize=(9.6, 4.8), layout="constrained").subplots(1, 2)
    for ax, name in zip(panels, pair, strict=True):
        score, weight = answered(name)
        draw(1, score, ax=ax, sample_weight=weight, threshold=0.0, **options)
        ax.set_title(name)
    return panels


by_lxcim = [row.method for row in rows]
pair = ["NNCL", "SLOPE"] if {"NNCL", "SLOPE"} <= set(by_lxcim) else [by_lxcim[-1], by_lxcim[0]]

# %%
# Figure 1: cumulative accuracy, from the most to the least confident answer. The strip below shows
# which answers were right. NNCL is right and wrong at all confidences, SLOPE where it is confident.

panels = both(plots.cumulative_accuracy, correctness=True)
plots.save(panels[0], FIGURES / "the_papers_figures_1.svg")
for ax in panels:
    print(ax.get_title(), ax.get_legend().get_texts()[0].get_text())

# %%
# Figure 2: each pair written down in both orders gives a symmetric ROC curve. The area below it,
# LxCIM, is the square of the accuracy and twice H.

plots.save(both(plots.symmetric_roc)[0], FIGURES / "the_papers_figures_2.svg")
for name in pair:
    score, weight = answered(name)
    parts = lx.decomposition(1, score, sample_weight=weight)
    print(
        f"{name}: LxCIM {100 * parts.lxcim:.1f} = ACC² {100 * parts.accuracy**2:.1f}"
        f" + 2H {200 * parts.half_area:.1f}"
    )

# %%
# Figure 3: the two curves of the same answers, with the ideal method and the coin. The accuracy of
# the most confident answers jumps; the cumulative accuracy starts from nothing.

panels = both(plots.cumulative_accuracy, label="LxCIM", correctness=True)
for ax, name in zip(panels, pair, strict=True):
    score, weight = answered(name)
    ax.set_ylabel("Accuracy, and cumulative accuracy")
    plots.accuracy_rate(
        1, score, ax=ax, label="AUDRC", sample_weight=weight, threshold=0.0, baselines=False
    )
    lxcim, *others, audrc = zip(*ax.get_legend_handles_labels(), strict=True)
    ax.legend(
        *zip(lxcim, audrc, *others, strict=True),
        loc="lower right",
        bbox_to_anchor=(1, 0.13),
        fontsize="small",
    )
plots.save(panels[0], FIGURES / "the_papers_figures_3.svg")

# %%
# Figure 6: all methods. On the right each LxCIM with its 95 % interval, in which pairs from one
# source are one cluster, and the accuracy beside it. The intervals say what so few pairs cannot
# tell: most neighbours are not separated.

figure = Figure(figsize=(12.0, 5.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
curves = {
    name: lx.cumulative_accuracy_curve(
        1, methods[name], sample_weight=weights, threshold=0.0, nan_policy="omit"
    )
    for name in by_lxcim
}
plots.cumulative_accuracy(curves, ax=left)
plots.comparison(
    1,
    {name: methods[name] for name in by_lxcim},
    ax=right,
    band=None,
    sample_weight=weights,
    threshold=0.0,
    nan_policy="omit",
)
for place, row in enumerate(rows):
    low, high = 100 * row.lxcim.low, 100 * row.lxcim.high
    right.hlines(place, low, high, colors=left.lines[0].get_color(), alpha=0.6)
plots.save(left, FIGURES / "the_papers_figures_6.svg")
for text in right.get_yticklabels():
    print(text.get_text())

# %%
# Figure 7: on the left ROC curves, which need to know which of the two variables is called the
# first. Each is the mean over 1000 random namings. The bands of two of them hold 95 of 100 namings:
# their width is the accident of naming alone. On the right the accuracy-decision rate curves.

rng = np.random.default_rng(0)
swapped = rng.random((1000, len(numbers))) < 0.5
roc = {
    name: lx.roc_curve(
        np.where(swapped, 0, 1),
        np.where(swapped, -methods[name], methods[name]),
        sample_weight=weights,
        threshold=0.0,
        nan_policy="omit",
    )
    for name in by_lxcim
}
figure = Figure(figsize=(12.8, 5.6), layout="compressed")
left, right = figure.subplots(1, 2)
plots.roc(roc, ax=left)
rate = np.linspace(0, 1, 201)
for name in pair:
    low, high = np.quantile(lx.interpolate(roc[name], rate), [0.025, 0.975], axis=0)
    colour = left.lines[by_lxcim.index(name)].get_color()
    left.fill_between(rate, low, high, color=colour, alpha=0.18, lw=0)
rates = {
    name: lx.accuracy_rate_curve(
        1, methods[name], sample_weight=weights, threshold=0.0, nan_policy="omit"
    )
    for name in by_lxcim
}
plots.accuracy_rate(rates, ax=right)
plots.save(left, FIGURES / "the_papers_figures_7.svg")
areas = lx.curve_area(roc[by_lxcim[0]])
print(f"AUROC of {by_lxcim[0]} over namings: {areas.min():.3f} to {areas.max():.3f}")
