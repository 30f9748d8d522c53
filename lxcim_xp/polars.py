"""Polars expressions of the metrics, for your own ``agg``, ``select``, ``over`` and windows.

:mod:`lxcim_xp.frames` groups for you. These expressions go where you group yourself: beside other
aggregations, in ``group_by_dynamic``, lazily, on the streaming engine. Polars is imported when an
expression is made.

>>> import polars as pl
>>> from lxcim_xp.polars import accuracy, lxcim
>>> games = pl.DataFrame({"won": [1, 0, 1, 1], "margin": [4.0, -3.0, -1.0, 2.0]})
>>> games.select(lxcim("won", "margin"), accuracy("won", "margin")).row(0)
(0.9375, 0.75)
"""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lxcim_xp._docs import documented
from lxcim_xp._margins import NAN_POLICIES, one_decision
from lxcim_xp.decision import Decision, absolute, probability

if TYPE_CHECKING:
    import polars as pl

    IntoExpr: TypeAlias = str | pl.Expr


class _Columns(NamedTuple):
    """Expressions of the samples that count, without any missing value."""

    is_positive: Any
    score: Any
    signed: Any
    weight: Any | None
    is_good: Any  # one boolean: nothing in the way of a metric


@documented
def lxcim(
    label: "IntoExpr",
    score: "IntoExpr",
    *,
    weight: "IntoExpr | None" = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    nan_policy: str = "raise",
) -> "pl.Expr":
    """Return the expression of LxCIM.

    Parameters
    ----------
    <EXPRESSION>

    Returns
    -------
    polars.Expr
        One Float64 named "lxcim"; null where it is undefined or a value is bad.

    See Also
    --------
    lxcim_xp.frames.lxcim : The same for frames of any kind.

    Examples
    --------
    >>> import polars as pl
    >>> from lxcim_xp.polars import lxcim
    >>> games = pl.DataFrame({"won": [1, 1, 0], "margin": [3.0, 2.0, 1.0], "k": ["a", "a", "b"]})
    >>> games.group_by("k").agg(lxcim("won", "margin")).sort("k").rows()
    [('a', 1.0), ('b', 0.0)]
    """
    columns = _columns(label, score, weight, threshold, decision, positive, nan_policy)
    credit, confidence = _credit(columns), columns.signed.abs() + 0.0
    if columns.weight is None:
        value = (credit * (2 * confidence.rank("average") - 1)).sum() / confidence.len().pow(2)
    else:
        below, through = _sums_by(confidence, columns.weight)
        value = (credit * columns.weight * (below + through)).sum() / columns.weight.sum().pow(2)
    found: pl.Expr = _defined(value, columns).alias("lxcim")
    return found


@documented
def accuracy(
    label: "IntoExpr",
    score: "IntoExpr",
    *,
    weight: "IntoExpr | None" = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    nan_policy: str = "raise",
) -> "pl.Expr":
    """Return the expression of the accuracy, undecided samples counting half.

    Parameters
    ----------
    <EXPRESSION>

    Returns
    -------
    polars.Expr
        One Float64 named "accuracy"; null where it is undefined or a value is bad.

    See Also
    --------
    lxcim_xp.frames.accuracy : The same for frames of any kind.

    Examples
    --------
    >>> import polars as pl
    >>> from lxcim_xp.polars import accuracy
    >>> games = pl.DataFrame({"won": [1, 1, 0, 1], "margin": [3.0, 2.0, 1.0, 0.0]})
    >>> games.select(accuracy("won", "margin")).item()
    0.625
    """
    columns = _columns(label, score, weight, threshold, decision, positive, nan_policy)
    credit = _credit(columns)
    if columns.weight is None:
        value = credit.mean()
    else:
        value = (credit * columns.weight).sum() / columns.weight.sum()
    found: pl.Expr = _defined(value, columns).alias("accuracy")
    return found


@documented
def auroc(
    label: "IntoExpr",
    score: "IntoExpr",
    *,
    weight: "IntoExpr | None" = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    nan_policy: str = "raise",
) -> "pl.Expr":
    """Return the expression of AUROC.

    Parameters
    ----------
    <EXPRESSION>

    Returns
    -------
    polars.Expr
        One Float64 named "auroc"; null where a class is empty or a value is bad.

    See Also
    --------
    lxcim_xp.frames.auroc : The same for frames of any kind.

    Notes
    -----
    Only the order of the scores matters; ``threshold`` says where ``nan_policy="abstain"`` puts a
    missing score.

    Examples
    --------
    >>> import polars as pl
    >>> from lxcim_xp.polars import auroc
    >>> games = pl.DataFrame({"won": [1, 0, 0], "margin": [3.0, 2.0, 4.0]})
    >>> games.select(auroc("won", "margin")).item()
    0.5
    """
    import polars as pl

    columns = _columns(label, score, weight, threshold, decision, positive, nan_policy)
    is_positive, key = columns.is_positive.cast(pl.Float64), columns.score + 0.0
    if columns.weight is None:
        positives, negatives = is_positive.sum(), (1.0 - is_positive).sum()
        # Of the ranks of the positives, those among themselves go (Mann and Whitney).
        pairs = (is_positive * key.rank("average")).sum() - positives * (positives + 1) / 2
    else:
        high, low = is_positive * columns.weight, (1.0 - is_positive) * columns.weight
        positives, negatives = high.sum(), low.sum()
        below, through = _sums_by(key, low)
        pairs = (high * (below + through)).sum() / 2
    value = pairs / (positives * negatives)
    found: pl.Expr = _defined(value, columns).alias("auroc")
    return found


