"""Metrics of subgroups on any frame: pandas, polars, Arrow, DuckDB, Spark and others.

A frame of predictions goes in, with the names of its columns; a frame of the same library comes
out, with one row for each subgroup. Lazy frames stay lazy. All metrics come from one grouping, and
on frames in memory from one sort, whatever the number of groups.

>>> import pandas as pd
>>> from lxcim_xp import frames
>>> games = pd.DataFrame(
...     {
...         "won": [1, 0, 1, 1, 0],
...         "margin": [4.0, -3.0, -1.0, 2.0, 1.0],
...         "season": ["1991", "1991", "1991", "1992", "1992"],
...     }
... )
>>> frames.lxcim(games, label="won", score="margin", by="season")
  season     lxcim  n  n_missing  weight
0   1991  0.888889  3          0     3.0
1   1992  0.750000  2          0     2.0
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._metric_table import IN_FRAMES, METRICS, WITH_BOUNDS
from lxcim_xp._samples.checks import check_level, checked_bins
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy, Ties
from lxcim_xp.choices import StepMetric
from lxcim_xp.comparison import Comparison
from lxcim_xp.frames.battles import battles_frame, battles_of, battles_plan
from lxcim_xp.frames.both_orders import EFFECT, GAINS, STEPS, SWAPPED, Wide, orders_frame, widened
from lxcim_xp.frames.choose import choose_frame, choose_plan, lists_of
from lxcim_xp.frames.columns import (
    Parts,
    check_keys,
    check_metrics,
    check_name,
    check_state,
    parts_of,
)
from lxcim_xp.frames.dask import (
    in_one_partition,
    in_partitions,
    merged_partitions,
    of_keys_in_partitions,
)
from lxcim_xp.frames.engines import (
    BoundedName,
    Engine,
    MetricName,
    engine_of,
    kind_of_frame,
    narwhals_frame,
    require_samples,
)
from lxcim_xp.frames.in_memory import (
    COUNTS,
    CURVES,
    CurveName,
    compare_frame,
    curve_frame,
    evaluate_frame,
    in_memory,
    result_columns,
)
from lxcim_xp.frames.names import columns_in_memory, own_names, plain_columns, schema_of
from lxcim_xp.frames.query import evaluate_plan
from lxcim_xp.frames.query import with_made_columns as made_in_query
from lxcim_xp.frames.read_write import with_made_columns
from lxcim_xp.frames.reading import ONES
from lxcim_xp.frames.sketches import (
    BOUNDS,
    STATE,
    bounds_frame,
    merge_frame,
    merge_plan,
    sketch_frame,
    sketch_plan,
)


@moves_constants
def evaluate(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    metrics: MetricName | Sequence[MetricName] = IN_FRAMES,
    interval: float | None = None,
    groups: str | None = None,
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
    collect: bool = False,
) -> IntoFrameT:
    """Return several metrics of each subgroup, from one grouping.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    metrics : str or sequence of str, default ("lxcim", "accuracy", "audrc", "auroc")
        Which metrics, in the order of the columns of the result.
    interval : float, optional
        The level of confidence intervals, 0.95 for example; none by default.
    groups : str, optional
        The column of clusters, when only clusters are independent; intervals allow for them.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.
    collect : bool, default False
        Collect the columns that are needed from a lazy frame first, for what its queries cannot do
        (intervals, comparisons, curves, any decision function). The result is then what narwhals
        collects to: polars for polars, Arrow for DuckDB and Spark.

    Returns
    -------
    frame
        Of the kind of the input, one row for each subgroup, in the order of the keys, nulls last:
        the keys; a column for each metric, with ``_se``, ``_low`` and ``_high`` if there are
        intervals; ``n`` rows, ``n_missing`` of them with a missing value, and the ``weight`` that
        the numbers rest on. A metric is null where it is undefined, and a group without any
        usable row stays. Without ``by`` there is one row.

    See Also
    --------
    compare : Two models on the same rows of each subgroup.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"ok": [True, False, True, True], "s": [2.0, -1.0, -3.0, 0.5]})
    >>> table["k"] = ["a", "a", "b", "b"]
    >>> frames.evaluate(table, label="ok", score="s", by="k", metrics=["lxcim", "accuracy"])
       k  lxcim  accuracy  n  n_missing  weight
    0  a   1.00       1.0  2          0     2.0
    1  b   0.25       0.5  2          0     2.0
    """
    names = check_metrics(metrics, level=interval)
    if groups is not None and interval is None:
        raise ValueError(
            "groups= says how intervals are made. Pass interval=0.95, or leave it out."
        )

    def on_samples(rows: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
        return evaluate_frame(rows, parts, names, interval)

    def as_query(
        rows: nw.LazyFrame[Any], schema: dict[str, Any], engine: Engine, parts: Parts
    ) -> nw.LazyFrame[Any]:
        if interval is not None:
            require_samples(engine, "interval=")
        return evaluate_plan(rows, schema, engine, parts, names)

    return _run(
        frame,
        on_samples,
        as_query,
        result_columns(names, interval),
        decides=not all(METRICS[name].needs_labels for name in names),
        label=label,
        scores=[score],
        weight=weight,
        by=by,
        groups=groups,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
        collect=collect,
    )


@moves_constants
def lxcim(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> IntoFrameT:
    """Return LxCIM of each subgroup.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.

    Returns
    -------
    frame
        Of the kind of the input, one row for each subgroup: the keys, ``lxcim``, the number
        ``n`` of rows, ``n_missing`` of them with a missing value, and the ``weight`` that the
        numbers rest on. The metric is null where it is undefined.

    See Also
    --------
    evaluate : Several metrics at once, and intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0], "score": [3.0, 2.0, 1.0]})
    >>> frames.lxcim(table, label="won", score="score").round(3)
       lxcim  n  n_missing  weight
    0  0.889  3          0     3.0
    """
    return evaluate(
        frame,
        label=label,
        score=score,
        weight=weight,
        by=by,
        metrics="lxcim",
        threshold=threshold,
        decision=decision,
        positive=positive,
        negative=negative,
        ties=ties,
        nan_policy=nan_policy,
    )


@moves_constants
def accuracy(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> IntoFrameT:
    """Return the accuracy of each subgroup, undecided samples counting half.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.

    Returns
    -------
    frame
        Of the kind of the input, one row for each subgroup: the keys, ``accuracy``, the number
        ``n`` of rows, ``n_missing`` of them with a missing value, and the ``weight`` that the
        numbers rest on. The metric is null where it is undefined.

    See Also
    --------
    evaluate : Several metrics at once, and intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0, 1], "score": [3.0, 2.0, 1.0, 0.0]})
    >>> frames.accuracy(table, label="won", score="score")
       accuracy  n  n_missing  weight
    0     0.625  4          0     4.0
    """
    return evaluate(
        frame,
        label=label,
        score=score,
        weight=weight,
        by=by,
        metrics="accuracy",
        threshold=threshold,
        decision=decision,
        positive=positive,
        negative=negative,
        ties=ties,
        nan_policy=nan_policy,
    )


@moves_constants
def audrc(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> IntoFrameT:
    """Return AUDRC, in its discrete form, of each subgroup.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.

    Returns
    -------
    frame
        Of the kind of the input, one row for each subgroup: the keys, ``audrc``, the number
        ``n`` of rows, ``n_missing`` of them with a missing value, and the ``weight`` that the
        numbers rest on. The metric is null where it is undefined.

    See Also
    --------
    evaluate : Several metrics at once, and intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0], "score": [3.0, 2.0, 1.0]})
    >>> frames.audrc(table, label="won", score="score").round(3)
       audrc  n  n_missing  weight
    0  0.889  3          0     3.0
    """
    return evaluate(
        frame,
        label=label,
        score=score,
        weight=weight,
        by=by,
        metrics="audrc",
        threshold=threshold,
        decision=decision,
        positive=positive,
        negative=negative,
        ties=ties,
        nan_policy=nan_policy,
    )


@moves_constants
def auroc(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> IntoFrameT:
    """Return AUROC of each subgroup.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.

    Returns
    -------
    frame
        Of the kind of the input, one row for each subgroup: the keys, ``auroc``, the number
        ``n`` of rows, ``n_missing`` of them with a missing value, and the ``weight`` that the
        numbers rest on. The metric is null where it is undefined.

    See Also
    --------
    evaluate : Several metrics at once, and intervals.

    Notes
    -----
    AUROC is undefined where a subgroup has one class only. Only the order of the scores matters;
    ``threshold`` says where ``nan_policy="abstain"`` puts a missing score.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 0, 0], "score": [3.0, 2.0, 4.0]})
    >>> frames.auroc(table, label="won", score="score")
       auroc  n  n_missing  weight
    0    0.5  3          0     3.0
    """
    return evaluate(
        frame,
        label=label,
        score=score,
        weight=weight,
        by=by,
        metrics="auroc",
        threshold=threshold,
        decision=decision,
        positive=positive,
        negative=negative,
        ties=ties,
        nan_policy=nan_policy,
    )


@moves_constants
def compare(
    frame: IntoFrameT,
    *,
    label: str | None,
    scores: Sequence[str | tuple[str, str]],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    metric: MetricName = "lxcim",
    level: float = 0.95,
    groups: str | None = None,
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
    collect: bool = False,
) -> IntoFrameT:
    """Compare two models on the rows of each subgroup, by their paired difference.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    scores : sequence of two str
        The columns of scores of the two models.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    metric : {"lxcim", "accuracy", "audrc", "auroc"}, default "lxcim"
        The metric.
    level : float, default 0.95
        The coverage of intervals, between 0 and 1.
    groups : str, optional
        The column of clusters, when only clusters are independent; intervals allow for them.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.
    collect : bool, default False
        Collect the columns that are needed from a lazy frame first, for what its queries cannot do
        (intervals, comparisons, curves, any decision function). The result is then what narwhals
        collects to: polars for polars, Arrow for DuckDB and Spark.

    Returns
    -------
    frame
        Of the kind of the input, one row for each subgroup: the keys, the columns of
        :class:`lxcim_xp.Comparison` (``estimate_a``, ``estimate_b``, ``difference`` and the rest),
        the number ``n`` of rows that count for both models, ``n_missing`` with a missing value,
        and the ``weight`` that the numbers rest on.

    See Also
    --------
    lxcim_xp.compare : The same for arrays, and what the columns mean.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0], "a": [3.0, 2.0, 1.0], "b": [1.0, -2.0, 3.0]})
    >>> found = frames.compare(table, label="won", scores=["a", "b"])
    >>> found[["estimate_a", "estimate_b", "difference"]].round(3)
       estimate_a  estimate_b  difference
    0       0.889       0.111       0.778
    """
    (name,) = check_metrics(metric, level=level)
    if isinstance(scores, str) or len(scores) != 2:
        raise ValueError(
            f"scores must name two columns, or two pairs of columns; found {scores!r}. For more "
            f"models pass their arrays to lxcim_xp.compare_all."
        )

    def on_samples(rows: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
        return compare_frame(rows, parts, name, level)

    return _run(
        frame,
        on_samples,
        "frames.compare",
        [*Comparison._fields, *COUNTS],
        decides=not METRICS[name].needs_labels,
        label=label,
        scores=list(scores),
        weight=weight,
        by=by,
        groups=groups,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
        collect=collect,
    )


@moves_constants
def orders(
    frame: Any,
    *,
    label: str | None = None,
    first: str | None = None,
    swapped: str | None = None,
    pair: str | None = None,
    order: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
    metric: StepMetric = "lxcim",
    level: float = 0.95,
    groups: str | None = None,
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
    collect: bool = False,
) -> Any:
    """Return what the order of the answers does to a judge that was asked in both orders.

    Pass a row for each pair, with ``first`` and ``swapped``; or a row for each call, with ``pair``,
    ``order`` and ``score``.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str, optional
        The column that says whether A is the better answer: booleans, 0/1, -1/+1, or anything with
        ``positive=``. Without it, there are no steps of the waterfall.
    first : str, optional
        The column of scores for A over B, where A stood first.
    swapped : str, optional
        The column of scores of the other call, for whatever stood first there, which was B.
    pair : str, optional
        The column that names the pair of each row, where each call has a row.
    order : str, optional
        The column that says in which order the answers stood, which holds two values: the smaller
        one (0, 1, false, "AB") stands for A first.
    score : str, optional
        The column of scores, where each call has a row: for whatever stood first.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    metric : {"lxcim", "accuracy"}, default "lxcim"
        The metric of the steps.
    level : float, default 0.95
        The coverage of intervals, between 0 and 1.
    groups : str, optional
        The column of clusters, when only clusters are independent; intervals allow for them.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.
    collect : bool, default False
        Whether to collect the columns that are needed from a lazy frame, which is refused without
        it.

    Returns
    -------
    frame
        Of the kind of the input, or what narwhals collects that to (Arrow for DuckDB and Spark);
        one row for each subgroup: the keys; the columns of
        :class:`lxcim_xp.choices.OrderEffect`, where the mean is called ``effect``; with labels
        ``once``, ``centred`` and ``both``, and ``centring``, ``second_call`` and ``total`` with
        ``_se``, ``_low`` and ``_high``; the number ``n`` of pairs, ``n_missing`` of them with a
        missing value, and the ``weight`` that the numbers rest on.

    See Also
    --------
    lxcim_xp.choices.order_effect, lxcim_xp.choices.order_decomposition : What the columns mean.

    Examples
    --------
    Of four pairs one flips, to the first place:

    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> asked = pd.DataFrame({"ab": [2.0, 1.0, -1.0, 3.0], "ba": [-1.0, 0.5, 2.0, -2.0]})
    >>> found = frames.orders(asked, first="ab", swapped="ba")
    >>> found[["flip_rate", "flips", "flips_to_first", "effect", "n"]]
       flip_rate  flips  flips_to_first  effect  n
    0       0.25      1               1  0.5625  4

    The same with a row for each call, and with labels:

    >>> calls = pd.DataFrame({"question": [0, 1, 2, 3] * 2, "b_first": [False] * 4 + [True] * 4})
    >>> calls["score"] = [*asked["ab"], *asked["ba"]]
    >>> calls["a_is_better"] = [True, True, False, True] * 2
    >>> found = frames.orders(
    ...     calls, pair="question", order="b_first", score="score", label="a_is_better"
    ... )
    >>> found[["once", "centred", "both"]].round(3)
        once  centred  both
    0  0.969      1.0   1.0
    """
    check_level(level)
    of_calls = {"pair": pair, "order": order, "score": score}
    given = {"first": first, "swapped": swapped} | of_calls
    given = {name: column for name, column in given.items() if column is not None}
    is_long = given.keys() == of_calls.keys()
    if not is_long and given.keys() != {"first", "swapped"}:
        raise ValueError(
            f"pass first= and swapped= for a row for each pair, or pair=, order= and score= for a "
            f"row for each call; found {', '.join(f'{name}=' for name in given) or 'none'}."
        )
    if not is_long and first == swapped:
        raise ValueError(
            f"first and swapped must be two columns; found {first!r} for both. The second call has "
            f"scores of its own."
        )
    rows = narwhals_frame(frame)
    engine = engine_of(rows)
    schema = schema_of(engine, rows)
    if isinstance(rows, nw.LazyFrame) and not collect:
        raise TypeError(
            f"frames.orders needs a frame in memory; found {kind_of_frame(engine)}. Pass "
            f"collect=True to collect the columns that it needs."
        )
    outputs = [*EFFECT, *COUNTS, *((*STEPS, *GAINS) if label is not None else ())]
    parts = parts_of(
        engine,
        {**schema, ONES: nw.Int64()} if label is None else schema,
        label=ONES if label is None else label,
        scores=[score] if is_long else [first, swapped],
        weight=weight,
        by=by,
        groups=groups,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
        outputs=outputs,
    )
    ids = {"pair": str(pair), "order": str(order)} if is_long else {}
    for part in ids:
        check_name(engine, schema, part, given[part])
    columns = [name for name in parts.columns if name != ONES or label is not None]
    rows = columns_in_memory(engine, rows, list(dict.fromkeys([*columns, *ids.values()])))
    by_default = threshold is None and decision is None

    def found(rows: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        wide, mine = Wide(rows, None, None), parts
        if is_long:
            shared = [name for name in columns if name != score]
            wide = widened(rows, str(pair), str(order), str(score), shared)
            mine = parts._replace(scores=(str(score), SWAPPED))
        if label is None:
            wide = wide._replace(rows=wide.rows.with_columns(nw.lit(1).alias(ONES)))
        return orders_frame(
            wide, mine, has_labels=label is not None, metric=metric, level=level, warn=by_default
        )

    return in_memory(rows, found)


@moves_constants
def curve(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    kind: CurveName = "cumulative_accuracy",
    weight: str | None = None,
    by: str | Sequence[str] = (),
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
    collect: bool = False,
) -> IntoFrameT:
    """Return the points of a curve of each subgroup, for plotting.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    kind : {"cumulative_accuracy", "accuracy_rate", "roc"}, default "cumulative_accuracy"
        Which curve: those of :func:`lxcim_xp.cumulative_accuracy_curve`,
        :func:`lxcim_xp.accuracy_rate_curve` and :func:`lxcim_xp.roc_curve`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.
    collect : bool, default False
        Collect the columns that are needed from a lazy frame first, for what its queries cannot do
        (intervals, comparisons, curves, any decision function). The result is then what narwhals
        collects to: polars for polars, Arrow for DuckDB and Spark.

    Returns
    -------
    frame
        Of the kind of the input: the keys and the columns of the curve, from nothing decided down
        to the least confidence, one point for each distinct confidence (or score). Groups without
        any usable row have no points.

    See Also
    --------
    lxcim_xp.interpolate : Curves at given rates.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0, 0], "score": [3.0, 2.0, 1.0, 1.0]})
    >>> frames.curve(table, label="won", score="score")
       rate  cumulative_accuracy  confidence
    0  0.00                 0.00         inf
    1  0.25                 0.25         3.0
    2  0.50                 0.50         2.0
    3  1.00                 0.50         1.0
    """
    if kind not in CURVES:
        raise ValueError(f"kind must be one of {tuple(CURVES)}; found {kind!r}.")

    def on_samples(rows: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
        return curve_frame(rows, parts, kind)

    return _run(
        frame,
        on_samples,
        "frames.curve",
        CURVES[kind],
        decides=kind != "roc",
        label=label,
        scores=[score],
        weight=weight,
        by=by,
        groups=None,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
        collect=collect,
    )


@moves_constants
def sketch(
    frame: IntoFrameT,
    *,
    label: str | None,
    score: str | tuple[str, str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    bins: int = 4096,
    bound: float | None = None,
    threshold: float | None = None,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> IntoFrameT:
    """Return sums in bins of confidence of each subgroup: a state that can be merged.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    score : str or pair of str
        The column of scores, which grow with the belief in the positive side; or two columns, whose
        difference is the score: see :func:`lxcim_xp.choices.difference`.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    bins : int, default 4096
        The number of bins, at least 2. The bounds are about as wide as 1 / bins.
    bound : float, optional
        The largest confidence that a score can have: 0.5 for probabilities around 0.5. Bins are
        then fine near the bound too, where the probabilities of a confident model crowd. By default
        it comes from the domain of ``decision``, if there is one. A larger confidence is bad input.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided. If it is
        left out and all scores of a frame in memory lie in [0, 1], a warning asks whether they are
        probabilities: pass ``decision=probability()`` if they are, ``threshold=0.0`` if not.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`. Queries know only ``probability()`` and ``confidence()``.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. If it
        does not occur, or there is a third label, that is an error; in a query, all metrics are
        null.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error;
        leave it out, and ``n`` does not count it then; or count it as a draw, half right whatever
        was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out, or, if it
        is the score, count the sample as undecided. A query cannot raise before it is collected:
        there a group with missing values has null metrics, and ``n_missing`` says how many.

    Returns
    -------
    frame
        Of the kind of the input, one row for each bin of a subgroup that is not empty: the keys,
        ``bin``, its ``weight``, the weight of its right decisions ``correct``, the smallest and
        largest confidence ``g_min`` and ``g_max``, the ``count`` of its rows. Bin -1 counts the
        rows for which a query would have raised. Bin 0 stands for subgroups without usable rows
        as well.

    See Also
    --------
    merge_sketches : The state of several parts of the rows.
    sketch_bounds : What a state knows about the metrics.
    lxcim_xp.sketch : The same for arrays, in bins of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0, 1], "score": [3.0, 3.0, 3.0, 0.0]})
    >>> frames.sketch(table, label="won", score="score")
        bin  weight  correct  g_min  g_max  count
    0     0     1.0      0.5    0.0    0.0      1
    1  2148     3.0      2.0    3.0    3.0      3
    """
    bins = checked_bins(bins)

    def on_samples(rows: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
        return sketch_frame(rows, parts, bins, bound)

    def as_query(
        rows: nw.LazyFrame[Any], schema: dict[str, Any], engine: Engine, parts: Parts
    ) -> nw.LazyFrame[Any]:
        return sketch_plan(rows, schema, engine, parts, bins, bound)

    return _run(
        frame,
        on_samples,
        as_query,
        STATE,
        merge=merge_frame,
        decides=True,
        label=label,
        scores=[score],
        weight=weight,
        by=by,
        groups=None,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
    )


def merge_sketches(*states: IntoFrameT, by: str | Sequence[str] = ()) -> IntoFrameT:
    """Return the state of the rows of several states together.

    It does not matter in which order or in how many steps states are merged. Keys that are not in
    ``by`` are dropped: a state of small subgroups becomes one of larger ones.

    Parameters
    ----------
    *states : frame
        What :func:`sketch` or this function returned, of one kind of frame, all with the same
        bins, bound and decision.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup.

    Returns
    -------
    frame
        Of the kind of the input, the state of each subgroup; lazy if the states are.

    See Also
    --------
    sketch_bounds : What a state knows about the metrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> days = [pd.DataFrame({"won": [1, 0], "score": [3.0, 3.0]}) for _ in range(7)]
    >>> states = [frames.sketch(day, label="won", score="score") for day in days]
    >>> frames.merge_sketches(*states)
        bin  weight  correct  g_min  g_max  count
    0  2148    14.0      7.0    3.0    3.0     14
    """
    if not states:
        raise ValueError("merge_sketches needs at least one state; found none.")
    given: list[Any] = [narwhals_frame(state) for state in states]
    engine = engine_of(given[0])
    for rows in given[1:]:
        if engine_of(rows) != engine:
            raise TypeError(
                f"states must be of one kind of frame; found {kind_of_frame(engine)} and "
                f"{kind_of_frame(engine_of(rows))}. Collect them to the same library first."
            )
    for rows in given:
        schema = schema_of(engine, rows)
        check_state(schema, STATE)
        keys = check_keys(engine, schema, by, STATE)
    # States may have further columns, and their columns may be in any order.
    together = nw.concat([plain_columns(engine, rows, (*keys, *STATE)) for rows in given])
    if isinstance(together, nw.DataFrame) or engine.road == "shuffle":
        together = own_names(together, keys)
    if isinstance(together, nw.DataFrame):
        found = in_memory(together, lambda rows: merge_frame(rows, keys))
    elif engine.road == "shuffle":
        found = in_one_partition(together, lambda rows: merge_frame(rows, keys))
    else:
        found = merge_plan(together, engine, keys).to_native()
    result: IntoFrameT = found
    return result


def sketch_bounds(
    state: Any,
    *,
    by: str | Sequence[str] = (),
    metrics: BoundedName | Sequence[BoundedName] = WITH_BOUNDS,
    collect: bool = False,
) -> Any:
    """Return bounds between which the metrics of each subgroup certainly lie.

    Parameters
    ----------
    state : frame
        What :func:`sketch` or :func:`merge_sketches` returned.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup. Bins of keys that are left out are merged.
    metrics : str or sequence of str, default ("lxcim", "accuracy", "audrc")
        Which metrics, in the order of the columns of the result.
    collect : bool, default False
        Whether to collect a lazy state, which is small; without it, a lazy state is refused.

    Returns
    -------
    frame
        Of the kind of the state, or what narwhals collects that to (Arrow for DuckDB and Spark);
        one row for each subgroup: the keys; ``lxcim_low``, the estimate ``lxcim`` and
        ``lxcim_high``; ``accuracy``, which is exact; the same three of ``audrc`` in its discrete
        form; the number ``n`` of rows that count, and their ``weight``. Null where there are none,
        and where a query met bad or missing values.

    See Also
    --------
    lxcim_xp.lxcim_bounds, lxcim_xp.audrc_bounds : The same for arrays, and what bounds mean.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame({"won": [1, 1, 0], "score": [3.0, 2.0, 1.0]})
    >>> state = frames.sketch(table, label="won", score="score")
    >>> frames.sketch_bounds(state, metrics="lxcim").round(3)
       lxcim_low  lxcim  lxcim_high  n  weight
    0      0.889  0.889       0.889  3     3.0
    """
    names = check_metrics(metrics, known=tuple(BOUNDS))
    rows = narwhals_frame(state)
    engine = engine_of(rows)
    schema = schema_of(engine, rows)
    check_state(schema, STATE)
    outputs = [*(name for metric in names for name in BOUNDS[metric]), "n", "weight"]
    keys = check_keys(engine, schema, by, [*STATE, *outputs])
    if isinstance(rows, nw.LazyFrame) and not collect:
        raise TypeError(
            f"sketch_bounds needs a state in memory; found {kind_of_frame(engine)}. Pass "
            f"collect=True to collect it here."
        )
    rows = columns_in_memory(engine, rows, (*keys, *STATE))
    return in_memory(rows, lambda rows: bounds_frame(rows, keys, names))


def choose(
    frame: IntoFrameT,
    *,
    question: str,
    score: str,
    right: str,
    alternative: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
) -> IntoFrameT:
    """Return one row for each question of a long table, in which each row is an alternative.

    The alternative with the highest score is chosen. Evaluate the result as labels and confidences:
    ``label="correct", score="confidence", decision=confidence()``.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    question : str
        The column that says which question an alternative belongs to.
    score : str
        The column of scores, higher for better alternatives.
    right : str
        The column that says whether an alternative is right: booleans, 0/1, or the credit that it
        earns, between 0 and 1.
    alternative : str, optional
        The column of names, if it should be checked that no question has one twice. They make no
        difference otherwise.
    weight : str, optional
        A column of weights of the questions, which is passed on.
    by : str or sequence of str, default ()
        Further columns that are the same for all alternatives of a question, passed on as they are.

    Returns
    -------
    frame
        Of the kind of the input, one row for each question, in their order: the question, ``by``
        and ``weight``, then ``correct``, ``confidence`` and ``chance`` as from
        :func:`lxcim_xp.choices.choose`, and the number ``n_alternatives``.

    See Also
    --------
    lxcim_xp.choices.choose : The same for arrays, with other confidences than the margin.

    Notes
    -----
    A missing value, a question without a right alternative, one that has an alternative twice, and
    a weight that differs inside a question are errors. A query cannot raise before it is collected:
    there such questions have null results, and one row for each weight or key.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import frames
    >>> table = pd.DataFrame(
    ...     {
    ...         "question": [1, 1, 1, 2, 2, 2, 2],
    ...         "answer": ["A", "B", "C", "A", "B", "C", "D"],
    ...         "score": [0.5, 2.0, 1.0, 3.0, 0.0, 3.0, 1.0],
    ...         "right": [False, True, False, False, False, True, False],
    ...     }
    ... )
    >>> frames.choose(table, question="question", score="score", right="right").round(3)
       question  correct  confidence  chance  n_alternatives
    0         1      1.0         1.0   0.333               3
    1         2      0.5         0.0   0.250               4
    """
    rows = narwhals_frame(frame)
    engine = engine_of(rows)
    schema = schema_of(engine, rows)
    lists = lists_of(
        engine,
        schema,
        question=question,
        score=score,
        right=right,
        alternative=alternative,
        weight=weight,
        by=by,
    )
    if isinstance(rows, nw.DataFrame):
        rows = columns_in_memory(engine, rows, lists.columns)
        found = in_memory(rows, lambda rows: choose_frame(rows, lists))
    elif engine.road == "shuffle":
        found = of_keys_in_partitions(
            rows, lists.columns, (question,), lambda rows: choose_frame(rows, lists)
        )
    else:
        rows = plain_columns(engine, rows, lists.columns)
        found = choose_plan(rows, schema, engine, lists).to_native()
    result: IntoFrameT = found
    return result


def battles(
    frame: IntoFrameT,
    *,
    a: str,
    b: str,
    outcome: str,
    strength: Mapping[Any, float] | tuple[str, str],
    shares: Mapping[Any, float] | None = None,
) -> IntoFrameT:
    """Add to a table, a battle in each row, what came of it and what the strengths expected.

    For Elo ratings, Bradley and Terry's strengths, or any other numbers whose difference says who
    should win and how surely: leaderboards, chess, team sports. Evaluate the result as labels and
    scores: ``label="label", score="margin"``.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md, eager or lazy.
    a, b : str
        The columns of the names of the two sides.
    outcome : str
        The column of outcomes, as the share of ``a``: 1 or true where it won, 0 where ``b`` did,
        0.5 for a draw, or anything in between; or words, with ``shares``.
    strength : mapping or pair of str
        The strength of each name; or the names of two columns that hold those of ``a`` and ``b``.
    shares : mapping, optional
        What each value of ``outcome`` means as a share of ``a``, such as ``{"home": 1, "away": 0,
        "draw": 0.5}``.

    Returns
    -------
    frame
        The frame with two more columns: ``label``, the share of ``a``, and ``margin``, the strength
        of ``a`` minus that of ``b``.

    See Also
    --------
    lxcim_xp.choices.pairs_of_items : Where items have grades instead of battles.

    Notes
    -----
    A name or an outcome without a number is an error that names it. A query cannot raise before it
    is collected: there label or margin are null. Columns of names that a query may read as
    patterns must be renamed first.

    Strengths that were fitted to the same battles know their outcomes: fit them to others.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import lxcim
    >>> from lxcim_xp.choices import battles
    >>> games = pd.DataFrame(
    ...     {
    ...         "white": ["Ann", "Bob", "Ann"],
    ...         "black": ["Bob", "Cy", "Cy"],
    ...         "result": ["1-0", "1/2-1/2", "0-1"],
    ...     }
    ... )
    >>> found = battles(
    ...     games,
    ...     a="white",
    ...     b="black",
    ...     outcome="result",
    ...     strength={"Ann": 2400, "Bob": 2250, "Cy": 2300},
    ...     shares={"1-0": 1, "1/2-1/2": 0.5, "0-1": 0},
    ... )
    >>> found[["white", "black", "label", "margin"]]
      white black  label  margin
    0   Ann   Bob    1.0   150.0
    1   Bob    Cy    0.5   -50.0
    2   Ann    Cy    0.0   100.0
    >>> lxcim(found["label"], found["margin"]).round(3)
    np.float64(0.611)
    """
    rows = narwhals_frame(frame)
    engine = engine_of(rows)
    schema = schema_of(engine, rows)
    parts = battles_of(engine, schema, a=a, b=b, outcome=outcome, strength=strength, shares=shares)
    if isinstance(rows, nw.DataFrame):
        found = in_memory(rows, lambda rows: battles_frame(rows, parts))
    else:
        found = battles_plan(rows, schema, parts).to_native()
    result: IntoFrameT = found
    return result


def _run(
    frame: IntoFrameT,
    on_samples: Callable[[nw.DataFrame[Any], Parts], nw.DataFrame[Any]],
    as_query: Callable[..., nw.LazyFrame[Any]] | str,
    outputs: Sequence[str],
    *,
    merge: Callable[[nw.DataFrame[Any], tuple[str, ...]], nw.DataFrame[Any]] | None = None,
    collect: bool = False,
    **given: Any,
) -> IntoFrameT:
    """Check the columns and compute in the way that suits the engine.

    ``as_query`` is a string for a function that cannot be a query: its name for the error. Where
    rows are partitioned, the rows of each group are brought together, or, with ``merge``, only the
    states of the partitions.
    """
    rows = narwhals_frame(frame)
    engine = engine_of(rows)
    schema = schema_of(engine, rows)
    parts = parts_of(engine, schema, outputs=outputs, **given)

    def on_rows(rows: nw.DataFrame[Any], parts: Parts) -> nw.DataFrame[Any]:
        return on_samples(with_made_columns(rows, parts), parts)

    if collect or isinstance(rows, nw.DataFrame):
        rows = columns_in_memory(engine, rows, parts.columns)
        found = in_memory(rows, lambda rows: on_rows(rows, parts))
    elif engine.road == "shuffle" and merge is not None:
        found = merged_partitions(rows, parts, on_rows, merge)
    elif engine.road == "shuffle":
        found = in_partitions(rows, parts, on_rows)
    elif isinstance(as_query, str):
        require_samples(engine, as_query)
    else:
        rows = made_in_query(plain_columns(engine, rows, parts.columns), schema, parts)
        found = as_query(rows, parts.schema(schema), engine, parts).to_native()
    result: IntoFrameT = found
    return result
