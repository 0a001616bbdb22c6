"""Names by capitals, and Korean names by family name and title."""

from __future__ import annotations

import pytest

from hallumeter.text.names import find_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("They met Marie Curie in Paris.", ["Marie Curie", "Paris"]),
        ("from Paris, London", ["Paris", "London"]),
        ("the University of Oxford and J. R. Smith", ["University of Oxford", "J. R. Smith"]),
        ("with Dr. Smith and President Loubet", ["Smith", "Loubet"]),
        ("he saw Ludwig van Beethoven on Monday in May", ["Ludwig van Beethoven"]),
        ("in the United States", ["United States"]),
        ("a car of the firm", []),
        ("avec Jean-Pierre Dupont", ["Jean-Pierre Dupont"]),
        ("vu par Émile de Zola", ["Émile de Zola"]),
        ("어제 김민수 씨가 왔다", ["김민수"]),
        ("홍명보 감독이 이끌었다", ["홍명보"]),
        ("유명한 감독이 이끌었다", []),
        ("그는 배우를 만났다", []),
        ("vitamin C. J. Smith sang a B", ["C. J. Smith"]),
        ("a dose of vitamin C. it helps, says R", []),
        ("", []),
    ],
)
def test_names_are_found_without_their_titles(text: str, names: list[str]) -> None:
    assert [text[name.start : name.end] for name in find_names(text) if not name.is_opening] == names


def test_one_word_that_opens_a_sentence_is_no_sure_name() -> None:
    text = 'Cats sleep. Dogs bark: "Birds sing"'
    assert {text[name.start : name.end]: name.is_opening for name in find_names(text)} == {
        "Cats": True,
        "Dogs": True,
        "Birds": True,
    }


def test_names_know_their_terms() -> None:
    (name,) = find_names("we met Marie Curie")
    assert (name.first_term, name.last_term) == (2, 3)
