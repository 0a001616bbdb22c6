"""One answer measured: everything found in it, and its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from hallumeter.judges.clinical.actionability import judge_actionability
from hallumeter.judges.clinical.consistency import Said, answer_statements, judge_consistency
from hallumeter.judges.clinical.context import judge_context
from hallumeter.judges.clinical.safety import judge_safety
from hallumeter.judges.clinical.slots import judge_slots
from hallumeter.metrics.clinical import turn_rates
from hallumeter.records import Consistency, Element, Event, Failure, RuleOutcome, SlotUse, TurnFindings, TurnRates

from .languages import is_unread_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.extractors.clinical import ClinicalText
    from hallumeter.judges.clinical.truth import PatientTruth

    from .equipment import Equipment

QUESTION, ANSWER = "question", "answer"
NO_ANSWER, EMPTY_ANSWER, UNREAD_LANGUAGE = "no_answer", "empty_answer", "unread_language"
UNUSABLE = {
    NO_ANSWER: "there is no answer",
    EMPTY_ANSWER: "the answer is empty",
    UNREAD_LANGUAGE: "the answer is neither in English nor in Korean",
}
"""Why an answer is not measured at all, as the reason of every metric."""
METRIC_NAMES = {
    "SFS": "factuality",
    "CSP": "penalty",
    "CUS_improved": "utilisation",
    "CUS": "slots_used",
    "MCS": "consistency",
    "ASS": "actionability",
}
"""What the metrics of an event are called in files, and the rates that they are."""


class MeasuredTurn(Struct, frozen=True):
    """What was found in an answer, and what a judge could not tell of it."""

    findings: TurnFindings
    failures: tuple[Failure, ...] = ()


def measure_event(event: Event, earlier: Sequence[Event], equipment: Equipment) -> TurnFindings:
    """Everything that is found in an answer.

    `earlier` are the events of the same patient and mode before this one. Without facts of the patient nothing is held
    against them, and an answer that is missing, empty or in another language gives no findings at all: every metric is
    then undefined, and none perfect.
    """
    return measure_turn(event, earlier, equipment).findings


def measure_turn(event: Event, earlier: Sequence[Event], equipment: Equipment) -> MeasuredTurn:
    """The same, with the failures of judges that were asked for."""
    return measure_turns([AskedTurn(event, earlier)], equipment)[0]


class AskedTurn(NamedTuple):
    """An answer, and what came before it in its conversation."""

    event: Event
    earlier: Sequence[Event]


class _ReadTurn(NamedTuple):
    """A turn whose answer has been read."""

    event: Event
    earlier: Sequence[Event]
    answer: ClinicalText


def measure_turns(turns: Sequence[AskedTurn], equipment: Equipment) -> list[MeasuredTurn]:
    """Some answers measured together, step by step: what each step needs stays in the processor's cache."""
    read = {
        place: _ReadTurn(event, earlier, equipment.read(event.answer))
        for place, (event, earlier) in enumerate(turns)
        if event.answer is not None and unusable(event) is None
    }
    consistency = {place: _consistency(turn, equipment) for place, turn in read.items()}
    elements = {place: _elements(turn, equipment) for place, turn in read.items()}
    known = {place: turn for place, turn in read.items() if turn.event.slots_truth is not None}
    slots = {place: judge_slots(turn.answer, _truth(turn, equipment)) for place, turn in known.items()}
    uses = {place: _uses(turn, equipment) for place, turn in known.items()}
    rules = {place: _rules(turn, equipment) for place, turn in known.items()}
    found = []
    for place, turn in enumerate(turns):
        said, failures = consistency.get(place, ((), ()))
        used, missing = uses.get(place, ((), ()))
        kept, more = rules.get(place, ((), ()))
        findings = TurnFindings(
            slots=slots.get(place, ()),
            rules=kept,
            uses=used,
            consistency=said,
            elements=elements.get(place, ()),
            missing_in_truth=missing,
            unparsable=_truth(turn, equipment).unparsable if place in known else (),
        )
        found.append(MeasuredTurn(findings, failures + more))
    return found


def _truth(turn: AskedTurn | _ReadTurn, equipment: Equipment) -> PatientTruth:
    slots = turn.event.slots_truth
    assert slots is not None, "only turns whose patient is known are held against facts"
    return equipment.truth(slots)


def _elements(turn: _ReadTurn, equipment: Equipment) -> tuple[Element, ...]:
    wanted = equipment.requirements.turn(turn.event.turn_id)
    return judge_actionability(turn.answer, wanted.must_include) if wanted else ()


def _uses(turn: _ReadTurn, equipment: Equipment) -> tuple[tuple[SlotUse, ...], tuple[str, ...]]:
    truth, requirements = _truth(turn, equipment), equipment.requirements
    uses, missing = judge_context(turn.answer, truth, turn.event.turn_id, requirements=requirements)
    return (uses if equipment.opinions is None else equipment.opinions.uses(turn.answer, uses)), missing


def _rules(turn: _ReadTurn, equipment: Equipment) -> tuple[tuple[RuleOutcome, ...], tuple[Failure, ...]]:
    event, truth = turn.event, _truth(turn, equipment)
    rules = judge_safety(turn.answer, event.question.text, truth, turn_id=event.turn_id, rules=equipment.rules)
    if equipment.opinions is None:
        return rules, ()
    return equipment.opinions.safety(turn.answer, event.question.text, rules, record_id=record_name(event))


def event_metrics(findings: TurnFindings) -> dict[str, float | None]:
    """The metrics of an answer, under the names that events have for them; None where one is undefined."""
    return named_metrics(turn_rates(findings))


def named_metrics(rates: TurnRates) -> dict[str, float | None]:
    """Rates as metrics of an event."""
    return {name: getattr(rates, rate).value for name, rate in METRIC_NAMES.items()}


def unusable(event: Event) -> str | None:
    """Why an answer cannot be measured, as a code; None when it can."""
    if event.answer is None:
        return NO_ANSWER
    if not event.answer.strip():
        return EMPTY_ANSWER
    return UNREAD_LANGUAGE if is_unread_language(event.answer) else None


def record_name(event: Event, question: int = 0) -> str:
    """What an answer is called where answers are listed; a further question of the same turn adds its number."""
    name = f"{event.mode}:{event.patient_id}:{event.turn_id}"
    return f"{name}:{question}" if question else name


def _consistency(turn: _ReadTurn, equipment: Equipment) -> tuple[tuple[Consistency, ...], tuple[Failure, ...]]:
    event, earlier, answer = turn
    opinions = equipment.opinions
    if opinions is None or opinions.judge_name is None:
        return judge_consistency(equipment.stated_in_answer(answer.text), list(_said(event, earlier, equipment))), ()
    texts = dict(_texts_before(event, earlier))
    return opinions.consistency(answer, answer_statements(answer), texts, record_id=record_name(event))


def _said(event: Event, earlier: Sequence[Event], equipment: Equipment) -> Iterator[Said]:
    """What was stated before this answer, in the order in which it was said."""
    for source, text in _texts_before(event, earlier):
        stated = equipment.stated_in_answer if source.startswith(ANSWER) else equipment.stated_in_question
        yield Said(source, stated(text))


def _texts_before(event: Event, earlier: Sequence[Event]) -> Iterator[tuple[str, str]]:
    for before in earlier:
        if before.turn_id < event.turn_id:
            yield f"{QUESTION} {before.turn_id}", before.question.text
            if before.answer is not None and unusable(before) is None:
                yield f"{ANSWER} {before.turn_id}", before.answer
    yield f"{QUESTION} {event.turn_id}", event.question.text
