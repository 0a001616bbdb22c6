"""A finished run in Python."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hallumeter.errors import InputError, SettingsError
from hallumeter.instruments import instrument_of

from .digests import check_files, write_manifest
from .identity import timed
from .run_folder import JOURNAL, REPORT, RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from hallumeter.formats.data_table import DataTable
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

    def __init__(self, folder: RunFolder, notices: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self.notices = notices
        """What was noticed when it was opened, such as that its files could not be verified."""

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

    def claims(self) -> DataTable:
        """One row for each claim, with the label that it counts with, why, and what the evidence says.

        A claim that nobody could judge has the label ``UNDECIDED``, one whose judging broke ``FAILED``.
        """
        from .tables import claims_table

        return claims_table(self._folder)

    def verdicts(self) -> DataTable:
        """One row for each verdict of each judge."""
        from .tables import verdicts_table

        return verdicts_table(self._folder)

    def scores(self) -> DataTable:
        """One row for each response: its claims by label, its own metrics, and the fields that came with it.

        A metric that is undefined for a response, such as a rate without a decided claim, is None.
        """
        from .tables import scores_table

        return scores_table(self._folder)

    def metrics(self, *names: str) -> DataTable:
        """One row for each metric, group and judge, with its interval; `names` chooses some metrics.

        Raises:
            KeyError: The run has no such metric.
        """
        from .tables import metrics_table

        return metrics_table(self.summary, names)

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

    def _repr_html_(self) -> str:
        """The metrics for a notebook, below the name of the folder."""
        name = escape(str(self.path))
        report = escape((self.path / REPORT).absolute().as_uri(), quote=True)
        return f'<div><p>Run <code>{name}</code> · <a href="{report}">report</a></p>{self.summary._repr_html_()}</div>'


def load(path: str | Path, *, verify: bool = True) -> Run:
    """Open a finished run.

    Its files are compared with the digests in its manifest. A run of a version that kept none is opened with a notice.

    Args:
        path: The run folder, or ``s3://bucket/run``.
        verify: False opens a run whose files were changed, too.

    Raises:
        InputError: It is no run, or a file that is read from it was changed since it was written.
    """
    if str(path).startswith("s3:/"):
        from .store_tables import run_folder_of

        path = run_folder_of(str(path))
    folder = RunFolder(Path(path))
    if not verify:
        return Run(folder)
    try:
        return Run(folder, check_files(folder.path, folder.manifest))
    except InputError as error:
        raise InputError(f"{error}, or read it as it is (--no-verify, verify=False)") from None


def report(
    runs: Run | str | Path | Iterable[Run | str | Path], out: str | Path | None = None, *, language: str = "en"
) -> Path:
    """Write the report of a run, or of several, as one self-contained HTML file, and say where it is.

    Without `out` it is ``report.html`` in the run folder; several runs, which are chapters of one page, need it. The
    language is English (``en``), French (``fr``) or Korean (``ko``).

    Raises:
        SettingsError: Several runs have no `out`, or there is no such language.
        InputError: It cannot be written there, or something is no run.
    """
    from hallumeter.report.page.render import write_html

    several = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    opened = [run if isinstance(run, Run) else load(run) for run in several]
    if not opened or (out is None and len(opened) > 1):
        raise SettingsError(
            "report: several runs make one file; name it with out" if opened else "report: no run given"
        )
    target = Path(out) if out is not None else opened[0].path / REPORT
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{target}: is a folder, or stands in none; give the name of a file in a folder that exists")
    write_html([run.document() for run in opened], target, language=language)
    return target


def finish_folder(folder: Path, manifest: Manifest, started: datetime) -> None:
    """Write the manifest of a folder that has everything else, then its report."""
    write_manifest(folder, timed(manifest, started))
    load(folder, verify=False).to_html(folder / REPORT)


def written_run(out: str | Path | None, write: Callable[[Path], object]) -> Run:
    """Let a run be written, and open it; without `out` it lives in a temporary folder, for as long as it is used.

    A run that did not come to its end and has a journal keeps its folder, to be gone on with.
    """
    if out is not None:
        write(Path(out))
        return load(out, verify=False)
    kept = Path(tempfile.mkdtemp(prefix="hallumeter-"))
    place = kept / "run"
    try:
        write(place)
        run = load(place, verify=False)
    except BaseException as error:
        if (place / JOURNAL).exists():
            error.add_note(f"what was done is kept in {place}; go on with out={str(place)!r}")
        else:
            shutil.rmtree(kept)
        raise
    if not (place / JOURNAL).exists():
        weakref.finalize(run, shutil.rmtree, kept, ignore_errors=True)
    return run
