"""An experiment in, outputs out: what `hallumeter aspects run` runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TypeAlias

import msgspec
from msgspec import Struct, structs

from hallumeter.aspects import resource_files
from hallumeter.aspects.auxiliary import Classifier, classifier_named
from hallumeter.aspects.settings import OverrideThresholds, StageSettings, Switches
from hallumeter.errors import SettingsError
from hallumeter.models.prices import Spending
from hallumeter.records.manifest import Manifest
from hallumeter.run.context import RunContext
from hallumeter.run.paced_models import PacedModels
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.run_folder import RunFolder
from hallumeter.run.runner import RunOutcome, Step, run_work
from hallumeter.run.sharing import run_spending
from hallumeter.run.stopping import stopping_on_signals

from .asking import Asking, ReadingSetup
from .experiment import Experiment, PipelineChoice
from .finishing import OUTPUTS_FILE, FinishedSentences, finish_run, write_files, write_report
from .identity import AspectsIdentity, configuration_hash, identity_of, languages_of, manifest_of_aspects
from .inputs import Inputs, read_inputs
from .roles import RoleAgents, role_agents_of
from .sentence import SentencePipeline

INSTRUMENT = "aspects run"


AspectsOutcome: TypeAlias = RunOutcome[FinishedSentences]


class Prepared(Struct, frozen=True):
    """An experiment that has been read, and who would answer; nobody can be asked yet."""

    experiment: Experiment
    inputs: Inputs
    roles: RoleAgents
    identity: AspectsIdentity
    run_id: str

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.experiment.output / self.run_id

    def setup(self, roles: RoleAgents, *, is_strict: bool = False, trusted: Collection[Path] = ()) -> ReadingSetup:
        """What sentences are read with; code in the `trusted` files may run."""
        settings = structs.replace(
            stage_settings(self.experiment),
            run_id=self.run_id,
            cfg_hash=configuration_hash(stage_settings(self.experiment), roles),
        )
        classifier = classifier_of(self.experiment, trusted)
        pipeline = SentencePipeline(roles, settings, classifier, is_strict)
        return ReadingSetup(self.experiment, self.inputs, pipeline)


def stage_settings(experiment: Experiment) -> StageSettings:
    """All that decides what code makes of agents' answers; the run, its seed and its hash are still to be named.

    Raises:
        InputError: A file cannot be opened.
        SettingsError: A file says what it should not, or lacks the profile.
    """
    pipeline = experiment.pipeline
    own = {language: resource_files.load_patterns(language, path) for language, path in pipeline.patterns.items()}
    return StageSettings(
        switches=Switches(**{name: getattr(pipeline, name) for name in Switches.__struct_fields__}),
        override=_override(pipeline),
        mapping=resource_files.load_mapping_thresholds(pipeline.debate_thresholds),
        patterns={**resource_files.shipped_patterns(), **own},
        mode=experiment.mode,
        profile=experiment.profile,
    )


def _override(pipeline: PipelineChoice) -> OverrideThresholds:
    """The thresholds of a profile, with the numbers that the experiment gives itself in their place."""
    profiles = resource_files.load_override_profiles(pipeline.debate_override_thresholds)
    chosen = pipeline.debate_override
    found = profiles.named(chosen.profile)
    if found is None:
        known = ", ".join(profiles.profiles)
        raise SettingsError(f"debate_override has no profile {chosen.profile!r}; the file of thresholds has {known}")
    own = {name: getattr(chosen, name) for name in OverrideThresholds.__struct_fields__}
    return structs.replace(found, **{name: value for name, value in own.items() if value is not None})


def classifier_of(experiment: Experiment, trusted: Collection[Path] = ()) -> Classifier | None:
    """Who is asked after everything else; None when nobody is."""
    pipeline = experiment.pipeline
    if not pipeline.aux_hf_enabled or pipeline.aux_hf_checkpoint is None:
        return None
    return classifier_named(pipeline.aux_hf_checkpoint, pipeline.aux_hf_id2label, trusted=trusted)


def prepared(experiment: Experiment, *, is_strict: bool = False) -> Prepared:
    """Read all that an experiment names, and tell its runs apart from others."""
    inputs = read_inputs(experiment, is_strict=is_strict)
    roles = role_agents_of(experiment, languages_of(inputs))
    identity = identity_of(experiment, inputs, settings=stage_settings(experiment), roles=roles)
    return Prepared(experiment, inputs, roles, identity, experiment.run_id or f"run-{identity.digest}")


class AspectsWork:
    """Every sentence is read by all agents; scores, metrics and blame are made of the outputs."""

    instrument = INSTRUMENT

    def __init__(
        self, ready: Prepared, folder: Path, *, is_strict: bool, is_retrying: bool, trusted: Collection[Path] = ()
    ) -> None:
        """Take what was read; nobody is asked yet."""
        self.started = datetime.now(UTC)
        self._ready, self.folder, self.identity = ready, folder, ready.identity
        self._is_strict, self._is_retrying, self._trusted = is_strict, is_retrying, trusted
        self._models: PacedModels | None = None
        self._opened: ReadingSetup | None = None
        self._unknown_keys: Mapping[str, int] = {}

    @contextmanager
    def opened(self, *, stop: Event, spending: Spending) -> Iterator[None]:
        """Make every agent."""
        experiment = self._ready.experiment
        self._models = PacedModels(experiment.prices, spending=spending, stop=stop)
        roles = role_agents_of(experiment, languages_of(self._ready.inputs), self._models)
        self._opened = self._ready.setup(roles, is_strict=self._is_strict, trusted=self._trusted)
        yield

    @property
    def _setup(self) -> ReadingSetup:
        assert self._opened is not None
        return self._opened

    @property
    def manifest(self) -> Manifest:
        """What the run says of itself, but for the times."""
        ready = self._ready
        return manifest_of_aspects(ready.identity, ready.experiment, files=ready.inputs.files, instrument=INSTRUMENT)

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know of the input, settings that models do not take, and what replies said in vain."""
        troubles = () if self._models is None else self._models.troubles
        unknown = [f"a key in replies that nobody reads: {key} ({n:,})" for key, n in self._unknown_keys.items()]
        return (*self._ready.inputs.notices, *troubles, *unknown)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything that is done."""
        return (self._ask,)

    def _ask(self, context: RunContext) -> bool:
        asking = Asking(self._setup, context)
        self._unknown_keys = asking.unknown_keys
        return asking.run(is_retrying=self._is_retrying)

    def write(self, folder: Path, context: RunContext) -> FinishedSentences:
        """Write everything but the manifest and the report."""
        finished = write_files(folder, context.journal, self._setup)
        return structs.replace(finished, summary=finish_run(folder, self._setup.pipeline.settings.mapping))

    def write_report(self, folder: Path) -> None:
        """Write the report of a folder that has everything else."""
        write_report(folder)

    def read_finished(self) -> FinishedSentences:
        """The sentences of a run that was finished before."""
        summary = RunFolder(self.folder).summary
        with (self.folder / OUTPUTS_FILE).open("rb") as stream:
            lines = [msgspec.json.decode(line, type=_Line) for line in stream]
        failed = sum(line.failed is not None for line in lines)
        return FinishedSentences(sentences=len(lines) - failed, failed=failed, retryable=failed, summary=summary)


class _Line(Struct, frozen=True):
    """An output of which only this is wanted."""

    failed: str | None = None


def run_experiment(
    experiment: Experiment,
    *,
    progress: ProgressListener | None = None,
    is_strict: bool = False,
    is_retrying: bool = False,
    trusted: Collection[Path] = (),
) -> AspectsOutcome:
    """Let agents read every sentence, once for each seed, and write a run folder.

    The same experiment goes on where it was stopped: no question that has an answer is asked again. One that has come
    to its end is not repeated, except that `is_retrying` reads again what failed.

    Args:
        experiment: What is read by whom.
        progress: Is called as the run goes on.
        is_strict: Stop at the first row that cannot be used, and at the first error of the pipeline's own code.
        is_retrying: Read failed sentences again, from the question that had no answer.
        trusted: Files of joblib or pickle whose code may run.
    """
    ready = prepared(experiment, is_strict=is_strict)
    work = AspectsWork(ready, ready.folder, is_strict=is_strict, is_retrying=is_retrying, trusted=trusted)
    return run_sentences(work, experiment, progress=progress)


def run_sentences(
    work: AspectsWork, experiment: Experiment, *, progress: ProgressListener | None = None
) -> AspectsOutcome:
    """Do what is left of a run."""
    with stopping_on_signals() as stop, run_spending(experiment.budget) as spending:
        return run_work(work, progress=progress or NoProgress(), stop=stop, spending=spending)
