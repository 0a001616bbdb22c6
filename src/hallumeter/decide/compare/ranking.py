"""Runs in the order of their mean ranks, and what is said of their differences."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.records.comparison import RunRanking
from hallumeter.records.ranking import EnginePair, Ranking
from hallumeter.report.drawing import Chart
from hallumeter.report.languages.speaking import say
from hallumeter.report.wording import DIRECTION_WORDS, unit_word
from hallumeter.text.normalize import one_line
from hallumeter.transcripts.report.ranking import LEVEL, p_words

from .wording import alias_of

PAIRS_SHOWN = 45


class RankedRun(Struct, frozen=True):
    """A run in its place."""

    name: str
    mean_rank: float
    letters: str
    """Runs that share one do not differ."""


class RankedMetric(Struct, frozen=True):
    """One metric with its runs, best first."""

    anchor: str
    alias: str
    question: str
    arrow: str
    direction: str
    sentence: str
    """What the ranking shows, in a sentence."""
    runs: tuple[RankedRun, ...]
    pairs: tuple[EnginePair, ...]
    charts: tuple[Chart, ...]


def ranked_metrics(ranking: RunRanking, charts: Sequence[Chart]) -> list[RankedMetric]:
    """Every metric of a ranking as a page shows it."""
    return [_ranked(each, charts=charts, place=place) for place, each in enumerate(ranking.rankings)]


def _ranked(ranking: Ranking, *, charts: Sequence[Chart], place: int) -> RankedMetric:
    known = METRICS_BY_ID.get(ranking.metric)
    arrow, direction = DIRECTION_WORDS[ranking.direction]
    return RankedMetric(
        anchor=f"metric-{place}",
        alias=alias_of(ranking.metric),
        question=say(known.question) if known else "",
        arrow=arrow,
        direction=say(direction),
        sentence=_sentence(ranking),
        runs=tuple(
            RankedRun(each.engine, each.mean_rank, letters_of(ranking, each.engine)) for each in ranking.engines
        ),
        pairs=ranking.pairs[:PAIRS_SHOWN],
        charts=tuple(chart for chart in charts if chart.metric == ranking.metric),
    )


def letters_of(ranking: Ranking, name: str) -> str:
    """The groups of runs that do not differ to which one belongs, as letters."""
    return "".join(letter(number) for number, group in enumerate(ranking.groups) if name in group)


def letter(number: int) -> str:
    """The name of a group."""
    return chr(ord("a") + number) if number < 26 else f"({number + 1})"


def undefined_words(ranking: Ranking, unit: str) -> str:
    """Why there is no test; the words are those of pages and engines."""
    return (ranking.undefined or "").replace("page", unit_word(unit)).replace("engine", "run")


def _sentence(ranking: Ranking) -> str:
    if ranking.undefined or ranking.p_value is None:
        if not ranking.engines:
            return say("Not ranked: nowhere has every run a value.")
        return say("Not tested: the runs are equal everywhere.")
    if ranking.p_value >= LEVEL:
        return say("No difference between the runs is shown (Friedman, {p}).", p=p_words(ranking.p_value))
    best = ranking.engines[0].engine
    group = next((group for group in ranking.groups if best in group), (best,))
    equal = [each.engine for each in ranking.engines[1:] if each.engine in group]
    if not equal:
        return say("{best} is ahead of every other run (Friedman, {p}).", best=best, p=p_words(ranking.p_value))
    return say(
        "{best} has the best mean rank, and does not differ from: {equal} (Friedman, {p}).",
        best=best,
        equal=", ".join(equal),
        p=p_words(ranking.p_value),
    )


# A critical-difference diagram in characters (Demšar 2006): mean ranks on a scale, and bars along runs alike.

SCALE = 56
"""Characters from the best possible mean rank to the worst."""
LONGEST_NAME = 24
_RUNS_WITH_A_TICK_EACH = 12


def diagram_lines(ranking: Ranking) -> list[str]:
    """The scale, a point for every run, a bar for every group that does not differ, and the critical difference.

    Empty for fewer than two runs.
    """
    if len(ranking.engines) < 2:
        return []
    names = [_short(run.engine) for run in ranking.engines]
    margin = max(map(len, [*names, "mean rank"])) + 2
    last = len(ranking.engines)
    lines = [f"{'mean rank':<{margin}}{_numbers(last)}", f"{'':<{margin}}{_axis(last)}"]
    for name, run in zip(names, ranking.engines, strict=True):
        lines.append(f"{name:<{margin}}{' ' * _place(run.mean_rank, last)}●")
    ranks = {run.engine: run.mean_rank for run in ranking.engines}
    for number, group in enumerate(ranking.groups):
        if len(group) > 1:
            ends = [
                _place(rank, last) for rank in (min(map(ranks.__getitem__, group)), max(map(ranks.__getitem__, group)))
            ]
            lines.append(f"{'':<{margin}}{' ' * ends[0]}{'━' * (ends[1] - ends[0] + 1)} {letter(number)}")
    if ranking.critical_difference is not None:
        width = round(ranking.critical_difference * SCALE / (last - 1))
        drawn = f"├{'─' * max(0, width - 1)}┤" if width <= SCALE else "wider than the scale"
        lines.append(f"{'critical':<{margin}}{drawn} {ranking.critical_difference:.2f}")
    return [line.rstrip() for line in lines]


def _place(rank: float, last: int) -> int:
    return round((rank - 1) * SCALE / (last - 1))


def _ticks(last: int) -> list[int]:
    return list(range(1, last + 1)) if last <= _RUNS_WITH_A_TICK_EACH else [1, (last + 1) // 2, last]


def _axis(last: int) -> str:
    line = ["─"] * (SCALE + 1)
    for tick in _ticks(last):
        line[_place(tick, last)] = "┼"
    line[0], line[-1] = "├", "┤"
    return "".join(line)


def _numbers(last: int) -> str:
    line = ""
    for tick in _ticks(last):
        line = f"{line:<{_place(tick, last)}}{tick}"
    return line


def _short(name: str) -> str:
    shown = one_line(name)
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"
