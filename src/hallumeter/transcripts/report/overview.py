"""What is told first of pages that engines have read."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.ranking import Ranking
from hallumeter.report.document import Fact, FactValue
from hallumeter.report.languages.speaking import message
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
    words,
)
from hallumeter.transcripts.policy import EnginePolicy

FIGURES = ("cer", "hallucinating_page_rate", "invented_rate", "omission_rate")
LEVEL = 0.05
"""An adjusted p value below it is called a difference."""
ENGINES_TOLD = 3

_CER = message("The lowest CER is that of {engine}: {cer} ({confidence} {interval}).")
_ONLY = message("{engine}, the only engine, has a CER of {cer} ({confidence} {interval}).")
_BEST = message(
    "{engine} has the best mean rank by {metric}, {rank}, on {pages} pages that all ranked engines have read, and "
    "differs from {others} (Friedman, {p})."
)
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
_NO_SIGN = message(
    "No engine is over a bound for hallucination (pages that hallucinate, mean anchor score, mean length ratio)."
)
_EMPTY = message("Outputs that are empty: {count} of {total}.")


def page_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """Which engine is best as far as that is shown, who hallucinates, and what is empty."""
    rows = Rows(summary, headline)
    yield from _rank_facts(summary.ranking)
    yield from _error_facts(rows, level)
    yield from _hallucination_facts(rows)
    empty = rows.whole("empty_output_rate")
    if empty is not None and empty.count and empty.total:
        yield fact("empty", _EMPTY, count=count(empty.count), total=count(empty.total))


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
    told = {"engine": name(best.engine), "rank": number(best.mean_rank), **basis}
    yield fact("ranking", _BEST, **told, others=names(beaten)) if beaten else fact("ranking", _LEADS, **told)


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


def _error_facts(rows: Rows, level: float) -> Iterator[Fact]:
    engines = [row for row in rows.by("cer", "engine") if row.value is not None]
    lowest = min(engines, key=lambda row: row.value or 0.0, default=None)
    if lowest is None or lowest.value is None or lowest.interval is None:
        return
    told = {"engine": name(lowest.by["engine"]), "cer": number(lowest.value)}
    interval = {"confidence": confidence(level), "interval": numbers(lowest.interval)}
    yield fact("error", _ONLY if len(engines) == 1 else _CER, **told, **interval)


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
        told = FactValue("signs", tuple(pairs), tuple(signs[engine]))
        sentence = _MAY_MISREAD if signs[engine] == ("anchor_mean",) else _HALLUCINATES
        yield fact("hallucination", sentence, engine=name(engine), signs=told)
    if len(suspects) > ENGINES_TOLD:
        yield fact("hallucination", _MORE_HALLUCINATE, engines=names(suspects[ENGINES_TOLD:]))


def _value(row: MetricSummary | None) -> float:
    return row.value if row is not None and row.value is not None else -math.inf
