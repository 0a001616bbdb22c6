"""Find out what the user gave: folders, tables or single files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.errors import InputError, RecordError
from hallumeter.records import Transcript
from hallumeter.store import PageShelf

from .folders import engine_names, file_jobs, folder_jobs
from .tables import ENDINGS, UNNAMED_ENGINE, record_jobs, table_jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .jobs import Jobs
    from .settings import Columns

Given = Transcript | tuple[str, str] | Mapping[str, object]
"""A transcript in Python: as a record, as (reference, response), or as a mapping like a row of a table."""


@contextmanager
def opened_paths(paths: Sequence[Path], *, columns: Columns) -> Iterator[Jobs]:
    """The pages in some paths: a reference and one engine or more, or one table that holds both."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
    is_table = [path.name.lower().endswith(ENDINGS) and path.is_file() for path in paths]
    if all(is_table):
        with PageShelf() as shelf:
            yield table_jobs(paths, engine_names(paths), columns=columns, shelf=shelf)
        return
    if len(paths) < 2:
        raise InputError(f"{paths[0]}: nothing to compare it with; give the ground truth first, then each engine")
    if any(is_table) or len({path.is_dir() for path in paths}) > 1:
        raise InputError(f"{paths[0]}: {_mixture(paths)}; give folders, or tables, or single pages, not a mixture")
    names = engine_names(paths[1:])
    yield (folder_jobs if paths[0].is_dir() else file_jobs)(paths[0], paths[1:], names)


@contextmanager
def opened_records(given: Iterable[Given], *, columns: Columns) -> Iterator[Jobs]:
    """Transcripts given in Python."""
    with PageShelf() as shelf:
        items = (_transcript(item, number) for number, item in enumerate(given, 1))
        yield record_jobs(items, columns=columns, shelf=shelf)


def _transcript(item: Given, number: int) -> Transcript | Mapping[str, object]:
    if isinstance(item, Mapping):
        fields = item.get("fields")
        return (
            {**fields, **{key: item[key] for key in item if key != "fields"}} if isinstance(fields, Mapping) else item
        )
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(text, str) for text in item):
        return Transcript(page=str(number), engine=UNNAMED_ENGINE, reference=item[0], response=item[1])
    if not isinstance(item, Transcript):
        expected = "a Transcript, a (reference, response) pair of texts or a dict"
        raise RecordError(f"transcripts:{number}: expected {expected}, found {type(item).__name__}")
    if not item.page or not item.engine:
        raise RecordError(
            f"transcripts:{number}: a page and an engine need names, found {item.page!r}, {item.engine!r}"
        )
    return item


def _mixture(paths: Sequence[Path]) -> str:
    kinds = dict.fromkeys("folder" if path.is_dir() else "file" for path in paths)
    return f"found a {' and a '.join(kinds)}" if len(kinds) > 1 else "found a table beside a page"
