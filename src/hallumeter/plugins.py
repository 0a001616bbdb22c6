"""What users and other packages bring: functions by their names, and plugins by their entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError

GROUPS = ("hallumeter.extractors", "hallumeter.judges", "hallumeter.providers")
"""Under which names another package lists what it brings."""


class Plugin(Struct, frozen=True):
    """Something that another package brings; it is imported when it is first called."""

    group: str
    name: str
    target: str
    """Where it is: ``package.module:function``."""
    package: str
    """Who brings it, with its version."""
    entry: EntryPoint
    rival: str | None = None
    """Another package that brings something else under the same name."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Make it, with what its group is given.

        Raises:
            SettingsError: It cannot be imported, or is not something to call. What it raises itself is passed on.
        """
        made = self.load()
        if not callable(made):
            raise SettingsError(f"{self._owner()} is {type(made).__name__}; expected a function or a class")
        return made(*arguments, **settings)

    def load(self) -> Any:
        """The thing itself.

        Raises:
            SettingsError: It cannot be imported, whatever the reason, or nobody can say which one is meant.
        """
        if self.rival is not None:
            raise SettingsError(
                f"{self.package} and {self.rival} both bring {self.name!r} to {self.group}; uninstall one of them"
            )
        try:
            return self.entry.load()
        except Exception as error:
            said = " ".join(str(error).split()) or "no message"
            cause = f"{type(error).__name__}: {said}"
            raise SettingsError(f"{self._owner()} cannot be imported: {cause}; repair it or uninstall it") from error

    def _owner(self) -> str:
        return f"the plugin {self.name!r} ({self.target}, group {self.group}) of {self.package}"


def found(group: str, *, ours: Iterable[str] = ()) -> dict[str, Plugin]:
    """What the installed packages bring to a group, by name; nothing is imported.

    Names of hallumeter's own cannot be taken over: a plugin that has one of `ours` is not found. What is broken, or
    brought by two packages, is an error only for those who ask for it.

    Raises:
        SettingsError: There is no such group.

    >>> found("hallumeter.judges", ours=["rules"]).get("rules") is None
    True
    """
    if group not in GROUPS:
        raise SettingsError(f"there is no group of plugins called {group!r}; expected one of {', '.join(GROUPS)}")
    taken = set(ours)
    plugins: dict[str, Plugin] = {}
    for entry in entry_points(group=group):
        if entry.name in taken:
            continue
        plugin = Plugin(group, entry.name, entry.value, _package_of(entry), entry)
        first = plugins.setdefault(entry.name, plugin)
        if first.target != plugin.target:
            plugins[entry.name] = msgspec.structs.replace(first, rival=plugin.package)
    return plugins


def _package_of(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"


def function_named(path: str) -> Callable[..., Any]:
    """A function that the user names, imported from ``module.function``, also from the current folder.

    Raises:
        SettingsError: There is no such module or function, or importing it fails.
    """
    module_name, _, name = path.replace(":", ".").rpartition(".")
    if not module_name or not name:
        raise SettingsError(f"{path!r} names no function; expected python:module.function")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except Exception as error:
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise SettingsError(f"python:{path}: the module {module_name!r} cannot be imported ({cause})") from error
    function = getattr(module, name, None)
    if not callable(function):
        state = "has no" if function is None else "has, but not as a function,"
        raise SettingsError(f"python:{path}: the module {module_name!r} {state} {name!r}")
    return function  # type: ignore[no-any-return]
