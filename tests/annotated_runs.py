"""Runs to be labelled: bundled answers judged by rules, and people who know the truth."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import hallumeter
from hallumeter.decide.label.claims import AnnotateSettings, AskedClaim
from hallumeter.decide.label.session import LabelSession
from hallumeter.records.claim import Label
from hallumeter.run.finished import load

Annotator = Callable[[AskedClaim], Label]
LABELS = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)


def judged_run(folder: Path) -> Path:
    """66 answers of 6 models with 403 claims, of which the rules decide 373."""
    with resources.as_file(resources.files("hallumeter") / "samples" / "rag_answers.jsonl") as answers:
        hallumeter.audit(str(answers), judge="rules", out=folder)
    return folder


def copied(run: Path, folder: Path) -> Path:
    """The same run in a folder of a test's own."""
    return Path(shutil.copytree(run, folder / "run"))


def session_of(run: Path, annotator: str = "kim", **settings: object) -> LabelSession:
    return LabelSession(load(run), AnnotateSettings(annotator=annotator, **settings))  # type: ignore[arg-type]


def told(asked: AskedClaim) -> Label:
    """What somebody says who often agrees with the judge, the same whenever they are asked."""
    draw = hashlib.sha256(asked.claim.claim_id.encode()).digest()[0]
    assert asked.judged is not None
    return asked.judged if draw < 200 else LABELS[draw % 3]


def give(session: LabelSession, labels: int, annotator: Annotator = told) -> list[str]:
    """Answer so many questions; the claims that were asked about."""
    asked: list[str] = []
    while len(asked) < labels and (question := session.next_question()) is not None:
        session.answer(annotator(question))
        asked.append(question.claim.claim_id)
    return asked
