"""The words of a human language that the package knows, read from one data file per language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from msgspec import Struct, convert
from msgspec.json import Decoder

from hallumeter.errors import SettingsError

from .lexicon_tables import DateWords, MatchingWords, MutationWords, NameWords, QuantityWords

LANGUAGES = ("en", "fr", "ko")


class Abbreviations(Struct, frozen=True, forbid_unknown_fields=True):
    """Words whose period does not end a sentence; each is one word, written with its period."""

    never_last: tuple[str, ...]
    """Titles and the like: the sentence goes on, whatever follows. Case counts."""
    before_number: tuple[str, ...]
    """The sentence goes on when a number follows."""
    may_be_last: tuple[str, ...] = ()
    """They look like initials before a name, but may well end a sentence."""


class AbstentionWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What refusals are made of, and what only looks like one; `extractors.abstention` says how they are used.

    In every phrase `{name}` stands for each of the words of a set, and a `*` at an end lets a word go on.
    """

    cues: dict[str, tuple[str, ...]]
    """Phrases that refuse, by family; those of `no_such_thing` and `fictional` deny that the thing exists.

    `^` or `$`: the first or last words of the clause; ` ... `: any words between, in the same clause; a final
    `<Name>`: a capital or a quote follows.
    """
    blockers: tuple[str, ...]
    """Phrases that have the words of a cue and are no refusal."""
    openers: tuple[str, ...]
    """Courtesies and interjections that may stand before the first words of a clause."""
    frames: tuple[str, ...]
    """First words of a part before a comma that only sets the scene for the cue after it."""
    joiners: tuple[str, ...]
    """Words that join two statements in one clause."""
    preambles: tuple[str, ...]
    """Words of a clause that greets, apologises or repeats the request."""
    offers: tuple[str, ...]
    """Words of a clause that, after a refusal, offers help, asks back or sends the reader elsewhere."""
    denials: tuple[str, ...]
    """Words of a clause that, after a refusal, turns against the sources and not against the refusal."""
    explanations: tuple[str, ...]
    """Words of a clause that, after a refusal, says why, or what the sources hold instead."""
    assertions: tuple[str, ...]
    """Words that make a clause an answer, whatever else it has."""
    contrasts: tuple[str, ...]
    """Words that begin a clause which turns against what stood before."""
    contrast_endings: tuple[str, ...] = ()
    """Word endings that close a clause against which the next one turns."""
    frame_endings: tuple[str, ...] = ()
    """Last words of such a part."""
    concessions: tuple[str, ...] = ()
    """First words of a sentence whose first clause gives way to the next."""


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
    """Words that stand for one another in these phrases, besides those of the lexicon."""


class Lexicon(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language."""

    language: str
    """Two letters, ISO 639-1."""
    abbreviations: Abbreviations
    """For the splitter of sentences."""
    abstention: AbstentionWords
    """For the detector of refusals."""
    statements: StatementWords
    """For the extractors of claims."""
    matching: MatchingWords
    """For the comparison of statements."""
    names: NameWords
    quantities: QuantityWords
    dates: DateWords
    mutations: MutationWords
    """For the edits that test judges."""
    sets: dict[str, tuple[str, ...]] = {}
    """Words that stand for one another: `{name}` in a phrase means each of them; an empty one may be absent."""


# msgspec crashes when two threads look at a type for the first time at once; an import is only ever done by one.
Decoder(Lexicon)


@cache
def load_lexicon(language: str) -> Lexicon:
    """Read the words of one language.

    >>> "Dr." in load_lexicon("en").abbreviations.never_last
    True
    """
    if language not in LANGUAGES:
        raise SettingsError(f"there is no lexicon for the language {language!r}; choose from {', '.join(LANGUAGES)}")
    file = resources.files("hallumeter.text").joinpath("lexicons", f"{language}.toml")
    return convert(tomllib.loads(file.read_text(encoding="utf-8")), Lexicon)
