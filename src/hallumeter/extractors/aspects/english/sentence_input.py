"""A sentence as the networks read it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from .clauses import Clauses, clauses_of
from .feelings import Feeling, feelings_of
from .model_files import Numbers
from .tokens import Tokens, tokens_of
from .word_table import PLACED
from .wording import Wording


class Sentence(Struct, frozen=True):
    """What rules find in a text."""

    text: str
    tokens: Tokens
    clauses: Clauses
    feelings: tuple[Feeling, ...]


def sentence_of(text: str, known: Wording) -> Sentence:
    """Cut a text into words and clauses and weigh its words."""
    tokens = tokens_of(text)
    clauses = clauses_of(tokens, known)
    return Sentence(text, tokens, clauses, feelings_of(tokens, clauses, known))


def placed_numbers(sentence: Sentence) -> Numbers:
    """`PLACED` numbers for each word: what it weighs where it stands, and its capital."""
    capitals = np.array(sentence.tokens.capitals, np.int64)
    numbers = np.zeros((len(capitals), PLACED), np.float32)
    for feeling in sentence.feelings:
        numbers[feeling.core : feeling.last, 0] = feeling.weight / 1.5
    numbers[:, 1] = capitals == 1
    numbers[:, 2] = capitals == 2
    return numbers
