"""One pass over the pages of a run: count all of them, keep a bounded number of them."""

from __future__ import annotations

import heapq
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct, structs

from hallumeter.records.claim import Failure, Finding
from hallumeter.records.page import ERROR_CLASSES, InventedWord, PageRow, WorstLine, page_of
from hallumeter.records.response import Quote
from hallumeter.report.document import RecordFindings, encodable
from hallumeter.report.sections import (
    LineSection,
    PageCensus,
    PageSection,
    ReadingSection,
    ReadingView,
    StretchView,
)
from hallumeter.report.segmentation import settled_label
from hallumeter.report.selection import ROWS_KEPT, Limits, Selection

from .thumbnails import IMAGE, REFERENCE_PLACES, RESPONSE_PLACES, read_places, thumbnail


class CountedPages(Struct, frozen=True):
    """What a pass over all pages has found."""

    census: PageCensus
    section: PageSection
    by_engine: dict[str, int]
    """Pages of each engine."""
    empty_by_engine: dict[str, int]
    errors_by_engine: dict[str, Counter[str]]
    """Misread words of each engine by the class of their error."""
    wanted: dict[tuple[str, str], PageRow]
    """The rows that were asked for, by page and engine."""


def count_pages(
    rows: Iterable[PageRow], *, wanted: Set[tuple[str, str]] = frozenset(), kept: int = ROWS_KEPT
) -> CountedPages:
    """Read the table of pages once, sorted by page; memory holds `kept` rows, however many there are.

    With more rows than that, whole pages are drawn by a hash of their names, so that every engine keeps the same
    pages and the draw does not follow the order of the names.
    """
    counted: Counter[tuple[object, ...]] = Counter()
    errors: dict[str, Counter[str]] = {}
    found: dict[tuple[str, str], PageRow] = {}
    drawn: list[tuple[int, int, list[PageRow]]] = []
    room, pages = kept, 0
    for page, group in groupby(rows, key=_PAGE):
        own = list(group)
        pages += 1
        for row in own:
            counted[_COUNTED(row)] += 1
            if row.errors_other is not None:  # else nothing is known of them, without alignment or ground truth
                _add_errors(row, errors)
            if wanted and (page, row.engine) in wanted:
                found[page, row.engine] = row
        if not kept:
            continue
        # A heap gives the smallest first; the page with the largest hash is the one to go.
        heapq.heappush(drawn, (-zlib.crc32(page.encode(errors="replace")), pages, own))
        room -= len(own)
        while room < 0 and drawn:
            room += len(heapq.heappop(drawn)[2])
    shown = [row for _, _, own in sorted(drawn, key=lambda entry: entry[1]) for row in own]
    engines = _Engines(counted)
    census = engines.census(pages)
    section = PageSection(
        tuple(shown),
        pages=len(drawn),
        rows_left_out=census.readings - len(shown),
        pages_left_out=census.pages - len(drawn),
    )
    return CountedPages(census, section, engines.pages, engines.empty, errors, found)


_PAGE = attrgetter("page")
_COUNTED = attrgetter("engine", "status", "is_exact", "is_hallucinating")
"""What readings are counted by."""


class _Engines:
    """Readings by what they have in common, added up over engines and for each."""

    def __init__(self, counted: Counter[tuple[object, ...]]) -> None:
        self._counted = counted
        self.pages: Counter[str] = Counter()
        self.empty: Counter[str] = Counter()
        for (engine, status, *_), readings in counted.items():
            self.pages[str(engine)] += readings
            self.empty[str(engine)] += readings * (status == "empty_output")

    def census(self, pages: int) -> PageCensus:
        """All readings of so many pages."""
        counts: Counter[str] = Counter()
        for (_, status, is_exact, badge), readings in self._counted.items():
            counts[str(status)] += readings
            counts["upper_bounds"] += readings * (is_exact is False)
            counts["hallucinating"] += readings * (badge is True)
            counts["without_badge"] += readings * (badge is None)
        return PageCensus(
            engines=len(self.pages),
            pages=pages,
            readings=self.pages.total(),
            empty_outputs=counts["empty_output"],
            empty_references=counts["empty_reference"] + counts["both_empty"],
            refused=counts["refused"],
            undecided=counts["undecided"],
            **{name: counts[name] for name in ("upper_bounds", "hallucinating", "without_badge")},
        )


def _add_errors(row: PageRow, errors: dict[str, Counter[str]]) -> None:
    own = errors.setdefault(row.engine, Counter())
    own.update({name: getattr(row, f"errors_{name}") for name in ERROR_CLASSES})


# Lines, names and numbers: a few of every engine.

LINES_SHOWN, INVENTED_SHOWN = 10, 20
"""Of each engine."""


def line_section(
    lines: Iterable[WorstLine], invented: Iterable[InventedWord], engines: Sequence[str]
) -> LineSection | None:
    """What each engine read worst and what it invented, engines in the order given; None when there is neither."""
    places = {engine: place for place, engine in enumerate(engines)}
    shown, lines_left = _of_each(lines, places, LINES_SHOWN)
    tokens, tokens_left = _of_each(invented, places, INVENTED_SHOWN)
    return LineSection(shown, lines_left, tokens, tokens_left) if shown or tokens else None


_Row = TypeVar("_Row", WorstLine, InventedWord)