def _columns(
    label: Any,
    score: Any,
    weight: Any,
    threshold: Any,
    decision: Decision | None,
    positive: Any,
    nan_policy: str,
) -> _Columns:
    """Return the samples that count; those of weight zero are absent."""
    import polars as pl

    if nan_policy not in NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {NAN_POLICIES}; found {nan_policy!r}.")
    chosen = one_decision(threshold, decision)
    if chosen.signed not in (absolute().signed, probability().signed):
        raise TypeError(
            "a polars expression takes threshold= and decision=probability(), no other decision "
            "function. Add a column of signed confidences, and use threshold=0 on it."
        )
    label, score = (pl.col(x) if isinstance(x, str) else x for x in (label, score))
    weight = pl.col(weight) if isinstance(weight, str) else weight
    hit, no_label, bad = _label(label, positive)
    no_score = score.is_null() | score.cast(pl.Float64).is_nan()
    at, wide = _threshold_like(score, chosen), score.cast(pl.Float64)
    missing, present = no_label | no_score, pl.lit(True)
    if weight is not None:
        weight = weight.cast(pl.Float64)
        present = weight.is_null() | (weight != 0.0)
        no_weight = weight.is_null() | weight.is_nan()
        bad = bad | (weight < 0.0).fill_null(False) | (weight == float("inf")).fill_null(False)
        missing, no_label = missing | no_weight, no_label | no_weight
    if chosen.domain is not None:
        low, high = chosen.domain
        bad = bad | ~wide.is_between(low, high).fill_null(True) & ~no_score
    fatal = {"raise": missing, "omit": pl.lit(False), "abstain": no_label}[nan_policy]
    is_good = ~((bad | fatal) & present).any()
    wide = pl.when(no_score).then(at).otherwise(wide)
    unusable = missing if nan_policy != "abstain" else no_label
    counts = present & ~unusable
    signed = _signed(score, wide, at, chosen)
    return _Columns(
        hit.fill_null(False).filter(counts),
        wide.filter(counts),
        signed.filter(counts),
        None if weight is None else weight.filter(counts),
        is_good,
    )


def _label(label: Any, positive: Any) -> tuple[Any, Any, Any]:
    """Return what is positive, what is missing, and what is no label."""
    import polars as pl

    if positive is not None:
        column = label.cast(pl.String) if isinstance(positive, str) else label
        missing = label.is_null()
        if isinstance(positive, float):
            missing = missing | label.is_nan()
        return column == positive, missing, pl.lit(False)
    number = label.cast(pl.Float64)
    missing = number.is_null() | number.is_nan()
    known = number.is_in([-1.0, 0.0, 1.0]) | missing
    both = (number == 0.0).any() & (number == -1.0).any()
    return number > 0.0, missing, ~known | both


def _threshold_like(score: Any, decision: Decision) -> Any:
    """Return the threshold in the dtype of the scores, which an expression does not know."""
    import polars as pl

    # A plain literal follows the dtype of what it stands beside: Float32 rounds it.
    follows = pl.when(score.is_null()).then(score).otherwise(float(decision.threshold))
    return follows.fill_null(float(decision.threshold)).cast(pl.Float64)


def _signed(score: Any, wide: Any, at: Any, decision: Decision) -> Any:
    import polars as pl

    if decision.signed is probability().signed:
        # In the dtype of the scores: in Float64 of those, 1 - p would not be rounded alike.
        complement = (1.0 - score).cast(pl.Float64)
        complement = pl.when(score.is_null() | complement.is_nan()).then(at).otherwise(complement)
        return pl.when(wide < complement).then(0.5 - complement).otherwise(wide - 0.5)
    return wide if decision.threshold == 0 else wide - at


def _credit(columns: _Columns) -> Any:
    import polars as pl

    right = columns.is_positive == (columns.signed > 0.0)
    return pl.when(columns.signed == 0.0).then(0.5).otherwise(right.cast(pl.Float64))


def _sums_by(key: Any, column: Any) -> tuple[Any, Any]:
    """Return the sums of a column below and through the block of ties of each sample."""
    import polars as pl

    ordered = column.sort_by(key)
    running = ordered.cum_sum()
    through = running.gather(key.rank("max").cast(pl.UInt32) - 1)
    below = (running - ordered).gather(key.rank("min").cast(pl.UInt32) - 1)
    return below, through


def _defined(value: Any, columns: _Columns) -> Any:
    """Return a value, null where it is NaN or the input is bad."""
    import polars as pl

    return pl.when(columns.is_good & value.is_finite()).then(value)
