"""How runs of transcripts are shown: engines and pages, where another has judges and claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.page import KINDS, InventedWord, PageRow, WorstLine, page_of
from hallumeter.records.ranking import Ranking
from hallumeter.records.response import FieldValue
from hallumeter.report.build import breakdown_sections, metric_sections
from hallumeter.report.charts import group_charts
from hallumeter.report.document import BreakdownSection, Document, Fact, FactValue, Section
from hallumeter.report.drawing import ENGINE_COLOURS, Chart, Json
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.overview import (
    Rows,
    confidence,
    count,
    fact,
    metrics,
    name,
    names,
    number,
    numbers,
    p_value,
    shares,
    words,
)
from hallumeter.report.page.chapters import READERS, block_size, kept_views
from hallumeter.report.page.payload import packed
from hallumeter.report.presentation import Behind, Gathered, Presentation, Readings, SectionKind, Sections
from hallumeter.report.sections import (
    LineSection,
    PageSection,
    RankingColumn,
    RankingSection,
    ReadingSection,
    ReadingView,
    StretchView,
)
from hallumeter.run.run_folder import has_cells
from hallumeter.transcripts.catalog import METRICS
from hallumeter.transcripts.example_tables import INVENTED, LINES, MISREAD, MisreadWord, read_table
from hallumeter.transcripts.pages_table import PAGES, read_pages
from hallumeter.transcripts.policy import EnginePolicy
from hallumeter.transcripts.records import REMARK_KINDS

from .charts import page_charts, rank_charts
from .pages import count_pages, line_section, reading_section, reading_view, severity
from .ranking import (
    ERROR_WORDS,
    HALLUCINATING,
    STATUS_WORDS,
    WITNESS_WORDS,
    difference_words,
    engine_groups,
    error_classes_of,
    has_witness,
    metric_words,
    neighbours,
    p_words,
    ranking_section,
    reading_coverage_words,
    telling_groups,
    with_modernised,
)

NUMBERS = (
    *("cer", "wer", "mer", "wil", "anchor_score", "length_ratio", "net_insertion_rate", "true_insertion_rate"),
    *("invented_rate", "omission_rate", "reference_words", "response_words"),
)
"""The columns of numbers, as they are called in ``pages.csv``."""
KIND_WORDS = {
    "block": message("invented"),
    "loop": message("loop"),
    "omission": message("left out"),
    "insertion": message("inserted"),
    "remark": message("about the page"),
    "run": message("read"),
}
_MOVED, _NOT_ENOUGH_INFO, _UNDECIDED = 1, 2, 4


def pairs_payload(section: RankingSection) -> dict[str, Json]:
    """Every pair of engines that the document holds."""
    engines: list[Json] = [engine.engine for engine in section.engines]
    places = {name: place for place, name in enumerate(engines)}
    pairs = section.ranking.pairs if section.ranking else ()
    return {
        "engines": engines,
        "pairs": [
            [places[pair.first], places[pair.second], pair.pages, pair.difference, pair.p_value, pair.adjusted_p_value]
            for pair in pairs
            if pair.first in places and pair.second in places
        ],
    }


def pages_payload(section: PageSection, engines: Sequence[str], readings: ReadingSection | None) -> dict[str, Json]:
    """The table of pages, engines in the order given, and which rows can be opened."""
    rows = section.rows
    names = [*engines, *(name for name in dict.fromkeys(row.engine for row in rows) if name not in set(engines))]
    places = {name: place for place, name in enumerate(names)}
    pages = list(dict.fromkeys(row.page for row in rows))
    page_places = {name: place for place, name in enumerate(pages)}
    shown = {(view.page, view.engine): place for place, view in enumerate(readings.readings)} if readings else {}
    statuses = list(STATUS_WORDS)
    numbers: dict[str, Json] = {name: [getattr(row, name) for row in rows] for name in NUMBERS}
    return {
        "engines": [*names],
        "pages": [*pages],
        "statuses": [[name, words] for name, words in STATUS_WORDS.items()],
        "page": [page_places[row.page] for row in rows],
        "engine": [places[row.engine] for row in rows],
        "status": [statuses.index(row.status) for row in rows],
        "badge": [row.is_hallucinating for row in rows],
        "picarones": [row.picarones_badge for row in rows],
        "reading": [shown.get((row.page, row.engine)) for row in rows],
        "numbers": numbers,
        "colours": [[*pair] for pair in ENGINE_COLOURS],
    }


def readings_payload(section: ReadingSection) -> dict[str, Json]:
    """Everything that the browser of pages needs where the pages stand inside the file."""
    return {**readings_block(section.readings), "total": section.total}


def readings_block(views: Sequence[ReadingView]) -> dict[str, Json]:
    """Pages to read; a ground truth that several engines share is written once."""
    references: dict[str, int] = {}
    images: dict[str, int] = {}
    readings: list[Json] = []
    for view in views:
        number = references.setdefault(view.reference, len(references))
        image = None if view.image is None else images.setdefault(view.image, len(images))
        readings.append({**_reading(view, number), **({} if image is None else {"i": image})})
    block: dict[str, Json] = {**_frame(), "references": [*references], "readings": readings}
    return {**block, "images": [*images]} if images else block


def remote_readings_payload(*, total: int) -> dict[str, Json]:
    """What the browser of pages needs to know before it asks a server for them."""
    return {**_frame(), "source": "records", "total": total}


def reading_entry_payload(view: ReadingView, position: int) -> dict[str, Json]:
    """A page as a line of the list: how many words of each kind, and what the orders and badges need."""
    sizes: list[Json] = [
        sum(stretch.words for stretch in view.stretches if _kind(stretch) == code) for code in range(len(KINDS))
    ]
    is_misread = any(_kind(stretch) == KINDS.index("run") and stretch.note for stretch in view.stretches)
    entries: dict[str, Json] = {
        "n": position,
        "id": view.record_id,
        "p": view.page,
        "e": view.engine,
        "z": sizes,
        "a": 1 if view.stretches or not (view.response or view.reference) else None,
        "k": 1 if is_misread else None,
        "h": 1 if view.response else None,
        "w": view.witness,
        "m": _row(view.row) if view.row else None,
    }
    return {name: value for name, value in entries.items() if value is not None}


def _frame() -> dict[str, Json]:
    return {
        "kinds": [[name, say(KIND_WORDS[name])] for name in KINDS],
        "statuses": {name: say(words) for name, words in STATUS_WORDS.items()},
    }


def _reading(view: ReadingView, reference: int) -> dict[str, Json]:
    entries: dict[str, Json] = {
        "id": view.record_id,
        "p": view.page,
        "e": view.engine,
        "t": view.response,
        "c": view.response_characters if view.response_characters > len(view.response) else None,
        "r": reference,
        "rc": view.reference_characters if view.reference_characters > len(view.reference) else None,
        "w": view.witness,
        "s": [_stretch(stretch) for stretch in view.stretches],
        "m": _row(view.row) if view.row else None,
        "x": {name: _text(value) for name, value in view.fields.items() if value is not None},
        "q": [[*place] for place in view.response_places],
        "k": [[*place] for place in view.reference_places],
        "d": 1 if view.picked == "random" else None,
        "b": [*view.failures],
    }
    return {name: value for name, value in entries.items() if value not in (None, [], {})}


def _text(value: FieldValue) -> str:
    """A value as groups are named."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _row(row: PageRow) -> dict[str, Json]:
    numbers: dict[str, Json] = {name: getattr(row, name) for name in NUMBERS}
    facts: dict[str, Json] = {
        "status": row.status,
        "badge": row.is_hallucinating,
        "picarones": row.picarones_badge,
        "exact": row.is_exact,
    }
    return {**facts, **{name: value for name, value in numbers.items() if value is not None}}


