"""Languages in which the model was trained and checked, and in which a record is."""

from __future__ import annotations

from functools import lru_cache

from hallumeter.records import Passage
from hallumeter.text.terms import Terms, is_stop_word, language_of, terms_of

CHECKED = ("en",)
_LEAST_WORDS = 12
_LEAST_SHARE = 0.1
_ENOUGH = 4000
"""Characters that tell a language."""


@lru_cache(maxsize=16)
def unchecked_language(text: str) -> str | None:
    """The language of a text when it is none in which the model was checked; None when it is, or too short to tell.

    >>> unchecked_language("The tower stands in Paris."), unchecked_language("La tour est dans le centre de Paris.")
    (None, 'fr')
    """
    terms = terms_of(text)
    language = language_of(terms)
    if language not in CHECKED:
        return language
    small = sum(map(is_stop_word, terms.folded))
    return "another" if len(terms) >= _LEAST_WORDS and small < _LEAST_SHARE * len(terms) else None


@lru_cache(maxsize=16)
def languages_differ(response: str, passages: tuple[Passage, ...]) -> bool:
    """Whether a response and its evidence are plainly in two languages, so that no word of one stands in the other."""
    said, given = terms_of(response), terms_of(" ".join(passage.text[:_ENOUGH] for passage in passages)[:_ENOUGH])
    if min(len(said), len(given)) < _LEAST_WORDS:
        return False
    return language_of(said) != language_of(given) and not _shared(said, given)


def _shared(said: Terms, given: Terms) -> bool:
    """Whether two texts have enough words in common to be of one language, numbers left out."""
    words = {key for key in said.keys if key and not key[0].isdecimal()}
    return len(words & set(given.keys)) > _LEAST_SHARE * len(words)
