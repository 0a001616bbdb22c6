"""The verdict cache: it finds what was kept, and no state of its file ever stops the work."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hallumeter.run import verdict_cache
from hallumeter.run.verdict_cache import VerdictCache, cache_folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept here" / "verdicts.sqlite"


def key(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()


def rows(count: int) -> dict[bytes, bytes]:
    return {key(number): b"verdict %d" % number for number in range(count)}


def filled(path: Path, count: int = 1000) -> Path:
    with VerdictCache(path) as cache:
        cache.put_many(rows(count).items())
    return path


def test_what_was_kept_is_found_and_nothing_else(path: Path) -> None:
    with VerdictCache(filled(path)) as cache:
        assert cache.get_many([key(number) for number in range(500, 1500)]) == {
            key(number): b"verdict %d" % number for number in range(500, 1000)
        }
        assert len(cache) == 1000
        assert cache.trouble is None
        assert cache.is_on


@pytest.mark.parametrize("count", [0, 1, 2, 16, 17, 255, 256, 257, 600])
def test_any_number_of_keys_may_be_asked_for(path: Path, count: int) -> None:
    with VerdictCache(filled(path)) as cache:
        assert cache.get_many(list(rows(count))) == rows(count)
        assert cache.get_many([key(3)] * count) == ({key(3): b"verdict 3"} if count else {})


def test_a_later_verdict_replaces_an_earlier_one_and_none_is_no_trouble(path: Path) -> None:
    with VerdictCache(path) as cache:
        cache.put_many([])
        cache.put_many([(b"k", b"1"), (b"k", b"2")])
        cache.put_many([(b"k", b"3")])
        assert cache.get_many([b"k"]) == {b"k": b"3"}
        assert len(cache) == 1


def test_an_empty_cache_counts_as_a_cache(path: Path) -> None:
    with VerdictCache(path) as cache:
        assert cache
        assert len(cache) == 0


def test_clear_forgets_everything_and_gives_the_space_back(path: Path) -> None:
    with VerdictCache(path) as cache:
        cache.put_many((key(number), bytes(1000)) for number in range(2000))
        assert cache.size_bytes > 2_000_000
        cache.clear()
        assert (len(cache), cache.trouble) == (0, None)
        assert cache.size_bytes < 200_000
        cache.put_many(rows(3).items())
        assert cache.get_many(list(rows(3))) == rows(3)


def test_a_closed_cache_finds_nothing_and_keeps_nothing(path: Path) -> None:
    cache = VerdictCache(filled(path))
    cache.close()
    cache.close()
    cache.put_many([(b"k", b"1")])
    cache.clear()
    assert (cache.get_many([key(0)]), len(cache), cache.is_on, cache.trouble) == ({}, 0, False, None)
    with VerdictCache(path) as again:
        assert len(again) == 1000


def test_several_processes_fill_one_cache_from_its_first_moment_on(path: Path) -> None:
    program = """
import sys
from pathlib import Path
from hallumeter.run.verdict_cache import VerdictCache
with VerdictCache(Path(sys.argv[1])) as cache:
    for batch in range(40):
        cache.put_many((f"{sys.argv[2]} {batch} {n}".encode(), b"v" * 300) for n in range(25))
        cache.get_many([b"nothing"])
    print(cache.trouble, flush=True)
