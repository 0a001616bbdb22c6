"""The sections of a report on aspects, made from a summary and from what is known of the steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.aspects.metrics.blame import is_repair
from hallumeter.aspects.records.blame import ERROR_KINDS, ErrorKind, TracedSentence, UnitBlame
from hallumeter.records.claim import Finding
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.summaries import STATUSES
from hallumeter.report.document import FindingView, MetricRow, RecordView
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.sections import (
    BlameSection,
    FlowMove,
    FlowSection,
    FlowStep,
    IgnoredErrors,
    PartSection,
    SentenceTrace,
)

from .families import BRIEF, BY_RUN, DECIDED, DECISIONS, OPEN, SECTIONS
from .tracing import ORDER, trace_of
from .wording import ERROR_NOTES, ERROR_WORDS, IGNORED_WORDS, PART_WORDS, part_words, step_words

# Counts of all that was ever wrong: on its way through the steps, at the end, and where nobody listened.

_History = tuple[str, tuple[tuple[str, str], ...]]
"""A kind of error, and each step that changed one with how it stood then."""


class ErrorCount:
    """Counts errors sentence by sentence; equal histories are kept once."""

    def __init__(self) -> None:
        self.sentences = 0
        self._histories: Counter[_History] = Counter()
        self._standing: Counter[tuple[str, str]] = Counter()
        self._ignored: Counter[tuple[str, str, str]] = Counter()

    def add(self, errors: Iterable[UnitBlame]) -> None:
        """Take in the errors of a sentence."""
        self.sentences += 1
        for unit in errors:
            self._histories[unit.error, tuple((change.step, change.became) for change in unit.changes)] += 1
            if unit.does_stand_at_end:
                self._standing[unit.error, unit.introduced_by] += 1
                self._ignored.update((each.by, each.reason, unit.error) for each in unit.ignored_by)

    def flow(self, taken: Iterable[str]) -> tuple[FlowStep, ...]:
        """What every step did; `taken` are the steps of the run, also those that changed nothing."""
        if not self._histories:
            return ()
        known = {step for _, changes in self._histories for step, _ in changes} | set(taken)
        now: dict[_History, str] = dict.fromkeys(self._histories, STATUSES[0])
        found = []
        for step in sorted(known, key=_rank):
            moves: Counter[tuple[str, str, str]] = Counter()
            for history, units in self._histories.items():
                became = dict(history[1]).get(step, now[history])
                moves[history[0], now[history], became] += units
                now[history] = became
            found.append(FlowStep(step, tuple(_moves(moves))))
        return tuple(found)

    def blame(self, rows: Sequence[MetricSummary]) -> BlameSection:
        """The rates of steps, with what stands at the end."""
        standing: dict[str, dict[str, int]] = {}
        for (error, step), errors in sorted(self._standing.items(), key=lambda item: _rank(item[0][1])):
            standing.setdefault(error, {})[step] = errors
        ignored = sorted(self._ignored.items(), key=lambda item: (_rank(item[0][0]), -item[1], item[0]))
        return BlameSection(tuple(rows), standing, tuple(IgnoredErrors(*text, errors) for text, errors in ignored))


def deed(move: FlowMove) -> str | None:
    """What a step did that moved something so: one of `DEEDS`; None where it was neither wrong before nor after.

    >>> deed(FlowMove("spurious", "wrong", "absent", 1)), deed(FlowMove("polarity", "wrong", "absent", 1))
    ('repaired', 'lost')
    """
    if move.became == "wrong":
        return {"absent": "introduced", "right": "broken", "wrong": "kept"}[move.was]
    if move.was != "wrong":
        return None
    kind: ErrorKind = next(kind for kind in ERROR_KINDS if kind == move.error)
    return "repaired" if is_repair(STATUSES.index(move.became), kind) else "lost"


def deeds_of(step: FlowStep, error: str | None = None) -> Counter[str]:
    """How much of everything a step did, to errors of one kind or of all."""
    counts: Counter[str] = Counter()
    for move in step.moves:
        done = deed(move)
        if done is not None and error in (None, move.error):
            counts[done] += move.units
    return counts


def flow_section(count: ErrorCount, rows: Iterable[MetricSummary], *, missing: str | None) -> FlowSection:
    """The way of errors; what cannot be told says why."""
    if missing is not None:
        return FlowSection(missing="outputs" if missing == "outputs" else "blame")
    text = list(rows)
    steps = [row.by["step"] for row in text if row.metric == "step_introduction_rate"]
    has_gold = any(row.by["error"] != "ungrounded" for row in text)
    return FlowSection(count.flow(steps), count.sentences, has_gold=has_gold)


def _moves(moves: Counter[tuple[str, str, str]]) -> Iterable[FlowMove]:
    for kind, was, became in product(ERROR_KINDS, STATUSES, STATUSES):
        if units := moves[kind, was, became]:
            yield FlowMove(kind, was, became, units)


def _rank(step: str) -> tuple[int, str]:
    return (ORDER.index(step) if step in ORDER else len(ORDER), step)


BLAMED = ("step", "error")
"""What the rates of steps are grouped by."""


class ToldSentences(Struct, frozen=True):
    """What is known of the ways of sentences."""

    traces: dict[str, SentenceTrace]
    """By record, of those that are shown."""
    flow: FlowSection
    blame: BlameSection


def told_sentences(
    traced: Iterable[TracedSentence], summary: Summary, *, shown: Mapping[str, tuple[Finding, ...]]
) -> ToldSentences:
    """Count the errors of all sentences, and trace those that are shown."""
    count, traces = ErrorCount(), {}
    missing: str | None = "outputs"
    for sentence in traced:
        missing = "blame" if sentence.errors is None else None
        count.add(sentence.errors or ())
        if sentence.record_id in shown:
            traces[sentence.record_id] = trace_of(sentence, shown[sentence.record_id])
    rows = blame_rows(summary)
    return ToldSentences(traces, flow_section(count, rows, missing=missing), count.blame(rows))


def executive_rows(rows: list[MetricRow]) -> tuple[MetricRow, ...]:
    """The metrics of a first look that have a value."""
    whole = {row.summary.metric: row for row in rows if not row.summary.by and row.summary.value is not None}
    return tuple(whole[metric] for metric in BRIEF if metric in whole)


def metric_families(rows: list[MetricRow]) -> dict[str, tuple[MetricRow, ...]]:
    """The metrics of the whole run that have a value, under the titles of their families."""
    whole = {row.summary.metric: row for row in rows if not row.summary.by and row.summary.value is not None}
    families = {title: [whole[metric] for metric in metrics if metric in whole] for title, metrics in SECTIONS.items()}
    return {title: tuple(found) for title, found in families.items() if found}


def blame_rows(summary: Summary) -> list[MetricSummary]:
    """What each step did to errors of every kind, where there was anything to count."""
    return [row for row in summary.metrics if tuple(row.by) == BLAMED and row.value is not None]


def run_rows(rows: list[MetricRow]) -> list[MetricRow]:
    """The metrics by which runs are compared."""
    return [row for row in rows if row.summary.metric in BY_RUN and row.summary.by and row.summary.value is not None]


def part_sections(summary: Summary) -> dict[str, PartSection]:
    """Breakdowns of the whole run, under their titles: those of decisions apart from the others."""
    found = summary.aspects
    if found is None:
        return {}
    whole = [each for each in found.breakdowns if not each.by and each.total]
    decisions = tuple(
        sorted((one for one in whole if one.name in DECISIONS), key=lambda one: DECISIONS.index(one.name))
    )
    others = tuple(each for each in whole if each.name not in DECISIONS)
    sections = {
        "decisions": PartSection(decisions, title=DECIDED),
        "others": PartSection(others, found.warnings),
    }
    return {name: section for name, section in sections.items() if section.breakdowns or section.warnings}


# The tables of a page on aspects: what steps did on the way of errors, and who is to blame for which.

COLUMNS = {
    "step_introduction_rate": message("Introduced"),
    "step_regression_rate": message("Of these, broken"),
    "step_repair_rate": message("Repaired"),
    "step_detection_rate": message("Flagged"),
    "step_false_alarm_rate": message("Right, yet flagged"),
}
"""What a step did or a speaker said, by the metric that counts it."""
DID = {
    "step_introduction_rate": "made",
    "step_regression_rate": "broken",
    "step_repair_rate": "repaired",
    "step_detection_rate": "flagged",
}
"""What led to the sentences behind a count; false alarms are about things that were never wrong."""


class FlowLine(Struct, frozen=True):
    """What one step did to all that was ever wrong."""

    step: str
    deeds: dict[str, int]
    before: int
    """Wrong before it."""
    after: int


class BlameLine(Struct, frozen=True):
    """One step and one kind of error."""

    step: str
    cells: dict[str, MetricSummary]
    ignored: int
    standing: int


class BlameGroup(Struct, frozen=True):
    """One kind of error, with everybody who had to do with it."""

    error: str
    lines: tuple[BlameLine, ...]
    idle: tuple[str, ...]
    """Who had something to count, and did nothing."""
    standing: int
    """Errors at the end."""


def flow_lines(section: FlowSection) -> list[FlowLine]:
    """The steps in their order."""
    lines = []
    for step in section.steps:
        deeds = deeds_of(step)
        before = sum(move.units for move in step.moves if move.was == "wrong")
        after = sum(move.units for move in step.moves if move.became == "wrong")
        lines.append(FlowLine(step.step, dict(deeds), before, after))
    return lines


def blame_groups(section: BlameSection) -> list[BlameGroup]:
    """The kinds of errors that could be told, each with its steps in the order of the pipeline."""
    ignored: Counter[tuple[str, str]] = Counter()
    for each in section.ignored:
        ignored[each.error, each.by] += each.errors
    cells: dict[str, dict[str, dict[str, MetricSummary]]] = {}
    for row in section.rows:
        cells.setdefault(row.by["error"], {}).setdefault(row.by["step"], {})[row.metric] = row
    return [
        _group(kind, cells[kind], ignored=ignored, standing=section.standing.get(kind, {}))
        for kind in ERROR_KINDS
        if kind in cells
    ]


def blame_columns(groups: Iterable[BlameGroup]) -> dict[str, str]:
    """The columns in which anything is told."""
    text = {metric for group in groups for line in group.lines for metric in line.cells}
    return {metric: words for metric, words in COLUMNS.items() if metric in text}


def _group(
    error: str,
    steps: dict[str, dict[str, MetricSummary]],
    *,
    ignored: Counter[tuple[str, str]],
    standing: dict[str, int],
) -> BlameGroup:
    lines, idle = [], []
    for step in sorted(steps, key=lambda step: (ORDER.index(step) if step in ORDER else len(ORDER), step)):
        line = BlameLine(step, steps[step], ignored[error, step], standing.get(step, 0))
        if line.ignored or line.standing or any(cell.count for cell in line.cells.values()):
            lines.append(line)
        else:
            idle.append(step)
    return BlameGroup(error, tuple(lines), tuple(idle), sum(standing.values()))


def sentence_view(view: RecordView, trace: SentenceTrace | None) -> RecordView:
    """A sentence with its trace, without what is told twice.

    The evidence of an aspect is the sentence itself: it is kept where an aspect is said to stand elsewhere.
    """
    findings = tuple(_without_own_place(finding) for finding in view.findings)
    is_quoted = any(verdict.quotes for finding in findings for verdict in finding.verdicts)
    return replace(
        view,
        findings=findings,
        evidence=view.evidence if is_quoted else (),
        fields={name: value for name, value in view.fields.items() if name != "run_id" or value != view.model},
        trace=trace,
    )


def _without_own_place(finding: FindingView) -> FindingView:
    place = (finding.start, finding.end)
    verdicts = tuple(
        replace(verdict, quotes=tuple(quote for quote in verdict.quotes if (quote.start, quote.end) != place))
        for verdict in finding.verdicts
    )
    return replace(finding, verdicts=verdicts)


# What the templates of a page on aspects call.


def aspect_functions() -> dict[str, object]:
    """The functions and words, under their names in templates."""
    return {
        "open_families": OPEN,
        "flow_lines_of": flow_lines,
        "blame_groups_of": blame_groups,
        "blame_columns_of": blame_columns,
        "blame_deeds": DID,
        "error_words": ERROR_WORDS,
        "error_notes": ERROR_NOTES,
        "step_words_of": step_words,
        "part_words_of": part_words,
        "part_title_of": _part_title,
        "ignored_words_of": _ignored_words,
    }


def _part_title(name: str) -> str:
    return say(PART_WORDS[name]) if name in PART_WORDS else name.replace("_", " ")


def _ignored_words(reason: str) -> str:
    return say(IGNORED_WORDS[reason]) if reason in IGNORED_WORDS else reason
