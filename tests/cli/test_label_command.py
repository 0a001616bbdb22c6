"""`hallumeter label` as it is used: keys from a pipe, keys in a terminal, and a process that is killed."""

from __future__ import annotations

import csv
import io
import os
import re
import select
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import refused, succeed
from rich.cells import cell_len

from annotated_runs import copied, give, judged_run, session_of
from compared_runs import run_of, verdict_rows
from hallumeter.run.labels import LabelStore
from transcript_folders import write_pages

SECONDS = 30.0
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("judged") / "run")


@pytest.fixture
def run(judged: Path, tmp_path: Path) -> Path:
    return copied(judged, tmp_path)


def given(*keys: str) -> str:
    return "".join(f"{key}\n" for key in keys)


def told(run: Path) -> list[str | None]:
    return [label.label for label in LabelStore(run).latest()]


def test_keys_from_a_pipe_become_labels(run: Path) -> None:
    done = succeed("label", run, "--annotator", "kim", given=given("s", "R", "n", "?", " ", "q", "s"))
    assert told(run) == ["SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED"]
    assert {label.annotator for label in LabelStore(run).latest()} == {"kim"}
    assert "3 labels on 3 claims" in done.stdout
    assert "1 could not be told" in done.stdout
    assert done.stdout.endswith(f"kept in {run / 'labels.sqlite'}\nnext: hallumeter correct {run}\n")


def test_the_end_of_the_input_ends_the_session(run: Path) -> None:
    succeed("label", run, given="s\nx\n\nn")
    assert told(run) == ["SUPPORTED", "NOT_ENOUGH_INFO"]


def test_an_answer_is_taken_back_and_the_question_asked_again(run: Path) -> None:
    done = succeed("label", run, given=given("u", "s", "u", "r", "q"))
    assert "there is nothing to undo in this session" in done.stdout
    assert "taken back · 0 labels" in done.stdout
    assert told(run) == ["REFUTED"]
    titles = re.findall(r"^claim \d+ of \d+ of record .*$", done.stdout, re.M)
    assert titles[0] == titles[2]
    assert titles[1] == titles[3]


def test_the_corrected_rate_settles_on_the_screen(run: Path) -> None:
    done = succeed("label", run, "--limit", "40", "--width", "0.1", given=given(*"snsrs" * 20))
    assert len(told(run)) == 40
    lines = [" ".join(found.split()) for found in re.findall(r"^\S.* · \d+ labels? · .*(?:\n.+)*$", done.stdout, re.M)]
    assert len(lines) == 40
    assert re.search(
        r"no Unsupported claims \(MiHR\) yet: none of the \d+ claims that the judge calls unsupported is labelled",
        lines[0],
    )
    assert re.fullmatch(
        r".* · 40 labels · Unsupported claims \(MiHR\) 0\.\d{3} \(0\.\d{3} – 0\.\d{3}\), judge says 0\.\d{3}"
        r" · ±10 points .*",
        lines[-1],
    )
    assert re.search(r"^half width in points, with so many labels: ±\d+\.\d with \d+ → ", done.stdout, re.M)
    assert re.search(r"^50 more labels: about ±\d+\.\d points; 200 more labels: about ±", done.stdout, re.M)


def test_the_claim_is_marked_in_its_response_and_the_verdict_is_hidden_until_asked_for(run: Path) -> None:
    hidden = succeed("label", run, given=given("q")).stdout
    assert re.search(r">>>.+<<<", hidden, re.S)
    assert "Verdict" not in hidden
    assert "rules@2 says" in succeed("label", run, "--show-verdict", given=given("q")).stdout


def test_all_evidence_is_shown_on_demand(run: Path) -> None:
    cut, whole = succeed("label", run, given=given("e", "q")).stdout.split("q quit\n")[:2]
    passages = re.search(r"e shows all of it: (\d+) passages, [\d,]+ characters", cut)
    assert passages is not None
    assert cut.count("\n  [e") == 1
    assert whole.count("\n  [e") == int(passages[1])
    assert "e shows all" not in whole


def test_whole_responses_are_asked_for(run: Path) -> None:
    done = succeed("label", run, "--unit", "response", "--limit", "25", given=given(*"s" * 25))
    assert re.search(r"supported · 1 label · \d+ claims? of this answer to go", done.stdout)
    assert "MaHR" in done.stdout


def test_two_annotators_see_how_far_they_agree(run: Path) -> None:
    give(session_of(run, "kim"), 30)
    done = succeed("label", run, "--annotator", "lee", "--overlap", "1", "--limit", "10", given=given(*"s" * 10))
    assert re.search(r"^kim and lee agree on \d+ of 10 claims \(\d+\.\d %\), ", done.stdout, re.M)