def _of_each(rows: Iterable[_Row], places: Mapping[str, int], most: int) -> tuple[tuple[_Row, ...], int]:
    """The first rows of every engine, and how many are left out."""
    kept: dict[str, list[_Row]] = {}
    left_out = 0
    for row in rows:
        own = kept.setdefault(row.engine, [])
        if len(own) < most:
            own.append(row)
        else:
            left_out += 1
    ordered = sorted(kept, key=lambda engine: places.get(engine, len(places)))
    return tuple(row for engine in ordered for row in kept[engine]), left_out


# What is shown of one engine's reading of one page.

CHARACTERS_SHOWN = 60_000
"""A longer text is cut, and says so: no one reads a loop of a million characters to its end."""
TRUTH = "truth"
"""The name of the passage that is ground truth; any other is the reading of a witness."""
_OWN_FIELDS = frozenset({"page", "status", IMAGE, REFERENCE_PLACES, RESPONSE_PLACES})


def severity(item: RecordFindings) -> tuple[float, float, float]:
    """Words invented or left out, then words inserted here and there, then stretches that nobody could decide."""
    words = dict.fromkeys(("block", "loop", "omission", "insertion"), 0.0)
    undecided = 0
    for finding in item.findings:
        if finding.claim.kind in words:
            words[finding.claim.kind] += finding.claim.weight
        undecided += not finding.verdicts
    return words["block"] + words["loop"] + words["omission"], words["insertion"], float(undecided)


def reading_section(
    selection: Selection, limits: Limits, *, counted: CountedPages, failures: Mapping[str, Sequence[Failure]]
) -> ReadingSection:
    """The chosen readings, as many as the limit of size lets in."""
    kinds: tuple[tuple[Literal["worst", "random"], tuple[RecordFindings, ...]], ...] = (
        ("worst", selection.worst),
        ("random", selection.random),
    )
    shown: list[ReadingView] = []
    references: set[str] = set()
    pictures = _Pictures()
    room = limits.bytes
    for kind, item in ((kind, item) for kind, items in kinds for item in _by_turns(items)):
        row = counted.wanted.get(page_of(item.response))
        whole = reading_view(item, picked=kind, row=row, failures=failures.get(item.response.record_id, ()))
        view = encodable(structs.replace(whole, image=None, response_places=(), reference_places=()))
        size = len(msgspec.json.encode(view)) - (len(view.reference.encode()) if view.reference in references else 0)
        if size <= room:
            room -= size
            view, size = pictures.added(view, whole, room)
            room -= size
            references.add(view.reference)
            shown.append(view)
    chosen = len(selection.worst) + len(selection.random)
    return ReadingSection(tuple(shown), selection.tallies.responses, too_large=chosen - len(shown))


def _by_turns(items: Sequence[RecordFindings]) -> Iterator[RecordFindings]:
    """The first of every engine, then the second of each: what does not fit is missing from all alike."""
    by_engine: dict[str, list[RecordFindings]] = {}
    for item in items:
        by_engine.setdefault(item.response.model or "", []).append(item)
    return (item for turn in zip_longest(*by_engine.values()) for item in turn if item is not None)


class _Pictures:
    """Small images for a report, each made and counted once."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}
        self._shown: set[str] = set()

    def added(self, view: ReadingView, whole: ReadingView, room: int) -> tuple[ReadingView, int]:
        """The view with its image and where its lines are, if there is room for it; and how many bytes that takes."""
        image = whole.image
        if image is None:
            return view, 0
        if image not in self._known:
            self._known[image] = thumbnail(Path(image))
        small = self._known[image]
        places = (whole.response_places, whole.reference_places)
        size = 0 if small is None or image in self._shown else len(small)
        size += len(msgspec.json.encode(places))
        if small is None or size > room:
            return view, 0
        self._shown.add(image)
        return structs.replace(view, image=small, response_places=places[0], reference_places=places[1]), size


def reading_view(
    item: RecordFindings,
    *,
    picked: Literal["worst", "random"],
    row: PageRow | None = None,
    failures: Sequence[Failure] = (),
) -> ReadingView:
    """A page ready to be shown beside the text that it was compared with."""
    response = item.response
    page, engine = page_of(response)
    text = response.response or ""
    passage = response.evidence[0] if response.evidence else None
    reference = passage.text if passage else ""
    return ReadingView(
        record_id=response.record_id,
        page=page,
        engine=engine,
        picked=picked,
        response=text[:CHARACTERS_SHOWN],
        response_characters=len(text),
        reference=reference[:CHARACTERS_SHOWN],
        reference_characters=len(reference),
        witness=None if passage is None or passage.evidence_id == TRUTH else passage.evidence_id,
        stretches=tuple(map(_stretch_view, item.findings)),
        row=row,
        fields={name: value for name, value in response.fields.items() if name not in _OWN_FIELDS},
        failures=tuple(f"{failure.step}: {failure.code}: {failure.message}" for failure in failures),
        image=str(response.fields[IMAGE]) if response.fields.get(IMAGE) else None,
        response_places=read_places(response.fields.get(RESPONSE_PLACES)),
        reference_places=read_places(response.fields.get(REFERENCE_PLACES)),
    )


def _stretch_view(finding: Finding) -> StretchView:
    claim = finding.claim
    verdict = finding.verdicts[0] if finding.verdicts else None
    quote: Quote | None = verdict.evidence[0] if verdict and verdict.evidence else None
    return StretchView(
        kind=claim.kind,
        words=claim.weight,
        label=settled_label(finding),
        start=claim.start,
        end=claim.end,
        reference_start=quote.start if quote else None,
        reference_end=quote.end if quote else None,
        is_moved=verdict is not None and verdict.reason == "moved",
        note=verdict.note if verdict else None,
    )
