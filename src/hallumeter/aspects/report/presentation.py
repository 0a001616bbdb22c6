"""How runs of aspects are shown: findings and sentences, then quality, effectiveness, reliability and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from hallumeter.aspects.records.blame import TracedSentence, UnitBlame
from hallumeter.records.measurement import Summary
from hallumeter.records.summaries import STATUSES
from hallumeter.report import sections
from hallumeter.report.build import breakdown_sections, reason_sections, record_sections
from hallumeter.report.charts import rate_charts, section_charts
from hallumeter.report.document import Fact, MetricSection, Section
from hallumeter.report.drawing import Chart, Json
from hallumeter.report.findings import finding_sections
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.overview import Rows, confidence, count, fact, names, number, share, shares, signed, signeds
from hallumeter.report.page.chapters import RECORDS
from hallumeter.report.presentation import Behind, Gathered, Presentation, SectionKind, Sections, findings_behind
from hallumeter.run.run_folder import RunFolder, has_lines

from . import build
from .charts import flow_charts, part_charts
from .families import DRAWN, EXECUTIVE, theme_of
from .tracing import ORDER, trace_of
from .wording import ASK_WORDS, ERROR_WORDS, IGNORED_WORDS, POLARITY_WORDS, RULE_WORDS, STAGES, said, step_words

_ERRORS = tuple(ERROR_WORDS)
_POLARITIES = tuple(POLARITY_WORDS)
_OUTCOMES = (None, "applied", "ignored")


def vocabulary() -> dict[str, Json]:
    """The words for everything that has a code, in the language that is being spoken."""
    return {
        "by": [[step, step_words(step)] for step in ORDER],
        "stages": [[say(stage), list(steps)] for stage, steps in STAGES.items()],
        "errors": [[code, words] for code, words in said(ERROR_WORDS).items()],
        "polarities": [[code, words] for code, words in said(POLARITY_WORDS).items()],
        "asks": dict(said(ASK_WORDS)),
        "reasons": dict(said(IGNORED_WORDS)),
        "rules": dict(said(RULE_WORDS)),
    }


def trace_payload(trace: sections.SentenceTrace, text: str) -> Json:
    """The way of one sentence, with everything that is needed to tell it but the words for codes."""
    writer = _Writer(text)
    found: dict[str, Json] = {
        "s": [writer.step(step) for step in trace.steps],
        "u": None if trace.errors is None else [writer.error(error) for error in trace.errors],
        "m": None if trace.moderator is None else writer.moderator(trace.moderator),
        "g": None if trace.gold is None else [writer.aspect(aspect) for aspect in trace.gold],
        "o": list(trace.notes) or None,
        "x": list(trace.untold) or None,
        "f": trace.failed,
    }
    found |= {"n": writer.names, "w": list(writer.words)}
    return {key: value for key, value in found.items() if value is not None}


class _Writer:
    """Writes one sentence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.words: dict[str, int] = {}
        self._numbers: dict[tuple[str, int | None, int | None], int] = {}
        self.names: list[Json] = []

    def step(self, step: sections.TraceStep) -> Json:
        by = self._by(step.by)
        if step.aspects is None and not step.remarks:
            return [by]
        aspects: Json = 0 if step.aspects is None else [self.aspect(aspect) for aspect in step.aspects]
        return [by, aspects, *(self._remark(remark) for remark in step.remarks)]

    def aspect(self, aspect: sections.TracedAspect) -> Json:
        name = self._name(aspect.term, (aspect.start, aspect.end))
        if not aspect.is_judged:
            return name
        confidence = 0 if aspect.confidence is None else round(aspect.confidence, 2)
        return [name, *_trimmed([_polarity(aspect.polarity), confidence, self._quoted(aspect.evidence)])]

    def error(self, error: sections.TracedError) -> Json:
        stated = error.aspect
        changes: list[Json] = [[self._by(step), STATUSES.index(became)] for step, became in error.changes]
        ignored: list[Json] = [[self._by(by), self._number(reason)] for by, reason in error.ignored_by]
        text: list[Json] = [_polarity(stated.polarity), _polarity(error.gold_polarity), changes]
        text += [[self._by(by) for by in error.flagged_by], ignored]
        return [_ERRORS.index(error.error), self._name(stated.term, (stated.start, stated.end)), *_trimmed(text)]

    def moderator(self, word: sections.ModeratorWord) -> Json:
        rules: list[Json] = list(word.rules)
        return [
            _polarity(word.label),
            round(word.confidence, 2),
            rules,
            self._quoted(word.stage),
            self._quoted(word.why),
        ]

    def _remark(self, remark: sections.Remark) -> Json:
        text: list[Json] = [
            [self._known(term) for term in remark.about],
            _polarity(remark.value),
            self._quoted(remark.why),
            self._quoted(remark.evidence),
            _OUTCOMES.index(remark.outcome),
            self._quoted(remark.reason),
        ]
        return [self._number(remark.asks), *_trimmed(text)]

    def _number(self, text: str) -> int:
        return self.words.setdefault(text, len(self.words))

    def _by(self, step: str) -> Json:
        return ORDER.index(step) if step in ORDER else step

    def _name(self, term: str, place: tuple[int | None, int | None] = (None, None)) -> int:
        key = (term, *place)
        if key not in self._numbers:
            self._numbers[key] = len(self.names)
            self.names.append(self._named(term, place))
        return self._numbers[key]

    def _named(self, term: str, place: tuple[int | None, int | None]) -> Json:
        start, end = place
        if start is None or end is None:
            return term
        is_there = 0 <= start <= end and self._text[start:end] == term
        return [start, end] if is_there else [term, start, end]

    def _known(self, term: str) -> int:
        """An aspect that somebody speaks of by its term alone."""
        found = (number for (known, _, _), number in self._numbers.items() if known == term)
        number = next(found, None)
        return self._name(term) if number is None else number

    def _quoted(self, words: str | None) -> Json:
        """Words of the sentence as their place, others by their number from 1 on; 0 for none."""
        if words is None:
            return 0
        place = self._text.find(words)
        return [place, place + len(words)] if place >= 0 else self._number(words) + 1


