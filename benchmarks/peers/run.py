"""The same two hundred answers through hallumeter and other tools, each with the same scripted judge on loopback.

python benchmarks/peers/run.py --python PATH [--python PATH ...] [--promptfoo PATH]

Prints a Markdown table: lines of user code, calls of the judge, answers that could not be measured and got a number all
the same, CPU and wall time per answer, peak memory, and how many calls are made anew after a run is killed half-way.
Each tool is run with the first of the Pythons that has it; a tool that none has is left out, and the last lines say so.
Times include the start of the process, and are of one machine: only comparable with each other. Nothing leaves the
machine: the tools get a proxy for HTTPS at which nobody listens.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers.answers import COUNT, TROUBLES, kind_of, rows
from peers.judge_server import JudgeServer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = {"hallumeter": "hallumeter", "DeepEval": "deepeval", "Ragas": "ragas", "TruLens": "trulens-feedback"}
HEAD = (
    "Tool",
    "Lines",
    "Calls",
    f"Right, of {COUNT - 40}",
    "Numbers, of 40",
    "Without a word",
    "CPU ms",
    "Wall ms",
    "MiB",
    "Calls after a kill",
)
_VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
_WRAPPER = """
import json, resource, runpy, sys
place = sys.argv[1]
sys.argv = sys.argv[2:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime + children.ru_utime + children.ru_stime
    json.dump({"cpu": cpu, "memory": max(used.ru_maxrss, children.ru_maxrss)}, open(place, "w"))
"""


@dataclass(frozen=True)
class Tool:
    """A tool that is installed, and how its script is run."""

    title: str
    version: str
    python: str
    environment: dict[str, str]

    @property
    def script(self) -> Path:
        """What a user of the tool writes."""
        return HERE / f"use_{self.title.lower()}.py"

    def lines(self) -> int:
        """Lines between the marks, without empty ones."""
        text = self.script.read_text(encoding="utf-8").partition("# begin\n")[2].partition("# end\n")[0]
        return sum(bool(line.strip()) for line in text.splitlines())

    def started(self, folder: Path, server: JudgeServer) -> subprocess.Popen[bytes]:
        """Begin the script in a folder, where it also finds what it left there before."""
        words = [self.python, "-c", _WRAPPER, "used.json", str(self.script), "answers.jsonl", "scores.json"]
        own = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT / "src")}
        closed = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
        with (folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [*words, server.address],
                cwd=folder,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment, **own, **closed},
                start_new_session=True,
            )


@dataclass(frozen=True)
class Outcome:
    """What one whole run of a tool came to."""

    calls: int
    wall: float
    cpu: float
    memory: float
    scores: dict[str, float | None]
    noted: frozenset[str]

    def right(self) -> int:
        """Answers without troubles that got the score they deserve."""
        deserved = {"right": 1.0, "wrong": 0.5}
        return sum(
            score == deserved.get(kind_of(int(name))) for name, score in self.scores.items() if score is not None
        )

    def numbers(self, *, is_silent: bool = False) -> Counter[str]:
        """By trouble, the answers that got a number; on demand only those whose result mentions no failure."""
        return Counter(
            kind_of(int(name))
            for name, score in self.scores.items()
            if score is not None and kind_of(int(name)) in TROUBLES and not (is_silent and name in self.noted)
        )


def measured(tool: Tool, server: JudgeServer, numbers: range = range(COUNT)) -> Outcome:
    """One whole run."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _write_answers(folder, numbers)
        server.calls, begun = 0, time.perf_counter()
        code = tool.started(folder, server).wait()
        wall = time.perf_counter() - begun
        if code != 0 or server.unknown:
            said = (folder / "log.txt").read_text(encoding="utf-8")[-2000:]
            raise SystemExit(f"{tool.title} ended with {code}; {len(server.unknown)} questions not known\n{said}")
        found = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
        used = json.loads((folder / "used.json").read_text(encoding="utf-8"))
    return Outcome(
        calls=server.calls,
        wall=wall / len(numbers) * 1000,
        cpu=used["cpu"] / len(numbers) * 1000,
        memory=used["memory"] / 1024,
        scores=found["scores"],
        noted=frozenset(found["noted"]),
    )


def calls_after_kill(tool: Tool, server: JudgeServer, whole: Outcome) -> int:
    """Calls of a second run with the same command, after the first was killed when half of its calls were made."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _write_answers(folder, range(COUNT))
        server.calls = 0
        process = tool.started(folder, server)
        while process.poll() is None and server.calls < whole.calls // 2:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.5)
        server.calls = 0
        if tool.started(folder, server).wait() != 0:
            raise SystemExit((folder / "log.txt").read_text(encoding="utf-8")[-2000:])
        if json.loads((folder / "scores.json").read_text(encoding="utf-8"))["scores"] != whole.scores:
            print(f"{tool.title}: other scores after the kill than in a whole run", file=sys.stderr)
        return server.calls


def _write_answers(folder: Path, numbers: range) -> None:
    every = rows()
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(every[number])}\n" for number in numbers), "utf-8")


def _version(words: list[str]) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PROMPTFOO_DISABLE_UPDATE": "1"}
    closed = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "HTTPS_PROXY": "http://127.0.0.1:9"}
    found = subprocess.run(words, capture_output=True, text=True, check=False, env=environment | closed)
    return found.stdout.strip() if found.returncode == 0 else ""


def installed(pythons: list[str], promptfoo: str | None) -> list[Tool]:
    """The tools that are here."""
    found = []
    for title, package in PACKAGES.items():
        versions = ((python, _version([python, "-c", _VERSION, package])) for python in pythons)
        python, version = next((pair for pair in versions if pair[1]), ("", ""))
        if version:
            found.append(Tool(title, version, python, {}))
    if promptfoo:
        found.append(Tool("promptfoo", _version([promptfoo, "--version"]), pythons[0], {"PROMPTFOO": promptfoo}))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", action="append", help="a Python with tools; may be given more than once")
    parser.add_argument("--promptfoo", default=shutil.which("promptfoo"), help="the command of promptfoo")
    chosen = parser.parse_args()

    def place_of(command: str) -> str:
        place = shutil.which(command)
        return str(Path(place).absolute()) if place else parser.error(f"{command} is no command")

    pythons = [place_of(command) for command in chosen.python or [sys.executable]]
    tools = installed(pythons, place_of(chosen.promptfoo) if chosen.promptfoo else None)
    server = JudgeServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"| {' | '.join(HEAD)} |\n| --- |{' ---: |' * (len(HEAD) - 1)}")
    details = []
    for tool in tools:
        found = measured(tool, server)
        numbers, silent = found.numbers(), found.numbers(is_silent=True)
        after = calls_after_kill(tool, server, found)
        cells = [f"{tool.title} {tool.version}", tool.lines(), found.calls, found.right()]
        cells += [
            numbers.total(),
            silent.total(),
            f"{found.cpu:.0f}",
            f"{found.wall:.0f}",
            f"{found.memory:.0f}",
            after,
        ]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        details.append(f"| {tool.title} | {' | '.join(str(numbers[trouble]) for trouble in TROUBLES)} |")
    print(f"\n| Numbers, of 8 each | {' | '.join(TROUBLES)} |\n| --- |{' ---: |' * len(TROUBLES)}")
    print("\n".join(details))
    missing = sorted({*PACKAGES, "promptfoo"} - {tool.title for tool in tools})
    load = os.getloadavg()[0]
    print(f"\n{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {load:.0f} at the end.")
    if missing:
        print(f"Not run, because not installed: {', '.join(missing)}.")


if __name__ == "__main__":
    main()
