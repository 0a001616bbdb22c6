"""From the journal to the files of a run: outputs in order of seed and input, traces, failures, settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.aspects.agents.protocol import Demonstration
from hallumeter.aspects.aggregate.overview import AggregateSettings, blame_rows
from hallumeter.aspects.aggregate.run_writer import write_aspect_run
from hallumeter.aspects.blame.tables import write_blame_lines, write_blame_tables
from hallumeter.aspects.records.outputs import PipelineOutput
from hallumeter.aspects.settings import MappingThresholds
from hallumeter.records.claim import Failure
from hallumeter.records.measurement import Summary
from hallumeter.run.engines.local import available_cores
from hallumeter.run.finished import load
from hallumeter.run.journal import Journal, Merged, decoded
from hallumeter.run.run_folder import REPORT, SUMMARY, RunFiles, is_part, keep_partial, write_json
from hallumeter.run.runner import FinishedRun

from .asking import CALLS, OUTPUTS, Kept, ReadingSetup
from .experiment import document_of
from .sentence import Passage, unread

OUTPUTS_FILE, TRACES, SETTINGS, DEMOS = "outputs.jsonl", "traces.jsonl", "experiment.json", "demos.jsonl"
_UNASKED = "budget_reached"
_ENCODER = msgspec.json.Encoder()
_NOTHING = b"null"
_FORGOTTEN = b'"stage_status":"forgotten"'
"""Of a call that is to be asked again; no text can hold it, whose quotation marks have a backslash before them."""


class FinishedSentences(FinishedRun, frozen=True, kw_only=True):
    """What a run came to."""

    sentences: int
    """Read to their end, for all seeds together."""
    failed: int = 0
    unasked: int = 0
    """Sentences that the budget did not reach; they are among those that failed."""
    seeds: int = 1
    """With which every sentence was read."""
    unusable: int = 0
    """Rows of the input that hold no sentence, or whose gold cannot be understood."""

    @property
    def answered(self) -> int:
        """Sentences that were read to their end."""
        return self.sentences


def write_files(folder: Path, journal: Journal, setup: ReadingSetup) -> FinishedSentences:
    """Write everything but the scores and the manifest."""
    calls, outputs = Merged(journal.entries(CALLS)), Merged(journal.entries(OUTPUTS))
    with SentenceFiles(folder) as files:
        for failure in setup.inputs.failures:
            files.refuse(failure)
        for record in setup.records:
            traces = [body for body in calls.take(record) if _FORGOTTEN not in body]
            kept = [each for each in decoded(outputs.take(record), Kept) if bytes(each.output) != _NOTHING]
            if kept:
                files.add(bytes(kept[0].output), traces, kept[0].failure)
            else:
                files.add_unasked(setup, setup.passage(record), traces)
        finished = files.finished()
    write_settings(folder, document_of(setup.experiment) | {"run_id": setup.pipeline.settings.run_id})
    write_demos(folder, setup.inputs.pool.shown(setup.passage(record).demos for record in setup.records))
    return finished


def write_settings(folder: Path, document: Mapping[str, object]) -> None:
    """Write what the run was made with."""
    (folder / SETTINGS).write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def write_demos(folder: Path, demos: Iterable[Demonstration]) -> None:
    """Write the demonstrations that agents were shown, if there are any; outputs name them by their ids."""
    lines = [_ENCODER.encode(demo) + b"\n" for demo in demos]
    if lines:
        (folder / DEMOS).write_bytes(b"".join(lines))


class SentenceFiles(RunFiles):
    """The files of a run while they are written, and the counts that go with them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, (OUTPUTS_FILE, TRACES))
        self._sentences = self._failed = self._unasked = self._unusable = 0
        self._seeds: dict[int, None] = {}

    def add(self, output: bytes, traces: Iterable[bytes], failure: Failure | None) -> None:
        """Write a sentence that came to its end, and the calls that it took."""
        for line in traces:
            self.write_line(TRACES, line)
        self.write_line(OUTPUTS_FILE, output)
        seed = msgspec.json.decode(output, type=_Seeded).meta.seed
        self._seeds[seed] = None
        self._sentences += failure is None
        if failure is not None:
            self._failed += 1
            # Records of later seeds have the seed in their names; a failure belongs to its record.
            known = failure.record_id if seed == next(iter(self._seeds)) else f"{failure.record_id}@{seed}"
            self.fail(structs.replace(failure, record_id=known))

    def add_unasked(self, setup: ReadingSetup, passage: Passage, traces: Iterable[bytes]) -> None:
        """Write a sentence that was not read to its end."""
        why = "not read: the budget was reached"
        name = passage.sentence.text_id
        failure = Failure(
            name, None, "pipeline", None, _UNASKED, f"sentence {name} (seed {passage.seed}) was {why}", attempts=0
        )
        output = unread(passage, setup.pipeline.settings, f"{_UNASKED}: {why}")
        self.add(_ENCODER.encode(output), traces, failure)
        self._unasked += 1

    def refuse(self, failure: Failure) -> None:
        """Write that a row of the input cannot be used."""
        self._unusable += 1
        self.fail(failure)

    def finished(self) -> FinishedSentences:
        """What was written."""
        return FinishedSentences(
            sentences=self._sentences,
            failed=self._failed,
            unasked=self._unasked,
            seeds=max(len(self._seeds), 1),
            unusable=self._unusable,
            failures=tuple(self.first_failures),
            retryable=self._failed,
        )


class _Meta(Struct, frozen=True):
    """Of an output of which only the seed is wanted."""

    seed: int = 0


class _Seeded(Struct, frozen=True):
    """An output of which only the seed is wanted."""

    meta: _Meta = _Meta()


def finish_run(folder: Path, mapping: MappingThresholds) -> Summary:
    """Score the outputs in a folder, count what the scorecards say, and find who is to blame for what is wrong."""
    settings = AggregateSettings(thresholds=mapping, workers=1 if is_part() else available_cores())
    found = write_aspect_run(folder / OUTPUTS_FILE, folder, settings=settings)
    with (folder / OUTPUTS_FILE).open("rb") as lines:
        blame = write_blame_lines(decoded(lines, PipelineOutput), folder)
    table = blame.table()
    write_blame_tables(table, folder)
    keep_partial(folder, structs.replace(found.partial, blame=blame))
    summary = structs.replace(found.summary, metrics=(*found.summary.metrics, *blame_rows(table)))
    write_json(folder / SUMMARY, summary)
    return summary


def write_report(folder: Path) -> None:
    """Write the report of a folder that has everything else."""
    load(folder, verify=False).to_html(folder / REPORT)
