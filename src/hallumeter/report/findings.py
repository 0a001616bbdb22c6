"""The findings that are shown first: unsupported claims, most certain first.

A page shows one of each response with the words around it, a terminal every claim for itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.judging import span_within, unsupported_span
from hallumeter.records.response import Quote, Response

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
UNSUPPORTED = frozenset({Label.REFUTED, Label.NOT_ENOUGH_INFO})

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
        verdict = speaker(finding, self._headline, self._unsupported)
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


class CertainFinding(Struct, frozen=True):
    """A claim that the evidence does not support, cut where the wrong words begin and end."""

    record_id: str
    model: str | None
    before: str
    wrong: str
    after: str
    label: Label
    verdict: Verdict
    """That says why."""


def most_certain(
    records: Iterable[tuple[Response, Sequence[Finding]]], *, headline: str | None = None, most: int = LISTED
) -> list[CertainFinding]:
    """The claims that are most certainly unsupported, by all judges together; of equals the first."""
    best = heapq.nlargest(most, _unsupported(records, headline), key=lambda each: _key(each[1], each[2]))
    return [_certain(*each, headline=headline) for each in best]


def _unsupported(
    records: Iterable[tuple[Response, Sequence[Finding]]], headline: str | None
) -> Iterator[tuple[Response, Finding, Label]]:
    for response, findings in records:
        for finding in findings:
            label = settled_label(finding, headline)
            if label in UNSUPPORTED:
                yield response, finding, label


def _certain(response: Response, finding: Finding, label: Label, *, headline: str | None) -> CertainFinding:
    """A claim in three pieces; what cannot be placed is wrong as a whole."""
    verdict = speaker(finding, headline, UNSUPPORTED)
    assert verdict is not None, "a label comes from a verdict"
    text = response.response or ""
    pieces = ("", finding.claim.text or "", "")
    places = _places(finding.claim, verdict, text)
    if places is not None:
        start, first, last, end = places
        pieces = (text[start:first], text[first:last], text[last:end])
    return CertainFinding(response.record_id, response.model, *pieces, label=label, verdict=verdict)


def speaker(finding: Finding, headline: str | None, unsupported: Collection[Label]) -> Verdict | None:
    """The verdict that says why: the headline judge's, else the first that points to something.

    A consensus has no words of its own; it speaks only where nobody else does.
    """
    against = [verdict for verdict in finding.verdicts if verdict.label in unsupported]
    return max(
        against,
        key=lambda verdict: (
            verdict.judge == headline != CONSENSUS,
            bool(verdict.evidence),
            verdict.start is not None,
            verdict.judge != CONSENSUS,
        ),
        default=None,
    )


def _places(claim: Claim, verdict: Verdict | None, text: str) -> tuple[int, int, int, int] | None:
    """Where the claim begins, its unsupported words begin and end, and the claim ends; None if it has no place."""
    part = unsupported_span(claim, verdict, len(text))
    if part is None:
        return None
    start, end = span_within(claim.start, claim.end, len(text)) or part
    return start, *part, end


def _words(text: str, finding: Finding, verdict: Verdict | None) -> tuple[str, str, str]:
    """The words before the unsupported part, the part itself, and the words behind it, with the claim around them."""
    places = _places(finding.claim, verdict, text)
    if places is None:
        return "", _shortened(finding.claim.text, _LONGEST) or "", ""
    start, first, last, end = places
    if end - start < _SHORT:
        start, end = 0, len(text)
    marked = _shortened(text[first:last], _LONGEST) or ""
    limit = _AROUND if end - start == len(text) else _LONGEST
    return _before(text[start:first], limit), marked, first_words(text[last:end], limit)


def _before(text: str, limit: int) -> str:
    """The last words of a text, from the beginning of a word on.

    >>> _before("one two three", 6)
    '… three'
    """
    return text if len(text) <= limit else "… " + text[-limit:].partition(" ")[2]


def first_words(text: str, limit: int) -> str:
    """The first words of a text, up to the end of a word.

    >>> first_words("one two three", 6)
    'one …'
    """
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] + " …"


def _note(verdict: Verdict, marked: str) -> str | None:
    """What the judge noted, unless it only repeats the words that are marked."""
    return None if does_repeat(verdict, marked) else _shortened(verdict.note, _NOTE)


def does_repeat(verdict: Verdict, marked: str) -> bool:
    """Whether a note only repeats the words that are marked, so that the reason alone says more."""
    return verdict.reason is not None and len(marked) >= _REPEATED and marked[:_REPEATED] in (verdict.note or "")


def _quoted(quotes: Iterable[Quote], passages: Mapping[str, str]) -> Quoted | None:
    """The first place in the evidence that a verdict points to, with the words around it."""
    for quote in quotes:
        passage = passages.get(quote.evidence_id, "")
        place = span_within(quote.start, quote.end, len(passage))
        if place is None:
            if quote.quote:
                return Quoted(quote.evidence_id, _shortened(quote.quote, _QUOTED) or "")
            continue
        return Quoted(
            quote.evidence_id,
            _shortened(passage[place[0] : place[1]], _QUOTED) or "",
            before=_before(passage[: place[0]], _AROUND),
            after=first_words(passage[place[1] :], _AROUND),
        )
    return None


def _shortened(text: str | None, limit: int) -> str | None:
    """A text that is cut, and says so, where it is longer.

    >>> _shortened("abcdef", 3), _shortened("abc", 3)
    ('abc…', 'abc')
    """
    return text if text is None or len(text) <= limit else text[:limit].rstrip() + "…"
