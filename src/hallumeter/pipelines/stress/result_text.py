"""A result for a person: a table of each judge, readable in a pipe as well."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

import msgspec
from rich.text import Text

from hallumeter.report.terminal import plain_console, plain_table, trimmed_text
from hallumeter.report.wording import NO_VALUE, format_number, format_pair, interval_words, plural
from hallumeter.text.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from .result import JudgeResult, KindResult, Score, StressResult

_ORIGINS = {
    "given": "claims that the input labels SUPPORTED",
    "evidence": "sentences of the evidence, which supports them by construction",
}


def result_text(result: StressResult, form: str) -> str:
    """A result as ``text`` for the terminal, or as ``json``."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    is_terminal = sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, 100) if is_terminal else None
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=is_terminal)
    console.print(Text(_head(result), style="bold"))
    for judge in result.judges:
        _print_judge(console, judge, result.confidence)
    return trimmed_text(stream)


def _head(result: StressResult) -> str:
    of_all = f" of {result.claims_available:,}" if result.claims_available > result.claims else ""
    skipped = f" · {result.claims_skipped:,} skipped (no prose)" if result.claims_skipped else ""
    read = f" of {result.records_read:,}" if result.records_read > result.records else ""
    return (
        f"{result.claims:,}{of_all} {_ORIGINS[result.claims_from]}{skipped}\n"
        f"from {result.records:,}{read} {'record' if result.records == 1 and not read else 'records'} · "
        f"{plural(result.cases, 'claim')} judged, edited or not · seed {result.seed}"
    )


def _print_judge(console: Console, judge: JudgeResult, confidence: float) -> None:
    name = printable(judge.judge)
    table = plain_table(f"{name}: mutation score {_score(judge.mutation_score)}")
    _columns(table, ("errors", "caught", "recall"), confidence)
    table.add_column("place right", justify="right", no_wrap=True)
    for kind in judge.kinds:
        if kind.is_error and kind.n:
            place = f"{kind.localised:,} / {kind.located:,}" if kind.located else NO_VALUE
            table.add_row(*_cells(kind), place)
    if table.row_count:
        console.print(table)
    else:
        console.print(f"{name}: mutation score {_score(judge.mutation_score)}")
    table = plain_table(f"{name}: false alarms {_score(judge.false_alarms)}")
    _columns(table, ("same meaning", "alarms", "rate"), confidence)
    for kind in judge.kinds:
        if not kind.is_error and kind.n:
            table.add_row(*_cells(kind))
    console.print(table)
    absent = [kind for kind in judge.kinds if kind.value is None]
    for reason in dict.fromkeys(kind.undefined for kind in absent):
        names = ", ".join(kind.kind for kind in absent if kind.undefined == reason)
        console.print(Text(f"undefined: {names}: {reason}", style="dim"))


def _columns(table: Table, names: tuple[str, str, str], confidence: float) -> None:
    first, counted, rate = names
    table.add_column(first, no_wrap=True, min_width=12)
    for name in ("n", counted, "undecided", "failed", rate):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(interval_words(confidence), no_wrap=True)


def _cells(kind: KindResult) -> tuple[str, ...]:
    return (
        kind.kind,
        f"{kind.n:,}",
        f"{kind.counted:,}",
        f"{kind.undecided:,}" if kind.undecided else "",
        f"{kind.failed:,}" if kind.failed else "",
        NO_VALUE if kind.value is None else format_number(kind.value),
        format_pair(kind.interval),
    )


def _score(score: Score) -> str:
    if score.value is None:
        return f"undefined: {score.undefined}"
    interval = f" ({format_pair(score.interval)})" if score.interval is not None else ""
    return format_number(score.value) + interval
