"""The cues of refusal: the phrases of the lexicons, with the conditions under which they refuse."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.text.normalize import clean_text
from hallumeter.text.phrases import Phrase, PhraseFinder, parse_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hallumeter.text.lexicon import Lexicon

_EXISTENCE = frozenset({"no_such_thing", "fictional"})


class Cue(Struct, frozen=True):
    """A phrase that refuses, with the conditions under which it does; `text.lexicon` has the notation."""

    phrase: str
    language: str | None
    begins_clause: bool = False
    ends_clause: bool = False
    before_name: bool = False
    denies_existence: bool = False


class Hit(Struct, frozen=True):
    """A cue, or one end of a cue with a gap, as found in a text."""

    start: int
    end: int
    cue: Cue
    is_first: bool
    is_last: bool


class _Part(Struct, frozen=True):
    """What a phrase is: a whole cue, one end of a cue with a gap, or, without a cue, a blocker."""

    cue: Cue | None
    is_first: bool = True
    is_last: bool = True


class CueFinder:
    """Finds cues in a text that `clean_text` has folded, and drops those within a blocker."""

    def __init__(
        self, lexicons: Sequence[Lexicon], *, extra: Sequence[str], removed: Sequence[str], fold_case: bool
    ) -> None:
        parts = [part for lexicon in lexicons for part in _lexicon_parts(lexicon)]
        parts += [(Phrase((phrase,), ()), _Part(Cue(phrase, None))) for phrase in extra]
        self._finder = PhraseFinder(parts, fold_case=fold_case)
        self._removed: frozenset[str] = frozenset()
        self._removed = frozenset(self._removable(phrase) for phrase in removed)

    def find(self, text: str) -> list[Hit]:
        """Cues and ends of cues, sorted by their starts."""
        hits: list[Hit] = []
        blocked: list[tuple[int, int]] = []
        for start, end, part in self._finder.find(text):
            if part.cue is None:
                blocked.append((start, end))
            elif not self._removed or text[start:end].lower() not in self._removed:
                hits.append(Hit(start, end, part.cue, part.is_first, part.is_last))
        if not any(hit.is_first for hit in hits):
            return []
        hits.sort(key=lambda hit: (hit.start, -hit.end))
        return _not_within(hits, sorted(blocked)) if blocked else hits

    def _removable(self, phrase: str) -> str:
        clean = clean_text(phrase)
        text = clean.lower
        if not any((hit.start, hit.end) == (0, len(text)) for hit in self.find(text)):
            raise SettingsError(
                f"removed cue {phrase!r}: there is no such cue; give the words as `cue` of a detection has them"
            )
        return text


def _not_within(hits: Iterable[Hit], blocked: Sequence[tuple[int, int]]) -> list[Hit]:
    starts = [start for start, _ in blocked]
    furthest_ends = [0, *accumulate((end for _, end in blocked), max)]
    return [
        hit
        for hit in hits
        # A cue with a gap says more than a blocker that stands at one of its ends.
        if not (hit.is_first and hit.is_last) or furthest_ends[bisect_right(starts, hit.start)] < hit.end
    ]


def _lexicon_parts(lexicon: Lexicon) -> Iterator[tuple[Phrase, _Part]]:
    for family, phrases in lexicon.abstention.cues.items():
        for phrase in phrases:
            yield from _cue_parts(phrase, family, lexicon)
    for phrase in lexicon.abstention.blockers:
        yield parse_phrase(phrase, lexicon.sets), _Part(None)


def _cue_parts(phrase: str, family: str, lexicon: Lexicon) -> Iterator[tuple[Phrase, _Part]]:
    words = phrase.removeprefix("^").removesuffix("$").removesuffix(" <Name>")
    first, _, last = words.partition(" ... ")
    cue = Cue(
        phrase,
        lexicon.language,
        begins_clause=phrase.startswith("^"),
        ends_clause=phrase.endswith("$"),
        before_name=phrase.endswith(" <Name>"),
        denies_existence=family in _EXISTENCE,
    )
    yield parse_phrase(first, lexicon.sets), _Part(cue, is_last=not last)
    if last:
        yield parse_phrase(last, lexicon.sets), _Part(cue, is_first=False)
