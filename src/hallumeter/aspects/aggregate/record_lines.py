"""What was found in a sentence, as lines of a run folder: its record, claims, verdicts and measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from hallumeter.aspects.catalog import METRICS_BY_ID
from hallumeter.aspects.grounding import JUDGE, drop_class_of, placement_of
from hallumeter.aspects.metrics.counts import count_scorecard
from hallumeter.aspects.metrics.rates import rate_of
from hallumeter.aspects.offset_conventions import CountedText
from hallumeter.aspects.records.aspect import TextSpan
from hallumeter.aspects.records.columns import AspectColumns
from hallumeter.aspects.records.scorecard import DROP, AspectPlacement, Scorecard
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.measurement import Measurement
from hallumeter.records.response import Passage, Quote, Response

SENTENCE = "sentence"
"""The passage that aspects are held against."""
STAGE_1, FINAL = "aspect", "final_aspect"
RECORD_METRICS = (
    "aspect_hallucination_rate",
    "aspect_drop_rate",
    "out_of_text_aspect_rate",
    "misplaced_aspect_rate",
    "off_target_aspect_rate",
    "opinion_grounded_rate",
    "evidence_relevance_rate",
    "tuple_f1_s1",
    "tuple_f1_s2",
    "tuple_f1_final",
)
"""The metrics that a single sentence has a value of."""
FAILED = "the pipeline broke off"
_ENCODER = msgspec.json.Encoder()
_VERDICTS: dict[str | None, tuple[Label, str | None]] = {
    None: (Label.SUPPORTED, None),
    "H1": (Label.REFUTED, "out_of_text"),
    "H2": (Label.REFUTED, "span_mismatch"),
    "filter": (Label.NOT_ENOUGH_INFO, "not_a_target"),
}


class RecordLines(NamedTuple):
    """The lines of one sentence, or of several."""

    records: bytes
    claims: bytes
    verdicts: bytes
    measurements: bytes
    failures: bytes
    claim_count: int
    failure_count: int


def card_lines(card: Scorecard, first_run: tuple[str, int | None] | None) -> RecordLines:
    """The lines of a sentence; those of other runs than the first have the run in their id."""
    record_id = record_id_of(card, first_run)
    made = _Made(record_id, card.text or "")
    failures = []
    if card.is_failed:
        failures.append(_failure(card, record_id))
    else:
        made.add_stage1(card)
        made.add_final(card)
    return RecordLines(
        _lines([_record(card, record_id)]),
        _lines(made.claims),
        _lines(made.verdicts),
        _lines(_measurements(card, record_id)),
        _lines(failures),
        len(made.claims),
        len(failures),
    )


def joined_lines(cards: Sequence[RecordLines]) -> RecordLines:
    """The lines of several sentences, one after the other."""
    return RecordLines(
        b"".join([each.records for each in cards]),
        b"".join([each.claims for each in cards]),
        b"".join([each.verdicts for each in cards]),
        b"".join([each.measurements for each in cards]),
        b"".join([each.failures for each in cards]),
        sum(each.claim_count for each in cards),
        sum(each.failure_count for each in cards),
    )


def record_id_of(card: Scorecard, first_run: tuple[str, int | None] | None) -> str:
    """The id of a sentence: its own in the first run, with run and seed in the others."""
    known, run = card.case_id or "", card.run_key
    if first_run is None or run == first_run:
        return known
    named = "" if run[0] == first_run[0] else f"{run[0]}/"
    return f"{known}@{named}{'' if run[1] is None else run[1]}"


def _record(card: Scorecard, record_id: str) -> Response:
    meta, (run, seed) = card.meta, card.run_key
    fields = {
        "text_id": card.case_id,
        "run_id": run or None,
        "seed": seed,
        "profile": card.chosen_profile,
        "label": card.final_label,
        "mode": None if meta is None else meta.mode,
        "split": None if meta is None else meta.split,
        "case_type": None if meta is None else meta.case_type,
        "language": None if meta is None else meta.language_code,
        "domain": None if meta is None else meta.domain_id,
    }
    text = card.text
    return Response(
        record_id=record_id,
        response=text,
        evidence=() if text is None else (Passage(SENTENCE, text),),
        model=run or None,
        fields={name: value for name, value in fields.items() if value is not None},
    )


def _failure(card: Scorecard, record_id: str) -> Failure:
    assert card.flags is not None
    told = card.flags.failure or FAILED
    parts = told.split(": ", 2)
    code = parts[1] if len(parts) == 3 else "parse_failed" if card.flags.parse_failed else "generate_failed"
    return Failure(record_id, None, "pipeline", None, code, f"sentence {record_id}: {told}")


def _measurements(card: Scorecard, record_id: str) -> list[Measurement]:
    columns = AspectColumns.of([count_scorecard(card)])
    found = []
    for name in RECORD_METRICS:
        metric = METRICS_BY_ID[name]
        rate = rate_of(columns, **metric.compute.keywords).pooled  # type: ignore[attr-defined]
        why = None
        if rate.value is None:
            why = FAILED if card.is_failed else metric.undefined_when
        found.append(Measurement(name, "record", record_id, {}, None, rate.count, rate.total, rate.value, why))
    return found


class _Made:
    """The claims of a sentence and the verdicts on them."""

    def __init__(self, record_id: str, text: str) -> None:
        self._record_id = record_id
        self._text = text
        self.claims: list[Claim] = []
        self.verdicts: list[Verdict] = []

    def add_stage1(self, card: Scorecard) -> None:
        """The aspects of stage 1, as the filter left them."""
        for aspect in card.filtered:
            span = TextSpan(*aspect.span) if isinstance(aspect.span, tuple) else aspect.span
            is_dropped = aspect.action == DROP
            found = (aspect.drop_class or "unknown") if is_dropped else None
            self._add(STAGE_1, aspect.term or "", span, found=found, placement=aspect.placement)

    def add_final(self, card: Scorecard) -> None:
        """The named aspects of the result; one without a place has only to stand in the text."""
        result = card.final_result
        counted = CountedText(self._text)
        for each in () if result is None else result.final_tuples or ():
            if not each.aspect_term:
                continue
            found = drop_class_of(counted, each.aspect_term, each.span)
            is_right = found == "filter" or (found == "H2" and each.span is None)
            placement = None if is_right else placement_of(counted, each.aspect_term, each.span)
            self._add(FINAL, each.aspect_term, each.span, found=None if is_right else found, placement=placement)

    def _add(
        self, kind: str, term: str, span: TextSpan | None, *, found: str | None, placement: AspectPlacement | None
    ) -> None:
        place = self._possible(span)
        start, end = (None, None) if place is None else (place.start, place.end)
        claim_id = f"{self._record_id}#{len(self.claims)}"
        label, reason = _VERDICTS.get(found, (Label.UNDECIDED, None))
        nearest = self._possible(None if placement is None else placement.nearest)
        if found is None:
            nearest = place
        quotes = () if nearest is None else (self._quote(nearest),)
        is_kept_nowhere = found is None and place is not span
        note = _given(span) if is_kept_nowhere else _note(term, span, found=found, placement=placement)
        self.claims.append(Claim(self._record_id, claim_id, kind, start, end, term))
        self.verdicts.append(
            Verdict(self._record_id, claim_id, JUDGE, label, None, reason, start, end, evidence=quotes, note=note)
        )

    def _possible(self, span: TextSpan | None) -> TextSpan | None:
        """A place in the text; scorecards that were made elsewhere may name others."""
        return span if span is not None and span.is_within(self._text) else None

    def _quote(self, span: TextSpan) -> Quote:
        return Quote(SENTENCE, span.start, span.end, self._text[span.start : span.end])


def _note(term: str, span: TextSpan | None, *, found: str | None, placement: AspectPlacement | None) -> str | None:
    if found is None:
        return None
    given = _given(span)
    if found == "H1":
        return f"{term!r} does not stand in the text; {given}"
    nearest = None if placement is None else placement.nearest
    if nearest is None:
        return f"{term!r} is no target; {given}" if found == "filter" else given
    told = f"{term!r} stands at {nearest.start}-{nearest.end}; {given}"
    if placement is not None and placement.conventions:
        told += f", which is right when counted as {', '.join(placement.conventions)}"
    return told


def _given(span: TextSpan | None) -> str:
    return "no span given" if span is None else f"given_span {span.start}-{span.end}"


def _lines(records: Sequence[msgspec.Struct]) -> bytes:
    return _ENCODER.encode_lines(records)
