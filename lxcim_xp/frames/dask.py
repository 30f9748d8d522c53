"""Dask: the rows of a subgroup are brought into one partition, where the kernel runs.

This module only builds the graph. Without ``by`` there is one group, and so one partition. If
states can be merged, rows stay where they are and only the states of partitions move.
"""

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw

from lxcim_xp.frames.columns import Parts
from lxcim_xp.frames.labels import check_labels, distinct_labels


def in_partitions(
    rows: nw.LazyFrame[Any],
    parts: Parts,
    function: Callable[[nw.DataFrame[Any], Parts], nw.DataFrame[Any]],
) -> Any:
    """Return a Dask frame: a function of eager frames, applied to whole subgroups."""
    native = rows.select(*parts.columns).to_native()
    # A partition need not hold all labels of the frame.
    parts = parts._replace(all_rows=False)

    def of_partition(partition: Any) -> Any:
        return function(nw.from_native(partition, eager_only=True), parts).to_native()

    meta = of_partition(native._meta).head(0)
    if not parts.by:
        found = native.repartition(npartitions=1).map_partitions(of_partition, meta=meta)
    else:
        found = _sorted_from_partitions(native, parts.by, of_partition, meta)
    return _checked_for_all_labels(found, native, parts)


def of_keys_in_partitions(
    rows: nw.LazyFrame[Any],
    columns: list[str],
    keys: tuple[str, ...],
    function: Callable[[nw.DataFrame[Any]], nw.DataFrame[Any]],
) -> Any:
    """Return a Dask frame: a function of eager frames, applied to all rows of a key at once."""

    def of_partition(partition: Any) -> Any:
        return function(nw.from_native(partition, eager_only=True)).to_native()

    native = rows.select(*columns).to_native()
    return _sorted_from_partitions(native, keys, of_partition, of_partition(native._meta).head(0))


def _sorted_from_partitions(
    native: Any, keys: tuple[str, ...], of_partition: Callable[[Any], Any], meta: Any
) -> Any:
    def sorted_by_keys(partition: Any) -> Any:
        found = nw.from_native(partition, eager_only=True).sort(*keys, nulls_last=True)
        return nw.maybe_reset_index(found).to_native()

    found = native.shuffle(on=list(keys)).map_partitions(of_partition, meta=meta)
    # One row for each group is little enough to sort in one partition.
    return found.repartition(npartitions=1).map_partitions(sorted_by_keys, meta=meta)


def merged_partitions(
    rows: nw.LazyFrame[Any],
    parts: Parts,
    state: Callable[[nw.DataFrame[Any], Parts], nw.DataFrame[Any]],
    merge: Callable[[nw.DataFrame[Any], tuple[str, ...]], nw.DataFrame[Any]],
) -> Any:
    """Return a Dask frame that merges the states of all partitions."""
    native = rows.select(*parts.columns).to_native()
    parts = parts._replace(all_rows=False)

    def of_partition(partition: Any) -> Any:
        return state(nw.from_native(partition, eager_only=True), parts).to_native()

    states = native.map_partitions(of_partition, meta=of_partition(native._meta).head(0))
    found = in_one_partition(nw.from_native(states), lambda rows: merge(rows, parts.by))
    return _checked_for_all_labels(found, native, parts)


def in_one_partition(
    rows: nw.LazyFrame[Any], function: Callable[[nw.DataFrame[Any]], nw.DataFrame[Any]]
) -> Any:
    """Return a Dask frame: a function applied to all rows at once, for few rows."""
    native = rows.to_native()

    def of_partition(partition: Any) -> Any:
        return function(nw.from_native(partition, eager_only=True)).to_native()

    meta = of_partition(native._meta).head(0)
    return native.repartition(npartitions=1).map_partitions(of_partition, meta=meta)


def _checked_for_all_labels(found: Any, native: Any, parts: Parts) -> Any:
    """Return a result that raises if the labels of all partitions together are not as named."""
    if parts.positive is None:
        return found

    def labels_of(partition: Any) -> Any:
        rows = nw.from_native(partition, eager_only=True)
        return nw.maybe_reset_index(distinct_labels(rows, parts)).to_native()

    def checked(partition: Any, labels: Any) -> Any:
        check_labels(nw.from_native(labels, eager_only=True), parts)
        return partition

    labels = native.map_partitions(labels_of, meta=labels_of(native._meta))
    labels = labels.repartition(npartitions=1)
    return found.map_partitions(
        checked, labels, meta=found._meta, align_dataframes=False, enforce_metadata=False
    )
