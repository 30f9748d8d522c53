"""Figures of the curves, with matplotlib (``pip install lxcim_xp[plots]``).

Every function takes labels and scores, or a curve that was computed before, draws into ``ax`` or
into a new figure, and returns the Axes; ``ax.figure`` is the figure. Nothing global is touched: no
pyplot, no settings. Pass several methods as a mapping of names to scores (or to curves), and
several seeds as a batch, which is drawn as its mean. Colours are those of Okabe and Ito, which
colour-blind readers can tell apart; dashes differ too, for printing in grey. Names are shown as
they are: a dollar sign does not start TeX, and a name may begin with an underscore.

>>> from lxcim_xp import plots
>>> methods = {"steady": [4.0, 3.0, 2.0, -1.0], "rash": [4.0, -3.0, 2.0, 1.0]}
>>> ax = plots.cumulative_accuracy(1, methods)
>>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
['steady (93.8)', 'rash (68.8)']
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from lxcim_xp import choices as orders
from lxcim_xp import curves, selective
from lxcim_xp._arrays.typing import ArrayLike
from lxcim_xp._metric_table import METRICS, WITH_CONTRIBUTIONS
from lxcim_xp._plot_lines import RATES, Line, layers, lines
from lxcim_xp._samples.checks import check_level
from lxcim_xp.choices import OrderDecomposition
from lxcim_xp.comparison import ComparisonTable

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "lxcim_xp.plots needs matplotlib. Install it with: pip install 'lxcim_xp[plots]'"
    ) from error

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", (0, (5, 1.2)), (0, (6, 1.2, 1.2, 1.2)), (0, (1.5, 0.8)))
_GREY, _LIGHT = "0.45", "0.7"
_RIGHT, _WRONG = "#BFE3F7", "#D55E00"
_CURVE = "lxcim_xp curve"  # marks the lines that take a colour from the cycle
_AS_IT_IS = {"parse_math": False, "usetex": False}  # how to show names
_ABOVE: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
_STRIP_CELLS = 400
_Corner: TypeAlias = Literal["upper left", "lower left", "lower right"]

# Labels, if scores are given; otherwise one curve (a tuple of arrays), or several by name.
_Labels: TypeAlias = ArrayLike | tuple[Any, ...] | Mapping[str, Any]
_Scores: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None


def cumulative_accuracy(
    y_true: _Labels,
    y_score: _Scores = None,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    band: float | None = None,
    baselines: bool = True,
    correctness: bool = False,
    **options: Any,
) -> Axes:
    """Draw cumulative accuracy over decision rate; the legend has LxCIM in percent.

    Parameters
    ----------
    y_true : array, CumulativeAccuracyCurve or mapping
        Labels; or a curve, or a mapping of names to curves.
    y_score : array or mapping, optional
        Scores, or a mapping of names to the scores of each method.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The name of a single method.
    band : float, optional
        Draw a pointwise band of this level: of 200 bootstrap resamples, or of a batch's entries.
    baselines : bool, default True
        Draw the ideal method and a coin.
    correctness : bool, default False
        Draw a strip below the curve that shows which decisions of the first method were right.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    accuracy_rate : The accuracy of what is decided.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.cumulative_accuracy(1, [4.0, 3.0, 2.0, -1.0], label="mine", correctness=True)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Decision rate', 'Cumulative accuracy')
    """
    make = curves.cumulative_accuracy_curve
    found = lines(make, y_true, y_score, label, band, options)
    ax = _axes(ax, "Decision rate", "Cumulative accuracy")
    _draw(ax, found, METRICS["lxcim"].title)
    if baselines:
        _baseline(ax, [0, 1], [0, 1], "ideal")
        _baseline(ax, [0, 1], [0, 0.5], "coin", _LIGHT)
    if correctness:
        _draw_strip(ax, found[0])
    _legend(ax, len(found), "upper left")
    return ax


def accuracy_rate(
    y_true: _Labels,
    y_score: _Scores = None,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    band: float | None = None,
    baselines: bool = True,
    **options: Any,
) -> Axes:
    """Draw the accuracy of what is decided over the decision rate; the legend has AUDRC in percent.

    Parameters
    ----------
    y_true : array, AccuracyRateCurve or mapping
        Labels; or a curve, or a mapping of names to curves.
    y_score : array or mapping, optional
        Scores, or a mapping of names to the scores of each method.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The name of a single method.
    band : float, optional
        Draw a pointwise band of this level: of 200 bootstrap resamples, or of a batch's entries.
    baselines : bool, default True
        Draw the ideal method and a coin.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    cumulative_accuracy : The curve that is steady where few are decided.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.accuracy_rate(1, [4.0, 3.0, 2.0, -1.0], label="mine")
    >>> ax.get_legend().get_texts()[0].get_text()
    'mine (93.8)'
    """
    found = lines(curves.accuracy_rate_curve, y_true, y_score, label, band, options)
    ax = _axes(ax, "Decision rate", "Accuracy")
    _draw(ax, found, METRICS["audrc"].title)
    if baselines:
        _baseline(ax, [0, 1], [1, 1], "ideal")
        _baseline(ax, [0, 1], [0.5, 0.5], "coin", _LIGHT)
    _legend(ax, len(found), "lower left")
    return ax


def roc(
    y_true: _Labels,
    y_score: _Scores = None,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    band: float | None = None,
    baselines: bool = True,
    **options: Any,
) -> Axes:
    """Draw ROC curves; the legend has AUROC in percent.

    The curve of a pairwise choice depends on which side of each pair is called positive. To show
    that, pass a batch in which each entry has other sides exchanged, and a ``band``.

    Parameters
    ----------
    y_true : array, RocCurve or mapping
        Labels; or a curve, or a mapping of names to curves.
    y_score : array or mapping, optional
        Scores, or a mapping of names to the scores of each method.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The name of a single method.
    band : float, optional
        Draw a pointwise band of this level: of 200 bootstrap resamples, or of a batch's entries.
    baselines : bool, default True
        Draw the ideal method and a coin.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    symmetric_roc : The ROC curve that does not depend on the naming of sides.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.roc([0, 1, 0, 1], [-4.0, -3.0, 1.0, 2.0])
    >>> ax.get_legend().get_texts()[0].get_text()
    'AUROC 75.0'
    """
    found = lines(curves.roc_curve, y_true, y_score, label, band, options)
    ax = _axes(ax, "False positive rate", "True positive rate")
    ax.set_aspect("equal")
    _draw(ax, found, METRICS["auroc"].title)
    if baselines:
        _baseline(ax, [0, 0, 1], [0, 1, 1], "ideal")
        _baseline(ax, [0, 1], [0, 1], "coin", _LIGHT)
    _legend(ax, len(found), "lower right")
    return ax


def symmetric_roc(
    y_true: _Labels,
    y_score: _Scores = None,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    band: float | None = None,
    baselines: bool = True,
    areas: bool = True,
    **options: Any,
) -> Axes:
    """Draw the ROC curve of the doubled data, with the two parts of its area, ACC² and 2H.

    Parameters
    ----------
    y_true : array, SymmetricRocCurve or mapping
        Labels; or a curve, or a mapping of names to curves.
    y_score : array or mapping, optional
        Scores, or a mapping of names to the scores of each method.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The name of a single method.
    band : float, optional
        Draw a pointwise band of this level: of 200 bootstrap resamples, or of a batch's entries.
    baselines : bool, default True
        Draw the ideal method, a coin and the axis of symmetry.
    areas : bool, default True
        Shade the square of the accuracy and the two halves beside it, of the first method.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    roc : The ROC curve of the data as they are.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.symmetric_roc(1, [4.0, 3.0, 2.0, -1.0])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:3]
    ['LxCIM 93.8', 'ACC² = 0.562', '2H = 0.375']
    """
    found = lines(curves.symmetric_roc_curve, y_true, y_score, label, band, options)
    ax = _axes(ax, "False positive rate", "True positive rate")
    ax.set_aspect("equal")
    _draw(ax, found, METRICS["lxcim"].title)
    if areas:
        _draw_areas(ax, found[0])
    if baselines:
        _baseline(ax, [0, 0, 1], [0, 1, 1], "ideal")
        _baseline(ax, [0, 1], [0, 1], "coin", _LIGHT)
        _baseline(ax, [0, 1], [1, 0], "axis of symmetry", _LIGHT, ":")
    _legend(ax, len(found), "lower right")
    return ax


def local_accuracy(
    y_true: ArrayLike | selective.LocalAccuracy,
    y_score: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    **options: Any,
) -> Axes:
    """Draw the accuracy at each confidence, and where it is no better than a coin's.

    Parameters
    ----------
    y_true : array or LocalAccuracy
        Labels; or what :func:`lxcim_xp.local_accuracy` found.
    y_score : array, optional
        Scores of one method.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The name of the method.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    cumulative_accuracy : The curve whose slope this is.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.local_accuracy(1, [6.0, 5.0, -4.0, 3.0, -2.0, 1.0], label="mine")
    >>> ax.get_legend().get_texts()[1].get_text()
    'better than a coin up to 33.3 %'
    """
    found: Any = y_true
    if y_score is not None:
        found = selective.local_accuracy(found, y_score, **options)
    if not isinstance(found, selective.LocalAccuracy) or np.ndim(found.coin_rate) > 0:
        raise TypeError("expected labels and scores of one method, or its LocalAccuracy.")
    ax = _axes(ax, "Decision rate", "Local accuracy")
    colour, dash = _next_style(ax)
    rate, accuracy = np.asarray(found.rate), np.asarray(found.accuracy)
    ax.step(
        rate,
        accuracy,
        where="pre",
        color=colour,
        ls=dash,
        gid=_CURVE,
        label=_shown(label or "local accuracy"),
    )
    coin = float(found.coin_rate)
    ax.axvline(
        coin, color=colour, ls=":", lw=1, label=f"better than a coin up to {100 * coin:.1f} %"
    )
    _baseline(ax, [0, 1], [0.5, 0.5], "coin", _LIGHT)
    _legend(ax, 1, "lower left")
    return ax


def contributions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: Literal["lxcim", "audrc"] = "lxcim",
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Draw the area under a curve sample by sample, the most confident first.

    Meant for a few dozen samples.

    Parameters
    ----------
    y_true : array
        Labels.
    y_score : array
        Scores of one method.
    metric : {"lxcim", "audrc"}, default "lxcim"
        The metric to share out: the cumulative accuracy or the accuracy-decision rate curve.
    ax : Axes, optional
        Where to draw; a new figure by default.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    lxcim_xp.contributions : The shares as numbers.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.contributions(1, [3.0, 2.0, 1.0], metric="audrc")
    >>> len(ax.patches)
    3
    """
    if metric not in WITH_CONTRIBUTIONS:
        known = " or ".join(map(repr, WITH_CONTRIBUTIONS))
        raise ValueError(f"metric must be {known}; found {metric!r}.")
    shares = layers(metric, y_true, y_score, options)
    count = len(shares.edges) - 1
    ax = _axes(ax, "Decision rate", "Cumulative accuracy" if metric == "lxcim" else "Accuracy")
    scale = ScalarMappable(Normalize(1, max(count, 2)), "viridis")
    for k in range(count):
        low, high = shares.edges[k], shares.edges[k + 1]
        colour = scale.to_rgba(np.asarray(k + 1))
        if metric == "lxcim":
            ax.fill_between(shares.x, low, high, color=colour, lw=0)
        else:
            ax.stairs(high, shares.x, baseline=low, fill=True, color=colour, lw=0)
    if metric == "lxcim":
        _baseline(ax, [0, 1], [0, 1], "ideal")
    else:
        _baseline(ax, [0, 1], [1, 1], "ideal")
    _colour_bar(ax, scale, "Sample, most confident first")
    return ax


