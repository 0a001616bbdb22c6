"""Where a sharded run is kept: a folder or `s3://bucket/prefix`, through pyarrow; needs the extra ``cluster``.

    plan.json            what is to be done, written when the input has been split
    inputs/part-00000…   the rows of each shard
    data/TABLE/00000-ATTEMPT.parquet    what one attempt at a shard wrote
    commits/00000.json   the receipt of the attempt that counts, written once: whoever comes second has lost
    commits.json         all receipts, summary.json, manifest.json, report.html: written when every shard is committed

Readers go by the commits. A list of the files under `data/` would count work twice that was done twice.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import structs

from hallumeter.errors import InputError, MissingExtraError

from .shards import Receipt, Shard

if TYPE_CHECKING:
    import pyarrow as pa

S3 = "s3://"
COMMITS = "commits.json"
_COMMIT = "commits/{:05d}.json"
_PROBE = "commits/probe"
_DIGEST_BYTES = 32
_ROW_GROUP = 4096
"""Few rows, so that one record is read without many others."""


def is_remote(location: str | os.PathLike[str]) -> bool:
    """Whether a place is in object storage.

    >>> is_remote("s3://bucket/run"), is_remote("run")
    (True, False)
    """
    return str(location).startswith(S3)


def pyarrow_module(name: str = "pyarrow") -> Any:
    """A module of pyarrow, or one clear line."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError("cluster", "a sharded run") from error


