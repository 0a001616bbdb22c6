"""Questions and what the answers have come to, for a terminal."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.padding import Padding
from rich.text import Text

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.report.table import plain_console, trimmed_text
from hallumeter.report.wording import LABEL_WORDS, format_number, format_pair, plural
from hallumeter.run.labels import HumanLabel, LabelStore, labels_csv
from hallumeter.text.lookup import tokens_of
from hallumeter.text.normalize import one_line, printable, printable_lines
from hallumeter.text.sentences import sentence_spans

from .claims import ClaimTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from hallumeter.records.decisions import CorrectedRate
    from hallumeter.records.response import Passage
    from hallumeter.run.finished import Run

    from .claims import AskedClaim
    from .session import AnnotatorAgreement, Progress


# The labels of a run as a table.


def labels_table(run: Run, judge: str | None = None, *, is_raw: bool = False) -> str:
    """Every label that counts as CSV, and whether the run still holds what it speaks of."""
    claim_table = ClaimTable(run, judge)
    labels = LabelStore(run.path).latest()
    return labels_csv(((label, _is_held(label, claim_table)) for label in labels), is_raw=is_raw)


def _is_held(label: HumanLabel, claim_table: ClaimTable) -> bool:
    number = claim_table.number_of(label.record_id, label.claim_id, fingerprint=label.fingerprint)
    judged = None if number is None else claim_table.judged(number)
    return judged is not None and judged.value == label.judged


# The evidence of a claim, what speaks of it first.


class MatchedPassage(Struct, frozen=True):
    """A passage and the place in it that speaks of a claim."""

    passage: Passage
    start: int
    end: int
    """One past the last character; the place is empty where nothing in the passage speaks of the claim."""


def excerpt(text: str, place: tuple[int, int], room: int) -> tuple[int, int]:
    """The part of a text around a place of it that fits into so many characters, cut between words where it can be.

    >>> text = "one two three four five six"
    >>> text[slice(*excerpt(text, (8, 13), 17))]
    'two three four'
    """
    start, end = place
    if len(text) <= room:
        return 0, len(text)
    if end - start >= room:
        return start, start + room
    first = min(max(0, start - (room - (end - start)) // 2), len(text) - room)
    last = first + room
    if first:
        first = text.find(" ", first - 1, start) + 1 or first
    cut = text.rfind(" ", end, last + 1) if last < len(text) else last
    return first, last if cut < 0 else cut


def matched_passages(asked: AskedClaim) -> list[MatchedPassage]:
    """The evidence of a claim: passages that its verdict quotes, then those that share most words with it.

    Words that stand in many sentences of the evidence count less.
    """
    passages = asked.response.evidence
    lengths = {passage.evidence_id: len(passage.text) for passage in passages}
    quoted = {
        quote.evidence_id: (quote.start, quote.end)
        for verdict in asked.verdicts
        for quote in reversed(verdict.evidence)
        if quote.start is not None and quote.end is not None and quote.end <= lengths.get(quote.evidence_id, 0)
    }
    sentences = [list(_sentences(passage)) for passage in passages]
    seen = Counter(token for spans in sentences for *_, tokens in spans for token in tokens)
    wanted = set(tokens_of(asked.text))
    found = []
    for number, passage in enumerate(passages):
        best, place = max(
            (
                (sum(1 / seen[token] for token in wanted & tokens), (start, end))
                for start, end, tokens in sentences[number]
            ),
            key=lambda pair: pair[0],
            default=(0.0, (0, 0)),
        )
        is_quoted = passage.evidence_id in quoted
        place = quoted[passage.evidence_id] if is_quoted else place if best else (0, 0)
        found.append((not is_quoted, -best, number, MatchedPassage(passage, *place)))
    return [passage for *_, passage in sorted(found, key=lambda row: row[:3])]


def _sentences(passage: Passage) -> Iterator[tuple[int, int, set[str]]]:
    for start, end in sentence_spans(passage.text):
        yield start, end, set(tokens_of(passage.text[start:end]))


RESPONSE_ROOM = 1_500
"""Characters of a response that are shown at first."""
EVIDENCE_ROOM = 900
"""Characters of evidence that are shown at first."""
_CLAIM_STYLE, _MATCH_STYLE, _HEADING_STYLE = "bold reverse", "underline", "bold"
_CUT = "…"


class Screen(Struct, frozen=True):
    """How questions are shown."""

    width: int | None = None
    """Columns; None in a pipe."""
    has_style: bool = False
    """Whether the claim is marked by style, as a terminal can, or by >>> and <<<."""
    shows_verdict: bool = False
    """Whether the judge's word is told: it sways whoever reads it."""


def question_text(asked: AskedClaim, screen: Screen, *, is_whole: bool = False) -> str:
    """A claim with its question, its response and its evidence; `is_whole` cuts nothing."""
    stream = io.StringIO()
    console = plain_console(stream, width=screen.width, has_color=screen.has_style)
    response = asked.response
    place = f"claim {asked.place} of {asked.siblings} of record {response.record_id}"
    _section(console, printable(place), None)
    if response.question:
        _section(console, "Question", Text(printable_lines(response.question)))
    if response.response is not None:
        _section(console, "Response", _marked_response(asked, screen, is_whole=is_whole))
    if not _is_marked(asked):
        _section(console, "Claim", Text(printable_lines(asked.text)))
    _print_evidence(console, asked, screen, is_whole=is_whole)
    if screen.shows_verdict:
        _section(console, "Verdict", Text(printable(_verdict_words(asked))))
    return trimmed_text(stream)


