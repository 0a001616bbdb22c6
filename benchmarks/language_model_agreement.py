"""How well a language model agrees with people as a judge: a real model, through the whole of `hallumeter audit`.

    python benchmarks/language_model_agreement.py RAGTRUTH --gguf MODEL.gguf --work DIR [--answers 200] [--threads 2]
    python benchmarks/language_model_agreement.py RAGTRUTH --judge http://127.0.0.1:8080/v1#MODEL --work DIR

RAGTRUTH holds ``train_responses.jsonl`` and ``train_sources.jsonl``. With --gguf the model is served on this machine by
xllamacpp's OpenAI-compatible server (a package to install by hand). A sentence counts as unsupported for people when
it overlaps a span that they marked. The answers are drawn by source, without the sources of the bundled samples, and
without those with which the prompt was tried.
DIR keeps the run: when this is stopped it goes on from there.
"""

from __future__ import annotations

import argparse
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np

from hallumeter.claims.audit.commands import audit_files
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.models.pace import PaceSettings
from hallumeter.records.claim import Finding, Label
from hallumeter.run.finished import load
from hallumeter.run.progress import NoProgress

BUNDLED = {
    *("12219", "12331", "12362", "12389", "14364", "15119", "15199", "15325", "15408", "15506", "15554"),
}
TUNED_ON = {
    *("12175", "12198", "12211", "12213", "12214", "12225", "12226", "12231", "12256", "12296", "12310", "12374"),
    *("12384", "12390", "12403", "12417", "12457", "14315", "14342", "14359", "14367", "14387", "14401", "14403"),
    *("14419", "14422", "14432", "14436", "14461", "14472", "14487", "15101", "15115", "15145", "15157", "15161"),
    *("15215", "15217", "15218", "15224", "15250", "15272", "15279", "15296", "15333", "15335", "15337", "15353"),
    *("15357", "15362", "15391", "15446", "15451", "15465", "15468", "15475", "15481", "15559"),
}
"""Sources with which the wording of the prompt was tried."""
Pair = tuple[bool, bool]
"""Unsupported in people's eyes, and in the judge's."""


def answers(folder: Path, count: int, *, seed: int) -> list[dict[str, object]]:
    """Answers with their evidence and the spans that people marked, one for each source until there are enough."""
    sources = {row["source_id"]: row for row in map(msgspec.json.decode, (folder / "train_sources.jsonl").open("rb"))}
    rows = [msgspec.json.decode(line) for line in (folder / "train_responses.jsonl").open("rb")]
    rng = random.Random(seed)
    rng.shuffle(rows)
    chosen, seen = [], BUNDLED | TUNED_ON
    for row in rows:
        if row["source_id"] in seen:
            continue
        seen.add(row["source_id"])
        source = sources[row["source_id"]]
        given = source["source_info"]
        is_object = isinstance(given, dict)
        chosen.append(
            {
                "id": row["source_id"],
                "question": given.get("question") if is_object else None,
                "evidence": given["passages"].strip().split("\n\n") if is_object else given,
                "response": row["response"],
                "model": row["model"],
                "task": row["task_type"],
                "spans": [[label["start"], label["end"]] for label in row["labels"]],
            }
        )
        if len(chosen) == count:
            break
    return chosen


@contextmanager
def served(gguf: Path, threads: int, port: int) -> Iterator[str]:
    """The model behind an OpenAI-compatible server; always at the same address, by which the cache knows it."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(gguf)
    settings.port = port
    settings.n_ctx = 8192
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(settings)
    yield f"{server.listening_address}/v1#{gguf.stem}"


def pairs_of(findings: list[Finding], spans: list[list[int]], judge: str) -> list[Pair]:
    """What people and the judge say of each claim that the judge decided."""
    pairs = []
    for finding in findings:
        claim = finding.claim
        verdict = next((verdict for verdict in finding.verdicts if verdict.judge == judge), None)
        if verdict is None or verdict.label is Label.UNDECIDED or claim.start is None or claim.end is None:
            continue
        is_marked = any(start < claim.end and end > claim.start for start, end in spans)
        pairs.append((is_marked, verdict.label is not Label.SUPPORTED))
    return pairs


def kappa(table: np.ndarray) -> float:
    """Cohen's kappa of a table of counts."""
    total = table.sum()
    observed = np.trace(table) / total
    expected = (table.sum(axis=0) * table.sum(axis=1)).sum() / total**2
    return float((observed - expected) / (1 - expected)) if expected < 1 else float("nan")


