"""The table of engines, best first, and what is said of their differences."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

import msgspec

from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.page import PageRow
from hallumeter.records.ranking import EnginePair, Ranking
from hallumeter.report.document import MetricText
from hallumeter.report.languages.speaking import message, say, say_count, written
from hallumeter.report.sections import EngineRow, PageCensus, RankingColumn, RankingSection, ReadingSection
from hallumeter.report.wording import format_count, format_number, too_large_words
from hallumeter.transcripts.example_tables import MisreadWord

from .pages import CountedPages

# The pages that went wrong most, and why, in words.

STATUS_WORDS = {
    "ok": message("compared"),
    "empty_output": message("empty output"),
    "empty_reference": message("text on a page with empty ground truth"),
    "both_empty": message("both empty"),
    "refused": message("refused to read the page"),
    "undecided": message("the witness could not tell"),
}
NOTHING_ON_THE_PAGE = message("no word is on the page")
_READ = ("ok", "empty_reference", "undecided")
"""Text written for a blank page is invented as well."""


def unfaithful_words(row: PageRow) -> float:
    """Words invented, plus words left out.

    >>> from hallumeter.records.page import PageRow
    >>> row = PageRow(page="p", engine="e", status="ok", is_hallucinating=True, picarones_badge=True,
    ...     net_insertion_rate=0.5, anchor_score=0.5, length_ratio=1.0, length_ratio_capped=1.0,
    ...     reference_words=10, response_words=20, invented_rate=0.25, omission_rate=0.1)
    >>> unfaithful_words(row)
    6.0
    """
    return (row.invented_rate or 0.0) * row.response_words + (row.omission_rate or 0.0) * row.reference_words


def worst_pages(rows: Iterable[PageRow], most: int) -> list[PageRow]:
    """Readings with most words invented or left out; empty outputs are no readings, and are counted elsewhere."""
    candidates = ((unfaithful_words(row), -place, row) for place, row in enumerate(rows) if row.status in _READ)
    chosen = heapq.nlargest(most, (entry for entry in candidates if entry[0] > 0), key=lambda entry: entry[:2])
    return [row for *_, row in chosen]


def reason_words(row: PageRow, *, has_witness: bool = False) -> str:
    """What is wrong with a reading, most telling first; a witness does not prove that a passage is invented.

    >>> from hallumeter.records.page import PageRow
    >>> row = PageRow(page="p", engine="e", status="undecided", is_hallucinating=None, picarones_badge=True,
    ...     net_insertion_rate=0.5, anchor_score=0.5, length_ratio=1.0, length_ratio_capped=1.0,
    ...     reference_words=10, response_words=20, blocks=2)
    >>> reason_words(row, has_witness=True)
    'undecided: 2 unconfirmed passages'
    """
    found = []
    if row.loops:
        found.append(say_count(row.loops, "{count} loop", "{count} loops"))
    if row.blocks and has_witness:
        found.append(say_count(row.blocks, "{count} unconfirmed passage", "{count} unconfirmed passages"))
    elif row.blocks:
        found.append(say_count(row.blocks, "{count} invented block", "{count} invented blocks"))
    elif row.is_hallucinating and not row.loops:
        # Too few words for a block, and none of them is on the page.
        found.append(say(NOTHING_ON_THE_PAGE))
    if row.omissions:
        found.append(say_count(row.omissions, "{count} omission", "{count} omissions"))
    if found and row.status == "undecided":
        return say("undecided: {reasons}", reasons=", ".join(found))
    # Beside a witness an empty reading says nothing, but a loop needs no witness.
    is_read = row.status == "ok" or (has_witness and row.status == "empty_reference")
    return ", ".join(found) if is_read and found else say(STATUS_WORDS[row.status])


# How pages and engines are counted in words, the same in every renderer.

WITNESS_WORDS = message(
    "compared with a witness: figures are disagreement, not error; passages are unconfirmed, not proven invented"
)

_ALL_SHOWN = {
    "invented": message("Every page of every engine ({count}), most invented and left out first."),
    "unconfirmed": message("Every page of every engine ({count}), most unconfirmed and left out first."),
    "not aligned": message("Every page of every engine ({count}), not aligned, so that nothing is marked."),
}
"""By what they are ordered by."""
_SOME_SHOWN = {
    ("invented", False): message("The {count} readings with most words invented or left out, of {total}."),
    ("invented", True): message(
        "The {count} readings with most words invented or left out, and {random} drawn at random, of {total}."
    ),
    ("unconfirmed", False): message("The {count} readings with most words unconfirmed or left out, of {total}."),
    ("unconfirmed", True): message(
        "The {count} readings with most words unconfirmed or left out, and {random} drawn at random, of {total}."
    ),
    ("not aligned", False): message("The {count} readings that came first, not aligned, of {total}."),
    ("not aligned", True): message(
        "The {count} readings that came first, not aligned, and {random} drawn at random, of {total}."
    ),
}
"""By what they are ordered by, and whether some were drawn at random."""
_SHARED = message("Each engine has an equal share of them.")
_OTHERS = message("To read all of them, type: hallumeter view RUN, where RUN is the folder of this report.")


def has_witness(signatures: Iterable[str | None]) -> bool:
    """Whether numbers with such signatures rest on the reading of a witness instead of ground truth.

    >>> has_witness(["cer|witness:tesseract|v:1"]), has_witness(["cer|v:1", None])
    (True, False)
    """
    return any("|witness:" in signature for signature in signatures if signature)


_WITNESSED = message("{engine}: {cleared} cleared, {flagged} flagged, {undecided} undecided")
_IF_RIGHT = message("{told}; if the witness is right, {low} to {high} of its pages are hallucinated")


def witness_words(summary: Summary) -> list[str]:
    """What the witness could tell of each engine's pages, and what that leaves open."""
    told = []
    for metric in summary.metrics:
        if metric.metric != HALLUCINATING or tuple(metric.by) != ("engine",):
            continue
        flagged, decided = metric.count or 0, metric.total or 0
        pages = decided + metric.undecided
        if not pages:
            continue
        counts = {"cleared": decided - flagged, "flagged": flagged, "undecided": metric.undecided}
        line = say(_WITNESSED, engine=metric.by["engine"], **{name: format_count(n) for name, n in counts.items()})
        if metric.undecided:
            shares = {"low": flagged / pages, "high": (flagged + metric.undecided) / pages}
            line = say(_IF_RIGHT, told=line, **{name: format_number(share) for name, share in shares.items()})
        told.append(line)
    return told


