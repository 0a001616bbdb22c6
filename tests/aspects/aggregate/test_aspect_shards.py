"""Scorecards aggregated in parts and merged, or in shards, give the run in one piece: every number, every line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import hallumeter
from hallumeter import InputError, SettingsError
from hallumeter.aspects.aggregate import counted
from hallumeter.aspects.aggregate.overview import AggregateSettings, AspectsPartial, partial_from_bytes
from hallumeter.aspects.aggregate.pipeline import aggregate
from hallumeter.aspects.instrument import INSTRUMENT
from hallumeter.aspects.score.scorecards import scorecard_of
from sharded_runs import check_equal, sound

SENTENCES = (
    "The battery is great but the screen is terrible.",
    "The staff was friendly, the soup was cold.",
    "Nothing to say about it.",
    "I love the camera.",
    "The room was clean; the breakfast was not.",
    "The price is fair.",
)
SETTINGS = AggregateSettings(resamples=100)


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Scorecards of twelve sentences in three runs, in any order; some broke off, some say something else."""
    folder = tmp_path_factory.mktemp("cards") / "run"
    rows = [
        {"text_id": f"s{number}", "text": text, "gold_tuples": [{"aspect_term": "battery", "polarity": "positive"}]}
        for number, text in enumerate(SENTENCES * 2)
    ]
    hallumeter.aspects(rows, out=folder)
    made = [json.loads(line) for line in (folder / "scorecards.jsonl").read_text(encoding="utf-8").splitlines()]
    draw = random.Random(3)
    found = []
    for name, seed in (("zulu", 2), ("alpha", 1), ("zulu", 1)):
        for card in made:
            if draw.random() < 0.85:
                own = json.loads(json.dumps(card))
                own["run_id"] = own["meta"]["run_id"] = name
                own["runtime"]["seed"] = seed
                if draw.random() < 0.15:
                    own["flags"] = {
                        **(own.get("flags") or {}),
                        "generate_failed": True,
                        "failure": "ate: timeout: late",
                    }
                found.append(own)
    draw.shuffle(found)
    return found


def partial_of(cards: list[dict[str, Any]], settings: AggregateSettings = SETTINGS) -> AspectsPartial:
    return aggregate(map(scorecard_of, cards), settings).partial


def merged(partials: list[AspectsPartial]) -> AspectsPartial:
    while len(partials) > 1:
        first, second, *rest = partials
        partials = [*rest, partial_from_bytes(first.to_bytes()).merge(second)]
    return partials[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_split_by_sentence_merged_in_any_order_is_the_whole(
    cards: list[dict[str, Any]], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted, "MOST_PARTS", 7)
    draw = random.Random(seed)
    part_of = {f"s{number}": draw.randrange(3) for number in range(12)}
    parts: list[list[dict[str, Any]]] = [[], [], []]
    for card in draw.sample(cards, len(cards)):
        parts[part_of[card["meta"]["text_id"]]].append(card)
    whole, found = partial_of(cards), merged([partial_of(part) for part in draw.sample(parts, 3)])
    runs = {tally.run: tally for tally in whole.tallies}
    assert {tally.run: tally for tally in found.tallies} == runs
    assert found.runs == tuple(sorted(whole.runs))  # parts that met runs in different orders list them by name
    summary, expected = found.summary(), whole.summary()
    assert summary.counts == expected.counts
    assert {(row.metric, *row.by.items()): row for row in summary.metrics} == {
        (row.metric, *row.by.items()): row for row in expected.metrics
    }


def test_parts_that_do_not_fit_are_refused(cards: list[dict[str, Any]]) -> None:
    with pytest.raises(SettingsError, match="different settings"):
        partial_of(cards).merge(partial_of(cards, AggregateSettings(resamples=200)))
    assert INSTRUMENT.partials is not None
    with pytest.raises(InputError, match="not a partial"):
        INSTRUMENT.partials().partial_from_bytes(b"[]")


@pytest.mark.parametrize("words", [(), ("--profile", "paper_main")])
def test_a_run_in_shards_is_the_run_in_one_piece(
    tmp_path: Path, cards: list[dict[str, Any]], words: tuple[str, ...]
) -> None:
    for place, card in enumerate(cards):
        card["profile"] = card["meta"]["profile"] = "paper_main" if place % 5 else "smoke"
    lines = [json.dumps(card) for card in cards]
    lines[4:4] = ["{broken", "", '{"other": 1}']
    path = tmp_path / "cards.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    check_equal(tmp_path, ["aspects", "aggregate", path, *words], shards=4)
    assert "equal" in sound("verify", tmp_path / "shards").stdout
