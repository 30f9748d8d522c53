"""From the key columns of an eager frame to integer codes of its groups.

The codes come from the hash tables of the frame's own library, which are much faster than a sort.
The keys themselves stay in the frame and keep their dtypes. Null is a key like any other.
"""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from lxcim_xp._arrays.typing import NumpyArray as Array
from lxcim_xp._samples.errors import BadType, Given
from lxcim_xp.frames.names import series_of

_ROW = "__lx_row"


class Groups(NamedTuple):
    """The groups of the rows of a frame, in the order of their keys."""

    code: Array  # of each row
    n_groups: int
    keys: nw.DataFrame[Any] | None  # one row for each group; None: everything is one group


def group_rows(frame: nw.DataFrame[Any], by: tuple[str, ...]) -> Groups:
    """Number the groups of the rows."""
    n = len(frame)
    if not by:
        return Groups(np.zeros(n, dtype=np.int64), 1, None)
    code, count = codes_of(frame, "by", by[0])
    for name in by[1:]:
        more, times = codes_of(frame, "by", name)
        code, count = renumbered(code * times + more, count * times)
    code, count = renumbered(code, count)
    first = first_rows(code, count)
    # Under plain names, because polars would read some names as patterns.
    names = [f"__lx_k{place}" for place in range(len(by))]
    keys = nw.maybe_reset_index(frame[list(by)][first]).rename(dict(zip(by, names, strict=True)))
    try:
        keys = keys.with_row_index(_ROW).sort(*names, nulls_last=True)
    except Exception as error:
        raise BadType(
            "the values",
            "of {by} cannot be put in order: {reason}",
            "Cast these columns to words first.",
            by=Given("by", list(by)),
            reason=str(error),
        ) from error
    rank = np.empty(count, dtype=np.int64)
    rank[keys.get_column(_ROW).to_numpy()] = np.arange(count)
    keys = keys.drop(_ROW).rename(dict(zip(names, by, strict=True)))
    return Groups(rank.take(code), count, nw.maybe_reset_index(keys))


def first_rows(code: Array, count: int) -> Array:
    """Return the first row of each group, -1 for a number that no row has."""
    first: Array = np.full(count, -1)
    first[code[::-1]] = np.arange(code.size - 1, -1, -1)  # the last write wins
    return first


def codes_of(frame: nw.DataFrame[Any], part: str, name: str) -> tuple[Array, int]:
    """Number the values of a column, in any order; return the numbers and how many there are."""
    series = series_of(frame, name)
    try:
        return _codes(series)
    except Exception as error:  # each library has its own error for what it cannot hash
        raise BadType(
            f"{part} column {name!r}",
            "has dtype {dtype}, whose values cannot be told apart: {reason}",
            "Cast it to words first.",
            dtype=str(series.dtype),
            reason=str(error),
        ) from error


def _codes(series: nw.Series[Any]) -> tuple[Array, int]:
    dtype = series.dtype
    small = dtype == nw.Boolean or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128))
    if small and not series.null_count() and len(series):
        value = series.to_numpy()
        value = value.astype(np.int8) if value.dtype.kind == "b" else value
        low, high = int(value.min()), int(value.max())
        if high - low <= 4 * value.size:
            # Both may wrap around at 2**63, but their difference wraps back.
            start = value.min(keepdims=True).astype(np.int64)
            return value.astype(np.int64) - start, high - low + 1
    if dtype.is_float():
        series = series + 0.0  # turns -0.0 into 0.0
    return _HASHED[series.implementation](series.to_native())


def renumbered(code: Array, count: int) -> tuple[Array, int]:
    """Renumber codes without gaps, in the same order; return also how many there are."""
    if count > 8 * code.size + 64:
        values, dense = np.unique(code, return_inverse=True)
        return dense, values.size
    taken = np.bincount(code, minlength=count) > 0
    if taken.all():
        return code, count
    number = np.cumsum(taken) - 1
    return number.take(code), int(taken.sum())


def _by_pandas(native: Any) -> tuple[Array, int]:
    import pandas

    code, values = pandas.factorize(native, use_na_sentinel=False)
    return code.astype(np.int64), len(values)


def _by_polars(native: Any) -> tuple[Array, int]:
    import polars

    # Number the distinct values, null included, and join the numbers to the rows.
    rows = native.alias("key").to_frame()
    values = rows.unique().with_row_index("code")
    joined = rows.join(values, on="key", how="left", nulls_equal=True, maintain_order="left")
    return joined["code"].cast(polars.Int64).to_numpy(), values.height


def _by_arrow(native: Any) -> tuple[Array, int]:
    import pyarrow

    values = pyarrow.chunked_array([native.combine_chunks()]) if len(native) else native
    if pyarrow.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    chunks = values.dictionary_encode(null_encoding="encode").unify_dictionaries().chunks
    if not chunks:
        return np.zeros(0, dtype=np.int64), 0
    code = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    return code.astype(np.int64), len(chunks[0].dictionary)


_HASHED = {
    nw.Implementation.PANDAS: _by_pandas,
    nw.Implementation.POLARS: _by_polars,
    nw.Implementation.PYARROW: _by_arrow,
}
