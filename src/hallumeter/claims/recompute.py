"""The numbers of a run of claims once more, from its records, claims, verdicts and failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec import structs

from hallumeter.errors import InputError
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.records.claim import Failure, Finding, Verdict
from hallumeter.records.judging import CalibratedJudge, JudgeTask
from hallumeter.records.manifest import Manifest
from hallumeter.records.response import Response
from hallumeter.run.run_folder import MEASUREMENTS, SUMMARY, RunFolder, write_json

from .audit.entries import Prepared
from .audit.finishing import VerdictTable
from .judges.embedded.judge import EmbeddedJudge
from .measure.commands import counts_of
from .measure.counts import count, record_measurements
from .partial import ClaimsPartial
from .profiles import HALLUMETER, JUDGE_AUDITOR
from .samples import SampleReader, SampleTable
from .settings import MeasureSettings

_TOKENS = SampleReader(None)
_SETTINGS = ("consensus", "headline", "uncertainty", "similarity", "cluster", "resamples", "confidence")
_POLICIES = {policy.name: policy for policy in (HALLUMETER, JUDGE_AUDITOR)}


def recompute(run: Path, into: Path) -> dict[str, str]:
    """Write summary and measurements of a run into a folder, as its other files say; what cannot be, by topic, and why.

    No judge is asked. A judge that ships and calibrates its probabilities by the kind of a text tells that kind again.
    """
    folder = RunFolder(run)
    manifest = folder.manifest
    settings = _settings(manifest)
    calibrated = _calibrated(manifest)
    failures = list(folder.failures())
    broken: dict[tuple[str | None, str], list[Failure]] = {}
    for failure in failures:
        if failure.claim_id is not None:
            broken.setdefault((failure.record_id, failure.claim_id), []).append(failure)
    table = VerdictTable(settings, [judge.name for judge in manifest.judges])
    samples, verdicts = SampleTable(settings, None), 0
    compares_samples = manifest.settings.get("samples") is not None
    for response, findings in folder.findings():
        said = list(_said(findings, broken))
        verdicts += sum(isinstance(each, Verdict) for each in said)
        record = Prepared(response, tuple(each.claim for each in findings), _source_id(response))
        table.add(record, said, _kinds(calibrated, response, findings))
        if not compares_samples and manifest.instrument == "audit" and _TOKENS.has_work(response):
            samples.add(response, _TOKENS.read(response))
    measured = count(table.build(calibrated), settings)
    numbers = settings.numbers(manifest.hallumeter)
    counts = structs.replace(counts_of(measured, failures=len(failures)), verdicts=verdicts)
    partial = ClaimsPartial.of(measured, settings, numbers, instrument=manifest.instrument, counts=counts)
    if manifest.judges:
        summary = structs.replace(partial, samples=samples.tally()).summary()
    else:
        summary = structs.replace(partial.summary(), metrics=tuple(samples.tally().rows(settings.by, numbers)))
    write_json(into / SUMMARY, structs.replace(summary, notices=()))
    write_jsonl(into / MEASUREMENTS, chain(record_measurements(measured), samples.measurements()))
    return dict(_missing(manifest, compares_samples=compares_samples))


def _missing(manifest: Manifest, *, compares_samples: bool) -> Iterator[tuple[str, str]]:
    if compares_samples:
        yield "samples", "how sampled answers compare is not kept in a run"
    if manifest.instrument == "ingest":
        yield "scores", "scores that another tool computed are taken as they are"
    policies = manifest.settings.get("policies")
    if isinstance(policies, list) and not set(policies) <= set(_POLICIES):
        yield "profile", "the rules of your own policy are not kept in a run"


def _settings(manifest: Manifest) -> MeasureSettings:
    """The settings that a run was measured with, as its manifest states them."""
    stated = manifest.settings
    given = {name: stated[name] for name in _SETTINGS if name in stated}
    by, named = stated.get("by"), stated.get("policies")
    policies = (
        [_POLICIES[name] for name in named if name in _POLICIES] if isinstance(named, list) else _POLICIES.values()
    )
    fields = tuple(by) if isinstance(by, list) else ()
    try:
        return MeasureSettings(by=fields, seed=manifest.seed, policies=tuple(policies), **given)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"the settings of the run cannot be understood ({error})") from error


def _said(
    findings: Sequence[Finding], broken: Mapping[tuple[str | None, str], Sequence[Failure]]
) -> Iterator[Verdict | Failure]:
    """What was said of the claims of a record, and what broke."""
    for finding in findings:
        yield from finding.verdicts
        yield from broken.get((finding.claim.record_id, finding.claim.claim_id), ())


def _source_id(response: Response) -> str:
    """The id of the record in the input: responses of several models to one question are named after both."""
    question = response.fields.get("question_id")
    is_renamed = response.model is not None and response.record_id.startswith(f"{question}@{response.model}")
    return str(question) if question is not None and is_renamed else response.record_id


def _calibrated(manifest: Manifest) -> list[CalibratedJudge]:
    """Judges of the run that ship and say how they calibrate; nothing that a run names is loaded for it."""
    names = {judge.name for judge in manifest.judges}
    if manifest.instrument != "audit" or not any(name.startswith("embedded:") for name in names):
        return []
    judge = EmbeddedJudge()
    return [judge] if judge.spec.name in names else []


def _kinds(
    calibrated: Sequence[CalibratedJudge], response: Response, findings: Sequence[Finding]
) -> dict[str, str | None]:
    claims = tuple(finding.claim for finding in findings)
    return {
        judge.spec.name: judge.kind_of(JudgeTask(response, claims)) for judge in calibrated if claims and judge.refits
    }
