"""Sketches and metrics of sharded data, on eight simulated devices; run by test_sketch.py.

XLA makes the devices when it starts, so this runs in a process of its own.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import lxcim_xp as lx

assert len(jax.devices()) == 8
mesh = jax.make_mesh((8,), ("data",))
rng = np.random.default_rng(0)
margins = jnp.asarray(np.where(rng.random(8000) < 0.1, np.inf, 1) * rng.normal(1, 1, 8000))
weight = jnp.asarray(rng.integers(0, 4, 8000), dtype=margins.dtype)
sharded = [jax.device_put(x, NamedSharding(mesh, P("data"))) for x in (margins, weight)]


def everywhere(margins, weight, bound=None):
    return lx.merge_across(lx.sketch(1, margins, sample_weight=weight, bound=bound), "data")


in_shards = partial(jax.shard_map, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P())
whole = lx.sketch(1, margins, sample_weight=weight)
for function in (in_shards(everywhere), jax.jit(in_shards(everywhere))):
    merged = function(*sharded)
    for name, found, expected in zip(whole._fields, merged, whole, strict=True):
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)


@jax.jit
@in_shards
def bounds(margins, weight):
    """Merge and finish in one program; the result is on every device."""
    state = everywhere(margins, weight)
    return lx.lxcim_bounds(state), lx.audrc_bounds(state), lx.sketch_accuracy(state)


exact = [
    metric(1, np.asarray(margins, dtype=float), sample_weight=np.asarray(weight, dtype=float))
    for metric in (lx.lxcim, lx.audrc, lx.accuracy)
]
lxcim, audrc, accuracy = bounds(*sharded)
assert lxcim.low <= exact[0] <= lxcim.high
assert audrc.low <= exact[1] <= audrc.high
np.testing.assert_allclose(accuracy, exact[2], rtol=1e-6)


@in_shards
def with_bounds_of_their_own(margins, weight):
    """Make a sketch of other bins on one device."""
    first = jax.lax.axis_index("data") == 0
    state = lx.sketch(1, margins, sample_weight=weight)
    state = state._replace(bound=jnp.where(first, 2.0, state.bound))
    return lx.lxcim_bounds(lx.merge_across(state, "data"))


assert np.isnan(with_bounds_of_their_own(*sharded)).all()

# A metric of sharded arrays is the metric of the arrays, on a mesh on which JAX may move samples to
# sort them.
movable = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
sharded = [jax.device_put(x, NamedSharding(movable, P("data"))) for x in (margins, weight)]
found = jax.jit(lx.lxcim)(1, sharded[0], sample_weight=sharded[1])
np.testing.assert_allclose(found, exact[0], rtol=1e-6)
print("equal on", len(jax.devices()), "devices")
