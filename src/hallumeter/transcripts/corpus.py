"""All pages together: rates with intervals for every engine, and which engines differ."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.records.measurement import NO_VALUE, MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rate, Rates
from hallumeter.records.response import FieldValue
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_pages, summarize_rates, summarize_value

from .catalog import ANCHORING_METRICS, READING_METRICS
from .page import MeasuredPage, record_name
from .records import PageColumns
from .settings import TranscriptSettings

PAGE, ENGINE = "page", "engine"
_BADGE_RATE = "hallucinating_page_rate"
"""The only metric that a page without a badge takes no part in."""


class Corpus:
    """Collects what was counted on every page."""

    def __init__(self, by: tuple[str, ...], *, has_one_engine: bool) -> None:
        self._by = tuple(dict.fromkeys((ENGINE, *by)))
        self.fields: dict[str, None] = {}
        """What pages can be grouped by."""
        self._has_one_engine = has_one_engine
        self._numbers = array("d")
        self._pages = array("q")
        self._groups: list[tuple[str, ...]] = []
        self._page_count = 0
        self.record_ids: list[str] = []

    def add(self, pages: tuple[MeasuredPage, ...]) -> None:
        """Take the readings of one page by all engines."""
        for page in pages:
            known = {**page.fields, PAGE: page.row.page, ENGINE: page.row.engine}
            self.fields.update(dict.fromkeys(known))
            self._numbers.extend(structs.astuple(page.counts))
            self._pages.append(self._page_count)
            self._groups.append(tuple(_named(known.get(field)) for field in self._by))
            self.record_ids.append(record_name(page.row.page, page.row.engine, has_one_engine=self._has_one_engine))
        self._page_count += 1

    def columns(self) -> PageColumns:
        """The counts of all pages and engines, in the order in which they came."""
        return PageColumns.of_numbers(np.frombuffer(self._numbers, dtype=np.float64))

    def parts(self) -> Iterator[_Part]:
        """The whole, then every engine, then every engine and group."""
        columns = self.columns()
        pages = np.array(self._pages, dtype=np.intp)
        yield _Part({}, columns, _numbered(pages))
        for depth in sorted({1, len(self._by)}):
            rows: dict[tuple[str, ...], list[int]] = {}
            for place, group in enumerate(self._groups):
                rows.setdefault(group[:depth], []).append(place)
            for key, places in rows.items():
                chosen = np.array(places, dtype=np.intp)
                yield _Part(dict(zip(self._by, key, strict=False)), columns[chosen], _numbered(pages[chosen]))


class _Part(Struct, frozen=True, eq=False):
    """Some of the readings, and which page each is of, pages numbered without a gap."""

    by: dict[str, str]
    columns: PageColumns
    pages: NDArray[np.intp]

    @property
    def is_shared(self) -> bool:
        """Whether several engines read a page: they meet the same ink, so it is one unit of resampling."""
        return len(self.pages) > int(self.pages.max(initial=-1)) + 1


def summary_rows(
    corpus: Corpus, settings: TranscriptSettings, numbers: SummarySettings, *, witness: str | None
) -> Iterator[MetricSummary]:
    """Every metric for the whole and for every engine."""
    named = [("spelling", str(settings.spelling))]
    if witness is not None:
        named.append(("witness", witness))
    metrics = (*READING_METRICS, *ANCHORING_METRICS) if settings.measures == "all" else ANCHORING_METRICS
    for part in corpus.parts():
        for metric in metrics:
            own = _own_settings(metric, settings, has_witness=witness is not None)
            undecided = _undecided(part.columns) if metric.id == _BADGE_RATE else 0
            slice_ = Slice(by=part.by, judge=None, settings=(*named, *own), undecided=undecided)
            yield _row(metric, part, slice_, numbers=numbers)


def _row(metric: Metric, part: _Part, slice_: Slice, *, numbers: SummarySettings) -> MetricSummary:
    numbers = structs.replace(numbers, cluster="page") if part.is_shared else numbers
    if metric.resample is not None:
        return summarize_pages(metric, _by_page(part), slice_, settings=numbers)
    found = metric.compute(part.columns)
    if isinstance(found, Rates):
        pooled = found.pooled_by(part.pages) if part.is_shared else found
        bounds = _bounds(found.pooled, undecided=slice_.undecided)
        return summarize_rates(metric, pooled, slice_, settings=numbers, bounds=bounds)
    return summarize_value(metric, found, slice_, settings=numbers)


def _by_page(part: _Part) -> PageColumns:
    """Counts added up over the engines of each page."""
    return PageColumns(
        {
            name: np.bincount(part.pages, column).astype(np.float64)
            for name, column in part.columns.columns.items()
            if np.isfinite(column).all()
        }
    )


def _bounds(rate: Rate, *, undecided: int) -> tuple[float, float] | None:
    """The rate if none of the undecided pages were hallucinated, and if all were; None without such pages."""
    if not undecided:
        return None
    pages = rate.total + undecided
    return rate.count / pages, (rate.count + undecided) / pages


def _undecided(columns: PageColumns) -> int:
    """Pages with output whose badge could not be given."""
    return int(((columns.column("is_decided") == 0) & (columns.column("is_empty_output") == 0)).sum())


def _own_settings(metric: Metric, settings: TranscriptSettings, *, has_witness: bool) -> tuple[tuple[str, str], ...]:
    """What the numbers of a metric depend on beside the texts and how they are spelled."""
    anchoring, pages = settings.anchoring, settings.pages
    if metric.id == _BADGE_RATE:
        own = [("badge", f"{pages.fewest_words}-words-{pages.smallest_share:g}")]
        asked, given = settings.witness, settings.witness_confidence
        if has_witness:
            trust = f"{asked.fewest_words}-words-{asked.lowest_confidence:g}-{asked.smallest_share:g}"
            own.append(("trust", f"{trust}-{asked.fewest_copies}-copies"))
        if has_witness and given is not None:
            own.append(("witness-confidence", f"{given:g}"))
        return tuple(own)
    if metric.id == "picarones_page_rate":
        return (("badge", f"n{anchoring.ngram}-{anchoring.anchor_limit:g}-{anchoring.length_ratio_limit:g}"),)
    if metric.id.startswith("anchor"):
        return (("n", str(anchoring.ngram)),)
    return ()


def _numbered(pages: NDArray[np.intp]) -> NDArray[np.intp]:
    """Pages numbered from 0: a page that has no reading here must not be drawn when pages are resampled."""
    return np.unique(pages, return_inverse=True)[1].astype(np.intp)


def _named(value: FieldValue) -> str:
    return NO_VALUE if value is None else str(value)
