"""Say things in the language of the page that is being written.

A message is its English text: code stays readable, and what no catalogue has is said in English. The language is kept
where gettext keeps it, in the context of the caller, because every sentence of a report depends on it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup
from msgspec import Struct, convert, field

from hallumeter.errors import SettingsError

# Catalogues of words: for each language the messages of a report, under their English text.

ENGLISH = "en"
_HERE = Path(__file__).parent
_PACKAGE = _HERE.parents[1]


class Catalogue(Struct, frozen=True, forbid_unknown_fields=True):
    """How a language says the messages of a report and writes its numbers."""

    messages: dict[str, str] = field(default_factory=dict)
    """Translations, under the English text with its places in braces."""
    counts: dict[str, list[str]] = field(default_factory=dict)
    """Translations of what is counted, under the English plural: one form, or those for one and for many."""
    numbers: dict[str, str] = field(default_factory=dict)
    """``decimal`` and ``thousands``: the marks inside numbers."""


def languages() -> tuple[str, ...]:
    """The languages that a report can be written in, English first.

    >>> languages()
    ('en', 'fr', 'ko')
    """
    return (ENGLISH, *sorted(folder.name for folder in _HERE.iterdir() if any(folder.glob("*.toml"))))


@cache
def catalogue(language: str) -> Catalogue:
    """The words of a language; those of English are the messages themselves."""
    if language not in languages():
        raise SettingsError(f"no report is written in {language!r}; choose one of {', '.join(languages())}")
    parts = [_part(path) for path in sorted((_HERE / language).glob("*.toml"))]
    return Catalogue(
        messages=_words_of_metrics(language)
        | {message: words for part in parts for message, words in part.messages.items()},
        counts={message: forms for part in parts for message, forms in part.counts.items()},
        numbers={name: mark for part in parts for name, mark in part.numbers.items()},
    )


def _part(path: Path) -> Catalogue:
    return convert(_read(path), Catalogue)


def _words_of_metrics(language: str) -> dict[str, str]:
    """What instruments, each in its folder, say of their metrics: reports hold these texts in English."""
    if language == ENGLISH:
        return {}
    return {
        english: words
        for path in sorted(_PACKAGE.glob(f"*/metrics.{language}.toml"))
        for english, words in _pairs(_read(path.with_name(f"metrics.{ENGLISH}.toml")), _read(path))
    }


def _pairs(english: dict[str, dict[str, str]], translated: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    for metric, words in translated.items():
        for name, text in words.items():
            yield english[metric][name], text


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


_LANGUAGE: ContextVar[str] = ContextVar("language", default=ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say everything inside in this language.

    >>> with speaking("fr"):
    ...     say("Refuted")
    'Réfuté'
    """
    catalogue(language)
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def spoken() -> str:
    """The code of the language that is being spoken."""
    return _LANGUAGE.get()


def message(text: str) -> str:
    """Mark a text that will be said later, so that catalogues are checked for it."""
    return text


def say(text: str, /, **values: object) -> str:
    """A message, with values in the places that it names.

    >>> say("{count} of {total} shown here", count=2, total=3)
    '2 of 3 shown here'
    """
    words = catalogue(spoken()).messages.get(text, text)
    return words.format(**values) if values else words


def say_html(text: str, /, **values: object) -> Markup:
    """A message of ours that holds marks of HTML; values are escaped."""
    return Markup(catalogue(spoken()).messages.get(text, text)).format(**values)  # noqa: S704 (our own texts alone)


def say_count(count: float, one: str, many: str, /, **values: object) -> str:
    """A message on a number of things, in the form that the number asks for.

    >>> say_count(1, "{count} answer", "{count} answers"), say_count(1200, "{count} answer", "{count} answers")
    ('1 answer', '1,200 answers')
    """
    return _form(count, one, many).format(count=written(f"{count:,}"), **values)


def say_count_html(count: float, one: str, many: str, /, **values: object) -> Markup:
    """The same of ours that holds marks of HTML; values are escaped."""
    return Markup(_form(count, one, many)).format(count=written(f"{count:,}"), **values)  # noqa: S704 (our own texts)


def _form(count: float, one: str, many: str) -> str:
    forms = catalogue(spoken()).counts.get(many)
    # English has its own form for one alone, French for all below two; Korean has one form for all.
    is_one = count == 1 if forms is None else count < 2
    return (forms or [one, many])[0 if is_one else -1]


def written(number: str) -> str:
    """A number of Python, such as ``12,345.6``, with the marks of the language.

    >>> with speaking("fr"):
    ...     written("0.226")
    '0,226'
    """
    marks = catalogue(spoken()).numbers
    if not marks:
        return number
    return number.translate({ord(","): marks["thousands"], ord("."): marks["decimal"]})
