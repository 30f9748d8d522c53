"""
A coin, with more and more samples
==================================

The scores are noise. With more samples the cumulative accuracy settles on the coin's line at every
decision rate, and LxCIM at 1/2. The accuracy-decision rate curve never settles where few samples
are decided: however many samples there are, the single most confident one is right or wrong.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lxcim_xp as lx
from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

rng = np.random.default_rng(0)
margins = {n: rng.standard_normal(n) for n in (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)}

figure = Figure(figsize=(9.6, 4.0), layout="constrained")
left, right = figure.subplots(1, 2)
for ax, make, metric in (
    (left, lx.cumulative_accuracy_curve, "LxCIM"),
    (right, lx.accuracy_rate_curve, "AUDRC"),
):
    plots.convergence({n: make(1, m) for n, m in margins.items()}, ax=ax)
    ax.set_title(metric)
plots.save(left, FIGURES / "convergence.svg")

for n, m in margins.items():
    print(f"n = {n:5d}: LxCIM {lx.lxcim(1, m):.3f}, AUDRC {lx.audrc(1, m):.3f}")