def _kind(stretch: StretchView) -> int:
    return KINDS.index(stretch.kind) if stretch.kind in KINDS else KINDS.index("run")


def _stretch(stretch: StretchView) -> Json:
    flags = _MOVED * stretch.is_moved
    flags += _NOT_ENOUGH_INFO * (stretch.label is Label.NOT_ENOUGH_INFO and stretch.kind != "remark")
    flags += _UNDECIDED * (stretch.label in {None, Label.UNDECIDED})
    place: list[Json] = [stretch.start, stretch.end, stretch.reference_start, stretch.reference_end]
    return [_kind(stretch), stretch.words, *place, flags, *([stretch.note] if stretch.note else [])]


FIGURES = ("cer", "hallucinating_page_rate", "invented_rate", "omission_rate")
LEVEL = 0.05
"""An adjusted p value below it is called a difference."""
ENGINES_TOLD = 3
NAMES_TOLD = 5
"""Names of engines in one sentence."""

_CER = message("The lowest CER is that of {engine}: {cer} ({confidence} {interval}).")
_ONLY = message("{engine}, the only engine, has a CER of {cer} ({confidence} {interval}).")
_BEST = message(
    "{engine} has the best mean rank by {metric}, {rank}, on {pages} pages that all ranked engines have read, and "
    "differs from {others} (Friedman, {p})."
)
_BEST_OF_MANY = message(
    "{engine} has the best mean rank by {metric}, {rank}, and {worst} the worst, {worst_rank}, on {pages} pages that "
    "all ranked engines have read; the best differs from {beaten} of the {others} others (Friedman, {p})."
)
_ALIKE = message("Not told apart from each other: {engines}.")
_MANY_ALIKE = message(
    "Not told apart from each other: {count} engines, in the order of mean rank from {first} to {last}."
)
_MORE_ALIKE = message("Groups that lie across these: {count}; all are listed under Engines.")
_LEADS = message(
    "{engine} has the best mean rank by {metric}, {rank}, on {pages} pages that all ranked engines have read, but is "
    "not shown to differ from any other alone (Friedman over all, {p})."
)
_NONE_BETTER = message(
    "No engine is shown to be better than another by {metric} on {pages} pages that all ranked engines have read "
    "(Friedman, {p})."
)
_NOT_TESTED = message("Whether the engines differ was not tested: {reason}.")
_PAIR_BETTER = message(
    "{better} is better than {worse} by {metric} on {pages} pages that both have read: typical difference {difference} "
    "(Wilcoxon, {p})."
)
_PAIR_EQUAL = message(
    "{first} and {second} are not shown to differ by {metric} on {pages} pages that both have read (Wilcoxon, {p})."
)
_PAIR_SAME = message("{first} and {second} do not differ on any page by {metric}.")
_HALLUCINATES = message("{engine} shows signs of hallucination: {signs}.")
_MAY_MISREAD = message(
    "{engine} shows one sign of hallucination, which misread characters alone can give as well: {signs}."
)
_MORE_HALLUCINATE = message("So do {engines}.")
_MANY_MORE_HALLUCINATE = message("So do {count} more engines; the table of engines has their figures.")
_NO_SIGN = message(
    "No engine is over a bound for hallucination (pages that hallucinate, mean anchor score, mean length ratio)."
)
_WITNESSED = message(
    "Pages of {engine} that the witness cleared: {cleared}; flagged: {flagged}; could not decide: {undecided}. "
    "If it is right, {bounds} of them are hallucinated."
)
_ALL_TOLD = message("Pages of {engine} that the witness cleared: {cleared}; flagged: {flagged}.")
_EMPTY = message("Outputs that are empty: {count} of {total}.")


