"""What a system under test is asked, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from hallumeter.dialogue.records import EventUsage, Mode, PatientSlots
from hallumeter.errors import RecordError
from hallumeter.models.protocol import Message, ProviderFault
from hallumeter.records.response import FieldValue, check_logprobs

GIVEN_METRICS = ("faithfulness", "answer_relevance", "perplexity")
"""Metrics of an answer that a system may bring with it."""
_COSTS = ("estimated_cost_usd", "cost_usd")


class Turn(Struct, frozen=True, kw_only=True):
    """One question, with everything that goes with it."""

    messages: tuple[Message, ...]
    patient_id: str
    turn_id: int
    question: str
    language: str
    mode: Mode
    seed: int = 0
    slots: PatientSlots | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """What a system said."""

    text: str
    usage: EventUsage = EventUsage()
    metrics: dict[str, float | None] = field(default_factory=dict)
    """Those of `GIVEN_METRICS` that came with it."""
    metadata: dict[str, FieldValue] = field(default_factory=dict)


class Responder(Protocol):
    """Anyone who answers. It may be called from several threads at once."""

    def respond(self, turn: Turn) -> Answer:
        """Answer a question.

        Raises:
            ProviderFault: There is no answer; a fatal one would meet every further question too.
            BudgetReached: The budget was spent before.
            Interrupted: The run was stopped while the question waited.
        """
        ...

    def close(self) -> None:
        """Let go of whatever is held."""
        ...


def question_for(turn: Turn) -> dict[str, Any]:
    """A question as a function or a program gets it; only agents see the patient's facts.

    >>> turn = Turn(messages=(Message("user", "Hi"),), patient_id="p", turn_id=1, question="Hi", language="en",
    ...             mode="llm", slots=PatientSlots(age=67))
    >>> question_for(turn)["patient"]["slots"] is None, question_for(turn)["messages"]
    (True, [{'role': 'user', 'content': 'Hi'}])
    """
    slots = turn.slots if turn.mode == "agent" else None
    return {
        "messages": [{"role": message.role, "content": message.content} for message in turn.messages],
        "patient": {
            "patient_id": turn.patient_id,
            "turn_id": turn.turn_id,
            "question": turn.question,
            "language": turn.language,
            "mode": turn.mode,
            "seed": turn.seed,
            "slots": None if slots is None else _facts(slots),
        },
    }


def answer_of(said: object, who: str) -> Answer:
    """What a function or a program answered: a text, or a mapping with `text` and perhaps `usage` and more.

    >>> answer_of({"text": "Walk daily.", "usage": {"output_tokens": 3}}, "python:a").usage.output_tokens
    3

    Raises:
        ProviderFault: It is no answer: ``bad_reply``, ``empty_reply`` or ``system_error``.
    """
    row: Mapping[str, Any] = {"text": said} if isinstance(said, str) else said if isinstance(said, Mapping) else {}
    if row.get("error") is not None:
        raise ProviderFault("system_error", f"{who} says: {_short(row['error'])}")
    text = row.get("text")
    if not isinstance(text, str):
        found = f"a mapping with {', '.join(map(str, row)) or 'nothing'}" if row else f"a {type(said).__name__}"
        raise ProviderFault("bad_reply", f"{who} answered with {found}; expected a text, or a mapping with text")
    if not text.strip():
        raise ProviderFault("empty_reply", f"{who} answered with an empty text")
    try:
        return Answer(text=encodable(text), usage=_usage(row.get("usage")), metrics=_metrics(row))
    except (TypeError, ValueError, RecordError) as error:
        raise ProviderFault("bad_reply", f"{who} answered with a text, but {error}") from None


def encodable(text: str) -> str:
    """The same text without the halves of characters that no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def perplexity_of(logprobs: list[float]) -> float | None:
    """Exponential of the mean negative log-probability of the tokens. None without tokens.

    >>> perplexity_of([math.log(0.5), math.log(0.125)])
    4.0
    """
    check_logprobs(logprobs)
    return math.exp(-math.fsum(logprobs) / len(logprobs)) if logprobs else None


def _usage(given: object) -> EventUsage:
    if given is None:
        return EventUsage()
    if not isinstance(given, Mapping):
        raise TypeError(f"its usage is a {type(given).__name__}; expected input_tokens and output_tokens")
    cost = next((given[name] for name in _COSTS if given.get(name) is not None), None)
    return EventUsage(
        input_tokens=_count(given.get("input_tokens")),
        output_tokens=_count(given.get("output_tokens")),
        estimated_cost_usd=None if cost is None else _number(cost, "usage", least=0),
    )


def _count(value: object) -> int | None:
    return None if value is None else int(_number(value, "usage", least=0))


def _metrics(row: Mapping[str, Any]) -> dict[str, float | None]:
    given = row.get("metrics") or {}
    if not isinstance(given, Mapping):
        raise TypeError(f"its metrics are a {type(given).__name__}; expected a mapping")
    found = {name: _number(given[name], name) for name in GIVEN_METRICS if given.get(name) is not None}
    logprobs = row.get("token_logprobs")
    if logprobs and "perplexity" not in found:
        value = perplexity_of([float(each) for each in logprobs])
        return {**found, "perplexity": value}
    return dict(found)


def _number(value: object, name: str, *, least: float = -math.inf) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= least:
        return float(value)
    raise ValueError(f"its {name} holds {_short(value)}; expected a number{' from 0' if least == 0 else ''}")


def _facts(slots: PatientSlots) -> dict[str, Any]:
    return {name: value for name in slots.__struct_fields__ if (value := _plain(getattr(slots, name))) is not None}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 200 else f"{text[:200]}…"
