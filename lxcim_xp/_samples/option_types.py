"""Values that the options of many functions take, as types."""

from typing import Literal, TypeAlias

NanPolicy: TypeAlias = Literal["raise", "omit", "abstain"]  # what to do with a missing score
Ties: TypeAlias = Literal["error", "omit", "half"]  # what to do with labels on neither side