def census_words(census: PageCensus, failures: int, *, has_witness: bool = False) -> list[str]:
    """What a run holds, piece by piece."""
    parts = [
        say_count(census.pages, "{count} page", "{count} pages"),
        say_count(census.engines, "{count} engine", "{count} engines"),
        say_count(census.empty_outputs, "{count} empty output", "{count} empty outputs"),
        say_count(failures, "{count} failure", "{count} failures"),
    ]
    if census.empty_references and not has_witness:
        parts.append(
            say_count(
                census.empty_references,
                "{count} page with empty ground truth",
                "{count} pages with empty ground truth",
            )
        )
    if census.refused:
        parts.append(say_count(census.refused, "{count} refused page", "{count} refused pages"))
    if census.undecided:
        parts.append(say_count(census.undecided, "{count} undecided reading", "{count} undecided readings"))
    return parts


def reading_coverage_words(section: ReadingSection) -> str:
    """Which pages can be read here, and where the others are."""
    shown = len(section.readings)
    order = "not aligned"
    if any(view.stretches for view in section.readings):
        order = "unconfirmed" if any(view.witness for view in section.readings) else "invented"
    if shown == section.total:
        return say(_ALL_SHOWN[order], count=format_count(shown))
    drawn = sum(view.picked == "random" for view in section.readings)
    text = say(
        _SOME_SHOWN[order, drawn > 0],
        count=format_count(shown - drawn),
        random=format_count(drawn),
        total=format_count(section.total),
    )
    has_engines = len({view.engine for view in section.readings}) > 1
    parts = [text, *([say(_SHARED)] if has_engines else [])]
    parts += [too_large_words(section.too_large)] if section.too_large else []
    return " ".join([*parts, say(_OTHERS)])


