"""Every instrument on its bundled samples."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from hallumeter.aspects.run.experiment import Experiment as AspectExperiment
from hallumeter.aspects.run.experiment import Source
from hallumeter.aspects.run.pipeline import run_experiment as read_sentences
from hallumeter.claims.audit.commands import audit_files
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.claims.settings import AuditSettings, MeasureSettings
from hallumeter.dialogue.measure.commands import dialogue_to_folder
from hallumeter.dialogue.measure.inputs import opened_files
from hallumeter.dialogue.measure.settings import DialogueSettings
from hallumeter.dialogue.records import EVENTS, Mode
from hallumeter.dialogue.run.experiment import OFFLINE, Experiment, System
from hallumeter.dialogue.run.pipeline import run_experiment
from hallumeter.dialogue.script.pipeline import write_scripts
from hallumeter.errors import InputError, MissingExtraError
from hallumeter.instruments import own_files
from hallumeter.records.measurement import Summary
from hallumeter.report.page.render import write_html
from hallumeter.run.finished import load
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import MANIFEST, REPORT, RUN_FILES
from hallumeter.transcripts.commands import MeasuredTranscripts, transcripts_to_folder
from hallumeter.transcripts.inputs import opened_paths
from hallumeter.transcripts.settings import TranscriptSettings

from .dialogue.script.facts import ScriptSettings

ANSWERS, NEWSPAPERS, DIALOGUES = "answers", "newspapers", "dialogues"
ENGLISH_REVIEWS, KOREAN_REVIEWS = "reviews-english", "reviews-korean"
"""The folders of the runs."""
_ANSWERS_FILE = "rag_answers.jsonl"
_ENGINES = ("newspaper-ocr", "smollm2", "smollm2-penalized")
_PATIENTS = "patients"
_SCRIPTS = "scripts_5turn.jsonl"
_MODES: tuple[Mode, ...] = ("llm", "agent")
_DEMO_RUN = "hallumeter-demo"
"""What the run of the demo is called, by which its events are known again."""
_REVIEWS = {ENGLISH_REVIEWS: "mams_en.jsonl", KOREAN_REVIEWS: "reviews_ko.jsonl"}
_INPUTS = {
    ANSWERS: (_ANSWERS_FILE,),
    NEWSPAPERS: ("truth", *_ENGINES),
    DIALOGUES: (EVENTS, _SCRIPTS),
    **{name: (file,) for name, file in _REVIEWS.items()},
}


class Demo(Struct, frozen=True, eq=False):
    """What the demo measured."""

    answers: Summary
    """Answers of language models to questions about passages, audited offline, with people's verdicts beside."""
    newspapers: MeasuredTranscripts
    """Newspaper articles read by OCR, and corrected by a small language model."""
    dialogues: Summary
    """Five patients who ask five questions each, answered from a script in two modes."""
    english_reviews: Summary
    """Sentences about restaurants, read by agents that need no key."""
    korean_reviews: Summary | None
    """Korean reviews of many things; None where the package that reads Korean is not installed."""

    @property
    def runs(self) -> list[str]:
        """The folders of its runs, in the order in which they are told."""
        read = [ENGLISH_REVIEWS] if self.korean_reviews is None else [ENGLISH_REVIEWS, KOREAN_REVIEWS]
        return [ANSWERS, NEWSPAPERS, DIALOGUES, *read]


def run_demo(out: Path) -> Demo:
    """Measure the bundled samples into a run folder each, and report on all in one file beside them.

    A demo that was written to the same place is replaced.
    """
    samples = Path(str(files("hallumeter.samples")))
    if (out / MANIFEST).exists():
        raise InputError(f"{out}: holds another run; choose another folder with --out")
    # All are looked at before any is removed, so that who is refused still has all of it.
    older = [path for name, inputs in _INPUTS.items() for path in _demo_files(out / name, inputs)]
    for path in older:
        path.unlink()
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made ({error.strerror}); choose another folder with --out") from error
    measured = Demo(
        answers=_audited(samples / _ANSWERS_FILE, out / ANSWERS),
        newspapers=_compared(samples / NEWSPAPERS, out / NEWSPAPERS),
        dialogues=_asked(samples / _PATIENTS, out / DIALOGUES),
        english_reviews=_read(samples / "reviews", out, ENGLISH_REVIEWS),
        korean_reviews=_read_where_possible(samples / "reviews", out, KOREAN_REVIEWS),
    )
    write_html([load(out / name, verify=False).document() for name in measured.runs], out / REPORT)
    return measured


def _audited(file: Path, out: Path) -> Summary:
    judge = EmbeddedJudge()
    settings = AuditSettings(
        judges=(judge, f"recorded:{file}"), measure=MeasureSettings(by=("model",), headline=judge.spec.name)
    )
    audit_files([file], out, settings=settings, progress=NoProgress())
    return load(out, verify=False).summary


def _compared(folder: Path, out: Path) -> MeasuredTranscripts:
    folders = [folder / name for name in _INPUTS[NEWSPAPERS]]
    settings = TranscriptSettings()
    return transcripts_to_folder(opened_paths(folders, columns=settings.columns), out, settings=settings)


def _asked(patients: Path, out: Path) -> Summary:
    """Scripts of the bundled patients, answered offline as a plain model and as an agent, and measured."""
    with TemporaryDirectory(prefix="hallumeter-") as name:
        scripts = Path(name) / _SCRIPTS
        write_scripts(patients, scripts, settings=ScriptSettings(language="en"))
        experiment = Experiment(
            systems=tuple(System(name=mode, mode=mode, model=OFFLINE) for mode in _MODES),
            scripts=scripts,
            run_id=_DEMO_RUN,
            output=Path(name),
            retrieval="words",
        )
        events = run_experiment(experiment).folder / EVENTS
        return dialogue_to_folder(opened_files([events], scripts), out, settings=DialogueSettings()).summary


def _read(folder: Path, out: Path, name: str) -> Summary:
    """Bundled reviews, read by the offline agents and held against their gold."""
    source = Source(input=folder / _REVIEWS[name])
    outcome = read_sentences(AspectExperiment(data=source, run_id=name, output=out, profile="smoke"))
    assert outcome.summary is not None
    return outcome.summary


def _read_where_possible(folder: Path, out: Path, name: str) -> Summary | None:
    """The same; None where the extra for the language is missing."""
    try:
        return _read(folder, out, name)
    except MissingExtraError:
        return None


def _demo_files(out: Path, inputs: tuple[str, ...]) -> list[Path]:
    """The files that an earlier demo wrote; anything else in the folder is refused."""
    if not (out / MANIFEST).is_file():
        return []
    if tuple(item.name for item in load(out, verify=False).manifest.inputs) != inputs or not _has_demo_events(out):
        raise InputError(f"{out}: holds another run; choose another folder with --out")
    entries = sorted(out.iterdir())
    for path in entries:
        if path.name not in RUN_FILES | own_files() or not path.is_file():
            raise InputError(f"{path}: no demo wrote this; choose another folder with --out")
    return entries


def _has_demo_events(out: Path) -> bool:
    """Whether the events of a folder, if it has any, are the demo's: other runs have files of the same names."""
    if not (out / EVENTS).is_file():
        return True
    with (out / EVENTS).open(encoding="utf-8", errors="replace") as lines:
        return f'"run_id":"{_DEMO_RUN}"' in next(lines, "")
