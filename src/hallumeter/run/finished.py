"""A finished run in Python."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hallumeter.instruments import instrument_of

from .identity import timed
from .run_folder import JOURNAL, MANIFEST, REPORT, RunFolder, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from hallumeter.records.claim import Failure, Finding
    from hallumeter.records.manifest import Manifest
    from hallumeter.records.measurement import Summary
    from hallumeter.records.page import PageRow
    from hallumeter.report.document import Document, RecordFindings
    from hallumeter.report.selection import Limits


PAGES = "pages.csv"
"""The table of an instrument that reads pages."""


class Run:
    """What a run found: its summary, its findings, its failures and its report."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        """Where the run is kept."""
        return self._folder.path

    @property
    def manifest(self) -> Manifest:
        """Inputs, settings, versions, seed and times."""
        return self._folder.manifest

    @property
    def summary(self) -> Summary:
        """Every metric, pooled, with its interval."""
        return self._folder.summary

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What could not be measured, and why."""
        return tuple(self._folder.failures())

    def pages(self) -> Iterator[PageRow]:
        """Every page of every engine in numbers; none for an instrument without pages."""
        table = self.path / PAGES
        read = instrument_of(self.manifest.instrument).tables.get(PAGES)
        if read is not None and table.exists():
            # A generator of its own keeps this run, and with it a temporary folder, until it has been read.
            yield from cast("Iterator[PageRow]", read(table))

    def findings(self) -> Iterator[Finding]:
        """Every claim with what the judges said of it, in the order of the records."""
        for _, findings in self._folder.findings():
            yield from findings

    def document(self, records: Iterable[RecordFindings] | None = None, *, limits: Limits | None = None) -> Document:
        """Everything that a report shows; `records` stand in for those of the folder, if they are read anyway.

        What labels say about the judges is left out then: whoever brings records keeps the document, and labels change.
        """
        from hallumeter.report.build import build_document
        from hallumeter.report.catalog import metric_texts
        from hallumeter.report.document import RecordFindings
        from hallumeter.report.presentation import presentation_of

        findings = (RecordFindings(response, found) for response, found in self._folder.findings())
        summary = self.summary
        shown = presentation_of(summary.instrument)
        return build_document(
            summary=summary,
            manifest=self.manifest,
            metric_texts=metric_texts(summary.instrument),
            limits=limits,
            records=findings if records is None else records,
            failures=self._folder.failures(),
            own=shown.read(self.path) if shown.read else None,
            checks=shown.checks(self) if records is None and shown.checks else None,
        )

    def to_html(self, path: str | Path, *, language: str = "en") -> None:
        """Write the report as one self-contained file, in English (``en``), French (``fr``) or Korean (``ko``)."""
        from hallumeter.report.page.render import write_html

        write_html(self.document(), path, language=language)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"


def load(path: str | Path) -> Run:
    """Open a finished run."""
    return Run(RunFolder(Path(path)))


def finish_folder(folder: Path, manifest: Manifest, started: datetime) -> None:
    """Write the manifest of a folder that has everything else, then its report."""
    write_json(folder / MANIFEST, timed(manifest, started))
    load(folder).to_html(folder / REPORT)


def written_run(out: str | Path | None, write: Callable[[Path], object]) -> Run:
    """Let a run be written, and open it; without `out` it lives in a temporary folder, for as long as it is used.

    A run that did not come to its end and has a journal keeps its folder, to be gone on with.
    """
    if out is not None:
        write(Path(out))
        return load(out)
    kept = Path(tempfile.mkdtemp(prefix="hallumeter-"))
    place = kept / "run"
    try:
        write(place)
        run = load(place)
    except BaseException as error:
        if (place / JOURNAL).exists():
            error.add_note(f"what was done is kept in {place}; go on with out={str(place)!r}")
        else:
            shutil.rmtree(kept)
        raise
    if not (place / JOURNAL).exists():
        weakref.finalize(run, shutil.rmtree, kept, ignore_errors=True)
    return run
