"""HSIC: how much two variables depend on each other, seen through Gaussian kernels.

A. Gretton et al., "Measuring statistical dependence with Hilbert-Schmidt norms", ALT 2005; kernels
and bandwidths as in Mooij et al., JMLR 17(32), 2016.

All samples take part. No n x n matrix is built: on one variable such a kernel has a small numerical
rank, and an incomplete Cholesky factor of the kernel matrix stands for it.
"""

import numpy as np

TOLERANCE = 1e-8  # the statistic is at most about twice this away from that of the full matrices
MOST_COLUMNS = 400  # of a factor; only far outliers on every side ask for so many
MOST_FOR_MEDIAN = 1000  # samples, evenly picked, whose distances give the bandwidth


def hsic(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return the biased HSIC of two vectors: 0 if they are independent, up to the noise.

    .. math:: \frac{1}{n^2} \operatorname{tr}(K H L H), \qquad
        K_{ij} = \exp\left(-\frac{(x_i - x_j)^2}{\kappa_x^2}\right)

    with :math:`L` the same of y, :math:`H` the matrix that centres, and :math:`\kappa` the median
    of the non-zero distances. A constant side depends on nothing.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> round(hsic(x, x**2), 3)
    0.052
    """
    x, y = (np.asarray(side, dtype=float).reshape(-1) for side in (x, y))
    # With K = G G' the trace is the squared norm of the covariance of the factors' columns.
    of_x, of_y = _centred_factor(x), _centred_factor(y)
    return float(np.sum((of_x.T @ of_y) ** 2) / x.size**2)


def median_distance(values: np.ndarray) -> float:
    """Return the median of the non-zero distances between the samples, 0 if there are none."""
    few = values[evenly(values.size, MOST_FOR_MEDIAN)]
    first, second = np.triu_indices(few.size, 1)
    distances = np.abs(few[first] - few[second])
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 0.0


def evenly(n: int, most: int) -> np.ndarray:
    """Return at most so many positions, evenly picked from 0 to n - 1."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(int)


def _centred_factor(values: np.ndarray) -> np.ndarray:
    bandwidth = median_distance(values)
    if bandwidth == 0:
        return np.zeros((values.size, 1))
    factor = _incomplete_cholesky(values / bandwidth)
    return factor - factor.mean(axis=0)


def _incomplete_cholesky(values: np.ndarray) -> np.ndarray:
    """Return G (n x rank) with G G' = exp(-(v_i - v_j)^2) up to the tolerance."""
    n = values.size
    columns = np.empty((min(n, MOST_COLUMNS), n))
    left = np.ones(n)  # the diagonal of what the columns do not yet explain
    for rank, column in enumerate(columns):
        pivot = int(left.argmax())
        if left.sum() <= TOLERANCE * n or left[pivot] <= 0:
            return columns[:rank].T
        known = columns[:rank]
        kernel = np.exp(-((values - values[pivot]) ** 2))
        column[:] = (kernel - known[:, pivot] @ known) / np.sqrt(left[pivot])
        left = np.maximum(left - column**2, 0)
    return columns.T
