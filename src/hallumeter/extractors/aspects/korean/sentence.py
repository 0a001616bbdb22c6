"""One text, wholly analysed; the last ones are kept, since terms and polarities are asked for one after another."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from hallumeter.extractors.aspects.protocol import FoundCue

from .analyser import Morpheme, morphemes_of
from .clauses import Clause, ClauseLinker
from .cues import CueFinder
from .parsing import UnitParser
from .units import Nominal, Predicate
from .vocabulary import vocabulary

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
