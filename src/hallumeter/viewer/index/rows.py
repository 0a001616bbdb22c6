"""What an index keeps of each record."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, json

from hallumeter.records.claim import Finding, Label
from hallumeter.records.page import KINDS, PageRow, page_of
from hallumeter.records.response import Response
from hallumeter.report.page.payload import LABEL_ORDER
from hallumeter.report.segmentation import CONSENSUS, settled_label
from hallumeter.run.labels import claim_fingerprint

# Texts as the search compares them, and names as a list sorts them.

_DIGITS = re.compile(r"(\d+)")


def plain(text: str) -> str:
    """A text without the differences that a search ignores; what SQLite cannot keep is replaced.

    >>> plain("ＡＢＣ Straße")
    'abc straße'
    """
    if not text.isascii():
        text = storable(unicodedata.normalize("NFKC", text))
    folded = text.lower()
    return folded.replace("\x00", "\ufffd") if "\x00" in folded else folded


def storable(text: str) -> str:
    """A text that SQLite can keep; lone surrogates become question marks."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def name_key(name: str) -> str:
    """What names are sorted by: numbers in them by their size, letters whatever their case.

    >>> sorted(["r10", "R9", "r1"], key=name_key)
    ['r1', 'R9', 'r10']
    """
    return _DIGITS.sub(lambda found: found[1].lstrip("0").rjust(20, "0"), plain(name))


def own_words(response: Response, findings: Iterable[Finding], fields: Iterable[str]) -> str:
    """Everything that is searched of a record, but for its passages of evidence, which records may share."""
    texts: list[str | None] = [response.record_id, response.model, response.question, response.response]
    texts += [response.reference, *fields]
    for finding in findings:
        # Words that stand in the response are there already.
        texts.append(finding.claim.text)
        for verdict in finding.verdicts:
            texts += (verdict.reason, verdict.note)
    return plain("\n".join(filter(None, texts)))


NO_VERDICT = "NONE"
"""What a finding without a verdict is called in a query."""


class Shape(Struct, frozen=True, array_like=True):
    """What findings have in common when they differ only in their place and their words."""

    label: str
    """The label that counts, or ``NONE``."""
    kind: str
    votes: tuple[tuple[str, str, str | None], ...]
    """Judge, label and reason of every verdict."""


class FindingRow(NamedTuple):
    """A finding as the index keeps it."""

    shape: Shape
    tenth: int | None
    claim_id: str
    fingerprint: str
    probabilities: tuple[tuple[str, float], ...]


def label_name(label: Label | None) -> str:
    """The label as queries name it."""
    return NO_VERDICT if label is None else label.value


def finding_row(finding: Finding, response: str | None, *, headline: str | None) -> FindingRow:
    """What queries ask of a finding."""
    claim, verdicts = finding.claim, finding.verdicts
    votes = tuple([(verdict.judge, verdict.label.value, verdict.reason) for verdict in verdicts])
    shape = Shape(label_name(settled_label(finding, headline)), claim.kind, votes)
    known = [
        (storable(verdict.judge), verdict.unsupported_probability)
        for verdict in verdicts
        if verdict.unsupported_probability is not None
    ]
    tenth = _tenth(claim.start, claim.end, len(response or ""))
    return FindingRow(shape, tenth, storable(claim.claim_id), claim_fingerprint(claim, response), tuple(known))


def _tenth(start: int | None, end: int | None, characters: int) -> int | None:
    """In which tenth of the response the middle of a finding lies; None for one without a place there."""
    if start is None or end is None or not start < end <= characters:
        return None
    return min(9, 5 * (start + end) // characters)


def counts_of(rows: Sequence[FindingRow]) -> dict[str, float]:
    """How many findings have which label, and what lists are sorted by."""
    labels = Counter(row.shape.label for row in rows)
    named = {label_name(label): labels[label_name(label)] for label in LABEL_ORDER}
    unsupported = named["REFUTED"] + named["NOT_ENOUGH_INFO"]
    decided = unsupported + named["SUPPORTED"]
    return {
        "claims": len(rows),
        "refuted": named["REFUTED"],
        "not_enough_info": named["NOT_ENOUGH_INFO"],
        "undecided": named["UNDECIDED"],
        "no_verdict": named[NO_VERDICT],
        "supported": named["SUPPORTED"],
        "unsupported": unsupported,
        "share": unsupported / decided if decided else 0.0,
        "unmeasured": len(rows) - decided,
        "disputed": sum(_is_disputed(row.shape) for row in rows),
    }


def _is_disputed(shape: Shape) -> bool:
    """Whether judges differ; the consensus is no judge of its own."""
    return len({label for judge, label, _ in shape.votes if judge != CONSENSUS}) > 1


def reading_row(response: Response, findings: Sequence[Finding], row: PageRow | None) -> tuple[object, ...]:
    """What queries ask of an engine's reading of a page."""
    page, engine = page_of(response)
    sizes = dict.fromkeys(KINDS, 0.0)
    is_misread = False
    for finding in findings:
        kind = finding.claim.kind if finding.claim.kind in sizes else "run"
        sizes[kind] += finding.claim.weight
        is_misread = is_misread or (kind == "run" and bool(finding.verdicts and finding.verdicts[0].note))
    passage = response.evidence[0].text if response.evidence else ""
    facts = (None, None, None, None) if row is None else (row.status, row.is_hallucinating, row.cer, row.anchor_score)
    names = (storable(page), storable(engine), name_key(page), name_key(engine))
    is_aligned = bool(findings) or not (response.response or passage)
    return (*names, *facts, *sizes.values(), is_misread, is_aligned, None if row is None else json.encode(row))
