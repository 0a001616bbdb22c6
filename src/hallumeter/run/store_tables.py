"""Lines of a run's files as tables in a store, and back: in the order of the shards, or of the whole input."""

from __future__ import annotations

import atexit
import csv
import heapq
import shutil
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Protocol, TextIO

import msgspec

from hallumeter.errors import InputError
from hallumeter.formats.delimited import write_csv
from hallumeter.records.manifest import PLAN, STORE, Manifest

from .shards import Receipt, row_number
from .store import COMMITS, RunStore, digest_of, is_remote, pyarrow_module

ENDING, CELLS, TABS = ".jsonl", ".csv", ".tsv"
"""Of files of lines, and of tables for a spreadsheet, whose tables in the store keep their whole names."""
MANIFEST = "manifest.json"
_COLUMNS = {
    "records": ("record_id", "model"),
    "claims": ("record_id", "claim_id", "kind"),
    "verdicts": ("record_id", "claim_id", "judge", "label", "reason", "unsupported_probability"),
    "failures": ("record_id", "claim_id", "step", "judge", "code"),
    "measurements": ("metric", "record_id", "judge", "count", "total", "value"),
}
"""Fields that are columns of their own, for whoever asks with SQL; the line has everything."""
_NUMBERS = frozenset({"unsupported_probability", "count", "total", "value"})


class LinePlaces(Protocol):
    """Where lines belong."""

    def section(self, table: str, line: Mapping[str, Any], row: int) -> int:
        """Where several lists stand one after the other in a file, the number of the list that a line belongs to."""
        ...

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """Under what the row of a line may be known; the first that is known counts."""
        ...


def table_name(file: str) -> str:
    """The table that a file becomes.

    >>> table_name("verdicts.jsonl")
    'verdicts'
    """
    return file.removesuffix(ENDING)


def lines_table(path: Path, rows: Mapping[str, int], sources: Sequence[str], *, places: LinePlaces) -> Any:
    """The lines of a file as a table, each with the row of the input that it belongs to.

    Args:
        path: The file, one JSON object per line.
        rows: Rows by the names of records.
        sources: Names of the sources, for lines that tell their place in a message alone.
        places: Where lines belong.
    """
    table = table_name(path.name)
    placed: list[tuple[int, int, bytes, Mapping[str, Any]]] = []
    with path.open("rb") as stream:
        for line in stream:
            known = msgspec.json.decode(line)
            named = (rows[name] for name in places.names(table, known) if name in rows)
            row = next(named, None)
            row = _row_of(known, rows, sources) if row is None else row
            placed.append((places.section(table, known, row), row, line, known))
    placed.sort(key=itemgetter(0, 1))  # nearly always it is sorted already
    sections, numbers, lines, found = zip(*placed, strict=True) if placed else ((), (), (), ())
    return _table(table, lines, numbers, sections=sections, found=found)


def rows_table(table: str, lines: Sequence[bytes], rows: Sequence[int]) -> Any:
    """Lines as a table whose order is that of the rows."""
    found = [msgspec.json.decode(line) for line in lines]
    return _table(table, lines, rows, sections=[0] * len(lines), found=found)


def _table(
    table: str,
    lines: Sequence[bytes],
    rows: Sequence[int],
    *,
    sections: Sequence[int],
    found: Sequence[Mapping[str, Any]],
) -> Any:
    arrow = pyarrow_module()
    columns = {"section": arrow.array(sections, arrow.int8()), "row": arrow.array(rows, arrow.int64())}
    for name in _COLUMNS.get(table, ("record_id",)):
        kind = arrow.float64() if name in _NUMBERS else arrow.string()
        columns[name] = arrow.array([line.get(name) for line in found], kind)
    columns["line"] = arrow.array([line.removesuffix(b"\n") for line in lines], arrow.string())
    return arrow.table(columns)


