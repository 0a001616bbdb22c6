"""Answers of the server, and questions that cannot be answered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from hallumeter.errors import HallumeterError
from hallumeter.text.printable import one_line

from .guard import BODY_BYTES, Refused

if TYPE_CHECKING:
    from starlette.requests import Request

_Record = TypeVar("_Record")


def json_answer(value: object, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def html_answer(page: str, status: int = 200) -> Response:
    """A page; characters that UTF-8 cannot carry are replaced."""
    return Response(page.encode(errors="replace"), status, media_type="text/html")


async def body_of(request: Request, kind: type[_Record]) -> _Record:
    """What was sent, if it is what was expected.

    Raises:
        Refused: It is too long, or something else.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES:
            raise Refused(413, f"expected at most {BODY_BYTES:,} bytes")
    return parsed(body, kind)


def parsed(text: bytes | str, kind: type[_Record]) -> _Record:
    """JSON of a request.

    Raises:
        Refused: It is not the JSON that was expected.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(400, f"the JSON cannot be used: {error}") from error


async def refusal(_: Request, error: Exception) -> Response:
    """Every fault as one line; what is ours to mend is said on the standard error too."""
    if isinstance(error, Refused):
        return _told(error.status, error.why)
    if isinstance(error, HTTPException):
        return _told(error.status_code, "nothing is here" if error.status_code == 404 else error.detail)
    if isinstance(error, HallumeterError):
        return _told(409, str(error))
    print(f"hallumeter: {one_line(f'{type(error).__name__}: {error}')}", file=sys.stderr)  # noqa: T201
    return _told(500, "the server could not answer; its terminal says why")


def _told(status: int, why: str) -> Response:
    return PlainTextResponse(one_line(why).encode(errors="replace") + b"\n", status)
