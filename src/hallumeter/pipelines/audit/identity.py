"""What makes two audits the same, so that one can go on where the other stopped, and what a manifest tells of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import SettingsError
from hallumeter.policy import HALLUMETER, JUDGE_AUDITOR
from hallumeter.records import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hallumeter.policy import Policy

    from .equipment import Equipment
    from .settings import AuditSettings

INSTRUMENT = "audit"


class AuditIdentity(Struct, frozen=True):
    """Everything that decides what is judged by whom."""

    hallumeter: str
    """The version."""
    inputs: tuple[InputFile, ...]
    extractor: str
    judges: tuple[JudgeEntry, ...]
    limit: int | None
    sample: int | None
    seed: int
    evidence: str | None
    """The contents of the knowledge base, as a hash."""
    passages_per_claim: int | None
    samples: str | None

    @property
    def evidence_settings(self) -> tuple[tuple[str, str], ...]:
        """What signatures state of the knowledge base."""
        return () if self.evidence is None else (("evidence", f"{self.evidence[:12]}-{self.passages_per_claim}"),)

    def check_same(self, other: AuditIdentity) -> None:
        """Refuse to go on with a run that was begun with something else."""
        for name in self.__struct_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise SettingsError(
                    f"the run was begun with {name.replace('_', ' ')} {_shown(mine)}, now it is {_shown(theirs)}; "
                    "give what it was begun with, or another --out"
                )


def identity_of(
    equipment: Equipment, settings: AuditSettings, *, inputs: tuple[InputFile, ...], version: str
) -> AuditIdentity:
    """The identity of an audit with these inputs and this equipment."""
    base = equipment.knowledge_base
    return AuditIdentity(
        hallumeter=version,
        inputs=inputs,
        extractor=equipment.extractor.name,
        judges=tuple(JudgeEntry(judge.spec.name, str(judge.spec)) for judge in equipment.judges),
        limit=settings.limit,
        sample=settings.sample,
        seed=settings.measure.seed,
        evidence=None if base is None else base.digest,
        passages_per_claim=None if base is None else settings.passages_per_claim,
        samples=None if equipment.equivalence is None else equipment.equivalence.name,
    )


def manifest_of(identity: AuditIdentity, settings: AuditSettings, *, records: Mapping[str, int]) -> Manifest:
    """What a run of an audit says of itself, but for the times; `records` counts those of each input."""
    measure = settings.measure
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=identity.hallumeter,
        instrument=INSTRUMENT,
        inputs=tuple(structs.replace(file, records=records.get(file.name, 0)) for file in identity.inputs),
        settings={
            "extractor": identity.extractor,
            "limit": settings.limit,
            "sample": settings.sample,
            "knowledge_base": identity.evidence,
            "passages_per_claim": identity.passages_per_claim,
            "samples": identity.samples,
            "budget_usd": settings.budget_usd,
            "by": list(measure.by),
            "consensus": measure.consensus,
            "headline": measure.headline,
            "uncertainty": measure.uncertainty,
            "similarity": measure.similarity,
            "cluster": measure.cluster,
            "resamples": measure.resamples,
            "confidence": measure.confidence,
            "policies": [_told(policy) for policy in measure.policies],
        },
        judges=identity.judges,
        seed=identity.seed,
    )


def _told(policy: Policy) -> str:
    """A policy by its name; one of the user's own with a hash of its rules, which may change under the same name."""
    if policy in (HALLUMETER, JUDGE_AUDITOR):
        return policy.name
    return f"{policy.name}-{hashlib.blake2b(msgspec.json.encode(policy.rules), digest_size=4).hexdigest()}"


def check_same_run(folder: Path, finished: Manifest, wanted: Manifest) -> None:
    """Refuse to take a finished run for what is wanted when it was made from something else."""
    was, now = _deciding(finished), _deciding(wanted)
    for name, value in now.items():
        if was.get(name) != value:
            raise SettingsError(
                f"{folder}: holds a finished audit with {name.replace('_', ' ')} {_shown(was.get(name))}, now it is "
                f"{_shown(value)}; choose another folder, or remove it first"
            )


def _deciding(manifest: Manifest) -> dict[str, object]:
    """What decides the numbers of a finished run; the budget does not, for it was not reached."""
    told: dict[str, object] = {
        "hallumeter": manifest.hallumeter,
        "inputs": tuple(structs.replace(file, records=0) for file in manifest.inputs),
        "judges": manifest.judges,
        "seed": manifest.seed,
    }
    return told | {name: value for name, value in manifest.settings.items() if name != "budget_usd"}


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(_shown(item) for item in value) or "none"
    if isinstance(value, InputFile):
        return f"{value.name} ({(value.sha256 or 'unknown')[:8]})"
    if isinstance(value, JudgeEntry):
        return value.spec
    return str(value)
