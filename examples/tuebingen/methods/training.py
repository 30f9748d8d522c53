"""Small networks trained side by side: one for each direction of each pair.

A network has one layer of tanh units. It goes from the cause to the parameters of a law of the
effect, and is trained by Adam on all of its samples at once. Networks with about as many samples
are one batch, in which all take their steps at the same time. Padding gives them the same number,
and a weight of zero takes the padding out of every sum.

LOCI and ROCHE differ in the law and in what they compare; CGNN, whose networks are of another
kind, shares only Adam and the batches.
"""

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .inputs import NoAnswer, two_variables

UNITS = 100
STEPS = 5000
FIRST_RATE, LAST_RATE = 1e-2, 1e-6  # of a cosine schedule
SEED = 711  # of the paper's run, where every network starts from the same weights
SHORTEST = 128  # of the lengths that rows are padded to
NETWORKS_IN_A_BATCH = 8

Pairs = Sequence[tuple[np.ndarray, np.ndarray]]
Answers = Iterator[tuple[int, float | ValueError]]
Parameters = dict[str, Any]  # of one network, or stacked for all networks of a batch
Rows = Mapping[str, Any]  # what a network is trained on: vectors of one length, or stacked


class Direction(NamedTuple):
    """What a network is for: the effect, given the cause."""

    cause: np.ndarray
    effect: np.ndarray


def in_batches(
    pairs: Pairs,
    prepare: Callable[[np.ndarray], np.ndarray],
    costs: Callable[[list[Direction]], Sequence[float]],
    score: Callable[[float, float], float] = operator.sub,
    rows_of: Callable[[np.ndarray], int] = np.size,
) -> Answers:
    """Yield the place of each pair with its score, or with what is wrong with it.

    ``costs`` trains the networks of a batch. They have about as many rows to be trained on;
    ``rows_of(cause)`` says how many. ``score(backward, forward)`` compares the costs of y -> x and
    x -> y. A pair comes as soon as both are known, not in the order of the places.
    """
    directions: dict[tuple[int, str], Direction] = {}
    of_length: dict[int, list[tuple[int, str]]] = {}
    for place, sides in enumerate(pairs):
        try:
            with np.errstate(all="ignore"):
                x, y = two_variables(*(prepare(side) for side in two_variables(*sides)))
        except ValueError as error:  # a NoAnswer is one too
            yield place, error
            continue
        directions[place, "forward"] = Direction(x, y)
        directions[place, "backward"] = Direction(y, x)
        for way in ("forward", "backward"):
            length = padded_length(rows_of(directions[place, way].cause))
            of_length.setdefault(length, []).append((place, way))
    known: dict[tuple[int, str], float] = {}
    for _, group in sorted(of_length.items()):
        for start in range(0, len(group), NETWORKS_IN_A_BATCH):
            batch = group[start : start + NETWORKS_IN_A_BATCH]
            # Values too large for single precision become infinite, and then no answer.
            with np.errstate(all="ignore"):
                found = costs([directions[one] for one in batch])
            known.update(zip(batch, found, strict=True))
            for place in dict.fromkeys(place for place, _ in batch):
                forward, backward = (known.get((place, way)) for way in ("forward", "backward"))
                if forward is not None and backward is not None:
                    yield place, _answer(score, backward, forward)


def _answer(
    score: Callable[[float, float], float], backward: float, forward: float
) -> float | NoAnswer:
    if not np.isfinite(backward + forward):
        return NoAnswer("A network has left the range of the numbers in its training.")
    try:
        return float(score(backward, forward))
    except NoAnswer as reason:
        return reason


def only(answers: Answers) -> float:
    """Return the score of the only pair, or raise why there is none."""
    ((_, answer),) = answers
    if isinstance(answer, ValueError):
        raise answer
    return answer


def padded_length(n: int) -> int:
    """Return the next of a few lengths, each of which has to be compiled: 128, 192, 256, 384 ..."""
    length = SHORTEST
    while length < n:
        is_power_of_two = length & (length - 1) == 0
        length = length * 3 // 2 if is_power_of_two else length * 4 // 3
    return length


def padded(rows: Sequence[Mapping[str, np.ndarray]]) -> Rows:
    """Return the rows of all networks, stacked, with zeros at their ends."""
    length = padded_length(max(vector.size for row in rows for vector in row.values()))
    return {
        name: np.stack([np.pad(row[name], (0, length - row[name].size)) for row in rows])
        for name in rows[0]
    }


def first_parameters(networks: int, units: int, outputs: int) -> Parameters:
    r"""Draw the weights of a layer with k inputs from :math:`U(-1/\sqrt{k}, 1/\sqrt{k})`.

    They are the numbers that PyTorch draws for this seed, in the order in which the paper's run
    built the layers. On raw variables many units are saturated from the start, and where a network
    starts decides where it ends.
    """
    twister = np.random.RandomState(SEED)  # the generator and the seeding of PyTorch

    def uniform(inputs: int, *shape: int) -> np.ndarray:
        bits = twister.randint(0, 2**32, shape, dtype=np.uint32) % 2**24
        return (2 * (bits / 2**24) - 1) / np.sqrt(inputs)

    parameters = {
        "slopes": uniform(1, units),
        "shifts": uniform(1, units),
        "weights": uniform(units, outputs, units),
        "constants": uniform(units, outputs),
        # Each output has a last factor. That of the first is drawn, the others start at zero.
        "factors": np.append(uniform(1, 1), np.zeros(outputs - 1)),
    }
    return {
        name: np.broadcast_to(values, (networks, *values.shape))
        for name, values in parameters.items()
    }


def network(parameters: Parameters, cause: Any, xp: Any = jnp) -> Any:
    """Return the outputs (outputs, n) of one network at n values of the cause."""
    hidden = xp.tanh(parameters["slopes"][:, None] * cause + parameters["shifts"][:, None])
    mixed = parameters["weights"] @ hidden + parameters["constants"][:, None]
    return parameters["factors"][:, None] * mixed


@functools.partial(jax.jit, static_argnames=("loss", "steps"))
def train(
    loss: Callable[[Parameters, Rows], tuple[jax.Array, jax.Array]],
    parameters: Parameters,
    rows: Rows,
    steps: int,
) -> tuple[Parameters, jax.Array]:
    """Return the trained parameters of all networks, and the least cost each of them had.

    ``loss(parameters, rows)`` of one network returns what is minimised and the part of it that is
    the cost.
    """
    parameters = jax.tree.map(jnp.asarray, parameters)
    gradients = jax.vmap(jax.value_and_grad(loss, has_aux=True))

    def step(count: jax.Array, state: tuple) -> tuple:
        *fit, least = state
        (_, cost), gradient = gradients(fit[0], rows)
        rate = LAST_RATE + (FIRST_RATE - LAST_RATE) * (1 + jnp.cos(jnp.pi * count / steps)) / 2
        return *adam(*fit, gradient, count + 1, rate), jnp.fmin(least, cost)

    zeros = jax.tree.map(jnp.zeros_like, parameters)
    least = jnp.full(rows["cause"].shape[0], jnp.inf)
    parameters, *_, least = jax.lax.fori_loop(0, steps, step, (parameters, zeros, zeros, least))
    return parameters, least


def adam(
    parameters: Parameters,
    mean: Parameters,
    square: Parameters,
    gradient: Parameters,
    count: Any,
    rate: Any,
) -> tuple[Parameters, Parameters, Parameters]:
    """Return the parameters after step number ``count``, and the running means of the gradient."""
    mean = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, mean, gradient)
    square = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new**2, square, gradient)
    of_mean, of_square = 1 - 0.9**count, 1 - 0.999**count  # they start at zero, not at a mean
    parameters = jax.tree.map(
        lambda old, m, s: old - rate * (m / of_mean) / (jnp.sqrt(s / of_square) + 1e-8),
        parameters,
        mean,
        square,
    )
    return parameters, mean, square
