"""The judges of the package beside a language model, word overlap and length, on the same 200 answers.

    python benchmarks/beside_a_language_model.py FAITHDIAL --server http://127.0.0.1:8931/v1#MODEL --work DIR

FAITHDIAL holds the audited answers on Wizard of Wikipedia (``GPT2_gpt2_processed_wow.csv`` and those of CTRL and DoHA);
the other answers are in the bundled samples. No judge of the package was trained on any of them. The server speaks the
protocol of OpenAI; MODEL is the name that it gives to its model. Which answers are taken depends on their names alone.
Time is that of the processor, on one core: of this process, and of the server where --server-process names it.
DIR keeps what was asked: when this is stopped it goes on from there, and fewer --answers are among more.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from hallumeter.claims.audit.commands import audit_files
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.models.pace import PaceSettings
from hallumeter.records.claim import Finding, Label
from hallumeter.run.finished import Run, load
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import MANIFEST
from hallumeter.text.terms import content_words
from rules_judge_validity import auroc

ANSWERS = 200
OF_RAGTRUTH = 30
OF_EXPERTS = 40
DIALOGUE_MODELS = {"GPT2": "gpt2", "CTRL": "ctrl", "DoHA": "doha"}
DRAWS = 2000
JUDGES = ("embedded", "embedded:fast", "rules")


class Answer(Struct, frozen=True, kw_only=True):
    """An answer with its evidence and what people said of it."""

    id: str
    set: str
    source: str
    """What is drawn together when intervals are made: answers to one question."""
    question: str
    evidence: tuple[str, ...]
    response: str
    is_unsupported: bool

    @property
    def order(self) -> bytes:
        """A place in a row that depends on nothing but the name."""
        return hashlib.blake2b(self.id.encode()).digest()


class Outcome(Struct, frozen=True):
    """What a judge said of an answer: None where it said nothing."""

    score: float | None
    is_called: bool | None = None


class Judged(Struct, frozen=True):
    """What a judge said of all answers, by their names, and how long it took for one."""

    outcomes: dict[str, Outcome]
    seconds: float | None = None


class Clock(Struct, frozen=True):
    """Adds up what this process, or another one (on Linux), uses of the processor, over runs that were stopped too."""

    file: Path
    process: int | None = None

    @property
    def seconds(self) -> float:
        """All that was used so far."""
        return float(self.file.read_text(encoding="utf-8")) if self.file.exists() else 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count what is used meanwhile."""
        started = self._now()
        try:
            yield
        finally:
            self.file.write_text(f"{self.seconds + self._now() - started:.2f}\n", encoding="utf-8")

    def _now(self) -> float:
        if self.process is None:
            return time.process_time()
        numbers = Path(f"/proc/{self.process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def bundled(name: str, title: str) -> Iterator[Answer]:
    """Answers of a bundled sample."""
    groups: dict[tuple[str, str], list[dict[str, object]]] = {}
    for line in (files("hallumeter.samples") / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        groups.setdefault((row["record_id"], row["model"]), []).append(row)
    for (record_id, model), rows in groups.items():
        passages = rows[0]["evidence"]
        assert isinstance(passages, list)
        yield Answer(
            id=f"{title} {record_id} {model}",
            set=title,
            source=f"{title} {rows[0].get('question_id', record_id)}",
            question=str(rows[0]["question"]),
            evidence=tuple(each if isinstance(each, str) else each["text"] for each in passages),
            response="\n".join(str(row["text"]) for row in rows),
            is_unsupported=any(row["label"] != "SUPPORTED" for row in rows),
        )


def dialogue_answers(folder: Path) -> Iterator[Answer]:
    """Answers to questions in dialogues; those that say nothing in particular are left out."""
    for model, column in DIALOGUE_MODELS.items():
        path = folder / f"{model}_{column}_processed_wow.csv"
        with path.open(encoding="utf-8", errors="replace", newline="") as stream:
            for number, row in enumerate(csv.DictReader(stream)):
                label, question = row["begin_label"].lower(), row["history"].strip()
                if not question.endswith("?") or "generic" in label or not row[column].strip():
                    continue
                yield Answer(
                    id=f"FaithDial {number} {model}",
                    set="FaithDial",
                    source=f"FaithDial {row['knowledge'].strip()}",
                    question=question,
                    evidence=(row["knowledge"].strip(),),
                    response=row[column].strip(),
                    is_unsupported="hallucinat" in label,
                )


def chosen_answers(folder: Path, count: int) -> list[Answer]:
    """The answers that are judged; those to one question stand together, for servers that keep what they have read."""

    def some(answers: Iterable[Answer], count: int) -> list[Answer]:
        return sorted(answers, key=lambda answer: answer.order)[:count]

    rag = some(bundled("rag_answers.jsonl", "RAGTruth"), OF_RAGTRUTH)
    cited = sorted(bundled("cited_sentences.jsonl", "ExpertQA"), key=lambda answer: answer.order)
    first = {answer.source: answer for answer in reversed(cited)}
    taken = [*rag, *some(first.values(), OF_EXPERTS)]
    taken += some(dialogue_answers(folder), ANSWERS - len(taken))
    return sorted(some(taken, count), key=lambda answer: (answer.set, answer.source, answer.id))


def with_other_evidence(answers: Sequence[Answer]) -> list[Answer]:
    """The same answers, each with the evidence of the next question of its set."""
    evidence: dict[str, dict[str, tuple[str, ...]]] = {}
    for answer in answers:
        evidence.setdefault(answer.set, {}).setdefault(answer.source, answer.evidence)
    other: dict[str, tuple[str, ...]] = {}
    for of_set in evidence.values():
        sources = list(of_set)
        other |= {source: of_set[sources[(place + 1) % len(sources)]] for place, source in enumerate(sources)}
    return [msgspec.structs.replace(answer, evidence=other[answer.source]) for answer in answers]


def settings_of(judge: str, work: Path) -> AuditSettings:
    """How a judge is asked; a language model one claim at a time, as suits small ones, with its own probabilities."""
    return AuditSettings(
        judges=(judge,),
        concurrency=1,
        cache=work.parent if "#" in judge else None,
        pace=PaceSettings(timeout_seconds=900),
        language_model=LanguageModelSettings(
            claims_per_call=1,
            wants_quotes=False,
            wants_logprobs=True,
            window_characters=9000,
            context_characters=0,
        ),
    )


def judged(judge: str, answers: Sequence[Answer], out: Path, clock: Clock | None = None) -> Judged:
    """What a judge says of the answers, and the seconds that it took; what was finished before is taken over."""
    clock = clock or Clock(out.with_suffix(".seconds"))
    if not (out / MANIFEST).exists():
        file = out.with_suffix(".jsonl")
        file.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in answers))
        with clock.running():
            audit_files([file], out, settings=settings_of(judge, out.parent), progress=NoProgress(), is_resumed=True)
    return Judged(outcomes_of(load(out), answers), clock.seconds / len(answers))


