"""Extraction takes time that grows with the response, whatever the response is."""

from __future__ import annotations

import pytest

from growing_texts import UNITS, check_growth
from hallumeter.claims.extractors.assertions import default_reader
from hallumeter.claims.extractors.clause_cuts import default_cutter
from hallumeter.claims.extractors.statements import ClauseExtractor, blocks_of, trimmed
from hallumeter.records.response import Response


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_claims_are_extracted_in_time_that_grows_with_the_response(unit: str) -> None:
    check_growth(lambda text: ClauseExtractor().extract(Response("r", response=text)), unit, size=1_500)


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_sentence_is_cut_and_read_in_time_that_grows_with_it(unit: str) -> None:
    check_growth(lambda text: default_cutter().cut(text, 0, len(text)), unit, size=5_000)
    check_growth(lambda text: default_reader().force(text), unit, size=1_500)
    check_growth(lambda text: trimmed(text, 0, len(text)), unit, size=5_000)


@pytest.mark.parametrize("line", ["|-{}x", "- > {}| x", "|{}-"])
def test_white_space_in_a_rule_of_a_table_is_read_once(line: str) -> None:
    check_growth(lambda text: list(blocks_of("| a |\n" + line.format(text))), " ", size=5_000)


def test_a_semicolon_after_another_one_still_ends_a_clause() -> None:
    text = "It is high ; ; it was built in 1889."
    assert [text[slice(*span)] for span in default_cutter().cut(text, 0, len(text))] == [
        "It is high",
        "; it was built in 1889.",
    ]
