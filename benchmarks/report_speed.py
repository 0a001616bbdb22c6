"""How long a report takes, as a ratio to reading the run that it reports on.

    python benchmarks/report_speed.py [--records 10000] [--judges 2] [--rounds 3]

Every measurement is the CPU time of a process of its own, imports left out, the best of a few rounds. Reading is one
pass over `RunFolder.findings()`; the report is everything from the folder to the finished HTML file.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

READING = """
import sys, time
from pathlib import Path
from hallumeter.run.run_folder import RunFolder
start = time.process_time()
for _ in RunFolder(Path(sys.argv[1])).findings():
    pass
print(time.process_time() - start)
"""

REPORT = """
import sys, time
from hallumeter import load
start = time.process_time()
load(sys.argv[1]).to_html(sys.argv[2])
print(time.process_time() - start)
"""

NOUNS = ("tower", "bridge", "river", "castle", "museum", "station", "garden", "market", "church", "harbour", "theatre")
VERBS = ("opened", "closed", "grew", "moved", "burned", "changed", "reached", "crossed", "served", "housed")
REASONS = ("number_mismatch", "name_not_found", "words_not_found", "date_mismatch", None)


def sentence(rng: random.Random) -> str:
    """Words that look like a statement."""
    words = [rng.choice(NOUNS), rng.choice(VERBS), "in", str(rng.randint(1000, 2030)), "near", "the", rng.choice(NOUNS)]
    words += rng.choices(NOUNS, k=rng.randint(0, 6))
    return f"The {' '.join(words)}."


def rows(records: int, judges: int, rng: random.Random) -> list[dict[str, object]]:
    """Verdicts of judges who mostly agree on answers of five to eight sentences."""
    made: list[dict[str, object]] = []
    for number in range(records):
        sentences = [sentence(rng) for _ in range(rng.randint(5, 8))]
        told = {
            "record_id": f"r{number}",
            "model": f"model-{number % 4}",
            "question": sentence(rng),
            "response": " ".join(sentences),
            "evidence": [" ".join(sentence(rng) for _ in range(12)) for _ in range(3)],
            "topic": rng.choice(("history", "travel", "law")),
        }
        start = 0
        for place, words in enumerate(sentences):
            truth = rng.random() < 0.1 + 0.02 * place
            for judge in range(judges):
                is_unsupported = truth != (rng.random() < 0.08)
                label = rng.choice(("REFUTED", "NOT_ENOUGH_INFO")) if is_unsupported else "SUPPORTED"
                probability = min(1.0, max(0.0, rng.gauss(0.8 if is_unsupported else 0.2, 0.15)))
                made.append(
                    {
                        **({"record_id": told["record_id"], "model": told["model"]} if place or judge else told),
                        "claim_id": f"r{number}#{place}",
                        "start": start,
                        "end": start + len(words),
                        "text": words,
                        "judge": f"judge-{judge}",
                        "label": "UNDECIDED" if rng.random() < 0.02 else label,
                        "unsupported_probability": round(probability, 4),
                        "reason": rng.choice(REASONS) if is_unsupported else None,
                    }
                )
            start += len(words) + 1
    return made


def make_run(folder: Path, records: int, judges: int) -> Path:
    """A run folder with so many records, made by `hallumeter measure`."""
    source = folder / "answers.jsonl"
    with source.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows(records, judges, random.Random(0)))
    command = [
        sys.executable,
        "-m",
        "hallumeter",
        "measure",
        str(source),
        "--by",
        "model",
        "--out",
        str(folder / "run"),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "run"


def seconds(code: str, *arguments: str, rounds: int) -> float:
    """CPU seconds that the code reports, the best of so many rounds."""
    command = [sys.executable, "-c", code, *arguments]
    return min(float(subprocess.check_output(command, text=True)) for _ in range(rounds))


def main() -> None:
    """Make a run, then read it and report on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--judges", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run = make_run(Path(place), settings.records, settings.judges)
        report = Path(place) / "report.html"
        reading = seconds(READING, str(run), rounds=settings.rounds)
        reporting = seconds(REPORT, str(run), str(report), rounds=settings.rounds)
        size = report.stat().st_size
    print(f"records          {settings.records:,} with 5 to 8 claims and {settings.judges} judges each")
    print(f"reading the run  {reading:.2f} s")
    print(f"the report       {reporting:.2f} s")
    print(f"ratio            {reporting / reading:.2f}")
    print(f"size             {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
