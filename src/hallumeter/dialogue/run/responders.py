"""The systems of an experiment, ready to be asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from threading import Event

from hallumeter.dialogue.records import EventUsage, PatientSlots
from hallumeter.models.pace import PaceSettings
from hallumeter.models.prices import Spending
from hallumeter.models.protocol import Reply, Request
from hallumeter.models.retry import PacedProvider
from hallumeter.run.paced_models import PacedModels

from .experiment import OFFLINE, Experiment, System
from .messages import Words, filled, quantity_in, readings, words_in
from .own_systems import FunctionResponder, ProgramResponder
from .systems import Answer, Responder, Turn, encodable, perplexity_of

# A responder that needs no model: sentences put together from a patient's facts, the same for the same seed.
#
# It plays two characters. As `llm` it answers what was just told it, forgets all of it in turns 3 and 4, gives advice
# that may not suit the patient, and now and then invents a drug, a diagnosis or a value. As `agent` it uses the facts
# it is reminded of. It shows how the instrument works; it says nothing about any model.

_NOBODY = PatientSlots()
_LAST_TURN = 5


class OfflineResponder:
    """Answers from a script; costs nothing and waits for nobody."""

    def respond(self, turn: Turn) -> Answer:
        """The answer of one of the two characters."""
        words = words_in(turn.language)
        ways = words.offline[turn.mode][str(min(turn.turn_id, _LAST_TURN))]
        draw = drawn(turn)
        facts = facts_of(turn.slots or _NOBODY, words, draw=draw)
        # A way that has nothing to say of this patient gives way to the next.
        texts = (_said(ways[(draw + step) % len(ways)], facts) for step in range(len(ways)))
        text = next(filter(None, texts))
        return Answer(text=text, usage=EventUsage(0, 0, 0.0), metadata={"model": OFFLINE})

    def close(self) -> None:
        """Nothing is held."""


def drawn(turn: Turn) -> int:
    """A number that depends on patient, turn, mode and seed alone."""
    parts = "\x1f".join((turn.patient_id, str(turn.turn_id), turn.mode, str(turn.seed)))
    return int.from_bytes(hashlib.sha256(parts.encode()).digest()[:8])


def facts_of(slots: PatientSlots, words: Words, *, draw: int) -> dict[str, str | None]:
    """What the sentences may be filled with; None where nothing is known."""
    labs, vitals = readings(slots.key_labs, words), readings(slots.key_vitals, words)
    drugs, others = slots.key_meds or (), slots.comorbidities or ()
    procedures = slots.major_procedures or ()
    comma = words.join["list"]
    return {
        "age": None if slots.age is None else str(slots.age),
        "sex": words.sex(slots),
        "condition": slots.primary_condition,
        "other": others[0] if others else None,
        "symptom": slots.chief_symptom,
        "drug": drugs[0] if drugs else None,
        "drugs": comma.join(drugs) or None,
        "procedure": procedures[0] if procedures else None,
        "lab": _reading(*labs[0], words) if labs else None,
        "labs": comma.join(_reading(*each, words) for each in labs) or None,
        "lab_name": labs[0][0] if labs else None,
        "vital": _reading(*vitals[0], words) if vitals else None,
        "vitals": comma.join(_reading(*each, words) for each in vitals) or None,
        "invented_drug": _invented(words.inventions.drugs, (*drugs, *(slots.other_meds or ())), draw),
        "invented_condition": _invented(words.inventions.conditions, _conditions(slots), draw),
        "invented_lab": _invented_reading(labs, words),
    }


def _conditions(slots: PatientSlots) -> tuple[str, ...]:
    """All that the patient has."""
    return (slots.primary_condition or "", *(slots.comorbidities or ()), *(slots.other_conditions or ()))


def _said(sentences: list[str], facts: Mapping[str, str | None]) -> str:
    """The sentences for which there are facts, each in the first form that can be filled."""
    forms = (next(filter(None, (filled(form, facts) for form in each.split(" || "))), None) for each in sentences)
    return " ".join(filter(None, forms))


def _reading(name: str, value: str, words: Words) -> str:
    return filled(words.join["reading"], {"name": name, "value": value}) or value


def _invented(names: Mapping[str, str], known: tuple[str, ...], draw: int) -> str | None:
    """Something that the patient does not have."""
    others = [said for name, said in names.items() if not any(name in each.lower() for each in known)]
    return others[draw // 7 % len(others)] if others else None


def _invented_reading(labs: list[tuple[str, str]], words: Words) -> str | None:
    """The first lab that is a number, with another number."""
    for name, value in labs:
        quantity = quantity_in(value)
        if quantity is not None and float(quantity[0]) > 0:
            number, unit = quantity
            decimals = len(number.partition(".")[2])
            return _reading(name, f"{float(number) * words.inventions.factor:.{decimals}f}{unit}", words)
    return None


class ModelResponder:
    """Asks a language model."""

    def __init__(self, provider: PacedProvider, system: System, *, wants_logprobs: bool) -> None:
        self._provider = provider
        self._system = system
        self._wants_logprobs = wants_logprobs

    def respond(self, turn: Turn) -> Answer:
        """The model's reply to the whole conversation."""
        request = Request(
            messages=turn.messages,
            max_tokens=self._system.max_tokens,
            temperature=self._system.temperature,
            seed=turn.seed,
            wants_logprobs=self._wants_logprobs,
        )
        reply = self._provider.complete(request)
        completion = reply.completions[0]
        usage = reply.usage
        return Answer(
            text=encodable(completion.text),
            usage=EventUsage(usage.input_tokens, usage.output_tokens, self._provider.cost_of(reply)),
            metrics=_perplexity(reply),
            metadata={"model": reply.model or self._provider.spec.model, "finish": completion.finish},
        )

    def close(self) -> None:
        """Connections end with the last who could use them."""


