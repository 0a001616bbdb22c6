"""Which parts of a French response are claims; every expected list was made by hand."""

from __future__ import annotations

import pytest
from extracted_claims import clauses, sentences


@pytest.mark.parametrize(
    "text",
    [
        "M. Dupont a payé 3,50 € le 1er mai 2020.",
        "Il est possible que X soit né en 1950.",
        "Je ne suis pas sûr, mais il est né en 1950.",
        "Je pense qu'il est né en 1950.",
        "Le livre « Où es-tu ? » date de 2001.",
        "Voici la vérité : il est né en 1950.",
        "Il existe deux méthodes pour cela, et l'une est ancienne :",
        "Bien sûr, Paris est la capitale de la France.",
    ],
)
def test_a_statement_is_one_claim_as_it_stands(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Bien sûr !",
        "Bonjour ! Merci pour votre question.",
        "Voici un résumé du texte :",
        "D'après les passages, voici les étapes :",
        "Les symptômes comprennent :",
        "Les principales étapes sont les suivantes :",
        "J’espère que cela vous aide !",
        "N'hésitez pas à me poser d'autres questions.",
        "Avez-vous d'autres questions\u00a0?",
        "« Est-ce vrai ? »",
        "Je ne suis pas sûr.",
        "Je ne suis qu'une IA.",
        "En tant qu'IA, je n'ai pas d'opinion personnelle.",
        "Je ne sais pas.",
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "En résumé :",
        "Ingrédients pour la pâte :",
        "Cordialement,",
        "Source : https://exemple.fr/page",
        "## Histoire de Paris",
    ],
)
def test_what_asserts_nothing_is_no_claim(text: str) -> None:
    assert sentences(text) == []
    assert clauses(text) == []


def test_items_of_a_list_lose_their_marks_and_semicolons() -> None:
    text = "Les symptômes comprennent :\n- la fièvre ;\n- la toux ;\n- une fatigue qui dure 3 à 4 semaines."
    assert sentences(text) == ["la fièvre", "la toux", "une fatigue qui dure 3 à 4 semaines."]


def test_quotations_with_spaces_stay_whole() -> None:
    text = "Il a dit : « Je suis né à Lyon. J'y vis. » Puis il est parti."
    assert sentences(text) == ["Il a dit : « Je suis né à Lyon. J'y vis. »", "Puis il est parti."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hugo est né en 1802, et il est mort en 1885.", ["Hugo est né en 1802", "il est mort en 1885."]),
        ("Il est né en 1802 et il est mort en 1885.", ["Il est né en 1802", "il est mort en 1885."]),
        ("Il a écrit un roman, qui est célèbre.", ["Il a écrit un roman", "qui est célèbre."]),
        ("Hugo était poète, tandis que Balzac était romancier.", ["Hugo était poète", "Balzac était romancier."]),
        ("Il est grand, alors qu'elle est petite.", ["Il est grand", "elle est petite."]),
        ("Il est grand, mais son frère est petit.", ["Il est grand", "son frère est petit."]),
        ("La tour est haute ; elle date de 1889.", ["La tour est haute", "elle date de 1889."]),
        ("Le drapeau est bleu, blanc et rouge.", ["Le drapeau est bleu, blanc et rouge."]),
        ("M. Dupont, qui habite à Lyon, est médecin.", ["M. Dupont, qui habite à Lyon, est médecin."]),
        (
            "Il y a trois couleurs : le bleu, le blanc et le rouge.",
            ["Il y a trois couleurs", "le bleu, le blanc et le rouge."],
        ),
        ("Il dit : « Je suis né ici, et je suis vieux. »", ["Il dit : « Je suis né ici, et je suis vieux. »"]),
    ],
)
def test_sentences_are_cut_into_clauses(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected
