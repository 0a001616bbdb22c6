"""Outputs that keep their stages as the steps of a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hallumeter.aspects.grounding import target_words
from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.outputs import PipelineOutput
from hallumeter.aspects.score.outputs import output_reader
from hallumeter.aspects.score.pipeline import ScoreSettings, score_outputs
from hallumeter.compat.absa import aggregate_single_run, has_hallucinated_aspect, make_scorecard

TEXT = "소파가 편하고 색이 곱다"
SOFA = {"term": "소파", "span": {"start": 0, "end": 2}}
HE = {"term": "가", "span": {"start": 2, "end": 3}}
FELT = {"aspect_ref": "소파", "polarity": "positive", "opinion_term": {"term": "편하고"}, "evidence": "소파가 편하고"}
REVIEW = {"term": "소파", "action": "keep"}
RISKS = {"structural_risks": [{"type": "CONTRAST"}], "correction_proposals": []}
LEFT: dict[str, Any] = {"final_validation": {"resolved_risks": [], "remaining_risks": []}}
Row = dict[str, Any]


def listed(*aspects: Row, said: str = "output", who: str = "agent") -> list[Row]:
    steps = [
        ("stage1", "ATE", {"aspects": list(aspects)}),
        ("stage1", "ATSA", {"aspect_sentiments": [FELT]}),
        ("stage1", "Validator", RISKS),
        ("debate", "panel", {"message": "", "key_points": []}),
        ("stage2", "ATE", {"aspect_review": [REVIEW]}),
        ("stage2", "ATSA", {"sentiment_review": []}),
        ("stage2", "Validator", LEFT),
        ("moderator", "Moderator", {"final_label": "positive"}),
    ]
    return [{"stage": stage, who: agent, said: output, "stage_status": None} for stage, agent, output in steps]


def by_stage(*aspects: Row) -> Row:
    found: Row = {}
    for step in listed(*aspects):
        found.setdefault(step["stage"], {})[step["agent"]] = {"output": step["output"]}
    return found


def by_agent(*aspects: Row) -> Row:
    return {f"{step['stage']}_{step['agent'].lower()}": step["output"] for step in listed(*aspects)}


def steps_by_stage(*aspects: Row) -> Row:
    found: Row = {}
    for step in listed(*aspects):
        found.setdefault(step["stage"], []).append({"agent": step["agent"], "output": json.dumps(step["output"])})
    return found


def line(trace: object, **more: Any) -> Row:
    meta = {"text_id": "s1", "input_text": TEXT, "correction_applied_log": [{"proposal_type": "X", "applied": False}]}
    final = {"label": "positive", "confidence": 0.8, "final_aspects": [FELT]}
    labels = {"stage1_ate": {"label": "positive", "confidence": 0.8}}
    return {"meta": meta, "process_trace": trace, "final_result": final, **labels, **more}


def read(row: Row) -> PipelineOutput:
    return output_reader().record_of(row)


@pytest.mark.parametrize(
    "trace",
    [
        listed(SOFA, HE),
        listed(SOFA, HE, said="result", who="name"),
        by_stage(SOFA, HE),
        by_agent(SOFA, HE),
        steps_by_stage(SOFA, HE),
    ],
)
def test_a_trace_tells_both_stages_in_every_form(trace: object) -> None:
    found = read(line(trace))
    assert [each.term for each in found.stage1.ate.aspects] == ["소파", "가"]
    assert [(each.term, each.polarity) for each in found.stage1.atsa.aspect_sentiments] == [("소파", "positive")]
    assert [risk.type for risk in found.stage1.validator.structural_risks] == ["CONTRAST"]
    assert found.stage2 is not None
    assert [item.term for item in found.stage2.ate.aspect_review] == ["소파"]
    assert found.meta.untold == ()
    assert len(found.correction_applied_log) == 1
    assert found.final_result is not None
    assert found.final_result.final_tuples == (AspectTuple("소파", "positive"),)


def test_the_terms_of_aspects_have_older_and_newer_names() -> None:
    aspects = [{"aspect_term": SOFA}, {"aspect_ref": "가", "span": [2, 3]}, {"confidence": 0.5}, "색"]
    found = read(line([{"stage": "Stage 1", "role": "ate", "response": {"aspects": aspects}}])).stage1.ate.aspects
    assert [each.term for each in found] == ["소파", "가", ""]
    assert [each.span is None for each in found] == [False, False, True]


def test_the_blocks_of_a_row_go_before_its_trace_and_the_trace_before_its_meta() -> None:
    row = line(listed(HE), stage1={"ate": {"aspects": [SOFA]}})
    assert [each.term for each in read(row).stage1.ate.aspects] == ["소파"]
    row = line(listed(SOFA))
    row["meta"] |= {"stage1_aspects": [HE], "stage2_aspects": [SOFA, HE]}
    found = read(row)
    assert [each.term for each in found.stage1.ate.aspects] == ["소파"]
    assert found.patched_stage2_ate is not None
    assert [each.term for each in found.patched_stage2_ate.aspects] == ["소파", "가"]
    row["process_trace"] = None
    assert [each.term for each in read(row).stage1.ate.aspects] == ["가"]


def test_what_is_no_step_tells_nothing() -> None:
    broken = [
        None,
        5,
        {"stage": "stage1", "agent": "ATE", "output": "{"},
        {"stage": "stage1", "output": {"aspects": []}},
    ]
    assert read(line(broken)).meta.untold == ("stage1.ate", "stage1.atsa", "stage1.validator")
    assert read(line("trace")).meta.untold == ("stage1.ate", "stage1.atsa", "stage1.validator")


def test_final_aspects_with_terms_of_their_own_stay() -> None:
    final = {"label": "positive", "confidence": 1, "final_aspects": [{**SOFA, "polarity": "positive"}]}
    found = read(line(None, final_result=final)).final_result
    assert found is not None
    assert [each.term for each in found.final_aspects] == ["소파"]
    said = {"aspect_term": SOFA, "polarity": "negative"}
    found = read(line(None, final_result={**final, "final_aspects": [said]})).final_result
    assert found is not None
    assert [(each.aspect_term, each.span is None) for each in found.final_tuples] == [("소파", False)]


def test_four_of_six_traced_sentences_with_a_dropped_aspect_are_four_of_six() -> None:
    cards = [make_scorecard(line(listed(HE))) for _ in range(4)] + [make_scorecard(line(listed(SOFA)))] * 2
    assert [has_hallucinated_aspect(card) for card in cards] == [True] * 4 + [False] * 2
    found = aggregate_single_run(cards)
    assert (found["N"], found["aspect_hallucination_rate"]) == (6, pytest.approx(4 / 6))


def test_without_aspects_of_stage_1_the_rate_is_undefined_and_says_why() -> None:
    silent = make_scorecard(line(None))
    assert silent["ate"] is None
    found = aggregate_single_run([silent, silent])
    assert (found["N"], found["aspect_hallucination_rate"]) == (2, None)
    assert found["undefined"] == {"aspect_hallucination_rate": "no row tells which aspects stage 1 named"}
    assert aggregate_single_run([silent, make_scorecard(line(listed(HE)))])["aspect_hallucination_rate"] == 1


def test_sentences_without_aspects_of_stage_1_are_named_in_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text("\n".join(json.dumps(line(trace)) for trace in (listed(SOFA), None)), encoding="utf-8")
    found = score_outputs(path, ScoreSettings(words=target_words(())), lambda _: None)
    (notice,) = found.notices
    assert notice.startswith("sentences without aspects of stage 1 (neither in stage1.ate nor in process_trace): 1; ")
