"""Samples and token log-probabilities of records: who compares them, what is counted, and what breaks."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import pytest
from msgspec import structs

from hallumeter.claims.samples import (
    JudgeEquivalence,
    SampleReader,
    SampleReading,
    SampleTable,
    VectorEquivalence,
    sample_measurements,
)
from hallumeter.claims.settings import MeasureSettings
from hallumeter.records.claim import Failure, Label, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.response import FieldValue, Response
from hallumeter.stats.summarize import SummarySettings

SETTINGS = SummarySettings(version="0", resamples=200)


class WordJudge:
    """Supports a claim when the evidence has all of its words; counts what it is asked."""

    def __init__(self, answer: Callable[[str, str], Label | str] | None = None, *, is_remote: bool = False) -> None:
        self.spec = JudgeSpec("words@1", is_remote=is_remote)
        self.asked: list[tuple[str, str]] = []
        self._answer = answer or self._by_words

    @staticmethod
    def _by_words(evidence: str, claim: str) -> Label:
        return Label.SUPPORTED if set(claim.split()) <= set(evidence.split()) else Label.NOT_ENOUGH_INFO

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        (claim,), response = task.claims, task.response
        evidence = response.evidence[0].text
        assert claim.text == response.response
        assert response.response is not None
        assert response.response[claim.start : claim.end] == claim.text
        self.asked.append((evidence, claim.text))
        said = self._answer(evidence, claim.text)
        if isinstance(said, str):
            return [Failure(claim.record_id, claim.claim_id, "judge", "words@1", said, "no reply", attempts=3)]
        return [Verdict(claim.record_id, claim.claim_id, "words@1", said, reason="uncertain")]


def record(response: str | None, *samples: str, logprobs: tuple[float, ...] | None = None) -> Response:
    return Response("r1", "Which city?", response, samples=samples, token_logprobs=logprobs)


def rows_by_id(
    readings: list[SampleReading],
    fields: list[dict[str, FieldValue]] | None = None,
    equivalence: str | None = "words",
    *,
    by: tuple[str, ...] = (),
    cluster: str = "response",
) -> dict[tuple[str, str], MetricSummary]:
    """By metric and the value of the group."""
    table = SampleTable(MeasureSettings(by=by, cluster=cluster), equivalence)
    for reading, own in zip(readings, fields or [{}] * len(readings), strict=True):
        table.add(Response(reading.record_id, fields=own), reading)
    found = table.tally().rows(by, structs.replace(SETTINGS, cluster=cluster))
    return {(row.metric, "/".join(row.by.values())): row for row in found}


def test_a_judge_is_asked_in_both_directions() -> None:
    judge = WordJudge()
    reading = SampleReader(JudgeEquivalence(judge)).read(record("big old city", "old big city", "big city", "sea"))
    assert reading.meanings == (0, 0, 1, 2)
    # "big city" follows from the response, but not the other way round; "sea" stops at the first direction.
    assert judge.asked == [
        *[("big old city", "old big city"), ("old big city", "big old city")],
        *[("big old city", "big city"), ("big city", "big old city")],
        *[("big old city", "sea"), ("big city", "sea")],
    ]


def test_answers_typed_alike_or_empty_need_no_judge() -> None:
    judge = WordJudge()
    reading = SampleReader(JudgeEquivalence(judge)).read(record("Paris.", " paris", "“Paris”", "", ""))
    assert reading.meanings == (0, 0, 0, 1, 1)
    assert judge.asked == []


def test_the_name_of_a_judge_changes_with_its_settings() -> None:
    judge = WordJudge()
    name = JudgeEquivalence(judge).name
    assert name.startswith("both-ways:words@1-")
    judge.spec = JudgeSpec("words@1", (("stop", "words"),))
    assert JudgeEquivalence(judge).name != name
    assert not JudgeEquivalence(judge).is_remote


@pytest.mark.parametrize(("said", "code", "attempts"), [("timeout", "timeout", 3), (Label.UNDECIDED, "undecided", 1)])
def test_a_judge_that_cannot_tell_leaves_a_failure_and_no_meanings(said: Label | str, code: str, attempts: int) -> None:
    reading = SampleReader(JudgeEquivalence(WordJudge(lambda *_: said))).read(record("a", "b", logprobs=(-1.0,)))
    (failure,) = reading.failures
    assert (failure.record_id, failure.claim_id, failure.step) == ("r1", None, "samples")
    assert (failure.code, failure.attempts) == (code, attempts)
    assert reading.meanings == ()
    assert reading.are_meanings_missing
    assert reading.tokens == 1


def test_what_a_judge_raises_is_a_failure_here_and_the_end_of_the_run_elsewhere() -> None:
    def broken(*_: str) -> Label:
        raise RuntimeError("no quota")

    (failure,) = SampleReader(JudgeEquivalence(WordJudge(broken))).read(record("a", "b")).failures
    assert (failure.code, failure.message) == ("judge_error", "RuntimeError: no quota")
    with pytest.raises(RuntimeError, match="no quota"):
        SampleReader(JudgeEquivalence(WordJudge(broken, is_remote=True))).read(record("a", "b"))


def test_vectors_see_the_same_meaning_in_other_words_and_languages() -> None:
    equivalence = VectorEquivalence()
    assert equivalence.name.startswith("vectors:use-multilingual-")
    assert equivalence.name.endswith("@0.8")
    assert not equivalence.is_remote
    reading = SampleReader(equivalence).read(
        record(
            "Paris is the capital of France.",
            "The capital of France is Paris.",
            "Paris est la capitale de la France.",
            "Whales sing in the ocean.",
        )
    )
    assert reading.meanings == (0, 0, 0, 1)


def test_vectors_do_not_join_answers_with_different_numbers() -> None:
    reader = SampleReader(VectorEquivalence(0.0))
    assert reader.read(record("It is 330 m tall.", "It is 300 m tall.", "It is tall.")).meanings == (0, 1, 0)
    assert SampleReader(VectorEquivalence(2.0)).read(record("Yes.", "yes", "")).meanings == (0, 0, 1)


def test_records_without_samples_or_logprobs_are_no_work() -> None:
    by_judge, tokens_only = SampleReader(JudgeEquivalence(WordJudge())), SampleReader(None)
    assert by_judge.has_work(record("a", "b"))
    assert not tokens_only.has_work(record("a", "b"))
    assert tokens_only.has_work(record("a", logprobs=(-1.0,)))
    assert not by_judge.has_work(record("a", logprobs=()))
    assert by_judge.read(record("a")) == SampleReading("r1")
    assert tokens_only.read(record("a", "b")) == SampleReading("r1")


def test_samples_without_a_response_are_a_failure() -> None:
    (failure,) = SampleReader(JudgeEquivalence(WordJudge())).read(record(None, "b")).failures
    assert failure.code == "no_response"


def test_log_probabilities_that_cannot_be_any_are_a_failure() -> None:
    reading = SampleReader(None).read(record("a", logprobs=(-1.0, 0.5)))
    assert reading.failures[0].code == "bad_logprobs"
    assert "token_logprobs[1] is 0.5" in reading.failures[0].message
    assert reading.are_tokens_refused
    assert reading.tokens == 0


def test_a_reading_comes_back_whole_from_a_journal() -> None:
    reading = SampleReading("r1", 2, (0, 1, 0), 3, 1.5, 0.25, (Failure("r1", None, "samples", None, "x", "y"),))
    assert msgspec.json.decode(msgspec.json.encode(reading), type=SampleReading) == reading


READINGS = [
    SampleReading("r1", 3, (0, 0, 1, 1), tokens=2, surprisal=3.0, least_probability=0.1),
    SampleReading("r2", 2, (0, 0, 0), tokens=1, surprisal=0.0, least_probability=1.0),
    SampleReading("r3"),
]


def test_the_rows_of_a_run_and_of_its_groups_by_hand() -> None:
    rows = rows_by_id(READINGS, [{"system": "m"}, {"system": "n"}, {"system": "m"}], by=("system",))
    assert len(rows) == 5 * 3
    entropy = rows["semantic_entropy", ""]
    assert entropy.value == pytest.approx(math.log(2) / 2)
    assert entropy.total == 2
    assert entropy.judge is None, "whoever compared samples judged no claim"
    assert "|judge:words|" in entropy.signature
    assert entropy.interval is not None
    assert entropy.interval[1] <= math.log(4)
    assert "words" in entropy.signature
    assert rows["sample_consistency", ""].value == 3 / 5
    assert rows["sample_consistency", "m"].value == 1 / 3
    assert rows["sample_consistency", "n"].value == 1
    assert rows["meanings_per_response", ""].value == 1.5
    assert rows["token_surprisal", ""].value == 1
    assert rows["token_surprisal", ""].judge is None
    assert rows["least_token_probability", "m"].value == pytest.approx(0.1)
    assert all(row.failed == 0 and row.bounds == (row.value, row.value) for row in rows.values())


def test_what_could_not_be_read_widens_the_bounds() -> None:
    refused = Failure("r5", None, "samples", None, "bad_logprobs", "positive")
    broken = [SampleReading("r4", 3), SampleReading("r5", failures=(refused,))]
    rows = rows_by_id([*READINGS, *broken])
    # One record of three samples more, which could all agree or all differ; one response more for the tokens.
    assert rows["sample_consistency", ""].bounds == (3 / 8, 6 / 8)
    assert rows["semantic_entropy", ""].bounds == pytest.approx((math.log(2) / 3, (math.log(2) + math.log(4)) / 3))
    assert rows["meanings_per_response", ""].bounds == pytest.approx((4 / 3, 7 / 3))
    assert rows["least_token_probability", ""].bounds == pytest.approx((1.1 / 3, 2.1 / 3))
    assert rows["token_surprisal", ""].bounds is None
    assert {row.failed for row in rows.values()} == {1}


def test_nobody_who_compares_and_no_tokens_give_no_rows() -> None:
    assert rows_by_id([SampleReading("r3")], equivalence=None) == {}
    undefined = rows_by_id([SampleReading("r3")])
    assert {row.undefined for row in undefined.values()} == {"no response comes with samples"}
    assert len(undefined) == 3
    assert rows_by_id([]) == {}


def test_clusters_are_the_unit_of_resampling() -> None:
    fields: list[dict[str, FieldValue]] = [{"document": "7"}, {"document": "2"}, {"document": "7"}]
    rows = list(rows_by_id(READINGS, fields, cluster="document").values())
    assert [row.value for row in rows] == [row.value for row in rows_by_id(READINGS).values()]
    assert "cluster:document" in rows[0].signature


def test_every_record_with_something_to_say_has_its_measurements() -> None:
    broken = SampleReading("r4", 3)
    found = list(sample_measurements([*READINGS, broken], [{"model": "m"}] * 4, equivalence="words"))
    values = {(row.record_id, row.metric): row.value for row in found}
    assert values["r1", "semantic_entropy"] == pytest.approx(math.log(2))
    assert values["r1", "sample_consistency"] == 1 / 3
    assert values["r2", "least_token_probability"] == 1
    assert {row.record_id for row in found} == {"r1", "r2", "r4"}
    missing = [row for row in found if row.record_id == "r4"]
    assert {(row.metric, row.value, row.undefined) for row in missing} == {
        (name, None, "it could not be read: see the failures")
        for name in ("semantic_entropy", "sample_consistency", "meanings_per_response")
    }
    assert {tuple(row.by.items()) for row in found} == {(("model", "m"),)}
    assert {row.scope for row in found} == {"record"}
    assert next(sample_measurements(READINGS, equivalence=None)).by == {}
