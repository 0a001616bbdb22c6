"""What kind of thing a name is likely to name, by its form and by what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from hallumeter.mutations.reading import Reading
from hallumeter.text import LANGUAGES, load_lexicon
from hallumeter.text.names import Name
from hallumeter.text.terms import fold

_PLACE_BEFORE = frozenset({"in", "at", "near", "from", "à", "a", "dans", "depuis", "into", "across", "outside"})
_PERSON_AFTER = frozenset(
    {"said", "says", "told", "added", "wrote", "who", "he", "she", "tweeted", "explained", "admitted", "dit", "qui"}
)
_ARTICLES = frozenset({"the", "a", "an", "this", "le", "la", "les", "l", "un", "une", "du", "au", "des", "aux"})
_NAME_GOES_ON = frozenset({"da", "di", "dos", "del", "el", "ibn"})
_LIST_MARK = re.compile(r"(?:\d|:|•)[.)]?\s*$")
_FEW_WORDS = 3


def is_sure_name(reading: Reading, name: Name, common: frozenset[str]) -> bool:
    """Whether capitals surely make a name: not for a first word, nor where the text writes all words of it small too.

    `common` are the words that stand in the text with a small first letter.
    """
    if "가" <= reading.text[name.start] <= "힣":
        return True  # a title after it tells
    words = reading.terms.folded[name.first_term : name.last_term + 1]
    if all(word in common for word in words) or any(len(word) == 1 for word in words):
        return False
    after = reading.terms.folded[name.last_term + 1 : name.last_term + 2]
    if after and after[0] in _NAME_GOES_ON:
        return False
    opens = _LIST_MARK.search(reading.text[: name.start]) is not None or not any(
        map(str.isalpha, reading.text[: name.start])
    )
    return not (name.is_opening or (opens and name.first_term == name.last_term))


def name_shape(reading: Reading, name: Name, classes: Mapping[str, str]) -> str:
    """Names of one shape can stand for one another: as many words, capitals alike, a place or a person alike.

    `classes` are those that other sentences tell.
    """
    written = reading.text[name.start : name.end]
    words = min(name.last_term - name.first_term + 1, _FEW_WORDS)
    letters = "capitals" if written.isupper() else "korean" if "가" <= written[0] <= "힣" else "words"
    form = "possessive" if written.endswith(("'s", "’s")) else "joined" if "&" in written or "." in written else "plain"
    article = "article" if _before(reading, name) in _ARTICLES else ""
    kind = classes.get(written) or name_class(reading, name)
    return f"{words}|{letters}|{form}|{article}|{kind}"


def name_class(reading: Reading, name: Name) -> str:
    """What the words beside a name tell of it: `person`, `place`, or nothing."""
    terms = reading.terms
    before = _before(reading, name)
    after = terms.folded[name.last_term + 1] if name.last_term + 1 < len(terms) else ""
    if before in _titles() or after in _PERSON_AFTER:
        return "person"
    return "place" if before in _PLACE_BEFORE else ""


def _before(reading: Reading, name: Name) -> str:
    return reading.terms.folded[name.first_term - 1] if name.first_term > 0 else ""


@cache
def _titles() -> frozenset[str]:
    return frozenset(fold(word) for each in LANGUAGES for word in load_lexicon(each).names.titles)
