"""Every instrument on its bundled samples."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.judges import EmbeddedJudge
from hallumeter.pipelines.audit import AuditSettings, audit_files
from hallumeter.pipelines.measurement import MeasureSettings
from hallumeter.pipelines.transcripts import (
    MeasuredTranscripts,
    TranscriptSettings,
    opened_paths,
    transcripts_to_folder,
)
from hallumeter.records import Summary
from hallumeter.runner import NoWatch
from hallumeter.store import MANIFEST, RUN_FILES

from .run import load

ANSWERS, NEWSPAPERS = "answers", "newspapers"
"""The folders of the two runs."""
_ANSWERS_FILE = "rag_answers.jsonl"
_ENGINES = ("newspaper-ocr", "smollm2", "smollm2-penalized")
_INPUTS = {ANSWERS: (_ANSWERS_FILE,), NEWSPAPERS: ("truth", *_ENGINES)}


class Demo(Struct, frozen=True, eq=False):
    """What the demo measured."""

    answers: Summary
    """Answers of language models to questions about passages, audited offline, with people's verdicts beside."""
    newspapers: MeasuredTranscripts
    """Newspaper articles read by OCR, and corrected by a small language model."""


def run_demo(out: Path) -> Demo:
    """Measure the bundled samples into two run folders; a demo that was written to the same place is replaced."""
    samples = Path(str(files("hallumeter.samples")))
    if (out / MANIFEST).exists():
        raise InputError(f"{out}: holds another run; choose another folder with --out")
    # Both are looked at before either is removed, so that who is refused still has all of it.
    older = [path for name, inputs in _INPUTS.items() for path in _demo_files(out / name, inputs)]
    for path in older:
        path.unlink()
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made ({error.strerror}); choose another folder with --out") from error
    file = samples / _ANSWERS_FILE
    judge = EmbeddedJudge()
    settings = AuditSettings(
        judges=(judge, f"recorded:{file}"), measure=MeasureSettings(by=("model",), headline=judge.spec.name)
    )
    audit_files([file], out / ANSWERS, settings=settings, watch=NoWatch())
    answers = load(out / ANSWERS).summary
    folders = [samples / NEWSPAPERS / name for name in _INPUTS[NEWSPAPERS]]
    chosen = TranscriptSettings()
    jobs = opened_paths(folders, columns=chosen.columns)
    return Demo(answers, transcripts_to_folder(jobs, out / NEWSPAPERS, settings=chosen))


def _demo_files(out: Path, inputs: tuple[str, ...]) -> list[Path]:
    """The files that an earlier demo wrote; anything else in the folder is refused."""
    if not (out / MANIFEST).is_file():
        return []
    if tuple(item.name for item in load(out).manifest.inputs) != inputs:
        raise InputError(f"{out}: holds another run; choose another folder with --out")
    entries = sorted(out.iterdir())
    for path in entries:
        if path.name not in RUN_FILES or not path.is_file():
            raise InputError(f"{path}: no demo wrote this; choose another folder with --out")
    return entries