def convergence(
    curve_by_size: Mapping[int, curves.Curve],
    *,
    ax: Axes | None = None,
    band: float | None = None,
) -> Axes:
    """Draw curves of data sets of growing size, coloured by size.

    For coin flips, the cumulative accuracy settles on its line at all rates; accuracy-decision rate
    curves never do where few samples are decided.

    Parameters
    ----------
    curve_by_size : mapping of int to curve
        The curve of each number of samples, all of one kind; a batch is drawn as its mean.
    ax : Axes, optional
        Where to draw; a new figure by default.
    band : float, optional
        Draw a pointwise band of this level for each batch.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    cumulative_accuracy, accuracy_rate : One size.

    Examples
    --------
    >>> from lxcim_xp import cumulative_accuracy_curve, plots
    >>> two = {n: cumulative_accuracy_curve(1, [1.0] * n) for n in (10, 100)}
    >>> len(plots.convergence(two).lines)
    3
    """
    if not curve_by_size:
        raise ValueError("curve_by_size must hold at least one curve; found none.")
    first = next(iter(curve_by_size.values()))
    cumulative = isinstance(first, curves.CumulativeAccuracyCurve)
    if not all(type(curve) is type(first) for curve in curve_by_size.values()) or not isinstance(
        first, curves.CumulativeAccuracyCurve | curves.AccuracyRateCurve
    ):
        raise TypeError(
            "curve_by_size must map sizes to curves of one kind. Pass what "
            "cumulative_accuracy_curve or accuracy_rate_curve returns."
        )
    ax = _axes(ax, "Decision rate", "Cumulative accuracy" if cumulative else "Accuracy")
    sizes = sorted(curve_by_size)
    scale = ScalarMappable(LogNorm(sizes[0], max(sizes[-1], sizes[0] + 1)), "viridis")
    for size in sizes:
        (line,) = lines(curves.curve_area, curve_by_size[size], None, str(size), band, {})
        colour = scale.to_rgba(np.asarray(size))
        ax.plot(line.x, line.y, color=colour, lw=1.2, gid=_CURVE)
        _draw_band(ax, line, colour)
    _baseline(ax, [0, 1], [0, 0.5] if cumulative else [0.5, 0.5], "coin", "black", zorder=3)
    ax.legend(loc="upper left" if cumulative else "upper right", fontsize="small")
    _colour_bar(ax, scale, "Samples")
    return ax


