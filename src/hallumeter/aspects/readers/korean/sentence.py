"""One text, wholly analysed; the last ones are kept, since terms and polarities are asked for one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from hallumeter.aspects.readers.protocol import CueKind, FoundCue

from .analyser import Morpheme, morphemes_of
from .clauses import SLIGHT, Clause, ClauseLinker
from .parsing import UnitParser
from .units import Nominal, Predicate
from .vocabulary import DICTIONARY_ENDING, Vocabulary, vocabulary

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
