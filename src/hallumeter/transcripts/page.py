"""Measure one page of one engine, and say where everything was found."""

from __future__ import annotations

import math

import msgspec
from msgspec import Struct

from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.page import ERROR_CLASSES, PageRow, PageStatus, Transcript
from hallumeter.records.rate import Rate
from hallumeter.records.response import Passage, Quote, Response

from .alignment import Stretch
from .anchoring import LENGTH_RATIO_CAP, Anchoring
from .inputs import TRUTH, WITNESS
from .line_errors import invented_tokens, worst_lines
from .page_reading import PageReading, invented_name_places
from .records import (
    ALIGNMENT,
    REMARK_KINDS,
    InventedToken,
    LineError,
    MeasuredPage,
    PageCounts,
    PageLines,
    status_of,
)
from .settings import TranscriptSettings

_WITHOUT_BADGE = ("empty_output", "refused")
_ENCODER = msgspec.json.Encoder()


class Comparison(Struct, frozen=True):
    """What a transcript is compared with, and how."""

    settings: TranscriptSettings
    reference_name: str = TRUTH
    confidence: float | None = None
    """Of a witness in its reading."""
    record_id: str | None = None
    """The page's name in the run's files; None when none are written."""

    @property
    def is_with_witness(self) -> bool:
        """Whether the reference is only another reading."""
        return self.reference_name != TRUTH


def measure_page(
    transcript: Transcript, anchoring: Anchoring, comparison: Comparison, *, reading: PageReading | None
) -> MeasuredPage:
    """Measure what an engine wrote for a page, anchored and perhaps aligned."""
    status = status_of(transcript.reference, transcript.response, is_refused=reading is not None and reading.is_refused)
    doubt = _why_unsure(reading, comparison) if reading is not None and comparison.is_with_witness else None
    badge = _badge(reading, comparison, status=status, is_sure=doubt is None)
    is_undecided = badge is None and doubt is not None and status not in _WITHOUT_BADGE
    shown: PageStatus = "undecided" if is_undecided else status
    row = _row(transcript, anchoring, reading, status=shown, badge=badge)
    if reading is not None and not comparison.is_with_witness:
        # What differs from a witness may as well be its error.
        classes = reading.error_classes
        row = msgspec.structs.replace(row, **{f"errors_{name}": classes[name] for name in ERROR_CLASSES})
    lines = None
    if comparison.record_id is not None:
        lines = _lines(transcript, reading, comparison, status=shown, is_sure=doubt is None)
    counts = _counts(anchoring, reading, status=status, badge=badge)
    findings = len(reading.stretches) if reading else 0
    page = MeasuredPage(counts, row, transcript.fields, doubt if is_undecided else None, findings, lines)
    if reading is None or comparison.is_with_witness:  # what differs from a witness may as well be its error
        return page
    return _with_examples(page, transcript, reading, comparison=comparison)


def _with_examples(
    page: MeasuredPage, transcript: Transcript, reading: PageReading, *, comparison: Comparison
) -> MeasuredPage:
    """The page with its worst lines and, where a run is written, misread and invented words."""
    aligned = reading.aligned
    worst: tuple[LineError, ...] = ()
    if aligned is not None and reading.characters.errors and page.row.status == "ok":
        worst = worst_lines(
            aligned,
            reference=transcript.reference,
            response=transcript.response,
            spelling=comparison.settings.spelling,
            stretches=reading.stretches,
        )
    if comparison.record_id is None:
        return msgspec.structs.replace(page, worst_lines=worst)
    invented: tuple[InventedToken, ...] = ()
    if aligned is not None and (reading.names.count or reading.numbers.count):
        names = invented_name_places(aligned, transcript.response)
        invented = invented_tokens(aligned, transcript.response, names=names)
    misread = tuple(dict.fromkeys(reading.differences))
    return msgspec.structs.replace(page, worst_lines=worst, misread=misread, invented=invented)


def _why_unsure(reading: PageReading, comparison: Comparison) -> str | None:
    """Why the witness cannot speak against the engine."""
    settings, written, read = comparison.settings, reading.response_words, reading.reference_words
    stated = comparison.confidence
    return settings.witness.why_not(
        words=read,
        confidence=settings.witness_confidence if stated is None else stated,
        confirmed=1 - reading.inserted_words / written if written else 1.0,
        contradicted=reading.omitted_words / read if read else 0.0,
    )


