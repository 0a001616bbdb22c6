"""Where the work of a run is done: which engine calls a function on every shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from hallumeter.errors import SettingsError

if TYPE_CHECKING:
    from hallumeter.run.shards import Receipt, Shard


class Engine(Protocol):
    """Calls a function on every shard, at least once."""

    def for_each(self, task: Callable[[Shard], Receipt], shards: Iterable[Shard], *, slots: int) -> Iterator[Receipt]:
        """The receipts, in any order.

        `task` is picklable, reads its part from the store, puts, commits, and returns its receipt. An engine may call
        it more than once for a shard. Ending the iterator early stops the engine's work.
        """
        ...


ENGINES = (
    (("local",), "hallumeter.run.engines.local"),
    (("ray", "ray://"), "hallumeter.run.engines.ray"),
    (("spark", "spark://", "local-cluster[", "sc://"), "hallumeter.run.engines.spark"),
)
"""What names of an engine are, or begin with, and the module whose `engine` makes it from the name."""


def engine_by_name(name: str) -> Engine:
    """The engine that a text names; its module is imported then.

    Raises:
        SettingsError: There is none.
        MissingExtraError: Its package is not installed.
    """
    for forms, module in ENGINES:
        if name in forms or name.startswith(tuple(form for form in forms if not form.isalpha())):
            made: Engine = import_module(module).engine(name)
            return made
    known = ", ".join(form if form.isalpha() else f"{form}..." for forms, _ in ENGINES for form in forms)
    raise SettingsError(f"no engine is called {name!r}; expected one of {known}")
