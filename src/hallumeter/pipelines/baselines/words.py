"""Baselines for a terminal, readable in a pipe as well, and as Markdown."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.text import Text

from hallumeter.report.markdown import escaped
from hallumeter.report.overview.telling import tell_fact
from hallumeter.report.terminal import plain_console, plain_table, trimmed_text
from hallumeter.report.verdicts.baselines import BASELINE_WORDS, LEVEL_WORDS, SCORE_WORDS, low_f1_facts, unread_facts
from hallumeter.report.wording import NO_VALUE, format_count, format_number, format_pair, interval_words, plural
from hallumeter.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from hallumeter.records.decisions.baselines import BaselineRow, Discrimination, LevelBaselines, NullBaselines

_NAMES: dict[str, str] = {
    "always_positive": "flagging everything",
    "length": "{level} length",
    "overlap": "word overlap",
    "shuffled_overlap": "word overlap, other evidence",
    "shuffled_judge": "the judge, other evidence",
}
_STANDINGS = {
    "better": "better than",
    "not_distinguishable": "not distinguishable from",
    "worse": "worse than",
}
_NOTE = (
    "AUROC: how probable it is that something unsupported is ranked above something supported. difference: the judge "
    "less the baseline, on the same units; p is corrected for all baselines of a table. F1: the judge by its own "
    "decisions, a baseline at a threshold that other responses chose."
)


def is_inconclusive(found: NullBaselines) -> bool:
    """Whether the labels suffice for no judge at any level."""
    return all(level.judge.auroc is None for judge in found.judges for level in judge.levels)


def baselines_text(found: NullBaselines, *, width: int | None = None, has_color: bool = False) -> str:
    """A table for every judge and level, and a sentence for every baseline."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    console.print(Text(printable(f"{found.run} · {_labels(found)}"), style="bold"))
    for judge in found.judges:
        for level in judge.levels:
            _print_level(console, found, judge=judge.judge, level=level)
        for each in unread_facts(judge):
            console.print(printable(tell_fact(each)))
            console.print()
        if judge.shuffled is not None:
            console.print(f"{printable(judge.judge)} with the evidence of other responses: {printable(judge.shuffled)}")
            console.print()
    console.print(Text(_NOTE, style="dim"))
    return trimmed_text(stream)


def baselines_markdown(found: NullBaselines) -> str:
    """The same for a comment on a pull request."""
    return "\n".join(_lines(found)) + "\n"


def _labels(found: NullBaselines) -> str:
    people = ", ".join(found.census.annotators)
    return f"{plural(found.census.labels, 'label')} ({people})"


def _print_level(console: Console, found: NullBaselines, *, judge: str, level: LevelBaselines) -> None:
    title = f"{judge}, {LEVEL_WORDS[level.level].lower()}"
    if level.judge.auroc is None:
        console.print(Text(printable(title), style="bold"))
        console.print(f"undefined: {level.judge.undefined}\n")
        return
    if level.level != found.cluster:
        title += f" of {plural(level.judge.clusters, found.cluster)}"
    table = plain_table(printable(f"{title}: {SCORE_WORDS[level.score, level.level]}"))
    table.add_column("", no_wrap=True)
    for name in _columns(found.confidence)[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    for cells in _rows(judge, level):
        table.add_row(*map(printable, cells))
    console.print(table)
    for line in _below(judge, level):
        console.print(printable(line))
    console.print()


def _below(judge: str, level: LevelBaselines) -> Iterator[str]:
    """What stands under a table."""
    if level.left_out:
        yield f"left out: {plural(level.left_out, f'labelled {level.level}')} that the judge did not decide"
    yield from (f"- {sentence}" for sentence in _sentences(judge, level))
    yield from (f"undefined: {_name(row, level)}: {row.found.undefined}" for row in level.rows if row.found.undefined)


def _columns(confidence: float) -> list[str]:
    return ["", "n", "unsupported", "AUROC", interval_words(confidence), "difference", "interval", "p (Holm)", "F1"]


def _rows(judge: str, level: LevelBaselines) -> Iterator[list[str]]:
    yield [judge, *_figures(level.judge), NO_VALUE, NO_VALUE, NO_VALUE, _number(level.judge.f1)]
    for row in level.rows:
        yield [_name(row, level), *_figures(row.found), *_difference(row), _number(row.found.f1)]


def _name(row: BaselineRow, level: LevelBaselines) -> str:
    """A baseline, short enough for a table."""
    told = _NAMES[row.baseline].format(level="claim" if level.level == "claim" else "answer")
    return told if row.direction is None else f"{told}, {row.direction}"


def _sentences(judge: str, level: LevelBaselines) -> Iterator[str]:
    """How the judge stands to each baseline, in one sentence, and what follows."""
    for row in level.rows:
        if row.standing is not None and row.interval is not None:
            low, high = row.interval
            told = f"{_STANDINGS[row.standing]} {BASELINE_WORDS[row.baseline, level.level]}"
            yield f"{told} (difference {row.difference:+.3f}, {low:+.3f} to {high:+.3f})"
    yield from map(tell_fact, low_f1_facts(judge, level))


def _figures(found: Discrimination) -> list[str]:
    return [
        format_count(found.units),
        format_count(found.positives),
        _number(found.auroc),
        format_pair(found.interval),
    ]


def _difference(row: BaselineRow) -> list[str]:
    if row.difference is None or row.interval is None:
        return [NO_VALUE, NO_VALUE, NO_VALUE]
    low, high = row.interval
    return [f"{row.difference:+.3f}", f"{low:+.3f} to {high:+.3f}", format_number(row.adjusted_p_value or 0.0, 4)]


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else format_number(value)


def _lines(found: NullBaselines) -> Iterator[str]:
    yield f"### hallumeter baselines: {escaped(found.run)}"
    yield f"\n{escaped(_labels(found))}"
    for judge in found.judges:
        for level in judge.levels:
            yield f"\n**{escaped(judge.judge)}, {LEVEL_WORDS[level.level].lower()}**\n"
            if level.judge.auroc is None:
                yield f"undefined: {level.judge.undefined}"
                continue
            columns = _columns(found.confidence)
            yield f"| {' | '.join(columns)} |"
            yield f"| --- |{' ---: |' * (len(columns) - 1)}"
            for cells in _rows(judge.judge, level):
                yield f"| {' | '.join(map(escaped, cells))} |"
            yield ""
            yield from (f"- {escaped(sentence)}" for sentence in _sentences(judge.judge, level))
        yield from (f"\n{escaped(tell_fact(each))}" for each in unread_facts(judge))
        if judge.shuffled is not None:
            yield f"\n{escaped(judge.judge)} with the evidence of other responses: {escaped(judge.shuffled)}"
