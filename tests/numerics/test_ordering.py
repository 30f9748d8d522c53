"""The fast forms of the kernel equal the portable one, bit for bit."""

import numpy as np
import oracle
import pytest
from backends import context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from samples import keys

from lxcim_xp._arrays import namespaces
from lxcim_xp._numerics import ordering
from lxcim_xp._samples import gain
from lxcim_xp._samples.samples import collect


def assert_is_ordering(key, order, first, end):
    """Check an ordering against its definition, in O(n^2)."""
    place = np.broadcast_to(np.arange(key.shape[-1]), key.shape)
    first, end = (place, place + 1) if first is None else (first, end)
    ordered = np.take_along_axis(key, order, axis=-1)
    assert np.array_equal(np.sort(order, axis=-1), place)
    below = (ordered[..., None, :] < ordered[..., :, None]).sum(axis=-1)
    through = (ordered[..., None, :] <= ordered[..., :, None]).sum(axis=-1)
    assert np.array_equal(first, below)
    assert np.array_equal(end, through)


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("form", [ordering.ordering, ordering.portable_ordering])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(data=st.data())
def test_an_ordering_is_what_it_says(runner, form, dtype, data):
    if runner.backend.dtype == "float32" and dtype == "float64":
        pytest.skip("no float64 here")
    # XLA flushes subnormals to zero where it compares floats, as the portable form does.
    subnormal = runner.backend.library != "jax" or form is ordering.ordering
    key = data.draw(keys(dtype, runner.backend.library, subnormal))
    with context(runner.backend):
        array = convert(runner.backend, key)
        found = form(namespaces.namespace(key=array), array)
        found = [None if part is None else to_numpy(part).astype(int) for part in found]
    assert_is_ordering(key, *found)


@pytest.mark.runners("*-eager")
@given(data=st.data())
def test_the_uniform_gain_is_that_of_unit_weights_and_of_the_oracle(runner, data):
    library = runner.backend.library
    value = data.draw(keys(runner.backend.dtype, library, subnormal=library != "jax"))
    with context(runner.backend):
        array = convert(runner.backend, value)
        xp = namespaces.namespace(value=array)
        weight = xp.ones_like(array, dtype=namespaces.widest_float(xp, array))
        samples = collect(1, array, threshold=0.0)[1]
        uniform = gain.gain_of(xp, samples)
        weighted = gain.portable_gain(xp, samples._replace(weight=weight), array)
    for fast, general in zip(uniform, weighted, strict=True):
        np.testing.assert_array_equal(to_numpy(fast), to_numpy(general))
    right, wrong, won = (to_numpy(part) for part in uniform)
    n = value.shape[-1]
    for index in np.ndindex(value.shape[:-1]):
        margins = [oracle.exact(m) for m in value[index].tolist()]
        assert right[index] + wrong[index] == n
        assert right[index] == n * oracle.accuracy(margins, [1] * n)
        assert right[index] ** 2 + 2 * won[index] == n**2 * oracle.lxcim(margins, [1] * n)


@pytest.mark.runners("*-eager")
@given(data=st.data())
def test_ranks_of_no_column_are_those_of_ones(runner, data):
    library = runner.backend.library
    key = data.draw(keys(runner.backend.dtype, library, subnormal=library != "jax"))
    with context(runner.backend):
        array = convert(runner.backend, key)
        xp = namespaces.namespace(key=array)
        ones = xp.ones_like(array, dtype=namespaces.widest_float(xp, array))
        for counted, summed in zip(*ordering.rank(xp, array, None, ones), strict=True):
            np.testing.assert_array_equal(to_numpy(counted), to_numpy(summed))
