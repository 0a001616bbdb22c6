"""The tables of a lexicon that say how quantities, dates, names and opposites are worded."""

from __future__ import annotations

from msgspec import Struct


class MatchingWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What does not count when the words of two texts are compared, and what turns a statement round."""

    stop_words: tuple[str, ...]
    """Words that say nothing on their own."""
    discourse: tuple[str, ...]
    """Words with which an answer speaks of itself and of its sources."""
    endings: tuple[str, ...]
    """Ends of words that are taken off before words are compared; particles in Korean."""
    opposites: tuple[tuple[str, str], ...]
    """Words of which one denies what the other says, in the form in which they are written."""
    contrasts: tuple[tuple[str, str], ...]
    """Words of which one says more or less than the other without denying it."""
    negations: tuple[str, ...]
    """Words that deny."""
    negation_parts: tuple[str, ...]
    """Parts of words that deny."""
    not_negating: tuple[str, ...]
    """Phrases that have such a word and deny nothing."""
    hidden_negations: tuple[str, ...]
    """Words that deny in their meaning, so that polarity cannot be told by the other words alone."""
    attributions: tuple[str, ...]
    """Words that say that somebody else's words follow or went before."""


class NameWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands beside names, and what only looks like one."""

    titles: tuple[str, ...]
    """Words before a person's name."""
    title_endings: tuple[str, ...]
    """Words after a person's name, as in Korean."""
    not_names: tuple[str, ...]
    """Words that look like names and name nobody."""
    surnames: tuple[str, ...] = ()
    """Family names, where they come first and capitals do not tell them."""


class QuantityWords(Struct, frozen=True, forbid_unknown_fields=True):
    """How numbers and their units are worded."""

    joiners: tuple[str, ...]
    """Words inside a number, as in "two hundred and five"."""
    about: tuple[str, ...]
    """Phrases before a number that make it approximate."""
    at_least: tuple[str, ...]
    at_most: tuple[str, ...]
    about_after: tuple[str, ...]
    """The same after the number."""
    at_least_after: tuple[str, ...]
    at_most_after: tuple[str, ...]
    range_words: tuple[str, ...]
    """Words between the two ends of a range."""
    between: tuple[str, ...]
    """Words before two numbers joined by "and" that make them a range."""
    percent: tuple[str, ...]
    counters: tuple[str, ...]
    """Words that follow a number and say what is counted, as in Korean."""
    labels: tuple[str, ...]
    """Words before a number that only tells which one is meant: a step, a passage, a figure."""
    own_counts: tuple[str, ...]
    """Words after a number with which an answer counts its own text."""
    numbers: dict[str, float]
    scales: dict[str, float]
    """Words that multiply what stands before them."""
    ordinals: dict[str, float]
    units: dict[str, tuple[str, ...]]
    """Words of a unit by its symbol in `quantities.UNITS`."""
    currencies: dict[str, tuple[str, ...]]
    """Words of a currency by its ISO 4217 code; with `/100` for its hundredth."""


class DateWords(Struct, frozen=True, forbid_unknown_fields=True):
    """How dates are worded."""

    before_year: tuple[str, ...]
    """Words after which a bare number such as 1998 is a year."""
    century: tuple[str, ...]
    decade_endings: tuple[str, ...]
    """What follows the number of a decade."""
    months: tuple[tuple[str, ...], ...]
    """Names from January on; none where months are numbered."""
    weekdays: tuple[tuple[str, ...], ...]
    """Names from Monday on."""


class MutationWords(Struct, frozen=True, forbid_unknown_fields=True):
    """How statements are made wrong, or worded otherwise; `mutations` says how each is used."""

    flips: tuple[tuple[str, str], ...]
    """Phrases that compare or order, of which each turns the other round."""
    not_flipped: tuple[str, ...]
    """Phrases that have such words and are left alone."""
    unit_groups: tuple[tuple[str, ...], ...]
    """Units, currencies and scale words in one form: each of a group can be written in the place of any other."""
    negate: tuple[tuple[str, str], ...]
    """What is said and how it is denied: verbs, and in Korean the ends of sentences, with `{이}` for 이 or 가."""
    affirm: tuple[tuple[str, str], ...]
    """What is denied and how it is said."""
    not_negated: tuple[str, ...]
    """Words beside which a negation changes no fact, or would be bad grammar."""
    synonyms: tuple[tuple[str, str], ...]
    """Phrases of which the second may always stand for the first."""
    not_reworded: tuple[str, ...]
    """Phrases that have such words and are left alone."""
    contractions: tuple[tuple[str, str], ...]
    framings: tuple[str, ...]
    """What may stand before a statement without saying anything."""
    percent_forms: tuple[tuple[str, str], ...]
    """Ends of a share and how else they are written."""
    additions: dict[str, tuple[str, ...]]
    """What can be added to nearly any statement, by what it adds: before the last period, or a sentence after it."""
    verbs: dict[str, tuple[str, str]]
    """Third person and past tense by infinitive, where a language denies with the infinitive."""
