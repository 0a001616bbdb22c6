"""What an engine did with a page; places and counts were worked out by hand."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import RecordError
from hallumeter.records.rate import Rate
from hallumeter.text.spelling import AS_WRITTEN, Spelling, parse_spelling
from hallumeter.transcripts import page_reading
from hallumeter.transcripts.alignment import Stretch
from hallumeter.transcripts.page_reading import PageReading, read_page

PAGE = "Icy commence le prologue de maistre Jehan Froissart"


def kinds_of(reading: PageReading) -> list[tuple[str, int]]:
    return [(stretch.kind, stretch.words) for stretch in reading.stretches]


def check(reference: str, response: str, spelling: Spelling = AS_WRITTEN) -> PageReading:
    """A reading in which stretches and counts say the same."""
    reading = read_page(reference, response, spelling=spelling)
    words_of_kind = dict.fromkeys(["run", "moved", "insertion", "block", "loop", "omission"], 0)
    place = 0
    for stretch in reading.stretches:
        words_of_kind["moved" if stretch.is_moved else stretch.kind] += stretch.words
        if stretch.kind == "omission":
            assert stretch.start is stretch.end is None
        else:
            assert stretch.start is not None
            assert stretch.end is not None
            assert place <= stretch.start < stretch.end
            part = response[stretch.start : stretch.end]
            assert part == part.strip()
            place = stretch.end
        if stretch.kind in {"run", "omission"}:
            part = reference[stretch.reference_start : stretch.reference_end]
            assert part == part.strip() != ""
        else:
            assert stretch.reference_start is stretch.reference_end is None
        assert (stretch.period is None) == (stretch.copies is None) == (stretch.kind != "loop")
        assert 0 <= stretch.misread_words <= stretch.words
    assert words_of_kind["run"] == reading.read_words
    assert words_of_kind["moved"] == reading.moved_words
    assert words_of_kind["block"] == reading.block_words
    assert words_of_kind["loop"] == reading.loop_words
    assert words_of_kind["omission"] == reading.omitted_words
    assert sum(words_of_kind[kind] for kind in ("insertion", "block", "loop")) == reading.inserted_words
    assert reading.read_words + reading.moved_words + reading.inserted_words == reading.response_words
    assert reading.multiset_inserted >= reading.response_words - reading.reference_words
    return reading


def test_a_page_read_well_is_one_run() -> None:
    reading = check(PAGE, PAGE)
    assert reading.stretches == (Stretch("run", 8, 0, 51, 0, 51),)
    assert reading.is_exact
    assert reading.words.errors == reading.characters.errors == reading.multiset_inserted == 0


def test_words_after_the_end_of_the_page_are_a_block_with_its_place() -> None:
    reading = check(PAGE, f"{PAGE} lequel fut archivé au greffe royal")
    assert reading.stretches == (Stretch("run", 8, 0, 51, 0, 51), Stretch("block", 6, 52, 86, None, None))
    assert (reading.inserted_words, reading.block_words, reading.multiset_inserted) == (6, 6, 6)


def test_fewer_than_four_words_are_an_insertion() -> None:
    assert kinds_of(check("le roi de france", "le roi très haut seigneur de france")) == [
        ("run", 2),
        ("insertion", 3),
        ("run", 2),
    ]


@pytest.mark.parametrize(
    ("reference", "response"), [("", ""), (" \n", ""), ("** | —", "### |"), ("", "\u200b"), ("…", "«»")]
)
def test_texts_without_words_have_no_stretches(reference: str, response: str) -> None:
    reading = check(reference, response)
    assert reading.stretches == ()
    assert reading.response_words == reading.reference_words == 0
    assert reading.numbers.value is reading.names.value is None


def test_an_empty_response_is_one_omission() -> None:
    reading = check(PAGE, "  ")
    assert reading.stretches == (Stretch("omission", 8, None, None, 0, 51),)
    assert (reading.omitted_words, reading.inserted_words) == (8, 0)


def test_text_on_an_empty_page_is_invented() -> None:
    assert kinds_of(check("", "nothing of this exists")) == [("block", 4)]


def test_an_omission_stands_where_the_words_are_missing() -> None:
    reading = check("un deux trois quatre cinq six", "un deux cinq six")
    assert kinds_of(reading) == [("run", 2), ("omission", 2), ("run", 2)]
    assert reading.stretches[1] == Stretch("omission", 2, None, None, 8, 20)


@pytest.mark.parametrize(
    ("reference", "response", "misread"),
    [
        ("a Com-\npendious View", "a Compendious View", 1),
        ("a Compendious View", "a Com-\npendious View", 2),
        ("THE NEW ATLAS", "T H E NEW ATLAS", 3),
        ("into the house of lords", "intothe house of lords", 1),
        ("the house of lords", "The House, of «Lords».", 0),
        ("the house of lords", "the honſe of lords", 1),
        ("Title Text", "## **Title**\n\n| Text | <br>", 0),
        ("Tho. Farmer Patrick Co.", "Tho. Farmer.............................Patrick Co.", 0),
        ("Nom Prix Pain 3", "<tr><td style='a b'>Nom</td><td>Prix</td></tr><tr><td>Pain</td><td>3</td></tr>", 0),
        ("per ex-change", "per exchange", 0),
        ("l'été à Orléans", unicodedata.normalize("NFD", "l'été à Orléans"), 0),
        ("대한민국 독립 만세", unicodedata.normalize("NFD", "대한민국 독립 만세"), 0),
        ("كتاب العلم الكبير", "كِتَابُ العلم الكبير", 0),
    ],
)
def test_what_is_on_the_page_is_no_invention_however_it_is_written(reference: str, response: str, misread: int) -> None:
    reading = check(reference, response)
    assert (reading.inserted_words, reading.omitted_words) == (0, 0)
    assert sum(stretch.misread_words for stretch in reading.stretches) == misread


def test_one_word_in_the_place_of_another_is_misread() -> None:
    reading = check("the reign of George the third", "the reign of Lbbbb the third")
    assert kinds_of(reading) == [("run", 6)]
    assert reading.stretches[0].misread_words == 1


def test_a_word_next_to_a_misread_one_may_be_inserted() -> None:
    assert kinds_of(check("a compendious view", "a qq compendiouz view")) == [("run", 1), ("insertion", 1), ("run", 2)]


def test_one_word_for_a_whole_page_is_no_misreading() -> None:
    assert kinds_of(check("Hello", "Goodbye")) == [("insertion", 1), ("omission", 1)]


def test_a_replaced_passage_is_a_block_and_an_omission() -> None:
    reference = "In the beginning was the word and all went well with it for ever after"
    response = "In the beginning was a dark forest full of hungry wolves for ever after"
    reading = check(reference, response)
    assert kinds_of(reading) == [("run", 4), ("block", 7), ("omission", 8), ("run", 3)]
    assert response[reading.stretches[1].start : reading.stretches[1].end] == "a dark forest full of hungry wolves"


def test_words_shared_by_chance_inside_an_invention_are_part_of_it() -> None:
    reference = "my dear sir the house is mine and I stay here your servant"
    response = "my dear sir giraffes roam quietly the dusty savannah plains your servant"
    reading = check(reference, response)
    assert kinds_of(reading) == [("run", 3), ("block", 7), ("omission", 8), ("run", 2)]


def test_a_few_letters_spread_over_a_long_omission_are_not_read_there() -> None:
    omitted = "all that was written about the great matter of the king and his many different ministers"
    reading = check(f"first line {omitted} last line", "first line twelve tame ants last line")
    assert reading.omitted_words == 16
    assert reading.inserted_words == 3


def test_columns_read_in_another_order_are_moved_and_neither_invented_nor_left_out() -> None:
    reference = "one two three four five six seven eight nine ten eleven"
    reading = check(reference, "seven eight nine ten eleven one two three four five six")
    assert [(each.kind, each.words, each.is_moved) for each in reading.stretches] == [
        ("run", 5, True),
        ("run", 6, False),
    ]
    assert reading.stretches[0] == Stretch("run", 5, 0, 27, 28, 55, is_moved=True)
    assert (reading.moved_words, reading.inserted_words, reading.omitted_words) == (5, 0, 0)


def test_a_misread_word_inside_moved_text_is_moved_with_it() -> None:
    column = "alpha beta gamma delta epsilon zeta eta"
    rest = "one two three four five six seven eight nine ten"
    reading = check(f"{column} {rest}", f"{rest} alpha beta gamma delfa epsilon zeta eta")
    assert (reading.moved_words, reading.inserted_words, reading.omitted_words) == (7, 0, 0)
    assert reading.stretches[-1].misread_words == 1


def test_words_between_moved_runs_that_are_nowhere_stay_inserted() -> None:
    column = "alpha beta gamma delta epsilon zeta eta"
    rest = "one two three four five six seven eight nine ten"
    reading = check(f"{column} {rest}", f"{rest} alpha beta gamma q w x epsilon zeta eta")
    assert (reading.moved_words, reading.inserted_words, reading.omitted_words) == (6, 3, 1)


def test_text_moved_twice_is_moved_once_and_invented_once() -> None:
    column = "alpha beta gamma delta epsilon"
    rest = "one two three four five six seven eight nine ten"
    reading = check(f"{column} {rest}", f"{rest} {column} {column}")
    assert (reading.moved_words, reading.inserted_words) == (5, 5)


def test_moved_runs_that_lie_far_apart_on_the_page_are_not_joined() -> None:
    rest = " ".join(f"r{number}x" for number in range(40))
    between = " ".join(f"w{number}" for number in range(9))
    page = f"alpha beta gamma {between} delta epsilon zeta {rest}"
    reading = check(page, f"{rest} alpha beta gamma q delta epsilon zeta")
    assert (reading.moved_words, reading.inserted_words, reading.omitted_words) == (6, 1, 9)


def test_text_that_stands_on_the_page_many_times_is_moved_as_a_whole() -> None:
    rest = " ".join(f"r{number}x" for number in range(40))
    column = " ".join(f"alpha beta gamma w{number}" for number in range(6))
    reading = check(f"{column} {rest}", f"{rest} {column} alpha beta gamma")
    assert (reading.moved_words, reading.omitted_words) == (24, 0)


def test_moved_text_is_found_whole_when_its_beginning_is_too_common_to_be_looked_for() -> None:
    rest = " ".join(f"r{number}x" for number in range(40))
    column = " ".join(f"alpha beta gamma w{number} v{number}" for number in range(6))
    reading = check(f"{column} {rest}", f"{rest} alpha beta gamma w5 v5")
    assert (reading.moved_words, reading.inserted_words, reading.omitted_words) == (5, 0, 25)
    assert reading.stretches[-1].is_moved
    assert reading.stretches[-1].reference_start == column.rindex("alpha")


def test_a_part_of_a_moved_passage_that_comes_again_is_used_once() -> None:
    rest = "one two three four five six seven eight nine ten"
    response = f"{rest} a1 b1 c1 d1 e1 zz c1 d1 e1 f1 g1 h1"
    reading = check(f"a1 b1 c1 d1 e1 f1 g1 h1 {rest}", response)
    # The six words from c1 on are taken first, then what is left of a1 to e1 is too short to tell.
    assert (reading.moved_words, reading.omitted_words) == (6, 2)


def test_copies_after_the_first_are_a_loop() -> None:
    reading = check("le roi de france", " ".join(["le roi de france"] * 3))
    assert reading.stretches == (
        Stretch("run", 4, 0, 16, 0, 16),
        Stretch("loop", 8, 17, 50, None, None, period=4, copies=3.0),
    )
    assert (reading.loop_words, reading.inserted_words, reading.multiset_inserted) == (8, 8, 8)


def test_a_repetition_that_is_on_the_page_is_no_loop() -> None:
    page = "holy holy holy holy holy holy holy holy"
    assert kinds_of(check(page, page)) == [("run", 8)]


@pytest.mark.parametrize(
    ("response", "period"),
    [
        (" ".join(f"page {number}, of the roll" for number in range(8, 20)), 5),
        (" ".join(f"{letter}. is a letter" for letter in "KLMNOPQRSTU"), 4),
        (" ".join(map(str, range(60))), 1),
        ("no " * 7, 1),
        ("王様の" * 6, 3),
    ],
)
def test_loops_with_a_counter_are_loops(response: str, period: int) -> None:
    reading = check("Nothing else", response)
    assert {stretch.kind for stretch in reading.stretches} == {"loop", "omission"}
    assert reading.stretches[0].period == period


def test_an_account_with_changing_numbers_is_no_loop() -> None:
    reading = check("", "Reçu de Martin 12 fr. 40 c. 15 fr. 20 c. 20 fr. 35 c. total")
    assert reading.loop_words == 0


def test_signs_without_end_before_a_name_are_read_once() -> None:
    # 100,000 signs would take minutes if a sentence were looked for at each of them.
    assert check("x 7 Word", "x " + "." * 100_000 + "7 Word").names == Rate(0, 1)
    assert check("x 7 Word", "x 7" + "." * 100_000 + " Word").names == Rate(0, 0)
    assert check("he met -- Anna", "he met -- Anna").names == Rate(0, 1)


def test_a_repetition_of_which_the_page_has_half_is_no_loop() -> None:
    page = "Ohio cavalry 1 Maine cavalry 2 Iowa cavalry 3 Utah cavalry 4"
    rows = "Private Ohio 1 Private Ohio 2 Private Ohio 3"
    assert kinds_of(check(f"{page} {rows}", f"{page} {rows} Private Ohio")) == [("run", 21), ("insertion", 2)]


def test_a_list_of_different_numbers_is_no_loop() -> None:
    assert kinds_of(check("", "11 12 13 14 15 16 17")) == [("block", 7)]
    assert kinds_of(check("", "11 11 11 11 11 11 11")) == [("loop", 7)]


def test_a_letter_without_end_is_a_loop_inside_one_word() -> None:
    reading = check("Dear Madam", "Dear Madam wh" + "o" * 300)
    assert kinds_of(reading) == [("run", 2), ("insertion", 1), ("loop", 100)]
    assert (reading.stretches[2].start, reading.stretches[2].end) == (13, 313)


@pytest.mark.parametrize(("copy", "times"), [("ville", 300), ("나온다", 40), ("ab", 30)])
def test_a_loop_without_spaces_counts_every_copy(copy: str, times: int) -> None:
    page = "le conseil se réunit"
    reading = check(page, f"{page} {copy * times}")
    # Copies shorter than three letters are taken two by two.
    copies = times if len(copy) > 2 else times // 2
    assert kinds_of(reading) == [("run", 4), ("loop", copies)]
    assert reading.stretches[1].copies == copies


def test_loops_in_one_word_are_cut_one_after_the_other() -> None:
    reading = check("", "xyz" * 9 + "-et-" + "abc" * 9)
    assert kinds_of(reading) == [("loop", 9), ("insertion", 1), ("loop", 9)]


def test_loops_that_share_a_letter_are_cut_without_counting_it_twice() -> None:
    reading = check("", "ab" * 8 + "cb" * 8)
    assert sum(stretch.words for stretch in reading.stretches) == reading.response_words == 8
    assert {stretch.kind for stretch in reading.stretches} <= {"loop", "block", "insertion"}


def test_marks_count_only_when_they_go_on_and_on() -> None:
    assert kinds_of(check("Total 5", "Total | | | | | | 5 ....................")) == [("run", 2)]
    assert kinds_of(check("Total 5", "Total " + "- " * 1000 + "5 | **")) == [("run", 2)]
    reading = check("Total 5", "Total " + "- " * 1001 + "5 | **")
    assert kinds_of(reading) == [("run", 1), ("loop", 1001), ("run", 1)]


def test_marks_on_many_lines_are_a_layout_until_they_fill_a_page() -> None:
    line = "- " * 80 + "\n"
    assert kinds_of(check("Total 5", f"Total\n{line * 50}5")) == [("run", 2)]
    assert kinds_of(check("Total 5", f"Total\n{line * 51}5")) == [("run", 1), ("loop", 4080), ("run", 1)]


RULES = (
    "|" + "-" * 150 + "|" + "-" * 150 + "|",
    "+" + "=" * 120 + "+" + "=" * 120 + "+",
    "┌" + "─" * 150 + "┬" + "─" * 150 + "┐",
    ". " * 160,
    "_" * 300,
    "—" * 250,
    "* * * " * 40,
    "~~~~~" * 50,
)


@pytest.mark.parametrize("rule", RULES)
def test_a_perfect_table_with_three_long_rules_is_a_clean_page(rule: str) -> None:
    truth = "Name Amount\nSmith 12\nJones 7\nTotal 19"
    name, *rows = truth.split("\n")
    written = "\n".join([rule, name, rule, *rows, rule])
    reading = check(truth, written)
    assert kinds_of(reading) == [("run", 8)]
    assert (reading.response_words, reading.inserted_words, reading.loop_words) == (8, 0, 0)
    assert (reading.multiset_inserted, reading.omitted_words) == (0, 0)


def test_leaders_and_frames_glued_to_words_are_no_words_either() -> None:
    reading = check("Introduction 12\nName Age", "Introduction" + "." * 120 + "12\n│Name│Age│\n└────┴───┘")
    assert (reading.inserted_words, reading.omitted_words) == (0, 0)


@pytest.mark.parametrize(
    ("page", "written", "is_whole"),
    [
        (PAGE, "Photo unavailable", True),
        (PAGE, "Untitled", True),
        ("", "Blank page", True),
        (PAGE, "Icy commence", False),
        (PAGE, "lcy cornmence", False),
        (PAGE, "Photo prologue", False),
        ("Finis", "Amen", False),  # one word in the place of one word
        (PAGE, "", False),
        (PAGE, "* * *", False),
    ],
)
def test_a_response_is_wholly_inserted_when_none_of_its_words_is_on_the_page(
    page: str, written: str, is_whole: bool
) -> None:
    assert check(page, written).is_wholly_inserted is is_whole


def test_words_shared_by_chance_inside_a_loop_are_part_of_it() -> None:
    reading = check("end of page one and the rest of it", "end of page " + "we met the old man again " * 5)
    assert kinds_of(reading) == [("run", 3), ("loop", 30), ("omission", 6)]


def test_a_whole_copy_read_inside_a_loop_stays() -> None:
    reading = check("no", "no no no no no no no no")
    assert (reading.read_words, reading.loop_words, reading.omitted_words) == (1, 7, 0)


def test_numbers_are_compared_with_their_separators_and_without_what_surrounds_them() -> None:
    reading = check("Paid $1,204 on 3rd May, No.7", "Paid 1,204. on (3) May 1846, No 7 7")
    # 1,204 and 3 and one 7 are on the page; 1846 and the second 7 are not.
    assert reading.numbers == Rate(2, 5)


def test_names_are_capitalised_words_inside_a_sentence() -> None:
    response = 'Dear John Smith of Leeds,\nMary wrote. Then Anna and "Bob" AND I met JONES McX'
    reading = check("Dear john of LEEDS, Mary wrote. Then and I met", response)
    # John, Smith, Leeds, Anna, Bob, McX; those of the page are John and Leeds.
    assert reading.names == Rate(4, 6)


def test_scripts_without_capitals_have_no_names() -> None:
    assert check("세종 대왕", "세종 대왕 이순신 장군").names == Rate(0, 0)
    assert check("كتاب العلم", "كتاب العلم الجديد").names == Rate(0, 0)


def test_the_spelling_holds_for_all_counts() -> None:
    strict = check("ſœur Vne", "soeur une")
    assert strict.words.errors == 2
    relaxed = check("ſœur Vne", "soeur une", parse_spelling(["diplomatic", "caseless"]))
    assert relaxed.words.errors == relaxed.characters.errors == 0
    assert relaxed.stretches == (Stretch("run", 2, 0, 9, 0, 8),)


def test_a_page_too_long_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_reading, "LONGEST_PAGE", 5)
    with pytest.raises(RecordError, match="the response of a page has 6 characters, more than the 5"):
        read_page("12345", "123456")


LATIN = ["a", "B", "the", "of", "King", "12", "14", "com", "pendious", "compendious", "x-", "Mr", "Paris,", "fin."]
OTHERS = ["**", "|", "…", "été", "ete\u0301", "王様", "가", "\u1100\u1161", "كتاب"]
words = st.sampled_from(LATIN + OTHERS)


@given(st.lists(words, max_size=25), st.lists(words, max_size=6), st.randoms(use_true_random=False))
def test_stretches_and_counts_agree_whatever_an_engine_did(
    page: list[str], added: list[str], chance: random.Random
) -> None:
    response = list(page)
    for _ in range(4):
        start, end = sorted(chance.randint(0, len(response)) for _ in range(2))
        part = response[start:end]
        match chance.randint(0, 5):
            case 0:
                response[start:start] = added
            case 1:
                del response[start:end]
            case 2:
                response[start:end] = part[:3] * 5
            case 3:
                response[start:end] = [word[:2] for word in part]
            case 4:
                response = part + response[:start] + response[end:]
    check(" ".join(page), " \n".join(response))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(reference: str, response: str) -> None:
    check(reference, response)
    check(reference, response, parse_spelling(["nfkc", "caseless", "punctuation"]))


@given(st.text(max_size=60))
def test_a_text_compared_with_itself_is_read_completely(text: str) -> None:
    reading = check(text, text)
    assert reading.read_words == reading.response_words == reading.reference_words
    assert reading.words.errors == reading.characters.errors == 0


COMMON = ["le", "roi", "de", "france", "la", "paix", "est", "today", "to", "day", "by", "being", "now"]


@given(
    st.lists(st.sampled_from(COMMON), max_size=25),
    st.data(),
)
def test_nothing_that_was_read_is_left_out_too(words: list[str], data: st.DataObject) -> None:
    edited = list(words)
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, len(edited)))
        edited[place : place + data.draw(st.integers(0, 4))] = data.draw(
            st.lists(st.sampled_from(["x", "day", "roi", "le"]), max_size=5)
        )
    stretches = read_page(" ".join(words), " ".join(edited)).stretches
    spans = [
        (each.kind == "omission", range(each.reference_start, each.reference_end))
        for each in stretches
        if each.reference_start is not None and each.reference_end is not None
    ]
    left_out = {place for is_omission, span in spans if is_omission for place in span}
    assert left_out.isdisjoint(place for is_omission, span in spans if not is_omission for place in span)


@pytest.mark.parametrize(
    ("pointed", "plain"),
    [
        ("בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ", "בראשית ברא אלהים את השמים ואת הארץ"),
        ("بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ", "بسم الله الرحمن الرحيم"),
        ("ἐν ἀρχῇ ἦν ὁ λόγος καὶ ὁ λόγος ἦν πρὸς τὸν θεόν", "εν αρχη ην ο λογος και ο λογος ην προς τον θεον"),
    ],
)
def test_points_and_polytonic_accents_make_no_words(pointed: str, plain: str) -> None:
    for page, written in ((pointed, plain), (plain, pointed), (pointed, unicodedata.normalize("NFD", plain))):
        reading = check(page, written)
        assert (reading.inserted_words, reading.omitted_words) == (0, 0)
        assert reading.response_words == len(plain.split())
    assert read_page("roi a été", "roi a ete").words.errors == 1
