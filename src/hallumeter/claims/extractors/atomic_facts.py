"""Claims by a language model: the atomic facts of a response, each with its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib import resources

import msgspec
from msgspec import Struct

from hallumeter.models.protocol import Completion, Message, Provider, ProviderFault, ReplySchema, Request
from hallumeter.records.claim import Claim
from hallumeter.records.response import Response
from hallumeter.text.normalize import claim_key
from hallumeter.text.sentences import iterate_sentence_spans

from .protocol import DEFAULT_THRESHOLD, Aligner, ExtractionFailure

PROMPT = (
    resources.files("hallumeter.claims.extractors").joinpath("prompts", "atomic_facts.txt").read_text(encoding="utf-8")
)
_REPAIRS = 2
_MOST_TRIES = 50
_SCHEMA = ReplySchema(
    "atomic_facts",
    {
        "type": "object",
        "properties": {
            "facts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"fact": {"type": "string"}, "quote": {"type": "string"}},
                    "required": ["fact", "quote"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["facts"],
        "additionalProperties": False,
    },
)


class FactSettings(Struct, frozen=True):
    """How facts are asked for, and found in the response."""

    window_characters: int = 6000
    """Longer responses are asked about in parts, cut where a sentence ends."""
    max_tokens: int = 4096
    """Of each reply."""
    threshold: float = DEFAULT_THRESHOLD
    """Least similarity of a quote and its place, from 0 to 100."""


class _Fact(Struct, frozen=True):
    fact: str
    quote: str | None = None


class _Reply(Struct, frozen=True):
    facts: list[_Fact]


# Known to msgspec before threads ask for it: two that do so for the first time at once crash it.
msgspec.json.Decoder(_Reply)


class FactExtractor:
    """Asks a language model for the atomic facts of a response.

    A fact stands where its quote does: exactly, else at the most similar place. A fact without such a place is kept,
    with `start` and `end` None.
    """

    is_remote = True

    def __init__(self, provider: Provider, settings: FactSettings | None = None) -> None:
        self._provider = provider
        self._settings = settings or FactSettings()
        made_of = PROMPT.encode() + msgspec.json.encode(
            [_SCHEMA, self._settings, sorted(provider.spec.settings.items())]
        )
        self._digest = hashlib.blake2b(made_of, digest_size=4).hexdigest()

    @property
    def name(self) -> str:
        """The model, and a hash of the prompt and the settings, the address of the server among them."""
        return f"llm-{self._provider.spec.name}-{self._digest}"

    def extract(self, response: Response) -> list[Claim]:
        """The facts of a response in the order of their places, those without a place last.

        Raises:
            ExtractionFailure: The model gave no usable reply about some part of the response.
        """
        text = response.response or ""
        found: dict[str, tuple[_Fact, tuple[int, int] | None]] = {}
        for start, end in windows_of(text, self._settings.window_characters):
            aligner = Aligner(text[start:end], self._settings.threshold)
            for fact in self._facts(text[start:end], response.question):
                place = aligner.place_of(fact.quote or "") or aligner.place_of(fact.fact)
                shifted = None if place is None else (start + place[0], start + place[1])
                found.setdefault(claim_key(fact.fact), (fact, shifted))
        ordered = sorted(found.values(), key=lambda each: (each[1] is None, each[1] or (0, 0)))
        return [
            Claim(
                response.record_id,
                f"{response.record_id}#{number}",
                start=place and place[0],
                end=place and place[1],
                text=fact.fact.strip(),
            )
            for number, (fact, place) in enumerate(ordered)
        ]

    def _facts(self, part: str, question: str | None) -> list[_Fact]:
        asked = {"response": part} if question is None else {"question": question, "response": part}
        messages = [Message("system", PROMPT), Message("user", json.dumps(asked, ensure_ascii=_is_broken(asked)))]
        attempts = 0
        while True:
            completion, tries = self._ask(messages, attempts)
            attempts += tries
            try:
                return _parse(completion)
            except ValueError as problem:
                code = "truncated_reply" if completion.finish == "length" else "malformed_reply"
                if len(messages) >= 2 + 2 * _REPAIRS:
                    message = f"no facts could be read from the reply: {problem}"
                    raise ExtractionFailure(code, message, attempts=attempts) from None
                request = f"That reply could not be used: {problem}. Reply with the JSON object alone."
                messages += [Message("assistant", completion.text or "(empty)"), Message("user", request)]

    def _ask(self, messages: list[Message], attempts: int) -> tuple[Completion, int]:
        request = Request(messages=tuple(messages), max_tokens=self._settings.max_tokens, reply_schema=_SCHEMA)
        try:
            reply = self._provider.complete(request)
        except ProviderFault as fault:
            if fault.is_fatal:
                raise
            raise ExtractionFailure(fault.code, fault.message, attempts=attempts + fault.attempts) from None
        if not reply.completions:
            raise ExtractionFailure("empty_reply", "the model gave no reply", attempts=attempts + 1)
        return reply.completions[0], 1


def windows_of(text: str, characters: int) -> Iterator[tuple[int, int]]:
    """Parts of a text of at most so many characters, cut where a sentence ends; a longer sentence stays whole.

    >>> list(windows_of("One. Two. Three.", 10))
    [(0, 9), (10, 16)]
    """
    first: int | None = None
    last = 0
    for start, end in iterate_sentence_spans(text):
        if first is not None and end - first > characters:
            yield first, last
            first = None
        first = start if first is None else first
        last = end
    if first is not None:
        yield first, last


def _is_broken(asked: dict[str, str]) -> bool:
    """Whether a text holds halves of characters, which cannot be sent as they are."""
    return any("\ud800" <= character <= "\udfff" for text in asked.values() for character in text)


def _parse(completion: Completion) -> list[_Fact]:
    """The facts of a reply, also of one with words or a code fence around its JSON.

    Raises:
        ValueError: There are none; it says why, so that the model can mend it.
    """
    problem = "it holds no JSON object with the field facts"
    for value in _json_values(completion.text):
        try:
            reply = msgspec.convert({"facts": value} if isinstance(value, list) else value, _Reply)
        except msgspec.ValidationError as error:
            problem = str(error)
            continue
        if any(not fact.fact.strip() for fact in reply.facts):
            problem = "a fact is empty"
            continue
        return reply.facts
    if completion.finish == "length":
        problem = "it was cut off before its end; use shorter quotes"
    raise ValueError(problem)


def _json_values(text: str) -> Iterator[object]:
    """Every JSON object or list of a text that is not inside of another, as far as they are complete."""
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(_MOST_TRIES):
        starts = [start for start in (text.find("{", place), text.find("[", place)) if start >= 0]
        if not starts:
            return
        try:
            value, place = decoder.raw_decode(text, min(starts))
        except (ValueError, RecursionError):
            place = min(starts) + 1
        else:
            yield value
