"""Which words of a response were read from the page: the same words, or words with enough of the same letters."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Literal

from msgspec import Struct

from hallumeter.text.align import Step, align, equal_parts
from hallumeter.text.words import Words

from .loops import Repeat
from .records import RemarkKind
from .remarks import Remark

# The words of a page that count, in the form in which they are looked for.

LONGEST_RULE = 1_000
"""Signs on one line beyond which they are no rule, dot leader or row of a table any more, but written without end.

Of 16,270 outputs of vision models, tables had up to 300 signs in a line, and what ran away 800 and far more."""
LONGEST_LAYOUT = 4_000
"""Signs without a letter or digit between them, over several lines: as many as fill a page of 50 lines with rules."""
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff][\u0300-\u036f]*")
_POINTS = re.compile("[\u0300-\u036f]")
_POINTS_ALONE = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u06d6-\u06dc]")
_POINTED = re.compile(f"{_POINTS_ALONE.pattern[:-1]}\u0370-\u03ff\u1f00-\u1fff]")
"""Letters of Greek, and points of Hebrew and Arabic."""
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,9}(?:\s[^<>]*)?/?>")


class _WithoutSigns(dict[int, int | None]):
    """What becomes of each character when signs are taken out, found when it is first met; line feeds stay."""

    def __missing__(self, code: int) -> int | None:
        is_sign = unicodedata.category(chr(code))[0] in "PSC" and code != ord("\n")
        result = None if is_sign else code
        self[code] = result
        return result


WITHOUT_SIGNS = _WithoutSigns()


class Wording(Struct, frozen=True):
    """The words that have a letter or a digit, and where they stand."""

    keys: list[str]
    """What is compared: case folded, composed (NFC), letters and digits alone, without signs between or around."""
    texts: list[str]
    """The words in the chosen spelling."""
    starts: list[int]
    """Where the words begin in the original text."""
    ends: list[int]

    def __len__(self) -> int:
        return len(self.keys)


def without_tags(text: str) -> str:
    """The text with spaces in the place of tags, so that cells of a table are words and every place stays.

    >>> without_tags("<td class='x'>a</td><td>b</td>")
    '              a         b     '
    """
    return _TAG.sub(lambda tag: " " * len(tag[0]), text) if "<" in text else text


def wording_of(words: Words, text: str) -> Wording:
    """The words of a text that count: signs alone (`**`, `|`, a bullet, a rule) do not, unless they go on and on.

    >>> from hallumeter.text.words import words_of
    >>> text = "** «l'Étienne,» I."
    >>> wording_of(words_of(text), text).keys
    ['létienne', 'i']
    """
    keys = _keys(words.texts)
    if all(keys):
        return Wording(keys, list(words.texts), list(words.starts), list(words.ends))
    if sum(len(word) for word, key in zip(words.texts, keys, strict=True) if not key) > LONGEST_RULE:
        _keep_endless_marks(keys, words, text)
    kept = [place for place, key in enumerate(keys) if key]
    return Wording(
        [keys[place] for place in kept],
        [words.texts[place] for place in kept],
        [words.starts[place] for place in kept],
        [words.ends[place] for place in kept],
    )


def _keys(words: tuple[str, ...]) -> list[str]:
    """Words as they are looked for, all at once; empty where there is no letter or digit."""
    if not words:
        return []
    lines = "\n".join(words).casefold()
    if lines.isascii():
        return lines.translate(WITHOUT_SIGNS).split("\n")
    if _POINTED.search(lines):
        lines = _without_points(lines)
    keys = unicodedata.normalize("NFC", lines).translate(WITHOUT_SIGNS).split("\n")
    # Accents alone are no word.
    return [key if key.isalnum() or any(map(str.isalnum, key)) else "" for key in keys]


def _without_points(text: str) -> str:
    """The text without niqqud, harakat and the accents of Greek, which many editions leave out; other accents stay."""
    pieces = _GREEK.sub(lambda letters: _POINTS.sub("", unicodedata.normalize("NFD", letters[0])), text)
    return _POINTS_ALONE.sub("", pieces)


def _keep_endless_marks(keys: list[str], words: Words, text: str) -> None:
    """Give signs a key where more of them follow one another than a page with rules and tables has."""
    start = whole = in_line = 0
    is_endless = False
    for place, key in enumerate([*keys, "end"]):
        if not key:
            is_new_line = place > start and "\n" in text[words.ends[place - 1] : words.starts[place]]
            length = len(words.texts[place])
            whole, in_line = whole + length, length + (0 if is_new_line else in_line)
            is_endless |= in_line > LONGEST_RULE or whole > LONGEST_LAYOUT
            continue
        if is_endless:
            keys[start:place] = words.texts[start:place]
        start, whole, in_line, is_endless = place + 1, 0, 0, False


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
            if bottom - top == right - left == 1:
                is_inside = len(reference) > 1 or len(response) > 1
                _read_word(matching, reference[top], response[left], places=(top, left), is_inside=is_inside)
            else:
                read_gap(matching, reference, response, gap=(top, bottom, left, right))
    return matching


def _read_word(matching: Matching, word: str, written: str, *, places: tuple[int, int], is_inside: bool) -> None:
    """Read one word in the place of one other, as `read_gap` does; between other words it is a misreading at worst."""
    blocks = equal_parts(word, written)
    letters = sum([bottom - top for top, bottom, _, _ in blocks])
    is_alike = bool(blocks) and letters >= ALIKE * max(len(written), blocks[-1][1] - blocks[0][0])
    if is_alike or is_inside:
        top, left = places
        matching.read(left, top, top, is_misread=True)
        matching.is_alike[left] = is_alike


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
    blocks = equal_parts("".join(reference[top:bottom]), "".join(response[left:right]))
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
        letters = spread = 0
        for first, last in pieces:
            letters += last - first
            spread = last - pieces[0][0]
        yield letters / max(end - start, spread), end - start, pieces
        start = end


# Text of the page that stands at another place of the response, as when columns are read in another order.

SHORTEST_MOVE = 4
"""Words that must be unread in a row before they are looked for elsewhere."""
_SEED = 3
_MOST_PLACES = 4
"""Places of one seed that are tried: what stands on a page more often tells little about where text came from."""
_MOST_BETWEEN = 8
"""Words between two moved runs that may belong to them, misread."""


def find_moved_words(matching: Matching, reference: Sequence[str], response: Sequence[str]) -> None:
    """Read runs of unread words from left-out words of the page, the longest shared runs first, each word once."""
    unread = [(start, end) for start, end in unread_runs(matching) if end - start >= SHORTEST_MOVE]
    seeds = _seeds(matching, reference) if unread else {}
    shared = (
        [run for start, end in unread for run in _shared_runs(response, seeds, start=start, end=end)] if seeds else []
    )
    taken = []
    page = _Page(matching, reference, response)
    for whole in sorted(shared, key=lambda run: (-run[2], run)):
        run = page.free_run(whole)
        if run is None:
            continue
        left, top, length = run
        for offset in range(length):
            matching.read(left + offset, top + offset, top + offset, is_misread=False)
        matching.is_moved[left : left + length] = b"\1" * length
        taken.append(run)
    _read_between(matching, reference, response, taken=sorted(taken))


def unread_runs(matching: Matching) -> Iterator[tuple[int, int]]:
    """Start and end of each run of words that were not read."""
    firsts, end = matching.firsts, 0
    size, left = len(firsts), firsts.count(-1)
    while left:
        start = firsts.index(-1, end)
        end = start + 1
        while end < size and firsts[end] < 0:
            end += 1
        left -= end - start
        yield start, end


def _seeds(matching: Matching, reference: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Where each few words in a row stand among the words left out."""
    seeds: dict[tuple[str, ...], list[int]] = {}
    omitted = matching.is_omitted
    for place in range(len(reference) - _SEED + 1):
        if omitted[place] and omitted[place + 1] and omitted[place + 2]:
            places = seeds.setdefault(tuple(reference[place : place + _SEED]), [])
            if len(places) < _MOST_PLACES:
                places.append(place)
    return seeds


