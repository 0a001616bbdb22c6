"""Reports in other languages: nothing is left unsaid, numbers follow the language, and the pages work."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from playwright.sync_api import Browser
from said_messages import metric_messages, other_texts, said_messages

from browsing import Visit, needs_browser
from hallumeter import load
from hallumeter.errors import SettingsError
from hallumeter.report.languages import speaking as home
from hallumeter.report.languages.speaking import (
    ENGLISH,
    catalogue,
    languages,
    say,
    say_count,
    say_count_html,
    say_html,
    speaking,
    written,
)
from hallumeter.report.page.render import script_words
from hallumeter.report.wording import format_count, format_number, format_pair, interval_words, title_words

FOREIGN = [language for language in languages() if language != ENGLISH]
FOLDER = Path(home.__file__).parent
RUNS = ("answers", "newspapers", "dialogues", "reviews-english")
SEEN = "h1, h2, h3, nav a, th, dt, dd, p, li, summary, label, button, option, figcaption, caption"
ENGLISH_WORDS = re.compile(r"\b[a-z]{2,} [a-z]{2,}\b")
HANGUL = re.compile("[\uac00-\ud7a3]")


def parts(language: str) -> Iterator[tuple[str, dict[str, dict[str, str | list[str]]]]]:
    for path in sorted((FOLDER / language).glob("*.toml")):
        yield path.name, tomllib.loads(path.read_text(encoding="utf-8"))


def places(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def marks(text: str) -> list[str]:
    return sorted(re.findall(r"</?\w+>", text))


@pytest.mark.parametrize("language", FOREIGN)
def test_every_message_of_the_package_is_translated(language: str) -> None:
    own = catalogue(language)
    said, counted = said_messages()
    missing = [f"{file}: {text!r}" for text, file in said.items() if text not in own.messages]
    missing += [f"{file}: {text!r} (a count)" for text, file in counted.items() if text not in own.counts]
    missing += [f"the catalog of metrics: {text!r}" for text in metric_messages() if text not in own.messages]
    assert not missing, f"languages/{language} lacks:\n" + "\n".join(sorted(missing))


@pytest.mark.parametrize("language", FOREIGN)
def test_no_translation_is_of_something_that_is_never_said(language: str) -> None:
    said, counted = said_messages()
    reasons = other_texts()
    unused = []
    for name, part in parts(language):
        known = {*said, *(reasons if name == "reasons.toml" else ())}
        unused += [f"{name}: {text!r}" for text in part.get("messages", {}) if text not in known]
        unused += [f"{name}: {text!r} (a count)" for text in part.get("counts", {}) if text not in counted]
    assert not unused, f"languages/{language} says in vain:\n" + "\n".join(unused)


@pytest.mark.parametrize("language", FOREIGN)
def test_a_message_is_translated_once(language: str) -> None:
    homes: dict[str, list[str]] = {}
    for name, part in parts(language):
        for kind in ("messages", "counts"):
            for text in part.get(kind, {}):
                homes.setdefault(f"{kind} {text!r}", []).append(name)
    twice = {text: files for text, files in homes.items() if len(files) > 1}
    assert not twice, f"languages/{language} translates twice: {twice}"


@pytest.mark.parametrize("language", FOREIGN)
def test_translations_name_the_places_and_hold_the_marks_of_the_english_text(language: str) -> None:
    own = catalogue(language)
    pairs = [*own.messages.items(), *((text, form) for text, forms in own.counts.items() for form in forms)]
    wrong = [text for text, told in pairs if places(text) != places(told) or marks(text) != marks(told)]
    assert not wrong


@pytest.mark.parametrize(("language", "forms"), [("fr", 2), ("ko", 1)])
def test_a_language_has_as_many_forms_of_a_count_as_its_grammar_asks_for(language: str, forms: int) -> None:
    assert {len(given) for given in catalogue(language).counts.values()} == {forms}


def test_french_counts_none_and_one_in_the_singular() -> None:
    with speaking("fr"):
        told = [say_count(count, "{count} answer", "{count} answers") for count in (0, 1, 1.5, 2, 12345)]
    assert told == ["0 réponse", "1 réponse", "1,5 réponse", "2 réponses", "12\u202f345 réponses"]


def test_korean_has_one_form_and_english_its_own_for_one() -> None:
    with speaking("ko"):
        assert [say_count(count, "{count} answer", "{count} answers") for count in (0, 1, 2)] == [
            "답변 0개",
            "답변 1개",
            "답변 2개",
        ]
    assert [say_count(count, "{count} answer", "{count} answers") for count in (0, 1)] == [
        "0 answers",
        "1 answer",
    ]


def test_numbers_have_the_marks_of_the_language() -> None:
    with speaking("fr"):
        assert format_number(7 / 31) == "0,226"
        assert format_number(0.0001) == "<0,001"
        assert format_count(12345) == "12\u202f345"
        assert format_pair((0.11, 0.37)) == "0,110 – 0,370"
        assert interval_words(0.995) == "intervalle à 99,5\u00a0%"
    with speaking("ko"):
        assert format_count(12345.5) == "12,345.50"
    assert written("12,345.6") == "12,345.6"


def test_a_title_is_said_in_the_language() -> None:
    with speaking("fr"):
        assert title_words("transcripts", ["a", "b", "c"]) == "Transcriptions\u00a0: a, b et 1 de plus"


def test_what_is_said_ends_with_the_page_that_asked_for_it() -> None:
    with speaking("fr"), speaking("ko"):
        assert say("Refuted") == "반박됨"
    assert say("Refuted") == "Refuted"


def test_values_in_messages_with_marks_are_escaped() -> None:
    with speaking("fr"):
        told = say_count_html(2, "<b>{count}</b> page", "<b>{count}</b> pages")
        assert told == "<b>2</b> pages"
    assert say_html("<b>{name}</b>", name="<i>") == "<b>&lt;i&gt;</b>"


def test_a_language_without_a_catalogue_is_named_with_those_that_have_one() -> None:
    with pytest.raises(SettingsError, match="no report is written in 'de'; choose one of en, fr, ko"):
        catalogue("de")


def test_scripts_get_the_words_that_they_say_and_no_others() -> None:
    with speaking("fr"):
        words = script_words(["ranking.js"])
    assert words["language"] == "fr"
    assert words["messages"] == {
        text: catalogue("fr").messages[text] for text in ("differ", "not shown to differ", "of {engine}")
    }
    assert words["counts"] == {"{shown} of {count} pairs": catalogue("fr").counts["{shown} of {count} pairs"]}
    assert script_words(["ranking.js"])["messages"] == {}


@pytest.fixture(scope="module")
def reports(finished_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of every instrument in every language."""
    folder = tmp_path_factory.mktemp("languages")
    for name in RUNS:
        run = load(finished_demo / name)
        for language in FOREIGN:
            run.to_html(folder / f"{name}-{language}.html", language=language)
    return folder


