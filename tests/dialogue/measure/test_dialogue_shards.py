"""Dialogues measured in parts and merged, or in shards, give the run in one piece: every number, every line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from hallumeter import InputError, SettingsError
from hallumeter.dialogue.instrument import INSTRUMENT
from hallumeter.dialogue.measure.commands import measure_dialogues
from hallumeter.dialogue.measure.inputs import opened_events
from hallumeter.dialogue.measure.settings import DialogueSettings
from hallumeter.dialogue.partial import DialoguePartial, partial_from_bytes
from hallumeter.run.run_folder import keeping_partials
from misbehaving_server import MisbehavingServer
from sharded_runs import check_equal, run, sound

MODES = ("agent", "llm", "rag")
SAID = (
    "You take metformin, so avoid alcohol.",
    "You are currently taking warfarin.",
    "Because you are 64 and have diabetes, check your blood sugar daily.",
    "Please see your doctor within a week.",
    "Stop taking metformin right away.",
    "",
)
SETTINGS = DialogueSettings(resamples=100, by=("ward",))


def events_of(seed: int, patients: int) -> list[list[dict[str, Any]]]:
    """Answers about patients by patient; some modes are asked less, some facts cannot be read."""
    draw, found = random.Random(seed), []
    for number in range(patients):
        facts = {"age": 64, "key_meds": ["Metformin"], "conditions": ["diabetes"]}
        if draw.random() < 0.3:
            facts["labs"] = {"glucose": "rather high"}
        own = []
        for mode in MODES:
            for turn in range(1, draw.choice([3, 4])):
                event = {
                    "patient_id": f"p{number}",
                    "turn_id": turn,
                    "mode": mode,
                    "question": "What do I take?" if turn == 1 else "What should I do?",
                    "answer": " ".join(draw.choices(SAID, k=2)) if draw.random() < 0.9 else "",
                    "metadata": {"ward": draw.choice("AB")},
                }
                own.append(event | ({"slots_truth": facts} if draw.random() < 0.9 else {}))
        found.append(own)
    return found


def partial_of(patients: list[list[dict[str, Any]]], settings: DialogueSettings = SETTINGS) -> DialoguePartial:
    with keeping_partials(), opened_events([event for own in patients for event in own]) as dialogues:
        dialogues.modes = MODES
        return measure_dialogues(dialogues, settings).partial


@pytest.mark.parametrize(("seed", "count", "parts"), [(1, 24, 3), (2, 9, 4)])
def test_any_split_by_patient_merged_in_any_order_is_the_whole(seed: int, count: int, parts: int) -> None:
    patients, draw = events_of(seed, count), random.Random(seed)
    whole = partial_of(patients)
    shuffled = draw.sample(patients, count)
    found = [partial_of(shuffled[start::parts]) for start in draw.sample(range(parts), parts)]
    while len(found) > 1:
        first, second, *rest = found
        found = [*rest, partial_from_bytes(first.to_bytes()).merge(second)]
    assert found[0].to_bytes() == whole.to_bytes()
    assert found[0].summary() == whole.summary()
    assert whole.summary().dialogue.differences  # type: ignore[union-attr]


def test_parts_that_do_not_fit_are_refused() -> None:
    patients = events_of(3, 2)
    with pytest.raises(SettingsError, match="different settings"):
        partial_of(patients).merge(partial_of(patients, DialogueSettings(resamples=200, by=("ward",))))
    assert INSTRUMENT.partials is not None
    with pytest.raises(InputError, match="not a partial"):
        INSTRUMENT.partials().partial_from_bytes(b"[]")
    with pytest.raises(InputError, match="no answer could be measured"):
        partial_of([]).summary()


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Events in any order: some twice, some lines broken, some events unreadable."""
    rows = [event for own in events_of(5, 14) for event in own]
    rows += [row | {"answer": "See a doctor.", "timestamp": "2026-01-02T00:00:00Z"} for row in rows[:5]]
    random.Random(5).shuffle(rows)
    lines = [json.dumps(row) for row in rows]
    lines.insert(4, "{broken")
    lines.insert(9, json.dumps(rows[3] | {"turn_id": 9, "answer": ["no", "text"]}))
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_run_in_shards_is_the_run_in_one_piece(tmp_path: Path, events: Path) -> None:
    scripts = tmp_path / "scripts.jsonl"
    rows = [{"patient_id": f"p{number}", "slots_truth": {"age": 64}, "turns": []} for number in (3, 1, 99)]
    scripts.write_text("".join(json.dumps(row) + "\n\n" for row in rows), encoding="utf-8")
    words: list[object] = ["dialogue", "measure", events, "--scripts", scripts, "--by", "ward"]
    check_equal(tmp_path, words, shards=4)
    assert "equal" in sound("verify", tmp_path / "shards").stdout


@pytest.mark.parametrize("judge", ["rules", "server"])
def test_a_judge_is_asked_by_the_workers(
    tmp_path: Path, events: Path, judge: str, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.play()
    name = f"{misbehaving_server.openai}#m" if judge == "server" else judge
    check_equal(tmp_path, ["dialogue", "measure", events, "--judge", name], shards=3)
    assert bool(misbehaving_server.log()) is (judge == "server")


def test_what_cannot_be_done_in_shards_is_refused(tmp_path: Path, events: Path) -> None:
    refused = run("dialogue", "measure", events, "--by", "colour", "--shards", 2, "--out", tmp_path / "run")
    assert refused.exit_code == 2
    assert "no event has the field 'colour'" in refused.stderr
    assert not (tmp_path / "run").exists()
