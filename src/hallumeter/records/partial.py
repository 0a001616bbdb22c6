"""What a part of a run adds up to, so that parts measured apart give the numbers of the whole."""

from __future__ import annotations

from typing import Any, Protocol, Self

from .measurement import Summary


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
