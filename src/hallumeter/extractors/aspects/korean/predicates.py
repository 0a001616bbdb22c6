"""Reads one predicate: its stem, its auxiliaries, its endings, and how often it is negated."""

from __future__ import annotations

from collections.abc import Sequence

from .analyser import Morpheme
from .units import Content, Predicate, Shape
from .vocabulary import DICTIONARY_ENDING, Vocabulary

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
