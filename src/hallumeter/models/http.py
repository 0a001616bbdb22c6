"""Posts to a server and hands back what came, or says why nothing did; needs the extra ``llm``."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from hallumeter.errors import MissingExtraError, SettingsError

from .protocol import ProviderFault

if TYPE_CHECKING:
    import httpx2


_CONNECT_SECONDS = 10.0
_EXAMPLE = "http://127.0.0.1:8080/v1"
_LONGEST_REPLY = 64 * 2**20
"""Bytes; a server that never ends must not fill the memory."""
_SHORTEST_SECRET = 8
"""Characters; keys of local servers are often a word such as ``none``, which may stand in any text."""


class HttpReply(NamedTuple):
    """What a server sent back."""

    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: bytes
    """Without the key, should the server have repeated it."""


class HttpClient:
    """One server, and a pool of connections to it that all threads share."""

    def __init__(
        self, address: str, *, headers: Mapping[str, str], secret: str, timeout_seconds: float, connections: int
    ) -> None:
        """Open nothing yet.

        Raises:
            MissingExtraError: The package for it is not installed.
            SettingsError: The secret cannot stand in a header, the address is none, or a proxy or certificates are not.
        """
        try:
            import httpx2
        except ImportError as error:
            raise MissingExtraError("llm", "asking a language model") from error
        if not (secret.isascii() and secret.isprintable()):
            raise SettingsError("the API key holds a line break or another character that no key has; set it anew")
        self.address = address.rstrip("/")
        self._secret = _written(secret) if len(secret) >= _SHORTEST_SECRET else None
        self._timeout_seconds = timeout_seconds
        try:
            httpx2.URL(self.address)
            self._client = httpx2.Client(
                headers={**headers, "content-type": "application/json", "accept": "application/json"},
                # Threads that outnumber the connections wait for one; that wait says nothing about the server.
                timeout=httpx2.Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds), pool=None),
                limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
                # A proxy does not reach servers of this machine, and a redirect would carry the key elsewhere.
                trust_env=not is_this_machine(address),
                follow_redirects=False,
            )
        except httpx2.InvalidURL as error:
            raise SettingsError(f"{self.address!r} is no address ({error}); expected one such as {_EXAMPLE}") from None
        except (ValueError, ImportError, OSError) as error:
            raise SettingsError(
                f"no connection to {self.address} can be prepared ({type(error).__name__}); look at the environment "
                "variables for proxies and certificates, such as HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE"
            ) from None
        weakref.finalize(self, self._client.close)  # connections end with the last who could use them

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"

    def post(self, path: str, body: bytes) -> HttpReply:
        """Send once.

        Raises:
            ProviderFault: ``timeout``, ``connection`` or ``truncated_reply``.
        """
        reply = self._posted(path, body)
        if isinstance(reply, ProviderFault):
            raise reply  # outside of any except clause: the client's own errors hold the headers, and so the key
        return reply

    def _posted(self, path: str, body: bytes) -> HttpReply | ProviderFault:
        import httpx2

        request = self._client.build_request("POST", self.address + path, content=body)
        ends = time.monotonic() + self._timeout_seconds
        try:
            response = self._client.send(request, stream=True)
        except httpx2.TimeoutException:
            return self._timeout()
        except (httpx2.HTTPError, OSError) as error:
            text = (
                f"no reply from {self.address} ({self._blotted(str(error).encode()).decode() or type(error).__name__})"
            )
            return ProviderFault("connection", text, is_retryable=True)
        try:
            content = self._read(response, ends)
        except httpx2.TimeoutException:
            return self._timeout()
        except (httpx2.HTTPError, OSError):
            return ProviderFault("truncated_reply", f"the reply from {self.address} broke off", is_retryable=True)
        finally:
            response.close()
        return HttpReply(response.status_code, response.headers, self._blotted(content))

    def _read(self, response: httpx2.Response, ends: float) -> bytes:
        import httpx2

        pieces: list[bytes] = []
        length = 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            length += len(piece)
            if time.monotonic() > ends:  # byte after byte may come in time, and the reply still never end
                raise httpx2.ReadTimeout("the whole reply took too long")
            if length > _LONGEST_REPLY:
                raise httpx2.ReadError("the reply is longer than any model writes")
        return b"".join(pieces)

    def _blotted(self, content: bytes) -> bytes:
        """The same bytes, with the key blotted out: before anything is read or cut, so that no piece of it is left."""
        return content if self._secret is None else self._secret.sub(b"***", content)

    def _timeout(self) -> ProviderFault:
        text = f"no whole reply from {self.address} within {self._timeout_seconds:g} seconds"
        return ProviderFault("timeout", text, is_retryable=True)


def _written(secret: str) -> re.Pattern[bytes]:
    r"""The secret as JSON, or JSON inside of JSON, may write it: ``a/b``, ``a\/b``, ``a\u002fb``, ``a\\/b``."""
    ways = (rb"(?:\\*%s|\\+u00(?i:%02x))" % (re.escape(bytes([code])), code) for code in secret.encode())
    # What comes before is no backslash: else a long row of them would be gone through again from each of them.
    return re.compile(rb"(?<!\\)" + b"".join(ways))


def is_this_machine(address: str) -> bool:
    """Whether an address is on the loopback interface.

    >>> is_this_machine("http://127.0.0.1:8080/v1"), is_this_machine("https://api.openai.com/v1")
    (True, False)
    """
    host = urlsplit(address).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


# What the status, the headers and the error body of a reply mean.

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
