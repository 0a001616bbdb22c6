"""What a sentence has on a page beyond other records: its way through the agents; and what it need not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.aspects.records.blame import ERROR_KINDS
from hallumeter.records.measurement import MetricSummary
from hallumeter.report.document import FindingView, RecordView
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.sections import BlameSection, FlowSection, SentenceTrace

from .build import deeds_of
from .families import OPEN
from .tracing import ORDER
from .wording import ERROR_NOTES, ERROR_WORDS, IGNORED_WORDS, PART_WORDS, part_words, step_words

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
    told = {metric for group in groups for line in group.lines for metric in line.cells}
    return {metric: words for metric, words in COLUMNS.items() if metric in told}


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
