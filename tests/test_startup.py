"""Starting stays quick: nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# These two, what they import themselves, and the standard library are all that a start may load.
LIGHT = "import click, msgspec"


def modules_loaded_by(arguments: list[str], folder: Path) -> set[str]:
    """The packages that Python imports while it runs with these arguments."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize(
    "arguments",
    [["-c", "import hallumeter"], ["-m", "hallumeter", "--help"], ["-m", "hallumeter", "--version"]],
    ids=["import", "help", "version"],
)
def test_a_start_loads_click_and_msgspec_and_nothing_heavier(arguments: list[str], tmp_path: Path) -> None:
    loaded = modules_loaded_by(arguments, tmp_path) - modules_loaded_by(["-c", LIGHT], tmp_path)
    heavy = loaded - set(sys.stdlib_module_names) - {"hallumeter"}
    assert not heavy, f"import {sorted(heavy)} inside the commands that need them"


def test_a_heavy_import_would_be_seen(tmp_path: Path) -> None:
    loaded = modules_loaded_by(["-c", f"{LIGHT}; import numpy"], tmp_path)
    assert "numpy" in loaded - modules_loaded_by(["-c", LIGHT], tmp_path)
