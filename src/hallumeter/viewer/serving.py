"""Serve the runs of a folder to a browser on this machine."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hallumeter.errors import InputError, SettingsError

from .app import App
from .guard import Guard
from .runs import RunList

HERE = "127.0.0.1"
"""The only address that is ever listened on."""
_SECONDS_TO_END = 2
_SECONDS_TO_ASK = 10
"""Within which a request must be there whole, from the moment its connection is made or its first byte arrives."""

_UNFINISHED = ("IDLE", "SEND_BODY")
"""What h11 calls the states of a client whose request is not there yet."""


class _PatientConnection(H11Protocol):
    """A connection that is closed when its request does not arrive in time.

    uvicorn waits for ever for the first request and for the rest of one that has begun, so that connections which
    say nothing would take all file handles.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if repr(self.conn.their_state) in _UNFINISHED:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Begin to wait, unless it is waiting: a byte now and then gains no time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(_SECONDS_TO_ASK, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class Viewer:
    """A server that has its place but does not answer yet."""

    def __init__(
        self,
        folder: Path,
        *,
        annotator: str,
        warn: Callable[[str], None],
        port: int = 0,
        language: str = "en",
        verify: bool = True,
    ) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; give a folder of runs, or a run folder")
        self._socket = _bound(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self._app = App(
            RunList(folder, warn, verify=verify),
            annotator=annotator,
            language=language,
            is_closing=lambda: self._server.should_exit,
        )
        guard = Guard(self._app.starlette(), token=self.token, port=self.port)
        config = uvicorn.Config(
            guard,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            loop="asyncio",
            http=_PatientConnection,
            ws="none",
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """What to open in a browser; whoever knows it may read the runs."""
        return f"http://{HERE}:{self.port}/{self.token}/"

    def run(self) -> None:
        """Answer until it is stopped, by Ctrl-C or by `stop`."""
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass
        finally:
            self._app.library.close()
            self._socket.close()

    def stop(self) -> None:
        """Let `run` end soon."""
        self._server.should_exit = True


def _bound(port: int) -> socket.socket:
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let others take the port as well
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind((HERE, port))
        own.listen(128)  # whoever is told the address may ask at once
    except (OSError, OverflowError) as error:
        own.close()
        raise SettingsError(
            f"port {port} cannot be used ({error}); choose another with --port, or leave it out"
        ) from error
    return own
