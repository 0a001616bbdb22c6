"""An experiment in, events out: what `hallumeter dialogue run` runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError, SettingsError
from hallumeter.pipelines.audit.entries import Means
from hallumeter.pipelines.audit.run_place import is_finished, written_together
from hallumeter.pipelines.dialogue.measuring import Equipment
from hallumeter.pipelines.experiments import Stopped, asked_to_the_end, digest_of, opened_journal
from hallumeter.providers.language_models import provider_spec
from hallumeter.records import MANIFEST_VERSION, Failure, Manifest
from hallumeter.runner import NoWatch, Spending, Watch, kept_progress, stopping_on_signals
from hallumeter.store import MANIFEST, write_json

from .asking import Asking, Reminder
from .experiment import OFFLINE, Experiment, System
from .finishing import EVENTS, Counted, Dialogues, score_answers, write_files
from .inputs import Inputs, read_inputs
from .messages import prompts_digest
from .recall import chosen_retrieval
from .responders import Responders
from .scoring import Scoring

INSTRUMENT = "dialogue run"


class RunOutcome(Struct, frozen=True):
    """How a run ended."""

    folder: Path
    modes: tuple[Counted, ...]
    """Empty when it was interrupted: there is a journal to go on with, and nothing else."""
    failures: tuple[Failure, ...]
    """The first of them."""
    stopped: Stopped | None
    """Why it stopped before its end."""
    spending: Spending
    troubles: tuple[str, ...] = ()
    """Settings that models do not take."""
    was_finished: bool = False
    """It had come to its end before; nobody was asked."""


class RunIdentity(Struct, frozen=True):
    """Everything that decides what is asked of whom, and how answers are measured."""

    hallumeter: str
    """The version."""
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

    @property
    def digest(self) -> str:
        """Short, and another for every other identity."""
        return digest_of(self)


def run_experiment(
    experiment: Experiment, *, watch: Watch | None = None, is_strict: bool = False, is_retrying: bool = False
) -> RunOutcome:
    """Ask every system every question, measure the answers and write a run folder.

    The same experiment goes on where it was stopped: no question that has an answer is asked again. One that has come
    to its end is not repeated, except that `is_retrying` asks again what failed.

    Args:
        experiment: What to ask of whom.
        watch: Who waits for it.
        is_strict: Stop at the first line of the input that cannot be used, and at the first answer that cannot be
            measured.
        is_retrying: Ask failed turns again, and the turns of that patient after them.
    """
    started = datetime.now(UTC)
    inputs = read_inputs(experiment, is_strict=is_strict)
    retrieval, equipment = retrieval_of(experiment), Equipment.of(experiment.rules)
    identity = identity_of(experiment, inputs, retrieval=retrieval, equipment=equipment)
    run_id = experiment.run_id or f"run-{identity.digest}"
    folder = experiment.output / run_id
    spending = Spending(experiment.budget)
    if is_finished(folder):
        return _finished_before(folder, identity, spending)
    with (
        stopping_on_signals() as stop,
        Responders(experiment, spending=spending, stop=stop) as responders,
        opened_journal(folder, identity) as journal,
        kept_progress(NoWatch() if watch is None else watch, folder, instrument=INSTRUMENT) as told,
    ):
        means = Means(journal, stop, told, spending)
        reminder = Reminder(retrieval or "words", experiment.facts_per_question)
        asking = Asking(experiment, inputs, means=means, responders=responders, reminder=reminder)
        dialogues = Dialogues(experiment, inputs, run_id)
        stopped = asked_to_the_end(partial(asking.run, is_retrying=is_retrying), means)
        if stopped != "interrupted":
            scoring = Scoring(experiment, equipment, is_strict=is_strict)
            stopped = stopped if score_answers(means, dialogues, scoring) else "interrupted"
        troubles = tuple(responders.troubles)
        outcome = RunOutcome(folder, (), (), stopped, spending, troubles)
        if stopped == "interrupted":
            return outcome
        with written_together(folder) as draft:
            finished = write_files(draft, journal, dialogues)
            write_json(draft / MANIFEST, _manifest(identity, experiment, inputs, started=started))
        if not finished.unanswered:
            journal.remove()
    return structs.replace(outcome, modes=finished.modes, failures=finished.failures)


def retrieval_of(experiment: Experiment) -> str | None:
    """How the agents of an experiment look facts up; None when there are none."""
    if all(system.mode != "agent" for system in experiment.systems):
        return None
    return chosen_retrieval(experiment.retrieval)


def identity_of(experiment: Experiment, inputs: Inputs, *, retrieval: str | None, equipment: Equipment) -> RunIdentity:
    """What makes two runs the same; pace, prices and the place of the run do not matter."""
    recall = None
    if retrieval is not None:
        facts = hashlib.sha256(msgspec.json.encode([each.facts for each in inputs.conversations])).hexdigest()[:12]
        fhir = "" if experiment.fhir_dir is None else f" fhir={facts}"
        recall = f"{retrieval} top={experiment.facts_per_question}{fhir}"
    measures = [f"{name}={getattr(experiment, name)}" for name in ("faithfulness", "answer_relevance", "perplexity")]
    return RunIdentity(
        hallumeter=version("hallumeter"),
        input=inputs.file.sha256 or "",
        systems=tuple(_told(system) for system in experiment.systems),
        seed=experiment.seed,
        language=experiment.language,
        max_patients=experiment.max_patients,
        max_turns=experiment.max_turns,
        prompts=prompts_digest(),
        recall=recall,
        metrics=(*(f"{name}={value}" for name, value in equipment.signature), *measures),
    )


def _told(system: System) -> str:
    """A system in one line, with all that changes its answers."""
    who = system.answers_by
    told: dict[str, object] = {"mode": system.mode, "temperature": system.temperature, "max_tokens": system.max_tokens}
    if system.model not in (None, OFFLINE):
        told |= provider_spec(who).settings
    return " ".join([system.name, who, *(f"{name}={value}" for name, value in told.items())])


def _manifest(identity: RunIdentity, experiment: Experiment, inputs: Inputs, *, started: datetime) -> Manifest:
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=identity.hallumeter,
        instrument=INSTRUMENT,
        inputs=(inputs.file,),
        settings={
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
        },
        seed=identity.seed,
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


class _Line(Struct, frozen=True):
    """An event of which only this is wanted."""

    mode: str
    answer: str | None


def _finished_before(folder: Path, identity: RunIdentity, spending: Spending) -> RunOutcome:
    """The outcome of a run that was finished before, if it is the one that is wanted."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
        with (folder / EVENTS).open("rb") as stream:
            lines = [msgspec.json.decode(line, type=_Line) for line in stream]
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{folder}: damaged, or no run of a dialogue ({error}); choose another run_id") from error
    if manifest.settings.get("identity") != identity.digest:
        raise SettingsError(f"{folder}: holds a finished run of another experiment; choose another run_id")
    counts = Counter((line.mode, line.answer is not None) for line in lines)
    modes = dict.fromkeys(line.mode for line in lines)
    counted = tuple(Counted(mode, counts[mode, True], counts[mode, False]) for mode in modes)
    return RunOutcome(folder, counted, (), None, spending, was_finished=True)
