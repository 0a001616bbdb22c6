"""Extractors by the names that users type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import SettingsError

from .atomic_facts import FactExtractor
from .statements import ClauseExtractor, SentenceExtractor

if TYPE_CHECKING:
    from hallumeter.providers.language_models.protocol import Provider

    from .protocol import Extractor

EXTRACTORS = ("sentences", "clauses", "llm")


def extractor_named(name: str, *, provider: Provider | None = None) -> Extractor:
    """The extractor of a name; `llm` needs the language model that is to be asked.

    >>> extractor_named("sentences").name
    'sentences'
    """
    if name == "sentences":
        return SentenceExtractor()
    if name == "clauses":
        return ClauseExtractor()
    if name != "llm":
        raise SettingsError(f"there is no extractor {name!r}; choose from {', '.join(EXTRACTORS)}")
    if provider is None:
        raise SettingsError("the extractor 'llm' asks a language model; name one, such as openai:gpt-4o-mini")
    return FactExtractor(provider)
