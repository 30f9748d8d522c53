"""LOCI: the effect less its location, over its scale, depends less on the cause than vice versa.

A. Immer, C. Schultheiss, J. E. Vogt, B. Schölkopf, P. Bühlmann and A. Marx, "On the
identifiability and estimation of causal location-scale noise models", ICML 2023.

The method asks for standardised variables, and :func:`loci_clean` standardises them. The paper's
run gave it the raw ones, as :func:`loci` does. Where they are large, all units are saturated and
the network is a constant.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from .hsic import hsic
from .inputs import NoAnswer, standardised
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

MOST_GROUPS = 1024
ROUNDING = 1e-6  # two networks that are both constant leave the same dependence, up to this


def loci(x: np.ndarray, y: np.ndarray, *, steps: int = STEPS, units: int = UNITS) -> float:
    r"""Return what x depends on its residual less what y depends on its own (paper mode).

    .. math:: \operatorname{HSIC}\left(y, \frac{x - \mu(y)}{\sigma(y)}\right)
        - \operatorname{HSIC}\left(x, \frac{y - \mu(x)}{\sigma(x)}\right)

    Location and scale are those of the Gaussian with natural parameters :math:`\eta_1(x)` and
    :math:`\eta_2(x) < 0`, that is :math:`\mu = -\eta_1 / 2 \eta_2` and
    :math:`\sigma^2 = -1 / 2 \eta_2`. One network with ``units`` tanh units gives :math:`\eta_1`
    and :math:`\log(-2 \eta_2)`, and maximises the likelihood in ``steps`` steps.
    """
    return only(loci_of_pairs([(x, y)], steps=steps, units=units))


def loci_clean(x: np.ndarray, y: np.ndarray, *, steps: int = STEPS, units: int = UNITS) -> float:
    """Return the same of standardised variables."""
    return only(loci_clean_of_pairs([(x, y)], steps=steps, units=units))


def loci_of_pairs(pairs: Pairs, *, steps: int = STEPS, units: int = UNITS) -> Answers:
    """Yield (place, score or what is wrong) of every pair, many of them trained at once."""
    costs = functools.partial(_costs, steps=steps, units=units)
    return in_batches(pairs, np.asarray, costs, _difference, _number_of_groups)


def loci_clean_of_pairs(pairs: Pairs, *, steps: int = STEPS, units: int = UNITS) -> Answers:
    """Yield (place, score or what is wrong) of every pair, standardised."""
    costs = functools.partial(_costs, steps=steps, units=units)
    return in_batches(pairs, standardised, costs, _difference, _number_of_groups)


def _difference(backward: float, forward: float) -> float:
    if abs(backward - forward) < ROUNDING:
        raise NoAnswer("Both directions leave the same dependence, up to rounding.")
    return backward - forward


def _costs(directions: list[Direction], steps: int, units: int) -> list[float]:
    """Return how much each residual depends on the cause."""
    rows = padded([_groups(*direction) for direction in directions])
    start = first_parameters(len(directions), units, outputs=2)
    trained, _ = train(_loss, start, rows, steps)
    found = []
    for place, (cause, effect) in enumerate(directions):
        mine = {name: np.asarray(values[place], float) for name, values in trained.items()}
        eta_1, log_precision = network(mine, cause, np)
        scale = np.exp(-log_precision / 2)
        residual = (effect - eta_1 * scale**2) / scale
        found.append(hsic(cause, residual) if np.isfinite(residual).all() else np.nan)
    return found


def _number_of_groups(cause: np.ndarray) -> int:
    return min(np.unique(cause).size, MOST_GROUPS)


def _groups(cause: np.ndarray, effect: np.ndarray) -> Rows:
    """Return mean and variance of the effect for each value of the cause.

    That is all the Gaussian likelihood needs to know. Where the cause has very many values,
    neighbours share a group.
    """
    values, group = np.unique(cause, return_inverse=True)
    if values.size > MOST_GROUPS:
        group = group * MOST_GROUPS // values.size
    count = np.bincount(group)
    mean = np.bincount(group, effect) / count
    return {
        "cause": np.bincount(group, cause) / count,
        "mean": mean,
        "variance": np.bincount(group, (effect - mean[group]) ** 2) / count,
        "weight": count / cause.size,
    }


def _loss(parameters: Parameters, rows: Rows) -> tuple[jax.Array, jax.Array]:
    """Return the mean negative log-likelihood, without its constant."""
    eta_1, log_precision = network(parameters, rows["cause"])
    precision = jnp.exp(log_precision)
    squares = (rows["mean"] - eta_1 / precision) ** 2 + rows["variance"]
    cost = jnp.sum(rows["weight"] * (precision * squares - log_precision)) / 2
    return cost, cost
