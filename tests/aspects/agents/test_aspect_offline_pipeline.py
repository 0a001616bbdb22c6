"""Offline agents with the readers of both languages: a real baseline, and reviews that repair more than they break."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hallumeter.aspects.agents.by_name import AgentSettings, agent_named
from hallumeter.aspects.agents.protocol import AgentAnswer, AgentTask
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, Polarity, TextSpan
from hallumeter.aspects.records.outputs import AspectExtraction, AspectSentiments, PipelineOutput
from hallumeter.aspects.settings import Sentence, StageSettings
from hallumeter.aspects.stages.sequence import processed

Truth = dict[str, Polarity]
SENTENCES: list[tuple[str, str, Truth]] = [
    ("en", "The food was delicious but the waiter was rude.", {"food": "positive", "waiter": "negative"}),
    ("en", "The service is terrible and the room was dirty.", {"service": "negative", "room": "negative"}),
    ("en", "Great pizza, but the wine list is terrible.", {"pizza": "positive", "wine list": "negative"}),
    ("en", "I loved the dessert, although the coffee was not good.", {"dessert": "positive", "coffee": "negative"}),
    ("ko", "배터리는 정말 좋지만 화면이 너무 어두워요.", {"배터리": "positive", "화면": "negative"}),
    ("ko", "직원이 친절하고 음식이 맛있어요.", {"직원": "positive", "음식": "positive"}),
    ("ko", "배송이 느리고 포장이 엉망이에요.", {"배송": "negative", "포장": "negative"}),
    ("ko", "디자인은 예쁜데 가격이 너무 비싸요.", {"디자인": "positive", "가격": "negative"}),
]
each_sentence = pytest.mark.parametrize(("language", "text", "truth"), SENTENCES)
OPPOSITE: dict[Polarity, Polarity] = {"positive": "negative", "negative": "positive"}


def offline(task: AgentTask) -> AgentAnswer:
    return agent_named("offline", AgentSettings(languages=(task.language,))).answer(task).answer


def through(text: str, language: str, said: dict[str, AgentAnswer] | None = None) -> PipelineOutput:
    """A sentence through the pipeline, with some roles taken by others than offline agents."""
    sentence = Sentence(text_id="t1", text=text, language=language)
    return processed(
        sentence,
        StageSettings(),
        lambda task: (said or {}).get(task.role) or offline(task),
        reader=reader_for(language),
    )


def pairs(output: PipelineOutput) -> dict[str, str | None]:
    assert output.final_result is not None
    return {each.aspect_term: each.polarity for each in output.final_result.final_tuples}


def right(text: str, truth: Truth) -> tuple[AspectExtraction, AspectSentiments]:
    aspects = tuple(Aspect(term, TextSpan(text.index(term), text.index(term) + len(term)), 0.9) for term in truth)
    return AspectExtraction(aspects), felt(aspects, truth)


def felt(aspects: tuple[Aspect, ...], truth: Truth) -> AspectSentiments:
    return AspectSentiments(
        tuple(AspectSentiment(AspectTerm(each.term, each.span), truth[each.term], 0.9) for each in aspects)
    )


@each_sentence
def test_offline_agents_find_what_is_plain(language: str, text: str, truth: Truth) -> None:
    output = through(text, language)
    assert pairs(output) == truth
    assert output.notes == ()
    assert [entry for entry in output.correction_applied_log if entry.applied] == []


@each_sentence
def test_what_is_right_stays_right(language: str, text: str, truth: Truth) -> None:
    ate, atsa = right(text, truth)
    assert pairs(through(text, language, {"ate": ate, "atsa": atsa})) == truth


@each_sentence
@pytest.mark.parametrize("shift", [-2, 3, 900])
def test_miscounted_places_are_put_right(language: str, text: str, truth: Truth, shift: int) -> None:
    ate, atsa = right(text, truth)
    spans = {each.term: each.span for each in ate.aspects}
    moved = tuple(
        replace(each, span=TextSpan(each.span.start + shift, each.span.end + shift))
        for each in ate.aspects
        if each.span is not None
    )
    output = through(text, language, {"ate": AspectExtraction(moved), "atsa": atsa})
    assert output.patched_stage2_ate is not None
    assert {each.term: each.span for each in output.patched_stage2_ate.aspects} == spans


@each_sentence
def test_invented_aspects_are_dropped(language: str, text: str, truth: Truth) -> None:
    ate, _ = right(text, truth)
    invented = Aspect("keyboard" if language == "en" else "키보드", TextSpan(0, 3), 0.9)
    more = felt((*ate.aspects, invented), {**truth, invented.term: "positive"})
    output = through(text, language, {"ate": AspectExtraction((*ate.aspects, invented)), "atsa": more})
    assert pairs(output) == truth


def test_most_turned_polarities_are_turned_back() -> None:
    turned_back = total = 0
    for language, text, truth in SENTENCES:
        ate, _ = right(text, truth)
        for term, polarity in truth.items():
            wrong = felt(ate.aspects, {**truth, term: OPPOSITE[polarity]})
            final = pairs(through(text, language, {"ate": ate, "atsa": wrong}))
            assert {each: final[each] for each in truth if each != term} == {
                each: truth[each] for each in truth if each != term
            }
            turned_back += final[term] == polarity
            total += 1
    assert turned_back >= total * 0.6


@each_sentence
def test_every_word_that_offline_agents_quote_stands_in_the_text(language: str, text: str, truth: Truth) -> None:
    output = through(text, language)
    assert output.debate is not None
    summary = output.debate.summary
    assert summary is not None
    edits = [edit for turn in output.debate.rounds[0].turns for edit in turn.proposed_edits]
    quoted = [
        *summary.sentence_evidence_spans,
        *summary.aspect_evidence.values(),
        *(edit.evidence for edit in edits),
        *(each.evidence for each in output.stage1.atsa.aspect_sentiments),
    ]
    assert summary.sentence_evidence_spans
    assert all(words in text for words in quoted if words is not None)
    assert {each.aspect_term: each.polarity for each in summary.final_tuples} == truth


def test_risks_of_stage_one_are_counted_anew_in_stage_two() -> None:
    output = through("The food was delicious but the waiter was not friendly.", "en")
    assert {risk.type for risk in output.stage1.validator.structural_risks} == {"CONTRAST", "NEGATION"}
    assert output.stage2 is not None
    validation = output.stage2.validator.final_validation
    assert validation is not None
    assert len(validation.resolved_risks) + len(validation.remaining_risks) == len(
        output.stage1.validator.structural_risks
    )
