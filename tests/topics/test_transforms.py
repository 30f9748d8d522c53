"""Every public function of arrays, under every transform of its library."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from backends import context, convert, to_numpy
from functions import ELSEWHERE, FUNCTIONS

import lxcim_xp as lx

RNG = np.random.default_rng(16)
SHAPE = (3, 5, 4)  # a batch of batches, of which each axis is once that of the samples
LABEL, SCORE = 2 * RNG.integers(0, 2, SHAPE) - 1, RNG.integers(-4, 5, SHAPE) / 2
WEIGHT = RNG.integers(1, 4, SHAPE).astype(float)
WITHOUT_AXIS = ("exchange", "symmetrize")
each_function = pytest.mark.parametrize("name", FUNCTIONS)
either_weight = pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])


def arrays_of(result):
    """Return the arrays of a result, of which a named tuple has several."""
    parts = result if isinstance(result, tuple) else (result,)
    return [to_numpy(part) for part in parts if part is not None]


def call(name, weighted, axis=-1):
    options = {} if name in WITHOUT_AXIS else {"axis": axis}

    def function(label, score, weight):
        given = {"sample_weight": weight} if weighted else {}
        return FUNCTIONS[name](label, score, **given, **options)

    return function


def test_every_public_function_of_arrays_is_here():
    named = {name.partition("(")[0] for name in FUNCTIONS} | ELSEWHERE
    assert [name for name in lx.__all__ if name not in named and name[0].islower()] == []


@each_function
@either_weight
@pytest.mark.runners("torch-vmap")
def test_torch_vmap_along_each_axis_is_each_entry_by_itself(runner, name, weighted):
    import torch

    data = [torch.asarray(array) for array in (LABEL, SCORE, WEIGHT)]
    for axis in (-1,) if name in WITHOUT_AXIS else (0, 1, -1, -2):
        function = call(name, weighted, axis)
        mapped = arrays_of(torch.func.vmap(function)(*data))
        singles = [arrays_of(function(*(x[k] for x in data))) for k in range(SHAPE[0])]
        for part, expected in zip(mapped, zip(*singles, strict=True), strict=False):
            np.testing.assert_allclose(part, np.stack(expected), rtol=1e-10, atol=1e-12)


@each_function
@pytest.mark.runners("jax-eager")
def test_jax_transforms_change_nothing_and_a_guard_of_transfers_may_stand(runner, name):
    import jax

    weighted = len(name) % 2 == 0  # one of the two is enough here: each compiles for long
    function, along = call(name, weighted), call(name, weighted, axis=0)

    def both(label, score, weight):
        moved = (x.swapaxes(0, 1) for x in (label, score, weight))
        return function(label, score, weight), along(*moved)

    if name in WITHOUT_AXIS:
        both = function
    with context(runner.backend):
        data = [
            convert(runner.backend, array.astype("float32")) for array in (LABEL, SCORE, WEIGHT)
        ]
        with jax.transfer_guard("disallow"):
            eager = function(*data)
            compiled = jax.jit(jax.vmap(both))(*data)
    for found in (compiled,) if name in WITHOUT_AXIS else compiled:
        for part, expected in zip(arrays_of(found), arrays_of(eager), strict=True):
            if part.shape != expected.shape:  # a value for each sample, where the samples are
                part = np.moveaxis(part, 1, -1)
            np.testing.assert_allclose(part, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.library("jax")
def test_all_of_them_under_shard_map():
    here = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-W", "error", here / "in_shards.py"],
        capture_output=True,
        text=True,
        timeout=900,
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        },
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == f"{len(FUNCTIONS)} functions of 8 shards"


TRACED = ("lxcim", "auroc", "audrc", "interval", "contributions", "soft_lxcim", "soft_rank")


def first_array(name):
    def function(label, score):
        found = FUNCTIONS[name](label, score)
        return found[1] if isinstance(found, tuple) else found

    return function


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.runners("torch-eager")
def test_a_graph_that_torch_has_traced_is_right_on_other_data(runner, name):
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    function = first_array(name)
    data = [
        (torch.asarray(LABEL[k, 0]), torch.asarray(SCORE[k, 0] + k / 8)) for k in range(SHAPE[0])
    ]
    data += [(-label, score) for label, score in data]
    graphs = {
        "make_fx": make_fx(function)(*data[0]),
        "make_fx of fakes": make_fx(function, tracing_mode="fake")(*data[0]),
        "make_fx before dispatch": make_fx(function, pre_dispatch=True)(*data[0]),
        "functionalize": torch.func.functionalize(function),
        "make_fx of functionalize": make_fx(torch.func.functionalize(function))(*data[0]),
        "export": torch.export.export(module_of(function), data[0], strict=False).module(),
    }
    for how, graph in graphs.items():
        for label, score in data:
            torch.testing.assert_close(
                graph(label, score), function(label, score), rtol=1e-9, atol=1e-9, msg=how
            )


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.runners("torch-eager")
@pytest.mark.filterwarnings("ignore:.*torch.jit.trace:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_graph_of_torch_jit_is_right_on_other_data(runner, name):
    import torch

    function = first_array(name)
    data = [(torch.asarray(LABEL[k, 0]), torch.asarray(SCORE[k, 0])) for k in range(SHAPE[0])]
    graph = torch.jit.trace(function, data[0], check_trace=False)
    for label, score in data:
        torch.testing.assert_close(graph(label, score), function(label, score))


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.runners("torch-eager")
def test_tensors_without_values_go_through(runner, name):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    data = [torch.asarray(LABEL[0, 0]), torch.asarray(SCORE[0, 0])]
    wanted = first_array(name)(*data)
    with FakeTensorMode() as mode:
        fake = first_array(name)(*(mode.from_tensor(x) for x in data))
    meta = first_array(name)(*(x.to("meta") for x in data))
    for found in (fake, meta):
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)


def module_of(function):
    import torch

    class Module(torch.nn.Module):
        def forward(self, label, score):
            return function(label, score)

    return Module()
