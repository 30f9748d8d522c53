"""Formulas of queries as narwhals expressions: confidence, bins of a key, harmonic sums."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp.decision import Decision, probability


class Library(NamedTuple):
    """What is called by another name in each library of expressions."""

    when: Callable[..., Any]
    lit: Callable[..., Any]
    float64: Any
    float32: Any


def number(library: Library, value: float) -> Any:
    """Return a literal that no engine takes for a decimal."""
    return library.lit(value).cast(library.float64)


def threshold_like(decision: Decision, is_float32: bool) -> float:
    """Return the threshold, rounded to the dtype of the scores as for arrays."""
    threshold = float(decision.threshold)
    return float(np.float32(threshold)) if is_float32 else threshold


def signed_confidence(library: Library, score: Any, decision: Decision, is_float32: bool) -> Any:
    """Return what ``decision.signed`` does to arrays, of scores that were cast to Float64."""
    if decision.signed is not probability().signed:
        threshold = threshold_like(decision, is_float32)
        return score if threshold == 0 else score - threshold
    complement = 1.0 - score
    if is_float32:  # in the dtype of the scores: what float64 rounds to float32 is the same
        complement = complement.cast(library.float32).cast(library.float64)
    return library.when(score < complement).then(0.5 - complement).otherwise(score - 0.5)


def monotone_bin(library: Library, frame: Any, key: str, name: str) -> Any:
    """Add a whole number that never falls while the key grows, of about 2000 values.

    Roots, sums and quotients are rounded correctly, and so monotone, which logarithms need not be.
    """
    import narwhals.stable.v2 as nw

    root = nw.col(key).abs().sqrt().sqrt()
    share = 1.0 - 1.0 / (1.0 + root)
    size = (1024.0 * share).cast(nw.Int64)
    return frame.with_columns(
        library.when(nw.col(key) < 0.0).then(0 - size).otherwise(size).alias(name)
    )


_SHIFT = 10  # terms that are added one by one, before an expansion takes over


def harmonic(library: Library, frame: Any, x: str, count: str, name: str) -> Any:
    """Add 1 / (x + 1) + ... + 1 / (x + count), to 1e-14 of it, for whole numbers of terms.

    It is psi(x + count + 1) - psi(x + 1). Both are shifted up by ten terms, from where on
    psi(u + 1/2) = log(u) + 1/(24 u^2) - 7/(960 u^4) + ...; differences are taken term by term.
    """
    import narwhals.stable.v2 as nw

    base, terms = nw.col(x), nw.col(count)
    shifted: Any = 0.0
    for step in range(1, _SHIFT + 1):
        shifted = shifted + terms / ((base + float(step)) * (base + terms + float(step)))
    frame = frame.with_columns(
        shifted.alias("__lx_shifted"),
        (base + (_SHIFT + 0.5)).alias("__lx_u"),
        (base + terms + (_SHIFT + 0.5)).alias("__lx_v"),
    )
    u, v = nw.col("__lx_u"), nw.col("__lx_v")
    frame = frame.with_columns(
        (1.0 / (u * u)).alias("__lx_u2"),
        (1.0 / (v * v)).alias("__lx_v2"),
        (terms / (u + v)).alias("__lx_r"),
        (v / u).log().alias("__lx_log"),
    )
    r = nw.col("__lx_r")
    square = r * r
    series: Any = 0.0
    for power in (13, 11, 9, 7, 5, 3):  # artanh, where the quotient is close to one
        series = (series + 1.0 / power) * square
    logarithm = library.when(r < 0.06).then(2.0 * r * (1.0 + series)).otherwise(nw.col("__lx_log"))

    def tail(square: Any) -> Any:
        inner: Any = -1414477 / 67092480
        for coefficient in (511 / 67584, -127 / 30720, 31 / 8064, -7 / 960, 1 / 24):
            inner = inner * square + coefficient
        return inner * square

    tails = tail(nw.col("__lx_v2")) - tail(nw.col("__lx_u2"))
    return frame.with_columns((nw.col("__lx_shifted") + logarithm + tails).alias(name))
