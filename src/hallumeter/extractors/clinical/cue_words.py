"""The words of a language that tell how something stands in a clinical answer, read from one data file each."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from msgspec import Struct, convert

CUE_LANGUAGES = ("en", "ko")
Words = tuple[str, ...]


class Effects(Struct, frozen=True, forbid_unknown_fields=True):
    """The cues of one scope, by where that which they speak of stands and how far it may be.

    In every phrase `{name}` stands for each of the words of a set; a `*` at an end lets letters stand there.
    """

    next: Words = ()
    """What follows at once."""
    before: Words = ()
    """What follows, up to a preposition or a new clause."""
    clause_before: Words = ()
    """What follows in the clause."""
    sentence_before: Words = ()
    """What follows in the sentence, up to "but" and the like."""
    last: Words = ()
    """What stands directly before."""
    after: Words = ()
    """What stands before in the clause."""
    sentence_after: Words = ()
    """What stands before in the sentence."""
    clause: Words = ()
    """The whole clause."""
    sentence: Words = ()
    """The whole sentence."""
    inner: Words = ()
    """The whole clause, unless they begin the sentence."""
    predicates: Words = ()
    """The whole sentence; and, being verbs, they end the reach of later cues to what stands before them."""
    marks: Words = ()
    """What follows in the clause; they end with a punctuation mark."""
    labels: Words = ()
    """The whole sentence when a colon follows, or the list under them when they are a heading."""


class Stops(Struct, frozen=True, forbid_unknown_fields=True):
    """Words at which the reach of cues ends."""

    phrase: Words = ()
    """Prepositions."""
    clause: Words = ()
    """A clause begins or ends."""
    sentence: Words = ()
    """The sentence turns."""
    relative: Words = ()
    """Those that begin a clause between commas in the middle of another."""


class PlainWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Words that are no cues themselves."""

    verbs: Words
    """Finite verbs and subjects: words after a comma are a clause when one is among them."""
    openers: Words
    """With them a clause begins after "and"."""
    subjects: Words
    """With them something is told: "you have"."""
    modals: Words
    """With them it is told no longer: "you should"."""
    third_persons: Words
    """They speak of the family once it was named."""
    neutral: Words
    """Phrases that have the words of a cue and are none."""
    possessives: Words = ()
    """What follows them at once belongs to the patient."""
    doing: Words = ()
    """Verbs that a denial reaches over "to": "not safe to eat"."""
    bridges: Words = ()
    """Between a denial and advice to avoid: both are void, as in "do not have to avoid"."""


class ThresholdWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands directly beside a number that was not measured in this patient."""

    before: Words
    after: Words
    change_before: Words
    """The number says by how much something changes."""
    change_after: Words
    range: Words
    """Between the two ends of a range."""
    between: Words
    """Before two numbers that `joined` words make a range."""
    joined: Words
    pair: Words
    """Between the two numbers of a blood pressure."""


class LinkWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What may stand between the name of a measurement and a number without a unit."""

    words: Words
    before_name: Words
    """The same when the number comes first."""


class AgeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What makes a number an age."""

    after: Words
    before: Words
    past_before: Words
    """It is then an age at which something happened, and says nothing of the age today."""
    past_after: Words


class SexWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for the sexes."""

    male: Words
    female: Words
    not_sexes: Words
    """Phrases with such words that say nothing of anybody's sex."""
    general_after: Words = ()
    """With these after it the word speaks of a sex at large."""


class NameWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What the lexicons of names leave open."""

    as_written: Words = ()
    """Names that count only with these capitals, being ordinary words without."""
    not_names: Words = ()
    """Phrases with the words of a name that are something else."""
    measured: dict[str, Words] = {}
    """Verbs and adjectives that stand for a measurement."""


class Particles(Struct, frozen=True, forbid_unknown_fields=True):
    """What is glued to nouns in Korean."""

    any: Words = ()
    medication: Words = ()
    """Nouns that may be glued to a drug, before the particles."""
    condition: Words = ()
    measurement: Words = ()
    sex: Words = ()
    oblique: Words = ()
    """With them a noun is no object of what is denied or advised."""
    topic: Words = ()
    """With them a noun may be the object of a verb in the next clause."""
    arguments: Words = ()
    """With them a noun is the object of its own clause's verb."""
    denied: Words = ()
    """Nouns that are denied in the place of what they are about: "no history of"."""
    heads: Words = ()
    """Nouns before which a name only tells of what kind they are."""


class CueWords(Struct, frozen=True, forbid_unknown_fields=True):
    """All of it for one language."""

    language: str
    sets: dict[str, Words]
    stops: Stops
    words: PlainWords
    cues: dict[str, Effects]
    """By scope; `possible` is the hypothetical without a condition, `goal` the general that is said of values alone."""
    thresholds: ThresholdWords
    links: LinkWords
    ages: AgeWords
    sexes: SexWords
    life_stages: dict[str, Words]
    """By the years that they cover, as in `60-69`."""
    number_words: dict[str, int]
    names: NameWords
    particles: Particles = Particles()


@cache
def load_cue_words(language: str) -> CueWords:
    """Read the cues of one language.

    >>> "such as" in load_cue_words("en").cues["example"].before
    True
    """
    file = resources.files("hallumeter.text").joinpath("lexicons", "clinical", f"cues.{language}.toml")
    return convert(tomllib.loads(file.read_text(encoding="utf-8")), CueWords)


def all_cue_words() -> tuple[CueWords, ...]:
    """The cues of every language, which are looked for together: answers mix them."""
    return tuple(load_cue_words(language) for language in CUE_LANGUAGES)
