"""Measure dialogues: from files or from Python, with or without a run folder."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.errors import RecordError
from hallumeter.pipelines.input_files import only_paths
from hallumeter.pipelines.run import Run, load, written_run
from hallumeter.records import MANIFEST_VERSION, Event, JudgeEntry, Manifest
from hallumeter.store import MANIFEST, REPORT, SCRIPTS, new_run_folder, write_json

from .inputs import opened_events, opened_files
from .pipeline import INSTRUMENT, MeasuredDialogues, measure_dialogues
from .record_lines import JUDGE
from .run_writer import RunWriter
from .settings import DialogueSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from .inputs import Dialogues

    Given = str | Path | Sequence[str | Path] | Iterable[Event | Mapping[str, object]]


def dialogue(
    given: Given,
    *,
    scripts: str | Path | None = None,
    settings: DialogueSettings | None = None,
    out: str | Path | None = None,
) -> Run:
    """Measure the answers of clinical dialogues, and keep everything in a run.

    Give files of events, or events in Python. Without `out` the run lives in a temporary folder, for as long as it is
    used.

    >>> facts = {"key_meds": ["Metformin"]}
    >>> event = {"patient_id": "p1", "turn_id": 2, "question": "What do I take?", "slots_truth": facts,
    ...          "answer": "You are currently taking warfarin."}
    >>> [finding.verdicts[0].reason for finding in dialogue([event]).findings() if finding.claim.kind == "slot"]
    ['invented_medication']
    """
    chosen = settings or DialogueSettings()
    return written_run(out, lambda place: dialogue_to_folder(_opened(given, scripts), place, settings=chosen))


def measured_dialogues(
    dialogues: AbstractContextManager[Dialogues],
    *,
    settings: DialogueSettings,
    watch: Callable[[int, int], None] | None = None,
) -> MeasuredDialogues:
    """Measure answers without keeping their findings."""
    with dialogues as opened:
        return measure_dialogues(opened, settings, watch=watch)


def dialogue_to_folder(
    dialogues: AbstractContextManager[Dialogues],
    out: Path,
    *,
    settings: DialogueSettings,
    watch: Callable[[int, int], None] | None = None,
) -> MeasuredDialogues:
    """Measure answers and keep everything in a run folder with its report."""
    started = datetime.now(UTC)
    with new_run_folder(out) as folder, dialogues as opened:
        with RunWriter(folder, opened.failures) as writer:
            measured = measure_dialogues(opened, settings, watch=watch, keep=writer.add)
        writer.finish(measured)
        if opened.scripts is not None:
            shutil.copyfile(opened.scripts, folder / SCRIPTS)
        write_json(folder / MANIFEST, _manifest(measured, started))
        load(folder).to_html(folder / REPORT)
    return measured


def _opened(given: Given, scripts: str | Path | None) -> AbstractContextManager[Dialogues]:
    beside = None if scripts is None else Path(scripts)
    if isinstance(given, str | Path):
        return opened_files([Path(given)], beside)
    items = list(given)
    if not items:
        raise RecordError("dialogue: nothing given; expected files of events, or events")
    paths = only_paths(items, "dialogue: files and events are mixed; give one kind")
    if paths:
        return opened_files(paths, beside)
    return opened_events([item for item in items if not isinstance(item, str | Path)])


def _manifest(measured: MeasuredDialogues, started: datetime) -> Manifest:
    settings = measured.settings
    judges = [JudgeEntry(JUDGE, "words and rules")]
    if measured.judge is not None:
        judges.append(JudgeEntry(str(settings.judge), measured.judge))
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter"),
        instrument=INSTRUMENT,
        inputs=measured.inputs,
        settings={
            "config": None if settings.config is None else str(settings.config),
            "by": list(settings.by),
            "judge": settings.judge,
            "indirect_by_vectors": settings.is_indirect_by_vectors,
            "reader": settings.reader,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
        },
        judges=tuple(judges),
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
