"""Files too large for memory: their rows are sorted by response into parts on disk, which are measured one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from hallumeter.claims.settings import MeasureSettings
from hallumeter.formats.batch import Batch, Fault, expanded

from .table import hashes

PART_BYTES = 96 << 20
"""Input that is measured at a time: about 650,000 verdicts of 150 bytes, which take some 100 MB of memory."""
_WHOLE = 2
"""Input of up to so many parts is measured at once."""
_COMPRESSED = 8
"""How many times larger a compressed file is once it is read."""
_PLAIN = (".jsonl", ".json", ".csv", ".tsv", ".ndjson")


def parts_for(paths: Iterable[Path], settings: MeasureSettings) -> int:
    """In how many parts files are measured; 1 where they fit, or where something needs all rows at once."""
    found = list(paths)
    if settings.cluster != "response" or settings.consensus != "majority" or settings.is_strict:
        return 1
    if not all(path.is_file() for path in found):
        return 1  # standard input, or a pipe, which is read once
    size = sum(path.stat().st_size * (1 if path.suffix in _PLAIN else _COMPRESSED) for path in found)
    return -(-size // PART_BYTES) if size > _WHOLE * PART_BYTES else 1


class _Rows(msgspec.Struct, array_like=True):
    """Some rows of a source."""

    source: int
    columns: dict[str, list[Any]]
    lines: list[int]
    faults: tuple[Fault, ...] = ()
    aliases: dict[str, str] = {}
    notices: dict[str, int] = {}


class Partitions:
    """Rows on disk, all rows of a record in one part, in the order of the input."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._files = ExitStack()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(_Rows)
        self._names: list[str] = []

    def __enter__(self) -> Partitions:
        folder = Path(self._files.enter_context(tempfile.TemporaryDirectory(prefix="hallumeter-")))
        self._paths = [folder / f"part-{number}" for number in range(self._count)]
        self._streams: list[IO[bytes]] = [self._files.enter_context(path.open("wb")) for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def fill(self, sources: Iterable[tuple[str, Iterator[Batch]]]) -> None:
        """Sort all rows into the parts; what could not be read is in the first."""
        for source, (name, batches) in enumerate(sources):
            self._names.append(name)
            for batch in batches:
                self._add(batch, source)
        for stream in self._streams:
            stream.close()

    def _add(self, batch: Batch, source: int) -> None:
        records = batch.columns.get("record_id")
        places = np.zeros(len(batch.lines), dtype=np.int64)
        if records is not None:
            places = hashes(records) % self._count
        for part, stream in enumerate(self._streams):
            rows = np.flatnonzero(places == part)
            if not len(rows) and part:
                continue
            some = batch.only(rows)
            columns = {name: expanded(column) for name, column in some.columns.items()}
            rest = (batch.faults, batch.aliases, batch.notices) if part == 0 else ()
            body = self._encoder.encode(_Rows(source, columns, list(some.lines), *rest))
            stream.write(len(body).to_bytes(4, "little") + body)

    def parts(self) -> Iterator[list[tuple[str, Iterator[Batch]]]]:
        """Each part, as named sources of batches."""
        for path in self._paths:
            yield [(name, self._read(path, source)) for source, name in enumerate(self._names)]
            path.unlink()

    def _read(self, path: Path, wanted: int) -> Iterator[Batch]:
        with path.open("rb") as stream:
            while size := stream.read(4):
                body = stream.read(int.from_bytes(size, "little"))
                rows = self._decoder.decode(body)
                if rows.source == wanted:
                    yield Batch({**rows.columns}, rows.lines, rows.faults, rows.aliases, rows.notices)
