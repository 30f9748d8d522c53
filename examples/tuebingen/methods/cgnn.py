"""CGNN: a network makes the effect out of the cause and noise better than the cause of the effect.

O. Goudet, D. Kalainathan, P. Caillou, I. Guyon, D. Lopez-Paz and M. Sebag, "Learning functional
causal models with generative neural networks", in Explainable and Interpretable Models in Computer
Vision and Machine Learning, Springer 2018.

The paper's run took batches of two samples and few epochs. This does the same.
"""

import functools
import zlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .inputs import standardised
from .training import (
    NETWORKS_IN_A_BATCH,
    Answers,
    Direction,
    Pairs,
    Parameters,
    adam,
    in_batches,
    only,
)

UNITS = 20
EPOCHS, TEST_EPOCHS = 10, 2
RUNS = 3
RATE = 1e-2
GAMMAS = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the kernels exp(-gamma d^2)
CHUNK = 1024  # steps that are compiled into one loop


def cgnn(
    x: np.ndarray,
    y: np.ndarray,
    *,
    epochs: int = EPOCHS,
    units: int = UNITS,
    runs: int = RUNS,
    seed: int = 0,
) -> float:
    r"""Return the relative difference of the discrepancies that remain.

    .. math:: \frac{M_{y \to x} - M_{x \to y}}{M_{y \to x} + M_{x \to y}}, \qquad
        M_{x \to y} = \operatorname{mean} \operatorname{MMD}^2
        \left( \{(x, \hat y)\}, \{(x, y)\} \right)

    of standardised variables, with :math:`\hat y` a network of x and standard normal noise. It has
    one layer of ReLU units and is trained to make the same discrepancy small, two samples at a
    time. The mean is over all batches of two further epochs, and over ``runs`` networks.

    The random numbers of a network depend on ``seed`` and on its data, and on nothing else, so that
    exchanging x and y changes the sign of the score only.
    """
    return only(cgnn_of_pairs([(x, y)], epochs=epochs, units=units, runs=runs, seed=seed))


def cgnn_of_pairs(
    pairs: Pairs, *, epochs: int = EPOCHS, units: int = UNITS, runs: int = RUNS, seed: int = 0
) -> Answers:
    """Yield (place, score or what is wrong) of every pair, many of them trained at once."""
    costs = functools.partial(_costs, epochs=epochs, units=units, runs=runs, seed=seed)
    return in_batches(pairs, standardised, costs, _relative_difference)


def _relative_difference(backward: float, forward: float) -> float:
    return (backward - forward) / (backward + forward)


def _costs(
    directions: list[Direction], epochs: int, units: int, runs: int, seed: int
) -> list[float]:
    """Return the mean discrepancy of the networks of each direction."""
    draws = [_generator(seed, run, direction) for direction in directions for run in range(runs)]
    directions = [direction for direction in directions for _ in range(runs)]
    # Idle networks fill the batch: its size is compiled.
    idle = NETWORKS_IN_A_BATCH * runs - len(directions)
    first = [_first_parameters(draw, units) for draw in draws]
    first += first[:1] * idle
    parameters = {name: np.stack([one[name] for one in first]) for name in first[0]}

    def chunks(epochs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        couples = [
            _couples(direction, draw, epochs)
            for direction, draw in zip(directions, draws, strict=True)
        ]
        return _chunks(couples + [couples[0][:0]] * idle)

    zeros = jax.tree.map(np.zeros_like, parameters)
    state: Any = (parameters, zeros, zeros, np.zeros(len(first), np.float32))
    for samples, left in chunks(epochs):
        state = _train(state, samples, left)
    total = sum(np.asarray(_test(state[0], *chunk), float) for chunk in chunks(TEST_EPOCHS))
    tests = np.array([TEST_EPOCHS * (direction.cause.size // 2) for direction in directions])
    means = np.asarray(total)[: len(directions)] / tests
    return means.reshape(-1, runs).mean(axis=1).tolist()


def _generator(seed: int, run: int, direction: Direction) -> np.random.Generator:
    return np.random.default_rng([seed, run, *(zlib.crc32(side.tobytes()) for side in direction)])


def _first_parameters(draw: np.random.Generator, units: int) -> Parameters:
    def uniform(inputs: int, *shape: int) -> np.ndarray:
        return (draw.uniform(-1, 1, shape) / np.sqrt(inputs)).astype(np.float32)

    return {
        "of_cause": uniform(2, units),
        "of_noise": uniform(2, units),
        "shifts": uniform(2, units),
        "weights": uniform(units, units),
        "constant": uniform(units),
    }


def _couples(direction: Direction, draw: np.random.Generator, epochs: int) -> np.ndarray:
    """Return cause, effect and noise (steps, 3, 2) of two samples for each step of some epochs."""
    cause, effect = direction
    even = cause.size // 2 * 2
    order = np.concatenate([draw.permutation(cause.size)[:even] for _ in range(epochs)])
    samples = np.stack([cause[order], effect[order], draw.standard_normal(order.size)])
    return samples.reshape(3, -1, 2).swapaxes(0, 1).astype(np.float32)


def _chunks(couples: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield samples (CHUNK, networks, 3, 2), and how many steps each network has left of them."""
    sizes = np.array([len(own) for own in couples])
    for start in range(0, sizes.max(), CHUNK):
        samples = np.zeros((CHUNK, len(couples), 3, 2), np.float32)
        left = np.clip(sizes - start, 0, CHUNK)
        for network, own in enumerate(couples):
            samples[: left[network], network] = own[start : start + CHUNK]
        yield samples, left


@jax.jit
def _train(state: tuple, samples: jax.Array, left: jax.Array) -> tuple:
    gradients = jax.vmap(jax.grad(_loss))
    adam_of_each = jax.vmap(adam, (0, 0, 0, 0, 0, None))  # networks that wait count no steps

    def step(number: jax.Array, state: tuple) -> tuple:
        *fit, count = state
        new = *adam_of_each(*fit, gradients(fit[0], samples[number]), count + 1, RATE), count + 1
        moves = number < left
        return jax.tree.map(
            lambda new, old: jnp.where(moves.reshape(-1, *[1] * (old.ndim - 1)), new, old),
            new,
            state,
        )

    return jax.lax.fori_loop(0, left.max(), step, jax.tree.map(jnp.asarray, state))


@jax.jit
def _test(parameters: Parameters, samples: jax.Array, left: jax.Array) -> jax.Array:
    """Return the sum of the discrepancies of all steps that are left."""

    def step(number: jax.Array, total: jax.Array) -> jax.Array:
        return total + jnp.where(number < left, jax.vmap(_loss)(parameters, samples[number]), 0)

    return jax.lax.fori_loop(0, left.max(), step, jnp.zeros(len(left)))


def _loss(parameters: Parameters, samples: jax.Array) -> jax.Array:
    """Return the squared MMD of (cause, made) and (cause, effect)."""
    cause, effect, noise = samples
    hidden = jax.nn.relu(
        cause[:, None] * parameters["of_cause"]
        + noise[:, None] * parameters["of_noise"]
        + parameters["shifts"]
    )
    made = jnp.sum(hidden * parameters["weights"], axis=1) + parameters["constant"]
    between_causes = (cause[:, None] - cause) ** 2

    def mean_kernel(one: jax.Array, other: jax.Array) -> jax.Array:
        squares = between_causes + (one[:, None] - other) ** 2
        return sum(jnp.mean(jnp.exp(-gamma * squares)) for gamma in GAMMAS)

    return mean_kernel(made, made) - 2 * mean_kernel(made, effect) + mean_kernel(effect, effect)
