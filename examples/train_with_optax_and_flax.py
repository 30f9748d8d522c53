"""
Train with optax and flax
=========================

The losses are pure functions of labels and scores, so they fit wherever a JAX loss does. A small
network learns which of two sides is better; its loss is cross-entropy combined with soft LxCIM.
"""

import sys

try:
    import jax
    import jax.numpy as jnp
    import optax
    from flax import nnx
except ImportError as error:
    sys.exit(print(f"This example needs JAX, optax and flax: {error}"))

from lxcim_xp import lxcim
from lxcim_xp.losses import combined

key, coin = jax.random.split(jax.random.key(0))
features = jax.random.normal(key, (2, 400, 3))
chance = jax.nn.sigmoid(3 * jnp.sin(2 * features[..., 0]) + features[..., 1])
(x, x_test), (y, y_test) = features, jax.random.bernoulli(coin, chance)


class Scorer(nnx.Module):
    """A network with one hidden layer."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(3, 16, rngs=rngs)
        self.out = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Return one score for each row."""
        return self.out(nnx.tanh(self.hidden(x)))[..., 0]


model = Scorer(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


@nnx.jit
def step(model: Scorer, optimizer: nnx.Optimizer) -> jax.Array:
    """Make one step, and return the loss before it."""
    loss, gradient = nnx.value_and_grad(lambda model: combined(y, model(x)))(model)
    optimizer.update(model, gradient)
    return loss


before = lxcim(y_test, model(x_test))
losses = [step(model, optimizer) for _ in range(200)]
after = lxcim(y_test, model(x_test))
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, held-out LxCIM {before:.3f} -> {after:.3f}")
