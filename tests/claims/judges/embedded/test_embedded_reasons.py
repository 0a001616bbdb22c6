"""Why a claim is called unsupported: the network's place joined with what the rules found, by hand-made values."""

from __future__ import annotations

import numpy as np
import pytest
from embedded_tasks import passages_of

from hallumeter.claims.judges.embedded.features import Likeness, Measured
from hallumeter.claims.judges.embedded.judge import Reason, fast_reason, full_reason
from hallumeter.claims.judges.embedded.network import ReadClaim
from hallumeter.claims.judges.embedded.word_pieces import tokens_of
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.overlap import Overlap
from hallumeter.claims.judges.rules.statement import Finding, Statement
from hallumeter.records.response import Quote

TEXT = "Ann built the red tower in 1890."
QUOTE = Quote("e0", 0, 3, "Ann")
YEAR, NAME, RED = (TEXT.index("1890"), TEXT.index("1890") + 4), (0, 3), (TEXT.index("red"), TEXT.index("red") + 3)


def finding(reason: str, place: tuple[int, int]) -> Finding:
    return Finding(reason, *place, f"note of {reason}", (QUOTE,))


def measured(*findings: Finding, run: tuple[int, int] | None = None) -> Measured:
    nothing = np.zeros(0, np.float32)
    return Measured(
        statement=Statement(TEXT, Evidence(passages_of("Ben built it in 1889.")), language="en"),
        features=nothing,
        findings=list(findings),
        overlap=Overlap(0.5, 0.5, run, 1, 1),
        likeness=Likeness(np.zeros(0), np.zeros(0), np.zeros(0, np.bool_)),
    )


def read(*places: tuple[int, int], conflict: float = -1.0) -> ReadClaim:
    """The network is sure of the tokens in these places, and of no other."""
    spans = tokens_of(TEXT).spans
    sure = [any(start < place[1] and place[0] < end for place in places) for start, end in spans]
    unsupported = np.where(sure, np.float32(4.0), np.float32(-4.0)).astype(np.float32)
    return ReadClaim(unsupported, np.full(len(spans), conflict, np.float32), 0.0)


def joined(said: ReadClaim, *findings: Finding) -> Reason:
    return full_reason(measured(*findings), said, stretch=0.5)


@pytest.mark.parametrize(
    ("reason", "is_contradiction"),
    [
        ("date_mismatch", True),
        ("date_not_found", False),
        ("hours_mismatch", True),
        ("field_mismatch", True),
        ("field_empty", False),
    ],
)
def test_where_the_network_points_at_a_finding_the_reason_is_the_rules(reason: str, is_contradiction: bool) -> None:
    found = joined(read(YEAR), finding(reason, YEAR))
    assert found == Reason(reason, is_contradiction, *YEAR, f"note of {reason}", (QUOTE,))


def test_what_is_missing_is_marked_as_the_network_does_and_a_contradiction_by_its_value_alone() -> None:
    wide = (TEXT.index("tower"), YEAR[1])
    found = joined(read(wide), finding("date_not_found", YEAR))
    assert (found.code, found.start, found.end) == ("date_not_found", *wide)
    found = joined(read(wide), finding("date_mismatch", YEAR))
    assert (found.code, found.start, found.end) == ("date_mismatch", *YEAR)


def test_what_is_missing_in_another_place_is_not_the_reason() -> None:
    found = joined(read(RED), finding("date_not_found", YEAR))
    assert found == Reason("baseless", False, *RED, "no support in the evidence for “red”")


def test_a_finding_that_only_borders_on_the_place_is_not_the_reason() -> None:
    assert joined(read(RED), finding("date_not_found", (RED[1], YEAR[1]))).code == "baseless"
    assert joined(read(RED), finding("date_not_found", (RED[1] - 1, YEAR[1]))).code == "date_not_found"


