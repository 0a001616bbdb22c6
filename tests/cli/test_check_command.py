"""`hallumeter check`: one answer on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hallumeter.cli import check as command
from hallumeter.cli.main import main

EVIDENCE = "The fair drew 1.2 billion people in 2010.\n"
RIGHT, WRONG = "The fair drew 1.2 billion people.", "The fair drew 999 million people."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes.txt").write_text(EVIDENCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*words: str, answer: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["check", "--judge", "rules", *words], input=answer)


@pytest.mark.usefixtures("folder")
def test_a_wrong_answer_is_printed_with_its_wrong_words_marked() -> None:
    done = said("--evidence", "notes.txt", WRONG)
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        "unsupported, 1 of 1 claim (rules@2)",
        "",
        "  The fair drew »999 million« people.",
        "",
        "  REFUTED (83% unsupported): The fair drew 999 million people.",
        "    why: response says 999 million, evidence says 1.2 billion",
        "    evidence notes.txt: 1.2 billion",
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [[RIGHT], ["-"], []], ids=["argument", "dash", "pipe"])
def test_a_supported_answer_ends_well_wherever_it_comes_from(words: list[str]) -> None:
    done = said("--evidence", "notes.txt", *words, answer=f"{RIGHT}\n")
    assert (done.exit_code, done.output) == (0, f"supported, 1 claim (rules@2)\n\n  {RIGHT}\n")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["Hello!"], 3, "unmeasured, no claim was found in the response"),
        (["I could not find that."], 3, "refused, the response refuses to answer: “I could not find”"),
        (["I could not find that.", "--on-refusal", "pass"], 0, "refused"),
        (["I could not find that.", "--on-refusal", "fail"], 1, "refused"),
    ],
)
def test_what_is_not_measured_has_an_exit_code_of_its_own(words: list[str], code: int, text: str) -> None:
    done = said("--evidence", "notes.txt", *words)
    assert done.exit_code == code
    assert done.output.startswith(text)


def test_evidence_may_be_several_files_texts_and_json(folder: Path) -> None:
    (folder / "more.json").write_text(json.dumps(["It lasted a year.", {"evidence_id": "b", "text": "It rained."}]))
    done = said(
        "--evidence", "notes.txt", "--evidence", "more.json", "--evidence-text", "It was free.", WRONG, "--format=json"
    )
    assert done.exit_code == 1
    found = json.loads(done.output)
    assert [each["evidence_id"] for each in found["evidence"]] == ["notes.txt", "e2", "b", "e4"]
    assert (found["status"], found["passed"], found["findings"][0]["wrong"]) == ("unsupported", False, "999 million")


@pytest.mark.usefixtures("folder")
def test_a_threshold_is_for_the_judge_that_has_one() -> None:
    done = said("--evidence", "notes.txt", WRONG, "--judge", "embedded:fast", "--threshold", "1")
    assert done.exit_code == 0
    refused = said("--evidence", "notes.txt", WRONG, "--threshold", "1")
    assert refused.exit_code == 2
    assert refused.stderr == "hallumeter: preset and threshold are for the embedded judge; rules cannot use them\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([RIGHT], "give evidence with --evidence FILE or --evidence-text TEXT"),
        (["--evidence", "nowhere.txt", RIGHT], "nowhere.txt: cannot be read (No such file or directory)"),
        (["--evidence", "bytes.txt", RIGHT], "bytes.txt: not UTF-8"),
        (["--evidence", "broken.json", RIGHT], "broken.json: not JSON"),
        (["--evidence", "notes.txt", "notes.txt"], "notes.txt is a file; read the answer from it with - < notes.txt"),
        (["--evidence", "notes.txt", RIGHT, "--calibration", "no.json"], "no.json: No such file or directory"),
        (["--evidence", "notes.txt", RIGHT, "--judge", "nobody"], "no judge is called 'nobody'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder: Path, words: list[str], message: str) -> None:
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\xfa")
    (folder / "broken.json").write_text("{", encoding="utf-8")
    done = said("--judge", "embedded:fast", *words)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.usefixtures("folder")
def test_an_answer_that_is_no_text_is_refused() -> None:
    done = said("--evidence", "notes.txt", "-", answer=b"\xff\xfe\xfa")
    assert done.exit_code == 2
    assert "standard input: not UTF-8" in done.stderr


@pytest.mark.usefixtures("folder")
def test_lines_are_at_most_80_columns_and_obey_no_escape() -> None:
    answer = f"{WRONG} \x1b[31m" + "The fair was a very long affair with many, many visitors from abroad. " * 9
    done = said("--evidence", "notes.txt", answer)
    assert max(map(len, done.output.splitlines())) <= 80
    assert "\x1b" not in done.output


@pytest.mark.usefixtures("folder")
def test_a_terminal_gets_colour_and_the_marks_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from hallumeter import check

    found = check(f"It rained. {WRONG} It is »open«.", EVIDENCE, judge=lambda claim, evidence: "999" not in claim)
    plain = list(command._lines(found, has_color=False))
    colored = list(command._lines(found, has_color=True))
    import click

    assert [click.unstyle(line) for line in colored] == plain
    assert click.style("»The fair drew 999 million people.«", fg="red", bold=True, underline=True) in "\n".join(colored)
