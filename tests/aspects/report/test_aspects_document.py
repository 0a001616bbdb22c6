"""The ways of sentences and of errors in a report document; expected numbers are counted by hand."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from aspect_samples import erring_run, whole_document

from hallumeter.aspects.records.aspect import AspectSentiment, AspectTerm, AspectTuple, TextSpan
from hallumeter.aspects.records.blame import ErrorKind, TracedSentence, UnitBlame, UnitChange
from hallumeter.aspects.records.outputs import AspectSentiments, FinalResult, OutputMeta, PipelineOutput, StageOne
from hallumeter.aspects.report.build import ErrorCount, blame_groups, deeds_of, flow_lines, flow_section
from hallumeter.aspects.report.presentation import trace_payload
from hallumeter.aspects.report.tracing import trace_of
from hallumeter.errors import RecordError
from hallumeter.records.summaries import UnitStatus
from hallumeter.report.document import Document, RecordSection, RecordView
from hallumeter.report.sections import BlameSection, FlowSection, SentenceTrace
from hallumeter.run.finished import Run
from hallumeter.viewer.index.queries import TraceQuery, does_meet


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from erring_run(tmp_path_factory.mktemp("aspects"))


@pytest.fixture(scope="module")
def document(run: Run) -> Document:
    return whole_document(run.path)


def views_of(document: Document) -> dict[str, RecordView]:
    [section] = [section for section in document.sections if isinstance(section, RecordSection)]
    return {view.record_id: view for view in section.records}


def trace_in(document: Document, record_id: str) -> SentenceTrace:
    trace = views_of(document)[record_id].trace
    assert trace is not None
    return trace


def unit(error: ErrorKind, *changes: tuple[str, UnitStatus]) -> UnitBlame:
    """An error that went such a way, from absent on."""
    was: UnitStatus = "absent"
    told = []
    for step, became in changes:
        told.append(UnitChange(step, was, became))
        was = became
    wrong = [step for step, became in changes if became == "wrong"]
    return UnitBlame(
        text_id="s",
        error=error,
        term="t",
        introduced_by=wrong[-1],
        does_stand_at_end=was == "wrong",
        changes=tuple(told),
    )


WAYS = (
    unit("spurious", ("ate", "wrong"), ("ate_review", "absent")),
    unit("missing", ("ate", "wrong"), ("ate_review", "right")),
    unit("polarity", ("atsa", "wrong"), ("ate_review", "absent")),
    unit("polarity", ("atsa", "right"), ("debate_override", "wrong")),
)


def counted() -> ErrorCount:
    count = ErrorCount()
    count.add(WAYS[:2])
    count.add(WAYS[2:])
    return count


def test_errors_are_counted_on_their_way_through_the_steps() -> None:
    steps = {step.step: dict(deeds_of(step)) for step in counted().flow(["ate", "anchoring"])}
    assert steps == {
        "ate": {"introduced": 2},
        "atsa": {"kept": 2, "introduced": 1},
        # The invented aspect is gone, the missed one is there; that with the wrong polarity is now missed.
        "ate_review": {"repaired": 2, "lost": 1},
        "debate_override": {"broken": 1},
        "anchoring": {"kept": 1},
    }


def test_what_a_step_leaves_wrong_is_what_the_next_one_finds_wrong() -> None:
    lines = flow_lines(FlowSection(counted().flow(["anchoring"]), 2))
    assert [(line.step, line.before, line.after) for line in lines] == [
        ("ate", 0, 2),
        ("atsa", 2, 3),
        ("ate_review", 3, 0),
        ("debate_override", 0, 1),
        ("anchoring", 1, 1),
    ]


def test_every_unit_is_somewhere_after_every_step() -> None:
    for step in counted().flow([]):
        assert sum(move.units for move in step.moves) == len(WAYS)


def test_errors_at_the_end_belong_to_the_step_that_introduced_them_last() -> None:
    assert counted().blame([]).standing == {"polarity": {"debate_override": 1}}


def test_a_run_without_errors_has_a_flow_without_steps() -> None:
    count = ErrorCount()
    count.add(())
    section = flow_section(count, [], missing=None)
    assert (section.steps, section.sentences, section.missing) == ((), 1, None)


def test_a_sentence_is_traced_from_the_first_agent_to_the_moderator(document: Document) -> None:
    trace = trace_in(document, "r1")
    speakers = [step.by for step in trace.steps]
    assert speakers[0] == "ate"
    assert speakers == sorted(speakers, key=speakers.index)
    assert {"ate", "atsa", "validator", "epm", "tan", "cj", "debate_summary", "ate_review"} <= set(speakers)
    first = trace.steps[0].aspects
    assert first is not None
    assert [(aspect.term, aspect.start, aspect.is_judged) for aspect in first] == [
        ("battery", 3, False),
        ("keyboard", None, False),
    ]
    assert trace.moderator is not None
    assert "B" in trace.moderator.rules
    assert trace.gold is not None
    assert [aspect.term for aspect in trace.gold] == ["battery", "screen"]


def test_errors_tell_where_they_came_from_and_who_mended_them(document: Document) -> None:
    errors = {(error.error, error.aspect.term): error for error in trace_in(document, "r1").errors or ()}
    invented, misplaced = errors["out_of_text", "keyboard"], errors["misplaced", "battery"]
    assert invented.changes == (("ate", "wrong"), ("ate_review", "absent"))
    assert misplaced.changes == (("ate", "wrong"), ("ate_review", "right"))


def test_reviews_say_what_became_of_what_they_asked_for(document: Document) -> None:
    steps = {step.by: step for step in trace_in(document, "r1").steps}
    asked = {(remark.asks, *remark.about): remark.outcome for remark in steps["ate_review"].remarks}
    assert asked["drop", "keyboard"] == "applied"
    assert asked["revise_span", "battery"] == "applied"


def test_the_same_sentence_under_two_seeds_has_two_traces(document: Document) -> None:
    views = views_of(document)
    assert set(views) == {"r1", "r1@1"}
    assert all(view.trace is not None and view.trace.errors for view in views.values())


def test_evidence_is_kept_only_where_an_aspect_stands_elsewhere(document: Document) -> None:
    view = views_of(document)["r1"]
    quoted = {finding.text for finding in view.findings for verdict in finding.verdicts if verdict.quotes}
    assert quoted == {"battery"}
    assert [passage.text for passage in view.evidence] == [view.response]


def test_blame_has_a_group_for_each_kind_of_error_and_steps_in_their_order(document: Document) -> None:
    [section] = [section for section in document.sections if isinstance(section, BlameSection)]
    groups = {group.error: group for group in blame_groups(section)}
    assert list(groups) == ["ungrounded", "spurious", "missing", "polarity"]
    lines = {line.step: line for line in groups["ungrounded"].lines}
    assert next(iter(lines)) == "ate"
    assert lines["ate"].cells["step_introduction_rate"].count == 4  # two aspects under two seeds
    assert lines["ate_review"].cells["step_repair_rate"].count == 4
    assert "atsa" in groups["ungrounded"].idle


@pytest.mark.parametrize("missing", ["outputs", "blame"])
def test_a_run_without_a_file_says_which(run: Run, tmp_path: Path, missing: str) -> None:
    shutil.copytree(run.path, tmp_path / "run")
    (tmp_path / "run" / f"{missing}.jsonl").unlink()
    told = whole_document(tmp_path / "run")
    [flow] = [section for section in told.sections if isinstance(section, FlowSection)]
    assert (flow.missing, flow.steps) == (missing, ())
    traces = [view.trace for view in views_of(told).values()]
    assert all(
        trace is None if missing == "outputs" else trace is not None and trace.errors is None for trace in traces
    )


def test_an_output_that_was_made_elsewhere_is_traced_from_stage_1_to_its_result() -> None:
    said = AspectSentiment(AspectTerm("soup", TextSpan(4, 8)), "positive", 0.7)
    output = PipelineOutput(
        "s",
        "The soup.",
        StageOne(atsa=AspectSentiments((said,))),
        final_result=FinalResult("negative", 0.5, final_tuples=(AspectTuple("soup", "negative"),)),
        meta=OutputMeta(untold=("stage1.ate",)),
    )
    trace = trace_of(TracedSentence("s", msgspec.json.encode(output)))
    told = {step.by: [(aspect.term, aspect.polarity) for aspect in step.aspects or ()] for step in trace.steps}
    assert told == {"stage1": [("soup", "positive")], "final": [("soup", "negative")]}
    assert (trace.errors, trace.gold, trace.untold) == (None, None, ("stage1.ate",))
    assert trace.moderator is not None
    assert trace.moderator.label == "negative"


def test_a_damaged_output_is_named() -> None:
    with pytest.raises(RecordError, match="the output of sentence 's7' is damaged"):
        trace_of(TracedSentence("s7", b'{"text_id": 3}'))


def test_words_of_the_sentence_are_written_as_places_and_others_once(document: Document) -> None:
    view = views_of(document)["r1"]
    payload = trace_payload(trace_in(document, "r1"), view.response or "")
    assert isinstance(payload, dict)
    names = payload["n"]
    assert isinstance(names, list)
    assert names[:2] == [["battery", 3, 10], "keyboard"]
    assert [4, 11] in names  # where the battery stands in the end
    assert payload["s"][0] == [0, [0, 1]]  # type: ignore[index]
    words = payload["w"]
    assert isinstance(words, list)
    assert len(words) == len(set(map(str, words)))


@pytest.mark.parametrize(
    ("query", "is_met"),
    [
        (TraceQuery(did="made", step="ate", error="ungrounded"), True),
        (TraceQuery(did="introduced", step="ate"), True),
        (TraceQuery(did="broken", step="ate"), False),
        (TraceQuery(did="repaired", step="ate_review", error="out_of_text"), True),
        (TraceQuery(did="repaired", step="atsa", error="ungrounded"), False),
        (TraceQuery(did="stands", step="ate", error="ungrounded"), False),
        (TraceQuery(did="flagged", step="tan", error="ungrounded"), True),
        (TraceQuery(did="ignored", step="anchoring"), False),
        (TraceQuery(rule="B"), True),
        (TraceQuery(rule="Z"), False),
        (TraceQuery(override="applied"), False),
    ],
)
def test_a_query_finds_the_sentences_behind_a_number(document: Document, query: TraceQuery, is_met: bool) -> None:
    assert does_meet(trace_in(document, "r1"), query) is is_met
    assert not does_meet(None, query)


def test_what_is_dropped_although_it_should_stay_is_lost_and_not_repaired() -> None:
    output = PipelineOutput("s", "The soup.")
    trace = trace_of(TracedSentence("s", msgspec.json.encode(output), WAYS[2:3]))
    assert does_meet(trace, TraceQuery(did="lost", step="ate_review"))
    assert not does_meet(trace, TraceQuery(did="repaired", step="ate_review"))
