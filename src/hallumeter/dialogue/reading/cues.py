"""The words of a language that tell how something stands in a clinical answer, read from one data file each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import product

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from hallumeter.dialogue.records import MentionScope

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
    reached_before: Words = ()
    """They have the words of a bound, and the number was reached: "went up to 64 kg"."""
    reached_after: Words = ()


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
    general_before: Words = ()


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


class BearingWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Of whom and of what time something is said; `#` stands for a number, `*` for a word or the rest of one.

    Phrases of these and of thresholds have `{name}` for each of the words of a set, as cues have.
    """

    others: Words
    """People who are not the patient."""
    own: Words
    """The patient."""
    past: Words
    recent: Words
    """The past only where the sentence also speaks of the present: "last month 150/92, today 138/84"."""
    present: Words
    lasting: Words
    """With them something that began in the past goes on: "diagnosed ten years ago"."""
    stopped_before: Words
    """Before a drug that the patient no longer takes."""
    stopped_after: Words
    denied_before: Words
    """Directly before a condition that the patient is said not to have, or a drug not to take."""
    denied_after: Words
    """The same directly after it."""


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
    bearing: BearingWords
    particles: Particles = Particles()


@cache
def load_cue_words(language: str) -> CueWords:
    """Read the cues of one language.

    >>> "such as" in load_cue_words("en").cues["example"].before
    True
    """
    file = resources.files("hallumeter.dialogue").joinpath("lexicons", f"cues.{language}.toml")
    words = convert(tomllib.loads(file.read_text(encoding="utf-8")), CueWords)
    bearing, thresholds = (
        {
            name: tuple(wording for phrase in phrases for wording in wordings(phrase, words.sets))
            for name, phrases in asdict(each).items()
        }
        for each in (words.bearing, words.thresholds)
    )
    return replace(words, bearing=BearingWords(**bearing), thresholds=ThresholdWords(**thresholds))


def all_cue_words() -> tuple[CueWords, ...]:
    """The cues of every language, which are looked for together: answers mix them."""
    return tuple(load_cue_words(language) for language in CUE_LANGUAGES)


# What is glued to nouns in Korean: particles, forms of the copula, and a few nouns.

_OBJECT = 24
"""Characters before a verb in which its object is looked for."""
_LONGEST_ENDING = 40
"""Letters of a word that are looked at after a name."""
_CLOSING = r"[)\]}\"'*»」』]*"


class Endings:
    """Tells what may follow a noun, and which part the noun plays by what follows it."""

    def __init__(self, particles: Sequence[Particles]) -> None:
        every = [word for each in particles for word in each.any]
        glued = {
            "medication": [word for each in particles for word in each.medication],
            "condition": [word for each in particles for word in each.condition],
            "measurement": [word for each in particles for word in each.measurement],
            "sex": [word for each in particles for word in each.sex],
        }
        self._following = {kind: _chain(nouns, every) for kind, nouns in glued.items()}
        self._following[""] = _chain((), every)
        self._ends_word = lru_cache(maxsize=8192)(self._is_ending)
        oblique = [word for each in particles for word in each.oblique]
        heads = [word for each in particles for word in each.heads]
        topics = [word for each in particles for word in each.topic]
        arguments = [word for each in particles for word in each.arguments]
        self._oblique = re.compile(rf"{_CLOSING}(?:{_choice(oblique)})(?![가-힣])")
        self._head = re.compile(rf"{_CLOSING}(?:의)?\s?(?:{_choice(heads)})")
        self._topic = re.compile(rf"{_CLOSING}(?:{_choice(topics)})(?![가-힣])")
        denied = [word for each in particles for word in each.denied]
        self._argument = re.compile(rf"[가-힣)](?:{_choice(arguments)})\s")
        self._own_object = re.compile(rf"\s(?!\S*(?:{_choice(denied)})[을를]\s)\S*[을를]\s(?:\S{{1,3}}\s)?\S{{1,6}}\Z")
        self._other = re.compile(
            rf"\s(?!\S*(?:{_choice(denied)})(?:{_choice(arguments)})\s)\S*[가-힣)](?:{_choice(arguments)})\s"
        )

    def may_follow(self, lower: str, end: int, kind: str) -> bool:
        """Whether a name may end here, before a letter or digit."""
        following = lower[end]
        if "가" <= following <= "힣":
            return self._ends_word(kind, lower[end : end + _LONGEST_ENDING].split(" ", 1)[0])
        if following.isdigit():
            return kind == "measurement" and not lower[end - 1].isdigit() and lower[end - 2 : end - 1].isalnum()
        if following != "s" or not lower[end - 1].isascii():
            return False
        after = lower[end + 1 : end + 2]
        return not after.isalnum() or ("가" <= after <= "힣" and self.may_follow(lower, end + 1, ""))

    def _is_ending(self, kind: str, ending: str) -> bool:
        """Whether these letters may follow a name; few are met, so that they are kept."""
        return self._following.get(kind, self._following[""]).match(ending) is not None

    def is_oblique(self, lower: str, end: int) -> bool:
        """Whether a noun that ends here is no object: with a particle of place or cause, or before another noun."""
        return self._oblique.match(lower, end) is not None or self._head.match(lower, end) is not None

    def is_topic(self, lower: str, end: int) -> bool:
        """Whether a noun that ends here may be the object of a verb in the next clause."""
        return self._topic.match(lower, end) is not None

    def has_argument(self, lower: str, start: int, end: int) -> bool:
        """Whether a verb that begins at the end has an object of its own from the start on."""
        return self._argument.search(lower, start, end) is not None

    def has_own_object(self, lower: str, start: int, end: int) -> bool:
        """Whether a verb that goes on at the end has its object right before it: 혈당을 올리지 않습니다."""
        return self._own_object.search(lower, max(start, end - _OBJECT), end) is not None

    def has_other(self, lower: str, start: int, end: int) -> bool:
        """Whether a word that begins at the end has another object than what stands before the start."""
        return self._other.search(lower, start, end) is not None


