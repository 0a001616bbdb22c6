"""What was found in an answer, as lines of a run folder: its record, claims, verdicts and measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from hallumeter.records import (
    Claim,
    Event,
    Label,
    Measurement,
    Passage,
    PatientSlots,
    Quote,
    Response,
    TurnFindings,
    TurnRates,
    Verdict,
)

from .turn import named_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.records import Consistency, Element, Mention, RuleOutcome, SlotFinding, SlotUse

JUDGE = "clinical-rules"
TRUTH = "slots_truth"
"""The passage that holds the patient's facts."""
METRIC_RATES = {
    "sfs": "factuality",
    "csp": "penalty",
    "cus_improved": "utilisation",
    "cus": "slots_used",
    "mcs": "consistency",
    "ass": "actionability",
    "dialogue_score": "overall",
}
"""The metrics of a single answer, and the rates that they are."""
NEEDS_TRUTH = frozenset({"sfs", "csp", "cus_improved", "cus"})
NO_TRUTH = "the event has no slots_truth"
_UNDEFINED = {
    "sfs": "the answer mentions no drug, condition, lab, vital, age or sex",
    "csp": "no safety rule applies",
    "cus_improved": "the turn requires no fact that is known of the patient",
    "cus": "the turn requires no fact that is known of the patient",
    "mcs": "fewer than two statements can be compared with something earlier",
    "ass": "the turn must include nothing",
    "dialogue_score": "no part of the score has a value",
}
MOST_PLACES = 10
"""Further places of one mention that are named."""
_ENCODER = msgspec.json.Encoder()
_SLOT_OF_KIND = {"medication": ("key_meds",), "age": ("age",), "sex": ("sex", "sex_code")}


class AnswerLines(Struct, frozen=True):
    """The lines of one answer."""

    record: bytes
    claims: bytes
    verdicts: bytes
    measurements: bytes
    event: bytes
    """The event with its metrics."""
    findings: int


class Facts(Struct, frozen=True):
    """A patient's facts as a passage, and where each of them stands in it."""

    text: str
    places: dict[str, tuple[int, int]]
    """By slot, or by slot and name: ``key_labs.hba1c``."""

    def quotes(self, *slots: str) -> tuple[Quote, ...]:
        """The facts of these slots that are known."""
        found = [self.places[slot] for slot in slots if slot in self.places]
        return tuple(Quote(TRUTH, start, end, self.text[start:end]) for start, end in found)


def facts_of(slots: PatientSlots) -> Facts:
    r"""The facts of a patient, one line each.

    >>> facts_of(PatientSlots(age=67, key_labs={"hba1c": "6.24%"})).text
    'age: 67\nkey_labs.hba1c: 6.24%\n'
    """
    text, places = "", {}
    for name, value in _entries(slots):
        line = f"{name}: {value}\n"
        places[name] = (len(text), len(text) + len(line) - 1)
        text += line
    return Facts(text, places)


def answer_lines(
    event: Event, findings: TurnFindings, rates: TurnRates, *, record_id: str, undefined: str | None
) -> AnswerLines:
    """The lines of an answer; `undefined` tells why nothing of it could be measured."""
    facts = facts_of(event.slots_truth) if event.slots_truth is not None else Facts("", {})
    pairs = list(_pairs(findings, _Making(record_id, event.answer or "", facts)))
    measured = record_measurements(
        rates, record_id=record_id, undefined=undefined, has_truth=event.slots_truth is not None
    )
    return AnswerLines(
        record=_lines([_record(event, record_id, facts)]),
        claims=_lines([claim for claim, _ in pairs]),
        verdicts=_lines([verdict for _, verdict in pairs]),
        measurements=_lines(measured),
        event=_lines([structs.replace(event, metrics=event.metrics | named_metrics(rates))]),
        findings=len(pairs),
    )


def record_measurements(
    rates: TurnRates, *, record_id: str, undefined: str | None, has_truth: bool
) -> list[Measurement]:
    """One measurement for each metric; one without a value says why."""
    found = []
    for metric, name in METRIC_RATES.items():
        rate = getattr(rates, name)
        why = None
        if rate.value is None:
            why = undefined or (NO_TRUTH if metric in NEEDS_TRUTH and not has_truth else _UNDEFINED[metric])
        found.append(Measurement(metric, "record", record_id, {}, None, rate.count, rate.total, rate.value, why))
    return found


def _record(event: Event, record_id: str, facts: Facts) -> Response:
    fields = {
        **event.metadata,
        "mode": event.mode,
        "patient_id": event.patient_id,
        "turn_id": event.turn_id,
        "run_id": event.run_id,
    }
    return Response(
        record_id=record_id,
        question=event.question.text,
        response=event.answer,
        evidence=(Passage(TRUTH, facts.text),) if facts.text else (),
        model=event.mode,
        fields=fields,
    )


