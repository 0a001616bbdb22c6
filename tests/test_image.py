"""The Dockerfile: built and run where an engine is there; else its steps run in a fresh environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ANSWER = '{"response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}\n'


def instructions(name: str) -> list[str]:
    """What stands after an instruction, in order; lines that end with a backslash go on."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    return [line.removeprefix(f"{name} ") for line in text.splitlines() if line.startswith(f"{name} ")]


def has_engine() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


def test_the_image_runs_as_nobody_special_and_starts_the_program() -> None:
    assert instructions("USER") == ["10001"]
    assert instructions("ENTRYPOINT") == ['["hallumeter"]']
    assert all("://" not in line for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines())


def test_everything_that_the_image_copies_is_let_through_and_exists() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sources = [word for line in instructions("COPY") if "--from" not in line for word in line.split()[:-1]]
    assert sources
    for source in sources:
        assert f"!{source}" in ignored
        assert (ROOT / source).exists()


@pytest.mark.long
def test_the_image_audits_without_a_network(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text(ANSWER, encoding="utf-8")
    if has_engine():
        subprocess.run(["docker", "build", "-t", "hallumeter-test", str(ROOT)], check=True)
        words = ["docker", "run", "--rm", "--network", "none", "-v", f"{tmp_path}:/data", "--user", str(os.getuid())]
        ended = subprocess.run(
            [*words, "hallumeter-test", "check", *CHECKED], capture_output=True, text=True, check=False
        )
    else:
        program = _installed(tmp_path)
        isolated = ["unshare", "--net"] if shutil.which("unshare") and os.getuid() == 0 else []
        home = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
        ended = subprocess.run(
            [*isolated, str(program), "check", *CHECKED], env=home, capture_output=True, text=True, check=False
        )
    assert ended.returncode == 1, ended.stderr
    assert "»999 m«" in ended.stdout


CHECKED = ("--evidence-text", "The tower is 330 m high.", "The tower is 999 m high.")


def _installed(place: Path) -> Path:
    """The program after the steps of both stages, run in folders of their own."""
    source, venv = place / "source", place / "venv"
    source.mkdir()
    for line in instructions("COPY"):
        for name in [] if "--from" in line else line.split()[:-1]:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    variables = {**os.environ, "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}", "EXTRAS": "onnx"}
    variables.pop("PYTHONPATH", None)
    for step in instructions("RUN"):
        if not step.startswith("useradd"):
            moved = step.replace("/wheels", str(place / "wheels"))
            subprocess.run(["sh", "-ec", moved], cwd=source, env=variables, check=True)
    return venv / "bin" / "hallumeter"
