"""Dask: rows of one subgroup are brought into one partition, where the kernel runs.

Nothing is computed here but the graph. Without ``by`` there is one group, and so one partition.
What can be merged stays where it is, and only the states of the partitions are brought together.
"""

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw

from lxcim_xp._frame_columns import Parts


def in_partitions(
    rows: nw.LazyFrame[Any],
    parts: Parts,
    function: Callable[[nw.DataFrame[Any], Parts], nw.DataFrame[Any]],
) -> Any:
    """Return a Dask frame of what a function of eager frames makes of all rows."""
    native = rows.select(*parts.columns).to_native()
    # A partition may hold fewer labels than the frame.
    parts = parts._replace(all_rows=False)

    def of_partition(partition: Any) -> Any:
        return function(nw.from_native(partition, eager_only=True), parts).to_native()

    def sorted_by_keys(partition: Any) -> Any:
        found = nw.from_native(partition, eager_only=True).sort(*parts.by, nulls_last=True)
        return nw.maybe_reset_index(found).to_native()

    meta = of_partition(native._meta).head(0)
    if not parts.by:
        return native.repartition(npartitions=1).map_partitions(of_partition, meta=meta)
    found = native.shuffle(on=list(parts.by)).map_partitions(of_partition, meta=meta)
    # One row for each group: few enough for one partition, which puts them in order.
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
    return in_one_partition(nw.from_native(states), lambda rows: merge(rows, parts.by))


def in_one_partition(
    rows: nw.LazyFrame[Any], function: Callable[[nw.DataFrame[Any]], nw.DataFrame[Any]]
) -> Any:
    """Return a Dask frame of what a function makes of all rows, which are few."""
    native = rows.to_native()

    def of_partition(partition: Any) -> Any:
        return function(nw.from_native(partition, eager_only=True)).to_native()

    meta = of_partition(native._meta).head(0)
    return native.repartition(npartitions=1).map_partitions(of_partition, meta=meta)
