r"""Gaussian process regression on one variable, with a noise level that may change along it.

C. Rasmussen and C. Williams, "Gaussian processes for machine learning", 2006, chapters 2 and 5.
"""

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

MOST_STEPS = 60  # of the search for the hyperparameters
# Logarithms of length scale, signal variance and noise variance, for standardised variables.
BOUNDS = ((-3.0, 4.0), (-6.0, 6.0), (-8.0, 2.0))


def gp_residuals(x: np.ndarray, y: np.ndarray, noise_levels: int = 1) -> np.ndarray:
    r"""Return y minus its posterior mean, both sides standardised.

    The prior has covariance

    .. math:: \sigma_f^2 \exp\left(-\frac{(x_i - x_j)^2}{2 \ell^2}\right)
        + \delta_{ij} \exp(a(x_i))

    where a, the logarithm of the noise variance, is linear between its values at so many evenly
    picked quantiles of x (constant for one level). All of these are where the likelihood is
    largest, found by a search that starts from :math:`\ell = 1` and half of the variance as noise.
    """
    distances = (x[:, None] - x) ** 2
    noise_basis = _hat_functions(x, noise_levels)
    start = np.concatenate([[0.0, 0.0], np.full(noise_basis.shape[1], np.log(0.5))])
    found = minimize(
        _negative_log_likelihood,
        start,
        args=(distances, noise_basis, y),
        jac=True,
        method="L-BFGS-B",
        bounds=[*BOUNDS[:2], *[BOUNDS[2]] * noise_basis.shape[1]],
        options={"maxiter": MOST_STEPS},
    )
    noise = np.exp(noise_basis @ found.x[2:])
    covariance = _signal(found.x, distances) + np.diag(noise)
    # What the posterior mean leaves over is the noise variance times K^-1 y.
    return noise * cho_solve((cholesky(covariance, lower=True), True), y)


def _negative_log_likelihood(
    parameters: np.ndarray, distances: np.ndarray, noise_basis: np.ndarray, y: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return it and its gradient (Rasmussen and Williams, eqs. 5.8 and 5.9)."""
    signal = _signal(parameters, distances)
    noise = np.exp(noise_basis @ parameters[2:])
    factor = cholesky(signal + np.diag(noise), lower=True)
    inverse = cho_solve((factor, True), np.eye(y.size))
    solution = inverse @ y
    value = 0.5 * y @ solution + np.log(np.diag(factor)).sum()
    slope = 0.5 * (inverse - np.outer(solution, solution))  # in the entries of the covariance
    of_signal = slope * signal
    gradient = [
        np.sum(of_signal * distances) * np.exp(-2 * parameters[0]),
        np.sum(of_signal),
        *(noise_basis.T @ (np.diag(slope) * noise)),
    ]
    return float(value), np.array(gradient)


def _signal(parameters: np.ndarray, distances: np.ndarray) -> np.ndarray:
    length, variance = parameters[:2]
    return np.exp(variance - 0.5 * distances * np.exp(-2 * length))


def _hat_functions(x: np.ndarray, levels: int) -> np.ndarray:
    """Return (n, levels): the piecewise linear functions that are 1 at one of the quantiles of x.

    Quantiles that coincide count once.
    """
    places = np.unique(np.quantile(x, (np.arange(levels) + 0.5) / levels))
    return np.column_stack([np.interp(x, places, peak) for peak in np.eye(places.size)])
