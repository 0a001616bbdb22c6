"""What a system is told: the prompts are files, and what is known of a patient stands in them as data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from hallumeter.providers.language_models import Message

from .patient_words import filled, words_in

_NAMES = ("system", "agent_question")
LANGUAGES = ("ko", "en")


@cache
def prompt(name: str, language: str) -> str:
    """The text of a prompt."""
    file = resources.files(__package__).joinpath("prompts", f"{name}.{language}.txt")
    return file.read_text(encoding="utf-8").strip()


@cache
def prompts_digest() -> str:
    """Changes whenever a prompt does."""
    texts = "\x1e".join(prompt(name, language) for name in _NAMES for language in LANGUAGES)
    return hashlib.sha256(texts.encode()).hexdigest()[:12]


def agent_question(question: str, language: str, *, memory: Sequence[str], record: Sequence[str]) -> str:
    """A question with what an agent is reminded of before it.

    >>> print(agent_question("What may I eat?", "en", memory=["Age: 67"], record=[]).splitlines()[2])
    Age: 67
    """
    nothing = words_in(language).memory["nothing"]
    values = {"memory": _as_data(memory) or nothing, "record": _as_data(record) or nothing, "question": question}
    told = filled(prompt("agent_question", language), values)
    assert told is not None
    return told


def messages_of(exchanges: Sequence[tuple[str, str]], question: str, language: str) -> tuple[Message, ...]:
    """The whole conversation: what to do, questions and answers so far, and the question to answer now."""
    said = [
        message for asked, answer in exchanges for message in (Message("user", asked), Message("assistant", answer))
    ]
    return (Message("system", prompt("system", language)), *said, Message("user", question))


def _as_data(lines: Sequence[str]) -> str:
    """Lines that cannot pass for one of the marks around them."""
    return "\n".join(" ".join(line.split()).replace("<", "&lt;").replace(">", "&gt;") for line in lines)
