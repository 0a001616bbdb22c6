"""Nothing leaves the machine: no command opens a socket, and neither does importing the package."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

import click
import pytest

from offline_commands import Command, SocketGuard

Run = Callable[[Sequence[str | Path], Path], subprocess.CompletedProcess[str]]

REFUSED = 97
IMAGES = {"en": "en.png", "fr": "http://192.0.2.1/fr.png", "ko": "https://192.0.2.1/ko.png"}
SAMPLES = sorted(
    entry.name for entry in (resources.files("hallumeter") / "samples").iterdir() if entry.name.endswith(".jsonl")
)
CASES: dict[str, list[list[str]]] = {
    "aspects aggregate": [["aspects", "aggregate", "DEMO/reviews-korean/scorecards.jsonl", "--out", "run"]],
    "aspects replay": [
        ["aspects", "replay", "DEMO/reviews-english", "--set", "enable_debate=false", "--out", "replayed"]
    ],
    "aspects run": [["aspects", "run", "--config", "ANSWERS/reviews.json"]],
    "aspects score": [["aspects", "score", "DEMO/reviews-korean/outputs.jsonl", "--out", "cards.jsonl"]],
    "ci": [["ci", "ANSWERS/answers.jsonl", "--judge", "rules", "--out", "run"]],
    "audit": [
        ["audit", "SAMPLES/rag_answers.jsonl", "--limit", "12", "--by", "model", "--out", "run"],
        ["audit", "ANSWERS/answers.jsonl", "--evidence-dir", "ANSWERS/handbook", "--workers", "2"],
        ["audit", "ANSWERS/answers.jsonl", "--samples", "--out", "run"],
        ["audit", "ANSWERS/answers.jsonl", "--dry-run", "--judge", "openai:gpt-4o-mini"],
    ],
    "baselines": [["baselines", "DEMO/answers"]],
    "cache": [["cache"], ["cache", "--clear"]],
    "calibrate": [
        ["calibrate", "DEMO/answers", "--reference", "human", "--target", "miss at most 50% of hallucinations"],
    ],
    "check": [["check", "--evidence-text", "The tower is 330 m high.", "The tower is 330 m high."]],
    "compare": [["compare", "DEMO/answers", "DEMO/answers", "--by", "task"]],
    "correct": [["correct", "DEMO/answers", "--reference", "human"]],
    # The demo that all tests share is made by a program that ends when it opens a socket.
    "demo": [["demo", "--help"]],
    "dialogue config": [["dialogue", "config"], ["dialogue", "config", "--init", "rules"]],
    "dialogue lint": [["dialogue", "lint"]],
    "dialogue measure": [["dialogue", "measure", "DEMO/dialogues/events.jsonl", "--out", "run"]],
    "dialogue run": [["dialogue", "run", "--config", "ANSWERS/experiment.json"]],
    "dialogue script": [["dialogue", "script", "--fhir-dir", "SAMPLES/patients", "--output-path", "scripts.jsonl"]],
    "gate": [["gate", "DEMO/answers", "--init"]],
    "ingest": [["ingest", "ANSWERS/results.jsonl", "--out", "run"]],
    # The evaluator runs in a process of its own, which the guard of this test forbids: its own tests watch it.
    "integrity": [["integrity", "--help"]],
    "label": [["label", "DEMO/answers", "--judge", "embedded"], ["label", "DEMO/answers", "--export", "labels.csv"]],
    "measure": [["measure", f"SAMPLES/{name}"] for name in SAMPLES],
    "metrics": [["metrics"], ["metrics", "mihr"]],
    "report": [
        ["report", "DEMO/answers"],
        ["report", "DEMO/newspapers"],
        ["report", "DEMO/dialogues"],
        ["report", "DEMO/reviews-english"],
    ],
    "stress": [["stress", "SAMPLES/rag_answers.jsonl", "--limit", "12", "--out", "run"]],
    "transcripts": [
        ["transcripts", "SAMPLES/newspapers/truth", "SAMPLES/newspapers/smollm2", "--workers", "2", "--out", "run"],
        ["transcripts", "SAMPLES/newspapers/smollm2", "--witness", "SAMPLES/newspapers/newspaper-ocr"],
        # A manifest that names an image on the web beside one on disk.
        ["transcripts", "ANSWERS/handbook", "ANSWERS/handbook", "--images", "ANSWERS/manifest.json", "--out", "run"],
    ],
    "verify": [["verify", "DEMO/answers"], ["verify", "DEMO/newspapers/report.html", "--run", "DEMO/newspapers"]],
    # It listens on 127.0.0.1 and opens nothing else: tests/viewer ask it there.
    "export": [["export", "DEMO/answers", "--out", "tables"]],
    "mcp": [["mcp", "--help"]],  # its event loop needs a pair of sockets for itself
    "view": [["view", "--help"]],
}
"""How each command is tried. SAMPLES is the folder of bundled samples, DEMO the folder that the demo has written,
ANSWERS has a file of answers with samples, a folder of texts, and two experiments."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with answers in three languages, texts to look evidence up in, and two experiments."""
    folder = tmp_path_factory.mktemp("answers")
    texts = {"en": "The tower is 330 m high.", "fr": "La tour fut achevée en 1889.", "ko": "수도는 서울이다."}
    rows = [
        {"id": name, "response": text, "samples": [text, text.upper()], "evidence": text}
        for name, text in texts.items()
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "handbook").mkdir()
    for name, text in texts.items():
        (folder / "handbook" / f"{name}.txt").write_text(text, encoding="utf-8")
    results = '{"user_input": "q", "response": "r", "retrieved_contexts": ["c"], "faithfulness": 0.5}\n'
    (folder / "results.jsonl").write_text(results, encoding="utf-8")
    (folder / "questions.txt").write_text("How should I exercise?\n", encoding="utf-8")
    experiment = {
        "systems": [{"mode": "llm", "model": "offline"}],
        "multiturn_scripts": {"enabled": False},
        "questions": str(folder / "questions.txt"),
    }
    (folder / "experiment.json").write_text(json.dumps(experiment), encoding="utf-8")
    (folder / "reviews.txt").write_text("The soup was cold but the staff was kind.\n화면이 좋아요.\n", encoding="utf-8")
    reviews = {"model": "offline", "data": {"input": str(folder / "reviews.txt")}}
    (folder / "reviews.json").write_text(json.dumps(reviews), encoding="utf-8")
    (folder / "en.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    canvases = [{"label": name, "images": [{"resource": {"@id": image}}]} for name, image in IMAGES.items()]
    (folder / "manifest.json").write_text(json.dumps({"sequences": [{"canvases": canvases}]}), encoding="utf-8")
    return folder


def test_every_command_is_tried_without_a_network(cli_commands: dict[str, click.Command]) -> None:
    names = set(cli_commands)
    assert names == CASES.keys(), (
        f"commands without a case in CASES: {sorted(names - CASES.keys())}; "
        f"cases without a command: {sorted(CASES.keys() - names)}"
    )


@pytest.mark.parametrize("words", [words for cases in CASES.values() for words in cases], ids=" ".join)
def test_a_command_opens_no_socket(
    words: list[str], offline_command: Command, finished_demo: Path, answers: Path, tmp_path: Path
) -> None:
    with resources.as_file(resources.files("hallumeter") / "samples") as samples:
        if any("DEMO" in word for word in words):
            shutil.copytree(finished_demo, tmp_path / "demo")
        known = {"SAMPLES": str(samples), "DEMO": "demo", "ANSWERS": str(answers)}
        pieces = [[known.get(piece, piece) for piece in word.split("/")] for word in words]
        done = offline_command([*map("/".join, pieces)], tmp_path)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("name", [[], *([*name.split()] for name in sorted(CASES))], ids=" ".join)
def test_asking_for_help_opens_no_socket(name: list[str], offline_command: Command, tmp_path: Path) -> None:
    done = offline_command([*name, "--help"], tmp_path)
    assert done.exit_code == 0, done.stderr
    assert "Usage" in done.stdout


def test_importing_the_whole_package_opens_no_socket(run_offline: Run, tmp_path: Path) -> None:
    # But for what imports the tool that it is for.
    program = (
        "import hallumeter, importlib, pkgutil; [getattr(hallumeter, name) for name in hallumeter.__all__]; "
        "[importlib.import_module(module.name) for module in pkgutil.walk_packages(hallumeter.__path__, 'hallumeter.')"
        " if not module.name.endswith(('__main__', 'engines.ray')) and '.integrations.' not in module.name]"
    )
    done = run_offline([sys.executable, "-c", program], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])
def test_a_socket_is_refused_to_commands_of_this_process(host: str, socket_guard: SocketGuard) -> None:
    with socket_guard.on(), pytest.raises(PermissionError, match="refused: socket"):
        socket.create_connection((host, 9))
    assert socket_guard.refused


def test_a_program_other_than_python_is_refused_to_commands_of_this_process(socket_guard: SocketGuard) -> None:
    with socket_guard.on(), pytest.raises(PermissionError, match="refused: subprocess"):
        subprocess.run(["true"], check=False)
    with socket_guard.on():
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert not socket_guard.refused


@pytest.mark.parametrize(
    "program",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
        "import subprocess; subprocess.run(['true'])",
        "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import socket; socket.socket()']))",
    ],
)
def test_a_program_that_opens_a_socket_is_caught(program: str, run_offline: Run, tmp_path: Path) -> None:
    done = run_offline([sys.executable, "-c", program], tmp_path)
    assert done.returncode == REFUSED, done.stderr
    assert "refused: " in done.stderr
