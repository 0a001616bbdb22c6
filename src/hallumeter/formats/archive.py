"""Zip archives of strangers: members are read through a cap, never by the size that the archive states.

`zipfile` finds the members, but does not read them: it unpacks whatever one block of zstd, bzip2 or LZMA holds at once,
and a block of a few kilobytes can hold gigabytes.
"""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeAlias

from hallumeter.errors import InputError, MissingExtraError

LARGEST_MEMBER = 256 << 20
"""A larger member is hardly one record or one page, and must not fill the memory."""
_CHUNK = 1 << 16
_LOCAL_HEADER = 30
_ENCRYPTED = 0x1
_ZSTD = 93
_WIDEST_WINDOW = 25
"""Binary logarithm of the bytes that a zstd stream may ask its reader to keep; usual levels ask for 8 MiB."""


class MemberError(ValueError):
    """A member of an archive cannot be read; the message says why, without a name."""


_Unpack: TypeAlias = Callable[[bytes, int], bytes]
"""Unpacks a stream piece by piece, never more at once than it is asked for."""


class Archive:
    """The members of a zip archive; stored, deflated and zstd ones can be read.

    Example:
        with Archive(path) as archive:
            for name in archive.names:
                content = archive.read(name)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError) as error:
            raise InputError(f"{path.name}: a damaged archive ({error}); copy it once more") from error
        self._members = {info.filename: info for info in self._archive.infolist() if not info.filename.endswith("/")}
        places = sorted((info.header_offset, info.compress_size) for info in self._archive.infolist())
        if any(start + _LOCAL_HEADER + size > following for (start, size), (following, _) in pairwise(places)):
            self._archive.close()
            raise InputError(f"{path.name}: a damaged archive (its members overlap); copy it once more")

    @property
    def names(self) -> list[str]:
        """The members in the order of the archive, folders left out.

        A name is text of a stranger: never join it to a path that is written to.
        """
        return list(self._members)

    def read(self, name: str, *, most: int = LARGEST_MEMBER) -> bytearray:
        """What a member holds.

        Raises:
            MemberError: There is no such member, it holds more than `most` bytes, or it is damaged.
            MissingExtraError: It is compressed by zstd, which is not installed.
        """
        info = self._members.get(name)
        if info is None:
            raise MemberError("not in the archive")
        if info.flag_bits & _ENCRYPTED:
            raise MemberError("encrypted")
        if info.file_size > most:
            raise MemberError(_too_large(most))
        unpack, damage = _unpacker(info.compress_type, self._path.name)
        content = bytearray()
        try:
            for packed in self._packed(info):
                content += unpack(packed, most + 1 - len(content))
                if len(content) > most:
                    raise MemberError(_too_large(most))
        except damage as error:
            raise MemberError(f"damaged ({error})") from error
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise MemberError("damaged (its content is not what the archive says of it)")
        return content

    def _packed(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The bytes of a member as they lie in the file."""
        stream: IO[bytes] | None = self._archive.fp
        if stream is None:
            raise ValueError("the archive is closed")
        stream.seek(info.header_offset)
        head = stream.read(_LOCAL_HEADER)
        if len(head) < _LOCAL_HEADER or head[:4] != b"PK\x03\x04":
            raise MemberError("damaged (its header is not where the archive says)")
        stream.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        left = info.compress_size
        while left > 0 and (packed := stream.read(min(_CHUNK, left))):
            left -= len(packed)
            yield packed

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()


def _too_large(most: int) -> str:
    return f"larger than {most >> 20} MiB" if most >= 1 << 20 else f"larger than {most} bytes"


def _unpacker(method: int, name: str) -> tuple[_Unpack, tuple[type[Exception], ...]]:
    """How to unpack a member, and what damaged bytes raise."""
    if method == zipfile.ZIP_STORED:
        return _stored, (OSError,)
    if method == zipfile.ZIP_DEFLATED:
        inflated = zlib.decompressobj(-zlib.MAX_WBITS)
        return inflated.decompress, (zlib.error, OSError)
    if method != _ZSTD:
        raise MemberError(f"compressed in a way that is not read ({method}); save it with deflate or zstd")
    zstd = _zstd_module(name)
    options = {zstd.DecompressionParameter.window_log_max: _WIDEST_WINDOW}
    stream = zstd.ZstdDecompressor(options=options)
    return lambda packed, most: b"" if stream.eof else bytes(stream.decompress(packed, most)), (zstd.ZstdError, OSError)


def _stored(packed: bytes, _: int) -> bytes:
    return packed


def _zstd_module(name: str) -> Any:
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError as error:
        raise MissingExtraError("zstd", f"{name}: reading members compressed by zstd") from error
