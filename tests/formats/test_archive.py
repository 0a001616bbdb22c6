"""Archives of strangers: no member fills the memory, whatever the archive says of its size."""

from __future__ import annotations

import contextlib
import gzip
import io
import struct
import subprocess
import sys
import textwrap
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import InputError
from hallumeter.formats import jsonl
from hallumeter.formats.archive import Archive, MemberError
from hallumeter.formats.jsonl import read_whole

STORED, DEFLATED, ZSTD = 0, 8, 93


def zipped(*members: tuple[str, int, bytes, int, int], flags: int = 0) -> bytes:
    """An archive of members: name, method, packed bytes, the size that it states, the checksum that it states."""
    body, directory = bytearray(), bytearray()
    for name, method, packed, size, checksum in members:
        offset, encoded = len(body), name.encode()
        shared = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 0, checksum, len(packed), size, len(encoded), 0)
        body += b"PK\x03\x04" + shared + encoded + packed
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + shared
        directory += struct.pack("<HHHII", 0, 0, 0, 0, offset) + encoded
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)


def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


def zstd(content: bytes) -> bytes:
    packed: bytes = pytest.importorskip("backports.zstd").compress(content)
    return packed


def packed_as(method: int, content: bytes) -> bytes:
    if method == ZSTD:
        return zstd(content)
    return deflated(content) if method == DEFLATED else content


def honest(name: str, method: int, content: bytes) -> tuple[str, int, bytes, int, int]:
    return name, method, packed_as(method, content), len(content), zlib.crc32(content)


def opened(tmp_path: Path, content: bytes) -> Archive:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    return Archive(path)


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_members_are_read_as_they_were_written(tmp_path: Path, method: int) -> None:
    content = b"page " * 40_000
    with opened(tmp_path, zipped(honest("a.txt", method, content), honest("b/c.txt", method, b""))) as archive:
        assert archive.names == ["a.txt", "b/c.txt"]
        assert archive.read("a.txt") == content
        assert archive.read("b/c.txt") == b""
        assert archive.read("a.txt", most=len(content)) == content
        with pytest.raises(MemberError, match="larger than 199999 bytes"):
            archive.read("a.txt", most=len(content) - 1)


def test_what_python_writes_is_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("pages") if hasattr(archive, "mkdir") else archive.writestr("pages/", b"")
        archive.writestr("pages/é.txt", "é" * 1000)
    with opened(tmp_path, buffer.getvalue()) as archive_read:
        assert archive_read.names == ["pages/é.txt"]
        assert archive_read.read("pages/é.txt").decode() == "é" * 1000


@pytest.mark.parametrize("method", [DEFLATED, ZSTD])
@pytest.mark.parametrize("stated", [0, 10, 4000])
def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path, method: int, stated: int) -> None:
    content = b"\0" * 5000
    lie = ("a", method, packed_as(method, content), stated, zlib.crc32(content))
    with opened(tmp_path, zipped(lie)) as archive:
        with pytest.raises(MemberError, match="not what the archive says"):
            archive.read("a")
        with pytest.raises(MemberError, match="larger than 4999 bytes"):
            archive.read("a", most=4999)


@pytest.mark.parametrize(
    ("member", "flags", "said"),
    [
        (("a", DEFLATED, b"\xff\xff\xff", 3, 0), 0, "damaged"),
        (("a", ZSTD, b"no zstd at all", 3, 0), 0, "damaged"),
        (("a", 12, b"x", 1, 0), 0, r"a way that is not read \(12\)"),
        (("a", STORED, b"x", 1, 0), 0, "not what the archive says"),
        (("a", STORED, b"x", 1, 0), 1, "encrypted"),
        (("a", STORED, b"x", 1 << 30, 0), 0, "larger than 256 MiB"),
    ],
)
def test_a_member_that_cannot_be_read_says_why(
    tmp_path: Path, member: tuple[str, int, bytes, int, int], flags: int, said: str
) -> None:
    with opened(tmp_path, zipped(member, flags=flags)) as archive, pytest.raises(MemberError, match=said):
        archive.read("a")


def test_a_name_that_is_not_there_and_a_closed_archive_are_said(tmp_path: Path) -> None:
    with opened(tmp_path, zipped(honest("a", STORED, b"x"))) as archive, pytest.raises(MemberError, match="not in"):
        archive.read("b")
    with pytest.raises(ValueError, match="closed"):
        archive.read("a")


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    one = zipped(honest("a", STORED, b"x" * 100), honest("b", STORED, b"y" * 100))
    second = one.index(b"PK\x01\x02", one.index(b"PK\x01\x02") + 1)
    with pytest.raises(InputError, match="overlap"):
        opened(tmp_path, one[: second + 42] + struct.pack("<I", 0) + one[second + 46 :])


def test_a_header_that_is_not_there_is_damage(tmp_path: Path) -> None:
    whole = zipped(honest("a", STORED, b"x" * 100))
    with opened(tmp_path, b"XX" + whole[2:]) as archive, pytest.raises(MemberError, match="header"):
        archive.read("a")


@given(st.data())
def test_damaged_archives_are_refused_in_one_way(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = bytearray(zipped(honest("a", DEFLATED, b"text " * 50), honest("b", STORED, b"more")))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "a.zip"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole)
    # An archive is refused with one message, a member with another; nothing else is raised.
    with contextlib.suppress(InputError), Archive(path) as archive:
        for name in archive.names:
            with contextlib.suppress(MemberError):
                assert archive.read(name) in (b"text " * 50, b"more", b"")


# In a process of its own: the peak of this one is that of everything that ran before.
PEAK = """
    import resource, sys
    from pathlib import Path
    from hallumeter.formats.archive import Archive, MemberError
    from hallumeter.errors import InputError
    with Archive(Path(sys.argv[1])) as archive:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            archive.read("a", most=8 << 20)
        except MemberError as error:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


def zstd_bomb(size: int) -> bytes:
    """One frame of blocks that repeat a byte 128 KiB long, four bytes each."""
    block = 128 << 10
    blocks = size // block
    body = b"".join(
        ((block << 3) | (1 << 1) | (number == blocks - 1)).to_bytes(3, "little") + b"\0" for number in range(blocks)
    )
    return b"\x28\xb5\x2f\xfd" + bytes([0x00, 0x58]) + body


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux alone")
@pytest.mark.parametrize("method", [DEFLATED, ZSTD])
def test_a_bomb_takes_no_more_memory_than_the_cap_allows(tmp_path: Path, method: int) -> None:
    size = 2 << 30
    if method == ZSTD:
        packed = zstd_bomb(size)
    else:
        packer, zeros = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS), bytes(1 << 20)
        packed = b"".join(packer.compress(zeros) for _ in range(256)) + packer.flush()
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped(("a", method, packed, 100, 0)))
    assert len(packed) < 2 << 20
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PEAK), path], capture_output=True, text=True, check=True
    )
    kilobytes, said = done.stdout.strip().split(" ", 1)
    assert said == "larger than 8 MiB"
    assert int(kilobytes) < 64 << 10


@pytest.mark.parametrize("size", [100, 101])
def test_a_compressed_document_is_read_through_a_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(jsonl, "LARGEST_UNPACKED", 100)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b" " * size))
    if size > 100:
        with pytest.raises(InputError, match="holds more than"):
            read_whole(path)
    else:
        assert read_whole(path) == b" " * size
    plain = tmp_path / "a.json"
    plain.write_bytes(b" " * size)
    assert len(read_whole(plain)) == size
