"""The blame of many sentences: rates by step and kind of error, with intervals by resampling sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.aspects.catalog import ASPECT_BLAME_METRICS
from hallumeter.aspects.metrics.blame import BLAME_RATES, COUNTS, history_of, speaker_tally, step_tally
from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.blame import (
    ABSENT,
    COARSE_STEPS,
    ERROR_KINDS,
    SPEAKERS,
    WRONG,
    BlameColumns,
    BlameTable,
    ErrorKind,
    SentenceBlame,
    StepTally,
    UnitBlame,
)
from hallumeter.aspects.records.outputs import STEPS, AspectState, PipelineOutput
from hallumeter.aspects.stages.terms import term_key
from hallumeter.formats.delimited import csv_text
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.report.table import Cell, Table, escaped, left, markdown
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates
from hallumeter.stats.tally import RateTally

from .against_gold import History, Units, history_of_output, units_of
from .asks import Flags, asks_of, flags_of, ignored_by, speakers_of


def blame_of(output: PipelineOutput) -> SentenceBlame:
    """Say of everything that was ever wrong who introduced, flagged, ignored, repaired and broke it.

    What is not grounded in the text needs no gold; the rest is known only where the output holds gold. An output
    without states has two steps alone, ``stage1`` and ``final``; a sentence that failed has no blame.
    """
    if output.failed is not None:
        return SentenceBlame(text_id=output.text_id, undefined="the pipeline broke off")
    history = history_of_output(output)
    if history is None:
        return SentenceBlame(text_id=output.text_id, undefined="the output holds neither states nor a final result")
    units = units_of(history, text=output.input_text, gold=output.gold_tuples)
    flags = flags_of(asks_of(output), units, heard=history.heard, text=output.input_text)
    case = _Case(output, history, units, flags)
    return SentenceBlame(
        text_id=output.text_id,
        is_coarse=history.steps == COARSE_STEPS,
        has_gold=output.gold_tuples is not None,
        units=tuple(
            _unit_blame(case, error, place, statuses=statuses)
            for error, rows in case.units.statuses.items()
            if any(WRONG in row for row in rows)
            for place, statuses in enumerate(zip(*rows, strict=True))
            if WRONG in statuses
        ),
        tallies=(*_step_tallies(case), *_speaker_tallies(case)),
    )


class _Case(NamedTuple):
    output: PipelineOutput
    history: History
    units: Units
    flags: Flags


def _unit_blame(case: _Case, error: ErrorKind, place: int, *, statuses: tuple[int, ...]) -> UnitBlame:
    text = history_of(case.history.steps, statuses, error)
    spoken = case.flags[error].get(place, ())
    is_heard_wrong = statuses[case.history.heard] == WRONG
    gold, stated = _stated(case, error, place)
    named = gold or stated
    term = gold.aspect_term if gold is not None else stated.term if stated is not None else ""
    names = [term_key(term), *([] if stated is None else [term_key(stated.term)])]
    return UnitBlame(
        text_id=case.output.text_id,
        seed=case.output.meta.seed,
        error=error,
        detail=case.units.details.get(place) if error == "ungrounded" else None,
        term=term,
        span=None if named is None else named.span,
        polarity=None if stated is None else stated.polarity,
        gold_polarity=None if gold is None else gold.polarity,
        introduced_by=text.introduced_by or "",
        repaired_by=text.repaired_by,
        broken_by=text.broken_by,
        flagged_by=tuple(dict.fromkeys(flag.by for flag in spoken)) if is_heard_wrong else (),
        ignored_by=ignored_by(spoken, error, names, output=case.output) if spoken and is_heard_wrong else (),
        does_stand_at_end=text.does_stand_at_end,
        flags=tuple(spoken),
        changes=text.changes,
    )


def _stated(case: _Case, error: ErrorKind, place: int) -> tuple[AspectTuple | None, AspectState | None]:
    """The aspect of gold, for errors about it, and the aspect as it was last stated."""
    if error in ("ungrounded", "spurious"):
        return None, next(aspect for row in reversed(case.units.threads) if (aspect := row[place]) is not None)
    gold = case.units.gold[place]
    for row, match in zip(reversed(case.units.threads), reversed(case.units.matches), strict=True):
        if match[place] >= 0:
            return gold, row[match[place]]
    return gold, None


def _step_tallies(case: _Case) -> list[StepTally]:
    tallies = []
    for error, rows in case.units.statuses.items():
        before = [ABSENT] * len(rows[0])
        for step, after in zip(case.history.steps, rows, strict=True):
            tallies.append(step_tally(step, error, before=before, after=after))
            before = after
    return tallies


def _speaker_tallies(case: _Case) -> list[StepTally]:
    tallies = []
    speakers = speakers_of(case.output)
    for error, rows in case.units.statuses.items():
        statuses = rows[case.history.heard]
        places: dict[str, set[int]] = {}
        for place, flags in case.flags[error].items():
            for flag in flags:
                places.setdefault(flag.by, set()).add(place)
        tallies += [
            speaker_tally(speaker, error, statuses=statuses, flagged=places.get(speaker, ())) for speaker in speakers
        ]
    return tallies


AGAINST_GOLD = "against_gold"
"""Spurious, missing and wrong polarity together."""
_GROUPS: dict[str, tuple[ErrorKind, ...]] = {
    **{str(kind): (kind,) for kind in ERROR_KINDS},
    AGAINST_GOLD: ("spurious", "missing", "polarity"),
}
_SPOKEN = ("detection", "false_alarm")
_ORDER = (*STEPS[:4], *SPEAKERS[:5], "validator_proposals", *SPEAKERS[5:], *STEPS[7:], *COARSE_STEPS)


class BlameSums:
    """Adds up the blame of sentences. Sentences with the same id, as of repeated runs, are resampled together."""

    def __init__(self) -> None:
        self._tallies: dict[str, tuple[StepTally, ...]] = {}
        self._known: dict[tuple[StepTally, ...], tuple[StepTally, ...]] = {}
        self._seen: Counter[str] = Counter()
        self._undefined: Counter[str] = Counter()
        self._introduced: dict[str, Counter[str]] = defaultdict(Counter)
        self._ignored: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, blame: SentenceBlame) -> None:
        """Take in one sentence."""
        self._seen["sentences"] += 1
        if blame.undefined is not None:
            self._undefined[blame.undefined] += 1
            return
        self._seen["gold"] += blame.has_gold
        self._seen["coarse"] += blame.is_coarse
        tallies = (*self._tallies.get(blame.text_id, ()), *blame.tallies)
        self._tallies[blame.text_id] = self._known.setdefault(tallies, tallies)
        for unit in blame.units:
            if unit.does_stand_at_end:
                self._introduced[unit.error][unit.introduced_by] += 1
                for each in unit.ignored_by:
                    self._ignored[each.by][each.reason] += 1

    def partial(self) -> BlamePartial:
        """What all sentences add up to."""
        cells, weights = _cells(Counter(self._tallies.values()))
        steps = tuple(sorted({step for step, _ in cells}))
        rates: dict[str, RateTally] = {}
        for step, (group, kinds) in product(steps, _GROUPS.items()):
            columns = _columns([cells[step, kind] for kind in kinds if (step, kind) in cells], len(weights))
            for metric in ASPECT_BLAME_METRICS:
                tally = RateTally.of(metric.compute(columns), weights)
                if tally.clusters:
                    rates[_rate_name(step, group, metric)] = tally
        return BlamePartial(
            seen=_added(self._seen, {}),
            undefined=dict(sorted(self._undefined.items())),
            introduced=_sorted(self._introduced),
            ignored=_sorted(self._ignored),
            steps=steps,
            rates=dict(sorted(rates.items())),
        )


class BlamePartial(Struct, frozen=True):
    """What the blame of some sentences adds up to; all readings of a sentence are in one part."""

    seen: dict[str, int] = {}
    """Sentences, those with gold, and those of which only two steps are known."""
    undefined: dict[str, int] = {}
    introduced: dict[str, dict[str, int]] = {}
    ignored: dict[str, dict[str, int]] = {}
    steps: tuple[str, ...] = ()
    """Steps that were taken, and speakers."""
    rates: dict[str, RateTally] = {}
    """Over sentences, by step, kind of error and metric; those that have a total."""

    def merge(self, other: BlamePartial) -> BlamePartial:
        """Both parts together."""
        names = sorted({*self.rates, *other.rates})
        nothing = RateTally()
        return BlamePartial(
            seen=_added(self.seen, other.seen),
            undefined=_added(self.undefined, other.undefined),
            introduced=_added_nested(self.introduced, other.introduced),
            ignored=_added_nested(self.ignored, other.ignored),
            steps=tuple(sorted({*self.steps, *other.steps})),
            rates={name: self.rates.get(name, nothing).merge(other.rates.get(name, nothing)) for name in names},
        )

    def table(self, settings: SummarySettings | None = None) -> BlameTable:
        """All rates of all steps that were taken."""
        return BlameTable(
            sentences=self.seen.get("sentences", 0),
            with_gold=self.seen.get("gold", 0),
            coarse=self.seen.get("coarse", 0),
            undefined=self.undefined,
            introduced_errors=_nested(self.introduced, ERROR_KINDS),
            ignored_errors=_nested(self.ignored, _ORDER),
            rows=tuple(self._rows(blame_settings() if settings is None else settings)),
        )

    def _rows(self, settings: SummarySettings) -> Iterator[MetricSummary]:
        for step, group in product(sorted(self.steps, key=_rank), _GROUPS):
            for metric, name in zip(ASPECT_BLAME_METRICS, BLAME_RATES, strict=True):
                tally = self.rates.get(_rate_name(step, group, metric), RateTally())
                # The rates of a step that changes aspects, or of a speaker; of reviews both.
                is_theirs = step in SPEAKERS if name in _SPOKEN else step in (*STEPS, *COARSE_STEPS)
                if is_theirs or tally.clusters:
                    part = Slice(by={"step": step, "error": group}, judge=None)
                    yield summarize_rates(metric, tally, part, settings=settings)


def _rate_name(step: str, group: str, metric: Metric) -> str:
    return f"{step} {group} {metric.id}"


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(first) + Counter(second)).items()))


def _added_nested(*several: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for counts in several:
        for name, own in counts.items():
            found[name].update(own)
    return _sorted(found)


def _sorted(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {name: dict(sorted(own.items())) for name, own in sorted(counts.items())}


def blame_settings() -> SummarySettings:
    """How intervals are made unless others are given: by resampling sentences."""
    return SummarySettings(version=version("hallumeter"), cluster="text_id")


def blame_table(outputs: Iterable[PipelineOutput], *, settings: SummarySettings | None = None) -> BlameTable:
    """The blame of all outputs."""
    sums = BlameSums()
    for output in outputs:
        sums.add(blame_of(output))
    return sums.partial().table(settings)


def _cells(
    patterns: Mapping[tuple[StepTally, ...], int],
) -> tuple[dict[tuple[str, str], NDArray[np.int64]], NDArray[np.int64]]:
    """Counts by step and error, one row per distinct pattern of tallies, and how many sentences show each."""
    cells: dict[tuple[str, str], NDArray[np.int64]] = {}
    for row, tallies in enumerate(patterns):
        for tally in tallies:
            place = (tally.step, tally.error)
            if place not in cells:
                cells[place] = np.zeros((len(patterns), len(COUNTS)), dtype=np.int64)
            cells[place][row] += [getattr(tally, name) for name in COUNTS]
    return cells, np.array(list(patterns.values()), dtype=np.int64)


def _columns(parts: list[NDArray[np.int64]], sentences: int) -> BlameColumns:
    return BlameColumns(*sum(parts, np.zeros((sentences, len(COUNTS)), dtype=np.int64)).T)


def _rank(step: str) -> tuple[int, str]:
    return (_ORDER.index(step) if step in _ORDER else len(_ORDER), step)


def _nested(counts: Mapping[str, Mapping[str, int]], order: tuple[str, ...]) -> dict[str, dict[str, int]]:
    known = sorted(counts, key=lambda name: (order.index(name) if name in order else len(order), name))
    return {name: {inner: counts[name][inner] for inner in sorted(counts[name], key=_rank)} for name in known}


# The blame of a run as files: every error with its history, every rate as a row, and a text to read.

COLUMNS = ("step", "error", "metric", "count", "total", "value", "interval_low", "interval_high", "interval_method")
_LAST = ("direction", "undefined", "signature")
_TITLES = {
    "step_introduction_rate": "introduction",
    "step_repair_rate": "repair",
    "step_regression_rate": "regression",
    "step_detection_rate": "detection",
    "step_false_alarm_rate": "false alarm",
}


BLAME_LINES, BLAME_CSV, BLAME_TEXT = "blame.jsonl", "blame.csv", "blame.md"


def write_blame_lines(outputs: Iterable[PipelineOutput], folder: Path) -> BlamePartial:
    """Write ``blame.jsonl`` (one line for all that was ever wrong) into a folder, and say what it adds up to.

    Outputs are taken one after another; what is kept of each are its counts.
    """
    sums = BlameSums()
    write_jsonl(folder / BLAME_LINES, _units(outputs, sums))
    return sums.partial()


def write_blame_tables(table: BlameTable, folder: Path) -> tuple[str, ...]:
    """Write ``blame.csv`` and ``blame.md``, and name them."""
    (folder / BLAME_CSV).write_text(blame_csv(table), encoding="utf-8", newline="")
    (folder / BLAME_TEXT).write_text(blame_markdown(table), encoding="utf-8", newline="")
    return BLAME_CSV, BLAME_TEXT


def blame_csv(table: BlameTable) -> str:
    """One row per step, kind of error and rate; numbers unrounded, empty where not known."""
    lines: list[tuple[object, ...]] = [(*COLUMNS, *_LAST)]
    for row in table.rows:
        known = (row.by["step"], row.by["error"], row.metric, row.count, row.total, row.value)
        last = (row.interval_method, row.direction, row.undefined, row.signature)
        lines.append((*known, *(row.interval or (None, None)), *last))
    return csv_text(lines, is_printable=True)


def blame_markdown(table: BlameTable) -> str:
    """Who introduced what stands at the end, what each step did, what each speaker saw, who ignored what."""
    lines = ["# Who made which error", "", *_summary_lines(table), ""]
    lines += ["## Errors that stand at the end, by the step that introduced them", "", *_introduced(table), ""]
    lines += ["## What steps did to right and wrong", "", *_rates(table, ("introduction", "repair", "regression")), ""]
    lines += ["## What speakers flagged", "", *_rates(table, ("detection", "false alarm")), ""]
    lines += ["## Errors that stand although they were flagged, by who ignored them", "", *_ignored(table)]
    return "\n".join(lines).rstrip() + "\n"


def _units(outputs: Iterable[PipelineOutput], sums: BlameSums) -> Iterator[UnitBlame]:
    for output in outputs:
        blame = blame_of(output)
        sums.add(blame)
        yield from blame.units


def _summary_lines(table: BlameTable) -> Iterator[str]:
    yield f"{table.sentences:,} sentences, {table.with_gold:,} of them with gold."
    if table.with_gold < table.sentences:
        yield "Without gold, only aspects that do not stand in the text are known to be wrong."
    if table.coarse:
        yield f"Of {table.coarse:,} sentences only stage 1 and the final result are known."
    for reason, count in table.undefined.items():
        yield f"{count:,} sentences have no blame: {escaped(reason)}."


def _introduced(table: BlameTable) -> Iterator[str]:
    kinds = [kind for kind in ERROR_KINDS if kind in table.introduced_errors]
    if not kinds:
        yield "None."
        return
    steps = list(dict.fromkeys(row.by["step"] for row in table.rows))
    counts = {step: [table.introduced_errors[kind].get(step, 0) for kind in kinds] for step in steps}
    rows = [[_code(step), *(f"{count:,}" for count in found)] for step, found in counts.items() if any(found)]
    yield from markdown(Table(left("step", *kinds), rows), escape=str)


def _rates(table: BlameTable, titles: tuple[str, ...]) -> Iterator[str]:
    cells: dict[tuple[str, str], dict[str, MetricSummary]] = {}
    for row in table.rows:
        if _TITLES[row.metric] in titles and row.value is not None:
            cells.setdefault((row.by["step"], row.by["error"]), {})[_TITLES[row.metric]] = row
    text = {place: found for place, found in cells.items() if any(row.count for row in found.values())}
    if not text:
        yield "Nothing."
        return
    yield "Steps and errors without a row: there was nothing, or nothing to count."
    yield ""
    rows = [
        [_code(step), _code(error), *(_rate(found[title]) if title in found else "–" for title in titles)]
        for (step, error), found in text.items()
    ]
    yield from markdown(Table(left("step", "error", *titles), rows))


def _rate(row: MetricSummary) -> str:
    interval = "" if row.interval is None else f" ({row.interval[0]:.3f}–{row.interval[1]:.3f})"
    return f"{row.value:.3f}{interval}, {row.count:,.0f} of {row.total:,.0f}"


def _ignored(table: BlameTable) -> Iterator[str]:
    if not table.ignored_errors:
        yield "None."
        return
    rows = [
        [_code(step), reason or "–", f"{count:,}"]
        for step, reasons in table.ignored_errors.items()
        for reason, count in reasons.items()
    ]
    yield from markdown(Table(left("by", "reason", "errors"), rows))


def _code(name: str) -> str | Cell:
    return Cell(name, is_code=True)
