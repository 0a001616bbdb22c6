"""What the command line does, called from Python: gate, report, label, baselines and integrity."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import hallumeter
from hallumeter.errors import InputError, SettingsError
from hallumeter.run.run_folder import BASELINES

EVIDENCE = "The tower is 330 m high and stands in Paris."
RECORDS = [
    {"id": f"r{number}", "response": f"The tower is {height} m high. It stands in Paris.", "evidence": EVIDENCE}
    for number, height in enumerate([330, 999, 330, 500] * 3)
]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("python") / "run"
    hallumeter.audit(RECORDS, judge="rules", out=place)
    return place


def test_a_gate_takes_runs_and_policies_or_their_files(audited: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "p"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.1\n', encoding="utf-8")
    by_file = hallumeter.gate(str(audited), policy)
    bound = hallumeter.Bound("mihr", at_most=0.1)
    by_value = hallumeter.gate(hallumeter.load(audited), hallumeter.Policy("p", bounds=(bound,)))
    assert by_file == by_value
    assert (by_file.outcome, by_file.claims_total) == ("broken", 6)
    assert isinstance(by_file, hallumeter.GateResult)
    with pytest.raises(SettingsError, match="the policy cannot be read"):
        hallumeter.gate(audited, tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match="not a run folder"):
        hallumeter.gate(tmp_path, policy)


def test_a_report_is_one_file_of_one_run_or_several(audited: Path, tmp_path: Path) -> None:
    assert hallumeter.report(audited) == audited / "report.html"
    french = hallumeter.report(hallumeter.load(audited), tmp_path / "rapport.html", language="fr")
    assert 'lang="fr"' in french.read_text(encoding="utf-8")
    both = hallumeter.report([audited, str(audited)], tmp_path / "both.html")
    assert both.stat().st_size > 1000
    with pytest.raises(SettingsError, match="several runs make one file; name it with out"):
        hallumeter.report([audited, audited])
    with pytest.raises(SettingsError, match="no run given"):
        hallumeter.report([])
    with pytest.raises(InputError, match="give the name of a file"):
        hallumeter.report(audited, tmp_path)
    with pytest.raises(InputError, match="give the name of a file"):
        hallumeter.report(audited, tmp_path / "nowhere" / "report.html")
    with pytest.raises(SettingsError, match="xx"):
        hallumeter.report(audited, tmp_path / "xx.html", language="xx")


def test_labels_come_from_a_function_and_are_kept(tmp_path: Path) -> None:
    hallumeter.audit(RECORDS, judge="rules", out=tmp_path / "run")
    asked: list[str] = []

    def answer(claim: object) -> str | None:
        text = str(claim.claim.text)  # type: ignore[attr-defined]
        asked.append(text)
        return None if len(asked) == 1 else "refuted" if "999" in text or "500" in text else "supported"

    session = hallumeter.label(
        str(tmp_path / "run"), answer, limit=5, settings=hallumeter.AnnotateSettings(annotator="kim")
    )
    assert (session.answers, len(asked)) == (5, 6)
    kept = hallumeter.LabelStore(tmp_path / "run").latest()
    assert [label.annotator for label in kept] == ["kim"] * 5
    everything = hallumeter.label(hallumeter.load(tmp_path / "run"), lambda claim: hallumeter.Label.SUPPORTED)
    assert everything.next_question() is None
    assert {label.annotator for label in hallumeter.LabelStore(tmp_path / "run").latest()} > {"kim"}


def test_a_session_without_a_function_is_handed_out_and_no_label_is_refused(audited: Path) -> None:
    session = hallumeter.label(audited)
    assert isinstance(session, hallumeter.LabelSession)
    assert session.answers == 0
    assert session.next_question() is not None
    with pytest.raises(SettingsError, match="'perhaps' is no label; expected one of SUPPORTED"):
        hallumeter.label(audited, lambda claim: "perhaps")
    assert not hallumeter.LabelStore(audited).path.exists()


def test_baselines_are_kept_only_when_asked_for(tmp_path: Path) -> None:
    run = hallumeter.audit(RECORDS, judge="rules", out=tmp_path / "run")
    hallumeter.label(run, lambda asked: "supported" if "330" in str(asked.response.response) else "refuted")
    settings = hallumeter.BaselineSettings(limit=2)
    found = hallumeter.baselines(str(tmp_path / "run"), settings)
    assert isinstance(found, hallumeter.NullBaselines)
    assert not (tmp_path / "run" / BASELINES).exists()
    assert hallumeter.baselines(run, settings, is_kept=True) == hallumeter.null_baselines(run, settings) == found
    assert (tmp_path / "run" / BASELINES).exists()


def honest(response: object, evidence: list[str], question: str | None = None) -> Iterator[str] | dict[str, object]:
    if not isinstance(response, str) or not response or not evidence:
        return {"score": None, "reason": "nothing to measure"}
    return {"score": 0.0 if "999" in response else 1.0}


def test_an_evaluator_is_examined_as_a_function_by_name_or_as_a_judge() -> None:
    cases = ["empty_response", "number_changed"]
    here = hallumeter.integrity(honest, cases=cases)
    assert (here.honest, here.dishonest, here.measured) == (2, 0, 1)
    assert here.evaluator.endswith(":honest")
    judge = hallumeter.integrity(judge="rules", cases="empty_response")
    assert (judge.honest, [case.case for case in judge.cases]) == (1, ["empty_response"])
    named = hallumeter.integrity("math:fsum", cases=["empty_response"])
    assert isinstance(named, hallumeter.IntegrityResult)


def test_an_evaluator_that_hangs_is_left_behind() -> None:
    found = hallumeter.integrity(
        lambda response, evidence: time.sleep(5), cases=["empty_response"], timeout_seconds=0.1
    )
    assert found.cases[0].opinion == "unhandled"
    assert "no answer in 0.1 s" in found.cases[0].returned


def test_an_evaluator_or_a_judge_is_given_and_cases_exist() -> None:
    for given in ({}, {"evaluator": honest, "judge": "rules"}):
        with pytest.raises(SettingsError, match="give either an evaluator or a judge"):
            hallumeter.integrity(**given)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="no case is called 'nothing'"):
        hallumeter.integrity(honest, cases=["nothing"])
