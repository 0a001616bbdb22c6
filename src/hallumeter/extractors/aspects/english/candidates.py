"""Words that may be aspects where the network marks none."""

from __future__ import annotations

from collections.abc import Sequence

from .wording import Wording

UNMARKED = 0.2
"""The confidence of a word that no network marked."""
_SHORTEST = 3


def is_noun_like(word: str, known: Wording) -> bool:
    """Whether a word can name an aspect, as far as can be told without a grammar.

    >>> from hallumeter.extractors.aspects.english.wording import wording
    >>> [is_noun_like(word, wording()) for word in ("battery", "bed", "the", "quickly", "awful", "didn't", "10")]
    [True, True, False, False, False, False, False]
    """
    return (
        len(word) >= _SHORTEST
        and word.isalpha()
        and (word in known.aspect_nouns or not word.endswith(("ly", "ed")))
        and word not in known.stop_words
        and word not in known.weights
        and word not in known.factors
        and word not in known.negations
        and word not in known.linking
        and word not in known.prepositions
    )


def noun_phrases(words: Sequence[str], known: Wording) -> list[tuple[int, int]]:
    """Runs of words that can name an aspect and stand behind a determiner or a feeling, or before a linking verb.

    >>> from hallumeter.extractors.aspects.english.wording import wording
    >>> noun_phrases(("the", "battery", "life", "is", "awful"), wording())
    [(1, 3)]
    """
    found = []
    first = 0
    while first < len(words):
        last = first
        while last < len(words) and is_noun_like(words[last], known):
            last += 1
        if last > first and _is_framed(words, (first, last), known):
            found.append((max(first, last - 3), last))
        first = max(last, first) + 1
    return found


def _is_framed(words: Sequence[str], run: tuple[int, int], known: Wording) -> bool:
    first, last = run
    before = words[first - 1] if first else ""
    after = words[last] if last < len(words) else ""
    return before in known.determiners or before in known.weights or after in known.linking


def head_of(words: Sequence[str], known: Wording) -> int:
    """Which word of a term carries it: the last before a preposition.

    >>> from hallumeter.extractors.aspects.english.wording import wording
    >>> head_of(("glass", "of", "red", "wine"), wording()), head_of(("wine", "list"), wording())
    (0, 1)
    """
    for index, word in enumerate(words):
        if index and word in known.prepositions:
            return index - 1
    return len(words) - 1
