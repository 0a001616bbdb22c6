"""The files of a run of aspects: what every instrument writes, and the tables of this one."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

import msgspec
from msgspec import structs

from hallumeter.aspects.grounding import JUDGE, target_words
from hallumeter.aspects.score.pipeline import ScoreSettings, score_outputs
from hallumeter.records.manifest import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Summary
from hallumeter.run import run_folder
from hallumeter.run.digests import write_manifest
from hallumeter.run.engines.local import available_cores
from hallumeter.run.finished import load
from hallumeter.run.identity import ended
from hallumeter.run.inputs import rereadable_files, sha256_of

from . import tables
from .counted import HEAD, CountedCards
from .overview import INSTRUMENT, AggregateSettings
from .pipeline import Aggregated, aggregate, aggregate_file

SCORECARDS = "scorecards.jsonl"
OUTPUTS = "outputs.jsonl"
_ENCODER = msgspec.json.Encoder()


class RunWriter:
    """Writes lines as scorecards come in, and the tables at the end."""

    def __init__(self, folder: Path, *, has_failures: bool = False) -> None:
        """Begin the files; with `has_failures` the failures of the pipeline are in the folder already."""
        self._folder = folder
        self._files = ExitStack()
        names = {
            "records": run_folder.RECORDS,
            "claims": run_folder.CLAIMS,
            "verdicts": run_folder.VERDICTS,
            "measurements": run_folder.MEASUREMENTS,
        }
        names |= {} if has_failures else {"failures": run_folder.FAILURES}
        self._streams: dict[str, IO[bytes]] = {
            kind: self._files.enter_context((folder / name).open("wb")) for kind, name in names.items()
        }
        self._triptych = self._files.enter_context((folder / tables.TRIPTYCH).open("wb"))
        self._triptych.write(HEAD)
        # Lines that are no scorecards come after sentences that failed, whatever was read at once.
        self._unread = self._files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, found: CountedCards) -> None:
        """Write the lines of some scorecards."""
        self._triptych.write(found.triptych)
        if found.lines is not None:
            for kind, stream in self._streams.items():
                stream.write(getattr(found.lines, kind))
        self._unread.write(_ENCODER.encode_lines(found.failures))

    def finish(self, found: Aggregated) -> None:
        """Write what is known only at the end."""
        if "failures" in self._streams:
            self._unread.seek(0)
            shutil.copyfileobj(self._unread, self._streams["failures"])
        write_tables(self._folder, found.summary)
        run_folder.write_json(self._folder / run_folder.SUMMARY, found.summary)
        run_folder.keep_partial(self._folder, found.partial)


def write_tables(folder: Path, summary: Summary) -> tuple[str, ...]:
    """Write what a summary says as tables for people, and name them."""
    # Who is to blame has tables of its own.
    summary = structs.replace(summary, metrics=tuple(row for row in summary.metrics if "step" not in row.by))
    texts = {
        tables.STRUCTURAL_CSV: tables.structural_csv(summary),
        tables.STRUCTURAL_TABLE: tables.structural_table(summary),
        tables.SPREAD_CSV: tables.spread_csv(summary),
        tables.SPREAD_TABLE: tables.spread_table(summary),
        tables.QUALITY: tables.quality_report(summary),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
    return tuple(texts)


def write_aspect_run(
    outputs: Path, folder: Path, *, score: ScoreSettings | None = None, settings: AggregateSettings | None = None
) -> Aggregated:
    """Score outputs, aggregate the scorecards, and write everything but the manifest into a folder.

    Where the folder has failures.jsonl already, it is left as it is.

    Raises:
        InputError: The outputs cannot be read, or none of them can be scored.
    """
    cores = 1 if run_folder.is_part() else available_cores()
    scoring = score or ScoreSettings(words=target_words(), workers=cores)
    is_empty_part = run_folder.is_part() and not outputs.stat().st_size
    with (folder / SCORECARDS).open("wb") as stream:
        if not is_empty_part:
            score_outputs(outputs, scoring, stream.write)
    return write_scorecard_run(folder / SCORECARDS, folder, settings or AggregateSettings(workers=cores))


def write_scorecard_run(scorecards: Path, folder: Path, settings: AggregateSettings) -> Aggregated:
    """Aggregate scorecards, and write everything but the manifest into a folder."""
    has_failures = (folder / run_folder.FAILURES).exists()
    with RunWriter(folder, has_failures=has_failures) as writer:
        if run_folder.is_part() and not scorecards.stat().st_size:  # no sentence is in this shard
            found = aggregate((), settings)
        else:
            found = aggregate_file(scorecards, settings, keep=writer.add)
        writer.finish(found)
    if scorecards.is_file() and scorecards.resolve() != (folder / SCORECARDS).resolve():
        shutil.copyfile(scorecards, folder / SCORECARDS)
    return found


def manifest_of(source: InputFile, settings: AggregateSettings, started: datetime) -> Manifest:
    """What a run of scorecards was made from."""
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter"),
        instrument=INSTRUMENT,
        inputs=(source,),
        settings={
            "profile": settings.profile,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
        },
        judges=(JudgeEntry(JUDGE, "the text of the sentence"),),
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        finished=ended(started).isoformat(timespec="seconds"),
    )


# Aggregate scorecards into a run folder of their own.


def aggregate_to_folder(scorecards: Path, out: Path, settings: AggregateSettings) -> Aggregated:
    """Aggregate a file of scorecards, and keep everything in a run folder with its report.

    Raises:
        InputError: The file cannot be read, or the folder holds something.
    """
    started = datetime.now(UTC)
    with run_folder.new_run_folder(out) as folder, rereadable_files([scorecards]) as [(name, path)]:
        found = write_scorecard_run(path, folder, settings)
        source = InputFile(name, sha256_of(path), found.summary.counts.records)
        write_manifest(folder, manifest_of(source, settings, started))
        load(folder, verify=False).to_html(folder / run_folder.REPORT)
    return found