def cells_table(path: Path, rows: Mapping[str, int], columns: Sequence[str]) -> Any:
    """The rows of a spreadsheet as a table, the names of its columns first: each as JSON, with its row of the input.

    Args:
        path: The file; one with tabs has no quotes.
        rows: Rows of the input by name.
        columns: What names a row, joined by `cells_name`.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        header, *given = _split(stream) if path.suffix == TABS else csv.reader(stream)
    at = [header.index(name) for name in columns]
    placed = [(_HEADER, -1, header)]
    placed += [(0, rows.get(cells_name(*(cells[place] for place in at)), -1), cells) for cells in given]
    placed.sort(key=itemgetter(0, 1))
    sections, numbers, lines = zip(*placed, strict=True)
    encoded = list(map(msgspec.json.encode, lines))
    return _table(path.name, encoded, numbers, sections=sections, found=[{}] * len(encoded))


def _split(lines: Iterable[str]) -> Iterator[list[str]]:
    return (line.removesuffix("\n").split("\t") for line in lines)


_HEADER = -1
"""The section of the names of the columns: before all others."""


def cells_name(*cells: str) -> str:
    """Under what the row of a spreadsheet is known; no record has such a name."""
    return "\0" + "\t".join(cells)


def _row_of(line: Mapping[str, Any], rows: Mapping[str, int], sources: Sequence[str]) -> int:
    """The row of a line: that of the place in its message, else that of its record."""
    message = line.get("message")
    if isinstance(message, str) and line.get("step") == "read":
        for number, name in enumerate(sources):
            place = message.removeprefix(f"{name}:").partition(":")[0] if message.startswith(f"{name}:") else ""
            if place.isdecimal():
                return row_number(number, int(place))
    return rows.get(str(line.get("record_id")), -1)


# Back to lines.

_AT_A_TIME = 1024
_PLACE_BITS = 32
Place = tuple[int, int]


def store_of(folder: Path) -> RunStore:
    """The store of a folder that holds a run in shards, or stands for one that is kept elsewhere."""
    elsewhere = folder / STORE
    if not elsewhere.is_file():
        return RunStore(folder)
    return RunStore(msgspec.json.decode(elsewhere.read_bytes(), type=dict[str, str])["location"])


def shown_place(folder: Path) -> str:
    """Where a run is kept, as a user gave it."""
    return store_of(folder).location if (folder / STORE).is_file() else str(folder)


def stored_lines(folder: Path, file: str) -> Iterator[tuple[bytes, int, int]]:
    """Every line of a file of the run, shard by shard, with its place and the place after it."""
    store = store_of(folder)
    for receipt in store.committed():
        path = dict(receipt.files).get(table_name(file))
        if path is None:
            continue
        places = count(receipt.shard << _PLACE_BITS)
        for (line,), place in zip(_values(store, path, ("line",)), places, strict=False):
            yield line, place, place + 1


def lines_at(folder: Path, file: str, *, start: int, size: int) -> list[bytes]:
    """Some lines, by the place of the first; only the row groups that hold them are read."""
    store = store_of(folder)
    receipt = store.commit_of(start >> _PLACE_BITS)
    path = None if receipt is None else dict(receipt.files).get(table_name(file))
    if path is None:
        raise InputError(f"{folder}: its files were changed meanwhile; look at the run again")
    first = start & ((1 << _PLACE_BITS) - 1)
    lines: list[bytes] = []
    with store.opened(path) as raw, pyarrow_module("pyarrow.parquet").ParquetFile(raw) as parquet:
        begins = 0
        for group in range(parquet.num_row_groups):
            rows = parquet.metadata.row_group(group).num_rows
            if begins < first + size and first < begins + rows:
                values = _list(parquet.read_row_group(group, columns=["line"]).column("line"))
                lines += values[max(0, first - begins) : first + size - begins]
            begins += rows
    return lines


def _values(store: RunStore, path: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Rows of a table, with bounded memory."""
    with store.opened(path) as raw, pyarrow_module("pyarrow.parquet").ParquetFile(raw) as parquet:
        for batch in parquet.iter_batches(batch_size=_AT_A_TIME, columns=list(columns)):
            yield from zip(*(_list(batch.column(name)) for name in columns), strict=True)


def _list(column: Any) -> list[Any]:
    """A column row by row; texts stay as they are encoded."""
    arrow = pyarrow_module()
    values: list[Any] = (column.cast(arrow.binary()) if arrow.types.is_string(column.type) else column).to_pylist()
    return values


def changed_tables(folder: Path) -> Iterator[tuple[str, str]]:
    """The tables whose files are not as they were committed, and how; every file is read, one at a time."""
    store = store_of(folder)
    for receipt in store.committed():
        for (_, path), digest in zip(receipt.files, receipt.digests, strict=True):
            body = store.read(path)
            if body is None:
                yield path, "missing"
            elif digest_of(body) != digest:
                yield path, "other content"


# All lines in the order of the input.

_OPEN_AT_ONCE = 64
Keyed = tuple[int, int, bytes]


