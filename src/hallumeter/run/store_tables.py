"""Lines of a run's files as tables in a store, and back: in the order of the shards, or of the whole input."""

from __future__ import annotations

import atexit
import heapq
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any

import msgspec

from hallumeter.errors import InputError
from hallumeter.records.manifest import PLAN, STORE

from .shards import Receipt, row_number
from .store import COMMITS, RunStore, is_remote, pyarrow_module

ENDING = ".jsonl"
SUMMARY, MANIFEST = "summary.json", "manifest.json"
_COLUMNS = {
    "records": ("record_id", "model"),
    "claims": ("record_id", "claim_id", "kind"),
    "verdicts": ("record_id", "claim_id", "judge", "label", "reason", "unsupported_probability"),
    "failures": ("record_id", "claim_id", "step", "judge", "code"),
    "measurements": ("metric", "record_id", "judge", "count", "total", "value"),
}
"""Fields that are columns of their own, for whoever asks with SQL; the line has everything."""
_NUMBERS = frozenset({"unsupported_probability", "count", "total", "value"})
Section = Callable[[str, Mapping[str, Any]], int]


def table_name(file: str) -> str:
    """The table that a file becomes.

    >>> table_name("verdicts.jsonl")
    'verdicts'
    """
    return file.removesuffix(ENDING)


def lines_table(path: Path, rows: Mapping[str, int], sources: Sequence[str], *, section: Section) -> Any:
    """The lines of a file as a table, each with the row of the input that it belongs to.

    Args:
        path: The file, one JSON object per line.
        rows: Rows by the names of records.
        sources: Names of the sources, for lines that tell their place in a message alone.
        section: Which of several lists a line belongs to.
    """
    arrow, table = pyarrow_module(), table_name(path.name)
    lines, keys, found = [], [], []
    with path.open("rb") as stream:
        for line in stream:
            known = msgspec.json.decode(line)
            keys.append((section(table, known), _row_of(known, rows, sources)))
            lines.append(line.removesuffix(b"\n"))
            found.append(known)
    order = sorted(range(len(keys)), key=keys.__getitem__)  # as it is already, but for rows that were repaired
    columns = {
        "section": arrow.array([keys[at][0] for at in order], arrow.int8()),
        "row": arrow.array([keys[at][1] for at in order], arrow.int64()),
    }
    for name in _COLUMNS.get(table, ("record_id",)):
        kind = arrow.float64() if name in _NUMBERS else arrow.string()
        columns[name] = arrow.array([found[at].get(name) for at in order], kind)
    columns["line"] = arrow.array([lines[at] for at in order], arrow.string())
    return arrow.table(columns)


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


def lines_at(folder: Path, file: str, start: int, size: int) -> list[bytes]:
    """Some lines, by the place of the first; only the row groups that hold them are read."""
    store = store_of(folder)
    receipt = store.commit_of(start >> _PLACE_BITS)
    path = None if receipt is None else dict(receipt.files).get(table_name(file))
    if path is None:
        raise InputError(f"{folder}: its files were changed meanwhile; look at the run again")
    first = start & ((1 << _PLACE_BITS) - 1)
    lines: list[bytes] = []
    with store.open(path) as raw, pyarrow_module("pyarrow.parquet").ParquetFile(raw) as parquet:
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
    with store.open(path) as raw, pyarrow_module("pyarrow.parquet").ParquetFile(raw) as parquet:
        for batch in parquet.iter_batches(batch_size=_AT_A_TIME, columns=list(columns)):
            yield from zip(*(_list(batch.column(name)) for name in columns), strict=True)


def _list(column: Any) -> list[Any]:
    """A column row by row; texts stay as they are encoded."""
    arrow = pyarrow_module()
    values: list[Any] = (column.cast(arrow.binary()) if arrow.types.is_string(column.type) else column).to_pylist()
    return values


# All lines in the order of the input.

_OPEN_AT_ONCE = 64
Keyed = tuple[int, int, bytes]


def exported(store: RunStore, folder: Path) -> None:
    """Write the lines of all shards as files, in the order of the input."""
    receipts = list(store.committed())
    tables = dict.fromkeys(name for receipt in receipts for name, path in receipt.files if path.endswith(".parquet"))
    for table in tables:
        with (folder / f"{table}{ENDING}").open("wb") as target, ExitStack() as stack:
            spill = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hallumeter-merge-")))
            for _, _, line in _merged([_keyed(store, receipt, table) for receipt in receipts], spill):
                target.write(line + b"\n")


def _keyed(store: RunStore, receipt: Receipt, table: str) -> Iterator[Keyed]:
    path = dict(receipt.files).get(table)
    if path is not None:
        yield from _values(store, path, ("section", "row", "line"))  # type: ignore[misc]


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
    small = {name: body for name in (SUMMARY, MANIFEST) if (body := store.read(name)) is not None}
    if MANIFEST not in small:
        raise InputError(f"{location}: not a finished run (it has no {MANIFEST}); is the address right?")
    folder = Path(tempfile.mkdtemp(prefix="hallumeter-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    fill_copy(store, folder, small)
    return folder
