"""A page read by an engine, against what stands on it."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.records import Rate
from hallumeter.text.spelling import AS_WRITTEN, Spelling
from hallumeter.text.words import words_of

from .details import invented_names, invented_numbers
from .edits import EditCounts, count_character_edits, count_word_edits
from .glued import cut_glued_loops
from .matching import match_words
from .moved import find_moved_words
from .repeats import repeated_words
from .stretches import Stretch, absorb_islands, cut_into_stretches
from .wording import Wording, without_tags, wording_of

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


def read_page(reference: str, response: str, *, spelling: Spelling = AS_WRITTEN) -> PageReading:
    """Say what an engine read, misread, moved, left out, invented and repeated, word by word and with its place.

    Edits are strict. For the rest, case, signs, the Unicode form, and how words are cut or joined make no
    difference, and a word is read when half of its letters are. Words of signs alone count nowhere. A text of more
    than `LONGEST_PAGE` characters raises RecordError.

    >>> reading = read_page("le roi de france est mort", "le roy de france est mort à paris en 1422")
    >>> [(each.kind, each.words) for each in reading.stretches]
    [('run', 6), ('block', 4)]
    >>> reading.numbers
    Rate(count=1, total=1)
    """
    for name, text in (("reference", reference), ("response", response)):
        if len(text) > LONGEST_PAGE:
            raise RecordError(
                f"the {name} of a page has {len(text):,} characters, more than the {LONGEST_PAGE:,} that can be read "
                "at once; is it one page? Leave it out or cut it"
            )
    strict_reference, strict_response = spelling.text(reference), spelling.text(response)
    words, has_exact_words = count_word_edits(strict_reference, strict_response)
    characters, has_exact_characters = count_character_edits(strict_reference, strict_response)
    on_page, written = (_counted_words(text, spelling) for text in (reference, response))
    matching = match_words(on_page.keys, written.keys)
    # More than half of a loop is unread, and the shortest has six words.
    repeats = repeated_words(written.keys) if matching.firsts.count(-1) > 3 else []
    absorb_islands(matching, repeats)
    find_moved_words(matching, on_page.keys, written.keys)
    stretches = cut_into_stretches(matching, on_page, written, repeats=repeats)
    inserted = matching.firsts.count(-1)
    moved = sum(matching.is_moved)
    return PageReading(
        words=words,
        characters=characters,
        is_exact=has_exact_words and has_exact_characters,
        reference_words=len(on_page),
        response_words=len(written),
        read_words=len(written) - inserted - moved,
        moved_words=moved,
        inserted_words=inserted,
        block_words=sum(each.words for each in stretches if each.kind == "block"),
        loop_words=sum(each.words for each in stretches if each.kind == "loop"),
        omitted_words=sum(matching.is_omitted),
        multiset_inserted=(Counter(written.keys) - Counter(on_page.keys)).total(),
        numbers=invented_numbers(on_page, written),
        names=invented_names(matching, reference=on_page, response=written, text=response),
        stretches=stretches,
    )


def _counted_words(text: str, spelling: Spelling) -> Wording:
    return wording_of(cut_glued_loops(words_of(without_tags(text), spelling)))
