"""What users can put into their own tests."""

from __future__ import annotations

from hallumeter import testing
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Response

TASK = JudgeTask(Response("r"), (Claim("r", "a", text="Il pleut."), Claim("r", "b", text="눈이 온다.")))


def labels_of(said: list[Verdict | Failure]) -> list[Label]:
    return [each.label for each in said if isinstance(each, Verdict)]


def test_a_judge_says_what_it_is_told_and_is_undecided_on_the_rest() -> None:
    judge = testing.judge_that_says({"Il pleut.": "SUPPORTED"}, name="told")
    assert judge.spec.name == "told"
    assert labels_of(judge.judge(TASK)) == [Label.SUPPORTED, Label.UNDECIDED]


def test_a_judge_may_be_a_function() -> None:
    judge = testing.judge_that_says(lambda claim, evidence: len(claim) > 7)
    assert labels_of(judge.judge(TASK)) == [Label.SUPPORTED, Label.NOT_ENOUGH_INFO]


def test_sample_responses_are_whole_and_each_has_its_own_id() -> None:
    responses = testing.sample_responses()
    assert len(responses) == 66, "eleven questions, six models"
    assert len({response.record_id for response in responses}) == 66
    assert all(response.response and response.question and response.evidence for response in responses)
    assert len({response.model for response in responses}) == 6


def test_public_names_are_there() -> None:
    assert sorted(testing.__all__) == testing.__all__
    assert all(hasattr(testing, name) for name in testing.__all__)
