"""Where a term ends when the particles behind it are left out, by morphology."""

from __future__ import annotations

from bisect import bisect_left

from .analyser import Morpheme
from .sentence import Sentence


def end_without_particles(sentence: Sentence, start: int, end: int) -> int:
    """The end of the noun at a place; the end itself when no particle stands there.

    The copula counts as a particle, with its endings. A particle that shares a syllable with its noun stays.
    """
    morphemes = sentence.morphemes
    place = bisect_left(morphemes, end, key=lambda morpheme: morpheme.start) - 1
    first = place
    while first > 0 and _can_be_cut(morphemes[first], start):
        first -= 1
    follows_noun = 0 <= first < place and morphemes[first].end <= morphemes[first + 1].start
    return morphemes[first + 1].start if follows_noun and _is_noun(morphemes[first]) else end


def _can_be_cut(morpheme: Morpheme, start: int) -> bool:
    return (morpheme.tag[0] in "EJ" or morpheme.tag == "VCP") and morpheme.start > start


def _is_noun(morpheme: Morpheme) -> bool:
    return morpheme.tag[0] in "NSWX" or morpheme.tag in {"UN", "MAG"}
