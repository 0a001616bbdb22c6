"""Files too large for memory are measured part by part, and nobody can tell from the result."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hallumeter import InputError, MeasureSettings, SettingsError
from hallumeter.claims.measure import table as partitions
from hallumeter.claims.measure.commands import MeasuredRun, measure_files
from verdict_rows import Row, write_lines

SETTINGS = MeasureSettings(resamples=100, by=("topic",))


def rows(seed: int) -> list[Row]:
    """Verdicts in no order, with repeats, labels that are none and rows without an id."""
    draw = random.Random(seed)
    found: list[Row] = []
    for _ in range(400):
        row: Row = {"record_id": f"r{draw.randrange(60)}", "claim_id": f"c{draw.randrange(4)}"}
        row |= {"judge": draw.choice(["b", "a"]), "label": draw.choice(["SUPPORTED", "REFUTED", "maybe"])}
        row |= {"topic": draw.choice(["x", "y", None]), "unsupported_probability": draw.choice([None, draw.random()])}
        found.append({name: value for name, value in row.items() if name != draw.choice(["record_id", *"1234567"])})
    return found


def measured(
    path: Path, monkeypatch: pytest.MonkeyPatch, size: int, settings: MeasureSettings = SETTINGS
) -> MeasuredRun:
    monkeypatch.setattr(partitions, "PART_BYTES", size)
    return measure_files([path], settings=settings)


def test_parts_give_the_summary_and_the_faults_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "v.jsonl", rows(1))
    with path.open("a", encoding="utf-8") as stream:
        stream.write("not JSON\n")
    whole, parts = (measured(path, monkeypatch, size) for size in (1 << 30, 5_000))
    assert whole.measured is not None
    assert parts.measured is None
    assert parts.summary == whole.summary
    assert parts.rows_by_source == whole.rows_by_source
    assert set(parts.failures) == set(whole.failures)


def test_answers_to_one_question_in_several_parts_are_measured_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim: Row = {"claim_id": "c", "text": "Paris is the capital.", "label": "SUPPORTED"}
    asked: list[Row] = [
        {**claim, "record_id": f"{model}{number}", "model": model, "question_id": f"q{number}"}
        for number in range(40)
        for model in ("m", "n")
    ]
    path = write_lines(tmp_path / "v.jsonl", asked)
    found = measured(path, monkeypatch, 1_000, MeasureSettings(resamples=100))
    assert found.measured is not None
    assert found.summary["consensus_f1"].value == 1.0


@pytest.mark.parametrize("settings", [MeasureSettings(cluster="topic"), MeasureSettings(consensus="dawid-skene")])
def test_what_needs_all_rows_at_once_is_not_cut(
    settings: MeasureSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measured(write_lines(tmp_path / "v.jsonl", rows(2)), monkeypatch, 1_000, settings).measured is not None
    assert partitions.parts_for([tmp_path / "none"]) == 1


@pytest.mark.parametrize(
    ("row", "settings", "error"),
    [
        ({"record_id": "r"}, SETTINGS, SettingsError),
        ({"claim_id": "c", "label": "SUPPORTED"}, MeasureSettings(), InputError),
    ],
)
def test_parts_are_refused_where_the_whole_is(
    row: Row, settings: MeasureSettings, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lines(tmp_path / "v.jsonl", [row] * 30)
    messages = set()
    for size in (1 << 30, 100):
        with pytest.raises(error) as caught:
            measured(path, monkeypatch, size, settings)
        messages.add(str(caught.value))
    assert len(messages) == 1
