"""Evaluate pairwise choices with a metric that does not care which side is called positive.

>>> from lxcim_xp import lxcim
>>> lxcim([1, 0, 1], [3.0, -2.0, -1.0]) * 9
np.float64(8.0)

The functions here are pure and written against the Array API standard: they take and return NumPy,
JAX, PyTorch or CuPy arrays and run under ``jit``, ``vmap`` and ``grad``.
"""

import ast
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"


def _read_stub() -> tuple[list[str], dict[str, str]]:
    """Return the public names and the module of each, as the stub has them for type checkers."""
    tree = ast.parse(__spec__.loader.get_data(f"{__file__}i"))
    homes = {
        alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    return ast.literal_eval(names), homes


__all__, _HOMES = _read_stub()


class _Package(ModuleType):
    """Keeps functions visible that share their name with their module, such as ``exchange``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOMES.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: none of the topics is loaded before (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home == __name__:
        return import_module(f"{home}.{name}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
