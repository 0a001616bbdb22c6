"""One patient at a time: all answers about them measured, in whatever process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from msgspec import Struct, structs

from hallumeter.dialogue.metrics import overall_parts, overall_score, turn_rates
from hallumeter.dialogue.records import Event, PatientSlots, Script, TurnFindings, TurnRates
from hallumeter.errors import RecordError
from hallumeter.records.claim import Failure
from hallumeter.records.response import FieldValue

from .events import event_of, script_of
from .rate_table import numbers_of
from .record_lines import AnswerLines, Facts, MeasuredAnswer, answer_lines, facts_of, joined_lines
from .settings import MODE, PATIENT, TURN, DialogueSettings
from .setup import DialogueSetup, setup_for
from .turns import UNUSABLE, AskedTurn, MeasuredTurn, measure_turns, named_metrics, record_name, unusable

NO_VALUE = "(none)"
_TURNS_AT_ONCE = 20
_LONG_ANSWER = 100_000
"""Characters; the readings of so long an answer are not kept while others are measured."""
UNPARSABLE = "unparsable"
"""Facts that should be numbers with units and are not."""
MOST_DIFFERENCES = 5
"""Differences between modes that are named for one patient."""


class RawEvent(NamedTuple):
    """A line that holds an event, and where it stands."""

    place: str
    line: bytes


class PatientTask(Struct, frozen=True):
    """Everything that was answered about one patient."""

    patient_id: str
    events: tuple[RawEvent, ...]
    """By mode in order of appearance, then by turn."""
    script: bytes | None = None


class Task(Struct, frozen=True):
    """How the patients of a run are measured."""

    settings: DialogueSettings
    modes: tuple[str, ...]
    is_kept: bool = False
    """Whether findings are written into a run folder."""
    dialogue_setup: DialogueSetup | None = None
    """What threads of this process share when a judge is asked; None where every process makes its own."""


class TurnResult(Struct, frozen=True):
    """One answer in numbers."""

    mode: str
    turn_id: int
    question: int
    group: tuple[str, ...]
    is_failed: bool
    rates: tuple[float, ...]


class MeasuredPatient(Struct, frozen=True):
    """What came of one patient."""

    patient_id: str
    turns: tuple[TurnResult, ...]
    failures: tuple[Failure, ...]
    differences: tuple[str, ...]
    """How the modes were asked differently; the first few."""
    differences_total: int
    common_turns: int
    """Turns on which all modes were asked the same."""
    notes: dict[tuple[str, str], int]
    """What must be said of some answers: kind, detail, and of how many."""
    fields: tuple[str, ...]
    """What the answers can be grouped by."""
    lines: AnswerLines | None = None
    """What a run folder keeps of all answers."""


def measure_patients(tasks: Sequence[PatientTask], *, task: Task) -> list[MeasuredPatient]:
    """Measure some patients."""
    dialogue_setup = task.dialogue_setup or _setup_of(task.settings)
    return [_measure_patient(patient, task, dialogue_setup) for patient in tasks]


@cache
def _setup_of(settings: DialogueSettings) -> DialogueSetup:
    """Each process makes it once."""
    return setup_for(settings)


def _measure_patient(patient: PatientTask, task: Task, dialogue_setup: DialogueSetup) -> MeasuredPatient:
    collected = _Collected(task, dialogue_setup)
    script = collected.script(patient.script)
    events = [event for raw in patient.events if (event := collected.event(raw, script)) is not None]
    for turns in _together(events):
        for turn, measured in zip(turns, measure_turns(turns, dialogue_setup), strict=True):
            collected.take(turn.event, measured)
    return collected.measured(patient.patient_id)


def _together(events: Sequence[Event]) -> Iterator[list[AskedTurn]]:
    """Every answer with those before it in its mode, some at a time."""
    turns: list[AskedTurn] = []
    earlier: list[Event] = []
    for event in events:
        if earlier and earlier[-1].mode != event.mode:
            earlier = []
        turns.append(AskedTurn(event, tuple(earlier)))
        earlier.append(event)
        if len(turns) == _TURNS_AT_ONCE or len(event.answer or "") > _LONG_ANSWER:
            yield turns
            turns = []
    if turns:
        yield turns


class _Collected:
    """What is gathered while the answers about one patient are measured."""

    def __init__(self, task: Task, dialogue_setup: DialogueSetup) -> None:
        self._task = task
        self._dialogue_setup = dialogue_setup
        self._turns: list[TurnResult] = []
        self._failures: list[Failure] = []
        self._notes: Counter[tuple[str, str]] = Counter()
        self._questions: dict[tuple[int, str], int] = {}
        self._asked: dict[str, dict[int, list[str]]] = {mode: {} for mode in task.modes}
        self._fields: dict[str, None] = {}
        self._lines: list[AnswerLines] = []
        self._facts: tuple[PatientSlots | None, Facts] = (None, Facts())

    def script(self, line: bytes | None) -> Script | None:
        """The script of the patient, if there is one."""
        return None if line is None else script_of(line)

    def event(self, raw: RawEvent, script: Script | None) -> Event | None:
        """The event of a line; one that cannot be read is a failure and takes no other with it."""
        try:
            return event_of(raw.line, script)
        except RecordError as error:
            self._failures.append(Failure(None, None, "read", None, "bad_line", f"{raw.place}: {error}"))
            return None

    def measured(self, patient_id: str) -> MeasuredPatient:
        """Everything about the patient."""
        differences = list(_differences(patient_id, self._asked))
        return MeasuredPatient(
            patient_id=patient_id,
            turns=tuple(self._turns),
            failures=tuple(self._failures),
            differences=tuple(differences[:MOST_DIFFERENCES]),
            differences_total=len(differences),
            common_turns=_common_turns(self._asked),
            notes=dict(self._notes),
            fields=tuple(self._fields),
            lines=joined_lines(self._lines) if self._task.is_kept else None,
        )

    def take(self, event: Event, found: MeasuredTurn) -> None:
        """Count what was found in an answer."""
        asked = self._asked.setdefault(event.mode, {}).setdefault(event.turn_id, [])
        name = record_name(event, len(asked))
        asked.append(event.question.text)
        question = self._questions.setdefault((event.turn_id, event.question.text), len(self._questions))
        code = unusable(event)
        rates = self._rates(event, found.findings, is_usable=code is None)
        self._failures += found.failures
        if code is not None:
            self._failures.append(Failure(name, None, "measure", None, code, f"{name}: {UNUSABLE[code]}"))
        if self._task.is_kept:
            answer = MeasuredAnswer(event, found.findings, rates, None if code is None else UNUSABLE[code])
            self._lines.append(answer_lines(answer, self._facts_of(event.slots_truth), record_id=name))
        self._note(event, found.findings, is_usable=code is None)
        self._turns.append(
            TurnResult(
                mode=event.mode,
                turn_id=event.turn_id,
                question=question,
                group=self._group(event),
                is_failed=code is not None,
                rates=numbers_of(rates),
            )
        )

    def _facts_of(self, slots: PatientSlots | None) -> Facts:
        """The facts as a passage; most answers about a patient are held against the same."""
        if slots is not self._facts[0]:
            self._facts = slots, Facts() if slots is None else facts_of(slots)
        return self._facts[1]

    def _rates(self, event: Event, findings: TurnFindings, *, is_usable: bool) -> TurnRates:
        """All rates, with the overall score of those that are there and of what the event brings."""
        rates = turn_rates(findings)
        weights = self._dialogue_setup.requirements.weights
        if not is_usable or not weights:
            return rates
        own = named_metrics(rates)
        parts = overall_parts(event.metrics | own | {"CUS": own["CUS_improved"]}, weights)
        if not parts:
            return rates
        self._notes["overall", ", ".join(part.name for part in parts)] += 1
        return structs.replace(rates, overall=overall_score(parts))

    def _note(self, event: Event, findings: TurnFindings, *, is_usable: bool) -> None:
        if event.slots_truth is None:
            self._notes["no_truth", ""] += 1
        if not event.question.text.strip():
            self._notes["no_question", ""] += 1
        if is_usable:
            self._notes.update(("missing", slot) for slot in findings.missing_in_truth)
            self._notes.update((UNPARSABLE, fact) for fact in findings.unparsable)

    def _group(self, event: Event) -> tuple[str, ...]:
        known: dict[str, FieldValue] = {
            **event.metadata,
            "run_id": event.run_id,
            "question_id": event.question.question_id,
            "template": event.question.template,
            PATIENT: event.patient_id,
            TURN: event.turn_id,
            MODE: event.mode,
        }
        self._fields.update(dict.fromkeys(known))
        return tuple(
            NO_VALUE if known.get(field) in (None, "") else str(known[field]) for field in self._task.settings.by
        )


def _differences(patient_id: str, asked: dict[str, dict[int, list[str]]]) -> list[str]:
    """How the first mode and each other were asked differently about a patient."""
    (first, *others) = asked
    found = []
    for other in others:
        one, two = asked[first], asked[other]
        if bool(one) != bool(two):
            found.append(f"patient {patient_id}: only {first if one else other} was asked")
            continue
        for turn in sorted(one.keys() | two.keys()):
            if turn not in one or turn not in two:
                found.append(f"patient {patient_id}, turn {turn}: only {first if turn in one else other} was asked")
            elif sorted(one[turn]) != sorted(two[turn]):
                found.append(f"patient {patient_id}, turn {turn}: {first} and {other} were asked different questions")
    return found


def _common_turns(asked: dict[str, dict[int, list[str]]]) -> int:
    (first, *others) = asked.values()
    return sum(all(sorted(other.get(turn, [])) == sorted(texts) for other in others) for turn, texts in first.items())
