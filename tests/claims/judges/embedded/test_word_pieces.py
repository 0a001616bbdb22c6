"""Texts are cut into the tokens on which the network was trained.

``pinned_tokens.jsonl`` holds what the tokenizers library makes of each text with the vocabulary of the model; where
that library is installed, it is asked again about texts that nobody chose.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.judges.embedded.model_files import model_bytes
from hallumeter.claims.judges.embedded.word_pieces import tokens_of

PINNED = [
    json.loads(line)
    for line in Path(__file__).with_name("pinned_tokens.jsonl").read_text(encoding="utf-8").splitlines()
]
# Letters, accents apart and joined, Korean, Chinese, emoji, marks of the vocabulary, what is no character of a text.
PIECES = (
    *(
        "a",
        "B",
        "ing",
        "1889",
        "é",
        "e\u0301",
        "\u0301",
        "İ",
        "ß",
        "Σ",
        "ς",
        "ﬁ",
        "œ",
        "Ω",
        "가",
        "각",
        "힣",
        "ㄱ",
        "中",
    ),
    *("[SEP]", "[sep]", "[UNK", "]", "##", ".", ",", "-", "_", "$", "'", "’", "…", "—", "«", "½", "²", "٣", "न", "😀"),
    *(
        " ",
        "\n",
        "\t",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\u200d",
        "\u00ad",
        "\ufeff",
        "\x00",
        "\x07",
        "\x1c",
        "\x85",
        "\ufffd",
    ),
)


@pytest.mark.parametrize("row", PINNED, ids=[f"{row['text']:.30}" for row in PINNED])
def test_a_text_is_cut_as_the_network_learnt_it(row: dict[str, Any]) -> None:
    tokens = tokens_of(row["text"])
    assert list(tokens.ids) == row["ids"]
    assert [list(span) for span in tokens.spans] == row["spans"]


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    assert tokens_of("why\ud800").ids == tokens_of("why?").ids
    assert tokens_of("why\ud800 not").spans[-1] == (5, 8)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_the_library_of_the_training_cuts_every_text_the_same(text: str) -> None:
    library = pytest.importorskip("tokenizers")
    theirs = library.Tokenizer.from_str(model_bytes("tokenizer.json").decode())
    theirs.no_truncation()
    theirs.no_padding()
    encoded = theirs.encode(text, add_special_tokens=False)
    tokens = tokens_of(text)
    assert (list(tokens.ids), list(tokens.spans)) == (encoded.ids, encoded.offsets)


@given(st.text(max_size=40))
def test_every_token_stands_in_the_text_in_its_order(text: str) -> None:
    places = [0, *(place for span in tokens_of(text).spans for place in span), len(text)]
    assert places == sorted(places)