def page_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """Which engine is best as far as that is shown, who hallucinates, and what is empty."""
    rows = Rows(summary, headline)
    if has_witness(metric.signature for metric in summary.metrics):
        # Disagreement with a witness ranks nobody, and its length or phrases are no sign of invention.
        yield from _witness_facts(rows)
    else:
        yield from _rank_facts(summary.ranking)
        yield from _error_facts(rows, summary.ranking, level)
        yield from _hallucination_facts(rows)
    empty = rows.whole("empty_output_rate")
    if empty is not None and empty.count and empty.total:
        yield fact("empty", _EMPTY, count=count(empty.count), total=count(empty.total))


def _witness_facts(rows: Rows) -> Iterator[Fact]:
    """How many pages of each engine were cleared, flagged and left undecided, those with most flagged first."""
    told = sorted(rows.by("hallucinating_page_rate", "engine"), key=lambda row: -(row.count or 0))
    for row in told[:ENGINES_TOLD]:
        flagged, decided = row.count or 0, row.total or 0
        pages = decided + row.undecided
        if not pages:
            continue
        text = {"engine": name(row.by["engine"]), "cleared": count(decided - flagged), "flagged": count(flagged)}
        if row.undecided:
            bounds = shares((flagged / pages, (flagged + row.undecided) / pages))
            yield fact("witness", _WITNESSED, **text, undecided=count(row.undecided), bounds=bounds)
        else:
            yield fact("witness", _ALL_TOLD, **text)


