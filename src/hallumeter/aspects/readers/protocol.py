"""What a reader of one language finds in a sentence: terms, what is felt about them, and words that mislead."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct, field

from hallumeter.aspects.records.aspect import Polarity

CueKind = Literal["negation", "contrast", "irony"]


class FoundTerm(Struct, frozen=True):
    """An aspect term of a sentence, without particles."""

    start: int
    end: int
    confidence: float
    """How probable it is that people would mark it."""
    head: str | None = None
    """The noun that carries it."""


class FoundPolarity(Struct, frozen=True):
    """What is felt about a place of a sentence."""

    polarity: Polarity
    confidence: float
    distribution: dict[str, float] = field(default_factory=dict)
    """Over the three polarities, adding up to 1."""
    start: int | None = None
    """The words that show it; None when nothing does."""
    end: int | None = None


class FoundCue(Struct, frozen=True):
    """Words that turn, oppose or mock what stands beside them, found as words or morphemes, never inside others."""

    kind: CueKind
    start: int
    end: int
    scope_start: int
    """The part of the sentence that they act on."""
    scope_end: int


class SentenceReading(Struct, frozen=True):
    """What stands in a sentence, in its order."""

    text: str
    terms: tuple[FoundTerm, ...] = ()
    cues: tuple[FoundCue, ...] = ()

    def cues_of(self, kind: CueKind) -> tuple[FoundCue, ...]:
        """The cues of one kind."""
        return tuple(cue for cue in self.cues if cue.kind == kind)


class AspectReader(Protocol):
    """Reads sentences of one language; deterministic, and usable from several threads at once."""

    @property
    def language(self) -> str:
        """``en`` or ``ko``."""
        ...

    @property
    def version(self) -> str:
        """Another one whenever it may read differently; part of manifests."""
        ...

    def read(self, text: str) -> SentenceReading:
        """Terms and cues of a sentence."""
        ...

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        """What is felt about the term at a place."""
        ...

    def sentence_polarity(self, text: str) -> FoundPolarity:
        """What is felt in the sentence as a whole, by its words alone."""
        ...

    def without_particle(self, text: str, start: int, end: int) -> int:
        """Where a term ends when the particles behind it are left out; `end` itself when there are none."""
        ...

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        """The first word behind a place that can be an aspect."""
        ...