def _polarity(polarity: str | None) -> Json:
    """The number of a polarity from 1 on, 0 for none; a word that is no polarity is written as it is."""
    if polarity is None:
        return 0
    return _POLARITIES.index(polarity) + 1 if polarity in _POLARITIES else polarity


def _trimmed(values: Iterable[Json]) -> list[Json]:
    """A list without its empty end."""
    kept = list(values)
    while kept and kept[-1] in (0, [], None):
        kept.pop()
    return kept


OUTPUTS, BLAME = "outputs.jsonl", "blame.jsonl"


def traced_sentences(run: Path) -> Iterator[TracedSentence]:
    """Every sentence in the order of the outputs; none where no outputs were kept."""
    folder = RunFolder(run)
    if not has_lines(run / OUTPUTS):
        return
    errors = _Blamed(folder.lines(BLAME, UnitBlame)) if has_lines(run / BLAME) else None
    first = None
    decoder = msgspec.json.Decoder(_Named)
    for line in folder.lines(OUTPUTS, msgspec.Raw):
        named = decoder.decode(line)
        first = named.meta.seed if first is None else first
        # Records of later seeds have the seed in their names.
        known = named.text_id if named.meta.seed == first else f"{named.text_id}@{named.meta.seed}"
        yield TracedSentence(known, bytes(line), None if errors is None else errors.take(named))


class _Seeded(msgspec.Struct, frozen=True):
    """Of an output of which only the seed is wanted."""

    seed: int = 0


class _Named(msgspec.Struct, frozen=True):
    """An output of which only its name is wanted."""

    text_id: str
    meta: _Seeded = _Seeded()


class _Blamed:
    """Errors that stand in the order of their sentences, handed out sentence by sentence."""

    def __init__(self, rows: Iterator[UnitBlame]) -> None:
        self._rows = rows
        self._waiting = next(rows, None)

    def take(self, output: _Named) -> tuple[UnitBlame, ...]:
        taken: list[UnitBlame] = []
        while (row := self._waiting) is not None and (row.text_id, row.seed) == (output.text_id, output.meta.seed):
            taken.append(row)
            self._waiting = next(self._rows, None)
        return tuple(taken)