def _rank_facts(ranking: Ranking | None) -> Iterator[Fact]:
    if ranking is None or len(ranking.engines) < 2:
        return
    if len(ranking.engines) == 2:
        yield _pair_fact(ranking)
        return
    if ranking.undefined or ranking.p_value is None:
        yield fact("ranking", _NOT_TESTED, reason=words(ranking.undefined or ""))
        return
    basis = {"metric": metrics([ranking.metric]), "pages": count(ranking.pages), "p": p_value(ranking.p_value)}
    if ranking.p_value >= LEVEL:
        yield fact("ranking", _NONE_BETTER, **basis)
        return
    best = ranking.engines[0]
    alike = {engine for group in ranking.groups if best.engine in group for engine in group}
    beaten = [each.engine for each in ranking.engines[1:] if each.engine not in alike]
    text = {"engine": name(best.engine), "rank": number(best.mean_rank), **basis}
    if len(beaten) > NAMES_TOLD:
        others, worst = len(ranking.engines) - 1, ranking.engines[-1]
        counts = {"beaten": count(len(beaten)), "others": count(others)}
        ends = {"worst": name(worst.engine), "worst_rank": number(worst.mean_rank)}
        yield fact("ranking", _BEST_OF_MANY, **text, **ends, **counts)
    else:
        yield fact("ranking", _BEST, **text, others=names(beaten)) if beaten else fact("ranking", _LEADS, **text)
    yield from _group_facts(ranking)


def _group_facts(ranking: Ranking) -> Iterator[Fact]:
    """Who cannot be told from whom, from the best engines to the worst; nobody reads thirty names."""
    groups = engine_groups(ranking)
    told = telling_groups(ranking)
    for group in told:
        if len(group) <= NAMES_TOLD:
            yield fact("alike", _ALIKE, engines=names(group))
        else:
            ends = {"first": name(group[0]), "last": name(group[-1])}
            yield fact("alike", _MANY_ALIKE, count=count(len(group)), **ends)
    if len(told) < len(groups):
        yield fact("alike", _MORE_ALIKE, count=count(len(groups) - len(told)))


def _pair_fact(ranking: Ranking) -> Fact:
    first, second = (ranked.engine for ranked in ranking.engines)
    pair = next((pair for pair in ranking.pairs if {pair.first, pair.second} == {first, second}), None)
    metric = metrics([ranking.metric])
    if pair is None or pair.adjusted_p_value is None or pair.difference is None:
        return fact("ranking", _PAIR_SAME, first=name(first), second=name(second), metric=metric)
    test = {"metric": metric, "pages": count(pair.pages), "p": p_value(pair.adjusted_p_value)}
    if pair.adjusted_p_value >= LEVEL:
        return fact("ranking", _PAIR_EQUAL, first=name(first), second=name(second), **test)
    is_first = (pair.difference < 0) != (ranking.direction == "higher")
    better, worse = (pair.first, pair.second) if is_first else (pair.second, pair.first)
    size = number(abs(pair.difference))
    return fact("ranking", _PAIR_BETTER, better=name(better), worse=name(worse), difference=size, **test)


def _error_facts(rows: Rows, ranking: Ranking | None, level: float) -> Iterator[Fact]:
    """The lowest CER; of engines that the ranking leaves out, it rests on too few pages."""
    ranked = {each.engine for each in ranking.engines} if ranking is not None else set()
    engines = [row for row in rows.by("cer", "engine") if row.value is not None]
    engines = [row for row in engines if row.by["engine"] in ranked] or engines
    lowest = min(engines, key=lambda row: row.value or 0.0, default=None)
    if lowest is None or lowest.value is None or lowest.interval is None:
        return
    text = {"engine": name(lowest.by["engine"]), "cer": number(lowest.value)}
    interval = {"confidence": confidence(level), "interval": numbers(lowest.interval)}
    yield fact("error", _ONLY if len(engines) == 1 else _CER, **text, **interval)


