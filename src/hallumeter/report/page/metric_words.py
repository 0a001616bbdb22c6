"""The texts of metrics that a document holds in English, in the language of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.records import MetricSummary, Ranking
from hallumeter.records.pairing import ModeDifference
from hallumeter.report.dialogue.sections import DifferenceSection, ScoreSection
from hallumeter.report.document import MetricText, RecordSection
from hallumeter.report.languages.catalogue import ENGLISH
from hallumeter.report.languages.speaking import say, speaking, spoken
from hallumeter.report.transcripts.sections import PageSection, RankingColumn, ReadingSection
from hallumeter.report.wording import INSTRUMENT_WORDS, title_words

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
    DifferenceSection: ("names",),
    ScoreSection: ("names",),
}
"""The fields that hold a text of the catalog of metrics, or why a number is undefined."""
_WITHOUT = (RecordSection, PageSection, ReadingSection)
"""What holds no metrics, and is large."""


def with_metric_words(document: Document) -> Document:
    """The document as a reader of this language sees it; a document of its own is always in English."""
    if spoken() == ENGLISH:
        return document
    return replace(_told(document), title=_title(document))


def _title(document: Document) -> str:
    """The title that a run has by itself, in this language; another is the choice of whoever gave it."""
    files = [file.name for file in document.provenance.inputs]
    with speaking(ENGLISH):
        usual = {title_words(instrument, files): instrument for instrument in INSTRUMENT_WORDS}
    return title_words(usual[document.title], files) if document.title in usual else document.title


def _told(value: T) -> T:
    """The same with every text of a metric said, however deep it lies."""
    if isinstance(value, _WITHOUT):
        return value
    if isinstance(value, tuple):
        return type(value)(_told(part) for part in value)
    if isinstance(value, dict):
        return type(value)((name, _told(part)) for name, part in value.items())
    return _told_struct(value) if isinstance(value, Struct) else value


def _said(text: T) -> T:
    """A text, or the texts of a dictionary, said; None stays None."""
    if isinstance(text, dict):
        return type(text)((name, say(part)) for name, part in text.items())
    return type(text)(say(text)) if isinstance(text, str) else text


def _told_struct(value: S) -> S:
    texts = _TEXTS.get(type(value), ())
    changed = {}
    for name in value.__struct_fields__:
        old = getattr(value, name)
        new = _said(old) if name in texts else _told(old)
        if new is not old:
            changed[name] = new
    return replace(value, **changed) if changed else value