def texts(visit: Visit, places_: str) -> list[str]:
    """What stands at these places of the page, without what comes from the data: names, notices, records."""
    script = """(nodes) => nodes
      .filter((one) => !one.closest("[lang=en], [lang=''], .list, article, aside, pre"))
      .map((node) => {
        const copy = node.cloneNode(true);
        copy.querySelectorAll("bdi, code, svg, [lang='']").forEach((name) => name.remove());
        return copy.textContent.trim().replace(/\\s+/g, " ");
    })"""
    found: list[str] = visit.page.eval_on_selector_all(places_, script)
    return [text for text in found if text]


@needs_browser
@pytest.mark.long
@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize("name", RUNS)
def test_a_report_opens_in_another_language(browser: Browser, reports: Path, name: str, language: str) -> None:
    visit = Visit(browser, reports / f"{name}-{language}.html")
    visit.page.wait_for_selector(".canvas svg")
    assert visit.page.locator("html").get_attribute("lang") == language
    assert visit.complaints == []
    own = catalogue(language)
    told = texts(visit, SEEN)
    english = {text for text, words in own.messages.items() if words != text} - {*own.messages.values()}
    assert not [text for text in told if text in english]


@needs_browser
@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_no_english_words_are_left_on_a_korean_page(browser: Browser, reports: Path, name: str) -> None:
    visit = Visit(browser, reports / f"{name}-ko.html")
    told = texts(visit, SEEN)
    assert not [text for text in told if ENGLISH_WORDS.search(text) and not HANGUL.search(text)]


@needs_browser
@pytest.mark.long
def test_numbers_on_a_french_page_have_french_marks_and_data_keeps_plain_ones(browser: Browser, reports: Path) -> None:
    visit = Visit(browser, reports / "newspapers-fr.html")
    page = visit.page
    page.wait_for_selector("#scatter svg")
    cell = page.locator("td[data-value] .value").first
    assert re.fullmatch(r"\d+,\d{3}", cell.inner_text())
    assert float(page.locator("td[data-value]").nth(1).get_attribute("data-value") or "") >= 0
    ticks = page.eval_on_selector_all("#scatter svg text", "(nodes) => nodes.map((node) => node.textContent)")
    assert "0,25" in ticks
    assert not [text for text in ticks if re.fullmatch(r"\d+\.\d+", text)]
    page.locator("#limit-anchor").fill("0.25")
    assert page.locator("#told-anchor").inner_text() == "0,25"
    assert visit.complaints == []


@needs_browser
@pytest.mark.long
@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize("name", RUNS)
def test_a_report_in_another_language_fits_a_phone(browser: Browser, reports: Path, name: str, language: str) -> None:
    visit = Visit(browser, reports / f"{name}-{language}.html", width=390)
    visit.page.wait_for_selector(".canvas svg")
    assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
