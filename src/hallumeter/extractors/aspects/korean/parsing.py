"""Cuts the morphemes of a text into units: which nouns belong together, where a predicate begins and ends."""

from __future__ import annotations

from collections.abc import Sequence

from .analyser import Morpheme, is_glued
from .noun_runs import NOUN_TAGS, nominals_of_run, run_end
from .predicates import PredicateReader
from .units import NO_PLACE, Adverb, Break, Content, Nominal, Predicate, Role, Unit, Units
from .vocabulary import Vocabulary

_ROLES: dict[str, Role] = {
    "JKS": "subject",
    "JKC": "complement",
    "JKO": "object",
    "JKG": "genitive",
    "JKB": "adverbial",
    "JC": "list",
    "JX": "focus",
}
_ADVERB_TAGS = {"MAG", "MAJ", "IC"}
_DERIVING_TAGS = {"XSA", "XSV"}
_SENTENCE_MARKS = {"SF", "SE"}
_QUOTES = {"SSO", "SSC"}
_BRACKETS = "()[]（）"


class UnitParser:
    """Reads the morphemes of one text from the left to the right."""

    def __init__(self, morphemes: Sequence[Morpheme], words: Vocabulary) -> None:
        self._morphemes = morphemes
        self._words = words
        self._units: list[Unit] = []
        self._content: list[Content] = []
        self._predicates = PredicateReader(morphemes, words, self._content)

    def units(self) -> Units:
        """All units, and the content words."""
        place = 0
        while place < len(self._morphemes):
            tag = self._morphemes[place].tag
            if tag in NOUN_TAGS:
                place = self._nouns(place)
            elif tag[0] == "V":
                place = self._predicate(place, place)
            elif tag in _ADVERB_TAGS and self._is_root(place):
                place = self._predicate(place, place + 1)
            else:
                self._other(place)
                place += 1
        return Units(self._units, self._content)

    def _is_root(self, place: int) -> bool:
        """Whether an adverb has become a predicate, as in 꼼꼼하다."""
        if place + 1 >= len(self._morphemes) or self._morphemes[place].form in self._words.grammar.negating_adverbs:
            return False
        return self._morphemes[place + 1].tag in _DERIVING_TAGS and self._is_glued(place + 1)

    def _nouns(self, first: int) -> int:
        """Read nouns that are written together, and the predicate that the last of them may be the root of."""
        end = run_end(self._morphemes, first)
        if end < len(self._morphemes) and self._morphemes[end].tag in _DERIVING_TAGS and self._is_glued(end):
            root = end - 1
            if root > first and self._morphemes[root - 1].tag == "XPN":
                root -= 1
            self._add_nominals(first, root, "bare")
            return self._predicate(root, end)
        role, following = self._role(end)
        self._add_nominals(first, end, role)
        return following

    def _role(self, place: int) -> tuple[Role, int]:
        """What the particles at a place make of the noun before, and where they end."""
        role: Role = "bare"
        while place < len(self._morphemes) and self._is_glued(place):
            form, tag, *_ = self._morphemes[place]
            if tag == "VCP":
                return ("copula" if role == "bare" else role), place
            if tag[0] != "J":
                break
            if role == "bare":
                role = self._role_of_particle(form, tag)
            place += 1
        return role, place

    def _role_of_particle(self, form: str, tag: str) -> Role:
        if tag == "JX" and form in self._words.grammar.topic_particles:
            return "topic"
        if tag == "JKB" and form in self._words.grammar.than_particles:
            return "than"
        return _ROLES.get(tag, "adverbial")

    def _add_nominals(self, first: int, end: int, role: Role) -> None:
        for nominal in nominals_of_run(self._morphemes[first:end], self._words):
            self._content += [Content(noun, nominal.start) for noun in nominal.nouns]
            nominal.place = len(self._content) - 1
            self._add_nominal(nominal)
        if end > first and isinstance(last := self._units[-1], Nominal):
            last.role = "basis" if last.head in self._words.grammar.basis_nouns else role

    def _add_nominal(self, nominal: Nominal) -> None:
        previous = self._units[-1] if self._units else None
        if isinstance(previous, Nominal) and previous.role == "bare" and nominal.start - previous.end <= 1:
            if nominal.head in self._words.grammar.basis_nouns:
                previous.role = "basis"
            elif _belongs(previous, nominal):
                nominal.start = previous.start
                nominal.nouns = previous.nouns + nominal.nouns
                nominal.can_join = nominal.is_thing = True
                self._units.pop()
        self._units.append(nominal)

    def _predicate(self, first: int, suffix: int) -> int:
        predicate, end = self._predicates.read(first, suffix)
        if predicate.shape == "nominal":
            predicate.role, end = self._role(end)
        self._units.append(predicate)
        return end

    def _other(self, place: int) -> None:
        form, tag, start, end = self._morphemes[place]
        if form in self._words.adverbs_as_predicates:
            self._units.append(self._adverb_as_predicate(form, start, end))
        elif tag in _ADVERB_TAGS:
            place = NO_PLACE
            if form in self._words.phrase_words:
                place = len(self._content)
                self._content.append(Content(form, start))
            is_conjunction = tag == "MAJ" or form in self._words.contrasts
            weight = self._words.weight(form) or self._words.noun_weight(form)
            self._units.append(Adverb(start, end, form, weight, is_conjunction, place))
        elif tag[0] in "SW" and (tag not in _QUOTES or form in _BRACKETS):
            self._units.append(Break(start, end, form, tag in _SENTENCE_MARKS))

    def _adverb_as_predicate(self, form: str, start: int, end: int) -> Predicate:
        lemma = self._words.adverbs_as_predicates[form]
        self._content.append(Content(lemma, start))
        place = len(self._content) - 1
        ending = min(self._words.grammar.manner_endings)
        weight = self._words.weight(lemma)
        return Predicate(start, end, lemma, place, place, weight=weight, ending=ending, shape="joining")

    def _is_glued(self, place: int) -> bool:
        return place > 0 and is_glued(self._morphemes[place - 1], self._morphemes[place])


def _belongs(previous: Nominal, nominal: Nominal) -> bool:
    """Whether a noun goes on with the compound before it; a number only does so behind a Latin name."""
    if not previous.can_join or previous.head == nominal.head:
        return False
    return nominal.can_join or (nominal.nouns[0].isdigit() and previous.head.isascii())
