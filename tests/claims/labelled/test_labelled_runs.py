"""Runs read beside their labels: which labels count, and which are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compared_runs import run_of, verdict_rows
from hallumeter.claims.labelled.run import LabelledRun, claim_strata, merged_strata, read_labelled
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.errors import InputError, SettingsError
from hallumeter.ingest.pipeline import ingest
from hallumeter.records.claim import Claim
from hallumeter.run.finished import Run
from hallumeter.run.labels import HumanLabel, LabelStore, claim_fingerprint

LABELS = {"r1": "srs", "r2": "nu"}


@pytest.fixture
def measured(tmp_path: Path) -> Run:
    """Two records with five claims, the last of them undecided."""
    return run_of(tmp_path / "run", verdict_rows(LABELS, unsupported_probability=0.4, task="QA", right="no"))


def table(folder: Path, *rows: str, header: str = "record_id,claim_id,label,annotator") -> LabelSettings:
    path = folder / "labels.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return LabelSettings(labels=path)


def kept(run: Run, claim: str, **said: object) -> None:
    """Keep a label in the run folder, as the viewer does."""
    record, _, place = claim.partition("-")
    fingerprint = claim_fingerprint(Claim(record, claim, text=f"claim {place} of {record}"), None)
    fields: dict[str, object] = {"judge": "j", "judged": "SUPPORTED", "is_right": True, "annotator": "kim"}
    fields |= {"noted": "2026-11-17T00:00:00+00:00", "fingerprint": fingerprint, **said}
    LabelStore(run.path).add(HumanLabel(record_id=record, claim_id=claim, **fields))  # type: ignore[arg-type]


def truths(found: LabelledRun) -> list[float | None]:
    return [None if np.isnan(value) else value for value in found.unsupported.tolist()]


def test_columns_hold_what_the_judge_said_and_what_is_true(measured: Run, tmp_path: Path) -> None:
    found = read_labelled(measured, table(tmp_path, "r1,r1-0,REFUTED,", "r1,r1-1,SUPPORTED,", "r2,r2-0,NEI,"))
    assert (found.judge, found.unit, found.record_ids) == ("j", "response", ["r1", "r2"])
    assert found.claim_ids == ["r1-0", "r1-1", "r1-2", "r2-0", "r2-1"]
    assert found.owners.tolist() == [0, 0, 0, 1, 1]
    assert found.is_flagged.tolist() == [False, True, False, True, False]
    assert found.is_decided.tolist() == [True, True, True, True, False]
    assert found.probabilities.tolist() == [0.4] * 5
    assert truths(found) == [1.0, 0.0, None, 1.0, None]
    assert found.refuted[[0, 1, 3]].tolist() == [1.0, 0.0, 0.0]
    census = found.census
    assert (census.labels, census.claims, census.responses, census.annotators) == (3, 3, 2, {"labels": 3})


def test_annotators_who_disagree_count_by_their_shares(measured: Run, tmp_path: Path) -> None:
    rows = ["r1,r1-0,REFUTED,kim", "r1,r1-0,SUPPORTED,lee", "r1,r1-0,unsure,park", "r1,r1-1,REFUTED,kim"]
    found = read_labelled(measured, table(tmp_path, *rows))
    assert truths(found)[:2] == [0.5, 1.0]
    assert (found.census.disputed, found.census.unsure) == (1, 1)
    assert found.census.annotators == {"kim": 2, "lee": 1}
    only = read_labelled(measured, LabelSettings(labels=tmp_path / "labels.csv", annotator="lee"))
    assert truths(only)[:2] == [0.0, None]


def test_labels_of_whole_responses(measured: Run, tmp_path: Path) -> None:
    found = read_labelled(measured, table(tmp_path, "r2,,hallucinated,kim"))
    assert np.isnan(found.response_truth[0])
    assert found.response_truth[1] == 1.0
    assert (found.census.claims, found.census.responses) == (0, 1)


def test_a_field_of_the_records_may_say_what_is_true(measured: Run) -> None:
    found = read_labelled(measured, LabelSettings(gold="right", by=("task",)))
    assert found.response_truth.tolist() == [0.0, 0.0]
    assert found.slices == [("QA",), ("QA",)]
    with pytest.raises(InputError, match="task is 'QA'; expected whether it is hallucinated"):
        read_labelled(measured, LabelSettings(gold="task"))


def test_labels_kept_in_the_run_folder_count_by_the_last_word(measured: Run) -> None:
    kept(measured, "r1-0", is_right=False)
    kept(measured, "r1-1", judged="REFUTED", is_right=True)
    kept(measured, "r1-2", is_right=True)
    kept(measured, "r1-2", is_right=None)
    kept(measured, "r2-0", judged=None, is_right=False, label="SUPPORTED", annotator="lee")
    found = read_labelled(measured, LabelSettings())
    assert truths(found) == [1.0, 1.0, None, 0.0, None]
    assert np.isnan(found.refuted[0])
    assert found.refuted[1] == 1.0
    assert truths(read_labelled(measured, LabelSettings(annotator="lee"))) == [None, None, None, 0.0, None]


def test_a_label_of_a_claim_that_now_says_something_else_does_not_count(measured: Run) -> None:
    kept(measured, "r1-0", fingerprint="another")
    kept(measured, "r9-0")
    kept(measured, "r1-1")
    found = read_labelled(measured, LabelSettings())
    assert (found.census.labels, found.census.detached) == (1, 2)


def test_a_judge_of_the_run_may_be_the_truth(tmp_path: Path) -> None:
    rows = [*verdict_rows(LABELS), *verdict_rows({"r1": "ssr", "r2": "ss"}, judge="human:expert")]
    run = run_of(tmp_path / "run", rows)
    found = read_labelled(run, LabelSettings())
    assert (found.judge, truths(found)) == ("j", [0.0, 0.0, 1.0, 0.0, 0.0])
    turned = read_labelled(run, LabelSettings(reference="j"))
    assert turned.judge == "human:expert"
    assert truths(turned) == [0.0, 1.0, 0.0, 1.0, None]


def test_several_judges_are_examined_together_or_one_by_one(tmp_path: Path) -> None:
    said = {"a": "ss", "b": "sr", "c": "rr"}
    rows = [row for judge, labels in said.items() for row in verdict_rows({"r": labels}, judge=judge)]
    run = run_of(tmp_path / "run", [*rows, *verdict_rows({"r": "ss"}, judge="gold")])
    assert read_labelled(run, LabelSettings()).codes.tolist() == [0, 1]
    assert read_labelled(run, LabelSettings(judge="c")).codes.tolist() == [1, 1]
    assert read_labelled(run, LabelSettings(judge="consensus")).codes.tolist() == [0, 1]


@pytest.mark.parametrize("settings", [LabelSettings(judge="x"), LabelSettings(reference="x")])
def test_an_unknown_judge_is_refused(measured: Run, settings: LabelSettings) -> None:
    with pytest.raises(SettingsError, match="no judge 'x'; its judges: j"):
        read_labelled(measured, settings)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["r1,c9,REFUTED,"], r"labels.csv:2: claim 'c9' of record 'r1' is not in the run$"),
        (["r1,r1-0,NEI,", "r8,,no,", "r9,,no,"], r"labels.csv:3: record 'r8' is not in the run \(and 1 more\)"),
        (["r1,r1-0,NEI,kim", "r1,r1-0,SUPPORTED,kim"], r"labels.csv:3: 'kim' gave claim 'r1-0' .* in line 2"),
    ],
)
def test_labels_that_speak_of_nothing_or_contradict_are_refused(
    measured: Run, tmp_path: Path, rows: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_labelled(measured, table(tmp_path, *rows))


def test_the_same_label_twice_is_one(measured: Run, tmp_path: Path) -> None:
    assert read_labelled(measured, table(tmp_path, *["r1,r1-0,NEI,kim"] * 2)).census.labels == 1


def test_a_run_without_labels_says_how_to_make_some(measured: Run) -> None:
    with pytest.raises(InputError, match="there are no labels; make some with `hallumeter label"):
        read_labelled(measured, LabelSettings())
    assert read_labelled(measured, LabelSettings(), needs_labels=False).census.labels == 0


def test_claims_of_a_label_are_cut_in_thirds_by_probability() -> None:
    probabilities = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, np.nan])
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 2], np.int8)
    assert claim_strata(codes, probabilities).tolist() == [0, 0, 1, 1, 2, 2, 3, 6]
    assert claim_strata(np.zeros(4, np.int8), np.full(4, 0.5)).tolist() == [0] * 4


def test_strata_without_labels_join_a_neighbour_that_the_judge_treats_alike() -> None:
    strata = np.array([0, 0, 1, 1, 2, 2, 3, 3, 6, 6])
    flagged = strata > 2
    labelled = np.array([1, 1, 1, 0, 0, 0, 0, 0, 1, 1], bool)
    assert merged_strata(strata, flagged, labelled).tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert merged_strata(strata, flagged, np.zeros(10, bool)).tolist() == [0] * 6 + [1] * 4
    assert merged_strata(strata, flagged, np.ones(10, bool)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


FOREIGN = Path(__file__).parents[2] / "ingest" / "results"


def test_a_score_of_another_tool_stands_for_a_verdict_on_the_whole_response(tmp_path: Path) -> None:
    run = ingest([FOREIGN / "ragas.csv"], out=tmp_path / "run")
    found = read_labelled(run, table(tmp_path, "1,,faithful,kim", "2,,hallucinated,kim", "3,,faithful,kim"))
    assert found.judge == "ragas:faithfulness"
    assert found.claim_ids == ["response"] * 6
    assert found.probabilities[:2].tolist() == [0.0, 0.5]
    assert found.is_flagged.tolist() == [False, True, False, False, False, False]
    assert found.is_decided.tolist() == [True, True, False, False, False, False]
    assert truths(found)[:3] == found.response_truth[:3].tolist() == [0.0, 1.0, 0.0]
    assert read_labelled(run, LabelSettings(judge="ragas:exact_match"), needs_labels=False).judge == "ragas:exact_match"
    with pytest.raises(SettingsError, match="no score 'mihr' with a better side; it has: ragas:faithfulness"):
        read_labelled(run, LabelSettings(judge="mihr"))


def test_a_score_without_a_better_side_or_out_of_range_cannot_stand_for_a_verdict(tmp_path: Path) -> None:
    run = ingest([FOREIGN / "inspect.json"], out=tmp_path / "run")
    known = [row.metric for row in run.summary.metrics if row.direction != "none"]
    summary = run.path / "summary.json"
    text = summary.read_text(encoding="utf-8")
    summary.write_text(text.replace('"direction": "higher"', '"direction": "none"'), encoding="utf-8")
    assert known
    with pytest.raises(InputError, match="no claims, and no score with a better side"):
        read_labelled(run, LabelSettings(), needs_labels=False)
    summary.write_text(text, encoding="utf-8")
    measurements = run.path / "measurements.jsonl"
    measurements.write_text(measurements.read_text(encoding="utf-8").replace('"value":1.0', '"value":7.0'))
    with pytest.raises(InputError, match=r"is 7.0; expected 0 to 1"):
        read_labelled(run, LabelSettings(judge=known[0]), needs_labels=False)
