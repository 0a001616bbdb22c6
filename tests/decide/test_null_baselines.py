"""Judges beside baselines: who only counts characters is told so, and who reads the evidence is not."""

from __future__ import annotations

import json
import sqlite3
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from compared_runs import run_of
from hallumeter.claims.audit.commands import audit_files
from hallumeter.claims.labelled.baselines import keep_baselines, kept_baselines
from hallumeter.claims.labelled.run import read_labelled_judges
from hallumeter.claims.labelled.scoring import BaselineSettings
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.claims.report.presentation import judge_checks
from hallumeter.claims.settings import AuditSettings
from hallumeter.decide.baselines import null_baselines
from hallumeter.errors import InputError, SettingsError
from hallumeter.ingest.pipeline import ingest
from hallumeter.records.decisions import BaselineRow, LevelBaselines, NullBaselines
from hallumeter.run.finished import Run, load
from hallumeter.run.labels import LABELS
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import VERDICTS, RunFolder
from made_runs import MadeClaim, by_length, labelled_run, labels_csv, made_claims, rows_of, truth


def level_of(found: NullBaselines, level: str = "claim", judge: str | None = None) -> LevelBaselines:
    [own] = [each for each in found.judges if judge in (None, each.judge)]
    return next(each for each in own.levels if each.level == level)


def row_of(level: LevelBaselines, baseline: str) -> BaselineRow:
    return next(row for row in level.rows if row.baseline == baseline)


