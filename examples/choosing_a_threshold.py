"""
Choose where to stop deciding, and check it on other data
=========================================================

A score that is informative only where it is large: on the less confident half of 6000 pairs it is
no better than a coin. Read off where the method stops making meaningful predictions, choose a
threshold for 90 % accuracy on one half of the pairs, and report its accuracy on the other half.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lxcim_xp as lx
from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

rng = np.random.default_rng(0)
confidence = rng.random(6000)
chance = 0.5 + np.clip(confidence - 0.5, 0, None)  # of being right: 1/2 up to 0.5, then rising
margins = np.where(rng.random(6000) < chance, confidence, -confidence)
choose, report = margins[:3000], margins[3000:]

figure = Figure(figsize=(9.6, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
plots.cumulative_accuracy(1, choose, ax=left, label="all pairs", band=0.95, correctness=True)
plots.local_accuracy(1, choose, ax=right)
rate = np.linspace(0, 1, 101)
right.plot(rate, 0.5 + np.clip(0.5 - rate, 0, None), color="black", lw=1, label="truth")
right.legend(loc="upper right", fontsize="small")

# %%
# With a guarantee the method stops earlier than these samples alone would suggest: its price.

curve = lx.cumulative_accuracy_curve(1, choose)
for name, delta, mark in (("empirical", None, "s"), ("guaranteed", 0.1, "o")):
    point = lx.threshold_for(1, choose, accuracy=0.9, delta=delta)
    height = lx.interpolate(curve, float(point.rate))
    left.plot(point.rate, height, mark, color="black", ms=5, label=f"90 %, {name}")
    decided = np.abs(report) >= point.confidence
    print(
        f"{name}: decide where confidence >= {point.confidence:.3f}; "
        f"chosen at rate {point.rate:.3f} with accuracy {point.accuracy:.3f}; "
        f"on other data rate {decided.mean():.3f}, "
        f"accuracy {lx.accuracy(1, report, where=decided):.3f}"
    )
left.legend(loc="upper left", fontsize="small")
coin = lx.local_accuracy(1, choose)
print(f"no better than a coin from rate {coin.coin_rate:.3f} on (truth: 0.5)")
plots.save(left, FIGURES / "choosing_a_threshold.svg")
