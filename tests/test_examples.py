"""Every example is short, runs without a network, and shows something."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ALL = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
ENGINES = {"audit_with_daft.py": "daft", "audit_with_ray_data.py": "ray", "audit_with_spark.py": "pyspark"}
"""Examples that speak to processes of their own through sockets, and what they need."""
EVENTS = {"stop_hook.py"}
"""Those that wait for an event; tests/cli/test_check_cited.py gives them some."""
EXAMPLES = [path for path in ALL if path.name not in {*ENGINES, *EVENTS}]
APART = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
"""A network without any other machine."""
LINES = 60


def test_there_are_examples() -> None:
    assert EXAMPLES
    assert len(ALL) == len(EXAMPLES) + len(ENGINES) + len(EVENTS)


@pytest.mark.long
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_offline_and_prints_something(
    path: Path,
    tmp_path: Path,
    run_offline: Callable[[Sequence[str | Path], Path], subprocess.CompletedProcess[str]],
) -> None:
    done = run_offline([sys.executable, "-W", "error", path], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.long
@pytest.mark.parametrize("name", ENGINES)
def test_an_example_on_an_engine_gives_the_same_verdicts_without_a_network(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(ENGINES[name]) is None:
        pytest.skip(f"{ENGINES[name]} is not installed")
    if name == "audit_with_spark.py" and shutil.which("java") is None:
        pytest.skip("no Java")
    if subprocess.run([*APART, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no right to make a network (unshare --net)")
    path = next(path for path in ALL if path.name == name)
    command = [*APART, sys.executable, "-W", "ignore", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = [line.split("\t")[:2] for line in done.stdout.splitlines() if line.startswith("a")]
    assert found == [["a1", "SUPPORTED"], ["a2", "REFUTED"], ["a3", "NOT_ENOUGH_INFO"]]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_an_example_fits_on_a_screen(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES
