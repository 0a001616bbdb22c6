"""Cut a response into pieces, so that findings that overlap can all be shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from hallumeter.records.claim import Finding, Label

CONSENSUS = "consensus"
"""The judge's name under which the settled verdict of a panel is kept."""
SEVERITY = {None: -1, Label.SUPPORTED: 0, Label.UNDECIDED: 1, Label.NOT_ENOUGH_INFO: 2, Label.REFUTED: 3}
"""Which label a piece takes when findings overlap: the highest. None is a claim that nobody judged."""
_DECIDED = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)


class Segment(Struct, frozen=True, omit_defaults=True):
    """A piece of a response that the same findings cover from its first to its last character."""

    start: int
    """First code point of the piece in the response."""
    end: int
    text: str
    label: Label | None = None
    """The worst label of the findings that cover the piece; None when no finding does, or none has a verdict."""
    findings: tuple[int, ...] = ()
    """Positions of the covering findings in the list that was given, ascending."""
    is_pinpointed: bool = False
    """True inside the part that a judge pointed to, False in the rest of its claim."""


class _Extent(Struct, frozen=True):
    """A stretch of the response that belongs to a finding."""

    start: int
    end: int
    finding: int
    is_pinpointed: bool


def settled_label(finding: Finding, headline: str | None = None) -> Label | None:
    """The label that a claim counts with: the headline judge's, or what the judges said together.

    Together is the consensus if it was kept among the verdicts, else the most frequent decided label; a tie, or only
    undecided verdicts, is UNDECIDED. None when there is no verdict, or none by the headline judge.

    >>> from hallumeter.records.claim import Claim, Verdict
    >>> settled_label(Finding(Claim("r1", "c1"), (Verdict("r1", "c1", "human", Label.REFUTED),)))
    <Label.REFUTED: 'REFUTED'>
    >>> settled_label(Finding(Claim("r1", "c1"), ())) is None
    True
    """
    wanted = headline or CONSENSUS
    for verdict in finding.verdicts:
        if verdict.judge == wanted:
            return verdict.label
    if not finding.verdicts or wanted != CONSENSUS:
        return None
    labels = [verdict.label for verdict in finding.verdicts]
    if len(labels) == 1:
        return labels[0]
    # Lists count by identity: the hash of an enumeration, which a counter asks for, is a call to Python for each.
    votes = [labels.count(label) for label in _DECIDED]
    most = max(votes)
    return _DECIDED[votes.index(most)] if most and votes.count(most) == 1 else Label.UNDECIDED


def segments(text: str, findings: Sequence[Finding], headline: str | None = None) -> list[Segment]:
    """Pieces of the text, in order, without gap or overlap: put together again they are the text.

    `headline` is the judge whose labels count; see `settled_label`. A finding whose span is missing, empty or beyond
    the text covers no piece: see `is_aligned`.

    >>> from hallumeter.records.claim import Claim, Verdict
    >>> finding = Finding(Claim("r1", "c1", start=4, end=7), (Verdict("r1", "c1", "human", Label.REFUTED),))
    >>> [(piece.text, piece.label and piece.label.value) for piece in segments("The sky", [finding])]
    [('The ', None), ('sky', 'REFUTED')]
    """
    return labelled_segments(text, findings, [settled_label(finding, headline) for finding in findings])


def labelled_segments(text: str, findings: Sequence[Finding], labels: Sequence[Label | None]) -> list[Segment]:
    """The same, where the labels of the findings are known."""
    extents = _all_extents(text, findings, labels=labels)
    starting: dict[int, list[_Extent]] = {}
    for extent in extents:
        starting.setdefault(extent.start, []).append(extent)
    cuts = sorted({0, len(text)} | {extent.start for extent in extents} | {extent.end for extent in extents})
    active: list[_Extent] = []
    pieces = []
    for start, end in pairwise(cuts):
        active = [extent for extent in active if extent.end > start] + starting.get(start, [])
        pieces.append(_piece(text, (start, end), active=active, labels=labels))
    return pieces


def is_aligned(finding: Finding, label: Label | None, *, length: int) -> bool:
    """Whether a piece of a text so long can show a finding: its claim, or a part that a judge of its label named."""
    claim = finding.claim
    if claim.start is not None and claim.end is not None and claim.start < claim.end <= length:
        return True
    return bool(_extents(finding, 0, length=length, label=label))


def _piece(text: str, span: tuple[int, int], *, active: Sequence[_Extent], labels: Sequence[Label | None]) -> Segment:
    start, end = span
    covering = tuple(sorted({extent.finding for extent in active}))
    label = max((labels[position] for position in covering), key=SEVERITY.__getitem__, default=None)
    is_pinpointed = any(extent.is_pinpointed and labels[extent.finding] is label for extent in active)
    return Segment(start, end, text[start:end], label, covering, is_pinpointed)


def _all_extents(text: str, findings: Sequence[Finding], *, labels: Sequence[Label | None]) -> list[_Extent]:
    return [
        extent
        for position, finding in enumerate(findings)
        for extent in _extents(finding, position, length=len(text), label=labels[position])
    ]


def _extents(finding: Finding, position: int, *, length: int, label: Label | None) -> list[_Extent]:
    """The claim, and the parts of it that the judges behind its label pointed to."""
    pointed = [
        _Extent(verdict.start, verdict.end, position, is_pinpointed=True)
        for verdict in finding.verdicts
        if verdict.label is label
        if verdict.start is not None and verdict.end is not None and verdict.start < verdict.end <= length
    ]
    claim = finding.claim
    if claim.start is None or claim.end is None or not claim.start < claim.end <= length:
        return pointed
    # Without a part that a judge pointed to, the whole claim is the finding.
    return [*pointed, _Extent(claim.start, claim.end, position, is_pinpointed=not pointed)]
