"""From the journal to the files of a run: events in order of patient, turn and mode, failures, scripts, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.dialogue.records import EVENTS, SCRIPTS, Event, EventQuestion
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Failure
from hallumeter.run.context import RunContext
from hallumeter.run.journal import Journal, decoded, entry_of
from hallumeter.run.run_folder import RunFiles
from hallumeter.run.runner import FinishedRun

from .asking import Answered, answers_by_conversation, failure_of
from .experiment import Experiment, document_of
from .inputs import Conversation, Inputs
from .scoring import NOTHING_SCORED, Scored, Scoring

SETTINGS = "experiment.json"
_UNASKED = ProviderFault("budget_reached", "not asked: the budget was reached")


class Counted(Struct, frozen=True):
    """How many answers there are of one mode."""

    mode: str
    answered: int
    failed: int


class FinishedDialogues(FinishedRun, frozen=True, kw_only=True):
    """What a run came to."""

    modes: tuple[Counted, ...]

    @classmethod
    def of(cls, modes: Iterable[Counted], failures: Iterable[Failure] = ()) -> FinishedDialogues:
        """Questions that failed, or that nobody asked, may be asked again."""
        counted = tuple(modes)
        return cls(modes=counted, failures=tuple(failures), retryable=sum(mode.failed for mode in counted))

    @property
    def answered(self) -> int:
        """Questions that have an answer."""
        return sum(mode.answered for mode in self.modes)


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


def score_answers(context: RunContext, dialogues: Dialogues, scoring: Scoring) -> bool:
    """Measure every answer that the journal has no metrics of; False when it was stopped."""
    systems = range(len(dialogues.experiment.systems))
    by_system = [answers_by_conversation(context.journal, system) for system in systems]
    total = sum(len(own) for answered in by_system for own in answered.values())
    context.progress.begin("measuring", total=total)
    for system, answered in zip(systems, by_system, strict=True):
        known = _scores(context.journal, system)
        for number, conversation in enumerate(dialogues.inputs.conversations):
            if context.stop.is_set():
                return False
            events = dialogues.events(system, conversation, answered.get(number, ()))
            left = _unscored(events, known, number)
            scores = [(place, scoring.scored(events[place], events[:place])) for place in left]
            context.journal.add([entry_of(_scores_step(system), number, score, part=place) for place, score in scores])
            context.progress.done(len(events))
    return True


def _unscored(events: Sequence[Event], known: Mapping[tuple[int, int], Scored], number: int) -> list[int]:
    """The turns of a conversation whose answers have no metrics yet."""
    return [
        place
        for place, event in enumerate(events)
        if event.answer is not None and not _is_known(known.get((number, place)), event)
    ]


def write_files(folder: Path, journal: Journal, dialogues: Dialogues) -> FinishedDialogues:
    """Write everything but the manifest."""
    systems = range(len(dialogues.experiment.systems))
    answered = [answers_by_conversation(journal, system) for system in systems]
    scores = [_scores(journal, system) for system in systems]
    with DialogueFiles(folder) as files:
        for failure in dialogues.inputs.failures:
            files.fail(failure)
        for number, conversation in enumerate(dialogues.inputs.conversations):
            if conversation.script is not None:
                files.write_line(SCRIPTS, conversation.script)
            own = [dialogues.completed(system, conversation, answered[system].get(number, ())) for system in systems]
            events = [dialogues.events(system, conversation, own[system]) for system in systems]
            for place, system in product(range(len(conversation.turns)), systems):
                files.add(events[system][place], own[system][place], scores[system].get((number, place)))
        modes = [files.counted(dialogues.experiment.mode_of(system)) for system in systems]
    write_settings(folder, dialogues.experiment, run_id=dialogues.run_id)
    return FinishedDialogues.of(modes, files.first_failures)


def write_settings(folder: Path, experiment: Experiment, *, run_id: str) -> None:
    """Write what the run was made with."""
    settings = msgspec.json.encode(document_of(experiment) | {"run_id": run_id})
    (folder / SETTINGS).write_bytes(msgspec.json.format(settings, indent=2) + b"\n")


class DialogueFiles(RunFiles):
    """The files of a run while they are written, and the counts that go with them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, (EVENTS, SCRIPTS))
        self._answered: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()

    def add(self, event: Event, said: Answered, scored: Scored | None) -> None:
        """Write an event with its metrics, and whatever failed in it."""
        own = scored if scored is not None and _is_known(scored, event) else NOTHING_SCORED
        self.write_line(EVENTS, structs.replace(event, metrics=own.metrics))
        (self._answered if event.answer is not None else self._failed)[event.mode] += 1
        for failure in (*([said.failure] if said.failure else []), *own.failures):
            self.fail(failure)

    def counted(self, mode: str) -> Counted:
        """What was written of a mode."""
        return Counted(mode, self._answered[mode], self._failed[mode])


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
