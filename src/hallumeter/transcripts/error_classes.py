"""What kind of difference there is between a word of the page and what was read for it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from .alignment import WITHOUT_SIGNS, Matching, Wording
from .records import ErrorClass, WordDifference

_HYPHENS = "-\u00ad\u2010\u2011\u2012\u2013\u2014\u00ac=\u2e17\u2e40"
"""With the double hyphens of Fraktur, and the sign that transcribers put at the end of a line."""
_HYPHEN = re.compile(rf"[{re.escape(_HYPHENS)}]\s*")
_SPACE = re.compile(r"\s+")
_PLAIN_ENDS = frozenset(",;:!?")
"""Signs that tell nothing where both words end in the same."""
_NUMBER = re.compile(r"(?<!\w)\d+(?:[^\w\s]\d+)*")
_ROMAN = re.compile(r"(?=[MDCLXVI]{2})M{0,4}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
"""Two letters at least: a single one is more often a word or an initial. IIII and XXXX are usual on old pages."""
_LIGATURES = str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "ĳ": "ij",
        "ꜳ": "aa",
        "ꜵ": "ao",
        "ꜷ": "au",
        "ꜹ": "av",
        "ꜽ": "ay",
        "ꝏ": "oo",
        "ﬀ": "ff",
        "ﬁ": "fi",
        "ﬂ": "fl",
        "ﬃ": "ffi",
        "ﬄ": "ffl",
        "ﬅ": "ſt",
        "ﬆ": "st",
    }
)
_ABBREVIATING = re.compile("[\u0303-\u0305ꝐꝑꝒꝓꝔꝕꝖꝗꝘꝙꝛꝝꝫꝭꝯꝰ⁹ʳᵉᵐˢᵗᵒᵃᵈⁿˡᶜ]|\\.$")
"""Marks of a shortened word: bars and tildes over letters, letters with a stroke, raised letters, a final stop."""
_PLAIN_LETTERS = str.maketrans("ꝐꝑꝒꝓꝔꝕꝖꝗꝘꝙʳᵉᵐˢᵗᵒᵃᵈⁿˡᶜ", "ppppppqqqqremstoadnlc", "ꝛꝝꝫꝭꝯꝰ⁹")


def word_differences(matching: Matching, on_page: Wording, written: Wording) -> Iterator[WordDifference]:
    """Every word that was read otherwise than it is spelled on the page, in the order of the response.

    Words left out and words inserted are no differences of a word.
    """
    firsts, lasts, here, there = matching.firsts, matching.lasts, on_page.texts, written.texts
    places = [
        place
        for place, first in enumerate(firsts)
        if first >= 0 and (first != lasts[place] or here[first] != there[place])
    ]
    for start, end in _grouped(places, matching):
        first, last = firsts[start], lasts[start]
        if end - start > 1:
            first, last = min(firsts[start:end]), max(lasts[start:end])
        reference, response = " ".join(here[first : last + 1]), " ".join(there[start:end])
        kind = error_class(reference, response)
        if kind is not None:
            yield WordDifference(kind, reference, response)


def _grouped(places: list[int], matching: Matching) -> Iterator[tuple[int, int]]:
    """First and last place, exclusive: neighbours that were read from the same word belong together."""
    firsts, lasts = matching.firsts, matching.lasts
    start = end = -1
    for place in places:
        if place == end and firsts[place] <= lasts[place - 1] <= lasts[place]:
            end += 1
            continue
        if start >= 0:
            yield start, end
        start, end = place, place + 1
    if start >= 0:
        yield start, end


def error_class(reference: str, response: str) -> ErrorClass | None:
    """The class of the difference between two words; None when there is none.

    >>> error_class("Roi,", "roi"), error_class("XIV", "XVI"), error_class("roy", "roi"), error_class("roi", "rol")
    ('case', 'numerals', 'modernised', 'other')
    """
    if reference == response:
        return None
    one, other = reference, response
    if one[-1:] in _PLAIN_ENDS and one[-1:] == other[-1:]:
        one, other = one[:-1], other[:-1]
    if one.isalpha() and other.isalpha() and one.isascii() and other.isascii():
        return _plain_class(one, other)
    if _NUMBER.findall(reference) != _NUMBER.findall(response):
        return "numerals"
    return _light_class(reference, response) or _grave_class(reference, response)


def _plain_class(reference: str, response: str) -> ErrorClass:
    """The class of two different words of plain letters, as most are: neither signs nor accents can differ."""
    if reference.lower() == response.lower():
        return "case"
    # Words with a small letter, as most are, are no Roman numerals.
    if (reference.isupper() and _ROMAN.fullmatch(reference)) or (response.isupper() and _ROMAN.fullmatch(response)):
        return "numerals"
    return "modernised" if is_modernised(reference, response) else "other"


def _light_class(reference: str, response: str) -> ErrorClass | None:
    """The class where nothing but the form of letters and signs differs."""
    has_hyphens = (_HYPHEN.search(reference) is None) != (_HYPHEN.search(response) is None)
    one, other = _without_signs(reference), _without_signs(response)
    if one == other:
        return "hyphens" if has_hyphens else "punctuation"
    one, other = (_SPACE.sub("", _without_signs(_HYPHEN.sub("", text))) for text in (reference, response))
    if one == other:
        return "hyphens" if has_hyphens else "spacing"
    one, other = one.lower(), other.lower()
    if one == other:
        return "case"
    if one.isascii() and other.isascii():
        return None
    one, other = _without_accents(one), _without_accents(other)
    if one == other:
        return "accents"
    return "ligatures" if one.translate(_LIGATURES) == other.translate(_LIGATURES) else None


def _grave_class(reference: str, response: str) -> ErrorClass:
    numbers = [_ROMAN.fullmatch(_without_signs(text)) for text in (reference, response)]
    if any(numbers):
        return "numerals"
    if _is_shortened(reference, response) or _is_shortened(response, reference):
        return "abbreviations"
    return "modernised" if is_modernised(reference, response) else "other"


def _without_signs(text: str) -> str:
    plain = text.translate(WITHOUT_SIGNS)
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


@cache
def _base(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[:1]


def _without_accents(text: str) -> str:
    return "".join(_base(letter) for letter in text if not unicodedata.combining(letter))


def _is_shortened(short: str, whole: str) -> bool:
    """Whether a word has a mark of abbreviation, and the other none, but its letters in order, and more."""
    marked, full = (unicodedata.normalize("NFD", text.lower()) for text in (short, whole))
    if _ABBREVIATING.search(marked) is None or _ABBREVIATING.search(full) is not None:
        return False
    letters = _without_accents(_without_signs(marked).translate(_PLAIN_LETTERS))
    written = _without_accents(_without_signs(full))
    rest = iter(written)
    is_longer = bool(letters) and len(written) > len(letters) and written[0] == letters[0]
    return is_longer and all(letter in rest for letter in letters)


# Spelling of earlier centuries, and what became of it. "^" and "$" are the ends of a word. The rules of one language
# must explain a whole word, so that a rule of German does not excuse a misreading of French.

_EVERYWHERE = "ſ:s vv:w ^v:^u ia:ja ie:je io:jo iu:ju"
_SILENT_E = ("ld", "nd", "wn", "nk", "rk", "rd", "rn", "ll", "ss", "rt", "lt", "lk", "ck", "rm", "ft", "mp", "in", "yn")
"""Endings after which English has dropped an e, which does not make a vowel long there."""
_DOUBLED = "nrptgdbm"
_RULES = {
    "fr": (
        "u:v y:i oi:ai oy:ai ois:aî es:é es:ê es:è as:â is:î os:ô us:û eus:û ostr:otr ct:t bv:v ul:u sç:s "
        "ans$:ants$ ens$:ents$ ems$:emps$ eu:u ung$:un$ ing$:in$ ez$:és$ z$:s$ x$:s$ gn:nn ipt:it th:t ph:f "
        "ller$:ler$ tter:ter aa:â eo:o cque$:c$ cques$:c$ ff:f"
    ),
    "en": (
        "u:v ie$:y$ ies$:ys$ ay:ai ayde$:aid$ ick:ic ull$:ul$ rall$:ral$ iall$:ial$ icall$:ical$ aun:an shew:show "
        "eat$:ete$ ee$:e$ oe$:o$ ely$:ly$ yes$:ys$ es$:s$ 'd$:ed$ eth$:es$ eth$:s$ inge$:ing$ onge$:ong$ wil$:will$ "
        "shal$:shall$ eake$:eak$ ooke$:ook$ oode$:ood$ eede$:eed$ xion$:ction$ ^hath$:^has$ ^doth$:^does$ "
        "^saith$:^says$ ^thou$:^you$ ^thee$:^you$ ^ye$:^you$ ^thy$:^your$ ^thine$:^yours$ "
        + " ".join(f"{end}e$:{end}$" for end in _SILENT_E)
        + " "
        + " ".join(f"{letter}{letter}e$:{letter}$" for letter in _DOUBLED)
    ),
    "de": (
        "ey:ei ay:ai th:t ^v:^ü ^jh:^ih ^jn:^in ^jm:^im ff:f ß:ss ie:i aa:a oo:o d$:t$ dt$:t$ mb$:m$ ^c:^k ci:zi ce:ze "
        "c:k niß$:nis$ inn$:in$ ü:i tz:z cz:z gk:k tt:t nn$:n$ ph:f ä:e"
    ),
}
_LONGEST = 40
"""Letters of a word that is compared rule by rule."""


_Rules = dict[str, list[tuple[str, str]]]
"""What becomes of what, by the first letter of the old spelling."""


@cache
def _rules() -> list[_Rules]:
    """The rules of all languages together, which most misreadings do not follow, then those of each."""
    found: list[_Rules] = []
    for own in (" ".join(_RULES.values()), *_RULES.values()):
        rules: _Rules = {}
        for rule in f"{_EVERYWHERE} {own}".split():
            old, new = rule.split(":")
            rules.setdefault(old[0], []).append((old, new))
        found.append(rules)
    return found


@cache
def _given() -> frozenset[str]:
    """Letters that a rule may bring into a word."""
    return frozenset(
        letter for rules in _rules()[0].values() for old, new in rules for letter in new if letter not in old
    )


@lru_cache(maxsize=10_000)
def is_modernised(reference: str, response: str) -> bool:
    """Whether a word of the response is a later spelling of the word of the page, in French, English or German.

    >>> is_modernised("roy", "roi"), is_modernised("roi", "roy"), is_modernised("seyn", "sein")
    (True, False, True)
    """
    old, new = _core(reference), _core(response)
    if old == new or max(len(old), len(new)) > _LONGEST:
        return False
    known = set(old)
    if any(letter not in _given() and _base(letter) not in known for letter in set(new) - known):
        return False
    of_all, *of_each = _rules()
    old, new = f"^{old}$", f"^{new}$"
    return _explains(of_all, old, new) and any(_explains(rules, old, new) for rules in of_each)


def _core(word: str) -> str:
    """A word in small letters without the signs around it."""
    small = unicodedata.normalize("NFC", word).lower().replace("\u2019", "'")
    while small and not small[0].isalnum():
        small = small[1:]
    while small and not small[-1].isalnum():
        small = small[:-1]
    return small


def _explains(rules: _Rules, old: str, new: str) -> bool:
    """Whether one word becomes the other when some of its parts are replaced by rules, and accents are left aside."""
    reached, seen = [(0, 0)], {(0, 0)}
    while reached:
        place, other = reached.pop()
        if place == len(old) and other == len(new):
            return True
        for before, after in _steps(rules.get(old[place : place + 1], ()), (old, place), (new, other)):
            step = place + before, other + after
            if step not in seen:
                seen.add(step)
                reached.append(step)
    return False


def _steps(rules: Sequence[tuple[str, str]], old: tuple[str, int], new: tuple[str, int]) -> Iterator[tuple[int, int]]:
    """How many letters of each word, from a place on, may stand for one another."""
    (word, place), (other_word, other) = old, new
    if place < len(word) and other < len(other_word) and _base(word[place]) == _base(other_word[other]):
        yield 1, 1
    for before, after in rules:
        if word.startswith(before, place) and other_word.startswith(after, other):
            yield len(before), len(after)
