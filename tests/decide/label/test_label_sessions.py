"""A session of labels without a terminal: questions, answers, steps back, and what they come to."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from msgspec import structs

from annotated_runs import copied, give, judged_run, session_of, told
from compared_runs import run_of, verdict_rows
from hallumeter.claims.labelled.correction import CorrectSettings
from hallumeter.decide.correct import correct
from hallumeter.decide.label.claims import AnnotateSettings, AskedClaim
from hallumeter.decide.label.session import LabelSession
from hallumeter.decide.label.text import labels_table
from hallumeter.errors import InputError, SettingsError
from hallumeter.ingest.pipeline import ingest
from hallumeter.records.claim import Label
from hallumeter.run.finished import load
from hallumeter.run.labels import LabelStore


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("judged") / "run")


@pytest.fixture
def run(judged: Path, tmp_path: Path) -> Path:
    return copied(judged, tmp_path)


def test_an_answer_is_on_disk_at_once_with_what_was_shown_and_said(run: Path) -> None:
    session = session_of(run)
    asked = session.next_question()
    assert asked is not None
    session.answer(Label.REFUTED)
    (label,) = LabelStore(run).latest()
    assert (label.record_id, label.claim_id) == (asked.response.record_id, asked.claim.claim_id)
    assert (label.annotator, label.label, label.judge) == ("kim", "REFUTED", "rules@2")
    assert asked.judged is not None
    assert label.judged == asked.judged.value
    assert label.is_right is (asked.judged is Label.REFUTED)
    assert asked.response.response is not None
    assert asked.text in asked.response.response


def test_progress_says_what_correct_says(run: Path) -> None:
    session = session_of(run)
    give(session, 40)
    progress = session.progress()
    rates = {rate.metric: rate for rate in correct(run, settings=CorrectSettings()).rates}
    assert progress.rate.corrected == rates["mihr"].corrected
    assert progress.rate.raw.value == rates["mihr"].raw.value
    assert progress.rate.more_labels == rates["mihr"].more_labels
    assert (progress.labels, progress.own) == (40, 40)
    assert progress.history == ((40, progress.half_width),)


def test_the_interval_shrinks_as_labels_come_in_and_is_foreseen(tmp_path: Path) -> None:
    run = run_of(tmp_path / "many", verdict_rows({f"r{number}": "sssr" for number in range(250)})).path
    session = session_of(run)
    assert session.progress().half_width is None
    assert session.expected_half_width(10) is None
    give(session, 60)
    assert session.progress().half_width is not None
    foreseen, none = session.expected_half_width(180), session.expected_half_width(0)
    give(session, 180)
    before, after = [width for _, width in session.progress().history]
    assert after < 0.7 * before
    assert none == pytest.approx(before)
    assert foreseen == pytest.approx(after, rel=0.15)


def test_claims_that_the_judge_did_not_decide_are_never_asked_for(run: Path) -> None:
    session = session_of(run)
    undecided = {
        verdict.claim_id
        for finding in load(run).findings()
        for verdict in finding.verdicts
        if verdict.label is Label.UNDECIDED
    }
    assert undecided
    asked = give(session, 1_000)
    decided = {finding.claim.claim_id for finding in load(run).findings()} - undecided
    assert len(asked) == len(set(asked)) == len(decided)
    assert not undecided & set(asked)
    assert session.next_question() is None


def test_whoever_stops_and_comes_back_is_asked_the_same_as_who_goes_on(run: Path, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    without_stopping = give(session_of(run), 25)
    with_stops = [claim for count in (3, 1, 11, 10) for claim in give(session_of(other), count)]
    assert with_stops == without_stopping


def test_another_seed_asks_for_others(run: Path, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    assert give(session_of(run), 10) != give(session_of(other, seed=1), 10)


def test_answers_are_taken_back_one_after_the_other_and_asked_for_again(run: Path) -> None:
    session = session_of(run)
    asked = give(session, 3)
    waiting = session.next_question()
    assert waiting is not None
    for claim in reversed(asked[1:]):
        taken = session.undo()
        assert taken is not None
        assert taken.claim.claim_id == claim
    assert session.answers == 1
    assert [label.claim_id for label in LabelStore(run).latest()] == asked[:1]
    assert session.progress().labels == 1
    assert give(session, 3) == [*asked[1:], waiting.claim.claim_id]
    history = LabelStore(run).history()
    assert [label.is_right is None for label in history] == [False, False, False, True, True, False, False, False]


def test_there_is_nothing_to_take_back_at_first_nor_from_an_earlier_session(run: Path) -> None:
    give(session_of(run), 2)
    assert session_of(run).undo() is None
    assert len(LabelStore(run).latest()) == 2


def test_what_is_skipped_is_not_asked_again_unless_that_is_taken_back(run: Path) -> None:
    session = session_of(run)
    first = session.next_question()
    assert first is not None
    session.skip()
    second = session.next_question()
    assert second is not None
    assert second.claim.claim_id != first.claim.claim_id
    assert session.undo() == first
    assert session.next_question() == first
    session.skip()
    assert session.next_question() == second
    assert first.claim.claim_id not in give(session, 1_000)
    assert first.claim.claim_id in give(session_of(run), 1_000)


def test_who_cannot_tell_counts_in_no_rate_and_is_not_asked_again(run: Path) -> None:
    session = session_of(run)
    unsure = give(session, 2, lambda _: Label.UNDECIDED)
    assert (session.progress().labels, session.progress().own) == (0, 2)
    assert not set(unsure) & set(give(session, 20))
    (rate, *_) = correct(run).rates
    assert rate.labelled == 20
    assert correct(run).labels.unsure == 2


def test_answering_without_a_question_is_a_fault_of_the_program(run: Path) -> None:
    session = session_of(run)
    with pytest.raises(ValueError, match="no question"):
        session.answer(Label.SUPPORTED)


def test_two_annotators_share_a_fifth_and_answer_different_claims_otherwise(run: Path) -> None:
    first = give(session_of(run, "kim"), 60)
    second = give(session_of(run, "lee"), 50)
    shared = [number for number, claim in enumerate(second, 1) if claim in set(first)]
    assert shared == [5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
    (agreement,) = session_of(run, "lee").progress().agreements
    assert (agreement.annotators, agreement.claims, agreement.agreed) == (("kim", "lee"), 10, 10)
    # The first is not asked anew for what the second has answered, beyond a fifth.
    again = give(session_of(run, "kim"), 10)
    assert len(set(again) & set(second)) == 2


@pytest.mark.parametrize(("overlap", "shared"), [(0.0, 0), (0.5, 10), (1.0, 20)])
def test_the_share_of_the_overlap_can_be_chosen(run: Path, overlap: float, shared: int) -> None:
    first = give(session_of(run, "kim"), 40)
    second = give(session_of(run, "lee", overlap=overlap), 20)
    assert len(set(first) & set(second)) == shared


def test_a_second_annotator_of_a_run_that_is_labelled_wholly_answers_the_same_claims(run: Path) -> None:
    first = give(session_of(run, "kim"), 1_000)
    assert set(give(session_of(run, "lee"), 1_000)) == set(first)
    assert give(session_of(run, "pat", overlap=0.0), 1_000) == []


def test_kappa_is_as_worked_by_hand(run: Path) -> None:
    """20 claims: both say supported 9 times, both unsupported 5, kim alone unsupported 4, lee alone 2."""
    told_by = {"kim": "s" * 9 + "u" * 5 + "u" * 4 + "s" * 2, "lee": "s" * 9 + "u" * 5 + "s" * 4 + "u" * 2}
    names = give(session_of(run, "kim"), 20, lambda _: Label.UNDECIDED)
    for annotator, letters in told_by.items():
        store = LabelStore(run)
        said = dict(zip(names, letters, strict=True))
        for label in [label for label in store.history() if label.annotator == "kim"][:20]:
            word = "SUPPORTED" if said[label.claim_id] == "s" else "NOT_ENOUGH_INFO"
            store.add(structs.replace(label, annotator=annotator, label=word, is_right=True))
    (agreement,) = session_of(run).progress().agreements
    assert (agreement.claims, agreement.agreed) == (20, 14)
    expected = (11 / 20) * (13 / 20) + (9 / 20) * (7 / 20)
    assert agreement.kappa == pytest.approx((14 / 20 - expected) / (1 - expected))


def test_kappa_is_undefined_when_both_always_say_the_same_one_thing(run: Path) -> None:
    for name in ("kim", "lee"):
        give(session_of(run, name, overlap=1.0), 5, lambda _: Label.SUPPORTED)
    (agreement,) = session_of(run).progress().agreements
    assert (agreement.claims, agreement.agreed, agreement.kappa) == (5, 5, None)
    assert agreement.undefined is not None


def test_annotators_who_sit_at_one_run_at_once_lose_nothing_and_seldom_meet(run: Path) -> None:
    asked: dict[str, list[str]] = {}
    sessions = {name: session_of(run, name, overlap=0.0) for name in ("kim", "lee", "pat")}
    threads = [
        threading.Thread(target=lambda name=name: asked.update({name: give(sessions[name], 15)})) for name in sessions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    labels = LabelStore(run).latest()
    assert sorted((label.annotator, label.claim_id) for label in labels) == sorted(
        (name, claim) for name, claims in asked.items() for claim in claims
    )
    assert len(labels) == 45
    assert len({label.claim_id for label in labels}) >= 40


def test_whole_responses_are_asked_for_one_after_the_other(run: Path) -> None:
    session = session_of(run, unit="response")
    seen: list[tuple[str, int]] = []
    pending: list[int] = []
    for _ in range(40):
        asked = session.next_question()
        assert asked is not None
        session.answer(told(asked))
        seen.append((asked.response.record_id, asked.place))
        pending.append(session.progress().pending)
    records = [record for record, _ in seen]
    order = list(dict.fromkeys(records))
    assert records == [record for record in order for _ in range(records.count(record))]
    assert seen == [pair for record in order for pair in sorted(each for each in seen if each[0] == record)]
    ends = [records[place] != records[place + 1] for place in range(39)]
    assert [left == 0 for left in pending[:-1]] == ends


def test_whole_responses_correct_mahr(run: Path) -> None:
    session = session_of(run, unit="response")
    give(session, 1)
    while session.progress().pending or session.progress().labels < 150:
        give(session, 1)
    rate = session.progress().rate
    assert (rate.metric, rate.unit) == ("mahr", "response")
    assert rate.corrected.value is not None
    assert {each.metric: each for each in correct(run).rates}["mahr"].corrected == rate.corrected
    assert session.expected_half_width(10) is None


def test_a_second_annotator_gets_every_fifth_response_of_the_first(run: Path) -> None:
    records = {finding.claim.claim_id: finding.claim.record_id for finding in load(run).findings()}
    first = {records[claim] for claim in give(session_of(run, "kim", unit="response"), 80)}
    second = list(dict.fromkeys(records[claim] for claim in give(session_of(run, "lee", unit="response"), 80)))
    assert [record in first for record in second[:10]] == [False, False, False, False, True] * 2


def test_labels_of_claims_that_say_something_else_now_do_not_count(run: Path) -> None:
    give(session_of(run), 5)
    (label, *_) = LabelStore(run).latest()
    claims = (run / "claims.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    claims = [
        line.replace('"kind":"claim"', '"kind":"other"') if f'"{label.claim_id}"' in line else line for line in claims
    ]
    (run / "claims.jsonl").write_text("".join(claims), encoding="utf-8")
    changed = load(run, verify=False)
    assert LabelSession(changed, AnnotateSettings(annotator="kim")).progress().labels == 4
    rows = labels_table(changed).splitlines()
    assert [row.endswith("false") for row in rows[1:]].count(True) == 1


def test_labels_of_other_runs_are_passed_over(run: Path) -> None:
    give(session_of(run), 2)
    store = LabelStore(run)
    (label, _) = store.latest()
    store.add(structs.replace(label, record_id="elsewhere"))
    store.add(structs.replace(label, claim_id="elsewhere"))
    assert session_of(run).progress().labels == 2


def test_a_table_of_labels_corrects_as_the_labels_do(run: Path, tmp_path: Path) -> None:
    give(session_of(run), 60)
    table = tmp_path / "labels.csv"
    table.write_text(labels_table(load(run)), encoding="utf-8")
    source = CorrectSettings().source
    from_table = correct(run, settings=CorrectSettings(source=type(source)(labels=table)))
    assert from_table.rates == correct(run).rates


def test_the_judge_named_human_is_not_asked_about(run: Path, tmp_path: Path) -> None:
    rows = [
        {**row, "judge": judge, "label": label}
        for row in verdict_rows({"r1": "ssr", "r2": "srs"})
        for judge, label in (("rules", row["label"]), ("human", "REFUTED"))
    ]
    folder = run_of(tmp_path / "panel", rows).path
    session = session_of(folder)
    assert session.judge == "rules"
    give(session, 2)
    assert session_of(folder).judge == "rules"


def test_a_run_of_scores_is_asked_about_response_by_response(tmp_path: Path) -> None:
    rows = [
        {"user_input": f"q{n}", "response": f"Answer {n}.", "retrieved_contexts": ["Text."], "faithfulness": score}
        for n, score in enumerate((0.1, 0.9, 0.8, 0.2, None))
    ]
    given = tmp_path / "ragas.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ingest(given, out=tmp_path / "run")
    session = session_of(tmp_path / "run")
    texts: list[str] = []

    def noting(question: AskedClaim) -> Label:
        texts.append(question.text)
        assert question.verdicts[0].unsupported_probability is not None
        return told(question)

    give(session, 10, noting)
    assert sorted(texts) == [f"Answer {n}." for n in range(4)]
    assert session.progress().rate.corrected == correct(tmp_path / "run").rates[0].corrected


def test_a_run_whose_texts_are_not_known_cannot_be_labelled(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "text"} for row in verdict_rows({"r1": "sr"})]
    with pytest.raises(InputError, match="neither responses nor the texts"):
        session_of(run_of(tmp_path / "bare", rows).path)


def test_a_run_without_a_decided_claim_cannot_be_labelled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no claim has a verdict"):
        session_of(run_of(tmp_path / "open", verdict_rows({"r1": "uu"})).path)


def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_asked(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        session_of(run)


@pytest.mark.parametrize("changes", [{"annotator": " "}, {"unit": "word"}, {"overlap": 1.5}, {"half_width": 0.0}])
def test_settings_that_make_no_sense_are_refused(run: Path, changes: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        session_of(run, **{"annotator": "kim", **changes})  # type: ignore[arg-type]


def test_a_judge_without_probabilities_is_asked_about_too(tmp_path: Path) -> None:
    run = run_of(tmp_path / "plain", verdict_rows({f"r{number}": "ssrn" for number in range(12)})).path
    asked: list[AskedClaim] = []

    def noting(question: AskedClaim) -> Label:
        asked.append(question)
        return told(question)

    give(session_of(run), 6, noting)
    # Two of each of the judge's three answers first.
    assert sorted(str(question.judged) for question in asked) == sorted(
        str(label) for label in (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO) for _ in range(2)
    )
