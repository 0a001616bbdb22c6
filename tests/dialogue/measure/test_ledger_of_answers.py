"""The rates of answers on disk, and what is made of them block by block."""

from __future__ import annotations

import numpy as np
import pytest

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.dialogue.measure import rate_table as ledger_module
from hallumeter.dialogue.measure.rate_table import (
    Code,
    RateRow,
    RateTable,
    metric_rates,
    numbers_of,
    pair_tallies,
    part_tallies,
    parts_of,
    score_bins,
)
from hallumeter.dialogue.metrics import turn_rates
from hallumeter.dialogue.partial import PartTally, mode_differences
from hallumeter.dialogue.records import Mention, SlotFinding, TurnFindings
from hallumeter.records.claim import Label
from hallumeter.stats.summarize import SummarySettings

MODES, NUMBERS = ("llm", "agent"), SummarySettings("0", resamples=200)
MENTION = Mention("condition", "gout", ())


def rates(kept: float, invented: float) -> tuple[float, ...]:
    findings = [SlotFinding(MENTION, Label.SUPPORTED, kept)] * bool(kept)
    findings += [SlotFinding(MENTION, Label.REFUTED, invented)] * bool(invented)
    return numbers_of(turn_rates(TurnFindings(slots=tuple(findings))))


def answer(patient: int, mode: int, turn: int, numbers: tuple[float, ...]) -> RateRow:
    return RateRow(patient, mode, turn, turn, 0, False, numbers)


@pytest.fixture(params=[3, 7, 1 << 16])
def rows_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size: int = request.param
    monkeypatch.setattr(ledger_module, "_ROWS_AT_ONCE", size)
    return size


def filled() -> RateTable:
    """Ten patients with two modes and two turns; of every third patient the first mode invents half."""
    made = RateTable()
    for patient in range(10):
        wrong = rates(1.0, 1.0) if patient % 3 == 0 else rates(2.0, 0.0)
        made.add(
            [answer(patient, mode, turn, rates(2.0, 0.0) if mode else wrong) for mode in (0, 1) for turn in (1, 2)]
        )
    return made


@pytest.mark.usefixtures("rows_at_once")
def test_the_rows_of_a_patient_stay_together_in_blocks_of_any_size() -> None:
    with filled() as rate_table:
        assert len(rate_table) == 40
        seen: list[int] = []
        for block in rate_table.finished().blocks():
            patients = sorted(set(block["patient"].tolist()))
            assert not set(patients) & set(seen)
            seen += patients
            assert len(block) == 4 * len(patients)
        assert seen == list(range(10))


@pytest.mark.usefixtures("rows_at_once")
def test_differences_do_not_depend_on_the_size_of_blocks() -> None:
    with filled() as rate_table:
        found = {
            row.metric: row for row in mode_differences(pair_tallies(rate_table.finished(), MODES), MODES, NUMBERS)
        }
    # Four patients of ten have 0.5 instead of 1 in both turns: 8 of 20 pairs differ by 0.5.
    assert found["sfs"].difference == pytest.approx(0.2)
    assert (found["sfs"].pairs, found["sfs"].patients) == (20, 10)
    assert found["sfs"].effect_size == pytest.approx(0.2 / ((8 * 0.25 - 20 * 0.04) / 19) ** 0.5)
    assert found["csp"].undefined == "no turn of a patient has a value in both modes"


def test_values_are_put_into_bins_with_the_last_closed() -> None:
    with filled() as rate_table:
        bins = score_bins(rate_table.finished(), MODES)["sfs"]
    assert (bins["llm"][10], bins["llm"][19], sum(bins["llm"]), bins["llm"][20]) == (8, 12, 20, 0)
    assert bins["agent"][19] == 20


def test_equal_differences_have_no_effect_size() -> None:
    with RateTable() as rate_table:
        for patient in range(4):
            rate_table.add([answer(patient, 0, 1, rates(1.0, 1.0)), answer(patient, 1, 1, rates(2.0, 0.0))])
        (found, *_) = mode_differences(pair_tallies(rate_table.finished(), MODES), MODES, NUMBERS)
    assert (found.difference, found.effect_size) == (0.5, None)


def test_parts_are_the_whole_modes_turns_both_and_what_is_asked_for() -> None:
    usual = [
        {},
        {"mode": "llm"},
        {"mode": "agent"},
        {"turn_id": "1"},
        {"turn_id": "2"},
        {"mode": "llm", "turn_id": "1"},
        {"mode": "llm", "turn_id": "2"},
        {"mode": "agent", "turn_id": "1"},
        {"mode": "agent", "turn_id": "2"},
    ]
    parts = parts_of(MODES, (1, 2), [("A",)], by=("ward",))
    assert [part.by(("ward",)) for part in parts] == [*usual, {"ward": "A"}]
    assert [part.by(("mode",)) for part in parts_of(MODES, (1, 2), [("llm",)], by=("mode",))] == usual


def test_a_part_adds_up_its_rows() -> None:
    with filled() as rate_table:
        rows = rate_table.finished()
        assert metric_rates(np.concatenate(list(rows.blocks())), METRICS_BY_ID["sfs"]).value == 0.9
        parts = [PartTally("llm", 2), PartTally("agent"), PartTally(None, 7)]
        codes: dict[Code, int] = {mode: code for code, mode in enumerate(MODES)}
        first, second = part_tallies(rows, parts, codes)
    assert (first.answers, first.rates["sfs"].clusters, second.rates["sfs"].pooled.value) == (10, 10, 1.0)
