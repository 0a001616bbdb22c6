"""The web app: which address gives what, events of runs as they happen, and the server of this machine."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import secrets
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from hallumeter.errors import HallumeterError, InputError, SettingsError
from hallumeter.formats.images import converted, image_type
from hallumeter.records.claim import Label
from hallumeter.report.drawing import Json
from hallumeter.report.languages.speaking import say, speaking
from hallumeter.report.page.render import PALETTE_STYLE, palette_style, static, static_names
from hallumeter.run.labels import HumanLabel, LabelStore, is_attached, labels_csv
from hallumeter.text.normalize import one_line

from .background import Comparisons, Library
from .guard import BODY_BYTES, Guard, Refused
from .index.queries import Query
from .index.reading import Index
from .pages import comparing_page, comparison_page, entry, image_of, list_page, run_page, single, trend_page
from .runs import FoundRun, RunList

# Answers of the server, and questions that cannot be answered.

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
        return _refused(error.status, error.why)
    if isinstance(error, HTTPException):
        return _refused(error.status_code, "nothing is here" if error.status_code == 404 else error.detail)
    if isinstance(error, HallumeterError):
        return _refused(409, str(error))
    print(f"hallumeter: {one_line(f'{type(error).__name__}: {error}')}", file=sys.stderr)  # noqa: T201
    return _refused(500, "the server could not answer; its terminal says why")


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(one_line(why).encode(errors="replace") + b"\n", status)


MOST_ENTRIES = 200
LARGEST_IMAGE = 64 << 20


class NewLabel(Struct, frozen=True, forbid_unknown_fields=True):
    """What a reader says of a verdict."""

    record_id: str
    claim_id: str
    is_right: bool | None


class App:
    """Answers for one folder of runs."""

    def __init__(self, runs: RunList, *, annotator: str, language: str, is_closing: Callable[[], bool]) -> None:
        self._runs, self._annotator, self._language = runs, annotator, language
        self.library = Library(verify=runs.is_verifying)
        self._comparisons = Comparisons(verify=runs.is_verifying)
        self._news = Newsroom(runs, self.library, is_closing)

    def starlette(self) -> Starlette:
        """The same for a server."""
        own = "/runs/{run_id}"
        routes = [
            Route("/", self.list_of_runs),
            Route("/progress", self.progress_of_all),
            Route("/trends", self.trends),
            Route("/compare/{first}/{second}", self.comparison),
            Route("/static/{name}", self.static_file),
            Route(f"{own}/", self.page),
            Route(f"{own}/records", self.records),
            Route(f"{own}/records/{{position:int}}", self.record),
            Route(f"{own}/records/{{position:int}}/image", self.image),
            Route(f"{own}/facets", self.facets),
            Route(f"{own}/labels", self.labels),
            Route(f"{own}/labels", self.add_label, methods=["POST"]),
            Route(f"{own}/labels.csv", self.labels_table),
            Route(f"{own}/progress", self.progress),
        ]
        app = Starlette(
            routes=routes, exception_handlers=dict.fromkeys((404, 405, Refused, HallumeterError, Exception), refusal)
        )
        app.router.redirect_slashes = False
        return app

    def list_of_runs(self, _: Request) -> Response:
        """All runs."""
        with speaking(self._language):
            return html_answer(list_page(self._runs.root.name, self._runs.runs()))

    def trends(self, request: Request) -> Response:
        """How metrics moved from run to run."""
        chosen = {name: request.query_params.get(name) for name in ("instrument", "metric")}
        with speaking(self._language):
            return html_answer(trend_page(self._runs.root.name, self._runs.runs(), **chosen))

    def comparison(self, request: Request) -> Response:
        """What changed from one run to another, as soon as it is known."""
        first, second = (self._run(request, name) for name in ("first", "second"))
        unfinished = next((run for run in (first, second) if run.summary is None), None)
        with speaking(self._language):
            if unfinished is not None:
                fault = unfinished.reason or say("{run} is not finished", run=unfinished.name)
                return html_answer(comparing_page(first, second, fault=fault), 409)
            work = self._comparisons.of(first.path, second.path)
            if work.result is not None:
                return html_answer(comparison_page(first, second, work.result))
            return html_answer(comparing_page(first, second, fault=work.fault), 409 if work.fault else 200)

    def page(self, request: Request) -> Response:
        """The page of a run, or of how far it is."""
        run = self._run(request)
        index = self._index_or_none(run)
        fault = None if index is not None or run.status == "damaged" else self.library.fault(run.path)
        with speaking(self._language):
            return html_answer(run_page(run, index, fault=fault))

    async def progress(self, request: Request) -> Response:
        """Steps of a run as they are taken."""
        run = await run_in_threadpool(self._run, request)
        return self._news.of_run(run.run_id)

    async def progress_of_all(self, _: Request) -> Response:
        """States of all runs as they change."""
        return self._news.of_all()

    def records(self, request: Request) -> Response:
        """Some of the records that a query means."""
        run, index = self._indexed(request)
        asked = request.query_params
        query = parsed(asked.get("query") or "{}", Query)
        start, count = _number(asked.get("start"), 0), _number(asked.get("count"), 50)
        try:
            found = index.positions(query, asked.get("order") or "worst")
        except KeyError:
            raise Refused(400, "there is no such order") from None
        with speaking(self._language):
            chosen = found[start : start + min(count, MOST_ENTRIES)]
            entries = [entry(run.path, index, position=position) for position in chosen]
        return json_answer({"total": index.total, "matching": len(found), "start": start, "entries": entries})

    def record(self, request: Request) -> Response:
        """One record."""
        run, index = self._indexed(request)
        position = request.path_params["position"]
        with speaking(self._language):
            found = single(run.path, index, position=position) if position < 2**62 else None
        if found is None:
            raise Refused(404, "there is no such record")
        return json_answer(found)

    def image(self, request: Request) -> Response:
        """The image of a record's page, whole; the address names the record, never a file."""
        run, index = self._indexed(request)
        position = request.path_params["position"]
        path = image_of(run.path, index, position=position) if position < 2**62 else None
        if path is None:
            raise Refused(404, "there is no image of this record")
        return _image_answer(path)

    def facets(self, request: Request) -> Response:
        """What can be chosen from."""
        return Response(self._indexed(request)[1].facets(), media_type="application/json")

    def labels(self, request: Request) -> Response:
        """What this annotator said of verdicts that the run still holds; who could not tell said neither."""
        run, index = self._indexed(request)
        latest = LabelStore(run.path).latest()
        own = [each for each in latest if each.annotator == self._annotator and each.label != Label.UNDECIDED.value]
        return json_answer([_stream_answer(label) for label in own if _is_held(index, label)])

    async def add_label(self, request: Request) -> Response:
        """Keep what a reader says of a verdict."""
        said = await body_of(request, NewLabel)
        return await run_in_threadpool(self._add_label, request, said)

    def _add_label(self, request: Request, said: NewLabel) -> Response:
        run, index = self._indexed(request)
        found = index.judged(said.record_id, said.claim_id)
        if found is None:
            raise Refused(404, "there is no such claim")
        fingerprint, shape = found
        label = HumanLabel(
            record_id=said.record_id,
            claim_id=said.claim_id,
            judge=index.headline,
            judged=_judged(shape.label),
            is_right=said.is_right,
            annotator=self._annotator,
            noted=datetime.now(UTC).isoformat(timespec="seconds"),
            fingerprint=fingerprint,
        )
        LabelStore(run.path).add(label)
        return json_answer(_stream_answer(label))

    def labels_table(self, request: Request) -> Response:
        """The labels of all annotators as a table."""
        run, index = self._indexed(request)
        rows = [(label, _is_held(index, label)) for label in LabelStore(run.path).latest()]
        headers = {"Content-Disposition": 'attachment; filename="labels.csv"'}
        return Response(labels_csv(rows).encode(errors="replace"), media_type="text/csv", headers=headers)

    def static_file(self, request: Request) -> Response:
        """A script or a style of ours."""
        name = request.path_params["name"]
        if name == PALETTE_STYLE:
            return Response(palette_style(), media_type="text/css")
        if name not in static_names():
            raise Refused(404, "nothing is here")
        return Response(static(name), media_type=mimetypes.guess_type(name)[0] or "text/plain")

    def _run(self, request: Request, name: str = "run_id") -> FoundRun:
        run = self._runs.run(request.path_params[name])
        if run is None:
            raise Refused(404, "there is no such run")
        return run

    def _index_or_none(self, run: FoundRun) -> Index | None:
        return self.library.index(run.path) if run.summary is not None else None

    def _indexed(self, request: Request) -> tuple[FoundRun, Index]:
        run = self._run(request)
        index = self._index_or_none(run)
        if index is None:
            fault = run.reason or self.library.fault(run.path)
            raise Refused(503, fault or "the records of this run are still being read; ask again in a moment")
        return run, index


