"""A run as far as labels need it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from hallumeter.records import Manifest, Summary


class OpenedRun(Protocol):
    """A finished run on disk, whoever opened it."""

    @property
    def path(self) -> Path:
        """Where it is kept."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What it was made from."""
        ...

    @property
    def summary(self) -> Summary:
        """Everything measured, pooled."""
        ...
