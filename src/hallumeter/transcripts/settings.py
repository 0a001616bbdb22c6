"""What a measurement of transcripts depends on, beside the texts."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.records.claim import check_probability
from hallumeter.stats.summarize import check_interval_settings
from hallumeter.text.spelling import AS_WRITTEN, Spelling

from .anchoring import PICARONES, AnchoringSettings
from .pages.page_xml import PAGE_LEVELS, PageLevel
from .policy import PagePolicy, WitnessPolicy

Measures = Literal["all", "anchoring"]
RANKABLE = ("cer", "wer", "mer", "wil", "true_insertion_rate", "invented_rate", "omission_rate", "anchor_score")
"""Fields of a page by which engines can be ranked."""


class Columns(Struct, frozen=True):
    """What the columns of a table are called; None lets the usual names be tried."""

    page: str | None = None
    engine: str | None = None
    reference: str | None = None
    response: str | None = None


class TranscriptSettings(Struct, frozen=True, kw_only=True):
    """Everything that can be chosen."""

    spelling: Spelling = AS_WRITTEN
    """How texts are made alike before they are compared."""
    measures: Measures = "all"
    """`anchoring` leaves the alignment out: Picarones' metrics only, many times faster."""
    anchoring: AnchoringSettings = PICARONES
    count_notes: bool = False
    """Whether refusals, wrappers, notes and descriptions count as invented."""
    page_level: PageLevel | None = None
    """Which text of a PAGE XML file counts where regions, lines and words have one each; None is the line, or the
    region where the spelling is dinglehopper's."""
    by: tuple[str, ...] = ()
    """Fields that group pages, beside the engine."""
    rank_by: str | None = None
    """A field of a page; None is the CER, or the anchor score without an alignment."""
    columns: Columns = Columns()
    pair_by: str = "name"
    """How pages of folders find each other: by `name`, by `order`, or by a table of files, given as its path."""
    pages: PagePolicy = PagePolicy()
    witness: WitnessPolicy = WitnessPolicy()
    witness_confidence: float | None = None
    """How sure a witness is that does not say so itself; None when it is not known."""
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95
    is_strict: bool = False
    """Stop at the first file or row that cannot be used."""
    workers: int = 1
    """Processes that measure pages."""

    def __post_init__(self) -> None:
        if self.page_level not in (None, *PAGE_LEVELS):
            raise SettingsError(f"page level {self.page_level!r}: expected one of {', '.join(PAGE_LEVELS)}")
        check_probability(self.witness_confidence, "witness confidence")
        if self.ranking_metric not in RANKABLE:
            raise SettingsError(f"rank by {self.rank_by!r}: expected one of {', '.join(RANKABLE)}")
        if self.measures == "anchoring" and self.ranking_metric != "anchor_score":
            raise SettingsError(f"rank by {self.rank_by!r}: is not measured by anchoring alone; expected anchor_score")
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if self.workers < 1:
            raise SettingsError(f"workers {self.workers}: expected at least 1")

    @property
    def level(self) -> PageLevel:
        """Which text of a PAGE XML file counts."""
        return self.page_level or ("region" if self.spelling.steps == ("dinglehopper",) else "line")

    @property
    def ranking_metric(self) -> str:
        """The field of a page that engines are ranked by."""
        return self.rank_by or ("cer" if self.measures == "all" else "anchor_score")
