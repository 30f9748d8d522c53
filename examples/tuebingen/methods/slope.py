"""SLOPE: the pair is shorter to describe by the cause and then the effect as a function of it.

A. Marx and J. Vreeken, "Telling cause from effect using MDL-based local and global regression",
ICDM 2017. Only the global regression is here: in the paper's run the local one, which wants tens of
thousands of samples with the same value, never came into play.
"""

import math

import numpy as np

from .inputs import NoAnswer, first_two_columns, min_max, two_variables

COARSEST = 0.01  # resolution, on the scale from 0 to 1
LARGEST = 1e100  # value of a function that is still taken
DIGITS = 3  # a coefficient is told to this many digits after the first


def slope(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how much shorter the description from x to y is, as a share of the raw data.

    .. math:: \mathrm{score} = \frac{L(y \to x) - L(x \to y)}{R(x) + R(y)}, \qquad
        L(x \to y) = R(x) + D(y \mid f(x)), \qquad R(v) = -n \log_2 r_v

    .. math:: D(y \mid f(x)) = \max\Big(0, \frac{n}{2} \Big[\log_2 \frac{2 \pi\, \mathrm{RSS}}{n}
        + \frac{1}{\ln 2}\Big] - n \log_2 r_y\Big)

    Both sides are on the scale from 0 to 1, and the resolution r is the smallest distance between
    two values, but 0.01 at most. f is a straight line in x, x^2, x^3, exp(x), 1/x or 1/x^2, fitted
    by least squares and chosen by its data bits D and the bits of its coefficients; the score
    counts the data bits only. For sides with several columns see :func:`.first_two_columns`.
    """
    x, y = two_variables(*first_two_columns(x, y))
    x, y = min_max(x), min_max(y)
    if min(np.unique(side.round(5)).size for side in (x, y)) <= 2:
        raise NoAnswer("A variable has two distinct values; all functions of it are the same.")
    fine_x, fine_y = _resolution(x), _resolution(y)
    raw_x, raw_y = (-x.size * math.log2(fine) for fine in (fine_x, fine_y))
    forward = raw_x + _data_bits(x, y, fine_y)
    backward = raw_y + _data_bits(y, x, fine_x)
    return (backward - forward) / (raw_x + raw_y)


def _resolution(values: np.ndarray) -> float:
    gaps = np.diff(np.sort(values))
    return min(COARSEST, float(gaps[gaps > 0].min()))


def _data_bits(cause: np.ndarray, effect: np.ndarray, resolution: float) -> float:
    """Return the bits that the effect takes beside the best function of the cause."""
    # Negative powers want no zero. In the paper's run the effect's resolution stands in for it.
    nonzero = np.where(cause == 0, resolution, cause)
    with np.errstate(over="ignore", divide="ignore"):
        terms = (cause, cause**2, cause**3, np.exp(cause), 1 / nonzero, 1 / nonzero**2)
    best, bits = math.inf, math.inf
    for term in terms:
        # Values next to zero have powers that are too large to calculate with.
        if np.abs(term).max() > LARGEST:
            continue
        offset, factor, squares = _least_squares(term, effect)
        data = _gaussian_bits(squares, effect.size, resolution)
        total = data + _coefficient_bits(offset) + _coefficient_bits(factor)
        if total < best:
            best, bits = total, data
    return bits


def _least_squares(term: np.ndarray, effect: np.ndarray) -> tuple[float, float, float]:
    """Return offset and factor of a straight line, and the sum of squares that it leaves."""
    spread = term - term.mean()
    factor = float(spread @ (effect - effect.mean()) / (spread @ spread))
    offset = float(effect.mean() - factor * term.mean())
    rest = effect - effect.mean() - factor * spread
    return offset, factor, float(rest @ rest)


def _gaussian_bits(squares: float, n: int, resolution: float) -> float:
    """Return the bits of n residuals with this sum of squares, at a resolution."""
    if squares == 0:
        return 0.0
    entropy = (math.log2(2 * math.pi * squares / n) + 1 / math.log(2)) / 2
    return max(0.0, n * (entropy - math.log2(resolution)))


def _coefficient_bits(value: float) -> float:
    """Return the bits of a coefficient: its sign, its digits, and where the decimal point is."""
    if value == 0:
        return 0.0
    shift = max(0, math.ceil(DIGITS - math.log10(abs(value))))
    return 1 + _integer_bits(math.ceil(abs(value) * 10.0**shift)) + _integer_bits(shift + 1)


def _integer_bits(number: int) -> float:
    """Return the bits of a positive integer in Rissanen's universal code.

    They are log2(c) + log2(z) + log2(log2(z)) + ... The sum should stop before the first term that
    is not positive; in the paper's run it stops after it, which at times decides what f is.
    """
    bits = math.log2(2.865064)
    term = float(number)
    while term > 0:
        term = math.log2(term)
        bits += term
    return bits
