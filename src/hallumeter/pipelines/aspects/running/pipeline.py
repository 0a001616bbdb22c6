"""An experiment in, outputs out: what `hallumeter aspects run` runs."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import HallumeterError, InputError, SettingsError
from hallumeter.pipelines.aspects.auxiliary import Classifier, classifier_named
from hallumeter.pipelines.audit.entries import Means
from hallumeter.pipelines.audit.run_place import is_finished, written_together
from hallumeter.pipelines.experiments import Stopped, asked_to_the_end, opened_journal
from hallumeter.records import Summary
from hallumeter.runner import NoWatch, Spending, Watch, kept_progress, stopping_on_signals
from hallumeter.store import RunFolder

from .asking import Asking, Workbench
from .conducting import Conductor
from .experiment import Experiment
from .finishing import OUTPUTS_FILE, Finished, finish_run, write_files, write_report
from .identity import RunIdentity, configuration_hash, identity_of, languages_of, manifest_of
from .inputs import Inputs, read_inputs
from .seats import Seats, paced_models, seats_of
from .stage_settings import stage_settings

INSTRUMENT = "aspects run"


class RunOutcome(Struct, frozen=True):
    """How a run ended."""

    folder: Path
    finished: Finished | None
    """None when it was interrupted: there is a journal to go on with, and nothing else."""
    stopped: Stopped | None
    """Why it stopped before its end."""
    spending: Spending
    summary: Summary | None = None
    """What was measured in the outputs."""
    notices: tuple[str, ...] = ()
    """What a user should know of the input, and settings that models do not take."""
    was_finished: bool = False
    """It had come to its end before; nobody was asked."""


class Prepared(Struct, frozen=True):
    """An experiment that has been read, and who would answer; nobody can be asked yet."""

    experiment: Experiment
    inputs: Inputs
    seats: Seats
    identity: RunIdentity
    run_id: str

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.experiment.output / self.run_id

    def bench(self, seats: Seats, *, is_strict: bool = False) -> Workbench:
        """What sentences are read with."""
        settings = structs.replace(
            stage_settings(self.experiment),
            run_id=self.run_id,
            cfg_hash=configuration_hash(stage_settings(self.experiment), seats),
        )
        conductor = Conductor(seats, settings, classifier_of(self.experiment), is_strict)
        return Workbench(self.experiment, self.inputs, conductor)


def classifier_of(experiment: Experiment) -> Classifier | None:
    """Who is asked after everything else; None when nobody is."""
    pipeline = experiment.pipeline
    if not pipeline.aux_hf_enabled or pipeline.aux_hf_checkpoint is None:
        return None
    return classifier_named(pipeline.aux_hf_checkpoint, pipeline.aux_hf_id2label)


def prepared(experiment: Experiment, *, is_strict: bool = False) -> Prepared:
    """Read all that an experiment names, and tell its runs apart from others."""
    inputs = read_inputs(experiment, is_strict=is_strict)
    seats = seats_of(experiment, languages_of(inputs))
    identity = identity_of(experiment, inputs, settings=stage_settings(experiment), seats=seats)
    return Prepared(experiment, inputs, seats, identity, experiment.run_id or f"run-{identity.digest}")


def run_experiment(
    experiment: Experiment, *, watch: Watch | None = None, is_strict: bool = False, is_retrying: bool = False
) -> RunOutcome:
    """Let agents read every sentence, once for each seed, and write a run folder.

    The same experiment goes on where it was stopped: no question that has an answer is asked again. One that has come
    to its end is not repeated, except that `is_retrying` reads again what failed.

    Args:
        experiment: What is read by whom.
        watch: Who waits for it.
        is_strict: Stop at the first row that cannot be used, and at the first error of the pipeline's own code.
        is_retrying: Read failed sentences again, from the question that had no answer.
    """
    started = datetime.now(UTC)
    ready = prepared(experiment, is_strict=is_strict)
    spending = Spending(experiment.budget)
    if is_finished(ready.folder):
        return _finished_before(ready, spending)
    with stopping_on_signals() as stop:
        models = paced_models(experiment, spending=spending, stop=stop)
        bench = ready.bench(seats_of(experiment, languages_of(ready.inputs), models), is_strict=is_strict)
        with (
            opened_journal(ready.folder, ready.identity) as journal,
            kept_progress(NoWatch() if watch is None else watch, ready.folder, instrument=INSTRUMENT) as told,
        ):
            means = Means(journal, stop, told, spending)
            stopped = asked_to_the_end(partial(Asking(bench, means).run, is_retrying=is_retrying), means)
            notices = (*ready.inputs.notices, *models.troubles)
            outcome = RunOutcome(ready.folder, None, stopped, spending, notices=notices)
            if stopped == "interrupted":
                return outcome
            with written_together(ready.folder) as draft:
                finished = write_files(draft, journal, bench)
                summary = finish_run(draft, bench.conductor.settings.mapping)
                manifest = manifest_of(
                    ready.identity, experiment, files=ready.inputs.files, instrument=INSTRUMENT, started=started
                )
                write_report(draft, manifest)
            if not finished.failed:
                journal.remove()
    return structs.replace(outcome, finished=finished, summary=summary)


class _Line(Struct, frozen=True):
    """An output of which only this is wanted."""

    failed: str | None = None


def _finished_before(ready: Prepared, spending: Spending) -> RunOutcome:
    """The outcome of a run that was finished before, if it is the one that is wanted."""
    folder = ready.folder
    try:
        manifest, summary = RunFolder(folder).manifest, RunFolder(folder).summary
        with (folder / OUTPUTS_FILE).open("rb") as stream:
            lines = [msgspec.json.decode(line, type=_Line) for line in stream]
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, HallumeterError) as error:
        raise InputError(f"{folder}: damaged, or no run of aspects ({error}); choose another run_id") from error
    if manifest.settings.get("identity") != ready.identity.digest:
        raise SettingsError(f"{folder}: holds a finished run of another experiment; choose another run_id")
    failed = sum(line.failed is not None for line in lines)
    finished = Finished(len(lines) - failed, failed, 0, ())
    return RunOutcome(folder, finished, None, spending, summary=summary, was_finished=True)