def comparison(
    y_true: _Labels,
    y_score: _Scores = None,
    *,
    ax: Axes | None = None,
    band: float | None = 0.95,
    **options: Any,
) -> Axes:
    """Draw LxCIM of many methods with an interval each, the best on top.

    Parameters
    ----------
    y_true : array or mapping
        Labels; or a mapping of names to symmetric ROC curves.
    y_score : mapping, optional
        The scores of each method by name.
    ax : Axes, optional
        Where to draw; a new figure by default.
    band : float or None, default 0.95
        The level of the intervals, of 200 bootstrap resamples or a batch's entries; None
        for none.
    **options
        ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as for every
        metric.

    Returns
    -------
    Axes
        The Axes that was drawn into.

    See Also
    --------
    cumulative_accuracy : The curves of many methods.

    Notes
    -----
    Intervals of two methods on the same samples may overlap although the methods differ: both
    contain the noise that the methods share. Compare them sample by sample before you say that one
    is better.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> methods = {"rash": [4.0, -3.0, 2.0, 1.0], "steady": [4.0, 3.0, 2.0, -1.0]}
    >>> ax = plots.comparison(1, methods, band=None)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['steady (93.8)', 'rash (68.8)']
    """
    found = lines(curves.symmetric_roc_curve, y_true, y_score, None, band, options)
    found = sorted(found, key=lambda line: -line.value)
    ax = _axes(ax, "LxCIM and accuracy, in percent", "", unit=False)
    place = np.arange(len(found))
    for at, line in zip(place, found, strict=True):
        if line.interval is not None:
            ends = [100 * end for end in line.interval]
            ax.plot(ends, [at, at], color=_COLOURS[0], lw=1.5, alpha=0.6, solid_capstyle="butt")
    lxcim = [100 * line.value for line in found]
    accuracy = [100 * (line.accuracy or 0.0) for line in found]
    ax.plot(lxcim, place, "o", color=_COLOURS[0], label=METRICS["lxcim"].title, gid=_CURVE)
    ax.plot(accuracy, place, "|", color=_COLOURS[1], ms=10, mew=2, label="accuracy")
    ax.axvline(50, color=_LIGHT, ls="--", lw=1, label="coin")
    ax.set_yticks(place, [_with_value(line, METRICS["lxcim"].title) for line in found], **_AS_IT_IS)
    ax.invert_yaxis()
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize="small")
    return ax


