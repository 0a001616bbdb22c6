"""How fast is the embedded judge, and how much memory does it take? Beside the rules, on the bundled answers.

    python benchmarks/embedded_judge_speed.py [--repeat 6]

Each judge works in processes of its own, one and two of them, on the 66 answers of the sample, repeated with other
numbers in them so that nothing is remembered. Loading is measured apart: from a process without the model to its first
verdict. The ratio in the last column is to the rules with as many processes.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files

from hallumeter.claims.extractors.statements import SentenceExtractor
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.records.judging import Judge, JudgeTask
from hallumeter.records.response import Passage, Response

JUDGES = ("rules", "embedded:fast", "embedded")
_judges: dict[str, Judge] = {}


def tasks(repeat: int) -> list[JudgeTask]:
    """The sample's answers with their sentences, several times with other numbers."""
    lines = (files("hallumeter.samples") / "rag_answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {f"{row['record_id']}-{row['model']}": row for row in map(json.loads, lines) if "response" in row}
    made = []
    for turn in range(repeat):
        for name, row in rows.items():
            response = Response(
                f"{name}-{turn}",
                row.get("question"),
                shifted(row["response"], turn),
                tuple(Passage(f"e{place}", shifted(text, turn)) for place, text in enumerate(row["evidence"])),
            )
            made.append(JudgeTask(response, tuple(SentenceExtractor().extract(response))))
    return made


def shifted(text: str, turn: int) -> str:
    """The text with every number made larger, so that no text comes twice."""
    return re.sub(r"\d+", lambda found: str(int(found.group()[:9]) + turn), text)


def judged(name: str, task: JudgeTask) -> int:
    """How many verdicts a judge gives on one answer."""
    if name not in _judges:
        _judges[name] = RulesJudge() if name == "rules" else EmbeddedJudge(name.partition(":")[2] or "full")
    return len(_judges[name].judge(task))


def memory(_: int) -> float:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(name: str, work: list[JudgeTask], workers: int) -> tuple[float, float]:
    """Answers a second, and the memory of one process."""
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(judged, [name] * 8, work[:8]))
        began = time.perf_counter()
        list(pool.map(judged, [name] * len(work), work, chunksize=4))
        seconds = time.perf_counter() - began
        return len(work) / seconds, max(pool.map(memory, range(workers)))


def loading(name: str) -> float:
    """Seconds from an imported package to the first verdict."""
    program = (
        "import time; from benchmarks.embedded_judge_speed import judged, tasks; work = tasks(1)[0];"
        f"began = time.perf_counter(); judged({name!r}, work); print(time.perf_counter() - began)"
    )
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=6)
    work = tasks(parser.parse_args().repeat)
    claims = sum(len(task.claims) for task in work)
    print(f"{len(work)} answers, {claims} claims\n")
    print("| judge | processes | answers/s | to the rules | memory of a process | first verdict after |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    paces: dict[tuple[str, int], float] = {}
    for name in JUDGES:
        wait = loading(name)
        for workers in (1, 2):
            pace, size = measured(name, work, workers)
            paces[name, workers] = pace
            ratio = pace / paces["rules", workers]
            print(f"| `{name}` | {workers} | {pace:.1f} | {ratio:.2f} | {size:.0f} MiB | {wait:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
