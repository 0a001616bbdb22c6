"""Baselines for a terminal, readable in a pipe as well, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from hallumeter.claims.report.labels import BASELINE_WORDS, LEVEL_WORDS, SCORE_WORDS, low_f1_facts, unread_facts
from hallumeter.records.decisions import BaselineRow, Discrimination, LevelBaselines, NullBaselines
from hallumeter.report.overview import tell_fact
from hallumeter.report.table import Line, Table, escaped, left, markdown, right, terminal
from hallumeter.report.wording import NO_VALUE, format_count, format_number, format_pair, interval_words, plural

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
    "decisions, a baseline at a threshold that other responses chose. --format markdown has all columns."
)


def is_inconclusive(found: NullBaselines) -> bool:
    """Whether the labels suffice for no judge at any level."""
    return all(level.judge.auroc is None for judge in found.judges for level in judge.levels)


def baselines_text(found: NullBaselines, *, width: int | None = None, has_color: bool = False) -> str:
    """A table for every judge and level, and a sentence for every baseline."""
    return terminal(_parts(found), width=width, has_color=has_color)


def _parts(found: NullBaselines) -> Iterator[Table | Line]:
    yield Line(f"{found.run} · {_labels(found)}", "bold")
    for judge in found.judges:
        for level in judge.levels:
            yield from _level_parts(found, judge=judge.judge, level=level)
            yield Line()
        for each in unread_facts(judge):
            yield from (Line(tell_fact(each)), Line())
        if judge.shuffled is not None:
            yield from (Line(f"{judge.judge} with the evidence of other responses: {judge.shuffled}"), Line())
    yield Line(_NOTE, "dim")


def baselines_markdown(found: NullBaselines) -> str:
    """The same for a comment on a pull request."""
    return "\n".join(_lines(found)) + "\n"


def _labels(found: NullBaselines) -> str:
    people = ", ".join(found.census.annotators)
    return f"{plural(found.census.labels, 'label')} ({people})"


def _level_parts(found: NullBaselines, *, judge: str, level: LevelBaselines) -> Iterator[Table | Line]:
    title = f"{judge}, {LEVEL_WORDS[level.level].lower()}"
    if level.judge.auroc is None:
        yield Line(title, "bold")
        yield Line(f"undefined: {level.judge.undefined}")
        return
    if level.level != found.cluster:
        title += f" of {plural(level.judge.clusters, found.cluster)}"
    yield _brief_table(f"{title}: {SCORE_WORDS[level.score, level.level]}", found, judge=judge, level=level)
    yield from map(Line, _below(judge, level))


def _below(judge: str, level: LevelBaselines) -> Iterator[str]:
    """What stands under a table."""
    if level.left_out:
        yield f"left out: {plural(level.left_out, f'labelled {level.level}')} that the judge did not decide"
    yield from (f"- {sentence}" for sentence in _sentences(judge, level))
    yield from (f"undefined: {_name(row, level)}: {row.found.undefined}" for row in level.rows if row.found.undefined)


def _table(title: str, found: NullBaselines, *, judge: str, level: LevelBaselines) -> Table:
    interval = interval_words(found.confidence)
    numbers = right("labelled", "unsupported", "AUROC", interval, "difference", "interval", "p (Holm)", "F1")
    return Table([*left("compared"), *numbers], list(_rows(judge, level)), title)


def _brief_table(title: str, found: NullBaselines, *, judge: str, level: LevelBaselines) -> Table:
    """The same for a terminal: counts stand in the title, and the interval of a difference in the sentences below."""
    units, positives = format_count(level.judge.units), format_count(level.judge.positives)
    columns = [*left("compared", wrap="words"), *right("AUROC", interval_words(found.confidence))]
    columns += right("difference", "p (Holm)", "F1")
    rows = []
    for (_, _, _, auroc, interval, difference, _, p_value, f1), name in zip(
        _rows(judge, level), _counted_names(judge, level), strict=True
    ):
        rows.append([name, auroc, interval, difference, p_value, f1])
    return Table(columns, rows, f"{title}; {positives} of {units} are unsupported")


def _counted_names(judge: str, level: LevelBaselines) -> Iterator[str]:
    """The judge and its baselines; one that was tried on fewer says so."""
    yield judge
    for row in level.rows:
        units = row.found.units
        yield _name(row, level) + ("" if units == level.judge.units else f" ({format_count(units)} labelled)")


def _rows(judge: str, level: LevelBaselines) -> Iterator[list[str]]:
    yield [judge, *_figures(level.judge), NO_VALUE, NO_VALUE, NO_VALUE, _number(level.judge.f1)]
    for row in level.rows:
        yield [_name(row, level), *_figures(row.found), *_difference(row), _number(row.found.f1)]


def _name(row: BaselineRow, level: LevelBaselines) -> str:
    """A baseline, short enough for a table."""
    text = _NAMES[row.baseline].format(level="claim" if level.level == "claim" else "answer")
    return text if row.direction is None else f"{text}, {row.direction}"


def _sentences(judge: str, level: LevelBaselines) -> Iterator[str]:
    """How the judge stands to each baseline, in one sentence, and what follows."""
    for row in level.rows:
        if row.standing is not None and row.interval is not None:
            low, high = row.interval
            text = f"{_STANDINGS[row.standing]} {BASELINE_WORDS[row.baseline, level.level]}"
            yield f"{text} (difference {row.difference:+.3f}, {low:+.3f} to {high:+.3f})"
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
            title = f"{judge.judge}, {LEVEL_WORDS[level.level].lower()}"
            yield f"\n**{escaped(title)}**\n"
            if level.judge.auroc is None:
                yield f"undefined: {level.judge.undefined}"
                continue
            yield from markdown(_table(title, found, judge=judge.judge, level=level))
            yield ""
            yield from (f"- {escaped(sentence)}" for sentence in _sentences(judge.judge, level))
        yield from (f"\n{escaped(tell_fact(each))}" for each in unread_facts(judge))
        if judge.shuffled is not None:
            yield f"\n{escaped(judge.judge)} with the evidence of other responses: {escaped(judge.shuffled)}"
