"""The texts of metrics that a document holds in English, in the language of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.records import MetricSummary, Ranking
from hallumeter.records.pairing import ModeDifference
from hallumeter.report.document import MetricText, RecordSection
from hallumeter.report.languages.catalogue import ENGLISH
from hallumeter.report.languages.speaking import say, spoken
from hallumeter.report.transcripts.sections import PageSection, RankingColumn, ReadingSection

if TYPE_CHECKING:
    from hallumeter.report.document import Document

T = TypeVar("T")
S = TypeVar("S", bound=Struct)
_TEXTS: dict[type[Struct], tuple[str, ...]] = {
    MetricText: ("alias", "name", "question"),
    RankingColumn: ("heading", "name", "question"),
    MetricSummary: ("undefined",),
    ModeDifference: ("undefined",),
    Ranking: ("undefined",),
}
"""The fields that hold a text of the catalog of metrics, or why a number is undefined."""
_WITHOUT = (RecordSection, PageSection, ReadingSection)
"""What holds no metrics, and is large."""


def with_metric_words(document: Document) -> Document:
    """The document as a reader of this language sees it; a document of its own is always in English."""
    return document if spoken() == ENGLISH else _told(document)


def _told(value: T) -> T:
    """The same with every text of a metric said, however deep it lies."""
    if isinstance(value, _WITHOUT):
        return value
    if isinstance(value, tuple):
        return type(value)(_told(part) for part in value)
    if isinstance(value, dict):
        return type(value)((name, _told(part)) for name, part in value.items())
    return _told_struct(value) if isinstance(value, Struct) else value


def _told_struct(value: S) -> S:
    texts = _TEXTS.get(type(value), ())
    changed = {}
    for name in value.__struct_fields__:
        old = getattr(value, name)
        new = say(old) if name in texts and old else _told(old)
        if new is not old:
            changed[name] = new
    return replace(value, **changed) if changed else value
