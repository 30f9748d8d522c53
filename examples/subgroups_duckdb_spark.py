"""
The same subgroups on DuckDB and Spark
======================================

Predictions in several Parquet files, evaluated by the same call on two engines, without reading
them into memory: DuckDB on one machine, Spark here in its local mode, elsewhere on a cluster.
Spark needs Java.
"""

import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from lxcim_xp import frames

try:
    import duckdb
except ImportError:
    print("This example needs duckdb: pip install duckdb")
    sys.exit()

FILES, ROWS = 4, 25_000
ASKED = {
    "label": "outcome",
    "positive": "won",
    "score": "logit",
    "weight": "weight",
    "by": "region",
}

with tempfile.TemporaryDirectory() as folder:
    # %%
    # Files of predictions: a logit, and outcomes that follow it better in some regions.
    connection = duckdb.connect()
    connection.execute("select setseed(0.5)")
    for file in range(FILES):
        connection.execute(
            f"""
            copy (
                with drawn as (
                    select floor(random() * 5)::int as place,
                        round(sqrt(-2 * ln(random())) * cos(2 * pi() * random()), 3) as logit
                    from range({ROWS})
                )
                select ['north', 'east', 'south', 'west', null][place + 1] as region, logit,
                    case when random() < 1 / (1 + exp(-(place + 1) * logit / 2)) then 'won'
                        else 'lost' end as outcome,
                    1.0 + place as weight
                from drawn
            ) to '{folder}/part-{file}.parquet' (format parquet)
            """
        )

    # %%
    # DuckDB: a relation goes in, a relation comes out.
    predictions = connection.read_parquet(f"{folder}/*.parquet")
    by_region = frames.evaluate(predictions, **ASKED)
    print("DuckDB")
    print(by_region.project("region, round(columns('lxcim|au.*|acc.*'), 6), n, weight"))

    # %%
    # Spark: the same call.
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("The second part of this example needs pyspark: pip install pyspark")
        sys.exit()
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        print("The second part of this example needs Java, which was not found.")
        sys.exit()
    warnings.simplefilter("ignore")  # about Spark's own internals
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    on_spark = frames.evaluate(spark.read.parquet(str(Path(folder))), **ASKED)
    print("Spark")
    on_spark.show(truncate=8)
    pairs = zip(by_region.fetchall(), on_spark.collect(), strict=True)
    largest = max(
        abs(one[metric] - other[metric]) for one, other in pairs for metric in range(1, 5)
    )
    print("largest difference:", "below 1e-12" if largest < 1e-12 else largest)
    spark.stop()
