"""What is glued to nouns in Korean: particles, forms of the copula, and a few nouns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .cue_words import Particles

_OBJECT = 24
"""Characters before a verb in which its object is looked for."""
_LONGEST_ENDING = 40
"""Letters of a word that are looked at after a name."""
_CLOSING = r"[)\]}\"'*»」』]*"


class Endings:
    """Tells what may follow a noun, and which part the noun plays by what follows it."""

    def __init__(self, particles: Sequence[Particles]) -> None:
        every = [word for each in particles for word in each.any]
        glued = {
            "medication": [word for each in particles for word in each.medication],
            "condition": [word for each in particles for word in each.condition],
            "measurement": [word for each in particles for word in each.measurement],
            "sex": [word for each in particles for word in each.sex],
        }
        self._following = {kind: _chain(nouns, every) for kind, nouns in glued.items()}
        self._following[""] = _chain((), every)
        self._ends_word = lru_cache(maxsize=8192)(self._is_ending)
        oblique = [word for each in particles for word in each.oblique]
        heads = [word for each in particles for word in each.heads]
        topics = [word for each in particles for word in each.topic]
        arguments = [word for each in particles for word in each.arguments]
        self._oblique = re.compile(rf"{_CLOSING}(?:{_choice(oblique)})(?![가-힣])")
        self._head = re.compile(rf"{_CLOSING}(?:의)?\s?(?:{_choice(heads)})")
        self._topic = re.compile(rf"{_CLOSING}(?:{_choice(topics)})(?![가-힣])")
        denied = [word for each in particles for word in each.denied]
        self._argument = re.compile(rf"[가-힣)](?:{_choice(arguments)})\s")
        self._own_object = re.compile(rf"\s(?!\S*(?:{_choice(denied)})[을를]\s)\S*[을를]\s(?:\S{{1,3}}\s)?\S{{1,6}}\Z")
        self._other = re.compile(
            rf"\s(?!\S*(?:{_choice(denied)})(?:{_choice(arguments)})\s)\S*[가-힣)](?:{_choice(arguments)})\s"
        )

    def may_follow(self, lower: str, end: int, kind: str) -> bool:
        """Whether a name may end here, before a letter or digit."""
        following = lower[end]
        if "가" <= following <= "힣":
            return self._ends_word(kind, lower[end : end + _LONGEST_ENDING].split(" ", 1)[0])
        if following.isdigit():
            return kind == "measurement" and not lower[end - 1].isdigit() and lower[end - 2 : end - 1].isalnum()
        if following != "s" or not lower[end - 1].isascii():
            return False
        after = lower[end + 1 : end + 2]
        return not after.isalnum() or ("가" <= after <= "힣" and self.may_follow(lower, end + 1, ""))

    def _is_ending(self, kind: str, ending: str) -> bool:
        """Whether these letters may follow a name; few are met, so that they are kept."""
        return self._following.get(kind, self._following[""]).match(ending) is not None

    def is_oblique(self, lower: str, end: int) -> bool:
        """Whether a noun that ends here is no object: with a particle of place or cause, or before another noun."""
        return self._oblique.match(lower, end) is not None or self._head.match(lower, end) is not None

    def is_topic(self, lower: str, end: int) -> bool:
        """Whether a noun that ends here may be the object of a verb in the next clause."""
        return self._topic.match(lower, end) is not None

    def has_argument(self, lower: str, start: int, end: int) -> bool:
        """Whether a verb that begins at the end has an object of its own from the start on."""
        return self._argument.search(lower, start, end) is not None

    def has_own_object(self, lower: str, start: int, end: int) -> bool:
        """Whether a verb that goes on at the end has its object right before it: 혈당을 올리지 않습니다."""
        return self._own_object.search(lower, max(start, end - _OBJECT), end) is not None

    def has_other(self, lower: str, start: int, end: int) -> bool:
        """Whether a word that begins at the end has another object than what stands before the start."""
        return self._other.search(lower, start, end) is not None


def _chain(nouns: Iterable[str], particles: Iterable[str]) -> re.Pattern[str]:
    """Perhaps a noun, then particles up to the end of the word."""
    first = f"(?:{_choice(nouns)})?" if nouns else ""
    return re.compile(rf"{first}(?:{_choice(particles)}){{0,4}}(?![가-힣])")


def _choice(words: Iterable[str]) -> str:
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return (
        "|".join(re.escape(word.rstrip("*")) + ("[가-힣]{0,8}" if word.endswith("*") else "") for word in ordered)
        or "(?!)"
    )