def _chain(nouns: Iterable[str], particles: Iterable[str]) -> re.Pattern[str]:
    """Perhaps a noun, then particles up to the end of the word."""
    first = f"(?:{_choice(nouns)})?" if nouns else ""
    return re.compile(rf"{first}(?:{_choice(particles)}){{0,4}}(?![가-힣])")


def _choice(words: Iterable[str]) -> str:
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return (
        "|".join(re.escape(word.rstrip("*")) + ("[가-힣]{0,8}" if word.endswith("*") else "") for word in ordered)
        or "(?!)"
    )


# What a cue does: which scopes it gives, in which direction and how far, and whose reach it ends.

NEGATED, AVOIDED, FAMILY, EXAMPLE, CONDITIONAL, POSSIBLE, GENERAL, GOAL, ADVISED, FACT, MENTIONED, PAST = range(12)
"""Scopes in the order in which the first that fits is taken; two kinds of the hypothetical and of the general.

The past is looked for at the end, in what seems to be a fact.
"""
SCOPE_NAMES: tuple[MentionScope, ...] = (
    *("negated", "avoided", "family", "example", "hypothetical", "hypothetical", "general", "general", "advised"),
    *("asserted", "mentioned", "past"),
)  # fmt: skip
_BY_KEY = {
    "negated": NEGATED, "avoided": AVOIDED, "family": FAMILY, "example": EXAMPLE, "hypothetical": CONDITIONAL,
    "possible": POSSIBLE, "general": GENERAL, "goal": GOAL, "advised": ADVISED, "fact": FACT,
}  # fmt: skip
PHRASE, CLAUSE, SENTENCE, NEVER = 1, 2, 3, 4
"""What ends the reach of a cue: a stop of this strength or more."""


class Reach(Struct, frozen=True, gc=False):
    """One direction in which a cue works."""

    scope: int
    level: int
    is_near: bool = False
    """Whether it works only on what stands beside it, and on the list that begins there."""


class Role(Struct, frozen=True, gc=False):
    """All that a phrase does."""

    ahead: tuple[Reach, ...] = ()
    back: tuple[Reach, ...] = ()
    stop: int = 0
    """How strong a stop it is to other cues."""
    is_finite: bool = False
    """Whether words after a comma are a clause with it."""
    is_verb: bool = False
    """Whether cues after it do not reach what stands before it."""
    is_opener: bool = False
    is_relative: bool = False
    is_predicate: bool = False
    is_third_person: bool = False
    is_possessive: bool = False
    is_fact: bool = False
    is_inner: bool = False
    is_label: bool = False
    is_subject: bool = False
    is_modal: bool = False
    is_family: bool = False
    is_condition: bool = False
    denies: bool = False
    avoids: bool = False
    is_special: bool = False
    """Whether it has to be looked at before it is used."""
    is_noted: bool = False
    """Whether it says something of the sentence besides what it does to its neighbours."""
    gives_scope: bool = False
    works_ahead: bool = False
    """Whether it matters to what follows it at all."""
    works_back: bool = False
    """Whether it does more to what stands before it than to be a verb."""


_REACHES: dict[str, tuple[int, int, bool]] = {
    "next": (CLAUSE, 0, True),
    "before": (PHRASE, 0, False),
    "clause_before": (CLAUSE, 0, False),
    "marks": (CLAUSE, 0, False),
    "sentence_before": (SENTENCE, 0, False),
    "last": (0, PHRASE, True),
    "after": (0, CLAUSE, False),
    "sentence_after": (0, NEVER, False),
    "clause": (CLAUSE, CLAUSE, False),
    "inner": (CLAUSE, CLAUSE, False),
    "sentence": (NEVER, NEVER, False),
    "predicates": (NEVER, NEVER, False),
    "labels": (NEVER, NEVER, False),
}
"""How far the cues of each list reach ahead and back, and whether only to what is near."""


