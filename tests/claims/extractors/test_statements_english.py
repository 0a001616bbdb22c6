"""Which parts of an English response are claims; every expected list was made by hand."""

from __future__ import annotations

import pytest
from extracted_claims import clauses, sentences


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith paid 3.50 dollars at 10.30 a.m. on Monday.",
        "J. K. Rowling was born in 1965.",
        "It is possible that X was born in 1950.",
        "I think he was born in 1950.",
        "I'm not sure, but he was born in 1950.",
        "As of my knowledge cutoff in 2021, the city had 5 million people.",
        "Please note that the oven gets hot.",
        "Preheat your oven to 400 degrees.",
        "If you need to replace the battery, remove the cover.",
        "Feel free to add salt.",
        "Thanksgiving falls on a Thursday.",
        "Paris",
        "42",
        "Answer: 42",
        "Sure, 5 people died.",
        "Yes.",
        "Surely nobody lives there.",
        'The song is called "Who Are You?"',
        "He died in 1950 (or was it 1951?).",
        "Go to your settings: https://www.example.org/settings/",
        "The address is www.example.org and it works.",
        "Here is the truth: he was born in 1950.",
        "There are two ways to read it:",
        "The passages do not say when, so you may need a thermometer.",
    ],
)
def test_a_statement_is_one_claim_as_it_stands(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t",
        "Sure!",
        "Hello there! Great question!",
        "Sure! Here is a summary of the article in 50 words:",
        "Sure, I can help you with that!",
        "I hope this helps!",
        "Let me know if you have any other questions.",
        "If you have any further questions, feel free to ask.",
        "Do you want to know more?",
        '"Is it true?"',
        "Who? What? Where?!",
        "I am not sure.",
        "I'm just an AI.",
        "As an AI language model, I don't have personal opinions.",
        "I am unable to answer based on the given passages.",
        "I'm sorry, but I cannot answer that.",
        "The passages do not mention where he was born.",
        "In summary:",
        "Therefore, the answer is:",
        "Based on the given passages, here are the steps to cook a ham:",
        "To cook a canned ham, follow these steps:",
        "The symptoms include:",
        "Ingredients for the cake:",
        "😀 👍🏽",
        "...",
        "---",
        "***",
        "https://www.example.org/page",
        "Source: https://www.example.org/page",
        "# The history of Paris",
        "```\nx = 1\n```",
        "~~~python\nprint('Paris is large.')\n~~~",
        "```\nnever closed",
        "<br>",
        "(Passage 1)",
        "(Passages 1, 2 and 3)",
        "Sources: <a>https://www.example.org</a>",
        "Best regards,",
    ],
)
def test_what_asserts_nothing_is_no_claim(text: str) -> None:
    assert sentences(text) == []
    assert clauses(text) == []


def test_courtesies_around_an_answer_are_left_out() -> None:
    text = "Sure! Paris is the capital of France. It has 2.1 million people. I hope this helps! Anything else?"
    assert sentences(text) == ["Paris is the capital of France.", "It has 2.1 million people."]


def test_what_the_sources_lack_is_a_claim_where_the_response_answers_otherwise() -> None:
    text = "He was born in 1950. The passages do not mention where he died."
    assert sentences(text) == ["He was born in 1950.", "The passages do not mention where he died."]
    assert sentences("I cannot answer that. The passages do not mention where he died.") == []


def test_list_marks_are_no_part_of_a_claim() -> None:
    text = "- One is odd.\n* Two is even\n1. Three is odd.\n2) Four is even.\n  • Five is odd"
    text += "\n(a) Six\n- [x] Seven\n1️⃣ Eight"
    assert sentences(text) == [
        *("One is odd.", "Two is even", "Three is odd.", "Four is even."),
        *("Five is odd", "Six", "Seven", "Eight"),
    ]


def test_a_lead_in_without_a_statement_is_left_out_and_its_items_are_claims() -> None:
    text = "The symptoms of the disease include:\n\n1. Tremor: a shaking hand.\n2. Fever;\n\n"
    text += "There are three stages:\n- Early"
    assert sentences(text) == ["Tremor: a shaking hand.", "Fever", "There are three stages:", "Early"]


def test_several_sentences_of_an_item_are_several_claims() -> None:
    assert sentences("1. Stir well. It takes 3.5 minutes. (Passage 2)") == [
        "Stir well.",
        "It takes 3.5 minutes. (Passage 2)",
    ]


def test_headings_are_no_claims() -> None:
    text = "## Paris\nIt is large.\n\n**History**\nIt is old.\n\nRivers\n======\nThe Seine is long.\n\n"
    text += "1. **Food**\n   - Bread is good."
    assert sentences(text) == ["It is large.", "It is old.", "The Seine is long.", "Bread is good."]