HALLUCINATING = "hallucinating_page_rate"
HEADINGS = {
    "cer": "CER",
    HALLUCINATING: message("Hallucinating pages"),
    "invented_rate": message("Invented"),
    "true_insertion_rate": message("Inserted"),
    "omission_rate": message("Left out"),
    "anchor_mean": message("Anchor"),
    "wer": "WER",
    "mer": "MER",
    "wil": "WIL",
    "cer_gini": "Gini",
}
"""The columns of a first look, and their short names."""
WITNESS_HEADINGS = {
    HALLUCINATING: message("Flagged, of decided"),
    "invented_rate": message("Unconfirmed"),
    "number_insertion_rate": message("numbers unconfirmed"),
    "name_insertion_rate": message("names unconfirmed"),
}
"""What a column is called where a witness stands for the ground truth."""
_IN_SENTENCES = {
    "true_insertion_rate": message("true insertion rate"),
    "invented_rate": message("invented rate"),
    "omission_rate": message("omission rate"),
    "anchor_score": message("anchor score"),
}
WARNED_ABOVE = 0.2
"""Share of hallucinating pages above which an engine gets a warning sign, as in Picarones."""
WARNED_FROM = 5
"""Fewer pages than this tell too little for a warning."""
PAIRS_KEPT = 5_000
LEVEL = 0.05
"""An adjusted p value below it is called a difference."""
_AHEAD_OF_ALL = message(
    "{best} has the best mean rank and differs from {beaten} of the {others}: {basis} (Friedman, {p})."
)
_AHEAD_OF_SOME = message(
    "{best} has the best mean rank and differs from {beaten} of the {others}; it does not differ from {equal}: {basis} "
    "(Friedman, {p})."
)
_TIED = message("{best} has the best mean rank and leads; it does not differ from {equal}: {basis} (Friedman, {p}).")
_ALIKE = message("{first} and {second} are not shown to differ: {basis} ({test}).")
_BETTER = message("{first} is better than {second}: {basis} ({test}).")


ERROR_WORDS = {
    "punctuation": message("punctuation"),
    "hyphens": message("hyphens"),
    "spacing": message("spacing"),
    "case": message("case"),
    "accents": message("accents"),
    "ligatures": message("ligatures"),
    "numerals": message("numerals"),
    "abbreviations": message("abbreviations"),
    "modernised": message("modernised spelling"),
    "other": message("other letters"),
}
"""What a misread word differs in."""


def error_classes_of(section: RankingSection) -> list[str]:
    """The classes of misread words that any engine has."""
    return [name for name in ERROR_WORDS if any(engine.errors.get(name) for engine in section.engines)]


def ranking_section(
    summary: Summary, counted: CountedPages, metric_texts: Mapping[str, MetricText]
) -> RankingSection | None:
    """Engines in the order of the ranking, or of their CER where there is none; None without any engine."""
    by_engine: dict[str, dict[str, MetricSummary]] = {}
    for metric in summary.metrics:
        if tuple(metric.by) == ("engine",):
            by_engine.setdefault(metric.by["engine"], {})[metric.metric] = metric
    given = [*by_engine, *(name for name in counted.by_engine if name not in by_engine)]
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    names = given if is_witnessed else best_first(given, summary)
    if not names:
        return None
    ranks = {ranked.engine: ranked.mean_rank for ranked in summary.ranking.engines} if summary.ranking else {}
    rows = tuple(
        msgspec.structs.replace(
            _engine_row(name, by_engine.get(name, {}), counted),
            place=place if name in ranks or not (ranks or is_witnessed) else None,
            mean_rank=ranks.get(name),
        )
        for place, name in enumerate(names, 1)
    )
    found = {name: metric for metrics in by_engine.values() for name, metric in metrics.items()}
    headings = {**HEADINGS, **WITNESS_HEADINGS} if is_witnessed else HEADINGS
    columns = [_column(metric, metric_texts.get(name), headings) for name, metric in found.items()]
    order = list(HEADINGS)
    first = sorted((column for column in columns if column.metric in HEADINGS), key=lambda c: order.index(c.metric))
    ranking, left_out = _with_fewer_pairs(summary.ranking)
    return RankingSection(
        census=counted.census,
        engines=rows,
        columns=tuple(first),
        further=tuple(column for column in columns if column.metric not in HEADINGS),
        ranking=ranking,
        pairs_left_out=left_out,
    )


