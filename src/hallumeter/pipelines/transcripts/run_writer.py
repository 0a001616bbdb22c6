"""The files of a transcripts run, page by page as they are measured."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from hallumeter.formats import write_jsonl
from hallumeter.store import (
    CLAIMS,
    FAILURES,
    MEASUREMENTS,
    PAGES,
    RECORDS,
    SUMMARY,
    VERDICTS,
    write_json,
    write_pages,
)

from .measurements import page_measurements

if TYPE_CHECKING:
    from pathlib import Path

    from .page import MeasuredPage
    from .pipeline import MeasuredTranscripts


class RunWriter:
    """Writes records, claims and verdicts in the order of the pages; the rest when all are measured."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = ExitStack()
        self._records, self._claims, self._verdicts = (self._open(name) for name in (RECORDS, CLAIMS, VERDICTS))

    def _open(self, name: str) -> IO[bytes]:
        return self._files.enter_context((self._folder / name).open("wb"))

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, page: MeasuredPage) -> None:
        """Write what was found on a page."""
        if page.lines is not None:
            self._records.write(page.lines.record)
            self._claims.write(page.lines.claims)
            self._verdicts.write(page.lines.verdicts)

    def finish(self, measured: MeasuredTranscripts) -> None:
        """Write what is known only at the end."""
        write_jsonl(self._folder / FAILURES, measured.failures)
        is_aligned = measured.settings.measures == "all"
        write_jsonl(self._folder / MEASUREMENTS, page_measurements(measured.corpus, is_aligned=is_aligned))
        write_json(self._folder / SUMMARY, measured.summary)
        write_pages(self._folder / PAGES, measured.rows)