def differences(table: ComparisonTable, *, ax: Axes | None = None, level: float = 0.95) -> Axes:
    """Draw which models differ: a map of paired differences, the best model first.

    Parameters
    ----------
    table : ComparisonTable
        What :func:`lxcim_xp.compare_all` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    level : float, default 0.95
        A difference counts where its adjusted p-value is below ``1 - level``; the others are grey.

    Returns
    -------
    Axes
        The Axes that was drawn into: in each cell the model of its row less that of its column, in
        percentage points.

    See Also
    --------
    comparison : Each model with its own interval.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import compare_all, plots
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(1, 1, 300)
    >>> scores = {"rough": truth + rng.normal(0, 1, 300), "fine": truth}
    >>> ax = plots.differences(compare_all(1, scores))
    >>> [text.get_text().split()[0] for text in ax.get_yticklabels()]
    ['fine', 'rough']
    """
    check_level(level)
    estimate = np.asarray(table.estimate)
    order = np.argsort(-estimate, kind="stable")
    apart = 100 * np.asarray(table.difference)[np.ix_(order, order)]
    found = np.asarray(table.adjusted_p_value)[np.ix_(order, order)] < 1 - level
    ax = _axes(ax, "", "", unit=False)
    ax.grid(False)
    span = max(1e-9, float(np.max(np.abs(apart))))
    shown = np.ma.masked_where(~found, apart)
    map_ = LinearSegmentedColormap.from_list("differences", [_COLOURS[1], "white", _COLOURS[0]])
    ax.imshow(shown, cmap=map_.with_extremes(bad="0.93"), vmin=-span, vmax=span)
    for row, column in np.ndindex(apart.shape):
        if row != column:
            strong = found[row, column]
            ax.text(
                column,
                row,
                f"{apart[row, column]:+.1f}",
                ha="center",
                va="center",
                fontsize="small",
                weight="bold" if strong else "normal",
                color="black" if strong else _GREY,
            )
    names = [table.names[at] for at in order]
    values = [f"{name} ({100 * estimate[at]:.1f})" for name, at in zip(names, order, strict=True)]
    ax.set_xticks(np.arange(len(names)), names, rotation=30, ha="right", **_AS_IT_IS)
    ax.set_yticks(np.arange(len(names)), values, **_AS_IT_IS)
    how = f", adjusted by {table.adjust}" if table.adjust else ""
    ax.set_title(f"Row less column; bold: p < {1 - level:.3g}{how}", fontsize="medium")
    return ax


