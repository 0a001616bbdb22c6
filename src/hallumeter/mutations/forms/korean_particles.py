"""Particles after a Korean word, which depend on whether it ends in a consonant."""

from __future__ import annotations

import re

_TO_VOWEL = {"은": "는", "이": "가", "을": "를", "과": "와", "으로": "로"}
_TO_CONSONANT = {vowel: consonant for consonant, vowel in _TO_VOWEL.items()}
_PARTICLE = re.compile(r"(으로|은|는|이|가|을|를|과|와|로)(?![가-힣])")
_SYLLABLE = re.compile("[가-힣]")
_RIEUL = 8


def ends_in_consonant(word: str) -> bool:
    """Whether the last syllable of a Korean word is closed.

    >>> ends_in_consonant("톤"), ends_in_consonant("미터")
    (True, False)
    """
    return _SYLLABLE.match(word[-1:]) is not None and (ord(word[-1]) - 0xAC00) % 28 != 0


def particle_after(text: str, place: int, word: str) -> tuple[str, str]:
    """The particle at a place, and the form it takes after another word; twice nothing where none stands.

    >>> particle_after("미터를 달렸다", 2, "마일")
    ('를', '을')
    """
    match = _PARTICLE.match(text, place)
    if match is None or _SYLLABLE.match(word[-1:]) is None:
        return "", ""
    old = match.group(1)
    is_closed = ends_in_consonant(word)
    if old in {"으로", "로"} and (ord(word[-1]) - 0xAC00) % 28 == _RIEUL:
        return old, "로"
    return old, _TO_CONSONANT.get(old, old) if is_closed else _TO_VOWEL.get(old, old)
