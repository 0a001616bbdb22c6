"""The sections that only a report on aspects has."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.records.aspects.aspect_summary import Breakdown, MappingWarning


class PartSection(Struct, frozen=True, tag="parts"):
    """Wholes and their parts in counts: why aspects were dropped, which rules decided, what overrides did."""

    breakdowns: tuple[Breakdown, ...]
    warnings: tuple[MappingWarning, ...] = ()
    """What is wrong with the debate's mapping to aspects, and what to do about it."""
