"""LCUBE: the spline that describes the effect in the fewest nats has the cause on its x-axis.

K. Hlavackova-Schindler and S. Marsela, "Identifying causal direction via dense functional
classes", arXiv 2509.00538, 2025.
"""

import numpy as np
from scipy.interpolate import LSQUnivariateSpline

from .inputs import NoAnswer, standardised, two_variables

SAMPLES_PER_INTERVAL = 40  # the finest spline has n // 40 intervals


def lcube(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return how many nats more it takes to describe x by y than y by x, in raw units.

    .. math:: \mathrm{score} = L(y \to x) - L(x \to y), \qquad
        L(x \to y) = \min_m \Big[ \log m + \sum_{j=1}^m \log u_j + \frac{m + 4}{2} \log n
        + \frac{n}{2} \log \frac{\mathrm{RSS}_m}{n} \Big]

    RSS is that of the least-squares cubic spline with m equally wide intervals, m = 1 to
    max(1, n // 40), and u is the number of samples in an interval, but 1 at least. There is no
    answer if the data do not determine one of these splines.

    Of the units of y, the score keeps n times the logarithm: the side with the larger variance
    takes more nats, whatever the mechanism is. The paper's run has raw units nevertheless;
    :func:`lcube_clean` takes them out.
    """
    x, y = two_variables(x, y)
    return _difference(x, y)


def lcube_clean(x: np.ndarray, y: np.ndarray) -> float:
    """Return :func:`lcube` of the standardised sides."""
    x, y = two_variables(x, y)
    return _difference(standardised(x), standardised(y))


def _difference(x: np.ndarray, y: np.ndarray) -> float:
    along_x, along_y = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    forward, backward = np.inf, np.inf
    # Fine splines fail first: in this order, a pair without an answer takes no time.
    for intervals in range(max(1, x.size // SAMPLES_PER_INTERVAL), 0, -1):
        forward = min(forward, _nats(x[along_x], y[along_x], intervals))
        backward = min(backward, _nats(y[along_y], x[along_y], intervals))
    return backward - forward


def _nats(cause: np.ndarray, effect: np.ndarray, intervals: int) -> float:
    """Return what the effect takes by one spline of the sorted cause."""
    knots = np.linspace(cause[0], cause[-1], intervals + 1)
    try:
        squares = float(LSQUnivariateSpline(cause, effect, knots[1:-1], k=3).get_residual())
    except ValueError:
        raise NoAnswer(
            f"The data do not determine a spline with {intervals} interval(s); "
            "some of them hold too few samples."
        ) from None
    if not squares > 0:
        raise NoAnswer(f"A spline with {intervals} interval(s) leaves no residuals.")
    samples = np.histogram(cause, knots)[0]
    n = cause.size
    return float(
        np.log(intervals)
        + np.log(np.maximum(samples, 1)).sum()
        + (intervals + 4) / 2 * np.log(n)
        + n / 2 * np.log(squares / n)
    )