def exported(store: RunStore, folder: Path, *, but: Container[str] = ()) -> None:
    """Write the lines of all shards as files, in the order of the input; `but` names files that the run has whole."""
    receipts = list(store.committed())
    tables = dict.fromkeys(name for receipt in receipts for name, path in receipt.files if path.endswith(".parquet"))
    for table in tables:
        if table in but:
            continue
        if table.endswith((CELLS, TABS)):
            with (folder / table).open("w", encoding="utf-8", newline="") as stream:
                _write_cells(stream, table, merged_cells(store, table))
        else:
            with (folder / f"{table}{ENDING}").open("wb") as target:
                target.writelines(line + b"\n" for _, _, line in merged_lines(store, table))


def _write_cells(stream: TextIO, name: str, rows: Iterable[list[str]]) -> None:
    if name.endswith(TABS):
        stream.writelines("\t".join(cells) + "\n" for cells in rows)
    else:
        write_csv(stream, rows, is_raw=True)


def merged_lines(store: RunStore, table: str) -> Iterator[Keyed]:
    """The lines of all shards in the order of the input, with their sections and rows."""
    with tempfile.TemporaryDirectory(prefix="hallumeter-merge-") as spill:
        yield from _merged([_keyed(store, receipt, table) for receipt in store.committed()], Path(spill))


def merged_cells(store: RunStore, table: str) -> Iterator[list[str]]:
    """The rows of a spreadsheet in the order of the input, the names of its columns first."""
    decoder = msgspec.json.Decoder(list[str])
    has_header = False
    for section, _, line in merged_lines(store, table):
        if section != _HEADER or not has_header:
            yield decoder.decode(line)
        has_header = True


def _keyed(store: RunStore, receipt: Receipt, table: str) -> Iterator[Keyed]:
    path = dict(receipt.files).get(table)
    if path is not None:
        yield from _values(store, path, ("section", "row", "line"))


def _merged(parts: Sequence[Iterator[Keyed]], spill: Path) -> Iterator[Keyed]:
    """Sorted parts as one; so many at a time that files and memory suffice, by way of files in between."""
    for level in count():
        if len(parts) <= _OPEN_AT_ONCE:
            break
        starts = range(0, len(parts), _OPEN_AT_ONCE)
        parts = [_spilled(parts[at : at + _OPEN_AT_ONCE], spill / f"{level}-{at}") for at in starts]
    return heapq.merge(*parts, key=_key)


def _key(line: Keyed) -> tuple[int, int]:
    return line[0], line[1]


def _spilled(parts: Iterable[Iterator[Keyed]], path: Path) -> Iterator[Keyed]:
    encoder = msgspec.msgpack.Encoder()
    with path.open("wb") as stream:
        for line in heapq.merge(*parts, key=_key):
            body = encoder.encode(line)
            stream.write(len(body).to_bytes(4, "little") + body)
    return _unspilled(path)


def _unspilled(path: Path) -> Iterator[Keyed]:
    decoder = msgspec.msgpack.Decoder(tuple[int, int, bytes])
    stream: IO[bytes]
    with path.open("rb") as stream:
        while size := stream.read(4):
            yield decoder.decode(stream.read(int.from_bytes(size, "little")))
    path.unlink()


# A run that is kept elsewhere, as a folder here.


@contextmanager
def local_copy(store: RunStore, files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder that stands for a run in a store: its small files, and where the tables are."""
    with tempfile.TemporaryDirectory(prefix="hallumeter-run-") as name:
        folder = Path(name)
        fill_copy(store, folder, files)
        yield folder


def fill_copy(store: RunStore, folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the small files of a run into a folder, and where its tables are."""
    (folder / STORE).write_bytes(msgspec.json.encode({"location": store.location}))
    for name in (PLAN, COMMITS):
        body = store.read(name)
        if body is not None:
            (folder / name).write_bytes(body)
    for name, body in files.items():
        (folder / name).write_bytes(body)


def run_folder_of(location: str | Path) -> Path:
    """A folder to read a run from: its own, or one that stands for it until this program ends."""
    if not is_remote(location):
        return Path(location)
    store = RunStore(location)
    manifest = store.read(MANIFEST)
    if manifest is None:
        raise InputError(f"{location}: not a finished run (it has no {MANIFEST}); is the address right?")
    files = [file.name for file in msgspec.json.decode(manifest, type=Manifest).files]
    small = {MANIFEST: manifest} | {name: body for name in files if (body := store.read(name)) is not None}
    room = Path(tempfile.mkdtemp(prefix="hallumeter-run-"))
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    folder = room / store.location.rstrip("/").rpartition("/")[2]  # runs are called by their folders
    folder.mkdir()
    fill_copy(store, folder, small)
    return folder