def with_modernised(section: RankingSection, words: Iterable[MisreadWord]) -> RankingSection:
    """The table of engines with examples of modernised spelling."""
    found: dict[str, list[tuple[str, str]]] = {}
    for word in words:
        if word.error == "modernised":
            found.setdefault(word.engine, []).append((word.reference, word.response))
    engines = tuple(
        msgspec.structs.replace(engine, modernised=tuple(found.get(engine.engine, ()))) for engine in section.engines
    )
    return msgspec.structs.replace(section, engines=engines)


def best_first(engines: list[str], summary: Summary) -> list[str]:
    """Engines by their place in the ranking; those without one by their CER, then by name."""
    places = {ranked.engine: place for place, ranked in enumerate(summary.ranking.engines)} if summary.ranking else {}
    rates = {
        row.by["engine"]: row.value
        for row in summary.metrics
        if row.metric == "cer" and tuple(row.by) == ("engine",) and row.value is not None
    }
    return sorted(engines, key=lambda name: (places.get(name, math.inf), rates.get(name, math.inf), name))


def _engine_row(engine: str, metrics: dict[str, MetricSummary], counted: CountedPages) -> EngineRow:
    empty = metrics.get("empty_output_rate")
    pages, empty_outputs = counted.by_engine.get(engine), counted.empty_by_engine.get(engine)
    if pages is None and empty is not None:
        pages, empty_outputs = (None if part is None else int(part) for part in (empty.total, empty.count))
    hallucinating = metrics.get(HALLUCINATING)
    share = _least_share(hallucinating) if hallucinating else None
    is_warned = share is not None and share > WARNED_ABOVE and (pages is None or pages >= WARNED_FROM)
    return EngineRow(
        engine,
        pages,
        empty_outputs,
        place=None,
        mean_rank=None,
        metrics=metrics,
        is_warned=is_warned,
        errors=dict(counted.errors_by_engine.get(engine, ())),
    )


def _least_share(hallucinating: MetricSummary) -> float | None:
    """The share of an engine's pages that hallucinate if none of the undecided ones do."""
    if not hallucinating.undecided:
        return hallucinating.value
    return (hallucinating.count or 0) / ((hallucinating.total or 0) + hallucinating.undecided)


def _column(metric: MetricSummary, text: MetricText | None, headings: Mapping[str, str]) -> RankingColumn:
    heading = headings.get(metric.metric) or (text.alias if text else metric.metric)
    return RankingColumn(
        metric=metric.metric,
        heading=heading,
        name=text.name if text else "",
        question=text.question if text else "",
        direction=metric.direction,
        signature=metric.signature,
    )


def _with_fewer_pairs(ranking: Ranking | None) -> tuple[Ranking | None, int]:
    """The ranking with all pairs, or only with neighbours where there are too many."""
    if ranking is None or len(ranking.pairs) <= PAIRS_KEPT:
        return ranking, 0
    kept = tuple(neighbours(ranking))
    return msgspec.structs.replace(ranking, pairs=kept), len(ranking.pairs) - len(kept)


def engine_groups(ranking: Ranking) -> list[list[str]]:
    """Every group of engines that cannot be told apart, those with the best engines first, each best first.

    Nemenyi's test compares mean ranks, so that the members of a group stand next to each other in the ranking.
    """
    places = {ranked.engine: place for place, ranked in enumerate(ranking.engines)}
    groups = [sorted(group, key=places.__getitem__) for group in ranking.groups if len(group) > 1]
    return sorted(groups, key=lambda group: (places[group[0]], places[group[-1]]))


def telling_groups(ranking: Ranking, most: int = 4) -> list[list[str]]:
    """All groups where there are few; of many, the fewest that hold every engine which is in any of them."""
    groups = engine_groups(ranking)
    if len(groups) <= most:
        return groups
    places = {ranked.engine: place for place, ranked in enumerate(ranking.engines)}
    chosen: list[list[str]] = []
    done = -1
    for place, group in enumerate(groups):
        # The last group that still begins within what is told, or right after it.
        is_last = place + 1 == len(groups) or places[groups[place + 1][0]] > done + 1
        if places[group[-1]] > done and is_last:
            chosen.append(group)
            done = places[group[-1]]
    return chosen