def knowing(claim: MadeClaim) -> float:
    """A judge who is mostly right, whatever the length."""
    noise = np.random.default_rng(len(claim.text) + 1000 * int(claim.record[1:])).normal(scale=0.3)
    return float(np.clip(0.3 + 0.4 * claim.is_unsupported + noise, 0, 1))


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Bundled answers, judged by rules and by the people who came with them."""
    out = tmp_path_factory.mktemp("audited") / "run"
    with resources.as_file(resources.files("hallumeter") / "samples" / "rag_answers.jsonl") as path:
        audit_files([path], out, settings=AuditSettings(judges=("rules", f"recorded:{path}")), progress=NoProgress())
    return load(out)


def test_a_judge_whose_score_is_the_length_is_told_so(tmp_path: Path) -> None:
    run = labelled_run(tmp_path / "run", made_claims(120), by_length)
    found = null_baselines(run)
    for level in ("claim", "response"):
        row = row_of(level_of(found, level), "length")
        assert (row.standing, row.difference, row.direction) == ("not_distinguishable", 0.0, "longer")


def test_a_judge_whose_score_is_the_reverse_of_length_is_told_so(tmp_path: Path) -> None:
    claims = [claim._replace(is_unsupported=not claim.is_unsupported) for claim in made_claims(120)]
    run = labelled_run(tmp_path / "run", claims, lambda claim: 1 - by_length(claim))
    row = row_of(level_of(null_baselines(run)), "length")
    assert (row.standing, row.direction) == ("not_distinguishable", "shorter")
    assert row.found.auroc is not None
    assert row.found.auroc > 0.5


def test_a_judge_who_reads_the_evidence_is_better_than_length_and_than_itself_without_it(audited: Run) -> None:
    found = null_baselines(audited, BaselineSettings(labels=LabelSettings(cluster="response")))
    assert found.cluster == "response"
    level = level_of(found)
    for name in ("always_positive", "length", "shuffled_overlap", "shuffled_judge"):
        assert row_of(level, name).standing == "better"
    assert found.judges[0].shuffled is None
    shuffled = row_of(level, "shuffled_judge").found
    assert shuffled.auroc is not None
    assert abs(shuffled.auroc - 0.5) < 0.1


def test_a_judge_who_is_mostly_wrong_is_worse_than_flagging_everything(tmp_path: Path) -> None:
    run = labelled_run(tmp_path / "run", made_claims(150), lambda claim: 1 - knowing(claim))
    assert row_of(level_of(null_baselines(run)), "always_positive").standing == "worse"


def test_the_areas_are_those_of_sklearn_on_the_same_units(tmp_path: Path) -> None:
    claims = made_claims(60, claims=2)
    level = level_of(null_baselines(labelled_run(tmp_path / "run", claims, knowing)))
    is_true = [claim.is_unsupported for claim in claims]
    assert level.score == "probability"
    assert level.judge.auroc == pytest.approx(roc_auc_score(is_true, [knowing(claim) for claim in claims]))
    lengths = [len(claim.text) for claim in claims]
    assert row_of(level, "length").found.auroc == pytest.approx(roc_auc_score(is_true, lengths))
    missing = [
        1 - len({*claim.text.split()} & {*claim.evidence.split()}) / len({*claim.text.split()}) for claim in claims
    ]
    assert row_of(level, "overlap").found.auroc == pytest.approx(roc_auc_score(is_true, missing))
    assert level.judge.clusters == 60


def test_flagging_everything_has_the_prevalence_as_its_precision(tmp_path: Path) -> None:
    claims = made_claims(50)
    found = row_of(level_of(null_baselines(labelled_run(tmp_path / "run", claims, knowing))), "always_positive").found
    prevalence = sum(claim.is_unsupported for claim in claims) / 50
    assert (found.auroc, found.recall, found.flagged) == (0.5, 1.0, 50)
    assert found.precision == pytest.approx(prevalence)
    assert found.f1 == pytest.approx(2 * prevalence / (1 + prevalence))


def test_without_probabilities_claims_are_ranked_by_labels_and_responses_by_their_number(tmp_path: Path) -> None:
    claims = made_claims(60, claims=3)
    run = labelled_run(tmp_path / "run", claims, lambda claim: "REFUTED" if knowing(claim) > 0.5 else "SUPPORTED")
    found = null_baselines(run)
    assert (level_of(found).score, level_of(found, "response").score) == ("label", "count")
    flags = dict.fromkeys({claim.record for claim in claims}, 0)
    worst = dict.fromkeys(flags, False)
    for claim in claims:
        flags[claim.record] += knowing(claim) > 0.5
        worst[claim.record] |= claim.is_unsupported
    expected = roc_auc_score([worst[name] for name in flags], [*flags.values()])
    assert level_of(found, "response").judge.auroc == pytest.approx(expected)


def test_claims_that_the_judge_left_undecided_are_left_out_and_counted(tmp_path: Path) -> None:
    claims = made_claims(60)
    run = labelled_run(
        tmp_path / "run", claims, lambda claim: "UNDECIDED" if claim.record in ("r1", "r2") else knowing(claim)
    )
    level = level_of(null_baselines(run))
    assert (level.left_out, level.judge.units, level.score) == (2, 58, "probability")


def test_a_response_with_some_unlabelled_claims_is_no_labelled_response(tmp_path: Path) -> None:
    claims = made_claims(40, claims=2)
    run = run_of(tmp_path / "run", rows_of(claims, "j", knowing))
    some = [claim for claim in claims if claim.number == 0 or int(claim.record[1:]) < 30]
    settings = BaselineSettings(labels=LabelSettings(labels=labels_csv(tmp_path / "labels.csv", some)))
    found = null_baselines(run, settings)
    assert level_of(found).judge.units == 70
    assert level_of(found, "response").judge.units == 30


def test_annotators_who_disagree_count_by_their_shares(tmp_path: Path) -> None:
    claims = made_claims(40)
    run = run_of(tmp_path / "run", rows_of(claims, "j", knowing))
    table = labels_csv(tmp_path / "labels.csv", claims)
    others = [f"{claim.record},{claim.record}-0,SUPPORTED,lee" for claim in claims]
    table.write_text(table.read_text(encoding="utf-8") + "\n".join(others) + "\n", encoding="utf-8")
    level = level_of(null_baselines(run, BaselineSettings(labels=LabelSettings(labels=table))))
    assert level.judge.positives == sum(claim.is_unsupported for claim in claims) / 2


def test_what_is_not_known_of_the_texts_is_undefined_and_not_a_number(tmp_path: Path) -> None:
    claims = made_claims(30)
    keep = ("record_id", "claim_id", "label", "judge", "unsupported_probability")
    rows = [*rows_of(claims, "j", knowing), *rows_of(claims, "human", truth)]
    run = run_of(tmp_path / "run", [{name: row[name] for name in keep if name in row} for row in rows])
    level = level_of(null_baselines(run))
    for name, words in (
        ("length", "words are not known"),
        ("overlap", "no evidence"),
        ("shuffled_overlap", "no other"),
    ):
        row = row_of(level, name)
        assert (row.found.auroc, row.difference, row.standing, row.direction) == (None, None, None, None)
        assert words in str(row.found.undefined)
    assert row_of(level, "always_positive").standing is not None


def test_the_same_evidence_for_all_cannot_be_exchanged(tmp_path: Path) -> None:
    claims = [claim._replace(evidence="river stone garden") for claim in made_claims(30)]
    level = level_of(null_baselines(labelled_run(tmp_path / "run", claims, knowing)))
    assert row_of(level, "overlap").found.auroc is not None
    assert row_of(level, "shuffled_overlap").found.auroc is None


def test_too_few_labels_tell_nothing(tmp_path: Path) -> None:
    claims = [claim._replace(is_unsupported=claim.record == "r0") for claim in made_claims(9)]
    level = level_of(null_baselines(labelled_run(tmp_path / "run", claims, knowing)))
    assert level.judge.auroc is None
    assert "do not suffice" in str(level.judge.undefined)
    assert all(row.standing is None for row in level.rows)


def test_every_judge_and_their_consensus_have_rows(tmp_path: Path) -> None:
    claims = made_claims(40)
    rows = [*rows_of(claims, "a", knowing), *rows_of(claims, "b", by_length), *rows_of(claims, "human", truth)]
    run = run_of(tmp_path / "run", rows)
    found = null_baselines(run)
    assert [judge.judge for judge in found.judges] == ["a", "b", "consensus"]
    assert "each of its judges" in str(found.judges[2].shuffled)
    assert "came with the run" in str(found.judges[0].shuffled)
    chosen = null_baselines(run, BaselineSettings(labels=LabelSettings(judge="b")))
    assert [judge.judge for judge in chosen.judges] == ["b"]
    assert chosen.judges[0] == found.judges[1]


def test_a_run_with_nobody_but_the_reference_has_no_judge_to_hold_against_it(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", rows_of(made_claims(5), "human", truth))
    with pytest.raises(SettingsError, match="no judge has given a verdict"):
        null_baselines(run)
    assert judge_checks(run) is None


def test_a_run_without_labels_is_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", rows_of(made_claims(5), "j", knowing))
    with pytest.raises(InputError, match="there are no labels"):
        null_baselines(run)


def test_a_function_is_asked_again_only_when_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = made_claims(80)
    (tmp_path / "counting.py").write_text("def judge(claim, evidence):\n    return min(1, len(claim) / 400)\n")
    monkeypatch.syspath_prepend(tmp_path)
    answers = tmp_path / "answers.jsonl"
    rows = [{"id": each.record, "response": each.text, "evidence": each.evidence} for each in claims]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    audit_files(
        [answers], tmp_path / "run", settings=AuditSettings(judges=("python:counting.judge",)), progress=NoProgress()
    )
    table = tmp_path / "labels.csv"
    lines = [f"{each.record},{each.record}#0,{truth(each)}" for each in claims]
    table.write_text("\n".join(["record_id,claim_id,label", *lines]) + "\n")
    labels = LabelSettings(labels=table)
    found = null_baselines(load(tmp_path / "run"), BaselineSettings(labels=labels))
    assert "--shuffle asks it about 80 answers (80 calls)" in str(found.judges[0].shuffled)
    asked = null_baselines(load(tmp_path / "run"), BaselineSettings(labels=labels, is_any_judge_asked=True, limit=60))
    row = row_of(level_of(asked), "shuffled_judge")
    assert (row.standing, row.difference, row.found.units) == ("not_distinguishable", 0.0, 60)


def test_a_judge_that_is_gone_is_told_and_not_asked(audited: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in audited.path.iterdir():
        text = path.read_text(encoding="utf-8").replace("rules@2", "elsewhere:gone")
        (folder / path.name).write_text(text, encoding="utf-8")
    renamed = load(folder, verify=False)
    found = null_baselines(renamed, BaselineSettings(is_any_judge_asked=True))
    assert "could not be asked again: no judge is called 'elsewhere:gone'" in str(found.judges[0].shuffled)
    assert "--limit 0" in str(null_baselines(renamed, BaselineSettings(limit=0)).judges[0].shuffled)


def test_a_judge_with_other_settings_is_asked_and_the_difference_told(audited: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in audited.path.iterdir():
        (folder / path.name).write_bytes(path.read_bytes().replace(b"likely=0.35", b"likely=0.30"))
    found = null_baselines(load(folder), BaselineSettings(limit=5))
    assert any("rules@2 was asked again as" in notice for notice in found.notices)


def test_the_cost_of_asking_again_is_what_the_run_paid(tmp_path: Path) -> None:
    claims = made_claims(30)
    rows = [{**row, "cost_usd": 0.01} for row in rows_of(claims, "openai:m", knowing)]
    run = run_of(tmp_path / "run", [*rows, *rows_of(claims, "human", truth)])
    manifest = run.path / "manifest.json"
    told_of = json.loads(manifest.read_text())
    next(judge for judge in told_of["judges"] if judge["name"] == "openai:m")["spec"] = "openai:m batch=4"
    manifest.write_text(json.dumps(told_of))
    told = {judge.judge: judge.shuffled for judge in null_baselines(load(run.path)).judges}
    assert "(30 calls, about $0.30 by what the run paid)" in str(told["openai:m"])


def test_what_is_kept_belongs_to_the_verdicts_that_it_was_made_with(audited: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in audited.path.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    run = load(folder)
    checks = judge_checks(run)
    assert checks is not None
    assert checks.baselines is not None
    assert "hallumeter baselines does so" in str(checks.baselines.judges[0].shuffled)
    keep_baselines(folder, null_baselines(run, BaselineSettings(limit=30)))
    checks = judge_checks(run)
    assert checks is not None
    assert checks.baselines is not None
    assert row_of(level_of(checks.baselines), "shuffled_judge").found.units > 100
    assert checks.baselines.verdicts == ()
    (folder / VERDICTS).write_bytes(
        (folder / VERDICTS).read_bytes().replace(b'probability":0.0', b'probability":0.1', 1)
    )
    assert kept_baselines(folder) is None
    (folder / "baselines.json").write_text("{", encoding="utf-8")
    assert kept_baselines(folder) is None


def test_a_report_of_a_run_without_labels_reads_nothing_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path / "run", rows_of(made_claims(5), "j", knowing))
    monkeypatch.setattr(RunFolder, "findings", lambda _: pytest.fail("the run was read"))
    assert judge_checks(run) is None


def test_labels_that_cannot_be_read_leave_a_report_as_it_was(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", rows_of(made_claims(5), "j", knowing))
    (run.path / LABELS).write_bytes(b"no database")
    assert judge_checks(run) is None
    (run.path / LABELS).unlink()
    sqlite3.connect(run.path / LABELS).close()
    assert judge_checks(run) is None


def test_of_many_labelled_records_the_same_are_always_drawn(tmp_path: Path) -> None:
    run = labelled_run(tmp_path / "run", made_claims(400), knowing)
    drawn = [
        set(read_labelled_judges(run, LabelSettings(), progress=lambda *_: None, most=most)[0].record_ids)
        for most in (50, 200, 400, None)
    ]
    assert drawn[0] < drawn[1] < drawn[2] == drawn[3]
    assert 25 < len(drawn[0]) < 80
    table = labels_csv(tmp_path / "labels.csv", made_claims(400)[:40])
    few = read_labelled_judges(run, LabelSettings(labels=table), progress=lambda *_: None, most=100)
    assert len(few[0].record_ids) == 40


@pytest.mark.parametrize("changes", [{"limit": -1}, {"confidence": 1.5}, {"workers": 0}, {"concurrency": 0}])
def test_settings_that_make_no_sense_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(SettingsError):
        BaselineSettings(**changes)  # type: ignore[arg-type]


def test_scores_of_another_tool_are_held_against_response_length(tmp_path: Path) -> None:
    claims = made_claims(60)
    rows = [
        {
            "user_input": f"q{each.record}",
            "response": each.text,
            "retrieved_contexts": [each.evidence],
            "faithfulness": 1 - by_length(each),
        }
        for each in claims
    ]
    given = tmp_path / "results.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = ingest([given], out=tmp_path / "run")
    ids = [response.record_id for response in RunFolder(run.path).records()]
    table = tmp_path / "labels.csv"
    lines = [f"{name},{truth(each)}" for name, each in zip(ids, claims, strict=True)]
    table.write_text("\n".join(["record_id,label", *lines]) + "\n", encoding="utf-8")
    found = null_baselines(run, BaselineSettings(labels=LabelSettings(labels=table)))
    [judge] = found.judges
    assert [level.level for level in judge.levels] == ["response"]
    assert row_of(judge.levels[0], "length").standing == "not_distinguishable"
    assert "came with the run" in str(judge.shuffled)
