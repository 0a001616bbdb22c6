"""What was found in an answer, as lines of a run folder: its record, claims, verdicts and measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct, structs

from hallumeter.dialogue.partial import NEEDS_TRUTH
from hallumeter.dialogue.records import (
    Consistency,
    Element,
    Event,
    Mention,
    PatientSlots,
    RuleOutcome,
    SlotFinding,
    SlotUse,
    TurnFindings,
    TurnRates,
)
from hallumeter.records.claim import Label
from hallumeter.records.measurement import Measurement
from hallumeter.records.response import Passage, Quote, Response

from .turns import named_metrics

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
NO_TRUTH = "the event has no slots_truth"
_UNDEFINED = {
    "sfs": "the answer mentions no drug, condition, lab, vital, age or sex",
    "csp": "no safety rule applies",
    "cus_improved": "the turn requires no fact that is known of the patient",
    "cus": "the turn requires no fact that is known of the patient",
    "mcs": "nothing contradicts, and fewer than two statements can be compared with something earlier",
    "ass": "the turn must include nothing",
    "dialogue_score": "no part of the score has a value",
}
MOST_PLACES = 10
"""Further places of one mention that are named."""
_ENCODER = msgspec.json.Encoder()
_NOTHING = Raw(b"[]")
_SLOT_OF_KIND = {"medication": ("key_meds", "other_meds"), "age": ("age",), "sex": ("sex", "sex_code")}


class AnswerLines(Struct, frozen=True):
    """The lines of one answer, or of several."""

    record: bytes
    claims: bytes
    verdicts: bytes
    measurements: bytes
    event: bytes
    """The event with its metrics."""
    findings: int


class _ClaimLine(Struct, gc=False):
    """A `Claim` on its way into a file: the same fields in the same order, without the checks of what comes in."""

    record_id: str
    claim_id: str
    kind: str
    start: int | None
    end: int | None
    text: str | None
    weight: float


class _VerdictLine(Struct):
    """A `Verdict` in the same way; its evidence is written already."""

    record_id: str
    claim_id: str
    judge: str
    label: Label
    unsupported_probability: None
    reason: str | None
    start: int | None
    end: int | None
    evidence: Raw
    note: str | None
    cost_usd: None = None
    confidence: None = None
    probabilities: None = None
    inference_samples: tuple[()] = ()


class Facts:
    """A patient's facts as a passage, and where each of them stands in it."""

    def __init__(self, text: str = "", places: Mapping[str, tuple[int, int]] = MappingProxyType({})) -> None:
        """Take the places by slot, or by slot and name: ``key_labs.hba1c``."""
        self.text = text
        self._places = places
        self._written: dict[tuple[str, ...], Raw] = {}

    def quotes(self, slots: tuple[str, ...]) -> Raw:
        """The facts of these slots that are known, as a line has them; many mentions are held against the same."""
        written = self._written.get(slots)
        if written is None:
            found = [self._places[slot] for slot in slots if slot in self._places]
            quotes = [Quote(TRUTH, start, end, self.text[start:end]) for start, end in found]
            written = self._written[slots] = Raw(_ENCODER.encode(quotes))
        return written


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


class MeasuredAnswer(NamedTuple):
    """An answer with all that was found in it."""

    event: Event
    findings: TurnFindings
    rates: TurnRates
    undefined: str | None
    """Why nothing of it could be measured."""


def answer_lines(answer: MeasuredAnswer, facts: Facts, *, record_id: str) -> AnswerLines:
    """The lines of an answer, held against the facts of its patient."""
    event, findings, rates, undefined = answer
    made = _Made(record_id, event.answer or "", facts)
    made.add_all(findings)
    has_truth = event.slots_truth is not None
    measured = record_measurements(rates, record_id=record_id, undefined=undefined, has_truth=has_truth)
    return AnswerLines(
        record=_lines([_record(event, record_id, facts)]),
        claims=_lines(made.claims),
        verdicts=_lines(made.verdicts),
        measurements=_lines(measured),
        event=_lines([structs.replace(event, metrics=event.metrics | named_metrics(rates))]),
        findings=len(made.claims),
    )


def joined_lines(answers: Sequence[AnswerLines]) -> AnswerLines:
    """The lines of several answers, one after the other."""
    return AnswerLines(
        record=b"".join([each.record for each in answers]),
        claims=b"".join([each.claims for each in answers]),
        verdicts=b"".join([each.verdicts for each in answers]),
        measurements=b"".join([each.measurements for each in answers]),
        event=b"".join([each.event for each in answers]),
        findings=sum(each.findings for each in answers),
    )


def record_measurements(
    rates: TurnRates, *, record_id: str, undefined: str | None, has_truth: bool
) -> list[Measurement]:
    """One measurement for each metric; one without a value says why."""
    found = []
    for metric, name in METRIC_RATES.items():
        rate = getattr(rates, name)
        value, why = rate.value, None
        if value is None:
            why = undefined or (NO_TRUTH if metric in NEEDS_TRUTH and not has_truth else _UNDEFINED[metric])
        found.append(Measurement(metric, "record", record_id, {}, None, rate.count, rate.total, value, why))
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


