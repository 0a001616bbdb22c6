"""The findings that a report shows first: unsupported claims, most certain first, one of each response."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping

from hallumeter.records.claim import Finding, Label, Verdict
from hallumeter.records.response import Quote

from .document import FindingSection, ListedFinding, Quoted, RecordFindings
from .segmentation import CONSENSUS, settled_label

LISTED = 5
"""As many as somebody reads before the numbers."""
_SHORT = 60
"""Characters below which a claim is not understood without the words around it."""
_AROUND = 90
_LONGEST = 480
_QUOTED = 320
_NOTE = 300
_QUESTION = 160
_REPEATED = 24
"""Characters of the marked words that tell that a note repeats them."""

Key = tuple[float, bool, bool]
"""What decides which finding is shown: how certain it is, that it is refuted, that evidence is quoted."""


def certainty(finding: Finding) -> float:
    """How sure the judges are together that a claim is unsupported: the mean of their probabilities.

    A judge that gives no probability counts by its label and its confidence; one that is undecided is not asked, and
    the settled verdict of a panel is no judge of its own.

    >>> from hallumeter.records.claim import Claim
    >>> judged = Verdict("r1", "c1", "model", Label.REFUTED, unsupported_probability=0.9)
    >>> certainty(Finding(Claim("r1", "c1"), (judged, Verdict("r1", "c1", "human", Label.REFUTED))))
    0.95
    """
    given = [
        _probability(verdict)
        for verdict in finding.verdicts
        if verdict.judge != CONSENSUS and verdict.label is not Label.UNDECIDED
    ]
    return sum(given) / len(given) if given else 0.0


def _probability(verdict: Verdict) -> float:
    if verdict.unsupported_probability is not None:
        return verdict.unsupported_probability
    sure = 1.0 if verdict.confidence is None else verdict.confidence
    return 1.0 - sure if verdict.label is Label.SUPPORTED else sure


class FindingPicker:
    """The most certain findings so far; memory holds as many responses as are listed."""

    def __init__(self, headline: str | None, unsupported: Collection[Label], *, kept: int = LISTED) -> None:
        self._headline = headline
        self._unsupported = unsupported
        self._kept = kept
        self._heap: list[tuple[tuple[float, bool, bool, int], RecordFindings, Finding]] = []
        self.responses = 0
        """With an unsupported claim."""
        self.claims = 0
        """That are unsupported."""

    def offer(self, item: RecordFindings) -> None:
        """Look at the claims of a response; the most certain of them is kept if it is among the first of all."""
        found = self._of(item)
        if not found:
            return
        self.responses += 1
        self.claims += len(found)
        key, finding = max(((_key(*each), each[0]) for each in found), key=lambda entry: entry[0])
        push = heapq.heappush if len(self._heap) < self._kept else heapq.heappushpop
        # Keys differ in their last part, so that responses themselves are never compared.
        push(self._heap, ((*key, -self.responses), item, finding))

    def _of(self, item: RecordFindings) -> list[tuple[Finding, Label | None]]:
        labelled = [(finding, settled_label(finding, self._headline)) for finding in item.findings]
        return [each for each in labelled if each[1] in self._unsupported]

    def listed(self) -> tuple[ListedFinding, ...]:
        """What was kept, most certain first, as it is shown."""
        best = sorted(self._heap, key=lambda entry: entry[0], reverse=True)
        return tuple(self._listed(item, finding) for _, item, finding in best)

    def _listed(self, item: RecordFindings, finding: Finding) -> ListedFinding:
        response, claim = item.response, finding.claim
        verdict = _speaker(finding, self._headline, self._unsupported)
        label = settled_label(finding, self._headline)
        assert label is not None, "only claims with a label are kept"
        judges = [each for each in finding.verdicts if each.judge != CONSENSUS]
        passages = {passage.evidence_id: passage.text for passage in response.evidence}
        before, marked, after = _words(response.response or "", finding, verdict)
        return ListedFinding(
            record_id=response.record_id,
            claim_id=claim.claim_id,
            label=label,
            marked=marked,
            before=before,
            after=after,
            kind=claim.kind,
            model=response.model,
            question=_shortened(response.question, _QUESTION),
            reason=verdict.reason if verdict else None,
            note=_note(verdict, marked) if verdict else None,
            probability=verdict.unsupported_probability if verdict else None,
            judges=tuple(each.judge for each in judges if each.label in self._unsupported),
            against=tuple(each.judge for each in judges if each.label is Label.SUPPORTED),
            evidence=_quoted(verdict.evidence if verdict else (), passages),
            others=len(self._of(item)) - 1,
        )


def _key(finding: Finding, label: Label | None) -> Key:
    return certainty(finding), label is Label.REFUTED, any(verdict.evidence for verdict in finding.verdicts)


def finding_sections(picker: FindingPicker) -> list[FindingSection]:
    """The most certain findings; none where everything is supported."""
    found = picker.listed()
    return [FindingSection(found, picker.claims, picker.responses)] if found else []


def _speaker(finding: Finding, headline: str | None, unsupported: Collection[Label]) -> Verdict | None:
    """The verdict that says why: that of the headline's judge, else the first that points to something."""
    against = [verdict for verdict in finding.verdicts if verdict.label in unsupported]
    return max(
        against,
        key=lambda verdict: (verdict.judge == headline != CONSENSUS, bool(verdict.evidence), verdict.start is not None),
        default=None,
    )


