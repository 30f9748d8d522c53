r"""All penalised least-squares fits of one sample at once, and the spline bases they live in.

With a design matrix X, a roughness penalty :math:`\Omega` and a smoothness :math:`\lambda`, the fit
minimises

.. math:: \|y - X\beta\|^2 + \lambda c \, \beta^\top \Omega \beta .

One eigendecomposition serves every :math:`\lambda`: in the eigenvectors of
:math:`X^\top X` against :math:`X^\top X + c \Omega`, with eigenvalues :math:`\mu_k` between 0
(all roughness) and 1 (straight), the fit shrinks each direction by
:math:`\mu_k / (\mu_k + \lambda (1 - \mu_k))`. P. Green and B. Silverman, "Nonparametric regression
and generalized linear models", 1994.
"""

from math import log2
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import LinAlgError, eigh, qr
from scipy.sparse.linalg import eigsh

from .hsic import evenly
from .inputs import NoAnswer


class PenalisedFits(NamedTuple):
    """The fits of one sample for every smoothness."""

    straightness: np.ndarray  # (p,): the eigenvalues mu
    loadings: np.ndarray  # (p,): of y on the eigenvectors
    energy: float  # the sum of squares of y


def penalised_fits(
    design: np.ndarray, penalty: np.ndarray, y: np.ndarray, scale: float
) -> PenalisedFits:
    """Return the fits of y, whose smoothness is counted in units of scale."""
    gram = design.T @ design
    try:
        straightness, vectors = eigh(gram, gram + scale * penalty)
    except LinAlgError:
        raise NoAnswer("One side is spread so unevenly that its splines are singular.") from None
    return PenalisedFits(straightness.clip(0, 1), vectors.T @ (design.T @ y), float(y @ y))


def degrees_of_freedom(fits: PenalisedFits, smoothness: float) -> float:
    """Return the trace of the matrix that maps y to its fit."""
    mu = fits.straightness
    return float(np.sum(mu / (mu + smoothness * (1 - mu))))


def residual_sum(fits: PenalisedFits, smoothness: float) -> float:
    """Return the sum of squared residuals, at least the rounding of the sum of squares of y."""
    mu = fits.straightness
    weights = fits.loadings / (mu + smoothness * (1 - mu))
    explained = weights @ (2 * fits.loadings - mu * weights)
    return max(fits.energy - float(explained), 1e-14 * fits.energy)


def cubic_smoothing_spline(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Return the design, the penalty and its scale for a cubic smoothing spline on [0, 1].

    The basis functions are cubic B-splines with a knot at every distinct x, or at fewer of them,
    evenly picked, from 50 distinct values on. The penalty is :math:`\int f''^2`, and its scale
    puts it on a level with :math:`X^\top X`: the ratio of their traces, without the basis
    functions at the two ends. These are the conventions of R's ``smooth.spline``.
    """
    distinct = np.unique(x)
    picked = np.linspace(0, distinct.size - 1, _number_of_knots(distinct.size)).astype(int)
    knots = distinct[picked]
    padded = np.concatenate([[knots[0]] * 3, knots, [knots[-1]] * 3])
    design = BSpline.design_matrix(x, padded, 3).toarray()
    # f'' is linear between knots, so that two Gauss points per interval make the integral exact.
    half, middle = np.diff(knots) / 2, (knots[1:] + knots[:-1]) / 2
    points = np.concatenate([middle - half / np.sqrt(3), middle + half / np.sqrt(3)])
    curvature = BSpline(padded, np.eye(design.shape[1]), 3)(points, nu=2)
    penalty = curvature.T @ (np.concatenate([half, half])[:, None] * curvature)
    inner = slice(2, -3)
    scale = np.sum(design[:, inner] ** 2) / np.diag(penalty)[inner].sum()
    return design, penalty, float(scale)


def _number_of_knots(distinct: int) -> int:
    """Return how many knots: all up to 50, 100 of 200, 140 of 800, 200 of 3200, then few more."""
    if distinct < 50:
        return distinct
    if distinct > 3200:
        return int(200 + (distinct - 3200) ** 0.2)
    return int(
        2 ** np.interp(distinct, [50, 200, 800, 3200], [log2(k) for k in (50, 100, 140, 200)])
    )


def thin_plate_spline(
    x: np.ndarray, size: int, most_knots: int = 500
) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Return the design, the penalty and its scale for a thin plate regression spline.

    The full spline is a straight line plus :math:`\sum_j \delta_j |x - x_j|^3 / 12`, with a knot
    at every distinct x (evenly picked ones if there are too many) and roughness
    :math:`\delta^\top E \delta`, where :math:`E_{ij} = |x_i - x_j|^3 / 12`. It is cut down to
    the eigenvectors of E with the largest eigenvalues, so many that size basis functions are left
    (S. Wood, "Thin plate regression splines", JRSS B 65(1), 2003).
    """
    x = (x - x.mean()) / x.std()
    distinct = np.unique(x)
    knots = distinct[evenly(distinct.size, most_knots)]
    values, vectors = _largest_eigenpairs(_cubic_distances(knots, knots), size)
    # Only what is orthogonal to straight lines is rough.
    straight = np.column_stack([np.ones(knots.size), knots])
    rough = qr(vectors.T @ straight)[0][:, 2:]
    penalty = np.zeros((size, size))
    penalty[:-2, :-2] = rough.T @ (values[:, None] * rough)
    curves = _cubic_distances(distinct, knots) @ (vectors @ rough)
    design = np.column_stack([curves, np.ones(distinct.size), distinct])
    design = design[np.searchsorted(distinct, x)]
    scale = np.trace(design.T @ design) / np.trace(penalty)
    return design, penalty, float(scale)


def _cubic_distances(points: np.ndarray, knots: np.ndarray) -> np.ndarray:
    return np.abs(points[:, None] - knots) ** 3 / 12


def _largest_eigenpairs(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of largest size and their vectors, of a symmetric matrix."""
    if matrix.shape[0] <= 4 * count:
        values, vectors = np.linalg.eigh(matrix)
        largest = np.argsort(-np.abs(values))[:count]
        return values[largest], vectors[:, largest]
    # A fixed start makes the iteration give the same digits every time.
    return eigsh(matrix, count, v0=np.ones(matrix.shape[0]))
