"""The metrics as polars expressions, for your own ``agg``, ``select``, ``over`` and windows.

:mod:`lxcim_xp.frames` groups for you. Use these expressions where you group yourself: beside other
aggregations, in ``group_by_dynamic``, lazily, on the streaming engine. Polars is imported when an
expression is made.

>>> import polars as pl
>>> from lxcim_xp.polars import accuracy, lxcim
>>> games = pl.DataFrame({"won": [1, 0, 1, 1], "margin": [4.0, -3.0, -1.0, 2.0]})
>>> games.select(lxcim("won", "margin"), accuracy("won", "margin")).row(0)
(0.9375, 0.75)
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._samples.checks import check_sides
from lxcim_xp._samples.decisions import Decision, absolute
from lxcim_xp._samples.option_types import NanPolicy, Ties
from lxcim_xp._samples.samples import NAN_POLICIES, one_decision
from lxcim_xp.decision import probability

if TYPE_CHECKING:
    import polars as pl

    IntoExpr: TypeAlias = str | pl.Expr


class _Sides(NamedTuple):
    """The labels that were named, and what to do with others."""

    positive: Any
    negative: Any
    ties: str


class _Columns(NamedTuple):
    """Expressions for the samples that count, without any missing value."""

    share: Any  # of the votes for the positive side
    score: Any
    signed: Any
    weight: Any | None
    is_good: Any  # one boolean: whether the input allows for a metric
    is_confidence: bool  # whether the score is the confidence, of any sign


@moves_constants
def lxcim(
    label: "IntoExpr",
    score: "IntoExpr",
    *,
    weight: "IntoExpr | None" = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> "pl.Expr":
    """Return the expression of LxCIM.

    Parameters
    ----------
    label : str or polars.Expr
        Labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything with
        ``positive=``.
    score : str or polars.Expr
        Scores that grow with the belief in the positive side.
    weight : str or polars.Expr, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided.
    decision : Decision, optional
        ``probability()`` or ``confidence()``, instead of a threshold.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. An
        expression sees only the rows of its own group: it is null if there is no positive label
        among them, or a third label.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two or where groups may
        lack the positive one.
    ties : {"error", "omit", "half"}, default "error"
        What a row whose label is neither ``positive`` nor ``negative`` does: it makes the result
        null, is left out, or is a draw, half right whatever was decided (with both of these, still
        null where one of the two labels does not occur beside it).
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a missing value (null or NaN) does: it makes the result null, since an expression
        cannot raise; it is left out; or, if it is the score, it counts as undecided.

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
    sides = _Sides(positive, negative, ties)
    columns = _columns(label, score, weight, threshold, decision, sides, nan_policy)
    credit, confidence = _credit(columns), _confidence(columns) + 0.0
    if columns.weight is None:
        value = (credit * (2 * confidence.rank("average") - 1)).sum() / confidence.len().pow(2)
    else:
        level = _levelled(columns.weight)
        below, through = _sums_by(confidence, level)
        value = (credit * level * (below + through)).sum() / level.sum().pow(2)
    found: pl.Expr = _defined(value, columns).alias("lxcim")
    return found


