"""What makes two runs the same, so that one can go on where the other stopped, and what a manifest says of it."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import ClassVar

import msgspec
from msgspec import structs

from hallumeter.aspects.auxiliary import checkpoint_digest
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.settings import StageSettings
from hallumeter.records.manifest import InputFile, Manifest
from hallumeter.run.identity import RunIdentity, RunWording, manifest_of

from .experiment import Experiment
from .inputs import Inputs
from .roles import RoleAgents, prompt_files


class AspectsIdentity(RunIdentity, frozen=True):
    """Everything that decides what is asked of whom, and what code makes of it."""

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

    wording: ClassVar[RunWording] = RunWording(
        damaged="{folder}: damaged, or no run of aspects ({cause}); choose another run_id"
    )


def identity_of(
    experiment: Experiment, inputs: Inputs, *, settings: StageSettings, roles: RoleAgents
) -> AspectsIdentity:
    """What makes two runs the same; pace, prices and the place of the run do not matter."""
    languages = languages_of(inputs)
    lines = settings_lines(settings)
    auxiliary = None
    if experiment.pipeline.aux_hf_enabled:
        checkpoint = experiment.pipeline.aux_hf_checkpoint or ""
        digest = checkpoint_digest(checkpoint)
        auxiliary = f"{checkpoint} {experiment.pipeline.aux_hf_id2label}{f' sha256:{digest}' if digest else ''}"
    return AspectsIdentity(
        hallumeter=version("hallumeter"),
        inputs=tuple(file.sha256 or "" for file in inputs.files),
        sentences=_hash(inputs.sentences),
        agents=tuple(f"{role}={spec}" for role, spec in roles.specs.items()),
        prompts=tuple(f"{name}={digest[:12]}" for name, digest in prompt_files(experiment, languages)),
        readers=tuple(f"{language}={reader_for(language).version}" for language in languages),
        switches=lines["switches"],
        override=lines["override"],
        mapping=lines["mapping"],
        patterns=lines["patterns"],
        demo=tuple(f"{name}={value}" for name, value in structs.asdict(experiment.demo).items()),
        seeds=experiment.seeds,
        mode=experiment.mode,
        profile=experiment.profile,
        auxiliary=auxiliary,
    )


def configuration_hash(settings: StageSettings, roles: RoleAgents) -> str:
    """Of all that decides what becomes of a sentence: switches, thresholds, patterns, and who answers in which role."""
    return _hash([settings_lines(settings), settings.mode, settings.profile, list(roles.specs.items())])


def manifest_of_aspects(
    identity: AspectsIdentity, experiment: Experiment, *, files: tuple[InputFile, ...], instrument: str
) -> Manifest:
    """What a run says of itself, but for the times."""
    plain = {name: _plain(value) for name, value in structs.asdict(identity).items() if name not in _ELSEWHERE}
    settings = {"identity": identity.digest, **plain, "budget_usd": experiment.budget}
    return manifest_of(identity, instrument, settings, inputs=files, seed=identity.seeds[0])


def languages_of(inputs: Inputs) -> tuple[str, ...]:
    """Of the sentences, in alphabetical order."""
    return inputs.languages or tuple(sorted({sentence.language for sentence in inputs.sentences}))


_ELSEWHERE = ("hallumeter", "inputs")
"""What a manifest has fields of its own for."""


def _plain(value: str | tuple[object, ...] | None) -> str | list[str] | None:
    return [str(each) for each in value] if isinstance(value, tuple) else value


def settings_lines(settings: StageSettings) -> dict[str, tuple[str, ...]]:
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
