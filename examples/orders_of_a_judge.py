"""
What the order of two answers does to a judge
=============================================

A simulated judge likes what stands first better by 0.5. On the left, LxCIM of one call for each
pair, and what is gained by taking the mean order effect off the scores and by a second call, with
intervals. On the right, how many of the pairs flip among those that the judge is most sure of.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from lxcim_xp import plots
from lxcim_xp.choices import order_decomposition, order_effect

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")

rng = np.random.default_rng(0)
better = rng.normal(0, 1, 400)  # by how much A is the better answer
seen = better + rng.normal(0, 0.7, 400)  # what the judge sees of it, in both orders
first, swapped = (side * seen + 0.5 + rng.normal(0, 0.4, 400) for side in (1, -1))

effect = order_effect(first, swapped)
print(f"{effect.flips:.0f} of 400 pairs flip, {effect.flips_to_first:.0f} to the first place")
print(f"mean order effect {effect.mean:.2f}, {effect.mean_low:.2f} to {effect.mean_high:.2f}")

steps = order_decomposition(better > 0, first, swapped)
print(f"LxCIM: once {steps.once:.3f}, centred {steps.centred:.3f}, both orders {steps.both:.3f}")

figure = Figure(figsize=(9.6, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
plots.order_steps(steps, ax=left).set_title("LxCIM, step by step")
plots.order_curve(first, swapped, label="by the opinion of both", ax=right)
plots.order_curve(first, swapped, label="by one call", sure_of="call", ax=right)
right.set_title("Flips")
plots.save(left, FIGURES / "orders_of_a_judge.svg")
