"""What steps and speakers did, counted from statuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.aspects.catalog import ASPECT_BLAME_METRICS
from hallumeter.aspects.metrics.blame import (
    BLAME_RATES,
    COUNTS,
    blame_columns,
    blame_rate,
    blame_rates,
    history_of,
    is_repair,
    speaker_tally,
    step_tally,
)
from hallumeter.aspects.records.blame import (
    ABSENT,
    COARSE_STEPS,
    ERROR_KINDS,
    RIGHT,
    WRONG,
    ErrorKind,
    StepTally,
    UnitChange,
)
from hallumeter.records.summaries import STATUSES

STEPS = ("one", "two", "three", "four", "five")
errors = st.sampled_from(ERROR_KINDS)
unit_rows = st.lists(st.lists(st.sampled_from((ABSENT, RIGHT, WRONG)), min_size=5, max_size=5), max_size=6)


def test_codes_stand_for_statuses_in_their_order() -> None:
    assert (STATUSES[ABSENT], STATUSES[RIGHT], STATUSES[WRONG]) == ("absent", "right", "wrong")
    assert COARSE_STEPS == ("stage1", "final")


def test_a_unit_that_is_broken_twice_was_introduced_by_who_broke_it_last() -> None:
    history = history_of(STEPS, (WRONG, RIGHT, RIGHT, WRONG, WRONG), "polarity")
    assert history.introduced_by == "four"
    assert history.repaired_by == ("two",)
    assert history.broken_by == ("four",)
    assert history.does_stand_at_end
    assert history.changes == (
        UnitChange("one", "absent", "wrong"),
        UnitChange("two", "wrong", "right"),
        UnitChange("four", "right", "wrong"),
    )


def test_what_was_never_wrong_has_no_author() -> None:
    history = history_of(STEPS, (ABSENT, RIGHT, RIGHT, ABSENT, RIGHT), "spurious")
    assert history.introduced_by is None
    assert not history.does_stand_at_end
    assert (history.repaired_by, history.broken_by) == ((), ())


@pytest.mark.parametrize(
    ("error", "expected"), [("ungrounded", ("three",)), ("spurious", ("three",)), ("polarity", ())]
)
def test_to_drop_an_aspect_repairs_that_it_was_there_and_nothing_else(
    error: ErrorKind, expected: tuple[str, ...]
) -> None:
    history = history_of(STEPS[:3], (RIGHT, WRONG, ABSENT), error)
    assert history.repaired_by == expected
    assert not history.does_stand_at_end
    assert is_repair(RIGHT, error)
    assert not is_repair(WRONG, error)


def test_a_step_is_counted_by_what_it_found_and_what_it_left() -> None:
    before = [ABSENT, ABSENT, ABSENT, RIGHT, RIGHT, RIGHT, WRONG, WRONG, WRONG]
    after = [ABSENT, RIGHT, WRONG, ABSENT, RIGHT, WRONG, ABSENT, RIGHT, WRONG]
    tally = step_tally("ate", "spurious", before=before, after=after)
    assert tally == StepTally("ate", "spurious", chances=4, introduced=2, standing=3, repaired=2, right=3, broken=1)
    assert step_tally("ate", "polarity", before=before, after=after).repaired == 1


def test_a_step_that_changes_nothing_could_have_broken_what_is_right() -> None:
    row = [RIGHT, WRONG, ABSENT, RIGHT]
    idle = step_tally("anchoring", "missing", before=row, after=row)
    assert idle == step_tally("anchoring", "missing", before=row, after=list(row))
    assert (idle.chances, idle.introduced, idle.standing, idle.repaired, idle.right, idle.broken) == (2, 0, 1, 0, 2, 0)


def test_a_speaker_is_counted_by_what_he_flagged() -> None:
    tally = speaker_tally("epm", "polarity", statuses=[WRONG, WRONG, RIGHT, ABSENT], flagged=[1, 2, 3])
    assert blame_rate(tally, "detection").value == 0.5
    assert blame_rate(tally, "false_alarm").value == 1.0
    assert blame_rate(tally, "introduction").value is None


def test_columns_are_rates_per_sentence() -> None:
    tallies = [StepTally("ate", "missing", chances=4, introduced=1), StepTally("ate", "missing", chances=1)]
    columns = blame_columns(tallies)
    assert len(columns) == 2
    rates = blame_rates(columns, name="introduction")
    assert rates.pooled.value == 0.2
    assert blame_rates(columns[np.array([0])], name="introduction").value == 0.25
    assert blame_columns([]).chances.tolist() == []
    assert set(COUNTS) == {name for pair in BLAME_RATES.values() for name in pair}


def test_every_rate_has_a_row_in_the_catalog_in_the_same_order() -> None:
    columns = blame_columns([StepTally("ate", "missing", *range(1, 11))])
    for metric, name in zip(ASPECT_BLAME_METRICS, BLAME_RATES, strict=True):
        assert metric.id == f"step_{name}_rate"
        assert metric.compute(columns).pooled == blame_rates(columns, name=name).pooled


@given(unit_rows, errors)
def test_counts_add_up_from_step_to_step(units: list[list[int]], error: ErrorKind) -> None:
    rows = [list(row) for row in zip(*units, strict=True)] or [[] for _ in STEPS]
    before = [ABSENT] * len(units)
    standing = right = 0
    for step, after in zip(STEPS, rows, strict=True):
        tally = step_tally(step, error, before=before, after=after)
        assert (tally.standing, tally.right) == (standing, right)
        assert 0 <= tally.broken <= tally.introduced <= tally.chances
        assert 0 <= tally.repaired <= tally.standing
        lost = sum(was == WRONG and became == ABSENT for was, became in zip(before, after, strict=True))
        gone = 0 if error in ("ungrounded", "spurious") else lost
        assert after.count(WRONG) == tally.standing + tally.introduced - tally.repaired - gone
        standing, right, before = after.count(WRONG), after.count(RIGHT), after


@given(st.lists(st.sampled_from((ABSENT, RIGHT, WRONG)), min_size=5, max_size=5), errors)
def test_a_unit_wrong_at_the_end_has_one_last_introducer(statuses: list[int], error: ErrorKind) -> None:
    history = history_of(STEPS, statuses, error)
    wrongs = [change.step for change in history.changes if change.became == "wrong"]
    assert history.introduced_by == (wrongs[-1] if wrongs else None)
    assert history.does_stand_at_end == (statuses[-1] == WRONG)
    assert len(wrongs) - len(history.repaired_by) in (0, 1) or error in ("missing", "polarity")
    if history.does_stand_at_end:
        assert history.changes[-1].step == history.introduced_by
