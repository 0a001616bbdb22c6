"""What a system is told: the prompts are files, and what is known of a patient stands in them as data."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

from hallumeter.dialogue.records import PatientSlots
from hallumeter.models.protocol import Message

# The words of a run in each language, read from data files: labels of facts, sentences of the offline responder.

_FIELD = re.compile(r"\{(\w+)\}")
_QUANTITY = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(.*)", re.DOTALL)
_PRESSURES = ("bp_systolic", "bp_diastolic")


class Inventions(Struct, frozen=True, forbid_unknown_fields=True):
    """What can be said of a patient that is not true."""

    factor: float
    """By which a value is made wrong."""
    drugs: dict[str, str]
    """English names, and as they are said."""
    conditions: dict[str, str]


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said in one language."""

    record: dict[str, str]
    """A line for each kind of fact in a patient's record."""
    memory: dict[str, str]
    """A line for each kind of fact that a patient may state."""
    sexes: dict[str, str]
    measurements: dict[str, str]
    """Names of labs and vitals, as they are said."""
    join: dict[str, str]
    inventions: Inventions
    offline: dict[str, dict[str, list[list[str]]]]
    """Sentences of each way to answer each turn, by mode and turn."""

    def measured(self, name: str) -> str:
        """A lab or vital as it is said; one that has no other name by its own."""
        return self.measurements.get(name, name.replace("_", " "))

    def sex(self, slots: PatientSlots) -> str | None:
        """A patient's sex as it is said."""
        return self.sexes.get(slots.sex_code or "", slots.sex)


@cache
def words_in(language: str) -> Words:
    """The words of a language: ``ko`` or ``en``."""
    file = resources.files(__package__).joinpath("words", f"{language}.toml")
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Words)


def filled(sentence: str, values: Mapping[str, str | None]) -> str | None:
    """A sentence with its fields filled in once, whatever the values hold; None when a value is missing.

    >>> filled("{name} is {value}", {"name": "{value}", "value": "7"})
    '{value} is 7'
    >>> filled("{name}", {"name": None}) is None
    True
    """
    if any(values.get(name) is None for name in _FIELD.findall(sentence)):
        return None
    return _FIELD.sub(lambda found: str(values[found[1]]), sentence)


def readings(measured: Mapping[str, str] | None, words: Words) -> list[tuple[str, str]]:
    """Names and values of labs or vitals as they are said; the two of a blood pressure together.

    >>> readings({"bp_systolic": "131mmHg", "bp_diastolic": "87mmHg"}, words_in("en"))
    [('blood pressure', '131/87 mmHg')]
    """
    left = dict(measured or {})
    found = []
    if all(name in left for name in _PRESSURES):
        parts = [quantity_in(left.pop(name)) for name in _PRESSURES]
        if None not in parts:
            (high, unit), (low, _) = (part for part in parts if part is not None)
            found.append((words.measured("blood_pressure"), f"{high}/{low} {unit}".rstrip()))
        else:
            left = dict(measured or {})
    return [*found, *((words.measured(name), value) for name, value in left.items())]


def quantity_in(text: str) -> tuple[str, str] | None:
    """The number and the unit of a value such as ``6.24%``; None when it does not begin with a number."""
    found = _QUANTITY.fullmatch(text)
    return None if found is None else (found[1], found[2].strip())


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
    text = filled(prompt("agent_question", language), values)
    assert text is not None
    return text


def messages_of(exchanges: Sequence[tuple[str, str]], question: str, language: str) -> tuple[Message, ...]:
    """The whole conversation: what to do, questions and answers so far, and the question to answer now."""
    said = [
        message for asked, answer in exchanges for message in (Message("user", asked), Message("assistant", answer))
    ]
    return (Message("system", prompt("system", language)), *said, Message("user", question))


def _as_data(lines: Sequence[str]) -> str:
    """Lines that cannot pass for one of the marks around them."""
    return "\n".join(" ".join(line.split()).replace("<", "&lt;").replace(">", "&gt;") for line in lines)
