"""Corrected rates of whole runs, and what is printed of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hallumeter
from compared_runs import run_of
from hallumeter.claims.labelled.correction import CorrectSettings
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.decide.correct import correction_markdown, correction_text
from hallumeter.errors import SettingsError
from hallumeter.records.decisions import CorrectedRate, Correction
from hallumeter.run.finished import Run

RESPONSES, CLAIMS = 400, 4
NAMES = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO")


def simulated_rows(folder: Path) -> tuple[Run, dict[str, str]]:
    """A run whose judge misses a third of what is false and flags a tenth of what is true, and the truth."""
    rng = np.random.default_rng(5)
    rows, truth = [], {}
    for record in range(RESPONSES):
        rate = rng.beta(0.6, 2.4)
        for claim in range(CLAIMS):
            label = NAMES[rng.integers(1, 3)] if rng.random() < rate else NAMES[0]
            judged = label
            if label == NAMES[0]:
                judged = NAMES[2] if rng.random() < 0.1 else label
            elif rng.random() < 1 / 3:
                judged = NAMES[0]
            name = f"r{record}-{claim}"
            truth[name] = label
            probability = float(np.clip(rng.normal(0.7 if judged != NAMES[0] else 0.2, 0.1), 0, 1))
            rows.append(
                {
                    "record_id": f"r{record}",
                    "claim_id": name,
                    "label": judged,
                    "judge": "j",
                    "text": f"claim {name}",
                    "unsupported_probability": probability,
                    "half": "first" if record < RESPONSES / 2 else "second",
                }
            )
    return run_of(folder / "run", rows), truth


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, str]]:
    return simulated_rows(tmp_path_factory.mktemp("simulated"))


def labels_file(folder: Path, truth: dict[str, str], names: list[str]) -> Path:
    path = folder / "labels.csv"
    rows = [f"{name.partition('-')[0]},{name},{truth[name]}" for name in names]
    path.write_text("\n".join(["record_id,claim_id,label", *rows]) + "\n", encoding="utf-8")
    return path


def corrected(run: Run, **source: object) -> Correction:
    return hallumeter.correct(run, settings=CorrectSettings(source=LabelSettings(**source)))  # type: ignore[arg-type]


def rate_of(correction: Correction, metric: str, **by: str) -> CorrectedRate:
    [found] = [rate for rate in correction.rates if rate.metric == metric and rate.by == by]
    return found


def test_labels_of_some_responses_correct_every_rate(simulated: tuple[Run, dict[str, str]], tmp_path: Path) -> None:
    run, truth = simulated
    chosen = np.random.default_rng(1).choice(RESPONSES, 120, replace=False)
    names = [name for name in truth if int(name[1:].partition("-")[0]) in chosen]
    found = corrected(run, labels=labels_file(tmp_path, truth, names))
    wrong = {name: label != NAMES[0] for name, label in truth.items()}
    by_response = np.array(list(wrong.values())).reshape(RESPONSES, CLAIMS)
    expected = {
        "mihr": by_response.mean(),
        "mihr_mean": by_response.mean(),
        "mihr_refuted": np.mean([label == NAMES[1] for label in truth.values()]),
        "factscore": 1 - by_response.mean(),
        "mahr": by_response.any(axis=1).mean(),
    }
    for metric, true_value in expected.items():
        rate = rate_of(found, metric)
        assert rate.corrected.interval is not None
        low, high = rate.corrected.interval
        assert low < true_value < high, metric
        assert high - low < 0.2
        assert rate.rogan_gladen.interval is not None
        assert rate.rogan_gladen.interval[0] < true_value < rate.rogan_gladen.interval[1]
    mihr = rate_of(found, "mihr")
    assert (mihr.total, mihr.labelled, mihr.labelled_clusters) == (1600, 480, 120)
    summary = next(row for row in run.summary.metrics if row.metric == "mihr" and not row.by)
    assert (mihr.raw.value, mihr.flagged) == (summary.value, summary.count)
    assert mihr.sensitivity.interval is not None
    assert mihr.sensitivity.interval[0] < 2 / 3 < mihr.sensitivity.interval[1]
    assert mihr.specificity.value == pytest.approx(0.9, abs=0.04)
    assert rate_of(found, "mahr").unit == "response"


def test_claims_labelled_here_and_there_do_not_tell_about_whole_responses(
    simulated: tuple[Run, dict[str, str]], tmp_path: Path
) -> None:
    run, truth = simulated
    names = [f"r{record}-{record % CLAIMS}" for record in range(0, RESPONSES, 2)]
    rate = rate_of(corrected(run, labels=labels_file(tmp_path, truth, names)), "mahr")
    assert rate.corrected.undefined == "only 0 of 200 labelled answers are labelled in full; label whole answers"
    assert rate.raw.value is not None


def test_labels_drawn_by_verdict_are_weighted_and_said_to_be(
    simulated: tuple[Run, dict[str, str]], tmp_path: Path
) -> None:
    run, truth = simulated
    verdicts = {verdict.claim_id: verdict.label.value for finding in run.findings() for verdict in finding.verdicts}
    flagged = [name for name, label in verdicts.items() if label != NAMES[0]][:200]
    others = [name for name, label in verdicts.items() if label == NAMES[0]][::8]
    found = corrected(run, labels=labels_file(tmp_path, truth, [*flagged, *others]))
    mihr = rate_of(found, "mihr")
    assert mihr.rogan_gladen == mihr.corrected
    assert any("weighted by verdict" in notice for notice in found.notices)


def test_slices_are_corrected_each_by_its_own_labels(simulated: tuple[Run, dict[str, str]], tmp_path: Path) -> None:
    run, truth = simulated
    names = [name for name in truth if int(name[1:].partition("-")[0]) < RESPONSES / 2]
    found = corrected(run, labels=labels_file(tmp_path, truth, names), by=("half",))
    assert rate_of(found, "mihr", half="first").corrected.value is not None
    assert rate_of(found, "mihr", half="second").corrected.undefined == "no claim that counts here is labelled"


def test_labels_of_one_verdict_alone_say_what_is_missing(simulated: tuple[Run, dict[str, str]], tmp_path: Path) -> None:
    run, truth = simulated
    verdicts = {verdict.claim_id: verdict.label.value for finding in run.findings() for verdict in finding.verdicts}
    flagged = [name for name, label in verdicts.items() if label != NAMES[0]]
    found = corrected(run, labels=labels_file(tmp_path, truth, flagged[:10]))
    assert "that the judge calls supported is labelled" in str(rate_of(found, "mihr").corrected.undefined)
    assert not found.is_corrected
    assert any("few labelled claims (10)" in notice for notice in found.notices)


def test_labels_of_whole_responses_correct_only_the_share_of_responses(
    simulated: tuple[Run, dict[str, str]], tmp_path: Path
) -> None:
    run, truth = simulated
    path = tmp_path / "labels.csv"
    is_wrong = {f"r{n}": any(truth[f"r{n}-{c}"] != NAMES[0] for c in range(CLAIMS)) for n in range(0, RESPONSES, 3)}
    path.write_text("record_id,label\n" + "".join(f"{name},{value}\n" for name, value in is_wrong.items()))
    found = corrected(run, labels=path)
    assert rate_of(found, "mihr").corrected.undefined == "the labels speak of whole answers, not of claims"
    mahr = rate_of(found, "mahr")
    assert mahr.labelled == len(is_wrong)
    assert mahr.corrected.value == pytest.approx(np.mean(list(is_wrong.values())), abs=0.05)


def test_what_is_printed_names_values_labels_and_what_is_missing(
    simulated: tuple[Run, dict[str, str]], tmp_path: Path
) -> None:
    run, truth = simulated
    names = [f"r{record}-{record % CLAIMS}" for record in range(0, RESPONSES, 2)]
    found = corrected(run, labels=labels_file(tmp_path, truth, names))
    text = correction_text(found, width=160)
    for words in ("corrected for the errors of j", "200 labels on 200 claims", "Rogan-Gladen", "200 of 1,600"):
        assert words in text
    for words in ("more labels", "sensitivity", "the judge's own interval leaves out"):
        assert words in text
    assert "not corrected: Answers with an unsupported claim (MaHR): only 0 of 200" in text
    assert correction_markdown(found).count("\n| Unsupported claims (MiHR) | ") == 2


def test_names_from_files_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    rows = [
        {"record_id": f"r{n}", "claim_id": "c", "label": NAMES[n % 2], "judge": "j|<b>\x1b[31m", "text": "x"}
        for n in range(8)
    ]
    run = run_of(tmp_path / "run", rows)
    path = tmp_path / "labels.csv"
    path.write_text("record_id,claim_id,label\n" + "".join(f"r{n},c,{NAMES[n % 2]}\n" for n in range(8)))
    found = corrected(run, labels=path)
    assert "\x1b" not in correction_text(found)
    assert "<b>" not in correction_markdown(found).replace("\\<b\\>", "")


@pytest.mark.parametrize("settings", [{"half_width": 0.0}, {"half_width": 0.7}, {"confidence": 1.0}])
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match="expected a number between 0 and"):
        CorrectSettings(**settings)  # type: ignore[arg-type]


def test_a_run_in_which_nothing_was_decided_has_no_rate(tmp_path: Path) -> None:
    rows = [{"record_id": "r", "claim_id": f"c{n}", "label": "UNDECIDED", "judge": "j"} for n in range(3)]
    run = run_of(tmp_path / "run", rows)
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"record_id": "r", "claim_id": "c0", "label": "REFUTED"}) + "\n")
    found = corrected(run, labels=path)
    assert rate_of(found, "mihr").corrected.undefined == "no claim was decided"
    assert rate_of(found, "mihr").raw.undefined == "nothing was decided"
    assert "1 labelled claims were not decided by the judge; they are in no rate" in found.notices