"""
    writers = [
        subprocess.Popen([sys.executable, "-c", program, path, name], stdout=subprocess.PIPE, text=True)
        for name in "abcd"
    ]
    assert [writer.communicate(timeout=30)[0] for writer in writers] == ["None\n"] * 4
    with VerdictCache(path) as cache:
        assert len(cache) == 4 * 40 * 25


def test_a_file_that_is_no_database_is_set_aside_and_a_fresh_one_begun(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"broken " * 1000)
    with VerdictCache(path) as cache:
        assert cache.is_on
        assert "set aside as verdicts.sqlite.damaged" in str(cache.trouble)
        cache.put_many(rows(3).items())
        assert cache.get_many(list(rows(3))) == rows(3)
    assert path.with_name("verdicts.sqlite.damaged").read_bytes() == b"broken " * 1000
    with VerdictCache(path) as cache:
        assert (len(cache), cache.trouble) == (3, None)


def test_damage_met_in_the_middle_of_the_work_is_set_aside_and_the_work_goes_on(path: Path) -> None:
    content = filled(path, 5000).read_bytes()
    path.write_bytes(content[:8192] + b"\xa5" * (len(content) - 8192))
    with VerdictCache(path) as cache:
        assert cache.trouble is None
        assert cache.get_many(list(rows(5000))) == {}
        assert "set aside" in str(cache.trouble)
        cache.put_many(rows(5).items())
        assert cache.get_many(list(rows(5000))) == rows(5)
    assert path.with_name("verdicts.sqlite.damaged").stat().st_size == len(content)


def test_a_second_damage_in_one_run_switches_the_cache_off(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"broken " * 1000)
    with VerdictCache(path) as cache:
        cache._react(sqlite3.DatabaseError("again"))
        assert not cache.is_on
        assert "the verdict cache is off" in str(cache.trouble)


def test_a_fresh_cache_of_another_process_is_not_set_aside_with_the_damaged_one(path: Path) -> None:
    with VerdictCache(filled(path)) as first:
        path.replace(path.with_name("elsewhere.sqlite"))
        filled(path, 7)
        fault = sqlite3.DatabaseError("malformed")
        fault.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        first._react(fault)
        assert len(first) == 7
    assert not path.with_name("verdicts.sqlite.damaged").exists()


def test_a_newer_file_switches_the_cache_off_and_stays(path: Path) -> None:
    with sqlite3.connect(filled(path)) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with VerdictCache(path) as cache:
        cache.put_many([(b"k", b"1")])
        assert (cache.get_many([key(0)]), cache.is_on) == ({}, False)
        assert "off: " in str(cache.trouble)
        assert "newer hallumeter" in str(cache.trouble)
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM verdict").fetchone() == (1000,)
    database.close()


def test_a_file_locked_for_too_long_switches_the_cache_off(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_cache, "_LOCK_SECONDS", 0.1)
    other = sqlite3.connect(filled(path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with VerdictCache(path) as cache:
        assert cache.get_many([key(1)]) == {key(1): b"verdict 1"}  # who writes does not disturb who reads
        cache.put_many([(b"k", b"1")])
        assert not cache.is_on
        assert "locked" in str(cache.trouble)
        assert cache.get_many([key(1)]) == {}
    other.close()


def test_a_lock_that_ends_in_time_is_waited_for(path: Path) -> None:
    program = """
import sqlite3, sys, time
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(0.3)
other.execute("COMMIT")
"""
    with subprocess.Popen([sys.executable, "-c", program, filled(path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with VerdictCache(path) as cache:
            cache.put_many([(b"k", b"1")])
            assert (cache.trouble, cache.get_many([b"k"])) == (None, {b"k": b"1"})


def test_a_full_disk_switches_the_cache_off_and_what_was_kept_before_stays(path: Path) -> None:
    with VerdictCache(filled(path)) as cache:
        assert cache._database is not None
        cache._database.execute("PRAGMA max_page_count = 40")  # SQLite answers as it does on a full disk
        cache.put_many((b"%d" % number, bytes(10_000)) for number in range(100))
        assert not cache.is_on
        assert "full" in str(cache.trouble)
    with VerdictCache(path) as cache:
        assert len(cache) == 1000


def test_a_place_that_cannot_be_written_switches_the_cache_off(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "folder.sqlite").mkdir()
    for path in (tmp_path / "file" / "verdicts.sqlite", tmp_path / "folder.sqlite"):
        with VerdictCache(path) as cache:
            cache.put_many([(b"k", b"1")])
            assert (cache.get_many([b"k"]), cache.is_on, cache.size_bytes >= 0) == ({}, False, True)
            assert "the verdict cache is off" in str(cache.trouble)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_the_right_to_write_switches_the_cache_off(path: Path) -> None:
    filled(path).parent.chmod(0o500)
    path.chmod(0o400)
    try:
        with VerdictCache(path) as cache:
            cache.put_many([(b"k", b"1")])
            assert cache.get_many([b"k"]) == {}
            assert not cache.is_on
    finally:
        path.parent.chmod(0o700)


def test_the_fault_of_a_caller_is_told_to_the_caller(path: Path) -> None:
    with VerdictCache(path) as cache:
        with pytest.raises(sqlite3.IntegrityError):
            cache.put_many([(b"good", b"1"), ("text", b"1")])  # type: ignore[list-item]
        with pytest.raises(ZeroDivisionError):
            cache.put_many((b"k", b"%d" % (1 // number)) for number in (1, 0))
        assert (len(cache), cache.is_on, cache.trouble) == (0, True, None)


def test_the_cache_lies_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLUMETER_CACHE", str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / "chosen"
    with VerdictCache() as cache:
        assert cache.path == tmp_path / "chosen" / "verdicts.sqlite"
        assert cache.path.exists()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/hallumeter"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/someone/.cache/hallumeter"),
        ("linux", {}, "/home/someone/.cache/hallumeter"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "/home/someone/Library/Caches/hallumeter"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/hallumeter/cache"),
        ("win32", {}, "/home/someone/AppData/Local/hallumeter/cache"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the paths are written as elsewhere")
def test_without_a_choice_the_cache_lies_where_the_system_keeps_such_things(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HALLUMETER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/someone", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(expected)
