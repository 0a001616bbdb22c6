"""The words of the languages, as data."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from hallumeter.errors import SettingsError
from hallumeter.text import lexicon as home
from hallumeter.text.lexicon import languages_with, lexicons_with, load_lexicon
from hallumeter.text.normalize import clean_text
from hallumeter.text.phrases import PhraseFinder, parse_phrase

FAMILIES = {
    "does_not_know",
    "known_to_nobody",
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
    "false_premise",
}

every_language = pytest.mark.parametrize("language", languages_with("refusals"))


@every_language
def test_every_language_covers_every_family_of_cues(language: str) -> None:
    lexicon = load_lexicon(language)
    assert lexicon.language == language
    assert set(lexicon.refusals.cues) == FAMILIES


@every_language
def test_every_set_is_used_and_every_name_is_a_set(language: str) -> None:
    lexicon = load_lexicon(language)
    words = lexicon.refusals
    phrases = [*words.blockers, *(phrase for family in words.cues.values() for phrase in family)]
    assert {name for phrase in phrases for name in re.findall(r"\{(\w+)(?:\+[^}]+)?\}", phrase)} == set(words.sets)


@every_language
def test_words_are_written_in_the_form_in_which_they_are_looked_for(language: str) -> None:
    lexicon = load_lexicon(language)
    words = [word for each in lexicon.refusals.sets.values() for word in each]
    words += [word for family in lexicon.refusals.cues.values() for word in family]
    assert [word for word in words if clean_text(word).text != word] == []


def test_a_language_without_a_lexicon_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError, match="no lexicon for the language 'it'; choose from de, en, fr, ko"):
        load_lexicon("it")


ITALIAN = """\
openers = ["purtroppo"]

[cues]
does_not_know = ["{not_known}"]
no_information = ["non ho {really} informazioni"]

[sets]
not_known = ["non lo so", "non saprei"]
really = ["", "alcune"]
"""
OTHERS = """
import sys
from pathlib import Path
from hallumeter.text import lexicon
lexicon.FOLDER = Path(sys.argv[1])
import hallumeter
from hallumeter.text.abstention import detect_abstention
from hallumeter.text.sentences import sentence_spans
for answer in ("Non lo so.", "Purtroppo non ho informazioni.", "Era un pittore.", "I don't know."):
    found = detect_abstention(answer)
    print(found.cue, found.language)
print(sentence_spans("Lui arriva. Lei torna.", language="it"))
text = "Arrivò il 3 maggio 1990."
record = {"record_id": "r", "response": f"Non lo so. {text}", "evidence": text, "answerable": False}
run = hallumeter.audit([record], settings=hallumeter.AuditSettings(judges=("rules",)))
print(*(row.signature for row in run.summary.metrics if row.metric == "far"))
"""


@pytest.fixture
def with_italian(tmp_path: Path) -> Path:
    """The lexicons of the package, and the refusals of one more language."""
    folder = tmp_path / "lexicons"
    with resources.as_file(resources.files("hallumeter.text") / "lexicons") as shipped:
        shutil.copytree(shipped, folder)
    (folder / "it").mkdir(exist_ok=True)
    (folder / "it" / "refusals.toml").write_text(ITALIAN, encoding="utf-8")
    return folder


def test_a_language_needs_one_file_for_its_refusals_to_be_found_and_nothing_else_knows_it(with_italian: Path) -> None:
    # Another process, since readers keep what they made of the lexicons.
    done = subprocess.run(
        [sys.executable, "-c", OTHERS, str(with_italian)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    *found, spans, signature = done.stdout.splitlines()
    assert found == ["Non lo so it", "non ho informazioni it", "None None", "I don't know en"]
    assert spans == "[(0, 11), (12, 22)]"
    assert "abstention:sentences-de-en-fr-it-ko-1" in signature


def test_a_topic_that_a_language_lacks_is_refused_with_the_choices(
    with_italian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "FOLDER", with_italian)
    monkeypatch.setattr(home, "languages_with", languages_with.__wrapped__)
    italian = load_lexicon.__wrapped__("it")
    assert italian.has("refusals")
    assert not italian.has("dates")
    with pytest.raises(SettingsError, match="no lexicon of dates for the language 'it'; choose from en, fr, ko"):
        _ = italian.dates


def test_every_topic_of_the_package_is_there_in_every_language() -> None:
    for topic in (
        "abbreviations",
        "contradictions",
        "dates",
        "matching",
        "mutations",
        "names",
        "quantities",
        "statements",
    ):
        assert [each.language for each in lexicons_with(topic)] == ["en", "fr", "ko"]
    assert [each.language for each in lexicons_with("refusals")] == ["de", "en", "fr", "ko"]
    assert [each.language for each in lexicons_with("remarks")] == ["de", "en", "fr", "ko"]


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
from hallumeter.text.lexicon import languages_with, load_lexicon
start = Barrier(6)
def read(number):
    start.wait()
    lexicon = load_lexicon(languages_with("dates")[number % 3])
    return lexicon.language if lexicon.refusals.cues and lexicon.dates.weekdays else "nothing"
with ThreadPoolExecutor(6) as pool:
    print(*pool.map(read, range(6)))
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "en fr ko en fr ko\n")