def roles_of(words: CueWords) -> dict[str, Role]:
    """Every phrase of a language's cues, with stars, by what it does."""
    roles: dict[str, Role] = {}
    for phrase, role in _roles(words):
        for written in wordings(phrase, words.sets):
            roles[written] = _joined(roles[written], role) if written in roles else role
    facts = {phrase for phrase in words.cues["fact"].sentence if " " not in phrase and "*" not in phrase}
    return {phrase: _finished(role, is_fact=not facts.isdisjoint(phrase.split())) for phrase, role in roles.items()}


def _finished(role: Role, *, is_fact: bool) -> Role:
    """A role with what follows from the rest of it; a longer cue keeps its words' facts, as in "are not for you"."""
    if role == Role():
        return role
    is_fact = is_fact or role.is_fact
    noted = (is_fact, role.is_family, role.is_third_person, role.is_subject, role.is_modal, role.is_condition)
    is_special = role.denies or role.avoids or role.is_label or role.is_inner or role.is_relative
    return replace(
        role,
        is_fact=is_fact,
        is_noted=any(noted),
        is_special=is_special,
        gives_scope=bool(role.ahead or role.back or role.is_third_person or role.is_inner),
        works_back=role.stop > 0 or bool(role.back) or role.is_predicate or role.is_condition,
        works_ahead=role.stop > 0 or role.is_opener or any(noted) or bool(role.ahead) or role.denies or role.avoids,
    )


def wordings(phrase: str, sets: dict[str, Words]) -> Iterator[str]:
    """A phrase with every choice of the words of its sets.

    >>> list(wordings("{be} fine", {"be": ("is", "are")}))
    ['is fine', 'are fine']
    """
    parts = [part for piece in phrase.split("{") for part in piece.split("}")]
    choices: list[Iterable[str]] = [sets[part] if index % 2 else (part,) for index, part in enumerate(parts)]
    yield from map("".join, product(*choices))


def _roles(words: CueWords) -> Iterator[tuple[str, Role]]:
    plain, stops = words.words, words.stops
    lists = (
        (plain.neutral, Role()),
        (plain.verbs, Role(is_finite=True, is_verb=True)),
        (plain.openers, Role(is_finite=True, is_verb=True, is_opener=True)),
        (plain.third_persons, Role(is_finite=True, is_verb=True, is_third_person=True)),
        (plain.subjects, Role(is_finite=True, is_verb=True, is_subject=True)),
        (plain.modals, Role(is_finite=True, is_verb=True, is_modal=True)),
        (plain.possessives, Role(is_possessive=True)),
        (stops.phrase, Role(stop=PHRASE)),
        (stops.clause, Role(stop=CLAUSE)),
        (stops.sentence, Role(stop=SENTENCE)),
        (stops.relative, Role(stop=CLAUSE, is_relative=True)),
    )
    for phrases, role in lists:
        yield from ((phrase, role) for phrase in phrases)
    for key, effects in words.cues.items():
        yield from _cue_roles(_BY_KEY[key], effects)


def _cue_roles(scope: int, effects: Effects) -> Iterator[tuple[str, Role]]:
    for list_name, (ahead, back, is_near) in _REACHES.items():
        is_fact = scope == FACT and not is_near  # said of the whole sentence
        is_verb = (scope in {AVOIDED, ADVISED} and ahead > 0) or (scope == POSSIBLE and list_name == "clause")
        role = Role(
            ahead=(Reach(scope, ahead, is_near),) if ahead and not is_fact else (),
            back=(Reach(scope, back, is_near),) if back and not is_fact else (),
            stop=CLAUSE if scope == CONDITIONAL else 0,
            is_finite=is_verb or list_name in {"after", "sentence_after"},
            is_verb=is_verb,
            is_predicate=list_name == "predicates",
            is_fact=is_fact,
            is_inner=list_name == "inner",
            is_label=list_name == "labels",
            is_family=scope == FAMILY,
            is_condition=scope == CONDITIONAL,
            denies=scope == NEGATED,
            avoids=scope == AVOIDED,
        )
        yield from ((phrase, role) for phrase in getattr(effects, list_name))


def _joined(one: Role, other: Role) -> Role:
    flags = {
        name: getattr(one, name) or getattr(other, name) for name in Role.__struct_fields__ if name not in _NOT_FLAGS
    }
    return Role(one.ahead + other.ahead, one.back + other.back, max(one.stop, other.stop), **flags)


_NOT_FLAGS = frozenset({"ahead", "back", "stop"})
