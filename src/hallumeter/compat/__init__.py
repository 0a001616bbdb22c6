"""Entrances for users of other packages: the names and shapes that they know, computed by hallumeter's own metrics."""

from importlib import import_module
from types import ModuleType

__all__ = ["judge_auditor", "picarones"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'hallumeter.compat' has no attribute {name!r}")
    return import_module(f"hallumeter.compat.{name}")
