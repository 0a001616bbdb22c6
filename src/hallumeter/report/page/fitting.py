"""As many records as a page has room for, so that a report stays a file that can be mailed."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.report.document import Document, RecordSection, RecordView, Section
from hallumeter.report.drawing import Json
from hallumeter.report.transcripts.payload import pages_payload, readings_payload
from hallumeter.report.transcripts.sections import PageSection, ReadingSection, ReadingView

from .packing import packed
from .payload import record_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOM = 750_000
"""Bytes of a page for packed records; with the drawing library and the rest it stays below two megabytes."""
_View = TypeVar("_View", bound=RecordView | ReadingView)


class Fitted(Struct, frozen=True):
    """A document that fits on its page, and its records as the page holds them."""

    document: Document
    blocks: dict[str, Json]
    """Packed already, because their size decides what fits."""


def fitted(document: Document, *, chapters: int = 1) -> Fitted:
    """The document with as many of its records as fit on a page of so many chapters; the coverage says how many."""
    tables = [section for section in document.sections if isinstance(section, PageSection)]
    taken = sum(_size(packed(pages_payload(table, [], None))) for table in tables)
    room = max(ROOM // chapters - taken, ROOM // (4 * chapters))
    blocks: dict[str, Json] = {}
    sections = tuple(_fitted(section, room, blocks) for section in document.sections)
    return Fitted(replace(document, sections=sections), blocks)


def _fitted(section: Section, room: int, blocks: dict[str, Json]) -> Section:
    """The section with what fits of it; its block is put among the others."""
    if isinstance(section, RecordSection):
        records, blocks["records-data"] = _kept(
            section.records, lambda kept: record_payload(replace(section, records=kept)), room
        )
        if not section.records:
            # Nothing was left out here: a server has them all.
            return section
        picked = Counter(view.picked for view in records)
        left_out = len(section.records) - len(records)
        coverage = section.coverage
        return RecordSection(
            replace(coverage, worst=picked["worst"], random=picked["random"], too_large=coverage.too_large + left_out),
            records,
        )
    if isinstance(section, ReadingSection):
        readings, blocks["readings-data"] = _kept(
            section.readings, lambda kept: readings_payload(replace(section, readings=kept)), room
        )
        left_out = len(section.readings) - len(readings)
        return replace(section, readings=readings, too_large=section.too_large + left_out)
    return section


def _size(block: Json) -> int:
    return len(json.dumps(block, ensure_ascii=False).encode(errors="replace"))


def _kept(
    views: tuple[_View, ...], payload_of: Callable[[tuple[_View, ...]], Json], room: int
) -> tuple[tuple[_View, ...], Json]:
    """As many as fit, and their block; one stays, however large, so that there is something to read."""
    kept, block = views, packed(payload_of(views))
    while len(kept) > 1 and (size := _size(block)) > room:
        # A little fewer than the size suggests, because fewer records have less to share.
        kept = _fewer(kept, max(1, int(0.97 * len(kept) * room / size)))
        block = packed(payload_of(kept))
    return kept, block


def _fewer(views: Sequence[_View], kept: int) -> tuple[_View, ...]:
    """The first of the worst and of those drawn at random, in the same proportion."""
    drawn = tuple(view for view in views if view.picked == "random")
    worst = tuple(view for view in views if view.picked == "worst")
    share = kept * len(drawn) // len(views)
    return worst[: kept - share] + drawn[:share]
