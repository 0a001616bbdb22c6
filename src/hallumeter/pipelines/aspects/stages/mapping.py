"""Which aspect of a sentence is meant by the words of a debate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain

from hallumeter.records.aspects import AspectMapping

from .read_sentence import ReadSentence
from .terms import SqueezedText, holds_term, term_key

_REMEMBERED = 4096


class TermIndex:
    """The aspects of a sentence by the keys of their terms and of the synonyms of these; the first claim counts.

    Terms claim their own keys before any claims a synonym, so that no aspect is taken for another.
    """

    def __init__(self, terms: Iterable[str], synonyms: Mapping[str, tuple[str, ...]], sentence: ReadSentence) -> None:
        self.terms = tuple(dict.fromkeys(term for term in terms if term_key(term)))
        groups = tuple(synonyms.items())
        self.synonyms = {term: words for term in self.terms if (words := _synonyms(term, groups))}
        self._sentence = sentence
        self._by_key: dict[str, str] = {}
        own = ((term_key(term), term) for term in self.terms)
        others = ((term_key(word), term) for term, words in self.synonyms.items() for word in words)
        for key, term in chain(own, others):
            self._by_key.setdefault(key, term)
        self._order = {term: number for number, term in enumerate(self.terms)}

    @property
    def entries(self) -> tuple[AspectMapping, ...]:
        """Which key stands for which aspect."""
        return tuple(AspectMapping(key, term) for key, term in self._by_key.items())

    def exactly(self, words: str | None) -> str | None:
        """The aspect whose term or synonym the words are; particles do not count."""
        if words is None or not (key := term_key(words)):
            return None
        if words in self._order:
            return words
        return self._by_key.get(key) or self._by_key.get(term_key(self._sentence.bare(words)))

    def within(self, words: str) -> tuple[str, ...]:
        """The aspects that are named within the words, in their order; a longer name hides those inside it."""
        text = SqueezedText(words)
        if not text.text:
            return ()
        found = [(start, end, term) for key, term in self._by_key.items() for start, end in text.places(key)]
        visible = {
            term
            for start, end, term in found
            if not any(first <= start and end <= last and last - first > end - start for first, last, _ in found)
        }
        return tuple(term for term in self.terms if term in visible)

    def meant(self, words: str | None) -> tuple[str, ...]:
        """The aspect that the words are, else those that are named within them."""
        exact = self.exactly(words)
        return (exact,) if exact is not None else self.within(words or "")


@lru_cache(maxsize=_REMEMBERED)
def _synonyms(term: str, groups: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[str, ...]:
    """The other words of a term's groups: it is one of their words, or it and a group's name hold one another."""
    key = term_key(term)
    words: dict[str, None] = {}
    for name, members in groups:
        if key in map(term_key, members) or holds_term(term, name) or holds_term(name, term):
            words.update(dict.fromkeys(word for word in (name, *members) if term_key(word) != key))
    return tuple(words)