def test_what_the_evidence_denies_is_the_reason_and_the_place_wherever_the_network_points() -> None:
    found = joined(read(RED), finding("date_mismatch", YEAR))
    assert (found.code, found.start, found.end) == ("date_mismatch", *YEAR)


@pytest.mark.parametrize("conflict", [1.0, -1.0])
def test_the_network_alone_names_no_contradiction(conflict: float) -> None:
    found = joined(read(RED, conflict=conflict))
    assert found == Reason("baseless", False, *RED, "no support in the evidence for “red”")


def test_a_contradiction_without_a_quote_or_a_place_is_none() -> None:
    unquoted = Finding("date_mismatch", *YEAR, "note")
    unplaced = Finding("date_mismatch", YEAR[0], YEAR[0], "note", (QUOTE,))
    for found in (unquoted, unplaced):
        assert joined(read(YEAR), found).code == "baseless"
        assert fast_reason(measured(found)).code == "baseless"
    assert joined(read(YEAR), unquoted, finding("date_not_found", YEAR)).code == "date_not_found"


def test_of_two_contradictions_the_one_in_the_marked_place_is_the_reason() -> None:
    both = (finding("number_mismatch", NAME), finding("date_mismatch", YEAR))
    assert joined(read(YEAR), *both).code == "date_mismatch"
    assert joined(read(RED), *both).code == "number_mismatch"
    assert fast_reason(measured(*both)).code == "number_mismatch"


def test_a_mismatch_that_is_often_wrong_is_no_contradiction() -> None:
    assert not joined(read(NAME), finding("name_mismatch", NAME)).is_contradiction


def test_a_mismatch_that_is_often_wrong_is_the_reason_before_what_is_missing() -> None:
    both = (finding("name_not_found", NAME), finding("name_mismatch", NAME))
    assert joined(read(NAME), *both).code == "name_mismatch"
    assert fast_reason(measured(*both)).code == "name_mismatch"
    assert joined(read(YEAR), *both).code == "baseless"


def test_what_the_evidence_denies_comes_before_what_it_does_not_have() -> None:
    both = (finding("name_not_found", NAME), finding("date_mismatch", YEAR))
    assert joined(read((0, len(TEXT))), *both).code == "date_mismatch"
    assert fast_reason(measured(*both)).code == "date_mismatch"
    assert joined(read(NAME), *both).code == "date_mismatch"


def test_a_doubt_is_no_reason() -> None:
    assert joined(read(YEAR), finding("uncertain", YEAR)).code == "baseless"
    assert fast_reason(measured(finding("negation_unclear", YEAR))).code == "baseless"


def test_when_no_token_stands_out_the_rules_name_the_place() -> None:
    assert joined(read(), finding("date_mismatch", YEAR)) == Reason(
        "date_mismatch", True, *YEAR, "note of date_mismatch", (QUOTE,)
    )


def test_when_nobody_names_a_place_it_is_the_whole_claim() -> None:
    whole = Reason("baseless", False, 0, len(TEXT) - 1, f"no support in the evidence for “{TEXT[:-1]}”")
    assert joined(read()) == whole
    assert fast_reason(measured()) == whole


def test_the_stretch_says_how_sure_a_token_must_be() -> None:
    said = ReadClaim(read(RED).unsupported + 3.0, read().conflict, 0.0)  # others then have a probability of 0.27
    assert full_reason(measured(), said, stretch=0.5).start == RED[0]
    found = full_reason(measured(), said, stretch=0.2)
    assert (found.start, found.end) == (0, len(TEXT) - 1)


def test_the_fast_tier_goes_by_the_rules_and_then_by_the_longest_part_without_a_known_word() -> None:
    assert fast_reason(measured(finding("date_mismatch", YEAR), run=RED)) == Reason(
        "date_mismatch", True, *YEAR, "note of date_mismatch", (QUOTE,)
    )
    assert fast_reason(measured(run=RED)) == Reason("baseless", False, *RED, "no support in the evidence for “red”")