def test_emphasis_is_left_out_at_the_edges_and_kept_inside() -> None:
    text = "**Paris is large.** **It** has a river. *It is old.* The `Seine` is long."
    assert sentences(text) == ["Paris is large.", "**It** has a river.", "It is old.", "The `Seine` is long."]
    assert sentences("**Paris**") == ["Paris"]


def test_every_body_row_of_a_table_is_one_claim() -> None:
    text = "| City | People |\n|:-----|------:|\n| Paris | 2.1 M. Or so? |\n| Lyon | 0.5 M |\n\nBoth are old."
    assert sentences(text) == ["Paris | 2.1 M. Or so?", "Lyon | 0.5 M", "Both are old."]
    assert sentences("City | People\n--- | ---\nParis | 2") == ["Paris | 2"]


def test_code_is_skipped_and_the_text_around_it_is_not() -> None:
    text = "Run this.\n```python\nx = 1\n```\nIt prints 1.\n~~~\n```\n~~~\nDone is done."
    assert sentences(text) == ["Run this.", "It prints 1.", "Done is done."]


def test_a_response_that_is_one_block_of_markdown_is_read() -> None:
    assert sentences("```markdown\n# Paris\nIt is large.\n```") == ["It is large."]


def test_block_quotes_are_read() -> None:
    assert sentences("> Napoleon died in 1821.\n> - He was short.") == ["Napoleon died in 1821.", "He was short."]


def test_a_quotation_of_several_sentences_stays_in_its_sentence() -> None:
    text = 'He said "I came. I saw. I won." and left. Then he slept.'
    assert sentences(text) == ['He said "I came. I saw. I won." and left.', "Then he slept."]


def test_footnote_marks_and_emoji_at_the_edges_are_left_out() -> None:
    text = "Paris is large.[1] It is old.[2][3] 🎉 Lyon is small. 👍🏽 In [4] it says so."
    assert sentences(text) == ["Paris is large.", "It is old.", "Lyon is small.", "In [4] it says so."]


def test_lines_that_were_only_wrapped_belong_together() -> None:
    text = "The tower was built for the fair of 1889 and was meant to stand for\n20 years only. It still stands."
    text += "\nIt is high"
    assert sentences(text) == [
        "The tower was built for the fair of 1889 and was meant to stand for\n20 years only.",
        "It still stands.",
        "It is high",
    ]


def test_every_leaf_of_a_json_response_is_a_claim() -> None:
    text = '{"city": "Paris", "people": 2.1, "rivers": ["Seine", "Marne"], "in": {"eu": true, "mayor": null}, "x": []}'
    assert sentences(text) == ['"city": "Paris"', '"people": 2.1', '"rivers": ["Seine", "Marne"]', '"eu": true']
    assert sentences('```json\n[{"a": 1}, {"a": "two"}]\n```') == ['"a": 1', '"a": "two"']


def test_long_texts_in_json_are_split() -> None:
    text = '{"answer": "Paris is large. It is old.\\nWhy?", "notes": ["It lies on the river Seine.", "Old"]}'
    assert sentences(text) == ["Paris is large.", "It is old.", '"It lies on the river Seine."', '"Old"']


def test_broken_json_is_read_as_text() -> None:
    assert sentences('{"city": "Paris"') == ['{"city": "Paris"']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He was born in 1950, and he died in 1990.", ["He was born in 1950", "he died in 1990."]),
        ("He was born in 1950 and died in 1990.", ["He was born in 1950", "died in 1990."]),
        ("It opened in 1889; it is 330 m high.", ["It opened in 1889", "it is 330 m high."]),
        ("Deer are shy, while dogs are not.", ["Deer are shy", "dogs are not."]),
        ("He is tall, but his brother is short.", ["He is tall", "his brother is short."]),
        ("She met Tom, who was a smith.", ["She met Tom, who was a smith."]),
        ("It has a tower, which opened in 1889.", ["It has a tower", "which opened in 1889."]),
        ("The flag is red, white, and blue.", ["The flag is red, white, and blue."]),
        ("It is small but important.", ["It is small but important."]),
        ("There are three colours: red, green and blue.", ["There are three colours", "red, green and blue."]),
        ("The colours are: red, green and blue.", ["The colours are: red, green and blue."]),
        ("The train leaves at 5:30 and 6:30.", ["The train leaves at 5:30 and 6:30."]),
        ('He was late ("I was ill, and it was raining").', ['He was late ("I was ill, and it was raining").']),
        ("While it is old and is high, it stands.", ["While it is old and is high, it stands."]),
        ("I'm not sure, but he was born in 1950.", ["he was born in 1950."]),
    ],
)
def test_sentences_are_cut_into_clauses(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


def test_rows_and_fields_are_not_cut() -> None:
    assert clauses("| a | b |\n|---|---|\n| it is old, and it is high | x |") == ["it is old, and it is high | x"]
    assert clauses('{"a": "it is old, and it is high"}') == ['"a": "it is old, and it is high"']