def _image_answer(path: Path) -> Response:
    """A file that is an image by its bytes; nothing else is ever sent, whatever a run says that it is."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_IMAGE:
            raise Refused(404, f"{path.name}: the image is gone, or larger than {LARGEST_IMAGE:,} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise Refused(404, f"{path.name}: the image cannot be read ({error.strerror})") from error
    kind = image_type(data)
    if kind is None:
        raise Refused(415, f"{path.name}: is no image that can be shown")
    if kind == "image/tiff":
        data, kind = _as_png(data, path.name), "image/png"
    return Response(data, media_type=kind)


def _as_png(data: bytes, name: str) -> bytes:
    """A TIFF image, which browsers do not show, as PNG."""
    try:
        png = converted(data, "PNG")
    except InputError as error:
        raise Refused(415, f"{name}: {error}") from error
    if png is None:
        raise Refused(415, f"{name}: browsers do not show TIFF; pip install 'hallumeter[images]' converts them")
    return png


def _number(text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise Refused(400, "expected a whole number that is not negative")
    return int(text)


def _judged(label: str) -> str | None:
    return None if label == "NONE" else label


def _is_held(index: Index, label: HumanLabel) -> bool:
    found = index.judged(label.record_id, label.claim_id)
    return found is not None and is_attached(label, found[0], _judged(found[1].label))


def _stream_answer(label: HumanLabel) -> dict[str, object]:
    names = ("record_id", "claim_id", "is_right", "annotator", "noted")
    return {name: getattr(label, name) for name in names}


# What happens to runs, told as it happens.

_SECONDS_BETWEEN_LOOKS = 0.25
_SECONDS_BETWEEN_LISTS = 1.0
_SILENT_SECONDS = 15.0
"""A connection on which nothing is said for long would be closed by whoever stands between."""
_UNFINISHED = {"running": "progress", "stopped": "stopped"}
Event = tuple[str, "Json"]


class Newsroom:
    """Tells whoever listens how runs go on."""

    def __init__(self, runs: RunList, library: Library, is_closing: Callable[[], bool]) -> None:
        self._runs, self._library, self._is_closing = runs, library, is_closing

    def of_run(self, run_id: str) -> StreamingResponse:
        """Steps of one run until its page can be shown."""
        return _streamed(self._until(lambda: self.state(run_id), _SECONDS_BETWEEN_LOOKS))

    def of_all(self) -> StreamingResponse:
        """States of all runs whenever one of them changes."""
        return _streamed(self._until(self._states, _SECONDS_BETWEEN_LISTS))

    def state(self, run_id: str) -> Event:
        """Where a run stands: `progress`, `finished`, `stopped` or `failed`."""
        run = self._runs.run(run_id)
        if run is None:
            return "failed", {"reason": "the run is gone"}
        if run.status in _UNFINISHED:
            return _UNFINISHED[run.status], _steps(run)
        return ("failed", {"reason": run.reason}) if run.status == "damaged" else self._of_index(run)

    def _of_index(self, run: FoundRun) -> Event:
        """How far the index of a finished run is."""
        if self._library.index(run.path) is not None:
            return "finished", {}
        fault = self._library.fault(run.path)
        if fault is not None:
            return "failed", {"reason": fault}
        progress = self._library.progress(run.path)
        return "progress", {"step": progress.step, "done": progress.done, "total": progress.total, "failures": 0}

    def _states(self) -> Event:
        runs = self._runs.runs()
        return "runs", [{"id": run.run_id, "status": run.status, **_steps(run)} for run in runs]

    async def _until(self, look: Callable[[], Event], seconds: float) -> AsyncIterator[bytes]:
        last: Event | None = None
        said_at = time.monotonic()
        while not self._is_closing():
            event = await run_in_threadpool(look)
            if event != last:
                name, body = last = event
                said_at = time.monotonic()
                yield b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(body))
            elif time.monotonic() - said_at > _SILENT_SECONDS:
                said_at = time.monotonic()
                yield b": still here\n\n"
            if event[0] in {"finished", "stopped", "failed"}:
                return
            await asyncio.sleep(seconds)


def _steps(run: FoundRun) -> dict[str, Json]:
    progress = run.progress
    if progress is None:
        return {}
    return {"step": progress.step, "done": progress.done, "total": progress.total, "failures": progress.failures}


def _streamed(events: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


# Serve the runs of a folder to a browser on this machine.

HERE = "127.0.0.1"
"""The only address that is ever listened on."""
_SECONDS_TO_END = 2
_SECONDS_TO_ASK = 10
"""Within which a request must be there whole, from the moment its connection is made or its first byte arrives."""

_READING_STATES = ("IDLE", "SEND_BODY")
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
        if repr(self.conn.their_state) in _READING_STATES:
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