def outcomes_of(run: Run, answers: Sequence[Answer]) -> dict[str, Outcome]:
    """The largest probability in each answer, and whether any claim is called unsupported."""
    findings: dict[str, list[Finding]] = {answer.id: [] for answer in answers}
    for finding in run.findings():
        findings[finding.claim.record_id].append(finding)
    failed = {failure.record_id for failure in run.failures}
    found = {}
    for name, of_answer in findings.items():
        verdicts = [verdict for finding in of_answer for verdict in finding.verdicts]
        decided = [verdict for verdict in verdicts if verdict.label is not Label.UNDECIDED]
        is_called = any(verdict.label is not Label.SUPPORTED for verdict in decided)
        scores = [verdict.unsupported_probability for verdict in decided]
        known = [float(is_called) if score is None else score for score in scores]
        is_missing = name in failed or not decided
        found[name] = Outcome(None) if is_missing else Outcome(max(known), is_called)
    return found


def by_words(answers: Iterable[Answer]) -> dict[str, Outcome]:
    """The share of an answer's words that its evidence lacks."""
    found = {}
    for answer in answers:
        words, known = set(content_words(answer.response)), set(content_words("\n".join(answer.evidence)))
        found[answer.id] = Outcome(len(words - known) / len(words) if words else None)
    return found


