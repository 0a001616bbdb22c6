"""Posts to a server and hands back what came, or says why nothing did; needs the extra ``llm``."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from hallumeter.errors import MissingExtraError, SettingsError

from .faults import ProviderFault

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
