"""A result for a person: a table of each judge, readable in a pipe as well."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hallumeter.report.table import Column, Line, Table, left, right, terminal, terminal_width
from hallumeter.report.wording import NO_VALUE, format_number, format_pair, interval_words, plural

from .result import JudgeResult, KindResult, Score, StressResult

_ORIGINS = {
    "given": "claims that the input labels SUPPORTED",
    "evidence": "sentences of the evidence, which supports them by construction",
}


def result_text(result: StressResult, form: str) -> str:
    """A result as ``text`` for the terminal, or as ``json``."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    return terminal(_parts(result), **terminal_width())


def _parts(result: StressResult) -> Iterator[Table | Line]:
    of_all = f" of {result.claims_available:,}" if result.claims_available > result.claims else ""
    skipped = f" · {result.claims_skipped:,} skipped (no prose)" if result.claims_skipped else ""
    read = f" of {result.records_read:,}" if result.records_read > result.records else ""
    yield Line(f"{result.claims:,}{of_all} {_ORIGINS[result.claims_from]}{skipped}", "bold")
    yield Line(
        f"from {result.records:,}{read} {'record' if result.records == 1 and not read else 'records'} · "
        f"{plural(result.cases, 'claim')} judged, edited or not · seed {result.seed}",
        "bold",
    )
    for judge in result.judges:
        yield from _judge_parts(judge, result.confidence)


def _judge_parts(judge: JudgeResult, confidence: float) -> Iterator[Table | Line]:
    title = f"{judge.judge}: mutation score {_score(judge.mutation_score)}"
    columns = [*_columns(("errors", "caught", "recall"), confidence), *right("place right")]
    rows = [
        [*_cells(kind), f"{kind.localised:,} / {kind.located:,}" if kind.located else NO_VALUE]
        for kind in judge.kinds
        if kind.is_error and kind.n
    ]
    yield Table(columns, rows, title) if rows else Line(title)
    yield Table(
        _columns(("same meaning", "alarms", "rate"), confidence),
        [_cells(kind) for kind in judge.kinds if not kind.is_error and kind.n],
        f"{judge.judge}: false alarms {_score(judge.false_alarms)}",
    )
    absent = [kind for kind in judge.kinds if kind.value is None]
    for reason in dict.fromkeys(kind.undefined for kind in absent):
        names = ", ".join(kind.kind for kind in absent if kind.undefined == reason)
        yield Line(f"undefined: {names}: {reason}", "dim")


def _columns(names: tuple[str, str, str], confidence: float) -> list[Column]:
    first, counted, rate = names
    numbers = right("n", counted, "undecided", "failed", rate)
    return [*left(first, min_width=12), *numbers, *left(interval_words(confidence))]


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
