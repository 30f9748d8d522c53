"""Metrics of arrays that are spread over several devices of JAX, simulated on one CPU."""

import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import lxcim_xp as lx

devices = jax.devices()
assert len(devices) == 8, devices
mesh = jax.sharding.Mesh(np.asarray(devices), ("samples",))
rng = np.random.default_rng(0)
n = 8 * 500
score = np.round(rng.normal(0.3, 1, n), 2).astype(np.float32)
label = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int32)
weight = rng.integers(0, 4, n).astype(np.float32)

along_samples = NamedSharding(mesh, PartitionSpec("samples"))
columns = [jax.device_put(x, along_samples) for x in (label, score, weight)]
assert len(columns[0].sharding.device_set) == 8
for name in ("lxcim", "accuracy", "audrc", "auroc"):
    metric = getattr(lx, name)
    wanted = metric(label, score.astype(np.float64), sample_weight=weight)

    def compute(y, s, w):
        return metric(y, s, sample_weight=w)

    for run in (compute, jax.jit(compute)):
        np.testing.assert_allclose(run(*columns), wanted, rtol=2e-6, err_msg=name)

# Data sets spread over the devices: the result is spread in the same way, nothing is gathered.
along_batch = NamedSharding(mesh, PartitionSpec("samples", None))
batch = [jax.device_put(x.reshape(16, -1), along_batch) for x in (label, score, weight)]
found = jax.jit(lambda y, s, w: lx.lxcim(y, s, sample_weight=w))(*batch)
assert len(found.sharding.device_set) == 8
assert not found.sharding.is_fully_replicated
wanted = [
    lx.lxcim(y, s.astype(np.float64), sample_weight=w)
    for y, s, w in zip(*(np.asarray(x) for x in batch))
]
np.testing.assert_allclose(found, wanted, rtol=2e-6)
print("agree")
"""


@pytest.mark.library("jax")
def test_metrics_of_an_array_on_eight_devices():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        },
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "agree"