def _entries(slots: PatientSlots) -> Iterator[tuple[str, object]]:
    for name in PatientSlots.__struct_fields__:
        value = getattr(slots, name)
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", entry) for key, entry in value.items())
        elif isinstance(value, tuple):
            yield name, ", ".join(value) or "none"
        elif value is not None:
            yield name, value


def _pairs(findings: TurnFindings, making: _Making) -> Iterator[tuple[Claim, Verdict]]:
    """Every finding as a claim and the verdict on it."""
    yield from map(making.slot, findings.slots)
    yield from map(making.rule, findings.rules)
    yield from map(making.use, findings.uses)
    yield from map(making.consistency, findings.consistency)
    yield from map(making.element, findings.elements)


class _Making:
    """Numbers the claims of one answer."""

    def __init__(self, record_id: str, answer: str, facts: Facts) -> None:
        self._record_id = record_id
        self._answer = answer
        self._facts = facts
        self._made = 0

    def slot(self, finding: SlotFinding) -> tuple[Claim, Verdict]:
        mention = finding.mention
        place = mention.asserted or mention.occurrences[0]
        quotes = self._facts.quotes(*_slots_of(mention))
        claim = self._claim("slot", (place.start, place.end), weight=finding.weight)
        named = mention.kind if mention.kind == mention.name else f"{mention.kind} {mention.name}"
        others = [f"{each.start}-{each.end}" for each in mention.occurrences if each is not place]
        also = f"; also at {', '.join(others[:MOST_PLACES])}" if others else ""
        note = f"{named}: {finding.note}{also}"
        return claim, self._verdict(claim, finding.label, finding.reason, note=note, evidence=quotes)

    def rule(self, outcome: RuleOutcome) -> tuple[Claim, Verdict]:
        claim = self._claim(outcome.kind, (outcome.start, outcome.end), text=outcome.name, weight=outcome.weight)
        label = Label.REFUTED if outcome.is_violated else Label.SUPPORTED
        parts = [f"{outcome.rule_id} applies: {outcome.why}"]
        parts += [f"the words match {outcome.pattern!r}"] if outcome.pattern else []
        parts += [outcome.rationale] if outcome.is_violated and outcome.rationale else []
        reason = ("rule_violated" if outcome.kind == "rule" else "requirement_missing") if outcome.is_violated else None
        return claim, self._verdict(claim, label, reason, note="; ".join(parts))

    def use(self, use: SlotUse) -> tuple[Claim, Verdict]:
        claim = self._claim("slot_use", (use.start, use.end), text=f"{use.slot}: {use.value}", weight=use.weight)
        label = Label.SUPPORTED if use.confidence else Label.NOT_ENOUGH_INFO
        how = {1.0: "used explicitly", 0.5: "used indirectly", 0.0: "not used"}.get(use.confidence, "used")
        reason = None if use.confidence == 1 else "indirect_use" if use.confidence else "unused_fact"
        return claim, self._verdict(claim, label, reason, note=f"{use.slot} is {how} ({use.confidence:g})")

    def consistency(self, found: Consistency) -> tuple[Claim, Verdict]:
        claim = self._claim("consistency", (found.start, found.end))
        label = Label.REFUTED if found.is_contradiction else Label.SUPPORTED
        quotes = (Quote(found.against, quote=found.quote),)
        reason = "contradicts_earlier" if found.is_contradiction else None
        return claim, self._verdict(claim, label, reason, note=found.note, evidence=quotes)

    def element(self, element: Element) -> tuple[Claim, Verdict]:
        claim = self._claim("element", (element.start, element.end), text=element.name)
        label = Label.SUPPORTED if element.is_found else Label.NOT_ENOUGH_INFO
        reason = None if element.is_found else "element_missing"
        return claim, self._verdict(claim, label, reason, note=element.name)

    def _claim(
        self, kind: str, place: tuple[int | None, int | None], *, text: str | None = None, weight: float = 1.0
    ) -> Claim:
        start, end = place
        if text is None and start is not None:
            text = self._answer[start:end]
        claim_id = f"{self._record_id}#{self._made}"
        self._made += 1
        return Claim(self._record_id, claim_id, kind, start, end, text, weight)

    def _verdict(
        self,
        claim: Claim,
        label: Label,
        reason: str | None,
        *,
        note: str | None = None,
        evidence: tuple[Quote, ...] = (),
    ) -> Verdict:
        return Verdict(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            judge=JUDGE,
            label=label,
            reason=reason,
            start=claim.start,
            end=claim.end,
            evidence=evidence,
            note=note,
        )


def _slots_of(mention: Mention) -> tuple[str, ...]:
    """Where the facts stand that a mention is held against."""
    if mention.kind == "condition":
        return ("primary_condition", "comorbidities")
    if mention.kind in ("lab", "vital"):
        return (f"key_labs.{mention.name}", f"key_vitals.{mention.name}")
    return _SLOT_OF_KIND[mention.kind]


def _lines(records: Sequence[Struct]) -> bytes:
    return _ENCODER.encode_lines(records)
