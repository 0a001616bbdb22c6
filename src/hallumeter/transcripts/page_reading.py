"""A page read by an engine, against what stands on it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import repeat
from operator import sub

from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.records.rate import Rate
from hallumeter.text.align import EXACT_CELLS, align, count_edits
from hallumeter.text.spelling import AS_WRITTEN, Spelling, clusters_of
from hallumeter.text.words import words_of

from .alignment import (
    Matching,
    Stretch,
    Wording,
    absorb_islands,
    cut_into_stretches,
    find_moved_words,
    inserted_words,
    match_words,
    without_tags,
    wording_of,
)
from .error_classes import word_differences
from .line_errors import Aligned
from .loops import Repeat, cut_glued_loops, repeated_words
from .records import REMARK_KINDS, RemarkKind, WordDifference
from .remarks import FENCES, Remark, find_remarks

# Edits between a reference and a response: what error rates of words and of characters are made of.

_WORD = re.compile(r"\S+")


class EditCounts(Struct, frozen=True):
    """Words or characters that are right, replaced, missing and too many, in an alignment with few edits."""

    hits: int
    substituted: int
    deleted: int
    inserted: int

    @property
    def reference(self) -> int:
        """How many the reference has."""
        return self.hits + self.substituted + self.deleted

    @property
    def response(self) -> int:
        """How many the response has."""
        return self.hits + self.substituted + self.inserted

    @property
    def errors(self) -> int:
        """The edit distance."""
        return self.substituted + self.deleted + self.inserted

    @property
    def error_rate(self) -> Rate:
        """Errors for each word or character of the reference (WER, CER): may exceed 1; undefined if it has none."""
        return Rate(self.errors, self.reference)

    @property
    def match_error_rate(self) -> Rate:
        """Errors among all pairs of the alignment (MER): at most 1; undefined when both texts are empty."""
        return Rate(self.errors, self.hits + self.errors)

    @property
    def information_lost(self) -> float | None:
        """Word information lost (WIL): 1 - (hits / reference) * (hits / response); None when both texts are empty.

        >>> EditCounts(hits=3, substituted=1, deleted=0, inserted=0).information_lost
        0.4375
        """
        if not self.reference and not self.response:
            return None
        return 1 - self.hits * self.hits / (self.reference * self.response) if self.hits else 1.0


def count_word_edits(reference: str, response: str, *, spelling: Spelling = AS_WRITTEN) -> tuple[EditCounts, bool]:
    """Edits between the words of two texts, split at white space; and whether they are surely the fewest.

    The texts are in their spelling already; a profile may cut its words elsewhere.

    >>> count_word_edits("le roi de france", "le roy de france")[0].error_rate
    Rate(count=1, total=4)
    """
    cut = spelling.profile.cut
    return _counted(cut(reference), cut(response))


def count_character_edits(reference: str, response: str, *, spelling: Spelling = AS_WRITTEN) -> tuple[EditCounts, bool]:
    """Edits between the characters of two texts, white space around them left out; and whether they are the fewest.

    White space inside counts, line ends too; a profile may count otherwise. The texts are in their spelling already.
    Texts too long for one comparison are compared between the words that they share.
    """
    characters = spelling.profile.characters
    on_page, written = characters(reference), characters(response)
    if len(on_page) * len(written) <= EXACT_CELLS:
        return _counted(on_page, written)
    replaced = deleted = inserted = 0
    pieces = _parts_between_shared_words("".join(on_page), "".join(written))
    cut = clusters_of if spelling.profile.has_clusters else str
    for reference_part, response_part in pieces:
        if reference_part != response_part:
            counts = count_edits(cut(reference_part), cut(response_part))
            replaced, deleted, inserted = replaced + counts[0], deleted + counts[1], inserted + counts[2]
    return EditCounts(len(on_page) - replaced - deleted, replaced, deleted, inserted), False


def _counted(reference: Sequence[Hashable], response: Sequence[Hashable]) -> tuple[EditCounts, bool]:
    replaced, deleted, inserted, is_exact = count_edits(reference, response)
    return EditCounts(len(reference) - replaced - deleted, replaced, deleted, inserted), is_exact


def _parts_between_shared_words(reference: str, response: str) -> Iterator[tuple[str, str]]:
    """What stands between shared words in both texts, in turn."""
    reference_spans = [match.span() for match in _WORD.finditer(reference)]
    response_spans = [match.span() for match in _WORD.finditer(response)]
    bottom = right = 0
    for kind, first, last, other_first, other_last in align(reference.split(), response.split()).steps:
        if kind == "equal":
            pairs = zip(reference_spans[first:last], response_spans[other_first:other_last], strict=True)
            for (top, next_bottom), (left, next_right) in pairs:
                yield reference[bottom:top], response[right:left]
                bottom, right = next_bottom, next_right
    yield reference[bottom:], response[right:]


# Numbers and names in a response: an invented date or person is worse than a misread letter.

_NUMBER = re.compile(r"\d+(?:[^\w\s]\d+)*")
_LINE_ENDS = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SENTENCE_ENDS = frozenset(".!?:…。")


def invented_numbers(reference: Wording, response: Wording, *, left_out: Collection[int] = ()) -> Rate:
    """Words of the response with a digit whose numbers the reference does not have so often, of all with a digit.

    A number is compared with its inner separators and without what stands around it: "1,204" is not "1204", but
    "No.7" is "7". Words of the response at the places left out count nowhere. Undefined when the response has none.
    """
    written = _numbers(_without(response, left_out))
    return Rate((written - _numbers(reference)).total(), written.total())


def _without(wording: Wording, places: Collection[int]) -> Wording:
    if not places:
        return wording
    kept = [place for place in range(len(wording)) if place not in places]
    return Wording(
        [wording.keys[place] for place in kept],
        [wording.texts[place] for place in kept],
        [wording.starts[place] for place in kept],
        [wording.ends[place] for place in kept],
    )


def _numbers(wording: Wording) -> Counter[str]:
    if "".join(wording.keys).isalpha():
        return Counter()
    with_digits = (text for key, text in zip(wording.keys, wording.texts, strict=True) if not key.isalpha())
    found = map(_NUMBER.findall, with_digits)
    return Counter(" ".join(numbers) for numbers in found if numbers)


def invented_names(
    matching: Matching, *, reference: Wording, response: Wording, text: str, left_out: Collection[int] = ()
) -> Rate:
    """Capitalised words inside sentences whose letters are not on the page, of all such words of the response.

    A word counts that begins with a capital, has a small letter, and begins neither a line nor a sentence. It is
    invented when it was not read by its letters and is no word of the reference either. Words at the places left out
    count nowhere. Undefined when the response has no such word, as in scripts without capitals.
    """
    aligned = Aligned(matching, reference, response, left_out)
    places = _name_places(response, text, left_out)
    return Rate(len(_unknown_places(places, aligned)), len(places))


def invented_name_places(aligned: Aligned, text: str) -> list[int]:
    """Where the invented names stand among the words of the response."""
    return _unknown_places(_name_places(aligned.written, text, aligned.left_out), aligned)


def _name_places(response: Wording, text: str, left_out: Collection[int]) -> list[int]:
    may_be = [place for place, start in enumerate(response.starts) if place and not text[start].islower()]
    return [place for place in may_be if place not in left_out and _is_name(text, response, place)]


def _unknown_places(places: list[int], aligned: Aligned) -> list[int]:
    known, keys = set(aligned.on_page.keys), aligned.written.keys
    return [place for place in places if not aligned.matching.is_alike[place] and keys[place] not in known]


def _is_name(text: str, response: Wording, place: int) -> bool:
    start, end = response.starts[place], response.ends[place]
    word = text[start:end]
    letters = word if word[0].isalpha() else word.lstrip("\"'([{<*_«“‘„¿¡-—")
    if not letters[:1].isupper() or letters.isupper() or len(letters) < 2:
        return False
    before = text[response.ends[place - 1] : start]
    return not _LINE_ENDS.search(before) and not _ends_sentence(text[response.starts[place - 1] : start])


def _ends_sentence(text: str) -> bool:
    """Whether a sentence ends after the last letter or digit. Read from the end: signs may go on for a whole page."""
    telling = (character for character in reversed(text) if character in _SENTENCE_ENDS or character.isalnum())
    return next(telling, "") in _SENTENCE_ENDS


_FEWEST_WORDS_BESIDE_REFUSAL = 5
LONGEST_PAGE = 10_000_000
"""Characters of one text that fit into the memory of a small machine with all that is found out about its words."""


class PageReading(Struct, frozen=True):
    """What an engine did with a page."""

    words: EditCounts
    """Edits of words split at white space, under the spelling."""
    characters: EditCounts
    """Edits of characters, white space inside the text included, under the spelling."""
    is_exact: bool
    """Whether both are the fewest edits; on pages too long for that, error rates are upper bounds."""
    reference_words: int
    """Words with a letter or digit on the page."""
    response_words: int
    """Words with a letter or digit in the response: those read, moved and inserted together."""
    read_words: int
    """Words read in their place, right or misread."""
    moved_words: int
    """Words read at another place of the page."""
    inserted_words: int
    """Words that are not on the page; those of blocks and loops are among them."""
    block_words: int
    loop_words: int
    remark_words: int
    """Words about the page, not from it, which are in neither blocks nor loops."""
    remarks: tuple[RemarkKind, ...]
    """Kinds of remarks that the engine made, each once; a fence around the text is one without a word."""
    is_refused: bool
    """Whether the engine said that it cannot read the page, and wrote next to nothing else."""
    omitted_words: int
    """Words of the page that are not in the response."""
    multiset_inserted: int
    """Words of the response beyond those of the page, wherever they stand."""
    numbers: Rate
    """Invented numbers of all numbers in the response."""
    names: Rate
    """Invented names of all names in the response."""
    stretches: tuple[Stretch, ...]
    """In the order of the response; omissions where they are missing."""
    differences: tuple[WordDifference, ...] = ()
    """Words that were read otherwise than they are spelled on the page, by what differs."""
    aligned: Aligned | None = None
    """Word by word, for whoever looks closer."""

    @property
    def error_classes(self) -> Counter[str]:
        """How many words differ in each way."""
        return Counter(difference.kind for difference in self.differences)

    @property
    def is_wholly_inserted(self) -> bool:
        """Whether nothing that the engine wrote is on the page; one word in the place of one word may be misread.

        A refusal or a note is no attempt at the page.

        >>> read_page("le roi de france est mort", "Photo unavailable").is_wholly_inserted
        True
        """
        if self.remark_words:
            return False
        is_one_for_one = self.response_words == self.reference_words == 1
        return 0 < self.response_words == self.inserted_words and not is_one_for_one


def read_page(
    reference: str, response: str, *, spelling: Spelling = AS_WRITTEN, count_notes: bool = False
) -> PageReading:
    """Say what an engine read, misread, moved, left out, invented and repeated, word by word and with its place.

    Edits are strict. For the rest, case, signs, the Unicode form, and how words are cut or joined make no
    difference, and a word is read when half of its letters are. Words of signs alone count nowhere. What the engine
    wrote about the page (a refusal, a note) is a remark, not invented, unless `count_notes` says so. A text of more
    than `LONGEST_PAGE` characters raises RecordError.

    >>> reading = read_page("le roi de france est mort", "le roy de france est mort à paris en 1422")
    >>> [(each.kind, each.words) for each in reading.stretches]
    [('run', 6), ('block', 4)]
    >>> reading.numbers
    Rate(count=1, total=1)
    """
    _check_lengths(reference=reference, response=response)
    strict_reference, strict_response = spelling.text(reference), spelling.text(response)
    words, has_exact_words = count_word_edits(strict_reference, strict_response, spelling=spelling)
    characters, has_exact_characters = count_character_edits(strict_reference, strict_response, spelling=spelling)
    on_page, written = (_counted_words(text, spelling) for text in (reference, response))
    matching, repeats = _matched(on_page, written)
    inserted = matching.firsts.count(-1)
    remarks = find_remarks(response) if inserted or any(fence in response for fence in FENCES) else []
    unread = inserted_words(matching, written, repeats=repeats, remarks=remarks, is_counted=count_notes)
    stretches = cut_into_stretches(matching, on_page, written, inserted=unread)
    left_out = () if count_notes else unread.remarks
    words_of_kind, moved = _words_of_kind(stretches), sum(matching.is_moved)
    return PageReading(
        words=words,
        characters=characters,
        is_exact=has_exact_words and has_exact_characters,
        reference_words=len(on_page),
        response_words=len(written),
        read_words=len(written) - inserted - moved,
        moved_words=moved,
        inserted_words=inserted,
        block_words=words_of_kind["block"],
        loop_words=words_of_kind["loop"],
        remark_words=words_of_kind["remark"],
        remarks=_kinds_of(stretches, remarks, response),
        is_refused=_is_refused(stretches, remarks, written),
        omitted_words=sum(matching.is_omitted),
        multiset_inserted=_count_beyond(written.keys, on_page.keys),
        numbers=invented_numbers(on_page, written, left_out=left_out),
        names=invented_names(matching, reference=on_page, response=written, text=response, left_out=left_out),
        stretches=stretches,
        differences=tuple(word_differences(matching, on_page, written)),
        aligned=Aligned(matching, on_page, written, left_out),
    )


def _check_lengths(**texts: str) -> None:
    for name, text in texts.items():
        if len(text) > LONGEST_PAGE:
            raise RecordError(
                f"the {name} of a page has {len(text):,} characters, more than the {LONGEST_PAGE:,} that can be read "
                "at once; is it one page? Leave it out or cut it"
            )


def _matched(on_page: Wording, written: Wording) -> tuple[Matching, list[Repeat]]:
    """Which words were read, in their place or at another one, and which are repeated."""
    matching = match_words(on_page.keys, written.keys)
    # More than half of a loop is unread, and the shortest has six words.
    repeats = repeated_words(written.keys) if matching.firsts.count(-1) > 3 else []
    absorb_islands(matching, repeats)
    find_moved_words(matching, on_page.keys, written.keys)
    return matching, repeats


def _count_beyond(written: Sequence[str], on_page: Sequence[str]) -> int:
    """Words of a response beyond those of the page, wherever they stand."""
    known, found = Counter(on_page), Counter(written)
    beyond = map(sub, found.values(), map(known.get, found, repeat(0)))
    return sum(times for times in beyond if times > 0)


def _words_of_kind(stretches: Sequence[Stretch]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for stretch in stretches:
        counted[stretch.kind] += stretch.words
    return counted


def _kinds_of(stretches: Sequence[Stretch], remarks: Sequence[Remark], response: str) -> tuple[RemarkKind, ...]:
    found = {stretch.remark for stretch in stretches}
    if any(response[each.start : each.end].lstrip().startswith(FENCES) for each in remarks):
        found.add("wrapper")
    return tuple(kind for kind in REMARK_KINDS if kind in found)


def _is_refused(stretches: Sequence[Stretch], remarks: Sequence[Remark], written: Wording) -> bool:
    """Whether a response refuses, and has fewer words beside its remarks than a page needs to be badged."""
    if not any(stretch.kind == "remark" and stretch.remark in {"refusal", "apology"} for stretch in stretches):
        return False
    inside = sum(bisect_left(written.starts, each.end) - bisect_left(written.starts, each.start) for each in remarks)
    return len(written) - inside < _FEWEST_WORDS_BESIDE_REFUSAL


def _counted_words(text: str, spelling: Spelling) -> Wording:
    return wording_of(cut_glued_loops(words_of(without_tags(text), spelling)), text)
