"""The sections of a report that only transcriptions have."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from hallumeter.records import Direction, FieldValue, Label, MetricSummary, PageRow, Ranking


class PageCensus(Struct, frozen=True):
    """How many pages and readings a run holds, and how many of them tell nothing or less than they seem to."""

    pages: int
    engines: int
    readings: int
    """Pages times engines, as far as there is an output."""
    empty_outputs: int = 0
    """The engine wrote nothing for a page with text."""
    empty_references: int = 0
    """The ground truth is empty, so that no error rate exists."""
    undecided: int = 0
    """The witness was too poor to tell."""
    upper_bounds: int = 0
    """Long pages that were aligned by anchors: their error rates are upper bounds."""
    hallucinating: int = 0
    without_badge: int = 0
    """Readings of which it could not be told whether they hallucinate, empty outputs among them."""


class RankingColumn(Struct, frozen=True):
    """A metric as a column of the table of engines."""

    metric: str
    heading: str
    name: str = ""
    question: str = ""
    direction: Direction = "none"
    signature: str | None = None
    """How to repeat the numbers of the column; None when no engine has one."""


class EngineRow(Struct, frozen=True):
    """An engine with its numbers."""

    engine: str
    pages: int | None
    """None when the run does not tell."""
    empty_outputs: int | None
    place: int | None
    """Position in the table; None for an engine that the ranking leaves out."""
    mean_rank: float | None
    """Over the pages that every ranked engine has read; None when there is no ranking, or not of this engine."""
    metrics: dict[str, MetricSummary] = field(default_factory=dict)
    """By the id of the metric; what an engine lacks is left out."""
    is_warned: bool = False
    """More pages hallucinate than a reader should accept."""


class RankingSection(Struct, frozen=True, tag="ranking"):
    """Engines, best first, and which of them differ."""

    census: PageCensus
    engines: tuple[EngineRow, ...]
    columns: tuple[RankingColumn, ...]
    further: tuple[RankingColumn, ...] = ()
    """Metrics of each engine that a first look does not need."""
    ranking: Ranking | None = None
    """With as many pairs as the document may hold."""
    pairs_left_out: int = 0


class PageSection(Struct, frozen=True, tag="pages"):
    """Pages in numbers, for a reader to leave some out and to look at the rest."""

    rows: tuple[PageRow, ...]
    """All of them, or all engines' readings of some pages that were drawn at random."""
    pages: int
    """Distinct pages among the rows."""
    rows_left_out: int = 0
    pages_left_out: int = 0


class StretchView(Struct, frozen=True, omit_defaults=True):
    """A stretch of a page: read, invented, repeated or left out."""

    kind: str
    words: float
    label: Label | None = None
    start: int | None = None
    """First code point in what the engine wrote; None for what it left out."""
    end: int | None = None
    reference_start: int | None = None
    """First code point in the ground truth; None for what stands nowhere in it."""
    reference_end: int | None = None
    is_moved: bool = False
    note: str | None = None


class ReadingView(Struct, frozen=True, omit_defaults=True):
    """One engine's text of one page beside the text that it was compared with."""

    record_id: str
    page: str
    engine: str
    picked: Literal["worst", "random"]
    response: str
    """Cut when it is very long."""
    response_characters: int
    """Of the whole text."""
    reference: str
    reference_characters: int
    witness: str | None = None
    """The name of the text compared with, when it is not the ground truth."""
    stretches: tuple[StretchView, ...] = ()
    row: PageRow | None = None
    fields: dict[str, FieldValue] = field(default_factory=dict)
    failures: tuple[str, ...] = ()


class ReadingSection(Struct, frozen=True, tag="readings"):
    """Pages to read, most invented and left out first."""

    readings: tuple[ReadingView, ...]
    total: int
    """Readings of the run, shown or not."""
    too_large: int = 0
    """Chosen, but left out because the document would have grown beyond its limit."""
