"""Nouns that are written together: where they end, and which of them belong to one compound."""

from __future__ import annotations

from collections.abc import Sequence

from .analyser import Morpheme, is_glued
from .units import Nominal
from .vocabulary import Vocabulary

NOUN_TAGS = frozenset({"NNG", "NNP", "NNB", "NR", "NP", "SL", "SH", "SN", "XPN", "XR"})
_GOES_ON = NOUN_TAGS - {"NP"} | {"XSN"}
_NUMBER_TAGS = frozenset({"SN", "NR"})
_NO_THINGS = frozenset({"NP", "SN", "NR", "NNB"})


def run_end(morphemes: Sequence[Morpheme], first: int) -> int:
    """Where the nouns end that begin at a place and are written together."""
    end = first + 1
    if morphemes[first].tag == "NP":
        return end
    while end < len(morphemes) and morphemes[end].tag in _GOES_ON and is_glued(morphemes[end - 1], morphemes[end]):
        end += 1
    return end


def nominals_of_run(run: Sequence[Morpheme], words: Vocabulary) -> list[Nominal]:
    """The noun phrases of nouns that are written together; the place of each is not known yet.

    A noun that says how something is stands by itself, as in 가성비최고; so does a number with what it counts.
    """
    nominals: list[Nominal] = []
    before = ""
    for noun in _fused(run, words):
        nominal = _nominal(noun, words, is_counted=before in _NUMBER_TAGS and noun.tag != "SL")
        previous = nominals[-1] if nominals else None
        if previous is not None and noun.tag == "XSN":
            _extend(previous, noun.end, (*previous.nouns[:-1], previous.head + noun.form))
            previous.weight = words.noun_weight(previous.head) or previous.weight
        elif previous is not None and _goes_with(previous, nominal, before):
            _extend(previous, noun.end, previous.nouns + nominal.nouns)
            previous.weight = nominal.weight
            previous.is_thing = nominal.is_thing
            previous.can_join = nominal.can_join
        else:
            nominals.append(nominal)
        before = noun.tag
    return nominals


def _extend(nominal: Nominal, end: int, nouns: tuple[str, ...]) -> None:
    nominal.end = end
    nominal.nouns = nouns


def _goes_with(previous: Nominal, nominal: Nominal, tag_before: str) -> bool:
    """Whether two parts of a run are one compound: nouns, or a number with the Latin letters behind it."""
    if tag_before in _NUMBER_TAGS:
        return True
    return previous.can_join and nominal.can_join


def _fused(run: Sequence[Morpheme], words: Vocabulary) -> list[Morpheme]:
    """The nouns of a run: without a final plural, with prefixes and suffixes that make another word of them."""
    nouns = list(run)
    while len(nouns) > 1 and f"{nouns[-1].form}/{nouns[-1].tag}" in words.grammar.silent_suffixes:
        nouns.pop()
    place = 0
    while place + 1 < len(nouns):
        first, second = nouns[place], nouns[place + 1]
        form = first.form + second.form
        if first.tag == "XPN" or (second.tag == "XSN" and words.noun_weight(form)):
            tag = "NNG" if second.tag == "XSN" else second.tag
            nouns[place : place + 2] = [Morpheme(form, tag, first.start, second.end)]
        else:
            place += 1
    return nouns


def _nominal(noun: Morpheme, words: Vocabulary, *, is_counted: bool) -> Nominal:
    weight = words.noun_weight(noun.form)
    is_thing = noun.tag not in _NO_THINGS and noun.form not in words.grammar.light_nouns and not is_counted
    says_how = weight != 0.0 and noun.form not in words.aspects
    can_join = is_thing and not says_how and noun.form not in words.grammar.breaking_nouns
    return Nominal(noun.start, noun.end, (noun.form,), weight=weight, can_join=can_join, is_thing=is_thing)
