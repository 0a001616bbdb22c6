"""The findings that a judge is most certain of, for a terminal: the sentence, why, and what the evidence says."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hallumeter.records.claim import Finding, Label, Verdict
from hallumeter.records.response import Response
from hallumeter.text.normalize import one_line

from .findings import certainty
from .reasons import reason_words
from .segmentation import CONSENSUS, SEVERITY, settled_label
from .table import Line
from .wording import format_number

MOST = 5
UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)
LONGEST_QUOTE = 300
"""Characters of the evidence that are shown; a record of JSON can be a page long."""
LONGEST_REPEATED = 40
"""Characters that a judge may quote from the response where they are marked right above."""
OPENING, CLOSING = "»", "«"
"""Around the words that are wrong, where no colour can show them."""
_HANG = 13
_STYLES = {Label.REFUTED: "bold red", Label.NOT_ENOUGH_INFO: "bold yellow"}
_ACCUSED = {Label.REFUTED: "evidence", Label.NOT_ENOUGH_INFO: "nearest"}
"""What stands before a quotation: the evidence contradicts the claim, or comes nearest to it."""


class CertainFinding(Struct, frozen=True):
    """A claim that the evidence does not support, cut where the wrong words begin and end."""

    record_id: str
    model: str | None
    before: str
    wrong: str
    after: str
    label: Label
    verdict: Verdict
    certainty: tuple[float, int]
    """How sure the judges are, and how grave the label is."""


def most_certain(
    records: Iterable[tuple[Response, Sequence[Finding]]], *, headline: str | None = None, most: int = MOST
) -> list[CertainFinding]:
    """The findings that are most certainly unsupported, by all judges together; of equals the first."""
    return heapq.nlargest(most, _unsupported(records, headline), key=lambda found: found.certainty)


def _unsupported(
    records: Iterable[tuple[Response, Sequence[Finding]]], headline: str | None
) -> Iterator[CertainFinding]:
    for response, findings in records:
        for finding in findings:
            label = settled_label(finding, headline)
            if label in UNSUPPORTED:
                # Of a panel the first judge who said so speaks for all: a consensus has no words of its own.
                said = [verdict for verdict in finding.verdicts if verdict.label is label]
                judges = [verdict for verdict in said if verdict.judge != CONSENSUS] or said
                chosen = next((verdict for verdict in judges if verdict.judge == headline), judges[0])
                yield _cut(response, finding, verdict=chosen)


def _cut(response: Response, finding: Finding, *, verdict: Verdict) -> CertainFinding:
    """A claim in three pieces; what cannot be placed in it is wrong as a whole."""
    claim, text = finding.claim, response.response or ""
    start, end = claim.start, claim.end
    begin, stop = verdict.start, verdict.end
    pieces = ("", claim.text or "", "")
    if start is not None and end is not None and end <= len(text):
        pieces = ("", text[start:end], "")
        if begin is not None and stop is not None and start <= begin < stop <= end:
            pieces = (text[start:begin], text[begin:stop], text[stop:end])
    sure = certainty(finding), SEVERITY[verdict.label]
    return CertainFinding(
        claim.record_id, response.model, *pieces, label=verdict.label, verdict=verdict, certainty=sure
    )


def finding_lines(findings: Sequence[CertainFinding], *, has_color: bool) -> Iterator[Line]:
    """Each finding: the sentence with the wrong words marked, why, what the evidence says, where."""
    for place, found in enumerate(findings, start=1):
        marks = ("", "") if has_color else (OPENING, CLOSING)
        pieces = (
            (f"{place:>2}. ", ""),
            (_joined(found.before), ""),
            (f"{marks[0]}{one_line(found.wrong)}{marks[1]}", _STYLES[found.label]),
            (_joined(found.after), ""),
        )
        yield Line(pieces, hang=4)
        why = _why(found)
        if why:
            yield _fact("why", why)
        quote = found.verdict.evidence[0].quote if found.verdict.evidence else None
        if quote:
            yield _fact(_ACCUSED[found.label], f"“{_shortened(one_line(quote))}”")
        said = found.verdict.unsupported_probability
        sure = "" if said is None else f", probability {format_number(said, 2)}"
        # A record that several models answered carries the model in its name.
        model = "" if not found.model or found.model in found.record_id else f" ({found.model})"
        yield _fact("where", f"{found.record_id}{model}{sure}")
        yield Line()


def _why(found: CertainFinding) -> str:
    """What the judge noted; where that repeats a long piece that is marked anyway, what its reason means."""
    reason = found.verdict.reason
    note, words = one_line(found.verdict.note or ""), (reason_words(reason) or reason) if reason else ""
    wrong = one_line(found.wrong)
    is_repeated = len(wrong) > LONGEST_REPEATED and wrong in note
    return words if words and (not note or is_repeated) else note


def _fact(name: str, text: str) -> Line:
    return Line(((f"    {name:<{_HANG - 4}}", "dim"), (text, "")), hang=_HANG)


def _joined(text: str) -> str:
    """A piece of a sentence in one line; spaces at its ends part it from its neighbours."""
    shown = one_line(text)
    return f"{' ' * (text[:1].isspace())}{shown}{' ' * (bool(shown) and text[-1:].isspace())}"


def _shortened(quote: str) -> str:
    return quote if len(quote) <= LONGEST_QUOTE else f"{quote[:LONGEST_QUOTE].rpartition(' ')[0]} …"