def by_length(answers: Iterable[Answer]) -> dict[str, Outcome]:
    """Longer answers first."""
    return {answer.id: Outcome(float(len(answer.response))) for answer in answers}


def auroc_with_interval(answers: Sequence[Answer], outcomes: dict[str, Outcome]) -> str:
    """AUROC with its 95 % interval by drawing questions."""
    groups: dict[str, list[tuple[float, bool]]] = {}
    for answer in answers:
        if (score := outcomes[answer.id].score) is not None:
            groups.setdefault(answer.source, []).append((score, answer.is_unsupported))
    tables = [np.array(group) for group in groups.values()]
    rng = np.random.default_rng(0)
    places = (rng.integers(len(tables), size=len(tables)) for _ in range(DRAWS))
    drawn = [_auroc([tables[place] for place in of_draw]) for of_draw in places]
    value = _auroc(tables)
    if value is None:
        return "–"
    low, high = np.percentile([each for each in drawn if each is not None], [2.5, 97.5])
    return f"{value:.3f} ({low:.3f}–{high:.3f})"


def _auroc(tables: Sequence[np.ndarray]) -> float | None:
    table = np.concatenate(tables)
    truth = table[:, 1].astype(bool)
    return None if truth.all() or not truth.any() else auroc(table[:, 0], truth)


def decisions(answers: Sequence[Answer], outcomes: dict[str, Outcome]) -> list[str]:
    """Precision, recall and F1 of the answers that are called unsupported; nothing for what only ranks."""
    pairs = [(answer.is_unsupported, outcomes[answer.id].is_called) for answer in answers]
    caught = sum(truth and said is True for truth, said in pairs)
    called, wrong = sum(said is True for _, said in pairs), sum(truth for truth, said in pairs if said is not None)
    if not called or not wrong:
        return ["–", "–", "–"]
    return [f"{caught / called:.3f}", f"{caught / wrong:.3f}", f"{2 * caught / (called + wrong):.3f}"]


def print_table(answers: Sequence[Answer], rows: dict[str, Judged]) -> None:
    """One line for each judge."""
    sets = sorted({answer.set for answer in answers})
    for name in sets:
        members = [answer for answer in answers if answer.set == name]
        wrong, sources = sum(answer.is_unsupported for answer in members), {answer.source for answer in members}
        print(f"{name}: {len(members)} answers to {len(sources)} questions, {wrong} with something unsupported")
    heads = ["", "judged", "AUROC", *sets, "precision", "recall", "F1", "seconds per answer"]
    print("\n| " + " | ".join(heads) + " |")
    print("| --- |" + " --: |" * (len(heads) - 1))
    for title, row in rows.items():
        outcomes, seconds = row.outcomes, row.seconds
        parts = [answers, *([answer for answer in answers if answer.set == name] for name in sets)]
        count = sum(each.score is not None for each in outcomes.values())
        cells = [title, str(count), *(auroc_with_interval(part, outcomes) for part in parts)]
        cells += [*decisions(answers, outcomes), "–" if seconds is None else f"{seconds:.3g}"]
        print("| " + " | ".join(cells) + " |")


def main() -> None:
    """Judge the answers and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faithdial", type=Path)
    parser.add_argument("--server", help="address and model, http://127.0.0.1:8931/v1#MODEL; none without")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--server-process", type=int, help="number of the process of a server on this machine")
    parser.add_argument("--answers", type=int, default=ANSWERS)
    given = parser.parse_args()
    answers = chosen_answers(given.faithdial, given.answers)
    runs = given.work / f"{len(answers)}-answers"
    runs.mkdir(parents=True, exist_ok=True)
    rows = {f"`{judge}`": judged(judge, answers, runs / judge.replace(":", "-")) for judge in JUDGES}
    if given.server:
        clock = Clock(given.work / "language-model.seconds", given.server_process)
        rows[given.server.partition("#")[2]] = judged(given.server, answers, runs / "language-model", clock)
    rows["word overlap"] = Judged(by_words(answers))
    rows["length, longer"] = Judged(by_length(answers))
    shuffled = judged("embedded", with_other_evidence(answers), runs / "other-evidence")
    rows["`embedded`, other evidence"] = Judged(shuffled.outcomes)
    print_table(answers, rows)


if __name__ == "__main__":
    main()
