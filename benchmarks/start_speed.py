"""How long a start takes, as ratios to `import numpy` in the same run.

    python benchmarks/start_speed.py [--rounds 7]

Every measurement is the user CPU time of a process of its own, the median of some rounds; a round measures each once.
Bytecode, of modules and of templates, is written by a round that is not counted, as an installed package has it; with
PYTHONDONTWRITEBYTECODE set there is none, and everything is compiled at each start.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ANSWER = '{"response": "Paris has 2 million people.", "evidence": "Paris has 2.1 million people."}\n'
VERDICT = '{"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}\n'
YARDSTICK = "import numpy"
COMMANDS = {
    "hallumeter --help": "--help",
    "hallumeter measure, one verdict": "measure verdicts.jsonl",
    "hallumeter audit --judge rules, one record": "audit answers.jsonl --judge rules --workers 1",
    "hallumeter audit --judge embedded:fast, one record": "audit answers.jsonl --judge embedded:fast --workers 1",
    "hallumeter transcripts, one page": "transcripts truth ocr",
}


def main() -> None:
    """Measure every program in turn, and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    programs = {
        YARDSTICK: ["-c", YARDSTICK],
        "import hallumeter": ["-c", "import hallumeter"],
        "import hallumeter; hallumeter.audit": ["-c", "import hallumeter; hallumeter.audit"],
        **{name: ["-m", "hallumeter", *words.split()] for name, words in COMMANDS.items()},
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in {"answers.jsonl": ANSWER, "verdicts.jsonl": VERDICT}.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name in ("truth", "ocr"):
            (folder / name).mkdir()
            (folder / name / "page.txt").write_text(f"The {name} of one page.\n", encoding="utf-8")
        for _ in range(rounds + 1):
            for name, words in programs.items():
                seconds[name].append(user_seconds(words, folder))
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    for name, median in medians.items():
        print(f"{name:<52} {median:6.3f} s   {median / medians[YARDSTICK]:5.1f}")


def user_seconds(words: list[str], folder: Path) -> float:
    """User CPU of one process; the clock says little on a machine that others use."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "HALLUMETER_CACHE": str(folder)}
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


if __name__ == "__main__":
    main()
