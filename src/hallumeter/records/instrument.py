"""What an instrument is to everything that instruments share, and what parts of its runs add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self

from msgspec import Struct

from .measurement import Summary
from .metric import Metric


class Instrument(Struct, frozen=True, kw_only=True):
    """One instrument, as report, viewer, compare and gate know it; they know no other way to tell instruments apart."""

    name: str
    """Runs of instruments with the same name can be compared with each other."""
    runs: dict[str, str]
    """What its runs are called in their manifests, and in words."""
    metrics: tuple[Metric, ...]
    compared: tuple[str, ...]
    """The metrics that tell whether a run is better: few, since every test makes the others stricter."""
    headline: tuple[str, ...]
    """The metrics by which a run is known in a list, as far as it has them."""
    resample: str
    """The unit that intervals resample."""
    cluster: str | None = None
    """The field of a record that names this unit, where several records come from one."""
    has_judges: bool = False
    """Whether its runs are claims with verdicts of judges, which people can label."""
    resume: str = "Stopped. To go on, give the same command again."
    """How a run that was stopped is gone on with."""
    files: tuple[str, ...] = ()
    """What its runs hold beside the files that all runs have."""
    tables: dict[str, Callable[[Any], Iterator[Struct]]] = {}
    """Readers of those of its files that other code asks for, by name."""
    presentation: Callable[[], object]
    """How its runs are shown, as a `hallumeter.report.presentation.Presentation`; made when a report is."""
    recompute: Callable[[Any, Any], dict[str, str]] | None = None
    """Writes the numbers of a run folder once more, from its other files, into a second folder; says by topic what
    cannot be computed again, and why. None where nothing can."""
    sharded: Callable[[str], Any] | None = None
    """How a run, by what manifests call it, is cut into shards, as a `hallumeter.run.sharded.ShardedKind`; None from it
    for one that cannot be."""
    partials: Callable[[], Any] | None = None
    """Where the partials of its runs come from, as `Partials`; None where there are none."""


class Partial(Protocol):
    """What the records of a part add up to: small, mergeable, and enough for every number of a summary.

    `merge` is associative and commutative and does not round: parts cut in any way by record (by cluster, where records
    belong to clusters) and merged in any order give the same partial, and so the same summary, bit for bit.
    """

    def merge(self, other: Self) -> Self:
        """Both parts together.

        Raises:
            SettingsError: They were measured with different settings, or with some that need all records at once.
        """
        ...

    def to_bytes(self) -> bytes:
        """As JSON; equal partials give equal bytes."""
        ...

    def summary(self) -> Summary:
        """The summary of all records that were merged."""
        ...


class Partials(Protocol):
    """Where the partials of an instrument come from."""

    def partial_of(self, folder: Any) -> Partial:
        """The partial of a finished run.

        Raises:
            InputError: The run kept none.
        """
        ...

    def partial_from_bytes(self, data: bytes) -> Partial:
        """A partial as `to_bytes` wrote it.

        Raises:
            InputError: It is none.
        """
        ...
