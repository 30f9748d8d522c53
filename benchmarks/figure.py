"""The figure of the benchmark: how times, divided by that of ``np.sort``, grow with n."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from contenders import load

# From the colour-blind-safe palette of Okabe and Ito, each with a marker for printing in grey.
LINE_STYLES = (
    ("#D55E00", "o"),
    ("#0072B2", "s"),
    ("#000000", "^"),
    ("#009E73", "D"),
    ("#CC79A7", "v"),
    ("#E69F00", "P"),
    ("#56B4E9", "X"),
)


def draw(seconds: dict[str, dict[int, float]], path: Path) -> None:
    """Draw the ratios to ``np.sort`` against n."""
    if load("matplotlib") is None:
        print("No figure: matplotlib is missing (pip install lxcim_xp[plots]).")
        return
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcdefaults()  # a peer changes the defaults when it is imported
    mpl.rcParams.update({"font.size": 10, "svg.hashsalt": "speed"})
    lines = {
        "lxcim, uniform": "numpy float64 uniform",
        "lxcim, weighted": "numpy float64 weighted",
        "scikit-learn roc_auc_score": "scikit-learn",
        "torchmetrics binary_auroc": "torchmetrics",
        "SciPy wilcoxon": "SciPy",
        "torch-uncertainty AUGRC": "torch-uncertainty",
        "bicausal lxcim": "bicausal",
    }
    figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    ends = []
    for (label, name), (color, marker) in zip(lines.items(), LINE_STYLES, strict=True):
        sort = seconds["numpy sort float64"]
        points = [(n, value / sort[n]) for n, value in seconds.get(name, {}).items()]
        if points:
            ours = label.startswith("lxcim")
            width, size = (2.2, 6) if ours else (1.3, 5)
            axes.plot(*zip(*points, strict=True), color=color, marker=marker, lw=width, ms=size)
            ends.append((points[-1], label, color))
    axes.axhline(1, color="0.5", lw=0.8, ls="--")
    ends.append(((max(sort), 1.0), "np.sort", "0.4"))
    axes.set(xscale="log", yscale="log", xlabel="samples n", ylabel="time / time of np.sort")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", color="0.9", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    _label_ends(axes, ends)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    print(f"The figure is in {os.path.relpath(path)}.")


def _label_ends(axes: Any, ends: list[tuple[tuple[float, float], str, str]]) -> None:
    """Write each label beside the end of its line, moved up where two would overlap."""
    low, high = np.log10(axes.get_ylim())
    step = (high - low) / 18
    height = -np.inf
    for (n, ratio), label, color in sorted(ends, key=lambda end: end[0][1]):
        height = max(np.log10(ratio), height + step)
        axes.annotate(
            label,
            xy=(n, ratio),
            xytext=(1.03, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            color=color,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.5},
        )
