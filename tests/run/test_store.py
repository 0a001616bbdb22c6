"""A store keeps what counts: of several attempts at a shard exactly one, on a disk and in object storage alike."""

from __future__ import annotations

import os
import pickle
import threading
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from hallumeter.errors import InputError, MissingExtraError
from hallumeter.run.shards import Receipt, Shard
from hallumeter.run.store import RunStore, attempt_name

SHARDS, ATTEMPTS = 16, 2


@pytest.fixture(params=["folder", "bucket"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A free place for a run, on the disk and in object storage."""
    if request.param == "folder":
        return str(tmp_path / "run")
    return f"{request.getfixturevalue('bucket')}/some/run"


def test_of_two_racing_attempts_for_each_of_16_shards_exactly_one_wins(location: str) -> None:
    won: list[Receipt] = []
    barrier = threading.Barrier(ATTEMPTS)

    def attempt() -> None:
        store = RunStore(location)
        for number in range(SHARDS):
            name = attempt_name()
            receipt = store.put(Shard(number, SHARDS), name, {"records": pa.table({"line": [name]})})
            barrier.wait()
            if store.commit(receipt):
                won.append(receipt)

    threads = [threading.Thread(target=attempt) for _ in range(ATTEMPTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = RunStore(location)
    assert Counter(receipt.shard for receipt in won) == dict.fromkeys(range(SHARDS), 1)
    committed = list(store.committed())
    assert {receipt.attempt for receipt in committed} == {receipt.attempt for receipt in won}
    assert all(receipt.won for receipt in committed)
    assert len(store.names("data/records")) == SHARDS * ATTEMPTS, "a list of files would count twice"
    store.close_commits()
    assert list(store.committed()) == committed


def test_a_file_is_written_whole_read_back_and_listed(location: str) -> None:
    store = pickle.loads(pickle.dumps(RunStore(location)))
    assert store.read("plan.json") is None
    assert store.size("plan.json") is None
    assert store.names("inputs") == []
    store.write("plan.json", b"first")
    store.write("plan.json", b"second")
    assert (store.read("plan.json"), store.size("plan.json")) == (b"second", 6)
    assert not store.write_once("plan.json", b"third")
    with store.opened("plan.json") as stream:
        assert stream.read() == b"second"
    with pytest.raises(InputError, match="missing or cannot be read"):
        store.opened("nothing.json")


def test_a_damaged_commit_is_named(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.write("commits/00003.json", b'{"shard":')
    with pytest.raises(InputError, match=r"commits/00003\.json: damaged"):
        list(store.committed())


def test_a_disk_without_hard_links_commits_once_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    store = RunStore(tmp_path)
    assert store.write_once("commits/00000.json", b"one")
    assert not store.write_once("commits/00000.json", b"two")
    assert store.read("commits/00000.json") == b"one"


def test_a_bucket_must_be_named_and_must_exist(bucket: str) -> None:
    with pytest.raises(InputError, match="names no bucket"):
        RunStore("s3://").read("plan.json")
    with pytest.raises(InputError, match="NoSuchBucket"):
        RunStore(f"{bucket}-not-there/run").write("plan.json", b"")


@pytest.mark.parametrize(("package", "place"), [("pyarrow", "run"), ("boto3", "s3://bucket/run")])
def test_a_missing_package_is_said_in_one_line(package: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[cluster\]'"):
        RunStore(place).read("plan.json")


def test_a_server_that_ignores_conditions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RunStore(tmp_path)
    store.check_commits()
    store.check_commits()
    assert list(store.committed()) == []
    monkeypatch.setattr(store, "write_once", lambda *_: True)
    with pytest.raises(InputError, match="ignores conditional writes"):
        store.check_commits()
