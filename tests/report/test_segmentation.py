"""Cutting a response into pieces: nothing is lost, and every finding that overlaps is still there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.report.segmentation import Segment, is_aligned, segments, settled_label
from report_samples import finding

LABELS = st.sampled_from([*Label, None])


def aligned(text: str, found: Sequence[Finding]) -> set[int]:
    """Positions of the findings that a piece of the text can show."""
    return {place for place, one in enumerate(found) if is_aligned(one, settled_label(one), length=len(text))}


def votes(*labels: Label, judge: str = "judge") -> Finding:
    return Finding(
        Claim("r", "c"), tuple(Verdict("r", "c", f"{judge}-{place}", label) for place, label in enumerate(labels))
    )


@st.composite
def texts_with_findings(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    text = draw(st.text(st.characters(), max_size=40))
    places = st.integers(0, len(text) + 3)
    found = []
    for number in range(draw(st.integers(0, 8))):
        start, end = sorted((draw(places), draw(places)))
        inner = sorted((draw(places), draw(places))) if draw(st.booleans()) else (None, None)
        label = draw(LABELS)
        verdicts = () if label is None else (Verdict("r", f"c{number}", "j", label, start=inner[0], end=inner[1]),)
        has_place = draw(st.booleans())
        claim = Claim("r", f"c{number}", start=start if has_place else None, end=end if has_place else None)
        found.append(Finding(claim, verdicts))
    return text, found


@given(texts_with_findings())
def test_pieces_put_together_are_the_response_in_any_script(case: tuple[str, list[Finding]]) -> None:
    text, found = case
    pieces = segments(text, found)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text == text[piece.start : piece.end] for piece in pieces)
    assert all(piece.start < piece.end for piece in pieces)


@given(texts_with_findings())
def test_every_character_knows_exactly_the_findings_that_cover_it(case: tuple[str, list[Finding]]) -> None:
    text, found = case
    expected: list[set[int]] = [set() for _ in text]
    for position, one in enumerate(found):
        label = settled_label(one)
        spans = [(one.claim.start, one.claim.end), *((v.start, v.end) for v in one.verdicts if v.label is label)]
        for start, end in spans:
            if start is not None and end is not None and end <= len(text):
                for character in range(start, end):
                    expected[character].add(position)
    told: list[set[int]] = [set() for _ in text]
    for piece in segments(text, found):
        for character in range(piece.start, piece.end):
            told[character] = set(piece.findings)
    assert told == expected
    assert aligned(text, found) == set().union(*expected)


@given(texts_with_findings())
def test_a_piece_has_the_worst_label_of_its_findings(case: tuple[str, list[Finding]]) -> None:
    text, found = case
    order = [Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED, Label.SUPPORTED, None]
    for piece in segments(text, found):
        labels = {settled_label(found[position]) for position in piece.findings} or {None}
        assert piece.label is next(label for label in order if label in labels)


def test_overlapping_findings_are_cut_where_they_begin_and_end() -> None:
    found = [finding(0, 6, Label.SUPPORTED), finding(4, 9, Label.REFUTED)]
    assert segments("abcdefghijk", found) == [
        Segment(0, 4, "abcd", Label.SUPPORTED, (0,), is_pinpointed=True),
        Segment(4, 6, "ef", Label.REFUTED, (0, 1), is_pinpointed=True),
        Segment(6, 9, "ghi", Label.REFUTED, (1,), is_pinpointed=True),
        Segment(9, 11, "jk"),
    ]


def test_the_part_that_a_judge_points_to_stands_out_from_the_rest_of_its_claim() -> None:
    claim = Claim("r", "c", start=0, end=9)
    pointed = Finding(claim, (Verdict("r", "c", "j", Label.REFUTED, start=5, end=8),))
    assert [(piece.text, piece.is_pinpointed) for piece in segments("costs 999 $", [pointed])] == [
        ("costs", False),
        (" 99", True),
        ("9", False),
        (" $", False),
    ]


def test_a_part_pointed_to_by_a_judge_who_was_outvoted_is_not_marked() -> None:
    claim = Claim("r", "c", start=0, end=5)
    outvoted = Verdict("r", "c", "a", Label.REFUTED, start=0, end=2)
    others = tuple(Verdict("r", "c", judge, Label.SUPPORTED) for judge in "bc")
    assert [piece.text for piece in segments("water", [Finding(claim, (outvoted, *others))])] == ["water"]


def test_offsets_count_code_points_in_korean_french_and_emoji() -> None:
    text = "서울은 🇰🇷 l’été 바다"
    start = text.index("l’été")
    pieces = segments(text, [finding(start, start + 5)])
    assert [piece.text for piece in pieces] == ["서울은 🇰🇷 ", "l’été", " 바다"]


@pytest.mark.parametrize(("start", "end"), [(None, None), (3, 3), (2, 99)], ids=["missing", "empty", "beyond"])
def test_a_finding_without_a_place_in_the_text_covers_nothing(start: int | None, end: int | None) -> None:
    found = [finding(start, end)]
    assert segments("water", found) == [Segment(0, 5, "water")]
    assert aligned("water", found) == set()


def test_an_empty_response_has_no_pieces() -> None:
    assert segments("", [finding(0, 0)]) == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((), None),
        ((Label.UNDECIDED,), Label.UNDECIDED),
        ((Label.UNDECIDED, Label.UNDECIDED), Label.UNDECIDED),
        ((Label.REFUTED, Label.SUPPORTED), Label.UNDECIDED),
        ((Label.REFUTED, Label.SUPPORTED, Label.REFUTED), Label.REFUTED),
        ((Label.UNDECIDED, Label.SUPPORTED), Label.SUPPORTED),
    ],
)
def test_judges_settle_on_their_most_frequent_decided_label(labels: tuple[Label, ...], expected: Label | None) -> None:
    assert settled_label(votes(*labels)) is expected


def test_a_consensus_that_was_kept_outranks_the_count_of_votes() -> None:
    kept = Verdict("r", "c", "consensus", Label.SUPPORTED)
    found = votes(Label.REFUTED, Label.REFUTED)
    assert settled_label(Finding(found.claim, (*found.verdicts, kept))) is Label.SUPPORTED
