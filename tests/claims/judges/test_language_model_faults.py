"""Replies that cannot be used, calls that fail, and evidence that does not fit."""

from __future__ import annotations

import json

import pytest
from model_replies import EVIDENCE, entry, judged, one, reply, sent, task_of

from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.models.protocol import Completion, ProviderFault, Reply, Request
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.claim import Failure, Label, Verdict
from hallumeter.records.response import Passage

CLAIMS = ["The tower was completed in 1889.", "Le Louvre est fermé le mardi.", "서울은 수도이다."]
SILENT = entry("NOT_ENOUGH_INFO")


def codes(said: list[Verdict | Failure]) -> list[str]:
    return [each.code if isinstance(each, Failure) else each.label.value for each in said]


def test_a_model_is_told_what_was_wrong_and_asked_only_for_what_is_missing() -> None:
    provider = ScriptedProvider(
        [json.dumps({"1": SILENT, "2": entry("maybe")}), json.dumps({"2": SILENT, "3": SILENT})]
    )
    assert codes(judged(provider, task_of(CLAIMS))) == ["NOT_ENOUGH_INFO"] * 3
    first, second = provider.requests
    assert second.messages[:2] == first.messages
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert "claim 2: 'maybe' is not a label; claim 3: there is no entry for it" in second.messages[3].content
    assert second.reply_schema is not None
    assert second.reply_schema.schema["required"] == ["2", "3"]


def test_after_two_repairs_only_the_claims_without_a_verdict_have_failed() -> None:
    provider = ScriptedProvider(lambda _: json.dumps({"2": SILENT}))
    said = judged(provider, task_of(CLAIMS))
    assert codes(said) == ["malformed_reply", "NOT_ENOUGH_INFO", "malformed_reply"]
    assert len(provider.requests) == 3
    failure = said[0]
    assert isinstance(failure, Failure)
    assert (failure.record_id, failure.claim_id, failure.step, failure.judge) == (
        "r1",
        "r1#0",
        "judge",
        "scripted:model",
    )
    assert failure.attempts == 3
    assert failure.message == "no usable reply: there is no entry for it"


@pytest.mark.parametrize("repairs", [0, 1])
def test_repairs_can_be_fewer(repairs: int) -> None:
    provider = ScriptedProvider(lambda _: "I would rather not say.")
    assert codes(judged(provider, task_of(CLAIMS[:1]), repairs=repairs)) == ["malformed_reply"]
    assert len(provider.requests) == 1 + repairs


def test_a_reply_that_was_cut_off_keeps_what_is_whole_and_the_rest_is_asked_for_with_more_room() -> None:
    cut_off = reply(SILENT, SILENT, SILENT)[:150]
    provider = ScriptedProvider([Reply((Completion(cut_off, "length"),)), json.dumps({"3": SILENT})])
    assert codes(judged(provider, task_of(CLAIMS))) == ["NOT_ENOUGH_INFO"] * 3
    first, second = provider.requests
    assert second.max_tokens == 2 * first.max_tokens
    assert "ended before it was complete" in second.messages[-1].content
    assert second.messages[-1].content.endswith(" 3.")


def test_an_empty_reply_is_asked_for_again_with_more_room_and_then_fails() -> None:
    provider = ScriptedProvider(lambda _: ProviderFault("empty_reply", "the reply holds no text"))
    (failure,) = judged(provider, task_of(CLAIMS[:1]))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.attempts) == ("empty_reply", 3)
    assert [request.max_tokens for request in provider.requests] == [224, 448, 896]


def test_a_reply_without_any_completion_is_asked_for_again() -> None:
    provider = ScriptedProvider([Reply(()), reply(SILENT)])
    assert codes(judged(provider, task_of(CLAIMS[:1]))) == ["NOT_ENOUGH_INFO"]


def test_an_empty_reply_may_be_followed_by_a_good_one() -> None:
    provider = ScriptedProvider([ProviderFault("empty_reply", "the reply holds no text"), reply(SILENT)])
    assert codes(judged(provider, task_of(CLAIMS[:1]))) == ["NOT_ENOUGH_INFO"]


@pytest.mark.parametrize("code", ["timeout", "rate_limited", "content_filter", "error_reply"])
def test_a_fault_of_the_provider_is_a_failure_for_each_claim(code: str) -> None:
    fault = ProviderFault(code, "no luck", is_retryable=True)
    fault.attempts = 4
    provider = ScriptedProvider([fault])
    said = judged(provider, task_of(CLAIMS))
    assert [(each.code, each.message, each.attempts, each.claim_id) for each in said if isinstance(each, Failure)] == [
        (code, "no luck", 4, f"r1#{number}") for number in range(3)
    ]


