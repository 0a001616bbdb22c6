"""Verdicts that were given before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hallumeter.claims.judges.recorded import RecordedJudge
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Response

ROWS: list[dict[str, object]] = [
    {"record_id": "r1", "claim_id": "r1#0", "label": "SUPPORTED", "text": "Il pleut.", "judge": "Ada"},
    {
        "record_id": "r1",
        "claim_id": "r1#1",
        "label": "contradiction",
        "text": "서울은 섬이다.",
        "judge": "Ada",
        "cost_usd": 0.5,
    },
    {
        "record_id": "r2",
        "claim_id": "x",
        "label": "NEI",
        "judge": "Ada",
        "reason": "out_of_text",
        "unsupported_probability": 0.9,
    },
]


def said_by(judge: RecordedJudge, *claims: Claim, response: Response | None = None) -> list[Verdict | Failure]:
    return judge.judge(JudgeTask(response or Response(claims[0].record_id), claims))


def code(said: Verdict | Failure) -> str:
    return said.code if isinstance(said, Failure) else said.label.value


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_verdict_is_found_by_record_and_claim(tmp_path: Path) -> None:
    judge = RecordedJudge(written(tmp_path / "verdicts.jsonl", ROWS))
    assert judge.spec.name == "Ada"
    assert not judge.spec.is_remote
    assert judge.spec.claims_per_task is None
    (verdict,) = said_by(judge, Claim("r2", "x"))
    assert isinstance(verdict, Verdict)
    assert (verdict.label, verdict.judge, verdict.reason) == (Label.NOT_ENOUGH_INFO, "Ada", "out_of_text")
    assert verdict.unsupported_probability == 0.9


def test_else_it_is_found_by_the_words_of_the_claim_whatever_its_id() -> None:
    (verdict,) = said_by(RecordedJudge(ROWS), Claim("r1", "r1#7", start=3, end=11, text="서울은 섬이다"))
    assert isinstance(verdict, Verdict)
    assert (verdict.claim_id, verdict.label, verdict.start, verdict.end) == ("r1#7", Label.REFUTED, 3, 11)
    assert verdict.cost_usd == 0.5


def test_an_id_with_other_words_is_another_claim() -> None:
    (failure,) = said_by(RecordedJudge(ROWS), Claim("r1", "r1#0", text="Il neige."))
    assert isinstance(failure, Failure)
    assert failure.code == "not_recorded"
    assert (failure.record_id, failure.claim_id, failure.judge) == ("r1", "r1#0", "Ada")


def test_what_is_not_there_is_a_failure_and_not_a_verdict() -> None:
    assert [
        code(said) for said in said_by(RecordedJudge(ROWS), Claim("r9", "x"), Claim("r9", "y", text="Il pleut."))
    ] == [
        "not_recorded",
        "not_recorded",
    ]


def test_of_several_judges_one_must_be_chosen() -> None:
    rows: list[dict[str, object]] = [*ROWS, {"record_id": "r1", "claim_id": "r1#0", "label": "REFUTED", "judge": "Ben"}]
    with pytest.raises(SettingsError, match=r"several judges; choose one with recorded:FILE#JUDGE: Ada, Ben"):
        RecordedJudge(rows)
    with pytest.raises(SettingsError, match="no verdict of 'Eve'"):
        RecordedJudge(rows, "Eve")
    assert [code(said) for said in said_by(RecordedJudge(rows, "Ben"), Claim("r1", "r1#0"))] == ["REFUTED"]


def test_verdicts_without_a_name_are_recorded() -> None:
    rows: list[dict[str, object]] = [{"record_id": "r1", "claim_id": "a", "label": "SUPPORTED"}]
    assert RecordedJudge(rows).spec.name == "recorded"
    assert RecordedJudge([]).spec.name == "recorded"


def test_models_that_answered_the_same_question_are_kept_apart() -> None:
    rows: list[dict[str, object]] = [
        {"record_id": "q", "claim_id": "a", "label": "SUPPORTED", "model": "m1"},
        {"record_id": "q", "claim_id": "a", "label": "REFUTED", "model": "m2"},
    ]
    judge = RecordedJudge(rows)
    names = [("q", "m1"), ("q@m2", "m2"), ("q", "m3"), ("q", None)]
    said = [said_by(judge, Claim(name, "a"), response=Response(name, model=model))[0] for name, model in names]
    assert list(map(code, said)) == ["SUPPORTED", "REFUTED", "not_recorded", "not_recorded"]
    only = RecordedJudge(rows[:1])
    assert code(said_by(only, Claim("q", "a"))[0]) == "SUPPORTED"


def test_two_labels_for_one_claim_are_a_failure_and_twice_the_same_is_one() -> None:
    rows: list[dict[str, object]] = [
        {"record_id": "r", "claim_id": name, "label": label}
        for name, label in [
            ("a", "SUPPORTED"),
            ("a", "REFUTED"),
            ("a", "SUPPORTED"),
            ("b", "REFUTED"),
            ("b", "REFUTED"),
        ]
    ]
    said = said_by(RecordedJudge(rows), Claim("r", "a"), Claim("r", "b"))
    assert list(map(code, said)) == ["conflicting_record", "REFUTED"]


def test_a_label_that_is_none_is_a_failure_that_names_the_line(tmp_path: Path) -> None:
    path = written(tmp_path / "v.jsonl", [{"record_id": "r", "claim_id": "a", "label": "perhaps"}])
    (failure,) = said_by(RecordedJudge(path), Claim("r", "a"))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message) == ("unknown_label", "v.jsonl:1: 'perhaps' is not a label")


def test_rows_without_a_verdict_are_passed_over() -> None:
    rows: list[dict[str, object]] = [{"record_id": "r", "claim_id": "a", "label": None}, ROWS[0]]
    assert RecordedJudge(rows).spec.name == "Ada"


def test_quotations_of_a_run_come_back_and_spans_that_do_not_fit_do_not() -> None:
    quote = {"evidence_id": "e1", "start": 0, "end": 3, "quote": "Oui"}
    rows: list[dict[str, object]] = [
        {"record_id": "r", "claim_id": "a", "label": "SUPPORTED", "start": 0, "end": 4, "evidence": [quote]},
        {
            "record_id": "r",
            "claim_id": "b",
            "label": "SUPPORTED",
            "start": 0,
            "end": 400,
            "evidence": [{"text": "Oui"}],
        },
    ]
    claims = (Claim("r", "a"), Claim("r", "b", start=1, end=2))
    first, second = said_by(RecordedJudge(rows), *claims, response=Response("r", response="Oui."))
    assert isinstance(first, Verdict)
    assert isinstance(second, Verdict)
    assert (first.start, first.end, first.evidence[0].quote) == (0, 4, "Oui")
    assert (second.start, second.end, second.evidence) == (1, 2, ())


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        RecordedJudge(tmp_path / "absent.jsonl")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"record_id": "r1", "claim_id"\n', encoding="utf-8")
    with pytest.raises(RecordError, match=r"bad\.jsonl:1: "):
        RecordedJudge(bad)
    with pytest.raises(RecordError, match="row 1: claim_id: expected the id"):
        RecordedJudge([{"record_id": "r", "label": "SUPPORTED"}])
    with pytest.raises(RecordError, match=r"row 1: .*from 0 to 1"):
        RecordedJudge([{"record_id": "r", "claim_id": "a", "label": "SUPPORTED", "confidence": 7.0}])


def test_other_verdicts_are_another_judge_to_the_signature() -> None:
    assert RecordedJudge(ROWS).spec.digest == RecordedJudge(list(ROWS)).spec.digest
    assert RecordedJudge(ROWS).spec.digest != RecordedJudge(ROWS[:2]).spec.digest


def test_else_it_is_found_at_nearly_the_same_place_of_the_response() -> None:
    row = {
        "record_id": "r1",
        "claim_id": "a",
        "label": "REFUTED",
        "text": "- Il est né en 1950.",
        "start": 0,
        "end": 20,
    }
    claims = (Claim("r1", "r1#0", start=2, end=20, text="Il est né en 1950."), Claim("r1", "r1#1", start=12, end=20))
    said = RecordedJudge([row]).judge(JudgeTask(Response("r1", response="- Il est né en 1950."), claims))
    assert isinstance(said[0], Verdict)
    assert said[0].label is Label.REFUTED
    assert isinstance(said[1], Failure), "a small part of a claim is another claim"


def test_a_place_that_marks_only_what_is_wrong_in_a_claim_is_not_its_place() -> None:
    row = {"record_id": "r1", "claim_id": "a", "label": "REFUTED", "text": "Il est né en 1950.", "start": 13, "end": 17}
    claim = Claim("r1", "r1#0", start=13, end=17, text="1950")
    assert isinstance(RecordedJudge([row]).judge(JudgeTask(Response("r1"), (claim,)))[0], Failure)
