"""What a Korean sentence is made of here: noun phrases, predicates, adverbs, and breaks between them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct, field

Role = Literal[
    "topic",
    "subject",
    "focus",
    "object",
    "complement",
    "copula",
    "bare",
    "list",
    "genitive",
    "than",
    "basis",
    "adverbial",
]
"""How a noun phrase stands to its predicate: by its particle, by the copula behind it, or without any (bare)."""
Shape = Literal["final", "joining", "adnominal", "nominal"]
"""How a predicate goes on: it ends a sentence, joins a clause, stands before its noun, or becomes a noun itself."""
NO_PLACE = -1
"""Of a word that is none of the content words."""


class Tie(NamedTuple):
    """Words that say something about a noun phrase."""

    value: float
    """How favourable they are, from -1.5 to 1.5."""
    weight: float
    """How closely they belong to it."""
    start: int
    end: int


class Predicate(Struct, eq=False):
    """A verb, an adjective, or a noun that says how something is, with its auxiliaries and endings."""

    start: int
    end: int
    lemma: str
    """In dictionary form."""
    place: int
    """Of its stem among the content words of the text."""
    last_place: int
    """Of its last auxiliary that counts as a content word."""
    weight: float = 0.0
    """Of the word by itself."""
    is_adjective: bool = False
    negations: int = 0
    ending: str = ""
    shape: Shape = "final"
    is_future: bool = False
    is_honorific: bool = False
    is_wish: bool = False
    is_needed: bool = False
    """Whether it says what ought to be."""
    is_unable: bool = False
    is_question: bool = False
    role: Role = "bare"
    """Of the noun that it has become."""
    value: float = 0.0
    """In its sentence, once the clauses are linked."""
    arguments: list[Nominal] = field(default_factory=list)


class Nominal(Struct, eq=False):
    """A noun or a compound of nouns, without particles."""

    start: int
    end: int
    nouns: tuple[str, ...]
    role: Role = "bare"
    place: int = 0
    """Of its last noun among the content words of the text."""
    weight: float = 0.0
    """Of the words by themselves."""
    can_join: bool = True
    """Whether it can be a part of a compound."""
    is_thing: bool = True
    """False for numbers, pronouns, dependent nouns and predicates that became nouns."""
    modifiers: list[Predicate] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The noun that carries it."""
        return self.nouns[-1]


class Adverb(NamedTuple):
    """An adverb or an interjection; also a clause of manner."""

    start: int
    end: int
    lemma: str
    weight: float
    is_conjunction: bool
    place: int
    """Among the content words of the text; `NO_PLACE` when it is none of them."""


class Break(NamedTuple):
    """A mark between words."""

    start: int
    end: int
    form: str
    ends_sentence: bool


Unit = Nominal | Predicate | Adverb | Break


class Content(NamedTuple):
    """A content word: what phrases are made of."""

    lemma: str
    start: int


class Units(NamedTuple):
    """A text, cut into units."""

    units: list[Unit]
    content: list[Content]
