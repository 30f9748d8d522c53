"""The fast forms of the kernel equal the portable one, bit for bit."""

import numpy as np
import oracle
import pytest
from backends import context, convert, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lxcim_xp import _array, _ranks, _ranks_numpy
from lxcim_xp._margins import Margins

HARD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e-45, 1.5, np.nextafter(1.5, 2)]


def keys(dtype, library="numpy", subnormal=True):
    """Draw batches with heavy ties, zeros, infinities, subnormals and neighbouring floats."""
    values = st.sampled_from(np.asarray(HARD, dtype=dtype).tolist())
    values |= st.floats(width=8 * np.dtype(dtype).itemsize, allow_nan=False)
    if not subnormal:
        values = values.filter(lambda x: x == 0 or abs(x) >= np.finfo(dtype).tiny)
    shapes = arrays.array_shapes(min_dims=1, max_dims=3, max_side=7)
    if library == "jax":  # which compiles every operation anew for each shape
        shapes = st.sampled_from([(1,), (2, 7)])
    return arrays.arrays(dtype, shapes, elements=values)


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
@pytest.mark.parametrize("form", [_ranks.ordering, _ranks.portable_ordering])
@given(data=st.data())
def test_an_ordering_is_what_it_says(runner, form, data):
    # XLA flushes subnormals to zero where it compares floats, as the portable form does.
    subnormal = runner.backend.library != "jax" or form is _ranks.ordering
    key = data.draw(keys(runner.backend.dtype, runner.backend.library, subnormal))
    with context(runner.backend):
        array = convert(runner.backend, key)
        found = form(_array.namespace(key=array), array)
        found = [None if part is None else to_numpy(part).astype(int) for part in found]
    assert_is_ordering(key, *found)


@pytest.mark.runners("*-eager")
@given(data=st.data())
def test_the_uniform_gain_is_that_of_unit_weights_and_of_the_oracle(runner, data):
    library = runner.backend.library
    value = data.draw(keys(runner.backend.dtype, library, subnormal=library != "jax"))
    with context(runner.backend):
        array = convert(runner.backend, value)
        xp = _array.namespace(value=array)
        weight = xp.ones_like(array, dtype=_array.widest_float(xp, array))
        uniform = _ranks.confidence_gain(xp, Margins(array, None))
        weighted = _ranks.confidence_gain(xp, Margins(array, weight))
    for fast, general in zip(uniform, weighted, strict=True):
        np.testing.assert_array_equal(to_numpy(fast), to_numpy(general))
    right, wrong, gain = (to_numpy(part) for part in uniform)
    n = value.shape[-1]
    for index in np.ndindex(value.shape[:-1]):
        margins = [oracle.exact(m) for m in value[index].tolist()]
        assert right[index] + wrong[index] == n
        assert right[index] == n * oracle.accuracy(margins, [1] * n)
        assert right[index] * n + gain[index] == n**2 * oracle.lxcim(margins, [1] * n)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "spread", ["continuous", "rounded", "few levels", "one level", "neighbours", "zeros"]
)
@pytest.mark.parametrize("shape", [(100_003,), (3, 40_000), (50, 700)], ids=str)
def test_long_rows_are_summed_in_pieces_without_a_seam(monkeypatch, dtype, spread, shape):
    rng = np.random.default_rng(5)
    value = {
        "continuous": lambda: rng.standard_normal(shape),
        "rounded": lambda: rng.standard_normal(shape).round(2),
        "few levels": lambda: rng.integers(-2, 3, shape) / 2,
        "one level": lambda: rng.choice([-1.0, 1.0], shape),
        # Floats that differ only in the bits that make room for the place of a sample.
        "neighbours": lambda: (
            (1 + rng.integers(0, 1000, shape) * 2.0**-52) * rng.choice([-1, 1], shape)
        ),
        "zeros": lambda: np.where(rng.random(shape) < 0.5, 0.0, rng.standard_normal(shape)),
    }[spread]().astype(dtype)
    xp = _array.namespace()
    uniform = _ranks_numpy.uniform_gain(value)
    weighted = _ranks_numpy.weighted_gain(value, np.ones(shape))
    monkeypatch.setattr(_ranks, "_has_integer_keys", lambda xp, key: False)
    monkeypatch.setattr(_ranks, "is_numpy", lambda xp: False)
    portable = _ranks.confidence_gain(xp, Margins(value, np.ones(shape)))
    for parts in zip(uniform, weighted, portable, strict=True):
        np.testing.assert_array_equal(parts[0], parts[2])
        np.testing.assert_array_equal(parts[1], parts[2])


@given(data=st.data(), dtype=st.sampled_from(["float32", "float64"]))
def test_the_weighted_gain_of_numpy_is_the_portable_one(data, dtype):
    value = data.draw(keys(dtype))
    weight = data.draw(arrays.arrays(float, value.shape, elements=st.integers(0, 8)))
    xp = _array.namespace()
    fast = _ranks_numpy.weighted_gain(value, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ranks, "_has_integer_keys", lambda xp, key: False)
        portable = _ranks.confidence_gain(xp, Margins(value, weight))
    for parts in zip(fast, portable, strict=True):
        np.testing.assert_array_equal(*parts)
