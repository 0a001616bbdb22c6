"""What holds for the claims of any text: places, order, ids, time."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hallumeter.claims.extractors.statements import ClauseExtractor, SentenceExtractor, statement_spans
from hallumeter.records.claim import Claim
from hallumeter.records.response import Response

PIECES = st.sampled_from(
    [
        *("Paris is large", "He was born in 1950", "it was high", "Sure!", "which is old", "I cannot answer"),
        *("서울은 수도이며", "인구가 많습니다", "Il est né", "il est mort", "The passages do not say", "here are"),
        *(".", ",", ";", ":", "?", "!", "…", '"', "“", "”", "«", "»", "(", ")", "[1]", "(Passage 1)"),
        *("\n", "\r\n", "\u2028", "\t", " ", "\u00a0", "\u3000", "\u200b", "\x00", "\x1c"),
        *("- ", "1. ", "• ", "# ", "> ", "```", "~~~", "|", "|---|---|", "---", "===", "**", "*", "_", "`", "[x] "),
        *("{", "}", "[", "]", '"a": ', "null", "1", "true", "\\n", "\\u0041", "https://a.b/c."),
        *("😀", "👩‍👩‍👧", "1️⃣", "🇫🇷", "\ud83d", "\udc00", "مرحبا بالعالم؟", "\u202e", "e\u0301", "İ", "ﬁ", "①"),
        *(" and ", " et ", ", but ", "mais", "고 ", "지만 "),
    ]
)
TEXTS = st.text() | st.lists(PIECES, max_size=25).map("".join) | st.lists(PIECES, max_size=25).map(" ".join)
JSON_TEXTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def check(text: str, claims: list[Claim]) -> None:
    done = 0
    for number, claim in enumerate(claims):
        assert claim.start is not None
        assert claim.end is not None
        assert done <= claim.start < claim.end <= len(text)
        assert claim.text == text[claim.start : claim.end]
        assert claim.text == claim.text.strip()
        assert any(character.isalnum() for character in claim.text)
        assert claim.claim_id == f"r1#{number}"
        done = claim.end


@given(TEXTS)
@example("\x00Paris is large.\x00 It is old.\x00")
@example("\ud800 is large. \udfff")
@example("👩‍👩‍👧 is a family. 👩‍👩‍👧")
@example("|\n|---|\n||")
@example('{"a": "b')
@example("[" * 5000 + "]" * 5000)
def test_claims_of_any_text_stand_where_they_say_in_order_and_apart(text: str) -> None:
    response = Response("r1", response=text)
    claims = SentenceExtractor().extract(response)
    check(text, claims)
    assert statement_spans(text) == [(claim.start, claim.end) for claim in claims]
    check(text, ClauseExtractor().extract(response))


@given(JSON_TEXTS)
def test_claims_of_any_json_stand_where_they_say(value: object) -> None:
    import json

    for text in (
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, indent=2),
        f"```json\n{json.dumps(value)}\n```",
    ):
        response = Response("r1", response=text)
        check(text, SentenceExtractor().extract(response))
        check(text, ClauseExtractor().extract(response))


@given(TEXTS)
def test_every_clause_lies_within_a_sentence(text: str) -> None:
    response = Response("r1", response=text)
    sentences = [(claim.start or 0, claim.end or 0) for claim in SentenceExtractor().extract(response)]
    for clause in ClauseExtractor().extract(response):
        assert clause.start is not None
        assert clause.end is not None
        assert any(start <= clause.start and clause.end <= end for start, end in sentences)


def test_text_from_right_to_left_is_split() -> None:
    text = "باريس كبيرة. هل تعرفها؟ ليون صغيرة."
    assert [text[start:end] for start, end in statement_spans(text)] == ["باريس كبيرة.", "ليون صغيرة."]


@pytest.mark.parametrize("text", [None, ""])
def test_a_response_without_text_has_no_claims(text: str | None) -> None:
    assert SentenceExtractor().extract(Response("r1", response=text)) == []
    assert ClauseExtractor().extract(Response("r1", response=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "word and " * 12_000,
        "It is old, and it is high, " * 4_000,
        "?" * 100_000 + "a",
        "(" * 100_000,
        '"' * 100_000,
        "a (" * 30_000 + ":",
        "- " * 50_000,
        "> " * 50_000,
        " " * 100_000 + "|",
        "| a " * 25_000,
        "**" * 50_000,
        "```\n" * 25_000,
        "```" + " " * 100_000 + "```",
        '{"a": [' + "1," * 50_000 + "1]}",
        "a: b, " * 20_000,
        "here is " * 15_000,
        "좋지만 " * 20_000,
    ],
    ids=lambda text: text[:12],
)
def test_time_grows_with_the_length_and_no_faster(text: str) -> None:
    started = time.process_time()
    ClauseExtractor().extract(Response("r1", response=text))
    # Each takes about 0.1 s; what grows with the square of the length takes minutes.
    assert time.process_time() - started < 10
