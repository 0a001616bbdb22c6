"""What the turns of a debate let expect, and how their source is named.

Edits come first; without any, it is what a speaker says and on which side he stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from hallumeter.aspects.records.aspect import Polarity
from hallumeter.aspects.records.outputs import AspectHint, AspectMapping, DebateTurn, ProposedEdit
from hallumeter.aspects.sentiment_words import repaired_polarity

from .draft import ReadSentence
from .terms import SqueezedText, holds_term, term_key

# Which aspect of a sentence is meant by the words of a debate.

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


PATCH, FINAL_PATCH = "patch", "final_patch"
"""How those speak who propose edits."""
_EDIT, _CONFIRMED_AT_THE_END, _DROP = 0.5, 0.8, 0.8
_SIDES: dict[str, Polarity] = {"pro": "positive", "con": "negative"}
_LONGEST_STANCE, _HINTS_REMEMBERED = 40, 256
_ON_A_SIDE, _NEUTRAL, _ELSEWHERE = 1.0, 0.6, 0.8


class Expectation(Struct, frozen=True):
    """What an edit or a stance lets expect."""

    weight: float = 0.0
    polarity: Polarity | None = None
    is_drop: bool = False
    """Whether a tuple is to go: that says nothing about its polarity."""


def expectation_of_edit(edit: ProposedEdit, *, is_last_word: bool = False) -> Expectation:
    """What one edit lets expect; in the patch that ends a debate a confirmation weighs more.

    >>> expectation_of_edit(ProposedEdit("set_polarity", value="pos"))
    Expectation(weight=0.5, polarity='positive', is_drop=False)
    """
    op = edit.op.strip().lower()
    if op == "drop_tuple":
        return Expectation(_DROP, None, is_drop=True)
    if op == "set_aspect_ref":
        return Expectation()
    said = repaired_polarity(edit.value).value
    of_target = repaired_polarity(edit.target.polarity).value
    if op == "confirm_tuple":
        weight = _CONFIRMED_AT_THE_END if is_last_word else _EDIT
        return Expectation(weight if of_target is not None else 0.0, of_target)
    polarity = said if op == "set_polarity" else said or of_target
    return Expectation(_EDIT if polarity is not None else 0.0, polarity)


def expectation_of_stance(stance: str | None) -> Expectation:
    """What the side of a speaker lets expect; without a side nothing.

    >>> expectation_of_stance("Con"), expectation_of_stance("")
    (Expectation(weight=1.0, polarity='negative', is_drop=False), Expectation(weight=0.0, polarity=None, is_drop=False))
    """
    side = (stance or "").strip().lower()
    if not side:
        return Expectation()
    if side in _SIDES:
        return Expectation(_ON_A_SIDE, _SIDES[side])
    return Expectation(_NEUTRAL if side == "neutral" else _ELSEWHERE, "neutral")


def expectation_of_turn(turn: DebateTurn, of_edits: Sequence[Expectation]) -> Expectation:
    """What a whole turn lets expect, by its edits or else by its stance: where edits disagree, no polarity."""
    if not of_edits:
        return expectation_of_stance(turn.stance)
    polarities = dict.fromkeys(one.polarity for one in of_edits if one.polarity is not None)
    return Expectation(
        max(one.weight for one in of_edits),
        next(iter(polarities)) if len(polarities) == 1 else None,
        is_drop=all(one.is_drop for one in of_edits),
    )


def words_of_turn(turn: DebateTurn) -> str:
    """The words in which a turn may name aspects."""
    if not turn.proposed_edits:
        return " ".join(filter(None, [turn.message, *turn.key_points]))
    return " ".join(words for edit in turn.proposed_edits for words in words_of_edit(edit))


def words_of_edit(edit: ProposedEdit) -> Iterable[str]:
    """The words in which an edit may name aspects."""
    value = edit.value if repaired_polarity(edit.value).value is None else None
    return filter(None, [edit.target.aspect_term, edit.target.aspect_ref, value])


@lru_cache(maxsize=_HINTS_REMEMBERED)
def source_of(speaker: str, stance: str) -> str | None:
    """Who said something, and how; None when nothing is known of how.

    >>> source_of("epm", "patch"), source_of("tan", "")
    ('source:epm/patch', None)
    """
    plain = " ".join(stance.split())[:_LONGEST_STANCE]
    return f"source:{speaker}/{plain}" if plain else None


def sources_of(hints: Iterable[AspectHint]) -> str | None:
    """All that gave hints, each once, in their order; None without any."""
    sources = dict.fromkeys(source_of(hint.speaker, hint.stance) for hint in hints)
    return "; ".join(source for source in sources if source) or None
