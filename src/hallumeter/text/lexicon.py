"""The words of a human language that the package knows, read from one data file per topic.

Every topic is optional: a language whose folder has `refusals.toml` alone is known to the detector of refusals, and to
nothing else.
"""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from importlib import resources
from typing import Literal, TypeVar

from msgspec import Struct, convert
from msgspec.json import Decoder

from hallumeter.errors import SettingsError

# The tables of a lexicon that say how quantities, dates, names and opposites are worded.


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


class ContradictionWords(Struct, frozen=True, forbid_unknown_fields=True):
    """By what words a claim can say the contrary of its evidence, or more than it."""

    directions: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Two groups of words: each of one group says the contrary of each of the other."""
    converses: tuple[str, ...]
    """Words whose opposite says the same when both sides change places: "before", "sold", "older"."""
    plans: tuple[str, ...]
    """Phrases before a verb that say it is to come: "plans to", "will"."""
    possibilities: tuple[str, ...]
    """Words before a verb that say it may be so."""
    hedges: tuple[str, ...]
    """Words that make a statement somebody's opinion, condition or wish; beside them nothing is taken as certain."""
    symmetric: tuple[str, ...]
    """Verbs that say the same of both sides: "met", "married"."""
    verbs: dict[str, tuple[str, ...]]
    """Past tense and participle by infinitive, where they are no regular forms."""


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
    derivations: tuple[str, ...]
    """Words beside a number that was reckoned from others: "total", "difference"."""
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


class Abbreviations(Struct, frozen=True, forbid_unknown_fields=True):
    """Words whose period does not end a sentence; each is one word, written with its period."""

    never_last: tuple[str, ...]
    """Titles and the like: the sentence goes on, whatever follows. Case counts."""
    before_number: tuple[str, ...]
    """The sentence goes on when a number follows."""
    may_be_last: tuple[str, ...] = ()
    """They look like initials before a name, but may well end a sentence."""
    seldom_last: tuple[str, ...] = ()
    """They end a sentence, as initials do, only before one of `first_words`. Capitals count where there are some."""
    first_words: tuple[str, ...] = ()
    """Small words that begin sentences and no names."""


class RefusalWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What refusals are made of, and what only looks like one; `text.abstention` says how they are used.

    In every phrase `{name}` stands for each of the words of a set, and a `*` at an end lets a word go on. In Korean
    `{name+ㄹ}` stands for each stem with the ending, and `{name+이/가}` for each noun with its particle.
    """

    cues: dict[str, tuple[str, ...]]
    """Phrases that refuse, by family; those of `fictional` deny that the thing exists.

    `^` or `$`: the first or last words of the clause; ` ... `: any words between, in the same clause; a final
    `<Name>`: a capital or a quote follows.
    """
    blockers: tuple[str, ...] = ()
    """Phrases that have the words of a cue and are no refusal."""
    openers: tuple[str, ...] = ()
    """Courtesies and interjections that may stand before the first words of a clause."""
    conditions: tuple[str, ...] = ()
    """Words after which something is supposed or told by another, up to the next comma: "if", "the clerk said that"."""
    cancels: tuple[str, ...] = ()
    """What right after a cue makes it supposed or somebody else's, as Korean endings do: "면", "다고 말했"."""
    speakers: tuple[str, ...] = ()
    """First words of a cue that speaks of the writer, and is meant even after such a word."""
    works: tuple[str, ...] = ()
    """Words for what is told about: something called fictional beside one of them is described, not denied."""
    contrasts: tuple[str, ...] = ()
    """Words that begin a clause which turns against what stood before."""
    contrast_endings: tuple[str, ...] = ()
    """Word endings that close a clause against which the next one turns."""
    bound_words: tuple[str, ...] = ()
    """First letters of a word that goes together with such an ending before it, so that no clause ends there."""
    concessions: tuple[str, ...] = ()
    """First words of a sentence whose first clause gives way to the next."""
    sets: dict[str, tuple[str, ...]] = {}
    """Words that stand for one another: `{name}` in a phrase means each of them; an empty one may be absent."""


class RemarkWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What engines write about a page instead of from it; `transcripts.remarks` says how the words are used.

    All are whole words or phrases, in lower case; in Korean, particles and endings may follow.
    """

    reading: tuple[str, ...]
    """What was asked of the engine: to read, transcribe, help."""
    page: tuple[str, ...]
    """What it was asked about: the image, the page, its writing."""
    poor: tuple[str, ...]
    """What is wrong with the image."""
    better: tuple[str, ...]
    """What image the engine asks for instead."""
    apologies: tuple[str, ...]
    openers: tuple[str, ...]
    """What announces a transcription, together with one of `transcripts`."""
    assents: tuple[str, ...]
    """First words of an answer to a request: "Certainly"."""
    transcripts: tuple[str, ...]
    """What a transcription is called."""
    titles: tuple[str, ...]
    """What a heading calls it that stands before it."""
    closers: tuple[str, ...]
    """What follows a transcription: offers, and assurances of how it was made."""
    describes: tuple[str, ...]
    """Verbs of a sentence that says what an image shows."""
    notices: tuple[str, ...]
    """First words of a remark on the transcription."""
    notes: tuple[str, ...]
    """Words of an editorial note, such as "illegible"."""
    pictures: tuple[str, ...]
    """What is on a page and is no text: a seal, a portrait."""
    parts: tuple[str, ...]
    """Words that name a part of a page: "left column"."""
    fillers: tuple[str, ...]
    """Small words that may stand among those of a note."""


class ClauseWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Where sentences are cut into clauses; `extractors.clause_cuts` says how."""

    joiners: tuple[str, ...]
    """Words such as "and": a clause begins after them when a subject or a finite verb follows."""
    contrasts: tuple[str, ...]
    """Words such as "while": after a comma a clause begins with them."""
    relatives: tuple[str, ...]
    """Words such as "which": after a comma they begin a clause of which they are the subject."""
    subordinators: tuple[str, ...]
    """First words of a sentence whose first clause, up to a comma, hangs on the next one."""
    subjects: tuple[str, ...]
    """Words that can only be the subject of a clause when they follow a joiner."""
    verbs: tuple[str, ...]
    """Finite verbs: a part without any is no clause."""
    endings: tuple[str, ...] = ()
    """Last letters of a word that ends a clause, where a language joins clauses by endings."""
    false_endings: tuple[str, ...] = ()
    """Last letters that look like such an ending and are none."""
    bound_words: tuple[str, ...] = ()
    """First letters of a word that goes together with the ending before it."""
    statement_endings: tuple[str, ...] = ()
    """Last letters of a finite verb, where a language has endings for it."""


class StatementWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What sentences are made of that state nothing; `extractors.assertions` says how they are used.

    In every phrase `{name}` stands for each of the words of a set, and a `*` at an end lets a word go on. `^` or
    `$`: the first or last words of the sentence, courtesies not counted.
    """

    fillers: tuple[str, ...]
    """Courtesies and discourse markers; a sentence of nothing else states nothing."""
    offers: tuple[str, ...]
    """Words of a sentence about the talk itself: wishes, offers, promises to the reader."""
    speaker: tuple[str, ...]
    """Words of a sentence about what the speaker is or is sure of."""
    announcements: tuple[str, ...]
    """Words of a sentence that only announces what follows; without `^` or `$`, of one that ends with a colon."""
    frames: tuple[str, ...]
    """First words of a part before a comma that only names the sources."""
    open_endings: tuple[str, ...]
    """Last words before a colon that leave the sentence open: "include", "such as"."""
    inability: tuple[str, ...]
    """Words of a cue of refusal that speak of the speaker; a cue without any says what the sources lack."""
    clauses: ClauseWords
    """For the cutting of sentences."""
    sets: dict[str, tuple[str, ...]] = {}
    """Words that stand for one another in these phrases, besides those of the refusals."""


Topic = Literal[
    "abbreviations",
    "contradictions",
    "dates",
    "matching",
    "mutations",
    "names",
    "quantities",
    "refusals",
    "remarks",
    "statements",
]
"""The names of the data files."""
FOLDER = resources.files("hallumeter.text").joinpath("lexicons")
"""`<language>/<topic>.toml`, a language by its two letters of ISO 639-1."""
T = TypeVar("T", bound=Struct)


class Lexicon:
    """The words of one language; a topic is read when it is first asked for."""

    def __init__(self, language: str) -> None:
        self.language = language

    @cached_property
    def abbreviations(self) -> Abbreviations:
        """For the splitter of sentences."""
        return self._read("abbreviations", Abbreviations)

    @cached_property
    def contradictions(self) -> ContradictionWords:
        """For the checks of claims by rule."""
        return self._read("contradictions", ContradictionWords)

    @cached_property
    def dates(self) -> DateWords:
        """For the reader of dates."""
        return self._read("dates", DateWords)

    @cached_property
    def matching(self) -> MatchingWords:
        """For the comparison of statements."""
        return self._read("matching", MatchingWords)

    @cached_property
    def mutations(self) -> MutationWords:
        """For the edits that test judges."""
        return self._read("mutations", MutationWords)

    @cached_property
    def names(self) -> NameWords:
        """For the reader of names."""
        return self._read("names", NameWords)

    @cached_property
    def quantities(self) -> QuantityWords:
        """For the reader of numbers."""
        return self._read("quantities", QuantityWords)

    @cached_property
    def refusals(self) -> RefusalWords:
        """For the detector of refusals."""
        return self._read("refusals", RefusalWords)

    @cached_property
    def remarks(self) -> RemarkWords:
        """For the finder of remarks in transcriptions."""
        return self._read("remarks", RemarkWords)

    @cached_property
    def statements(self) -> StatementWords:
        """For the extractors of claims."""
        return self._read("statements", StatementWords)

    def has(self, topic: Topic) -> bool:
        """Whether the language has words of a topic."""
        return self.language in languages_with(topic)

    def _read(self, topic: Topic, kind: type[T]) -> T:
        if not self.has(topic):
            raise _unknown(self.language, topic)
        file = FOLDER.joinpath(self.language, f"{topic}.toml")
        return convert(tomllib.loads(file.read_text(encoding="utf-8")), kind)


# msgspec crashes when two threads look at a type for the first time at once; an import is only ever done by one.
Decoder(
    tuple[
        Abbreviations,
        ContradictionWords,
        DateWords,
        MatchingWords,
        MutationWords,
        NameWords,
        QuantityWords,
        RefusalWords,
        RemarkWords,
        StatementWords,
    ]
)


@cache
def languages_with(topic: Topic | None = None) -> tuple[str, ...]:
    """The languages that have words of a topic, or of any.

    >>> languages_with("refusals")
    ('de', 'en', 'fr', 'ko')
    """
    folders = sorted((folder for folder in FOLDER.iterdir() if folder.is_dir()), key=lambda folder: folder.name)
    return tuple(each.name for each in folders if topic is None or each.joinpath(f"{topic}.toml").is_file())


@cache
def load_lexicon(language: str) -> Lexicon:
    """The words of one language.

    >>> "Dr." in load_lexicon("en").abbreviations.never_last
    True
    """
    if language not in languages_with():
        raise _unknown(language)
    return Lexicon(language)


@cache
def everyday_words() -> dict[str, frozenset[str]]:
    """Small and everyday words of languages without a lexicon, and of French and German, by the code of the language.

    >>> "semana" in everyday_words()["es"]
    True
    """
    lists = tomllib.loads(FOLDER.joinpath("other_languages.toml").read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in lists.items()}


def lexicons_with(topic: Topic) -> tuple[Lexicon, ...]:
    """The lexicons of all languages that have words of a topic."""
    return tuple(map(load_lexicon, languages_with(topic)))


def _unknown(language: str, topic: Topic | None = None) -> SettingsError:
    missing = "no lexicon" if topic is None else f"no lexicon of {topic}"
    choices = ", ".join(languages_with(topic))
    return SettingsError(f"there is {missing} for the language {language!r}; choose from {choices}")
