"""Who may ask: only pages that this server gave, in a browser on this machine.

Any page of the network can make a browser send requests to 127.0.0.1. So every address begins with a token that only
the user was told; the name in `Host` must be this machine's, or a name of somebody else's that was pointed here would
pass for it; and what changes something must come from a page of this very server.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""What every answer carries."""
QUERY_BYTES = 16_384
BODY_BYTES = 65_536
_READING = ("GET", "HEAD")


class Refused(Exception):  # noqa: N818 (it is an answer, not an error of ours)
    """A request that is not answered."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """Stands before the app: checks each request, takes the token off its path, and adds the headers."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the app answer it."""
        if scope["type"] != "http":
            return
        send = _with_headers(send)
        try:
            inner = self._checked(scope)
        except Refused as refused:
            await PlainTextResponse(f"{refused.why}\n", refused.status)(scope, receive, send)
            return
        await self._app(inner, receive, send)

    def _checked(self, scope: Scope) -> Scope:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if headers.getlist("host") != [host] or host not in self._hosts:
            raise Refused(400, "this address is not served here")
        token, slash, rest = scope["path"].encode(errors="surrogateescape").lstrip(b"/").partition(b"/")
        if not secrets.compare_digest(token, self._token) or not slash:
            raise Refused(404, "nothing is here; use the address that hallumeter view printed")
        self._check_form(scope, headers)
        if scope["method"] not in _READING:
            _check_origin(headers, host)
        path = "/" + rest.decode(errors="surrogateescape")
        return {**scope, "path": path, "raw_path": path.encode(errors="surrogateescape"), "root_path": ""}

    @staticmethod
    def _check_form(scope: Scope, headers: Headers) -> None:
        if len(scope["query_string"]) > QUERY_BYTES:
            raise Refused(414, "the question is too long")
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if scope["method"] in _READING and has_body:
            raise Refused(400, "a request that only reads has no body")
        if scope["method"] not in (*_READING, "POST"):
            raise Refused(405, "only GET, HEAD and POST are answered")


def _check_origin(headers: Headers, host: str) -> None:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin"):
        raise Refused(403, "only pages of this server may change something")
    # A browser hides the origin of some requests of a page without referrer; it then tells the site all the same.
    if origin not in (None, f"http://{host}") and not (origin == "null" and site == "same-origin"):
        raise Refused(403, "only pages of this server may change something")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "expected application/json")
    if "x-hallumeter" not in headers:
        raise Refused(403, "the header X-Hallumeter is missing")


def _with_headers(send: Send) -> Send:
    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return send_more
