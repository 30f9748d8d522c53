"""The public functions and classes: what the package exports, and what public modules define."""

import inspect
import pkgutil
from importlib import import_module

import lxcim_xp as lx

_MODULES = [
    import_module(f"lxcim_xp.{module.name}")
    for module in pkgutil.iter_modules(lx.__path__)
    if not module.name.startswith("_")
]


def _names(module):
    # A folder imports helpers from its modules, which are not public by that.
    here = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return [*here, *getattr(module, "__all__", ())]


PUBLIC = {
    f"{value.__module__}.{value.__qualname__}": value
    for module in [*_MODULES, lx]
    for value in (getattr(module, name) for name in _names(module))
    if inspect.isfunction(value) or inspect.isclass(value)
}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}
