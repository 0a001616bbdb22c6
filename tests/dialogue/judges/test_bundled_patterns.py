"""The bundled patterns run on the standard library: as quick as RE2 would need to be, and with the same places."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from time import thread_time

import pytest

from hallumeter.dialogue.judges import phrases, wording
from hallumeter.dialogue.judges.phrases import Phrase, PhraseMatcher, RegexError, compiled, is_bundled
from hallumeter.dialogue.judges.wording import Finder, plain
from hallumeter.text.normalize import clean_text

EXPRESSIONS = [
    source.replace("\\\\", "\\") for source in re.findall(r'^ +- "(re:.*)"$', phrases._bundled_rules(), re.MULTILINE)
]
FILLERS = (" ", "1", "a", "-", ".", "가", ", ", "1 ", "a ", "1-", "자주 ")
CHARACTERS = 16_000
SECONDS = 0.25
"""Linear patterns take a tenth of it, and one that goes back over all it has read takes more."""


def finders() -> list[Finder]:
    return [
        *wording.element_finders().values(),
        *map(wording.list_finder, ("announced", "priorities", "joints")),
        *map(wording.question_finder, ("openings", "endings", "borders", "stated", "unsure")),
        *wording.ordinal_finders(),
    ]


def patterns_of(finder: Finder) -> list[str]:
    return [each.pattern for each in (finder._pattern, finder._unless) if each is not None]


def attacks(pattern: str) -> Iterator[str]:
    """Long runs after what the pattern begins to match, and what it begins to match again and again."""
    words = dict.fromkeys(re.findall(r"[a-z]{2,}|[가-힣]+|[0-9]{2,}", re.sub(r"\\.|\[[^]]*\]", " ", pattern)))
    for filler in FILLERS:
        yield filler * (CHARACTERS // len(filler))
    for word in words:
        yield f"{word} " * (CHARACTERS // (len(word) + 1))
        for filler in FILLERS:
            yield f"3 {word} {filler * (CHARACTERS // len(filler))}"


def slow(pattern: str, find: Callable[[str], object]) -> list[str]:
    """The attacks that take long, as they begin; the quickest of three runs counts."""
    return [text[:40] for text in attacks(pattern) if all(seconds(find, text) > SECONDS for _ in range(3))]


def seconds(find: Callable[[str], object], text: str) -> float:
    start = thread_time()
    find(text)
    return thread_time() - start


@pytest.mark.long
def test_no_bundled_pattern_takes_long_on_any_text() -> None:
    for finder in finders():
        for pattern in patterns_of(finder):
            assert slow(pattern, finder.spans) == [], pattern[:80]


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_no_bundled_regular_expression_takes_long_on_any_text(source: str) -> None:
    assert slow(source, PhraseMatcher([Phrase("g", source)]).found) == []


def test_a_pattern_that_goes_back_would_be_caught() -> None:
    assert seconds(re.compile(r"\d+분").findall, "1" * CHARACTERS) > SECONDS


def test_what_repeats_without_end_in_a_bundled_pattern_gives_nothing_back() -> None:
    for finder in finders():
        for pattern in patterns_of(finder):
            bare = re.sub(r"\[[^]]*\]|\\.", "S", pattern)
            assert not re.search(r"(?<!S)[*+](?<!\*\+)(?<!\+\+)(?<!\}\+)|S[*+](?!\+)|,\}", bare), bare


def test_bundled_patterns_have_small_letters_only_since_texts_are_read_so() -> None:
    for pattern in [*(each for finder in finders() for each in patterns_of(finder)), *EXPRESSIONS]:
        assert not re.search("[A-Z]", re.sub(r"\\.", "", pattern)), pattern


def test_every_regular_expression_of_the_bundled_rules_is_known_as_theirs() -> None:
    assert len(EXPRESSIONS) == phrases._bundled_rules().count('- "re:')
    assert all(map(is_bundled, EXPRESSIONS))
    assert not is_bundled("re:foo")
    assert not is_bundled(EXPRESSIONS[0][:-1])


def test_bundled_regular_expressions_find_what_they_find_in_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("re2")
    texts = [
        *(
            "다리가 자주 많이 부었어요.",
            "Her ankles keep swelling, and legs often swell",
            "최대 심박수의 70 ~ 90 % 까지",
        ),
        *(
            "Go to 95% of your max, 100 percent of the peak",
            "kg당 단백질 1.5g",
            "about 2 g of protein per kg; 1.8 g/kg",
        ),
        *("술은 가끔 마셔도 괜찮습니다.", "금주할 필요는 없습니다", "MY FEET ARE SWELLING"),
    ]
    own = [[each.found(text) for text in texts] for each in matchers()]
    monkeypatch.setattr(phrases, "is_bundled", lambda _: False)
    assert [[each.found(text) for text in texts] for each in matchers()] == own
    assert sum(bool(found) for rows in own for found in rows) >= 8


def matchers() -> list[PhraseMatcher]:
    return [PhraseMatcher([Phrase("g", source)]) for source in EXPRESSIONS]


def test_without_re2_other_regular_expressions_are_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(RegexError, match=r"^regular expressions need RE2; type: pip install 'hallumeter\[clinical\]'$"):
        compiled("re:foo+")
    assert compiled(EXPRESSIONS[0]).kind == "bundled"
    assert compiled("banana").kind == "words"


@pytest.mark.parametrize("source", ["banana", "berry", "숨이 차", "sweet-potato", "*고강도", "x", "a b"])
def test_what_a_phrase_needs_stands_in_every_text_that_has_it(source: str) -> None:
    needed = compiled(source).needed
    for text in (source.strip("*"), "Bananas", "berries", "숨이 찹니다", "sweet potatoes", "초고강도", "x", "a-b"):
        lower = clean_text(text).lower
        assert needed in lower or not PhraseMatcher([Phrase("g", source)]).found(text)
        assert needed in lower or not re.search(compiled(source).core, lower)


def test_a_letter_that_grows_when_it_is_made_small_moves_nothing() -> None:
    text = "İ Walk\u00a0DAILY"
    assert plain(text) == "İ walk daily"
