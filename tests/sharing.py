"""What is made once for all workers of a session: the first that needs a folder fills it, the others wait for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

LONGEST_WAIT_SECONDS = 600
"""The slowest of them, the demo, takes half a minute on a busy machine."""


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder of that name, filled by the first worker that asks for it; tests that change it take a copy."""
    base = factory.getbasetemp()
    # A worker has a folder of its own inside that of the session.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    done, failed = folder.with_name(f"{name}.done"), folder.with_name(f"{name}.failed")
    try:
        folder.mkdir()
    except FileExistsError:
        _wait(done, failed)
        return folder
    try:
        make(folder)
    except BaseException:
        failed.touch()
        raise
    done.touch()
    return folder


def _wait(done: Path, failed: Path) -> None:
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while not done.exists():
        assert not failed.exists(), f"{done.stem} could not be made; the test that tried first says why"
        assert time.monotonic() < deadline, f"nobody has finished {done.stem} in {LONGEST_WAIT_SECONDS} s"
        time.sleep(0.05)
