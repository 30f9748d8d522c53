"""Every Python block of README.md and of the pages in docs/ runs."""

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_runs(block):
    for library in ("jax", "pandas", "polars"):
        if f"import {library}" in block:
            pytest.importorskip(library)
    exec(compile(textwrap.dedent(block), "<page>", "exec"), {})
