"""Say things in the language of the page that is being written.

A message is its English text: code stays readable, and what no catalogue has is said in English. The language is kept
where gettext keeps it, in the context of the caller, because every sentence of a report depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from markupsafe import Markup

from .catalogue import ENGLISH, catalogue

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
    told = catalogue(spoken()).messages.get(text, text)
    return told.format(**values) if values else told


def say_html(text: str, /, **values: object) -> Markup:
    """A message of ours that holds marks of HTML; values are escaped."""
    return Markup(catalogue(spoken()).messages.get(text, text)).format(**values)  # noqa: S704 (our own texts alone)


def say_count(count: float, one: str, many: str, /, **values: object) -> str:
    """A message on a number of things, in the form that the number asks for.

    >>> say_count(1, "{count} response", "{count} responses"), say_count(1200, "{count} response", "{count} responses")
    ('1 response', '1,200 responses')
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
