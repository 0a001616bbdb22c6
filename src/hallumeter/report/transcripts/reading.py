"""What is shown of one engine's reading of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from hallumeter.report.encoding import encodable
from hallumeter.report.segmentation import settled_label

from .sections import ReadingSection, ReadingView, StretchView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hallumeter.records import Failure, Finding, PageRow, Quote, Response
    from hallumeter.report.document import RecordFindings
    from hallumeter.report.selection import Limits, Selection

    from .pages import CountedPages

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


def page_of(response: Response) -> tuple[str, str]:
    """The page that a response reads, and the engine that read it."""
    engine = response.model or ""
    page = response.fields.get("page")
    return (response.record_id.removesuffix(f"@{engine}") if page is None else str(page)), engine


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
