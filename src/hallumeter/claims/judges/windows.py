"""Evidence in parts that a model can take: cut at passages and sentences, chosen by the words of the claims."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.records.claim import cut_evidence_note
from hallumeter.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hallumeter.records.response import Passage


_WORD = re.compile(r"[^\W_]+")
_HANGUL = re.compile("[가-힣]")


class Piece(Struct, frozen=True):
    """A passage, or a part of one."""

    passage: Passage
    start: int
    """First character of the part in the passage."""
    end: int

    @property
    def text(self) -> str:
        """The words of the part."""
        return self.passage.text[self.start : self.end]


class Windows(Struct, frozen=True):
    """The parts of the evidence that are shown, and how much there was."""

    shown: tuple[tuple[Piece, ...], ...]
    """In the order of the evidence."""
    windows: int
    """How many there were."""
    shown_characters: int
    characters: int
    """How many there were; white space between sentences that are cut apart is left out of both."""

    @property
    def is_whole(self) -> bool:
        """Whether everything is shown."""
        return len(self.shown) == self.windows

    @property
    def in_words(self) -> str:
        """What was seen, for a note.

        >>> Windows(shown=((),), windows=3, shown_characters=8_000, characters=21_000).in_words
        'judged on 1 of 3 windows (8,000 of 21,000 characters)'
        """
        return cut_evidence_note(
            shown=len(self.shown),
            windows=self.windows,
            shown_characters=self.shown_characters,
            characters=self.characters,
        )


def cut_into_windows(
    passages: Sequence[Passage], claims: Iterable[str], *, window_characters: int, most_windows: int
) -> Windows:
    """Pack evidence into windows, and keep those that share most words with the claims.

    A passage that does not fit is cut between sentences, and a sentence that is longer than a window at white space.
    """
    windows = list(_packed(passages, window_characters))
    kept = list(range(len(windows)))
    if len(windows) > most_windows:
        wanted = set().union(*map(_keys, claims))
        shared = [len(wanted & set().union(*(_keys(piece.text) for piece in window))) for window in windows]
        kept = sorted(sorted(kept, key=lambda index: (-shared[index], index))[:most_windows])
    return Windows(
        shown=tuple(windows[index] for index in kept),
        windows=len(windows),
        shown_characters=sum(_length(windows[index]) for index in kept),
        characters=sum(map(_length, windows)),
    )


def _packed(passages: Iterable[Passage], size: int) -> Iterator[tuple[Piece, ...]]:
    window: list[Piece] = []
    room = size
    for passage in passages:
        if not passage.text.strip():
            continue
        pieces = [Piece(passage, 0, len(passage.text))]
        if len(passage.text) > size:
            pieces = list(_pieces(passage, size))
        for piece in pieces:
            length = piece.end - piece.start
            if window and length > room:
                yield tuple(window)
                window, room = [], size
            window.append(piece)
            room -= length + 1  # what was cut apart at a space does not come together again
    if window:
        yield tuple(window)


def _pieces(passage: Passage, size: int) -> Iterator[Piece]:
    """A long passage in parts of whole sentences."""
    start = end = None
    for sentence_start, sentence_end in sentence_spans(passage.text):
        if start is not None and end is not None and sentence_end - start > size:
            yield Piece(passage, start, end)
            start = None
        if start is None:
            start = sentence_start
        while sentence_end - start > size:
            cut = _cut_before(passage.text, start, start + size)
            yield Piece(passage, start, cut)
            start = cut
        end = sentence_end
    if start is not None and end is not None:
        yield Piece(passage, start, end)


def _cut_before(text: str, start: int, limit: int) -> int:
    """The last white space before a limit, else the limit."""
    spaces = [match.end() for match in re.compile(r"\s+").finditer(text, max(start + 1, limit - 200), limit)]
    return spaces[-1] if spaces else limit


def _keys(text: str) -> set[str]:
    """What is compared of a text: words in small letters, and of Korean words their first two syllables.

    Particles and endings are glued to Korean words, so that whole words seldom meet.
    """
    return {word[:2] if _HANGUL.match(word) else word for word in _WORD.findall(text.lower())}


def _length(window: Iterable[Piece]) -> int:
    return sum(piece.end - piece.start for piece in window)
