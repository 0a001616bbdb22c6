"""Which words of a response were read from the page: the same words, or words with enough of the same letters."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from hallumeter.text.align import align

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hallumeter.text.align import Step

ALIKE = 0.5
"""Share of a word's letters, and of all letters between two words read right, that must be found in the reference."""


class Matching:
    """What became of every word, as it is found out."""

    def __init__(self, reference_words: int, response_words: int) -> None:
        self.firsts = [-1] * response_words
        """First word of the reference that a word of the response was read from; -1 when it was not read."""
        self.lasts = [-1] * response_words
        self.is_misread = bytearray(response_words)
        self.is_alike = bytearray(response_words)
        """Whether the letters were found, too: a word in the place of another may be a misreading with none."""
        self.is_moved = bytearray(response_words)
        self.is_omitted = bytearray(b"\1") * reference_words

    def read(self, place: int, first: int, last: int, *, is_misread: bool) -> None:
        """A word was read from these words of the reference, which are not left out then."""
        self.firsts[place], self.lasts[place] = first, last
        self.is_misread[place], self.is_alike[place] = is_misread, True
        self.is_omitted[first : last + 1] = bytes(last + 1 - first)

    def forget(self, places: Collection[int]) -> None:
        """Some words were not read after all; what no other word was read from is left out."""
        for place in places:
            self.firsts[place] = self.lasts[place] = -1
            self.is_misread[place] = self.is_alike[place] = False
        self.is_omitted[:] = b"\1" * len(self.is_omitted)
        for first, last in zip(self.firsts, self.lasts, strict=True):
            if first >= 0:
                self.is_omitted[first : last + 1] = bytes(last + 1 - first)


def match_words(reference: Sequence[str], response: Sequence[str]) -> Matching:
    """Read the response word by word where words are equal, and by letters between them."""
    matching = Matching(len(reference), len(response))
    for is_equal, top, bottom, left, right in _equal_and_gaps(align(reference, response).steps):
        if is_equal:
            length = bottom - top
            matching.firsts[left:right] = matching.lasts[left:right] = range(top, bottom)
            matching.is_alike[left:right] = b"\1" * length
            matching.is_omitted[top:bottom] = bytes(length)
        elif top < bottom and left < right:
            is_inside = bottom - top < len(reference) or right - left < len(response)
            read_gap(matching, reference, response, gap=(top, bottom, left, right))
            if is_inside and bottom - top == right - left == 1 and matching.firsts[left] < 0:
                # One word in the place of one other is a misreading, however bad.
                matching.read(left, top, top, is_misread=True)
                matching.is_alike[left] = False
    return matching


def _equal_and_gaps(steps: Sequence[Step]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Steps in turn, with neighbours that are not equal joined."""
    top = left = bottom = right = 0
    for kind, next_top, next_bottom, next_left, next_right in steps:
        if kind == "equal":
            if bottom > top or right > left:
                yield False, top, bottom, left, right
            yield True, next_top, next_bottom, next_left, next_right
            top, left = next_bottom, next_right
        bottom, right = next_bottom, next_right
    if bottom > top or right > left:
        yield False, top, bottom, left, right


def read_gap(
    matching: Matching, reference: Sequence[str], response: Sequence[str], *, gap: tuple[int, int, int, int]
) -> None:
    """Read a part of the response by letters, spaces left out, so that words cut, joined or spaced out are read.

    A word is read when enough of its letters are found, in order and close together: the share is of its letters or
    of the stretch of the reference that they are spread over, whichever is longer, for any few letters are found
    somewhere in a long text. Unless this holds for the letters of the gap as a whole, none of its words is read:
    texts that have nothing to do with each other share some words by chance.
    """
    top, bottom, left, right = gap
    reference_ends = list(accumulate(map(len, reference[top:bottom])))
    response_ends = list(accumulate(map(len, response[left:right])))
    blocks = [
        step[1:]
        for step in align("".join(reference[top:bottom]), "".join(response[left:right])).steps
        if step.kind == "equal"
    ]
    found = list(_found_letters(blocks, response_ends))
    if sum(share * length for share, length, _ in found) < ALIKE * response_ends[-1]:
        return
    for place, (share, _, pieces) in enumerate(found, left):
        if share < ALIKE:
            continue
        first = bisect_right(reference_ends, pieces[0][0])
        last = bisect_right(reference_ends, pieces[-1][1] - 1)
        is_same = first == last and response[place] == reference[top + first]
        matching.read(place, top + first, top + last, is_misread=not is_same)


def _found_letters(
    blocks: list[tuple[int, int, int, int]], ends: list[int]
) -> Iterator[tuple[float, int, list[tuple[int, int]]]]:
    """For each word its share of found letters, its length, and where in the reference the letters are."""
    start = block = 0
    for end in ends:
        pieces = []
        while block < len(blocks):
            top, _, left, right = blocks[block]
            if left >= end:
                break
            first, last = max(left, start), min(right, end)
            pieces.append((top + first - left, top + last - left))
            if right > end:
                break
            block += 1
        letters = sum(last - first for first, last in pieces)
        spread = pieces[-1][1] - pieces[0][0] if pieces else 0
        yield letters / max(end - start, spread), end - start, pieces
        start = end
