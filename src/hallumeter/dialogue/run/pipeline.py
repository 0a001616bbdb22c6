"""An experiment in, events out: what `hallumeter dialogue run` runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import ClassVar, TypeAlias

import msgspec
from msgspec import Struct

from hallumeter.dialogue.measure.setup import DialogueSetup
from hallumeter.dialogue.records import EVENTS
from hallumeter.models.by_name import provider_spec
from hallumeter.models.prices import Spending
from hallumeter.records.manifest import Manifest
from hallumeter.run.context import RunContext
from hallumeter.run.identity import RunIdentity, RunWording, manifest_of
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.runner import RunOutcome, Step, run_work
from hallumeter.run.sharing import run_spending
from hallumeter.run.stopping import stopping_on_signals

from .asking import Asking, Reminder
from .experiment import OFFLINE, Experiment, System
from .finishing import Counted, Dialogues, FinishedDialogues, score_answers, write_files
from .inputs import Inputs, read_inputs
from .messages import prompts_digest
from .recall import chosen_retrieval
from .responders import Responders
from .scoring import ClaimChecker, Scoring

INSTRUMENT = "dialogue run"
DialogueOutcome: TypeAlias = RunOutcome[FinishedDialogues]


class DialogueIdentity(RunIdentity, frozen=True):
    """Everything that decides what is asked of whom, and how answers are measured."""

    input: str
    """The hash of the scripts or questions."""
    systems: tuple[str, ...]
    seed: int
    language: str | None
    max_patients: int | None
    max_turns: int | None
    prompts: str
    recall: str | None
    """How agents look facts up; None without agents."""
    metrics: tuple[str, ...]

    wording: ClassVar[RunWording] = RunWording(
        damaged="{folder}: damaged, or no run of a dialogue ({cause}); choose another run_id"
    )


class Prepared(Struct, frozen=True):
    """An experiment that has been read; nobody can be asked yet."""

    experiment: Experiment
    inputs: Inputs
    dialogue_setup: DialogueSetup
    retrieval: str | None
    """How agents look facts up; None without agents."""
    identity: DialogueIdentity

    @property
    def run_id(self) -> str:
        """The name of the run."""
        return self.experiment.run_id or f"run-{self.identity.digest}"

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.experiment.output / self.run_id


def prepared(experiment: Experiment, *, is_strict: bool = False) -> Prepared:
    """Read all that an experiment names, and tell its runs apart from others."""
    inputs = read_inputs(experiment, is_strict=is_strict)
    has_agents = any(system.mode == "agent" for system in experiment.systems)
    retrieval = chosen_retrieval(experiment.retrieval) if has_agents else None
    dialogue_setup = DialogueSetup.of(experiment.rules)
    identity = identity_of(experiment, inputs, retrieval=retrieval, dialogue_setup=dialogue_setup)
    return Prepared(experiment, inputs, dialogue_setup, retrieval, identity)


class DialogueWork:
    """Every system is asked every question, and the answers are measured."""

    instrument = INSTRUMENT

    def __init__(
        self,
        ready: Prepared,
        folder: Path,
        *,
        checker: Callable[[], ClaimChecker] | None,
        is_strict: bool,
        is_retrying: bool,
    ) -> None:
        """Take what was read; nobody is asked yet."""
        self.started = datetime.now(UTC)
        self._ready, self.folder, self.identity = ready, folder, ready.identity
        self._dialogues = Dialogues(ready.experiment, ready.inputs, ready.run_id)
        self._checker, self._is_strict, self._is_retrying = checker, is_strict, is_retrying
        self._responders: Responders | None = None

    @contextmanager
    def opened(self, *, stop: Event, spending: Spending) -> Iterator[None]:
        """Make everyone who answers, and let go of them at the end."""
        with Responders(self._ready.experiment, spending=spending, stop=stop) as self._responders:
            yield

    @property
    def manifest(self) -> Manifest:
        """What the run says of itself, but for the times."""
        experiment, identity = self._ready.experiment, self.identity
        settings = {
            "identity": identity.digest,
            "systems": list(identity.systems),
            "modes": [experiment.mode_of(number) for number in range(len(experiment.systems))],
            "language": identity.language,
            "max_patients": identity.max_patients,
            "max_turns": identity.max_turns,
            "prompts": identity.prompts,
            "recall": identity.recall,
            "metrics": list(identity.metrics),
            "budget_usd": experiment.budget,
        }
        return manifest_of(identity, INSTRUMENT, settings, inputs=(self._ready.inputs.file,), seed=identity.seed)

    @property
    def notices(self) -> Iterator[str]:
        """Settings that models do not take."""
        return iter(()) if self._responders is None else self._responders.troubles

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything that is done, in its order."""
        return self._ask, self._score

    def _ask(self, context: RunContext) -> bool:
        ready, responders = self._ready, self._responders
        assert responders is not None  # they were opened
        reminder = Reminder(ready.retrieval or "words", ready.experiment.facts_per_question)
        asking = Asking(ready.experiment, ready.inputs, context=context, responders=responders, reminder=reminder)
        return asking.run(is_retrying=self._is_retrying)

    def _score(self, context: RunContext) -> bool:
        ready = self._ready
        scoring = Scoring(ready.experiment, ready.dialogue_setup, checker=self._checker, is_strict=self._is_strict)
        return score_answers(context, self._dialogues, scoring)

    def write(self, folder: Path, context: RunContext) -> FinishedDialogues:
        """Write everything but the manifest."""
        return write_files(folder, context.journal, self._dialogues)

    def write_report(self, folder: Path) -> None:
        """A run of dialogues has none: `hallumeter dialogue measure` makes it of the events."""

    def read_finished(self) -> FinishedDialogues:
        """The answers of a run that was finished before."""
        with (self.folder / EVENTS).open("rb") as stream:
            lines = [msgspec.json.decode(line, type=_Line) for line in stream]
        counts = Counter((line.mode, line.answer is not None) for line in lines)
        modes = dict.fromkeys(line.mode for line in lines)
        return FinishedDialogues.of(Counted(mode, counts[mode, True], counts[mode, False]) for mode in modes)