def order_steps(steps: OrderDecomposition, *, ax: Axes | None = None) -> Axes:
    """Draw what the order of the answers costs a judge, as a waterfall.

    Parameters
    ----------
    steps : OrderDecomposition
        What :func:`lxcim_xp.choices.order_decomposition` returned, of one judge.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The Axes that was drawn into, in percent: bars for one call and for both orders, and between
        them what each step gains, with its interval.

    See Also
    --------
    order_curve : Where the flips are.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> from lxcim_xp.choices import order_decomposition
    >>> ax = plots.order_steps(order_decomposition(1, [2.0, 1.0], [-2.0, 0.5]))
    >>> [text.get_text() for text in ax.texts]
    ['87.5', '100.0', '+0.0', '+12.5']
    """
    shape = np.asarray(steps.once).shape
    if shape:
        raise ValueError(
            f"steps must be of one judge; found a batch of shape {shape}. Draw one after the other."
        )
    once, centred, both = (100 * float(value) for value in steps[:3])
    ax = _axes(ax, "", "Percent", unit=False)
    names = ("one call,\nrandom order", "less the mean\norder effect", "second call", "both orders")
    for at, value in ((0, once), (3, both)):
        ax.bar(at, value, width=0.6, color=_COLOURS[0], gid=_CURVE)
        ax.annotate(f"{value:.1f}", (at, value), (0, 3), **_ABOVE)
    for at, start, end, gain in (
        (1, once, centred, steps.centring),
        (2, centred, both, steps.second_call),
    ):
        colour = _COLOURS[2] if end >= start else _COLOURS[1]
        ax.bar(at, end - start, bottom=start, width=0.6, color=colour, gid=_CURVE)
        low, high = (start + 100 * float(bound) for bound in (gain.low, gain.high))
        top = max(start, end)
        if np.isfinite(low):
            ax.plot([at, at], [low, high], color="black", lw=1.2)
            top = max(top, high)
        ax.annotate(f"{end - start:+.1f}", (at, top), (0, 3), **_ABOVE)
    for at, value in enumerate((once, centred, both)):  # from bar to bar
        ax.plot([at + 0.3, at + 0.7], [value, value], color=_GREY, lw=0.8)
    ax.set_xticks(range(4), names)
    floor = min(once, centred, both)
    ax.set_ylim(max(0.0, floor - 0.5 * (100 - floor) - 5), 102)
    return ax


