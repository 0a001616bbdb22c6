"""Thresholds of runs: what is accepted, how labels that were drawn unevenly count, and what is said without one."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from compared_runs import run_of
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.decide.calibrate.pipeline import calibrate
from hallumeter.decide.calibrate.settings import CalibrateSettings, read_target
from hallumeter.decide.calibrate.text import calibration_markdown, calibration_text
from hallumeter.errors import InputError, SettingsError
from hallumeter.records.decisions import Calibration
from labelled_runs import labelled_run, truth_beyond, write_labels

CLAIMS = "at most 10% hallucinated among accepted"


def calibrated(folder: Path, target: str = CLAIMS, *, by: tuple[str, ...] = (), **settings: object) -> Calibration:
    source = LabelSettings(labels=folder.with_name("labels.csv"), by=by)
    return calibrate(folder, settings=CalibrateSettings(target=target, source=source, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "risk", "limit"),
    [
        ("at most 5% hallucinated among accepted", "among_accepted", 0.05),
        ("At most 5 % hallucinated among the accepted", "among_accepted", 0.05),
        ("at most 2% of all hallucinated and accepted", "of_all", 0.02),
        ("MISS at most .1 of all hallucinations", "missed", 0.1),
        ("at most 12.5% hallucinations among accepted", "among_accepted", 0.125),
    ],
)
def test_targets_are_understood_in_words(text: str, risk: str, limit: float) -> None:
    found = read_target(text)
    assert found.risk == risk
    assert found.limit == pytest.approx(limit)
    assert read_target(found.words) == found


@pytest.mark.parametrize(
    "text", ["", "be good", "at most hallucinated among accepted", "at most 5% 6% hallucinated among accepted"]
)
def test_a_target_of_another_form_is_answered_with_the_three_forms(text: str) -> None:
    with pytest.raises(SettingsError, match=r"among accepted.*of all hallucinated.*miss at most 5%"):
        read_target(text)


def test_a_target_that_is_too_long_is_refused_without_being_repeated() -> None:
    with pytest.raises(SettingsError) as refused:
        read_target("at most 5% hallucinated among accepted " + "of " * 100_000)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("share", ["0%", "5", "100%", "-1%", "5%%", "1e", "+nan"])
def test_a_share_outside_0_and_1_is_refused(share: str) -> None:
    with pytest.raises(SettingsError, match="share"):
        read_target(f"miss at most {share} of hallucinations")


def test_an_average_of_the_share_among_accepted_cannot_be_promised() -> None:
    with pytest.raises(SettingsError, match="may fall"):
        CalibrateSettings(is_on_average=True)
    with pytest.raises(SettingsError, match="confidence"):
        CalibrateSettings(confidence=1.0)


def test_claims_are_accepted_up_to_a_threshold_that_keeps_the_promise(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run")
    found = calibrated(folder, unit="claim")
    [row] = found.thresholds
    assert found.is_promised
    assert row.threshold is not None
    assert (row.units, row.labelled, row.labelled_clusters, row.method) == (1_200, 1_200, 400, "betting")
    assert row.risk == pytest.approx(truth_beyond(tmp_path / "labels.csv", row.threshold, folder))
    assert row.risk is not None
    assert row.upper_bound is not None
    assert row.hallucinated / row.labelled_accepted == pytest.approx(row.risk)
    assert row.risk < row.upper_bound <= 0.1
    assert row.accepted_share == row.accepted / 1_200
    assert row.accepted > 600


def test_responses_that_are_labelled_in_full_are_accepted_as_wholes(tmp_path: Path) -> None:
    found = calibrated(labelled_run(tmp_path / "run"))
    [row] = found.thresholds
    assert (found.unit, row.units, row.labelled, row.method) == ("response", 400, 400, "binomial")
    assert "Accept an answer when no claim has a probability above" in calibration_text(found)


def test_single_labels_ask_for_claims(tmp_path: Path) -> None:
    found = calibrated(labelled_run(tmp_path / "run", is_asked=lambda _: 0.3))
    assert found.unit == "claim"
    assert not found.thresholds[0].is_weighted
    as_responses = calibrated(tmp_path / "run", unit="response")
    assert any("labelled only in part" in notice for notice in as_responses.notices)


def test_labels_of_whole_responses_are_taken_as_they_are(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run")
    labels = [{"record_id": f"r{number}", "claim_id": "", "label": "no"} for number in range(100)]
    write_labels(tmp_path / "labels.csv", labels)
    found = calibrated(folder, "at most 5% hallucinated among accepted")
    assert (found.unit, found.thresholds[0].labelled, found.thresholds[0].accepted) == ("response", 100, 400)
    with pytest.raises(InputError, match="no claim is labelled"):
        calibrated(folder, unit="claim")


def test_labels_drawn_by_probability_are_weighted_back(tmp_path: Path) -> None:
    even = calibrated(labelled_run(tmp_path / "run", records=1_500), unit="claim")
    uneven_folder = labelled_run(tmp_path / "uneven", records=1_500, is_asked=lambda p: 0.9 if p > 0.1 else 0.4)
    uneven = calibrated(uneven_folder, unit="claim")
    row = uneven.thresholds[0]
    assert row.is_weighted
    assert row.threshold is not None
    assert row.risk is not None
    assert any("different rates" in notice for notice in uneven.notices)
    labelled_run(tmp_path / "whole", records=1_500)
    true = truth_beyond(tmp_path / "labels.csv", row.threshold, tmp_path / "run")
    assert row.risk == pytest.approx(true, abs=0.015)
    assert row.hallucinated / row.labelled_accepted > true + 0.02  # what an unweighted share would say
    assert even.thresholds[0].is_weighted is False
    averaged = calibrated(
        uneven_folder, "at most 5% of all hallucinated and accepted", is_on_average=True, unit="claim"
    )
    assert averaged.thresholds[0].threshold is not None  # the labels are those of the whole now: all are alike


def test_uneven_labels_allow_no_promise_on_average(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run", is_asked=lambda p: 0.9 if p > 0.1 else 0.2)
    found = calibrated(folder, "at most 5% of all hallucinated and accepted", is_on_average=True)
    assert found.thresholds[0].why_not == "labels drawn at different rates allow no promise on average"


def test_a_kind_of_claim_that_nobody_labelled_is_not_accepted(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run", is_asked=lambda p: 0.9 if 0.02 < p < 0.2 else 0.0)
    found = calibrated(folder, "at most 90% hallucinated among accepted")
    assert found.thresholds[0].threshold is None or found.thresholds[0].threshold < 0.5
    only_high = labelled_run(tmp_path / "high", is_asked=lambda p: 0.9 if p > 0.5 else 0.0)
    refused = calibrated(only_high).thresholds[0]
    assert refused.why_not == "none of the claims with the lowest probabilities is labelled"


@pytest.mark.parametrize(
    "target", ["at most 5% of all hallucinated and accepted", "miss at most 30% of hallucinations"]
)
def test_risks_that_grow_can_be_promised_on_average_too(tmp_path: Path, target: str) -> None:
    folder = labelled_run(tmp_path / "run")
    surely, averaged = (calibrated(folder, target, is_on_average=each).thresholds[0] for each in (False, True))
    assert surely.threshold is not None
    assert averaged.threshold is not None
    assert averaged.threshold >= surely.threshold
    assert (averaged.method, averaged.upper_bound) == ("conformal", None)


def test_without_a_threshold_it_says_what_can_be_promised_and_what_is_missing(tmp_path: Path) -> None:
    found = calibrated(labelled_run(tmp_path / "run"), "at most 2% hallucinated among accepted")
    [row] = found.thresholds
    assert not found.is_promised
    assert row.best_limit is not None
    assert 0.02 < row.best_limit < 0.2
    assert row.fewest_clean == 114
    text = " ".join(calibration_text(found).split())
    assert "No threshold can promise 'at most 2% hallucinated among accepted'" in text
    assert "The best that can be promised is" in text
    assert "It takes 114 labelled accepted answers without a hallucination at the least" in text
    few = calibrated(tmp_path / "run", "at most 0.5% hallucinated among accepted").thresholds[0]
    assert few.why_not == "400 labelled answers are too few"
    hopeless = calibrated(tmp_path / "run", "miss at most 0.1% of hallucinations", is_on_average=True)
    assert "too few labels" in calibration_text(hopeless)


def test_slices_have_their_own_thresholds_or_a_reason(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run")
    labels = tmp_path / "labels.csv"
    kept = [line for line in labels.read_text(encoding="utf-8").splitlines() if "r12" not in line]
    labels.write_text("\n".join(kept) + "\n", encoding="utf-8")
    found = calibrated(folder, by=("task",))
    assert [row.by for row in found.thresholds] == [{}, {"task": "QA"}, {"task": "chat"}]
    text = calibration_text(found)
    assert "task=QA: 0." in text
    assert "on its own, not all at once" in text
    jointly = calibrated(folder, by=("task",), is_joint=True)
    assert "all rows at once" in calibration_text(jointly)
    for one, other in zip(found.thresholds, jointly.thresholds, strict=True):
        assert (other.threshold or 0.0) <= (one.threshold or 0.0)


def test_a_slice_without_labels_or_probabilities_says_so(tmp_path: Path) -> None:
    rows = [
        {"record_id": f"{task}{number}", "claim_id": f"{task}{number}", "label": "SUPPORTED", "task": task}
        | ({} if task == "silent" else {"unsupported_probability": number / 100})
        for task in ("asked", "unasked", "silent")
        for number in range(60)
    ]
    run_of(tmp_path / "run", rows)
    labels = [
        {"record_id": f"{task}{number}", "claim_id": f"{task}{number}", "label": "SUPPORTED"}
        for task in ("asked", "silent")
        for number in range(60)
    ]
    write_labels(tmp_path / "labels.csv", labels)
    found = calibrated(tmp_path / "run", by=("task",))
    reasons = {row.by.get("task"): row.why_not for row in found.thresholds}
    assert reasons["asked"] is None
    assert reasons["unasked"] == "no answer is labelled"
    assert reasons["silent"] == "no answer has a probability"
    assert found.unscored == 60
    assert any("60 of 180 answers have no probability" in notice for notice in found.notices)


def test_reliability_is_counted_bin_by_bin_and_the_brier_score_is_that_of_scikit_learn(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run")
    found = calibrated(folder, unit="claim").reliability
    assert found is not None
    assert found.after is not None
    assert found.brier_change is not None
    assert sum(each.labelled for each in found.bins) == found.labelled == 1_200
    probabilities, truth = _pairs(folder)
    assert found.before.brier == pytest.approx(brier_score_loss(truth, probabilities))
    inside = (probabilities >= 0.2) & (probabilities < 0.3)
    [each] = [each for each in found.bins if each.low == 0.2]
    assert each.labelled == inside.sum()
    assert each.share == pytest.approx(truth[inside].mean())
    assert each.mean_probability == pytest.approx(probabilities[inside].mean())
    assert found.brier_change == pytest.approx(found.after.brier - found.before.brier)
    assert found.after.ece < found.before.ece
    assert found.mapping.method == "isotonic"


def _pairs(
    folder: Path,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    with folder.with_name("labels.csv").open(encoding="utf-8") as stream:
        truth = {row["claim_id"]: float(row["label"] == "REFUTED") for row in csv.DictReader(stream)}
    rows = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    return np.array([row["unsupported_probability"] for row in rows]), np.array(
        [truth[row["claim_id"]] for row in rows]
    )


def test_one_labelled_response_cannot_show_what_a_map_is_worth(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run", records=3)
    labels = [{"record_id": "r0", "claim_id": f"r0-{claim}", "label": "SUPPORTED"} for claim in range(3)]
    write_labels(tmp_path / "labels.csv", labels)
    found = calibrated(folder, unit="claim")
    assert found.reliability is not None
    assert found.reliability.after is None
    assert "labels are of a single cluster" in calibration_text(found)


def test_labelled_claims_without_probabilities_have_no_reliability(tmp_path: Path) -> None:
    rows = [{"record_id": f"r{number}", "claim_id": f"c{number}", "label": "SUPPORTED"} for number in range(4)]
    run_of(tmp_path / "run", [*rows, {**rows[0], "record_id": "x", "claim_id": "x", "unsupported_probability": 0.1}])
    write_labels(tmp_path / "labels.csv", [{**row} for row in rows])
    found = calibrated(tmp_path / "run")
    assert found.reliability is None
    assert "Reliability" not in calibration_text(found) + calibration_markdown(found)


def test_markdown_shows_names_and_does_not_obey_them(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "a|b")
    text = calibration_markdown(calibrated(folder, by=("task",)))
    assert text.startswith("### a\\|b · at most 10% hallucinated among accepted")
    assert "| task=QA |" in text


def test_labels_that_disagree_count_by_their_shares(tmp_path: Path) -> None:
    folder = labelled_run(tmp_path / "run")
    labels = [
        {"record_id": f"r{number}", "claim_id": f"r{number}-0", "label": label, "annotator": name}
        for number in range(300)
        for name, label in (("kim", "SUPPORTED"), ("lee", "REFUTED" if number < 4 else "SUPPORTED"))
    ]
    write_labels(tmp_path / "labels.csv", labels)
    found = calibrated(folder)
    assert any("annotators disagree on 4 claims" in notice for notice in found.notices)
    assert found.thresholds[0].method == "betting"
    assert found.thresholds[0].hallucinated == 2
