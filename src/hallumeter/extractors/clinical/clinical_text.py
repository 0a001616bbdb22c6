"""A text as the clinical reader sees it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from hallumeter.records.dialogue import Mention, MentionScope, Occurrence

from .roles import SCOPE_NAMES
from .scopes import Target

if TYPE_CHECKING:
    from hallumeter.text.normalize import CleanText

    from .standing import ScopeFinder, Standing

HintKind = Literal["condition", "medication_class", "measurement", "life_stage"]


class Hint(Struct, frozen=True):
    """Words that speak of something without naming it, or name a measurement without its value."""

    kind: HintKind
    name: str
    """A condition, a class of drugs or a measurement of the lexicons; of a life stage its years, as in ``60-69``."""
    start: int
    end: int
    scope: MentionScope


class TextStanding(NamedTuple):
    """What is needed to tell the scope of any place."""

    clean: CleanText
    standing: Standing
    finder: ScopeFinder


class ClinicalText:
    """What a text mentions, and how everything in it stands. Positions are those of the text, in code points."""

    __slots__ = ("_sentences", "_standing", "hints", "mentions", "text")

    def __init__(
        self, text: str, *, mentions: tuple[Mention, ...], hints: tuple[Hint, ...], standing: TextStanding
    ) -> None:
        self.text = text
        self.mentions = mentions
        self.hints = hints
        self._standing = standing
        self._sentences: tuple[tuple[int, int], ...] | None = None

    @property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Where the sentences begin and end."""
        if self._sentences is None:
            clean, standing, _ = self._standing
            self._sentences = tuple(original_span(clean, start, end) for start, end in standing.sentences)
        return self._sentences

    def scope_at(self, start: int, end: int) -> Occurrence:
        """How any part of the text stands, with the words that decide it.

        >>> from hallumeter.extractors.clinical import ClinicalReader
        >>> ClinicalReader().read("Avoid interval training for now.").scope_at(6, 23).scope
        'avoided'
        """
        clean, standing, finder = self._standing
        first, last = _clean_position(clean, start), _clean_position(clean, end)
        target = Target(first, last, first, "medication")
        finder.scope_of(standing, target)
        return _occurrence(clean, (start, end), target)


def occurrence(clean: CleanText, start: int, end: int, *, target: Target) -> Occurrence:
    """A place of the clean text with the scope that was decided for it, as a place of the text."""
    if len(clean.part_starts) > 1:
        start, end = clean.original_span(start, end)
    return _occurrence(clean, (start, end), target)


def _occurrence(clean: CleanText, span: tuple[int, int], target: Target) -> Occurrence:
    scope, cue = SCOPE_NAMES[target.scope], target.cue
    if cue is None:
        return Occurrence(span[0], span[1], scope)
    cue_start, cue_end = original_span(clean, *cue)
    return Occurrence(span[0], span[1], scope, cue_start, cue_end)


def original_span(clean: CleanText, start: int, end: int) -> tuple[int, int]:
    """Where a part of the clean text stands in the text."""
    return (start, end) if len(clean.part_starts) == 1 else clean.original_span(start, end)


def _clean_position(clean: CleanText, position: int) -> int:
    """The place in the clean text of a place in the original."""
    part = bisect_right(clean.original_starts, position) - 1
    if clean.changed[part]:
        return clean.part_starts[part]
    return clean.part_starts[part] + position - clean.original_starts[part]
