"""The responses of a document in the short form that the page's own scripts read.

Keys are one or two letters and empty ones are left out, because they are repeated for every claim. A passage of
evidence is written where it first occurs; names of judges are kept once and pointed to.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from hallumeter.records.claim import Failure, Label
from hallumeter.records.response import FieldValue, Quote
from hallumeter.report.document import FindingView, LabelTally, PassageView, RecordSection, RecordView, VerdictView
from hallumeter.report.drawing import Json
from hallumeter.report.languages.speaking import say, say_count
from hallumeter.report.reasons import REASON_WORDS
from hallumeter.report.sections import SentenceTrace
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.wording import LABEL_WORDS

TracePayload = Callable[[SentenceTrace, str], Json]


# Large blocks of data on their way into a page, packed so that a report stays small enough to be mailed.

SMALL = 32_768
"""Characters up to which a block is left as it is: what is gained would not be worth the unpacking."""
LEVEL = 6
"""Of compression: the highest makes a block 4 % smaller and takes two and a half times as long."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def packed(block: Json) -> Json:
    """The block itself when it is small, else its JSON under ``gzip``, compressed and in base64; `nodes.js` unpacks it.

    Texts shrink to about a third of their size. Equal blocks give equal results.

    >>> packed({"a": 1})
    {'a': 1}
    """
    text = json.dumps(block, ensure_ascii=False, separators=(",", ":"))
    if len(text) <= SMALL:
        return block
    # The page replaces what UTF-8 cannot carry; here it must be done before.
    squeezed = gzip.compress(_SURROGATE.sub("\ufffd", text).encode(), LEVEL, mtime=0)
    return {"gzip": base64.b64encode(squeezed).decode()}


LABEL_ORDER: tuple[Label | None, ...] = tuple(LABEL_WORDS)
"""Labels are written as positions in this order, worst first."""
NO_VERDICT = "NONE"
"""What a claim without a verdict is called where labels are named."""
OPENING = 200
"""Characters of a question or a response that a list shows."""
_CODES: dict[Label | None, int] = {label: code for code, label in enumerate(LABEL_ORDER)}


class _Pool:
    """Strings kept once, each under a number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def strings(self) -> list[Json]:
        return list(self.numbers)


class _Source(Struct, frozen=True):
    """What the words of one record can be read off, so that they are not written twice."""

    record_id: str
    response: str
    passages: list[str]
    places: dict[str, int]
    """Where in the list the passage with a given name is."""
    judges: _Pool


class Entry(Struct, frozen=True):
    """What a list shows of a response."""

    position: int
    """Under which the response can be opened."""
    record_id: str
    words: str
    """The beginning of its question or of itself; what is longer than a list shows is cut."""
    tally: LabelTally
    model: str | None = None
    fields: dict[str, FieldValue] = field(default_factory=dict)


def record_payload(section: RecordSection, traced: TracePayload | None = None) -> dict[str, Json]:
    """Everything that the record browser needs where the responses stand inside the page."""
    return {**records_block(section.records, traced), "total": section.coverage.responses}


def records_block(views: Sequence[RecordView], traced: TracePayload | None = None) -> dict[str, Json]:
    """Responses with all that is needed to show them; a server answers with the one that was asked for.

    `traced` is how the way of a record through a pipeline is written, for an instrument whose records have one.
    """
    judges, passages = _Pool(), _Pool()
    # Texts that resemble each other stand together: what they share then takes room once when the block is packed.
    order = _alike_together(views)
    records: list[Json] = [
        {**_record(views[n], judges=judges, passages=passages, traced=traced), "o": n} for n in order
    ]
    codes = {verdict.reason for view in views for finding in view.findings for verdict in finding.verdicts}
    return {**_frame(judges.strings(), codes), "records": records}


def remote_payload(*, total: int, judges: Sequence[str]) -> dict[str, Json]:
    """What the record browser needs to know before it asks a server for responses."""
    return {**_frame([*judges], REASON_WORDS), "source": "records", "total": total}


def entry_payload(entry: Entry) -> dict[str, Json]:
    """A response as a line of the list."""
    return _without_empty(
        {
            "n": entry.position,
            "id": entry.record_id,
            "m": entry.model,
            "w": entry.words[:OPENING],
            "c": [entry.tally.by_label[label] for label in LABEL_ORDER],
            "x": {name: text[:OPENING] for name, text in _texts(entry.fields).items()},
        }
    )


def entry_of(view: RecordView, position: int) -> Entry:
    """What a list shows of a response that is ready to be shown."""
    claims = (finding.text for finding in view.findings if finding.text)
    words = view.question or (view.response or "")[:OPENING] or next(claims, "")
    return Entry(position, view.record_id, words, view.tally, view.model, view.fields)


def field_text(value: FieldValue) -> str:
    """A value as groups are named.

    >>> field_text(True), field_text(3), field_text("tax")
    ('true', '3', 'tax')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _frame(judges: list[Json], codes: Iterable[str | None]) -> dict[str, Json]:
    """The words and names that every block has."""
    used = set(codes)
    return {
        "labels": [
            {"name": NO_VERDICT if label is None else label.value, "words": say(words)}
            for label, words in LABEL_WORDS.items()
        ],
        "consensus": CONSENSUS,
        "judges": judges,
        "reasons": {code: say(words) for code, words in sorted(REASON_WORDS.items()) if code in used},
    }