@moves_constants
def accuracy(
    label: "IntoExpr",
    score: "IntoExpr",
    *,
    weight: "IntoExpr | None" = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> "pl.Expr":
    """Return the expression of the accuracy, undecided samples counting half.

    Parameters
    ----------
    label : str or polars.Expr
        Labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything with
        ``positive=``.
    score : str or polars.Expr
        Scores that grow with the belief in the positive side.
    weight : str or polars.Expr, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided.
    decision : Decision, optional
        ``probability()`` or ``confidence()``, instead of a threshold.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. An
        expression sees only the rows of its own group: it is null if there is no positive label
        among them, or a third label.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two or where groups may
        lack the positive one.
    ties : {"error", "omit", "half"}, default "error"
        What a row whose label is neither ``positive`` nor ``negative`` does: it makes the result
        null, is left out, or is a draw, half right whatever was decided (with both of these, still
        null where one of the two labels does not occur beside it).
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a missing value (null or NaN) does: it makes the result null, since an expression
        cannot raise; it is left out; or, if it is the score, it counts as undecided.

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
    sides = _Sides(positive, negative, ties)
    columns = _columns(label, score, weight, threshold, decision, sides, nan_policy)
    credit = _credit(columns)
    if columns.weight is None:
        value = credit.mean()
    else:
        level = _levelled(columns.weight)
        value = (credit * level).sum() / level.sum()
    found: pl.Expr = _defined(value, columns).alias("accuracy")
    return found


@moves_constants
def auroc(
    label: "IntoExpr",
    score: "IntoExpr",
    *,
    weight: "IntoExpr | None" = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
) -> "pl.Expr":
    """Return the expression of AUROC.

    Parameters
    ----------
    label : str or polars.Expr
        Labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything with
        ``positive=``.
    score : str or polars.Expr
        Scores that grow with the belief in the positive side.
    weight : str or polars.Expr, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided.
    decision : Decision, optional
        ``probability()`` or ``confidence()``, instead of a threshold.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it. An
        expression sees only the rows of its own group: it is null if there is no positive label
        among them, or a third label.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two or where groups may
        lack the positive one.
    ties : {"error", "omit", "half"}, default "error"
        What a row whose label is neither ``positive`` nor ``negative`` does: it makes the result
        null, is left out, or is a draw, half right whatever was decided (with both of these, still
        null where one of the two labels does not occur beside it).
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a missing value (null or NaN) does: it makes the result null, since an expression
        cannot raise; it is left out; or, if it is the score, it counts as undecided.

    Returns
    -------
    polars.Expr
        One Float64 named "auroc"; null where it is undefined or a value is bad.

    See Also
    --------
    lxcim_xp.frames.auroc : The same for frames of any kind.

    Notes
    -----
    AUROC is undefined where a class is empty. Only the order of the scores matters; ``threshold``
    says where ``nan_policy="abstain"`` puts a missing score.

    Examples
    --------
    >>> import polars as pl
    >>> from lxcim_xp.polars import auroc
    >>> games = pl.DataFrame({"won": [1, 0, 0], "margin": [3.0, 2.0, 4.0]})
    >>> games.select(auroc("won", "margin")).item()
    0.5
    """
    sides = _Sides(positive, negative, ties)
    columns = _columns(label, score, weight, threshold, decision, sides, nan_policy)
    share, key = columns.share, columns.score + 0.0
    if columns.weight is None:
        positives, negatives = share.sum(), (1.0 - share).sum()
        # Subtract the ranks of the positives among themselves (Mann and Whitney). With split votes
        # that holds too: two samples have the same pairs among themselves, whoever is higher.
        pairs = (share * key.rank("average")).sum() - positives * (positives + 1) / 2
    else:
        high = _levelled(share * columns.weight)
        low = _levelled((1.0 - share) * columns.weight)
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
    sides: "_Sides",
    nan_policy: str,
) -> _Columns:
    """Return the samples that count; those of weight zero are absent."""
    import polars as pl

    if nan_policy not in NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {NAN_POLICIES}; found {nan_policy!r}.")
    chosen = one_decision(threshold, decision)
    if not math.isfinite(chosen.threshold):
        raise ValueError(
            f"threshold must be finite; found {chosen.threshold!r}. Pass the score that decides."
        )
    known = (absolute().signed, probability().signed)
    if not chosen.is_confidence and chosen.signed not in known:
        raise TypeError(
            "a polars expression takes threshold=, decision=probability() and "
            "decision=confidence(), no other decision function. Add a column of signed "
            "confidences, and use threshold=0 on it."
        )
    check_sides(*sides)
    label, score = (pl.col(x) if isinstance(x, str) else x for x in (label, score))
    weight = pl.col(weight) if isinstance(weight, str) else weight
    present = pl.lit(True)
    if weight is not None:
        weight = weight.cast(pl.Float64)
        present = weight.is_null() | (weight != 0.0)
    share, no_label, bad, neither = _label(label, sides, present)
    no_score = score.is_null() | score.cast(pl.Float64).is_nan()
    at, wide = _threshold_like(score, chosen), score.cast(pl.Float64)
    if sides.positive is None and not chosen.is_confidence:
        bad = bad | _swapped(share, wide, present & ~no_label & ~no_score)
    if chosen.is_confidence and nan_policy == "abstain":  # the least of all, and half right
        at = pl.lit(-math.inf)
        share = pl.when(no_score).then(0.5).otherwise(share)
    if not chosen.is_confidence:
        bad = bad | at.is_infinite()  # a threshold beyond the range of Float32
    missing, present = no_label | no_score, present & ~neither
    if weight is not None:
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
    signed = wide if chosen.is_confidence else _signed(score, wide, at, chosen)
    return _Columns(
        share.fill_null(0.0).filter(counts),
        wide.filter(counts),
        signed.filter(counts),
        None if weight is None else weight.filter(counts),
        is_good,
        chosen.is_confidence,
    )


def _swapped(share: Any, score: Any, present: Any) -> Any:
    """Say whether there are shares of votes beside scores of 0 and 1 alone, as for arrays."""
    split = (share > 0.0) & (share < 1.0) & present
    zero, one = (score == 0.0) & present, (score == 1.0) & present
    return split.any() & zero.any() & one.any() & ~(present & ~zero & ~one).any()


def _label(label: Any, sides: _Sides, present: Any) -> tuple[Any, Any, Any, Any]:
    """Return the share of votes for the positive side; what is missing, bad, and to leave out."""
    import polars as pl

    positive, negative, ties = sides
    never = pl.lit(False)
    if positive is None:
        number = label.cast(pl.Float64)
        missing = number.is_null() | number.is_nan()
        is_share = (number >= 0.0) & (number <= 1.0)
        known = is_share | (number == -1.0) | missing
        mixed = (is_share & (number < 1.0) & present).any() & ((number == -1.0) & present).any()
        return number.clip(0.0, 1.0), missing, ~known | mixed, never
    if negative is None and isinstance(positive, bool):
        negative = not positive
    missing = label.is_null()
    if isinstance(positive, str):
        label = label.cast(pl.String)
    else:
        missing = missing | label.cast(pl.Float64).is_nan()
    hit = ~missing & (label == positive)
    other = ~missing & ~hit & present
    # An expression sees only the rows of its own group, so the labels are checked there.
    if negative is None:
        values = label.filter(other)
        wrong = other.any() & (~hit.any() | (values.min() != values.max()))
        return hit.cast(pl.Float64), missing, wrong, never
    found = ~missing & (label == negative)
    neither = other & ~found
    share = hit.cast(pl.Float64)
    if ties == "error":
        return share, missing, neither.any(), never
    lacking = neither.any() & ~(hit.any() & found.any())
    if ties == "omit":
        return share, missing, lacking, neither
    return pl.when(neither).then(0.5).otherwise(share), missing, lacking, never


def _threshold_like(score: Any, decision: Decision) -> Any:
    """Return the threshold in the dtype of the scores, which is unknown to an expression."""
    import polars as pl

    # A plain literal takes on the dtype of the other operand: Float32 rounds it.
    follows = pl.when(score.is_null()).then(score).otherwise(float(decision.threshold))
    return follows.fill_null(float(decision.threshold)).cast(pl.Float64)


def _signed(score: Any, wide: Any, at: Any, decision: Decision) -> Any:
    """Return ``decision.signed`` as an expression, 0 where there is no score."""
    import polars as pl

    threshold = float(decision.threshold)
    if threshold == 0 or math.isinf(2.0 * threshold):  # mirror images are exact, or overflow
        return wide if threshold == 0 else wide - at
    # Plain literals keep the dtype of the scores, so mirror images are rounded to it.
    across = 2.0 * threshold - score
    if abs(math.frexp(threshold)[0]) == 0.5:
        # Below a power of two floats are denser: the nearest would be rounded to the threshold.
        across = pl.when(across == threshold).then(3.0 * threshold - 2.0 * score).otherwise(across)
    own = 2.0 * threshold - across
    across = 2.0 * threshold - own
    gap = own.cast(pl.Float64) * 0.5 - across.cast(pl.Float64) * 0.5
    return pl.when(wide == at).then(0.0).otherwise(gap)


def _credit(columns: _Columns) -> Any:
    import polars as pl

    if columns.is_confidence:
        return columns.share
    against = pl.when(columns.signed < 0.0).then(1.0 - columns.share).otherwise(0.5)
    return pl.when(columns.signed > 0.0).then(columns.share).otherwise(against)


def _confidence(columns: _Columns) -> Any:
    return columns.signed if columns.is_confidence else columns.signed.abs()


def _levelled(weight: Any) -> Any:
    """Scale weights by a power of two, which is exact, so that products stay in range."""
    import polars as pl

    largest = weight.max()
    scale = pl.when(largest > 2.0**400).then(2.0**-600).when(largest < 2.0**-400).then(2.0**600)
    return weight * scale.otherwise(1.0)


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

    return pl.when(columns.is_good & value.is_finite()).then(value.clip(0.0, 1.0))