FIGURES = ("aspect_hallucination_rate", "filter_rejection_rate", "tuple_f1_final", "delta_f1")

_DROPPED = message(
    "A hallucinated aspect stands in {count} of {total} sentences: {share} ({confidence} {interval}). By class: not in "
    "the text (H1) {first}, at the wrong place (H2) {second}, no target (filter) {filtered}."
)
_STAGE_UP = message(
    "The second stage raised F1 from {before} to {after}: {difference} for a sentence ({confidence} {interval})."
)
_STAGE_DOWN = message(
    "The second stage lowered F1 from {before} to {after}: {difference} for a sentence ({confidence} {interval})."
)
_STAGE_EQUAL = message(
    "The second stage is not shown to change F1, {before} before it and {after} after it: {difference} for a sentence "
    "({confidence} {interval})."
)
_NO_GOLD = message("What the second stage did to F1 cannot be told: no sentence has gold and both stages.")
_BLAMED = message("Most errors against gold were introduced by {steps}: {count} of {total} that it could have made.")
_BLAMED_ALL = message("Most errors against gold were introduced by {steps}, {count} each.")
_UNGROUNDED = message(
    "Most aspects that are not in the text were introduced by {steps}: {count} of {total} that it passed on."
)
_FAILED = message("Sentences that failed: {failed} of {total}.")


def aspect_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """What was dropped and why, what the second stage did, and who introduced most errors."""
    rows = Rows(summary, headline)
    yield from _drop_facts(rows, level)
    yield from _stage_facts(rows, level)
    yield from _blame_facts(rows)
    found = summary.aspects
    if found is not None and found.failed:
        yield fact("failed", _FAILED, failed=count(found.failed), total=count(found.samples))


def _drop_facts(rows: Rows, level: float) -> Iterator[Fact]:
    all_kinds = rows.whole("aspect_hallucination_rate")
    parts = {
        "first": rows.whole("aspect_hallucination_rate_h1"),
        "second": rows.whole("aspect_hallucination_rate_h2"),
        "filtered": rows.whole("filter_rejection_rate"),
    }
    if all_kinds is None or all_kinds.value is None or all_kinds.interval is None:
        return
    text = {part: share(row.value) for part, row in parts.items() if row is not None and row.value is not None}
    if len(text) == len(parts):
        yield fact(
            "dropped",
            _DROPPED,
            count=count(all_kinds.count or 0),
            total=count(all_kinds.total or 0),
            share=share(all_kinds.value),
            confidence=confidence(level),
            interval=shares(all_kinds.interval),
            **text,
        )


def _stage_facts(rows: Rows, level: float) -> Iterator[Fact]:
    before, after, change = (rows.whole(metric) for metric in ("tuple_f1_s1", "tuple_f1_final", "delta_f1"))
    if change is None:
        return
    if change.value is None or change.interval is None or before is None or after is None:
        yield fact("stages", _NO_GOLD)
        return
    if before.value is None or after.value is None:
        return
    low, high = change.interval
    sentence = _STAGE_UP if low > 0 else _STAGE_DOWN if high < 0 else _STAGE_EQUAL
    yield fact(
        "stages",
        sentence,
        before=number(before.value),
        after=number(after.value),
        difference=signed(change.value),
        confidence=confidence(level),
        interval=signeds(change.interval),
    )


def _blame_facts(rows: Rows) -> Iterator[Fact]:
    """The step with most errors, against gold where there is any, else of aspects that are not in the text."""
    blamed = [row for row in rows.by("step_introduction_rate", "step", "error") if row.count and row.total]
    for error, sentence in (("against_gold", _BLAMED), ("ungrounded", _UNGROUNDED)):
        own = [row for row in blamed if row.by["error"] == error]
        if not own:
            continue
        most = max(row.count or 0 for row in own)
        first = [row for row in own if row.count == most]
        steps = names(row.by["step"] for row in first)
        if len(first) == 1:
            yield fact("blame", sentence, steps=steps, count=count(most), total=count(first[0].total or 0))
        elif error == "against_gold":
            yield fact("blame", _BLAMED_ALL, steps=steps, count=count(most))
        return


