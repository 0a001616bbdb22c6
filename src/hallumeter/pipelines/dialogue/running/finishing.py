"""From the journal to the files of a run: events in order of patient, turn and mode, failures, scripts, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct, structs

from hallumeter.pipelines.audit.entries import Means, decoded, entry_of
from hallumeter.providers.language_models import ProviderFault
from hallumeter.records import Event, EventQuestion, Failure
from hallumeter.store import FAILURES, Journal

from .asking import Answered, answers_by_conversation, failure_of
from .experiment import Experiment
from .experiment_file import document_of
from .inputs import Conversation, Inputs
from .scoring import NOTHING_SCORED, Scored, Scoring

EVENTS, SCRIPTS, SETTINGS = "events.jsonl", "scripts.jsonl", "experiment.json"
FIRST_FAILURES = 1000
"""Failures that are handed back to whoever asked for the run; the run folder has all."""
_UNASKED = ProviderFault("budget_reached", "not asked: the budget was reached")


class Counted(Struct, frozen=True):
    """How many answers there are of one mode."""

    mode: str
    answered: int
    failed: int


class Finished(Struct, frozen=True):
    """What a run came to."""

    modes: tuple[Counted, ...]
    failures: tuple[Failure, ...]
    """The first of them."""
    unanswered: int
    """Questions that failed, or that nobody asked."""


class Dialogues(Struct, frozen=True):
    """The conversations of a run as events."""

    experiment: Experiment
    inputs: Inputs
    run_id: str

    def events(self, system: int, conversation: Conversation, answered: Sequence[Answered]) -> list[Event]:
        """One event for each turn that something came of."""
        mode = self.experiment.mode_of(system)
        return [
            Event(
                run_id=self.run_id,
                mode=mode,
                patient_id=conversation.patient_id,
                turn_id=turn.turn_id,
                question=EventQuestion(f"{conversation.patient_id}:{turn.turn_id}", turn.question),
                answer=said.answer,
                usage=said.usage,
                timing_ms=said.timing_ms,
                timestamps=said.timestamps,
                metadata=said.metadata,
                metrics=said.metrics,
                slots_truth=conversation.slots,
            )
            for turn, said in zip(conversation.turns, answered, strict=False)
        ]

    def completed(self, system: int, conversation: Conversation, answered: Sequence[Answered]) -> list[Answered]:
        """The same with a failure for every turn that nobody asked."""
        about = self.experiment.systems[system]
        metadata = {"system": about.name, "mode": about.mode, "language": conversation.language}
        unasked = [
            Answered(
                failure=failure_of(conversation, turn, self.experiment.mode_of(system), fault=_UNASKED),
                metadata={**metadata, "failure": _UNASKED.code},
            )
            for turn in conversation.turns[len(answered) :]
        ]
        return [*answered, *unasked]


def score_answers(means: Means, dialogues: Dialogues, scoring: Scoring) -> bool:
    """Measure every answer that the journal has no metrics of; False when it was stopped."""
    systems = range(len(dialogues.experiment.systems))
    by_system = [answers_by_conversation(means.journal, system) for system in systems]
    total = sum(len(own) for answered in by_system for own in answered.values())
    means.watch.begin("measuring", total=total)
    for system, answered in zip(systems, by_system, strict=True):
        known = _scores(means.journal, system)
        for number, conversation in enumerate(dialogues.inputs.conversations):
            if means.stop.is_set():
                return False
            events = dialogues.events(system, conversation, answered.get(number, ()))
            left = _unscored(events, known, number)
            scores = [(place, scoring.scored(events[place], events[:place])) for place in left]
            means.journal.add([entry_of(_scores_step(system), number, score, part=place) for place, score in scores])
            means.watch.done(len(events))
    return True


def _unscored(events: Sequence[Event], known: Mapping[tuple[int, int], Scored], number: int) -> list[int]:
    """The turns of a conversation whose answers have no metrics yet."""
    return [
        place
        for place, event in enumerate(events)
        if event.answer is not None and not _is_known(known.get((number, place)), event)
    ]


def write_files(folder: Path, journal: Journal, dialogues: Dialogues) -> Finished:
    """Write everything but the manifest."""
    systems = range(len(dialogues.experiment.systems))
    answered = [answers_by_conversation(journal, system) for system in systems]
    scores = [_scores(journal, system) for system in systems]
    with RunFiles(folder) as files:
        for failure in dialogues.inputs.failures:
            files.fail(failure)
        for number, conversation in enumerate(dialogues.inputs.conversations):
            if conversation.script is not None:
                files.write(SCRIPTS, conversation.script)
            own = [dialogues.completed(system, conversation, answered[system].get(number, ())) for system in systems]
            events = [dialogues.events(system, conversation, own[system]) for system in systems]
            for place, system in product(range(len(conversation.turns)), systems):
                files.add(events[system][place], own[system][place], scores[system].get((number, place)))
        modes = [files.counted(dialogues.experiment.mode_of(system)) for system in systems]
    settings = msgspec.json.encode(document_of(dialogues.experiment) | {"run_id": dialogues.run_id})
    (folder / SETTINGS).write_bytes(msgspec.json.format(settings, indent=2) + b"\n")
    return Finished(tuple(modes), tuple(files.first_failures), sum(mode.failed for mode in modes))


class RunFiles:
    """The files of a run while they are written, and the counts that go with them."""

    def __init__(self, folder: Path) -> None:
        self._stack = ExitStack()
        self._streams: dict[str, IO[bytes]] = {
            name: self._stack.enter_context((folder / name).open("wb")) for name in (EVENTS, FAILURES, SCRIPTS)
        }
        self._encoder = msgspec.json.Encoder()
        self._answered: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self.first_failures: list[Failure] = []

    def __enter__(self) -> RunFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, event: Event, said: Answered, scored: Scored | None) -> None:
        """Write an event with its metrics, and whatever failed in it."""
        own = scored if scored is not None and _is_known(scored, event) else NOTHING_SCORED
        self.write(EVENTS, structs.replace(event, metrics=own.metrics))
        (self._answered if event.answer is not None else self._failed)[event.mode] += 1
        for failure in (*([said.failure] if said.failure else []), *own.failures):
            self.fail(failure)

    def fail(self, failure: Failure) -> None:
        """Write a failure."""
        if len(self.first_failures) < FIRST_FAILURES:
            self.first_failures.append(failure)
        self.write(FAILURES, failure)

    def counted(self, mode: str) -> Counted:
        """What was written of a mode."""
        return Counted(mode, self._answered[mode], self._failed[mode])

    def write(self, name: str, record: Struct) -> None:
        """Write a line."""
        self._streams[name].write(self._encoder.encode(record) + b"\n")


def _scores_step(system: int) -> str:
    return f"scores {system}"


def _scores(journal: Journal, system: int) -> dict[tuple[int, int], Scored]:
    return {
        (entry.record, entry.part): next(decoded([entry.body], Scored))
        for entry in journal.entries(_scores_step(system))
    }


def _is_known(scored: Scored | None, event: Event) -> bool:
    """Whether these are the metrics of this very answer; a turn without an answer has none to be known."""
    return scored is not None and event.answer is not None and scored.answered_at == event.timestamps.get("finished")