class RunStore:
    """The files of one run; pickled, it is its location alone. Credentials are never kept."""

    def __init__(self, location: str | os.PathLike[str], *, is_patient: bool = False) -> None:
        """A patient one waits for a server from the start, else once it has answered."""
        self._is_patient = is_patient
        self.location = str(location) if is_remote(location) else os.path.abspath(location)  # noqa: PTH100 (a link stays)
        _ = self._files  # a missing package is said at once

    def __reduce__(self) -> tuple[type[RunStore], tuple[str]]:
        return RunStore, (self.location,)

    def __repr__(self) -> str:
        return f"RunStore({self.location!r})"

    @cached_property
    def _files(self) -> _Folder | _Bucket:
        pyarrow_module()
        return (
            _Bucket(self.location, is_patient=self._is_patient)
            if is_remote(self.location)
            else _Folder(Path(self.location))
        )

    # Single files.

    def read(self, name: str) -> bytes | None:
        """A file; None when there is none."""
        return self._files.read(name)

    def write(self, name: str, body: bytes) -> None:
        """Write a file, in place of one that is there."""
        self._files.write(name, body)

    def write_once(self, name: str, body: bytes) -> bool:
        """Write a file unless it is there; of several that try at once exactly one is told True."""
        return self._files.write_once(name, body)

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, sorted."""
        return sorted(self._files.names(folder))

    def size(self, name: str) -> int | None:
        """Bytes of a file; None when there is none."""
        return self._files.size(name)

    def opened(self, name: str) -> Any:
        """A file to read from, which can be gone about in."""
        try:
            return self._files.opened(name)
        except OSError as error:
            raise InputError(f"{self.location}/{name}: missing or cannot be read; make the run again") from error

    # Shards.

    def put(
        self, shard: Shard, attempt: str, tables: Mapping[str, pa.Table], *, others: Mapping[str, bytes] | None = None
    ) -> Receipt:
        """Write what an attempt at a shard has made; it counts when it is committed."""
        files, digests = [], []
        for name, table in tables.items():
            files.append((name, f"data/{name}/{shard.number:05d}-{attempt}.parquet"))
            body = _parquet(table)
            digests.append(self._put(files[-1][1], body))
        for name, plain in (others or {}).items():
            files.append((name, f"data/{name}/{shard.number:05d}-{attempt}"))
            digests.append(self._put(files[-1][1], plain))
        return Receipt(shard.number, attempt, tuple(files), tuple(digests), 0, 0.0, won=False)

    def _put(self, name: str, body: Any) -> str:
        self._files.write(name, body)
        return digest_of(body)

    def check_commits(self) -> None:
        """Refuse a place that would let two attempts at a shard count.

        Raises:
            InputError: It writes over what is there, though it was asked not to.
        """
        for _ in range(2):
            is_written = self.write_once(_PROBE, attempt_name().encode())
        if is_written:
            raise InputError(
                f"{self.location}: the server ignores conditional writes (If-None-Match), so that work done "
                "twice would count twice; use another server"
            )

    def commit(self, receipt: Receipt) -> bool:
        """Make an attempt count; False when another one does already."""
        body = msgspec.json.encode(structs.replace(receipt, won=True))
        return self.write_once(_COMMIT.format(receipt.shard), body)

    def commit_of(self, shard: int) -> Receipt | None:
        """The receipt that counts for a shard; None when nobody has committed one."""
        body = self.read(_COMMIT.format(shard))
        return None if body is None else _decoded(body, Receipt, f"{self.location}/{_COMMIT.format(shard)}")

    def committed(self) -> Iterator[Receipt]:
        """The receipts that count, in the order of their shards."""
        whole = self.read(COMMITS)
        if whole is not None:
            yield from _decoded(whole, list[Receipt], f"{self.location}/{COMMITS}")
            return
        for name in self.names("commits"):
            if name.endswith(".json") and name[:-5].isdecimal():
                found = self.commit_of(int(name[:-5]))
                if found is not None:
                    yield found

    def close_commits(self) -> None:
        """Keep all receipts in one file, so that a reader asks once."""
        self.write(COMMITS, msgspec.json.encode(list(self.committed())))


def digest_of(body: Any) -> str:
    """The BLAKE2 digest of bytes."""
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES).hexdigest()


def attempt_name() -> str:
    """A name that no other attempt has."""
    return secrets.token_hex(6)


def _decoded(body: bytes, kind: Any, where: str) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: damaged ({error}); remove it, and give the command again with --resume") from error


def _parquet(table: pa.Table) -> pa.Buffer:
    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module()
    sink = arrow.BufferOutputStream()
    parquet.write_table(table, sink, row_group_size=_ROW_GROUP, compression="zstd")
    return sink.getvalue()


class _Folder:
    """Files below a local folder. A commit is a hard link: the system lets one of several succeed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, body: Any) -> None:
        target = self._root / name
        draft = self._draft(target, body)
        draft.replace(target)

    def write_once(self, name: str, body: bytes) -> bool:
        target = self._root / name
        draft = self._draft(target, body)
        try:
            os.link(draft, target)
        except FileExistsError:
            return False
        except OSError:  # a disk without hard links
            return _created(target, body)
        finally:
            draft.unlink(missing_ok=True)
        return True

    def names(self, folder: str) -> list[str]:
        try:
            return [entry.name for entry in (self._root / folder).iterdir() if not entry.name.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def size(self, name: str) -> int | None:
        try:
            return (self._root / name).stat().st_size
        except OSError:
            return None

    def opened(self, name: str) -> Any:
        return pyarrow_module().memory_map(str(self._root / name))

    @staticmethod
    def _draft(target: Path, body: Any) -> Path:
        """The bytes on the disk, under a name that nobody reads."""
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        with draft.open("wb") as stream:
            stream.write(body)
            stream.flush()
            os.fsync(stream.fileno())
        return draft


def _created(target: Path, body: bytes) -> bool:
    try:
        with target.open("xb") as stream:
            stream.write(body)
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return False
    return True


_PRECONDITION_FAILED, _CONFLICT = "PreconditionFailed", "ConditionalRequestConflict"
_TRIES = 5
_PATIENCE_SECONDS = 60.0
_FIRST_DELAY_SECONDS, _LONGEST_DELAY_SECONDS = 0.2, 5.0
_SERVER_FAULT = 500
_BUFFER_BYTES = 1 << 20

_Answer = TypeVar("_Answer")


class _Bucket:
    """Files below a prefix of an S3 bucket.

    Keys and endpoint come from the environment or the AWS configuration (AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for
    other servers). boto3 does it all: pyarrow's client cannot write under a condition, and a server that goes away in
    the middle of a file ends its read.
    """

    def __init__(self, location: str, *, is_patient: bool) -> None:
        self._bucket, _, prefix = location.removeprefix(S3).strip("/").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._is_patient = is_patient
        if not self._bucket:
            raise InputError(f"{location}: names no bucket; expected s3://BUCKET/RUN")

    @cached_property
    def _client(self) -> Any:
        try:
            boto3 = import_module("boto3")
        except ImportError as error:
            raise MissingExtraError("cluster", "a run on S3") from error
        return boto3.session.Session().client("s3")

    def read(self, name: str) -> bytes | None:
        def work() -> bytes:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"].read()
            return body

        return self._asked(name, work, {"NoSuchKey": None, "404": None})

    def read_range(self, name: str, start: int, size: int) -> bytes:
        def work() -> bytes:
            where = {"Bucket": self._bucket, "Key": self._prefix + name, "Range": f"bytes={start}-{start + size - 1}"}
            body: bytes = self._client.get_object(**where)["Body"].read()
            return body

        return self._asked(name, work) or b""

    def write(self, name: str, body: Any) -> None:
        self._send(name, bytes(body))

    def write_once(self, name: str, body: bytes) -> bool:
        for _ in range(_TRIES):
            done = self._send(name, body, IfNoneMatch="*")
            if done is not None:
                # What is there may be this very file: the connection was lost before the server's answer came.
                return done or self.read(name) == body
        raise InputError(f"{S3}{self._bucket}/{self._prefix}{name}: several writers block each other; try again")

    def _send(self, name: str, body: bytes, **condition: str) -> bool | None:
        """Put an object; False when the condition does not hold, None when the server asks to try again."""

        def work() -> bool:
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + name, Body=body, **condition)
            return True

        return self._asked(name, work, {_PRECONDITION_FAILED: False, "412": False, _CONFLICT: None, "409": None})

    def names(self, folder: str) -> list[str]:
        prefix = f"{self._prefix}{folder}/"

        def work() -> list[str]:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            return [entry["Key"] for page in pages for entry in page.get("Contents", ())]

        return [key.removeprefix(prefix) for key in self._asked(folder, work) or ()]

    def size(self, name: str) -> int | None:
        def work() -> int:
            return int(self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)["ContentLength"])

        return self._asked(name, work, {"NoSuchKey": None, "404": None})

    def opened(self, name: str) -> Any:
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return pyarrow_module().PythonFile(io.BufferedReader(_Object(self, name, size), _BUFFER_BYTES), mode="r")

    def _asked(
        self, name: str, work: Callable[[], _Answer], known: Mapping[str, _Answer | None] | None = None
    ) -> _Answer | None:
        """What the server answers, or what one of its known refusals means; while it is away it is asked again.

        A server that has never answered is given up at once: its address may be wrong.
        """
        refusal = self._client.exceptions.ClientError
        errors: Any = import_module("botocore.exceptions")
        deadline, delay = time.monotonic() + _PATIENCE_SECONDS, _FIRST_DELAY_SECONDS
        while True:
            try:
                answer: _Answer | None = work()
            except (refusal, errors.BotoCoreError) as error:
                if known and _code(error) in known:
                    answer = known[_code(error)]
                else:
                    is_last = not self._is_patient or time.monotonic() + delay > deadline
                    if is_last or not _is_away(error, errors):
                        raise InputError(f"{S3}{self._bucket}/{self._prefix}{name}: {error}") from error
                    time.sleep(delay)
                    delay = min(2 * delay, _LONGEST_DELAY_SECONDS)
                    continue
            self._is_patient = True
            return answer


class _Object(io.RawIOBase):
    """A file of a bucket, read in ranges; a range that a lost connection cuts off is asked for again."""

    def __init__(self, files: _Bucket, name: str, size: int) -> None:
        self._files, self._name, self._size, self._at = files, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self._size - self._at)
        if size <= 0:
            return 0
        body = self._files.read_range(self._name, self._at, size)
        buffer[: len(body)] = body
        self._at += len(body)
        return len(body)


def _code(error: Any) -> str:
    """The server's name for a refusal; nothing where there was no answer."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def _is_away(error: Any, errors: Any) -> bool:
    """Whether the same question may be answered later: nobody answers, or only that something broke."""
    if isinstance(error, (errors.ConnectionError, errors.HTTPClientError, errors.IncompleteReadError)):
        return True
    status = getattr(error, "response", {}).get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return bool(status >= _SERVER_FAULT)