def test_labels_are_exported_and_nothing_is_written_over(run: Path, tmp_path: Path) -> None:
    give(session_of(run), 30)
    target = tmp_path / "labels.csv"
    assert succeed("label", run, "--export", target).stdout == f"{target}\n"
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert [row["is_attached"] for row in rows] == ["true"] * 30
    assert succeed("label", run, "--export", "-").stdout == target.read_text(encoding="utf-8")
    assert "exists already" in refused("label", run, "--export", target)
    succeed("correct", run, "--labels", target)


def test_whoever_gives_no_label_is_told_that_there_are_none(run: Path) -> None:
    assert "there are no labels yet" in succeed("label", run, given="").stdout
    assert not (run / "labels.sqlite").exists()


def test_a_run_that_is_labelled_wholly_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path / "small", verdict_rows({"r1": "sr", "r2": "s"})).path
    done = succeed("label", run, given=given("s", "n", "s", "s"))
    assert "nothing is left to label: every claim that counts was labelled or skipped" in done.stdout


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    nasty = "a\x1b]0;title\x07b\u202ec\x9b31m\td"
    rows = [
        {
            **row,
            "record_id": f"{row['record_id']}{nasty}",
            "text": nasty,
            "question": f"{nasty}\nsecond",
            "response": f"{nasty} and more",
            "evidence": nasty,
            "judge": f"j{nasty}",
        }
        for row in verdict_rows({"r1": "sr", "r2": "rs"})
    ]
    run = run_of(tmp_path / "nasty", rows).path
    keys = given("e", "s", "e", "n", "r", "s", "q")
    done = succeed("label", run, "--show-verdict", "--annotator", f"kim{nasty}", given=keys)
    assert not CONTROLS.search(done.stdout)
    assert not CONTROLS.search(done.stderr)
    give(session_of(run, "lee", overlap=1.0), 4)
    again = succeed("label", run, "--annotator", f"kim{nasty}", given="")
    assert "agree on" in again.stdout
    assert not CONTROLS.search(again.stdout)


@pytest.mark.parametrize(
    ("question", "claim", "evidence"),
    [
        ("수도는 어디인가?", "대한민국의 수도는 서울이다.", "서울은 대한민국의 수도이자 가장 큰 도시이다. " * 40),
        ("Où est l'Élysée ?", "L’Élysée est à Paris, près des Champs-Élysées.", "L’Élysée se trouve à Paris. " * 60),
        ("首都はどこ?", "日本の首都は東京です。", "東京は日本の首都である。" * 90),
    ],
)
def test_wide_letters_are_wrapped_and_marked_in_a_narrow_terminal(
    tmp_path: Path, question: str, claim: str, evidence: str
) -> None:
    rows = [
        {**row, "question": question, "response": f"{claim} {claim}", "text": claim, "evidence": evidence,
         "start": 0, "end": len(claim)}
        for row in verdict_rows({"r1": "s", "r2": "r"})
    ]  # fmt: skip
    run = run_of(tmp_path / "wide", rows).path
    done = succeed("label", run, given=given("e", "s", "q"))
    marked = f">>>{claim}<<<"
    assert "".join(marked.split()) in "".join(done.stdout.split())
    assert question in done.stdout


