"""Everything that an audit works with, made from its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.extractors import extractor_named
from hallumeter.judges import Panel, is_language_model, judge_named
from hallumeter.pipelines.samples import JudgeEquivalence, VectorEquivalence
from hallumeter.providers.language_models import price_of, provider_named
from hallumeter.retrieval import open_knowledge_base
from hallumeter.runner import PacedProvider, Spending, Waiting
from hallumeter.store import VerdictCache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    from hallumeter.extractors import Extractor
    from hallumeter.judges import Judge
    from hallumeter.pipelines.samples import Equivalence
    from hallumeter.providers.language_models import Price, Provider, ProviderSpec
    from hallumeter.retrieval import KnowledgeBase
    from hallumeter.runner import Watch

    from .settings import AuditSettings

VECTORS = "vectors"
MOST_SKIPPED = 10
"""Files of a knowledge base that are named when they cannot be used."""


class Equipment(Struct, frozen=True):
    """Judges, extractor, evidence and means of an audit."""

    judges: tuple[Judge, ...]
    extractor: Extractor
    knowledge_base: KnowledgeBase | None
    equivalence: Equivalence | None
    cache: VerdictCache | None
    spending: Spending
    providers: Providers

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong with the cache, the knowledge base and the settings of language models, a line each."""
        base = self.knowledge_base
        skipped = () if base is None else base.skipped
        lines = [f"{each.place}: not looked up: {each.reason}" for each in skipped[:MOST_SKIPPED]]
        if len(skipped) > MOST_SKIPPED:
            lines.append(f"... and {len(skipped) - MOST_SKIPPED:,} more that are not looked up")
        others = [None if base is None else base.trouble, None if self.cache is None else self.cache.trouble]
        return (*lines, *filter(None, others), *self.providers.refusals)


class Providers:
    """Language models by name: each is made once, with its pace, its price and the common purse."""

    def __init__(self, settings: AuditSettings, spending: Spending, stop: Event) -> None:
        self._settings = settings
        self._spending = spending
        self._stop = stop
        self._made: dict[str, PacedProvider] = {}

    def __call__(self, name: str) -> Provider:
        """The language model that a user calls by this name."""
        if name not in self._made:
            settings = self._settings
            provider = provider_named(
                name, timeout_seconds=settings.pace.timeout_seconds, connections=settings.concurrency
            )
            self._made[name] = PacedProvider(
                provider,
                pace=settings.pace,
                spending=self._spending,
                price=self._price(name, provider),
                waiting=Waiting(self._stop),
            )
        return self._made[name]

    @property
    def refusals(self) -> Iterator[str]:
        """Which settings the models did not take, a line for each model."""
        for name, provider in self._made.items():
            if provider.left_out:
                yield f"{name} does not take {', '.join(provider.left_out)}"

    def _price(self, name: str, provider: Provider) -> Price | None:
        price = price_for(provider.spec, self._settings)
        if price is None and self._settings.budget_usd is not None:
            raise SettingsError(
                f"the price of {name} is not known, so a budget cannot be kept; say what a million tokens cost, in and "
                f"out, with --price {name}=0.15/0.60"
            )
        return price


def price_for(spec: ProviderSpec, settings: AuditSettings) -> Price | None:
    """What the user says of a language model, under its whole name or its model's, else what the table says."""
    return settings.prices.get(spec.name) or settings.prices.get(spec.model) or price_of(spec)


def equipment_for(settings: AuditSettings, *, stop: Event, watch: Watch) -> Equipment:
    """Make everything that the settings name."""
    spending = Spending(settings.budget_usd)
    providers = Providers(settings, spending, stop)
    judges = Panel(tuple(made_judge(given, settings, providers) for given in settings.judges)).judges
    return Equipment(
        judges=judges,
        extractor=_extractor(settings, providers),
        knowledge_base=opened_knowledge_base(settings, watch),
        equivalence=_equivalence(settings, providers),
        cache=opened_cache(settings) if any(judge.spec.is_remote for judge in judges) else None,
        spending=spending,
        providers=providers,
    )


def made_judge(given: str | Judge, settings: AuditSettings, providers: Providers) -> Judge:
    """The judge that was given, by name or as itself."""
    if not isinstance(given, str):
        return given
    return judge_named(given, provider_of=providers, settings=settings.language_model)


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


def opened_cache(settings: AuditSettings) -> VerdictCache | None:
    """The verdict cache, if there is to be one."""
    return None if settings.cache is None else VerdictCache.in_folder(settings.cache)


def _extractor(settings: AuditSettings, providers: Providers) -> Extractor:
    if not isinstance(settings.extractor, str):
        return settings.extractor
    model = language_model_of_extractor(settings)
    if model is None:
        return extractor_named(settings.extractor)
    return extractor_named("llm", provider=providers(model))


def opened_knowledge_base(settings: AuditSettings, watch: Watch) -> KnowledgeBase | None:
    """The texts in which evidence is looked up, if there are any."""
    if settings.knowledge_base is None:
        return None
    seen = 0

    def count(done: int, total: int) -> None:
        nonlocal seen
        if not seen:
            watch.begin(f"indexing {settings.knowledge_base}", total=total)
        watch.done(done - seen)
        seen = done

    return open_knowledge_base(settings.knowledge_base, cache=settings.cache, watch=count)


def _equivalence(settings: AuditSettings, providers: Providers) -> Equivalence | None:
    if settings.samples is None:
        return None
    if settings.samples == VECTORS:
        return VectorEquivalence()
    return JudgeEquivalence(made_judge(settings.samples, settings, providers))
