"""The fast forms that only NumPy has equal the portable one, bit for bit."""

import numpy as np
import pytest

pytest.importorskip("array_api_strict")

import array_api_strict
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from samples import HARD, keys

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces, primitives
from lxcim_xp._numerics import numpy_unweighted, numpy_weighted
from lxcim_xp._samples import gain as gains
from lxcim_xp._samples.by_confidence import (
    Stream,
    columns_by_confidence,
    order_by_confidence,
    portable_by_confidence,
    sums_by_confidence,
)
from lxcim_xp._samples.decisions import absolute
from lxcim_xp._samples.samples import Samples, collect, credit, signed_confidence


def portable_gain(value, weight):
    """Return the gain of margins by the definition, in a library that has no fast form."""
    xp, margin = array_api_strict, array_api_strict.asarray(value)
    samples = Samples(
        margin,
        xp.ones_like(margin),
        xp.asarray(weight),
        None,
        None,
        margin.dtype,
        absolute(),
    )
    return [np.asarray(part) for part in gains.portable_gain(xp, samples, margin)]


SPREADS = {
    "continuous": lambda rng, shape: rng.standard_normal(shape),
    "rounded": lambda rng, shape: rng.standard_normal(shape).round(2),
    "few levels": lambda rng, shape: rng.integers(-2, 3, shape) / 2,
    "one level": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
    # Floats that differ only in the bits that make room for the place of a sample.
    "neighbours": lambda rng, shape: (
        (1 + rng.integers(0, 1000, shape) * 2.0**-52) * rng.choice([-1, 1], shape)
    ),
    "zeros": lambda rng, shape: np.where(rng.random(shape) < 0.5, 0.0, rng.standard_normal(shape)),
    "signed zeros": lambda rng, shape: rng.choice([0.0, -0.0, 1.0, -1.0], shape),
    # What no power of two brings into the range of ordinary floats.
    "hard": lambda rng, shape: rng.choice(HARD, shape),
    "tiny": lambda rng, shape: rng.standard_normal(shape) * 1e-300,
    "tiny and zeros": lambda rng, shape: rng.choice([0.0, 1e-300, -1e-300], shape),
    "huge": lambda rng, shape: rng.standard_normal(shape) * 1e300,
    "wide": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(-320, 300, shape),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("shape", [(100_003,), (3, 40_000), (50, 700)], ids=str)
def test_long_rows_are_summed_in_pieces_without_a_seam(dtype, spread, shape):
    rng = np.random.default_rng(5)
    with np.errstate(over="ignore", under="ignore"):
        value = SPREADS[spread](rng, shape).astype(dtype)
    label, xp = rng.integers(0, 2, shape), namespaces.namespace()
    signed = primitives.signed_by(xp, label, value)
    fast = [
        numpy_unweighted.uniform_gain(value),
        numpy_unweighted.uniform_gain(signed, label),
        numpy_unweighted.uniform_gain(signed, 2.0 * label - 1),
        numpy_weighted.weighted_gain(value, np.ones(shape)),
        numpy_weighted.weighted_gain(value, np.ones(shape, dtype="float32")),
        numpy_weighted.weighted_gain(signed, np.ones(shape), label),
    ]
    portable = portable_gain(value, np.ones(shape))
    for gain in fast:
        for part, expected in zip(gain, portable, strict=True):
            np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("shape", [(1,), (7,), (40_003,), (2, 20_000), (50, 70)], ids=str)
def test_pairs_counted_in_sorted_keys_are_those_of_the_portable_form(dtype, spread, shape):
    rng = np.random.default_rng(8)
    with np.errstate(over="ignore", under="ignore"):
        score = SPREADS[spread](rng, shape).astype(dtype)
    label, xp = rng.integers(0, 2, shape), namespaces.namespace()
    counted = numpy_unweighted.uniform_concordance(score, label)
    if counted is None:  # no room for labels; then the other road is taken
        assert spread in ("hard", "tiny", "tiny and zeros", "huge", "wide")
        counted = [None, None]
    fast = gains.pairs_won(xp, samples_of(label, score))
    portable = gains.portable_pairs_won(xp, samples_of(label, score))
    for part, other, expected in zip(counted, fast, portable, strict=True):
        np.testing.assert_array_equal(other, expected)
        assert part is None or np.array_equal(part, expected)


def samples_of(label, score):
    return collect(label, score, threshold=0.0)[1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("shape", [(1,), (7,), (40_003,), (2, 20_000), (50, 70)], ids=str)
def test_columns_from_keys_are_those_of_the_portable_form(dtype, spread, shape):
    rng = np.random.default_rng(9)
    with np.errstate(over="ignore", under="ignore"):
        score = SPREADS[spread](rng, shape).astype(dtype)
    xp, samples = namespaces.namespace(), samples_of(rng.integers(0, 2, shape), score)
    placed = order_by_confidence(xp, samples)
    unplaced = columns_by_confidence(xp, samples)
    sums = sums_by_confidence(xp, samples)
    gain = gains.gain_of(xp, samples)
    portable = portable_by_confidence(xp, samples)
    credits = credit(xp, samples, signed_confidence(xp, samples))
    # Within a block of ties any order will do: its sums are compared, and who is where.
    order = placed.places.order
    np.testing.assert_array_equal(
        placed.columns[0].value, np.take_along_axis(credits, order, axis=-1)
    )
    confidence = np.take_along_axis(np.abs(score), order, axis=-1)
    assert (confidence[..., 1:] <= confidence[..., :-1]).all()
    np.testing.assert_array_equal(
        np.sort(order, axis=-1), np.broadcast_to(np.arange(shape[-1]), shape)
    )
    for found in (placed, unplaced):
        for column, expected in zip(found.columns, portable.columns, strict=True):
            np.testing.assert_array_equal(column.below, expected.below)
            np.testing.assert_array_equal(column.through, expected.through)
            np.testing.assert_array_equal(column.before, _before(column.value))
    assert unplaced.places.order is None
    assert isinstance(sums, Stream) == (len(shape) == 1)
    if isinstance(sums, Stream):
        for part, expected in zip(sums.gain, gain, strict=True):
            assert part == expected
        pieces = list(sums.pieces())
        for column, expected in enumerate(unplaced.columns):
            for field in range(4):
                joined = np.concatenate([piece[column][field] for piece in pieces])
                np.testing.assert_array_equal(joined, expected[field])


def _before(value):
    return np.cumsum(value, axis=-1) - value


@pytest.mark.parametrize("spread", ["continuous", "rounded", "neighbours", "few levels", "zeros"])
def test_long_weighted_rows_have_the_gain_of_the_portable_form(spread):
    rng = np.random.default_rng(6)
    value, weight = SPREADS[spread](rng, (2, 50_000)), rng.integers(0, 9, (2, 50_000)) / 8
    fast = numpy_weighted.weighted_gain(value, weight)
    portable = portable_gain(value, weight)
    for part, expected in zip(fast, portable, strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("label_dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32"])
@pytest.mark.parametrize("n", [7, 40_000])
def test_labels_of_any_dtype_turn_signs_as_a_product_does(n, label_dtype, dtype):
    rng = np.random.default_rng(7)
    x, label = rng.choice(HARD, n).astype(dtype), rng.integers(0, 2, n)
    expected = x * (2 * label - 1).astype(dtype)
    found = primitives.signed_by(namespaces.namespace(), label.astype(label_dtype), x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    fast = numpy_unweighted.uniform_gain(x, label.astype(label_dtype))
    for part, plain in zip(fast, numpy_unweighted.uniform_gain(expected), strict=True):
        np.testing.assert_array_equal(part, plain)


@pytest.mark.parametrize("n", [1, 7, 1024, 1025, 40_000])
@pytest.mark.parametrize("label_dtype", ["bool", "int8", "uint8", "int64", "float64", ">i8"])
@pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", ">f8", "float16"])
def test_the_short_road_of_numpy_arrays_leads_where_the_long_one_does(n, label_dtype, dtype):
    rng = np.random.default_rng(10)
    label, score = rng.integers(0, 2, n), rng.standard_normal(n).round(2).astype(dtype)
    for metric in (lx.lxcim, lx.auroc, lx.audrc, lx.accuracy, lx.confidence_auroc):
        short = metric(label.astype(label_dtype), score)
        for long in (
            metric(2.0 * label - 1, score.astype("=" + np.dtype(dtype).str[1:])),
            metric(label, score, where=np.ones(n, dtype=bool)),
        ):
            np.testing.assert_allclose(short, long, rtol=1e-12 if n < 2000 else 1e-9)
            assert short.dtype == long.dtype


@pytest.mark.parametrize("spread", ["continuous", "rounded", "zeros"])
@pytest.mark.parametrize("score_dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(9,), (40_000,), (3, 20_000)], ids=str)
def test_narrow_weights_are_summed_as_wide_ones(spread, score_dtype, shape):
    rng = np.random.default_rng(13)
    label, score = rng.integers(0, 2, shape), SPREADS[spread](rng, shape).astype(score_dtype)
    narrow = rng.random(shape).astype("float32")
    narrow[..., 0] = 1e-30
    for metric in (lx.lxcim, lx.augrc, lx.confidence_auroc):
        for options in ({}, {"threshold": 0.25}):
            found = metric(label, score, sample_weight=narrow, **options)
            wide = metric(label, score, sample_weight=narrow.astype(float), **options)
            np.testing.assert_allclose(found, wide, rtol=1e-13 if score_dtype == "float64" else 0)


def test_tiny_margins_do_not_underflow_for_the_caller():
    margins = np.full(5000, 1e-300)
    with np.errstate(all="raise"):
        assert lx.lxcim(1, margins) == 1


@given(data=st.data(), dtype=st.sampled_from(["float32", "float64"]))
def test_the_weighted_gain_of_numpy_is_the_portable_one(data, dtype):
    value = data.draw(keys(dtype))
    weight = data.draw(arrays.arrays(float, value.shape, elements=st.integers(0, 8)))
    fast = numpy_weighted.weighted_gain(value, weight)
    portable = portable_gain(value, weight)
    for parts in zip(fast, portable, strict=True):
        np.testing.assert_array_equal(*parts)
