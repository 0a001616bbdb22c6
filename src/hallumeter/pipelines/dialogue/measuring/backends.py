"""The equipment that settings ask for: the lexicon and the rules, and whatever is put in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import SettingsError
from hallumeter.judges import judge_named
from hallumeter.judges.clinical.opinions import Opinions
from hallumeter.judges.clinical.settings import load_settings
from hallumeter.judges.function import function_named
from hallumeter.providers.language_models import price_of, provider_named
from hallumeter.runner import PacedProvider, PaceSettings

from .equipment import Equipment
from .stand_ins import VectorUse

if TYPE_CHECKING:
    from hallumeter.judges.clinical.opinions import MentionReader
    from hallumeter.providers.language_models import Provider

    from .settings import DialogueSettings

CONCURRENCY = 8
"""Patients that are measured at once when a language model is asked about them."""


def equipment_for(settings: DialogueSettings) -> Equipment:
    """Make everything that the settings name."""
    judge = None if settings.judge is None else judge_named(settings.judge, provider_of=_provider)
    indirect = VectorUse() if settings.is_indirect_by_vectors else None
    opinions = Opinions(judge, indirect) if judge is not None or indirect is not None else None
    return Equipment(load_settings(settings.config), reader=_reader(settings.reader), opinions=opinions)


def _provider(name: str) -> Provider:
    pace = PaceSettings()
    provider = provider_named(name, timeout_seconds=pace.timeout_seconds, connections=CONCURRENCY)
    return PacedProvider(provider, pace=pace, price=price_of(provider.spec))


def _reader(name: str | None) -> MentionReader | None:
    """A reader of another kind, made by a function that the user names."""
    if name is None:
        return None
    make = function_named(name)
    try:
        made: object = make()
    except TypeError as error:
        raise SettingsError(f"{name} makes no reader of mentions without arguments ({error})") from error
    if not hasattr(made, "read"):
        raise SettingsError(f"{name} made no reader of mentions; it needs a method read(text)")
    return made
