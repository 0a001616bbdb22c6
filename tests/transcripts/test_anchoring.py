"""Picarones' vocabulary metrics: its worked table, a plain reading of its definition, and odd texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hallumeter.errors import SettingsError
from hallumeter.transcripts import anchoring as module
from hallumeter.transcripts.anchoring import Anchoring, AnchoringSettings, Block, PageTexts, anchor_pages, anchoring

EXAMPLES = settings(max_examples=150)
INFINITE = float("inf")

FROISSART = "Icy commence le prologue de maistre Jehan Froissart"
TABLE = [
    (FROISSART, FROISSART, 0, 1, 1, [], False),
    (FROISSART, FROISSART + " lequel fut archive au greffe royal", 0.428571, 1.686275, 0.5, [(8, 13)], True),
    (FROISSART, "", 0, 0, 0, [], True),
    ("", "", 0, 1, 1, [], False),
    ("", "some text here", 1, INFINITE, 0, [], True),
    ("le roi de france", "le roi", 0, 0.375, 0, [], True),
    ("le roi", "le roi", 0, 1, 1, [], False),
    ("le roi de france", "le roi, de france.", 0.5, 1.125, 0, [], True),
    ("le roi de france", " ".join(["le roi de france"] * 3), 0, 3.125, 0.6, [], True),
    ("a b c d e f", "a x b c y d e f", 0.25, 1.363636, 0.166667, [(1, 4)], True),
    ("a b c d", "q r s t a b", 0.666667, 1.571429, 0, [(0, 5)], True),
    ("a b c d", "q r a b", 0.5, 1, 0, [(0, 3)], True),
]
"""Reference, response, net insertion, length ratio, anchor score, blocks, badge: worked by hand."""


def plain_tokens(text: str) -> list[str]:
    return re.findall(r"\S+", text.lower())


def plain_ngrams(tokens: Sequence[str], size: int) -> list[tuple[str, ...]]:
    if len(tokens) < size:
        return [tuple(tokens)] if tokens else []
    return [tuple(tokens[place : place + size]) for place in range(len(tokens) - size + 1)]


def plain_blocks(tokens: Sequence[str], vocabulary: set[str], chosen: AnchoringSettings) -> list[Block]:
    """One token at a time: an unknown one opens a block or ends a run of known ones, a long enough run closes it."""
    found: list[Block] = []
    start: int | None = None
    known_in_a_row = 0
    for place, token in enumerate(tokens):
        if token not in vocabulary:
            start = place if start is None else start
            known_in_a_row = 0
        elif start is not None:
            known_in_a_row += 1
            if known_in_a_row >= chosen.block_tolerance:
                found.append(Block(start, place - known_in_a_row))
                start, known_in_a_row = None, 0
    if start is not None:
        found.append(Block(start, len(tokens) - 1))
    return [block for block in found if block.last - block.first + 1 >= chosen.shortest_block]


def plain_anchoring(reference: str, response: str, chosen: AnchoringSettings) -> Anchoring:
    """The definition with lists, tuples and sets."""
    on_page, written = plain_tokens(reference), plain_tokens(response)
    vocabulary = set(on_page)
    unknown = [token for token in written if token not in vocabulary]
    page_ngrams, ngrams = set(plain_ngrams(on_page, chosen.ngram)), plain_ngrams(written, chosen.ngram)
    anchored = [ngram for ngram in ngrams if ngram in page_ngrams]
    score = len(anchored) / len(ngrams) if ngrams else float(not page_ngrams)
    here, there = len(reference.strip()), len(response.strip())
    ratio = there / here if here else INFINITE if there else 1.0
    return Anchoring(
        reference_words=len(on_page),
        response_words=len(written),
        unknown_words=len(unknown),
        anchored_ngrams=len(anchored),
        ngrams=len(ngrams),
        reference_characters=here,
        response_characters=there,
        net_insertion_rate=len(unknown) / len(written) if written else 0.0,
        anchor_score=score,
        length_ratio=ratio,
        is_hallucinating=score < chosen.anchor_limit or ratio > chosen.length_ratio_limit,
        blocks=tuple(plain_blocks(written, vocabulary, chosen)),
    )


def measured(pages: Sequence[PageTexts], chosen: AnchoringSettings) -> list[Anchoring]:
    return [row for columns in anchor_pages(pages, settings=chosen) for row in columns.rows()]


def plainly_measured(pages: Sequence[PageTexts], chosen: AnchoringSettings) -> list[Anchoring]:
    return [plain_anchoring(page.reference, response, chosen) for page in pages for response in page.responses]


any_character = st.characters(exclude_categories=())
"""Surrogates and NUL included."""
LONG = ["abcdefgh", "abcdefghi", "abcdefghj", "서울특별시", "x" * 32, "x" * 33, "x" * 39 + "y", "x" * 40, "é" * 24]
"""Beyond the eight bytes, and the four times eight, that are compared at once."""
words = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "A",
        "roi,",
        "roi",
        "ß",
        "ẞ",
        "İ",
        "i̇",
        "é",
        "e\u0301",
        "\0",
        "\0a",
        "\ud800",
        "שלום",
        "\u200b",
        *LONG,
    ]
)
spaces = st.sampled_from([" ", "\n", "  ", "\u3000", "\x1c", "\xa0", "\u2028\t"])
phrases = st.lists(st.tuples(words, spaces), max_size=24).map(lambda pairs: "".join(map("".join, pairs)))
texts = phrases | st.text(any_character, max_size=20)
page_lists = st.lists(st.builds(PageTexts, texts, st.lists(texts, max_size=3)), max_size=5)
any_settings = st.builds(
    AnchoringSettings,
    ngram=st.integers(1, 6),
    length_ratio_limit=st.sampled_from([0.8, 1.0, 1.2]),
    anchor_limit=st.sampled_from([0.0, 0.5, 1.0]),
    block_tolerance=st.integers(0, 4),
    shortest_block=st.integers(0, 5),
)


@pytest.mark.parametrize(("reference", "response", "inserted", "ratio", "anchor", "blocks", "badge"), TABLE)
def test_the_table_worked_by_hand(
    reference: str,
    response: str,
    inserted: float,
    ratio: float,
    anchor: float,
    blocks: list[tuple[int, int]],
    badge: bool,
) -> None:
    found = anchoring(reference, response)
    assert found.net_insertion_rate == pytest.approx(inserted, abs=5e-7)
    assert found.length_ratio == pytest.approx(ratio, abs=5e-7)
    assert found.anchor_score == pytest.approx(anchor, abs=5e-7)
    assert list(found.blocks) == blocks
    assert found.is_hallucinating is badge
    assert plain_anchoring(reference, response, AnchoringSettings()) == found


@EXAMPLES
@given(texts, texts, any_settings)
@example("", "", AnchoringSettings())
@example(" \n", "\0", AnchoringSettings())
@example("a b", "a b", AnchoringSettings(ngram=6))
def test_one_response_is_measured_as_the_definition_says(
    reference: str, response: str, chosen: AnchoringSettings
) -> None:
    assert anchoring(reference, response, settings=chosen) == plain_anchoring(reference, response, chosen)


@EXAMPLES
@given(page_lists, any_settings, st.sampled_from([1, 7, 40, 1 << 16]))
def test_pages_in_batches_are_measured_as_one_by_one(
    pages: list[PageTexts], chosen: AnchoringSettings, bytes_at_once: int
) -> None:
    with mock.patch.object(module, "_BYTES_AT_ONCE", bytes_at_once):
        assert measured(pages, chosen) == plainly_measured(pages, chosen)


@EXAMPLES
@given(page_lists, st.builds(AnchoringSettings, ngram=st.integers(2, 6)), st.sampled_from([1, 8, 20]))
def test_codes_of_ngrams_that_would_grow_too_large_are_made_smaller(
    pages: list[PageTexts], chosen: AnchoringSettings, bits: int
) -> None:
    with mock.patch.object(module, "_CODE_BITS", bits), mock.patch.object(module, "_MOST_IN_SETS", -1):
        assert measured(pages, chosen) == plainly_measured(pages, chosen)
        for page in pages:
            for response in page.responses:
                found = anchoring(page.reference, response, settings=chosen)
                assert found == plain_anchoring(page.reference, response, chosen)


@EXAMPLES
@given(page_lists, st.builds(AnchoringSettings, ngram=st.integers(1, 4)), st.integers(0, 2))
def test_what_a_full_table_loses_is_found_all_the_same(
    pages: list[PageTexts], chosen: AnchoringSettings, tables: int
) -> None:
    # With the factor 0 all codes share one place.
    factors = (np.uint64(0),) * tables
    with mock.patch.object(module, "_FACTORS", factors), mock.patch.object(module, "_MOST_IN_SETS", -1):
        assert measured(pages, chosen) == plainly_measured(pages, chosen)
        for page in pages:
            for response in page.responses:
                found = anchoring(page.reference, response, settings=chosen)
                assert found == plain_anchoring(page.reference, response, chosen)


@pytest.mark.parametrize("size", [4, 5, 6])
def test_long_pages_with_large_ngrams_do_not_overflow(size: int) -> None:
    # 60,000 different words: five of their numbers side by side need 79 bits.
    page = [f"w{number}" for number in range(60_000)]
    response = [*page[:500], "x", *page[700:2_000], *page[59_000:], *page[1:200]]
    texts = (" ".join(page), " ".join(response))
    chosen = AnchoringSettings(ngram=size)
    found = anchoring(*texts, settings=chosen)
    assert found == plain_anchoring(*texts, chosen)
    # By hand: four stretches of the page of 500, 1300, 1000 and 199 words, each with size - 1 fewer n-grams than words.
    assert found.anchored_ngrams == 500 + 1_300 + 1_000 + 199 - 4 * (size - 1)


def test_ngrams_of_very_many_different_words_are_not_mistaken_for_each_other() -> None:
    # With 2**16 numbers, the first of five words would be shifted out of 64 bits.
    page = [f"w{number}" for number in range(2**16 - 1)]
    response = [page[9], *page[1:5]]
    found = anchoring(" ".join(page), " ".join(response), settings=AnchoringSettings(ngram=5))
    assert (found.anchored_ngrams, found.ngrams) == (0, 1)


def test_every_white_space_separates_words_and_nothing_else_does() -> None:
    every = "a".join(map(chr, range(0x110000)))
    found = anchoring(every, every)
    assert found.reference_words == found.response_words == len(plain_tokens(every))
    assert every.lower().split() == plain_tokens(every)
    assert (found.unknown_words, found.anchor_score, found.blocks) == (0, 1.0, ())


def test_white_space_around_a_text_has_no_length() -> None:
    around = "".join(filter(str.isspace, map(chr, range(0x110000))))
    found = anchoring(f"{around}roi{around}", f"{around}rois")
    assert (found.reference_characters, found.response_characters) == (3, 4)


@pytest.mark.parametrize(
    ("reference", "response", "unknown"),
    [
        ("\0 a", "a \0", 0),
        ("\ud800\udc00 a", "\U00010000", 1),
        ("שלום עולם", "עולם שלום", 0),
        ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af", 1),
        ("STRASSE", "straße", 1),
        ("É", "é", 0),
        ("a\u200bb", "a b", 2),
    ],
    ids=["NUL", "surrogates", "right to left", "decomposed", "sharp s", "upper case", "zero-width space"],
)
def test_words_are_the_same_only_if_they_are_once_in_lower_case(reference: str, response: str, unknown: int) -> None:
    # Neither composed nor case-folded: as Picarones compares.
    assert anchoring(reference, response).unknown_words == unknown


def test_length_is_that_of_the_text_as_written() -> None:
    # In lower case the capital dotted I has two code points.
    assert anchoring("İ", "İ").length_ratio == 1
    assert anchoring("İİ", "i̇").length_ratio == 1


def test_thresholds_are_strict() -> None:
    half = "a b c d", "a b c x"
    assert anchoring(*half).anchor_score == 0.5
    assert not anchoring(*half).is_hallucinating
    assert anchoring(*half, settings=AnchoringSettings(anchor_limit=0.51)).is_hallucinating
    longer = "a b c d e", "a b c d e e"
    ratio = anchoring(*longer).length_ratio
    assert ratio == 11 / 9
    assert not anchoring(*longer, settings=AnchoringSettings(length_ratio_limit=ratio)).is_hallucinating
    assert anchoring(*longer, settings=AnchoringSettings(length_ratio_limit=1.2)).is_hallucinating


@pytest.mark.parametrize("tolerance", [-1, 0, 1])
def test_a_tolerance_of_nothing_ends_a_block_at_the_first_known_word(tolerance: int) -> None:
    chosen = AnchoringSettings(block_tolerance=tolerance, shortest_block=1)
    assert anchoring("a b", "x a y z b", settings=chosen).blocks == ((0, 0), (2, 3))


def test_a_block_takes_known_words_at_the_end_along_only_below_the_tolerance() -> None:
    assert anchoring("a b c", "q r s t a b").blocks == ((0, 5),)
    assert anchoring("a b c", "q r s t a b c").blocks == ((0, 3),)


def test_no_pages_and_pages_without_responses_give_no_rows() -> None:
    assert list(anchor_pages([])) == []
    (columns,) = anchor_pages([PageTexts("a b c", ()), PageTexts("", ())])
    assert len(columns) == 0
    assert list(columns.rows()) == []
    assert columns.anchor_scores.tolist() == columns.length_ratios.tolist() == []


def test_a_page_without_responses_does_not_disturb_the_next() -> None:
    pages = [PageTexts("a b c", ()), PageTexts("a x", ["a b c", ""])]
    assert measured(pages, AnchoringSettings()) == plainly_measured(pages, AnchoringSettings())


def test_pages_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def pages() -> Iterator[PageTexts]:
        for number in range(6):
            taken.append(number)
            yield PageTexts("a b c", ["a b c"])

    with mock.patch.object(module, "_BYTES_AT_ONCE", 8):
        batches = anchor_pages(pages())
        assert len(next(batches)) == 1
        assert taken == [0]
        assert sum(map(len, batches)) == 5


def test_columns_hold_what_the_rows_hold() -> None:
    pages = [PageTexts(reference, [response]) for reference, response, *_ in TABLE]
    (columns,) = anchor_pages(pages)
    rows = list(columns.rows())
    assert len(columns) == len(rows) == len(TABLE)
    assert columns.net_insertion_rates.tolist() == [row.net_insertion_rate for row in rows]
    assert columns.are_hallucinating.tolist() == [row.is_hallucinating for row in rows]
    assert np.diff(columns.block_rows).min() >= 0


@pytest.mark.parametrize("size", [0, -3])
def test_ngrams_without_words_are_refused(size: int) -> None:
    with pytest.raises(SettingsError, match=f"n-grams of {size} words; expected at least 1"):
        AnchoringSettings(ngram=size)


def test_a_single_unknown_word_before_a_block_is_no_block() -> None:
    assert anchoring("a b c d", "x a b c d q r s t").blocks == ((5, 8),)
