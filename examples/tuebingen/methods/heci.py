"""HECI: piece by piece of the cause, the effect follows a simple curve with noise of its own.

S. Xu, O. Mian, A. Marx and J. Vreeken, "Inferring cause and effect in the presence of
heteroscedastic noise", ICML 2022.
"""

import numpy as np

from .inputs import NoAnswer, min_max, two_variables

BINS = 20
LEAST_VALUES = 10  # distinct values of the cause in a bin
DEGREES = (1, 2, 3)
NOISE_FLOOR = 1e-4  # so that a perfect fit does not cost minus infinity


def heci(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how many bits more it takes to describe x by y than y by x.

    .. math:: \mathrm{score} = L(y \to x) - L(x \to y), \qquad
        L(x \to y) = \min_S \sum_{s \in S} \min_{d \le 3} \Big[ n_s \log_2
        \frac{\mathrm{RSS}_{s,d} + 10^{-4}}{n_s} + (d + 2) \log_2 n \Big]

    Both sides are on the scale from 0 to 1. S runs over all ways to put neighbouring bins of x
    together, and the residual sum of squares is that of the best polynomial of degree d in
    segment s.
    """
    x, y = two_variables(x, y)
    x, y = min_max(x), min_max(y)
    return _bits(y, x) - _bits(x, y)


def _bits(cause: np.ndarray, effect: np.ndarray) -> float:
    """Return the cost of the best segmentation, found by dynamic programming."""
    order = np.argsort(cause, kind="stable")
    cause, effect = cause[order], effect[order]
    bounds = _bounds(cause)
    # The triangular factors of the bins hold all that a regression needs to know about them, and
    # are small enough to be put together for each of the many segments.
    columns = np.column_stack([np.vander(cause, max(DEGREES) + 1, increasing=True), effect])
    factors = [np.linalg.qr(part, mode="r") for part in np.split(columns, bounds[1:-1])]
    best = [0.0]  # the cost of everything left of a bound
    for end in range(1, len(bounds)):
        costs = (
            _segment_bits(np.vstack(factors[start:end]), bounds[end] - bounds[start], cause.size)
            for start in range(end)
        )
        best.append(min(before + cost for before, cost in zip(best, costs, strict=True)))
    return best[-1]


def _bounds(cause: np.ndarray) -> list[int]:
    """Return where the bins of the sorted cause start, and its length as the last bound.

    The bins are equally wide and closed on the right. A bin with too few distinct values is put
    together with the next ones until there are enough; what is left over at the end goes to the
    last bin.
    """
    # Sums of 1/20, as in the paper's run, miss k/20 by a rounding error, which decides where the
    # samples on a bound go.
    inner = np.cumsum(np.full(BINS - 1, 1 / BINS))
    bounds = [0]
    for end in (*np.searchsorted(cause, inner, side="right"), cause.size):
        if np.unique(cause[bounds[-1] : end]).size >= LEAST_VALUES:
            bounds.append(int(end))
    if len(bounds) == 1:
        raise NoAnswer(f"One variable has fewer than {LEAST_VALUES} distinct values.")
    bounds[-1] = cause.size
    return bounds


def _segment_bits(factors: np.ndarray, samples: int, n: int) -> float:
    """Return the cost of the best polynomial in one segment of a pair with n samples."""
    # Row d of the last column is what degree d explains, and the rows below it what it leaves.
    effect = np.linalg.qr(factors, mode="r")[:, -1]
    return min(
        float(samples * np.log2((left @ left + NOISE_FLOOR) / samples) + (degree + 2) * np.log2(n))
        for degree, left in ((degree, effect[degree + 1 :]) for degree in DEGREES)
    )
