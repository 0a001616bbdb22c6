"""Replies are read in time that grows with them, whatever a model sends."""

from __future__ import annotations

import pytest

from growing_texts import UNITS, check_growth
from hallumeter.claims.judges.replies import read_reply


@pytest.mark.long
@pytest.mark.parametrize("opening", ["", "{", '{"1": "SUPPORTED", '])
@pytest.mark.parametrize("unit", UNITS)
def test_a_reply_is_read_in_time_that_grows_with_it(unit: str, opening: str) -> None:
    check_growth(lambda text: read_reply(opening + text, [1, 2]), unit, size=3_000)


def test_lines_after_many_empty_ones_are_still_read() -> None:
    read = read_reply("Here:" + "\n" * 10_000 + "  1. SUPPORTED\n\n** 2: REFUTED", [1, 2])
    assert {number: reply.label.value for number, reply in read.claims.items()} == {1: "SUPPORTED", 2: "REFUTED"}


def test_what_breaks_off_late_after_many_commas_is_closed_again() -> None:
    ones = ", ".join(f'"{number}": "SUPPORTED"' for number in range(1, 2_001))
    read = read_reply("Sure: {" + ones + ', "2001": "REFU', range(1, 2_002))
    assert len(read.claims) == 2_000
    assert list(read.problems) == [2_001]
