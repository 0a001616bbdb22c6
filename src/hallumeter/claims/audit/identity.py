"""What makes two audits the same, so that one can go on where the other stopped, and what a manifest tells of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec import structs

from hallumeter.claims.profiles import HALLUMETER, JUDGE_AUDITOR
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest
from hallumeter.run.identity import RunIdentity, RunWording, manifest_of, shown_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hallumeter.claims.profiles import Policy
    from hallumeter.claims.settings import AuditSettings

    from .setup import JudgeSetup


INSTRUMENT = "audit"
_WORDING = RunWording(
    unfinished="{folder}: holds an audit that was not finished; go on with it by --resume",
    taken="{folder}: exists already; choose another folder with --out, or remove it first",
    unmakable="{folder}: cannot be made ({cause}); choose another folder with --out",
    foreign="{folder}: holds a run of another command, or of another version; choose another folder with --out",
    changed="the run was begun with {changes}; give what it was begun with, or another --out",
    finished="{folder}: holds a finished audit with {name} {was}, now it is {now}; choose another folder, or remove it "
    "first",
    damaged="{cause}",
    fault="{fault}; what was done is kept in {folder}: mend it and go on with --resume, in Python with out={folder!r}",
)


class AuditIdentity(RunIdentity, frozen=True):
    """Everything that decides what is judged by whom."""

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
    map: list[str] | None = None
    source_format: str | None = None

    wording: ClassVar[RunWording] = _WORDING
    makes_parents: ClassVar[bool] = False

    @property
    def evidence_settings(self) -> tuple[tuple[str, str], ...]:
        """What signatures state of the knowledge base."""
        return () if self.evidence is None else (("evidence", f"{self.evidence[:12]}-{self.passages_per_claim}"),)

    def changes(self, wanted: RunIdentity) -> Iterator[str]:
        """The first of what is wanted otherwise than the run was begun with, in words."""
        for name in self.__struct_fields__:
            was, now = getattr(self, name), getattr(wanted, name)
            if was != now:
                yield f"{name.replace('_', ' ')} {shown_value(was)}, now it is {shown_value(now)}"
                return


def identity_of(
    setup: JudgeSetup, settings: AuditSettings, *, inputs: tuple[InputFile, ...], version: str
) -> AuditIdentity:
    """The identity of an audit with these inputs and this setup."""
    base = setup.knowledge_base
    return AuditIdentity(
        hallumeter=version,
        inputs=inputs,
        extractor=setup.extractor.name,
        judges=tuple(JudgeEntry(judge.spec.name, str(judge.spec)) for judge in setup.judges),
        limit=settings.limit,
        sample=settings.sample,
        seed=settings.measure.seed,
        evidence=None if base is None else base.digest,
        passages_per_claim=None if base is None else settings.passages_per_claim,
        samples=None if setup.equivalence is None else setup.equivalence.name,
        map=settings.measure.stated_map,
        source_format=settings.measure.source_format,
    )


def manifest_of_audit(identity: AuditIdentity, settings: AuditSettings, *, records: Mapping[str, int]) -> Manifest:
    """What a run of an audit says of itself, but for the times; `records` counts those of each input."""
    measure = settings.measure
    chosen = {
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
        "policies": [_policy_name(policy) for policy in measure.policies],
    }
    if identity.map:
        chosen["map"] = identity.map
    if identity.source_format:
        chosen["source_format"] = identity.source_format
    inputs = tuple(structs.replace(file, records=records.get(file.name, 0)) for file in identity.inputs)
    return manifest_of(identity, INSTRUMENT, chosen, inputs=inputs, seed=identity.seed, judges=identity.judges)


def _policy_name(policy: Policy) -> str:
    """A policy by its name; one of the user's own with a hash of its rules, which may change under the same name."""
    if policy in (HALLUMETER, JUDGE_AUDITOR):
        return policy.name
    return f"{policy.name}-{hashlib.blake2b(msgspec.json.encode(policy.rules), digest_size=4).hexdigest()}"
