"""
More rows than memory
=====================

Exact metrics of a thousand subgroups from Parquet, with a limit on memory: what does not fit,
DuckDB sorts on disk. For a hundred million rows pass ``--rows 100000000``; the default is small.
"""

import argparse
import resource
import sys
import tempfile
import time

from lxcim_xp import frames

try:
    import duckdb
except ImportError:
    print("This example needs duckdb: pip install duckdb")
    sys.exit()

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("figures", nargs="?", help="not used: this example draws nothing")
parser.add_argument("--rows", type=int, default=200_000)
parser.add_argument("--memory", default="600MB", help="DuckDB's memory_limit")
parser.add_argument("--folder", help="for Parquet and what does not fit; temporary by default")
given = parser.parse_args()

with tempfile.TemporaryDirectory(dir=given.folder) as folder:
    connection = duckdb.connect()
    for setting, value in {
        "memory_limit": given.memory,
        "temp_directory": f"{folder}/spill",
        "preserve_insertion_order": "false",
    }.items():
        connection.execute(f"set {setting} = '{value}'")

    # %%
    # One Parquet file of predictions, written row group by row group.
    connection.execute(
        f"""
        copy (
            with drawn as (
                select (i % 1000)::int as subgroup,
                    sqrt(-2 * ln((hash(i) % 1048573 + 1) / 1048574))
                        * cos(2 * pi() * (hash(i + 1) % 1048573) / 1048573) as logit,
                    (hash(i + 2) % 1048573) / 1048573 as chance
                from range({given.rows}) as numbers(i)
            )
            select subgroup, logit, chance < 1 / (1 + exp(-logit)) as outcome,
                1 + subgroup % 3 as weight
            from drawn
        ) to '{folder}/predictions.parquet' (format parquet)
        """
    )

    # %%
    # The evaluation is a query over the file.
    predictions = connection.read_parquet(f"{folder}/predictions.parquet")
    start = time.perf_counter()
    found = frames.evaluate(
        predictions,
        label="outcome",
        score="logit",
        weight="weight",
        by="subgroup",
        metrics=["lxcim", "accuracy", "auroc"],
    ).fetchall()
    taken = time.perf_counter() - start

print(f"{given.rows} rows, {len(found)} subgroups, memory_limit {given.memory}")
for row in found[:3]:
    print("subgroup {}: LxCIM {:.3f}, accuracy {:.3f}, AUROC {:.3f}, n = {}".format(*row[:5]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
print(f"{taken:.1f} s, peak {peak:.2f} GB")
