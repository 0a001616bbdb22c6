"""Asks every question of every patient: turns of one conversation in order, conversations side by side."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct, field

from hallumeter.dialogue.reading.reader import ClinicalReader
from hallumeter.dialogue.records import EventUsage, ScriptTurn
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Failure
from hallumeter.records.response import FieldValue
from hallumeter.run.context import RunContext
from hallumeter.run.journal import Journal, decoded, entry_of
from hallumeter.run.lanes import Lane, run_lanes

from .experiment import Experiment
from .inputs import Conversation, Inputs
from .messages import agent_question, messages_of, words_in
from .recall import Lookup, record_lines, stated_facts
from .responders import Responders
from .systems import Turn


class Answered(Struct, frozen=True, kw_only=True):
    """What came of one question."""

    answer: str | None = None
    """None when the system failed."""
    failure: Failure | None = None
    """Neither an answer nor a failure is a question that is to be asked once more."""
    usage: EventUsage = EventUsage()
    metrics: dict[str, float | None] = field(default_factory=dict)
    """Those that came with the answer."""
    metadata: dict[str, FieldValue] = field(default_factory=dict)
    timing_ms: dict[str, float | None] = field(default_factory=dict)
    timestamps: dict[str, str] = field(default_factory=dict)


class Asked(Struct, frozen=True):
    """A question on its way to a system."""

    system: int
    conversation: int
    place: int
    """Of the turn in its conversation, from 0."""
    exchanges: tuple[tuple[str, str], ...]
    """Questions that were answered before, and their answers."""


def step_of(system: int) -> str:
    """What the answers of a system are called in the journal; records are conversations, parts are turns."""
    return f"system {system}"


def answers_by_conversation(journal: Journal, system: int) -> dict[int, list[Answered]]:
    """What came of the questions so far, in their order, up to the first that is to be asked."""
    answered: dict[int, list[Answered]] = {}
    closed: set[int] = set()
    for entry in journal.entries(step_of(system)):
        [said] = decoded([entry.body], Answered)
        if said.answer is None and said.failure is None:
            closed.add(entry.record)
        elif entry.record not in closed:
            answered.setdefault(entry.record, []).append(said)
    return answered


class Reminder:
    """Finds what agents are reminded of, for one thread at a time: it takes no time beside the answer of a model."""

    def __init__(self, retrieval: str, facts_per_question: int) -> None:
        self._reader = ClinicalReader()
        self._lookup = Lookup(retrieval, facts_per_question)
        self._lock = threading.Lock()

    def reminded(
        self, conversation: Conversation, question: str, earlier: Sequence[str]
    ) -> tuple[str, dict[str, FieldValue]]:
        """A question with the facts before it, and how many there are of each kind."""
        words = words_in(conversation.language)
        lines = record_lines(conversation.slots, words, conversation.facts)
        with self._lock:
            memory = stated_facts([*earlier, question], self._reader, words)
            record = self._lookup.found(lines, question)
        message = agent_question(question, conversation.language, memory=memory, record=record)
        return message, {"facts_remembered": len(memory), "facts_retrieved": len(record)}


class Asking:
    """All systems at work on one journal."""

    def __init__(
        self, experiment: Experiment, inputs: Inputs, *, context: RunContext, responders: Responders, reminder: Reminder
    ) -> None:
        self._experiment = experiment
        self._conversations = inputs.conversations
        self._context = context
        self._responders = responders
        self._reminder = reminder
        self._waiting: list[deque[Asked]] = [deque() for _ in experiment.systems]

    def run(self, *, is_retrying: bool = False) -> bool:
        """Ask everything that the journal has no answer to; False when it was stopped.

        With `is_retrying` turns that failed are asked again, and those after them, whose history they were not in.

        Raises:
            BudgetReached: As much as the budget has been spent.
            ProviderFault: A system cannot be asked at all.
            Interrupted: It was stopped while a question waited.
        """
        for language in {conversation.language for conversation in self._conversations}:
            words_in(language)  # two threads that read it for the first time together can end the process
        done = sum(self._line_up(number, is_retrying=is_retrying) for number in range(len(self._experiment.systems)))
        total = sum(len(conversation.turns) for conversation in self._conversations)
        self._context.progress.begin(
            f"asking {', '.join(system.name for system in self._experiment.systems)}",
            total=total * len(self._experiment.systems),
            done=done,
            spent=lambda: self._context.spending.charged_usd,
        )
        # A lane that has nothing to do for a moment is over. Where there are more conversations than are asked at
        # once that moment comes at the end; else they go on turn by turn.
        while any(self._waiting):
            if not run_lanes(self._lanes(), self._keep, stop=self._context.stop):
                return False
        return True

    def _line_up(self, system: int, *, is_retrying: bool) -> int:
        """Put the next question of each conversation in the queue of a system; says how many are answered."""
        answered = answers_by_conversation(self._context.journal, system)
        done = 0
        for number, conversation in enumerate(self._conversations):
            own = answered.get(number, [])
            if is_retrying:
                kept = next((place for place, said in enumerate(own) if said.failure is not None), len(own))
                self._forget(system, number, places=range(kept, len(own)))
                own = own[:kept]
            done += len(own)
            if len(own) < len(conversation.turns):
                exchanges = _exchanges(conversation.turns, own)
                self._waiting[system].append(Asked(system, number, len(own), exchanges))
        return done

    def _forget(self, system: int, conversation: int, *, places: range) -> None:
        """Let the journal say that some turns are to be asked: it may be all that the next run knows."""
        self._context.journal.add([entry_of(step_of(system), conversation, Answered(), part=place) for place in places])

    def _lanes(self) -> list[Lane[Asked, Answered]]:
        return [
            Lane(
                name=str(number),
                tasks=self._taken(number),
                work=self._answered,
                concurrency=self._experiment.systems[number].concurrency,
            )
            for number, waiting in enumerate(self._waiting)
            if waiting
        ]

    def _taken(self, system: int) -> Iterator[Asked]:
        waiting = self._waiting[system]
        while waiting:
            yield waiting.popleft()

    def _keep(self, results: Sequence[tuple[str, Asked, Answered]]) -> None:
        """Put answers into the journal, and only then the next questions into the queues."""
        self._context.journal.add(
            [entry_of(step_of(asked.system), asked.conversation, said, part=asked.place) for _, asked, said in results]
        )
        self._context.note_spending()
        for _, asked, said in results:
            turns = self._conversations[asked.conversation].turns
            if asked.place + 1 < len(turns):
                exchanges = (*asked.exchanges, *_exchanges(turns[asked.place : asked.place + 1], [said]))
                following = Asked(asked.system, asked.conversation, asked.place + 1, exchanges)
                self._waiting[asked.system].append(following)
            self._context.progress.done(1, failures=int(said.failure is not None))

    def _answered(self, asked: Asked) -> Answered:
        """Ask; what cannot be answered is a failure, unless nothing ever could be."""
        started, began = datetime.now(UTC), time.monotonic()
        times: dict[str, float | None] = {}
        metadata = self._about(asked)
        try:
            turn, counted = self._turn(asked)
            metadata |= counted
            times["recall"] = _milliseconds(began) if turn.mode == "agent" else None
            answer = self._responders[asked.system].respond(turn)
        except ProviderFault as fault:
            if fault.is_fatal:
                raise
            said = Answered(failure=self._failure(asked, fault), metadata={**metadata, "failure": fault.code})
        else:
            said = Answered(
                answer=answer.text,
                usage=answer.usage,
                metrics=answer.metrics,
                metadata=metadata | answer.metadata,
            )
        times["total"] = took = _milliseconds(began)
        # Not the clock once more: it may have been set meanwhile.
        stamps = {"started": _stamp(started), "finished": _stamp(started + timedelta(milliseconds=took))}
        return msgspec.structs.replace(said, timing_ms=times, timestamps=stamps)

    def _turn(self, asked: Asked) -> tuple[Turn, dict[str, FieldValue]]:
        """A question with all that goes with it."""
        conversation = self._conversations[asked.conversation]
        system = self._experiment.systems[asked.system]
        turn = conversation.turns[asked.place]
        message, counted = turn.question, dict[str, FieldValue]()
        if system.mode == "agent":
            earlier = [question for question, _ in asked.exchanges]
            message, counted = self._reminder.reminded(conversation, turn.question, earlier)
        made = Turn(
            messages=messages_of(asked.exchanges, message, conversation.language),
            patient_id=conversation.patient_id,
            turn_id=turn.turn_id,
            question=turn.question,
            language=conversation.language,
            mode=system.mode,
            seed=self._experiment.seed,
            slots=conversation.slots,
        )
        return made, counted

    def _about(self, asked: Asked) -> dict[str, FieldValue]:
        system = self._experiment.systems[asked.system]
        language = self._conversations[asked.conversation].language
        return {"system": system.name, "mode": system.mode, "model": system.answers_by, "language": language}

    def _failure(self, asked: Asked, fault: ProviderFault) -> Failure:
        conversation = self._conversations[asked.conversation]
        return failure_of(
            conversation, conversation.turns[asked.place], self._experiment.mode_of(asked.system), fault=fault
        )


def failure_of(conversation: Conversation, turn: ScriptTurn, mode: str, *, fault: ProviderFault) -> Failure:
    """A question that has no answer."""
    where = f"{mode}, patient {conversation.patient_id}, turn {turn.turn_id}"
    name = record_name(mode, conversation.patient_id, turn.turn_id)
    return Failure(name, None, "answer", None, fault.code, f"{where}: {fault.message}", fault.attempts)


def record_name(mode: str, patient_id: str, turn_id: int) -> str:
    """What one answer is called where answers are listed.

    >>> record_name("llm", "p1", 2)
    'llm:p1:2'
    """
    return f"{mode}:{patient_id}:{turn_id}"


def _exchanges(turns: Sequence[ScriptTurn], answered: Sequence[Answered]) -> tuple[tuple[str, str], ...]:
    """Questions and answers; of a turn that failed the history says nothing."""
    return tuple(
        (turn.question, said.answer) for turn, said in zip(turns, answered, strict=False) if said.answer is not None
    )


def _milliseconds(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 3)


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
