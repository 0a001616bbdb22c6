"""What an audit would take: calls, tokens and dollars, before anything is paid."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.claims.extractors.by_name import extractor_named
from hallumeter.claims.judges.by_name import judge_named
from hallumeter.claims.samples import JudgeEquivalence, SampleReader
from hallumeter.claims.settings import AuditSettings
from hallumeter.models.by_name import provider_spec
from hallumeter.models.prices import Price, Spending, estimated_tokens
from hallumeter.models.protocol import Completion, ProviderSpec, Reply, Request
from hallumeter.records.claim import Label
from hallumeter.records.judging import Judge
from hallumeter.run.context import RunContext
from hallumeter.run.journal import Journal, decoded
from hallumeter.run.paced_models import price_for
from hallumeter.run.plan import PlannedCalls, RunPlan
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import JOURNAL

from .entries import PREPARED, Prepared, claim_count
from .inputs import Inputs, opened_files
from .judging import JudgeWorker
from .prepare import Preparation, ReadingReport, prepare_records, read_records
from .setup import VECTORS, check_threshold_is_used, language_model_of_extractor, opened_cache, opened_knowledge_base

_PYTHON = "python:"
_TOKENS_OF_A_VERDICT = 12
_TOKENS_OF_A_QUOTE = 45
_SHARE_OF_FACTS = 1.0
"""Tokens that a list of facts has for each token of its response."""


def plan_audit(paths: Sequence[Path], *, settings: AuditSettings) -> RunPlan:
    """Go through an audit of some files without asking any language model."""
    with opened_files(paths) as inputs:
        return plan_inputs(inputs, settings=settings)


def plan_inputs(inputs: Inputs, *, settings: AuditSettings) -> RunPlan:
    """Go through an audit without asking any language model."""
    check_threshold_is_used(settings)
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal.create(Path(folder) / JOURNAL, settings=b"") as journal,
        opened_cache(settings) or nullcontext() as cache,
    ):
        report = read_records(inputs.sources(settings.measure.shape), journal, settings, stop=threading.Event())
        assert report is not None  # nobody has stopped it
        extraction = _planned_extraction(journal, settings, report)
        claims = sum(claim_count(entry.body) for entry in journal.entries(PREPARED))
        dry = [_dry_judge(judge, settings) for judge in settings.judges]
        asked = [(number, each) for number, each in enumerate(dry) if each is not None]
        judged = [
            each.part(
                each.judge.spec.name,
                settings,
                claims=claims,
                asked=_asked(JudgeWorker(number, each.judge, cache), journal),
            )
            for number, each in asked
        ]
        compared = _planned_samples(journal, settings)
    parts = (extraction, *judged, compared)
    planned = tuple(part for part in parts if part is not None)
    # Claims are found by rule: a language model may find other ones.
    return RunPlan(f"{report.records:,} records, {claims:,} claims", planned, counted="estimated")


class DryProvider:
    """A language model that counts what it is asked, and knows nothing."""

    def __init__(self, spec: ProviderSpec) -> None:
        self._spec = spec
        self.calls = self.input_tokens = self.claims = 0

    @property
    def spec(self) -> ProviderSpec:
        """The model that would be asked."""
        return self._spec

    def complete(self, request: Request) -> Reply:
        """Count the request; every claim in it is said to be not in the evidence."""
        self.calls += 1
        self.input_tokens += sum(estimated_tokens(message.content) for message in request.messages)
        said = _silent_reply(request)
        self.claims += len(said)
        return Reply((Completion(msgspec.json.encode(said).decode()),))


def _silent_reply(request: Request) -> dict[str, object]:
    """A reply in the form that is asked for, by which no claim is found and none is decided."""
    schema = request.reply_schema.schema if request.reply_schema else {}
    properties = schema.get("properties")
    wanted = properties.items() if isinstance(properties, dict) else ()
    return {str(name): _silent_value(form) for name, form in wanted}


def _silent_value(form: object) -> object:
    kind = form.get("type") if isinstance(form, dict) else None
    nothing = {"label": Label.NOT_ENOUGH_INFO, "evidence_id": 0, "quote": "", "note": ""}
    return {"array": [], "string": Label.NOT_ENOUGH_INFO}.get(str(kind), nothing)


def _planned_extraction(journal: Journal, settings: AuditSettings, report: ReadingReport) -> PlannedCalls | None:
    """Find claims by rule, and say what it would take to have them found by a language model."""
    model = language_model_of_extractor(settings)
    extractor = settings.extractor if model is None else "sentences"
    found = extractor_named(extractor) if isinstance(extractor, str) else extractor
    preparation = Preparation(
        found,
        report.names,
        knowledge_base=opened_knowledge_base(settings, NoProgress()),
        passages_per_claim=settings.passages_per_claim,
    )
    context = RunContext(journal, threading.Event(), NoProgress(), Spending())
    prepare_records(context, preparation, records=report.records, workers=1)
    if model is None:
        return None
    provider = DryProvider(provider_spec(model))
    facts = extractor_named("llm", provider=provider)
    output = 0
    for record in decoded((entry.body for entry in journal.entries(PREPARED)), Prepared):
        response = record.response
        output += round(estimated_tokens(response.response or "") * _SHARE_OF_FACTS)
        facts.extract(response)
    return _planned(f"extracting by {model}", provider, claims=0, asked=0, output=output, price=_price(model, settings))


def _planned(
    title: str, provider: DryProvider, *, claims: int, asked: int, output: int, price: Price | None
) -> PlannedCalls:
    """What a language model would be asked, when the cache does not know `asked` of the claims."""
    cached = claims - asked if claims else 0
    return PlannedCalls(
        name=title,
        title=title,
        calls=provider.calls,
        answered=cached,
        done=f"{cached:,} of {claims:,} claims are in the cache",
        input_tokens=provider.input_tokens,
        output_tokens=output,
        price=price,
    )


def _asked(worker: JudgeWorker, journal: Journal) -> int:
    """Let a judge that asks nobody go through its work; says how many claims the cache does not know."""
    asked = 0
    for job in worker.jobs(journal, NoProgress(), stop=threading.Event()):
        worker.judged(job)
        asked += len(job.task.claims)
    return asked


def _planned_samples(journal: Journal, settings: AuditSettings) -> PlannedCalls | None:
    """What comparing the sampled answers would take if no two of them meant the same."""
    dry = None if settings.samples is None else _dry_judge(settings.samples, settings)
    if dry is None:
        return None
    reader = SampleReader(JudgeEquivalence(dry.judge))
    for record in decoded((entry.body for entry in journal.entries(PREPARED)), Prepared):
        if reader.has_work(record.response):
            reader.read(record.response)
    return dry.part(f"comparing samples by {dry.judge.spec.name}", settings, claims=0, asked=dry.provider.calls)


class _DryJudge(Struct, frozen=True):
    """A judge that is a language model, before anybody asks it."""

    name: str
    """As the user typed it."""
    judge: Judge
    provider: DryProvider

    def part(self, title: str, settings: AuditSettings, *, claims: int, asked: int) -> PlannedCalls:
        """What it was asked so far."""
        each = _TOKENS_OF_A_QUOTE if settings.language_model.wants_quotes else _TOKENS_OF_A_VERDICT
        output = self.provider.claims * each
        return _planned(
            title, self.provider, claims=claims, asked=asked, output=output, price=_price(self.name, settings)
        )


def _dry_judge(given: str | Judge, settings: AuditSettings) -> _DryJudge | None:
    """None for a judge that is no language model, or of which nothing but itself is known; no code is imported."""
    if isinstance(given, str) and given.startswith(_PYTHON):
        return None
    made: list[DryProvider] = []

    def dry(name: str) -> DryProvider:
        made.append(DryProvider(provider_spec(name)))
        return made[-1]

    if not isinstance(given, str) or given == VECTORS:
        return None
    judge = judge_named(given, provider_of=dry, settings=settings.language_model)
    return _DryJudge(given, judge, made[0]) if made else None


def _price(name: str, settings: AuditSettings) -> Price | None:
    return price_for(provider_spec(name), settings.prices)
