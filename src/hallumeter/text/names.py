"""Names in a text: words with capitals, and Korean names before a title."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache

from msgspec import Struct

from .lexicon import lexicons_with, load_lexicon
from .terms import Terms, fold, is_stop_word, terms_of
from .units import unit_words

_MOST_CONNECTORS = 8
_CONNECTORS = frozenset({"of", "de", "du", "des", "von", "van", "der", "la", "le", "al", "bin", "d"})
_ENDS_SENTENCE = re.compile(r"(?:^|[.!?:;•*\n\"“«「\[]|[-–—]\s)[\s\"'“”«»(*]*$")


class Name(Struct, frozen=True):
    """A name as a text has it."""

    start: int
    end: int
    first_term: int
    last_term: int
    is_opening: bool = False
    """It is one word that opens a sentence, so that its capital says nothing."""


def find_names(text: str | Terms) -> list[Name]:
    """Runs of words with capitals, without titles such as "Mr", and Korean names before a title such as 씨, in order.

    >>> text = "Yesterday Dr. Marie Curie met President Loubet. 김민수 씨도 왔다."
    >>> [text[name.start : name.end] for name in find_names(text) if not name.is_opening]
    ['Marie Curie', 'Loubet', '김민수']
    """
    terms = terms_of(text) if isinstance(text, str) else text
    written = terms.text
    found = _korean_names(terms) if max(written, default="") >= "가" else []
    place = 0
    while place < len(terms):
        if not _is_capital(terms, place):
            place += 1
            continue
        last = _last_of(terms, place)
        is_opening = last == place and not _follows_title(terms, place)
        is_opening = is_opening and _opens(written, terms.starts[place])
        found.append(Name(terms.starts[place], terms.ends[last], place, last, is_opening))
        place = last + 1
    return sorted(found, key=lambda name: name.start)


def _opens(text: str, place: int) -> bool:
    """Whether a sentence begins at a place; only what stands closely before it is looked at."""
    return _ENDS_SENTENCE.search(text, max(0, place - 8), place) is not None


def _follows_title(terms: Terms, place: int) -> bool:
    return place > 0 and terms.folded[place - 1] in _titles()


def _is_capital(terms: Terms, place: int) -> bool:
    word = terms.folded[place]
    letter = terms.text[terms.starts[place]]
    if len(word) == 1 or not letter.isupper():
        return letter.isupper() and _is_initial(terms, place)
    return word not in _not_names() and not is_stop_word(word)


def _is_initial(terms: Terms, place: int) -> bool:
    """Whether a single letter stands for a first name, as in "J. Smith"."""
    if place + 1 >= len(terms) or terms.text[terms.ends[place] : terms.starts[place + 1]] not in {". ", "."}:
        return False
    return terms.text[terms.starts[place + 1]].isupper()


def _last_of(terms: Terms, first: int) -> int:
    """The last term of a name that begins here: capitals one after the other, small connectors between them."""
    last = place = first
    while place + 1 < len(terms) and place - last <= _MOST_CONNECTORS:
        gap = terms.text[terms.ends[place] : terms.starts[place + 1]]
        if gap not in {" ", "-", ". ", "'", "’", "\u00a0", " & "} or (
            gap == ". " and terms.ends[place] - terms.starts[place] > 2
        ):
            break
        place += 1
        if terms.text[terms.starts[place]].isupper() and terms.folded[place] not in _not_names():
            last = place
        elif terms.folded[place] not in _CONNECTORS and terms.ends[place] - terms.starts[place] > 1:
            break
    return last


def _korean_names(terms: Terms) -> list[Name]:
    found = []
    for match in _korean_titled().finditer(terms.text):
        start, end = match.span(1)
        if match.group(1) not in _not_names():
            first, last = bisect_right(terms.starts, start) - 1, bisect_left(terms.starts, end) - 1
            found.append(Name(start, end, first, last))
    return found


@cache
def _korean_titled() -> re.Pattern[str]:
    """Three syllables, the first a family name and the last no particle, before a title."""
    words = load_lexicon("ko").names
    titles = "|".join(sorted(words.title_endings, key=lambda title: (-len(title), title)))
    return re.compile(
        rf"(?<![가-힣])([{''.join(words.surnames)}][가-힣][가-힣](?<![는을를에의된던적로고면도만]))\s?(?:{titles})"
        r"(?:[은는이가을를의과와도로님]|에게|께서)?(?![가-힣])"
    )


@cache
def _titles() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("names") for word in each.names.titles)


@cache
def _not_names() -> frozenset[str]:
    words = [each.names for each in lexicons_with("names")]
    return frozenset(fold(word) for each in words for word in each.not_names) | _titles() | frozenset(unit_words())
