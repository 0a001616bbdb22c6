"""What happens to runs, told as it happens: server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from hallumeter.report.drawing import Json

from .background import Library
from .runs import FoundRun, RunList

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
