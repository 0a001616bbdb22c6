"""Links the units of a text: which predicate says something about which noun phrase, clause by clause."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import NamedTuple

from msgspec import Struct, field

from .units import NO_PLACE, Adverb, Break, Content, Nominal, Predicate, Role, Tie, Unit, Units
from .vocabulary import Vocabulary

# How favourable a predicate or a noun phrase is in its place: word, phrase, degree, negation, amount, mood.

SLIGHT = 0.15
"""Below this, words show nothing."""
WISHED = -0.45
"""What one wishes for is not there."""
_STRONGEST = 1.5
_TURNED_GOOD = -0.85
_TURNED_BAD = -0.55
"""Not good is bad; not bad is only fair."""
_TWICE_TURNED = 0.6
_QUESTIONED = 0.15
_IMAGINED = 0.4
_PASSED_ON = 0.9
_EXCESSIVE = -0.45
_SHY = -0.6
_OUT_OF_ORDER = -0.6
_UNABLE = -0.4
_UNDONE = -0.2
_NEEDED = -0.35
_URGED = 0.5
_COSTLY = -0.5
_CHEAP = 0.45
_UNSURPASSED = 1.0
_WEAK_NOUN = 0.35


class FoundPhrase(NamedTuple):
    """Several content words that are known together."""

    weight: float
    start: int
    words: tuple[str, ...]


class Valuer:
    """Values the units of one text."""

    def __init__(self, words: Vocabulary, content: Sequence[Content]) -> None:
        self._words = words
        self._grammar = words.grammar
        self._content = content

    def phrase_at(self, place: int) -> FoundPhrase | None:
        """The longest known phrase that ends with a content word."""
        if place == NO_PLACE or self._content[place].lemma not in self._words.phrase_words:
            return None
        for length in range(min(self._words.longest_phrase, place + 1), 1, -1):
            found = self._content[place + 1 - length : place + 1]
            words = tuple(word.lemma for word in found)
            weight = self._words.phrases.get(words)
            if weight is not None:
                return FoundPhrase(weight, found[0].start, words)
        return None

    def nominal(self, nominal: Nominal) -> float:
        """Of a noun phrase with what stands before it."""
        own = self.nominal_alone(nominal)
        before = _within(sum(predicate.value for predicate in nominal.modifiers))
        if own and any(predicate.lemma in self._words.reversers for predicate in nominal.modifiers):
            return _turned(own)
        if abs(own) >= _WEAK_NOUN or not before:
            return own
        return before * _PASSED_ON

    def nominal_alone(self, nominal: Nominal) -> float:
        """Of the words of a noun phrase, or of the phrase that ends with it."""
        phrase = self.phrase_at(nominal.place)
        return nominal.weight if phrase is None else phrase.weight

    def predicate(self, predicate: Predicate, arguments: Sequence[Nominal], adverbs: Sequence[Adverb]) -> float:
        """Of a predicate with what belongs to it; negation, degree and mood are counted in."""
        lemmas = [adverb.lemma for adverb in adverbs]
        negations = predicate.negations + sum(lemma in self._grammar.negating_adverbs for lemma in lemmas)
        phrase = self.phrase_at(predicate.last_place) or self.phrase_at(predicate.place)
        if phrase is not None:
            negations -= sum(word in self._words.negations for word in phrase.words if word != predicate.lemma)
            predicate.start = min(predicate.start, phrase.start)
            # Nouns of a phrase are no things of their own, unless one often speaks about them.
            for nominal in arguments:
                if nominal.start >= phrase.start and nominal.head not in self._words.aspects:
                    nominal.is_thing = False
            value = phrase.weight
        else:
            value = self._plain(predicate, arguments)
            value = self._with_adverbs(value, predicate, adverbs)
            if not negations and value > -SLIGHT and self._is_shy(predicate, lemmas):
                value = _SHY
        if negations > 0:
            value = self._negated(value, negations, predicate=predicate, lemmas=lemmas)
        return _within(self._in_mood(value, predicate, lemmas))

    def _plain(self, predicate: Predicate, arguments: Sequence[Nominal]) -> float:
        """By the word, and by what it is said of where the word leaves that open."""
        turns = predicate.lemma in self._words.reversers
        takes_part = turns or predicate.lemma in self._words.amounts
        if takes_part or not predicate.weight:
            for nominal in reversed(arguments):
                passed = 0.0 if nominal.role in {"genitive", "than", "basis", "list"} else self.nominal(nominal)
                if abs(passed) >= SLIGHT:
                    predicate.start = min(predicate.start, nominal.start)
                    return _turned(passed) if turns else passed * _PASSED_ON
        if takes_part and predicate.is_adjective and self._is_about_cost(arguments):
            return _CHEAP if turns else _COSTLY
        return predicate.weight

    def _is_about_cost(self, arguments: Sequence[Nominal]) -> bool:
        return any(
            nominal.head in self._words.bad_when_much and nominal.role not in {"genitive", "adverbial"}
            for nominal in arguments
        )

    def _with_adverbs(self, value: float, predicate: Predicate, adverbs: Sequence[Adverb]) -> float:
        shown = sum(adverb.weight for adverb in adverbs if adverb.lemma not in self._grammar.polarity_shy)
        is_weak = abs(value) <= 2 * SLIGHT
        if abs(value) < SLIGHT <= abs(shown):
            value = shown
        elif shown * value > 0:
            value = max(value, shown, key=abs)
        if is_weak and predicate.is_adjective and any(adverb.lemma in self._grammar.excess for adverb in adverbs):
            return _EXCESSIVE
        for adverb in adverbs:
            value *= self._words.degrees.get(adverb.lemma, 1.0)
        return _within(value)

    def _is_shy(self, predicate: Predicate, lemmas: Sequence[str]) -> bool:
        """Whether 별로 stands there without the negation that it asks for, and so is one itself."""
        return predicate.lemma not in self._words.reversers and any(
            lemma in self._grammar.polarity_shy for lemma in lemmas
        )

    def _negated(self, value: float, negations: int, *, predicate: Predicate, lemmas: Sequence[str]) -> float:
        if negations % 2 == 0:
            return value * _TWICE_TURNED
        if predicate.is_unable and value > 0 and any(lemma in self._grammar.more_adverbs for lemma in lemmas):
            return _UNSURPASSED
        if abs(value) >= SLIGHT:
            is_passed_on = not predicate.weight and value < 0 and predicate.lemma not in self._words.amounts
            return value * _IMAGINED if is_passed_on else _turned(value)
        if predicate.lemma in self._words.functions:
            return _OUT_OF_ORDER
        is_unable = predicate.is_unable or any(lemma in self._grammar.unable_adverbs for lemma in lemmas)
        return _UNABLE if is_unable else _UNDONE

    def _in_mood(self, value: float, predicate: Predicate, lemmas: Sequence[str]) -> float:
        """Wishes, needs, conditions and questions do not say how something is."""
        if predicate.is_wish:
            return 0.0 if predicate.is_honorific else WISHED
        if predicate.is_needed or (predicate.lemma in self._words.needs and predicate.shape != "adnominal"):
            is_urged = any(lemma in self._grammar.urging_adverbs for lemma in lemmas)
            return _URGED if is_urged else min(value, _NEEDED)
        if predicate.ending in self._grammar.wish_endings:
            return value * _IMAGINED
        return value * _QUESTIONED if predicate.is_question else value


def _turned(value: float) -> float:
    return value * (_TURNED_GOOD if value > 0 else _TURNED_BAD)


def _within(value: float) -> float:
    return max(-_STRONGEST, min(_STRONGEST, value))


_CLOSENESS: dict[Role, float] = {
    "topic": 1.0,
    "subject": 1.0,
    "focus": 1.0,
    "bare": 1.0,
    "copula": 1.0,
    "list": 0.9,
    "object": 0.9,
    "complement": 0.8,
    "adverbial": 0.6,
    "genitive": 0.5,
    "basis": 0.3,
    "than": -0.6,
}
_MOST_PENDING = 30
_MOST_TIES = 20
_NEAR = 8
"""Bounds that keep the time in proportion to the text, however it is written."""
_FEELING = 0.1
_MODIFIED = 0.9
_LISTED = 0.8
_GOES_ON = 0.6
_TURNS = 0.9
_NEXT_SENTENCE = 0.35
_TURNED_AROUND = 0.8
_SUBJECTS: frozenset[Role] = frozenset({"topic", "subject", "focus", "bare", "list"})
_OWN: frozenset[Role] = frozenset({"subject", "object", "complement", "focus", "bare", "list", "copula", "genitive"})


class Clause(Struct, eq=False):
    """A part of a sentence with one predicate that is not before a noun, or with none."""

    start: int
    end: int
    sentence: int
    predicate: Predicate | None = None
    opinions: list[Tie] = field(default_factory=list)
    """All that is felt in it, whatever it is about."""
    opens_with_contrast: bool = False
    has_topic: bool = False
    has_subject: bool = False

    @property
    def value(self) -> float:
        """How favourable it is; its predicate decides, where it shows something."""
        if self.predicate is not None and abs(self.predicate.value) >= SLIGHT:
            return self.predicate.value
        return sum(tie.value * tie.weight for tie in self.opinions)


class LinkedText(NamedTuple):
    """A text whose units are linked."""

    clauses: list[Clause]
    nominals: list[Nominal]
    predicates: list[Predicate]


class ClauseLinker:
    """Goes through the units of one text from the left to the right, and ties each predicate to its nouns."""

    def __init__(self, units: Units, words: Vocabulary) -> None:
        self._units = units.units
        self._words = words
        self._grammar = words.grammar
        self._valuer = Valuer(words, units.content)
        self._clauses: list[Clause] = []
        self._predicates: list[Predicate] = []
        self._pending: list[Nominal] = []
        self._adverbs: list[Adverb] = []
        self._before_noun: list[Predicate] = []
        self._opinions: list[Tie] = []
        self._topics: list[Nominal] = []
        self._first: int | None = None
        self._opens_with_contrast = False
        self._sentence = 0
        self._last: tuple[int, Predicate] | None = None
        """The last predicate that ended a clause, and the number of its unit."""

    def linked(self) -> LinkedText:
        """Clauses, noun phrases and predicates in their order."""
        for number, unit in enumerate(self._units):
            if self._first is None and not isinstance(unit, Break):
                self._first = unit.start
            self._take(number, unit)
        self._end_sentence(self._units[-1].end if self._units else 0)
        nominals = [unit for unit in self._units if isinstance(unit, Nominal)]
        return LinkedText(self._clauses, nominals, self._predicates)

    def _take(self, number: int, unit: Unit) -> None:
        if isinstance(unit, Nominal):
            self._nominal(number, unit)
        elif isinstance(unit, Predicate):
            if unit.shape == "adnominal":
                self._adnominal(number, unit)
            elif unit.shape == "nominal":
                self._becomes_noun(number, unit)
            elif unit.ending in self._grammar.manner_endings:
                # A clause of manner is an adverb with a value: 친절하게 안내하다.
                own = [nominal for nominal in self._pending[-1:] if nominal.weight and nominal.role in _OWN]
                del self._pending[len(self._pending) - len(own) :]
                self._value(unit, own)
                self._tie(unit, own)
                self._opinions[:] = [tie for tie in self._opinions if tie.start != unit.start]
                manner = Adverb(unit.start, unit.end, unit.lemma, unit.value, False, unit.place)
                self._adverbs.append(manner)
            else:
                self._close(number, unit)
        elif isinstance(unit, Adverb):
            self._adverb(number, unit)
        # Whether what stands before a comma is complete without a predicate, as in 화면은 별로, 배송은 빨라요.
        elif unit.ends_sentence or any(adverb.lemma in self._grammar.polarity_shy for adverb in self._adverbs):
            self._end_sentence(unit.start)
        else:
            self._turn_around()
            self._pending = [nominal for nominal in self._pending if not _is_told(nominal)]

    def _following(self, number: int) -> Unit | None:
        return self._units[number + 1] if number + 1 < len(self._units) else None

    def _nominal(self, number: int, nominal: Nominal) -> None:
        if self._before_noun:
            self._modify(nominal)
        elif self._pending and self._pending[-1].role == "list":
            nominal.ties += [tie._replace(weight=tie.weight * _LISTED) for tie in self._pending[-1].ties]
        self._pending.append(nominal)
        if len(self._pending) > _MOST_PENDING:
            del self._pending[0]
        if nominal.role not in {"bare", "genitive"} or not self._says_how(nominal):
            return
        following = self._following(number)
        follows_noun = number > 0 and isinstance(self._units[number - 1], Nominal)
        if isinstance(following, Nominal) and (nominal.role == "genitive" or not follows_noun):
            predicate = self._as_predicate(nominal)
            self._value(predicate, [])
            self._before_noun.append(predicate)
        elif nominal.role == "bare" and (following is None or isinstance(following, Break | Nominal)):
            self._close(number, self._as_predicate(nominal))

    def _says_how(self, nominal: Nominal) -> bool:
        return not nominal.can_join and not nominal.modifiers and abs(self._valuer.nominal(nominal)) >= SLIGHT

    def _as_predicate(self, nominal: Nominal) -> Predicate:
        self._pending.remove(nominal)
        weight = self._valuer.nominal(nominal)
        return Predicate(nominal.start, nominal.end, nominal.head, nominal.place, nominal.place, weight=weight)

    def _modify(self, nominal: Nominal) -> None:
        """Tie the predicates before a noun to it."""
        nominal.modifiers += self._before_noun
        self._before_noun.clear()
        if not nominal.is_thing:
            return
        for predicate in nominal.modifiers:
            turns = nominal.weight and predicate.lemma in self._words.reversers
            value = self._valuer.nominal(nominal) if turns else predicate.value
            nominal.ties.append(Tie(value, _MODIFIED, predicate.start, predicate.end))

    def _adverb(self, number: int, adverb: Adverb) -> None:
        if not adverb.is_conjunction:
            self._adverbs.append(adverb)
            return
        previous = self._units[number - 1] if number else None
        is_contrast = adverb.lemma in self._words.contrasts
        if not is_contrast and isinstance(previous, Nominal) and previous.role == "bare":
            previous.role = "list"
        elif self._pending and any(nominal.ties for nominal in self._pending):
            self._end_clause(adverb.start)
            self._pending.clear()
            self._first = adverb.start
        self._opens_with_contrast |= is_contrast

    def _own_arguments(self) -> list[Nominal]:
        """Noun phrases that belong to a predicate inside the clause: those behind the last topic."""
        own: list[Nominal] = []
        while self._pending and self._pending[-1].role in _OWN:
            own.append(self._pending.pop())
        return own[::-1]

    def _adnominal(self, number: int, predicate: Predicate) -> None:
        own = self._own_arguments()
        self._value(predicate, own)
        self._tie(predicate, own)
        coordinated = self._coordinated(number)
        if not own and coordinated is not None:
            self._before_noun.append(coordinated)
        self._before_noun.append(predicate)

    def _coordinated(self, number: int) -> Predicate | None:
        """The predicate right before one that stands before a noun, as in 깨끗하고 편안한 방."""
        if self._last is None:
            return None
        place, predicate = self._last
        joins = predicate.ending in self._grammar.joining_endings and not predicate.arguments
        return predicate if joins and self._is_near(place, number, Adverb | Break) else None

    def _is_near(self, place: int, number: int, between: type | UnionType) -> bool:
        """Whether two units are only separated by some of a kind."""
        is_short = number - place <= _NEAR
        return is_short and all(isinstance(unit, between) for unit in self._units[place + 1 : number])

    def _becomes_noun(self, number: int, predicate: Predicate) -> None:
        own = self._own_arguments()
        self._value(predicate, own)
        self._tie(predicate, own)
        following = self._following(number)
        if predicate.role == "bare" and isinstance(following, Nominal):
            self._before_noun.append(predicate)
        elif predicate.role == "bare" and (following is None or isinstance(following, Break)):
            self._finish(number, predicate, own)
        else:
            noun = Nominal(predicate.start, predicate.end, (predicate.lemma,), predicate.role, predicate.last_place)
            noun.weight = predicate.value
            noun.can_join = noun.is_thing = False
            self._pending.append(noun)

    def _value(self, predicate: Predicate, arguments: list[Nominal]) -> None:
        """Value a predicate with its arguments and the adverbs before it, which are used up."""
        predicate.is_question |= predicate.ending in self._grammar.question_endings
        predicate.value = self._valuer.predicate(predicate, arguments, self._adverbs)
        near = [adverb.start for adverb in self._adverbs if adverb.weight or self._counts(adverb)]
        predicate.start = min([predicate.start, *near])
        self._adverbs.clear()
        predicate.arguments = list(arguments)
        self._predicates.append(predicate)
        if abs(predicate.value) >= SLIGHT:
            self._opinions.append(Tie(predicate.value, 1.0, predicate.start, predicate.end))

    def _counts(self, adverb: Adverb) -> bool:
        return adverb.lemma in self._words.negations or adverb.lemma in self._words.degrees

    def _tie(self, predicate: Predicate, arguments: list[Nominal]) -> None:
        is_felt = predicate.lemma in self._words.experiences and any(
            nominal.role in {"object", "adverbial", "focus"} for nominal in arguments
        )
        for nominal in arguments:
            weight = _CLOSENESS[nominal.role]
            if nominal.role == "than" and nominal.head in self._words.expectations:
                weight = 0.0
            elif is_felt and nominal.role in {"subject", "topic"}:
                weight = _FEELING
            nominal.ties.append(Tie(predicate.value, weight, predicate.start, predicate.end))

    def _close(self, number: int, predicate: Predicate) -> None:
        """End a clause with its predicate."""
        arguments = list(self._pending)
        following = self._following(number)
        predicate.is_question = isinstance(following, Break) and "?" in following.form
        wishes_more = any(adverb.lemma in self._grammar.more_adverbs for adverb in self._adverbs)
        self._value(predicate, arguments)
        condition = self._condition(number, predicate, is_comparing=wishes_more)
        if condition is not None:
            value = 0.0 if condition.is_honorific else WISHED
            for nominal in condition.arguments:
                nominal.ties = [tie._replace(value=value) if tie.end == condition.end else tie for tie in nominal.ties]
            condition.value = predicate.value = value
            self._opinions.clear()
            self._clauses[-1].opinions = [Tie(value, 1.0, condition.start, predicate.end)]
        self._tie(predicate, arguments)
        self._finish(number, predicate, arguments)

    def _condition(self, number: int, predicate: Predicate, *, is_comparing: bool) -> Predicate | None:
        """The condition of a wish: 더 밝으면 좋겠다 speaks of something that is not bright enough."""
        if self._last is None or not predicate.is_future or predicate.value <= 0:
            return None
        place, condition = self._last
        is_wish = predicate.lemma in self._words.wish_words and self._is_near(place, number, Adverb)
        if condition.ending not in self._grammar.wish_endings or not (is_wish or is_comparing):
            return None
        return condition

    def _finish(self, number: int, predicate: Predicate, arguments: list[Nominal]) -> None:
        things = [nominal for nominal in arguments if self._is_topic(nominal)]
        subjects = [nominal for nominal in things if nominal.role in _SUBJECTS]
        if not subjects:
            self._go_on(predicate, arguments)
        if subjects or (things and not self._is_going_on()):
            self._topics = subjects or things
        self._last = (number, predicate)
        self._pending.clear()
        self._end_clause(predicate.end, predicate)
        self._clauses[-1].has_subject = bool(subjects)
        self._clauses[-1].has_topic = any(nominal.role == "topic" for nominal in subjects)
        if predicate.shape == "final":
            self._sentence += 1

    def _is_topic(self, nominal: Nominal) -> bool:
        """Whether what follows can be about it; people who only feel something do not count."""
        if not nominal.is_thing or nominal.head in self._words.stop_terms:
            return False
        return nominal.role in _SUBJECTS or nominal.head in self._words.aspects

    def _is_going_on(self) -> bool:
        return bool(self._clauses) and self._clauses[-1].sentence == self._sentence

    def _go_on(self, predicate: Predicate, arguments: list[Nominal]) -> None:
        """A clause without a subject of its own goes on with the last one; behind a contrast it counts more."""
        if not self._is_going_on():
            self._next_sentence(predicate, arguments)
            return
        last = self._clauses[-1].predicate
        turns = last is not None and last.ending in self._words.contrasts - self._grammar.background_endings
        shows = abs(predicate.value) >= SLIGHT
        for nominal in self._topics:
            if len(nominal.ties) > _MOST_TIES:
                continue
            weight = _TURNS if turns else _GOES_ON
            if turns and nominal.head in self._words.attributes:
                weight = _FEELING
            elif turns and shows:
                nominal.ties = [tie._replace(weight=tie.weight * _GOES_ON) for tie in nominal.ties]
            nominal.ties.append(Tie(predicate.value, weight, predicate.start, predicate.end))

    def _next_sentence(self, predicate: Predicate, arguments: list[Nominal]) -> None:
        """A sentence without any noun is about the last subject, if nothing was said about it yet."""
        for nominal in self._topics:
            if not arguments and not any(abs(tie.value) >= SLIGHT for tie in nominal.ties):
                nominal.ties.append(Tie(predicate.value, _NEXT_SENTENCE, predicate.start, predicate.end))

    def _end_clause(self, end: int, predicate: Predicate | None = None) -> None:
        start = self._first if self._first is not None else end
        clause = Clause(start, end, self._sentence, predicate, list(self._opinions), self._opens_with_contrast)
        self._clauses.append(clause)
        self._opinions.clear()
        self._first = None
        self._opens_with_contrast = False

    def _end_sentence(self, end: int) -> None:
        """Close what is open: an adverb that stands for a predicate, nouns behind the predicate."""
        shown = [adverb for adverb in self._adverbs if adverb.weight]
        if shown:
            adverb = shown[-1]
            predicate = Predicate(adverb.start, adverb.end, adverb.lemma, adverb.place, adverb.place)
            self._close(len(self._units), predicate)
        elif self._pending or self._opinions:
            self._turn_around()
            self._end_clause(end)
        self._pending.clear()
        self._adverbs.clear()
        self._before_noun.clear()
        self._sentence += 1

    def _turn_around(self) -> None:
        """Nouns behind the last predicate, with nothing between: 좋아요 배송."""
        if self._last is None or not self._pending or any(nominal.ties for nominal in self._pending):
            return
        place, predicate = self._last
        if self._following(place) is not self._pending[0]:
            return
        for nominal in self._pending:
            nominal.ties.append(Tie(predicate.value, _TURNED_AROUND, predicate.start, predicate.end))


def _is_told(nominal: Nominal) -> bool:
    """Whether all is said about a noun when a comma follows: 좋은 화면, ..."""
    return nominal.role == "bare" and any(abs(tie.value) >= SLIGHT for tie in nominal.ties)