class _Made:
    """The lines of the findings of one answer: of each a claim, and the verdict on it."""

    def __init__(self, record_id: str, answer: str, facts: Facts) -> None:
        self._record_id = record_id
        self._answer = answer
        self._facts = facts
        self.claims: list[_ClaimLine] = []
        self.verdicts: list[_VerdictLine] = []

    def add_all(self, findings: TurnFindings) -> None:
        for slot in findings.slots:
            self._add_slot(slot)
        for outcome in findings.rules:
            self._add_rule(outcome)
        for use in findings.uses:
            self._add_use(use)
        for said in findings.consistency:
            self._add_consistency(said)
        for element in findings.elements:
            self._add_element(element)

    def _add_slot(self, finding: SlotFinding) -> None:
        mention = finding.mention
        place = mention.asserted or mention.occurrences[0]
        named = mention.kind if mention.kind == mention.name else f"{mention.kind} {mention.name}"
        note = f"{named}: {finding.note}"
        if len(mention.occurrences) > 1:
            others = [f"{each.start}-{each.end}" for each in mention.occurrences if each is not place]
            note += f"; also at {', '.join(others[:MOST_PLACES])}"
        quotes = self._facts.quotes(_slots_of(mention))
        self._add_claim("slot", place.start, place.end, weight=finding.weight)
        self._add_verdict(finding.label, finding.reason, note, evidence=quotes)

    def _add_rule(self, outcome: RuleOutcome) -> None:
        parts = [f"{outcome.rule_id} applies: {outcome.why}"]
        parts += [f"the words match {outcome.pattern!r}"] if outcome.pattern else []
        parts += [outcome.judged] if outcome.judged else []
        parts += [outcome.rationale] if outcome.rationale else []
        reason = ("rule_violated" if outcome.kind == "rule" else "requirement_missing") if outcome.is_violated else None
        # Names are in the language of who wrote the rules; identifiers are not.
        text = f"{outcome.rule_id} {outcome.name}"
        self._add_claim(outcome.kind, outcome.start, outcome.end, text=text, weight=outcome.weight)
        self._add_verdict(Label.REFUTED if outcome.is_violated else Label.SUPPORTED, reason, "; ".join(parts))

    def _add_use(self, use: SlotUse) -> None:
        how = {1.0: "used explicitly", 0.5: "used indirectly", 0.0: "not used"}.get(use.confidence, "used")
        reason = None if use.confidence == 1 else "indirect_use" if use.confidence else "unused_fact"
        label = Label.SUPPORTED if use.confidence else Label.NOT_ENOUGH_INFO
        self._add_claim("slot_use", use.start, use.end, text=f"{use.slot}: {use.value}", weight=use.weight)
        self._add_verdict(label, reason, f"{use.slot} is {how} ({use.confidence:g})")

    def _add_consistency(self, found: Consistency) -> None:
        label = Label.REFUTED if found.is_contradiction else Label.SUPPORTED
        reason = "contradicts_earlier" if found.is_contradiction else None
        quotes = Raw(_ENCODER.encode((Quote(found.against, quote=found.quote),)))
        self._add_claim("consistency", found.start, found.end)
        self._add_verdict(label, reason, found.note, evidence=quotes)

    def _add_element(self, element: Element) -> None:
        label = Label.SUPPORTED if element.is_found else Label.NOT_ENOUGH_INFO
        self._add_claim("element", element.start, element.end, text=element.name)
        self._add_verdict(label, None if element.is_found else "element_missing", element.name)

    def _add_claim(
        self, kind: str, start: int | None, end: int | None, *, text: str | None = None, weight: float = 1.0
    ) -> None:
        if text is None and start is not None:
            text = self._answer[start:end]
        claim_id = f"{self._record_id}#{len(self.claims)}"
        self.claims.append(_ClaimLine(self._record_id, claim_id, kind, start, end, text, weight))

    def _add_verdict(self, label: Label, reason: str | None, note: str | None, *, evidence: Raw = _NOTHING) -> None:
        """What is said of the last claim."""
        claim = self.claims[-1]
        self.verdicts.append(
            _VerdictLine(
                claim.record_id, claim.claim_id, JUDGE, label, None, reason, claim.start, claim.end, evidence, note
            )
        )


def _slots_of(mention: Mention) -> tuple[str, ...]:
    """Where the facts stand that a mention is held against."""
    if mention.kind == "condition":
        return ("primary_condition", "comorbidities", "other_conditions")
    if mention.kind in ("lab", "vital"):
        return (f"key_labs.{mention.name}", f"key_vitals.{mention.name}")
    return _SLOT_OF_KIND[mention.kind]


def _lines(records: Sequence[Struct]) -> bytes:
    return _ENCODER.encode_lines(records)
