"""Korean particles chosen by the last sound of the word before them, whatever it is written in."""

from __future__ import annotations

import re

_SYLLABLES = range(0xAC00, 0xD7A4)
_RIEUL = 8
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")
_UNIT = re.compile(r"\d\s?(?P<unit>[^\d\s,가-힣][^\s,가-힣]*)$")
_GRAMS = re.compile(r"[kmµu]?c?g")
"""Of the units after a number only grams are read as a word that ends in a consonant."""
_CLOSED_DIGITS = {"0": False, "1": True, "3": False, "6": False, "7": True, "8": True}
"""Digits whose names end in a consonant, and whether that is ㄹ."""
_CLOSED_LETTERS = {"L": True, "M": False, "N": False, "R": True}
"""The same of letters that are read by their names."""
_CLOSED_ENDINGS = (("l", True), ("m", False), ("n", False), ("ng", False), ("ic", False), ("ck", False))
"""Ends of English words that become the end of a Korean syllable."""


def with_particle(word: str, forms: str) -> str:
    """A word and the form of a particle that fits it: the first after a consonant, the second after a vowel.

    >>> with_particle("고혈압", "으로/로"), with_particle("Metformin", "을/를"), with_particle("당뇨병(2형)", "이/가")
    ('고혈압으로', 'Metformin을', '당뇨병(2형)이')
    """
    closed, _, open_ = forms.partition("/")
    is_closed, is_rieul = last_sound(word)
    if is_rieul and (closed, open_) == ("으로", "로"):
        return word + open_
    return word + (closed if is_closed else open_)


def last_sound(word: str) -> tuple[bool, bool]:
    """Whether a word ends in a consonant when it is read out in Korean, and whether that consonant is ㄹ.

    What stands in brackets at the end is not read.

    >>> last_sound("물"), last_sound("aspirin"), last_sound("HDL"), last_sound("B12"), last_sound("98mg/dL")
    ((True, True), (True, False), (True, True), (False, False), (False, False))
    """
    spoken = _BRACKETS.sub("", word).rstrip(" .,;:!?'\"")
    last = spoken[-1:]
    if measured := _UNIT.search(spoken):
        return _GRAMS.fullmatch(measured["unit"]) is not None, False
    if not last:
        return False, False
    if ord(last) in _SYLLABLES:
        final = (ord(last) - _SYLLABLES.start) % 28
        return final != 0, final == _RIEUL
    if last in _CLOSED_DIGITS:
        return True, _CLOSED_DIGITS[last]
    if last.isupper():
        return last in _CLOSED_LETTERS, _CLOSED_LETTERS.get(last, False)
    heard = spoken.lower().removesuffix("e")
    return next(((True, is_rieul) for ending, is_rieul in _CLOSED_ENDINGS if heard.endswith(ending)), (False, False))