def _hallucination_facts(rows: Rows) -> Iterator[Fact]:
    """Engines over a bound of the policy, those with most hallucinating pages first, with the signs of it."""
    policy = EnginePolicy()
    measured: dict[str, dict[str, MetricSummary]] = {}
    for metric in policy.bounds:
        for row in rows.by(metric, "engine"):
            measured.setdefault(row.by["engine"], {})[metric] = row
    if not measured:
        return
    signs = {
        engine: policy.signs({metric: row.value for metric, row in found.items()}) for engine, found in measured.items()
    }
    suspects = [engine for engine, own in signs.items() if own]
    if not suspects:
        yield fact("hallucination", _NO_SIGN)
        return
    rates = {engine: _value(found.get("hallucinating_page_rate")) for engine, found in measured.items()}
    suspects.sort(key=lambda engine: -rates[engine])
    for engine in suspects[:ENGINES_TOLD]:
        found = measured[engine]
        pairs = [number for metric in signs[engine] for number in (_value(found[metric]), policy.bounds[metric][0])]
        text = FactValue("signs", tuple(pairs), tuple(signs[engine]))
        sentence = _MAY_MISREAD if signs[engine] == ("anchor_mean",) else _HALLUCINATES
        yield fact("hallucination", sentence, engine=name(engine), signs=text)
    more = suspects[ENGINES_TOLD:]
    if len(more) > NAMES_TOLD:
        yield fact("hallucination", _MANY_MORE_HALLUCINATE, count=count(len(more)))
    elif more:
        yield fact("hallucination", _MORE_HALLUCINATE, engines=names(more))


def _value(row: MetricSummary | None) -> float:
    return row.value if row is not None and row.value is not None else -math.inf


class _Tables(NamedTuple):
    """What a run holds beside the files that all runs have."""

    rows: Iterator[PageRow]
    misread: Iterator[MisreadWord] = iter(())
    lines: Iterator[WorstLine] = iter(())
    invented: Iterator[InventedWord] = iter(())


def _read(run: Path) -> _Tables:
    rows = read_pages(run / PAGES) if has_cells(run / PAGES) else iter(())
    return _Tables(
        rows,
        read_table(run / MISREAD, MisreadWord),
        read_table(run / LINES, WorstLine),
        read_table(run / INVENTED, InventedWord),
    )


def _sections(gathered: Gathered) -> Sections:
    selection, limits = gathered.selection, gathered.limits
    wanted = {page_of(item.response) for item in (*selection.worst, *selection.random)}
    # A document may be built from rows alone.
    own = gathered.own if isinstance(gathered.own, _Tables) else _Tables(iter(gathered.own or ()))
    counted = count_pages(own.rows, wanted=wanted, kept=limits.pages)
    ranking = ranking_section(gathered.summary, counted, gathered.texts)
    if ranking is not None:
        ranking = with_modernised(ranking, own.misread)
    reading = reading_section(selection, limits, counted=counted, failures=gathered.broken.by_record)
    engines = [row.engine for row in ranking.engines] if ranking is not None else []
    lines = line_section(own.lines, own.invented, engines)
    others = [row for row in gathered.rows if tuple(row.summary.by) != ("engine",)]
    sections: list[Section] = [
        *([reading] if reading.total else []),
        *([ranking] if ranking else []),
        *([lines] if lines else []),
        *([counted.section] if counted.section.rows else []),
        *metric_sections(gathered, others),
        *breakdown_sections(gathered, others),
    ]
    return Sections(sections, counted.census)


def _charts(section: Section, confidence: float) -> list[Chart]:
    if isinstance(section, RankingSection):
        return rank_charts(section)
    if isinstance(section, PageSection):
        return page_charts(section)
    return group_charts(section, confidence) if isinstance(section, BreakdownSection) else []


def _taken(document: Document) -> int:
    """Bytes of the table of pages, which leave less room for readings."""
    tables = [section for section in document.sections if isinstance(section, PageSection)]
    return sum(block_size(packed(pages_payload(table, [], None))) for table in tables)


def _fit(section: Section, room: int) -> tuple[Section, dict[str, Json]] | None:
    if not isinstance(section, ReadingSection):
        return None
    readings, block = kept_views(section.readings, lambda kept: readings_payload(replace(section, readings=kept)), room)
    left_out = len(section.readings) - len(readings)
    return replace(section, readings=readings, too_large=section.too_large + left_out), {"readings-data": block}


