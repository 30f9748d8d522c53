"""Every public function under jax.shard_map, on eight simulated devices; run by test_transforms.py.

XLA makes the devices when it starts, so this runs in a process of its own.
"""

import jax
import jax.numpy as jnp
import numpy as np
from functions import FUNCTIONS
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

assert len(jax.devices()) == 8
mesh = jax.make_mesh((8,), ("data",))
rng = np.random.default_rng(1)
label = jnp.asarray(rng.integers(0, 2, (8, 6)), dtype=jnp.int32)
score = jnp.asarray(rng.integers(-3, 4, (8, 6)) / 2, dtype=jnp.float32)
weight = jnp.asarray(rng.integers(1, 4, (8, 6)), dtype=jnp.float32)


def put(x, spec):
    return jax.device_put(x, NamedSharding(mesh, spec))


for name, function in FUNCTIONS.items():

    def of_weights(label, score, weight, function=function):
        return function(label, score, sample_weight=weight)

    def of_samples(label, score, weight, function=function):
        return function(label, score)

    # All arrays in shards; labels and weights that are shared by all; each must trace.
    for specs, given in (
        ((P("data"), P("data"), P("data")), (label, score, weight)),
        ((P(), P("data"), P()), (label[0], score, weight[0])),
    ):
        placed = [put(x, spec) for x, spec in zip(given, specs, strict=True)]
        for one in (of_weights, of_samples):
            in_shards = jax.shard_map(one, mesh=mesh, in_specs=specs, out_specs=P("data"))
            jax.eval_shape(in_shards, *placed)
    # Loops are where types may differ, and values must not.
    if name in ("auch", "local_accuracy", "interpolate", "soft_lxcim", "significance"):
        in_shards = jax.shard_map(
            of_weights, mesh=mesh, in_specs=(P("data"),) * 3, out_specs=P("data")
        )
        found = jax.jit(in_shards)(*(put(x, P("data")) for x in (label, score, weight)))
        wanted = jax.jit(of_weights)(label, score, weight)
        for part, expected in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(part, expected, rtol=2e-6, atol=1e-6, err_msg=name)
print(len(FUNCTIONS), "functions of 8 shards")
