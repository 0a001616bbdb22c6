"""Notebooks run from top to bottom, offline, and keep no output in the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from offline_commands import SocketGuard

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_cells_run_in_order_without_a_socket_and_print_something(
    path: Path,
    socket_guard: SocketGuard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    namespace: dict[str, object] = {"__name__": "__main__"}
    with socket_guard.on():
        for number, cell in enumerate(code_cells(path), start=1):
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), namespace)
    assert not socket_guard.refused, socket_guard.refused
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_output_is_kept(path: Path) -> None:
    kept = [cell["source"] for cell in code_cells(path) if cell["outputs"] or cell["execution_count"]]
    assert not kept, "clear the outputs of the notebook before you commit it"
