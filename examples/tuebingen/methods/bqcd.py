"""bQCD: the quantiles of cause, then effect given cause, are the shorter description.

N. Tagasovska, V. Chavez-Demoulin and T. Vatter, "Distinguishing cause from effect using quantiles:
bivariate quantile causal discovery", ICML 2020.
"""

import zlib

import numpy as np
from pyvinecopulib import Bicop, FitControlsBicop
from pyvinecopulib.families import tll
from scipy.special import ndtri

from .inputs import first_two_columns, two_variables

LEVELS = 7
FEW_SAMPLES = 200  # below this, the median alone is used


def bqcd(x: np.ndarray, y: np.ndarray, seed: int = 0) -> float:
    r"""Return how much cheaper the quantiles are in the direction x -> y.

    .. math:: \frac{(L_y + L_{x|y}) - (L_x + L_{y|x})}{L_x + L_y}, \qquad
        L = \int_0^1 \frac{1}{n} \sum_i \rho_t(z_i - q_t) \, dt, \quad
        \rho_t(e) = \max(t e, (t - 1) e)

    Both sides become normal scores z of their ranks u = rank / (n + 1). The marginal
    :math:`q_t` is the quantile of z at level t; the conditional one is that at the level
    :math:`h^{-1}(t \mid u_i)` of the other side's :math:`u_i`, where h is the conditional
    distribution of a nonparametric copula. The integral takes 7 Gauss-Legendre levels, or 1 with
    fewer than 200 samples.

    Of sides with several columns, the first two columns together are taken. Ties are ranked in
    random order, and seed chooses the order.
    """
    x, y = two_variables(*first_two_columns(x, y), least=10)
    ranks_x, ranks_y = _ranks(x, seed), _ranks(y, seed)
    scores_x, scores_y = ndtri(ranks_x), ndtri(ranks_y)
    controls = FitControlsBicop(family_set=[tll], nonparametric_method="constant")
    copula = Bicop.from_data(np.column_stack([ranks_x, ranks_y]), controls=controls)

    of_x = of_y = of_x_given_y = of_y_given_x = 0.0
    nodes, weights = np.polynomial.legendre.leggauss(LEVELS if x.size >= FEW_SAMPLES else 1)
    for level, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        levels = np.full(x.size, level)
        y_given_x = copula.hinv1(np.column_stack([ranks_x, levels]))
        x_given_y = copula.hinv2(np.column_stack([levels, ranks_y]))
        of_x += weight * _loss(scores_x, levels, level)
        of_y += weight * _loss(scores_y, levels, level)
        of_x_given_y += weight * _loss(scores_x, x_given_y, level)
        of_y_given_x += weight * _loss(scores_y, y_given_x, level)
    return float(((of_y + of_x_given_y) - (of_x + of_y_given_x)) / (of_x + of_y))


def _ranks(values: np.ndarray, seed: int) -> np.ndarray:
    # The order of ties comes from the values themselves, so that it is another one for the other
    # side, and the same if the sides change places.
    noise = np.random.default_rng([seed, zlib.crc32(values.tobytes())]).random(values.size)
    ranks = np.empty(values.size)
    ranks[np.lexsort((noise, values))] = np.arange(1, values.size + 1)
    return ranks / (values.size + 1)


def _loss(scores: np.ndarray, quantile_levels: np.ndarray, level: float) -> float:
    """Return the mean pinball loss of the quantiles of the scores at these levels."""
    errors = scores - np.quantile(scores, quantile_levels)
    return float(np.mean(np.maximum(level * errors, (level - 1) * errors)))