def _badge(reading: PageReading | None, comparison: Comparison, *, status: PageStatus, is_sure: bool) -> bool | None:
    """Whether the engine invented text; None when that cannot be told.

    A long loop shows without any reference, and whoever confirms all but a little clears a page, however unsure.
    Who wrote nothing, or that he cannot read the page, invented nothing.
    """
    if reading is None or status in _WITHOUT_BADGE:
        return None
    pages, words = comparison.settings.pages, reading.response_words
    plain_loops = sum(stretch.words for stretch in reading.stretches if _is_plain_loop(stretch, comparison))
    if pages.is_hallucinated(invented_words=plain_loops, words=words):
        return True
    invented = reading.block_words + reading.loop_words
    is_invented = pages.is_hallucinated(invented_words=invented, words=words, is_whole=reading.is_wholly_inserted)
    can_clear = reading.reference_words >= comparison.settings.witness.fewest_words or not words
    return is_invented if is_sure or (can_clear and not is_invented) else None


def _is_plain_loop(stretch: Stretch, comparison: Comparison) -> bool:
    """Whether a stretch is a loop that speaks for itself."""
    return stretch.kind == "loop" and (stretch.copies or 0) >= comparison.settings.witness.fewest_copies


def _counts(anchoring: Anchoring, reading: PageReading | None, *, status: PageStatus, badge: bool | None) -> PageCounts:
    counts = PageCounts(
        reference_words=anchoring.reference_words,
        response_words=anchoring.response_words,
        unknown_words=anchoring.unknown_words,
        anchored_ngrams=anchoring.anchored_ngrams,
        ngrams=anchoring.ngrams,
        anchor_score=anchoring.anchor_score,
        reference_characters=anchoring.reference_characters,
        response_characters=anchoring.response_characters,
        length_ratio=anchoring.length_ratio,
        picarones_badge=anchoring.is_hallucinating,
        is_decided=badge is not None,
        is_hallucinating=bool(badge),
        is_empty_output=status == "empty_output",
    )
    if reading is None:
        return counts
    words, characters = reading.words, reading.characters
    return msgspec.structs.replace(
        counts,
        word_hits=words.hits,
        word_errors=words.errors,
        word_edits=words.hits + words.errors,
        strict_reference_words=words.reference,
        strict_response_words=words.response,
        character_errors=characters.errors,
        strict_reference_characters=characters.reference,
        read_reference_words=reading.reference_words,
        read_response_words=reading.response_words,
        inserted_words=reading.inserted_words,
        block_words=reading.block_words,
        loop_words=reading.loop_words,
        omitted_words=reading.omitted_words,
        multiset_inserted=reading.multiset_inserted,
        invented_numbers=int(reading.numbers.count),
        numbers=int(reading.numbers.total),
        invented_names=int(reading.names.count),
        names=int(reading.names.total),
        is_refused=reading.is_refused,
        remark_words=reading.remark_words,
        **{f"has_{kind}": kind in reading.remarks for kind in REMARK_KINDS},
    )


def _row(
    transcript: Transcript,
    anchoring: Anchoring,
    reading: PageReading | None,
    *,
    status: PageStatus,
    badge: bool | None,
) -> PageRow:
    row = PageRow(
        page=transcript.page,
        engine=transcript.engine,
        status=status,
        is_hallucinating=badge,
        picarones_badge=anchoring.is_hallucinating,
        net_insertion_rate=anchoring.net_insertion_rate,
        anchor_score=anchoring.anchor_score,
        length_ratio=anchoring.length_ratio if math.isfinite(anchoring.length_ratio) else None,
        length_ratio_capped=min(anchoring.length_ratio, LENGTH_RATIO_CAP),
        reference_words=anchoring.reference_words,
        response_words=anchoring.response_words,
        picarones_blocks=len(anchoring.blocks),
    )
    if reading is None:
        return row
    written, present = reading.response_words, reading.reference_words
    kinds = [stretch.kind for stretch in reading.stretches]
    return msgspec.structs.replace(
        row,
        cer=reading.characters.error_rate.value,
        wer=reading.words.error_rate.value,
        mer=reading.words.match_error_rate.value,
        wil=reading.words.information_lost,
        true_insertion_rate=Rate(reading.inserted_words, written).value,
        invented_rate=Rate(reading.block_words + reading.loop_words, written).value,
        loop_rate=Rate(reading.loop_words, written).value,
        omission_rate=Rate(reading.omitted_words, present).value,
        multiset_insertion_rate=Rate(reading.multiset_inserted, written).value,
        number_insertion_rate=reading.numbers.value,
        name_insertion_rate=reading.names.value,
        blocks=kinds.count("block"),
        loops=_count_loops(reading.stretches),
        omissions=kinds.count("omission"),
        remarks="+".join(reading.remarks) or None,
        remark_words=reading.remark_words,
        is_exact=reading.is_exact,
    )