def _words(text: str, finding: Finding, verdict: Verdict | None) -> tuple[str, str, str]:
    """The words before the unsupported part, the part itself, and the words behind it, with the claim around them."""
    claim = finding.claim
    whole = _span(claim.start, claim.end, text)
    pointed = _span(verdict.start, verdict.end, text) if verdict else None
    part = pointed or whole
    if part is None:
        return "", _shortened(claim.text, _LONGEST) or "", ""
    start, end = (min(part[0], whole[0]), max(part[1], whole[1])) if whole else part
    if end - start < _SHORT:
        start, end = 0, len(text)
    marked = _shortened(text[part[0] : part[1]], _LONGEST) or ""
    limit = _AROUND if end - start == len(text) else _LONGEST
    return _before(text[start : part[0]], limit), marked, _behind(text[part[1] : end], limit)


def _before(text: str, limit: int) -> str:
    """The last words of a text, from the beginning of a word on.

    >>> _before("one two three", 6)
    '… three'
    """
    return text if len(text) <= limit else "… " + text[-limit:].partition(" ")[2]


def _behind(text: str, limit: int) -> str:
    """The first words of a text, up to the end of a word.

    >>> _behind("one two three", 6)
    'one …'
    """
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] + " …"


def _note(verdict: Verdict, marked: str) -> str | None:
    """What the judge noted, unless it only repeats the words that are marked."""
    is_repeated = verdict.reason is not None and len(marked) >= _REPEATED and marked[:_REPEATED] in (verdict.note or "")
    return None if is_repeated else _shortened(verdict.note, _NOTE)


def _span(start: int | None, end: int | None, text: str) -> tuple[int, int] | None:
    if start is None or end is None or not start < end <= len(text):
        return None
    return start, end


def _quoted(quotes: Iterable[Quote], passages: Mapping[str, str]) -> Quoted | None:
    """The first place in the evidence that a verdict points to, with the words around it."""
    for quote in quotes:
        passage = passages.get(quote.evidence_id, "")
        place = _span(quote.start, quote.end, passage)
        if place is None:
            if quote.quote:
                return Quoted(quote.evidence_id, _shortened(quote.quote, _QUOTED) or "")
            continue
        return Quoted(
            quote.evidence_id,
            _shortened(passage[place[0] : place[1]], _QUOTED) or "",
            before=_before(passage[: place[0]], _AROUND),
            after=_behind(passage[place[1] :], _AROUND),
        )
    return None


def _shortened(text: str | None, limit: int) -> str | None:
    """A text that is cut, and says so, where it is longer.

    >>> _shortened("abcdef", 3), _shortened("abc", 3)
    ('abc…', 'abc')
    """
    return text if text is None or len(text) <= limit else text[:limit].rstrip() + "…"
