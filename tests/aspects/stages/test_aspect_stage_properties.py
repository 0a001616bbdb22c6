"""Whatever agents answer, code makes of it the same output each time, and its logs tell the truth."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from small_reader import Script, SmallReader

from hallumeter.aspects.agents.protocol import AgentAnswer, AgentFault, Role
from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    CorrectionProposal,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import (
    STEPS,
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiments,
    DebateSummary,
    DebateTurn,
    EditTarget,
    PipelineOutput,
    ProposedEdit,
    SentimentReview,
    SentimentReviewItem,
    StructuralReview,
    StructuralValidation,
)
from hallumeter.aspects.resource_files import shipped_patterns
from hallumeter.aspects.settings import OverrideThresholds, Sentence, StageSettings, Switches
from hallumeter.aspects.stages.changes import HELD_BACK
from hallumeter.aspects.stages.sequence import processed

TEXTS = ("", "배터리는 좋지만 화면이 안 좋다", "The screen is not good but the battery life is great", "고양이 종이 뷰")
WORDS = ("screen", "Screen", "battery", "battery life", "배터리", "배터리는", "화면", "고양이", "뷰", "", " ", "x", "!")
ACTIONS = ("keep", "maintain", "drop", "add", "revise_span", "revise", "flip_polarity", "revise_term", "?")
OPS = ("set_polarity", "set_aspect_ref", "merge_tuples", "drop_tuple", "confirm_tuple", "other")

words = st.sampled_from(WORDS)
maybe_words = st.none() | words
said = st.sampled_from(("positive", "negative", "neutral", "pos", "pozitife", "mixed", "", None))
polarities = st.sampled_from(("positive", "negative", "neutral", None))
confidences = st.none() | st.floats(-1, 2)
spans = st.none() | st.builds(TextSpan, st.integers(-3, 30), st.integers(-3, 30))
risks = st.builds(StructuralRisk, st.sampled_from(("NEGATION", "CONTRAST", "irony", "", "E")), spans, st.just("high"))
proposals = st.builds(
    CorrectionProposal,
    maybe_words,
    st.sampled_from(("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN", "")),
    st.just("why"),
    spans,
    confidences,
)
edits = st.builds(ProposedEdit, st.sampled_from(OPS), st.builds(EditTarget, maybe_words, maybe_words, said), said)


def some(one: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(one, max_size=4).map(tuple)


turns = st.builds(
    DebateTurn, words, some(edits), maybe_words, st.sampled_from(("pro", "con", "neutral", "odd", None)), maybe_words
)
ANSWERS: dict[Role, Callable[[], st.SearchStrategy[AgentAnswer]]] = {
    "ate": lambda: st.builds(AspectExtraction, some(st.builds(Aspect, words, spans, confidences))),
    "atsa": lambda: st.builds(
        AspectSentiments,
        some(
            st.builds(
                AspectSentiment, st.none() | st.builds(AspectTerm, words, spans), polarities, confidences, maybe_words
            )
        ),
    ),
    "validator": lambda: st.builds(StructuralValidation, some(risks), some(proposals), confidences),
    "epm": lambda: turns,
    "tan": lambda: turns,
    "cj": lambda: turns,
    "debate_summary": lambda: st.builds(
        DebateSummary, some(edits), some(st.builds(AspectTuple, words, said)), said, some(words), consensus=said
    ),
    "ate_review": lambda: st.builds(
        AspectReview, some(st.builds(AspectReviewItem, words, st.sampled_from(ACTIONS), spans))
    ),
    "atsa_review": lambda: st.builds(
        SentimentReview,
        some(st.builds(SentimentReviewItem, words, st.sampled_from(ACTIONS), polarities, spans, maybe_words)),
    ),
    "validator_review": lambda: st.builds(StructuralReview, some(risks), some(proposals), confidences),
}
all_answers = st.fixed_dictionaries({role: make() for role, make in ANSWERS.items()})
all_switches = st.builds(
    Switches,
    enable_validator=st.booleans(),
    enable_debate=st.booleans(),
    enable_stage2=st.booleans(),
    enable_debate_override=st.booleans(),
    enable_moderator=st.booleans(),
)
all_thresholds = st.builds(
    OverrideThresholds,
    min_total=st.sampled_from((0.0, 0.6, 1.6)),
    min_margin=st.sampled_from((0.0, 0.3, 0.8)),
    l3_conservative=st.booleans(),
)


def output_of(
    text: str, answers: dict[Role, AgentAnswer | AgentFault], switches: Switches, thresholds: OverrideThresholds
) -> PipelineOutput:
    language = "en" if text.isascii() else "ko"
    given_settings = StageSettings(switches=switches, override=thresholds, patterns=dict(shipped_patterns()))
    sentence = Sentence(text_id="t", text=text, language=language)
    return processed(sentence, given_settings, Script(answers), reader=SmallReader())


@settings(max_examples=400)
@given(st.sampled_from(TEXTS), all_answers, all_switches, all_thresholds)
def test_any_answers_lead_to_one_output_whose_logs_tell_the_truth(
    text: str, answers: dict[Role, AgentAnswer | AgentFault], switches: Switches, thresholds: OverrideThresholds
) -> None:
    output = output_of(text, answers, switches, thresholds)
    encoded = msgspec.json.encode(output)
    assert encoded == msgspec.json.encode(output_of(text, answers, switches, thresholds))
    assert msgspec.json.decode(encoded, type=PipelineOutput) == output
    assert output.failed is None
    assert output.final_result is not None
    assert (output.moderator is not None) == switches.enable_moderator
    _check_logs(output, switches)
    _check_states(output)
    _check_result(output)


def _check_logs(output: PipelineOutput, switches: Switches) -> None:
    proposals_of_stage1 = output.stage1.validator.correction_proposals
    proposed = [entry for entry in output.correction_applied_log if entry.step == "validator_proposals"]
    overrides = [entry for entry in output.correction_applied_log if entry.step == "debate_override"]
    held_back = [entry for entry in proposed if entry.reason == HELD_BACK]
    assert len(proposed) - len(held_back) == len(proposals_of_stage1)
    assert {entry.proposal_type for entry in held_back} <= {"FLIP_POLARITY"}
    assert len(overrides) == sum(decision.decision == "applied" for decision in output.override_log)
    items = 0
    if output.stage2 is not None:
        items = len(output.stage2.ate.aspect_review) + len(output.stage2.atsa.sentiment_review)
    assert len(output.review_applied_log) == items
    log = (*output.correction_applied_log, *output.review_applied_log)
    changed = {state.step for state in output.states}
    for entry in log:
        assert entry.applied == (entry.ignored_reason is None)
        assert entry.reason
        assert not entry.applied or entry.step in changed
    for step in changed & {"validator_proposals", "ate_review", "atsa_review", "debate_override"}:
        assert any(entry.applied and entry.step == step for entry in log)
    if not switches.enable_stage2:
        assert not any(entry.applied for entry in log)


def _check_states(output: PipelineOutput) -> None:
    order = [STEPS.index(state.step) for state in output.states]
    assert output.states[0].step == "ate"
    assert order == sorted(set(order))


def _check_result(output: PipelineOutput) -> None:
    assert output.final_result is not None
    aspects = output.stage1.ate if output.patched_stage2_ate is None else output.patched_stage2_ate
    known = {aspect.term for aspect in aspects.aspects}
    for ended in output.final_result.final_aspects:
        assert not ended.term.strip() or ended.term in known
    assert len(output.final_result.final_tuples) == len(output.final_result.final_aspects)
    assert 0 <= output.final_result.confidence <= 1
    assert output.final_result.label in {"positive", "negative", "neutral", "mixed"}
    for sentiment in output.stage1.atsa.aspect_sentiments:
        assert sentiment.is_backfilled or sentiment.neutral_reason is None
