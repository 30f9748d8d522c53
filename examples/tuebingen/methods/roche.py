"""ROCHE: a Student-t law, its location, scale and tails functions of the cause, fits the effect.

Q.-D. Tran, B. Duong, P. Nguyen and T. Nguyen, "Robust estimation of causal heteroscedastic noise
models", SDM 2024.

The method asks for standardised variables, and :func:`roche_clean` standardises them. The paper's
run gave it the raw ones, as :func:`roche` does; the sign is then nearly always that of the
difference of their variances.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from .hsic import evenly
from .inputs import standardised
from .training import (
    STEPS,
    UNITS,
    Answers,
    Direction,
    Pairs,
    Parameters,
    Rows,
    first_parameters,
    in_batches,
    network,
    only,
    padded,
    train,
)

MOST_SAMPLES = 1000  # evenly picked, to save time


def roche(x: np.ndarray, y: np.ndarray, *, steps: int = STEPS, units: int = UNITS) -> float:
    r"""Return the difference of mean log-likelihoods, of y given x and x given y (paper mode).

    .. math:: p(y \mid x) = \frac{\Gamma(a + \tfrac12)}{\Gamma(a) \sqrt{2 \pi b}}
        \left(1 + \frac{(y - \mu)^2}{2 b}\right)^{-a - 1/2}

    is Student's t with 2a > 2 degrees of freedom, location :math:`\mu` and squared scale b/a. One
    network with ``units`` tanh units gives :math:`\mu(x)`, :math:`\log(a(x) - 1)` and
    :math:`\log b(x)`. Its loss is the mean of :math:`-\log p`, plus
    :math:`\frac{1}{n^2} \sum_i (a_i / (a_i - 1))^2` against heavy tails; the log-likelihood is the
    best of all ``steps``. At most 1000 samples take part.
    """
    return only(roche_of_pairs([(x, y)], steps=steps, units=units))


def roche_clean(x: np.ndarray, y: np.ndarray, *, steps: int = STEPS, units: int = UNITS) -> float:
    """Return the same of standardised variables."""
    return only(roche_clean_of_pairs([(x, y)], steps=steps, units=units))


def roche_of_pairs(pairs: Pairs, *, steps: int = STEPS, units: int = UNITS) -> Answers:
    """Yield (place, score or what is wrong) of every pair, many of them trained at once."""
    return in_batches(pairs, _few, functools.partial(_costs, steps=steps, units=units))


def roche_clean_of_pairs(pairs: Pairs, *, steps: int = STEPS, units: int = UNITS) -> Answers:
    """Yield (place, score or what is wrong) of every pair, standardised."""
    costs = functools.partial(_costs, steps=steps, units=units)
    return in_batches(pairs, lambda values: _few(standardised(values)), costs)


def _few(values: np.ndarray) -> np.ndarray:
    return values[evenly(values.size, MOST_SAMPLES)]


def _costs(directions: list[Direction], steps: int, units: int) -> list[float]:
    """Return the least mean negative log-likelihood of each effect, given its cause."""
    rows = padded(
        [
            {"cause": cause, "effect": effect, "weight": np.full(cause.size, 1 / cause.size)}
            for cause, effect in directions
        ]
    )
    start = first_parameters(len(directions), units, outputs=3)
    _, least = train(_loss, start, rows, steps)
    return np.asarray(least, float).tolist()


def _loss(parameters: Parameters, rows: Rows) -> tuple[jax.Array, jax.Array]:
    location, log_a_less_1, log_b = network(parameters, rows["cause"])
    a_less_1, weight = jnp.exp(log_a_less_1), rows["weight"]
    a = 1 + a_less_1
    squares = (rows["effect"] - location) ** 2
    log_likelihood = (
        _log_gamma_ratio(a)
        - (jnp.log(2 * jnp.pi) + log_b) / 2
        - (a + 0.5) * jnp.log1p(squares * jnp.exp(-log_b) / 2)
    )
    cost = -jnp.sum(weight * log_likelihood)
    penalty = jnp.sum(weight * (a / a_less_1) ** 2) / jnp.sum(weight > 0)
    return cost + penalty, cost


def _log_gamma_ratio(a: jax.Array) -> jax.Array:
    r"""Return :math:`\log \Gamma(a + 1/2) - \log \Gamma(a)` for a >= 1.

    It is the asymptotic series at a + 4, four steps back by :math:`\Gamma(a + 1) = a \Gamma(a)`:
    several times as fast as the difference of two log-gammas, and without its cancellation.
    """
    steps_back = (1 + 0.5 / a) * (1 + 0.5 / (a + 1)) * (1 + 0.5 / (a + 2)) * (1 + 0.5 / (a + 3))
    a = a + 4
    series = jnp.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    return series - jnp.log(steps_back)
