"""Numbers and names in a response: an invented date or person is worse than a misread letter."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from hallumeter.records import Rate

if TYPE_CHECKING:
    from .matching import Matching
    from .wording import Wording

_NUMBER = re.compile(r"\d+(?:[^\w\s]\d+)*")
_LINE_ENDS = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SENTENCE_ENDS = frozenset(".!?:…。")


def invented_numbers(reference: Wording, response: Wording) -> Rate:
    """Words of the response with a digit whose numbers the reference does not have so often, of all with a digit.

    A number is compared with its inner separators and without what stands around it: "1,204" is not "1204", but
    "No.7" is "7". Undefined when the response has none.
    """
    written = _numbers(response)
    return Rate((written - _numbers(reference)).total(), written.total())


def _numbers(wording: Wording) -> Counter[str]:
    with_digits = (text for key, text in zip(wording.keys, wording.texts, strict=True) if not key.isalpha())
    found = map(_NUMBER.findall, with_digits)
    return Counter(" ".join(numbers) for numbers in found if numbers)


def invented_names(matching: Matching, *, reference: Wording, response: Wording, text: str) -> Rate:
    """Capitalised words inside sentences whose letters are not on the page, of all such words of the response.

    A word counts that begins with a capital, has a small letter, and begins neither a line nor a sentence. It is
    invented when it was not read by its letters and is no word of the reference either. Undefined when the response
    has no such word, as in scripts without capitals.
    """
    may_be = [place for place, start in enumerate(response.starts) if not text[start].islower()]
    places = [place for place in may_be if place and _is_name(text, response, place)]
    known = set(reference.keys)
    invented = [place for place in places if not matching.is_alike[place] and response.keys[place] not in known]
    return Rate(len(invented), len(places))


def _is_name(text: str, response: Wording, place: int) -> bool:
    start, end = response.starts[place], response.ends[place]
    word = text[start:end]
    letters = word if word[0].isalpha() else word.lstrip("\"'([{<*_«“‘„¿¡-—")
    if not letters[:1].isupper() or letters.isupper() or len(letters) < 2:
        return False
    before = text[response.ends[place - 1] : start]
    return not _LINE_ENDS.search(before) and not _ends_sentence(text[response.starts[place - 1] : start])


def _ends_sentence(text: str) -> bool:
    """Whether a sentence ends after the last letter or digit. Read from the end: signs may go on for a whole page."""
    telling = (character for character in reversed(text) if character in _SENTENCE_ENDS or character.isalnum())
    return next(telling, "") in _SENTENCE_ENDS
