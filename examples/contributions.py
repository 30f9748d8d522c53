"""
What each sample adds to LxCIM and to AUDRC
===========================================

Ten decisions, all of them right. In LxCIM (left) each sample's layer is a little thinner than that
of the next more confident one. In AUDRC (right) the first sample alone has almost a third of the
area.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lxcim_xp as lx
from lxcim_xp import plots

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

margins = np.arange(10.0, 0.0, -1.0)
figure = Figure(figsize=(9.6, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
plots.contributions(1, margins, ax=left).set_title("LxCIM")
plots.contributions(1, margins, metric="audrc", ax=right).set_title("AUDRC")
plots.save(left, FIGURES / "contributions.svg")

for metric in ("lxcim", "audrc"):
    shares = lx.contributions(1, margins, metric=metric)
    print(f"{metric}: {shares.round(3)}, sum {shares.sum():.3f}")