def test_a_fault_during_a_repair_leaves_the_verdicts_that_were_given() -> None:
    provider = ScriptedProvider([json.dumps({"1": SILENT}), ProviderFault("timeout", "no reply in 60 s")])
    assert codes(judged(provider, task_of(CLAIMS[:2]))) == ["NOT_ENOUGH_INFO", "timeout"]


def test_faults_that_every_call_would_meet_are_not_swallowed() -> None:
    provider = ScriptedProvider([ProviderFault("bad_key", "the key was refused", is_fatal=True)])
    with pytest.raises(ProviderFault, match="the key was refused"):
        judged(provider, task_of(CLAIMS))


def test_what_is_no_fault_of_the_provider_is_passed_on() -> None:
    class BudgetError(Exception):
        pass

    def answer(_request: Request) -> str:
        raise BudgetError

    with pytest.raises(BudgetError):
        judged(ScriptedProvider(answer), task_of(CLAIMS))


LONG = [Passage(f"p{number}", f"Part {number}. " + "Nothing of note is said here. " * 8) for number in range(5)]


def by_window(labels: dict[str, dict[str, object]]) -> ScriptedProvider:
    """Answers by which passage is shown; the others are silent."""

    def answer(request: Request) -> str:
        shown = json.dumps(sent(request)["evidence"])
        return reply(next((said for part, said in labels.items() if f"Part {part}." in shown), SILENT))

    return ScriptedProvider(answer)


SAYS_SO, SAYS_NOT = entry("SUPPORTED", "Nothing of note"), entry("REFUTED", "is said here")


@pytest.mark.parametrize(
    ("windows", "label", "reason"),
    [
        ({}, Label.NOT_ENOUGH_INFO, None),
        ({"3": SAYS_SO}, Label.SUPPORTED, None),
        ({"1": SAYS_NOT, "4": SAYS_NOT}, Label.REFUTED, None),
        ({"1": SAYS_SO, "3": SAYS_NOT}, Label.UNDECIDED, "windows_disagree"),
        ({"2": entry("UNDECIDED")}, Label.UNDECIDED, "uncertain"),
        ({"2": entry("SUPPORTED", "an invention")}, Label.UNDECIDED, "quote_not_found"),
        ({"2": entry("UNDECIDED"), "4": SAYS_SO}, Label.SUPPORTED, None),
    ],
)
def test_what_windows_say_is_put_together(
    windows: dict[str, dict[str, object]], label: Label, reason: str | None
) -> None:
    provider = by_window(windows)
    verdict = one(provider, task_of(CLAIMS[:1], LONG), window_characters=300)
    assert (verdict.label, verdict.reason) == (label, reason)
    assert len(provider.requests) == 5


def test_a_quotation_from_a_window_has_its_place_in_its_passage() -> None:
    verdict = one(by_window({"3": SAYS_SO}), task_of(CLAIMS[:1], LONG), window_characters=300)
    (quote,) = verdict.evidence
    assert quote.evidence_id == "p3"
    assert LONG[3].text[quote.start : quote.end] == "Nothing of note"


def test_evidence_that_was_not_all_seen_is_never_said_to_be_silent() -> None:
    provider = by_window({})
    verdict = one(provider, task_of(["Part 3 is short."], LONG), window_characters=300, most_windows=2)
    assert (verdict.label, verdict.reason) == (Label.UNDECIDED, "evidence_cut")
    assert verdict.note == "judged on 2 of 5 windows (496 of 1,240 characters)"
    assert any("Part 3." in request.messages[1].content for request in provider.requests)


def test_a_verdict_on_part_of_the_evidence_says_so() -> None:
    verdict = one(by_window({"3": SAYS_SO}), task_of(["Part 3"], LONG), window_characters=300, most_windows=1)
    assert verdict.label is Label.SUPPORTED
    assert verdict.note == "judged on 1 of 5 windows (248 of 1,240 characters)"


def test_a_claim_that_one_window_failed_on_has_failed_and_is_not_asked_about_again() -> None:
    provider = ScriptedProvider([reply(SAYS_SO), ProviderFault("timeout", "no reply in 60 s")])
    assert codes(judged(provider, task_of(CLAIMS[:1], LONG), window_characters=300)) == ["timeout"]
    assert len(provider.requests) == 2


def test_one_judge_serves_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    judge = LanguageModelJudge(ScriptedProvider(lambda _: reply(entry("SUPPORTED", "completed in 1889", 1))))
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: judge.judge(task_of(CLAIMS[:1], EVIDENCE)), range(200)))
    assert [codes(each) for each in said] == [["SUPPORTED"]] * 200
