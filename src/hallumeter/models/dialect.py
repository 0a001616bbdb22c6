"""Asks a server in a dialect: forms of settings that it takes, and several samples."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from .http import (
    ErrorBody,
    HttpClient,
    HttpReply,
    ReplyBody,
    error_in,
    fault_of,
    fault_of_success,
    made_fault,
    seconds_until_reset,
)
from .protocol import Completion, ProviderFault, ProviderSpec, RateLimits, Reply, Request, Usage

# Settings that a model does not take: told from its refusal, given in another form or left out from then on.

Form = Mapping[str, object]
"""A setting as it stands in the body of a request: fields and values."""
Forms = Mapping[str, Sequence[Form]]
"""The ways to send each setting, the best first; after the last it is left out."""

_REFUSING_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
_REFUSING_WORDS = re.compile(
    r"unsupported|not support|n't support|only the default|unknown (?:parameter|field|argument)|unrecogni[sz]ed|"
    r"unexpected (?:parameter|field|keyword)|extra (?:inputs|fields)|not (?:permitted|allowed|available|compatible)|"
    r"incompatible|deprecated|may not be (?:set|used|enabled)|may only be|cannot be (?:set|used)",
    re.IGNORECASE,
)


_IN_PROSE = {"output_config": r"output[ _]format|structured outputs?"}
"""What errors call a field, other than by its name."""


class TakenForms:
    """Which form of each setting a model takes, as far as is known; shared by all threads."""

    def __init__(self) -> None:
        self._steps: dict[str, int] = {}
        self._lock = threading.Lock()

    def steps(self) -> dict[str, int]:
        """How many forms of each setting were refused so far."""
        with self._lock:
            return dict(self._steps)

    def refuse(self, setting: str, steps: Mapping[str, int]) -> None:
        """Go on to the next form, unless another thread has learnt it since these steps were read."""
        with self._lock:
            self._steps[setting] = max(self._steps.get(setting, 0), steps.get(setting, 0) + 1)


def fields_of(forms: Forms, steps: Mapping[str, int]) -> dict[str, object]:
    """The fields of a request's body, each setting in the first form that was not refused.

    >>> fields_of({"max_tokens": [{"max_tokens": 9}, {"max_completion_tokens": 9}]}, {"max_tokens": 1})
    {'max_completion_tokens': 9}
    """
    fields: dict[str, object] = {}
    for setting, ways in forms.items():
        fields.update(_form(ways, steps.get(setting, 0)))
    return fields


def left_out(forms: Forms, steps: Mapping[str, int], weaker: Mapping[str, int]) -> tuple[str, ...]:
    """Settings of which no form is left, or only one that `weaker` says does not do what was asked.

    >>> left_out({"temperature": [{"temperature": 0}], "seed": []}, {"temperature": 0}, {})
    ('seed',)
    """
    return tuple(setting for setting, ways in forms.items() if steps.get(setting, 0) >= weaker.get(setting, len(ways)))


def refused_setting(error: ErrorBody, forms: Forms, steps: Mapping[str, int]) -> str | None:
    """The setting that an error refuses; None when it is about something else.

    >>> error = ErrorBody(message="Unsupported value: 'temperature' does not support 0 with this model.")
    >>> refused_setting(error, {"temperature": [{"temperature": 0}]}, {})
    'temperature'
    >>> error = ErrorBody(message="max_tokens is too large: 99999", param="max_tokens")
    >>> refused_setting(error, {"max_tokens": [{"max_tokens": 99999}]}, {}) is None
    True
    """
    message = error.message or ""
    if error.code not in _REFUSING_CODES and not _REFUSING_WORDS.search(message):
        return None
    sent = {field: setting for setting, ways in forms.items() for field in _form(ways, steps.get(setting, 0))}
    named = (error.param or "").partition(".")[0]
    if named in sent:
        return sent[named]
    places = {field: _place(field, message) for field in sent}
    found = [field for field, place in places.items() if place is not None]
    return sent[min(found, key=lambda field: places[field] or 0)] if found else None


def _form(ways: Sequence[Form], step: int) -> Form:
    return ways[step] if step < len(ways) else {}


def _place(field: str, message: str) -> int | None:
    """Where a message names a field; one letter must be quoted, for it may be a word."""
    names = "|".join(filter(None, (re.escape(field), _IN_PROSE.get(field))))
    pattern = rf"(?<!\w)(?:{names})(?!\w)" if len(field) > 1 else rf"['\"`]{names}['\"`]"
    found = re.search(pattern, message, re.IGNORECASE)
    return None if found is None else found.start()


_MOST_FORMS = 12
"""Refusals of settings in a row; there are fewer settings than that."""
_REFUSING = {400, 403, 422}
_Body = TypeVar("_Body", bound=ReplyBody)


class Dialect(Protocol):
    """How requests and replies of a vendor are written."""

    @property
    def path(self) -> str:
        """Where to post, after the address of the server."""
        ...

    @property
    def weaker(self) -> Mapping[str, int]:
        """Settings that count as left out although a weaker form is still sent, and the refusals until then."""
        ...

    def fields(self, request: Request) -> dict[str, object]:
        """What every request of this dialect holds."""
        ...

    def forms(self, request: Request, samples: int) -> Forms:
        """The ways to send each setting of a request."""
        ...

    def read(self, reply: HttpReply) -> Reply:
        """What a reply with status 200 says.

        Raises:
            ProviderFault: It holds no usable text.
        """
        ...


class Asker:
    """Asks one model; remembers for all threads which settings it does not take."""

    def __init__(self, client: HttpClient, dialect: Dialect) -> None:
        self._client = client
        self._dialect = dialect
        self._taken = TakenForms()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"

    def ask(self, request: Request) -> Reply:
        """As many samples as are wanted, in one call where the model gives several and in several where not."""
        replies: list[Reply] = []
        missing = request.samples
        while missing > 0:
            done = request.samples - missing
            # The same seed again would only give the same sample again.
            seed = None if request.seed is None else request.seed + done
            try:
                reply = self._ask_once(msgspec.structs.replace(request, seed=seed), missing)
            except ProviderFault as fault:
                paid = [earlier.usage for earlier in replies]
                fault.usage = added([*paid, *([fault.usage] if fault.usage else [])]) if paid else fault.usage
                raise
            replies.append(reply)
            missing -= len(reply.completions)
        return replies[0] if len(replies) == 1 else _joined(replies)

    def _ask_once(self, request: Request, samples: int) -> Reply:
        fields = self._dialect.fields(request)
        forms = self._dialect.forms(request, samples)
        for _ in range(_MOST_FORMS):
            steps = self._taken.steps()
            body = msgspec.json.encode({**fields, **fields_of(forms, steps)})
            reply = self._client.post(self._dialect.path, body)
            if 200 <= reply.status < 300:
                left = tuple(name for name in left_out(forms, steps, self._dialect.weaker) if name != "samples")
                raw = reply.body.decode("utf-8", "replace")
                return msgspec.structs.replace(self._dialect.read(reply), left_out=left, raw=raw)
            error = error_in(reply.body)
            setting = refused_setting(error, forms, steps) if reply.status in _REFUSING else None
            if setting is None:
                raise fault_of(reply, error)
            self._taken.refuse(setting, steps)
        raise made_fault("refused_request", f"{self._client.address} refuses one setting after the other")


def completions_or_fault(completions: Sequence[Completion], *, usage: Usage) -> tuple[Completion, ...]:
    """The completions that hold text; a fault when none does."""
    usable = tuple(item for item in completions if item.text.strip() and item.finish != "content_filter")
    if usable:
        return usable
    if any(item.finish == "content_filter" for item in completions):
        fault = made_fault("content_filter", "the model or its filter declined to answer")
    elif any(item.finish == "length" for item in completions):
        fault = made_fault("empty_reply", "the tokens ran out before the first word; allow more in max_tokens")
    else:
        fault = made_fault("empty_reply", "the reply holds no text")
    fault.usage = usage
    raise fault


def limits_in(headers: Mapping[str, str], names: tuple[str, str, str, str]) -> RateLimits:
    """What is left, from the headers with these names: requests left, their reset, tokens left, their reset."""
    requests, tokens = (_count(headers.get(name)) for name in names[::2])
    resets = [seconds_until_reset(headers.get(name), headers) for name in names[1::2]]
    return RateLimits(requests, resets[0], tokens, resets[1])


def decoded(reply: HttpReply, decoder: msgspec.json.Decoder[_Body]) -> _Body:
    """The body of a reply with status 200, when it is whole and no error."""
    try:
        body = decoder.decode(reply.body)
    except msgspec.ValidationError as error:
        raise made_fault("malformed_reply", f"the reply is not built as this API builds it: {error}") from None
    except msgspec.DecodeError:
        raise made_fault("truncated_reply", "the reply is no whole JSON") from None
    if body.error:
        fault = body.error if isinstance(body.error, ErrorBody) else ErrorBody(message=body.error)
        raise fault_of_success(reply, fault)
    return body


def added(usages: Sequence[Usage]) -> Usage:
    """The sum of what several calls cost; None where one of them does not say.

    >>> added([Usage(10, 2), Usage(10, 3)])
    Usage(input_tokens=20, output_tokens=5, cached_input_tokens=None)
    """
    return Usage(
        _total([usage.input_tokens for usage in usages]),
        _total([usage.output_tokens for usage in usages]),
        _total([usage.cached_input_tokens for usage in usages]),
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _joined(replies: Sequence[Reply]) -> Reply:
    return msgspec.structs.replace(
        replies[-1],
        completions=tuple(completion for reply in replies for completion in reply.completions),
        usage=added([reply.usage for reply in replies]),
        raw="\n".join(reply.raw for reply in replies),
    )


class AskedModel:
    """A model that an asker asks: what the providers of all dialects have in common."""

    def __init__(self, spec: ProviderSpec, asker: Asker) -> None:
        self._spec = spec
        self._asker = asker

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._spec.name!r})"

    @property
    def spec(self) -> ProviderSpec:
        """Which model this is."""
        return self._spec

    def complete(self, request: Request) -> Reply:
        """Ask once, or once for each sample; settings that the model does not take are named in the reply.

        Raises:
            ProviderFault: There is no usable reply.
        """
        return self._asker.ask(request)
