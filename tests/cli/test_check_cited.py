"""An answer checked against the files it names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hallumeter.cli.main import main


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "notes.md").write_text("The limit is 30 seconds. The port is 8080.", encoding="utf-8")
    (folder / "data.bin").write_bytes(b"\0\1")
    (tmp_path / "outside.md").write_text("The limit is 45 seconds.", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def code(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["check", "--judge", "rules", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_files_that_an_answer_names_are_its_evidence(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code("--cited", ".", "The limit is 30 seconds (`src/notes.md:12`).") == 0
    assert code("--cited", ".", "As ./src/notes.md:3-4 says, the limit is 45 seconds.") == 1
    printed = capsys.readouterr().out
    assert "./src/notes.md:3-4 says" in printed, "the answer is shown as it was written"
    assert "evidence src/notes.md: The limit is 30 seconds." in printed


def test_numbers_in_the_answer_are_judged_and_numbers_of_lines_are_not(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code("--cited", ".", "The port is 8080, see src/notes.md:77.") == 0
    assert code("--cited", ".", "The port is 80.80, see src/notes.md.") == 1


@pytest.mark.parametrize(
    "answer",
    ["Nothing is named.", "See ../outside.md.", "See data.bin.", "See link.md.", "See nowhere.md and e.g. 3.5."],
)
def test_an_answer_that_names_no_text_below_the_folder_is_refused_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    (place / "link.md").symlink_to(place.parent / "outside.md")
    assert code("--cited", ".", answer) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "names no text file below ." in line


def test_other_evidence_is_enough(place: Path) -> None:
    assert code("--cited", ".", "--evidence-text", "It is 330 m high.", "It is 330 m high.") == 0


def test_a_folder_that_is_not_there_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code("--cited", "absent", "See src/notes.md.") == 2
    assert "absent: no such folder" in capsys.readouterr().err


def hooked(place: Path, message: str, **event: object) -> str:
    """What the stop hook prints when an agent ends with a message."""
    given = json.dumps({"hook_event_name": "Stop", "cwd": str(place), "last_assistant_message": message, **event})
    script = Path(__file__).parents[2] / "examples" / "stop_hook.py"
    command = [sys.executable, str(script)]
    return subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=True, cwd="/").stdout


def test_the_stop_hook_sends_an_agent_back_once(place: Path) -> None:
    false, true = (f"As `src/notes.md` says, the limit is {number} seconds." for number in (45, 30))
    said = json.loads(hooked(place, false))
    assert said["decision"] == "block"
    assert "response says 45 seconds" in said["reason"]
    for ends in (
        hooked(place, false, stop_hook_active=True),
        hooked(place, true),
        hooked(place, "Done."),
        hooked(place, ""),
    ):
        assert ends == ""
