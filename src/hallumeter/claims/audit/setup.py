"""Everything that judges work with in an audit, made from its settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.claims.extractors.by_name import extractor_named
from hallumeter.claims.judges.by_name import Panel, has_threshold, is_language_model, judge_named
from hallumeter.claims.samples import JudgeEquivalence, VectorEquivalence
from hallumeter.errors import SettingsError
from hallumeter.models.prices import Spending
from hallumeter.records.judging import CalibratedJudge
from hallumeter.run.paced_models import PRICE_OPTION, PacedModels
from hallumeter.run.sharing import shared_replies
from hallumeter.run.verdict_cache import Replies, VerdictCache

from .judging import JudgeWorker

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from hallumeter.claims.extractors.protocol import Extractor
    from hallumeter.claims.retrieval.search import KnowledgeBase
    from hallumeter.claims.samples import Equivalence
    from hallumeter.claims.settings import AuditSettings, OperatingPoint
    from hallumeter.models.protocol import Provider
    from hallumeter.records.judging import Judge
    from hallumeter.run.progress import ProgressListener

    ProviderMaker = Callable[[str], Provider]


VECTORS = "vectors"
MOST_SKIPPED = 10
"""Files of a knowledge base that are named when they cannot be used."""


class JudgeSetup(Struct, frozen=True):
    """Judges, extractor, evidence, cache and spending of an audit."""

    judges: tuple[Judge, ...]
    extractor: Extractor
    knowledge_base: KnowledgeBase | None
    equivalence: Equivalence | None
    cache: Replies | None
    spending: Spending
    models: PacedModels

    def judge_workers(self, *, is_strict: bool) -> tuple[JudgeWorker, ...]:
        """Every judge, ready to work; only what a remote judge said is worth a place in the cache."""
        return tuple(
            JudgeWorker(number, judge, self.cache if judge.spec.is_remote else None, is_strict=is_strict)
            for number, judge in enumerate(self.judges)
        )

    @property
    def calibrated(self) -> tuple[CalibratedJudge, ...]:
        """The judges that say by which threshold and calibration they decide."""
        return tuple(judge for judge in self.judges if isinstance(judge, CalibratedJudge))

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong with the cache, the knowledge base and the settings of language models, a line each."""
        base = self.knowledge_base
        skipped = () if base is None else base.skipped
        lines = [f"{each.place}: not looked up: {each.reason}" for each in skipped[:MOST_SKIPPED]]
        if len(skipped) > MOST_SKIPPED:
            lines.append(f"... and {len(skipped) - MOST_SKIPPED:,} more that are not looked up")
        others = [None if base is None else base.trouble, None if self.cache is None else self.cache.trouble]
        return (*lines, *filter(None, others), *self.models.troubles)


def judge_setup(
    settings: AuditSettings, *, stop: Event, progress: ProgressListener, spending: Spending | None = None
) -> JudgeSetup:
    """Make everything that the settings name."""
    check_threshold_is_used(settings)
    spending = spending or Spending(settings.budget_usd)
    models = PacedModels(settings.prices, spending=spending, stop=stop, advice=PRICE_OPTION)
    provider_of = partial(models.named, pace=settings.pace, connections=settings.concurrency)
    judges = Panel(tuple(made_judge(given, settings, provider_of) for given in settings.judges)).judges
    return JudgeSetup(
        judges=judges,
        extractor=_extractor(settings, provider_of),
        knowledge_base=opened_knowledge_base(settings, progress),
        equivalence=_equivalence(settings, provider_of),
        cache=opened_cache(settings) if any(judge.spec.is_remote for judge in judges) else None,
        spending=spending,
        models=models,
    )


def made_judge(given: str | Judge, settings: AuditSettings, provider_of: ProviderMaker) -> Judge:
    """The judge that was given, by name or as itself."""
    if not isinstance(given, str):
        return given
    return judge_named(
        given,
        provider_of=provider_of,
        settings=settings.language_model,
        preset=settings.preset,
        threshold=settings.threshold,
    )


def check_threshold_is_used(settings: AuditSettings) -> None:
    """Refuse a preset or threshold when no judge that was named draws a line on its probability."""
    if settings.preset is None and settings.threshold is None:
        return
    if not any(isinstance(judge, str) and has_threshold(judge) for judge in settings.judges):
        names = [judge if isinstance(judge, str) else judge.spec.name for judge in settings.judges]
        raise SettingsError(f"preset and threshold are for the embedded judge; {', '.join(names)} cannot use them")


def check_calibrated_judge(point: OperatingPoint, settings: AuditSettings) -> None:
    """Refuse a threshold that was found for a judge who does not judge here: its probabilities mean something else."""
    named = [judge for judge in settings.judges if isinstance(judge, str) and has_threshold(judge)]
    names = [judge_named(judge, provider_of=_no_provider).spec.name for judge in named]
    if point.judge not in names:
        judged = ", ".join(names or [str(judge) for judge in settings.judges])
        raise SettingsError(f"the calibration is for the judge {point.judge}, and these are judged by {judged}")


def _no_provider(text: str) -> Provider:
    raise SettingsError(f"{text} is a language model")


def language_model_of_extractor(settings: AuditSettings) -> str | None:
    """The name of the language model that finds the claims; None when they are found in another way."""
    if not isinstance(settings.extractor, str):
        return None
    name, _, model = settings.extractor.partition(":")
    if name != "llm" or model:
        return model or None
    for judge in settings.judges:
        if isinstance(judge, str) and is_language_model(judge):
            return judge
    raise SettingsError("no judge is a language model; name one for the extractor: --extractor llm:openai:MODEL")


def opened_cache(settings: AuditSettings) -> Replies | None:
    """The verdict cache, if there is to be one: that of all workers where they share a ledger."""
    if settings.cache is None:
        return None
    return shared_replies() or VerdictCache.in_folder(settings.cache)


def _extractor(settings: AuditSettings, provider_of: ProviderMaker) -> Extractor:
    if not isinstance(settings.extractor, str):
        return settings.extractor
    model = language_model_of_extractor(settings)
    if model is None:
        return extractor_named(settings.extractor)
    return extractor_named("llm", provider=provider_of(model))


def opened_knowledge_base(settings: AuditSettings, progress: ProgressListener) -> KnowledgeBase | None:
    """The texts in which evidence is looked up, if there are any."""
    if settings.knowledge_base is None:
        return None
    from hallumeter.claims.retrieval.search import open_knowledge_base

    seen = 0

    def count(done: int, total: int) -> None:
        nonlocal seen
        if not seen:
            progress.begin(f"indexing {settings.knowledge_base}", total=total)
        progress.done(done - seen)
        seen = done

    return open_knowledge_base(settings.knowledge_base, cache=settings.cache, progress=count)


def _equivalence(settings: AuditSettings, provider_of: ProviderMaker) -> Equivalence | None:
    if settings.samples is None:
        return None
    if settings.samples == VECTORS:
        return VectorEquivalence()
    return JudgeEquivalence(made_judge(settings.samples, settings, provider_of))
