"""The words of the languages, as data."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from hallumeter.errors import SettingsError
from hallumeter.text import LANGUAGES, PhraseFinder, clean_text, load_lexicon, parse_phrase

FAMILIES = {
    "does_not_know",
    "cannot",
    "no_information",
    "does_not_exist",
    "no_such_thing",
    "not_found",
    "unfamiliar",
    "outside_knowledge",
    "fictional",
    "refuses",
    "asks_back",
}

every_language = pytest.mark.parametrize("language", LANGUAGES)


@every_language
def test_every_language_covers_every_family_of_cues(language: str) -> None:
    lexicon = load_lexicon(language)
    assert lexicon.language == language
    assert set(lexicon.abstention.cues) == FAMILIES


@every_language
def test_every_set_is_used_and_every_name_is_a_set(language: str) -> None:
    lexicon = load_lexicon(language)
    words = lexicon.abstention
    phrases = [*words.blockers, *words.preambles, *words.offers, *words.denials, *words.explanations]
    phrases += [*words.assertions, *(phrase for family in words.cues.values() for phrase in family)]
    assert {name for phrase in phrases for name in re.findall(r"\{(\w+)\}", phrase)} == set(lexicon.sets)


@every_language
def test_words_are_written_in_the_form_in_which_they_are_looked_for(language: str) -> None:
    lexicon = load_lexicon(language)
    words = [word for each in lexicon.sets.values() for word in each]
    words += [word for family in lexicon.abstention.cues.values() for word in family]
    assert [word for word in words if clean_text(word).text != word] == []


def test_a_language_without_a_lexicon_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError, match="no lexicon for the language 'de'; choose from en, fr, ko"):
        load_lexicon("de")


Sets = dict[str, list[str]]


def found(phrase: str, text: str, sets: Sets | None = None, *, fold_case: bool = True) -> list[str]:
    finder = PhraseFinder([(parse_phrase(phrase, sets or {}), "tag")], fold_case=fold_case)
    return [text[start:end] for start, end, _ in finder.find(text)]


def test_a_phrase_stands_for_every_choice_of_its_sets() -> None:
    sets = {"not": ["do not", "don't"], "really": ["", "really"]}
    for text in ["i do not know", "i don't know", "i do not really know", "i don't really know"]:
        assert found("I {not} {really} know", text, sets) == [text]
    assert found("I {not} {really} know", "i do really know", sets) == []


def test_a_phrase_of_very_many_wordings_is_found_all_the_same() -> None:
    sets = {"n": [str(number) for number in range(40)], "cat": ["", "cat", "cats"]}
    assert found("{n} {n} or {n} {cat}", "it is 7 12 or 39 cats", sets) == ["7 12 or 39 cats"]


@pytest.mark.parametrize(
    ("phrase", "text", "parts"),
    [
        ("no", "no, not now", ["no"]),
        ("정보", "정보는 개인정보와 다르다", ["정보"]),
        ("*정보", "개인정보", ["정보"]),
        ("apolog*", "apologies", ["apolog"]),
        ("n/a", "n/a입니다", ["n/a"]),
        ("no data", "no database", []),
    ],
)
def test_a_phrase_is_found_as_whole_words_unless_it_is_open(phrase: str, text: str, parts: list[str]) -> None:
    assert found(phrase, text) == parts


def test_with_case_a_phrase_is_found_as_written_or_with_a_capital() -> None:
    sets = {"very": ["very"] * 301}
    assert found("not sure", "Not sure. not sure. NOT SURE. not Sure", fold_case=False) == ["Not sure", "not sure"]
    assert found("not {very} sure", "not very sure. not Very sure", sets, fold_case=False) == ["not very sure"]


def test_threads_may_read_the_lexicons_for_the_first_time_at_once() -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from hallumeter.text.lexicon import LANGUAGES, load_lexicon
start = Barrier(6)
def read(number):
    start.wait()
    return load_lexicon(LANGUAGES[number % len(LANGUAGES)]).language
with ThreadPoolExecutor(6) as pool:
    print(*pool.map(read, range(6)))
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "en fr ko en fr ko\n")
