"""What the pages of a part of a run add up to, and the summary that comes of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import InputError, SettingsError
from hallumeter.records.measurement import NO_VALUE, SUMMARY_VERSION, Counts, MetricSummary, Summary
from hallumeter.records.metric import Metric
from hallumeter.records.page import PageRow
from hallumeter.records.ranking import Direction, Ranking
from hallumeter.records.rate import Rate, Rates
from hallumeter.run.ranking import ranking_of
from hallumeter.run.run_folder import decoded_partial, is_part, read_partial
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_pages, summarize_rates, summarize_value
from hallumeter.stats.tally import BlockCounts, RateTally

from .catalog import ANCHORING_METRICS, READING_METRICS
from .measuring import grouped_by
from .metrics import gini, mean_character_error_rate
from .records import PageColumns
from .settings import Columns, TranscriptSettings

INSTRUMENT = "transcripts"
_BADGE_RATE = "hallucinating_page_rate"
"""The only metric that a page without a badge takes no part in."""
_OF_INVENTED = ("invented_rate", "loop_rate", "number_insertion_rate", "name_insertion_rate")
"""Metrics that depend on whether remarks about the page count."""
_WORDS = ("word_hits", "strict_reference_words", "strict_response_words")
"""What the information lost on words is made of."""
_PAGES = "pages"
_GINI, _SMALLEST = "cer_gini", "anchor_min"
_NAMES_TOLD = 5


class PageGroup(Struct, frozen=True):
    """The readings of an engine, of a group, or all of them."""

    values: tuple[str, ...] = ()
    """Of the fields that the run is grouped by, the engine first; empty for all."""
    is_shared: bool = False
    """Whether several engines read a page: they meet the same ink, so it is one unit of resampling."""
    undecided: int = 0
    """Readings with output whose badge could not be given."""
    rates: dict[str, RateTally] = {}
    words: BlockCounts = BlockCounts()
    """Word counts by page, or by block of pages."""
    errors: bytes = b""
    """The character error rate of every reading, in order, 8 bytes each."""
    smallest: float | None = None
    """The anchor score of the worst page."""

    @classmethod
    def of(
        cls,
        columns: PageColumns,
        pages: NDArray[np.intp],
        *,
        hashes: NDArray[np.int64],
        metrics: Iterable[Metric],
    ) -> PageGroup:
        """Add up readings: `pages` says which of the hashed pages each is of."""
        is_shared = len(pages) > len(hashes)
        rates = {}
        for metric in metrics:
            found = metric.compute(columns) if metric.is_poolable else None
            if isinstance(found, Rates):
                rates[metric.id] = RateTally.of(found.pooled_by(pages) if is_shared else found)
        each = mean_character_error_rate(columns)
        words: dict[str, NDArray[np.float64]] = {
            name: np.bincount(pages, columns.column(name), minlength=len(hashes)).astype(np.float64) for name in _WORDS
        }
        return cls(
            is_shared=is_shared,
            undecided=_undecided(columns),
            rates={metric: tally for metric, tally in sorted(rates.items()) if tally.clusters},
            words=BlockCounts.summed(hashes, {**words, _PAGES: np.ones(len(hashes))}),
            errors=_in_order(each.counts[each.totals > 0]),
            smallest=float(columns.column("anchor_score").min()) if len(columns) else None,
        )

    def merge(self, other: PageGroup) -> PageGroup:
        """Both together."""
        rates = {
            metric: self.rates.get(metric, RateTally()).merge(other.rates.get(metric, RateTally()))
            for metric in sorted({*self.rates, *other.rates})
        }
        smallest = [score for score in (self.smallest, other.smallest) if score is not None]
        return PageGroup(
            self.values,
            self.is_shared or other.is_shared,
            self.undecided + other.undecided,
            rates,
            self.words.merge(other.words),
            _in_order(np.frombuffer(self.errors + other.errors, "<f8")),
            min(smallest, default=None),
        )


def _in_order(numbers: NDArray[np.float64]) -> bytes:
    return np.sort(numbers.astype("<f8")).tobytes()


def _undecided(columns: PageColumns) -> int:
    """Pages with output whose badge could not be given."""
    is_apart = (columns.column("is_empty_output") > 0) | (columns.column("is_refused") > 0)
    return int(((columns.column("is_decided") == 0) & ~is_apart).sum())


class TranscriptNotices(Struct, frozen=True):
    """What the notices of a summary are made of."""

    statuses: dict[str, int] = {}
    bounded: int = 0
    """Long pages that were aligned by anchors."""
    undecided: dict[str, int] = {}
    """By reason."""
    other_forms: int = 0
    files: dict[str, tuple[int, str]] = {}
    """By a notice on files: how many it is about, and the first of them by name."""
    others: tuple[str, ...] = ()

    def merge(self, other: TranscriptNotices) -> TranscriptNotices:
        """Both together."""
        files = dict(self.files)
        for notice, (number, first) in other.files.items():
            known, earlier = files.get(notice, (0, first))
            files[notice] = known + number, min(first, earlier)
        return TranscriptNotices(
            _added(self.statuses, other.statuses),
            self.bounded + other.bounded,
            _added(self.undecided, other.undecided),
            self.other_forms + other.other_forms,
            dict(sorted(files.items())),
            tuple(sorted({*self.others, *other.others})),
        )


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in sorted({*first, *second})}


class TranscriptsPartial(Struct, frozen=True, kw_only=True):
    """What the pages of a part add up to."""

    settings: TranscriptSettings
    numbers: SummarySettings
    witness: str | None
    engines: tuple[str, ...]
    counts: Counts
    groups: tuple[PageGroup, ...]
    """All readings, then those of each engine, then those of each engine and group."""
    ranked: bytes = b""
    """What engines are ranked by on every page, pages in the order of these values, 8 bytes for each engine."""
    notices: TranscriptNotices = TranscriptNotices()

    def merge(self, other: TranscriptsPartial) -> TranscriptsPartial:
        """Both parts together; all readings of a page are in one of them."""
        mine, others = ((part.settings, part.numbers, part.witness) for part in (self, other))
        if mine != others:
            raise SettingsError("parts that were measured with different settings or versions cannot be merged")
        engines = self.engines if self.engines == other.engines else tuple(sorted({*self.engines, *other.engines}))
        found: dict[tuple[str, ...], PageGroup] = {}
        for group in (*self.groups, *other.groups):
            known = found.get(group.values)
            found[group.values] = group if known is None else known.merge(group)
        first, second = self.counts, other.counts
        return TranscriptsPartial(
            settings=self.settings,
            numbers=self.numbers,
            witness=self.witness,
            engines=engines,
            counts=Counts(
                records=first.records + second.records,
                claims=first.claims + second.claims,
                verdicts=first.verdicts + second.verdicts,
                failures=first.failures + second.failures,
                judges=1,
                models=len(engines),
            ),
            groups=in_order(found.values(), engines),
            ranked=ranked_pages(np.concatenate([self._pages(engines), other._pages(engines)])),
            notices=self.notices.merge(other.notices),
        )

    def _pages(self, engines: Sequence[str]) -> NDArray[np.float64]:
        """The ranked values with a column for each of some engines; NaN where one has no value."""
        table = np.frombuffer(self.ranked, "<f8").reshape(-1, max(1, len(self.engines)))
        chosen = np.full((len(table), len(engines)), np.nan)
        for place, engine in enumerate(engines):
            if engine in self.engines:
                chosen[:, place] = table[:, self.engines.index(engine)]
        return chosen

    def to_bytes(self) -> bytes:
        """As JSON; equal partials give equal bytes."""
        return msgspec.json.encode(self)

    def summary(self) -> Summary:
        """Every metric with its interval, and the ranking of the engines."""
        if not self.counts.records and not is_part():
            raise InputError("no page could be measured")
        # Without ground truth, less disagreement with a witness is no sign of a better engine.
        ranking, left_out = self._ranking() if self.witness is None else (None, ())
        return Summary(
            version=SUMMARY_VERSION,
            instrument=INSTRUMENT,
            counts=self.counts,
            metrics=tuple(self._rows()),
            notices=tuple(_notices(self, ranking, left_out)),
            ranking=ranking,
        )

    def _rows(self) -> Iterator[MetricSummary]:
        """Every metric for the whole and for every engine."""
        settings = self.settings
        named = [("spelling", str(settings.spelling))]
        if settings.level != "line":
            # Which text of PAGE XML counts changes every number.
            named.append(("page-level", settings.level))
        if self.witness is not None:
            named.append(("witness", self.witness))
        metrics = metrics_of(settings)
        whole: list[MetricSummary] = []
        for group in self.groups:
            by = dict(zip(grouped_by(settings), group.values, strict=False))
            if whole and structs.replace(group, values=()) == self.groups[0]:
                # The only engine, or the only group: the numbers of all pages are its own.
                yield from (structs.replace(row, by=by) for row in whole)
                continue
            rows = []
            for metric in metrics:
                own = _own_settings(metric, settings, has_witness=self.witness is not None)
                undecided = group.undecided if metric.id == _BADGE_RATE else 0
                slice_ = Slice(by=by, judge=None, settings=(*named, *own), undecided=undecided)
                rows.append(_row(metric, group, slice_, numbers=self.numbers))
            whole = whole or rows
            yield from rows

    def _ranking(self) -> tuple[Ranking | None, tuple[str, ...]]:
        read = {group.values[0] for group in self.groups if group.values}
        engines = [engine for engine in self.engines if engine in read]
        return rank_engines(self._pages(engines), engines, self.settings.ranking_metric)


def metrics_of(settings: TranscriptSettings) -> tuple[Metric, ...]:
    """The metrics that are measured."""
    return (*READING_METRICS, *ANCHORING_METRICS) if settings.measures == "all" else ANCHORING_METRICS


# Which engines differ on the same pages.

HIGHER_IS_BETTER = {"anchor_score"}
FEWEST_PAGES_SHARE = 0.5
"""Engines that have read a smaller share of the pages are left out, so that they do not take the pages from all."""


def rank_engines(
    table: NDArray[np.float64], engines: Sequence[str], metric: str
) -> tuple[Ranking | None, tuple[str, ...]]:
    """The ranking of the engines, and those that have read too few pages to take part; None for one engine."""
    if len(engines) < 2 or not len(table):
        return None, ()
    takes_part = (~np.isnan(table)).sum(axis=0) >= FEWEST_PAGES_SHARE * len(table)
    kept = [name for name, is_in in zip(engines, takes_part.tolist(), strict=True) if is_in]
    left_out = tuple(name for name in engines if name not in kept)
    if len(kept) < 2:
        return None, left_out
    direction: Direction = "higher" if metric in HIGHER_IS_BETTER else "lower"
    return ranking_of(table[:, takes_part], kept, metric=metric, direction=direction), left_out


def values_by_page(rows: Iterable[PageRow], metric: str, engines: Sequence[str]) -> bytes:
    """What engines are ranked by on each page, as a partial keeps it; the rows of a page follow one another."""
    columns = {engine: place for place, engine in enumerate(engines)}
    places, values = array("l"), array("d")
    pages, page = 0, None
    for row in rows:
        pages += row.page != page
        page, value = row.page, getattr(row, metric)
        if value is not None:
            places.extend((pages - 1, columns[row.engine]))
            values.append(value)
    table = np.full((pages, len(engines)), np.nan)
    page_places, engine_places = np.array(places, dtype=np.intp).reshape(-1, 2).T
    table[page_places, engine_places] = values
    return ranked_pages(table)


def ranked_pages(table: NDArray[np.float64]) -> bytes:
    """Pages in the order of their values; those on which no engine has one are left out."""
    kept = table[~np.isnan(table).all(axis=1)] + 0.0
    return kept[np.lexsort(kept.T[::-1])].astype("<f8").tobytes() if len(kept) else b""


def in_order(groups: Iterable[PageGroup], engines: Sequence[str]) -> tuple[PageGroup, ...]:
    """All readings, then engines in their order, then groups of engines in the order of their values."""
    places = {engine: place for place, engine in enumerate(engines)}
    return tuple(
        sorted(
            groups,
            key=lambda group: (
                len(group.values),
                [places.get(engine, len(places)) for engine in group.values[:1]],
                [(value == NO_VALUE, value) for value in group.values],
            ),
        )
    )


def settings_of_numbers(settings: TranscriptSettings) -> TranscriptSettings:
    """Settings without those that change no number."""
    return structs.replace(settings, columns=Columns(), pair_by="name", is_strict=False, workers=1)


def partial_of(folder: Path) -> TranscriptsPartial:
    """The partial that a finished run has kept."""
    return partial_from_bytes(read_partial(folder))


def partial_from_bytes(data: bytes) -> TranscriptsPartial:
    """A partial as `TranscriptsPartial.to_bytes` wrote it."""
    return decoded_partial(data, TranscriptsPartial)


def _row(metric: Metric, group: PageGroup, slice_: Slice, *, numbers: SummarySettings) -> MetricSummary:
    numbers = structs.replace(numbers, cluster="page") if group.is_shared else numbers
    if metric.resample is not None:
        table = group.words.table([*_WORDS, _PAGES]).astype(np.float64)
        pages = PageColumns(dict(zip(_WORDS, table.T, strict=False)))
        return summarize_pages(metric, pages, slice_, settings=numbers)
    if metric.id == _GINI:
        return summarize_value(metric, gini(np.frombuffer(group.errors, "<f8")), slice_, settings=numbers)
    if metric.id == _SMALLEST:
        return summarize_value(metric, group.smallest, slice_, settings=numbers)
    tally = group.rates.get(metric.id, RateTally())
    bounds = _bounds(tally.pooled, undecided=slice_.undecided)
    return summarize_rates(metric, tally, slice_, settings=numbers, bounds=bounds)


def _bounds(rate: Rate, *, undecided: int) -> tuple[float, float] | None:
    """The rate if none of the undecided pages were hallucinated, and if all were; None without such pages."""
    if not undecided:
        return None
    pages = rate.total + undecided
    return rate.count / pages, (rate.count + undecided) / pages


def _own_settings(metric: Metric, settings: TranscriptSettings, *, has_witness: bool) -> tuple[tuple[str, str], ...]:
    """What the numbers of a metric depend on beside the texts and how they are spelled."""
    anchoring, pages = settings.anchoring, settings.pages
    notes = (("notes", "counted" if settings.count_notes else "apart"),)
    if metric.id in _OF_INVENTED:
        return notes
    if metric.id == _BADGE_RATE:
        own = [("badge", f"{pages.fewest_words}-words-{pages.smallest_share:g}-or-whole")]
        asked, given = settings.witness, settings.witness_confidence
        if has_witness:
            trust = f"{asked.fewest_words}-words-{asked.lowest_confidence:g}-{asked.smallest_share:g}"
            own.append(("trust", f"{trust}-{asked.fewest_copies}-copies"))
        if has_witness and given is not None:
            own.append(("witness-confidence", f"{given:g}"))
        return (*own, *notes)
    if metric.id == "picarones_page_rate":
        return (("badge", f"n{anchoring.ngram}-{anchoring.anchor_limit:g}-{anchoring.length_ratio_limit:g}"),)
    if metric.id.startswith("anchor"):
        return (("n", str(anchoring.ngram)),)
    return ()


# What a reader must know before reading the numbers.


def _notices(partial: TranscriptsPartial, ranking: Ranking | None, left_out: tuple[str, ...]) -> Iterator[str]:
    counted = partial.notices
    if left_out:
        share = f"{FEWEST_PAGES_SHARE:.0%}"
        more = f" and {len(left_out) - _NAMES_TOLD} more" if len(left_out) > _NAMES_TOLD else ""
        names = ", ".join(left_out[:_NAMES_TOLD])
        yield f"not ranked, because they read fewer than {share} of the pages: {names}{more}"
    if ranking is not None and ranking.dropped:
        yield f"pages that some ranked engine lacks take part only in the pairwise tests: {ranking.dropped:,}"
    if counted.bounded:
        yield f"long pages aligned by anchors, whose CER, WER, MER and WIL are upper bounds: {counted.bounded:,}"
    for told, status in (("empty outputs", "empty_output"), ("refusals", "refused")):
        if pages := counted.statuses.get(status, 0):
            yield f"{told}, counted apart and left out of the hallucinating page rate: {pages:,}"
    if partial.witness is not None:
        yield "compared with a witness, not with ground truth: rates are disagreement, not error"
    yield from _notices_of_pages(counted, "their ground truth" if partial.witness is None else "the witness")


def _notices_of_pages(counted: TranscriptNotices, reference: str) -> Iterator[str]:
    """What was noticed on single pages and files; last, because there may be many."""
    for reason, times in sorted(counted.undecided.items(), key=lambda item: (-item[1], item[0]))[:3]:
        yield f"{times} undecided: {reason}"
    if counted.other_forms:
        yield (
            f"some pages are in another Unicode form than {reference}; "
            f"--normalize nfc makes them alike: {counted.other_forms:,}"
        )
    for notice, (files, first) in counted.files.items():
        more = f" ({files - 1:,} more likewise)" if files > 1 else ""
        yield f"{first}: {notice}{more}"
    yield from counted.others