def run_experiment(
    experiment: Experiment,
    *,
    progress: ProgressListener | None = None,
    checker: Callable[[], ClaimChecker] | None = None,
    is_strict: bool = False,
    is_retrying: bool = False,
) -> DialogueOutcome:
    """Ask every system every question, measure the answers and write a run folder.

    The same experiment goes on where it was stopped: no question that has an answer is asked again. One that has come
    to its end is not repeated, except that `is_retrying` asks again what failed.

    Args:
        experiment: What to ask of whom.
        progress: Is called as the run goes on.
        checker: Makes who checks the claims of answers; needed for `faithfulness` alone.
        is_strict: Stop at the first line of the input that cannot be used, and at the first answer that cannot be
            measured.
        is_retrying: Ask failed turns again, and the turns of that patient after them.
    """
    ready = prepared(experiment, is_strict=is_strict)
    given = DialogueWork(ready, ready.folder, checker=checker, is_strict=is_strict, is_retrying=is_retrying)
    return run_dialogues(given, experiment, progress=progress)


def run_dialogues(
    work: DialogueWork, experiment: Experiment, *, progress: ProgressListener | None = None
) -> DialogueOutcome:
    """Do what is left of a run."""
    with stopping_on_signals() as stop, run_spending(experiment.budget) as spending:
        return run_work(work, progress=progress or NoProgress(), stop=stop, spending=spending)


def identity_of(
    experiment: Experiment, inputs: Inputs, *, retrieval: str | None, dialogue_setup: DialogueSetup
) -> DialogueIdentity:
    """What makes two runs the same; pace, prices and the place of the run do not matter."""
    recall = None
    if retrieval is not None:
        facts = hashlib.sha256(msgspec.json.encode([each.facts for each in inputs.conversations])).hexdigest()[:12]
        fhir = "" if experiment.fhir_dir is None else f" fhir={facts}"
        recall = f"{retrieval} top={experiment.facts_per_question}{fhir}"
    measures = [f"{name}={getattr(experiment, name)}" for name in ("faithfulness", "answer_relevance", "perplexity")]
    return DialogueIdentity(
        hallumeter=version("hallumeter"),
        input=inputs.file.sha256 or "",
        systems=tuple(_line_of(system) for system in experiment.systems),
        seed=experiment.seed,
        language=experiment.language,
        max_patients=experiment.max_patients,
        max_turns=experiment.max_turns,
        prompts=prompts_digest(),
        recall=recall,
        metrics=(*(f"{name}={value}" for name, value in dialogue_setup.signature), *measures),
    )


def _line_of(system: System) -> str:
    """A system in one line, with all that changes its answers."""
    who = system.answers_by
    settings: dict[str, object] = {
        "mode": system.mode,
        "temperature": system.temperature,
        "max_tokens": system.max_tokens,
    }
    if system.model not in (None, OFFLINE):
        settings |= provider_spec(who).settings
    return " ".join([system.name, who, *(f"{name}={value}" for name, value in settings.items())])


class _Line(Struct, frozen=True):
    """An event of which only this is wanted."""

    mode: str
    answer: str | None
