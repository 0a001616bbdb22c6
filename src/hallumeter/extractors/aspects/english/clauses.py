"""Where the clauses of a sentence begin, and the words in it that turn, oppose or mock."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import cast

from msgspec import Struct

from hallumeter.extractors.aspects.protocol import CueKind, FoundCue

from .tokens import Tokens
from .wording import Wording

_PAUSES = frozenset(',;:.!?()[]—–…"“”')
_STOPS = frozenset(";.!?…")
_DASHES = frozenset("-—–")


class Clauses(Struct, frozen=True):
    """Which clause each word belongs to; both counts grow with the text."""

    parts: tuple[int, ...]
    """Counted at every pause, word of contrast and joined clause."""
    turns: tuple[int, ...]
    """Counted where a sentence ends or turns against itself."""
    cues: tuple[tuple[int, int, str], ...]
    """First word, one past the last, and kind of each cue."""

    def stretch(self, word: int) -> tuple[int, int]:
        """First and one past the last word of the clause of a word."""
        part = self.parts[word]
        return bisect_left(self.parts, part), bisect_right(self.parts, part)


def clauses_of(tokens: Tokens, known: Wording) -> Clauses:
    """Cut a text into clauses and find its cues."""
    words = tokens.words
    cues = tuple([cue for cue in known.cues.find(words) if cue[2]])
    contrasts = {first for first, _, kind in cues if kind == "contrast"}
    parts, turns = [], []
    part = turn = 0
    for index, word in enumerate(words):
        if index in contrasts:
            part += 1
            turn += 1
        elif not word[0].isalnum():
            part += word in _PAUSES or (word in _DASHES and _stands_apart(tokens, index))
            turn += word in _STOPS
        elif word in known.clause_starts and words[index + 1 : index + 2] and words[index + 1] in known.subjects:
            part += 1
        parts.append(part)
        turns.append(turn)
    return Clauses(tuple(parts), tuple(turns), cues)


def found_cues(tokens: Tokens, clauses: Clauses) -> tuple[FoundCue, ...]:
    """The cues with what they act on: a negation the rest of its clause, the others their whole clause."""
    found = []
    for first, last, kind in clauses.cues:
        from_word, to_word = clauses.stretch(first)
        from_word, to_word = (first if kind == "negation" else from_word), max(to_word, last)
        found.append(
            FoundCue(
                cast("CueKind", kind),
                tokens.starts[first],
                tokens.ends[last - 1],
                tokens.starts[from_word],
                tokens.ends[to_word - 1],
            )
        )
    return tuple(found)


def _stands_apart(tokens: Tokens, index: int) -> bool:
    """Whether a dash is no part of a word: a space or another mark stands beside it."""
    is_free_left = index == 0 or tokens.ends[index - 1] < tokens.starts[index]
    is_free_right = index + 1 == len(tokens) or tokens.ends[index] < tokens.starts[index + 1]
    return is_free_left or is_free_right or not tokens.words[index + 1][0].isalnum()
