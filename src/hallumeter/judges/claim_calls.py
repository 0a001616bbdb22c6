"""Asking a language model about claims, and asking again for what its reply lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from hallumeter.providers.language_models import Message, ProviderFault

from .label_logprobs import label_probabilities
from .replies import ClaimReply, read_reply, repair_message, reply_schema

if TYPE_CHECKING:
    from collections.abc import Collection

    from hallumeter.providers.language_models import Provider, Reply, Request

_MOST_OF_A_BAD_REPLY = 4_000
"""Characters of a reply that a model is shown again."""


class Asked(Struct, frozen=True):
    """What a model said of claims, over all calls that it took."""

    claims: dict[int, ClaimReply]
    """By the number of the claim; those without a usable verdict are absent."""
    probabilities: dict[int, tuple[float, ...]]
    """Over the three outcomes, where the provider gives what it takes."""
    cost_usd: float | None
    """Of all calls; None when one of them has no known price."""
    attempts: int
    """How often the model was asked, repetitions of the provider included."""
    fault: ProviderFault | None = None
    """Why the last call gave nothing at all."""
    problems: dict[int, str] = {}
    """What was wrong with the last reply, by the number of the claim."""


def ask_about(
    provider: Provider, request: Request, numbers: Collection[int], *, wants_quotes: bool, repairs: int
) -> Asked:
    """Ask about the claims of these numbers; a reply that lacks some is answered with what was wrong with it.

    A model that ran out of tokens is given twice as many.

    Raises:
        ProviderFault: Every further call would meet the same.
    """
    missing = set(numbers)
    asked = Asked({}, {}, 0.0, 0)
    messages, max_tokens = request.messages, request.max_tokens
    for _ in range(1 + repairs):
        schema = reply_schema(missing, wants_quotes=wants_quotes)
        call = msgspec.structs.replace(request, messages=messages, max_tokens=max_tokens, reply_schema=schema)
        try:
            reply = provider.complete(call)
        except ProviderFault as fault:
            asked = _after_fault(asked, fault)
            if fault.code != "empty_reply":
                break
            max_tokens *= 2  # what thinks before it writes may have thought too long
            continue
        text, is_cut_off = _text_of(reply)
        asked = _after_reply(asked, reply, missing, cost_usd=_cost_of(provider, reply))
        missing -= asked.claims.keys()
        if not missing:
            break
        said = repair_message(asked.problems, is_cut_off=is_cut_off)
        shown = Message("assistant", text[:_MOST_OF_A_BAD_REPLY] or "(nothing)")
        messages = (*request.messages, shown, Message("user", said))
        max_tokens *= 2 if is_cut_off else 1
    return asked


def _after_fault(asked: Asked, fault: ProviderFault) -> Asked:
    if fault.is_fatal:
        raise fault
    return msgspec.structs.replace(asked, fault=fault, attempts=asked.attempts + fault.attempts)


def _after_reply(asked: Asked, reply: Reply, missing: Collection[int], *, cost_usd: float | None) -> Asked:
    read = read_reply(_text_of(reply)[0], missing)
    tokens = reply.completions[0].logprobs if reply.completions else None
    distributions = label_probabilities(tokens) if tokens else []
    if len(distributions) != len(read.order):  # what belongs to which claim is not certain
        distributions = []
    known = {number: found for number, found in zip(read.order, distributions, strict=False) if found is not None}
    return Asked(
        claims={**asked.claims, **read.claims},
        probabilities={**asked.probabilities, **known},
        cost_usd=None if cost_usd is None or asked.cost_usd is None else asked.cost_usd + cost_usd,
        attempts=asked.attempts + 1,
        problems=read.problems,
    )


def _text_of(reply: Reply) -> tuple[str, bool]:
    """The text of a reply, and whether it was cut off."""
    if not reply.completions:
        return "", False
    return reply.completions[0].text, reply.completions[0].finish == "length"


def _cost_of(provider: Provider, reply: Reply) -> float | None:
    cost_of = getattr(provider, "cost_of", None)
    return None if cost_of is None else cost_of(reply)