def _blocks(document: Document) -> dict[str, Json]:
    """The data of the scripts that show pages; empty when there are none."""
    sections = {str(section.__struct_config__.tag): section for section in document.sections}
    ranking, pages, readings = (sections.get(name) for name in ("ranking", "pages", "readings"))
    found: dict[str, Json] = {}
    if isinstance(ranking, RankingSection):
        found["pairs-data"] = pairs_payload(ranking)
    if isinstance(pages, PageSection):
        engines = [engine.engine for engine in ranking.engines] if isinstance(ranking, RankingSection) else []
        shown = readings if isinstance(readings, ReadingSection) else None
        found["pages-data"] = pages_payload(pages, engines, shown)
    return found


def _table(document: Document, positions: Mapping[tuple[str, str], int]) -> dict[str, Json]:
    """The table of pages, with every reading in reach."""
    pages = next((section for section in document.sections if isinstance(section, PageSection)), None)
    if pages is None:
        return {}
    ranking = next((section for section in document.sections if isinstance(section, RankingSection)), None)
    engines = [engine.engine for engine in ranking.engines] if ranking is not None else []
    readings: list[Json] = [positions.get((row.page, row.engine)) for row in pages.rows]
    return {"pages-data": packed({**pages_payload(pages, engines, None), "reading": readings})}


def _is_witnessed(document: Document) -> bool:
    """Whether pages were compared with a witness."""
    rankings = [section for section in document.sections if isinstance(section, RankingSection)]
    columns = [column for section in rankings for column in section.columns + section.further]
    return has_witness(column.signature for column in columns)


def _caution(document: Document) -> str | None:
    """What a reader must know before any number of pages without ground truth; None where they have it."""
    if not _is_witnessed(document):
        return None
    text = say(WITNESS_WORDS)
    return text[:1].upper() + text[1:] + "."


def _functions() -> dict[str, object]:
    return {
        "kind_words": KIND_WORDS,
        "hallucinating": HALLUCINATING,
        "is_witnessed": _is_witnessed,
        "misread_words": ERROR_WORDS,
        "error_classes_of": error_classes_of,
        "difference_of": difference_words,
        "neighbours_of": neighbours,
        "alike_groups": engine_groups,
        "token_words": {"name": message("name"), "number": message("number")},
    }


def _filters() -> dict[str, Callable[..., object]]:
    return {"metric_name": metric_words, "p_value": p_words, "reading_coverage": reading_coverage_words}


def _pages(**counted: Json) -> Behind:
    return Behind(counted, {}, undecided={"status": "undecided"})


PRESENTATION = Presentation(
    sections=_sections,
    facts=page_facts,
    figures=FIGURES,
    charts=_charts,
    read=_read,
    severity=severity,
    sharer=lambda item: item.response.model or "",
    # A figure over several engines is the figure of none of them.
    has_figures=lambda summary: len({row.by["engine"] for row in summary.metrics if "engine" in row.by}) < 2,
    readings=Readings(
        view=reading_view,
        entry=reading_entry_payload,
        block=readings_block,
        remote=lambda total: remote_readings_payload(total=total),
        table=_table,
    ),
    kinds={
        "metrics": SectionKind(title=message("All engines together"), template="section_metrics.html"),
        "ranking": SectionKind(title=message("Engines"), template="section_ranking.html", scripts=("ranking.js",)),
        "lines": SectionKind(title=message("Lines, names and numbers"), template="section_lines.html"),
        "pages": SectionKind(title=message("Pages"), template="section_pages.html", scripts=("pages.js",)),
        "readings": SectionKind(title=message("Page by page"), template="section_readings.html", scripts=READERS),
    },
    guide="guide_pages.html",
    style="transcripts.css",
    blocks=_blocks,
    caution=_caution,
    fit=_fit,
    taken=_taken,
    texts={RankingColumn: ("heading", "name", "question"), Ranking: ("undefined",)},
    large=(PageSection, ReadingSection, LineSection),
    functions=_functions,
    filters=_filters,
    behind={
        # Rates of characters, of words as a bag, and of whole pages speak of every page.
        **{metric.id: _pages() for metric in METRICS},
        "true_insertion_rate": _pages(kind="insertion"),
        "invented_rate": _pages(kind="block"),
        "loop_rate": _pages(kind="loop"),
        "omission_rate": _pages(kind="omission"),
        "hallucinating_page_rate": _pages(badge=True),
        "empty_output_rate": _pages(status="empty_output"),
        **{f"{kind}_page_rate": _pages(kind="remark") for kind in REMARK_KINDS},
    },
)
