"""
Does it pay to train on LxCIM?
==============================

Three tasks for a linear model, twenty seeds each, trained together with ``jax.vmap``: choosing the
patient whose diabetes progressed further (real data, on which the model is about right), a truth
that no linear model can represent, and leverage outliers in the training data. Cross-entropy is
compared with the soft LxCIM loss, with both together, with the convex surrogate, and with a soft
accuracy, which is bounded too but ignores the order of the confidences. Every loss stops early
where validation is best; the differences are paired, seed by seed.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    sys.exit(print(f"This example needs JAX and optax: {error}"))

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes

import lxcim_xp as lx
from lxcim_xp import plots
from lxcim_xp.losses import combined

FIGURES = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/figures")
SEEDS, STEPS, RATE = 20, 300, 0.03
COUNTS = (600, 600, 3000)  # the same for all tasks, so that each loss is compiled once

# %%
# A task is features and labels for training, validation and test, with the seeds along the first
# axis. A choice between two sides is described by the difference of their features, and a linear
# score without intercept changes sign with the order of the sides.


class Task(NamedTuple):
    """Features and labels (1: the first side) of each part."""

    train: tuple[Any, Any]
    validation: tuple[Any, Any]
    test: tuple[Any, Any]


def diabetes(rng: np.random.Generator) -> Task:
    """Choose, of two patients, the one whose disease progressed further."""
    features, progress = load_diabetes(return_X_y=True)
    features = features / features.std(axis=0)
    parts = np.split(rng.permutation(len(progress)), [190, 280])  # no patient in two parts

    def pairs(patients: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = rng.choice(patients, (2, 2 * count))
        first, second = drawn[:, progress[drawn[0]] != progress[drawn[1]]][:, :count]
        return features[first] - features[second], (progress[first] > progress[second]) * 1

    return Task(*(pairs(part, count) for part, count in zip(parts, COUNTS, strict=True)))


def synthetic(rng: np.random.Generator, truth: Callable[[Any], Any], outliers: float = 0.0) -> Task:
    """Draw features from a normal distribution, and labels with the log-odds ``truth``."""

    def draw(count: int, outliers: float) -> tuple[np.ndarray, np.ndarray]:
        x = rng.normal(size=(count, 10))
        label = (rng.random(count) < 1 / (1 + np.exp(-truth(x)))) * 1
        bad = rng.random(count) < outliers
        # Far out along the first feature, and labelled against it.
        x[bad, 0], label[bad] = 6.0, 0
        return x, label

    return Task(*(draw(n, far) for n, far in zip(COUNTS, (outliers, outliers, 0.0), strict=True)))


def bent(x: np.ndarray) -> np.ndarray:
    """Return log-odds that bend: steep, then flat in one feature, the reverse in another."""
    return 3 * np.tanh(2 * x[:, 0]) + 0.3 * x[:, 1] ** 3


def straight(x: np.ndarray) -> np.ndarray:
    """Return log-odds that a linear model can represent."""
    return x[:, :3] @ np.asarray([2.0, 1.0, 0.5])


TASKS = {
    "diabetes choice": diabetes,
    "misspecified": partial(synthetic, truth=bent),
    "8 % outliers": partial(synthetic, truth=straight, outliers=0.08),
}

# %%
# The losses, each a function of labels and scores.

LOSSES: dict[str, Callable[..., Any]] = {
    "cross-entropy": partial(combined, soft_weight=0.0),
    "soft LxCIM": partial(lx.lxcim_loss, temperature=0.1),
    "cross-entropy + soft": combined,
    "surrogate": lx.lxcim_surrogate,
    "soft accuracy": lambda y, score: 1 - lx.soft_accuracy(y, score, temperature=0.1),
}


def held_out(loss: Callable[..., Any], task: Task) -> Any:
    """Train on one seed; return LxCIM on the test data where validation is best."""
    optimizer = optax.adam(RATE)
    # Scores that are all zero have no scale, so training starts close to them.
    weights = jnp.full(task.train[0].shape[-1], 1e-3)

    def step(state: Any, _: Any) -> tuple[Any, tuple[Any, Any]]:
        weights, memory = state
        gradient = jax.grad(lambda w: loss(task.train[1], task.train[0] @ w))(weights)
        update, memory = optimizer.update(gradient, memory)
        weights = optax.apply_updates(weights, update)
        scores = [lx.lxcim(y, x @ weights) for x, y in (task.validation, task.test)]
        return (weights, memory), tuple(scores)

    start = (weights, optimizer.init(weights))
    _, (validation, test) = jax.lax.scan(step, start, length=STEPS)
    return test[jnp.argmax(validation)]


train = {kind: jax.jit(jax.vmap(partial(held_out, loss))) for kind, loss in LOSSES.items()}
results = {}
for name, make in TASKS.items():
    seeds = [make(np.random.default_rng(seed)) for seed in range(SEEDS)]
    batch = jax.tree.map(lambda *parts: jnp.stack([jnp.asarray(p) for p in parts]), *seeds)
    results[name] = {kind: np.asarray(run(batch)) for kind, run in train.items()}

# %%
# Held-out LxCIM in points, and the difference from cross-entropy with its 95 % interval over seeds
# (Student's t with 19 degrees of freedom).

T = 2.093
print(f"{'':18s}" + "".join(f"{kind:>24s}" for kind in LOSSES))
figure = Figure(figsize=(9.0, 3.0), layout="constrained")
axes = figure.subplots(1, len(TASKS))
for ax, (name, scores) in zip(axes, results.items(), strict=True):
    base = scores["cross-entropy"]
    cells = [f"{100 * base.mean():24.2f}"]
    for place, kind in enumerate(list(LOSSES)[1:]):
        gain = 100 * (scores[kind] - base)
        wide = T * gain.std(ddof=1) / np.sqrt(SEEDS)
        cells.append(f"{f'{gain.mean():+.2f} ± {wide:.2f}':>24s}")
        ax.errorbar(gain.mean(), -place, xerr=wide, fmt="o", color=f"C{place}", capsize=3)
    print(f"{name:18s}" + "".join(cells))
    ax.axvline(0, color="grey", linewidth=0.8)
    ax.set_title(f"{name}\ncross-entropy: {100 * base.mean():.1f}")
    ax.set_xlabel("points of held-out LxCIM gained")
    ax.set_yticks(range(0, -4, -1), list(LOSSES)[1:] if ax is axes[0] else [])
    ax.set_ylim(-3.5, 0.5)
plots.save(axes[0], FIGURES / "train_on_lxcim.svg")
