"""The evidence that a question shows first, and how much of a long text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.decide.label.claims import AskedClaim
from hallumeter.decide.label.text import excerpt, matched_passages
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.response import Passage, Quote, Response


def asked(claim: str, *evidence: str, quotes: tuple[Quote, ...] = ()) -> AskedClaim:
    passages = tuple(Passage(f"e{number}", text) for number, text in enumerate(evidence, 1))
    return AskedClaim(
        number=0,
        response=Response("r1", response=claim, evidence=passages),
        claim=Claim("r1", "c1", start=0, end=len(claim)),
        judged=Label.SUPPORTED,
        verdicts=(Verdict("r1", "c1", "j", Label.SUPPORTED, evidence=quotes),),
        place=1,
        siblings=1,
    )


def shown(question: AskedClaim) -> list[tuple[str, str]]:
    return [
        (found.passage.evidence_id, found.passage.text[found.start : found.end]) for found in matched_passages(question)
    ]


@pytest.mark.parametrize(
    ("claim", "evidence", "best"),
    [
        (
            "The tower was finished in 1889.",
            ["The town is old. The river is wide.", "It has a tower. The tower was finished on 31 March 1889."],
            ("e2", "The tower was finished on 31 March 1889."),
        ),
        (
            "La tour fut achevée en 1889.",
            ["La ville est belle.", "L’architecte vint. La tour fut achevée le 31 mars 1889."],
            ("e2", "La tour fut achevée le 31 mars 1889."),
        ),
        (
            "서울은 한국의 수도이다.",
            ["부산은 항구 도시이다.", "강이 흐른다. 한국에서 수도는 서울이다."],
            ("e2", "한국에서 수도는 서울이다."),
        ),
    ],
)
def test_the_sentence_that_shares_most_with_the_claim_comes_first(
    claim: str, evidence: list[str], best: tuple[str, str]
) -> None:
    assert shown(asked(claim, *evidence))[0] == best


def test_what_the_judge_quotes_comes_before_what_shares_words() -> None:
    quote = Quote("e2", start=0, end=9, quote="The river")
    question = asked("The tower is high.", "The tower is high.", "The river is wide.", quotes=(quote,))
    assert shown(question) == [("e2", "The river"), ("e1", "The tower is high.")]


@pytest.mark.parametrize("quote", [Quote("e1"), Quote("e9", start=0, end=3), Quote("e1", start=0, end=900)])
def test_a_quote_that_points_nowhere_in_the_evidence_is_passed_over(quote: Quote) -> None:
    question = asked("The tower is high.", "The river is wide. The tower is low.", quotes=(quote,))
    assert shown(question) == [("e1", "The tower is low.")]


def test_passages_that_share_nothing_keep_their_order_and_have_no_place() -> None:
    assert shown(asked("Xyz.", "One two.", "Three four.")) == [("e1", ""), ("e2", "")]
    assert shown(asked("Xyz.")) == []
    assert shown(asked("Xyz.", "")) == [("e1", "")]


def test_a_claim_says_its_text_or_what_stands_at_its_place_or_nothing() -> None:
    response = Response("r1", response="Yes. No.")
    for claim, text in [
        (Claim("r1", "c1", start=5, end=8), "No."),
        (Claim("r1", "c1", text="It says no."), "It says no."),
        (Claim("r1", "c1"), ""),
    ]:
        assert AskedClaim(0, response, claim, None, (), 1, 1).text == text


@given(
    text=st.text(alphabet="ab  가\n", max_size=200),
    place=st.tuples(st.integers(0, 200), st.integers(0, 200)),
    room=st.integers(1, 250),
)
def test_an_excerpt_fits_and_holds_the_place_where_that_can_be(text: str, place: tuple[int, int], room: int) -> None:
    start, end = sorted(min(each, len(text)) for each in place)
    first, last = excerpt(text, (start, end), room)
    assert 0 <= first <= last <= len(text)
    assert last - first <= max(room, 1)
    if end - start <= room:
        assert first <= start
        assert end <= last
    else:
        assert first == start
    if len(text) <= room:
        assert (first, last) == (0, len(text))


def test_an_excerpt_is_cut_between_words() -> None:
    text = "alpha beta gamma delta epsilon zeta"
    start = text.index("delta")
    assert text[slice(*excerpt(text, (start, start + 5), 21))] == "gamma delta epsilon"
