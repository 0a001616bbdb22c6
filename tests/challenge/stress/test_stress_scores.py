"""What judges of known quality are worth in a stress test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hallumeter
from hallumeter.challenge.mutations.protocol import CONTROL_KINDS, ERROR_KINDS
from hallumeter.challenge.stress.cases import StressSettings
from hallumeter.challenge.stress.result import JudgeResult, KindResult, StressResult, result_text
from hallumeter.claims.settings import AuditSettings, MeasureSettings
from hallumeter.errors import InputError, SettingsError
from hallumeter.stats.intervals import wilson_interval

EVIDENCE = (
    "The tower is 330 metres high. It was built in 1889. Ada Lovelace did not visit Paris before 12 May 1840.",
    "La tour mesure 330 mètres. Elle a été construite en 1889. Elle n'est pas ouverte le lundi avant 9h30.",
    "서울은 대한민국의 수도이다. 회의는 3월 4일에 열렸다. 참가자는 1,200명으로 15% 증가했다.",
    "Mary Somerville bought 12 kg of tea in London. Sales rose by more than 40% in 2019. They don't open on Monday.",
)
ROWS = [{"id": f"r{number}", "response": "Yes.", "evidence": text} for number, text in enumerate(EVIDENCE)]
FAST = StressSettings(judging=AuditSettings(measure=MeasureSettings(resamples=200)))
Function = Callable[[str, list[str]], object]


def stressed(function: Function | Sequence[Function] | str, **changes: Any) -> StressResult:
    settings = StressSettings(**{"judging": FAST.judging, **changes})
    return hallumeter.stress(ROWS, judge=function, settings=settings)


def supported(claim: str, evidence: list[str]) -> str:
    return "SUPPORTED"


def refuted(claim: str, evidence: list[str]) -> str:
    return "REFUTED"


def undecided(claim: str, evidence: list[str]) -> None:
    return None


def broken(claim: str, evidence: list[str]) -> object:
    raise RuntimeError("no judge today")


def cases(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "stress.jsonl").read_text(encoding="utf-8").splitlines()]


def errors(judge: JudgeResult) -> list[KindResult]:
    return [kind for kind in judge.kinds if kind.is_error]


@pytest.fixture
def edited(tmp_path: Path) -> list[dict[str, Any]]:
    """Every claim of a stress test, as its folder tells."""
    hallumeter.stress(ROWS, judge=supported, settings=FAST, out=tmp_path / "known")
    return cases(tmp_path / "known")


def test_a_judge_who_knows_everything_catches_all_and_raises_no_false_alarm(edited: list[dict[str, Any]]) -> None:
    wrong = {row["text"]: row for row in edited if row["is_error"]}

    def knowing(claim: str, evidence: list[str]) -> dict[str, object]:
        if claim not in wrong:
            return {"label": "SUPPORTED"}
        return {"label": "REFUTED", "start": wrong[claim]["start"], "end": wrong[claim]["end"]}

    [judge] = stressed(knowing).judges
    assert judge.mutation_score.value == 1.0
    assert judge.false_alarms.value == 0.0
    for kind in errors(judge):
        assert kind.n > 0, kind.kind
        assert (kind.caught, kind.value, kind.undefined) == (kind.n, 1.0, None)
        assert kind.localised == kind.located == kind.n


def test_a_judge_who_believes_everything_scores_nothing() -> None:
    [judge] = stressed(supported).judges
    assert (judge.mutation_score.value, judge.false_alarms.value) == (0.0, 0.0)
    assert all(kind.located == 0 for kind in judge.kinds)


def test_a_judge_who_believes_nothing_catches_all_and_always_raises_an_alarm() -> None:
    [judge] = stressed(refuted).judges
    assert (judge.mutation_score.value, judge.false_alarms.value) == (1.0, 1.0)
    # Its verdicts are about whole claims: they say nothing about where.
    assert all(kind.located == 0 for kind in judge.kinds)


def test_an_undecided_judge_catches_nothing_and_supports_nothing() -> None:
    [judge] = stressed(undecided).judges
    assert (judge.mutation_score.value, judge.false_alarms.value) == (0.0, 1.0)
    for kind in judge.kinds:
        assert kind.undecided == kind.n
        assert kind.caught == 0


def test_what_failed_is_kept_apart_and_a_judge_who_always_fails_has_no_score() -> None:
    [judge] = stressed(broken).judges
    assert judge.mutation_score.value is None
    assert judge.mutation_score.undefined == "no verdict was given on an error"
    assert judge.false_alarms.value is None
    for kind in judge.kinds:
        assert (kind.failed, kind.total, kind.value, kind.interval) == (kind.n, 0, None, None)
        assert kind.undefined in {"no verdict was given", "no claim could be edited in this way"}


def test_recall_and_interval_are_those_of_the_verdicts_that_were_given() -> None:
    calls = iter(range(10_000))

    def moody(claim: str, evidence: list[str]) -> str:
        number = next(calls)
        if number % 5 == 0:
            raise RuntimeError("not now")
        return "NOT_ENOUGH_INFO" if number % 2 else "SUPPORTED"

    [judge] = stressed(moody).judges
    assert sum(kind.failed for kind in judge.kinds) > 0
    for kind in errors(judge):
        assert kind.total == kind.n - kind.failed
        assert kind.value == kind.caught / kind.total
        interval = wilson_interval(kind.caught, kind.total)
        assert interval is not None
        assert kind.interval == (interval.low, interval.high)
    # The mean of the recalls by hand: every kind counts the same, however many claims it has.
    recalls = [kind.caught / kind.total for kind in errors(judge) if kind.total]
    assert judge.mutation_score.value == pytest.approx(sum(recalls) / len(recalls))
    assert judge.mutation_score.interval is not None
    low, high = judge.mutation_score.interval
    assert low < sum(recalls) / len(recalls) < high


def test_several_judges_are_scored_each_and_by_their_majority() -> None:
    result = stressed([supported, refuted, undecided])
    assert [judge.judge.rpartition(".")[2] for judge in result.judges] == [
        "supported",
        "refuted",
        "undecided",
        "consensus",
    ]
    # One for, one against, one that cannot tell: a tie.
    consensus = result.judges[-1]
    assert all(kind.undecided == kind.n for kind in consensus.kinds)


def test_every_kind_is_listed_and_those_without_a_claim_are_undefined() -> None:
    rows = [{"id": "r1", "response": "Yes.", "evidence": "Cats like fish very much."}]
    result = hallumeter.stress(rows, judge=supported, settings=FAST)
    kinds = {kind.kind: kind for kind in result.judges[0].kinds}
    assert tuple(kinds) == (*ERROR_KINDS, "unchanged", *CONTROL_KINDS)
    assert kinds["date"].value is None
    assert kinds["date"].undefined == "no claim could be edited in this way"
    assert "undefined: number, date, unit, name" in result_text(result, "text")
    assert "nan" not in result_text(result, "json").lower()


def test_the_rules_catch_numbers_and_leave_unchanged_claims_alone() -> None:
    [judge] = stressed("rules").judges
    kinds = {kind.kind: kind for kind in judge.kinds}
    assert judge.judge.startswith("rules@")
    assert kinds["number"].value == 1.0
    assert kinds["unchanged"].counted == 0


def test_the_same_seed_gives_the_same_result_and_another_seed_other_edits(tmp_path: Path) -> None:
    def texts(name: str, seed: int) -> list[str]:
        settings = StressSettings(judging=AuditSettings(measure=MeasureSettings(seed=seed, resamples=100)))
        hallumeter.stress(ROWS, judge=supported, settings=settings, out=tmp_path / name)
        return [row["text"] for row in cases(tmp_path / name)]

    assert texts("a", 0) == texts("b", 0)
    assert texts("c", 1) != texts("a2", 0)


def test_given_claims_are_those_that_all_labels_support() -> None:
    answer = {"response": "x", "evidence": "The tower is 330 metres high. It stands in Paris."}
    high, wrong, paris = "The tower is 330 m high.", "The tower is 999 m high.", "It stands in Paris."
    rows: list[dict[str, object]] = [
        {"id": "r1", **answer, "claim_id": "c1", "text": high, "label": "SUPPORTED"},
        {"id": "r1", "claim_id": "c2", "text": wrong, "label": "REFUTED"},
        {"id": "r1", "claim_id": "c3", "text": paris, "label": "supports", "judge": "a"},
        {"id": "r1", "claim_id": "c3", "text": paris, "label": "NOT_ENOUGH_INFO", "judge": "b"},
        {"id": "r2", **answer, "claims": [{"text": "The tower stands in Paris.", "label": "SUPPORTED"}]},
    ]
    seen: set[str] = set()

    def looking(claim: str, evidence: list[str]) -> str:
        seen.add(claim)
        return "SUPPORTED"

    result = hallumeter.stress(rows, judge=looking, settings=FAST)
    assert (result.claims_from, result.claims, result.records) == ("given", 2, 2)
    assert {"The tower is 330 m high.", "The tower stands in Paris."} <= seen
    assert not any("999" in claim or claim == "It stands in Paris." for claim in seen)
    chosen = hallumeter.stress(rows, judge=supported, settings=StressSettings(claims="evidence", judging=FAST.judging))
    # Both records have the same evidence, which is used once.
    assert (chosen.claims_from, chosen.claims, chosen.records) == ("evidence", 2, 1)


def test_tables_code_json_and_single_words_are_skipped_and_counted() -> None:
    mixed = ["The tower is high.", "Yes.", "for (i = 0; i < n; i++) { go(); }", "🙂 🙂 🙂"]
    rows: list[dict[str, object]] = [
        {"id": "a", "response": "x", "evidence": mixed},
        {"id": "b", "response": "x", "evidence": {"name": "Cafe", "stars": 4}},
        {"id": "c", "response": "x", "evidence": "| a | b |\n| --- | --- |\n| 1 | 2 |\n"},
    ]
    result = hallumeter.stress(rows, judge=supported, settings=FAST)
    assert (result.claims, result.records, result.records_read) == (1, 1, 3)
    assert result.claims_skipped >= 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "response": "x", "evidence": {"name": "Cafe"}}], "no usable sentence of the evidence found"),
        ([{"id": "a", "response": "x", "evidence": "🙂"}], "no usable sentence of the evidence found"),
        ([{"id": "a", "response": "x", "evidence": ""}], "no record has evidence"),
    ],
)
def test_an_input_without_a_usable_claim_is_refused_with_the_reason(
    rows: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        hallumeter.stress(rows, judge=supported, settings=FAST)


def test_given_claims_that_are_asked_for_and_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="no usable claim labelled SUPPORTED"):
        stressed(supported, claims="given")


def test_a_limit_spreads_the_claims_evenly_over_the_records() -> None:
    sentences = " ".join(f"Town {number} is very old." for number in range(100))
    rows = [
        {"id": f"r{number}", "response": "x", "evidence": f"River {number} is long. {sentences}"} for number in range(4)
    ]
    seen: set[str] = set()

    def looking(claim: str, evidence: list[str], record: hallumeter.Response) -> str:
        seen.add(record.record_id)
        return "SUPPORTED"

    result = hallumeter.stress(rows, judge=looking, settings=StressSettings(limit=8, judging=FAST.judging))
    assert (result.claims, result.claims_available, result.records) == (8, 404, 4)
    assert seen == {"r0", "r1", "r2", "r3"}


@pytest.mark.parametrize(
    ("changes", "message"), [({"limit": 0}, "limit is 0"), ({"claims": "some"}, "claims is 'some'")]
)
def test_impossible_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        StressSettings(**changes)


def test_what_is_no_judge_is_refused() -> None:
    with pytest.raises(SettingsError, match="expected a name, a judge, a function"):
        hallumeter.stress(ROWS, judge=7)  # type: ignore[arg-type]


def test_a_folder_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(InputError, match="exists already"):
        hallumeter.stress(ROWS, judge=supported, settings=FAST, out=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["mine.txt"]


def test_rows_hold_the_edit_its_place_and_what_each_judge_said(tmp_path: Path) -> None:
    hallumeter.stress(ROWS, judge=[refuted, broken], settings=FAST, out=tmp_path / "run")
    rows = cases(tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert len(rows) == summary["cases"]
    assert sum(row["kind"] == "unchanged" for row in rows) == summary["claims"]
    for row in rows:
        labels = {name.rpartition(".")[2]: said for name, said in row["verdicts"].items()}
        assert labels["refuted"]["label"] == "REFUTED"
        assert labels["broken"] == {"label": None, "failure": "RuntimeError: no judge today"}
        if row["is_error"]:
            assert row["text"][: row["start"]] + row["replaced"] + row["text"][row["end"] :] == row["original"]
        else:
            assert (row["start"], row["end"]) == (None, None)


def test_each_edit_is_judged_as_a_response_of_its_own_with_the_same_question_and_evidence() -> None:
    seen: list[tuple[str | None, str | None, tuple[str, ...]]] = []

    def looking(claim: str, evidence: list[str], record: hallumeter.Response) -> str:
        assert record.response == claim
        seen.append((record.question, record.record_id, tuple(evidence)))
        return "SUPPORTED"

    rows = [{"id": "r1", "question": "How high?", "response": "High.", "evidence": "The tower is 330 m high."}]
    result = hallumeter.stress(rows, judge=looking, settings=FAST)
    assert len(seen) == result.cases > 1
    assert set(seen) == {("How high?", "r1", ("The tower is 330 m high.",))}
