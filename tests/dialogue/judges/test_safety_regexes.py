r"""Regular expressions of users: `\b`, `\w`, `\d` and `\s` mean all scripts, or are refused."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.dialogue.judges.phrases import Phrase, PhraseMatcher, RegexError, alternatives, compiled


def places(source: str, text: str) -> list[str]:
    return [text[found.start : found.end] for found in PhraseMatcher([Phrase("g", f"re:{source}")]).found(text)]


def refusal(source: str) -> str:
    with pytest.raises(RegexError) as caught:
        compiled(f"re:{source}")
    return str(caught.value)


def test_re2_itself_knows_no_korean_word_boundary_which_is_why_all_this_is_needed() -> None:
    assert re2.search(r"\b혈압\b", "혈압 조절") is None


def test_a_word_boundary_holds_in_korean() -> None:
    assert places(r"\b혈압\b", "혈압, 고혈압, 혈압은, 혈압 혈압") == ["혈압"] * 3


def test_boundaries_may_stand_at_the_ends_of_each_alternative() -> None:
    assert places(r"\bfoo\b|bar", "foo food bar barn foo") == ["foo", "bar", "bar", "foo"]
    assert places(r"\b(?:foo|bar)s?\b", "foos bar bars foox") == ["foos", "bar", "bars"]


def test_digits_letters_and_spaces_of_all_scripts_are_known() -> None:
    assert places(r"\w+", "혈압 été ٣٤") == ["혈압", "été", "٣٤"]
    assert places(r"\d+\s?%", "٣٤ % 12%") == ["٣٤ %", "12%"]
    assert places(r"[^\s,]+", "가,나 다") == ["가", "나", "다"]
    assert places(r"\D+", "12가3") == ["가"]
    assert places(r"[\w-]+\S\W", "ab-가!") == ["ab-가!"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (r"foo\b bar", r"\b stands in the middle"),
        (r"\b-foo", r"\b stands before something that is no letter or digit"),
        (r"foo.*\b", r"\b stands after something that is no letter or digit"),
        (r"\b(?:foo)?-bar", r"\b stands before"),
        (r"\b[a-]x", r"\b stands before"),
        (r"a?\b", r"\b stands after"),
        (r"foo\B", r"\B is known for ASCII only"),
        (r"[\W]x", r"\W inside [] is known for ASCII only"),
        (r"[[:alpha:]]x", "[:alpha:] is known for ASCII only"),
        (r"(a)\1", "references to groups are not known"),
        (r"foo(?=bar)", "look-ahead and look-behind are not known"),
        (r"(a", "not a regular expression of RE2"),
        (r"a*", "matches nothing at all as well"),
        (r"a|", "matches nothing at all as well"),
        ("", "an empty regular expression"),
        ("a–b", "'–' never stands in a text, which has '-' for it"),
        ("(?:a{1000}){1000}", "not a regular expression of RE2"),
    ],
)
def test_what_cannot_be_rewritten_exactly_is_refused_with_a_reason(source: str, reason: str) -> None:
    assert reason in refusal(source)


def test_a_quotation_is_taken_as_it_is() -> None:
    assert places(r"\Qa|b\E", "a a|b") == ["a|b"]


def test_flags_at_the_front_hold_for_what_follows() -> None:
    assert alternatives(r"(?s)\bfoo.bar\b")[0].body == "(?s)foo.bar"
    assert places(r"(?s)foo.bar", "foo\nbar") == ["foo\nbar"]


def test_a_pattern_that_makes_other_engines_hang_takes_linear_time() -> None:
    assert places(r"(?:a+)+b", "a" * 100_000) == []


PIECES = st.sampled_from(["a", "b", "가", "나", "1", " ", "-", "_", "é"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_boundaries_and_sets_agree_with_pythons_own_which_know_unicode(text: str) -> None:
    # Python's engine is the independent implementation; none of these pieces is a mark, which it does not count.
    for source in (r"\ba가?\b", r"\b(?:나|b)+\b", r"\w+", r"\b\d\b|가\b"):
        expected = [match.span() for match in re.finditer(source, text)]
        matcher = PhraseMatcher([Phrase("g", f"re:{source}")])
        assert [(found.start, found.end) for found in matcher.found(text)] == expected