def progress_line(progress: Progress, half_width: float) -> str:
    """What the labels have come to, in one line."""
    rate, labels = progress.rate, plural(progress.labels, "label")
    if progress.pending:
        return f"{labels} · {plural(progress.pending, 'claim')} of this answer to go"
    return " · ".join([labels, *_rate_words(rate, half_width)])


def agreement_line(agreement: AnnotatorAgreement) -> str:
    """How far two annotators agree.

    >>> from hallumeter.decide.label.session import AnnotatorAgreement
    >>> agreement_line(AnnotatorAgreement(("kim", "lee"), 20, 18, 0.7))
    "kim and lee agree on 18 of 20 claims (90.0 %), Cohen's kappa 0.700"
    """
    first, second = map(one_line, agreement.annotators)
    share = f"{100 * agreement.agreed / agreement.claims:.1f} %"
    kappa = f"no kappa: {agreement.undefined}" if agreement.kappa is None else f"Cohen's kappa {agreement.kappa:.3f}"
    claims = plural(agreement.claims, "claim")
    return f"{first} and {second} agree on {agreement.agreed:,} of {claims} ({share}), {kappa}"


def history_line(history: Sequence[tuple[int, float]]) -> str | None:
    """How the interval shrank in this session: at its beginning, on the way, and now; None before it did."""
    if len(history) < 2:
        return None
    steps = sorted({round(step * (len(history) - 1) / 4) for step in range(5)})
    texts = [f"±{history[step][1] * 100:.1f} with {history[step][0]:,}" for step in steps]
    return f"half width in points, with so many labels: {' → '.join(texts)}"


def _rate_words(rate: CorrectedRate, half_width: float) -> Iterator[str]:
    known = METRICS_BY_ID.get(rate.metric)
    name = known.alias if known else rate.metric
    judged = "" if rate.raw.value is None else f"judge says {format_number(rate.raw.value)}"
    found = rate.corrected
    if found.value is None:
        yield f"no {name} yet: {found.undefined}"
        yield judged
        return
    yield f"{name} {format_number(found.value)} ({format_pair(found.interval)}), {judged}"
    yield _need_words(rate, half_width)


def _need_words(rate: CorrectedRate, half_width: float) -> str:
    wanted = f"±{half_width * 100:g} points"
    units = " answers" if rate.unit == "response" else ""
    if rate.more_labels is None:
        best = "" if rate.narrowest is None else f", ±{rate.narrowest * 100:.1f} at best"
        return f"{wanted} is out of reach of labels alone{best}"
    return f"{wanted} needs about {rate.more_labels:,} more{units}" if rate.more_labels else f"known to {wanted}"


def _section(console: Console, heading: str, body: Text | None) -> None:
    console.print(Text(heading, style=_HEADING_STYLE))
    if body is not None:
        console.print(Padding(body, (0, 0, 0, 2)))


def _is_marked(asked: AskedClaim) -> bool:
    """Whether the response shows the claim word for word."""
    claim, response = asked.claim, asked.response.response
    return claim.start is not None and response is not None and response[claim.start : claim.end] == asked.text


def _marked_response(asked: AskedClaim, screen: Screen, *, is_whole: bool) -> Text:
    response, claim = asked.response.response or "", asked.claim
    start, end = (0, 0) if claim.start is None or claim.end is None else (claim.start, claim.end)
    room = len(response) if is_whole else RESPONSE_ROOM
    return _excerpt(response, (start, end), room=room, mark=_CLAIM_STYLE if screen.has_style else (">>>", "<<<"))


def _excerpt(text: str, place: tuple[int, int], *, room: int, mark: str | tuple[str, str]) -> Text:
    """A part of a text with a place marked in it: by a style, or by words around it."""
    first, last = excerpt(text, place, room)
    start, end = max(first, place[0]), min(last, place[1])
    shown = printable_lines(text)
    style, before, after = (mark, "", "") if isinstance(mark, str) else ("", *mark)
    found = Text(f"{_CUT} " if first else "")
    if start >= end:
        found.append(shown[first:last])
    else:
        found.append(shown[first:start]).append(f"{before}{shown[start:end]}{after}", style=style)
        found.append(shown[end:last])
    return found.append(f" {_CUT}" if last < len(text) else "")


def _print_evidence(console: Console, asked: AskedClaim, screen: Screen, *, is_whole: bool) -> None:
    passages = matched_passages(asked)
    if not passages:
        _section(console, "Evidence", Text("none in the run"))
        return
    characters = sum(len(found.passage.text) for found in passages)
    is_all = is_whole or characters <= EVIDENCE_ROOM
    shown = passages if is_all else passages[:1]
    mark = _MATCH_STYLE if screen.has_style else ("", "")
    _section(console, "Evidence", None)
    for found in shown:
        room = characters if is_all else EVIDENCE_ROOM
        body = Text(f"[{printable(found.passage.evidence_id)}] ")
        place = found.start, found.end
        console.print(Padding(body.append(_excerpt(found.passage.text, place, room=room, mark=mark)), (0, 0, 0, 2)))
    if not is_all:
        text = f"e shows all of it: {plural(len(passages), 'passage')}, {characters:,} characters"
        console.print(Padding(Text(text, style="dim"), (0, 0, 0, 2)))


def _verdict_words(asked: AskedClaim) -> str:
    return "; ".join(
        f"{verdict.judge} says {LABEL_WORDS[verdict.label].lower()}"
        + ("" if verdict.unsupported_probability is None else f" ({verdict.unsupported_probability:.2f} unsupported)")
        for verdict in asked.verdicts
    )
