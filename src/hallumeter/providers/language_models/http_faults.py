"""What the status, the headers and the error body of a reply mean."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec
from msgspec import Struct

from .faults import ProviderFault
from .http_client import HttpReply

RETRYABLE = frozenset({"timeout", "connection", "rate_limited", "server_error", "conflict", "truncated_reply"})
FATAL = frozenset({"bad_key", "unknown_model", "no_quota"})
_LONGEST_MESSAGE = 500

_CODE_OF_STATUS = {
    401: "bad_key",
    402: "no_quota",
    403: "bad_key",
    404: "unknown_model",
    408: "timeout",
    409: "conflict",
    429: "rate_limited",
}
_CODE_OF_WORD = {
    "insufficient_quota": "no_quota",
    "billing_error": "no_quota",
    "billing_hard_limit_reached": "no_quota",
    "invalid_api_key": "bad_key",
    "authentication_error": "bad_key",
    "permission_error": "bad_key",
    "model_not_found": "unknown_model",
    "not_found_error": "unknown_model",
    "rate_limit_exceeded": "rate_limited",
    "rate_limit_error": "rate_limited",
    "server_error": "server_error",
    "internal_server_error": "server_error",
    "api_error": "server_error",
    "overloaded_error": "server_error",
    "timeout_error": "timeout",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "invalid_request_error": "refused_request",
}
"""Words that providers write as code or type of an error."""
_WORDS_OVER_STATUS = {"no_quota", "content_filter"}
"""What a word says more exactly than the status that comes with it."""
_PIECES = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class ErrorBody(Struct, frozen=True):
    """An error as providers describe it; all of it may be missing."""

    message: str | None = None
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


class ReplyBody(Struct, frozen=True, kw_only=True):
    """A body that may tell of an error instead."""

    error: ErrorBody | str | None = None


class _Envelope(ReplyBody, frozen=True):
    message: str | None = None
    detail: object = None


def error_in(body: bytes) -> ErrorBody:
    """The error that a body tells of, in any of the forms that servers use.

    >>> error_in(b'{"error": {"message": "slow down", "type": "rate_limit_error"}}').type
    'rate_limit_error'
    >>> error_in(b"<html>Bad gateway</html>").message
    '<html>Bad gateway</html>'
    """
    try:
        found = msgspec.json.decode(body, type=_Envelope)
    except msgspec.DecodeError:
        return ErrorBody(message=body.decode("utf-8", "replace") or None)
    if isinstance(found.error, ErrorBody):
        return found.error
    detail = None if found.detail is None else str(found.detail)
    return ErrorBody(message=found.error or found.message or detail)


def fault_of(reply: HttpReply, error: ErrorBody) -> ProviderFault:
    """The fault behind a status that is no success."""
    code = _CODE_OF_STATUS.get(reply.status, "server_error" if reply.status >= 500 else "refused_request")
    word = _word_code(error)
    if word in _WORDS_OVER_STATUS or "credit balance is too low" in (error.message or ""):
        code = word if word in _WORDS_OVER_STATUS else "no_quota"
    message = f"status {reply.status}: {error.message or 'no explanation'}"
    if 300 <= reply.status < 400:
        message = f"status {reply.status}: the server sends elsewhere; give the address it names as the server's"
    return made_fault(code, message, retry_after=retry_after_seconds(reply.headers))


def fault_of_success(reply: HttpReply, error: ErrorBody) -> ProviderFault:
    """The fault behind an error body that came with status 200."""
    if isinstance(error.code, int) and 400 <= error.code < 600:
        return fault_of(reply._replace(status=error.code), error)
    code = _word_code(error) or "error_reply"
    message = f"the reply is an error: {error.message or 'no explanation'}"
    return made_fault(code, message, retry_after=retry_after_seconds(reply.headers))


def made_fault(code: str, message: str, *, retry_after: float | None = None) -> ProviderFault:
    """A fault that knows from its code whether asking again may help."""
    return ProviderFault(
        code,
        message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "…",
        is_retryable=code in RETRYABLE,
        is_fatal=code in FATAL,
        retry_after=retry_after if code in RETRYABLE else None,
    )


def _word_code(error: ErrorBody) -> str | None:
    words = [str(word).lower() for word in (error.code, error.type) if word is not None]
    return next((_CODE_OF_WORD[word] for word in words if word in _CODE_OF_WORD), None)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """How long to wait before asking again; None when the server does not say.

    >>> retry_after_seconds({"retry-after": "2"}), retry_after_seconds({"retry-after-ms": "250"})
    (2.0, 0.25)
    >>> dates = {"date": "Mon, 16 Nov 2026 05:00:00 GMT", "retry-after": "Mon, 16 Nov 2026 05:00:07 GMT"}
    >>> retry_after_seconds(dates)
    7.0
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    return seconds if seconds is not None else _until(_http_date(text), headers)


def seconds_until_reset(text: str | None, headers: Mapping[str, str]) -> float | None:
    """Seconds in a header such as ``6m0s``, ``12ms``, ``1.5`` or an RFC 3339 time; None when it is none of these.

    >>> seconds_until_reset("6m0s", {}), seconds_until_reset("12ms", {}), seconds_until_reset("1h2m3.5s", {})
    (360.0, 0.012, 3723.5)
    >>> seconds_until_reset("2026-11-16T05:00:09Z", {"date": "Mon, 16 Nov 2026 05:00:00 GMT"})
    9.0
    >>> seconds_until_reset("soon", {}) is None
    True
    """
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds if seconds < 10**8 else max(0.0, seconds - _sent(headers))  # larger ones count from 1970
    pieces = _PIECES.findall(text)
    if pieces and "".join(number + unit for number, unit in pieces) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in pieces)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _until(moment, headers)


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"\d+(\.\d+)?", text.strip()) else None


def _http_date(text: str | None) -> datetime | None:
    try:
        return None if text is None else parsedate_to_datetime(text)
    except ValueError:
        return None


def _until(moment: datetime | None, headers: Mapping[str, str]) -> float | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - _sent(headers))


def _sent(headers: Mapping[str, str]) -> float:
    """When the reply was sent, by the server's own clock where it tells: the two need not agree with ours."""
    sent = _http_date(headers.get("date"))
    return time.time() if sent is None else sent.timestamp()
