"""A critical-difference diagram in characters (Demšar 2006): mean ranks on a scale, and bars along runs alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.text.printable import one_line

from .ranking import letter

if TYPE_CHECKING:
    from hallumeter.records import Ranking

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