def figures(tables: np.ndarray) -> dict[str, float]:
    """Figures of agreement over some answers; a table has people by row, the judge by column, unsupported last."""
    (right, alarm), (missed, caught) = tables.sum(axis=0)
    return {
        "agreement": (right + caught) / (right + alarm + missed + caught),
        "kappa": kappa(tables.sum(axis=0)),
        "balanced accuracy": (caught / (caught + missed) + right / (right + alarm)) / 2,
        "precision": caught / (caught + alarm),
        "recall": caught / (caught + missed),
    }


def show(name: str, by_answer: list[list[Pair]], *, resamples: int = 2000) -> None:
    """Print the figures with intervals by resampling whole answers."""
    tables = np.zeros((len(by_answer), 2, 2))
    for number, pairs in enumerate(by_answer):
        for people, judge in pairs:
            tables[number, int(people), int(judge)] += 1
    answer_tables = np.zeros((len(by_answer), 2, 2))
    for number, pairs in enumerate(by_answer):
        if pairs:
            answer_tables[number, int(any(p for p, _ in pairs)), int(any(j for _, j in pairs))] = 1
    rng = np.random.default_rng(0)
    print(f"\n{name}")
    for title, each in (("sentences", tables), ("answers", answer_tables)):
        (right, alarm), (missed, caught) = each.sum(axis=0).astype(int)
        print(f"  {title}: {right} right, {alarm} false alarms, {missed} missed, {caught} caught")
        with np.errstate(invalid="ignore"):
            drawn = [figures(each[rng.integers(len(each), size=len(each))]) for _ in range(resamples)]
        for figure, value in figures(each).items():
            low, high = np.nanpercentile([one[figure] for one in drawn], [2.5, 97.5])
            print(f"    {figure:18} {value:.3f}  [{low:.3f}, {high:.3f}]")


def audited(judge: str, arguments: argparse.Namespace) -> None:
    """Run the audit, or go on with it, and print its agreement with people."""
    arguments.work.mkdir(exist_ok=True, parents=True)
    file, out = arguments.work / "answers.jsonl", arguments.work / "run"
    if (out / "manifest.json").exists():
        shutil.rmtree(out)  # what was asked before is in the cache
    rows = answers(arguments.ragtruth, arguments.answers, seed=arguments.seed)
    file.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    settings = AuditSettings(
        judges=(judge, "rules"),
        concurrency=1,
        cache=arguments.work,
        pace=PaceSettings(timeout_seconds=900),
        language_model=LanguageModelSettings(
            claims_per_call=arguments.claims_per_call,
            wants_quotes=arguments.quotes,
            wants_logprobs=True,
            window_characters=9000,
            context_characters=0,
        ),
    )
    started = time.perf_counter()
    outcome = audit_files([file], out, settings=settings, progress=NoProgress(), is_resumed=True)
    spending = outcome.spending
    print(f"{spending.calls} calls in {time.perf_counter() - started:.0f} s of this run")
    print(f"tokens in {spending.input_tokens}, out {spending.output_tokens}")
    run = load(out)
    print("failures:", [failure.code for failure in run.failures])
    findings: dict[str, list[Finding]] = {str(row["id"]): [] for row in rows}
    for finding in run.findings():
        findings[finding.claim.record_id].append(finding)
    labels: dict[tuple[str, str], int] = {}
    for finding in run.findings():
        for verdict in finding.verdicts:
            key = (verdict.judge, f"{verdict.label.value} {verdict.reason or ''}".strip())
            labels[key] = labels.get(key, 0) + 1
    for (name, label), count in sorted(labels.items()):
        print(f"  {name}: {count} {label}")
    for entry in run.manifest.judges:
        show(entry.spec, [pairs_of(findings[str(row["id"])], row["spans"], entry.name) for row in rows])  # type: ignore[arg-type]


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ragtruth", type=Path)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--judge")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--port", type=int, default=8931)
    parser.add_argument("--claims-per-call", type=int, default=1)
    parser.add_argument("--quotes", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.judge:
        audited(arguments.judge, arguments)
    else:
        with served(arguments.gguf, arguments.threads, arguments.port) as judge:
            audited(judge, arguments)


if __name__ == "__main__":
    main()
