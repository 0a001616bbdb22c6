"""The run journal: what was committed is there, whatever happened to the process."""

from __future__ import annotations

import functools
import os
import platform
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hallumeter.errors import InputError
from hallumeter.run.journal import Done, Entry, Journal
from hallumeter.run.progress import PROGRESS, ProgressFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def verdicts(count: int, *, step: str = "verdict") -> list[Entry]:
    """Three parts for each record."""
    return [Entry(step, number // 3, number % 3, b"%d" % number) for number in range(count)]


def test_settings_notes_and_entries_come_back_from_another_opening(path: Path) -> None:
    rows = verdicts(700)
    with Journal.create(path, settings=b'{"seed":0}') as journal:
        journal.note("read", b"1")
        journal.note("read", b"\x00\xff")
        journal.add(random.Random(0).sample(rows, len(rows)))
        journal.add([Entry("claims", 5, 0, b"other step")])
    with Journal.resume(path) as journal:
        assert journal.settings == b'{"seed":0}'
        assert journal.noted("read") == b"\x00\xff"
        assert journal.noted("never") is None
        assert list(journal.entries("verdict")) == rows
        assert list(journal.entries("verdict", after=231)) == rows[3 * 232 :]
        assert journal.of_record("verdict", 7) == rows[21:24]
        assert (journal.count("verdict"), journal.count("claims"), journal.count("never")) == (700, 1, 0)
        assert list(journal.entries("never")) == journal.of_record("never", 0) == []


def test_done_knows_exactly_the_places_that_are_filled(path: Path) -> None:
    with Journal.create(path, settings=b"") as journal:
        places = [(0, 0), (0, 2), (1, (1 << 24) - 1), (2, 0), ((1 << 39) - 1, 5)]
        journal.add(Entry("s", record, part, b"") for record, part in places)
        done = journal.done("s")
        journal.add([Entry("s", 9, 9, b"later")])
    assert [place in done for place in places] == [True] * 5
    assert [place in done for place in [(0, 1), (1, 0), (2, 1), (9, 9), (1, 16777214)]] == [False] * 5
    assert len(done) == 5
    assert len(Done([])) == 0
    assert (0, 0) not in Done([])


@pytest.mark.parametrize(("record", "part"), [(-1, 0), (0, -1), (0, 1 << 24), (1 << 39, 0)])
def test_a_place_that_does_not_fit_is_a_fault_of_the_caller_and_nothing_is_kept(
    path: Path, record: int, part: int
) -> None:
    with Journal.create(path, settings=b"") as journal:
        with pytest.raises(sqlite3.IntegrityError):
            journal.add([Entry("s", 0, 0, b"good"), Entry("s", record, part, b"bad")])
        assert journal.count("s") == 0


def test_an_entry_at_the_same_place_replaces_the_earlier_one(path: Path) -> None:
    with Journal.create(path, settings=b"") as journal:
        journal.add([Entry("s", 0, 0, b"failed"), Entry("s", 0, 0, b"again")])
        journal.add([Entry("s", 0, 0, b"done")])
        assert list(journal.entries("s")) == [Entry("s", 0, 0, b"done")]


def test_entries_are_added_all_or_none_and_a_step_named_first_in_them_is_forgotten_too(path: Path) -> None:
    def broken() -> Iterator[Entry]:
        yield Entry("fresh", 0, 0, b"1")
        raise KeyboardInterrupt

    with Journal.create(path, settings=b"") as journal:
        with pytest.raises(KeyboardInterrupt):
            journal.add(broken())
        assert journal.count("fresh") == 0
        journal.add([Entry("another", 1, 0, b"2")])
        journal.add([Entry("fresh", 2, 0, b"3")])
    with Journal.resume(path) as journal:
        assert list(journal.entries("another")) == [Entry("another", 1, 0, b"2")]
        assert list(journal.entries("fresh")) == [Entry("fresh", 2, 0, b"3")]


def test_entries_may_be_added_while_others_are_read(path: Path) -> None:
    with Journal.create(path, settings=b"") as journal:
        journal.add(verdicts(1500, step="claims"))
        seen = []
        for entry in journal.entries("claims"):
            seen.append(entry)
            journal.add([entry._replace(step="verdict"), entry])
        assert seen == verdicts(1500, step="claims")
        assert journal.count("verdict") == 1500


def test_a_journal_is_removed_with_all_its_files(path: Path) -> None:
    journal = Journal.create(path, settings=b"")
    journal.add(verdicts(10))
    journal.remove()
    assert list(path.parent.iterdir()) == []


WRITER = """
import sys
from pathlib import Path
from hallumeter.run.journal import Entry, Journal
path = Path(sys.argv[1])
journal = Journal.resume(path) if path.exists() else Journal.create(path, settings=b"of the child")
start = journal.count("verdict")
print("open", flush=True)
for batch in range(start // 7, 10**9):
    journal.add(Entry("verdict", batch, part, b"x" * 2000) for part in range(7))
    print(batch, flush=True)
"""


def started_writer(path: Path) -> subprocess.Popen[str]:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    return writer


@pytest.mark.long
def test_everything_committed_survives_kill_9_at_any_moment(path: Path) -> None:
    chance = random.Random(1)
    committed = -1
    for _ in range(6):
        writer = started_writer(path)
        time.sleep(chance.uniform(0, 0.25))
        writer.kill()
        said = writer.communicate()[0].split()
        committed = int(said[-1]) if said else committed
        with Journal.resume(path) as journal:
            assert journal.settings == b"of the child"
            done = journal.done("verdict")
        # A batch is there whole or not at all; the last one may have been committed before it could be said.
        assert len(done) in (7 * (committed + 1), 7 * (committed + 2))
        assert all((batch, part) in done for batch in range(committed + 1) for part in range(7))
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()
    assert committed > 0


def test_a_run_that_another_process_works_on_is_refused_until_that_process_is_gone(path: Path) -> None:
    writer = started_writer(path)
    try:
        for attempt in (Journal.resume, functools.partial(Journal.create, settings=b"")):
            with pytest.raises(InputError, match="another hallumeter works on this run"):
                attempt(path)
        ProgressFile(path.with_name(PROGRESS), instrument="audit").write("judging", done=1, total=2)
        with pytest.raises(InputError, match=rf"\(process {os.getpid()} on {re.escape(platform.node())}\); wait"):
            Journal.resume(path)
    finally:
        writer.kill()
        writer.communicate()
    if sys.platform != "win32":
        assert writer.returncode == -signal.SIGKILL
    Journal.resume(path).close()


def test_a_run_is_not_begun_twice(path: Path) -> None:
    Journal.create(path, settings=b"first").close()
    with pytest.raises(InputError, match="holds a run already; resume it"):
        Journal.create(path, settings=b"second")
    with Journal.resume(path) as journal:
        assert journal.settings == b"first"


def test_a_journal_that_was_killed_before_it_had_begun_cannot_be_resumed_but_begun_again(path: Path) -> None:
    path.touch()
    with pytest.raises(InputError, match="ended before it had begun"):
        Journal.resume(path)
    with Journal.create(path, settings=b"now") as journal:
        assert journal.settings == b"now"


def test_there_is_nothing_to_resume_where_there_is_no_journal(path: Path) -> None:
    with pytest.raises(InputError, match="no run to resume"):
        Journal.resume(path)
    assert not path.exists()
    with pytest.raises(InputError, match="cannot be written"):
        Journal.create(path.parent / "missing" / "journal.sqlite", settings=b"")


def test_a_journal_of_a_newer_version_is_refused(path: Path) -> None:
    Journal.create(path, settings=b"").close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(InputError, match=r"written by a newer hallumeter \(version 99 .*update hallumeter"):
        Journal.resume(path)


def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"not a database " * 100)
    for attempt in (Journal.resume, functools.partial(Journal.create, settings=b"")):
        with pytest.raises(InputError, match="damaged"):
            attempt(path)
    assert path.read_bytes() == b"not a database " * 100


def test_damage_inside_the_file_is_told_when_it_is_met(path: Path) -> None:
    with Journal.create(path, settings=b"") as journal:
        journal.add(Entry("s", number, 0, bytes(1000)) for number in range(1000))
    whole = path.read_bytes()
    path.write_bytes(whole[: 6 * 16384] + b"\xa5" * (len(whole) - 7 * 16384) + whole[-16384:])
    with Journal.resume(path) as journal, pytest.raises(InputError, match=r"damaged .*start the run again"):
        list(journal.entries("s"))


def test_a_full_disk_is_told_and_what_was_kept_before_stays(path: Path) -> None:
    with Journal.create(path, settings=b"") as journal:
        journal.add(verdicts(3))
        journal._database.execute("PRAGMA max_page_count = 12")  # SQLite answers as it does on a full disk
        with pytest.raises(InputError, match="the disk is full; make room and resume"):
            journal.add(Entry("s", number, 0, bytes(10_000)) for number in range(100))
        assert list(journal.entries("verdict")) == verdicts(3)
        assert journal.count("s") == 0
