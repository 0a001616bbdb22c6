"""What the user sees while he waits."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rich.progress import Progress, TaskID

    from hallumeter.run.progress import ProgressListener


LARGE_BYTES = 20 << 20
"""Below this size a file is read before a progress bar could be read."""
_SECONDS_BETWEEN_DRAWINGS = 0.1
"""To draw takes longer than to judge a claim by rule."""
MANY_CLAIMS = 2_000
"""The embedded judge takes about a minute for them on one core without onnxruntime."""


@contextmanager
def shown_progress(paths: tuple[Path, ...], *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    """A counter of rows on the standard error, for a person who waits for a large file; else nothing."""
    size = sum(path.stat().st_size for path in paths if path.is_file())
    if is_quiet or not sys.stderr.isatty() or size < LARGE_BYTES:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)
        rows = 0

        def watch(more: int) -> None:
            nonlocal rows
            rows += more
            progress.update(task, description=f"{rows:,} rows read")

        yield watch


@contextmanager
def shown_pages(*, is_quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar of pages done on the standard error, for a person who waits; else nothing."""
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Drawn by this thread: processes are copied while it is shown, and a second thread would be copied half-way.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task("pages", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total, refresh=True)


@contextmanager
def shown_audit(*, is_quiet: bool) -> Iterator[ProgressListener]:
    """A bar for each step of an audit on the standard error, for a person who waits; else nothing."""
    from hallumeter.run.progress import NoProgress

    if is_quiet or not sys.stderr.isatty():
        yield NoProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # it names what the user named, brackets and all
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[facts]}"),
    )
    # Drawn by this thread: processes are copied while it is shown, and a second thread would be copied half-way.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        yield ShownAudit(progress)


class ShownAudit:
    """The steps of an audit as bars."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._failures = self._cached = 0
        self._spent: Callable[[], float] | None = None
        self._draw_at = 0.0

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Show a step."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._failures = self._cached = 0
        self._spent = spent
        self._task = self._progress.add_task(what, total=total or None, completed=done, rate="", facts="")
        self._draw_at = time.monotonic() + _SECONDS_BETWEEN_DRAWINGS  # a task that is added is drawn at once

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Move the bar on; it is drawn at most ten times a second, and when the step is finished."""
        if self._task is None:
            return
        self._failures += failures
        self._cached += cached
        task = self._progress.tasks[-1]
        was_finished = task.finished
        self._progress.update(self._task, advance=more)
        if time.monotonic() >= self._draw_at or task.finished > was_finished:
            rate = f"{task.speed:,.1f}/s" if task.speed else ""
            self._progress.update(self._task, rate=rate, facts=self._facts())
            self._progress.refresh()
            self._draw_at = time.monotonic() + _SECONDS_BETWEEN_DRAWINGS

    def _facts(self) -> str:
        spent = self._spent() if self._spent is not None else None
        facts = [
            f"${spent:.4f}" if spent else "",
            f"{self._cached:,} cached" if self._cached else "",
            f"[red]{self._failures:,} failed[/red]" if self._failures else "",
        ]
        return " ".join(filter(None, facts))


class AdvisedAudit:
    """The same steps, with one line before many claims are judged slowly."""

    def __init__(self, shown: ProgressListener) -> None:
        self._shown = shown
        self.done = shown.done

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Show a step."""
        names = what.removeprefix("judging by ").split(", ") if what.startswith("judging by ") else []
        is_network = any(name.startswith("embedded") and not name.startswith("embedded:fast") for name in names)
        if is_network and total - done >= MANY_CLAIMS and find_spec("onnxruntime") is None:
            click.echo("note: pip install 'hallumeter[onnx]' makes the embedded judge several times as fast", err=True)
        self._shown.begin(what, total=total, done=done, spent=spent)
