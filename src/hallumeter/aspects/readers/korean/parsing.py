"""Cuts the morphemes of a text into units and sentences: which nouns belong together, where predicates end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from hallumeter.aspects.readers.protocol import CueKind, FoundCue

from .analyser import Morpheme, is_glued, morphemes_of
from .clauses import SLIGHT, Clause, ClauseLinker
from .units import NO_PLACE, Adverb, Break, Content, Nominal, Predicate, Role, Shape, Unit, Units
from .vocabulary import DICTIONARY_ENDING, Vocabulary, vocabulary

# Reads one predicate: its stem, its auxiliaries, its endings, and how often it is negated.

_SHAPES: dict[str, Shape] = {"EF": "final", "EC": "joining", "ETM": "adnominal", "ETN": "nominal"}
_PARTICLES = {"JX", "JKS", "JKC", "JKO"}
_DERIVING_TAGS = {"VCP", "XSA"}


class PredicateReader:
    """Reads predicates of one text; what counts as a content word is added to its list."""

    def __init__(self, morphemes: Sequence[Morpheme], words: Vocabulary, content: list[Content]) -> None:
        self._morphemes = morphemes
        self._words = words
        self._grammar = words.grammar
        self._content = content

    def read(self, first: int, suffix: int) -> tuple[Predicate, int]:
        """The predicate that begins at a place, and where it ends.

        `suffix` is the place of the stem, or of what makes a predicate of the noun at `first`.
        """
        predicate = self._stem(first, suffix)
        end = suffix + 1
        while True:
            end = self._endings(end, predicate)
            following = self._auxiliary(end, predicate)
            if following is None:
                break
            end = following
        predicate.end = max(predicate.end, self._morphemes[end - 1].end)
        return predicate, end

    def _stem(self, first: int, suffix: int) -> Predicate:
        stem = self._morphemes[suffix]
        root = "".join(morpheme.form for morpheme in self._morphemes[first:suffix])
        lemma = root + stem.form + DICTIONARY_ENDING
        weight = self._words.weights.get(lemma)
        if weight is None:
            weight = self._words.noun_weight(root) if root else 0.0
        start = self._morphemes[first].start
        self._content.append(Content(lemma, start))
        place = len(self._content) - 1
        return Predicate(
            start,
            stem.end,
            lemma,
            place,
            place,
            weight=weight,
            is_adjective=stem.tag in {"VA", "XSA"},
            negations=int(stem.tag == "VCN"),
        )

    def _endings(self, place: int, predicate: Predicate) -> int:
        """Read on behind tense, politeness and one ending."""
        while place < len(self._morphemes):
            form, tag, *_ = self._morphemes[place]
            place += 1
            if tag == "EP":
                predicate.is_future |= form in self._grammar.future_marks
                predicate.is_honorific |= form in self._grammar.honorific_marks
            elif tag in _SHAPES:
                predicate.shape = _SHAPES[tag]
                predicate.ending = f"-{form}"
                return place
            else:
                return place - 1
        return place

    def _auxiliary(self, place: int, predicate: Predicate) -> int | None:
        """Where an auxiliary verb ends that follows the ending, if there is one; what it means is noted."""
        if predicate.shape == "adnominal":
            return self._dependent_noun(place, predicate)
        verb = self._behind_particles(place)
        if verb is None or predicate.shape == "final":
            return None
        form, tag, *_ = self._morphemes[verb]
        is_doing = form in self._grammar.doing_verbs and tag in {"VX", "VV"}
        is_helping = tag == "VX" or (form in self._grammar.looking_verbs and tag == "VV" and verb == place)
        if is_doing if predicate.shape == "nominal" else is_helping:
            self._note(form + DICTIONARY_ENDING, verb, predicate)
            return verb + 1
        return None

    def _note(self, lemma: str, place: int, predicate: Predicate) -> None:
        predicate.negations += int(lemma in self._words.negations)
        predicate.is_wish |= predicate.ending in self._grammar.wish_endings
        predicate.is_needed |= predicate.ending in self._grammar.need_endings
        if not predicate.weight:
            predicate.weight = self._words.weight(lemma) if lemma not in self._words.negations else 0.0
        predicate.end = self._morphemes[place].end

    def _dependent_noun(self, place: int, predicate: Predicate) -> int | None:
        """Read over 것 같다, 수 없다, 만하다 and the like, which belong to the predicate before them."""
        if place >= len(self._morphemes) or self._morphemes[place].tag != "NNB":
            return None
        noun = self._morphemes[place]
        verb = self._behind_particles(place + 1)
        if verb is None:
            return self._closing_noun(place, predicate)
        form, tag, *_ = self._morphemes[verb]
        is_near = verb == place + 1
        if (
            noun.form in self._grammar.ability_nouns
            and form in self._grammar.absent_verbs | self._grammar.present_verbs
        ):
            predicate.is_unable = form in self._grammar.absent_verbs
            lemmas = [noun.form, form + DICTIONARY_ENDING]
        elif noun.form in self._grammar.worth_nouns and tag == "XSA":
            lemmas = [noun.form + form + DICTIONARY_ENDING]
        elif tag == "VCN" or (is_near and (form in self._grammar.seeming_verbs or tag in _DERIVING_TAGS)):
            lemmas = []
        else:
            return self._closing_noun(place, predicate)
        predicate.is_future |= predicate.ending in self._grammar.open_endings and not predicate.is_unable
        predicate.negations += int(tag == "VCN") + int(form in self._grammar.absent_verbs)
        self._content += [Content(lemma, noun.start) for lemma in lemmas]
        predicate.last_place = len(self._content) - 1
        return verb + 1

    def _closing_noun(self, place: int, predicate: Predicate) -> int | None:
        """A dependent noun such as 듯 that ends the sentence."""
        is_last = place + 1 >= len(self._morphemes) or self._morphemes[place + 1].tag[0] in "SW"
        if not (is_last and self._morphemes[place].form in self._grammar.closing_nouns):
            return None
        predicate.shape = "final"
        predicate.end = self._morphemes[place].end
        return place + 1

    def _behind_particles(self, place: int) -> int | None:
        """The first morpheme behind particles."""
        while place < len(self._morphemes) and self._morphemes[place].tag in _PARTICLES:
            place += 1
        return place if place < len(self._morphemes) else None


# Nouns that are written together: where they end, and which of them belong to one compound.

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
_NOUN_DERIVING_TAGS = {"XSA", "XSV"}
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
        return self._morphemes[place + 1].tag in _NOUN_DERIVING_TAGS and self._is_glued(place + 1)

    def _nouns(self, first: int) -> int:
        """Read nouns that are written together, and the predicate that the last of them may be the root of."""
        end = run_end(self._morphemes, first)
        if end < len(self._morphemes) and self._morphemes[end].tag in _NOUN_DERIVING_TAGS and self._is_glued(end):
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


# Words and morphemes that turn, oppose or mock: negations, contrasts, irony.

_PREDICATES = frozenset({"VX", "VA", "VCN", "VV"})
_WORDS = frozenset({"MAG", "MAJ", "NNG"})
_MAY_BE = _PREDICATES | _WORDS | {"EC"}


class CueFinder:
    """Finds the cues of one text."""

    def __init__(self, morphemes: Sequence[Morpheme], clauses: Sequence[Clause], words: Vocabulary) -> None:
        self._morphemes = morphemes
        self._clauses = clauses
        self._words = words
        self._starts = [clause.start for clause in clauses]
        self._sentences: dict[int, tuple[int, int]] = {}
        for clause in clauses:
            first, _ = self._sentences.get(clause.sentence, (clause.start, 0))
            self._sentences[clause.sentence] = first, clause.end

    def cues(self, text: str) -> tuple[FoundCue, ...]:
        """All cues in their order."""
        if not self._clauses:
            return ()
        found = [*self._morphological(), *self._ironies(text)]
        return tuple(sorted(found, key=lambda cue: (cue.start, cue.end)))

    def _morphological(self) -> Iterator[FoundCue]:
        for morpheme in self._morphemes:
            kind = self._kind(morpheme) if morpheme.tag in _MAY_BE else None
            if kind is not None:
                first, last = self._scope(kind, morpheme)
                yield FoundCue(kind, morpheme.start, morpheme.end, first, max(last, morpheme.end))

    def _clause_at(self, place: int) -> int:
        return max(0, bisect_right(self._starts, place) - 1)

    def _kind(self, morpheme: Morpheme) -> CueKind | None:
        form, tag, *_ = morpheme
        if tag in _PREDICATES:
            return "negation" if form + DICTIONARY_ENDING in self._words.negations else None
        if tag == "EC":
            return "contrast" if self._is_contrast(f"-{form}", morpheme.start) else None
        if form in self._words.negations and tag == "MAG":
            return "negation"
        return "contrast" if form in self._words.contrasts else None

    def _is_contrast(self, ending: str, place: int) -> bool:
        """Whether an ending opposes two clauses; 는데 only does so where they feel differently."""
        if ending not in self._words.contrasts or ending not in self._words.grammar.background_endings:
            return ending in self._words.contrasts
        number = self._clause_at(place)
        if number + 1 >= len(self._clauses):
            return False
        before, after = self._clauses[number : number + 2]
        if before.value * after.value < 0 and min(abs(before.value), abs(after.value)) >= SLIGHT:
            return True
        return before.has_topic and after.has_subject and abs(before.value) >= SLIGHT > abs(after.value)

    def _scope(self, kind: CueKind, morpheme: Morpheme) -> tuple[int, int]:
        """The clause of a negation, both clauses of an ending, the rest of the sentence behind a word of contrast."""
        number = self._clause_at(morpheme.start)
        clause = self._clauses[number]
        if kind == "negation":
            return clause.start, clause.end
        if morpheme.tag == "EC":
            return clause.start, self._clauses[min(number + 1, len(self._clauses) - 1)].end
        return morpheme.start, self._sentences[clause.sentence][1]

    def _ironies(self, text: str) -> Iterator[FoundCue]:
        for phrase in self._words.irony:
            start = text.find(phrase)
            if start < 0 or (start > 0 and text[start - 1].isalnum()):
                continue
            end = start + len(phrase)
            first, last = self._sentences[self._clauses[self._clause_at(start)].sentence]
            yield FoundCue("irony", start, end, min(first, start), max(last, end))


_KEPT = 512


class Sentence(NamedTuple):
    """A text with its morphemes, noun phrases, predicates, clauses and cues, each in their order."""

    text: str
    morphemes: tuple[Morpheme, ...]
    nominals: tuple[Nominal, ...]
    predicates: tuple[Predicate, ...]
    clauses: tuple[Clause, ...]
    cues: tuple[FoundCue, ...]

    @property
    def is_korean(self) -> bool:
        """Whether any of it is Korean; names and numbers alone are not."""
        return any(morpheme.tag[0] in "NJEV" for morpheme in self.morphemes)

    @property
    def ironies(self) -> tuple[FoundCue, ...]:
        """The cues of irony."""
        return tuple(cue for cue in self.cues if cue.kind == "irony")


@lru_cache(maxsize=_KEPT)
def sentence_of(text: str) -> Sentence:
    """Analyse a text."""
    words = vocabulary()
    morphemes = morphemes_of(text)
    linked = ClauseLinker(UnitParser(morphemes, words).units(), words).linked()
    return Sentence(
        text,
        tuple(morphemes),
        tuple(linked.nominals),
        tuple(linked.predicates),
        tuple(linked.clauses),
        CueFinder(morphemes, linked.clauses, words).cues(text),
    )
