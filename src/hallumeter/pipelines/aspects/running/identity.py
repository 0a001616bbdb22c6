"""What makes two runs the same, so that one can go on where the other stopped, and what a manifest tells of it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from importlib.metadata import version

import msgspec
from msgspec import Struct, structs

from hallumeter.extractors.aspects import reader_for
from hallumeter.pipelines.aspects.settings import StageSettings
from hallumeter.pipelines.experiments import digest_of
from hallumeter.records import MANIFEST_VERSION, InputFile, Manifest

from .experiment import Experiment
from .inputs import Inputs
from .seats import Seats, prompt_files


class RunIdentity(Struct, frozen=True):
    """Everything that decides what is asked of whom, and what code makes of it."""

    hallumeter: str
    """The version."""
    inputs: tuple[str, ...]
    """The hashes of the files."""
    sentences: str
    """A hash of what is read of them."""
    agents: tuple[str, ...]
    """Role by role."""
    prompts: tuple[str, ...]
    readers: tuple[str, ...]
    switches: tuple[str, ...]
    override: tuple[str, ...]
    mapping: tuple[str, ...]
    patterns: tuple[str, ...]
    demo: tuple[str, ...]
    seeds: tuple[int, ...]
    mode: str
    profile: str
    auxiliary: str | None

    @property
    def digest(self) -> str:
        """Short, and another for every other identity."""
        return digest_of(self)


def identity_of(experiment: Experiment, inputs: Inputs, *, settings: StageSettings, seats: Seats) -> RunIdentity:
    """What makes two runs the same; pace, prices and the place of the run do not matter."""
    languages = languages_of(inputs)
    told = settings_told(settings)
    auxiliary = None
    if experiment.pipeline.aux_hf_enabled:
        auxiliary = f"{experiment.pipeline.aux_hf_checkpoint} {experiment.pipeline.aux_hf_id2label}"
    return RunIdentity(
        hallumeter=version("hallumeter"),
        inputs=tuple(file.sha256 or "" for file in inputs.files),
        sentences=_hash(inputs.sentences),
        agents=tuple(f"{role}={spec}" for role, spec in seats.specs.items()),
        prompts=tuple(f"{name}={digest[:12]}" for name, digest in prompt_files(experiment, languages)),
        readers=tuple(f"{language}={reader_for(language).version}" for language in languages),
        switches=told["switches"],
        override=told["override"],
        mapping=told["mapping"],
        patterns=told["patterns"],
        demo=tuple(f"{name}={value}" for name, value in structs.asdict(experiment.demo).items()),
        seeds=experiment.seeds,
        mode=experiment.mode,
        profile=experiment.profile,
        auxiliary=auxiliary,
    )


def configuration_hash(settings: StageSettings, seats: Seats) -> str:
    """Of all that decides what becomes of a sentence: switches, thresholds, patterns, and who sits in which role."""
    return _hash([settings_told(settings), settings.mode, settings.profile, list(seats.specs.items())])


def manifest_of(
    identity: RunIdentity, experiment: Experiment, *, files: tuple[InputFile, ...], instrument: str, started: datetime
) -> Manifest:
    """What a run says of itself."""
    plain = {name: _plain(value) for name, value in structs.asdict(identity).items() if name not in _ELSEWHERE}
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=identity.hallumeter,
        instrument=instrument,
        inputs=files,
        settings={"identity": identity.digest, **plain, "budget_usd": experiment.budget},
        seed=identity.seeds[0],
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def languages_of(inputs: Inputs) -> tuple[str, ...]:
    """Of the sentences, in alphabetical order."""
    return tuple(sorted({sentence.language for sentence in inputs.sentences}))


_ELSEWHERE = ("hallumeter", "inputs")
"""What a manifest has fields of its own for."""


def _plain(value: str | tuple[object, ...] | None) -> str | list[str] | None:
    return [str(each) for each in value] if isinstance(value, tuple) else value


def settings_told(settings: StageSettings) -> dict[str, tuple[str, ...]]:
    """Switches, thresholds and patterns, a line for each."""
    patterns = {language: _hash(own) for language, own in sorted(settings.patterns.items())}
    parts: dict[str, dict[str, object]] = {
        "switches": structs.asdict(settings.switches),
        "override": structs.asdict(settings.override),
        "mapping": structs.asdict(settings.mapping),
        "patterns": {**patterns},
    }
    return {part: tuple(f"{name}={value}" for name, value in own.items()) for part, own in parts.items()}


def _hash(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:12]