def test_a_run_that_cannot_be_labelled_is_refused_in_one_line(run: Path, tmp_path: Path) -> None:
    pages = [write_pages(tmp_path / name, {"p1": "one two three four"}) for name in ("truth", "engine")]
    succeed("transcripts", *pages, "--out", tmp_path / "pages", "--quiet")
    assert "has no judge to be wrong" in refused("label", tmp_path / "pages")
    assert "not a run folder" in refused("label", tmp_path)
    assert "no claim has a verdict" in refused("label", run_of(tmp_path / "open", verdict_rows({"r1": "u"})).path)
    assert "the run has no judge 'nobody'" in refused("label", run, "--judge", "nobody")
    assert "overlap" in refused("label", run, "--overlap", "2")
    assert "half width" in refused("label", run, "--width", "0.7")
    (run / "labels.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 40)
    assert "labels cannot be kept or read here" in refused("label", run)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_refused(run: Path) -> None:
    run.chmod(0o555)
    try:
        assert "cannot be written to" in refused("label", run, given=given("s"))
    finally:
        run.chmod(0o755)


@pytest.mark.long
def test_a_killed_session_loses_nothing_and_goes_on_with_the_same_question(run: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hallumeter", "label", str(run), "--annotator", "kim"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(given(*"srsns"))
        process.stdin.flush()
        seen = ""
        while "5 labels" not in seen or seen.count("s supported") < 6:
            line = process.stdout.readline()
            assert line, "the program ended"
            seen += line
    finally:
        process.kill()
        process.communicate()
    assert told(run) == ["SUPPORTED", "REFUTED", "SUPPORTED", "NOT_ENOUGH_INFO", "SUPPORTED"]
    last = re.findall(r"^claim \d+ of \d+ of record .*$", seen, re.M)[-1]
    assert last in succeed("label", run, "--annotator", "kim", given=given("q")).stdout


IN_A_TERMINAL = """
import fcntl, termios
from hallumeter.cli.main import main
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
main()
"""
"""The command as master of its terminal: otherwise Ctrl-C reaches nobody."""


class Person:
    """Somebody at a pseudo-terminal."""

    def __init__(self, end: int) -> None:
        self._end = end
        self._seen = ""

    def press(self, key: bytes) -> None:
        os.write(self._end, key)

    def reads(self, wanted: str) -> str:
        """What the terminal has shown since the last time, up to these words."""
        while wanted not in self._seen:
            assert select.select([self._end], [], [], SECONDS)[0], f"waited in vain for {wanted!r}: {self._seen}"
            try:
                more = os.read(self._end, 65536)
            except OSError:  # Linux says so when the program has closed its end
                more = b""
            assert more, f"ended without {wanted!r}: {self._seen}"
            self._seen += more.decode(errors="replace")
        before, _, self._seen = self._seen.partition(wanted)
        return before + wanted


@contextmanager
def terminal(*words: object, columns: int = 80) -> Iterator[tuple[subprocess.Popen[bytes], Person]]:
    """The command in a pseudo-terminal, and who sits at it."""
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    end, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_TERMINAL, *map(str, words)],
        stdin=program,
        stdout=program,
        stderr=program,
        start_new_session=True,
        env={key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"TERM": "xterm"},
    )
    os.close(program)
    try:
        yield process, Person(end)
    finally:
        process.kill()
        process.wait()
        os.close(end)


def test_single_keys_are_enough_in_a_terminal(run: Path) -> None:
    with terminal("label", run, "--annotator", "kim") as (process, person):
        first = person.reads("q quit")
        assert "\x1b[1;7m" in first  # the claim stands out
        assert ">>>" not in first
        answers = {b"s": "supported · 1 label", b"n": "not enough info · 2 labels", b"u": "taken back · 1 label"}
        for key, answer in answers.items():
            person.press(key)
            person.reads(answer)
            person.reads("q quit")
        person.press(b"r")
        person.reads("refuted · 2 labels")
        person.press(b"q")
        person.reads("next: hallumeter correct")
        assert process.wait(SECONDS) == 0
    assert told(run) == ["SUPPORTED", "REFUTED"]


def test_keys_that_are_pressed_ahead_wait_their_turn_and_function_keys_answer_nothing(run: Path) -> None:
    with terminal("label", run) as (process, person):
        person.reads("q quit")
        person.press(b"s\xea\xb0\x80rn")
        person.reads("3 labels")
        person.reads("q quit")
        person.press(b"\x1bOS")  # F4 in many terminals
        person.reads("q quit")
        person.press(b"q")
        assert process.wait(SECONDS) == 0
    assert told(run) == ["SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO"]


@pytest.mark.parametrize("key", [b"\x03", b"\x04"])
def test_an_interrupt_ends_as_quitting_does(run: Path, key: bytes) -> None:
    with terminal("label", run) as (process, person):
        person.reads("q quit")
        person.press(b"s")
        person.reads("1 label")
        person.reads("q quit")
        person.press(key)
        person.reads("next: hallumeter correct")
        assert process.wait(SECONDS) == 0
    assert told(run) == ["SUPPORTED"]


def test_lines_of_wide_letters_fit_into_a_narrow_terminal(tmp_path: Path) -> None:
    claim = "대한민국의 수도는 서울이고, 서울에는 한강이 흐르며 많은 사람이 산다."
    rows = [{**row, "text": claim, "evidence": claim * 9} for row in verdict_rows({"r1": "sr"})]
    run = run_of(tmp_path / "wide", rows).path
    with terminal("label", run, columns=40) as (_, person):
        shown = re.sub(r"\x1b\[[\d;]*m", "", person.reads("s supported"))
    assert max(cell_len(line) for line in shown.splitlines()) <= 40
    assert claim.split(maxsplit=1)[0] in shown