def _alike_together(views: Sequence[RecordView]) -> list[int]:
    """Positions of the responses, those on the same evidence or to the same question next to each other."""
    groups: dict[str, list[int]] = {}
    for place, view in enumerate(views):
        shared = view.evidence[0].text if view.evidence else view.question
        groups.setdefault(shared or "", []).append(place)
    return [place for group in groups.values() for place in group]


def _record(view: RecordView, *, judges: _Pool, passages: _Pool, traced: TracePayload | None) -> dict[str, Json]:
    source = _Source(
        record_id=view.record_id,
        response=view.response or "",
        passages=[passage.text for passage in view.evidence],
        places={passage.evidence_id: place for place, passage in enumerate(view.evidence)},
        judges=judges,
    )
    entries = _without_empty(
        {
            "id": view.record_id,
            "m": view.model,
            "q": view.question,
            "e": [_passage(passage, passages) for passage in view.evidence],
            "g": view.reference,
            "x": {**_texts(view.fields)},
            "f": [_finding(finding, source, place) for place, finding in enumerate(view.findings)],
            "w": None if view.picked == "worst" else 1,
            "b": [_failure(failure) for failure in view.failures],
            "a": None if view.trace is None or traced is None else traced(view.trace, view.response or ""),
        }
    )
    # An empty response is not the same as one whose words are not known.
    return entries if view.response is None else {**entries, "t": view.response}


def _texts(fields: Mapping[str, FieldValue]) -> dict[str, str]:
    return {name: field_text(value) for name, value in fields.items() if value is not None}


def _passage(passage: PassageView, passages: _Pool) -> Json:
    """Its name, its text or the number of an equal one before it, and the whole length where it is cut."""
    is_known = passage.text in passages.numbers
    number = passages.number(passage.text)
    cut = [passage.characters] if passage.characters > len(passage.text) else []
    return [passage.evidence_id, number if is_known else passage.text, *cut]


def _failure(failure: Failure) -> Json:
    """The claim, the judge, what broke in one line, and the code of it."""
    broke = ": ".join(part for part in (failure.step, failure.code, failure.message) if part)
    if failure.attempts > 1:
        broke += " " + say_count(failure.attempts, "({count} attempt)", "({count} attempts)")
    return [failure.claim_id, failure.judge, broke, failure.code]


def _finding(finding: FindingView, source: _Source, place: int) -> dict[str, Json]:
    start, end, words = finding.start, finding.end, finding.text
    span = _span(start, end, source.response)
    is_in_text = span is not None and words in {None, source.response[start:end]}
    return _without_empty(
        {
            "id": None if finding.claim_id == f"{source.record_id}#{place}" else finding.claim_id,
            "l": _CODES[finding.label],
            "k": None if finding.kind == "claim" else finding.kind,
            "c": None if is_in_text else words,
            "s": span,
            "n": None if finding.is_aligned else 1,
            "v": [_verdict(verdict, source, (start, end)) for verdict in finding.verdicts],
        }
    )


def _verdict(verdict: VerdictView, source: _Source, claim: tuple[int | None, int | None]) -> dict[str, Json]:
    probability, confidence = verdict.unsupported_probability, verdict.confidence
    span = _span(verdict.start, verdict.end, source.response)
    return _without_empty(
        {
            "j": source.judges.number(verdict.judge),
            "l": _CODES[verdict.label],
            "p": None if probability is None else _short(probability),
            "c": None if confidence is None or _is_told(verdict) else _short(confidence),
            "r": verdict.reason,
            "n": verdict.note,
            # 1 stands for the claim itself.
            "s": 1 if span and (verdict.start, verdict.end) == claim else span,
            "q": [_quote(quote, source) for quote in verdict.quotes],
            "u": verdict.cost_usd,
        }
    )


def _short(value: float) -> float:
    """A probability with five digits, or all of them where rounding would change what is shown or which bin it is in.

    >>> _short(0.123456789), _short(0.29999999)
    (0.12346, 0.29999999)
    """
    short = round(value, 5)
    return value if math.isclose(short * 2000, round(short * 2000), abs_tol=1e-9) else short


def _is_told(verdict: VerdictView) -> bool:
    """Whether the confidence is only the probability again, seen from the label."""
    probability, confidence = verdict.unsupported_probability, verdict.confidence
    if probability is None or confidence is None:
        return False
    seen = 1 - probability if verdict.label is Label.SUPPORTED else probability
    return math.isclose(seen, confidence, abs_tol=1e-9)


def _span(start: int | None, end: int | None, response: str) -> Json:
    """A part of the response, if the response has it."""
    return [start, end] if start is not None and end is not None and start < end <= len(response) else None


def _quote(quote: Quote, source: _Source) -> Json:
    """Place of the passage, start, end; then what the page cannot read off: the words, the passage's name."""
    place = source.places.get(quote.evidence_id)
    if place is None:
        return [-1, None, None, quote.quote, quote.evidence_id]
    passage = source.passages[place]
    if quote.start is None or quote.end is None or quote.end > len(passage):
        return [place, None, None, quote.quote]
    is_same = quote.quote in {None, passage[quote.start : quote.end]}
    return [place, quote.start, quote.end, *([] if is_same else [quote.quote])]


def _without_empty(entries: dict[str, Json]) -> dict[str, Json]:
    # A number stays even when it is 0; comparing with each kind of nothing would take as long as all the rest.
    return {key: value for key, value in entries.items() if value or value == 0}
