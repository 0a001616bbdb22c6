"""One pass over the pages of a run: count all of them, keep a bounded number of them."""

from __future__ import annotations

import heapq
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import groupby
from typing import Literal

import msgspec
from msgspec import Struct

from hallumeter.records.claim import Failure, Finding
from hallumeter.records.page import PageRow, page_of
from hallumeter.records.response import Quote
from hallumeter.report.document import RecordFindings
from hallumeter.report.encoding import encodable
from hallumeter.report.sections import PageCensus, PageSection, ReadingSection, ReadingView, StretchView
from hallumeter.report.segmentation import settled_label
from hallumeter.report.selection import ROWS_KEPT, Limits, Selection


class CountedPages(Struct, frozen=True):
    """What a pass over all pages has found."""

    census: PageCensus
    section: PageSection
    by_engine: dict[str, int]
    """Pages of each engine."""
    empty_by_engine: dict[str, int]
    wanted: dict[tuple[str, str], PageRow]
    """The rows that were asked for, by page and engine."""


def count_pages(
    rows: Iterable[PageRow], *, wanted: Set[tuple[str, str]] = frozenset(), kept: int = ROWS_KEPT
) -> CountedPages:
    """Read the table of pages once, sorted by page; memory holds `kept` rows, however many there are.

    With more rows than that, whole pages are drawn by a hash of their names, so that every engine keeps the same
    pages and the draw does not follow the order of the names.
    """
    counts: Counter[str] = Counter()
    by_engine: Counter[str] = Counter()
    empty_by_engine: Counter[str] = Counter()
    found: dict[tuple[str, str], PageRow] = {}
    drawn: list[tuple[int, int, list[PageRow]]] = []
    room = kept
    for page, group in groupby(rows, key=lambda row: row.page):
        own = list(group)
        counts["pages"] += 1
        for row in own:
            _count(row, counts)
            by_engine[row.engine] += 1
            empty_by_engine[row.engine] += row.status == "empty_output"
            if (page, row.engine) in wanted:
                found[page, row.engine] = row
        # A heap gives the smallest first; the page with the largest hash is the one to go.
        heapq.heappush(drawn, (-zlib.crc32(page.encode(errors="replace")), counts["pages"], own))
        room -= len(own)
        while room < 0 and drawn:
            room += len(heapq.heappop(drawn)[2])
    shown = [row for _, _, own in sorted(drawn, key=lambda entry: entry[1]) for row in own]
    census = PageCensus(
        engines=len(by_engine),
        **{name: counts[name] for name in PageCensus.__struct_fields__ if name != "engines"},
    )
    section = PageSection(
        tuple(shown),
        pages=len(drawn),
        rows_left_out=census.readings - len(shown),
        pages_left_out=census.pages - len(drawn),
    )
    return CountedPages(census, section, dict(by_engine), dict(empty_by_engine), found)


def _count(row: PageRow, counts: Counter[str]) -> None:
    """Add one reading to the census."""
    counts["readings"] += 1
    counts["empty_outputs"] += row.status == "empty_output"
    counts["empty_references"] += row.status in {"empty_reference", "both_empty"}
    counts["refused"] += row.status == "refused"
    counts["undecided"] += row.status == "undecided"
    counts["upper_bounds"] += row.is_exact is False
    counts["hallucinating"] += row.is_hallucinating is True
    counts["without_badge"] += row.is_hallucinating is None


# What is shown of one engine's reading of one page.

CHARACTERS_SHOWN = 60_000
"""A longer text is cut, and says so: no one reads a loop of a million characters to its end."""
TRUTH = "truth"
"""The name of the passage that is ground truth; any other is the reading of a witness."""
_OWN_FIELDS = frozenset({"page", "status"})


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
    room = limits.bytes
    for kind, item in ((kind, item) for kind, items in kinds for item in items):
        row = counted.wanted.get(page_of(item.response))
        view = encodable(reading_view(item, picked=kind, row=row, failures=failures.get(item.response.record_id, ())))
        size = len(msgspec.json.encode(view)) - (len(view.reference.encode()) if view.reference in references else 0)
        if size <= room:
            room -= size
            references.add(view.reference)
            shown.append(view)
    chosen = len(selection.worst) + len(selection.random)
    return ReadingSection(tuple(shown), selection.tallies.responses, too_large=chosen - len(shown))


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