def _shared_runs(
    response: Sequence[str], seeds: dict[tuple[str, ...], list[int]], *, start: int, end: int
) -> Iterator[tuple[int, int, int]]:
    """Runs of the response that stand in the reference as well: where, where there, and how many words."""
    begun: dict[int, int] = {}
    for place in range(start, end - _SEED + 2):
        # At the last place no seed fits, which ends all runs.
        tops = seeds.get(tuple(response[place : place + _SEED]), ()) if place + _SEED <= end else ()
        going_on = {top: begun.pop(top - 1, place) for top in tops}
        for top, first in begun.items():
            length = place - first + _SEED - 1
            yield first, top + _SEED - length, length
        begun = going_on


class _Page:
    """A page whose words are being looked for in unread parts of a response."""

    def __init__(self, matching: Matching, reference: Sequence[str], response: Sequence[str]) -> None:
        self.matching, self.reference, self.response = matching, reference, response

    def is_free(self, left: int, top: int) -> bool:
        """Whether a word of the response is the same as one of the page, and both are unused."""
        return (
            left < len(self.response)
            and top < len(self.reference)
            and self.matching.firsts[left] < 0
            and bool(self.matching.is_omitted[top])
            and self.response[left] == self.reference[top]
        )

    def free_run(self, run: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """What is still free of a shared run, made as long as possible; None when it is too short to tell."""
        left, top, length = run
        offset = 0
        while offset < length and not self.is_free(left + offset, top + offset):
            offset += 1
        left, top, length = left + offset, top + offset, 0
        while self.is_free(left + length, top + length):
            length += 1
        while min(left, top) > 0 and self.is_free(left - 1, top - 1):
            left, top, length = left - 1, top - 1, length + 1
        return (left, top, length) if length >= _SEED else None


def _read_between(
    matching: Matching, reference: Sequence[str], response: Sequence[str], *, taken: list[tuple[int, int, int]]
) -> None:
    """Read the few words between two moved runs that follow each other on the page as well."""
    for (left, top, length), (next_left, next_top, _) in pairwise(taken):
        first, reference_first = left + length, top + length
        is_near = 0 < next_left - first <= _MOST_BETWEEN and 0 < next_top - reference_first <= _MOST_BETWEEN
        if is_near and max(matching.firsts[first:next_left]) < 0 and all(matching.is_omitted[reference_first:next_top]):
            read_gap(matching, reference, response, gap=(reference_first, next_top, first, next_left))
            for place in range(first, next_left):
                matching.is_moved[place] = matching.firsts[place] >= 0


# A response cut into what was read and what was not, and the places where something is missing.

StretchKind = Literal["run", "insertion", "block", "loop", "remark", "omission"]
SHORTEST_BLOCK = 4
"""Unread words in a row from which an insertion is a block."""
WIDEST_ISLAND = 2
"""Words between unread ones that are no reading of the page, but shared by chance."""
FEWEST_ENDLESS_NOTES = 50
"""Words in remarks, and more than on the page, from which those that repeat are a loop: "[illegible]" without end."""


class Stretch(Struct, frozen=True):
    """Words in a row that one thing happened to."""

    kind: StretchKind
    """Read, perhaps misread; not on the page (block from four words on); repeated; about the page; left out."""
    words: int
    """Words of the response that have a letter or digit; of the reference, for an omission."""
    start: int | None
    """First code point in the original response; None for an omission."""
    end: int | None
    reference_start: int | None
    """First code point in the original reference; None for what is not there."""
    reference_end: int | None
    is_moved: bool = False
    """Whether a run was read at another place of the page."""
    period: int | None = None
    """Words that a loop repeats."""
    copies: float | None = None
    """Copies in the whole repetition, also those that were read."""
    misread_words: int = 0
    """Words of a run that are not spelled as on the page, case and signs aside."""
    remark: RemarkKind | None = None
    """What words are that the engine wrote about the page, also where they count as invented."""


def absorb_islands(matching: Matching, repeats: Sequence[Repeat]) -> None:
    """Count one or two read words between unread ones as unread, when these are four together or more.

    Any two texts of a language share words such as "of the". A whole copy inside a loop is left as it is: there it is
    chance which of the copies was aligned with the page.
    """
    runs = list(unread_runs(matching))
    if len(runs) < 2:
        return
    short_loops = [repeat for repeat in repeats if repeat.period <= WIDEST_ISLAND]
    may_be_copies = {place for repeat in short_loops for place in range(repeat.start, repeat.end)}
    start, end = runs[0]
    unread = end - start
    islands: list[int] = []
    for next_start, next_end in runs[1:]:
        island = range(end, next_start)
        is_near = len(island) <= WIDEST_ISLAND and unread + next_end - next_start >= SHORTEST_BLOCK
        if is_near and may_be_copies.isdisjoint(island):
            islands += island
            unread += next_end - end
        else:
            unread = next_end - next_start
        end = next_end
    if islands:
        matching.forget(islands)


class Inserted(Struct, frozen=True):
    """What is known of words that are not on the page, by their places."""

    loops: dict[int, Repeat]
    remarks: dict[int, RemarkKind]
    are_remarks_counted: bool
    """Whether remarks count as invented."""


def inserted_words(
    matching: Matching, response: Wording, *, repeats: Sequence[Repeat], remarks: Sequence[Remark], is_counted: bool
) -> Inserted:
    """Tell unread words apart: loops, remarks, and all others.

    Notes that go on beyond the length of the page are a loop, whatever they say.
    """
    loops = _loop_by_word(repeats, matching)
    kinds = _remark_by_word(remarks, matching, response)
    if len(kinds) > max(len(matching.is_omitted), FEWEST_ENDLESS_NOTES):
        kinds = {place: kind for place, kind in kinds.items() if place not in loops}
    return Inserted(loops, kinds, is_counted)


def _remark_by_word(remarks: Sequence[Remark], matching: Matching, response: Wording) -> dict[int, RemarkKind]:
    found: dict[int, RemarkKind] = {}
    for remark in remarks:
        first = bisect_left(response.starts, remark.start)
        for place in range(first, bisect_left(response.starts, remark.end)):
            if matching.firsts[place] < 0:
                found[place] = remark.kind
    return found


def cut_into_stretches(
    matching: Matching, reference: Wording, response: Wording, *, inserted: Inserted
) -> tuple[Stretch, ...]:
    """Everything in the order of the response; an omission stands before the first word read after it."""
    stretches: list[Stretch] = []
    cursor = start = 0
    size = len(response)
    while start < size:
        end = _end_of_stretch(matching, inserted, start)
        if matching.firsts[start] >= 0:
            if not matching.is_moved[start]:
                reached = matching.lasts[start] + 1
                stretches += _omissions(matching, reference, start=cursor, end=reached)
                cursor = max(cursor, max(matching.lasts[start:end]) + 1)
            stretches.append(_run(matching, reference, response, span=(start, end)))
        else:
            stretches.append(_inserted(response, inserted, span=(start, end)))
        start = end
    stretches += _omissions(matching, reference, start=cursor, end=len(reference))
    return tuple(stretches)


def _loop_by_word(repeats: Sequence[Repeat], matching: Matching) -> dict[int, Repeat]:
    """The longest loop that each unread word is part of; a repetition of which the page has half is none."""
    loop_of: dict[int, Repeat] = {}
    for repeat in sorted(repeats, key=lambda each: each.end - each.start):
        unread = [place for place in range(repeat.start, repeat.end) if matching.firsts[place] < 0]
        if 2 * len(unread) > repeat.end - repeat.start:
            loop_of.update(dict.fromkeys(unread, repeat))
    return loop_of


def _end_of_stretch(matching: Matching, inserted: Inserted, start: int) -> int:
    """Where a stretch ends: at another kind of word, or where the next read word does not follow on the page."""
    firsts, lasts = matching.firsts, matching.lasts
    end = start + 1
    if firsts[start] < 0:
        remark = inserted.remarks.get(start)
        # What a remark repeats is no loop.
        loops = {} if remark is not None and not inserted.are_remarks_counted else inserted.loops
        loop = loops.get(start)
        while end < len(firsts) and firsts[end] < 0 and inserted.remarks.get(end) is remark and loops.get(end) is loop:
            end += 1
        return end
    is_moved, omitted = matching.is_moved, matching.is_omitted
    size, move, last = len(firsts), is_moved[start], lasts[start]
    while end < size and firsts[end] >= 0 and is_moved[end] == move:
        following = lasts[end]
        # Most words follow at once.
        if following != last + 1 and (last > following or omitted.find(1, last + 1, following + 1) >= 0):
            break
        last = following
        end += 1
    return end


def _omissions(matching: Matching, reference: Wording, *, start: int, end: int) -> Iterator[Stretch]:
    """The runs of left-out words in a part of the reference."""
    first = None
    for place in range(start, end + 1):
        if place < end and matching.is_omitted[place]:
            first = place if first is None else first
        elif first is not None:
            yield Stretch("omission", place - first, None, None, reference.starts[first], reference.ends[place - 1])
            first = None


def _run(matching: Matching, reference: Wording, response: Wording, *, span: tuple[int, int]) -> Stretch:
    first, end = span
    return Stretch(
        "run",
        end - first,
        response.starts[first],
        response.ends[end - 1],
        reference.starts[min(matching.firsts[first:end])],
        reference.ends[max(matching.lasts[first:end])],
        is_moved=bool(matching.is_moved[first]),
        misread_words=sum(matching.is_misread[first:end]),
    )


def _inserted(response: Wording, inserted: Inserted, *, span: tuple[int, int]) -> Stretch:
    first, end = span
    words, start, stop = end - first, response.starts[first], response.ends[end - 1]
    remark, loop = inserted.remarks.get(first), inserted.loops.get(first)
    if remark is not None and not inserted.are_remarks_counted:
        return Stretch("remark", words, start, stop, None, None, remark=remark)
    if loop is not None:
        return Stretch("loop", words, start, stop, None, None, period=loop.period, copies=loop.copies, remark=remark)
    kind: StretchKind = "block" if words >= SHORTEST_BLOCK else "insertion"
    return Stretch(kind, words, start, stop, None, None, remark=remark)
