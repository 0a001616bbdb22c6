"""The partial of a run, kept in its folder when the run is a part of a larger one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

import msgspec

from hallumeter.errors import InputError, RecordError
from hallumeter.records.partial import Partial

PARTIAL = "partial.json"
_IS_KEPT = ContextVar("is_kept", default=False)
_Partial = TypeVar("_Partial", bound=msgspec.Struct)


@contextmanager
def keeping_partials() -> Iterator[None]:
    """Runs that are written meanwhile keep their partials; they are parts of a larger run."""
    token = _IS_KEPT.set(True)
    try:
        yield
    finally:
        _IS_KEPT.reset(token)


def is_part() -> bool:
    """Whether what is measured now is part of a larger run, and may lack what the whole has."""
    return _IS_KEPT.get()


def keep_partial(folder: Path, partial: Partial) -> None:
    """Write the partial of a run into its folder, if it is a part of a larger one."""
    if _IS_KEPT.get():
        (folder / PARTIAL).write_bytes(partial.to_bytes())


def read_partial(folder: Path) -> bytes:
    """The partial that a run has kept."""
    try:
        return (folder / PARTIAL).read_bytes()
    except OSError as error:
        raise InputError(f"{folder}: the run has kept no partial ({error.strerror}); only parts of a run do") from error


def decoded_partial(data: bytes, kind: type[_Partial]) -> _Partial:
    """A partial from its bytes."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecordError) as error:
        raise InputError(f"not a partial of this version ({error})") from error