def group_words(group: list[str]) -> str:
    """A group of engines in a few words."""
    if len(group) < 4:
        return _listed(group)
    return say("{first} to {last} ({count} engines)", first=group[0], last=group[-1], count=format_count(len(group)))


def neighbours(ranking: Ranking) -> list[EnginePair]:
    """Pairs of engines that stand next to each other in the ranking, best first."""
    by_names = {frozenset((pair.first, pair.second)): pair for pair in ranking.pairs}
    names = [ranked.engine for ranked in ranking.engines]
    return [by_names[key] for key in map(frozenset, pairwise(names)) if key in by_names]


def metric_words(name: str) -> str:
    """What a metric of a page is called in a sentence.

    >>> metric_words("cer"), metric_words("anchor_score")
    ('CER', 'anchor score')
    """
    return HEADINGS[name] if HEADINGS.get(name, "").isupper() else say(_IN_SENTENCES.get(name, name.replace("_", " ")))


def p_words(p_value: float | None) -> str:
    """A p value as it is written in a sentence.

    >>> p_words(0.0312), p_words(0.0), p_words(None)
    ('p = 0.031', 'p < 0.001', 'no page differs')
    """
    if p_value is None:
        return say("no page differs")
    # A p value is never 0: it only was too small for a floating-point number.
    shown = format_number(p_value) if p_value >= 0.001 else written("<0.001")
    return f"p {shown[0]} {shown[1:]}" if shown[0] in "<>" else f"p = {shown}"


def difference_words(ranking: Ranking) -> str:
    """Which engines differ, in one sentence or two."""
    if len(ranking.engines) < 2:
        return say("One engine: there is nothing to compare it with.")
    basis = say_count(
        ranking.pages,
        "{metric} on the {count} page that all ranked engines have read",
        "{metric} on the {count} pages that all ranked engines have read",
        metric=metric_words(ranking.metric),
    )
    if len(ranking.engines) == 2:
        return _pair_words(ranking, basis)
    if ranking.undefined or ranking.p_value is None:
        return say("Not tested: {reason}.", reason=ranking.undefined or say("the test is undefined"))
    if ranking.p_value >= LEVEL:
        return say("No difference is shown: {basis} (Friedman, {p}).", basis=basis, p=p_words(ranking.p_value))
    return _leader_words(ranking, basis)


def _leader_words(ranking: Ranking, basis: str) -> str:
    """Whom the best engine differs from, where the engines do differ."""
    best, *others = [ranked.engine for ranked in ranking.engines]
    group = next((group for group in ranking.groups if best in group), (best,))
    equal = [name for name in others if name in group]
    beaten = len(others) - len(equal)
    text = _TIED if not beaten else _AHEAD_OF_SOME if equal else _AHEAD_OF_ALL
    return say(
        text,
        best=best,
        beaten=format_count(beaten),
        others=say_count(len(others), "{count} other", "{count} others"),
        equal=_listed(equal) if equal else "",
        basis=basis,
        p=p_words(ranking.p_value),
    )


def _pair_words(ranking: Ranking, basis: str) -> str:
    names = [ranked.engine for ranked in ranking.engines]
    pair = next((pair for pair in ranking.pairs if {pair.first, pair.second} == set(names)), None)
    if pair is None or pair.adjusted_p_value is None or pair.difference is None:
        return say(
            "{first} and {second} do not differ on any page: {basis}.", first=names[0], second=names[1], basis=basis
        )
    test = say(
        "typical difference on a page {size}, Wilcoxon, {p}",
        size=format_number(abs(pair.difference)),
        p=p_words(pair.adjusted_p_value),
    )
    if pair.adjusted_p_value >= LEVEL:
        text, (first, second) = _ALIKE, names
    else:
        is_first = (pair.difference < 0) != (ranking.direction == "higher")
        text = _BETTER
        first, second = (pair.first, pair.second) if is_first else (pair.second, pair.first)
    return say(text, first=first, second=second, basis=basis, test=test)


def _listed(names: list[str], most: int = 3) -> str:
    """Names in a row; many are counted."""
    if len(names) > most + 1:
        further = format_count(len(names) - most)
        return say("{names} and {count} more", names=", ".join(names[:most]), count=further)
    return names[0] if len(names) == 1 else say("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])