def order_curve(
    first: ArrayLike,
    swapped: ArrayLike,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    **options: Any,
) -> Axes:
    """Draw how often a judge flips among the pairs that it is most confident about.

    Parameters
    ----------
    first, swapped : array
        Both scores of each pair, as for :func:`lxcim_xp.choices.order_curve`.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The name of a single method.
    **options
        ``sure_of``, ``sample_weight``, ``where``, ``threshold``, ``decision`` or ``nan_policy`` as
        for :func:`lxcim_xp.choices.order_curve`.

    Returns
    -------
    Axes
        The Axes that was drawn into; the legend has the flip rate of all pairs in percent.

    See Also
    --------
    order_steps : What the flips cost.

    Examples
    --------
    >>> from lxcim_xp import plots
    >>> ax = plots.order_curve([2.0, 1.0], [-2.0, 0.5], label="judge")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['judge (50.0)']
    """
    rate, _, flip_rate, _ = map(np.asarray, orders.order_curve(first, swapped, **options))
    if rate.ndim != 1:
        raise ValueError(
            f"first and swapped must have one axis; found {rate.ndim}. Draw one judge after the "
            f"other."
        )
    found = Line(label or "", rate, flip_rate, float(flip_rate[-1]), None, None, None)
    ax = _axes(ax, "Decision rate", "Flip rate of what is decided")
    _draw(ax, [found], "flip rate")
    _legend(ax, sum(line.get_gid() == _CURVE for line in ax.lines), "upper left")
    return ax


def save(ax: Axes, path: str | Path, *, dpi: float = 150) -> None:
    """Write the figure of an Axes such that equal figures give equal files, byte by byte.

    Parameters
    ----------
    ax : Axes
        Any Axes of the figure.
    path : str or Path
        Where to write; the ending of the name says the format.
    dpi : float, default 150
        Dots per inch, for formats that have dots.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from lxcim_xp import plots
    >>> path = Path(tempfile.mkdtemp()) / "curve.svg"
    >>> plots.save(plots.cumulative_accuracy(1, [2.0, -1.0]), path)
    >>> path.stat().st_size > 1000
    True
    """
    # By default, identifiers in SVG depend on a random salt, and dates on the clock.
    ending = Path(path).suffix.lower()
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
    with mpl.rc_context({"svg.hashsalt": "lxcim_xp"}):
        _figure(ax).savefig(path, dpi=dpi, metadata=metadata)


def _axes(ax: Axes | None, xlabel: str, ylabel: str, unit: bool = True) -> Axes:
    """Return the Axes to draw into, with axis labels unless it has its own."""
    if ax is None:
        ax = Figure(figsize=(5.2, 4.4), layout="constrained").add_subplot()
    if not ax.get_xlabel():
        ax.set_xlabel(xlabel)
    if not ax.get_ylabel():
        ax.set_ylabel(ylabel)
    if unit and not ax.has_data():
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(min(-0.01, ax.get_ylim()[0]), 1.01)  # a panel that shares it may have a strip
    ax.grid(True, color="0.92", lw=0.6)
    ax.set_axisbelow(True)
    return ax


def _next_style(ax: Axes) -> tuple[str, Any]:
    """Return the next colour and dash of an Axes."""
    drawn = sum(line.get_gid() == _CURVE for line in ax.lines)
    # Seven and four have no common divisor, so there are 28 pairs, and neighbours differ in both.
    return _COLOURS[drawn % len(_COLOURS)], _DASHES[drawn % len(_DASHES)]


def _draw(ax: Axes, found: list[Line], metric: str) -> None:
    for line in found:
        colour, dash = _next_style(ax)
        text = _shown(_with_value(line, metric))
        ax.plot(line.x, line.y, color=colour, ls=dash, lw=1.6, gid=_CURVE, label=text)
        _draw_band(ax, line, colour)


