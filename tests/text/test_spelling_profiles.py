"""A profile counts as the tool that it is named for; expected rates come from the tools themselves."""

from __future__ import annotations

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import SettingsError
from hallumeter.text.spelling import PROFILES, clusters_of, jiwer_words, parse_spelling
from hallumeter.transcripts import page_reading
from hallumeter.transcripts.page_reading import count_character_edits, count_word_edits, read_page

texts = st.text(st.sampled_from("ab é\n\t\u00a0\u0301 w"), max_size=25)


def errors(name: str, reference: str, response: str) -> tuple[int, int]:
    """Wrong characters, and characters of the reference."""
    counts = read_page(reference, response, spelling=parse_spelling(name)).characters
    return counts.errors, counts.reference


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("Waſſer", "Wa\ueba6er", (0, 6)),
        ("Waſſer", "Wasser", (2, 6)),
        ("fu\u0364r Ho\u0364he", "für Höhe", (0, 8)),
        ("m\u0303it de\u0304", "mit den", (3, 6)),
        ("ein⸗mal — ſo’s", "ein-mal – ſo's", (0, 14)),
        ("Si\ueec4 \uf535 q\u0301 \uf50e", "Sick Qu q q", (2, 11)),
        ("a == b", "a – b", (0, 5)),
        (" Wort \n", "Wort", (3, 7)),
        ("Zeile\nzwei", "Zeile zwei", (1, 10)),
        ("e\u0301te\u0301", "été", (0, 3)),
        ("ﬁn ĳs ﬆ", "fin ijs st", (0, 10)),
        ("ﬄ ﬅ", "ffl ſt", (5, 3)),
        ("한국어", "한극어", (1, 3)),
        ("\ue8bf ꝛc.", "q& etc.", (2, 6)),
    ],
)
def test_dinglehopper_counts_characters_as_dinglehopper_does(
    reference: str, response: str, expected: tuple[int, int]
) -> None:
    assert errors("dinglehopper", reference, response) == expected  # character_error_rate_n of dinglehopper 0.11.0


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("ab\r\nc", ["a", "b", "\r\n", "c"]),
        ("\n\u0301é\u0323\u0304", ["\n", "\u0301", "é\u0323\u0304"]),
        ("\u1112\u1161\u11ab한\u11ab가\u1161\u11a8", ["\u1112\u1161\u11ab", "한\u11ab", "가\u1161\u11a8"]),
        ("\u00ad\u0301é", ["\u00ad", "\u0301", "é"]),
        ("שָׁלוֹם", ["שָׁ", "ל", "וֹ", "ם"]),
    ],
)
def test_a_letter_and_its_marks_are_one_cluster(text: str, clusters: list[str]) -> None:
    assert list(clusters_of(text)) == clusters  # by uniseg 0.10.1


def test_a_text_without_marks_needs_no_list() -> None:
    assert clusters_of("ab\n") == "ab\n"


@given(texts, texts)
def test_jiwer_counts_as_jiwer_does_on_text_of_any_number_of_lines(reference: str, response: str) -> None:
    spelling = parse_spelling("jiwer")
    words, _ = count_word_edits(reference, response, spelling=spelling)
    if words.reference:
        theirs = jiwer.process_words(reference, response)
        assert words.errors == theirs.substitutions + theirs.deletions + theirs.insertions
        assert words.reference == theirs.substitutions + theirs.deletions + theirs.hits
    characters, _ = count_character_edits(reference, response, spelling=spelling)
    if characters.reference:
        assert characters.error_rate.value == pytest.approx(jiwer.cer(reference, response))


def test_jiwer_joins_lines_but_not_paragraphs() -> None:
    assert jiwer_words("un\ndeux \ntrois\n\nquatre\tcinq") == ["un\ndeux", "trois", "quatre\tcinq"]
    page, reading = "le roi\nde france\nest mort", "le roi de\nfrance est mort"
    assert count_word_edits(page, reading)[0].errors == 0
    # Four words and five, of which the first and the last are alike.
    assert jiwer.wer(page, reading) == 3 / 4
    assert count_word_edits(page, reading, spelling=parse_spelling("jiwer"))[0].error_rate.value == 3 / 4


def test_picarones_counts_characters_as_its_profile_for_medieval_french_does() -> None:
    # By hand, in one pass: y becomes i, but i becomes j, so that they stay two letters.
    assert parse_spelling("picarones").text("Icy ſuiuent ꝑ & ꝓ œuure") == "Ici svjvent per et pro oevvre"
    assert errors("picarones", "roy de france", "roi de france") == (1, 13)
    assert errors("picarones", "vne ſœur & ꝑ", "une soeur et per") == (0, 16)


def test_strict_counts_white_space_around_a_text_too() -> None:
    assert errors("strict", "le roi\n", " le roi") == (2, 7)
    assert errors("none", "le roi\n", " le roi") == (0, 6)


def test_a_profile_stands_alone_and_names_itself() -> None:
    for name in PROFILES:
        assert str(parse_spelling([name])) == name
        assert parse_spelling([name, "none"]) == parse_spelling(name.upper())
    with pytest.raises(
        SettingsError, match=r"^normalisation 'jiwer' is a whole profile; give it without nfc, caseless, strict$"
    ):
        parse_spelling(["caseless", "strict+jiwer", "nfc"])


def test_pages_too_long_for_one_comparison_are_counted_in_clusters_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_reading, "EXACT_CELLS", 100)
    page, reading = "ein m\u0303ann und frau", "ein mann und fra"
    counts, is_exact = count_character_edits(page, reading, spelling=parse_spelling("dinglehopper"))
    assert (counts.errors, counts.reference, is_exact) == (2, 17, False)