def _count_loops(stretches: tuple[Stretch, ...]) -> int:
    """Loops, not their pieces, which all have the period and the copies of the whole."""
    return len({(stretch.period, stretch.copies) for stretch in stretches if stretch.kind == "loop"})


def _lines(
    transcript: Transcript,
    reading: PageReading | None,
    comparison: Comparison,
    *,
    status: PageStatus,
    is_sure: bool,
) -> PageLines:
    assert comparison.record_id is not None
    record_id = comparison.record_id
    record = Response(
        record_id=record_id,
        response=transcript.response,
        evidence=(Passage(comparison.reference_name, transcript.reference),),
        model=transcript.engine,
        fields={**transcript.fields, "page": transcript.page, "status": status},
    )
    stretches = reading.stretches if reading else ()
    claims = [
        _claim(stretch, transcript, claim_id=f"{record_id}#{number}", record_id=record_id)
        for number, stretch in enumerate(stretches)
    ]
    verdicts = [
        _verdict(stretch, claim, comparison, is_sure=is_sure) for stretch, claim in zip(stretches, claims, strict=True)
    ]
    return PageLines(_encoded([record]), _encoded(claims), _encoded(verdicts))


def _claim(stretch: Stretch, transcript: Transcript, *, claim_id: str, record_id: str) -> Claim:
    """What a stretch says is there; the words of a run are read off the response, so that they are not kept twice."""
    text = None
    if stretch.kind == "omission":
        text = transcript.reference[stretch.reference_start : stretch.reference_end]
    elif stretch.kind != "run":
        text = transcript.response[stretch.start : stretch.end]
    return Claim(record_id, claim_id, stretch.kind, stretch.start, stretch.end, text, float(stretch.words))


def _verdict(stretch: Stretch, claim: Claim, comparison: Comparison, *, is_sure: bool) -> Verdict:
    quotes: tuple[Quote, ...] = ()
    if stretch.reference_start is not None:
        quotes = (Quote(comparison.reference_name, stretch.reference_start, stretch.reference_end),)
    is_run = stretch.kind == "run"
    return Verdict(
        record_id=claim.record_id,
        claim_id=claim.claim_id,
        judge=WITNESS if comparison.is_with_witness else ALIGNMENT,
        label=_label(stretch, comparison, is_sure=is_sure),
        reason=("moved" if stretch.is_moved else None) if is_run else stretch.remark or stretch.kind,
        start=claim.start,
        end=claim.end,
        evidence=quotes,
        note=_note(stretch),
    )


def _label(stretch: Stretch, comparison: Comparison, *, is_sure: bool) -> Label:
    """A witness cannot refute: what it does not confirm it is silent about. A long loop needs no witness.

    Of what is said about a page, the page itself says nothing.
    """
    if stretch.kind == "run":
        return Label.SUPPORTED
    if stretch.kind == "remark":
        return Label.NOT_ENOUGH_INFO
    if not comparison.is_with_witness or _is_plain_loop(stretch, comparison):
        return Label.REFUTED
    return Label.NOT_ENOUGH_INFO if is_sure else Label.UNDECIDED


def _note(stretch: Stretch) -> str | None:
    if stretch.kind == "remark":
        return stretch.remark
    if stretch.kind == "loop" and stretch.period is not None and stretch.copies is not None:
        times = f"{_words(stretch.period)}, {stretch.copies:.1f} times".replace(".0 ", " ")
        # One copy may be read on the page, and the one begun at the end; what lacks more is one of several pieces.
        is_part = stretch.words < stretch.period * (int(stretch.copies) - 1)
        return f"part of a loop: {times} in all" if is_part else times
    if stretch.misread_words:
        return f"{stretch.misread_words} of {_words(stretch.words)} misread"
    return None


def _words(count: int) -> str:
    return f"{count} word{'s' * (count > 1)}"


def _encoded(records: list[Response] | list[Claim] | list[Verdict]) -> bytes:
    return b"".join(_ENCODER.encode(record) + b"\n" for record in records)