def _with_value(line: Line, metric: str) -> str:
    """Return the name of a line, or of the metric if it has none, with its value."""
    percent = f"{100 * line.value:.1f}"
    return f"{line.label} ({percent})" if line.label else f"{metric} {percent}"


def _shown(name: str) -> str:
    """Return a label that legends show; they hide labels that begin with an underscore."""
    return f" {name}" if name.lstrip(" ").startswith("_") else name


def _name(shown: str) -> str:
    return shown[1:] if shown.lstrip(" ").startswith("_") else shown


def _draw_band(ax: Axes, line: Line, colour: Any) -> None:
    if line.band is not None:
        ax.fill_between(RATES, *line.band, color=colour, alpha=0.18, lw=0)


def _baseline(
    ax: Axes,
    x: list[float],
    y: list[float],
    label: str,
    colour: str = _GREY,
    dash: str = "--",
    zorder: float = 1.5,
) -> None:
    """Draw a line to compare with, unless it is there already."""
    if not any(line.get_label() == label and line.get_gid() != _CURVE for line in ax.lines):
        ax.plot(x, y, color=colour, ls=dash, lw=1, label=label, zorder=zorder)


def _draw_strip(ax: Axes, line: Line) -> None:
    """Draw a strip below the curve that shows which decisions were right."""
    x, y = line.x, line.y
    if x.size > _STRIP_CELLS:
        x = np.linspace(0, 1, _STRIP_CELLS + 1)
        y = np.interp(x, line.x, line.y)
    wide = np.diff(x) > 0
    edges = np.concatenate([[0.0], x[1:][wide]])
    right = np.diff(y)[wide] / np.diff(x)[wide]
    shades = LinearSegmentedColormap.from_list("correctness", [_WRONG, _RIGHT])
    ax.pcolormesh(edges, [-0.09, -0.04], right[None, :], cmap=shades, vmin=0, vmax=1)
    ax.set_ylim(bottom=-0.1)
    for colour, label in ((_RIGHT, "right"), (_WRONG, "wrong")):
        ax.fill_between([], [], color=colour, label=label)  # for the legend


def _draw_areas(ax: Axes, line: Line) -> None:
    """Shade the two parts of the area, which meet where the curve crosses the symmetry axis."""
    accuracy = line.accuracy or 0.0
    ax.add_patch(
        Rectangle(
            (1 - accuracy, 0),
            accuracy,
            accuracy,
            color=_COLOURS[5],
            alpha=0.35,
            lw=0,
            label=f"ACC² = {accuracy**2:.3f}",
        )
    )
    # The crossing is a point of the curve. The lower edge of the second part jumps there.
    before = line.x + line.y <= 1
    x = np.concatenate([line.x[before], [1 - accuracy] * 2, line.x[~before]])
    y = np.concatenate([line.y[before], [accuracy] * 2, line.y[~before]])
    floor = np.zeros_like(x)
    floor[int(before.sum()) + 1 :] = accuracy
    rest = line.value - accuracy**2
    ax.fill_between(x, floor, y, color=_COLOURS[4], alpha=0.35, lw=0, label=f"2H = {rest:.3f}")
    ax.plot(1 - accuracy, accuracy, "o", color="black", ms=4)


def _legend(ax: Axes, methods: int, place: _Corner) -> None:
    """Draw the legend into the empty corner, or beside the Axes if it is long."""
    drawn = ax.get_legend_handles_labels()
    if methods > 6:
        legend = ax.legend(*drawn, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="x-small")
    else:
        legend = ax.legend(*drawn, loc=place, fontsize="small", framealpha=0.85)
    for artist, label, text in zip(*drawn, legend.get_texts(), strict=True):
        if artist.get_gid() == _CURVE:  # other labels may be the caller's own, with TeX
            text.set(text=_name(label), **_AS_IT_IS)


def _colour_bar(ax: Axes, scale: ScalarMappable, label: str) -> None:
    _figure(ax).colorbar(scale, ax=ax, label=label)


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("ax was removed from its figure. Pass an Axes of a figure.")
    return figure
