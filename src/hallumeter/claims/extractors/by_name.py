"""Extractors by the names that users type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter import plugins
from hallumeter.errors import SettingsError

from .statements import ClauseExtractor, SentenceExtractor

if TYPE_CHECKING:
    from hallumeter.models.protocol import Provider

    from .protocol import Extractor


EXTRACTORS = ("sentences", "clauses", "llm")
"""Our own; other packages add names, alone or as ``name:argument``, by the entry point of their extractors."""
EXTRACTOR_GROUP = "hallumeter.extractors"


def extractor_named(name: str, *, provider: Provider | None = None) -> Extractor:
    """The extractor of a name; `llm` needs the language model that is to be asked.

    Raises:
        SettingsError: There is no such extractor, or no language model for it.

    >>> extractor_named("sentences").name
    'sentences'
    """
    if name == "sentences":
        return SentenceExtractor()
    if name == "clauses":
        return ClauseExtractor()
    if name == "llm":
        if provider is None:
            raise SettingsError("the extractor 'llm' asks a language model; name one, such as openai:gpt-4o-mini")
        from .atomic_facts import FactExtractor

        return FactExtractor(provider)
    kind, _, argument = name.partition(":")
    known = plugins.found(EXTRACTOR_GROUP, ours=EXTRACTORS)
    if kind not in known:
        raise SettingsError(f"there is no extractor {name!r}; choose from {', '.join([*EXTRACTORS, *sorted(known)])}")
    return _brought(known[kind], argument)


def _brought(plugin: plugins.Plugin, argument: str) -> Extractor:
    """An extractor of another package; it is made with what stands after the colon, if anything does."""
    extractor: Extractor = plugin(argument) if argument else plugin()
    if not all(hasattr(extractor, part) for part in ("extract", "name", "is_remote")):
        raise SettingsError(
            f"the plugin {plugin.name!r} of {plugin.package} made no extractor; it needs extract(), name and is_remote"
        )
    return extractor
