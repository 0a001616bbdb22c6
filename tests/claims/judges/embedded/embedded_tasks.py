"""Records, and a model in a folder of its own, for the tests of the embedded judge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hallumeter.claims.judges.embedded import encoder, model_files, units, word_pieces
from hallumeter.claims.judges.embedded import features as likeness
from hallumeter.claims.judges.embedded import model_files as trees
from hallumeter.claims.judges.embedded import network as word_table
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.records.claim import Claim, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response

TIERS = ("full", "fast")
_KEPT = (
    model_files.shipped_model,
    encoder.onnx_engine,
    encoder.numpy_engine,
    word_pieces.vocabulary,
    word_pieces.tokens_of,
    trees.trees,
    units.units_of,
    likeness.evidence_words,
    word_table.table,
    word_table.mean,
)


def passages_of(*texts: str) -> tuple[Passage, ...]:
    return tuple(Passage(f"e{number}", text) for number, text in enumerate(texts))


def task_of(texts: tuple[str, ...], *evidence: str, question: str | None = None, record_id: str = "r") -> JudgeTask:
    """A response that consists of these claims, one after the other."""
    claims, place = [], 0
    for number, text in enumerate(texts):
        claims.append(Claim(record_id, f"c{number}", start=place, end=place + len(text), text=text))
        place += len(text) + 1
    return JudgeTask(Response(record_id, question, " ".join(texts), passages_of(*evidence)), tuple(claims))


def suspicious(tier: str) -> EmbeddedJudge:
    """A judge that calls everything unsupported which it weighs, whatever the model says."""
    return EmbeddedJudge(tier, threshold=0.0)


def verdicts_of(tier: str, task: JudgeTask, *, judge: EmbeddedJudge | None = None) -> list[Verdict]:
    said = (judge or EmbeddedJudge(tier)).judge(task)
    verdicts = [each for each in said if isinstance(each, Verdict)]
    assert len(verdicts) == len(said) == len(task.claims)
    return verdicts


def only(tier: str, text: str, *evidence: str, question: str | None = None) -> Verdict:
    (verdict,) = verdicts_of(tier, task_of((text,), *evidence, question=question))
    return verdict


@contextmanager
def model_in(folder: Path) -> Iterator[None]:
    """Let the judge load its files from a folder; whatever it had loaded is forgotten before and after."""
    shipped = model_files.FOLDER
    model_files.FOLDER = folder
    forget()
    try:
        yield
    finally:
        model_files.FOLDER = shipped
        forget()


def forget() -> None:
    for kept in _KEPT:
        kept.cache_clear()
