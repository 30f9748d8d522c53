"""Formulas that queries need, as expressions: confidence, bins of a key, harmonic sums."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.differences import Verbs, difference_of
from lxcim_xp.frames.names import column_of, plain_name


class Library(NamedTuple):
    """Functions that have another name in each expression library."""

    when: Callable[..., Any]
    lit: Callable[..., Any]
    float64: Any
    float32: Any


LIBRARY = Library(nw.when, nw.lit, nw.Float64, nw.Float32)


def number(library: Library, value: float) -> Any:
    """Return a literal float, which no engine reads as a decimal."""
    return library.lit(value).cast(library.float64)


def one_if(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 where a condition holds, and 0.0 elsewhere."""
    return nw.when(condition).then(number(LIBRARY, 1.0)).otherwise(number(LIBRARY, 0.0))


def with_difference(
    frame: nw.LazyFrame[Any], name: str, first: str, second: str, *, narrow: bool
) -> nw.LazyFrame[Any]:
    """Add the difference of two columns to a query, as arrays are subtracted."""

    def keep(part: str, value: nw.Expr) -> nw.Expr:
        # SQL would repeat an expression wherever it is used.
        nonlocal frame
        frame = frame.with_columns(value.alias(f"__lx_difference_{part}"))
        return nw.col(f"__lx_difference_{part}")

    def unit(largest: nw.Expr, limits: list[tuple[float, float]]) -> nw.Expr:
        found: Any = number(LIBRARY, limits[-1][1])
        for limit, value in reversed(limits[:-1]):
            unit = number(LIBRARY, value)
            found = nw.when(largest <= number(LIBRARY, limit)).then(unit).otherwise(found)
        # Polars multiplies by the inverse where it divides by a literal, which rounds twice.
        return found + 0.0 * largest

    def round_(x: nw.Expr) -> nw.Expr:
        # Ibis rounds to integers, which must not overflow; so large a number has no decimals.
        fits = nw.when(x.abs() < number(LIBRARY, 2.0**53)).then(x).otherwise(number(LIBRARY, 0.0))
        return fits.round(0).cast(nw.Float64)

    verbs = Verbs(
        lambda x, y: nw.when(x.abs() > y.abs()).then(x.abs()).otherwise(y.abs()),
        round_,
        lambda condition, x, y: nw.when(condition).then(x).otherwise(y),
        unit,
        (lambda x: x.cast(nw.Float32).cast(nw.Float64)) if narrow else (lambda x: x),
        keep,
    )
    a, b = (column_of(column).cast(nw.Float64) for column in (first, second))
    value = difference_of(verbs, keep("a", a), keep("b", b), narrow=narrow)
    return frame.with_columns(value.alias(plain_name(name)))


def threshold_like(decision: Decision, is_float32: bool) -> float:
    """Return the threshold, rounded to the dtype of the scores as for arrays."""
    threshold = float(decision.threshold)
    return float(np.float32(threshold)) if is_float32 else threshold


def signed_confidence(library: Library, score: Any, decision: Decision, is_float32: bool) -> Any:
    """Return ``decision.signed`` as an expression, for scores that were cast to Float64."""
    if decision.is_confidence:
        return score
    threshold = threshold_like(decision, is_float32)
    if threshold == 0:
        return score
    if math.isinf(2.0 * threshold):  # mirror images would overflow
        return score - threshold

    def mirror_image(score: Any) -> Any:
        image = 2.0 * threshold - score
        # Rounded to the dtype of the scores; doing it from float64 gives the same float32.
        return image.cast(library.float32).cast(library.float64) if is_float32 else image

    across = mirror_image(score)
    if abs(math.frexp(threshold)[0]) == 0.5:
        # Below a power of two floats are denser: the nearest would be rounded to the threshold.
        doubled = threshold + 2.0 * (threshold - score)
        across = library.when(across == threshold).then(doubled).otherwise(across)
    own = mirror_image(across)
    return own * 0.5 - mirror_image(own) * 0.5


def monotone_bin(library: Library, frame: Any, key: str, name: str) -> Any:
    """Add a column of bins, about 2000 whole numbers that never fall while the key grows.

    Roots, sums and quotients are rounded correctly and so are monotone; logarithms may not be.
    """
    root = nw.col(key).abs().sqrt().sqrt()
    share = 1.0 - 1.0 / (1.0 + root)
    size = (1024.0 * share).cast(nw.Int64)
    return frame.with_columns(
        library.when(nw.col(key) < 0.0).then(0 - size).otherwise(size).alias(name)
    )


_SHIFT = 10  # terms to add one by one before an expansion takes over


def harmonic(library: Library, frame: Any, x: str, count: str, name: str) -> Any:
    """Add a column 1 / (x + 1) + ... + 1 / (x + count), with relative error below 1e-14.

    It is psi(x + count + 1) - psi(x + 1). Both are shifted up by ten terms, where the expansion
    psi(u + 1/2) = log(u) + 1/(24 u^2) - 7/(960 u^4) + ... holds; differences are taken by term.
    """
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
    for power in (13, 11, 9, 7, 5, 3):  # artanh, for a quotient close to one
        series = (series + 1.0 / power) * square
    logarithm = library.when(r < 0.06).then(2.0 * r * (1.0 + series)).otherwise(nw.col("__lx_log"))

    def tail(square: Any) -> Any:
        inner: Any = -1414477 / 67092480
        for coefficient in (511 / 67584, -127 / 30720, 31 / 8064, -7 / 960, 1 / 24):
            inner = inner * square + coefficient
        return inner * square

    tails = tail(nw.col("__lx_v2")) - tail(nw.col("__lx_u2"))
    return frame.with_columns((nw.col("__lx_shifted") + logarithm + tails).alias(name))
