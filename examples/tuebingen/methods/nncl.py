"""NNCL: two straight lines in the cause explain more of the effect than the other way round.

B. Wang and Q. Zhou, "Causal network learning with non-invertible functional relationships",
Computational Statistics & Data Analysis 156, 2021.
"""

import numpy as np

from .inputs import NoAnswer, two_variables

# k / 19, k = 1 to 18. A product and a quotient differ in the last digit, and with it the side of a
# sample that lies on the cut; these are the levels of the paper's run.
LEVELS = np.linspace(0, 1, 20)[1:-1]
LEAST_VALUES = 5  # so many distinct values on each side of a cut, or a line says nothing


def nncl(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how many times more the lines explain in the better direction, signed by it.

    .. math:: \mathrm{score} = \pm \frac{\max(R^2_{x \to y}, R^2_{y \to x})}
        {\min(R^2_{x \to y}, R^2_{y \to x})}, \qquad
        R^2 = \frac{n_l}{n} R^2_l + \frac{n_r}{n} R^2_r

    The cut into a left and a right part is the quantile at k / 19 of the presumed cause, k = 1 to
    18, at which the two lines leave the smallest sum of squares. The score is -1 or less, 1 or
    more, or 0 for a tie.
    """
    x, y = two_variables(x, y)
    forward, backward = _explained(x, y), _explained(y, x)
    if min(forward, backward) <= 0:
        raise NoAnswer("The lines explain nothing in one direction; there is no ratio to take.")
    if forward == backward:
        return 0.0
    return forward / backward if forward > backward else -backward / forward


def _explained(cause: np.ndarray, effect: np.ndarray) -> float:
    """Return the share of the effect's variance, left and right of the best cut."""
    values = np.unique(cause)
    fits = []
    for cut in np.quantile(cause, LEVELS):
        below = np.searchsorted(values, cut, side="right")
        if LEAST_VALUES <= below <= values.size - LEAST_VALUES:
            left = cause <= cut
            parts = [_line(cause[part], effect[part]) for part in (left, ~left)]
            squares = sum(squares for squares, _ in parts)
            fits.append((squares, left.mean() * parts[0][1] + (~left).mean() * parts[1][1]))
    if not fits:
        raise NoAnswer(
            f"No cut leaves {LEAST_VALUES} distinct values on each side; "
            f"one variable has {values.size} in all."
        )
    return float(min(fits, key=lambda fit: fit[0])[1])


def _line(cause: np.ndarray, effect: np.ndarray) -> tuple[float, float]:
    """Return the sum of squares that a straight line leaves, and its R^2."""
    cause, effect = cause - cause.mean(), effect - effect.mean()
    total = effect @ effect
    explained = (cause @ effect) ** 2 / (cause @ cause)
    return total - explained, explained / total if total > 0 else 0.0
