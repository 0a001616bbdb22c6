"""What the user sees while he waits."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LARGE_BYTES = 20 << 20
"""Below this size a file is read before a progress bar could be read."""


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