def _perplexity(reply: Reply) -> dict[str, float | None]:
    logprobs = reply.completions[0].logprobs
    # Servers write log-probabilities of tokens that were certain as a little more than 0.
    found = None if logprobs is None else perplexity_of([min(0.0, token.logprob) for token in logprobs])
    return {} if found is None else {"perplexity": found}


class Responders:
    """One responder for each system, in their order; systems with the same model share its pace."""

    def __init__(self, experiment: Experiment, *, spending: Spending, stop: Event) -> None:
        """Make all of them, and ask none.

        Raises:
            SettingsError: A key, a function or a price is missing.
            MissingExtraError: A package is.
        """
        self._experiment = experiment
        self._spending = spending
        self._models = PacedModels(experiment.prices, spending=spending, stop=stop)
        self._responders = tuple(self._made(system) for system in experiment.systems)

    def __getitem__(self, number: int) -> Responder:
        return self._responders[number]

    def __enter__(self) -> Responders:
        return self

    def __exit__(self, *_: object) -> None:
        for responder in self._responders:
            responder.close()

    @property
    def troubles(self) -> Iterator[str]:
        """Which settings the models did not take, a line for each model."""
        return self._models.troubles

    def _made(self, system: System) -> Responder:
        if system.python is not None:
            return FunctionResponder(system.python, timeout=system.timeout, spending=self._spending)
        if system.command is not None:
            return ProgramResponder(system.command, timeout=system.timeout, spending=self._spending)
        if system.model in (None, OFFLINE):
            return OfflineResponder()
        wants_logprobs = self._experiment.perplexity == "logprobs"
        return ModelResponder(self._provider(system), system, wants_logprobs=wants_logprobs)

    def _provider(self, system: System) -> PacedProvider:
        assert system.model is not None
        sharing = [other.concurrency for other in self._experiment.systems if other.model == system.model]
        pace = PaceSettings(
            requests_per_minute=self._experiment.requests_per_minute,
            tokens_per_minute=self._experiment.tokens_per_minute,
            most_attempts=system.retries + 1,
            timeout_seconds=system.timeout,
        )
        return self._models.named(system.model, pace=pace, connections=sum(sharing))