def _sections(gathered: Gathered) -> Sections:
    rows, selection, parts = gathered.rows, gathered.selection, build.part_sections(gathered.summary)
    shown = {item.response.record_id: item.findings for item in (*selection.worst, *selection.random)}
    text = build.told_sentences(gathered.own or (), gathered.summary, shown=shown)
    brief = build.executive_rows(rows)
    families = {title: MetricSection(found, title) for title, found in build.metric_families(rows).items()}
    sentences = record_sections(gathered, lambda view: build.sentence_view(view, text.traces.get(view.record_id)))
    ordered: list[Section | None] = [
        *finding_sections(selection.picker),
        *sentences,
        MetricSection(brief, EXECUTIVE) if brief else None,
        *(families.get(title) for title in ("Dropped aspects of stage 1", "Grounding")),
        text.flow if selection.tallies.responses else None,
        text.blame if text.blame.rows else None,
        parts.get("decisions"),
        *(families.get(title) for title in ("Against gold", "Risks, corrections and changes", "Debate")),
        families.get("Between runs"),
        *breakdown_sections(gathered, build.run_rows(rows)),
        *(families.get(title) for title in ("Failures and effort", "Auxiliary classifier")),
        parts.get("others"),
        *reason_sections(gathered),
    ]
    return Sections([section for section in ordered if section is not None])


def _charts(section: Section, confidence: float) -> list[Chart]:
    if isinstance(section, MetricSection):
        return rate_charts(section.rows, confidence) if section.title in DRAWN else []
    if isinstance(section, sections.FlowSection):
        return flow_charts(section)
    if isinstance(section, sections.PartSection):
        return part_charts(section, confidence)
    return section_charts(section, confidence)


def _records_blocks() -> dict[str, Json]:
    return {"traces-data": vocabulary()}


def _dropped(reason: str) -> Behind:
    return Behind({"kind": "aspect", "reason": reason}, {"kind": "aspect"})


_ASPECTS = Behind({"kind": "aspect"}, {"kind": "aspect"})
_OUT_OF_TEXT, _MISPLACED, _OFF_TARGET = map(_dropped, ("out_of_text", "span_mismatch", "not_a_target"))

PRESENTATION = Presentation(
    sections=_sections,
    facts=aspect_facts,
    figures=FIGURES,
    charts=_charts,
    read=traced_sentences,
    kinds={
        "metrics": SectionKind(title=message("Metrics"), template="section_metrics_aspects.html"),
        "records": SectionKind(title=message("Sentences"), template="section_records.html", scripts=RECORDS.scripts),
        "parts": SectionKind(title=message("Parts in counts"), template="section_parts.html"),
        "flow": SectionKind(title=message("Errors through the steps"), template="section_flow.html"),
        "blame": SectionKind(title=message("Who made which error"), template="section_blame.html"),
    },
    guide="guide_aspects.html",
    counts="counts_aspects.html",
    style="aspects.css",
    script="aspects.js",
    theme=theme_of,
    records_blocks=_records_blocks,
    trace=trace_of,
    trace_payload=trace_payload,
    functions=build.aspect_functions,
    behind={
        "aspect_hallucination_rate": findings_behind("aspect", "unsupported"),
        "aspect_hallucination_rate_h1": _OUT_OF_TEXT,
        "aspect_hallucination_rate_h2": _MISPLACED,
        "filter_rejection_rate": _OFF_TARGET,
        "aspect_drop_rate": findings_behind("aspect", "unsupported"),
        "out_of_text_aspect_rate": _OUT_OF_TEXT,
        "misplaced_aspect_rate": _MISPLACED,
        "off_target_aspect_rate": _OFF_TARGET,
        "mean_offset_error": _MISPLACED,
        "offset_convention_rate": _MISPLACED,
        "span_ok_rate": _ASPECTS,
        "valid_aspect_rate": _ASPECTS,
        "final_out_of_text_rate": Behind({"kind": "final_aspect", "reason": "out_of_text"}, {"kind": "final_aspect"}),
        "parse_generate_failure_rate": Behind({"failure": True}, {}),
    },
)
