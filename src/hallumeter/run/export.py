"""A run in shards as a folder of JSONL files, and back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from hallumeter.errors import InputError
from hallumeter.records.manifest import PLAN, Manifest

from .digests import run_file, write_manifest
from .finished import load
from .run_folder import CLAIMS, MANIFEST, RECORDS, REPORT, SUMMARY, VERDICTS, RunFolder, is_sharded, placed_records
from .sharded import Plan
from .shards import Receipt, Shard
from .store import COMMITS, RunStore, attempt_name
from .store_tables import exported, rows_table, store_of, table_name


def export_jsonl(run: Path, folder: Path) -> None:
    """Write a run in shards into an empty folder as an ordinary run: the same lines, in the order of the input."""
    if not is_sharded(run):
        raise InputError(f"{run}: is a folder of JSONL files already")
    store, manifest = store_of(run), RunFolder(run).manifest
    names = [file.name for file in manifest.files if file.name != COMMITS]
    exported(store, folder, but=names)
    for name in names:
        body = store.read(name)
        if body is None:
            raise InputError(f"{store.location}/{name}: missing; make the run again")
        (folder / name).write_bytes(body)
    write_manifest(folder, structs.replace(manifest, files=()))
    if SUMMARY in names:
        load(folder, verify=False).to_html(folder / REPORT)


@contextmanager
def plain_folder(run: Path) -> Iterator[Path]:
    """A run as a folder of JSONL files: itself, or an export for as long as it is needed."""
    if not is_sharded(run):
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="hallumeter-export-") as name:
        folder = Path(name)
        store = store_of(run)
        files = RunFolder(run).manifest.files
        exported(store, folder, but=[file.name for file in files])
        for file in files:
            if file.name != COMMITS:
                (folder / file.name).write_bytes(store.read(file.name) or b"")
        (folder / MANIFEST).write_bytes((run / MANIFEST).read_bytes())
        yield folder


# Back: records stand in their order, so that a shard is a stretch of them.

_RECORDS_PER_SHARD = 4096
_LINES_PER_SHARD = 4 * _RECORDS_PER_SHARD
_TOGETHER = (RECORDS, CLAIMS, VERDICTS)


class _Shards:
    """Tables on their way into shards."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._receipts: dict[int, Receipt] = {}
        self._attempt = attempt_name()
        self._rows: dict[str, int] = {}

    def put(self, number: int, file: str, lines: Sequence[bytes], *, records: int = 0) -> None:
        """Write lines as the table of a shard; the number of a line is its row."""
        first = self._rows.get(file, 0)
        self._rows[file] = first + len(lines)
        table = rows_table(table_name(file), lines, range(first, first + len(lines)))
        put = self._store.put(Shard(number, 0), self._attempt, {table_name(file): table})
        known = self._receipts.get(number)
        if known is not None:
            put = structs.replace(put, files=(*known.files, *put.files), digests=(*known.digests, *put.digests))
            records += known.records
        self._receipts[number] = structs.replace(put, records=records)

    def commit(self) -> int:
        """Make everything count; gives the number of shards."""
        for receipt in self._receipts.values():
            self._store.commit(receipt)
        self._store.close_commits()
        return len(self._receipts)


def export_parquet(run: Path, location: str | Path) -> None:
    """Write an ordinary run as one in shards, into a free place."""
    if is_sharded(run):
        raise InputError(f"{run}: is in shards already")
    folder, store = RunFolder(run), RunStore(location)
    manifest = folder.manifest
    if store.read(PLAN) is not None or store.read(MANIFEST) is not None:
        raise InputError(f"{location}: holds a run already; choose another place with --out")
    shards = _Shards(store)
    for number, stretch in enumerate(_stretches(run)):
        for file, own in stretch.items():
            shards.put(number, file, own, records=len(own) if file == RECORDS else 0)
    others = [path for path in sorted(run.iterdir()) if path.suffix == ".jsonl" and path.name not in _TOGETHER]
    for path in others:
        for number, lines in enumerate(_chunks(path)):
            shards.put(number, path.name, lines)
    committed = shards.commit()
    plan = Plan(
        hallumeter=manifest.hallumeter, run=manifest.instrument, settings={}, inputs=manifest.inputs, shards=committed
    )
    store.write(PLAN, msgspec.json.format(msgspec.json.encode(plan), indent=1))
    _copy_rest(run, manifest, store)


def _chunks(path: Path) -> Iterator[list[bytes]]:
    """Some thousand lines at a time; an empty file is one chunk without any."""
    with path.open("rb") as stream:
        yield list(islice(stream, _LINES_PER_SHARD))
        while lines := list(islice(stream, _LINES_PER_SHARD)):
            yield lines


def _stretches(run: Path) -> Iterator[dict[str, list[bytes]]]:
    """Some thousand records at a time with their claims and verdicts, as lines."""
    if not (run / RECORDS).exists():
        return
    with ExitStack() as stack:
        streams = {file: stack.enter_context((run / file).open("rb")) for file in _TOGETHER}
        places = placed_records(run)
        while part := [record.place for record in islice(places, _RECORDS_PER_SHARD)]:
            sizes = (sum(place.record_bytes for place in part), sum(place.claims_bytes for place in part))
            whole = (*sizes, sum(place.verdicts_bytes for place in part))
            yield {
                file: streams[file].read(size).splitlines(keepends=True)
                for file, size in zip(_TOGETHER, whole, strict=True)
            }


def _copy_rest(run: Path, manifest: Manifest, store: RunStore) -> None:
    """Files that are no lines of JSON stay as they are; the manifest comes last."""
    rest = [path for path in sorted(run.iterdir()) if path.is_file() and path.suffix != ".jsonl"]
    for path in rest:
        if path.name != MANIFEST:
            store.write(path.name, path.read_bytes())
    with tempfile.TemporaryDirectory(prefix="hallumeter-") as name:
        commits = Path(name) / COMMITS
        commits.write_bytes(store.read(COMMITS) or b"")
        listed = {file.name for file in manifest.files}
        kept = [run_file(path) for path in rest if path.name in listed]
        whole: Any = structs.replace(manifest, files=(run_file(commits), *kept))
    store.write(MANIFEST, msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")
